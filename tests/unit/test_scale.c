/* test_scale.c - scalings: chains and their spelling, known values, extreme values, missing values,
 * the same bits for any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/scale.h"

static rlar_ctx *new_ctx(int threads) {
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    rlar_ctx *ctx = NULL;
    options.threads = threads;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    return ctx;
}

/* Everything was given back but the threads, which the context keeps. */
static void end_ctx(rlar_ctx *ctx) {
    rlar__pool_free(ctx->pool);
    ctx->pool = NULL;
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

static rlar_scaling learn(rlar_ctx *ctx, const char *chain, double *x, int64_t n, int64_t d) {
    rlar_scaling s = {0};
    assert_int_equal(rlar__scaling_parse(ctx, chain, &s), RLAR_OK);
    assert_int_equal(rlar__scaling_learn(ctx, &s, &(rlar_samples){.x = x, .n = n}, d), RLAR_OK);
    return s;
}

static void expect_near(const double *x, const double *expected, int count, double tolerance) {
    for (int i = 0; i < count; i++) {
        if (!(fabs(x[i] - expected[i]) <= tolerance))
            print_error("%d: %.17g instead of %.17g\n", i, x[i], expected[i]);
        assert_true(fabs(x[i] - expected[i]) <= tolerance);
    }
}

/* ---- Spelling ---- */

static void chains(void **state) {
    (void)state;
    static const char *const good[] = {
        "none", "unit",       "minmax",      "zscore",
        "rms",  "zscore,rms", "minmax,unit", "zscore,unit,minmax,unit"};
    static const char *const bad[] = {"",           "Unit",         "none,unit",
                                      "unit,none",  "unit,",        ",unit",
                                      "unit,,unit", "unit, minmax", "unit,unit,unit,unit,unit",
                                      "l2"};
    rlar_ctx *ctx = new_ctx(1);
    char text[64];
    rlar_scaling s = {0};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(rlar__scaling_parse(ctx, good[i], &s), RLAR_OK);
        rlar__scaling_text(&s, text, sizeof text);
        assert_string_equal(text, good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(rlar__scaling_parse(ctx, bad[i], &s), RLAR_E_ARG);
        assert_non_null(strstr(rlar_ctx_error(ctx), "minmax, zscore"));
    }
    rlar__scaling_text(&s, text, sizeof text); /* a refusal leaves the last result */
    assert_string_equal(text, "zscore,unit,minmax,unit");
    assert_int_equal(rlar__scaling_parse(ctx, NULL, &s), RLAR_OK);
    rlar__scaling_text(&s, text, sizeof text);
    assert_string_equal(text, RLAR_SCALE_DEFAULT);
    end_ctx(ctx);
}

/* ---- Known values: three samples of two features ---- */

static void known_values(void **state) {
    (void)state;
    const double raw[] = {3, 4, 0, 0, -6, 8}, mean[] = {-1, 4};
    const double unit[] = {0.6, 0.8, 0, 0, -0.6, 0.8};
    const double minmax[] = {1, 0.5, 2.0 / 3, 0, 0, 1};
    /* population: var = ((4)^2 + 1 + 25) / 3 = 14, and 32 / 3 */
    const double a = 1 / sqrt(14), b = 1 / sqrt(32.0 / 3);
    const double zscore[] = {4 * a, 0, 1 * a, -4 * b, -5 * a, 4 * b};
    const double length = sqrt(125.0 / 3); /* squared lengths 25, 0 and 100 */
    const double both[] = {4 * a * M_SQRT1_2,  0,
                           1 * a * M_SQRT1_2,  -4 * b * M_SQRT1_2,
                           -5 * a * M_SQRT1_2, 4 * b * M_SQRT1_2};
    const double rms[] = {3 / length, 4 / length, 0, 0, -6 / length, 8 / length};
    const struct {
        const char *chain;
        const double *expected;
    } cases[] = {{"none", raw},      {"unit", unit}, {"minmax", minmax},
                 {"zscore", zscore}, {"rms", rms},   {"zscore,rms", both}};
    rlar_ctx *ctx = new_ctx(2);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double x[6], y[6];
        memcpy(x, raw, sizeof x);
        memcpy(y, raw, sizeof y);
        rlar_scaling s = learn(ctx, cases[k].chain, x, 3, 2);
        expect_near(x, cases[k].expected, 6, 1e-15);
        expect_near(s.fill, mean, 2, 1e-15);
        assert_int_equal(rlar__scaling_apply(ctx, &s, y, 3), RLAR_OK);
        assert_memory_equal(x, y, sizeof x); /* applying is what learning did */
        rlar__scaling_free(&s);
    }
    end_ctx(ctx);
}

