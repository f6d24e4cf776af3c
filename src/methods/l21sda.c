/* l21sda.c - Sparse Discriminant Analysis with an L2,1 penalty.
 *
 *   minimise over B, Th   ||B^T Xc - Th^T Y||_F^2 + lambda sum_r ||b_r||
 *   subject to            Th^T diag(p) Th = I,   p^T Th = 0
 *
 * B d x q, Th c x q class scores, q = c - 1, p the class shares, Y c x n 0/1 labels, Xc centred.
 * Norms are smoothed: D_rr = 1/sqrt(||b_r||^2 + eps^2). Starting with D = I, repeat
 *   1. B = (Xc Xc^T + lambda/2 D)^-1 Xc (Th^T Y)^T   (solver/kept_gram.h; n < d: solver/wsolve.h)
 *   2. Th = diag(p)^-1/2 U V^T from the thin SVD  F = diag(p)^-1/2 Y Xc^T B = U diag(s) V^T
 *   3. D from B
 *
 * Option loss=l21: the first term is sum_i ||b + B^T x_i - th_(l_i)||, smoothed in the same way.
 * Its majoriser at the last iterate weighs sample i by v_i = 1/sqrt(||residual||^2 + eps^2), 1 at
 * first. So step 1 has the weights v, lambda in place of lambda/2, and a free offset, which centres
 * X and Th^T Y by their weighted means; F sums v_i times the outputs, and its part along sqrt(p) is
 * taken out. Step 2 stays the exact minimiser: q = c - 1 scores leave no choice of
 * Th Th^T = diag(1/p) - 1 1^T, so the term sum_i v_i ||th_(l_i)||^2 is constant. The offset that is
 * returned gives the outputs the weighted mean 0.
 *
 * No step raises the smoothed objective. Where F has no full rank (c - 1 > d, lambda very large)
 * the scores are not determined by it, and Th stays. Signs are fixed at the end only: changing the
 * sign of a column of Th changes that of B and nothing else. n d^2 once and d^3/3 per iteration, or
 * for n < d n^2 d + n^3/3 per iteration. */
#include "methods/method.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "solver/held.h"
#include "solver/kept_gram.h"
#include "solver/reweight.h"
#include "solver/scatter.h"
#include "solver/targets.h"
#include "solver/wsolve.h"

