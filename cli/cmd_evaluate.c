/* cmd_evaluate.c - rlar evaluate: from options to rlar_eval_spec, and the runs.
 *
 * For every DATA and every training size one evaluation, in which all methods see the same splits.
 * All that can be wrong with the options is found before the first file is read. evaluate_out.c
 * prints. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct plan {
    cli_words methods;
    rlar_params **params; /* one per method */
    cli_assignment *axis; /* one per --grid */
    cli_words *values;
    rlar_axis *axes;
    double *size; /* training sizes; one entry for a share or folds */
    int n_sizes;
    rlar_eval_spec spec;
} plan;

/* ---- options into the plan ---- */

/* Parameters are made at once, so that a wrong one is found before any file is read. */
static int plan_methods(cli *c, plan *p) {
    const char *text = c->args.methods != NULL ? c->args.methods : "rlar";
    if (!cli_words_split(text, &p->methods))
        return cli_usage(c, "--methods '%s': an empty name; NAME,NAME,... expected", text);
    p->params = cli_alloc((size_t)p->methods.count * sizeof(rlar_params *));
    memset(p->params, 0, (size_t)p->methods.count * sizeof(rlar_params *));
    const int code = cli_params_make(c, p->methods.item, p->methods.count, p->params);
    p->spec.methods = (const rlar_params *const *)p->params;
    p->spec.n_methods = p->methods.count;
    return code;
}

/* The sizes of --train-per-class. */
static int plan_sizes(cli *c, plan *p) {
    cli_words list = {0};
    const char *text = c->args.train_per_class;
    bool good = cli_words_split(text, &list);
    p->size = cli_alloc((size_t)list.count * sizeof *p->size);
    for (int i = 0; i < list.count && good; i++) {
        int64_t value = 0;
        good = cli_parse_int(list.item[i], 1, &value);
        p->size[p->n_sizes++] = (double)value;
    }
    cli_words_free(&list);
    return good ? 0
                : cli_usage(c,
                            "--train-per-class '%s': whole numbers of at least 1 expected, "
                            "e.g. 5 or 5,10,20",
                            text);
}

/* Exactly one of the three ways to split; no default, since each means another question. */
static int plan_split(cli *c, plan *p) {
    const cli_args *a = &c->args;
    const int given = (a->train_per_class != NULL) + (a->train_fraction > 0) + (a->folds > 0);
    if (given == 0)
        return cli_usage(c,
                         "how to split? give --train-per-class U, --train-fraction F or --folds N, "
                         "e.g. rlar evaluate wine.csv --train-fraction 0.2");
    if (given > 1)
        return cli_usage(c, "--train-per-class, --train-fraction and --folds exclude each other");
    if (a->train_per_class != NULL) {
        p->spec.split = RLAR_SPLIT_PER_CLASS;
        return plan_sizes(c, p);
    }
    p->spec.split = a->folds > 0 ? RLAR_SPLIT_FOLDS : RLAR_SPLIT_FRACTION;
    p->spec.folds = a->folds;
    p->spec.fraction = a->train_fraction;
    p->size = cli_alloc(sizeof *p->size);
    p->size[0] = a->folds > 0 ? (double)a->folds : a->train_fraction;
    p->n_sizes = 1;
    return 0;
}

/* Does the method take every value? Asked on a copy; the library's message lists what is allowed.
 */
static int try_values(cli *c, const rlar_params *params, const char *name,
                      const cli_words *values) {
    rlar_params *copy = NULL;
    int code = cli_check(c, rlar_params_copy(c->ctx, params, &copy));
    for (int k = 0; k < values->count && code == 0; k++)
        code = cli_check(c, rlar_params_set(c->ctx, copy, name, values->item[k]));
    rlar_params_free(copy);
    return code;
}

/* Some method in use has the parameter, and takes every value. Where none has it, the first is
 * asked all the same, for its message. */
