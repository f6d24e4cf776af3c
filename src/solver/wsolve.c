/* wsolve.c - equations (15) and (17) by weighted centring; H is never built.
 *
 *   s = sum dhat,  mu = X dhat / s,  tau = T dhat / s,  Xc = X - mu 1^T,  Tc = T - tau 1^T,
 *   N = D + beta L
 *   primal  (Xc N Xc^T + alpha P^-1) W = Xc D Tc^T                          n d^2 + d^3/3
 *   dual    (alpha N^-1 + Xc^T P Xc) A = N^-1 D Tc^T,   W = P Xc A          n^2 d + n^3/3
 *   b = tau - W^T mu
 *
 * This is the paper's form, because X H X^T = Xc D Xc^T and L 1 = 0. N is block diagonal by class
 * and strictly diagonally dominant, so its inverse is had class by class; the dual matrix is
 * symmetric positive definite and has no entry of size 1/eps: a row of W that is driven to zero has
 * P = 0, not P^-1 = 1/eps.
 *
 * The primal goes through the samples in portions: the centred and the weighted copies of X are
 * never whole, and are used while they are still in the cache. */
#include "solver/wsolve.h"

#include <math.h>
#include <string.h>

#include "solver/weigh.h"

enum { SAMPLES_PER_TASK = 16 };

bool rlar__wsolve_prefers_dual(const rlar_groups *groups, int64_t d) {
    return groups->n < d && !(groups->blocks && groups->blocks->ranks);
}

double rlar__wsolve_flops(int64_t n, int64_t d, int64_t c, bool dual) {
    const double small = (double)(dual ? n : d), large = (double)(dual ? d : n), p = (double)c;
    return small * small * (large + small / 3.0 + 2.0 * p) + 2.0 * small * large * p;
}

void rlar__wsolve_talk(int64_t d, int64_t c, bool offset, bool right, rlar_exchange *out) {
    const double features = (double)d, outputs = (double)c;
    out->factors++;
    if (offset) {
        out->sums += right ? 4.0 : 2.0;
        out->numbers += features + 1.0 + (right ? outputs + 1.0 : 0.0);
    }
    if (!right)
        return;
    out->sums++;
    out->numbers += features * outputs;
    out->solves++;
}

void rlar__wsolve_carve(rlar_workspace *ws, const rlar_groups *groups, int64_t d, int64_t c,
                        bool dual, rlar_wsolver *out) {
    const int64_t n = groups->n;
    size_t row = 0, column = 0, targets = 0;
    if (!rlar__size_mul((size_t)n, sizeof(double), &row) ||
        !rlar__size_mul((size_t)d, sizeof(double), &column) ||
        !rlar__size_mul((size_t)c, sizeof(double), &targets))
        ws->overflow = true;
    const int64_t held = dual ? n : rlar__min64(n, RLAR_PORTION);
    out->dual = dual;
    out->xc = rlar__carve(ws, held, column);
    out->bx = rlar__carve(ws, dual ? 0 : held, column);
    out->tw = rlar__carve(ws, n, targets);
    out->m = rlar__carve(ws, dual ? n : 0, row);
    rlar__system_carve(ws, groups->blocks, dual ? 0 : d, c, &out->system);
    out->a = rlar__carve(ws, dual ? n : 0, targets);
    out->root = rlar__carve(ws, dual ? d : 0, sizeof(double));
    out->inverse = NULL;
    out->mu = rlar__carve(ws, d, sizeof(double));
    out->tau = rlar__carve(ws, c, sizeof(double));
    rlar__partials_carve_samples(ws, groups->blocks, n, d, dual ? 1 : d, &out->partials);
    rlar__partials_carve_samples(ws, groups->blocks, n, d > c ? d : c, c, &out->moments);
    rlar__errands_carve(ws, groups->blocks, d, &out->errands);
}

/* Where the inverse of class i begins. */
static int64_t inverse_at(const rlar_groups *groups, int64_t i) {
    int64_t at = 0;
    for (int64_t k = 0; k < i; k++)
        at += (groups->first[k + 1] - groups->first[k]) * (groups->first[k + 1] - groups->first[k]);
    return at;
}

void rlar__wsolve_carve_metric(rlar_workspace *ws, const rlar_groups *groups, rlar_wsolver *out) {
    out->inverse = rlar__carve(ws, out->dual ? inverse_at(groups, groups->c) : 0, sizeof(double));
}

typedef struct wjob {
    const rlar_wproblem *p;
    rlar_wsolver *s;
    double *w;  /* NULL: the form without a right-hand side */
    bool roots; /* the form of weigh.h */
} wjob;

