/* report_reproduction.c - the tables of rlar reproduce: our numbers beside the paper's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* What stands beside the paper's numbers, in this order. */
static const char *const columns_known[] = {"preset", "default", "oracle", "cv"};
enum { KNOWN = sizeof columns_known / sizeof columns_known[0] };

static const char *text_of(const cli_result *result, const char *key) {
    const json_t *value = json_object_get(result->entry, key);
    return json_is_string(value) ? json_string_value(value) : "";
}

bool cli_is_reproduction(const json_t *root) {
    const json_t *kind = json_object_get(root, "kind");
    return json_is_string(kind) && strcmp(json_string_value(kind), "reproduce") == 0;
}

/* The same column of the paper's tables? */
static bool same_place(const cli_result *a, const cli_result *b) {
    return strcmp(text_of(a, "table"), text_of(b, "table")) == 0 &&
           strcmp(a->part[0], b->part[0]) == 0 && strcmp(a->part[1], b->part[1]) == 0;
}

static const cli_result *find(const cli_results *results, const cli_result *place,
                              const char *method, const char *column) {
    for (int i = 0; i < results->count; i++) {
        const cli_result *one = &results->item[i];
        if (same_place(one, place) && strcmp(one->part[2], method) == 0 &&
            strcmp(text_of(one, "column"), column) == 0)
            return one;
    }
    return NULL;
}

/* Is it the first of its place, or the first of its method there? */
static bool is_first(const cli_results *results, int index, bool of_method) {
    const cli_result *one = &results->item[index];
    for (int i = 0; i < index; i++)
        if (same_place(&results->item[i], one) &&
            (!of_method || strcmp(results->item[i].part[2], one->part[2]) == 0))
            return false;
    return true;
}

static double printed(const cli_result *result, const char *key) {
    const json_t *value = json_object_get(json_object_get(result->entry, "paper"), key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* The largest mean of a column of the page, as it is shown. */
static long best_of(const cli_results *results, const cli_result *place, const char *column) {
    long best = -1;
    for (int i = 0; i < results->count; i++) {
        const cli_result *one = &results->item[i];
        if (!same_place(one, place) || strcmp(text_of(one, "column"), column) != 0)
            continue;
        const long mean = cli_shown(cli_result_measure(one, "accuracy", "mean"));
        best = mean > best ? mean : best;
    }
    return best;
}

/* = within the noise of the paper's number, + above it, a minus below it. */
static const char *mark_of(const cli_result *result, double mean) {
    const json_t *within = json_object_get(result->entry, "within");
    if (!json_is_boolean(within))
        return "";
    return json_is_true(within) ? " =" : mean > printed(result, "mean") ? " +" : " \xe2\x88\x92";
}

static void our_cell(cli *c, const cli_result *result, long best) {
    char spread[48], text[64];
    if (result == NULL) {
        cli_html_number(c, "\xe2\x80\x93", NAN, false);
        return;
    }
    const double mean = cli_result_measure(result, "accuracy", "mean");
    cli_spread(mean, cli_result_measure(result, "accuracy", "std"), spread, sizeof spread);
    snprintf(text, sizeof text, "%s%s", spread, mark_of(result, mean));
    cli_html_number(c, text, mean, cli_shown(mean) >= 0 && cli_shown(mean) == best);
}

static void method_row(cli *c, const cli_results *results, const cli_result *first,
                       const bool *wanted, const long *best) {
    char text[48];
    cli_html_row(c);
    cli_html_cell(c, first->part[2]);
    const double mean = printed(first, "mean");
    cli_html_number(c,
                    isnan(mean) ? "\xe2\x80\x93"
                                : cli_spread(mean, printed(first, "std"), text, sizeof text),
                    mean, false);
    for (int k = 0; k < KNOWN; k++)
        if (wanted[k])
            our_cell(c, find(results, first, first->part[2], columns_known[k]), best[k]);
    cli_html_row_end(c);
}

static void place_table(cli *c, const cli_results *results, int index) {
    const cli_result *place = &results->item[index];
    const char *column[2 + KNOWN] = {"method", "paper"};
    bool wanted[KNOWN] = {false};
    long best[KNOWN];
    int columns = 2;
    for (int i = 0; i < results->count; i++)
        for (int k = 0; k < KNOWN; k++)
            wanted[k] =
                wanted[k] || (same_place(&results->item[i], place) &&
                              strcmp(text_of(&results->item[i], "column"), columns_known[k]) == 0);
    for (int k = 0; k < KNOWN; k++) {
        best[k] = best_of(results, place, columns_known[k]);
        if (wanted[k])
            column[columns++] = columns_known[k];
    }
    char *caption = cli_text("%s, %s", place->part[0], place->part[1]);
    cli_html_table(c, caption, column, columns, 1);
    for (int i = index; i < results->count; i++)
        if (same_place(&results->item[i], place) && is_first(results, i, true))
            method_row(c, results, &results->item[i], wanted, best);
    cli_html_table_end(c);
    free(caption);
}

void cli_report_reproduction(cli *c, const cli_results *results) {
    cli_printf(c,
               "<p>Test accuracy in %%, mean \xc2\xb1 standard deviation; bold: the largest mean "
               "of a column. Preset: the paper's parameters and scaling; default: the program's; "
               "oracle: the best cell of the grid by the test samples themselves, an upper bound; "
               "cv: chosen "
               "inside each training set. = within the noise of the paper's number, + above it, "
               "\xe2\x88\x92 below it.</p>\n");
    for (int i = 0; i < results->count; i++) /* results of figures have nothing of the paper's */
        if (is_first(results, i, false) && json_object_get(results->item[i].entry, "paper") != NULL)
            place_table(c, results, i);
}

/* The results of RLAR that were tuned: what the figures and the settings of the page are about. */
cli_results cli_reproduction_chosen(const cli_results *results) {
    cli_results chosen = {.item = cli_alloc((size_t)results->count * sizeof *chosen.item)};
    for (int i = 0; i < results->count; i++)
        if (strcmp(results->item[i].part[2], "rlar") == 0 &&
            json_object_get(results->item[i].entry, "grid") != NULL)
            chosen.item[chosen.count++] = results->item[i];
    return chosen;
}
