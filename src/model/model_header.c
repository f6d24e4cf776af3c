/* model_header.c - the JSON header of a model file: parsed by jansson, believed by nobody.
 *
 * Every number is compared with the others and with the bytes present by checked arithmetic before
 * anything is allocated from it. Unknown entries are refused: a format that has more in it has a
 * higher format_version. Method and parameter names are any text, since the method that made a map
 * is no reason not to apply it. */
#include "model/model_header.h"

#include "data/labels.h"
#include "model/json_parse.h"
#include "model/model_file.h"

#include <string.h>

static const char *const known_keys[] = {"format",  "format_version", "method",
                                         "params",  "classes",        "scale",
                                         "version", "checksum",       "features"};
enum { KNOWN_KEYS = sizeof known_keys / sizeof known_keys[0], NEEDED_KEYS = KNOWN_KEYS - 1 };

/* ---- JSON ---- */

/* A header of format 1 has at most 115 values: itself, the metadata with 9 texts, and 13 tensors of
 * 8 each. There is room for later formats, which are refused by their number. Parameters are pairs
 * of texts, and no method has a tenth of so many. */
enum { MOST_VALUES = 1024 };

rlar_status rlar__header_parse(rlar_ctx *ctx, const unsigned char *text, size_t size,
                               rlar_header *out) {
    memset(out, 0, sizeof *out);
    const rlar_json_count count = rlar__json_count((const char *)text, size);
    if (count.values > MOST_VALUES)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "not an rlar model: a JSON header of more than %d values; a model is a "
                          "safetensors file made by rlar fit DATA -o MODEL",
                          MOST_VALUES);
    out->memory = ctx->memory;
    RLAR_TRY(rlar__json_parse(ctx, "the header", (const char *)text, size, count, &out->reserved,
                              &out->root));
    out->metadata = json_object_get(out->root, "__metadata__");
    return RLAR_OK;
}

void rlar__header_free(rlar_header *header) {
    json_decref(header->params);
    json_decref(header->features);
    json_decref(header->classes);
    json_decref(header->root);
    if (header->memory != NULL)
        rlar__give_back(header->memory, header->reserved);
    memset(header, 0, sizeof *header);
}

/* A text of the metadata, or NULL. */
static const char *meta_text(const rlar_header *header, const char *key) {
    return json_string_value(json_object_get(header->metadata, key));
}

/* Parse the JSON that a metadata text holds: one list or object of at most so many texts, which are
 * counted before anything is made of them. */
static rlar_status parse_nested(rlar_ctx *ctx, rlar_header *header, const char *key, json_type type,
                                int64_t most, json_t **out) {
    const char *text = meta_text(header, key);
    const size_t size = strlen(text);
    const rlar_json_count count = rlar__json_count(text, size);
    const size_t entries = count.values - count.containers;
    if (count.containers > 1)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "metadata \"%s\" holds %zu lists or objects in another, not texts; make "
                          "the model again",
                          key, count.containers - 1);
    if (entries > (uint64_t)most)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "metadata \"%s\" holds %zu texts, at most %lld belong there; make the "
                          "model again",
                          key, entries, (long long)most);
    RLAR_TRY(rlar__json_parse(ctx, key, text, size, count, &header->reserved, out));
    if (json_typeof(*out) != type)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "metadata \"%s\" is not a JSON %s; make the model again", key,
                          type == JSON_ARRAY ? "list" : "object");
    return RLAR_OK;
}

/* ---- Format and version ---- */

/* The version first: a newer format may have changed anything else. */
rlar_status rlar__header_format(rlar_ctx *ctx, const rlar_header *header) {
    const char *format = meta_text(header, "format");
    const char *version = meta_text(header, "format_version");
    int64_t number;
    if (format == NULL || strcmp(format, "rlar") != 0)
        return rlar__fail(
            ctx, RLAR_E_MODEL,
            "not an rlar model: a JSON header without \"format\":\"rlar\"; a model is "
            "a safetensors file made by rlar fit DATA -o MODEL");
    if (version == NULL || !rlar__parse_int64(version, strlen(version), &number) || number < 1)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "format_version is \"%.40s\", not a number; make the model again",
                          version == NULL ? "" : version);
    if (number > RLAR_MODEL_FORMAT)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "made by a newer rlar (format %lld); this one reads format %d",
                          (long long)number, RLAR_MODEL_FORMAT);
    return RLAR_OK;
}

