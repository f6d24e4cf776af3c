/* npy_header.c - the header of a NumPy array file.
 *
 * Magic "\x93NUMPY", version (1.0: 2-byte length; 2.0, 3.0: 4-byte length, little endian), then a
 * Python dictionary such as {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }, padded
 * with blanks. It is parsed by hand: three known keys, no nesting, nothing evaluated. The declared
 * sizes are only numbers here; nobody allocates by them. */
#include "data/npy.h"
#include "data/reader.h"

#include <string.h>

static const char accepted[] =
    "accepted are f8 f4 i1 i2 i4 i8 u1 u2 u4 u8 b1 in either byte order, and U or S "
    "text in one dimension; convert with X.astype('float64')";

/* ---- The preamble ---- */

/* Each part is checked as soon as its bytes are there, so that a wrong file fails at its first byte
 * and a wrong length before anything is allocated for it. */
rlar_status rlar__npy_preamble(rlar_ctx *ctx, const char *file, const char *bytes, size_t size,
                               size_t *start, size_t *length) {
    static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
    const unsigned char *b = (const unsigned char *)bytes;
    *start = *length = 0;
    if (size > 0 && memcmp(bytes, magic, size < sizeof magic ? size : sizeof magic) != 0)
        return rlar__fail(
            ctx, RLAR_E_DATA,
            "%s: not a NumPy array: the first bytes are not \\x93NUMPY; name the right "
            "format",
            file);
    if (size < 8)
        return RLAR_OK;
    if (b[6] < 1 || b[6] > 3 || b[7] != 0)
        return rlar__fail(
            ctx, RLAR_E_DATA,
            "%s: NPY version %d.%d is unknown (1.0, 2.0 and 3.0 are read); save it again "
            "with numpy.save",
            file, b[6], b[7]);
    const size_t width = b[6] == 1 ? 2 : 4;
    if (size < 8 + width)
        return RLAR_OK;
    for (size_t i = width; i-- > 0;)
        *length = *length * 256 + b[8 + i];
    if (*length > RLAR_NPY_HEADER)
        return rlar__fail(
            ctx, RLAR_E_DATA,
            "%s: NPY header of %zu bytes; the limit is %d; the file is damaged or holds no "
            "plain array",
            file, *length, RLAR_NPY_HEADER);
    *start = 8 + width;
    return RLAR_OK;
}

/* ---- The dictionary ---- */

enum { KEY_DESCR = 1, KEY_ORDER = 2, KEY_SHAPE = 4, KEY_ALL = 7 };

typedef struct scanner {
    rlar_ctx *ctx;
    const char *file, *text;
    size_t length, at;
} scanner;

static rlar_status bad_header(const scanner *s, const char *expected) {
    return rlar__fail(
        s->ctx, RLAR_E_DATA,
        "%s: NPY header, byte %zu: expected %s; the file is damaged, save it again with "
        "numpy.save",
        s->file, s->at + 1, expected);
}

static void skip_blanks(scanner *s) {
    while (s->at < s->length && s->text[s->at] && strchr(" \t\r\n", s->text[s->at]))
        s->at++;
}

/* Take the character if it comes next, blanks before it aside. */
static bool take(scanner *s, char c) {
    skip_blanks(s);
    if (s->at >= s->length || s->text[s->at] != c)
        return false;
    s->at++;
    return true;
}

/* True and False are the only words. */
static bool take_word(scanner *s, const char *word) {
    const size_t size = strlen(word);
    skip_blanks(s);
    if (s->length - s->at < size || memcmp(s->text + s->at, word, size) != 0)
        return false;
    s->at += size;
    return true;
}

/* A text in single or double quotes, without escapes. */
static bool take_quoted(scanner *s, const char **text, size_t *length) {
    const char quote = take(s, '\'') ? '\'' : '"';
    if (quote == '"' && !take(s, '"'))
        return false;
    *text = s->text + s->at;
    const char *end = memchr(*text, quote, s->length - s->at);
    if (!end)
        return false;
    *length = (size_t)(end - *text);
    s->at += *length + 1;
    return true;
}

