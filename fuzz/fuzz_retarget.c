/* fuzz_retarget.c - the T step: its result keeps the margins, satisfies the conditions of the
 * nearest point, and is that of two other ways to find it. The bytes are the number of classes, the
 * class, how numbers are made, and the outputs of the sample. */
#include "fuzz.h"
#include "retarget_oracle.h"
#include "solver/retarget.h"

enum { MOST = 24 };

/* Any double up to 1e100, small whole numbers (ties), or quarters. */
static double take_number(fuzz_bytes *b, unsigned kind) {
    if (kind == 1)
        return (int8_t)fuzz_byte(b);
    if (kind == 2)
        return (int8_t)fuzz_byte(b) / 64.0;
    const uint64_t word = fuzz_word(b);
    double value;
    memcpy(&value, &word, sizeof value);
    return isfinite(value) && fabs(value) <= 1e100 ? value : 1.0;
}

/* Margin, direction, sum and complementarity: together they characterise the nearest point. */
static void check_conditions(int64_t c, const double *y, int64_t l, const double *t) {
    const double size = largest(c, y), slack = 1e-14 * size;
    double sum = 0;
    FUZZ_CHECK(t[l] >= y[l], "its own target falls");
    for (int64_t j = 0; j < c; j++) {
        FUZZ_CHECK(isfinite(t[j]), "target %d is %g", (int)j, t[j]);
        sum += t[j] - y[j];
        if (j == l)
            continue;
        FUZZ_CHECK(t[l] - t[j] >= 1 - slack, "a margin of %.17g", t[l] - t[j]);
        FUZZ_CHECK(t[j] <= y[j], "target %d rises", (int)j);
        FUZZ_CHECK(fabs((t[j] - y[j]) * (t[l] - t[j] - 1)) <= slack * size,
                   "target %d moved beyond its margin", (int)j);
    }
    FUZZ_CHECK(fabs(sum) <= slack * (double)c, "the targets moved by %g in all", sum);
}

static void compare(int64_t c, const double *a, const double *b, double tolerance,
                    const char *what) {
    for (int64_t j = 0; j < c; j++)
        FUZZ_CHECK(fabs(a[j] - b[j]) <= tolerance, "%s: entry %d is %.17g instead of %.17g", what,
                   (int)j, a[j], b[j]);
}

/* The square of the distance, and half its derivative, at y + s v. */
static void check_along(int64_t c, const double *y, const double *v, int64_t l) {
    double at[MOST], t[MOST], z[MOST], delta = 0, square = 0, slope = 0, want = 0, rate = 0;
    const double step = 0.5;
    for (int64_t j = 0; j < c; j++)
        at[j] = y[j] + step * v[j];
    rlar__retarget_row(c, at, l, t);
    for (int64_t j = 0; j < c; j++) {
        want += (at[j] - t[j]) * (at[j] - t[j]);
        rate += (at[j] - t[j]) * v[j];
    }
    rlar__margin_along(c, y, v, step, l, z, &delta, &square, &slope);
    const double size = fmax(largest(c, y), largest(c, v));
    FUZZ_CHECK(fabs(square - want) <= 1e-12 * (double)c * size * size, "a square of %g, not %g",
               square, want);
    FUZZ_CHECK(fabs(slope - rate) <= 1e-12 * (double)c * size * size, "a slope of %g, not %g",
               slope, rate);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_bytes b = {bytes, size};
    double y[MOST], v[MOST], t[MOST], want[MOST];
    const int64_t c = 2 + fuzz_choice(&b, MOST - 1), l = fuzz_choice(&b, (unsigned)c);
    const unsigned kind = fuzz_choice(&b, 3);
    for (int64_t j = 0; j < c; j++)
        y[j] = take_number(&b, kind);
    for (int64_t j = 0; j < c; j++)
        v[j] = take_number(&b, kind);
    rlar__retarget_row(c, y, l, t);
    check_conditions(c, y, l, t);
    literal_phi(c, y, l, want);
    compare(c, t, want, 1e-13 * (double)c * largest(c, y), "the literal Phi");
    if (c <= 6 && kind > 0) { /* of mixed sizes it cannot tell the costs apart */
        enumerate(c, y, l, want);
        compare(c, t, want, 1e-12 * largest(c, y), "all sets of tight margins");
    }
    bool keeps = true;
    for (int64_t j = 0; j < c; j++)
        keeps = keeps && (j == l || y[l] - y[j] >= 1.5);
    if (keeps)
        compare(c, t, y, 0, "kept margins");
    check_along(c, y, v, l);
    return 0;
}
