/* test_outputs.c - a call that fails writes nothing to its outputs, whichever block of memory is
 * not to be had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "desk.h"

/* What a call may make, or, where it stands here before and after, has not touched. */
typedef struct made {
    rlar_ctx *ctx;
    rlar_data *data;
    rlar_params *params;
    rlar_model *model;
    rlar_stream *stream;
    rlar_file *file;
    rlar_eval *eval;
    rlar_rows *rows;
    void *bytes;
    double *grey;
    size_t size;
    int64_t rows_of, columns;
} made;

typedef struct bench {
    desk d;
    faulty f;
    rlar_ctx *ctx; /* whose memory ends when it is asked to */
    rlar_data *data;
    rlar_params *params;
    rlar_model *model;
    void *bytes;
    size_t size;
    rlar_eval_spec spec;
    rlar_occlusion occlusion;
} bench;

enum { CALLS = 17 };

/* Call number `call` of those that make something. */
static rlar_status make(bench *b, int call, made *m) {
    static const double x[] = {1, 2, 3, 4};
    const rlar_view view = {
        .size = sizeof view, .type = RLAR_F64, .n = 2, .d = 2, .x = x, .stride = 2};
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    char path[512], image[512], target[512];
    path_in(&b->d.folder, "x.csv", path);
    path_in(&b->d.folder, "x.pgm", image);
    path_in(&b->d.folder, "y", target);
    o.alloc = faulty_alloc;
    o.release = faulty_release;
    o.alloc_user = &b->f;
    switch (call) {
    case 0:
        return rlar_ctx_new(&o, &m->ctx);
    case 1:
        return rlar_params_new(b->ctx, "rlar", &m->params);
    case 2:
        return rlar_params_copy(b->ctx, b->params, &m->params);
    case 3:
        return rlar_params_new(b->ctx, "no method", &m->params);
    case 4:
        return rlar_data_view(b->ctx, &view, &m->data);
    case 5:
        return rlar_data_read(b->ctx, path, NULL, &m->data);
    case 6:
        return rlar_stream_open(b->ctx, path, NULL, &m->stream);
    case 7:
        return rlar_stream_data(b->ctx, b->data, NULL, &m->stream);
    case 8:
        return rlar_image_read(b->ctx, image, &m->grey, &m->rows_of, &m->columns);
    case 9:
        return rlar_fit(b->ctx, b->data, b->params, NULL, &m->model, NULL);
    case 10:
        return rlar_model_save_bytes(b->ctx, b->model, &m->bytes, &m->size);
    case 11:
        return rlar_model_load_bytes(b->ctx, b->bytes, b->size, &m->model);
    case 12:
        return rlar_eval_splits(b->ctx, b->data, &b->spec, &m->rows);
    case 13:
        return rlar_evaluate(b->ctx, b->data, &b->spec, &m->eval);
    case 14:
        return rlar_occlude(b->ctx, b->data, &b->occlusion, &m->data, &m->rows);
    case 15:
        return rlar_file_create(b->ctx, "/nowhere/at/all", &m->file);
    default:
        return rlar_file_create(b->ctx, target, &m->file);
    }
}

static void free_made(bench *b, const made *m, const made *before) {
#define MADE(member) (m->member == before->member ? NULL : m->member)
    rlar_ctx_free(MADE(ctx));
    rlar_data_free(MADE(data));
    rlar_params_free(MADE(params));
    rlar_model_free(MADE(model));
    rlar_stream_free(MADE(stream));
    rlar_file_abort(MADE(file));
    rlar_eval_free(MADE(eval));
    rlar_rows_free(MADE(rows));
    rlar_bytes_free(b->ctx, MADE(bytes));
    rlar_bytes_free(b->ctx, MADE(grey));
#undef MADE
}

static void bench_open(bench *b) {
    static const double y[] = {1, 1, 1, 2, 2, 2};
    static const double x[] = {1, 2, 2, 1, 1, 1, 5, 6, 6, 5, 7, 7};
    const rlar_view view = {
        .size = sizeof view, .type = RLAR_F64, .n = 6, .d = 2, .x = x, .stride = 2};
    *b = (bench){.d = new_desk()};
    b->ctx = new_faulty_ctx(&b->f);
    put(&b->d, "x.csv", small);
    put(&b->d, "x.pgm", "P2 3 2 255 0 127 255\n1 2 3\n");
    assert_int_equal(rlar_data_view(b->ctx, &view, &b->data), RLAR_OK);
    assert_int_equal(rlar_data_set_label_numbers(b->ctx, b->data, y), RLAR_OK);
    assert_int_equal(rlar_params_new(b->ctx, "rr", &b->params), RLAR_OK);
    assert_true(rlar_fit(b->ctx, b->data, b->params, NULL, &b->model, NULL) >= 0);
    assert_int_equal(rlar_model_save_bytes(b->ctx, b->model, &b->bytes, &b->size), RLAR_OK);
    b->spec = RLAR_INIT(rlar_eval_spec);
    b->spec.methods = (const rlar_params *const *)&b->params;
    b->spec.n_methods = 1;
    b->spec.per_class = 1;
    b->spec.trials = 1;
    b->occlusion = RLAR_INIT(rlar_occlusion);
    b->occlusion.per_class = b->occlusion.trials = b->occlusion.corrupted = 1;
    b->occlusion.block = b->occlusion.height = 1;
    b->occlusion.width = 2;
}

static void bench_close(bench *b) {
    rlar_bytes_free(b->ctx, b->bytes);
    rlar_model_free(b->model);
    rlar_params_free(b->params);
    rlar_data_free(b->data);
    end_ctx(b->ctx);
    end_desk(&b->d);
}

static void test_failing_calls_write_nothing(void **state) {
    (void)state;
    enum { MANY = 2000 };
    bench b;
    made before;
    memset(&before, 0x5a, sizeof before);
    bench_open(&b);
    for (int call = 0; call < CALLS; call++) {
        rlar_status status = RLAR_E_NOMEM;
        for (int left = 0; left < MANY && status == RLAR_E_NOMEM; left++) {
            made m = before;
            b.f.left = left;
            status = make(&b, call, &m);
            b.f.left = INT32_MAX;
            if (status < 0 && memcmp(&m, &before, sizeof m) != 0)
                fail_msg("call %d, block %d: an output was written", call, left);
            free_made(&b, &m, &before);
        }
        if ((status < 0) != (call == 3 || call == 15))
            fail_msg("call %d ends with %d: %s", call, (int)status, rlar_ctx_error(b.ctx));
    }
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failing_calls_write_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