/* A count, perhaps with Python 2's suffix L. */
static bool take_count(scanner *s, int64_t *out) {
    skip_blanks(s);
    int64_t value = 0;
    const size_t begin = s->at;
    for (; s->at < s->length && s->text[s->at] >= '0' && s->text[s->at] <= '9'; s->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, s->text[s->at] - '0', &value))
            return false;
    if (s->at == begin)
        return false;
    if (s->at < s->length && s->text[s->at] == 'L')
        s->at++;
    *out = value;
    return true;
}

/* ---- The three values ---- */

static rlar_status bad_dtype(const scanner *s, const char *text, size_t length) {
    char buf[RLAR_TOKEN_SIZE];
    return rlar__fail(s->ctx, RLAR_E_DATA, "%s: NumPy dtype '%s' cannot be read; %s", s->file,
                      rlar__token(text, length, buf), accepted);
}

/* Whether values of this kind come in this size. Texts are limited so that sizes stay far from
 * overflow. */
static bool size_known(char kind, int64_t size) {
    switch (kind) {
    case 'f':
        return size == 4 || size == 8;
    case 'i':
    case 'u':
        return size == 1 || size == 2 || size == 4 || size == 8;
    case 'b':
        return size == 1;
    case 'U':
    case 'S':
        return size >= 1 && size <= INT32_MAX / 4;
    default:
        return false;
    }
}

/* '<f8': byte order, kind, size (of U: characters of four bytes). */
static rlar_status read_descr(scanner *s, rlar_npy *out) {
    const char *text;
    size_t length;
    if (take(s, '['))
        return bad_dtype(s, "(structured)", 12);
    if (!take_quoted(s, &text, &length))
        return bad_header(s, "a dtype in quotes");
    if (length < 3 || !strchr("<>|", text[0]) || !text[0])
        return bad_dtype(s, text, length);
    scanner digits = {.text = text, .length = length, .at = 2};
    int64_t size = 0;
    if (!take_count(&digits, &size) || digits.at != length || !size_known(text[1], size))
        return bad_dtype(s, text, length);
    out->big = text[0] == '>';
    out->kind = text[1];
    out->item = (size_t)(out->kind == 'U' ? 4 * size : size);
    return RLAR_OK;
}

/* The order matters only in two dimensions; see check_header. */
static rlar_status read_order(scanner *s, rlar_npy *out) {
    out->fortran = take_word(s, "True");
    return out->fortran || take_word(s, "False") ? RLAR_OK : bad_header(s, "True or False");
}

/* A tuple of counts: "(3, 4)" or "(3,)". */
static rlar_status read_shape(scanner *s, rlar_npy *out) {
    int64_t size[2] = {0, 1}, value;
    int dims = 0;
    if (!take(s, '('))
        return bad_header(s, "( and the shape");
    for (bool more = !take(s, ')'); more; dims++) {
        if (!take_count(s, &value))
            return bad_header(s, "a count that fits 63 bits");
        if (dims < 2)
            size[dims] = value;
        const bool comma = take(s, ',');
        more = !take(s, ')');
        if (more && !comma)
            return bad_header(s, "a comma or )");
    }
    if (dims < 1 || dims > 2)
        return rlar__fail(
            s->ctx, RLAR_E_DATA,
            "%s: array of %d dimensions; expected samples x features, or one column; use "
            "X.reshape(len(X), -1)",
            s->file, dims);
    out->dims = dims;
    out->n = size[0];
    out->d = size[1];
    return RLAR_OK;
}

