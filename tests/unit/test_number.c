/* test_number.c - numbers as text: against strtod on random strings, at the hard places, and back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

enum { RANDOM_STRINGS = 2000000 };

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Equal in every bit to the C library's correctly rounded answer. */
static void check_like_strtod(const char *text) {
    const double want = strtod(text, NULL);
    double got = 42;
    const bool ok = rlar__parse_double(text, strlen(text), &got);
    if (isinf(want)) {
        if (ok)
            fail_msg("'%.60s' is too large but was read as %g", text, got);
        return;
    }
    if (!ok || memcmp(&got, &want, sizeof got) != 0)
        fail_msg("'%.60s' (length %zu): %a instead of %a", text, strlen(text), got, want);
}

static void put_digits(char *buf, size_t *at, int count, uint64_t *state) {
    for (int i = 0; i < count; i++)
        buf[(*at)++] = (char)('0' + next_random(state) % 10);
}

static void test_random_strings(void **state) {
    (void)state;
    uint64_t seed = 20240607;
    for (int i = 0; i < RANDOM_STRINGS; i++) {
        char buf[128];
        size_t at = 0;
        if (next_random(&seed) % 2)
            buf[at++] = '-';
        put_digits(buf, &at, (int)(1 + next_random(&seed) % 25), &seed);
        if (next_random(&seed) % 2) {
            buf[at++] = '.';
            put_digits(buf, &at, (int)(next_random(&seed) % 25), &seed);
        }
        const int range = next_random(&seed) % 2 ? 30 : 700;
        const int exponent = (int)(next_random(&seed) % (uint64_t)range) - range / 2;
        snprintf(buf + at, sizeof buf - at, "e%d", exponent);
        check_like_strtod(buf);
    }
}

/* Every double, and the exact middle between it and the next, with the digits of a long expansion.
 */
static void test_middles(void **state) {
    (void)state;
    uint64_t seed = 77;
    for (int i = 0; i < 3000; i++) {
        const uint64_t bits = next_random(&seed) & UINT64_C(0x7fffffffffffffff);
        double low;
        memcpy(&low, &bits, sizeof low);
        if (i % 3 == 0)
            low = ldexp((double)(bits >> 12), -1074); /* subnormal */
        if (!isfinite(low))
            continue;
        char buf[1300];
        /* long double holds the middle exactly in the normal range and below it. */
        const long double middle = ((long double)low + (long double)nextafter(low, INFINITY)) / 2;
        snprintf(buf, sizeof buf, "%.1100Lg", middle);
        check_like_strtod(buf);
        char above[1400]; /* one digit more, far behind the last: just above the middle */
        const size_t mantissa = strcspn(buf, "e");
        snprintf(above, sizeof above, "%.*s%s1%s", (int)mantissa, buf,
                 memchr(buf, '.', mantissa) ? "" : ".", buf + mantissa);
        check_like_strtod(above);
        snprintf(buf, sizeof buf, "%.17g", low);
        check_like_strtod(buf);
        snprintf(buf, sizeof buf, "%.40e", low);
        check_like_strtod(buf);
    }
}

