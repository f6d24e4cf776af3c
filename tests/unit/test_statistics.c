/* test_statistics.c - the tests of a comparison against numbers worked out by hand, and what must
 * hold of every answer. SciPy's answers are in tests/reference/test_statistics.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "close.h"
#include "eval/distributions.h"

static int open_ctx(void **state) {
    return rlar_ctx_new(NULL, (rlar_ctx **)state) < 0;
}

static int close_ctx(void **state) {
    rlar_ctx_free(*state);
    return 0;
}

static void done(rlar_ctx *ctx, rlar_status status) {
    if (status != RLAR_OK)
        fail_msg("%s", rlar_ctx_error(ctx));
}

static double uniform(rlar_rng *rng) {
    return (double)(rlar__rng_next(rng) >> 11) / 9007199254740992.0;
}

/* ---- Wilcoxon ---- */

static double wilcoxon_p(rlar_ctx *ctx, int64_t n, const double *x, const double *y) {
    double statistic, p;
    done(ctx, rlar_wilcoxon(ctx, n, x, y, &statistic, &p));
    assert_true(p >= 0 && p <= 1);
    return p;
}

/* Differences 1, 2, 3, 4, -5: of the 32 choices of signs those with a sum of positive ranks of at
 * most 5 are {}, 1, 2, 3, 12, 4, 13, 5, 14, 23: ten of them. */
static void test_exact(void **state) {
    const double x[] = {1, 2, 3, 4, 0}, y[] = {0, 0, 0, 0, 5};
    double statistic = 0, p = 0;
    done(*state, rlar_wilcoxon(*state, 5, x, y, &statistic, &p));
    assert_close(statistic, 5, 0);
    assert_close(p, 2 * 10.0 / 32, 0);
    /* All in favour of one: 2 of 2^n. */
    const double zero[5] = {0}, up[] = {3, 1, 4, 5, 2};
    assert_close(wilcoxon_p(*state, 5, up, zero), 2.0 / 32, 0);
    assert_close(wilcoxon_p(*state, 5, zero, up), 2.0 / 32, 0);
}

/* Half the tail of the symmetric distribution and the point in the middle: exactly 1. */
static void test_exact_middle(void **state) {
    const double x[] = {1, 2, 0}, y[] = {0, 0, 3};
    assert_close(wilcoxon_p(*state, 3, x, y), 1, 0);
    assert_close(rlar__signed_rank_tail(3, 3), 5.0 / 8, 0);
    assert_close(rlar__signed_rank_tail(50, 0), ldexp(1, -50), 0);
    assert_close(rlar__signed_rank_tail(50, 637), 0.5, 0); /* 637.5 is the middle */
}

/* A pair that does not differ: the normal distribution, n = 4 without it. Sizes 1, 2, 2, 4 have the
 * ranks 1, 2.5, 2.5, 4; W = 2.5, mean 5, variance (4 5 9 - (8 - 2) / 2) / 24. */
static void test_zero_and_ties(void **state) {
    const double x[] = {1, 0, 2, 7, 4}, y[] = {0, 2, 0, 7, 0};
    double statistic = 0, p = 0;
    done(*state, rlar_wilcoxon(*state, 5, x, y, &statistic, &p));
    assert_close(statistic, 2.5, 0);
    const double z = 2.5 / sqrt((4 * 5 * 9 - 3) / 24.0);
    assert_close(p, erfc(z / sqrt(2)), 1e-15);
}

/* 51 pairs: the normal distribution, without ties or zeros. All positive: W = 0. */
static void test_many_pairs(void **state) {
    double x[51], y[51];
    for (int i = 0; i < 51; i++) {
        x[i] = i + 1;
        y[i] = 0;
    }
    const double z = 51 * 52 / 4.0 / sqrt(51.0 * 52 * 103 / 24);
    assert_close(wilcoxon_p(*state, 51, x, y), erfc(z / sqrt(2)), 1e-22);
    assert_close(wilcoxon_p(*state, 50, x, y), ldexp(1, -49), 0);
}

static void test_no_difference(void **state) {
    const double x[] = {0.5, 0.25, 1};
    double statistic = -1, p = -1;
    done(*state, rlar_wilcoxon(*state, 3, x, x, &statistic, &p));
    assert_close(statistic, 0, 0);
    assert_close(p, 1, 0);
}

/* Shifting both sides by the same changes nothing, nor does the order of the pairs; without ties
 * neither does exchanging the sides. Whole numbers, so that differences are exact. */
