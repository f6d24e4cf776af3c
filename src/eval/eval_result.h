/* eval_result.h - what is inside an rlar_eval. */
#ifndef RLAR_EVAL_RESULT_H
#define RLAR_EVAL_RESULT_H

#include "dist/message.h"
#include "eval/grid.h"

/* One method. All arrays are owned by the rlar_eval; `result` points into them. */
typedef struct rlar_eval_method {
    rlar_grid grid;
    const char **axis_names;
    const char **cell_values; /* cells x n_axes, into grid */
    double *search;           /* trials x cells accuracies of the search, NaN: failed; or NULL */
    bool *tried;              /* trials x cells: was it searched? */
    bool *whole;              /* trials x cells: on all folds of the trial? */
    char **search_failure;    /* the texts of those that failed */
    double *cell_accuracy;    /* cells */
    int64_t *cell_failures;   /* cells */
    int64_t *cell_trials;     /* cells: in how many trials it was tried */
    int64_t *cell_whole;      /* cells: in how many on all folds */
    int64_t *selected;        /* trials: the cell of each final fit */
    double *accuracy, *balanced, *macro_f1; /* trials */
    double *fit_seconds, *predict_seconds;  /* trials */
    char **failure;                         /* trials: text, or NULL */
    bool *finished;                         /* trials: the final fit need not be made */
    int64_t *confusion;                     /* c x c */
    rlar_eval_result result;
} rlar_eval_method;

struct rlar_eval {
    int64_t count, trials, c;
    rlar_eval_method *method;
};

/* Room for the grids and results of all methods of the specification. */
rlar_status rlar__eval_new(rlar_ctx *ctx, const rlar_eval_spec *spec, int64_t trials, int64_t c,
                           rlar_eval **out);
/* Choose the cells from what was searched so far: sets cell_accuracy and selected. */
void rlar__eval_select(rlar_eval *eval, int64_t method, rlar_tune tune);
/* What rlar__eval_finish needs, from one rank to another with the same specification. */
rlar_status rlar__eval_carry(rlar_ctx *ctx, rlar_eval *eval, rlar_message *message);
/* Fill the result from the arrays. */
void rlar__eval_finish(rlar_eval *eval, int64_t method, rlar_tune tune);

#endif
