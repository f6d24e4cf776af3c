/* tune_out.c - the outcome of rlar tune as text for people or as JSON.
 *
 * Accuracies are fractions in JSON, per cent in the text. The text ends with the command that fits
 * the best cell. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune.h"

enum { PAGE_WIDTH = 99, CELL_WIDTH = 6, GAP = 2, LISTED = 10 };

/* ---- the summary ---- */

/* "alpha 0.1  beta 1" */
static void print_cell(cli *c, const tuning *t, int64_t cell) {
    for (int64_t i = 0; i < t->result.n_axes; i++)
        cli_printf(c, "%s%s %s", i > 0 ? "  " : "", t->axis[i].name, cli_tuning_value(t, cell, i));
}

/* From the smallest to the largest of the numbers that are marked. */
static void print_numbers(cli *c, const tuning *t, int64_t axis, const bool *marked) {
    const char *from = "", *to = "";
    double least = INFINITY, largest = -INFINITY, value = 0;
    for (int64_t i = 0; i < t->axis[axis].count; i++) {
        const char *text = cli_axis_value(t, axis, i);
        if (!marked[i] || !cli_parse_real(text, &value))
            continue;
        if (value < least) {
            from = text;
            least = value;
        }
        if (value > largest) {
            to = text;
            largest = value;
        }
    }
    cli_printf(c, " %s", from);
    if (largest > least)
        cli_printf(c, " to %s", to);
}

/* What the cells near the best have on an axis: a range of numbers, or a list of texts. */
static void print_range(cli *c, const tuning *t, int64_t axis) {
    const tune_axis *a = &t->axis[axis];
    const char *joint = " ";
    bool *marked = cli_alloc((size_t)a->count * sizeof *marked);
    memset(marked, 0, (size_t)a->count * sizeof *marked);
    for (int64_t i = 0; i < t->result.cells; i++)
        if (t->within[i])
            marked[i / a->stride % a->count] = true;
    cli_printf(c, "%s", a->name);
    if (a->numeric)
        print_numbers(c, t, axis, marked);
    for (int64_t i = 0; i < a->count && !a->numeric; i++)
        if (marked[i]) {
            cli_printf(c, "%s%s", joint, cli_axis_value(t, axis, i));
            joint = " or ";
        }
    free(marked);
}

/* How flat the top is, and the cell that the rule of one standard error would take. */
static void print_flatness(cli *c, const tuning *t) {
    if (t->n_within == 1) {
        cli_printf(
            c, "flat top    1 of %lld cells, the best itself, is within one standard error of it\n",
            (long long)t->tried);
        return;
    }
    cli_printf(c, "flat top    %lld of %lld cells are within one standard error of the best:\n",
               (long long)t->n_within, (long long)t->tried);
    for (int64_t i = 0; i < t->result.n_axes; i++) {
        cli_printf(c, "            ");
        print_range(c, t, i);
        cli_printf(c, "\n");
    }
    cli_printf(c, "simplest    ");
    print_cell(c, t, t->simplest);
    cli_printf(c, " (%.2f %%): of these, the largest number on each axis in turn\n",
               100 * t->result.cell_accuracy[t->simplest]);
}

static void print_summary(cli *c, const tuning *t) {
    const rlar_eval_result *r = &t->result;
    cli_printf(c, "tried       %s with %s: %lld of %lld cell%s, %lld folds", t->data->name,
               r->method, (long long)t->tried, (long long)r->cells, r->cells == 1 ? "" : "s",
               (long long)t->spec->folds);
    if (t->spec->trials > 1)
        cli_printf(c, ", %lld times", (long long)t->spec->trials);
    cli_printf(c, "\n");
    if (r->n_axes > 0) {
        cli_printf(c, "best        ");
        print_cell(c, t, t->best);
        cli_printf(c, "\n");
    }
    cli_printf(c, "accuracy    %.2f", 100 * r->accuracy_mean);
    if (!isnan(t->error))
        cli_printf(c, " \xc2\xb1 %.2f", 100 * t->error);
    cli_printf(c, " %%, mean over the folds%s\n", isnan(t->error) ? "" : " and its standard error");
    if (r->cells > 1)
        print_flatness(c, t);
}

/* ---- the grid ---- */

/* "97.2", "*97.2" for the best, "." where not tried, "x" where it failed. */
static const char *show(const tuning *t, int64_t cell, char buf[CLI_NUMBER_SIZE]) {
    if (!cli_cell_tried(t, cell))
        return ".";
    if (!cli_cell_comparable(t, cell))
        return "x";
    snprintf(buf, CLI_NUMBER_SIZE, "%s%.1f", cell == t->best ? "*" : "",
             100 * t->result.cell_accuracy[cell]);
    return buf;
}

/* A line per cell with its values on some axes. */
static void print_list(cli *c, const tuning *t, const int64_t *cell, int64_t count,
                       const int64_t *axes, int64_t n_axes) {
    char buf[CLI_NUMBER_SIZE];
    for (int64_t j = 0; j < n_axes; j++)
        cli_printf(c, "%*s  ", t->axis[axes[j]].width, t->axis[axes[j]].name);
    cli_printf(c, "accuracy\n");
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < n_axes; j++)
            cli_printf(c, "%*s  ", t->axis[axes[j]].width, cli_tuning_value(t, cell[i], axes[j]));
        cli_printf(c, "%8s\n", show(t, cell[i], buf));
    }
}

