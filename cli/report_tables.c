/* report_tables.c - the tables of a report: data, results, comparison, settings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { MOST_PAIRS = 21 }; /* of seven methods: what can be read as one table */

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

/* A number of the file as it stands, or a dash. */
static void number_cell(cli *c, const json_t *value) {
    char *text = json_is_number(value) ? cli_plain(value) : cli_strdup("\xe2\x80\x93", 3);
    cli_html_number(c, text, json_is_number(value) ? json_number_value(value) : NAN, false);
    free(text);
}

static void text_cell(cli *c, const json_t *value) {
    char *text = value != NULL ? cli_plain(value) : cli_strdup("", 0);
    cli_html_cell(c, text);
    free(text);
}

/* A number that was computed, with few digits. */
static void short_cell(cli *c, double value) {
    char text[48];
    snprintf(text, sizeof text, "%.3g", value);
    cli_html_number(c, isnan(value) ? "\xe2\x80\x93" : text, value, false);
}

/* "1.36 ms" */
static void time_cell(cli *c, double seconds) {
    static const char *const unit[] = {"s", "ms", "\xc2\xb5s"};
    char text[48];
    double shown = seconds;
    int step = 0;
    for (; shown < 1 && step < 2; step++)
        shown *= 1000;
    snprintf(text, sizeof text, shown < 100 ? "%.3g %s" : "%.0f %s", shown, unit[step]);
    cli_html_number(c, isnan(seconds) ? "\xe2\x80\x93" : text, seconds, false);
}

static void data_row(cli *c, const json_t *entry) {
    cli_html_row(c);
    text_cell(c, json_object_get(entry, "name"));
    text_cell(c, json_object_get(entry, "file"));
    number_cell(c, json_object_get(entry, "n"));
    number_cell(c, json_object_get(entry, "d"));
    number_cell(c, json_object_get(entry, "classes"));
    cli_html_row_end(c);
}

/* A list, or of tune the only one. */
void cli_report_data(cli *c, const json_t *root) {
    static const char *const column[] = {"data", "file", "samples", "features", "classes"};
    const json_t *list = json_object_get(root, "data");
    if (!json_is_object(list) && json_array_size(list) == 0)
        return;
    cli_html_table(c, "Data sets", column, COUNT(column), 2);
    if (json_is_object(list))
        data_row(c, list);
    for (size_t i = 0; i < json_array_size(list); i++)
        data_row(c, json_array_get(list, i));
    cli_html_table_end(c);
}

/* ---- results ---- */

static double accuracy(const cli_result *result) {
    return cli_result_measure(result, "accuracy", "mean");
}

static bool same_row(const cli_result *a, const cli_result *b) {
    return strcmp(a->part[0], b->part[0]) == 0 && strcmp(a->part[1], b->part[1]) == 0;
}

/* Is it the first with its row, or its method? */
static bool first_row(const cli_results *results, int index) {
    for (int i = 0; i < index; i++)
        if (same_row(&results->item[i], &results->item[index]))
            return false;
    return true;
}

static bool first_method(const cli_results *results, int index) {
    for (int i = 0; i < index; i++)
        if (strcmp(results->item[i].part[2], results->item[index].part[2]) == 0)
            return false;
    return true;
}

/* The result of a method in the row of another one, or NULL. */
static const cli_result *in_row(const cli_results *results, const cli_result *row,
                                const char *method) {
    for (int i = 0; i < results->count; i++)
        if (same_row(&results->item[i], row) && strcmp(results->item[i].part[2], method) == 0)
            return &results->item[i];
    return NULL;
}

static void accuracy_cell(cli *c, const cli_result *result, long best) {
    char text[48];
    if (result == NULL) {
        cli_html_number(c, "\xe2\x80\x93", NAN, false);
        return;
    }
    const double mean = accuracy(result);
    cli_html_number(
        c, cli_spread(mean, cli_result_measure(result, "accuracy", "std"), text, sizeof text), mean,
        cli_shown(mean) >= 0 && cli_shown(mean) == best);
}

