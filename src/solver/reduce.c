/* reduce.c - thin SVD of the centred samples.
 *
 * The cheap way is the eigenvalue decomposition of the smaller Gram matrix: n d^2 + 9 d^3, or n^2 d
 * + 9 n^3. It squares the condition number: eigenvalues below about 1e-10 of the largest have few
 * correct digits, and zero cannot be told from small. So it is used only when the small ones are
 * exactly those that must be zero (constant features; one direction lost to centring when n <= d);
 * otherwise LAPACK takes the SVD of the samples themselves. */
#include "solver/reduce.h"

#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double GRAM_TRUSTED = 1e-10; /* of the largest eigenvalue */

void rlar__reduce_free(rlar_reduced *reduced) {
    rlar__free(reduced->mean);
    rlar__free(reduced->v);
    rlar__free(reduced->s);
    rlar__free(reduced->z);
    *reduced = (rlar_reduced){0};
}

int64_t rlar__reduce_bytes(int64_t d, int64_t n) {
    const double small = (double)(d < n ? d : n), all = (double)d * (double)n;
    return (int64_t)(8.0 * (3.0 * all + 3.0 * small * small + (double)d * small));
}

/* The mean, and Xc = X - mean. */
static void centre(const double *x, int64_t d, int64_t n, double *mean, double *xc) {
    memset(mean, 0, (size_t)d * sizeof *mean);
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < d; r++)
            mean[r] += x[i * d + r];
    for (int64_t r = 0; r < d; r++)
        mean[r] /= (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < d; r++)
            xc[i * d + r] = x[i * d + r] - mean[r];
}

static int64_t zero_rows(const double *xc, int64_t d, int64_t n) {
    int64_t count = 0;
    for (int64_t r = 0; r < d; r++) {
        int64_t i = 0;
        while (i < n && xc[i * d + r] == 0.0)
            i++;
        count += i == n;
    }
    return count;
}

/* Eigenvalues (descending) and vectors of the smaller Gram matrix, k x k. */
static rlar_status gram_eigen(rlar_ctx *ctx, const double *xc, int64_t d, int64_t n, double *values,
                              double *vectors) {
    const int64_t k = d <= n ? d : n;
    rlar_workspace ws = {0};
    rlar_partials partials;
    double *gram = NULL;
    rlar__partials_carve(&ws, ctx, n, &partials);
    rlar_status status = rlar__workspace_take(ctx, &ws, "partial sums");
    if (status >= 0) {
        rlar__partials_carve(&ws, ctx, n, &partials);
        status = rlar__calloc(ctx, k, (size_t)k * sizeof *gram, "the Gram matrix", &gram);
    }
    if (status >= 0)
        status = d <= n ? rlar__gram_outer(ctx, &partials, d, n, xc, xc, gram)
                        : rlar__gram_inner(ctx, n, d, xc, xc, gram);
    if (status >= 0)
        status = rlar__eig_top(ctx, k, gram, k, values, vectors);
    rlar__free(gram);
    rlar__workspace_free(&ws);
    return status;
}

/* How many eigenvalues can be trusted; -1: the small ones are not just those that must be zero. */
static int64_t trusted_rank(const double *values, int64_t k, int64_t must_be_zero) {
    int64_t rank = 0;
    while (rank < k && values[rank] > GRAM_TRUSTED * values[0])
        rank++;
    return k - rank == must_be_zero ? rank : -1;
}

static rlar_status take_rank(rlar_ctx *ctx, rlar_reduced *out, int64_t r) {
    out->r = r;
    RLAR_TRY(rlar__alloc(ctx, r, (size_t)out->d * sizeof *out->v, "the reduction", &out->v));
    RLAR_TRY(rlar__alloc(ctx, out->n, (size_t)r * sizeof *out->z, "the reduction", &out->z));
    return rlar__alloc(ctx, r, sizeof *out->s, "the reduction", &out->s);
}

/* d <= n: V are the eigenvectors themselves. n < d: they are U, and V = Xc U diag(1/s). */
static rlar_status from_gram(rlar_ctx *ctx, const double *xc, const double *values, double *vectors,
                             rlar_reduced *out) {
    const int64_t d = out->d, n = out->n, r = out->r;
    for (int64_t k = 0; k < r; k++)
        out->s[k] = sqrt(values[k]);
    if (d <= n) {
        memcpy(out->v, vectors, (size_t)(d * r) * sizeof *out->v);
        return rlar__project(ctx, r, n, d, out->v, xc, out->z);
    }
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = 0; i < n; i++) {
            out->z[i * r + k] = vectors[k * n + i] * out->s[k];
            vectors[k * n + i] /= out->s[k];
        }
    return rlar__multiply(ctx, d, r, n, xc, vectors, out->v);
}

