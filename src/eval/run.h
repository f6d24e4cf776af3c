/* run.h - an evaluation under way: what evaluate.c, search.c, final.c and unit.c share. */
#ifndef RLAR_RUN_H
#define RLAR_RUN_H

#include "eval/eval_result.h"
#include "eval/crew.h"
#include "eval/journal.h"
#include "pipeline.h"

/* Everything the fits share; read-only for them but for the counters and places of their own. */
typedef struct rlar_run {
    const rlar_data *data;
    const rlar_eval_spec *spec;
    int threads;
    rlar_labels labels;
    uint64_t data_id;
    rlar_split_rule rule;
    int64_t trials;       /* splits; with folds: repetitions x folds */
    int64_t *inner_folds; /* per trial; NULL unless cv has something to search */
    rlar_eval *eval;
    _Atomic int64_t *confusion; /* n_methods times c x c; integers: any order of adding will do */
    _Atomic int64_t done;
    int64_t total; /* fits */
    int64_t known; /* of those done, without fitting; only the caller's thread counts them */

    /* The search. Its parts are the training parts of the trials, or with cv the folds in them. */
    int64_t *part_first; /* trials + 1: the parts of each trial */
    int64_t *unit_first; /* n_methods + 1: the units of each method, one for each part and scale */
    int64_t *fit_first;  /* n_methods + 1: its fits, one for each part and cell */
    rlar_outcome *outcome; /* of each fit */
    bool keep;             /* its mistakes too */
    int64_t test_max;

    rlar_outcome *final; /* of the fit of the chosen cell, one for each method and trial */

    rlar_journal *journal; /* or NULL */
    rlar_key key;          /* of the data, for the journal and other ranks */
    const rlar_team *team; /* or NULL */
    rlar_crew *crew;       /* the ranks that share the fits, or NULL */
    bool helps;            /* on one above 0, which stores and counts nothing */
} rlar_run;

/* ---- One prepared part (unit.c) ---- */

/* What all fits of one method on one part with one scaling share. */
typedef struct rlar_unit {
    const rlar_run *run;
    int64_t method, trial;
    int64_t part, scale; /* the search's */
    rlar_part rows;
    rlar_key key;            /* of the part, for the journal */
    rlar_training *training; /* NULL when the samples cannot be used: then every fit fails */
    rlar_status status;      /* of the preparation */
    char *failure;           /* its text */
    rlar_tests tests;
    int64_t fits;      /* for which it was prepared */
    double seconds[2]; /* that preparing the training and the test part took */
} rlar_unit;

/* What the journal has of a cell's fit and prediction in a part: out->done, where it has. before:
 * the key of the fits on the path to it, or NULL. */
rlar_status rlar__unit_recall(rlar_ctx *ctx, const rlar_unit *unit, int64_t cell,
                              const rlar_key *before, rlar_outcome *out);
/* Prepare the unit, whose run, method, trial and rows are set, for so many fits and predictions, of
 * which that of `cell` is one. */
rlar_status rlar__unit_open(rlar_ctx *ctx, rlar_unit *unit, int64_t cell, int64_t fits,
                            int64_t predictions);
void rlar__unit_close(void *unit);
/* Fit the cell, and predict the test samples by it: classes[n_test], numbered as in the data. The
 * times include the preparation. A model serves all cells that differ in the classifier only.
 * first: a model of the unit to start from, or NULL. outcome: gets the time, and `zero`. */
rlar_status rlar__unit_fit(rlar_ctx *ctx, const rlar_unit *unit, int64_t cell,
                           const rlar_model *first, rlar_model **out, rlar_outcome *outcome);
rlar_status rlar__unit_predict(rlar_ctx *ctx, const rlar_unit *unit, const rlar_model *model,
                               int64_t cell, int64_t *classes, double *seconds);
/* A fit and its prediction have ended with `status`. Keep the text of one that failed and go on;
 * pass other errors on with the place. With a journal the outcome gets its key; before: as above.
 */
rlar_status rlar__unit_settle(rlar_ctx *ctx, const rlar_unit *unit, int64_t cell,
                              const rlar_key *before, rlar_status status, rlar_outcome *outcome);
/* It goes into the journal and is counted; not on a rank that helps. */
rlar_status rlar__run_record(rlar_ctx *ctx, rlar_run *run, const rlar_outcome *outcome);
/* Count the fits, and tell. */
rlar_status rlar__run_count(rlar_ctx *ctx, rlar_run *run, int64_t fits);
/* The same for fits that need not be made: a forecast of the time must not take them for fast. */
rlar_status rlar__run_known(rlar_ctx *ctx, rlar_run *run, int64_t fits);

/* ---- The search (search.c) ---- */

/* Room for the search of all methods that have a grid. */
rlar_status rlar__search_new(rlar_ctx *ctx, rlar_run *run);
void rlar__search_free(rlar_run *run);
/* Fit every cell of every grid; choose. */
rlar_status rlar__search(rlar_ctx *ctx, rlar_run *run);
/* The fits of a pass: those that are due. */
rlar_schedule rlar__search_schedule(rlar_run *run);
/* What the search has kept of the fit that the final one would repeat, or NULL. */
const rlar_outcome *rlar__search_kept(const rlar_run *run, int64_t method, int64_t trial);
/* The fit of a cell on a part. */
rlar_outcome *rlar__search_outcome(const rlar_run *run, int64_t method, int64_t part, int64_t cell);
/* How many combinations of its parameters a method has; each is fitted once for all classifiers. */
int64_t rlar__search_combinations(const rlar_grid *grid);

/* ---- The final fits (final.c) ---- */

/* Fit the chosen cell of every method on every trial, and measure it. */
rlar_status rlar__finals(rlar_ctx *ctx, rlar_run *run);
rlar_schedule rlar__finals_schedule(rlar_run *run);

/* ---- The race (race.c): which of the fits that are wanted are due ---- */

/* Of the passes of a search, one after another (k = 0, 1, ...). False: nothing is left to be done.
 * Fits of cells that cannot win any more are not wanted any more. */
bool rlar__race_next(rlar_run *run, int64_t k);

#endif
