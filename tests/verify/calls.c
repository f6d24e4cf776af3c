/* calls.c - the table of public calls. Each function here makes one public call, or the few that
 * belong together, and stops at the first that fails. */
#include "calls.h"

#include <ctype.h>

#include "model/model_file.h"

/* A step that succeeds may leave something: what a later one is given. */
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        RLAR_TRY(expr);                                                                            \
        world_step(w);                                                                             \
    } while (0)

/* Numbers for results; what is not written stays 0. */
static double *room(world *w, int64_t count) {
    double *at = w->out.number + w->out.numbers;
    w->out.numbers += count;
    assert_true(w->out.numbers <= NUMBERS);
    return at;
}

static bool has(const char *variant, const char *word) {
    return strstr(variant, word) != NULL;
}

/* What stands before the first blank. */
static const char *first_word(const char *variant, char buf[64]) {
    const size_t length = strcspn(variant, " ");
    assert_true(length < 64);
    memcpy(buf, variant, length);
    buf[length] = '\0';
    return buf;
}

static const char *target(world *w, const char *name) {
    char inner[256];
    snprintf(inner, sizeof inner, "out/%s", name);
    return path_in(&w->folder, inner, w->out.path);
}

/* ---- Context, parameters ---- */

static rlar_status ctx_new(world *w, const char *variant) {
    (void)variant;
    return rlar_ctx_new(&w->options, &w->out.ctx);
}

static rlar_status params_new(world *w, const char *method) {
    return rlar_params_new(w->ctx, method, &w->out.params);
}

static rlar_status params_copy(world *w, const char *variant) {
    (void)variant;
    return rlar_params_copy(w->ctx, w->params, &w->out.params);
}

static rlar_status params_set(world *w, const char *variant) {
    TRY(rlar_params_new(w->ctx, "rlar", &w->out.params));
    if (has(variant, "preset"))
        return rlar_params_preset(w->ctx, w->out.params, "paper");
    return rlar_params_set(w->ctx, w->out.params, "alpha", "0.25");
}

static rlar_status check(world *w, const char *variant) {
    char path[512];
    if (has(variant, "scale"))
        return rlar_scale_check(w->ctx, "zscore,rms");
    if (has(variant, "classifier"))
        return rlar_classifier_check(w->ctx, "knn-cosine", "rlar");
    return rlar_write_check(w->ctx, path_in(&w->folder, "x.npz.gz", path), NULL);
}

/* ---- Data ---- */

static rlar_status data_make(world *w, const char *variant) {
    static const char *const text[] = {"b", "a", "b", "10", "9", "a"};
    static const double label[] = {3, 1, 2, 3, 1, 2};
    static const char *const feature[] = {"one", "two"};
    static const double x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    rlar_view v = RLAR_INIT(rlar_view);
    v.n = 6;
    v.d = v.stride = 2;
    v.x = x;
    TRY(rlar_data_view(w->ctx, &v, &w->out.data));
    if (has(variant, "texts"))
        return rlar_data_set_labels(w->ctx, w->out.data, text);
    if (has(variant, "numbers"))
        return rlar_data_set_label_numbers(w->ctx, w->out.data, label);
    if (has(variant, "name"))
        return rlar_data_set_name(w->ctx, w->out.data, "something");
    if (has(variant, "features"))
        return rlar_data_set_features(w->ctx, w->out.data, feature);
    return RLAR_OK;
}

/* "holes.csv mean": the file, then the options. */
static rlar_read_options read_options(world *w, const char *variant, char path[512],
                                      char labels[512]) {
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    char name[64];
    (void)path_in(&w->folder, first_word(variant, name), path);
    if (has(variant, " mean"))
        o.missing = RLAR_MISSING_MEAN;
    if (has(variant, " drop"))
        o.missing = RLAR_MISSING_DROP;
    if (has(variant, " keep"))
        o.missing = RLAR_MISSING_KEEP;
    if (has(variant, " labels"))
        o.labels_file =
            path_in(&w->folder, has(variant, ".npy") ? "labels.npy" : "labels.txt", labels);
    if (has(variant, " model"))
        o.model = w->model;
    if (has(variant, " csv"))
        o.format = "csv";
    if (has(variant, " four"))
        o.features = 4;
    if (has(variant, " part")) {
        o.part = 1;
        o.parts = 3;
    }
    return o;
}

