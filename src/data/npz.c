/* npz.c - NumPy's .npz: a ZIP container of .npy arrays.
 *
 * Samples are the member X, x, data, fea or arr_0; labels, where there are any, y, Y, labels,
 * target, gnd or arr_1; feature names, where there are any, feature_names. The first that exists in
 * this order counts, others are ignored. The directory is at the end of the container, so the bytes
 * are kept until they are all there. */
#include "data/npy.h"
#include "data/reader.h"
#include "data/zip.h"

#include <string.h>

typedef struct npz_parser {
    rlar_ctx *ctx;
    rlar_sink *sink;
    const char *file;
    char *bytes;
    size_t size;
    int64_t capacity;
} npz_parser;

static const char *const sample_names[] = {"X", "x", "data", "fea", "arr_0", NULL};
static const char *const label_names[] = {"y", "Y", "labels", "target", "gnd", "arr_1", NULL};
static const char *const feature_names[] = {"feature_names", NULL};

static rlar_status npz_open(rlar_ctx *ctx, void *state, rlar_sink *sink,
                            const rlar_read_options *options, const char *file) {
    npz_parser *p = state;
    (void)options;
    p->ctx = ctx;
    p->sink = sink;
    p->file = file;
    return RLAR_OK;
}

/* Nothing can be read before the directory, which is last: collect. */
static rlar_status npz_feed(void *state, const char *bytes, size_t size) {
    npz_parser *p = state;
    RLAR_TRY(rlar__grow(p->ctx, &p->bytes, &p->capacity, (int64_t)(p->size + size), 1,
                        "the bytes of an NPZ file"));
    if (size > 0)
        memcpy(p->bytes + p->size, bytes, size);
    p->size += size;
    return RLAR_OK;
}

static void npz_close(void *state) {
    npz_parser *p = state;
    rlar__free(p->bytes);
}

/* ---- Members ---- */

/* One array of the container. */
typedef struct array {
    rlar_npy npy;
    const char *values; /* NULL: there is no such member */
    void *owned;
    char name[160]; /* "file.npz:X", for error texts */
} array;

/* Members are files: the array X is called X.npy. The first one behind `before`, or of all. */
static const rlar_zip_member *find_member(const rlar_zip *zip, const char *name,
                                          const rlar_zip_member *before) {
    const size_t length = strlen(name);
    for (int64_t i = before ? before - zip->member + 1 : 0; i < zip->count; i++) {
        const rlar_zip_member *m = &zip->member[i];
        if (m->name_length == length + 4 && memcmp(m->name, name, length) == 0 &&
            memcmp(m->name + length, ".npy", 4) == 0)
            return m;
    }
    return NULL;
}

/* Add to a text of fixed size; what does not fit is cut off. */
static void append(char *buf, size_t size, const char *text, size_t length) {
    const size_t used = strlen(buf), room = size - 1 - used;
    const size_t count = length < room ? length : room;
    memcpy(buf + used, text, count);
    buf[used + count] = '\0';
}

/* Read the first member of the list that exists. Which of two with one name is meant, nobody knows:
 * NumPy takes the last. */
static rlar_status load_array(npz_parser *p, const rlar_zip *zip, const char *const *names,
                              array *out) {
    const rlar_zip_member *m = NULL;
    const char *bytes;
    for (; *names && !m; names++)
        m = find_member(zip, *names, NULL);
    if (!m)
        return RLAR_OK;
    if (find_member(zip, names[-1], m))
        return rlar__fail(p->ctx, RLAR_E_DATA,
                          "%s: the member %s.npy is there twice; save the arrays again with "
                          "numpy.savez",
                          p->file, names[-1]);
    append(out->name, sizeof out->name, p->file, strlen(p->file));
    append(out->name, sizeof out->name, ":", 1);
    append(out->name, sizeof out->name, m->name, m->name_length);
    RLAR_TRY(rlar__zip_extract(zip, m, &bytes, &out->owned));
    return rlar__npy_open(p->ctx, out->name, bytes, (size_t)m->size, &out->npy, &out->values);
}

/* The list of members tells the user at once what to rename. */
static rlar_status no_samples(const npz_parser *p, const rlar_zip *zip) {
    char list[300] = "", name[RLAR_TOKEN_SIZE];
    for (int64_t i = 0; i < zip->count; i++) {
        if (i > 0)
            append(list, sizeof list, ", ", 2);
        rlar__token(zip->member[i].name, zip->member[i].name_length, name);
        append(list, sizeof list, name, strlen(name));
    }
    return rlar__fail(
        p->ctx, RLAR_E_DATA,
        "%s: no samples: expected a member X (or x, data, fea, arr_0), found %s; save "
        "with numpy.savez(file, X=X, y=y)",
        p->file, *list ? list : "none");
}

/* ---- Rows ---- */

/* Labels may be a vector, or a matrix of one row or column as MATLAB makes it. */
static rlar_status check_labels(const npz_parser *p, const array *x, array *y) {
    if (!y->values)
        return RLAR_OK;
    if (y->npy.dims == 2 && y->npy.n == 1 && y->npy.d > 1) {
        y->npy.n = y->npy.d;
        y->npy.d = 1;
    }
    if (y->npy.d != 1 || y->npy.n != x->npy.n)
        return rlar__fail(
            p->ctx, RLAR_E_DATA,
            "%s: %lld x %lld labels for the %lld samples of %s; one label per sample is "
            "needed",
            y->name, (long long)y->npy.n, (long long)y->npy.d, (long long)x->npy.n, x->name);
    return RLAR_OK;
}

