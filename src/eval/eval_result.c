/* eval_result.c - the outcome of an evaluation: its memory, the choice of cells, the summary.
 *
 * Everything is allocated before the first fit; fits write to places of their own. */
#include "eval/eval_result.h"

#include "eval/metrics.h"

#include <math.h>
#include <string.h>

/* ---- Memory ---- */

/* One place per trial, so that fits in parallel never meet. */
static rlar_status alloc_trials(rlar_ctx *ctx, rlar_eval_method *m, int64_t trials) {
    double **const per_trial[] = {&m->accuracy, &m->balanced, &m->macro_f1, &m->fit_seconds,
                                  &m->predict_seconds};
    for (size_t i = 0; i < sizeof per_trial / sizeof per_trial[0]; i++)
        RLAR_TRY(rlar__calloc(ctx, trials, sizeof(double), "the results", per_trial[i]));
    RLAR_TRY(rlar__calloc(ctx, trials, sizeof *m->failure, "the results", &m->failure));
    RLAR_TRY(rlar__calloc(ctx, trials, sizeof *m->finished, "the results", &m->finished));
    return rlar__calloc(ctx, trials, sizeof *m->selected, "the results", &m->selected);
}

/* Only a method that has something to search needs room for it. */
static rlar_status alloc_search(rlar_ctx *ctx, rlar_eval_method *m, int64_t trials) {
    const int64_t cells = m->grid.cells;
    RLAR_TRY(rlar__calloc(ctx, cells, sizeof(double), "the grid", &m->cell_accuracy));
    RLAR_TRY(rlar__calloc(ctx, cells, sizeof(int64_t), "the grid", &m->cell_failures));
    RLAR_TRY(rlar__calloc(ctx, cells, sizeof(int64_t), "the grid", &m->cell_trials));
    RLAR_TRY(rlar__calloc(ctx, cells, sizeof(int64_t), "the grid", &m->cell_whole));
    if (m->grid.n_axes == 0)
        return RLAR_OK;
    /* trials and cells are each limited, so that their product fits. */
    RLAR_TRY(rlar__calloc(ctx, trials * cells, sizeof(double), "the grid", &m->search));
    RLAR_TRY(rlar__calloc(ctx, trials * cells, sizeof(bool), "the grid", &m->tried));
    RLAR_TRY(rlar__calloc(ctx, trials * cells, sizeof(bool), "the grid", &m->whole));
    return rlar__calloc(ctx, trials * cells, sizeof(char *), "the grid", &m->search_failure);
}

/* The result is an array of pointers for the caller; the bytes stay in the grid. */
static rlar_status alloc_texts(rlar_ctx *ctx, rlar_eval_method *m) {
    const rlar_grid *g = &m->grid;
    RLAR_TRY(rlar__calloc(ctx, g->n_axes, sizeof(char *), "the grid", &m->axis_names));
    RLAR_TRY(rlar__calloc(ctx, g->n_axes * g->cells, sizeof(char *), "the grid", &m->cell_values));
    for (int64_t a = 0; a < g->n_axes; a++) {
        m->axis_names[a] = rlar__texts_at(&g->names, a);
        for (int64_t i = 0; i < g->cells; i++)
            m->cell_values[i * g->n_axes + a] = rlar__grid_value(g, i, a);
    }
    return RLAR_OK;
}

static rlar_status alloc_method(rlar_ctx *ctx, const rlar_eval_spec *spec, int64_t index,
                                rlar_eval *eval) {
    rlar_eval_method *m = &eval->method[index];
    m->result.method = rlar_params_method(spec->methods[index])->name;
    RLAR_TRY(rlar__grid_build(ctx, spec, index, &m->grid));
    RLAR_TRY(alloc_texts(ctx, m));
    RLAR_TRY(alloc_search(ctx, m, eval->trials));
    RLAR_TRY(alloc_trials(ctx, m, eval->trials));
    return rlar__calloc(ctx, eval->c, (size_t)eval->c * sizeof(int64_t), "the confusion counts",
                        &m->confusion);
}

