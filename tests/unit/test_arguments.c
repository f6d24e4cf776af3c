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
    REFUSED(rlar_model_save(ctx, model, "-"),
            "a model cannot be written to standard output; name a file (./- for one of this name)");
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data),    cmocka_unit_test(test_name_without_memory),
        cmocka_unit_test(test_reading), cmocka_unit_test(test_writing),
        cmocka_unit_test(test_models),  cmocka_unit_test(test_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
