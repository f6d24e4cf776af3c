/* test_path.c - fits that start from the map of a neighbour in a grid: as low as without, ignored
 * where a method does not use it, refused where it does not fit; and grids that are walked along
 * it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "eval/grid.h"
#include "fitting.h"

typedef struct world {
    labelled s;
    rlar_ctx *ctx;
    rlar_data *data;
} world;

static void world_open(world *w, int threads, const labelled *s) {
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    *w = (world){.s = *s};
    o.threads = threads;
    assert_int_equal(rlar_ctx_new(&o, &w->ctx), RLAR_OK);
    assert_int_equal(view_labelled(w->ctx, s, &w->data), RLAR_OK);
}

static void world_close(world *w) {
    rlar_data_free(w->data);
    rlar_ctx_free(w->ctx);
}

static rlar_status fit_from(const world *w, const char *method, const char *settings,
                            const int64_t *rows, int64_t n_rows, const rlar_model *start,
                            rlar_model **model, rlar_info *info) {
    rlar_params *params = NULL;
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    o.scale = "none";
    o.rows = rows;
    o.n_rows = n_rows;
    o.start = start;
    info->size = sizeof *info;
    assert_int_equal(rlar_params_new(w->ctx, method, &params), RLAR_OK);
    set_params(w->ctx, params, settings);
    const rlar_status status = rlar_fit(w->ctx, w->data, params, &o, model, info);
    rlar_params_free(params);
    return status;
}

static void same_maps(const rlar_model *a, const rlar_model *b) {
    const size_t size = (size_t)(rlar_model_dims(a) * rlar_model_outputs(a)) * sizeof(double);
    assert_memory_equal(rlar_model_map(a), rlar_model_map(b), size);
}

/* ---- One fit ---- */

/* Along beta, from the fit before and by itself. */
static void test_as_low_as_without(void **unused) {
    (void)unused;
    static const char *const settings[] = {"solver=minimise eps=1e-8 alpha=0.05 beta=0.01",
                                           "solver=minimise eps=1e-8 alpha=0.05 beta=0.05",
                                           "solver=minimise eps=1e-8 alpha=0.05 beta=0.5",
                                           "solver=minimise eps=1e-8 alpha=0.05 beta=10"};
    for (int i = 0; i < REGIMES; i++) {
        labelled s = regime_samples(300, i);
        world w, other;
        rlar_model *model = NULL, *twin = NULL;
        world_open(&w, 1, &s);
        world_open(&other, 3, &s);
        for (int k = 0; k < 4; k++) {
            rlar_model *alone = NULL, *next = NULL, *next_twin = NULL;
            rlar_info cold, warm;
            assert_true(fit_from(&w, "rlar", settings[k], NULL, 0, NULL, &alone, &cold) >= 0);
            assert_true(fit_from(&w, "rlar", settings[k], NULL, 0, model, &next, &warm) >= 0);
            if (!(warm.objective <= 1.01 * cold.objective))
                fail_msg("regime %d, %s: %.9g from the neighbour, %.9g without", i, settings[k],
                         warm.objective, cold.objective);
            assert_true(fit_from(&other, "rlar", settings[k], NULL, 0, twin, &next_twin, &warm) >=
                        0);
            same_maps(next, next_twin);
            rlar_model_free(alone);
            rlar_model_free(model);
            rlar_model_free(twin);
            model = next;
            twin = next_twin;
        }
        rlar_model_free(model);
        rlar_model_free(twin);
        world_close(&w);
        world_close(&other);
        labelled_free(&s);
    }
}

/* Algorithm 1 and the other methods go their way; so does a caller who knows no start. */
static void test_ignored_elsewhere(void **unused) {
    (void)unused;
    static const char *const methods[] = {"rlar", "rlar", "rr", "relsr"};
    static const char *const settings[] = {"iters=4 alpha=1 solver=paper", "iters=4 solver=anneal",
                                           "lambda=2", "iters=4"};
    labelled s = regime_samples(320, 1);
    world w;
    world_open(&w, 2, &s);
    for (int k = 0; k < 4; k++) {
        rlar_model *start = NULL, *alone = NULL, *model = NULL;
        rlar_info info;
        assert_true(fit_from(&w, methods[k], "", NULL, 0, NULL, &start, &info) >= 0);
        assert_true(fit_from(&w, methods[k], settings[k], NULL, 0, NULL, &alone, &info) >= 0);
        assert_true(fit_from(&w, methods[k], settings[k], NULL, 0, start, &model, &info) >= 0);
        same_maps(model, alone);
        rlar_model_free(start);
        rlar_model_free(alone);
        rlar_model_free(model);
    }
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    rlar_model *model = NULL;
    o.start = (const rlar_model *)&o; /* not a model; beyond the size it is not looked at */
    o.size = offsetof(rlar_fit_options, start);
    assert_true(rlar_fit(w.ctx, w.data, NULL, &o, &model, NULL) >= 0);
    rlar_model_free(model);
    world_close(&w);
    labelled_free(&s);
}

