/* kept_gram.h - ridge systems with a new diagonal each time, over one Gram matrix. */
#ifndef RLAR_KEPT_GRAM_H
#define RLAR_KEPT_GRAM_H

#include "core/core.h"
#include "linalg/linalg.h"

/* (Xc Xc^T + alpha diag(weight)) W = B for one X and many weights and B: n d^2 once, then d^3/3 and
 * 2 d^2 p each. For n >= d; the dual form has no part that stays. */
typedef struct rlar_kept_gram {
    int64_t n, d;
    double *mean;     /* d */
    double *xc;       /* d x n: X - mean 1^T */
    double *gram;     /* d x d, lower triangle of Xc Xc^T */
    double *m, *diag; /* the system and its factor; see rlar__chol_factor */
    rlar_partials partials;
} rlar_kept_gram;

/* n and d must be set; nothing is carved where n = 0. */
void rlar__kept_gram_carve(rlar_workspace *ws, rlar_kept_gram *kept);
/* mean, xc and gram from the samples x (d x n). */
rlar_status rlar__kept_gram_start(rlar_ctx *ctx, rlar_kept_gram *kept, const double *x);
/* W (d x p) in place of B. *ridged as in rlar__chol_factor. */
rlar_status rlar__kept_gram_solve(rlar_ctx *ctx, const rlar_kept_gram *kept, double alpha,
                                  const double *weight, int64_t p, double *w, int *ridged);

#endif
