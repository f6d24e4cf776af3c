/* write_npy.c - NPY and NPZ.
 *
 * NPY is one float64 matrix in C order; labels, when all of them are numbers, are its last column.
 * NPZ is a ZIP container of stored members X, y (int64, float64 or '<U') and feature_names ('<U'),
 * as numpy.savez makes it. The checksum stands before a member's bytes, so a member is made twice:
 * once to measure, once to write. Dates are fixed (1 January 1980), and every record has its zip64
 * form, so there is one path for small and for huge arrays. */
#include "data/reader.h"
#include "data/write.h"

#include <stdio.h>
#include <string.h>

/* Where the bytes of an array go: counted and summed, or also written. */
typedef struct target {
    rlar_writer *w;
    bool write;
    uint32_t crc;
    uint64_t size;
} target;

static void put(target *t, const void *bytes, size_t size) {
    t->crc = (uint32_t)crc32_z(t->crc, bytes, size);
    t->size += size;
    if (t->write)
        rlar__out_put(&t->w->out, bytes, size);
}

/* Little-endian. */
static void store(char *out, uint64_t value, int size) {
    for (int i = 0; i < size; i++)
        out[i] = (char)(value >> 8 * i & 0xFF);
}

static void put_integer(target *t, uint64_t value, int size) {
    char bytes[8];
    store(bytes, value, size);
    put(t, bytes, (size_t)size);
}

/* In pieces: a call per number would cost more than the number. */
static void put_doubles(target *t, const double *value, int64_t count) {
    enum { PIECE = 128 };
    char bytes[8 * PIECE];
    for (int64_t begin = 0; begin < count; begin += PIECE) {
        const int64_t size = count - begin < PIECE ? count - begin : PIECE;
        for (int64_t i = 0; i < size; i++) {
            uint64_t bits;
            memcpy(&bits, &value[begin + i], sizeof bits);
            store(bytes + 8 * i, bits, 8);
        }
        put(t, bytes, 8 * (size_t)size);
    }
}

/* ---- Arrays ---- */

/* Version 1.0 header, padded so that the values start at a multiple of 64; columns -1: one
 * dimension. */
static void put_header(target *t, const char *descr, int64_t rows, int64_t columns) {
    char text[256], shape[64];
    if (columns < 0)
        (void)snprintf(shape, sizeof shape, "(%lld,)", (long long)rows);
    else
        (void)snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)rows, (long long)columns);
    const int length = snprintf(
        text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    const int padded = (10 + length + 1 + 63) / 64 * 64 - 10; /* below 256: the parts are short */
    memset(text + length, ' ', sizeof text - (size_t)length);
    text[padded - 1] = '\n';
    put(t, "\x93NUMPY\1\0", 8);
    put_integer(t, (uint64_t)padded, 2);
    put(t, text, (size_t)padded);
}

/* Once per row: the output may have failed, someone may have asked to stop. */
static rlar_status go_on(const target *t) {
    RLAR_TRY(t->w->out.status);
    return rlar__poll(t->w->ctx);
}

/* The samples; label values, where given, as the last column. */
static rlar_status put_samples(target *t, const double *class_value) {
    rlar_writer *w = t->w;
    put_header(t, "<f8", w->n, w->d + (class_value != NULL));
    for (int64_t i = 0; i < w->n; i++) {
        rlar_data_row(w->data, i, w->row);
        put_doubles(t, w->row, w->d);
        if (class_value)
            put_doubles(t, &class_value[w->data->label[i]], 1);
        RLAR_TRY(go_on(t));
    }
    return RLAR_OK;
}

/* Whole numbers as int64, the type that NumPy users expect of labels. */
static rlar_status put_label_numbers(target *t, const double *class_value, bool whole) {
    rlar_writer *w = t->w;
    put_header(t, whole ? "<i8" : "<f8", w->n, -1);
    for (int64_t i = 0; i < w->n; i++) {
        const double value = class_value[w->data->label[i]];
        if (whole)
            put_integer(t, (uint64_t)(int64_t)value, 8);
        else
            put_doubles(t, &value, 1);
        RLAR_TRY(go_on(t));
    }
    return RLAR_OK;
}

/* ---- Text ---- */

