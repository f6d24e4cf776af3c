/* figure_trace.c - the objective over the iterations or the seconds of a fit, from `fit --trace`,
 * or of many fits, one panel each, from the key "convergence" of `reproduce convergence`.
 *
 * Traces are read as any table is, by the library; columns are found by their names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"

enum { MOST_CURVES = 20 };

typedef struct range {
    double low, high;
} range;

static void widen(range *r, double value) {
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
}

/* Is a logarithmic axis worth it? */
static bool wide(const range *r, double factor) {
    return r->low > 0 && r->high / r->low >= factor;
}

static int64_t find_column(const rlar_data *data, const char *name) {
    for (int64_t j = 0; j < rlar_data_dims(data); j++) {
        const char *feature = rlar_data_feature(data, j);
        if (feature != NULL && strcmp(feature, name) == 0)
            return j;
    }
    return -1;
}

/* "runs/a.csv" -> "a" */
static char *curve_name(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const size_t length = strlen(name);
    const bool csv = length > 4 && strcmp(name + length - 4, ".csv") == 0;
    return cli_strdup(name, csv ? length - 4 : length);
}

/* A block of "x objective"; rows without an objective are left out. */
static int64_t write_rows(const cli_figure *figure, const rlar_data *data, int64_t x, int64_t y,
                          range r[2]) {
    double *row = cli_alloc((size_t)rlar_data_dims(data) * sizeof *row);
    int64_t count = 0;
    for (int64_t i = 0; i < rlar_data_samples(data); i++) {
        rlar_data_row(data, i, row);
        if (!isfinite(row[x]) || !isfinite(row[y]))
            continue;
        fprintf(figure->script, "%.17g %.17g\n", row[x], row[y]);
        widen(&r[0], row[x]);
        widen(&r[1], row[y]);
        count++;
    }
    free(row);
    return count;
}

static int write_curve(cli *c, const cli_figure *figure, const char *path, int index, range r[2],
                       int64_t *rows) {
    rlar_read_options options = RLAR_INIT(rlar_read_options);
    rlar_data *data = NULL;
    const char *against = c->args.against != 0 ? "seconds" : "iteration";
    options.format = "csv";
    options.label = "none";
    options.header = 1;
    options.missing = RLAR_MISSING_KEEP;
    int code = cli_check(c, rlar_data_read(c->ctx, path, &options, &data));
    if (code != 0)
        return code;
    const int64_t x = find_column(data, against), y = find_column(data, "objective");
    fprintf(figure->script, "$curve%d << END\n", index);
    if (x < 0 || y < 0)
        code = cli_error(c, CODE_DATA,
                         "%s: there is no column '%s'; a file of 'rlar fit --trace' is expected",
                         path, x < 0 ? against : "objective");
    else if ((*rows = write_rows(figure, data, x, y, r)) == 0)
        code = cli_error(c, CODE_DATA,
                         "%s: no row has an objective; methods that solve in closed form have no "
                         "trace to draw",
                         path);
    fputs("END\n", figure->script);
    rlar_data_free(data);
    return code;
}

/* About eight marks on each curve tell them apart in grey; a single point shows as one. */
static void draw_curves(const cli_figure *figure, const char *const *path, int count,
                        const int64_t *rows) {
    fputs("plot ", figure->script);
    for (int i = 0; i < count; i++) {
        char *name = curve_name(path[i]);
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all were read */
        const long long marks = (long long)rows[i] / 8 + 1;
        fprintf(figure->script, "%s$curve%d with linespoints lw 1.8 ps 0.8 pi %lld",
                i > 0 ? ", " : "", i, marks);
        cli_line_style(figure, i);
        fputs(" title ", figure->script);
        cli_quote(figure, name, 40);
        free(name);
    }
    fputc('\n', figure->script);
}

/* ---- from one document ---- */

