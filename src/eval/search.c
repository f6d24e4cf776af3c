/* search.c - every cell of every grid on every part.
 *
 *   oracle   a part is the training part of a trial, measured on its test part
 *   cv       a part is a fold inside the training part; a cell's accuracy in the trial is the mean
 *            over the folds, and failed when one of them is
 *
 * A unit is one method on one part with one scaling: its fits share what unit.c prepares. An item
 * of it is one combination of the method's parameters, with all classifiers that are tried; or,
 * where the method has a path (rlar_method.path), all values of that parameter one after another,
 * each fit starting from the one before. Every fit writes to a place of its own, so the results do
 * not depend on the threads. The oracle keeps the mistakes, as long as they are not too many: then
 * the chosen cell need not be fitted again. Not those of a path: what is reported is what the fit
 * of the chosen cell alone gives.
 *
 * From coarse to fine there are two searches: the second over the cells near the best of the first.
 * A race (race.c) makes several passes of each, and leaves out what cannot win. Before a pass, what
 * a journal has of it is taken from there. */
#include "eval/run.h"

#include <math.h>

/* The mistakes of a search are kept up to so many bytes, all methods together. */
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

/* Mistakes may be left out: without them the chosen cells are fitted again. */
static bool keeps(const rlar_ctx *ctx, const rlar_run *run, int64_t fits) {
    const double bytes = (double)fits * (double)run->test_max * sizeof(rlar_mistake);
    const double limit = (double)ctx->memory->limit;
    return run->spec->tune == RLAR_TUNE_ORACLE && bytes <= KEEP_BYTES &&
           (limit <= 0.0 || bytes <= limit / 16.0);
}

rlar_status rlar__search_new(rlar_ctx *ctx, rlar_run *run) {
    const int64_t methods = run->eval->count;
    RLAR_TRY(rlar__calloc(ctx, run->trials + 1, sizeof(int64_t), "the tasks", &run->part_first));
    RLAR_TRY(rlar__calloc(ctx, methods + 1, sizeof(int64_t), "the tasks", &run->unit_first));
    RLAR_TRY(rlar__calloc(ctx, methods + 1, sizeof(int64_t), "the tasks", &run->fit_first));
    count_search(run);
    const int64_t fits = run->fit_first[methods];
    run->keep = keeps(ctx, run, fits);
    return rlar__calloc(ctx, fits, sizeof *run->outcome, "the grid", &run->outcome);
}

void rlar__search_free(rlar_run *run) {
    const int64_t fits = run->outcome ? run->fit_first[run->eval->count] : 0;
    for (int64_t i = 0; i < fits; i++)
        rlar__outcome_clear(&run->outcome[i]);
    void *const arrays[] = {run->part_first, run->unit_first, run->fit_first, run->outcome};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        rlar__free(arrays[i]);
}

/* ---- Units ---- */

