/* test_csv.c - CSV and TSV: quotes, separators, headers, the label column, missing values, and what
 * is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "reading.h"

static const rlar_format *const csv = &rlar__format_csv;

static rlar_data *read_as(rlar_ctx *ctx, const rlar_format *format, const char *text, size_t step,
                          const rlar_read_options *options) {
    rlar_data *data;
    const rlar_status status = feed(ctx, format, text, strlen(text), step, options, &data);
    if (status < 0)
        print_error("%s\n", rlar_ctx_error(ctx));
    assert_int_equal(status, RLAR_OK);
    return data;
}

/* The same outcome for every cut of the bytes; returns the last. */
static rlar_data *read_all_cuts(rlar_ctx *ctx, const char *text, const rlar_read_options *options) {
    rlar_data *first = read_as(ctx, csv, text, strlen(text) + 1, options);
    for (size_t step = 1; step < 9; step++) {
        rlar_data *data = read_as(ctx, csv, text, step, options);
        assert_int_equal(rlar_data_samples(data), rlar_data_samples(first));
        assert_int_equal(rlar_data_dims(data), rlar_data_dims(first));
        for (int64_t i = 0; i < rlar_data_samples(data); i++) {
            assert_int_equal(rlar_data_label(data, i), rlar_data_label(first, i));
            for (int64_t j = 0; j < rlar_data_dims(data); j++)
                assert_true(value_at(data, i, j) == value_at(first, i, j) ||
                            isnan(value_at(data, i, j)));
        }
        rlar_data_free(data);
    }
    return first;
}

static void refuse_with(rlar_ctx *ctx, const char *text, const rlar_read_options *options,
                        rlar_status code, const char *expected) {
    for (size_t step = 1; step < 200; step += 99) {
        rlar_data *data;
        const rlar_status status = feed(ctx, csv, text, strlen(text), step, options, &data);
        if (status != code || strcmp(rlar_ctx_error(ctx), expected) != 0)
            fail_msg("status %d, text\n  %s\ninstead of\n  %s", (int)status, rlar_ctx_error(ctx),
                     expected);
        assert_null(data);
    }
}

static void refuse(const char *text, const char *expected) {
    rlar_ctx *ctx = new_ctx();
    refuse_with(ctx, text, NULL, RLAR_E_DATA, expected);
    end_ctx(ctx);
}

static void test_quotes_and_line_ends(void **state) {
    (void)state;
    static const char text[] = "\xef\xbb\xbf\r\n\r\n\"a, b\",\"say \"\"hi\"\"\",class\r\n"
                               "1, 2 ,\"two; words\"\r\n"
                               "\r\n"
                               "\"3\" ,4, \"x,y\"\r"
                               "  \n"
                               "5,6,plain";
    rlar_ctx *ctx = new_ctx();
    rlar_data *data = read_all_cuts(ctx, text, NULL);
    assert_int_equal(rlar_data_samples(data), 3);
    assert_int_equal(rlar_data_dims(data), 2);
    assert_string_equal(rlar_data_feature(data, 0), "a, b");
    assert_string_equal(rlar_data_feature(data, 1), "say \"hi\"");
    assert_null(rlar_data_feature(data, 2));
    assert_string_equal(label_at(data, 0), "two; words");
    assert_string_equal(label_at(data, 1), "x,y");
    assert_string_equal(label_at(data, 2), "plain");
    assert_true(value_at(data, 0, 1) == 2 && value_at(data, 1, 0) == 3 &&
                value_at(data, 2, 1) == 6);
    rlar_data_free(data);
    end_ctx(ctx);
    refuse("a,\"b\nc\",class\n1,2,x\n", "f:1:2: the column name 'b\\x0ac' has a control character, "
                                        "such as a line break; take it out");
    refuse("a,class\n1,x\n2,\"two\nlines\"\n",
           "f:3:2: the class name 'two\\x0alines' has a control "
           "character, such as a line break; take it out");
    refuse("a,class\n1,x\n2,\xff\n",
           "f:3:2: the class name '\xff' is not UTF-8 text; save the file as UTF-8");
}

