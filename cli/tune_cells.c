/* tune_cells.c - the cells of a tuned grid: their place on the axes, their order, how flat the top
 * is.
 *
 * The last axis varies fastest. Values of an axis differ (plan.c refuses a value given twice, the
 * methods' own grids have none), so an axis is through where its first value comes again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune.h"

/* Means that differ by less are equal: they are sums of the same counts in another order. */
static const double SAME_MEAN = 1e-12;

const char *cli_tuning_value(const tuning *t, int64_t cell, int64_t axis) {
    return t->result.cell_values[cell * t->result.n_axes + axis];
}

const char *cli_axis_value(const tuning *t, int64_t axis, int64_t index) {
    return cli_tuning_value(t, index * t->axis[axis].stride, axis);
}

static void measure_axis(tuning *t, int64_t index, int64_t stride) {
    tune_axis *axis = &t->axis[index];
    double number = 0;
    *axis = (tune_axis){.name = t->result.axis_names[index], .stride = stride, .numeric = true};
    axis->width = (int)strlen(axis->name);
    const char *first = cli_axis_value(t, index, 0), *value = first;
    do {
        const int length = (int)strlen(value);
        axis->width = length > axis->width ? length : axis->width;
        axis->numeric = axis->numeric && cli_parse_real(value, &number);
        axis->count++;
        if (axis->count * stride >= t->result.cells)
            break;
        value = cli_axis_value(t, index, axis->count);
    } while (strcmp(value, first) != 0);
}

bool cli_cell_tried(const tuning *t, int64_t cell) {
    return t->result.cell_trials[cell] > 0;
}

static int64_t good_folds(const tuning *t, int64_t cell) {
    return t->result.cell_trials[cell] - t->result.cell_failures[cell];
}

bool cli_cell_comparable(const tuning *t, int64_t cell) {
    return cli_cell_tried(t, cell) && good_folds(t, cell) >= good_folds(t, t->best);
}

/* The search's rule for ties: the larger number, else the value given first, axis by axis. For
 * weights of regularisers, that is the simpler model. */
static bool wins_tie(const tuning *t, int64_t a, int64_t b) {
    for (int64_t i = 0; i < t->result.n_axes; i++) {
        const char *x = cli_tuning_value(t, a, i), *y = cli_tuning_value(t, b, i);
        double u = 0, v = 0;
        if (strcmp(x, y) == 0)
            continue;
        if (!cli_parse_real(x, &u) || !cli_parse_real(y, &v))
            return a / t->axis[i].stride % t->axis[i].count <
                   b / t->axis[i].stride % t->axis[i].count;
        if (u != v)
            return u > v;
    }
    return false;
}

bool cli_cell_before(const tuning *t, int64_t a, int64_t b) {
    const double gain = t->result.cell_accuracy[a] - t->result.cell_accuracy[b];
    return fabs(gain) > SAME_MEAN ? gain > 0 : wins_tie(t, a, b);
}

/* Folds of one partition test every sample once; those of another test the same samples again. So
 * repeating makes the mean steadier but is no further evidence, and only the folds of one count. */
static double standard_error(const tuning *t) {
    const rlar_eval_result *r = &t->result;
    const double good = (double)(r->trials - r->failed);
    return r->accuracy_std / sqrt(good / (double)t->spec->trials);
}

static void count_cells(tuning *t) {
    const rlar_eval_result *r = &t->result;
    const double reach = isnan(t->error) ? 0 : t->error;
    const double least = r->cell_accuracy[t->best] - reach - SAME_MEAN;
    for (int64_t i = 0; i < r->cells; i++) {
        const bool comparable = cli_cell_comparable(t, i);
        t->fits += r->cell_trials[i];
        t->tried += cli_cell_tried(t, i);
        t->broken += cli_cell_tried(t, i) && !comparable;
        t->within[i] = comparable && r->cell_accuracy[i] >= least;
        t->n_within += t->within[i];
        if (t->within[i] && wins_tie(t, i, t->simplest))
            t->simplest = i;
    }
}

void cli_tuning_make(tuning *t) {
    const int64_t axes = t->result.n_axes;
    t->axis = cli_alloc((size_t)axes * sizeof *t->axis);
    for (int64_t i = axes - 1, stride = 1; i >= 0; i--) {
        measure_axis(t, i, stride);
        stride *= t->axis[i].count;
    }
    t->best = t->simplest = t->result.selected[0];
    t->error = standard_error(t);
    t->within = cli_alloc((size_t)t->result.cells * sizeof *t->within);
    count_cells(t);
}

void cli_tuning_free(tuning *t) {
    free(t->axis);
    free(t->within);
}
