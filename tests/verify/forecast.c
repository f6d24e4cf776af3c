/* forecast.c - the memory that rlar_fit_forecast tells, against what the allocator gave: never
 * less, and for large problems hardly more; a limit below it refuses before anything large is
 * taken. Many methods need most for samples that are hard to decompose, which a forecast cannot
 * exclude: so samples whose features depend on two of them are fitted, too.
 *
 *   forecast [--count N] [--all]
 *
 * N thousand numbers in the largest data (default 2000). --all shows every fit. */

#include <stddef.h>

#include "trial.h"

static const double LEAST_SHARE = 0.75; /* of a forecast, that a large fit holds */

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

static void check_refusal(const rlar_ctx *ctx, const char *method, int64_t forecast, int64_t held,
                          int64_t limit, int64_t n) {
    const char *text = rlar_ctx_error(ctx);
    const char *fault = refusal_fault(text, forecast, held, limit, n);
    if (fault)
        fail_msg("%s: %s (\"%s\", forecast %lld bytes)", method, fault, text, (long long)forecast);
}

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
    if (strcmp(method, "lda") == 0)
        set_params(ctx, params, "ridge=0"); /* a ridge would hide what is wrong with the samples */
    assert_int_equal(rlar_fit_forecast(ctx, data, params, NULL, &f), RLAR_OK);
    const int64_t before = a.held, held = rlar_ctx_memory(ctx);
    a.peak = a.held;
    a.taken = 0;
    out.status = rlar_fit(ctx, data, params, NULL, &model, NULL);
    out.forecast = f.bytes;
    out.peak = a.peak - before;
    out.taken = a.taken;
    if (out.status == RLAR_E_NOMEM)
        check_refusal(ctx, method, f.bytes, held, limit, s->n);
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

/* All features follow from the first two, one is constant, and the first two samples are twins. */
static void spoil(labelled *s) {
    for (int64_t i = 0; i < s->n && s->d > 2; i++) {
        double *x = s->x + i * s->d;
        for (int64_t r = 2; r < s->d; r++)
            x[r] = (double)(r % 7 + 1) * x[r % 2];
        x[s->d / 2] = 3.0;
    }
    memcpy(s->x + s->d, s->x, (size_t)s->d * sizeof *s->x);
}

typedef struct tally {
    int64_t fits, wrong;
    double most;  /* peak / forecast of what the allocator gave, headers included */
    double least; /* the same, of the large ones */
    char least_of[64];
} tally;

static double share_of(const outcome *o) {
    return (double)o->peak / (double)o->forecast;
}

static void count(tally *t, const char *method, const labelled *s, const outcome *largest) {
    const double share = share_of(largest);
    if (largest->peak <= SMALL)
        return;
    t->most = fmax(t->most, share);
    if (share >= t->least)
        return;
    t->least = share;
    snprintf(t->least_of, sizeof t->least_of, "%s with %lld x %lld", method, (long long)s->n,
             (long long)s->d);
}

static void check(tally *t, const char *method, const labelled *s, const labelled *spoilt,
                  bool show) {
    const outcome free_fit = fit_within(method, s, 0), hard = fit_within(method, spoilt, 0);
    const outcome enough = fit_within(method, s, free_fit.forecast + labels_bytes(s->n));
    const outcome little = fit_within(method, s, free_fit.forecast - 1);
    const outcome *largest = hard.peak > free_fit.peak ? &hard : &free_fit;
    const bool near = largest->peak <= SMALL || share_of(largest) >= LEAST_SHARE;
    const bool good = near && free_fit.status >= 0 && hard.status >= 0 && enough.status >= 0 &&
                      little.status == RLAR_E_NOMEM && share_of(&free_fit) <= 1.02 &&
                      share_of(&hard) <= 1.02 && little.taken <= 64 * s->n + 65536;
    t->fits += 4;
    t->wrong += !good;
    count(t, method, s, largest);
    if (!good || show)
        fprintf(good ? stdout : stderr,
                "%-8s %6lld x %-5lld forecast %10lld, peak %10lld (%.3f), of spoilt samples %10lld "
                "(%.3f); refused after %lld, status %d %d %d %d\n",
                method, (long long)s->n, (long long)s->d, (long long)free_fit.forecast,
                (long long)free_fit.peak, share_of(&free_fit), (long long)hard.peak,
                share_of(&hard), (long long)little.taken, (int)free_fit.status, (int)hard.status,
                (int)enough.status, (int)little.status);
}

int main(int argc, char **argv) {
    const int64_t numbers = 1000 * count_option(argc, argv, 2000);
    tally t = {.least = INFINITY};
    for (int shape = 0; shape < SHAPES; shape++) {
        labelled s = shape_samples(shape, numbers), spoilt = shape_samples(shape, numbers);
        spoil(&spoilt);
        for (int64_t m = 0; m < rlar_method_count(); m++)
            check(&t, rlar_method_at(m)->name, &s, &spoilt, option_given(argc, argv, "--all"));
        labelled_free(&s);
        labelled_free(&spoilt);
    }
    printf(
        "%lld fits of %lld methods in %d shapes: peak at most %.3f of the forecast, at least %.3f "
        "(%s); refused below the forecast before a sample was copied; %lld wrong\n",
        (long long)t.fits, (long long)rlar_method_count(), SHAPES, t.most, t.least, t.least_of,
        (long long)t.wrong);
    return t.wrong > 0;
}
