/* args.c - the option parser.
 *
 * Long options as --name VALUE or --name=VALUE, in full (no abbreviations: a script must not change
 * its meaning when an option is added); short ones as -o VALUE, -oVALUE or -qv; `--` ends the
 * options and
 * `-` alone is a word (standard input). Options and words may be mixed. */
#include "args.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* strtoll and strtod are safe here: the program never leaves the C locale. */
bool cli_parse_int(const char *text, int64_t min, int64_t *out) {
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < min)
        return false;
    *out = value;
    return true;
}

bool cli_parse_real(const char *text, double *out) {
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value))
        return false;
    *out = value;
    return true;
}

/* "512", "64k", "1.5G", "2GiB" */
static bool parse_size(const char *text, int64_t *out) {
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || !(value > 0))
        return false;
    const char *units = "kKmMgGtT";
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (unit != NULL) {
        value = ldexp(value, 10 * (int)((unit - units) / 2 + 1));
        end++;
    }
    if (strcmp(end, "") != 0 && strcmp(end, "B") != 0 && strcmp(end, "iB") != 0)
        return false;
    if (value < 1 || value >= 0x1p62)
        return false;
    *out = (int64_t)value;
    return true;
}

/* Index of the word in "a|b|c", or -1. */
static int choice_index(const char *choices, const char *word) {
    const size_t length = strlen(word);
    int index = 0;
    for (const char *at = choices; length > 0; index++) {
        const size_t span = strcspn(at, "|");
        if (span == length && memcmp(at, word, length) == 0)
            return index;
        if (at[span] == '\0')
            break;
        at += span + 1;
    }
    return -1;
}

/* A list per option is short: growing by one keeps it simple. */
static void list_add(cli_list *list, const char *name, const char *text) {
    cli_setting *grown = cli_alloc((size_t)(list->count + 1) * sizeof *grown);
    if (list->count > 0)
        memcpy(grown, list->item, (size_t)list->count * sizeof *grown);
    free(list->item);
    grown[list->count] = (cli_setting){name, text};
    list->item = grown;
    list->count++;
}

/* Every refusal names the option, the value and what would do. */
static int wrong_value(cli *c, const cli_option *option, const char *text, const char *expected) {
    return cli_usage(c, "--%s: '%s' is not %s", option->name, text, expected);
}

/* Options whose value is a number. */
static int store_number(cli *c, const cli_option *option, const char *text, void *field) {
    char expected[64];
    double share = 0;
    switch (option->kind) {
    case OPT_INT:
        if (cli_parse_int(text, option->min, field))
            return 0;
        if (text[strspn(text, "0123456789")] == '\0' && strlen(text) > 18)
            return wrong_value(c, option, text, "below 2^63");
        snprintf(expected, sizeof expected, "a whole number of at least %lld",
                 (long long)option->min);
        return wrong_value(c, option, text, expected);
    case OPT_SIZE:
        if (parse_size(text, field))
            return 0;
        return wrong_value(c, option, text, "a size such as 800M or 2G");
    default:
        if (!cli_parse_real(text, &share) || share <= 0 || share >= 1)
            return wrong_value(c, option, text, "a number between 0 and 1");
        *(double *)field = share;
        return 0;
    }
}

/* Put a value into its field of cli_args. */
static int store(cli *c, const cli_option *option, const char *text) {
    void *field = (char *)&c->args + option->offset;
    if (option->kind != OPT_FLAG &&
        text[0] == '\0') /* an unset variable of a script, most likely */
        return cli_usage(c, "--%s: the value is empty; %s expected", option->name, option->value);
    switch (option->kind) {
    case OPT_FLAG:
        ++*(int *)field;
        return 0;
    case OPT_TEXT:
        *(const char **)field = text;
        return 0;
    case OPT_WORD:
    case OPT_CHOICE: {
        const int index = choice_index(option->value, text);
        if (index < 0)
            return cli_usage(c, "--%s: '%s' is not one of %s", option->name, text, option->value);
        if (option->kind == OPT_WORD)
            *(const char **)field = text;
        else
            *(int *)field = index;
        return 0;
    }
    case OPT_LIST:
        list_add(field, NULL, text);
        return 0;
    case OPT_PARAM:
        list_add(field, option->name, text);
        return 0;
    default:
        return store_number(c, option, text, field);
    }
}

