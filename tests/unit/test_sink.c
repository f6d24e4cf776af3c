/* test_sink.c - what the sink of the readers refuses of a parser, and what it makes of labels and
 * sizes that no file of a test's size leads to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "data/window.h"
#include "desk.h"

static const rlar_place place = {.file = "f", .line = 3, .column = 2};

static rlar_sink *new_sink(rlar_ctx *ctx, const rlar_read_options *options) {
    const rlar_sink_setup setup = {.file = "f", .options = options, .whole = true};
    rlar_sink *sink = NULL;
    assert_int_equal(rlar__sink_new(ctx, &setup, &sink), RLAR_OK);
    return sink;
}

static void test_order_of_calls(void **state) {
    (void)state;
    const rlar_read_options options = RLAR_INIT(rlar_read_options);
    const double row[] = {1, 2, 3};
    rlar_ctx *ctx = new_ctx();
    rlar_sink *sink = new_sink(ctx, &options);
    assert_int_equal(rlar__sink_row(sink, &place), RLAR_E_INTERNAL);
    assert_string_equal(rlar_ctx_error(ctx), "f:3:2: a row before its columns; report this");
    assert_int_equal(rlar__sink_columns(sink, 3, NULL, NULL), RLAR_OK);
    assert_int_equal(rlar__sink_numbers(sink, &place, 3, row, NULL, 0), RLAR_OK);
    assert_int_equal(rlar__sink_numbers(sink, &place, 2, row, NULL, 0), RLAR_E_DATA);
    assert_string_equal(rlar_ctx_error(ctx),
                        "f:3: the row has 2 cells, but the table has 3 columns; check the "
                        "separator and the quotes");
    rlar__sink_free(sink);
    end_ctx(ctx);
}

static void test_sizes(void **state) {
    (void)state;
    const rlar_read_options options = RLAR_INIT(rlar_read_options);
    const double row[] = {1, 2, 3};
    rlar_ctx *ctx = new_ctx();
    rlar_sink *sink = new_sink(ctx, &options);
    assert_int_equal(rlar__sink_columns(sink, 3, NULL, NULL), RLAR_OK);
    assert_int_equal(rlar__sink_numbers(sink, &place, 3, row, NULL, 0), RLAR_OK);
    assert_int_equal(rlar__sink_reserve(sink, INT64_MAX - 1), RLAR_E_TOO_LARGE);
    assert_string_equal(rlar_ctx_error(ctx),
                        "f: 9223372036854775807 samples of 2 features do not fit 64 bits");
    rlar__sink_free(sink);
    end_ctx(ctx);
}

static void test_sparse_values(void **state) {
    (void)state;
    const rlar_read_options options = RLAR_INIT(rlar_read_options);
    const int64_t index[] = {0, 4};
    const double value[] = {1, INFINITY};
    const rlar_place at = {.file = "f"}; /* a place without a line */
    rlar_ctx *ctx = new_ctx();
    rlar_sink *sink = new_sink(ctx, &options);
    assert_int_equal(rlar__sink_sparse(sink, &at, 2, index, value, "a", 1), RLAR_E_DATA);
    assert_string_equal(rlar_ctx_error(ctx), "f: the value of index 5 is not finite");
    rlar__sink_free(sink);
    end_ctx(ctx);
}

/* A label has no blanks around it, whichever way it came; an empty one is missing. */
static void test_labels_without_blanks(void **state) {
    (void)state;
    const rlar_read_options options = RLAR_INIT(rlar_read_options);
    const double row[] = {1};
    rlar_ctx *ctx = new_ctx();
    rlar_sink *sink = new_sink(ctx, &options);
    rlar_data *data = NULL;
    assert_int_equal(rlar__sink_columns(sink, 1, NULL, NULL), RLAR_OK);
    assert_int_equal(rlar__sink_numbers(sink, &place, 1, row, " \t a b\t ", 8), RLAR_OK);
    assert_int_equal(rlar__sink_numbers(sink, &place, 1, row, "a b", 3), RLAR_OK);
    assert_int_equal(rlar__sink_numbers(sink, &place, 1, row, NULL, 0), RLAR_E_DATA);
    assert_string_equal(rlar_ctx_error(ctx),
                        "f:3:2: the row has no label, but rows before it have one");
    assert_int_equal(rlar__sink_finish(sink), RLAR_OK);
    assert_int_equal(rlar__data_new(ctx, "f", "test", "f", &data), RLAR_OK);
    assert_int_equal(rlar__sink_take(sink, data), RLAR_OK);
    assert_int_equal(rlar_data_classes(data), 1);
    assert_string_equal(rlar_data_class(data, 0), "a b");
    rlar_data_free(data);
    rlar__sink_free(sink);
    end_ctx(ctx);
}

/* Thirty thousand times more memory than bytes: the window leaves the rows to the parser, which
 * refuses where the bytes read so far no longer justify them. */
static void test_window_is_not_justified(void **state) {
    (void)state;
    enum { ROWS = 500 };
    desk d = new_desk();
    char text[6 * ROWS + 1] = "", path[512];
    for (int i = 0; i < ROWS; i++)
        memcpy(text + 6 * i, "a 1:1\n", 7);
    put(&d, "x.svm", text);
    path_in(&d.folder, "x.svm", path);
    d.options.features = 200000;
    for (int64_t piece = 16; piece <= 4096; piece *= 16) {
        const rlar_window_size window = {.piece = piece, .pieces = 4};
        rlar_data *data = NULL;
        assert_int_equal(rlar__data_read(d.ctx, path, &d.options, &window, &data), RLAR_E_DATA);
        assert_non_null(strstr(rlar_ctx_error(d.ctx), "200000 features make a dense table"));
        assert_null(data);
    }
    end_desk(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_calls),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_sparse_values),
        cmocka_unit_test(test_labels_without_blanks),
        cmocka_unit_test(test_window_is_not_justified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
