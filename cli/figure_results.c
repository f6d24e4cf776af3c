/* figure_results.c - what the results of evaluate say of classes (confusion) and of training sizes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"

enum { MOST_COUNTS = 15, MOST_CURVES = 20, MOST_CLASSES = 1000 };

/* ---- confusion ---- */

/* c x c counts in the order of the c classes. */
static bool confusion_good(const json_t *classes, const json_t *matrix) {
    const size_t count = json_array_size(classes);
    if (count < 1 || json_array_size(matrix) != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *line = json_array_get(matrix, i);
        if (!json_is_string(json_array_get(classes, i)) || json_array_size(line) != count)
            return false;
        for (size_t j = 0; j < count; j++)
            if (!json_is_number(json_array_get(line, j)) ||
                json_number_value(json_array_get(line, j)) < 0)
                return false;
    }
    return true;
}

/* Each row in per cent of its sum; a class that was never tested has none. */
static void confusion_row(const json_t *line, int row, cli_cells *out) {
    double sum = 0;
    for (int j = 0; j < out->columns; j++)
        sum += json_number_value(json_array_get(line, (size_t)j));
    for (int j = 0; j < out->columns; j++) {
        const double count = json_number_value(json_array_get(line, (size_t)j));
        const int at = row * out->columns + j;
        out->value[at] = sum > 0 ? 100 * count / sum : NAN;
        if (out->text != NULL)
            out->text[at] = cli_text("%.0f", count);
    }
}

static char **class_names(const json_t *classes) {
    const size_t count = json_array_size(classes);
    char **name = cli_alloc(count * sizeof *name);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(classes, i));
        name[i] = cli_strdup(text, strlen(text));
    }
    return name;
}

bool cli_confusion_shows(const cli_result *result) {
    return json_array_size(json_object_get(result->entry, "classes")) <= MOST_CLASSES;
}

static int confusion_panel(cli *c, const cli_result *result, cli_cells *out) {
    const json_t *classes = json_object_get(result->entry, "classes");
    const json_t *matrix = json_object_get(result->entry, "confusion");
    *out = (cli_cells){.best = -1, .downwards = true, .high = 100};
    if (!confusion_good(classes, matrix))
        return cli_result_bad(c, result,
                              "\"confusion\" is not a matrix of counts, with a row and "
                              "a column for each of \"classes\"");
    if (!cli_confusion_shows(result))
        return cli_result_bad(c, result, "too many classes to draw; the limit is 1000");
    out->columns = out->rows = (int)json_array_size(classes);
    const size_t count = (size_t)out->rows * (size_t)out->columns;
    out->value = cli_alloc(count * sizeof *out->value);
    if (out->rows <= MOST_COUNTS)
        out->text = cli_alloc(count * sizeof *out->text);
    out->column = class_names(classes);
    out->row_name = class_names(classes);
    out->title = result->title;
    out->x = "predicted class";
    out->y = "true class";
    out->measure = "share of the true class (%)";
    for (int i = 0; i < out->rows; i++)
        confusion_row(json_array_get(matrix, (size_t)i), i, out);
    return 0;
}

int cli_figure_confusion(cli *c, const cli_results *results, cli_figure *figure) {
    return cli_figure_panels(c, results, confusion_panel, figure);
}

/* ---- training sizes ---- */

double cli_result_size(const cli_result *result) {
    const json_t *each = json_object_get(result->entry, "train_per_class");
    const json_t *share = json_object_get(result->entry, "train_fraction");
    if (json_is_number(each))
        return json_number_value(each);
    return json_is_number(share) ? 100 * json_number_value(share) : NAN;
}

static bool same_curve(const cli_result *a, const cli_result *b) {
    return strcmp(a->part[0], b->part[0]) == 0 && strcmp(a->part[2], b->part[2]) == 0;
}

