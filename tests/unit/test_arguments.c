/* test_arguments.c - what the public calls about data, models and files say when an argument is
 * missing: RLAR_E_ARG, one line that names the call, and nothing is written to the outputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "desk.h"

/* The call must be refused with exactly this text. */
#define REFUSED(call, text)                                                                        \
    do {                                                                                           \
        assert_int_equal(call, RLAR_E_ARG);                                                        \
        assert_string_equal(rlar_ctx_error(ctx), text);                                            \
    } while (0)

static rlar_data *small_data(rlar_ctx *ctx) {
    static const double x[] = {1, 2, 3, 4};
    const rlar_view view = {
        .size = sizeof view, .type = RLAR_F64, .n = 2, .d = 2, .x = x, .stride = 2};
    rlar_data *data = NULL;
    assert_int_equal(rlar_data_view(ctx, &view, &data), RLAR_OK);
    return data;
}

static void test_data(void **state) {
    (void)state;
    static const char *const names[] = {"a", "b"}, *const gap[] = {"a", NULL};
    static const char view_text[] = "rlar_data_view: ctx, view and out must not be NULL";
    static const char name_text[] = "name: ctx, data and name must not be NULL";
    static const char features_text[] = "features: ctx, data and names must not be NULL";
    const rlar_view view = RLAR_INIT(rlar_view);
    rlar_ctx *ctx = new_ctx();
    rlar_data *data = small_data(ctx), *none = NULL;
    assert_int_equal(rlar_data_view(NULL, &view, &none), RLAR_E_ARG);
    REFUSED(rlar_data_view(ctx, NULL, &none), view_text);
    REFUSED(rlar_data_view(ctx, &view, NULL), view_text);
    assert_int_equal(rlar_data_set_name(NULL, data, "x"), RLAR_E_ARG);
    REFUSED(rlar_data_set_name(ctx, NULL, "x"), name_text);
    REFUSED(rlar_data_set_name(ctx, data, NULL), name_text);
    assert_int_equal(rlar_data_set_features(NULL, data, names), RLAR_E_ARG);
    REFUSED(rlar_data_set_features(ctx, NULL, names), features_text);
    REFUSED(rlar_data_set_features(ctx, data, NULL), features_text);
    REFUSED(rlar_data_set_features(ctx, data, gap),
            "features: feature 1 has no name; name all 2 or none");
    assert_null(rlar_data_feature(data, 0));
    assert_int_equal(rlar_data_set_labels(NULL, data, names), RLAR_E_ARG);
    assert_int_equal(rlar_data_set_labels(ctx, data, NULL), RLAR_E_ARG);
    assert_int_equal(rlar_data_class_size(data, 0), 0);
    assert_int_equal(rlar_data_label(data, 0), -1);
    assert_null(none);
    rlar_data_free(data);
    end_ctx(ctx);
}

/* A name replaces the old one only when there was memory for both copies of it. */
static void test_name_without_memory(void **state) {
    (void)state;
    faulty f;
    rlar_ctx *ctx = new_faulty_ctx(&f);
    rlar_data *data = small_data(ctx);
    assert_int_equal(rlar_data_set_name(ctx, data, "first"), RLAR_OK);
    for (int left = 0; left < 2; left++) {
        f.left = left;
        assert_int_equal(rlar_data_set_name(ctx, data, "second"), RLAR_E_NOMEM);
        f.left = INT32_MAX;
        assert_string_equal(rlar_data_name(data), "first");
    }
    rlar_data_free(data);
    end_ctx(ctx);
}

