/* The path from data to prediction through the public interface: no allocation in the loop,
 * cancellation at every iteration, subsets, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rlar.h"

enum { N = 60, D = 5, C = 3, ITERATIVE = 9 /* methods that tell of iterations */ };

static double samples[N * D];
static double labels[N];

/* Three shifted clouds from a fixed recurrence. */
static int make_samples(void **state) {
    (void)state;
    uint64_t s = 12345;
    for (int i = 0; i < N; i++) {
        labels[i] = i % C;
        for (int j = 0; j < D; j++) {
            s = s * 6364136223846793005u + 1442695040888963407u;
            samples[i * D + j] = (double)(s >> 40) / 16777216.0 + 1.0 + (j == i % C ? 0.7 : 0.0);
        }
    }
    return 0;
}

/* An allocator that counts, and fails from call `fail_at` on: once, or for ever. */
typedef struct allocator {
    int64_t calls, fail_at, live;
    int for_ever;
} allocator;

static void *take(void *user, size_t bytes) {
    allocator *a = user;
    const int64_t call = ++a->calls;
    if (a->fail_at > 0 && (call == a->fail_at || (a->for_ever && call > a->fail_at)))
        return NULL;
    a->live++;
    return malloc(bytes);
}

static void give(void *user, void *memory) {
    ((allocator *)user)->live--;
    free(memory);
}

static rlar_ctx_options options_with(allocator *a, int threads) {
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.threads = threads;
    o.alloc = take;
    o.release = give;
    o.alloc_user = a;
    return o;
}

static rlar_status view_samples(rlar_ctx *ctx, int64_t n, int64_t d, rlar_data **data) {
    rlar_view v = RLAR_INIT(rlar_view);
    v.n = n;
    v.d = d;
    v.x = samples;
    v.stride = d > D ? d : D;
    const rlar_status status = rlar_data_view(ctx, &v, data);
    return status < 0 ? status : rlar_data_set_label_numbers(ctx, *data, labels);
}

typedef struct watch {
    allocator *a;
    int64_t at_first, at_last, stop_at, seen;
} watch;

static int watch_iterations(void *user, const rlar_event *event) {
    watch *w = user;
    if (event->kind != RLAR_EVENT_ITERATION)
        return 0;
    w->seen = event->done;
    if (event->done == 1)
        w->at_first = w->a->calls;
    w->at_last = w->a->calls;
    return event->done == w->stop_at;
}

/* A fit of one method with one parameter set (NULL: none) to n x d of the numbers. */
static rlar_status watched_fit(watch *w, int64_t n, int64_t d, const char *method, const char *name,
                               const char *value) {
    rlar_ctx_options o = options_with(w->a, 2);
    o.progress = watch_iterations;
    o.user = w;
    rlar_ctx *ctx = NULL;
    rlar_data *data = NULL;
    rlar_params *params = NULL;
    rlar_model *model = NULL;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    assert_int_equal(view_samples(ctx, n, d, &data), RLAR_OK);
    assert_int_equal(rlar_params_new(ctx, method, &params), RLAR_OK);
    if (name)
        assert_int_equal(rlar_params_set(ctx, params, name, value), RLAR_OK);
    const rlar_status s = rlar_fit(ctx, data, params, NULL, &model, NULL);
    assert_true((s < 0) == (model == NULL));
    rlar_model_free(model);
    rlar_params_free(params);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
    assert_int_equal(w->a->live, 0);
    return s;
}

/* More samples than features, and fewer: the systems are others. Returns the most iterations. */
static int64_t check_loop(const char *method, const char *name, const char *value) {
    const int64_t sizes[][2] = {{N, D}, {N / D, D * D}};
    int64_t most = 0;
    for (int i = 0; i < 2; i++) {
        allocator a = {0};
        watch w = {.a = &a};
        assert_true(watched_fit(&w, sizes[i][0], sizes[i][1], method, name, value) >= 0);
        if (w.at_first != w.at_last)
            fail_msg("%s %s=%s, %lld x %lld: %lld allocations in %lld iterations", method,
                     name ? name : "", name ? value : "", (long long)sizes[i][0],
                     (long long)sizes[i][1], (long long)(w.at_last - w.at_first),
                     (long long)w.seen);
        most = w.seen > most ? w.seen : most;
    }
    return most;
}

