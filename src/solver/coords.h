/* coords.h - W and b as a stage of RLAR's descent sees them: by themselves where n >= d, in the
 * dual where n < d. Both are linear, so a step of the coordinates is a step of W, b and the
 * outputs. */
#ifndef RLAR_COORDS_H
#define RLAR_COORDS_H

#include "solver/wsolve.h"

/* A round minimises f(Y) + R(W), Y = W^T X + b 1^T, in the metric of the weighted problem
 * (wsolve.h), M for W, where R is the row-sparsity, smoothed: primal  R = alpha sum_r
 * sqrt(||w_r||^2 + eps^2). point = (W, b), gradients likewise; the image of a step are its outputs
 * (c x n) dual    R = alpha/2 sum_r ((||w_r||^2 + eps^2) / P_r + P_r) with P fixed, which is not
 * below the other. W = tau W0 + P Xc A, b moved by W^T mu: point = (A, b, tau), A c x n. A gradient
 *           Xc U^T + alpha tau P^-1 W0 is kept as (U, g_b, tau), and the image of a step is what it
 *           is multiplied with: (Xc^T W, b, kappa), kappa = alpha tr(W0^T P^-1 W) of the step
 * In the dual no step goes through the samples or the features: O(n^2 c). */
typedef struct rlar_coords {
    rlar_wproblem problem; /* dhat: the metric's weights; dtil: 1/P; t NULL */
    rlar_wsolver *solver;
    bool dual;
    double eps; /* of the rows */
    int64_t length, image_length;
    double *point;
    double sparsity; /* R at the point */
    double *w, *b;   /* d x c, c: the map, at the start of the round and at its end */
    /* Primal. */
    double *rows; /* 3 x d: ww, wv, vv of the rows of W and of a step */
    /* Dual. */
    double *y0, *ny0;        /* c x n: Xc^T W0 and N Xc^T W0 */
    double w00;              /* tr(W0^T P^-1 W0) */
    double *room, *span;     /* c x n, d x c */
    double slope, curvature; /* of R along a step */
    double *ones;            /* n */
    rlar_partials partials;
} rlar_coords;

/* Sizes from problem and solver, which are set; all buffers but w and b. */
void rlar__coords_carve(rlar_workspace *ws, rlar_coords *coords);
/* Factorises the metric and sets the point from w, b, whose outputs are y (c x n). */
rlar_status rlar__coords_begin(rlar_ctx *ctx, rlar_coords *coords, const double *y, int *ridged);
/* The gradient at the point, where that of f by Y is `pull` (c x n). */
rlar_status rlar__coords_gradient(rlar_ctx *ctx, rlar_coords *coords, const double *pull,
                                  double *gradient);
/* A gradient becomes the step M^-1 of it, with its image. */
rlar_status rlar__coords_metric(rlar_ctx *ctx, rlar_coords *coords, double *q, double *image);
/* Makes ready for R along the step v; then R and its slope (which is added) at t. */
void rlar__coords_aim(rlar_coords *coords, const double *v, const double *image);
double rlar__coords_sparsity(const rlar_coords *coords, double t, double *slope);
/* point += t v, the step that was aimed at. */
void rlar__coords_move(rlar_coords *coords, const double *v, double t);
/* The outputs of a step from its image; the image itself in the primal. */
const double *rlar__coords_outputs(const rlar_coords *coords, const double *image, double *room);
/* w and b from the point. */
rlar_status rlar__coords_end(rlar_ctx *ctx, rlar_coords *coords);

#endif
