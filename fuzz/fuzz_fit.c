/* fuzz_fit.c - fits of small problems: any method, any parameters within their bounds, samples of
 * any kind. A fit ends with a finite map or a named error; the smoothed objective never rises where
 * the method promises it; the model can be saved and loaded, and answers finite numbers.
 *
 * The bytes: method, features, classes, samples of each class, scaling, how numbers are made; one
 * or three per parameter; the rest are the samples, and once they are used up, numbers made from
 * them. */
#include <math.h>

#include "models.h"

enum { TRACE = 64 };

/* Up to this eps rlar's minimise means the paper's objective. */
static const double PLAIN = 1e-3;

typedef struct problem {
    int64_t n, d, c;
    double *x, *label;
} problem;

/* ---- Out of the bytes ---- */

/* Small whole numbers, quarters, tiny and huge ones, or a mixture. */
static double take_number(fuzz_bytes *b, unsigned kind, uint64_t *state) {
    if (b->left == 0) { /* go on with numbers that depend on all that was read */
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return (double)(int32_t)(*state >> 32) * 0x1p-31;
    }
    const int8_t value = (int8_t)fuzz_byte(b);
    *state = (*state ^ (uint8_t)value) * UINT64_C(1099511628211);
    static const double sizes[] = {1.0, 0.25, 1e-9, 1e9, 1e-160, 1e150};
    if (kind < 6)
        return value * sizes[kind];
    return ldexp(value, (int)(*state >> 58) - 32);
}

static problem take_problem(fuzz_bytes *b) {
    problem p = {.d = 1 + fuzz_choice(b, 12), .c = 2 + fuzz_choice(b, 3)};
    int64_t sizes[4];
    for (int64_t k = 0; k < p.c; k++)
        p.n += sizes[k] = 1 + fuzz_choice(b, 7);
    const unsigned kind = fuzz_choice(b, 7);
    p.x = fuzz_alloc((size_t)(p.n * p.d) * sizeof *p.x);
    p.label = fuzz_alloc((size_t)p.n * sizeof *p.label);
    for (int64_t k = 0, i = 0; k < p.c; k++)
        for (int64_t s = 0; s < sizes[k]; s++)
            p.label[i++] = (double)k;
    uint64_t state = 1;
    fuzz_bytes values = *b;
    if (values.left > 40) /* the first forty are for parameters */
        values = (fuzz_bytes){b->at + 40, b->left - 40};
    for (int64_t i = 0; i < p.n * p.d; i++)
        p.x[i] = take_number(&values, kind, &state);
    return p;
}

/* Between the bounds, but for what only takes time. */
static void take_param(rlar_ctx *ctx, rlar_params *params, const rlar_param_def *def,
                       fuzz_bytes *b) {
    char text[RLAR_NUMBER_SIZE];
    const unsigned how = fuzz_choice(b, 4);
    double value = def->value;
    if (def->type == RLAR_PARAM_CHOICE)
        return;
    if (how == 1 || how == 2)
        value = how == 1 ? def->min : def->max;
    else if (how == 3) /* a number of its kind */
        value = def->type == RLAR_PARAM_INT ? fuzz_byte(b) : pow(10.0, (int8_t)fuzz_byte(b) / 10.0);
    if (strcmp(def->name, "iters") == 0 || value > 1e15)
        value = fmin(value, 20);
    value = fmax(def->min, fmin(def->max, value));
    rlar__format_double(value, text);
    FUZZ_CHECK(rlar_params_set(ctx, params, def->name, text) == RLAR_OK, "%s=%s: %s", def->name,
               text, rlar_ctx_error(ctx));
}

static void take_choice(rlar_ctx *ctx, rlar_params *params, const rlar_param_def *def,
                        fuzz_bytes *b) {
    char word[64];
    const char *at = def->choices;
    for (unsigned skip = fuzz_choice(b, (unsigned)def->max + 1); skip > 0; skip--)
        at = strchr(at, '|') + 1;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
    FUZZ_CHECK(rlar_params_set(ctx, params, def->name, word) == RLAR_OK, "%s", rlar_ctx_error(ctx));
}

static rlar_params *take_params(rlar_ctx *ctx, const rlar_method_def *method, fuzz_bytes b) {
    rlar_params *params = NULL;
    FUZZ_CHECK(rlar_params_new(ctx, method->name, &params) == RLAR_OK, "%s", rlar_ctx_error(ctx));
    for (const rlar_param_def *def = method->params; def->name; def++)
        if (def->type == RLAR_PARAM_CHOICE)
            take_choice(ctx, params, def, &b);
        else
            take_param(ctx, params, def, &b);
    return params;
}

/* ---- The trace ---- */

