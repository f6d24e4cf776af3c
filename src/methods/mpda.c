/* mpda.c - manifold partition discriminant analysis.
 *
 *   maximise z^T B z / z^T (S + alpha I) z   over z = [t; b_1; b_2; ...]
 *
 * t is a projection, b_p holds one coefficient per tangent direction of patch p. S is the form of
 * tangent.h: the projection of a sample must follow, to first order, from that of its neighbour and
 * the tangent space of the neighbour's patch, and tangent spaces of neighbouring patches must
 * agree. B = LFDA's local scatter between classes (local_scatter.h, no ridge) and acts on t only,
 * so the b are eliminated exactly: S_b t = lambda C t,   C = S_tt + alpha I - S_tb (S_bb + alpha
 * I)^-1 S_bt,   t^T C t = 1 and the c leading t, not made unit length, are the columns of W;
 * directions with lambda below 1e-10 lambda_1 are left out. On the range of the samples (reduce.h),
 * where alpha then acts.
 *
 * Neighbours, geodesics and patches come from the distances of the samples as they are: in the
 * reduced space equal samples would differ by rounding and ties be decided by it. Depends on the
 * order of samples within a class (partition.h) and, through alpha, on the scale of the data.
 * Costs the reduction, sum n_i^2 (d + k' log n_i), at most sum n_i^3/3 for S_bb (n_i its size), and
 * an eigenproblem of size r. */
#include "methods/method.h"

#include <float.h>
#include <math.h>

#include "graph/neighbours.h"
#include "graph/partition.h"
#include "linalg/linalg.h"
#include "solver/local_scatter.h"
#include "solver/reduce.h"
#include "solver/tangent.h"

