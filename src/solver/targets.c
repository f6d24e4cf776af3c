/* targets.c - 0/1 targets, outputs W^T x + b, and how far the two are apart. */
#include "solver/targets.h"

#include <string.h>

#include "linalg/linalg.h"

void rlar__targets_one_hot(int64_t c, int64_t n, const int32_t *label, double *t) {
    memset(t, 0, (size_t)(c * n) * sizeof *t);
    for (int64_t i = 0; i < n; i++)
        t[i * c + label[i]] = 1.0;
}

rlar_status rlar__targets_outputs(rlar_ctx *ctx, int64_t p, int64_t n, int64_t d, const double *w,
                                  const double *b, const double *x, double *y) {
    RLAR_TRY(rlar__project(ctx, p, n, d, w, x, y));
    for (int64_t i = 0; b && i < n; i++)
        for (int64_t r = 0; r < p; r++)
            y[i * p + r] += b[r];
    return RLAR_OK;
}

double rlar__targets_loss(int64_t p, int64_t n, const double *y, const double *t, double *value) {
    for (int64_t i = 0; i < n; i++)
        value[i] = rlar__distance2(p, y + i * p, t + i * p);
    return rlar__sum(n, value);
}