int64_t rlar__search_combinations(const rlar_grid *grid) {
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

static int64_t items_of(const rlar_run *run, int64_t method) {
    return rlar__search_combinations(&run->eval->method[method].grid) / path_length(run, method);
}

rlar_outcome *rlar__search_outcome(const rlar_run *run, int64_t method, int64_t part,
                                   int64_t cell) {
    const int64_t cells = run->eval->method[method].grid.cells;
    return &run->outcome[run->fit_first[method] + part * cells + cell];
}

static bool is_left(const rlar_outcome *outcome) {
    return outcome->due && !outcome->done;
}

/* Unit number `index`: its method, part, scaling and trial. */
static rlar_unit unit_at(const rlar_run *run, int64_t index) {
    rlar_unit unit = {.run = run};
    while (index >= run->unit_first[unit.method + 1])
        unit.method++;
    const int64_t place = index - run->unit_first[unit.method];
    const int64_t scales = rlar__grid_values(&run->eval->method[unit.method].grid, "scale");
    unit.part = place / scales;
    unit.scale = place % scales;
    while (unit.part >= run->part_first[unit.trial + 1])
        unit.trial++;
    return unit;
}

/* The first cell of a combination: that of the first classifier, which stands for all of them. */
static int64_t cell_of(const rlar_unit *unit, int64_t classifier, int64_t combination) {
    return rlar__grid_find(&unit->run->eval->method[unit->method].grid, unit->scale, classifier,
                           combination);
}

static rlar_outcome *first_outcome(const rlar_unit *unit, int64_t combination) {
    return rlar__search_outcome(unit->run, unit->method, unit->part, cell_of(unit, 0, combination));
}

static bool combination_is_left(const rlar_unit *unit, int64_t combination) {
    return is_left(first_outcome(unit, combination));
}

static int64_t unit_items(const void *arg, int64_t index) {
    const rlar_run *run = arg;
    const rlar_unit unit = unit_at(run, index);
    const int64_t count = rlar__search_combinations(&run->eval->method[unit.method].grid);
    for (int64_t i = 0; i < count; i++)
        if (combination_is_left(&unit, i))
            return items_of(run, unit.method);
    return 0;
}

/* The samples of a part: of the trial, or of a fold in its training part. */
static rlar_status make_rows(rlar_ctx *ctx, rlar_unit *unit) {
    const rlar_run *run = unit->run;
    rlar_part outer = {0};
    RLAR_TRY(rlar__split_make(ctx, &run->labels, run->data_id, &run->rule, unit->trial, &outer));
    if (!run->inner_folds) {
        unit->rows = outer;
        return RLAR_OK;
    }
    const int64_t fold = unit->part - run->part_first[unit->trial];
    const rlar_status status =
        rlar__inner_make(ctx, &run->labels, run->data_id, &run->rule, unit->trial, &outer,
                         run->inner_folds[unit->trial], fold, &unit->rows);
    rlar__part_free(&outer);
    return status;
}

static rlar_status open_unit(rlar_ctx *ctx, void *arg, int64_t index, void **out) {
    const rlar_run *run = arg;
    rlar_unit *unit = NULL;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *unit, "the training part", &unit));
    *unit = unit_at(run, index);
    const rlar_grid *grid = &run->eval->method[unit->method].grid;
    const int64_t fits = rlar__search_combinations(grid);
    rlar_status status = make_rows(ctx, unit);
    if (status >= 0)
        status = rlar__unit_open(ctx, unit, cell_of(unit, 0, 0), fits,
                                 fits * rlar__grid_values(grid, "classifier"));
    if (status < 0)
        rlar__unit_close(unit);
    else
        *out = unit;
    return status;
}

/* ---- Items ---- */

/* One cell, whose fit has ended with `fitted`. */
static rlar_status search_cell(rlar_ctx *ctx, const rlar_run *run, const rlar_unit *unit,
                               int64_t cell, const rlar_key *before, rlar_status fitted,
                               const rlar_model *model, int64_t *classes, rlar_outcome *out) {
    rlar_status status = fitted;
    if (status >= 0)
        status = rlar__unit_predict(ctx, unit, model, cell, classes, &out->seconds[1]);
    if (status >= 0)
        status = rlar__outcome_set(ctx, &run->labels, &unit->rows, classes,
                                   run->keep || run->spec->journal, out);
    return rlar__unit_settle(ctx, unit, cell, before, status, out);
}

/* The journal has room for mistakes where memory may not. */
static rlar_status record_cell(rlar_ctx *ctx, rlar_run *run, rlar_outcome *out) {
    RLAR_TRY(rlar__run_record(ctx, run, out));
    if (run->keep || run->helps || out->failure)
        return RLAR_OK;
    rlar__free(out->wrong);
    out->wrong = NULL;
    out->kept = false;
    return RLAR_OK;
}

/* One combination of the parameters. *model: where to start, or NULL; then the model. *before: the
 * key of the fits before it; then that of this one. */
