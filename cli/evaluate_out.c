/* evaluate_out.c - the outcome of rlar evaluate as a table for people, CSV, LaTeX or JSON.
 *
 * Accuracies are fractions in CSV and JSON, per cent in the tables. Text and LaTeX mark nothing as
 * significant: bold is the largest mean of a row, no more. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* The key and the column title of the training size. */
static const char *size_key(const rlar_eval_spec *spec) {
    static const char *const key[] = {"train_per_class", "train_fraction", "folds"};
    return key[spec->split];
}

static const char *size_title(const rlar_eval_spec *spec) {
    static const char *const title[] = {"per class", "share", "folds"};
    return title[spec->split];
}

/* ---- text ---- */

const char *cli_spread(double mean, double std, char *buf, size_t size) {
    if (isnan(mean))
        return "failed";
    if (isnan(std)) /* a single trial */
        snprintf(buf, size, "%.2f", 100 * mean);
    else
        snprintf(buf, size, "%.2f \xc2\xb1 %.2f", 100 * mean, 100 * std);
    return buf;
}

/* One line per data, size and method; then how the methods compare. */
void cli_outcome_text(cli *c, const cli_outcome *out) {
    char accuracy[48], balanced[48], f1[48];
    cli_table table = {.columns = 7, .right = 0x7a};
    cli_table_add(&table, "data\t%s\tmethod\taccuracy %%\tbalanced %%\tmacro F1 %%\tfit s",
                  size_title(out->spec));
    table.right &= ~4U;
    for (int i = 0; i < out->n_rows; i++) {
        const cli_row *row = &out->row[i];
        const rlar_eval_result *r = &row->result;
        cli_table_add(&table, "%s\t%g\t%s\t%s\t%s\t%s\t%.3g", row->data->name, row->size, r->method,
                      cli_spread(r->accuracy_mean, r->accuracy_std, accuracy, sizeof accuracy),
                      cli_spread(r->balanced_mean, r->balanced_std, balanced, sizeof balanced),
                      cli_spread(r->macro_f1_mean, r->macro_f1_std, f1, sizeof f1), r->fit_seconds);
    }
    cli_table_print(c, &table);
    if (out->comparison != NULL)
        cli_comparison_text(c, out->comparison);
}

/* ---- CSV ---- */

/* Empty cells where there is no number. */
void cli_outcome_csv(cli *c, const cli_outcome *out) {
    char buf[CLI_NUMBER_SIZE];
    cli_printf(c,
               "data,method,%s,trials,failed,accuracy_mean,accuracy_std,balanced_accuracy_mean,"
               "balanced_accuracy_std,macro_f1_mean,macro_f1_std,fit_seconds,predict_seconds\n",
               size_key(out->spec));
    for (int i = 0; i < out->n_rows; i++) {
        const rlar_eval_result *r = &out->row[i].result;
        const double value[] = {r->accuracy_mean, r->accuracy_std,   r->balanced_mean,
                                r->balanced_std,  r->macro_f1_mean,  r->macro_f1_std,
                                r->fit_seconds,   r->predict_seconds};
        cli_csv(c, out->row[i].data->name);
        cli_printf(c, ",%s,%s,%lld,%lld", r->method, cli_number(out->row[i].size, buf),
                   (long long)r->trials, (long long)r->failed);
        for (size_t j = 0; j < sizeof value / sizeof value[0]; j++)
            cli_printf(c, ",%s", isnan(value[j]) ? "" : cli_number(value[j], buf));
        cli_write(c, "\n", 1);
    }
}

/* ---- LaTeX ---- */

static void latex_text(cli *c, const char *text) {
    for (; *text != '\0'; text++) {
        if (strchr("_%&#${}", *text) != NULL)
            cli_printf(c, "\\%c", *text);
        else if (*text == '\\' || *text == '~' || *text == '^')
            cli_printf(c, "\\char`\\%c{}", *text);
        else
            cli_write(c, text, 1);
    }
}

long cli_shown(double mean) {
    return isnan(mean) ? -1 : lround(1e4 * mean);
}

static void latex_cell(cli *c, const rlar_eval_result *r, long best) {
    if (isnan(r->accuracy_mean)) {
        cli_printf(c, " & --");
        return;
    }
    const bool bold = cli_shown(r->accuracy_mean) == best;
    cli_printf(c, " & %s%.2f%s", bold ? "\\textbf{" : "", 100 * r->accuracy_mean, bold ? "}" : "");
    if (!isnan(r->accuracy_std))
        cli_printf(c, " $\\pm$ %.2f", 100 * r->accuracy_std);
}

