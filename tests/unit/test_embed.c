/* test_embed.c - the outputs of a map against plain sums, and with the same bits for a sample alone
 * or in company, at any place and for any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"

enum { SAMPLES = 3 * RLAR_COLUMNS };

static rlar_ctx *new_ctx(int threads) {
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    rlar_ctx *ctx = NULL;
    o.threads = threads;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    return ctx;
}

static double *random_matrix(int64_t count, uint64_t seed) {
    rlar_rng rng = rlar__rng_seed(&seed, 1);
    double *a = malloc((size_t)count * sizeof *a);
    assert_non_null(a);
    for (int64_t i = 0; i < count; i++)
        a[i] = (double)(rlar__rng_next(&rng) >> 11) / 9007199254740992.0 - 0.5;
    return a;
}

static void check_sums(int64_t p, int64_t d, const double *w, const double *x, const double *z) {
    for (int64_t i = 0; i < SAMPLES; i += 7)
        for (int64_t r = 0; r < p; r++) {
            long double sum = 0;
            for (int64_t j = 0; j < d; j++)
                sum += (long double)w[r * d + j] * (long double)x[i * d + j];
            assert_true(fabs((double)sum - z[i * p + r]) <= 1e-15 * (double)d);
        }
}

/* Sample i by itself, at the start or at the end of a block whose other columns are zeros. */
static void check_alone(rlar_ctx *ctx, int64_t p, int64_t d, const double *w, const double *x,
                        const double *z, int64_t i) {
    const int64_t width = rlar__embed_width(p, d);
    double *block = calloc((size_t)(width * d), sizeof *block);
    double *out = malloc((size_t)(width * p) * sizeof *out);
    assert_true(block && out);
    for (int64_t at = 0; at<width; at += width> 1 ? width - 1 : 1) {
        memset(block, 0, (size_t)(width * d) * sizeof *block);
        memcpy(block + at * d, x + i * d, (size_t)d * sizeof *x);
        assert_int_equal(rlar__embed(ctx, p, width, d, w, block, out), RLAR_OK);
        assert_memory_equal(out + at * p, z + i * p, (size_t)p * sizeof *z);
    }
    free(block);
    free(out);
}

static void check(int64_t p, int64_t d) {
    double *w = random_matrix(p * d, 1), *x = random_matrix(d * SAMPLES, 2);
    double *z = malloc((size_t)(p * SAMPLES) * sizeof *z), *again = random_matrix(p * SAMPLES, 3);
    assert_non_null(z);
    rlar_ctx *ctx = new_ctx(1), *pair = new_ctx(2);
    assert_int_equal(RLAR_COLUMNS % rlar__embed_width(p, d), 0);
    assert_int_equal(rlar__embed(ctx, p, SAMPLES, d, w, x, z), RLAR_OK);
    check_sums(p, d, w, x, z);
    assert_int_equal(rlar__embed(pair, p, SAMPLES, d, w, x, again), RLAR_OK);
    assert_memory_equal(z, again, (size_t)(p * SAMPLES) * sizeof *z);
    for (int64_t i = 0; i < SAMPLES; i += 13)
        check_alone(ctx, p, d, w, x, z, i);
    rlar_ctx_free(ctx);
    rlar_ctx_free(pair);
    free(w);
    free(x);
    free(z);
    free(again);
}

/* Maps of every kind: plain loops, narrow products, wide ones. */
static void test_shapes(void **state) {
    (void)state;
    static const int64_t shapes[][2] = {{1, 1},     {3, 13},    {7, 146},   {8, 128},
                                        {8, 129},   {2, 700},   {10, 784},  {38, 320},
                                        {1, 20000}, {64, 1024}, {65, 1024}, {3, 30000}};
    int seen = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check(shapes[i][0], shapes[i][1]);
        const int64_t width = rlar__embed_width(shapes[i][0], shapes[i][1]);
        seen |= width == 1 ? 1 : width == RLAR_COLUMNS ? 4 : 2;
    }
    assert_int_equal(seen, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
