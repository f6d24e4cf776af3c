/* test_write.c - writing data: the exact text of the text formats, round trips of the others, gzip
 * without a date, what is refused and that a refusal leaves nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <zlib.h>

#include "reading.h"

enum { N = 4, D = 3 };

static const double values[N * D] = {0.1, -2, 0,       1e-300, 1.7976931348623157e308, 5e-324, 0, 0,
                                     0,   3,  1.0 / 3, -0.5};

static rlar_data *make_data(rlar_ctx *ctx, const double *x, const char *const *labels,
                            const char *const *features) {
    const rlar_view view = {
        .size = sizeof view, .type = RLAR_F64, .n = N, .d = D, .x = x, .stride = D};
    rlar_data *data = NULL;
    assert_int_equal(rlar_data_view(ctx, &view, &data), RLAR_OK);
    if (labels)
        assert_int_equal(rlar_data_set_labels(ctx, data, labels), RLAR_OK);
    if (features)
        assert_int_equal(rlar_data_set_features(ctx, data, features), RLAR_OK);
    return data;
}

/* A file, gunzipped where it is gzipped. */
typedef struct content {
    char bytes[8192];
    size_t size;
} content;

static content slurp(const temp_folder *t, const char *name) {
    char buf[512];
    content c;
    gzFile file = gzopen(path_in(t, name, buf), "rb");
    assert_non_null(file);
    const int size = gzread(file, c.bytes, sizeof c.bytes - 1);
    assert_true(size >= 0);
    c.size = (size_t)size;
    c.bytes[c.size] = '\0';
    assert_int_equal(gzclose(file), Z_OK);
    return c;
}

static void write_ok(rlar_ctx *ctx, const rlar_data *data, const temp_folder *t, const char *name,
                     const char *format) {
    char buf[512];
    const rlar_status status = rlar_data_write(ctx, data, path_in(t, name, buf), format);
    if (status < 0)
        print_error("%s\n", rlar_ctx_error(ctx));
    assert_int_equal(status, RLAR_OK);
}

static void expect_text(rlar_ctx *ctx, const rlar_data *data, const temp_folder *t,
                        const char *name, const char *expected) {
    write_ok(ctx, data, t, name, NULL);
    const content c = slurp(t, name);
    assert_string_equal(c.bytes, expected);
}

static int count_files(const temp_folder *t) {
    DIR *dir = opendir(t->path);
    int count = 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return count;
}

static void expect_refusal(rlar_ctx *ctx, const rlar_data *data, const char *path,
                           const char *format, rlar_status code, const char *expected) {
    assert_int_equal(rlar_data_write(ctx, data, path, format), code);
    if (!strstr(rlar_ctx_error(ctx), expected))
        print_error("expected \"%s\", got \"%s\"\n", expected, rlar_ctx_error(ctx));
    assert_non_null(strstr(rlar_ctx_error(ctx), expected));
}

/* ---- Text ---- */

static const char *const odd_labels[N] = {"it's", "a,b", "say \"hi\"", "a,b"};
static const char *const odd_names[D] = {"x 1", "y,2", "z"};

static void tables(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    const temp_folder t = new_folder();
    rlar_data *data = make_data(ctx, values, odd_labels, odd_names);
    expect_text(
        ctx, data, &t, "a.csv",
        "x 1,\"y,2\",z,class\n0.1,-2,0,it's\n1e-300,1.7976931348623157e+308,5e-324,\"a,b\"\n"
        "0,0,0,\"say \"\"hi\"\"\"\n3,0.3333333333333333,-0.5,\"a,b\"\n");
    expect_text(
        ctx, data, &t, "a.TSV.gz",
        "x 1\ty,2\tz\tclass\n0.1\t-2\t0\tit's\n1e-300\t1.7976931348623157e+308\t5e-324\ta,b\n"
        "0\t0\t0\t\"say \"\"hi\"\"\"\n3\t0.3333333333333333\t-0.5\ta,b\n");
    rlar_data_free(data);
    data = make_data(ctx, values, NULL, NULL);
    expect_text(ctx, data, &t, "b.csv",
                "f1,f2,f3\n0.1,-2,0\n1e-300,1.7976931348623157e+308,5e-324\n0,0,0\n"
                "3,0.3333333333333333,-0.5\n");
    rlar_data_free(data);
    remove_folder(&t);
    end_ctx(ctx);
}

