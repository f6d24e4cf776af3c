/* json.c - JSON output: trees by jansson, written here.
 *
 * jansson has one precision for all numbers; ours are each written as the shortest text that reads
 * back exactly, so 0.1 stays 0.1. Lists of plain values stay on one line. What is not finite
 * becomes null. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

json_t *cli_json_number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

/* Length of the UTF-8 character at `at`, or 0 when there is none. */
static size_t utf8_length(const char *at) {
    for (size_t length = 1; length <= 4; length++) {
        json_t *test = json_stringn(at, length);
        json_decref(test);
        if (test != NULL)
            return length;
        if (at[length] == '\0')
            return 0;
    }
    return 0;
}

json_t *cli_json_text(const char *text) {
    if (text == NULL)
        return json_null();
    json_t *value = json_string(text);
    if (value != NULL)
        return value;
    /* Each byte that belongs to no character grows to the three bytes of U+FFFD. */
    char *clean = cli_alloc(3 * strlen(text) + 1);
    size_t used = 0;
    while (*text != '\0') {
        const size_t length = utf8_length(text);
        memcpy(clean + used, length > 0 ? text : "\xef\xbf\xbd", length > 0 ? length : 3);
        used += length > 0 ? length : 3;
        text += length > 0 ? length : 1;
    }
    value = json_stringn(clean, used);
    free(clean);
    return value;
}

json_t *cli_json_value(const char *text) {
    int64_t whole = 0;
    double real = 0;
    if (cli_parse_int(text, INT64_MIN, &whole))
        return json_integer(whole);
    if (cli_parse_real(text, &real))
        return json_real(real);
    return cli_json_text(text);
}

/* Cannot fail: keys are ours, values come from the functions above, memory from cli_alloc. */
void cli_json_set(json_t *object, const char *key, json_t *value) {
    json_object_set_new(object, key, value);
}

/* Numbers as numbers, choices as their names. */
json_t *cli_json_params(const rlar_params *params) {
    json_t *object = json_object();
    const rlar_method_def *method = rlar_params_method(params);
    for (const rlar_param_def *def = method->params; def->name != NULL; def++) {
        const double value = rlar_params_get(params, def->name);
        char text[64];
        if (def->type == RLAR_PARAM_INT)
            cli_json_set(object, def->name, json_integer((json_int_t)value));
        else if (def->type == RLAR_PARAM_REAL)
            cli_json_set(object, def->name, cli_json_number(value));
        else if (rlar_params_text(params, def->name, text, sizeof text) >= 0)
            cli_json_set(object, def->name, cli_json_text(text));
    }
    return object;
}

static void write_real(cli *c, double value) {
    char buf[CLI_NUMBER_SIZE];
    const char *text = cli_number(value, buf);
    cli_write(c, text, strlen(text));
    if (strpbrk(text, ".e") == NULL) /* a real stays one in languages that tell */
        cli_write(c, ".0", 2);
}

/* Strings, whole numbers, true, false, null: jansson knows the escapes. */
static void write_leaf(cli *c, const json_t *value) {
    if (json_is_real(value)) {
        write_real(c, json_real_value(value));
        return;
    }
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    if (text != NULL)
        cli_write(c, text, strlen(text));
    free(text);
}

static bool is_nested(const json_t *value) {
    return json_is_object(value) || json_is_array(value);
}

/* Lists of lists (a confusion matrix) and objects go one entry per line, lists of leaves on one. */
static bool is_flat(const json_t *value) {
    return json_is_array(value) && !is_nested(json_array_get(value, 0));
}

static void write_break(cli *c, int depth) {
    cli_printf(c, "\n%*s", 2 * depth, "");
}

static void write_value(cli *c, const json_t *value, int depth);

static void write_array(cli *c, const json_t *array, int depth) {
    const bool flat = is_flat(array);
    const size_t size = json_array_size(array);
    cli_write(c, "[", 1);
    for (size_t i = 0; i < size; i++) {
        if (i > 0)
            cli_write(c, ", ", flat ? 2 : 1);
        if (!flat)
            write_break(c, depth + 1);
        write_value(c, json_array_get(array, i), depth + 1);
    }
    if (!flat)
        write_break(c, depth);
    cli_write(c, "]", 1);
}

static void write_object(cli *c, json_t *object, int depth) {
    const char *key = NULL;
    json_t *entry = NULL;
    size_t count = 0;
    cli_write(c, "{", 1);
    json_object_foreach(object, key, entry) {
        if (count++ > 0)
            cli_write(c, ",", 1);
        write_break(c, depth + 1);
        json_t *name = json_string(key);
        write_leaf(c, name);
        json_decref(name);
        cli_write(c, ": ", 2);
        write_value(c, entry, depth + 1);
    }
    if (count > 0)
        write_break(c, depth);
    cli_write(c, "}", 1);
}

/* The depth is that of the trees built here, never of input. */
static void write_value(cli *c, const json_t *value, int depth) {
    if (json_is_array(value))
        write_array(c, value, depth);
    else if (json_is_object(value))
        write_object(c, (json_t *)(uintptr_t)value, depth);
    else
        write_leaf(c, value);
}

void cli_json_print(cli *c, json_t *root) {
    write_value(c, root, 0);
    cli_write(c, "\n", 1);
    json_decref(root);
}
