/* rlar.c - Robust Locality-Aware Regression, Algorithm 1.
 *
 *   minimise over W, b, V, T (12) sum_i ||e_i|| + alpha sum_r ||w_r|| + beta/(2K) sum_jm V_jm ||W^T
 * (x_j - x_m)||,   E = W^T X + b 1^T - T subject to   T_li,i - T_j,i >= 1 for j != l_i,   V binary,
 * within classes, min(K, n_i - 1) ones per row.
 *
 * Two solvers share every step and differ in the smoothing of the three norms (reweight.h):
 *   paper    eps fixed, weights 1/(s + eps): the letter of Algorithm 1
 *   anneal   eps shrinks from 1, weights 1/sqrt(s^2 + eps^2): escapes the freezing of [N18]
 * In both, the smoothed objective never rises from the end of iteration 1 on [N19].
 * [Nx] are entries of docs/paper-notes.md. T and Y are kept transposed (c x n). */
#include "methods/method.h"

#include <math.h>
#include <string.h>

#include "graph/learned.h"
#include "linalg/linalg.h"
#include "solver/retarget.h"
#include "solver/reweight.h"
#include "solver/targets.h"
#include "solver/wsolve.h"

static const rlar_param_def params_table[] = {
    {"alpha", RLAR_PARAM_REAL, 0.1, 1e-12, 1e12, NULL,
     "0.001,0.005,0.01,0.05,0.1,0.5,1,10,100,1000", "0.1",
     "weight of the row-sparsity of W: larger keeps fewer features"},
    {"beta", RLAR_PARAM_REAL, 0.1, 0.0, 1e12, NULL, "0.001,0.005,0.01,0.05,0.1,0.5,1,10,100,1000",
     "0.1", "weight of the locality term: larger pulls neighbours of a class together"},
    {"k", RLAR_PARAM_INT, 0, 0, 2147483647, NULL, NULL, "0",
     "neighbours within the class; 0: 7 when every class has more than 10 samples, else 3"},
    {"iters", RLAR_PARAM_INT, 30, 1, 1000000, NULL, NULL, "30", "iterations"},
    {"eps", RLAR_PARAM_REAL, 1e-8, 1e-15, 1.0, NULL, NULL, "1e-8",
     "smoothing of the norms (anneal ends at the larger of this and 1e-4)"},
    {"solver", RLAR_PARAM_CHOICE, 0, 0, 1, "paper|anneal", NULL, "paper",
     "paper: Algorithm 1 with fixed eps; anneal: eps shrinks, reaches lower objectives"},
    {"tol", RLAR_PARAM_REAL, 0.0, 0.0, 1.0, NULL, NULL, "0",
     "stop when the smoothed objective falls by less than this share; 0: never stop early"},
    {"search", RLAR_PARAM_CHOICE, 0, 0, 2, "auto|exact|local", NULL, "exact",
     "neighbours by comparing all pairs of a class or by local search, nearly the same and faster "
     "in large classes; auto: local where a class has more than 3000 samples, first graph 10000"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

enum { SOLVER_PAPER = 0, SOLVER_ANNEAL = 1 };
enum { SAMPLES_PER_TASK = 64 };

/* anneal: where eps ends at the least, and the cap for the rows of W (methods/rlar.md 12 a). */
static const double ANNEAL_END = 1e-4, ANNEAL_ROWS = 1e-3;

typedef struct state {
    /* The problem. */
    int64_t n, d, c;
    const double *x;
    rlar_groups groups;
    double alpha, beta, eps, tol;
    int64_t k, iters;
    int solver;
    /* What is learned. */
    double *w, *b;      /* d x c, c: the caller's */
    double *t, *y;      /* c x n: targets and outputs */
    rlar_learned graph; /* V and G, L */
    /* Weights. */
    rlar_kernel kernel, row_kernel;
    double *dhat, *dtil; /* n, d */
    double *s;           /* S at the edges of V */
    rlar_wsolver wsolver;
    double *value, *smooth; /* n: terms of sums over samples */
} state;

/* ---- Set-up ---- */

static void state_init(state *st, const rlar_train *train, const rlar_params *params) {
    const int64_t k = rlar__param_int(params, "k");
    *st = (state){.n = train->n,
                  .d = train->d,
                  .c = train->c,
                  .x = train->x,
                  .groups = rlar__train_groups(train),
                  .alpha = rlar__param(params, "alpha"),
                  .beta = rlar__param(params, "beta"),
                  .eps = rlar__param(params, "eps"),
                  .tol = rlar__param(params, "tol"),
                  .k = k,
                  .iters = rlar__param_int(params, "iters"),
                  .solver = (int)rlar__param_int(params, "solver")};
    if (k == 0)
        st->k = rlar__graph_rule(&st->groups);
    rlar__learned_init(&st->groups, st->k, (rlar_search)rlar__param_int(params, "search"),
                       train->shared, &st->graph);
}

/* All buffers of the fit, in one place: measured first, carved second. */
static void state_carve(rlar_workspace *ws, void *arg) {
    state *st = arg;
    size_t targets = 0, edges = 0;
    if (!rlar__size_mul((size_t)st->c, sizeof(double), &targets))
        ws->overflow = true;
    st->t = rlar__carve(ws, st->n, targets);
    st->y = rlar__carve(ws, st->n, targets);
    st->dhat = rlar__carve(ws, st->n, sizeof(double));
    st->dtil = rlar__carve(ws, st->d, sizeof(double));
    st->value = rlar__carve(ws, st->n, sizeof(double));
    st->smooth = rlar__carve(ws, st->n, sizeof(double));
    rlar__learned_carve(ws, &st->groups, &st->graph);
    if (!rlar__size_mul((size_t)st->graph.v.stride, sizeof(double), &edges))
        ws->overflow = true;
    st->s = rlar__carve(ws, st->n, edges);
    rlar__wsolve_carve(ws, st->n, st->d, st->c, rlar__wsolve_prefers_dual(st->n, st->d),
                       &st->wsolver);
}

/* Smoothing of iteration t = 1 .. iters. */
static void set_smoothing(state *st, int64_t t) {
    if (st->solver == SOLVER_PAPER) {
        st->kernel = st->row_kernel = (rlar_kernel){RLAR_KERNEL_ADD, st->eps};
        return;
    }
    const double end = fmax(st->eps, ANNEAL_END);
    const double eps = fmax(pow(end, (double)t / (double)st->iters), end);
    st->kernel = (rlar_kernel){RLAR_KERNEL_SQRT, eps};
    st->row_kernel = (rlar_kernel){RLAR_KERNEL_SQRT, fmin(eps, ANNEAL_ROWS)};
}

/* ---- The steps of Algorithm 1 ---- */

/* D-hat = I, D-tilde = I, T = labels as 0/1; G and V from the samples themselves. */
static rlar_status initialise(rlar_ctx *ctx, state *st) {
    set_smoothing(st, 1);
    for (int64_t i = 0; i < st->n; i++)
        st->dhat[i] = 1.0;
    for (int64_t r = 0; r < st->d; r++)
        st->dtil[r] = 1.0;
    rlar__targets_one_hot(st->c, st->n, st->groups.label, st->t);
    return rlar__learned_start(ctx, &st->groups, st->d, st->x, &st->graph);
}

/* One task per SAMPLES_PER_TASK samples; for_each does the work of one of them. */
typedef struct sweep {
    state *st;
    void (*for_each)(state *st, int64_t j);
} sweep;

static rlar_status sweep_task(void *arg, int64_t task) {
    const sweep *s = arg;
    const int64_t start = task * SAMPLES_PER_TASK;
    for (int64_t j = start; j < start + SAMPLES_PER_TASK && j < s->st->n; j++)
        s->for_each(s->st, j);
    return RLAR_OK;
}

static rlar_status each_sample(rlar_ctx *ctx, state *st, void (*for_each)(state *st, int64_t j)) {
    sweep s = {.st = st, .for_each = for_each};
    return rlar__parallel(ctx, (st->n + SAMPLES_PER_TASK - 1) / SAMPLES_PER_TASK, sweep_task, &s);
}

/* Equal samples: their edge is the cheapest, hence chosen, but adds nothing to X L X^T [N4]. */
static bool same_sample(const state *st, int64_t j, int64_t m) {
    return rlar__distance2(st->d, st->x + j * st->d, st->x + m * st->d) == 0.0;
}

/* S = V / G with K inside [N1], as weights of (13). */
static void edge_weights(state *st, int64_t j) {
    const int64_t count = rlar__graph_count(&st->groups, st->k, j);
    for (int64_t e = j * st->graph.v.stride, end = e + count; e < end; e++) {
        const double g = st->graph.v.distance[e];
        /* Equal samples differ by rounding at most once projected; the outputs are of size 1. */
        const bool same =
            st->graph.twin[j] && g < 1e-6 && same_sample(st, j, st->graph.v.neighbour[e]);
        st->s[e] = same ? 0.0 : rlar__kernel_weight(st->kernel, g) / (double)st->k;
    }
}

/* S, and L = D - (S + S^T)/2. */
static rlar_status update_s(rlar_ctx *ctx, state *st) {
    RLAR_TRY(each_sample(ctx, st, edge_weights));
    return rlar__laplacian_build_classes(ctx, &st->groups, st->k, &st->graph.v, st->s,
                                         &st->graph.l);
}

/* (17) and (15). */
static rlar_status update_w_b(rlar_ctx *ctx, state *st, int *ridged) {
    const rlar_wproblem problem = {.n = st->n,
                                   .d = st->d,
                                   .c = st->c,
                                   .x = st->x,
                                   .t = st->t,
                                   .dhat = st->dhat,
                                   .dtil = st->dtil,
                                   .l = &st->graph.l,
                                   .groups = &st->groups,
                                   .alpha = st->alpha,
                                   .beta = st->beta};
    return rlar__wsolve(ctx, &problem, &st->wsolver, st->w, st->b, ridged);
}

/* Y = W^T X + b 1^T, then (22) with (25). */
static rlar_status update_t(rlar_ctx *ctx, state *st) {
    RLAR_TRY(rlar__targets_outputs(ctx, st->c, st->n, st->d, st->w, st->b, st->x, st->y));
    return rlar__retarget(ctx, st->c, st->n, st->y, st->groups.label, st->t);
}

/* G = ||W^T (x_j - x_m)|| and, from it, V by (18), (19). Y differs from W^T X by a shift only. The
 * local search takes no neighbour that is farther, so the objective falls as well [N19]. */
static rlar_status update_g_v(rlar_ctx *ctx, state *st) {
    return rlar__learned_renew(ctx, &st->groups, st->c, st->y, &st->graph);
}

static void residual_weight(state *st, int64_t i) {
    const double norm = sqrt(rlar__distance2(st->c, st->y + i * st->c, st->t + i * st->c));
    st->dhat[i] = rlar__kernel_weight(st->kernel, norm);
    st->value[i] = norm;
    st->smooth[i] = rlar__kernel_value(st->kernel, norm);
}

/* D-hat after T: the other order is not monotone [N6]. The regression and sparsity terms of (12)
 * come from the same norms. */
static rlar_status update_dhat_dtil(rlar_ctx *ctx, state *st, rlar_info *info) {
    double norms, smoothed;
    RLAR_TRY(each_sample(ctx, st, residual_weight));
    info->regression = rlar__sum(st->n, st->value);
    info->smoothed = rlar__sum(st->n, st->smooth);
    rlar__kernel_rows(st->row_kernel, st->d, st->c, st->w, st->dtil, &norms, &smoothed);
    info->sparsity = st->alpha * norms;
    info->smoothed += st->alpha * smoothed;
    return RLAR_OK;
}

/* ---- Measuring (12) ---- */

/* Sums over the edges of one sample. */
static void edge_lengths(state *st, int64_t j) {
    const int64_t count = rlar__graph_count(&st->groups, st->k, j);
    const double *g = st->graph.v.distance + j * st->graph.v.stride;
    st->value[j] = st->smooth[j] = 0.0;
    for (int64_t e = 0; e < count; e++) {
        st->value[j] += g[e];
        st->smooth[j] += rlar__kernel_value(st->kernel, g[e]);
    }
}

static rlar_status measure(rlar_ctx *ctx, state *st, int64_t t, double start, rlar_info *info) {
    const double factor = st->beta / (2.0 * (double)st->k);
    RLAR_TRY(each_sample(ctx, st, edge_lengths));
    info->locality = factor * rlar__sum(st->n, st->value);
    info->smoothed += factor * rlar__sum(st->n, st->smooth);
    info->eps = st->kernel.eps;
    return rlar__iteration_end(ctx, t, st->iters, start, info);
}

/* With shrinking eps a small decrease means nothing before eps has arrived. */
static bool converged(const state *st, int64_t t, double before, double now) {
    const bool arrived = st->solver == SOLVER_PAPER || t == st->iters;
    return st->tol > 0.0 && t > 1 && arrived && before - now <= st->tol * before;
}

static rlar_status algorithm_1(rlar_ctx *ctx, void *arg, rlar_info *info) {
    state *st = arg;
    const double start = rlar__now();
    info->dual = st->wsolver.dual;
    RLAR_TRY(initialise(ctx, st));
    for (int64_t t = 1; t <= st->iters && !info->converged; t++) {
        const double before = info->smoothed;
        RLAR_TRY(update_s(ctx, st));
        RLAR_TRY(update_w_b(ctx, st, &info->ridged));
        RLAR_TRY(update_t(ctx, st));
        RLAR_TRY(update_g_v(ctx, st));
        set_smoothing(st, t);
        RLAR_TRY(update_dhat_dtil(ctx, st, info));
        RLAR_TRY(measure(ctx, st, t, start, info));
        info->converged = converged(st, t, before, info->smoothed);
    }
    return RLAR_OK;
}

/* ---- The method ---- */

/* The worst news, as a warning; the others are in the info. */
static rlar_status verdict(rlar_ctx *ctx, const state *st, const rlar_info *info) {
    const rlar_status clamped = rlar__clamped_verdict(ctx, st->c, info);
    const rlar_status ridged = rlar__ridged_verdict(ctx, info, "alpha or eps");
    const rlar_status restless = rlar__tol_verdict(ctx, st->tol, st->iters, info);
    return restless ? restless : ridged ? ridged : clamped;
}

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    state st;
    state_init(&st, train, params);
    RLAR_TRY(rlar__map_new(ctx, st.d, st.c, out));
    st.w = out->w;
    st.b = out->b;
    info->neighbours = st.k;
    info->clamped = rlar__graph_clamped(&st.groups, st.k);
    if (st.graph.local)
        rlar__log(ctx, RLAR_OK,
                  "neighbours by local search%s: the largest class has %lld samples; search=exact "
                  "compares all pairs",
                  st.graph.local_first ? "" : " after an exact first graph",
                  (long long)rlar__largest_class(&st.groups));
    RLAR_TRY(rlar__run_in_workspace(ctx, state_carve, algorithm_1, &st, info));
    return verdict(ctx, &st, info);
}

/* The first graph, where it is searched exactly, depends on the samples and k only. */
static rlar_status prepare(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                           int64_t fits, void **shared) {
    state st;
    (void)fits;
    state_init(&st, train, params);
    return rlar__first_graph_new(ctx, &st.groups, &st.graph, st.d, st.x, shared);
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    state st;
    state_init(&st, sizes, params);
    RLAR_TRY(rlar__forecast_workspace(ctx, state_carve, &st, out));
    double pairs = 0.0;
    for (int64_t i = 0; i < st.c; i++) {
        const double count = (double)(st.groups.first[i + 1] - st.groups.first[i]);
        pairs += count * count;
    }
    const double n = (double)st.n, d = (double)st.d, c = (double)st.c;
    const double edges = n * (double)st.graph.v.stride;
    const double first =
        st.graph.local_first ? rlar__local_flops(&st.groups, st.k, st.d, false) : 3.0 * d * pairs;
    const double next =
        st.graph.local ? rlar__local_flops(&st.groups, st.k, st.c, true) : 3.0 * c * pairs;
    out->dual = st.wsolver.dual;
    out->flops = first + (double)st.iters * (rlar__wsolve_flops(st.n, st.d, st.c, out->dual) +
                                             2.0 * n * d * c + next + 6.0 * d * edges);
    return RLAR_OK;
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
    .outputs = rlar__outputs_classes,
    .fit = fit,
    .forecast = forecast,
    .prepare = prepare,
    .release = rlar__first_graph_free,
};
