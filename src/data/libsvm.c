/* libsvm.c - sparse rows as text: "label index:value index:value ... # comment".
 *
 * Indices increase within a row and start at 1; a file whose first row has an index 0 counts from 0
 * throughout. The label is any text without blanks; "1,2" (several labels) is refused; a row that
 * begins with index:value has none. qid:N is ignored. A value may be missing (?, NA, nan). Rows are
 * handed on as they stand: the sink knows how wide they become.
 *
 * Pairs that are written in the plain way are read in one go; any other word is looked at on its
 * own. */
#include "data/reader.h"

#include <math.h>
#include <string.h>

typedef struct libsvm_parser {
    rlar_ctx *ctx;
    rlar_sink *sink;
    rlar_place at;
    char *line; /* the part of a line that earlier bytes held */
    int64_t line_size, line_capacity;
    bool any_row, zero_based;
    int64_t *index;
    double *value;
    int64_t count, index_capacity, value_capacity;
} libsvm_parser;

typedef struct word {
    const char *text;
    size_t length;
} word;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of *p..end; length 0: none left, or a comment begins. */
static word next_word(const char **p, const char *end) {
    while (*p < end && is_blank(**p))
        (*p)++;
    word w = {.text = *p};
    if (*p < end && **p == '#')
        return w;
    while (*p < end && !is_blank(**p))
        (*p)++;
    w.length = (size_t)(*p - w.text);
    return w;
}

static rlar_status fail_word(libsvm_parser *p, word w, const char *why) {
    char token[RLAR_TOKEN_SIZE];
    return rlar__fail_at(p->ctx, RLAR_E_DATA, &p->at, "'%s' %s",
                         rlar__token(w.text, w.length, token), why);
}

static bool is_qid(word w) {
    return w.length >= 4 && memcmp(w.text, "qid:", 4) == 0;
}

/* Does the word read "digits:..."? */
static bool is_pair(word w) {
    const char *colon = memchr(w.text, ':', w.length);
    int64_t index;
    return colon && rlar__parse_int64(w.text, (size_t)(colon - w.text), &index);
}

/* The first row decides whether the file counts from 0. */
static rlar_status parse_index(libsvm_parser *p, word w, size_t length, int64_t *out) {
    int64_t index;
    if (!rlar__parse_int64(w.text, length, &index) || index < 0)
        return fail_word(p, w, "has no index before the colon; expected a whole number from 1");
    if (index == INT64_MAX)
        return fail_word(p, w, "has an index that is too large");
    if (index == 0 && !p->any_row)
        p->zero_based = true;
    if (index == 0 && !p->zero_based)
        return fail_word(
            p, w,
            "has index 0, but indices start at 1; a file that counts from 0 must show an index 0 "
            "in its first row");
    *out = p->zero_based ? index : index - 1;
    if (p->count > 0 && *out <= p->index[p->count - 1])
        return fail_word(p, w, "has an index that does not increase; sort the indices of a row");
    return RLAR_OK;
}

/* 1: is an error, 1:? a missing value. */
static rlar_status parse_value(libsvm_parser *p, word w, size_t start, double *out) {
    const char *text = w.text + start;
    const size_t length = w.length - start;
    if (rlar__parse_double(text, length, out))
        return RLAR_OK;
    if (length > 0 && rlar__cell_missing(text, length)) {
        *out = NAN;
        return RLAR_OK;
    }
    return fail_word(p, w,
                     rlar__is_number(text, length)
                         ? "is larger than the largest double, 1.8e308"
                         : "is not index:value with a finite number as value");
}

static rlar_status parse_pair(libsvm_parser *p, word w) {
    const char *colon = memchr(w.text, ':', w.length);
    int64_t index = 0;
    double value = 0;
    if (!colon)
        return fail_word(p, w, "is not index:value");
    const size_t length = (size_t)(colon - w.text);
    RLAR_TRY(parse_index(p, w, length, &index));
    RLAR_TRY(parse_value(p, w, length + 1, &value));
    RLAR_TRY(rlar__grow(p->ctx, &p->index, &p->index_capacity, p->count + 1, sizeof *p->index,
                        "a sparse row"));
    RLAR_TRY(rlar__grow(p->ctx, &p->value, &p->value_capacity, p->count + 1, sizeof *p->value,
                        "a sparse row"));
    p->index[p->count] = index;
    p->value[p->count++] = value;
    return RLAR_OK;
}

/* The first word of a row that is no pair. */
static rlar_status parse_label(libsvm_parser *p, word w) {
    if (memchr(w.text, ',', w.length))
        return fail_word(p, w, "names several labels; one label per sample is supported");
    if (memchr(w.text, ':', w.length))
        return fail_word(p, w, "stands where the label is expected");
    return RLAR_OK;
}

/* Words written in the plain way, 12:0.5, whose index increases. Returns where the first word of
 * another kind begins, or the end: what is wrong with it, if anything, is said elsewhere. */
static const char *take_pairs(libsvm_parser *p, const char *text, const char *end) {
    enum { MAX_DIGITS = 9 };
    const int64_t first = p->zero_based ? 0 : 1;
    int64_t last = p->count > 0 ? p->index[p->count - 1] : -1;
    for (; p->count < p->index_capacity && p->count < p->value_capacity; p->count++) {
        while (text < end && is_blank(*text))
            text++;
        const char *at = text;
        int64_t index = -first;
        for (int64_t value = 0; at < end && *at >= '0' && *at <= '9' && at - text < MAX_DIGITS;
             at++) {
            value = value * 10 + (*at - '0');
            index = value - first;
        }
        if (at == text || at == end || *at != ':' || index <= last)
            break;
        const char *after = rlar__read_double(at + 1, end, &p->value[p->count]);
        if (!after || (after < end && !is_blank(*after)))
            break;
        p->index[p->count] = last = index;
        p->at.column++;
        text = after;
    }
    return text;
}

