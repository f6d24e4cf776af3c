/* figure_matrices.c - the matrices of a fit as grey images: T (targets), V (the graph) and S (the
 * graph with its weights), samples in the order of their classes.
 *
 * The input is {"T": [[...], ...], "V": ..., "S": ..., "classes": [samples of each class, ...]}. A
 * few weights of S can be a thousand times the others and would leave all else white, so S is
 * clipped at its 99th percentile. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"

enum { MATRICES = 3, PANEL = 330 };

typedef struct matrix {
    double *value; /* rows x columns */
    size_t rows, columns;
    double low, high;
} matrix;

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value that 99 of 100 entries do not exceed, zeros apart: S has few others. */
static double percentile_99(const matrix *m) {
    const size_t count = m->rows * m->columns;
    double *sorted = cli_alloc(count * sizeof *sorted), at = m->high;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (m->value[i] != 0)
            sorted[kept++] = m->value[i];
    qsort(sorted, kept, sizeof *sorted, compare);
    if (kept > 0)
        at = sorted[(size_t)floor(0.99 * (double)(kept - 1))];
    free(sorted);
    return at;
}

/* A list of lists of numbers, all of one length. */
static bool read_matrix(const json_t *list, matrix *out) {
    out->rows = json_array_size(list);
    out->columns = json_array_size(json_array_get(list, 0));
    if (out->rows == 0 || out->columns == 0)
        return false;
    out->value = cli_alloc(out->rows * out->columns * sizeof *out->value);
    out->low = INFINITY;
    out->high = -INFINITY;
    for (size_t i = 0; i < out->rows; i++) {
        const json_t *line = json_array_get(list, i);
        if (json_array_size(line) != out->columns)
            return false;
        for (size_t j = 0; j < out->columns; j++) {
            const json_t *entry = json_array_get(line, j);
            if (!json_is_number(entry))
                return false;
            const double value = json_number_value(entry);
            out->value[i * out->columns + j] = value;
            out->low = fmin(out->low, value);
            out->high = fmax(out->high, value);
        }
    }
    return true;
}

/* Lines between the classes, along each side that has one place per sample. */
static void write_borders(FILE *out, const matrix *m, const json_t *classes) {
    double at = 0, total = 0;
    for (size_t i = 0; i < json_array_size(classes); i++)
        total += json_number_value(json_array_get(classes, i));
    fputs("unset arrow\n", out);
    for (size_t i = 0; i + 1 < json_array_size(classes); i++) {
        at += json_number_value(json_array_get(classes, i));
        if (total == (double)m->columns)
            fprintf(out,
                    "set arrow from %.10g,0.5 to %.10g,%zu.5 nohead front lw 0.5 lc rgb "
                    "'#d55e00'\n",
                    at + 0.5, at + 0.5, m->rows);
        if (total == (double)m->rows)
            fprintf(out,
                    "set arrow from 0.5,%.10g to %zu.5,%.10g nohead front lw 0.5 lc rgb "
                    "'#d55e00'\n",
                    at + 0.5, m->columns, at + 0.5);
    }
}

/* T of the classes whose samples are shown; the others are no more to look at. */
static void keep_columns(matrix *m, size_t columns) {
    if (columns == 0 || columns >= m->columns)
        return;
    for (size_t i = 0; i < m->rows; i++)
        memmove(m->value + i * columns, m->value + i * m->columns, columns * sizeof *m->value);
    m->columns = columns;
}

/* A round step that leaves five numbers at most on an axis. */
static double tic_step(size_t count) {
    const double unit = pow(10, floor(log10((double)count)));
    const double share = (double)count / unit;
    return fmax(1, share < 2 ? unit / 2 : share < 5 ? unit : 2 * unit);
}

static void write_panel(const cli_figure *figure, const matrix *m, int index, const char *title,
                        const json_t *classes) {
    FILE *out = figure->script;
    fprintf(out, "$matrix%d << END\n", index);
    for (size_t i = 0; i < m->rows * m->columns; i++)
        fprintf(out, "%.6g%c", m->value[i], (i + 1) % m->columns == 0 ? '\n' : ' ');
    fputs("END\n", out);
    write_borders(out, m, classes);
    const double high = m->high > m->low ? m->high : m->low + fmax(1, fabs(m->low));
    fprintf(out,
            "set title '%s'\nset xlabel '%s'\nset xrange [0.5:%zu.5]\nset yrange [%zu.5:0.5]\n"
            "set xtics %g\nset ytics %g\nset cbrange [%.10g:%.10g]\n"
            "plot $matrix%d matrix using ($1+1):($2+1):3 with image%s notitle\n",
            title, m->columns == m->rows ? "sample" : "class", m->columns, m->rows,
            tic_step(m->columns), tic_step(m->rows), m->low, high, index,
            m->rows * m->columns <= 4096 ? " pixels" : "");
}

int cli_figure_matrices(cli *c, const char *file, const json_t *matrices, cli_figure *figure) {
    static const char *const key[MATRICES] = {"T", "V", "S"};
    static const char *const title[MATRICES] = {"T, targets", "V, graph",
                                                "S, weights (to 99th percentile)"};
    const json_t *classes = json_object_get(matrices, "classes");
    matrix m[MATRICES] = {{0}};
    int code = 0;
    if (!json_is_object(matrices))
        return cli_error(
            c, CODE_DATA,
            "%s: there is no key \"matrices\"; it comes with 'rlar reproduce matrices --json'",
            file);
    for (int i = 0; i < MATRICES && code == 0; i++)
        if (!read_matrix(json_object_get(matrices, key[i]), &m[i]))
            code = cli_error(c, CODE_DATA,
                             "%s: matrices.%s is not a list of lists of numbers, all of one length",
                             file, key[i]);
    if (code == 0) {
        keep_columns(&m[0], json_array_size(classes));
        m[2].high = percentile_99(&m[2]);
        figure->width = MATRICES * PANEL;
        figure->height = 320;
        fprintf(figure->script, "unset grid\nunset key\nset tics out\nset ylabel 'sample'\n"
                                "set palette defined (0 '#ffffff', 1 '#000000')\n"
                                "set multiplot layout 1,3\n");
        for (int i = 0; i < MATRICES; i++)
            write_panel(figure, &m[i], i, title[i], classes);
        fputs("unset multiplot\n", figure->script);
    }
    for (int i = 0; i < MATRICES; i++)
        free(m[i].value);
    return code;
}
