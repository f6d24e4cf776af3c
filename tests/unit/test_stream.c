/* test_stream.c - block by block: blocks of files and of data in memory, data for a model,
 * the limit on memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <unistd.h>

#include "data/window.h"
#include "desk.h"

/* ---- Streams ---- */

static rlar_stream *open_stream(const desk *d, const char *name) {
    char path[512];
    rlar_stream *stream = NULL;
    if (rlar_stream_open(d->ctx, path_in(&d->folder, name, path), &d->options, &stream) < 0)
        fail_msg("%s", rlar_ctx_error(d->ctx));
    return stream;
}

static void test_blocks(void **state) {
    (void)state;
    desk d = new_desk();
    put(&d, "x.csv", small);
    for (int64_t max = 1; max < 8; max++) {
        rlar_stream *stream = open_stream(&d, "x.csv");
        const rlar_data *block;
        int64_t n = 0;
        for (;;) {
            assert_int_equal(rlar_stream_next(stream, max, &block), RLAR_OK);
            if (!block)
                break;
            assert_true(rlar_data_samples(block) <= max);
            assert_int_equal(rlar_data_dims(block), 2);
            assert_string_equal(rlar_data_feature(block, 1), "b");
            assert_string_equal(rlar_data_name(block), "x");
            for (int64_t i = 0; i < rlar_data_samples(block); i++, n++) {
                static const int64_t order[] = {0, 1, 0, 2, 1}; /* by appearance */
                assert_true(value_at(block, i, 0) == (double)(2 * n + 1));
                assert_int_equal(rlar_data_label(block, i), order[n]);
            }
        }
        assert_int_equal(n, 5);
        assert_int_equal(rlar_stream_next(stream, max, &block), RLAR_OK);
        assert_null(block);
        rlar_stream_free(stream);
    }
    rlar_stream_free(NULL);
    end_desk(&d);
}

/* Whatever the number of rows, also where they fill the memory that was taken for them. */
static void test_every_length(void **state) {
    (void)state;
    desk d = new_desk();
    char text[32 * 64 + 1] = "";
    for (int rows = 1; rows <= 64; rows++) {
        snprintf(text + strlen(text), 32, "%d,%d,k\n", rows, -rows);
        put(&d, "x.csv", text);
        for (int64_t max = 1; max < rows; max += rows / 3 + 1) {
            rlar_stream *stream = open_stream(&d, "x.csv");
            const rlar_data *block = NULL;
            int64_t n = 0;
            while (assert_int_equal(rlar_stream_next(stream, max, &block), RLAR_OK), block) {
                for (int64_t i = 0; i < rlar_data_samples(block); i++, n++)
                    assert_true(value_at(block, i, 0) == (double)(n + 1) &&
                                value_at(block, i, 1) == -(double)(n + 1));
            }
            assert_int_equal(n, rows);
            rlar_stream_free(stream);
        }
    }
    end_desk(&d);
}

/* A folder of images, one by one; a slash at its end is not part of its name. */
static void test_images(void **state) {
    (void)state;
    desk d = new_desk();
    char path[512];
    make_folder(&d.folder, "faces");
    make_folder(&d.folder, "faces/a");
    make_folder(&d.folder, "faces/b");
    put(&d, "faces/a/1.pgm", "P2 2 1 255 1 2");
    put(&d, "faces/b/2.pgm", "P2 2 1 255 3 4");
    rlar_stream *stream = NULL;
    assert_int_equal(
        rlar_stream_open(d.ctx, path_in(&d.folder, "faces/", path), &d.options, &stream), RLAR_OK);
    const rlar_data *block = NULL;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rlar_stream_next(stream, 1, &block), RLAR_OK);
        assert_string_equal(rlar_data_name(block), "faces");
        assert_string_equal(label_at(block, 0), i ? "b" : "a");
        assert_true(value_at(block, 0, 1) == 2 * i + 2);
    }
    assert_int_equal(rlar_stream_next(stream, 1, &block), RLAR_OK);
    assert_null(block);
    rlar_stream_free(stream);
    end_desk(&d);
}

