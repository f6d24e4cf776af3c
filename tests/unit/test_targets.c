/* test_targets.c - 0/1 targets, outputs and the loss, against numbers worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "linalg/linalg.h"
#include "samples.h"
#include "solver/targets.h"

static void test_one_hot(void **unused) {
    (void)unused;
    const int32_t label[] = {0, 0, 2};
    const double expected[] = {1, 0, 0, 1, 0, 0, 0, 0, 1};
    double t[9] = {7, 7, 7, 7, 7, 7, 7, 7, 7};
    rlar__targets_one_hot(3, 3, label, t);
    assert_memory_equal(t, expected, sizeof t);
}

/* Two features, two outputs, three samples; small integers, so the results are exact. */
static void test_outputs_and_loss(void **unused) {
    (void)unused;
    const double w[] = {1, 2, -1, 3}, b[] = {10, 20}, x[] = {1, 0, 0, 1, 2, -1};
    const double plain[] = {1, -1, 2, 3, 0, -5}, with_b[] = {11, 19, 12, 23, 10, 15};
    const double t[] = {11, 20, 12, 23, 13, 11};
    double y[6], value[3], loss;
    rlar_ctx *ctx = context(1);
    assert_int_equal(rlar__blas_open(ctx, 0), RLAR_OK);
    assert_int_equal(rlar__targets_outputs(ctx, NULL, 2, 3, 2, w, NULL, x, y), RLAR_OK);
    assert_memory_equal(y, plain, sizeof y);
    assert_int_equal(rlar__targets_outputs(ctx, NULL, 2, 3, 2, w, b, x, y), RLAR_OK);
    assert_memory_equal(y, with_b, sizeof y);
    assert_int_equal(rlar__targets_loss(ctx, NULL, 2, 3, y, t, value, &loss), RLAR_OK);
    assert_true(loss == 26.0);
    rlar_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_hot),
        cmocka_unit_test(test_outputs_and_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
