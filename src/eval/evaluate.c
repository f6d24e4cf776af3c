/* evaluate.c - repeated splits, tuning, and the same splits for every method.
 *
 *   1. check the specification, every axis value and every split before anything is fitted
 *   2. search: each cell of each grid on each trial (search.c)
 *        oracle   trained on the training part, measured on the test part: an upper bound
 *        cv       measured by folds inside the training part: the honest one
 *   3. choose: oracle one cell for all trials, cv one per trial
 *   4. final: the chosen cell on each trial, trained on the whole training part, measured on the
 * test part
 *
 * All fits of a stage are independent: they run in parallel and write to places of their own, so
 * the results do not depend on the threads. A fit that fails on its data (RLAR_E_NUMERIC,
 * RLAR_E_DATA) is a failed trial; every other error ends the evaluation. What the oracle has
 * fitted and kept is not fitted again in stage 4. */
#include "data/dataset.h"
#include "eval/classify.h"
#include "eval/metrics.h"
#include "eval/run.h"
#include "eval/schedule.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { DEFAULT_TRIALS = 10, DEFAULT_TUNE_FOLDS = 5, MOST_TRIALS = 1000000 };

/* ---- The final fits ---- */

/* Metrics of the trial, and its counts added to those of the method. */
static rlar_status measure(rlar_ctx *ctx, const rlar_run *run, int64_t method, int64_t trial,
                           const rlar_part *part, const int64_t *classes) {
    rlar_eval_method *m = &run->eval->method[method];
    const int64_t c = run->labels.c;
    int64_t *truth = NULL, *counts = NULL;
    rlar_status status = rlar__alloc(ctx, part->n_test, sizeof *truth, "the true classes", &truth);
    if (status >= 0)
        status = rlar__calloc(ctx, c, (size_t)c * sizeof *counts, "the confusion counts", &counts);
    if (status >= 0) {
        for (int64_t i = 0; i < part->n_test; i++)
            truth[i] = run->labels.label[part->test[i]];
        rlar__confusion_add(c, part->n_test, truth, classes, counts);
        const rlar_metrics metrics = rlar__metrics(c, counts);
        m->accuracy[trial] = metrics.accuracy;
        m->balanced[trial] = metrics.balanced;
        m->macro_f1[trial] = metrics.macro_f1;
        for (int64_t i = 0; i < c * c; i++)
            if (counts[i] > 0)
                atomic_fetch_add_explicit(&run->confusion[method * c * c + i], counts[i],
                                          memory_order_relaxed);
    }
    rlar__free(truth);
    rlar__free(counts);
    return status;
}

/* From the predictions that the oracle has kept. */
static rlar_status final_kept(rlar_ctx *ctx, rlar_run *run, int64_t method, int64_t trial,
                              int64_t fit) {
    rlar_eval_method *m = &run->eval->method[method];
    rlar_part part = {0};
    int64_t *classes = NULL;
    m->failure[trial] = m->search_failure[trial * m->grid.cells + m->selected[trial]];
    m->search_failure[trial * m->grid.cells + m->selected[trial]] = NULL;
    if (m->failure[trial])
        return RLAR_OK;
    RLAR_TRY(rlar__split_make(ctx, &run->labels, run->data_id, &run->rule, trial, &part));
    rlar_status status =
        rlar__alloc(ctx, part.n_test, sizeof *classes, "the predictions", &classes);
    for (int64_t i = 0; i < part.n_test && status >= 0; i++)
        classes[i] = run->kept[fit * run->test_max + i];
    if (status >= 0)
        status = measure(ctx, run, method, trial, &part, classes);
    m->fit_seconds[trial] = run->seconds[2 * fit];
    m->predict_seconds[trial] = run->seconds[2 * fit + 1];
    rlar__free(classes);
    rlar__part_free(&part);
    return status;
}

/* A unit is one method on one trial; its item is the fit of the chosen cell. */
static int64_t final_items(const void *arg, int64_t index) {
    const rlar_run *run = arg;
    const int64_t method = index / run->trials, trial = index % run->trials;
    const bool failed = run->eval->method[method].failure[trial] != NULL;
    return failed || rlar__search_kept(run, method, trial) >= 0 ? 0 : 1;
}

