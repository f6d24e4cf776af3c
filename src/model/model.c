/* model.c - the life of a model and the questions one may ask it.
 *
 * A model is a linear map z = W'x + b with the scaling of x before it and, after it, the embedded
 * training samples that classify by nearness. It is filled by the fit or by the loader and never
 * changes afterwards, so any number of threads may read it. Nothing here knows of methods or files.
 */
#include "model/model.h"

#include <float.h>
#include <math.h>

#include "linalg/linalg.h"

/* All arrays of known size. On failure the caller frees the model, which frees what was taken. */
static rlar_status alloc_arrays(rlar_ctx *ctx, rlar_model *m) {
    size_t elements = 0;
    /* The products are checked here because rlar__alloc() checks only count times size. */
    if (!rlar__size_mul((size_t)m->d, (size_t)m->p, &elements) || elements > INT64_MAX ||
        !rlar__size_mul((size_t)m->p, (size_t)m->n, &elements) || elements > INT64_MAX)
        return rlar__fail(ctx, RLAR_E_TOO_LARGE,
                          "model: %lld features, %lld outputs and %lld references do not fit 64 "
                          "bits; use fewer samples or features",
                          (long long)m->d, (long long)m->p, (long long)m->n);
    RLAR_TRY(rlar__alloc(ctx, m->d * m->p, sizeof(double), "the map of the model", &m->w));
    RLAR_TRY(rlar__alloc(ctx, m->p, sizeof(double), "the offset of the model", &m->b));
    RLAR_TRY(rlar__alloc(ctx, m->p * m->n, sizeof(double), "the references of the model", &m->z));
    RLAR_TRY(rlar__alloc(ctx, m->n, sizeof(int32_t), "the reference classes", &m->z_class));
    return rlar__alloc(ctx, m->d, sizeof(double), "the feature scores", &m->score);
}

/* The sizes come from a fit or from a checked header, so a bad one is a defect of ours. The scaling
 * and the texts stay empty: who fills the model allocates them. */
rlar_status rlar__model_new(rlar_ctx *ctx, int64_t d, int64_t p, int64_t c, int64_t n,
                            rlar_model **out) {
    rlar_model *m = NULL;
    if (d < 1 || p < 1 || c < 1 || n < 0 || c > INT32_MAX)
        return rlar__fail(ctx, RLAR_E_INTERNAL,
                          "model: sizes d=%lld p=%lld c=%lld n=%lld are out of range; report this",
                          (long long)d, (long long)p, (long long)c, (long long)n);
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *m, "a model", &m));
    m->d = d;
    m->p = p;
    m->c = c;
    m->n = n;
    const rlar_status status = alloc_arrays(ctx, m);
    if (status < 0) {
        rlar_model_free(m);
        return status;
    }
    *out = m;
    return RLAR_OK;
}

/* Also for a model that is only half filled: every pointer is NULL until it is taken. */
void rlar_model_free(rlar_model *model) {
    if (model == NULL)
        return;
    rlar__free(model->w);
    rlar__free(model->b);
    rlar__free(model->z);
    rlar__free(model->z_class);
    rlar__free(model->score);
    rlar__scaling_free(&model->scaling);
    rlar__texts_free(&model->classes);
    rlar__texts_free(&model->features);
    rlar__texts_free(&model->param_names);
    rlar__texts_free(&model->param_values);
    rlar__free(model->method);
    rlar__free(model->version);
    rlar__free(model);
}

/* A feature that W does not use has an exact 0, so that sparsity can be read off the scores. The
 * norm of finite numbers may be infinite; a score is not. */
void rlar__model_scores(rlar_model *model) {
    for (int64_t j = 0; j < model->d; j++)
        model->score[j] = fmin(rlar__row_norm(model->p, model->w + j, model->d), DBL_MAX);
    rlar__scaling_text(&model->scaling, model->scale_text, sizeof model->scale_text);
}

/* ---- Questions. Indices out of range give NULL; nothing here can fail. ---- */

const char *rlar_model_method(const rlar_model *model) {
    return model->method;
}

int64_t rlar_model_dims(const rlar_model *model) {
    return model->d;
}

int64_t rlar_model_outputs(const rlar_model *model) {
    return model->p;
}

int64_t rlar_model_classes(const rlar_model *model) {
    return model->c;
}

int64_t rlar_model_references(const rlar_model *model) {
    return model->n;
}

const char *rlar_model_class(const rlar_model *model, int64_t class_index) {
    return rlar__texts_at(&model->classes, class_index);
}

const char *rlar_model_feature(const rlar_model *model, int64_t feature) {
    return rlar__texts_at(&model->features, feature);
}

const char *rlar_model_scale(const rlar_model *model) {
    return model->scale_text;
}

const char *rlar_model_param_name(const rlar_model *model, int64_t index) {
    return rlar__texts_at(&model->param_names, index);
}

const char *rlar_model_param_value(const rlar_model *model, int64_t index) {
    return rlar__texts_at(&model->param_values, index);
}

const char *rlar_model_version(const rlar_model *model) {
    return model->version;
}

const double *rlar_model_map(const rlar_model *model) {
    return model->w;
}

const double *rlar_model_offset(const rlar_model *model) {
    return model->b;
}

const double *rlar_model_scores(const rlar_model *model) {
    return model->score;
}
