/* image.h - one image to grey values. */
#ifndef RLAR_IMAGE_H
#define RLAR_IMAGE_H

#include "core/core.h"

enum { RLAR_IMAGE_SIDE = 16384 }; /* the largest width and height */

/* Grey values 0..255, row by row. Zero-initialise; one image after another may be read into the
 * same. */
typedef struct rlar_image {
    int64_t width, height;
    double *grey;
    int64_t capacity;
    char *bytes; /* of the file */
    int64_t bytes_capacity;
} rlar_image;

/* A file, gunzipped where it is gzipped; PGM or PNG by its first bytes. */
rlar_status rlar__image_read(rlar_ctx *ctx, const char *path, rlar_image *out);
void rlar__image_free(rlar_image *image);

/* In memory. `file` is for error texts. */
rlar_status rlar__image_pgm(rlar_ctx *ctx, const char *file, const char *bytes, size_t size,
                            rlar_image *out);
rlar_status rlar__image_png(rlar_ctx *ctx, const char *file, const char *bytes, size_t size,
                            rlar_image *out);

#endif
