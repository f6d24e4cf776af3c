/* bad_sizes.c - sizes near 2^31, 2^32 and 2^63, negative counts and labels at the limits, through
 * every public call that takes a count: refused by name before any memory behind them is touched,
 * or the right answer.
 *
 *   bad_sizes */
#include "bad_sizes.h"

/* ---- Views ---- */

static void huge_views(bench *b) {
    const struct {
        int64_t n, d, stride;
    } sizes[] = {{P62, 1, 1},     {MOST, 1, 1},      {1, MOST, MOST},   {2, 1, MOST},
                 {P31, P31, P31}, {P32, P32, P32},   {P32, 1, P32},     {2, P62, P62},
                 {P31, 1, P31},   {3, 5, P62 / 2},   {P62 / 8, 1, 1},   {1, P62 / 8, MOST},
                 {-1, 1, 1},      {1, -1, 1},        {0, 1, 1},         {1, 0, 1},
                 {-P62, -P62, 1}, {INT64_MIN, 1, 1}, {1, INT64_MIN, 1}, {3, 2, 1},
                 {3, 2, -2},      {3, 2, INT64_MIN}, {MOST, MOST, MOST}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int type = RLAR_F64; type <= RLAR_F32; type++) {
            rlar_view v = RLAR_INIT(rlar_view);
            rlar_data *data = NULL;
            v.type = (rlar_dtype)type;
            v.n = sizes[i].n;
            v.d = sizes[i].d;
            v.stride = sizes[i].stride;
            v.x = b->forbidden;
            refused(b, rlar_data_view(b->ctx, &v, &data), "a view of samples:", v.n);
        }
    rlar_view v = RLAR_INIT(rlar_view);
    rlar_data *data = NULL;
    v.type = RLAR_CSR;
    v.d = 3;
    v.x = v.indptr = v.indices = b->forbidden;
    for (v.n = P62; v.n > 0; v.n = v.n == P62 ? MOST : -1)
        refused(b, rlar_data_view(b->ctx, &v, &data), "a sparse view of samples:", v.n);
    const int64_t starts[][3] = {{0, 1, MOST}, {0, P62, P62}, {0, -1, 2}, {1, 2, 3}, {0, 5, 4}};
    v.n = 2;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        v.indptr = starts[i];
        refused(b, rlar_data_view(b->ctx, &v, &data), "sparse row starts, case", (int64_t)i);
    }
}

static void save_bytes(bench *b, const rlar_data *data, void **bytes, size_t *size) {
    rlar_model *model = NULL;
    assert_true(rlar_fit(b->ctx, data, NULL, NULL, &model, NULL) >= 0);
    assert_int_equal(rlar_model_save_bytes(b->ctx, model, bytes, size), RLAR_OK);
    rlar_model_free(model);
}

/* Samples that are far apart in memory, of which only the pages with numbers exist: the model is
 * the same to the last bit. */
static void wide_strides(bench *b) {
    const int64_t strides[] = {P31 - 1, P31, P31 + 1, P32 - 1, P32, P32 + 1, 1 + (P32 << 1)};
    void *near_bytes = NULL;
    size_t near_size = 0;
    save_bytes(b, b->data, &near_bytes, &near_size);
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        const int64_t stride = strides[i], n = b->s.n, d = b->s.d;
        const size_t room = (size_t)((n - 1) * stride + d) * sizeof(double);
        double *x = mmap(NULL, room, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_true(x != MAP_FAILED);
        for (int64_t r = 0; r < n; r++)
            memcpy(x + r * stride, b->s.x + r * d, (size_t)d * sizeof *x);
        rlar_view v = RLAR_INIT(rlar_view);
        rlar_data *data = NULL;
        void *bytes = NULL;
        size_t size = 0;
        v.n = n;
        v.d = d;
        v.stride = stride;
        v.x = x;
        assert_int_equal(rlar_data_view(b->ctx, &v, &data), RLAR_OK);
        assert_int_equal(rlar_data_set_label_numbers(b->ctx, data, b->s.label), RLAR_OK);
        save_bytes(b, data, &bytes, &size);
        right(b, size == near_size && memcmp(bytes, near_bytes, size) == 0, "stride", stride);
        rlar_bytes_free(b->ctx, bytes);
        rlar_data_free(data);
        munmap(x, room);
    }
    rlar_bytes_free(b->ctx, near_bytes);
}

