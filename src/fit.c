/* fit.c - training part -> method -> model.
 *
 * What the method yields, a linear map, becomes a model together with the embedded samples; the
 * names and the scaling make it one that stands alone. */
#include "data/dataset.h"
#include "dist/team.h"
#include "linalg/linalg.h"
#include "model/model.h"
#include "training.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

/* Rank 0 keeps the references of all ranks, in their order; the others keep their own. */
static rlar_status collect_references(rlar_ctx *ctx, const rlar_training *t, rlar_model *m) {
    const size_t output = (size_t)m->p * sizeof *m->z;
    int64_t at = t->train.n, count = at;
    if (rlar__team_rank(ctx) > 0) {
        RLAR_TRY(rlar__team_send(ctx, 0, &count, sizeof count));
        RLAR_TRY(rlar__team_send(ctx, 0, m->z, (size_t)count * output));
        return rlar__team_send(ctx, 0, m->z_class, (size_t)count * sizeof *m->z_class);
    }
    for (int r = 1; r < rlar__team_ranks(ctx); r++, at += count) {
        RLAR_TRY(rlar__team_receive(ctx, r, &count, sizeof count));
        if (count < 0 || count > m->n - at)
            return rlar__fail(ctx, RLAR_E_INTERNAL, "rank %d has %lld references, room is for %lld",
                              r, (long long)count, (long long)(m->n - at));
        RLAR_TRY(rlar__team_receive(ctx, r, m->z + at * m->p, (size_t)count * output));
        RLAR_TRY(rlar__team_receive(ctx, r, m->z_class + at, (size_t)count * sizeof *m->z_class));
    }
    return RLAR_OK;
}

/* z = W^T x + b of the training samples. */
static rlar_status embed_references(rlar_ctx *ctx, const rlar_training *t, rlar_model *m) {
    double *z = NULL;
    const int64_t n = t->train.n, columns = rlar__padded(n);
    RLAR_TRY(rlar__alloc(ctx, columns, (size_t)m->p * sizeof *z, "the reference samples", &z));
    const rlar_status status = rlar__embed(ctx, m->p, columns, m->d, m->w, t->x, z);
    if (status >= 0 && n > 0) {
        memcpy(m->z, z, (size_t)(n * m->p) * sizeof *z);
        rlar__add_offset(m->p, n, m->b, m->z);
        memcpy(m->z_class, t->label, (size_t)n * sizeof *m->z_class);
    }
    rlar__free(z);
    return status < 0 ? status : collect_references(ctx, t, m);
}

/* The map, which ends here, and what follows from it, into a fresh model. */
static rlar_status fill_model(rlar_ctx *ctx, const rlar_training *t, const rlar_params *params,
                              rlar_map *map, rlar_model *m) {
    memcpy(m->w, map->w, (size_t)(m->d * m->p) * sizeof *m->w);
    memcpy(m->b, map->b, (size_t)m->p * sizeof *m->b);
    rlar__map_free(map);
    RLAR_TRY(check_map(ctx, m, params->method->def.name));
    return embed_references(ctx, t, m);
}

const char *rlar__fit_path(const rlar_params *params) {
    return params->method->path ? params->method->path(params) : NULL;
}

rlar_status rlar__fit_params_copy(rlar_ctx *ctx, const rlar_params *params, rlar_params **out) {
    return rlar__params_copy(ctx, params, out);
}

rlar_status rlar__fit_params_set(rlar_ctx *ctx, rlar_params *params, const char *name,
                                 const char *value) {
    return rlar__params_set(ctx, params, name, value);
}

rlar_status rlar__fit_training(rlar_ctx *ctx, const rlar_training *t, const rlar_params *params,
                               const rlar_model *start, rlar_model **out, rlar_info *info) {
    rlar_model *m = NULL;
    rlar_map map = {0};
    rlar_train train = t->train;
    if (start && rlar__fit_path(params)) {
        train.start_w = start->w;
        train.start_b = start->b;
    }
    const rlar_status fitted = params->method->fit(ctx, &train, params, &map, info);
    const int64_t n = rlar__team_rank(ctx) == 0 ? rlar__train_samples(&train) : train.n;
    rlar_status status = fitted;
    if (status >= 0)
        status = rlar__model_new(ctx, t->train.d, map.p, t->train.c, n, &m);
    if (status >= 0)
        status = fill_model(ctx, t, params, &map, m);
    rlar__map_free(&map);
    if (status < 0) {
        rlar_model_free(m);
        return status;
    }
    *out = m;
    return fitted;
}

