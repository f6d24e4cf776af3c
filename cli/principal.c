/* principal.c - the two directions of largest variance, for the scatter plot of an embedding.
 *
 * Orthogonal iteration on the covariance matrix: it needs two products a step instead of a whole
 * eigen-decomposition, and p may be hundreds. Where variances are equal, so that no direction is
 * better than another, the start decides, which is fixed: equal data give equal figures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"

enum { MOST_STEPS = 2000 };

/* p x p, of the points less their mean; returns the sum of the variances. */
static double covariance(const double *z, int64_t n, int64_t p, double *mean, double *c) {
    memset(mean, 0, (size_t)p * sizeof *mean);
    memset(c, 0, (size_t)(p * p) * sizeof *c);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < p; j++)
            mean[j] += z[i * p + j] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < p; j++) {
            const double centred = (z[i * p + j] - mean[j]) / (double)n;
            for (int64_t k = 0; k <= j; k++)
                c[j * p + k] += centred * (z[i * p + k] - mean[k]);
        }
    double trace = 0;
    for (int64_t j = 0; j < p; j++) {
        trace += c[j * p + j];
        for (int64_t k = 0; k < j; k++)
            c[k * p + j] = c[j * p + k];
    }
    return trace;
}

static double dot(const double *a, const double *b, int64_t p) {
    double sum = 0;
    for (int64_t j = 0; j < p; j++)
        sum += a[j] * b[j];
    return sum;
}

/* Length 1, and perpendicular to `to` unless that is NULL; twice, because once loses digits. A
 * vector that vanishes stays zero: there is no variance left. */
static void straighten(double *v, const double *to, int64_t p) {
    for (int pass = 0; pass < 2; pass++) {
        const double along = to != NULL ? dot(v, to, p) : 0;
        for (int64_t j = 0; j < p && to != NULL; j++)
            v[j] -= along * to[j];
        const double length = sqrt(dot(v, v, p));
        for (int64_t j = 0; j < p; j++)
            v[j] = length > 0 ? v[j] / length : 0;
    }
}

/* One step; returns how far the two directions turned. */
static double advance(const double *c, int64_t p, double *direction, double *next) {
    for (int k = 0; k < 2; k++)
        for (int64_t j = 0; j < p; j++)
            next[k * p + j] = dot(c + j * p, direction + k * p, p);
    straighten(next, NULL, p);
    straighten(next + p, next, p);
    double turned = 0;
    for (int k = 0; k < 2; k++)
        turned = fmax(turned, 1 - fabs(dot(next + k * p, direction + k * p, p)));
    memcpy(direction, next, (size_t)(2 * p) * sizeof *direction);
    return turned;
}

/* The largest coordinate is positive, so that a figure is not mirrored by chance. */
static void fix_sign(double *v, int64_t p) {
    int64_t largest = 0;
    for (int64_t j = 1; j < p; j++)
        if (fabs(v[j]) > fabs(v[largest]) * (1 + 1e-9))
            largest = j;
    const double sign = v[largest] < 0 ? -1 : 1;
    for (int64_t j = 0; j < p; j++)
        v[j] *= sign;
}

void cli_principal(const double *z, int64_t n, int64_t p, double *direction, double share[2]) {
    double *c = cli_alloc((size_t)(p * p + 3 * p) * sizeof *c), *mean = c + p * p, *next = mean + p;
    const double trace = covariance(z, n, p, mean, c);
    for (int64_t j = 0; j < 2 * p; j++) /* no data are likely to be perpendicular to this */
        direction[j] = sin(1 + 1.7 * (double)j);
    straighten(direction, NULL, p);
    straighten(direction + p, direction, p);
    for (int step = 0; step < MOST_STEPS; step++)
        if (advance(c, p, direction, next) < 1e-15)
            break;
    for (int k = 0; k < 2; k++) {
        double variance = 0;
        fix_sign(direction + k * p, p);
        for (int64_t j = 0; j < p; j++)
            variance += direction[k * p + j] * dot(c + j * p, direction + k * p, p);
        share[k] = trace > 0 ? variance / trace : 0;
    }
    free(c);
}
