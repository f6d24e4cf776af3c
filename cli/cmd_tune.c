/* cmd_tune.c - rlar tune: cross-validate every cell of a grid and choose one.
 *
 * This is an evaluation by folds in which every cell is measured on the part that its fit has not
 * seen (RLAR_TUNE_ORACLE), so that the mean accuracy of a cell is its cross-validated one. The
 * options are read by plan.c; tune_cells.c looks at the outcome, tune_out.c prints it. */
#include <string.h>

#include "tune.h"

static int plan_make(cli *c, cli_plan *p) {
    const cli_args *a = &c->args;
    const char *method = a->method != NULL ? a->method : "rlar";
    p->spec.split = RLAR_SPLIT_FOLDS;
    p->spec.folds = a->folds > 0 ? a->folds : 5;
    p->spec.trials = a->trials > 0 ? a->trials : 1;
    p->spec.tune = RLAR_TUNE_ORACLE;
    if (strchr(method, ',') != NULL)
        return cli_usage(c, "--method '%s': one method at a time; rlar evaluate compares several",
                         method);
    return cli_plan_make(c, method, p);
}

/* What the parameter itself allows: beyond that no grid can be extended. */
static bool at_limit(const tuning *t, const char *name, double value) {
    const rlar_param_def *def = rlar_params_method(t->params)->params;
    while (def->name != NULL && strcmp(def->name, name) != 0)
        def++;
    return def->name != NULL && (value <= def->min || value >= def->max);
}

/* A best cell on the edge of the grid says that a better one may lie outside. */
static void warn_edge(cli *c, const tuning *t, int64_t index) {
    const tune_axis *axis = &t->axis[index];
    double best = 0, value = 0;
    bool least = true, largest = true;
    if (!axis->numeric || axis->count < 2)
        return;
    cli_parse_real(cli_tuning_value(t, t->best, index), &best);
    for (int64_t i = 0; i < axis->count; i++) {
        cli_parse_real(cli_axis_value(t, index, i), &value);
        least = least && best <= value;
        largest = largest && best >= value;
    }
    if ((least || largest) && !at_limit(t, axis->name, best))
        cli_warn(c, "the best %s, %s, is the %s tried: extend the grid", axis->name,
                 cli_tuning_value(t, t->best, index), largest ? "largest" : "smallest");
}

static void warn(cli *c, const tuning *t) {
    const rlar_eval_result *r = &t->result;
    if (r->n_axes == 0)
        cli_warn(
            c, "%s has no grid of its own; name what to try, e.g. --grid scale=unit,minmax,zscore",
            r->method);
    if (r->failed > 0)
        cli_warn(c, "%lld of %lld fits of the best cell failed: %s", (long long)r->failed,
                 (long long)r->trials, r->failure != NULL ? r->failure : "no reason given");
    if (t->broken > 0)
        cli_warn(c, "%lld of %lld cells failed in more folds than the best and are left out",
                 (long long)t->broken, (long long)t->tried);
    for (int64_t i = 0; i < r->n_axes; i++)
        warn_edge(c, t, i);
}

/* Code 5 when no cell could be fitted in any fold. */
static int report(cli *c, tuning *t) {
    if (t->result.failed == t->result.trials)
        return cli_error(c, CODE_NUMERIC, "%s, %s: no fit succeeded: %s", t->data->name,
                         t->result.method,
                         t->result.failure != NULL ? t->result.failure : "no reason given");
    cli_tuning_make(t);
    if (c->args.json > 0)
        cli_json_print(c, cli_tuning_json(t));
    else
        cli_tuning_text(c, t);
    cli_flush(c); /* the result first, then what is to be said of it */
    warn(c, t);
    cli_note(c, "%lld fits in %.1f s", (long long)t->fits, t->seconds);
    cli_tuning_free(t);
    return 0;
}

int cli_cmd_tune(cli *c) {
    cli_plan p = {0};
    cli_data data = {0};
    rlar_eval *eval = NULL;
    int code = plan_make(c, &p);
    if (code == 0)
        code = cli_out_open(c, c->args.output);
    if (code == 0)
        code = cli_data_load(c, c->args.word[0], cli_missing_evaluated(c), &data);
    if (code == 0)
        code = cli_need_labels(c, &data);
    if (code == 0) {
        c->started = cli_now();
        code = cli_evaluate(c, data.data, &p.spec, &eval);
    }
    if (code == 0) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a plan that was made has a method */
        tuning t = {.data = &data, .params = p.params[0], .spec = &p.spec};
        t.seconds = cli_now() - c->started;
        t.result.size = sizeof t.result;
        code = cli_check(c, rlar_eval_get(eval, 0, &t.result));
        if (code == 0)
            code = report(c, &t);
    }
    rlar_eval_free(eval);
    cli_data_free(&data);
    cli_plan_free(&p);
    return code;
}
