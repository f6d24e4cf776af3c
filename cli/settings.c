/* settings.c - from -p, the short forms and --preset to rlar_params.
 *
 * `-p alpha=0.1` goes to every method that has the parameter (and to at least one), `-p
 * rlar.alpha=0.1` to that method. The library knows names, ranges and choices; its message goes
 * through. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int cli_assignment_parse(cli *c, const char *option, const cli_setting *setting,
                         cli_assignment *out) {
    *out = (cli_assignment){0};
    if (setting->name != NULL) {
        out->name = setting->name;
        out->value = setting->text;
        return 0;
    }
    const char *equals = strchr(setting->text, '=');
    if (equals == NULL || equals == setting->text || equals[1] == '\0')
        return cli_usage(c, "%s '%s': NAME=VALUE expected, e.g. alpha=0.1", option, setting->text);
    out->copy = cli_strdup(setting->text, strlen(setting->text));
    char *value = out->copy + (equals - setting->text);
    *value = '\0';
    char *dot = strchr(out->copy, '.');
    if (dot != NULL) {
        *dot = '\0';
        out->method = out->copy;
    }
    out->name = dot != NULL ? dot + 1 : out->copy;
    out->value = value + 1;
    return 0;
}

static bool has_param(const rlar_params *params, const char *name) {
    for (const rlar_param_def *def = rlar_params_method(params)->params; def->name != NULL; def++)
        if (strcmp(def->name, name) == 0)
            return true;
    return false;
}

/* Name the methods that could have been meant. */
static int unknown_method(cli *c, const char *text, rlar_params *const *params, int count) {
    char names[512] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 rlar_params_method(params[i])->name);
    return cli_usage(c, "-p %s: the method is none of those in use (%s)", text, names);
}

/* One setting onto all methods that it is meant for. When no method has the parameter, the first
 * one is asked anyway: its error lists what there is. */
static int apply(cli *c, const cli_setting *setting, rlar_params *const *params, int count) {
    cli_assignment set;
    int code = cli_assignment_parse(c, "-p", setting, &set), meant = 0, done = 0;
    rlar_params *first = NULL;
    for (int i = 0; i < count && code == 0; i++) {
        if (set.method != NULL && strcmp(set.method, rlar_params_method(params[i])->name) != 0)
            continue;
        if (meant++ == 0)
            first = params[i];
        if (!has_param(params[i], set.name))
            continue;
        code = cli_check(c, rlar_params_set(c->ctx, params[i], set.name, set.value));
        done++;
    }
    if (code == 0 && meant == 0)
        code = unknown_method(c, setting->text, params, count);
    else if (code == 0 && done == 0)
        code = cli_check(c, rlar_params_set(c->ctx, first, set.name, set.value));
    free(set.copy);
    return code;
}

/* fit --seed: only for a method that has such a parameter. */
static int apply_seed(cli *c, rlar_params *params) {
    char text[CLI_NUMBER_SIZE];
    if (c->args.seed < 0 || !has_param(params, "seed"))
        return 0;
    snprintf(text, sizeof text, "%lld", (long long)c->args.seed);
    return cli_check(c, rlar_params_set(c->ctx, params, "seed", text));
}

const char *cli_scale(const cli *c) {
    if (c->args.scale != NULL)
        return c->args.scale;
    const bool paper = c->args.preset != NULL && strcmp(c->args.preset, "paper") == 0;
    return paper ? RLAR_SCALE_PAPER : RLAR_SCALE_DEFAULT;
}

const char *cli_classifier(const cli *c) {
    return c->args.classifier != NULL ? c->args.classifier : RLAR_CLASSIFIER_DEFAULT;
}

int cli_params_make(cli *c, const char *const *methods, int count, rlar_params **out) {
    int code = 0;
    for (int i = 0; i < count && code == 0; i++) {
        code = cli_check(c, rlar_params_new(c->ctx, methods[i], &out[i]));
        if (code == 0 && c->args.preset != NULL)
            code = cli_check(c, rlar_params_preset(c->ctx, out[i], c->args.preset));
        if (code == 0)
            code = apply_seed(c, out[i]);
    }
    for (int i = 0; i < c->args.params.count && code == 0; i++)
        code = apply(c, &c->args.params.item[i], out, count);
    return code;
}

char *cli_params_line(const rlar_params *params) {
    char line[1024] = "", value[64];
    size_t used = 0;
    for (const rlar_param_def *def = rlar_params_method(params)->params; def->name != NULL; def++) {
        if (rlar_params_text(params, def->name, value, sizeof value) < 0 || used >= sizeof line)
            continue;
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s=%s", used > 0 ? " " : "",
                                 def->name, value);
    }
    return cli_strdup(line, strlen(line));
}
