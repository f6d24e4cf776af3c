/* test_libsvm.c - sparse rows as text: indices, labels, comments, widths, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "reading.h"

static const rlar_format *const svm = &rlar__format_libsvm;

static rlar_data *read_text(rlar_ctx *ctx, const char *text, size_t step,
                            const rlar_read_options *options) {
    rlar_data *data;
    const rlar_status status = feed(ctx, svm, text, strlen(text), step, options, &data);
    if (status < 0)
        print_error("%s\n", rlar_ctx_error(ctx));
    assert_int_equal(status, RLAR_OK);
    return data;
}

static void refuse_with(const char *text, const rlar_read_options *options, rlar_status code,
                        const char *expected) {
    rlar_ctx *ctx = new_ctx();
    for (size_t step = 1; step < 200; step += 99) {
        rlar_data *data;
        const rlar_status status = feed(ctx, svm, text, strlen(text), step, options, &data);
        if (status != code || strcmp(rlar_ctx_error(ctx), expected) != 0)
            fail_msg("status %d, text\n  %s\ninstead of\n  %s", (int)status, rlar_ctx_error(ctx),
                     expected);
    }
    end_ctx(ctx);
}

static void refuse(const char *text, const char *expected) {
    refuse_with(text, NULL, RLAR_E_DATA, expected);
}

static void test_rows(void **state) {
    (void)state;
    static const char text[] = "\xef\xbb\xbf# a comment\n"
                               "+1 1:0.5 3:-2e1 # why\r\n"
                               "\n"
                               "-1 qid:7\t2:1.5\n"
                               "1.0\n"
                               "10  4:1";
    rlar_ctx *ctx = new_ctx();
    for (size_t step = 1; step < sizeof text + 1; step += 5) {
        rlar_data *data = read_text(ctx, text, step, NULL);
        assert_int_equal(rlar_data_samples(data), 4);
        assert_int_equal(rlar_data_dims(data), 4);
        assert_int_equal(rlar_data_classes(data), 3); /* +1 and 1.0 are one class */
        assert_string_equal(label_at(data, 0), "1");
        assert_string_equal(label_at(data, 1), "-1");
        assert_string_equal(label_at(data, 2), "1");
        assert_string_equal(rlar_data_class(data, 2), "10");
        assert_true(value_at(data, 0, 0) == 0.5 && value_at(data, 0, 2) == -20);
        assert_true(value_at(data, 1, 1) == 1.5 && value_at(data, 1, 0) == 0);
        assert_true(value_at(data, 2, 3) == 0 && value_at(data, 3, 3) == 1);
        rlar_data_free(data);
    }
    end_ctx(ctx);
}

static void test_zero_based(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_data *data = read_text(ctx, "a 0:1 2:3\nb 1:7\n", 3, NULL);
    assert_int_equal(rlar_data_dims(data), 3);
    assert_true(value_at(data, 0, 0) == 1 && value_at(data, 1, 1) == 7);
    rlar_data_free(data);
    end_ctx(ctx);
    refuse("a 1:1\nb 0:7\n",
           "f:2:2: '0:7' has index 0, but indices start at 1; a file that counts from 0 must "
           "show an index 0 in its first row");
}

static void test_labels(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_data *data = read_text(ctx, "1:2 2:3\n2:4\n", 1, NULL); /* none at all */
    assert_int_equal(rlar_data_classes(data), 0);
    assert_true(value_at(data, 1, 1) == 4);
    rlar_data_free(data);
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    o.label = "1";
    assert_int_equal(feed(ctx, &rlar__format_libsvm, "a 1:1\n", 6, 3, &o, &data), RLAR_E_ARG);
    assert_string_equal(rlar_ctx_error(ctx),
                        "f: there is no label column '1': samples of this format have their labels "
                        "with them; leave --label out, or use --label none or --labels FILE");
    o.label = "none";
    data = read_text(ctx, "a 1:2\nb 1:3\n", 1, &o);
    assert_int_equal(rlar_data_classes(data), 0);
    rlar_data_free(data);
    end_ctx(ctx);
    refuse("1,2 1:1\n", "f:1:1: '1,2' names several labels; one label per sample is supported");
    refuse("a 1:1\n1:1\n", "f:2: the row has no label, but rows before it have one");
    refuse("a:b 1:1\n", "f:1:1: 'a:b' stands where the label is expected");
    refuse("? 1:1\n", "f:1: the label is missing; every sample needs one (--missing drop leaves "
                      "such samples out)");
}

static void test_refusals(void **state) {
    (void)state;
    refuse("", "f: empty file, no samples");
    refuse("# only a comment\n", "f: empty file, no samples");
    refuse("1\n2\n", "f: no row has a feature; expected 'label index:value ...'");
    refuse("1 2:1 2:3\n",
           "f:1:3: '2:3' has an index that does not increase; sort the indices of a row");
    refuse("1 2:1 1:3\n",
           "f:1:3: '1:3' has an index that does not increase; sort the indices of a row");
    refuse("1 a:1\n", "f:1:2: 'a:1' has no index before the colon; expected a whole number from 1");
    refuse("1 -1:1\n",
           "f:1:2: '-1:1' has no index before the colon; expected a whole number from 1");
    refuse("1 9223372036854775807:1\n",
           "f:1:2: '9223372036854775807:1' has an index that is too large");
    refuse("1 5\n", "f:1:2: '5' is not index:value");
    refuse("1 1:\n", "f:1:2: '1:' is not index:value with a finite number as value");
    refuse("1 1:inf\n", "f:1:2: '1:inf' is not index:value with a finite number as value");
    refuse("1 1:1e999\n", "f:1:2: '1:1e999' is larger than the largest double, 1.8e308");
    refuse("1 1:nan 2:1\n2 2:?\n",
           "f:1: the value is missing, the first of 2 in the file; fill in column means "
           "(--missing mean) or leave such samples out (--missing drop)");
    rlar_ctx *ctx = new_ctx();
    static const char nul[] = "1 1:1\n2 1:\0\n";
    expect_refused(ctx, svm, nul, sizeof nul - 1, "f:2: a NUL byte");
    end_ctx(ctx);
}

