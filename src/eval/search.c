/* search.c - every cell of every grid on every part.
 *
 *   oracle   a part is the training part of a trial, measured on its test part
 *   cv       a part is a fold inside the training part; a cell's accuracy in the trial is the mean
 *            over the folds, and failed when one of them is
 *
 * A unit is one method on one part with one scaling: its fits share what unit.c prepares. An item
 * of it is one combination of the method's parameters, with all classifiers that are tried; or,
 * where the method has a path (rlar_method.path), all values of that parameter one after another,
 * each fit starting from the one before. Every fit writes to places of its own, so the results do
 * not depend on the threads. The oracle keeps the predictions, as long as they are not too many:
 * then the chosen cell need not be fitted again. Not those of a path: what is reported is what the
 * fit of the chosen cell alone gives. */
#include "eval/run.h"
#include "eval/schedule.h"

#include <math.h>

/* The predictions of a search are kept up to so many bytes, all methods together. */
static const double KEEP_BYTES = 128.0 * (1 << 20);

/* ---- Memory ---- */

/* Number parts, units and fits. */
static void count_search(rlar_run *run) {
    for (int64_t t = 0; t < run->trials; t++)
        run->part_first[t + 1] = run->part_first[t] + (run->inner_folds ? run->inner_folds[t] : 1);
    const int64_t parts = run->part_first[run->trials];
    for (int64_t m = 0; m < run->eval->count; m++) {
        const rlar_eval_method *method = &run->eval->method[m];
        const bool searched = method->search != NULL;
        const int64_t scales = rlar__grid_values(&method->grid, "scale");
        run->unit_first[m + 1] = run->unit_first[m] + (searched ? parts * scales : 0);
        run->fit_first[m + 1] = run->fit_first[m] + (searched ? parts * method->grid.cells : 0);
    }
}

/* Predictions may be left out: without them the chosen cells are fitted again. */
static rlar_status keep_room(rlar_ctx *ctx, rlar_run *run, int64_t fits) {
    const double bytes = (double)fits * (double)run->test_max * sizeof *run->kept;
    const double limit = (double)ctx->memory->limit;
    if (run->spec->tune != RLAR_TUNE_ORACLE || fits == 0 || bytes > KEEP_BYTES ||
        (limit > 0.0 && bytes > limit / 16.0))
        return RLAR_OK;
    RLAR_TRY(rlar__calloc(ctx, fits, 2 * sizeof *run->seconds, "the grid", &run->seconds));
    return rlar__alloc(ctx, fits, (size_t)run->test_max * sizeof *run->kept, "the predictions",
                       &run->kept);
}

rlar_status rlar__search_new(rlar_ctx *ctx, rlar_run *run) {
    const int64_t methods = run->eval->count;
    RLAR_TRY(rlar__calloc(ctx, run->trials + 1, sizeof(int64_t), "the tasks", &run->part_first));
    RLAR_TRY(rlar__calloc(ctx, methods + 1, sizeof(int64_t), "the tasks", &run->unit_first));
    RLAR_TRY(rlar__calloc(ctx, methods + 1, sizeof(int64_t), "the tasks", &run->fit_first));
    count_search(run);
    const int64_t fits = run->fit_first[methods];
    RLAR_TRY(rlar__calloc(ctx, fits, sizeof *run->accuracy, "the grid", &run->accuracy));
    RLAR_TRY(rlar__calloc(ctx, fits, sizeof *run->failure, "the grid", &run->failure));
    return keep_room(ctx, run, fits);
}

void rlar__search_free(rlar_run *run) {
    const int64_t fits = run->failure ? run->fit_first[run->eval->count] : 0;
    for (int64_t i = 0; i < fits; i++)
        rlar__free(run->failure[i]);
    void *const arrays[] = {run->part_first, run->unit_first, run->fit_first, run->accuracy,
                            run->failure,    run->seconds,    run->kept};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        rlar__free(arrays[i]);
}

/* ---- Units ---- */

static int64_t method_of(const rlar_run *run, int64_t unit) {
    int64_t method = 0;
    while (unit >= run->unit_first[method + 1])
        method++;
    return method;
}

