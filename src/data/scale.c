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
 * The results are not checked to be finite. What is learned: scale_learn.c. */
#include "data/scale.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

enum {
    SAMPLES_PER_TASK = 64,
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

double rlar__power_for(double largest) {
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
    const double power = rlar__power_for(largest);
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

rlar_status rlar__scaling_steps(rlar_ctx *ctx, const rlar_scaling *scaling, int first, int last,
                                double *x, int64_t n) {
    apply_job job = {scaling, first, last, x, n};
    const int64_t tasks = (n + SAMPLES_PER_TASK - 1) / SAMPLES_PER_TASK;
    return rlar__parallel(ctx, tasks, apply_block, &job);
}

rlar_status rlar__scaling_apply(rlar_ctx *ctx, const rlar_scaling *scaling, double *x, int64_t n) {
    return rlar__scaling_steps(ctx, scaling, 0, scaling->count, x, n);
}

/* ---- Memory ---- */

/* Shift and factor for d features. */
static rlar_status step_alloc(rlar_ctx *ctx, rlar_scale_step *step, int64_t d) {
    if (step->kind == RLAR_SCALE_UNIT)
        return RLAR_OK;
    RLAR_TRY(rlar__calloc(ctx, d, sizeof *step->shift, "the scaling", &step->shift));
    return rlar__calloc(ctx, d, sizeof *step->factor, "the scaling", &step->factor);
}

rlar_status rlar__scaling_alloc(rlar_ctx *ctx, rlar_scaling *scaling, int64_t d) {
    scaling->d = d;
    RLAR_TRY(rlar__calloc(ctx, d, sizeof *scaling->fill, "the scaling", &scaling->fill));
    for (int s = 0; s < scaling->count; s++)
        RLAR_TRY(step_alloc(ctx, &scaling->step[s], d));
    return RLAR_OK;
}

/* Also of a scaling that was parsed but not yet learned. */
rlar_status rlar__scaling_copy(rlar_ctx *ctx, const rlar_scaling *from, rlar_scaling *to) {
    rlar_scaling copy = {.count = from->count, .d = from->d};
    const size_t bytes = (size_t)from->d * sizeof(double);
    for (int s = 0; s < copy.count; s++)
        copy.step[s].kind = from->step[s].kind;
    if (from->fill) { /* without it the scaling was parsed but not learned */
        const rlar_status status = rlar__scaling_alloc(ctx, &copy, from->d);
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
