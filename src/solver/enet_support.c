/* enet_support.c - H = G + gamma I: its inverse, and the systems of parts of it.
 *
 * (H_AA)^-1 is had from whichever is the smallest system: the features A, the n samples (X_A X_A^T
 * + n gamma I), or the features M outside A, with H^-1 made once: H^-1 (v - z), where z lives on M
 * and (H^-1)_MM z = (H^-1 v)_M. The last is what makes many similar problems with large supports
 * cheap. */
#include "solver/enet_parts.h"

#include <math.h>
#include <string.h>

/* ---- Products with one vector: a matter of memory, where a loop does as well as DGEMM ---- */

/* out += A v for up to four columns of A at once: out is read and written once for all of them. */
RLAR_SIMD
static void add_columns(int64_t rows, const double *const a[4], const double v[4],
                        double *restrict out) {
    const double *restrict a0 = a[0], *restrict a1 = a[1], *restrict a2 = a[2], *restrict a3 = a[3];
    const double v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3];
    if (v0 == 0.0 && v1 == 0.0 && v2 == 0.0 && v3 == 0.0)
        return;
    for (int64_t i = 0; i < rows; i++)
        out[i] += (a0[i] * v0 + a1[i] * v1) + (a2[i] * v2 + a3[i] * v3);
}

void rlar__enet_add(int64_t rows, int64_t count, const int64_t *which, const double *a,
                    const double *v, double *out) {
    for (int64_t j = 0; j < count; j += 4) {
        const double *column[4];
        double factor[4];
        for (int64_t k = 0; k < 4; k++) {
            const int64_t i = j + k < count ? j + k : j; /* once more, times zero */
            column[k] = a + (which ? which[i] : i) * rows;
            factor[k] = j + k < count ? v[i] : 0.0;
        }
        add_columns(rows, column, factor, out);
    }
}

void rlar__enet_times(int64_t rows, int64_t columns, const double *a, const double *v,
                      double *out) {
    memset(out, 0, (size_t)rows * sizeof *out);
    rlar__enet_add(rows, columns, NULL, a, v, out);
}

void rlar__enet_transposed(int64_t rows, int64_t columns, const double *a, const double *v,
                           double *out) {
    for (int64_t j = 0; j < columns; j++)
        out[j] = rlar__dot(rows, a + j * rows, v);
}

/* Four columns below the diagonal, there and back: out += A f and sum = A^T v. */
RLAR_SIMD
static void add_both(int64_t rows, const double *const a[4], const double f[4],
                     const double *restrict v, double *restrict out, double sum[4]) {
    enum { LANES = 8 };
    const double *a0 = a[0], *a1 = a[1], *a2 = a[2], *a3 = a[3];
    rlar_lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    int64_t i = 0;
    for (; i + LANES <= rows; i += LANES) {
        const rlar_lanes x = *(const rlar_lanes *)(v + i);
        const rlar_lanes c0 = *(const rlar_lanes *)(a0 + i), c1 = *(const rlar_lanes *)(a1 + i),
                         c2 = *(const rlar_lanes *)(a2 + i), c3 = *(const rlar_lanes *)(a3 + i);
        s0 += c0 * x;
        s1 += c1 * x;
        s2 += c2 * x;
        s3 += c3 * x;
        *(rlar_lanes *)(out + i) += (c0 * f[0] + c1 * f[1]) + (c2 * f[2] + c3 * f[3]);
    }
    for (int k = 0; i < rows; i++, k++) {
        s0[k] += a0[i] * v[i];
        s1[k] += a1[i] * v[i];
        s2[k] += a2[i] * v[i];
        s3[k] += a3[i] * v[i];
        out[i] += (a0[i] * f[0] + a1[i] * f[1]) + (a2[i] * f[2] + a3[i] * f[3]);
    }
    for (int k = 0; k < LANES; k++) {
        sum[0] += s0[k];
        sum[1] += s1[k];
        sum[2] += s2[k];
        sum[3] += s3[k];
    }
}

void rlar__enet_symmetric(int64_t d, const double *a, const double *v, double *out) {
    memset(out, 0, (size_t)d * sizeof *out);
    for (int64_t j = 0; j < d; j += 4) {
        const int64_t width = d - j < 4 ? d - j : 4;
        const double *column[4], *corner = a + j * d + j;
        double factor[4] = {0}, sum[4] = {0};
        for (int64_t k = 0; k < 4; k++)
            column[k] = corner + (k < width ? k * d : 0) + width;
        for (int64_t k = 0; k < width; k++) {
            factor[k] = v[j + k];
            for (int64_t l = 0; l < width; l++)
                out[j + k] += (l < k ? corner[l * d + k] : corner[k * d + l]) * v[j + l];
        }
        add_both(d - j - width, column, factor, v + j + width, out + j + width, sum);
        for (int64_t k = 0; k < width; k++)
            out[j + k] += sum[k];
    }
}

