/* grid.c - axes, cells and the choice of the best.
 *
 * The axes of a method are those of the specification that apply to it, else the parameters of its
 * table that have a grid. "scale" and "classifier" are axes too. All names and values are tried on
 * a copy of the parameters first, so that a misprint is reported before hours of fitting. */
#include "eval/grid.h"

#include "data/scale.h"
#include "pipeline.h"

#include <math.h>
#include <string.h>

/* Cells of one grid. A grid of more is a mistake, and the results would not fit a screen or a
 * lifetime. */
static const int64_t MOST_CELLS = 1000000;

/* Means that differ by less are equal: they are sums of the same counts in another order. */
static const double SAME_MEAN = 1e-12;

/* ---- Axes ---- */

static bool is_choice(const char *name) {
    return strcmp(name, "scale") == 0 || strcmp(name, "classifier") == 0;
}

/* A parameter is never NaN, so NaN means that there is none. */
static bool has_param(const rlar_params *params, const char *name) {
    return !isnan(rlar_params_get(params, name));
}

/* Does the axis belong to the method? A name that no method has is found by rlar__axes_check(). */
static bool axis_applies(const rlar_axis *axis, const rlar_params *params) {
    if (axis->method != NULL && strcmp(axis->method, rlar_params_method(params)->name) != 0)
        return false;
    return axis->method != NULL || is_choice(axis->name) || has_param(params, axis->name);
}

/* Some method must have it. The text of the parameter table is better than ours where there is one
 * method, because it lists what is allowed. */
static rlar_status check_axis(rlar_ctx *ctx, const rlar_eval_spec *spec, const rlar_axis *axis) {
    if (axis->name == NULL || axis->values == NULL || axis->n_values < 1)
        return rlar__fail(ctx, RLAR_E_ARG, "grid axis \"%.60s\" has no values; give at least one",
                          axis->name ? axis->name : "");
    for (int64_t m = 0; m < spec->n_methods; m++)
        if (axis_applies(axis, spec->methods[m]))
            return RLAR_OK;
    if (axis->method != NULL)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "grid axis \"%.60s\" is for the method \"%.60s\", which is not evaluated",
                          axis->name, axis->method);
    /* One method: let it list its parameters. */
    rlar_params *copy;
    RLAR_TRY(rlar__fit_params_copy(ctx, spec->methods[0], &copy));
    const rlar_status status = rlar__fit_params_set(ctx, copy, axis->name, axis->values[0]);
    rlar_params_free(copy);
    if (spec->n_methods == 1 && status < 0)
        return rlar__fail_in(ctx, status, "grid");
    return rlar__fail(
        ctx, RLAR_E_ARG,
        "grid axis \"%.60s\": none of the %lld methods has such a parameter; see rlar "
        "methods",
        axis->name, (long long)spec->n_methods);
}

/* Also without tuning: a misprint should not wait for the day when it is switched on. */
rlar_status rlar__axes_check(rlar_ctx *ctx, const rlar_eval_spec *spec) {
    for (int64_t i = 0; i < spec->n_axes; i++)
        RLAR_TRY(check_axis(ctx, spec, &spec->axes[i]));
    return RLAR_OK;
}

/* Whoever will use the value is asked whether it is one. */
static rlar_status check_value(rlar_ctx *ctx, rlar_params *scratch, const char *name,
                               const char *value) {
    rlar_scaling scaling;
    if (strcmp(name, "scale") == 0)
        return rlar__scaling_parse(ctx, value, &scaling);
    if (strcmp(name, "classifier") == 0)
        return rlar_classifier_check(ctx, value, rlar_params_method(scratch)->name);
    return rlar__fit_params_set(ctx, scratch, name, value);
}

/* ---- Building ---- */

/* Open a new axis; its values follow by add_value(). */
static rlar_status add_axis(rlar_ctx *ctx, rlar_grid *grid, const char *name) {
    for (int64_t i = 0; i < grid->n_axes; i++)
        if (strcmp(rlar__texts_at(&grid->names, i), name) == 0)
            return rlar__fail(ctx, RLAR_E_ARG, "grid axis \"%.60s\" is given twice for one method",
                              name);
    RLAR_TRY(rlar__texts_add(ctx, &grid->names, name, strlen(name)));
    RLAR_TRY(rlar__grow(ctx, &grid->first, &grid->room, grid->n_axes + 2, sizeof *grid->first,
                        "the grid"));
    grid->first[grid->n_axes++] = grid->values.count;
    return RLAR_OK;
}

static rlar_status add_value(rlar_ctx *ctx, rlar_grid *grid, rlar_params *scratch,
                             const char *value, size_t length) {
    RLAR_TRY(rlar__texts_add(ctx, &grid->values, value, length));
    const char *name = rlar__texts_at(&grid->names, grid->n_axes - 1);
    const rlar_status status =
        check_value(ctx, scratch, name, rlar__texts_at(&grid->values, grid->values.count - 1));
    return status < 0 ? rlar__fail_in(ctx, status, "grid") : status;
}

