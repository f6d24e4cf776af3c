/* report_figures.c - the figures of a report, as SVG inside the page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { MOST_FIGURES = 12 }; /* of a kind, in one document */

/* Where the figures of a document go. */
typedef struct gallery {
    const char *file;
    int *number;
    int left; /* of the kind that is being drawn */
} gallery;

/* Copies the text with the number of the figure before each identifier that is defined or used:
 * gnuplot gives the marks of every figure the same ones. */
static void write_svg(cli *c, const char *at, int number) {
    enum { WAYS = 5 };
    static const char *const before[WAYS] = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};
    const char *found[WAYS]; /* the next of each, NULL: there is no more */
    for (int i = 0; i < WAYS; i++)
        found[i] = strstr(at, before[i]);
    while (*at != '\0') {
        const char *next = NULL;
        size_t length = 0;
        for (int i = 0; i < WAYS; i++) {
            if (found[i] != NULL && found[i] < at)
                found[i] = strstr(at, before[i]);
            if (found[i] != NULL && (next == NULL || found[i] < next)) {
                next = found[i];
                length = strlen(before[i]);
            }
        }
        const size_t plain = next != NULL ? (size_t)(next - at) + length : strlen(at);
        cli_write(c, at, plain);
        at += plain;
        if (next != NULL)
            cli_printf(c, "f%d-", number);
    }
}

/* A figure that is wider than the page shrinks to two thirds, then scrolls: its letters stay
 * legible. */
static int write_figure(cli *c, gallery *g, cli_figure *figure, const char *caption) {
    char *bytes = NULL;
    size_t size = 0;
    const int code = cli_figure_draw(c, figure, IMAGE_SVG, &bytes, &size);
    const char *svg = code == 0 ? strstr(bytes, "<svg") : NULL;
    if (svg != NULL) {
        cli_printf(c,
                   "<figure>\n<div class=\"card\" tabindex=\"0\">\n<svg role=\"img\" "
                   "style=\"min-width: %dpx\" aria-label=\"",
                   figure->width * 13 / 20);
        cli_html(c, caption);
        cli_write(c, "\"", 1);
        write_svg(c, svg + 4, ++*g->number);
        cli_printf(c, "</div>\n<figcaption>");
        cli_html(c, caption);
        cli_printf(c, "</figcaption>\n</figure>\n");
    }
    free(bytes);
    return code;
}

typedef int draw_results(cli *c, const cli_results *results, cli_figure *figure);

/* A figure of some of the results; the caption is the start and their common parts. */
static int figure_of(cli *c, gallery *g, draw_results *draw, cli_result *item, int count,
                     const char *start) {
    const cli_results some = {.item = item, .count = count};
    cli_figure figure;
    if (g->left-- <= 0)
        return 0;
    char *common = cli_results_common(&some);
    char *caption = cli_text("%s: %s", start, count == 1 ? item->title : common);
    cli_figure_begin(&figure);
    int code = draw(c, &some, &figure);
    if (code == 0)
        code = write_figure(c, g, &figure, caption);
    cli_figure_free(&figure);
    free(caption);
    free(common);
    return code;
}

/* Only where there are three methods: else there is no critical difference. */
static int figure_ranks(cli *c, gallery *g, const json_t *root) {
    const json_t *comparison = json_object_get(root, "comparison");
    if (!json_is_object(json_object_get(comparison, "nemenyi")))
        return 0;
    cli_figure figure;
    cli_figure_begin(&figure);
    int code = cli_figure_ranks(c, g->file, comparison, &figure);
    if (code == 0)
        code = write_figure(c, g, &figure,
                            "Average ranks. Methods that a bar joins do not differ by Nemenyi's "
                            "test.");
    cli_figure_free(&figure);
    return code;
}

/* A figure that a key of the document is for. */
static int figure_of_key(cli *c, gallery *g, const json_t *root, const char *key,
                         int (*draw)(cli *, const char *, const json_t *, cli_figure *),
                         const char *caption) {
    const json_t *value = json_object_get(root, key);
    if (value == NULL)
        return 0;
    cli_figure figure;
    cli_figure_begin(&figure);
    int code = draw(c, g->file, value, &figure);
    if (code == 0)
        code = write_figure(c, g, &figure, caption);
    cli_figure_free(&figure);
    return code;
}

static double accuracy(const cli_result *result) {
    return cli_result_measure(result, "accuracy", "mean");
}

/* The results on the data set of the first, gathered; their number. */
static int gather(const cli_results *results, int first, cli_result *item) {
    int count = 0;
    for (int i = 0; i < results->count; i++)
        if (strcmp(results->item[i].part[0], results->item[first].part[0]) == 0)
            item[count++] = results->item[i];
    return count;
}

