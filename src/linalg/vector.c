/* vector.c - sums and norms over one vector. Eight running sums, in a fixed order: what a vector
 * unit likes, and the same bits everywhere (the compiler may not reorder sums by itself without
 * -ffast-math, which we do not use). */
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { LANES = 8, STRETCH = 4 * LANES };

/* The running sums where compilers do not see by themselves that they are a vector. */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t masks __attribute__((vector_size(LANES * sizeof(int64_t))));

static double add_lanes(const double *s) {
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

RLAR_SIMD
double rlar__dot(int64_t n, const double *x, const double *y) {
    double s[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            s[k] += x[i + k] * y[i + k];
    for (int k = 0; i < n; i++, k++)
        s[k] += x[i] * y[i];
    return add_lanes(s);
}

/* A few numbers: setting up the running sums would cost more than the sum. */
static double short_distance2(int64_t n, const double *x, const double *y) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double t = x[i] - y[i];
        sum += t * t;
    }
    return sum;
}

static void add_squares(const double *x, const double *y, double s[LANES]) {
    for (int k = 0; k < LANES; k++) {
        const double t = x[k] - y[k];
        s[k] += t * t;
    }
}

RLAR_SIMD
double rlar__distance2(int64_t n, const double *x, const double *y) {
    if (n < LANES)
        return short_distance2(n, x, y);
    double s[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        add_squares(x + i, y + i, s);
    return add_lanes(s) + short_distance2(n - i, x + i, y + i);
}

RLAR_SIMD
void rlar__difference_terms(int64_t n, const double *x, const double *y, const double *u,
                            const double *v, double out[3]) {
    lanes xx = {0}, xu = {0}, uu = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        lanes x8, y8, u8, v8;
        memcpy(&x8, x + i, sizeof x8);
        memcpy(&y8, y + i, sizeof y8);
        memcpy(&u8, u + i, sizeof u8);
        memcpy(&v8, v + i, sizeof v8);
        const lanes p = x8 - y8, q = u8 - v8;
        xx += p * p;
        xu += p * q;
        uu += q * q;
    }
    double a[LANES], b[LANES], c[LANES];
    memcpy(a, &xx, sizeof a);
    memcpy(b, &xu, sizeof b);
    memcpy(c, &uu, sizeof c);
    for (int k = 0; i < n; i++, k++) {
        const double p = x[i] - y[i], q = u[i] - v[i];
        a[k] += p * p;
        b[k] += p * q;
        c[k] += q * q;
    }
    out[0] = add_lanes(a);
    out[1] = add_lanes(b);
    out[2] = add_lanes(c);
}

/* No sum of squares gets smaller by what follows, in rounded arithmetic either: where a part of it
 * is beyond the limit, so is the whole. */
RLAR_SIMD
double rlar__distance2_up_to(int64_t n, const double *x, const double *y, double limit) {
    if (n < LANES)
        return short_distance2(n, x, y);
    double s[LANES] = {0};
    int64_t i = 0;
    for (; i + STRETCH <= n; i += STRETCH) {
        for (int k = 0; k < STRETCH; k += LANES)
            add_squares(x + i + k, y + i + k, s);
        const double part = add_lanes(s);
        if (part > limit)
            return part;
    }
    for (; i + LANES <= n; i += LANES)
        add_squares(x + i, y + i, s);
    return add_lanes(s) + short_distance2(n - i, x + i, y + i);
}

/* Zero times a number is zero, times NaN or infinity it is NaN. */
RLAR_SIMD
bool rlar__finite(int64_t n, const double *x) {
    double s[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            s[k] += x[i + k] * 0.0;
    for (int k = 0; i < n; i++, k++)
        s[k] += x[i] * 0.0;
    return add_lanes(s) == 0.0;
}

/* Between these the squares are neither infinite nor lost to underflow; NaN stays NaN. */
static bool is_safe_square(double sum) {
    return !(sum <= 1e-280 || sum >= 1e300);
}

/* For values, each `step`-th, whose squares leave the range of double: divided by the largest. */
static double scaled_norm(int64_t n, const double *x, int64_t step) {
    double largest = 0.0, sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i * step]));
    if (largest == 0.0 || !isfinite(largest))
        return largest;
    for (int64_t i = 0; i < n; i++) {
        const double t = x[i * step] / largest;
        sum += t * t;
    }
    return largest * sqrt(sum);
}

double rlar__norm(int64_t n, const double *x) {
    const double sum = rlar__dot(n, x, x);
    return is_safe_square(sum) ? sqrt(sum) : scaled_norm(n, x, 1);
}

/* One running sum: its callers spend their time in products of matrices. */
double rlar__norm1(int64_t n, const double *x) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += fabs(x[i]);
    return sum;
}

double rlar__row_norm(int64_t p, const double *row, int64_t ld) {
    double sum = 0.0;
    for (int64_t j = 0; j < p; j++)
        sum += row[j * ld] * row[j * ld];
    return is_safe_square(sum) ? sqrt(sum) : scaled_norm(p, row, ld);
}

RLAR_SIMD
double rlar__block_sum(int64_t n, const double *x) {
    double s[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            s[k] += x[i + k];
    for (int k = 0; i < n; i++, k++)
        s[k] += x[i];
    return add_lanes(s);
}

/* Without branches: which numbers are above is as good as random. */
RLAR_SIMD
double rlar__sum_above(int64_t n, const double *x, double limit, int64_t *count) {
    lanes sums = {0};
    masks counts = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        lanes some;
        memcpy(&some, x + i, sizeof some);
        const masks above = some > limit; /* -1 where it is */
        sums += (lanes)((masks)some & above);
        counts -= above;
    }
    double s[LANES];
    memcpy(s, &sums, sizeof s);
    *count = 0;
    for (int k = 0; k < LANES; k++)
        *count += counts[k];
    for (int k = 0; i < n; i++, k++) {
        s[k] += x[i] > limit ? x[i] : 0.0;
        *count += x[i] > limit;
    }
    return add_lanes(s);
}

/* The tree of tree.c, with numbers for buffers: after block k as many merges as k has trailing one
 * bits, as a carry runs through a binary counter. */
double rlar__sum(int64_t n, const double *x) {
    double stack[64];
    int top = 0;
    int64_t k = 0;
    for (int64_t start = 0; start < n; start += RLAR_SUM_BLOCK, k++) {
        const int64_t count = n - start < RLAR_SUM_BLOCK ? n - start : RLAR_SUM_BLOCK;
        stack[top++] = rlar__block_sum(count, x + start);
        for (int64_t bits = k; bits & 1; bits >>= 1, top--)
            /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): merges < top */
            stack[top - 2] += stack[top - 1];
    }
    for (; top > 1; top--)
        stack[top - 2] += stack[top - 1];
    return top ? stack[0] : 0.0;
}
