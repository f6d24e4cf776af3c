/* mat_values.c - numbers and texts out of matio's variables.
 *
 * matio has converted the elements to the variable's class; its sizes come from the file, so every
 * access is preceded by a check of the bytes that are really there. */
#include <stdlib.h>
#include <string.h>

#include "mat.h"

/* Bytes of an element of a real numeric class, 0 for any other class. */
static size_t element_size(enum matio_classes class) {
    switch (class) {
    case MAT_C_DOUBLE:
    case MAT_C_INT64:
    case MAT_C_UINT64:
        return 8;
    case MAT_C_SINGLE:
    case MAT_C_INT32:
    case MAT_C_UINT32:
        return 4;
    case MAT_C_INT16:
    case MAT_C_UINT16:
        return 2;
    case MAT_C_INT8:
    case MAT_C_UINT8:
        return 1;
    default:
        return 0;
    }
}

#define AS(type) (double)((const type *)data)[i]

/* Integers beyond 2^53 are rounded, as MATLAB's own double() does. */
static double element(const void *data, enum matio_classes class, size_t i) {
    switch (class) {
    case MAT_C_DOUBLE:
        return AS(double);
    case MAT_C_SINGLE:
        return AS(float);
    case MAT_C_INT64:
        return AS(int64_t);
    case MAT_C_UINT64:
        return AS(uint64_t);
    case MAT_C_INT32:
        return AS(int32_t);
    case MAT_C_UINT32:
        return AS(uint32_t);
    case MAT_C_INT16:
        return AS(int16_t);
    case MAT_C_UINT16:
        return AS(uint16_t);
    case MAT_C_INT8:
        return AS(int8_t);
    default:
        return AS(uint8_t);
    }
}

/* A cell is a variable of its own, and its text is read from a copy of up to three bytes a letter;
 * what is sparse lies in memory as it is stored. */
double cli_mat_need(const matvar_t *info, int64_t unpacked) {
    enum { CELL = 512, LETTER = 8 };
    double count = info->isComplex ? 2 : 1;
    for (int i = 0; i < info->rank; i++)
        count *= (double)info->dims[i];
    switch (info->class_type) {
    case MAT_C_CELL:
        return CELL * count + LETTER * (double)unpacked;
    case MAT_C_CHAR:
        return LETTER * count;
    case MAT_C_SPARSE:
        return (double)unpacked;
    default:
        return (double)element_size(info->class_type) * count;
    }
}

/* As many bytes as the sizes ask for? */
static bool dense_is_whole(const matvar_t *x, size_t count) {
    const size_t size = element_size(x->class_type);
    return size > 0 && x->data_size == (int)size && x->nbytes / size >= count;
}

/* The class whose elements are stored like the values of a sparse matrix, which MATLAB packs into
 * the smallest type that holds them; MAT_C_EMPTY: they are no real numbers. */
static enum matio_classes class_of_values(const matvar_t *x) {
    static const struct {
        enum matio_types type;
        enum matio_classes class;
    } known[] = {{MAT_T_DOUBLE, MAT_C_DOUBLE}, {MAT_T_SINGLE, MAT_C_SINGLE},
                 {MAT_T_INT64, MAT_C_INT64},   {MAT_T_UINT64, MAT_C_UINT64},
                 {MAT_T_INT32, MAT_C_INT32},   {MAT_T_UINT32, MAT_C_UINT32},
                 {MAT_T_INT16, MAT_C_INT16},   {MAT_T_UINT16, MAT_C_UINT16},
                 {MAT_T_INT8, MAT_C_INT8},     {MAT_T_UINT8, MAT_C_UINT8}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].type == x->data_type)
            return known[i].class;
    return MAT_C_EMPTY;
}

/* MATLAB writes logical values as bytes and calls them doubles. matio takes them for bytes even
 * where they are doubles; then it finds more of them than there are places. */
static bool sparse_is_known(const matvar_t *x) {
    const mat_sparse_t *s = x->data;
    return class_of_values(x) != MAT_C_EMPTY && (!x->isLogical || s->ndata == s->nir);
}

/* Column starts, row numbers and values of a sparse matrix agree with each other and the sizes. */
static bool sparse_is_whole(const matvar_t *x) {
    const mat_sparse_t *s = x->data;
    if (s->jc == NULL || (size_t)s->njc != x->dims[1] + 1)
        return false;
    for (size_t j = 0; j < x->dims[1]; j++)
        if (s->jc[j] > s->jc[j + 1])
            return false;
    const size_t used = s->jc[x->dims[1]];
    if (s->jc[0] != 0 || used > (size_t)s->ndata || used > (size_t)s->nir ||
        (used > 0 && (s->data == NULL || s->ir == NULL)))
        return false;
    for (size_t k = 0; k < used; k++)
        if ((size_t)s->ir[k] >= x->dims[0])
            return false;
    return true;
}

