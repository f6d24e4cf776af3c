/* fuzz_model.c - the loader of models, behind its checksum: a model that is accepted is finite, can
 * be saved and loaded again with the same bytes, and answers finite numbers; see models.h. With
 * the checksum compared, bytes are accepted only if saving gives the same bytes again. */
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

/* The checksum is right: then the writer made these bytes, or someone who took care. */
static void check_strict(rlar_ctx *ctx, const uint8_t *bytes, size_t size, bool loads) {
    rlar_model *model = NULL;
    const rlar_status status = rlar_model_load_bytes(ctx, bytes, size, &model);
    FUZZ_CHECK(status < 0 || loads, "accepted with its checksum only");
    rlar_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    rlar_ctx *ctx = fuzz_ctx();
    rlar_model *model = NULL;
    rlar__begin(ctx);
    const rlar_status status = rlar__model_load_bytes(ctx, bytes, size, false, &model);
    FUZZ_CHECK((status >= 0) == (model != NULL), "status %d", (int)status);
    if (status < 0) {
        fuzz_check_refusal(ctx, status);
        FUZZ_CHECK(status == RLAR_E_MODEL || status == RLAR_E_NOMEM, "status %d: %s", (int)status,
                   rlar_ctx_error(ctx));
    } else {
        check_contents(model);
        model_check_saved(ctx, model);
        model_check_answers(ctx, model);
    }
    check_strict(ctx, bytes, size, status >= 0);
    rlar_model_free(model);
    fuzz_check_memory(ctx);
    return 0;
}
