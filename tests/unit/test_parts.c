/* test_parts.c - a file read in parts: one after another they have the samples of the whole file,
 * or one of them says what is wrong; bytes are read once, and memory is what a share needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <math.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sanitize.h"
#include "desk.h"
#include "tables.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    RLAR_HAS_FEATURE(address_sanitizer) || RLAR_HAS_FEATURE(thread_sanitizer) ||                   \
    RLAR_HAS_FEATURE(memory_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

enum { MOST_PARTS = 9, TEXT_SIZE = 4 * RLAR_ERROR_SIZE };

/* ---- Parts against the whole ---- */

/* The parts of a file, or the errors of those that failed. */
typedef struct pieces {
    rlar_data *part[MOST_PARTS];
    rlar_status status[MOST_PARTS];
    char text[MOST_PARTS][TEXT_SIZE];
    int64_t parts, failed;
} pieces;

static void read_parts(rlar_ctx *ctx, const char *path, const rlar_read_options *given,
                       int64_t parts, pieces *p) {
    rlar_read_options o = *given;
    *p = (pieces){.parts = parts};
    o.parts = parts;
    for (o.part = 0; o.part < parts; o.part++) {
        p->status[o.part] = rlar_data_read(ctx, path, &o, &p->part[o.part]);
        if (p->status[o.part] < 0)
            p->failed++;
        snprintf(p->text[o.part], TEXT_SIZE, "%s", rlar_ctx_error(ctx));
    }
}

static void free_parts(pieces *p) {
    for (int64_t i = 0; i < p->parts; i++)
        rlar_data_free(p->part[i]);
}

static bool some_says(const pieces *p, const char *text) {
    for (int64_t i = 0; i < p->parts; i++)
        if (p->status[i] < 0 && strstr(p->text[i], text))
            return true;
    return false;
}

/* Sample by sample, in the order of the file. */
static void same_rows(const rlar_data *whole, const pieces *p) {
    const int64_t d = rlar_data_dims(whole);
    int64_t i = 0, missing = 0, widest = 0;
    double *a = malloc((size_t)d * sizeof *a), *b = malloc((size_t)d * sizeof *b);
    for (int64_t k = 0; k < p->parts; k++) {
        const rlar_data *part = p->part[k];
        const int64_t own = rlar_data_dims(part);
        missing += rlar_data_missing(part);
        widest = own > widest ? own : widest;
        assert_string_equal(rlar_data_format(part), rlar_data_format(whole));
        for (int64_t f = 0; f < own; f++)
            if (rlar_data_feature(whole, f))
                assert_string_equal(rlar_data_feature(part, f), rlar_data_feature(whole, f));
        for (int64_t j = 0; j < rlar_data_samples(part); j++, i++) {
            assert_true(i < rlar_data_samples(whole));
            memset(b, 0, (size_t)d * sizeof *b);
            rlar_data_row(whole, i, a);
            if (own > 0)
                rlar_data_row(part, j, b);
            assert_memory_equal(a, b, (size_t)d * sizeof *a);
        }
    }
    assert_int_equal(i, rlar_data_samples(whole));
    assert_int_equal(missing, rlar_data_missing(whole));
    assert_int_equal(widest, d);
    free(a);
    free(b);
}

/* The parts, put together, against the whole: labels and names, too. */
static void same_shared(rlar_ctx *ctx, rlar_data *whole, pieces *p) {
    rlar_data *a = NULL, *b = NULL;
    if (rlar_data_classes(whole) > 0) {
        assert_int_equal(rlar_data_share(ctx, &whole, 1, &a), RLAR_OK);
        assert_int_equal(rlar_data_share(ctx, p->part, p->parts, &b), RLAR_OK);
        for (int64_t k = 0; k < p->parts; k++)
            assert_null(p->part[k]);
        same_data(a, b);
    }
    rlar_data_free(whole);
    rlar_data_free(a);
    rlar_data_free(b);
}

typedef struct tally {
    int64_t same, errors, quotes;
} tally;

/* What is wrong in a part is said as for the whole, unless the whole counts something (missing
 * values, the size of a table) or quotes hide where lines end. */
static void same_error(const maker *m, const char *text, const pieces *p, tally *t) {
    assert_true(p->failed > 0);
    t->errors++;
    if (!memchr(m->text, '"', m->size) && !memchr(m->text, '\r', m->size) &&
        !strstr(text, "missing") && !strstr(text, "dense table") && !some_says(p, text))
        fail_msg("%d parts, none says '%s' but '%s'", (int)p->parts, text, p->text[0]);
}

