/* number.c - decimal text to double, without locale.
 *
 * Reading is correctly rounded (to nearest, ties to even) in three steps, each exact or with a
 * proven bound:
 *   1. at most 2^53 times a power of ten up to 10^22: one rounded operation on exact doubles;
 *   2. the first 19 digits times a 128-bit power of ten, all truncated: the true value lies in
 *      [f, f + error) 2^x; done when both ends round to the same double;
 *   3. else the value lies next to the middle of two doubles: compare it with that middle in big
 *      integers.
 * Digits are taken eight at a time, by arithmetic on a word of eight bytes: in data most numbers
 * have so many digits as their file has, but a number of pixels has one, two or three at random,
 * and a loop over them would mispredict its end. Grammar: blanks, sign, digits with at most one
 * point, optional exponent, blanks. No hexadecimal, inf, nan or thousands separators. */
#include "core/scaled.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    WORD_DIGITS = 19, /* what a uint64_t always holds */
    BIG_DIGITS = 800, /* the middle of two doubles has at most 767 significant digits */
    BIG_LIMBS = 136   /* 4352 bits: 54 bits times 10^1146, the largest product below, needs 3861 */
};

/* Beyond it every double is zero or too large: no text is long enough for its digits to make up for
 * it. */
static const int64_t EXPONENT_CAP = INT64_C(100000000000000000);

