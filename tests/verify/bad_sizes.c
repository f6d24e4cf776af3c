/* bad_sizes.c - sizes near 2^31, 2^32 and 2^63, negative counts and labels at the limits, through
 * every public call that takes a count: refused by name before any memory behind them is touched,
 * or the right answer.
 *
 *   bad_sizes */
#include "bad_labels.h"

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

static void odd_fractions(bench *b, const rlar_eval_spec *base) {
    const double fractions[] = {NAN, INFINITY, -1, 0, 1, 2};
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        rlar_eval_spec s = *base;
        rlar_eval *eval = NULL;
        s.split = RLAR_SPLIT_FRACTION;
        s.fraction = fractions[i];
        rlar_rows *splits = NULL;
        refused(b, rlar_evaluate(b->ctx, b->data, &s, &eval), "fraction, case", (int64_t)i);
        refused(b, rlar_eval_check(b->ctx, &s), "fraction to check, case", (int64_t)i);
        refused(b, rlar_eval_splits(b->ctx, b->data, &s, &splits), "fraction to split, case",
                (int64_t)i);
        rlar_eval_free(eval);
    }
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
    enum { FIELDS = 7 };
    for (int field = 0; field < FIELDS; field++)
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
            rlar_eval_spec s = base;
            rlar_eval *eval = NULL;
            rlar_rows *splits = NULL;
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
            if (odd[i] < 0)
                refused(b, rlar_eval_check(b->ctx, &s), "specification with", odd[i]);
            if (field < 3)
                refused(b, rlar_eval_splits(b->ctx, b->data, &s, &splits), "splits with", odd[i]);
        }
    odd_fractions(b, &base);
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

/* ---- Files, and what comes from them ---- */

static void odd_reads(bench *b, const char *path) {
    const struct {
        int64_t features, part, parts;
    } odd[] = {{-1, 0, 0},   {INT64_MIN, 0, 0}, {P31, 0, 0},    {P62, 0, 0}, {MOST, 0, 0},
               {0, 0, -1},   {0, 0, INT64_MIN}, {0, -1, 2},     {0, 2, 2},   {0, INT64_MIN, 2},
               {0, MOST, 2}, {0, P32, P32},     {0, MOST, MOST}};
    assert_int_equal(rlar_data_write(b->ctx, b->data, path, NULL), RLAR_OK);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        rlar_read_options o = RLAR_INIT(rlar_read_options);
        rlar_data *data = NULL;
        o.features = odd[i].features;
        o.part = odd[i].part;
        o.parts = odd[i].parts;
        refused(b, rlar_data_read(b->ctx, path, &o, &data), "read options, case", (int64_t)i);
    }
    const int64_t counts[] = {-1, INT64_MIN};
    for (int i = 0; i < 2; i++) { /* that so many parts exist is the caller's word */
        rlar_data *data = NULL;
        refused(b, rlar_data_share(b->ctx, b->forbidden, counts[i], &data), "parts:", counts[i]);
        right(b, strstr(rlar_ctx_error(b->ctx), "count") != NULL, "parts by name:", counts[i]);
    }
}

/* A write that the system refuses leaves no file. */
static void odd_writes(bench *b, const char *path) {
    const uint64_t sizes[] = {P31, P32, P62, MOST, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        rlar_file *file = NULL;
        assert_int_equal(rlar_file_create(b->ctx, path, &file), RLAR_OK);
        right(b,
              rlar_file_write(file, b->forbidden, (size_t)sizes[i]) == RLAR_E_IO &&
                  rlar_file_commit(file) == RLAR_E_IO && access(path, F_OK) != 0,
              "bytes to write, case", (int64_t)i);
    }
}

/* Model files of a few bytes, and with headers that are said to be longer than the file. */
static void odd_models(bench *b) {
    const int64_t headers[] = {-1, INT64_MIN, P31, P32, P62, MOST};
    rlar_model *model = NULL;
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(rlar_model_save_bytes(b->ctx, b->model, &bytes, &size), RLAR_OK);
    for (size_t few = 0; few <= 16; few++)
        right(b, rlar_model_load_bytes(b->ctx, bytes, few, &model) == RLAR_E_MODEL && !model,
              "bytes of a model:", (int64_t)few);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        memcpy(bytes, &headers[i], sizeof headers[i]);
        right(b, rlar_model_load_bytes(b->ctx, bytes, size, &model) == RLAR_E_MODEL && !model,
              "bytes of a header:", headers[i]);
    }
    rlar_bytes_free(b->ctx, bytes);
}

static void odd_fits(bench *b, const char *path) {
    const int64_t odd[] = {-1, INT64_MIN, b->s.n + 1, P31, P32, P62, MOST};
    rlar_predict_options p = RLAR_INIT(rlar_predict_options);
    p.classifier = "knn";
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        rlar_fit_options o = RLAR_INIT(rlar_fit_options);
        rlar_model *model = NULL;
        double accuracy;
        p.neighbours = o.checkpoint_every = odd[i];
        o.checkpoint = path;
        refused(b, rlar_training_accuracy(b->ctx, b->model, &p, &accuracy),
                "neighbours in training:", odd[i]);
        const rlar_status status = rlar_fit(b->ctx, b->data, NULL, &o, &model, NULL);
        if (odd[i] < 0)
            refused(b, status, "iterations to a checkpoint:", odd[i]);
        else
            right(b, status >= 0, "iterations to a checkpoint:", odd[i]);
        rlar_model_free(model);
        unlink(path);
    }
}

static void odd_results(bench *b) {
    const int64_t odd[] = {-1, INT64_MIN, 1, P31, P32, MOST};
    const rlar_params *const methods[] = {
        trial_params(b->ctx, &(trial){.method = "lda", .settings = ""})};
    rlar_eval_spec spec = RLAR_INIT(rlar_eval_spec);
    rlar_eval_result result = RLAR_INIT(rlar_eval_result);
    rlar_eval *eval = NULL;
    spec.methods = methods;
    spec.n_methods = spec.trials = 1;
    spec.split = RLAR_SPLIT_FOLDS;
    spec.folds = 2;
    assert_int_equal(rlar_evaluate(b->ctx, b->data, &spec, &eval), RLAR_OK);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        right(b, rlar_eval_get(eval, odd[i], &result) == RLAR_E_ARG && !result.method,
              "result number", odd[i]);
    rlar_eval_free(eval);
    rlar_params_free((rlar_params *)(uintptr_t)methods[0]);
}

static void odd_files(bench *b) {
    char table[512], other[512];
    temp_folder folder = new_folder();
    odd_reads(b, path_in(&folder, "samples.csv", table));
    odd_writes(b, path_in(&folder, "written", other));
    odd_fits(b, path_in(&folder, "checkpoint", other));
    odd_models(b);
    odd_results(b);
    remove_folder(&folder);
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
    odd_files(&b);
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