static void compare(rlar_ctx *ctx, const maker *m, const char *path, const rlar_read_options *o,
                    int64_t parts, tally *t) {
    rlar_data *whole = NULL;
    pieces *p = malloc(sizeof *p);
    const rlar_status status = rlar_data_read(ctx, path, o, &whole);
    char text[TEXT_SIZE];
    snprintf(text, sizeof text, "%s", rlar_ctx_error(ctx));
    read_parts(ctx, path, o, parts, p);
    if (status < 0) {
        same_error(m, text, p, t);
    } else if (p->failed > 0) { /* only where a cut lies between two quotes */
        if (!some_says(p, "a table with line ends in quoted cells has to be read whole"))
            fail_msg("%d parts: %s", (int)parts, p->text[0]);
        t->quotes++;
    } else {
        same_rows(whole, p);
        same_shared(ctx, whole, p);
        whole = NULL;
        t->same++;
    }
    rlar_data_free(whole);
    free_parts(p);
    free(p);
}

static void test_generated(void **state) {
    (void)state;
    enum { FILES = 1500 };
    static const rlar_missing missing[] = {RLAR_MISSING_ERROR, RLAR_MISSING_DROP, RLAR_MISSING_KEEP,
                                           RLAR_MISSING_DROP};
    desk d = new_desk();
    maker *m = malloc(sizeof *m);
    tally t = {0};
    char path[512];
    m->seed = 20261117;
    for (int i = 0; i < FILES; i++) {
        const bool csv = i % 2 == 0;
        if (csv)
            make_csv(m);
        else
            make_libsvm(m);
        const char *name = csv ? "x.csv" : "x.svm";
        write_bytes(&d.folder, name, m->text, m->size);
        d.options.missing = missing[draw(m, 4)];
        d.options.features = !csv && draw(m, 4) == 0 ? 5002 : 0;
        d.options.label = csv && draw(m, 6) == 0 ? "none" : NULL;
        compare(d.ctx, m, path_in(&d.folder, name, path), &d.options, 1 + i / 2 % MOST_PARTS, &t);
    }
    /* All three happen, or the test would compare nothing. */
    assert_true(t.same > FILES / 4 && t.errors > FILES / 10 && t.quotes > 3);
    free(m);
    end_desk(&d);
}

/* Few lines, many parts: every sample once, and parts without any. */
static void test_few_lines(void **state) {
    (void)state;
    static const char *const texts[] = {
        "1,2,a",
        "1,2,a\n",
        "x,y,class\n1,2,a",
        "x,y,class\r\n1,2,a\r\n",
        "1,2,a\n3,4,b",
        "\n\n1,2,a\n\n3,4,b\n\n",
        "x,y,class\n1,2,a\n3,4,b\n",
        "1,2,a\r3,4,b\r5,6,a\r",
    };
    desk d = new_desk();
    maker *m = malloc(sizeof *m);
    tally t = {0};
    char path[512];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int64_t parts = 1; parts <= MOST_PARTS; parts++) {
            m->size = 0;
            says(m, texts[i]);
            put(&d, "x.csv", texts[i]);
            compare(d.ctx, m, path_in(&d.folder, "x.csv", path), &d.options, parts, &t);
        }
    assert_int_equal(t.same, MOST_PARTS * 8);
    free(m);
    end_desk(&d);
}

/* ---- Arrays ---- */

/* A header of version 1, 2 or 3, and rows of i2 or f8, some of them missing. */
static void make_npy(maker *m, int64_t rows, int64_t columns, bool fortran) {
    const int version = 1 + (int)draw(m, 3);
    const bool ints = draw(m, 2) == 0;
    char text[128];
    const int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (%d, %d), }\n",
                 ints ? ">i2" : "<f8", fortran ? "True" : "False", (int)rows, (int)columns);
    const char size[4] = {(char)length, 0, 0, 0}, numbers[2] = {(char)version, 0};
    m->size = 0;
    says(m, "\x93NUMPY");
    say(m, numbers, 2);
    say(m, size, version == 1 ? 2 : 4);
    say(m, text, (size_t)length);
    for (int64_t i = 0; i < rows * columns; i++) {
        const double value =
            i % columns + 1 < columns && draw(m, 30) == 0 ? NAN : (double)draw(m, 5);
        const char pair[2] = {0, (char)draw(m, 5)};
        if (ints)
            say(m, pair, 2);
        else
            say(m, (const char *)&value, sizeof value);
    }
}