static rlar_status data_read(world *w, const char *variant) {
    char path[512], labels[512];
    const rlar_read_options o = read_options(w, variant, path, labels);
    return rlar_data_read(w->ctx, path, &o, &w->out.data);
}

static rlar_status data_splits(world *w, const char *variant) {
    char path[512], labels[512];
    const rlar_read_options o = read_options(w, variant, path, labels);
    int can = 0;
    return rlar_data_splits(w->ctx, path, &o, &can);
}

static rlar_status walk(world *w) {
    const rlar_data *block = NULL;
    do {
        TRY(rlar_stream_next(w->out.stream, 4, &block));
        if (block)
            w->out.check = mix_data(w->out.check, block);
    } while (block);
    return RLAR_OK;
}

static rlar_status stream_file(world *w, const char *variant) {
    char path[512], labels[512];
    const rlar_read_options o = read_options(w, variant, path, labels);
    TRY(rlar_stream_open(w->ctx, path, &o, &w->out.stream));
    return walk(w);
}

static rlar_status stream_data(world *w, const char *variant) {
    TRY(rlar_stream_data(w->ctx, w->data, has(variant, "model") ? w->model : NULL, &w->out.stream));
    return walk(w);
}

static rlar_status image_read(world *w, const char *name) {
    char path[512];
    int64_t rows = 0, columns = 0;
    TRY(rlar_image_read(w->ctx, path_in(&w->folder, name, path), &w->out.grey, &rows, &columns));
    w->out.check = rlar__crc64(0, w->out.grey, (size_t)(rows * columns) * sizeof(double));
    return RLAR_OK;
}

static rlar_status data_write(world *w, const char *name) {
    return rlar_data_write(w->ctx, w->data, target(w, name), NULL);
}

/* ---- Fit, predict, the model ---- */

/* The words name=value of a setting. */
static rlar_status set_words(world *w, const char *variant) {
    char name[32], value[32];
    for (const char *at = variant; (at = strchr(at, ' ')) != NULL;)
        if (sscanf(++at, "%31[^= ]=%31s", name, value) == 2)
            TRY(rlar_params_set(w->ctx, w->out.params, name, value));
    return RLAR_OK;
}

/* "rlar wide": the method, and words that say how. */
static rlar_status fit_model(world *w, const char *variant) {
    static const int64_t rows[] = {0, 1, 2, 3, 8, 9, 10, 11, 14, 15, 16, 17};
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    rlar_info info = RLAR_INIT(rlar_info);
    char method[64];
    TRY(rlar_params_new(w->ctx, first_word(variant, method), &w->out.params));
    if (!isnan(rlar_params_get(w->out.params, "iters")))
        TRY(rlar_params_set(w->ctx, w->out.params, "iters", w->iterations));
    TRY(set_words(w, variant));
    if (has(variant, " rows")) {
        o.rows = rows;
        o.n_rows = sizeof rows / sizeof rows[0];
    }
    if (has(variant, " checkpoint")) {
        o.checkpoint = target(w, has(variant, " half") ? "half.checkpoint" : "new.checkpoint");
        o.checkpoint_every = 1;
    }
    o.scale = has(variant, " chain") ? "minmax,unit" : NULL;
    o.start = has(variant, " start") ? w->model : NULL;
    if (o.start)
        TRY(rlar_params_set(w->ctx, w->out.params, "beta", "0.2"));
    const rlar_status status = rlar_fit(w->ctx, has(variant, " wide") ? w->wide_data : w->data,
                                        w->out.params, &o, &w->out.model, &info);
    w->out.path[0] = '\0'; /* a checkpoint that could not be written is no failure */
    return status;
}