static void test_separators(void **state) {
    (void)state;
    static const char *const texts[] = {"1,2,a\n3,4,b\n",     "1;2;a\n3;4;b\n",
                                        "1\t2\ta\n3\t4\tb\n", "  1   2 a  \n3 4\t b\n",
                                        "1 , 2 , a\n3,4,b",   "\xef\xbb\xbf\r\n \n1;2;a\n3;4;b\n"};
    rlar_ctx *ctx = new_ctx();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        rlar_data *data = read_all_cuts(ctx, texts[i], NULL);
        assert_int_equal(rlar_data_samples(data), 2);
        assert_int_equal(rlar_data_dims(data), 2);
        assert_true(value_at(data, 1, 1) == 4);
        assert_string_equal(label_at(data, 1), "b");
        assert_null(rlar_data_feature(data, 0));
        rlar_data_free(data);
    }
    rlar_data *data = read_as(ctx, &rlar__format_tsv, "x, 1\ty\n1\t2,5\n3\tb\n", 1, NULL);
    assert_int_equal(rlar_data_samples(data), 2);
    assert_string_equal(rlar_data_feature(data, 0), "x, 1");
    assert_string_equal(label_at(data, 0), "2,5");
    rlar_data_free(data);
    end_ctx(ctx);
}

static void check_header(const char *text, int header, const char *label, bool expected) {
    rlar_ctx *ctx = new_ctx();
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    o.header = header;
    o.label = label;
    o.missing = RLAR_MISSING_KEEP;
    rlar_data *data = read_all_cuts(ctx, text, &o);
    if ((rlar_data_feature(data, 0) != NULL) != expected)
        fail_msg("'%s': header %s", text, expected ? "not seen" : "seen");
    rlar_data_free(data);
    end_ctx(ctx);
}

static void test_header_guess(void **state) {
    (void)state;
    check_header("a,b,c\n1,2,x\n", 0, NULL, true);
    check_header("1,2,x\n3,4,y\n", 0, NULL, false);
    check_header("1,2,y\n3,4,n\n", 0, NULL, false); /* y is a class here */
    check_header("1,2,y\n3,4,7\n", 0, NULL, true);  /* and a name there */
    check_header("1100,1102,class\n1,2,x\n", 0, NULL, true);
    check_header("1100,1102,kind\n1,2,x\n3,4,kind\n", 0, NULL, false);
    check_header("1100,1102,kind\n1,2,x\n", 0, "kind", true);
    check_header("1,2,a\n3,4,1\n", 0, NULL, false);      /* labels may mix letters and digits */
    check_header(",a,b,kind\n0,1,2,x\n", 0, NULL, true); /* an index column without a name */
    check_header("?,?,x\n1,2,y\n", 0, NULL, false);
    check_header("a,b,c\n?,?,x\n", 0, NULL, true);
    check_header("1,2,3\n4,5,6\n", 0, NULL, false);
    check_header("400.0,450.0,500.0,550.0,species\n5.1,3.5,1.4,0.2,setosa\n", 0, NULL, true);
    check_header("400,450,500,y\n5.1,3.5,1.4,no\n", 0, NULL, true);
    check_header("400,450,species\n5.1,3.5,setosa\n", 0, NULL, false); /* too few to tell */
    check_header("400,450,440,species\n5.1,3.5,9,setosa\n", 0, NULL, false);
    check_header("1,2,3,group\n4,5,6,single\n", 0, NULL, false); /* samples that climb */
    check_header("400,450,500,species\n", 0, NULL, false);       /* nothing to compare with */
    check_header("0,1,2,3,4\n5.1,3.5,1.4,0.2,0\n", 0, NULL, true);
    check_header("0,1,2,3\n5,3,1,setosa\n", 0, NULL, true);
    check_header("0,1,2,3,4\n5,3,1,0,0\n", 0, NULL, false);
    check_header(",0,1,2\n0,5,3,1\n", 0, NULL, true);
    check_header("0,1\n5.1,3.5\n", 0, NULL, false);
    check_header("1,2,3\n4,5,6\n", 1, NULL, true);
    check_header("v\n1\n2\n", 0, "none", true);
    check_header("1\n2\n", 0, "none", false);
    check_header("\"1\",\"2\",\"x\"\n3,4,y\n", -1, NULL, false);
    rlar_ctx *ctx = new_ctx();
    rlar_data *data = read_as(ctx, csv, ",a,kind\n0,1,x\n", 1, NULL);
    assert_string_equal(rlar_data_feature(data, 0), "column1");
    rlar_data_free(data);
    end_ctx(ctx);
}

