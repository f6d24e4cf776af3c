/* relsr.c - Retargeted Least Squares Regression.
 *
 *   minimise over W, b, T   ||W^T X + b 1^T - T||_F^2 + lambda ||W||_F^2
 *   subject to              T_li,i - T_j,i >= 1 for j != l_i
 * Start with T = 0/1 and repeat: (W, b) by ridge regression on T, whose system is factored once
 * (solver/ridge.h); then T = the nearest targets to the outputs that keep the margin
 * (solver/retarget.h). Jointly convex; neither step raises the objective. Iteration 1 is rr.
 * n d^2 + d^3/3 once and 2 d^2 c + 4 n d c per iteration, or for n < d n^2 d + n^3/3 once and
 * 2 n^2 c per iteration, which does not touch the samples. */
#include "methods/method.h"

#include "solver/retarget.h"
#include "solver/ridge.h"
#include "solver/targets.h"
#include "solver/wsolve.h"

static const rlar_param_def params_table[] = {
    {"lambda", RLAR_PARAM_REAL, 0.1, 1e-12, 1e12, NULL,
     "0.001,0.005,0.01,0.05,0.1,0.5,1,10,100,1000", "0.01",
     "weight of the squared size of W: larger gives a smoother map"},
    {"iters", RLAR_PARAM_INT, 30, 1, 1000000, NULL, NULL, "30", "iterations"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

typedef struct state {
    rlar_map *map; /* the outcome */
    const rlar_train *train;
    double lambda;
    int64_t iters;
    rlar_ridge ridge;
    double *t, *y; /* c x n: targets and outputs */
    double *value; /* n: terms of a sum over samples */
} state;

static void state_init(state *st, const rlar_train *train, const rlar_params *params) {
    *st = (state){.train = train,
                  .lambda = rlar__param(params, "lambda"),
                  .iters = rlar__param_int(params, "iters")};
}

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

/* The objective with the W, b, T at the end of the iteration. */
static rlar_status measure(rlar_ctx *ctx, state *st, rlar_info *info) {
    const rlar_train *train = st->train;
    RLAR_TRY(rlar__targets_loss(ctx, train->blocks, train->c, train->n, st->y, st->t, st->value,
                                &info->regression));
    info->sparsity = st->lambda * rlar__ridge_penalty(&st->ridge, st->y);
    info->smoothed = info->regression + info->sparsity;
    return RLAR_OK;
}

static rlar_status iterate(rlar_ctx *ctx, void *arg, rlar_info *info) {
    state *st = arg;
    const rlar_train *train = st->train;
    const double start = rlar__now();
    info->dual = st->ridge.dual;
    rlar__targets_one_hot(train->c, train->n, train->label, st->t);
    RLAR_TRY(rlar__ridge_factor(ctx, &st->ridge, train->x, st->lambda, &info->ridged));
    for (int64_t t = 1; t <= st->iters; t++) {
        RLAR_TRY(rlar__ridge_solve(ctx, &st->ridge, st->t, st->y));
        RLAR_TRY(rlar__retarget(ctx, train->c, train->n, st->y, train->label, st->t));
        RLAR_TRY(measure(ctx, st, info));
        RLAR_TRY(rlar__iteration_end(ctx, t, st->iters, start, info));
    }
    return rlar__ridge_map(ctx, &st->ridge, st->map->w, st->map->b);
}

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    state st;
    state_init(&st, train, params);
    RLAR_TRY(rlar__map_new(ctx, train->d, train->c, out));
    st.map = out;
    RLAR_TRY(rlar__run_in_workspace(ctx, state_carve, iterate, &st, info));
    return rlar__ridged_verdict(ctx, info, "lambda");
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    const int64_t n = sizes->n, d = sizes->d, c = sizes->c;
    state st;
    state_init(&st, sizes, params);
    RLAR_TRY(rlar__forecast_workspace(ctx, state_carve, &st, out));
    out->dual = st.ridge.dual;
    out->flops = rlar__ridge_factor_flops(n, d, st.ridge.dual) +
                 (double)st.iters * rlar__ridge_solve_flops(n, d, c, st.ridge.dual) +
                 2.0 * (double)n * (double)d * (double)c;
    return RLAR_OK;
}

static void talk(const rlar_train *sizes, const rlar_params *params, rlar_talk *out) {
    out->order = sizes->d;
    out->sides = sizes->c;
    out->iterations = (double)rlar__param_int(params, "iters");
    rlar__ridge_talk(sizes->d, sizes->c, &out->once, &out->iteration);
    rlar__exchange_sum(&out->iteration, 1.0); /* the loss */
}

const rlar_method rlar__method_relsr = {
    .def = {.name = "relsr",
            .title = "Retargeted Least Squares Regression",
            .cite = "X.-Y. Zhang, L. Wang, S. Xiang and C.-L. Liu, Retargeted Least Squares "
                    "Regression Algorithm, IEEE Transactions on Neural Networks and Learning "
                    "Systems 26(9), 2015",
            .about = "Ridge regression on targets that are learned from the data: they may take "
                     "any values that keep the true class ahead of every other by at least 1.",
            .scores = "Euclidean norm of the feature's row of W; no row is exactly 0",
            .params = params_table,
            .source = "confirmed: the published formulas, and two public programs for the "
                      "retargeting step; the value of lambda behind the paper's table is inferred "
                      "from its numbers",
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
