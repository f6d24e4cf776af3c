/* test_retarget.c - the T step against two oracles that share nothing with it: the enumeration of
 * all sets of tight margins (c <= 8), and the literal Phi of (25) (any c); and its optimality
 * conditions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "retarget_oracle.h"
#include "samples.h"
#include "solver/retarget.h"

enum { MOST = 200, ROWS = 3000 };

/* Some rows have ties and margins that hold with equality, some are large, some nearly equal. */
static void random_row(rlar_rng *rng, int64_t c, double *y) {
    static const double size[] = {0.1, 1.0, 3.0, 100.0};
    const double scale = size[rlar__rng_below(rng, 4)];
    const bool tied = rlar__rng_below(rng, 3) == 0;
    for (int64_t j = 0; j < c; j++) {
        y[j] = scale * uniform(rng);
        if (tied)
            y[j] = round(2.0 * y[j]) / 2.0;
    }
}

static void assert_rows_close(int64_t c, const double *a, const double *b, double tolerance) {
    for (int64_t j = 0; j < c; j++)
        if (!(fabs(a[j] - b[j]) <= tolerance))
            fail_msg("c = %d, entry %d: %.17g and %.17g", (int)c, (int)j, a[j], b[j]);
}

static void test_enumeration(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(1);
    for (int64_t c = 2; c <= 8; c++)
        for (int trial = 0; trial < ROWS; trial++) {
            double y[8], t[8], want[8];
            random_row(&rng, c, y);
            const int64_t l = (int64_t)rlar__rng_below(&rng, (uint64_t)c);
            rlar__retarget_row(c, y, l, t);
            enumerate(c, y, l, want);
            assert_rows_close(c, t, want, 1e-12 * largest(c, y));
        }
}

static void test_literal_phi(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(2);
    for (int trial = 0; trial < ROWS; trial++) {
        double y[MOST], t[MOST], want[MOST];
        const int64_t c = 2 + (int64_t)rlar__rng_below(&rng, MOST - 1);
        random_row(&rng, c, y);
        const int64_t l = (int64_t)rlar__rng_below(&rng, (uint64_t)c);
        rlar__retarget_row(c, y, l, t);
        literal_phi(c, y, l, want);
        assert_rows_close(c, t, want, 1e-13 * (double)c * largest(c, y));
    }
}

/* Margin, sum, direction, complementarity: together they characterise the nearest row. */
static void test_conditions(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(3);
    for (int trial = 0; trial < ROWS; trial++) {
        double y[MOST], t[MOST], sum = 0.0;
        const int64_t c = 2 + (int64_t)rlar__rng_below(&rng, MOST - 1);
        random_row(&rng, c, y);
        const int64_t l = (int64_t)rlar__rng_below(&rng, (uint64_t)c);
        const double slack = 1e-14 * largest(c, y);
        rlar__retarget_row(c, y, l, t);
        for (int64_t j = 0; j < c; j++) {
            sum += t[j] - y[j];
            if (j == l)
                continue;
            assert_true(t[l] - t[j] >= 1.0 - slack);
            assert_true(t[j] <= y[j]);
            /* Scaled by the size of y: one factor is rounding, the other may be large. */
            assert_true(fabs((t[j] - y[j]) * (t[l] - t[j] - 1.0)) <= slack * largest(c, y));
        }
        assert_true(t[l] >= y[l]);
        assert_true(fabs(sum) <= slack * (double)c);
    }
}

/* A sample that keeps its margin is left alone in every bit: its residual must be exactly zero. */
static void test_satisfied_rows_stay(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(4);
    for (int trial = 0; trial < ROWS; trial++) {
        double y[20], t[20];
        random_row(&rng, 20, y);
        y[7] = 1.5 + largest(20, y);
        rlar__retarget_row(20, y, 7, t);
        assert_memory_equal(t, y, sizeof y);
    }
    const double edge[] = {0.0, 1.0, 0.0};
    double t[3];
    rlar__retarget_row(3, edge, 1, t);
    assert_memory_equal(t, edge, sizeof edge);
}

static void test_two_classes(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(5);
    for (int trial = 0; trial < ROWS; trial++) {
        const double y[] = {3.0 * uniform(&rng), 3.0 * uniform(&rng)};
        const double delta = fmax(0.0, (y[0] + 1.0 - y[1]) / 2.0);
        const double want[] = {y[0] - delta, y[1] + delta};
        double t[2];
        rlar__retarget_row(2, y, 1, t);
        assert_rows_close(2, t, want, 1e-14);
    }
}

/* Known by hand: y = 0 for three classes; both margins are tight, Delta = 2/3. */
static void test_by_hand(void **unused) {
    (void)unused;
    const double y[] = {0.0, 0.0, 0.0}, want[] = {-1.0 / 3.0, 2.0 / 3.0, -1.0 / 3.0};
    double t[3];
    rlar__retarget_row(3, y, 1, t);
    assert_rows_close(3, t, want, 1e-15);
    /* v = (1.5, 0.5): with both Delta would be 2/3 > 0.5, so only the first is tight: 0.75. */
    const double z[] = {0.5, 0.0, -0.5}, tight[] = {-0.25, 0.75, -0.5};
    rlar__retarget_row(3, z, 1, t);
    assert_rows_close(3, t, tight, 1e-15);
}

static void test_all_samples_on_any_threads(void **unused) {
    (void)unused;
    enum { C = 7, N = 1500 };
    rlar_rng rng = seeded(6);
    double *y = random_numbers(&rng, (int64_t)C * N), *t = zeros((int64_t)C * N);
    int32_t label[N];
    for (int i = 0; i < N; i++)
        label[i] = (int32_t)rlar__rng_below(&rng, C);
    for (int threads = 1; threads <= 3; threads++) {
        rlar_ctx *ctx = context(threads);
        assert_int_equal(rlar__retarget(ctx, C, N, y, label, t), RLAR_OK);
        for (int64_t i = 0; i < N; i++) {
            double want[C];
            rlar__retarget_row(C, y + i * C, label[i], want);
            assert_memory_equal(t + i * C, want, sizeof want);
        }
        rlar_ctx_free(ctx);
    }
    free(y);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumeration),
        cmocka_unit_test(test_literal_phi),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_satisfied_rows_stay),
        cmocka_unit_test(test_two_classes),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_all_samples_on_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
