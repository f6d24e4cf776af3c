/* final.c - the fit of the chosen cell on each trial, trained on the whole training part, measured
 * on the test part; and what of it the search or a journal has already. */
#include "eval/metrics.h"
#include "eval/run.h"

#include <math.h>

/* Metrics of the trial, and its counts added to those of the method. The part is made anew: cheaper
 * than keeping all trials in memory, and exactly the same. */
static rlar_status measure(rlar_ctx *ctx, const rlar_run *run, int64_t method, int64_t trial,
                           const rlar_outcome *outcome) {
    rlar_eval_method *m = &run->eval->method[method];
    const int64_t c = run->labels.c;
    rlar_part part = {0};
    int64_t *counts = NULL;
    RLAR_TRY(rlar__calloc(ctx, c, (size_t)c * sizeof *counts, "the confusion counts", &counts));
    const rlar_status status =
        rlar__split_make(ctx, &run->labels, run->data_id, &run->rule, trial, &part);
    if (status < 0) {
        rlar__free(counts);
        return status;
    }
    rlar__outcome_counts(&run->labels, &part, outcome, counts);
    rlar__part_free(&part);
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
    m->failure[trial] = m->search_failure[trial * m->grid.cells + m->selected[trial]];
    m->search_failure[trial * m->grid.cells + m->selected[trial]] = NULL;
    return m->failure[trial] ? RLAR_OK : measure(ctx, run, method, trial, kept);
}

/* From an outcome that is done: the metrics, or the text of the failure. */
static rlar_status final_done(rlar_ctx *ctx, rlar_run *run, int64_t method, int64_t trial,
                              rlar_outcome *outcome) {
    rlar_status status = RLAR_OK;
    if (!outcome->failure)
        status = measure(ctx, run, method, trial, outcome);
    run->eval->method[method].failure[trial] = outcome->failure;
    outcome->failure = NULL;
    rlar__outcome_clear(outcome);
    return status;
}

/* From the journal; *found says whether it is there. */
static rlar_status final_recalled(rlar_ctx *ctx, rlar_run *run, int64_t method, int64_t trial,
                                  bool *found) {
    const int64_t cell = run->eval->method[method].selected[trial];
    rlar_unit unit = {.run = run, .method = method, .trial = trial};
    rlar_outcome outcome = {0};
    RLAR_TRY(rlar__split_make(ctx, &run->labels, run->data_id, &run->rule, trial, &unit.rows));
    unit.key = rlar__key_add_part(run->key, &unit.rows);
    const rlar_status status = rlar__unit_recall(ctx, &unit, cell, NULL, &outcome);
    rlar__part_free(&unit.rows);
    *found = outcome.done;
    return status >= 0 && outcome.done ? final_done(ctx, run, method, trial, &outcome) : status;
}

/* A unit is one method on one trial; its item is the fit of the chosen cell. */
static int64_t final_items(const void *arg, int64_t index) {
    const rlar_run *run = arg;
    return run->eval->method[index / run->trials].finished[index % run->trials] ? 0 : 1;
}

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
        status = rlar__unit_fit(ctx, unit, cell, NULL, &model, out);
    if (status >= 0)
        status = rlar__unit_predict(ctx, unit, model, cell, classes, &out->seconds[1]);
    if (status >= 0)
        status = rlar__outcome_set(ctx, &unit->run->labels, &unit->rows, classes, true, out);
    rlar_model_free(model);
    rlar__free(classes);
    return status;
}

/* What was fitted, here or on another rank. */
static rlar_status final_fitted(rlar_ctx *ctx, rlar_run *run, int64_t index) {
    rlar_outcome *out = &run->final[index];
    RLAR_TRY(rlar__run_record(ctx, run, out));
    return run->helps ? RLAR_OK
                      : final_done(ctx, run, index / run->trials, index % run->trials, out);
}

static rlar_status final_item(rlar_ctx *ctx, void *arg, void *shared, int64_t item) {
    rlar_run *run = arg;
    const rlar_unit *unit = shared;
    const int64_t index = unit->method * run->trials + unit->trial;
    const int64_t cell = run->eval->method[unit->method].selected[unit->trial];
    rlar_outcome *out = &run->final[index];
    (void)item;
    RLAR_TRY(rlar__unit_settle(ctx, unit, cell, NULL, final_fit(ctx, unit, cell, out), out));
    return final_fitted(ctx, run, index);
}

/* To another rank: the cell. */
static rlar_status final_task(rlar_ctx *ctx, void *arg, int64_t index, int64_t item,
                              rlar_message *message) {
    rlar_run *run = arg;
    int64_t *selected = run->eval->method[index / run->trials].selected;
    (void)item;
    return rlar__message_carry(ctx, message, &selected[index % run->trials], sizeof *selected);
}

/* And back. */
static rlar_status final_outcome(rlar_ctx *ctx, void *arg, int64_t index, int64_t item,
                                 rlar_message *message) {
    rlar_run *run = arg;
    (void)item;
    RLAR_TRY(rlar__outcome_carry(ctx, message, &run->final[index]));
    if (message->reading)
        return final_fitted(ctx, run, index);
    rlar__outcome_clear(&run->final[index]);
    return RLAR_OK;
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

rlar_schedule rlar__finals_schedule(rlar_run *run) {
    return (rlar_schedule){.units = run->eval->count * run->trials,
                           .items = final_items,
                           .open = final_open,
                           .run = final_item,
                           .close = rlar__unit_close,
                           .arg = run,
                           .crew = run->crew,
                           .stage = 1,
                           .task = final_task,
                           .outcome = final_outcome};
}

/* What is there first, then the fits that are left. */
rlar_status rlar__finals(rlar_ctx *ctx, rlar_run *run) {
    const rlar_schedule schedule = rlar__finals_schedule(run);
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
