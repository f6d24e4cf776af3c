/* mmc.c - maximum margin criterion.
 *
 *   maximise tr(W^T (S_b - theta S_w) W)   subject to W^T W = I
 *
 * with the scatters of scatter.h (the paper divides both by n, which changes no direction). S_w =
 * S_t - S_b, so the matrix is (1 + theta) S_b - theta S_t, where S_t is diag(s^2) in the reduced
 * space and at hand in a plain span (reduce.h): only the class means are needed. margin.c does the
 * rest. Costs the reduction, c r^2 and the eigenproblem of size r. */
#include "methods/margin.h"

#include <math.h>

static const rlar_param_def params_table[] = {
    {"theta", RLAR_PARAM_REAL, 1.0, 0.0, 1e12, NULL, "0.1,0.5,1,2,10", "1",
     "weight of the scatter within classes against that between them"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

/* M -= theta S_t. */
static void subtract_total(const rlar_reduced *reduced, double theta, double *m) {
    const int64_t r = reduced->r;
    for (int64_t k = 0; k < r && reduced->s; k++)
        m[k * r + k] -= theta * reduced->s[k] * reduced->s[k];
    for (int64_t j = 0; j < r && reduced->total; j++)
        for (int64_t i = j; i < r; i++)
            m[j * r + i] -= theta * reduced->total[j * r + i];
}

/* M = (1 + theta) S_b - theta S_t. */
static rlar_status margin_matrix(rlar_ctx *ctx, rlar_reduced *reduced, const rlar_train *train,
                                 double theta, double *m) {
    const int64_t r = reduced->r, c = train->c;
    double *h = NULL;
    RLAR_TRY(rlar__alloc(ctx, c, (size_t)r * sizeof *h, "the class means", &h));
    rlar_status status =
        rlar__between_factor(ctx, train->blocks, r, c, train->first, reduced->z, h);
    for (int64_t i = 0; i < r * c && status >= 0; i++)
        h[i] *= sqrt(1.0 + theta);
    if (status >= 0)
        status = rlar__scatter(ctx, r, c, h, m);
    rlar__free(h);
    if (status >= 0)
        subtract_total(reduced, theta, m);
    return status;
}

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    return rlar__margin_fit(ctx, train, params, margin_matrix, out, info);
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    (void)ctx;
    (void)params;
    const double r = fmin((double)sizes->d, (double)sizes->n), c = (double)sizes->c;
    rlar__margin_forecast(sizes, 8.0 * r * c, c * r * r + (double)sizes->n * r, out);
    return RLAR_OK;
}

/* All of it once: the reduction and the class means. */
static void talk(const rlar_train *sizes, const rlar_params *params, rlar_talk *out) {
    (void)params;
    rlar__reduce_talk(sizes->d, &out->once);
    rlar__between_talk(rlar__reduce_rank(sizes->d, rlar__train_samples(sizes)), sizes->c,
                       &out->once);
}

const rlar_method rlar__method_mmc = {
    .def = {.name = "mmc",
            .title = "Maximum Margin Criterion",
            .cite = "H. Li, T. Jiang and K. Zhang, Efficient and Robust Feature Extraction by "
                    "Maximum Margin Criterion, IEEE Transactions on Neural Networks 17(1), 2006",
            .about = "Orthonormal directions that maximise the scatter between classes minus the "
                     "scatter within them. Nothing is inverted, so few samples are no problem; "
                     "features with a large variance dominate, so scale the data.",
            .scores = "Euclidean norm of the feature's row of the orthonormal W, between 0 and 1; "
                      "depends on the units of the features",
            .params = params_table,
            .source = "confirmed: criterion and scatters by the paper; c columns within the range "
                      "of the samples follow the protocol of the RLAR paper",
            .regression = 0},
    .ranks = true,
    .outputs = rlar__margin_outputs,
    .fit = fit,
    .forecast = forecast,
    .talk = talk,
    .prepare = rlar__span_prepare,
    .release = rlar__reduction_release,
};
