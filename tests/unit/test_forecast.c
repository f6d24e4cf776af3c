/* test_forecast.c - the memory forecast is never below what the allocator sees: for every method,
 * each choice and the ends of every parameter's range, on samples of many shapes; and the same for
 * the reductions that the methods start with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fitting.h"
#include "solver/reduce.h"

enum { SHAPES = 13, LONG_SHAPES = 2 };

/* Every second feature is a copy of its neighbour: singular, so that the fast ways give up. */
static labelled copied(labelled s) {
    for (int64_t i = 0; i < s.n; i++)
        for (int64_t j = 1; j < s.d; j += 2)
            s.x[i * s.d + j] = s.x[i * s.d + j - 1];
    return s;
}

/* n > d, n < d, n >> d, n = d, both sides of singular, many classes of a few samples each with
 * more, as many and fewer features; n = d + 1, where centred samples just span the features; nearly
 * as many classes as features, of one size and not. */
static void make_shapes(labelled s[SHAPES]) {
    const int64_t three[] = {40, 30, 50}, less[] = {20, 15, 25}, more[] = {170, 150, 160},
                  two[] = {30, 30}, one_more[] = {20, 20, 21};
    int64_t few[40], pairs[60], fives[60];
    for (int i = 0; i < 60; i++) {
        few[i % 40] = 4 + i % 3;
        pairs[i] = 2;
        fives[i] = 5;
    }
    s[0] = clouds(1, 60, 3, three);
    s[1] = clouds(2, 900, 3, less);
    s[2] = clouds(3, 8, 3, more);
    s[3] = clouds(4, 60, 2, two);
    s[4] = copied(clouds(5, 60, 3, three));
    s[5] = copied(clouds(6, 300, 3, less));
    s[6] = clouds(7, 30, 40, few);
    s[7] = clouds(8, 300, 40, few);
    s[8] = clouds(9, 100, 40, pairs);
    s[9] = clouds(10, 3, 60, pairs);
    s[10] = clouds(11, 60, 3, one_more);
    s[11] = clouds(12, 42, 40, fives);
    s[12] = clouds(13, 42, 40, few);
}

/* So many samples that sums over them are split, and those of LDA in groups: classes of one size
 * and not. */
static void make_long_shapes(labelled s[LONG_SHAPES]) {
    const int64_t even[] = {250, 250, 250, 250, 250, 250, 250, 250, 250},
                  uneven[] = {500, 300, 500, 40, 600, 310};
    s[0] = clouds(14, 24, 9, even);
    s[1] = clouds(15, 20, 6, uneven);
}

/* ---- Methods ---- */

/* One fit with one parameter set (NULL: none). Values that a fit refuses are no matter here. */
static void check_fit(const char *method, const labelled *s, const char *name, const char *value) {
    rlar_ctx_options ctx_options = RLAR_INIT(rlar_ctx_options);
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    rlar_forecast f = RLAR_INIT(rlar_forecast);
    rlar_ctx *ctx = NULL;
    rlar_data *data = NULL;
    rlar_params *params = NULL;
    rlar_model *model = NULL;
    ctx_options.threads = 2;
    o.scale = "none";
    assert_int_equal(rlar_ctx_new(&ctx_options, &ctx), RLAR_OK);
    assert_int_equal(view_labelled(ctx, s, &data), RLAR_OK);
    assert_int_equal(rlar_params_new(ctx, method, &params), RLAR_OK);
    if (!isnan(rlar_params_get(params, "iters")))
        set_params(ctx, params, "iters=2");
    if (name && rlar_params_set(ctx, params, name, value) < 0)
        fail_msg("%s", rlar_ctx_error(ctx));
    const int64_t before = rlar_ctx_memory(ctx);
    assert_int_equal(rlar_fit_forecast(ctx, data, params, &o, &f), RLAR_OK);
    const bool done = rlar_fit(ctx, data, params, &o, &model, NULL) >= 0;
    const int64_t peak = rlar_ctx_memory_peak(ctx) - before;
    assert_true(done || name);
    if (peak > f.bytes || (!name && f.bytes > 3 * peak + 65536))
        fail_msg("%s %s=%s, %lld x %lld, %lld classes: %lld bytes forecast, %lld taken", method,
                 name ? name : "", name ? value : "", (long long)s->n, (long long)s->d,
                 (long long)s->c, (long long)f.bytes, (long long)peak);
    rlar_model_free(model);
    rlar_params_free(params);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
}

