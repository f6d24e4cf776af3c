/* reproduce_figures.c - the paper's figures as numbers, for rlar plot and rlar report:
 *
 *   sensitivity  accuracy over the whole grid of alpha and beta, ten data sets
 *   ksweep       accuracy over the number of neighbours, YaleB, alpha and beta at their best
 *   convergence  the objective over the iterations, first split, ten data sets
 *   matrices     T, V and S of the first twenty classes of AR, first split
 *
 * All of RLAR with the paper's parameters. The last three need the best cell of a grid first, which
 * is searched from coarse to fine as for the tables, and is in the journal when they were made. */
#include <stdlib.h>
#include <string.h>

#include "reproduce.h"

static const char *const names[] = {"sensitivity", "ksweep", "convergence", "matrices"};
typedef enum kind { SENSITIVITY, KSWEEP, CONVERGENCE, MATRICES, KINDS } kind;

/* The training sizes of the figures. */
typedef struct subject {
    const char *data;
    int64_t per_class;
} subject;
static const subject subjects[] = {{"dermatology", 12}, {"diabetes", 76}, {"ionosphere", 35},
                                   {"iris", 10},        {"wine", 11},     {"binalpha", 19},
                                   {"yaleb", 30},       {"ar", 8},        {"coil20", 30}};

enum { SHOWN_CLASSES = 20 };

