/* rlar_descent.h - RLAR's objective smoothed, and the descent at one smoothing.
 *
 *   Phi(W, b, P) = sum_i rho(dist(y_i, C_i)) + beta/(2K) sum_jm V_jm rho(||y_j - y_m||)
 *                + alpha/2 sum_r ((||w_r||^2 + eps_w^2) / P_r + P_r),     y = W^T x + b,
 *
 * rho(s) = sqrt(s^2 + eps^2), C_i the targets that keep the margin. Its least value over P is the
 * smoothed objective; while V stays Phi is convex. */
#ifndef RLAR_DESCENT_H
#define RLAR_DESCENT_H

#include "methods/rlar.h"
#include "solver/coords.h"
#include "solver/lbfgs.h"

/* A ray from the present point: what its trials need. */
typedef struct rlar_ray {
    double *v, *image; /* the step and its image (coords.h) */
    double *room;      /* c x n: outputs of the step, where the image is something else */
    const double *out; /* c x n: its outputs */
    double *edge;      /* 3 x stride x n: y'y, y'v, v'v of each edge's difference */
    double *delta;     /* n: Delta of (25) at the last trial */
    double *trial;     /* c x n */
    double t;
} rlar_ray;

typedef struct rlar_descent {
    rlar_state st;               /* first: the steps take it */
    double *gradient, *previous; /* coords.length */
    double *pull;                /* c x n: the gradient by the outputs */
    double *h;                   /* n: the samples' weights in the metric */
    double *p, *tend;            /* d: P of the rows of W, and where it last went, as a logarithm */
    double *rows;                /* d x c: room for what belongs to the rows of W */
    int32_t *before;             /* stride x n: the neighbours before a step */
    rlar_coords coords;
    rlar_lbfgs memory;
    rlar_ray ray;
    double zero, *zero_b; /* the objective at W = 0, and its b */
    double *room;         /* 2 x c */
    double tol;
    double share; /* of tol, at which a round ends */
    bool still;   /* the last round ended because there was next to nothing to gain */
    bool near;    /* smoothing is small against the objective, if not against its distance from J(0)
                   */
    bool first;   /* P is not known yet */
    bool cold;    /* nor is V */
} rlar_descent;

void rlar__descent_carve(rlar_workspace *ws, rlar_descent *m);
/* Smoothing of residuals, of edges, of the rows of W. */
void rlar__descent_smooth(rlar_descent *m, double eps, double edges, double rows);
/* The terms of the present outputs, with the V that is there: T, the weights, the gradient by the
 * outputs; info: these terms of (12), plain and smoothed. */
rlar_status rlar__descent_evaluate(rlar_ctx *ctx, rlar_descent *m, rlar_info *info);
/* The outputs of W and b as they are, and V. */
rlar_status rlar__descent_outputs(rlar_ctx *ctx, rlar_descent *m);
/* The objective, plain and smoothed, of W and b as they are: outputs, V and the above. */
rlar_status rlar__descent_measure(rlar_ctx *ctx, rlar_descent *m, rlar_info *info);
/* One round: W, b and their outputs at the smoothing eps. info->smoothed, here Phi, never rises. */
rlar_status rlar__descend(rlar_ctx *ctx, rlar_descent *m, double eps, rlar_info *info);
/* What small is small against: the objective, and near W = 0 how far below it the objective is. */
double rlar__descent_scale(const rlar_descent *m, const rlar_info *info);

#endif
