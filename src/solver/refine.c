/* refine.c - iterative refinement of the primal with residuals from the samples (refine.h).
 *
 *   W += M^-1 R,   R = Xc (D (T - Y) - beta Y L)^T - alpha P^-1 W,   Y = W^T X + b 1^T
 *
 * Where D weighs samples that are met with 1/eps and n < d, M is as good as singular across the
 * samples: its factor leaves errors of 1e-16 ||M|| there, which only alpha P^-1 holds down. R made
 * from M has errors of the same size. From the samples T - Y is small before it is weighed, and so
 * is R with all its rounding. docs/distributed.md has the figures of both. */
#include "solver/refine.h"

#include "linalg/divided.h"
#include "solver/held.h"
#include "solver/targets.h"

void rlar__refine_carve(rlar_workspace *ws, int64_t n, int64_t d, int64_t c, bool offset,
                        rlar_refiner *out) {
    size_t targets = 0;
    if (!rlar__size_mul((size_t)c, sizeof(double), &targets))
        ws->overflow = true;
    out->step = rlar__carve(ws, d + 1, targets);
    out->ones = offset ? rlar__carve(ws, n, sizeof *out->ones) : NULL;
}

static rlar_status outputs(rlar_ctx *ctx, const rlar_wproblem *p, const double *w, const double *b,
                           double *y) {
    const rlar_blocks *blocks = p->groups->blocks;
    RLAR_TRY(
        rlar__targets_outputs(ctx, blocks, p->c, p->n, p->d, w, p->no_offset ? NULL : b, p->x, y));
    return p->l ? rlar__divided_gather(ctx, blocks, (size_t)p->c * sizeof *y, y) : RLAR_OK;
}

/* R, and of the offset likewise the sum over the samples. */
static rlar_status residual(rlar_ctx *ctx, const rlar_wproblem *p, const rlar_wsolver *s,
                            const rlar_refiner *refiner, const double *w) {
    const int64_t d = p->d, c = p->c;
    double *step = refiner->step;
    RLAR_TRY(rlar__moments(ctx, &s->moments, d, c, p->n, p->x, s->tw, step));
    for (int64_t k = 0; k < c; k++)
        for (int64_t r = 0; r < d; r++)
            step[k * d + r] -= p->alpha * p->dtil[r] * w[k * d + r];
    if (p->no_offset)
        return RLAR_OK;
    for (int64_t i = 0; i < p->n; i++)
        refiner->ones[i] = 1.0;
    return rlar__moments(ctx, &s->moments, c, 1, p->n, s->tw, refiner->ones, step + d * c);
}

rlar_status rlar__refine(rlar_ctx *ctx, const rlar_wproblem *problem, rlar_wsolver *solver,
                         const rlar_refiner *refiner, double *y, double *w, double *b,
                         double *change) {
    const rlar_wproblem *p = problem;
    const int64_t size = p->d * p->c;
    double *step = refiner->step;
    RLAR_TRY(outputs(ctx, p, w, b, y));
    RLAR_TRY(rlar__pull(ctx, p, y, solver->tw));
    RLAR_TRY(residual(ctx, p, solver, refiner, w));
    RLAR_TRY(p->no_offset ? rlar__system_solve(ctx, &solver->system, step)
                          : rlar__wsolve_primal(ctx, p, solver, step, step + size));
    *change = rlar__norm(size, step) / rlar__norm(size, w);
    for (int64_t k = 0; k < size; k++)
        w[k] += step[k];
    for (int64_t k = 0; k < p->c && !p->no_offset; k++)
        b[k] += step[size + k];
    return RLAR_OK;
}

double rlar__refine_flops(int64_t n, int64_t d, int64_t c) {
    return (4.0 * (double)n + 2.0 * (double)d) * (double)d * (double)c;
}

void rlar__refine_talk(int64_t d, int64_t c, bool offset, bool graph, rlar_exchange *out) {
    rlar__exchange_sum(out, (double)d * (double)c);
    if (offset) {
        rlar__exchange_sum(out, (double)c);
        rlar__exchange_sum(out, 1.0); /* the weights */
    }
    out->solves++;
    if (graph)
        out->told += (double)c * sizeof(double);
}
