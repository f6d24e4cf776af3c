/* test_window.c - reading in pieces: the same table, or the same error at the same place, as in one
 * go and as byte after byte, for generated files that are right, odd and wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <unistd.h>

#include "data/window.h"
#include "desk.h"
#include "tables.h"

/* ---- The comparison ---- */

static rlar_ctx *threaded_ctx(int threads) {
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    rlar_ctx *ctx = NULL;
    options.threads = threads;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    return ctx;
}

typedef struct tally {
    int64_t tables, refused;
} tally;

/* Single bytes never show a parser a whole number, so this is the way without short cuts. */
static void compare_bytes(rlar_ctx *ctx, const maker *m, bool csv, const char *path,
                          const rlar_read_options *o) {
    const rlar_format *format = csv ? &rlar__format_csv : &rlar__format_libsvm;
    rlar_data *want = NULL, *got = NULL;
    const rlar_status status = feed(ctx, format, m->text, m->size, 1, o, &want);
    char text[RLAR_ERROR_SIZE];
    snprintf(text, sizeof text, "%s", rlar_ctx_error(ctx));
    assert_int_equal(rlar_data_read(ctx, path, o, &got), status);
    if (status < 0) /* behind the names of the file, "f" and the path */
        assert_string_equal(rlar_ctx_error(ctx) + strlen(path), text + 1);
    else
        same_data(want, got);
    rlar_data_free(want);
    rlar_data_free(got);
}

/* The file in pieces of many sizes, against chunk after chunk. */
static void compare(rlar_ctx *one, rlar_ctx *three, const char *path, const rlar_read_options *o,
                    tally *t) {
    static const rlar_window_size sizes[] = {{7, 3}, {16, 4}, {61, 8}, {300, 2}, {1000, 5}};
    rlar_data *want = NULL;
    const rlar_status status = rlar__data_read(one, path, o, NULL, &want);
    char text[RLAR_ERROR_SIZE];
    snprintf(text, sizeof text, "%s", rlar_ctx_error(one));
    t->tables += status >= 0;
    t->refused += status < 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        rlar_ctx *ctx = k % 2 ? one : three;
        rlar_data *got = NULL;
        const rlar_status again = rlar__data_read(ctx, path, o, &sizes[k], &got);
        if (again != status || (status < 0 && strcmp(text, rlar_ctx_error(ctx)) != 0))
            fail_msg("pieces of %d: %d '%s' instead of %d '%s'", (int)sizes[k].piece, (int)again,
                     rlar_ctx_error(ctx), (int)status, text);
        if (status >= 0)
            same_data(want, got);
        rlar_data_free(got);
    }
    rlar_data_free(want);
}

static void test_generated(void **state) {
    (void)state;
    enum { FILES = 600 };
    desk d = new_desk();
    rlar_ctx *one = threaded_ctx(1), *three = threaded_ctx(3);
    maker *m = malloc(sizeof *m);
    tally t = {0};
    char path[512];
    m->seed = 20261115;
    for (int i = 0; i < FILES; i++) {
        const bool csv = i % 2 == 0;
        if (csv)
            make_csv(m);
        else
            make_libsvm(m);
        const char *name = csv ? "x.csv" : "x.svm";
        write_bytes(&d.folder, name, m->text, m->size);
        d.options.missing = (rlar_missing)draw(m, 4);
        d.options.features = !csv && draw(m, 4) == 0 ? 5002 : 0;
        d.options.label = csv && draw(m, 6) == 0 ? "none" : NULL;
        compare(one, three, path_in(&d.folder, name, path), &d.options, &t);
        compare_bytes(one, m, csv, path, &d.options);
    }
    /* The files are of both kinds, or the test would compare nothing. */
    assert_true(t.tables > FILES / 5);
    assert_true(t.refused > FILES / 10);
    free(m);
    end_ctx(one);
    end_ctx(three);
    end_desk(&d);
}

