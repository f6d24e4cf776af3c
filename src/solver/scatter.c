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

/* The sums of the classes of samples start .. end-1, of the first `rows` numbers of each. */
static void sum_classes(int64_t rows, int64_t r, int64_t c, const int64_t *first, int64_t start,
                        int64_t end, const double *z, double *sums) {
    memset(sums, 0, (size_t)(rows * c) * sizeof *sums);
    for (int64_t j = start, k = rlar__class_of(first, c, start); j < end; j++) {
        while (j >= first[k + 1])
            k++;
        for (int64_t e = 0; e < rows; e++)
            sums[k * rows + e] += z[j * r + e];
    }
}

/* sums (rows x c) over the samples of all ranks. */
static rlar_status class_sums(rlar_ctx *ctx, const rlar_partials *partials, int64_t rows, int64_t r,
                              int64_t c, const int64_t *first, const double *z, double *sums) {
    rlar_tree tree = rlar__tree_begin(partials, rows, c, 0, sums);
    for (int64_t start = 0, end; start < first[c]; start = end) {
        end = rlar__partials_end(partials, first[c], start);
        sum_classes(rows, r, c, first, start, end, z, rlar__tree_leaf(&tree));
        RLAR_TRY(rlar__tree_merge(ctx, &tree));
    }
    return rlar__tree_end(ctx, &tree);
}

static rlar_status take_class_sums(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t rows,
                                   int64_t r, int64_t c, const int64_t *first, const double *z,
                                   double *sums) {
    rlar_workspace ws = {0};
    rlar_partials partials;
    rlar__partials_carve_samples(&ws, blocks, first[c], rows, c, &partials);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "partial sums"));
    rlar__partials_carve_samples(&ws, blocks, first[c], rows, c, &partials);
    const rlar_status status = class_sums(ctx, &partials, rows, r, c, first, z, sums);
    rlar__workspace_free(&ws);
    return status;
}

/* first: of all ranks. */
static void sums_to_means(int64_t r, int64_t c, const int64_t *first, double *sums) {
    for (int64_t i = 0; i < c; i++)
        for (int64_t e = 0; e < r; e++)
            sums[i * r + e] /= (double)(first[i + 1] - first[i]);
}

