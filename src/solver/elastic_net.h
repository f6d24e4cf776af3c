/* elastic_net.h - least squares with an l1 and an l2 penalty. */
#ifndef RLAR_ELASTIC_NET_H
#define RLAR_ELASTIC_NET_H

#include "core/core.h"
#include "linalg/linalg.h"

/* minimise over b   f(b) = b^T G b - 2 g^T b + gamma b^T b + lambda ||b||_1,   G = X^T X / n
 * for many g with one X. gamma > 0, lambda >= 0. A feature with G_jj = 0 gets b_j = 0. */
typedef struct rlar_enet {
    int64_t n, d;
    double gamma, lambda;
    bool covariance;    /* keep G b up to date, by columns of G; else X b, by columns of X */
    const double *x;    /* n x d, a feature is contiguous; not used with covariance */
    const double *gram; /* d x d, both triangles; with covariance */
    /* H^-1 g for the g of the next solve, H = G + gamma I, where the caller has it, else NULL. */
    const double *ridge;
    /* Buffers. */
    double *diag;            /* d: G_jj */
    double *left;            /* d: g - G b */
    double *u;               /* n: X b, without covariance */
    double least;            /* a change of half the slope that is rounding, for this g */
    double *kept;            /* d: b before a step */
    double *last_b, *last_g; /* d: of the last solve, which left u or left behind */
    bool resumes;            /* they stand for something */
    double *step;            /* d: right-hand side and solution on the support */
    double *full, *out;
    int64_t *support; /* d: features with b_j != 0, then the others */
    /* enet_pattern.c: a point with its slopes, and the H^-1 g they belong to. */
    bool noted; /* they stand for something */
    double *point, *slopes, *centre;
    int64_t *changed; /* d: features whose slope changes */
    /* enet_factor.c. */
    int64_t *holds;  /* d: the features of which `system` holds the factor, */
    int64_t held;    /* how many, 0 for none, */
    bool holds_rest; /* and whether it is that of (H^-1)_MM, not of H_AA */
    int64_t changes; /* since it was made afresh */
    double *xs;      /* n x d: columns of X, without covariance */
    double *inverse; /* (G + gamma I)^-1; without covariance (X X^T + n gamma I)^-1 X, n x d */
    double *system, *pivots;
    rlar_partials partials; /* for sums over samples or features */
    int ridged;             /* factorisations that needed extra regularisation */
} rlar_enet;

/* What a solve found out. */
typedef struct rlar_enet_result {
    double value;   /* f(b) */
    int64_t sweeps; /* over all features */
    bool solved;    /* the optimality conditions hold to 1e-12 max |g| */
} rlar_enet_result;

/* Uses n, d and covariance. */
void rlar__enet_carve(rlar_workspace *ws, rlar_enet *en);
/* Once everything above the buffers but lambda is set: G_jj, and the factor for rlar__enet_ridge.
 */
rlar_status rlar__enet_prepare(rlar_ctx *ctx, rlar_enet *en);
/* b = (G + gamma I)^-1 g, the solution for lambda = 0. */
void rlar__enet_ridge(rlar_enet *en, const double *g, double *b);
/* The same for `count` g (d x count) at once; with covariance. */
rlar_status rlar__enet_ridges(rlar_ctx *ctx, const rlar_enet *en, int64_t count, const double *g,
                              double *b);
/* From the given b (zero is a good start for few features, rlar__enet_ridge for many) to the
 * minimiser. */
rlar_status rlar__enet_solve(rlar_ctx *ctx, rlar_enet *en, const double *g, double *b,
                             rlar_enet_result *result);
/* f(b) at any b. */
double rlar__enet_value(rlar_enet *en, const double *g, const double *b);
/* out (rows) = A v, and out (columns) = A^T v: for one vector. */
void rlar__enet_times(int64_t rows, int64_t columns, const double *a, const double *v, double *out);
void rlar__enet_transposed(int64_t rows, int64_t columns, const double *a, const double *v,
                           double *out);

#endif
