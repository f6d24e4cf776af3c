/* test_grid_search.c - the search of a grid against the same fits one by one through the public
 * calls: every method, every kind of axis, failed cells, threads, memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "eval/grid.h"
#include "eval/metrics.h"
#include "eval/split.h"
#include "fitting.h"

enum { C = 3, MOST_CELLS = 200 };

typedef struct world {
    labelled s;
    rlar_ctx *ctx;
    rlar_data *data;
    rlar_params *params;
    const rlar_params *method; /* what the spec points to */
} world;

static void world_open(world *w, const rlar_ctx_options *o, int64_t d, const char *method,
                       const char *settings) {
    const int64_t sizes[C] = {11, 12, 13};
    *w = (world){.s = clouds(77, d, C, sizes)};
    assert_int_equal(rlar_ctx_new(o, &w->ctx), RLAR_OK);
    assert_int_equal(view_labelled(w->ctx, &w->s, &w->data), RLAR_OK);
    assert_int_equal(rlar_params_new(w->ctx, method, &w->params), RLAR_OK);
    set_params(w->ctx, w->params, settings);
    w->method = w->params;
}

static void world_close(world *w) {
    rlar_params_free(w->params);
    rlar_data_free(w->data);
    rlar_ctx_free(w->ctx);
    labelled_free(&w->s);
}

static rlar_ctx_options on_threads(int threads) {
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.threads = threads;
    return o;
}

static rlar_eval_spec spec_of(world *w, rlar_tune tune, const rlar_axis *axes, int64_t n_axes) {
    rlar_eval_spec s = RLAR_INIT(rlar_eval_spec);
    s.methods = &w->method;
    s.n_methods = 1;
    s.split = RLAR_SPLIT_PER_CLASS;
    s.per_class = 6;
    s.trials = 2;
    s.seed = 5;
    s.tune = tune;
    s.tune_folds = 2;
    s.axes = axes;
    s.n_axes = n_axes;
    return s;
}

static rlar_eval *evaluate(world *w, const rlar_eval_spec *spec, rlar_eval_result *r) {
    rlar_eval *eval = NULL;
    if (rlar_evaluate(w->ctx, w->data, spec, &eval) < 0)
        fail_msg("%s", rlar_ctx_error(w->ctx));
    *r = RLAR_INIT(rlar_eval_result);
    assert_int_equal(rlar_eval_get(eval, 0, r), RLAR_OK);
    return eval;
}

/* ---- By hand ---- */

/* Counts of one cell on one part, by the public calls; false: the fit failed. */
static bool hand_cell(world *w, const rlar_eval_result *r, int64_t cell, const rlar_part *part,
                      int64_t *counts) {
    rlar_fit_options fit = RLAR_INIT(rlar_fit_options);
    rlar_predict_options predict = RLAR_INIT(rlar_predict_options);
    rlar_params *params = NULL;
    rlar_model *model = NULL;
    assert_int_equal(rlar_params_copy(w->ctx, w->params, &params), RLAR_OK);
    for (int64_t a = 0; a < r->n_axes; a++) {
        const char *name = r->axis_names[a], *value = r->cell_values[cell * r->n_axes + a];
        if (strcmp(name, "scale") == 0)
            fit.scale = value;
        else if (strcmp(name, "classifier") == 0)
            predict.classifier = value;
        else
            assert_int_equal(rlar_params_set(w->ctx, params, name, value), RLAR_OK);
    }
    fit.rows = part->train;
    fit.n_rows = part->n_train;
    predict.rows = part->test;
    predict.n_rows = part->n_test;
    const bool done = rlar_fit(w->ctx, w->data, params, &fit, &model, NULL) >= 0;
    int64_t *classes = calloc((size_t)part->n_test, sizeof *classes);
    if (done)
        assert_true(rlar_predict(w->ctx, model, w->data, &predict, classes, NULL) >= 0);
    for (int64_t i = 0; done && i < part->n_test; i++)
        counts[rlar_data_label(w->data, part->test[i]) * C + classes[i]]++;
    free(classes);
    rlar_model_free(model);
    rlar_params_free(params);
    return done;
}

