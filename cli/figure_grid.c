/* figure_grid.c - the grid of a tuned method as a heat map (two axes vary) or as curves (one).
 *
 * A grid is {"axes": [name, ...], "cells": [{name: value, ..., "accuracy": share or null}, ...]}.
 * Values are numbers, which are put in order, or words, which keep theirs. A cell with "trials" was
 * not tried to the end in all of them: a search from coarse to fine gives up cells that cannot win.
 * Its colour tells about how good it is, but its number could not be compared with others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"

enum { MOST_TEXTS = 12, MOST_CURVES = 20 };
/* More than anybody sees; every cell is looked for among the values of each axis. */
enum { MOST_VALUES = 1000, MOST_CELLS = 100000 };
static const char MANY_VALUES[] =
    "an axis of \"grid\" has more than 1000 values, which no figure shows";
static const char MANY_CELLS[] = "\"grid\" has more than 100000 cells, which no figure shows";
/* Equal accuracies may differ by rounding. */
static const double SAME_PERCENT = 1e-10;

typedef struct axis {
    const char *name;
    json_t **value; /* borrowed, each once */
    int count;
    bool numbers;
} axis;

typedef struct grid {
    axis *axis; /* those that vary */
    int n_axes;
    json_t *cells;
    double best; /* accuracy, NaN: no cell has any */
} grid;

/* ---- reading ---- */

static int axis_index(const axis *a, const json_t *value) {
    for (int i = 0; i < a->count; i++)
        if (json_equal(a->value[i], value))
            return i;
    return -1;
}

static int compare_numbers(const void *a, const void *b) {
    const double x = json_number_value(*(json_t *const *)a);
    const double y = json_number_value(*(json_t *const *)b);
    return (x > y) - (x < y);
}

/* The different values of one axis over all cells: all numbers, or all words. Returns what is wrong
 * with them, or NULL. */
static const char *read_axis(const char *name, const json_t *cells, axis *out) {
    const size_t count = json_array_size(cells);
    *out = (axis){.name = name};
    out->value = cli_alloc(count * sizeof *out->value);
    for (size_t i = 0; i < count; i++) {
        json_t *value = json_object_get(json_array_get(cells, i), name);
        if (!json_is_number(value) && !json_is_string(value))
            return "a cell of \"grid\" lacks a value of an axis";
        if (i > 0 && out->numbers != json_is_number(value))
            return "an axis of \"grid\" has numbers and words";
        out->numbers = json_is_number(value);
        if (axis_index(out, value) < 0)
            out->value[out->count++] = value;
        if (out->count > MOST_VALUES)
            return MANY_VALUES;
    }
    if (out->numbers)
        qsort(out->value, (size_t)out->count, sizeof *out->value, compare_numbers);
    return NULL;
}

static void grid_free(grid *g) {
    for (int i = 0; i < g->n_axes; i++)
        free(g->axis[i].value);
    free(g->axis);
    *g = (grid){0};
}

static double accuracy(const json_t *cell) {
    const json_t *value = json_object_get(cell, "accuracy");
    return json_is_number(value) ? 100 * json_number_value(value) : NAN;
}

/* Returns what is wrong with it, or NULL. */
static const char *read_grid(const cli_result *result, grid *g) {
    const json_t *object = json_object_get(result->entry, "grid");
    const json_t *axes = json_object_get(object, "axes");
    *g = (grid){.cells = json_object_get(object, "cells"), .best = NAN};
    if (!json_is_array(axes) || !json_is_array(g->cells) || json_array_size(g->cells) == 0)
        return "\"grid\" has no lists \"axes\" and \"cells\"";
    if (json_array_size(g->cells) > MOST_CELLS)
        return MANY_CELLS;
    g->axis = cli_alloc(json_array_size(axes) * sizeof *g->axis);
    for (size_t i = 0; i < json_array_size(axes); i++) {
        const char *name = json_string_value(json_array_get(axes, i));
        const char *wrong = name ? read_axis(name, g->cells, &g->axis[g->n_axes])
                                 : "an axis of \"grid\" has no name";
        g->n_axes += name != NULL;
        if (wrong) {
            grid_free(g);
            return wrong;
        }
        if (g->axis[g->n_axes - 1].count < 2)
            free(g->axis[--g->n_axes].value);
    }
    for (size_t i = 0; i < json_array_size(g->cells); i++)
        g->best = fmax(g->best, accuracy(json_array_get(g->cells, i)));
    return NULL;
}

