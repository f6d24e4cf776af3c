/* scale_learn.c - what a chain of scalings learns from the training samples.
 *
 * Sums over samples run in sample order, one feature by one thread, so the bits do not depend on
 * the number of threads. Over ranks each goes on with the sums of the rank before it. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "data/scale.h"
#include "dist/team.h"
#include "linalg/linalg.h"

enum {
    FEATURES_PER_TASK = 128, /* a task walks all samples, 1 KiB in each */
    BLOCK_BYTES = 1 << 20    /* of samples: what stays in the second-level cache */
};

/* What ways through the samples tell of every feature: d each, in one piece of memory. The ranges
 * and plain sums; what block_moments needs. */
typedef struct ranges {
    double *min, *max, *sum;
    double *mean, *off, *squares;
} ranges;

enum { RANGES = 3, ALL_SUMS = 6 };

typedef struct learn_job {
    const double *x;
    int64_t n, d;
    int64_t all; /* samples of all ranks */
    ranges range;
    bool more;             /* range holds earlier samples already */
    bool moments;          /* so do the sums of block_moments */
    double *fill;          /* means, or NULL: not wanted */
    rlar_scale_step *step; /* per-feature step to learn, or NULL */
} learn_job;

/* What is known of a run of neighbouring features. */
typedef struct feature_block {
    const double *min, *max, *sum;
    double power[FEATURES_PER_TASK];                             /* see power_for */
    double mean[FEATURES_PER_TASK], variance[FEATURES_PER_TASK]; /* of the values times power */
} feature_block;

static int64_t features_of(const learn_job *job, int64_t index) {
    const int64_t rest = job->d - index * FEATURES_PER_TASK;
    return rest < FEATURES_PER_TASK ? rest : FEATURES_PER_TASK;
}

/* Plain comparisons, so that the compiler can use vector minima; a NaN would be passed over. The
 * plain sums come on the same way through the samples: enough for a mean where they are finite. */
RLAR_SIMD
static void add_samples(const double *x, int64_t n, int64_t d, int64_t count, double *restrict min,
                        double *restrict max, double *restrict sum) {
    for (int64_t i = 0; i < n; i++, x += d)
        for (int64_t j = 0; j < count; j++) {
            min[j] = x[j] < min[j] ? x[j] : min[j];
            max[j] = x[j] > max[j] ? x[j] : max[j];
            sum[j] += x[j];
        }
}

static rlar_status range_block(void *arg, int64_t index) {
    const learn_job *job = arg;
    const int64_t first = index * FEATURES_PER_TASK, count = features_of(job, index);
    const size_t bytes = (size_t)count * sizeof(double);
    const int64_t from = job->more ? 0 : 1;
    if (!job->more) {
        memcpy(job->range.min + first, job->x + first, bytes);
        memcpy(job->range.max + first, job->x + first, bytes);
        memcpy(job->range.sum + first, job->x + first, bytes);
    }
    add_samples(job->x + from * job->d + first, job->n - from, job->d, count,
                job->range.min + first, job->range.max + first, job->range.sum + first);
    return RLAR_OK;
}

/* The mean alone, from the sums. */
static void block_means(const learn_job *job, int64_t count, feature_block *b) {
    for (int64_t j = 0; j < count; j++) {
        b->mean[j] = b->sum[j] / (double)job->all;
        b->power[j] = 1.0;
    }
}

/* Two passes: a first mean, then the deviations from it, whose own mean corrects both results. */
RLAR_SIMD
static void add_values(const learn_job *job, int64_t first, int64_t count, const double *power,
                       double *restrict sum) {
    for (int64_t i = 0; i < job->n; i++)
        for (int64_t j = 0; j < count; j++)
            sum[j] += job->x[i * job->d + first + j] * power[j];
}

RLAR_SIMD
static void add_deviations(const learn_job *job, int64_t first, int64_t count, const double *power,
                           const double *mean, double *restrict sum, double *restrict squares) {
    for (int64_t i = 0; i < job->n; i++)
        for (int64_t j = 0; j < count; j++) {
            const double deviation = job->x[i * job->d + first + j] * power[j] - mean[j];
            sum[j] += deviation;
            squares[j] += deviation * deviation;
        }
}

static void find_powers(const learn_job *job, int64_t first, int64_t count, double *power) {
    for (int64_t j = first; j < first + count; j++)
        power[j - first] = rlar__power_for(fmax(fabs(job->range.min[j]), fabs(job->range.max[j])));
}

