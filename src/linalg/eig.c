/* eig.c - symmetric eigenproblems, the thin SVD and QR, by LAPACK on one thread.
 *
 * Eigenvectors are fixed up to sign by a rule (rlar__fix_signs); where eigenvalues tie, only the
 * span of the tied block is defined, and methods say what they do about it. */
#include "linalg/blas.h"

#include <math.h>
#include <string.h>

enum { STRIP = 32 }; /* columns of a transpose that share cache lines */

static rlar_status lapack_failed(rlar_ctx *ctx, const char *what, int64_t m, int64_t n) {
    return rlar__fail(
        ctx, RLAR_E_NUMERIC,
        "the %s of a %lld x %lld matrix did not converge; scale the data or raise the "
        "regularisation",
        what, (long long)m, (long long)n);
}

/* LAPACK hands the eigenvalues out ascending; turn values and columns round. */
static void descending(int64_t n, int64_t q, double *values, double *vectors) {
    for (int64_t i = 0, j = q - 1; i < j; i++, j--) {
        const double kept = values[i];
        values[i] = values[j];
        values[j] = kept;
        for (int64_t r = 0; r < n; r++) {
            const double entry = vectors[i * n + r];
            vectors[i * n + r] = vectors[j * n + r];
            vectors[j * n + r] = entry;
        }
    }
}

/* NaN or infinity would send LAPACK into an endless loop. */
static bool lower_finite(int64_t n, const double *a) {
    for (int64_t j = 0; j < n; j++)
        if (!rlar__finite(n - j, a + j * n + j))
            return false;
    return true;
}

/* One run of LAPACK: e->values (n, ascending from number `first`) and e->vectors. *failed: it gave
 * up, or found another number of eigenvalues than it was asked for. */
static rlar_status decompose(rlar_ctx *ctx, rlar_syevr *e, bool *failed) {
    rlar__syevr(e);
    rlar_status status =
        rlar__alloc(ctx, 2 * e->n, sizeof *e->isuppz, "the eigenvalues", &e->isuppz);
    if (status >= 0)
        status = rlar__alloc(ctx, e->liwork, sizeof *e->iwork, "the eigenvalues", &e->iwork);
    if (status >= 0)
        status = rlar__alloc(ctx, e->lwork, sizeof *e->work, "the eigenvalues", &e->work);
    *failed = status >= 0 && rlar__syevr(e) != 0;
    rlar__free(e->isuppz);
    rlar__free(e->iwork);
    rlar__free(e->work);
    return status;
}

/* All eigenvectors, of which the last q are wanted. */
static rlar_status decompose_all(rlar_ctx *ctx, int64_t n, double *a, int64_t q, double *values,
                                 double *vectors) {
    rlar_syevr e = {.n = n, .first = 1, .a = a, .values = values};
    bool failed = false;
    RLAR_TRY(rlar__alloc(ctx, n, (size_t)n * sizeof *e.vectors, "the eigenvectors", &e.vectors));
    rlar_status status = decompose(ctx, &e, &failed);
    if (status >= 0 && failed)
        status = lapack_failed(ctx, "eigenvalue decomposition", n, n);
    if (status >= 0) {
        memmove(values, values + (n - q), (size_t)q * sizeof *values);
        memcpy(vectors, e.vectors + (n - q) * n, (size_t)(q * n) * sizeof *vectors);
    }
    rlar__free(e.vectors);
    return status;
}

/* A few of many eigenvectors are found by another way inside LAPACK, which can fail where the range
 * cuts through a block of equal eigenvalues; all of them are found always. */
static rlar_status decompose_some(rlar_ctx *ctx, int64_t n, double *a, int64_t q, double *values,
                                  double *vectors) {
    rlar_syevr e = {.n = n, .first = n - q + 1, .a = a, .values = values, .vectors = vectors};
    bool failed = false;
    double *diag = NULL;
    RLAR_TRY(rlar__alloc(ctx, n, sizeof *diag, "the eigenvalues", &diag));
    rlar_status status = rlar__lower_keep(ctx, n, a, diag); /* LAPACK leaves that triangle alone */
    if (status >= 0)
        status = decompose(ctx, &e, &failed);
    if (status >= 0 && failed) {
        rlar__lower_restore(n, a, diag, 0.0);
        status = decompose_all(ctx, n, a, q, values, vectors);
    }
    rlar__free(diag);
    return status;
}

