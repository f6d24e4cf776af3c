/* fuzz_model.c - the loader of models, behind its checksum: a model that is accepted is finite, can
 * be saved and loaded again with the same bytes, and answers finite numbers; see models.h. With
 * the checksum compared nothing else is accepted: the same model where it is right, none where a
 * bit was turned behind it. (That a file is saved with the bytes it was loaded from is promised of
 * those that rlar wrote: others may be spelled in another way.) */
#include "models.h"

/* What the loader has promised of the numbers. */
static void check_contents(const rlar_model *m) {
    FUZZ_CHECK(m->d >= 1 && m->p >= 1 && m->c >= 1 && m->n >= 0, "sizes %lld %lld %lld %lld",
               (long long)m->d, (long long)m->p, (long long)m->c, (long long)m->n);
    model_check_numbers(m->d * m->p, m->w, "weight");
    model_check_numbers(m->p, m->b, "offset");
    model_check_numbers(m->p * m->n, m->z, "reference");
    model_check_numbers(m->d, m->score, "score");
    for (int64_t i = 0; i < m->n; i++)
        FUZZ_CHECK(m->z_class[i] >= 0 && m->z_class[i] < m->c, "class %d of a reference",
                   (int)m->z_class[i]);
    FUZZ_CHECK(m->classes.count == m->c, "%lld names of classes", (long long)m->classes.count);
    FUZZ_CHECK(m->features.count == 0 || m->features.count == m->d, "%lld names of features",
               (long long)m->features.count);
}

/* As it is: what is accepted with its checksum is accepted without. */
static void check_strict(rlar_ctx *ctx, const uint8_t *bytes, size_t size, bool loads) {
    rlar_model *model = NULL;
    const rlar_status status = rlar_model_load_bytes(ctx, bytes, size, &model);
    FUZZ_CHECK(status < 0 || loads, "accepted with its checksum only");
    rlar_model_free(model);
}

static void check_same(rlar_ctx *ctx, const rlar_model *a, const rlar_model *b) {
    void *first = NULL, *second = NULL;
    size_t size = 0, other = 0;
    FUZZ_CHECK(rlar_model_save_bytes(ctx, a, &first, &size) == RLAR_OK &&
                   rlar_model_save_bytes(ctx, b, &second, &other) == RLAR_OK && size == other &&
                   memcmp(first, second, size) == 0,
               "the checksum makes another model of the bytes");
    rlar_bytes_free(ctx, first);
    rlar_bytes_free(ctx, second);
}

/* Of bytes that are accepted: with the checksum put right, and then with a bit turned. It may stand
 * there in another spelling than that in which it is looked for. */
static void check_sum(rlar_ctx *ctx, const uint8_t *bytes, size_t size, const rlar_model *model) {
    uint64_t header = 0;
    memcpy(&header, bytes, sizeof header);
    const size_t digits = rlar__checksum_find(bytes + 8, (size_t)header);
    const size_t bit = crc32(0, bytes, (uInt)size) % (8 * size);
    rlar_model *other = NULL;
    if (digits == 0)
        return;
    uint8_t *copy = fuzz_alloc(size);
    memcpy(copy, bytes, size);
    rlar__checksum_print(rlar__model_checksum(copy, size, digits + 8), (char *)copy + 8 + digits);
    FUZZ_CHECK(rlar_model_load_bytes(ctx, copy, size, &other) >= 0, "with a right checksum: %s",
               rlar_ctx_error(ctx));
    check_same(ctx, model, other);
    rlar_model_free(other);
    copy[bit / 8] ^= (uint8_t)(1U << bit % 8);
    FUZZ_CHECK(rlar_model_load_bytes(ctx, copy, size, &other) == RLAR_E_MODEL,
               "bit %zu is turned, and the model accepted", bit);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    rlar_ctx *ctx = fuzz_ctx();
    rlar_model *model = NULL;
    rlar__begin(ctx);
    const rlar_status status = rlar__model_load_bytes(ctx, bytes, size, false, &model);
    FUZZ_CHECK((status >= 0) == (model != NULL), "status %d", (int)status);
    if (status < 0) {
        fuzz_check_refusal(ctx, status);
        FUZZ_CHECK(status == RLAR_E_MODEL, "status %d: %s", (int)status, rlar_ctx_error(ctx));
    } else {
        const fuzz_bytes b = {bytes, size};
        check_contents(model);
        model_check_saved(ctx, model);
        model_check_answers(ctx, model);
        if (fuzz_turn(&b, 4, 0))
            check_sum(ctx, bytes, size, model);
    }
    check_strict(ctx, bytes, size, status >= 0);
    rlar_model_free(model);
    fuzz_check_memory(ctx);
    return 0;
}