typedef struct trace {
    int count;
    double smoothed[TRACE];
} trace;

static int keep(void *user, const rlar_event *event) {
    trace *t = user;
    if (event->kind == RLAR_EVENT_ITERATION && t->count < TRACE)
        t->smoothed[t->count++] = event->info->smoothed;
    return 0;
}

/* rfs takes no step that rises, whatever its parameters. */
static bool is_guarded(const rlar_params *params) {
    return strcmp(rlar_params_method(params)->name, "rfs") == 0;
}

/* rlar's minimise may begin anew where eps means the paper's objective (docs/solver.md); else it
 * and the others of the list never rise but for rounding, unless a factorisation was helped. */
static bool promises_descent(const rlar_params *params) {
    static const char *const names[] = {"relsr", "l21sda", "alpr", NULL};
    const char *name = rlar_params_method(params)->name;
    if (strcmp(name, "rlar") == 0)
        return rlar_params_get(params, "solver") < 2 || rlar_params_get(params, "eps") == 0 ||
               rlar_params_get(params, "eps") > PLAIN;
    for (int i = 0; names[i]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Weights of 1e-12 or 1e12 leave no digits for a comparison of objectives. */
static bool is_moderate(const rlar_params *params) {
    bool moderate = true;
    for (const rlar_param_def *def = rlar_params_method(params)->params; def->name; def++) {
        const double value = rlar_params_get(params, def->name);
        if (def->type == RLAR_PARAM_REAL && value != def->value)
            moderate = moderate && value >= 1e-3 && value <= 1e3;
    }
    return moderate;
}

static void check_descent(const trace *t, const rlar_params *params, const rlar_info *info) {
    const bool guarded = is_guarded(params);
    const double slack = guarded ? 1e-12 : 1e-9; /* rounding of objectives that hardly differ */
    if (!guarded && (!promises_descent(params) || info->ridged > 0 || !is_moderate(params)))
        return;
    for (int i = 1; i < t->count; i++)
        FUZZ_CHECK(t->smoothed[i] <= t->smoothed[i - 1] * (1 + slack),
                   "%s: the objective rises in iteration %d, from %.17g to %.17g",
                   rlar_params_method(params)->name, i + 1, t->smoothed[i - 1], t->smoothed[i]);
}

/* ---- The fit ---- */

static void check_fit(rlar_ctx *ctx, const rlar_data *data, const rlar_params *params,
                      const char *scale, const trace *t) {
    rlar_model *model = NULL;
    rlar_info info = RLAR_INIT(rlar_info);
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    o.scale = scale;
    const rlar_status status = rlar_fit(ctx, data, params, &o, &model, &info);
    FUZZ_CHECK((status >= 0) == (model != NULL), "status %d", (int)status);
    if (status < 0) {
        fuzz_check_refusal(ctx, status);
        FUZZ_CHECK(status == RLAR_E_NUMERIC || status == RLAR_E_DATA || status == RLAR_E_ARG,
                   "status %d: %s", (int)status, rlar_ctx_error(ctx));
        return;
    }
    model_check_numbers(model->d * model->p, model->w, "weight");
    model_check_numbers(model->p, model->b, "offset");
    model_check_numbers(model->d, model->score, "score");
    check_descent(t, params, &info);
    model_check_saved(ctx, model);
    model_check_answers(ctx, model);
    rlar_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const scales[] = {"none", "zscore,rms", "unit", "minmax", "zscore", "rms"};
    static trace t;
    static rlar_ctx *ctx;
    fuzz_bytes b = {bytes, size};
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    rlar_view view = RLAR_INIT(rlar_view);
    rlar_data *data = NULL;
    o.threads = 1;
    o.max_memory = FUZZ_MEMORY;
    o.progress = keep;
    o.user = &t;
    if (!ctx)
        FUZZ_CHECK(rlar_ctx_new(&o, &ctx) == RLAR_OK, "no context");
    t.count = 0;
    const rlar_method_def *method = rlar_method_at(fuzz_choice(&b, (unsigned)rlar_method_count()));
    const char *scale = scales[fuzz_choice(&b, 6)];
    problem p = take_problem(&b);
    rlar_params *params = take_params(ctx, method, b);
    view.n = p.n;
    view.d = view.stride = p.d;
    view.x = p.x;
    FUZZ_CHECK(rlar_data_view(ctx, &view, &data) == RLAR_OK &&
                   rlar_data_set_label_numbers(ctx, data, p.label) == RLAR_OK,
               "%s", rlar_ctx_error(ctx));
    check_fit(ctx, data, params, scale, &t);
    rlar_params_free(params);
    rlar_data_free(data);
    free(p.x);
    free(p.label);
    fuzz_check_memory(ctx);
    return 0;
}