/* Do its parts justify the table that a sparse matrix becomes? By the rule of sparse text in the
 * library: a thousand times their bytes, and 64 MiB in any case. */
static int check_sparse_size(cli *c, const matvar_t *x, const char *path) {
    const mat_sparse_t *s = x->data;
    const double bytes = 4.0 * ((double)s->nir + (double)s->njc) + 8.0 * (double)s->ndata;
    const double table = (double)x->dims[0] * (double)x->dims[1] * sizeof(double);
    char size[CLI_NUMBER_SIZE];
    if (table <= 1000.0 * bytes + 64.0 * 1024 * 1024)
        return 0;
    return cli_error(
        c, CODE_DATA,
        "%s: the sparse variable '%s' of %zu x %zu makes a dense table of %s from %.0f "
        "bytes; the limit is 1000 times the bytes plus 64 MiB: leave out rows without values",
        path, x->name, x->dims[0], x->dims[1], cli_bytes(table, size), bytes);
}

int cli_mat_check(cli *c, const matvar_t *x, const char *path) {
    if (x->rank != 2 || x->isComplex)
        return cli_error(c, CODE_DATA, "%s: variable '%s' is not a real matrix of two dimensions",
                         path, x->name);
    const size_t rows = x->dims[0], columns = x->dims[1];
    if (rows == 0 || columns == 0)
        return cli_error(c, CODE_DATA, "%s: variable '%s' is empty", path, x->name);
    if (rows > INT64_MAX / sizeof(double) / columns)
        return cli_error(c, CODE_MEMORY, "%s: variable '%s' is too large", path, x->name);
    const bool sparse = x->class_type == MAT_C_SPARSE;
    if (!sparse && element_size(x->class_type) == 0)
        return cli_error(c, CODE_DATA, "%s: variable '%s' does not hold numbers", path, x->name);
    if (sparse && !sparse_is_known(x))
        return cli_error(c, CODE_DATA,
                         "%s: the values of the sparse variable '%s' are of a type that is not "
                         "read; save it as double(%s)",
                         path, x->name, x->name);
    if (sparse ? !sparse_is_whole(x) : !dense_is_whole(x, rows * columns))
        return cli_error(c, CODE_DATA, "%s: variable '%s' is damaged or cut short", path, x->name);
    return sparse ? check_sparse_size(c, x, path) : 0;
}

/* Columns of `rows` elements become rows of `columns` doubles, in tiles that stay in the cache. */
static void transpose(const matvar_t *x, double *out) {
    enum { TILE = 64 };
    const size_t rows = x->dims[0], columns = x->dims[1];
    for (size_t j0 = 0; j0 < columns; j0 += TILE)
        for (size_t i0 = 0; i0 < rows; i0 += TILE)
            for (size_t j = j0; j < columns && j < j0 + TILE; j++)
                for (size_t i = i0; i < rows && i < i0 + TILE; i++)
                    out[i * columns + j] = element(x->data, x->class_type, j * rows + i);
}

static void expand_sparse(const matvar_t *x, bool turned, double *out) {
    const mat_sparse_t *s = x->data;
    const enum matio_classes class = class_of_values(x);
    const size_t rows = x->dims[0], columns = x->dims[1];
    for (size_t j = 0; j < columns; j++)
        for (size_t k = s->jc[j]; k < s->jc[j + 1]; k++)
            out[turned ? j * rows + s->ir[k] : s->ir[k] * columns + j] = element(s->data, class, k);
}

int cli_mat_samples(cli *c, const matvar_t *x, const char *path, bool turned, int64_t *held,
                    double **out) {
    const size_t count = x->dims[0] * x->dims[1];
    const int code = cli_mat_hold(c, held, (double)count * sizeof(double), path, x->name);
    if (code != 0)
        return code;
    double *samples = calloc(count, sizeof *samples);
    if (samples == NULL) {
        char size[CLI_NUMBER_SIZE];
        return cli_error(
            c, CODE_MEMORY, "%s: '%s' of %zu x %zu values needs %s, which the system refuses", path,
            x->name, x->dims[0], x->dims[1], cli_bytes((double)count * sizeof *samples, size));
    }
    if (x->class_type == MAT_C_SPARSE)
        expand_sparse(x, turned, samples);
    else if (!turned)
        transpose(x, samples);
    else
        for (size_t i = 0; i < count; i++)
            samples[i] = element(x->data, x->class_type, i);
    *out = samples;
    return 0;
}

