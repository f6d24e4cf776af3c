/* targets.c - 0/1 targets, outputs W^T x + b, and how far the two are apart. */
#include "solver/targets.h"

#include <string.h>

#include "linalg/linalg.h"

enum { SAMPLES_PER_TASK = 512 };

void rlar__targets_one_hot(int64_t c, int64_t n, const int32_t *label, double *t) {
    memset(t, 0, (size_t)(c * n) * sizeof *t);
    for (int64_t i = 0; i < n; i++)
        t[i * c + label[i]] = 1.0;
}

typedef struct offset {
    int64_t p, n;
    const double *b;
    double *y;
} offset;

static rlar_status offset_task(void *arg, int64_t task) {
    const offset *o = arg;
    const int64_t start = task * SAMPLES_PER_TASK;
    for (int64_t i = start; i < start + SAMPLES_PER_TASK && i < o->n; i++)
        for (int64_t r = 0; r < o->p; r++)
            o->y[i * o->p + r] += o->b[r];
    return RLAR_OK;
}

rlar_status rlar__targets_outputs(rlar_ctx *ctx, int64_t p, int64_t n, int64_t d, const double *w,
                                  const double *b, const double *x, double *y) {
    RLAR_TRY(rlar__project(ctx, p, n, d, w, x, y));
    offset o = {.p = p, .n = n, .b = b, .y = y};
    return b ? rlar__parallel(ctx, (n + SAMPLES_PER_TASK - 1) / SAMPLES_PER_TASK, offset_task, &o)
             : RLAR_OK;
}

double rlar__targets_loss(int64_t p, int64_t n, const double *y, const double *t, double *value) {
    for (int64_t i = 0; i < n; i++)
        value[i] = rlar__distance2(p, y + i * p, t + i * p);
    return rlar__sum(n, value);
}