/* Close the axis: count the cells. */
static rlar_status end_axis(rlar_ctx *ctx, rlar_grid *grid) {
    grid->first[grid->n_axes] = grid->values.count;
    const int64_t count = grid->values.count - grid->first[grid->n_axes - 1];
    if (count > MOST_CELLS / grid->cells)
        return rlar__fail(ctx, RLAR_E_ARG, "the grid has more than %lld cells; give fewer values",
                          (long long)MOST_CELLS);
    grid->cells *= count;
    return RLAR_OK;
}

/* An axis of the specification. */
static rlar_status add_given(rlar_ctx *ctx, rlar_grid *grid, rlar_params *scratch,
                             const rlar_axis *axis) {
    RLAR_TRY(add_axis(ctx, grid, axis->name));
    for (int64_t i = 0; i < axis->n_values; i++) {
        const char *value = axis->values[i] ? axis->values[i] : "";
        RLAR_TRY(add_value(ctx, grid, scratch, value, strlen(value)));
    }
    return end_axis(ctx, grid);
}

/* The axis of the method's own table: "0.001,0.01,...". */
static rlar_status add_own(rlar_ctx *ctx, rlar_grid *grid, rlar_params *scratch,
                           const rlar_param_def *def) {
    RLAR_TRY(add_axis(ctx, grid, def->name));
    for (const char *p = def->grid;; p++) {
        const size_t length = strcspn(p, ",");
        RLAR_TRY(add_value(ctx, grid, scratch, p, length));
        p += length;
        if (*p == '\0')
            return end_axis(ctx, grid);
    }
}

/* The first axis that applies switches the own grid off: who asks for one axis means only that one.
 */
static rlar_status fill_grid(rlar_ctx *ctx, const rlar_eval_spec *spec, rlar_params *scratch,
                             rlar_grid *grid) {
    for (int64_t i = 0; i < spec->n_axes; i++)
        if (axis_applies(&spec->axes[i], scratch))
            RLAR_TRY(add_given(ctx, grid, scratch, &spec->axes[i]));
    if (grid->n_axes > 0)
        return RLAR_OK;
    for (const rlar_param_def *def = rlar_params_method(scratch)->params; def->name != NULL; def++)
        if (def->grid != NULL)
            RLAR_TRY(add_own(ctx, grid, scratch, def));
    return RLAR_OK;
}

rlar_status rlar__grid_build(rlar_ctx *ctx, const rlar_eval_spec *spec, int64_t method,
                             rlar_grid *out) {
    rlar_grid grid = {.cells = 1};
    rlar_params *scratch = NULL;
    rlar_status status = rlar__fit_params_copy(ctx, spec->methods[method], &scratch);
    if (status >= 0 && spec->tune != RLAR_TUNE_NONE)
        status = fill_grid(ctx, spec, scratch, &grid);
    rlar_params_free(scratch);
    if (status < 0) {
        rlar__grid_free(&grid);
        return status;
    }
    *out = grid;
    return RLAR_OK;
}

void rlar__grid_free(rlar_grid *grid) {
    rlar__texts_free(&grid->names);
    rlar__texts_free(&grid->values);
    rlar__free(grid->first);
    *grid = (rlar_grid){0};
}

/* ---- Cells ---- */

/* Which value of the axis the cell has: the digits of its number, the last axis varying fastest. */
static int64_t value_index(const rlar_grid *grid, int64_t cell, int64_t axis) {
    for (int64_t i = grid->n_axes - 1; i > axis; i--)
        cell /= grid->first[i + 1] - grid->first[i];
    return cell % (grid->first[axis + 1] - grid->first[axis]);
}

const char *rlar__grid_value(const rlar_grid *grid, int64_t cell, int64_t axis) {
    return rlar__texts_at(&grid->values, grid->first[axis] + value_index(grid, cell, axis));
}

int64_t rlar__grid_values(const rlar_grid *grid, const char *name) {
    for (int64_t i = 0; i < grid->n_axes; i++)
        if (strcmp(rlar__texts_at(&grid->names, i), name) == 0)
            return grid->first[i + 1] - grid->first[i];
    return 1;
}

/* The digits of the cell's number from the last axis on, taken from whichever counts this axis. */
int64_t rlar__grid_find(const rlar_grid *grid, int64_t scale, int64_t classifier, int64_t others) {
    int64_t cell = 0, weight = 1;
    for (int64_t i = grid->n_axes - 1; i >= 0; i--) {
        const char *name = rlar__texts_at(&grid->names, i);
        const int64_t count = grid->first[i + 1] - grid->first[i];
        int64_t digit = others % count;
        if (strcmp(name, "scale") == 0)
            digit = scale;
        else if (strcmp(name, "classifier") == 0)
            digit = classifier;
        else
            others /= count;
        cell += digit * weight;
        weight *= count;
    }
    return cell;
}