static void check_choices(const char *method, const rlar_param_def *def) {
    for (const char *at = def->choices; *at;) {
        char word[32];
        const size_t length = strcspn(at, "|");
        assert_true(length < sizeof word);
        memcpy(word, at, length);
        word[length] = '\0';
        check_loop(method, def->name, word);
        at += length + (at[length] == '|');
    }
}

/* Between the first iteration and the last one, of all methods with all their choices. */
static void test_the_loop_allocates_nothing(void **state) {
    (void)state;
    int iterative = 0;
    for (int64_t m = 0; m < rlar_method_count(); m++) {
        const rlar_method_def *method = rlar_method_at(m);
        iterative += check_loop(method->name, NULL, NULL) > 1;
        for (const rlar_param_def *def = method->params; def->name; def++)
            if (def->type == RLAR_PARAM_CHOICE)
                check_choices(method->name, def);
    }
    assert_int_equal(iterative, ITERATIVE);
}

static void test_cancel_at_every_iteration(void **state) {
    (void)state;
    for (int64_t t = 1; t <= 30; t++) {
        allocator a = {0};
        watch w = {.a = &a, .stop_at = t};
        assert_int_equal(watched_fit(&w, N, D, "rlar", "solver", "paper"), RLAR_E_CANCELLED);
        assert_int_equal(w.seen, t);
    }
}

static rlar_ctx *plain_ctx(void) {
    rlar_ctx *ctx = NULL;
    assert_int_equal(rlar_ctx_new(NULL, &ctx), RLAR_OK);
    return ctx;
}

static void test_rows_choose_the_samples(void **state) {
    (void)state;
    rlar_ctx *ctx = plain_ctx();
    rlar_data *all = NULL, *half = NULL;
    rlar_model *a = NULL, *b = NULL;
    assert_int_equal(view_samples(ctx, N, D, &all), RLAR_OK);
    assert_int_equal(view_samples(ctx, N / 2, D, &half), RLAR_OK);
    int64_t rows[N / 2];
    for (int i = 0; i < N / 2; i++)
        rows[i] = i;
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    o.rows = rows;
    o.n_rows = N / 2;
    assert_true(rlar_fit(ctx, all, NULL, &o, &a, NULL) >= 0);
    assert_true(rlar_fit(ctx, half, NULL, NULL, &b, NULL) >= 0);
    assert_memory_equal(rlar_model_map(a), rlar_model_map(b), D * C * sizeof(double));
    rlar_model *none = NULL;
    rows[3] = N;
    assert_int_equal(rlar_fit(ctx, all, NULL, &o, &none, NULL), RLAR_E_ARG);
    rows[3] = -1;
    assert_int_equal(rlar_fit(ctx, all, NULL, &o, &none, NULL), RLAR_E_ARG);
    o.n_rows = 1;
    assert_int_equal(rlar_fit(ctx, all, NULL, &o, &none, NULL), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(ctx), "one class"));
    assert_null(none);
    rlar_model_free(a);
    rlar_model_free(b);
    rlar_data_free(all);
    rlar_data_free(half);
    rlar_ctx_free(ctx);
}

