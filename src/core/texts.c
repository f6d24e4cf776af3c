/* texts.c - a list of texts in one growing buffer: class names, feature names, parameters. */
#include "core/core.h"

#include <string.h>

rlar_status rlar__texts_add(rlar_ctx *ctx, rlar_texts *texts, const char *text, size_t length) {
    if (length > (size_t)(INT64_MAX / 4))
        return rlar__fail(ctx, RLAR_E_TOO_LARGE, "a text of %zu bytes is too long", length);
    const int64_t bytes = (int64_t)length + 1;
    RLAR_TRY(
        rlar__grow(ctx, &texts->bytes, &texts->bytes_capacity, texts->used + bytes, 1, "names"));
    RLAR_TRY(rlar__grow(ctx, &texts->start, &texts->start_capacity, texts->count + 1,
                        sizeof *texts->start, "names"));
    memcpy(texts->bytes + texts->used, text, length);
    texts->bytes[texts->used + (int64_t)length] = '\0';
    texts->start[texts->count++] = texts->used;
    texts->used += bytes;
    return RLAR_OK;
}

rlar_status rlar__texts_copy(rlar_ctx *ctx, const rlar_texts *from, rlar_texts *to) {
    rlar_texts copy = {0};
    for (int64_t i = 0; i < from->count; i++) {
        const char *text = rlar__texts_at(from, i);
        const rlar_status status = rlar__texts_add(ctx, &copy, text, strlen(text));
        if (status < 0) {
            rlar__texts_free(&copy);
            return status;
        }
    }
    *to = copy;
    return RLAR_OK;
}

const char *rlar__texts_at(const rlar_texts *texts, int64_t index) {
    return index < 0 || index >= texts->count ? NULL : texts->bytes + texts->start[index];
}

void rlar__texts_free(rlar_texts *texts) {
    rlar__free(texts->bytes);
    rlar__free(texts->start);
    *texts = (rlar_texts){0};
}

size_t rlar__utf8_length(const char *text, size_t left) {
    const unsigned char *p = (const unsigned char *)text;
    if (p[0] < 0x80)
        return 1;
    const size_t length = p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    const unsigned char second = p[1];
    if ((p[0] == 0xe0 && second < 0xa0) || (p[0] == 0xed && second >= 0xa0) ||
        (p[0] == 0xf0 && second < 0x90) || (p[0] == 0xf4 && second >= 0x90))
        return 0;
    return length;
}

const char *rlar__name_fault(const char *text, size_t length) {
    for (size_t i = 0, step; i < length; i += step) {
        step = rlar__utf8_length(text + i, length - i);
        if (step == 0)
            return "is not UTF-8 text; save the file as UTF-8";
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return "has a control character, such as a line break; take it out";
    }
    return NULL;
}
