/* pipeline.c - data -> scaling -> method -> model, and model -> scaling -> map -> classifier.
 *
 * The one place where the parts meet. A fit copies its samples once: grouped by class, scaled, as
 * float64. A prediction works on blocks, so its memory does not grow with the data; every block is
 * padded to whole columns of the projection, so that a sample gets the same bits alone or in
 * company. */
#include "core/core.h"
#include "data/dataset.h"
#include "data/scale.h"
#include "eval/classify.h"
#include "linalg/linalg.h"
#include "methods/method.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Larger values overflow when squared, summed and multiplied by the weights 1/eps. */
static const double LARGEST = 1e100;

enum { BLOCK_BYTES = 32 << 20, BLOCK_MAX = 1024 };

/* ---- The training samples ---- */

typedef struct training {
    rlar_train train;
    double *x;         /* d x n, padded with zero columns to a multiple of RLAR_COLUMNS */
    int64_t *order;    /* n: the sample of the data behind each column */
    int32_t *label;    /* n */
    int64_t *first;    /* c + 1 */
    int64_t *class_of; /* c: the class of the data behind each class of the training */
} training;

static void training_free(training *t) {
    rlar__free(t->x);
    rlar__free(t->order);
    rlar__free(t->label);
    rlar__free(t->first);
    rlar__free(t->class_of);
}

static int64_t padded(int64_t n) {
    return (n + RLAR_COLUMNS - 1) / RLAR_COLUMNS * RLAR_COLUMNS;
}

static int64_t row_at(const rlar_fit_options *o, int64_t i) {
    return o->rows ? o->rows[i] : i;
}

/* Number the classes that occur among the rows; sizes go to first[class + 1]. map: data class ->
 * training class. */
static rlar_status count_classes(rlar_ctx *ctx, const rlar_data *data, const rlar_fit_options *o,
                                 training *t, int64_t *map) {
    const int64_t n = t->train.n;
    memset(t->first, 0, (size_t)(data->classes.count + 1) * sizeof *t->first);
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = row_at(o, i);
        if (row < 0 || row >= data->view.n)
            return rlar__fail(ctx, RLAR_E_ARG, "rlar_fit: row %lld is not one of the %lld samples",
                              (long long)row, (long long)data->view.n);
        t->first[data->label[row] + 1]++;
    }
    t->train.c = 0;
    for (int64_t i = 0; i < data->classes.count; i++) {
        const int64_t size = t->first[i + 1];
        map[i] = size > 0 ? t->train.c : -1;
        if (size == 0)
            continue;
        t->class_of[t->train.c] = i;
        t->first[++t->train.c] = size;
    }
    for (int64_t i = 0; i < t->train.c; i++)
        t->first[i + 1] += t->first[i];
    return RLAR_OK;
}

/* Stable: within a class the samples keep their order. */
static void sort_rows(const rlar_data *data, const rlar_fit_options *o, const int64_t *map,
                      training *t) {
    for (int64_t i = 0; i < t->train.n; i++) {
        const int64_t row = row_at(o, i), k = map[data->label[row]];
        const int64_t at = t->first[k]++;
        t->order[at] = row;
        t->label[at] = (int32_t)k;
    }
    for (int64_t k = t->train.c; k > 0; k--)
        t->first[k] = t->first[k - 1];
    t->first[0] = 0;
}

static rlar_status check_counts(rlar_ctx *ctx, const rlar_data *data, const training *t) {
    if (t->train.c < 2)
        return rlar__fail(
            ctx, RLAR_E_DATA,
            "%s: all %lld samples are of one class, \"%.40s\"; two classes are needed: "
            "is the label column the right one?",
            data->name, (long long)t->train.n, rlar__texts_at(&data->classes, t->class_of[0]));
    return RLAR_OK;
}

