/* format.c - double to the shortest decimal text that reads back exactly, without locale.
 *
 * Every text of 15 digits survives a normal double, so 15 (without trailing zeros) is where the
 * shortest one shows; 17 always do. The value times a power of ten gives the first 17 or 18 digits
 * and, in what is left of 128 bits, which way to round them, unless it lies closer to the middle of
 * two texts than the error of the product (a tie, mostly). Then, and below the normal range, where
 * fewer digits may do, the C library writes the digits. The layout is that of its %g. */
#include "core/scaled.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEAST = 15, MOST = 17, FIRST_DIGITS = 18 };

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* ---- Layout ---- */

/* The decimal digits of word at the end of text[0..FIRST_DIGITS + 2); returns the first. */
static const char *put_digits(uint64_t word, char text[FIRST_DIGITS + 2]) {
    char *p = text + FIRST_DIGITS + 2;
    do
        *--p = (char)('0' + word % 10);
    while ((word /= 10) != 0);
    return p;
}

static int put_exponent(int exponent, char *buf) {
    const unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);
    int at = 0;
    buf[at++] = 'e';
    buf[at++] = exponent < 0 ? '-' : '+';
    if (size >= 100)
        buf[at++] = (char)('0' + size / 100);
    buf[at++] = (char)('0' + size / 10 % 10);
    buf[at++] = (char)('0' + size % 10);
    return at;
}

static int put_bytes(char *buf, const char *bytes, int count) {
    memcpy(buf, bytes, (size_t)count);
    return count;
}

/* word has `digits` digits; the first stands for 10^exponent. As "%.*g" of so many digits. */
static int lay_out(uint64_t word, int digits, int exponent, char *buf) {
    static const char zeros[] = "00000000000000000";
    char text[FIRST_DIGITS + 2];
    const bool scientific = exponent < -4 || exponent >= digits;
    for (; word % 10 == 0; digits--)
        word /= 10;
    const char *first = put_digits(word, text);
    /* Digits before the point; the others follow it. */
    const int before = scientific ? 1 : exponent < 0 ? 0 : exponent + 1;
    const int whole = before < digits ? before : digits;
    int at = put_bytes(buf, first, whole);
    at += put_bytes(buf + at, zeros, before - whole);
    if (before == 0)
        buf[at++] = '0';
    if (digits > whole) {
        buf[at++] = '.';
        at += put_bytes(buf + at, zeros, before == 0 ? -exponent - 1 : 0);
        at += put_bytes(buf + at, first + whole, digits - whole);
    }
    if (scientific)
        at += put_exponent(exponent, buf + at);
    buf[at] = '\0';
    return at;
}

/* ---- Digits ---- */

/* The first 17 or 18 digits of a value, and what follows them. */
typedef struct first_digits {
    uint64_t word;
    int digits, exponent; /* of the first digit */
    rlar_u128 rest, one;  /* rest / one follows, too small by less than 2^error_bits / one */
} first_digits;

static first_digits take_first(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int two = (int)(bits >> 52 & 0x7ff) - 1075; /* value = mantissa 2^two */
    const uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    /* floor(log10(2^(two + 52))): the exponent of value, or one less. */
    const int exponent = (two + 52) * 78913 >> 18;
    const rlar_extended scaled = rlar__scaled(mantissa, MOST - 1 - exponent);
    const int cut = -(scaled.x + two); /* 68 to 75: 10^16 <= value < 2 10^17 */
    first_digits r = {.one = (rlar_u128)1 << cut};
    r.word = (uint64_t)(scaled.f >> cut);
    r.rest = scaled.f & (r.one - 1);
    const bool more = r.word >= UINT64_C(100000000000000000);
    r.digits = MOST + more;
    r.exponent = exponent + more;
    return r;
}

/* The value rounded to `digits` digits; false: that hangs on more bits than there are. */
static bool round_to(const first_digits *v, int digits, uint64_t *word, int *exponent) {
    static const uint64_t tens[] = {1, 10, 100, 1000};
    const rlar_u128 error = (rlar_u128)1 << RLAR_SCALED_ERROR_BITS;
    const uint64_t unit = tens[v->digits - digits];
    /* What is cut off, and half of what it is cut off from, in units of 1 / (2 one). */
    const rlar_u128 rest = (v->word % unit * v->one + v->rest) * 2, half = unit * v->one;
    const bool up = rest > half;
    if (half - rest < 2 * error) /* unsigned: only where rest <= half */
        return false;
    *word = v->word / unit + up;
    *exponent = v->exponent;
    static const uint64_t limit[] = {UINT64_C(1000000000000000), UINT64_C(10000000000000000),
                                     UINT64_C(100000000000000000)};
    if (*word == limit[digits - LEAST]) {
        *word /= 10;
        ++*exponent;
    }
    return true;
}

/* ---- The long way ---- */

/* snprintf writes the point of the host's locale, which may be several bytes: make it one '.'. */
static int plain_point(char *buf, int length) {
    int kept = 0;
    bool in_point = false;
    for (int i = 0; i < length; i++) {
        const char c = buf[i];
        const bool point = !is_digit(c) && c != '-' && c != '+' && c != 'e';
        if (!point)
            buf[kept++] = c;
        else if (!in_point)
            buf[kept++] = '.';
        in_point = point;
    }
    buf[kept] = '\0';
    return kept;
}

static int print_digits(double value, int digits, char buf[RLAR_NUMBER_SIZE]) {
    return plain_point(buf, snprintf(buf, RLAR_NUMBER_SIZE, "%.*g", digits, value));
}

/* ---- All together ---- */

static int format_whole(int64_t value, char buf[RLAR_NUMBER_SIZE]) {
    char text[FIRST_DIGITS + 2];
    const char *first = put_digits((uint64_t)(value < 0 ? -value : value), text);
    const int digits = (int)(text + sizeof text - first), sign = value < 0;
    buf[0] = '-';
    put_bytes(buf + sign, first, digits);
    buf[sign + digits] = '\0';
    return sign + digits;
}

/* value is finite and not 0. */
static int format_digits(double value, int digits, const first_digits *v,
                         char buf[RLAR_NUMBER_SIZE]) {
    uint64_t word;
    int exponent;
    if (!v || !round_to(v, digits, &word, &exponent))
        return print_digits(value, digits, buf);
    buf[0] = '-';
    const int sign = value < 0;
    return sign + lay_out(word, digits, exponent, buf + sign);
}

int rlar__format_double(double value, char buf[RLAR_NUMBER_SIZE]) {
    if (!isfinite(value))
        return snprintf(buf, RLAR_NUMBER_SIZE, "%s",
                        isnan(value) ? "nan"
                        : value < 0  ? "-inf"
                                     : "inf");
    if (value == 0)
        return snprintf(buf, RLAR_NUMBER_SIZE, signbit(value) ? "-0" : "0");
    if (fabs(value) < 1e15 && value == (double)(int64_t)value)
        return format_whole((int64_t)value, buf);
    const bool normal = fabs(value) >= DBL_MIN;
    const first_digits first = normal ? take_first(value) : (first_digits){0};
    int length = 0;
    for (int digits = normal ? LEAST : 1; digits <= MOST; digits++) {
        double back;
        length = format_digits(value, digits, normal ? &first : NULL, buf);
        if (rlar__parse_double(buf, (size_t)length, &back) && back == value)
            break;
    }
    return length;
}
