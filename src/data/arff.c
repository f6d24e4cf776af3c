/* arff.c - push parser for Weka's ARFF.
 *
 *   @relation name         ignored
 *   @attribute name type   numeric, real, integer, string, or {a, b, 'c d'}; others are refused
 *   @data                  then one row per line: "5.1, ?, 'c d'", or sparse: "{0 5.1, 3 b}"
 *
 * Keywords in any case; names and values plain or in quotes with backslash escapes; % starts a
 * comment outside quotes; ? is missing. A value left out of a sparse row is 0, or the first of a
 * nominal attribute's values, as in Weka. A line is collected, then cut in place, so that no token
 * needs memory of its own. What is the label, and whether a column of names may stay, is decided by
 * the sink. */
#include "data/labels.h"
#include "data/reader.h"

#include <string.h>
#include <strings.h>

typedef enum attribute_kind { ATTRIBUTE_NUMBER, ATTRIBUTE_NOMINAL, ATTRIBUTE_TEXT } attribute_kind;

typedef struct attribute {
    attribute_kind kind;
    bool names;         /* some nominal value is no number */
    rlar_intern values; /* of a nominal attribute */
} attribute;

/* A piece of the line. */
typedef struct token {
    const char *text;
    size_t length;
    bool quoted;
} token;

typedef struct arff_parser {
    rlar_ctx *ctx;
    rlar_sink *sink;
    rlar_place at;
    bool in_data;
    char *line; /* collected so far; NUL-terminated before it is parsed */
    int64_t line_capacity;
    size_t line_size;
    rlar_texts names;
    attribute *attributes; /* one per name */
    int64_t attributes_capacity;
    token *sparse; /* one per attribute: the values of a sparse row */
} arff_parser;

static rlar_status arff_open(rlar_ctx *ctx, void *state, rlar_sink *sink,
                             const rlar_read_options *options, const char *file) {
    arff_parser *p = state;
    (void)options;
    p->ctx = ctx;
    p->sink = sink;
    p->at.file = file;
    return RLAR_OK;
}

static void arff_close(void *state) {
    arff_parser *p = state;
    for (int64_t j = 0; j < p->names.count; j++)
        rlar__intern_free(&p->attributes[j].values);
    rlar__free(p->attributes);
    rlar__free(p->sparse);
    rlar__free(p->line);
    rlar__texts_free(&p->names);
}

/* ---- Tokens ---- */

/* "what, found 'token'"; the token is the rest of the line where none was cut off. */
static rlar_status bad_token(const arff_parser *p, const char *what, const token *t) {
    char buf[RLAR_TOKEN_SIZE];
    return rlar__fail_at(p->ctx, RLAR_E_DATA, &p->at, "%s, found '%s'", what,
                         rlar__token(t->text, t->length, buf));
}

