/* predict.c - model -> scaling -> map -> classifier.
 *
 * Works on blocks, so its memory does not grow with the data. Every block is padded to whole
 * columns of the projection, so that a sample gets the same bits alone or in company. */
#include "core/core.h"
#include "data/dataset.h"
#include "data/scale.h"
#include "eval/classify.h"
#include "linalg/linalg.h"
#include "model/model.h"
#include "pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_BYTES = 32 << 20, BLOCK_MAX = 1024 };

/* ---- Shared with fit.c ---- */

const char *rlar__feature_text(const rlar_data *data, int64_t j, char *buf, size_t size) {
    const char *name = rlar__texts_at(&data->features, j);
    if (name)
        snprintf(buf, size, "feature %lld (%.40s)", (long long)j + 1, name);
    else
        snprintf(buf, size, "feature %lld", (long long)j + 1);
    return buf;
}

rlar_status rlar__check_row(rlar_ctx *ctx, const rlar_data *data, int64_t row, const double *x) {
    char where[96];
    for (int64_t j = 0; j < data->view.d; j++) {
        if (isfinite(x[j]))
            continue;
        return rlar__fail(ctx, RLAR_E_DATA, "%s: sample %lld, %s is %s; %s", data->file,
                          (long long)(data->first + row + 1),
                          rlar__feature_text(data, j, where, sizeof where),
                          isnan(x[j]) ? "missing (nan)" : "infinite",
                          isnan(x[j]) ? "fill it in or drop the sample (--missing mean|drop)"
                                      : "samples must be finite");
    }
    return RLAR_OK;
}

int64_t rlar__padded(int64_t n) {
    return (n + RLAR_COLUMNS - 1) / RLAR_COLUMNS * RLAR_COLUMNS;
}

void rlar__add_offset(int64_t p, int64_t n, const double *b, double *z) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < p; r++)
            z[i * p + r] += b[r];
}

/* ---- Blocks ---- */

typedef struct block {
    int64_t most; /* samples per block */
    double *x;    /* d x most */
    double *z;    /* p x most */
} block;

static void block_free(block *b) {
    rlar__free(b->x);
    rlar__free(b->z);
}

static rlar_status block_new(rlar_ctx *ctx, const rlar_model *m, int64_t n, block *b) {
    int64_t most = BLOCK_BYTES / ((int64_t)sizeof(double) * m->d) / RLAR_COLUMNS * RLAR_COLUMNS;
    most = most < RLAR_COLUMNS ? RLAR_COLUMNS : most > BLOCK_MAX ? BLOCK_MAX : most;
    b->most = rlar__padded(n) < most ? rlar__padded(n) : most;
    RLAR_TRY(rlar__alloc(ctx, b->most, (size_t)m->d * sizeof *b->x, "a block of samples", &b->x));
    return rlar__alloc(ctx, b->most, (size_t)m->p * sizeof *b->z, "a block of outputs", &b->z);
}

static rlar_status check_columns(rlar_ctx *ctx, const rlar_model *m, const rlar_data *data) {
    if (data->view.d != m->d)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "%s: %lld features, the model was trained on %lld; "
                          "use the columns it was trained on",
                          data->file, (long long)data->view.d, (long long)m->d);
    for (int64_t j = 0; j < m->features.count && j < data->features.count; j++) {
        const char *want = rlar__texts_at(&m->features, j),
                   *have = rlar__texts_at(&data->features, j);
        if (strcmp(want, have) != 0)
            return rlar__fail(
                ctx, RLAR_E_MODEL,
                "%s: column %lld is \"%.40s\", the model was trained with \"%.40s\" there",
                data->file, (long long)j + 1, have, want);
    }
    return RLAR_OK;
}