static rlar_status forecast(world *w, const char *method) {
    rlar_forecast f = RLAR_INIT(rlar_forecast);
    TRY(rlar_params_new(w->ctx, method, &w->out.params));
    TRY(rlar_fit_forecast(w->ctx, w->data, w->out.params, NULL, &f));
    *room(w, 1) = (double)f.bytes;
    return RLAR_OK;
}

static rlar_status predict(world *w, const char *variant) {
    static const int64_t rows[] = {20, 3, 3, 11};
    rlar_predict_options o = RLAR_INIT(rlar_predict_options);
    int64_t classes[64] = {0};
    char classifier[64];
    o.classifier = first_word(variant, classifier);
    if (has(variant, " rows")) {
        o.rows = rows;
        o.n_rows = sizeof rows / sizeof rows[0];
    }
    TRY(rlar_predict(w->ctx, w->model, w->data, &o, classes, room(w, w->narrow.n * 3)));
    for (int64_t i = 0; i < w->narrow.n; i++)
        *room(w, 1) = (double)classes[i];
    return RLAR_OK;
}

static rlar_status accuracy(world *w, const char *classifier) {
    rlar_predict_options o = RLAR_INIT(rlar_predict_options);
    o.classifier = classifier;
    return rlar_training_accuracy(w->ctx, w->model, &o, room(w, 1));
}

static rlar_status transform(world *w, const char *variant) {
    (void)variant;
    return rlar_transform(w->ctx, w->model, w->data,
                          room(w, w->narrow.n * rlar_model_outputs(w->model)));
}

static rlar_status matrices(world *w, const char *variant) {
    (void)variant;
    double *t = room(w, 6 * 3), *v = room(w, 36), *s = room(w, 36);
    return rlar_model_matrices(w->ctx, w->model, 1, 6, t, v, s);
}

/* Two parts, in one process; what is left of them after an error is the caller's. */
static rlar_status share(world *w, const char *variant) {
    rlar_data *part[2] = {NULL, NULL};
    (void)variant;
    rlar_status status = view_labelled(w->ctx, &w->narrow, &part[0]);
    if (status >= 0)
        status = view_labelled(w->ctx, &w->narrow, &part[1]);
    if (status >= 0)
        status = rlar_data_share(w->ctx, part, 2, &w->out.data);
    rlar_data_free(part[0]);
    rlar_data_free(part[1]);
    return status;
}

/* What was shared is scaled in place, and ends with the fit. */
static rlar_status fit_own(world *w, const char *variant) {
    TRY(share(w, variant));
    TRY(rlar_params_new(w->ctx, "rlar", &w->out.params));
    TRY(rlar_params_set(w->ctx, w->out.params, "iters", w->iterations));
    return rlar_fit_own(w->ctx, &w->out.data, w->out.params, NULL, &w->out.model, NULL);
}

static rlar_status model_save(world *w, const char *variant) {
    (void)variant;
    return rlar_model_save(w->ctx, w->model, target(w, "m.rlar"));
}

static rlar_status model_load(world *w, const char *variant) {
    char path[512];
    (void)variant;
    return rlar_model_load(w->ctx, path_in(&w->folder, "m.rlar", path), &w->out.model);
}

static rlar_status save_bytes(world *w, const char *variant) {
    (void)variant;
    return rlar_model_save_bytes(w->ctx, w->model, &w->out.bytes, &w->out.size);
}

static rlar_status load_bytes(world *w, const char *variant) {
    (void)variant;
    return rlar_model_load_bytes(w->ctx, w->model_bytes, w->model_size, &w->out.model);
}

/* ---- Evaluation ---- */

