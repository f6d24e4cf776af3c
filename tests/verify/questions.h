/* questions.h - everything that a model and data can be asked by several threads at once, as one
 * table: rlar.h says that both are read-only once made, and shared by any number of threads. */
#ifndef RLAR_VERIFY_QUESTIONS_H
#define RLAR_VERIFY_QUESTIONS_H

#include "record.h"
#include "trial.h"

typedef struct shared {
    const char *method;
    rlar_data *data;   /* nothing missing */
    rlar_data *holed;  /* a value missing */
    rlar_model *model; /* or NULL: nothing was fitted yet */
    const char *path;  /* a file of the samples */
} shared;

typedef void asking(rlar_ctx *ctx, const shared *on, const char *with, record *r);

/* Nothing is asked that may be refused. */
static inline void expect_done(rlar_ctx *ctx, rlar_status status) {
    if (status < 0)
        fail_msg("%s", rlar_ctx_error(ctx));
}

static inline void keep_text(record *r, const char *text) {
    const char *told = text ? text : "(none)";
    keep(r, told, strlen(told) + 1);
}

static inline void keep_data(record *r, const rlar_data *data) {
    const int64_t n = rlar_data_samples(data), d = rlar_data_dims(data);
    const int64_t c = rlar_data_classes(data);
    const int64_t counts[] = {n, d, c, rlar_data_missing(data)};
    double *row = zeros(d);
    keep(r, counts, sizeof counts);
    keep_text(r, rlar_data_name(data));
    keep_text(r, rlar_data_format(data));
    for (int64_t k = 0; k < c; k++) {
        keep_text(r, rlar_data_class(data, k));
        keep(r, &(int64_t){rlar_data_class_size(data, k)}, sizeof(int64_t));
    }
    for (int64_t j = 0; j < d; j++)
        keep_text(r, rlar_data_feature(data, j));
    for (int64_t i = 0; i < n; i++) {
        rlar_data_row(data, i, row);
        keep_numbers(r, row, d);
        keep(r, &(int64_t){rlar_data_label(data, i)}, sizeof(int64_t));
    }
    free(row);
}

static inline void keep_rows(record *r, int64_t count, const rlar_rows *rows) {
    for (int64_t i = 0; i < count; i++) {
        keep(r, rows[i].train, (size_t)rows[i].n_train * sizeof *rows[i].train);
        keep(r, rows[i].test, (size_t)rows[i].n_test * sizeof *rows[i].test);
    }
}

static inline void ask_samples(rlar_ctx *ctx, const shared *on, const char *with, record *r) {
    (void)ctx;
    (void)with;
    keep_data(r, on->data);
    keep_data(r, on->holed);
}

static inline void ask_bytes(rlar_ctx *ctx, const shared *on, const char *with, record *r) {
    void *bytes = NULL;
    size_t size = 0;
    (void)with;
    expect_done(ctx, rlar_model_save_bytes(ctx, on->model, &bytes, &size));
    keep(r, bytes, size);
    rlar_bytes_free(ctx, bytes);
}

/* With the settings; from the model, if there is one. */
static inline rlar_model *fit_one(rlar_ctx *ctx, const shared *on, const char *settings) {
    rlar_model *model = NULL;
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    rlar_params *params = trial_params(ctx, &(trial){.method = on->method, .settings = ""});
    if (!isnan(rlar_params_get(params, "beta")))
        set_params(ctx, params, settings);
    o.start = on->model;
    expect_done(ctx, rlar_fit(ctx, on->data, params, &o, &model, NULL));
    rlar_params_free(params);
    return model;
}

static inline void ask_fit(rlar_ctx *ctx, const shared *on, const char *settings, record *r) {
    shared made = {.model = fit_one(ctx, on, settings)};
    ask_bytes(ctx, &made, NULL, r);
    rlar_model_free(made.model);
}

/* Its bytes depend on the threads of the context. */
static inline void ask_forecast(rlar_ctx *ctx, const shared *on, const char *with, record *r) {
    rlar_forecast f = RLAR_INIT(rlar_forecast);
    rlar_params *params = trial_params(ctx, &(trial){.method = on->method, .settings = ""});
    (void)with;
    expect_done(ctx, rlar_fit_forecast(ctx, on->data, params, NULL, &f));
    keep_numbers(r, &f.flops, 1);
    rlar_params_free(params);
}

/* What is written is no answer: files are not shared. */
static inline void ask_write(rlar_ctx *ctx, const shared *on, const char *format, record *r) {
    (void)r;
    expect_done(ctx, rlar_data_write(ctx, on->data, "/dev/null", format));
}

