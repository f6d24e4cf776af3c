/* fit.c - data -> scaling -> method -> model.
 *
 * The samples are copied once: grouped by class, scaled, as float64. The method sees nothing else.
 * What it yields, a linear map, becomes a model together with the scaling, the names and the
 * embedded samples. */
#include "core/core.h"
#include "data/dataset.h"
#include "data/scale.h"
#include "linalg/linalg.h"
#include "methods/method.h"
#include "model/model.h"
#include "pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
            data->file, (long long)t->train.n, rlar__texts_at(&data->classes, t->class_of[0]));
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

static rlar_status check_scaled(rlar_ctx *ctx, const rlar_data *data, const training *t,
                                const rlar_scaling *scaling) {
    char where[96], chain[64];
    const int64_t d = t->train.d;
    for (int64_t i = 0; i < t->train.n * d; i++) {
        if (fabs(t->x[i]) <= RLAR_LARGEST)
            continue;
        rlar__scaling_text(scaling, chain, sizeof chain);
        return rlar__fail(
            ctx, RLAR_E_DATA,
            "%s: sample %lld, %s is %g after scaling \"%s\", more than the limit of %g; "
            "choose --scale unit or minmax",
            data->file, (long long)t->order[i / d] + 1,
            rlar__feature_text(data, i % d, where, sizeof where), t->x[i], chain, RLAR_LARGEST);
    }
    return RLAR_OK;
}

/* Nothing can be learned from samples that are all the same. */
static rlar_status check_varies(rlar_ctx *ctx, const rlar_data *data, const training *t) {
    const size_t sample = (size_t)t->train.d * sizeof *t->x;
    for (int64_t i = 1; i < t->train.n; i++)
        if (memcmp(t->x, t->x + i * t->train.d, sample) != 0)
            return RLAR_OK;
    return rlar__fail(
        ctx, RLAR_E_DATA,
        "%s: all %lld samples are equal after scaling: no feature varies, so there is "
        "nothing to learn from",
        data->file, (long long)t->train.n);
}