/* Many rows, so that blocks cross the chunks in which a file is read. */
static void test_long_stream(void **state) {
    (void)state;
    enum { ROWS = 60000 };
    desk d = new_desk();
    char path[512];
    FILE *file = fopen(path_in(&d.folder, "long.csv", path), "w");
    for (int i = 0; i < ROWS; i++)
        fprintf(file, "%d,%d.5,class%d\n", i, i % 1000, i % 7);
    fclose(file);
    rlar_stream *stream = open_stream(&d, "long.csv");
    const rlar_data *block;
    int64_t n = 0, max = 1;
    for (;;) {
        assert_int_equal(rlar_stream_next(stream, max, &block), RLAR_OK);
        if (!block)
            break;
        for (int64_t i = 0; i < rlar_data_samples(block); i++, n++) {
            assert_true(value_at(block, i, 0) == (double)n);
            assert_int_equal(rlar_data_label(block, i), n % 7);
        }
        max = max * 3 % 5000 + 1;
    }
    assert_int_equal(n, ROWS);
    rlar_stream_free(stream);
    rlar_data *data = read_file(&d, "long.csv");
    assert_int_equal(rlar_data_samples(data), ROWS);
    assert_true(value_at(data, ROWS - 1, 0) == ROWS - 1);
    rlar_data_free(data);
    end_desk(&d);
}

static void test_stream_refused(void **state) {
    (void)state;
    desk d = new_desk();
    const rlar_data *block = NULL;
    put(&d, "x.csv", "1,2,a\n3,?,b\n5,6,c\n7,,d\n");
    rlar_stream *stream = open_stream(&d, "x.csv");
    assert_int_equal(rlar_stream_next(stream, 0, &block), RLAR_E_ARG);
    assert_int_equal(rlar_stream_next(stream, 2, &block), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(d.ctx),
                           "x.csv:2:2: the value is missing, the first of 2 in the file"));
    assert_int_equal(rlar_stream_next(stream, 2, &block), RLAR_E_DATA);
    assert_string_equal(rlar_ctx_error(d.ctx), "the stream of 'x' has ended with an error before");
    assert_null(block);
    rlar_stream_free(stream);

    put(&d, "x.svm", "1 1:2\n");
    stream = open_stream(&d, "x.svm");
    assert_int_equal(rlar_stream_next(stream, 2, &block), RLAR_E_ARG);
    assert_non_null(strstr(rlar_ctx_error(d.ctx), "read it whole, or set the number of features"));
    rlar_stream_free(stream);
    d.options.features = 2;
    stream = open_stream(&d, "x.svm");
    assert_int_equal(rlar_stream_next(stream, 2, &block), RLAR_OK);
    assert_true(value_at(block, 0, 0) == 2 && value_at(block, 0, 1) == 0);
    rlar_stream_free(stream);

    char labels[512];
    d.options = RLAR_INIT(rlar_read_options);
    put(&d, "y.txt", "a\n");
    put(&d, "z.csv", "1,2\n3,4\n");
    d.options.labels_file = path_in(&d.folder, "y.txt", labels);
    stream = open_stream(&d, "z.csv");
    assert_int_equal(rlar_stream_next(stream, 1, &block), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(d.ctx), "only 1 labels"));
    rlar_stream_free(stream);
    end_desk(&d);
}

/* ---- Data for a model ---- */

static const char *const names[] = {"a", "b", "y"}, *const classes[] = {"1", "2", "10"};

