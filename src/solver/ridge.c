/* ridge.c - ridge regression with a free offset, by centring.
 *
 *   Xc = X - mean 1^T,  Tc = T - tau 1^T,  b = tau - W^T mean
 *   primal (d <= n)   W = (Xc Xc^T + lambda I)^-1 Xc Tc^T
 *   dual   (n < d)    A = (K + lambda I)^-1 Tc^T,  K = Xc^T Xc,  W = Xc A
 *
 * The factor costs n d^2 + d^3/3 or n^2 d + n^3/3, then each solve 2 d^2 p + 4 n d p or 2 n^2 p.
 * In the dual the outputs cost nothing: Xc^T W = K A = Tc^T - lambda A. The error of that
 * difference is of the size of the rounding in Tc, as is the error of the solve. */
#include "solver/ridge.h"

#include <string.h>

#include "solver/centre.h"

/* For the means, and in the primal for the Gram matrix and the moments. */
static void carve_partials(rlar_workspace *ws, const rlar_blocks *blocks, int64_t n, int64_t d,
                           int64_t p, bool dual, rlar_partials *out) {
    const int64_t larger = d > p ? d : p;
    rlar__partials_carve_samples(ws, blocks, n, dual ? larger : d, dual ? 1 : larger, out);
}

void rlar__ridge_carve(rlar_workspace *ws, const rlar_blocks *blocks, int64_t n, int64_t d,
                       int64_t p, bool dual, const rlar_ridge_base *base, rlar_ridge *out) {
    const int64_t side = dual ? n : d;
    size_t column = 0, targets = 0;
    if (!rlar__size_mul((size_t)d, sizeof(double), &column) ||
        !rlar__size_mul((size_t)p, sizeof(double), &targets))
        ws->overflow = true;
    out->n = n;
    out->d = d;
    out->p = p;
    out->dual = dual;
    out->base = base;
    out->mean = base ? base->mean : rlar__carve(ws, d, sizeof(double));
    out->xc = base ? base->xc : rlar__carve(ws, n, column);
    out->first = rlar__carve(ws, base ? 0 : d, sizeof(double));
    rlar__system_carve(ws, dual ? NULL : blocks, side, p, &out->system);
    out->m = out->system.m;
    out->diag = rlar__carve(ws, side, sizeof(double));
    out->tau = rlar__carve(ws, p, sizeof(double));
    out->tc = rlar__carve(ws, n, targets);
    out->solution = rlar__carve(ws, side, targets);
    carve_partials(ws, blocks, n, d, p, dual, &out->partials);
}

double rlar__ridge_factor_flops(int64_t n, int64_t d, bool dual) {
    const double small = (double)(dual ? n : d), large = (double)(dual ? d : n);
    return small * small * (large + small / 3.0);
}

double rlar__ridge_solve_flops(int64_t n, int64_t d, int64_t p, bool dual) {
    const double small = (double)(dual ? n : d);
    return 2.0 * small * small * (double)p + (dual ? 0.0 : 4.0 * (double)n * small * (double)p);
}

void rlar__ridge_talk(int64_t d, int64_t p, rlar_exchange *factor, rlar_exchange *solve) {
    rlar__centre_talk(d, factor);
    factor->factors++;
    rlar__exchange_sum(solve, (double)d * (double)p);
    rlar__exchange_sum(solve, (double)p);
    solve->solves++;
}

/* The lower triangle of the smaller Gram matrix. */
static rlar_status make_gram(rlar_ctx *ctx, int64_t n, int64_t d, bool dual,
                             const rlar_partials *partials, const double *xc, double *gram) {
    const int64_t side = dual ? n : d;
    memset(gram, 0, (size_t)(side * side) * sizeof *gram);
    return dual ? rlar__gram_inner(ctx, n, d, xc, xc, gram)
                : rlar__gram_outer(ctx, partials, d, n, xc, xc, gram);
}

void rlar__ridge_base_free(rlar_ridge_base *base) {
    rlar__free(base->mean);
    rlar__free(base->xc);
    rlar__free(base->gram);
    *base = (rlar_ridge_base){0};
}

