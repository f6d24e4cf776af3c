/* driver_grid.c - a grid over alpha and beta: all cells by one call (grid), or the same fits on the
 * same splits cell by cell (cells), as `rlar evaluate --tune oracle` and as a loop of `--tune
 * none`. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

enum { MOST_VALUES = 16 };

typedef struct grid {
    char list[256];
    const char *value[MOST_VALUES];
    int64_t count;
    rlar_eval_spec spec;
    rlar_axis axis[2];
    const rlar_params *methods[1];
} grid;

static void grid_init(grid *g, const bench_words *words, const rlar_params *params) {
    char *rest = NULL;
    snprintf(g->list, sizeof g->list, "%s", bench_text(words, "values", "0.1"));
    g->count = 0;
    for (char *v = strtok_r(g->list, ":", &rest); v && g->count < MOST_VALUES;
         v = strtok_r(NULL, ":", &rest))
        g->value[g->count++] = v;
    g->methods[0] = params;
    g->axis[0] = (rlar_axis){.name = "alpha", .values = g->value, .n_values = g->count};
    g->axis[1] = (rlar_axis){.name = "beta", .values = g->value, .n_values = g->count};
    g->spec = RLAR_INIT(rlar_eval_spec);
    g->spec.methods = g->methods;
    g->spec.n_methods = 1;
    g->spec.split = RLAR_SPLIT_PER_CLASS;
    g->spec.per_class = bench_number(words, "per_class", 5);
    g->spec.trials = bench_number(words, "trials", 1);
    g->spec.seed = 1;
    g->spec.scale = RLAR_SCALE_PAPER;
}

/* All cells by one call with tune=oracle; accuracy[cells]. */
static rlar_status run_grid(rlar_ctx *ctx, const rlar_data *data, grid *g, double *accuracy) {
    rlar_eval *eval = NULL;
    rlar_eval_result result = RLAR_INIT(rlar_eval_result);
    g->spec.tune = RLAR_TUNE_ORACLE;
    g->spec.axes = g->axis;
    g->spec.n_axes = 2;
    rlar_status status = rlar_evaluate(ctx, data, &g->spec, &eval);
    if (status >= 0)
        status = rlar_eval_get(eval, 0, &result);
    for (int64_t i = 0; status >= 0 && i < g->count * g->count; i++)
        accuracy[i] = result.cell_accuracy[i];
    rlar_eval_free(eval);
    return status;
}

static rlar_status run_cell(rlar_ctx *ctx, const rlar_data *data, grid *g, rlar_params *params,
                            int64_t cell, double *accuracy) {
    rlar_eval *eval = NULL;
    rlar_eval_result result = RLAR_INIT(rlar_eval_result);
    rlar_status status = rlar_params_set(ctx, params, "alpha", g->value[cell / g->count]);
    if (status >= 0)
        status = rlar_params_set(ctx, params, "beta", g->value[cell % g->count]);
    g->spec.tune = RLAR_TUNE_NONE;
    if (status >= 0)
        status = rlar_evaluate(ctx, data, &g->spec, &eval);
    if (status >= 0)
        status = rlar_eval_get(eval, 0, &result);
    *accuracy = status >= 0 ? result.accuracy_mean : 0.0;
    rlar_eval_free(eval);
    return status;
}

static void put_cells(bench_clock spent, const grid *g, const double *accuracy) {
    bench_begin();
    bench_put_clock(spent);
    printf("\"accuracy\": [");
    for (int64_t i = 0; i < g->count * g->count; i++)
        printf("%s%.17g", i ? ", " : "", accuracy[i]);
    printf("], ");
    bench_end();
}

void bench_cells(bench_driver *d, const bench_words *words) {
    const bool at_once = strcmp(words->verb, "grid") == 0;
    rlar_ctx *ctx = bench_context(d, words);
    rlar_data *data = ctx ? bench_data(d, words) : NULL;
    rlar_params *params = data ? bench_params(ctx, words) : NULL;
    if (!params)
        return;
    grid g;
    double accuracy[MOST_VALUES * MOST_VALUES] = {0};
    grid_init(&g, words, params);
    const bench_clock start = bench_now();
    rlar_status status = at_once ? run_grid(ctx, data, &g, accuracy) : RLAR_OK;
    for (int64_t i = 0; !at_once && status >= 0 && i < g.count * g.count; i++)
        status = run_cell(ctx, data, &g, params, i, &accuracy[i]);
    const bench_clock spent = bench_since(start);
    if (bench_worked(ctx, status))
        put_cells(spent, &g, accuracy);
    rlar_params_free(params);
}