/* The classifiers are tried for all methods, numbers for one of them. */
static const char *const NUMBERS_TRIED[] = {"0.01", "0.05", "0.1", "0.5", "1"};
static const char *const CLASSIFIERS[] = {"1nn", "centroid"};
static const rlar_axis RR_AXES[] = {{"rr", "lambda", NUMBERS_TRIED, 5},
                                    {NULL, "classifier", CLASSIFIERS, 2}};
static const rlar_axis SDA_AXES[] = {{"sda", "tau", NUMBERS_TRIED, 2},
                                     {NULL, "classifier", CLASSIFIERS, 2}};
static const rlar_axis RLAR_AXES[] = {{"rlar", "alpha", NUMBERS_TRIED, 5}};

/* What a caller has split by hand; the classes begin at 0, 7 and 13. */
static const int64_t GIVEN_TRAIN[] = {0, 1, 2, 3, 7, 8, 9, 10, 13, 14, 15, 16};
static const int64_t GIVEN_TEST[] = {4, 5, 6, 11, 12, 17, 18, 19, 20};
static const rlar_rows GIVEN[] = {{GIVEN_TRAIN, GIVEN_TEST, 12, 9},
                                  {GIVEN_TRAIN, GIVEN_TEST, 9, 5}};

static rlar_eval_spec spec_of(world *w, const char *variant) {
    rlar_eval_spec spec = RLAR_INIT(rlar_eval_spec);
    spec.per_class = 4;
    spec.trials = 2;
    spec.seed = 7;
    spec.tune_folds = 2;
    spec.fraction = 0.5;
    spec.folds = 2;
    if (has(variant, "fraction"))
        spec.split = RLAR_SPLIT_FRACTION;
    if (has(variant, "folds"))
        spec.split = RLAR_SPLIT_FOLDS;
    if (has(variant, "given")) {
        spec.split = RLAR_SPLIT_GIVEN;
        spec.given = GIVEN;
    }
    spec.fill = has(variant, "fill");
    if (has(variant, "cv"))
        spec.tune = RLAR_TUNE_CV;
    if (has(variant, "oracle"))
        spec.tune = RLAR_TUNE_ORACLE;
    spec.coarse = has(variant, "coarse");
    spec.race = has(variant, "race");
    if (spec.tune != RLAR_TUNE_NONE) {
        const bool rlar = has(variant, "rlar");
        spec.axes = rlar ? RLAR_AXES : has(variant, "sda") ? SDA_AXES : RR_AXES;
        spec.n_axes = rlar ? 1 : 2;
        spec.trials = 1;
    }
    if (has(variant, "journal"))
        spec.journal = target(w, has(variant, "half") ? "half.journal" : "new.journal");
    return spec;
}

/* The journal's bytes are no result: they hold the seconds that a fit took. */
static rlar_status evaluate(world *w, const char *variant) {
    rlar_params *other = NULL;
    rlar_eval_spec spec = spec_of(w, variant);
    const char *method = has(variant, "rlar") ? "rlar" : has(variant, "sda") ? "sda" : "rr";
    TRY(rlar_params_new(w->ctx, method, &w->out.params));
    rlar_status status = RLAR_OK;
    if (strcmp(method, "rlar") == 0)
        status = rlar_params_set(w->ctx, w->out.params, "iters", w->iterations);
    if (status >= 0)
        status = rlar_params_new(w->ctx, "lda", &other);
    const rlar_params *methods[] = {w->out.params, other};
    spec.methods = methods;
    spec.n_methods = 2;
    const rlar_data *data = spec.fill ? w->holed : w->data;
    if (status >= 0)
        status = has(variant, "check") ? rlar_eval_check(w->ctx, &spec)
                                       : rlar_evaluate(w->ctx, data, &spec, &w->out.eval);
    rlar_params_free(other);
    w->out.path[0] = '\0';
    return status;
}

