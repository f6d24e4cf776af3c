/* same_answer.c - the same bits for 1, 2, 3, 4, 8 and 16 threads, run to run, after save and load,
 * and for a sample alone or in company: every method, scaling and classifier, more samples than
 * features and fewer, and every choice of a method; and every method in evaluations with and
 * without tuning.
 *
 *   same_answer [--count N]
 *
 * N configurations (default: each once), fits and evaluations in turn. */

#include "record.h"
#include "trial.h"

static const int thread_counts[] = {1, 1, 2, 3, 4, 8, 16}; /* twice 1: run to run */
enum {
    COUNTS = sizeof thread_counts / sizeof *thread_counts,
    SHAPES = 3,
    TUNES = 3,
    SPLITS = 3,
    MAX_VARIANTS = 128
};

/* ---- Fits ---- */

/* Many samples (so that sums over them are cut into blocks), as many as features, few. */
static labelled shape_samples(int64_t seed, int64_t shape) {
    const int64_t sizes[SHAPES][5] = {
        {500, 450, 480, 460, 470}, {30, 40, 35, 20, 25}, {18, 20, 22, 19, 21}};
    const int64_t d[SHAPES] = {17, 64, 300};
    return clouds((uint64_t)(1000 + seed), d[shape], 5, sizes[shape]);
}

static rlar_data *view_of(rlar_ctx *ctx, const labelled *s, int64_t first, int64_t count) {
    rlar_view v = RLAR_INIT(rlar_view);
    rlar_data *data = NULL;
    v.n = count;
    v.d = v.stride = s->d;
    v.x = s->x + first * s->d;
    assert_int_equal(rlar_data_view(ctx, &v, &data), RLAR_OK);
    return data;
}

/* Outputs, classes and scores of all samples, `step` at a time. */
static void keep_answers(rlar_ctx *ctx, const rlar_model *m, const labelled *s, int64_t step,
                         record *r) {
    const int64_t n = s->n, p = rlar_model_outputs(m), c = rlar_model_classes(m);
    const bool regression = rlar_method_find(rlar_model_method(m))->regression;
    double *z = zeros(n * p), *scores = zeros(n * c);
    int64_t *found = calloc((size_t)n, sizeof *found);
    for (int k = -1; k < CLASSIFIERS; k++) {
        rlar_predict_options o = RLAR_INIT(rlar_predict_options);
        if (k >= 0 && strcmp(classifiers[k], "argmax") == 0 && !regression)
            continue;
        for (int64_t i = 0; i < n; i += step) {
            rlar_data *part = view_of(ctx, s, i, n - i < step ? n - i : step);
            o.classifier = k < 0 ? NULL : classifiers[k];
            const rlar_status status =
                k < 0 ? rlar_transform(ctx, m, part, z + i * p)
                      : rlar_predict(ctx, m, part, &o, found + i, scores + i * c);
            if (status < 0)
                fail_msg("%s", rlar_ctx_error(ctx));
            rlar_data_free(part);
        }
        keep_numbers(r, k < 0 ? z : scores, n * (k < 0 ? p : c));
        keep(r, found, (size_t)n * sizeof *found);
    }
    free(z);
    free(scores);
    free(found);
}

/* The model's bytes, and its answers: by itself, after save and load, in pieces of `step`. */
static record fit_record(const labelled *s, const variant *v, const char *scale, int threads) {
    const char *method = rlar_method_at(v->method)->name;
    record r = {0}, once = {0}, again = {0};
    rlar_ctx *ctx = context(threads);
    rlar_data *data = NULL;
    rlar_model *model = NULL, *loaded = NULL;
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    rlar_info info = RLAR_INIT(rlar_info);
    void *bytes = NULL;
    size_t size = 0;
    o.scale = scale;
    rlar_params *params = trial_params(ctx, &(trial){.method = method, .settings = v->settings});
    assert_int_equal(view_labelled(ctx, s, &data), RLAR_OK);
    if (rlar_fit(ctx, data, params, &o, &model, &info) < 0)
        fail_msg("%s", rlar_ctx_error(ctx));
    assert_int_equal(rlar_model_save_bytes(ctx, model, &bytes, &size), RLAR_OK);
    assert_int_equal(rlar_model_load_bytes(ctx, bytes, size, &loaded), RLAR_OK);
    keep(&r, bytes, size);
    keep_numbers(&r, &info.objective, 1);
    keep_answers(ctx, model, s, s->n, &once);
    /* A sample alone, blocks of an odd size, blocks that do not divide the threads' share. */
    keep_answers(ctx, loaded, s, threads == 1 ? 1 : 7 * threads, &again);
    if (!same_record(&once, &again))
        fail_msg("%s %s, %s, %d threads: other answers after save and load, in pieces", method,
                 v->settings, scale, threads);
    keep(&r, once.bytes, once.size);
    free(once.bytes);
    free(again.bytes);
    rlar_bytes_free(ctx, bytes);
    rlar_model_free(loaded);
    rlar_model_free(model);
    rlar_params_free(params);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
    return r;
}