static void test_wilcoxon_invariants(void **state) {
    const uint64_t seed = 3;
    rlar_rng rng = rlar__rng_seed(&seed, 1);
    for (int64_t n = 2; n <= 60; n += 2) {
        double x[60], y[60], moved[60], also[60];
        for (int64_t i = 0; i < n; i++) {
            const double size = (double)(i + 1), sign = uniform(&rng) < 0.6 ? 1 : -1;
            y[i] = floor(100 * uniform(&rng));
            x[i] = y[i] + sign * size;
            moved[n - 1 - i] = x[i] + 17;
            also[n - 1 - i] = y[i] + 17;
        }
        const double p = wilcoxon_p(*state, n, x, y);
        assert_close(wilcoxon_p(*state, n, moved, also), p, 0);
        assert_close(wilcoxon_p(*state, n, y, x), p, 1e-15);
    }
}

/* ---- Holm ---- */

static void test_holm(void **state) {
    const double p[] = {0.04, 0.01, 0.03, 0.5};
    double adjusted[4];
    done(*state, rlar_holm(*state, 4, p, adjusted));
    assert_close(adjusted[1], 0.04, 1e-16);
    assert_close(adjusted[2], 0.09, 1e-16);
    assert_close(adjusted[0], 0.09, 1e-16); /* 2 * 0.04 is less than the one before */
    assert_close(adjusted[3], 0.5, 0);
    double same[] = {0.6, 0.6};
    done(*state, rlar_holm(*state, 2, same, same));
    assert_true(same[0] == 1 && same[1] == 1);
}

/* Never less than p, never above 1, in the order of p. */
static void test_holm_is_monotone(void **state) {
    const uint64_t seed = 4;
    rlar_rng rng = rlar__rng_seed(&seed, 1);
    for (int round = 0; round < 50; round++) {
        double p[20], adjusted[20];
        for (int i = 0; i < 20; i++)
            p[i] = floor(30 * uniform(&rng)) / 300;
        done(*state, rlar_holm(*state, 20, p, adjusted));
        for (int i = 0; i < 20; i++) {
            assert_true(adjusted[i] >= p[i] && adjusted[i] <= 1);
            for (int j = 0; j < 20; j++)
                assert_true(p[i] > p[j] || adjusted[i] <= adjusted[j]);
        }
    }
}

/* ---- Friedman ---- */

/* Ranks 1 2 3, 1 2 3, 2 1 3, 1.5 1.5 3: sums 5.5, 6.5, 12, mean 8. Squares 6.25 + 2.25 + 16 = 24.5;
 * possible 4 * 24 - 6 = 90: chi-square 12 * 24.5 / 90 * 2, of 2 degrees of freedom: e^(-x/2). */
static void test_friedman(void **state) {
    const double values[] = {0.9, 0.8, 0.7, 3, 2, 1, 0.5, 0.6, 0.4, 1, 1, 0};
    double ranks[3], statistic, p, f, f_p;
    done(*state, rlar_friedman(*state, 4, 3, values, ranks, &statistic, &p));
    assert_close(ranks[0], 5.5 / 4, 0);
    assert_close(ranks[1], 6.5 / 4, 0);
    assert_close(ranks[2], 3, 0);
    const double chi = 12 * 24.5 / 90 * 2;
    assert_close(statistic, chi, 1e-14);
    assert_close(p, exp(-chi / 2), 1e-15);
    /* F of 2 and 6 degrees of freedom: its tail is (1 + F / 3)^-3. */
    done(*state, rlar_iman_davenport(*state, 4, 3, statistic, &f, &f_p));
    assert_close(f, 3 * chi / (8 - chi), 1e-13);
    assert_close(f_p, pow(1 + f / 3, -3), 1e-15);
}

static void test_friedman_ends(void **state) {
    const double equal[] = {1, 1, 1, 2, 2, 2}, agreed[] = {3, 2, 1, 9, 8, 7};
    double ranks[3], statistic, p, f, f_p;
    done(*state, rlar_friedman(*state, 2, 3, equal, ranks, &statistic, &p));
    assert_true(statistic == 0 && p == 1 && ranks[0] == 2 && ranks[2] == 2);
    done(*state, rlar_iman_davenport(*state, 2, 3, statistic, &f, &f_p));
    assert_true(f == 0 && f_p == 1);
    done(*state, rlar_friedman(*state, 2, 3, agreed, ranks, &statistic, &p));
    assert_true(statistic == 4 && ranks[0] == 1 && ranks[2] == 3);
    done(*state, rlar_iman_davenport(*state, 2, 3, statistic, &f, &f_p));
    assert_true(isinf(f) && f_p == 0);
}

