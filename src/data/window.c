/* window.c - reading a file whole, pieces of it at the same time.
 *
 * The file passes through a window that is cut into pieces of a fixed size. Each piece, from the
 * end of the last line before it to the end of its own last line, is parsed by a copy of the parser
 * into a part of the sink; parts are joined in order. A copy supposes that its piece begins with a
 * row. That is true if the piece before it ended between two rows, and false if a quoted cell with
 * a line break stands at the cut; then, and after whatever else a part cannot settle (errors, see
 * table_part.c), the bytes from that piece on go through the parser itself. So there is one parser,
 * and table, errors and places do not depend on sizes or threads.
 *
 * Cost: the bytes are read once and searched once for line ends, while they are in the cache. */
#include "data/window.h"

#include <string.h>

/* Whole lines of the window. */
typedef struct piece {
    const char *start;
    size_t size;
    int64_t lines;
    int64_t offset, rows; /* the most rows of the pieces before it, and its own */
    void *state;
    rlar_sink sink;
    bool open, good;
} piece;

typedef struct window {
    rlar_ctx *ctx;
    const rlar_format *format;
    void *state; /* of the parser */
    rlar_sink *sink;
    size_t piece_size;
    char *bytes;
    size_t capacity;
    const char *start, *end; /* what is being cut */
    piece *piece;
    char *states; /* of the copies */
    int64_t pieces;
} window;

/* ---- Cutting ---- */

/* The line ends of a piece of the fixed size: their number, and where the last one is. */
static rlar_status find_lines(void *arg, int64_t index) {
    window *w = arg;
    piece *p = &w->piece[index];
    const char *at = w->start + (size_t)index * w->piece_size;
    const char *end = (size_t)(w->end - at) < w->piece_size ? w->end : at + w->piece_size;
    p->lines = 0;
    p->size = 0;
    for (const char *line; (line = memchr(at, '\n', (size_t)(end - at))); p->lines++) {
        at = line + 1;
        p->size = (size_t)(at - w->start); /* for now: from the start of all pieces */
    }
    return RLAR_OK;
}

/* Let every piece begin where the one before it ends; pieces without a line end vanish. Returns the
 * number of rows that they make at most. */
static int64_t cut(window *w, int64_t *count) {
    int64_t kept = 0, rows = 0;
    size_t before = 0;
    for (int64_t i = 0; i < *count; i++) {
        const piece *from = &w->piece[i];
        piece *p = &w->piece[kept];
        if (from->lines == 0)
            continue;
        const size_t end = from->size;
        p->lines = from->lines;
        p->start = w->start + before;
        p->size = end - before;
        p->offset = rows;
        p->rows = rlar__sink_most_rows(w->sink, p->lines, (int64_t)p->size);
        rows += p->rows;
        before = end;
        kept++;
    }
    *count = kept;
    return rows;
}

/* ---- Parsing ---- */

static rlar_status parse_piece(rlar_ctx *ctx, void *arg, int64_t index) {
    window *w = arg;
    piece *p = &w->piece[index];
    p->state = w->states + (size_t)index * w->format->state_size;
    rlar__sink_part(w->sink, ctx, p->offset, p->rows, &p->sink);
    w->format->fork(w->state, ctx, &p->sink, p->state);
    p->open = true;
    p->good = w->format->feed(p->state, p->start, p->size) >= 0 && w->format->between(p->state) &&
              rlar__sink_part_good(&p->sink);
    return RLAR_OK; /* what is wrong is found again, at its place in the file */
}

static rlar_status join_piece(window *w, piece *p) {
    const int64_t lines = w->format->join(w->state, p->state);
    return rlar__sink_join(w->sink, &p->sink, lines);
}

static void close_pieces(window *w, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (w->piece[i].open) {
            w->format->close(w->piece[i].state);
            rlar__sink_part_end(&w->piece[i].sink);
            w->piece[i].open = false;
        }
}

/* Parse start..end in pieces; *rest is where the parser has to go on itself. */
static rlar_status parse_pieces(window *w, const char **rest) {
    const size_t size = (size_t)(w->end - w->start);
    int64_t count = (int64_t)(size / w->piece_size + (size % w->piece_size != 0)), done = 0;
    *rest = w->start;
    RLAR_TRY(rlar__parallel(w->ctx, count, find_lines, w));
    const int64_t rows = cut(w, &count);
    RLAR_TRY(rlar__sink_reserve(w->sink, rows));
    rlar_status status = rlar__parallel_ctx(w->ctx, count, parse_piece, w);
    for (; done < count && status >= 0 && w->piece[done].good; done++) {
        status = join_piece(w, &w->piece[done]);
        *rest = w->piece[done].start + w->piece[done].size;
    }
    close_pieces(w, count);
    return status;
}

/* The bytes of one window. */
static rlar_status feed_window(window *w, size_t size) {
    const char *at = w->bytes, *end = at + size;
    while (at < end && !w->format->between(w->state)) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        const char *next = line ? line + 1 : end;
        RLAR_TRY(w->format->feed(w->state, at, (size_t)(next - at)));
        at = next;
    }
    if ((size_t)(end - at) > w->piece_size && rlar__sink_divisible(w->sink)) {
        w->start = at;
        w->end = end;
        RLAR_TRY(parse_pieces(w, &at));
    }
    return at < end ? w->format->feed(w->state, at, (size_t)(end - at)) : RLAR_OK;
}

/* ---- All windows ---- */

static rlar_status read_all(window *w, rlar_source *source) {
    size_t size;
    do {
        const rlar_status filled =
            rlar__source_fill(source, w->bytes, w->capacity, w->piece_size, &size);
        w->sink->bytes += (int64_t)size;
        w->sink->share = rlar__source_share(source);
        RLAR_TRY(feed_window(w, size));
        RLAR_TRY(filled);
        RLAR_TRY(rlar__poll(w->ctx));
    } while (size == w->capacity);
    RLAR_TRY(w->format->finish(w->state));
    return rlar__sink_finish(w->sink);
}

rlar_status rlar__read_windows(rlar_ctx *ctx, rlar_source *source, const rlar_format *format,
                               void *state, rlar_sink *sink, const rlar_window_size *size) {
    window w = {.ctx = ctx,
                .format = format,
                .state = state,
                .sink = sink,
                .piece_size = (size_t)size->piece};
    const int64_t plain = rlar__source_plain_size(source), full = size->piece * size->pieces;
    /* One byte more than a small file has: a full window promises another. */
    w.capacity = (size_t)(plain > 0 && plain < full ? plain + 1 : full);
    rlar_status status = rlar__alloc(ctx, (int64_t)w.capacity, 1, "reading", &w.bytes);
    if (status >= 0)
        status = rlar__calloc(ctx, size->pieces, sizeof *w.piece, "reading", &w.piece);
    if (status >= 0)
        status = rlar__calloc(ctx, size->pieces, format->state_size, "reading", &w.states);
    if (status >= 0)
        status = read_all(&w, source);
    rlar__free(w.bytes);
    rlar__free(w.piece);
    rlar__free(w.states);
    return status;
}