/* Scaled outputs of `count` samples; rows NULL: from `start` on. */
static rlar_status embed_block(rlar_ctx *ctx, const rlar_model *m, const rlar_data *data,
                               const int64_t *rows, int64_t start, int64_t count, block *b) {
    const int64_t columns = rlar__padded(count);
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = rows ? rows[start + i] : start + i;
        if (row < 0 || row >= data->view.n)
            return rlar__fail(ctx, RLAR_E_ARG,
                              "rlar_predict: row %lld is not one of the %lld samples",
                              (long long)row, (long long)data->view.n);
        double *x = b->x + i * m->d;
        rlar_data_row(data, row, x);
        for (int64_t j = 0; j < m->d; j++)
            if (isnan(x[j]))
                x[j] = m->scaling.fill[j];
        RLAR_TRY(rlar__check_row(ctx, data, row, x));
    }
    memset(b->x + count * m->d, 0, (size_t)((columns - count) * m->d) * sizeof *b->x);
    RLAR_TRY(rlar__scaling_apply(ctx, &m->scaling, b->x, count));
    RLAR_TRY(rlar__project(ctx, m->p, columns, m->d, m->w, b->x, b->z));
    rlar__add_offset(m->p, count, m->b, b->z);
    for (int64_t i = 0; i < count * m->p; i++)
        if (!(fabs(b->z[i]) <= RLAR_LARGEST))
            return rlar__fail(
                ctx, RLAR_E_NUMERIC,
                "%s: sample %lld is too large for the model: an output of %g, more than "
                "%g; check its values",
                data->file,
                (long long)(data->first + 1 + (rows ? rows[start + i / m->p] : start + i / m->p)),
                b->z[i], RLAR_LARGEST);
    return RLAR_OK;
}

typedef struct prediction {
    const rlar_model *model;
    const rlar_data *data;
    const int64_t *rows;
    int64_t n;
    rlar_classifier classifier;
    int64_t neighbours;
    int64_t *classes;
    double *scores, *z;      /* z: transform instead of classify */
    rlar_classify_plan plan; /* empty for a transform */
} prediction;

static rlar_status predict_block(rlar_ctx *ctx, const prediction *p, int64_t start, int64_t count,
                                 block *b) {
    const rlar_model *m = p->model;
    RLAR_TRY(embed_block(ctx, m, p->data, p->rows, start, count, b));
    if (p->z) {
        memcpy(p->z + start * m->p, b->z, (size_t)(count * m->p) * sizeof *b->z);
        return RLAR_OK;
    }
    return rlar__classify(ctx, &p->plan, b->z, count, p->classes + start,
                          p->scores ? p->scores + start * m->c : NULL);
}

static rlar_status predict_all(rlar_ctx *ctx, prediction *p) {
    const rlar_model *m = p->model;
    const rlar_references refs = {
        .p = m->p, .n = m->n, .c = m->c, .z = m->z, .z_class = m->z_class};
    RLAR_TRY(rlar__blas_open(ctx, 0));
    RLAR_TRY(check_columns(ctx, p->model, p->data));
    block b = {0};
    if (!p->z)
        RLAR_TRY(rlar__classify_open(ctx, p->classifier, p->neighbours, &refs, p->n, &p->plan));
    rlar_status status = p->n > 0 ? block_new(ctx, p->model, p->n, &b) : RLAR_OK;
    for (int64_t start = 0; status >= 0 && start < p->n; start += b.most) {
        const int64_t count = p->n - start < b.most ? p->n - start : b.most;
        status = predict_block(ctx, p, start, count, &b);
    }
    block_free(&b);
    rlar__classify_close(&p->plan);
    return status;
}

rlar_status rlar_predict(rlar_ctx *ctx, const rlar_model *model, const rlar_data *data,
                         const rlar_predict_options *options, int64_t *classes, double *scores) {
    if (!ctx || !model || !data || !classes)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_predict: ctx, model, data and classes are needed");
    rlar__begin(ctx);
    rlar_predict_options o = RLAR_INIT(rlar_predict_options);
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    prediction p = {.model = model,
                    .data = data,
                    .rows = o.rows,
                    .n = o.rows ? o.n_rows : data->view.n,
                    .neighbours = o.neighbours ? o.neighbours : 5,
                    .classes = classes,
                    .scores = scores};
    RLAR_TRY(rlar__classifier_parse(ctx, o.classifier, &p.classifier));
    const rlar_method_def *method = rlar_method_find(model->method);
    if (p.classifier == RLAR_CLASSIFY_ARGMAX && method && !method->regression)
        return rlar__fail(
            ctx, RLAR_E_ARG,
            "argmax needs outputs that are class scores, those of method %s are not; use "
            "1nn, knn or centroid",
            method->name);
    return predict_all(ctx, &p);
}

rlar_status rlar_transform(rlar_ctx *ctx, const rlar_model *model, const rlar_data *data,
                           double *z) {
    if (!ctx || !model || !data || !z)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_transform: ctx, model, data and z are needed");
    rlar__begin(ctx);
    prediction p = {.model = model, .data = data, .n = data->view.n, .z = z};
    return predict_all(ctx, &p);
}
