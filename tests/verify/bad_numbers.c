/* bad_numbers.c - every kind of bad samples, in every shape, with every scaling, by every method
 * and each of its choices: a finite result or a named error, in good time. So with bad samples that
 * a model of good ones is given to transform and to predict.
 *
 *   bad_numbers [--count N] [--messages]
 *
 * N of the cells, spread evenly (default: all). --messages lists each distinct error text once. */
#include "bad_samples.h"

enum { MAX_VARIANTS = 128, MAX_MESSAGES = 4096, SHOWN_FAULTS = 20 };
static const double LIMIT = 10.0; /* seconds for a trial; they take about a millisecond */

typedef struct tally {
    int64_t done, fitted, refused, wrong;
    double slowest; /* seconds */
    int64_t n_messages;
    char *message[MAX_MESSAGES]; /* distinct but for digits */
    int64_t cell[KINDS][64][3];  /* by kind, method and verdict */
} tally;

static int make_variants(variant list[MAX_VARIANTS]) {
    int count = 0;
    for (int64_t m = 0; m < rlar_method_count(); m++) {
        const rlar_method_def *def = rlar_method_at(m);
        list[count++] = (variant){.method = m};
        list[count++] = (variant){.method = m, .preset = true};
        if (strcmp(def->name, "rlar") == 0) /* the objective of the paper, minimised */
            list[count++] = (variant){.method = m, .settings = "solver=minimise eps=1e-8"};
        add_choices(list, &count, m);
        assert_true(count + 16 < MAX_VARIANTS);
    }
    return count;
}

/* ---- Bad samples for a good model ---- */

/* The second of two samples is bad, so that an error can be seen to name it. */
typedef struct bad_row {
    const char *name;
    double value, other; /* of the features of odd and of even number */
    bool one;            /* the first feature only */
    /* ANSWER: a missing value is filled in, and a small one is no reason to refuse. */
    enum { MAY_ANSWER, ANSWER, REFUSE } must;
} bad_row;

static const bad_row bad_rows[] = {
    {"a NaN", NAN, 0, true, ANSWER},
    {"only NaN", NAN, NAN, false, ANSWER},
    {"an Inf", INFINITY, 0, true, REFUSE},
    {"-Inf and NaN", -INFINITY, NAN, false, REFUSE},
    {"subnormal", 0x1p-1060, -0x1p-1070, false, ANSWER},
    {"1e308", 1e308, 1e308, false, MAY_ANSWER},
    {"-1e308", -1e308, -1e308, false, MAY_ANSWER},
    {"one -1e308", -1e308, 0, true, MAY_ANSWER},
    {"the largest double", DBL_MAX, DBL_MAX, false, MAY_ANSWER},
    {"plus and minus the largest double", DBL_MAX, -DBL_MAX, false, MAY_ANSWER},
    {"1e308 and 1e-308", 1e308, 1e-308, false, MAY_ANSWER},
    {"1e200 and NaN", 1e200, NAN, false, MAY_ANSWER},
    {"-0", -0.0, -0.0, false, ANSWER},
    {"0 and -0", 0.0, -0.0, false, ANSWER},
    {"0", 0.0, 0.0, false, ANSWER},
};
enum { BAD_ROWS = sizeof bad_rows / sizeof bad_rows[0], MOST_OUTPUTS = 128 };
static int64_t rows_answered, rows_refused;

/* A view of a good sample and a bad one. An infinite number is refused there: it comes into the
 * memory later, as a caller could have it. */
static rlar_data *bad_pair(rlar_ctx *ctx, int64_t d, const bad_row *bad, double *x) {
    rlar_view v = RLAR_INIT(rlar_view);
    rlar_data *data = NULL, *refused = NULL;
    v.n = 2;
    v.d = v.stride = d;
    v.x = x;
    memset(x, 0, (size_t)(2 * d) * sizeof *x);
    assert_int_equal(rlar_data_view(ctx, &v, &data), RLAR_OK);
    for (int64_t r = 0; r < d; r++) {
        x[r] = 0.5;
        x[d + r] = bad->one && r > 0 ? 0.5 : r % 2 ? bad->other : bad->value;
    }
    if (bad->must == REFUSE) {
        assert_int_equal(rlar_data_view(ctx, &v, &refused), RLAR_E_DATA);
        assert_non_null(strstr(rlar_ctx_error(ctx), "feature 0 of sample 1"));
    }
    return data;
}

/* NULL, or why this is no answer to such a sample. */
static const char *answer_fault(const rlar_ctx *ctx, const bad_row *bad, rlar_status status) {
    rows_answered += status >= 0;
    rows_refused += status < 0;
    if (status >= 0)
        return bad->must == REFUSE ? "an infinite sample is answered" : NULL;
    if (status != RLAR_E_DATA && status != RLAR_E_NUMERIC)
        return "a bad sample gives an error that is neither of the data nor of the numbers";
    if (bad->must == ANSWER)
        return "a sample is refused without need";
    if (bad->must == REFUSE && status != RLAR_E_DATA)
        return "an infinite sample is not taken for bad data";
    const char *text = rlar_ctx_error(ctx);
    return strstr(text, "sample 2") ? text_fault(text) : "the error does not name the bad sample";
}

