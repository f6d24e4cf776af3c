/* metrics.h - how good predictions are. */
#ifndef RLAR_METRICS_H
#define RLAR_METRICS_H

#include "core/core.h"

typedef struct rlar_metrics {
    double accuracy; /* share of right answers */
    double balanced; /* mean recall of the classes that occur in the truth */
    double macro_f1; /* mean F1 of the classes that occur in the truth or in the answers */
} rlar_metrics;

/* All from the counts (c x c, row = true, column = predicted); NaN when there are none. */
rlar_metrics rlar__metrics(int64_t c, const int64_t *counts);

/* Mean and sample standard deviation (n - 1) of the values that are not NaN; NaN where there are
 * none, the deviation where there is only one. */
void rlar__mean_std(int64_t n, const double *values, double *mean, double *std);

#endif