/* ---- H^-1 ---- */

static rlar_status invert_gram(rlar_ctx *ctx, rlar_enet *en) {
    const int64_t d = en->d;
    double *h = en->inverse;
    memcpy(h, en->gram, (size_t)(d * d) * sizeof *h);
    for (int64_t j = 0; j < d; j++)
        h[j * d + j] += en->gamma;
    RLAR_TRY(rlar__chol_factor(ctx, d, h, en->pivots, &en->ridged));
    rlar__chol_small_inverse(d, h, d);
    for (int64_t j = 0; j < d; j++)
        for (int64_t i = j + 1; i < d; i++)
            h[i * d + j] = h[j * d + i];
    return RLAR_OK;
}

/* system = factor of X_A X_A^T + n gamma I for the count columns xs. */
static rlar_status factor_samples(rlar_ctx *ctx, rlar_enet *en, int64_t count, const double *xs) {
    const int64_t n = en->n;
    RLAR_TRY(rlar__gram_outer(ctx, &en->partials, n, count, xs, xs, en->system));
    for (int64_t i = 0; i < n; i++)
        en->system[i * n + i] += (double)n * en->gamma;
    return rlar__chol_factor(ctx, n, en->system, en->pivots, &en->ridged);
}

rlar_status rlar__enet_prepare(rlar_ctx *ctx, rlar_enet *en) {
    const int64_t n = en->n;
    en->ridged = 0;
    en->resumes = en->noted = false;
    en->held = 0;
    for (int64_t j = 0; j < en->d; j++)
        en->diag[j] = en->covariance ? en->gram[j * en->d + j]
                                     : rlar__dot(n, en->x + j * n, en->x + j * n) / (double)n;
    if (en->covariance)
        return invert_gram(ctx, en);
    RLAR_TRY(factor_samples(ctx, en, en->d, en->x));
    memcpy(en->inverse, en->x, (size_t)(n * en->d) * sizeof *en->x);
    return rlar__chol_solve(ctx, n, en->d, en->system, en->inverse);
}

/* out = H^-1 v; by samples: (v - X^T (X X^T + n gamma I)^-1 X v) / gamma. */
static void apply_inverse(rlar_enet *en, const double *v, double *out) {
    if (en->covariance) {
        rlar__enet_symmetric(en->d, en->inverse, v, out);
        return;
    }
    rlar__enet_times(en->n, en->d, en->inverse, v, en->u);
    rlar__enet_transposed(en->n, en->d, en->x, en->u, out);
    for (int64_t j = 0; j < en->d; j++)
        out[j] = (v[j] - out[j]) / en->gamma;
}

void rlar__enet_ridge(rlar_enet *en, const double *g, double *b) {
    en->resumes = false;
    apply_inverse(en, g, b);
    for (int64_t j = 0; j < en->d; j++)
        if (en->diag[j] == 0.0)
            b[j] = 0.0;
}

rlar_status rlar__enet_ridges(rlar_ctx *ctx, const rlar_enet *en, int64_t count, const double *g,
                              double *b) {
    return rlar__multiply(ctx, en->d, count, en->d, en->inverse, g, b);
}

/* ---- (H_AA)^-1 ---- */

/* Columns `which` of a matrix with n rows, one after another. */
static void gather(int64_t n, int64_t count, const int64_t *which, const double *from, double *to) {
    for (int64_t i = 0; i < count; i++)
        memcpy(to + i * n, from + which[i] * n, (size_t)n * sizeof *to);
}

/* Lower triangle of the rows and columns `which` of a matrix (d x d). */
static void gather_square(int64_t d, int64_t count, const int64_t *which, const double *from,
                          double *to) {
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = j; i < count; i++)
            to[j * count + i] = from[which[j] * d + which[i]];
}

rlar_status rlar__enet_factor_support(rlar_ctx *ctx, rlar_enet *en, int64_t count,
                                      const int64_t *which) {
    if (en->covariance) {
        gather_square(en->d, count, which, en->gram, en->system);
    } else {
        gather(en->n, count, which, en->x, en->xs);
        memset(en->system, 0, (size_t)(count * count) * sizeof *en->system);
        RLAR_TRY(rlar__gram_inner(ctx, count, en->n, en->xs, en->xs, en->system));
        for (int64_t i = 0; i < count * count; i++)
            en->system[i] /= (double)en->n;
    }
    for (int64_t i = 0; i < count; i++)
        en->system[i * count + i] += en->gamma;
    return rlar__chol_factor(ctx, count, en->system, en->pivots, &en->ridged);
}

/* step <- (H_AA)^-1 step, by H_AA itself. */
static rlar_status by_features(rlar_ctx *ctx, rlar_enet *en, int64_t count) {
    RLAR_TRY(rlar__enet_factor_support(ctx, en, count, en->support));
    return rlar__chol_solve(ctx, count, 1, en->system, en->step);
}

