/* plan.c - what the verbs that evaluate share: methods, grid and the other options as
 * rlar_eval_spec. All that can be wrong with them is found before the first file is read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Numbers by their value before texts; equal numbers, which may be written in two ways, by letters.
 */
static int compare_words(const void *a, const void *b) {
    const char *s = *(const char *const *)a, *t = *(const char *const *)b;
    double x = 0, y = 0;
    const bool number = cli_parse_real(s, &x), other = cli_parse_real(t, &y);
    if (number != other)
        return number ? -1 : 1;
    if (number && (x < y || x > y))
        return x < y ? -1 : 1;
    return strcmp(s, t);
}

static bool same_number(const char *s, const char *t) {
    double x = 0, y = 0;
    return cli_parse_real(s, &x) && cli_parse_real(t, &y) && !(x < y) && !(x > y);
}

/* What stands twice is a misprint. It would make two rows of one in a table of cells, and two
 * independent observations of one in a test of the methods. */
int cli_distinct(cli *c, const char *option, const char *text, const cli_words *list) {
    const size_t count = (size_t)list->count;
    const char **sorted = cli_alloc(count * sizeof *sorted);
    int code = 0;
    memcpy(sorted, list->item, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_words);
    for (size_t i = 1; i < count && code == 0; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            code = cli_usage(c, "%s '%s': %s is given twice", option, text, sorted[i]);
        else if (same_number(sorted[i - 1], sorted[i]))
            code = cli_usage(c, "%s '%s': %s and %s are the same number", option, text,
                             sorted[i - 1], sorted[i]);
    }
    free(sorted);
    return code;
}

/* Parameters are made at once, so that a wrong one is found before any file is read. */
static int plan_methods(cli *c, cli_plan *p, const char *names) {
    if (!cli_words_split(names, &p->methods))
        return cli_usage(c, "--methods '%s': an empty name; NAME,NAME,... expected", names);
    int code = cli_distinct(c, "--methods", names, &p->methods);
    if (code != 0)
        return code;
    p->params = cli_alloc((size_t)p->methods.count * sizeof(rlar_params *));
    memset(p->params, 0, (size_t)p->methods.count * sizeof(rlar_params *));
    code = cli_params_make(c, p->methods.item, p->methods.count, p->params);
    p->spec.methods = (const rlar_params *const *)p->params;
    p->spec.n_methods = p->methods.count;
    return code;
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
static int check_axis(cli *c, const cli_plan *p, const cli_assignment *axis,
                      const cli_words *values) {
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
        return cli_usage(c, "--grid: method '%s' is not among those in use", axis->method);
    return code == 0 && tried == 0 ? try_values(c, first, axis->name, values) : code;
}

/* One --grid: its values, and whether they can be used. */
static int plan_axis(cli *c, cli_plan *p, int index) {
    cli_assignment *axis = &p->axis[index];
    cli_words *values = &p->values[index];
    const char *text = c->args.grid.item[index].text;
    int code = cli_assignment_parse(c, "--grid", &c->args.grid.item[index], axis);
    if (code != 0)
        return code;
    if (!cli_words_split(axis->value, values))
        return cli_usage(c, "--grid '%s': an empty value; NAME=V,V,... expected", text);
    if ((code = cli_distinct(c, "--grid", text, values)) != 0)
        return code;
    const bool scale = strcmp(axis->name, "scale") == 0;
    if (scale) /* the comma separates values, so a chain is written minmax+unit */
        for (char *at = values->copy; at < values->copy + strlen(axis->value); at++)
            *at = *at == '+' ? ',' : *at;
    p->axes[index] = (rlar_axis){axis->method, axis->name, values->item, values->count};
    if (scale || strcmp(axis->name, "classifier") == 0)
        return 0; /* rlar_eval_check asks for these */
    return check_axis(c, p, axis, values);
}

static int plan_grid(cli *c, cli_plan *p) {
    const size_t count = (size_t)c->args.grid.count;
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

/* With means, missing values are kept: each training part has means of its own
 * (rlar_eval_spec.fill), those of all samples would tell it of the test samples. */
rlar_missing cli_missing_evaluated(const cli *c) {
    const rlar_missing missing = (rlar_missing)c->args.missing;
    return missing == RLAR_MISSING_MEAN ? RLAR_MISSING_KEEP : missing;
}

int cli_plan_make(cli *c, const char *methods, cli_plan *p) {
    const cli_args *a = &c->args;
    p->spec.size = sizeof p->spec;
    p->spec.seed = a->seed >= 0 ? (uint64_t)a->seed : 1;
    p->spec.scale = cli_scale(c);
    p->spec.classifier = cli_classifier(c);
    p->spec.neighbours = a->neighbours;
    p->spec.coarse = a->coarse;
    p->spec.journal = a->resume;
    p->spec.fill = a->missing == RLAR_MISSING_MEAN;
    int code = cli_out_alone(c, "--resume", "a journal", a->resume);
    if (code == 0)
        code = plan_methods(c, p, methods);
    if (code == 0)
        code = plan_grid(c, p);
    rlar_eval_spec spec = p->spec;
    if (spec.split == RLAR_SPLIT_PER_CLASS && spec.per_class == 0)
        spec.per_class = 1; /* the sizes of the runs come later */
    return code == 0 ? cli_check(c, rlar_eval_check(c->ctx, &spec)) : code;
}

void cli_plan_free(cli_plan *p) {
    for (int i = 0; i < p->methods.count && p->params != NULL; i++)
        rlar_params_free(p->params[i]);
    for (int i = 0; i < p->spec.n_axes && p->values != NULL; i++) {
        cli_words_free(&p->values[i]);
        free(p->axis[i].copy);
    }
    cli_words_free(&p->methods);
    free(p->params);
    free(p->axis);
    free(p->values);
    free(p->axes);
}
