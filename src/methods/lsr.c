/* lsr.c - least squares on 0/1 targets.
 *
 *   minimise over W, b   ||W^T X + b 1^T - Y||_F^2,   W of least norm
 *
 * where Y (c x n) has one 1 per sample. With the centred samples and targets:
 *
 *   W = (Xc^T)^+ Yc^T,   b = class shares - W^T mean
 *
 * By Cholesky of the smaller Gram matrix where that is far from singular (condition.h), else by the
 * thin SVD, which leaves the numerical null space out. What comes from a Gram matrix has lost
 * digits: the same step is taken again for the residual Y - W^T X - b 1^T, which gets them back
 * (about 2^-52 times the condition, at most 1e9, of W is wrong after the first step and the square
 * of it after the second: less than rounding of the samples does to W). W stays in the span of Xc.
 * n d^2 + d^3/3 or n^2 d + n^3/3, with the SVD about 4 n d^2 or 4 n^2 d, and 4 n d c for each step.
 */
#include "methods/method.h"

#include <string.h>

#include "linalg/linalg.h"
#include "solver/least.h"
#include "solver/targets.h"

static const rlar_param_def params_table[] = {
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

/* An error of at most 1e-6 (the reduction by eigenvalues trusts them down to 1e-10) is squared. */
enum { STEPS = 2 };

typedef struct state {
    const rlar_train *train;
    rlar_map *map; /* the outcome */
    rlar_reduced reduced;
    double *t, *e; /* c x n: targets, outputs and then residuals */
    double *step;  /* r x c: scratch of a step */
    double *more;  /* d x c: what it adds to W */
    double *share; /* c: class sizes / n */
    double *value; /* n: terms of a sum over samples */
    rlar_partials partials;
} state;

static void state_carve(rlar_workspace *ws, void *arg) {
    state *st = arg;
    const int64_t n = st->train->n, d = st->train->d, c = st->train->c;
    const int64_t r = rlar__least_rows(d, rlar__reduction_samples(st->train));
    st->t = rlar__carve(ws, n * c, sizeof *st->t);
    st->e = rlar__carve(ws, n * c, sizeof *st->e);
    st->step = rlar__carve(ws, r * c, sizeof *st->step);
    st->more = rlar__carve(ws, d * c, sizeof *st->more);
    st->share = rlar__carve(ws, c, sizeof *st->share);
    st->value = rlar__carve(ws, n, sizeof *st->value);
    rlar__partials_carve_samples(ws, st->train->blocks, n, r, c, &st->partials);
}

static void set_share(state *st) {
    const rlar_groups groups = rlar__train_groups(st->train);
    for (int64_t k = 0; k < st->train->c; k++)
        st->share[k] =
            (double)rlar__class_size(&groups, k) / (double)rlar__train_samples(st->train);
}

/* E = Y - W^T X - b 1^T; for W = 0, where b is the share, without the product. */
static rlar_status residuals(rlar_ctx *ctx, state *st, const rlar_map *map, bool zero) {
    const int64_t n = st->train->n, c = st->train->c;
    if (!zero)
        RLAR_TRY(rlar__targets_outputs(ctx, st->train->blocks, c, n, map->d, map->w, map->b,
                                       st->train->x, st->e));
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < c; k++)
            st->e[i * c + k] = st->t[i * c + k] - (zero ? st->share[k] : st->e[i * c + k]);
    return RLAR_OK;
}

/* W += (Xc^T)^+ E^T;  b = share - W^T mean. */
static rlar_status improve(rlar_ctx *ctx, state *st, rlar_map *map) {
    const int64_t c = map->p;
    RLAR_TRY(rlar__least_step(ctx, &st->reduced, &st->partials, c, st->e, st->step, st->more));
    for (int64_t i = 0; i < map->d * c; i++)
        map->w[i] += st->more[i];
    rlar__reduce_offset(&st->reduced, c, map->w, map->b);
    for (int64_t k = 0; k < c; k++)
        map->b[k] += st->share[k];
    return RLAR_OK;
}