static void test_reading(void **state) {
    (void)state;
    static const char read_text[] = "rlar_data_read: ctx, path and out must not be NULL";
    static const char open_text[] = "rlar_stream_open: ctx, path and out must not be NULL";
    static const char data_text[] = "rlar_stream_data: ctx, data and out must not be NULL";
    rlar_ctx *ctx = new_ctx();
    rlar_data *data = small_data(ctx), *none = NULL;
    const rlar_data *block = NULL;
    rlar_stream *stream = NULL;
    assert_int_equal(rlar_data_read(NULL, "x", NULL, &none), RLAR_E_ARG);
    REFUSED(rlar_data_read(ctx, NULL, NULL, &none), read_text);
    REFUSED(rlar_data_read(ctx, "x", NULL, NULL), read_text);
    assert_int_equal(rlar_stream_open(NULL, "x", NULL, &stream), RLAR_E_ARG);
    REFUSED(rlar_stream_open(ctx, NULL, NULL, &stream), open_text);
    REFUSED(rlar_stream_open(ctx, "x", NULL, NULL), open_text);
    assert_int_equal(rlar_stream_data(NULL, data, NULL, &stream), RLAR_E_ARG);
    REFUSED(rlar_stream_data(ctx, NULL, NULL, &stream), data_text);
    REFUSED(rlar_stream_data(ctx, data, NULL, NULL), data_text);
    assert_null(stream);
    assert_int_equal(rlar_stream_data(ctx, data, NULL, &stream), RLAR_OK);
    assert_int_equal(rlar_stream_next(NULL, 1, &block), RLAR_E_ARG);
    assert_int_equal(rlar_stream_next(stream, 1, NULL), RLAR_E_ARG);
    REFUSED(rlar_stream_next(stream, 0, &block),
            "rlar_stream_next: max_samples is 0; at least 1 is needed");
    assert_null(block);
    rlar_stream_free(stream);
    rlar_data_free(data);
    end_ctx(ctx);
}

static void test_writing(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_data *data = small_data(ctx);
    assert_int_equal(rlar_write_check(NULL, "x.csv", NULL), RLAR_E_ARG);
    REFUSED(rlar_write_check(ctx, NULL, NULL), "rlar_write_check: ctx and path are needed");
    assert_int_equal(rlar_write_check(ctx, "x.nonsense", NULL), RLAR_E_ARG);
    assert_int_equal(rlar_write_check(ctx, "x.csv.gz", NULL), RLAR_OK);
    assert_int_equal(rlar_data_write(NULL, data, "x.csv", NULL), RLAR_E_ARG);
    REFUSED(rlar_data_write(ctx, NULL, "x.csv", NULL),
            "rlar_data_write: data or path is NULL; give both");
    REFUSED(rlar_data_write(ctx, data, NULL, NULL),
            "rlar_data_write: data or path is NULL; give both");
    assert_int_equal(rlar_scale_check(NULL, "unit"), RLAR_E_ARG);
    assert_int_equal(rlar_scale_check(ctx, "nonsense"), RLAR_E_ARG);
    assert_int_equal(rlar_scale_check(ctx, "zscore,unit"), RLAR_OK);
    rlar_data_free(data);
    end_ctx(ctx);
}

static void test_models(void **state) {
    (void)state;
    static const char *const classes[] = {"x"};
    static const char load_text[] = "rlar_model_load: every argument is needed";
    static const char save_text[] = "rlar_model_save: every argument is needed";
    static const char bytes_text[] = "rlar_model_save_bytes: every argument is needed";
    rlar_ctx *ctx = new_ctx();
    rlar_model *model = make_model(ctx, NULL, 1, classes, 1), *none = NULL;
    void *bytes = NULL;
    size_t size = 7;
    assert_int_equal(rlar_model_load(NULL, "x", &none), RLAR_E_ARG);
    REFUSED(rlar_model_load(ctx, NULL, &none), load_text);
    REFUSED(rlar_model_load(ctx, "x", NULL), load_text);
    assert_int_equal(rlar_model_load_bytes(NULL, "x", 1, &none), RLAR_E_ARG);
    assert_int_equal(rlar_model_load_bytes(ctx, "x", 1, NULL), RLAR_E_ARG);
    assert_int_equal(rlar_model_load_bytes(ctx, NULL, 1, &none), RLAR_E_ARG);
    assert_int_equal(rlar_model_load_bytes(ctx, NULL, 0, &none), RLAR_E_MODEL);
    assert_int_equal(rlar_model_save(NULL, model, "x"), RLAR_E_ARG);
    REFUSED(rlar_model_save(ctx, NULL, "x"), save_text);
    REFUSED(rlar_model_save(ctx, model, NULL), save_text);
    assert_int_equal(rlar_model_save_bytes(NULL, model, &bytes, &size), RLAR_E_ARG);
    REFUSED(rlar_model_save_bytes(ctx, NULL, &bytes, &size), bytes_text);
    REFUSED(rlar_model_save_bytes(ctx, model, NULL, &size), bytes_text);
    REFUSED(rlar_model_save_bytes(ctx, model, &bytes, NULL), bytes_text);
    assert_null(none);
    assert_null(bytes);
    assert_int_equal(size, 7);
    rlar_model_free(model);
    end_ctx(ctx);
}

