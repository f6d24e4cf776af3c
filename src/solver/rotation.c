/* rotation.c - the smallest l1 norm over the rotations of a basis, by a linearised ADMM.
 *
 *   Z = the orthogonal matrix nearest to C^T (U^T G + L)                  (Procrustes)
 *   G = shrink(G - U (U^T G - C Z + L) / eta, 1 / (b eta))                (a shrunk gradient step)
 *   L = L + U^T G - C Z                                                   (multiplier over b)
 *
 * The G step needs no system to be solved, because U^T U = I bounds the curvature by 1. What comes
 * out is put back on the constraint, for the iteration meets it in the limit only. 4 d r q
 * operations per iteration. Nothing is said about how it ended: the norm tells what it was worth.
 */
#include "solver/rotation.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

/* Larger steps diverge, smaller penalties collapse to G = 0 (measured when the method was
 * specified). */
static const double PENALTY = 10.0, ETA = 1.02;

typedef struct rotation {
    const rlar_rotation_problem *problem;
    double b;                /* penalty of the constraint */
    double moved;            /* ||G - its predecessor|| of the last iteration */
    double *g, *step;        /* d x q: the caller's */
    double *along;           /* r x q: U^T G */
    double *cz, *l, *gap;    /* r x q: C Z; the multiplier over b; U^T G - C Z */
    double *m, *u, *sv, *vt; /* q x q: the Procrustes matrix and its SVD; sv has q */
    rlar_svd_room svd;
} rotation;

static void carve(rlar_workspace *ws, rotation *ro) {
    const int64_t q = ro->problem->q;
    const size_t tall = (size_t)ro->problem->r * sizeof(double), small = (size_t)q * sizeof(double);
    ro->along = rlar__carve(ws, q, tall);
    ro->cz = rlar__carve(ws, q, tall);
    ro->l = rlar__carve(ws, q, tall);
    ro->gap = rlar__carve(ws, q, tall);
    ro->m = rlar__carve(ws, q, small);
    ro->u = rlar__carve(ws, q, small);
    ro->sv = rlar__carve(ws, q, sizeof(double));
    ro->vt = rlar__carve(ws, q, small);
    rlar__svd_carve(ws, q, q, &ro->svd);
}

double rlar__rotation_bytes(int64_t r, int64_t q) {
    const rlar_rotation_problem problem = {.r = r, .q = q};
    rotation ro = {.problem = &problem};
    rlar_workspace ws = {0};
    carve(&ws, &ro);
    return ws.overflow ? 0x1p62 : (double)ws.used;
}

static rlar_status update_along(rlar_ctx *ctx, rotation *ro) {
    const rlar_rotation_problem *p = ro->problem;
    return rlar__project(ctx, p->r, p->q, p->d, p->u, ro->g, ro->along);
}

/* Z, in m, then C Z. */
static rlar_status update_z(rlar_ctx *ctx, rotation *ro) {
    const int64_t r = ro->problem->r, q = ro->problem->q;
    const double *c = ro->problem->c;
    for (int64_t i = 0; i < r * q; i++)
        ro->gap[i] = ro->along[i] + ro->l[i];
    RLAR_TRY(rlar__project(ctx, q, q, r, c, ro->gap, ro->m));
    RLAR_TRY(rlar__svd_thin_in(ctx, &ro->svd, q, q, ro->m, ro->u, ro->sv, ro->vt));
    RLAR_TRY(rlar__multiply(ctx, q, q, q, ro->u, ro->vt, ro->m));
    return rlar__multiply(ctx, r, q, q, c, ro->m, ro->cz);
}

/* G, how far it moved, and U^T G. */
static rlar_status update_g(rlar_ctx *ctx, rotation *ro) {
    const rlar_rotation_problem *p = ro->problem;
    double moved = 0.0;
    for (int64_t i = 0; i < p->r * p->q; i++)
        ro->gap[i] = ro->along[i] - ro->cz[i] + ro->l[i];
    RLAR_TRY(rlar__multiply(ctx, p->d, p->q, p->r, p->u, ro->gap, ro->step));
    for (int64_t i = 0; i < p->d * p->q; i++) {
        const double old = ro->g[i];
        ro->g[i] = rlar__shrink(old - ro->step[i] / ETA, 1.0 / (ro->b * ETA));
        moved += (ro->g[i] - old) * (ro->g[i] - old);
    }
    ro->moved = sqrt(moved);
    return update_along(ctx, ro);
}

/* L, and the gap that the constraint is left with. */
static void update_l(rotation *ro) {
    for (int64_t i = 0; i < ro->problem->r * ro->problem->q; i++) {
        ro->gap[i] = ro->along[i] - ro->cz[i];
        ro->l[i] += ro->gap[i];
    }
}

static bool arrived(const rotation *ro) {
    const rlar_rotation_problem *p = ro->problem;
    const int64_t inner = p->r * p->q;
    return rlar__norm(inner, ro->gap) <= p->tol * rlar__norm(inner, p->c) &&
           ro->moved <= p->tol * rlar__norm(p->d * p->q, ro->g);
}

/* G - U (U^T G - C Z) is feasible for any G. */
static rlar_status make_feasible(rlar_ctx *ctx, rotation *ro) {
    const rlar_rotation_problem *p = ro->problem;
    RLAR_TRY(rlar__multiply(ctx, p->d, p->q, p->r, p->u, ro->gap, ro->step));
    for (int64_t i = 0; i < p->d * p->q; i++)
        ro->g[i] -= ro->step[i];
    return RLAR_OK;
}

static rlar_status iterate(rlar_ctx *ctx, rotation *ro) {
    const rlar_rotation_problem *p = ro->problem;
    const int64_t count = p->d * p->q;
    ro->b = PENALTY * (double)count / rlar__norm1(count, ro->g); /* by the scale of the entries */
    memset(ro->l, 0, (size_t)(p->r * p->q) * sizeof *ro->l);
    RLAR_TRY(update_along(ctx, ro));
    for (int64_t k = 1; k <= p->iters; k++) {
        RLAR_TRY(update_z(ctx, ro));
        RLAR_TRY(update_g(ctx, ro));
        update_l(ro);
        RLAR_TRY(rlar__poll(ctx));
        if (arrived(ro))
            break;
    }
    return make_feasible(ctx, ro);
}

rlar_status rlar__rotation_solve(rlar_ctx *ctx, const rlar_rotation_problem *problem, double *g,
                                 double *step, double *norm) {
    rotation ro = {.problem = problem, .g = g, .step = step};
    rlar_workspace ws = {0};
    carve(&ws, &ro);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "the rotation"));
    carve(&ws, &ro);
    const rlar_status status = iterate(ctx, &ro);
    if (status >= 0)
        *norm = rlar__norm1(problem->d * problem->q, g);
    rlar__workspace_free(&ws);
    return status;
}
