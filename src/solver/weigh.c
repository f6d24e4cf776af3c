/* weigh.c - centred samples and their product with N = D + beta L, for some samples at a time.
 *
 *   xc_i = x_i - mu,   bx_i = dhat_i xc_i + beta sum over edges of weight (x_i - x_m)
 *
 * from differences: L has row sums of zero, large weights must cancel exactly. The neighbours of a
 * sample lie in its class. Of a small class a strip of features is gathered first: every edge then
 * reads from the fastest cache, where the samples themselves lie so far apart that they push each
 * other out of it (three times faster on faces). O(n k d). */
#include "solver/weigh.h"

#include <string.h>

enum {
    SAMPLES_PER_TASK = 64,
    GATHERED = 128, /* samples of a class whose strip is gathered: 32 KiB */
    CHUNK = 256     /* features at a time otherwise */
};

typedef struct weigh {
    const rlar_wproblem *p;
    const double *mu;
    int64_t first, last;
    double *xc, *bx;
} weigh;

/* Features of sample i, of which x, xc and bx point to the first: all but the edges. */
RLAR_SIMD
static void centre(const weigh *j, int64_t i, int64_t from, int64_t count) {
    const int64_t d = j->p->d, at = (i - j->first) * d;
    const double *x = j->p->x + i * d, weight = j->p->dhat[i];
    for (int64_t r = from; r < from + count; r++) {
        j->xc[at + r] = x[r] - j->mu[r];
        j->bx[at + r] = weight * j->xc[at + r];
    }
}

/* One strip of features of the samples start .. end-1, all of the class begin .. stop-1. */
RLAR_SIMD
static void strip(const weigh *j, int64_t start, int64_t end, int64_t begin, int64_t stop,
                  int64_t from) {
    const rlar_wproblem *p = j->p;
    double x[GATHERED * RLAR_STRIP];
    for (int64_t m = begin; m < stop; m++)
        memcpy(x + (m - begin) * RLAR_STRIP, p->x + m * p->d + from, RLAR_STRIP * sizeof *x);
    for (int64_t i = start; i < end; i++) {
        const int64_t at = (i - j->first) * p->d + from;
        const rlar_lanes *xi = (rlar_lanes *)(x + (i - begin) * RLAR_STRIP);
        const rlar_lanes *mu = (const rlar_lanes *)(j->mu + from);
        rlar_lanes *xc = (rlar_lanes *)(j->xc + at), *bx = (rlar_lanes *)(j->bx + at), sum[4];
        for (int r = 0; r < 4; r++) {
            xc[r] = xi[r] - mu[r];
            sum[r] = p->dhat[i] * xc[r];
        }
        rlar__laplacian_strip(p->l, i, p->beta, RLAR_STRIP, begin, x, sum);
        for (int r = 0; r < 4; r++)
            bx[r] = sum[r];
    }
}

/* Features from `from` on, without gathering. */
static void plain(const weigh *j, int64_t start, int64_t end, int64_t from) {
    const rlar_wproblem *p = j->p;
    for (; from < p->d; from += CHUNK) {
        const int64_t count = p->d - from < CHUNK ? p->d - from : CHUNK;
        for (int64_t i = start; i < end; i++) {
            centre(j, i, from, count);
            if (p->l)
                rlar__laplacian_part(p->l, i, p->beta, p->d, count, p->x + from,
                                     j->bx + (i - j->first) * p->d + from);
        }
    }
}

static rlar_status weigh_task(void *arg, int64_t task) {
    const weigh *j = arg;
    const rlar_groups *groups = j->p->groups;
    int64_t start = j->first + task * SAMPLES_PER_TASK, end;
    const int64_t last = j->last - start < SAMPLES_PER_TASK ? j->last : start + SAMPLES_PER_TASK;
    for (; start < last; start = end) {
        const int64_t k = groups->label[start];
        const int64_t begin = groups->first[k], stop = groups->first[k + 1];
        int64_t from = 0;
        end = stop < last ? stop : last;
        if (j->p->l && stop - begin <= GATHERED)
            for (; from + RLAR_STRIP <= j->p->d; from += RLAR_STRIP)
                strip(j, start, end, begin, stop, from);
        plain(j, start, end, from);
    }
    return RLAR_OK;
}

rlar_status rlar__weigh(rlar_ctx *ctx, const rlar_wproblem *problem, const double *mu,
                        int64_t first, int64_t last, double *xc, double *bx) {
    weigh j = {.p = problem, .mu = mu, .first = first, .last = last, .xc = xc, .bx = bx};
    return rlar__parallel(ctx, (last - first + SAMPLES_PER_TASK - 1) / SAMPLES_PER_TASK, weigh_task,
                          &j);
}