static rlar_status by_samples(rlar_ctx *ctx, rlar_enet *en, int64_t count) {
    const int64_t n = en->n;
    gather(n, count, en->support, en->x, en->xs);
    RLAR_TRY(factor_samples(ctx, en, count, en->xs));
    rlar__enet_times(n, count, en->xs, en->step, en->u);
    RLAR_TRY(rlar__chol_solve(ctx, n, 1, en->system, en->u));
    for (int64_t i = 0; i < count; i++)
        en->step[i] = (en->step[i] - rlar__dot(n, en->xs + i * n, en->u)) / en->gamma;
    return RLAR_OK;
}

rlar_status rlar__enet_factor_rest(rlar_ctx *ctx, rlar_enet *en, int64_t m, const int64_t *rest) {
    const int64_t n = en->n;
    if (en->covariance) {
        gather_square(en->d, m, rest, en->inverse, en->system);
    } else {
        gather(n, m, rest, en->x, en->xs);
        gather(n, m, rest, en->inverse, en->xs + m * n); /* 2 m <= d: see rlar__enet_on_support */
        memset(en->system, 0, (size_t)(m * m) * sizeof *en->system);
        RLAR_TRY(rlar__gram_inner(ctx, m, n, en->xs, en->xs + m * n, en->system));
        for (int64_t i = 0; i < m * m; i++)
            en->system[i] /= -en->gamma;
        for (int64_t i = 0; i < m; i++)
            en->system[i * m + i] += 1.0 / en->gamma;
    }
    return rlar__chol_factor(ctx, m, en->system, en->pivots, &en->ridged);
}

/* From out = H^-1 v, or by samples u = X-part of it, of which only the columns of M are read:
 * z (m) = ((H^-1)_MM)^-1 (H^-1 v)_M. */
static rlar_status rest_part(rlar_ctx *ctx, rlar_enet *en, int64_t m, const int64_t *rest,
                             double *z) {
    const int64_t n = en->n;
    RLAR_TRY(rlar__enet_factor_rest(ctx, en, m, rest));
    for (int64_t i = 0; i < m; i++)
        z[i] = en->covariance ? en->out[rest[i]] : -rlar__dot(n, en->xs + i * n, en->u) / en->gamma;
    return rlar__chol_solve(ctx, m, 1, en->system, z);
}

/* step <- (H_AA)^-1 step, by the features outside: H^-1 (v - z) vanishes there. */
static rlar_status by_rest(rlar_ctx *ctx, rlar_enet *en, int64_t count) {
    const int64_t n = en->n, m = en->d - count, *rest = en->support + count;
    double *z = en->step + count;
    memset(en->full, 0, (size_t)en->d * sizeof *en->full);
    for (int64_t i = 0; i < count; i++)
        en->full[en->support[i]] = en->step[i];
    if (en->covariance)
        rlar__enet_symmetric(en->d, en->inverse, en->full, en->out);
    else
        rlar__enet_times(n, en->d, en->inverse, en->full, en->u);
    if (m > 0)
        RLAR_TRY(rest_part(ctx, en, m, rest, z));
    for (int64_t i = 0; i < m; i++)
        z[i] = -z[i];
    if (en->covariance)
        rlar__enet_add(en->d, m, rest, en->inverse, z, en->out);
    else
        rlar__enet_add(n, m, NULL, en->xs + m * n, z, en->u);
    for (int64_t i = 0; i < count; i++) {
        const int64_t j = en->support[i];
        en->step[i] = en->covariance
                          ? en->out[j]
                          : (en->step[i] - rlar__dot(n, en->x + j * n, en->u)) / en->gamma;
    }
    return RLAR_OK;
}

rlar_status rlar__enet_on_support(rlar_ctx *ctx, rlar_enet *en, int64_t count) {
    en->held = 0; /* the systems share their room */
    const double a = (double)count, m = (double)(en->d - count), n = (double)en->n;
    if (en->covariance)
        return m < a ? by_rest(ctx, en, count) : by_features(ctx, en, count);
    const double direct = fmin(a, n) * fmin(a, n) * fmax(a, n);
    if (m < a && m <= n && m * m * n + 4.0 * n * (a + m) < direct)
        return by_rest(ctx, en, count);
    return a <= n ? by_features(ctx, en, count) : by_samples(ctx, en, count);
}

int64_t rlar__enet_find_support(rlar_enet *en, const double *b) {
    int64_t count = 0, rest = 0;
    for (int64_t j = 0; j < en->d; j++)
        count += b[j] != 0.0;
    for (int64_t j = 0, used = 0; j < en->d; j++)
        if (b[j] != 0.0)
            en->support[used++] = j;
        else
            en->support[count + rest++] = j;
    return count;
}