static void check_choices(const char *method, const labelled *s, const rlar_param_def *def) {
    for (const char *at = def->choices; *at;) {
        char word[32];
        const size_t length = strcspn(at, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        check_fit(method, s, def->name, word);
        at += length + (at[length] == '|');
    }
}

static void check_range(const char *method, const labelled *s, const rlar_param_def *def) {
    const double value[] = {def->min, def->max, 50};
    for (int i = 0; i < (def->type == RLAR_PARAM_INT && def->max > 50 ? 3 : 2); i++) {
        char text[32];
        snprintf(text, sizeof text, "%.17g", value[i]);
        check_fit(method, s, def->name, text);
    }
}

static void test_methods(void **unused) {
    (void)unused;
    labelled s[SHAPES];
    make_shapes(s);
    for (int64_t m = 0; m < rlar_method_count(); m++)
        for (int i = 0; i < SHAPES; i++) {
            const rlar_method_def *method = rlar_method_at(m);
            check_fit(method->name, &s[i], NULL, NULL);
            for (const rlar_param_def *def = method->params; def->name; def++)
                if (def->type == RLAR_PARAM_CHOICE)
                    check_choices(method->name, &s[i], def);
                else if (strcmp(def->name, "iters") != 0)
                    check_range(method->name, &s[i], def);
        }
    for (int i = 0; i < SHAPES; i++)
        labelled_free(&s[i]);
}

static void test_many_samples(void **unused) {
    (void)unused;
    labelled s[LONG_SHAPES];
    make_long_shapes(s);
    for (int i = 0; i < LONG_SHAPES; i++) {
        for (int64_t m = 0; m < rlar_method_count(); m++)
            check_fit(rlar_method_at(m)->name, &s[i], NULL, NULL);
        check_fit("lsda", &s[i], "k", "7");
        check_fit("lsda", &s[i], "ties", "variance");
        check_fit("mpda", &s[i], "patch", "2147483647");
        labelled_free(&s[i]);
    }
}

/* ---- Reductions ---- */

typedef rlar_status (*reduction)(rlar_ctx *ctx, const rlar_blocks *blocks, const double *x,
                                 int64_t d, int64_t n, rlar_reduced *out);

static rlar_status whole(rlar_ctx *ctx, const rlar_blocks *blocks, const double *x, int64_t d,
                         int64_t n, rlar_reduced *out) {
    (void)blocks;
    return rlar__reduce(ctx, x, d, n, out);
}

static rlar_status leading(rlar_ctx *ctx, const rlar_blocks *blocks, const double *x, int64_t d,
                           int64_t n, rlar_reduced *out) {
    (void)blocks;
    return rlar__reduce_leading(ctx, x, d, n, d < 5 ? d : 5, out);
}

static void test_reductions(void **unused) {
    (void)unused;
    const reduction made[] = {
        whole, leading, rlar__reduce_lean, rlar__span, rlar__span_factored, rlar__normal_factored};
    labelled s[SHAPES + LONG_SHAPES];
    make_shapes(s);
    make_long_shapes(s + SHAPES);
    for (int i = 0; i < SHAPES + LONG_SHAPES; i++) {
        const int64_t d = s[i].d, n = s[i].n;
        for (int k = 0; k < 6; k++) {
            rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
            rlar_ctx *ctx = NULL;
            rlar_reduced reduced = {0};
            options.threads = 1;
            assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
            const int64_t before = rlar_ctx_memory(ctx);
            assert_int_equal(made[k](ctx, NULL, s[i].x, d, n, &reduced), RLAR_OK);
            const int64_t peak = rlar_ctx_memory_peak(ctx) - before;
            const int64_t held = rlar_ctx_memory(ctx) - before;
            const int64_t most = k < 2 ? rlar__reduce_bytes(d, n) : rlar__reduce_lean_bytes(d, n);
            if (peak > most || (k >= 2 && held > rlar__reduce_held(d, n, 0)))
                fail_msg("reduction %d, %lld x %lld: forecast %lld, taken %lld; held %lld", k,
                         (long long)n, (long long)d, (long long)most, (long long)peak,
                         (long long)held);
            rlar__reduce_free(&reduced);
            rlar_ctx_free(ctx);
        }
        labelled_free(&s[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_many_samples),
        cmocka_unit_test(test_reductions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
