/* nmmp.c - neighbourhood min-max projections.
 *
 *   maximise tr(W^T S_b W) / tr(W^T S_w W)   subject to W^T W = I
 *
 * S_w = Z L(A_w) Z^T joins each sample with its k nearest of the same class, S_b = Z L(A_b) Z^T
 * with its k nearest of the other classes; an edge counts 1. A true trace ratio, so the optimum is
 * global (trace_ratio.h): where S_w vanishes on c directions or more (the rule for d > n) W lies in
 * that null space, otherwise Newton's method runs.
 * Unclear: the paper is said to join only neighbours of each other, a public file by the same group
 * joins either way. Both are offered; `or` fits the numbers of the RLAR paper better.
 * Costs the reduction, 3 d n^2 for the distances, n r^2 for the scatters, and one eigenproblem of
 * size r per iteration. */
#include "methods/margin.h"

#include <math.h>

#include "graph/neighbours.h"
#include "linalg/linalg.h"
#include "solver/trace_ratio.h"

static const rlar_param_def params_table[] = {
    {"k", RLAR_PARAM_INT, 0, 0, 2147483647, NULL, "3,5,7,10", "0",
     "neighbours within the class, and in the other classes; 0: 7 when every class has more than "
     "10 samples, else 3"},
    {"mutual", RLAR_PARAM_CHOICE, RLAR_EDGE_OR, 0, 1, "or|and", NULL, "or",
     "two samples are neighbours when either is near the other (or), or only when both are (and)"},
    {"iters", RLAR_PARAM_INT, 30, 1, 1000000, NULL, NULL, "30", "iterations at the most"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

/* A scatter below this share of the total one is the square of rounding errors. */
static const double NOTHING = 1e-24;
/* Below this gap the last direction is not unique. */
static const double TIED = 1e-10;

typedef struct state {
    const rlar_train *train;
    rlar_map *map;               /* the outcome */
    const rlar_reduced *reduced; /* NULL while measuring: then r is an upper bound */
    rlar_groups groups;
    int64_t k, iters;
    rlar_edge_rule rule;
    rlar_neighbours neighbours; /* of either graph; the larger fits both */
    double *lz;                 /* r x n */
    rlar_partials partials;
    rlar_trace_ratio ratio;
} state;

static void state_init(state *st, const rlar_train *train, const rlar_params *params, int64_t r) {
    *st = (state){.train = train,
                  .groups = rlar__train_groups(train),
                  .k = rlar__param_int(params, "k"),
                  .iters = rlar__param_int(params, "iters"),
                  .rule = (rlar_edge_rule)rlar__param_int(params, "mutual"),
                  .ratio = {.r = r, .q = train->c < r ? train->c : r}};
    if (st->k == 0)
        st->k = rlar__graph_rule(&st->groups);
}

static void state_carve(rlar_workspace *ws, void *arg) {
    state *st = arg;
    const int64_t n = st->train->n;
    size_t column = 0;
    rlar_groups widest = st->groups;
    widest.reach = RLAR_REACH_ALL;
    if (!rlar__size_mul((size_t)st->ratio.r, sizeof(double), &column))
        ws->overflow = true;
    rlar__neighbours_carve(ws, &widest, st->k, &st->neighbours);
    st->lz = rlar__carve(ws, n, column);
    rlar__partials_carve(ws, n, st->ratio.r, st->ratio.r, &st->partials);
    rlar__trace_ratio_carve(ws, &st->ratio);
}

/* The scatter of one graph. Distances come from the samples themselves while they are short enough:
 * the reduction turns ties and zeros into rounding. */
static rlar_status scatter(rlar_ctx *ctx, state *st, rlar_reach reach, rlar_edge_rule rule,
                           double *out) {
    const int64_t d = st->train->d, n = st->train->n, r = st->reduced->r;
    st->groups.reach = reach;
    RLAR_TRY(rlar__graph_nearest(ctx, &st->groups, st->k, d > n ? r : d,
                                 d > n ? st->reduced->z : st->train->x, &st->neighbours.graph));
    rlar__neighbours_join(&st->groups, st->k, rule, reach, &st->neighbours);
    return rlar__graph_scatter(ctx, &st->partials, &st->neighbours.l, r, st->reduced->z, st->lz,
                               out);
}

/* Is there anything between the classes? */
static bool vanishes(const state *st, const double *s) {
    const int64_t r = st->reduced->r;
    double sum = 0.0;
    for (int64_t e = 0; e < r; e++)
        sum += s[e * r + e];
    return sum <= NOTHING * rlar__reduce_trace(st->reduced);
}

static rlar_status scatters(rlar_ctx *ctx, state *st) {
    RLAR_TRY(scatter(ctx, st, RLAR_REACH_MATES, st->rule, st->ratio.sw));
    RLAR_TRY(scatter(ctx, st, RLAR_REACH_ALIENS, st->rule, st->ratio.sb));
    if (vanishes(st, st->ratio.sb) && st->rule == RLAR_EDGE_AND)
        RLAR_TRY(scatter(ctx, st, RLAR_REACH_ALIENS, RLAR_EDGE_OR, st->ratio.sb));
    if (vanishes(st, st->ratio.sb))
        return rlar__fail(
            ctx, RLAR_E_DATA,
            "every sample equals its %lld nearest in other classes: nothing separates "
            "the classes; raise k",
            (long long)st->k);
    return RLAR_OK;
}

static rlar_status iterate(rlar_ctx *ctx, state *st, rlar_info *info) {
    const double start = rlar__now();
    bool done = isinf(st->ratio.lambda);
    info->converged = done;
    for (int64_t t = 1; t <= st->iters && !done; t++) {
        RLAR_TRY(rlar__trace_ratio_step(ctx, &st->ratio, &done));
        info->iterations = t;
        info->objective = st->ratio.lambda;
        info->seconds = rlar__now() - start;
        info->converged = done;
        RLAR_TRY(rlar__report(ctx, RLAR_EVENT_ITERATION, t, st->iters, info));
    }
    if (st->ratio.gap <= TIED)
        rlar__log(
            ctx, RLAR_OK,
            "eigenvalues %lld and %lld of the trace ratio are equal (gap %g): the last output "
            "is one of several equally good ones",
            (long long)st->ratio.q, (long long)st->ratio.q + 1, st->ratio.gap);
    return RLAR_OK;
}

static rlar_status solve(rlar_ctx *ctx, void *arg, rlar_info *info) {
    state *st = arg;
    RLAR_TRY(scatters(ctx, st));
    RLAR_TRY(rlar__trace_ratio_start(ctx, &st->ratio));
    RLAR_TRY(iterate(ctx, st, info));
    return rlar__reduce_orthonormal(ctx, st->reduced, st->ratio.q, st->ratio.w, st->map->w,
                                    st->map->b);
}

static rlar_status verdict(rlar_ctx *ctx, const state *st, const rlar_info *info) {
    const rlar_status clamped = rlar__clamped_verdict(ctx, st->train->c, info);
    if (info->converged)
        return clamped;
    rlar__log(ctx, RLAR_W_NOT_CONVERGED,
              "the trace ratio still rose after %lld iterations; raise "
              "iters",
              (long long)st->iters);
    return RLAR_W_NOT_CONVERGED;
}

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    rlar_reduced reduced;
    state st;
    RLAR_TRY(rlar__reduction_take(ctx, train, rlar__span, false, &reduced));
    state_init(&st, train, params, reduced.r);
    st.reduced = &reduced;
    st.map = out;
    info->dual = train->d > train->n;
    info->neighbours = st.k;
    info->clamped = rlar__graph_clamped(&st.groups, st.k);
    rlar_status status = rlar__map_new(ctx, train->d, st.ratio.q, out);
    if (status >= 0)
        status = rlar__run_in_workspace(ctx, state_carve, solve, &st, info);
    rlar__reduction_end(train, &reduced);
    return status < 0 ? status : verdict(ctx, &st, info);
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    const double n = (double)sizes->n, d = (double)sizes->d;
    state st;
    state_init(&st, sizes, params, sizes->d < sizes->n ? sizes->d : sizes->n);
    RLAR_TRY(rlar__forecast_workspace(ctx, state_carve, &st, out));
    const double r = (double)st.ratio.r, edges = 2.0 * n * (double)st.neighbours.graph.stride;
    /* The scatter matrix that margin.h counts is in the workspace; as large, and beside it, is the
     * image of the null space, or the second try of the eigenvectors that it is made of. */
    rlar__margin_forecast(
        sizes, (double)out->bytes,
        3.0 * n * n * fmin(d, r) + 4.0 * edges * r + 2.0 * n * r * r + 10.0 * 9.0 * r * r * r, out);
    return RLAR_OK;
}

const rlar_method rlar__method_nmmp = {
    .def = {.name = "nmmp",
            .title = "Neighborhood MinMax Projections",
            .cite = "F. Nie, S. Xiang and C. Zhang, Neighborhood MinMax Projections, Proceedings "
                    "of the 20th International Joint Conference on Artificial Intelligence "
                    "(IJCAI), 2007",
            .about = "Orthonormal directions that maximise the summed distances to near samples of "
                     "other classes over those to near samples of the same class. Only "
                     "neighbours count, so classes may have any shape.",
            .scores = "Euclidean norm of the feature's row of the orthonormal W, between 0 and 1; "
                      "depends on the units of the features",
            .params = params_table,
            .source = "confirmed: scatters, null-space branch and trace ratio by a public file of "
                      "the same group; the neighbour rule (either or both ways) is a "
                      "reconstruction",
            .regression = 0},
    .outputs = rlar__margin_outputs,
    .fit = fit,
    .forecast = forecast,
    .prepare = rlar__span_prepare,
    .release = rlar__reduction_release,
};