/* The first result of each curve; the number of curves. */
static int find_curves(const cli_results *results, int *first) {
    int count = 0;
    for (int i = 0; i < results->count; i++) {
        bool known = false;
        for (int j = 0; j < count && !known; j++)
            known = same_curve(&results->item[first[j]], &results->item[i]);
        if (!known)
            first[count++] = i;
    }
    return count;
}

/* A block of "size mean std"; a single trial has no deviation. The number of points. */
static int write_sizes(const cli_figure *figure, const cli_results *results, int first, int index) {
    int count = 0;
    fprintf(figure->script, "$curve%d << END\n", index);
    for (int i = first; i < results->count; i++) {
        const cli_result *result = &results->item[i];
        const double size = cli_result_size(result);
        const double mean = 100 * cli_result_measure(result, "accuracy", "mean");
        if (!same_curve(&results->item[first], result) || isnan(size) || isnan(mean))
            continue;
        const double deviation = 100 * cli_result_measure(result, "accuracy", "std");
        fprintf(figure->script, "%.10g %.10g %.10g\n", size, mean,
                isnan(deviation) ? 0 : deviation);
        count++;
    }
    fputs("END\n", figure->script);
    return count;
}

/* A step to the side for each curve keeps their bars apart: all of them together take a twentieth
 * of the range of sizes. */
static double step_aside(const cli_results *results, int curves) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < results->count; i++) {
        low = fmin(low, cli_result_size(&results->item[i]));
        high = fmax(high, cli_result_size(&results->item[i]));
    }
    return 0.05 * (high - low) / curves;
}

static void plot_sizes(const cli_figure *figure, const cli_results *results, const int *first,
                       const int *points, int curves) {
    FILE *out = figure->script;
    const double apart = step_aside(results, curves);
    int drawn = 0;
    bool one = true;
    for (int i = 1; i < curves; i++)
        one = one && strcmp(results->item[first[i]].part[0], results->item[0].part[0]) == 0;
    if (one) {
        fputs("set title ", out);
        cli_quote(figure, results->item[0].part[0], 60);
        fputc('\n', out);
    }
    const bool share = json_object_get(results->item[0].entry, "train_fraction") != NULL;
    fprintf(
        out,
        "set xlabel 'training %s'\nset ylabel 'test accuracy (%%), mean and std'\n"
        "set key below width 2\nset offsets graph 0.04, graph 0.04, graph 0.03, graph 0.03\nplot ",
        share ? "share (%)" : "samples per class");
    for (int i = 0; i < curves; i++) {
        const cli_result *result = &results->item[first[i]];
        if (points[i] == 0) /* no fit of this method succeeded */
            continue;
        fprintf(out, "%s$curve%d using ($1%+.4g):2:3 with yerrorlines lw 1.5 ps 0.9",
                drawn++ > 0 ? ", " : "", i, apart * (i - 0.5 * (curves - 1)));
        cli_line_style(figure, i);
        fputs(" title ", out);
        char *name =
            cli_text("%s%s%s", one ? "" : result->part[0], one ? "" : ", ", result->part[2]);
        cli_quote(figure, name, 40);
        free(name);
    }
    fputc('\n', out);
}

int cli_figure_sizes(cli *c, const cli_results *results, cli_figure *figure) {
    int *first = cli_alloc((size_t)results->count * sizeof *first);
    const int curves = find_curves(results, first);
    int points[MOST_CURVES], code = 0, most = 0;
    if (curves > MOST_CURVES)
        code = cli_usage(c, "%d curves are more than %d; choose with --method and --data", curves,
                         MOST_CURVES);
    for (int i = 0; i < curves && code == 0; i++) {
        points[i] = write_sizes(figure, results, first[i], i);
        most = points[i] > most ? points[i] : most;
    }
    if (code == 0 && most < 2)
        code = cli_result_bad(
            c, &results->item[0],
            "there are no two training sizes to draw; evaluate with --train-per-class 5,10,20");
    figure->height = 360 + 10 * curves;
    if (code == 0)
        plot_sizes(figure, results, first, points, curves);
    free(first);
    return code;
}
