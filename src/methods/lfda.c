/* lfda.c - local Fisher discriminant analysis.
 *
 *   maximise tr((T^T S_w T)^-1 T^T S_b T),   S_b t = lambda (S_w + rho I) t
 *
 * with the local scatters of local_scatter.h: pairs of one class count by their affinity, so that a
 * class of several clusters is not pulled together, and S_b has a high rank: c columns. On the
 * range of the samples (reduce.h), with t^T (S_w + rho I) t = 1, and then by the metric
 *   weighted   t sqrt(max(lambda, 0))   plain   t   orth   the columns made orthonormal in order.
 * The published method has no ridge. rho = 0 is that method; where S_w cannot have full rank (n - c
 * < r) it would divide by rounding, and rho = 1e-8 tr(S_w)/r stands in.
 * Costs the reduction, 8 r sum n_i^2 for the scatters, and an eigenproblem of size r. */
#include "methods/margin.h"

#include <math.h>

#include "linalg/linalg.h"
#include "solver/local_scatter.h"

static const rlar_param_def params_table[] = {
    {"k", RLAR_PARAM_INT, 7, 1, 2147483647, NULL, "3,5,7", "7",
     "the affinity of a sample is scaled by the distance to its k-th neighbour within the class"},
    {"rho", RLAR_PARAM_REAL, 0.1, 0.0, 1e12, NULL, "0,0.0001,0.001,0.01,0.1,1", "0.1",
     "added to the diagonal of the local scatter within classes; 0: none where it can be inverted"},
    {"metric", RLAR_PARAM_CHOICE, 0, 0, 2, "weighted|plain|orth", NULL, "weighted",
     "scale of the outputs: weighted by their separation, plain, or orthonormal columns"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

enum { METRIC_WEIGHTED = 0, METRIC_PLAIN = 1, METRIC_ORTH = 2 };

/* The ridge in place of rho = 0, as a share of the mean eigenvalue of S_w. */
static const double PURE_RIDGE = 1e-8;

typedef struct state {
    rlar_reduced reduced;
    rlar_groups groups;
    int64_t q;             /* outputs */
    double *sw, *sb;       /* r x r */
    double *values, *coef; /* q; r x q */
} state;

static rlar_status state_open(rlar_ctx *ctx, const rlar_train *train, state *st) {
    RLAR_TRY(rlar__reduction_take(ctx, train, rlar__span, false, &st->reduced));
    const int64_t r = st->reduced.r;
    const size_t column = (size_t)r * sizeof(double);
    st->groups = rlar__train_groups(train);
    st->q = train->c < r ? train->c : r;
    RLAR_TRY(rlar__alloc(ctx, r, column, "the local scatters", &st->sw));
    RLAR_TRY(rlar__alloc(ctx, r, column, "the local scatters", &st->sb));
    RLAR_TRY(rlar__alloc(ctx, st->q, sizeof *st->values, "the eigenvalues", &st->values));
    return rlar__alloc(ctx, st->q, column, "the eigenvectors", &st->coef);
}

static void state_close(const rlar_train *train, state *st) {
    rlar__reduction_end(train, &st->reduced);
    rlar__free(st->sw);
    rlar__free(st->sb);
    rlar__free(st->values);
    rlar__free(st->coef);
}

static double mean_diagonal(int64_t r, const double *s) {
    double sum = 0.0;
    for (int64_t e = 0; e < r; e++)
        sum += s[e * r + e];
    return sum / (double)r;
}

/* S_w <- S_w + rho I. Without any spread within classes the scale is that of S_b. */
static void add_ridge(const state *st, double rho) {
    const int64_t r = st->reduced.r;
    const double within = mean_diagonal(r, st->sw);
    if (rho == 0.0 && (st->groups.n - st->groups.c < r || within == 0.0))
        rho = PURE_RIDGE * (within > 0.0 ? within : mean_diagonal(r, st->sb));
    for (int64_t e = 0; e < r; e++)
        st->sw[e * r + e] += rho;
}

static void apply_metric(const state *st, int metric) {
    const int64_t r = st->reduced.r;
    if (metric == METRIC_ORTH)
        rlar__orthonormalise(r, st->q, 0.0, st->coef);
    for (int64_t j = 0; j < st->q && metric == METRIC_WEIGHTED; j++)
        for (int64_t e = j * r; e < (j + 1) * r; e++)
            st->coef[e] *= sqrt(fmax(st->values[j], 0.0));
}

static rlar_status solve(rlar_ctx *ctx, const state *st, const rlar_params *params,
                         rlar_info *info) {
    const int64_t r = st->reduced.r, k = rlar__param_int(params, "k");
    RLAR_TRY(rlar__local_scatter(ctx, &st->groups, k, r, st->reduced.z, st->sw, st->sb));
    add_ridge(st, rlar__param(params, "rho"));
    RLAR_TRY(rlar__eig_general(ctx, r, st->sb, st->sw, st->q, st->values, st->coef, &info->ridged));
    apply_metric(st, (int)rlar__param_int(params, "metric"));
    info->neighbours = k;
    info->clamped = rlar__graph_clamped(&st->groups, k);
    info->objective = rlar__sum(st->q, st->values);
    info->converged = 1;
    return RLAR_OK;
}

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    state st = {0};
    rlar_status status = state_open(ctx, train, &st);
    if (status >= 0)
        status = rlar__map_new(ctx, train->d, st.q, out);
    if (status >= 0)
        status = solve(ctx, &st, params, info);
    if (status >= 0)
        status = rlar__reduce_back(ctx, &st.reduced, st.q, st.coef, out->w, out->b);
    info->dual = train->d > train->n;
    state_close(train, &st);
    if (status < 0)
        return status;
    const rlar_status clamped = rlar__clamped_verdict(ctx, train->c, info);
    status = rlar__ridged_verdict(ctx, info, "rho");
    return status == RLAR_OK ? clamped : status;
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    (void)ctx;
    const rlar_groups groups = rlar__train_groups(sizes);
    const int64_t r = sizes->d < sizes->n - 1 ? sizes->d : sizes->n - 1;
    const double scatter =
        (double)rlar__local_scatter_bytes(&groups, rlar__param_int(params, "k"), r);
    /* The second scatter stands beside what margin.h counts; the Cholesky factor is in place. */
    const double eigen = 8.0 * (double)r * (double)sizes->c + rlar__eig_bytes(r);
    rlar__margin_forecast(sizes, fmax(scatter, eigen) + 8.0 * (double)r * (double)r,
                          rlar__local_scatter_flops(&groups, r) + 3.0 * pow((double)r, 3.0), out);
    return RLAR_OK;
}

const rlar_method rlar__method_lfda = {
    .def = {.name = "lfda",
            .title = "Local Fisher Discriminant Analysis",
            .cite = "M. Sugiyama, Dimensionality Reduction of Multimodal Labeled Data by Local "
                    "Fisher Discriminant Analysis, Journal of Machine Learning Research 8, "
                    "1027-1061, 2007",
            .about = "Fisher's criterion with scatters in which pairs of one class count by how "
                     "near they are, so that classes of several clusters keep their shape. More "
                     "than c - 1 outputs; the ridge rho matters where samples are few.",
            .scores = "Euclidean norm of the feature's row of W, whose columns weigh directions by "
                      "their separation (metric weighted); depends on the units of the features",
            .params = params_table,
            .source = "confirmed: the paper and its author's code; the ridge rho = 0.1 of the "
                      "preset is inferred from the numbers of the RLAR paper",
            .regression = 0},
    .outputs = rlar__margin_outputs,
    .fit = fit,
    .forecast = forecast,
    .prepare = rlar__span_prepare,
    .release = rlar__reduction_release,
};