int cli_grid_axes(cli *c, const cli_result *result, int *axes) {
    grid g;
    const char *wrong = read_grid(result, &g);
    *axes = -1;
    if (wrong)
        return wrong == MANY_VALUES || wrong == MANY_CELLS ? 0 : cli_result_bad(c, result, wrong);
    *axes = isnan(g.best) ? 0 : g.n_axes;
    grid_free(&g);
    return 0;
}

/* Which figure would do? */
static int wrong_axes(cli *c, const cli_result *result, grid *g, int expected) {
    char text[256], names[128] = "";
    size_t used = 0;
    for (int i = 0; i < g->n_axes && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 g->axis[i].name);
    snprintf(text, sizeof text, "%d %s of the grid %s more than one value%s%s; %s", g->n_axes,
             g->n_axes == 1 ? "axis" : "axes", g->n_axes == 1 ? "has" : "have",
             g->n_axes > 0 ? ": " : "", names,
             g->n_axes == 1   ? "'rlar plot ksweep' draws one"
             : g->n_axes == 2 ? "'rlar plot heatmap' draws two"
             : expected == 1  ? "one is drawn: give the others one value with --grid"
                              : "two are drawn: give the others one value with --grid");
    grid_free(g);
    return cli_result_bad(c, result, text);
}

static int read_axes(cli *c, const cli_result *result, int expected, grid *g) {
    const char *wrong = read_grid(result, g);
    if (wrong)
        return cli_result_bad(c, result, wrong);
    if (g->n_axes != expected)
        return wrong_axes(c, result, g, expected);
    if (!isnan(g->best))
        return 0;
    grid_free(g);
    return cli_result_bad(c, result, "no cell of \"grid\" has an accuracy");
}

/* Cross-validation measures inside the training sets, an oracle on the test sets. */
static const char *measure(const cli_result *result) {
    const char *tune =
        json_string_value(json_object_get(json_object_get(result->root, "protocol"), "tune"));
    if (tune == NULL) /* a result of reproduce */
        tune = json_string_value(json_object_get(result->entry, "column"));
    if (tune != NULL && strcmp(tune, "oracle") == 0)
        return "test accuracy (%)";
    return "validation accuracy (%)";
}

static bool is_part(const json_t *cell) {
    return json_object_get(cell, "trials") != NULL;
}

static char *value_text(const json_t *value) {
    char buf[CLI_NUMBER_SIZE];
    const char *text = json_is_string(value) ? json_string_value(value)
                                             : cli_number(json_number_value(value), buf);
    return cli_strdup(text, strlen(text));
}

static char **axis_texts(const axis *a) {
    char **text = cli_alloc((size_t)a->count * sizeof *text);
    for (int i = 0; i < a->count; i++)
        text[i] = value_text(a->value[i]);
    return text;
}

/* ---- heat map ---- */

static int place_of(const grid *g, const json_t *cell) {
    const int x = axis_index(&g->axis[0], json_object_get(cell, g->axis[0].name));
    const int y = axis_index(&g->axis[1], json_object_get(cell, g->axis[1].name));
    return x < 0 || y < 0 ? -1 : y * g->axis[0].count + x;
}

/* The cell that was chosen, where one was for all trials; else that of the best mean, first among
 * those that have all trials, ties by the larger values: as the choice itself goes. */
