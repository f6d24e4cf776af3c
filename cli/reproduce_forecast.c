/* reproduce_forecast.c - how many fits a reproduction has, and about how long they take.
 *
 * Operations are the library's own forecast of a fit (rlar_fit_forecast) for the first training
 * samples of each class; what was done before and is in the journal is counted too. */
#include <stdlib.h>
#include <string.h>

#include "reproduce.h"

/* Fits reach about this share of the speed of plain matrix products (docs/performance.md). */
static const double SHARE_OF_SPEED = 0.5;
static const double CV_FOLDS = 5.0;
/* A race leaves out about half of the fits: 0.39 to 0.61 of RLAR's are left on faces and objects,
 * more where no cell is much better than others (docs/performance.md). */
static const double RACED = 0.5;

/* Cells of a method's grid that a search tries: all, or from coarse to fine about a third at the
 * most, and of these what a race leaves. */
static double cells_tried(const char *method, bool coarse, bool race) {
    const rlar_param_def *def = rlar_method_find(method)->params;
    double cells = 1.0;
    for (; def->name != NULL; def++) {
        int values = def->grid != NULL;
        for (const char *at = def->grid; at != NULL && *at != '\0'; at++)
            values += *at == ',';
        if (values > 4 && coarse)
            values = values / 2 + 1;
        cells *= values > 0 ? values : 1;
    }
    return cells > 1.0 && race ? RACED * cells : cells;
}

double search_fits(const reproduction *r, const char *method, bool whole) {
    return (double)r->spec.trials *
           cells_tried(method, !whole && r->spec.coarse, !whole && r->spec.race);
}

/* The first samples of each class, as many as are trained on; free the answer. */
static int64_t *first_rows(const rlar_data *data, const paper_entry *place, int64_t *count) {
    const int64_t classes = rlar_data_classes(data);
    int64_t *rows = cli_alloc((size_t)(place->per_class * classes) * sizeof *rows);
    *count = 0;
    for (int64_t k = 0; k < classes; k++)
        for (int64_t i = 0, taken = 0; i < rlar_data_samples(data) && taken < place->per_class; i++)
            if (rlar_data_label(data, i) == k) {
                rows[(*count)++] = i;
                taken++;
            }
    return rows;
}

void add_fits(cli *c, const rlar_data *data, const paper_entry *place, column which,
              const rlar_params *params, double fits, workload *sum) {
    rlar_forecast forecast = RLAR_INIT(rlar_forecast);
    rlar_fit_options options = RLAR_INIT(rlar_fit_options);
    int64_t *rows = first_rows(data, place, &options.n_rows);
    options.scale = place_scale(place, which);
    options.rows = rows;
    if (rlar_fit_forecast(c->ctx, data, params, &options, &forecast) >= 0) {
        sum->fits += fits;
        sum->flops += fits * forecast.flops;
    }
    free(rows);
}

workload place_work(cli *c, const reproduction *r, const rlar_data *data, const paper_entry *place,
                    column which) {
    workload sum = {0};
    for (int m = 0; m < r->method.count; m++) {
        const double trials = (double)r->spec.trials;
        const double tried = search_fits(r, r->method.item[m], false);
        const double fits = which == COLUMN_ORACLE ? tried
                            : which == COLUMN_CV   ? CV_FOLDS * tried + trials
                                                   : trials;
        add_fits(c, data, place, which, r->params[which == COLUMN_DEFAULT][m], fits, &sum);
    }
    return sum;
}

/* sum[k]: of column k. A file is read again for it, which is nothing. */
static int add_place(cli *c, const reproduction *r, const paper_entry *place, workload *sum) {
    place_data data;
    const int code = place_load(c, r->found, place, 1, r->spec.seed, &data);
    for (int k = 0; k < COLUMNS && code == 0; k++) {
        const workload more =
            r->wanted[k] ? place_work(c, r, data.data, place, (column)k) : (workload){0};
        sum[k].fits += more.fits;
        sum[k].flops += more.flops;
    }
    if (code == 0)
        place_free(&data);
    return code;
}

int forecast_total(cli *c, const reproduction *r) {
    workload sum[COLUMNS] = {{0}};
    double flops = 0.0;
    int code = 0;
    for (int i = 0; i < r->places && code == 0; i++) {
        const char *how;
        if (place_missing(r->found, r->place[i], &how) == NULL)
            code = add_place(c, r, r->place[i], sum);
    }
    for (int k = 0; k < COLUMNS; k++)
        flops += sum[k].flops;
    cli_work_total(c, flops);
    return code;
}

/* ---- for people and programs ---- */

void add_line(json_t *list, const char *name, column which, workload sum, double speed) {
    json_t *entry = json_object();
    cli_json_set(entry, "table", cli_json_text(name));
    cli_json_set(entry, "column", cli_json_text(column_name(which)));
    cli_json_set(entry, "fits", json_real(sum.fits));
    cli_json_set(entry, "operations", json_real(sum.flops));
    cli_json_set(entry, "seconds", json_real(sum.flops / speed));
    json_array_append_new(list, entry);
}

/* A line for each table and column; the places of a table stand together. */
static int forecast_lines(cli *c, reproduction *r, double speed, json_t *list) {
    int code = 0;
    for (int i = 0; i < r->places && code == 0;) {
        const char *name = r->place[i]->table;
        workload sum[COLUMNS] = {{0}};
        for (; i < r->places && strcmp(r->place[i]->table, name) == 0 && code == 0; i++)
            if (place_ready(c, r, r->place[i]))
                code = add_place(c, r, r->place[i], sum);
        for (int k = 0; k < COLUMNS && code == 0; k++)
            if (sum[k].fits > 0.0)
                add_line(list, name, (column)k, sum[k], speed);
    }
    return code;
}

static void print_lines(cli *c, const json_t *list, double gflops) {
    cli_table table = {.columns = 5};
    double seconds = 0.0;
    size_t index;
    json_t *line;
    cli_table_add(&table, "table\tcolumn\tfits\toperations\tminutes");
    json_array_foreach(list, index, line) {
        const double own = json_real_value(json_object_get(line, "seconds"));
        cli_table_add(&table, "%s\t%s\t%.0f\t%.2g\t%.1f",
                      json_string_value(json_object_get(line, "table")),
                      json_string_value(json_object_get(line, "column")),
                      json_real_value(json_object_get(line, "fits")),
                      json_real_value(json_object_get(line, "operations")), own / 60.0);
        seconds += own;
    }
    cli_table_print(c, &table);
    cli_printf(c,
               "\nin all about %.0f minutes, at half the speed of matrix products here (%.1f "
               "GF/s)\n",
               seconds / 60.0, gflops);
}

int forecast_print(cli *c, reproduction *r) {
    json_t *root = json_object(), *list = json_array();
    double gflops = 0.0;
    int code = cli_check(c, rlar_blas_speed(c->ctx, 0.3, &gflops));
    if (code == 0)
        code = forecast_lines(c, r, SHARE_OF_SPEED * 1e9 * gflops, list);
    if (code == 0)
        code = forecast_figures(c, r, SHARE_OF_SPEED * 1e9 * gflops, list);
    if (code == 0 && json_array_size(list) == 0)
        code = no_data(c);
    cli_json_set(root, "gflops", json_real(gflops));
    cli_json_set(root, "forecast", list);
    cli_json_set(root, "skipped", json_incref(r->skipped));
    if (code == 0 && c->args.json > 0) {
        cli_json_print(c, root);
        return 0;
    }
    if (code == 0)
        print_lines(c, list, gflops);
    json_decref(root);
    return code;
}
