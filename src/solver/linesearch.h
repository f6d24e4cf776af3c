/* linesearch.h - the least value of a convex function on a ray. */
#ifndef RLAR_LINESEARCH_H
#define RLAR_LINESEARCH_H

#include "core/core.h"

/* Value and slope at t >= 0. */
typedef rlar_status (*rlar_ray_fn)(rlar_ctx *ctx, void *ray, double t, double *value,
                                   double *slope);

/* *t > 0 where the value is below that at 0 and the slope is at most `share` of slope0 < 0 in
 * magnitude, or the best of a few trials; *t = 0 where none is below value0. */
rlar_status rlar__linesearch(rlar_ctx *ctx, rlar_ray_fn at, void *ray, double value0, double slope0,
                             double share, double *t);

#endif
