/* model_load.c - bytes to a model, trusting none of them: see docs/model-format.md.
 *
 * The order is: does it begin like a model; is it whole (sizes, checksum); is it our format and
 * version; does the header agree with itself and with the bytes present (model_header.c); only then
 * is memory taken and are the numbers read, each one checked. Nothing that is allocated is larger
 * than the bytes present justify. Every refusal is RLAR_E_MODEL. */
#include "model/model_header.h"

#include "model/model_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Eight bytes, lowest first, wherever they lie. */
static uint64_t load_u64(const unsigned char *p) {
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--)
        v = (v << 8) | p[i];
    return v;
}

/* ---- Does it begin like a model? ---- */

/* Show the first bytes: a person sees at once that it is a CSV or a picture. */
static rlar_status not_a_model(rlar_ctx *ctx, const unsigned char *bytes, size_t size) {
    char shown[12];
    size_t length = 0;
    for (; length < size && length + 1 < sizeof shown; length++)
        shown[length] = (char)(bytes[length] > 0x20 && bytes[length] < 0x7f ? bytes[length] : '.');
    shown[length] = '\0';
    if (size == 0)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "not an rlar model: it is empty; make one with rlar fit DATA -o MODEL");
    return rlar__fail(ctx, RLAR_E_MODEL,
                      "not an rlar model: it begins with \"%s\"; a model is a safetensors file "
                      "made by rlar fit DATA -o MODEL",
                      shown);
}

/* safetensors has no magic number; a small length followed by a brace is what there is. */
rlar_status rlar__model_check_start(rlar_ctx *ctx, const unsigned char *bytes, size_t size,
                                    uint64_t total) {
    if (size < 9 || bytes[8] != '{')
        return not_a_model(ctx, bytes, size);
    const uint64_t header = load_u64(bytes);
    if (header < 2 || header > RLAR_MODEL_MAX_HEADER)
        return not_a_model(ctx, bytes, size);
    if (header > total - 8)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "at least %llu bytes are missing: the header alone takes %llu, the file "
                          "has %llu; copy it again",
                          (unsigned long long)(header + 8 - total), (unsigned long long)header + 8,
                          (unsigned long long)total);
    return RLAR_OK;
}

/* ---- Is it whole? ---- */

typedef struct model_bytes {
    const unsigned char *file;
    size_t size;
    const unsigned char *header;
    size_t header_size;
    const unsigned char *data;
    size_t data_size;
} model_bytes;

/* Only after rlar__model_check_start(), which knows that the header is inside. */
static model_bytes parts_of(const unsigned char *bytes, size_t size) {
    const size_t header = (size_t)load_u64(bytes);
    return (model_bytes){bytes, size, bytes + 8, header, bytes + 8 + header, size - 8 - header};
}

/* A wrong length explains more than a wrong checksum, so it is said first. */
static rlar_status check_length(rlar_ctx *ctx, const model_bytes *m, int64_t promised) {
    const uint64_t before = 8 + (uint64_t)m->header_size;
    if (promised < 0 || (uint64_t)promised == m->data_size)
        return RLAR_OK;
    const bool missing = (uint64_t)promised > m->data_size;
    const uint64_t off =
        missing ? (uint64_t)promised - m->data_size : m->data_size - (uint64_t)promised;
    return rlar__fail(ctx, RLAR_E_MODEL,
                      "%llu bytes %s: the header promises %llu, the file has %llu; copy it again",
                      (unsigned long long)off, missing ? "are missing" : "too many",
                      (unsigned long long)(before + (uint64_t)promised),
                      (unsigned long long)m->size);
}

/* Compare the stored checksum with that of the bytes. Without one there is nothing to compare. */
static rlar_status compare_checksum(rlar_ctx *ctx, const model_bytes *m, size_t digits) {
    char actual[RLAR_CHECKSUM_DIGITS + 1] = "";
    if (digits == 0)
        return RLAR_OK;
    rlar__checksum_print(rlar__model_checksum(m->file, m->size, digits + 8), actual);
    const char *stored = (const char *)m->header + digits;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): digits > 0 means a header */
    if (memcmp(stored, actual, RLAR_CHECKSUM_DIGITS) != 0)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "damaged: the bytes have the checksum %s, not the one stored; copy the "
                          "file again or make the model again",
                          actual);
    return RLAR_OK;
}

/* ---- The numbers ---- */