static int64_t trial_of(const rlar_run *run, int64_t part) {
    int64_t trial = 0;
    while (part >= run->part_first[trial + 1])
        trial++;
    return trial;
}

/* Combinations of the parameters; each is fitted once. */
static int64_t combinations(const rlar_grid *grid) {
    return grid->cells / rlar__grid_values(grid, "scale") / rlar__grid_values(grid, "classifier");
}

/* The parameter along which fits follow each other, or NULL; how many do. */
static const char *path_of(const rlar_run *run, int64_t method) {
    return rlar__fit_path(run->spec->methods[method]);
}

static int64_t path_length(const rlar_run *run, int64_t method) {
    const char *path = path_of(run, method);
    return path ? rlar__grid_values(&run->eval->method[method].grid, path) : 1;
}

static int64_t unit_items(const void *arg, int64_t unit) {
    const rlar_run *run = arg;
    const int64_t method = method_of(run, unit);
    return combinations(&run->eval->method[method].grid) / path_length(run, method);
}

/* The samples of a part: of the trial, or of a fold in its training part. */
static rlar_status make_rows(rlar_ctx *ctx, const rlar_run *run, int64_t trial, int64_t part,
                             rlar_part *out) {
    rlar_part outer = {0};
    RLAR_TRY(rlar__split_make(ctx, &run->labels, run->data_id, &run->rule, trial, &outer));
    if (!run->inner_folds) {
        *out = outer;
        return RLAR_OK;
    }
    const rlar_status status =
        rlar__inner_make(ctx, &run->labels, run->data_id, &run->rule, trial, &outer,
                         run->inner_folds[trial], part - run->part_first[trial], out);
    rlar__part_free(&outer);
    return status;
}

static rlar_status open_unit(rlar_ctx *ctx, void *arg, int64_t index, void **out) {
    const rlar_run *run = arg;
    const int64_t method = method_of(run, index);
    const rlar_grid *grid = &run->eval->method[method].grid;
    const int64_t scales = rlar__grid_values(grid, "scale"), fits = combinations(grid);
    const int64_t place = index - run->unit_first[method];
    rlar_unit *unit = NULL;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *unit, "the training part", &unit));
    unit->run = run;
    unit->method = method;
    unit->part = place / scales;
    unit->scale = place % scales;
    unit->trial = trial_of(run, unit->part);
    rlar_status status = make_rows(ctx, run, unit->trial, unit->part, &unit->rows);
    if (status >= 0)
        status = rlar__unit_open(ctx, unit, rlar__grid_find(grid, unit->scale, 0, 0), fits,
                                 fits * rlar__grid_values(grid, "classifier"));
    if (status < 0)
        rlar__unit_close(unit);
    else
        *out = unit;
    return status;
}

/* ---- Items ---- */

/* The share of right answers is all that is needed to choose a cell. */
static void keep_classes(rlar_run *run, const rlar_unit *unit, int64_t fit,
                         const int64_t *classes) {
    const rlar_part *rows = &unit->rows;
    int64_t right = 0;
    for (int64_t i = 0; i < rows->n_test; i++)
        right += classes[i] == run->labels.label[rows->test[i]];
    run->accuracy[fit] = (double)right / (double)rows->n_test;
    for (int64_t i = 0; run->kept && i < rows->n_test; i++)
        run->kept[fit * run->test_max + i] = (int32_t)classes[i];
}

/* One cell, whose fit has ended with `fitted`. */
static rlar_status search_cell(rlar_ctx *ctx, rlar_run *run, const rlar_unit *unit, int64_t cell,
                               rlar_status fitted, const rlar_model *model, double fit_seconds,
                               int64_t *classes) {
    const int64_t fit = run->fit_first[unit->method] +
                        unit->part * run->eval->method[unit->method].grid.cells + cell;
    double seconds = 0.0;
    const rlar_status status =
        fitted < 0 ? fitted : rlar__unit_predict(ctx, unit, model, cell, classes, &seconds);
    run->accuracy[fit] = NAN;
    RLAR_TRY(rlar__unit_settle(ctx, run, unit->method, unit->trial, status, &run->failure[fit]));
    if (status >= 0)
        keep_classes(run, unit, fit, classes);
    if (run->seconds) {
        run->seconds[2 * fit] = fit_seconds;
        run->seconds[2 * fit + 1] = seconds;
    }
    return rlar__run_count(ctx, run, 1);
}