static void test_arrays(void **state) {
    (void)state;
    desk d = new_desk();
    maker *m = malloc(sizeof *m);
    tally t = {0};
    char path[512], labels[512];
    m->seed = 77;
    d.options.missing = RLAR_MISSING_DROP;
    for (int i = 0; i < 200; i++) {
        const int64_t rows = 1 + draw(m, i % 2 ? 40 : 10), parts = 1 + i % MOST_PARTS;
        m->size = 0;
        for (int64_t j = 0; j < rows; j++)
            says(m, j % 3 ? "a\n" : "b\n");
        write_bytes(&d.folder, "l.txt", m->text, m->size);
        d.options.labels_file = i % 3 ? NULL : path_in(&d.folder, "l.txt", labels);
        make_npy(m, rows, 2 + draw(m, 6), false);
        write_bytes(&d.folder, "x.npy", m->text, m->size);
        compare(d.ctx, m, path_in(&d.folder, "x.npy", path), &d.options, parts, &t);
    }
    assert_true(t.same > 180);
    free(m);
    end_desk(&d);
}

/* The array ends too early or too late: every part says so. Its row in a message is that of the
 * file. */
static void test_wrong_arrays(void **state) {
    (void)state;
    desk d = new_desk();
    maker *m = malloc(sizeof *m);
    m->seed = 1;
    make_npy(m, 20, 3, false);
    d.options.parts = 4;
    d.options.part = 3;
    m->size -= 5;
    write_bytes(&d.folder, "x.npy", m->text, m->size);
    char path[512];
    rlar_data *data = NULL;
    path_in(&d.folder, "x.npy", path);
    assert_int_equal(rlar_data_read(d.ctx, path, &d.options, &data), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(d.ctx), "the file is truncated"));
    m->size += 5;
    says(m, "more");
    write_bytes(&d.folder, "x.npy", m->text, m->size);
    assert_int_equal(rlar_data_read(d.ctx, path, &d.options, &data), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(d.ctx), "bytes after the 20 x 3 values"));
    put(&d, "l.txt", "a\nb\n");
    char labels[512];
    d.options.labels_file = path_in(&d.folder, "l.txt", labels);
    write_bytes(&d.folder, "x.npy", m->text, m->size - 4);
    assert_int_equal(rlar_data_read(d.ctx, path, &d.options, &data), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(d.ctx), "2 labels for the 20 samples"));
    assert_null(data);
    free(m);
    end_desk(&d);
}

/* ---- Messages ---- */

static void test_lines(void **state) {
    (void)state;
    desk d = new_desk();
    put(&d, "x.csv", "p,class\n1,a\n2,a\n3,b\n4,b\n5,a\nsix,b\n7,b\n8,b\n");
    d.options.parts = 2;
    d.options.part = 1;
    refuse(
        &d, "x.csv", RLAR_E_DATA,
        ":7:1: 'six' in column 'p' is not a number; expected a number or a missing value (empty, "
        "?, NA, nan)");
    put(&d, "x.csv", "p,class\n1,a\n2,a\n3,b\n4,b\n5,a\n,b\n7,b\n8,b\n");
    refuse(
        &d, "x.csv", RLAR_E_DATA,
        ":7:1: the value is missing, the first of 1 in the part; fill in column means (--missing "
        "mean) or leave such samples out (--missing drop)");
    put(&d, "x.csv", "p,class\n1,a\n2,a\n3,\"b\nc\nd\ne\nf\ng\"\n4,b\n");
    refuse(&d, "x.csv", RLAR_E_DATA,
           ":7: the row has 1 cells, but the table has 2 columns; check the separator and the "
           "quotes; the part begins or ends behind an odd number of quotes: a table with line ends "
           "in quoted cells has to be read whole");
    end_desk(&d);
}

static void check_splits(const desk *d, const char *name, int want) {
    char path[512];
    int can = -1;
    if (rlar_data_splits(d->ctx, path_in(&d->folder, name, path), &d->options, &can) < 0)
        fail_msg("%s", rlar_ctx_error(d->ctx));
    assert_int_equal(can, want);
}