/* Accuracy of the cell in the trial: on the test part, or the mean over the inner folds. */
static double hand_search(world *w, const rlar_eval_spec *spec, const rlar_eval_result *r,
                          int64_t cell, int64_t trial, const rlar_part *outer) {
    const rlar_split_rule rule = {
        .kind = spec->split, .per_class = spec->per_class, .seed = spec->seed};
    rlar_labels labels;
    double sum = 0;
    assert_int_equal(rlar__labels_of(w->ctx, w->data, &labels), RLAR_OK);
    const int64_t folds = spec->tune == RLAR_TUNE_CV ? spec->tune_folds : 1;
    for (int64_t f = 0; f < folds; f++) {
        int64_t counts[C * C] = {0};
        rlar_part inner = {0};
        if (spec->tune == RLAR_TUNE_CV)
            assert_int_equal(rlar__inner_make(w->ctx, &labels, rlar__data_id(&labels), &rule, trial,
                                              outer, folds, f, &inner),
                             RLAR_OK);
        const bool done = hand_cell(w, r, cell, inner.train ? &inner : outer, counts);
        sum += done ? rlar__metrics(C, counts).accuracy : NAN;
        rlar__part_free(&inner);
    }
    return sum / (double)folds;
}

/* The whole result. */
static void check_by_hand(world *w, const rlar_eval_spec *spec, const rlar_eval_result *r) {
    const rlar_split_rule rule = {
        .kind = spec->split, .per_class = spec->per_class, .seed = spec->seed};
    rlar_labels labels;
    int64_t all[C * C] = {0}, good[MOST_CELLS] = {0};
    double sum[MOST_CELLS] = {0};
    assert_true(r->cells <= MOST_CELLS);
    assert_int_equal(rlar__labels_of(w->ctx, w->data, &labels), RLAR_OK);
    for (int64_t t = 0; t < spec->trials; t++) {
        rlar_part part = {0};
        int64_t counts[C * C] = {0};
        assert_int_equal(rlar__split_make(w->ctx, &labels, rlar__data_id(&labels), &rule, t, &part),
                         RLAR_OK);
        for (int64_t cell = 0; cell < r->cells; cell++) {
            const double accuracy = hand_search(w, spec, r, cell, t, &part);
            good[cell] += !isnan(accuracy);
            sum[cell] += isnan(accuracy) ? 0 : accuracy;
        }
        const int64_t chosen = r->selected[spec->tune == RLAR_TUNE_CV ? t : 0];
        assert_true(hand_cell(w, r, chosen, &part, counts) == !isnan(r->accuracy[t]));
        const rlar_metrics m = rlar__metrics(C, counts);
        if (!isnan(r->accuracy[t]))
            assert_true(r->accuracy[t] == m.accuracy && r->balanced[t] == m.balanced &&
                        r->macro_f1[t] == m.macro_f1);
        for (int i = 0; i < C * C; i++)
            all[i] += counts[i];
        rlar__part_free(&part);
    }
    assert_memory_equal(all, r->confusion, sizeof all);
    for (int64_t cell = 0; cell < r->cells; cell++) {
        assert_int_equal(r->cell_failures[cell], r->cell_trials[cell] - good[cell]);
        if (good[cell] == 0)
            assert_true(isnan(r->cell_accuracy[cell]));
        else
            assert_true(r->cell_accuracy[cell] == sum[cell] / (double)good[cell]);
    }
}

/* ---- Tests ---- */

static void check_method(const char *method, const char *settings, int64_t d, rlar_tune tune) {
    world w;
    rlar_eval_result r;
    const rlar_ctx_options o = on_threads(2);
    world_open(&w, &o, d, method, settings);
    const rlar_eval_spec spec = spec_of(&w, tune, NULL, 0);
    rlar_eval *eval = evaluate(&w, &spec, &r);
    check_by_hand(&w, &spec, &r);
    rlar_eval_free(eval);
    world_close(&w);
}

