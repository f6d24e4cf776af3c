/* sda.c - Sparse Discriminant Analysis: optimal scoring with an elastic net.
 *
 *   for k = 1, 2, ..: minimise over theta, beta
 *     (1/n) ||Y theta - X beta||^2 + gamma ||beta||^2 + lambda ||beta||_1
 *     subject to theta^T D theta = 1, theta^T D theta_l = 0 for l < k, theta^T D 1 = 0
 * with X the centred samples as rows, Y the class indicator and D = Y^T Y / n. The two are updated
 * in turn, each exactly, so the objective never rises; W = [beta_1 ..], b = -W^T mean.
 *
 * gamma = ridge / n and lambda = tau lambda_max, lambda_max = max_j 2 sqrt(sum_k C_jk^2 / D_k) with
 * C = X^T Y / n: from there on every beta vanishes. A direction that vanishes ends the list, and d
 * directions span everything: at most min(c - 1, d). The first theta is not drawn at random but the
 * leading eigenvector of what is left of C^T C, so that there is no seed. With up to MADE_ONCE
 * features per sample G = X^T X / n is made once (n d^2): all directions and iterations then cost
 * little. With more of them nothing of size d x d is made. */
#include "methods/method.h"

#include <math.h>
#include <string.h>

#include "solver/centre.h"
#include "solver/elastic_net.h"
#include "solver/reduce.h"
#include "solver/scatter.h"