/* The splits, and the results on them. */
static inline void ask_evaluate(rlar_ctx *ctx, const shared *on, const char *with, record *r) {
    rlar_eval *eval = NULL;
    rlar_rows *rows = NULL;
    rlar_params *params = trial_params(ctx, &(trial){.method = on->method, .settings = ""});
    const rlar_params *const methods[] = {params};
    rlar_eval_spec spec = RLAR_INIT(rlar_eval_spec);
    (void)with;
    spec.methods = methods;
    spec.n_methods = 1;
    spec.split = RLAR_SPLIT_FRACTION;
    spec.fraction = 0.5;
    spec.trials = 2;
    expect_done(ctx, rlar_eval_splits(ctx, on->data, &spec, &rows));
    keep_rows(r, spec.trials, rows);
    expect_done(ctx, rlar_evaluate(ctx, on->data, &spec, &eval));
    keep_result(eval, r);
    rlar_eval_free(eval);
    rlar_rows_free(rows);
    rlar_params_free(params);
}

/* By samples of the same data, or by a block, with a texture: to make the library's own takes long.
 */
static inline void ask_occlude(rlar_ctx *ctx, const shared *on, const char *with, record *r) {
    static const double texture[] = {0.25, 0.5};
    rlar_data *data = NULL;
    rlar_rows *rows = NULL;
    rlar_occlusion spec = RLAR_INIT(rlar_occlusion);
    spec.per_class = 3;
    spec.trials = 2;
    spec.corrupted = 1;
    if (strcmp(with, "block") == 0) {
        spec.block = spec.height = 1;
        spec.width = rlar_data_dims(on->data);
        spec.texture = texture;
        spec.texture_rows = 1;
        spec.texture_columns = 2;
    } else {
        spec.occluded = on->data;
    }
    expect_done(ctx, rlar_occlude(ctx, on->data, &spec, &data, &rows));
    keep_data(r, data);
    keep_rows(r, spec.trials, rows);
    rlar_rows_free(rows);
    rlar_data_free(data);
}

/* The data, or the file, in blocks; with the classes of the model, if there is one. */
static inline void ask_stream(rlar_ctx *ctx, const shared *on, const char *with, record *r) {
    rlar_stream *stream = NULL;
    const rlar_data *block = NULL;
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    o.model = on->model;
    expect_done(ctx, strcmp(with, "file") == 0
                         ? rlar_stream_open(ctx, on->path, &o, &stream)
                         : rlar_stream_data(ctx, on->data, on->model, &stream));
    do {
        expect_done(ctx, rlar_stream_next(stream, 7, &block));
        if (block)
            keep_data(r, block);
    } while (block);
    rlar_stream_free(stream);
}

static inline void ask_read(rlar_ctx *ctx, const shared *on, const char *with, record *r) {
    rlar_data *data = NULL;
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    (void)with;
    o.model = on->model;
    expect_done(ctx, rlar_data_read(ctx, on->path, &o, &data));
    keep_data(r, data);
    rlar_data_free(data);
}

static inline void ask_predict(rlar_ctx *ctx, const shared *on, const char *classifier, record *r) {
    const int64_t n = rlar_data_samples(on->holed), c = rlar_model_classes(on->model);
    if (!classifier_suits(on->model, classifier))
        return;
    const rlar_predict_options o = predict_by(on->model, classifier);
    double *scores = zeros(n * c);
    int64_t *found = calloc((size_t)n, sizeof *found);
    expect_done(ctx, rlar_predict(ctx, on->model, on->holed, &o, found, scores));
    keep(r, found, (size_t)n * sizeof *found);
    keep_numbers(r, scores, n * c);
    free(scores);
    free(found);
}

static inline void ask_accuracy(rlar_ctx *ctx, const shared *on, const char *classifier,
                                record *r) {
    double share = 0.0;
    if (!classifier_suits(on->model, classifier))
        return;
    const rlar_predict_options o = predict_by(on->model, classifier);
    expect_done(ctx, rlar_training_accuracy(ctx, on->model, &o, &share));
    keep_numbers(r, &share, 1);
}

static inline void ask_outputs(rlar_ctx *ctx, const shared *on, const char *with, record *r) {
    const int64_t count = rlar_data_samples(on->holed) * rlar_model_outputs(on->model);
    double *z = zeros(count);
    (void)with;
    expect_done(ctx, rlar_transform(ctx, on->model, on->holed, z));
    keep_numbers(r, z, count);
    free(z);
}

