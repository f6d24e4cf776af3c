/* report_command.c - the command that repeats an evaluation or a tuning, from what its JSON says.
 *
 * Parameters that have their default value are left out, and so are those that a grid varies. How
 * the data were read (--label, --missing, ...) is not recorded. */
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* One word for a shell. */
static void put_word(FILE *out, const char *text) {
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-+=.,:/@%";
    if (*text != '\0' && text[strspn(text, safe)] == '\0') {
        fprintf(out, " %s", text);
        return;
    }
    fputs(" '", out);
    for (; *text != '\0'; text++)
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, out);
    fputc('\'', out);
}

static void put_option(FILE *out, const char *option, const json_t *value) {
    if (value == NULL)
        return;
    char *text = cli_plain(value);
    fprintf(out, " %s", option);
    put_word(out, text);
    free(text);
}

/* Each different text once, with commas between. */
static char *distinct(const cli_results *results, int part, const char *key) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = cli_text_open(&text, &size);
    for (int i = 0; i < results->count; i++) {
        const cli_result *result = &results->item[i];
        bool known = false;
        for (int j = 0; j < i && !known; j++)
            known = strcmp(results->item[j].part[part], result->part[part]) == 0;
        if (known)
            continue;
        char *plain = key == NULL ? cli_strdup(result->part[part], strlen(result->part[part]))
                                  : cli_plain(json_object_get(result->entry, key));
        fprintf(out, "%s%s", i > 0 ? "," : "", plain);
        free(plain);
    }
    cli_text_close(out, &text);
    return text;
}

static bool put_split(FILE *out, const cli_results *results) {
    static const char *const key[] = {"train_per_class", "train_fraction", "folds"};
    static const char *const option[] = {"--train-per-class", "--train-fraction", "--folds"};
    for (int i = 0; i < 3; i++) {
        if (!json_is_number(json_object_get(results->item[0].entry, key[i])))
            continue;
        char *sizes = distinct(results, 1, key[i]);
        fprintf(out, " %s", option[i]);
        put_word(out, sizes != NULL ? sizes : "");
        free(sizes);
        return true;
    }
    return false;
}

static bool in_grid(const json_t *axes, const char *name) {
    for (size_t i = 0; i < json_array_size(axes); i++) {
        const char *axis = json_string_value(json_array_get(axes, i));
        if (axis != NULL && strcmp(axis, name) == 0)
            return true;
    }
    return false;
}

/* Is it what the method would have taken anyway? Asked of the library, which knows the defaults. */
static bool is_default(const char *method, const char *name, const json_t *value) {
    const rlar_method_def *def = rlar_method_find(method);
    for (const rlar_param_def *p = def != NULL ? def->params : NULL; p != NULL && p->name != NULL;
         p++) {
        if (strcmp(p->name, name) != 0)
            continue;
        if (p->type != RLAR_PARAM_CHOICE)
            return json_is_number(value) && json_number_value(value) == p->value;
        const char *choice = p->choices, *text = json_string_value(value);
        for (int i = 0; i < (int)p->value && choice != NULL; i++)
            choice = strchr(choice, '|') != NULL ? strchr(choice, '|') + 1 : NULL;
        const size_t length = choice != NULL ? strcspn(choice, "|") : 0;
        return text != NULL && choice != NULL && strlen(text) == length &&
               strncmp(choice, text, length) == 0;
    }
    return false;
}

static void put_params(FILE *out, const cli_result *result) {
    const json_t *axes = json_object_get(json_object_get(result->entry, "grid"), "axes");
    json_t *params = json_object_get(result->entry, "params"), *value;
    const char *name;
    json_object_foreach(params, name, value) {
        if (in_grid(axes, name) || is_default(result->part[2], name, value))
            continue;
        char *plain = cli_plain(value);
        char *text = cli_text("%s.%s=%s", result->part[2], name, plain);
        fputs(" -p", out);
        put_word(out, text);
        free(text);
        free(plain);
    }
}

/* The values of axis `index`, each once: all of them in the order given where the file tells them,
 * else those that cells were tried with; of a search from coarse to fine these need not be all. */
