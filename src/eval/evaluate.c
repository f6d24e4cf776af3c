/* evaluate.c - repeated splits, tuning, and the same splits for every method.
 *
 *   1. check the specification, every axis value and every split before anything is fitted
 *   2. search: each cell of each grid on each trial
 *        oracle   trained on the training part, measured on the test part: an upper bound
 *        cv       measured by folds inside the training part: the honest one
 *   3. choose: oracle one cell for all trials, cv one per trial
 *   4. final: the chosen cell on each trial, trained on the whole training part, measured on the
 * test part
 *
 * All fits of a stage are independent: they run in parallel and write to places of their own, so
 * the results do not depend on the threads. A fit that fails on its data (RLAR_E_NUMERIC,
 * RLAR_E_DATA) is a failed trial; every other error ends the evaluation. After an oracle search the
 * final stage repeats one fit in `cells`; in return no search fit keeps its predictions. */
#include "data/dataset.h"
#include "data/scale.h"
#include "eval/classify.h"
#include "eval/eval_result.h"
#include "eval/metrics.h"
#include "eval/split.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEFAULT_TRIALS = 10, DEFAULT_TUNE_FOLDS = 5, MOST_TRIALS = 1000000 };

/* Everything the fits share; read-only for them but for the counters. */
typedef struct eval_run {
    const rlar_data *data;
    const rlar_eval_spec *spec;
    rlar_labels labels;
    uint64_t data_id;
    rlar_split_rule rule;
    int64_t trials;        /* splits; with folds: repetitions x folds */
    int64_t *inner_folds;  /* per trial; NULL unless cv has something to search */
    int64_t *search_first; /* n_methods + 1: the search tasks of each method */
    rlar_eval *eval;
    _Atomic int64_t *confusion; /* n_methods times c x c; integers: any order of adding will do */
    _Atomic int64_t done;
    int64_t total; /* fits */
} eval_run;

/* ---- One fit ---- */

/* Give predicted classes the numbers of the data's classes. They differ when the training part has
 * lost a class; both lists are in the same order, so one walk through both finds every name. */
static rlar_status map_classes(rlar_ctx *ctx, const rlar_labels *labels, const rlar_model *model,
                               int64_t *classes, int64_t m) {
    const int64_t c = rlar_model_classes(model);
    int64_t *map;
    if (c == labels->c)
        return RLAR_OK;
    RLAR_TRY(rlar__alloc(ctx, c, sizeof *map, "the classes of the model", &map));
    for (int64_t i = 0, j = 0; i < c; i++, j++) {
        const char *name = rlar_model_class(model, i);
        while (j < labels->c - 1 && strcmp(rlar__texts_at(labels->classes, j), name) != 0)
            j++;
        map[i] = j;
    }
    for (int64_t i = 0; i < m; i++)
        classes[i] = map[classes[i]];
    rlar__free(map);
    return RLAR_OK;
}

/* Train on part->train, predict part->test. */
static rlar_status fit_and_predict(rlar_ctx *ctx, const eval_run *run, const rlar_cell *cell,
                                   const rlar_part *part, int64_t *classes, double seconds[2]) {
    rlar_fit_options fit = RLAR_INIT(rlar_fit_options);
    rlar_predict_options predict = RLAR_INIT(rlar_predict_options);
    rlar_model *model = NULL;
    fit.scale = cell->scale;
    fit.rows = part->train;
    fit.n_rows = part->n_train;
    predict.classifier = cell->classifier;
    predict.neighbours = run->spec->neighbours;
    predict.rows = part->test;
    predict.n_rows = part->n_test;
    const double start = rlar__now();
    RLAR_TRY(rlar_fit(ctx, run->data, cell->params, &fit, &model, NULL));
    const double middle = rlar__now();
    rlar_status status = rlar_predict(ctx, model, run->data, &predict, classes, NULL);
    seconds[0] = middle - start;
    seconds[1] = rlar__now() - middle;
    if (status >= 0)
        status = map_classes(ctx, &run->labels, model, classes, part->n_test);
    rlar_model_free(model);
    return status;
}

/* Fit cell number `cell` on the part; classes of the test samples into classes[n_test]. */
static rlar_status run_cell(rlar_ctx *ctx, const eval_run *run, int64_t method, int64_t cell,
                            const rlar_part *part, int64_t **classes, double seconds[2]) {
    rlar_cell made = {0};
    RLAR_TRY(rlar__alloc(ctx, part->n_test, sizeof **classes, "the predictions", classes));
    rlar_status status =
        rlar__grid_cell(ctx, run->spec, method, &run->eval->method[method].grid, cell, &made);
    if (status >= 0)
        status = fit_and_predict(ctx, run, &made, part, *classes, seconds);
    rlar__cell_free(&made);
    if (status < 0) {
        rlar__free(*classes);
        *classes = NULL;
    }
    return status;
}

