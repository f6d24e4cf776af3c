/* grid.h - the cells that tuning tries for one method. */
#ifndef RLAR_GRID_H
#define RLAR_GRID_H

#include "core/core.h"

/* The product of the axes; the first axis varies slowest. Without axes there is one cell. */
typedef struct rlar_grid {
    int64_t n_axes, cells;
    rlar_texts names;     /* n_axes */
    rlar_texts values;    /* of all axes, one after another */
    int64_t *first, room; /* n_axes + 1 starts: axis i is values first[i] .. first[i+1]-1 */
} rlar_grid;

/* What a cell means: parameters and the two choices that are not the method's. */
typedef struct rlar_cell {
    rlar_params *params;
    const char *scale, *classifier;
} rlar_cell;

/* Do the axes of the specification name parameters of its methods? Before any grid is built. */
rlar_status rlar__axes_check(rlar_ctx *ctx, const rlar_eval_spec *spec);
/* The grid of method number `method`. Every value is checked; nothing is fitted. */
rlar_status rlar__grid_build(rlar_ctx *ctx, const rlar_eval_spec *spec, int64_t method,
                             rlar_grid *out);
void rlar__grid_free(rlar_grid *grid);
/* The value of an axis in a cell. Lives as long as the grid. */
const char *rlar__grid_value(const rlar_grid *grid, int64_t cell, int64_t axis);
/* Values of the axis of this name; 1 where there is none. */
int64_t rlar__grid_values(const rlar_grid *grid, const char *name);
/* The cell with this value of the axes "scale" and "classifier" (0 where there is none) and this
 * combination, one of cells / scales / classifiers, of all others. */
int64_t rlar__grid_find(const rlar_grid *grid, int64_t scale, int64_t classifier, int64_t others);
/* The combination that has this value of the axis `name` and is number `chain` of those that differ
 * in the other axes; `chain` itself where there is no such axis. */
int64_t rlar__grid_along(const rlar_grid *grid, const char *name, int64_t chain, int64_t value);
/* The cell for the method; free with rlar__cell_free. */
rlar_status rlar__grid_cell(rlar_ctx *ctx, const rlar_eval_spec *spec, int64_t method,
                            const rlar_grid *grid, int64_t cell, rlar_cell *out);
void rlar__cell_free(rlar_cell *cell);
/* From coarse to fine: the cells that are tried at first, and those near a cell. Of an axis of five
 * numbers or more every second one is tried, and its neighbours are near; of others all are tried,
 * and only the same value is near; but all classifiers are, since one fit serves them all. */
bool rlar__grid_coarse(const rlar_grid *grid, int64_t cell);
bool rlar__grid_near(const rlar_grid *grid, int64_t cell, int64_t other);
/* The best cell: fewest failures (NULL: there are none), then largest mean (within 1e-12), then the
 * tie rule: the larger number on the first axis that differs, for texts the earlier in the list.
 * -1 when every mean is NaN. */
int64_t rlar__grid_best(const rlar_grid *grid, const double *mean, const int64_t *failures);

#endif
