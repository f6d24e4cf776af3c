/* fuzz_checkpoint.c - the checkpoint of a fit of eight samples. The first character chooses the
 * solver and the search, the second what the rest is:
 *   0   the file
 *   1   edits of a file that such a fit has left, nine bytes each: which word, and what is XORed
 *       into it; then the checksum is put right
 *   2   the same, but the checksum stays as it was
 *   3   a length, to which that file is cut or made longer, and edits
 *   4   the arrays behind the right head, before the right checksum
 * A fit goes on with finite numbers or refuses the file by name, and then leaves it as it is; from
 * a file that was not edited it ends with the bits of a fit that was never stopped. Whether it
 * keeps checkpoints on the way makes no difference. */
#include <sys/stat.h>

#include "models.h"

enum { SAMPLES = 8, FEATURES = 4, CLASSES = 2, ITERS = 3, EVERY = 2 };
enum { NEIGHBOURS = 3 }; /* all others of its class, four samples */
/* The head, and where the iteration stands in it, behind what a file is of. */
enum { HEAD = 56, ITERATION = 40, LARGEST = 4096, NO_STOP = -1 };

static const char *const settings[][3] = {{"solver=paper"},
                                          {"solver=paper", "search=local"},
                                          {"solver=anneal"},
                                          {"solver=minimise", "eps=0.01"}};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* A file, or the bytes of a model. */
typedef struct content {
    uint8_t bytes[LARGEST + 16];
    size_t size;
} content;

/* ---- The fit ---- */

static int stop_at = NO_STOP;

static int watch(void *user, const rlar_event *event) {
    (void)user;
    return event->kind == RLAR_EVENT_ITERATION && event->done == stop_at;
}

/* As fuzz_ctx(), but a fit can be stopped. */
static rlar_ctx *fit_ctx(void) {
    static rlar_ctx *ctx;
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    options.threads = 1;
    options.max_memory = FUZZ_MEMORY;
    options.progress = watch;
    if (!ctx)
        FUZZ_CHECK(rlar_ctx_new(&options, &ctx) == RLAR_OK, "no context");
    return ctx;
}

static rlar_data *make_data(rlar_ctx *ctx) {
    static double x[SAMPLES * FEATURES], label[SAMPLES];
    rlar_view view = RLAR_INIT(rlar_view);
    rlar_data *data = NULL;
    for (int i = 0; i < SAMPLES * FEATURES; i++)
        x[i] = (double)(i * i * 7 % 31) / 8;
    for (int i = 0; i < SAMPLES; i++)
        label[i] = i % CLASSES;
    view.n = SAMPLES;
    view.d = view.stride = FEATURES;
    view.x = x;
    FUZZ_CHECK(rlar_data_view(ctx, &view, &data) == RLAR_OK &&
                   rlar_data_set_label_numbers(ctx, data, label) == RLAR_OK,
               "%s", rlar_ctx_error(ctx));
    return data;
}