/* What the data of one trial may cause. Anything else would happen again in the next. */
static bool is_failed_trial(rlar_status status) {
    return status == RLAR_E_NUMERIC || status == RLAR_E_DATA;
}

/* Keep the text of a fit that failed and go on; pass other errors on with the place. */
static rlar_status settle(rlar_ctx *ctx, const eval_run *run, int64_t method, int64_t trial,
                          rlar_status status, char **failure) {
    char place[96];
    if (status >= 0)
        return RLAR_OK;
    if (is_failed_trial(status))
        return rlar__strdup(ctx, rlar_ctx_error(ctx), failure);
    if (status == RLAR_E_CANCELLED)
        return status;
    snprintf(place, sizeof place, "%.40s, trial %lld", run->eval->method[method].result.method,
             (long long)trial + 1);
    return rlar__fail_in(ctx, status, place);
}

/* Only the calling thread tells; a child elsewhere has no callback. */
static rlar_status count_done(rlar_ctx *ctx, eval_run *run, int64_t fits) {
    const int64_t done = atomic_fetch_add(&run->done, fits) + fits;
    return ctx->progress ? rlar__report(ctx, RLAR_EVENT_FIT, done, run->total, NULL) : RLAR_OK;
}

/* ---- The search ---- */

/* The share of right answers on the test part; nothing else is needed to choose a cell. */
static rlar_status part_accuracy(rlar_ctx *ctx, const eval_run *run, int64_t method, int64_t cell,
                                 const rlar_part *part, double *accuracy) {
    int64_t *classes = NULL;
    int64_t right = 0;
    double seconds[2];
    RLAR_TRY(run_cell(ctx, run, method, cell, part, &classes, seconds));
    for (int64_t i = 0; i < part->n_test; i++)
        right += classes[i] == run->labels.label[part->test[i]];
    rlar__free(classes);
    *accuracy = (double)right / (double)part->n_test;
    return RLAR_OK;
}

/* Mean validation accuracy over the folds inside the training part. */
static rlar_status cv_accuracy(rlar_ctx *ctx, const eval_run *run, int64_t method, int64_t trial,
                               int64_t cell, const rlar_part *outer, double *accuracy) {
    const int64_t folds = run->inner_folds[trial];
    double sum = 0;
    for (int64_t f = 0; f < folds; f++) {
        rlar_part inner = {0};
        double one = 0;
        RLAR_TRY(rlar__inner_make(ctx, &run->labels, run->data_id, &run->rule, trial, outer, folds,
                                  f, &inner));
        const rlar_status status = part_accuracy(ctx, run, method, cell, &inner, &one);
        rlar__part_free(&inner);
        RLAR_TRY(status);
        sum += one;
    }
    *accuracy = sum / (double)folds;
    return RLAR_OK;
}

/* Task: one cell of one method on one trial. */
static rlar_status search_task(rlar_ctx *ctx, void *arg, int64_t index) {
    eval_run *run = arg;
    int64_t method = 0;
    while (index >= run->search_first[method + 1])
        method++;
    rlar_eval_method *m = &run->eval->method[method];
    const int64_t place = index - run->search_first[method];
    const int64_t trial = place / m->grid.cells, cell = place % m->grid.cells;
    rlar_part part = {0};
    double accuracy = NAN;
    RLAR_TRY(rlar__split_make(ctx, &run->labels, run->data_id, &run->rule, trial, &part));
    const rlar_status status = run->inner_folds
                                   ? cv_accuracy(ctx, run, method, trial, cell, &part, &accuracy)
                                   : part_accuracy(ctx, run, method, cell, &part, &accuracy);
    rlar__part_free(&part);
    RLAR_TRY(settle(ctx, run, method, trial, status, &m->search_failure[place]));
    m->search[place] = status < 0 ? NAN : accuracy;
    return count_done(ctx, run, run->inner_folds ? run->inner_folds[trial] : 1);
}

/* ---- The final fits ---- */

