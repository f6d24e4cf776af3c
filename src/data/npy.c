/* npy.c - push parser for NumPy's .npy files.
 *
 * Rows of a C-order array go to the sink as soon as their bytes are there. A Fortran-order array
 * has its rows spread over the whole file, so its bytes are kept until the end. Buffers grow with
 * the bytes that arrived, never by what the header declares: a header of a petabyte costs nothing.
 * Truncated and trailing bytes are errors. */
#include "data/npy.h"
#include "data/range.h"

#include <string.h>

typedef enum phase { PHASE_PREAMBLE, PHASE_HEADER, PHASE_VALUES } phase;

typedef struct npy_parser {
    rlar_ctx *ctx;
    rlar_sink *sink;
    const char *file;
    phase phase;
    rlar_npy npy;
    size_t header; /* length of the header text */
    size_t seen;   /* bytes of values so far */
    int64_t rows;  /* handed over */
    char *held;    /* the unfinished part: header, row, or the whole Fortran-order array */
    size_t held_size;
    int64_t held_capacity;
    double *x; /* one row */
    rlar_npy_text text;
} npy_parser;

static rlar_status npy_open(rlar_ctx *ctx, void *state, rlar_sink *sink,
                            const rlar_read_options *options, const char *file) {
    npy_parser *p = state;
    (void)options;
    p->ctx = ctx;
    p->sink = sink;
    p->file = file;
    return RLAR_OK;
}

static void npy_close(void *state) {
    npy_parser *p = state;
    rlar__free(p->held);
    rlar__free(p->x);
    rlar__free(p->text.bytes);
}

/* Move up to `want - held_size` bytes from the input to the held ones. */
static rlar_status hold(npy_parser *p, size_t want, const char **bytes, size_t *size) {
    const size_t missing = want - p->held_size;
    const size_t count = *size < missing ? *size : missing;
    RLAR_TRY(rlar__grow(p->ctx, &p->held, &p->held_capacity, (int64_t)(p->held_size + count), 1,
                        "the bytes of a NumPy array"));
    if (count > 0)
        memcpy(p->held + p->held_size, *bytes, count);
    p->held_size += count;
    *bytes += count;
    *size -= count;
    return RLAR_OK;
}

/* ---- Rows ---- */

/* Text arrays are lists of labels or names: one cell per row. */
static rlar_status push_text(npy_parser *p, const rlar_place *at, const char *value) {
    RLAR_TRY(rlar__npy_text(p->ctx, p->file, &p->npy, value, &p->text));
    RLAR_TRY(rlar__sink_row(p->sink, at));
    RLAR_TRY(rlar__sink_cell(p->sink, at, p->text.bytes, p->text.length));
    return rlar__sink_row_end(p->sink, at);
}

/* Once, when the bytes of a row justify memory for it. */
static rlar_status announce(npy_parser *p) {
    RLAR_TRY(rlar__sink_columns(p->sink, p->npy.d, NULL, NULL));
    return rlar__alloc(p->ctx, p->npy.d, sizeof *p->x, "a row of a NumPy array", &p->x);
}

/* The next row, its values `step` bytes apart. */
static rlar_status push_row(npy_parser *p, const char *value, size_t step) {
    const int64_t d = p->npy.d;
    int64_t label = -1;
    if (!p->x)
        RLAR_TRY(announce(p));
    const rlar_place at = {.file = p->file, .line = ++p->rows};
    if (rlar__npy_is_text(&p->npy))
        return push_text(p, &at, value);
    for (int64_t j = 0; j < d; j++)
        p->x[j] = rlar__npy_number(&p->npy, value + (size_t)j * step);
    if (rlar__npy_is_long(&p->npy))
        RLAR_TRY(rlar__sink_label_column(p->sink, d, &label));
    if (label < 0)
        return rlar__sink_numbers(p->sink, &at, d, p->x, NULL, 0);
    RLAR_TRY(rlar__npy_text(p->ctx, p->file, &p->npy, value + (size_t)label * step, &p->text));
    return rlar__sink_numbers(p->sink, &at, d, p->x, p->text.bytes, p->text.length);
}

/* A row that lies whole in the input is read in place; only rows across a cut are copied. */
static rlar_status feed_rows(npy_parser *p, const char *bytes, size_t size) {
    const size_t row = p->npy.row;
    while (size > 0) {
        if (p->held_size == 0 && size >= row) { /* a whole row in the input: no copy */
            RLAR_TRY(push_row(p, bytes, p->npy.item));
            bytes += row;
            size -= row;
            continue;
        }
        RLAR_TRY(hold(p, row, &bytes, &size));
        if (p->held_size == row) {
            p->held_size = 0;
            RLAR_TRY(push_row(p, p->held, p->npy.item));
        }
    }
    return RLAR_OK;
}

static rlar_status too_long(const npy_parser *p) {
    return rlar__fail(
        p->ctx, RLAR_E_DATA,
        "%s: bytes after the %lld x %lld values that the header declares; the file is "
        "damaged or holds several arrays",
        p->file, (long long)p->npy.n, (long long)p->npy.d);
}