static rlar_status splits(world *w, const char *variant) {
    rlar_eval_spec spec = spec_of(w, variant);
    w->out.n_rows = has(variant, "folds") ? 4 : 2;
    return rlar_eval_splits(w->ctx, w->data, &spec, &w->out.rows);
}

static rlar_status occlude(world *w, const char *variant) {
    rlar_occlusion spec = RLAR_INIT(rlar_occlusion);
    spec.per_class = 3;
    spec.trials = w->out.n_rows = 2;
    spec.seed = 3;
    spec.corrupted = 1;
    if (has(variant, "block")) {
        spec.block = 1;
        spec.height = spec.width = 2;
    } else {
        spec.occluded = w->shaded;
    }
    return rlar_occlude(w->ctx, w->data, &spec, &w->out.data, &w->out.rows);
}

/* ---- Statistics, the machine, output files ---- */

static rlar_status statistics(world *w, const char *variant) {
    static const double x[] = {0.9, 0.8, 0.85, 0.7, 0.95, 0.6, 0.65, 0.8};
    static const double y[] = {0.8, 0.82, 0.8, 0.6, 0.9, 0.61, 0.5, 0.7};
    static const double ranks[] = {1.2, 1.9, 2.9}, p[] = {0.01, 0.04, 0.03};
    double *out = room(w, 12);
    if (has(variant, "wilcoxon"))
        return rlar_wilcoxon(w->ctx, 8, x, y, &out[0], &out[1]);
    if (has(variant, "holm"))
        return rlar_holm(w->ctx, 3, p, out);
    if (has(variant, "friedman"))
        return rlar_friedman(w->ctx, 4, 2, x, out, &out[2], &out[3]);
    if (has(variant, "iman"))
        return rlar_iman_davenport(w->ctx, 8, 3, 5.0, &out[0], &out[1]);
    if (has(variant, "difference"))
        return rlar_nemenyi_difference(w->ctx, 8, 3, 0.05, out);
    return rlar_nemenyi(w->ctx, 8, 3, ranks, out);
}

/* The speed is no result. */
static rlar_status blas(world *w, const char *variant) {
    rlar_blas_info info = RLAR_INIT(rlar_blas_info);
    double speed = 0;
    if (has(variant, "speed"))
        return rlar_blas_speed(w->ctx, 0.001, &speed);
    return rlar_blas_describe(w->ctx, &info);
}

/* Some small and one large piece: the buffer fills, and is passed by. */
static rlar_status write_pieces(rlar_file *out) {
    static const char large[100000] = "large";
    for (int i = 0; i < 4; i++)
        RLAR_TRY(rlar_file_write(out, large, 30000));
    return rlar_file_write(out, large, sizeof large);
}

static rlar_status file(world *w, const char *variant) {
    (void)variant;
    TRY(rlar_file_create(w->ctx, target(w, "file"), &w->out.file));
    TRY(write_pieces(w->out.file));
    rlar_file *whole = w->out.file;
    w->out.file = NULL; /* the commit ends it, also on failure */
    return rlar_file_commit(whole);
}

/* The second stays small. "fresh": the first replaces nothing. */
static rlar_status two_files(world *w, const char *variant) {
    rlar_file *second = NULL;
    TRY(rlar_file_create(w->ctx, target(w, has(variant, "fresh") ? "fresh" : "file"),
                         &w->out.file));
    TRY(write_pieces(w->out.file));
    TRY(rlar_file_create(w->ctx, target(w, "m.rlar"), &second));
    rlar_file *first = w->out.file;
    w->out.file = NULL;
    return rlar_file_commit_both(first, second);
}

#define METHOD(name)                                                                               \
    {"rlar_fit", name, fit_model}, {                                                               \
        "rlar_fit", name " wide", fit_model                                                        \
    }