rlar_status rlar__eig_top(rlar_ctx *ctx, int64_t n, double *a, int64_t q, double *values,
                          double *vectors) {
    double *found = NULL;
    if (!lower_finite(n, a))
        return rlar__fail(ctx, RLAR_E_NUMERIC, "a scatter matrix is not finite; scale the data");
    RLAR_TRY(rlar__alloc(ctx, n, sizeof *found, "the eigenvalues", &found));
    const rlar_status status = decompose_some(ctx, n, a, q, found, vectors);
    if (status >= 0) {
        descending(n, q, found, vectors);
        rlar__fix_signs(n, q, vectors);
        for (int64_t i = 0; values && i < q; i++)
            values[i] = found[i];
    }
    rlar__free(found);
    return status;
}

/* The entries (i, j) and (j, i) of a (n x n) become their mean, or change places. In strips, so
 * that both sides stay in the cache. */
static void transpose(int64_t n, double *a, bool mean) {
    for (int64_t j0 = 0; j0 < n; j0 += STRIP)
        for (int64_t i = j0; i < n; i++)
            for (int64_t j = j0; j < j0 + STRIP && j < i; j++) {
                const double lower = a[j * n + i], upper = a[i * n + j];
                a[j * n + i] = mean ? 0.5 * (lower + upper) : upper;
                a[i * n + j] = mean ? 0.5 * (lower + upper) : lower;
            }
}

/* a <- L^-1 A L^-T, both triangles: two triangular solves, with the transpose between them. diag: n
 * numbers of scratch. */
static rlar_status whiten(rlar_ctx *ctx, int64_t n, const double *l, double *diag, double *a) {
    RLAR_TRY(rlar__lower_keep(ctx, n, a, diag)); /* fill the upper triangle from the lower */
    RLAR_TRY(rlar__chol_forward(ctx, n, n, l, a));
    transpose(n, a, false);
    RLAR_TRY(rlar__chol_forward(ctx, n, n, l, a));
    transpose(n, a, true); /* equal up to rounding: make it exact */
    return RLAR_OK;
}

/* As the next; b has been factored. */
static rlar_status eig_factored(rlar_ctx *ctx, int64_t n, double *a, const double *l, int64_t q,
                                double *diag, double *values, double *vectors) {
    RLAR_TRY(whiten(ctx, n, l, diag, a));
    RLAR_TRY(rlar__eig_top(ctx, n, a, q, values, vectors));
    RLAR_TRY(rlar__chol_backward(ctx, n, q, l, vectors));
    rlar__fix_signs(n, q, vectors);
    return RLAR_OK;
}

rlar_status rlar__eig_general(rlar_ctx *ctx, int64_t n, double *a, double *b, int64_t q,
                              double *values, double *vectors, int *ridged) {
    double *diag = NULL;
    RLAR_TRY(rlar__alloc(ctx, n, sizeof *diag, "the eigenvalues", &diag));
    rlar_status status = rlar__chol_factor(ctx, n, b, diag, ridged);
    if (status >= 0)
        status = eig_factored(ctx, n, a, b, q, diag, values, vectors);
    rlar__free(diag);
    return status;
}

rlar_status rlar__svd_thin(rlar_ctx *ctx, int64_t m, int64_t n, double *a, double *u, double *s,
                           double *vt) {
    const int64_t k = m < n ? m : n;
    rlar_gesdd g = {.m = m, .n = n, .a = a, .u = u, .s = s, .vt = vt};
    if (!rlar__finite(m * n, a))
        return rlar__fail(ctx, RLAR_E_NUMERIC, "a matrix is not finite; scale the data");
    rlar_status status = rlar__alloc(ctx, 8 * k, sizeof *g.iwork, "the singular values", &g.iwork);
    if (status >= 0) {
        rlar__gesdd(&g);
        status = rlar__alloc(ctx, g.lwork, sizeof *g.work, "the singular values", &g.work);
    }
    if (status >= 0 && rlar__gesdd(&g) != 0)
        status = lapack_failed(ctx, "singular value decomposition", m, n);
    rlar__free(g.iwork);
    rlar__free(g.work);
    return status;
}