bool figure_known(const char *name) {
    for (int i = 0; i < KINDS; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool named(const cli *c, kind which) {
    for (int i = 0; i < c->args.words; i++)
        if (strcmp(c->args.word[i], names[which]) == 0)
            return true;
    return false;
}

/* Has the data set a part in the figure, if that was asked for? */
static bool takes_part(const cli *c, kind which, const char *data) {
    const char *only = which == KSWEEP ? "yaleb" : which == MATRICES ? "ar" : data;
    return named(c, which) && strcmp(data, only) == 0;
}

/* The place of a table with these samples; the robustness tables have others. */
static const paper_entry *place_of(const reproduction *r, const subject *s) {
    for (int i = 0; i < r->paper.count; i++) {
        const paper_entry *e = &r->paper.entry[i];
        if (strcmp(e->data, s->data) == 0 && e->per_class == s->per_class && e->variant[0] == '\0')
            return e;
    }
    return NULL;
}

/* ---- evaluations of RLAR alone ---- */

static rlar_eval_spec spec_of(const reproduction *r, const paper_entry *place,
                              const rlar_params *const *params) {
    rlar_eval_spec spec = r->spec;
    spec.methods = params;
    spec.n_methods = 1;
    spec.tune = RLAR_TUNE_ORACLE;
    spec.scale = place_scale(place, COLUMN_ORACLE);
    spec.split = RLAR_SPLIT_PER_CLASS;
    spec.per_class = place->per_class;
    return spec;
}

static void add_result(reproduction *r, kind which, const paper_entry *place,
                       const rlar_params *params, const rlar_eval_result *result) {
    json_array_append_new(r->figures,
                          place_json(place, names[which], COLUMN_ORACLE, params, result));
}

static int search(cli *c, const rlar_eval_spec *spec, const place_data *data, rlar_eval **eval,
                  rlar_eval_result *out) {
    c->started = cli_now();
    *out = RLAR_INIT(rlar_eval_result);
    const int code = cli_evaluate(c, data->data, spec, eval);
    return code == 0 ? cli_check(c, rlar_eval_get(*eval, 0, out)) : code;
}

static int sensitivity(cli *c, reproduction *r, const paper_entry *place, const place_data *data,
                       rlar_params *params) {
    const rlar_params *const methods[] = {params};
    rlar_eval_spec spec = spec_of(r, place, methods);
    rlar_eval *eval = NULL;
    rlar_eval_result result;
    spec.coarse = spec.race = 0; /* the map itself is wanted */
    const int code = search(c, &spec, data, &eval, &result);
    if (code == 0)
        add_result(r, SENSITIVITY, place, params, &result);
    rlar_eval_free(eval);
    return code;
}

/* alpha and beta of the best cell into the parameters. */
static int set_best(cli *c, const reproduction *r, const paper_entry *place, const place_data *data,
                    rlar_params *params) {
    const rlar_params *const methods[] = {params};
    const rlar_eval_spec spec = spec_of(r, place, methods);
    rlar_eval *eval = NULL;
    rlar_eval_result result;
    int code = search(c, &spec, data, &eval, &result);
    for (int64_t a = 0; a < result.n_axes && code == 0; a++)
        code = cli_check(
            c, rlar_params_set(c->ctx, params, result.axis_names[a],
                               result.cell_values[result.selected[0] * result.n_axes + a]));
    rlar_eval_free(eval);
    return code;
}

static int ksweep(cli *c, reproduction *r, const paper_entry *place, const place_data *data,
                  rlar_params *params) {
    const rlar_params *const methods[] = {params};
    rlar_eval_spec spec = spec_of(r, place, methods);
    const size_t count = (size_t)place->per_class - 1;
    char(*text)[CLI_NUMBER_SIZE] = cli_alloc(count * sizeof *text);
    const char **value = cli_alloc(count * sizeof *value);
    for (size_t i = 0; i < count; i++)
        value[i] = cli_number((double)i + 1, text[i]);
    const rlar_axis axis = {.name = "k", .values = value, .n_values = (int64_t)count};
    rlar_eval *eval = NULL;
    rlar_eval_result result;
    spec.axes = &axis;
    spec.n_axes = 1;
    spec.coarse = spec.race = 0; /* the map itself is wanted */
    const int code = search(c, &spec, data, &eval, &result);
    if (code == 0)
        add_result(r, KSWEEP, place, params, &result);
    rlar_eval_free(eval);
    free(text);
    free(value);
    return code;
}

/* ---- the fit on the first split ---- */

static void note_iteration(cli *c, const rlar_info *info, void *user) {
    json_t *const *list = user;
    (void)c;
    json_array_append_new(list[0], cli_json_number(info->objective));
}

static int fit_first(cli *c, const reproduction *r, const paper_entry *place,
                     const place_data *data, const rlar_params *params, json_t *objective,
                     rlar_model **model) {
    const rlar_params *const methods[] = {params};
    rlar_eval_spec spec = spec_of(r, place, methods);
    rlar_fit_options options = RLAR_INIT(rlar_fit_options);
    rlar_rows *rows = NULL;
    spec.trials = 1;
    int code = cli_check(c, rlar_eval_splits(c->ctx, data->data, &spec, &rows));
    if (code != 0)
        return code;
    options.scale = spec.scale;
    options.rows = rows->train;
    options.n_rows = rows->n_train;
    c->on_iteration = note_iteration;
    c->on_iteration_user = &objective;
    code = cli_check(c, rlar_fit(c->ctx, data->data, params, &options, model, NULL));
    c->on_iteration = NULL;
    rlar_rows_free(rows);
    return code;
}

static json_t *rows_json(const double *value, int64_t rows, int64_t columns) {
    json_t *list = json_array();
    for (int64_t i = 0; i < rows; i++) {
        json_t *row = json_array();
        for (int64_t j = 0; j < columns; j++)
            json_array_append_new(row, cli_json_number(value[i * columns + j]));
        json_array_append_new(list, row);
    }
    return list;
}

/* T of all classes; V and S of the samples shown. */
static int matrices_json(cli *c, const paper_entry *place, const rlar_model *model, json_t **out) {
    const int64_t classes = rlar_model_classes(model);
    const int64_t shown = classes < SHOWN_CLASSES ? classes : SHOWN_CLASSES;
    const int64_t n = shown * place->per_class;
    double *t = cli_alloc((size_t)(n * classes) * sizeof *t);
    double *v = cli_alloc((size_t)(n * n) * sizeof *v), *s = cli_alloc((size_t)(n * n) * sizeof *s);
    const int code = cli_check(c, rlar_model_matrices(c->ctx, model, 0, n, t, v, s));
    if (code == 0) {
        json_t *sizes = json_array();
        for (int64_t i = 0; i < shown; i++)
            json_array_append_new(sizes, json_integer(place->per_class));
        *out = json_object();
        cli_json_set(*out, "data", cli_json_text(place->data));
        cli_json_set(*out, "T", rows_json(t, n, classes));
        cli_json_set(*out, "V", rows_json(v, n, n));
        cli_json_set(*out, "S", rows_json(s, n, n));
        cli_json_set(*out, "classes", sizes);
    }
    free(t);
    free(v);
    free(s);
    return code;
}

/* The curve and, of AR, the matrices. */
static int first_split(cli *c, reproduction *r, const paper_entry *place, const place_data *data,
                       const rlar_params *params) {
    json_t *objective = json_array();
    rlar_model *model = NULL;
    int code = fit_first(c, r, place, data, params, objective, &model);
    if (code == 0 && named(c, CONVERGENCE)) {
        json_t *curve = json_object();
        cli_json_set(curve, "data", cli_json_text(place->data));
        cli_json_set(curve, "train_per_class", json_integer(place->per_class));
        cli_json_set(curve, "params", cli_json_params(params));
        cli_json_set(curve, "objective", json_incref(objective));
        json_array_append_new(r->convergence, curve);
    }
    if (code == 0 && takes_part(c, MATRICES, place->data))
        code = matrices_json(c, place, model, &r->matrices);
    rlar_model_free(model);
    json_decref(objective);
    return code;
}

/* ---- all of them ---- */

/* Has it one beyond its grid? */
static bool needs_best(const cli *c, const char *data) {
    return takes_part(c, CONVERGENCE, data) || takes_part(c, KSWEEP, data) ||
           takes_part(c, MATRICES, data);
}

static int paper_params(cli *c, rlar_params **out) {
    const int code = cli_check(c, rlar_params_new(c->ctx, "rlar", out));
    return code == 0 ? cli_check(c, rlar_params_preset(c->ctx, *out, "paper")) : code;
}

static int run_subject(cli *c, reproduction *r, const paper_entry *place) {
    rlar_params *params = NULL;
    place_data data;
    const double begun = cli_now();
    int code = place_load(c, r->found, place, r->spec.trials, r->spec.seed, &data);
    if (code != 0)
        return code;
    code = paper_params(c, &params);
    if (code == 0 && named(c, SENSITIVITY))
        code = sensitivity(c, r, place, &data, params);
    if (code == 0 && needs_best(c, place->data)) {
        code = set_best(c, r, place, &data, params);
        if (code == 0 && takes_part(c, KSWEEP, place->data))
            code = ksweep(c, r, place, &data, params);
        if (code == 0)
            code = first_split(c, r, place, &data, params);
    }
    if (code == 0)
        cli_note(c, "figures of %s in %.1f s", place->data, cli_now() - begun);
    rlar_params_free(params);
    place_free(&data);
    return code;
}

int run_figures(cli *c, reproduction *r) {
    int code = 0;
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0] && code == 0; i++) {
        const paper_entry *place = place_of(r, &subjects[i]);
        const bool wanted = named(c, SENSITIVITY) || needs_best(c, place->data);
        if (wanted && place_ready(c, r, place))
            code = run_subject(c, r, place);
    }
    return code;
}