/* Metrics of the trial, and its counts added to those of the method. */
static rlar_status measure(rlar_ctx *ctx, const eval_run *run, int64_t method, int64_t trial,
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

/* The part is made anew: cheaper than keeping all trials in memory, and exactly the same. */
static rlar_status final_fit(rlar_ctx *ctx, const eval_run *run, int64_t method, int64_t trial) {
    rlar_eval_method *m = &run->eval->method[method];
    rlar_part part = {0};
    int64_t *classes = NULL;
    double seconds[2];
    RLAR_TRY(rlar__split_make(ctx, &run->labels, run->data_id, &run->rule, trial, &part));
    rlar_status status = run_cell(ctx, run, method, m->selected[trial], &part, &classes, seconds);
    if (status >= 0) {
        m->fit_seconds[trial] = seconds[0];
        m->predict_seconds[trial] = seconds[1];
        status = measure(ctx, run, method, trial, &part, classes);
    }
    rlar__free(classes);
    rlar__part_free(&part);
    return status;
}

/* Task: one method on one trial. */
static rlar_status final_task(rlar_ctx *ctx, void *arg, int64_t index) {
    eval_run *run = arg;
    const int64_t method = index / run->trials, trial = index % run->trials;
    rlar_eval_method *m = &run->eval->method[method];
    if (m->failure[trial] == NULL)
        RLAR_TRY(settle(ctx, run, method, trial, final_fit(ctx, run, method, trial),
                        &m->failure[trial]));
    if (m->failure[trial] != NULL)
        m->accuracy[trial] = m->balanced[trial] = m->macro_f1[trial] = NAN;
    return count_done(ctx, run, 1);
}

/* ---- The stages ---- */

/* The test sizes and, where cv searches, the inner folds of every trial. Finds what cannot be split
 * before anything is fitted. */
static rlar_status check_trials(rlar_ctx *ctx, eval_run *run, rlar_eval_result *sizes) {
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

/* Number the search tasks and count all fits. */
static void count_tasks(eval_run *run) {
    int64_t folds = 0;
    for (int64_t t = 0; t < run->trials; t++)
        folds += run->inner_folds ? run->inner_folds[t] : 1;
    run->total = run->eval->count * run->trials;
    for (int64_t m = 0; m < run->eval->count; m++) {
        const rlar_eval_method *method = &run->eval->method[m];
        const int64_t cells = method->search ? method->grid.cells : 0;
        run->search_first[m + 1] = run->search_first[m] + run->trials * cells;
        run->total += folds * cells;
    }
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
static rlar_status prepare(rlar_ctx *ctx, eval_run *run) {
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
    RLAR_TRY(rlar__calloc(ctx, methods + 1, sizeof(int64_t), "the tasks", &run->search_first));
    RLAR_TRY(rlar__calloc(ctx, methods * c, (size_t)c * sizeof(int64_t), "the confusion counts",
                          &run->confusion));
    count_tasks(run);
    return RLAR_OK;
}

/* The tasks of all methods together, so that the last fits of one do not leave threads idle. */
static rlar_status run_stages(rlar_ctx *ctx, eval_run *run) {
    const int64_t methods = run->eval->count, cc = run->labels.c * run->labels.c;
    RLAR_TRY(rlar__report(ctx, RLAR_EVENT_FIT, 0, run->total, NULL));
    RLAR_TRY(rlar__parallel_ctx(ctx, run->search_first[methods], search_task, run));
    for (int64_t m = 0; m < methods; m++)
        rlar__eval_select(run->eval, m, run->spec->tune);
    RLAR_TRY(rlar__parallel_ctx(ctx, methods * run->trials, final_task, run));
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
    return check_methods(ctx, spec);
}

/* From the specification to a run that can start. */
static rlar_status start_run(rlar_ctx *ctx, eval_run *run) {
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
    run->trials = spec->trials ? spec->trials : DEFAULT_TRIALS;
    if (spec->split == RLAR_SPLIT_FOLDS)
        run->trials *= spec->folds;
    if (run->trials > MOST_TRIALS)
        return rlar__fail(ctx, RLAR_E_ARG, "trials times folds is %lld; choose at most %d",
                          (long long)run->trials, MOST_TRIALS);
    return prepare(ctx, run);
}

rlar_status rlar_evaluate(rlar_ctx *ctx, const rlar_data *data, const rlar_eval_spec *spec,
                          rlar_eval **out) {
    if (ctx == NULL || data == NULL || spec == NULL || out == NULL ||
        spec->size < sizeof spec->size)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_evaluate: every argument is needed, and the size of the spec");
    rlar__begin(ctx);
    /* The caller's struct may be older (shorter) than ours: what it lacks is 0. */
    rlar_eval_spec known = {0};
    memcpy(&known, spec, spec->size < sizeof known ? spec->size : sizeof known);
    eval_run run = {.data = data, .spec = &known};
    RLAR_TRY(rlar__blas_open(ctx, 0));
    rlar_status status = start_run(ctx, &run);
    if (status >= 0)
        status = run_stages(ctx, &run);
    rlar__free(run.inner_folds);
    rlar__free(run.search_first);
    rlar__free(run.confusion);
    if (status < 0) {
        rlar_eval_free(run.eval);
        return status == RLAR_E_DATA ? rlar__fail_in(ctx, status, data->file) : status;
    }
    *out = run.eval;
    return RLAR_OK;
}
