/* json_parse.c - JSON of a model file, looked over before it is parsed.
 *
 * The parser makes of "{}," a hash table of 240 bytes, so a header of 60 MiB could take 4.7 GB. Its
 * allocations are not the context's. Therefore what a text holds is counted first, which takes no
 * memory; the caller compares that with what the format allows, and what parsing will take is held
 * against the limit of the context. */
#include "model/json_parse.h"

/* Bytes that jansson 2.14 takes on 64 bits with glibc, rounded up. A text in a list: a node of 48,
 * the shortest text 32, a place in a list that grows by doubling 24. An object in an object: 224
 * with its first buckets, a pair of 80 and its share of buckets that grow likewise 48. */
enum { VALUE_BYTES = 112, CONTAINER_BYTES = 384 };
/* Beside the tree: the buffer of the text that is being read, while it doubles. */
enum { BUFFER = 3 };

/* Outside of texts every value but the first of a list or object comes behind a comma. */
rlar_json_count rlar__json_count(const char *text, size_t size) {
    rlar_json_count count = {.values = 1};
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        const char byte = text[i];
        if (quoted && byte == '\\')
            i++; /* what follows does not end the text */
        else if (byte == '"')
            quoted = !quoted;
        else if (!quoted && (byte == '{' || byte == '['))
            count.containers++;
        else if (!quoted && byte == ',')
            count.values++;
    }
    count.values += count.containers;
    return count;
}

/* Sizes are bounded by those of a header: 2^26 bytes, so this is below 2^35. */
static size_t tree_bytes(size_t size, rlar_json_count count) {
    return size + count.values * VALUE_BYTES + count.containers * CONTAINER_BYTES;
}

/* Duplicate keys are refused: two readers could believe different ones. NUL in a text is refused by
 * jansson itself, so strlen() sees all of it. */
static rlar_status load(rlar_ctx *ctx, const char *what, const char *text, size_t size,
                        json_t **out) {
    json_error_t error = {0};
    *out = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (*out != NULL)
        return RLAR_OK;
    /* Every fault of the text has a code; without one an allocation of jansson has failed. */
    if (json_error_code(&error) == json_error_unknown ||
        json_error_code(&error) == json_error_out_of_memory)
        return rlar__fail(ctx, RLAR_E_NOMEM, "%s: no memory for %zu bytes of JSON", what, size);
    return rlar__fail(ctx, RLAR_E_MODEL,
                      "%s is not valid JSON at byte %d (%.80s); make the model again", what,
                      error.position, error.text);
}

rlar_status rlar__json_parse(rlar_ctx *ctx, const char *what, const char *text, size_t size,
                             rlar_json_count count, size_t *reserved, json_t **out) {
    const size_t tree = tree_bytes(size, count), buffer = BUFFER * size;
    RLAR_TRY(rlar__reserve(ctx, tree + buffer, what));
    const rlar_status status = load(ctx, what, text, size, out);
    rlar__give_back(ctx->memory, status < 0 ? tree + buffer : buffer);
    if (status >= 0)
        *reserved += tree;
    return status;
}