/* The part is made anew: cheaper than keeping all trials in memory, and exactly the same. */
static rlar_status final_open(rlar_ctx *ctx, void *arg, int64_t index, void **out) {
    const rlar_run *run = arg;
    rlar_unit *unit = NULL;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *unit, "the training part", &unit));
    unit->run = run;
    unit->method = index / run->trials;
    unit->trial = index % run->trials;
    rlar_status status =
        rlar__split_make(ctx, &run->labels, run->data_id, &run->rule, unit->trial, &unit->rows);
    if (status >= 0)
        status =
            rlar__unit_open(ctx, unit, run->eval->method[unit->method].selected[unit->trial], 1, 1);
    if (status < 0)
        rlar__unit_close(unit);
    else
        *out = unit;
    return status;
}

static rlar_status final_fit(rlar_ctx *ctx, const rlar_unit *unit) {
    rlar_eval_method *m = &unit->run->eval->method[unit->method];
    const int64_t trial = unit->trial, cell = m->selected[trial];
    rlar_model *model = NULL;
    int64_t *classes = NULL;
    rlar_status status =
        rlar__alloc(ctx, unit->rows.n_test, sizeof *classes, "the predictions", &classes);
    if (status >= 0)
        status = rlar__unit_fit(ctx, unit, cell, NULL, &model, &m->fit_seconds[trial]);
    if (status >= 0)
        status = rlar__unit_predict(ctx, unit, model, cell, classes, &m->predict_seconds[trial]);
    if (status >= 0)
        status = measure(ctx, unit->run, unit->method, trial, &unit->rows, classes);
    rlar_model_free(model);
    rlar__free(classes);
    return status;
}

static rlar_status final_item(rlar_ctx *ctx, void *arg, void *shared, int64_t item) {
    rlar_run *run = arg;
    const rlar_unit *unit = shared;
    (void)item;
    RLAR_TRY(rlar__unit_settle(ctx, run, unit->method, unit->trial, final_fit(ctx, unit),
                               &run->eval->method[unit->method].failure[unit->trial]));
    return rlar__run_count(ctx, run, 1);
}

/* What was kept first, then the fits that are left. */
static rlar_status run_finals(rlar_ctx *ctx, rlar_run *run) {
    const rlar_schedule schedule = {.units = run->eval->count * run->trials,
                                    .items = final_items,
                                    .open = final_open,
                                    .run = final_item,
                                    .close = rlar__unit_close,
                                    .arg = run};
    for (int64_t i = 0; i < schedule.units; i++) {
        const int64_t method = i / run->trials, trial = i % run->trials;
        const int64_t fit = rlar__search_kept(run, method, trial);
        const bool failed = run->eval->method[method].failure[trial] != NULL;
        if (fit >= 0 && !failed)
            RLAR_TRY(final_kept(ctx, run, method, trial, fit));
        if (fit >= 0 || failed)
            RLAR_TRY(rlar__run_count(ctx, run, 1));
    }
    RLAR_TRY(rlar__schedule_run(ctx, &schedule));
    for (int64_t i = 0; i < schedule.units; i++) {
        rlar_eval_method *m = &run->eval->method[i / run->trials];
        const int64_t trial = i % run->trials;
        if (m->failure[trial] != NULL)
            m->accuracy[trial] = m->balanced[trial] = m->macro_f1[trial] = NAN;
    }
    return RLAR_OK;
}

/* ---- The stages ---- */

/* The test sizes and, where cv searches, the inner folds of every trial. Finds what cannot be split
 * before anything is fitted. */
static rlar_status check_trials(rlar_ctx *ctx, rlar_run *run, rlar_eval_result *sizes) {
    const int64_t wanted = run->spec->tune_folds ? run->spec->tune_folds : DEFAULT_TUNE_FOLDS;
    for (int64_t t = 0; t < run->trials; t++) {
        rlar_part part = {0};
        rlar_status status =
            rlar__split_make(ctx, &run->labels, run->data_id, &run->rule, t, &part);
        if (status >= 0 && run->inner_folds)
            status = rlar__inner_folds(ctx, &run->labels, &part, wanted, &run->inner_folds[t]);
        if (t == 0 || part.n_train < sizes->train_min)
            sizes->train_min = part.n_train;
        if (t == 0 || part.n_test < sizes->test_min)
            sizes->test_min = part.n_test;
        sizes->train_max = part.n_train > sizes->train_max ? part.n_train : sizes->train_max;
        sizes->test_max = part.n_test > sizes->test_max ? part.n_test : sizes->test_max;
        rlar__part_free(&part);
        RLAR_TRY(status);
        RLAR_TRY(rlar__poll(ctx));
    }
    return RLAR_OK;
}