/* Centre the samples, and make the Gram matrix of them. */
static rlar_status centred_gram(rlar_ctx *ctx, int64_t n, int64_t d, bool dual,
                                const rlar_partials *partials, const double *x, double *first,
                                double *mean, double *xc, double *gram) {
    RLAR_TRY(rlar__centre_samples(ctx, partials, x, d, n, first, mean, xc));
    return make_gram(ctx, n, d, dual, partials, xc, gram);
}

rlar_status rlar__ridge_base_new(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t n, int64_t d,
                                 bool dual, const double *x, rlar_ridge_base *out) {
    const int64_t side = dual ? n : d;
    const size_t column = (size_t)d * sizeof(double);
    rlar_workspace ws = {0};
    rlar_partials partials;
    double *first = NULL;
    *out = (rlar_ridge_base){.dual = dual};
    RLAR_TRY(rlar__alloc(ctx, 1, column, "the mean", &out->mean));
    RLAR_TRY(rlar__alloc(ctx, n, column, "the centred samples", &out->xc));
    RLAR_TRY(rlar__alloc(ctx, side, (size_t)side * sizeof(double), "the Gram matrix", &out->gram));
    carve_partials(&ws, blocks, n, d, 1, dual, &partials);
    rlar__carve(&ws, d, sizeof *first);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "partial sums"));
    carve_partials(&ws, blocks, n, d, 1, dual, &partials);
    first = rlar__carve(&ws, d, sizeof *first);
    const rlar_status status =
        centred_gram(ctx, n, d, dual, &partials, x, first, out->mean, out->xc, out->gram);
    rlar__workspace_free(&ws);
    return status;
}

/* Xc Xc^T + lambda I on rank 0, which gives the ranks their tiles. */
static rlar_status build_spread(rlar_ctx *ctx, void *arg) {
    const rlar_ridge *ridge = arg;
    const int64_t n = ridge->n, d = ridge->d;
    rlar_tree tree = rlar__tree_begin(&ridge->partials, d, d, d, ridge->m);
    RLAR_TRY(rlar__gram_blocks(ctx, &tree, d, n, ridge->xc, ridge->xc));
    RLAR_TRY(rlar__system_end(ctx, &ridge->system, &tree));
    for (int64_t i = 0; i < d; i++)
        ridge->m[i * d + i] += ridge->lambda;
    return RLAR_OK;
}

/* All ranks together. There is no base: fits that share one have no other ranks. */
static rlar_status factor_spread(rlar_ctx *ctx, rlar_ridge *ridge, const double *x, double lambda,
                                 int *ridged) {
    ridge->lambda = lambda;
    RLAR_TRY(rlar__centre_samples(ctx, &ridge->partials, x, ridge->d, ridge->n, ridge->first,
                                  ridge->mean, ridge->xc));
    RLAR_TRY(build_spread(ctx, ridge));
    RLAR_TRY(rlar__system_factor(ctx, &ridge->system, build_spread, ridge, ridged));
    ridge->lambda += ridge->system.added;
    return RLAR_OK;
}

rlar_status rlar__ridge_factor(rlar_ctx *ctx, rlar_ridge *ridge, const double *x, double lambda,
                               int *ridged) {
    if (rlar__system_spread(&ridge->system))
        return factor_spread(ctx, ridge, x, lambda, ridged);
    const int64_t n = ridge->n, d = ridge->d, side = ridge->dual ? n : d;
    if (ridge->base) {
        memcpy(ridge->m, ridge->base->gram, (size_t)(side * side) * sizeof *ridge->m);
    } else {
        RLAR_TRY(centred_gram(ctx, n, d, ridge->dual, &ridge->partials, x, ridge->first,
                              ridge->mean, ridge->xc, ridge->m));
    }
    for (int64_t i = 0; i < side; i++)
        ridge->m[i * side + i] += lambda;
    int retries = 0;
    RLAR_TRY(rlar__chol_factor(ctx, side, ridge->m, ridge->diag, &retries));
    *ridged += retries;
    /* The first pivot is the first diagonal entry with what a retry has added. */
    const double added = ridge->m[0] * ridge->m[0] - ridge->diag[0];
    ridge->lambda = retries > 0 ? lambda + added : lambda;
    return RLAR_OK;
}