static void keep_text(void *user, rlar_status code, const char *text) {
    assert_int_equal(code, RLAR_W_GUESS);
    snprintf(user, RLAR_ERROR_SIZE, "%s", text);
}

/* What is said of a table; "" where nothing is doubtful. */
static void check_told(const char *text, int header, const char *expected) {
    char told[RLAR_ERROR_SIZE] = "";
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    rlar_ctx *ctx = NULL;
    options.log = keep_text;
    options.user = told;
    o.header = header;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    rlar_data_free(read_as(ctx, csv, text, 5, &o));
    assert_string_equal(told, expected);
    end_ctx(ctx);
}

static void test_header_doubt(void **state) {
    (void)state;
    static const char names[] =
        "f:1: the first line was taken for names; if it is a sample, use --header no, else "
        "--header yes";
    static const char sample[] =
        "f:2: the first line was taken for a sample; if it holds names, use --header yes, else "
        "--header no";
    check_told("0.1,0.2,target\n0.3,0.1,other\n", 0, names);
    check_told("0.1,0.2,target\n0.3,0.1,other\n", 1, "");
    check_told("0.1,0.2,target\n0.3,0.1,other\n", -1, "");
    check_told("a,b,target\n0.3,0.1,other\n", 0, "");
    check_told("1,2,y\n3,4,7\n", 0, names);
    check_told("400,450,500,550,600,class\n5.1,3.5,1.4,0.2,1,setosa\n", 0, "");
    check_told("\n400,450,500,550,600,fruit\n5.1,3.5,1.4,0.2,1,setosa\n", 0, sample);
    check_told("\n400,450,500,550,600\n5.1,3.5,1.4,0.2,1\n", 0, sample);
    check_told("\n0,1,2,3,4\n5,3,1,0,0\n", 0, sample);
    check_told("0,1,2,3,4\n5.1,3.5,1.4,0.2,0\n", 0, "");
    check_told("400.0,450.0,500.0,550.0,species\n5.1,3.5,1.4,0.2,setosa\n", 0, "");
    check_told("1,2,3,4,5,a\n2,3,4,5,6,b\n", 0, "");
    check_told("5.1,3.5,1.4,0.2,setosa\n4.9,3.0,1.4,0.2,virginica\n", 0, "");
}

/* The numbers of the rows that data frames write are a feature like any other, unless told. */
static void test_index_column(void **state) {
    (void)state;
    static const char expected[] =
        "f:1: column 1 has no name and is taken for a feature, column1; if it counts the samples, "
        "take it out of the file";
    check_told(",a,b,kind\n0,1,2,x\n1,3,4,y\n", 0, expected);
    check_told("\"\",\"a\",\"kind\"\n\"1\",1,\"x\"\n\"2\",3,\"y\"\n", 0, expected);
    check_told(",a,,kind\n0,1,2,x\n1,3,4,y\n", 0, "");
    check_told("i,a,b,kind\n0,1,2,x\n1,3,4,y\n", 0, "");
}

