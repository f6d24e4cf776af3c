/* distributions.c - tails of the signed-rank sum, chi-square, F and the range of normal numbers.
 *
 * Each tail is computed itself, not as 1 minus the rest, and from terms of one sign: a small p
 * keeps its digits. */
#include "eval/distributions.h"

#include <float.h>
#include <math.h>

enum { MOST_SUM = RLAR_MOST_EXACT_PAIRS * (RLAR_MOST_EXACT_PAIRS + 1) / 4 };

/* ways[s]: subsets of the ranks seen so far that add up to s. All counts are below 2^50, exact. */
double rlar__signed_rank_tail(int64_t n, int64_t sum) {
    double ways[MOST_SUM + 1] = {1}, all = 0;
    for (int64_t rank = 1; rank <= n; rank++)
        for (int64_t s = sum; s >= rank; s--)
            ways[s] += ways[s - rank];
    for (int64_t s = 0; s <= sum; s++)
        all += ways[s];
    return ldexp(all, (int)-n);
}

/* The regularised incomplete gamma function Q(freedom / 2, h), h = x / 2, by its recurrence
 *
 *   Q(a + 1, h) = Q(a, h) + h^a e^-h / Gamma(a + 1)     Q(1/2, h) = erfc(sqrt h)     Q(0, h) = 0
 *
 * Terms are kept as logarithms: e^-h alone may be below the smallest double. */
double rlar__chi_square_tail(double x, int64_t freedom) {
    const double half_root_pi = 0.88622692545275801365; /* Gamma(3/2) */
    const double h = x / 2;
    const bool odd = freedom % 2 != 0;
    double a = odd ? 0.5 : 0;
    double tail = odd ? erfc(sqrt(h)) : 0;
    double term = odd ? 0.5 * log(h) - h - log(half_root_pi) : -h;
    for (int64_t i = 0; i < freedom / 2; i++) {
        tail += exp(term);
        a += 1;
        term += log(h / a);
    }
    return fmin(tail, 1);
}

/* ---- F ---- */

/* A denominator of a continued fraction that happens to be 0 is moved off it. */
static double off_zero(double value) {
    return value == 0 ? DBL_MIN / DBL_EPSILON : value;
}

/* 1 + d_1 / (1 + d_2 / (1 + ...)) with the d_i of the incomplete beta function (DLMF 8.17.22), from
 * the front: `up` and `down` are the ratios of a numerator to the one before, and of a denominator
 * to the one after. Below the mean of the distribution some sqrt(max(a, b)) terms do; the limit
 * only sees to it that there is an end. */
static double beta_fraction(double x, double a, double b) {
    enum { MOST_TERMS = 1000000 };
    double fraction = 1, up = 1, down = 0;
    for (int i = 1; i <= MOST_TERMS; i++) {
        const int half = i / 2;
        const double m = half, below = (a + i - 1) * (a + i);
        const double d = (i % 2 != 0 ? -(a + m) * (a + b + m) : m * (b - m)) * x / below;
        up = off_zero(1 + d / up);
        down = 1 / off_zero(1 + d * down);
        fraction *= up * down;
        if (fabs(up * down - 1) <= DBL_EPSILON)
            break;
    }
    return fraction;
}

static double log_gamma(double value) {
    int sign; /* lgamma would leave it in a global variable */
    return lgamma_r(value, &sign);
}

/* I_x(a, b) below the mean of the distribution; y = 1 - x. */
static double lower_beta(double x, double y, double a, double b) {
    const double log_factor =
        a * log(x) + b * log(y) + log_gamma(a + b) - log_gamma(a) - log_gamma(b) - log(a);
    return exp(log_factor) / beta_fraction(x, a, b);
}

/* I_x(freedom2 / 2, freedom1 / 2) at x = freedom2 / (freedom2 + freedom1 f). */
double rlar__f_tail(double f, int64_t freedom1, int64_t freedom2) {
    const double first = (double)freedom1, second = (double)freedom2;
    if (!(f > 0))
        return 1;
    const double ratio = first / second * f; /* not a product first: f may be huge */
    const double x = 1 / (1 + ratio), y = 1 / (1 + 1 / ratio);
    const double tail = f > 1 ? lower_beta(x, y, second / 2, first / 2)
                              : 1 - lower_beta(y, x, first / 2, second / 2);
    return fmax(0, fmin(tail, 1));
}

/* ---- The range of k normal numbers ---- */

/* The share of normal numbers above z. */
static double above(double z) {
    return 0.5 * erfc(z * 0.70710678118654752440);
}

/* With the smallest number at z, and A and B the shares above z and above z + x, the range is more
 * than x unless the k - 1 others lie between:
 *
 *   k integral phi(z) (A^(k-1) - (A - B)^(k-1)) dz
 *
 * The trapezoidal rule converges faster than any power of its step on such a function; at 1/32 the
 * error is rounding up to k = 10^6. The function is largest between -x/2 (x large) and the place of
 * the smallest of k (x small), and beyond 12 of -x/2 it is less than 1e-40 of that. */
double rlar__range_tail(double x, int64_t k) {
    enum { REACH = 12, STEPS = 32 };
    const double others = (double)(k - 1), inverse_root_2pi = 0.39894228040143267794;
    double sum = 0;
    for (int i = -REACH * STEPS; i <= REACH * STEPS; i++) {
        const double z = (double)i / STEPS - x / 2;
        const double a = above(z), b = fmin(above(z + x), a); /* rounding, for x near 0 */
        sum += exp(-z * z / 2 + others * log(a)) * -expm1(others * log1p(-b / a));
    }
    return fmin((double)k * inverse_root_2pi * sum / STEPS, 1);
}

/* Bisection to neighbouring doubles: the tail falls from 1 at 0. */
double rlar__range_quantile(double tail, int64_t k) {
    double low = 0, high = 1;
    while (rlar__range_tail(high, k) > tail)
        high *= 2;
    for (;;) {
        const double middle = (low + high) / 2;
        if (!(middle > low && middle < high))
            return middle;
        if (rlar__range_tail(middle, k) > tail)
            low = middle;
        else
            high = middle;
    }
}
