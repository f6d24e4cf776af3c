/* npy.h - NumPy arrays: the header and the values, shared by the NPY and the NPZ reader. */
#ifndef RLAR_NPY_H
#define RLAR_NPY_H

#include "core/core.h"

enum {
    RLAR_NPY_PREAMBLE = 12, /* bytes that tell the length of the header: magic, version, length */
    RLAR_NPY_HEADER = 65536 /* the longest header that is read */
};

/* What a header says. A one-dimensional array is a column: d = 1. */
typedef struct rlar_npy {
    char kind; /* f, i, u: numbers; b: bool; U: UTF-32 text; S: bytes */
    bool big;  /* big endian */
    bool fortran;
    int dims;    /* 1 or 2 */
    size_t item; /* bytes of one value */
    int64_t n, d;
    size_t row;   /* bytes of one row: d * item */
    size_t bytes; /* bytes of all values: n * row */
} rlar_npy;

/* From the first bytes of a file: *start and *length of the header text. *start is 0 as long as
 * more bytes are needed. */
rlar_status rlar__npy_preamble(rlar_ctx *ctx, const char *file, const char *bytes, size_t size,
                               size_t *start, size_t *length);
/* The header text, a Python dictionary. */
rlar_status rlar__npy_header(rlar_ctx *ctx, const char *file, const char *text, size_t length,
                             rlar_npy *out);
/* A whole array in memory: the header is read and the size compared; *values points into bytes. */
rlar_status rlar__npy_open(rlar_ctx *ctx, const char *file, const char *bytes, size_t size,
                           rlar_npy *out, const char **values);

bool rlar__npy_is_text(const rlar_npy *npy);
/* Integers that a double may have to round? As labels they go through rlar__npy_text. */
bool rlar__npy_is_long(const rlar_npy *npy);
/* Where the value of a row and column stands among all values. */
size_t rlar__npy_offset(const rlar_npy *npy, int64_t row, int64_t column);
/* The value at these bytes as a number; kinds f, i, u, b. */
double rlar__npy_number(const rlar_npy *npy, const char *value);
/* The value as text, NUL-terminated: numbers in shortest form, U as UTF-8. The buffer grows as
 * needed. */
typedef struct rlar_npy_text {
    char *bytes;
    int64_t capacity;
    size_t length;
} rlar_npy_text;
rlar_status rlar__npy_text(rlar_ctx *ctx, const char *file, const rlar_npy *npy, const char *value,
                           rlar_npy_text *out);

#endif
