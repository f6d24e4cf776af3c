/* mutated_models.c - model files of several kinds, altered in every way.
 *
 *     mutated_models [--count N] [--stride S] FILE...
 *
 * The files are those of tests/golden: one of each kind that there is. Cut after every byte, every
 * bit turned (every S-th of both), and N random edits. With the checksum compared no altered file
 * is accepted; without, and with a recomputed checksum, what is accepted is saved and loaded again
 * with the same bytes, and answers finite numbers. A broken promise or a memory error ends the
 * program, and so does an input without end; inputs that take longer than a second are counted. */
#include <time.h>

#include "hang.h"
#include "models.h"
#include "mutate.h"

enum { LARGEST = 1 << 16 };

typedef struct tally {
    int64_t cuts, flips, edits, accepted, slow;
} tally;

/* ---- Models ---- */

typedef struct model_file {
    uint8_t *bytes;
    size_t size;
} model_file;

static model_file read_model(const char *path) {
    model_file model = {.bytes = fuzz_alloc(LARGEST)};
    FILE *file = fopen(path, "rb");
    FUZZ_CHECK(file != NULL, "cannot open %s", path);
    model.size = fread(model.bytes, 1, LARGEST, file);
    FUZZ_CHECK(model.size < LARGEST, "%s is too large", path);
    fclose(file);
    return model;
}

/* ---- Loading ---- */

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* From a block of its own size, so that a sanitizer sees a read beyond it. */
static bool load(rlar_ctx *ctx, const uint8_t *bytes, size_t size, bool check, tally *t) {
    const double start = cpu_seconds();
    uint8_t *copy = fuzz_alloc(size);
    rlar_model *model = NULL;
    memcpy(copy, bytes, size);
    must_end();
    const rlar_status status = rlar__model_load_bytes(ctx, copy, size, check, &model);
    free(copy);
    FUZZ_CHECK((status >= 0) == (model != NULL) && (status >= 0 || status == RLAR_E_MODEL),
               "status %d: %s", (int)status, rlar_ctx_error(ctx));
    if (model) {
        model_check_saved(ctx, model);
        model_check_answers(ctx, model);
        rlar_model_free(model);
    }
    fuzz_check_memory(ctx);
    t->slow += cpu_seconds() - start > 1;
    return status >= 0;
}

/* The checksum that belongs to the bytes, where its place can still be found. */
static bool recompute(uint8_t *bytes, size_t size) {
    const size_t digits = size > 8 ? rlar__checksum_find(bytes + 8, size - 8) : 0;
    if (digits == 0)
        return false;
    rlar__checksum_print(rlar__model_checksum(bytes, size, digits + 8), (char *)bytes + 8 + digits);
    return true;
}

/* Altered bytes: refused as they are; what is accepted otherwise keeps its promises. */
static void check_altered(rlar_ctx *ctx, uint8_t *bytes, size_t size, tally *t) {
    FUZZ_CHECK(!load(ctx, bytes, size, true, t), "an altered model is accepted");
    t->accepted += load(ctx, bytes, size, false, t);
    if (recompute(bytes, size)) /* which also repairs digits that were altered */
        FUZZ_CHECK(load(ctx, bytes, size, true, t) == load(ctx, bytes, size, false, t),
                   "a right checksum changes what is accepted: %s", rlar_ctx_error(ctx));
}

/* ---- Alterations ---- */

static void alter(rlar_ctx *ctx, const model_file *m, int64_t edits, size_t stride, rlar_rng *rng,
                  tally *t) {
    uint8_t *copy = fuzz_alloc(m->size);
    for (size_t cut = 0; cut < m->size; cut += stride, t->cuts++) {
        memcpy(copy, m->bytes, cut);
        FUZZ_CHECK(!load(ctx, copy, cut, true, t) && !load(ctx, copy, cut, false, t),
                   "cut after %zu bytes, a model is accepted", cut);
    }
    for (size_t bit = 0; bit < 8 * m->size; bit += stride, t->flips++) {
        memcpy(copy, m->bytes, m->size);
        copy[bit / 8] ^= (uint8_t)(1U << bit % 8);
        check_altered(ctx, copy, m->size, t);
    }
    for (int64_t i = 0; i < edits;) {
        memcpy(copy, m->bytes, m->size);
        mutate(rng, copy, m->size);
        if (memcmp(copy, m->bytes, m->size) == 0)
            continue; /* the edits undid each other */
        check_altered(ctx, copy, m->size, t);
        t->edits++;
        i++;
    }
    free(copy);
}

static int64_t option(int argc, char **argv, const char *name, int64_t otherwise) {
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return atoll(argv[i + 1]);
    return otherwise;
}

/* The words behind the options. */
static int first_file(int argc, char **argv) {
    int i = 1;
    while (i + 1 < argc && strncmp(argv[i], "--", 2) == 0)
        i += 2;
    return i;
}

int main(int argc, char **argv) {
    const int64_t count = option(argc, argv, "--count", 2000);
    const size_t stride = (size_t)option(argc, argv, "--stride", 1);
    const int first = first_file(argc, argv), kinds = argc - first;
    const uint64_t seed = 20260101;
    rlar_rng rng = rlar__rng_seed(&seed, 1);
    rlar_ctx *ctx = fuzz_ctx();
    tally t = {0};
    FUZZ_CHECK(kinds > 0, "no files are given");
    for (int k = 0; k < kinds; k++) {
        model_file m = read_model(argv[first + k]);
        FUZZ_CHECK(load(ctx, m.bytes, m.size, true, &t), "%s is refused: %s", argv[first + k],
                   rlar_ctx_error(ctx));
        alter(ctx, &m, (count + kinds - 1 - k) / kinds, stride > 0 ? stride : 1, &rng, &t);
        fprintf(stderr, "%s: %zu bytes\n", argv[first + k], m.size);
        free(m.bytes);
    }
    printf("%lld mutated, %lld cut, %lld bit-flipped models: 0 accepted with their checksum, %lld "
           "without or with a new one (each round-trips and answers), %lld slower than 1 s\n",
           (long long)t.edits, (long long)t.cuts, (long long)t.flips, (long long)t.accepted,
           (long long)t.slow);
    rlar_ctx_free(ctx);
    return t.slow > 0;
}