static const char *transform_fault(rlar_ctx *ctx, const rlar_model *model, const rlar_data *data,
                                   const bad_row *bad) {
    double z[2 * MOST_OUTPUTS];
    assert_true(rlar_model_outputs(model) <= MOST_OUTPUTS);
    const rlar_status status = rlar_transform(ctx, model, data, z);
    const bool finite = status < 0 || all_finite(2 * rlar_model_outputs(model), z);
    return finite ? answer_fault(ctx, bad, status) : "an output of a bad sample is not finite";
}

/* What one classifier says of the data; as much of `found` as there are samples. */
static const char *prediction_fault(rlar_ctx *ctx, const rlar_model *model, const rlar_data *data,
                                    const char *classifier, const bad_row *bad, int64_t *found) {
    const int64_t n = rlar_data_samples(data), c = rlar_model_classes(model);
    const rlar_predict_options o = predict_by(model, classifier);
    double scores[2 * 64];
    assert_true(n <= 2 && c <= 64);
    const rlar_status status = rlar_predict(ctx, model, data, &o, found, scores);
    for (int64_t i = 0; i < n && status >= 0; i++)
        if (found[i] < 0 || found[i] >= c || !all_finite(c, scores + i * c))
            return "a bad sample has a class that does not exist or an infinite score";
    return answer_fault(ctx, bad, status);
}