static void test_model_by_name(void **state) {
    (void)state;
    desk d = new_desk();
    rlar_model *m = make_model(d.ctx, names, 3, classes, 3);
    d.options.model = m;
    /* Another order, a column too many, a label by name; y is a feature of the model. */
    put(&d, "x.csv", "y,id,b,Label,a\n1,p,2,10.0,3\n4,q,5,7,6\n7,r,8,?,9\n");
    rlar_data *data = read_file(&d, "x.csv");
    assert_int_equal(rlar_data_dims(data), 3);
    assert_string_equal(rlar_data_feature(data, 0), "a");
    assert_true(value_at(data, 0, 0) == 3 && value_at(data, 0, 1) == 2 &&
                value_at(data, 0, 2) == 1);
    assert_int_equal(rlar_data_classes(data), 3);
    assert_int_equal(rlar_data_label(data, 0), 2);
    assert_int_equal(rlar_data_label(data, 1), -1); /* unknown to the model */
    assert_int_equal(rlar_data_label(data, 2), RLAR_CLASS_MISSING);
    assert_int_equal(rlar_data_class_size(data, 2), 1);
    rlar_model *learned = NULL; /* what has no class cannot be learned from */
    assert_int_equal(rlar_fit(d.ctx, data, NULL, NULL, &learned, NULL), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(d.ctx), "x.csv: sample 2 has no class"));
    rlar_data_free(data);
    put(&d, "x.csv", "y,b,a\n1,2,3\n");
    data = read_file(&d, "x.csv");
    assert_int_equal(rlar_data_classes(data), 0);
    assert_true(value_at(data, 0, 0) == 3);
    rlar_data_free(data);
    put(&d, "x.csv", "kind,y,b,a\n2,1,2,3\n"); /* the last column is a feature: no label */
    data = read_file(&d, "x.csv");
    assert_int_equal(rlar_data_classes(data), 0);
    rlar_data_free(data);
    put(&d, "x.csv", "a,c,y,kind\n1,2,3,1\n");
    refuse(&d, "x.csv", RLAR_E_MODEL,
           ": feature 2 of the model, 'b', is not among the columns; 'c' stands in its place; give "
           "the columns "
           "that the model was trained with");
    put(&d, "x.csv", "a,b\n1,2\n");
    refuse(&d, "x.csv", RLAR_E_MODEL,
           ": feature 3 of the model, 'y', is missing; the file has only 2 columns");
    put(&d, "x.csv", "b,a,a,y\n1,2,3,4\n");
    refuse(&d, "x.csv", RLAR_E_MODEL,
           ": the name 'a' appears twice, and the columns are not in the order of the model; order "
           "them or rename "
           "one");
    rlar_model_free(m);
    end_desk(&d);
}

static void test_model_by_count(void **state) {
    (void)state;
    desk d = new_desk();
    rlar_model *m = make_model(d.ctx, NULL, 3, classes, 3);
    d.options.model = m;
    put(&d, "x.csv", "1,2,3\n4,5,6\n");
    rlar_data *data = read_file(&d, "x.csv");
    assert_int_equal(rlar_data_classes(data), 0);
    rlar_data_free(data);
    put(&d, "x.csv", "1,2,3,2.0\n4,?,6,10\n");
    d.options.missing = RLAR_MISSING_MEAN; /* of the training data, later: NaN stays */
    data = read_file(&d, "x.csv");
    assert_int_equal(rlar_data_label(data, 0), 1);
    assert_int_equal(rlar_data_label(data, 1), 2);
    assert_true(isnan(value_at(data, 1, 1)));
    rlar_data_free(data);
    put(&d, "x.csv", "1,2\n");
    refuse(&d, "x.csv", RLAR_E_MODEL,
           ": 2 columns (a label and 1 features), but the model has 3 features; give the columns "
           "that the model "
           "was trained with");
    put(&d, "x.svm", "2 1:5\n3 4:1\n");
    refuse(&d, "x.svm", RLAR_E_MODEL, ":2: index 4 is beyond the 3 features of the model");
    put(&d, "x.svm", "2 1:5\n10\n3 2:1\n");
    data = read_file(&d, "x.svm");
    assert_int_equal(rlar_data_dims(data), 3);
    assert_int_equal(rlar_data_label(data, 0), 1);
    assert_int_equal(rlar_data_label(data, 2), -1);
    rlar_data_free(data);
    d.options.features = 4;
    refuse(&d, "x.csv", RLAR_E_ARG,
           "read options: features is 4; leave it 0, or set the number expected, which is the "
           "model's");
    rlar_model_free(m);
    end_desk(&d);
}

static void test_model_stream(void **state) {
    (void)state;
    desk d = new_desk();
    rlar_model *m = make_model(d.ctx, names, 2, classes, 3);
    const rlar_data *block;
    d.options.model = m;
    put(&d, "x.csv", "label,b,a\n10,1,2\n5,3,4\n1.0,5,6\n");
    rlar_stream *stream = open_stream(&d, "x.csv");
    static const int64_t want[] = {2, -1, 0};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rlar_stream_next(stream, 1, &block), RLAR_OK);
        assert_int_equal(rlar_data_label(block, 0), want[i]);
        assert_int_equal(rlar_data_classes(block), 3);
        assert_true(value_at(block, 0, 0) == 2 * i + 2);
    }
    rlar_stream_free(stream);
    rlar_model_free(m);
    end_desk(&d);
}

