/* format.c - double to the shortest decimal text that reads back exactly, without locale. */
#include "core/core.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

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