/* Who is in which class; no values yet. */
static rlar_status group(rlar_ctx *ctx, const rlar_data *data, const rlar_fit_options *o,
                         training *t) {
    const int64_t n = o->rows ? o->n_rows : data->view.n, classes = data->classes.count;
    t->train = (rlar_train){.n = n, .d = data->view.d};
    int64_t *map = NULL;
    RLAR_TRY(rlar__alloc(ctx, n, sizeof *t->order, "the sample order", &t->order));
    RLAR_TRY(rlar__alloc(ctx, n, sizeof *t->label, "the labels", &t->label));
    RLAR_TRY(rlar__alloc(ctx, classes + 1, sizeof *t->first, "the classes", &t->first));
    RLAR_TRY(rlar__alloc(ctx, classes, sizeof *t->class_of, "the classes", &t->class_of));
    RLAR_TRY(rlar__alloc(ctx, classes, sizeof *map, "the classes", &map));
    rlar_status status = count_classes(ctx, data, o, t, map);
    if (status >= 0)
        sort_rows(data, o, map, t);
    rlar__free(map);
    RLAR_TRY(status);
    t->train.label = t->label;
    t->train.first = t->first;
    return check_counts(ctx, data, t);
}

/* "feature 3" or "feature 3 (ash)". */
static const char *feature_text(const rlar_data *data, int64_t j, char *buf, size_t size) {
    const char *name = rlar__texts_at(&data->features, j);
    if (name)
        snprintf(buf, size, "feature %lld (%.40s)", (long long)j + 1, name);
    else
        snprintf(buf, size, "feature %lld", (long long)j + 1);
    return buf;
}

static rlar_status check_raw(rlar_ctx *ctx, const rlar_data *data, int64_t row, const double *x) {
    char where[96];
    for (int64_t j = 0; j < data->view.d; j++) {
        if (isfinite(x[j]))
            continue;
        return rlar__fail(ctx, RLAR_E_DATA, "%s: sample %lld, %s is %s; %s", data->name,
                          (long long)(data->first + row + 1),
                          feature_text(data, j, where, sizeof where),
                          isnan(x[j]) ? "missing (nan)" : "infinite",
                          isnan(x[j]) ? "fill it in or drop the sample (--missing mean|drop)"
                                      : "samples must be finite");
    }
    return RLAR_OK;
}

static rlar_status check_scaled(rlar_ctx *ctx, const rlar_data *data, const training *t,
                                const rlar_scaling *scaling) {
    char where[96], chain[64];
    const int64_t d = t->train.d;
    for (int64_t i = 0; i < t->train.n * d; i++) {
        if (fabs(t->x[i]) <= LARGEST)
            continue;
        rlar__scaling_text(scaling, chain, sizeof chain);
        return rlar__fail(
            ctx, RLAR_E_DATA,
            "%s: sample %lld, %s is %g after scaling \"%s\", more than the limit of %g; "
            "choose --scale unit or minmax",
            data->name, (long long)t->order[i / d] + 1,
            feature_text(data, i % d, where, sizeof where), t->x[i], chain, LARGEST);
    }
    return RLAR_OK;
}

static rlar_status load_samples(rlar_ctx *ctx, const rlar_data *data, rlar_scaling *scaling,
                                training *t) {
    const int64_t n = t->train.n, d = t->train.d;
    size_t sample = 0;
    if (!rlar__size_mul((size_t)d, sizeof(double), &sample))
        return rlar__fail(ctx, RLAR_E_TOO_LARGE, "%s: %lld features are too many", data->name,
                          (long long)d);
    RLAR_TRY(rlar__calloc(ctx, padded(n), sample, "the scaled samples", &t->x));
    for (int64_t i = 0; i < n; i++) {
        rlar_data_row(data, t->order[i], t->x + i * d);
        RLAR_TRY(check_raw(ctx, data, t->order[i], t->x + i * d));
        if (i % 1024 == 0)
            RLAR_TRY(rlar__poll(ctx));
    }
    RLAR_TRY(rlar__scaling_learn(ctx, scaling, t->x, n, d));
    t->train.x = t->x;
    return check_scaled(ctx, data, t, scaling);
}

/* ---- Fit ---- */