/* A line per data and size, a column per method; last the average ranks. */
void cli_outcome_latex(cli *c, const cli_outcome *out) {
    cli_printf(
        c, "%% needs \\usepackage{booktabs}\n\\begin{tabular}{lr*{%d}{c}}\n\\toprule\nData & %s",
        out->n_methods, size_title(out->spec));
    for (int m = 0; m < out->n_methods && m < out->n_rows; m++) {
        cli_printf(c, " & ");
        latex_text(c, out->row[m].result.method);
    }
    cli_printf(c, " \\\\\n\\midrule\n");
    for (int i = 0; i < out->n_rows; i += out->n_methods) {
        long best = -1;
        for (int m = 0; m < out->n_methods; m++) {
            const long value = cli_shown(out->row[i + m].result.accuracy_mean);
            best = value > best ? value : best;
        }
        latex_text(c, out->row[i].data->name);
        cli_printf(c, " & %g", out->row[i].size);
        for (int m = 0; m < out->n_methods; m++)
            latex_cell(c, &out->row[i + m].result, best);
        cli_printf(c, " \\\\\n");
    }
    if (out->comparison != NULL) {
        cli_printf(c, "\\midrule\naverage rank &");
        for (int m = 0; m < out->n_methods; m++)
            cli_printf(c, " & %.2f", out->comparison->rank[m]);
        cli_printf(c, " \\\\\n");
    }
    cli_printf(c, "\\bottomrule\n\\end{tabular}\n");
}

/* ---- JSON ---- */

/* Mean and deviation are over the trials that did not fail; failed ones are null in the list. */
json_t *cli_json_measure(double mean, double std, const double *trials, int64_t count) {
    json_t *object = json_object(), *list = json_array();
    for (int64_t i = 0; i < count; i++)
        json_array_append_new(list, cli_json_number(trials[i]));
    cli_json_set(object, "mean", cli_json_number(mean));
    cli_json_set(object, "std", cli_json_number(std));
    cli_json_set(object, "trials", list);
    return object;
}

/* The values of a cell put into an object. */
void cli_json_cell(json_t *object, const rlar_eval_result *r, int64_t cell) {
    for (int64_t j = 0; j < r->n_axes; j++)
        cli_json_set(object, r->axis_names[j],
                     cli_json_value(r->cell_values[cell * r->n_axes + j]));
}

/* cv: a cell per trial; oracle: one; none: an empty list. */
static json_t *json_selected(const rlar_eval_result *r) {
    json_t *list = json_array();
    for (int64_t i = 0; i < r->n_selected; i++) {
        json_t *entry = json_object();
        if (r->selected[i] >= 0)
            cli_json_cell(entry, r, r->selected[i]);
        json_array_append_new(list, entry);
    }
    return list;
}

/* Where it was not tried in every trial, or given up there, in how many it was tried to the end. */
json_t *cli_json_tried(const rlar_eval_result *r, int64_t cell) {
    json_t *object = json_object();
    cli_json_cell(object, r, cell);
    cli_json_set(object, "accuracy", cli_json_number(r->cell_accuracy[cell]));
    if (r->cell_whole[cell] < r->trials)
        cli_json_set(object, "trials", json_integer(r->cell_whole[cell]));
    return object;
}

/* All values of an axis in the order given, also those that no cell was tried with. */
static json_t *json_axis(const rlar_eval_result *r, int64_t axis) {
    json_t *list = json_array();
    for (int64_t i = 0; i < r->cells; i++) {
        json_t *value = cli_json_value(r->cell_values[i * r->n_axes + axis]);
        bool known = false;
        for (size_t k = json_array_size(list); k > 0 && !known; k--)
            known = json_equal(json_array_get(list, k - 1), value) != 0;
        if (!known)
            json_array_append(list, value);
        json_decref(value);
    }
    return list;
}

/* The axes, their values, and every cell that was tried, for heat maps. */
json_t *cli_json_grid(const rlar_eval_result *r) {
    json_t *grid = json_object(), *axes = json_array(), *values = json_array();
    json_t *cells = json_array();
    for (int64_t j = 0; j < r->n_axes; j++) {
        json_array_append_new(axes, cli_json_text(r->axis_names[j]));
        json_array_append_new(values, json_axis(r, j));
    }
    for (int64_t i = 0; i < r->cells; i++) {
        if (r->cell_trials[i] == 0)
            continue;
        json_array_append_new(cells, cli_json_tried(r, i));
    }
    cli_json_set(grid, "axes", axes);
    cli_json_set(grid, "values", values);
    cli_json_set(grid, "cells", cells);
    return grid;
}

/* Rows are true classes, columns predicted ones. */
static json_t *json_confusion(const rlar_eval_result *r, int64_t classes) {
    json_t *matrix = json_array();
    for (int64_t i = 0; i < classes; i++) {
        json_t *line = json_array();
        for (int64_t j = 0; j < classes; j++)
            json_array_append_new(line, json_integer(r->confusion[i * classes + j]));
        json_array_append_new(matrix, line);
    }
    return matrix;
}

static json_t *json_classes(const rlar_data *data) {
    json_t *list = json_array();
    for (int64_t i = 0; i < rlar_data_classes(data); i++)
        json_array_append_new(list, cli_json_text(rlar_data_class(data, i)));
    return list;
}