static rlar_status search_combination(rlar_ctx *ctx, rlar_run *run, const rlar_unit *unit,
                                      int64_t combination, int64_t *classes, rlar_model **model,
                                      rlar_key *before) {
    const int64_t classifiers =
        rlar__grid_values(&run->eval->method[unit->method].grid, "classifier");
    const rlar_key *path = path_length(run, unit->method) > 1 ? before : NULL;
    rlar_model *found = NULL;
    rlar_outcome fit = {0};
    const rlar_status fitted =
        rlar__unit_fit(ctx, unit, cell_of(unit, 0, combination), *model, &found, &fit);
    rlar_model_free(*model);
    *model = found;
    for (int64_t i = 0; i < classifiers; i++) {
        const int64_t cell = cell_of(unit, i, combination);
        rlar_outcome *out = rlar__search_outcome(run, unit->method, unit->part, cell);
        out->seconds[0] = fit.seconds[0];
        out->zero = fit.zero;
        RLAR_TRY(search_cell(ctx, run, unit, cell, path, fitted, found, classes, out));
        RLAR_TRY(record_cell(ctx, run, out));
    }
    *before = first_outcome(unit, combination)->key;
    return RLAR_OK;
}

static rlar_status run_item(rlar_ctx *ctx, void *arg, void *shared, int64_t item) {
    rlar_run *run = arg;
    const rlar_unit *unit = shared;
    const rlar_grid *grid = &run->eval->method[unit->method].grid;
    const char *path = path_of(run, unit->method);
    const int64_t length = path_length(run, unit->method);
    rlar_model *model = NULL;
    rlar_key before = {{0}};
    int64_t *classes = NULL;
    RLAR_TRY(rlar__alloc(ctx, unit->rows.n_test, sizeof *classes, "the predictions", &classes));
    rlar_status status = RLAR_OK;
    for (int64_t i = 0; i < length && status >= 0; i++) {
        const int64_t combination = rlar__grid_along(grid, path, item, i);
        if (combination_is_left(unit, combination))
            status = search_combination(ctx, run, unit, combination, classes, &model, &before);
    }
    rlar_model_free(model);
    rlar__free(classes);
    return status;
}

/* ---- Items on other ranks ---- */

/* One combination: is it due, or what became of it? */
typedef rlar_status (*combination_message)(rlar_ctx *ctx, rlar_run *run, const rlar_unit *unit,
                                           int64_t combination, rlar_message *message);

static rlar_status each_combination(rlar_ctx *ctx, rlar_run *run, int64_t index, int64_t item,
                                    rlar_message *message, combination_message carry) {
    const rlar_unit unit = unit_at(run, index);
    const rlar_grid *grid = &run->eval->method[unit.method].grid;
    const int64_t length = path_length(run, unit.method);
    for (int64_t i = 0; i < length; i++)
        RLAR_TRY(carry(ctx, run, &unit, rlar__grid_along(grid, path_of(run, unit.method), item, i),
                       message));
    return RLAR_OK;
}

/* What rank 0 has found to be left is due on the rank that helps, and nothing else. */
static rlar_status carry_due(rlar_ctx *ctx, rlar_run *run, const rlar_unit *unit,
                             int64_t combination, rlar_message *message) {
    bool due = combination_is_left(unit, combination);
    (void)run;
    RLAR_TRY(rlar__message_carry(ctx, message, &due, sizeof due));
    if (message->reading)
        first_outcome(unit, combination)->due = due;
    return RLAR_OK;
}

static rlar_status carry_outcomes(rlar_ctx *ctx, rlar_run *run, const rlar_unit *unit,
                                  int64_t combination, rlar_message *message) {
    const int64_t classifiers =
        rlar__grid_values(&run->eval->method[unit->method].grid, "classifier");
    const rlar_outcome *first = first_outcome(unit, combination);
    if (message->reading ? !is_left(first) : !first->due)
        return RLAR_OK;
    for (int64_t i = 0; i < classifiers; i++) {
        rlar_outcome *out =
            rlar__search_outcome(run, unit->method, unit->part, cell_of(unit, i, combination));
        RLAR_TRY(rlar__outcome_carry(ctx, message, out));
        if (message->reading)
            RLAR_TRY(record_cell(ctx, run, out));
        else
            rlar__outcome_clear(out);
    }
    return RLAR_OK;
}

static rlar_status carry_task(rlar_ctx *ctx, void *arg, int64_t unit, int64_t item,
                              rlar_message *message) {
    return each_combination(ctx, arg, unit, item, message, carry_due);
}

