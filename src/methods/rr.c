/* rr.c - ridge regression on 0/1 targets.
 *
 *   minimise over W, b   ||W^T X + b 1^T - Y||_F^2 + lambda ||W||_F^2
 *
 * where Y (c x n) has one 1 per sample. Closed form: solver/ridge.h. n d^2 + d^3/3, or for n < d
 * n^2 d + n^3/3 and no d x d matrix. The offset is free: b = class shares - W^T mean. */
#include "methods/method.h"

#include "solver/ridge.h"
#include "solver/targets.h"
#include "solver/wsolve.h"

static const rlar_param_def params_table[] = {
    {"lambda", RLAR_PARAM_REAL, 1.0, 1e-12, 1e12, NULL,
     "0.001,0.005,0.01,0.05,0.1,0.5,1,10,100,1000", "0.1",
     "weight of the squared size of W: larger gives a smoother map"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

typedef struct state {
    const rlar_train *train;
    double lambda;
    rlar_map *map; /* the outcome */
    rlar_ridge ridge;
    double *t, *y; /* c x n: targets and outputs */
    double *value; /* n: terms of a sum over samples */
} state;

static void state_carve(rlar_workspace *ws, void *arg) {
    state *st = arg;
    const int64_t n = st->train->n, d = st->train->d, c = st->train->c;
    const rlar_groups groups = rlar__train_groups(st->train);
    rlar__ridge_carve(ws, groups.blocks, n, d, c, rlar__wsolve_prefers_dual(&groups, d),
                      st->train->shared, &st->ridge);
    st->t = rlar__carve(ws, n * c, sizeof *st->t);
    st->y = rlar__carve(ws, n * c, sizeof *st->y);
    st->value = rlar__carve(ws, n, sizeof *st->value);
}

static rlar_status solve(rlar_ctx *ctx, void *arg, rlar_info *info) {
    state *st = arg;
    const rlar_train *train = st->train;
    info->dual = st->ridge.dual;
    info->converged = 1;
    rlar__targets_one_hot(train->c, train->n, train->label, st->t);
    RLAR_TRY(rlar__ridge_factor(ctx, &st->ridge, train->x, st->lambda, &info->ridged));
    RLAR_TRY(rlar__ridge_solve(ctx, &st->ridge, st->t, st->y));
    RLAR_TRY(rlar__targets_loss(ctx, train->blocks, train->c, train->n, st->y, st->t, st->value,
                                &info->regression));
    info->sparsity = st->lambda * rlar__ridge_penalty(&st->ridge, st->y);
    info->objective = info->smoothed = info->regression + info->sparsity;
    return rlar__ridge_map(ctx, &st->ridge, st->map->w, st->map->b);
}

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    state st = {.train = train, .lambda = rlar__param(params, "lambda"), .map = out};
    RLAR_TRY(rlar__map_new(ctx, train->d, train->c, out));
    RLAR_TRY(rlar__run_in_workspace(ctx, state_carve, solve, &st, info));
    return rlar__ridged_verdict(ctx, info, "lambda");
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    (void)params;
    const int64_t n = sizes->n, d = sizes->d, c = sizes->c;
    state st = {.train = sizes};
    RLAR_TRY(rlar__forecast_workspace(ctx, state_carve, &st, out));
    out->dual = st.ridge.dual;
    out->flops = rlar__ridge_factor_flops(n, d, st.ridge.dual) +
                 rlar__ridge_solve_flops(n, d, c, st.ridge.dual) +
                 2.0 * (double)n * (double)d * (double)c;
    return RLAR_OK;
}

/* All of it once. */
static void talk(const rlar_train *sizes, const rlar_params *params, rlar_talk *out) {
    (void)params;
    out->order = sizes->d;
    out->sides = sizes->c;
    rlar__ridge_talk(sizes->d, sizes->c, &out->once, &out->once);
    rlar__exchange_sum(&out->once, 1.0); /* the loss */
}

const rlar_method rlar__method_rr = {
    .def = {.name = "rr",
            .title = "Ridge Regression",
            .cite = "A. E. Hoerl and R. W. Kennard, Ridge Regression: Biased Estimation for "
                    "Nonorthogonal Problems, Technometrics 12(1), 1970",
            .about = "Least squares on 0/1 class targets with a penalty on the squared size of W "
                     "and a free offset. The simplest regression method; works for any number of "
                     "features.",
            .scores = "Euclidean norm of the feature's row of W; no row is exactly 0",
            .params = params_table,
            .source = "confirmed: the textbook formula; the value of lambda behind the paper's "
                      "table is inferred from its numbers",
            .regression = 1},
    .ranks = true,
    .systems = true,
    .outputs = rlar__outputs_classes,
    .fit = fit,
    .forecast = forecast,
    .talk = talk,
    .prepare = rlar__ridge_prepare,
    .release = rlar__ridge_release,
};