static rlar_status too_short(const npy_parser *p, size_t seen) {
    return rlar__fail(p->ctx, RLAR_E_DATA,
                      "%s: %zu bytes of values where the header declares %zu (%lld x %lld of %zu "
                      "bytes); the file is truncated",
                      p->file, seen, p->npy.bytes, (long long)p->npy.n, (long long)p->npy.d,
                      p->npy.item);
}

/* More bytes than declared are refused after the declared ones have been looked at, so that the
 * error does not depend on how the bytes are cut. */
static rlar_status feed_values(npy_parser *p, const char *bytes, size_t size) {
    const size_t left = p->npy.bytes - p->seen, own = size < left ? size : left;
    const char *at = bytes;
    size_t count = own;
    p->seen += own;
    RLAR_TRY(p->npy.fortran ? hold(p, p->npy.bytes, &at, &count) : feed_rows(p, at, count));
    if (size == own)
        return RLAR_OK;
    return too_long(p);
}

/* ---- The stages of a file ---- */

/* Byte by byte: where the header starts depends on the version, which is in these bytes. */
static rlar_status feed_preamble(npy_parser *p, const char **bytes, size_t *size) {
    size_t start = 0;
    while (*size > 0 && start == 0) {
        RLAR_TRY(hold(p, p->held_size + 1, bytes, size));
        RLAR_TRY(rlar__npy_preamble(p->ctx, p->file, p->held, p->held_size, &start, &p->header));
    }
    if (start > 0) {
        p->held_size = 0;
        p->phase = PHASE_HEADER;
    }
    return RLAR_OK;
}

/* At most RLAR_NPY_HEADER bytes, as the preamble has made sure. */
static rlar_status feed_header(npy_parser *p, const char **bytes, size_t *size) {
    RLAR_TRY(hold(p, p->header, bytes, size));
    if (p->held_size < p->header)
        return RLAR_OK;
    RLAR_TRY(rlar__npy_header(p->ctx, p->file, p->held, p->header, &p->npy));
    p->held_size = 0;
    p->phase = PHASE_VALUES;
    return RLAR_OK;
}

/* One piece of input may go through all three stages. */
static rlar_status npy_feed(void *state, const char *bytes, size_t size) {
    npy_parser *p = state;
    if (p->phase == PHASE_PREAMBLE)
        RLAR_TRY(feed_preamble(p, &bytes, &size));
    if (p->phase == PHASE_HEADER)
        RLAR_TRY(feed_header(p, &bytes, &size));
    return p->phase == PHASE_VALUES ? feed_values(p, bytes, size) : RLAR_OK;
}

/* The end: nothing may be missing, and the rows of a Fortran-order array can now be cut out. */
static rlar_status npy_finish(void *state) {
    npy_parser *p = state;
    if (p->phase != PHASE_VALUES)
        return rlar__fail(p->ctx, RLAR_E_DATA,
                          "%s: ends within the NPY header; the file is truncated", p->file);
    if (p->seen < p->npy.bytes)
        return too_short(p, p->seen);
    for (int64_t i = 0; p->npy.fortran && i < p->npy.n; i++) {
        RLAR_TRY(
            push_row(p, p->held + rlar__npy_offset(&p->npy, i, 0), (size_t)p->npy.n * p->npy.item));
        RLAR_TRY(rlar__poll(p->ctx));
    }
    return RLAR_OK;
}

static bool npy_between(const void *state) {
    const npy_parser *p = state;
    return p->phase == PHASE_VALUES && p->held_size == 0;
}

/* The parser is told that the array has the rows of the part only. */
static rlar_status npy_rows(void *state, const rlar_read_options *o, int64_t head, int64_t size,
                            int64_t *from, int64_t *to) {
    npy_parser *p = state;
    const size_t values = (size_t)(size - head);
    if (p->npy.fortran)
        return rlar__range_refused(p->ctx, p->file, "its array is in Fortran order");
    if (values < p->npy.bytes)
        return too_short(p, values);
    if (values > p->npy.bytes)
        return too_long(p);
    const int64_t first = rlar__range_cut(p->npy.n, o->part, o->parts);
    const int64_t end = rlar__range_cut(p->npy.n, o->part + 1, o->parts);
    if (p->npy.n > 0) {
        RLAR_TRY(announce(p));
        RLAR_TRY(rlar__sink_range(p->sink, p->npy.d, first, p->npy.n));
        RLAR_TRY(rlar__sink_reserve(p->sink, end - first)); /* the bytes are there */
    }
    p->rows = first;
    p->npy.bytes = (size_t)(end - first) * p->npy.row;
    *from = head + first * (int64_t)p->npy.row;
    *to = head + end * (int64_t)p->npy.row;
    return RLAR_OK;
}

const rlar_format rlar__format_npy = {
    .name = "npy",
    .extensions = ".npy",
    .state_size = sizeof(npy_parser),
    .open = npy_open,
    .feed = npy_feed,
    .finish = npy_finish,
    .close = npy_close,
    .between = npy_between,
    .rows = npy_rows,
};