/* What every call that trains checks first. */
static rlar_status check_fit(rlar_ctx *ctx, const rlar_data *data, const rlar_fit_options *given,
                             rlar_fit_options *o) {
    *o = RLAR_INIT(rlar_fit_options);
    if (given)
        memcpy(o, given, given->size < sizeof *o ? given->size : sizeof *o);
    if (data->view.n < 1 || data->view.d < 1)
        return rlar__fail(ctx, RLAR_E_DATA,
                          "%s: %lld samples of %lld features: nothing to learn from", data->name,
                          (long long)data->view.n, (long long)data->view.d);
    if (!data->label)
        return rlar__fail(ctx, RLAR_E_DATA,
                          "%s: no labels; name the label column (--label) or give --labels FILE",
                          data->name);
    if (o->rows && o->n_rows < 1)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_fit: no rows to train on");
    /* The BLAS counts in 32 bits. */
    if (data->view.d > INT32_MAX || data->view.n > INT32_MAX)
        return rlar__fail(ctx, RLAR_E_TOO_LARGE,
                          "%s: %lld samples of %lld features; at most %d of each", data->name,
                          (long long)data->view.n, (long long)data->view.d, INT32_MAX);
    return RLAR_OK;
}

/* The caller's parameters, or the defaults of method rlar in `own`. */
static const rlar_params *params_or_default(const rlar_params *params, rlar_params *own) {
    if (params)
        return params;
    own->method = &rlar__method_rlar;
    for (int i = 0; own->method->def.params[i].name; i++)
        own->value[i] = own->method->def.params[i].value;
    return own;
}

static rlar_status check_map(rlar_ctx *ctx, const rlar_model *m, const char *method) {
    for (int64_t i = 0; i < m->d * m->p; i++)
        if (!isfinite(m->w[i]))
            return rlar__fail(
                ctx, RLAR_E_NUMERIC,
                "%s: the map is not finite; scale the data or raise the regularisation", method);
    return RLAR_OK;
}

static void add_offset(int64_t p, int64_t n, const double *b, double *z) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < p; r++)
            z[i * p + r] += b[r];
}

/* z = W^T x + b of the training samples. */
static rlar_status embed_references(rlar_ctx *ctx, const training *t, rlar_model *m) {
    double *z = NULL;
    const int64_t columns = padded(m->n);
    RLAR_TRY(rlar__alloc(ctx, columns, (size_t)m->p * sizeof *z, "the reference samples", &z));
    const rlar_status status = rlar__project(ctx, m->p, columns, m->d, m->w, t->x, z);
    if (status >= 0) {
        memcpy(m->z, z, (size_t)(m->n * m->p) * sizeof *z);
        add_offset(m->p, m->n, m->b, m->z);
        memcpy(m->z_class, t->label, (size_t)m->n * sizeof *m->z_class);
    }
    rlar__free(z);
    return status;
}

static rlar_status describe(rlar_ctx *ctx, const rlar_data *data, const training *t,
                            const rlar_params *params, rlar_model *m) {
    const rlar_method_def *def = &params->method->def;
    for (int64_t i = 0; i < m->c; i++) {
        const char *name = rlar__texts_at(&data->classes, t->class_of[i]);
        RLAR_TRY(rlar__texts_add(ctx, &m->classes, name, strlen(name)));
    }
    for (int i = 0; def->params[i].name; i++) {
        char value[64];
        const int length = rlar_params_text(params, def->params[i].name, value, sizeof value);
        RLAR_TRY(rlar__texts_add(ctx, &m->param_names, def->params[i].name,
                                 strlen(def->params[i].name)));
        RLAR_TRY(rlar__texts_add(ctx, &m->param_values, value, (size_t)length));
    }
    RLAR_TRY(rlar__texts_copy(ctx, &data->features, &m->features));
    RLAR_TRY(rlar__strdup(ctx, def->name, &m->method));
    return rlar__strdup(ctx, RLAR_VERSION, &m->version);
}

