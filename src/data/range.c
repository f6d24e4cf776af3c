/* range.c - reading a part of a file.
 *
 * The head of a file is what its parser has to know before it can begin anywhere: the header of an
 * array; the first rows of a text, which tell the separator, the names, the label column and from
 * where indices count. Every part reads it, and it alone is read more than once.
 *
 * The rows of an array are cut evenly. The bytes of a text behind its head are, and a line belongs
 * to the part in which its first byte lies; the rows of the head belong to part 0. That every line
 * begins a row is supposed, as in window.c, and proved by the part before it, which fails if its
 * end lies within quotes: when no part has failed, all were right. A table whose cut lies in a
 * quoted cell is refused so.
 *
 * Lines are counted only after an error, for its message: the bytes before the part are read then,
 * and the part once more. */
#include "data/range.h"

#include <string.h>

int64_t rlar__range_cut(int64_t n, int64_t part, int64_t parts) {
    return n / parts * part + n % parts * part / parts;
}

/* ---- What can be read ---- */

rlar_status rlar__range_refused(rlar_ctx *ctx, const char *file, const char *why) {
    return rlar__fail(
        ctx, RLAR_E_UNSUPPORTED,
        "%s: cannot be read in parts: %s; CSV, TSV, LIBSVM and C-order NPY files that "
        "are not packed can",
        file, why);
}

rlar_status rlar__range_allowed(rlar_ctx *ctx, const char *path, const rlar_read_options *o) {
    enum { MOST = 1000000000 }; /* so that products fit */
    if (o->part < 0 || o->part >= o->parts || o->parts > MOST)
        return rlar__fail(
            ctx, RLAR_E_ARG,
            "read options: part is %lld of %lld; parts count from 0, and there are at "
            "most 10^9",
            (long long)o->part, (long long)o->parts);
    if (strcmp(path, "-") == 0)
        return rlar__range_refused(ctx, "<stdin>", "it is standard input");
    if (o->missing == RLAR_MISSING_MEAN && !o->model)
        return rlar__fail(
            ctx, RLAR_E_UNSUPPORTED,
            "%s: the mean of a column is over all samples, so a part cannot fill it "
            "in; leave samples with missing values out (--missing drop), or fill them "
            "in before",
            path);
    return RLAR_OK;
}

static rlar_status check_file(rlar_ctx *ctx, const rlar_source *source, const rlar_format *format,
                              const rlar_sink *sink) {
    const char *file = rlar__source_name(source);
    if (!format->between)
        return rlar__range_refused(ctx, file, "its format does not tell where samples begin");
    if (!rlar__source_seekable(source))
        return rlar__range_refused(ctx, file, "it is packed, or not a regular file");
    if (format->go_on && sink->labels)
        return rlar__range_refused(
            ctx, file,
            "its labels are in a file of their own, which goes by the number of the row");
    return RLAR_OK;
}

/* ---- The head ---- */

/* Up to a line at once, or byte by byte in a file that has no lines. */
static rlar_status read_head(rlar_source *source, const rlar_format *format, void *state,
                             int64_t *size, bool *ended) {
    const char *bytes = NULL;
    size_t left = 0;
    *size = 0;
    while (!format->between(state)) {
        if (left == 0)
            RLAR_TRY(rlar__source_next(source, &bytes, &left));
        *ended = left == 0;
        if (*ended)
            return format->finish(state);
        const char *line = format->go_on ? memchr(bytes, '\n', left) : bytes;
        const size_t step = line ? (size_t)(line - bytes) + 1 : left;
        RLAR_TRY(format->feed(state, bytes, step));
        bytes += step;
        left -= step;
        *size += (int64_t)step;
    }
    return RLAR_OK;
}

/* ---- The part ---- */

static rlar_status cut_lines(rlar_source *source, const rlar_read_options *o, int64_t head,
                             int64_t size, rlar_range *out) {
    const int64_t rest = size - head;
    out->from = head;
    out->to = size;
    if (o->part > 0)
        RLAR_TRY(
            rlar__source_line(source, head + rlar__range_cut(rest, o->part, o->parts), &out->from));
    if (o->part + 1 < o->parts)
        RLAR_TRY(rlar__source_line(source, head + rlar__range_cut(rest, o->part + 1, o->parts),
                                   &out->to));
    return RLAR_OK;
}

rlar_status rlar__range_begin(rlar_ctx *ctx, rlar_source *source, const rlar_format *format,
                              void *state, rlar_sink *sink, const rlar_read_options *o,
                              int64_t lines, rlar_range *out) {
    const int64_t size = rlar__source_plain_size(source);
    int64_t head;
    bool ended = false;
    RLAR_TRY(check_file(ctx, source, format, sink));
    RLAR_TRY(read_head(source, format, state, &head, &ended));
    if (ended) /* all of it: what is wrong is said by all parts */
        RLAR_TRY(rlar__sink_finish(sink));
    if (format->rows) {
        RLAR_TRY(format->rows(state, o, head, size, &out->from, &out->to));
    } else {
        RLAR_TRY(cut_lines(source, o, head, size, out));
        if (o->part > 0) {
            rlar__sink_forget(sink);
            format->go_on(state, lines + 1);
        }
        RLAR_TRY(rlar__sink_range(sink, 0, sink->rows, 0));
    }
    out->begun = true;
    rlar__source_range(source, out->from, out->to);
    return RLAR_OK;
}

/* ---- After an error ---- */

rlar_status rlar__range_before(rlar_ctx *ctx, const char *path, const rlar_range *range,
                               int64_t *lines, bool *quoted) {
    rlar_source *source = NULL;
    int64_t at = 0;
    bool open = false;
    *lines = 0;
    *quoted = false;
    RLAR_TRY(rlar__source_file(ctx, path, &source));
    rlar_status status = RLAR_OK;
    while (at < range->to && status >= 0) {
        const char *bytes;
        size_t size = 0;
        status = rlar__source_next(source, &bytes, &size);
        if (status < 0 || size == 0)
            break;
        for (size_t i = 0; i < size && at < range->to; i++, at++) {
            *quoted |= at == range->from && open;
            *lines += at < range->from && bytes[i] == '\n';
            open ^= bytes[i] == '"';
        }
    }
    *quoted |= open;
    rlar__source_close(source);
    return status;
}
