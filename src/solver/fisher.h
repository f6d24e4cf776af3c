/* fisher.h - the leading solutions of S_b w = mu (S_t + ridge I) w: Fisher's directions. */
#ifndef RLAR_FISHER_H
#define RLAR_FISHER_H

#include "core/core.h"
#include "solver/reduce.h"

typedef struct rlar_fisher_problem {
    int64_t n, d, c;
    const double *x;             /* d x n, grouped by class */
    const int64_t *first;        /* c + 1 */
    const rlar_blocks *blocks;   /* for sums over the samples of all ranks; NULL: all are here */
    double ridge;                /* 0: none */
    int64_t keep;                /* principal directions to work in at the most; 0: all */
    const rlar_reduced *reduced; /* of x, or NULL: made where it is needed */
} rlar_fisher_problem;

typedef struct rlar_fisher {
    int64_t q;    /* at most c - 1; sqrt(mu) > 1e-3 */
    double *mu;   /* q, descending, in [0, 1] */
    double *w;    /* d x q, within the range of the centred samples, W^T (S_t + ridge I) W = I */
    double *mean; /* d */
} rlar_fisher;

/* The second way where it can be trusted, else the first. RLAR_E_DATA when no direction has
 * sqrt(mu) > 1e-3. Neither way forms a d x d matrix for d > n. */
rlar_status rlar__fisher(rlar_ctx *ctx, const rlar_fisher_problem *problem, rlar_fisher *out);
void rlar__fisher_free(rlar_fisher *fisher);

/* By the reduction and the thin SVD of the whitened class means: always works. */
rlar_status rlar__fisher_reduced(rlar_ctx *ctx, const rlar_fisher_problem *problem,
                                 rlar_fisher *out);
/* By Cholesky of S_t: n d^2 + d^3 / 3 instead of 3 n d^2 + 9 d^3. *trusted = false, and nothing in
 * out, when S_t is singular or close to it. */
rlar_status rlar__fisher_cholesky(rlar_ctx *ctx, const rlar_fisher_problem *problem, bool *trusted,
                                  rlar_fisher *out);

/* Whether the reduction is needed whatever the samples are like. */
bool rlar__fisher_reduces(const rlar_fisher_problem *sizes);
/* Bytes at the peak, that of the way by Cholesky alone (0 where it is not gone), and operations. */
double rlar__fisher_cholesky_bytes(const rlar_fisher_problem *sizes);
int64_t rlar__fisher_bytes(const rlar_fisher_problem *sizes);
double rlar__fisher_flops(const rlar_fisher_problem *sizes);
/* What ranks say where all features vary and the way by Cholesky, if it is gone, is trusted; added.
 */
void rlar__fisher_talk(const rlar_fisher_problem *sizes, rlar_exchange *out);

#endif