static void test_image(void **state) {
    (void)state;
    static const char text[] = "rlar_image_read: every argument is needed";
    desk d = new_desk();
    rlar_ctx *ctx = d.ctx;
    char path[512];
    double *grey = NULL;
    int64_t rows = 0, columns = 0;
    put(&d, "x.pgm", "P2 3 2 255 0 127 255\n1 2 3\n");
    path_in(&d.folder, "x.pgm", path);
    assert_int_equal(rlar_image_read(NULL, path, &grey, &rows, &columns), RLAR_E_ARG);
    REFUSED(rlar_image_read(ctx, NULL, &grey, &rows, &columns), text);
    REFUSED(rlar_image_read(ctx, path, NULL, &rows, &columns), text);
    REFUSED(rlar_image_read(ctx, path, &grey, NULL, &columns), text);
    REFUSED(rlar_image_read(ctx, path, &grey, &rows, NULL), text);
    assert_int_equal(rlar_image_read(ctx, d.folder.path, &grey, &rows, &columns), RLAR_E_IO);
    assert_null(grey);
    assert_int_equal(rlar_image_read(ctx, path, &grey, &rows, &columns), RLAR_OK);
    assert_int_equal(rows, 2);
    assert_int_equal(columns, 3);
    assert_true(grey[1] == 127 && grey[5] == 3);
    rlar_bytes_free(ctx, grey);
    end_desk(&d);
}

/* ---- Outputs of calls that fail ---- */

/* What a call may make, or, where it stands here before and after, has not touched. */
typedef struct made {
    rlar_ctx *ctx;
    rlar_data *data;
    rlar_params *params;
    rlar_model *model;
    rlar_stream *stream;
    rlar_file *file;
    rlar_eval *eval;
    rlar_rows *rows;
    void *bytes;
    double *grey;
    size_t size;
    int64_t rows_of, columns;
} made;

typedef struct bench {
    desk d;
    faulty f;
    rlar_ctx *ctx; /* whose memory ends when it is asked to */
    rlar_data *data;
    rlar_params *params;
    rlar_model *model;
    void *bytes;
    size_t size;
    rlar_eval_spec spec;
    rlar_occlusion occlusion;
} bench;

enum { CALLS = 17 };

/* Call number `call` of those that make something. */
static rlar_status make(bench *b, int call, made *m) {
    static const double x[] = {1, 2, 3, 4};
    const rlar_view view = {
        .size = sizeof view, .type = RLAR_F64, .n = 2, .d = 2, .x = x, .stride = 2};
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    char path[512], image[512], target[512];
    path_in(&b->d.folder, "x.csv", path);
    path_in(&b->d.folder, "x.pgm", image);
    path_in(&b->d.folder, "y", target);
    o.alloc = faulty_alloc;
    o.release = faulty_release;
    o.alloc_user = &b->f;
    switch (call) {
    case 0:
        return rlar_ctx_new(&o, &m->ctx);
    case 1:
        return rlar_params_new(b->ctx, "rlar", &m->params);
    case 2:
        return rlar_params_copy(b->ctx, b->params, &m->params);
    case 3:
        return rlar_params_new(b->ctx, "no method", &m->params);
    case 4:
        return rlar_data_view(b->ctx, &view, &m->data);
    case 5:
        return rlar_data_read(b->ctx, path, NULL, &m->data);
    case 6:
        return rlar_stream_open(b->ctx, path, NULL, &m->stream);
    case 7:
        return rlar_stream_data(b->ctx, b->data, NULL, &m->stream);
    case 8:
        return rlar_image_read(b->ctx, image, &m->grey, &m->rows_of, &m->columns);
    case 9:
        return rlar_fit(b->ctx, b->data, b->params, NULL, &m->model, NULL);
    case 10:
        return rlar_model_save_bytes(b->ctx, b->model, &m->bytes, &m->size);
    case 11:
        return rlar_model_load_bytes(b->ctx, b->bytes, b->size, &m->model);
    case 12:
        return rlar_eval_splits(b->ctx, b->data, &b->spec, &m->rows);
    case 13:
        return rlar_evaluate(b->ctx, b->data, &b->spec, &m->eval);
    case 14:
        return rlar_occlude(b->ctx, b->data, &b->occlusion, &m->data, &m->rows);
    case 15:
        return rlar_file_create(b->ctx, "/nowhere/at/all", &m->file);
    default:
        return rlar_file_create(b->ctx, target, &m->file);
    }
}

