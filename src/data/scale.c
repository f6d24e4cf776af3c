/* scale.c - the scalings and chains of them.
 *
 *   unit     x <- x / ||x||, sample by sample; the zero sample stays zero
 *   minmax   x_j <- (x_j - min_j) / (max_j - min_j)
 *   zscore   x_j <- (x_j - mean_j) / sd_j, sd in the population form (divide by n)
 *   rms      x <- x / sqrt(mean ||x||^2), one number for all samples and features
 *
 * All but unit are kept as shift and factor of each feature; a constant feature has factor 0 and
 * becomes 0 whatever is put in (rms: if it was 0). Values up to the largest double and down to
 * subnormals are safe: sums run over values that were multiplied by a power of two, which is exact.
 * Sums over samples run in sample order, one feature by one thread, so the bits do not depend on
 * the number of threads. The results are not checked to be finite. */
#include "data/scale.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

enum {
    FEATURES_PER_TASK = 128, /* a task walks all samples, 1 KiB in each */
    SAMPLES_PER_TASK = 64,
    BLOCK_BYTES = 1 << 20,  /* of samples: what stays in the second-level cache */
    LARGEST_EXPONENT = 1000 /* of a power of two; its inverse is a normal double too */
};

static const char *const kind_name[] = {"unit", "minmax", "zscore", "rms"}; /* by rlar_scale_kind */
enum { KINDS = sizeof kind_name / sizeof kind_name[0] };

/* ---- The chain as text ---- */

/* The kind of this name, or -1. */
static int kind_find(const char *text, size_t length) {
    for (int k = 0; k < KINDS; k++)
        if (strlen(kind_name[k]) == length && memcmp(kind_name[k], text, length) == 0)
            return k;
    return -1;
}

rlar_status rlar__scaling_parse(rlar_ctx *ctx, const char *text, rlar_scaling *out) {
    rlar_scaling parsed = {0};
    if (!text)
        text = RLAR_SCALE_DEFAULT;
    const bool none = strcmp(text, "none") == 0;
    for (const char *p = text; !none; p++) {
        const size_t length = strcspn(p, ",");
        const int kind = kind_find(p, length);
        if (kind < 0)
            return rlar__fail(ctx, RLAR_E_ARG,
                              "scale \"%.100s\": \"%.*s\" is not a scaling; choose none, or unit, "
                              "minmax, zscore, rms, or a chain of them such as zscore,rms",
                              text, length < 40 ? (int)length : 40, p);
        if (parsed.count == RLAR_SCALE_STEPS)
            return rlar__fail(ctx, RLAR_E_ARG,
                              "scale \"%.100s\": more than %d steps; choose at most %d of unit, "
                              "minmax, zscore, rms",
                              text, RLAR_SCALE_STEPS, RLAR_SCALE_STEPS);
        parsed.step[parsed.count++].kind = (rlar_scale_kind)kind;
        p += length;
        if (*p == '\0')
            break;
    }
    *out = parsed;
    return RLAR_OK;
}

rlar_status rlar_scale_check(rlar_ctx *ctx, const char *scale) {
    rlar_scaling scaling;
    if (!ctx)
        return RLAR_E_ARG;
    rlar__begin(ctx);
    return rlar__scaling_parse(ctx, scale, &scaling);
}

static void text_append(char *buf, size_t size, const char *text) {
    const size_t used = strlen(buf), more = strlen(text);
    if (used + more < size)
        memcpy(buf + used, text, more + 1);
}

void rlar__scaling_text(const rlar_scaling *scaling, char *buf, size_t size) {
    if (size == 0)
        return;
    buf[0] = '\0';
    if (scaling->count == 0)
        text_append(buf, size, "none");
    for (int s = 0; s < scaling->count; s++) {
        if (s > 0)
            text_append(buf, size, ",");
        text_append(buf, size, kind_name[scaling->step[s].kind]);
    }
}

/* ---- One sample ---- */