static void check_label(const char *label, const char *features, const char *first_label) {
    static const char text[] = "y,a,Class,b\n1,2,3,4\n5,6,7,8\n";
    rlar_ctx *ctx = new_ctx();
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    char found[64] = "";
    o.label = label;
    rlar_data *data = read_all_cuts(ctx, text, &o);
    for (int64_t j = 0; j < rlar_data_dims(data); j++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s ",
                 rlar_data_feature(data, j));
    assert_string_equal(found, features);
    if (first_label)
        assert_string_equal(label_at(data, 0), first_label);
    else
        assert_int_equal(rlar_data_classes(data), 0);
    rlar_data_free(data);
    end_ctx(ctx);
}

static void test_label_rule(void **state) {
    (void)state;
    check_label(NULL, "y a b ", "3"); /* class comes before y in the rule */
    check_label("y", "a Class b ", "1");
    check_label("1", "a Class b ", "1");
    check_label("-1", "y a Class ", "4");
    check_label("-4", "a Class b ", "1");
    check_label("none", "y a Class b ", NULL);
    rlar_ctx *ctx = new_ctx();
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    o.label = "colour";
    refuse_with(ctx, "a,b,c,d,e,f,g,h,i,j,k\n1,2,3,4,5,6,7,8,9,10,11\n", &o, RLAR_E_ARG,
                "f: there is no column 'colour' for the label; the 11 columns are a, b, c, d, e, "
                "f, g, h, i, "
                "j, ...");
    o.label = "4";
    refuse_with(ctx, "1,2,3\n", &o, RLAR_E_ARG,
                "f: there is no column '4' for the label; the table has no header and 3 columns: "
                "use 1 to 3, "
                "or -1 for the last");
    o.label = "0";
    refuse_with(ctx, "a,b\n1,2\n", &o, RLAR_E_ARG,
                "f: there is no column '0' for the label; the 2 columns are a, b");
    end_ctx(ctx);
}

static void test_expected_features(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    o.features = 2;
    rlar_data *data = read_all_cuts(ctx, "1,2\n3,4\n", &o);
    assert_int_equal(rlar_data_classes(data), 0);
    rlar_data_free(data);
    data = read_all_cuts(ctx, "1,2,a\n3,4,a\n", &o);
    assert_int_equal(rlar_data_classes(data), 1);
    assert_int_equal(rlar_data_class_size(data, 0), 2);
    rlar_data_free(data);
    refuse_with(ctx, "1,2,3,a\n", &o, RLAR_E_DATA,
                "f: 4 columns (a label and 3 features), but 2 features are expected");
    refuse_with(ctx, "1\n", &o, RLAR_E_DATA,
                "f: 1 columns (a label and 0 features), but 2 features are expected");
    end_ctx(ctx);
}

/* In quotes a label is a name as it stands, in the rows that wait for the header and behind them;
 * a feature is not, and nothing at all is missing in quotes as well. */
static void test_quoted_labels(void **state) {
    (void)state;
    static const char *const names[] = {"na", " NaN", "?", "b", "nan ", "b"};
    rlar_ctx *ctx = new_ctx();
    rlar_data *data = read_all_cuts(
        ctx, "1,2,\"na\"\n1,2,\" NaN\"\n1,2,\"?\"\n1,2, b \n1,2,\"nan \" \n1,2,\"b\"", NULL);
    for (int i = 0; i < 6; i++)
        assert_string_equal(label_at(data, i), names[i]);
    rlar_data_free(data);
    refuse("1,2,\"x\"\n1,2,na\n", "f:2:3: the label is missing; every sample needs one "
                                  "(--missing drop leaves such samples out)");
    refuse("1,2,\"x\"\n1,2,\"\"\n", "f:2:3: the label is missing; every sample needs one "
                                    "(--missing drop leaves such samples out)");
    refuse("1,2,\"x\"\n1,\"na\",y\n", "f:2:2: the value is missing, the first of 1 in the file; "
                                      "fill in column means (--missing mean) or leave such "
                                      "samples out (--missing drop)");
    end_ctx(ctx);
}

