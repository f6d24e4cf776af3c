/* lsda.c - locality sensitive discriminant analysis.
 *
 *   maximise a^T Xc (alpha L_b + (1 - alpha) W_w) Xc^T a   subject to a^T Xc D_w Xc^T a = 1
 *
 * W_w, W_b (0/1): pairs of one class, of two classes, of which either is among the k nearest of the
 * other, labels ignored; every sample has a loop in W_w (the author's code has it, and a sample
 * among strangers would have D_w = 0). k = 0 is the complete graph, which needs class sums only.
 * The eigenproblem A q = lambda B q is solved in coordinates where the total scatter is about 1: B
 * is as well conditioned as D_w there. The coordinates are those of the Cholesky factor of S_t
 * where that is far from singular (reduce.h), else of its eigenvectors. Columns have unit length;
 * lambda < 1e-10 is left out.
 *
 * Ties. For k = 0 and classes of one size LSDA is LDA, and all eigenvalues from the c-th on are
 * equal. So: a tied block that reaches beyond the c-th column gives its directions of largest total
 * variance (ties=variance), or none, for nothing in the objective tells them apart (ties=drop); any
 * other tied block keeps its B-orthonormal basis and gets one factor, for its columns, and hence
 * their lengths, are arbitrary.
 *
 * Ridge (off unless asked for; the author's is 0.1): B + rho I in the space of the features, with
 * rho = ridge times the mean of D_w. A direction is V diag(1/s) y, so rho I becomes diag(rho/s^2)
 * in the coordinates of y; outside the span of the samples A is 0, nothing is lost there. That, and
 * cutting a tied block, are done by the eigenvectors of S_t only.
 * Costs the reduction; 3 d n^2 for distances (k > 0), 3 n r^2, eigenvectors of r x r; LDA none. */
#include "methods/margin.h"

#include <math.h>
#include <string.h>

#include "graph/neighbours.h"
#include "linalg/linalg.h"
#include "solver/white.h"

