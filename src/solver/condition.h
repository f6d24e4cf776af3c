/* condition.h - whether a scatter matrix is far enough from singular for Cholesky. */
#ifndef RLAR_CONDITION_H
#define RLAR_CONDITION_H

#include "core/core.h"

/* S (lower triangle, d x d) becomes the factor L of diag(scale) S diag(scale), which has a unit
 * diagonal. *trusted: a diagonal entry is no less than 1e-12 of the largest, no pivot failed, and
 * the condition of the scaled matrix is below 1e9; otherwise s is destroyed. */
rlar_status rlar__condition_factor(rlar_ctx *ctx, int64_t d, double *s, double *scale,
                                   bool *trusted);

#endif