/* The method's part and what follows from it, into a fresh model. */
static rlar_status train_model(rlar_ctx *ctx, const rlar_data *data, const rlar_params *params,
                               const training *t, rlar_scaling *scaling, rlar_info *info,
                               rlar_model **out) {
    rlar_model *m = NULL;
    const int64_t p = params->method->outputs(&t->train, params);
    RLAR_TRY(rlar__model_new(ctx, t->train.d, p, t->train.c, t->train.n, &m));
    rlar_map map = {.d = m->d, .p = p, .w = m->w, .b = m->b};
    const rlar_status fitted = params->method->fit(ctx, &t->train, params, &map, info);
    rlar_status status = fitted < 0 ? fitted : check_map(ctx, m, params->method->def.name);
    if (status >= 0)
        status = embed_references(ctx, t, m);
    if (status >= 0)
        status = describe(ctx, data, t, params, m);
    if (status < 0) {
        rlar_model_free(m);
        return status;
    }
    m->scaling = *scaling; /* the model owns it from here on */
    *scaling = (rlar_scaling){0};
    rlar__model_scores(m);
    *out = m;
    return fitted;
}

static void give_info(rlar_info *out, const rlar_info *info) {
    if (!out)
        return;
    const size_t size = out->size;
    memcpy(out, info, size < sizeof *info ? size : sizeof *info);
    out->size = size;
}

rlar_status rlar_fit(rlar_ctx *ctx, const rlar_data *data, const rlar_params *params,
                     const rlar_fit_options *options, rlar_model **out, rlar_info *info) {
    if (!ctx || !data || !out)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_fit: ctx, data and out are needed");
    rlar__begin(ctx);
    const double start = rlar__now();
    rlar_fit_options o;
    rlar_scaling scaling = {0};
    rlar_params own;
    params = params_or_default(params, &own);
    RLAR_TRY(rlar__blas_open(ctx));
    RLAR_TRY(check_fit(ctx, data, options, &o));
    RLAR_TRY(rlar__scaling_parse(ctx, o.scale, &scaling));
    training t = {0};
    rlar_model *model = NULL;
    rlar_info found = {.size = sizeof found, .objective = NAN, .smoothed = NAN};
    rlar_status status = group(ctx, data, &o, &t);
    if (status >= 0 && data->view.weights)
        status = rlar__fail(ctx, RLAR_E_UNSUPPORTED, "%s: method %s does not take sample weights",
                            data->name, params->method->def.name);
    if (status >= 0)
        status = load_samples(ctx, data, &scaling, &t);
    if (status >= 0)
        status = train_model(ctx, data, params, &t, &scaling, &found, &model);
    training_free(&t);
    rlar__scaling_free(&scaling);
    if (status < 0)
        return status;
    found.seconds = rlar__now() - start;
    give_info(info, &found);
    *out = model;
    return status;
}

rlar_status rlar_fit_forecast(rlar_ctx *ctx, const rlar_data *data, const rlar_params *params,
                              const rlar_fit_options *options, rlar_forecast *out) {
    if (!ctx || !data || !out || out->size < sizeof *out)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_fit_forecast: ctx, data and a sized out are needed");
    rlar__begin(ctx);
    rlar_fit_options o;
    rlar_params own;
    params = params_or_default(params, &own);
    RLAR_TRY(check_fit(ctx, data, options, &o));
    training t = {0};
    rlar_forecast f = {.size = out->size};
    rlar_status status = group(ctx, data, &o, &t);
    if (status >= 0)
        status = params->method->forecast(ctx, &t.train, params, &f);
    if (status >= 0) {
        const double n = (double)t.train.n, d = (double)t.train.d;
        const double p = (double)params->method->outputs(&t.train, params);
        f.bytes +=
            (int64_t)(8.0 * ((double)padded(t.train.n) * d + 2.0 * n + d * (p + 4.0) + n * p));
        *out = f;
    }
    training_free(&t);
    return status;
}

