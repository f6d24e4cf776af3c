/* evaluate.c - repeated splits, tuning, and the same splits for every method.
 *
 *   1. check the specification, every axis value and every split before anything is fitted
 *   2. search: each cell of each grid on each trial (search.c)
 *        oracle   trained on the training part, measured on the test part: an upper bound
 *        cv       measured by folds inside the training part: the honest one
 *   3. choose: oracle one cell for all trials, cv one per trial
 *   4. final: the chosen cell on each trial, trained on the whole training part, measured on its
 *      test part (final.c)
 *
 * All fits of a stage are independent: they run in parallel and write to places of their own, so
 * the results do not depend on the threads. A fit that fails on its data (RLAR_E_NUMERIC,
 * RLAR_E_DATA) is a failed trial; every other error ends the evaluation. What the oracle has
 * fitted and kept is not fitted again in stage 4.
 *
 * With other ranks, rank 0 does all this, and hands the fits out to them too (crew.h). */
#include "data/dataset.h"
#include "eval/classify.h"
#include "eval/run.h"
#include "linalg/linalg.h"

#include <string.h>

enum { DEFAULT_TRIALS = 10, DEFAULT_TUNE_FOLDS = 5 };

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
    RLAR_TRY(
        rlar__calloc(ctx, methods * run->trials, sizeof *run->final, "the results", &run->final));
    return rlar__search_new(ctx, run);
}

