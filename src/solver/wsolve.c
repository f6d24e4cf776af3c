/* wsolve.c - equations (15) and (17) by weighted centring; H is never built.
 *
 *   s = sum dhat,  mu = X dhat / s,  tau = T dhat / s,  Xc = X - mu 1^T,  Tc = T - tau 1^T,  N = D
 * + beta L primal  (Xc N Xc^T + alpha P^-1) W = Xc D Tc^T                        n d^2 + d^3/3 dual
 * (alpha N^-1 + Xc^T P Xc) A = N^-1 D Tc^T,   W = P Xc A        n^2 d + n^3/3 b = tau - W^T mu This
 * is the paper's form, because X H X^T = Xc D Xc^T and L 1 = 0. N is block diagonal by class and
 * strictly diagonally dominant, so its inverse is had class by class; the dual matrix is symmetric
 * positive definite and has no entry of size 1/eps: a row of W that is driven to zero has P = 0,
 * not P^-1 = 1/eps. */
#include "solver/wsolve.h"

#include <string.h>

enum { SAMPLES_PER_TASK = 32 };

bool rlar__wsolve_prefers_dual(int64_t n, int64_t d) {
    return n < d;
}

double rlar__wsolve_flops(int64_t n, int64_t d, int64_t c, bool dual) {
    const double small = (double)(dual ? n : d), large = (double)(dual ? d : n), p = (double)c;
    return small * small * (large + small / 3.0 + 2.0 * p) + 2.0 * small * large * p;
}

void rlar__wsolve_carve(rlar_workspace *ws, const rlar_ctx *ctx, int64_t n, int64_t d, int64_t c,
                        bool dual, rlar_wsolver *out) {
    const int64_t side = dual ? n : d;
    size_t row = 0, column = 0, targets = 0;
    if (!rlar__size_mul((size_t)side, sizeof(double), &row) ||
        !rlar__size_mul((size_t)d, sizeof(double), &column) ||
        !rlar__size_mul((size_t)c, sizeof(double), &targets))
        ws->overflow = true;
    out->dual = dual;
    out->xc = rlar__carve(ws, n, column);
    out->bx = rlar__carve(ws, n, column);
    out->tw = rlar__carve(ws, n, targets);
    out->m = rlar__carve(ws, side, row);
    out->diag = rlar__carve(ws, side, sizeof(double));
    out->a = rlar__carve(ws, dual ? n : 0, targets);
    out->mu = rlar__carve(ws, d, sizeof(double));
    out->tau = rlar__carve(ws, c, sizeof(double));
    rlar__partials_carve(ws, ctx, n, &out->partials);
}

typedef struct wjob {
    const rlar_wproblem *p;
    rlar_wsolver *s;
} wjob;

/* ---- Centring ---- */

/* Mean of the columns of y (rows x n) with the weights dhat. */
static rlar_status weighted_mean(rlar_ctx *ctx, const rlar_wproblem *p, const rlar_wsolver *s,
                                 int64_t rows, const double *y, double *mean) {
    if (p->no_offset) {
        memset(mean, 0, (size_t)rows * sizeof *mean);
        return RLAR_OK;
    }
    RLAR_TRY(rlar__moments(ctx, &s->partials, rows, 1, p->n, y, p->dhat, mean));
    const double total = rlar__sum(p->n, p->dhat); /* > 0: every weight is */
    for (int64_t r = 0; r < rows; r++)
        mean[r] /= total;
    return RLAR_OK;
}

/* Xc and D Tc for some samples. */
static rlar_status centre_task(void *arg, int64_t task) {
    const wjob *j = arg;
    const int64_t d = j->p->d, c = j->p->c, start = task * SAMPLES_PER_TASK;
    for (int64_t i = start; i < start + SAMPLES_PER_TASK && i < j->p->n; i++) {
        const double *x = j->p->x + i * d, *t = j->p->t + i * c;
        double *xc = j->s->xc + i * d, *tw = j->s->tw + i * c;
        for (int64_t r = 0; r < d; r++)
            xc[r] = x[r] - j->s->mu[r];
        for (int64_t r = 0; r < c; r++)
            tw[r] = j->p->dhat[i] * (t[r] - j->s->tau[r]);
    }
    return RLAR_OK;
}

static int64_t sample_tasks(const rlar_wproblem *p) {
    return (p->n + SAMPLES_PER_TASK - 1) / SAMPLES_PER_TASK;
}

/* ---- Primal ---- */

/* B = Xc (D + beta L), from differences: L has row sums of zero, large weights must cancel exactly.
 */
static rlar_status weigh_task(void *arg, int64_t task) {
    const wjob *j = arg;
    const int64_t d = j->p->d, start = task * SAMPLES_PER_TASK;
    for (int64_t i = start; i < start + SAMPLES_PER_TASK && i < j->p->n; i++) {
        double *bx = j->s->bx + i * d;
        for (int64_t r = 0; r < d; r++)
            bx[r] = j->p->dhat[i] * j->s->xc[i * d + r];
        if (j->p->l)
            rlar__laplacian_row(j->p->l, i, j->p->beta, d, j->s->xc, bx);
    }
    return RLAR_OK;
}

