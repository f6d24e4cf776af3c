/* csv.c - tables as text: CSV and TSV.
 *
 * Quotes as in RFC 4180: a field that starts with '"' ends at the next lone '"', may hold
 * separators and newlines, and has '""' for one quote; a label in quotes is a name as it stands
 * ("na" is a class, na a missing label). Lines end with LF, CR LF or CR; blank lines,
 * a byte order mark and a missing last newline are fine. The separator of TSV is the tab. That of
 * CSV is read off the first line, and whether it is a header off the first two rows (csv_head.c).
 *
 * Cells that are plain numbers, nearly all there are, are read where they stand and put where they
 * belong; any other cell goes through the states below. Between two rows a copy of the parser can
 * take over, so that pieces of a file are parsed at the same time. */
#include "data/csv_head.h"

#include <limits.h>
#include <string.h>

enum { MAX_FIELD = 1 << 20 }; /* longer fields are a lost quote, not data */

enum field_state { AT_START, PLAIN, QUOTED, QUOTE_SEEN, CLOSED };

typedef struct csv_parser {
    rlar_ctx *ctx;
    rlar_sink *sink;
    const rlar_read_options *options;
    bool tab_only;

    /* The first line with anything in it, until it is complete and tells the separator. */
    char *head;
    int64_t head_size, head_capacity;
    bool started, head_quoted, head_text;

    char separator;           /* ' ': runs of blanks */
    bool ends[UCHAR_MAX + 1]; /* the bytes that end a plain field */
    enum field_state state;
    char *field; /* the part of the field that earlier bytes held, or its unquoted text */
    int64_t field_size, field_capacity;
    bool quoted;        /* the field has quotes, so it counts even when empty */
    bool after_cr;      /* a LF directly after belongs to the CR */
    rlar_place at;      /* line of the current byte, column of the current field */
    int64_t field_line; /* where the field started */

    /* The first two rows wait for the decision about the header. */
    int rows_held; /* 0, 1, 2; 3: decided */
    rlar_texts held[2];
    bool *held_quoted[2]; /* per cell */
    int64_t held_capacity[2], held_line[2];
    bool in_row;
    int64_t row_line;
    bool brief; /* the last number was a short one, so the next may be */
} csv_parser;

/* ---- Rows that waited ---- */

static rlar_status hold_cell(csv_parser *p, const char *text, size_t size) {
    const int row = p->rows_held;
    const int64_t column = p->held[row].count;
    RLAR_TRY(rlar__grow(p->ctx, &p->held_quoted[row], &p->held_capacity[row], column + 1,
                        sizeof *p->held_quoted[row], "the first rows"));
    p->held_quoted[row][column] = p->quoted;
    return rlar__texts_add(p->ctx, &p->held[row], text, size);
}

static void free_held(csv_parser *p) {
    for (int row = 0; row < 2; row++) {
        rlar__texts_free(&p->held[row]);
        rlar__free(p->held_quoted[row]);
        p->held_quoted[row] = NULL;
    }
}

static rlar_status push_cell(csv_parser *p, const rlar_place *at, bool quoted, const char *text,
                             size_t size) {
    return quoted ? rlar__sink_quoted(p->sink, at, text, size)
                  : rlar__sink_cell(p->sink, at, text, size);
}

static rlar_status announce(csv_parser *p, bool header) {
    const rlar_texts *first = &p->held[0];
    const char **names = NULL;
    if (!header)
        return rlar__sink_columns(p->sink, first->count, NULL, NULL);
    RLAR_TRY(rlar__alloc(p->ctx, first->count, sizeof *names, "the column names", &names));
    for (int64_t j = 0; j < first->count; j++)
        names[j] = rlar__texts_at(first, j);
    const rlar_status status = rlar__sink_columns(p->sink, first->count, names, NULL);
    rlar__free(names);
    return status;
}

