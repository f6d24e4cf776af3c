/* trial.h - what the verification programs share: one fit through the public interface and
 * everything a model can be asked, checked for numbers that are not finite. */
#ifndef RLAR_VERIFY_TRIAL_H
#define RLAR_VERIFY_TRIAL_H

#include "assertions.h"

#include "../unit/fitting.h"
#include "hang.h"

static const char *const scalings[] = {"none", "unit",       "minmax",      "zscore",
                                       "rms",  "zscore,rms", "minmax,unit", "unit,zscore"};
enum { SCALINGS = sizeof scalings / sizeof scalings[0] };

/* What is tried. */
typedef struct trial {
    const char *method, *settings; /* "alpha=1 k=3", or "" */
    bool preset;                   /* the paper's, before the settings */
    const char *scale;
    const labelled *s;
    bool may_clash; /* settings that are allowed one by one may be refused together */
    /* What else is asked of a model that was fitted, or NULL. The answer: NULL, or a fault. */
    const char *(*more)(rlar_ctx *ctx, const rlar_model *model);
} trial;

typedef enum verdict {
    FITTED,
    REFUSED, /* by a named error */
    WRONG    /* neither: see the text */
} verdict;

/* Why the text of an error is none that a person should see, or NULL. */
static inline const char *text_fault(const char *text) {
    if (strlen(text) < 20)
        return "the error text says too little";
    if (strlen(text) >= RLAR_ERROR_SIZE - 1)
        return "the error text is cut off";
    if (strpbrk(text, "\n\t\r"))
        return "the error text is not one line";
    if (strstr(text, "(null)") || strstr(text, "internal"))
        return "the error text speaks of an internal matter";
    return NULL;
}

/* What a fit holds of rows and labels, of n samples, when it asks for the rest of its memory. */
static inline int64_t labels_bytes(int64_t n) {
    return 3 * n * (int64_t)sizeof(double) + 65536;
}

/* Why a refusal for want of memory was wrong, or NULL: it tells the forecast, what the context held
 * and the limit, all in bytes here, and it was needed. */
static inline const char *refusal_fault(const char *text, int64_t forecast, int64_t held,
                                        int64_t limit, int64_t n) {
    const double mib = 1048576.0, rounding = 0.0501; /* one digit behind the point is printed */
    double need, beside, allowed;
    if (text_fault(text))
        return text_fault(text);
    if (sscanf(text, "the fit needs %lf MiB beside the %lf MiB held, the memory limit is %lf MiB",
               &need, &beside, &allowed) != 3)
        return "the refusal does not tell need, what is held and limit";
    if (need <= 0 || fabs(need - (double)forecast / mib) > rounding)
        return "the refusal tells another number than the forecast";
    if (beside < (double)held / mib - rounding ||
        beside > (double)(held + labels_bytes(n)) / mib + rounding)
        return "the refusal tells another number than what is held";
    if (fabs(allowed - (double)limit / mib) > rounding)
        return "the refusal tells another limit";
    return forecast > limit - held - labels_bytes(n) ? NULL : "refused without need";
}

static inline bool all_finite(int64_t count, const double *x) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static const char *const classifiers[] = {"1nn",        "knn",        "centroid",       "argmax",
                                          "1nn-cosine", "knn-cosine", "centroid-cosine"};
enum { CLASSIFIERS = sizeof classifiers / sizeof classifiers[0] };

static inline bool classifier_suits(const rlar_model *model, const char *classifier) {
    return strcmp(classifier, "argmax") != 0 ||
           rlar_method_find(rlar_model_method(model))->regression;
}

static inline rlar_predict_options predict_by(const rlar_model *model, const char *classifier) {
    rlar_predict_options o = RLAR_INIT(rlar_predict_options);
    o.classifier = classifier;
    o.neighbours = rlar_model_references(model) < 5 ? 1 : 5;
    return o;
}

