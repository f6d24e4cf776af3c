/* training.c - the samples of a fit: chosen, grouped by class, scaled and checked.
 *
 * They are copied once, as float64; the method sees nothing else. Many fits may share one training
 * part, and with it what their method can prepare for all of them (rlar_method.prepare): from the
 * first fit on nothing in it changes. */
#include "training.h"

#include "data/dataset.h"
#include "data/ranks.h"
#include "dist/team.h"
#include "linalg/cost.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { COPIED_PER_TASK = 1 << 17 }; /* bytes */

/* ---- Who is in which class ---- */

static int64_t row_at(const rlar_fit_options *o, int64_t i) {
    return o->rows ? o->rows[i] : i;
}

/* Number the classes that occur among the rows; sizes go to first[class + 1]. map: data class ->
 * training class. */
static rlar_status count_classes(rlar_ctx *ctx, const rlar_data *data, const rlar_fit_options *o,
                                 rlar_training *t, int64_t *map) {
    const int64_t n = t->train.n;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = row_at(o, i);
        if (row < 0 || row >= data->view.n)
            return rlar__fail(ctx, RLAR_E_ARG, "rlar_fit: row %lld is not one of the %lld samples",
                              (long long)row, (long long)data->view.n);
        if (data->label[row] < 0)
            return rlar__fail(ctx, RLAR_E_DATA,
                              "%s: sample %lld has no class that the model it was read with knows; "
                              "read the data without a model",
                              data->file, (long long)row + 1);
        t->first[data->label[row] + 1]++;
    }
    RLAR_TRY(rlar__ranks_sizes(ctx, data->classes.count, t->first + 1, t->whole + 1));
    t->train.c = 0;
    for (int64_t i = 0; i < data->classes.count; i++) {
        const int64_t size = t->first[i + 1], all = t->whole[i + 1];
        map[i] = all > 0 ? t->train.c : -1;
        if (all == 0)
            continue;
        t->class_of[t->train.c] = i;
        t->whole[++t->train.c] = all;
        t->first[t->train.c] = size;
    }
    for (int64_t i = 0; i < t->train.c; i++) {
        t->first[i + 1] += t->first[i];
        t->whole[i + 1] += t->whole[i];
    }
    return rlar__ranks_blocks(ctx, t->train.c, t->first, t->whole, t->cut, &t->blocks);
}