/* The words after the label. */
static rlar_status parse_pairs(libsvm_parser *p, const char *text, const char *end) {
    /* No pair is shorter than "1:1 ". */
    const int64_t most = (end - text) / 4 + 1;
    RLAR_TRY(
        rlar__grow(p->ctx, &p->index, &p->index_capacity, most, sizeof *p->index, "a sparse row"));
    RLAR_TRY(
        rlar__grow(p->ctx, &p->value, &p->value_capacity, most, sizeof *p->value, "a sparse row"));
    for (;; p->at.column++) {
        if (p->any_row) /* it is known from where indices count */
            text = take_pairs(p, text, end);
        const word w = next_word(&text, end);
        if (w.length == 0)
            return RLAR_OK;
        if (!is_qid(w))
            RLAR_TRY(parse_pair(p, w));
    }
}

static rlar_status parse_line(libsvm_parser *p, const char *text, size_t size) {
    const char *end = text + size;
    p->at.column = 0;
    if (memchr(text, '\0', size))
        return rlar__fail_at(p->ctx, RLAR_E_DATA, &p->at,
                             "a NUL byte; the file is binary or UTF-16, text in UTF-8 is expected");
    p->at.column = 1;
    p->count = 0;
    const word w = next_word(&text, end);
    word label = {0};
    if (w.length == 0)
        return RLAR_OK; /* blank, or only a comment */
    if (!is_pair(w) && !is_qid(w)) {
        RLAR_TRY(parse_label(p, w));
        label = w;
        p->at.column++;
    } else {
        text = w.text;
    }
    RLAR_TRY(parse_pairs(p, text, end));
    p->any_row = true;
    const rlar_place at = {.file = p->at.file, .line = p->at.line};
    return rlar__sink_sparse(p->sink, &at, p->count, p->index, p->value, label.text, label.length);
}

/* ---- The format ---- */

static rlar_status libsvm_open(rlar_ctx *ctx, void *state, rlar_sink *sink,
                               const rlar_read_options *options, const char *file) {
    libsvm_parser *p = state;
    (void)options;
    p->ctx = ctx;
    p->sink = sink;
    p->at = (rlar_place){.file = file, .line = 1};
    return RLAR_OK;
}

static rlar_status keep(libsvm_parser *p, const char *bytes, size_t size) {
    if (size == 0)
        return RLAR_OK;
    RLAR_TRY(
        rlar__grow(p->ctx, &p->line, &p->line_capacity, p->line_size + (int64_t)size, 1, "a line"));
    memcpy(p->line + p->line_size, bytes, size);
    p->line_size += (int64_t)size;
    return RLAR_OK;
}

static rlar_status end_line(libsvm_parser *p, const char *text, size_t size) {
    if (p->at.line == 1 && size >= 3 &&
        memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* byte order mark */
        text += 3;
        size -= 3;
    }
    if (size > 0)
        RLAR_TRY(parse_line(p, text, size));
    p->at.line++;
    p->line_size = 0;
    return RLAR_OK;
}

static rlar_status libsvm_feed(void *state, const char *bytes, size_t size) {
    libsvm_parser *p = state;
    while (size > 0) {
        const char *newline = memchr(bytes, '\n', size);
        if (!newline)
            return keep(p, bytes, size);
        const size_t length = (size_t)(newline - bytes);
        if (p->line_size == 0) { /* the whole line is in the input: no copy */
            RLAR_TRY(end_line(p, bytes, length));
        } else {
            RLAR_TRY(keep(p, bytes, length));
            RLAR_TRY(end_line(p, p->line, (size_t)p->line_size));
        }
        bytes += length + 1;
        size -= length + 1;
    }
    return RLAR_OK;
}

static rlar_status libsvm_finish(void *state) {
    libsvm_parser *p = state;
    return p->line_size > 0 ? end_line(p, p->line, (size_t)p->line_size) : RLAR_OK;
}

static bool libsvm_between(const void *state) {
    const libsvm_parser *p = state;
    return p->any_row && p->line_size == 0;
}

/* Only line 1 may have a byte order mark, so a copy counts from 2. */
static void libsvm_fork(const void *state, rlar_ctx *ctx, rlar_sink *sink, void *copy) {
    const libsvm_parser *p = state;
    *(libsvm_parser *)copy = (libsvm_parser){.ctx = ctx,
                                             .sink = sink,
                                             .at = {.file = p->at.file, .line = 2},
                                             .any_row = true,
                                             .zero_based = p->zero_based};
}

static int64_t libsvm_join(void *state, const void *copy) {
    libsvm_parser *p = state;
    const int64_t before = p->at.line - 2;
    p->at.line = before + ((const libsvm_parser *)copy)->at.line;
    return before;
}

static void libsvm_go_on(void *state, int64_t line) {
    ((libsvm_parser *)state)->at.line = line;
}

static void libsvm_close(void *state) {
    libsvm_parser *p = state;
    rlar__free(p->line);
    rlar__free(p->index);
    rlar__free(p->value);
}

const rlar_format rlar__format_libsvm = {.name = "libsvm",
                                         .extensions = ".svm .libsvm",
                                         .state_size = sizeof(libsvm_parser),
                                         .open = libsvm_open,
                                         .feed = libsvm_feed,
                                         .finish = libsvm_finish,
                                         .close = libsvm_close,
                                         .between = libsvm_between,
                                         .fork = libsvm_fork,
                                         .join = libsvm_join,
                                         .go_on = libsvm_go_on};