static int check_axis(cli *c, const plan *p, const cli_assignment *axis, const cli_words *values) {
    int code = 0, tried = 0;
    const rlar_params *first = NULL;
    for (int i = 0; i < p->methods.count && code == 0; i++) {
        if (axis->method != NULL && strcmp(axis->method, p->methods.item[i]) != 0)
            continue;
        if (first == NULL)
            first = p->params[i];
        if (isnan(rlar_params_get(p->params[i], axis->name)))
            continue;
        code = try_values(c, p->params[i], axis->name, values);
        tried++;
    }
    if (first == NULL)
        return cli_usage(c, "--grid: method '%s' is not among --methods", axis->method);
    return code == 0 && tried == 0 ? try_values(c, first, axis->name, values) : code;
}

/* One --grid: its values, and whether they can be used. */
static int plan_axis(cli *c, plan *p, int index) {
    cli_assignment *axis = &p->axis[index];
    cli_words *values = &p->values[index];
    int code = cli_assignment_parse(c, "--grid", &c->args.grid.item[index], axis);
    if (code != 0)
        return code;
    if (!cli_words_split(axis->value, values))
        return cli_usage(c, "--grid '%s': an empty value; NAME=V,V,... expected",
                         c->args.grid.item[index].text);
    const bool scale = strcmp(axis->name, "scale") == 0;
    if (scale) /* the comma separates values, so a chain is written minmax+unit */
        for (char *at = values->copy; at < values->copy + strlen(axis->value); at++)
            *at = *at == '+' ? ',' : *at;
    p->axes[index] = (rlar_axis){axis->method, axis->name, values->item, values->count};
    if (scale || strcmp(axis->name, "classifier") == 0)
        return 0; /* rlar_eval_check asks for these */
    return check_axis(c, p, axis, values);
}

static int plan_grid(cli *c, plan *p) {
    const size_t count = (size_t)c->args.grid.count;
    if (count > 0 && c->args.tune == RLAR_TUNE_NONE)
        return cli_usage(c, "--grid needs --tune cv (honest) or --tune oracle (an upper bound)");
    p->axis = cli_alloc(count * sizeof *p->axis);
    p->values = cli_alloc(count * sizeof *p->values);
    p->axes = cli_alloc(count * sizeof *p->axes);
    memset(p->axis, 0, count * sizeof *p->axis);
    memset(p->values, 0, count * sizeof *p->values);
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        code = plan_axis(c, p, (int)i);
    p->spec.axes = count > 0 ? p->axes : NULL;
    p->spec.n_axes = (int64_t)count;
    return code;
}

/* Everything but the training size of --train-per-class, which changes from run to run. */
static int plan_make(cli *c, plan *p) {
    const cli_args *a = &c->args;
    p->spec.size = sizeof p->spec;
    p->spec.trials = a->trials > 0 ? a->trials : 10;
    p->spec.seed = a->seed >= 0 ? (uint64_t)a->seed : 1;
    p->spec.tune = (rlar_tune)a->tune;
    p->spec.tune_folds = a->tune_folds;
    p->spec.scale = a->scale != NULL ? a->scale : "unit";
    p->spec.classifier = a->classifier != NULL ? a->classifier : "1nn";
    p->spec.neighbours = a->neighbours;
    p->spec.coarse = a->coarse;
    p->spec.journal = a->resume;
    if (a->coarse > 0 && a->tune == RLAR_TUNE_NONE)
        return cli_usage(c, "--coarse needs --tune cv or --tune oracle");
    if (a->json + a->csv + a->latex > 1)
        return cli_usage(c, "--json, --csv and --latex exclude each other");
    int code = plan_split(c, p);
    if (code == 0)
        code = plan_methods(c, p);
    if (code == 0)
        code = plan_grid(c, p);
    return code == 0 ? cli_check(c, rlar_eval_check(c->ctx, &p->spec)) : code;
}

static void plan_free(plan *p, int grids) {
    for (int i = 0; i < p->methods.count && p->params != NULL; i++)
        rlar_params_free(p->params[i]);
    for (int i = 0; i < grids && p->values != NULL; i++) {
        cli_words_free(&p->values[i]);
        free(p->axis[i].copy);
    }
    cli_words_free(&p->methods);
    free(p->params);
    free(p->axis);
    free(p->values);
    free(p->axes);
    free(p->size);
}

/* ---- the runs ---- */

typedef struct runs {
    cli_data *data;
    rlar_eval **eval; /* one per data and size */
    cli_row *row;
    int n_data, n_evals, n_rows;
} runs;

