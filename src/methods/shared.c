/* shared.c - what is the same in several methods: the number of outputs, the reduction and the
 * ridge system that the fits of a grid share, the life and the forecast of a workspace, the end of
 * an iteration and of a fit. */
#include "methods/method.h"

#include <math.h>
#include <string.h>

#include "solver/ridge.h"
#include "solver/wsolve.h"

rlar_groups rlar__train_groups(const rlar_train *train) {
    return (rlar_groups){.n = train->n,
                         .c = train->c,
                         .first = train->first,
                         .label = train->label,
                         .blocks = train->blocks};
}

int64_t rlar__train_samples(const rlar_train *train) {
    return train->blocks ? rlar__blocks_samples(train->blocks) : train->n;
}

int64_t rlar__outputs_classes(const rlar_train *train, const rlar_params *params) {
    (void)params;
    return train->c;
}

/* ---- The reduction ---- */

rlar_status rlar__reduction_take(rlar_ctx *ctx, const rlar_train *train, rlar_reduce_fn reduce,
                                 bool own_z, rlar_reduced *out) {
    if (!train->shared)
        return reduce(ctx, train->blocks, train->x, train->d, train->n, out);
    rlar_reduced taken = *(const rlar_reduced *)train->shared;
    if (own_z) {
        const double *z = taken.z;
        const size_t column = (size_t)taken.r * sizeof *z;
        RLAR_TRY(rlar__alloc(ctx, taken.n, column, "the reduction", &taken.z));
        memcpy(taken.z, z, (size_t)taken.n * column);
    }
    *out = taken;
    return RLAR_OK;
}

void rlar__reduction_end(const rlar_train *train, rlar_reduced *reduced) {
    const rlar_reduced *shared = train->shared;
    if (!shared)
        rlar__reduce_free(reduced);
    else if (reduced->z != shared->z)
        rlar__free(reduced->z);
}

/* What train->shared is made of must be what fits take: the same `reduce`. */
static rlar_status share(rlar_ctx *ctx, const rlar_train *train, rlar_reduce_fn reduce,
                         void **shared) {
    rlar_reduced *reduced = NULL;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *reduced, "the reduction", &reduced));
    const rlar_status status = reduce(ctx, train->blocks, train->x, train->d, train->n, reduced);
    if (status < 0)
        rlar__free(reduced);
    else
        *shared = reduced;
    return status;
}

rlar_status rlar__reduction_prepare(rlar_ctx *ctx, const rlar_train *train,
                                    const rlar_params *params, int64_t fits, void **shared) {
    (void)params;
    (void)fits;
    return share(ctx, train, rlar__reduce_lean, shared);
}

rlar_status rlar__span_prepare(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                               int64_t fits, void **shared) {
    (void)params;
    (void)fits;
    return share(ctx, train, rlar__span, shared);
}

rlar_status rlar__factored_prepare(rlar_ctx *ctx, const rlar_train *train,
                                   const rlar_params *params, int64_t fits, void **shared) {
    (void)params;
    (void)fits;
    return share(ctx, train, rlar__span_factored, shared);
}

void rlar__reduction_release(void *shared) {
    rlar__reduce_free(shared);
    rlar__free(shared);
}

int64_t rlar__reduction_samples(const rlar_train *sizes) {
    const bool ranks = sizes->blocks && sizes->blocks->ranks;
    return ranks && sizes->n < sizes->d + 2 ? sizes->d + 2 : sizes->n;
}

double rlar__reduction_partials(const rlar_train *sizes) {
    const int64_t d = sizes->d, c = sizes->c, n = sizes->n;
    const bool ranks = sizes->blocks && sizes->blocks->ranks;
    rlar_workspace ws = {0};
    rlar_partials partials;
    rlar__partials_carve_samples(&ws, sizes->blocks, n, n < d && !ranks ? n : d,
                                 ranks && d > c ? d : c, &partials);
    return (double)ws.used;
}

