/* desk.h - what the tests of files and streams share: a context with a temporary folder and read
 * options, a small table, gzip, a model without a fit. Include after cmocka.h. */
#ifndef RLAR_TEST_DESK_H
#define RLAR_TEST_DESK_H

#include <zlib.h>

#include "model/model.h"
#include "reading.h"

static const char small[] = "a,b,kind\n1,2,x\n3,4,y\n5,6,x\n7,8,z\n9,10,y\n";

typedef struct desk {
    rlar_ctx *ctx;
    temp_folder folder;
    rlar_read_options options;
} desk;

static inline desk new_desk(void) {
    return (desk){
        .ctx = new_ctx(), .folder = new_folder(), .options = RLAR_INIT(rlar_read_options)};
}

static inline void end_desk(desk *d) {
    remove_folder(&d->folder);
    end_ctx(d->ctx);
}

static inline void put(const desk *d, const char *name, const char *text) {
    write_bytes(&d->folder, name, text, strlen(text));
}

/* One gzip member into out; returns its size. */
static inline size_t pack(const char *text, size_t size, unsigned char *out, size_t room) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)size;
    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const size_t packed = room - z.avail_out;
    deflateEnd(&z);
    return packed;
}

static inline rlar_data *read_file(const desk *d, const char *name) {
    char path[512];
    rlar_data *data = NULL;
    const rlar_status status =
        rlar_data_read(d->ctx, path_in(&d->folder, name, path), &d->options, &data);
    if (status < 0)
        fail_msg("%s", rlar_ctx_error(d->ctx));
    return data;
}

/* `expected` is the text behind the path of the folder. */
static inline void refuse(const desk *d, const char *name, rlar_status code, const char *expected) {
    char path[512], text[4 * RLAR_ERROR_SIZE];
    rlar_data *data = NULL;
    const rlar_status status =
        rlar_data_read(d->ctx, path_in(&d->folder, name, path), &d->options, &data);
    snprintf(text, sizeof text, "%s%s", path, expected);
    const char *want = *expected == ':' ? text : expected;
    if (status != code || strcmp(rlar_ctx_error(d->ctx), want) != 0)
        fail_msg("status %d, text\n  %s\ninstead of\n  %s", (int)status, rlar_ctx_error(d->ctx),
                 want);
    assert_null(data);
}

static inline void check_small(const rlar_data *data) {
    assert_int_equal(rlar_data_samples(data), 5);
    assert_int_equal(rlar_data_dims(data), 2);
    assert_int_equal(rlar_data_classes(data), 3);
    assert_int_equal(rlar_data_class_size(data, 0), 2);
    assert_string_equal(label_at(data, 3), "z");
    assert_true(value_at(data, 4, 1) == 10);
}

static inline rlar_model *make_model(rlar_ctx *ctx, const char *const *features, int64_t d,
                                     const char *const *classes, int64_t c) {
    rlar_model *m = NULL;
    assert_int_equal(rlar__model_new(ctx, d, 1, c, 0, &m), RLAR_OK);
    for (int64_t j = 0; features && j < d; j++)
        assert_int_equal(rlar__texts_add(ctx, &m->features, features[j], strlen(features[j])),
                         RLAR_OK);
    for (int64_t r = 0; r < c; r++)
        assert_int_equal(rlar__texts_add(ctx, &m->classes, classes[r], strlen(classes[r])),
                         RLAR_OK);
    return m;
}

#endif
