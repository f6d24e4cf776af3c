/* test_arff.c - ARFF: declarations, quotes, sparse rows, missing values, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "reading.h"

static const rlar_format *const arff = &rlar__format_arff;

static const char flowers[] = "\xEF\xBB\xBF% a comment\r\n"
                              "@RELATION 'small flowers'\r\n"
                              "\r\n"
                              "@Attribute 'sepal length' REAL   % in cm\r\n"
                              "@attribute\twidth\tNumeric\r\n"
                              "@attribute Class{setosa,'not \\'setosa\\'',  \"x,y\"}\r\n"
                              "@attribute count integer\r\n"
                              "@DATA\r\n"
                              "% rows\r\n"
                              "5.1, 3.5, setosa, 1\r\n"
                              "  4.9 ,-3e-1,'not \\'setosa\\'',2 % why\r\n"
                              "1 2 \"x,y\" 3\r\n";

static rlar_data *read_text(rlar_ctx *ctx, const char *text, size_t step,
                            const rlar_read_options *options) {
    rlar_data *data;
    const rlar_status status = feed(ctx, arff, text, strlen(text), step, options, &data);
    if (status < 0)
        print_error("%s\n", rlar_ctx_error(ctx));
    assert_int_equal(status, RLAR_OK);
    return data;
}

static void refuse(rlar_ctx *ctx, const char *text, const char *expected) {
    expect_refused(ctx, arff, text, strlen(text), expected);
}

static void dense_rows_any_cut(void **state) {
    (void)state;
    const char *const labels[] = {"setosa", "not 'setosa'", "x,y"};
    rlar_ctx *ctx = new_ctx();
    for (size_t step = 1; step < sizeof flowers; step += 3) {
        rlar_data *data = read_text(ctx, flowers, step, NULL);
        assert_int_equal(rlar_data_samples(data), 3);
        assert_int_equal(rlar_data_dims(data), 3);
        assert_string_equal(rlar_data_feature(data, 0), "sepal length");
        assert_string_equal(rlar_data_feature(data, 2), "count");
        for (int i = 0; i < 3; i++) {
            assert_string_equal(label_at(data, i), labels[i]);
            assert_true(value_at(data, i, 2) == i + 1);
        }
        assert_true(value_at(data, 1, 1) == -0.3);
        rlar_data_free(data);
    }
    end_ctx(ctx);
}

/* A text that a sparse row does not mention is empty: a missing label. */
static void sparse_row_without_label(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    const char text[] = "@relation r\n@attribute a real\n@attribute s string\n@data\n"
                        "{0 1, 1 'v'}\n{0 2}\n";
    expect_refused(ctx, arff, text, sizeof text - 1, "f:6:2: the label is missing");
    end_ctx(ctx);
}

/* A nominal attribute of one value has that one. */
static void sparse_row_of_one_class(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_data *data =
        read_text(ctx, "@attribute a real\n@attribute c {only}\n@data\n{0 1}\n{ }\n", 5, NULL);
    assert_string_equal(label_at(data, 0), "only");
    assert_string_equal(label_at(data, 1), "only");
    rlar_data_free(data);
    end_ctx(ctx);
}

/* Values that are left out: 0, or the first nominal value. */
/* Rows of three bytes each, of attributes that none of them has. */
static void sparse_rows_of_nothing(void **state) {
    (void)state;
    enum { ATTRIBUTES = 1000, ROWS = 60000, ROOM = 32 * ATTRIBUTES + 3 * ROWS };
    rlar_ctx *ctx = new_ctx();
    char *text = malloc(ROOM), *at = text + sprintf(text, "@relation r\n");
    assert_non_null(text);
    for (int i = 0; i < ATTRIBUTES; i++)
        at += sprintf(at, "@attribute a%d real\n", i);
    at += sprintf(at, "@data\n");
    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, "{}\n");
    refuse(ctx, text,
           "the limit is 1000 times the text plus 64 MiB: leave out the features that "
           "no sample has");
    free(text);
    end_ctx(ctx);
}

static void sparse_rows(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_data *data =
        read_text(ctx,
                  "@attribute a numeric\n@attribute b numeric\n@attribute c {no, yes}\n@data\n"
                  "{0 1.5, 2 yes}\n{1 -2}\n{ }\n{ 0 1,1 2 , 2 'yes' } % all",
                  5, NULL);
    const double expected[] = {1.5, 0, 0, -2, 0, 0, 1, 2};
    const char *const labels[] = {"yes", "no", "no", "yes"};
    for (int i = 0; i < 4; i++) {
        assert_true(value_at(data, i, 0) == expected[2 * i]);
        assert_true(value_at(data, i, 1) == expected[2 * i + 1]);
        assert_string_equal(label_at(data, i), labels[i]);
    }
    rlar_data_free(data);
    end_ctx(ctx);
}

static void label_rule(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    const char *text =
        "@attribute y {1,2}\n@attribute a {3,4}\n@attribute b numeric\n@data\n1,3,5\n2,4,6\n";
    rlar_data *data = read_text(ctx, text, 9, NULL);
    assert_string_equal(label_at(data, 1), "2"); /* by name; nominal numbers are numbers */
    assert_true(value_at(data, 1, 0) == 4);
    rlar_data_free(data);
    rlar_read_options options = RLAR_INIT(rlar_read_options);
    options.label = "a";
    data = read_text(ctx, text, 9, &options);
    assert_string_equal(label_at(data, 0), "3");
    rlar_data_free(data);
    data = read_text(ctx, "@attribute a numeric\n@attribute b string\n@data\n1,'some text'\n2,?x\n",
                     9, NULL);
    assert_string_equal(label_at(data, 0), "some text"); /* the last */
    rlar_data_free(data);
    end_ctx(ctx);
}