/* A power of two that brings numbers of size up to `largest` near 1. */
static double power_for(double largest) {
    if (!(largest > 0) || !isfinite(largest))
        return 1;
    int exponent;
    (void)frexp(largest, &exponent);
    if (exponent < -LARGEST_EXPONENT)
        exponent = -LARGEST_EXPONENT;
    if (exponent > LARGEST_EXPONENT)
        exponent = LARGEST_EXPONENT;
    return ldexp(1, -exponent);
}

/* Where the squares leave the range of double, or nearly: the norm itself may overflow or underflow
 * although every quotient is a normal number, so both sides are taken times the same power of two.
 */
static void extreme_unit(double *x, int64_t d) {
    double largest = 0;
    for (int64_t j = 0; j < d; j++)
        largest = fabs(x[j]) > largest ? fabs(x[j]) : largest;
    if (largest == 0)
        return;
    const double power = power_for(largest);
    double sum = 0;
    for (int64_t j = 0; j < d; j++)
        sum += (x[j] * power) * (x[j] * power);
    const double norm =
        sqrt(sum); /* at least 2^-75, the smallest subnormal times 2^1000, so no zero */
    for (int64_t j = 0; j < d; j++)
        x[j] = x[j] * power / norm;
}

static void sample_unit(double *x, int64_t d) {
    const double squares = rlar__dot(d, x, x);
    if (!(squares > 1e-280 && squares < 1e300)) {
        extreme_unit(x, d);
        return;
    }
    const double norm = sqrt(squares);
    for (int64_t j = 0; j < d; j++)
        x[j] /= norm;
}

/* (x - shift) * factor, in halves where the difference overflows. */
static double feature_map(double x, double shift, double factor) {
    if (factor == 0)
        return 0;
    const double difference = x - shift;
    if (isfinite(difference))
        return difference * factor;
    return (0.5 * x - 0.5 * shift) * factor * 2;
}

static void sample_step(const rlar_scale_step *step, double *x, int64_t d) {
    if (step->kind == RLAR_SCALE_UNIT) {
        sample_unit(x, d);
        return;
    }
    for (int64_t j = 0; j < d; j++)
        x[j] = feature_map(x[j], step->shift[j], step->factor[j]);
}

/* ---- All samples ---- */

typedef struct apply_job {
    const rlar_scaling *scaling;
    int first, last; /* steps first .. last-1 */
    double *x;
    int64_t n;
} apply_job;

void rlar__scaling_fill(const rlar_scaling *scaling, double *x) {
    for (int64_t j = 0; j < scaling->d; j++)
        if (isnan(x[j]))
            x[j] = scaling->fill[j];
}

/* Missing values are filled before the first step, in the units of the raw data. While learning, x
 * has none: the check costs little beside the step. */
static rlar_status apply_block(void *arg, int64_t index) {
    const apply_job *job = arg;
    const int64_t d = job->scaling->d;
    const int64_t begin = index * SAMPLES_PER_TASK;
    const int64_t end = begin + SAMPLES_PER_TASK < job->n ? begin + SAMPLES_PER_TASK : job->n;
    for (int64_t i = begin; i < end; i++) {
        double *x = job->x + i * d;
        if (!rlar__finite(d, x)) /* else nothing is missing */
            rlar__scaling_fill(job->scaling, x);
        for (int s = job->first; s < job->last; s++)
            sample_step(&job->scaling->step[s], x, d);
    }
    return RLAR_OK;
}

static rlar_status apply_steps(rlar_ctx *ctx, apply_job job) {
    const int64_t tasks = (job.n + SAMPLES_PER_TASK - 1) / SAMPLES_PER_TASK;
    return rlar__parallel(ctx, tasks, apply_block, &job);
}

rlar_status rlar__scaling_apply(rlar_ctx *ctx, const rlar_scaling *scaling, double *x, int64_t n) {
    return apply_steps(ctx, (apply_job){scaling, 0, scaling->count, x, n});
}

/* ---- Learning ---- */

/* What one way through the samples tells of every feature: d each, in one piece of memory. */
typedef struct ranges {
    double *min, *max, *sum;
} ranges;

