/* figure_cells.c - tables of coloured cells: what heat maps and confusion matrices look like.
 *
 * Cells are boxes, not pixels of an image, so that they stay sharp at any size. Numbers in them are
 * dark on light cells and light on dark ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"

enum { NAME_LIMIT = 24, MOST_TICS = 40 };

static void cells_free(cli_cells *cells) {
    const int count = cells->columns * cells->rows;
    for (int i = 0; i < count && cells->text != NULL; i++)
        free(cells->text[i]);
    for (int i = 0; i < cells->columns && cells->column != NULL; i++)
        free(cells->column[i]);
    for (int i = 0; i < cells->rows && cells->row_name != NULL; i++)
        free(cells->row_name[i]);
    free(cells->value);
    free(cells->text);
    free(cells->column);
    free(cells->row_name);
    *cells = (cli_cells){0};
}

/* Names beside the cells; of very many only some. */
static void write_tics(const cli_figure *figure, const char *axis, char *const *name, int count,
                       const char *how) {
    const int every = 1 + (count - 1) / MOST_TICS;
    fprintf(figure->script, "set %stics scale 0 %s (", axis, how);
    for (int i = 0; i < count; i += every) {
        fputs(i > 0 ? ", " : "", figure->script);
        cli_quote_tic(figure, name[i], NAME_LIMIT);
        fprintf(figure->script, " %d", i);
    }
    fputs(")\n", figure->script);
}

/* Pixels that the longest of the names takes. */
static int names_width(char *const *name, int count) {
    size_t most = 0;
    for (int i = 0; i < count; i++)
        most = strlen(name[i]) > most ? strlen(name[i]) : most;
    return 8 * (int)(most > NAME_LIMIT ? NAME_LIMIT : most);
}

static int between(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}

/* Pixels across that the cells themselves take. */
static int cells_width(const cli_cells *p) {
    return between(50 * p->columns, 200, 600);
}

/* Names below the cells that would run into each other are turned. */
static bool names_turned(const cli_cells *p) {
    return names_width(p->column, p->columns) > cells_width(p) / p->columns;
}

/* A block of "x y value" of the cells that have a value, or of those that have none. */
static int write_block(FILE *out, const cli_cells *p, const char *name, int panel, bool missing) {
    int count = 0;
    fprintf(out, "$%s%d << END\n", name, panel);
    for (int i = 0; i < p->rows * p->columns; i++)
        if (isnan(p->value[i]) == missing) {
            fprintf(out, "%d %d %.10g\n", i % p->columns, i / p->columns,
                    missing ? 0 : p->value[i]);
            count++;
        }
    fputs("END\n", out);
    return count;
}

/* Each text as a label: gnuplot would take apart what it reads from a block. */
static void write_texts(const cli_figure *figure, const cli_cells *p) {
    const double middle = 0.5 * (p->low + p->high);
    for (int i = 0; i < p->rows * p->columns && p->text != NULL; i++) {
        if (isnan(p->value[i]) || p->text[i][0] == '\0')
            continue;
        fprintf(figure->script, "set label %d ", i + 1);
        cli_quote(figure, p->text[i], 12);
        fprintf(figure->script, " at %d,%d center front font ',12' tc rgb '%s'\n", i % p->columns,
                i / p->columns, p->value[i] > middle ? "#ffffff" : "#000000");
    }
}

static void write_axes(const cli_figure *figure, const cli_cells *p) {
    FILE *out = figure->script;
    const bool turn = names_turned(p);
    fputs("unset label\nset title ", out);
    cli_quote(figure, p->title, 60);
    fputs("\nset xlabel ", out);
    cli_quote(figure, p->x, 60);
    fputs("\nset ylabel ", out);
    cli_quote(figure, p->y, 60);
    fputs("\nset cblabel ", out);
    cli_quote(figure, p->measure, 60);
    fprintf(out, "\nset xrange [-0.5:%d.5]\nset yrange %s%d.5%s%s\nset cbrange [%.10g:%.10g]\n",
            p->columns - 1, p->downwards ? "[" : "[-0.5:", p->rows - 1, p->downwards ? ":-0.5" : "",
            "]", p->low, p->high);
    write_tics(figure, "x", p->column, p->columns, turn ? "rotate by 40 right" : "norotate");
    write_tics(figure, "y", p->row_name, p->rows, "norotate");
}

