/* rslda.c - Robust Sparse Linear Discriminant Analysis.
 *
 *   minimise over P, Q, E   tr(Q^T (Sw - kappa Sb) Q) + lambda1 ||Q||_{2,1} + lambda2 ||E||_1
 *   subject to              X = P Q^T X + E,   P^T P = I
 * by alternating directions with a growing penalty (solver/rslda_steps.h); W = Q, no offset, and X
 * is not centred. min(c, d) outputs: the paper leaves their number open, and P cannot have more
 * than d orthonormal columns. Sw is a sum of class covariances and Sb is not divided by n, as in
 * the authors' program.
 *
 * With rho = 1.01 the residual reaches 1e-7 after hundreds of iterations only: 30 give an
 * early-stopped result, as in the published tables, and that is no warning. The objective is not
 * monotone. Costs per iteration n^2 d + n^3/3 for n < d, else d^3/3, and 12 n d p. */
#include "methods/method.h"

#include <math.h>

#include "solver/reduce.h"
#include "solver/rslda_steps.h"

static const rlar_param_def params_table[] = {
    {"lambda1", RLAR_PARAM_REAL, 0.01, 1e-12, 1e12, NULL, "0.00001,0.0001,0.001,0.01,0.1", "0.0001",
     "weight of the row-sparsity of W: larger keeps fewer features"},
    {"lambda2", RLAR_PARAM_REAL, 0.01, 1e-12, 1e12, NULL, "0.00001,0.0001,0.001,0.01,0.1", "0.0001",
     "weight of the sparse error: smaller lets more of a sample count as an error"},
    {"iters", RLAR_PARAM_INT, 30, 1, 1000000, NULL, NULL, "30", "iterations"},
    {"kappa", RLAR_PARAM_REAL, 1e-5, 0.0, 1e6, NULL, NULL, "0.00001",
     "weight of the scatter between classes; below beta0 / 2"},
    {"beta0", RLAR_PARAM_REAL, 0.1, 1e-12, 1e5, NULL, NULL, "0.1", "first penalty"},
    {"rho", RLAR_PARAM_REAL, 1.01, 1.0, 10.0, NULL, NULL, "1.01",
     "growth of the penalty from one iteration to the next"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

static const double BETA_MAX = 1e5;
/* Stop when the constraint holds to the first and the objective rests within the second. */
static const double RESIDUAL_DONE = 1e-7, CHANGE_DONE = 1e-5;

static int64_t outputs(const rlar_train *train, const rlar_params *params) {
    (void)params;
    return train->c < train->d ? train->c : train->d;
}

static rlar_rslda problem(const rlar_train *train, const rlar_params *params) {
    return (rlar_rslda){
        .n = train->n,
        .d = train->d,
        .r = outputs(train, params),
        .x = train->x,
        .reduced = train->shared,
        .groups = {.n = train->n, .c = train->c, .first = train->first, .label = train->label},
        .kappa = rlar__param(params, "kappa"),
        .lambda1 = rlar__param(params, "lambda1"),
        .lambda2 = rlar__param(params, "lambda2"),
        .beta = rlar__param(params, "beta0"),
        .dual = train->n < train->d};
}

static rlar_status measure(rlar_ctx *ctx, rlar_rslda *s, int64_t t, double start, rlar_info *info) {
    info->iterations = t;
    info->objective = rlar__rslda_scatter(s) + s->lambda1 * rlar__rslda_row_norms(s) +
                      s->lambda2 * rlar__rslda_errors(s);
    info->seconds = rlar__now() - start;
    if (!isfinite(info->objective))
        return rlar__fail(ctx, RLAR_E_NUMERIC,
                          "the objective is not finite after iteration %lld; scale the data or "
                          "raise lambda1",
                          (long long)t);
    return RLAR_OK;
}

/* The problem and what is not part of its steps. */
typedef struct state {
    rlar_rslda s;
    int64_t iters;
    double rho;
} state;

static void state_carve(rlar_workspace *ws, void *arg) {
    rlar__rslda_carve(ws, &((state *)arg)->s);
}

static rlar_status iterate(rlar_ctx *ctx, void *arg, rlar_info *info) {
    state *st = arg;
    rlar_rslda *s = &st->s;
    const int64_t iters = st->iters;
    const double start = rlar__now();
    info->dual = s->dual;
    RLAR_TRY(rlar__rslda_start(ctx, s));
    for (int64_t t = 1; t <= iters && !info->converged; t++) {
        const double before = info->objective;
        RLAR_TRY(rlar__rslda_form_m(ctx, s));
        if (t > 1)
            RLAR_TRY(rlar__rslda_update_p(ctx, s));
        RLAR_TRY(rlar__rslda_update_q(ctx, s, &info->ridged));
        RLAR_TRY(rlar__rslda_update_e_y(ctx, s));
        s->beta = fmin(st->rho * s->beta, BETA_MAX);
        RLAR_TRY(measure(ctx, s, t, start, info));
        info->converged =
            t > 2 && s->residual < RESIDUAL_DONE && fabs(info->objective - before) < CHANGE_DONE;
        RLAR_TRY(rlar__report(ctx, RLAR_EVENT_ITERATION, t, iters, info));
    }
    return RLAR_OK;
}

/* The system of the Q step is positive definite for beta > 2 kappa only. */
static rlar_status check_penalty(rlar_ctx *ctx, const rlar_rslda *s) {
    if (s->beta > 2.0 * s->kappa)
        return RLAR_OK;
    return rlar__fail(ctx, RLAR_E_ARG,
                      "kappa = %g is not below beta0 / 2 = %g; lower kappa or raise beta0",
                      s->kappa, s->beta / 2.0);
}

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    state st = {.s = problem(train, params),
                .iters = rlar__param_int(params, "iters"),
                .rho = rlar__param(params, "rho")};
    RLAR_TRY(check_penalty(ctx, &st.s));
    RLAR_TRY(rlar__map_new(ctx, st.s.d, st.s.r, out));
    st.s.q = out->w;
    RLAR_TRY(rlar__run_in_workspace(ctx, state_carve, iterate, &st, info));
    rlar__fix_signs(st.s.d, st.s.r, out->w); /* (P, Q) and (-P, -Q) are the same, by column */
    return rlar__ridged_verdict(ctx, info, "lambda1");
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    state st = {.s = problem(sizes, params)};
    const rlar_rslda *s = &st.s;
    RLAR_TRY(rlar__forecast_workspace(ctx, state_carve, &st, out));
    out->bytes += rlar__reduce_leading_bytes(s->d, s->n, s->r);
    out->dual = s->dual;
    out->flops = rlar__reduce_flops(s->d, s->n) +
                 rlar__param(params, "iters") * rlar__rslda_flops(s->n, s->d, s->r, s->dual);
    return RLAR_OK;
}

/* The principal directions that P starts from. */
static rlar_status prepare(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                           int64_t fits, void **shared) {
    (void)fits;
    rlar_reduced *reduced = NULL;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *reduced, "the reduction", &reduced));
    const rlar_status status =
        rlar__reduce_leading(ctx, train->x, train->d, train->n, outputs(train, params), reduced);
    if (status < 0)
        rlar__free(reduced);
    else
        *shared = reduced;
    return status;
}

const rlar_method rlar__method_rslda = {
    .def = {.name = "rslda",
            .title = "Robust Sparse Linear Discriminant Analysis",
            .cite = "J. Wen, X. Fang, J. Cui, L. Fei, K. Yan, Y. Chen and Y. Xu, Robust Sparse "
                    "Linear Discriminant Analysis, IEEE Transactions on Circuits and Systems for "
                    "Video Technology 29(2), 2019",
            .about = "Discriminant analysis with a row-sparse map from whose outputs the samples "
                     "can be rebuilt, up to an error that is sparse: features are selected, and "
                     "damaged entries of a sample count little.",
            .scores = "Euclidean norm of the feature's row of W; rows near 0 are not used",
            .params = params_table,
            .source = "confirmed by the paper and the first author's program, whose scaling of the "
                      "scatters is used; the number of outputs is that of the RLAR paper",
            .regression = 0},
    .outputs = outputs,
    .fit = fit,
    .forecast = forecast,
    .prepare = prepare,
    .release = rlar__reduction_release,
};