/* Sparse samples may have any number of features without memory behind them; a fit is refused by
 * its forecast, which does not overflow. */
static void wide_sparse(bench *b) {
    const int64_t wide[] = {P31 - 1, P31, P32, P62, MOST};
    const int64_t indptr[] = {0, 1, 2, 3, 4}, indices[] = {0, 1, 0, 2};
    const double values[] = {1, 2, 3, 4}, labels[] = {0, 0, 1, 1};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        rlar_view v = RLAR_INIT(rlar_view);
        rlar_data *data = NULL;
        v.type = RLAR_CSR;
        v.n = 4;
        v.d = wide[i];
        v.x = values;
        v.indptr = indptr;
        v.indices = indices;
        assert_int_equal(rlar_data_view(b->ctx, &v, &data), RLAR_OK);
        assert_int_equal(rlar_data_set_label_numbers(b->ctx, data, labels), RLAR_OK);
        for (int64_t m = 0; m < rlar_method_count(); m++) {
            rlar_params *params = NULL;
            rlar_model *model = NULL;
            rlar_forecast f = RLAR_INIT(rlar_forecast);
            assert_int_equal(rlar_params_new(b->ctx, rlar_method_at(m)->name, &params), RLAR_OK);
            if (rlar_fit_forecast(b->ctx, data, params, NULL, &f) >= 0)
                right(b, f.bytes >= 32 * (v.d - 1) && f.flops > 0, rlar_method_at(m)->name,
                      f.bytes);
            refused(b, rlar_fit(b->ctx, data, params, NULL, &model, NULL), "features:", v.d);
            rlar_params_free(params);
        }
        int64_t found[4];
        right(b, rlar_predict(b->ctx, b->model, data, NULL, found, NULL) == RLAR_E_MODEL,
              "features to predict:", v.d);
        rlar_data_free(data);
    }
}

/* As many samples of as many features as the BLAS can count: more bytes than 64 bits can. */
static void largest_forecast(bench *b) {
    const int64_t first[] = {0, INT32_MAX - 1, INT32_MAX};
    const rlar_training t = {.train = {.n = INT32_MAX, .d = INT32_MAX, .c = 2, .first = first},
                             .data = b->data};
    for (int64_t m = 0; m < rlar_method_count(); m++) {
        rlar_params *params = NULL;
        rlar_forecast f = RLAR_INIT(rlar_forecast);
        assert_int_equal(rlar_params_new(b->ctx, rlar_method_at(m)->name, &params), RLAR_OK);
        refused(b, rlar__training_forecast(b->ctx, &t, params, &f), rlar_method_at(m)->name,
                f.bytes);
        rlar_params_free(params);
    }
}

/* ---- Counts and row numbers ---- */

static void odd_rows(bench *b) {
    const int64_t numbers[] = {-1, b->s.n, MOST, INT64_MIN, P31, P32};
    int64_t found[4];
    rlar_model *model = NULL;
    rlar_fit_options f = RLAR_INIT(rlar_fit_options);
    rlar_predict_options p = RLAR_INIT(rlar_predict_options);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const int64_t rows[] = {0, numbers[i]};
        f.rows = p.rows = rows;
        f.n_rows = p.n_rows = 2;
        refused(b, rlar_fit(b->ctx, b->data, NULL, &f, &model, NULL), "fit of row", numbers[i]);
        refused(b, rlar_predict(b->ctx, b->model, b->data, &p, found, NULL), "prediction of row",
                numbers[i]);
    }
    const int64_t counts[] = {-1, INT64_MIN, P31, P32, P62, MOST};
    f.rows = p.rows = b->forbidden;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        f.n_rows = p.n_rows = counts[i];
        refused(b, rlar_fit(b->ctx, b->data, NULL, &f, &model, NULL), "rows to fit:", counts[i]);
        if (counts[i] < 0)
            refused(b, rlar_predict(b->ctx, b->model, b->data, &p, found, NULL),
                    "rows to predict:", counts[i]);
    }
    const int64_t neighbours[] = {-1, INT64_MIN, b->s.n + 1, P31, P32, MOST};
    p = RLAR_INIT(rlar_predict_options);
    p.classifier = "knn";
    for (size_t i = 0; i < sizeof neighbours / sizeof *neighbours; i++) {
        int64_t all[128];
        p.neighbours = neighbours[i];
        refused(b, rlar_predict(b->ctx, b->model, b->data, &p, all, NULL),
                "neighbours:", neighbours[i]);
    }
}

