/* fuzz_args.c - what the user typed: a verb and its arguments, one per line. What is accepted lies
 * within the bounds of the table of options, means the same however it is spelled, and becomes a
 * plan of an evaluation or a named refusal; no command is run. */
#include <math.h>

#include "command.h"

enum { WORDS = 64 };

typedef struct line {
    char *copy;
    char *word[WORDS + 1];
    int count;
} line;

static line split(const uint8_t *bytes, size_t size) {
    line l = {.copy = fuzz_alloc(size + 1)};
    memcpy(l.copy, bytes, size);
    l.copy[size] = '\0';
    for (char *at = l.copy; at && l.count < WORDS;) {
        char *end = strchr(at, '\n');
        if (end)
            *end = '\0';
        l.word[l.count++] = at;
        at = end ? end + 1 : NULL;
    }
    return l;
}

static const void *field(const cli_args *args, const cli_option *o) {
    return (const char *)args + o->offset;
}

static bool is_number(const cli_option *o) {
    return o->kind == OPT_INT || o->kind == OPT_SIZE;
}

/* ---- Within the bounds ---- */

static void check_option(const cli_args *args, const cli_option *o) {
    const void *value = field(args, o);
    if (is_number(o)) {
        const int64_t number = *(const int64_t *)value;
        FUZZ_CHECK(number == 0 || number == -1 || number >= o->min, "--%s %lld", o->name,
                   (long long)number);
    } else if (o->kind == OPT_SHARE) {
        const double share = *(const double *)value;
        FUZZ_CHECK(share >= 0 && share < 1, "--%s %g", o->name, share);
    } else if (o->kind == OPT_FLAG) {
        FUZZ_CHECK(*(const int *)value >= 0 && *(const int *)value < 4096 * WORDS, "--%s %d",
                   o->name, *(const int *)value);
    } else if (o->kind == OPT_CHOICE) {
        int last = 0;
        for (const char *at = o->value; *at != '\0'; at++)
            last += *at == '|';
        FUZZ_CHECK(*(const int *)value >= 0 && *(const int *)value <= last, "--%s %d", o->name,
                   *(const int *)value);
    }
}

/* ---- However it is spelled ---- */

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_lists(const cli_list *a, const cli_list *b) {
    bool same = a->count == b->count;
    for (int i = 0; i < a->count && same; i++)
        same = same_text(a->item[i].name, b->item[i].name) &&
               same_text(a->item[i].text, b->item[i].text);
    return same;
}

static bool same_option(const cli_args *a, const cli_args *b, const cli_option *o) {
    const void *x = field(a, o), *y = field(b, o);
    switch (o->kind) {
    case OPT_FLAG:
    case OPT_CHOICE:
        return *(const int *)x == *(const int *)y;
    case OPT_TEXT:
    case OPT_WORD:
        return same_text(*(const char *const *)x, *(const char *const *)y);
    case OPT_LIST:
    case OPT_PARAM:
        return same_lists(x, y);
    case OPT_SHARE:
        return *(const double *)x == *(const double *)y;
    default:
        return *(const int64_t *)x == *(const int64_t *)y;
    }
}

static const cli_option *long_option(const cli_verb *verb, const char *word) {
    if (strncmp(word, "--", 2) != 0)
        return NULL;
    for (const cli_option *o = cli_options; o->name; o++)
        if ((o->verbs & cli_verb_bit(verb)) != 0 && strcmp(o->name, word + 2) == 0)
            return o;
    return NULL;
}

/* The same with `--name VALUE` as `--name=VALUE`. */
static void check_joined(cli *c, const line *l, const cli_args *want) {
    char *word[WORDS], *made[WORDS];
    int count = 0, makings = 0;
    bool options = true;
    for (int i = 1; i < l->count; i++) {
        const cli_option *o = options ? long_option(c->verb, l->word[i]) : NULL;
        options = options && strcmp(l->word[i], "--") != 0;
        if (options && l->word[i][0] == '-' && l->word[i][1] != '-' && l->word[i][1] != '\0')
            break; /* a short option may take the next word: leave it */
        if (!o || o->kind == OPT_FLAG || i + 1 == l->count) {
            word[count++] = l->word[i];
            continue;
        }
        const size_t room = strlen(l->word[i]) + strlen(l->word[i + 1]) + 2;
        made[makings] = fuzz_alloc(room);
        snprintf(made[makings], room, "%s=%s", l->word[i], l->word[i + 1]);
        word[count++] = made[makings++];
        i++;
    }
    const bool whole = count + makings == l->count - 1;
    const int code = whole ? cli_args_parse(c, count, word) : 0;
    FUZZ_CHECK(code == 0, "joined by =, the options are refused");
    for (const cli_option *o = cli_options; o->name && whole; o++)
        FUZZ_CHECK((o->verbs & cli_verb_bit(c->verb)) == 0 || same_option(&c->args, want, o),
                   "--%s: joined by =, it is another value", o->name);
    if (whole)
        cli_args_free(&c->args);
    while (makings > 0)
        free(made[--makings]);
}

/* ---- What becomes of it ---- */

static void check_plan(cli *c) {
    const char *methods = c->args.methods ? c->args.methods : c->args.method;
    cli_plan plan = {0};
    plan.spec.split = RLAR_SPLIT_PER_CLASS;
    plan.spec.per_class = 1;
    plan.spec.trials = c->args.trials;
    plan.spec.tune = (rlar_tune)c->args.tune;
    plan.spec.tune_folds = c->args.tune_folds;
    const int code = cli_plan_make(c, methods ? methods : "rlar,lda", &plan);
    FUZZ_CHECK(command_code(code), "code %d", code);
    cli_plan_free(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    line l = split(bytes, size);
    cli *c = command_begin(l.word[0]);
    if (!c->verb) {
        const char *near = cli_verb_near(l.word[0]);
        FUZZ_CHECK(!near || cli_verb_find(near), "no verb %s", near);
        free(l.copy);
        return 0;
    }
    const int code = cli_args_parse(c, l.count - 1, l.word + 1);
    FUZZ_CHECK(code == 0 || code == CODE_USAGE, "code %d", code);
    cli_args args = c->args;
    if (code == 0) {
        for (const cli_option *o = cli_options; o->name; o++)
            if ((o->verbs & cli_verb_bit(c->verb)) != 0)
                check_option(&args, o);
        (void)cli_mat_vars_check(c);
        check_plan(c);
        c->args = (cli_args){0};
        check_joined(c, &l, &args);
    }
    cli_args_free(&args);
    free(l.copy);
    fuzz_check_memory(fuzz_ctx());
    return 0;
}