/* One sample at a time or all together: the same bits. */
static void test_prediction_does_not_depend_on_company(void **state) {
    (void)state;
    rlar_ctx *ctx = plain_ctx();
    rlar_data *data = NULL;
    rlar_model *model = NULL;
    assert_int_equal(view_samples(ctx, N, D, &data), RLAR_OK);
    assert_true(rlar_fit(ctx, data, NULL, NULL, &model, NULL) >= 0);
    const char *const kinds[] = {"1nn",        "knn",        "centroid",       "argmax",
                                 "1nn-cosine", "knn-cosine", "centroid-cosine"};
    for (int k = 0; k < 7; k++) {
        int64_t together[N], alone, right = 0;
        double scores[N * C], score[C], accuracy = -1.0;
        rlar_predict_options o = RLAR_INIT(rlar_predict_options);
        o.classifier = kinds[k];
        assert_int_equal(rlar_predict(ctx, model, data, &o, together, scores), RLAR_OK);
        /* The outputs that the model keeps are these, too. */
        assert_int_equal(rlar_training_accuracy(ctx, model, &o, &accuracy), RLAR_OK);
        for (int64_t i = 0; i < N; i++)
            right += together[i] == rlar_data_label(data, i);
        assert_true(accuracy == (double)right / N);
        for (int64_t i = 0; i < N; i++) {
            o.rows = &i;
            o.n_rows = 1;
            assert_int_equal(rlar_predict(ctx, model, data, &o, &alone, score), RLAR_OK);
            assert_int_equal(alone, together[i]);
            assert_memory_equal(score, scores + i * C, sizeof score);
        }
    }
    rlar_model_free(model);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
}

static void test_refusals(void **state) {
    (void)state;
    rlar_ctx *ctx = plain_ctx();
    rlar_data *data = NULL, *narrow = NULL;
    rlar_model *model = NULL, *none = NULL;
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    int64_t classes[N];
    assert_int_equal(view_samples(ctx, N, D, &data), RLAR_OK);
    assert_int_equal(view_samples(ctx, N, D - 1, &narrow), RLAR_OK);
    o.scale = "nonsense";
    assert_int_equal(rlar_fit(ctx, data, NULL, &o, &none, NULL), RLAR_E_ARG);
    assert_int_equal(rlar_fit(ctx, NULL, NULL, NULL, &none, NULL), RLAR_E_ARG);
    assert_true(rlar_fit(ctx, data, NULL, NULL, &model, NULL) >= 0);
    assert_int_equal(rlar_predict(ctx, model, narrow, NULL, classes, NULL), RLAR_E_MODEL);
    const double kept = samples[7];
    samples[7] = NAN;
    assert_int_equal(rlar_fit(ctx, data, NULL, NULL, &none, NULL), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(ctx), "sample 2, feature 3 is missing"));
    assert_int_equal(rlar_predict(ctx, model, data, NULL, classes, NULL), RLAR_OK); /* filled in */
    samples[7] = INFINITY;
    assert_int_equal(rlar_predict(ctx, model, data, NULL, classes, NULL), RLAR_E_DATA);
    samples[7] = 1e200;
    o.scale = "none";
    assert_int_equal(rlar_fit(ctx, data, NULL, &o, &none, NULL), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(ctx), "--scale"));
    samples[7] = kept;
    rlar_predict_options po = RLAR_INIT(rlar_predict_options);
    po.classifier = "svm";
    assert_int_equal(rlar_predict(ctx, model, data, &po, classes, NULL), RLAR_E_ARG);
    /* Options without their size would be those of nobody. */
    rlar_info info = {0};
    double right = 0;
    o.size = po.size = 0;
    assert_int_equal(rlar_fit(ctx, data, NULL, &o, &none, NULL), RLAR_E_ARG);
    assert_string_equal(rlar_ctx_error(ctx),
                        "rlar_fit_options: size is 0; set it to sizeof(rlar_fit_options)");
    assert_int_equal(rlar_fit(ctx, data, NULL, NULL, &none, &info), RLAR_E_ARG);
    assert_int_equal(rlar_predict(ctx, model, data, &po, classes, NULL), RLAR_E_ARG);
    assert_int_equal(rlar_training_accuracy(ctx, model, &po, &right), RLAR_E_ARG);
    assert_null(none);
    rlar_model_free(model);
    rlar_data_free(data);
    rlar_data_free(narrow);
    rlar_ctx_free(ctx);
}