/* Stable: within a class the samples keep their order. */
static void sort_rows(const rlar_data *data, const rlar_fit_options *o, const int64_t *map,
                      rlar_training *t) {
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

static rlar_status check_counts(rlar_ctx *ctx, const rlar_data *data, const rlar_training *t) {
    if (t->train.c < 2)
        return rlar__fail(
            ctx, RLAR_E_DATA,
            "%s: all %lld samples are of one class, \"%.40s\"; two classes are needed: "
            "is the label column the right one?",
            data->file, (long long)t->train.n, rlar__texts_at(&data->classes, t->class_of[0]));
    return RLAR_OK;
}

/* What every call that trains checks first. */
static rlar_status check_data(rlar_ctx *ctx, const rlar_data *data, const rlar_fit_options *o) {
    if (data->view.n < (ctx->team ? 0 : 1) || data->view.d < 1)
        return rlar__fail(ctx, RLAR_E_DATA,
                          "%s: %lld samples of %lld features: nothing to learn from", data->file,
                          (long long)data->view.n, (long long)data->view.d);
    if (!data->label && data->view.n > 0)
        return rlar__fail(ctx, RLAR_E_DATA,
                          "%s: no labels; name the label column (--label) or give --labels FILE",
                          data->file);
    if (o->rows && o->n_rows < 1)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_fit: no rows to train on");
    if (o->rows && ctx->team)
        return rlar__fail(ctx, RLAR_E_UNSUPPORTED,
                          "rlar_fit: over several ranks there is no choice of rows");
    /* The BLAS counts in 32 bits. */
    const int64_t n = o->rows && o->n_rows > data->view.n ? o->n_rows : data->view.n;
    if (data->view.d > INT32_MAX || n > INT32_MAX)
        return rlar__fail(ctx, RLAR_E_TOO_LARGE,
                          "%s: %lld samples of %lld features; at most %d of each", data->file,
                          (long long)n, (long long)data->view.d, INT32_MAX);
    return RLAR_OK;
}

/* Which systems the ranks solve together; all of them must think the same, so rank 0 says. */
static rlar_status choose_solve(rlar_ctx *ctx, const rlar_fit_options *o, rlar_spread *out) {
    *out = (rlar_spread){.rank = rlar__team_rank(ctx), .ranks = rlar__team_ranks(ctx)};
    const bool can = ctx->team && ctx->team->factor;
    if (!ctx->team || o->solve == RLAR_SOLVE_REPLICATED || (o->solve == RLAR_SOLVE_AUTO && !can))
        return RLAR_OK;
    if (!can)
        return rlar__fail(ctx, RLAR_E_UNSUPPORTED,
                          "rlar_fit: the ranks cannot solve a system together, this program was "
                          "built without ScaLAPACK; use --solve replicated");
    out->least = o->solve == RLAR_SOLVE_AUTO ? rlar__spread_least(out->ranks, ctx->threads) : 1;
    return rlar__team_broadcast(ctx, 0, &out->least, sizeof out->least);
}

static rlar_status group(rlar_ctx *ctx, const rlar_data *data, const rlar_fit_options *o,
                         rlar_training *t) {
    const int64_t n = o->rows ? o->n_rows : data->view.n, classes = data->classes.count;
    t->data = data;
    t->train = (rlar_train){.n = n, .d = data->view.d};
    int64_t *map = NULL;
    RLAR_TRY(rlar__alloc(ctx, n, sizeof *t->order, "the sample order", &t->order));
    RLAR_TRY(rlar__alloc(ctx, n, sizeof *t->label, "the labels", &t->label));
    RLAR_TRY(rlar__calloc(ctx, classes + 1, sizeof *t->first, "the classes", &t->first));
    RLAR_TRY(rlar__calloc(ctx, classes + 1, sizeof *t->whole, "the classes", &t->whole));
    RLAR_TRY(rlar__alloc(ctx, classes, sizeof *t->class_of, "the classes", &t->class_of));
    if (ctx->team)
        RLAR_TRY(rlar__alloc(ctx, ctx->team->ranks + 1, sizeof *t->cut, "the ranks", &t->cut));
    RLAR_TRY(rlar__alloc(ctx, classes, sizeof *map, "the classes", &map));
    rlar_status status = count_classes(ctx, data, o, t, map);
    if (status >= 0)
        sort_rows(data, o, map, t);
    rlar__free(map);
    RLAR_TRY(status);
    t->train.label = t->label;
    t->train.first = t->first;
    t->train.blocks = &t->blocks;
    return check_counts(ctx, data, t);
}

rlar_status rlar__training_group(rlar_ctx *ctx, const rlar_data *data,
                                 const rlar_fit_options *options, rlar_training *out) {
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    RLAR_TRY(rlar__options_take(ctx, "rlar_fit_options", options, &o, sizeof o));
    RLAR_TRY(check_data(ctx, data, &o));
    RLAR_TRY(rlar__scaling_parse(ctx, o.scale, &out->scaling));
    RLAR_TRY(group(ctx, data, &o, out));
    return choose_solve(ctx, &o, &out->blocks.spread);
}

/* ---- The samples ---- */

static rlar_status refuse_scaled(rlar_ctx *ctx, const rlar_training *t, int64_t row, int64_t j) {
    char where[96], chain[64];
    rlar__scaling_text(&t->scaling, chain, sizeof chain);
    return rlar__fail(ctx, RLAR_E_DATA,
                      "%s: sample %lld, %s is %g after scaling \"%s\", more than the limit of %g; "
                      "choose --scale unit or minmax",
                      t->data->file, (long long)t->order[row] + 1,
                      rlar__feature_text(t->data, j, where, sizeof where),
                      t->x[row * t->train.d + j], chain, RLAR_LARGEST);
}

/* Where the sum of squares is small enough, so is every number; and none is NaN or infinite. */
static bool is_small(int64_t d, const double *x) {
    return rlar__dot(d, x, x) < RLAR_LARGEST * RLAR_LARGEST;
}

/* Not needed where nothing was done to samples that were seen to be small, nor for unit length. */
static rlar_status check_scaled(rlar_ctx *ctx, const rlar_training *t) {
    const int64_t d = t->train.d;
    const int steps = t->scaling.count;
    if (steps == 0 ? !t->large : t->scaling.step[steps - 1].kind == RLAR_SCALE_UNIT)
        return RLAR_OK;
    for (int64_t i = 0; i < t->train.n; i++) {
        const double *x = t->x + i * d;
        const bool small = is_small(d, x);
        for (int64_t j = 0; j < d && !small; j++)
            if (!(fabs(x[j]) <= RLAR_LARGEST))
                return refuse_scaled(ctx, t, i, j);
    }
    return RLAR_OK;
}

/* Numbers are compared, not their bytes: 0 and -0 are equal. */
static bool varies(const rlar_training *t) {
    const int64_t d = t->train.d;
    for (int64_t i = d; i < t->train.n * d; i += d)
        for (int64_t j = 0; j < d; j++)
            if (t->x[i + j] != t->x[j])
                return true;
    return false;
}

/* Nothing can be learned from samples that are all the same; over ranks, each looks at its own. */
static rlar_status check_varies(rlar_ctx *ctx, const rlar_training *t) {
    if (ctx->team || varies(t))
        return RLAR_OK;
    return rlar__fail(
        ctx, RLAR_E_DATA,
        "%s: all %lld samples are equal after scaling: no feature varies, so there is "
        "nothing to learn from",
        t->data->file, (long long)t->train.n);
}

typedef struct copy_job {
    const rlar_training *t;
    int64_t from, to, size; /* samples per task */
} copy_job;

/* Some samples to their places; an error without a text when one must be looked at again. */
static rlar_status copy_task(void *arg, int64_t index) {
    const copy_job *job = arg;
    const int64_t d = job->t->train.d, from = job->from + index * job->size;
    const int64_t to = job->to - from < job->size ? job->to : from + job->size;
    if (!job->t->taken)
        rlar__first_touch(job->t->x + from * d, (size_t)((to - from) * d) * sizeof *job->t->x);
    for (int64_t i = from; i < to; i++) {
        double *x = job->t->x + i * d;
        if (!job->t->taken)
            rlar_data_row(job->t->data, job->t->order[i], x);
        if (!is_small(d, x))
            return RLAR_E_DATA;
    }
    return RLAR_OK;
}

/* The means of what the samples have of each feature, in their order. */
static rlar_status learn_means(rlar_ctx *ctx, rlar_training *t) {
    const int64_t d = t->train.d;
    double *row = NULL, *known = NULL;
    RLAR_TRY(rlar__calloc(ctx, d, sizeof *t->means, "the means", &t->means));
    rlar_status status = rlar__alloc(ctx, d, sizeof *row, "a sample", &row);
    if (status >= 0)
        status = rlar__calloc(ctx, d, sizeof *known, "the means", &known);
    for (int64_t i = 0; i < t->train.n && status >= 0; i++) {
        rlar_data_row(t->data, t->order[i], row);
        for (int64_t j = 0; j < d; j++) {
            if (!isfinite(row[j])) /* what is infinite is refused in its turn */
                continue;
            known[j]++;
            t->means[j] += row[j] / known[j] - t->means[j] / known[j];
        }
        status = rlar__poll(ctx);
    }
    for (int64_t j = 0; j < d && status >= 0; j++) {
        char where[96];
        if (known[j] == 0)
            status = rlar__fail(ctx, RLAR_E_DATA,
                                "%s: %s is missing in all %lld training samples; leave it out, or "
                                "train on more samples",
                                t->data->file, rlar__feature_text(t->data, j, where, sizeof where),
                                (long long)t->train.n);
    }
    rlar__free(row);
    rlar__free(known);
    return status;
}

static rlar_status fill_missing(rlar_ctx *ctx, rlar_training *t, double *x) {
    if (!t->means)
        RLAR_TRY(learn_means(ctx, t));
    for (int64_t j = 0; j < t->train.d; j++)
        x[j] = isnan(x[j]) ? t->means[j] : x[j];
    return RLAR_OK;
}

/* One after another, so that the first sample that is not finite is the one that is named. */
static rlar_status copy_checked(rlar_ctx *ctx, rlar_training *t, int64_t from, int64_t to) {
    const int64_t d = t->train.d;
    for (int64_t i = from; i < to; i++) {
        double *x = t->x + i * d;
        if (!t->taken)
            rlar_data_row(t->data, t->order[i], x);
        if (rlar__finite(d, x))
            continue;
        if (t->fills)
            RLAR_TRY(fill_missing(ctx, t, x));
        RLAR_TRY(rlar__check_row(ctx, t->data, t->order[i], x));
    }
    t->large = true;
    return RLAR_OK;
}

static rlar_status copy_samples(rlar_ctx *ctx, void *user, int64_t from, int64_t to) {
    rlar_training *t = user;
    copy_job job = {.t = t, .from = from, .to = to};
    job.size = COPIED_PER_TASK / (int64_t)sizeof *t->x / t->train.d + 1;
    const rlar_status status = rlar__parallel(ctx, (to - from - 1) / job.size + 1, copy_task, &job);
    return status == RLAR_E_DATA ? copy_checked(ctx, t, from, to) : status;
}

/* Do the samples lie as a fit wants them, with room behind them? */
static bool lie_well(const rlar_training *t) {
    const rlar_data *data = t->data;
    const int64_t n = t->train.n;
    int64_t i = 0;
    while (i < n && t->order[i] == i)
        i++;
    return i == n && n == data->view.n && data->own_x && data->view.stride == t->train.d &&
           data->room >= rlar__padded(n);
}

int64_t rlar__training_spared(const rlar_training *t) {
    return lie_well(t) ? (int64_t)sizeof *t->x * rlar__padded(t->train.n) * t->train.d : 0;
}

static rlar_status load(rlar_ctx *ctx, rlar_training *t) {
    const int64_t n = t->train.n, d = t->train.d;
    size_t sample = 0;
    if (!rlar__size_mul((size_t)d, sizeof(double), &sample))
        return rlar__fail(ctx, RLAR_E_TOO_LARGE, "%s: %lld features are too many", t->data->file,
                          (long long)d);
    if (t->taken)
        t->x = t->data->own_x;
    else
        RLAR_TRY(rlar__alloc(ctx, rlar__padded(n), sample, "the scaled samples", &t->x));
    if (n < rlar__padded(n))
        memset(t->x + n * d, 0, (size_t)(rlar__padded(n) - n) * sample);
    const rlar_samples samples = {.x = t->x, .n = n, .feed = copy_samples, .user = t};
    RLAR_TRY(rlar__scaling_learn(ctx, &t->scaling, &samples, d));
    t->train.x = t->x;
    RLAR_TRY(check_scaled(ctx, t));
    return check_varies(ctx, t);
}

/* ---- Memory ---- */

/* Heads of structures, threads, one parameter each. */
enum { SMALL = 4096 };

rlar_status rlar__training_forecast(rlar_ctx *ctx, const rlar_training *t,
                                    const rlar_params *params, rlar_forecast *out) {
    RLAR_TRY(params->method->forecast(ctx, &t->train, params, out));
    const double n = (double)t->train.n, d = (double)t->train.d;
    const double p = (double)params->method->outputs(&t->train, params);
    const double c = (double)t->data->classes.count, padded = (double)rlar__padded(t->train.n);
    /* The classes count with their names; what is left over is the same for all sizes. */
    const double copied = t->taken ? 0.0 : padded * d;
    const double beside = 8.0 * (copied + 2.0 * n + d * (p + 4.0) + p + 8.0 * c) + SMALL;
    /* The model and its references are made when the method has given back what it took. */
    const double after = 8.0 * (d * p + (n + padded) * p);
    const double bytes = beside + fmax((double)out->bytes, after);
    if (out->bytes < 0 || bytes >= (double)RLAR_BYTES_BEYOND)
        return rlar__fail(ctx, RLAR_E_TOO_LARGE,
                          "%s: a fit of %lld samples of %lld features does not fit the address "
                          "space; use less data",
                          t->data->file, (long long)t->train.n, (long long)t->train.d);
    out->bytes = (int64_t)bytes;
    return RLAR_OK;
}

rlar_status rlar__training_room(rlar_ctx *ctx, const rlar_training *t, const rlar_params *params) {
    rlar_forecast f = {.size = sizeof f};
    RLAR_TRY(rlar__training_forecast(ctx, t, params, &f));
    if (t->x && !t->taken) /* held already */
        f.bytes -= (int64_t)sizeof *t->x * rlar__padded(t->train.n) * t->train.d;
    const double limit = (double)ctx->memory->limit, held = (double)rlar_ctx_memory(ctx);
    if (limit > 0.0 && held + (double)f.bytes > limit)
        return rlar__fail(
            ctx, RLAR_E_NOMEM,
            "the fit needs %.1f MiB beside the %.1f MiB held, the memory limit is %.1f MiB; "
            "raise it (--max-memory) or use less data",
            (double)f.bytes / 1048576.0, held / 1048576.0, limit / 1048576.0);
    return rlar__blas_open(ctx, f.bytes);
}

bool rlar__training_spares(const rlar_ctx *ctx, const rlar_training *training, double bytes) {
    const double limit = (double)ctx->memory->limit, held = (double)rlar_ctx_memory(ctx);
    return limit <= 0.0 || held + bytes + (double)training->at_once * training->fit_bytes <= limit;
}

/* ---- The life of a training part ---- */

rlar_status rlar__training_suits(rlar_ctx *ctx, const rlar_fit_options *options,
                                 const rlar_params *params) {
    const size_t end = offsetof(rlar_fit_options, solve) + sizeof options->solve;
    const bool all = options && options->size >= end && options->solve == RLAR_SOLVE_DISTRIBUTED;
    if (ctx->team && !params->method->ranks)
        return rlar__fail(ctx, RLAR_E_UNSUPPORTED,
                          "method %s is not distributed over ranks; fit it in one process",
                          params->method->def.name);
    if (ctx->team && all && !params->method->systems)
        return rlar__fail(ctx, RLAR_E_UNSUPPORTED,
                          "method %s solves no system that ranks could share; leave out --solve "
                          "distributed",
                          params->method->def.name);
    return RLAR_OK;
}

static rlar_status fill(rlar_ctx *ctx, const rlar_data *data, const rlar_fit_options *options,
                        const rlar_params *params, rlar_training *t) {
    rlar_forecast f = {.size = sizeof f};
    RLAR_TRY(rlar__training_suits(ctx, options, params));
    RLAR_TRY(rlar__training_group(ctx, data, options, t));
    if (data->view.weights)
        return rlar__fail(ctx, RLAR_E_UNSUPPORTED, "%s: method %s does not take sample weights",
                          data->file, params->method->def.name);
    t->taken = t->taken && lie_well(t);
    RLAR_TRY(rlar__training_room(ctx, t, params));
    RLAR_TRY(rlar__training_forecast(ctx, t, params, &f));
    t->fit_bytes = (double)f.bytes;
    return load(ctx, t);
}

/* how: at_once, taken (if they lie well) and fills. */
static rlar_status make(rlar_ctx *ctx, const rlar_data *data, const rlar_fit_options *options,
                        const rlar_params *params, rlar_training how, rlar_training **out) {
    rlar_training *t = NULL;
    RLAR_TRY(rlar__alloc(ctx, 1, sizeof *t, "the training part", &t));
    *t = how;
    const rlar_status status = fill(ctx, data, options, params, t);
    if (status < 0)
        rlar__training_free(t);
    else
        *out = t;
    return status;
}

rlar_status rlar__training_new(rlar_ctx *ctx, const rlar_data *data,
                               const rlar_fit_options *options, const rlar_params *params,
                               int at_once, rlar_training **out) {
    return make(ctx, data, options, params, (rlar_training){.at_once = at_once}, out);
}

rlar_status rlar__training_filled(rlar_ctx *ctx, const rlar_data *data,
                                  const rlar_fit_options *options, const rlar_params *params,
                                  int at_once, rlar_training **out) {
    const rlar_training how = {.at_once = at_once, .fills = true};
    return make(ctx, data, options, params, how, out);
}

rlar_status rlar__training_take(rlar_ctx *ctx, rlar_data *data, const rlar_fit_options *options,
                                const rlar_params *params, rlar_training **out) {
    return make(ctx, data, options, params, (rlar_training){.at_once = 1, .taken = true}, out);
}

void rlar__training_clear(rlar_training *t) {
    if (t->sharer)
        t->sharer->release(t->shared);
    rlar__scaling_free(&t->scaling);
    if (!t->taken)
        rlar__free(t->x);
    rlar__free(t->means);
    rlar__free(t->order);
    rlar__free(t->label);
    rlar__free(t->first);
    rlar__free(t->whole);
    rlar__free(t->cut);
    rlar__free(t->class_of);
}

void rlar__training_free(rlar_training *training) {
    if (!training)
        return;
    rlar__training_clear(training);
    rlar__free(training);
}

/* What a fit would hold is at least as large as what it could share: no need to ask for more. */
rlar_status rlar__training_share(rlar_ctx *ctx, rlar_training *t, const rlar_params *params,
                                 int64_t fits) {
    const rlar_method *method = params->method;
    if (fits < 2 || t->sharer || !method->prepare || !rlar__training_spares(ctx, t, t->fit_bytes))
        return RLAR_OK;
    const rlar_status status = method->prepare(ctx, &t->train, params, fits, &t->shared);
    if (status < 0)
        return status == RLAR_E_CANCELLED ? status : RLAR_OK;
    t->sharer = t->shared ? method : NULL;
    t->train.shared = t->shared;
    return RLAR_OK;
}

int64_t rlar__training_class(const rlar_training *training, int64_t i) {
    return training->class_of[i];
}

const rlar_scaling *rlar__training_scaling(const rlar_training *training) {
    return &training->scaling;
}