static rlar_status values_block(void *arg, int64_t index) {
    const learn_job *job = arg;
    const int64_t first = index * FEATURES_PER_TASK, count = features_of(job, index);
    double power[FEATURES_PER_TASK];
    find_powers(job, first, count, power);
    add_values(job, first, count, power, job->range.mean + first);
    return RLAR_OK;
}

static rlar_status deviations_block(void *arg, int64_t index) {
    const learn_job *job = arg;
    const int64_t first = index * FEATURES_PER_TASK, count = features_of(job, index);
    double power[FEATURES_PER_TASK];
    find_powers(job, first, count, power);
    add_deviations(job, first, count, power, job->range.mean + first, job->range.off + first,
                   job->range.squares + first);
    return RLAR_OK;
}

/* The results of the two passes. */
static void block_moments(const learn_job *job, int64_t first, int64_t count, feature_block *b) {
    const double n = (double)job->all;
    const double *off = job->range.off + first, *squares = job->range.squares + first;
    for (int64_t j = 0; j < count; j++) {
        b->mean[j] = job->range.mean[first + j] + off[j] / n;
        b->variance[j] = fmax(0, (squares[j] - off[j] * (off[j] / n)) / n);
    }
}

/* A factor whose inverse is too small for a double brings the feature as near 1 as can be. */
static double usable(double factor) {
    return isfinite(factor) ? factor : DBL_MAX;
}

/* 1 / range; 0 for a constant feature. */
static double minmax_factor(double min, double max) {
    if (min == max)
        return 0;
    const double range = max - min;
    return usable(isfinite(range) ? 1 / range : 0.5 / (0.5 * max - 0.5 * min));
}

/* 1 / sd. A constant feature is told by its range: rounding may leave it a variance. */
static double zscore_factor(const feature_block *b, int64_t j) {
    if (b->min[j] == b->max[j])
        return 0;
    return usable(b->power[j] / sqrt(b->variance[j]));
}

/* The mean back in the units of the data; rounding must not carry it beyond them. */
static double block_mean(const feature_block *b, int64_t j) {
    return fmin(fmax(b->mean[j] / b->power[j], b->min[j]), b->max[j]);
}

/* The root mean square of the feature's values; share_length goes on from there. */
static double rms_of(const feature_block *b, int64_t j) {
    return sqrt(b->mean[j] * b->mean[j] + b->variance[j]) / b->power[j];
}

/* Shift and factor of feature `at`, number j of the block. */
static void learn_feature(const feature_block *b, int64_t j, rlar_scale_step *step, int64_t at) {
    const bool minmax = step->kind == RLAR_SCALE_MINMAX;
    if (step->kind == RLAR_SCALE_RMS) {
        step->shift[at] = 0;
        step->factor[at] = rms_of(b, j);
        return;
    }
    step->shift[at] = minmax ? b->min[j] : block_mean(b, j);
    step->factor[at] = minmax ? minmax_factor(b->min[j], b->max[j]) : zscore_factor(b, j);
}

/* From the root mean square of every feature to the one factor; samples that are all 0 stay so. */
static void share_length(rlar_scale_step *step, int64_t d) {
    double largest = 0, sum = 0;
    for (int64_t j = 0; j < d; j++)
        largest = fmax(largest, step->factor[j]);
    const double power = rlar__power_for(largest);
    for (int64_t j = 0; j < d; j++)
        sum += (step->factor[j] * power) * (step->factor[j] * power);
    const double factor = power / sqrt(sum);
    for (int64_t j = 0; j < d; j++)
        step->factor[j] = isfinite(factor) ? factor : 1;
}

/* Are the plain sums enough for the means of these features? */
static bool sums_do(const learn_job *job) {
    for (int64_t j = 0; j < job->d; j++)
        if (!isfinite(job->range.sum[j]))
            return false;
    return true;
}

/* All that is wanted of one run of features. Tasks write disjoint parts of the outputs. */
static rlar_status learn_block(void *arg, int64_t index) {
    const learn_job *job = arg;
    const int64_t first = index * FEATURES_PER_TASK, count = features_of(job, index);
    feature_block b = {.min = job->range.min + first,
                       .max = job->range.max + first,
                       .sum = job->range.sum + first};
    find_powers(job, first, count, b.power);
    if (job->moments)
        block_moments(job, first, count, &b);
    else
        block_means(job, count, &b);
    for (int64_t j = 0; j < count; j++) {
        if (job->fill)
            job->fill[first + j] = block_mean(&b, j);
        if (job->step)
            learn_feature(&b, j, job->step, first + j);
    }
    return RLAR_OK;
}

