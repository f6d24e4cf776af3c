/* large.c - many samples, features or classes, by one method or by all: fitted within the forecast
 * of memory, or refused with the forecast where the limit is below it; how long it takes. At least
 * one is fitted.
 *
 *   large [--samples N] [--features D] [--classes C] [--method NAME] [--memory MIB] [--seconds S]
 *
 * Defaults: 20000 samples, 100 features, 10 classes, all methods, 4096 MiB, 60 s, after which a fit
 * is stopped. */
#include <time.h>

#include "trial.h"

/* Thread stacks, the buffers of the BLAS that are touched, what the C library keeps. */
enum { BESIDE = 64 << 20 };

typedef struct problem {
    rlar_view view;
    double *x, *label;
    int64_t classes;
} problem;

static problem new_problem(int64_t n, int64_t d, int64_t c) {
    rlar_rng rng = seeded(1);
    problem p = {.view = RLAR_INIT(rlar_view), .classes = c};
    p.x = random_numbers(&rng, n * d);
    p.label = zeros(n);
    for (int64_t i = 0; i < n; i++) {
        p.label[i] = (double)(i % c);
        for (int64_t r = 0; r < d;
             r++) /* a centre of its own for every class, without keeping it */
            p.x[i * d + r] += sin((double)((i % c) * 31 + r * 7));
    }
    p.view.n = n;
    p.view.d = p.view.stride = d;
    p.view.x = p.x;
    return p;
}

/* The most memory of the process so far (VmHWM), and now (VmRSS), in bytes. */
static int64_t process_memory(const char *which) {
    char line[256];
    long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, which, strlen(which)) == 0)
            kib = strtoll(line + strlen(which), NULL, 10);
    fclose(file);
    return kib * 1024;
}

/* The mark goes back to what is in memory now. */
static void reset_mark(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return;
    fputs("5", file);
    fclose(file);
}

typedef struct limits {
    int64_t memory; /* bytes */
    double seconds;
} limits;

typedef struct tally {
    int64_t fits, refused, stopped, wrong;
} tally;

static double mib(int64_t bytes) {
    return (double)bytes / 1048576.0;
}

enum { ANSWERS = 20 };

/* NULL, or what is wrong with the model: W, or what it says of some of its samples. */
static const char *model_fault(rlar_ctx *ctx, const rlar_model *model, const problem *p) {
    const int64_t outputs = rlar_model_outputs(model), d = p->view.d;
    if (!all_finite(d * outputs, rlar_model_map(model)) ||
        !all_finite(outputs, rlar_model_offset(model)))
        return "the map is not finite";
    rlar_view some = p->view;
    rlar_data *data = NULL;
    int64_t found[ANSWERS];
    some.n = some.n < ANSWERS ? some.n : ANSWERS;
    double *z = zeros(some.n * outputs);
    assert_int_equal(rlar_data_view(ctx, &some, &data), RLAR_OK);
    const bool good = rlar_transform(ctx, model, data, z) >= 0 &&
                      rlar_predict(ctx, model, data, NULL, found, NULL) >= 0;
    const char *fault = !good                              ? "its samples cannot be predicted"
                        : !all_finite(some.n * outputs, z) ? "an output is not finite"
                                                           : NULL;
    int64_t right = 0;
    for (int64_t i = 0; i < some.n && good; i++) /* class i is called "i" and comes as number i */
        right += strtoll(rlar_model_class(model, found[i]), NULL, 10) == i % p->classes;
    if (!fault && right == 0) /* the nearest of its own samples is itself */
        fault = "no sample is known again";
    free(z);
    rlar_data_free(data);
    return fault;
}

/* How a fit went, and what it was told before. */
typedef struct course {
    rlar_status status;
    int64_t forecast, held, peak, grown; /* bytes */
    double late;                         /* seconds after the deadline */
} course;

/* NULL, or what the fit did not keep to. */
static const char *course_fault(const course *c, const char *text, const limits *l, int64_t n) {
    if (c->status == RLAR_E_NOMEM)
        return refusal_fault(text, c->forecast, c->held, l->memory, n);
    if (c->status == RLAR_E_CANCELLED)
        return c->late < 0 ? "stopped before the time" : c->late > 5 ? "stopped late" : NULL;
    return c->status < 0                     ? "not fitted"
           : c->peak > c->forecast           ? "more memory than the forecast"
           : c->grown > c->forecast + BESIDE ? "the process grew by more than the forecast"
                                             : NULL;
}