/* With their own grids, more features than samples and fewer. */
static void test_methods_with_grids(void **state) {
    (void)state;
    static const char *const iterative[] = {"relsr", "l21sda", "rslda", "alpr", "rfs"};
    static const char *const closed[] = {"rr",   "lsr",  "lda",  "mmc",   "lsda", "lfda",
                                         "nmmp", "alde", "mpda", "sulda", "sda"};
    for (int64_t d = 4; d <= 40; d += 36) {
        for (size_t i = 0; i < sizeof iterative / sizeof iterative[0]; i++)
            check_method(iterative[i], "iters=2", d, RLAR_TUNE_ORACLE);
        check_method("rlar", "iters=2 solver=paper", d, RLAR_TUNE_ORACLE); /* along no path */
        for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++)
            check_method(closed[i], "", d, RLAR_TUNE_ORACLE);
        check_method("rr", "", d, RLAR_TUNE_CV);
        check_method("lfda", "", d, RLAR_TUNE_CV);
        check_method("relsr", "iters=2", d, RLAR_TUNE_CV);
    }
}

static const char *const lambdas[] = {"0.01", "0.1", "10"}, *const scales[] = {"unit", "zscore"},
                         *const kinds[] = {"argmax", "1nn", "centroid"};
static const rlar_axis mixed[] = {{.name = "classifier", .values = kinds, .n_values = 3},
                                  {.name = "lambda", .values = lambdas, .n_values = 3},
                                  {.name = "scale", .values = scales, .n_values = 2}};

/* The three axes in every order. */
static void test_axes_in_any_order(void **state) {
    (void)state;
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int i = 0; i < 6; i++) {
        const rlar_axis axes[] = {mixed[order[i][0]], mixed[order[i][1]], mixed[order[i][2]]};
        world w;
        rlar_eval_result r;
        const rlar_ctx_options o = on_threads(2);
        world_open(&w, &o, 5, "rr", "");
        const rlar_eval_spec spec = spec_of(&w, i % 2 ? RLAR_TUNE_CV : RLAR_TUNE_ORACLE, axes, 3);
        rlar_eval *eval = evaluate(&w, &spec, &r);
        assert_int_equal(r.cells, 18);
        check_by_hand(&w, &spec, &r);
        rlar_grid grid;
        bool seen[18] = {false};
        assert_int_equal(rlar__grid_build(w.ctx, &spec, 0, &grid), RLAR_OK);
        for (int64_t k = 0; k < 18; k++) {
            const int64_t cell = rlar__grid_find(&grid, k / 9, k / 3 % 3, k % 3);
            assert_true(cell >= 0 && cell < 18 && !seen[cell]);
            seen[cell] = true;
        }
        rlar__grid_free(&grid);
        rlar_eval_free(eval);
        world_close(&w);
    }
}

/* length=sw is impossible where classes collapse: with more features than samples and no ridge. */
static void test_failed_cells(void **state) {
    (void)state;
    static const char *const ridges[] = {"0", "1"};
    for (int64_t values = 1; values <= 2; values++)
        for (rlar_tune tune = RLAR_TUNE_CV; tune <= RLAR_TUNE_ORACLE; tune++) {
            const rlar_axis axis = {.name = "ridge", .values = ridges, .n_values = values};
            world w;
            rlar_eval_result r;
            const rlar_ctx_options o = on_threads(2);
            world_open(&w, &o, 40, "lda", "length=sw");
            const rlar_eval_spec spec = spec_of(&w, tune, &axis, 1);
            rlar_eval *eval = evaluate(&w, &spec, &r);
            check_by_hand(&w, &spec, &r);
            assert_true(isnan(r.cell_accuracy[0]));
            assert_int_equal(r.failed, values == 1 ? 2 : 0);
            if (values == 1)
                assert_non_null(strstr(r.failure, "no scatter within the classes"));
            else
                assert_int_equal(r.selected[0], 1);
            rlar_eval_free(eval);
            world_close(&w);
        }
}