static const call TABLE[] = {
    {"rlar_ctx_new", "", ctx_new},
    {"rlar_params_new", "rlar", params_new},
    {"rlar_params_copy", "", params_copy},
    {"rlar_params_set", "", params_set},
    {"rlar_params_preset", "preset", params_set},
    {"rlar_scale_check", "scale", check},
    {"rlar_classifier_check", "classifier", check},
    {"rlar_write_check", "", check},
    {"rlar_data_view", "", data_make},
    {"rlar_data_set_labels", "texts", data_make},
    {"rlar_data_set_label_numbers", "numbers", data_make},
    {"rlar_data_set_name", "name", data_make},
    {"rlar_data_set_features", "features", data_make},
    {"rlar_data_read", "t.csv", data_read},
    {"rlar_data_read", "t.csv model", data_read},
    {"rlar_data_read", "t.csv part", data_read},
    {"rlar_data_read", "t.svm part", data_read},
    {"rlar_data_read", "t.npy part", data_read},
    {"rlar_data_splits", "t.csv", data_splits},
    {"rlar_data_read", "t.tsv", data_read},
    {"rlar_data_read", "t.svm", data_read},
    {"rlar_data_read", "t.npy", data_read},
    {"rlar_data_read", "t.npz", data_read},
    {"rlar_data_read", "t.arff", data_read},
    {"rlar_data_read", "t.csv.gz", data_read},
    {"rlar_data_read", "t.arff.gz", data_read},
    {"rlar_data_read", "t.svm.gz", data_read},
    {"rlar_data_read", "images", data_read},
    {"rlar_data_read", "holes.csv mean", data_read},
    {"rlar_data_read", "holes.csv drop", data_read},
    {"rlar_data_read", "holes.csv keep csv", data_read},
    {"rlar_data_read", "bare.csv labels", data_read},
    {"rlar_data_read", "bare.csv labels.npy", data_read},
    {"rlar_stream_open", "t.csv model", stream_file},
    {"rlar_stream_open", "t.svm four", stream_file},
    {"rlar_stream_open", "t.tsv", stream_file},
    {"rlar_stream_open", "t.npy", stream_file},
    {"rlar_stream_open", "t.npz", stream_file},
    {"rlar_stream_open", "t.arff.gz", stream_file},
    {"rlar_stream_open", "images", stream_file},
    {"rlar_stream_open", "bare.csv labels", stream_file},
    {"rlar_stream_next", "holes.csv drop", stream_file},
    {"rlar_stream_data", "", stream_data},
    {"rlar_stream_data", "model", stream_data},
    {"rlar_image_read", "images/a/1.pgm", image_read},
    {"rlar_image_read", "images/b/1.pgm", image_read},
    {"rlar_image_read", "images/b/2.png", image_read},
    {"rlar_data_write", "t.csv", data_write},
    {"rlar_data_write", "t.tsv", data_write},
    {"rlar_data_write", "t.svm", data_write},
    {"rlar_data_write", "t.npy", data_write},
    {"rlar_data_write", "t.npz", data_write},
    {"rlar_data_write", "t.arff", data_write},
    {"rlar_data_write", "t.csv.gz", data_write},
    {"rlar_data_write", "t.npz.gz", data_write},
    METHOD("rlar"),
    METHOD("rr"),
    METHOD("lda"),
    METHOD("mmc"),
    METHOD("lsda"),
    METHOD("lfda"),
    METHOD("nmmp"),
    METHOD("sda"),
    METHOD("sulda"),
    METHOD("l21sda"),
    METHOD("alde"),
    METHOD("relsr"),
    METHOD("mpda"),
    METHOD("rslda"),
    METHOD("alpr"),
    METHOD("rfs"),
    METHOD("lsr"),
    {"rlar_fit", "rlar solver=paper chain", fit_model},
    {"rlar_fit", "rlar solver=anneal", fit_model},
    {"rlar_fit", "rlar search=exact", fit_model},
    {"rlar_fit", "rlar search=local", fit_model},
    {"rlar_fit", "lda length=st", fit_model},
    {"rlar_fit", "lda length=sw", fit_model},
    {"rlar_fit", "lda length=orth", fit_model},
    {"rlar_fit", "lfda metric=plain", fit_model},
    {"rlar_fit", "lfda metric=orth", fit_model},
    {"rlar_fit", "lsda ties=variance", fit_model},
    {"rlar_fit", "nmmp mutual=and", fit_model},
    {"rlar_fit", "sulda variant=s1", fit_model},
    {"rlar_fit", "l21sda loss=l21", fit_model},
    {"rlar_fit", "rlar rows", fit_model},
    {"rlar_fit", "rlar start", fit_model},
    {"rlar_fit", "rlar checkpoint solver=paper", fit_model},
    {"rlar_fit", "rlar checkpoint half solver=paper", fit_model},
    {"rlar_fit_forecast", "rlar", forecast},
    {"rlar_predict", "1nn", predict},
    {"rlar_predict", "1nn rows", predict},
    {"rlar_predict", "knn", predict},
    {"rlar_predict", "centroid", predict},
    {"rlar_predict", "argmax", predict},
    {"rlar_predict", "1nn-cosine", predict},
    {"rlar_predict", "knn-cosine", predict},
    {"rlar_predict", "centroid-cosine", predict},
    {"rlar_training_accuracy", "centroid", accuracy},
    {"rlar_transform", "", transform},
    {"rlar_model_matrices", "", matrices},
    {"rlar_data_share", "", share},
    {"rlar_fit_own", "", fit_own},
    {"rlar_model_save", "", model_save},
    {"rlar_model_load", "", model_load},
    {"rlar_model_save_bytes", "", save_bytes},
    {"rlar_model_load_bytes", "", load_bytes},
    {"rlar_eval_check", "check oracle", evaluate},
    {"rlar_eval_splits", "per class", splits},
    {"rlar_eval_splits", "fraction", splits},
    {"rlar_eval_splits", "folds", splits},
    {"rlar_evaluate", "none", evaluate},
    {"rlar_evaluate", "given", evaluate},
    {"rlar_evaluate", "fill", evaluate},
    {"rlar_evaluate", "fill cv", evaluate},
    {"rlar_evaluate", "fraction cv", evaluate},
    {"rlar_evaluate", "folds oracle", evaluate},
    {"rlar_evaluate", "sda oracle", evaluate},
    {"rlar_evaluate", "rlar oracle coarse", evaluate},
    {"rlar_evaluate", "rlar cv race", evaluate},
    {"rlar_evaluate", "journal oracle", evaluate},
    {"rlar_evaluate", "journal half oracle", evaluate},
    {"rlar_occlude", "block", occlude},
    {"rlar_occlude", "samples", occlude},
    {"rlar_wilcoxon", "wilcoxon", statistics},
    {"rlar_holm", "holm", statistics},
    {"rlar_friedman", "friedman", statistics},
    {"rlar_iman_davenport", "iman", statistics},
    {"rlar_nemenyi", "", statistics},
    {"rlar_nemenyi_difference", "difference", statistics},
    {"rlar_blas_describe", "", blas},
    {"rlar_blas_speed", "speed", blas},
    {"rlar_file_create", "", file},
    {"rlar_file_write", "", file},
    {"rlar_file_commit", "", file},
    {"rlar_file_commit_both", "", two_files},
    {"rlar_file_commit_both", "fresh", two_files},
    {NULL, NULL, NULL},
};