/* The same sample by a stream of single ones: the same class, or an error that names it too. */
static const char *stream_fault(rlar_ctx *ctx, const rlar_model *model, const rlar_data *data,
                                const bad_row *bad, int64_t class) {
    rlar_stream *stream = NULL;
    const rlar_data *block = NULL;
    int64_t found = -1;
    assert_int_equal(rlar_stream_data(ctx, data, model, &stream), RLAR_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(rlar_stream_next(stream, 1, &block), RLAR_OK);
    const char *fault = prediction_fault(ctx, model, block, classifiers[0], bad, &found);
    rlar_stream_free(stream);
    return fault ? fault : found != class ? "a bad sample has another class in a stream" : NULL;
}

static const char *pair_fault(rlar_ctx *ctx, const rlar_model *model, const rlar_data *data,
                              const bad_row *bad) {
    const char *fault = transform_fault(ctx, model, data, bad);
    for (int k = CLASSIFIERS - 1; k >= 0 && !fault; k--) {
        int64_t found[2] = {-1, -1};
        if (!classifier_suits(model, classifiers[k]))
            continue;
        fault = prediction_fault(ctx, model, data, classifiers[k], bad, found);
        if (!fault && k == 0)
            fault = stream_fault(ctx, model, data, bad, found[1]);
    }
    return fault;
}

static const char *check_bad_rows(rlar_ctx *ctx, const rlar_model *model) {
    double *x = zeros(2 * rlar_model_dims(model));
    const char *fault = NULL;
    for (int i = 0; i < BAD_ROWS && !fault; i++) {
        rlar_data *data = bad_pair(ctx, rlar_model_dims(model), &bad_rows[i], x);
        fault = pair_fault(ctx, model, data, &bad_rows[i]);
        if (fault)
            fprintf(stderr, "a sample of %s: %s\n", bad_rows[i].name, fault);
        rlar_data_free(data);
    }
    free(x);
    return fault;
}

/* ---- Distinct messages ---- */

/* Equal but for digits and what stands in quotes. */
static bool same_message(const char *a, const char *b) {
    for (;; a++, b++) {
        a += strspn(a, "-+.0123456789e");
        b += strspn(b, "-+.0123456789e");
        if (*a != *b)
            return false;
        if (!*a)
            return true;
    }
}

static void keep_message(tally *t, const char *text) {
    for (int64_t i = 0; i < t->n_messages; i++)
        if (same_message(t->message[i], text))
            return;
    if (t->n_messages < MAX_MESSAGES)
        t->message[t->n_messages++] = strdup(text);
}

/* ---- Cells ---- */

/* What should have been the other way round, or NULL. */
static const char *unexpected(const kind *k, const char *scale, verdict found) {
    const bool by_feature = strncmp(scale, "minmax", 6) == 0 || strncmp(scale, "zscore", 6) == 0;
    if (found == FITTED && k->must == MUST_REFUSE)
        return "fitted, though there is nothing to learn from";
    if (found == REFUSED && (k->must == MUST_FIT || (k->must == MUST_FIT_SCALED && by_feature)))
        return "refused without need";
    return NULL;
}

/* The verdict, or WRONG and in `text` why. */
static verdict judged(const rlar_ctx *ctx, const kind *k, const char *scale, double seconds,
                      verdict found, char text[RLAR_ERROR_SIZE]) {
    const char *fault = unexpected(k, scale, found);
    if (fault)
        snprintf(text, RLAR_ERROR_SIZE, "%s; %.900s", fault, rlar_ctx_error(ctx));
    else if (found == WRONG || (seconds <= LIMIT && rlar_ctx_memory(ctx) == 0))
        return found;
    else
        snprintf(text, RLAR_ERROR_SIZE, "%.1f s, %lld bytes left", seconds,
                 (long long)rlar_ctx_memory(ctx));
    return WRONG;
}

static void run_cell(tally *t, const kind *k, int shape, const char *scale, const variant *v) {
    char text[RLAR_ERROR_SIZE];
    labelled s = regime_samples(300, shape);
    k->make(&s);
    const double start = rlar__now();
    double deadline = start + LIMIT;
    rlar_ctx *ctx = timed_context(&deadline);
    const trial what = {.method = rlar_method_at(v->method)->name,
                        .settings = v->settings,
                        .preset = v->preset,
                        .scale = scale,
                        .s = &s,
                        .more = k->make == plain ? check_bad_rows : NULL};
    verdict found = run_trial(ctx, &what, text);
    const double seconds = rlar__now() - start;
    found = judged(ctx, k, scale, seconds, found, text);
    if (found == WRONG && t->wrong < SHOWN_FAULTS)
        fprintf(stderr, "%s, %lld x %lld, %s, %s%s %s: %s\n", k->name, (long long)s.n,
                (long long)s.d, scale, what.method, v->preset ? " (preset)" : "", v->settings,
                text);
    if (found == REFUSED)
        keep_message(t, text);
    t->done++;
    t->fitted += found == FITTED;
    t->refused += found == REFUSED;
    t->wrong += found == WRONG;
    t->slowest = fmax(t->slowest, seconds);
    t->cell[k - kinds][v->method][found]++;
    rlar_ctx_free(ctx);
    labelled_free(&s);
}

static void run_cells(tally *t, const variant *list, int variants, int64_t count) {
    const int64_t cells = (int64_t)KINDS * REGIMES * SCALINGS * variants, step = step_for(cells);
    const int64_t todo = count < cells ? count : cells;
    for (int64_t i = 0, at = 0; i < todo; i++, at = (at + step) % cells) {
        int64_t rest = at;
        const variant *v = &list[rest % variants];
        rest /= variants;
        const char *scale = scalings[rest % SCALINGS];
        rest /= SCALINGS;
        run_cell(t, &kinds[rest / REGIMES], (int)(rest % REGIMES), scale, v);
        if (i % 10000 == 9999)
            fprintf(stderr, "%lld of %lld\n", (long long)i + 1, (long long)todo);
    }
}

/* ---- The matrix ---- */

static char sign(const int64_t count[3]) {
    return count[WRONG]                      ? '!'
           : count[FITTED] && count[REFUSED] ? 'o'
           : count[FITTED]                   ? '+'
           : count[REFUSED]                  ? '-'
                                             : ' ';
}

static void print_matrix(const tally *t) {
    printf("+ fitted, - named error, o depends on shape, scaling or choice, ! wrong\n\n%36s", "");
    for (int64_t m = 0; m < rlar_method_count(); m++)
        printf(" %.6s%*s", rlar_method_at(m)->name, (int)(6 - strlen(rlar_method_at(m)->name)), "");
    printf("\n");
    for (int k = 0; k < KINDS; k++) {
        printf("%-36s", kinds[k].name);
        for (int64_t m = 0; m < rlar_method_count(); m++)
            printf("   %c   ", sign(t->cell[k][m]));
        printf("\n");
    }
    printf("\n");
}

int main(int argc, char **argv) {
    variant list[MAX_VARIANTS];
    tally *t = calloc(1, sizeof *t);
    assert_non_null(t);
    run_cells(t, list, make_variants(list), count_option(argc, argv, INT64_MAX));
    print_matrix(t);
    for (int64_t i = 0; i < t->n_messages; i++) {
        if (option_given(argc, argv, "--messages"))
            printf("%s\n", t->message[i]);
        free(t->message[i]);
    }
    printf(
        "%lld fits of bad samples (%d kinds, %d shapes, %d scalings, %lld methods with all their "
        "choices): %lld finite, %lld named errors, %lld wrong; the longest took %.2f s",
        (long long)t->done, KINDS, REGIMES, SCALINGS, (long long)rlar_method_count(),
        (long long)t->fitted, (long long)t->refused, (long long)t->wrong, t->slowest);
    printf("; %lld times a model of good samples was given a bad one to transform or predict: %lld "
           "finite, %lld named errors\n",
           (long long)(rows_answered + rows_refused), (long long)rows_answered,
           (long long)rows_refused);
    const int wrong = t->wrong > 0;
    free(t);
    return wrong;
}