static bool first_of_data(const cli_results *results, int index) {
    for (int i = 0; i < index; i++)
        if (strcmp(results->item[i].part[0], results->item[index].part[0]) == 0)
            return false;
    return true;
}

/* Some method has two sizes at which it did not fail. */
static bool has_sizes(const cli_result *item, int count) {
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(item[i].part[2], item[j].part[2]) == 0 && !isnan(accuracy(&item[i])) &&
                !isnan(accuracy(&item[j])) &&
                fabs(cli_result_size(&item[i]) - cli_result_size(&item[j])) > 0)
                return true;
    return false;
}

/* Per data set: accuracy over the sizes. */
static int figures_sizes(cli *c, gallery *g, const cli_results *results) {
    cli_result *item = cli_alloc((size_t)results->count * sizeof *item);
    int code = 0;
    g->left = MOST_FIGURES;
    for (int i = 0; i < results->count && code == 0; i++) {
        const int count = first_of_data(results, i) ? gather(results, i, item) : 0;
        if (has_sizes(item, count))
            code = figure_of(c, g, cli_figure_sizes, item, count, "Accuracy by training size");
    }
    free(item);
    return code;
}

/* Per data set: the best of the results at the largest training size. */
static int figures_confusion(cli *c, gallery *g, const cli_results *results) {
    cli_result *item = cli_alloc((size_t)results->count * sizeof *item);
    int code = 0;
    g->left = MOST_FIGURES;
    for (int i = 0; i < results->count && code == 0; i++) {
        const int count = first_of_data(results, i) ? gather(results, i, item) : 0;
        cli_result *best = NULL;
        for (int j = 0; j < count; j++) {
            const bool larger = best == NULL || cli_result_size(&item[j]) > cli_result_size(best);
            const bool same = best != NULL && strcmp(item[j].part[1], best->part[1]) == 0;
            if (!isnan(accuracy(&item[j])) &&
                json_is_array(json_object_get(item[j].entry, "confusion")) &&
                (larger || (same && accuracy(&item[j]) > accuracy(best))))
                best = &item[j];
        }
        if (best != NULL && !cli_confusion_shows(best))
            cli_printf(c, "<p class=\"soft\">A confusion matrix of %zu classes is not shown.</p>\n",
                       json_array_size(json_object_get(best->entry, "classes")));
        else if (best != NULL)
            code = figure_of(c, g, cli_figure_confusion, best, 1,
                             "Confusion matrix of the best method");
    }
    free(item);
    return code;
}

/* Per tuned result: its grid, where one or two axes of it vary. */
static int figures_grids(cli *c, gallery *g, const cli_results *results) {
    int code = 0;
    g->left = MOST_FIGURES;
    for (int i = 0; i < results->count && code == 0; i++) {
        cli_result *result = &results->item[i];
        int axes = 0;
        if (json_object_get(result->entry, "grid") == NULL)
            continue;
        code = cli_grid_axes(c, result, &axes);
        if (code == 0 && axes < 0)
            cli_printf(
                c, "<p class=\"soft\">A grid of %zu cells is too large to be shown.</p>\n",
                json_array_size(json_object_get(json_object_get(result->entry, "grid"), "cells")));
        if (code == 0 && axes == 1)
            code = figure_of(c, g, cli_figure_sweep, result, 1, "Accuracy over the grid");
        else if (code == 0 && axes == 2)
            code = figure_of(c, g, cli_figure_heatmap, result, 1, "Accuracy over the grid");
    }
    if (code == 0 && g->left < 0)
        cli_printf(c,
                   "<p class=\"soft\">%d more grids are not shown; rlar plot heatmap draws "
                   "them.</p>\n",
                   -g->left);
    return code;
}

int cli_report_figures(cli *c, const char *file, const json_t *root, const cli_results *results,
                       int *number) {
    gallery g = {.file = file, .number = number};
    char *program = cli_find_program("gnuplot");
    if (program == NULL) {
        cli_printf(c, "<p>There are no figures: gnuplot, which draws them, was not installed when "
                      "this page was made.</p>\n");
        return 0;
    }
    free(program);
    cli_printf(c, "<div class=\"figures\">\n");
    int code = figure_ranks(c, &g, root);
    if (code == 0)
        code = figure_of_key(c, &g, root, "convergence", cli_figure_curves,
                             "The objective over the iterations, first split.");
    if (code == 0)
        code = figure_of_key(c, &g, root, "matrices", cli_figure_matrices,
                             "T, V and S of the first classes, samples in their order.");
    if (code == 0)
        code = figures_sizes(c, &g, results);
    if (code == 0)
        code = figures_grids(c, &g, results);
    if (code == 0)
        code = figures_confusion(c, &g, results);
    cli_printf(c, "</div>\n");
    return code;
}
