/* scatter.c - class means, scatter matrices as factors and as lower triangles.
 *
 *   S_b = sum_i n_i (m_i - m)(m_i - m)^T,   S_w = sum_i sum_j (z_j - m_i)(z_j - m_i)^T,
 *   S_t = S_b + S_w
 *
 * Factors are kept as long as possible: H_b has c columns only, and squaring loses digits. S_w is
 * made from its own factor, not as S_t - S_b, where its null space would drown in rounding. */
#include "solver/scatter.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* Differences below this share of the largest distance from the mean are rounding, not directions.
 */
static const double NO_DIRECTION = 1e-12;

/* The mean of the columns z_from .. z_to-1. */
static void mean_of(int64_t r, int64_t from, int64_t to, const double *z, double *mean) {
    memset(mean, 0, (size_t)r * sizeof *mean);
    for (int64_t j = from; j < to; j++)
        for (int64_t k = 0; k < r; k++)
            mean[k] += z[j * r + k];
    for (int64_t k = 0; k < r; k++)
        mean[k] /= (double)(to - from);
}

void rlar__class_means(int64_t r, int64_t c, const int64_t *first, const double *z, double *means) {
    for (int64_t i = 0; i < c; i++)
        mean_of(r, first[i], first[i + 1], z, means + i * r);
}

/* Subtract m = sum_i (n_i / n) m_i from every class mean; from z that is zero but for rounding. */
static void centre_means(int64_t r, int64_t c, const int64_t *first, double *means) {
    for (int64_t k = 0; k < r; k++) {
        double sum = 0.0;
        for (int64_t i = 0; i < c; i++)
            sum += (double)(first[i + 1] - first[i]) * means[i * r + k];
        for (int64_t i = 0; i < c; i++)
            means[i * r + k] -= sum / (double)first[c];
    }
}

static void scale_column(int64_t r, double factor, double *column) {
    for (int64_t k = 0; k < r; k++)
        column[k] *= factor;
}

/* H_b from the class means. */
static void means_to_factor(int64_t r, int64_t c, const int64_t *first, double *h) {
    centre_means(r, c, first, h);
    for (int64_t i = 0; i < c; i++)
        scale_column(r, sqrt((double)(first[i + 1] - first[i])), h + i * r);
}

void rlar__between_factor(int64_t r, int64_t c, const int64_t *first, const double *z, double *h) {
    rlar__class_means(r, c, first, z, h);
    means_to_factor(r, c, first, h);
}

rlar_status rlar__within_factor(rlar_ctx *ctx, int64_t r, int64_t c, const int64_t *first,
                                const double *z, double *h) {
    double *mean = NULL;
    RLAR_TRY(rlar__alloc(ctx, r, sizeof *mean, "a class mean", &mean));
    for (int64_t i = 0; i < c; i++) {
        mean_of(r, first[i], first[i + 1], z, mean);
        for (int64_t j = first[i]; j < first[i + 1]; j++)
            for (int64_t k = 0; k < r; k++)
                h[j * r + k] = z[j * r + k] - mean[k];
    }
    rlar__free(mean);
    return RLAR_OK;
}

/* ---- Directions ---- */

/* The largest ||z_j - m||, which is the scale of rounding in all differences. */
static double radius(int64_t r, int64_t n, const double *z, const double *mean) {
    double largest = 0.0;
    for (int64_t j = 0; j < n; j++)
        largest = fmax(largest, rlar__distance2(r, z + j * r, mean));
    return sqrt(largest);
}

/* Make every column of f (r x k) one of length sqrt(weight / sum of the weights), weight 1 without
 * `first`, else n_i; columns no longer than `least` become zero and their weight does not count. */
static void unit_factor(int64_t r, int64_t k, const int64_t *first, double least, double *f) {
    double total = 0.0;
    for (int64_t j = 0; j < k; j++) {
        const double norm = rlar__norm(r, f + j * r);
        const double weight = first ? (double)(first[j + 1] - first[j]) : 1.0;
        const bool kept = norm > least;
        scale_column(r, kept ? sqrt(weight) / norm : 0.0, f + j * r);
        total += kept ? weight : 0.0;
    }
    for (int64_t j = 0; j < k && total > 0.0; j++)
        scale_column(r, 1.0 / sqrt(total), f + j * r);
}

rlar_status rlar__direction_factors(rlar_ctx *ctx, int64_t r, int64_t c, const int64_t *first,
                                    const double *z, double *within, double *between) {
    double *mean = NULL;
    RLAR_TRY(rlar__alloc(ctx, r, sizeof *mean, "the mean", &mean));
    mean_of(r, 0, first[c], z, mean);
    const double least = NO_DIRECTION * radius(r, first[c], z, mean);
    rlar__free(mean);
    rlar__class_means(r, c, first, z, between);
    centre_means(r, c, first, between);
    RLAR_TRY(rlar__within_factor(ctx, r, c, first, z, within));
    unit_factor(r, first[c], NULL, least, within);
    unit_factor(r, c, first, least, between);
    return RLAR_OK;
}

