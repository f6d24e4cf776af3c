/* params.c - parameters by name. The method's table is the single source of defaults, bounds and
 * choices. */
#include "methods/method.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* "a, b, c" of names that come one by one; for messages. */
static void list_add(char *list, size_t size, const char *name, size_t length) {
    const size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%.*s", used ? ", " : "", (int)length, name);
}

static void list_methods(char *list, size_t size) {
    list[0] = '\0';
    for (int64_t i = 0; rlar_method_at(i); i++)
        list_add(list, size, rlar_method_at(i)->name, strlen(rlar_method_at(i)->name));
}

/* " or "-joined, the one or two methods nearest to the name; "" where none is near. */
static void list_near(const char *name, char *list, size_t size) {
    int best = INT_MAX, count = 0;
    list[0] = '\0';
    for (int64_t i = 0; rlar_method_at(i); i++) {
        const char *method = rlar_method_at(i)->name;
        const int edits = rlar_name_distance(name, method);
        if (edits < 0 || edits > best || (edits == best && count == 2))
            continue;
        const size_t used = edits < best ? 0 : strlen(list);
        count = edits < best ? 1 : count + 1;
        best = edits;
        snprintf(list + used, size - used, "%s%s", used ? " or " : "", method);
    }
}

static rlar_status unknown_method(rlar_ctx *ctx, const char *name) {
    char list[256], near[64];
    list_methods(list, sizeof list);
    list_near(name, near, sizeof near);
    if (near[0] == '\0')
        return rlar__fail(ctx, RLAR_E_ARG, "unknown method \"%.40s\"; there are: %s", name, list);
    return rlar__fail(ctx, RLAR_E_ARG, "unknown method \"%.40s\": did you mean %s? There are: %s",
                      name, near, list);
}

rlar_status rlar_params_new(rlar_ctx *ctx, const char *name, rlar_params **out) {
    if (!ctx || !name || !out)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_params_new: ctx, method and out are needed");
    rlar__begin(ctx);
    const rlar_method *method = rlar__method_find(name);
    rlar_params *made;
    if (!method)
        return unknown_method(ctx, name);
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *made, "parameters", &made));
    made->method = method;
    for (int i = 0; method->def.params[i].name; i++)
        made->value[i] = method->def.params[i].value;
    *out = made;
    return RLAR_OK;
}

rlar_status rlar__params_copy(rlar_ctx *ctx, const rlar_params *params, rlar_params **out) {
    rlar_params *made;
    RLAR_TRY(rlar__alloc(ctx, 1, sizeof *made, "parameters", &made));
    *made = *params;
    *out = made;
    return RLAR_OK;
}

rlar_status rlar_params_copy(rlar_ctx *ctx, const rlar_params *params, rlar_params **out) {
    if (!ctx || !params || !out)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_params_copy: ctx, params and out are needed");
    rlar__begin(ctx);
    return rlar__params_copy(ctx, params, out);
}

void rlar_params_free(rlar_params *params) {
    rlar__free(params);
}

const rlar_method_def *rlar_params_method(const rlar_params *params) {
    return &params->method->def;
}

static int find(const rlar_params *params, const char *name) {
    const rlar_param_def *table = params->method->def.params;
    for (int i = 0; table[i].name; i++)
        if (strcmp(table[i].name, name) == 0)
            return i;
    return -1;
}

/* Position of a word in "a|b|c", or -1. */
static int choice_index(const char *choices, const char *word) {
    const size_t length = strlen(word);
    int index = 0;
    for (const char *at = choices;; index++) {
        const size_t here = strcspn(at, "|");
        if (here == length && memcmp(at, word, length) == 0)
            return index;
        if (!at[here])
            return -1;
        at += here + 1;
    }
}

static rlar_status set_choice(rlar_ctx *ctx, const rlar_param_def *def, const char *text,
                              double *value) {
    const int index = choice_index(def->choices, text);
    if (index < 0)
        return rlar__fail(ctx, RLAR_E_ARG, "%s=%.40s: not one of %s", def->name, text,
                          def->choices);
    *value = index;
    return RLAR_OK;
}