/* One combination of the parameters. *model: where to start, or NULL; then the model. */
static rlar_status search_combination(rlar_ctx *ctx, rlar_run *run, const rlar_unit *unit,
                                      int64_t combination, int64_t *classes, rlar_model **model) {
    const rlar_grid *grid = &run->eval->method[unit->method].grid;
    const int64_t classifiers = rlar__grid_values(grid, "classifier");
    const int64_t cell = rlar__grid_find(grid, unit->scale, 0, combination);
    rlar_model *found = NULL;
    double seconds = 0.0;
    const rlar_status fitted = rlar__unit_fit(ctx, unit, cell, *model, &found, &seconds);
    rlar_model_free(*model);
    *model = found;
    rlar_status status = RLAR_OK;
    for (int64_t i = 0; i < classifiers && status >= 0; i++)
        status = search_cell(ctx, run, unit, rlar__grid_find(grid, unit->scale, i, combination),
                             fitted, found, seconds, classes);
    return status;
}

static rlar_status run_item(rlar_ctx *ctx, void *arg, void *shared, int64_t item) {
    rlar_run *run = arg;
    const rlar_unit *unit = shared;
    const rlar_grid *grid = &run->eval->method[unit->method].grid;
    const char *path = path_of(run, unit->method);
    const int64_t length = path_length(run, unit->method);
    rlar_model *model = NULL;
    int64_t *classes = NULL;
    RLAR_TRY(rlar__alloc(ctx, unit->rows.n_test, sizeof *classes, "the predictions", &classes));
    rlar_status status = RLAR_OK;
    for (int64_t i = 0; i < length && status >= 0; i++)
        status = search_combination(ctx, run, unit, rlar__grid_along(grid, path, item, i), classes,
                                    &model);
    rlar_model_free(model);
    rlar__free(classes);
    return status;
}

/* ---- From fits to trials ---- */

/* Mean over the folds, in their order; the text of the first that failed. */
static void join_folds(rlar_run *run, int64_t method, int64_t trial, int64_t cell) {
    rlar_eval_method *m = &run->eval->method[method];
    const int64_t cells = m->grid.cells, place = trial * cells + cell;
    const int64_t first = run->part_first[trial], end = run->part_first[trial + 1];
    double sum = 0.0;
    for (int64_t part = first; part < end; part++) {
        const int64_t fit = run->fit_first[method] + part * cells + cell;
        sum += run->accuracy[fit];
        if (run->failure[fit] && !m->search_failure[place]) {
            m->search_failure[place] = run->failure[fit];
            run->failure[fit] = NULL;
        }
    }
    m->search[place] = sum / (double)(end - first);
}

rlar_status rlar__search(rlar_ctx *ctx, rlar_run *run) {
    const rlar_schedule schedule = {.units = run->unit_first[run->eval->count],
                                    .items = unit_items,
                                    .open = open_unit,
                                    .run = run_item,
                                    .close = rlar__unit_close,
                                    .arg = run};
    RLAR_TRY(rlar__schedule_run(ctx, &schedule));
    for (int64_t m = 0; m < run->eval->count; m++) {
        const rlar_eval_method *method = &run->eval->method[m];
        for (int64_t t = 0; method->search && t < run->trials; t++)
            for (int64_t i = 0; i < method->grid.cells; i++)
                join_folds(run, m, t, i);
        rlar__eval_select(run->eval, m, run->spec->tune);
    }
    return RLAR_OK;
}

int64_t rlar__search_kept(const rlar_run *run, int64_t method, int64_t trial) {
    const rlar_eval_method *m = &run->eval->method[method];
    if (!run->kept || !m->search || path_length(run, method) > 1)
        return -1;
    return run->fit_first[method] + trial * m->grid.cells + m->selected[trial];
}