static void refused(const world *w, const char *method, const rlar_model *start, const char *text) {
    rlar_model *model = NULL;
    rlar_info info;
    assert_int_equal(fit_from(w, method, "", NULL, 0, start, &model, &info), RLAR_E_ARG);
    assert_null(model);
    if (!strstr(rlar_ctx_error(w->ctx), text))
        fail_msg("'%s' is not in '%s'", text, rlar_ctx_error(w->ctx));
}

static void test_refused_where_it_does_not_fit(void **unused) {
    (void)unused;
    labelled s = regime_samples(340, 1), wide = padded(&s, 3);
    world w, wider;
    rlar_model *start = NULL;
    rlar_info info;
    world_open(&w, 1, &s);
    world_open(&wider, 1, &wide);
    assert_true(fit_from(&w, "rlar", "", NULL, 0, NULL, &start, &info) >= 0);
    refused(&w, "relsr", start, "a model of rlar, not of relsr");
    refused(&wider, "rlar", start, "20 features, the data have 23");
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    rlar_model *other = NULL;
    o.scale = "unit";
    assert_true(rlar_fit(w.ctx, w.data, NULL, &o, &other, NULL) >= 0);
    refused(&w, "rlar", other, "the start was scaled by \"unit\", the data are by \"none\"");
    rlar_model_free(other);
    for (int64_t i = 0; i < s.n; i++)
        s.label[i] += 1.0;
    assert_int_equal(rlar_data_set_label_numbers(w.ctx, w.data, s.label), RLAR_OK);
    refused(&w, "rlar", start, "other classes");
    rlar_model_free(start);
    world_close(&w);
    world_close(&wider);
    labelled_free(&wide);
    labelled_free(&s);
}

/* Names that differ are other features; where one of the two has none they are not compared. */
static void test_other_names(void **unused) {
    (void)unused;
    enum { D = 20 };
    labelled s = regime_samples(340, 1);
    char text[D][8];
    const char *names[D];
    world w, nameless;
    rlar_model *start = NULL, *model = NULL;
    rlar_info info;
    for (int j = 0; j < D; j++) {
        snprintf(text[j], sizeof text[j], "f%d", j);
        names[j] = text[j];
    }
    world_open(&w, 1, &s);
    assert_int_equal(s.d, D);
    assert_int_equal(rlar_data_set_features(w.ctx, w.data, names), RLAR_OK);
    assert_true(fit_from(&w, "rlar", "", NULL, 0, NULL, &start, &info) >= 0);
    assert_true(fit_from(&w, "rlar", "beta=0.2", NULL, 0, start, &model, &info) >= 0);
    rlar_model_free(model);
    model = NULL;
    names[2] = "g";
    assert_int_equal(rlar_data_set_features(w.ctx, w.data, names), RLAR_OK);
    refused(&w, "rlar", start, "feature 3 is \"g\" in the data, \"f2\" in the start");
    world_open(&nameless, 1, &s);
    assert_true(fit_from(&nameless, "rlar", "", NULL, 0, start, &model, &info) >= 0);
    rlar_model_free(model);
    world_close(&nameless);
    rlar_model_free(start);
    world_close(&w);
    labelled_free(&s);
}

/* ---- Grids ---- */

static const char *const alphas[] = {"0.02", "0.2"}, *const betas[] = {"0.01", "0.1", "1"},
                         *const scales[] = {"none", "unit"};

static const rlar_axis axes[] = {{.name = "beta", .values = betas, .n_values = 3},
                                 {.name = "scale", .values = scales, .n_values = 2},
                                 {.name = "alpha", .values = alphas, .n_values = 2}};

static rlar_eval_spec spec_of(const rlar_params *const *params) {
    rlar_eval_spec spec = RLAR_INIT(rlar_eval_spec);
    spec.methods = params;
    spec.n_methods = 1;
    spec.per_class = 4;
    spec.trials = 2;
    spec.seed = 5;
    spec.tune = RLAR_TUNE_ORACLE;
    spec.axes = axes;
    spec.n_axes = 3;
    return spec;
}

/* Every cell once, the path's in order. */
static void test_chains_cover_the_grid(void **unused) {
    (void)unused;
    labelled s = regime_samples(360, 1);
    world w;
    rlar_params *params = NULL;
    rlar_grid grid;
    bool seen[12] = {false};
    world_open(&w, 1, &s);
    assert_int_equal(rlar_params_new(w.ctx, "rlar", &params), RLAR_OK);
    const rlar_params *const methods[] = {params};
    const rlar_eval_spec spec = spec_of(methods);
    assert_int_equal(rlar__grid_build(w.ctx, &spec, 0, &grid), RLAR_OK);
    for (int64_t scale = 0; scale < 2; scale++)
        for (int64_t chain = 0; chain < 2; chain++)
            for (int64_t i = 0; i < 3; i++) {
                const int64_t combination = rlar__grid_along(&grid, "beta", chain, i);
                const int64_t cell = rlar__grid_find(&grid, scale, 0, combination);
                assert_true(cell >= 0 && cell < 12 && !seen[cell]);
                seen[cell] = true;
                assert_string_equal(rlar__grid_value(&grid, cell, 0), betas[i]);
                assert_string_equal(rlar__grid_value(&grid, cell, 2), alphas[chain]);
            }
    for (int64_t k = 0; k < 6; k++) /* no path, or one that the grid does not have */
        assert_true(rlar__grid_along(&grid, NULL, k, 0) == k &&
                    rlar__grid_along(&grid, "k", k, 0) == k);
    rlar__grid_free(&grid);
    rlar_params_free(params);
    world_close(&w);
    labelled_free(&s);
}