static void check_data_stream(rlar_ctx *ctx, const rlar_data *data, const rlar_model *model,
                              const int64_t *labels) {
    for (int64_t max = 1; max < 5; max++) {
        rlar_stream *stream = NULL;
        const rlar_data *block;
        int64_t n = 0;
        assert_int_equal(rlar_stream_data(ctx, data, model, &stream), RLAR_OK);
        for (;;) {
            assert_int_equal(rlar_stream_next(stream, max, &block), RLAR_OK);
            if (!block)
                break;
            for (int64_t i = 0; i < rlar_data_samples(block); i++, n++) {
                assert_true(value_at(block, i, 1) == value_at(data, n, 1));
                assert_int_equal(rlar_data_label(block, i), labels[n]);
            }
        }
        assert_int_equal(n, 3);
        rlar_stream_free(stream);
    }
}

static void test_stream_of_data(void **state) {
    (void)state;
    static const double x[] = {1, 2, 3, 4, 5, 6};
    static const float y[] = {1, 2, 3, 4, 5, 6};
    static const int64_t indptr[] = {0, 2, 2, 3}, indices[] = {0, 1, 1};
    static const char *const labels[] = {"10", "7", "1"}, *const own[] = {"a", "c"};
    static const int64_t own_order[] = {2, 1, 0}, model_order[] = {2, -1, 0}, none[] = {-1, -1, -1};
    rlar_ctx *ctx = new_ctx();
    rlar_model *m = make_model(ctx, names, 2, classes, 3),
               *wider = make_model(ctx, NULL, 3, classes, 3);
    rlar_stream *stream = NULL;
    for (int type = RLAR_F64; type <= RLAR_CSR; type++) {
        rlar_view v = RLAR_INIT(rlar_view);
        rlar_data *data = NULL;
        v.type = (rlar_dtype)type;
        v.n = 3;
        v.d = v.stride = 2;
        v.x = type == RLAR_F32 ? (const void *)y : (const void *)x;
        v.indptr = indptr;
        v.indices = indices;
        v.weights = x;
        assert_int_equal(rlar_data_view(ctx, &v, &data), RLAR_OK);
        check_data_stream(ctx, data, m, none);
        assert_int_equal(rlar_data_set_labels(ctx, data, labels), RLAR_OK);
        check_data_stream(ctx, data, NULL, own_order);
        check_data_stream(ctx, data, m, model_order);
        assert_int_equal(rlar_stream_data(ctx, data, wider, &stream), RLAR_E_MODEL);
        assert_string_equal(rlar_ctx_error(ctx),
                            "memory: 2 features, but the model has 3; give the features "
                            "that the model was trained with");
        assert_int_equal(rlar_data_set_features(ctx, data, names), RLAR_OK);
        check_data_stream(ctx, data, m, model_order);
        assert_int_equal(rlar_data_set_features(ctx, data, own), RLAR_OK);
        assert_int_equal(rlar_stream_data(ctx, data, m, &stream), RLAR_E_MODEL);
        assert_string_equal(rlar_ctx_error(ctx),
                            "memory: feature 2 is 'c', but the model has 'b' there; read "
                            "the data with the model to find columns by name");
        rlar_data_free(data);
    }
    rlar_model_free(m);
    rlar_model_free(wider);
    end_ctx(ctx);
}

/* A label that the model does not know has no text any more, so it cannot be written. */
/* Labels in memory that are numbers have lost their spelling; a model whose names are not all
 * numbers has it still. */
