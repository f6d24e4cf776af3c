/* npy_value.c - the values of a NumPy array, byte by byte, so that neither the byte order nor the
 * alignment of this machine matters. */
#include "data/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool rlar__npy_is_text(const rlar_npy *npy) {
    return npy->kind == 'U' || npy->kind == 'S';
}

bool rlar__npy_is_long(const rlar_npy *npy) {
    return (npy->kind == 'i' || npy->kind == 'u') && npy->item == sizeof(int64_t);
}

size_t rlar__npy_offset(const rlar_npy *npy, int64_t row, int64_t column) {
    const int64_t index = npy->fortran ? column * npy->n + row : row * npy->d + column;
    return (size_t)index * npy->item;
}

/* Most significant byte first into the accumulator, whichever end it stands at. */
static uint64_t load(const char *bytes, size_t size, bool big) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | (unsigned char)bytes[big ? i : size - 1 - i];
    return value;
}

/* Two's complement of `size` bytes. Both compilers define the narrowing casts as modulo 2^bits. */
static int64_t sign_extend(uint64_t bits, size_t size) {
    switch (size) {
    case 1:
        return (int8_t)bits;
    case 2:
        return (int16_t)bits;
    case 4:
        return (int32_t)bits;
    default:
        return (int64_t)bits;
    }
}

/* 64-bit integers beyond 2^53 are rounded here; as labels they go through rlar__npy_text. */
double rlar__npy_number(const rlar_npy *npy, const char *value) {
    const uint64_t bits = load(value, npy->item, npy->big);
    double number;
    float single;
    switch (npy->kind) {
    case 'f':
        if (npy->item == sizeof single) {
            const uint32_t half = (uint32_t)bits;
            memcpy(&single, &half, sizeof single);
            return (double)single;
        }
        memcpy(&number, &bits, sizeof number);
        return number;
    case 'i':
        return (double)sign_extend(bits, npy->item);
    case 'b':
        return bits != 0;
    default:
        return (double)bits;
    }
}

/* ---- As text ---- */

/* Integers are written in full: a double would round labels above 2^53. */
static size_t number_text(const rlar_npy *npy, const char *value, char buf[RLAR_NUMBER_SIZE]) {
    const uint64_t bits = load(value, npy->item, npy->big);
    if (npy->kind == 'i')
        return (size_t)snprintf(buf, RLAR_NUMBER_SIZE, "%" PRId64, sign_extend(bits, npy->item));
    if (npy->kind == 'u')
        return (size_t)snprintf(buf, RLAR_NUMBER_SIZE, "%" PRIu64, bits);
    const double number = rlar__npy_number(npy, value);
    if (number != number) {
        memcpy(buf, "nan", 4);
        return 3;
    }
    return (size_t)rlar__format_double(number, buf);
}

/* One code point as UTF-8; returns its bytes, 0 for what is no character. */
static size_t utf8_put(uint32_t code, char *out) {
    static const unsigned char lead[] = {0, 0x00, 0xC0, 0xE0, 0xF0};
    if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return 0;
    const size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(lead[size] | code);
    return size;
}

/* Characters before the NULs that fill up the value. */
static size_t characters(const rlar_npy *npy, const char *value, size_t width) {
    size_t count = npy->item / width;
    while (count > 0 && load(value + (count - 1) * width, width, npy->big) == 0)
        count--;
    return count;
}

/* UTF-8 never takes more bytes than UTF-32, so the room is known from the size of a value. */
rlar_status rlar__npy_text(rlar_ctx *ctx, const char *file, const rlar_npy *npy, const char *value,
                           rlar_npy_text *out) {
    const size_t width = npy->kind == 'U' ? 4 : 1;
    const size_t room = rlar__npy_is_text(npy) ? npy->item + 1 : RLAR_NUMBER_SIZE;
    RLAR_TRY(
        rlar__grow(ctx, &out->bytes, &out->capacity, (int64_t)room, 1, "a text of a NumPy array"));
    out->length = 0;
    if (!rlar__npy_is_text(npy)) {
        out->length = number_text(npy, value, out->bytes);
        return RLAR_OK;
    }
    const size_t count = characters(npy, value, width);
    for (size_t i = 0; i < count; i++) {
        const uint32_t code = (uint32_t)load(value + i * width, width, npy->big);
        size_t size = npy->kind == 'U' ? utf8_put(code, out->bytes + out->length) : 0;
        if (npy->kind == 'S' && code != 0) {
            out->bytes[out->length] = (char)code;
            size = 1;
        }
        if (size == 0)
            return rlar__fail(
                ctx, RLAR_E_DATA,
                "%s: character %zu of a text is U+%04X, which is no character; the file "
                "is damaged",
                file, i + 1, (unsigned)code);
        out->length += size;
    }
    out->bytes[out->length] = '\0';
    return RLAR_OK;
}