/* Predict the samples by one classifier; NULL, or what is wrong. */
static inline const char *check_prediction(rlar_ctx *ctx, const rlar_model *model,
                                           const rlar_data *data, const char *classifier) {
    const int64_t n = rlar_data_samples(data), c = rlar_model_classes(model);
    if (!classifier_suits(model, classifier))
        return NULL;
    const rlar_predict_options o = predict_by(model, classifier);
    double *scores = zeros(n * c);
    int64_t *found = calloc((size_t)n, sizeof *found);
    assert_non_null(found);
    const char *fault = NULL;
    if (rlar_predict(ctx, model, data, &o, found, scores) < 0)
        fault = "its own samples cannot be predicted";
    else if (!all_finite(n * c, scores))
        fault = "a score of a prediction is not finite";
    for (int64_t i = 0; i < n && !fault; i++)
        if (found[i] < 0 || found[i] >= c)
            fault = "a predicted class does not exist";
    free(scores);
    free(found);
    return fault;
}

static inline const char *check_outputs(rlar_ctx *ctx, const rlar_model *model,
                                        const rlar_data *data) {
    const int64_t count = rlar_data_samples(data) * rlar_model_outputs(model);
    double *z = zeros(count);
    const rlar_status status = rlar_transform(ctx, model, data, z);
    const bool finite = all_finite(count, z);
    free(z);
    return status < 0 ? "its own samples cannot be transformed"
           : !finite  ? "an output is not finite"
                      : NULL;
}

/* A loader that refuses what the same library has written would be no use. */
static inline const char *check_file(rlar_ctx *ctx, const rlar_model *model) {
    void *bytes = NULL;
    size_t size = 0;
    rlar_model *again = NULL;
    if (rlar_model_save_bytes(ctx, model, &bytes, &size) < 0)
        return "the model cannot be saved";
    const rlar_status status = rlar_model_load_bytes(ctx, bytes, size, &again);
    rlar_bytes_free(ctx, bytes);
    rlar_model_free(again);
    return status < 0 ? "the saved model cannot be loaded" : NULL;
}

/* NaN says that a method has no objective: one that has one on harmless samples has it on all, but
 * where it ends before its first iteration (nmmp, whose ratio is infinite where classes are
 * points). */
static inline bool has_objective(const char *method, int64_t iterations) {
    static const char *asked[64];
    static bool has[64], iterates[64];
    int at = 0;
    while (asked[at] && strcmp(asked[at], method) != 0)
        at++;
    if (asked[at])
        return has[at] && (iterations > 0 || !iterates[at]);
    const int64_t sizes[] = {12, 11, 13};
    labelled s = clouds(1, 4, 3, sizes);
    rlar_ctx *ctx = context(1);
    rlar_data *data = NULL;
    rlar_model *model = NULL;
    rlar_params *params = NULL;
    rlar_info info = RLAR_INIT(rlar_info);
    assert_int_equal(rlar_params_new(ctx, method, &params), RLAR_OK);
    assert_int_equal(view_labelled(ctx, &s, &data), RLAR_OK);
    assert_true(rlar_fit(ctx, data, params, NULL, &model, &info) >= 0);
    asked[at] = rlar_method_find(method)->name;
    has[at] = !isnan(info.objective);
    iterates[at] = info.iterations > 0;
    rlar_model_free(model);
    rlar_params_free(params);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
    labelled_free(&s);
    return has_objective(method, iterations);
}

/* NULL, or what is not finite in the model or in what it makes of the samples. */
static inline const char *check_model(rlar_ctx *ctx, const rlar_model *model, const rlar_data *data,
                                      const rlar_info *info) {
    const int64_t d = rlar_model_dims(model), p = rlar_model_outputs(model);
    if (p < 1)
        return "the model has no outputs";
    if (!all_finite(d * p, rlar_model_map(model)))
        return "W is not finite";
    if (!all_finite(p, rlar_model_offset(model)))
        return "b is not finite";
    if (!all_finite(d, rlar_model_scores(model)))
        return "a feature score is not finite";
    if (isinf(info->objective) || isinf(info->smoothed))
        return "the objective is infinite";
    if (isnan(info->objective) && has_objective(rlar_model_method(model), info->iterations))
        return "the objective is no number";
    const char *fault = check_outputs(ctx, model, data);
    for (int i = 0; i < CLASSIFIERS && !fault; i++)
        fault = check_prediction(ctx, model, data, classifiers[i]);
    return fault ? fault : check_file(ctx, model);
}

