/* rfs.c - Robust Feature Selection by joint L2,1 minimisation.
 *
 *   minimise over W   sum_i ||Wt^T xt_i - y_i|| + gamma sum_r ||wt_r||
 * xt is the sample with a 1 on top: the offset is the first row of Wt and is penalised as any
 * other. With E = (Y - Wt^T Xt)/gamma this is the least sum of row norms of U = [Wt; E^T] subject
 * to [Xt^T, gamma I] U = Y^T. Norms are smoothed: P = sqrt(norm^2 + eps^2), one per row of U.
 * Starting with P = 1, repeat: the weighted ridge solve with weights 1/(gamma P_E) for the samples,
 * 1/P_W for the rows and gamma for the penalty (solver/wsolve.h, without centring); then P from the
 * result. The sum of all P never rises. n d^2 + d^3/3 per iteration, or for n <= d n^2 d + n^3/3:
 * then the matrix is Xt^T diag(P_W) Xt + gamma^2 diag(P_E), in which rows of W near 0 are harmless.
 * E is taken from the residual in both forms, so that the constraint holds exactly. Samples that
 * are met exactly have weights of 1/(gamma eps), which the d x d matrix does not survive in full:
 * its solution is refined with residuals from the samples themselves until that changes nothing.
 * For tiny gamma eps even that may fail, in either form. So a step that makes the sum rise is cut
 * to where the weighted sum of squares, which bounds it from above, is least on the way; one that
 * rises all the same is not taken. */
#include "methods/method.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "solver/refine.h"
#include "solver/reweight.h"
#include "solver/targets.h"

enum { REFINEMENTS = 3 }; /* two leave 1e-8 in the worst case seen */
/* A correction by so small a share of W is the last: each is about the square of the one before. */
static const double REFINED = 1e-9;
/* The smoothed objective may rise by this share of itself: both are sums with rounding. */
static const double ROUNDING = 1e-12;