/* A few bytes must not be able to ask for gigabytes. */
static void test_width(void **state) {
    (void)state;
    refuse("1 1:1\n1 1000000000:1\n",
           "f:2: 1000000000 features make a dense table of 16000.0 MB for 2 samples, from 21 bytes "
           "of text; the limit is 1000 times the text plus 64 MiB: check the largest index, or "
           "renumber the features");
    refuse("1 9223372036854775806:1\n1 1:1\n",
           "f:1: 9223372036854775806 features make a dense table of 147573952589676.4 MB for 2 "
           "samples, from 30 bytes of text; the limit is 1000 times the text plus 64 MiB: check "
           "the largest index, or renumber the features");
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    o.features = 3;
    refuse_with("1 1:1\n2 4:1\n", &o, RLAR_E_DATA,
                "f:2: index 4 is beyond the 3 features expected");
    rlar_ctx *ctx = new_ctx();
    rlar_data *data = read_text(ctx, "1 1:1\n2 2:1\n", 1, &o);
    assert_int_equal(rlar_data_dims(data), 3);
    rlar_data_free(data);
    o.features = 100000000;
    refuse_with("1 1:1\n", &o, RLAR_E_DATA,
                "f:1: 100000000 features make a dense table of 800.0 MB for 1 samples, from 6 "
                "bytes of text; the limit is 1000 times the text plus 64 MiB: check the largest "
                "index, or renumber the features");
    end_ctx(ctx);
}

/* 85 short rows of 100000 features are more than 64 MiB; a long comment after them makes up for it.
 * Neither depends on how much is read at a time, and one byte less in the comment is refused. */
static void test_width_does_not_depend_on_pieces(void **state) {
    (void)state;
    enum { ROWS = 85, D = 100000, LIMIT = 64 << 20 };
    static const size_t steps[] = {1, 7, 100, 4096, 1 << 20};
    const size_t need = ((size_t)ROWS * D * sizeof(double) - LIMIT + 999) / 1000;
    char *text = malloc(need + 1);
    for (int enough = 0; enough < 2; enough++) {
        const size_t size = need - 1 + (size_t)enough;
        memset(text, '#', size);
        for (int i = 0; i < ROWS; i++)
            memcpy(text + (size_t)i * 6, i % 2 ? "1 1:1\n" : "2 2:1\n", 6);
        for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
            rlar_ctx *ctx = new_ctx();
            rlar_read_options o = RLAR_INIT(rlar_read_options);
            rlar_data *data = NULL;
            o.features = D;
            const rlar_status status = feed(ctx, svm, text, size, steps[k], &o, &data);
            assert_int_equal(status, enough ? RLAR_OK : RLAR_E_DATA);
            if (enough)
                assert_true(rlar_data_dims(data) == D && rlar_data_samples(data) == ROWS);
            else
                assert_non_null(
                    strstr(rlar_ctx_error(ctx),
                           "f:1: 100000 features make a dense table of 68.0 MB for 85 samples"));
            rlar_data_free(data);
            end_ctx(ctx);
        }
    }
    free(text);
    /* Rows without any feature have the width that is asked for. */
    rlar_ctx *ctx = new_ctx();
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    o.features = 3;
    rlar_data *data = read_text(ctx, "1\n2\n", 1, &o);
    assert_int_equal(rlar_data_dims(data), 3);
    rlar_data_free(data);
    end_ctx(ctx);
    o.features = D * 100;
    refuse_with(
        "1\n2\n", &o, RLAR_E_DATA,
        "f: 10000000 features make a dense table of 160.0 MB for 2 samples, from 4 bytes of "
        "text; the limit is 1000 times the text plus 64 MiB: check the largest index, or "
        "renumber the features");
}

static void test_missing(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    o.missing = RLAR_MISSING_MEAN;
    rlar_data *data = read_text(ctx, "1 1:1 2:4\n2 1:NA\n2 1:3\n", 2, &o);
    assert_true(value_at(data, 1, 0) == 2 && value_at(data, 1, 1) == 0);
    assert_int_equal(rlar_data_missing(data), 1);
    rlar_data_free(data);
    o.missing = RLAR_MISSING_DROP;
    data = read_text(ctx, "1 1:1 2:4\n2 1:NA\n3 1:3\n", 2, &o);
    assert_int_equal(rlar_data_samples(data), 2);
    assert_int_equal(rlar_data_classes(data), 2);
    assert_true(value_at(data, 1, 0) == 3);
    rlar_data_free(data);
    end_ctx(ctx);
}

static void test_no_crash(void **state) {
    (void)state;
    static const char text[] = "+1 1:0.5 3:-2e1 # why\n-1 qid:7 2:1.5\n1.0\n";
    rlar_ctx *ctx = new_ctx();
    survive_flips(ctx, svm, text, sizeof text - 1);
    end_ctx(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_zero_based),
        cmocka_unit_test(test_labels),  cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_width),   cmocka_unit_test(test_width_does_not_depend_on_pieces),
        cmocka_unit_test(test_missing), cmocka_unit_test(test_no_crash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
