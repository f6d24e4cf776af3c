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

enum { DEFAULT_TRIALS = 10, DEFAULT_TUNE_FOLDS = 5 };

/* ---- The final fits ---- */

/* Metrics of the trial, and its counts added to those of the method. */
static rlar_status measure(rlar_ctx *ctx, const rlar_run *run, int64_t method, int64_t trial,
                           const rlar_part *part, const rlar_outcome *outcome) {
    rlar_eval_method *m = &run->eval->method[method];
    const int64_t c = run->labels.c;
    int64_t *counts = NULL;
    RLAR_TRY(rlar__calloc(ctx, c, (size_t)c * sizeof *counts, "the confusion counts", &counts));
    rlar__outcome_counts(&run->labels, part, outcome, counts);
    const rlar_metrics metrics = rlar__metrics(c, counts);
    m->accuracy[trial] = metrics.accuracy;
    m->balanced[trial] = metrics.balanced;
    m->macro_f1[trial] = metrics.macro_f1;
    m->fit_seconds[trial] = outcome->seconds[0];
    m->predict_seconds[trial] = outcome->seconds[1];
    for (int64_t i = 0; i < c * c; i++)
        if (counts[i] > 0)
            atomic_fetch_add_explicit(&run->confusion[method * c * c + i], counts[i],
                                      memory_order_relaxed);
    rlar__free(counts);
    return RLAR_OK;
}

/* From the mistakes that the oracle has kept. */
static rlar_status final_kept(rlar_ctx *ctx, rlar_run *run, int64_t method, int64_t trial,
                              const rlar_outcome *kept) {
    rlar_eval_method *m = &run->eval->method[method];
    rlar_part part = {0};
    m->failure[trial] = m->search_failure[trial * m->grid.cells + m->selected[trial]];
    m->search_failure[trial * m->grid.cells + m->selected[trial]] = NULL;
    if (m->failure[trial])
        return RLAR_OK;
    RLAR_TRY(rlar__split_make(ctx, &run->labels, run->data_id, &run->rule, trial, &part));
    const rlar_status status = measure(ctx, run, method, trial, &part, kept);
    rlar__part_free(&part);
    return status;
}

/* From the journal; *found says whether it is there. */
static rlar_status final_recalled(rlar_ctx *ctx, rlar_run *run, int64_t method, int64_t trial,
                                  bool *found) {
    rlar_eval_method *m = &run->eval->method[method];
    rlar_unit unit = {.run = run, .method = method, .trial = trial};
    rlar_outcome outcome = {0};
    rlar_key key;
    RLAR_TRY(rlar__split_make(ctx, &run->labels, run->data_id, &run->rule, trial, &unit.rows));
    unit.key = rlar__key_add_part(run->key, &unit.rows);
    rlar_status status = rlar__unit_key(ctx, &unit, m->selected[trial], &key);
    if (status >= 0)
        status = rlar__journal_find(ctx, run->journal, key, run->labels.c, &outcome);
    *found = outcome.done;
    if (status >= 0 && outcome.done && !outcome.failure)
        status = measure(ctx, run, method, trial, &unit.rows, &outcome);
    m->failure[trial] = outcome.failure;
    outcome.failure = NULL;
    rlar__outcome_clear(&outcome);
    rlar__part_free(&unit.rows);
    return status;
}