static int best_cell(const cli_result *result, const grid *g, const cli_cells *cells) {
    const json_t *selected = json_object_get(result->entry, "selected");
    const int chosen =
        json_array_size(selected) == 1 ? place_of(g, json_array_get(selected, 0)) : -1;
    if (chosen >= 0 && !isnan(cells->value[chosen]))
        return chosen;
    int best = -1;
    for (int whole = 1; whole >= 0 && best < 0; whole--)
        for (size_t i = 0; i < json_array_size(g->cells); i++) {
            const json_t *cell = json_array_get(g->cells, i);
            const int at = place_of(g, cell);
            if (isnan(accuracy(cell)) || (whole && is_part(cell)))
                continue;
            const double gain = best < 0 ? 1 : cells->value[at] - cells->value[best];
            const int right = best < 0 ? 0 : at % cells->columns - best % cells->columns;
            if (gain > SAME_PERCENT ||
                (gain >= -SAME_PERCENT && (right > 0 || (right == 0 && at > best))))
                best = at;
        }
    return best;
}

/* A cell that is there twice counts once, with its last accuracy. */
static void fill_values(const grid *g, cli_cells *out) {
    const size_t count = (size_t)out->columns * (size_t)out->rows;
    out->value = cli_alloc(count * sizeof *out->value);
    for (size_t i = 0; i < count; i++)
        out->value[i] = NAN;
    for (size_t i = 0; i < json_array_size(g->cells); i++) {
        const json_t *cell = json_array_get(g->cells, i);
        out->value[place_of(g, cell)] = accuracy(cell);
    }
    out->low = INFINITY;
    out->high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (isnan(out->value[i]))
            continue;
        out->low = fmin(out->low, out->value[i]);
        out->high = fmax(out->high, out->value[i]);
    }
    if (out->high - out->low < 1) { /* a flat grid is shown as flat */
        const double half = fmax(0.5, 0.01 * fabs(out->high));
        out->low -= half;
        out->high += half;
    }
}

static void fill_texts(const grid *g, cli_cells *out) {
    const int count = out->columns * out->rows;
    if (out->columns > MOST_TEXTS || out->rows > MOST_TEXTS)
        return;
    out->text = cli_alloc((size_t)count * sizeof *out->text);
    for (int i = 0; i < count; i++)
        out->text[i] = cli_text("%.1f", out->value[i]);
    for (size_t i = 0; i < json_array_size(g->cells); i++) {
        const json_t *cell = json_array_get(g->cells, i);
        if (!is_part(cell) || isnan(accuracy(cell)))
            continue;
        out->text[place_of(g, cell)][0] = '\0';
        out->untold = "no number: not all trials";
    }
}

static int heatmap_panel(cli *c, const cli_result *result, cli_cells *out) {
    grid g;
    *out = (cli_cells){.best = -1};
    const int code = read_axes(c, result, 2, &g);
    if (code != 0)
        return code;
    out->columns = g.axis[0].count;
    out->rows = g.axis[1].count;
    out->column = axis_texts(&g.axis[0]);
    out->row_name = axis_texts(&g.axis[1]);
    out->x = g.axis[0].name;
    out->y = g.axis[1].name;
    out->title = result->title;
    out->measure = measure(result);
    fill_values(&g, out);
    out->best = best_cell(result, &g, out);
    fill_texts(&g, out);
    grid_free(&g);
    return 0;
}

int cli_figure_heatmap(cli *c, const cli_results *results, cli_figure *figure) {
    return cli_figure_panels(c, results, heatmap_panel, figure);
}

/* ---- sweep ---- */

static void write_curve(const cli_figure *figure, const grid *g, int index) {
    const axis *a = &g->axis[0];
    fprintf(figure->script, "$curve%d << END\n", index);
    for (int i = 0; i < a->count; i++)
        for (size_t j = 0; j < json_array_size(g->cells); j++) {
            const json_t *cell = json_array_get(g->cells, j);
            if (!json_equal(json_object_get(cell, a->name), a->value[i]) || isnan(accuracy(cell)))
                continue;
            fprintf(figure->script, "%.10g %.10g\n",
                    a->numbers ? json_number_value(a->value[i]) : (double)i, accuracy(cell));
        }
    fputs("END\n", figure->script);
}