/* ---- The ridge system ---- */

rlar_status rlar__ridge_prepare(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                                int64_t fits, void **shared) {
    const rlar_groups groups = rlar__train_groups(train);
    const bool dual = rlar__wsolve_prefers_dual(&groups, train->d);
    rlar_ridge_base *base = NULL;
    (void)params;
    (void)fits;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *base, "the ridge system", &base));
    const rlar_status status =
        rlar__ridge_base_new(ctx, train->blocks, train->n, train->d, dual, train->x, base);
    if (status < 0)
        rlar__ridge_release(base);
    else
        *shared = base;
    return status;
}

void rlar__ridge_release(void *shared) {
    rlar__ridge_base_free(shared);
    rlar__free(shared);
}

/* ---- The workspace, the iterations, the verdicts ---- */

rlar_status rlar__run_in_workspace(rlar_ctx *ctx, rlar_carve_fn carve, rlar_run_fn run, void *state,
                                   rlar_info *info) {
    rlar_workspace ws = {0};
    carve(&ws, state);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "the workspace of the fit"));
    carve(&ws, state);
    const rlar_status status = run(ctx, state, info);
    rlar__workspace_free(&ws);
    return status;
}

rlar_status rlar__forecast_workspace(rlar_ctx *ctx, rlar_carve_fn carve, void *state,
                                     rlar_forecast *out) {
    rlar_workspace ws = {0};
    carve(&ws, state);
    if (ws.overflow || ws.used >= (size_t)RLAR_BYTES_BEYOND)
        return rlar__fail(ctx, RLAR_E_TOO_LARGE,
                          "the workspace of the fit does not fit the address space; use less data");
    out->bytes = (int64_t)ws.used;
    return RLAR_OK;
}

rlar_status rlar__check_objective(rlar_ctx *ctx, const rlar_info *info) {
    if (isfinite(info->objective) && isfinite(info->smoothed))
        return RLAR_OK;
    return rlar__fail(ctx, RLAR_E_NUMERIC,
                      "the objective is not finite after iteration %lld; scale the data or "
                      "raise the regularisation",
                      (long long)info->iterations);
}

rlar_status rlar__iteration_end(rlar_ctx *ctx, int64_t t, int64_t iters, double start,
                                rlar_info *info) {
    info->iterations = t;
    info->objective = info->regression + info->sparsity + info->locality;
    info->seconds = rlar__now() - start;
    RLAR_TRY(rlar__check_objective(ctx, info));
    return rlar__report(ctx, RLAR_EVENT_ITERATION, t, iters, info);
}

rlar_status rlar__tol_verdict(rlar_ctx *ctx, double tol, int64_t iters, const rlar_info *info) {
    if (tol <= 0.0 || info->converged)
        return RLAR_OK;
    rlar__log(ctx, RLAR_W_NOT_CONVERGED, "tol = %g was not reached in %lld iterations; raise iters",
              tol, (long long)iters);
    return RLAR_W_NOT_CONVERGED;
}

rlar_status rlar__ridged_verdict(rlar_ctx *ctx, const rlar_info *info, const char *cure) {
    if (info->ridged == 0)
        return RLAR_OK;
    rlar__log(ctx, RLAR_W_RIDGED,
              "%d factorisations needed extra regularisation; a larger %s avoids this",
              info->ridged, cure);
    return RLAR_W_RIDGED;
}

rlar_status rlar__clamped_verdict(rlar_ctx *ctx, int64_t c, const rlar_info *info) {
    if (info->clamped == 0)
        return RLAR_OK;
    rlar__log(ctx, RLAR_W_NEIGHBOURS,
              "%lld of %lld classes have no more than k = %lld samples: all others of the class "
              "were taken as neighbours; a smaller k avoids this",
              (long long)info->clamped, (long long)c, (long long)info->neighbours);
    return RLAR_W_NEIGHBOURS;
}
