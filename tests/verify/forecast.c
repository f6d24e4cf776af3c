/* forecast.c - the memory that rlar_fit_forecast tells, against what the allocator gave: never
 * less, and for large problems hardly more; a limit below it refuses before anything large is
 * taken.
 *
 *   forecast [--count N] [--all]
 *
 * N thousand numbers in the largest data (default 2000). --all shows every fit. */

#include <stddef.h>

#include "trial.h"

enum {
    MOST_CLASSES = 60,
    SHAPES = 5,
    SMALL = 1 << 20 /* bytes, below which a share says little */
};

/* What the allocator was asked for in one fit. */
typedef struct account {
    int64_t held, peak, taken;
} account;

typedef struct block {
    size_t bytes;
    double payload[];
} block;

static void *take(void *user, size_t bytes) {
    account *a = user;
    block *b = malloc(sizeof *b + bytes);
    assert_non_null(b);
    b->bytes = bytes;
    a->taken += (int64_t)bytes;
    a->held += (int64_t)bytes;
    a->peak = a->held > a->peak ? a->held : a->peak;
    return b->payload;
}

static void give(void *user, void *memory) {
    block *b = (block *)(void *)((char *)memory - offsetof(block, payload));
    ((account *)user)->held -= (int64_t)b->bytes;
    free(b);
}

typedef struct outcome {
    rlar_status status;
    int64_t forecast, peak, taken; /* bytes, beside the data */
} outcome;

/* One fit of two iterations under a limit (0: none). */
static outcome fit_within(const char *method, const labelled *s, int64_t limit) {
    account a = {0};
    outcome out = {0};
    rlar_ctx_options co = RLAR_INIT(rlar_ctx_options);
    rlar_forecast f = RLAR_INIT(rlar_forecast);
    rlar_ctx *ctx = NULL;
    rlar_data *data = NULL;
    rlar_model *model = NULL;
    co.threads = 1;
    co.max_memory = limit;
    co.alloc = take;
    co.release = give;
    co.alloc_user = &a;
    assert_int_equal(rlar_ctx_new(&co, &ctx), RLAR_OK);
    assert_int_equal(view_labelled(ctx, s, &data), RLAR_OK);
    rlar_params *params = trial_params(ctx, &(trial){.method = method, .settings = ""});
    if (!isnan(rlar_params_get(params, "iters")))
        set_params(ctx, params, "iters=2");
    assert_int_equal(rlar_fit_forecast(ctx, data, params, NULL, &f), RLAR_OK);
    const int64_t before = a.held;
    a.peak = a.held;
    a.taken = 0;
    out.status = rlar_fit(ctx, data, params, NULL, &model, NULL);
    out.forecast = f.bytes;
    out.peak = a.peak - before;
    out.taken = a.taken;
    const char *text = rlar_ctx_error(ctx);
    if (out.status == RLAR_E_NOMEM && (!strstr(text, "MiB beside") || text_fault(text)))
        fail_msg("%s: the refusal does not tell the forecast: \"%s\"", method, text);
    rlar_model_free(model);
    rlar_params_free(params);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
    return out;
}

/* Much more samples than features, as many, much fewer; many classes; two features. */
static labelled shape_samples(int shape, int64_t numbers) {
    const double aspect[SHAPES] = {40, 1, 0.05, 4, 1e4}; /* n / d */
    const int64_t c = shape == 3 ? MOST_CLASSES : 5;
    const int64_t d = (int64_t)fmax(2, sqrt((double)numbers / aspect[shape]));
    const int64_t wanted = shape == 4 ? (numbers < 20000 ? 1000 : 4000) : numbers / d;
    int64_t sizes[MOST_CLASSES];
    for (int64_t k = 0; k < c; k++)
        sizes[k] = wanted / c + k % 3;
    return clouds((uint64_t)shape, d, c, sizes);
}

typedef struct tally {
    int64_t fits, wrong;
    double most;  /* peak / forecast of what the allocator gave, headers included */
    double least; /* the same, of the large ones */
    char least_of[64];
} tally;

static void check(tally *t, const char *method, const labelled *s, bool show) {
    const outcome free_fit = fit_within(method, s, 0);
    const int64_t labels = 3 * s->n * 8 + 65536; /* what the data themselves hold */
    const outcome enough = fit_within(method, s, free_fit.forecast + labels);
    const outcome little = fit_within(method, s, free_fit.forecast - 1);
    const double share = (double)free_fit.peak / (double)free_fit.forecast;
    const bool good = free_fit.status >= 0 && enough.status >= 0 && little.status == RLAR_E_NOMEM &&
                      share <= 1.02 && little.taken <= 64 * s->n + 65536;
    t->fits += 3;
    t->wrong += !good;
    if (free_fit.peak > SMALL)
        t->most = fmax(t->most, share);
    if (free_fit.peak > SMALL && share < t->least) {
        t->least = share;
        snprintf(t->least_of, sizeof t->least_of, "%s with %lld x %lld", method, (long long)s->n,
                 (long long)s->d);
    }
    if (!good || show)
        fprintf(good ? stdout : stderr,
                "%-8s %6lld x %-5lld forecast %10lld, peak %10lld (%.3f); refused after %lld, "
                "status %d %d %d\n",
                method, (long long)s->n, (long long)s->d, (long long)free_fit.forecast,
                (long long)free_fit.peak, share, (long long)little.taken, (int)free_fit.status,
                (int)enough.status, (int)little.status);
}

int main(int argc, char **argv) {
    const int64_t numbers = 1000 * option_value(argc, argv, "--count", 2000);
    tally t = {.least = INFINITY};
    for (int shape = 0; shape < SHAPES; shape++) {
        labelled s = shape_samples(shape, numbers);
        for (int64_t m = 0; m < rlar_method_count(); m++)
            check(&t, rlar_method_at(m)->name, &s, option_given(argc, argv, "--all"));
        labelled_free(&s);
    }
    printf(
        "%lld fits of %lld methods in %d shapes: peak at most %.3f of the forecast, at least %.3f "
        "(%s); refused below the forecast before a sample was copied; %lld wrong\n",
        (long long)t.fits, (long long)rlar_method_count(), SHAPES, t.most, t.least, t.least_of,
        (long long)t.wrong);
    return t.wrong > 0;
}
