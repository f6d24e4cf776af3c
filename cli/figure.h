/* figure.h - figures: results, traces and models become gnuplot scripts, gnuplot makes images.
 *
 * A figure is a script without a terminal, so that the same one becomes a file of any format
 * (cmd_plot.c) or a part of a page (the report). Names from files enter a script through
 * cli_quote only; data blocks hold numbers only. */
#ifndef RLAR_CLI_FIGURE_H
#define RLAR_CLI_FIGURE_H

#include <stdio.h>

#include "cli.h"

/* ---- gnuplot.c: scripts, quoting, the process ---- */

typedef enum cli_image { IMAGE_SVG, IMAGE_PDF, IMAGE_PNG, IMAGE_NONE } cli_image;

typedef struct cli_figure {
    FILE *script;      /* commands and data */
    char *text;        /* what was written to it */
    size_t size;       /* of text */
    int width, height; /* pixels, 96 to the inch */
} cli_figure;

void cli_figure_begin(cli_figure *figure);
void cli_figure_free(cli_figure *figure);
/* The text in quotes: nothing in it is special to gnuplot, and no more than `limit` characters are
 * left. The second is for labels of tics, in which gnuplot looks for formats. */
void cli_quote(const cli_figure *figure, const char *text, int limit);
void cli_quote_tic(const cli_figure *figure, const char *text, int limit);
/* Colour and shape, for the second also dashes, of the i-th curve or class; no two of the first
 * forty look alike, in grey neither. */
void cli_point_style(const cli_figure *figure, int i);
void cli_line_style(const cli_figure *figure, int i);
cli_image cli_image_of(const char *path); /* by the ending; IMAGE_NONE: not known */
/* Run gnuplot; the bytes of the image are allocated. */
int cli_figure_draw(cli *c, cli_figure *figure, cli_image image, char **bytes, size_t *size);

/* ---- results.c: what evaluate and tune wrote as JSON ---- */

enum { CLI_RESULT_PARTS = 3, CLI_PANELS = 12 };

typedef struct cli_result {
    json_t *root, *entry; /* borrowed: the document, and the result in it */
    const char *file;
    char *part[CLI_RESULT_PARTS]; /* data, training size, method; "" where not told */
    char *title;                  /* the parts, with commas between */
} cli_result;

typedef struct cli_results {
    json_t **root; /* one per file */
    int n_roots;
    cli_result *item;
    int count;
} cli_results;

/* Any JSON document that is an object. */
int cli_json_load(cli *c, const char *path, json_t **out);
int cli_results_load(cli *c, const char *const *path, int count, cli_results *out);
/* Keep those of --method and --data that have the key; it is an error where none is left, and the
 * text ends with `how` to get one. */
int cli_results_choose(cli *c, cli_results *results, const char *key, const char *how);
/* Their titles, with semicolons between; allocated. */
char *cli_results_list(const cli_results *results);
/* An error where there are more than CLI_PANELS. */
int cli_results_few(cli *c, const cli_results *results);
/* The parts in which the results differ, or else the method; allocated. */
char *cli_result_label(const cli_results *results, int index);
/* The parts that all results share; allocated, "" where there are none. */
char *cli_results_common(const cli_results *results);
void cli_results_free(cli_results *results);
/* The number `key` of a measure such as "accuracy"; NaN where there is none. */
double cli_result_measure(const cli_result *result, const char *measure, const char *key);
/* Training samples per class, or the share in per cent; NaN for folds, which are no size. */
double cli_result_size(const cli_result *result);
/* "file: title: what is wrong", with exit code 3. */
int cli_result_bad(cli *c, const cli_result *result, const char *what);

/* ---- figure_cells.c: a table of coloured cells ---- */

typedef struct cli_cells {
    int columns, rows;
    double *value;             /* rows x columns; NaN: there is none */
    char **text;               /* likewise, written into the cells; NULL: nothing is */
    const char *untold;        /* what it means that a cell has no text; NULL: all have one */
    char **column, **row_name; /* names */
    const char *title, *x, *y, *measure;
    bool downwards;   /* the first row is at the top */
    int best;         /* index of a cell to be marked, or -1 */
    double low, high; /* of the colours */
} cli_cells;

/* Makes the cells of one result; what it leaves in them is freed by the caller. */
typedef int cli_make_panel(cli *c, const cli_result *result, cli_cells *out);
/* A panel for each result. */
int cli_figure_panels(cli *c, const cli_results *results, cli_make_panel *make, cli_figure *figure);

/* ---- the figures ---- */

/* Not too many classes for a figure? */
bool cli_confusion_shows(const cli_result *result);
/* How many axes of its "grid" vary; 0 also where no cell has an accuracy, -1 where it is too large
 * for a figure. */
int cli_grid_axes(cli *c, const cli_result *result, int *axes);
/* From results that have the key in question; --against and --order come from the options. */
int cli_figure_heatmap(cli *c, const cli_results *results, cli_figure *figure);
int cli_figure_sweep(cli *c, const cli_results *results, cli_figure *figure);
int cli_figure_sizes(cli *c, const cli_results *results, cli_figure *figure);
int cli_figure_confusion(cli *c, const cli_results *results, cli_figure *figure);
/* From "comparison", "matrices" or "convergence" of a document; file is for messages. */
int cli_figure_ranks(cli *c, const char *file, const json_t *comparison, cli_figure *figure);
int cli_figure_matrices(cli *c, const char *file, const json_t *matrices, cli_figure *figure);
int cli_figure_curves(cli *c, const char *file, const json_t *curves, cli_figure *figure);
/* From files. */
int cli_figure_convergence(cli *c, const char *const *path, int count, cli_figure *figure);
int cli_figure_embedding(cli *c, const char *const *path, int count, cli_figure *figure);
int cli_figure_features(cli *c, const char *const *path, int count, cli_figure *figure);
/* "HxW" of --image. */
bool cli_image_size(const char *text, int64_t *height, int64_t *width);

/* ---- principal.c ---- */

/* The directions of largest and second largest variance of n points in p dimensions, p >= 2, each
 * of length 1, and their shares of the whole variance. */
void cli_principal(const double *z, int64_t n, int64_t p, double *direction, double share[2]);

#endif