/* ---- Metadata ---- */

static bool is_known(const char *key) {
    for (int i = 0; i < KNOWN_KEYS; i++)
        if (strcmp(key, known_keys[i]) == 0)
            return true;
    return false;
}

/* Nothing unknown, nothing missing, texts only. */
static rlar_status check_metadata(rlar_ctx *ctx, const rlar_header *header) {
    const char *key;
    json_t *value;
    json_object_foreach(header->metadata, key, value) {
        if (!is_known(key))
            return rlar__fail(ctx, RLAR_E_MODEL,
                              "metadata \"%.60s\" is unknown to format %d; make the model again",
                              key, RLAR_MODEL_FORMAT);
        if (!json_is_string(value))
            return rlar__fail(ctx, RLAR_E_MODEL,
                              "metadata \"%.60s\" is not a text; make the model again", key);
    }
    for (int i = 0; i < NEEDED_KEYS; i++)
        if (meta_text(header, known_keys[i]) == NULL)
            return rlar__fail(ctx, RLAR_E_MODEL, "metadata \"%s\" is missing; make the model again",
                              known_keys[i]);
    return RLAR_OK;
}

static rlar_status read_scale(rlar_ctx *ctx, const rlar_header *header, rlar_scaling *out) {
    const char *text = meta_text(header, "scale");
    char again[RLAR_SCALE_TEXT] = "";
    if (rlar__scaling_parse(ctx, text, out) >= 0)
        rlar__scaling_text(out, again, sizeof again);
    /* One spelling for each chain, so that saving gives the same bytes. */
    if (strcmp(text, again) != 0)
        return rlar__fail(
            ctx, RLAR_E_MODEL,
            "scale \"%.60s\" is unknown: none, or a chain of at most %d of unit, minmax, "
            "zscore, rms; use a newer rlar",
            text, RLAR_SCALE_STEPS);
    return RLAR_OK;
}

/* Distinct and not empty. */
static rlar_status check_class_names(rlar_ctx *ctx, const json_t *classes) {
    rlar_intern seen = {0};
    rlar_status status = RLAR_OK;
    for (size_t i = 0; status >= 0 && i < json_array_size(classes); i++) {
        const char *name = json_string_value(json_array_get(classes, i));
        int64_t index = 0;
        if (name == NULL || name[0] == '\0') {
            status = rlar__fail(
                ctx, RLAR_E_MODEL,
                "class %zu has no name in metadata \"classes\"; make the model again", i);
            break;
        }
        status = rlar__intern(ctx, &seen, name, strlen(name), &index);
        if (status >= 0 && (size_t)index != i)
            status =
                rlar__fail(ctx, RLAR_E_MODEL,
                           "classes %lld and %zu are both named \"%.60s\"; make the model again",
                           (long long)index, i, name);
    }
    rlar__intern_free(&seen);
    return status;
}

/* Names may repeat or be empty, as they may in a data file. */
static rlar_status check_feature_names(rlar_ctx *ctx, const json_t *features, int64_t d) {
    const size_t count = json_array_size(features);
    if (count != (uint64_t)d)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "%zu feature names for %lld features; make the model again", count,
                          (long long)d);
    for (size_t i = 0; i < count; i++)
        if (!json_is_string(json_array_get(features, i)))
            return rlar__fail(ctx, RLAR_E_MODEL,
                              "feature name %zu is not a text; make the model again", i + 1);
    return RLAR_OK;
}

/* Texts, as they were saved; what they mean is the business of the method that made them. */
static rlar_status check_params(rlar_ctx *ctx, const rlar_header *header) {
    const char *key;
    json_t *value;
    json_object_foreach(header->params, key, value) {
        if (!json_is_string(value))
            return rlar__fail(ctx, RLAR_E_MODEL,
                              "parameter \"%.60s\" is not a text; make the model again", key);
    }
    return RLAR_OK;
}