/* What cannot be read in parts is refused by name, and known before. */
static void test_refused(void **state) {
    (void)state;
    static const char *const whole[] = {"x.csv.gz", "x.arff", "x.npz", "f.npy"};
    desk d = new_desk();
    maker *m = malloc(sizeof *m);
    unsigned char packed[512];
    rlar_data *data = NULL;
    char path[512], labels[512];
    m->seed = 9;
    make_npy(m, 4, 3, true);
    write_bytes(&d.folder, "f.npy", m->text, m->size);
    write_bytes(&d.folder, "x.csv.gz", packed, pack(small, sizeof small - 1, packed, 512));
    put(&d, "x.arff", "@relation r\n@attribute a numeric\n@attribute class {x,y}\n@data\n1,x\n");
    put(&d, "x.npz", "PK\3\4");
    put(&d, "x.csv", small);
    put(&d, "x.svm", "a 1:1\nb 2:2\n");
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        check_splits(&d, whole[i], 0);
        d.options.parts = 2;
        path_in(&d.folder, whole[i], path);
        assert_int_equal(rlar_data_read(d.ctx, path, &d.options, &data), RLAR_E_UNSUPPORTED);
        assert_non_null(strstr(rlar_ctx_error(d.ctx), "CSV, TSV, LIBSVM and C-order NPY files"));
    }
    assert_int_equal(rlar_data_read(d.ctx, "-", &d.options, &data), RLAR_E_UNSUPPORTED);
    assert_int_equal(rlar_data_read(d.ctx, d.folder.path, &d.options, &data), RLAR_E_UNSUPPORTED);
    rlar_stream *stream = NULL;
    path_in(&d.folder, "x.csv", path);
    assert_int_equal(rlar_stream_open(d.ctx, path, &d.options, &stream), RLAR_E_UNSUPPORTED);
    d.options.part = 2;
    assert_int_equal(rlar_data_read(d.ctx, path, &d.options, &data), RLAR_E_ARG);
    d.options.part = 0;
    check_splits(&d, "x.csv", 1);
    check_splits(&d, "x.svm", 1);
    d.options.missing = RLAR_MISSING_MEAN;
    check_splits(&d, "x.csv", 0);
    assert_int_equal(rlar_data_read(d.ctx, path, &d.options, &data), RLAR_E_UNSUPPORTED);
    assert_non_null(strstr(rlar_ctx_error(d.ctx), "the mean of a column is over all samples"));
    d.options.missing = RLAR_MISSING_ERROR;
    put(&d, "l.txt", "a\nb\n");
    d.options.labels_file = path_in(&d.folder, "l.txt", labels);
    check_splits(&d, "x.csv", 0);
    assert_int_equal(rlar_data_read(d.ctx, path, &d.options, &data), RLAR_E_UNSUPPORTED);
    make_npy(m, 2, 3, false);
    write_bytes(&d.folder, "c.npy", m->text, m->size);
    check_splits(&d, "c.npy", 1);
    assert_null(data);
    free(m);
    end_desk(&d);
}

