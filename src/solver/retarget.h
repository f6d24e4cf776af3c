/* retarget.h - the T step: the nearest targets that keep the margin. */
#ifndef RLAR_RETARGET_H
#define RLAR_RETARGET_H

#include "core/core.h"

/* Equations (22) and (25) for one sample of class l: t is the point nearest to y with t_l - t_j >=
 * 1 for all j != l. */
void rlar__retarget_row(int64_t c, const double *y, int64_t l, double *t);
/* All samples; y and t are c x n. */
rlar_status rlar__retarget(rlar_ctx *ctx, int64_t c, int64_t n, const double *y,
                           const int32_t *label, double *t);

#endif