static rlar_status carry_outcome(rlar_ctx *ctx, void *arg, int64_t unit, int64_t item,
                                 rlar_message *message) {
    return each_combination(ctx, arg, unit, item, message, carry_outcomes);
}

/* ---- What the journal has ---- */

/* All classifiers of one combination; *all becomes false when one is not there. */
static rlar_status recall_combination(rlar_ctx *ctx, const rlar_unit *unit, int64_t combination,
                                      rlar_key *before, bool *all) {
    const rlar_run *run = unit->run;
    const int64_t classifiers =
        rlar__grid_values(&run->eval->method[unit->method].grid, "classifier");
    const rlar_key *path = path_length(run, unit->method) > 1 ? before : NULL;
    for (int64_t i = 0; i < classifiers; i++) {
        const int64_t cell = cell_of(unit, i, combination);
        rlar_outcome *out = rlar__search_outcome(run, unit->method, unit->part, cell);
        RLAR_TRY(rlar__unit_recall(ctx, unit, cell, path, out));
        *all = *all && out->done;
    }
    *before = first_outcome(unit, combination)->key;
    return RLAR_OK;
}

/* An item whole or not at all: the fits of a path need the models of those before them. */
static rlar_status recall_item(rlar_ctx *ctx, rlar_run *run, const rlar_unit *unit, int64_t item,
                               int64_t *recalled) {
    const rlar_grid *grid = &run->eval->method[unit->method].grid;
    const char *path = path_of(run, unit->method);
    const int64_t length = path_length(run, unit->method);
    const int64_t classifiers = rlar__grid_values(grid, "classifier");
    rlar_key before = {{0}};
    bool all = true, *was_left = NULL;
    RLAR_TRY(rlar__calloc(ctx, length, sizeof *was_left, "the marks", &was_left));
    rlar_status status = RLAR_OK;
    for (int64_t i = 0; i < length && all && status >= 0; i++) {
        const int64_t combination = rlar__grid_along(grid, path, item, i);
        was_left[i] = combination_is_left(unit, combination);
        if (was_left[i])
            status = recall_combination(ctx, unit, combination, &before, &all);
    }
    for (int64_t i = 0; i < length; i++)
        for (int64_t k = 0; k < classifiers && was_left[i]; k++) {
            const int64_t cell = cell_of(unit, k, rlar__grid_along(grid, path, item, i));
            *recalled += all;
            if (!all)
                rlar__outcome_clear(rlar__search_outcome(run, unit->method, unit->part, cell));
        }
    rlar__free(was_left);
    return status;
}

static rlar_status recall_unit(rlar_ctx *ctx, rlar_run *run, int64_t index) {
    rlar_unit unit = unit_at(run, index);
    const int64_t items = unit_items(run, index);
    int64_t recalled = 0;
    if (items == 0)
        return RLAR_OK;
    RLAR_TRY(make_rows(ctx, &unit));
    unit.key = rlar__key_add_part(run->key, &unit.rows);
    rlar_status status = RLAR_OK;
    for (int64_t i = 0; i < items && status >= 0; i++)
        status = recall_item(ctx, run, &unit, i, &recalled);
    rlar__part_free(&unit.rows);
    return status < 0 ? status : rlar__run_known(ctx, run, recalled);
}

/* ---- From fits to trials ---- */

/* Mean over the folds that were fitted, in their order; the text of the first that failed. */
static void join_folds(rlar_run *run, int64_t method, int64_t trial, int64_t cell) {
    rlar_eval_method *m = &run->eval->method[method];
    const int64_t place = trial * m->grid.cells + cell;
    const int64_t first = run->part_first[trial], end = run->part_first[trial + 1];
    double sum = 0.0;
    int64_t done = 0;
    for (int64_t part = first; part < end; part++) {
        rlar_outcome *out = rlar__search_outcome(run, method, part, cell);
        sum += out->done ? out->accuracy : 0.0;
        done += out->done;
        if (out->failure && !m->search_failure[place]) {
            m->search_failure[place] = out->failure;
            out->failure = NULL;
        }
    }
    m->tried[place] = done > 0;
    m->whole[place] = done == end - first;
    m->search[place] = done > 0 ? sum / (double)done : NAN;
}