static const rlar_param_def params_table[] = {
    {"lambda", RLAR_PARAM_REAL, 3.0, 1e-12, 1e12, NULL,
     "0.001,0.005,0.01,0.05,0.1,0.5,1,10,100,1000", "1",
     "weight of the row-sparsity of W: larger keeps fewer features"},
    {"iters", RLAR_PARAM_INT, 30, 1, 1000000, NULL, NULL, "30", "iterations"},
    {"eps", RLAR_PARAM_REAL, 1e-8, 1e-15, 1.0, NULL, NULL, "1e-8", "smoothing of the norms"},
    {"loss", RLAR_PARAM_CHOICE, 0, 0, 1, "squared|l21", NULL, "squared",
     "squared residuals, or their L2,1 norm: then samples that do not fit count less"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

enum { LOSS_SQUARED = 0, LOSS_L21 = 1 };

/* Singular values below this share of the first, or of the outputs that F was made of, leave the
 * scores undetermined: outputs that differ by rounding only have an F of rounding. */
static const double FULL_RANK = 1e-12;

typedef struct state {
    int64_t n, d, c, q;
    const double *x;
    rlar_groups groups;
    double lambda;
    rlar_kernel kernel;
    int64_t iters;
    int loss;
    double *w, *b;       /* d x q, q: the caller's */
    double *share;       /* c: p */
    double *theta;       /* c x q */
    double *f, *u;       /* c x q */
    double *s, *vt;      /* q, q x q */
    rlar_svd_room svd;   /* of f */
    double *t, *y;       /* q x n: scores of the samples, outputs */
    double *dhat, *dtil; /* n: v, ones for the squared loss; d: D */
    double *value;       /* n: terms of a sum over samples */
    bool dual, still; /* n x n systems; the Gram matrix stays, so that kept solves, not wsolver */
    rlar_wsolver wsolver;
    rlar_kept_gram kept;
    double *sums; /* d x c, with kept: Xc Y^T */
    rlar_held held;
    double *pull; /* q x n: room */
} state;

/* ---- Set-up ---- */

static void state_init(state *st, const rlar_train *train, const rlar_params *params) {
    *st = (state){.n = train->n,
                  .d = train->d,
                  .c = train->c,
                  .q = train->c - 1,
                  .dual = train->n < train->d,
                  .x = train->x,
                  .groups = rlar__train_groups(train),
                  .lambda = rlar__param(params, "lambda"),
                  .kernel = {RLAR_KERNEL_SQRT, rlar__param(params, "eps")},
                  .iters = rlar__param_int(params, "iters"),
                  .loss = (int)rlar__param_int(params, "loss")};
    st->still = !st->dual && st->loss == LOSS_SQUARED;
}

static void state_carve(rlar_workspace *ws, void *arg) {
    state *st = arg;
    const int64_t n = st->n, d = st->d, c = st->c, q = st->q;
    st->share = rlar__carve(ws, c, sizeof *st->share);
    st->theta = rlar__carve(ws, c * q, sizeof *st->theta);
    st->f = rlar__carve(ws, c * q, sizeof *st->f);
    st->u = rlar__carve(ws, c * q, sizeof *st->u);
    st->s = rlar__carve(ws, q, sizeof *st->s);
    st->vt = rlar__carve(ws, q * q, sizeof *st->vt);
    rlar__svd_carve(ws, c, q, &st->svd);
    st->t = rlar__carve(ws, n * q, sizeof *st->t);
    st->y = rlar__carve(ws, n * q, sizeof *st->y);
    st->dhat = rlar__carve(ws, n, sizeof *st->dhat);
    st->dtil = rlar__carve(ws, d, sizeof *st->dtil);
    st->value = rlar__carve(ws, n, sizeof *st->value);
    st->kept.n = st->still ? n : 0;
    st->kept.d = d;
    rlar__kept_gram_carve(ws, &st->kept);
    st->sums = rlar__carve(ws, st->still ? d * c : 0, sizeof *st->sums);
    if (!st->still)
        rlar__wsolve_carve(ws, &st->groups, d, q, st->dual, &st->wsolver);
    rlar__held_carve(ws, NULL, n, d, q, &st->held);
    st->pull = st->still ? rlar__carve(ws, n * q, sizeof *st->pull) : st->wsolver.tw;
}

/* T = Th^T Y. */
static void set_targets(state *st) {
    for (int64_t i = 0; i < st->n; i++)
        for (int64_t j = 0; j < st->q; j++)
            st->t[i * st->q + j] = st->theta[j * st->c + st->groups.label[i]];
}

/* Th of the QR factorisation of [sqrt(p), e_1, .., e_q], without its first column. Orthogonal to
 * sqrt(p) and e_1 .. e_(j-1), column j has the closed form below, with S_j = p_j + .. + p_c: class
 * j against all that come after it. */
static void initial_scores(state *st) {
    const int64_t c = st->c;
    memset(st->theta, 0, (size_t)(c * st->q) * sizeof *st->theta);
    for (int64_t k = 0; k < c; k++)
        st->share[k] = (double)(st->groups.first[k + 1] - st->groups.first[k]) / (double)st->n;
    for (int64_t j = 0; j < st->q; j++) {
        const double before = (double)(st->n - st->groups.first[j]) / (double)st->n;
        const double after = (double)(st->n - st->groups.first[j + 1]) / (double)st->n;
        st->theta[j * c + j] = sqrt(after / (before * st->share[j]));
        for (int64_t k = j + 1; k < c; k++)
            st->theta[j * c + k] = -sqrt(st->share[j] / (before * after));
    }
}

static void initialise(state *st) {
    for (int64_t i = 0; i < st->n; i++)
        st->dhat[i] = 1.0;
    for (int64_t r = 0; r < st->d; r++)
        st->dtil[r] = 1.0;
    memset(st->y, 0, (size_t)(st->n * st->q) * sizeof *st->y);
    initial_scores(st);
    set_targets(st);
}

/* ---- The steps ---- */

/* The Gram matrix and Xc Y^T, which stay. */
static rlar_status start_kept(rlar_ctx *ctx, state *st) {
    const int64_t *first = st->groups.first;
    RLAR_TRY(rlar__kept_gram_start(ctx, &st->kept, st->x));
    rlar__class_means(st->d, st->c, first, st->kept.xc, st->sums);
    for (int64_t k = 0; k < st->c; k++)
        for (int64_t r = k * st->d; r < (k + 1) * st->d; r++)
            st->sums[r] *= (double)(first[k + 1] - first[k]);
    return RLAR_OK;
}

static rlar_status solve_kept(rlar_ctx *ctx, state *st, int *ridged) {
    RLAR_TRY(rlar__multiply(ctx, st->d, st->q, st->c, st->sums, st->theta, st->w));
    return rlar__kept_gram_solve(ctx, &st->kept, 0.5 * st->lambda, st->dtil, st->q, st->w, ridged);
}

/* Step 1 as the weighted solve. */
static rlar_wproblem weighted_problem(const state *st) {
    return (rlar_wproblem){.n = st->n,
                           .d = st->d,
                           .c = st->q,
                           .x = st->x,
                           .t = st->t,
                           .dhat = st->dhat,
                           .dtil = st->dtil,
                           .groups = &st->groups,
                           .alpha = (st->loss == LOSS_L21 ? 1.0 : 0.5) * st->lambda};
}

/* b = -B^T mean: the scores have the mean 0. */
static void set_offset(state *st) {
    const double *mean = st->still ? st->kept.mean : st->wsolver.mu;
    for (int64_t j = 0; j < st->q; j++)
        st->b[j] = -rlar__dot(st->d, st->w + j * st->d, mean);
}

static rlar_status outputs_of(rlar_ctx *ctx, state *st) {
    return rlar__targets_outputs(ctx, NULL, st->q, st->n, st->d, st->w, st->b, st->x, st->y);
}

/* B and its outputs. A step that rounding makes worse than none is cut (held.h). */
static rlar_status update_b(rlar_ctx *ctx, state *st, int *ridged) {
    const rlar_wproblem problem = weighted_problem(st);
    bool cut;
    rlar__held_keep(&st->held, st->d, st->q, st->w, st->b, &st->y);
    RLAR_TRY(st->still ? solve_kept(ctx, st, ridged)
                       : rlar__wsolve(ctx, &problem, &st->wsolver, st->w, st->b, ridged));
    if (st->still)
        set_offset(st);
    RLAR_TRY(outputs_of(ctx, st));
    RLAR_TRY(rlar__held_back(ctx, &problem, &st->held, st->y, st->pull, st->w, st->b, &cut));
    return cut ? outputs_of(ctx, st) : RLAR_OK;
}

/* F = diag(p)^-1/2 Y diag(v) (outputs): weighted outputs summed by class. Its part along sqrt(p),
 * for the squared loss only rounding, is taken out. Returns the size of what was summed. */
static double class_sums(state *st) {
    const int64_t c = st->c;
    double size = 0.0;
    memset(st->f, 0, (size_t)(c * st->q) * sizeof *st->f);
    for (int64_t i = 0; i < st->n; i++)
        for (int64_t j = 0; j < st->q; j++) {
            const double term = st->dhat[i] * st->y[i * st->q + j];
            st->f[j * c + st->groups.label[i]] += term;
            size += fabs(term);
        }
    for (int64_t j = 0; j < st->q; j++) {
        double *f = st->f + j * c, along = 0.0;
        for (int64_t k = 0; k < c; k++) {
            along += f[k];
            f[k] /= sqrt(st->share[k]);
        }
        for (int64_t k = 0; k < c; k++)
            f[k] -= sqrt(st->share[k]) * along;
    }
    return size;
}

/* p^T Th = 0 again: where F is near losing rank, which with weights and c - 1 > d it often is, the
 * singular vectors of small s are orthogonal to sqrt(p) only up to rounding times s_1/s_q. */
static void centre_scores(state *st) {
    for (int64_t j = 0; j < st->q; j++) {
        double *theta = st->theta + j * st->c;
        const double mean = rlar__dot(st->c, st->share, theta);
        for (int64_t k = 0; k < st->c; k++)
            theta[k] -= mean;
    }
}

static rlar_status update_theta(rlar_ctx *ctx, state *st) {
    const int64_t c = st->c, q = st->q;
    const double size = class_sums(st);
    RLAR_TRY(rlar__svd_thin_in(ctx, &st->svd, c, q, st->f, st->u, st->s, st->vt));
    if (!(st->s[q - 1] > FULL_RANK * fmax(st->s[0], size)))
        return RLAR_OK;
    RLAR_TRY(rlar__multiply(ctx, c, q, q, st->u, st->vt, st->theta));
    for (int64_t j = 0; j < q; j++)
        for (int64_t k = 0; k < c; k++)
            st->theta[j * c + k] /= sqrt(st->share[k]);
    if (st->loss == LOSS_L21)
        centre_scores(st);
    set_targets(st);
    return RLAR_OK;
}

/* v, and the L2,1 loss; returns the smoothed one. */
static double update_v(state *st, double *plain) {
    for (int64_t i = 0; i < st->n; i++)
        st->value[i] = sqrt(rlar__distance2(st->q, st->y + i * st->q, st->t + i * st->q));
    *plain = rlar__sum(st->n, st->value);
    for (int64_t i = 0; i < st->n; i++) {
        st->dhat[i] = rlar__kernel_weight(st->kernel, st->value[i]);
        st->value[i] = rlar__kernel_value(st->kernel, st->value[i]);
    }
    return rlar__sum(st->n, st->value);
}

/* The loss, and for the L2,1 norm its weights; returns the smoothed loss. */
static double update_loss(state *st, double *plain) {
    if (st->loss == LOSS_L21)
        return update_v(st, plain);
    rlar__targets_squares(st->q, st->n, st->y, st->t, st->value);
    *plain = rlar__sum(st->n, st->value);
    return *plain;
}

/* D, and the objective with the B and Th at the end of the iteration. */
static void update_d(state *st, rlar_info *info) {
    double plain, smooth;
    rlar__kernel_rows(st->kernel, st->d, st->q, st->w, st->dtil, &plain, &smooth);
    info->sparsity = st->lambda * plain;
    info->smoothed = update_loss(st, &info->regression) + st->lambda * smooth;
    info->eps = st->kernel.eps;
}

static rlar_status iterate(rlar_ctx *ctx, void *arg, rlar_info *info) {
    state *st = arg;
    const double start = rlar__now();
    info->dual = st->dual;
    initialise(st);
    if (st->still)
        RLAR_TRY(start_kept(ctx, st));
    for (int64_t t = 1; t <= st->iters; t++) {
        RLAR_TRY(update_b(ctx, st, &info->ridged));
        RLAR_TRY(update_theta(ctx, st));
        update_d(st, info);
        RLAR_TRY(rlar__iteration_end(ctx, t, st->iters, start, info));
    }
    rlar__fix_signs(st->d, st->q, st->w);
    set_offset(st);
    return RLAR_OK;
}

/* ---- The method ---- */

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    state st;
    state_init(&st, train, params);
    RLAR_TRY(rlar__map_new(ctx, st.d, st.q, out));
    st.w = out->w;
    st.b = out->b;
    RLAR_TRY(rlar__run_in_workspace(ctx, state_carve, iterate, &st, info));
    return rlar__ridged_verdict(ctx, info, "lambda or eps");
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    state st;
    state_init(&st, sizes, params);
    RLAR_TRY(rlar__forecast_workspace(ctx, state_carve, &st, out));
    const double n = (double)st.n, d = (double)st.d, q = (double)st.q;
    const double gram = st.still ? n * d * d : 0.0; /* made once, not in every iteration */
    out->dual = st.dual;
    out->flops = gram + (double)st.iters * (rlar__wsolve_flops(st.n, st.d, st.q, st.dual) - gram +
                                            2.0 * n * d * q + 20.0 * q * q * q);
    return RLAR_OK;
}

static int64_t outputs(const rlar_train *train, const rlar_params *params) {
    (void)params;
    return train->c - 1;
}

const rlar_method rlar__method_l21sda = {
    .def = {.name = "l21sda",
            .title = "Sparse Discriminant Analysis via Joint L2,1-Norm Minimisation",
            .cite = "X. Shi, Y. Yang, Z. Guo and Z. Lai, Face Recognition by Sparse Discriminant "
                    "Analysis via Joint L2,1-Norm Minimization, Pattern Recognition 47(7), 2014",
            .about =
                "Optimal scoring: class scores and a linear map that predicts them are learned "
                "in turn, with an L2,1 penalty that makes all c - 1 directions use the same "
                "features.",
            .scores = "Euclidean norm of the feature's row of W; rows near 0 are not used",
            .params = params_table,
            .source = "reconstruction: from the abstract and the optimal scoring form of sparse "
                      "discriminant analysis; the factor of lambda and its value are inferred from "
                      "the RLAR paper's numbers; loss=l21 is an option of ours",
            .regression = 0},
    .outputs = outputs,
    .fit = fit,
    .forecast = forecast,
};