static rlar_status from_svd(rlar_ctx *ctx, double *xc, rlar_reduced *out) {
    const int64_t d = out->d, n = out->n, k = d < n ? d : n;
    double *u = NULL, *s = NULL, *vt = NULL;
    rlar_status status = rlar__alloc(ctx, k, (size_t)d * sizeof *u, "the reduction", &u);
    if (status >= 0)
        status = rlar__alloc(ctx, k, sizeof *s, "the reduction", &s);
    if (status >= 0)
        status = rlar__alloc(ctx, n, (size_t)k * sizeof *vt, "the reduction", &vt);
    if (status >= 0)
        status = rlar__svd_thin(ctx, d, n, xc, u, s, vt);
    int64_t r = 0;
    const double tolerance = status >= 0 ? (double)(d > n ? d : n) * DBL_EPSILON * s[0] : 0.0;
    while (status >= 0 && r < k && s[r] > tolerance)
        r++;
    if (status >= 0)
        status = take_rank(ctx, out, r);
    if (status >= 0) {
        memcpy(out->v, u, (size_t)(d * r) * sizeof *u);
        memcpy(out->s, s, (size_t)r * sizeof *s);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < r; j++)
                out->z[i * r + j] = vt[i * k + j] * s[j];
    }
    rlar__free(u);
    rlar__free(s);
    rlar__free(vt);
    return status;
}

static rlar_status decompose(rlar_ctx *ctx, double *xc, rlar_reduced *out) {
    const int64_t d = out->d, n = out->n, k = d <= n ? d : n;
    double *values = NULL, *vectors = NULL;
    rlar_status status = rlar__alloc(ctx, k, sizeof *values, "the reduction", &values);
    if (status >= 0)
        status = rlar__alloc(ctx, k, (size_t)k * sizeof *vectors, "the reduction", &vectors);
    if (status >= 0)
        status = gram_eigen(ctx, xc, d, n, values, vectors);
    const int64_t zeros = d <= n ? zero_rows(xc, d, n) : 1;
    const int64_t rank = status >= 0 ? trusted_rank(values, k, zeros) : -1;
    if (status >= 0 && rank > 0) {
        status = take_rank(ctx, out, rank);
        if (status >= 0)
            status = from_gram(ctx, xc, values, vectors, out);
    } else if (status >= 0) {
        status = from_svd(ctx, xc, out);
    }
    rlar__free(values);
    rlar__free(vectors);
    return status;
}

rlar_status rlar__reduce(rlar_ctx *ctx, const double *x, int64_t d, int64_t n, rlar_reduced *out) {
    double *xc = NULL;
    *out = (rlar_reduced){.d = d, .n = n};
    rlar_status status = rlar__alloc(ctx, d, sizeof *out->mean, "the mean", &out->mean);
    if (status >= 0)
        status = rlar__alloc(ctx, n, (size_t)d * sizeof *xc, "the centred samples", &xc);
    if (status >= 0) {
        centre(x, d, n, out->mean, xc);
        status =
            zero_rows(xc, d, n) < d
                ? decompose(ctx, xc, out)
                : rlar__fail(ctx, RLAR_E_DATA, "all %lld samples are equal: nothing to learn from",
                             (long long)n);
    }
    rlar__free(xc);
    if (status < 0)
        rlar__reduce_free(out);
    return status;
}

void rlar__reduce_offset(const rlar_reduced *reduced, int64_t q, const double *w, double *b) {
    for (int64_t j = 0; j < q; j++)
        b[j] = -rlar__dot(reduced->d, w + j * reduced->d, reduced->mean);
}

rlar_status rlar__reduce_back(rlar_ctx *ctx, const rlar_reduced *reduced, int64_t q,
                              const double *coefficients, double *w, double *b) {
    RLAR_TRY(rlar__multiply(ctx, reduced->d, q, reduced->r, reduced->v, coefficients, w));
    rlar__fix_signs(reduced->d, q, w);
    rlar__reduce_offset(reduced, q, w, b);
    return RLAR_OK;
}