/* ---- A model that stands alone ---- */

static rlar_status describe(rlar_ctx *ctx, const rlar_training *t, const rlar_params *params,
                            rlar_model *m) {
    const rlar_method_def *def = &params->method->def;
    for (int64_t i = 0; i < m->c; i++) {
        const char *name = rlar__texts_at(&t->data->classes, t->class_of[i]);
        RLAR_TRY(rlar__texts_add(ctx, &m->classes, name, strlen(name)));
    }
    for (int i = 0; def->params[i].name; i++) {
        char value[64];
        const int length = rlar_params_text(params, def->params[i].name, value, sizeof value);
        RLAR_TRY(rlar__texts_add(ctx, &m->param_names, def->params[i].name,
                                 strlen(def->params[i].name)));
        RLAR_TRY(rlar__texts_add(ctx, &m->param_values, value, (size_t)length));
    }
    RLAR_TRY(rlar__texts_copy(ctx, &t->data->features, &m->features));
    RLAR_TRY(rlar__strdup(ctx, def->name, &m->method));
    return rlar__strdup(ctx, RLAR_VERSION, &m->version);
}

/* The training part ends here: its scaling becomes the model's. */
static rlar_status finish_model(rlar_ctx *ctx, rlar_training *t, const rlar_params *params,
                                rlar_model *m) {
    RLAR_TRY(describe(ctx, t, params, m));
    m->scaling = t->scaling;
    t->scaling = (rlar_scaling){0};
    rlar__model_scores(m);
    return RLAR_OK;
}

/* The scaling, and the names of features where both have them: a map of other numbers would be
 * taken for a neighbour's. The numbers are known to be the same. */
static rlar_status check_start_features(rlar_ctx *ctx, const rlar_training *t,
                                        const rlar_model *start) {
    char scale[RLAR_SCALE_TEXT];
    rlar__scaling_text(&t->scaling, scale, sizeof scale);
    if (strcmp(start->scale_text, scale) != 0)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_fit: the start was scaled by \"%s\", the data are by \"%s\"; use "
                          "one scaling for both",
                          start->scale_text, scale);
    const rlar_texts *want = &start->features, *have = &t->data->features;
    for (int64_t j = 0; j < want->count && j < have->count; j++)
        if (strcmp(rlar__texts_at(want, j), rlar__texts_at(have, j)) != 0)
            return rlar__fail(ctx, RLAR_E_ARG,
                              "rlar_fit: feature %lld is \"%.40s\" in the data, \"%.40s\" in the "
                              "start; start from a model of the same features",
                              (long long)j + 1, rlar__texts_at(have, j), rlar__texts_at(want, j));
    return RLAR_OK;
}

/* Could the model be one of these samples? */
static rlar_status check_start(rlar_ctx *ctx, const rlar_training *t, const rlar_params *params,
                               const rlar_model *start) {
    const char *name = params->method->def.name;
    if (!start->method || strcmp(start->method, name) != 0)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_fit: the start is a model of %s, not of %s",
                          start->method ? start->method : "no method", name);
    const int64_t outputs = params->method->outputs(&t->train, params);
    if (start->p != outputs)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_fit: the start has %lld outputs, the method makes %lld of the data",
                          (long long)start->p, (long long)outputs);
    if (start->d != t->train.d)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_fit: the start has %lld features, the data have %lld",
                          (long long)start->d, (long long)t->train.d);
    RLAR_TRY(check_start_features(ctx, t, start));
    bool same = start->c == t->train.c;
    for (int64_t i = 0; same && i < start->c; i++)
        same = strcmp(rlar__texts_at(&start->classes, i),
                      rlar__texts_at(&t->data->classes, t->class_of[i])) == 0;
    return same ? RLAR_OK
                : rlar__fail(ctx, RLAR_E_ARG,
                             "rlar_fit: the start has other classes than the data; start from a "
                             "model of the same classes");
}

/* Callers of an older version have a shorter structure. */
static const rlar_model *start_of(const rlar_fit_options *options) {
    const size_t end = offsetof(rlar_fit_options, start) + sizeof options->start;
    return options && options->size >= end ? options->start : NULL;
}