/* Text taken apart: the digits (a point may stand among them) times 10^exponent. */
typedef struct decimal {
    const char *first, *end; /* of the digits */
    int64_t digits;          /* how many; after strip() from the first that is not zero on */
    int64_t exponent;        /* of the last digit */
    uint64_t word;           /* the digits, if there are at most 19; after strip() the first 19 */
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

static uint64_t load_eight(const char *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Eight digits, one per byte, the first in the lowest byte: pairs, then fours, then all. */
static uint64_t eight_digits(uint64_t v) {
    const uint64_t mask = UINT64_C(0x000000ff000000ff);
    v = v * 10 + (v >> 8);
    return (((v & mask) * UINT64_C(0x000f424000000064)) +
            ((v >> 16 & mask) * UINT64_C(0x0000271000000001))) >>
           32;
}

static const uint64_t DIGITS = UINT64_C(0x3030303030303030); /* what digits have in common */
static const uint64_t POINTS = UINT64_C(0x1e1e1e1e1e1e1e1e); /* '.' without it */

/* The top bit of the first byte of v, text without DIGITS, that is no digit is set; the bits of
 * later bytes may be spoilt. */
static uint64_t not_digits(uint64_t v) {
    return ((v + UINT64_C(0x7676767676767676)) | v) & UINT64_C(0x8080808080808080);
}

/* Take the digits at p; *word goes on from what it holds, and is not valid beyond 19 digits.
 * Inlined by force: a word in memory instead of a register doubles the time of a short number. */
__attribute__((always_inline)) static inline const char *take_digits(const char *p, const char *end,
                                                                     uint64_t *word) {
    static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    while (end - p >= 8) {
        const uint64_t v = load_eight(p) ^ DIGITS, other = not_digits(v);
        if (other == 0) {
            *word = *word * tens[8] + eight_digits(v);
            p += 8;
            continue;
        }
        const int count = __builtin_ctzll(other) >> 3;
        if (count > 0)
            *word = *word * tens[count] + eight_digits(v << (64 - 8 * count));
        return p + count;
    }
    for (; p < end && is_digit(*p); p++)
        *word = *word * 10 + (uint64_t)(*p - '0');
    return p;
}

/* The exponent after the letter e at p - 1; NULL when there is no digit. */
static const char *scan_exponent(const char *p, const char *end, int64_t *out) {
    bool negative = false;
    int64_t value = 0;
    if (p < end && (*p == '+' || *p == '-'))
        negative = *p++ == '-';
    if (p == end || !is_digit(*p))
        return NULL;
    for (; p < end && is_digit(*p); p++)
        if (value < EXPONENT_CAP)
            value = value * 10 + (*p - '0');
    *out = negative ? -value : value;
    return p;
}

/* The longest number that text[0..end) begins with; returns where it ends, NULL: there is none. */
__attribute__((always_inline)) static inline const char *
scan_decimal(const char *p, const char *end, decimal *out) {
    decimal r = {.negative = false};
    if (p < end) { /* signs are random: no branch */
        r.negative = *p == '-';
        p += r.negative | (*p == '+');
    }
    r.first = p;
    p = take_digits(p, end, &r.word);
    r.digits = p - r.first;
    if (p < end && *p == '.') {
        const char *point = p;
        p = take_digits(p + 1, end, &r.word);
        r.exponent = point + 1 - p;
        r.digits -= r.exponent;
    }
    r.end = p;
    if (r.digits == 0)
        return NULL;
    if (p < end && (*p == 'e' || *p == 'E')) {
        int64_t exponent = 0;
        const char *after = scan_exponent(p + 1, end, &exponent);
        if (after)
            p = after;
        r.exponent += exponent;
    }
    *out = r;
    return p;
}

/* Do not count leading zeros, and keep the first 19 digits of more. */
static void strip(decimal *number) {
    const char *p = number->first;
    for (; p < number->end && (*p == '0' || *p == '.'); p++)
        number->digits -= *p == '0';
    number->first = p;
    if (number->digits <= WORD_DIGITS)
        return;
    number->word = 0;
    for (int taken = 0; taken < WORD_DIGITS; p++)
        if (*p != '.') {
            number->word = number->word * 10 + (uint64_t)(*p - '0');
            taken++;
        }
}

/* ---- Step 2: 128-bit powers of ten ---- */

enum { FINE = 32, COARSE = 64 };

/* 10^e truncated to 128 bits, { high, low }: for e = -32..31, and for the multiples of 64. */
static const struct power {
    uint64_t high, low;
} fine[] = {{0xcfb11ead453994bau, 0x67de18eda5814af2u}, {0x81ceb32c4b43fcf4u, 0x80eacf948770ced7u},
            {0xa2425ff75e14fc31u, 0xa1258379a94d028du}, {0xcad2f7f5359a3b3eu, 0x096ee45813a04330u},
            {0xfd87b5f28300ca0du, 0x8bca9d6e188853fcu}, {0x9e74d1b791e07e48u, 0x775ea264cf55347du},
            {0xc612062576589ddau, 0x95364afe032a819du}, {0xf79687aed3eec551u, 0x3a83ddbd83f52204u},
            {0x9abe14cd44753b52u, 0xc4926a9672793542u}, {0xc16d9a0095928a27u, 0x75b7053c0f178293u},
            {0xf1c90080baf72cb1u, 0x5324c68b12dd6338u}, {0x971da05074da7beeu, 0xd3f6fc16ebca5e03u},
            {0xbce5086492111aeau, 0x88f4bb1ca6bcf584u}, {0xec1e4a7db69561a5u, 0x2b31e9e3d06c32e5u},
            {0x9392ee8e921d5d07u, 0x3aff322e62439fcfu}, {0xb877aa3236a4b449u, 0x09befeb9fad487c2u},
            {0xe69594bec44de15bu, 0x4c2ebe687989a9b3u}, {0x901d7cf73ab0acd9u, 0x0f9d37014bf60a10u},
            {0xb424dc35095cd80fu, 0x538484c19ef38c94u}, {0xe12e13424bb40e13u, 0x2865a5f206b06fb9u},
            {0x8cbccc096f5088cbu, 0xf93f87b7442e45d3u}, {0xafebff0bcb24aafeu, 0xf78f69a51539d748u},
            {0xdbe6fecebdedd5beu, 0xb573440e5a884d1bu}, {0x89705f4136b4a597u, 0x31680a88f8953030u},
            {0xabcc77118461cefcu, 0xfdc20d2b36ba7c3du}, {0xd6bf94d5e57a42bcu, 0x3d32907604691b4cu},
            {0x8637bd05af6c69b5u, 0xa63f9a49c2c1b10fu}, {0xa7c5ac471b478423u, 0x0fcf80dc33721d53u},
            {0xd1b71758e219652bu, 0xd3c36113404ea4a8u}, {0x83126e978d4fdf3bu, 0x645a1cac083126e9u},
            {0xa3d70a3d70a3d70au, 0x3d70a3d70a3d70a3u}, {0xccccccccccccccccu, 0xccccccccccccccccu},
            {0x8000000000000000u, 0x0000000000000000u}, {0xa000000000000000u, 0x0000000000000000u},
            {0xc800000000000000u, 0x0000000000000000u}, {0xfa00000000000000u, 0x0000000000000000u},
            {0x9c40000000000000u, 0x0000000000000000u}, {0xc350000000000000u, 0x0000000000000000u},
            {0xf424000000000000u, 0x0000000000000000u}, {0x9896800000000000u, 0x0000000000000000u},
            {0xbebc200000000000u, 0x0000000000000000u}, {0xee6b280000000000u, 0x0000000000000000u},
            {0x9502f90000000000u, 0x0000000000000000u}, {0xba43b74000000000u, 0x0000000000000000u},
            {0xe8d4a51000000000u, 0x0000000000000000u}, {0x9184e72a00000000u, 0x0000000000000000u},
            {0xb5e620f480000000u, 0x0000000000000000u}, {0xe35fa931a0000000u, 0x0000000000000000u},
            {0x8e1bc9bf04000000u, 0x0000000000000000u}, {0xb1a2bc2ec5000000u, 0x0000000000000000u},
            {0xde0b6b3a76400000u, 0x0000000000000000u}, {0x8ac7230489e80000u, 0x0000000000000000u},
            {0xad78ebc5ac620000u, 0x0000000000000000u}, {0xd8d726b7177a8000u, 0x0000000000000000u},
            {0x878678326eac9000u, 0x0000000000000000u}, {0xa968163f0a57b400u, 0x0000000000000000u},
            {0xd3c21bcecceda100u, 0x0000000000000000u}, {0x84595161401484a0u, 0x0000000000000000u},
            {0xa56fa5b99019a5c8u, 0x0000000000000000u}, {0xcecb8f27f4200f3au, 0x0000000000000000u},
            {0x813f3978f8940984u, 0x4000000000000000u}, {0xa18f07d736b90be5u, 0x5000000000000000u},
            {0xc9f2c9cd04674edeu, 0xa400000000000000u}, {0xfc6f7c4045812296u, 0x4d00000000000000u}},
  coarse[] = {
      {0xfd00b897478238d0u, 0x8920b098955522b4u}, {0xc0314325637a1939u, 0xfa911155fefb5308u},
      {0x91ff83775423cc06u, 0x7b6306a34627ddcfu}, {0xddd0467c64bce4a0u, 0xac7cb3f6d05ddbdeu},
      {0xa87fea27a539e9a5u, 0x3f2398d747b36224u}, {0x8000000000000000u, 0x0000000000000000u},
      {0xc2781f49ffcfa6d5u, 0x3cbf6b71c76b25fbu}, {0x93ba47c980e98cdfu, 0xc66f336c36b10137u},
      {0xe070f78d3927556au, 0x85bbe253f47b1417u}, {0xaa7eebfb9df9de8du, 0xddbb901b98feeab7u},
      {0x81842f29f2cce375u, 0xe6a1158300d46640u}};

/* 2^(x + 127) <= 10^e; 217706 / 2^16 is close enough to log2(10) for |e| < 400. */
static int power_exponent(int e) {
    return (int)((int64_t)e * 217706 >> 16) - 127;
}

/* With the top bit set again, which a product of two such numbers may have lost. */
static rlar_extended normal(rlar_u128 f, int x) {
    const bool lost = f >> 127 == 0;
    return (rlar_extended){f << lost, x - lost};
}

/* The high half of the 256-bit product. */
static rlar_extended multiply(rlar_extended a, rlar_extended b) {
    const uint64_t a1 = (uint64_t)(a.f >> 64), a0 = (uint64_t)a.f;
    const uint64_t b1 = (uint64_t)(b.f >> 64), b0 = (uint64_t)b.f;
    const rlar_u128 p10 = (rlar_u128)a1 * b0, p01 = (rlar_u128)a0 * b1, p00 = (rlar_u128)a0 * b0;
    const rlar_u128 middle = (rlar_u128)(uint64_t)p10 + (uint64_t)p01 + (p00 >> 64);
    return normal((rlar_u128)a1 * b1 + (p10 >> 64) + (p01 >> 64) + (middle >> 64), a.x + b.x + 128);
}

/* 10^e for |e| < 350. A product of factors with errors below p and q units in the last place has an
 * error below 2 (p + q + 2): here below 8. */
static rlar_extended power_of_ten(int e) {
    const int step = (e + FINE) >> 6, rest = e - COARSE * step;
    const struct power *p = &fine[rest + FINE];
    const rlar_extended r = {(rlar_u128)p->high << 64 | p->low, power_exponent(rest)};
    if (step == 0)
        return r;
    p = &coarse[step + 5];
    return multiply(
        (rlar_extended){(rlar_u128)p->high << 64 | p->low, power_exponent(COARSE * step)}, r);
}

rlar_extended rlar__scaled(uint64_t word, int e) {
    const rlar_extended p = power_of_ten(e);
    const int zeros = __builtin_clzll(word);
    const uint64_t top = word << zeros;
    const rlar_u128 low = (rlar_u128)top * (uint64_t)p.f;
    return normal((rlar_u128)top * (uint64_t)(p.f >> 64) + (low >> 64), p.x + 64 - zeros);
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

/* The limbs above the count are zero. */
static int big_compare(const big *a, const big *b) {
    for (int i = BIG_LIMBS - 1; i >= 0; i--)
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
__attribute__((noinline)) static int compare_with_middle(decimal *number, uint64_t mantissa,
                                                         int x) {
    strip(number);
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

/* The number, known to lie in [v.f, v.f + error) 2^v.x, without its last `cut` bits, 1 to 128 of
 * them, rounded. Whether to round up is random, so only the rare case of doubt is a branch. */
__attribute__((always_inline)) static inline uint64_t round_at(decimal *number, rlar_extended v,
                                                               rlar_u128 error, int cut) {
    const uint64_t kept = cut == 128 ? 0 : (uint64_t)(v.f >> cut);
    const rlar_u128 rest = cut == 128 ? v.f : v.f & (((rlar_u128)1 << cut) - 1);
    const rlar_u128 half = (rlar_u128)1 << (cut - 1);
    bool up = rest > half;
    if (half - rest < error) { /* unsigned: only where rest <= half */
        const int sign = compare_with_middle(number, kept, v.x + cut);
        up = sign > 0 || (sign == 0 && (kept & 1) != 0);
    }
    return kept + up;
}

/* To 53 bits, or fewer below the normal range. The bits of a double count on through the powers of
 * two, so a carry needs no care; the leading one of a normal number adds 1 to the exponent that
 * stands above it. */
static double round_number(decimal *number, rlar_extended v, rlar_u128 error) {
    enum { USUAL = 128 - 53 };
    const int above = v.x + 127 - (DBL_MIN_EXP - 1); /* the smallest normal number has 0 */
    uint64_t bits;
    if (above > DBL_MAX_EXP - DBL_MIN_EXP)
        return HUGE_VAL;
    if (above >= 0)
        bits = ((uint64_t)above << 52) + round_at(number, v, error, USUAL);
    else if (above >= USUAL - 128)
        bits = round_at(number, v, error, USUAL - above);
    else
        return 0; /* below half of the smallest double */
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Steps 2 and 3. */
static double rounded_value(decimal *number) {
    enum { SAFE = 280 }; /* |e|: no word makes that too large or too small */
    if (number->digits > WORD_DIGITS || number->exponent < -SAFE || number->exponent > SAFE)
        strip(number);
    const int64_t magnitude = number->exponent + number->digits; /* value < 10^magnitude */
    if (number->word == 0 || magnitude < -323)
        return 0;
    if (magnitude > 309)
        return HUGE_VAL;
    const int64_t dropped = number->digits > WORD_DIGITS ? number->digits - WORD_DIGITS : 0;
    const int e = (int)(number->exponent + dropped);
    /* Dropped digits add less than one unit to a word of at least 10^18: 2^128 / 10^18 < 2^69. */
    return round_number(number, rlar__scaled(number->word, e),
                        (rlar_u128)1 << (dropped > 0 ? 69 : RLAR_SCALED_ERROR_BITS));
}

static inline double decimal_value(decimal *number) {
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    static const double sign[] = {1, -1};
    const int64_t e = number->exponent;
    double value;
    if (number->digits > WORD_DIGITS || number->word > (uint64_t)1 << 53 || e < -22 || e > 22)
        value = rounded_value(number);
    else
        value = e < 0 ? (double)(int64_t)number->word / tens[-e]
                      : (double)(int64_t)number->word * tens[e];
    return value * sign[number->negative];
}

/* The same quotient as in decimal_value(), from one word. Where the number ends, all that the
 * reading of the next one waits for, is known after a few operations. */
const char *rlar__read_short(const char *text, const char *end, double *out) {
    static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    static const double sign[] = {1, -1};
    if (end - text < 9)
        return NULL;
    const bool negative = *text == '-';
    const char *p = text + negative;
    const uint64_t v = load_eight(p) ^ DIGITS, other = not_digits(v);
    const uint64_t t = v ^ POINTS; /* the point is the only byte that becomes zero */
    const uint64_t points = ~((t + UINT64_C(0x7f7f7f7f7f7f7f7f)) | t) & other;
    const uint64_t stop = other & ~points;
    if (stop == 0)
        return NULL;
    const int length = __builtin_ctzll(stop) >> 3, whole = __builtin_ctzll(other) >> 3;
    const uint64_t inside = points & (stop - 1);
    const int count = length - (inside != 0);
    if (count <= 0 || (inside & (inside - 1)) != 0 || (p[length] | ('e' ^ 'E')) == 'e')
        return NULL;
    const uint64_t before = (UINT64_C(1) << (8 * whole)) - 1;
    const uint64_t digits = (v & before) | (v >> (inside != 0 ? 8 : 0) & ~before);
    *out = (double)(int64_t)eight_digits(digits << (64 - 8 * count)) / tens[count - whole] *
           sign[negative];
    return p + length;
}

const char *rlar__read_double(const char *text, const char *end, double *out) {
    decimal number;
    const char *after = scan_decimal(text, end, &number);
    if (!after)
        return NULL;
    const double value = decimal_value(&number);
    if (isinf(value))
        return NULL;
    *out = value;
    return after;
}

bool rlar__parse_double(const char *text, size_t length, double *out) {
    double value;
    trim(&text, &length);
    const char *after = rlar__read_double(text, text + length, &value);
    if (!after || after != text + length)
        return false;
    *out = value;
    return true;
}

bool rlar__is_number(const char *text, size_t length) {
    decimal number;
    trim(&text, &length);
    const char *after = scan_decimal(text, text + length, &number);
    return after && after == text + length;
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