/* A method with its defaults, its preset, or one of its choices. */
typedef struct variant {
    int64_t method;
    bool preset;
    char settings[64];
} variant;

/* "solver=paper", "solver=anneal" and so on. */
static inline void add_choices(variant *list, int *count, int64_t method) {
    for (const rlar_param_def *def = rlar_method_at(method)->params; def->name; def++)
        for (const char *at = def->choices ? def->choices : ""; *at;) {
            const size_t length = strcspn(at, "|");
            variant *v = &list[(*count)++];
            *v = (variant){.method = method};
            snprintf(v->settings, sizeof v->settings, "%s=%.*s", def->name, (int)length, at);
            at += length + (at[length] == '|');
        }
}

/* The parameters of a trial; NULL when they are refused. */
static inline rlar_params *trial_params(rlar_ctx *ctx, const trial *t) {
    rlar_params *params = NULL;
    assert_int_equal(rlar_params_new(ctx, t->method, &params), RLAR_OK);
    if (t->preset)
        assert_int_equal(rlar_params_preset(ctx, params, "paper"), RLAR_OK);
    set_params(ctx, params, t->settings);
    return params;
}

/* Fit, use and check, within the context. text: RLAR_ERROR_SIZE bytes for the error, or for what is
 * wrong. */
static inline verdict run_trial(rlar_ctx *ctx, const trial *t, char *text) {
    rlar_data *data = NULL;
    rlar_model *model = NULL;
    rlar_info info = RLAR_INIT(rlar_info);
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    must_end(); /* one that cannot even be cancelled */
    rlar_params *params = trial_params(ctx, t);
    const char *fault = NULL;
    *text = '\0';
    o.scale = t->scale;
    rlar_status status = view_labelled(ctx, t->s, &data);
    if (status >= 0)
        status = rlar_fit(ctx, data, params, &o, &model, &info);
    if (status < 0) {
        snprintf(text, RLAR_ERROR_SIZE, "%s", rlar_ctx_error(ctx));
        const bool named = status == RLAR_E_DATA || status == RLAR_E_NUMERIC ||
                           (status == RLAR_E_ARG && t->may_clash);
        fault = model   ? "an error, and a model"
                : named ? text_fault(text)
                        : "an error that is neither of the data nor of the numbers";
    } else {
        fault = check_model(ctx, model, data, &info);
        if (!fault && t->more)
            fault = t->more(ctx, model);
    }
    if (fault) {
        char said[RLAR_ERROR_SIZE / 2];
        snprintf(said, sizeof said, "%.500s", rlar_ctx_error(ctx));
        snprintf(text, RLAR_ERROR_SIZE, "%s (status %d, \"%s\")", fault, (int)status, said);
    }
    rlar_model_free(model);
    rlar_params_free(params);
    rlar_data_free(data);
    return fault ? WRONG : status < 0 ? REFUSED : FITTED;
}

/* A context with one thread that gives up a computation at a time (rlar__now). */
static inline int is_too_late(void *user, const rlar_event *event) {
    (void)event;
    return rlar__now() > *(const double *)user;
}

static inline rlar_ctx *timed_context(double *deadline) {
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.threads = 1;
    o.progress = is_too_late;
    o.user = deadline;
    rlar_ctx *ctx = NULL;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    return ctx;
}

/* A step that has no divisor in common with the number of cells comes to each of them once, and
 * spreads the first few over all. */
static inline int64_t step_for(int64_t cells) {
    int64_t step = (int64_t)(0.6180339887 * (double)cells);
    for (int64_t a, b;; step++) {
        for (a = cells, b = step; b != 0;) {
            const int64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return step;
    }
}

/* The number behind an option such as --count, or `other` when it is not given. */
static inline int64_t option_value(int argc, char **argv, const char *name, int64_t other) {
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return strtoll(argv[i + 1], NULL, 10);
    return other;
}

/* The same of --count: of nothing, nothing can be wrong. */
static inline int64_t count_option(int argc, char **argv, int64_t other) {
    const int64_t count = option_value(argc, argv, "--count", other);
    if (count < 1)
        fail_msg("--count %lld: must be at least 1", (long long)count);
    return count;
}

static inline bool option_given(int argc, char **argv, const char *name) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return false;
}

#endif