static rlar_status bad_rest(const arff_parser *p, const char *what, const char *rest) {
    return bad_token(p, what, &(token){.text = rest, .length = strlen(rest)});
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* A carriage return counts as a blank, so both kinds of line ends are read. */
static char *skip_blanks(char *s) {
    while (is_blank(*s))
        s++;
    return s;
}

/* The end of the line, or of its meaning. */
static bool at_end(const char *s) {
    return *s == '\0' || *s == '%';
}

static char unescape(char c) {
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

/* Behind the opening quote at *s; NULL when the closing one is missing. Escapes are undone in
 * place. */
static char *take_quoted(char *s, token *out) {
    const char quote = *s++;
    char *to = s;
    *out = (token){.text = s, .quoted = true};
    for (; *s && *s != quote; s++) {
        if (*s == '\\' && s[1])
            *to++ = unescape(*++s);
        else
            *to++ = *s;
    }
    out->length = (size_t)(to - out->text);
    return *s ? s + 1 : NULL;
}

/* The next name or value from *s on, which moves behind it. A plain one ends at a blank, a comma, a
 * brace, a quote or a comment, and may be empty. */
static rlar_status take(arff_parser *p, char **s, token *out) {
    *s = skip_blanks(*s);
    if (**s == '\'' || **s == '"') {
        char *end = take_quoted(*s, out);
        if (!end)
            return bad_rest(p, "expected the closing quote on the same line", *s);
        *s = end;
        return RLAR_OK;
    }
    *out = (token){.text = *s};
    out->length = strcspn(*s, " \t\r\f\v,{}%'\"");
    *s += out->length;
    return RLAR_OK;
}

static bool token_is(const token *t, const char *word) {
    return !t->quoted && t->length == strlen(word) && strncasecmp(t->text, word, t->length) == 0;
}

/* ---- The header ---- */

static rlar_status expect_end(const arff_parser *p, char *s) {
    return at_end(s) ? RLAR_OK : bad_rest(p, "expected the end of the line", s);
}

/* "{a, b, 'c d'}" from the brace on. */
static rlar_status read_values(arff_parser *p, char **s, attribute *a) {
    token t;
    double number;
    a->kind = ATTRIBUTE_NOMINAL;
    for (*s = skip_blanks(*s + 1); **s != '}'; *s = skip_blanks(*s)) {
        char *const begin = *s;
        RLAR_TRY(take(p, s, &t));
        if (*s == begin && **s != ',')
            return bad_rest(p, "expected a nominal value or }", begin);
        if (t.quoted || t.length > 0) {
            int64_t index;
            RLAR_TRY(rlar__intern(p->ctx, &a->values, t.text, t.length, &index));
            a->names = a->names || !rlar__parse_double(t.text, t.length, &number);
        }
        *s = skip_blanks(*s);
        if (**s == ',')
            ++*s;
    }
    ++*s;
    return RLAR_OK;
}

/* Dates and relations have no meaning as features: better refused than guessed. */
static rlar_status read_type(arff_parser *p, char **s, const token *name, attribute *a) {
    char name_buf[RLAR_TOKEN_SIZE], type_buf[RLAR_TOKEN_SIZE];
    token t;
    *s = skip_blanks(*s);
    if (**s == '{')
        return read_values(p, s, a);
    RLAR_TRY(take(p, s, &t));
    if (token_is(&t, "numeric") || token_is(&t, "real") || token_is(&t, "integer"))
        a->kind = ATTRIBUTE_NUMBER;
    else if (token_is(&t, "string"))
        a->kind = ATTRIBUTE_TEXT;
    else
        return rlar__fail_at(
            p->ctx, RLAR_E_DATA, &p->at,
            "attribute '%s' has type '%s'; numeric, real, integer, string and {values} "
            "are read; remove or encode the attribute",
            rlar__token(name->text, name->length, name_buf),
            rlar__token(t.text, t.length, type_buf));
    return RLAR_OK;
}

/* The name is added last: names.count is the number of attributes that close() must free. */
static rlar_status read_attribute(arff_parser *p, char *s) {
    token name;
    attribute a = {0};
    RLAR_TRY(take(p, &s, &name));
    if (name.length == 0)
        return bad_rest(p, "expected the name of an attribute", s);
    rlar_status status = read_type(p, &s, &name, &a);
    if (status >= 0)
        status = expect_end(p, skip_blanks(s));
    if (status >= 0)
        status = rlar__grow(p->ctx, &p->attributes, &p->attributes_capacity, p->names.count + 1,
                            sizeof *p->attributes, "ARFF attributes");
    if (status >= 0)
        status = rlar__texts_add(p->ctx, &p->names, name.text, name.length);
    if (status < 0) {
        rlar__intern_free(&a.values);
        return status;
    }
    p->attributes[p->names.count - 1] = a;
    return RLAR_OK;
}

/* @data: the columns are known. */
static rlar_status begin_data(arff_parser *p) {
    const int64_t count = p->names.count;
    const char **names = NULL;
    bool *nominal = NULL;
    if (count == 0)
        return rlar__fail_at(p->ctx, RLAR_E_DATA, &p->at,
                             "@data before any @attribute; declare the columns first");
    rlar_status status = rlar__alloc(p->ctx, count, sizeof *names, "ARFF attributes", &names);
    if (status >= 0)
        status = rlar__alloc(p->ctx, count, sizeof *nominal, "ARFF attributes", &nominal);
    if (status >= 0)
        status = rlar__alloc(p->ctx, count, sizeof *p->sparse, "ARFF attributes", &p->sparse);
    for (int64_t j = 0; j < count && status >= 0; j++) {
        names[j] = rlar__texts_at(&p->names, j);
        nominal[j] = p->attributes[j].kind == ATTRIBUTE_TEXT || p->attributes[j].names;
    }
    if (status >= 0)
        status = rlar__sink_columns(p->sink, count, names, nominal);
    rlar__free(names);
    rlar__free(nominal);
    p->in_data = status >= 0;
    return status;
}

static rlar_status read_declaration(arff_parser *p, char *s) {
    token word;
    RLAR_TRY(take(p, &s, &word));
    if (token_is(&word, "@relation"))
        return RLAR_OK;
    if (token_is(&word, "@attribute"))
        return read_attribute(p, s);
    if (!token_is(&word, "@data"))
        return bad_token(p, "expected @relation, @attribute or @data", &word);
    RLAR_TRY(expect_end(p, skip_blanks(s)));
    return begin_data(p);
}

/* ---- Rows ---- */

/* Whether the value may stand in column j. Numbers are checked by the sink. */
static rlar_status check_value(arff_parser *p, int64_t j, const token *t) {
    char value_buf[RLAR_TOKEN_SIZE], name_buf[RLAR_TOKEN_SIZE];
    const attribute *a = &p->attributes[j];
    if (a->kind != ATTRIBUTE_NOMINAL || token_is(t, "?") ||
        rlar__intern_find(&a->values, t->text, t->length) >= 0)
        return RLAR_OK;
    const char *name = rlar__texts_at(&p->names, j);
    return rlar__fail_at(
        p->ctx, RLAR_E_DATA, &p->at,
        "'%s' is not among the declared values of attribute '%s'; correct it or add it "
        "to the declaration",
        rlar__token(t->text, t->length, value_buf), rlar__token(name, strlen(name), name_buf));
}

static rlar_status push_value(arff_parser *p, int64_t j, const token *t) {
    p->at.column = j + 1;
    RLAR_TRY(check_value(p, j, t));
    /* What a declaration lists is a name, whatever it looks like. */
    if (t->quoted || (p->attributes[j].kind == ATTRIBUTE_NOMINAL && !token_is(t, "?")))
        return rlar__sink_quoted(p->sink, &p->at, t->text, t->length);
    return rlar__sink_cell(p->sink, &p->at, t->text, t->length);
}

static rlar_status wrong_count(const arff_parser *p, const char *found) {
    return rlar__fail_at(
        p->ctx, RLAR_E_DATA, &p->at,
        "%s than the %lld attributes; give one value per attribute, in quotes where it "
        "contains blanks",
        found, (long long)p->names.count);
}

/* Values separated by commas, or by blanks alone. */
static rlar_status dense_row(arff_parser *p, char *s) {
    token t;
    int64_t j = 0;
    bool more = true;
    for (; more; j++) {
        RLAR_TRY(take(p, &s, &t));
        if (*s == '{' || *s == '}')
            return bad_rest(p, "expected a value (instance weights are not supported)", s);
        if (j == p->names.count)
            return wrong_count(p, "more values");
        RLAR_TRY(push_value(p, j, &t));
        s = skip_blanks(s);
        more = *s == ',' || !at_end(s);
        if (*s == ',')
            s++;
    }
    return j == p->names.count ? RLAR_OK : wrong_count(p, "fewer values");
}

/* "index value" inside braces. */
static rlar_status sparse_value(arff_parser *p, char **s, int64_t *previous) {
    token index, value;
    int64_t j;
    RLAR_TRY(take(p, s, &index));
    RLAR_TRY(take(p, s, &value));
    if (!rlar__parse_int64(index.text, index.length, &j) || j < 0 || j >= p->names.count)
        return bad_token(p, "expected the index of an attribute, counted from 0", &index);
    if (j <= *previous)
        return bad_token(p, "expected increasing indices in a sparse row", &index);
    if (value.length == 0 && !value.quoted)
        return bad_token(p, "expected a value after the index", &index);
    p->sparse[j] = value;
    *previous = j;
    *s = skip_blanks(*s);
    if (**s == ',')
        ++*s;
    else if (**s != '}')
        return bad_rest(p, "expected a comma or }", *s);
    return RLAR_OK;
}

/* What a sparse row does not mention. */
static token absent_value(const attribute *a) {
    token t = {.text = "0", .length = 1};
    if (a->kind == ATTRIBUTE_TEXT)
        t = (token){.text = ""};
    if (a->kind == ATTRIBUTE_NOMINAL && a->values.texts.count > 0)
        t = (token){.text = a->values.texts.bytes, .length = strlen(a->values.texts.bytes)};
    return t;
}

/* The cells must leave in order, so the row is laid out first. */
static rlar_status sparse_row(arff_parser *p, char *s) {
    int64_t previous = -1;
    RLAR_TRY(rlar__sink_partly(p->sink, &p->at, p->names.count));
    for (int64_t j = 0; j < p->names.count; j++)
        p->sparse[j] = absent_value(&p->attributes[j]);
    for (s = skip_blanks(s + 1); *s != '}'; s = skip_blanks(s))
        RLAR_TRY(sparse_value(p, &s, &previous));
    RLAR_TRY(expect_end(p, skip_blanks(s + 1)));
    for (int64_t j = 0; j < p->names.count; j++)
        RLAR_TRY(push_value(p, j, &p->sparse[j]));
    return RLAR_OK;
}

static rlar_status read_row(arff_parser *p, char *s) {
    p->at.column = 0;
    RLAR_TRY(rlar__sink_row(p->sink, &p->at));
    RLAR_TRY(*s == '{' ? sparse_row(p, s) : dense_row(p, s));
    p->at.column = 0;
    return rlar__sink_row_end(p->sink, &p->at);
}

/* ---- Lines ---- */

/* The collected line, without its newline. */
static rlar_status end_line(arff_parser *p) {
    RLAR_TRY(rlar__grow(p->ctx, &p->line, &p->line_capacity, (int64_t)p->line_size + 1, 1,
                        "a line of an ARFF file"));
    p->line[p->line_size] = '\0';
    char *s = p->line;
    p->at.line++;
    if (strlen(s) != p->line_size)
        return rlar__fail_at(p->ctx, RLAR_E_DATA, &p->at,
                             "a NUL byte; ARFF is text, name the right format");
    if (p->at.line == 1 && strncmp(s, "\xEF\xBB\xBF", 3) == 0)
        s += 3;
    s = skip_blanks(s);
    p->line_size = 0;
    if (at_end(s))
        return RLAR_OK;
    return p->in_data ? read_row(p, s) : read_declaration(p, s);
}

/* Room for one byte more than the line: the NUL that ends it. */
static rlar_status arff_feed(void *state, const char *bytes, size_t size) {
    arff_parser *p = state;
    while (size > 0) {
        const char *newline = memchr(bytes, '\n', size);
        const size_t count = newline ? (size_t)(newline - bytes) : size;
        RLAR_TRY(rlar__grow(p->ctx, &p->line, &p->line_capacity,
                            (int64_t)(p->line_size + count + 1), 1, "a line of an ARFF file"));
        memcpy(p->line + p->line_size, bytes, count);
        p->line_size += count;
        bytes += count;
        size -= count;
        if (newline) {
            RLAR_TRY(end_line(p));
            bytes++;
            size--;
        }
    }
    return RLAR_OK;
}

/* The last line may lack its newline. */
static rlar_status arff_finish(void *state) {
    arff_parser *p = state;
    if (p->line_size > 0)
        RLAR_TRY(end_line(p));
    if (!p->in_data)
        return rlar__fail(p->ctx, RLAR_E_DATA,
                          "%s: ends after %lld lines without @data; the file is "
                          "truncated or no ARFF",
                          p->at.file, (long long)p->at.line);
    return RLAR_OK;
}

const rlar_format rlar__format_arff = {
    .name = "arff",
    .extensions = ".arff",
    .state_size = sizeof(arff_parser),
    .open = arff_open,
    .feed = arff_feed,
    .finish = arff_finish,
    .close = arff_close,
};
