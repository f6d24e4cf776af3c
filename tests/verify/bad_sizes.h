/* bad_sizes.h - the bench on which bad_sizes.c tries its calls, and how they are judged. */
#ifndef RLAR_VERIFY_BAD_SIZES_H
#define RLAR_VERIFY_BAD_SIZES_H

#include <sys/mman.h>
#include <unistd.h>

#include "training.h"
#include "trial.h"

#include "../unit/reading.h"

#define P31 (INT64_C(1) << 31)
#define P32 (INT64_C(1) << 32)
#define P62 (INT64_C(1) << 62)
#define MOST INT64_MAX

enum { LIMIT = 64 << 20 }; /* bytes for the context: what is too much is seen at once */

typedef struct bench {
    rlar_ctx *ctx;
    labelled s;
    rlar_data *data;
    rlar_model *model; /* of rlar */
    void *forbidden;   /* memory that ends the program when it is touched */
    int64_t refused, right, wrong;
} bench;

static inline rlar_ctx *limited(void) {
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    rlar_ctx *ctx = NULL;
    o.threads = 1;
    o.max_memory = LIMIT;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    return ctx;
}

static inline bench new_bench(void) {
    bench b = {.ctx = limited(), .s = regime_samples(1, 0)};
    assert_int_equal(view_labelled(b.ctx, &b.s, &b.data), RLAR_OK);
    assert_true(rlar_fit(b.ctx, b.data, NULL, NULL, &b.model, NULL) >= 0);
    b.forbidden = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(b.forbidden != MAP_FAILED);
    return b;
}

static inline void end_bench(bench *b) {
    munmap(b->forbidden, 1 << 20);
    rlar_model_free(b->model);
    rlar_data_free(b->data);
    labelled_free(&b->s);
    rlar_ctx_free(b->ctx);
}

/* The call must have ended in an error of the caller's making, with a text. */
static inline void refused(bench *b, rlar_status status, const char *what, int64_t value) {
    const char *text = rlar_ctx_error(b->ctx);
    const bool named = status == RLAR_E_ARG || status == RLAR_E_TOO_LARGE ||
                       status == RLAR_E_NOMEM || status == RLAR_E_DATA;
    const char *fault = named ? text_fault(text) : "not refused";
    b->refused += !fault;
    b->wrong += fault != NULL;
    if (fault)
        fprintf(stderr, "%s %lld: %s (status %d, \"%s\")\n", what, (long long)value, fault,
                (int)status, text);
}

static inline void right(bench *b, bool good, const char *what, int64_t value) {
    b->right += good;
    b->wrong += !good;
    if (!good)
        fprintf(stderr, "%s %lld: wrong (\"%s\")\n", what, (long long)value,
                rlar_ctx_error(b->ctx));
}

#endif
