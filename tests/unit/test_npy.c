/* test_npy.c - NumPy arrays: known bytes, every dtype, byte order and layout, and everything that
 * must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "reading.h"

/* What NumPy 1.24 saves for [[1.5, -2], [3, 1e300], [0, 7]], for an int16 big-endian Fortran-order
 * [[1, 2, 3], [-4, 5, 600]], and for the texts 'ja', 'n\u00e9', ''. */
static const char npy_f8[] =
    "\x93\x4e\x55\x4d\x50\x59\x01\x00\x76\x00\x7b\x27\x64\x65\x73\x63\x72\x27\x3a\x20\x27\x3c"
    "\x66\x38\x27\x2c\x20\x27\x66\x6f\x72\x74\x72\x61\x6e\x5f\x6f\x72\x64\x65\x72\x27\x3a\x20"
    "\x46\x61\x6c\x73\x65\x2c\x20\x27\x73\x68\x61\x70\x65\x27\x3a\x20\x28\x33\x2c\x20\x32\x29"
    "\x2c\x20\x7d\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20"
    "\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20"
    "\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x0a\x00\x00\x00\x00"
    "\x00\x00\xf8\x3f\x00\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x08\x40\x9c\x75"
    "\x00\x88\x3c\xe4\x37\x7e\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x1c\x40";

static const char npy_i2_big_fortran[] =
    "\x93\x4e\x55\x4d\x50\x59\x01\x00\x76\x00\x7b\x27\x64\x65\x73\x63\x72\x27\x3a\x20\x27\x3e"
    "\x69\x32\x27\x2c\x20\x27\x66\x6f\x72\x74\x72\x61\x6e\x5f\x6f\x72\x64\x65\x72\x27\x3a\x20"
    "\x54\x72\x75\x65\x2c\x20\x27\x73\x68\x61\x70\x65\x27\x3a\x20\x28\x32\x2c\x20\x33\x29\x2c"
    "\x20\x7d\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20"
    "\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20"
    "\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x0a\x00\x01\xff\xfc"
    "\x00\x02\x00\x05\x00\x03\x02\x58";

static const char npy_text[] =
    "\x93\x4e\x55\x4d\x50\x59\x01\x00\x76\x00\x7b\x27\x64\x65\x73\x63\x72\x27\x3a\x20\x27\x3c"
    "\x55\x32\x27\x2c\x20\x27\x66\x6f\x72\x74\x72\x61\x6e\x5f\x6f\x72\x64\x65\x72\x27\x3a\x20"
    "\x46\x61\x6c\x73\x65\x2c\x20\x27\x73\x68\x61\x70\x65\x27\x3a\x20\x28\x33\x2c\x29\x2c\x20"
    "\x7d\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20"
    "\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20"
    "\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x20\x0a\x6a\x00\x00\x00"
    "\x61\x00\x00\x00\x6e\x00\x00\x00\xe9\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00";

typedef struct npy_bytes {
    char bytes[8192];
    size_t size;
} npy_bytes;

/* An array file from a header text and its values. */
static npy_bytes build(int version, const char *header, const void *values, size_t size) {
    npy_bytes b = {.size = 0};
    const size_t length = strlen(header);
    memcpy(b.bytes, "\x93NUMPY", 6);
    b.bytes[6] = (char)version;
    b.bytes[8] = (char)(length & 0xFF);
    b.bytes[9] = (char)(length >> 8);
    b.size = version == 1 ? 10 : 12;
    memcpy(b.bytes + b.size, header, length);
    b.size += length;
    if (size > 0)
        memcpy(b.bytes + b.size, values, size);
    b.size += size;
    return b;
}

static npy_bytes simple(const char *descr, const char *shape, const void *values, size_t size) {
    char header[256];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n",
             descr, shape);
    return build(1, header, values, size);
}

static const rlar_format *const npy = &rlar__format_npy;

static rlar_data *read_all(rlar_ctx *ctx, const char *bytes, size_t size, size_t step,
                           const char *label) {
    rlar_read_options options = RLAR_INIT(rlar_read_options);
    rlar_data *data;
    options.label = label;
    const rlar_status status = feed(ctx, npy, bytes, size, step, &options, &data);
    if (status < 0)
        print_error("%s\n", rlar_ctx_error(ctx));
    assert_int_equal(status, RLAR_OK);
    return data;
}

