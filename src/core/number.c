/* number.c - decimal text to double and back, without locale.
 *
 * Reading is correctly rounded (to nearest, ties to even) in three steps, each exact or with a
 * proven bound:
 *   1. at most 2^53 times a power of ten up to 10^22: one rounded operation on exact doubles;
 *   2. the first 19 digits times a 128-bit power of ten, all truncated: the true value lies in
 *      [f, f + error) 2^x; done when both ends round to the same double;
 *   3. else the value lies next to the middle of two doubles: compare it with that middle in big
 * integers. Grammar: blanks, sign, digits with at most one point, optional exponent, blanks. No
 * hexadecimal, inf, nan or thousands separators. */
#include "core/core.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

enum {
    WORD_DIGITS = 19, /* what a uint64_t always holds */
    BIG_DIGITS = 800, /* the middle of two doubles has at most 767 significant digits */
    BIG_LIMBS = 136   /* 4352 bits: 54 bits times 10^1146, the largest product below, needs 3861 */
};

/* Beyond it every double is zero or too large: no text is long enough for its digits to make up for
 * it. */
static const int64_t EXPONENT_CAP = INT64_C(100000000000000000);

/* Text taken apart: the significant digits (a point may stand among them) times 10^exponent. */
typedef struct decimal {
    const char *first, *end; /* first non-zero digit, end of the digits */
    int64_t digits;          /* between them; 0: the value is zero */
    int64_t exponent;        /* of the last digit */
    uint64_t word;           /* the first 19 digits */
    bool negative;
} decimal;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void trim(const char **text, size_t *length) {
    while (*length > 0 && is_blank((*text)[*length - 1]))
        (*length)--;
    while (*length > 0 && is_blank(**text)) {
        (*text)++;
        (*length)--;
    }
}

/* ---- Scanning ---- */

/* The exponent p..end after the letter e. */
static bool scan_exponent(const char *p, const char *end, int64_t *out) {
    bool negative = false;
    int64_t value = 0;
    if (p < end && (*p == '+' || *p == '-'))
        negative = *p++ == '-';
    if (p == end)
        return false;
    for (; p < end; p++) {
        if (!is_digit(*p))
            return false;
        if (value < EXPONENT_CAP)
            value = value * 10 + (*p - '0');
    }
    *out = negative ? -value : value;
    return true;
}

static bool scan_decimal(const char *text, size_t length, decimal *out) {
    trim(&text, &length);
    const char *p = text, *end = text + length;
    decimal r = {0};
    bool point = false, any = false;
    int64_t after_point = 0, exponent = 0;
    if (p < end && (*p == '+' || *p == '-'))
        r.negative = *p++ == '-';
    for (; p < end; p++) {
        const unsigned digit = (unsigned)(unsigned char)*p - '0';
        if (digit > 9) {
            if (*p != '.' || point)
                break;
            point = true;
            continue;
        }
        any = true;
        after_point += point;
        if (r.digits == 0) {
            if (digit == 0)
                continue;
            r.first = p;
        }
        if (r.digits++ < WORD_DIGITS)
            r.word = r.word * 10 + digit;
    }
    r.end = p;
    if (!any)
        return false;
    if (p < end && ((*p != 'e' && *p != 'E') || !scan_exponent(p + 1, end, &exponent)))
        return false;
    r.exponent = exponent - after_point;
    *out = r;
    return true;
}

/* ---- Step 2: 128-bit powers of ten ---- */

typedef struct extended {
    u128 f; /* top bit set */
    int x;  /* the value is f 2^x, truncated */
} extended;

/* 5^(2^k) and 5^-(2^k), truncated to 128 bits: { high, low, x }. */
static const struct power {
    uint64_t high, low;
    int x;
} powers[2][9] = {{{0xa000000000000000u, 0x0000000000000000u, -125},
                   {0xc800000000000000u, 0x0000000000000000u, -123},
                   {0x9c40000000000000u, 0x0000000000000000u, -118},
                   {0xbebc200000000000u, 0x0000000000000000u, -109},
                   {0x8e1bc9bf04000000u, 0x0000000000000000u, -90},
                   {0x9dc5ada82b70b59du, 0xf020000000000000u, -53},
                   {0xc2781f49ffcfa6d5u, 0x3cbf6b71c76b25fbu, 21},
                   {0x93ba47c980e98cdfu, 0xc66f336c36b10137u, 170},
                   {0xaa7eebfb9df9de8du, 0xddbb901b98feeab7u, 467}},
                  {{0xccccccccccccccccu, 0xccccccccccccccccu, -130},
                   {0xa3d70a3d70a3d70au, 0x3d70a3d70a3d70a3u, -132},
                   {0xd1b71758e219652bu, 0xd3c36113404ea4a8u, -137},
                   {0xabcc77118461cefcu, 0xfdc20d2b36ba7c3du, -146},
                   {0xe69594bec44de15bu, 0x4c2ebe687989a9b3u, -165},
                   {0xcfb11ead453994bau, 0x67de18eda5814af2u, -202},
                   {0xa87fea27a539e9a5u, 0x3f2398d747b36224u, -276},
                   {0xddd0467c64bce4a0u, 0xac7cb3f6d05ddbdeu, -425},
                   {0xc0314325637a1939u, 0xfa911155fefb5308u, -722}}};

