/* alde.c - angle linear discriminant embedding.
 *
 *   u_j = (x_j - m_i) / ||x_j - m_i||   for sample j of class i,   Sw = 1/n sum_j u_j u_j^T
 *   v_i = (m_i - m) / ||m_i - m||,                                 Sb = sum_i n_i/n v_i v_i^T
 *   maximise tr(W^T (Sb - theta Sw) W)   subject to W^T W = I
 *
 * ||W^T v||^2 is the squared cosine of the angle between a unit vector v and the subspace: class
 * means shall lie close to it, deviations within classes across it. Both scatters have trace 1, so
 * a distant class or sample has no more weight than a near one. Differences without a direction
 * (singleton classes, duplicates, a class mean at the total mean) are left out and not counted.
 *
 * The paper's text was not available: its abstract fixes the idea, the exact weights are a
 * reconstruction that reproduces the numbers in the RLAR paper. Costs the reduction, n r^2 and the
 * eigenproblem of size r (margin.c). */
#include "methods/margin.h"

#include <math.h>

static const rlar_param_def params_table[] = {
    {"theta", RLAR_PARAM_REAL, 2.0, 0.0, 1e12, NULL, "0.1,0.5,1,2,10", "1",
     "weight of the angles within classes against those between them"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

/* M = Sb - theta Sw. The directions u replace the reduced samples z. */
static rlar_status angle_matrix(rlar_ctx *ctx, rlar_reduced *reduced, const rlar_train *train,
                                double theta, double *m) {
    const int64_t r = reduced->r, c = train->c;
    double *u = reduced->z, *v = NULL, *sw = NULL;
    rlar_status status = rlar__alloc(ctx, c, (size_t)r * sizeof *v, "the class directions", &v);
    if (status >= 0)
        status = rlar__alloc(ctx, r, (size_t)r * sizeof *sw, "a scatter matrix", &sw);
    if (status >= 0)
        status = rlar__direction_factors(ctx, r, c, train->first, reduced->z, u, v);
    if (status >= 0)
        status = rlar__scatter(ctx, r, c, v, m);
    if (status >= 0)
        status = rlar__scatter(ctx, r, train->n, u, sw);
    for (int64_t j = 0; j < r && status >= 0; j++)
        for (int64_t i = j; i < r; i++)
            m[j * r + i] -= theta * sw[j * r + i];
    rlar__free(v);
    rlar__free(sw);
    return status;
}

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    return rlar__margin_fit(ctx, train, params, angle_matrix, out, info);
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    (void)ctx;
    (void)params;
    const double r = fmin((double)sizes->d, (double)sizes->n);
    const double n = (double)sizes->n, c = (double)sizes->c;
    rlar__margin_forecast(sizes, 8.0 * (r * c + r * r), (n + c) * r * r, out);
    return RLAR_OK;
}

const rlar_method rlar__method_alde = {
    .def = {.name = "alde",
            .title = "Angle Linear Discriminant Embedding",
            .cite = "S. Liu, L. Feng and H. Qiao, Scatter Balance: An Angle-Based Supervised "
                    "Dimensionality Reduction, IEEE Transactions on Neural Networks and Learning "
                    "Systems 26(2), 277-289, 2015",
            .about = "The maximum margin criterion on directions instead of differences: every "
                     "sample and every class mean counts by its angle only, so that distant ones "
                     "do not dominate. Nothing is inverted, so few samples are no problem.",
            .scores = "Euclidean norm of the feature's row of the orthonormal W, between 0 and 1; "
                      "depends on the units of the features",
            .params = params_table,
            .source = "reconstruction: the abstract confirms scatters of angles and their balance; "
                      "weights and criterion were chosen because they reproduce the RLAR paper's "
                      "numbers",
            .regression = 0},
    .outputs = rlar__margin_outputs,
    .fit = fit,
    .forecast = forecast,
    .prepare = rlar__span_prepare,
    .release = rlar__reduction_release,
};