static void test_hard_cases(void **state) {
    (void)state;
    static const char *const cases[] = {
        "0",
        "-0",
        "+0.0",
        "1",
        "+1",
        ".5",
        "5.",
        "1e5",
        "1E+5",
        "1e-5",
        "0e999999999999999999999",
        "0.0000000000000000000000000000000000000000000000001",
        "9007199254740993",
        "9007199254740992.5",
        "9007199254740993.00000000000000000000000000000000000000000000000000000000000000001",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "2.2250738585072012e-308",
        "5e-324",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.47032822920623272088284396434110686182e-324",
        "1e-400",
        "1e-99999999999999999999",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "179769313486231570814527423731704356798070567525844996598917476803157260780028538760589558"
        "63276687"
        "817154045895351438246423432132688946418276846754670353751698604991057655128207624549009038"
        "932894407"
        "586850845513394230458323690322294816580855933212334779797e0",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017"
        "977587207"
        "096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817"
        "711531764"
        "475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093"
        "042880",
        "6.631236846766476e-316",
        "3.237883913302901e-319",
        "1.00000000000000011102230246251565404",
        "1.00000000000000011102230246251565405",
        "18446744073709551615",
        "18446744073709551616",
        "123456789012345678901234567890",
        "8.5e22",
        "1e22",
        "1e23",
        "7.2057594037927933e16"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_like_strtod(cases[i]);
}

/* Fields of a million digits are legal; their digits beyond the 800th still decide a tie. */
static void test_long_strings(void **state) {
    (void)state;
    const size_t size = 1000000;
    char *text = malloc(size + 32);
    assert_non_null(text);
    memset(text, '0', size);
    memcpy(text, "9007199254740993.", 17);
    text[size] = '\0';
    check_like_strtod(text);
    text[size - 1] = '1';
    check_like_strtod(text);
    memset(text, '0', size);
    text[1] = '.';
    memcpy(text + size, "1e1000000", 10);
    check_like_strtod(text);
    memset(text, '7', size);
    memcpy(text + size, "e-1000000", 10);
    check_like_strtod(text);
    memcpy(text + size, "e-1000400", 10);
    check_like_strtod(text);
    free(text);
}

/* The short way reads what strtod reads, and ends where it ends, or leaves it alone; and it does
 * take what it is for. */
static void test_short_numbers(void **state) {
    (void)state;
    static const char any[] = "0123456789012345678901234567890123456789....--+eE,; \xff";
    static const char *const mine[] = {"0,",      "-7,", "4.7,", "255\n",
                                       "-0.125;", ".5,", "5.,",  "1234567,"};
    uint64_t seed = 77;
    char text[24] = "";
    for (int i = 0; i < RANDOM_STRINGS; i++) {
        for (int j = 0; j < 20; j++)
            text[j] = any[next_random(&seed) % (sizeof any - 1)];
        double got = 42;
        const char *after = rlar__read_short(text, text + 20, &got);
        if (!after)
            continue;
        char *stop = NULL;
        const double want = strtod(text, &stop);
        if (after != stop || memcmp(&got, &want, sizeof got) != 0)
            fail_msg("'%s': %a, %d bytes, instead of %a, %d", text, got, (int)(after - text), want,
                     (int)(stop - text));
    }
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++) {
        double got = 42;
        memset(text, '8', sizeof text - 1);
        memcpy(text, mine[i], strlen(mine[i]));
        assert_ptr_equal(rlar__read_short(text, text + 20, &got), text + strlen(mine[i]) - 1);
        assert_true(got == strtod(mine[i], NULL));
        assert_null(rlar__read_short(text, text + 8, &got));
    }
}

static void test_blanks_and_refusals(void **state) {
    (void)state;
    static const char *const bad[] = {"",     " ",     "+",        "-",     ".",      "e5",
                                      "1e",   "1e+",   "1 2",      "1,5",   "0x10",   "inf",
                                      "-inf", "nan",   "infinity", "1.2.3", "--1",    "1d5",
                                      "1e5.", "12abc", "1_000",    "1e309", "-1e309", "\xd9\xa1"};
    double value = 42;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (rlar__parse_double(bad[i], strlen(bad[i]), &value))
            fail_msg("'%s' was taken for the number %g", bad[i], value);
        assert_true(value == 42);
    }
    assert_true(rlar__parse_double(" \t1.5 \r\n", 7, &value) && value == 1.5);
    assert_true(rlar__parse_double("25", 1, &value) && value == 2);
    assert_true(rlar__is_number("1e999", 5) && rlar__is_number(" -.5 ", 5));
    assert_false(rlar__is_number("inf", 3) || rlar__is_number("2020-01-02", 10));
}

static void test_int64(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } cases[] = {{"0", true, 0},
                 {"-1", true, -1},
                 {" +17 ", true, 17},
                 {"007", true, 7},
                 {"9223372036854775807", true, INT64_MAX},
                 {"-9223372036854775808", true, INT64_MIN},
                 {"9223372036854775808", false, 0},
                 {"-9223372036854775809", false, 0},
                 {"92233720368547758070", false, 0},
                 {"", false, 0},
                 {"-", false, 0},
                 {"1.0", false, 0},
                 {"1e3", false, 0},
                 {"0x1", false, 0},
                 {"1 1", false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t got = 42;
        const bool ok = rlar__parse_int64(cases[i].text, strlen(cases[i].text), &got);
        if (ok != cases[i].ok || got != (ok ? cases[i].value : 42))
            fail_msg("'%s': %d, %lld", cases[i].text, ok, (long long)got);
    }
}

