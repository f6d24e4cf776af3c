/* rslda_steps.h - the steps of RSLDA's alternating directions, one call each. */
#ifndef RLAR_RSLDA_STEPS_H
#define RLAR_RSLDA_STEPS_H

#include "core/core.h"
#include "graph/knn.h"
#include "linalg/linalg.h"
#include "solver/reduce.h"

/* minimise  tr(Q^T (Sw - kappa Sb) Q) + lambda1 sum_i ||q_i|| + lambda2 sum |E|
 * subject to  X = P Q^T X + E,  P^T P = I, with the multiplier Y and the penalty beta. */
typedef struct rlar_rslda {
    /* The problem. */
    int64_t n, d, r;
    const double *x; /* d x n, not centred */
    rlar_groups groups;
    double kappa, lambda1, lambda2;
    bool dual;                   /* n x n instead of d x d */
    const rlar_reduced *reduced; /* of x with V, or NULL: made for the start */
    /* The iterates. */
    double beta;
    double *q;       /* d x r: the caller's */
    double *p;       /* d x r */
    double *e;       /* d x n: E; between its use and its update M = X - E + Y / beta */
    double *y;       /* d x n */
    double *weight;  /* d: 1 / D_ii */
    double *z;       /* r x n: Q^T X */
    double residual; /* largest row sum of |X - P Q^T X - E| */
    /* Buffers. */
    double *pm;              /* r x n: P^T M */
    double *means;           /* r x (c + 1): class means of something r x n, then its mean */
    double *row, *size;      /* d: row sums; those of |E| after its update */
    double *xw;              /* d x n: weighted samples */
    double *centres;         /* d x (c + 1), primal: class means of the samples, then their mean */
    double *scatter, *gram;  /* d x d, primal: 2 (Sw - kappa Sb) and X X^T, lower triangles */
    double *system, *diag;   /* d x d or n x n */
    double *a;               /* n x r, dual */
    double *u, *values, *vt; /* of the P step: d x r, r, r x r */
    rlar_svd_room svd;
    rlar_partials partials;
} rlar_rslda;

void rlar__rslda_carve(rlar_workspace *ws, rlar_rslda *s);
/* P from the principal directions of the centred samples, E = Y = 0, the first weights. beta must
 * be set. RLAR_E_DATA when all samples are equal. */
rlar_status rlar__rslda_start(rlar_ctx *ctx, rlar_rslda *s);
/* M = X - E + Y / beta, in place of E. */
rlar_status rlar__rslda_form_m(rlar_ctx *ctx, rlar_rslda *s);
/* P = U V^T from M (X^T Q) = U S V^T. Not in the first iteration, which has no Q. */
rlar_status rlar__rslda_update_p(rlar_ctx *ctx, rlar_rslda *s);
/* [2 (Sw - kappa Sb) + lambda1 D + beta X X^T] Q = beta X M^T P, then the weights and Z. */
rlar_status rlar__rslda_update_q(rlar_ctx *ctx, rlar_rslda *s, int *ridged);
/* E by soft thresholding, Y = Y + beta (R - E), and the residual. */
rlar_status rlar__rslda_update_e_y(rlar_ctx *ctx, rlar_rslda *s);
/* tr(Q^T (Sw - kappa Sb) Q), from Z. */
double rlar__rslda_scatter(rlar_rslda *s);
/* ||Q||_{2,1} and ||E||_1, without their factors. */
double rlar__rslda_row_norms(const rlar_rslda *s);
double rlar__rslda_errors(const rlar_rslda *s);
/* Operations of one iteration. */
double rlar__rslda_flops(int64_t n, int64_t d, int64_t r, bool dual);

#endif
