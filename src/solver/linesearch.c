/* linesearch.c - bracket the zero of an increasing slope, then cut the bracket by the secant.
 *
 * A convex function has one: no condition of Wolfe is needed, the slope alone decides. The first
 * trial is t = 1, the step that the metric of the descent is made for. */
#include "solver/linesearch.h"

#include <math.h>

enum { TRIALS = 12 };

/* How far one step may go beyond the last trial, and how near to an end of the bracket. */
static const double LONGEST = 10.0, SHORTEST = 0.1;

/* From lo, where the slope is negative, with the one before it: where the secant is zero. */
static double beyond(double lo, double slope_lo, double before, double slope_before) {
    const double rise = slope_lo - slope_before;
    const double secant = rise > 0.0 ? lo - slope_lo * (lo - before) / rise : INFINITY;
    return fmin(fmax(secant, 1.5 * lo), LONGEST * lo);
}

static double between(double lo, double slope_lo, double hi, double slope_hi) {
    const double secant = -slope_lo / (slope_hi - slope_lo);
    return lo + (hi - lo) * fmin(fmax(secant, SHORTEST), 1.0 - SHORTEST);
}

rlar_status rlar__linesearch(rlar_ctx *ctx, rlar_ray_fn at, void *ray, double value0, double slope0,
                             double share, double *t) {
    double lo = 0.0, slope_lo = slope0, before = 0.0, slope_before = slope0;
    double hi = INFINITY, slope_hi = 0.0, trial = 1.0, least = value0;
    *t = 0.0;
    for (int k = 0; k < TRIALS; k++) {
        double value, slope;
        RLAR_TRY(at(ctx, ray, trial, &value, &slope));
        const bool lower = value < least;
        if (lower) {
            least = value;
            *t = trial;
        }
        if (lower && fabs(slope) <= -share * slope0)
            break;
        if (slope < 0.0) {
            before = lo;
            slope_before = slope_lo;
            lo = trial;
            slope_lo = slope;
        } else { /* also where the value is not finite: too far */
            hi = trial;
            slope_hi = isfinite(slope) ? slope : INFINITY;
        }
        trial = isinf(hi) ? beyond(lo, slope_lo, before, slope_before)
                          : between(lo, slope_lo, hi, slope_hi);
    }
    return RLAR_OK;
}