/* The fits of all methods together, so that the last fits of one do not leave threads idle. */
static rlar_status run_stages(rlar_ctx *ctx, rlar_run *run) {
    const int64_t methods = run->eval->count, cc = run->labels.c * run->labels.c;
    RLAR_TRY(rlar__search(ctx, run));
    RLAR_TRY(rlar__finals(ctx, run));
    for (int64_t m = 0; m < methods; m++) {
        for (int64_t i = 0; i < cc; i++)
            run->eval->method[m].confusion[i] = atomic_load(&run->confusion[m * cc + i]);
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

static rlar_split_rule rule_of(const rlar_eval_spec *spec) {
    return (rlar_split_rule){.kind = spec->split,
                             .per_class = spec->per_class,
                             .fraction = spec->fraction,
                             .folds = spec->folds,
                             .seed = spec->seed,
                             .given = spec->given,
                             .trials = runs_of(spec)};
}

/* Cheap things first. */
static rlar_status check_spec(rlar_ctx *ctx, const rlar_eval_spec *spec) {
    rlar_scaling scaling;
    rlar_classifier classifier;
    RLAR_TRY(check_runs(ctx, spec)); /* trials times folds is a number */
    const rlar_split_rule rule = rule_of(spec);
    RLAR_TRY(rlar__split_rule_check(ctx, &rule));
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
    *rule = rule_of(spec);
    return rlar__split_check(ctx, labels, rule);
}

/* From the specification to a run that can start. */
static rlar_status start_run(rlar_ctx *ctx, rlar_run *run) {
    const rlar_eval_spec *spec = run->spec;
    RLAR_TRY(rlar__blas_open(ctx, 0));
    RLAR_TRY(check_spec(ctx, spec));
    RLAR_TRY(start_split(ctx, run->data, spec, &run->labels, &run->rule));
    run->data_id = rlar__data_id(&run->labels);
    run->trials = runs_of(spec);
    RLAR_TRY(prepare(ctx, run));
    if (!spec->journal && !run->team)
        return RLAR_OK;
    RLAR_TRY(rlar__key_of_data(ctx, run->data, &run->labels, &run->key));
    if (spec->fill) /* the same samples make another fit, where some values are missing */
        run->key = rlar__key_add_text(run->key, "fill");
    return RLAR_OK;
}

/* ---- Other ranks ---- */

/* What all ranks must have in common: the data, and what is fitted. */
static rlar_status common_key(rlar_ctx *ctx, const rlar_run *run, rlar_key *key) {
    const rlar_eval_spec *spec = run->spec;
    const int64_t numbers[] = {spec->split,      spec->per_class,      spec->folds,
                               spec->trials,     spec->tune,           spec->tune_folds,
                               spec->neighbours, spec->journal != NULL};
    *key = rlar__key_add(run->key, numbers, sizeof numbers);
    *key = rlar__key_add(*key, &spec->fraction, sizeof spec->fraction);
    *key = rlar__key_add(*key, &spec->seed, sizeof spec->seed);
    for (int64_t t = 0; spec->split == RLAR_SPLIT_GIVEN && t < run->trials; t++) {
        const rlar_rows *rows = &spec->given[t];
        *key = rlar__key_add(*key, rows->train, (size_t)rows->n_train * sizeof *rows->train);
        *key = rlar__key_add(*key, rows->test, (size_t)rows->n_test * sizeof *rows->test);
    }
    *key = rlar__key_add_text(*key, spec->scale ? spec->scale : "");
    *key = rlar__key_add_text(*key, spec->classifier ? spec->classifier : "");
    for (int64_t m = 0; m < spec->n_methods; m++) {
        const rlar_grid *grid = &run->eval->method[m].grid;
        RLAR_TRY(rlar__key_add_params(ctx, spec->methods[m], key));
        *key = rlar__key_add(*key, &grid->cells, sizeof grid->cells);
        for (int64_t i = 0; i < grid->cells * grid->n_axes; i++)
            *key = rlar__key_add_text(*key, run->eval->method[m].cell_values[i]);
    }
    return RLAR_OK;
}

/* Rank 0 runs the stages, the others its fits. */
static rlar_status run_or_help(rlar_ctx *ctx, rlar_run *run) {
    if (!run->helps)
        return run_stages(ctx, run);
    const rlar_schedule stages[] = {rlar__search_schedule(run), rlar__finals_schedule(run)};
    RLAR_TRY(rlar__schedule_help(ctx, stages, 2));
    return rlar__eval_carry(ctx, run->eval, rlar__crew_results(run->crew));
}

/* The others hear of the end, whatever it is. */
static rlar_status dismiss(rlar_ctx *ctx, rlar_run *run, rlar_status status) {
    rlar_message results = {0};
    if (status >= 0)
        status = rlar__eval_carry(ctx, run->eval, &results);
    status = rlar__crew_dismiss(ctx, run->crew, status, &results);
    rlar__message_free(&results);
    return status;
}

/* ---- All of it ---- */

static rlar_status start_all(rlar_ctx *ctx, rlar_run *run) {
    const rlar_eval_spec *spec = run->spec;
    const rlar_status status = start_run(ctx, run);
    if (status >= 0 && spec->journal && !run->helps)
        return rlar__journal_open(ctx, spec->journal, &run->journal);
    /* What is wrong with the data is told with their file; a journal names its own. */
    return status == RLAR_E_DATA ? rlar__fail_in(ctx, status, run->data->file) : status;
}

/* With other ranks, these are told whatever happens here. */
static rlar_status run_all(rlar_ctx *ctx, rlar_run *run) {
    rlar_key key = {{0}};
    if (run->team)
        RLAR_TRY(rlar__crew_new(ctx, run->team, &run->crew));
    rlar_status status = start_all(ctx, run);
    if (run->crew && status >= 0)
        status = common_key(ctx, run, &key);
    if (run->crew)
        status = rlar__crew_meet(ctx, run->crew, status, key);
    if (status >= 0) {
        status = run_or_help(ctx, run);
        if (status == RLAR_E_DATA && !run->helps)
            status = rlar__fail_in(ctx, status, run->data->file);
    }
    if (run->crew && !run->helps)
        status = dismiss(ctx, run, status);
    for (int64_t m = 0; m < run->spec->n_methods && status >= 0; m++)
        rlar__eval_finish(run->eval, m, run->spec->tune);
    return status;
}

static void run_free(rlar_run *run) {
    for (int64_t i = 0; run->final && i < run->eval->count * run->trials; i++)
        rlar__outcome_clear(&run->final[i]);
    rlar__free(run->final);
    rlar__crew_free(run->crew);
    rlar__journal_close(run->journal);
    rlar__search_free(run);
    rlar__free(run->inner_folds);
    rlar__free(run->confusion);
}

/* The fits of an evaluation do without the team: each is on one rank. */
static rlar_status run_without_team(rlar_ctx *ctx, rlar_run *run) {
    run->team = ctx->team;
    run->helps = rlar__team_rank(ctx) > 0;
    ctx->team = NULL;
    const rlar_status status = run_all(ctx, run);
    ctx->team = run->team;
    return status;
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
    if (ctx->team && !ctx->team->ready)
        return rlar__fail(ctx, RLAR_E_UNSUPPORTED,
                          "rlar_evaluate: the team of the context has no function `ready`; add it, "
                          "or evaluate with a context that is alone");
    const rlar_eval_spec known = known_spec(spec);
    rlar_run run = {.data = data, .spec = &known, .threads = rlar_ctx_threads(ctx)};
    const rlar_status status = run_without_team(ctx, &run);
    run_free(&run);
    if (status < 0) {
        rlar_eval_free(run.eval);
        return status;
    }
    *out = run.eval;
    return RLAR_OK;
}