static void test_parameters(void **state) {
    (void)state;
    rlar_ctx *ctx = plain_ctx();
    rlar_params *p = NULL, *copy = NULL;
    char text[32];
    assert_int_equal(rlar_params_new(ctx, "nosuch", &p), RLAR_E_ARG);
    assert_non_null(strstr(rlar_ctx_error(ctx), "rlar"));
    assert_int_equal(rlar_params_new(ctx, "rlar", &p), RLAR_OK);
    const char *const bad[][2] = {
        {"alpha", "-1"}, {"alpha", "nan"}, {"alpha", "x"},     {"k", "-1"},    {"k", "2.5"},
        {"iters", "0"},  {"eps", "-1"},    {"solver", "fast"}, {"gamma", "1"}, {"alpha", ""},
        {"tol", "2"},    {"alpha", "inf"}, {"solver", "pape"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(rlar_params_set(ctx, p, bad[i][0], bad[i][1]), RLAR_E_ARG);
        assert_true(strlen(rlar_ctx_error(ctx)) > 10);
    }
    assert_true(rlar_params_get(p, "alpha") == 0.1);
    assert_int_equal(rlar_params_set(ctx, p, "alpha", "0.25"), RLAR_OK);
    assert_string_equal(rlar_ctx_error(ctx), ""); /* no call leaves the error of another */
    assert_int_equal(rlar_params_set(ctx, p, "solver", "anneal"), RLAR_OK);
    assert_int_equal(rlar_params_copy(ctx, p, &copy), RLAR_OK);
    assert_int_equal(rlar_params_text(copy, "solver", text, sizeof text), 6);
    assert_string_equal(text, "anneal");
    assert_int_equal(rlar_params_text(copy, "alpha", text, sizeof text), 4);
    assert_string_equal(text, "0.25");
    assert_int_equal(rlar_params_preset(ctx, p, "paper"), RLAR_OK);
    assert_true(rlar_params_get(p, "alpha") == 0.1 && rlar_params_get(p, "solver") == 0.0);
    assert_int_equal(rlar_params_preset(ctx, p, "best"), RLAR_E_ARG);
    assert_true(isnan(rlar_params_get(p, "gamma")));
    rlar_params_free(copy);
    assert_int_equal(rlar_params_copy(ctx, p, &copy), RLAR_OK);
    assert_string_equal(rlar_ctx_error(ctx), "");
    assert_int_equal(rlar_params_preset(ctx, p, "best"), RLAR_E_ARG);
    assert_int_equal(rlar_params_preset(ctx, p, "paper"), RLAR_OK);
    assert_string_equal(rlar_ctx_error(ctx), "");
    /* Every default, every preset and every grid value of every method is within its own bounds. */
    for (int64_t m = 0; rlar_method_at(m); m++)
        for (const rlar_param_def *d = rlar_method_at(m)->params; d->name; d++)
            assert_true(d->value >= d->min && d->value <= d->max && d->help[0]);
    rlar_params_free(p);
    rlar_params_free(copy);
    rlar_ctx_free(ctx);
}

/* The forecast is what the fit takes: the context's peak is the data beside it. */
static void test_forecast(void **state) {
    (void)state;
    rlar_ctx *ctx = plain_ctx();
    rlar_data *data = NULL;
    rlar_model *model = NULL;
    rlar_forecast f = RLAR_INIT(rlar_forecast);
    assert_int_equal(view_samples(ctx, N, D, &data), RLAR_OK);
    const int64_t before = rlar_ctx_memory(ctx);
    assert_int_equal(rlar_fit_forecast(ctx, data, NULL, NULL, &f), RLAR_OK);
    assert_true(rlar_fit(ctx, data, NULL, NULL, &model, NULL) >= 0);
    const double need = (double)(rlar_ctx_memory_peak(ctx) - before);
    assert_true(fabs((double)f.bytes - need) < 0.25 * need);
    assert_true(f.flops > 0.0);
    rlar_model_free(model);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_loop_allocates_nothing),
        cmocka_unit_test(test_cancel_at_every_iteration),
        cmocka_unit_test(test_rows_choose_the_samples),
        cmocka_unit_test(test_prediction_does_not_depend_on_company),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_forecast),
    };
    return cmocka_run_group_tests(tests, make_samples, NULL);
}