/* Does any method have something to search? If not, cv needs no inner folds. */
static bool any_search(const rlar_eval *eval) {
    for (int64_t m = 0; m < eval->count; m++)
        if (eval->method[m].search != NULL)
            return true;
    return false;
}

/* All memory and all checks that need the grids. What was taken before a failure is freed by the
 * caller. */
static rlar_status prepare(rlar_ctx *ctx, rlar_run *run) {
    const int64_t methods = run->spec->n_methods, c = run->labels.c;
    rlar_eval_result sizes = {0};
    RLAR_TRY(rlar__eval_new(ctx, run->spec, run->trials, c, &run->eval));
    if (run->spec->tune == RLAR_TUNE_CV && any_search(run->eval))
        RLAR_TRY(rlar__calloc(ctx, run->trials, sizeof(int64_t), "the folds", &run->inner_folds));
    RLAR_TRY(check_trials(ctx, run, &sizes));
    for (int64_t m = 0; m < methods; m++) {
        rlar_eval_result *r = &run->eval->method[m].result;
        r->train_min = sizes.train_min;
        r->train_max = sizes.train_max;
        r->test_min = sizes.test_min;
        r->test_max = sizes.test_max;
    }
    run->test_max = sizes.test_max;
    RLAR_TRY(rlar__calloc(ctx, methods * c, (size_t)c * sizeof(int64_t), "the confusion counts",
                          &run->confusion));
    RLAR_TRY(rlar__search_new(ctx, run));
    run->total = methods * run->trials + run->fit_first[methods];
    return RLAR_OK;
}

/* The fits of all methods together, so that the last fits of one do not leave threads idle. */
static rlar_status run_stages(rlar_ctx *ctx, rlar_run *run) {
    const int64_t methods = run->eval->count, cc = run->labels.c * run->labels.c;
    RLAR_TRY(rlar__report(ctx, RLAR_EVENT_FIT, 0, run->total, NULL));
    RLAR_TRY(rlar__search(ctx, run));
    RLAR_TRY(run_finals(ctx, run));
    for (int64_t m = 0; m < methods; m++) {
        for (int64_t i = 0; i < cc; i++)
            run->eval->method[m].confusion[i] = atomic_load(&run->confusion[m * cc + i]);
        rlar__eval_finish(run->eval, m, run->spec->tune);
    }
    return rlar__report(ctx, RLAR_EVENT_FIT, run->total, run->total, NULL);
}

/* ---- The specification ---- */

/* The axes are checked here because they only mean something beside the methods. */
static rlar_status check_methods(rlar_ctx *ctx, const rlar_eval_spec *spec) {
    if (spec->methods == NULL || spec->n_methods < 1)
        return rlar__fail(ctx, RLAR_E_ARG, "evaluate: no method is named; name at least one");
    for (int64_t i = 0; i < spec->n_methods; i++)
        if (spec->methods[i] == NULL)
            return rlar__fail(ctx, RLAR_E_ARG, "evaluate: the parameters of method %lld are NULL",
                              (long long)i + 1);
    if (spec->n_axes < 0 || (spec->n_axes > 0 && spec->axes == NULL))
        return rlar__fail(ctx, RLAR_E_ARG, "evaluate: %lld grid axes are promised, none is given",
                          (long long)spec->n_axes);
    return rlar__axes_check(ctx, spec);
}

/* The grid of one method, which asks for every value, and its classifier. */
static rlar_status check_grid(rlar_ctx *ctx, const rlar_eval_spec *spec, int64_t method) {
    rlar_grid grid;
    bool varies = false;
    RLAR_TRY(rlar__grid_build(ctx, spec, method, &grid));
    for (int64_t i = 0; i < grid.n_axes; i++)
        varies = varies || strcmp(rlar__texts_at(&grid.names, i), "classifier") == 0;
    rlar__grid_free(&grid);
    return varies ? RLAR_OK
                  : rlar_classifier_check(ctx, spec->classifier,
                                          rlar_params_method(spec->methods[method])->name);
}

static int64_t runs_of(const rlar_eval_spec *spec) {
    const int64_t trials = spec->trials ? spec->trials : DEFAULT_TRIALS;
    return spec->split == RLAR_SPLIT_FOLDS && spec->folds > 0 && spec->folds < INT32_MAX
               ? trials * spec->folds
               : trials;
}

