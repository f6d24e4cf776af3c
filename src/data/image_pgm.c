/* image_pgm.c - portable grey maps: P2 (numbers as text) and P5 (bytes), 8 and 16 bit.
 *
 * "P5 width height maxval" separated by blanks, with # comments to the end of the line, one blank,
 * then the pixels row by row, 16-bit ones with the high byte first. Values are kept as stored where
 * maxval <= 255, else scaled to 0..255, which for maxval 65535 is v / 257. Memory is taken only
 * when the bytes for all pixels are there. */
#include "data/image.h"

#include <string.h>

typedef struct scanner {
    rlar_ctx *ctx;
    const char *file;
    const char *bytes, *end;
} scanner;

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A comment may stand wherever a blank may. */
static void skip_blanks(scanner *s) {
    while (s->bytes < s->end && (is_blank(*s->bytes) || *s->bytes == '#')) {
        const char *newline = memchr(s->bytes, '\n', (size_t)(s->end - s->bytes));
        if (*s->bytes != '#')
            s->bytes++;
        else
            s->bytes = newline ? newline : s->end;
    }
}

/* A decimal number from 0 to `limit`. */
static rlar_status take_number(scanner *s, const char *what, int64_t limit, int64_t *out) {
    int64_t value = 0;
    skip_blanks(s);
    const char *begin = s->bytes;
    while (s->bytes < s->end && *s->bytes >= '0' && *s->bytes <= '9' && value <= limit)
        value = 10 * value + (*s->bytes++ - '0');
    if (s->bytes == begin)
        return rlar__fail(s->ctx, RLAR_E_DATA,
                          "%s: PGM: expected %s as a number; the file is truncated or damaged",
                          s->file, what);
    if (value > limit)
        return rlar__fail(s->ctx, RLAR_E_DATA, "%s: PGM: %s is more than %lld; the file is damaged",
                          s->file, what, (long long)limit);
    *out = value;
    return RLAR_OK;
}

static rlar_status read_text(scanner *s, int64_t pixels, int64_t maxval, double *grey) {
    for (int64_t i = 0; i < pixels; i++) {
        int64_t value = 0;
        RLAR_TRY(take_number(s, "a pixel", maxval, &value));
        grey[i] = (double)value;
    }
    return RLAR_OK;
}

/* check_room has seen that the bytes are there. */
static rlar_status read_bytes(scanner *s, int64_t pixels, int64_t maxval, double *grey) {
    const unsigned char *b = (const unsigned char *)s->bytes;
    const int width = maxval > 255 ? 2 : 1;
    for (int64_t i = 0; i < pixels; i++, b += width) {
        const int value = width == 2 ? b[0] << 8 | b[1] : b[0];
        if (value > maxval)
            return rlar__fail(s->ctx, RLAR_E_DATA,
                              "%s: PGM: pixel %lld is %d, more than the declared %lld; the file is "
                              "damaged",
                              s->file, (long long)i + 1, value, (long long)maxval);
        grey[i] = value;
    }
    s->bytes += pixels * width;
    return RLAR_OK;
}

/* Whether the rest can hold so many pixels: bytes, or digits with a blank between them. */
static rlar_status check_room(const scanner *s, bool text, int64_t pixels, int64_t maxval) {
    const int64_t present = s->end - s->bytes;
    const int64_t needed = text ? 2 * pixels - 1 : maxval > 255 ? 2 * pixels : pixels;
    if (present >= needed)
        return RLAR_OK;
    return rlar__fail(s->ctx, RLAR_E_DATA,
                      "%s: PGM: %lld bytes of pixels where at least %lld are needed; the file is "
                      "truncated",
                      s->file, (long long)present, (long long)needed);
}

/* Exactly one blank ends the header: the next byte may be a pixel that looks like a blank. */
static rlar_status read_header(scanner *s, rlar_image *image, int64_t *maxval) {
    RLAR_TRY(take_number(s, "the width", RLAR_IMAGE_SIDE, &image->width));
    RLAR_TRY(take_number(s, "the height", RLAR_IMAGE_SIDE, &image->height));
    RLAR_TRY(take_number(s, "the largest value", 65535, maxval));
    if (image->width < 1 || image->height < 1 || *maxval < 1)
        return rlar__fail(s->ctx, RLAR_E_DATA,
                          "%s: PGM: width, height or largest value is 0; the file is damaged",
                          s->file);
    if (s->bytes == s->end || !is_blank(*s->bytes))
        return rlar__fail(
            s->ctx, RLAR_E_DATA,
            "%s: PGM: expected a blank after the largest value; the file is truncated or "
            "damaged",
            s->file);
    s->bytes++;
    return RLAR_OK;
}

rlar_status rlar__image_pgm(rlar_ctx *ctx, const char *file, const char *bytes, size_t size,
                            rlar_image *out) {
    scanner s = {ctx, file, bytes + 2, bytes + size}; /* the caller has seen P2 or P5 */
    const bool text = bytes[1] == '2';
    int64_t maxval = 0;
    RLAR_TRY(read_header(&s, out, &maxval));
    const int64_t pixels = out->width * out->height;
    RLAR_TRY(check_room(&s, text, pixels, maxval));
    RLAR_TRY(rlar__grow(ctx, &out->grey, &out->capacity, pixels, sizeof *out->grey, "an image"));
    RLAR_TRY(text ? read_text(&s, pixels, maxval, out->grey)
                  : read_bytes(&s, pixels, maxval, out->grey));
    while (s.bytes < s.end && is_blank(*s.bytes))
        s.bytes++;
    if (s.bytes < s.end)
        return rlar__fail(
            ctx, RLAR_E_DATA,
            "%s: PGM: %lld bytes after the last pixel; the file is damaged or holds several "
            "images",
            file, (long long)(s.end - s.bytes));
    for (int64_t i = 0; i < pixels && maxval > 255; i++)
        out->grey[i] = out->grey[i] * 255 / (double)maxval;
    return RLAR_OK;
}
