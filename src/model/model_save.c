/* model_save.c - a model as bytes: safetensors, see docs/model-format.md.
 *
 *   8 bytes   length of the header, little-endian
 *   header    compact JSON, padded with blanks so that the tensors start at a multiple of 64
 *   tensors   little-endian, in a fixed order, without gaps
 *
 * Everything that goes into the file comes from the model (no time stamps, no host names), so equal
 * models give equal bytes. The JSON is written by hand because the bytes are part of the promise; a
 * library may change its spelling. Class and feature names must be UTF-8, which JSON asks for. */
#include "model/model_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- The list of tensors, shared with the loader ---- */

static rlar_tensor vector_of(const char *name, int64_t length, double *values) {
    rlar_tensor t = {.shape = {length, 0}, .rank = 1, .f64 = values};
    snprintf(t.name, sizeof t.name, "%s", name);
    return t;
}

static rlar_tensor matrix_of(const char *name, int64_t rows, int64_t columns, double *values) {
    rlar_tensor t = vector_of(name, rows, values);
    t.shape[1] = columns;
    t.rank = 2;
    return t;
}

int rlar__model_tensors(const rlar_model *model, rlar_tensor tensor[RLAR_MODEL_TENSORS]) {
    const rlar_scaling *s = &model->scaling;
    int count = 0;
    /* d x p column by column is the p x d row by row that safetensors means by a shape. */
    tensor[count++] = matrix_of("W", model->p, model->d, model->w);
    tensor[count++] = vector_of("b", model->p, model->b);
    tensor[count++] = vector_of("fill", model->d, s->fill);
    for (int i = 0; i < s->count; i++) {
        if (s->step[i].kind == RLAR_SCALE_UNIT)
            continue;
        char name[RLAR_TENSOR_NAME];
        snprintf(name, sizeof name, "scale.%d.shift", i);
        tensor[count++] = vector_of(name, model->d, s->step[i].shift);
        snprintf(name, sizeof name, "scale.%d.factor", i);
        tensor[count++] = vector_of(name, model->d, s->step[i].factor);
    }
    tensor[count++] = matrix_of("references", model->n, model->p, model->z);
    tensor[count] = vector_of("reference_class", model->n, NULL);
    tensor[count].integers = true;
    tensor[count++].i64 = model->z_class;
    return count;
}

int64_t rlar__tensor_count(const rlar_tensor *tensor) {
    return tensor->shape[0] * (tensor->rank == 2 ? tensor->shape[1] : 1);
}

/* ---- A growing text ---- */

typedef struct text_out {
    rlar_ctx *ctx;
    char *bytes;
    int64_t used, capacity;
    rlar_status
        status; /* the first failure; later calls do nothing, so that callers need not ask */
} text_out;

/* Nothing happens after a failure: a header is many small pieces, and one question at the end will
 * do. */
static void put(text_out *out, const char *bytes, size_t size) {
    if (out->status < 0 || size == 0)
        return;
    out->status = rlar__grow(out->ctx, &out->bytes, &out->capacity, out->used + (int64_t)size, 1,
                             "the header of the model file");
    if (out->status < 0)
        return;
    memcpy(out->bytes + out->used, bytes, size);
    out->used += (int64_t)size;
}

/* A text of our own, ASCII and without anything to escape. */
static void put_text(text_out *out, const char *text) {
    put(out, text, strlen(text));
}

/* Without grouping, so no locale can change it. */
static void put_int(text_out *out, int64_t value) {
    char buf[24];
    snprintf(buf, sizeof buf, "%" PRId64, value);
    put_text(out, buf);
}