static rlar_status solve(rlar_ctx *ctx, void *arg, rlar_info *info) {
    state *st = arg;
    rlar_map *map = st->map;
    const int64_t n = st->train->n, c = st->train->c;
    rlar__targets_one_hot(c, n, st->train->label, st->t);
    set_share(st);
    memset(map->w, 0, (size_t)(map->d * c) * sizeof *map->w);
    for (int k = 0; k < STEPS; k++) {
        RLAR_TRY(residuals(ctx, st, map, k == 0));
        RLAR_TRY(improve(ctx, st, map));
        RLAR_TRY(rlar__poll(ctx));
    }
    RLAR_TRY(rlar__targets_outputs(ctx, st->train->blocks, c, n, map->d, map->w, map->b,
                                   st->train->x, st->e));
    RLAR_TRY(rlar__targets_loss(ctx, st->train->blocks, c, n, st->e, st->t, st->value,
                                &info->regression));
    info->objective = info->smoothed = info->regression;
    return RLAR_OK;
}

/* Over ranks there is the d x d form only. */
static bool dual(const rlar_train *train) {
    return train->n < train->d && !(train->blocks && train->blocks->ranks);
}

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    (void)params;
    state st = {.train = train, .map = out};
    RLAR_TRY(rlar__map_new(ctx, train->d, train->c, out));
    info->dual = dual(train);
    info->converged = 1;
    RLAR_TRY(rlar__normal_factored(ctx, train->blocks, train->x, train->d, train->n, &st.reduced));
    const rlar_status status = rlar__run_in_workspace(ctx, state_carve, solve, &st, info);
    rlar__reduce_free(&st.reduced);
    return status;
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    (void)params;
    const int64_t many = rlar__reduction_samples(sizes);
    const double n = (double)many, d = (double)sizes->d, c = (double)sizes->c;
    const double small = n < d ? n : d;
    state st = {.train = sizes};
    RLAR_TRY(rlar__forecast_workspace(ctx, state_carve, &st, out));
    /* The reduction at its peak, or what it leaves beside the workspace. */
    const int64_t peak = rlar__reduce_lean_bytes(sizes->d, many);
    out->bytes += rlar__reduce_held(sizes->d, many, sizes->c);
    out->bytes = (out->bytes > peak ? out->bytes : peak) +
                 rlar__whole_bytes(rlar__reduction_partials(sizes));
    out->dual = dual(sizes);
    out->flops = small * (n * d + small * small / 3.0) + STEPS * 4.0 * n * d * c;
    return RLAR_OK;
}

/* All of it once: the reduction, Z E^T in every step, and the loss. */
static void talk(const rlar_train *sizes, const rlar_params *params, rlar_talk *out) {
    (void)params;
    const double r = (double)rlar__reduce_rank(sizes->d, rlar__train_samples(sizes));
    rlar__reduce_talk(sizes->d, &out->once);
    for (int k = 0; k < STEPS; k++)
        rlar__exchange_sum(&out->once, r * (double)sizes->c);
    rlar__exchange_sum(&out->once, 1.0);
}

const rlar_method rlar__method_lsr = {
    .def = {.name = "lsr",
            .title = "Least Squares Regression",
            .cite = "T. Hastie, R. Tibshirani and J. Friedman, The Elements of Statistical "
                    "Learning, 2nd edition, section 4.2, Springer, 2009",
            .about = "Least squares on 0/1 class targets with a free offset; of all solutions the "
                     "one of least norm. Fits the training samples exactly when there are more "
                     "features than samples.",
            .scores = "Euclidean norm of the feature's row of W; no row is exactly 0",
            .params = params_table,
            .source = "confirmed: the textbook formula; the paper's tables have no row for it",
            .regression = 1},
    .ranks = true,
    .outputs = rlar__outputs_classes,
    .fit = fit,
    .forecast = forecast,
    .talk = talk,
};
