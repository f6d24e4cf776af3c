/* least.c - W = (Xc^T)^+ E^T by what the reduction holds.
 *
 *   factor of Xc Xc^T         W = (Xc Xc^T)^-1 Xc E^T
 *   factor of Xc^T Xc, lifted W = Xc (Xc^T Xc + sigma 1 1^T)^-1 E^T
 *   singular values           W = V diag(1/s^2) Z E^T
 *
 * With the lift: 1 is an eigenvector and E 1 = 0, so the inverse acts on E^T as the pseudo-inverse
 * of Xc^T Xc does. All three go through a Gram matrix, or may do, and lose about 2^-52 times its
 * condition of W; a second step for what E still lacks squares that. 2 r^2 p, 2 n r p and 2 d r p
 * operations at most. */
#include "solver/least.h"

int64_t rlar__least_rows(int64_t d, int64_t n) {
    return n <= d + 1 ? n : d;
}

static void scale_rows(int64_t r, int64_t p, const double *scale, double *a) {
    for (int64_t j = 0; j < p; j++)
        for (int64_t i = 0; i < r; i++)
            a[j * r + i] *= scale[i];
}

static rlar_status by_factor(rlar_ctx *ctx, const rlar_reduced *red, int64_t p, double *step) {
    scale_rows(red->r, p, red->scale, step);
    RLAR_TRY(rlar__chol_solve(ctx, red->r, p, red->factor, step));
    scale_rows(red->r, p, red->scale, step);
    return RLAR_OK;
}

static void by_singular_values(const rlar_reduced *red, int64_t p, double *step) {
    for (int64_t j = 0; j < p; j++)
        for (int64_t i = 0; i < red->r; i++)
            step[j * red->r + i] /= red->s[i] * red->s[i];
}

rlar_status rlar__least_step(rlar_ctx *ctx, const rlar_reduced *reduced,
                             const rlar_partials *partials, int64_t p, const double *e,
                             double *step, double *w) {
    const int64_t r = reduced->r, n = reduced->n;
    if (reduced->z)
        RLAR_TRY(rlar__moments(ctx, partials, r, p, n, reduced->z, e, step));
    for (int64_t i = 0; i < n && !reduced->z; i++)
        for (int64_t j = 0; j < p; j++)
            step[j * n + i] = e[i * p + j];
    if (reduced->factor)
        RLAR_TRY(by_factor(ctx, reduced, p, step));
    else
        by_singular_values(reduced, p, step);
    return rlar__reduce_apply(ctx, reduced, p, step, w);
}