static const rlar_param_def params_table[] = {
    {"ridge", RLAR_PARAM_REAL, 1.0, 1e-9, 1e12, NULL, "0.001,0.01,0.05,0.1,1", "0.05",
     "weight of the squared length of a direction, n gamma in the notation of the method"},
    {"tau", RLAR_PARAM_REAL, 0.01, 0.0, 1.0, NULL, "0.001,0.01,0.05,0.1,0.3", "0.001",
     "sparsity as a share of the value from which on nothing is left: larger keeps fewer features"},
    {"iters", RLAR_PARAM_INT, 30, 1, 1000000, NULL, NULL, "30", "iterations per direction"},
    {"tol", RLAR_PARAM_REAL, 1e-6, 0.0, 1.0, NULL, NULL, "0.000001",
     "stop when a direction moves by less than this share of its length, both squared"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

/* Features per sample from which on G costs more than it saves: measured between 6 and 12. */
enum { MADE_ONCE = 6 };
static const double NO_SCORE = 1e-12; /* length of a score that is rounding only */
/* Share of the leading eigenvalue below which the classes have no direction left. */
static const double NO_DIRECTION = 1e-20;

typedef struct state {
    const rlar_train *train;
    rlar_map *map;      /* the outcome */
    int64_t n, d, c, q; /* q: the most directions */
    double tol, tau;
    int64_t iters;
    rlar_enet en;
    double *centred;     /* d x n; n x d once transposed */
    double *gram;        /* d x d, where it is made */
    double *mean;        /* d */
    double *cross;       /* d x c: C */
    double *ridges;      /* d x c: (G + gamma I)^-1 C, likewise */
    double *ridge;       /* d: the same times theta, likewise */
    double *share;       /* c: diagonal of D */
    double *pull;        /* c x c: D^-1/2 C^T C D^-1/2 without the directions found */
    double *left;        /* c x c: a copy to be destroyed */
    rlar_eig_room eigen; /* of that */
    double most;         /* the trace of the first: no less than its leading eigenvalue */
    double *scores;      /* c x c: the ones, then theta_1, theta_2, .. */
    double *theta, *raw; /* c */
    double *g, *before;  /* d: C theta, the beta of the iteration before */
    double *w;           /* d x q */
    int64_t found;       /* directions in w */
    int64_t restless;    /* directions that did not converge */
    int64_t unsolved;    /* elastic nets that did not */
    double done;         /* sum of the objectives of the directions found */
} state;

static int64_t outputs(const rlar_train *train, const rlar_params *params) {
    (void)params;
    return train->c - 1 < train->d ? train->c - 1 : train->d;
}

static state state_new(const rlar_train *train, const rlar_params *params) {
    const int64_t n = train->n, d = train->d;
    return (state){.train = train,
                   .n = n,
                   .d = d,
                   .c = train->c,
                   .q = outputs(train, params),
                   .tol = rlar__param(params, "tol"),
                   .iters = rlar__param_int(params, "iters"),
                   .en = {.n = n,
                          .d = d,
                          .covariance = d / MADE_ONCE <= n,
                          .gamma = rlar__param(params, "ridge") / (double)n,
                          .lambda = rlar__param(params, "tau")}}; /* times lambda_max, later */
}

static void state_carve(rlar_workspace *ws, void *arg) {
    state *st = arg;
    size_t feature = 0, class = 0;
    if (!rlar__size_mul((size_t)st->d, sizeof(double), &feature) ||
        !rlar__size_mul((size_t)st->c, sizeof(double), &class))
        ws->overflow = true;
    st->centred = rlar__carve(ws, st->n, feature);
    st->gram = rlar__carve(ws, st->en.covariance ? st->d : 0, feature);
    st->mean = rlar__carve(ws, 1, feature);
    st->cross = rlar__carve(ws, st->c, feature);
    st->ridges = rlar__carve(ws, st->en.covariance ? st->c : 0, feature);
    st->ridge = rlar__carve(ws, st->en.covariance ? 1 : 0, feature);
    st->share = rlar__carve(ws, 1, class);
    st->pull = rlar__carve(ws, st->c, class);
    st->left = rlar__carve(ws, st->c, class);
    rlar__eig_carve(ws, st->c, &st->eigen);
    st->eigen.all = rlar__carve(ws, st->c, class);
    st->scores = rlar__carve(ws, st->c, class);
    st->theta = rlar__carve(ws, 1, class);
    st->raw = rlar__carve(ws, 1, class);
    st->g = rlar__carve(ws, 1, feature);
    st->before = rlar__carve(ws, 1, feature);
    st->w = rlar__carve(ws, st->q, feature);
    rlar__enet_carve(ws, &st->en);
}

/* ---- Set-up ---- */

/* C, D and D^-1/2 C^T C D^-1/2 with its trace. */
static rlar_status class_part(rlar_ctx *ctx, state *st) {
    const int64_t d = st->d, c = st->c, *first = st->train->first;
    rlar__class_means(d, c, first, st->centred, st->cross);
    for (int64_t k = 0; k < c; k++) {
        st->share[k] = (double)(first[k + 1] - first[k]) / (double)st->n;
        st->scores[k] = 1.0;
        for (int64_t j = 0; j < d; j++)
            st->cross[k * d + j] *= st->share[k];
    }
    RLAR_TRY(rlar__project(ctx, c, c, d, st->cross, st->cross, st->pull));
    for (int64_t k = 0; k < c; k++)
        for (int64_t l = 0; l < c; l++)
            st->pull[k * c + l] /= sqrt(st->share[k] * st->share[l]);
    for (int64_t k = 0; k < c; k++)
        st->most += st->pull[k * c + k];
    return RLAR_OK;
}

static double lambda_max(const state *st) {
    double largest = 0.0;
    for (int64_t j = 0; j < st->d; j++) {
        double sum = 0.0;
        for (int64_t k = 0; k < st->c; k++)
            sum += st->cross[k * st->d + j] * st->cross[k * st->d + j] / st->share[k];
        largest = fmax(largest, sum);
    }
    return 2.0 * sqrt(largest);
}

/* G, both triangles. */
static rlar_status make_gram(rlar_ctx *ctx, state *st) {
    const int64_t d = st->d;
    RLAR_TRY(rlar__gram_outer(ctx, &st->en.partials, d, st->n, st->centred, st->centred, st->gram));
    for (int64_t j = 0; j < d; j++)
        for (int64_t i = j; i < d; i++) {
            st->gram[j * d + i] /= (double)st->n;
            st->gram[i * d + j] = st->gram[j * d + i];
        }
    st->en.gram = st->gram;
    return RLAR_OK;
}

/* A feature contiguous instead of a sample; the elastic net's own copy is not in use yet. */
static void transpose(state *st) {
    memcpy(st->en.xs, st->centred, (size_t)(st->n * st->d) * sizeof *st->centred);
    for (int64_t start = 0; start < st->d; start += 32) /* in strips that stay in the cache */
        for (int64_t i = 0; i < st->n; i++)
            for (int64_t j = start; j < start + 32 && j < st->d; j++)
                st->centred[j * st->n + i] = st->en.xs[i * st->d + j];
    st->en.x = st->centred;
}

static rlar_status prepare(rlar_ctx *ctx, state *st) {
    rlar__centre(st->train->x, st->d, st->n, st->mean, st->centred);
    RLAR_TRY(class_part(ctx, st));
    st->en.lambda *= lambda_max(st);
    if (st->en.covariance)
        RLAR_TRY(make_gram(ctx, st));
    else
        transpose(st);
    RLAR_TRY(rlar__enet_prepare(ctx, &st->en));
    if (!st->en.covariance)
        return RLAR_OK;
    st->en.ridge = st->ridge;
    return rlar__enet_ridges(ctx, &st->en, st->c, st->cross, st->ridges);
}

/* ---- One direction ---- */

/* g = C theta, and the solution for lambda = 0 where it is as cheap. */
static void target(state *st) {
    rlar__enet_times(st->d, st->c, st->cross, st->theta, st->g);
    if (st->en.covariance)
        rlar__enet_times(st->d, st->c, st->ridges, st->theta, st->ridge);
}

static double score_product(const state *st, const double *a, const double *b) {
    double sum = 0.0;
    for (int64_t k = 0; k < st->c; k++)
        sum += st->share[k] * a[k] * b[k];
    return sum;
}

/* raw without the ones and the scores found, twice: once is not enough for many classes. Its
 * length. */
static double orthogonal(state *st) {
    const int64_t have = st->found + 1;
    for (int64_t twice = 0; twice < 2 * have; twice++) {
        const double *score = st->scores + twice % have * st->c;
        const double part = score_product(st, st->raw, score);
        for (int64_t k = 0; k < st->c; k++)
            st->raw[k] -= part * score[k];
    }
    return sqrt(score_product(st, st->raw, st->raw));
}

/* pull <- Pi pull Pi, Pi = I - D^1/2 q q^T D^1/2 with q the last score, which the matrix still has:
 * from both sides. */
static void deflate(state *st) {
    const int64_t c = st->c;
    const double *score = st->scores + st->found * c;
    for (int64_t k = 0; k < c; k++)
        st->raw[k] = sqrt(st->share[k]) * score[k];
    for (int64_t side = 0; side < 2; side++) {
        const int64_t along = side ? c : 1, across = side ? 1 : c;
        for (int64_t l = 0; l < c; l++) {
            double *line = st->pull + l * across, part = 0.0;
            for (int64_t k = 0; k < c; k++)
                part += st->raw[k] * line[k * along];
            for (int64_t k = 0; k < c; k++)
                line[k * along] -= part * st->raw[k];
        }
    }
}

/* The theta that the class means pull at most among those that are left; *none: they do not pull.
 * The entry of largest modulus is positive. */
static rlar_status start_scores(rlar_ctx *ctx, state *st, bool *none) {
    double value;
    deflate(st);
    memcpy(st->left, st->pull, (size_t)(st->c * st->c) * sizeof *st->left);
    RLAR_TRY(rlar__eig_top_in(ctx, &st->eigen, st->c, st->left, 1, &value, st->raw));
    for (int64_t k = 0; k < st->c; k++)
        st->raw[k] /= sqrt(st->share[k]);
    const double length = orthogonal(st);
    *none = !(value > NO_DIRECTION * st->most && length > NO_SCORE);
    for (int64_t k = 0; k < st->c; k++)
        st->theta[k] = *none ? 0.0 : st->raw[k] / length;
    rlar__fix_signs(st->c, 1, st->theta);
    return RLAR_OK;
}

/* theta = D^-1 C^T beta, orthogonal and of length 1; false when nothing is left of it. */
static bool update_theta(state *st, const double *beta) {
    rlar__enet_transposed(st->d, st->c, st->cross, beta, st->raw);
    for (int64_t k = 0; k < st->c; k++)
        st->raw[k] /= st->share[k];
    const double length = orthogonal(st);
    if (!(length >= NO_SCORE))
        return false;
    for (int64_t k = 0; k < st->c; k++)
        st->theta[k] = st->raw[k] / length;
    return true;
}

/* Zero, or the solution for lambda = 0 when it is better: there the result has most features. */
static void start_beta(state *st, double *beta) {
    if (st->en.covariance)
        memcpy(beta, st->ridge, (size_t)st->d * sizeof *beta);
    else
        rlar__enet_ridge(&st->en, st->g, beta);
    if (!(rlar__enet_value(&st->en, st->g, beta) < 0.0))
        memset(beta, 0, (size_t)st->d * sizeof *beta);
}

static bool is_zero(int64_t d, const double *beta) {
    int64_t j = 0;
    while (j < d && beta[j] == 0.0)
        j++;
    return j == d;
}

/* The objective of this direction, 1 + f(beta) for the old theta, at the new theta. */
static double moved_objective(state *st, const double *beta, double value) {
    const double before = rlar__dot(st->d, st->g, beta);
    target(st);
    return 1.0 + value + 2.0 * (before - rlar__dot(st->d, st->g, beta));
}

static rlar_status report(rlar_ctx *ctx, const state *st, int64_t t, double start,
                          rlar_info *info) {
    info->iterations++;
    info->seconds = rlar__now() - start;
    if (!isfinite(info->objective))
        return rlar__fail(ctx, RLAR_E_NUMERIC,
                          "the objective is not finite in direction %lld; scale the data or raise "
                          "ridge",
                          (long long)st->found + 1);
    return rlar__report(ctx, RLAR_EVENT_ITERATION, st->found * st->iters + t, st->q * st->iters,
                        info);
}

/* The next column of w; *vanished: there is none. */
static rlar_status direction(rlar_ctx *ctx, state *st, double start, rlar_info *info,
                             bool *vanished) {
    double *beta = st->w + st->found * st->d, objective = 1.0;
    bool settled = false;
    RLAR_TRY(start_scores(ctx, st, vanished));
    target(st);
    start_beta(st, beta);
    memset(st->before, 0, (size_t)st->d * sizeof *beta);
    for (int64_t t = 1; t <= st->iters && !settled && !*vanished; t++) {
        rlar_enet_result result;
        RLAR_TRY(rlar__enet_solve(ctx, &st->en, st->g, beta, &result));
        st->unsolved += !result.solved;
        *vanished = is_zero(st->d, beta);
        if (*vanished)
            break;
        settled = !update_theta(st, beta);
        objective = moved_objective(st, beta, result.value);
        info->objective = st->done + objective;
        const double moved = rlar__distance2(st->d, beta, st->before);
        settled = settled || moved < st->tol * rlar__dot(st->d, beta, beta);
        memcpy(st->before, beta, (size_t)st->d * sizeof *beta);
        RLAR_TRY(report(ctx, st, t, start, info));
    }
    if (*vanished)
        return RLAR_OK;
    st->restless += !settled;
    st->done += objective;
    st->found++;
    memcpy(st->scores + st->found * st->c, st->theta, (size_t)st->c * sizeof *st->theta);
    return RLAR_OK;
}

/* ---- The method ---- */

static rlar_status directions(rlar_ctx *ctx, state *st, rlar_info *info) {
    const double start = rlar__now();
    bool vanished = false;
    RLAR_TRY(prepare(ctx, st));
    while (st->found < st->q && !vanished)
        RLAR_TRY(direction(ctx, st, start, info, &vanished));
    info->objective = st->done;
    info->dual = !st->en.covariance;
    info->ridged = st->en.ridged;
    info->converged = st->restless == 0;
    if (st->found > 0)
        return RLAR_OK;
    return rlar__fail(ctx, RLAR_E_NUMERIC,
                      "no feature is left with tau = %g: every direction is zero; lower tau, "
                      "or see whether the class means differ at all",
                      st->tau);
}

static rlar_status verdict(rlar_ctx *ctx, const state *st, const rlar_info *info) {
    if (st->unsolved > 0)
        rlar__log(ctx, RLAR_W_NOT_CONVERGED,
                  "%lld elastic nets were not solved to full accuracy; raise ridge",
                  (long long)st->unsolved);
    if (st->tol > 0.0 && st->restless > 0)
        rlar__log(ctx, RLAR_W_NOT_CONVERGED,
                  "%lld of %lld directions did not reach tol = %g in %lld iterations; raise iters",
                  (long long)st->restless, (long long)st->found, st->tol, (long long)st->iters);
    if (st->unsolved > 0 || (st->tol > 0.0 && st->restless > 0))
        return RLAR_W_NOT_CONVERGED;
    return rlar__ridged_verdict(ctx, info, "ridge");
}

static rlar_status make_map(rlar_ctx *ctx, void *arg, rlar_info *info) {
    state *st = arg;
    RLAR_TRY(directions(ctx, st, info));
    RLAR_TRY(rlar__map_new(ctx, st->d, st->found, st->map));
    memcpy(st->map->w, st->w, (size_t)(st->d * st->found) * sizeof *st->w);
    rlar__fix_signs(st->d, st->found, st->map->w);
    for (int64_t k = 0; k < st->found; k++)
        st->map->b[k] = -rlar__dot(st->d, st->map->w + k * st->d, st->mean);
    return RLAR_OK;
}

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    state st = state_new(train, params);
    st.map = out;
    st.tau = rlar__param(params, "tau");
    RLAR_TRY(rlar__run_in_workspace(ctx, state_carve, make_map, &st, info));
    return verdict(ctx, &st, info);
}

/* Guesses. Without G five iterations per direction, three Newton steps each, half of the features
 * in use. With G twenty iterations, each as long as 100 d^2 operations of a matrix product: it
 * reads the matrix from memory, and little more. */
static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    state st = state_new(sizes, params);
    RLAR_TRY(rlar__forecast_workspace(ctx, state_carve, &st, out));
    const double n = (double)st.n, d = (double)st.d, small = fmin(n, d);
    const double newton = small * small * (d / 2.0 + small / 3.0) + 40.0 * n * d;
    const double exchanges = 20.0 * 100.0 * d * d;
    out->dual = !st.en.covariance;
    out->flops = n * d * small + (double)st.q * (st.en.covariance ? exchanges : 15.0 * newton);
    return RLAR_OK;
}

const rlar_method rlar__method_sda = {
    .def = {.name = "sda",
            .title = "Sparse Discriminant Analysis",
            .cite = "L. Clemmensen, T. Hastie, D. Witten and B. Ersboll, Sparse Discriminant "
                    "Analysis, Technometrics 53(4), 2011",
            .about = "Optimal scoring: the classes are given numbers that a sparse linear function "
                     "of the features can predict, by an elastic net, one direction after another. "
                     "At most c - 1 outputs; directions in which nothing is left are left out.",
            .scores = "Euclidean norm of the feature's row of W, the coefficients of all "
                      "directions; exactly 0 where no direction uses the feature",
            .params = params_table,
            .source =
                "confirmed by the paper; the start of the scores is ours (the published one "
                "is random), and so is the choice of ridge and tau, the single setting nearest "
                "to the RLAR paper's numbers",
            .regression = 0},
    .outputs = outputs,
    .fit = fit,
    .forecast = forecast,
};