/* Gzip and labels in a file of their own take the same way. */
static void test_packed_and_labels(void **state) {
    (void)state;
    desk d = new_desk();
    rlar_ctx *one = threaded_ctx(1), *three = threaded_ctx(3);
    maker *m = malloc(sizeof *m);
    static unsigned char packed[TEXT_ROOM];
    tally t = {0};
    char path[512], labels[512];
    m->seed = 4;
    m->size = 0;
    for (int i = 0; i < 400; i++) {
        say_number(m);
        says(m, i % 7 == 0 ? ",NA\n" : ",2\n");
    }
    write_bytes(&d.folder, "x.csv.gz", packed, pack(m->text, m->size, packed, sizeof packed));
    d.options.missing = RLAR_MISSING_DROP;
    compare(one, three, path_in(&d.folder, "x.csv.gz", path), &d.options, &t);
    m->size = 0;
    for (int i = 0; i < 400; i++)
        says(m, i % 3 ? "a\n" : "b\n");
    write_bytes(&d.folder, "l.txt", m->text, m->size);
    d.options.labels_file = path_in(&d.folder, "l.txt", labels);
    compare(one, three, path, &d.options, &t);
    assert_int_equal(t.tables, 2);
    free(m);
    end_ctx(one);
    end_ctx(three);
    end_desk(&d);
}

/* ---- What happens meanwhile ---- */

typedef struct meddler {
    const char *path;
    int64_t at; /* bytes read */
    bool cancel;
} meddler;

static int meddle(void *user, const rlar_event *event) {
    const meddler *m = user;
    if (event->kind != RLAR_EVENT_READ || event->done < m->at)
        return 0;
    return m->cancel ? 1 : truncate(m->path, m->at + 1000);
}

static rlar_status read_meddled(const char *path, bool cancel) {
    meddler m = {.path = path, .at = 1500000, .cancel = cancel};
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    rlar_ctx *ctx = NULL;
    rlar_data *data = NULL;
    options.threads = 3;
    options.progress = meddle;
    options.user = &m;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    const rlar_window_size size = {.piece = 100000, .pieces = 8};
    const rlar_status status = rlar__data_read(ctx, path, NULL, &size, &data);
    rlar_data_free(data);
    end_ctx(ctx);
    return status;
}

/* A file that is cut off while it is read ends there; a read that is cancelled gives all back. */
static void test_meddled(void **state) {
    (void)state;
    desk d = new_desk();
    char path[512];
    FILE *file = fopen(path_in(&d.folder, "x.csv", path), "w");
    for (int i = 0; i < 200000; i++)
        fprintf(file, "%d,0.5,1234.5\n", i % 2);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(read_meddled(path, true), RLAR_E_CANCELLED);
    (void)read_meddled(path, false); /* ends inside a row or behind one: both are fine */
    end_desk(&d);
}

/* Every allocation fails once. */
static void read_with_faults(const char *path) {
    const rlar_window_size size = {.piece = 16, .pieces = 4};
    faulty f;
    rlar_ctx *ctx = new_faulty_ctx(&f);
    rlar_status status = RLAR_E_NOMEM;
    ctx->threads = 1; /* the allocator of the test counts without a lock */
    for (int fault = 0; status == RLAR_E_NOMEM; fault++) {
        rlar_data *data = NULL;
        f.left = fault;
        status = rlar__data_read(ctx, path, NULL, &size, &data);
        f.left = INT32_MAX;
        assert_int_equal(data != NULL, status >= 0);
        rlar_data_free(data);
        assert_int_equal(rlar_ctx_memory(ctx), 0);
    }
    assert_int_equal(status, RLAR_OK);
    end_ctx(ctx);
}

static void test_faults(void **state) {
    (void)state;
    desk d = new_desk();
    char path[512];
    put(&d, "x.csv", "a,b,kind\n1,2,x\n3,4,y\n5,6,x\n7,8,z\n9,10,y\n1,\"1\n\",y\n2,2,y\n3,3,x\n");
    read_with_faults(path_in(&d.folder, "x.csv", path));
    put(&d, "x.svm", "1 1:2 3:4\n2 1:1 2:2\n1 3:1\n2 1:1 2:2 3:3\n1 1:1 2:2\n1 1:1\n2 4:1\n");
    read_with_faults(path_in(&d.folder, "x.svm", path));
    end_desk(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generated),
        cmocka_unit_test(test_packed_and_labels),
        cmocka_unit_test(test_meddled),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