/* A map with an infinity in it would answer every question with the same class. */
static rlar_status read_f64(rlar_ctx *ctx, const unsigned char *p, const rlar_tensor *t) {
    const int64_t count = rlar__tensor_count(t);
    for (int64_t i = 0; i < count; i++, p += 8) {
        const uint64_t bits = load_u64(p);
        memcpy(&t->f64[i], &bits, sizeof bits);
        if (!isfinite(t->f64[i]))
            return rlar__fail(ctx, RLAR_E_MODEL,
                              "tensor %s: element %lld is not finite; make the model again",
                              t->name, (long long)i);
    }
    return RLAR_OK;
}

/* Unsigned, so that one comparison refuses negative numbers too. */
static rlar_status read_classes(rlar_ctx *ctx, const unsigned char *p, const rlar_tensor *t,
                                int64_t c) {
    for (int64_t i = 0; i < t->shape[0]; i++, p += 8) {
        const uint64_t value = load_u64(p);
        if (value >= (uint64_t)c)
            return rlar__fail(
                ctx, RLAR_E_MODEL,
                "tensor %s: element %lld is class %lld, the classes are 0 to %lld; make "
                "the model again",
                t->name, (long long)i, (long long)value, (long long)c - 1);
        t->i64[i] = (int32_t)value;
    }
    return RLAR_OK;
}

/* The kinds are known from the header; the arrays are not there yet. */
static rlar_status alloc_scaling(rlar_ctx *ctx, rlar_scaling *s, int64_t d) {
    s->d = d;
    RLAR_TRY(rlar__alloc(ctx, d, sizeof(double), "the scaling of the model", &s->fill));
    for (int i = 0; i < s->count; i++) {
        rlar_scale_step *step = &s->step[i];
        if (step->kind == RLAR_SCALE_UNIT)
            continue;
        RLAR_TRY(rlar__alloc(ctx, d, sizeof(double), "the scaling of the model", &step->shift));
        RLAR_TRY(rlar__alloc(ctx, d, sizeof(double), "the scaling of the model", &step->factor));
    }
    return RLAR_OK;
}

/* The header has promised that the tensors tile the data in this order. */
static rlar_status read_numbers(rlar_ctx *ctx, const unsigned char *data, rlar_model *model) {
    rlar_tensor tensor[RLAR_MODEL_TENSORS];
    const int count = rlar__model_tensors(model, tensor);
    for (int i = 0; i < count; i++) {
        RLAR_TRY(tensor[i].integers ? read_classes(ctx, data, &tensor[i], model->c)
                                    : read_f64(ctx, data, &tensor[i]));
        data += 8 * rlar__tensor_count(&tensor[i]);
    }
    return RLAR_OK;
}

/* Memory is taken here for the first time. The texts come before the numbers because they are
 * small. */
static rlar_status build(rlar_ctx *ctx, const model_bytes *bytes, const rlar_header *header,
                         rlar_model **out) {
    const rlar_model *sizes = &header->sizes;
    rlar_model *model;
    RLAR_TRY(rlar__model_new(ctx, sizes->d, sizes->p, sizes->c, sizes->n, &model));
    model->scaling = sizes->scaling;
    rlar_status status = alloc_scaling(ctx, &model->scaling, model->d);
    if (status >= 0)
        status = rlar__header_texts(ctx, header, model);
    if (status >= 0)
        status = read_numbers(ctx, bytes->data, model);
    if (status < 0) {
        rlar_model_free(model);
        return status;
    }
    rlar__model_scores(model);
    *out = model;
    return RLAR_OK;
}

/* ---- The whole ---- */

/* Damage first: after a flipped bit, what the header says of format and version means nothing. */
static rlar_status load_parsed(rlar_ctx *ctx, const model_bytes *bytes, rlar_header *header,
                               bool check, rlar_model **out) {
    const size_t digits = check ? rlar__checksum_find(bytes->header, bytes->header_size) : 0;
    RLAR_TRY(check_length(ctx, bytes, rlar__header_promise(header)));
    RLAR_TRY(compare_checksum(ctx, bytes, digits));
    RLAR_TRY(rlar__header_format(ctx, header));
    if (check && digits == 0)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "no checksum \"%s...\" in the header: damaged, or not made by rlar; make "
                          "the model again",
                          RLAR_CHECKSUM_NAME);
    RLAR_TRY(rlar__header_sizes(ctx, header, bytes->data_size));
    return build(ctx, bytes, header, out);
}

