/* labels_file.c - labels in a file of their own: one per line, or a NumPy vector; gzipped or not.
 *
 * The lines of a text file are the labels, without blanks around them; they end with LF, CR LF or
 * CR, and a byte order mark before the first is no part of it. A line in quotes is the name between
 * them as it stands, with "" for one quote, so "na" is a class there and na a missing label; only
 * blank lines at the end are skipped, since one in the middle would shift all labels behind it. */
#include "data/csv_head.h"
#include "data/table.h"

#include <string.h>

typedef struct line_reader {
    rlar_ctx *ctx;
    rlar_sink *sink;
    rlar_place at;
    char *line;
    int64_t size, capacity;
    int64_t blank; /* blank lines not yet known to be the last ones */
} line_reader;

/* "" between the quotes of a line is one quote; returns what is left of the size. */
static size_t undouble(char *text, size_t size) {
    size_t kept = 0;
    for (size_t i = 0; i < size; i++) {
        text[kept++] = text[i];
        i += text[i] == '"' && i + 1 < size && text[i + 1] == '"';
    }
    return kept;
}

/* One line, as one row with one cell. */
static rlar_status push_label(line_reader *r, char *text, size_t size) {
    while (size > 0 && memchr(" \t", text[size - 1], 2))
        size--;
    while (size > 0 && memchr(" \t", *text, 2)) {
        text++;
        size--;
    }
    const bool quoted = size >= 2 && text[0] == '"' && text[size - 1] == '"';
    if (quoted)
        size = undouble(++text, size - 2);
    r->at.line++;
    if (size == 0) {
        r->blank++;
        return RLAR_OK;
    }
    if (r->blank > 0)
        return rlar__fail(r->ctx, RLAR_E_DATA,
                          "%s:%lld: the line is blank; one label per line is needed", r->at.file,
                          (long long)(r->at.line - r->blank));
    if (memchr(text, '\0', size))
        return rlar__fail_at(r->ctx, RLAR_E_DATA, &r->at, "a NUL byte; text in UTF-8 is expected");
    RLAR_TRY(rlar__sink_row(r->sink, &r->at));
    RLAR_TRY(quoted ? rlar__sink_quoted(r->sink, &r->at, text, size)
                    : rlar__sink_cell(r->sink, &r->at, text, size));
    return rlar__sink_row_end(r->sink, &r->at);
}

/* What was gathered up to a LF, or to the end: one line, or several that end with CR. */
static rlar_status push_lines(line_reader *r) {
    char *text = r->line, *end = text + r->size;
    if (r->at.line == 0)
        text += rlar__csv_mark(text, r->size);
    while (end > text && end[-1] == '\r')
        end--;
    r->size = 0;
    for (char *cr; (cr = memchr(text, '\r', (size_t)(end - text))); text = cr + 1)
        RLAR_TRY(push_label(r, text, (size_t)(cr - text)));
    return push_label(r, text, (size_t)(end - text));
}

/* Lines may be cut anywhere between two chunks, so each is gathered first. */
static rlar_status read_lines(line_reader *r, rlar_source *source) {
    RLAR_TRY(rlar__sink_columns(r->sink, 1, NULL, NULL));
    for (;;) {
        const char *bytes;
        size_t size;
        RLAR_TRY(rlar__source_next(source, &bytes, &size));
        if (size == 0)
            return r->size > 0 ? push_lines(r) : RLAR_OK;
        while (size > 0) {
            const char *newline = memchr(bytes, '\n', size);
            const size_t length = newline ? (size_t)(newline - bytes) : size;
            RLAR_TRY(rlar__grow(r->ctx, &r->line, &r->capacity, r->size + (int64_t)length + 1, 1,
                                "a label"));
            memcpy(r->line + r->size, bytes, length);
            r->size += (int64_t)length;
            if (newline)
                RLAR_TRY(push_lines(r));
            bytes += length + (newline != NULL);
            size -= length + (newline != NULL);
        }
    }
}

/* The same sink takes an array: numbers and texts become labels alike. */
static rlar_status read_array(rlar_ctx *ctx, rlar_source *source, rlar_sink *sink,
                              const rlar_read_options *options) {
    const rlar_format *npy = &rlar__format_npy;
    void *state = NULL;
    RLAR_TRY(rlar__calloc(ctx, 1, npy->state_size, "a reader", &state));
    rlar_status status = npy->open(ctx, state, sink, options, rlar__source_name(source));
    while (status >= 0) {
        const char *bytes;
        size_t size = 0;
        status = rlar__source_next(source, &bytes, &size);
        if (status < 0 || size == 0)
            break;
        status = npy->feed(state, bytes, size);
    }
    if (status >= 0)
        status = npy->finish(state);
    npy->close(state);
    rlar__free(state);
    return status;
}

static rlar_status read_into(rlar_ctx *ctx, rlar_source *source, rlar_sink *sink,
                             const rlar_read_options *options) {
    const char *bytes;
    size_t size;
    RLAR_TRY(rlar__source_peek(source, &bytes, &size));
    if (size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0)
        return read_array(ctx, source, sink, options);
    line_reader r = {.ctx = ctx, .sink = sink, .at = {.file = rlar__source_name(source)}};
    const rlar_status status = read_lines(&r, source);
    rlar__free(r.line);
    return status;
}

/* The sink has interned the labels in order of appearance already: its parts move into the list. */
rlar_status rlar__label_list_read(rlar_ctx *ctx, const char *path, rlar_label_list *out) {
    rlar_label_list list = {0};
    rlar_source *source = NULL;
    rlar_sink *sink = NULL;
    const rlar_read_options options = RLAR_INIT(rlar_read_options);
    rlar_status status = rlar__source_file(ctx, path, &source);
    if (status < 0)
        return status;
    const rlar_sink_setup setup = {
        .file = rlar__source_name(source), .options = &options, .whole = true, .label_only = true};
    status = rlar__sink_new(ctx, &setup, &sink);
    if (status >= 0)
        status = read_into(ctx, source, sink, &options);
    if (status >= 0)
        status = rlar__sink_finish(sink);
    if (status >= 0)
        status = rlar__strdup(ctx, rlar__source_name(source), &list.file);
    if (status >= 0) {
        list.texts = sink->raw;
        list.index = sink->label;
        list.count = sink->n;
        sink->raw = (rlar_intern){0};
        sink->label = NULL;
        *out = list;
    }
    rlar__sink_free(sink);
    rlar__source_close(source);
    return status;
}

void rlar__label_list_free(rlar_label_list *list) {
    rlar__intern_free(&list->texts);
    rlar__free(list->index);
    rlar__free(list->file);
    *list = (rlar_label_list){0};
}
