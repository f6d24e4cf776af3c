/* reweight.c - the three smoothing kernels, and one of them over the rows of a map. */
#include "solver/reweight.h"

#include <math.h>

#include "linalg/linalg.h"

double rlar__kernel_weight(rlar_kernel kernel, double s) {
    if (kernel.kind == RLAR_KERNEL_SQRT)
        return 1.0 / hypot(s, kernel.eps);
    return 1.0 / (kernel.kind == RLAR_KERNEL_ADD ? s + kernel.eps : fmax(s, kernel.eps));
}

static double add_value(double eps, double s) {
    const double r = s / eps;
    /* Near zero the difference cancels: the series of r - log(1 + r). */
    return r < 1e-4 ? eps * r * r * (0.5 - r / 3.0) : s - eps * log1p(r);
}

double rlar__kernel_value(rlar_kernel kernel, double s) {
    if (kernel.kind == RLAR_KERNEL_SQRT)
        return hypot(s, kernel.eps);
    if (kernel.kind == RLAR_KERNEL_ADD)
        return add_value(kernel.eps, s);
    return s < kernel.eps ? 0.5 * (s / kernel.eps * s + kernel.eps) : s;
}

void rlar__kernel_rows(rlar_kernel kernel, int64_t d, int64_t p, const double *w, double *weight,
                       double *norm, double *smoothed) {
    *norm = *smoothed = 0.0;
    for (int64_t r = 0; r < d; r++) {
        const double s = rlar__row_norm(p, w + r, d);
        weight[r] = rlar__kernel_weight(kernel, s);
        *norm += s;
        *smoothed += rlar__kernel_value(kernel, s);
    }
}