static bool has_checkpoint(const rlar_fit_options *options) {
    const size_t end =
        offsetof(rlar_fit_options, checkpoint_every) + sizeof options->checkpoint_every;
    return options && options->size >= end && options->checkpoint;
}

/* All that the iterations depend on: the scaled samples, the method and its parameters. */
static rlar_status begin_checkpoint(rlar_ctx *ctx, const rlar_training *t,
                                    const rlar_params *params, const rlar_fit_options *options,
                                    rlar_checkpoint *cp) {
    enum { DEFAULT_EVERY = 5 };
    const rlar_method *method = params->method;
    const rlar_train *train = &t->train;
    const int64_t sizes[] = {rlar__train_samples(train), train->d, train->c};
    if (!method->resumes)
        return rlar__fail(ctx, RLAR_E_ARG, "%s: a fit of %s keeps no checkpoint; leave it out",
                          options->checkpoint, method->def.name);
    if (options->checkpoint_every < 0)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_fit: a checkpoint every %lld iterations",
                          (long long)options->checkpoint_every);
    *cp = (rlar_checkpoint){.path = options->checkpoint,
                            .every = options->checkpoint_every ? options->checkpoint_every
                                                               : DEFAULT_EVERY,
                            .n = train->n,
                            .all = sizes[0],
                            .from = train->blocks ? train->blocks->start : 0};
    rlar__checkpoint_add(cp, RLAR_VERSION, sizeof RLAR_VERSION);
    rlar__checkpoint_add(cp, method->def.name, strlen(method->def.name));
    for (int i = 0; method->def.params[i].name; i++)
        rlar__checkpoint_add(cp, &params->value[i], sizeof params->value[i]);
    rlar__checkpoint_add(cp, sizes, sizeof sizes);
    return rlar__checkpoint_add_samples(ctx, cp, train->d, train->x, train->label);
}

static void give_info(rlar_info *out, const rlar_info *info) {
    if (!out)
        return;
    const size_t size = out->size;
    memcpy(out, info, size < sizeof *info ? size : sizeof *info);
    out->size = size;
}

/* From the training part, which ends here, to the model. */
static rlar_status fit_from(rlar_ctx *ctx, rlar_training *t, const rlar_params *params,
                            const rlar_fit_options *options, rlar_model **out, rlar_info *found) {
    const rlar_model *first = start_of(options);
    rlar_checkpoint checkpoint;
    rlar_model *model = NULL;
    rlar_status status = first ? check_start(ctx, t, params, first) : RLAR_OK;
    if (status >= 0 && has_checkpoint(options)) {
        status = begin_checkpoint(ctx, t, params, options, &checkpoint);
        t->train.checkpoint = &checkpoint;
    }
    if (status >= 0)
        status = rlar__fit_training(ctx, t, params, first, &model, found);
    const rlar_status finished = status < 0 ? status : finish_model(ctx, t, params, model);
    rlar__training_free(t);
    if (finished < 0) {
        rlar_model_free(model);
        return finished;
    }
    *out = model;
    return status;
}

/* own: the same as data where the samples may be overwritten, else NULL. */
static rlar_status fit(rlar_ctx *ctx, const rlar_data *data, rlar_data *own,
                       const rlar_params *params, const rlar_fit_options *options, rlar_model **out,
                       rlar_info *info) {
    rlar__begin(ctx);
    const double start = rlar__now();
    rlar_params defaults;
    rlar_training *t = NULL;
    rlar_info found = {.size = sizeof found, .objective = NAN, .smoothed = NAN, .gradient = NAN};
    rlar_info known; /* an hour of fitting should not end with nothing told */
    RLAR_TRY(rlar__options_take(ctx, "rlar_info", info, &known, sizeof known));
    params = params_or_default(params, &defaults);
    RLAR_TRY(own ? rlar__training_take(ctx, own, options, params, &t)
                 : rlar__training_new(ctx, data, options, params, 1, &t));
    const rlar_status status = fit_from(ctx, t, params, options, out, &found);
    if (status < 0)
        return status;
    found.seconds = rlar__now() - start;
    give_info(info, &found);
    return status;
}

rlar_status rlar_fit(rlar_ctx *ctx, const rlar_data *data, const rlar_params *params,
                     const rlar_fit_options *options, rlar_model **out, rlar_info *info) {
    if (!ctx || !data || !out)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_fit: ctx, data and out are needed");
    return fit(ctx, data, NULL, params, options, out, info);
}

