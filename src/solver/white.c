/* white.c - into coordinates in which the total scatter is 1, and back: q r operations by singular
 * values, q r^2 by the factor. */
#include "solver/white.h"

#include "linalg/linalg.h"

static void scale_rows(const rlar_reduced *reduced, int64_t q, double *a) {
    const int64_t r = reduced->r;
    for (int64_t j = 0; j < q; j++)
        for (int64_t e = 0; e < r; e++)
            if (reduced->factor)
                a[j * r + e] *= reduced->scale[e];
            else
                a[j * r + e] /= reduced->s[e];
}

rlar_status rlar__white(rlar_ctx *ctx, const rlar_reduced *reduced, int64_t q, double *z) {
    scale_rows(reduced, q, z);
    return reduced->factor ? rlar__chol_forward(ctx, reduced->r, q, reduced->factor, z) : RLAR_OK;
}

rlar_status rlar__white_back(rlar_ctx *ctx, const rlar_reduced *reduced, int64_t q, double *y) {
    if (reduced->factor)
        RLAR_TRY(rlar__chol_backward(ctx, reduced->r, q, reduced->factor, y));
    scale_rows(reduced, q, y);
    return RLAR_OK;
}