static void test_missing(void **state) {
    (void)state;
    static const char text[] = "a,b,label\n1,?,x\n , 2,y\n3,Na,x\n4,4,x\n";
    rlar_ctx *ctx = new_ctx();
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    refuse_with(ctx, text, &o, RLAR_E_DATA,
                "f:2:2: the value is missing, the first of 3 in the file; fill in column means "
                "(--missing mean) or leave such samples out (--missing drop)");
    o.missing = RLAR_MISSING_DROP;
    rlar_data *data = read_all_cuts(ctx, text, &o);
    assert_int_equal(rlar_data_samples(data), 1);
    assert_int_equal(rlar_data_classes(data), 1); /* y went with its only sample */
    assert_int_equal(rlar_data_missing(data), 3);
    rlar_data_free(data);
    o.missing = RLAR_MISSING_MEAN;
    data = read_all_cuts(ctx, text, &o);
    assert_int_equal(rlar_data_samples(data), 4);
    assert_true(value_at(data, 1, 0) == 8.0 / 3);
    assert_true(value_at(data, 0, 1) == 3 && value_at(data, 2, 1) == 3);
    rlar_data_free(data);
    o.missing = RLAR_MISSING_KEEP;
    data = read_all_cuts(ctx, text, &o);
    assert_true(isnan(value_at(data, 0, 1)) && isnan(value_at(data, 1, 0)));
    rlar_data_free(data);
    o.missing = RLAR_MISSING_MEAN;
    refuse_with(
        ctx, "1,NaN,x\n2,,y\n", &o, RLAR_E_DATA,
        "f: feature 2 has no mean to fill in: all its values are missing; remove the column");
    o.missing = RLAR_MISSING_DROP;
    refuse_with(ctx, "1,nan,x\n2,,y\n", &o, RLAR_E_DATA,
                "f: each of the 2 samples has a missing value, so none is left");
    data = read_all_cuts(ctx, "1,2,x\n2,3,?\n3,4,\n", &o); /* labels may be missing, too */
    assert_int_equal(rlar_data_samples(data), 1);
    rlar_data_free(data);
    end_ctx(ctx);
    refuse("1,2,x\n2,3,?\n", "f:2:3: the label is missing; every sample needs one "
                             "(--missing drop leaves such samples out)");
}

static void test_bad_cells(void **state) {
    (void)state;
    refuse("a,b,label\n1,2,x\n3,abc,y\n",
           "f:3:2: 'abc' in column 'b' is not a number; expected a number or a "
           "missing value (empty, ?, NA, nan)");
    refuse("1,2,x\n3,inf,y\n", "f:2:2: 'inf' is not finite; values must be finite, or missing");
    refuse("1,2,x\n3,-Infinity,y\n",
           "f:2:2: '-Infinity' is not finite; values must be finite, or missing");
    refuse("1,2,x\n1e999,2,y\n",
           "f:2:1: '1e999' is larger than the largest double, 1.8e308; rescale the column");
    refuse("a;b;label\n1;2,5;x\n",
           "f:2:2: '2,5' in column 'b' is not a number; write the decimal point as '.'");
    refuse("1,2,x\n1,\"\x01\x7f ab\tc\",y\n",
           "f:2:2: '\\x01\\x7f ab\\x09c' is not a number; expected a number or "
           "a missing value (empty, ?, NA, nan)");
    refuse("1,2,x\n1,aaaaaaaaaabbbbbbbbbbccccccccccddddddddde\xc3\xa9zz,y\n",
           "f:2:2: 'aaaaaaaaaabbbbbbbbbbccccccccccddddddddde...' is not a number; expected a "
           "number or a missing "
           "value (empty, ?, NA, nan)");
    refuse("gene,1,2,species\n2,3,4,x\n",
           "f:1:1: 'gene' is not a number; if the first line holds the names of the columns, use "
           "--header yes");
    /* With newlines in quotes, the line is the one where the row starts. */
    refuse("1,2,x\n\"3\n\n\",q,y\n",
           "f:2:2: 'q' is not a number; expected a number or a missing value (empty, ?, NA, nan)");
    refuse("1,2,x\n1,2,y\n\"3\n\n\",q,y\n",
           "f:3:2: 'q' is not a number; expected a number or a missing value (empty, ?, NA, nan)");
}