/* ---- Centring ---- */

/* Mean of the columns of y (rows x n) with the weights dhat. */
static rlar_status weighted_mean(rlar_ctx *ctx, const rlar_wproblem *p, const rlar_wsolver *s,
                                 int64_t rows, const double *y, double *mean) {
    if (p->no_offset) {
        memset(mean, 0, (size_t)rows * sizeof *mean);
        return RLAR_OK;
    }
    RLAR_TRY(rlar__moments(ctx, &s->moments, rows, 1, p->n, y, p->dhat, mean));
    double total; /* > 0: every weight is */
    RLAR_TRY(rlar__sum_samples(ctx, p->groups->blocks, p->n, p->dhat, &total));
    for (int64_t r = 0; r < rows; r++)
        mean[r] /= total;
    return RLAR_OK;
}

/* D Tc for some samples. */
static rlar_status targets_task(void *arg, int64_t start, int64_t end) {
    const wjob *j = arg;
    const int64_t c = j->p->c;
    for (int64_t i = start; i < end; i++)
        for (int64_t r = 0; r < c; r++)
            j->s->tw[i * c + r] = j->p->dhat[i] * (j->p->t[i * c + r] - j->s->tau[r]);
    return RLAR_OK;
}

static rlar_status over_samples(rlar_ctx *ctx, wjob *j, rlar_range_task task) {
    return rlar__parallel_ranges(ctx, j->p->n, SAMPLES_PER_TASK, task, j);
}

/* ---- Primal ---- */

/* A portion of the samples: Xc N Xc^T to m, Xc D Tc^T to w (unless NULL), or (not fresh) onto
 * them. */
static rlar_status add_portion(rlar_ctx *ctx, const wjob *j, int64_t first, int64_t last,
                               bool fresh, double *m, double *w) {
    const rlar_wproblem *p = j->p;
    rlar_wsolver *s = j->s;
    const double *left = j->roots ? s->xc : s->bx;
    RLAR_TRY(j->roots ? rlar__weigh_root(ctx, p, s->mu, first, last, s->xc, s->bx, w ? s->tw : NULL)
                      : rlar__weigh(ctx, p, s->mu, first, last, &s->errands, s->xc, s->bx));
    RLAR_TRY(rlar__gram_add(ctx, p->d, last - first, left, s->xc, fresh, m));
    if (!w)
        return RLAR_OK;
    return rlar__moments_add(ctx, p->d, p->c, last - first, s->xc, s->tw + first * p->c, fresh, w);
}

/* The samples of one block of the sum. */
static rlar_status add_block(rlar_ctx *ctx, const wjob *j, int64_t start, int64_t end, double *m,
                             double *w) {
    for (int64_t first = start, last; first < end; first = last) {
        last = rlar__min64(end, first + RLAR_PORTION);
        if (j->roots && last < end)
            last = rlar__weigh_cut(j->p, last, false);
        RLAR_TRY(add_portion(ctx, j, first, last, first == start, m, w));
    }
    return RLAR_OK;
}

/* Both sides of the system, block by block; by roots blocks end with classes. */
static rlar_status build_primal(rlar_ctx *ctx, void *arg) {
    wjob *j = arg;
    const rlar_wproblem *p = j->p;
    rlar_wsolver *s = j->s;
    if (j->w)
        RLAR_TRY(over_samples(ctx, j, targets_task));
    rlar_tree system = rlar__tree_begin(&s->partials, p->d, p->d, p->d, s->system.m);
    rlar_tree right = rlar__tree_begin(&s->moments, p->d, p->c, 0, j->w);
    j->roots = rlar__weigh_roots(p);
    rlar__errands_begin(&s->errands, p->x);
    for (int64_t start = 0, end; start < p->n; start = end) {
        end = rlar__partials_end(&s->partials, p->n, start);
        if (j->roots)
            end = rlar__weigh_cut(p, end, true);
        double *m_leaf = rlar__tree_leaf(&system), *w_leaf = j->w ? rlar__tree_leaf(&right) : NULL;
        RLAR_TRY(add_block(ctx, j, start, end, m_leaf, w_leaf));
        RLAR_TRY(rlar__tree_merge(ctx, &system));
        if (j->w)
            RLAR_TRY(rlar__tree_merge(ctx, &right));
    }
    if (!j->roots)
        RLAR_TRY(rlar__errands_end(ctx, &s->errands));
    RLAR_TRY(rlar__system_end(ctx, &s->system, &system));
    if (j->w)
        RLAR_TRY(rlar__tree_end(ctx, &right));
    for (int64_t r = 0; r < p->d; r++)
        s->system.m[r * p->d + r] += p->alpha * p->dtil[r];
    return RLAR_OK;
}