static rlar_params *make_params(rlar_ctx *ctx, unsigned which) {
    rlar_params *params = NULL;
    char iters[8];
    snprintf(iters, sizeof iters, "%d", ITERS);
    FUZZ_CHECK(rlar_params_new(ctx, "rlar", &params) == RLAR_OK &&
                   rlar_params_set(ctx, params, "iters", iters) == RLAR_OK,
               "%s", rlar_ctx_error(ctx));
    for (int i = 0; settings[which][i]; i++) {
        char name[16];
        const char *equals = strchr(settings[which][i], '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - settings[which][i]), settings[which][i]);
        FUZZ_CHECK(rlar_params_set(ctx, params, name, equals + 1) == RLAR_OK, "%s",
                   rlar_ctx_error(ctx));
    }
    return params;
}

static void keep_model(rlar_ctx *ctx, const rlar_model *model, content *out) {
    void *bytes = NULL;
    FUZZ_CHECK(rlar_model_save_bytes(ctx, model, &bytes, &out->size) == RLAR_OK &&
                   out->size <= sizeof out->bytes,
               "a model of %zu bytes: %s", out->size, rlar_ctx_error(ctx));
    memcpy(out->bytes, bytes, out->size);
    rlar_bytes_free(ctx, bytes);
}

/* With the checkpoint at `path`, or NULL; the model where there is one. */
static rlar_status fit(unsigned which, const char *path, int64_t every, content *out) {
    rlar_ctx *ctx = fit_ctx();
    rlar_data *data = make_data(ctx);
    rlar_params *params = make_params(ctx, which);
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    rlar_info info = RLAR_INIT(rlar_info);
    rlar_model *model = NULL;
    o.checkpoint = path;
    o.checkpoint_every = every;
    const rlar_status status = rlar_fit(ctx, data, params, &o, &model, &info);
    FUZZ_CHECK((status >= 0) == (model != NULL), "status %d", (int)status);
    if (model) {
        model_check_numbers(model->d * model->p, model->w, "weight");
        model_check_numbers(model->p, model->b, "offset");
        model_check_numbers(model->d, model->score, "score");
        model_check_numbers(1, &info.objective, "objective");
        FUZZ_CHECK(info.iterations >= 1 && info.iterations <= ITERS, "%lld iterations",
                   (long long)info.iterations);
        keep_model(ctx, model, out);
    }
    rlar_model_free(model);
    rlar_params_free(params);
    rlar_data_free(data);
    return status;
}

/* ---- Files ---- */

static void read_file(const char *path, content *out) {
    FILE *file = fopen(path, "rb");
    FUZZ_CHECK(file != NULL, "%s is gone", path);
    out->size = fread(out->bytes, 1, sizeof out->bytes, file);
    fclose(file);
}

static void write_file(const char *path, const content *from) {
    FILE *file = fopen(path, "wb");
    FUZZ_CHECK(file && fwrite(from->bytes, 1, from->size, file) == from->size && fclose(file) == 0,
               "cannot write %s", path);
}

static bool same(const content *a, const content *b) {
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* What a fit leaves that is stopped in its last iteration, and the model of one that is not. */
typedef struct reference {
    content file, model;
} reference;

static const reference *reference_of(unsigned which) {
    static reference all[SETTINGS];
    reference *r = &all[which];
    if (r->file.size > 0)
        return r;
    FUZZ_CHECK(fit(which, NULL, 0, &r->model) >= 0, "%s", rlar_ctx_error(fit_ctx()));
    unlink(fuzz_output());
    stop_at = ITERS;
    const rlar_status status = fit(which, fuzz_output(), EVERY, &r->file);
    stop_at = NO_STOP;
    FUZZ_CHECK(status == RLAR_E_CANCELLED, "status %d instead of a fit that is stopped",
               (int)status);
    read_file(fuzz_output(), &r->file);
    unlink(fuzz_output());
    FUZZ_CHECK(r->file.size > HEAD + 8 && r->file.size <= LARGEST, "a checkpoint of %zu bytes",
               r->file.size);
    return r;
}

/* ---- Out of the bytes ---- */

static void fix_checksum(content *file) {
    if (file->size < 8)
        return;
    const uint64_t sum = rlar__crc64(0, file->bytes, file->size - 8);
    memcpy(file->bytes + file->size - 8, &sum, sizeof sum);
}

static bool has_checksum(const content *file) {
    uint64_t sum = 0;
    if (file->size >= 8)
        memcpy(&sum, file->bytes + file->size - 8, sizeof sum);
    return file->size >= 8 && sum == rlar__crc64(0, file->bytes, file->size - 8);
}

static void edit(content *file, fuzz_bytes *b) {
    while (b->left > 0 && file->size >= 8) {
        const size_t at = fuzz_byte(b) % (file->size / 8) * 8;
        for (size_t i = at; i < at + 8; i++)
            file->bytes[i] ^= fuzz_byte(b);
    }
}

/* Cut, or with zeros behind it. */
static void resize(content *file, fuzz_bytes *b) {
    const size_t high = fuzz_byte(b), size = (high << 8 | fuzz_byte(b)) % (file->size + 16);
    for (size_t i = file->size; i < size; i++)
        file->bytes[i] = 0;
    file->size = size;
}

static void take_file(fuzz_bytes *b, const reference *r, content *out) {
    const unsigned kind = fuzz_choice(b, 5);
    *out = r->file;
    if (kind == 0 || kind == 4) {
        const size_t from = kind == 0 ? 0 : HEAD, most = r->file.size - (kind == 0 ? 0 : HEAD + 8);
        const size_t count = kind == 0 || b->left < most ? b->left : most;
        memcpy(out->bytes + from, b->at, count);
        out->size = kind == 0 ? count : r->file.size;
    }
    if (kind == 3)
        resize(out, b);
    if (kind >= 1 && kind <= 3)
        edit(out, b);
    if (kind == 1 || kind == 4)
        fix_checksum(out);
}

/* ---- The promises ---- */

static const uint8_t *check_numbers_at(const uint8_t *at, int count, double least) {
    for (int i = 0; i < count; i++, at += 8) {
        double number;
        memcpy(&number, at, sizeof number);
        FUZZ_CHECK(isfinite(number) && number >= least, "number %d is %g", i, number);
    }
    return at;
}

/* What is gone on from by all solvers: W and b, the objective, three counts of 4, 8 and 8 bytes,
 * neighbours as numbers within their class, their distances, and a flag of each sample. */
static void check_accepted(const content *file) {
    const uint8_t *at = check_numbers_at(file->bytes + HEAD, (FEATURES + 1) * CLASSES, -INFINITY);
    at = check_numbers_at(at, 1, -INFINITY) + 20;
    for (int i = 0; i < SAMPLES * NEIGHBOURS; i++, at += 4) {
        int32_t neighbour;
        memcpy(&neighbour, at, sizeof neighbour);
        FUZZ_CHECK(neighbour >= 0 && neighbour < SAMPLES / CLASSES, "neighbour %d", (int)neighbour);
    }
    at = check_numbers_at(at, SAMPLES * NEIGHBOURS, 0);
    for (int i = 0; i < SAMPLES; i++)
        FUZZ_CHECK(at[i] <= 1, "a flag of %d", at[i]);
}

/* Refused by name, or because numbers are too large to go on from. */
static void check_refusal(rlar_status status, const char *path) {
    const char *text = rlar_ctx_error(fit_ctx());
    fuzz_check_refusal(fit_ctx(), status);
    FUZZ_CHECK(status == RLAR_E_NUMERIC || (status == RLAR_E_DATA && strstr(text, path) == text),
               "status %d: %s", (int)status, text);
}

/* No checkpoint is due: a file in memory will do. */
static rlar_status check_quiet(unsigned which, const content *file, content *model) {
    static fuzz_file memory;
    static content after;
    fuzz_file_set(&memory, file->bytes, file->size);
    const rlar_status status = fit(which, memory.path, ITERS + 1, model);
    if (status < 0)
        check_refusal(status, memory.path);
    read_file(memory.path, &after);
    FUZZ_CHECK(same(&after, file), "the file is changed by reading it");
    return status;
}

/* A checkpoint after every iteration: those of a file that is refused would be in its place. */
static void check_busy(unsigned which, const content *file, rlar_status quiet,
                       const content *want) {
    static content model, after;
    const char *path = fuzz_output();
    write_file(path, file);
    const rlar_status status = fit(which, path, 1, &model);
    FUZZ_CHECK(status == quiet, "status %d, with checkpoints %d", (int)quiet, (int)status);
    read_file(path, &after);
    if (status == RLAR_E_DATA)
        FUZZ_CHECK(same(&after, file), "a file that is refused is changed");
    if (status >= 0) {
        FUZZ_CHECK(same(&model, want), "with checkpoints, other bits");
        FUZZ_CHECK(fit(which, path, ITERS + 1, &model) == status && same(&model, want),
                   "gone on once more, other bits");
    }
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static content file, model;
    fuzz_bytes b = {bytes, size};
    const fuzz_bytes all = b;
    if (size > LARGEST)
        return 0;
    const unsigned which = fuzz_choice(&b, SETTINGS);
    const reference *r = reference_of(which);
    take_file(&b, r, &file);
    const rlar_status status = check_quiet(which, &file, &model);
    FUZZ_CHECK(status < 0 || (has_checksum(&file) && file.size == r->file.size &&
                              memcmp(file.bytes, r->file.bytes, ITERATION) == 0),
               "accepted with a wrong checksum, length or head");
    if (status >= 0)
        check_accepted(&file);
    if (same(&file, &r->file))
        FUZZ_CHECK(status >= 0 && same(&model, &r->model),
                   "from its own file, the fit has other bits, or status %d: %s", (int)status,
                   rlar_ctx_error(fit_ctx()));
    if (fuzz_turn(&all, 3, 0))
        check_busy(which, &file, status, &model);
    fuzz_check_memory(fit_ctx());
    return 0;
}