static void test_bad_structure(void **state) {
    (void)state;
    refuse("1,2,x\n1,2\n", "f:2: the row has 2 cells, but the table has 3 columns; check the "
                           "separator and the quotes");
    refuse("1,2,x\n\n1,2,y,oops\n", "f:3: the row has 4 cells, but the table has 3 columns; check "
                                    "the separator and the quotes");
    /* The missing cell is the news, not that y is no number. */
    refuse("1,2,x\n1,y\n", "f:2: the row has 2 cells, but the table has 3 columns; check the "
                           "separator and the quotes");
    refuse("1,2,x\n1,\"2,y\n3,4,z\n", "f:2:2: the quote that opens here is never closed");
    refuse(
        "1,2,x\n1,\"2\"3,y\n",
        "f:2:2: '3' after the closing quote; expected a separator, or a doubled quote for a quote");
    refuse("1,2,x\n1,2,\"y\" \"z\"\n",
           "f:2:3: '\"' after the closing quote; expected a separator, or a doubled quote for a "
           "quote");
    refuse("a\nb\nc\n",
           "f: the only column is taken for the label, so there are no features; check the "
           "separator, or use --label none");
    refuse("", "f: empty file, no samples");
    refuse("\n \r\n\n", "f: empty file, no samples");
    refuse("a,b,c\n", "f: header only, no samples");
}

static void test_nul_and_long_fields(void **state) {
    (void)state;
    static const char nul[] = "1,2,x\n1,2\0,y\n", quoted[] = "1,2,x\n1,\"2\0\",y\n";
    rlar_ctx *ctx = new_ctx();
    expect_refused(ctx, csv, nul, sizeof nul - 1,
                   "f:2:2: a NUL byte; the file is binary or UTF-16, text in UTF-8 is expected");
    expect_refused(ctx, csv, quoted, sizeof quoted - 1, "f:2:2: a NUL byte");
    const size_t size = (1 << 20) + 100;
    char *text = malloc(size);
    memset(text, '7', size);
    memcpy(text, "1,2\n1,", 6);
    expect_refused(ctx, csv, text, size,
                   "f:2:2: the field is longer than 1 MiB; a closing quote may be missing");
    text[6] = '"';
    expect_refused(ctx, csv, text, size, "f:2:2: the field is longer than 1 MiB");
    text[7] = '"';
    expect_refused(ctx, csv, text, size, "f:2:2: '7' after the closing quote");
    free(text);
    end_ctx(ctx);
}

static void test_no_crash(void **state) {
    (void)state;
    static const char text[] = "\xef\xbb\xbf"
                               "a,\"b\"\"c\",y\r\n1,2,\"x\ny\"\n3,?,z\n";
    rlar_ctx *ctx = new_ctx();
    survive_flips(ctx, csv, text, sizeof text - 1);
    survive_flips(ctx, &rlar__format_tsv, text, sizeof text - 1);
    end_ctx(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quotes_and_line_ends),
                                       cmocka_unit_test(test_separators),
                                       cmocka_unit_test(test_header_guess),
                                       cmocka_unit_test(test_header_doubt),
                                       cmocka_unit_test(test_index_column),
                                       cmocka_unit_test(test_label_rule),
                                       cmocka_unit_test(test_expected_features),
                                       cmocka_unit_test(test_quoted_labels),
                                       cmocka_unit_test(test_missing),
                                       cmocka_unit_test(test_bad_cells),
                                       cmocka_unit_test(test_bad_structure),
                                       cmocka_unit_test(test_nul_and_long_fields),
                                       cmocka_unit_test(test_no_crash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
