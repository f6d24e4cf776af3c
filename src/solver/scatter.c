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

/* ---- Both scatters in one pass ---- */

enum {
    FEW = 256,      /* samples that are centred and multiplied while they are in the cache */
    MOST_GROUPS = 8 /* of samples, each with a matrix of its own */
};

typedef struct total_job {
    int64_t r, n, share; /* samples per group */
    const int64_t *first;
    const double *x, *mean;
    double *total, *others; /* r x r: the product of group 0, and those of the others */
    double *h;              /* r x c: sums of the classes, each by the group where it begins */
    double *rest;           /* r per group: of the class that an earlier group began */
} total_job;

/* From the number of samples and features alone, so that the bits are the same for any number of
 * threads. Together the matrices take no more than a quarter of the samples. */
static int64_t group_share(int64_t n, int64_t r) {
    const int64_t most = n / r / 4, groups = most < MOST_GROUPS ? most : MOST_GROUPS;
    return groups < 2 ? n : (n / groups / FEW + 1) * FEW;
}

static int64_t group_count(const total_job *job) {
    return (job->n - 1) / job->share + 1;
}

/* `count` samples of one class without the mean; their sum onto `sum`. */
RLAR_SIMD
static void centre_run(int64_t r, int64_t count, const double *x, const double *mean, double *out,
                       double *sum) {
    for (int64_t j = 0; j < count; j++)
        for (int64_t e = 0; e < r; e++) {
            out[j * r + e] = x[j * r + e] - mean[e];
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): r > 0 had room made for it */
            sum[e] += out[j * r + e];
        }
}

/* Samples from .. to-1 of group g, the first of class *k or a later one. */
static void centre_block(const total_job *job, int64_t g, int64_t from, int64_t to, int64_t *k,
                         double *block) {
    const int64_t r = job->r;
    for (int64_t j = from; j < to;) {
        while (j >= job->first[*k + 1])
            ++*k;
        const bool begun = job->first[*k] < g * job->share;
        const int64_t end = job->first[*k + 1] < to ? job->first[*k + 1] : to;
        centre_run(r, end - j, job->x + j * r, job->mean, block + (j - from) * r,
                   begun ? job->rest + g * r : job->h + *k * r);
        j = end;
    }
}

/* One group of samples after the other by one whole DSYRK per block, which is a third faster than
 * panels of its triangle; where there is but one group, by panels on all threads. */
static rlar_status add_group(rlar_ctx *ctx, void *arg, int64_t g) {
    const total_job *job = arg;
    const bool alone = job->share >= job->n;
    const int64_t r = job->r, begin = g * job->share, size = alone ? RLAR_SUM_BLOCK : FEW;
    const int64_t end = job->n - begin < job->share ? job->n : begin + job->share;
    double *block = NULL, *s = g == 0 ? job->total : job->others + (g - 1) * r * r;
    RLAR_TRY(rlar__alloc(ctx, end - begin < size ? end - begin : size, (size_t)r * sizeof *block,
                         "a block of samples", &block));
    rlar_status status = RLAR_OK;
    int64_t k = 0;
    for (int64_t from = begin; from < end && status >= 0; from += size) {
        const int64_t count = end - from < size ? end - from : size;
        centre_block(job, g, from, from + count, &k, block);
        if (alone)
            status = rlar__gram_add(ctx, r, count, block, block, from == begin, s);
        else
            rlar__tile_square(r, count, block, from == begin, s);
        if (status >= 0)
            status = rlar__poll(ctx);
    }
    rlar__free(block);
    return status;
}

/* The groups in their order. */
static void add_up(const total_job *job) {
    const int64_t r = job->r;
    int64_t k = 0;
    for (int64_t g = 1; g < group_count(job); g++) {
        while (g * job->share >= job->first[k + 1])
            k++;
        for (int64_t e = 0; e < r; e++)
            job->h[k * r + e] += job->rest[g * r + e];
        for (int64_t j = 0; j < r; j++)
            for (int64_t i = j; i < r; i++)
                job->total[j * r + i] += job->others[((g - 1) * r + j) * r + i];
    }
}

static rlar_status add_groups(rlar_ctx *ctx, total_job *job) {
    const size_t column = (size_t)job->r * sizeof(double);
    const int64_t groups = group_count(job);
    if (groups == 1)
        return add_group(ctx, job, 0);
    RLAR_TRY(
        rlar__alloc(ctx, (groups - 1) * job->r, column, "the scatter of groups", &job->others));
    RLAR_TRY(rlar__calloc(ctx, groups, column, "the sums of groups", &job->rest));
    RLAR_TRY(rlar__parallel_ctx(ctx, groups, add_group, job));
    add_up(job);
    return RLAR_OK;
}

rlar_status rlar__total_between(rlar_ctx *ctx, int64_t r, int64_t c, const int64_t *first,
                                const double *x, const double *mean, double *total, double *h) {
    const int64_t n = first[c];
    total_job job = {.r = r,
                     .n = n,
                     .share = group_share(n, r),
                     .first = first,
                     .x = x,
                     .mean = mean,
                     .total = total,
                     .h = h};
    memset(h, 0, (size_t)(r * c) * sizeof *h);
    const rlar_status status = add_groups(ctx, &job);
    for (int64_t i = 0; i < c; i++)
        scale_column(r, 1.0 / (double)(first[i + 1] - first[i]), h + i * r);
    means_to_factor(r, c, first, h);
    rlar__free(job.others);
    rlar__free(job.rest);
    return status;
}

double rlar__total_between_bytes(int64_t r, int64_t n) {
    const double row = 8.0 * (double)r;
    const total_job job = {.n = n, .share = group_share(n, r)};
    const double groups = (double)group_count(&job);
    if (groups < 2.0)
        return row * fmin((double)n, RLAR_SUM_BLOCK);
    return row * ((groups - 1.0) * (double)r + groups * (1.0 + FEW));
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