/* c is the length of the list of classes; the tensors must agree with it. */
static rlar_status read_metadata(rlar_ctx *ctx, rlar_header *header) {
    RLAR_TRY(check_metadata(ctx, header));
    RLAR_TRY(read_scale(ctx, header, &header->sizes.scaling));
    RLAR_TRY(parse_nested(ctx, header, "params", JSON_OBJECT, MOST_VALUES, &header->params));
    RLAR_TRY(check_params(ctx, header));
    RLAR_TRY(parse_nested(ctx, header, "classes", JSON_ARRAY, INT32_MAX, &header->classes));
    const size_t c = json_array_size(header->classes);
    if (c < 1)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "%zu classes: at least one is needed; make the model again", c);
    header->sizes.c = (int64_t)c;
    return check_class_names(ctx, header->classes);
}

/* ---- Tensors ---- */

/* The integer at place i of the list entry[key], or -1. */
static int64_t list_int(const json_t *entry, const char *key, size_t i) {
    const json_t *value = json_array_get(json_object_get(entry, key), i);
    return json_is_integer(value) ? (int64_t)json_integer_value(value) : -1;
}

int64_t rlar__header_promise(const rlar_header *header) {
    const char *key;
    json_t *entry;
    int64_t promise = -1;
    json_object_foreach(header->root, key, entry) {
        const int64_t end = list_int(entry, "data_offsets", 1);
        promise = end > promise ? end : promise;
    }
    return promise;
}

/* Take the sizes from the two matrices; everything else is then known. */
static rlar_status read_shapes(rlar_ctx *ctx, const rlar_header *header, rlar_model *sizes) {
    const json_t *w = json_object_get(header->root, "W");
    sizes->p = list_int(w, "shape", 0);
    sizes->d = list_int(w, "shape", 1);
    sizes->n = list_int(json_object_get(header->root, "references"), "shape", 0);
    if (sizes->p < 1 || sizes->d < 1 || sizes->n < 0)
        return rlar__fail(
            ctx, RLAR_E_MODEL,
            "tensors W [%lld, %lld] and references [%lld, ...]: a shape is missing or "
            "out of range; make the model again",
            (long long)sizes->p, (long long)sizes->d, (long long)sizes->n);
    return RLAR_OK;
}

/* 8 * shape[0] * shape[1], or false when it does not fit. */
static bool checked_bytes(const rlar_tensor *t, size_t *bytes) {
    return rlar__size_mul((size_t)t->shape[0], t->rank == 2 ? (size_t)t->shape[1] : 1, bytes) &&
           rlar__size_mul(*bytes, 8, bytes);
}

/* Every length, and no more of them than the tensor has. */
static bool shape_agrees(const json_t *entry, const rlar_tensor *t) {
    if (json_array_size(json_object_get(entry, "shape")) != (size_t)t->rank)
        return false;
    for (int i = 0; i < t->rank; i++)
        if (list_int(entry, "shape", (size_t)i) != t->shape[i])
            return false;
    return true;
}

/* The tensor must be there, of this type and shape, at this offset; *offset moves to its end. */
static rlar_status check_tensor(rlar_ctx *ctx, const rlar_header *header, const rlar_tensor *t,
                                size_t data_size, size_t *offset) {
    const json_t *entry = json_object_get(header->root, t->name);
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    const char *wanted = t->integers ? "I64" : "F64";
    size_t bytes = 0;
    if (entry == NULL)
        return rlar__fail(ctx, RLAR_E_MODEL, "tensor %s is missing; make the model again", t->name);
    if (dtype == NULL || strcmp(dtype, wanted) != 0 || json_object_size(entry) != 3)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "tensor %s: dtype \"%.20s\", not %s; make the model again", t->name,
                          dtype == NULL ? "" : dtype, wanted);
    if (!shape_agrees(entry, t))
        return rlar__fail(
            ctx, RLAR_E_MODEL,
            "tensor %s: its shape does not agree with W and references; make the model "
            "again",
            t->name);
    if (!checked_bytes(t, &bytes) || bytes > data_size - *offset)
        return rlar__fail(
            ctx, RLAR_E_MODEL,
            "tensor %s: its shape asks for more than the %zu bytes of the file; copy it "
            "again",
            t->name, data_size);
    if (json_array_size(json_object_get(entry, "data_offsets")) != 2 ||
        (uint64_t)list_int(entry, "data_offsets", 0) != *offset ||
        (uint64_t)list_int(entry, "data_offsets", 1) != *offset + bytes)
        return rlar__fail(ctx, RLAR_E_MODEL,
                          "tensor %s: data_offsets are not [%zu, %zu]; make the model again",
                          t->name, *offset, *offset + bytes);
    *offset += bytes;
    return RLAR_OK;
}