static void libsvm(void **state) {
    (void)state;
    const char *const labels[N] = {"1", "-1", "1", "good"};
    rlar_ctx *ctx = new_ctx();
    const temp_folder t = new_folder();
    rlar_data *data = make_data(ctx, values, labels, odd_names);
    expect_text(ctx, data, &t, "a.svm",
                "1 1:0.1 2:-2 3:0\n-1 1:1e-300 2:1.7976931348623157e+308 3:5e-324\n1\n"
                "good 1:3 2:0.3333333333333333 3:-0.5\n");
    rlar_data_free(data);
    data = make_data(ctx, values, NULL, NULL);
    expect_text(ctx, data, &t, "b.libsvm",
                "1:0.1 2:-2 3:0\n1:1e-300 2:1.7976931348623157e+308 3:5e-324\n3:0\n"
                "1:3 2:0.3333333333333333 3:-0.5\n");
    rlar_data_free(data);
    remove_folder(&t);
    end_ctx(ctx);
}

/* ---- Round trips ---- */

static void expect_same(rlar_ctx *ctx, const rlar_data *data, const temp_folder *t,
                        const char *name, const rlar_format *format, bool names) {
    rlar_read_options options = RLAR_INIT(rlar_read_options);
    rlar_data *back = NULL;
    options.label = rlar_data_classes(data) == 0 ? "none" : NULL;
    options.missing = RLAR_MISSING_KEEP;
    write_ok(ctx, data, t, name, NULL);
    const content c = slurp(t, name);
    const rlar_status status = feed(ctx, format, c.bytes, c.size, 100, &options, &back);
    if (status < 0)
        print_error("%s: %s\n", name, rlar_ctx_error(ctx));
    assert_int_equal(status, RLAR_OK);
    assert_int_equal(rlar_data_samples(back), N);
    assert_int_equal(rlar_data_dims(back), D);
    assert_int_equal(rlar_data_classes(back), rlar_data_classes(data));
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < D; j++) {
            const double a = value_at(data, i, j), b = value_at(back, i, j);
            assert_true(a == b || (isnan(a) && isnan(b)));
        }
        if (rlar_data_classes(data) > 0)
            assert_string_equal(label_at(back, i), label_at(data, i));
    }
    for (int j = 0; names && j < D; j++)
        assert_string_equal(rlar_data_feature(back, j), rlar_data_feature(data, j));
    rlar_data_free(back);
}

static void round_trips(void **state) {
    (void)state;
    static const char *const label_sets[][N] = {
        {"1", "20", "3", "1"},
        {"0.5", "-1e-07", "0.5", "7"},
        {"it's", "a,b;c\\", "\xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x90\x9f", "%?{}\"|"},
        {"9007199254740993", "1", "9007199254740992", "1"}, /* the same double, two classes */
    };
    static const char *const names[D] = {"x 1", "caf\xc3\xa9", "it's {100%}"};
    rlar_ctx *ctx = new_ctx();
    const temp_folder t = new_folder();
    for (int k = 0; k < 5; k++) {
        rlar_data *data = make_data(ctx, values, k < 4 ? label_sets[k] : NULL, names);
        expect_same(ctx, data, &t, "a.csv", &rlar__format_csv, true);
        expect_same(ctx, data, &t, "a.tsv", &rlar__format_tsv, true);
        expect_same(ctx, data, &t, "a.arff", &rlar__format_arff, true);
        expect_same(ctx, data, &t, "a.arff.gz", &rlar__format_arff, true);
        expect_same(ctx, data, &t, "a.npz", &rlar__format_npz, true);
        expect_same(ctx, data, &t, "a.npz.gz", &rlar__format_npz, true);
        if (k != 2 && k != 3) /* labels that are text */
            expect_same(ctx, data, &t, "a.npy", &rlar__format_npy, false);
        if (k != 2) /* labels with blanks */
            expect_same(ctx, data, &t, "a.svm", &rlar__format_libsvm, false);
        rlar_data_free(data);
    }
    remove_folder(&t);
    end_ctx(ctx);
}

