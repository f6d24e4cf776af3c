/* sulda.c - sparse uncorrelated linear discriminant analysis.
 *
 * Uncorrelated LDA maximises tr((G^T S_t G)^+ G^T S_b G) subject to G^T S_t G = I. With the reduced
 * SVD of the centred samples, H_t = U1 diag(s) V1^T (U1 is d x r), and that of the whitened class
 * means, diag(1/s) U1^T H_b = P diag(sb) Q^T (P is r x q), its solutions of the smallest dimension
 * are U1^T G = C Z, C = diag(1/s) P, Z orthogonal. SULDA takes the sparsest one, with Z = I:
 *
 *   minimise ||G||_1   subject to U1^T G = C
 *
 * by Douglas-Rachford splitting: the projection on the constraint is V - U1 (U1^T V) + G0, where
 * G0 = U1 C is uncorrelated LDA itself. The feasible iterate is returned, so G^T S_t G = I holds to
 * rounding even when the iteration stops early. Without room (r = d) G = G0, which Cholesky finds
 * where it can be trusted, and nothing is iterated.
 *
 * When all sb are equal (within 1e-6: the rule for fewer samples than features) P is defined up to
 * a rotation only, and the sparse G depends on it. Then P is the Gram-Schmidt basis of the whitened
 * class means in the order of the classes.
 *
 * variant=s1 lets Z vary, as the 2016 paper does (rotation.h). Not convex: it may find a sparser G
 * or none. What it finds is taken only when its norm is below that of variant s0, which is always
 * made first. Costs the reduction and 4 d min(r, d - r) q per iteration: where a basis N of what is
 * orthogonal to U1 is the smaller one (d x (d - r)), the projection is N (N^T V) + G0. */
#include "methods/method.h"

#include "linalg/linalg.h"
#include "solver/fisher.h"
#include "solver/rotation.h"
#include "solver/scatter.h"

#include <math.h>
#include <string.h>

