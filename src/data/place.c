/* place.c - what every reader needs to speak of a cell: its place, its text, whether it is missing.
 */
#include "data/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

rlar_status rlar__fail_at(rlar_ctx *ctx, rlar_status code, const rlar_place *at, const char *format,
                          ...) {
    char text[RLAR_ERROR_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (at->line <= 0)
        return rlar__fail(ctx, code, "%s: %s", at->file, text);
    if (at->column <= 0)
        return rlar__fail(ctx, code, "%s:%lld: %s", at->file, (long long)at->line, text);
    return rlar__fail(ctx, code, "%s:%lld:%lld: %s", at->file, (long long)at->line,
                      (long long)at->column, text);
}

const char *rlar__token(const char *text, size_t length, char buf[RLAR_TOKEN_SIZE]) {
    enum { SHOWN = 40 }; /* each of them takes at most 4 bytes; "..." follows */
    size_t at = 0, shown = length < SHOWN ? length : SHOWN;
    /* Do not cut a UTF-8 character: bytes 10xxxxxx continue one. */
    while (shown < length && shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80)
        shown--;
    for (size_t i = 0; i < shown; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == 0x7f)
            at += (size_t)snprintf(buf + at, 5, "\\x%02x", c);
        else
            buf[at++] = (char)c;
    }
    memcpy(buf + at, "...", 4);
    if (shown == length)
        buf[at] = '\0';
    return buf;
}

bool rlar__cell_missing(const char *text, size_t length) {
    while (length > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        length--;
    }
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    switch (length) {
    case 0:
        return true;
    case 1:
        return *text == '?';
    case 2:
        return strncasecmp(text, "na", 2) == 0;
    case 3:
        return strncasecmp(text, "nan", 3) == 0;
    default:
        return false;
    }
}