/* Names that would be missing, or lose their blanks, without quotes; where a format has none, such
 * a class is refused rather than lost. */
static void names_like_missing_values(void **state) {
    (void)state;
    static const char *const label_sets[][N] = {{"na", "?", "NA", "a"}, {" a", "a", "a ", "Na"}};
    rlar_ctx *ctx = new_ctx();
    const temp_folder t = new_folder();
    char buf[512];
    for (int k = 0; k < 2; k++) {
        rlar_data *data = make_data(ctx, values, label_sets[k], NULL);
        expect_same(ctx, data, &t, "a.csv", &rlar__format_csv, false);
        expect_same(ctx, data, &t, "a.tsv", &rlar__format_tsv, false);
        expect_same(ctx, data, &t, "a.arff", &rlar__format_arff, false);
        expect_refusal(ctx, data, path_in(&t, "a.svm", buf), NULL, RLAR_E_ARG, "LIBSVM");
        expect_refusal(ctx, data, path_in(&t, "a.npz", buf), NULL, RLAR_E_ARG,
                       k ? "would be read as one without blanks" : "as a missing label");
        rlar_data_free(data);
    }
    assert_true(rlar_name_needs_quotes("nAn") && !rlar_name_needs_quotes("nano"));
    remove_folder(&t);
    end_ctx(ctx);
}

/* A feature called class must not be taken for the label when the file is read again. */
static void feature_named_class(void **state) {
    (void)state;
    const char *const labels[N] = {"u", "v", "u", "v"}, *const names[D] = {"y", "Class", "target"};
    rlar_ctx *ctx = new_ctx();
    const temp_folder t = new_folder();
    rlar_data *data = make_data(ctx, values, labels, names);
    expect_same(ctx, data, &t, "a.csv", &rlar__format_csv, true);
    expect_same(ctx, data, &t, "a.arff", &rlar__format_arff, true);
    rlar_data_free(data);
    remove_folder(&t);
    end_ctx(ctx);
}

static void missing_values(void **state) {
    (void)state;
    const char *const labels[N] = {"u", "v", "u", "v"};
    double x[N * D];
    char buf[512];
    memcpy(x, values, sizeof x);
    x[4] = NAN;
    rlar_ctx *ctx = new_ctx();
    const temp_folder t = new_folder();
    rlar_data *data = make_data(ctx, x, labels, NULL);
    write_ok(ctx, data, &t, "a.csv", NULL);
    assert_non_null(strstr(slurp(&t, "a.csv").bytes, "\n1e-300,NA,5e-324,v\n"));
    expect_same(ctx, data, &t, "a.arff", &rlar__format_arff, false);
    expect_same(ctx, data, &t, "a.npz", &rlar__format_npz, false);
    expect_refusal(ctx, data, path_in(&t, "a.svm", buf), NULL, RLAR_E_DATA,
                   "sample 2, feature 2 is missing");
    rlar_data_free(data);
    remove_folder(&t);
    end_ctx(ctx);
}

/* ---- Bytes ---- */

