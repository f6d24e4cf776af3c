/* chol.c - Cholesky of symmetric positive definite matrices, panel by panel, with a guarded retry.
 *
 * Right-looking: factor a diagonal block, solve the rows below it, update the triangle behind. The
 * last two are parallel over pieces of the output, so the bits do not depend on threads (LAPACK's
 * own threaded version does not promise that). n^3/3 operations; faster than DPOTRF, whose panels
 * are too narrow for these kernels (docs/performance.md). */
#include "linalg/blas.h"

enum {
    RETRIES = 12,
    ROWS = 256,   /* of a product per task */
    SOLVED = 128, /* unknowns of a block of the solve */
    UNIT = 32,    /* columns of a triangle that DTRSM gets at once: it runs at a fifth of the speed
                     of a product, so products take all but the diagonal */
    SIDES = 256,  /* right-hand sides per task of half a solve */
    STRIP = 32    /* columns per task of the copy */
};

typedef struct chol_step {
    double *a;
    int64_t n, k, width;  /* the diagonal block: its first column, its columns */
    rlar_triangle behind; /* what it changes */
    int64_t next;         /* columns of the diagonal block after it */
    bool failed;          /* that block is not positive definite */
} chol_step;

static double *at(const chol_step *s, int64_t i, int64_t j) {
    return s->a + j * s->n + i;
}

/* Wide enough for DSYRK, narrow enough that the block itself, which nobody shares, costs little. */
static int64_t block_width(int64_t n) {
    return n < 4096 ? 64 : 128;
}

/* L_ik = A_ik L_kk^-T for some rows below the block. */
static rlar_status column_task(void *arg, int64_t index) {
    const chol_step *s = arg;
    const int64_t k = s->k, i = k + s->width + index * ROWS, rows = rlar__min64(ROWS, s->n - i);
    for (int64_t j = 0; j < s->width; j += UNIT) {
        const int64_t width = rlar__min64(UNIT, s->width - j);
        if (j > 0)
            rlar__gemm(RLAR_PLAIN, RLAR_TRANSPOSED, rows, width, j, -1.0, at(s, i, k), s->n,
                       at(s, k + j, k), s->n, 1.0, at(s, i, k + j), s->n);
        rlar__trsm_right(rows, width, at(s, k + j, k + j), s->n, at(s, i, k + j), s->n);
    }
    return RLAR_OK;
}

/* A_ij -= L_ik L_jk^T behind the block. The first panel holds the next diagonal block: it is
 * factored at once, while the other threads are still at the other panels. */
static rlar_status behind_task(void *arg, int64_t index) {
    chol_step *s = arg;
    rlar__triangle_panel(&s->behind, index);
    if (index == 0)
        s->failed = rlar__potrf(s->next, s->behind.c, s->n) != 0;
    return RLAR_OK;
}

static rlar_status update_behind(rlar_ctx *ctx, chol_step *s) {
    const int64_t next = s->k + s->width;
    const double *l = at(s, next, s->k);
    s->behind = (rlar_triangle){.op = RLAR_PLAIN,
                                .side = s->n - next,
                                .inner = s->width,
                                .alpha = -1.0,
                                .beta = 1.0,
                                .a = l,
                                .b = l,
                                .ld = s->n,
                                .c = at(s, next, next),
                                .ldc = s->n};
    s->next = rlar__min64(s->width, s->n - next);
    return rlar__parallel(ctx, rlar__triangle_panels(&s->behind), behind_task, s);
}

static rlar_status factor_once(rlar_ctx *ctx, void *arg, bool *failed) {
    const rlar_guard *g = arg;
    const int64_t n = g->n;
    chol_step s = {.a = g->a, .n = n, .width = rlar__min64(block_width(n), n)};
    s.failed = rlar__potrf(s.width, s.a, n) != 0;
    for (; s.k + s.width < n && !s.failed; s.k += s.width, s.width = s.next) {
        const int64_t rows = n - s.k - s.width;
        RLAR_TRY(rlar__parallel(ctx, (rows + ROWS - 1) / ROWS, column_task, &s));
        RLAR_TRY(update_behind(ctx, &s));
    }
    *failed = s.failed;
    return RLAR_OK;
}

typedef struct copy {
    int64_t n;
    double *a, *diag;
} copy;

/* Some columns of the lower triangle as rows of the upper one: both sides stay in the cache. */
static rlar_status copy_task(void *arg, int64_t task) {
    const copy *c = arg;
    const int64_t j0 = task * STRIP;
    for (int64_t i = j0; i < c->n; i++)
        for (int64_t j = j0; j < j0 + STRIP && j < i; j++)
            c->a[i * c->n + j] = c->a[j * c->n + i];
    for (int64_t i = j0; i < j0 + STRIP && i < c->n; i++)
        c->diag[i] = c->a[i * c->n + i];
    return RLAR_OK;
}