static rlar_status replay(csv_parser *p, int row) {
    const rlar_texts *cells = &p->held[row];
    rlar_place at = {.file = p->at.file, .line = p->held_line[row]};
    RLAR_TRY(rlar__sink_row(p->sink, &at));
    for (int64_t j = 0; j < cells->count; j++) {
        const char *text = rlar__texts_at(cells, j);
        at.column = j + 1;
        RLAR_TRY(push_cell(p, &at, p->held_quoted[row][j], text, strlen(text)));
    }
    at.column = 0;
    return rlar__sink_row_end(p->sink, &at);
}

/* Two rows are there, or the file has no more: decide, and hand over what waited. */
static rlar_status decide(csv_parser *p) {
    const int rows = p->rows_held;
    bool doubt;
    const bool header = rlar__csv_header(p->options, &p->held[0], &p->held[1], &doubt);
    const rlar_place at = {.file = p->at.file, .line = p->held_line[0]};
    p->rows_held = 3;
    if (doubt)
        rlar__sink_guess(p->sink, &at,
                         header ? "the first line was taken for names; if it is a sample, use "
                                  "--header no, else --header yes"
                                : "the first line was taken for a sample; if it holds names, use "
                                  "--header yes, else --header no");
    RLAR_TRY(announce(p, header));
    for (int row = header; row < rows; row++)
        RLAR_TRY(replay(p, row));
    free_held(p);
    return RLAR_OK;
}

/* ---- Fields and rows ---- */

static rlar_status fail_here(csv_parser *p, const char *what) {
    return rlar__fail_at(p->ctx, RLAR_E_DATA, &p->at, "%s", what);
}

/* What was kept of the field; there is no buffer before the first byte. */
static const char *kept(const csv_parser *p) {
    return p->field ? p->field : "";
}

static rlar_status keep(csv_parser *p, const char *bytes, size_t size) {
    if (size == 0)
        return RLAR_OK;
    if (p->field_size + (int64_t)size > MAX_FIELD) {
        p->at.line = p->field_line;
        return fail_here(p, "the field is longer than 1 MiB; a closing quote may be missing");
    }
    RLAR_TRY(rlar__grow(p->ctx, &p->field, &p->field_capacity, p->field_size + (int64_t)size, 1,
                        "a field"));
    memcpy(p->field + p->field_size, bytes, size);
    p->field_size += (int64_t)size;
    return RLAR_OK;
}

static rlar_status begin_row(csv_parser *p) {
    p->in_row = true;
    p->row_line = p->field_line;
    if (p->rows_held < 2) {
        p->held_line[p->rows_held] = p->row_line;
        return RLAR_OK;
    }
    const rlar_place at = {.file = p->at.file, .line = p->row_line};
    return rlar__sink_row(p->sink, &at);
}

/* The field is complete: text[0..size), which may lie in the input. */
static rlar_status end_field(csv_parser *p, const char *text, size_t size) {
    if (!p->in_row)
        RLAR_TRY(begin_row(p));
    /* The line where the row starts, for all its cells: what one looks for in an editor. */
    const rlar_place at = {.file = p->at.file, .line = p->row_line, .column = p->at.column};
    if (p->rows_held < 2)
        RLAR_TRY(hold_cell(p, text, size));
    else
        RLAR_TRY(push_cell(p, &at, p->quoted, text, size));
    p->at.column++;
    p->field_size = 0;
    p->quoted = false;
    p->state = AT_START;
    return RLAR_OK;
}

static rlar_status end_row(csv_parser *p) {
    const rlar_place at = {.file = p->at.file, .line = p->row_line};
    p->at.column = 1;
    if (!p->in_row)
        return RLAR_OK;
    p->in_row = false;
    if (p->rows_held >= 2)
        return rlar__sink_row_end(p->sink, &at);
    return ++p->rows_held == 2 ? decide(p) : RLAR_OK;
}

