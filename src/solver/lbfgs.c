/* lbfgs.c - the two loops of limited-memory BFGS around a metric.
 *
 *   H = (I - rho s y') H_old (I - rho y s') + rho s s',   rho = 1 / y's,   H_0 = M^-1
 *
 * to_metric is the loop from the newest pair to the oldest, from_metric the loop back. Each pair
 * costs four passes over its two vectors; with a good metric few pairs are worth that
 * (docs/solver.md). */
#include "solver/lbfgs.h"

#include <math.h>

#include "linalg/linalg.h"

enum { STRETCH = 16384 }; /* numbers per task */

/* By this share of itself, at least, the slope has to change along a step that shows curvature. */
static const double LEAST_CURVATURE = 1e-8;

typedef struct sweep {
    const double *x, *y;
    double *out;
    double factor;
} sweep;

static int64_t stretches(int64_t length) {
    return (length + STRETCH - 1) / STRETCH;
}

void rlar__lbfgs_carve(rlar_workspace *ws, int64_t length, int64_t image_length, bool by_image,
                       rlar_lbfgs *out) {
    *out = (rlar_lbfgs){.length = length, .image_length = image_length, .by_image = by_image};
    for (int k = 0; k < RLAR_LBFGS_PAIRS; k++) {
        out->s[k] = rlar__carve(ws, length, sizeof(double));
        out->y[k] = rlar__carve(ws, length, sizeof(double));
        out->image[k] = rlar__carve(ws, image_length, sizeof(double));
    }
    out->sums = rlar__carve(ws, stretches(length), sizeof(double));
}

void rlar__lbfgs_forget(rlar_lbfgs *memory) {
    memory->kept = memory->newest = 0;
}

static rlar_status dot_task(void *arg, int64_t start, int64_t end) {
    const sweep *s = arg;
    s->out[start / STRETCH] = rlar__dot(end - start, s->x + start, s->y + start);
    return RLAR_OK;
}

rlar_status rlar__lbfgs_product(rlar_ctx *ctx, const rlar_lbfgs *memory, const double *gradient,
                                const double *step, const double *image, double *out) {
    sweep s = {.x = gradient, .y = memory->by_image ? image : step, .out = memory->sums};
    RLAR_TRY(rlar__parallel_ranges(ctx, memory->length, STRETCH, dot_task, &s));
    *out = rlar__sum(stretches(memory->length), memory->sums);
    return RLAR_OK;
}

static rlar_status add_task(void *arg, int64_t start, int64_t end) {
    const sweep *s = arg;
    for (int64_t i = start; i < end; i++)
        s->out[i] += s->factor * s->x[i];
    return RLAR_OK;
}

/* out += factor x */
static rlar_status add(rlar_ctx *ctx, int64_t length, double factor, const double *x, double *out) {
    sweep s = {.x = x, .out = out, .factor = factor};
    return rlar__parallel_ranges(ctx, length, STRETCH, add_task, &s);
}

/* The pair that is `age` pairs older than the newest. */
static int pair(const rlar_lbfgs *memory, int age) {
    return (memory->newest - age + RLAR_LBFGS_PAIRS) % RLAR_LBFGS_PAIRS;
}

rlar_status rlar__lbfgs_to_metric(rlar_ctx *ctx, rlar_lbfgs *memory, double *q) {
    for (int age = 0; age < memory->kept; age++) {
        const int k = pair(memory, age);
        RLAR_TRY(
            rlar__lbfgs_product(ctx, memory, q, memory->s[k], memory->image[k], &memory->part[k]));
        memory->part[k] *= memory->rho[k];
        RLAR_TRY(add(ctx, memory->length, -memory->part[k], memory->y[k], q));
    }
    return RLAR_OK;
}

rlar_status rlar__lbfgs_from_metric(rlar_ctx *ctx, rlar_lbfgs *memory, double *q, double *image) {
    for (int age = memory->kept - 1; age >= 0; age--) {
        const int k = pair(memory, age);
        double product;
        RLAR_TRY(rlar__lbfgs_product(ctx, memory, memory->y[k], q, image, &product));
        const double factor = memory->part[k] - memory->rho[k] * product;
        RLAR_TRY(add(ctx, memory->length, factor, memory->s[k], q));
        RLAR_TRY(add(ctx, memory->image_length, factor, memory->image[k], image));
    }
    return RLAR_OK;
}

/* out = y - x, or (x NULL) factor y. */
static rlar_status combine_task(void *arg, int64_t start, int64_t end) {
    const sweep *s = arg;
    for (int64_t i = start; i < end; i++)
        s->out[i] = s->x ? s->y[i] - s->x[i] : s->factor * s->y[i];
    return RLAR_OK;
}

static rlar_status combine(rlar_ctx *ctx, int64_t length, sweep s) {
    return rlar__parallel_ranges(ctx, length, STRETCH, combine_task, &s);
}

rlar_status rlar__lbfgs_learn(rlar_ctx *ctx, rlar_lbfgs *memory, double t, const double *v,
                              const double *image, const double *before, const double *after) {
    const int k = (memory->newest + 1) % RLAR_LBFGS_PAIRS;
    const int64_t length = memory->length;
    double *s = memory->s[k], *y = memory->y[k];
    double sy, slope;
    RLAR_TRY(combine(ctx, length, (sweep){.y = v, .out = s, .factor = t}));
    RLAR_TRY(combine(ctx, length, (sweep){.x = before, .y = after, .out = y}));
    RLAR_TRY(combine(ctx, memory->image_length,
                     (sweep){.y = image, .out = memory->image[k], .factor = t}));
    RLAR_TRY(rlar__lbfgs_product(ctx, memory, y, s, memory->image[k], &sy));
    RLAR_TRY(rlar__lbfgs_product(ctx, memory, before, s, memory->image[k], &slope));
    if (!(sy > LEAST_CURVATURE * fabs(slope)))
        return RLAR_OK;
    memory->newest = k;
    memory->rho[k] = 1.0 / sy;
    if (memory->kept < RLAR_LBFGS_PAIRS)
        memory->kept++;
    return RLAR_OK;
}
