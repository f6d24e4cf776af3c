/* bad_parameters.c - every parameter of every method at both ends of its range, one step beyond
 * them, at every power in between and as what is no number; and many of them at odd values at once,
 * with odd samples: a finite result or a named error.
 *
 *   bad_parameters [--count N]
 *
 * N random trials (default 2000) after the table, which is tried whole. */

#include <stdarg.h>

#include "bad_samples.h"

enum { MAX_VALUES = 32, VALUE_SIZE = 40, MOST_ITERATIONS = 1000 };
static const double LIMIT = 10.0; /* seconds for a trial */

static const char *const scales[] = {"zscore,rms", "none", "unit", "minmax"};

typedef struct tally {
    int64_t fitted, refused, outside, wrong;
} tally;

/* The texts that a parameter takes: its choices, or its ends and what lies between. */
typedef struct values {
    int count;
    char text[MAX_VALUES][VALUE_SIZE];
} values;

static void add_value(values *v, const char *format, ...) RLAR_PRINTF(2, 3);
static void add_value(values *v, const char *format, ...) {
    va_list list;
    va_start(list, format);
    assert_true(v->count < MAX_VALUES);
    vsnprintf(v->text[v->count++], VALUE_SIZE, format, list);
    va_end(list);
}

static bool is_iterations(const rlar_param_def *def) {
    return strcmp(def->name, "iters") == 0;
}

static values inside(const rlar_param_def *def) {
    values v = {0};
    for (const char *at = def->choices; at && *at;) {
        const size_t length = strcspn(at, "|");
        add_value(&v, "%.*s", (int)length, at);
        at += length + (at[length] == '|');
    }
    if (def->choices)
        return v;
    const double largest = is_iterations(def) ? MOST_ITERATIONS : def->max;
    static const double between[] = {1e-12, 1e-9, 1e-6, 1e-3, 1, 2, 5, 50, 1e3, 1e6, 1e9, 1e12};
    add_value(&v, "%.17g", def->min);
    add_value(&v, "%.17g", largest);
    for (size_t i = 0; i < sizeof between / sizeof *between; i++)
        if (between[i] > def->min && between[i] < largest &&
            (def->type == RLAR_PARAM_REAL || between[i] >= 1))
            add_value(&v, "%.17g", between[i]);
    return v;
}