static void test_lost_spelling(void **state) {
    (void)state;
    static const double x[] = {1, 2, 3, 4, 5, 6};
    static const char *const cases[][2][3] = {
        {{"01", "02", "a"}, {"01", "02", "2.0"}}, /* the model, the labels */
        {{"01", "1.0", "a"}, {"1", "2", "1"}},    /* which of the two? */
        {{"01", "1", "a"}, {"1", "1.0", "2"}},    /* the one that is named so */
        {{"01", "x", "a"}, {"1", "x", "01"}},     /* no numbers, as they stand */
    };
    static const int64_t want[][3] = {{0, 1, 1}, {-1, -1, -1}, {1, 1, -1}, {-1, 1, 0}};
    const rlar_view v = {.size = sizeof v, .type = RLAR_F64, .n = 3, .d = 2, .x = x, .stride = 2};
    rlar_ctx *ctx = new_ctx();
    for (int i = 0; i < 4; i++) {
        rlar_model *m = make_model(ctx, names, 2, cases[i][0], 3);
        rlar_data *data = NULL;
        assert_int_equal(rlar_data_view(ctx, &v, &data), RLAR_OK);
        assert_int_equal(rlar_data_set_labels(ctx, data, cases[i][1]), RLAR_OK);
        check_data_stream(ctx, data, m, want[i]);
        rlar_data_free(data);
        rlar_model_free(m);
    }
    end_ctx(ctx);
}

static void test_unknown_label_is_not_written(void **state) {
    (void)state;
    desk d = new_desk();
    char path[512];
    rlar_model *m = make_model(d.ctx, names, 2, classes, 3);
    d.options.model = m;
    put(&d, "x.csv", "label,a,b\n10,1,2\n5,3,4\n");
    rlar_data *data = read_file(&d, "x.csv");
    assert_int_equal(rlar_data_write(d.ctx, data, path_in(&d.folder, "y.csv", path), NULL),
                     RLAR_E_DATA);
    assert_string_equal(rlar_ctx_error(d.ctx),
                        "sample 2 has a class that is unknown to the model it was read with; read "
                        "the data without the model");
    assert_int_not_equal(access(path, F_OK), 0);
    rlar_stream *stream = NULL;
    const rlar_data *block = NULL;
    assert_int_equal(rlar_stream_data(d.ctx, data, m, &stream), RLAR_OK);
    assert_int_equal(rlar_stream_next(stream, 2, &block), RLAR_OK);
    assert_int_equal(rlar_data_label(block, 0), 2);
    assert_int_equal(rlar_data_label(block, 1), -1); /* and stays unknown */
    rlar_stream_free(stream);
    rlar_data_free(data);
    rlar_model_free(m);
    end_desk(&d);
}

static void keep_text(void *user, rlar_status code, const char *text) {
    assert_int_equal(code, RLAR_OK);
    snprintf(user, RLAR_ERROR_SIZE, "%s", text);
}

/* A sample without a label is not one of a class that the model does not know, however the file is
 * cut. */
static void test_missing_label(void **state) {
    (void)state;
    static const rlar_window_size size = {.piece = 8, .pieces = 2};
    static const int64_t expected[] = {2, -1, -2, 2, -2};
    desk d = new_desk();
    char path[512];
    rlar_model *m = make_model(d.ctx, names, 2, classes, 3);
    d.options.model = m;
    put(&d, "x.csv", "label,a,b\n10,1,2\n5,3,4\n,5,6\n10,7,8\n?,9,9\n");
    path_in(&d.folder, "x.csv", path);
    rlar_data *data = read_file(&d, "x.csv"), *cut = NULL;
    assert_int_equal(rlar__data_read(d.ctx, path, &d.options, &size, &cut), RLAR_OK);
    for (int64_t i = 0; i < 5; i++) {
        assert_int_equal(rlar_data_label(data, i), expected[i]);
        assert_int_equal(rlar_data_label(cut, i), expected[i]);
    }
    rlar_data_free(data);
    rlar_data_free(cut);
    put(&d, "x.csv", "label,a,b\n10,1,2\n,3,4\n");
    data = read_file(&d, "x.csv");
    assert_int_equal(rlar_data_write(d.ctx, data, path, NULL), RLAR_E_DATA);
    assert_string_equal(rlar_ctx_error(d.ctx),
                        "sample 2 has no label; read the data without the model");
    rlar_data_free(data);
    rlar_model_free(m);
    end_desk(&d);
}

