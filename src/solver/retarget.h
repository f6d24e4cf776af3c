/* retarget.h - the T step: the nearest targets that keep the margin. */
#ifndef RLAR_RETARGET_H
#define RLAR_RETARGET_H

#include "core/core.h"

/* Delta of (25): v are the v_j, and 0 in place of v_l, which no Delta is below. The sample's
 * targets are t_l = y_l + Delta and t_j = y_j - max(v_j - Delta, 0). The search starts from `near`,
 * which changes no bit of the result. */
double rlar__margin_step(int64_t c, const double *v, double near);
/* Equations (22) and (25) for one sample of class l: t is the point nearest to y with t_l - t_j >=
 * 1 for all j != l. */
void rlar__retarget_row(int64_t c, const double *y, int64_t l, double *t);
/* At y + t v: the square of the distance to the targets, and half its derivative by t. z: c
 * numbers, used. *delta: a guess of Delta, then Delta. */
void rlar__margin_along(int64_t c, const double *y, const double *v, double t, int64_t l, double *z,
                        double *delta, double *square, double *slope);
/* All samples; y and t are c x n. */
rlar_status rlar__retarget(rlar_ctx *ctx, int64_t c, int64_t n, const double *y,
                           const int32_t *label, double *t);

#endif