/* The next code point of a UTF-8 text. Data have no other names (rlar__name_fault); whatever the
 * bytes are, it does not go beyond their end. */
static uint32_t utf8_next(const unsigned char **s) {
    const unsigned char lead = *(*s)++;
    uint32_t code = lead < 0x80 ? lead : lead & (lead < 0xE0 ? 0x1Fu : lead < 0xF0 ? 0x0Fu : 0x07u);
    while ((**s & 0xC0) == 0x80)
        code = code << 6 | (*(*s)++ & 0x3Fu);
    return code;
}

/* Characters of the longest text. */
static int64_t longest(const rlar_texts *texts) {
    int64_t most = 1; /* NumPy has no texts of length 0 */
    for (int64_t i = 0; i < texts->count; i++) {
        const unsigned char *s = (const unsigned char *)rlar__texts_at(texts, i);
        int64_t count = 0;
        for (; *s; count++)
            (void)utf8_next(&s);
        most = count > most ? count : most;
    }
    return most;
}

/* One value of '<U': UTF-32, filled up with zeros. */
static void put_text(target *t, const char *text, int64_t width) {
    const unsigned char *s = (const unsigned char *)text;
    for (int64_t k = 0; k < width; k++)
        put_integer(t, *s ? utf8_next(&s) : 0, 4);
}

/* `count` of the texts; index NULL: all in order. */
static rlar_status put_texts(target *t, const rlar_texts *texts, const int64_t *index,
                             int64_t count) {
    char descr[32];
    const int64_t width = longest(texts);
    (void)snprintf(descr, sizeof descr, "<U%lld", (long long)width);
    put_header(t, descr, count, -1);
    for (int64_t i = 0; i < count; i++) {
        put_text(t, rlar__texts_at(texts, index ? index[i] : i), width);
        RLAR_TRY(go_on(t));
    }
    return RLAR_OK;
}

/* ---- NPY ---- */

rlar_status rlar__write_npy(rlar_writer *w) {
    char token[RLAR_TOKEN_SIZE];
    double *value;
    bool whole = false;
    const char *label = NULL;
    target t = {.w = w, .write = true};
    RLAR_TRY(rlar__alloc(w->ctx, w->c, sizeof *value, "class names", &value));
    rlar_status status;
    if (rlar__writer_numeric(w, value, &whole, &label)) {
        status = put_samples(&t, value);
    } else {
        status = rlar__fail(
            w->ctx, RLAR_E_ARG,
            "labels that are text, such as '%s', cannot be written as npy; write an .npz "
            "file instead",
            rlar__token(label, strlen(label), token));
    }
    rlar__free(value);
    return status;
}

/* ---- NPZ ---- */

enum { MEMBERS = 3, VERSION = 45, DATE_1980 = 0x21 };

typedef enum member_kind { MEMBER_X, MEMBER_Y, MEMBER_NAMES } member_kind;
static const char *const member_name[MEMBERS] = {"X.npy", "y.npy", "feature_names.npy"};

typedef struct member {
    uint32_t crc;
    uint64_t size, offset;
} member;

typedef struct npz_writer {
    target t;            /* of the container */
    const double *value; /* of the classes; NULL: they are text */
    bool whole;
    member member[MEMBERS];
} npz_writer;

static bool has_member(const npz_writer *z, int kind) {
    return kind == MEMBER_X || (kind == MEMBER_Y && z->t.w->c > 0) ||
           (kind == MEMBER_NAMES && z->t.w->data->features.count > 0);
}

static rlar_status put_member(const npz_writer *z, int kind, target *t) {
    rlar_writer *w = t->w;
    if (kind == MEMBER_X)
        return put_samples(t, NULL);
    if (kind == MEMBER_NAMES)
        return put_texts(t, &w->data->features, NULL, w->d);
    return z->value ? put_label_numbers(t, z->value, z->whole)
                    : put_texts(t, &w->data->classes, w->data->label, w->n);
}

/* What the local header and the directory entry have in common: from "version needed" to the name's
 * length. */