/* A line end, or the end of the file, after text[0..size) of the last field. */
static rlar_status end_line(csv_parser *p, const char *text, size_t size) {
    const bool blanks = p->separator == ' ';
    bool empty = !p->quoted && p->at.column == 1;
    for (size_t i = 0; empty && i < size; i++)
        empty = text[i] == ' ' || text[i] == '\t';
    /* Nothing on the line, or nothing after the last run of blanks: no field. */
    if (!empty && !(blanks && size == 0 && !p->quoted))
        RLAR_TRY(end_field(p, text, size));
    p->field_size = 0;
    p->state = AT_START;
    return end_row(p);
}

static rlar_status newline(csv_parser *p, char c, const char *text, size_t size) {
    RLAR_TRY(end_line(p, text, size));
    p->at.line++;
    p->after_cr = c == '\r';
    return RLAR_OK;
}

static void set_separator(csv_parser *p, char separator) {
    p->separator = separator;
    p->ends['\n'] = p->ends['\r'] = p->ends['\0'] = p->ends[(unsigned char)separator] = true;
    if (separator == ' ')
        p->ends['\t'] = true;
}

static bool ends_plain(const csv_parser *p, char c) {
    return p->ends[(unsigned char)c];
}

/* The byte c ends a plain field, or follows a closing quote; text is the field. */
static rlar_status delimiter(csv_parser *p, char c, const char *text, size_t size) {
    if (c == '\0')
        return fail_here(p, "a NUL byte; the file is binary or UTF-16, text in UTF-8 is expected");
    if (c == '\n' || c == '\r')
        return newline(p, c, text, size);
    return end_field(p, text, size);
}

/* From the start of a field or inside a plain one; returns the bytes used. */
static rlar_status plain(csv_parser *p, const char *bytes, size_t size, size_t *used) {
    size_t end = 0;
    while (end < size && !ends_plain(p, bytes[end]))
        end++;
    *used = end < size ? end + 1 : end;
    if (end == size) { /* cut here: the rest comes with the next bytes */
        p->state = PLAIN;
        return keep(p, bytes, end);
    }
    if (p->field_size == 0 && end <= MAX_FIELD)
        return delimiter(p, bytes[end], bytes, end);
    RLAR_TRY(keep(p, bytes, end));
    return delimiter(p, bytes[end], kept(p), (size_t)p->field_size);
}

static rlar_status start(csv_parser *p, const char *bytes, size_t size, size_t *used) {
    const char c = *bytes;
    p->field_line = p->at.line;
    *used = 1;
    if (c == '"') {
        p->quoted = true;
        p->state = QUOTED;
        return RLAR_OK;
    }
    /* Blanks before a field are no part of it; in a file of blanks they separate nothing either. */
    if (c == ' ' || (c == '\t' && p->separator != '\t'))
        return RLAR_OK;
    return plain(p, bytes, size, used);
}

static rlar_status in_quotes(csv_parser *p, const char *bytes, size_t size, size_t *used) {
    size_t end = 0;
    while (end < size && bytes[end] != '"') {
        if (bytes[end] == '\0')
            return fail_here(p,
                             "a NUL byte; the file is binary or UTF-16, text in UTF-8 is expected");
        p->at.line += bytes[end] == '\n';
        end++;
    }
    if (end < size)
        p->state = QUOTE_SEEN;
    *used = end < size ? end + 1 : end;
    return keep(p, bytes, end);
}

/* After a quote inside quotes: its twin, or the end of the field, perhaps behind blanks. */
static rlar_status after_quote(csv_parser *p, char c, size_t *used) {
    *used = 1;
    if (c == '"' && p->state == QUOTE_SEEN) {
        p->state = QUOTED;
        return keep(p, "\"", 1);
    }
    if (ends_plain(p, c))
        return delimiter(p, c, kept(p), (size_t)p->field_size);
    if (c == ' ' || c == '\t') {
        p->state = CLOSED;
        return RLAR_OK;
    }
    char token[RLAR_TOKEN_SIZE];
    p->at.line = p->field_line;
    return rlar__fail_at(
        p->ctx, RLAR_E_DATA, &p->at,
        "'%s' after the closing quote; expected a separator, or a doubled quote for a quote",
        rlar__token(&c, 1, token));
}

