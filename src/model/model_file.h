/* model_file.h - what the writer and the reader of model files share. The format is specified in
 * docs/model-format.md. */
#ifndef RLAR_MODEL_FILE_H
#define RLAR_MODEL_FILE_H

#include "model/model.h"

/* The bytes of the header before and after the sixteen digits. In JSON the quotes make this text
 * impossible inside a string, so a plain search finds the one entry. */
#define RLAR_CHECKSUM_KEY "\"checksum\":\""
#define RLAR_CHECKSUM_NAME "crc64-xz:"

enum {
    RLAR_CHECKSUM_DIGITS = 16,
    RLAR_MODEL_FORMAT = 1,
    RLAR_MODEL_ALIGN = 64,                         /* the tensors start at a multiple of it */
    RLAR_MODEL_MAX_HEADER = 64 << 20,              /* bytes */
    RLAR_MODEL_TENSORS = 5 + 2 * RLAR_SCALE_STEPS, /* the most a file holds */
    RLAR_TENSOR_NAME = 32
};

/* One tensor: its name, its shape, and where its numbers live in the model. */
typedef struct rlar_tensor {
    char name[RLAR_TENSOR_NAME];
    int64_t shape[2];
    int rank;      /* 1 or 2 */
    double *f64;   /* dtype F64 */
    int32_t *i64;  /* dtype I64 in the file, int32_t in memory */
    bool integers; /* which of the two; both are NULL when empty or not yet allocated */
} rlar_tensor;

/* The tensors of a model in the order of the file; returns how many. Needs the sizes and the kinds
 * of scaling only; the places are NULL where the model has no arrays yet. */
int rlar__model_tensors(const rlar_model *model, rlar_tensor tensor[RLAR_MODEL_TENSORS]);

/* Elements of a tensor of a model in memory, whose sizes are known to fit. */
int64_t rlar__tensor_count(const rlar_tensor *tensor);

/* The checksum of a model file whose digits stand at bytes[digits]. */
uint64_t rlar__model_checksum(const unsigned char *bytes, size_t size, size_t digits);
/* Where the digits stand: the offset in text[0..size), or 0 when there is no such entry. */
size_t rlar__checksum_find(const unsigned char *text, size_t size);
/* Sixteen lower-case hexadecimal digits, no NUL. */
void rlar__checksum_print(uint64_t crc, char digits[RLAR_CHECKSUM_DIGITS]);

/* The loader; without `check` the checksum is not compared, so that a fuzzer gets behind it. */
rlar_status rlar__model_load_bytes(rlar_ctx *ctx, const void *bytes, size_t size, bool check,
                                   rlar_model **out);
/* Do these first bytes of a file of `total` bytes begin like a model? 9 bytes are enough. */
rlar_status rlar__model_check_start(rlar_ctx *ctx, const unsigned char *bytes, size_t size,
                                    uint64_t total);

#endif