/* One row per data set and training size, one column per method. */
void cli_report_accuracy(cli *c, const cli_results *results) {
    const char **column = cli_alloc((size_t)(results->count + 2) * sizeof *column);
    int columns = 2;
    column[0] = "data";
    column[1] = "training";
    for (int i = 0; i < results->count; i++)
        if (first_method(results, i))
            column[columns++] = results->item[i].part[2];
    cli_html_table(
        c,
        "Test accuracy in %, mean \xc2\xb1 standard deviation over the trials; bold: the "
        "largest mean of a row",
        column, columns, 2);
    for (int i = 0; i < results->count; i++) {
        const cli_result *row = &results->item[i];
        long best = -1;
        if (!first_row(results, i))
            continue;
        for (int j = 0; j < results->count; j++)
            if (columns > 3 && same_row(row, &results->item[j]) &&
                cli_shown(accuracy(&results->item[j])) > best)
                best = cli_shown(accuracy(&results->item[j]));
        cli_html_row(c);
        cli_html_cell(c, row->part[0]);
        cli_html_cell(c, row->part[1]);
        for (int j = 2; j < columns; j++)
            accuracy_cell(c, in_row(results, row, column[j]), best);
        cli_html_row_end(c);
    }
    cli_html_table_end(c);
    free(column);
}

static void measure_cell(cli *c, const cli_result *result, const char *measure) {
    char text[48];
    const double mean = cli_result_measure(result, measure, "mean");
    const double std = cli_result_measure(result, measure, "std");
    cli_html_number(c, isnan(mean) ? "\xe2\x80\x93" : cli_spread(mean, std, text, sizeof text),
                    mean, false);
}

