/* reweight.c - the two smoothing kernels. */
#include "solver/reweight.h"

#include <math.h>

double rlar__kernel_weight(rlar_kernel kernel, double s) {
    return kernel.kind == RLAR_KERNEL_ADD ? 1.0 / (s + kernel.eps) : 1.0 / hypot(s, kernel.eps);
}

double rlar__kernel_value(rlar_kernel kernel, double s) {
    if (kernel.kind == RLAR_KERNEL_SQRT)
        return hypot(s, kernel.eps);
    const double r = s / kernel.eps;
    /* Near zero the difference cancels: the series of r - log(1 + r). */
    if (r < 1e-4)
        return kernel.eps * r * r * (0.5 - r / 3.0);
    return s - kernel.eps * log1p(r);
}