/* Options and calls that cannot be. What a file lacks is no question of parts. */
static void test_wrong_calls(void **state) {
    (void)state;
    desk d = new_desk();
    char path[512];
    int can = 7;
    put(&d, "x.csv", small);
    path_in(&d.folder, "x.csv", path);
    assert_int_equal(rlar_data_splits(NULL, path, NULL, &can), RLAR_E_ARG);
    assert_int_equal(rlar_data_splits(d.ctx, NULL, NULL, &can), RLAR_E_ARG);
    assert_int_equal(rlar_data_splits(d.ctx, path, NULL, NULL), RLAR_E_ARG);
    assert_non_null(strstr(rlar_ctx_error(d.ctx), "rlar_data_splits"));
    assert_int_equal(rlar_data_splits(d.ctx, "/no/such/file", NULL, &can), RLAR_E_IO);
    assert_non_null(strstr(rlar_ctx_error(d.ctx), "/no/such/file: cannot open"));
    assert_int_equal(can, 7);
    put(&d, "x.arff", "@relation r\n@attribute a numeric\n@attribute class {x,y}\n@data\n1,x\n");
    check_splits(&d, "x.arff", 0);
    assert_string_equal(rlar_ctx_error(d.ctx), ""); /* an answer, not an error */
    static const struct {
        int64_t part, parts;
        const char *says;
    } wrong[] = {{0, -1, "parts is -1; use 0 for the whole file"},
                 {-1, 4, "part is -1 of 4"},
                 {4, 4, "part is 4 of 4"},
                 {1, 0, "part is 1 of 0"},
                 {0, 1000000001, "at most 10^9"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rlar_data *data = NULL;
        d.options.part = wrong[i].part;
        d.options.parts = wrong[i].parts;
        assert_int_equal(rlar_data_read(d.ctx, path, &d.options, &data), RLAR_E_ARG);
        if (!strstr(rlar_ctx_error(d.ctx), wrong[i].says))
            fail_msg("'%s' does not say '%s'", rlar_ctx_error(d.ctx), wrong[i].says);
        assert_null(data);
    }
    end_desk(&d);
}

/* ---- A file that changes meanwhile ---- */

static int cut_file(void *user, const rlar_event *event) {
    return event->kind == RLAR_EVENT_READ ? truncate(user, 200) : 0;
}

/* The head is there, the part no longer: an error, not a table with fewer samples. */
static void read_cut(const desk *d, const char *name, int64_t part) {
    char path[512];
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    rlar_ctx *ctx = NULL;
    rlar_data *data = NULL;
    options.threads = 2;
    options.progress = cut_file;
    options.user = (void *)(uintptr_t)path_in(&d->folder, name, path);
    o.part = part;
    o.parts = 3;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    assert_int_equal(rlar_data_read(ctx, path, &o, &data), RLAR_E_IO);
    if (!strstr(rlar_ctx_error(ctx), ": ends at byte ") ||
        !strstr(rlar_ctx_error(ctx), " when it was opened"))
        fail_msg("%s", rlar_ctx_error(ctx));
    assert_null(data);
    rlar_ctx_free(ctx);
}

static void test_cut_off(void **state) {
    (void)state;
    enum { ROWS = 4000 };
    desk d = new_desk();
    maker *m = malloc(sizeof *m);
    char *text = malloc(ROWS * 16);
    size_t size = 0;
    m->seed = 3;
    for (int i = 0; i < ROWS; i++)
        size += (size_t)sprintf(text + size, "%d,0.5,%c\n", i, 'a' + i % 2);
    make_npy(m, 3000, 4, false);
    for (int64_t part = 0; part < 3; part++) {
        write_bytes(&d.folder, "x.csv", text, size);
        read_cut(&d, "x.csv", part);
        write_bytes(&d.folder, "x.npy", m->text, m->size);
        read_cut(&d, "x.npy", part);
    }
    free(text);
    free(m);
    end_desk(&d);
}

/* ---- What cannot be shared ---- */

static void test_share_refused(void **state) {
    (void)state;
    desk d = new_desk();
    rlar_data *part = NULL, *out = NULL;
    assert_int_equal(rlar_data_share(NULL, &part, 0, &out), RLAR_E_ARG);
    assert_int_equal(rlar_data_share(d.ctx, &part, 0, NULL), RLAR_E_ARG);
    assert_int_equal(rlar_data_share(d.ctx, &part, -1, &out), RLAR_E_ARG);
    assert_non_null(strstr(rlar_ctx_error(d.ctx), "count is -1"));
    assert_int_equal(rlar_data_share(d.ctx, NULL, 1, &out), RLAR_E_ARG);
    assert_non_null(strstr(rlar_ctx_error(d.ctx), "rlar_data_share"));
    assert_int_equal(rlar_data_share(d.ctx, NULL, 0, &out), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(d.ctx), "no rank has read a sample with a feature"));
    put(&d, "x.csv", "1,2\n3,4\n");
    d.options.label = "none";
    part = read_file(&d, "x.csv");
    assert_int_equal(rlar_data_share(d.ctx, &part, 1, &out), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(d.ctx), "x.csv: no labels; name the label column"));
    assert_non_null(part); /* still the caller's */
    assert_null(out);
    rlar_data_free(part);
    end_desk(&d);
}

/* ---- Features of sparse parts ---- */

static void test_widths(void **state) {
    (void)state;
    desk d = new_desk();
    rlar_data *part[2] = {NULL, NULL}, *both = NULL;
    put(&d, "a.svm", "x 1:1\ny 2:2\n");
    put(&d, "b.svm", "x 1:3 4:4\n");
    put(&d, "c.csv", "1,2,3,x\n");
    part[0] = read_file(&d, "a.svm");
    part[1] = read_file(&d, "b.svm");
    assert_int_equal(rlar_data_share(d.ctx, part, 2, &both), RLAR_OK);
    assert_int_equal(rlar_data_dims(both), 4);
    const double want[12] = {1, 0, 0, 0, 3, 0, 0, 4, 0, 2, 0, 0};
    for (int64_t i = 0; i < 12; i++)
        assert_true(value_at(both, i / 4, i % 4) == want[i]);
    rlar_data_free(both);
    both = NULL;
    part[0] = read_file(&d, "a.svm");
    part[1] = read_file(&d, "c.csv");
    assert_int_equal(rlar_data_share(d.ctx, part, 2, &both), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(d.ctx), "3 features where others have 2"));
    rlar_data_free(part[0]);
    rlar_data_free(part[1]);
    end_desk(&d);
}