/* The same bits for any number of threads; with and without the predictions of the search. */
static void test_threads_and_limit(void **state) {
    (void)state;
    enum { TRIALS = 20 };
    double accuracy[TRIALS], cells[MOST_CELLS];
    int64_t confusion[C * C];
    for (int i = 1; i <= 4; i++) {
        world w;
        rlar_eval_result r;
        rlar_ctx_options o = on_threads(i == 4 ? 2 : i);
        o.max_memory = i == 4 ? 1800000 : 0; /* too little to keep 100 cells of 20 trials */
        world_open(&w, &o, 40, "rlar", "iters=1");
        rlar_eval_spec spec = spec_of(&w, RLAR_TUNE_ORACLE, NULL, 0);
        spec.trials = TRIALS;
        rlar_eval *eval = evaluate(&w, &spec, &r);
        assert_int_equal(r.cells, 100);
        if (i == 1) {
            memcpy(accuracy, r.accuracy, sizeof accuracy);
            memcpy(cells, r.cell_accuracy, 100 * sizeof *cells);
            memcpy(confusion, r.confusion, sizeof confusion);
        }
        assert_memory_equal(accuracy, r.accuracy, sizeof accuracy);
        assert_memory_equal(cells, r.cell_accuracy, 100 * sizeof *cells);
        assert_memory_equal(confusion, r.confusion, sizeof confusion);
        assert_true(r.fit_seconds > 0 && r.predict_seconds > 0);
        rlar_eval_free(eval);
        world_close(&w);
    }
}

/* ---- Memory ---- */

static void *fail_alloc(void *user, size_t bytes) {
    int64_t *left = user;
    return (*left)-- > 0 ? malloc(bytes) : NULL;
}

static void fail_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

/* Each allocation in turn is the last: an error or, where only something shared is lost, the same
 * result; nothing is left behind. */
static void check_no_memory(const char *method, const char *settings, int64_t d) {
    int64_t left = 1000000, fails = 0;
    rlar_ctx_options o = on_threads(1);
    world w;
    rlar_eval *eval = NULL;
    static const char *const few[] = {"1nn", "centroid"};
    const rlar_axis axis = {.name = "classifier", .values = few, .n_values = 2};
    o.alloc = fail_alloc;
    o.release = fail_release;
    o.alloc_user = &left;
    world_open(&w, &o, d, method, settings);
    rlar_eval_spec spec = spec_of(&w, RLAR_TUNE_ORACLE, &axis, 1);
    const rlar_axis two[] = {axis, mixed[1]};
    if (strcmp(method, "rr") == 0) {
        spec.axes = two;
        spec.n_axes = 2;
    }
    spec.trials = 1;
    const int64_t held = rlar_ctx_memory(w.ctx);
    for (; eval == NULL; fails++) {
        left = fails;
        const rlar_status status = rlar_evaluate(w.ctx, w.data, &spec, &eval);
        assert_true(status == RLAR_OK || status == RLAR_E_NOMEM);
        assert_true(status == RLAR_OK || rlar_ctx_memory(w.ctx) == held);
    }
    assert_true(fails > 40);
    rlar_eval_free(eval);
    assert_int_equal(rlar_ctx_memory(w.ctx), held);
    left = 1000000;
    world_close(&w);
}

static void test_no_memory(void **state) {
    (void)state;
    check_no_memory("rr", "", 4);
    check_no_memory("rr", "", 40);
    check_no_memory("lfda", "k=2", 40);
    check_no_memory("rlar", "iters=1", 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods_with_grids), cmocka_unit_test(test_axes_in_any_order),
        cmocka_unit_test(test_failed_cells),       cmocka_unit_test(test_threads_and_limit),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
