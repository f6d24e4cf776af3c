/* lbfgs.h - the curvature that a descent has met, in a few pairs of vectors. */
#ifndef RLAR_LBFGS_H
#define RLAR_LBFGS_H

#include "core/core.h"

enum { RLAR_LBFGS_PAIRS = 3 };

/* Steps s and changes of the gradient y; H, an estimate of the inverse Hessian, is what they make
 * of a metric M^-1 that the caller applies between the two halves. Beside each step stands its
 * image under a linear map, so that the image of a direction is had without applying the map. */
typedef struct rlar_lbfgs {
    int64_t length, image_length;
    bool by_image; /* gradients are multiplied with the images of steps, not with the steps */
    int kept, newest;
    double *s[RLAR_LBFGS_PAIRS], *y[RLAR_LBFGS_PAIRS], *image[RLAR_LBFGS_PAIRS];
    double rho[RLAR_LBFGS_PAIRS], part[RLAR_LBFGS_PAIRS];
    double *sums; /* room for scalar products */
} rlar_lbfgs;

void rlar__lbfgs_carve(rlar_workspace *ws, int64_t length, int64_t image_length, bool by_image,
                       rlar_lbfgs *out);
/* A new metric: the old pairs say nothing about it. */
void rlar__lbfgs_forget(rlar_lbfgs *memory);
/* q <- H q in two halves: to_metric, then q <- M^-1 q and its image by the caller, then
 * from_metric, which moves both. */
rlar_status rlar__lbfgs_to_metric(rlar_ctx *ctx, rlar_lbfgs *memory, double *q);
rlar_status rlar__lbfgs_from_metric(rlar_ctx *ctx, rlar_lbfgs *memory, double *q, double *image);
/* The step t v, with the image t times `image`, changed the gradient from `before` to `after`. A
 * pair that shows no curvature is not kept: H stays positive definite. */
rlar_status rlar__lbfgs_learn(rlar_ctx *ctx, rlar_lbfgs *memory, double t, const double *v,
                              const double *image, const double *before, const double *after);
/* The product of a gradient and a step with its image, on all threads, the same bits for any number
 * of them. */
rlar_status rlar__lbfgs_product(rlar_ctx *ctx, const rlar_lbfgs *memory, const double *gradient,
                                const double *step, const double *image, double *out);

#endif