/* ---- --dry-run ---- */

/* What of the figure is made of this place. A search that several figures need counts for each,
 * though the journal has it for all but the first. */
static int add_work(cli *c, const reproduction *r, kind which, const paper_entry *place,
                    const rlar_params *params, workload *sum) {
    place_data data;
    const double sweep = (double)(r->spec.trials * (place->per_class - 1));
    const double fits =
        search_fits(r, "rlar", which == SENSITIVITY) + (which == KSWEEP        ? sweep
                                                        : which == SENSITIVITY ? 0.0
                                                                               : 1.0);
    const int code = place_load(c, r->found, place, 1, r->spec.seed, &data);
    if (code != 0)
        return code;
    add_fits(c, data.data, place, COLUMN_ORACLE, params, fits, sum);
    place_free(&data);
    return 0;
}

static int figure_work(cli *c, reproduction *r, kind which, const rlar_params *params,
                       workload *sum) {
    int code = 0;
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0] && code == 0; i++) {
        const paper_entry *place = place_of(r, &subjects[i]);
        if (takes_part(c, which, place->data) && place_ready(c, r, place))
            code = add_work(c, r, which, place, params, sum);
    }
    return code;
}

int forecast_figures(cli *c, reproduction *r, double speed, json_t *list) {
    rlar_params *params = NULL;
    int code = paper_params(c, &params);
    for (int which = 0; which < KINDS && code == 0; which++) {
        workload sum = {0};
        code = figure_work(c, r, (kind)which, params, &sum);
        if (code == 0 && sum.fits > 0.0)
            add_line(list, names[which], COLUMN_ORACLE, sum, speed);
    }
    rlar_params_free(params);
    return code;
}
