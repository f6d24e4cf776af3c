/* wsolve.h - the weighted, graph-regularised ridge solve that several methods repeat. */
#ifndef RLAR_WSOLVE_H
#define RLAR_WSOLVE_H

#include "core/core.h"
#include "graph/laplacian.h"
#include "linalg/cost.h"
#include "linalg/errands.h"
#include "linalg/linalg.h"

/* minimise over W, b   tr(E D E^T) + alpha tr(W^T P^-1 W) + beta tr(W^T X L X^T W),   E = W^T X + b
 * 1^T - T, equations (14) to (17), with D = diag(dhat), P^-1 = diag(dtil). */
typedef struct rlar_wproblem {
    int64_t n, d, c;
    const double *x;         /* d x n */
    const double *t;         /* c x n targets, NULL where only the form is wanted */
    const double *dhat;      /* n weights > 0 */
    const double *dtil;      /* d weights > 0 */
    const rlar_laplacian *l; /* NULL: no graph */
    const rlar_groups *groups;
    double alpha, beta;
    bool no_offset; /* b = 0 and nothing is centred */
} rlar_wproblem;

/* Buffers of one solver; carved from the fit's workspace. */
typedef struct rlar_wsolver {
    bool dual; /* n x n instead of d x d */
    double *xc,
        *bx; /* some samples: Xc and Xc (D + beta L), or Y and C (weigh.h); dual: all, P^1/2 Xc */
    double *tw;         /* c x n: D (T - tau) */
    double *m;          /* the system, in the dual */
    rlar_system system; /* the same in the primal */
    double *a;          /* n x c: dual variables */
    double *root;       /* d: P^1/2, in the dual */
    double *inverse;    /* N^-1 class by class, in the dual of a metric; NULL: not kept */
    double *mu, *tau;   /* weighted means of X and T */
    rlar_partials partials, moments;
    rlar_errands errands; /* neighbours on other ranks */
} rlar_wsolver;

/* The dual is the cheaper when n < d. Over ranks there is the primal only, whose sums add up. */
bool rlar__wsolve_prefers_dual(const rlar_groups *groups, int64_t d);
void rlar__wsolve_carve(rlar_workspace *ws, const rlar_groups *groups, int64_t d, int64_t c,
                        bool dual, rlar_wsolver *out);
/* W (d x c) and b (c). *ridged counts factorisations that needed extra regularisation. */
rlar_status rlar__wsolve(rlar_ctx *ctx, const rlar_wproblem *problem, rlar_wsolver *solver,
                         double *w, double *b, int *ridged);

/* ---- The quadratic form of the same problem as a metric (coords.h) ---- */

/* More room, for what follows. */
void rlar__wsolve_carve_metric(rlar_workspace *ws, const rlar_groups *groups, rlar_wsolver *out);
/* Factorise it; t is not read. */
rlar_status rlar__wsolve_factor(rlar_ctx *ctx, const rlar_wproblem *problem, rlar_wsolver *solver,
                                int *ridged);
/* Primal: gradients by W (d x c) and b (c) become the step M^-1 of them, in place. With b moved by
 * W^T mu the two are apart: M for W, sum dhat for b. */
rlar_status rlar__wsolve_primal(rlar_ctx *ctx, const rlar_wproblem *problem,
                                const rlar_wsolver *solver, double *w, double *b);
/* Dual, all c x n: out = z N^-1, class by class; a <- (alpha N^-1 + Xc^T P Xc)^-1 a. */
rlar_status rlar__wsolve_by_class(rlar_ctx *ctx, const rlar_wproblem *problem,
                                  const rlar_wsolver *solver, const double *z, double *out);
rlar_status rlar__wsolve_dual(rlar_ctx *ctx, const rlar_wproblem *problem, rlar_wsolver *solver,
                              double *a);
/* Dual: W = P Xc A, A c x n. */
rlar_status rlar__wsolve_features(rlar_ctx *ctx, const rlar_wproblem *problem, rlar_wsolver *solver,
                                  const double *a, double *w);

/* Operations of one solve. */
double rlar__wsolve_flops(int64_t n, int64_t d, int64_t c, bool dual);
/* What ranks say in one solve, or (not right) in a factorisation; offset: not without one. Added.
 */
void rlar__wsolve_talk(int64_t d, int64_t c, bool offset, bool right, rlar_exchange *out);

#endif