rlar_status rlar__eval_new(rlar_ctx *ctx, const rlar_eval_spec *spec, int64_t trials, int64_t c,
                           rlar_eval **out) {
    rlar_eval *eval;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *eval, "the evaluation", &eval));
    eval->trials = trials;
    eval->c = c;
    rlar_status status =
        rlar__calloc(ctx, spec->n_methods, sizeof *eval->method, "the evaluation", &eval->method);
    eval->count = status < 0 ? 0 : spec->n_methods;
    for (int64_t i = 0; status >= 0 && i < eval->count; i++)
        status = alloc_method(ctx, spec, i, eval);
    if (status < 0) {
        rlar_eval_free(eval);
        return status;
    }
    *out = eval;
    return RLAR_OK;
}

static void free_texts(char **texts, int64_t count) {
    for (int64_t i = 0; texts != NULL && i < count; i++)
        rlar__free(texts[i]);
    rlar__free(texts);
}

static void free_method(rlar_eval_method *m, int64_t trials) {
    free_texts(m->search_failure, trials * m->grid.cells);
    free_texts(m->failure, trials);
    void *const arrays[] = {m->axis_names,      m->cell_values,   m->search,      m->tried,
                            m->cell_accuracy,   m->cell_failures, m->cell_trials, m->selected,
                            m->accuracy,        m->balanced,      m->macro_f1,    m->fit_seconds,
                            m->predict_seconds, m->confusion,     m->finished,    m->whole,
                            m->cell_whole};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        rlar__free(arrays[i]);
    rlar__grid_free(&m->grid);
}

void rlar_eval_free(rlar_eval *eval) {
    if (eval == NULL)
        return;
    for (int64_t i = 0; i < eval->count; i++)
        free_method(&eval->method[i], eval->trials);
    rlar__free(eval->method);
    rlar__free(eval);
}

/* ---- The choice of cells ---- */

/* Mean over the trials in which the cell was tried and did not fail, in the order of the trials. */
static void average_cells(rlar_eval_method *m, int64_t trials) {
    const int64_t cells = m->grid.cells;
    for (int64_t i = 0; i < cells; i++) {
        double sum = 0;
        m->cell_failures[i] = m->cell_trials[i] = m->cell_whole[i] = 0;
        for (int64_t t = 0; t < trials; t++) {
            const double value = m->search[t * cells + i];
            m->cell_trials[i] += m->tried[t * cells + i];
            m->cell_whole[i] += m->whole[t * cells + i];
            if (isnan(value))
                m->cell_failures[i] += m->tried[t * cells + i];
            else
                sum += value;
        }
        const int64_t good = m->cell_trials[i] - m->cell_failures[i];
        m->cell_accuracy[i] = good > 0 ? sum / (double)good : NAN;
    }
}

/* A trial in which no cell could be fitted is failed before its final fit; it keeps the first text.
 */
static void select_in_trial(rlar_eval_method *m, int64_t trial) {
    const int64_t cells = m->grid.cells;
    const int64_t best = rlar__grid_best(&m->grid, m->search + trial * cells, NULL);
    m->selected[trial] = best < 0 ? 0 : best;
    if (best < 0 && !m->failure[trial]) {
        m->failure[trial] = m->search_failure[trial * cells];
        m->search_failure[trial * cells] = NULL;
    }
}

void rlar__eval_select(rlar_eval *eval, int64_t method, rlar_tune tune) {
    rlar_eval_method *m = &eval->method[method];
    if (m->search == NULL)
        return;
    if (tune == RLAR_TUNE_CV)
        for (int64_t t = 0; t < eval->trials; t++)
            select_in_trial(m, t);
    average_cells(m, eval->trials);
    if (tune == RLAR_TUNE_ORACLE) {
        const int64_t best = rlar__grid_best(&m->grid, m->cell_accuracy, m->cell_failures);
        for (int64_t t = 0; t < eval->trials; t++)
            m->selected[t] = best < 0 ? 0 : best;
    }
}

/* ---- To other ranks ---- */