static void known_bytes_any_cut(void **state) {
    (void)state;
    const double expected[] = {1.5, -2, 3, 1e300, 0, 7};
    rlar_ctx *ctx = new_ctx();
    for (size_t step = 1; step < sizeof npy_f8; step += 5) {
        rlar_data *data = read_all(ctx, npy_f8, sizeof npy_f8 - 1, step, "none");
        assert_int_equal(rlar_data_samples(data), 3);
        assert_int_equal(rlar_data_dims(data), 2);
        for (int k = 0; k < 6; k++)
            assert_true(value_at(data, k / 2, k % 2) == expected[k]);
        rlar_data_free(data);
    }
    end_ctx(ctx);
}

static void big_endian_fortran(void **state) {
    (void)state;
    const double expected[] = {1, 2, 3, -4, 5, 600};
    rlar_ctx *ctx = new_ctx();
    for (size_t step = 1; step < 200; step += 50) {
        rlar_data *data =
            read_all(ctx, npy_i2_big_fortran, sizeof npy_i2_big_fortran - 1, step, "none");
        assert_int_equal(rlar_data_dims(data), 3);
        for (int k = 0; k < 6; k++)
            assert_true(value_at(data, k / 3, k % 3) == expected[k]);
        rlar_data_free(data);
    }
    end_ctx(ctx);
}

static void last_column_is_the_label(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_data *data = read_all(ctx, npy_f8, sizeof npy_f8 - 1, 11, NULL);
    assert_int_equal(rlar_data_dims(data), 1);
    assert_int_equal(rlar_data_classes(data), 3);
    assert_string_equal(label_at(data, 0), "-2");
    assert_string_equal(label_at(data, 2), "7");
    rlar_data_free(data);
    end_ctx(ctx);
}

/* 2^53 and 2^53 + 1 are one double, but two classes; in a list of labels, too. */
static void large_labels(void **state) {
    (void)state;
    static const uint64_t values[] = {1, 9007199254740992, 2, 9007199254740993};
    static const char samples[] = "1,2\n3,4\n";
    char x[512], y[512];
    rlar_ctx *ctx = new_ctx();
    rlar_read_options options = RLAR_INIT(rlar_read_options);
    const temp_folder t = new_folder();
    for (int i = 0; i < 3; i++) {
        rlar_data *data = NULL;
        if (i < 2) {
            const npy_bytes b = simple(i ? "<u8" : "<i8", "(2, 2)", values, sizeof values);
            data = read_all(ctx, b.bytes, b.size, 11, NULL);
        } else {
            const npy_bytes b = simple("<i8", "(2,)", (const uint64_t[]){values[1], values[3]}, 16);
            write_bytes(&t, "y.npy", b.bytes, b.size);
            write_bytes(&t, "x.csv", samples, sizeof samples - 1);
            options.labels_file = path_in(&t, "y.npy", y);
            assert_int_equal(rlar_data_read(ctx, path_in(&t, "x.csv", x), &options, &data),
                             RLAR_OK);
        }
        assert_int_equal(rlar_data_classes(data), 2);
        assert_string_equal(label_at(data, 0), "9007199254740992");
        assert_string_equal(label_at(data, 1), "9007199254740993");
        rlar_data_free(data);
    }
    remove_folder(&t);
    end_ctx(ctx);
}

/* The values 1 and -2 (unsigned: 254 and alike) in each dtype. */
static void every_dtype(void **state) {
    (void)state;
    static const struct {
        const char *descr;
        const char *bytes;
        size_t size;
        double second;
    } cases[] = {
        {"<f8", "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\xc0", 16, -2},
        {">f8", "\x3f\xf0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 16, -2},
        {"<f4", "\0\0\x80\x3f\0\0\0\xc0", 8, -2},
        {">f4", "\x3f\x80\0\0\xc0\0\0\0", 8, -2},
        {"|i1", "\1\xfe", 2, -2},
        {"<i2", "\1\0\xfe\xff", 4, -2},
        {">i2", "\0\1\xff\xfe", 4, -2},
        {"<i4", "\1\0\0\0\xfe\xff\xff\xff", 8, -2},
        {">i4", "\0\0\0\1\xff\xff\xff\xfe", 8, -2},
        {"<i8", "\1\0\0\0\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff", 16, -2},
        {">i8", "\0\0\0\0\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xfe", 16, -2},
        {"|u1", "\1\xfe", 2, 254},
        {"<u2", "\1\0\xfe\xff", 4, 65534},
        {">u4", "\0\0\0\1\xff\xff\xff\xfe", 8, 4294967294.0},
        {"<u8", "\1\0\0\0\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff", 16, 18446744073709551614.0},
        {"|b1", "\1\0", 2, 0},
    };
    rlar_ctx *ctx = new_ctx();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const npy_bytes b = simple(cases[i].descr, "(2,)", cases[i].bytes, cases[i].size);
        rlar_data *data = read_all(ctx, b.bytes, b.size, 3, "none");
        assert_int_equal(rlar_data_samples(data), 2);
        assert_int_equal(rlar_data_dims(data), 1);
        assert_true(value_at(data, 0, 0) == 1);
        assert_true(value_at(data, 1, 0) == cases[i].second);
        rlar_data_free(data);
    }
    end_ctx(ctx);
}