enum { QR_BLOCK = 32 }; /* columns that LAPACK takes at once */

rlar_status rlar__complement(rlar_ctx *ctx, int64_t d, int64_t r, const double *u, double *q) {
    double *room = NULL;
    RLAR_TRY(rlar__alloc(ctx, d, (1 + QR_BLOCK) * sizeof *room, "the complement", &room));
    memcpy(q, u, (size_t)(d * r) * sizeof *q);
    rlar__orthogonal_factor(d, r, q, room, room + d, QR_BLOCK * d);
    rlar__free(room);
    return RLAR_OK;
}

double rlar__complement_bytes(int64_t d) {
    return 8.0 * (1.0 + QR_BLOCK) * (double)d;
}

double rlar__eig_bytes(int64_t n) {
    return 8.0 * ((double)n * (double)n + 48.0 * (double)n);
}

/* A matrix with one side above 11/6 of the other is made square first, which takes another square;
 * then either the block of 32 or the squares of the divide and conquer decide. */
double rlar__svd_bytes(int64_t m, int64_t n) {
    const double k = (double)(m < n ? m : n), large = (double)(m < n ? n : m);
    const bool long_sided = large >= floor(k * 11.0 / 6.0);
    const double block = 32.0 * (long_sided ? 2.0 * k : k + large), squares = 3.0 * k * k + 4.0 * k;
    return 8.0 * ((long_sided ? k * k : 0.0) + 8.0 * k + fmax(block, squares));
}

void rlar__fix_signs(int64_t d, int64_t p, double *w) {
    for (int64_t j = 0; j < p; j++) {
        double *column = w + j * d;
        int64_t largest = 0;
        for (int64_t r = 1; r < d; r++)
            if (fabs(column[r]) > fabs(column[largest]))
                largest = r;
        for (int64_t r = 0; r < d && column[largest] < 0.0; r++)
            if (r != largest)
                column[r] = -column[r];
        column[largest] = fabs(column[largest]);
    }
}

void rlar__unit_columns(int64_t d, int64_t p, double *w) {
    for (int64_t j = 0; j < p; j++) {
        const double norm = rlar__norm(d, w + j * d);
        for (int64_t r = 0; r < d && norm > 0.0; r++)
            w[j * d + r] /= norm;
    }
}

int64_t rlar__tied_end(int64_t p, const double *values, double tied, int64_t start) {
    int64_t end = start + 1;
    while (end < p && values[end - 1] - values[end] < tied)
        end++;
    return end;
}

void rlar__unit_blocks(int64_t d, int64_t p, const double *values, double tied, double *w) {
    for (int64_t j = 0, end; j < p; j = end) {
        end = rlar__tied_end(p, values, tied, j);
        const int64_t count = (end - j) * d;
        const double norm = rlar__norm(count, w + j * d);
        for (int64_t e = 0; e < count && norm > 0.0; e++)
            w[j * d + e] *= sqrt((double)(end - j)) / norm;
    }
}

int64_t rlar__orthonormalise(int64_t d, int64_t p, double least, double *w) {
    int64_t count = 0;
    for (int64_t j = 0; j < p; j++) {
        double *column = w + count * d;
        memmove(column, w + j * d, (size_t)d * sizeof *w);
        for (int64_t k = 0; k < 2 * count; k++) { /* the second round removes what rounding left */
            const double *other = w + k % count * d;
            const double along = rlar__dot(d, other, column);
            for (int64_t r = 0; r < d; r++)
                column[r] -= along * other[r];
        }
        if (rlar__norm(d, column) > least) {
            rlar__unit_columns(d, 1, column);
            count++;
        }
    }
    return count;
}
