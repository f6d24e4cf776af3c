/* predict.c - scaling -> map -> classifier.
 *
 * Works on blocks, so its memory does not grow with the data. Every block is padded to the width of
 * the products of rlar__embed, so that a sample gets the same bits alone or in company. */
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

enum { BLOCK_BYTES = 32 << 20, BLOCK_MAX = 1024, DEFAULT_NEIGHBOURS = 5 };
/* A test part that is shared is kept whole up to this size; each thread of a search has one. */
enum { SHARED_BYTES = 128 << 20 };

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

static int64_t round_up(int64_t n, int64_t unit) {
    return (n + unit - 1) / unit * unit;
}

void rlar__add_offset(int64_t p, int64_t n, const double *b, double *z) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < p; r++)
            z[i * p + r] += b[r];
}

/* ---- Blocks ---- */

typedef struct block {
    int64_t most;  /* samples per block */
    int64_t width; /* a block is padded to a multiple of it */
    double *x;     /* d x most */
    double *z;     /* p x most */
} block;

static void block_free(block *b) {
    rlar__free(b->x);
    rlar__free(b->z);
}

/* Without room for samples when these are scaled already. */
static rlar_status block_new(rlar_ctx *ctx, const rlar_model *m, int64_t n, bool scaled, block *b) {
    int64_t most = BLOCK_BYTES / ((int64_t)sizeof(double) * m->d) / RLAR_COLUMNS * RLAR_COLUMNS;
    most = most < RLAR_COLUMNS ? RLAR_COLUMNS : most > BLOCK_MAX ? BLOCK_MAX : most;
    b->width = rlar__embed_width(m->p, m->d);
    b->most = round_up(n, b->width) < most ? round_up(n, b->width) : most;
    if (!scaled)
        RLAR_TRY(
            rlar__alloc(ctx, b->most, (size_t)m->d * sizeof *b->x, "a block of samples", &b->x));
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

/* What is missing gets the training mean; what is infinite is refused. */
static rlar_status fill_missing(rlar_ctx *ctx, const rlar_scaling *scaling, const rlar_data *data,
                                int64_t row, double *x) {
    if (rlar__finite(data->view.d, x))
        return RLAR_OK;
    rlar__scaling_fill(scaling, x);
    return rlar__check_row(ctx, data, row, x);
}

/* What is predicted, by what. */
typedef struct prediction {
    const rlar_model *model;
    const rlar_scaling *scaling;
    const rlar_data *data;
    const int64_t *rows; /* NULL: all */
    int64_t n;
    const double *scaled; /* d x n, scaled before and padded; or NULL */
    rlar_classifier classifier;
    int64_t neighbours;
    int64_t *classes;
    double *scores, *z;      /* z: transform instead of classify */
    rlar_classify_plan plan; /* empty for a transform */
} prediction;

static int64_t row_at(const prediction *p, int64_t i) {
    return p->rows ? p->rows[i] : i;
}

/* Samples start .. start + count - 1, scaled, and zero columns behind them up to `columns`. */
static rlar_status scale_block(rlar_ctx *ctx, const prediction *p, int64_t start, int64_t count,
                               int64_t columns, double *out) {
    const rlar_data *data = p->data;
    const int64_t d = data->view.d;
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = row_at(p, start + i);
        if (row < 0 || row >= data->view.n)
            return rlar__fail(ctx, RLAR_E_ARG,
                              "rlar_predict: row %lld is not one of the %lld samples",
                              (long long)row, (long long)data->view.n);
        double *x = out + i * d;
        rlar_data_row(data, row, x);
        RLAR_TRY(fill_missing(ctx, p->scaling, data, row, x));
    }
    memset(out + count * d, 0, (size_t)((columns - count) * d) * sizeof *out);
    return rlar__scaling_apply(ctx, p->scaling, out, count);
}