/* A value that the declaration lists is a name; only ? is missing, and not in quotes. */
static void names_like_missing_values(void **state) {
    (void)state;
    static const char *const names[] = {"na", "NaN", "?", "na"};
    rlar_ctx *ctx = new_ctx();
    rlar_data *data =
        read_text(ctx,
                  "@relation r\n@attribute a numeric\n@attribute class {na,NaN,'?'}\n@data\n"
                  "1,na\n2,'NaN'\n3,'?'\n{0 4}\n",
                  7, NULL);
    for (int i = 0; i < 4; i++)
        assert_string_equal(label_at(data, i), names[i]);
    rlar_data_free(data);
    refuse(ctx, "@relation r\n@attribute a numeric\n@attribute class {na,b}\n@data\n1,na\n2,?\n",
           "f:6:2: the label is missing");
    end_ctx(ctx);
}

static void missing_values(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    const char *text = "@attribute a numeric\n@attribute b {u,v}\n@data\n1,u\n?,v\n3,u\n";
    refuse(ctx, text, "f:5:1: the value is missing");
    rlar_read_options options = RLAR_INIT(rlar_read_options);
    options.missing = RLAR_MISSING_MEAN;
    rlar_data *data = read_text(ctx, text, 100, &options);
    assert_true(value_at(data, 1, 0) == 2);
    assert_int_equal(rlar_data_missing(data), 1);
    rlar_data_free(data);
    end_ctx(ctx);
}

#define TWO "@attribute a numeric\n@attribute b {u,v}\n"

static void refused(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    refuse(ctx, "", "without @data");
    refuse(ctx, "@relation x\n", "without @data");
    refuse(ctx, "@data\n1\n", "@data before any @attribute");
    refuse(ctx, "hello\n", "f:1: expected @relation");
    refuse(ctx, "@attribute\n", "name of an attribute");
    refuse(ctx, "@attribute t date 'yyyy'\n", "attribute 't' has type 'date'");
    refuse(ctx, "@attribute r relational\n", "'relational'");
    refuse(ctx, "@attribute a {x, y\n", "nominal value or }");
    refuse(ctx, "@attribute a {x, {y}}\n", "nominal value or }");
    refuse(ctx, "@attribute 'a numeric\n", "closing quote");
    refuse(ctx, "@attribute a numeric numeric\n", "end of the line");
    refuse(ctx, TWO "@data x\n", "end of the line");
    refuse(ctx, TWO "@data\n", "no samples");
    refuse(ctx, TWO "@data\n1\n", "f:4:1: fewer values than the 2 attributes");
    refuse(ctx, TWO "@data\n1,u,2\n", "more values than the 2 attributes");
    refuse(ctx, TWO "@data\n1,u,\n", "more values");
    refuse(ctx, TWO "@data\n1,w\n", "f:4:2: 'w' is not among the declared values of attribute 'b'");
    refuse(ctx, TWO "@data\nx,u\n", "'x' in column 'a' is not a number");
    refuse(ctx, TWO "@data\n1,u,{2}\n", "instance weights");
    refuse(ctx, TWO "@data\n{0 1,\n", "index of an attribute");
    refuse(ctx, TWO "@data\n{2 1}\n", "counted from 0");
    refuse(ctx, TWO "@data\n{-1 1}\n", "counted from 0");
    refuse(ctx, TWO "@data\n{1 u, 0 3}\n", "increasing");
    refuse(ctx, TWO "@data\n{0 1, 0 3}\n", "increasing");
    refuse(ctx, TWO "@data\n{0}\n", "value after the index");
    refuse(ctx, TWO "@data\n{0 1 1 u}\n", "comma or }");
    refuse(ctx, TWO "@data\n{0 1} 7\n", "end of the line");
    refuse(ctx, "@attribute c {red,blue}\n@attribute y {1,2}\n@data\nred,1\n", "in column 'c'");
    expect_refused(ctx, arff, TWO "@data\n1,\0u\n", sizeof(TWO "@data\n1,\0u\n") - 1, "NUL byte");
    end_ctx(ctx);
}

/* A cut at a line's end is a shorter table, so truncation may be accepted; it must never crash. */
static void cut_and_flipped(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    for (size_t cut = 0; cut < sizeof flowers; cut++) {
        rlar_data *data;
        const rlar_status status = feed(ctx, arff, flowers, cut, 4, NULL, &data);
        assert_true(status == RLAR_OK || strlen(rlar_ctx_error(ctx)) > 0);
        rlar_data_free(data);
    }
    survive_flips(ctx, arff, flowers, sizeof flowers - 1);
    const char sparse[] = TWO "@data\n{0 1, 1 'v'}\n{1 u}\n";
    survive_flips(ctx, arff, sparse, sizeof sparse - 1);
    end_ctx(ctx);
}

static void memory_faults(void **state) {
    (void)state;
    const char sparse[] = TWO "@data\n{0 1, 1 'v'}\n{1 u}\n";
    survive_faults(arff, flowers, sizeof flowers - 1);
    survive_faults(arff, sparse, sizeof sparse - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_faults),
        cmocka_unit_test(dense_rows_any_cut),
        cmocka_unit_test(sparse_rows),
        cmocka_unit_test(sparse_rows_of_nothing),
        cmocka_unit_test(sparse_row_without_label),
        cmocka_unit_test(sparse_row_of_one_class),
        cmocka_unit_test(label_rule),
        cmocka_unit_test(names_like_missing_values),
        cmocka_unit_test(missing_values),
        cmocka_unit_test(refused),
        cmocka_unit_test(cut_and_flipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