/* The same numbers for any number of threads, and in the end those of the chosen cell alone. */
static void test_grids_along_the_path(void **unused) {
    (void)unused;
    labelled s = regime_samples(380, 2);
    double first[12], right[2];
    for (int threads = 1; threads <= 3; threads += 2) {
        world w;
        rlar_params *params = NULL;
        rlar_eval *eval = NULL;
        rlar_eval_result r = RLAR_INIT(rlar_eval_result);
        world_open(&w, threads, &s);
        assert_int_equal(rlar_params_new(w.ctx, "rlar", &params), RLAR_OK);
        set_params(w.ctx, params, "solver=minimise");
        const rlar_params *const methods[] = {params};
        rlar_eval_spec spec = spec_of(methods);
        assert_true(rlar_evaluate(w.ctx, w.data, &spec, &eval) >= 0);
        assert_int_equal(rlar_eval_get(eval, 0, &r), RLAR_OK);
        assert_int_equal(r.cells, 12);
        if (threads == 1)
            memcpy(first, r.cell_accuracy, sizeof first);
        assert_memory_equal(first, r.cell_accuracy, sizeof first);
        memcpy(right, r.accuracy, sizeof right);
        const char *const *chosen = r.cell_values + r.selected[0] * r.n_axes;
        spec.scale = chosen[1];
        spec.tune = RLAR_TUNE_NONE;
        spec.n_axes = 0;
        assert_int_equal(rlar_params_set(w.ctx, params, "beta", chosen[0]), RLAR_OK);
        assert_int_equal(rlar_params_set(w.ctx, params, "alpha", chosen[2]), RLAR_OK);
        rlar_eval *alone = NULL;
        rlar_eval_result q = RLAR_INIT(rlar_eval_result);
        assert_true(rlar_evaluate(w.ctx, w.data, &spec, &alone) >= 0);
        assert_int_equal(rlar_eval_get(alone, 0, &q), RLAR_OK);
        assert_memory_equal(right, q.accuracy, sizeof right);
        rlar_eval_free(alone);
        rlar_eval_free(eval);
        rlar_params_free(params);
        world_close(&w);
    }
    labelled_free(&s);
}

/* A map that is 0 everywhere gives all samples one class: it is not chosen, however large the
 * class.
 */
static void test_zero_maps_are_not_chosen(void **unused) {
    (void)unused;
    static const char *const values[] = {"1000", "0.1"};
    static const rlar_axis axis = {.name = "alpha", .values = values, .n_values = 2};
    labelled s = clouds(400, 4, 2, (const int64_t[]){60, 12});
    world w;
    rlar_params *params = NULL;
    rlar_eval *eval = NULL;
    rlar_eval_result r = RLAR_INIT(rlar_eval_result);
    world_open(&w, 2, &s);
    assert_int_equal(rlar_params_new(w.ctx, "rlar", &params), RLAR_OK);
    set_params(w.ctx, params, "solver=minimise eps=1e-8");
    const rlar_params *const methods[] = {params};
    for (rlar_tune tune = RLAR_TUNE_CV; tune <= RLAR_TUNE_ORACLE; tune++) {
        rlar_eval_spec spec = spec_of(methods);
        spec.tune = tune;
        spec.axes = &axis;
        spec.n_axes = 1;
        assert_true(rlar_evaluate(w.ctx, w.data, &spec, &eval) >= 0);
        assert_int_equal(rlar_eval_get(eval, 0, &r), RLAR_OK);
        assert_true(isnan(r.cell_accuracy[0]) && !isnan(r.cell_accuracy[1]));
        for (int64_t i = 0; i < r.n_selected; i++)
            assert_int_equal(r.selected[i], 1);
        assert_int_equal(r.failed, 0);
        rlar_eval_free(eval);
    }
    rlar_params_free(params);
    world_close(&w);
    labelled_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_low_as_without),
        cmocka_unit_test(test_ignored_elsewhere),
        cmocka_unit_test(test_refused_where_it_does_not_fit),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_chains_cover_the_grid),
        cmocka_unit_test(test_grids_along_the_path),
        cmocka_unit_test(test_zero_maps_are_not_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