/* Permuting the methods permutes the ranks and the pairs, and nothing else. */
static void test_permuted_methods(void **state) {
    enum { N = 12, K = 5 };
    static const int order[K] = {3, 0, 4, 1, 2};
    const uint64_t seed = 5;
    rlar_rng rng = rlar__rng_seed(&seed, 1);
    double a[N * K], b[N * K], ra[K], rb[K], pa[K * K], pb[K * K], sa, sb, p, q;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < K; j++)
            a[i * K + j] = floor(8 * uniform(&rng)) + j;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < K; j++)
            b[i * K + j] = a[i * K + order[j]];
    done(*state, rlar_friedman(*state, N, K, a, ra, &sa, &p));
    done(*state, rlar_friedman(*state, N, K, b, rb, &sb, &q));
    assert_close(sb, sa, 1e-13);
    assert_close(q, p, 1e-13);
    done(*state, rlar_nemenyi(*state, N, K, ra, pa));
    done(*state, rlar_nemenyi(*state, N, K, rb, pb));
    double sum = 0;
    for (int i = 0; i < K; i++) {
        sum += ra[i];
        assert_true(rb[i] == ra[order[i]]);
        for (int j = 0; j < K; j++) {
            assert_true(pb[i * K + j] == pa[order[i] * K + order[j]]);
            assert_true(pa[i * K + j] == pa[j * K + i]);
            assert_true(pa[i * K + j] >= 0 && pa[i * K + j] <= 1);
        }
    }
    assert_close(sum, K * (K + 1) / 2.0, 1e-13);
}

/* ---- Distributions ---- */

static void assert_relative(double a, double b, double tolerance) {
    assert_close(a, b, tolerance * fabs(b));
}

static void test_chi_square_tail(void **state) {
    (void)state;
    for (double x = 0; x < 1400; x = 2 * x + 0.3) {
        const double h = x / 2;
        assert_relative(rlar__chi_square_tail(x, 1), erfc(sqrt(h)), 1e-12);
        assert_relative(rlar__chi_square_tail(x, 2), exp(-h), 1e-12);
        assert_relative(rlar__chi_square_tail(x, 4), exp(-h) * (1 + h), 1e-12);
        assert_relative(rlar__chi_square_tail(x, 3),
                        erfc(sqrt(h)) + 2 * sqrt(h / acos(-1)) * exp(-h), 1e-12);
    }
    /* Where e^-h is below the smallest double: near the median, m - 2/3 + 4/(27 m). */
    assert_close(rlar__chi_square_tail(4000 - 2.0 / 3 + 1e-4 / 2.7, 4000), 0.5, 1e-6);
}

static void test_f_tail(void **state) {
    (void)state;
    for (double f = 1e-6; f < 1e6; f *= 3) {
        assert_relative(rlar__f_tail(f, 2, 10), pow(1 + f / 5, -5), 1e-12);
        assert_relative(rlar__f_tail(f, 1, 1), atan(1 / sqrt(f)) / asin(1), 1e-12);
        /* Exchanging the degrees of freedom turns F into 1 / F. */
        assert_close(rlar__f_tail(f, 7, 90) + rlar__f_tail(1 / f, 90, 7), 1, 1e-13);
    }
    assert_true(rlar__f_tail(0, 3, 4) == 1);
}

/* The range of two is the size of a normal difference. Larger k: the table below, and SciPy. */
static void test_range_of_two(void **state) {
    (void)state;
    for (double x = 0; x < 40; x += 0.37)
        assert_relative(rlar__range_tail(x, 2), erfc(x / 2), 1e-12);
    assert_true(rlar__range_tail(200, 9) == 0);
}

/* The table that papers print: q / sqrt(2) at 0.05. */
static void test_critical_values(void **state) {
    static const double printed[] = {1.960, 2.344, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164};
    for (int64_t k = 2; k <= 10; k++) {
        double difference = 0;
        done(*state, rlar_nemenyi_difference(*state, 6, k, 0.05, &difference));
        const double q = difference / sqrt((double)(k * (k + 1)) / 36);
        assert_close(q, printed[k - 2], 1e-3);
    }
}