static rlar_status set_number(rlar_ctx *ctx, const rlar_param_def *def, const char *text,
                              double *value) {
    double number;
    if (!rlar__parse_double(text, strlen(text), &number))
        return rlar__fail(ctx, RLAR_E_ARG, "%s=%.40s: not a number; allowed: %.10g to %.10g",
                          def->name, text, def->min, def->max);
    if (def->type == RLAR_PARAM_INT && number != floor(number))
        return rlar__fail(ctx, RLAR_E_ARG, "%s=%.40s: not a whole number; allowed: %.0f to %.0f",
                          def->name, text, def->min, def->max);
    if (!(number >= def->min && number <= def->max))
        return rlar__fail(ctx, RLAR_E_ARG, "%s=%.40s: out of range; allowed: %.10g to %.10g",
                          def->name, text, def->min, def->max);
    *value = number;
    return RLAR_OK;
}

static rlar_status unknown_parameter(rlar_ctx *ctx, const rlar_params *params, const char *name) {
    const rlar_method_def *def = &params->method->def;
    char list[256] = "";
    for (int i = 0; def->params[i].name; i++)
        list_add(list, sizeof list, def->params[i].name, strlen(def->params[i].name));
    return rlar__fail(ctx, RLAR_E_ARG, "method %s has no parameter \"%.40s\"; it has: %s",
                      def->name, name, list);
}

rlar_status rlar__params_set(rlar_ctx *ctx, rlar_params *params, const char *name,
                             const char *value) {
    const int i = find(params, name);
    if (i < 0)
        return unknown_parameter(ctx, params, name);
    const rlar_param_def *def = &params->method->def.params[i];
    return def->type == RLAR_PARAM_CHOICE ? set_choice(ctx, def, value, &params->value[i])
                                          : set_number(ctx, def, value, &params->value[i]);
}

rlar_status rlar_params_set(rlar_ctx *ctx, rlar_params *params, const char *name,
                            const char *value) {
    if (!ctx || !params || !name || !value)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_params_set: all arguments are needed");
    rlar__begin(ctx);
    return rlar__params_set(ctx, params, name, value);
}

rlar_status rlar_params_preset(rlar_ctx *ctx, rlar_params *params, const char *preset) {
    if (!ctx || !params || !preset)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_params_preset: all arguments are needed");
    rlar__begin(ctx);
    const bool paper = strcmp(preset, "paper") == 0;
    if (!paper && strcmp(preset, "default") != 0)
        return rlar__fail(ctx, RLAR_E_ARG, "unknown preset \"%.40s\"; there are: default, paper",
                          preset);
    const rlar_param_def *table = params->method->def.params;
    for (int i = 0; table[i].name; i++) {
        params->value[i] = table[i].value;
        if (paper && table[i].preset)
            RLAR_TRY(rlar__params_set(ctx, params, table[i].name, table[i].preset));
    }
    return RLAR_OK;
}

double rlar_params_get(const rlar_params *params, const char *name) {
    const int i = params && name ? find(params, name) : -1;
    return i < 0 ? (double)NAN : params->value[i];
}

int rlar_params_text(const rlar_params *params, const char *name, char *buf, size_t size) {
    const int i = find(params, name);
    if (i < 0)
        return -1;
    const rlar_param_def *def = &params->method->def.params[i];
    char number[RLAR_NUMBER_SIZE];
    int length = rlar__format_double(params->value[i], number);
    const char *text = number;
    if (def->type == RLAR_PARAM_CHOICE) {
        text = def->choices;
        for (int skip = (int)params->value[i]; skip > 0; skip--)
            text += strcspn(text, "|") + 1;
        length = (int)strcspn(text, "|");
    }
    if (length < 0 || (size_t)length >= size)
        return -1;
    memcpy(buf, text, (size_t)length);
    buf[length] = '\0';
    return length;
}

double rlar__param(const rlar_params *params, const char *name) {
    return params->value[find(params, name)];
}

int64_t rlar__param_int(const rlar_params *params, const char *name) {
    return (int64_t)rlar__param(params, name);
}