static void odd_matrices(bench *b) {
    const int64_t spans[][2] = {{-1, 2},  {0, -1},      {0, 0},     {MOST, 1},        {1, MOST},
                                {0, P32}, {MOST, MOST}, {P31, P31}, {INT64_MIN, MOST}};
    double *never = b->forbidden;
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        refused(
            b, rlar_model_matrices(b->ctx, b->model, spans[i][0], spans[i][1], never, never, never),
            "matrices from", spans[i][0]);
}

static void odd_statistics(bench *b) {
    const int64_t counts[] = {-1, 0, INT64_MIN, P62, MOST};
    double *never = b->forbidden, one[4];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const int64_t k = counts[i];
        refused(b, rlar_wilcoxon(b->ctx, k, never, never, one, one), "wilcoxon:", k);
        refused(b, rlar_holm(b->ctx, k, never, never), "holm:", k);
        refused(b, rlar_friedman(b->ctx, k, 3, never, never, one, one), "friedman, blocks:", k);
        refused(b, rlar_friedman(b->ctx, 3, k, never, never, one, one), "friedman, methods:", k);
        refused(b, rlar_nemenyi(b->ctx, 3, k, never, never), "nemenyi, methods:", k);
        if (k < 1)
            refused(b, rlar_nemenyi_difference(b->ctx, k, 3, 0.05, one), "difference:", k);
        refused(b, rlar_nemenyi_difference(b->ctx, 3, k, 0.05, one), "difference:", k);
        refused(b, rlar_iman_davenport(b->ctx, k, k, 1e300, one, one), "iman_davenport:", k);
    }
    refused(b, rlar_friedman(b->ctx, P32, P32, never, never, one, one), "friedman:", P32);
}

static void odd_evaluations(bench *b) {
    rlar_params *params = NULL;
    assert_int_equal(rlar_params_new(b->ctx, "lda", &params), RLAR_OK);
    const rlar_params *const methods[] = {params};
    rlar_eval_spec base = RLAR_INIT(rlar_eval_spec);
    base.methods = methods;
    base.n_methods = 1;
    base.split = RLAR_SPLIT_FOLDS;
    base.folds = 2;
    base.trials = 1;
    const int64_t odd[] = {-1, INT64_MIN, P62, MOST, P31, P32};
    const double fractions[] = {NAN, INFINITY, -1, 0, 1, 2};
    enum { FIELDS = 7 };
    for (int field = 0; field < FIELDS; field++)
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
            rlar_eval_spec s = base;
            rlar_eval *eval = NULL;
            int64_t *const at[FIELDS] = {&s.trials,     &s.folds,  &s.per_class, &s.neighbours,
                                         &s.tune_folds, &s.n_axes, &s.n_methods};
            if (field == 2)
                s.split = RLAR_SPLIT_PER_CLASS;
            if (field == 3)
                s.classifier = "knn";
            if (field >= 4 && odd[i] > 0) /* more folds than samples are as many as there are, and
                                             that so many axes exist is the caller's word */
                continue;
            *at[field] = odd[i];
            const rlar_status status = rlar_evaluate(b->ctx, b->data, &s, &eval);
            refused(b, status, "evaluation with", odd[i]);
            rlar_eval_free(eval);
        }
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        rlar_eval_spec s = base;
        rlar_eval *eval = NULL;
        s.split = RLAR_SPLIT_FRACTION;
        s.fraction = fractions[i];
        refused(b, rlar_evaluate(b->ctx, b->data, &s, &eval), "fraction, case", (int64_t)i);
        rlar_eval_free(eval);
    }
    rlar_params_free(params);
}

static void odd_occlusions(bench *b) {
    rlar_occlusion base = RLAR_INIT(rlar_occlusion);
    base.per_class = 3;
    base.trials = base.corrupted = base.block = base.height = 1;
    base.width = b->s.d;
    const int64_t odd[] = {-1, INT64_MIN, P62, MOST, P32};
    enum { FIELDS = 8 };
    for (int field = 0; field < FIELDS; field++)
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
            rlar_occlusion s = base;
            int64_t *const at[FIELDS] = {&s.per_class,    &s.trials,         &s.corrupted,
                                         &s.block,        &s.height,         &s.width,
                                         &s.texture_rows, &s.texture_columns};
            rlar_data *out = NULL;
            rlar_rows *splits = NULL;
            if (field >= 6) {
                s.texture = b->forbidden;
                s.texture_rows = s.texture_columns = P32;
            }
            *at[field] = odd[i];
            refused(b, rlar_occlude(b->ctx, b->data, &s, &out, &splits), "occlusion with", odd[i]);
            rlar_data_free(out);
            rlar_rows_free(splits);
        }
}