static rlar_status carry_method(rlar_ctx *ctx, const rlar_eval *eval, rlar_eval_method *m,
                                rlar_message *message) {
    double *const real[] = {m->accuracy, m->balanced, m->macro_f1, m->fit_seconds,
                            m->predict_seconds};
    int64_t *const count[] = {m->cell_failures, m->cell_trials, m->cell_whole};
    const size_t trials = (size_t)eval->trials * 8, cells = (size_t)m->grid.cells * 8;
    for (size_t i = 0; i < sizeof real / sizeof real[0]; i++)
        RLAR_TRY(rlar__message_carry(ctx, message, real[i], trials));
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++)
        RLAR_TRY(rlar__message_carry(ctx, message, count[i], cells));
    RLAR_TRY(rlar__message_carry(ctx, message, m->cell_accuracy, cells));
    RLAR_TRY(rlar__message_carry(ctx, message, m->selected, trials));
    for (int64_t i = 0; i < eval->trials; i++)
        RLAR_TRY(rlar__message_carry_text(ctx, message, &m->failure[i]));
    return rlar__message_carry(ctx, message, m->confusion, (size_t)(eval->c * eval->c) * 8);
}

rlar_status rlar__eval_carry(rlar_ctx *ctx, rlar_eval *eval, rlar_message *message) {
    for (int64_t i = 0; i < eval->count; i++)
        RLAR_TRY(carry_method(ctx, eval, &eval->method[i], message));
    return RLAR_OK;
}

/* ---- The summary ---- */

/* Mean of the times of the fits that did not fail; 0 when all failed. */
static double mean_seconds(const rlar_eval_method *m, const double *seconds, int64_t trials) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t t = 0; t < trials; t++)
        if (!isnan(m->accuracy[t])) {
            sum += seconds[t];
            count++;
        }
    return count > 0 ? sum / (double)count : 0;
}

/* The first text is kept: later ones are nearly always the same trouble. */
static void count_failures(const rlar_eval_method *m, int64_t trials, rlar_eval_result *r) {
    for (int64_t t = 0; t < trials; t++)
        if (m->failure[t] != NULL) {
            r->failed++;
            r->failure = r->failure ? r->failure : m->failure[t];
        }
}

void rlar__eval_finish(rlar_eval *eval, int64_t method, rlar_tune tune) {
    rlar_eval_method *m = &eval->method[method];
    rlar_eval_result *r = &m->result;
    const int64_t trials = eval->trials;
    r->size = sizeof *r;
    r->trials = trials;
    r->accuracy = m->accuracy;
    r->balanced = m->balanced;
    r->macro_f1 = m->macro_f1;
    rlar__mean_std(trials, m->accuracy, &r->accuracy_mean, &r->accuracy_std);
    rlar__mean_std(trials, m->balanced, &r->balanced_mean, &r->balanced_std);
    rlar__mean_std(trials, m->macro_f1, &r->macro_f1_mean, &r->macro_f1_std);
    r->confusion = m->confusion;
    r->fit_seconds = mean_seconds(m, m->fit_seconds, trials);
    r->predict_seconds = mean_seconds(m, m->predict_seconds, trials);
    count_failures(m, trials, r);
    r->cells = m->grid.cells;
    r->n_axes = m->grid.n_axes;
    r->axis_names = m->axis_names;
    r->cell_values = m->cell_values;
    if (m->search == NULL) {
        m->cell_accuracy[0] = r->accuracy_mean;
        m->cell_trials[0] = m->cell_whole[0] = trials;
        m->cell_failures[0] = r->failed;
    }
    r->cell_accuracy = m->cell_accuracy;
    r->cell_trials = m->cell_trials;
    r->cell_failures = m->cell_failures;
    r->cell_whole = m->cell_whole;
    r->n_selected = tune == RLAR_TUNE_NONE ? 0 : tune == RLAR_TUNE_ORACLE ? 1 : trials;
    r->selected = m->selected;
}

int64_t rlar_eval_count(const rlar_eval *eval) {
    return eval->count;
}

rlar_status rlar_eval_get(const rlar_eval *eval, int64_t index, rlar_eval_result *out) {
    if (eval == NULL || out == NULL || out->size < sizeof out->size || index < 0 ||
        index >= eval->count)
        return RLAR_E_ARG;
    /* The caller's struct may be older (shorter) or newer (longer) than ours. */
    const size_t size = out->size, known = size < sizeof *out ? size : sizeof *out;
    memset(out, 0, size);
    memcpy(out, &eval->method[index].result, known);
    out->size = size;
    return RLAR_OK;
}
