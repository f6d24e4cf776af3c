/* models.h - what a model promises however it came about: its bytes are read back as they are, and
 * what it answers is finite or an error. For the fuzz targets and tests/verify/mutated_models.c. */
#ifndef RLAR_FUZZ_MODELS_H
#define RLAR_FUZZ_MODELS_H

#include <math.h>

#include "fuzz.h"
#include "model/model_file.h"

/* Saved, loaded with its checksum and saved again: the same bytes. */
static inline void model_check_saved(rlar_ctx *ctx, const rlar_model *model) {
    rlar_model *again = NULL;
    void *first = NULL, *second = NULL;
    size_t size = 0, size_again = 0;
    rlar_status status = rlar_model_save_bytes(ctx, model, &first, &size);
    FUZZ_CHECK(status == RLAR_OK, "a model cannot be saved: %s", rlar_ctx_error(ctx));
    status = rlar_model_load_bytes(ctx, first, size, &again);
    FUZZ_CHECK(status == RLAR_OK, "what was saved cannot be loaded: %s", rlar_ctx_error(ctx));
    status = rlar_model_save_bytes(ctx, again, &second, &size_again);
    FUZZ_CHECK(status == RLAR_OK && size == size_again && memcmp(first, second, size) == 0,
               "saved, loaded and saved again, the bytes differ");
    rlar_bytes_free(ctx, first);
    rlar_bytes_free(ctx, second);
    rlar_model_free(again);
}

static inline void model_check_numbers(int64_t count, const double *x, const char *what) {
    for (int64_t i = 0; i < count; i++)
        FUZZ_CHECK(isfinite(x[i]), "%s %lld is %g", what, (long long)i, x[i]);
}

/* What is refused is refused because of the numbers. */
static inline bool model_answers(const rlar_ctx *ctx, rlar_status status, rlar_status other) {
    if (status >= 0)
        return true;
    fuzz_check_refusal(ctx, status);
    FUZZ_CHECK(status == RLAR_E_NUMERIC || status == other, "status %d: %s", (int)status,
               rlar_ctx_error(ctx));
    return false;
}

static inline void model_check_classes(rlar_ctx *ctx, const rlar_model *m, const rlar_data *data,
                                       const char *classifier, double *scores, int64_t *classes) {
    const int64_t n = rlar_data_samples(data);
    rlar_predict_options o = RLAR_INIT(rlar_predict_options);
    o.classifier = classifier;
    /* RLAR_E_ARG: argmax with a method that has no class scores; E_MODEL: no references. */
    const rlar_status status = rlar_predict(ctx, m, data, &o, classes, scores);
    if (status == RLAR_E_MODEL || !model_answers(ctx, status, RLAR_E_ARG))
        return;
    for (int64_t i = 0; i < n; i++)
        FUZZ_CHECK(classes[i] >= 0 && classes[i] < m->c, "%s: class %lld of %lld", classifier,
                   (long long)classes[i], (long long)m->c);
    for (int64_t i = 0; i < n * m->c; i++) /* a class may be too far away to be measured */
        FUZZ_CHECK(isfinite(scores[i]) || scores[i] == -INFINITY, "%s: a score of %g", classifier,
                   scores[i]);
}

/* Zeros, ones, large numbers of both signs, and a missing value. */
static inline void model_check_answers(rlar_ctx *ctx, const rlar_model *m) {
    static const char *const classifiers[] = {
        "1nn", "knn", "centroid", "argmax", "1nn-cosine", "knn-cosine", "centroid-cosine"};
    enum { N = 4 };
    double *x = fuzz_alloc((size_t)(N * m->d) * sizeof *x);
    double *z = fuzz_alloc((size_t)(N * (m->p > m->c ? m->p : m->c)) * sizeof *z);
    int64_t classes[N];
    rlar_view view = RLAR_INIT(rlar_view);
    rlar_data *data = NULL;
    for (int64_t j = 0; j < m->d; j++) {
        x[j] = 0;
        x[m->d + j] = 1;
        x[2 * m->d + j] = j % 2 ? -1e3 : 1e5;
        x[3 * m->d + j] = j % 3 ? 0.5 : NAN;
    }
    view.n = N;
    view.d = view.stride = m->d;
    view.x = x;
    FUZZ_CHECK(rlar_data_view(ctx, &view, &data) == RLAR_OK, "%s", rlar_ctx_error(ctx));
    if (model_answers(ctx, rlar_transform(ctx, m, data, z), RLAR_E_NUMERIC))
        model_check_numbers(N * m->p, z, "output");
    for (size_t k = 0; k < sizeof classifiers / sizeof *classifiers; k++)
        model_check_classes(ctx, m, data, classifiers[k], z, classes);
    rlar_data_free(data);
    free(x);
    free(z);
}

#endif
