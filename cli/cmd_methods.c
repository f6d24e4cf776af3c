/* cmd_methods.c - rlar methods: the list, or one method with its parameters, from the library's
 * tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char *type_name(rlar_param_type type) {
    static const char *const name[] = {"real", "int", "choice"};
    return name[type];
}

/* Word `index` of "paper|anneal". */
static char *choice_word(const char *choices, int index) {
    for (; index > 0 && *choices != '\0'; index--) {
        choices += strcspn(choices, "|");
        choices += *choices == '|';
    }
    return cli_strdup(choices, strcspn(choices, "|"));
}

/* The default as it would be typed after -p. */
static char *default_text(const rlar_param_def *def) {
    char buf[CLI_NUMBER_SIZE];
    if (def->type == RLAR_PARAM_CHOICE)
        return choice_word(def->choices, (int)def->value);
    const char *text = cli_number(def->value, buf);
    return cli_strdup(text, strlen(text));
}

/* A list cut at the separator, each entry a number where it is one. */
static json_t *json_list(const char *text, const char *separator) {
    json_t *list = json_array();
    while (*text != '\0') {
        const size_t span = strcspn(text, separator);
        char *word = cli_strdup(text, span);
        json_array_append_new(list, cli_json_value(word));
        free(word);
        text += span + (text[span] != '\0');
    }
    return list;
}

/* Every key is always there; null where it does not apply. */
static json_t *json_param(const rlar_param_def *def) {
    json_t *entry = json_object();
    char *value = default_text(def);
    const bool choice = def->type == RLAR_PARAM_CHOICE;
    cli_json_set(entry, "name", cli_json_text(def->name));
    cli_json_set(entry, "type", cli_json_text(type_name(def->type)));
    cli_json_set(entry, "default", choice ? cli_json_text(value) : cli_json_value(value));
    cli_json_set(entry, "min", choice ? json_null() : cli_json_number(def->min));
    cli_json_set(entry, "max", choice ? json_null() : cli_json_number(def->max));
    cli_json_set(entry, "choices", choice ? json_list(def->choices, "|") : json_null());
    cli_json_set(entry, "grid", def->grid != NULL ? json_list(def->grid, ",") : json_null());
    cli_json_set(entry, "preset", def->preset != NULL ? cli_json_value(def->preset) : json_null());
    cli_json_set(entry, "help", cli_json_text(def->help));
    free(value);
    return entry;
}

static json_t *json_method(const rlar_method_def *method) {
    json_t *entry = json_object(), *params = json_array();
    for (const rlar_param_def *def = method->params; def->name != NULL; def++)
        json_array_append_new(params, json_param(def));
    cli_json_set(entry, "name", cli_json_text(method->name));
    cli_json_set(entry, "title", cli_json_text(method->title));
    cli_json_set(entry, "citation", cli_json_text(method->cite));
    cli_json_set(entry, "about", cli_json_text(method->about));
    cli_json_set(entry, "scores", cli_json_text(method->scores));
    cli_json_set(entry, "source", cli_json_text(method->source));
    cli_json_set(entry, "regression", json_boolean(method->regression));
    cli_json_set(entry, "scale", cli_json_text(RLAR_SCALE_DEFAULT));
    cli_json_set(entry, "classifier", cli_json_text(RLAR_CLASSIFIER_DEFAULT));
    cli_json_set(entry, "params", params);
    return entry;
}

static void list_all(cli *c) {
    if (c->args.json > 0) {
        json_t *root = json_object(), *list = json_array();
        for (int64_t i = 0; i < rlar_method_count(); i++)
            json_array_append_new(list, json_method(rlar_method_at(i)));
        cli_json_set(root, "rlar", cli_json_text(rlar_version()));
        cli_json_set(root, "methods", list);
        cli_json_print(c, root);
        return;
    }
    cli_table table = {.columns = 2};
    for (int64_t i = 0; i < rlar_method_count(); i++)
        cli_table_add(&table, "%s\t%s", rlar_method_at(i)->name, rlar_method_at(i)->title);
    cli_table_print(c, &table);
    cli_note(c, "'rlar methods NAME' describes one");
}

/* "0 to 1000", "paper|anneal" */
static void limits(const rlar_param_def *def, char *buf, size_t size) {
    if (def->type == RLAR_PARAM_CHOICE)
        snprintf(buf, size, "%s", def->choices);
    else
        snprintf(buf, size, "%.10g to %.10g", def->min, def->max);
}

/* For people: what it does, then a table, then the grids that --tune searches. */
static void describe(cli *c, const rlar_method_def *method) {
    char allowed[128];
    cli_table table = {.columns = 5};
    cli_printf(c, "%s: %s\n\n", method->name, method->title);
    cli_wrap(c, method->about, 0);
    cli_printf(c, "\nScores:   ");
    cli_wrap(c, method->scores, 10);
    cli_printf(c, "Citation: ");
    cli_wrap(c, method->cite, 10);
    cli_printf(c, "Source:   ");
    cli_wrap(c, method->source, 10);
    if (method->regression)
        cli_printf(c, "Its outputs are class scores: --classifier argmax applies.\n");
    cli_printf(c, "Defaults: --scale %s, --classifier %s; the paper: --scale %s.\n\n",
               RLAR_SCALE_DEFAULT, RLAR_CLASSIFIER_DEFAULT, RLAR_SCALE_PAPER);
    cli_table_add(&table, "parameter\tdefault\tpaper\tallowed\tmeaning");
    for (const rlar_param_def *def = method->params; def->name != NULL; def++) {
        char *value = default_text(def);
        limits(def, allowed, sizeof allowed);
        cli_table_add(&table, "%s\t%s\t%s\t%s\t%s", def->name, value,
                      def->preset != NULL ? def->preset : value, allowed, def->help);
        free(value);
    }
    cli_table_print(c, &table);
    for (const rlar_param_def *def = method->params; def->name != NULL; def++)
        if (def->grid != NULL)
            cli_printf(c, "\ngrid of %s for --tune: %s", def->name, def->grid);
    cli_printf(c, "\n");
}

int cli_cmd_methods(cli *c) {
    const char *name = c->args.words > 0 ? c->args.word[0] : NULL;
    const rlar_method_def *method = name != NULL ? rlar_method_find(name) : NULL;
    if (name != NULL && method == NULL) {
        /* The library's refusal lists the names. */
        rlar_params *none = NULL;
        return cli_check(c, rlar_params_new(c->ctx, name, &none));
    }
    if (method == NULL)
        list_all(c);
    else if (c->args.json > 0)
        cli_json_print(c, json_method(method));
    else
        describe(c, method);
    return 0;
}
