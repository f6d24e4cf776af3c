/* ridge.h - the centred ridge system: factored once, solved for any number of targets. */
#ifndef RLAR_RIDGE_H
#define RLAR_RIDGE_H

#include "core/core.h"
#include "linalg/cost.h"
#include "linalg/linalg.h"

/* What does not depend on lambda: may be shared by any number of systems, read-only. */
typedef struct rlar_ridge_base {
    bool dual;
    double *mean; /* d */
    double *xc;   /* d x n */
    double *gram; /* lower triangle of Xc Xc^T or Xc^T Xc */
} rlar_ridge_base;

/* minimise over W, b   ||W^T X + b 1^T - T||_F^2 + lambda ||W||_F^2   for one X and many T. */
typedef struct rlar_ridge {
    int64_t n, d, p; /* samples here */
    bool dual;       /* n x n instead of d x d */
    double lambda;   /* what stands on the diagonal: more than asked for where that was needed */
    const rlar_ridge_base *base; /* or NULL */
    double *mean;                /* d; that of the base where there is one, as the next */
    double *xc;                  /* d x n: X - mean 1^T */
    rlar_system system;
    double *m, *diag; /* that of the system; see rlar__chol_factor */
    double *first;    /* d: see centre.h; not with a base */
    double *tau, *tc; /* p, p x n: mean of the targets, targets without it */
    double *solution; /* of the last solve: W (d x p), or A (n x p) with W = Xc A in the dual */
    rlar_partials partials;
} rlar_ridge;

/* Free it also after an error. blocks: as below. */
rlar_status rlar__ridge_base_new(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t n, int64_t d,
                                 bool dual, const double *x, rlar_ridge_base *out);
void rlar__ridge_base_free(rlar_ridge_base *base);

/* blocks: for sums over the samples of all ranks, in the primal; NULL: all are here. base NULL: the
 * system has one of its own. */
void rlar__ridge_carve(rlar_workspace *ws, const rlar_blocks *blocks, int64_t n, int64_t d,
                       int64_t p, bool dual, const rlar_ridge_base *base, rlar_ridge *out);
/* Centre the samples x (d x n), unless that is in the base, and factor; lambda > 0. *ridged counts
 * retries, as in rlar__chol_factor. */
rlar_status rlar__ridge_factor(rlar_ctx *ctx, rlar_ridge *ridge, const double *x, double lambda,
                               int *ridged);
/* The solution for the targets t (p x n) and its outputs y = W^T X + b 1^T (p x n). The dual does
 * not touch the samples: 2 n^2 p operations. */
rlar_status rlar__ridge_solve(rlar_ctx *ctx, rlar_ridge *ridge, const double *t, double *y);
/* W (d x p) and b (p) of the last solve. */
rlar_status rlar__ridge_map(rlar_ctx *ctx, const rlar_ridge *ridge, double *w, double *b);
/* ||W||_F^2 of the last solve, whose outputs are y; without W in the dual. */
double rlar__ridge_penalty(const rlar_ridge *ridge, const double *y);
/* Operations of a factorisation and of one solve. */
double rlar__ridge_factor_flops(int64_t n, int64_t d, bool dual);
double rlar__ridge_solve_flops(int64_t n, int64_t d, int64_t p, bool dual);
/* What ranks say in either; added. */
void rlar__ridge_talk(int64_t d, int64_t p, rlar_exchange *factor, rlar_exchange *solve);

#endif