static const rlar_param_def params_table[] = {
    {"k", RLAR_PARAM_INT, 0, 0, 2147483647, NULL, "0,3,5,7,10", "0",
     "nearest neighbours among all samples; 0: all of them (then near LDA)"},
    {"alpha", RLAR_PARAM_REAL, 0.1, 0.0, 1.0, NULL, "0.1,0.3,0.5,0.7,0.9", "0.1",
     "weight of the spread between neighbours of different classes against the closeness within"},
    {"ties", RLAR_PARAM_CHOICE, 1, 0, 1, "variance|drop", NULL, "drop",
     "where equal eigenvalues reach beyond the c-th: fill up with their directions of largest "
     "variance, or leave them out"},
    {"ridge", RLAR_PARAM_REAL, 0.1, 0.0, 1e12, NULL, NULL, "0",
     "weight of the squared length of a direction in the constraint, as a share of the mean degree "
     "of a sample within its class; 0: none, the author's value: 0.1"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

enum { TIES_VARIANCE = 0, TIES_DROP = 1 };

/* Eigenvalues below the one are zero, those within the other (of the largest, or 1) are equal. */
static const double SMALLEST = 1e-10, TIED = 1e-8;

typedef struct state {
    const rlar_train *train;
    rlar_map *map; /* the outcome */
    rlar_reduced *reduced;
    rlar_groups groups;
    int64_t k, r;
    double alpha, ridge;
    int ties;
    bool again;           /* set where a block has to be cut, which the factor is no help for */
    rlar_neighbours near; /* k > 0 */
    double *degree;       /* n: D_w */
    double *p;            /* r x n: right factors of A and B */
    double *sums;         /* r x (c + 1): sums of the classes, then of all */
    rlar_partials partials;
    double *a, *b, *b_kept; /* r x r */
    double *values, *y;     /* r; r x r: eigenvalues and vectors */
} state;

static void state_init(state *st, const rlar_train *train, const rlar_params *params, int64_t r) {
    *st = (state){.train = train,
                  .groups = rlar__train_groups(train),
                  .k = rlar__param_int(params, "k"),
                  .r = r,
                  .alpha = rlar__param(params, "alpha"),
                  .ridge = rlar__param(params, "ridge"),
                  .ties = (int)rlar__param_int(params, "ties")};
    st->groups.reach = RLAR_REACH_ALL;
    if (st->k >= train->n - 1) /* everybody is a neighbour */
        st->k = 0;
}

static void state_carve(rlar_workspace *ws, void *arg) {
    state *st = arg;
    const int64_t n = st->train->n;
    size_t column = 0;
    if (!rlar__size_mul((size_t)st->r, sizeof(double), &column))
        ws->overflow = true;
    rlar__neighbours_carve(ws, &st->groups, st->k, &st->near);
    st->degree = rlar__carve(ws, n, sizeof *st->degree);
    st->p = rlar__carve(ws, n, column);
    st->sums = rlar__carve(ws, st->train->c + 1, column);
    rlar__partials_carve(ws, n, st->r, st->r, &st->partials);
    st->a = rlar__carve(ws, st->r, column);
    st->b = rlar__carve(ws, st->r, column);
    st->b_kept = rlar__carve(ws, st->r, column);
    st->y = rlar__carve(ws, st->r, column);
    st->values = rlar__carve(ws, st->r, sizeof *st->values);
}

/* ---- A and B ---- */

/* The sum of every class, and behind them the sum of all. */
static void class_sums(const state *st) {
    const int64_t r = st->r, c = st->train->c;
    double *all = st->sums + c * r;
    memset(st->sums, 0, (size_t)((c + 1) * r) * sizeof *st->sums);
    for (int64_t j = 0; j < st->train->n; j++)
        for (int64_t e = 0; e < r; e++) {
            st->sums[st->train->label[j] * r + e] += st->reduced->z[j * r + e];
            all[e] += st->reduced->z[j * r + e];
        }
}

/* Rows of (alpha L_b + (1 - alpha) W_w) Z^T for the complete graph:
 * L_b z_j = (n - n_i) z_j - (all - own), W_w z_j = own, D_w = n_i. */
static void complete_graph(const state *st) {
    const int64_t r = st->r, n = st->train->n;
    class_sums(st);
    for (int64_t j = 0; j < n; j++) {
        const int32_t i = st->train->label[j];
        const double *own = st->sums + i * r, *all = st->sums + st->train->c * r;
        const double size = (double)(st->train->first[i + 1] - st->train->first[i]);
        const double *z = st->reduced->z + j * r;
        for (int64_t e = 0; e < r; e++)
            st->p[j * r + e] = st->alpha * (((double)n - size) * z[e] - all[e] + own[e]) +
                               (1.0 - st->alpha) * own[e];
        st->degree[j] = size;
    }
}

/* The same for neighbours: L_b as it is, and W_w = D_w - L_w. */
static rlar_status sparse_graph(rlar_ctx *ctx, state *st) {
    const int64_t r = st->r;
    const double *z = st->reduced->z;
    rlar__neighbours_join(&st->groups, st->k, RLAR_EDGE_OR, RLAR_REACH_MATES, &st->near);
    for (int64_t j = 0; j < st->train->n; j++) {
        st->degree[j] = 1.0 + rlar__neighbours_degree(&st->near.l, j);
        for (int64_t e = j * r; e < (j + 1) * r; e++)
            st->p[e] = (1.0 - st->alpha) * st->degree[j] * z[e];
        rlar__laplacian_row(&st->near.l, j, st->alpha - 1.0, r, z, st->p + j * r);
    }
    rlar__neighbours_join(&st->groups, st->k, RLAR_EDGE_OR, RLAR_REACH_ALIENS, &st->near);
    for (int64_t j = 0; j < st->train->n; j++)
        rlar__laplacian_row(&st->near.l, j, st->alpha, r, z, st->p + j * r);
    return rlar__poll(ctx);
}

/* Distances come from the samples themselves while they are short enough: the reduction turns ties
 * and zeros into rounding. */
static rlar_status search(rlar_ctx *ctx, state *st) {
    const int64_t d = st->train->d;
    const bool reduced = d > st->train->n;
    return rlar__graph_nearest(ctx, &st->groups, st->k, reduced ? st->r : d,
                               reduced ? st->reduced->z : st->train->x, &st->near.graph);
}

/* B + rho I, carried into the coordinates of y. */
static void add_ridge(const state *st) {
    const double rho = st->ridge * rlar__sum(st->train->n, st->degree) / (double)st->train->n;
    for (int64_t e = 0; e < st->r; e++)
        st->b[e * st->r + e] += rho / (st->reduced->s[e] * st->reduced->s[e]);
}

static rlar_status matrices(rlar_ctx *ctx, state *st) {
    const int64_t r = st->r, n = st->train->n;
    if (st->k > 0)
        RLAR_TRY(sparse_graph(ctx, st));
    else
        complete_graph(st);
    RLAR_TRY(rlar__gram_outer(ctx, &st->partials, r, n, st->reduced->z, st->p, st->a));
    for (int64_t j = 0; j < n; j++) /* one factor is cheaper than two */
        for (int64_t e = j * r; e < (j + 1) * r; e++)
            st->p[e] = sqrt(st->degree[j]) * st->reduced->z[e];
    RLAR_TRY(rlar__gram_outer(ctx, &st->partials, r, n, st->p, st->p, st->b));
    if (st->ridge > 0.0)
        add_ridge(st);
    return RLAR_OK;
}

/* Both triangles of B, which the eigenproblem destroys. */
static void keep_b(const state *st) {
    const int64_t r = st->r;
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = j; i < r; i++)
            st->b_kept[j * r + i] = st->b_kept[i * r + j] = st->b[j * r + i];
}

/* ---- Eigenvectors ---- */

/* Columns start .. q-1 of y become the directions of largest total variance among the eigenvectors
 * start .. end-1, in the coordinates of the reduction. These are what is orthogonal to S B y for
 * all other y, S = diag(s), so with the orthonormal basis U of that they lead diag(s)^2 taken
 * between two factors I - U U^T: the large variances never meet the division by s. */
static rlar_status cut_block(rlar_ctx *ctx, state *st, int64_t start, int64_t end, int64_t q) {
    const int64_t r = st->r, others = start + r - end;
    const double *s = st->reduced->s;
    double *u = st->b, *g = st->a;
    memcpy(g, st->y, (size_t)(start * r) * sizeof *g);
    memcpy(g + start * r, st->y + end * r, (size_t)((r - end) * r) * sizeof *g);
    RLAR_TRY(rlar__multiply(ctx, r, others, r, st->b_kept, g, u));
    for (int64_t j = 0; j < others; j++)
        for (int64_t e = 0; e < r; e++)
            u[j * r + e] *= s[e];
    const int64_t rank = rlar__orthonormalise(r, others, 0.0, u);
    /* G = S (I - U U^T), then G^T G. */
    RLAR_TRY(rlar__moments(ctx, &st->partials, r, r, rank, u, u, g));
    for (int64_t j = 0; j < r; j++)
        for (int64_t e = 0; e < r; e++)
            g[j * r + e] = s[e] * ((e == j ? 1.0 : 0.0) - g[j * r + e]);
    memset(st->b_kept, 0, (size_t)(r * r) * sizeof *st->b_kept);
    RLAR_TRY(rlar__gram_inner(ctx, r, r, g, g, st->b_kept));
    return rlar__eig_top(ctx, r, st->b_kept, q - start, NULL, st->y + start * r);
}

/* Q (r x *q) in st->y from the whitened eigenvectors there, of which `kept` count. */
static rlar_status directions(rlar_ctx *ctx, state *st, int64_t kept, int64_t *q) {
    const int64_t r = st->r;
    const double tied = TIED * fmax(st->values[0], 1.0);
    int64_t start = 0, end = 0;
    while (end < *q) {
        start = end;
        end = rlar__tied_end(kept, st->values, tied, start);
    }
    if (end == *q) /* no block is cut */
        start = end;
    else if (st->ties == TIES_DROP && start > 0)
        *q = start;
    else
        RLAR_TRY(cut_block(ctx, st, start, end, *q));
    RLAR_TRY(rlar__white_back(ctx, st->reduced, start, st->y));
    rlar__unit_blocks(r, *q, st->values, tied, st->y);
    return RLAR_OK;
}

static int64_t not_zero(int64_t count, const double *values) {
    int64_t kept = 0;
    while (kept < count && values[kept] >= SMALLEST)
        kept++;
    return kept;
}

/* The `wanted` largest eigenvalues and their vectors, from whitened samples. */
static rlar_status eigen(rlar_ctx *ctx, state *st, int64_t wanted, int *ridged) {
    RLAR_TRY(matrices(ctx, st));
    if (wanted == st->r) /* only then can a block be cut */
        keep_b(st);
    return rlar__eig_general(ctx, st->r, st->a, st->b, wanted, st->values, st->y, ridged);
}

/* The complete graph of c classes of m samples, where no block is to be cut. */
static bool is_lda(const state *st) {
    const int64_t *first = st->train->first, c = st->train->c;
    bool even = st->k == 0 && st->ties == TIES_DROP && st->ridge == 0.0 && c < st->r;
    for (int64_t i = 1; i < c; i++)
        even = even && first[i + 1] - first[i] == first[1];
    return even;
}

/* Then B = m S_t and A = alpha (c - 1) m S_t + H H^T with the sums of the classes as H: whitened by
 * S_t, which is I, the thin SVD of H tells the c + 1 largest eigenvalues, and the vectors of all
 * that differ from alpha (c - 1). */
static rlar_status eigen_of_sums(rlar_ctx *ctx, state *st) {
    const int64_t r = st->r, c = st->train->c;
    const double least = st->alpha * (double)(c - 1), m = (double)st->train->first[1];
    class_sums(st);
    RLAR_TRY(rlar__white(ctx, st->reduced, c, st->sums));
    RLAR_TRY(rlar__svd_thin(ctx, r, c, st->sums, st->y, st->values, st->a));
    for (int64_t j = 0; j < c; j++)
        st->values[j] = least + st->values[j] * st->values[j] / m;
    st->values[c] = least;
    return RLAR_OK;
}

/* The largest eigenvalues, c + 1 of them or all, and their vectors; *kept of them are not zero.
 * Whether a tied block reaches beyond the c-th can be told from one more; only to cut it, which
 * dropping does when it is the first, are all vectors needed. */
static rlar_status leading(rlar_ctx *ctx, state *st, int64_t *kept, int *ridged) {
    const int64_t r = st->r, n = st->train->n;
    const int64_t few = st->train->c + 1 < r ? st->train->c + 1 : r;
    const bool sums = is_lda(st);
    RLAR_TRY(sums ? eigen_of_sums(ctx, st) : rlar__white(ctx, st->reduced, n, st->reduced->z));
    if (!sums)
        RLAR_TRY(eigen(ctx, st, st->ties == TIES_DROP ? few : r, ridged));
    *kept = not_zero(st->ties == TIES_DROP ? few : r, st->values);
    if (st->ties != TIES_DROP || few == r || *kept < few ||
        rlar__tied_end(few, st->values, TIED * fmax(st->values[0], 1.0), 0) < few)
        return RLAR_OK;
    st->again = st->reduced->factor != NULL;
    if (st->again)
        return RLAR_OK;
    if (sums)
        RLAR_TRY(rlar__white(ctx, st->reduced, n, st->reduced->z));
    RLAR_TRY(eigen(ctx, st, r, ridged));
    *kept = not_zero(r, st->values);
    return RLAR_OK;
}

/* *q outputs: eigenvalues that are not zero, c at the most. */
static rlar_status solve(rlar_ctx *ctx, state *st, int64_t *q, rlar_info *info) {
    int64_t kept = 0;
    if (st->k > 0)
        RLAR_TRY(search(ctx, st));
    RLAR_TRY(leading(ctx, st, &kept, &info->ridged));
    if (st->again)
        return RLAR_OK;
    if (kept == 0)
        return rlar__fail(ctx, RLAR_E_DATA,
                          "no direction tells the classes apart: the largest eigenvalue is %g, %g "
                          "is needed; take a larger k, or alpha between 0 and 1",
                          st->values[0], SMALLEST);
    *q = kept < st->train->c ? kept : st->train->c;
    RLAR_TRY(directions(ctx, st, kept, q));
    info->neighbours = st->k;
    info->objective = rlar__sum(*q, st->values);
    info->converged = 1;
    return RLAR_OK;
}

/* ---- The method ---- */

static rlar_status make_map(rlar_ctx *ctx, void *arg, rlar_info *info) {
    state *st = arg;
    int64_t q = 0;
    info->dual = st->train->d > st->train->n;
    RLAR_TRY(solve(ctx, st, &q, info));
    if (st->again)
        return RLAR_OK;
    RLAR_TRY(rlar__map_new(ctx, st->train->d, q, st->map));
    return rlar__reduce_back(ctx, st->reduced, q, st->y, st->map->w, st->map->b);
}

/* By the eigenvectors of S_t (directions), or by its factor where there is one: *again tells that
 * it was not enough. What is shared may be of the other kind. */
static rlar_status attempt(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                           bool directions, rlar_map *out, rlar_info *info, bool *again) {
    const rlar_reduced *shared = train->shared;
    rlar_train own = *train;
    rlar_reduced reduced;
    state st;
    if (shared && shared->factor && directions)
        own.shared = NULL;
    RLAR_TRY(rlar__reduction_take(ctx, &own, directions ? rlar__reduce_lean : rlar__span_factored,
                                  true, &reduced));
    state_init(&st, train, params, reduced.r);
    st.reduced = &reduced;
    st.map = out;
    const rlar_status status = rlar__run_in_workspace(ctx, state_carve, make_map, &st, info);
    rlar__reduction_end(&own, &reduced);
    *again = st.again;
    return status;
}

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    const bool directions =
        rlar__param_int(params, "ties") == TIES_VARIANCE || rlar__param(params, "ridge") > 0.0;
    bool again = false;
    rlar_status status = attempt(ctx, train, params, directions, out, info, &again);
    if (status >= 0 && again)
        status = attempt(ctx, train, params, true, out, info, &again);
    return status < 0 ? status : rlar__ridged_verdict(ctx, info, "k or ridge");
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    const double n = (double)sizes->n, d = (double)sizes->d;
    state st;
    state_init(&st, sizes, params, sizes->d < sizes->n ? sizes->d : sizes->n);
    RLAR_TRY(rlar__forecast_workspace(ctx, state_carve, &st, out));
    const double r = (double)st.r, edges = n * (double)st.near.graph.stride;
    /* The scatter matrix that margin.h counts is in the workspace, beside which the eigenproblems
     * are solved, or the SVD of the sums. */
    const double eigen = fmax(rlar__eig_bytes(st.r), rlar__svd_bytes(st.r, sizes->c));
    rlar__margin_forecast(sizes, (double)out->bytes + eigen - 8.0 * r * r,
                          (st.k > 0 ? 3.0 * n * n * fmin(d, r) : 0.0) + 8.0 * edges * r +
                              4.0 * n * r * r + 16.0 * r * r * r,
                          out);
    return RLAR_OK;
}

const rlar_method rlar__method_lsda = {
    .def = {.name = "lsda",
            .title = "Locality Sensitive Discriminant Analysis",
            .cite = "D. Cai, X. He, K. Zhou, J. Han and H. Bao, Locality Sensitive Discriminant "
                    "Analysis, Proceedings of the 20th International Joint Conference on "
                    "Artificial Intelligence (IJCAI), 2007",
            .about = "Directions that spread neighbours of different classes and keep neighbours "
                     "of one class together. With the complete graph (k = 0) and classes of one "
                     "size its first c - 1 outputs span those of LDA.",
            .scores = "Euclidean norm of the feature's row of W, whose columns have unit length; "
                      "depends on the units of the features",
            .params = params_table,
            .source = "confirmed: the paper and its author's code, from which the self-loops and "
                      "the complete graph as default come; what is done with ties is ours",
            .regression = 0},
    .outputs = rlar__margin_outputs,
    .fit = fit,
    .forecast = forecast,
    .prepare = rlar__factored_prepare,
    .release = rlar__reduction_release,
};