static rlar_status solve_primal(rlar_ctx *ctx, wjob *j, double *w, int *ridged) {
    const rlar_wproblem *p = j->p;
    rlar_wsolver *s = j->s;
    RLAR_TRY(rlar__parallel(ctx, sample_tasks(p), weigh_task, j));
    RLAR_TRY(rlar__gram_outer(ctx, &s->partials, p->d, p->n, s->bx, s->xc, s->m));
    for (int64_t r = 0; r < p->d; r++)
        s->m[r * p->d + r] += p->alpha * p->dtil[r];
    RLAR_TRY(rlar__moments(ctx, &s->partials, p->d, p->c, p->n, s->xc, s->tw, w));
    RLAR_TRY(rlar__chol_factor(ctx, p->d, s->m, s->diag, ridged));
    return rlar__chol_solve(ctx, p->d, p->c, s->m, w);
}

/* ---- Dual ---- */

static rlar_status scale_task(void *arg, int64_t task) {
    const wjob *j = arg;
    const int64_t d = j->p->d, start = task * SAMPLES_PER_TASK;
    for (int64_t i = start; i < start + SAMPLES_PER_TASK && i < j->p->n; i++)
        for (int64_t r = 0; r < d; r++)
            j->s->bx[i * d + r] = j->s->xc[i * d + r] / j->p->dtil[r];
    return RLAR_OK;
}

/* The lower triangle of N = D + beta L for one class, in place in the n x n system. */
static void class_block(const wjob *j, int64_t start, int64_t end) {
    const rlar_wproblem *p = j->p;
    for (int64_t i = start; i < end; i++) {
        double *column = j->s->m + i * p->n;
        column[i] += p->dhat[i];
        for (int64_t e = p->l ? p->l->start[i] : 0; p->l && e < p->l->start[i + 1]; e++) {
            const double weight = p->beta * p->l->weight[e];
            column[i] += weight;
            if (p->l->other[e] > i)
                column[p->l->other[e]] -= weight;
        }
    }
}

/* One class: A = N^-1 D Tc for its samples, then alpha N^-1 in its diagonal block of the system. */
static rlar_status class_task(void *arg, int64_t i) {
    wjob *j = arg;
    const rlar_wproblem *p = j->p;
    const int64_t start = p->groups->first[i], end = p->groups->first[i + 1], count = end - start;
    double *block = j->s->m + start * p->n + start;
    for (int64_t col = start; col < end; col++)
        memset(j->s->m + col * p->n + col, 0, (size_t)(p->n - col) * sizeof *j->s->m);
    class_block(j, start, end);
    for (int64_t col = start; col < end; col++)
        for (int64_t r = 0; r < p->c; r++)
            j->s->a[r * p->n + col] = j->s->tw[col * p->c + r];
    if (!rlar__chol_small(count, block, p->n))
        return RLAR_E_NUMERIC;
    rlar__chol_small_solve(count, p->c, block, p->n, j->s->a + start, p->n);
    rlar__chol_small_inverse(count, block, p->n);
    for (int64_t col = 0; col < count; col++)
        for (int64_t row = col; row < count; row++)
            block[col * p->n + row] *= p->alpha;
    return RLAR_OK;
}

static rlar_status solve_dual(rlar_ctx *ctx, wjob *j, double *w, int *ridged) {
    const rlar_wproblem *p = j->p;
    rlar_wsolver *s = j->s;
    RLAR_TRY(rlar__parallel(ctx, sample_tasks(p), scale_task, j));
    const rlar_status status = rlar__parallel(ctx, p->groups->c, class_task, j);
    if (status == RLAR_E_NUMERIC)
        return rlar__fail(ctx, status,
                          "the weights of a class cannot be factorised; raise eps or lower beta");
    RLAR_TRY(status);
    RLAR_TRY(rlar__gram_inner(ctx, p->n, p->d, s->xc, s->bx, s->m));
    RLAR_TRY(rlar__chol_factor(ctx, p->n, s->m, s->diag, ridged));
    RLAR_TRY(rlar__chol_solve(ctx, p->n, p->c, s->m, s->a));
    return rlar__multiply(ctx, p->d, p->c, p->n, s->bx, s->a, w);
}

rlar_status rlar__wsolve(rlar_ctx *ctx, const rlar_wproblem *problem, rlar_wsolver *solver,
                         double *w, double *b, int *ridged) {
    const int64_t d = problem->d, c = problem->c;
    wjob j = {.p = problem, .s = solver};
    RLAR_TRY(weighted_mean(ctx, problem, solver, d, problem->x, solver->mu));
    RLAR_TRY(weighted_mean(ctx, problem, solver, c, problem->t, solver->tau));
    RLAR_TRY(rlar__parallel(ctx, sample_tasks(problem), centre_task, &j));
    RLAR_TRY(solver->dual ? solve_dual(ctx, &j, w, ridged) : solve_primal(ctx, &j, w, ridged));
    for (int64_t r = 0; r < c; r++)
        b[r] = solver->tau[r] - rlar__dot(d, w + r * d, solver->mu);
    return RLAR_OK;
}