/* ---- Bytes ---- */

/* That this process has read so far; -1 where the system does not tell. */
static int64_t bytes_read(void) {
    FILE *f = fopen("/proc/self/io", "r");
    long long bytes = -1;
    if (f && fscanf(f, "rchar: %lld", &bytes) != 1)
        bytes = -1;
    if (f)
        fclose(f);
    return bytes;
}

/* Beyond the file: its head, and a line and what is read with it at both ends of a part. */
static void count_bytes(const desk *d, const char *name) {
    enum { AT_ONCE = 4096, LINE = 2000 };
    char path[512];
    pieces *p = malloc(sizeof *p);
    struct stat info;
    assert_int_equal(stat(path_in(&d->folder, name, path), &info), 0);
    const int64_t size = info.st_size;
    for (int64_t parts = 1; parts <= MOST_PARTS; parts += 2) {
        const int64_t before = bytes_read();
        read_parts(d->ctx, path, &d->options, parts, p);
        const int64_t bytes = bytes_read() - before;
        assert_int_equal(p->failed, 0);
        if (before >= 0)
            assert_true(bytes >= size && bytes <= size + parts * 3 * (AT_ONCE + LINE) + 1000);
        free_parts(p);
    }
    free(p);
}

static void test_bytes(void **state) {
    (void)state;
    enum { ROWS = 1000 };
    desk d = new_desk();
    char *text = malloc(ROWS * 1000), path[512];
    int64_t size = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < 99; j++)
            size += sprintf(text + size, "%d.%d,", i % 50, j);
        size += sprintf(text + size, "%c\n", '1' + i % 3);
    }
    write_bytes(&d.folder, "x.csv", text, (size_t)size);
    count_bytes(&d, "x.csv");
    rlar_data *data = read_file(&d, "x.csv");
    assert_int_equal(rlar_data_write(d.ctx, data, path_in(&d.folder, "x.svm", path), NULL),
                     RLAR_OK);
    count_bytes(&d, "x.svm");
    assert_int_equal(rlar_data_write(d.ctx, data, path_in(&d.folder, "x.npy", path), NULL),
                     RLAR_OK);
    count_bytes(&d, "x.npy");
    rlar_data_free(data);
    free(text);
    end_desk(&d);
}

/* ---- Memory ---- */

/* Ranks as processes: a socket between every two of them. */
enum { RANKS = 4, SMALL_PARTS = 64, WIDE = 512, ROWS_OF_RANK = 4096, CLASSES = 8, ORDERS = 3 };
enum { OTHER_KIB = 1024 }; /* code that runs for the first time, buffers */

static int move_bytes(int fd, char *bytes, size_t count, bool out) {
    while (count > 0) {
        const ssize_t n = out ? write(fd, bytes, count) : read(fd, bytes, count);
        if (n <= 0)
            return 1;
        bytes += n;
        count -= (size_t)n;
    }
    return 0;
}

static int socket_send(void *user, int to, const void *bytes, size_t count) {
    return move_bytes(((const int *)user)[to], (char *)(uintptr_t)bytes, count, true);
}

static int socket_receive(void *user, int from, void *bytes, size_t count) {
    return move_bytes(((const int *)user)[from], bytes, count, false);
}

static int socket_broadcast(void *user, int from, void *bytes, size_t count) {
    const int *fd = user; /* that of the rank itself is -1 */
    int status = fd[from] < 0 ? 0 : socket_receive(user, from, bytes, count);
    for (int r = 0; r < RANKS && fd[from] < 0; r++)
        if (r != from)
            status |= socket_send(user, r, bytes, count);
    return status;
}

/* The most KiB that this process has held, or holds (name: VmHWM or VmRSS). */
static int64_t held(const char *name) {
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long long kib = -1;
    while (f && kib < 0 && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0)
            sscanf(line + strlen(name) + 1, "%lld", &kib);
    if (f)
        fclose(f);
    return kib;
}

