/* test_training.c - a shared training and test part give the bits of rlar_fit and rlar_predict, for
 * every method, with and without what the method shares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "fitting.h"
#include "pipeline.h"
#include "training.h"

/* Two settings per method that differ in what its grid varies; the second also in more. */
typedef struct pair {
    const char *method, *one, *other;
} pair;

static const pair pairs[] = {
    {"rlar", "iters=4 alpha=0.1", "iters=4 alpha=10 beta=1"},
    {"rlar", "iters=4 k=3", "iters=4 k=2 solver=anneal"},
    {"rr", "lambda=0.001", "lambda=10"},
    {"lsr", "", ""},
    {"lda", "ridge=0", "ridge=0.1 length=st"},
    {"lda", "ridge=0 fisherface=1", "ridge=1 fisherface=1"},
    {"lda", "ridge=0", "ridge=0.5 fisherface=1"},
    {"mmc", "theta=0.5", "theta=2"},
    {"lsda", "k=0", "k=3 alpha=0.5"},
    {"lsda", "k=3 ties=variance", "k=0 ridge=0.1"},
    {"lfda", "k=2 rho=0.1", "k=3 rho=1 metric=plain"},
    {"nmmp", "k=3", "k=5"},
    {"sda", "ridge=0.1", "ridge=0.1 tau=0.05"},
    {"sulda", "iters=5", "iters=9"},
    {"l21sda", "iters=4", "iters=4 lambda=0.1"},
    {"alde", "theta=1", "theta=0.1"},
    {"relsr", "iters=4 lambda=0.1", "iters=5 lambda=1"},
    {"mpda", "gamma=1", "gamma=10 alpha=1e-3"},
    {"rslda", "iters=4", "iters=4 lambda1=0.01"},
    {"alpr", "iters=4", "iters=4 lambda1=1"},
    {"rfs", "iters=4", "iters=4 gamma=1"},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

typedef struct world {
    labelled s;
    rlar_ctx *ctx;
    rlar_data *data;
    int64_t *train, *test; /* the first part of each class, the rest */
    int64_t n_train, n_test;
} world;

/* Every third sample is for testing. */
static void world_open(world *w, const labelled *s, int64_t limit) {
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    *w = (world){.s = *s};
    o.threads = 1; /* no pool: what is held can be compared */
    o.max_memory = limit;
    assert_int_equal(rlar_ctx_new(&o, &w->ctx), RLAR_OK);
    assert_int_equal(view_labelled(w->ctx, s, &w->data), RLAR_OK);
    w->train = calloc((size_t)s->n, sizeof *w->train);
    w->test = calloc((size_t)s->n, sizeof *w->test);
    for (int64_t i = 0; i < s->n; i++)
        if (i % 3 == 2)
            w->test[w->n_test++] = i;
        else
            w->train[w->n_train++] = i;
}

static void world_close(world *w) {
    free(w->train);
    free(w->test);
    rlar_data_free(w->data);
    rlar_ctx_free(w->ctx);
}

static rlar_params *make_params(world *w, const char *method, const char *settings) {
    rlar_params *params = NULL;
    assert_int_equal(rlar_params_new(w->ctx, method, &params), RLAR_OK);
    set_params(w->ctx, params, settings);
    return params;
}

static rlar_fit_options options_of(const world *w) {
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    o.scale = "minmax,unit";
    o.rows = w->train;
    o.n_rows = w->n_train;
    return o;
}

static void same_bytes(const double *a, const double *b, int64_t count, const char *what) {
    if (memcmp(a, b, (size_t)count * sizeof *a) != 0)
        fail_msg("%s differ", what);
}

/* The fit by the part, or its failure, against the public calls. */
static void check_fit(world *w, const rlar_training *t, const rlar_tests *tests,
                      const rlar_params *params) {
    const rlar_fit_options o = options_of(w);
    rlar_predict_options po = RLAR_INIT(rlar_predict_options);
    rlar_model *mine = NULL, *plain = NULL;
    rlar_info info = {.size = sizeof info}, plain_info = {.size = sizeof info};
    char error[RLAR_ERROR_SIZE] = "";
    const rlar_status status = rlar__fit_training(w->ctx, t, params, NULL, &mine, &info);
    if (status < 0)
        memcpy(error, w->ctx->error, sizeof error);
    const rlar_status expected = rlar_fit(w->ctx, w->data, params, &o, &plain, &plain_info);
    assert_int_equal(status, expected);
    if (status < 0) {
        assert_string_equal(error, rlar_ctx_error(w->ctx));
        return;
    }
    const int64_t d = rlar_model_dims(plain), p = rlar_model_outputs(plain);
    assert_int_equal(rlar_model_outputs(mine), p);
    same_bytes(rlar_model_map(mine), rlar_model_map(plain), d * p, "maps");
    same_bytes(rlar_model_offset(mine), rlar_model_offset(plain), p, "offsets");
    assert_memory_equal(&info.objective, &plain_info.objective, sizeof info.objective);
    assert_true(info.ridged == plain_info.ridged && info.iterations == plain_info.iterations);
    static const char *const kinds[] = {"1nn", "knn", "centroid", "argmax"};
    int64_t *a = calloc((size_t)w->n_test, sizeof *a), *b = calloc((size_t)w->n_test, sizeof *b);
    po.rows = w->test;
    po.n_rows = w->n_test;
    for (int i = 0; i < 4; i++) {
        po.classifier = kinds[i];
        const rlar_status done =
            rlar__tests_predict(w->ctx, tests, mine, rlar_params_method(params), kinds[i], 0, a);
        assert_int_equal(done, rlar_predict(w->ctx, plain, w->data, &po, b, NULL));
        if (done >= 0)
            assert_memory_equal(a, b, (size_t)w->n_test * sizeof *a);
    }
    free(a);
    free(b);
    rlar_model_free(mine);
    rlar_model_free(plain);
}

static void check_pair(world *w, const pair *pr, bool share) {
    const int64_t held = rlar_ctx_memory(w->ctx);
    rlar_params *one = make_params(w, pr->method, pr->one);
    rlar_params *other = make_params(w, pr->method, pr->other);
    const rlar_fit_options o = options_of(w);
    rlar_training *t = NULL;
    assert_int_equal(rlar__training_new(w->ctx, w->data, &o, one, 2, &t), RLAR_OK);
    if (share)
        assert_int_equal(rlar__training_share(w->ctx, t, one, 2), RLAR_OK);
    rlar_tests tests = {.data = w->data, .training = t, .rows = w->test, .n = w->n_test};
    if (share)
        assert_int_equal(rlar__tests_scale(w->ctx, &tests), RLAR_OK);
    assert_true((tests.x != NULL) == share);
    check_fit(w, t, &tests, one);
    check_fit(w, t, &tests, other);
    check_fit(w, t, &tests, one); /* nothing was changed in between */
    rlar__tests_free(&tests);
    rlar__training_free(t);
    rlar__training_free(NULL);
    rlar_params_free(one);
    rlar_params_free(other);
    assert_int_equal(rlar_ctx_memory(w->ctx), held);
}

static void test_same_bits(void **state) {
    (void)state;
    for (int i = 0; i < REGIMES; i++) {
        labelled s = regime_samples(900, i);
        world w;
        world_open(&w, &s, 0);
        for (int k = 0; k < PAIRS; k++)
            for (int share = 0; share < 2; share++)
                check_pair(&w, &pairs[k], share);
        world_close(&w);
        labelled_free(&s);
    }
}

/* Equal samples: edges of length zero in the first graph, a lost rank. */
static void test_equal_samples(void **state) {
    (void)state;
    labelled s = regime_samples(910, 2);
    memcpy(s.x + 3 * s.d, s.x + 1 * s.d, (size_t)s.d * sizeof *s.x);
    memcpy(s.x + 9 * s.d, s.x + 7 * s.d, (size_t)s.d * sizeof *s.x);
    world w;
    world_open(&w, &s, 0);
    for (int k = 0; k < PAIRS; k++)
        check_pair(&w, &pairs[k], true);
    world_close(&w);
    labelled_free(&s);
}

/* Which methods share something. A hook that answers NULL for all would pass the tests above. */
static void test_who_shares(void **state) {
    (void)state;
    static const char *const sharing[] = {"rlar", "rr",   "relsr", "lda",  "mmc",  "alde",
                                          "lfda", "lsda", "nmmp",  "mpda", "rslda"};
    labelled s = regime_samples(920, 2);
    world w;
    world_open(&w, &s, 0);
    for (size_t i = 0; i < sizeof sharing / sizeof sharing[0]; i++) {
        rlar_params *params = make_params(&w, sharing[i], "");
        const rlar_fit_options o = options_of(&w);
        rlar_training *t = NULL;
        assert_int_equal(rlar__training_new(w.ctx, w.data, &o, params, 2, &t), RLAR_OK);
        assert_int_equal(rlar__training_share(w.ctx, t, params, 1), RLAR_OK);
        assert_null(t->train.shared); /* not for one fit */
        assert_int_equal(rlar__training_share(w.ctx, t, params, 2), RLAR_OK);
        assert_non_null(t->train.shared);
        rlar__training_free(t);
        rlar_params_free(params);
    }
    world_close(&w);
    labelled_free(&s);
}

/* Under a limit that leaves room for the fits only, nothing is shared, and all goes on. */
static void test_limit(void **state) {
    (void)state;
    labelled s = regime_samples(930, 2);
    world w;
    world_open(&w, &s, 0);
    rlar_params *params = make_params(&w, "lfda", "k=2");
    const rlar_fit_options o = options_of(&w);
    rlar_forecast f = {.size = sizeof f};
    assert_int_equal(rlar_fit_forecast(w.ctx, w.data, params, &o, &f), RLAR_OK);
    for (int room = 1; room <= 5; room += 4) {
        w.ctx->memory->limit = rlar_ctx_memory(w.ctx) + room * f.bytes + 20000;
        rlar_training *t = NULL;
        assert_int_equal(rlar__training_new(w.ctx, w.data, &o, params, 2, &t), RLAR_OK);
        assert_int_equal(rlar__training_share(w.ctx, t, params, 9), RLAR_OK);
        assert_true((t->train.shared != NULL) == (room == 5));
        rlar_tests tests = {.data = w.data, .training = t, .rows = w.test, .n = w.n_test};
        assert_int_equal(rlar__tests_scale(w.ctx, &tests), RLAR_OK);
        assert_true((tests.x != NULL) == (room == 5));
        rlar_model *model = NULL;
        rlar_info info = {.size = sizeof info};
        assert_int_equal(rlar__training_room(w.ctx, t, params), RLAR_OK);
        assert_true(rlar__fit_training(w.ctx, t, params, NULL, &model, &info) >= 0);
        rlar_model_free(model);
        rlar__tests_free(&tests);
        rlar__training_free(t);
    }
    w.ctx->memory->limit = 0;
    rlar_params_free(params);
    world_close(&w);
    labelled_free(&s);
}

/* A test sample that cannot be used is the prediction's to report; a missing value is filled. */
static void test_bad_tests(void **state) {
    (void)state;
    labelled s = regime_samples(940, 0);
    world w;
    world_open(&w, &s, 0);
    rlar_params *params = make_params(&w, "rr", "");
    const rlar_fit_options o = options_of(&w);
    rlar_training *t = NULL;
    rlar_model *model = NULL;
    rlar_info info = {.size = sizeof info};
    assert_int_equal(rlar__training_new(w.ctx, w.data, &o, params, 2, &t), RLAR_OK);
    assert_int_equal(rlar__fit_training(w.ctx, t, params, NULL, &model, &info), RLAR_OK);
    const double values[] = {NAN, INFINITY};
    for (int i = 0; i < 2; i++) {
        rlar_tests tests = {.data = w.data, .training = t, .rows = w.test, .n = w.n_test};
        int64_t *classes = calloc((size_t)w.n_test, sizeof *classes);
        s.x[w.test[1] * s.d] = values[i];
        assert_int_equal(rlar__tests_scale(w.ctx, &tests), RLAR_OK);
        assert_true((tests.x != NULL) == (i == 0));
        const rlar_status status =
            rlar__tests_predict(w.ctx, &tests, model, rlar_params_method(params), NULL, 0, classes);
        assert_int_equal(status, i == 0 ? RLAR_OK : RLAR_E_DATA);
        if (i == 1)
            assert_non_null(strstr(rlar_ctx_error(w.ctx), "is infinite"));
        rlar__tests_free(&tests);
        free(classes);
    }
    rlar_model_free(model);
    rlar__training_free(t);
    rlar_params_free(params);
    world_close(&w);
    labelled_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),  cmocka_unit_test(test_equal_samples),
        cmocka_unit_test(test_who_shares), cmocka_unit_test(test_limit),
        cmocka_unit_test(test_bad_tests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