/* A tensor too many, or one that does not go with the scaling. */
static rlar_status refuse_unknown(rlar_ctx *ctx, const rlar_header *header,
                                  const rlar_tensor *tensor, int count) {
    const char *key;
    json_t *value;
    json_object_foreach(header->root, key, value) {
        bool known = strcmp(key, "__metadata__") == 0;
        for (int i = 0; i < count && !known; i++)
            known = strcmp(key, tensor[i].name) == 0;
        if (!known)
            return rlar__fail(ctx, RLAR_E_MODEL,
                              "tensor \"%.60s\" does not belong to a model of format %d with this "
                              "scaling; make the model again",
                              key, RLAR_MODEL_FORMAT);
    }
    return RLAR_OK;
}

/* What the file must hold follows from the sizes; it is compared entry by entry in the order of the
 * file, so that the offsets tile the data without a gap. */
static rlar_status check_tensors(rlar_ctx *ctx, const rlar_header *header, size_t data_size) {
    rlar_tensor tensor[RLAR_MODEL_TENSORS];
    const int count = rlar__model_tensors(&header->sizes, tensor);
    size_t offset = 0;
    RLAR_TRY(refuse_unknown(ctx, header, tensor, count));
    for (int i = 0; i < count; i++)
        RLAR_TRY(check_tensor(ctx, header, &tensor[i], data_size, &offset));
    return RLAR_OK;
}

rlar_status rlar__header_sizes(rlar_ctx *ctx, rlar_header *header, size_t data_size) {
    RLAR_TRY(read_metadata(ctx, header));
    RLAR_TRY(read_shapes(ctx, header, &header->sizes));
    RLAR_TRY(check_tensors(ctx, header, data_size));
    if (meta_text(header, "features") == NULL)
        return RLAR_OK;
    const int64_t d = header->sizes.d;
    RLAR_TRY(parse_nested(ctx, header, "features", JSON_ARRAY, d, &header->features));
    return check_feature_names(ctx, header->features, d);
}

/* ---- Texts ---- */

/* What is shown on a line must stay on it: a class name with a line break would be two answers. */
static rlar_status check_text(rlar_ctx *ctx, const char *text) {
    if (!rlar__name_fault(text, strlen(text)))
        return RLAR_OK;
    return rlar__fail(ctx, RLAR_E_MODEL,
                      "a class, feature or other name has a control character, such as a line "
                      "break; make the model again");
}

static rlar_status copy_text(rlar_ctx *ctx, const char *text, rlar_texts *out) {
    RLAR_TRY(check_text(ctx, text));
    return rlar__texts_add(ctx, out, text, strlen(text));
}

/* The header has checked that all are texts. A missing list has no entries. */
static rlar_status copy_list(rlar_ctx *ctx, const json_t *list, rlar_texts *out) {
    for (size_t i = 0; i < json_array_size(list); i++)
        RLAR_TRY(copy_text(ctx, json_string_value(json_array_get(list, i)), out));
    return RLAR_OK;
}

rlar_status rlar__header_texts(rlar_ctx *ctx, const rlar_header *header, rlar_model *model) {
    const char *key;
    json_t *value;
    RLAR_TRY(copy_list(ctx, header->classes, &model->classes));
    RLAR_TRY(copy_list(ctx, header->features, &model->features));
    json_object_foreach(header->params, key, value) {
        RLAR_TRY(copy_text(ctx, key, &model->param_names));
        RLAR_TRY(copy_text(ctx, json_string_value(value), &model->param_values));
    }
    RLAR_TRY(check_text(ctx, meta_text(header, "method")));
    RLAR_TRY(check_text(ctx, meta_text(header, "version")));
    RLAR_TRY(rlar__strdup(ctx, meta_text(header, "method"), &model->method));
    return rlar__strdup(ctx, meta_text(header, "version"), &model->version);
}