rlar_status rlar__lower_keep(rlar_ctx *ctx, int64_t n, double *a, double *diag) {
    copy c = {.n = n, .a = a, .diag = diag};
    return rlar__parallel(ctx, (n + STRIP - 1) / STRIP, copy_task, &c);
}

void rlar__lower_restore(int64_t n, double *a, const double *diag, double ridge) {
    for (int64_t j = 0; j < n; j++) {
        a[j * n + j] = diag[j] + ridge;
        for (int64_t i = j + 1; i < n; i++)
            a[j * n + i] = a[i * n + j];
    }
}

double rlar__trace(int64_t n, const double *a) {
    double trace = 0.0;
    for (int64_t i = 0; i < n; i++)
        trace += a[i * n + i];
    return trace;
}

rlar_status rlar__guarded(rlar_ctx *ctx, const rlar_guard *g, double *added, int *ridged) {
    const int64_t n = g->n;
    double ridge = 1e-12 * g->trace / (double)n;
    *added = 0.0;
    for (int attempt = 0; attempt <= RETRIES; attempt++, ridge *= 10.0) {
        bool failed;
        RLAR_TRY(g->attempt(ctx, g->attempted, &failed));
        if (!failed)
            return RLAR_OK;
        if (!(ridge > 0.0 && ridge < 1e300))
            break;
        RLAR_TRY(g->rebuild(ctx, g->rebuilt));
        for (int64_t i = 0; i < n; i++)
            g->a[i * n + i] += ridge;
        *added = ridge;
        ++*ridged;
    }
    if (!(g->trace > 0.0)) /* a share of it is nothing that could be added */
        return rlar__fail(
            ctx, RLAR_E_NUMERIC,
            "the %lld x %lld system cannot be factorised: its diagonal sums to %g, it "
            "must be positive; raise alpha or scale the data",
            (long long)n, (long long)n, g->trace);
    return rlar__fail(
        ctx, RLAR_E_NUMERIC,
        "the %lld x %lld system cannot be factorised, even with %g added to its diagonal; "
        "raise alpha or scale the data",
        (long long)n, (long long)n, ridge);
}

rlar_status rlar__chol_factor_by(rlar_ctx *ctx, int64_t n, double *a, rlar_rebuild rebuild,
                                 void *arg, int *ridged) {
    rlar_guard g = {.n = n, .a = a, .attempt = factor_once, .rebuild = rebuild, .rebuilt = arg};
    double added;
    g.attempted = &g;
    g.trace = rlar__trace(n, a);
    return rlar__guarded(ctx, &g, &added, ridged);
}

static rlar_status restore(rlar_ctx *ctx, void *arg) {
    const copy *c = arg;
    (void)ctx;
    rlar__lower_restore(c->n, c->a, c->diag, 0.0);
    return RLAR_OK;
}

rlar_status rlar__chol_factor(rlar_ctx *ctx, int64_t n, double *a, double *diag, int *ridged) {
    copy c = {.n = n, .a = a, .diag = diag};
    RLAR_TRY(rlar__lower_keep(ctx, n, a, diag));
    return rlar__chol_factor_by(ctx, n, a, restore, &c, ridged);
}

/* One block of the unknowns on its way through all right-hand sides. */
typedef struct solve {
    int64_t n, p, k, width;
    const double *l;
    double *b;
} solve;

static void set_block(solve *s, int64_t k, int64_t width) {
    s->k = k * width;
    s->width = rlar__min64(width, s->n - s->k);
}

/* What the unknowns below take from block k, some rows of them: B_i -= L_ik B_k. */
static void forward_rows(const solve *s, int64_t i, int64_t rows) {
    if (rows > 0)
        rlar__gemm(RLAR_PLAIN, RLAR_PLAIN, rows, s->p, s->width, -1.0, s->l + s->k * s->n + i, s->n,
                   s->b + s->k, s->n, 1.0, s->b + i, s->n);
}

/* And those above it, on the way back: B_j -= L_kj^T B_k. */
static void backward_rows(const solve *s, int64_t j, int64_t rows) {
    if (rows > 0)
        rlar__gemm(RLAR_TRANSPOSED, RLAR_PLAIN, rows, s->p, s->width, -1.0, s->l + j * s->n + s->k,
                   s->n, s->b + s->k, s->n, 1.0, s->b + j, s->n);
}

static rlar_status forward_task(void *arg, int64_t index) {
    const solve *s = arg;
    const int64_t i = s->k + s->width + index * ROWS;
    forward_rows(s, i, rlar__min64(ROWS, s->n - i));
    return RLAR_OK;
}