/* ---- labels ---- */

/* Append a character as UTF-8 (MATLAB's are UTF-16; those beyond the first plane come as two). */
static size_t put_character(char *out, unsigned code) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | (code >> 12 & 0x0f));
    out[1] = (char)(0x80 | (code >> 6 & 0x3f));
    out[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

/* Row i of a matrix of characters, without trailing blanks; NULL when its bytes are not there. */
static char *character_row(const matvar_t *y, size_t i) {
    const size_t rows = y->dims[0], size = y->data_size > 0 ? (size_t)y->data_size : 1;
    /* A single text in UTF-8 may have more bytes than characters; its size counts the latter. */
    const size_t columns = rows == 1 && size == 1 ? y->nbytes : y->dims[1];
    if (size > 2 || (columns > 0 && (y->data == NULL || y->nbytes / size / columns < rows)))
        return NULL;
    char *text = cli_alloc(3 * columns + 1);
    size_t used = 0;
    for (size_t j = 0; j < columns; j++) {
        const size_t at = j * rows + i;
        if (size == 2)
            used += put_character(text + used, ((const uint16_t *)y->data)[at]);
        else /* bytes are UTF-8 already */
            text[used++] = ((const char *)y->data)[at];
    }
    while (used > 0 && (text[used - 1] == ' ' || text[used - 1] == '\0'))
        used--;
    text[used] = '\0';
    return text;
}

/* One text per cell or per row of characters. */
static bool read_texts(const matvar_t *y, cli_mat_labels *out) {
    const bool cells = y->class_type == MAT_C_CELL;
    const size_t count = cells ? y->dims[0] * y->dims[1] : y->dims[0];
    if (cells && y->nbytes / sizeof(matvar_t *) < count)
        return false;
    out->text = cli_alloc(count * sizeof *out->text);
    for (size_t i = 0; i < count; i++) {
        const matvar_t *row = cells ? ((matvar_t **)y->data)[i] : y;
        const bool text = row != NULL && row->class_type == MAT_C_CHAR && row->rank == 2;
        out->text[i] = text ? character_row(row, cells ? 0 : i) : NULL;
        out->texts = (int64_t)i + 1;
        if (out->text[i] == NULL)
            return false;
    }
    out->count = (int64_t)count;
    return true;
}

/* Texts keep their spelling; numbers go to the library, which makes 1 and 1.0 one class. */
int cli_mat_labels_read(cli *c, const matvar_t *y, const char *path, int64_t *held,
                        cli_mat_labels *out) {
    if (y->rank != 2 || y->dims[0] == 0 || y->dims[1] == 0 ||
        y->dims[0] > INT64_MAX / sizeof(double) / y->dims[1])
        return cli_error(c, CODE_DATA, "%s: the labels '%s' are not a vector", path, y->name);
    if (y->class_type == MAT_C_CELL || y->class_type == MAT_C_CHAR) {
        if (read_texts(y, out))
            return 0;
        return cli_error(c, CODE_DATA, "%s: the labels '%s' are not all texts", path, y->name);
    }
    const int code = cli_mat_check(c, y, path);
    if (code != 0)
        return code;
    if (y->dims[0] != 1 && y->dims[1] != 1)
        return cli_error(c, CODE_DATA, "%s: the labels '%s' are %zu x %zu, not a vector", path,
                         y->name, y->dims[0], y->dims[1]);
    out->count = (int64_t)(y->dims[0] * y->dims[1]);
    return cli_mat_samples(c, y, path, false, held, &out->number);
}

void cli_mat_labels_move(cli_mat_labels *labels, int64_t to, int64_t from) {
    if (labels->number != NULL)
        labels->number[to] = labels->number[from];
    if (labels->text != NULL && to != from) {
        char *swap = labels->text[to];
        labels->text[to] = labels->text[from];
        labels->text[from] = swap;
    }
}

void cli_mat_labels_free(cli_mat_labels *labels) {
    for (int64_t i = 0; i < labels->texts; i++)
        free(labels->text[i]);
    free(labels->text);
    free(labels->number);
    *labels = (cli_mat_labels){.count = -1};
}
