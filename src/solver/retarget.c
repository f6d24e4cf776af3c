/* retarget.c - equations (20) to (25).
 *
 * With v_j = y_j + 1 - y_l the optimum is t_l = y_l + Delta, t_j = y_j + min(Delta - v_j, 0), where
 *     Delta = sum of the v_j > Delta / (1 + how many there are).                        (25) [N7]
 * Start from any Delta; that of the v_j above it is at most the optimum (the set mean with the
 * extra 1 is largest there). From then on dropping what is not above the current Delta only ever
 * raises it, so nothing dropped has to come back and the loop ends at the fixed point. No sort: a
 * few passes over c numbers, two where the start is near. */
#include "solver/retarget.h"

#include "linalg/linalg.h"

enum { SAMPLES_PER_TASK = 256 };

double rlar__margin_step(int64_t c, const double *v, double delta) {
    int64_t above = -1, count;
    /* Every pass drops one at least; the bound is for v that are equal but for rounding. */
    for (int64_t pass = 0; pass < c + 2; pass++, above = count) {
        const double sum = rlar__sum_above(c, v, delta, &count);
        if (count == above)
            break;
        delta = sum / (double)(1 + count);
    }
    return delta;
}

/* Until Delta is known, t holds v. */
RLAR_SIMD
void rlar__retarget_row(int64_t c, const double *y, int64_t l, double *t) {
    const double base = 1.0 - y[l];
    for (int64_t j = 0; j < c; j++)
        t[j] = y[j] + base;
    t[l] = 0.0;
    const double delta = rlar__margin_step(c, t, 0.0);
    for (int64_t j = 0; j < c; j++) {
        const double lower = delta - t[j];
        t[j] = lower < 0.0 ? y[j] + lower : y[j];
    }
    t[l] = y[l] + delta;
}

RLAR_SIMD
void rlar__margin_along(int64_t c, const double *y, const double *v, double t, int64_t l, double *z,
                        double *delta, double *square, double *slope) {
    const double base = 1.0 - (y[l] + t * v[l]);
    for (int64_t j = 0; j < c; j++)
        z[j] = y[j] + t * v[j] + base;
    z[l] = 0.0;
    const double step = *delta = rlar__margin_step(c, z, *delta);
    for (int64_t j = 0; j < c; j++)
        z[j] = z[j] > step ? z[j] - step : 0.0;
    *square = step * step + rlar__dot(c, z, z);
    *slope = rlar__dot(c, z, v) - step * v[l];
}

typedef struct retarget {
    int64_t c;
    const double *y;
    const int32_t *label;
    double *t;
} retarget;

static rlar_status retarget_task(void *arg, int64_t start, int64_t end) {
    const retarget *r = arg;
    for (int64_t i = start; i < end; i++)
        rlar__retarget_row(r->c, r->y + i * r->c, r->label[i], r->t + i * r->c);
    return RLAR_OK;
}

rlar_status rlar__retarget(rlar_ctx *ctx, int64_t c, int64_t n, const double *y,
                           const int32_t *label, double *t) {
    retarget r = {.c = c, .y = y, .label = label, .t = t};
    return rlar__parallel_ranges(ctx, n, SAMPLES_PER_TASK, retarget_task, &r);
}
