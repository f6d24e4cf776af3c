/* condition.h - whether a scatter matrix is far enough from singular for Cholesky. */
#ifndef RLAR_CONDITION_H
#define RLAR_CONDITION_H

#include "core/core.h"

/* Below, Cholesky is trusted: 7 digits of a solution are left at worst. */
#define RLAR_WELL_CONDITIONED 1e9

/* S (lower triangle, d x d) becomes the factor L of diag(scale) S diag(scale), which has a unit
 * diagonal. *condition: an estimate from above of the condition of that matrix; infinite, and s
 * destroyed, where a diagonal entry is below 1e-12 of the largest or a pivot fails. */
rlar_status rlar__condition_factor(rlar_ctx *ctx, int64_t d, double *s, double *scale,
                                   double *condition);

#endif