/* The outputs of scaled samples. */
static rlar_status embed_block(rlar_ctx *ctx, const prediction *p, int64_t start, int64_t count,
                               const double *x, block *b) {
    const rlar_model *m = p->model;
    RLAR_TRY(rlar__embed(ctx, m->p, round_up(count, b->width), m->d, m->w, x, b->z));
    rlar__add_offset(m->p, count, m->b, b->z);
    for (int64_t i = 0; i < count * m->p; i++)
        if (!(fabs(b->z[i]) <= RLAR_LARGEST))
            return rlar__fail(
                ctx, RLAR_E_NUMERIC,
                "%s: sample %lld is too large for the model: an output of %g, more than "
                "%g; check its values",
                p->data->file, (long long)(p->data->first + 1 + row_at(p, start + i / m->p)),
                b->z[i], RLAR_LARGEST);
    return RLAR_OK;
}

static rlar_status predict_block(rlar_ctx *ctx, const prediction *p, int64_t start, int64_t count,
                                 block *b) {
    const rlar_model *m = p->model;
    const double *x = p->scaled ? p->scaled + start * m->d : b->x;
    if (!p->scaled)
        RLAR_TRY(scale_block(ctx, p, start, count, round_up(count, b->width), b->x));
    RLAR_TRY(embed_block(ctx, p, start, count, x, b));
    if (p->z) {
        memcpy(p->z + start * m->p, b->z, (size_t)(count * m->p) * sizeof *b->z);
        return RLAR_OK;
    }
    return rlar__classify(ctx, &p->plan, b->z, count, p->classes + start,
                          p->scores ? p->scores + start * m->c : NULL);
}

static rlar_references references_of(const rlar_model *m) {
    return (rlar_references){.p = m->p, .n = m->n, .c = m->c, .z = m->z, .z_class = m->z_class};
}

static rlar_status predict_all(rlar_ctx *ctx, prediction *p) {
    const rlar_references refs = references_of(p->model);
    RLAR_TRY(check_columns(ctx, p->model, p->data));
    block b = {0};
    if (!p->z)
        RLAR_TRY(rlar__classify_open(ctx, p->classifier, p->neighbours, &refs, p->n, &p->plan));
    rlar_status status = p->n > 0 ? block_new(ctx, p->model, p->n, p->scaled, &b) : RLAR_OK;
    for (int64_t start = 0; status >= 0 && start < p->n; start += b.most) {
        const int64_t count = p->n - start < b.most ? p->n - start : b.most;
        status = predict_block(ctx, p, start, count, &b);
    }
    block_free(&b);
    rlar__classify_close(&p->plan);
    return status;
}

/* Parse the classifier; argmax is for those methods only whose outputs are class scores. */
static rlar_status choose(rlar_ctx *ctx, const char *classifier, const rlar_method_def *method,
                          prediction *p) {
    RLAR_TRY(rlar__classifier_parse(ctx, classifier, &p->classifier));
    if (p->classifier == RLAR_CLASSIFY_ARGMAX && method && !method->regression)
        return rlar__fail(
            ctx, RLAR_E_ARG,
            "argmax needs outputs that are class scores, those of method %s are not; use "
            "1nn, knn or centroid",
            method->name);
    return RLAR_OK;
}

rlar_status rlar_classifier_check(rlar_ctx *ctx, const char *classifier, const char *method) {
    prediction p;
    if (!ctx)
        return RLAR_E_ARG;
    rlar__begin(ctx);
    return choose(ctx, classifier, method ? rlar_method_find(method) : NULL, &p);
}

rlar_status rlar_predict(rlar_ctx *ctx, const rlar_model *model, const rlar_data *data,
                         const rlar_predict_options *options, int64_t *classes, double *scores) {
    if (!ctx || !model || !data || !classes)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_predict: ctx, model, data and classes are needed");
    rlar__begin(ctx);
    rlar_predict_options o = RLAR_INIT(rlar_predict_options);
    RLAR_TRY(rlar__options_take(ctx, "rlar_predict_options", options, &o, sizeof o));
    prediction p = {.model = model,
                    .scaling = &model->scaling,
                    .data = data,
                    .rows = o.rows,
                    .n = o.rows ? o.n_rows : data->view.n,
                    .neighbours = o.neighbours ? o.neighbours : DEFAULT_NEIGHBOURS,
                    .classes = classes,
                    .scores = scores};
    if (p.n < 0)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_predict: n_rows is %lld; it must not be negative",
                          (long long)p.n);
    RLAR_TRY(choose(ctx, o.classifier, rlar_method_find(model->method), &p));
    return predict_all(ctx, &p);
}