static void put_common(npz_writer *z, int kind, int extra) {
    target *t = &z->t;
    put_integer(t, VERSION, 2);
    put_integer(t, 0, 4); /* no flags, stored */
    put_integer(t, (uint64_t)DATE_1980 << 16, 4);
    put_integer(t, z->member[kind].crc, 4);
    put_integer(t, UINT32_MAX, 4); /* both sizes: see the zip64 extra field */
    put_integer(t, UINT32_MAX, 4);
    put_integer(t, strlen(member_name[kind]), 2);
    put_integer(t, (uint64_t)extra, 2);
}

/* Stored members: the packed size is the size. */
static void put_extra(npz_writer *z, int kind, int extra) {
    put_integer(&z->t, 1, 2);
    put_integer(&z->t, (uint64_t)extra - 4, 2);
    put_integer(&z->t, z->member[kind].size, 8);
    put_integer(&z->t, z->member[kind].size, 8);
}

/* First pass for checksum and size, second for the bytes. */
static rlar_status put_local(npz_writer *z, int kind) {
    enum { EXTRA = 4 + 8 + 8 };
    target measure = {.w = z->t.w};
    RLAR_TRY(put_member(z, kind, &measure));
    z->member[kind] = (member){.crc = measure.crc, .size = measure.size, .offset = z->t.size};
    put(&z->t, "PK\3\4", 4);
    put_common(z, kind, EXTRA);
    put(&z->t, member_name[kind], strlen(member_name[kind]));
    put_extra(z, kind, EXTRA);
    return put_member(z, kind, &z->t);
}

static void put_central(npz_writer *z, int kind) {
    enum { EXTRA = 4 + 8 + 8 + 8 };
    put(&z->t, "PK\1\2", 4);
    put_integer(&z->t, VERSION, 2);
    put_common(z, kind, EXTRA);
    put_integer(&z->t, 0, 8);          /* no comment, disk 0, binary */
    put_integer(&z->t, 0, 2);          /* upper half of the external attributes */
    put_integer(&z->t, UINT32_MAX, 4); /* offset: in the extra field */
    put(&z->t, member_name[kind], strlen(member_name[kind]));
    put_extra(z, kind, EXTRA);
    put_integer(&z->t, z->member[kind].offset, 8);
}

/* The zip64 end record, its locator, and the old end record that points to them. */
static void put_end(npz_writer *z, uint64_t count, uint64_t directory) {
    target *t = &z->t;
    const uint64_t at = t->size, size = at - directory;
    put(t, "PK\6\6", 4);
    put_integer(t, 44, 8); /* bytes that follow in this record */
    put_integer(t, VERSION, 2);
    put_integer(t, VERSION, 2);
    put_integer(t, 0, 8); /* disk 0 of 0 */
    put_integer(t, count, 8);
    put_integer(t, count, 8);
    put_integer(t, size, 8);
    put_integer(t, directory, 8);
    put(t, "PK\6\7", 4);
    put_integer(t, 0, 4);
    put_integer(t, at, 8);
    put_integer(t, 1, 4); /* disks */
    put(t, "PK\5\6", 4);
    put_integer(t, 0, 4);
    put_integer(t, count, 2);
    put_integer(t, count, 2);
    put_integer(t, UINT32_MAX, 4);
    put_integer(t, UINT32_MAX, 4);
    put_integer(t, 0, 2); /* no comment */
}

/* Members, then the directory, then its end. */
rlar_status rlar__write_npz(rlar_writer *w) {
    npz_writer z = {.t = {.w = w, .write = true}};
    double *value;
    const char *text; /* an array of texts holds any class */
    uint64_t count = 0;
    RLAR_TRY(rlar__writer_without_quotes(w, "npz"));
    RLAR_TRY(rlar__alloc(w->ctx, w->c, sizeof *value, "class names", &value));
    z.value = rlar__writer_numeric(w, value, &z.whole, &text) ? value : NULL;
    rlar_status status = RLAR_OK;
    for (int kind = 0; kind < MEMBERS && status >= 0; kind++)
        if (has_member(&z, kind))
            status = put_local(&z, kind);
    const uint64_t directory = z.t.size;
    for (int kind = 0; kind < MEMBERS && status >= 0; kind++)
        if (has_member(&z, kind)) {
            put_central(&z, kind);
            count++;
        }
    if (status >= 0) {
        put_end(&z, count, directory);
        status = w->out.status;
    }
    rlar__free(value);
    return status;
}
