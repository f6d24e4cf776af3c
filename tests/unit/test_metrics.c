/* test_metrics.c - accuracy, balanced accuracy, macro F1 and means against numbers worked out by
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "eval/metrics.h"

static void assert_close(double a, double b) {
    if (!(fabs(a - b) <= 1e-15))
        fail_msg("%.17g is not %.17g", a, b);
}

static void test_three_classes(void **state) {
    (void)state;
    const int64_t counts[9] = {3, 1, 0, 0, 1, 1, 0, 0, 1};
    const rlar_metrics m = rlar__metrics(3, counts);
    assert_close(m.accuracy, 5.0 / 7);
    assert_close(m.balanced, (3.0 / 4 + 1.0 / 2 + 1) / 3);
    /* F1 = 2 hits / (row + column): 6/7, 2/4, 2/3. */
    assert_close(m.macro_f1, (6.0 / 7 + 0.5 + 2.0 / 3) / 3);
}

/* Class 1 is nowhere: it enters no mean. Class 3 is only answered: recall ignores it, F1 counts a
 * 0. */
static void test_absent_classes(void **state) {
    (void)state;
    const int64_t counts[16] = {[0] = 1, [3] = 1, [10] = 2};
    const rlar_metrics m = rlar__metrics(4, counts);
    assert_close(m.accuracy, 0.75);
    assert_close(m.balanced, 0.75);
    assert_close(m.macro_f1, (2.0 / 3 + 1 + 0) / 3);
}

static void test_nothing(void **state) {
    (void)state;
    const int64_t counts[4] = {0};
    const rlar_metrics m = rlar__metrics(2, counts);
    assert_true(isnan(m.accuracy) && isnan(m.balanced) && isnan(m.macro_f1));
}

static void test_mean_std(void **state) {
    (void)state;
    const double values[] = {1, NAN, 2, 4};
    double mean, std;
    rlar__mean_std(4, values, &mean, &std);
    assert_close(mean, 7.0 / 3);
    assert_close(std, sqrt(7.0 / 3)); /* (16 + 1 + 25) / 9 / (3 - 1) */
    rlar__mean_std(2, values, &mean, &std);
    assert_close(mean, 1);
    assert_true(isnan(std));
    rlar__mean_std(0, values, &mean, &std);
    assert_true(isnan(mean) && isnan(std));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_classes),
        cmocka_unit_test(test_absent_classes),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_mean_std),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
