/* unit.c - one training part and one test part, prepared once for all fits of a method on them.
 *
 * What is shared: the choice of samples, their scaling and checks, the scaled test samples, and
 * what the method itself can prepare (rlar_method.prepare). A fit has the same bits as rlar_fit
 * and rlar_predict with the same rows. Cells that differ in the classifier only share the fit. */
#include "eval/run.h"

#include <math.h>
#include <stdio.h>

/* What the data of one trial may cause. Anything else would happen again in the next. */
static bool is_failed_trial(rlar_status status) {
    return status == RLAR_E_NUMERIC || status == RLAR_E_DATA;
}

static rlar_status keep_failure(rlar_ctx *ctx, const rlar_unit *u, rlar_status status,
                                char **failure) {
    char place[96];
    if (status >= 0)
        return RLAR_OK;
    if (is_failed_trial(status))
        return rlar__strdup(ctx, rlar_ctx_error(ctx), failure);
    if (status == RLAR_E_CANCELLED)
        return status;
    snprintf(place, sizeof place, "%.40s, trial %lld",
             u->run->eval->method[u->method].result.method, (long long)u->trial + 1);
    return rlar__fail_in(ctx, status, place);
}

/* Only the calling thread tells; a child elsewhere has no callback. */
rlar_status rlar__run_count(rlar_ctx *ctx, rlar_run *run, int64_t fits) {
    const int64_t done = atomic_fetch_add(&run->done, fits) + fits;
    const rlar_event event = {.size = sizeof event,
                              .kind = RLAR_EVENT_FIT,
                              .done = done,
                              .total = run->total,
                              .known = run->known};
    return ctx->progress ? rlar__tell(ctx, &event) : RLAR_OK;
}

rlar_status rlar__run_record(rlar_ctx *ctx, rlar_run *run, const rlar_outcome *outcome) {
    if (run->helps)
        return RLAR_OK;
    if (run->journal)
        RLAR_TRY(rlar__journal_add(ctx, run->journal, outcome->key, outcome));
    return rlar__run_count(ctx, run, 1);
}

rlar_status rlar__run_known(rlar_ctx *ctx, rlar_run *run, int64_t fits) {
    run->known += fits;
    return rlar__run_count(ctx, run, fits);
}

/* ---- Open and close ---- */

static rlar_status make_cell(rlar_ctx *ctx, const rlar_unit *u, int64_t cell, rlar_cell *out) {
    const rlar_run *run = u->run;
    return rlar__grid_cell(ctx, run->spec, u->method, &run->eval->method[u->method].grid, cell,
                           out);
}

/* Of a fit and its prediction, whatever it was made for: a preset has the key of the same cell of a
 * grid. `before`: the key of the fits on the path to it, or NULL. A map that is zero counts where
 * nothing is chosen and is refused elsewhere (refuse_zero): then what became of it has two keys. */
static rlar_status key_of(rlar_ctx *ctx, const rlar_unit *u, int64_t cell, const rlar_key *before,
                          bool zero, rlar_key *out) {
    const int64_t refused = u->run->spec->tune != RLAR_TUNE_NONE;
    const int64_t settings[] = {u->run->spec->neighbours, zero ? 1 + refused : 0};
    rlar_cell made = {0};
    RLAR_TRY(make_cell(ctx, u, cell, &made));
    rlar_key key = u->key;
    const rlar_status status = rlar__key_add_params(ctx, made.params, &key);
    key = rlar__key_add_text(key, made.scale ? made.scale : "");
    key = rlar__key_add_text(key, made.classifier ? made.classifier : "");
    key = rlar__key_add(key, settings, sizeof settings);
    *out = before ? rlar__key_add(key, before, sizeof *before) : key;
    rlar__cell_free(&made);
    return status;
}

rlar_status rlar__unit_recall(rlar_ctx *ctx, const rlar_unit *u, int64_t cell,
                              const rlar_key *before, rlar_outcome *out) {
    for (int zero = 0; zero < 2 && !out->done; zero++) {
        rlar_key key;
        RLAR_TRY(key_of(ctx, u, cell, before, zero, &key));
        RLAR_TRY(rlar__journal_find(ctx, u->run->journal, key, u->run->labels.c, out));
        out->key = key;
    }
    return RLAR_OK;
}

rlar_status rlar__unit_settle(rlar_ctx *ctx, const rlar_unit *u, int64_t cell,
                              const rlar_key *before, rlar_status status, rlar_outcome *outcome) {
    RLAR_TRY(keep_failure(ctx, u, status, &outcome->failure));
    if (outcome->failure) {
        outcome->accuracy = NAN;
        outcome->done = outcome->kept = true;
    }
    return u->run->spec->journal ? key_of(ctx, u, cell, before, outcome->zero, &outcome->key)
                                 : RLAR_OK;
}