/* They answer from what is there, or give back: no memory, no file, no callback. */
static const char *const HARMLESS[] = {
    "rlar_ctx_free",          "rlar_ctx_error",        "rlar_status_text",
    "rlar_data_free",         "rlar_model_free",       "rlar_ctx_threads",
    "rlar_ctx_rest",          "rlar_ctx_memory",       "rlar_ctx_memory_peak",
    "rlar_ctx_reserve",       "rlar_ctx_give_back",    "rlar_ctx_join",
    "rlar_ctx_traffic",       "rlar_method_count",     "rlar_method_at",
    "rlar_method_find",       "rlar_params_free",      "rlar_params_method",
    "rlar_params_get",        "rlar_params_text",      "rlar_data_samples",
    "rlar_data_dims",         "rlar_data_classes",     "rlar_data_name",
    "rlar_data_format",       "rlar_data_class",       "rlar_data_class_size",
    "rlar_data_label",        "rlar_data_feature",     "rlar_data_missing",
    "rlar_data_row",          "rlar_stream_free",      "rlar_name_needs_quotes",
    "rlar_model_method",      "rlar_model_dims",       "rlar_model_outputs",
    "rlar_model_classes",     "rlar_model_references", "rlar_model_class",
    "rlar_model_feature",     "rlar_model_scale",      "rlar_model_param_name",
    "rlar_model_param_value", "rlar_model_version",    "rlar_model_map",
    "rlar_model_offset",      "rlar_model_scores",     "rlar_bytes_free",
    "rlar_rows_free",         "rlar_eval_count",       "rlar_eval_get",
    "rlar_eval_free",         "rlar_texture",          "rlar_version",
    "rlar_name_distance",     "rlar_capabilities",     "rlar_file_abort",
};