static void odd_streams(bench *b) {
    const int64_t sizes[] = {0, -1, INT64_MIN};
    for (size_t i = 0; i < 4; i++) {
        rlar_stream *stream = NULL;
        const rlar_data *block = NULL;
        assert_int_equal(rlar_stream_data(b->ctx, b->data, NULL, &stream), RLAR_OK);
        if (i < 3)
            refused(b, rlar_stream_next(stream, sizes[i], &block), "samples of a block:", sizes[i]);
        else
            right(b,
                  rlar_stream_next(stream, MOST, &block) == RLAR_OK &&
                      rlar_data_samples(block) == b->s.n,
                  "samples of a block:", MOST);
        rlar_stream_free(stream);
    }
}

static void odd_questions(bench *b) {
    const int64_t odd[] = {-1, INT64_MIN, P31, P32, P62, MOST};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        const int64_t at = odd[i];
        right(b,
              !rlar_method_at(at) && !rlar_data_class(b->data, at) &&
                  rlar_data_class_size(b->data, at) == 0 && !rlar_data_feature(b->data, at) &&
                  rlar_data_label(b->data, at) == -1 && !rlar_model_class(b->model, at) &&
                  !rlar_model_feature(b->model, at) && !rlar_model_param_name(b->model, at) &&
                  !rlar_model_param_value(b->model, at),
              "a question about number", at);
    }
    rlar_ctx *ctx = NULL;
    const int threads[] = {-1, 257, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
        o.threads = threads[i];
        right(b, rlar_ctx_new(&o, &ctx) == RLAR_E_ARG && !ctx, "threads", threads[i]);
    }
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.max_memory = -1;
    right(b, rlar_ctx_new(&o, &ctx) == RLAR_E_ARG && !ctx, "max_memory", -1);
    double gflops;
    const double seconds[] = {NAN, INFINITY, -1, 1e9};
    for (int i = 0; i < 4; i++)
        refused(b, rlar_blas_speed(b->ctx, seconds[i], &gflops), "seconds, case", i);
}

/* ---- Labels ---- */

enum { LABELS = 4 };

/* Names of the classes of samples, some of them the same number, and as they come back. */
typedef struct odd_names {
    const char *text[LABELS], *sorted[LABELS];
    int classes;
} odd_names;

static const odd_names odd_classes[] = {
    {{"10", "2", "2.0", "10"}, {"2", "10"}, 2},
    {{"-5", "1000000", "-5", "7"}, {"-5", "7", "1000000"}, 3},
    {{"0.5", "-0.25", "1e-300", "0.5"}, {"-0.25", "1e-300", "0.5"}, 3},
    {{"0", "-0", "1", "+1"}, {"0", "1"}, 2},
    {{"9223372036854775807", "9223372036854775806", "-9223372036854775808", "0"},
     {"-9223372036854775808", "0", "9223372036854775806", "9223372036854775807"},
     4},
    {{"9007199254740992", "9007199254740993", "1", "1"},
     {"1", "9007199254740992", "9007199254740993"},
     3},
    {{"1e308", "1e999", "-1e308", "1e308"}, {"-1e308", "1e308", "1e999"}, 3},
    {{"inf", "-inf", "1", "1"}, {"-inf", "1", "inf"}, 3},
};

static rlar_data *named_data(bench *b, const labelled *s, const char *const text[LABELS]) {
    const char *label[64];
    rlar_data *data = NULL;
    assert_true(s->n <= 64);
    for (int64_t i = 0; i < s->n; i++)
        label[i] = text[(int)s->label[i]];
    assert_int_equal(view_labelled(b->ctx, s, &data), RLAR_OK);
    assert_int_equal(rlar_data_set_labels(b->ctx, data, label), RLAR_OK);
    return data;
}