/* One "key: value"; the key's bit is added to *seen. */
static rlar_status read_entry(scanner *s, rlar_npy *out, int *seen) {
    const char *key;
    size_t length;
    if (!take_quoted(s, &key, &length) || !take(s, ':'))
        return bad_header(s, "a key in quotes and a colon");
    int bit = 0;
    if (length == 5 && memcmp(key, "descr", 5) == 0)
        bit = KEY_DESCR;
    else if (length == 13 && memcmp(key, "fortran_order", 13) == 0)
        bit = KEY_ORDER;
    else if (length == 5 && memcmp(key, "shape", 5) == 0)
        bit = KEY_SHAPE;
    if (bit == 0 || (*seen & bit))
        return bad_header(s, "each of descr, fortran_order and shape once");
    *seen |= bit;
    return bit == KEY_DESCR   ? read_descr(s, out)
           : bit == KEY_ORDER ? read_order(s, out)
                              : read_shape(s, out);
}

/* Each key once, in any order; the comma after the last is optional, as in Python. */
static rlar_status read_dictionary(scanner *s, rlar_npy *out) {
    int seen = 0;
    if (!take(s, '{'))
        return bad_header(s, "{");
    while (!take(s, '}')) {
        RLAR_TRY(read_entry(s, out, &seen));
        if (!take(s, ',')) {
            if (!take(s, '}'))
                return bad_header(s, "a comma or }");
            break;
        }
    }
    skip_blanks(s);
    if (s->at < s->length)
        return bad_header(s, "nothing after }");
    return seen == KEY_ALL ? RLAR_OK : bad_header(s, "descr, fortran_order and shape before }");
}

/* What the values together mean; the sizes in bytes. */
static rlar_status check_header(const scanner *s, rlar_npy *npy) {
    if (npy->d < 1)
        return rlar__fail(s->ctx, RLAR_E_DATA,
                          "%s: array of shape (%lld, %lld) has no columns; at least one is needed",
                          s->file, (long long)npy->n, (long long)npy->d);
    if (rlar__npy_is_text(npy) && npy->d != 1)
        return rlar__fail(
            s->ctx, RLAR_E_DATA,
            "%s: text array of %lld columns; text is read in one dimension only (labels, "
            "names); %s",
            s->file, (long long)npy->d, accepted);
    if (!rlar__size_mul((size_t)npy->d, npy->item, &npy->row) ||
        !rlar__size_mul((size_t)npy->n, npy->row, &npy->bytes) || npy->bytes > INT64_MAX)
        return rlar__fail(
            s->ctx, RLAR_E_DATA,
            "%s: shape (%lld, %lld) of %zu-byte values does not fit 63 bits; the file is "
            "damaged",
            s->file, (long long)npy->n, (long long)npy->d, npy->item);
    if (npy->n <= 1 || npy->d == 1)
        npy->fortran = false; /* both orders are the same bytes */
    return RLAR_OK;
}

rlar_status rlar__npy_header(rlar_ctx *ctx, const char *file, const char *text, size_t length,
                             rlar_npy *out) {
    scanner s = {.ctx = ctx, .file = file, .text = text, .length = length};
    rlar_npy npy = {0};
    RLAR_TRY(read_dictionary(&s, &npy));
    RLAR_TRY(check_header(&s, &npy));
    *out = npy;
    return RLAR_OK;
}

rlar_status rlar__npy_open(rlar_ctx *ctx, const char *file, const char *bytes, size_t size,
                           rlar_npy *out, const char **values) {
    size_t start, length;
    rlar_npy npy;
    RLAR_TRY(rlar__npy_preamble(ctx, file, bytes, size, &start, &length));
    if (start == 0 || size - start < length)
        return rlar__fail(ctx, RLAR_E_DATA,
                          "%s: ends within the NPY header after %zu bytes; the file is truncated",
                          file, size);
    RLAR_TRY(rlar__npy_header(ctx, file, bytes + start, length, &npy));
    const size_t present = size - start - length;
    if (present != npy.bytes)
        return rlar__fail(
            ctx, RLAR_E_DATA,
            "%s: %zu bytes of values where the header declares %zu; the file is truncated "
            "or damaged",
            file, present, npy.bytes);
    *out = npy;
    *values = bytes + start + length;
    return RLAR_OK;
}