static rlar_status factor_primal(rlar_ctx *ctx, wjob *j, int *ridged) {
    RLAR_TRY(build_primal(ctx, j));
    return rlar__system_factor(ctx, &j->s->system, build_primal, j, ridged);
}

static rlar_status solve_primal(rlar_ctx *ctx, wjob *j, int *ridged) {
    RLAR_TRY(factor_primal(ctx, j, ridged));
    return rlar__system_solve(ctx, &j->s->system, j->w);
}

/* ---- Dual ---- */

/* P^1/2 Xc for some samples. */
static rlar_status scale_task(void *arg, int64_t start, int64_t end) {
    const wjob *j = arg;
    const int64_t d = j->p->d;
    for (int64_t i = start; i < end; i++)
        for (int64_t r = 0; r < d; r++)
            j->s->xc[i * d + r] = (j->p->x[i * d + r] - j->s->mu[r]) * j->s->root[r];
    return RLAR_OK;
}

/* Samples start .. end-1 of tw (c x n) to a (n x c). */
static void turn(const rlar_wproblem *p, int64_t start, int64_t end, const double *tw, double *a) {
    for (int64_t i = start; i < end; i++)
        for (int64_t r = 0; r < p->c; r++)
            a[r * p->n + i] = tw[i * p->c + r];
}

/* The inverse of class i, given by its lower triangle, both triangles to its place in out. */
static void keep_inverse(const rlar_wproblem *p, int64_t i, const double *block, double *out) {
    const int64_t *first = p->groups->first, count = first[i + 1] - first[i];
    out += inverse_at(p->groups, i);
    for (int64_t col = 0; col < count; col++)
        for (int64_t row = col; row < count; row++)
            out[col * count + row] = out[row * count + col] = block[col * p->n + row];
}

/* One class: A = N^-1 D Tc for its samples (where there are targets), then alpha N^-1 in its
 * diagonal block of the system. */
static rlar_status class_task(void *arg, int64_t i) {
    wjob *j = arg;
    const rlar_wproblem *p = j->p;
    const int64_t start = p->groups->first[i], end = p->groups->first[i + 1], count = end - start;
    double *block = j->s->m + start * p->n + start;
    for (int64_t col = start; col < end; col++)
        memset(j->s->m + col * p->n + col, 0, (size_t)(p->n - col) * sizeof *j->s->m);
    rlar__class_weights(p, start, end, block, p->n);
    if (!rlar__chol_small(count, block, p->n))
        return RLAR_E_NUMERIC;
    if (j->w) {
        turn(p, start, end, j->s->tw, j->s->a);
        rlar__chol_small_solve(count, p->c, block, p->n, j->s->a + start, p->n);
    }
    rlar__chol_small_inverse(count, block, p->n);
    if (j->s->inverse)
        keep_inverse(p, i, block, j->s->inverse);
    for (int64_t col = 0; col < count; col++)
        for (int64_t row = col; row < count; row++)
            block[col * p->n + row] *= p->alpha;
    return RLAR_OK;
}

/* Both sides of the system, but for P^1/2 Xc. Xc^T P Xc is made from one factor: DSYRK is faster
 * than any product of two. */
static rlar_status build_dual(rlar_ctx *ctx, void *arg) {
    wjob *j = arg;
    const rlar_wproblem *p = j->p;
    const rlar_status status = rlar__parallel(ctx, p->groups->c, class_task, j);
    RLAR_TRY(status == RLAR_E_NUMERIC ? rlar__weights_fail(ctx) : status);
    return rlar__gram_inner(ctx, p->n, p->d, j->s->xc, j->s->xc, j->s->m);
}

static rlar_status factor_dual(rlar_ctx *ctx, wjob *j, int *ridged) {
    const rlar_wproblem *p = j->p;
    rlar_wsolver *s = j->s;
    for (int64_t r = 0; r < p->d; r++)
        s->root[r] = 1.0 / sqrt(p->dtil[r]);
    if (j->w)
        RLAR_TRY(over_samples(ctx, j, targets_task));
    RLAR_TRY(over_samples(ctx, j, scale_task));
    RLAR_TRY(build_dual(ctx, j));
    return rlar__chol_factor_by(ctx, p->n, s->m, build_dual, j, ridged);
}