/* One axis varies: all its values. */
static void print_axis(cli *c, const tuning *t, const int64_t *axes) {
    const tune_axis *axis = &t->axis[axes[0]];
    int64_t *cell = cli_alloc((size_t)axis->count * sizeof *cell);
    for (int64_t i = 0; i < axis->count; i++)
        cell[i] = i * axis->stride;
    print_list(c, t, cell, axis->count, axes, 1);
    free(cell);
}

/* Three axes or more: the best cells, kept in order while all are looked through. */
static void print_best(cli *c, const tuning *t, const int64_t *axes, int64_t n_axes) {
    int64_t cell[LISTED + 1], count = 0;
    for (int64_t i = 0; i < t->result.cells; i++) {
        if (!cli_cell_comparable(t, i))
            continue;
        int64_t at = count;
        for (; at > 0 && cli_cell_before(t, i, cell[at - 1]); at--)
            cell[at] = cell[at - 1];
        cell[at] = i;
        count += count < LISTED;
    }
    cli_printf(c, "the best %lld of %lld cells\n", (long long)count, (long long)t->tried);
    print_list(c, t, cell, count, axes, n_axes);
}

static int column_width(const tuning *t, int64_t axis, int64_t index) {
    const int length = (int)strlen(cli_axis_value(t, axis, index));
    return GAP + (length > CELL_WIDTH ? length : CELL_WIDTH);
}

/* Two axes: the first downwards, the second across, in as many blocks as the page asks for. */
static void print_map(cli *c, const tuning *t, const int64_t *axes) {
    char corner[64], buf[CLI_NUMBER_SIZE];
    const tune_axis *down = &t->axis[axes[0]], *across = &t->axis[axes[1]];
    const int length = snprintf(corner, sizeof corner, "%s \\ %s", down->name, across->name);
    const int left = length > down->width ? length : down->width;
    for (int64_t first = 0, end = 0; first < across->count; first = end) {
        int width = left;
        do
            width += column_width(t, axes[1], end++);
        while (end < across->count && width + column_width(t, axes[1], end) <= PAGE_WIDTH);
        cli_printf(c, "%s%*s", first > 0 ? "\n" : "", left, corner);
        for (int64_t j = first; j < end; j++)
            cli_printf(c, "%*s", column_width(t, axes[1], j), cli_axis_value(t, axes[1], j));
        for (int64_t i = 0; i < down->count; i++) {
            cli_printf(c, "\n%*s", left, cli_axis_value(t, axes[0], i));
            for (int64_t j = first; j < end; j++)
                cli_printf(c, "%*s", column_width(t, axes[1], j),
                           show(t, i * down->stride + j * across->stride, buf));
        }
        cli_printf(c, "\n");
    }
}

static void print_grid(cli *c, const tuning *t) {
    int64_t *axes = cli_alloc((size_t)t->result.n_axes * sizeof *axes), varying = 0;
    for (int64_t i = 0; i < t->result.n_axes; i++)
        if (t->axis[i].count > 1)
            axes[varying++] = i;
    if (varying > 0)
        cli_printf(c, "\n");
    if (varying == 1)
        print_axis(c, t, axes);
    else if (varying == 2)
        print_map(c, t, axes);
    else if (varying > 2)
        print_best(c, t, axes, varying);
    if (varying > 0)
        cli_printf(c, "accuracy in %%; * best%s%s\n",
                   varying < 3 && t->tried < t->result.cells ? ", . not tried" : "",
                   varying < 3 && t->broken > 0 ? ", x failed" : "");
    free(axes);
}

/* ---- the command ---- */

/* A word of a shell command, in quotes where one of its characters could mean something else. */
static void print_word(cli *c, const char *text) {
    bool plain = *text != '\0';
    for (const char *at = text; *at != '\0'; at++)
        plain = plain && (isalnum((unsigned char)*at) || strchr("_./,:=+@%-", *at) != NULL);
    if (!plain)
        cli_write(c, "'", 1);
    for (; *text != '\0'; text++)
        if (*text == '\'')
            cli_printf(c, "'\\''");
        else
            cli_write(c, text, 1);
    if (!plain)
        cli_write(c, "'", 1);
}

/* How DATA was read, so that fit reads it alike. */
static void print_data_options(cli *c) {
    for (const cli_option *o = cli_options; o->name != NULL; o++) {
        const void *field = (const char *)&c->args + o->offset;
        if (o->group != GROUP_DATA || (o->verbs & V_TUNE) == 0)
            continue;
        if (o->kind != OPT_CHOICE) {
            const char *text = *(const char *const *)field;
            if (text != NULL) {
                cli_printf(c, " --%s ", o->name);
                print_word(c, text);
            }
        } else if (*(const int *)field > 0) { /* 0 is the default of every choice here */
            const char *word = o->value;
            for (int i = 0; i < *(const int *)field; i++)
                word += strcspn(word, "|") + 1;
            cli_printf(c, " --%s %.*s", o->name, (int)strcspn(word, "|"), word);
        }
    }
}

