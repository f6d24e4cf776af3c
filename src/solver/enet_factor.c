/* enet_factor.c - the factor of the elastic net's system, kept from one set of features to the
 * next.
 *
 * The system is the part of H^-1 for the features outside the support, or of H for those in it.
 * From one round to the next a few features come or go, and the Cholesky factor follows in O(m^2)
 * each instead of m^3/3: a feature that goes leaves its column behind as a rank-one update of what
 * is below it, one that comes is a row more at the end. So the features of the factor stand in the
 * order of en->holds. Made afresh where much changes, and now and then for the rounding. */
#include "solver/enet_parts.h"

#include <math.h>
#include <string.h>

enum {
    SHARE = 64,       /* one change in so many features is cheaper than a new factor */
    MOST_CHANGES = 64 /* until it is made afresh */
};
static const double DEPENDENT = 1e-10; /* share of a pivot below which it is rounding */

/* L L^T + x x^T, one column of L (c, x below its diagonal entry) at a time. */
RLAR_SIMD
static void rotate(int64_t m, double *restrict c, double *restrict x) {
    const double r = sqrt(c[0] * c[0] + x[0] * x[0]), s = x[0] / c[0], grown = r / c[0];
    const double shrunk = c[0] / r;
    c[0] = r;
    for (int64_t i = 1; i < m; i++) {
        c[i] = (c[i] + s * x[i]) * shrunk;
        x[i] = grown * x[i] - s * c[i];
    }
}

/* v -= t c */
RLAR_SIMD
static void eliminate(int64_t m, double t, const double *restrict c, double *restrict v) {
    for (int64_t i = 0; i < m; i++)
        v[i] -= t * c[i];
}

/* Feature k of en->holds goes. */
static void drop(rlar_enet *en, int64_t k) {
    const int64_t m = en->held, left = m - 1;
    double *l = en->system;
    for (int64_t i = k + 1; i < m; i++)
        rotate(m - i, l + i * m + i, l + k * m + i);
    for (int64_t j = 0; j < m; j++) {
        double *to = l + (j < k ? j : j - 1) * left;
        const double *from = l + j * m;
        if (j < k)
            memmove(to + j, from + j, (size_t)(k - j) * sizeof *to);
        const int64_t below = j <= k ? k + 1 : j;
        if (j != k)
            memmove(to + below - 1, from + below, (size_t)(m - below) * sizeof *to);
    }
    memmove(en->holds + k, en->holds + k + 1, (size_t)(left - k) * sizeof *en->holds);
    en->held = left;
}

/* Feature j comes; false: it depends on the others, but for rounding. */
static bool append(rlar_enet *en, int64_t j) {
    const int64_t m = en->held, next = m + 1;
    const double *a = (en->holds_rest ? en->inverse : en->gram) + j * en->d;
    const double own = a[j] + (en->holds_rest ? 0.0 : en->gamma);
    double *l = en->system, *v = en->step, pivot = own;
    for (int64_t i = m - 1; i >= 0; i--)
        memmove(l + i * next, l + i * m, (size_t)m * sizeof *l);
    for (int64_t i = 0; i < m; i++)
        v[i] = a[en->holds[i]];
    for (int64_t i = 0; i < m; i++) {
        v[i] /= l[i * next + i];
        l[i * next + m] = v[i];
        pivot -= v[i] * v[i];
        eliminate(m - i - 1, v[i], l + i * next + i + 1, v + i + 1);
    }
    l[m * next + m] = sqrt(pivot);
    en->holds[m] = j;
    en->held = next;
    return pivot > DEPENDENT * own;
}

/* Does the system of now have the feature? */
static bool wanted(const rlar_enet *en, int64_t j) {
    return (en->full[j] == 0.0) == en->holds_rest;
}

/* From the features held to `which`; false: that would not pay, or went wrong. */
static bool follow(rlar_enet *en, int64_t count, const int64_t *which) {
    int64_t stay = 0;
    for (int64_t i = 0; i < en->held; i++)
        stay += wanted(en, en->holds[i]);
    const int64_t changes = en->held + count - 2 * stay;
    en->changes += changes;
    if (stay == 0 || changes * SHARE > count || en->changes > MOST_CHANGES)
        return false;
    for (int64_t i = en->held - 1; i >= 0; i--)
        if (!wanted(en, en->holds[i]))
            drop(en, i);
    memset(en->out, 0, (size_t)en->d * sizeof *en->out);
    for (int64_t i = 0; i < en->held; i++)
        en->out[en->holds[i]] = 1.0;
    bool independent = true;
    for (int64_t i = 0; i < count && independent; i++)
        if (en->out[which[i]] == 0.0)
            independent = append(en, which[i]);
    return independent;
}

rlar_status rlar__enet_hold(rlar_ctx *ctx, rlar_enet *en, int64_t count, const int64_t *which,
                            bool rest) {
    if (rest == en->holds_rest && follow(en, count, which))
        return RLAR_OK;
    en->held = 0;
    RLAR_TRY(rest ? rlar__enet_factor_rest(ctx, en, count, which)
                  : rlar__enet_factor_support(ctx, en, count, which));
    memcpy(en->holds, which, (size_t)count * sizeof *which);
    en->held = count;
    en->holds_rest = rest;
    en->changes = 0;
    return RLAR_OK;
}