rlar_status rlar__between_factor(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t r, int64_t c,
                                 const int64_t *first, const double *z, double *h) {
    const int64_t *whole = blocks ? blocks->first : first;
    RLAR_TRY(take_class_sums(ctx, blocks, r, r, c, first, z, h));
    sums_to_means(r, c, whole, h);
    means_to_factor(r, c, whole, h);
    return RLAR_OK;
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

rlar_status rlar__between_white(rlar_ctx *ctx, const rlar_reduced *reduced, int64_t rank,
                                double ridge, int64_t c, const int64_t *first, double *h) {
    const int64_t *whole = reduced->blocks ? reduced->blocks->first : first;
    RLAR_TRY(take_class_sums(ctx, reduced->blocks, rank, reduced->r, c, first, reduced->z, h));
    for (int64_t i = 0; i < c; i++) {
        const double root = sqrt((double)(whole[i + 1] - whole[i]));
        for (int64_t k = 0; k < rank; k++)
            h[i * rank + k] /= root * sqrt(reduced->s[k] * reduced->s[k] + ridge);
    }
    return RLAR_OK;
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
    MOST_GROUPS = 8 /* of samples, each with sums of its own */
};

/* Groups of samples whose sums are made at once: group g is from[g] .. from[g + 1]-1. */
typedef struct total_job {
    int64_t r, c, groups;
    const int64_t *first;
    const double *x, *mean;
    int64_t from[MOST_GROUPS + 1];
    double *sum[MOST_GROUPS]; /* r x (r + c): the product, and the sums of the classes */
} total_job;

/* How many at the most: together their sums take no more than a quarter of the samples. From the
 * samples of all ranks, because it decides what the bits are. */
static int64_t most_groups(const rlar_blocks *blocks, int64_t n, int64_t r) {
    const int64_t most = (blocks ? rlar__blocks_samples(blocks) : n) / r / 4;
    return most < MOST_GROUPS ? most : MOST_GROUPS;
}

static bool one_block(const rlar_blocks *blocks, int64_t n) {
    return blocks ? blocks->total == 1 : n <= RLAR_SUM_BLOCK;
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

/* Samples from .. to-1; the sums of their classes onto h. */
static void centre_some(const total_job *job, int64_t from, int64_t to, double *out, double *h) {
    const int64_t r = job->r;
    for (int64_t j = from, k = rlar__class_of(job->first, job->c, from); j < to; k++) {
        const int64_t end = job->first[k + 1] < to ? job->first[k + 1] : to;
        if (end <= j) /* a class without samples here */
            continue;
        centre_run(r, end - j, job->x + j * r, job->mean, out + (j - from) * r, h + k * r);
        j = end;
    }
}

/* One group by one whole DSYRK after the other, on one thread, which is a third faster than panels
 * of the triangle. */
static rlar_status add_group(rlar_ctx *ctx, void *arg, int64_t g) {
    const total_job *job = arg;
    const int64_t r = job->r, begin = job->from[g], end = job->from[g + 1];
    double *some = NULL, *s = job->sum[g], *h = s + r * r;
    RLAR_TRY(rlar__alloc(ctx, end - begin < FEW ? end - begin : FEW, (size_t)r * sizeof *some,
                         "a block of samples", &some));
    rlar_status status = RLAR_OK;
    memset(h, 0, (size_t)(r * job->c) * sizeof *h);
    for (int64_t from = begin; from < end && status >= 0; from += FEW) {
        const int64_t count = end - from < FEW ? end - from : FEW;
        centre_some(job, from, from + count, some, h);
        rlar__tile_square(r, count, some, from == begin, s);
        status = rlar__poll(ctx);
    }
    rlar__free(some);
    return status;
}

/* Few samples, for so many features: one block after the other by panels on all threads. */
static rlar_status add_blocks(rlar_ctx *ctx, const total_job *job, rlar_tree *tree, double *block) {
    const int64_t r = job->r, n = job->first[job->c];
    for (int64_t start = 0, end; start < n; start = end) {
        double *s = rlar__tree_leaf(tree), *h = s + r * r;
        end = rlar__partials_end(tree->partials, n, start);
        memset(h, 0, (size_t)(r * job->c) * sizeof *h);
        centre_some(job, start, end, block, h);
        RLAR_TRY(rlar__gram_add(ctx, r, end - start, block, block, true, s));
        RLAR_TRY(rlar__tree_merge(ctx, tree));
        RLAR_TRY(rlar__poll(ctx));
    }
    return RLAR_OK;
}

/* All samples are one block: its groups, added up in their order. */
static rlar_status add_one_block(rlar_ctx *ctx, total_job *job, int64_t most, rlar_tree *tree) {
    const int64_t r = job->r, n = job->first[job->c], share = (n / most / FEW + 1) * FEW;
    if (n == 0)
        return RLAR_OK;
    job->sum[0] = rlar__tree_leaf(tree);
    for (job->groups = 0; job->groups * share < n; job->groups++) {
        const int64_t end = (job->groups + 1) * share;
        job->from[job->groups + 1] = end < n ? end : n;
    }
    RLAR_TRY(rlar__parallel_ctx(ctx, job->groups, add_group, job));
    for (int64_t g = 1; g < job->groups; g++)
        for (int64_t j = 0; j < r + job->c; j++)
            for (int64_t i = j < r ? j : 0; i < r; i++)
                job->sum[0][j * r + i] += job->sum[g][j * r + i];
    return RLAR_OK;
}

/* Without what is above the diagonal. */
static void copy_sums(const total_job *job, int64_t g, double *to) {
    const int64_t r = job->r;
    for (int64_t j = 0; j < r + job->c; j++) {
        const int64_t at = j * r + (j < r ? j : 0), end = (j + 1) * r;
        memcpy(to + at, job->sum[g] + at, (size_t)(end - at) * sizeof *to);
    }
}

/* Several blocks at once, each a group. */
static rlar_status add_many_blocks(rlar_ctx *ctx, total_job *job, int64_t most, rlar_tree *tree) {
    const int64_t n = job->first[job->c];
    for (int64_t start = 0; start < n; start = job->from[job->groups]) {
        job->from[0] = start;
        for (job->groups = 0; job->groups < most && job->from[job->groups] < n; job->groups++)
            job->from[job->groups + 1] =
                rlar__partials_end(tree->partials, n, job->from[job->groups]);
        job->sum[0] = rlar__tree_leaf(tree);
        RLAR_TRY(rlar__parallel_ctx(ctx, job->groups, add_group, job));
        RLAR_TRY(rlar__tree_merge(ctx, tree));
        for (int64_t g = 1; g < job->groups; g++) {
            copy_sums(job, g, rlar__tree_leaf(tree));
            RLAR_TRY(rlar__tree_merge(ctx, tree));
        }
    }
    return RLAR_OK;
}

/* The sums of all groups but one, or a block of samples; and the partial sums. */
static void total_carve(rlar_workspace *ws, const rlar_blocks *blocks, int64_t n, int64_t r,
                        int64_t c, double **room, rlar_partials *partials) {
    const int64_t most = most_groups(blocks, n, r), block = n < RLAR_SUM_BLOCK ? n : RLAR_SUM_BLOCK;
    size_t row = 0;
    if (!rlar__size_mul((size_t)r, sizeof **room, &row))
        ws->overflow = true;
    *room = rlar__carve(ws, most < 2 ? block : (most - 1) * (r + c), row);
    rlar__partials_carve_samples(ws, blocks, n, r, r + c, partials);
}

static rlar_status add_all(rlar_ctx *ctx, const rlar_blocks *blocks, total_job *job, double *room,
                           const rlar_partials *partials, double *both) {
    const int64_t r = job->r, n = job->first[job->c], most = most_groups(blocks, n, r);
    rlar_tree tree = rlar__tree_begin(partials, r, r + job->c, r, both);
    for (int64_t g = 1; g < most; g++)
        job->sum[g] = room + (g - 1) * r * (r + job->c);
    RLAR_TRY(most < 2               ? add_blocks(ctx, job, &tree, room)
             : one_block(blocks, n) ? add_one_block(ctx, job, most, &tree)
                                    : add_many_blocks(ctx, job, most, &tree));
    return rlar__tree_end(ctx, &tree);
}

rlar_status rlar__total_between(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t r, int64_t c,
                                const int64_t *first, const double *x, const double *mean,
                                double *both) {
    const int64_t *whole = blocks ? blocks->first : first;
    total_job job = {.r = r, .c = c, .first = first, .x = x, .mean = mean};
    rlar_workspace ws = {0};
    rlar_partials partials;
    double *room, *h = both + r * r;
    total_carve(&ws, blocks, first[c], r, c, &room, &partials);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "the scatter of groups"));
    total_carve(&ws, blocks, first[c], r, c, &room, &partials);
    const rlar_status status = add_all(ctx, blocks, &job, room, &partials, both);
    rlar__workspace_free(&ws);
    RLAR_TRY(status);
    for (int64_t i = 0; i < c; i++)
        scale_column(r, 1.0 / (double)(whole[i + 1] - whole[i]), h + i * r);
    means_to_factor(r, c, whole, h);
    return RLAR_OK;
}

void rlar__between_talk(int64_t r, int64_t c, rlar_exchange *out) {
    rlar__exchange_sum(out, (double)r * (double)c);
}

/* Lower triangle and class sums at once. */
void rlar__total_between_talk(int64_t r, int64_t c, rlar_exchange *out) {
    rlar__exchange_sum(out, (double)r * ((double)(r + 1) / 2.0 + (double)c));
}

double rlar__total_between_bytes(const rlar_blocks *blocks, int64_t r, int64_t c, int64_t n) {
    rlar_workspace ws = {0};
    rlar_partials partials;
    double *room;
    total_carve(&ws, blocks, n, r, c, &room, &partials);
    const int64_t most = most_groups(blocks, n, r);
    return (double)ws.used + (most < 2 ? 0.0 : 8.0 * (double)(most * FEW * r));
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