/* W = P Xc A. */
static rlar_status to_features(rlar_ctx *ctx, const wjob *j) {
    const rlar_wproblem *p = j->p;
    RLAR_TRY(rlar__multiply(ctx, p->d, p->c, p->n, j->s->xc, j->s->a, j->w));
    for (int64_t k = 0; k < p->c; k++)
        for (int64_t r = 0; r < p->d; r++)
            j->w[k * p->d + r] *= j->s->root[r];
    return RLAR_OK;
}

static rlar_status solve_dual(rlar_ctx *ctx, wjob *j, int *ridged) {
    RLAR_TRY(factor_dual(ctx, j, ridged));
    RLAR_TRY(rlar__chol_solve(ctx, j->p->n, j->p->c, j->s->m, j->s->a));
    return to_features(ctx, j);
}

rlar_status rlar__wsolve(rlar_ctx *ctx, const rlar_wproblem *problem, rlar_wsolver *solver,
                         double *w, double *b, int *ridged) {
    const int64_t d = problem->d, c = problem->c;
    wjob j = {.p = problem, .s = solver, .w = w};
    RLAR_TRY(weighted_mean(ctx, problem, solver, d, problem->x, solver->mu));
    RLAR_TRY(weighted_mean(ctx, problem, solver, c, problem->t, solver->tau));
    RLAR_TRY(solver->dual ? solve_dual(ctx, &j, ridged) : solve_primal(ctx, &j, ridged));
    for (int64_t r = 0; r < c; r++)
        b[r] = solver->tau[r] - rlar__dot(d, w + r * d, solver->mu);
    return RLAR_OK;
}

/* ---- The system as a metric ---- */

rlar_status rlar__wsolve_factor(rlar_ctx *ctx, const rlar_wproblem *problem, rlar_wsolver *solver,
                                int *ridged) {
    wjob j = {.p = problem, .s = solver};
    RLAR_TRY(weighted_mean(ctx, problem, solver, problem->d, problem->x, solver->mu));
    return solver->dual ? factor_dual(ctx, &j, ridged) : factor_primal(ctx, &j, ridged);
}

rlar_status rlar__wsolve_primal(rlar_ctx *ctx, const rlar_wproblem *problem,
                                const rlar_wsolver *solver, double *w, double *b) {
    const int64_t d = problem->d, c = problem->c;
    double total;
    RLAR_TRY(rlar__sum_samples(ctx, problem->groups->blocks, problem->n, problem->dhat, &total));
    for (int64_t k = 0; k < c; k++)
        for (int64_t r = 0; r < d; r++)
            w[k * d + r] -= solver->mu[r] * b[k];
    RLAR_TRY(rlar__system_solve(ctx, &solver->system, w));
    for (int64_t k = 0; k < c; k++)
        b[k] = b[k] / total - rlar__dot(d, w + k * d, solver->mu);
    return RLAR_OK;
}

typedef struct by_class {
    const rlar_wproblem *p;
    const double *inverse, *z;
    double *out;
} by_class;

static rlar_status by_class_task(void *arg, int64_t i) {
    const by_class *j = arg;
    const int64_t c = j->p->c, start = j->p->groups->first[i];
    const int64_t count = j->p->groups->first[i + 1] - start;
    rlar__tile_product(c, count, count, j->z + start * c, c,
                       j->inverse + inverse_at(j->p->groups, i), count, j->out + start * c, c);
    return RLAR_OK;
}

rlar_status rlar__wsolve_by_class(rlar_ctx *ctx, const rlar_wproblem *problem,
                                  const rlar_wsolver *solver, const double *z, double *out) {
    by_class j = {.p = problem, .inverse = solver->inverse, .z = z, .out = out};
    return rlar__parallel(ctx, problem->groups->c, by_class_task, &j);
}

rlar_status rlar__wsolve_dual(rlar_ctx *ctx, const rlar_wproblem *problem, rlar_wsolver *solver,
                              double *a) {
    const int64_t n = problem->n, c = problem->c;
    turn(problem, 0, n, a, solver->a);
    RLAR_TRY(rlar__chol_solve(ctx, n, c, solver->m, solver->a));
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < c; r++)
            a[i * c + r] = solver->a[r * n + i];
    return RLAR_OK;
}

rlar_status rlar__wsolve_features(rlar_ctx *ctx, const rlar_wproblem *problem, rlar_wsolver *solver,
                                  const double *a, double *w) {
    wjob j = {.p = problem, .s = solver, .w = w};
    turn(problem, 0, problem->n, a, solver->a);
    return to_features(ctx, &j);
}