/* Step 2 is learned on what step 1 made of the samples; new samples take the same way. */
static void steps_in_order(void **state) {
    (void)state;
    double x[] = {1, 10, 2, 20, 4, 50}, fresh[] = {3, 30};
    rlar_ctx *ctx = new_ctx(1);
    rlar_scaling s = learn(ctx, "unit,minmax", x, 3, 2);
    const double first = 1 / sqrt(101), third = 4 / sqrt(2516.0);
    assert_true(fabs(s.step[1].shift[0] - third) <
                1e-15); /* the smallest after unit is the third's */
    assert_true(fabs(s.step[1].factor[0] * (first - third) - 1) < 1e-12);
    assert_int_equal(rlar__scaling_apply(ctx, &s, fresh, 1), RLAR_OK);
    assert_true(fabs(fresh[0] - 1) < 1e-12 &&
                fabs(fresh[1]) < 1e-12); /* same direction as the first */
    rlar__scaling_free(&s);
    end_ctx(ctx);
}

static void constant_features(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1);
    for (int k = 0; k < 2; k++) {
        double x[] = {0.1, 1, 0.1, 2, 0.1, 3}, fresh[] = {1.7e308, 2, -1.7e308, 2};
        rlar_scaling s = learn(ctx, k ? "zscore,rms" : "minmax", x, 3, 2);
        assert_true(k == 0 || s.step[1].factor[0] == 1); /* one feature varies */
        assert_true(s.step[0].factor[0] == 0 && x[0] == 0 && x[2] == 0 && x[4] == 0);
        assert_int_equal(rlar__scaling_apply(ctx, &s, fresh, 2), RLAR_OK);
        assert_true(fresh[0] == 0 && fresh[2] == 0);
        rlar__scaling_free(&s);
    }
    double zero[] = {0, 0, 0}; /* one sample: all is constant */
    rlar_scaling s = learn(ctx, "unit,zscore,minmax,rms", zero, 1, 3);
    assert_true(zero[0] == 0 && zero[1] == 0 && zero[2] == 0);
    rlar__scaling_free(&s);
    end_ctx(ctx);
}

/* ---- Extreme values ---- */

static void extreme_unit(void **state) {
    (void)state;
    const double big = DBL_MAX, tiny = 4.9406564584124654e-324;
    double x[] = {big, -big, big,    big,    tiny, 0, 0,     0, 3 * tiny, 4 * tiny,
                  0,   0,    1e-200, 1e-200, 0,    0, 1e200, 1, 0,        0};
    const double expected[] = {0.5, -0.5, 0.5,       0.5,       1, 0, 0, 0,      0.6, 0.8,
                               0,   0,    M_SQRT1_2, M_SQRT1_2, 0, 0, 1, 1e-200, 0,   0};
    rlar_ctx *ctx = new_ctx(1);
    rlar_scaling s = learn(ctx, "unit", x, 5, 4);
    expect_near(x, expected, 20, 1e-15);
    rlar__scaling_free(&s);
    end_ctx(ctx);
}

static void extreme_features(void **state) {
    (void)state;
    const double big = DBL_MAX, tiny = 4.9406564584124654e-324;
    /* columns: the whole range of doubles; normal but tiny; subnormal, whose inverse range
     * overflows */
    const double raw[] = {-big, 1e-300, 0, 0, 2e-300, tiny, big, 3e-300, tiny};
    const double minmax[] = {0, 0, 0, 0.5, 0.5, 0, 1, 1, 0};
    const double z = sqrt(1.5);
    const double zscore[] = {-z, -z, 0, 0, 0, 0, z, z, 0};
    rlar_ctx *ctx = new_ctx(1);
    for (int k = 0; k < 2; k++) {
        double x[9];
        memcpy(x, raw, sizeof x);
        rlar_scaling s = learn(ctx, k ? "zscore" : "minmax", x, 3, 3);
        expect_near(x, k ? zscore : minmax, 9, 1e-14);
        assert_true(s.fill[0] == 0 && fabs(s.fill[1] / 2e-300 - 1) < 1e-15);
        rlar__scaling_free(&s);
    }
    double same[] = {big, big, big}; /* their sum overflows, their mean does not */
    rlar_scaling s = learn(ctx, "zscore", same, 3, 1);
    assert_true(s.fill[0] == big && same[1] == 0);
    rlar__scaling_free(&s);
    const double ends[] = {big, 4 * tiny};
    for (int k = 0; k < 2; k++) { /* squares, and the mean length itself, are out of range */
        double x[] = {ends[k], ends[k], -ends[k], ends[k]};
        const double half[] = {M_SQRT1_2, M_SQRT1_2, -M_SQRT1_2, M_SQRT1_2};
        s = learn(ctx, "rms", x, 2, 2);
        for (int i = 0; i < 4; i++) /* what cannot be brought to 1 stays as it is */
            assert_true(k ? fabs(x[i]) == ends[k] : fabs(x[i] - half[i]) < 1e-14);
        rlar__scaling_free(&s);
    }
    end_ctx(ctx);
}