/* ---- Predict ---- */

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
    b->most = padded(n) < most ? padded(n) : most;
    RLAR_TRY(rlar__alloc(ctx, b->most, (size_t)m->d * sizeof *b->x, "a block of samples", &b->x));
    return rlar__alloc(ctx, b->most, (size_t)m->p * sizeof *b->z, "a block of outputs", &b->z);
}

static rlar_status check_columns(rlar_ctx *ctx, const rlar_model *m, const rlar_data *data) {
    if (data->view.d != m->d)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "%s has %lld features, the model was trained on %lld; "
                          "use the columns it was trained on",
                          data->name, (long long)data->view.d, (long long)m->d);
    for (int64_t j = 0; j < m->features.count && j < data->features.count; j++) {
        const char *want = rlar__texts_at(&m->features, j),
                   *have = rlar__texts_at(&data->features, j);
        if (strcmp(want, have) != 0)
            return rlar__fail(
                ctx, RLAR_E_MODEL,
                "%s: column %lld is \"%.40s\", the model was trained with \"%.40s\" there",
                data->name, (long long)j + 1, have, want);
    }
    return RLAR_OK;
}

/* Scaled outputs of `count` samples; rows NULL: from `start` on. */
static rlar_status embed_block(rlar_ctx *ctx, const rlar_model *m, const rlar_data *data,
                               const int64_t *rows, int64_t start, int64_t count, block *b) {
    const int64_t columns = padded(count);
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
        RLAR_TRY(check_raw(ctx, data, row, x));
    }
    memset(b->x + count * m->d, 0, (size_t)((columns - count) * m->d) * sizeof *b->x);
    RLAR_TRY(rlar__scaling_apply(ctx, &m->scaling, b->x, count));
    RLAR_TRY(rlar__project(ctx, m->p, columns, m->d, m->w, b->x, b->z));
    add_offset(m->p, count, m->b, b->z);
    for (int64_t i = 0; i < count * m->p; i++)
        if (!(fabs(b->z[i]) <= LARGEST))
            return rlar__fail(
                ctx, RLAR_E_NUMERIC,
                "%s: sample %lld is too large for the model: an output of %g, more than "
                "%g; check its values",
                data->name,
                (long long)(data->first + 1 + (rows ? rows[start + i / m->p] : start + i / m->p)),
                b->z[i], LARGEST);
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
    double *scores, *z; /* z: transform instead of classify */
} prediction;

static rlar_status predict_block(rlar_ctx *ctx, const prediction *p, int64_t start, int64_t count,
                                 block *b) {
    const rlar_model *m = p->model;
    RLAR_TRY(embed_block(ctx, m, p->data, p->rows, start, count, b));
    if (p->z) {
        memcpy(p->z + start * m->p, b->z, (size_t)(count * m->p) * sizeof *b->z);
        return RLAR_OK;
    }
    const rlar_references refs = {
        .p = m->p, .n = m->n, .c = m->c, .z = m->z, .z_class = m->z_class};
    return rlar__classify(ctx, p->classifier, p->neighbours, &refs, b->z, count, p->classes + start,
                          p->scores ? p->scores + start * m->c : NULL);
}

static rlar_status predict_all(rlar_ctx *ctx, const prediction *p) {
    RLAR_TRY(rlar__blas_open(ctx));
    RLAR_TRY(check_columns(ctx, p->model, p->data));
    block b = {0};
    rlar_status status = p->n > 0 ? block_new(ctx, p->model, p->n, &b) : RLAR_OK;
    for (int64_t start = 0; status >= 0 && start < p->n; start += b.most) {
        const int64_t count = p->n - start < b.most ? p->n - start : b.most;
        status = predict_block(ctx, p, start, count, &b);
    }
    block_free(&b);
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
    return predict_all(ctx, &p);
}

rlar_status rlar_transform(rlar_ctx *ctx, const rlar_model *model, const rlar_data *data,
                           double *z) {
    if (!ctx || !model || !data || !z)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_transform: ctx, model, data and z are needed");
    rlar__begin(ctx);
    const prediction p = {.model = model, .data = data, .n = data->view.n, .z = z};
    return predict_all(ctx, &p);
}