rlar_status rlar__model_load_bytes(rlar_ctx *ctx, const void *bytes, size_t size, bool check,
                                   rlar_model **out) {
    RLAR_TRY(rlar__model_check_start(ctx, bytes, size, size));
    const model_bytes parts = parts_of(bytes, size);
    rlar_header header;
    rlar_status status = rlar__header_parse(ctx, parts.header, parts.header_size, &header);
    if (status >= 0)
        status = load_parsed(ctx, &parts, &header, check, out);
    else if (status == RLAR_E_MODEL && check) /* the text of the parser stays if the sum is right */
        (void)compare_checksum(ctx, &parts, rlar__checksum_find(parts.header, parts.header_size));
    rlar__header_free(&header);
    return status;
}

rlar_status rlar_model_load_bytes(rlar_ctx *ctx, const void *bytes, size_t size, rlar_model **out) {
    if (ctx == NULL || out == NULL || (bytes == NULL && size > 0))
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_model_load_bytes: every argument is needed");
    rlar__begin(ctx);
    return rlar__model_load_bytes(ctx, bytes, size, true, out);
}

/* ---- From a file ---- */

static rlar_status read_error(rlar_ctx *ctx, const char *what) {
    return rlar__fail(ctx, RLAR_E_IO, "cannot %s: %s", what, strerror(errno));
}

/* Up to `size` bytes; *got is less at the end of the file only. */
static rlar_status read_full(rlar_ctx *ctx, int fd, unsigned char *to, size_t size, size_t *got) {
    *got = 0;
    while (*got < size) {
        const ssize_t done = read(fd, to + *got, size - *got);
        if (done < 0 && errno != EINTR)
            return read_error(ctx, "read");
        if (done == 0)
            break;
        *got += done > 0 ? (size_t)done : 0;
        RLAR_TRY(done < 0 ? rlar__interrupted(ctx) : rlar__poll(ctx));
    }
    return RLAR_OK;
}

/* The rest of the file behind the `used` bytes that are already in the buffer. */
static rlar_status read_rest(rlar_ctx *ctx, int fd, unsigned char **buffer, int64_t *capacity,
                             size_t *used) {
    for (;;) {
        const size_t room = (size_t)*capacity - *used;
        size_t got;
        RLAR_TRY(read_full(ctx, fd, *buffer + *used, room, &got));
        *used += got;
        if (got < room)
            return RLAR_OK;
        RLAR_TRY(
            rlar__grow(ctx, buffer, capacity, *capacity + 1, 1, "the bytes of the model file"));
    }
}

/* The first bytes decide whether the rest is worth memory: a wrong file may be huge or endless. */
static rlar_status load_fd(rlar_ctx *ctx, int fd, rlar_model **out) {
    struct stat info;
    unsigned char start[9];
    unsigned char *buffer = NULL;
    size_t used;
    if (TEMP_FAILURE_RETRY(fstat(fd, &info)) != 0)
        return read_error(ctx, "read");
    if (S_ISDIR(info.st_mode))
        return rlar__fail(ctx, RLAR_E_MODEL, "not an rlar model: it is a folder; name a file");
    /* Some files have more bytes than they say: those of /proc have none. Of standard input some
     * may have been read. */
    const bool sized =
        fd != STDIN_FILENO && S_ISREG(info.st_mode) && info.st_size >= (off_t)sizeof start;
    RLAR_TRY(read_full(ctx, fd, start, sizeof start, &used));
    RLAR_TRY(
        rlar__model_check_start(ctx, start, used, sized ? (uint64_t)info.st_size : UINT64_MAX));
    int64_t capacity = sized ? (int64_t)info.st_size + 1 : 1 << 16;
    rlar_status status = rlar__alloc(ctx, capacity, 1, "the bytes of the model file", &buffer);
    if (status >= 0) {
        memcpy(buffer, start, used);
        status = read_rest(ctx, fd, &buffer, &capacity, &used);
    }
    if (status >= 0)
        status = rlar__model_load_bytes(ctx, buffer, used, true, out);
    rlar__free(buffer);
    return status;
}

rlar_status rlar_model_load(rlar_ctx *ctx, const char *path, rlar_model **out) {
    if (ctx == NULL || path == NULL || out == NULL)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_model_load: every argument is needed");
    rlar__begin(ctx);
    const bool standard = strcmp(path, "-") == 0;
    int fd = STDIN_FILENO;
    if (!standard)
        RLAR_TRY(rlar__open(ctx, path, O_RDONLY, &fd));
    if (fd < 0)
        return rlar__fail(ctx, RLAR_E_IO, "%s: cannot open the model: %s", path, strerror(errno));
    const rlar_status status = load_fd(ctx, fd, out);
    if (!standard)
        close(fd);
    return status < 0 ? rlar__fail_in(ctx, status, standard ? "<stdin>" : path) : status;
}