/* ---- Passes ---- */

/* Near the cell that is the best so far; where none could be fitted, nothing is. */
static bool is_near(const rlar_eval_method *m, int64_t trial, int64_t cell) {
    const int64_t best = m->selected[trial];
    return !isnan(m->search[trial * m->grid.cells + best]) && rlar__grid_near(&m->grid, cell, best);
}

/* Mark what is to be fitted: all, or from coarse to fine a part of it. */
static void mark(rlar_run *run, bool near_best) {
    const bool coarse = run->spec->coarse && !near_best;
    for (int64_t m = 0; m < run->eval->count; m++) {
        const rlar_eval_method *method = &run->eval->method[m];
        for (int64_t t = 0; method->search && t < run->trials; t++)
            for (int64_t i = 0; i < method->grid.cells; i++) {
                const bool wanted = near_best ? is_near(method, t, i)
                                              : !coarse || rlar__grid_coarse(&method->grid, i);
                for (int64_t part = run->part_first[t]; part < run->part_first[t + 1]; part++) {
                    rlar_outcome *out = rlar__search_outcome(run, m, part, i);
                    out->wanted = out->wanted || wanted;
                }
            }
    }
}

/* Without a race all that is wanted is due at once. */
static bool next_pass(rlar_run *run, int64_t k) {
    const int64_t fits = run->fit_first[run->eval->count];
    const bool more = run->spec->race ? rlar__race_next(run, k) : k == 0;
    run->total = run->eval->count * run->trials;
    for (int64_t i = 0; i < fits; i++) {
        run->outcome[i].due = run->spec->race ? run->outcome[i].due : run->outcome[i].wanted;
        run->total += run->outcome[i].wanted;
    }
    return more;
}

rlar_schedule rlar__search_schedule(rlar_run *run) {
    return (rlar_schedule){.units = run->unit_first[run->eval->count],
                           .items = unit_items,
                           .open = open_unit,
                           .run = run_item,
                           .close = rlar__unit_close,
                           .arg = run,
                           .crew = run->crew,
                           .task = carry_task,
                           .outcome = carry_outcome};
}

static rlar_status pass(rlar_ctx *ctx, rlar_run *run) {
    const rlar_schedule schedule = rlar__search_schedule(run);
    for (int64_t i = 0; i < schedule.units && run->journal; i++)
        RLAR_TRY(recall_unit(ctx, run, i));
    return rlar__schedule_run(ctx, &schedule);
}

static void choose(rlar_run *run) {
    for (int64_t m = 0; m < run->eval->count; m++) {
        const rlar_eval_method *method = &run->eval->method[m];
        for (int64_t t = 0; method->search && t < run->trials; t++)
            for (int64_t i = 0; i < method->grid.cells; i++)
                join_folds(run, m, t, i);
        rlar__eval_select(run->eval, m, run->spec->tune);
    }
}

/* All that is marked, or as much of it as it takes to choose. */
static rlar_status search_marked(rlar_ctx *ctx, rlar_run *run) {
    for (int64_t k = 0; next_pass(run, k); k++) {
        if (atomic_load(&run->done) == 0)
            RLAR_TRY(rlar__report(ctx, RLAR_EVENT_FIT, 0, run->total, NULL));
        RLAR_TRY(pass(ctx, run));
    }
    choose(run);
    return RLAR_OK;
}

rlar_status rlar__search(rlar_ctx *ctx, rlar_run *run) {
    mark(run, false);
    RLAR_TRY(search_marked(ctx, run));
    if (!run->spec->coarse)
        return RLAR_OK;
    mark(run, true);
    return search_marked(ctx, run);
}

const rlar_outcome *rlar__search_kept(const rlar_run *run, int64_t method, int64_t trial) {
    const rlar_eval_method *m = &run->eval->method[method];
    if (!run->keep || !m->search || path_length(run, method) > 1)
        return NULL;
    const rlar_outcome *found = rlar__search_outcome(run, method, trial, m->selected[trial]);
    return found->kept ? found : NULL;
}
