/* reduce.c - thin SVD of the centred samples.
 *
 * The cheap way is the eigenvalue decomposition of the smaller Gram matrix: n d^2 + 9 d^3, or n^2 d
 * + 9 n^3. It squares the condition number: eigenvalues below about 1e-10 of the largest have few
 * correct digits, and zero cannot be told from small. So it is used only when the small ones are
 * exactly those that must be zero (constant features; the direction lost to centring);
 * otherwise LAPACK takes the SVD of the samples themselves.
 *
 * For n <= d + 1 the Gram matrix is Xc^T Xc: its eigenvectors are U, orthonormal to rounding, and
 * classes that collapse to points do so to rounding, too. */
#include "solver/reduce.h"

#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double GRAM_TRUSTED = 1e-10; /* of the largest eigenvalue */
static const double NOT_ORTHONORMAL = 1e-13;

static int64_t min64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Whether Xc^T Xc (n x n) is decomposed, not Xc Xc^T (d x d). */
static bool inner(int64_t d, int64_t n) {
    return n <= d + 1;
}

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

double rlar__reduce_flops(int64_t d, int64_t n) {
    const double small = (double)(d < n ? d : n), all = (double)d * (double)n;
    return 3.0 * all * small + 9.0 * small * small * small;
}

void rlar__centre(const double *x, int64_t d, int64_t n, double *mean, double *xc) {
    memset(mean, 0, (size_t)d * sizeof *mean);
    for (int64_t i = 1; i < n; i++) /* from the first sample: exact for a constant feature */
        for (int64_t r = 0; r < d; r++)
            mean[r] += x[i * d + r] - x[r];
    for (int64_t r = 0; r < d; r++)
        mean[r] = x[r] + mean[r] / (double)n;
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

/* Eigenvalues (descending) and vectors of the Gram matrix, k x k. */
static rlar_status gram_eigen(rlar_ctx *ctx, const double *xc, int64_t d, int64_t n, double *values,
                              double *vectors) {
    const int64_t k = inner(d, n) ? n : d;
    rlar_workspace ws = {0};
    rlar_partials partials;
    double *gram = NULL;
    rlar__partials_carve(&ws, ctx, inner(d, n) ? 0 : n, k, k, &partials);
    rlar_status status = rlar__workspace_take(ctx, &ws, "partial sums");
    if (status >= 0) {
        rlar__partials_carve(&ws, ctx, inner(d, n) ? 0 : n, k, k, &partials);
        status = rlar__calloc(ctx, k, (size_t)k * sizeof *gram, "the Gram matrix", &gram);
    }
    if (status >= 0)
        status = inner(d, n) ? rlar__gram_inner(ctx, n, d, xc, xc, gram)
                             : rlar__gram_outer(ctx, &partials, d, n, xc, xc, gram);
    if (status >= 0)
        status = rlar__eig_top(ctx, k, gram, k, values, vectors);
    rlar__free(gram);
    rlar__workspace_free(&ws);
    return status;
}

/* Whether all of the eigenvalues but those that must be zero can be trusted. */
static bool trusted(const double *values, int64_t rank) {
    return rank > 0 && values[rank - 1] > GRAM_TRUSTED * values[0];
}

static rlar_status take_rank(rlar_ctx *ctx, rlar_reduced *out, int64_t r) {
    out->r = r;
    RLAR_TRY(rlar__alloc(ctx, r, (size_t)out->d * sizeof *out->v, "the reduction", &out->v));
    RLAR_TRY(rlar__alloc(ctx, out->n, (size_t)r * sizeof *out->z, "the reduction", &out->z));
    return rlar__alloc(ctx, r, sizeof *out->s, "the reduction", &out->s);
}

/* V = Xc U diag(1/s) is orthonormal up to eps (s_1/s_r)^2: V (3 I - V^T V) / 2 squares that. */
static rlar_status polish(rlar_ctx *ctx, rlar_reduced *out) {
    const int64_t d = out->d, r = out->r;
    const double ratio = out->s[0] / out->s[r - 1];
    double *gram = NULL, *v = NULL;
    if (DBL_EPSILON * ratio * ratio <= NOT_ORTHONORMAL)
        return RLAR_OK;
    rlar_status status = rlar__alloc(ctx, r, (size_t)r * sizeof *gram, "the reduction", &gram);
    if (status >= 0)
        status = rlar__alloc(ctx, r, (size_t)d * sizeof *v, "the reduction", &v);
    if (status >= 0)
        status = rlar__project(ctx, r, r, d, out->v, out->v, gram);
    for (int64_t i = 0; i < r * r && status >= 0; i++)
        gram[i] = (i % (r + 1) == 0 ? 1.5 : 0.0) - 0.5 * gram[i];
    if (status >= 0)
        status = rlar__multiply(ctx, d, r, r, out->v, gram, v);
    rlar__free(gram);
    if (status < 0) {
        rlar__free(v);
        return status;
    }
    rlar__free(out->v);
    out->v = v;
    return RLAR_OK;
}

/* The eigenvectors are V, or (inner) U, and then V = Xc U diag(1/s). */
static rlar_status from_gram(rlar_ctx *ctx, const double *xc, const double *values, double *vectors,
                             rlar_reduced *out) {
    const int64_t d = out->d, n = out->n, r = out->r;
    for (int64_t k = 0; k < r; k++)
        out->s[k] = sqrt(values[k]);
    if (!inner(d, n)) {
        memcpy(out->v, vectors, (size_t)(d * r) * sizeof *out->v);
        return rlar__project(ctx, r, n, d, out->v, xc, out->z);
    }
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = 0; i < n; i++) {
            out->z[i * r + k] = vectors[k * n + i] * out->s[k];
            vectors[k * n + i] /= out->s[k];
        }
    RLAR_TRY(rlar__multiply(ctx, d, r, n, xc, vectors, out->v));
    return polish(ctx, out);
}

static rlar_status from_svd(rlar_ctx *ctx, double *xc, rlar_reduced *out) {
    const int64_t d = out->d, n = out->n, k = min64(d, n);
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
    const int64_t d = out->d, n = out->n, k = inner(d, n) ? n : d;
    const int64_t rank = min64(n - 1, d - zero_rows(xc, d, n));
    double *values = NULL, *vectors = NULL;
    rlar_status status = rlar__alloc(ctx, k, sizeof *values, "the reduction", &values);
    if (status >= 0)
        status = rlar__alloc(ctx, k, (size_t)k * sizeof *vectors, "the reduction", &vectors);
    if (status >= 0)
        status = gram_eigen(ctx, xc, d, n, values, vectors);
    if (status >= 0 && trusted(values, rank)) {
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
        rlar__centre(x, d, n, out->mean, xc);
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