/* In blocks, as for any other samples. */
static rlar_status count_right(rlar_ctx *ctx, const rlar_model *m, const rlar_classify_plan *plan,
                               int64_t *right) {
    int64_t classes[BLOCK_MAX];
    *right = 0;
    for (int64_t start = 0; start < m->n; start += BLOCK_MAX) {
        const int64_t count = m->n - start < BLOCK_MAX ? m->n - start : BLOCK_MAX;
        RLAR_TRY(rlar__classify(ctx, plan, m->z + start * m->p, count, classes, NULL));
        for (int64_t i = 0; i < count; i++)
            *right += classes[i] == m->z_class[start + i];
    }
    return RLAR_OK;
}

rlar_status rlar_training_accuracy(rlar_ctx *ctx, const rlar_model *model,
                                   const rlar_predict_options *options, double *out) {
    if (!ctx || !model || !out)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_training_accuracy: ctx, model and out are needed");
    rlar__begin(ctx);
    rlar_predict_options o = RLAR_INIT(rlar_predict_options);
    RLAR_TRY(rlar__options_take(ctx, "rlar_predict_options", options, &o, sizeof o));
    prediction p = {.neighbours = o.neighbours ? o.neighbours : DEFAULT_NEIGHBOURS};
    RLAR_TRY(choose(ctx, o.classifier, rlar_method_find(model->method), &p));
    const rlar_references refs = references_of(model);
    RLAR_TRY(rlar__classify_open(ctx, p.classifier, p.neighbours, &refs, model->n, &p.plan));
    int64_t right = 0;
    const rlar_status status = count_right(ctx, model, &p.plan, &right);
    rlar__classify_close(&p.plan);
    if (status >= 0)
        *out = model->n > 0 ? (double)right / (double)model->n : 0.0;
    return status;
}

rlar_status rlar_transform(rlar_ctx *ctx, const rlar_model *model, const rlar_data *data,
                           double *z) {
    if (!ctx || !model || !data || !z)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_transform: ctx, model, data and z are needed");
    rlar__begin(ctx);
    prediction p = {
        .model = model, .scaling = &model->scaling, .data = data, .n = data->view.n, .z = z};
    return predict_all(ctx, &p);
}

/* ---- Many models, one test part ---- */

rlar_status rlar__tests_scale(rlar_ctx *ctx, rlar_tests *tests) {
    const prediction p = {.scaling = rlar__training_scaling(tests->training),
                          .data = tests->data,
                          .rows = tests->rows,
                          .n = tests->n};
    const int64_t d = tests->data->view.d, columns = rlar__padded(tests->n);
    const double bytes = (double)columns * (double)d * sizeof(double);
    if (bytes > SHARED_BYTES || !rlar__training_spares(ctx, tests->training, bytes))
        return RLAR_OK;
    double *x = NULL;
    rlar_status status =
        rlar__alloc(ctx, columns, (size_t)d * sizeof *x, "the scaled test samples", &x);
    if (status >= 0)
        status = scale_block(ctx, &p, 0, tests->n, columns, x);
    if (status < 0)
        rlar__free(x);
    else
        tests->x = x;
    return status == RLAR_E_CANCELLED ? status : RLAR_OK;
}

void rlar__tests_free(rlar_tests *tests) {
    rlar__free(tests->x);
    tests->x = NULL;
}

rlar_status rlar__tests_predict(rlar_ctx *ctx, const rlar_tests *tests, const rlar_model *model,
                                const rlar_method_def *method, const char *classifier,
                                int64_t neighbours, int64_t *classes) {
    prediction p = {.model = model,
                    .scaling = rlar__training_scaling(tests->training),
                    .data = tests->data,
                    .rows = tests->rows,
                    .n = tests->n,
                    .scaled = tests->x,
                    .neighbours = neighbours ? neighbours : DEFAULT_NEIGHBOURS,
                    .classes = classes};
    RLAR_TRY(choose(ctx, classifier, method, &p));
    return predict_all(ctx, &p);
}