typedef struct learn_job {
    const double *x;
    int64_t n, d;
    ranges range;
    bool more;             /* range holds earlier samples already */
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

/* The mean alone, from the sums, where no sum has overflown. */
static bool block_means(const learn_job *job, int64_t count, feature_block *b) {
    for (int64_t j = 0; j < count; j++) {
        if (!isfinite(b->sum[j]))
            return false;
        b->mean[j] = b->sum[j] / (double)job->n;
        b->power[j] = 1.0;
    }
    return true;
}

/* Two passes: a first mean, then the deviations from it, whose own mean corrects both results. */
RLAR_SIMD
static void block_moments(const learn_job *job, int64_t first, int64_t count, feature_block *b) {
    double sum[FEATURES_PER_TASK] = {0}, squares[FEATURES_PER_TASK] = {0};
    const double n = (double)job->n;
    for (int64_t i = 0; i < job->n; i++)
        for (int64_t j = 0; j < count; j++)
            sum[j] += job->x[i * job->d + first + j] * b->power[j];
    for (int64_t j = 0; j < count; j++) {
        b->mean[j] = sum[j] / n;
        sum[j] = 0;
    }
    for (int64_t i = 0; i < job->n; i++)
        for (int64_t j = 0; j < count; j++) {
            const double deviation = job->x[i * job->d + first + j] * b->power[j] - b->mean[j];
            sum[j] += deviation;
            squares[j] += deviation * deviation;
        }
    for (int64_t j = 0; j < count; j++) {
        b->mean[j] += sum[j] / n;
        b->variance[j] = fmax(0, (squares[j] - sum[j] * (sum[j] / n)) / n);
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
    const double power = power_for(largest);
    for (int64_t j = 0; j < d; j++)
        sum += (step->factor[j] * power) * (step->factor[j] * power);
    const double factor = power / sqrt(sum);
    for (int64_t j = 0; j < d; j++)
        step->factor[j] = isfinite(factor) ? factor : 1;
}

/* All that is wanted of one run of features. Tasks write disjoint parts of the outputs. */
static rlar_status learn_block(void *arg, int64_t index) {
    const learn_job *job = arg;
    const int64_t first = index * FEATURES_PER_TASK, count = features_of(job, index);
    const bool minmax = job->step && job->step->kind == RLAR_SCALE_MINMAX;
    feature_block b = {.min = job->range.min + first,
                       .max = job->range.max + first,
                       .sum = job->range.sum + first};
    for (int64_t j = 0; j < count; j++)
        b.power[j] = power_for(fmax(fabs(b.min[j]), fabs(b.max[j])));
    if (!minmax && (job->step || !block_means(job, count, &b)))
        block_moments(job, first, count, &b);
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

/* Shift and factor for d features. */
static rlar_status step_alloc(rlar_ctx *ctx, rlar_scale_step *step, int64_t d) {
    if (step->kind == RLAR_SCALE_UNIT)
        return RLAR_OK;
    RLAR_TRY(rlar__calloc(ctx, d, sizeof *step->shift, "the scaling", &step->shift));
    return rlar__calloc(ctx, d, sizeof *step->factor, "the scaling", &step->factor);
}

static rlar_status scaling_alloc(rlar_ctx *ctx, rlar_scaling *scaling, int64_t d) {
    scaling->d = d;
    RLAR_TRY(rlar__calloc(ctx, d, sizeof *scaling->fill, "the scaling", &scaling->fill));
    for (int s = 0; s < scaling->count; s++)
        RLAR_TRY(step_alloc(ctx, &scaling->step[s], d));
    return RLAR_OK;
}

/* The samples come block by block. While one is in the cache its ranges are taken and, where the
 * chain begins with it, the step that needs nothing else. */
static rlar_status learn_blocks(rlar_ctx *ctx, const rlar_scaling *scaling,
                                const rlar_samples *samples, const ranges *range) {
    const int64_t d = scaling->d, n = samples->n;
    const int64_t fit = BLOCK_BYTES / (int64_t)sizeof(double) / d, size = fit > 0 ? fit : 1;
    const bool unit = scaling->count > 0 && scaling->step[0].kind == RLAR_SCALE_UNIT;
    for (int64_t from = 0; from < n; from += size) {
        const int64_t count = n - from < size ? n - from : size;
        double *x = samples->x + from * d;
        if (samples->feed)
            RLAR_TRY(samples->feed(ctx, samples->user, from, from + count));
        RLAR_TRY(on_features(
            ctx, range_block,
            (learn_job){.x = x, .n = count, .d = d, .range = *range, .more = from > 0}));
        if (unit)
            RLAR_TRY(apply_steps(ctx, (apply_job){scaling, 0, 1, x, count}));
        RLAR_TRY(rlar__poll(ctx));
    }
    return RLAR_OK;
}

/* Each step is learned on what the steps before it made of the samples: the first on the samples
 * themselves, whose ranges are known. */
static rlar_status learn_chain(rlar_ctx *ctx, rlar_scaling *scaling, const rlar_samples *samples,
                               const ranges *range) {
    learn_job job = {.x = samples->x, .n = samples->n, .d = scaling->d, .range = *range};
    RLAR_TRY(learn_blocks(ctx, scaling, samples, range));
    job.fill = scaling->fill;
    RLAR_TRY(on_features(ctx, learn_block, job));
    job.fill = NULL;
    for (int s = 0; s < scaling->count; s++) {
        job.step = &scaling->step[s];
        if (job.step->kind == RLAR_SCALE_UNIT && s == 0)
            continue; /* done */
        if (job.step->kind != RLAR_SCALE_UNIT && s > 0)
            RLAR_TRY(on_features(ctx, range_block, job));
        if (job.step->kind != RLAR_SCALE_UNIT)
            RLAR_TRY(on_features(ctx, learn_block, job));
        if (job.step->kind == RLAR_SCALE_RMS)
            share_length(job.step, scaling->d);
        RLAR_TRY(apply_steps(ctx, (apply_job){scaling, s, s + 1, samples->x, samples->n}));
    }
    return RLAR_OK;
}

static rlar_status learn_fresh(rlar_ctx *ctx, rlar_scaling *fresh, const rlar_samples *samples,
                               int64_t d) {
    double *all = NULL;
    RLAR_TRY(scaling_alloc(ctx, fresh, d));
    RLAR_TRY(rlar__alloc(ctx, d, 3 * sizeof *all, "the scaling", &all));
    const ranges range = {.min = all, .max = all + d, .sum = all + 2 * d};
    const rlar_status status = learn_chain(ctx, fresh, samples, &range);
    rlar__free(all);
    return status;
}

/* The arrays of an earlier learning are replaced only on success; the chain stays either way. */
rlar_status rlar__scaling_learn(rlar_ctx *ctx, rlar_scaling *scaling, const rlar_samples *samples,
                                int64_t d) {
    const int64_t n = samples->n;
    if (n < 1 || d < 1)
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

/* ---- Copies ---- */

/* Also of a scaling that was parsed but not yet learned. */
rlar_status rlar__scaling_copy(rlar_ctx *ctx, const rlar_scaling *from, rlar_scaling *to) {
    rlar_scaling copy = {.count = from->count, .d = from->d};
    const size_t bytes = (size_t)from->d * sizeof(double);
    for (int s = 0; s < copy.count; s++)
        copy.step[s].kind = from->step[s].kind;
    if (from->fill) { /* without it the scaling was parsed but not learned */
        const rlar_status status = scaling_alloc(ctx, &copy, from->d);
        if (status < 0) {
            rlar__scaling_free(&copy);
            return status;
        }
        memcpy(copy.fill, from->fill, bytes);
        for (int s = 0; s < copy.count; s++)
            if (copy.step[s].shift) {
                memcpy(copy.step[s].shift, from->step[s].shift, bytes);
                memcpy(copy.step[s].factor, from->step[s].factor, bytes);
            }
    }
    *to = copy;
    return RLAR_OK;
}

void rlar__scaling_free(rlar_scaling *scaling) {
    rlar__free(scaling->fill);
    for (int s = 0; s < scaling->count; s++) {
        rlar__free(scaling->step[s].shift);
        rlar__free(scaling->step[s].factor);
    }
    *scaling = (rlar_scaling){0};
}
