/* status.c - error texts and the log.
 *
 * The text of the last error lives in a fixed buffer of the context, so that it can be written when
 * memory is gone. Nothing here prints. */
#include "core/core.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    }
    return "unknown status";
}

/* A text is one line, whatever names a file has put into it. */
static void one_line(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

rlar_status rlar__fail(rlar_ctx *ctx, rlar_status code, const char *format, ...) {
    if (ctx) {
        /* Through a second buffer: an argument may be the old text itself. */
        char text[RLAR_ERROR_SIZE];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        one_line(text);
        memcpy(ctx->error, text, sizeof text);
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
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    one_line(text);
    ctx->log(ctx->user, code, text);
}