/* tau = T 1 / n. */
static rlar_status mean_targets(rlar_ctx *ctx, const rlar_ridge *ridge, const double *t) {
    const int64_t n = ridge->n, p = ridge->p;
    const rlar_blocks *blocks = ridge->partials.blocks;
    const double all = (double)(blocks ? rlar__blocks_samples(blocks) : n);
    rlar_tree tree = rlar__tree_begin(&ridge->partials, p, 1, 0, ridge->tau);
    for (int64_t start = 0, end; start < n; start = end) {
        double *sum = rlar__tree_leaf(&tree);
        end = rlar__partials_end(&ridge->partials, n, start);
        memset(sum, 0, (size_t)p * sizeof *sum);
        for (int64_t i = start; i < end; i++)
            for (int64_t r = 0; r < p; r++)
                sum[r] += t[i * p + r];
        RLAR_TRY(rlar__tree_merge(ctx, &tree));
    }
    RLAR_TRY(rlar__tree_end(ctx, &tree));
    for (int64_t r = 0; r < p; r++)
        ridge->tau[r] /= all;
    return RLAR_OK;
}

static rlar_status centre_targets(rlar_ctx *ctx, rlar_ridge *ridge, const double *t) {
    const int64_t n = ridge->n, p = ridge->p;
    RLAR_TRY(mean_targets(ctx, ridge, t));
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < p; r++)
            ridge->tc[i * p + r] = t[i * p + r] - ridge->tau[r];
    return RLAR_OK;
}

static rlar_status solve_primal(rlar_ctx *ctx, rlar_ridge *ridge, double *y) {
    const int64_t n = ridge->n, d = ridge->d, p = ridge->p;
    RLAR_TRY(rlar__moments(ctx, &ridge->partials, d, p, n, ridge->xc, ridge->tc, ridge->solution));
    RLAR_TRY(rlar__system_solve(ctx, &ridge->system, ridge->solution));
    RLAR_TRY(
        rlar__project_samples(ctx, ridge->partials.blocks, p, n, d, ridge->solution, ridge->xc, y));
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < p; r++)
            y[i * p + r] += ridge->tau[r];
    return RLAR_OK;
}

static rlar_status solve_dual(rlar_ctx *ctx, rlar_ridge *ridge, const double *t, double *y) {
    const int64_t n = ridge->n, p = ridge->p;
    double *a = ridge->solution;
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < p; r++)
            a[r * n + i] = ridge->tc[i * p + r];
    RLAR_TRY(rlar__chol_solve(ctx, n, p, ridge->m, a));
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < p; r++)
            y[i * p + r] = t[i * p + r] - ridge->lambda * a[r * n + i];
    return RLAR_OK;
}

rlar_status rlar__ridge_solve(rlar_ctx *ctx, rlar_ridge *ridge, const double *t, double *y) {
    RLAR_TRY(centre_targets(ctx, ridge, t));
    return ridge->dual ? solve_dual(ctx, ridge, t, y) : solve_primal(ctx, ridge, y);
}

rlar_status rlar__ridge_map(rlar_ctx *ctx, const rlar_ridge *ridge, double *w, double *b) {
    const int64_t n = ridge->n, d = ridge->d, p = ridge->p;
    if (ridge->dual)
        RLAR_TRY(rlar__multiply(ctx, d, p, n, ridge->xc, ridge->solution, w));
    else
        memcpy(w, ridge->solution, (size_t)(d * p) * sizeof *w);
    for (int64_t r = 0; r < p; r++)
        b[r] = ridge->tau[r] - rlar__dot(d, w + r * d, ridge->mean);
    return RLAR_OK;
}

/* Dual: ||Xc A||^2 = tr(A^T K A), and K A is what the outputs are without tau. */
double rlar__ridge_penalty(const rlar_ridge *ridge, const double *y) {
    const int64_t n = ridge->n, p = ridge->p;
    if (!ridge->dual)
        return rlar__dot(ridge->d * p, ridge->solution, ridge->solution);
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < p; r++)
            sum += ridge->solution[r * n + i] * (y[i * p + r] - ridge->tau[r]);
    return sum > 0.0 ? sum : 0.0;
}