static const rlar_param_def params_table[] = {
    {"iters", RLAR_PARAM_INT, 500, 1, 1000000, NULL, NULL, "500", "iterations"},
    {"tol", RLAR_PARAM_REAL, 1e-5, 0.0, 1.0, NULL, NULL, "1e-5",
     "stop when the feasible and the sparse iterate agree to this share; 0: never stop early"},
    {"variant", RLAR_PARAM_CHOICE, 0, 0, 1, "s0|s1", NULL, "s0",
     "s1: let the directions rotate as well to get sparser (not convex; never worse than s0)"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

/* Singular values below these shares of the largest are zero: of the samples, of the whitened class
 * means. sb with a spread below TIED are equal. */
static const double RANK_TOTAL = 1e-10, RANK_BETWEEN = 1e-8, TIED = 1e-6;
/* Clearly not equal, so that the rule for ties need not be asked. */
static const double UNTIED = 1e-5;

typedef struct state {
    int64_t d, c, r, q;
    const int64_t *first;
    int64_t iters;
    double tol;
    bool rotate; /* variant s1 */
    rlar_reduced reduced;
    double *g;             /* d x q, the map: G0, then the feasible iterate */
    double *c_star;        /* r x q: P, then C */
    double *g0;            /* d x q */
    double *sparse, *dual; /* d x q: the sparse iterate and the scaled multiplier */
    double *v;             /* d x q */
    double *factor;        /* d x d, its last columns are N; NULL where U1 is the smaller one */
    const double *basis;   /* U1 or N */
    int64_t width;         /* its columns */
    double *along;         /* width x q: basis^T V */
    double moved;          /* ||sparse - its predecessor|| of the last iteration */
} state;

/* ---- The constraint ---- */

/* q, and P into c_star, from the SVD of the whitened class means a (r x c, destroyed). */
static void choose_basis(state *st, const double *sb, const double *p, double *a) {
    const int64_t r = st->r, k = rlar__min64(r, st->c);
    while (st->q < rlar__min64(k, st->c - 1) && sb[st->q] > RANK_BETWEEN * sb[0])
        st->q++;
    memcpy(st->c_star, p, (size_t)(r * st->q) * sizeof *p);
    if (st->q < 1 || sb[0] - sb[st->q - 1] >= TIED)
        return;
    const double least = RANK_BETWEEN * rlar__norm(r * st->c, a);
    if (rlar__orthonormalise(r, st->c, least, a) >= st->q)
        memcpy(st->c_star, a, (size_t)(r * st->q) * sizeof *a);
}

static rlar_status make_basis(rlar_ctx *ctx, state *st) {
    const int64_t r = st->r, c = st->c, k = rlar__min64(r, c);
    double *a = NULL, *copy = NULL, *p = NULL, *sb = NULL, *qt = NULL;
    rlar_status status = rlar__alloc(ctx, c, (size_t)r * sizeof *a, "the class means", &a);
    if (status >= 0)
        status = rlar__alloc(ctx, c, (size_t)r * sizeof *copy, "the class means", &copy);
    if (status >= 0)
        status = rlar__alloc(ctx, k, (size_t)r * sizeof *p, "the directions", &p);
    if (status >= 0)
        status = rlar__alloc(ctx, k, sizeof *sb, "the directions", &sb);
    if (status >= 0)
        status = rlar__alloc(ctx, c, (size_t)k * sizeof *qt, "the directions", &qt);
    if (status >= 0)
        status = rlar__alloc(ctx, k, (size_t)r * sizeof *st->c_star, "the directions", &st->c_star);
    if (status >= 0)
        status = rlar__between_white(ctx, &st->reduced, r, 0.0, c, st->first, a);
    if (status >= 0) {
        memcpy(copy, a, (size_t)(r * c) * sizeof *a);
        status = rlar__svd_thin(ctx, r, c, copy, p, sb, qt);
    }
    if (status >= 0 && !(sb[0] > RANK_BETWEEN))
        status = rlar__fail(ctx, RLAR_E_DATA,
                            "the means of the %lld classes do not differ: nothing to discriminate "
                            "by; check the labels and the scaling",
                            (long long)c);
    if (status >= 0)
        choose_basis(st, sb, p, a);
    rlar__free(a);
    rlar__free(copy);
    rlar__free(p);
    rlar__free(sb);
    rlar__free(qt);
    return status;
}

/* U1, s, C and the map with G0 = U1 C. */
static rlar_status prepare(rlar_ctx *ctx, state *st, const rlar_train *train, rlar_map *out) {
    rlar_reduced *reduced = &st->reduced;
    RLAR_TRY(rlar__reduce(ctx, train->x, train->d, train->n, reduced));
    while (st->r < reduced->r && reduced->s[st->r] > RANK_TOTAL * reduced->s[0])
        st->r++;
    RLAR_TRY(make_basis(ctx, st));
    for (int64_t j = 0; j < st->q; j++)
        for (int64_t i = 0; i < st->r; i++)
            st->c_star[j * st->r + i] /= reduced->s[i];
    RLAR_TRY(rlar__map_new(ctx, st->d, st->q, out));
    st->g = out->w;
    return rlar__multiply(ctx, st->d, st->q, st->r, reduced->v, st->c_star, st->g);
}

/* ---- Minimising the norm ---- */

/* U1, or N where that has fewer columns. */
static rlar_status choose_side(rlar_ctx *ctx, state *st) {
    const int64_t d = st->d, r = st->r;
    st->basis = st->reduced.v;
    st->width = r;
    if (r <= d - r)
        return RLAR_OK;
    RLAR_TRY(rlar__alloc(ctx, d, (size_t)d * sizeof *st->factor, "the complement", &st->factor));
    RLAR_TRY(rlar__complement(ctx, d, r, st->reduced.v, st->factor));
    st->basis = st->factor + r * d;
    st->width = d - r;
    return RLAR_OK;
}

static rlar_status start_iterations(rlar_ctx *ctx, state *st) {
    const size_t column = (size_t)st->d * sizeof *st->g;
    RLAR_TRY(choose_side(ctx, st));
    RLAR_TRY(rlar__alloc(ctx, st->q, column, "the iterates", &st->g0));
    RLAR_TRY(rlar__alloc(ctx, st->q, column, "the iterates", &st->sparse));
    RLAR_TRY(rlar__calloc(ctx, st->q, column, "the iterates", &st->dual));
    RLAR_TRY(rlar__alloc(ctx, st->q, column, "the iterates", &st->v));
    RLAR_TRY(
        rlar__alloc(ctx, st->q, (size_t)st->width * sizeof *st->along, "the iterates", &st->along));
    memcpy(st->g0, st->g, (size_t)st->q * column);
    memcpy(st->sparse, st->g, (size_t)st->q * column);
    return RLAR_OK;
}

/* G = V - U1 (U1^T V) + G0 = N (N^T V) + G0 with V = sparse - dual. */
static rlar_status update_feasible(rlar_ctx *ctx, state *st) {
    const int64_t d = st->d, q = st->q, count = d * q;
    for (int64_t i = 0; i < count; i++)
        st->v[i] = st->sparse[i] - st->dual[i];
    RLAR_TRY(rlar__project(ctx, st->width, q, d, st->basis, st->v, st->along));
    RLAR_TRY(rlar__multiply(ctx, d, q, st->width, st->basis, st->along, st->g));
    for (int64_t i = 0; i < count; i++)
        st->g[i] = (st->factor ? st->g[i] : st->v[i] - st->g[i]) + st->g0[i];
    return RLAR_OK;
}

/* sparse = shrink(G + dual, t), dual += G - sparse; v is left with G - sparse. */
static void update_sparse(state *st, double t) {
    double moved = 0.0;
    for (int64_t i = 0; i < st->d * st->q; i++) {
        const double old = st->sparse[i];
        st->sparse[i] = rlar__shrink(st->g[i] + st->dual[i], t);
        st->v[i] = st->g[i] - st->sparse[i];
        st->dual[i] += st->v[i];
        moved += (st->sparse[i] - old) * (st->sparse[i] - old);
    }
    st->moved = sqrt(moved);
}

static bool agreed(const state *st) {
    const int64_t count = st->d * st->q;
    return rlar__norm(count, st->v) <= st->tol * rlar__norm(count, st->g) &&
           st->moved <= st->tol * rlar__norm(count, st->dual);
}

static rlar_status minimise(rlar_ctx *ctx, state *st, rlar_info *info) {
    const double start = rlar__now();
    const int64_t count = st->d * st->q;
    RLAR_TRY(start_iterations(ctx, st));
    const double t = rlar__norm1(count, st->g0) / (double)count; /* the scale of the entries */
    for (int64_t k = 1; k <= st->iters && !info->converged; k++) {
        RLAR_TRY(update_feasible(ctx, st));
        update_sparse(st, t);
        info->converged = st->tol > 0.0 && agreed(st);
        info->sparsity = info->smoothed = rlar__norm1(count, st->g);
        RLAR_TRY(rlar__iteration_end(ctx, k, st->iters, start, info));
    }
    return RLAR_OK;
}

/* Variant s1, after minimise(), which has no more use for g0 and v. s0 is kept unless the free
 * rotation found a sparser map. */
static rlar_status rotate(rlar_ctx *ctx, state *st, rlar_info *info) {
    const rlar_rotation_problem problem = {.d = st->d,
                                           .r = st->r,
                                           .q = st->q,
                                           .u = st->reduced.v,
                                           .c = st->c_star,
                                           .iters = st->iters,
                                           .tol = st->tol};
    double norm;
    RLAR_TRY(rlar__rotation_solve(ctx, &problem, st->g0, st->v, &norm));
    if (!(norm < info->sparsity))
        return RLAR_OK;
    memcpy(st->g, st->g0, (size_t)(st->d * st->q) * sizeof *st->g);
    info->objective = info->sparsity = info->smoothed = norm;
    return RLAR_OK;
}

static void state_free(state *st) {
    rlar__reduce_free(&st->reduced);
    rlar__free(st->c_star);
    rlar__free(st->g0);
    rlar__free(st->sparse);
    rlar__free(st->dual);
    rlar__free(st->v);
    rlar__free(st->along);
    rlar__free(st->factor);
}

/* ---- The method ---- */

/* With more samples than features uncorrelated LDA is the only feasible map, and these are Fisher's
 * directions (fisher.h, by Cholesky): *done unless S_t is near singular, or the rule for ranks or
 * the one for ties needs the singular values themselves. */
static rlar_status fit_unique(rlar_ctx *ctx, const rlar_train *train, rlar_map *out,
                              rlar_info *info, bool *done) {
    const int64_t d = train->d, q = rlar__min64(train->c - 1, d);
    const rlar_fisher_problem problem = {
        .n = train->n, .d = d, .c = train->c, .x = train->x, .first = train->first};
    rlar_fisher fisher;
    rlar_status status = rlar__fisher_cholesky(ctx, &problem, done, &fisher);
    *done = *done && status >= 0 && fisher.q == q &&
            (q == 1 || sqrt(fisher.mu[0]) - sqrt(fisher.mu[q - 1]) > UNTIED);
    if (status == RLAR_E_DATA) /* means that hardly differ: the rule here is another */
        status = rlar__forgive(ctx);
    if (*done)
        status = rlar__map_new(ctx, d, q, out);
    if (status >= 0 && *done) {
        memcpy(out->w, fisher.w, (size_t)(d * q) * sizeof *out->w);
        rlar__fix_signs(d, q, out->w);
        for (int64_t j = 0; j < q; j++)
            out->b[j] = -rlar__dot(d, out->w + j * d, fisher.mean);
        info->converged = 1;
        info->objective = info->sparsity = info->smoothed = rlar__norm1(d * q, out->w);
    }
    rlar__fisher_free(&fisher);
    return status;
}

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    bool done;
    RLAR_TRY(fit_unique(ctx, train, out, info, &done));
    if (done)
        return RLAR_OK;
    state st = {.d = train->d,
                .c = train->c,
                .first = train->first,
                .iters = rlar__param_int(params, "iters"),
                .tol = rlar__param(params, "tol"),
                .rotate = rlar__param_int(params, "variant") == 1};
    rlar_status status = prepare(ctx, &st, train, out);
    info->dual = train->d > train->n;
    if (status >= 0 && st.r < st.d) {
        status = minimise(ctx, &st, info);
        if (status >= 0 && st.rotate)
            status = rotate(ctx, &st, info);
    } else if (status >= 0) {
        info->converged = 1;
        info->objective = info->sparsity = info->smoothed = rlar__norm1(st.d * st.q, st.g);
    }
    if (status >= 0) {
        rlar__fix_signs(st.d, st.q, out->w);
        rlar__reduce_offset(&st.reduced, st.q, out->w, out->b);
        status = rlar__tol_verdict(ctx, st.tol, st.iters, info);
    }
    state_free(&st);
    return status;
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    (void)ctx;
    const double n = (double)sizes->n, d = (double)sizes->d, c = (double)sizes->c;
    const double r = fmin(d, n), iters = (double)rlar__param_int(params, "iters");
    const rlar_fisher_problem unique = {.n = sizes->n, .d = sizes->d, .c = sizes->c};
    const double held = 8.0 * (r * (d + n + 2.0) + 2.0 * d);
    const double basis = 8.0 * (4.0 * r * c + c * c) + rlar__svd_bytes((int64_t)r, sizes->c);
    double iterates = 8.0 * (4.0 * d * c + 2.0 * r * c);
    if (2.0 * r > d)
        iterates += 8.0 * d * d + rlar__complement_bytes(sizes->d);
    if (rlar__param_int(params, "variant") == 1)
        iterates += rlar__rotation_bytes((int64_t)r, sizes->c - 1);
    const double after = fmax(held + fmax(basis, iterates), rlar__fisher_cholesky_bytes(&unique));
    out->bytes = rlar__whole_bytes(fmax((double)rlar__reduce_bytes(sizes->d, sizes->n), after));
    out->dual = sizes->d > sizes->n;
    const double step = 4.0 * d * c; /* for each column of the smaller of U1 and N */
    const double work = sizes->n <= sizes->d ? iters * step * fmin(r, d - r + 1.0) : step * r;
    out->flops = rlar__reduce_flops(sizes->d, sizes->n) + 8.0 * r * c * c + work;
    return RLAR_OK;
}

static int64_t outputs(const rlar_train *train, const rlar_params *params) {
    (void)params;
    return rlar__min64(train->c - 1, train->d);
}

const rlar_method rlar__method_sulda = {
    .def = {.name = "sulda",
            .title = "Sparse Uncorrelated Linear Discriminant Analysis",
            .cite = "X. Zhang, D. Chu and R. C. E. Tan, Sparse Uncorrelated Linear Discriminant "
                    "Analysis for Undersampled Problems, IEEE Transactions on Neural Networks and "
                    "Learning Systems 27(7), 2016",
            .about = "Of all maps that discriminate as uncorrelated LDA does, the one with the "
                     "smallest sum of magnitudes. With more samples than features there is only "
                     "one, uncorrelated LDA; with fewer, every class of the training samples "
                     "collapses to a point.",
            .scores = "Euclidean norm of the feature's row of W; with fewer samples than features "
                      "rows near 0 are not used",
            .params = params_table,
            .source = "partly confirmed: the problem by the papers' abstracts and the known "
                      "characterisation of uncorrelated LDA; the solver and its constants are our "
                      "own; the rotation Z of the 2016 paper is fixed to I unless variant=s1",
            .regression = 0},
    .outputs = outputs,
    .fit = fit,
    .forecast = forecast,
};