/* The same data give the same bytes, and the gzip header has no date, no name and no system. */
static void equal_bytes(void **state) {
    (void)state;
    static const char *const endings[] = {"csv", "npz", "arff.gz", "npz.gz"};
    rlar_ctx *ctx = new_ctx();
    const temp_folder t = new_folder();
    rlar_data *data = make_data(ctx, values, odd_labels, NULL);
    for (int k = 0; k < 4; k++) {
        char a[64], b[64], buf[512], head[2][10];
        snprintf(a, sizeof a, "a.%s", endings[k]);
        snprintf(b, sizeof b, "b.%s", endings[k]);
        write_ok(ctx, data, &t, a, NULL);
        write_ok(ctx, data, &t, b, NULL);
        const content ca = slurp(&t, a), cb = slurp(&t, b);
        assert_int_equal(ca.size, cb.size);
        assert_memory_equal(ca.bytes, cb.bytes, ca.size);
        for (int i = 0; i < 2; i++) {
            FILE *file = fopen(path_in(&t, i ? b : a, buf), "rb");
            assert_int_equal(fread(head[i], 1, 10, file), 10);
            fclose(file);
        }
        if (k >= 2)
            assert_memory_equal(head[0], "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    }
    rlar_data_free(data);
    remove_folder(&t);
    end_ctx(ctx);
}

/* The header that NumPy writes for the same array, to the byte. */
static void npy_header(void **state) {
    (void)state;
    const char *const labels[N] = {"1", "2", "1", "2"};
    static const char expected[] =
        "\x93NUMPY\1\0\x76\0{'descr': '<f8', 'fortran_order': False, 'shape': (4, 4), }";
    rlar_ctx *ctx = new_ctx();
    const temp_folder t = new_folder();
    rlar_data *data = make_data(ctx, values, labels, NULL);
    write_ok(ctx, data, &t, "a.dat", "npy");
    const content c = slurp(&t, "a.dat");
    assert_int_equal(c.size, 128 + 8 * N * (D + 1));
    assert_memory_equal(c.bytes, expected, 10); /* "\0{" would hide the rest */
    assert_memory_equal(c.bytes + 10, expected + 10, sizeof expected - 11);
    assert_int_equal(c.bytes[127], '\n');
    assert_memory_equal(c.bytes + 128, "\x9a\x99\x99\x99\x99\x99\xb9\x3f", 8); /* 0.1 */
    assert_memory_equal(c.bytes + 152, "\0\0\0\0\0\0\xf0\x3f", 8);             /* label 1 */
    rlar_data_free(data);
    remove_folder(&t);
    end_ctx(ctx);
}

/* ---- Refusals ---- */

/* Characters of one to four bytes, the first and the last of each, and what a name may not be cut
 * at: as UTF-32 in NPZ files they are the same again. */
static void characters(void **state) {
    (void)state;
    const char *const labels[N] = {"~\xc2\x80\xdf\xbf", "\xe0\xa0\x80\xe8\xb1\x86\xef\xbf\xbd",
                                   "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "a"};
    const char *const names[D] = {"\xe4\xb8\xad\xe6\x96\x87", "\xf0\x9f\x98\x80", "b"};
    rlar_ctx *ctx = new_ctx();
    const temp_folder t = new_folder();
    rlar_data *data = make_data(ctx, values, labels, names);
    expect_same(ctx, data, &t, "a.npz", &rlar__format_npz, true);
    expect_same(ctx, data, &t, "a.csv", &rlar__format_csv, true);
    expect_same(ctx, data, &t, "a.arff", &rlar__format_arff, true);
    rlar_data_free(data);
    remove_folder(&t);
    end_ctx(ctx);
}

static void keep_text(void *user, rlar_status code, const char *text) {
    assert_int_equal(code, RLAR_OK);
    snprintf(user, RLAR_ERROR_SIZE, "%s", text);
}

/* The reader would take a feature named label for the label: the caller is told. */
static void feature_named_label(void **state) {
    (void)state;
    const char *const labels[N] = {"u", "v", "u", "v"}, *const names[D] = {"Label", "class", "b"};
    char text[RLAR_ERROR_SIZE] = "";
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    rlar_ctx *ctx = NULL;
    options.log = keep_text;
    options.user = text;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    const temp_folder t = new_folder();
    rlar_data *data = make_data(ctx, values, labels, names);
    write_ok(ctx, data, &t, "a.csv", NULL);
    assert_string_equal(
        text, "a feature is named label: name the column \"class\" when the file is read again");
    const content c = slurp(&t, "a.csv");
    assert_memory_equal(c.bytes, "Label,class,b,class\n", 20);
    rlar_data_free(data);
    remove_folder(&t);
    end_ctx(ctx);
}

/* More than one buffer; a disk that is full is noticed on the way and told at the end. */
static void large(void **state) {
    (void)state;
    enum { ROWS = 30000 };
    rlar_ctx *ctx = new_ctx();
    const temp_folder t = new_folder();
    char path[512];
    double *x = malloc(ROWS * sizeof *x);
    for (int i = 0; i < ROWS; i++)
        x[i] = 1.0 / (i + 3);
    const rlar_view view = {
        .size = sizeof view, .type = RLAR_F64, .n = ROWS, .d = 1, .x = x, .stride = 1};
    rlar_data *data = NULL, *back = NULL;
    assert_int_equal(rlar_data_view(ctx, &view, &data), RLAR_OK);
    rlar_read_options unlabelled = RLAR_INIT(rlar_read_options);
    unlabelled.label = "none";
    static const char *const files[] = {"a.csv", "a.csv.gz", "a.npz", "a.arff"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        write_ok(ctx, data, &t, files[k], NULL);
        assert_int_equal(rlar_data_read(ctx, path_in(&t, files[k], path), &unlabelled, &back),
                         RLAR_OK);
        for (int i = 0; i < ROWS; i++)
            assert_true(value_at(back, i, 0) == x[i]);
        rlar_data_free(back);
    }
    rlar_data_free(data);
    static const char *const formats[] = {"csv", "npy", "npz", "libsvm", "arff"};
    static const int64_t rows[] = {ROWS, 4500, 1}; /* on the way, in the last buffer, at the end */
    for (size_t k = 0; k < 3 * (sizeof formats / sizeof *formats); k++) {
        rlar_view part = view;
        part.n = rows[k % 3];
        assert_int_equal(rlar_data_view(ctx, &part, &data), RLAR_OK);
        assert_int_equal(rlar_data_write(ctx, data, "/dev/full", formats[k / 3]), RLAR_E_IO);
        assert_non_null(strstr(rlar_ctx_error(ctx), "No space left on device"));
        rlar_data_free(data);
    }
    free(x);
    remove_folder(&t);
    end_ctx(ctx);
}

static void refused(void **state) {
    (void)state;
    const char *const bad_utf8[N] = {"a", "\xff", "a", "b"}, *const words[N] = {"a", "b c", "a",
                                                                                "b"};
    rlar_ctx *ctx = new_ctx();
    const temp_folder t = new_folder();
    char buf[512];
    rlar_data *data = make_data(ctx, values, words, NULL);
    expect_refusal(ctx, data, "-", "csv", RLAR_E_ARG, "standard output");
    expect_refusal(ctx, data, path_in(&t, "a.xls", buf), NULL, RLAR_E_ARG, "choose csv");
    expect_refusal(ctx, data, path_in(&t, "a.csv", buf), "xls", RLAR_E_ARG, "choose csv");
    expect_refusal(ctx, data, path_in(&t, ".gz", buf), NULL, RLAR_E_ARG, "choose csv");
    expect_refusal(ctx, data, path_in(&t, "a.svm", buf), NULL, RLAR_E_ARG, "class 'b c'");
    expect_refusal(ctx, data, path_in(&t, "a.npy", buf), NULL, RLAR_E_ARG, ".npz");
    expect_refusal(ctx, data, path_in(&t, "no/such/a.csv", buf), NULL, RLAR_E_IO, "no/such");
    expect_refusal(ctx, data, NULL, NULL, RLAR_E_ARG, "NULL");
    rlar_data_free(data);
    data = make_data(ctx, values, NULL, NULL);
    assert_int_equal(rlar_data_set_labels(ctx, data, bad_utf8), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(ctx), "class 1 is not UTF-8"));
    rlar_data_free(data);
    assert_int_equal(count_files(&t), 0);
    remove_folder(&t);
    end_ctx(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),         cmocka_unit_test(libsvm),
        cmocka_unit_test(round_trips),    cmocka_unit_test(names_like_missing_values),
        cmocka_unit_test(missing_values), cmocka_unit_test(feature_named_class),
        cmocka_unit_test(equal_bytes),    cmocka_unit_test(npy_header),
        cmocka_unit_test(characters),     cmocka_unit_test(feature_named_label),
        cmocka_unit_test(large),          cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
