/* fuzz_number.c - numbers as text against strtod: the same grammar but for infinities, NaN and
 * hexadecimal numbers, the same bits; the short way agrees with the long one; what is written is
 * read back, and no shorter text would be. The first eight bytes are also taken as a number. */
#include <errno.h>
#include <math.h>

#include "fuzz.h"

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Digits with at most one point and an exponent after a sign: the grammar once more, literally. */
static bool is_decimal(const char *text) {
    size_t digits;
    text += *text == '+' || *text == '-';
    digits = strspn(text, "0123456789");
    text += digits;
    if (*text == '.') {
        const size_t more = strspn(text + 1, "0123456789");
        digits += more;
        text += 1 + more;
    }
    if (digits == 0)
        return false;
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '+' || *text == '-';
        digits = strspn(text, "0123456789");
        text += digits;
    }
    return digits > 0 && *text == '\0';
}

/* text[0..length) has a NUL behind it and none inside, and no blanks around. */
static void check_whole(const char *text, size_t length) {
    char *end;
    double found = 0;
    const double want = strtod(text, &end);
    const bool parsed = rlar__parse_double(text, length, &found);
    const bool decimal = is_decimal(text);
    FUZZ_CHECK(rlar__is_number(text, length) == decimal, "'%s': a number? not as %d", text,
               decimal);
    FUZZ_CHECK(parsed == (decimal && isfinite(want)), "'%s': read: %d", text, parsed);
    FUZZ_CHECK(!parsed || same_bits(found, want), "'%s': %.17g instead of %.17g", text, found,
               want);
}

/* The number that the text begins with, the long way and the short one. */
static void check_beginning(const char *text, size_t length) {
    double first = 0, second = 0, third = 0;
    const char *end = rlar__read_double(text, text + length, &first);
    const char *soon = rlar__read_short(text, text + length, &second);
    FUZZ_CHECK(!soon || (soon == end && same_bits(first, second)),
               "'%s': the short way has %.17g after %d bytes, the long one %.17g after %d", text,
               second, (int)(soon - text), first, end ? (int)(end - text) : -1);
    if (!end)
        return;
    FUZZ_CHECK(end > text && end <= text + length, "'%s': ends outside", text);
    FUZZ_CHECK(rlar__parse_double(text, (size_t)(end - text), &third) && same_bits(first, third),
               "'%s': its beginning of %d bytes is not read alone", text, (int)(end - text));
}

static void check_integer(const char *text, size_t length) {
    int64_t found = 0;
    char *end;
    errno = 0;
    const long long want = strtoll(text, &end, 10);
    if (!rlar__parse_int64(text, length, &found))
        return;
    FUZZ_CHECK(errno == 0 && *end == '\0' && found == want, "'%s': %lld instead of %lld", text,
               (long long)found, want);
}

/* Written, read again, and not longer than need be. */
static void check_format(double value) {
    char text[RLAR_NUMBER_SIZE], shorter[64];
    double again = 0;
    if (!isfinite(value))
        return;
    const int length = rlar__format_double(value, text);
    FUZZ_CHECK(length > 0 && length < RLAR_NUMBER_SIZE && strlen(text) == (size_t)length,
               "%.17g: a text of %d characters", value, length);
    FUZZ_CHECK(rlar__parse_double(text, (size_t)length, &again) && same_bits(value, again),
               "%.17g is written as %s, which is %.17g", value, text, again);
    int digits = 0;
    for (const char *at = text; *at != '\0' && *at != 'e'; at++)
        digits += *at >= '0' && *at <= '9' && (digits > 0 || *at != '0');
    if (digits > 1 && digits <= 17) { /* more are zeros before the point */
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
        FUZZ_CHECK(strpbrk(text, ".e") == NULL || !same_bits(strtod(shorter, NULL), value),
                   "%s could be %s", text, shorter);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    double value = 0;
    memcpy(&value, bytes, size < sizeof value ? size : sizeof value);
    check_format(value);
    char *text = fuzz_alloc(size + 1);
    memcpy(text, bytes, size);
    text[size] = '\0';
    const size_t length = strlen(text);
    size_t first = 0, last = length;
    while (first < last && is_blank(text[first]))
        first++;
    while (last > first && is_blank(text[last - 1]))
        last--;
    double around = 0, alone = 0;
    const bool with = rlar__parse_double(text, length, &around);
    text[last] = '\0';
    FUZZ_CHECK(with == rlar__parse_double(text + first, last - first, &alone) &&
                   (!with || same_bits(around, alone)),
               "'%s': blanks around it change it", text);
    check_whole(text + first, last - first);
    check_beginning(text + first, last - first);
    check_integer(text + first, last - first);
    if (with)
        check_format(around);
    free(text);
    return 0;
}