/* Samples that are left out are counted, by a stream at its end. */
static void test_dropped_are_told(void **state) {
    (void)state;
    char text[RLAR_ERROR_SIZE] = "", expected[2 * RLAR_ERROR_SIZE], path[512];
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    rlar_ctx *ctx = NULL;
    rlar_data *data = NULL;
    rlar_stream *stream = NULL;
    const rlar_data *block = NULL;
    options.log = keep_text;
    options.user = text;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    const temp_folder t = new_folder();
    static const char table[] = "a,b,class\n1,?,x\n3,4,y\n5,6,?\n7,8,x\n";
    write_bytes(&t, "x.csv", table, sizeof table - 1);
    o.missing = RLAR_MISSING_DROP;
    path_in(&t, "x.csv", path);
    snprintf(expected, sizeof expected, "%s: 2 of 4 samples have missing values and are left out",
             path);
    assert_int_equal(rlar_data_read(ctx, path, &o, &data), RLAR_OK);
    assert_string_equal(text, expected);
    rlar_data_free(data);
    text[0] = '\0';
    assert_int_equal(rlar_stream_open(ctx, path, &o, &stream), RLAR_OK);
    assert_string_equal(text, "");
    do {
        assert_int_equal(rlar_stream_next(stream, 1, &block), RLAR_OK);
    } while (block);
    assert_string_equal(text, expected);
    text[0] = '\0';
    assert_int_equal(rlar_stream_next(stream, 1, &block), RLAR_OK);
    assert_string_equal(text, ""); /* once */
    rlar_stream_free(stream);
    remove_folder(&t);
    end_ctx(ctx);
}

/* A stream of data in memory: what was open is closed, wherever memory runs out. */
static void data_stream_without_memory(const char *const *known) {
    static const double x[] = {1, 2, 3, 4};
    static const char *const labels[] = {"1", "7"};
    const rlar_view v = {.size = sizeof v, .type = RLAR_F64, .n = 2, .d = 2, .x = x, .stride = 2};
    faulty f;
    rlar_ctx *ctx = new_faulty_ctx(&f);
    rlar_model *m = make_model(ctx, names, 2, known, 3);
    rlar_data *data = NULL;
    rlar_status status = RLAR_E_NOMEM;
    int fault = 0;
    assert_int_equal(rlar_data_view(ctx, &v, &data), RLAR_OK);
    assert_int_equal(rlar_data_set_labels(ctx, data, labels), RLAR_OK);
    const int64_t held = rlar_ctx_memory(ctx);
    for (; status == RLAR_E_NOMEM; fault++) {
        rlar_stream *stream = NULL;
        const rlar_data *block = NULL;
        f.left = fault;
        status = rlar_stream_data(ctx, data, m, &stream);
        if (status >= 0)
            status = rlar_stream_next(stream, 1, &block);
        f.left = INT32_MAX;
        assert_true(status >= 0 || block == NULL);
        rlar_stream_free(stream);
        assert_int_equal(rlar_ctx_memory(ctx), held);
    }
    assert_int_equal(status, RLAR_OK);
    assert_true(fault > 6);
    rlar_data_free(data);
    rlar_model_free(m);
    end_ctx(ctx);
}

static void test_data_stream_without_memory(void **state) {
    (void)state;
    static const char *const spelt[] = {"01", "7", "a"};
    data_stream_without_memory(classes);
    data_stream_without_memory(spelt);
}

/* The limit of the context holds for what a file asks for. */
static void test_memory_limit(void **state) {
    (void)state;
    desk d = new_desk();
    char path[512];
    rlar_ctx_options co = RLAR_INIT(rlar_ctx_options);
    rlar_ctx *ctx = NULL;
    rlar_data *data = NULL;
    co.max_memory = 4 << 20;
    put(&d, "x.svm", "1 1000000:1\n2 1:1\n");
    assert_int_equal(rlar_ctx_new(&co, &ctx), RLAR_OK);
    assert_int_equal(rlar_data_read(ctx, path_in(&d.folder, "x.svm", path), NULL, &data),
                     RLAR_E_NOMEM);
    assert_non_null(strstr(rlar_ctx_error(ctx), "the samples"));
    end_ctx(ctx);
    end_desk(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_long_stream),
        cmocka_unit_test(test_stream_refused),
        cmocka_unit_test(test_model_by_name),
        cmocka_unit_test(test_model_by_count),
        cmocka_unit_test(test_model_stream),
        cmocka_unit_test(test_stream_of_data),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_unknown_label_is_not_written),
        cmocka_unit_test(test_missing_label),
        cmocka_unit_test(test_dropped_are_told),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_data_stream_without_memory),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_lost_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