/* The high half of the 256-bit product, with the top bit set again. */
static extended multiply(extended a, extended b) {
    const uint64_t a1 = (uint64_t)(a.f >> 64), a0 = (uint64_t)a.f;
    const uint64_t b1 = (uint64_t)(b.f >> 64), b0 = (uint64_t)b.f;
    const u128 p10 = (u128)a1 * b0, p01 = (u128)a0 * b1, p00 = (u128)a0 * b0;
    const u128 middle = (u128)(uint64_t)p10 + (uint64_t)p01 + (p00 >> 64);
    extended r = {(u128)a1 * b1 + (p10 >> 64) + (p01 >> 64) + (middle >> 64), a.x + b.x + 128};
    if (r.f >> 127 == 0) {
        r.f <<= 1;
        r.x--;
    }
    return r;
}

/* word 10^e for |e| < 512. A product of factors with errors below p and q units in the last place
 * has an error below 2 (p + q + 2), so after the (at most ten) products here it is below 2^13. */
static extended word_times_power(uint64_t word, int e) {
    const int zeros = __builtin_clzll(word);
    extended r = {(u128)word << (64 + zeros), -(64 + zeros)};
    const struct power *table = powers[e < 0];
    extended factor = {(u128)1 << 127, -127};
    for (int k = 0, left = e < 0 ? -e : e; left != 0; k++, left >>= 1)
        if (left & 1) {
            const extended step = {(u128)table[k].high << 64 | table[k].low, table[k].x};
            factor = multiply(factor, step);
        }
    r = multiply(r, factor);
    r.x += e;
    return r;
}

/* ---- Step 3: big integers ---- */

typedef struct big {
    uint32_t limb[BIG_LIMBS]; /* least first */
    int count;                /* without leading zeros */
} big;

static void big_multiply_add(big *b, uint32_t factor, uint32_t add) {
    uint64_t carry = add;
    for (int i = 0; i < b->count; i++) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0 && b->count < BIG_LIMBS)
        b->limb[b->count++] = (uint32_t)carry;
}

static void big_scale(big *b, int64_t tens, int64_t twos) {
    for (; tens >= 9; tens -= 9)
        big_multiply_add(b, 1000000000u, 0);
    for (; tens > 0; tens--)
        big_multiply_add(b, 10, 0);
    for (; twos >= 31; twos -= 31)
        big_multiply_add(b, 1u << 31, 0);
    big_multiply_add(b, 1u << (twos > 0 ? twos : 0), 0);
}

