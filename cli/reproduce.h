/* reproduce.h - the paper's tables: what was printed, on which data, and what we measure. */
#ifndef RLAR_REPRODUCE_H
#define RLAR_REPRODUCE_H

#include "cli.h"

/* The columns beside the paper's: other parameters for the same methods and splits. */
typedef enum column { COLUMN_PRESET, COLUMN_DEFAULT, COLUMN_ORACLE, COLUMN_CV, COLUMNS } column;

/* ---- paper.c: what the paper printed (data/paper.csv, built in) ---- */
typedef struct paper_entry {
    char *text; /* the line, which the names point into */
    const char *table, *data, *method;
    int64_t per_class;
    const char *variant; /* "" but for the robustness tables */
    double mean, std;    /* in percent; std is NaN where none was printed */
} paper_entry;
typedef struct paper {
    paper_entry *entry;
    int count;
} paper;
void paper_open(paper *out);
void paper_close(paper *p);
/* The entry of a method in the place of another, or NULL. */
const paper_entry *paper_find(const paper *p, const paper_entry *place, const char *method);
bool paper_same_place(const paper_entry *a, const paper_entry *b);
/* The same but for a number: of training samples, of covered images, of the side of a square. */
bool paper_same_series(const paper_entry *a, const paper_entry *b);

/* ---- reproduce_data.c ---- */
/* The samples of one place of a table: as they are, or with occluded training images. */
typedef struct place_data {
    cli_data held, occluding; /* what was read */
    rlar_data *made;          /* with occluded copies, or NULL */
    rlar_rows *splits;        /* for these, or NULL */
    const rlar_data *data;
} place_data;
/* What it is called there without its ending; NULL: there are fewer. */
const char *source_file(int number);
/* Looks once which of the files are in the data folder; an error where that cannot be told. */
int sources_find(cli *c, char ***out);
void sources_free(char **found);
/* What is missing for the place, and how to get it; NULL: nothing. */
const char *place_missing(char *const *found, const paper_entry *place, const char **how);
int place_load(cli *c, char *const *found, const paper_entry *place, int64_t trials, uint64_t seed,
               place_data *out);
void place_free(place_data *data);
/* What a file of the data folder holds. */
const char *file_title(const char *file);
const char *place_file(const paper_entry *place); /* what it is called in the data folder */
/* Of the paper, or in the column of the defaults ours. */
const char *place_scale(const paper_entry *place, column which);
/* "AR, 8 per class, blocks of 15 x 15" */
void place_title(const paper_entry *place, char *buf, size_t size);

/* ---- reproduce_out.c ---- */
const char *column_name(column which);
rlar_tune column_tune(column which);

/* One column of one place: an evaluation of all methods. */
typedef struct measured {
    const paper_entry *place; /* its first entry */
    column which;
    rlar_eval *eval;
    rlar_params **params; /* of the methods */
    int64_t n, d, classes;
} measured;
typedef struct reproduction {
    paper paper;
    cli_words method;
    rlar_params **params[2]; /* of each method: the preset, the default */
    bool wanted[COLUMNS];
    char **found;              /* the files of the data folder, see sources_find */
    const paper_entry **place; /* the places, by their first entry */
    int places;
    measured *done;
    int n_done;
    json_t *skipped;
    json_t *figures;     /* results of sensitivity and ksweep */
    json_t *convergence; /* curves */
    json_t *matrices;    /* T, V and S, or NULL */
    rlar_eval_spec spec; /* what is common */
} reproduction;
/* Within the noise of two means over the trials: 2.5 sqrt(s1^2 + s2^2) / sqrt(trials) + 0.5
 * points; where the paper has no deviation, ours stands for it. */
bool within_noise(const paper_entry *printed, const rlar_eval_result *r);
/* A result at a place, under the name of a table or figure. */
json_t *place_json(const paper_entry *place, const char *table, column which,
                   const rlar_params *params, const rlar_eval_result *result);
void reproduction_text(cli *c, const reproduction *r);
int reproduction_json(cli *c, const reproduction *r, json_t **out);

/* ---- reproduce_forecast.c: how much work it is ---- */
typedef struct workload {
    double fits, flops; /* flops: floating-point operations */
} workload;
/* All fits of one column of a place. */
workload place_work(cli *c, const reproduction *r, const rlar_data *data, const paper_entry *place,
                    column which);
/* The fits of a search for the best cell of a method's grid; whole: nothing is left out. */
double search_fits(const reproduction *r, const char *method, bool whole);
/* That many fits at a place, if the method can be fitted there. */
void add_fits(cli *c, const rlar_data *data, const paper_entry *place, column which,
              const rlar_params *params, double fits, workload *sum);
/* One line of --dry-run, for a table or figure; speed: operations per second. */
void add_line(json_t *list, const char *name, column which, workload sum, double speed);
/* Tells the progress line how much there is in all. */
int forecast_total(cli *c, const reproduction *r);
/* --dry-run: fits, operations and time of every table and column. */
int forecast_print(cli *c, reproduction *r);

/* ---- reproduce_figures.c and cmd_reproduce.c ---- */
bool figure_known(const char *name);
int run_figures(cli *c, reproduction *r);
/* The lines of --dry-run for the figures asked for. */
int forecast_figures(cli *c, reproduction *r, double speed, json_t *list);
/* The error where nothing of what is asked for is in the data folder. */
int no_data(cli *c);
/* Are its data there? If not, that is told, with how to get them. */
bool place_ready(cli *c, reproduction *r, const paper_entry *place);

#endif