static rlar_status on_features(rlar_ctx *ctx, rlar_task task, learn_job job) {
    const int64_t tasks = (job.d + FEATURES_PER_TASK - 1) / FEATURES_PER_TASK;
    return rlar__parallel(ctx, tasks, task, &job);
}

/* ---- From rank to rank ---- */

/* The sums of the ranks before this one; then those of all. *seen: how many samples they hold. */
static rlar_status take_over(rlar_ctx *ctx, double *sums, int64_t count, int64_t *seen) {
    const int rank = rlar__team_rank(ctx);
    *seen = 0;
    if (rank == 0)
        return RLAR_OK;
    RLAR_TRY(rlar__team_receive(ctx, rank - 1, seen, sizeof *seen));
    return rlar__team_receive(ctx, rank - 1, sums, (size_t)count * sizeof *sums);
}

static rlar_status pass_on(rlar_ctx *ctx, double *sums, int64_t count, int64_t *seen) {
    const int rank = rlar__team_rank(ctx), last = rlar__team_ranks(ctx) - 1;
    if (rank < last) {
        RLAR_TRY(rlar__team_send(ctx, rank + 1, seen, sizeof *seen));
        RLAR_TRY(rlar__team_send(ctx, rank + 1, sums, (size_t)count * sizeof *sums));
    }
    RLAR_TRY(rlar__team_broadcast(ctx, last, seen, sizeof *seen));
    return rlar__team_broadcast(ctx, last, sums, (size_t)count * sizeof *sums);
}

/* One way through the samples of all ranks, in their order, which adds to so many sums of each
 * feature. */
static rlar_status way(rlar_ctx *ctx, rlar_task task, learn_job job, double *sums, int64_t each) {
    int64_t seen;
    RLAR_TRY(take_over(ctx, sums, each * job.d, &seen));
    job.more = seen > 0;
    if (job.n > 0)
        RLAR_TRY(on_features(ctx, task, job));
    seen += job.n;
    return pass_on(ctx, sums, each * job.d, &seen);
}

/* The sums that block_moments needs. */
static rlar_status learn_moments(rlar_ctx *ctx, learn_job *job) {
    const ranges *r = &job->range;
    memset(r->mean, 0, (size_t)(ALL_SUMS - RANGES) * (size_t)job->d * sizeof *r->mean);
    RLAR_TRY(way(ctx, values_block, *job, r->mean, 1));
    for (int64_t j = 0; j < job->d; j++)
        r->mean[j] /= (double)job->all;
    RLAR_TRY(way(ctx, deviations_block, *job, r->off, 2));
    job->moments = true;
    return RLAR_OK;
}

/* ---- The chain ---- */

/* The samples come block by block. While one is in the cache its ranges are taken and, where the
 * chain begins with it, the step that needs nothing else. *all: samples of all ranks. */
static rlar_status learn_blocks(rlar_ctx *ctx, const rlar_scaling *scaling,
                                const rlar_samples *samples, const ranges *range, int64_t *all) {
    const int64_t d = scaling->d, n = samples->n;
    const int64_t fit = BLOCK_BYTES / (int64_t)sizeof(double) / d, size = fit > 0 ? fit : 1;
    const bool unit = scaling->count > 0 && scaling->step[0].kind == RLAR_SCALE_UNIT;
    RLAR_TRY(take_over(ctx, range->min, RANGES * d, all));
    for (int64_t from = 0; from < n; from += size) {
        const int64_t count = n - from < size ? n - from : size;
        double *x = samples->x + from * d;
        if (samples->feed)
            RLAR_TRY(samples->feed(ctx, samples->user, from, from + count));
        RLAR_TRY(on_features(
            ctx, range_block,
            (learn_job){.x = x, .n = count, .d = d, .range = *range, .more = *all + from > 0}));
        if (unit)
            RLAR_TRY(rlar__scaling_steps(ctx, scaling, 0, 1, x, count));
        RLAR_TRY(rlar__poll(ctx));
    }
    *all += n;
    return pass_on(ctx, range->min, RANGES * d, all);
}