/* Announce the columns, with their names where the container has them. */
static rlar_status push_columns(npz_parser *p, const array *x, const array *f) {
    const int64_t d = x->npy.d;
    if (!f->values)
        return rlar__sink_columns(p->sink, d, NULL, NULL);
    if (f->npy.n != d || f->npy.d != 1)
        return rlar__fail(
            p->ctx, RLAR_E_DATA,
            "%s: %lld names for the %lld columns of %s; one name per column is needed", f->name,
            (long long)f->npy.n, (long long)d, x->name);
    rlar_texts texts = {0};
    rlar_npy_text text = {0};
    const char **names = NULL;
    rlar_status status = rlar__alloc(p->ctx, d, sizeof *names, "feature names", &names);
    for (int64_t j = 0; j < d && status >= 0; j++) {
        status = rlar__npy_text(p->ctx, f->name, &f->npy,
                                f->values + rlar__npy_offset(&f->npy, j, 0), &text);
        if (status >= 0)
            status = rlar__texts_add(p->ctx, &texts, text.bytes, text.length);
    }
    for (int64_t j = 0; j < d && status >= 0; j++)
        names[j] = rlar__texts_at(&texts, j);
    if (status >= 0)
        status = rlar__sink_columns(p->sink, d, names, NULL);
    rlar__free(names);
    rlar__free(text.bytes);
    rlar__texts_free(&texts);
    return status;
}

/* Through offsets, which know both orders. */
static rlar_status push_row(npz_parser *p, const array *x, const array *y, int64_t i, double *row,
                            rlar_npy_text *label) {
    const rlar_place at = {.file = p->file, .line = i + 1}; /* the sink may keep the name */
    for (int64_t j = 0; j < x->npy.d; j++)
        row[j] = rlar__npy_number(&x->npy, x->values + rlar__npy_offset(&x->npy, i, j));
    const array *from = y->values ? y : x; /* where the label is */
    int64_t column = y->values ? 0 : -1;
    if (!y->values && rlar__npy_is_long(&x->npy))
        RLAR_TRY(rlar__sink_label_column(p->sink, x->npy.d, &column));
    if (column < 0)
        return rlar__sink_numbers(p->sink, &at, x->npy.d, row, NULL, 0);
    RLAR_TRY(rlar__npy_text(p->ctx, from->name, &from->npy,
                            from->values + rlar__npy_offset(&from->npy, i, column), label));
    return rlar__sink_numbers(p->sink, &at, x->npy.d, row, label->bytes, label->length);
}

static rlar_status push_rows(npz_parser *p, const array *x, const array *y) {
    double *row;
    rlar_npy_text label = {0};
    rlar_status status = rlar__alloc(p->ctx, x->npy.d, sizeof *row, "a row of an NPZ file", &row);
    for (int64_t i = 0; i < x->npy.n && status >= 0; i++) {
        status = push_row(p, x, y, i, row, &label);
        if (status >= 0)
            status = rlar__poll(p->ctx);
    }
    rlar__free(row);
    rlar__free(label.bytes);
    return status;
}

/* A SciPy sparse matrix has a member `data`, too, but that is not the samples. */
static rlar_status push_arrays(npz_parser *p, const rlar_zip *zip, array a[3]) {
    if (find_member(zip, "indptr", NULL))
        return rlar__fail(
            p->ctx, RLAR_E_UNSUPPORTED,
            "%s: a SciPy sparse matrix (member indptr); save X.toarray() with numpy.savez, "
            "or use the LIBSVM format",
            p->file);
    RLAR_TRY(load_array(p, zip, sample_names, &a[0]));
    if (!a[0].values)
        return no_samples(p, zip);
    if (rlar__npy_is_text(&a[0].npy))
        return rlar__fail(p->ctx, RLAR_E_DATA,
                          "%s: the samples are text; numbers are needed, convert with "
                          "X.astype('float64')",
                          a[0].name);
    RLAR_TRY(load_array(p, zip, label_names, &a[1]));
    RLAR_TRY(check_labels(p, &a[0], &a[1]));
    RLAR_TRY(load_array(p, zip, feature_names, &a[2]));
    if (a[0].npy.n > 0) /* without a row nothing justifies memory for the columns */
        RLAR_TRY(push_columns(p, &a[0], &a[2]));
    return push_rows(p, &a[0], &a[1]);
}

static rlar_status npz_finish(void *state) {
    npz_parser *p = state;
    rlar_zip zip;
    array a[3] = {0}; /* samples, labels, feature names */
    rlar_status status = rlar__zip_open(p->ctx, p->file, p->bytes, p->size, &zip);
    if (status >= 0)
        status = push_arrays(p, &zip, a);
    for (int i = 0; i < 3; i++)
        rlar__free(a[i].owned);
    rlar__zip_close(&zip);
    return status;
}

const rlar_format rlar__format_npz = {
    .name = "npz",
    .extensions = ".npz",
    .state_size = sizeof(npz_parser),
    .open = npz_open,
    .feed = npz_feed,
    .finish = npz_finish,
    .close = npz_close,
};
