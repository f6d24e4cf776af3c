/* reweight.h - smoothed norms and their weights. */
#ifndef RLAR_REWEIGHT_H
#define RLAR_REWEIGHT_H

#include "core/core.h"

/* A norm s is replaced by rho(s), concave in s^2, with the weight om(s) = rho'(s)/s:
 *   add    om = 1/(s + eps)            rho = s - eps log(1 + s/eps)
 *          the letter of Algorithm 1 [N5]
 *   sqrt   om = 1/sqrt(s^2 + eps^2)    rho = sqrt(s^2 + eps^2)
 *          falls with eps, so eps may shrink
 *   floor  om = 1/max(s, eps)          rho = s, below eps (s^2/eps + eps)/2 */
typedef enum rlar_kernel_kind {
    RLAR_KERNEL_ADD,
    RLAR_KERNEL_SQRT,
    RLAR_KERNEL_FLOOR
} rlar_kernel_kind;

typedef struct rlar_kernel {
    rlar_kernel_kind kind;
    double eps;
} rlar_kernel;

double rlar__kernel_weight(rlar_kernel kernel, double s);
double rlar__kernel_value(rlar_kernel kernel, double s);

/* The rows of W (d x p), for the L2,1 norm: weight[r] = om(||w_r||); *norm is the sum of ||w_r||,
 * *smoothed that of rho(||w_r||). */
void rlar__kernel_rows(rlar_kernel kernel, int64_t d, int64_t p, const double *w, double *weight,
                       double *norm, double *smoothed);

#endif