/* The best cell's value of an axis, or NULL where there is no such axis. */
static const char *best_value(const tuning *t, const char *name) {
    for (int64_t i = 0; i < t->result.n_axes; i++)
        if (strcmp(t->axis[i].name, name) == 0)
            return cli_tuning_value(t, t->best, i);
    return NULL;
}

/* -p for what was searched and for what is not the default. */
static void print_params(cli *c, const tuning *t) {
    char text[64];
    for (const rlar_param_def *def = rlar_params_method(t->params)->params; def->name; def++) {
        const char *value = best_value(t, def->name);
        if (value == NULL && rlar_params_get(t->params, def->name) != def->value &&
            rlar_params_text(t->params, def->name, text, sizeof text) >= 0)
            value = text;
        if (value == NULL)
            continue;
        const size_t size = strlen(def->name) + strlen(value) + 2;
        char *word = cli_alloc(size);
        snprintf(word, size, "%s=%s", def->name, value);
        cli_printf(c, " -p ");
        print_word(c, word);
        free(word);
    }
}

/* fit knows no classifier; where it is not the default of predict, that is said. */
static void print_classifier(cli *c, const tuning *t) {
    const char *best = best_value(t, "classifier");
    const char *classifier = best != NULL ? best : t->spec->classifier;
    if (strcmp(classifier, RLAR_CLASSIFIER_DEFAULT) == 0)
        return;
    cli_printf(c, "\npredict with --classifier %s", classifier);
    if (t->spec->neighbours > 0 && strncmp(classifier, "knn", 3) == 0)
        cli_printf(c, " --neighbors %lld", (long long)t->spec->neighbours);
    cli_printf(c, " after this fit:");
}

/* A file whose name begins like an option is named from its folder. */
static void print_command(cli *c, const tuning *t) {
    const char *word = c->args.word[0], *best = best_value(t, "scale");
    const char *scale = best != NULL ? best : t->spec->scale;
    print_classifier(c, t);
    cli_printf(c, "\nrlar fit %s", word[0] == '-' && word[1] != '\0' ? "./" : "");
    print_word(c, word);
    print_data_options(c);
    if (strcmp(t->result.method, "rlar") != 0)
        cli_printf(c, " --method %s", t->result.method);
    print_params(c, t);
    if (strcmp(scale, RLAR_SCALE_DEFAULT) != 0) {
        cli_printf(c, " --scale ");
        print_word(c, scale);
    }
    cli_printf(c, " -o model.rlar\n");
}

void cli_tuning_text(cli *c, const tuning *t) {
    print_summary(c, t);
    print_grid(c, t);
    print_command(c, t);
}

/* ---- JSON ---- */

static json_t *json_protocol(const rlar_eval_spec *spec) {
    json_t *protocol = json_object();
    cli_json_set(protocol, "folds", json_integer(spec->folds));
    cli_json_set(protocol, "trials", json_integer(spec->trials));
    cli_json_set(protocol, "seed", json_integer((json_int_t)spec->seed));
    cli_json_set(protocol, "scale", cli_json_text(spec->scale));
    cli_json_set(protocol, "classifier", cli_json_text(spec->classifier));
    if (spec->neighbours > 0)
        cli_json_set(protocol, "neighbors", json_integer(spec->neighbours));
    cli_json_set(protocol, "coarse", json_boolean(spec->coarse));
    return protocol;
}

static json_t *json_within(const tuning *t) {
    json_t *list = json_array();
    for (int64_t i = 0; i < t->result.cells; i++)
        if (t->within[i])
            json_array_append_new(list, cli_json_tried(&t->result, i));
    return list;
}

json_t *cli_tuning_json(const tuning *t) {
    const rlar_eval_result *r = &t->result;
    json_t *root = json_object(), *best = json_object(), *simplest = json_object();
    json_t *params = cli_json_params(t->params);
    cli_json_cell(best, r, t->best);
    cli_json_cell(simplest, r, t->simplest);
    cli_json_cell(params, r, t->best);
    cli_json_set(root, "rlar", cli_json_text(rlar_version()));
    cli_json_set(root, "data", cli_json_data(t->data));
    cli_json_set(root, "method", cli_json_text(r->method));
    cli_json_set(root, "protocol", json_protocol(t->spec));
    cli_json_set(root, "best", best);
    cli_json_set(root, "accuracy",
                 cli_json_measure(r->accuracy_mean, r->accuracy_std, r->accuracy, r->trials));
    cli_json_set(root, "standard_error", cli_json_number(t->error));
    cli_json_set(root, "within_one_standard_error", json_within(t));
    cli_json_set(root, "simplest", simplest);
    cli_json_set(root, "params", params);
    cli_json_set(root, "grid", cli_json_grid(r));
    cli_json_set(root, "fits", json_integer(t->fits));
    cli_json_set(root, "seconds", cli_json_number(t->seconds));
    return root;
}