bool call_keeps(const call *c) {
    return has(c->variant, "journal") || has(c->variant, "checkpoint");
}

const call *calls(void) {
    return TABLE;
}

static bool is_known(const char *name) {
    for (const call *c = TABLE; c->function; c++)
        if (strcmp(c->function, name) == 0)
            return true;
    for (size_t i = 0; i < sizeof HARMLESS / sizeof HARMLESS[0]; i++)
        if (strcmp(HARMLESS[i], name) == 0)
            return true;
    return false;
}

/* Behind every RLAR_API of a declaration stands the name, just before the first bracket. */
static const char *lacking_name(char *text) {
    for (char *at = text; (at = strstr(at, "\nRLAR_API ")) != NULL;) {
        char *open = strchr(at, '('), *start = open;
        assert_non_null(open);
        while (isalnum((unsigned char)start[-1]) || start[-1] == '_')
            start--;
        *open = '\0';
        if (!is_known(start))
            return start;
        at = open + 1;
    }
    return NULL;
}

static bool is_fitted(const char *variant) {
    const call *c = TABLE;
    while (c->function &&
           (c->run != fit_model || strncmp(c->variant, variant, strlen(variant)) != 0))
        c++;
    return c->function != NULL;
}

/* The default is fitted with the method. */
static void check_choices(const rlar_method_def *method, const rlar_param_def *p) {
    char variant[128];
    int64_t index = 0;
    for (const char *at = p->choices; *at; index++) {
        const int length = (int)strcspn(at, "|");
        snprintf(variant, sizeof variant, "%s %s=%.*s", method->name, p->name, length, at);
        if (index != (int64_t)p->value && !is_fitted(variant))
            fail_msg("the fit of %s is not in the table of calls", variant);
        at += length + (at[length] == '|');
    }
}

static void check_methods(void) {
    for (int64_t m = 0; m < rlar_method_count(); m++) {
        const rlar_method_def *method = rlar_method_at(m);
        if (!is_fitted(method->name))
            fail_msg("the method %s is not in the table of calls", method->name);
        for (const rlar_param_def *p = method->params; p->name; p++)
            if (p->choices)
                check_choices(method, p);
    }
}

void calls_check(const char *header) {
    enum { ROOM = 1 << 17 };
    char *text = calloc(1, ROOM);
    FILE *source = fopen(header, "rb");
    if (!source || !text)
        fail_msg("%s cannot be opened", header);
    assert_in_range(fread(text, 1, ROOM - 1, source), 1000, ROOM - 2);
    fclose(source);
    const char *lacking = lacking_name(text);
    if (lacking)
        fail_msg("%s is public, but not in the table of calls", lacking);
    free(text);
    check_methods();
}