/* A large offset must not eat the variance. */
static void offset_data(void **state) {
    (void)state;
    double x[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = 1e9 + i % 2;
    rlar_ctx *ctx = new_ctx(1);
    rlar_scaling s = learn(ctx, "zscore", x, 1000, 1);
    for (int i = 0; i < 1000; i++)
        assert_true(x[i] == (i % 2 ? 1 : -1));
    rlar__scaling_free(&s);
    end_ctx(ctx);
}

static void missing_values(void **state) {
    (void)state;
    double x[] = {1, 10, 3, 30}, fresh[] = {NAN, 20, 1, NAN};
    rlar_ctx *ctx = new_ctx(1);
    rlar_scaling s = learn(ctx, "minmax", x, 2, 2);
    const double expected[] = {0.5, 0.5, 0, 0.5};
    assert_int_equal(rlar__scaling_apply(ctx, &s, fresh, 2), RLAR_OK);
    expect_near(fresh, expected, 4, 0);
    rlar__scaling_free(&s);
    double y[] = {1, 3}, gap[] = {NAN};
    s = learn(ctx, "none", y, 2, 1);
    assert_int_equal(rlar__scaling_apply(ctx, &s, gap, 1), RLAR_OK);
    assert_true(gap[0] == 2);
    rlar__scaling_free(&s);
    end_ctx(ctx);
}

/* ---- Threads, copies, faults ---- */

enum { N = 301, D = 173 };

static double *random_samples(void) {
    const uint64_t seed[] = {42};
    rlar_rng rng = rlar__rng_seed(seed, 1);
    double *x = malloc(sizeof(double) * N * D);
    for (int i = 0; i < N * D; i++)
        x[i] = ldexp((double)(rlar__rng_next(&rng) >> 11), -53) - 0.4;
    return x;
}

static void same_bits(void **state) {
    (void)state;
    double *one = random_samples(), *many = random_samples();
    rlar_ctx *a = new_ctx(1), *b = new_ctx(7);
    rlar_scaling s = learn(a, "zscore,unit,minmax,rms", one, N, D),
                 t = learn(b, "zscore,unit,minmax,rms", many, N, D);
    assert_memory_equal(one, many, sizeof(double) * N * D);
    assert_memory_equal(s.step[2].factor, t.step[2].factor, sizeof(double) * D);
    assert_memory_equal(s.fill, t.fill, sizeof(double) * D);
    rlar__scaling_free(&s);
    rlar__scaling_free(&t);
    end_ctx(a);
    end_ctx(b);
    free(one);
    free(many);
}

static void copies(void **state) {
    (void)state;
    double *x = random_samples(), *y = random_samples();
    rlar_ctx *ctx = new_ctx(2);
    rlar_scaling s = learn(ctx, "minmax,unit", x, N, D), t = {0};
    assert_int_equal(rlar__scaling_copy(ctx, &s, &t), RLAR_OK);
    rlar__scaling_free(&s);
    assert_int_equal(rlar__scaling_apply(ctx, &t, y, N), RLAR_OK);
    assert_memory_equal(x, y, sizeof(double) * N * D);
    rlar__scaling_free(&t);
    rlar__scaling_free(&t); /* free is legal twice: it leaves an empty scaling */
    end_ctx(ctx);
    free(x);
    free(y);
}

typedef struct faulty {
    int left;
} faulty;

static void *faulty_alloc(void *user, size_t bytes) {
    faulty *f = user;
    return f->left-- > 0 ? malloc(bytes) : NULL;
}

static void faulty_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

static void memory_faults(void **state) {
    (void)state;
    faulty f = {.left = INT32_MAX};
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    options.threads = 1;
    options.alloc = faulty_alloc;
    options.release = faulty_release;
    options.alloc_user = &f;
    rlar_ctx *ctx = NULL;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    rlar_scaling s = {0}, copy = {0};
    double x[] = {1, 2, 3, 5};
    assert_int_equal(rlar__scaling_parse(ctx, "minmax,zscore", &s), RLAR_OK);
    rlar_status status = RLAR_E_NOMEM;
    for (int fault = 0; status == RLAR_E_NOMEM; fault++) {
        f.left = fault;
        status = rlar__scaling_learn(ctx, &s, &(rlar_samples){.x = x, .n = 2}, 2);
        assert_true(status == RLAR_OK || rlar_ctx_memory(ctx) == 0);
        assert_int_equal(s.count, 2); /* the chain survives a failure */
    }
    assert_int_equal(status, RLAR_OK);
    const int64_t held = rlar_ctx_memory(ctx);
    status = RLAR_E_NOMEM;
    for (int fault = 0; status == RLAR_E_NOMEM; fault++) {
        f.left = fault;
        status = rlar__scaling_copy(ctx, &s, &copy);
        assert_true(status == RLAR_OK || rlar_ctx_memory(ctx) == held);
    }
    assert_int_equal(status, RLAR_OK);
    rlar__scaling_free(&s);
    rlar__scaling_free(&copy);
    assert_int_equal(rlar__scaling_learn(ctx, &s, &(rlar_samples){.x = x}, 2), RLAR_E_ARG);
    end_ctx(ctx);
}

/* ---- Samples that come block by block ---- */

enum { WIDE = 3000, MANY = 120 }; /* 43 samples are a MiB */

typedef struct feeding {
    double *x;
    int64_t next; /* the sample that must come next */
    int calls, most;
} feeding;

static double fed(int64_t i, int64_t j) {
    return (double)((i * 31 + j * 17) % 101) - 30.0;
}

static rlar_status feed(rlar_ctx *ctx, void *user, int64_t from, int64_t to) {
    feeding *f = user;
    assert_int_equal(from, f->next);
    f->next = to;
    if (++f->calls > f->most)
        return rlar__fail(ctx, RLAR_E_IO, "no more");
    for (int64_t i = from * WIDE; i < to * WIDE; i++)
        f->x[i] = fed(i / WIDE, i % WIDE);
    return RLAR_OK;
}

/* Same bits as from samples that were there before: in particular the means are those of the
 * samples as they came, although the first blocks are scaled before the last ones come. */
static void fed_by_blocks(void **state) {
    (void)state;
    static const char *const chain[] = {"none", "unit", "zscore", "unit,minmax", "zscore,rms"};
    const size_t bytes = (size_t)MANY * WIDE * sizeof(double);
    double *whole = malloc(bytes), *x = malloc(bytes);
    assert_true(whole && x);
    rlar_ctx *ctx = new_ctx(2);
    for (size_t k = 0; k < sizeof chain / sizeof chain[0]; k++) {
        feeding f = {.x = x, .most = 3};
        rlar_samples samples = {.x = x, .n = MANY, .feed = feed, .user = &f};
        for (int64_t i = 0; i < MANY * WIDE; i++)
            whole[i] = fed(i / WIDE, i % WIDE);
        double mean = 0.0;
        for (int64_t i = 0; i < MANY; i++)
            mean += fed(i, 7) / MANY;
        rlar_scaling a = learn(ctx, chain[k], whole, MANY, WIDE), b = {0};
        assert_true(fabs(a.fill[7] - mean) < 1e-12);
        assert_int_equal(rlar__scaling_parse(ctx, chain[k], &b), RLAR_OK);
        assert_int_equal(rlar__scaling_learn(ctx, &b, &samples, WIDE), RLAR_OK);
        assert_int_equal(f.calls, 3);
        assert_memory_equal(x, whole, bytes);
        assert_memory_equal(a.fill, b.fill, WIDE * sizeof *a.fill);
        f = (feeding){.x = x, .most = 1};
        assert_int_equal(rlar__scaling_learn(ctx, &b, &samples, WIDE), RLAR_E_IO);
        rlar__scaling_free(&a);
        rlar__scaling_free(&b);
    }
    free(whole);
    free(x);
    end_ctx(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains),         cmocka_unit_test(known_values),
        cmocka_unit_test(steps_in_order), cmocka_unit_test(constant_features),
        cmocka_unit_test(extreme_unit),   cmocka_unit_test(extreme_features),
        cmocka_unit_test(offset_data),    cmocka_unit_test(missing_values),
        cmocka_unit_test(same_bits),      cmocka_unit_test(copies),
        cmocka_unit_test(memory_faults),  cmocka_unit_test(fed_by_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
