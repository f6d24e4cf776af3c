/* status.c - error texts and the log.
 *
 * The text of the last error lives in a fixed buffer of the context, so that it can be written when
 * memory is gone. Where does a text begin, what to do is at its end, and what makes it too long is
 * a path: so it is cut in the middle. Nothing here prints. */
#include "core/core.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    WHOLE = 1 << 14, /* two paths, as long as the system takes them, and what is said of them */
    HEAD = 300,      /* bytes that stay at the beginning of a text that is cut */
};

const char *rlar_status_text(rlar_status status) {
    switch (status) {
    case RLAR_OK:
        return "done";
    case RLAR_E_NOMEM:
        return "out of memory";
    case RLAR_E_ARG:
        return "wrong argument";
    case RLAR_E_DATA:
        return "bad data";
    case RLAR_E_MODEL:
        return "bad model";
    case RLAR_E_NUMERIC:
        return "numerical failure";
    case RLAR_E_IO:
        return "input/output error";
    case RLAR_E_TOO_LARGE:
        return "too large";
    case RLAR_E_CANCELLED:
        return "cancelled";
    case RLAR_E_UNSUPPORTED:
        return "not supported";
    case RLAR_E_BLAS:
        return "no usable BLAS library";
    case RLAR_E_INTERNAL:
        return "internal error";
    case RLAR_W_NOT_CONVERGED:
        return "not converged";
    case RLAR_W_RIDGED:
        return "extra regularisation";
    case RLAR_W_NEIGHBOURS:
        return "fewer neighbours";
    case RLAR_W_ZERO:
        return "the map is zero";
    case RLAR_W_GUESS:
        return "a guess";
    }
    return "unknown status";
}

/* A text is one line, whatever names a file has put into it. */
static void one_line(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

/* Does the byte continue a UTF-8 character? */
static bool continues(char byte) {
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* "start...end" of a text that is too long; no character is cut. */
static void shorten(const char *text, size_t length, char out[RLAR_ERROR_SIZE]) {
    static const char mark[] = "...";
    size_t head = HEAD, tail = RLAR_ERROR_SIZE - sizeof mark - HEAD;
    while (head > 0 && continues(text[head]))
        head--;
    while (tail > 0 && continues(text[length - tail]))
        tail--;
    memcpy(out, text, head);
    memcpy(out + head, mark, sizeof mark - 1);
    memcpy(out + head + sizeof mark - 1, text + length - tail, tail + 1);
}

/* The old text may be one of the arguments: it goes through a buffer. */
RLAR_PRINTF(1, 0)
static void format_text(const char *format, va_list args, char out[RLAR_ERROR_SIZE]) {
    char whole[WHOLE];
    vsnprintf(whole, sizeof whole, format, args);
    one_line(whole);
    const size_t length = strlen(whole);
    if (length < RLAR_ERROR_SIZE)
        memcpy(out, whole, length + 1);
    else
        shorten(whole, length, out);
}

rlar_status rlar__fail(rlar_ctx *ctx, rlar_status code, const char *format, ...) {
    if (ctx) {
        va_list args;
        va_start(args, format);
        format_text(format, args, ctx->error);
        va_end(args);
    }
    return code;
}

rlar_status rlar__fail_in(rlar_ctx *ctx, rlar_status code, const char *prefix) {
    return rlar__fail(ctx, code, "%s: %s", prefix, ctx ? ctx->error : "");
}

rlar_status rlar__forgive(rlar_ctx *ctx) {
    if (ctx)
        ctx->error[0] = '\0';
    return RLAR_OK;
}

void rlar__log(rlar_ctx *ctx, rlar_status code, const char *format, ...) {
    if (!ctx || !ctx->log)
        return;
    char text[RLAR_ERROR_SIZE];
    va_list args;
    va_start(args, format);
    format_text(format, args, text);
    va_end(args);
    ctx->log(ctx->user, code, text);
}