int64_t rlar__grid_along(const rlar_grid *grid, const char *name, int64_t chain, int64_t value) {
    int64_t others = 0, weight = 1;
    for (int64_t i = grid->n_axes - 1; i >= 0; i--) {
        const char *axis = rlar__texts_at(&grid->names, i);
        const int64_t count = grid->first[i + 1] - grid->first[i];
        if (strcmp(axis, "scale") == 0 || strcmp(axis, "classifier") == 0)
            continue;
        const bool along = name && strcmp(axis, name) == 0;
        others += (along ? value : chain % count) * weight;
        chain = along ? chain : chain / count;
        weight *= count;
    }
    return others;
}

/* The texts live in the grid, which outlives the cell. */
static rlar_status set_axis(rlar_ctx *ctx, rlar_cell *cell, const char *name, const char *value) {
    if (strcmp(name, "scale") == 0)
        cell->scale = value;
    else if (strcmp(name, "classifier") == 0)
        cell->classifier = value;
    else
        return rlar__fit_params_set(ctx, cell->params, name, value);
    return RLAR_OK;
}

rlar_status rlar__grid_cell(rlar_ctx *ctx, const rlar_eval_spec *spec, int64_t method,
                            const rlar_grid *grid, int64_t cell, rlar_cell *out) {
    rlar_cell made = {.scale = spec->scale, .classifier = spec->classifier};
    rlar_status status = rlar__fit_params_copy(ctx, spec->methods[method], &made.params);
    for (int64_t i = 0; status >= 0 && i < grid->n_axes; i++)
        status =
            set_axis(ctx, &made, rlar__texts_at(&grid->names, i), rlar__grid_value(grid, cell, i));
    if (status < 0) {
        rlar__cell_free(&made);
        return status;
    }
    *out = made;
    return RLAR_OK;
}

void rlar__cell_free(rlar_cell *cell) {
    rlar_params_free(cell->params);
    *cell = (rlar_cell){0};
}

/* ---- From coarse to fine ---- */

/* Five numbers or more, in whatever order they were given. */
static bool is_fine(const rlar_grid *grid, int64_t axis) {
    enum { FEW = 4 };
    double number;
    for (int64_t i = grid->first[axis]; i < grid->first[axis + 1]; i++) {
        const char *text = rlar__texts_at(&grid->values, i);
        if (!rlar__parse_double(text, strlen(text), &number))
            return false;
    }
    return grid->first[axis + 1] - grid->first[axis] > FEW;
}

bool rlar__grid_coarse(const rlar_grid *grid, int64_t cell) {
    for (int64_t i = 0; i < grid->n_axes; i++)
        if (value_index(grid, cell, i) % 2 != 0 && is_fine(grid, i))
            return false;
    return true;
}

bool rlar__grid_near(const rlar_grid *grid, int64_t cell, int64_t other) {
    for (int64_t i = 0; i < grid->n_axes; i++) {
        const int64_t steps = value_index(grid, cell, i) - value_index(grid, other, i);
        if (strcmp(rlar__texts_at(&grid->names, i), "classifier") == 0)
            continue;
        if (steps < -1 || steps > 1 || (steps != 0 && !is_fine(grid, i)))
            return false;
    }
    return true;
}

/* ---- The best ---- */

/* Does cell a win the tie against cell b? */
static bool wins_tie(const rlar_grid *grid, int64_t a, int64_t b) {
    for (int64_t i = 0; i < grid->n_axes; i++) {
        const char *x = rlar__grid_value(grid, a, i), *y = rlar__grid_value(grid, b, i);
        double u, v;
        if (strcmp(x, y) == 0)
            continue;
        if (rlar__parse_double(x, strlen(x), &u) && rlar__parse_double(y, strlen(y), &v)) {
            if (u == v)
                continue;
            return u > v;
        }
        return value_index(grid, a, i) < value_index(grid, b, i);
    }
    return false;
}

static int64_t failures_of(const int64_t *failures, int64_t cell) {
    return failures ? failures[cell] : 0;
}

/* A cell that failed less often wins over a luckier one that failed more. */
static bool is_candidate(const double *mean, const int64_t *failures, int64_t cell,
                         int64_t fewest) {
    return !isnan(mean[cell]) && failures_of(failures, cell) == fewest;
}

/* Three passes: fewest failures, largest mean among those, the tie rule among the equal. */
int64_t rlar__grid_best(const rlar_grid *grid, const double *mean, const int64_t *failures) {
    int64_t fewest = INT64_MAX, best = -1;
    double top = -INFINITY;
    for (int64_t i = 0; i < grid->cells; i++)
        if (!isnan(mean[i]) && failures_of(failures, i) < fewest)
            fewest = failures_of(failures, i);
    for (int64_t i = 0; i < grid->cells; i++)
        if (is_candidate(mean, failures, i, fewest) && mean[i] > top)
            top = mean[i];
    for (int64_t i = 0; i < grid->cells; i++)
        if (is_candidate(mean, failures, i, fewest) && mean[i] >= top - SAME_MEAN &&
            (best < 0 || wins_tie(grid, i, best)))
            best = i;
    return best;
}