/* ---- Evaluations ---- */

static record eval_record(const labelled *s, const char *method, rlar_tune tune, rlar_split split,
                          int threads) {
    record r = {0};
    rlar_ctx *ctx = context(threads);
    rlar_data *data = NULL;
    rlar_eval *eval = NULL;
    rlar_params *params = trial_params(ctx, &(trial){.method = method, .settings = ""});
    const rlar_params *const methods[] = {params};
    rlar_eval_spec spec = RLAR_INIT(rlar_eval_spec);
    spec.methods = methods;
    spec.n_methods = 1;
    spec.split = split;
    spec.tune = tune;
    spec.trials = spec.folds = 2;
    spec.per_class = 6;
    spec.fraction = 0.5;
    spec.tune_folds = 2;
    spec.coarse = spec.race = 1;
    assert_int_equal(view_labelled(ctx, s, &data), RLAR_OK);
    if (rlar_evaluate(ctx, data, &spec, &eval) < 0)
        fail_msg("%s: %s", method, rlar_ctx_error(ctx));
    keep_result(eval, &r);
    rlar_eval_free(eval);
    rlar_params_free(params);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
    return r;
}

/* ---- Configurations ---- */

typedef struct tally {
    int64_t fits, evaluations, wrong;
} tally;

/* The record of the first count of threads stays in *first; that of number i must be the same. */
static void compare_record(tally *t, record r, int i, const char *what, record *first) {
    if (i == 0) {
        *first = r;
        return;
    }
    if (!same_record(&r, first)) {
        t->wrong++;
        fprintf(stderr, "%s: other bits on %d threads\n", what, thread_counts[i]);
    }
    free(r.bytes);
}

/* The defaults of every method with every scaling, then every choice, the scalings in turn. */
static void check_fits(tally *t, const variant *list, int64_t choices, int64_t at) {
    const int64_t methods = rlar_method_count(), plain = methods * SCALINGS * SHAPES;
    const variant v = at < plain ? (variant){.method = at % methods} : list[(at - plain) % choices];
    const char *method = rlar_method_at(v.method)->name;
    const char *scale = scalings[(at < plain ? at / methods : at) % SCALINGS];
    const int64_t shape = at < plain ? at / methods / SCALINGS : (at - plain) / choices;
    labelled s = shape_samples(at, shape % SHAPES);
    char what[128];
    record first = {0};
    snprintf(what, sizeof what, "%s %s, %s, %lld x %lld", method, v.settings, scale, (long long)s.n,
             (long long)s.d);
    for (int i = 0; i < COUNTS; i++, t->fits++)
        compare_record(t, fit_record(&s, &v, scale, thread_counts[i]), i, what, &first);
    free(first.bytes);
    labelled_free(&s);
}

static void check_evaluations(tally *t, int64_t at) {
    const int64_t sizes[] = {12, 14, 13};
    const char *method = rlar_method_at(at % rlar_method_count())->name;
    const rlar_tune tune = (rlar_tune)(at / rlar_method_count() % TUNES);
    const rlar_split split = (rlar_split)(at / rlar_method_count() / TUNES % SPLITS);
    labelled s = clouds((uint64_t)at, at % 2 ? 5 : 50, 3, sizes);
    char what[128];
    record first = {0};
    snprintf(what, sizeof what, "evaluation of %s, tune %d, split %d", method, (int)tune,
             (int)split);
    for (int i = 0; i < COUNTS; i++, t->evaluations++)
        compare_record(t, eval_record(&s, method, tune, split, thread_counts[i]), i, what, &first);
    free(first.bytes);
    labelled_free(&s);
}

int main(int argc, char **argv) {
    tally t = {0};
    variant list[MAX_VARIANTS];
    int choices = 0;
    for (int64_t m = 0; m < rlar_method_count(); m++) {
        add_choices(list, &choices, m);
        assert_true(choices + 16 < MAX_VARIANTS);
    }
    const int64_t fits = (rlar_method_count() * SCALINGS + choices) * SHAPES;
    const int64_t evaluations = rlar_method_count() * TUNES * SPLITS;
    const int64_t count = count_option(argc, argv, fits + evaluations);
    const int64_t fit_step = step_for(fits), eval_step = step_for(evaluations);
    for (int64_t i = 0, f = 0, e = 0; i < count; i++) {
        if (i * evaluations / (fits + evaluations) ==
            (i + 1) * evaluations / (fits + evaluations)) {
            check_fits(&t, list, choices, f);
            f = (f + fit_step) % fits;
        } else {
            check_evaluations(&t, e);
            e = (e + eval_step) % evaluations;
        }
    }
    printf("%lld fits (with %d choices of the methods) and %lld evaluations on 1, 2, 3, 4, 8 and "
           "16 threads, repeated, saved and "
           "loaded, predicted whole and in pieces: %lld with other bits\n",
           (long long)t.fits, choices, (long long)t.evaluations, (long long)t.wrong);
    return t.wrong > 0;
}