static const rlar_param_def params_table[] = {
    {"k", RLAR_PARAM_INT, 7, 1, 2147483647, NULL, NULL, "7",
     "neighbours within the class that predict a sample, and that scale the affinities"},
    {"gamma", RLAR_PARAM_REAL, 1.0, 0.0, 1e12, NULL, "0.01,0.1,1,10,100", "1",
     "weight of the agreement between tangent spaces of neighbouring patches"},
    {"alpha", RLAR_PARAM_REAL, 10.0, 1e-12, 1e12, NULL, "1e-5,1e-3,0.1,1,10", "1e-5",
     "ridge on the projection and the tangent coefficients; absolute, meant for samples of length "
     "1"},
    {"patch", RLAR_PARAM_INT, 10, 4, 2147483647, NULL, NULL, "10",
     "patches are split while one has this many samples"},
    {"geodesic", RLAR_PARAM_INT, 6, 1, 2147483647, NULL, NULL, "6",
     "neighbours in the graph along which distances are measured; more where a class falls apart"},
    {"energy", RLAR_PARAM_REAL, 0.95, 1e-12, 1.0, NULL, NULL, "0.95",
     "share of a patch's variance that its tangent space holds"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

/* Relative to the largest eigenvalue. */
static const double DROPPED = 1e-10;

typedef struct state {
    const rlar_params *params;
    const rlar_train *train;
    rlar_groups groups;
    rlar_reduced reduced;
    rlar_workspace ws; /* of the neighbours */
    rlar_neighbours within;
    rlar_patches patches;
    rlar_tangents tangents;
    int64_t q;             /* eigenvectors asked for */
    double *c, *sb;        /* r x r */
    double *values, *coef; /* q; r x q */
} state;

static void state_close(state *st) {
    rlar__reduction_end(st->train, &st->reduced);
    rlar__workspace_free(&st->ws);
    rlar__patches_free(&st->patches);
    rlar__tangents_free(&st->tangents);
    rlar__free(st->c);
    rlar__free(st->sb);
    rlar__free(st->values);
    rlar__free(st->coef);
}

/* ---- The steps ---- */

/* W: an edge where either of two samples of a class is among the k nearest of the other. */
static rlar_status join_neighbours(rlar_ctx *ctx, state *st, int64_t k) {
    rlar__neighbours_carve(&st->ws, &st->groups, k, &st->within);
    RLAR_TRY(rlar__workspace_take(ctx, &st->ws, "the graph of neighbours"));
    rlar__neighbours_carve(&st->ws, &st->groups, k, &st->within);
    RLAR_TRY(
        rlar__graph_nearest(ctx, &st->groups, k, st->train->d, st->train->x, &st->within.graph));
    rlar__neighbours_join(&st->groups, k, RLAR_EDGE_OR, RLAR_REACH_MATES, &st->within);
    return RLAR_OK;
}

/* The patches of the classes and their tangent spaces T_p. */
static rlar_status cut_patches(rlar_ctx *ctx, state *st) {
    const rlar_train *train = st->train;
    RLAR_TRY(rlar__partition(ctx, &st->groups, train->d, train->x,
                             rlar__param_int(st->params, "geodesic"),
                             rlar__param_int(st->params, "patch"), &st->patches));
    /* What the reduction took for zero is zero here, too: a patch of equal samples. */
    const double zero = (double)(train->d > train->n ? train->d : train->n) * DBL_EPSILON *
                        rlar__reduce_largest(&st->reduced);
    return rlar__tangents(ctx, &st->patches, st->reduced.r, st->reduced.z,
                          rlar__param(st->params, "energy"), zero, &st->tangents);
}

/* C, and S_b t = lambda C t. */
static rlar_status solve(rlar_ctx *ctx, state *st, int64_t k, rlar_info *info) {
    const int64_t r = st->reduced.r;
    const size_t column = (size_t)r * sizeof(double);
    const rlar_tangent_form form = {.groups = &st->groups,
                                    .l = &st->within.l,
                                    .patches = &st->patches,
                                    .tangents = &st->tangents,
                                    .z = st->reduced.z,
                                    .gamma = rlar__param(st->params, "gamma")};
    RLAR_TRY(rlar__alloc(ctx, r, column, "the form of the tangents", &st->c));
    RLAR_TRY(
        rlar__tangent_schur(ctx, &form, rlar__param(st->params, "alpha"), st->c, &info->ridged));
    RLAR_TRY(rlar__alloc(ctx, r, column, "the local scatter", &st->sb));
    /* The range keeps distances: the neighbours of the samples are those of Z. */
    RLAR_TRY(rlar__local_scatter_by(ctx, &st->groups, k, &st->within.graph, r, st->reduced.z, NULL,
                                    st->sb));
    st->q = st->train->c < r ? st->train->c : r;
    RLAR_TRY(rlar__alloc(ctx, st->q, sizeof *st->values, "the eigenvalues", &st->values));
    RLAR_TRY(rlar__alloc(ctx, st->q, column, "the eigenvectors", &st->coef));
    return rlar__eig_general(ctx, r, st->sb, st->c, st->q, st->values, st->coef, &info->ridged);
}

/* W and b from the eigenvectors that separate anything. S_b may be indefinite. */
static rlar_status make_map(rlar_ctx *ctx, const state *st, rlar_map *out, rlar_info *info) {
    int64_t p = 0;
    while (p < st->q && st->values[p] > 0.0 && st->values[p] >= DROPPED * st->values[0])
        p++;
    if (p == 0)
        return rlar__fail(ctx, RLAR_E_NUMERIC,
                          "no direction separates the classes: the largest eigenvalue is %g, it "
                          "must be positive; scale the data, lower k or use another method",
                          st->values[0]);
    RLAR_TRY(rlar__map_new(ctx, st->train->d, p, out));
    info->objective = rlar__sum(p, st->values);
    return rlar__reduce_back(ctx, &st->reduced, p, st->coef, out->w, out->b);
}

/* ---- The method ---- */

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    const int64_t k = rlar__param_int(params, "k");
    state st = {.params = params, .train = train, .groups = rlar__train_groups(train)};
    info->dual = train->d > train->n;
    info->neighbours = k;
    info->clamped = rlar__graph_clamped(&st.groups, k);
    rlar_status status = rlar__reduction_take(ctx, train, rlar__span, false, &st.reduced);
    if (status >= 0)
        status = join_neighbours(ctx, &st, k);
    if (status >= 0)
        status = cut_patches(ctx, &st);
    if (status >= 0)
        status = solve(ctx, &st, k, info);
    if (status >= 0)
        status = make_map(ctx, &st, out, info);
    state_close(&st);
    if (status < 0)
        return status;
    info->converged = 1;
    const rlar_status clamped = rlar__clamped_verdict(ctx, train->c, info);
    status = rlar__ridged_verdict(ctx, info, "alpha");
    return status == RLAR_OK ? clamped : status;
}

static int64_t outputs(const rlar_train *train, const rlar_params *params) {
    (void)params;
    const int64_t r = train->d < train->n - 1 ? train->d : train->n - 1;
    return train->c < r ? train->c : r;
}

/* The reduction stays beside all that follows; then partition, tangents with C, and S_b with the
 * eigenproblem come one after the other. */
static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    const rlar_groups groups = rlar__train_groups(sizes);
    const int64_t k = rlar__param_int(params, "k"), geodesic = rlar__param_int(params, "geodesic");
    const int64_t small = sizes->d < sizes->n - 1 ? sizes->d : sizes->n - 1;
    const double n = (double)sizes->n, d = (double)sizes->d, r = (double)small;
    const double columns = (double)outputs(sizes, params);
    const double kept = (double)rlar__reduce_held(sizes->d, sizes->n, sizes->c) + 8.0 * n * r +
                        (double)rlar__graph_stride(&groups, k) * 44 * n;
    const double parts = (double)rlar__partition_bytes(ctx, &groups, geodesic);
    const double schur = 8.0 * r * r + (double)rlar__tangent_bytes(ctx, &groups, small);
    const double scatter = (double)rlar__local_scatter_bytes(&groups, k, small);
    const double eigen = 16.0 * r * r + fmax(scatter, 8.0 * r * columns + rlar__eig_bytes(small));
    out->bytes = rlar__whole_bytes(fmax((double)rlar__reduce_lean_bytes(sizes->d, sizes->n),
                                        kept + fmax(parts, fmax(schur, eigen))));
    out->flops = rlar__reduce_flops(sizes->d, sizes->n) + rlar__tangent_flops(&groups, small) +
                 rlar__local_scatter_flops(&groups, small) + 4.0 * r * r * r +
                 2.0 * d * r * columns;
    for (int64_t i = 0; i < sizes->c; i++)
        out->flops += 7.5 * d * pow((double)(sizes->first[i + 1] - sizes->first[i]), 2.0);
    out->dual = sizes->d > sizes->n;
    return RLAR_OK;
}

const rlar_method rlar__method_mpda = {
    .def = {.name = "mpda",
            .title = "Manifold Partition Discriminant Analysis",
            .cite = "Y. Zhou and S. Sun, Manifold Partition Discriminant Analysis, IEEE "
                    "Transactions on Cybernetics 47(4), 830-840, 2017",
            .about =
                "Each class is cut into nearly flat patches; the map must follow their tangent "
                "spaces from neighbour to neighbour and keep near samples of different "
                "classes apart. Meant for samples of length 1; the result depends on the "
                "order of the samples within a class.",
            .scores = "Euclidean norm of the feature's row of W, whose columns have variation 1 "
                      "along the classes; depends on the units of the features",
            .params = params_table,
            .source = "confirmed: the authors' code, steps and defaults; what it leaves undefined "
                      "(small classes, equal samples) is ours",
            .regression = 0},
    .outputs = outputs,
    .fit = fit,
    .forecast = forecast,
    .prepare = rlar__span_prepare,
    .release = rlar__reduction_release,
};