/* Bytes that stand for themselves in a JSON string. UTF-8 does. */
static bool is_plain(char c) {
    return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

/* A JSON string. Only what JSON demands is escaped, each in one spelling. */
static void put_string(text_out *out, const char *text, size_t size) {
    size_t i = 0;
    put_text(out, "\"");
    while (i < size) {
        const size_t start = i;
        while (i < size && is_plain(text[i]))
            i++;
        put(out, text + start, i - start);
        if (i == size)
            break;
        char buf[8];
        const unsigned char byte = (unsigned char)text[i++];
        snprintf(buf, sizeof buf, byte < 0x20 ? "\\u%04x" : "\\%c", byte);
        put_text(out, buf);
    }
    put_text(out, "\"");
}

/* ---- The header ---- */

/* The user sees the number and the byte, because the name itself cannot be shown. */
static rlar_status check_utf8(rlar_ctx *ctx, const char *what, int64_t index, const char *text) {
    const size_t size = strlen(text);
    for (size_t i = 0, step; i < size; i += step) {
        step = rlar__utf8_length(text + i, size - i);
        if (step == 0)
            return rlar__fail(ctx, RLAR_E_DATA,
                              "%s %lld is not UTF-8 (byte 0x%02x at position %zu) and cannot be "
                              "stored in a model; convert the data to UTF-8",
                              what, (long long)index + 1, (unsigned char)text[i], i + 1);
    }
    return RLAR_OK;
}

static rlar_status check_names(rlar_ctx *ctx, const char *what, const rlar_texts *texts) {
    for (int64_t i = 0; i < texts->count; i++)
        RLAR_TRY(check_utf8(ctx, what, i, rlar__texts_at(texts, i)));
    return RLAR_OK;
}

/* The metadata entry "key": text, where the text is itself JSON that `inner` holds; inner is freed.
 */
static void put_nested(text_out *out, const char *key, text_out *inner) {
    if (inner->status < 0 && out->status >= 0)
        out->status = inner->status;
    put_text(out, key);
    if (out->status >= 0)
        put_string(out, inner->bytes, (size_t)inner->used);
    rlar__free(inner->bytes);
}

/* A list of texts as JSON in a text: safetensors allows nothing but texts in its metadata. */
static void put_list(text_out *out, const char *key, const rlar_texts *texts) {
    text_out inner = {.ctx = out->ctx};
    put_text(&inner, "[");
    for (int64_t i = 0; i < texts->count; i++) {
        const char *text = rlar__texts_at(texts, i);
        put_text(&inner, i == 0 ? "" : ",");
        put_string(&inner, text, strlen(text));
    }
    put_text(&inner, "]");
    put_nested(out, key, &inner);
}

/* The values stay texts: 0.1 comes back as the 0.1 that was typed, whatever the reader does to
 * numbers. */
static void put_params(text_out *out, const rlar_model *model) {
    text_out inner = {.ctx = out->ctx};
    put_text(&inner, "{");
    for (int64_t i = 0; i < model->param_names.count; i++) {
        const char *name = rlar__texts_at(&model->param_names, i);
        const char *value = rlar__texts_at(&model->param_values, i);
        put_text(&inner, i == 0 ? "" : ",");
        put_string(&inner, name, strlen(name));
        put_text(&inner, ":");
        put_string(&inner, value, strlen(value));
    }
    put_text(&inner, "}");
    put_nested(out, ",\"params\":", &inner);
}

/* The checksum comes last, with the zeros over which it is computed. */
static void put_metadata(text_out *out, const rlar_model *model) {
    char scale[RLAR_SCALE_TEXT];
    rlar__scaling_text(&model->scaling, scale, sizeof scale);
    put_text(out, "\"__metadata__\":{\"format\":\"rlar\",\"format_version\":\"");
    put_int(out, RLAR_MODEL_FORMAT);
    put_text(out, "\",\"method\":");
    put_string(out, model->method, strlen(model->method));
    put_params(out, model);
    put_list(out, ",\"classes\":", &model->classes);
    if (model->features.count > 0)
        put_list(out, ",\"features\":", &model->features);
    put_text(out, ",\"scale\":");
    put_string(out, scale, strlen(scale));
    put_text(out, ",\"version\":");
    put_string(out, model->version, strlen(model->version));
    put_text(out, "," RLAR_CHECKSUM_KEY RLAR_CHECKSUM_NAME "0000000000000000\"}");
}

/* One entry as safetensors wants it: type, shape, first byte and the byte behind the last. */
static void put_tensor(text_out *out, const rlar_tensor *t, int64_t start) {
    put_text(out, ",");
    put_string(out, t->name, strlen(t->name));
    put_text(out, t->integers ? ":{\"dtype\":\"I64\"" : ":{\"dtype\":\"F64\"");
    put_text(out, ",\"shape\":[");
    put_int(out, t->shape[0]);
    if (t->rank == 2) {
        put_text(out, ",");
        put_int(out, t->shape[1]);
    }
    put_text(out, "],\"data_offsets\":[");
    put_int(out, start);
    put_text(out, ",");
    put_int(out, start + 8 * rlar__tensor_count(t));
    put_text(out, "]}");
}

/* The padding lets a reader that maps the file into memory use the numbers in place. */
static void put_header(text_out *out, const rlar_model *model, const rlar_tensor *tensor,
                       int count) {
    int64_t start = 0;
    put_text(out, "{");
    put_metadata(out, model);
    for (int i = 0; i < count; i++) {
        put_tensor(out, &tensor[i], start);
        start += 8 * rlar__tensor_count(&tensor[i]);
    }
    put_text(out, "}");
    while (out->status >= 0 && (8 + out->used) % RLAR_MODEL_ALIGN != 0)
        put_text(out, " ");
}

/* ---- The file ---- */

/* Lowest byte first. */
static void store_u64(unsigned char *p, uint64_t value) {
    for (int i = 0; i < 8; i++, value >>= 8)
        p[i] = (unsigned char)value;
}

/* Byte by byte, so that the order of bytes of the host does not matter; compilers make it a copy.
 */
static unsigned char *store_tensor(unsigned char *p, const rlar_tensor *t) {
    const int64_t count = rlar__tensor_count(t);
    for (int64_t i = 0; i < count; i++, p += 8) {
        uint64_t bits;
        if (t->integers)
            bits = (uint64_t)(int64_t)t->i64[i];
        else
            memcpy(&bits, &t->f64[i], sizeof bits);
        store_u64(p, bits);
    }
    return p;
}

/* Put the parts together and write the digits. The sizes are those of arrays in memory, so their
 * sum fits. */
static rlar_status assemble(rlar_ctx *ctx, const text_out *header, const rlar_tensor *tensor,
                            int count, unsigned char **bytes, size_t *size) {
    const size_t header_size = (size_t)header->used;
    size_t total = 8 + header_size;
    for (int i = 0; i < count; i++)
        total += 8 * (size_t)rlar__tensor_count(&tensor[i]);
    unsigned char *file;
    RLAR_TRY(rlar__alloc(ctx, (int64_t)total, 1, "the bytes of the model file", &file));
    store_u64(file, header_size);
    memcpy(file + 8, header->bytes, header_size);
    unsigned char *end = file + 8 + header_size;
    for (int i = 0; i < count; i++)
        end = store_tensor(end, &tensor[i]);
    const size_t digits = 8 + rlar__checksum_find(file + 8, header_size);
    rlar__checksum_print(rlar__model_checksum(file, total, digits), (char *)file + digits);
    *bytes = file;
    *size = total;
    return RLAR_OK;
}

/* What JSON cannot hold is refused before anything is written. */
static rlar_status check_texts(rlar_ctx *ctx, const rlar_model *model) {
    if (model->method == NULL || model->version == NULL || model->scaling.fill == NULL)
        return rlar__fail(ctx, RLAR_E_INTERNAL,
                          "model: method, version or scaling is not filled in; report this");
    RLAR_TRY(check_utf8(ctx, "method name", 0, model->method));
    RLAR_TRY(check_utf8(ctx, "version", 0, model->version));
    RLAR_TRY(check_names(ctx, "class name", &model->classes));
    RLAR_TRY(check_names(ctx, "parameter name", &model->param_names));
    RLAR_TRY(check_names(ctx, "parameter value", &model->param_values));
    return check_names(ctx, "feature name", &model->features);
}

static rlar_status save_bytes(rlar_ctx *ctx, const rlar_model *model, unsigned char **bytes,
                              size_t *size) {
    rlar_tensor tensor[RLAR_MODEL_TENSORS];
    text_out header = {.ctx = ctx};
    RLAR_TRY(check_texts(ctx, model));
    const int count = rlar__model_tensors(model, tensor);
    put_header(&header, model, tensor, count);
    rlar_status status = header.status;
    /* What the loader would refuse is not written. */
    if (status >= 0 && header.used > RLAR_MODEL_MAX_HEADER)
        status = rlar__fail(ctx, RLAR_E_TOO_LARGE,
                            "model: the names take %lld bytes, a model file holds at most %d; use "
                            "shorter class or feature names",
                            (long long)header.used, RLAR_MODEL_MAX_HEADER);
    if (status >= 0)
        status = assemble(ctx, &header, tensor, count, bytes, size);
    rlar__free(header.bytes);
    return status;
}

rlar_status rlar_model_save_bytes(rlar_ctx *ctx, const rlar_model *model, void **bytes,
                                  size_t *size) {
    if (ctx == NULL || model == NULL || bytes == NULL || size == NULL)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_model_save_bytes: every argument is needed");
    rlar__begin(ctx);
    unsigned char *file;
    RLAR_TRY(save_bytes(ctx, model, &file, size));
    *bytes = file;
    return RLAR_OK;
}

void rlar_bytes_free(rlar_ctx *ctx, void *bytes) {
    (void)
        ctx; /* a block knows where it came from; the argument leaves room for one that does not */
    rlar__free(bytes);
}

/* The whole file is made in memory first: a disk that is full leaves the old model as it was. */
rlar_status rlar_model_save(rlar_ctx *ctx, const rlar_model *model, const char *path) {
    if (ctx == NULL || model == NULL || path == NULL)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_model_save: every argument is needed");
    rlar__begin(ctx);
    if (strcmp(path, "-") == 0) /* what rlar_model_load takes for standard input */
        return rlar__fail(ctx, RLAR_E_ARG,
                          "a model cannot be written to standard output; name a file (./- for one "
                          "of this name)");
    unsigned char *bytes = NULL;
    size_t size;
    rlar_file *file = NULL;
    rlar_status status = save_bytes(ctx, model, &bytes, &size);
    if (status >= 0)
        status = rlar__file_create(ctx, path, &file);
    if (status >= 0)
        status = rlar_file_write(file, bytes, size);
    rlar__free(bytes);
    if (status < 0) {
        rlar_file_abort(file);
        return status;
    }
    return rlar_file_commit(file);
}