static bool names_kept(const rlar_data *data, const odd_names *names) {
    bool good = rlar_data_classes(data) == names->classes;
    for (int k = 0; good && k < names->classes; k++)
        good = strcmp(rlar_data_class(data, k), names->sorted[k]) == 0;
    return good;
}

/* Every sample is its own nearest, so its class comes back by its name. */
static bool known_again(bench *b, const rlar_model *model, const rlar_data *data,
                        const odd_names *names) {
    int64_t found[64];
    bool good = rlar_predict(b->ctx, model, data, NULL, found, NULL) >= 0;
    for (int64_t i = 0; good && i < rlar_data_samples(data); i++)
        good = found[i] == rlar_data_label(data, i) &&
               strcmp(rlar_model_class(model, found[i]), names->sorted[found[i]]) == 0;
    return good;
}

/* The same samples, half of them with labels that the model has never seen: these are unknown, and
 * equal to no prediction, the others are what they were. */
static bool unseen_unknown(bench *b, const rlar_model *model, const labelled *s,
                           const odd_names *names) {
    const int last = names->classes - 1;
    const char *const text[LABELS] = {names->sorted[0], "never seen", names->sorted[last], "nor"};
    const int64_t expected[LABELS] = {0, RLAR_CLASS_UNKNOWN, last, RLAR_CLASS_UNKNOWN};
    rlar_data *data = named_data(b, s, text);
    rlar_stream *stream = NULL;
    const rlar_data *block = NULL;
    int64_t found[64];
    bool good = rlar_stream_data(b->ctx, data, model, &stream) == RLAR_OK &&
                rlar_stream_next(stream, s->n, &block) == RLAR_OK &&
                rlar_predict(b->ctx, model, block, NULL, found, NULL) >= 0;
    for (int64_t i = 0; good && i < s->n; i++)
        good = rlar_data_label(block, i) == expected[(int)s->label[i]] && found[i] >= 0 &&
               found[i] < names->classes;
    rlar_stream_free(stream);
    rlar_data_free(data);
    return good;
}

/* Numbers with gaps, negative, with fractions and at the limits come back as they were. */
static void odd_labels(bench *b) {
    const int64_t sizes[LABELS] = {6, 7, 5, 6};
    labelled s = clouds(3, 5, LABELS, sizes);
    for (size_t i = 0; i < sizeof odd_classes / sizeof *odd_classes; i++) {
        rlar_data *data = named_data(b, &s, odd_classes[i].text);
        right(b, names_kept(data, &odd_classes[i]), "names of classes, case", (int64_t)i);
        for (int64_t m = 0; m < rlar_method_count(); m++) {
            const char *method = rlar_method_at(m)->name;
            rlar_model *model = NULL;
            rlar_params *params = trial_params(b->ctx, &(trial){.method = method, .settings = ""});
            const bool good = rlar_fit(b->ctx, data, params, NULL, &model, NULL) >= 0;
            right(b, good && known_again(b, model, data, &odd_classes[i]), method, (int64_t)i);
            right(b, good && unseen_unknown(b, model, &s, &odd_classes[i]), method, (int64_t)i);
            rlar_params_free(params);
            rlar_model_free(model);
        }
        rlar_data_free(data);
    }
    labelled_free(&s);
}

static void labels_of_no_number(bench *b) {
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        const double kept = b->s.label[1];
        b->s.label[1] = bad[i];
        refused(b, rlar_data_set_label_numbers(b->ctx, b->data, b->s.label), "label, case", i);
        b->s.label[1] = kept;
    }
}

int main(void) {
    bench b = new_bench();
    huge_views(&b);
    wide_strides(&b);
    wide_sparse(&b);
    largest_forecast(&b);
    odd_rows(&b);
    odd_matrices(&b);
    odd_statistics(&b);
    odd_evaluations(&b);
    odd_occlusions(&b);
    odd_streams(&b);
    odd_questions(&b);
    odd_labels(&b);
    labels_of_no_number(&b);
    printf(
        "%lld calls with sizes, counts and labels at or beyond 2^31, 2^32 and 2^63: %lld refused "
        "by name and nothing touched, %lld right, %lld wrong\n",
        (long long)(b.refused + b.right + b.wrong), (long long)b.refused, (long long)b.right,
        (long long)b.wrong);
    const int wrong = b.wrong > 0;
    end_bench(&b);
    return wrong;
}