static void write_panel(const cli_figure *figure, const cli_cells *p, int panel) {
    static const char box[] = "using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5)";
    FILE *out = figure->script;
    write_axes(figure, p);
    const int missing = write_block(out, p, "missing", panel, true);
    const int present = write_block(out, p, "cell", panel, false);
    if (p->best >= 0)
        fprintf(out, "$best%d << END\n%d %d\nEND\n", panel, p->best % p->columns,
                p->best / p->columns);
    write_texts(figure, p);
    fputs("plot ", out);
    if (present > 0)
        fprintf(out, "$cell%d %s:3 with boxxyerror fs solid 1 noborder fc palette notitle", panel,
                box);
    if (missing > 0)
        fprintf(out,
                "%s$missing%d %s with boxxyerror fs pattern 4 border fc rgb '#888888' title 'no "
                "result'",
                present > 0 ? ", " : "", panel, box);
    if (p->best >= 0)
        fprintf(out, ", $best%d %s with boxxyerror lc rgb '#d55e00' lw 3 fs empty title 'best'",
                panel, box);
    if (p->untold != NULL) /* a word in the key without a sign */
        fprintf(out, ", 1/0 with points pt 0 lc rgb '#ffffff' title '%s'", p->untold);
    fputc('\n', out);
}

/* The names beside the cells take room, too; those below only where they are turned. */
static void panel_size(const cli_cells *p, int *width, int *height) {
    const int below = names_turned(p) ? names_width(p->column, p->columns) * 2 / 3 : 0;
    const int wide = 190 + cells_width(p) + names_width(p->row_name, p->rows);
    const int key = p->untold != NULL ? 40 : 0; /* its lines stand below each other then */
    const int high = 130 + between(36 * p->rows, 180, 520) + below + key;
    *width = wide > *width ? wide : *width;
    *height = high > *height ? high : *height;
}

/* All panels are as large as the largest needs. The margin at the right has room for the numbers of
 * the scale and its label: gnuplot leaves out a text that does not fit. */
static void cells_draw(cli_figure *figure, const cli_cells *panel, int count) {
    FILE *out = figure->script;
    int width = 0, height = 0;
    bool key = false;
    for (int i = 0; i < count; i++) {
        panel_size(&panel[i], &width, &height);
        key = key || panel[i].best >= 0;
    }
    const int across = count <= 1 ? 1 : count <= 4 ? 2 : 3, down = (count + across - 1) / across;
    figure->width = across * width;
    figure->height = down * height;
    fputs("unset grid\nset rmargin 9\nset cblabel offset 1,0\n", out);
    fputs(key ? "set key below horizontal\n" : "unset key\n", out);
    if (count > 1)
        fprintf(out, "set multiplot layout %d,%d\n", down, across);
    for (int i = 0; i < count; i++)
        write_panel(figure, &panel[i], i);
    if (count > 1)
        fputs("unset multiplot\n", out);
}

int cli_figure_panels(cli *c, const cli_results *results, cli_make_panel *make,
                      cli_figure *figure) {
    cli_cells panel[CLI_PANELS];
    int count = 0, code = cli_results_few(c, results);
    for (int i = 0; i < results->count && code == 0; i++) {
        code = make(c, &results->item[i], &panel[i]);
        count += code == 0;
    }
    if (code == 0)
        cells_draw(figure, panel, count);
    for (int i = 0; i < count; i++)
        cells_free(&panel[i]);
    return code;
}