static void versions_and_spellings(void **state) {
    (void)state;
    static const char *const headers[] = {
        "{'descr':'|u1','fortran_order':False,'shape':(1,2)}",
        "{\"shape\": (1L, 2L), \"descr\": \"|u1\", \"fortran_order\": True}   \n",
        " { 'fortran_order' : False , 'descr' : '|u1' , 'shape' : ( 1 , 2 , ) , } \n",
    };
    rlar_ctx *ctx = new_ctx();
    for (size_t h = 0; h < 3; h++)
        for (int version = 1; version <= 3; version++) {
            const npy_bytes b = build(version, headers[h], "\5\6", 2);
            rlar_data *data = read_all(ctx, b.bytes, b.size, 1, "none");
            assert_true(value_at(data, 0, 0) == 5 && value_at(data, 0, 1) == 6);
            rlar_data_free(data);
        }
    end_ctx(ctx);
}

/* Text arrays are lists of labels: read by a sink for labels only. */
static void text_cells(void **state) {
    (void)state;
    const char *const expected[] = {"ja", "n\xc3\xa9"};
    rlar_ctx *ctx = new_ctx();
    const rlar_read_options none = RLAR_INIT(rlar_read_options);
    const rlar_sink_setup setup = {
        .file = "f", .options = &none, .whole = true, .label_only = true};
    rlar_sink *sink = NULL;
    void *parser = NULL;
    assert_int_equal(rlar__sink_new(ctx, &setup, &sink), RLAR_OK);
    assert_int_equal(rlar__calloc(ctx, 1, npy->state_size, "a parser", &parser), RLAR_OK);
    assert_int_equal(npy->open(ctx, parser, sink, &none, "f"), RLAR_OK);
    /* Two of the three texts: the third is empty, which is a missing label. */
    for (size_t i = 0; i + 1 < sizeof npy_text - 8; i++)
        assert_int_equal(npy->feed(parser, npy_text + i, 1), RLAR_OK);
    for (int i = 0; i < 2; i++)
        assert_string_equal(rlar__texts_at(&sink->raw.texts, i), expected[i]);
    npy->close(parser);
    rlar__free(parser);
    rlar__sink_free(sink);
    end_ctx(ctx);
}

static void expect_header_refused(rlar_ctx *ctx, const char *header, const char *expected) {
    const npy_bytes b = build(1, header, "", 0);
    expect_refused(ctx, npy, b.bytes, b.size, expected);
}

static void refused_headers(void **state) {
    (void)state;
    static const char *const dtypes[] = {"<c16", "|O",  "<f2", "<f16", "<M8[ns]",
                                         "f8",   "<i3", "|V8", "",     "<U0"};
    static const char *const damaged[] = {
        "",
        "{",
        "{}",
        "[]",
        "{'descr': '<f8'}",
        "{'descr': '<f8', 'descr': '<f8'}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1)} x",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1 1)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f8', 'fortran_order': 1, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order: False, 'shape': (1,)}",
        "{'descr': __import__('os'), 'fortran_order': False, 'shape': (1,)}",
        "{'other': '<f8', 'fortran_order': False, 'shape': (1,)}",
    };
    rlar_ctx *ctx = new_ctx();
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        const npy_bytes b = simple(dtypes[i], "(1, 1)", "12345678", 8);
        expect_refused(ctx, npy, b.bytes, b.size, "accepted are f8");
        assert_non_null(strstr(rlar_ctx_error(ctx), dtypes[i]));
    }
    const npy_bytes newline = simple("a\nb", "(1, 1)", "12345678", 8);
    expect_refused(ctx, npy, newline.bytes, newline.size, "dtype 'a\\x0ab'"); /* one line */
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++)
        expect_header_refused(ctx, damaged[i], i == 0 ? "f: " : "NPY header");
    expect_header_refused(ctx, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}",
                          "structured");
    expect_header_refused(ctx, "{'descr': '<f8', 'fortran_order': False, 'shape': ()}",
                          "0 dimensions");
    expect_header_refused(ctx, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3, 4)}",
                          "reshape");
    expect_header_refused(ctx, "{'descr': '<U3', 'fortran_order': False, 'shape': (2, 3)}",
                          "one dimension");
    end_ctx(ctx);
}

