/* team_fit.h - fits over ranks that are threads (team.h), beside the same fit of one process. */
#ifndef RLAR_TEST_TEAM_FIT_H
#define RLAR_TEST_TEAM_FIT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sanitize.h"
#include "fitting.h"
#include "team.h"

/* Bits are compared on 2 to 5 ranks; what a sanitizer looks for is there on 5. */
#if defined(__SANITIZE_ADDRESS__) || RLAR_HAS_FEATURE(address_sanitizer)
enum { FEWEST_RANKS = 5 };
#else
enum { FEWEST_RANKS = 2 };
#endif

typedef struct job {
    const labelled *s; /* in an order of their own */
    int ranks;
    const char *method, *settings, *scale;
    rlar_solve solve;
    void *bytes; /* of rank 0's model */
    size_t size;
    double objective[MOST_RANKS];
    rlar_status status[MOST_RANKS];
    char error[MOST_RANKS][256];
} job;

/* Samples in no order of classes. */
static labelled shuffled(uint64_t seed, int64_t d, int64_t c, const int64_t *sizes) {
    labelled s = clouds(seed, d, c, sizes), t = clouds(seed, d, c, sizes);
    rlar_rng rng = seeded(seed);
    int64_t *order = malloc((size_t)s.n * sizeof *order);
    for (int64_t i = 0; i < s.n; i++)
        order[i] = i;
    rlar__rng_shuffle(&rng, order, s.n);
    for (int64_t i = 0; i < s.n; i++) {
        memcpy(t.x + i * d, s.x + order[i] * d, (size_t)d * sizeof *t.x);
        t.label[i] = s.label[order[i]];
    }
    free(order);
    labelled_free(&s);
    return t;
}

static rlar_data *view_rows(rlar_ctx *ctx, const labelled *s, int64_t from, int64_t to) {
    rlar_view view = RLAR_INIT(rlar_view);
    rlar_data *data = NULL;
    view.n = to - from;
    view.d = view.stride = s->d;
    view.x = s->x + from * s->d;
    assert_int_equal(rlar_data_view(ctx, &view, &data), RLAR_OK);
    assert_int_equal(rlar_data_set_label_numbers(ctx, data, s->label + from), RLAR_OK);
    return data;
}

static void fit_data(rlar_ctx *ctx, const job *j, const rlar_data *data, rlar_model **model,
                     rlar_info *info, rlar_status *status) {
    rlar_params *params = NULL;
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    o.scale = j->scale;
    o.solve = j->solve;
    *info = RLAR_INIT(rlar_info);
    assert_int_equal(rlar_params_new(ctx, j->method, &params), RLAR_OK);
    set_params(ctx, params, j->settings);
    rlar_forecast f = RLAR_INIT(rlar_forecast);
    *status = rlar_fit_forecast(ctx, data, params, &o, &f);
    const int64_t before = rlar_ctx_memory_peak(ctx), held = rlar_ctx_memory(ctx);
    if (*status >= 0)
        *status = rlar_fit(ctx, data, params, &o, model, info);
    const int64_t peak = rlar_ctx_memory_peak(ctx);
    if (peak > before && peak > held + f.bytes)
        fail_msg("%s %s: forecast %lld bytes, taken %lld", j->method, j->settings,
                 (long long)f.bytes, (long long)(peak - held));
    rlar_params_free(params);
}

/* The parts of a rank: uneven, some in two pieces. */
static void fit_rank(rlar_ctx *ctx, int rank, void *arg) {
    job *j = arg;
    const int64_t n = j->s->n, from = n * rank * rank / (j->ranks * j->ranks);
    const int64_t to = n * (rank + 1) * (rank + 1) / (j->ranks * j->ranks);
    const int64_t middle = from + (to - from) / 3;
    rlar_data *part[2], *data = NULL;
    rlar_model *model = NULL;
    rlar_info info;
    int64_t parts = 0;
    if (middle > from)
        part[parts++] = view_rows(ctx, j->s, from, middle);
    if (to > middle)
        part[parts++] = view_rows(ctx, j->s, middle, to);
    if (rlar_data_share(ctx, part, parts, &data) < 0)
        fail_msg("%s", rlar_ctx_error(ctx));
    assert_int_equal(rlar_data_classes(data), j->s->c); /* also without samples */
    fit_data(ctx, j, data, &model, &info, &j->status[rank]);
    snprintf(j->error[rank], sizeof j->error[rank], "%s", rlar_ctx_error(ctx));
    j->objective[rank] = info.objective;
    if (rank == 0 && j->status[rank] >= 0) {
        void *bytes = NULL;
        assert_int_equal(rlar_model_save_bytes(ctx, model, &bytes, &j->size), RLAR_OK);
        j->bytes = malloc(j->size);
        memcpy(j->bytes, bytes, j->size);
        rlar_bytes_free(ctx, bytes);
    }
    rlar_model_free(model);
    rlar_data_free(data);
}

static inline void compare(const labelled *s, const char *method, const char *settings,
                           const char *scale) {
    rlar_ctx *ctx = NULL;
    rlar_model *model = NULL;
    rlar_info info;
    void *bytes = NULL;
    size_t size = 0;
    job alone = {.s = s, .method = method, .settings = settings, .scale = scale};
    assert_int_equal(rlar_ctx_new(NULL, &ctx), RLAR_OK);
    rlar_data *data = view_rows(ctx, s, 0, s->n);
    fit_data(ctx, &alone, data, &model, &info, &alone.status[0]);
    assert_true(alone.status[0] >= 0);
    assert_int_equal(rlar_model_save_bytes(ctx, model, &bytes, &size), RLAR_OK);
    for (int ranks = FEWEST_RANKS; ranks <= 5; ranks++) {
        job j = {.s = s, .ranks = ranks, .method = method, .settings = settings, .scale = scale};
        ranks_world world;
        on_ranks(ranks, fit_rank, &j, &world);
        for (int r = 0; r < ranks; r++) {
            if (j.status[r] < 0)
                fail_msg("%s %s on %d ranks: %s", method, settings, ranks, j.error[r]);
            assert_int_equal(j.status[r], alone.status[0]);
            assert_true(j.objective[r] == info.objective ||
                        (isnan(j.objective[r]) && isnan(info.objective)));
        }
        assert_int_equal(j.size, size);
        assert_memory_equal(j.bytes, bytes, size);
        free(j.bytes);
    }
    rlar_bytes_free(ctx, bytes);
    rlar_model_free(model);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
}

static const char *const SCALES[] = {"zscore,rms", "unit", "minmax", "none"};

#endif