static json_t *axis_values(const json_t *grid, size_t index, const char *axis) {
    const json_t *cells = json_object_get(grid, "cells");
    json_t *told = json_array_get(json_object_get(grid, "values"), index), *list = json_array();
    if (json_array_size(told) == 0)
        told = NULL;
    const size_t count = json_array_size(told != NULL ? told : cells);
    for (size_t i = 0; i < count; i++) {
        json_t *value = told != NULL ? json_array_get(told, i)
                                     : json_object_get(json_array_get(cells, i), axis);
        bool known = value == NULL;
        for (size_t j = 0; j < json_array_size(list) && !known; j++)
            known = json_equal(json_array_get(list, j), value) != 0;
        if (!known)
            json_array_append(list, value);
    }
    return list;
}

/* A chain of scalings is joined by +. */
static void put_axis(FILE *out, const char *method, const char *axis, const json_t *values) {
    char *text = NULL;
    size_t size = 0;
    FILE *word = cli_text_open(&text, &size);
    fprintf(word, "%s.%s=", method, axis);
    for (size_t i = 0; i < json_array_size(values); i++) {
        char *plain = cli_plain(json_array_get(values, i));
        for (char *at = plain; *at != '\0'; at++)
            *at = *at == ',' ? '+' : *at;
        fprintf(word, "%s%s", i > 0 ? "," : "", plain);
        free(plain);
    }
    cli_text_close(word, &text);
    fputs(" --grid", out);
    put_word(out, text);
    free(text);
}

static void put_grid(FILE *out, const cli_result *result) {
    const json_t *grid = json_object_get(result->entry, "grid");
    const json_t *axes = json_object_get(grid, "axes");
    for (size_t i = 0; i < json_array_size(axes); i++) {
        const char *axis = json_string_value(json_array_get(axes, i));
        if (axis == NULL)
            continue;
        json_t *values = axis_values(grid, i, axis);
        put_axis(out, result->part[2], axis, values);
        json_decref(values);
    }
}

/* Parameters and grids once for each method. */
static void put_methods(FILE *out, const cli_results *results) {
    for (int i = 0; i < results->count; i++) {
        const cli_result *result = &results->item[i];
        bool known = false;
        for (int j = 0; j < i && !known; j++)
            known = strcmp(results->item[j].part[2], result->part[2]) == 0;
        if (known)
            continue;
        put_params(out, result);
        put_grid(out, result);
    }
}

/* The file of one data set; false where there is none. */
static bool put_file(FILE *out, const json_t *data) {
    const char *file = json_string_value(json_object_get(data, "file"));
    put_word(out, file != NULL ? file : "DATA");
    return data != NULL;
}

/* What stands in "protocol", with the same name or another one; of evaluate the folds do not. */
static bool put_protocol(FILE *out, const json_t *protocol) {
    static const char *const key[] = {"folds",      "trials",    "seed", "scale",
                                      "classifier", "neighbors", "tune", "tune_folds"};
    static const char *const option[] = {"--folds",      "--trials",    "--seed", "--scale",
                                         "--classifier", "--neighbors", "--tune", "--tune-folds"};
    for (size_t i = 0; i < sizeof key / sizeof key[0]; i++)
        put_option(out, option[i], json_object_get(protocol, key[i]));
    fputs(json_is_true(json_object_get(protocol, "coarse")) ? " --coarse" : "", out);
    return json_is_object(protocol);
}

/* DATA, methods and how to split; false where one of them is not told. */
static bool put_evaluate(FILE *out, const json_t *data, const cli_results *results) {
    char *methods = distinct(results, 2, NULL);
    fputs("rlar evaluate", out);
    for (size_t i = 0; i < json_array_size(data); i++)
        (void)put_file(out, json_array_get(data, i));
    fputs(" --methods", out);
    put_word(out, methods != NULL ? methods : "");
    free(methods);
    return results->count > 0 && put_split(out, results) && json_array_size(data) > 0;
}

static bool put_tune(FILE *out, const json_t *data, const cli_result *result) {
    fputs("rlar tune", out);
    const bool known = put_file(out, data);
    fputs(" --method", out);
    put_word(out, result->part[2]);
    return known && result->part[2][0] != '\0';
}

char *cli_report_command(const json_t *root, const cli_results *results) {
    const json_t *data = json_object_get(root, "data");
    char *text = NULL;
    size_t size = 0;
    FILE *out = cli_text_open(&text, &size);
    bool known = cli_is_tuning(results) ? put_tune(out, data, &results->item[0])
                                        : put_evaluate(out, data, results);
    known = put_protocol(out, json_object_get(root, "protocol")) && known;
    put_methods(out, results);
    fputs(" --json", out);
    cli_text_close(out, &text);
    if (known)
        return text;
    free(text);
    return NULL;
}