/* A unit is one method on one trial; its item is the fit of the chosen cell. */
static int64_t final_items(const void *arg, int64_t index) {
    const rlar_run *run = arg;
    return run->eval->method[index / run->trials].finished[index % run->trials] ? 0 : 1;
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

static rlar_status final_fit(rlar_ctx *ctx, const rlar_unit *unit, int64_t cell,
                             rlar_outcome *out) {
    rlar_model *model = NULL;
    int64_t *classes = NULL;
    rlar_status status =
        rlar__alloc(ctx, unit->rows.n_test, sizeof *classes, "the predictions", &classes);
    if (status >= 0)
        status = rlar__unit_fit(ctx, unit, cell, NULL, &model, &out->seconds[0]);
    if (status >= 0)
        status = rlar__unit_predict(ctx, unit, model, cell, classes, &out->seconds[1]);
    if (status >= 0)
        status = rlar__outcome_set(ctx, &unit->run->labels, &unit->rows, classes, true, out);
    rlar_model_free(model);
    rlar__free(classes);
    return status;
}

/* The metrics, or the text of the failure; and both into the journal. */
static rlar_status final_outcome(rlar_ctx *ctx, rlar_run *run, const rlar_unit *unit,
                                 rlar_outcome *out) {
    rlar_eval_method *m = &run->eval->method[unit->method];
    const int64_t cell = m->selected[unit->trial];
    rlar_key key;
    RLAR_TRY(rlar__unit_settle(ctx, run, unit->method, unit->trial, final_fit(ctx, unit, cell, out),
                               &out->failure));
    if (run->journal) {
        RLAR_TRY(rlar__unit_key(ctx, unit, cell, &key));
        RLAR_TRY(rlar__journal_add(ctx, run->journal, key, out));
    }
    if (!out->failure)
        return measure(ctx, run, unit->method, unit->trial, &unit->rows, out);
    m->failure[unit->trial] = out->failure;
    out->failure = NULL;
    return RLAR_OK;
}

static rlar_status final_item(rlar_ctx *ctx, void *arg, void *shared, int64_t item) {
    rlar_run *run = arg;
    rlar_outcome outcome = {0};
    (void)item;
    const rlar_status status = final_outcome(ctx, run, shared, &outcome);
    rlar__outcome_clear(&outcome);
    return status < 0 ? status : rlar__run_count(ctx, run, 1);
}

/* What need not be fitted: failed in the search, kept by it, or in the journal. */
static rlar_status finish_early(rlar_ctx *ctx, rlar_run *run, int64_t method, int64_t trial) {
    rlar_eval_method *m = &run->eval->method[method];
    const rlar_outcome *kept = rlar__search_kept(run, method, trial);
    bool *finished = &m->finished[trial];
    *finished = m->failure[trial] != NULL;
    if (!*finished && kept) {
        RLAR_TRY(final_kept(ctx, run, method, trial, kept));
        *finished = true;
    }
    if (!*finished && run->journal)
        RLAR_TRY(final_recalled(ctx, run, method, trial, finished));
    return *finished ? rlar__run_known(ctx, run, 1) : RLAR_OK;
}

/* What is there first, then the fits that are left. */
static rlar_status run_finals(rlar_ctx *ctx, rlar_run *run) {
    const rlar_schedule schedule = {.units = run->eval->count * run->trials,
                                    .items = final_items,
                                    .open = final_open,
                                    .run = final_item,
                                    .close = rlar__unit_close,
                                    .arg = run};
    for (int64_t i = 0; i < schedule.units; i++)
        RLAR_TRY(finish_early(ctx, run, i / run->trials, i % run->trials));
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
    return rlar__search_new(ctx, run);
}

/* The fits of all methods together, so that the last fits of one do not leave threads idle. */
static rlar_status run_stages(rlar_ctx *ctx, rlar_run *run) {
    const int64_t methods = run->eval->count, cc = run->labels.c * run->labels.c;
    RLAR_TRY(rlar__search(ctx, run));
    RLAR_TRY(run_finals(ctx, run));
    for (int64_t m = 0; m < methods; m++) {
        for (int64_t i = 0; i < cc; i++)
            run->eval->method[m].confusion[i] = atomic_load(&run->confusion[m * cc + i]);
        rlar__eval_finish(run->eval, m, run->spec->tune);
    }
    const rlar_event event = {.size = sizeof event,
                              .kind = RLAR_EVENT_FIT,
                              .done = run->total,
                              .total = run->total,
                              .known = run->known};
    return rlar__tell(ctx, &event);
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
    if (spec->trials < 0 || spec->trials > RLAR_MOST_TRIALS)
        return rlar__fail(ctx, RLAR_E_ARG, "trials is %lld; choose 1 to %d, or 0 for %d",
                          (long long)spec->trials, RLAR_MOST_TRIALS, DEFAULT_TRIALS);
    const int64_t runs = runs_of(spec);
    return runs <= RLAR_MOST_TRIALS
               ? RLAR_OK
               : rlar__fail(ctx, RLAR_E_ARG, "trials times folds is %lld; choose at most %d",
                            (long long)runs, RLAR_MOST_TRIALS);
}

/* Cheap things first. */
static rlar_status check_spec(rlar_ctx *ctx, const rlar_eval_spec *spec) {
    rlar_scaling scaling;
    rlar_classifier classifier;
    RLAR_TRY(check_runs(ctx, spec));
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
    for (int64_t m = 0; m < spec->n_methods; m++)
        RLAR_TRY(check_grid(ctx, spec, m));
    return RLAR_OK;
}

/* Labels and how they are split. */
static rlar_status start_split(rlar_ctx *ctx, const rlar_data *data, const rlar_eval_spec *spec,
                               rlar_labels *labels, rlar_split_rule *rule) {
    RLAR_TRY(rlar__labels_of(ctx, data, labels));
    *rule = (rlar_split_rule){.kind = spec->split,
                              .per_class = spec->per_class,
                              .fraction = spec->fraction,
                              .folds = spec->folds,
                              .seed = spec->seed,
                              .given = spec->given,
                              .trials = runs_of(spec)};
    return rlar__split_check(ctx, labels, rule);
}

/* From the specification to a run that can start. */
static rlar_status start_run(rlar_ctx *ctx, rlar_run *run) {
    const rlar_eval_spec *spec = run->spec;
    RLAR_TRY(check_spec(ctx, spec));
    RLAR_TRY(start_split(ctx, run->data, spec, &run->labels, &run->rule));
    run->data_id = rlar__data_id(&run->labels);
    run->trials = runs_of(spec);
    RLAR_TRY(prepare(ctx, run));
    return spec->journal ? rlar__key_of_data(ctx, run->data, &run->labels, &run->key) : RLAR_OK;
}

/* What is wrong with the data is told with their file; a journal names its own. */
static rlar_status run_all(rlar_ctx *ctx, rlar_run *run) {
    const rlar_eval_spec *spec = run->spec;
    rlar_status status = start_run(ctx, run);
    if (status >= 0 && spec->journal)
        RLAR_TRY(rlar__journal_open(ctx, spec->journal, &run->journal));
    if (status >= 0)
        status = run_stages(ctx, run);
    return status == RLAR_E_DATA ? rlar__fail_in(ctx, status, run->data->file) : status;
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

rlar_status rlar_eval_splits(rlar_ctx *ctx, const rlar_data *data, const rlar_eval_spec *spec,
                             rlar_rows **out) {
    rlar_labels labels;
    rlar_split_rule rule;
    if (ctx == NULL || data == NULL || spec == NULL || out == NULL ||
        spec->size < sizeof spec->size)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_eval_splits: every argument is needed, and the size of the spec");
    rlar__begin(ctx);
    const rlar_eval_spec known = known_spec(spec);
    RLAR_TRY(check_runs(ctx, &known));
    RLAR_TRY(start_split(ctx, data, &known, &labels, &rule));
    return rlar__splits_new(ctx, &labels, &rule, rule.trials, out);
}

rlar_status rlar_evaluate(rlar_ctx *ctx, const rlar_data *data, const rlar_eval_spec *spec,
                          rlar_eval **out) {
    if (ctx == NULL || data == NULL || spec == NULL || out == NULL ||
        spec->size < sizeof spec->size)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_evaluate: every argument is needed, and the size of the spec");
    rlar__begin(ctx);
    if (ctx->team)
        return rlar__fail(ctx, RLAR_E_UNSUPPORTED,
                          "rlar_evaluate: the context shares its fits with other ranks; evaluate "
                          "with one that does not");
    const rlar_eval_spec known = known_spec(spec);
    rlar_run run = {.data = data, .spec = &known, .threads = rlar_ctx_threads(ctx)};
    RLAR_TRY(rlar__blas_open(ctx, 0));
    const rlar_status status = run_all(ctx, &run);
    rlar__journal_close(run.journal);
    rlar__search_free(&run);
    rlar__free(run.inner_folds);
    rlar__free(run.confusion);
    if (status < 0) {
        rlar_eval_free(run.eval);
        return status;
    }
    *out = run.eval;
    return RLAR_OK;
}