static values outside(const rlar_param_def *def) {
    values v = {0};
    static const char *const never[] = {"nan",  "inf", "-inf", "1e999", "-1e999", "",
                                        "text", "1,5", "1 2",  "0x10",  "1e",     "--1"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        add_value(&v, "%s", never[i]);
    if (def->type == RLAR_PARAM_INT) {
        add_value(&v, "%.0f", def->min - 1);
        add_value(&v, "%.0f", def->max + 1);
        add_value(&v, "%.1f", def->min + 0.5);
    } else if (def->type == RLAR_PARAM_REAL) {
        add_value(&v, "%.17g", nextafter(def->min, -INFINITY));
        add_value(&v, "%.17g", nextafter(def->max, INFINITY));
    }
    return v;
}

/* ---- One step outside ---- */

/* Refused by a text that names the parameter, and the value stays what it was. */
static void check_outside(tally *t, const rlar_method_def *method, const rlar_param_def *def) {
    rlar_ctx *ctx = context(1);
    rlar_params *params = NULL;
    assert_int_equal(rlar_params_new(ctx, method->name, &params), RLAR_OK);
    const values v = outside(def);
    for (int i = 0; i < v.count; i++) {
        const rlar_status status = rlar_params_set(ctx, params, def->name, v.text[i]);
        const char *text = rlar_ctx_error(ctx);
        const bool good = status == RLAR_E_ARG && strstr(text, def->name) && !text_fault(text) &&
                          rlar_params_get(params, def->name) == def->value;
        t->outside += good;
        t->wrong += !good;
        if (!good)
            fprintf(stderr, "%s %s=%s: status %d, \"%s\"\n", method->name, def->name, v.text[i],
                    (int)status, text);
    }
    rlar_params_free(params);
    rlar_ctx_free(ctx);
}

/* ---- Within ---- */

static void count_trial(tally *t, trial *what, const char *about) {
    char text[RLAR_ERROR_SIZE];
    const double start = rlar__now();
    double deadline = start + LIMIT;
    rlar_ctx *ctx = timed_context(&deadline);
    what->may_clash = true;
    const verdict found = run_trial(ctx, what, text);
    const bool good = found != WRONG && rlar_ctx_memory(ctx) == 0;
    t->fitted += good && found == FITTED;
    t->refused += good && found == REFUSED;
    t->wrong += !good;
    if (!good)
        fprintf(stderr, "%s %s, %s, %s, %lld x %lld (%.1f s): %s\n", what->method, what->settings,
                what->scale, about, (long long)what->s->n, (long long)what->s->d,
                rlar__now() - start, text);
    rlar_ctx_free(ctx);
}

/* On samples that are many, few, and of one feature; with the largest numbers that are taken. */
static void check_inside(tally *t, const rlar_method_def *method, const rlar_param_def *def) {
    static const int shapes[] = {0, 2, 6};
    const values v = inside(def);
    for (int i = 0; i < v.count; i++)
        for (int k = 0; k < 4; k++) {
            char settings[64];
            labelled s = regime_samples(500, shapes[k % 3]);
            if (k == 3)
                multiply(&s, 1e90);
            snprintf(settings, sizeof settings, "%s=%s", def->name, v.text[i]);
            count_trial(t,
                        &(trial){.method = method->name,
                                 .settings = settings,
                                 .scale = k == 3 ? "none" : scales[0],
                                 .s = &s},
                        "table");
            labelled_free(&s);
        }
}

/* As many iterations as may be asked for can be stopped. */
static int after_two(void *user, const rlar_event *event) {
    return event->kind == RLAR_EVENT_ITERATION && ++*(int *)user == 2;
}

static void check_endless(tally *t, const rlar_method_def *method) {
    int seen = 0;
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.progress = after_two;
    o.user = &seen;
    rlar_ctx *ctx = NULL;
    rlar_data *data = NULL;
    rlar_model *model = NULL;
    labelled s = regime_samples(500, 1);
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    assert_int_equal(view_labelled(ctx, &s, &data), RLAR_OK);
    rlar_params *params =
        trial_params(ctx, &(trial){.method = method->name, .settings = "iters=1000000"});
    const rlar_status status = rlar_fit(ctx, data, params, NULL, &model, NULL);
    if (seen < 2 ? status < 0 : status != RLAR_E_CANCELLED) {
        fprintf(stderr, "%s, stopped: status %d\n", method->name, (int)status);
        t->wrong++;
    }
    rlar_model_free(model);
    rlar_params_free(params);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
    labelled_free(&s);
}

/* ---- Many at once ---- */

static void random_settings(rlar_rng *rng, const rlar_method_def *method, char *out, size_t size) {
    size_t used = 0;
    *out = '\0';
    for (const rlar_param_def *def = method->params; def->name; def++) {
        const values v = inside(def);
        const uint64_t pick = rlar__rng_below(rng, (uint64_t)v.count);
        if (rlar__rng_below(rng, 2) == 0)
            continue;
        /* Many iterations are no matter here. */
        used += (size_t)snprintf(out + used, size - used, "%s%s=%s", used ? " " : "", def->name,
                                 is_iterations(def) ? "7" : v.text[pick]);
        assert_true(used < size);
    }
}

static void check_random(tally *t, int64_t number) {
    rlar_rng rng = seeded((uint64_t)number + 1);
    char settings[512], about[64];
    const rlar_method_def *method =
        rlar_method_at((int64_t)rlar__rng_below(&rng, (uint64_t)rlar_method_count()));
    const kind *k = &kinds[rlar__rng_below(&rng, KINDS)];
    const char *scale = scales[rlar__rng_below(&rng, sizeof scales / sizeof *scales)];
    labelled s =
        regime_samples((int)rlar__rng_below(&rng, 1000), (int)rlar__rng_below(&rng, REGIMES));
    k->make(&s);
    random_settings(&rng, method, settings, sizeof settings);
    snprintf(about, sizeof about, "%s", k->name);
    count_trial(t, &(trial){.method = method->name, .settings = settings, .scale = scale, .s = &s},
                about);
    labelled_free(&s);
}

int main(int argc, char **argv) {
    tally t = {0};
    int parameters = 0;
    for (int64_t m = 0; m < rlar_method_count(); m++) {
        const rlar_method_def *method = rlar_method_at(m);
        for (const rlar_param_def *def = method->params; def->name; def++, parameters++) {
            check_outside(&t, method, def);
            check_inside(&t, method, def);
            if (is_iterations(def))
                check_endless(&t, method);
        }
    }
    const int64_t count = count_option(argc, argv, 2000);
    for (int64_t i = 0; i < count; i++)
        check_random(&t, i);
    printf("%d parameters of %lld methods at and beyond their ends, and %lld fits with several at "
           "odd values: %lld finite, %lld named errors, %lld values beyond the ends refused, %lld "
           "wrong\n",
           parameters, (long long)rlar_method_count(), (long long)count, (long long)t.fitted,
           (long long)t.refused, (long long)t.outside, (long long)t.wrong);
    return t.wrong > 0;
}