static double number_of(const json_t *entry, const char *key) {
    const json_t *value = json_object_get(entry, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

void cli_report_details(cli *c, const cli_results *results) {
    static const char *const column[] = {"data",     "training", "method",  "accuracy", "balanced",
                                         "macro F1", "fit",      "predict", "trials",   "failed"};
    cli_html_table(c,
                   "All results: accuracy, mean recall and mean F1 of the classes in %; mean time "
                   "of a fit and of a prediction; fits that failed",
                   column, COUNT(column), 3);
    for (int i = 0; i < results->count; i++) {
        const cli_result *result = &results->item[i];
        const json_t *trials =
            json_object_get(json_object_get(result->entry, "accuracy"), "trials");
        cli_html_row(c);
        for (int j = 0; j < CLI_RESULT_PARTS; j++)
            cli_html_cell(c, result->part[j]);
        measure_cell(c, result, "accuracy");
        measure_cell(c, result, "balanced_accuracy");
        measure_cell(c, result, "macro_f1");
        time_cell(c, number_of(result->entry, "fit_seconds"));
        time_cell(c, number_of(result->entry, "predict_seconds"));
        short_cell(c, json_is_array(trials) ? (double)json_array_size(trials) : NAN);
        number_cell(c, json_object_get(result->entry, "failed"));
        cli_html_row_end(c);
    }
    cli_html_table_end(c);
}

/* ---- tuning ---- */

bool cli_is_tuning(const cli_results *results) {
    return results->count == 1 && results->item[0].entry == results->item[0].root;
}

static void count_cell(cli *c, const json_t *list) {
    short_cell(c, json_is_array(list) ? (double)json_array_size(list) : NAN);
}

/* Folds in which the fit failed. */
static void failed_cell(cli *c, const json_t *folds) {
    size_t failed = 0;
    for (size_t i = 0; i < json_array_size(folds); i++)
        failed += json_is_null(json_array_get(folds, i));
    short_cell(c, json_is_array(folds) ? (double)failed : NAN);
}

/* Two digits, as the accuracy beside it. */
static void points_cell(cli *c, double value) {
    char text[48];
    snprintf(text, sizeof text, "%.2f", 100 * value);
    cli_html_number(c, isnan(value) ? "\xe2\x80\x93" : text, value, false);
}

void cli_report_tuning(cli *c, const cli_results *results) {
    static const char *const column[] = {"data",     "method",         "chosen cell",
                                         "accuracy", "standard error", "folds tested",
                                         "failed",   "cells",          "as good"};
    const cli_result *result = &results->item[0];
    const json_t *entry = result->entry;
    const json_t *folds = json_object_get(json_object_get(entry, "accuracy"), "trials");
    cli_html_table(c,
                   "Cross-validated accuracy of the chosen cell in %, mean \xc2\xb1 standard "
                   "deviation over the folds. That of the best of many cells is a little too high "
                   "for new samples: rlar evaluate --tune cv measures that honestly. As good: of "
                   "the cells that were tried, those within one standard error of it",
                   column, COUNT(column), 3);
    cli_html_row(c);
    cli_html_cell(c, result->part[0]);
    cli_html_cell(c, result->part[2]);
    text_cell(c, json_object_get(entry, "best"));
    measure_cell(c, result, "accuracy");
    points_cell(c, number_of(entry, "standard_error"));
    count_cell(c, folds);
    failed_cell(c, folds);
    count_cell(c, json_object_get(json_object_get(entry, "grid"), "cells"));
    count_cell(c, json_object_get(entry, "within_one_standard_error"));
    cli_html_row_end(c);
    cli_html_table_end(c);
}

/* ---- comparison ---- */

/* All with the same digits, so that they can be compared at a glance. */
static void rank_cell(cli *c, double rank) {
    char text[48];
    snprintf(text, sizeof text, "%.2f", rank);
    cli_html_number(c, isnan(rank) ? "\xe2\x80\x93" : text, rank, false);
}

static void rank_table(cli *c, const json_t *comparison) {
    static const char *const column[] = {"method", "average rank"};
    const json_t *methods = json_object_get(comparison, "methods");
    const json_t *ranks = json_object_get(comparison, "average_rank");
    cli_html_table(c, "Average ranks; 1 is best", column, COUNT(column), 1);
    for (size_t i = 0; i < json_array_size(methods); i++) {
        cli_html_row(c);
        text_cell(c, json_array_get(methods, i));
        const json_t *rank = json_array_get(ranks, i);
        rank_cell(c, json_is_number(rank) ? json_number_value(rank) : NAN);
        cli_html_row_end(c);
    }
    cli_html_table_end(c);
}

static bool has_method(const json_t *pair, const char *name) {
    const char *a = json_string_value(json_object_get(pair, "a"));
    const char *b = json_string_value(json_object_get(pair, "b"));
    return (a != NULL && strcmp(a, name) == 0) || (b != NULL && strcmp(b, name) == 0);
}

/* The pairs that the method is in, or (not `with`) the others; name NULL: all. What evaluate prints
 * is corrected for the pairs with the first method alone, so that the page says for how many. */
static void pair_table(cli *c, const json_t *pairs, const char *name, bool with) {
    static const char *const column[] = {"a", "b", "a \xe2\x88\x92 b", "p", "p (Holm, all pairs)"};
    const size_t count = json_array_size(pairs);
    char *caption = cli_text("Wilcoxon's signed-rank test of each pair%s%s; the difference of the "
                             "means is in points; Holm's correction for %zu pair%s",
                             name == NULL ? ""
                             : with       ? " with "
                                          : " without ",
                             name == NULL ? "" : name, count, count == 1 ? "" : "s");
    cli_html_table(c, caption, column, COUNT(column), 2);
    free(caption);
    for (size_t i = 0; i < count; i++) {
        const json_t *pair = json_array_get(pairs, i);
        const double difference = 100 * number_of(pair, "difference");
        char text[48];
        if (name != NULL && has_method(pair, name) != with)
            continue;
        snprintf(text, sizeof text, "%+.2f", difference);
        cli_html_row(c);
        text_cell(c, json_object_get(pair, "a"));
        text_cell(c, json_object_get(pair, "b"));
        cli_html_number(c, isnan(difference) ? "\xe2\x80\x93" : text, difference, false);
        short_cell(c, number_of(pair, "p"));
        short_cell(c, number_of(pair, "p_holm"));
        cli_html_row_end(c);
    }
    cli_html_table_end(c);
}

/* Fifteen methods have 105 pairs. Of so many those with rlar are shown, or with the method that
 * stands first, and the others are folded away. */
static void pair_tables(cli *c, const json_t *pairs) {
    const char *name = json_string_value(json_object_get(json_array_get(pairs, 0), "a"));
    const size_t count = json_array_size(pairs);
    size_t shown = 0;
    for (size_t i = 0; i < count; i++)
        if (has_method(json_array_get(pairs, i), "rlar"))
            name = "rlar";
    for (size_t i = 0; i < count && name != NULL; i++)
        shown += has_method(json_array_get(pairs, i), name);
    if (count <= MOST_PAIRS || name == NULL) {
        pair_table(c, pairs, NULL, true);
        return;
    }
    pair_table(c, pairs, name, true);
    cli_printf(c, "<details>\n<summary>The other %zu pairs</summary>\n", count - shown);
    pair_table(c, pairs, name, false);
    cli_printf(c, "</details>\n");
}

/* Does a data set stand there with several training sizes? */
static bool several_sizes(const cli_results *results) {
    for (int i = 1; i < results->count; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(results->item[i].part[0], results->item[j].part[0]) == 0 &&
                strcmp(results->item[i].part[1], results->item[j].part[1]) != 0)
                return true;
    return false;
}

/* "Over 12 data sets and sizes", and what to keep in mind. */
static void write_blocks(cli *c, double blocks, const char *over, const json_t *column,
                         const cli_results *results) {
    const bool trials = strcmp(over, "trials") == 0, sizes = !trials && several_sizes(results);
    cli_printf(c, "<p>Over %.0f ", blocks);
    cli_html(c, over);
    cli_printf(c, "%s", sizes ? " and sizes" : "");
    if (json_is_string(column)) { /* of reproduce, which has several */
        cli_printf(c, ", column ");
        cli_html(c, json_string_value(column));
    }
    cli_printf(c, ".%s%s</p>\n",
               trials  ? " Trials"
               : sizes ? " Sizes of one data set"
                       : "",
               trials || sizes ? " share samples, so that the p values are too small." : "");
}

void cli_report_comparison(cli *c, const json_t *comparison, const cli_results *results) {
    const json_t *over = json_object_get(comparison, "over"),
                 *friedman = json_object_get(comparison, "friedman"),
                 *pairs = json_object_get(comparison, "wilcoxon");
    const double blocks = number_of(comparison, "blocks"), p = number_of(friedman, "p");
    if (!json_is_object(comparison))
        return;
    cli_html_heading(c, 3, "Comparison of the methods");
    if (!isnan(blocks) && json_is_string(over))
        write_blocks(c, blocks, json_string_value(over), json_object_get(comparison, "column"),
                     results);
    if (!isnan(p))
        cli_printf(c, "<p>Friedman's test: statistic %.4g, p = %.3g.</p>\n",
                   number_of(friedman, "statistic"), p);
    if (json_is_array(json_object_get(comparison, "methods")))
        rank_table(c, comparison);
    if (json_is_array(pairs) && json_array_size(pairs) > 0)
        pair_tables(c, pairs);
}

/* ---- settings ---- */

/* "alpha=0.1 beta=1 (7 of 10)", the different choices in the order in which they came. */
static char *selected_text(const json_t *list) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = cli_text_open(&text, &size);
    const size_t count = json_array_size(list);
    for (size_t i = 0; i < count; i++) {
        const json_t *cell = json_array_get(list, i);
        size_t times = 0, before = 0;
        for (size_t j = 0; j < count; j++) {
            const bool equal = json_equal(json_array_get(list, j), cell) != 0;
            times += equal;
            before += equal && j < i;
        }
        if (before > 0)
            continue;
        char *plain = cli_plain(cell);
        fprintf(out, "%s%s (%zu of %zu)", i > 0 ? "; " : "", plain, times, count);
        free(plain);
    }
    cli_text_close(out, &text);
    return text;
}

static void protocol_table(cli *c, json_t *protocol) {
    static const char *const column[] = {"setting", "value"};
    const char *key;
    json_t *value;
    cli_html_table(c, "Protocol", column, COUNT(column), COUNT(column));
    json_object_foreach(protocol, key, value) {
        cli_html_row(c);
        cli_html_cell(c, key);
        text_cell(c, value);
        cli_html_row_end(c);
    }
    cli_html_table_end(c);
}

static void tuned_params(cli *c, const cli_result *result) {
    static const char *const column[] = {"data", "method", "parameters", "simplest cell"};
    cli_html_table(c,
                   "Parameters with those of the chosen cell, and the simplest cell within one "
                   "standard error of it",
                   column, COUNT(column), COUNT(column));
    cli_html_row(c);
    cli_html_cell(c, result->part[0]);
    cli_html_cell(c, result->part[2]);
    text_cell(c, json_object_get(result->entry, "params"));
    text_cell(c, json_object_get(result->entry, "simplest"));
    cli_html_row_end(c);
    cli_html_table_end(c);
}

static void params_table(cli *c, const cli_results *results) {
    static const char *const column[] = {"data", "training", "method", "parameters", "selected"};
    cli_html_table(c, "Parameters, and the cells of the grid that tuning selected", column,
                   COUNT(column), COUNT(column));
    for (int i = 0; i < results->count; i++) {
        const cli_result *result = &results->item[i];
        char *selected = selected_text(json_object_get(result->entry, "selected"));
        cli_html_row(c);
        for (int j = 0; j < CLI_RESULT_PARTS; j++)
            cli_html_cell(c, result->part[j]);
        text_cell(c, json_object_get(result->entry, "params"));
        cli_html_cell(c, selected);
        cli_html_row_end(c);
        free(selected);
    }
    cli_html_table_end(c);
}

void cli_report_settings(cli *c, const json_t *root, const cli_results *results) {
    json_t *protocol = json_object_get(root, "protocol");
    if (json_is_object(protocol))
        protocol_table(c, protocol);
    if (cli_is_tuning(results))
        tuned_params(c, &results->item[0]);
    else if (results->count > 0)
        params_table(c, results);
}