/* Only options of this verb: `rank --alpha` is an error, not ignored. */
static const cli_option *find_long(unsigned verbs, const char *name, size_t length) {
    for (const cli_option *o = cli_options; o->name != NULL; o++)
        if ((o->verbs & verbs) != 0 && strlen(o->name) == length &&
            memcmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

static const cli_option *find_letter(unsigned verbs, char letter) {
    for (const cli_option *o = cli_options; o->name != NULL; o++)
        if ((o->verbs & verbs) != 0 && o->letter == letter)
            return o;
    return NULL;
}

/* What was meant: an option of this verb, or the verbs that have it. */
static int unknown_long(cli *c, const char *name, size_t length) {
    char *copy = cli_strdup(name, length), owners[128] = "";
    const char *near = cli_option_near(copy, cli_verb_bit(c->verb));
    size_t used = 0;
    for (const cli_verb *verb = cli_verbs; verb->name != NULL && used < sizeof owners; verb++)
        if (find_long(cli_verb_bit(verb), name, length) != NULL)
            used += (size_t)snprintf(owners + used, sizeof owners - used, "%s%s",
                                     used > 0 ? ", " : "", verb->name);
    int code;
    if (used > 0)
        code = cli_usage(c, "unknown option '--%s': it belongs to %s", copy, owners);
    else if (near != NULL)
        code = cli_usage(c, "unknown option '--%s': did you mean --%s?", copy, near);
    else
        code = cli_usage(c, "unknown option '--%s'", copy);
    free(copy);
    return code;
}

/* One `--name`, `--name=VALUE` or `--name VALUE`; *used counts the arguments taken. */
static int parse_long(cli *c, int argc, char **argv, int *used) {
    const unsigned verbs = cli_verb_bit(c->verb);
    const char *name = argv[0] + 2, *equals = strchr(name, '=');
    const size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const cli_option *option = find_long(verbs, name, length);
    *used = 1;
    if (option == NULL)
        return unknown_long(c, name, length);
    if (option->kind == OPT_FLAG)
        return equals == NULL ? store(c, option, NULL)
                              : cli_usage(c, "--%s takes no value", option->name);
    if (equals != NULL)
        return store(c, option, equals + 1);
    if (argc < 2)
        return cli_usage(c, "--%s needs a value (%s)", option->name, option->value);
    *used = 2;
    return store(c, option, argv[1]);
}

/* One cluster such as -q, -qv, -k7 or `-k 7`. */
static int parse_short(cli *c, int argc, char **argv, int *used) {
    *used = 1;
    for (const char *at = argv[0] + 1; *at != '\0'; at++) {
        const cli_option *option = find_letter(cli_verb_bit(c->verb), *at);
        if (option == NULL)
            return cli_usage(c, "unknown option '-%c'", *at);
        if (option->kind == OPT_FLAG) {
            store(c, option, NULL);
            continue;
        }
        if (at[1] != '\0')
            return store(c, option, at + 1);
        if (argc < 2)
            return cli_usage(c, "-%c needs a value (%s)", *at, option->value);
        *used = 2;
        return store(c, option, argv[1]);
    }
    return 0;
}

/* Words keep their order; checking their number is the caller's, after --help had its chance. */
int cli_args_parse(cli *c, int argc, char **argv) {
    cli_args *args = &c->args;
    *args = (cli_args){.seed = -1};
    args->word = cli_alloc((size_t)(argc + 1) * sizeof *args->word);
    bool options = true;
    int used = 1;
    for (int i = 0; i < argc; i += used) {
        const char *text = argv[i];
        int code = 0;
        used = 1;
        if (!options || text[0] != '-' || text[1] == '\0')
            args->word[args->words++] = text;
        else if (strcmp(text, "--") == 0)
            options = false;
        else if (text[1] == '-')
            code = parse_long(c, argc - i, argv + i, &used);
        else
            code = parse_short(c, argc - i, argv + i, &used);
        if (code != 0)
            return code;
    }
    return 0;
}

void cli_args_free(cli_args *args) {
    free(args->word);
    free(args->params.item);
    free(args->grid.item);
    *args = (cli_args){0};
}