rlar_status rlar_fit_own(rlar_ctx *ctx, rlar_data **data, const rlar_params *params,
                         const rlar_fit_options *options, rlar_model **out, rlar_info *info) {
    if (!ctx || !data || !*data || !out)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_fit_own: ctx, data and out are needed");
    const rlar_status status = fit(ctx, *data, *data, params, options, out, info);
    rlar_data_free(*data);
    *data = NULL;
    return status;
}

/* ---- The forecast ---- */

/* Bytes and flops of the rank that has the most, and what all have moved so far. */
static rlar_status compare_ranks(rlar_ctx *ctx, rlar_forecast *f) {
    enum { ITEMS = 5 };
    const double here[ITEMS] = {(double)f->bytes, f->flops, (double)ctx->traffic->received,
                                (double)ctx->traffic->sent, (double)f->bytes_own};
    const int ranks = rlar__team_ranks(ctx);
    double *all = NULL;
    RLAR_TRY(rlar__alloc(ctx, ranks, sizeof here, "the forecasts of the ranks", &all));
    const rlar_status status = rlar__team_collect(ctx, here, sizeof here, all);
    for (int r = 0; r < ranks && status >= 0; r++) {
        const double *one = all + r * ITEMS;
        f->bytes = (double)f->bytes < one[0] ? (int64_t)one[0] : f->bytes;
        f->flops = fmax(f->flops, one[1]);
        f->moved += one[2];
        f->moved_busiest = fmax(f->moved_busiest, one[2] + one[3]);
        f->bytes_own = (double)f->bytes_own < one[4] ? (int64_t)one[4] : f->bytes_own;
    }
    rlar__free(all);
    return status;
}

static void give_loads(const rlar_cost *cost, const rlar_talk *talk, rlar_forecast *f) {
    const rlar_load once = rlar__cost_of(cost, talk, &talk->once);
    const rlar_load iteration = rlar__cost_of(cost, talk, &talk->iteration);
    const rlar_load step = rlar__cost_of(cost, talk, &talk->step);
    f->distributed = rlar__tiles_of(&cost->spread, 0, talk->order, talk->sides).block > 0;
    f->once = once.received;
    f->once_busiest = once.busiest;
    f->iteration = iteration.received;
    f->iteration_busiest = iteration.busiest;
    f->step = step.received;
    f->step_busiest = step.busiest;
    f->steps = talk->steps;
    f->inside = iteration.inside + talk->steps * step.inside;
    f->fetched_once = once.fetched;
    f->fetched = iteration.fetched;
    f->fetched_step = step.fetched;
    f->flops -= rlar__cost_spared(cost, talk);
}

static rlar_status forecast_ranks(rlar_ctx *ctx, const rlar_training *t, const rlar_params *params,
                                  rlar_forecast *f) {
    rlar_cost cost;
    rlar_talk talk = {0};
    RLAR_TRY(compare_ranks(ctx, f));
    params->method->talk(&t->train, params, &talk);
    const rlar_status status = rlar__cost_new(ctx, &t->blocks, &cost);
    if (status >= 0)
        give_loads(&cost, &talk, f);
    rlar__cost_free(&cost);
    return status;
}

rlar_status rlar_fit_forecast(rlar_ctx *ctx, const rlar_data *data, const rlar_params *params,
                              const rlar_fit_options *options, rlar_forecast *out) {
    if (!ctx || !data || !out || out->size < sizeof *out)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_fit_forecast: ctx, data and a sized out are needed");
    rlar__begin(ctx);
    rlar_params own;
    rlar_training t = {0};
    rlar_forecast f = {.size = out->size};
    params = params_or_default(params, &own);
    RLAR_TRY(rlar__training_suits(ctx, options, params));
    rlar_status status = rlar__training_group(ctx, data, options, &t);
    if (status >= 0)
        status = rlar__training_forecast(ctx, &t, params, &f);
    if (status >= 0)
        f.bytes_own = f.bytes - rlar__training_spared(&t);
    if (status >= 0 && ctx->team)
        status = forecast_ranks(ctx, &t, params, &f);
    if (status >= 0)
        *out = f;
    rlar__training_clear(&t);
    return status;
}