static const rlar_param_def params_table[] = {
    {"gamma", RLAR_PARAM_REAL, 0.3, 1e-12, 1e12, NULL,
     "0.001,0.005,0.01,0.05,0.1,0.5,1,10,100,1000", "0.1",
     "weight of the row-sparsity of W: larger keeps fewer features"},
    {"iters", RLAR_PARAM_INT, 30, 1, 1000000, NULL, NULL, "30", "iterations"},
    {"eps", RLAR_PARAM_REAL, 1e-8, 1e-15, 1.0, NULL, NULL, "1e-8", "smoothing of the norms"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

typedef struct state {
    int64_t n, d, c; /* d counts the row of ones */
    const rlar_train *train;
    rlar_groups groups;
    double gamma;
    rlar_kernel kernel;
    int64_t iters;
    rlar_map *map;       /* the outcome */
    double *x;           /* d x n: Xt */
    double *w;           /* d x c: Wt */
    double *w_old;       /* d x c: Wt before the step */
    double *zero;        /* c: the offset of the solver, which has none */
    double *t, *y;       /* c x n: targets and outputs */
    double *y_old;       /* c x n: outputs of w_old */
    double *dhat, *dtil; /* n, d: weights of samples and rows */
    rlar_wsolver wsolver;
    rlar_refiner refiner;
} state;

/* ---- Set-up ---- */

static void state_init(state *st, const rlar_train *train, const rlar_params *params) {
    *st = (state){.n = train->n,
                  .d = train->d + 1,
                  .c = train->c,
                  .train = train,
                  .groups = rlar__train_groups(train),
                  .gamma = rlar__param(params, "gamma"),
                  .kernel = {RLAR_KERNEL_SQRT, rlar__param(params, "eps")},
                  .iters = rlar__param_int(params, "iters")};
}

static void state_carve(rlar_workspace *ws, void *arg) {
    state *st = arg;
    const int64_t n = st->n, d = st->d, c = st->c;
    st->x = rlar__carve(ws, n * d, sizeof *st->x);
    st->w = rlar__carve(ws, d * c, sizeof *st->w);
    st->w_old = rlar__carve(ws, d * c, sizeof *st->w_old);
    st->zero = rlar__carve(ws, c, sizeof *st->zero);
    st->t = rlar__carve(ws, n * c, sizeof *st->t);
    st->y = rlar__carve(ws, n * c, sizeof *st->y);
    st->y_old = rlar__carve(ws, n * c, sizeof *st->y_old);
    st->dhat = rlar__carve(ws, n, sizeof *st->dhat);
    st->dtil = rlar__carve(ws, d, sizeof *st->dtil);
    rlar__wsolve_carve(ws, &st->groups, d, c, rlar__wsolve_prefers_dual(&st->groups, d),
                       &st->wsolver);
    rlar__refine_carve(ws, n, d, c, false, &st->refiner);
}

/* Xt, one-hot targets, P = 1. */
static void initialise(state *st) {
    for (int64_t i = 0; i < st->n; i++) {
        st->x[i * st->d] = 1.0;
        memcpy(st->x + i * st->d + 1, st->train->x + i * (st->d - 1),
               (size_t)(st->d - 1) * sizeof *st->x);
        st->dhat[i] = 1.0 / st->gamma;
    }
    for (int64_t r = 0; r < st->d; r++)
        st->dtil[r] = 1.0;
    rlar__targets_one_hot(st->c, st->n, st->train->label, st->t);
}

/* ---- The steps ---- */

static rlar_status outputs(rlar_ctx *ctx, state *st) {
    return rlar__targets_outputs(ctx, st->groups.blocks, st->c, st->n, st->d, st->w, NULL, st->x,
                                 st->y);
}

static rlar_status update_w(rlar_ctx *ctx, state *st, int *ridged) {
    const rlar_wproblem problem = {.n = st->n,
                                   .d = st->d,
                                   .c = st->c,
                                   .x = st->x,
                                   .t = st->t,
                                   .dhat = st->dhat,
                                   .dtil = st->dtil,
                                   .groups = &st->groups,
                                   .alpha = st->gamma,
                                   .no_offset = true};
    RLAR_TRY(rlar__wsolve(ctx, &problem, &st->wsolver, st->w, st->zero, ridged));
    double change = st->wsolver.dual ? 0.0 : 1.0;
    for (int i = 0; change > REFINED && i < REFINEMENTS; i++)
        RLAR_TRY(rlar__refine(ctx, &problem, &st->wsolver, &st->refiner, st->y, st->w, st->zero,
                              &change));
    return outputs(ctx, st);
}

/* gamma times the norm of a row of E. */
static double miss(const state *st, int64_t i) {
    return sqrt(rlar__distance2(st->c, st->y + i * st->c, st->t + i * st->c));
}

static rlar_status sum_up(rlar_ctx *ctx, state *st, int64_t count, rlar_block_sums sums,
                          double *out) {
    return rlar__sum_blocks(ctx, st->groups.blocks, st->n, count, sums, st, out);
}

/* The sum of P_E. */
static void smoothed_part(void *arg, int64_t start, int64_t end, double *loss) {
    const state *st = arg;
    *loss = 0.0;
    for (int64_t i = start; i < end; i++)
        *loss += rlar__kernel_value(st->kernel, miss(st, i) / st->gamma);
}

/* gamma times the sum of P, added up as update_p() does. */
static rlar_status smoothed(rlar_ctx *ctx, state *st, double *out) {
    double loss, rows = 0.0;
    RLAR_TRY(sum_up(ctx, st, 1, smoothed_part, &loss));
    for (int64_t r = 0; r < st->d; r++)
        rows += rlar__kernel_value(st->kernel, rlar__row_norm(st->c, st->w + r, st->d));
    *out = st->gamma * (loss + rows);
    return RLAR_OK;
}

/* What the samples add to slope and curvature. */
static void line_part(void *arg, int64_t start, int64_t end, double *line) {
    const state *st = arg;
    line[0] = line[1] = 0.0;
    for (int64_t i = start; i < end; i++)
        for (int64_t k = i * st->c; k < (i + 1) * st->c; k++) {
            const double step = st->y[k] - st->y_old[k];
            line[0] += st->dhat[i] * step * (st->t[k] - st->y_old[k]);
            line[1] += st->dhat[i] * step * step;
        }
}

/* How much of the step from w_old to w is best: the least of the weighted sum of squares on the
 * line through both. It is 1 but for rounding. */
static rlar_status best_share(rlar_ctx *ctx, state *st, double *share) {
    double line[2];
    RLAR_TRY(sum_up(ctx, st, 2, line_part, line));
    double slope = line[0], curvature = line[1];
    for (int64_t k = 0; k < st->d * st->c; k++) {
        const double step = st->w[k] - st->w_old[k], weight = st->gamma * st->dtil[k % st->d];
        slope -= weight * step * st->w_old[k];
        curvature += weight * step * step;
    }
    *share = slope > 0.0 ? slope / curvature : 0.0;
    return RLAR_OK;
}

static void keep(const state *st) {
    memcpy(st->w_old, st->w, (size_t)(st->d * st->c) * sizeof *st->w);
    memcpy(st->y_old, st->y, (size_t)(st->n * st->c) * sizeof *st->y);
}

static void put_back(const state *st) {
    memcpy(st->w, st->w_old, (size_t)(st->d * st->c) * sizeof *st->w);
    memcpy(st->y, st->y_old, (size_t)(st->n * st->c) * sizeof *st->y);
}

/* After a step from w_old: less of it, or none, where the smoothed objective rose above `limit`. */
static rlar_status hold_back(rlar_ctx *ctx, state *st, double limit) {
    double now, share;
    RLAR_TRY(smoothed(ctx, st, &now));
    if (now <= limit)
        return RLAR_OK;
    RLAR_TRY(best_share(ctx, st, &share));
    for (int64_t k = 0; k < st->d * st->c; k++)
        st->w[k] = st->w_old[k] + share * (st->w[k] - st->w_old[k]);
    RLAR_TRY(outputs(ctx, st));
    RLAR_TRY(smoothed(ctx, st, &now));
    if (!(now <= limit))
        put_back(st);
    return RLAR_OK;
}

/* 1/(gamma P_E) of a block, and the sums of P_E and of the norms. */
static void update_part(void *arg, int64_t start, int64_t end, double *loss) {
    const state *st = arg;
    loss[0] = loss[1] = 0.0;
    for (int64_t i = start; i < end; i++) {
        const double e = miss(st, i);
        st->dhat[i] = rlar__kernel_weight(st->kernel, e / st->gamma) / st->gamma;
        loss[0] += rlar__kernel_value(st->kernel, e / st->gamma);
        loss[1] += e;
    }
}

/* 1/(gamma P_E) and 1/P_W, and on the way both objectives: gamma times the sum of P is the smoothed
 * one. */
static rlar_status update_p(rlar_ctx *ctx, state *st, rlar_info *info) {
    double loss[2], plain, smooth;
    RLAR_TRY(sum_up(ctx, st, 2, update_part, loss));
    rlar__kernel_rows(st->kernel, st->d, st->c, st->w, st->dtil, &plain, &smooth);
    info->regression = loss[1];
    info->sparsity = st->gamma * plain;
    info->smoothed = st->gamma * (loss[0] + smooth);
    info->eps = st->kernel.eps;
    return RLAR_OK;
}

/* The first row of Wt is the offset. */
static void split(const state *st) {
    for (int64_t k = 0; k < st->c; k++) {
        st->map->b[k] = st->w[k * st->d];
        memcpy(st->map->w + k * st->map->d, st->w + k * st->d + 1,
               (size_t)st->map->d * sizeof *st->w);
    }
}

static rlar_status iterate(rlar_ctx *ctx, void *arg, rlar_info *info) {
    state *st = arg;
    const double start = rlar__now();
    info->dual = st->wsolver.dual;
    initialise(st);
    for (int64_t t = 1; t <= st->iters; t++) {
        RLAR_TRY(update_w(ctx, st, &info->ridged));
        if (t > 1)
            RLAR_TRY(hold_back(ctx, st, info->smoothed * (1.0 + ROUNDING)));
        RLAR_TRY(update_p(ctx, st, info));
        keep(st);
        RLAR_TRY(rlar__iteration_end(ctx, t, st->iters, start, info));
    }
    split(st);
    return RLAR_OK;
}

/* ---- The method ---- */

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    state st;
    state_init(&st, train, params);
    RLAR_TRY(rlar__map_new(ctx, train->d, train->c, out));
    st.map = out;
    RLAR_TRY(rlar__run_in_workspace(ctx, state_carve, iterate, &st, info));
    return rlar__ridged_verdict(ctx, info, "gamma or eps");
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    state st;
    state_init(&st, sizes, params);
    RLAR_TRY(rlar__forecast_workspace(ctx, state_carve, &st, out));
    out->dual = st.wsolver.dual;
    out->flops = (double)st.iters * (rlar__wsolve_flops(st.n, st.d, st.c, st.wsolver.dual) +
                                     2.0 * (double)st.n * (double)st.d * (double)st.c);
    return RLAR_OK;
}

/* With one correction; a step that is held back adds a few numbers. */
static void talk(const rlar_train *sizes, const rlar_params *params, rlar_talk *out) {
    const int64_t d = sizes->d + 1;
    out->order = d;
    out->sides = sizes->c;
    out->iterations = (double)rlar__param_int(params, "iters");
    rlar__wsolve_talk(d, sizes->c, false, true, &out->iteration);
    rlar__refine_talk(d, sizes->c, false, false, &out->iteration);
    rlar__exchange_sum(&out->iteration, 2.0);
}

const rlar_method rlar__method_rfs = {
    .def = {.name = "rfs",
            .title = "Robust Feature Selection",
            .cite = "F. Nie, H. Huang, X. Cai and C. Ding, Efficient and Robust Feature Selection "
                    "via Joint L2,1-Norms Minimization, Advances in Neural Information Processing "
                    "Systems, 2010",
            .about = "Regression on 0/1 class targets with the L2,1 norm both of the residuals and "
                     "of W: outliers count little, and features that do not matter get rows near "
                     "0. The offset is a feature of ones, penalised with the others.",
            .scores = "Euclidean norm of the feature's row of W; rows near 0 are not used",
            .params = params_table,
            .source = "confirmed: the published algorithm; the penalised offset as in the RLAR "
                      "paper; its tables have no row for it, so gamma is our choice",
            .regression = 1},
    .ranks = true,
    .systems = true,
    .outputs = rlar__outputs_classes,
    .fit = fit,
    .forecast = forecast,
    .talk = talk,
};