static void free_made(bench *b, const made *m, const made *before) {
#define MADE(member) (m->member == before->member ? NULL : m->member)
    rlar_ctx_free(MADE(ctx));
    rlar_data_free(MADE(data));
    rlar_params_free(MADE(params));
    rlar_model_free(MADE(model));
    rlar_stream_free(MADE(stream));
    rlar_file_abort(MADE(file));
    rlar_eval_free(MADE(eval));
    rlar_rows_free(MADE(rows));
    rlar_bytes_free(b->ctx, MADE(bytes));
    rlar_bytes_free(b->ctx, MADE(grey));
#undef MADE
}

static void bench_open(bench *b) {
    static const double y[] = {1, 1, 1, 2, 2, 2};
    static const double x[] = {1, 2, 2, 1, 1, 1, 5, 6, 6, 5, 7, 7};
    const rlar_view view = {
        .size = sizeof view, .type = RLAR_F64, .n = 6, .d = 2, .x = x, .stride = 2};
    *b = (bench){.d = new_desk()};
    b->ctx = new_faulty_ctx(&b->f);
    put(&b->d, "x.csv", small);
    put(&b->d, "x.pgm", "P2 3 2 255 0 127 255\n1 2 3\n");
    assert_int_equal(rlar_data_view(b->ctx, &view, &b->data), RLAR_OK);
    assert_int_equal(rlar_data_set_label_numbers(b->ctx, b->data, y), RLAR_OK);
    assert_int_equal(rlar_params_new(b->ctx, "rr", &b->params), RLAR_OK);
    assert_true(rlar_fit(b->ctx, b->data, b->params, NULL, &b->model, NULL) >= 0);
    assert_int_equal(rlar_model_save_bytes(b->ctx, b->model, &b->bytes, &b->size), RLAR_OK);
    b->spec = RLAR_INIT(rlar_eval_spec);
    b->spec.methods = (const rlar_params *const *)&b->params;
    b->spec.n_methods = 1;
    b->spec.per_class = 1;
    b->spec.trials = 1;
    b->occlusion = RLAR_INIT(rlar_occlusion);
    b->occlusion.per_class = b->occlusion.trials = b->occlusion.corrupted = 1;
    b->occlusion.block = b->occlusion.height = 1;
    b->occlusion.width = 2;
}

static void bench_close(bench *b) {
    rlar_bytes_free(b->ctx, b->bytes);
    rlar_model_free(b->model);
    rlar_params_free(b->params);
    rlar_data_free(b->data);
    end_ctx(b->ctx);
    end_desk(&b->d);
}

/* Whichever block of memory is not to be had, a call that fails leaves its outputs alone. */
static void test_failing_calls_write_nothing(void **state) {
    (void)state;
    enum { MANY = 2000 };
    bench b;
    made before;
    memset(&before, 0x5a, sizeof before);
    bench_open(&b);
    for (int call = 0; call < CALLS; call++) {
        rlar_status status = RLAR_E_NOMEM;
        for (int left = 0; left < MANY && status == RLAR_E_NOMEM; left++) {
            made m = before;
            b.f.left = left;
            status = make(&b, call, &m);
            b.f.left = INT32_MAX;
            if (status < 0 && memcmp(&m, &before, sizeof m) != 0)
                fail_msg("call %d, block %d: an output was written", call, left);
            free_made(&b, &m, &before);
        }
        if ((status < 0) != (call == 3 || call == 15))
            fail_msg("call %d ends with %d: %s", call, (int)status, rlar_ctx_error(b.ctx));
    }
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_name_without_memory),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_writing),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_image),
        cmocka_unit_test(test_failing_calls_write_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