static rlar_status prepare_training(rlar_ctx *ctx, rlar_unit *u, const rlar_cell *cell,
                                    int64_t fits) {
    rlar_fit_options options = RLAR_INIT(rlar_fit_options);
    options.scale = cell->scale;
    options.rows = u->rows.train;
    options.n_rows = u->rows.n_train;
    RLAR_TRY((u->run->spec->fill ? rlar__training_filled : rlar__training_new)(
        ctx, u->run->data, &options, cell->params, u->run->threads, &u->training));
    return rlar__training_share(ctx, u->training, cell->params, fits);
}

/* One prediction scales block by block, which needs less memory. */
static rlar_status prepare_tests(rlar_ctx *ctx, rlar_unit *u, int64_t predictions) {
    u->tests = (rlar_tests){
        .data = u->run->data, .training = u->training, .rows = u->rows.test, .n = u->rows.n_test};
    return predictions > 1 ? rlar__tests_scale(ctx, &u->tests) : RLAR_OK;
}

rlar_status rlar__unit_open(rlar_ctx *ctx, rlar_unit *u, int64_t cell, int64_t fits,
                            int64_t predictions) {
    rlar_cell made = {0};
    u->fits = fits;
    u->key = rlar__key_add_part(u->run->key, &u->rows);
    RLAR_TRY(make_cell(ctx, u, cell, &made));
    const double start = rlar__now();
    u->status = prepare_training(ctx, u, &made, fits);
    const double middle = rlar__now();
    rlar__cell_free(&made);
    RLAR_TRY(keep_failure(ctx, u, u->status, &u->failure));
    if (u->training)
        RLAR_TRY(prepare_tests(ctx, u, predictions));
    u->seconds[0] = middle - start;
    u->seconds[1] = rlar__now() - middle;
    return RLAR_OK;
}

void rlar__unit_close(void *unit) {
    rlar_unit *u = unit;
    rlar__tests_free(&u->tests);
    rlar__training_free(u->training);
    rlar__part_free(&u->rows);
    rlar__free(u->failure);
    rlar__free(u);
}

/* ---- Fits ---- */

/* The class numbers of the data: they differ when the training part has lost a class. */
static void map_classes(const rlar_unit *u, int64_t *classes) {
    for (int64_t i = 0; i < u->rows.n_test; i++)
        classes[i] = rlar__training_class(u->training, classes[i]);
}

/* The first of many fits was given room when the unit was opened; each of them asks for its own. */
static rlar_status fit_cell(rlar_ctx *ctx, const rlar_unit *u, const rlar_params *params,
                            const rlar_model *start, rlar_model **out) {
    rlar_info info = {.size = sizeof info, .objective = NAN, .smoothed = NAN, .gradient = NAN};
    if (!u->training)
        return rlar__fail(ctx, u->status, "%s", u->failure);
    if (u->fits > 1)
        RLAR_TRY(rlar__training_room(ctx, u->training, params));
    return rlar__fit_training(ctx, u->training, params, start, out, &info);
}

/* Where something is chosen, a zero map is no choice: it gives all samples one class, which may be
 * the largest one. */
static rlar_status refuse_zero(rlar_ctx *ctx, const rlar_unit *u) {
    if (u->run->spec->tune == RLAR_TUNE_NONE)
        return RLAR_W_ZERO;
    return rlar__fail(ctx, RLAR_E_NUMERIC,
                      "every row of W is 0: the map tells no classes apart; lower alpha or beta");
}

rlar_status rlar__unit_fit(rlar_ctx *ctx, const rlar_unit *u, int64_t cell, const rlar_model *first,
                           rlar_model **out, rlar_outcome *outcome) {
    rlar_cell made = {0};
    RLAR_TRY(make_cell(ctx, u, cell, &made));
    const double start = rlar__now();
    const rlar_status status = fit_cell(ctx, u, made.params, first, out);
    outcome->seconds[0] = u->seconds[0] + rlar__now() - start;
    outcome->zero = status == RLAR_W_ZERO;
    rlar__cell_free(&made);
    return outcome->zero ? refuse_zero(ctx, u) : status;
}

rlar_status rlar__unit_predict(rlar_ctx *ctx, const rlar_unit *u, const rlar_model *model,
                               int64_t cell, int64_t *classes, double *seconds) {
    rlar_cell made = {0};
    RLAR_TRY(make_cell(ctx, u, cell, &made));
    const double start = rlar__now();
    const rlar_status status =
        rlar__tests_predict(ctx, &u->tests, model, rlar_params_method(made.params), made.classifier,
                            u->run->spec->neighbours, classes);
    *seconds = u->seconds[1] + rlar__now() - start;
    rlar__cell_free(&made);
    if (status >= 0)
        map_classes(u, classes);
    return status;
}
