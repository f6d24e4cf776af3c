/* tune.h - the outcome of rlar tune: the grid by its axes, and what is said of it. */
#ifndef RLAR_CLI_TUNE_H
#define RLAR_CLI_TUNE_H

#include "cli.h"

typedef struct tune_axis {
    const char *name;
    int64_t count, stride; /* values; cells from one value to the next */
    int width;             /* of the longest value, or of the name */
    bool numeric;          /* all values are numbers */
} tune_axis;

typedef struct tuning {
    const cli_data *data;
    const rlar_params *params; /* what stays fixed */
    const rlar_eval_spec *spec;
    rlar_eval_result result;
    tune_axis *axis;        /* result.n_axes */
    int64_t best, simplest; /* cells */
    double error;           /* standard error of the best cell's accuracy; NaN from a single fold */
    bool *within;           /* of every cell: is it within one standard error of the best? */
    int64_t n_within, tried, broken; /* cells; broken: left out because they failed more often */
    int64_t fits;
    double seconds;
} tuning;

/* ---- tune_cells.c ---- */
/* From data, params, spec and result to the rest; seconds are the caller's. */
void cli_tuning_make(tuning *t);
void cli_tuning_free(tuning *t);
const char *cli_tuning_value(const tuning *t, int64_t cell, int64_t axis);
const char *cli_axis_value(const tuning *t, int64_t axis, int64_t index);
bool cli_cell_tried(const tuning *t, int64_t cell);
/* Was it fitted in at least as many folds as the best? Else its mean is over easier or harder ones.
 */
bool cli_cell_comparable(const tuning *t, int64_t cell);
/* Does cell a come before cell b? The more accurate first, equal ones by the rule for ties. */
bool cli_cell_before(const tuning *t, int64_t a, int64_t b);

/* ---- tune_out.c ---- */
void cli_tuning_text(cli *c, const tuning *t);
json_t *cli_tuning_json(const tuning *t);

#endif