/* With oracle tuning the parameters are those of the best cell, the same for all trials. */
json_t *cli_result_json(const rlar_eval_result *r, const rlar_params *used, rlar_tune tune) {
    json_t *entry = json_object(), *params = cli_json_params(used);
    if (tune == RLAR_TUNE_ORACLE && r->n_selected > 0 && r->selected[0] >= 0)
        cli_json_cell(params, r, r->selected[0]);
    cli_json_set(entry, "method", cli_json_text(r->method));
    cli_json_set(entry, "params", params);
    cli_json_set(entry, "accuracy",
                 cli_json_measure(r->accuracy_mean, r->accuracy_std, r->accuracy, r->trials));
    cli_json_set(entry, "balanced_accuracy",
                 cli_json_measure(r->balanced_mean, r->balanced_std, r->balanced, r->trials));
    cli_json_set(entry, "macro_f1",
                 cli_json_measure(r->macro_f1_mean, r->macro_f1_std, r->macro_f1, r->trials));
    cli_json_set(entry, "fit_seconds", cli_json_number(r->fit_seconds));
    cli_json_set(entry, "predict_seconds", cli_json_number(r->predict_seconds));
    cli_json_set(entry, "failed", json_integer(r->failed));
    cli_json_set(entry, "selected", json_selected(r));
    if (tune != RLAR_TUNE_NONE)
        cli_json_set(entry, "grid", cli_json_grid(r));
    return entry;
}

static json_t *json_row(const cli_row *row, const rlar_eval_spec *spec) {
    const rlar_eval_result *r = &row->result;
    json_t *entry = cli_result_json(r, row->params, spec->tune);
    cli_json_set(entry, "data", cli_json_text(row->data->name));
    cli_json_set(entry, size_key(spec),
                 spec->split == RLAR_SPLIT_FRACTION ? cli_json_number(row->size)
                                                    : json_integer((json_int_t)row->size));
    cli_json_set(entry, "classes", json_classes(row->data->data));
    cli_json_set(entry, "confusion", json_confusion(r, rlar_data_classes(row->data->data)));
    return entry;
}

static json_t *json_protocol(const rlar_eval_spec *spec) {
    static const char *const tune[] = {"none", "cv", "oracle"};
    json_t *protocol = json_object();
    cli_json_set(protocol, "trials", json_integer(spec->trials));
    cli_json_set(protocol, "seed", json_integer((json_int_t)spec->seed));
    cli_json_set(protocol, "scale", cli_json_text(spec->scale));
    cli_json_set(protocol, "classifier", cli_json_text(spec->classifier));
    if (spec->neighbours > 0)
        cli_json_set(protocol, "neighbors", json_integer(spec->neighbours));
    cli_json_set(protocol, "tune", cli_json_text(tune[spec->tune]));
    if (spec->tune_folds > 0)
        cli_json_set(protocol, "tune_folds", json_integer(spec->tune_folds));
    if (spec->tune != RLAR_TUNE_NONE)
        cli_json_set(protocol, "coarse", json_boolean(spec->coarse));
    return protocol;
}

json_t *cli_json_data(const cli_data *data) {
    json_t *entry = json_object();
    cli_json_set(entry, "name", cli_json_text(data->name));
    cli_json_set(entry, "file", cli_json_text(data->file));
    cli_json_set(entry, "n", json_integer(rlar_data_samples(data->data)));
    cli_json_set(entry, "d", json_integer(rlar_data_dims(data->data)));
    cli_json_set(entry, "classes", json_integer(rlar_data_classes(data->data)));
    return entry;
}

json_t *cli_json_blas(cli *c) {
    rlar_blas_info blas = RLAR_INIT(rlar_blas_info);
    if (rlar_blas_describe(c->ctx, &blas) < 0)
        return json_null();
    const char *slash = strrchr(blas.library, '/');
    json_t *object = json_object();
    /* without the folder, which is the machine's own affair */
    cli_json_set(object, "library", cli_json_text(slash != NULL ? slash + 1 : blas.library));
    cli_json_set(object, "config", cli_json_text(blas.config));
    cli_json_set(object, "kernel", cli_json_text(blas.kernel));
    return object;
}

json_t *cli_outcome_json(cli *c, const cli_outcome *out) {
    json_t *root = json_object(), *sets = json_array(), *results = json_array();
    for (int i = 0; i < out->n_data; i++)
        json_array_append_new(sets, cli_json_data(&out->data[i]));
    for (int i = 0; i < out->n_rows; i++)
        json_array_append_new(results, json_row(&out->row[i], out->spec));
    cli_json_set(root, "rlar", cli_json_text(rlar_version()));
    cli_json_set(root, "blas", cli_json_blas(c));
    cli_json_set(root, "data", sets);
    cli_json_set(root, "protocol", json_protocol(out->spec));
    cli_json_set(root, "results", results);
    if (out->comparison != NULL)
        cli_json_set(root, "comparison", cli_comparison_json(out->comparison));
    return root;
}