/* Numbers of one table are alike: the wrong way is seldom tried first. */
static inline const char *read_number(bool *brief, const char *text, const char *end, double *out) {
    const char *after = *brief ? rlar__read_short(text, end, out) : NULL;
    if (after)
        return after;
    after = rlar__read_double(text, end, out);
    *brief = after && after - text < 8;
    return after;
}

/* From the start of a field inside a row: cells that are numbers, each with the separator or the
 * line feed behind it. Stops before the first cell that is anything else, or that may go on behind
 * the bytes, and after a line. */
static rlar_status take_numbers(csv_parser *p, const char *bytes, size_t size, size_t *used) {
    const char *at = bytes, *end = bytes + size;
    double *x = NULL;
    const int64_t wanted = rlar__sink_slots(p->sink, &x);
    int64_t taken = 0;
    bool line = false, brief = p->brief;
    while (taken < wanted && !line) {
        const char *text = at;
        while (text < end && *text == ' ')
            text++;
        const char *after = read_number(&brief, text, end, &x[taken]);
        if (!after || after == end || after - text > MAX_FIELD)
            break;
        line = *after == '\n';
        if (*after != p->separator && !line)
            break;
        at = after + 1;
        taken++;
    }
    rlar__sink_filled(p->sink, taken);
    p->brief = brief;
    p->at.column += taken;
    p->at.line += line;
    *used = (size_t)(at - bytes);
    return line ? end_row(p) : RLAR_OK;
}

/* The short way, if the parser stands at the start of a field of a row, or of a row that does not
 * begin with anything special; *used is 0 if not, or if the first cell is no plain number. */
static rlar_status feed_numbers(csv_parser *p, const char *bytes, size_t size, size_t *used) {
    *used = 0;
    if (p->state != AT_START || p->rows_held != 3)
        return RLAR_OK;
    if (!p->in_row) {
        const char c = *bytes;
        if (p->at.column != 1 || !((c >= '0' && c <= '9') || c == '-'))
            return RLAR_OK;
        p->field_line = p->at.line;
        RLAR_TRY(begin_row(p));
    }
    return take_numbers(p, bytes, size, used);
}

/* Any bytes, by the state; returns the bytes used. */
static rlar_status feed_other(csv_parser *p, const char *bytes, size_t size, size_t *used) {
    switch (p->state) {
    case AT_START:
        return start(p, bytes, size, used);
    case PLAIN:
        return plain(p, bytes, size, used);
    case QUOTED:
        return in_quotes(p, bytes, size, used);
    default:
        return after_quote(p, *bytes, used);
    }
}

static rlar_status feed_fields(csv_parser *p, const char *bytes, size_t size) {
    while (size > 0) {
        size_t used = 1;
        if (p->after_cr && *bytes == '\n') {
            p->after_cr = false;
        } else {
            p->after_cr = false;
            RLAR_TRY(feed_numbers(p, bytes, size, &used));
            if (used == 0)
                RLAR_TRY(feed_other(p, bytes, size, &used));
        }
        bytes += used;
        size -= used;
    }
    return RLAR_OK;
}

/* ---- The first line ---- */

static rlar_status begin(csv_parser *p) {
    const int64_t mark = rlar__csv_mark(p->head, p->head_size), size = p->head_size - mark;
    const char *bytes = mark > 0 ? p->head + mark : p->head; /* NULL in an empty file */
    p->started = true;
    set_separator(p, p->tab_only ? '\t' : rlar__csv_separator(bytes, size));
    return size > 0 ? feed_fields(p, bytes, (size_t)size) : RLAR_OK;
}