/* After zscore the mean square of a feature that varies is 1, so the length need not be measured;
 * false where a factor could not be as large as that. */
static bool length_is_known(const rlar_scale_step *zscore, rlar_scale_step *rms, int64_t d) {
    int64_t vary = 0;
    for (int64_t j = 0; j < d; j++) {
        if (zscore->factor[j] == DBL_MAX)
            return false;
        vary += zscore->factor[j] != 0;
    }
    for (int64_t j = 0; j < d; j++)
        rms->factor[j] = vary > 0 ? 1 / sqrt((double)vary) : 1; /* the shifts are 0 */
    return true;
}

/* Shift and factor of a step from the samples as they are now; in the first one their ranges are
 * known. */
static rlar_status learn_step(rlar_ctx *ctx, learn_job job, bool first) {
    if (!first)
        RLAR_TRY(way(ctx, range_block, job, job.range.min, RANGES));
    if (job.step->kind != RLAR_SCALE_MINMAX)
        RLAR_TRY(learn_moments(ctx, &job));
    RLAR_TRY(on_features(ctx, learn_block, job));
    if (job.step->kind == RLAR_SCALE_RMS)
        share_length(job.step, job.d);
    return RLAR_OK;
}

/* Each step is learned on what the steps before it made of the samples. */
static rlar_status learn_chain(rlar_ctx *ctx, rlar_scaling *scaling, const rlar_samples *samples,
                               const ranges *range) {
    learn_job job = {.x = samples->x, .n = samples->n, .d = scaling->d, .range = *range};
    rlar_scale_step *step = scaling->step;
    RLAR_TRY(learn_blocks(ctx, scaling, samples, range, &job.all));
    job.fill = scaling->fill;
    if (!sums_do(&job))
        RLAR_TRY(learn_moments(ctx, &job));
    RLAR_TRY(on_features(ctx, learn_block, job));
    job.fill = NULL;
    job.moments = false;
    for (int s = 0, next; s < scaling->count; s = next) {
        next = s + 1;
        job.step = &step[s];
        if (step[s].kind == RLAR_SCALE_UNIT && s == 0)
            continue; /* done */
        if (step[s].kind != RLAR_SCALE_UNIT)
            RLAR_TRY(learn_step(ctx, job, s == 0));
        if (step[s].kind == RLAR_SCALE_ZSCORE && next < scaling->count &&
            step[next].kind == RLAR_SCALE_RMS && length_is_known(&step[s], &step[next], scaling->d))
            next++; /* both in one way through the samples */
        RLAR_TRY(rlar__scaling_steps(ctx, scaling, s, next, samples->x, samples->n));
    }
    return RLAR_OK;
}

static rlar_status learn_fresh(rlar_ctx *ctx, rlar_scaling *fresh, const rlar_samples *samples,
                               int64_t d) {
    double *all = NULL;
    RLAR_TRY(rlar__scaling_alloc(ctx, fresh, d));
    RLAR_TRY(rlar__alloc(ctx, d, ALL_SUMS * sizeof *all, "the scaling", &all));
    const ranges range = {.min = all,
                          .max = all + d,
                          .sum = all + 2 * d,
                          .mean = all + 3 * d,
                          .off = all + 4 * d,
                          .squares = all + 5 * d};
    const rlar_status status = learn_chain(ctx, fresh, samples, &range);
    rlar__free(all);
    return status;
}

/* The arrays of an earlier learning are replaced only on success; the chain stays either way. */
rlar_status rlar__scaling_learn(rlar_ctx *ctx, rlar_scaling *scaling, const rlar_samples *samples,
                                int64_t d) {
    const int64_t n = samples->n;
    if (n < (ctx->team ? 0 : 1) || d < 1)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "a scaling cannot be learned from %lld samples of %lld features; give at "
                          "least one of each",
                          (long long)n, (long long)d);
    rlar_scaling fresh = {.count = scaling->count};
    for (int s = 0; s < fresh.count; s++)
        fresh.step[s].kind = scaling->step[s].kind;
    const rlar_status status = learn_fresh(ctx, &fresh, samples, d);
    if (status < 0) {
        rlar__scaling_free(&fresh);
        return status;
    }
    rlar__scaling_free(scaling);
    *scaling = fresh;
    return RLAR_OK;
}