/* What the header declares must not cost memory or time before the bytes are there. */
static void declared_sizes_cost_nothing(void **state) {
    (void)state;
    static const char *const shapes[] = {"(4611686018427387904, 2)", "(9223372036854775807,)",
                                         "(3, 9223372036854775807)", "(9223372036854775807, 0)",
                                         "(1000000000000, 1000)",    "(1, 1000000000000)",
                                         "(0, 1000000000000)"};
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    options.max_memory = 100000;
    rlar_ctx *ctx = NULL;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const npy_bytes b = simple("<f8", shapes[i], "12345678", i == 6 ? 0 : 8);
        rlar_data *data;
        assert_int_equal(feed(ctx, npy, b.bytes, b.size, 1, NULL, &data), RLAR_E_DATA);
        const npy_bytes u = simple("|U100000000", "(99999999999,)", "12345678", 8);
        assert_int_equal(feed(ctx, npy, u.bytes, u.size, 1, NULL, &data), RLAR_E_DATA);
    }
    end_ctx(ctx);
}

static void wrong_lengths(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    expect_truncation_refused(ctx, npy, npy_f8, sizeof npy_f8 - 1);
    expect_truncation_refused(ctx, npy, npy_i2_big_fortran, sizeof npy_i2_big_fortran - 1);
    expect_refused(ctx, npy, npy_f8, sizeof npy_f8, "bytes after"); /* one NUL more */
    expect_refused(ctx, npy, npy_i2_big_fortran, sizeof npy_i2_big_fortran, "bytes after");
    expect_refused(ctx, npy, "hello", 5, "not a NumPy array");
    expect_refused(ctx, npy, "\x93NUMPY\4\0\0\0", 10, "version 4.0");
    expect_refused(ctx, npy, "\x93NUMPY\2\0\1\0\1\0", 12, "65537 bytes; the limit is 65536");
    end_ctx(ctx);
}

static void damaged_bits(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    survive_flips(ctx, npy, npy_f8, sizeof npy_f8 - 1);
    survive_flips(ctx, npy, npy_text, sizeof npy_text - 1);
    end_ctx(ctx);
}

static void bad_values(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    const npy_bytes nan =
        simple("<f4", "(2, 2)", "\0\0\x80\x3f\0\0\x80\x3f\0\0\xc0\x7f\0\0\x80\x3f", 16);
    expect_refused(ctx, npy, nan.bytes, nan.size, "f:2:1: the value is missing");
    const npy_bytes inf = simple("<f4", "(1, 2)", "\0\0\x80\x7f\0\0\x80\x3f", 8);
    expect_refused(ctx, npy, inf.bytes, inf.size, "not finite");
    const npy_bytes code = simple("<U1", "(1,)", "\0\xd8\0\0", 4);
    expect_refused(ctx, npy, code.bytes, code.size, "U+D800");
    const npy_bytes nul = simple("|S3", "(1,)", "a\0b", 3);
    expect_refused(ctx, npy, nul.bytes, nul.size, "no character");
    end_ctx(ctx);
}

static void memory_faults(void **state) {
    (void)state;
    survive_faults(npy, npy_f8, sizeof npy_f8 - 1);
    survive_faults(npy, npy_i2_big_fortran, sizeof npy_i2_big_fortran - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_faults),
        cmocka_unit_test(known_bytes_any_cut),
        cmocka_unit_test(big_endian_fortran),
        cmocka_unit_test(last_column_is_the_label),
        cmocka_unit_test(large_labels),
        cmocka_unit_test(every_dtype),
        cmocka_unit_test(versions_and_spellings),
        cmocka_unit_test(text_cells),
        cmocka_unit_test(refused_headers),
        cmocka_unit_test(declared_sizes_cost_nothing),
        cmocka_unit_test(wrong_lengths),
        cmocka_unit_test(damaged_bits),
        cmocka_unit_test(bad_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