/* Gather the first line; the bytes behind it are left to the caller. */
static rlar_status gather(csv_parser *p, const char *bytes, size_t size, size_t *used) {
    size_t end = 0;
    bool complete = false;
    while (end < size && !complete) {
        const char c = bytes[end++];
        p->head_quoted ^= c == '"';
        complete = p->head_text && !p->head_quoted && (c == '\n' || c == '\r');
        p->head_text |= rlar__csv_is_text(c, p->head_size + (int64_t)end - 1);
    }
    RLAR_TRY(rlar__grow(p->ctx, &p->head, &p->head_capacity, p->head_size + (int64_t)end, 1,
                        "the first line"));
    memcpy(p->head + p->head_size, bytes, end);
    p->head_size += (int64_t)end;
    *used = end;
    return complete ? begin(p) : RLAR_OK;
}

/* ---- The format ---- */

static rlar_status csv_open(rlar_ctx *ctx, void *state, rlar_sink *sink,
                            const rlar_read_options *options, const char *file) {
    csv_parser *p = state;
    p->ctx = ctx;
    p->sink = sink;
    p->options = options;
    p->at = (rlar_place){.file = file, .line = 1, .column = 1};
    return RLAR_OK;
}

static rlar_status tsv_open(rlar_ctx *ctx, void *state, rlar_sink *sink,
                            const rlar_read_options *options, const char *file) {
    ((csv_parser *)state)->tab_only = true;
    return csv_open(ctx, state, sink, options, file);
}

static rlar_status csv_feed(void *state, const char *bytes, size_t size) {
    csv_parser *p = state;
    size_t used = 0;
    if (!p->started && size > 0)
        RLAR_TRY(gather(p, bytes, size, &used));
    return used < size ? feed_fields(p, bytes + used, size - used) : RLAR_OK;
}

static rlar_status csv_finish(void *state) {
    csv_parser *p = state;
    if (!p->started)
        RLAR_TRY(begin(p));
    if (p->state == QUOTED) {
        p->at.line = p->field_line;
        return fail_here(p, "the quote that opens here is never closed");
    }
    RLAR_TRY(end_line(p, kept(p), (size_t)p->field_size));
    return p->rows_held == 1 ? decide(p) : RLAR_OK;
}

/* A quote that is open, or a line that has begun, is not between rows. */
static bool csv_between(const void *state) {
    const csv_parser *p = state;
    return p->rows_held == 3 && p->state == AT_START && !p->in_row && !p->after_cr &&
           p->at.column == 1;
}

static void csv_fork(const void *state, rlar_ctx *ctx, rlar_sink *sink, void *copy) {
    const csv_parser *p = state;
    *(csv_parser *)copy = (csv_parser){.ctx = ctx,
                                       .sink = sink,
                                       .options = p->options,
                                       .started = true,
                                       .at = {.file = p->at.file, .line = 1, .column = 1},
                                       .rows_held = 3};
    set_separator(copy, p->separator);
}

static int64_t csv_join(void *state, const void *copy) {
    csv_parser *p = state;
    const int64_t before = p->at.line - 1;
    p->at.line = before + ((const csv_parser *)copy)->at.line;
    return before;
}

static void csv_go_on(void *state, int64_t line) {
    ((csv_parser *)state)->at.line = line;
}

static void csv_close(void *state) {
    csv_parser *p = state;
    rlar__free(p->head);
    rlar__free(p->field);
    free_held(p);
}

/* But for the separator, which a TSV file has by its name, the two are one. */
#define FORMAT(NAME, EXTENSIONS, OPEN)                                                             \
    {                                                                                              \
        .name = (NAME), .extensions = (EXTENSIONS), .state_size = sizeof(csv_parser),              \
        .open = (OPEN), .feed = csv_feed, .finish = csv_finish, .close = csv_close,                \
        .between = csv_between, .fork = csv_fork, .join = csv_join, .go_on = csv_go_on             \
    }

const rlar_format rlar__format_csv = FORMAT("csv", ".csv", csv_open);
const rlar_format rlar__format_tsv = FORMAT("tsv", ".tsv .tab", tsv_open);