static rlar_status check_runs(rlar_ctx *ctx, const rlar_eval_spec *spec) {
    const int64_t runs = runs_of(spec);
    return runs <= MOST_TRIALS
               ? RLAR_OK
               : rlar__fail(ctx, RLAR_E_ARG, "trials times folds is %lld; choose at most %d",
                            (long long)runs, MOST_TRIALS);
}

/* Cheap things first. */
static rlar_status check_spec(rlar_ctx *ctx, const rlar_eval_spec *spec) {
    rlar_scaling scaling;
    rlar_classifier classifier;
    if (spec->trials < 0 || spec->trials > MOST_TRIALS)
        return rlar__fail(ctx, RLAR_E_ARG, "trials is %lld; choose 1 to %d, or 0 for %d",
                          (long long)spec->trials, MOST_TRIALS, DEFAULT_TRIALS);
    if (spec->tune < RLAR_TUNE_NONE || spec->tune > RLAR_TUNE_ORACLE)
        return rlar__fail(ctx, RLAR_E_ARG, "tune is %d; choose none, cv or oracle",
                          (int)spec->tune);
    if (spec->tune_folds < 0 || spec->tune_folds == 1)
        return rlar__fail(ctx, RLAR_E_ARG, "tune_folds is %lld; choose at least 2, or 0 for %d",
                          (long long)spec->tune_folds, DEFAULT_TUNE_FOLDS);
    if (spec->neighbours < 0)
        return rlar__fail(ctx, RLAR_E_ARG, "neighbours is %lld; choose at least 1, or 0 for 5",
                          (long long)spec->neighbours);
    RLAR_TRY(rlar__scaling_parse(ctx, spec->scale, &scaling));
    RLAR_TRY(rlar__classifier_parse(ctx, spec->classifier, &classifier));
    RLAR_TRY(check_methods(ctx, spec));
    RLAR_TRY(check_runs(ctx, spec));
    for (int64_t m = 0; m < spec->n_methods; m++)
        RLAR_TRY(check_grid(ctx, spec, m));
    return RLAR_OK;
}

/* From the specification to a run that can start. */
static rlar_status start_run(rlar_ctx *ctx, rlar_run *run) {
    const rlar_eval_spec *spec = run->spec;
    RLAR_TRY(check_spec(ctx, spec));
    RLAR_TRY(rlar__labels_of(ctx, run->data, &run->labels));
    run->rule = (rlar_split_rule){.kind = spec->split,
                                  .per_class = spec->per_class,
                                  .fraction = spec->fraction,
                                  .folds = spec->folds,
                                  .seed = spec->seed};
    RLAR_TRY(rlar__split_check(ctx, &run->labels, &run->rule));
    run->data_id = rlar__data_id(&run->labels);
    run->trials = runs_of(spec);
    return prepare(ctx, run);
}

/* The caller's struct may be older (shorter) than ours: what it lacks is 0. */
static rlar_eval_spec known_spec(const rlar_eval_spec *spec) {
    rlar_eval_spec known = {0};
    memcpy(&known, spec, spec->size < sizeof known ? spec->size : sizeof known);
    return known;
}

rlar_status rlar_eval_check(rlar_ctx *ctx, const rlar_eval_spec *spec) {
    if (ctx == NULL || spec == NULL || spec->size < sizeof spec->size)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_eval_check: ctx and a sized spec are needed");
    rlar__begin(ctx);
    const rlar_eval_spec known = known_spec(spec);
    return check_spec(ctx, &known);
}

rlar_status rlar_evaluate(rlar_ctx *ctx, const rlar_data *data, const rlar_eval_spec *spec,
                          rlar_eval **out) {
    if (ctx == NULL || data == NULL || spec == NULL || out == NULL ||
        spec->size < sizeof spec->size)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_evaluate: every argument is needed, and the size of the spec");
    rlar__begin(ctx);
    const rlar_eval_spec known = known_spec(spec);
    rlar_run run = {.data = data, .spec = &known, .threads = rlar_ctx_threads(ctx)};
    RLAR_TRY(rlar__blas_open(ctx, 0));
    rlar_status status = start_run(ctx, &run);
    if (status >= 0)
        status = run_stages(ctx, &run);
    rlar__search_free(&run);
    rlar__free(run.inner_folds);
    rlar__free(run.confusion);
    if (status < 0) {
        rlar_eval_free(run.eval);
        return status == RLAR_E_DATA ? rlar__fail_in(ctx, status, data->file) : status;
    }
    *out = run.eval;
    return RLAR_OK;
}