static bool is_json(const char *path) {
    const size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

/* At most six numbers beside a small panel: gnuplot would write up to fourteen, one on the other.
 */
static void write_tics(FILE *out, double low, double high) {
    static const double nice[] = {2, 5, 10};
    const double span = high - low;
    if (!(span > 1e-9 * fmax(fabs(low), fabs(high))) || isinf(span)) {
        fputs("set ytics autofreq\n", out);
        return;
    }
    double step = pow(10, floor(log10(span / 5)));
    for (int i = 0; i < 3 && span > 5 * step; i++)
        step = nice[i] * pow(10, floor(log10(span / 5)));
    fprintf(out, "set ytics %.10g\n", step);
}

/* One panel; false when the objective is not a list of numbers. */
static bool write_curve_panel(const cli_figure *figure, const json_t *curve, int index) {
    const json_t *objective = json_object_get(curve, "objective");
    const json_t *data = json_object_get(curve, "data");
    const size_t count = json_array_size(objective);
    FILE *out = figure->script;
    double low = INFINITY, high = -INFINITY;
    fprintf(out, "$panel%d << END\n", index);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(objective, i);
        if (!json_is_number(value))
            return false;
        low = fmin(low, json_number_value(value));
        high = fmax(high, json_number_value(value));
        fprintf(out, "%zu %.17g\n", i + 1, json_number_value(value));
    }
    fputs("END\n", out);
    write_tics(out, low, high);
    fputs("set title ", out);
    cli_quote(figure, json_is_string(data) ? json_string_value(data) : "", 40);
    fprintf(out, "\nplot $panel%d with linespoints lw 1.8 ps 0.7 lc rgb '#000000' notitle\n",
            index);
    return count > 0;
}

int cli_figure_curves(cli *c, const char *file, const json_t *curves, cli_figure *figure) {
    enum { MOST_PANELS = 24, ACROSS = 3, PANEL_WIDTH = 300, PANEL_HEIGHT = 230 };
    const int count = (int)json_array_size(curves);
    if (count < 1 || count > MOST_PANELS)
        return cli_error(c, CODE_DATA,
                         "%s: there is no key \"convergence\" with 1 to %d curves; it comes with "
                         "'rlar reproduce convergence --json'",
                         file, MOST_PANELS);
    const int across = count < ACROSS ? count : ACROSS, down = (count + across - 1) / across;
    figure->width = across * PANEL_WIDTH;
    figure->height = down * PANEL_HEIGHT;
    fprintf(figure->script,
            "set xlabel 'iteration'\nset ylabel 'objective (12)'\nset multiplot layout %d,%d\n",
            down, across);
    for (int i = 0; i < count; i++)
        if (!write_curve_panel(figure, json_array_get(curves, (size_t)i), i))
            return cli_error(c, CODE_DATA, "%s: convergence[%d].objective is not a list of numbers",
                             file, i);
    fputs("unset multiplot\n", figure->script);
    return 0;
}

static int curves_of(cli *c, const char *path, cli_figure *figure) {
    json_t *root = NULL;
    int code = cli_json_load(c, path, &root);
    if (code == 0)
        code = cli_figure_curves(c, path, json_object_get(root, "convergence"), figure);
    json_decref(root);
    return code;
}

int cli_figure_convergence(cli *c, const char *const *path, int count, cli_figure *figure) {
    range r[2] = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    int64_t rows[MOST_CURVES];
    int code = 0;
    if (count == 1 && is_json(path[0]))
        return curves_of(c, path[0], figure);
    if (count > MOST_CURVES)
        return cli_usage(c, "%d files are more than %d curves", count, MOST_CURVES);
    for (int i = 0; i < count && code == 0; i++)
        code = write_curve(c, figure, path[i], i, r, &rows[i]);
    if (code != 0)
        return code;
    fprintf(figure->script,
            "set xlabel '%s'\nset ylabel 'objective (12)'\nset key below width 2\n"
            "set offsets 0, 0, graph 0.05, graph 0.05\n",
            c->args.against != 0 ? "time (s)" : "iteration");
    if (wide(&r[0], c->args.against != 0 ? 100 : 60))
        fputs("set logscale x\nset format x '%g'\n", figure->script);
    if (wide(&r[1], 50))
        fputs("set logscale y\nset format y '%g'\n", figure->script);
    figure->height = 350 + 10 * count;
    draw_curves(figure, path, count, rows);
    return 0;
}