static rlar_status backward_task(void *arg, int64_t index) {
    const solve *s = arg;
    const int64_t j = index * ROWS;
    backward_rows(s, j, rlar__min64(ROWS, s->k - j));
    return RLAR_OK;
}

/* B_k <- op(L_kk)^-1 B_k, by units; forwards, or backwards with the transpose. */
static void solve_forward(const solve *s) {
    for (int64_t k = s->k, end = k + s->width; k < end; k += UNIT) {
        const int64_t width = rlar__min64(UNIT, end - k), rows = end - k - width;
        const double *l = s->l + k * s->n + k;
        rlar__trsm_left(RLAR_PLAIN, width, s->p, l, s->n, s->b + k, s->n);
        if (rows > 0)
            rlar__gemm(RLAR_PLAIN, RLAR_PLAIN, rows, s->p, width, -1.0, l + width, s->n, s->b + k,
                       s->n, 1.0, s->b + k + width, s->n);
    }
}

static void solve_backward(const solve *s) {
    for (int64_t j = (s->width - 1) / UNIT * UNIT; j >= 0; j -= UNIT) {
        const int64_t k = s->k + j, width = rlar__min64(UNIT, s->width - j);
        rlar__trsm_left(RLAR_TRANSPOSED, width, s->p, s->l + k * s->n + k, s->n, s->b + k, s->n);
        if (j > 0)
            rlar__gemm(RLAR_TRANSPOSED, RLAR_PLAIN, j, s->p, width, -1.0, s->l + s->k * s->n + k,
                       s->n, s->b + k, s->n, 1.0, s->b + s->k, s->n);
    }
}

/* By blocks of rows: products share out over any number of threads, where DTRSM would need many
 * right-hand sides, and are faster on one thread too. */
rlar_status rlar__chol_solve(rlar_ctx *ctx, int64_t n, int64_t p, const double *l, double *b) {
    const int64_t blocks = (n + SOLVED - 1) / SOLVED;
    solve s = {.n = n, .p = p, .l = l, .b = b};
    for (int64_t k = 0; k < blocks; k++) {
        set_block(&s, k, SOLVED);
        solve_forward(&s);
        RLAR_TRY(rlar__parallel(ctx, (n - s.k - s.width + ROWS - 1) / ROWS, forward_task, &s));
    }
    for (int64_t k = blocks - 1; k >= 0; k--) {
        set_block(&s, k, SOLVED);
        solve_backward(&s);
        RLAR_TRY(rlar__parallel(ctx, (s.k + ROWS - 1) / ROWS, backward_task, &s));
    }
    return RLAR_OK;
}

/* Half of a solve: the same blocks for some of many right-hand sides, all of them in one task. */
typedef struct half {
    int64_t n, p;
    const double *l;
    double *b;
} half;

static int64_t sides_at(const half *h, int64_t index, solve *s) {
    const int64_t j = index * SIDES;
    *s = (solve){.n = h->n, .p = rlar__min64(SIDES, h->p - j), .l = h->l};
    s->b = h->b + j * h->n;
    return (h->n + UNIT - 1) / UNIT;
}

static rlar_status forward_half(void *arg, int64_t index) {
    solve s;
    const int64_t blocks = sides_at(arg, index, &s);
    for (int64_t k = 0; k < blocks; k++) {
        set_block(&s, k, UNIT);
        solve_forward(&s);
        forward_rows(&s, s.k + s.width, s.n - s.k - s.width);
    }
    return RLAR_OK;
}

static rlar_status backward_half(void *arg, int64_t index) {
    solve s;
    const int64_t blocks = sides_at(arg, index, &s);
    for (int64_t k = blocks - 1; k >= 0; k--) {
        set_block(&s, k, UNIT);
        solve_backward(&s);
        backward_rows(&s, 0, s.k);
    }
    return RLAR_OK;
}

rlar_status rlar__chol_forward(rlar_ctx *ctx, int64_t n, int64_t p, const double *l, double *b) {
    half h = {.n = n, .p = p, .l = l, .b = b};
    return rlar__parallel(ctx, (p + SIDES - 1) / SIDES, forward_half, &h);
}

rlar_status rlar__chol_backward(rlar_ctx *ctx, int64_t n, int64_t p, const double *l, double *b) {
    half h = {.n = n, .p = p, .l = l, .b = b};
    return rlar__parallel(ctx, (p + SIDES - 1) / SIDES, backward_half, &h);
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

void rlar__chol_small_times(int64_t n, const double *l, int64_t lda, int64_t m, double *b,
                            int64_t ldb) {
    rlar__trmm_right(m, n, l, lda, b, ldb);
}

void rlar__chol_small_over(int64_t n, const double *l, int64_t lda, int64_t m, double *t,
                           int64_t ldt) {
    rlar__trsm_right(m, n, l, lda, t, ldt);
}
