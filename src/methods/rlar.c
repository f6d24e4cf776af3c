/* rlar.c - Robust Locality-Aware Regression, Algorithm 1.
 *
 *   minimise over W, b, V, T (12) sum_i ||e_i|| + alpha sum_r ||w_r|| + beta/(2K) sum_jm V_jm ||W^T
 * (x_j - x_m)||,   E = W^T X + b 1^T - T subject to   T_li,i - T_j,i >= 1 for j != l_i,   V binary,
 * within classes, min(K, n_i - 1) ones per row.
 *
 * Two solvers share every step (rlar_steps.c) and differ in the smoothing of the three norms
 * (reweight.h):
 *   paper    eps fixed, weights 1/(s + eps): the letter of Algorithm 1
 *   anneal   eps shrinks from 1, weights 1/sqrt(s^2 + eps^2): escapes the freezing of [N18]
 * In both, the smoothed objective never rises from the end of iteration 1 on [N19]. A third,
 * minimise, is another algorithm with the same steps: rlar_minimise.c.
 * [Nx] are entries of docs/paper-notes.md. T and Y are kept transposed (c x n). */
#include <math.h>
#include <string.h>

#include "methods/rlar.h"

static const rlar_param_def params_table[] = {
    {"alpha", RLAR_PARAM_REAL, 0.1, 1e-12, 1e12, NULL,
     "0.001,0.005,0.01,0.05,0.1,0.5,1,10,100,1000", "0.1",
     "weight of the row-sparsity of W: larger keeps fewer features"},
    {"beta", RLAR_PARAM_REAL, 0.1, 0.0, 1e12, NULL, "0.001,0.005,0.01,0.05,0.1,0.5,1,10,100,1000",
     "0.1", "weight of the locality term: larger pulls neighbours of a class together"},
    {"k", RLAR_PARAM_INT, 0, 0, 2147483647, NULL, NULL, "0",
     "neighbours within the class; 0: 7 when every class has more than 10 samples, else 3"},
    {"iters", RLAR_PARAM_INT, 30, 1, 1000000, NULL, NULL, "30",
     "iterations; minimise: at most so many rounds of descent"},
    {"eps", RLAR_PARAM_REAL, 0.0, 0.0, 1000.0, NULL, NULL, "1e-8",
     "smoothing of the norms, which ends here (anneal: at 1e-4 at the least); 0: 1 for minimise, "
     "which classifies best, and 1e-8 for the others; up to 0.001 the paper's objective is meant, "
     "and less than 1e-15 is taken as that"},
    {"solver", RLAR_PARAM_CHOICE, RLAR_SOLVER_MINIMISE, 0, 2, "paper|anneal|minimise", NULL,
     "paper",
     "paper: Algorithm 1 with fixed eps; anneal: eps shrinks, reaches lower objectives; minimise: "
     "descends to the minimum of the objective"},
    {"tol", RLAR_PARAM_REAL, 0.0, 0.0, 1.0, NULL, NULL, "0",
     "stop when the smoothed objective falls by less than this share; 0: never stop early, and for "
     "minimise 5e-4 (5e-6 with up to 20000 numbers in the data)"},
    {"search", RLAR_PARAM_CHOICE, 0, 0, 2, "auto|exact|local", NULL, "exact",
     "neighbours by comparing all pairs of a class or by local search, nearly the same and faster "
     "in large classes; auto: local where a class has more than 3000 samples, first graph 10000"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

/* anneal: where eps ends at the least, and the cap for the rows of W (methods/rlar.md 12 a). */
static const double ANNEAL_END = 1e-4, ANNEAL_ROWS = 1e-3;

/* Smoothing of iteration t = 1 .. iters. */
static void set_smoothing(rlar_state *st, int64_t t) {
    if (st->solver == RLAR_SOLVER_PAPER) {
        st->kernel = st->edge_kernel = st->row_kernel = (rlar_kernel){RLAR_KERNEL_ADD, st->eps};
        return;
    }
    const double end = fmax(st->eps, ANNEAL_END);
    const double eps = fmax(pow(end, (double)t / (double)st->iters), end);
    st->kernel = st->edge_kernel = (rlar_kernel){RLAR_KERNEL_SQRT, eps};
    st->row_kernel = (rlar_kernel){RLAR_KERNEL_SQRT, fmin(eps, ANNEAL_ROWS)};
}

/* With shrinking eps a small decrease means nothing before eps has arrived. */
static bool converged(const rlar_state *st, int64_t t, double before, double now) {
    const bool arrived = st->solver == RLAR_SOLVER_PAPER || t == st->iters;
    return st->tol > 0.0 && t > 1 && arrived && before - now <= st->tol * before;
}

static void carve(rlar_workspace *ws, void *arg) {
    rlar__state_carve(ws, arg);
}

/* From the beginning, or after iteration *t of a fit that was stopped. */
static rlar_status begin(rlar_ctx *ctx, rlar_state *st, rlar_kept *kept, int count, int64_t *t,
                         rlar_info *info) {
    RLAR_TRY(rlar__state_load(ctx, st, info, kept, count, t));
    set_smoothing(st, *t > 0 ? *t : 1);
    if (*t == 0)
        return rlar__initialise(ctx, st);
    info->iterations = *t;
    RLAR_TRY(rlar__state_outputs(ctx, st));
    RLAR_TRY(rlar__update_t(ctx, st));
    RLAR_TRY(rlar__update_dhat(ctx, st, info));
    rlar__update_dtil(st, info);
    RLAR_TRY(rlar__measure_locality(ctx, st, info));
    info->objective = info->regression + info->sparsity + info->locality;
    return RLAR_OK;
}

static rlar_status algorithm_1(rlar_ctx *ctx, void *arg, rlar_info *info) {
    rlar_state *st = arg;
    rlar_kept kept[RLAR_MOST_KEPT];
    const int count = rlar__state_kept(st, info, kept);
    int64_t done;
    info->dual = st->wsolver.dual;
    RLAR_TRY(rlar__state_open(ctx, st));
    RLAR_TRY(begin(ctx, st, kept, count, &done, info));
    for (int64_t t = done + 1; t <= st->iters && !info->converged; t++) {
        const double before = info->smoothed;
        RLAR_TRY(rlar__update_s(ctx, st));
        RLAR_TRY(rlar__update_w_b(ctx, st, &info->ridged));
        RLAR_TRY(rlar__update_t(ctx, st));
        RLAR_TRY(rlar__update_g_v(ctx, st));
        set_smoothing(st, t);
        RLAR_TRY(rlar__update_dhat(ctx, st, info));
        rlar__update_dtil(st, info);
        RLAR_TRY(rlar__measure_locality(ctx, st, info));
        info->eps = st->kernel.eps;
        RLAR_TRY(rlar__iteration_end(ctx, t, st->iters, st->began, info));
        info->converged = converged(st, t, before, info->smoothed);
        RLAR_TRY(rlar__state_save(ctx, st, t, kept, count));
    }
    return RLAR_OK;
}

/* ---- Not above Algorithm 1 ---- */

/* Algorithm 1 of the same problem into `map`, without a word to anybody. */
static rlar_status aside(rlar_ctx *ctx, const rlar_state *st, rlar_map *map, rlar_info *info) {
    rlar_state other = *st;
    rlar_ctx quiet;
    other.solver = RLAR_SOLVER_PAPER;
    other.dual = rlar__wsolve_prefers_dual(&st->groups, st->d);
    other.tol = 0.0;
    other.checkpoint = NULL;
    RLAR_TRY(rlar__map_new(ctx, st->d, st->c, map));
    other.w = map->w;
    other.b = map->b;
    rlar__ctx_child(ctx, true, &quiet);
    const rlar_status status = rlar__run_in_workspace(&quiet, carve, algorithm_1, &other, info);
    if (status == RLAR_E_NUMERIC) /* it need not do where minimise does */
        info->objective = INFINITY;
    else if (status < 0)
        rlar__fail(ctx, status, "%s", quiet.error);
    rlar__ctx_child_end(&quiet);
    return status == RLAR_E_NUMERIC ? RLAR_OK : status;
}

static rlar_status go_on_from(rlar_ctx *ctx, rlar_state *st, const rlar_map *map, rlar_info *info) {
    st->start_w = map->w;
    st->start_b = map->b;
    st->start_is_better = true;
    st->iters += info->iterations;
    info->converged = 0;
    return rlar__minimise(ctx, st, info);
}

/* Lower by more than the tolerance, not by what the last digits leave. */
static bool much_lower(const rlar_state *st, const rlar_info *at, const rlar_info *info) {
    return at->objective < (1.0 - st->tol) * info->objective;
}

static void keep(rlar_state *st, const rlar_map *map, const rlar_info *at, rlar_info *info) {
    memcpy(st->w, map->w, (size_t)(st->d * st->c) * sizeof *st->w);
    memcpy(st->b, map->b, (size_t)st->c * sizeof *st->b);
    info->converged = info->converged && !much_lower(st, at, info);
    info->regression = at->regression;
    info->sparsity = at->sparsity;
    info->locality = at->locality;
    info->objective = at->objective;
}

/* minimise and Algorithm 1 may end with different V, and then either may be lower. Where both cost
 * nothing, down from the better one. */
static rlar_status minimise(rlar_ctx *ctx, rlar_state *st, rlar_info *info) {
    rlar_map map = {0};
    rlar_info at = {0};
    RLAR_TRY(rlar__minimise(ctx, st, info));
    if (!rlar__minimise_at_leisure(st))
        return RLAR_OK;
    rlar_status status = aside(ctx, st, &map, &at);
    if (status >= 0 && much_lower(st, &at, info))
        status = go_on_from(ctx, st, &map, info);
    if (status >= 0 && at.objective < info->objective)
        keep(st, &map, &at, info);
    rlar__map_free(&map);
    return status;
}

/* ---- The method ---- */

/* minimise may find that no W is better than 0; Algorithm 1 only comes near it. */
static rlar_status zero_verdict(rlar_ctx *ctx, const rlar_state *st) {
    if (!rlar__all_zero(st->d * st->c, st->w))
        return RLAR_OK;
    rlar__log(ctx, RLAR_W_ZERO,
              "every row of W is 0: with alpha = %g and beta = %g no feature is worth its weight; "
              "lower alpha or beta",
              st->alpha, st->beta);
    return RLAR_W_ZERO;
}

/* The worst news, as a warning; the others are in the info. */
static rlar_status verdict(rlar_ctx *ctx, const rlar_state *st, const rlar_info *info) {
    const rlar_status clamped = rlar__clamped_verdict(ctx, st->c, info);
    const rlar_status ridged = rlar__ridged_verdict(ctx, info, "alpha or eps");
    const rlar_status restless = rlar__tol_verdict(ctx, st->tol, st->iters, info);
    const rlar_status zero = zero_verdict(ctx, st);
    return zero ? zero : restless ? restless : ridged ? ridged : clamped;
}

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    rlar_state st;
    rlar__state_init(&st, train, params);
    st.began = rlar__now();
    RLAR_TRY(rlar__map_new(ctx, st.d, st.c, out));
    st.w = out->w;
    st.b = out->b;
    if (rlar__minimise_at_leisure(&st)) /* several searches, each over in no time */
        st.checkpoint = NULL;
    info->neighbours = st.k;
    info->clamped = rlar__graph_clamped(&st.groups, st.k);
    if (st.graph.local)
        rlar__log(ctx, RLAR_OK,
                  "neighbours by local search%s: the largest class has %lld samples; search=exact "
                  "compares all pairs",
                  st.graph.local_first ? "" : " after an exact first graph",
                  (long long)rlar__largest_class(&st.groups));
    RLAR_TRY(st.solver == RLAR_SOLVER_MINIMISE
                 ? minimise(ctx, &st, info)
                 : rlar__run_in_workspace(ctx, carve, algorithm_1, &st, info));
    RLAR_TRY(rlar__check_objective(ctx, info)); /* a checkpoint may be of any map */
    return verdict(ctx, &st, info);
}

/* The first graph, where it is searched exactly, depends on the samples and k only. */
static rlar_status prepare(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                           int64_t fits, void **shared) {
    rlar_state st;
    (void)fits;
    rlar__state_init(&st, train, params);
    return rlar__first_graph_new(ctx, &st.groups, &st.graph, st.d, st.x, shared);
}

/* Along beta the minimum moves least. */
static const char *path(const rlar_params *params) {
    return rlar__param_int(params, "solver") == RLAR_SOLVER_MINIMISE ? "beta" : NULL;
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    rlar_state st;
    rlar__state_init(&st, sizes, params);
    RLAR_TRY(st.solver == RLAR_SOLVER_MINIMISE ? rlar__minimise_forecast(ctx, &st, out)
                                               : rlar__forecast_workspace(ctx, carve, &st, out));
    if (rlar__minimise_at_leisure(&st))
        out->bytes += (st.d + 1) * st.c * (int64_t)sizeof *st.w; /* the map of Algorithm 1 */
    double pairs = 0.0;
    for (int64_t i = 0; i < st.c; i++) {
        const double count = (double)(st.groups.first[i + 1] - st.groups.first[i]);
        pairs += count * (double)rlar__class_size(&st.groups, i);
    }
    const double n = (double)st.n, d = (double)st.d, c = (double)st.c;
    const double edges = n * (double)st.graph.v.stride;
    const double first =
        st.graph.local_first ? rlar__local_flops(&st.groups, st.k, st.d, false) : 3.0 * d * pairs;
    const double next =
        st.graph.local ? rlar__local_flops(&st.groups, st.k, st.c, true) : 3.0 * c * pairs;
    out->dual = st.dual;
    double rounds = (double)st.iters, steps = 0.0;
    if (st.solver == RLAR_SOLVER_MINIMISE)
        rlar__minimise_typical(out->dual, &rounds, &steps);
    const double step = out->dual ? 2.0 * n * n * c : (4.0 * n + 2.0 * d) * d * c;
    out->flops = first + steps * (step + next) +
                 rounds * (rlar__wsolve_flops(st.n, st.d, st.c, out->dual) + 2.0 * n * d * c +
                           next + 6.0 * d * edges);
    if (rlar__state_refines(&st))
        out->flops += rounds * rlar__refine_flops(st.n, st.d, st.c);
    return RLAR_OK;
}

/* Of classes that lie on several ranks; the answer: of a sample, with every new V. */
static double talk_apart(const rlar_state *st, rlar_talk *out) {
    rlar_exchange renewed = {.told = (double)st->c * sizeof *st->y};
    out->edges = st->k;
    out->leaf = RLAR_LEAF;
    out->once.told = 2.0 * sizeof *st->print;
    rlar__learned_talk(&st->groups, &st->graph, st->d, &out->once, &renewed);
    return renewed.told;
}

/* Sums of one number each, of the objective. */
static void add_numbers(double count, rlar_exchange *to) {
    to->sums += count;
    to->numbers += count;
}

static void add_gradient(const rlar_state *st, rlar_exchange *to) {
    rlar__exchange_sum(to, (double)st->c);
    rlar__exchange_sum(to, (double)st->c * (double)st->d);
}

/* minimise: the gradient, and in a step also the direction and the search along it, which takes two
 * or three trials of two numbers each. Before, W = 0 and its strain. L is built wherever the
 * objective is evaluated: at W = 0, at the beginning and the end of a round, in every step. */
static void talk_minimise(const rlar_state *st, rlar_talk *out) {
    rlar__minimise_typical(false, &out->iterations, &out->steps);
    out->steps /= out->iterations;
    add_numbers(4.0, &out->once);
    rlar__exchange_sum(&out->once, (double)st->d * (double)st->c);
    rlar__wsolve_talk(st->d, st->c, true, false, &out->iteration);
    add_numbers(8.0, &out->iteration);
    add_gradient(st, &out->iteration);
    add_numbers(10.0, &out->step);
    add_gradient(st, &out->step);
    out->step.solves = 1.0;
    out->step.told = out->iteration.told;
    out->once.graphs = out->step.graphs = 1.0;
    out->iteration.graphs = 2.0;
}

static void talk(const rlar_train *sizes, const rlar_params *params, rlar_talk *out) {
    rlar_state st;
    rlar__state_init(&st, sizes, params);
    out->order = sizes->d;
    out->sides = sizes->c;
    out->iteration.told = talk_apart(&st, out);
    out->iteration.fetches = 1.0;
    if (st.solver == RLAR_SOLVER_MINIMISE) {
        talk_minimise(&st, out);
        return;
    }
    out->iterations = (double)st.iters;
    out->iteration.graphs = 1.0;
    rlar__wsolve_talk(sizes->d, sizes->c, true, true, &out->iteration);
    if (rlar__state_refines(&st))
        rlar__refine_talk(sizes->d, sizes->c, true, true, &out->iteration);
    rlar__held_talk(&out->iteration);
    add_numbers(4.0, &out->iteration);
}

const rlar_method rlar__method_rlar = {
    .def = {.name = "rlar",
            .title = "Robust Locality-Aware Regression",
            .cite = "L. Hu and W. Zhang, Robust Locality-Aware Regression for Labeled Data "
                    "Classification, "
                    "arXiv 2006.08292, 2020",
            .about =
                "L2,1 regression on targets that are moved to keep a margin of 1, with a graph of "
                "neighbours within the classes that is learned together with the map, and "
                "row-sparse W: "
                "feature selection and extraction at once.",
            .scores = "Euclidean norm of the feature's row of W; rows near 0 are not used",
            .params = params_table,
            .source =
                "confirmed: the paper; its contradictions are resolved in docs/paper-notes.md",
            .regression = 1},
    .ranks = true,
    .systems = true,
    .resumes = true,
    .outputs = rlar__outputs_classes,
    .fit = fit,
    .forecast = forecast,
    .talk = talk,
    .prepare = prepare,
    .release = rlar__first_graph_free,
    .path = path,
};