static inline void ask_save(rlar_ctx *ctx, const shared *on, const char *path, record *r) {
    (void)r;
    expect_done(ctx, rlar_model_save(ctx, on->model, path));
}

/* Only RLAR has them. */
static inline void ask_matrices(rlar_ctx *ctx, const shared *on, const char *with, record *r) {
    const int64_t n = rlar_model_references(on->model), c = rlar_model_classes(on->model);
    (void)with;
    if (strcmp(rlar_model_method(on->model), "rlar") != 0)
        return;
    double *t = zeros(n * c), *v = zeros(n * n), *s = zeros(n * n);
    expect_done(ctx, rlar_model_matrices(ctx, on->model, 0, n, t, v, s));
    keep_numbers(r, t, n * c);
    keep_numbers(r, v, n * n);
    keep_numbers(r, s, n * n);
    free(t);
    free(v);
    free(s);
}

static inline void ask_numbers(rlar_ctx *ctx, const shared *on, const char *with, record *r) {
    const rlar_model *m = on->model;
    const int64_t counts[] = {rlar_model_dims(m), rlar_model_outputs(m), rlar_model_classes(m),
                              rlar_model_references(m)};
    (void)ctx;
    (void)with;
    keep(r, counts, sizeof counts);
    keep_numbers(r, rlar_model_map(m), counts[0] * counts[1]);
    keep_numbers(r, rlar_model_offset(m), counts[1]);
    keep_numbers(r, rlar_model_scores(m), counts[0]);
}

static inline void ask_texts(rlar_ctx *ctx, const shared *on, const char *with, record *r) {
    const rlar_model *m = on->model;
    (void)ctx;
    (void)with;
    keep_text(r, rlar_model_method(m));
    keep_text(r, rlar_model_version(m));
    keep_text(r, rlar_model_scale(m));
    for (int64_t i = 0; i < rlar_model_classes(m); i++)
        keep_text(r, rlar_model_class(m, i));
    for (int64_t i = 0; i < rlar_model_dims(m); i++)
        keep_text(r, rlar_model_feature(m, i));
    for (int64_t i = 0; rlar_model_param_name(m, i); i++) {
        keep_text(r, rlar_model_param_name(m, i));
        keep_text(r, rlar_model_param_value(m, i));
    }
}

typedef struct question {
    asking *ask;
    const char *name, *with;
} question;

/* Of data alone; the first is the fit that the models come from. */
static const question of_data[] = {
    {ask_fit, "fit", ""},
    {ask_samples, "samples", NULL},
    {ask_forecast, "forecast", NULL},
    {ask_write, "write", "csv"},
    {ask_write, "write", "libsvm"},
    {ask_write, "write", "npy"},
    {ask_evaluate, "evaluate", NULL},
    {ask_occlude, "occlude", "block"},
    {ask_occlude, "occlude", "samples"},
    {ask_stream, "stream", "data"},
};

static const question of_model[] = {
    {ask_predict, "predict", "1nn"},
    {ask_predict, "predict", "knn"},
    {ask_predict, "predict", "centroid"},
    {ask_predict, "predict", "argmax"},
    {ask_predict, "predict", "1nn-cosine"},
    {ask_predict, "predict", "knn-cosine"},
    {ask_predict, "predict", "centroid-cosine"},
    {ask_outputs, "transform", NULL},
    {ask_accuracy, "accuracy", "1nn"},
    {ask_accuracy, "accuracy", "knn"},
    {ask_accuracy, "accuracy", "centroid"},
    {ask_accuracy, "accuracy", "argmax"},
    {ask_accuracy, "accuracy", "1nn-cosine"},
    {ask_accuracy, "accuracy", "knn-cosine"},
    {ask_accuracy, "accuracy", "centroid-cosine"},
    {ask_bytes, "save_bytes", NULL},
    {ask_save, "save", "/dev/null"},
    {ask_matrices, "matrices", NULL},
    {ask_numbers, "numbers", NULL},
    {ask_texts, "texts", NULL},
    {ask_fit, "fit that starts from it", "beta=0.05"},
    {ask_stream, "stream", "data"},
    {ask_stream, "stream", "file"},
    {ask_read, "read", NULL},
};

enum {
    OF_DATA = sizeof of_data / sizeof *of_data,
    OF_MODEL = sizeof of_model / sizeof *of_model,
};

static inline record answer(rlar_ctx *ctx, const shared *on, const question *q) {
    record r = {0};
    q->ask(ctx, on, q->with, &r);
    return r;
}

#endif