static int big_compare(const big *a, const big *b) {
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* The digits as an integer; digits beyond the limit count only as "not zero", which is all that a
 * comparison with a number of fewer digits needs. *exponent is that of the integer's last digit. */
static void big_digits(const decimal *number, big *out, int64_t *exponent) {
    int64_t taken = 0;
    bool rest = false;
    *exponent = number->exponent + number->digits;
    for (const char *p = number->first; p < number->end; p++) {
        if (*p == '.')
            continue;
        if (taken < BIG_DIGITS) {
            big_multiply_add(out, 10, (uint32_t)(*p - '0'));
            taken++;
        } else if (*p != '0') {
            rest = true;
            break;
        }
    }
    if (rest) {
        big_multiply_add(out, 10, 1);
        taken++;
    }
    *exponent -= taken;
}

/* The sign of number - (2 mantissa + 1) 2^(x - 1): above or below the middle of two doubles? */
static int compare_with_middle(const decimal *number, uint64_t mantissa, int x) {
    big left = {.count = 0}, right = {.count = 2};
    const uint64_t odd = 2 * mantissa + 1;
    int64_t tens;
    const int twos = x - 1;
    right.limb[0] = (uint32_t)odd;
    right.limb[1] = (uint32_t)(odd >> 32);
    if (right.limb[1] == 0)
        right.count = 1;
    big_digits(number, &left, &tens);
    big_scale(&left, tens > 0 ? tens : 0, twos < 0 ? -twos : 0);
    big_scale(&right, tens < 0 ? -tens : 0, twos > 0 ? twos : 0);
    return big_compare(&left, &right);
}

/* ---- Rounding ---- */

/* Round the number, known to lie in [v.f, v.f + error) 2^v.x, to 53 bits, or fewer below the normal
 * range. */
static double round_number(const decimal *number, extended v, u128 error) {
    const int top = v.x + 127; /* 2^top <= value */
    const int cut = top >= DBL_MIN_EXP - 1 ? 128 - 53 : 128 - 53 + (DBL_MIN_EXP - 1 - top);
    if (cut > 128)
        return 0; /* below half of the smallest double */
    const uint64_t kept = cut == 128 ? 0 : (uint64_t)(v.f >> cut);
    const u128 rest = cut == 128 ? v.f : v.f & (((u128)1 << cut) - 1);
    const u128 half = (u128)1 << (cut - 1);
    bool up = rest > half;
    if (!up && rest + error > half) {
        const int sign = compare_with_middle(number, kept, v.x + cut);
        up = sign > 0 || (sign == 0 && (kept & 1) != 0);
    }
    return ldexp((double)(kept + up), v.x + cut);
}

static double decimal_value(const decimal *number) {
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const int64_t magnitude = number->exponent + number->digits; /* value < 10^magnitude */
    if (number->digits == 0 || magnitude < -323)
        return 0;
    if (magnitude > 309)
        return HUGE_VAL;
    const uint64_t word = number->word;
    const int64_t dropped = number->digits > WORD_DIGITS ? number->digits - WORD_DIGITS : 0;
    const int e = (int)(number->exponent + dropped);
    if (dropped == 0 && word <= (uint64_t)1 << 53 && e >= -22 && e <= 22)
        return e < 0 ? (double)word / tens[-e] : (double)word * tens[e];
    /* Dropped digits add less than one unit to a word of at least 10^18: 2^128 / 10^18 < 2^69. */
    return round_number(number, word_times_power(word, e), (u128)1 << (dropped > 0 ? 69 : 13));
}

bool rlar__parse_double(const char *text, size_t length, double *out) {
    decimal number;
    if (!scan_decimal(text, length, &number))
        return false;
    const double value = decimal_value(&number);
    if (value > DBL_MAX)
        return false;
    *out = number.negative ? -value : value;
    return true;
}

bool rlar__is_number(const char *text, size_t length) {
    decimal number;
    return scan_decimal(text, length, &number);
}

bool rlar__parse_int64(const char *text, size_t length, int64_t *out) {
    trim(&text, &length);
    const char *p = text, *end = text + length;
    bool negative = false;
    uint64_t value = 0;
    if (p < end && (*p == '+' || *p == '-'))
        negative = *p++ == '-';
    if (p == end)
        return false;
    const uint64_t limit = (uint64_t)INT64_MAX + negative;
    for (; p < end; p++) {
        const uint64_t digit = (uint64_t)(*p - '0');
        if (!is_digit(*p) || value > (limit - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = negative ? -(int64_t)(value - (value > 0)) - (value > 0) : (int64_t)value;
    return true;
}

/* ---- Writing ---- */

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

int rlar__format_double(double value, char buf[RLAR_NUMBER_SIZE]) {
    if (!isfinite(value))
        return snprintf(buf, RLAR_NUMBER_SIZE, "%s",
                        isnan(value) ? "nan"
                        : value < 0  ? "-inf"
                                     : "inf");
    if (fabs(value) < 1e15 && value == (double)(int64_t)value && !(value == 0 && signbit(value)))
        return snprintf(buf, RLAR_NUMBER_SIZE, "%" PRId64, (int64_t)value);
    /* Every text of 15 digits survives a normal double, so 15 (without trailing zeros) is where the
     * shortest one shows; below the normal range fewer digits may do. 17 always do. */
    int length = 0;
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        double back;
        length = plain_point(buf, snprintf(buf, RLAR_NUMBER_SIZE, "%.*g", digits, value));
        if (rlar__parse_double(buf, (size_t)length, &back) && back == value)
            break;
    }
    return length;
}
