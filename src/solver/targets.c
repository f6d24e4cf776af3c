/* targets.c - 0/1 targets, outputs W^T x + b, and how far the two are apart. */
#include "solver/targets.h"

#include <string.h>

enum { SAMPLES_PER_TASK = 192 }; /* W is packed for each; a multiple of what kernels work on */

void rlar__targets_one_hot(int64_t c, int64_t n, const int32_t *label, double *t) {
    memset(t, 0, (size_t)(c * n) * sizeof *t);
    for (int64_t i = 0; i < n; i++)
        t[i * c + label[i]] = 1.0;
}

typedef struct outputs {
    int64_t p, d;
    const double *w, *b, *x;
    double *y;
} outputs;

static rlar_status outputs_task(void *arg, int64_t start, int64_t end) {
    const outputs *o = arg;
    const int64_t count = end - start;
    double *y = o->y + start * o->p;
    rlar__tile_inner(o->p, count, o->d, o->w, o->d, o->x + start * o->d, o->d, y, o->p);
    for (int64_t i = 0; o->b && i < count; i++)
        for (int64_t r = 0; r < o->p; r++)
            y[i * o->p + r] += o->b[r];
    return RLAR_OK;
}

rlar_status rlar__targets_outputs(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t p, int64_t n,
                                  int64_t d, const double *w, const double *b, const double *x,
                                  double *y) {
    outputs o = {.p = p, .d = d, .w = w, .b = b, .x = x, .y = y};
    return rlar__parallel_blocks(ctx, blocks, n, SAMPLES_PER_TASK, outputs_task, &o);
}

void rlar__targets_squares(int64_t p, int64_t n, const double *y, const double *t, double *value) {
    for (int64_t i = 0; i < n; i++)
        value[i] = rlar__distance2(p, y + i * p, t + i * p);
}

rlar_status rlar__targets_loss(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t p, int64_t n,
                               const double *y, const double *t, double *value, double *out) {
    rlar__targets_squares(p, n, y, t, value);
    return rlar__sum_samples(ctx, blocks, n, value, out);
}
