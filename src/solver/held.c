/* held.c - no step of the weighted solve raises its quadratic objective (held.h).
 *
 * W of (17) is the minimum, but for rounding: samples of 1e10 among those of 1 leave a Gram matrix
 * without the digits of the others, and what its factor gives may be worse than where it began.
 * With f the objective along the step, f(0) at the old and f(1) at the new point,
 *     f(1) - f(0) = (f'(0) + f'(1)) / 2,   and the least is at   f'(0) / (f'(0) - f'(1)),
 * since f is quadratic; both slopes come from the samples, not from their Gram matrix. What
 * majorises the objective of a method there does not rise, so neither does that. */
#include "solver/held.h"

#include <string.h>

#include "linalg/divided.h"

enum { SAMPLES_PER_TASK = 64 };

/* A rise of less than this share is the rounding of any step: it is taken whole, as it is. */
static const double ROUNDING = 1e-9;

void rlar__held_carve(rlar_workspace *ws, const rlar_blocks *blocks, int64_t n, int64_t d,
                      int64_t c, rlar_held *out) {
    size_t targets = 0;
    if (!rlar__size_mul((size_t)c, sizeof(double), &targets))
        ws->overflow = true;
    out->w = rlar__carve(ws, d, targets);
    out->b = rlar__carve(ws, c, sizeof *out->b);
    out->y = rlar__carve_around(ws, blocks, n, targets);
}

void rlar__held_keep(rlar_held *held, int64_t d, int64_t c, const double *w, const double *b,
                     double **y) {
    double *room = held->y;
    memcpy(held->w, w, (size_t)(d * c) * sizeof *w);
    memcpy(held->b, b, (size_t)c * sizeof *b);
    held->y = *y;
    *y = room;
}

/* ---- Slopes ---- */

typedef struct job {
    const rlar_wproblem *p;
    const double *y;         /* the outputs whose pull is wanted */
    double *pull;            /* c x n */
    const double *from, *to; /* outputs at both ends */
} job;

static rlar_status pull_task(void *arg, int64_t start, int64_t end) {
    const job *j = arg;
    const rlar_wproblem *p = j->p;
    for (int64_t i = start; i < end; i++) {
        for (int64_t k = i * p->c; k < (i + 1) * p->c; k++)
            j->pull[k] = p->dhat[i] * (p->t[k] - j->y[k]);
        if (p->l)
            rlar__laplacian_row(p->l, i, -p->beta, p->c, j->y, j->pull + i * p->c);
    }
    return RLAR_OK;
}

rlar_status rlar__pull(rlar_ctx *ctx, const rlar_wproblem *problem, const double *y, double *pull) {
    job j = {.p = problem, .y = y, .pull = pull};
    return rlar__parallel_ranges(ctx, problem->n, SAMPLES_PER_TASK, pull_task, &j);
}

/* The step times the pull, and the loss at its beginning. */
static void slope_part(void *arg, int64_t start, int64_t end, double *out) {
    const job *j = arg;
    const rlar_wproblem *p = j->p;
    out[0] = out[1] = 0.0;
    for (int64_t i = start; i < end; i++)
        for (int64_t k = i * p->c; k < (i + 1) * p->c; k++) {
            const double miss = p->t[k] - j->from[k];
            out[0] += (j->to[k] - j->from[k]) * j->pull[k];
            out[1] += p->dhat[i] * miss * miss;
        }
}

/* out[0]: minus half of the slope at w with its outputs j->y; out[1]: the loss and the penalty at
 * the beginning, which are no more than the objective. */
static rlar_status slope_at(rlar_ctx *ctx, job *j, const rlar_held *held, const double *step_to,
                            const double *w, double out[2]) {
    const rlar_wproblem *p = j->p;
    RLAR_TRY(rlar__parallel_ranges(ctx, p->n, SAMPLES_PER_TASK, pull_task, j));
    RLAR_TRY(rlar__sum_blocks(ctx, p->groups->blocks, p->n, 2, slope_part, j, out));
    for (int64_t k = 0; k < p->d * p->c; k++) {
        const double weight = p->alpha * p->dtil[k % p->d];
        out[0] -= weight * (step_to[k] - held->w[k]) * w[k];
        out[1] += weight * held->w[k] * held->w[k];
    }
    return RLAR_OK;
}

/* ---- The step ---- */

static void move_back(int64_t count, double share, const double *from, double *to) {
    for (int64_t k = 0; k < count; k++)
        to[k] = from[k] + share * (to[k] - from[k]);
}

rlar_status rlar__held_back(rlar_ctx *ctx, const rlar_wproblem *problem, const rlar_held *held,
                            const double *y, double *room, double *w, double *b, bool *cut) {
    const rlar_wproblem *p = problem;
    job j = {.p = p, .pull = room, .from = held->y, .to = y};
    double first[2], last[2];
    *cut = false;
    j.y = held->y;
    RLAR_TRY(slope_at(ctx, &j, held, w, held->w, first));
    j.y = y;
    RLAR_TRY(slope_at(ctx, &j, held, w, w, last));
    if (!(-(first[0] + last[0]) > ROUNDING * first[1])) /* not where they are no numbers, either */
        return RLAR_OK;
    const double share = first[0] > 0.0 ? first[0] / (first[0] - last[0]) : 0.0;
    move_back(p->d * p->c, share, held->w, w);
    if (!p->no_offset)
        move_back(p->c, share, held->b, b);
    *cut = true;
    return RLAR_OK;
}

void rlar__held_talk(rlar_exchange *out) {
    rlar__exchange_sum(out, 2.0);
    rlar__exchange_sum(out, 2.0);
}
