/* reweight.h - smoothed norms and their weights. */
#ifndef RLAR_REWEIGHT_H
#define RLAR_REWEIGHT_H

#include "core/core.h"

/* A norm s is replaced by rho(s), concave in s^2, with the weight om(s) = rho'(s)/s:
 *   add   om = 1/(s + eps)             rho = s - eps log(1 + s/eps)   the letter of Algorithm 1
 * [N5] sqrt  om = 1/sqrt(s^2 + eps^2)     rho = sqrt(s^2 + eps^2)        falls with eps, so eps may
 * shrink */
typedef enum rlar_kernel_kind { RLAR_KERNEL_ADD, RLAR_KERNEL_SQRT } rlar_kernel_kind;

typedef struct rlar_kernel {
    rlar_kernel_kind kind;
    double eps;
} rlar_kernel;

double rlar__kernel_weight(rlar_kernel kernel, double s);
double rlar__kernel_value(rlar_kernel kernel, double s);

#endif
