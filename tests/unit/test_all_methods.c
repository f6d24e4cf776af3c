/* test_all_methods.c - what every method in the registry promises, whatever it computes:
 * cancellation at every iteration, the same bits on any number of threads, a forecast that holds.
 * What they make of bad samples and parameters, and of memory that fails, is in tests/verify. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fitting.h"

/* One run of a method: the context's options are the test's. */
typedef struct run {
    rlar_ctx_options options;
    int64_t iters; /* 0: the default */
    int64_t peak;  /* of the fit, beside what was held before */
    int64_t forecast;
} run;

static rlar_status set_iters(rlar_ctx *ctx, rlar_params *params, int64_t iters) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)iters);
    if (iters == 0 || isnan(rlar_params_get(params, "iters")))
        return RLAR_OK;
    return rlar_params_set(ctx, params, "iters", text);
}

static rlar_status forecast_and_fit(rlar_ctx *ctx, const rlar_data *data, const rlar_params *params,
                                    run *r, rlar_model **model) {
    rlar_forecast forecast = RLAR_INIT(rlar_forecast);
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    o.scale = "none";
    const int64_t before = rlar_ctx_memory(ctx);
    rlar_status status = rlar_fit_forecast(ctx, data, params, &o, &forecast);
    if (status >= 0)
        status = rlar_fit(ctx, data, params, &o, model, NULL);
    r->peak = rlar_ctx_memory_peak(ctx) - before;
    r->forecast = forecast.bytes;
    return status;
}

/* Fits; w (room for d x c, or NULL) takes the map. The error text goes to `error`. */
static rlar_status run_method(const char *method, const labelled *s, run *r, double *w,
                              char error[RLAR_ERROR_SIZE]) {
    rlar_ctx *ctx = NULL;
    rlar_data *data = NULL;
    rlar_params *params = NULL;
    rlar_model *model = NULL;
    rlar_status status = rlar_ctx_new(&r->options, &ctx);
    if (status >= 0)
        status = view_labelled(ctx, s, &data);
    if (status >= 0)
        status = rlar_params_new(ctx, method, &params);
    if (status >= 0)
        status = set_iters(ctx, params, r->iters);
    if (status >= 0)
        status = forecast_and_fit(ctx, data, params, r, &model);
    if (status < 0 && ctx)
        snprintf(error, RLAR_ERROR_SIZE, "%s", rlar_ctx_error(ctx));
    if (status >= 0 && w)
        memcpy(w, rlar_model_map(model), (size_t)(s->d * rlar_model_outputs(model)) * sizeof *w);
    assert_true((status < 0) == (model == NULL));
    rlar_model_free(model);
    rlar_params_free(params);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
    return status;
}

static labelled small(void) {
    const int64_t sizes[] = {6, 5, 7};
    return clouds(1, 4, 3, sizes);
}

/* The forecast is an upper bound, and not a wild one. */
static void test_forecast(void **unused) {
    (void)unused;
    const int64_t sizes[] = {40, 30, 50}, few[] = {20, 15, 25};
    labelled s[] = {clouds(3, 60, 3, sizes), clouds(4, 1500, 3, few)};
    char error[RLAR_ERROR_SIZE];
    for (int64_t m = 0; m < rlar_method_count(); m++)
        for (int i = 0; i < 2; i++) {
            run r = {.options = RLAR_INIT(rlar_ctx_options), .iters = 2};
            r.options.threads = 1;
            const char *name = rlar_method_at(m)->name;
            if (run_method(name, &s[i], &r, NULL, error) < 0)
                fail_msg("%s: %s", name, error);
            if (r.peak > r.forecast + 65536 || r.forecast > 3 * r.peak + 65536)
                fail_msg("%s, %lld x %lld: %lld bytes forecast, %lld taken", name,
                         (long long)s[i].n, (long long)s[i].d, (long long)r.forecast,
                         (long long)r.peak);
        }
    labelled_free(&s[0]);
    labelled_free(&s[1]);
}

/* ---- Cancellation and threads ---- */

typedef struct stopper {
    int64_t seen, stop_at;
} stopper;

static int stop(void *user, const rlar_event *event) {
    stopper *s = user;
    return event->kind == RLAR_EVENT_ITERATION && ++s->seen == s->stop_at;
}

static void test_cancel(void **unused) {
    (void)unused;
    labelled s = small();
    char error[RLAR_ERROR_SIZE];
    for (int64_t m = 0; m < rlar_method_count(); m++)
        for (int64_t at = 1;; at++) {
            stopper st = {.stop_at = at};
            run r = {.options = RLAR_INIT(rlar_ctx_options), .iters = 3};
            r.options.progress = stop;
            r.options.user = &st;
            const rlar_status status = run_method(rlar_method_at(m)->name, &s, &r, NULL, error);
            if (st.seen < at) {
                assert_true(status >= 0);
                break;
            }
            assert_int_equal(status, RLAR_E_CANCELLED);
        }
    labelled_free(&s);
}

static void test_same_bits_on_any_threads(void **unused) {
    (void)unused;
    const int64_t sizes[] = {50, 60, 45};
    labelled s[] = {clouds(5, 20, 3, sizes), clouds(6, 170, 3, sizes)};
    char error[RLAR_ERROR_SIZE];
    for (int64_t m = 0; m < rlar_method_count(); m++)
        for (int i = 0; i < 2; i++) {
            const char *name = rlar_method_at(m)->name;
            const int64_t count = s[i].d * s[i].n; /* more outputs than samples there are not */
            double *one = zeros(count), *three = zeros(count);
            run r = {.options = RLAR_INIT(rlar_ctx_options), .iters = 3};
            r.options.threads = 1;
            if (run_method(name, &s[i], &r, one, error) < 0)
                fail_msg("%s: %s", name, error);
            r.options.threads = 3;
            assert_true(run_method(name, &s[i], &r, three, error) >= 0);
            if (memcmp(one, three, (size_t)count * sizeof *one) != 0)
                fail_msg("%s, d = %lld: other bits on three threads", name, (long long)s[i].d);
            free(one);
            free(three);
        }
    labelled_free(&s[0]);
    labelled_free(&s[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forecast),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_same_bits_on_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
