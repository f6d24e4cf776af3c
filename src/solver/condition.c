/* condition.c - Cholesky of a scatter matrix with a verdict on its condition.
 *
 * The matrix is scaled to unit diagonal first: then the verdict does not depend on the units of the
 * features. A larger spread of the diagonal itself could hide what the rank rule of the reduction
 * (singular values above max(d, n) 2^-52 of the largest) leaves out: 1e9 and 1e12 together stay
 * above it, so a trusted matrix has full rank by that rule, too. d^3/3 operations, and 24 d^2 for
 * the condition. */
#include "solver/condition.h"

#include <math.h>

#include "linalg/linalg.h"

static const double SMALLEST_DIAGONAL = 1e-12;
enum { CONDITION_STEPS = 6 };

static bool scale_to_unit(int64_t d, double *s, double *scale) {
    double largest = 0.0;
    for (int64_t i = 0; i < d; i++)
        largest = fmax(largest, s[i * d + i]);
    for (int64_t i = 0; i < d; i++) {
        if (!(s[i * d + i] > SMALLEST_DIAGONAL * largest))
            return false;
        scale[i] = 1.0 / sqrt(s[i * d + i]);
    }
    for (int64_t j = 0; j < d; j++)
        for (int64_t i = j; i < d; i++)
            s[j * d + i] *= scale[i] * scale[j];
    return true;
}

/* Upper bound of the condition, in essence: the trace d, times ||S^-1|| by inverse iteration from
 * the direction of the smallest pivot and from one of mixed signs. */
static rlar_status estimate(rlar_ctx *ctx, int64_t d, const double *l, double *probe, double *out) {
    int64_t weakest = 0;
    rlar_rng rng = rlar__rng_seed(&(uint64_t){1}, 1);
    for (int64_t i = 0; i < d; i++) {
        probe[i] = 0.0;
        probe[d + i] = rlar__rng_next(&rng) >> 63 ? 1.0 : -1.0;
        if (l[i * d + i] < l[weakest * d + weakest])
            weakest = i;
    }
    probe[weakest] = 1.0;
    rlar__unit_columns(d, 2, probe);
    for (int step = 0; step < CONDITION_STEPS; step++) {
        RLAR_TRY(rlar__chol_solve(ctx, d, 2, l, probe));
        *out = (double)d * fmax(rlar__norm(d, probe), rlar__norm(d, probe + d));
        rlar__unit_columns(d, 2, probe);
    }
    return RLAR_OK;
}

/* work: 3 d. */
static rlar_status factor(rlar_ctx *ctx, int64_t d, double *s, double *work, double *condition) {
    int ridged = 0;
    const rlar_status status = rlar__chol_factor(ctx, d, s, work, &ridged);
    if (status == RLAR_E_NUMERIC) /* far from positive definite: the condition stays infinite */
        return rlar__forgive(ctx);
    RLAR_TRY(status);
    return ridged > 0 ? RLAR_OK : estimate(ctx, d, s, work + d, condition);
}

rlar_status rlar__condition_factor(rlar_ctx *ctx, int64_t d, double *s, double *scale,
                                   double *condition) {
    double *work = NULL;
    *condition = INFINITY;
    if (!scale_to_unit(d, s, scale))
        return RLAR_OK;
    RLAR_TRY(rlar__alloc(ctx, 3, (size_t)d * sizeof *work, "the condition", &work));
    const rlar_status status = factor(ctx, d, s, work, condition);
    rlar__free(work);
    return status;
}
