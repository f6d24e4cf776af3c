/* model_header.h - the JSON header of a model file, read and checked. */
#ifndef RLAR_MODEL_HEADER_H
#define RLAR_MODEL_HEADER_H

#include "model/model.h"

#include <jansson.h>

typedef struct rlar_header {
    json_t *root;     /* the whole header */
    json_t *metadata; /* in root */
    json_t *classes;  /* the list in metadata.classes, parsed */
    json_t *features; /* the same of metadata.features, or NULL */
    json_t *params;   /* the object in metadata.params */
    rlar_model sizes; /* d, p, c, n and the kinds of scaling; no arrays */
    rlar_memory *memory;
    size_t reserved; /* of that memory, for the trees above */
} rlar_header;

/* Read the JSON. Whatever happens, rlar__header_free() is legal afterwards. */
rlar_status rlar__header_parse(rlar_ctx *ctx, const unsigned char *text, size_t size,
                               rlar_header *out);
void rlar__header_free(rlar_header *header);
/* Is it ours, and of a version that we read? */
rlar_status rlar__header_format(rlar_ctx *ctx, const rlar_header *header);
/* Bytes of tensors that the header promises: the largest end; -1 when it does not say. */
int64_t rlar__header_promise(const rlar_header *header);
/* Check all entries against each other and against the bytes present; fill header->sizes. */
rlar_status rlar__header_sizes(rlar_ctx *ctx, rlar_header *header, size_t data_size);
/* Copy the texts (names, parameters, method, version) into the model. After rlar__header_sizes().
 */
rlar_status rlar__header_texts(rlar_ctx *ctx, const rlar_header *header, rlar_model *model);

#endif
