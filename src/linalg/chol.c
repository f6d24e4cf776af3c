/* chol.c - Cholesky of symmetric positive definite matrices, tile by tile, with a guarded retry.
 *
 * Right-looking: factor a diagonal tile, solve the tiles below it, update the triangle behind. The
 * last two are parallel over tiles of the output, so the bits do not depend on threads (LAPACK's
 * own threaded version does not promise that). n^3/3 operations. */
#include "linalg/blas.h"

enum { RETRIES = 12 };

typedef struct chol_step {
    double *a;
    int64_t n, k; /* first column of the tile being eliminated */
    int64_t next; /* k + RLAR_TILE: first row below it */
} chol_step;

static int64_t tile_size(const chol_step *s, int64_t start) {
    return s->n - start < RLAR_TILE ? s->n - start : RLAR_TILE;
}

static double *at(const chol_step *s, int64_t i, int64_t j) {
    return s->a + j * s->n + i;
}

/* L_ik = A_ik L_kk^-T */
static rlar_status column_task(void *arg, int64_t index) {
    const chol_step *s = arg;
    const int64_t i = s->next + index * RLAR_TILE;
    rlar__trsm_right(tile_size(s, i), RLAR_TILE, at(s, s->k, s->k), s->n, at(s, i, s->k), s->n);
    return RLAR_OK;
}

/* A_ij -= L_ik L_jk^T for one column j of tiles, i >= j: long columns first. */
static rlar_status update_task(void *arg, int64_t index) {
    const chol_step *s = arg;
    const int64_t j = s->next + index * RLAR_TILE;
    for (int64_t i = j; i < s->n; i += RLAR_TILE)
        rlar__gemm(RLAR_PLAIN, RLAR_TRANSPOSED, tile_size(s, i), tile_size(s, j), RLAR_TILE, -1.0,
                   at(s, i, s->k), s->n, at(s, j, s->k), s->n, 1.0, at(s, i, j), s->n);
    return RLAR_OK;
}

/* *failed: the matrix is not positive definite. */
static rlar_status factor_once(rlar_ctx *ctx, int64_t n, double *a, bool *failed) {
    *failed = false;
    for (int64_t k = 0; k < n; k += RLAR_TILE) {
        chol_step s = {.a = a, .n = n, .k = k, .next = k + RLAR_TILE};
        if (rlar__potrf(tile_size(&s, k), at(&s, k, k), n) != 0) {
            *failed = true;
            return RLAR_OK;
        }
        const int64_t below = s.next < n ? (n - s.next + RLAR_TILE - 1) / RLAR_TILE : 0;
        RLAR_TRY(rlar__parallel(ctx, below, column_task, &s));
        RLAR_TRY(rlar__parallel(ctx, below, update_task, &s));
    }
    return RLAR_OK;
}

/* Keep the matrix in the strict upper triangle and diag, for a retry. */
static void copy_up(int64_t n, double *a, double *diag) {
    for (int64_t j0 = 0; j0 < n; j0 += 32) /* in strips: both sides stay in the cache */
        for (int64_t i = j0; i < n; i++)
            for (int64_t j = j0; j < j0 + 32 && j < i; j++)
                a[i * n + j] = a[j * n + i];
    for (int64_t i = 0; i < n; i++)
        diag[i] = a[i * n + i];
}

static void copy_down(int64_t n, double *a, const double *diag, double ridge) {
    for (int64_t j = 0; j < n; j++) {
        a[j * n + j] = diag[j] + ridge;
        for (int64_t i = j + 1; i < n; i++)
            a[j * n + i] = a[i * n + j];
    }
}

rlar_status rlar__chol_factor(rlar_ctx *ctx, int64_t n, double *a, double *diag, int *ridged) {
    copy_up(n, a, diag);
    double trace = 0.0;
    for (int64_t i = 0; i < n; i++)
        trace += diag[i];
    double ridge = 1e-12 * trace / (double)n;
    for (int attempt = 0; attempt <= RETRIES; attempt++, ridge *= 10.0) {
        bool failed;
        RLAR_TRY(factor_once(ctx, n, a, &failed));
        if (!failed)
            return RLAR_OK;
        if (!(ridge > 0.0 && ridge < 1e300))
            break;
        copy_down(n, a, diag, ridge);
        ++*ridged;
    }
    return rlar__fail(
        ctx, RLAR_E_NUMERIC,
        "the %lld x %lld system cannot be factorised, even with %g added to its diagonal; "
        "raise alpha or scale the data",
        (long long)n, (long long)n, ridge);
}

typedef struct solve {
    int64_t n, p;
    const double *l;
    double *b;
} solve;

static rlar_status solve_task(void *arg, int64_t index) {
    const solve *s = arg;
    const int64_t j = index * RLAR_COLUMNS;
    const int64_t count = s->p - j < RLAR_COLUMNS ? s->p - j : RLAR_COLUMNS;
    rlar__chol_small_solve(s->n, count, s->l, s->n, s->b + j * s->n, s->n);
    return RLAR_OK;
}

rlar_status rlar__chol_solve(rlar_ctx *ctx, int64_t n, int64_t p, const double *l, double *b) {
    solve s = {.n = n, .p = p, .l = l, .b = b};
    return rlar__parallel(ctx, (p + RLAR_COLUMNS - 1) / RLAR_COLUMNS, solve_task, &s);
}

bool rlar__chol_small(int64_t n, double *a, int64_t lda) {
    return rlar__potrf(n, a, lda) == 0;
}

void rlar__chol_small_solve(int64_t n, int64_t p, const double *l, int64_t lda, double *b,
                            int64_t ldb) {
    rlar__trsm_left(RLAR_PLAIN, n, p, l, lda, b, ldb);
    rlar__trsm_left(RLAR_TRANSPOSED, n, p, l, lda, b, ldb);
}

void rlar__chol_small_inverse(int64_t n, double *l, int64_t lda) {
    rlar__potri(n, l, lda);
}