/* Read a quarter of the file in small parts and share it. 0, or what went wrong. */
static int memory_rank(const char *path, int rank, int *fd) {
    rlar_ctx *ctx = NULL;
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    rlar_team team = {.size = sizeof team, .rank = rank, .ranks = RANKS, .user = fd};
    rlar_data *part[SMALL_PARTS] = {NULL}, *data = NULL;
    team.send = socket_send;
    team.receive = socket_receive;
    team.broadcast = socket_broadcast;
    options.threads = 1;
    o.parts = RANKS * SMALL_PARTS;
    if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0 || rlar_ctx_new(&options, &ctx) < 0 ||
        rlar_ctx_join(ctx, &team) < 0)
        return 1;
    malloc_trim(0); /* what the tests before have left would be used again, and not be counted */
    const int64_t before = held("VmRSS:");
    for (int i = 0; i < SMALL_PARTS; i++) {
        o.part = rank * SMALL_PARTS + i;
        if (rlar_data_read(ctx, path, &o, &part[i]) < 0)
            return 2;
    }
    if (rlar_data_share(ctx, part, SMALL_PARTS, &data) < 0)
        return 3;
    const double share = (double)rlar_data_samples(data) * WIDE * sizeof(double) / 1024;
    const double most = (double)(held("VmHWM:") - before - OTHER_KIB) / share;
    rlar_data_free(data);
    rlar_ctx_free(ctx);
    return most < 0.9 || most > 1.1 ? (int)(100 * most) : 0;
}

/* Rows in the order of `key`; the classes are even, so that a share is a quarter. */
static void write_rows(const desk *d, int order) {
    maker m = {.seed = 5};
    char header[128], path[512];
    FILE *f = fopen(path_in(&d->folder, "x.npy", path), "wb");
    const int length = snprintf(header, sizeof header,
                                "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d)}\n",
                                RANKS * ROWS_OF_RANK, WIDE + 1);
    assert_non_null(f);
    fwrite("\x93NUMPY\1\0", 1, 8, f);
    fputc(length, f);
    fputc(0, f);
    fwrite(header, 1, (size_t)length, f);
    for (int64_t i = 0; i < (int64_t)RANKS * ROWS_OF_RANK; i++) {
        double row[WIDE + 1];
        for (int j = 0; j < WIDE; j++)
            row[j] = (double)(i + j);
        const int64_t sorted = i * CLASSES / (RANKS * ROWS_OF_RANK);
        const int64_t sorted_in_rank = i % ROWS_OF_RANK * CLASSES / ROWS_OF_RANK;
        const int64_t key[ORDERS] = {draw(&m, CLASSES), sorted_in_rank, CLASSES - 1 - sorted};
        row[WIDE] = (double)key[order];
        fwrite(row, sizeof *row, WIDE + 1, f);
    }
    assert_int_equal(fclose(f), 0);
}

