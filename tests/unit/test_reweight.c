/* test_reweight.c - the smoothing kernels: weight and value belong together, and the properties on
 * which the descent of the smoothed objective rests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "samples.h"
#include "solver/reweight.h"

enum { TRIALS = 20000 };

static rlar_kernel random_kernel(rlar_rng *rng) {
    static const rlar_kernel_kind kinds[] = {RLAR_KERNEL_ADD, RLAR_KERNEL_SQRT, RLAR_KERNEL_FLOOR};
    return (rlar_kernel){kinds[rlar__rng_below(rng, 3)], spread(rng, 4.0) * 1e-4}; /* 1e-8 .. 1 */
}

/* Norms around eps, where the kernels bend, and zero. */
static double random_norm(rlar_rng *rng, double eps) {
    return rlar__rng_below(rng, 10) ? eps * spread(rng, 6.0) : 0.0;
}

/* The formulas in long double. */
static long double value(rlar_kernel k, long double s) {
    if (k.kind == RLAR_KERNEL_SQRT)
        return sqrtl(s * s + (long double)k.eps * k.eps);
    const long double r = s / k.eps;
    if (k.kind == RLAR_KERNEL_FLOOR)
        return r < 1.0L ? k.eps * (r * r + 1.0L) / 2.0L : s;
    return r < 1e-3L ? k.eps * r * r * (0.5L - r / 3.0L + r * r / 4.0L - r * r * r / 5.0L)
                     : s - k.eps * log1pl(r);
}

static void test_values(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(21);
    for (int i = 0; i < TRIALS; i++) {
        const rlar_kernel k = random_kernel(&rng);
        const double s = random_norm(&rng, k.eps);
        const double want = (double)value(k, s), got = rlar__kernel_value(k, s);
        /* add near zero: the series has two terms and so an error of r^2/2, r < 1e-4. Above that
         * the difference s - eps log(1 + r) cancels: a few roundings of s remain. */
        const double tolerance = (s < 1e-4 * k.eps ? 6e-9 : 1e-14) * want + 1e-15 * s;
        assert_true(fabs(got - want) <= tolerance);
    }
}

/* om(s) s is the derivative of rho. */
static void test_weight_is_derivative(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(22);
    for (int i = 0; i < TRIALS; i++) {
        const rlar_kernel k = random_kernel(&rng);
        const long double s = k.eps * spread(&rng, 3.0), h = 1e-3L * s;
        if (k.kind == RLAR_KERNEL_FLOOR && fabsl(s / k.eps - 1.0L) < 2e-3L)
            continue; /* across its bend the difference quotient is of first order only */
        const long double slope = (value(k, s + h) - value(k, s - h)) / (2.0L * h);
        const double weight = rlar__kernel_weight(k, (double)s);
        assert_true(fabsl(weight * s / slope - 1.0L) <= 1e-5L);
        assert_true(weight > 0.0 && weight <= 1.0 / k.eps * (1.0 + 1e-15));
    }
}

/* The majoriser: rho(s) <= rho(s0) + om(s0) (s^2 - s0^2) / 2, with equality at s0. */
static void test_majoriser(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(23);
    for (int i = 0; i < TRIALS; i++) {
        const rlar_kernel k = random_kernel(&rng);
        const double s = random_norm(&rng, k.eps), s0 = random_norm(&rng, k.eps);
        const double bound =
            rlar__kernel_value(k, s0) + rlar__kernel_weight(k, s0) * (s - s0) * (s + s0) / 2.0;
        assert_true(rlar__kernel_value(k, s) <= bound + 1e-14 * (s + s0 + k.eps));
    }
}

/* add lies below the norm, sqrt and floor above it by eps at most; all rise with the norm. */
static void test_relation_to_the_norm(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(24);
    for (int i = 0; i < TRIALS; i++) {
        const rlar_kernel k = random_kernel(&rng);
        const double s = random_norm(&rng, k.eps), rho = rlar__kernel_value(k, s);
        const double gap = k.kind == RLAR_KERNEL_ADD ? s - rho : rho - s;
        assert_true(gap >= -1e-15 * s);
        if (k.kind != RLAR_KERNEL_ADD)
            assert_true(gap <= k.eps * (1.0 + 1e-12) + 1e-15 * s);
        assert_true(rlar__kernel_value(k, 1.01 * s) >= rho);
        if (s == 0.0)
            assert_true(rho == (k.kind == RLAR_KERNEL_ADD    ? 0.0
                                : k.kind == RLAR_KERNEL_SQRT ? k.eps
                                                             : 0.5 * k.eps));
    }
}

/* Annealing relies on it: sqrt falls with eps, and so does floor. add does the opposite. */
static void test_shrinking_eps(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(25);
    for (int i = 0; i < TRIALS; i++) {
        const rlar_kernel k = random_kernel(&rng), less = {k.kind, 0.7 * k.eps};
        const double s = random_norm(&rng, k.eps);
        const double fall = rlar__kernel_value(k, s) - rlar__kernel_value(less, s);
        assert_true((k.kind != RLAR_KERNEL_ADD ? fall : -fall) >= -1e-15 * s);
    }
}

static void test_rows(void **unused) {
    (void)unused;
    const double w[] = {3.0, 0.0, 1.0, 4.0, 0.0, 0.0}; /* rows of length 5, 0, 1 */
    const rlar_kernel k = {RLAR_KERNEL_FLOOR, 2.0};
    double weight[3], norm, smoothed;
    rlar__kernel_rows(k, 3, 2, w, weight, &norm, &smoothed);
    assert_true(norm == 6.0 && smoothed == 5.0 + 1.0 + 1.25);
    assert_true(weight[0] == 0.2 && weight[1] == 0.5 && weight[2] == 0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),        cmocka_unit_test(test_weight_is_derivative),
        cmocka_unit_test(test_majoriser),     cmocka_unit_test(test_relation_to_the_norm),
        cmocka_unit_test(test_shrinking_eps), cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