/* Words stand side by side in the order of the first result; numbers over a wide range, as 0.001 to
 * 10, need a logarithmic axis. */
static void write_sweep_axis(cli_figure *figure, const grid *first, double low, double high) {
    const axis *a = &first->axis[0];
    fputs("set xlabel ", figure->script);
    cli_quote(figure, a->name, 60);
    fputc('\n', figure->script);
    if (a->numbers && low > 0 && high / low >= 50)
        fputs("set logscale x\nset format x '%g'\n", figure->script);
    if (a->numbers)
        return;
    size_t letters = 0;
    for (int i = 0; i < a->count; i++)
        letters += strlen(json_string_value(a->value[i])) + 2;
    const bool turn = letters > 45; /* they would run into each other */
    figure->height += turn ? 80 : 0;
    fprintf(figure->script, "set xrange [-0.5:%d.5]\nset xtics %s (", a->count - 1,
            turn ? "rotate by 30 right" : "norotate");
    for (int i = 0; i < a->count; i++) {
        fputs(i > 0 ? ", " : "", figure->script);
        cli_quote_tic(figure, json_string_value(a->value[i]), 20);
        fprintf(figure->script, " %d", i);
    }
    fputs(")\n", figure->script);
}

/* All results sweep the same axis, with the same words where it has words. */
static bool same_axis(const grid *first, const grid *other) {
    const axis *a = &first->axis[0], *b = &other->axis[0];
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): its grid was read */
    if (strcmp(a->name, b->name) != 0 || a->numbers != b->numbers)
        return false;
    for (int i = 0; i < b->count && !a->numbers; i++)
        if (axis_index(a, b->value[i]) != i)
            return false;
    return true;
}

static void draw_sweep(cli_figure *figure, const cli_results *results, const grid *g) {
    double low = INFINITY, high = -INFINITY;
    char *common = cli_results_common(results);
    for (int i = 0; i < results->count; i++) {
        const axis *a = &g[i].axis[0];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the same */
        low = fmin(low, json_number_value(a->value[0]));
        high = fmax(high, json_number_value(a->value[a->count - 1]));
        write_curve(figure, &g[i], i);
    }
    write_sweep_axis(figure, &g[0], low, high);
    fputs("set title ", figure->script);
    cli_quote(figure, common, 60);
    fprintf(figure->script,
            "\nset ylabel '%s'\nset key below width 2\nset offsets graph 0.03, graph 0.03, "
            "graph 0.06, graph 0.06\nplot ",
            measure(&results->item[0]));
    for (int i = 0; i < results->count; i++) {
        char *label = cli_result_label(results, i);
        fprintf(figure->script, "%s$curve%d with linespoints lw 1.5 ps 0.9", i > 0 ? ", " : "", i);
        cli_line_style(figure, i);
        fputs(" title ", figure->script);
        cli_quote(figure, label, 40);
        free(label);
    }
    fputc('\n', figure->script);
    free(common);
}

int cli_figure_sweep(cli *c, const cli_results *results, cli_figure *figure) {
    if (results->count > MOST_CURVES)
        return cli_usage(c, "%d results are more than %d curves; choose with --method and --data",
                         results->count, MOST_CURVES);
    grid *g = cli_alloc((size_t)results->count * sizeof *g);
    int count = 0, code = 0;
    for (int i = 0; i < results->count && code == 0; i++) {
        code = read_axes(c, &results->item[i], 1, &g[i]);
        count += code == 0;
        if (code == 0 && !same_axis(&g[0], &g[i]))
            code = cli_result_bad(c, &results->item[i],
                                  "its grid varies other values than that of the first result; "
                                  "choose with --method and --data");
    }
    figure->height = 360 + 20 * results->count / 2;
    if (code == 0)
        draw_sweep(figure, results, g);
    for (int i = 0; i < count; i++)
        grid_free(&g[i]);
    free(g);
    return code;
}