static void count(tally *t, rlar_status status, bool good) {
    t->fits += good && status >= 0;
    t->refused += good && status == RLAR_E_NOMEM;
    t->stopped += good && status == RLAR_E_CANCELLED;
    t->wrong += !good;
}

static void print_course(const char *method, const course *c, double seconds, const char *text,
                         const char *fault) {
    printf("%-8s forecast %9.1f MiB, %.2f s, ", method, mib(c->forecast), seconds);
    if (c->status >= 0)
        printf("peak %.1f MiB (%.3f of it), process %.1f MiB", mib(c->peak),
               (double)c->peak / (double)c->forecast, mib(c->grown));
    else
        printf("%s", text);
    printf("%s%s\n", fault ? ": WRONG, " : "", fault ? fault : "");
    fflush(stdout);
}

static void run_method(tally *t, const problem *p, const char *method, const limits *l) {
    double deadline = rlar__now() + l->seconds;
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    rlar_forecast f = RLAR_INIT(rlar_forecast);
    rlar_ctx *ctx = NULL;
    rlar_data *data = NULL;
    rlar_model *model = NULL;
    o.progress = is_too_late;
    o.user = &deadline;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    rlar_params *params = trial_params(ctx, &(trial){.method = method, .settings = ""});
    assert_int_equal(rlar_data_view(ctx, &p->view, &data), RLAR_OK);
    assert_int_equal(rlar_data_set_label_numbers(ctx, data, p->label), RLAR_OK);
    assert_int_equal(rlar_fit_forecast(ctx, data, params, NULL, &f), RLAR_OK);
    reset_mark();
    course c = {.forecast = f.bytes, .held = rlar_ctx_memory(ctx)};
    const int64_t before = process_memory("VmRSS:");
    /* The limit is the machine's; the context keeps it as if it were its own. */
    ctx->memory->limit = l->memory;
    const double start = rlar__now();
    c.status = rlar_fit(ctx, data, params, NULL, &model, NULL);
    const double end = rlar__now();
    c.late = end - deadline;
    c.peak = rlar_ctx_memory_peak(ctx) - c.held;
    c.grown = process_memory("VmHWM:") - before;
    const char *fault = course_fault(&c, rlar_ctx_error(ctx), l, p->view.n);
    deadline = INFINITY; /* the answers have their time */
    if (!fault && c.status >= 0)
        fault = model_fault(ctx, model, p);
    count(t, c.status, !fault);
    print_course(method, &c, end - start, rlar_ctx_error(ctx), fault);
    rlar_model_free(model);
    rlar_params_free(params);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
}

static const char *option_text(int argc, char **argv, const char *name) {
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return NULL;
}

int main(int argc, char **argv) {
    tally t = {0};
    const limits l = {.memory = option_value(argc, argv, "--memory", 4096) << 20,
                      .seconds = (double)option_value(argc, argv, "--seconds", 60)};
    problem p = new_problem(option_value(argc, argv, "--samples", 20000),
                            option_value(argc, argv, "--features", 100),
                            option_value(argc, argv, "--classes", 10));
    const char *only = option_text(argc, argv, "--method");
    for (int64_t m = 0; m < rlar_method_count(); m++)
        if (!only || strcmp(only, rlar_method_at(m)->name) == 0)
            run_method(&t, &p, rlar_method_at(m)->name, &l);
    printf(
        "%lld samples of %lld features, %lld classes: %lld methods fitted within the forecast of "
        "memory, their maps and answers right, %lld refused with it (limit %.0f MiB), %lld stopped "
        "on request after %.0f s, %lld "
        "wrong\n",
        (long long)p.view.n, (long long)p.view.d, (long long)p.classes, (long long)t.fits,
        (long long)t.refused, mib(l.memory), (long long)t.stopped, l.seconds, (long long)t.wrong);
    free(p.x);
    free(p.label);
    if (t.fits == 0)
        fprintf(stderr, "no method was fitted\n");
    return t.wrong > 0 || t.fits == 0;
}
