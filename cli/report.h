/* report.h - the parts of the page that rlar report writes.
 *
 * Everything goes through cli_write to the output. What comes from files goes through cli_html,
 * which leaves no character that HTML would understand. */
#ifndef RLAR_CLI_REPORT_H
#define RLAR_CLI_REPORT_H

#include "figure.h"

/* ---- report_page.c: the page around it, text, tables ---- */

void cli_page_begin(cli *c, const char *title);
void cli_page_end(cli *c);
void cli_html(cli *c, const char *text);
/* A heading of level 2 or 3. */
void cli_html_heading(cli *c, int level, const char *text);
/* Columns can be sorted; all but the first `texts` hold numbers. A table scrolls inside its own box
 * where the page is narrow. */
void cli_html_table(cli *c, const char *caption, const char *const *column, int columns, int texts);
void cli_html_row(cli *c);
void cli_html_cell(cli *c, const char *text);
/* The text is shown, the value is what is sorted by; NaN comes last either way. */
void cli_html_number(cli *c, const char *text, double value, bool best);
void cli_html_row_end(cli *c);
void cli_html_table_end(cli *c);
/* A value as a person writes it: texts without quotes, objects as "a=1 b=2"; allocated. */
char *cli_plain(const json_t *value);

/* ---- report_tables.c ---- */

void cli_report_data(cli *c, const json_t *root);
void cli_report_accuracy(cli *c, const cli_results *results);
void cli_report_details(cli *c, const cli_results *results);
bool cli_is_tuning(const cli_results *results); /* made by rlar tune? */
void cli_report_tuning(cli *c, const cli_results *results);
void cli_report_comparison(cli *c, const json_t *comparison, const cli_results *results);
void cli_report_settings(cli *c, const json_t *root, const cli_results *results);

/* ---- report_reproduction.c ---- */

bool cli_is_reproduction(const json_t *root); /* made by rlar reproduce? */
void cli_report_reproduction(cli *c, const cli_results *results);
/* Those that figures and settings are about; free `item`. */
cli_results cli_reproduction_chosen(const cli_results *results);

/* ---- report_figures.c ---- */

/* The figures of one document as SVG within the page, or a note where gnuplot is missing; the
 * number tells the identifiers of one figure from those of another. */
int cli_report_figures(cli *c, const char *file, const json_t *root, const cli_results *results,
                       int *number);

/* ---- report_command.c ---- */

/* The command that repeats the evaluation, from what the document says of it; allocated, NULL where
 * it does not say enough. */
char *cli_report_command(const json_t *root, const cli_results *results);

#endif