static rlar_status load_samples(rlar_ctx *ctx, const rlar_data *data, rlar_scaling *scaling,
                                training *t) {
    const int64_t n = t->train.n, d = t->train.d;
    size_t sample = 0;
    if (!rlar__size_mul((size_t)d, sizeof(double), &sample))
        return rlar__fail(ctx, RLAR_E_TOO_LARGE, "%s: %lld features are too many", data->file,
                          (long long)d);
    RLAR_TRY(rlar__calloc(ctx, rlar__padded(n), sample, "the scaled samples", &t->x));
    for (int64_t i = 0; i < n; i++) {
        rlar_data_row(data, t->order[i], t->x + i * d);
        RLAR_TRY(rlar__check_row(ctx, data, t->order[i], t->x + i * d));
        if (i % 1024 == 0)
            RLAR_TRY(rlar__poll(ctx));
    }
    RLAR_TRY(rlar__scaling_learn(ctx, scaling, t->x, n, d));
    t->train.x = t->x;
    RLAR_TRY(check_scaled(ctx, data, t, scaling));
    return check_varies(ctx, data, t);
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
                          "%s: %lld samples of %lld features: nothing to learn from", data->file,
                          (long long)data->view.n, (long long)data->view.d);
    if (!data->label)
        return rlar__fail(ctx, RLAR_E_DATA,
                          "%s: no labels; name the label column (--label) or give --labels FILE",
                          data->file);
    if (o->rows && o->n_rows < 1)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_fit: no rows to train on");
    /* The BLAS counts in 32 bits. */
    if (data->view.d > INT32_MAX || data->view.n > INT32_MAX)
        return rlar__fail(ctx, RLAR_E_TOO_LARGE,
                          "%s: %lld samples of %lld features; at most %d of each", data->file,
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

/* z = W^T x + b of the training samples. */
static rlar_status embed_references(rlar_ctx *ctx, const training *t, rlar_model *m) {
    double *z = NULL;
    const int64_t columns = rlar__padded(m->n);
    RLAR_TRY(rlar__alloc(ctx, columns, (size_t)m->p * sizeof *z, "the reference samples", &z));
    const rlar_status status = rlar__project(ctx, m->p, columns, m->d, m->w, t->x, z);
    if (status >= 0) {
        memcpy(m->z, z, (size_t)(m->n * m->p) * sizeof *z);
        rlar__add_offset(m->p, m->n, m->b, m->z);
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

/* A model around the map, which it takes over. */
static rlar_status build_model(rlar_ctx *ctx, const rlar_data *data, const rlar_params *params,
                               const training *t, rlar_map *map, rlar_model *m) {
    memcpy(m->w, map->w, (size_t)(m->d * m->p) * sizeof *m->w);
    memcpy(m->b, map->b, (size_t)m->p * sizeof *m->b);
    rlar__map_free(map);
    RLAR_TRY(check_map(ctx, m, params->method->def.name));
    RLAR_TRY(embed_references(ctx, t, m));
    return describe(ctx, data, t, params, m);
}

/* The method's part and what follows from it, into a fresh model. */
static rlar_status train_model(rlar_ctx *ctx, const rlar_data *data, const rlar_params *params,
                               const training *t, rlar_scaling *scaling, rlar_info *info,
                               rlar_model **out) {
    rlar_model *m = NULL;
    rlar_map map = {0};
    const rlar_status fitted = params->method->fit(ctx, &t->train, params, &map, info);
    rlar_status status = fitted;
    if (status >= 0)
        status = rlar__model_new(ctx, t->train.d, map.p, t->train.c, t->train.n, &m);
    if (status >= 0)
        status = build_model(ctx, data, params, t, &map, m);
    rlar__map_free(&map);
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

/* What the fit of these samples will hold and cost. */
static rlar_status forecast_of(rlar_ctx *ctx, const training *t, const rlar_params *params,
                               rlar_forecast *out) {
    RLAR_TRY(params->method->forecast(ctx, &t->train, params, out));
    const double n = (double)t->train.n, d = (double)t->train.d;
    const double p = (double)params->method->outputs(&t->train, params);
    out->bytes +=
        (int64_t)(8.0 * ((double)rlar__padded(t->train.n) * d + 2.0 * n + d * (p + 4.0) + n * p));
    return RLAR_OK;
}

/* Refuse before anything large is taken, not in the middle. */
static rlar_status check_memory(rlar_ctx *ctx, const training *t, const rlar_params *params) {
    rlar_forecast f = {.size = sizeof f};
    RLAR_TRY(forecast_of(ctx, t, params, &f));
    const double limit = (double)ctx->memory->limit, held = (double)rlar_ctx_memory(ctx);
    if (limit > 0.0 && held + (double)f.bytes > limit)
        return rlar__fail(
            ctx, RLAR_E_NOMEM,
            "the fit needs %.1f MiB beside the %.1f MiB held, the memory limit is %.1f MiB; "
            "raise it (--max-memory) or use less data",
            (double)f.bytes / 1048576.0, held / 1048576.0, limit / 1048576.0);
    return rlar__blas_open(ctx, f.bytes);
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
    RLAR_TRY(check_fit(ctx, data, options, &o));
    RLAR_TRY(rlar__scaling_parse(ctx, o.scale, &scaling));
    training t = {0};
    rlar_model *model = NULL;
    rlar_info found = {.size = sizeof found, .objective = NAN, .smoothed = NAN};
    rlar_status status = group(ctx, data, &o, &t);
    if (status >= 0 && data->view.weights)
        status = rlar__fail(ctx, RLAR_E_UNSUPPORTED, "%s: method %s does not take sample weights",
                            data->file, params->method->def.name);
    if (status >= 0)
        status = check_memory(ctx, &t, params);
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
        status = forecast_of(ctx, &t, params, &f);
    if (status >= 0)
        *out = f;
    training_free(&t);
    return status;
}
