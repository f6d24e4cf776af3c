/* reading.h - what the tests of the readers and the writer share: bytes fed to a parser in pieces,
 * truncation at every byte, a temporary folder. Include after cmocka.h. */
#ifndef RLAR_TEST_READING_H
#define RLAR_TEST_READING_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "feeding.h"

static inline rlar_ctx *new_ctx(void) {
    rlar_ctx *ctx = NULL;
    assert_int_equal(rlar_ctx_new(NULL, &ctx), RLAR_OK);
    return ctx;
}

/* An allocator that stops giving after `left` blocks. */
typedef struct faulty {
    int left;
} faulty;

static inline void *faulty_alloc(void *user, size_t bytes) {
    faulty *f = user;
    return f->left-- > 0 ? malloc(bytes) : NULL;
}

static inline void faulty_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

static inline rlar_ctx *new_faulty_ctx(faulty *f) {
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    rlar_ctx *ctx = NULL;
    options.alloc = faulty_alloc;
    options.release = faulty_release;
    options.alloc_user = f;
    f->left = INT32_MAX;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    return ctx;
}

/* Everything was given back, but for the threads, which the context keeps. */
static inline void end_ctx(rlar_ctx *ctx) {
    rlar__pool_free(ctx->pool);
    ctx->pool = NULL;
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

/* The bytes must be refused, with a text that contains `expected`. */
static inline void expect_refused(rlar_ctx *ctx, const rlar_format *format, const char *bytes,
                                  size_t size, const char *expected) {
    rlar_data *data;
    const rlar_status status = feed(ctx, format, bytes, size, size + 1, NULL, &data);
    if (status >= 0 || !strstr(rlar_ctx_error(ctx), expected))
        print_error("expected \"%s\", got status %d \"%s\"\n", expected, (int)status,
                    rlar_ctx_error(ctx));
    assert_true(status < 0);
    assert_non_null(strstr(rlar_ctx_error(ctx), expected));
    assert_null(strchr(rlar_ctx_error(ctx), '\n'));
}

/* Every proper beginning of the bytes must be refused. */
static inline void expect_truncation_refused(rlar_ctx *ctx, const rlar_format *format,
                                             const char *bytes, size_t size) {
    for (size_t cut = 0; cut < size; cut++) {
        rlar_data *data;
        const rlar_status status = feed(ctx, format, bytes, cut, 7, NULL, &data);
        if (status >= 0)
            print_error("cut after %zu of %zu bytes was accepted\n", cut, size);
        assert_true(status < 0);
        assert_true(strlen(rlar_ctx_error(ctx)) > 0);
    }
}

/* Every bit of the bytes turned in turn: any status is fine, a crash or a leak is not. */
static inline void survive_flips(rlar_ctx *ctx, const rlar_format *format, const char *bytes,
                                 size_t size) {
    char *copy = malloc(size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        rlar_data *data;
        memcpy(copy, bytes, size);
        copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
        (void)feed(ctx, format, copy, size, 64, NULL, &data);
        rlar_data_free(data);
    }
    free(copy);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
}

/* Read once for every allocation, which fails; then once with enough memory. */
static inline void survive_faults(const rlar_format *format, const char *bytes, size_t size) {
    faulty f;
    rlar_ctx *ctx = new_faulty_ctx(&f);
    rlar_status status = RLAR_E_NOMEM;
    int fault = 0;
    for (; status == RLAR_E_NOMEM; fault++) {
        rlar_data *data;
        f.left = fault;
        status = feed(ctx, format, bytes, size, 16, NULL, &data);
        f.left = INT32_MAX;
        rlar_data_free(data);
        assert_int_equal(rlar_ctx_memory(ctx), 0);
    }
    assert_int_equal(status, RLAR_OK);
    assert_true(fault > 4);
    end_ctx(ctx);
}

static inline double value_at(const rlar_data *data, int64_t i, int64_t j) {
    double row[64];
    assert_true(rlar_data_dims(data) <= 64);
    rlar_data_row(data, i, row);
    return row[j];
}

static inline const char *label_at(const rlar_data *data, int64_t i) {
    return rlar_data_class(data, rlar_data_label(data, i));
}

/* ---- A temporary folder ---- */

typedef struct temp_folder {
    char path[256];
} temp_folder;

static inline temp_folder new_folder(void) {
    temp_folder t;
    const char *base = getenv("TMPDIR");
    snprintf(t.path, sizeof t.path, "%s/rlar-test-XXXXXX", base ? base : P_tmpdir);
    assert_non_null(mkdtemp(t.path));
    return t;
}

static inline int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static inline void remove_folder(const temp_folder *t) {
    assert_int_equal(nftw(t->path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* "folder/name" in a buffer that the next call overwrites is a trap: the caller brings the buffer.
 */
static inline const char *path_in(const temp_folder *t, const char *name, char buf[512]) {
    snprintf(buf, 512, "%s/%s", t->path, name);
    return buf;
}

static inline void write_bytes(const temp_folder *t, const char *name, const void *bytes,
                               size_t size) {
    char buf[512];
    FILE *file = fopen(path_in(t, name, buf), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void make_folder(const temp_folder *t, const char *name) {
    char buf[512];
    assert_int_equal(mkdir(path_in(t, name, buf), 0777), 0);
}

#endif