static void check_format(double value, const char *want) {
    char buf[RLAR_NUMBER_SIZE];
    assert_int_equal(rlar__format_double(value, buf), strlen(want));
    assert_string_equal(buf, want);
}

static void test_format(void **state) {
    (void)state;
    check_format(3, "3");
    check_format(-3, "-3");
    check_format(0, "0");
    check_format(-0.0, "-0");
    check_format(0.1, "0.1");
    check_format(1e-8, "1e-08");
    check_format(999999999999999, "999999999999999");
    check_format(1e15, "1e+15");
    check_format(1.0 / 3, "0.3333333333333333");
    check_format(0.1 + 0.2, "0.30000000000000004");
    check_format(5e-324, "5e-324");
    check_format(DBL_MAX, "1.7976931348623157e+308");
    check_format(-DBL_MAX, "-1.7976931348623157e+308");
    check_format(NAN, "nan");
    check_format(INFINITY, "inf");
    check_format(-INFINITY, "-inf");
}

static void test_format_reads_back(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 100000; i++) {
        const uint64_t bits = next_random(&seed);
        double value, back;
        char buf[RLAR_NUMBER_SIZE];
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        const int length = rlar__format_double(value, buf);
        assert_true(length > 0 && length < RLAR_NUMBER_SIZE);
        assert_true(rlar__parse_double(buf, (size_t)length, &back));
        assert_memory_equal(&value, &back, sizeof value);
    }
}

/* A double of one of the kinds that data have: any bits, few digits, sums of few powers of two. */
static double some_double(uint64_t *seed) {
    const uint64_t bits = next_random(seed);
    double value;
    switch (next_random(seed) % 4) {
    case 0:
        memcpy(&value, &bits, sizeof value);
        return isfinite(value) ? value : 1;
    case 1:
        return (double)(bits % 10000000) / pow(10, (double)(next_random(seed) % 12));
    case 2:
        return ldexp((double)(bits % 4096 + 1), (int)(next_random(seed) % 140) - 100);
    default:
        return ((double)(bits >> 11) * 0x1p-53 - 0.5) * pow(10, (double)(bits % 40) - 20);
    }
}

/* The first of 15, 16 and 17 digits that reads back, as the C library writes them. */
static void test_format_like_printf(void **state) {
    (void)state;
    uint64_t seed = 99;
    for (int i = 0; i < 300000; i++) {
        const double value = some_double(&seed);
        if (fabs(value) < DBL_MIN || (fabs(value) < 1e15 && value == floor(value)))
            continue;
        char got[RLAR_NUMBER_SIZE], want[RLAR_NUMBER_SIZE];
        int digits = 15;
        do
            snprintf(want, sizeof want, "%.*g", digits, value);
        while (strtod(want, NULL) != value && ++digits <= 17);
        assert_int_equal(rlar__format_double(value, got), (int)strlen(want));
        assert_string_equal(got, want);
    }
}

/* The host program may have set a locale with a decimal comma: nothing here may notice. */
static void test_locale(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!setlocale(LC_NUMERIC, names[i]))
            continue;
        double value = 0;
        const bool ok = rlar__parse_double("1.5", 3, &value);
        char buf[RLAR_NUMBER_SIZE];
        rlar__format_double(-0.25, buf);
        setlocale(LC_NUMERIC, "C");
        assert_true(ok && value == 1.5);
        assert_string_equal(buf, "-0.25");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_strings),
                                       cmocka_unit_test(test_middles),
                                       cmocka_unit_test(test_hard_cases),
                                       cmocka_unit_test(test_long_strings),
                                       cmocka_unit_test(test_short_numbers),
                                       cmocka_unit_test(test_blanks_and_refusals),
                                       cmocka_unit_test(test_int64),
                                       cmocka_unit_test(test_format),
                                       cmocka_unit_test(test_format_reads_back),
                                       cmocka_unit_test(test_format_like_printf),
                                       cmocka_unit_test(test_locale)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