static void run_ranks(const char *path) {
    int fd[RANKS][RANKS], status;
    pid_t child[RANKS];
    for (int r = 0; r < RANKS; r++) {
        fd[r][r] = -1;
        for (int s = 0; s < r; s++) {
            int pair[2];
            assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
            fd[r][s] = pair[0];
            fd[s][r] = pair[1];
        }
    }
    for (int r = 0; r < RANKS; r++) {
        child[r] = fork();
        if (child[r] == 0)
            _exit(memory_rank(path, r, fd[r]));
    }
    for (int r = 0; r < RANKS; r++)
        for (int s = 0; s < RANKS; s++)
            if (s != r)
                close(fd[r][s]);
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(waitpid(child[r], &status, 0), child[r]);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fail_msg("rank %d: %d", r, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
}

/* A rank holds at most 1.1 times its share, whatever the order of the samples. A sanitizer or
 * valgrind has memory of its own. */
static void test_memory(void **state) {
    (void)state;
    const char *loaded = getenv("LD_PRELOAD");
    if (SANITIZED || (loaded && strstr(loaded, "vgpreload")) || held("VmHWM:") < 0)
        skip();
    mallopt(M_PERTURB, 0); /* which Meson sets: it would touch what nobody has written to yet */
    desk d = new_desk();
    char path[512];
    for (int order = 0; order < ORDERS; order++) {
        write_rows(&d, order);
        run_ranks(path_in(&d.folder, "x.npy", path));
    }
    end_desk(&d);
}

/* Two files are one set: whether 1 and 1.0 are one class depends on the labels of both. */
static void test_labels_of_files(void **state) {
    (void)state;
    static const char *const second[] = {"a,b,class\n3,4,1.0\n5,6,x\n",
                                         "a,b,class\n3,4,1\n5,6,3\n"};
    static const char *const expected[2][3] = {{"1.0", "2.0", "x"}, {"1", "2", "3"}};
    desk d = new_desk();
    put(&d, "m1.csv", "a,b,class\n1,2,1.0\n3,5,2.0\n");
    d.options.parts = 1;
    for (int i = 0; i < 2; i++) {
        put(&d, "m2.csv", second[i]);
        rlar_data *part[2] = {read_file(&d, "m1.csv"), read_file(&d, "m2.csv")}, *all = NULL;
        assert_int_equal(rlar_data_share(d.ctx, part, 2, &all), RLAR_OK);
        assert_int_equal(rlar_data_classes(all), 3);
        for (int64_t k = 0; k < 3; k++)
            assert_string_equal(rlar_data_class(all, k), expected[i][k]);
        assert_int_equal(rlar_data_class_size(all, 0), 2);
        rlar_data_free(all);
    }
    end_desk(&d);
}

static void keep_text(void *user, rlar_status code, const char *text) {
    assert_int_equal(code, RLAR_OK);
    snprintf(user, RLAR_ERROR_SIZE, "%s", text);
}

/* Samples left out of the parts of a file are told once, when they are put together. */
static void test_dropped(void **state) {
    (void)state;
    static const char table[] = "a,b,class\n1,2,x\n1,?,x\n3,4,y\n5,?,x\n5,6,x\n7,8,?\n7,8,y\n";
    char text[RLAR_ERROR_SIZE] = "", expected[2 * RLAR_ERROR_SIZE], path[512];
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    rlar_ctx *ctx = NULL;
    rlar_data *part[3] = {NULL}, *all = NULL;
    options.log = keep_text;
    options.user = text;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    const temp_folder t = new_folder();
    write_bytes(&t, "x.csv", table, sizeof table - 1);
    path_in(&t, "x.csv", path);
    o.missing = RLAR_MISSING_DROP;
    o.parts = 3;
    for (o.part = 0; o.part < o.parts; o.part++)
        assert_int_equal(rlar_data_read(ctx, path, &o, &part[o.part]), RLAR_OK);
    assert_string_equal(text, "");
    assert_int_equal(rlar_data_share(ctx, part, 3, &all), RLAR_OK);
    snprintf(expected, sizeof expected, "%s: 3 samples have missing values and are left out", path);
    assert_string_equal(text, expected);
    rlar_data_free(all);
    remove_folder(&t);
    end_ctx(ctx);
}

static void count_guess(void *user, rlar_status code, const char *text) {
    assert_int_equal(code, RLAR_W_GUESS);
    assert_non_null(strstr(text, "x.csv:1: the first line was taken for names"));
    ++*(int *)user;
}

/* What is guessed of a file its first part tells, once, also where a row is wrong. */
static void test_guess_is_told_once(void **state) {
    (void)state;
    static const char table[] = "0.1,0.2,target\n1,2,x\n3,4,y\n5,6,x\n5,q,x\n7,8,y\n";
    int told = 0, can = 0;
    char path[512];
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    rlar_ctx *ctx = NULL;
    options.log = count_guess;
    options.user = &told;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    const temp_folder t = new_folder();
    write_bytes(&t, "x.csv", table, sizeof table - 1);
    path_in(&t, "x.csv", path);
    assert_int_equal(rlar_data_splits(ctx, path, &o, &can), RLAR_OK);
    assert_int_equal(can, 1);
    for (o.parts = 1; o.parts < 4; o.parts++) {
        rlar_status worst = RLAR_OK;
        told = 0;
        for (o.part = 0; o.part < o.parts; o.part++) {
            rlar_data *data = NULL;
            const rlar_status status = rlar_data_read(ctx, path, &o, &data);
            worst = status < worst ? status : worst;
            rlar_data_free(data);
        }
        assert_int_equal(worst, RLAR_E_DATA);
        assert_int_equal(told, 1);
    }
    remove_folder(&t);
    end_ctx(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generated),       cmocka_unit_test(test_few_lines),
        cmocka_unit_test(test_arrays),          cmocka_unit_test(test_wrong_arrays),
        cmocka_unit_test(test_lines),           cmocka_unit_test(test_refused),
        cmocka_unit_test(test_widths),          cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_memory),          cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_cut_off),         cmocka_unit_test(test_share_refused),
        cmocka_unit_test(test_dropped),         cmocka_unit_test(test_guess_is_told_once),
        cmocka_unit_test(test_labels_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
