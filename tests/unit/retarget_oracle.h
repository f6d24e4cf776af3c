/* retarget_oracle.h - the nearest targets that keep the margin, found in two other ways than the
 * library's: for the unit test and the fuzz target of the T step. */
#ifndef RLAR_TEST_RETARGET_ORACLE_H
#define RLAR_TEST_RETARGET_ORACLE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline double largest(int64_t c, const double *y) {
    double m = 1.0;
    for (int64_t j = 0; j < c; j++)
        m = fmax(m, fabs(y[j]));
    return m;
}

/* The nearest row to y whose margins in `set` are tight. */
static inline void tighten(int64_t c, const double *y, int64_t l, unsigned set, double *t) {
    double sum = y[l];
    int64_t count = 1;
    for (int64_t j = 0; j < c; j++)
        if (set >> j & 1U) {
            sum += y[j] + 1.0;
            count++;
        }
    memcpy(t, y, (size_t)c * sizeof *t);
    t[l] = sum / (double)count;
    for (int64_t j = 0; j < c; j++)
        if (set >> j & 1U)
            t[j] = t[l] - 1.0;
}

/* Distance to y, or infinity where a margin is broken. */
static inline double cost(int64_t c, const double *y, int64_t l, const double *t, double slack) {
    double sum = 0.0;
    for (int64_t j = 0; j < c; j++) {
        if (j != l && t[l] - t[j] < 1.0 - slack)
            return INFINITY;
        sum += (t[j] - y[j]) * (t[j] - y[j]);
    }
    return sqrt(sum);
}

static inline void enumerate(int64_t c, const double *y, int64_t l, double *best) {
    const double slack = 1e-13 * largest(c, y);
    double lowest = INFINITY, t[8];
    for (unsigned set = 0; set < 1U << c; set++) {
        if (set >> l & 1U)
            continue;
        tighten(c, y, l, set, t);
        const double found = cost(c, y, l, t, slack);
        if (found < lowest) {
            lowest = found;
            memcpy(best, t, (size_t)c * sizeof *t);
        }
    }
}

/* Phi(v_j) = 1 where v_j + sum_m min(v_j - v_m, 0) > 0, then (25) and (22). */
static inline void literal_phi(int64_t c, const double *y, int64_t l, double *t) {
    double sum = 0.0, count = 1.0;
    for (int64_t j = 0; j < c; j++) {
        double slope = y[j] + 1.0 - y[l];
        for (int64_t m = 0; m < c; m++)
            if (m != l)
                slope += fmin(y[j] - y[m], 0.0);
        if (j != l && slope > 0.0) {
            sum += y[j] + 1.0 - y[l];
            count += 1.0;
        }
    }
    for (int64_t j = 0; j < c; j++)
        t[j] = j == l ? y[l] + sum / count : y[j] + fmin(sum / count - (y[j] + 1.0 - y[l]), 0.0);
}

#endif