/* One evaluation; its results become rows. */
static int run_one(cli *c, plan *p, runs *r, const cli_data *data, double size) {
    rlar_eval *eval = NULL;
    p->spec.per_class = p->spec.split == RLAR_SPLIT_PER_CLASS ? (int64_t)size : 0;
    c->started = cli_now();
    int code = cli_check(c, rlar_evaluate(c->ctx, data->data, &p->spec, &eval));
    if (code != 0)
        return code;
    r->eval[r->n_evals++] = eval;
    for (int m = 0; m < p->methods.count && code == 0; m++) {
        cli_row *row = &r->row[r->n_rows++];
        *row = (cli_row){.data = data, .params = p->params[m], .size = size};
        row->result.size = sizeof row->result;
        code = cli_check(c, rlar_eval_get(eval, m, &row->result));
        if (code == 0 && row->result.failed > 0)
            cli_warn(c, "%s, %s: %lld of %lld fits failed: %s", data->name, row->result.method,
                     (long long)row->result.failed, (long long)row->result.trials,
                     row->result.failure != NULL ? row->result.failure : "no reason given");
    }
    return code;
}

/* Data are kept until the end: rows point into them. */
static int run_all(cli *c, plan *p, runs *r) {
    int code = 0;
    for (int i = 0; i < c->args.words && code == 0; i++) {
        cli_data *data = &r->data[i];
        code = cli_data_load(c, c->args.word[i], (rlar_missing)c->args.missing, data);
        if (code != 0)
            break;
        r->n_data = i + 1;
        code = cli_need_labels(c, data);
        for (int s = 0; s < p->n_sizes && code == 0; s++)
            code = run_one(c, p, r, data, p->size[s]);
    }
    return code;
}

static void print(cli *c, const cli_outcome *out) {
    if (c->args.json > 0)
        cli_json_print(c, cli_outcome_json(out));
    else if (c->args.csv > 0)
        cli_outcome_csv(c, out);
    else if (c->args.latex > 0)
        cli_outcome_latex(c, out);
    else
        cli_outcome_text(c, out);
}

/* Code 5 only when no fit of any method succeeded: then there is no result. */
static int conclude(cli *c, const plan *p, const runs *r) {
    cli_outcome out = {.data = r->data,
                       .n_data = r->n_data,
                       .row = r->row,
                       .n_rows = r->n_rows,
                       .n_methods = p->methods.count,
                       .spec = &p->spec};
    bool any = false;
    for (int i = 0; i < r->n_rows; i++)
        any = any || r->row[i].result.failed < r->row[i].result.trials;
    if (!any)
        return cli_error(c, CODE_NUMERIC, "no fit succeeded");
    cli_comparison comparison;
    const int code = cli_comparison_make(c, &out, &comparison);
    if (code == 0) {
        out.comparison = comparison.blocks > 0 ? &comparison : NULL;
        print(c, &out);
    }
    cli_comparison_free(&comparison);
    return code;
}

int cli_cmd_evaluate(cli *c) {
    plan p = {0};
    runs r = {0};
    const double begun = cli_now();
    int code = plan_make(c, &p);
    if (code == 0)
        code = cli_out_open(c, c->args.output);
    if (code == 0) {
        const size_t evals = (size_t)c->args.words * (size_t)p.n_sizes;
        r.data = cli_alloc((size_t)c->args.words * sizeof *r.data);
        memset(r.data, 0, (size_t)c->args.words * sizeof *r.data);
        r.eval = cli_alloc(evals * sizeof(rlar_eval *));
        r.row = cli_alloc(evals * (size_t)p.methods.count * sizeof *r.row);
        code = run_all(c, &p, &r);
    }
    if (code == 0)
        code = conclude(c, &p, &r);
    if (code == 0) {
        cli_flush(c); /* the table first, then how long it took */
        cli_note(c, "%d result%s in %.1f s", r.n_rows, r.n_rows == 1 ? "" : "s", cli_now() - begun);
    }
    for (int i = 0; i < r.n_evals; i++)
        rlar_eval_free(r.eval[i]);
    for (int i = 0; i < r.n_data; i++)
        cli_data_free(&r.data[i]);
    free(r.data);
    free(r.eval);
    free(r.row);
    plan_free(&p, c->args.grid.count);
    return code;
}