/* ---- In the reduced space ---- */

void rlar__between_white(const rlar_reduced *reduced, int64_t rank, double ridge, int64_t c,
                         const int64_t *first, double *h) {
    const int64_t r = reduced->r;
    memset(h, 0, (size_t)(rank * c) * sizeof *h);
    for (int64_t i = 0; i < c; i++) {
        const double root = sqrt((double)(first[i + 1] - first[i]));
        for (int64_t j = first[i]; j < first[i + 1]; j++)
            for (int64_t k = 0; k < rank; k++)
                h[i * rank + k] += reduced->z[j * r + k];
        for (int64_t k = 0; k < rank; k++)
            h[i * rank + k] /= root * sqrt(reduced->s[k] * reduced->s[k] + ridge);
    }
}

rlar_status rlar__scatter(rlar_ctx *ctx, int64_t r, int64_t k, const double *f, double *s) {
    rlar_workspace ws = {0};
    rlar_partials partials;
    rlar__partials_carve(&ws, k, r, r, &partials);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "partial sums"));
    rlar__partials_carve(&ws, k, r, r, &partials);
    const rlar_status status = rlar__gram_outer(ctx, &partials, r, k, f, f, s);
    rlar__workspace_free(&ws);
    return status;
}

/* Samples from .. to-1 without the mean into block; h (r x c) += their sums by class. */
static void centre_block(int64_t r, const int64_t *first, int64_t from, int64_t to, const double *x,
                         const double *mean, double *block, double *h) {
    int64_t k = 0;
    for (int64_t j = from; j < to; j++) {
        while (j >= first[k + 1])
            k++;
        for (int64_t e = 0; e < r; e++) {
            block[(j - from) * r + e] = x[j * r + e] - mean[e];
            h[k * r + e] += block[(j - from) * r + e];
        }
    }
}

/* A block is centred, summed and multiplied while it is in the cache; the products are added in the
 * order of the blocks. */
static rlar_status add_blocks(rlar_ctx *ctx, int64_t r, const int64_t *first, int64_t n,
                              const double *x, const double *mean, double *block, double *part,
                              double *total, double *h) {
    for (int64_t from = 0; from < n; from += RLAR_SUM_BLOCK) {
        const int64_t to = n - from < RLAR_SUM_BLOCK ? n : from + RLAR_SUM_BLOCK;
        centre_block(r, first, from, to, x, mean, block, h);
        RLAR_TRY(rlar__scatter(ctx, r, to - from, block, from == 0 ? total : part));
        for (int64_t j = 0; j < r && from > 0; j++)
            for (int64_t i = j; i < r; i++)
                total[j * r + i] += part[j * r + i];
    }
    return RLAR_OK;
}

rlar_status rlar__total_between(rlar_ctx *ctx, int64_t r, int64_t c, const int64_t *first,
                                const double *x, const double *mean, double *total, double *h) {
    const int64_t n = first[c], size = n < RLAR_SUM_BLOCK ? n : RLAR_SUM_BLOCK;
    const size_t column = (size_t)r * sizeof(double);
    double *block = NULL, *part = NULL;
    rlar_status status = rlar__alloc(ctx, size, column, "a block of samples", &block);
    if (status >= 0 && size < n)
        status = rlar__alloc(ctx, r, column, "a scatter matrix", &part);
    memset(h, 0, (size_t)c * column);
    if (status >= 0)
        status = add_blocks(ctx, r, first, n, x, mean, block, part, total, h);
    for (int64_t i = 0; i < c; i++)
        scale_column(r, 1.0 / (double)(first[i + 1] - first[i]), h + i * r);
    means_to_factor(r, c, first, h);
    rlar__free(block);
    rlar__free(part);
    return status;
}

rlar_status rlar__scatter_top(rlar_ctx *ctx, const rlar_reduced *reduced, double *m, int64_t q,
                              double *values, double *w, double *b) {
    double *vectors = NULL;
    rlar_status status =
        rlar__alloc(ctx, q, (size_t)reduced->r * sizeof *vectors, "the eigenvectors", &vectors);
    if (status >= 0)
        status = rlar__eig_top(ctx, reduced->r, m, q, values, vectors);
    if (status >= 0)
        status = rlar__reduce_orthonormal(ctx, reduced, q, vectors, w, b);
    rlar__free(vectors);
    return status;
}