/* The quantile is where the tail has the level; Nemenyi's p there is the level. */
static void test_quantile(void **state) {
    static const double levels[] = {1e-12, 0.01, 0.05, 0.5, 0.999};
    for (int64_t k = 2; k <= 1000; k = 2 * k + 1)
        for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
            assert_relative(rlar__range_tail(rlar__range_quantile(levels[i], k), k), levels[i],
                            1e-12);
    double difference = 0, p[9];
    done(*state, rlar_nemenyi_difference(*state, 30, 3, 0.05, &difference));
    const double ranks[] = {1.5, 1.5 + difference, 1.5 + difference / 2};
    done(*state, rlar_nemenyi(*state, 30, 3, ranks, p));
    assert_close(p[1], 0.05, 1e-13);
    assert_true(p[0] == 1 && p[2] > 0.05 && p[2] == p[5] && p[2] == p[6]);
}

/* ---- What is refused ---- */

static void assert_refused(rlar_ctx *ctx, rlar_status status, const char *text) {
    assert_int_equal(status, RLAR_E_ARG);
    assert_string_equal(rlar_ctx_error(ctx), text);
}

static void test_refused(void **state) {
    rlar_ctx *ctx = *state;
    const double good[] = {1, 2, 3, 4}, bad[] = {1, NAN, 2, INFINITY};
    double s = 7, p = 7, many[4] = {7, 7, 7, 7};
    assert_refused(ctx, rlar_wilcoxon(ctx, 4, good, bad, &s, &p),
                   "rlar_wilcoxon: pair 2 is 2 and nan; finite numbers are needed");
    assert_refused(ctx, rlar_wilcoxon(ctx, 1, good, good, &s, &p),
                   "rlar_wilcoxon: every argument is needed, and at least 2 pairs");
    assert_refused(ctx, rlar_wilcoxon(ctx, 4, good, NULL, &s, &p),
                   "rlar_wilcoxon: every argument is needed, and at least 2 pairs");
    assert_refused(ctx, rlar_holm(ctx, 4, good, many),
                   "rlar_holm: p value 2 is 2; it must be 0 to 1");
    assert_refused(ctx, rlar_holm(ctx, 2, bad, many),
                   "rlar_holm: p value 2 is nan; it must be 0 to 1");
    assert_refused(ctx, rlar_friedman(ctx, 2, 2, bad, many, &s, &p),
                   "rlar_friedman: block 1, method 2: nan; finite numbers are needed, leave such "
                   "blocks out");
    assert_refused(ctx, rlar_friedman(ctx, 4, 1, good, many, &s, &p),
                   "rlar_friedman: 4 blocks of 1 methods; at least 2 of each");
    assert_refused(ctx, rlar_friedman(ctx, 1, 4, good, many, &s, &p),
                   "rlar_friedman: 1 blocks of 4 methods; at least 2 of each");
    assert_refused(ctx, rlar_iman_davenport(ctx, 4, 3, 8.5, &s, &p),
                   "rlar_iman_davenport: Friedman's statistic is 8.5; with 4 blocks of 3 methods "
                   "it is 0 to 8");
    assert_refused(ctx, rlar_nemenyi(ctx, 4, 2, bad, many),
                   "rlar_nemenyi: average rank 2 is nan; it must be 1 to 2");
    assert_refused(ctx, rlar_nemenyi_difference(ctx, 4, 2, 1, &s),
                   "rlar_nemenyi_difference: level is 1; choose between 0 and 1, e.g. 0.05");
    assert_int_equal(rlar_wilcoxon(NULL, 4, good, good, &s, &p), RLAR_E_ARG);
    assert_true(s == 7 && p == 7 && many[0] == 7 && many[3] == 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_exact_middle),
        cmocka_unit_test(test_zero_and_ties),
        cmocka_unit_test(test_many_pairs),
        cmocka_unit_test(test_no_difference),
        cmocka_unit_test(test_wilcoxon_invariants),
        cmocka_unit_test(test_holm),
        cmocka_unit_test(test_holm_is_monotone),
        cmocka_unit_test(test_friedman),
        cmocka_unit_test(test_friedman_ends),
        cmocka_unit_test(test_permuted_methods),
        cmocka_unit_test(test_chi_square_tail),
        cmocka_unit_test(test_f_tail),
        cmocka_unit_test(test_range_of_two),
        cmocka_unit_test(test_critical_values),
        cmocka_unit_test(test_quantile),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
