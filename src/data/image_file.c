/* image_file.c - one image file to grey values. */
#include "data/image.h"

#include <string.h>

#include "data/reader.h"

/* All bytes of the file. */
static rlar_status load_file(rlar_ctx *ctx, const char *path, rlar_image *image, size_t *size) {
    rlar_source *source;
    const char *chunk;
    size_t count = 1, used = 0;
    RLAR_TRY(rlar__source_file(ctx, path, &source));
    rlar_status status = RLAR_OK;
    while (status >= 0 && count > 0) {
        status = rlar__source_next(source, &chunk, &count);
        if (status < 0 || count == 0)
            break;
        status = rlar__grow(ctx, &image->bytes, &image->bytes_capacity, (int64_t)(used + count), 1,
                            "an image file");
        if (status >= 0)
            memcpy(image->bytes + used, chunk, count);
        used += count;
    }
    rlar__source_close(source);
    *size = used;
    return status;
}

rlar_status rlar__image_read(rlar_ctx *ctx, const char *path, rlar_image *out) {
    size_t size = 0;
    RLAR_TRY(load_file(ctx, path, out, &size));
    const char *bytes = out->bytes;
    if (size >= 3 && bytes[0] == 'P' && (bytes[1] == '2' || bytes[1] == '5'))
        return rlar__image_pgm(ctx, path, bytes, size, out);
    if (size >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0)
        return rlar__image_png(ctx, path, bytes, size, out);
    return rlar__fail(ctx, RLAR_E_DATA,
                      "%s: neither PGM (P2, P5) nor PNG by its first bytes; convert or remove it",
                      path);
}

void rlar__image_free(rlar_image *image) {
    rlar__free(image->grey);
    rlar__free(image->bytes);
    *image = (rlar_image){0};
}

rlar_status rlar_image_read(rlar_ctx *ctx, const char *path, double **grey, int64_t *rows,
                            int64_t *columns) {
    rlar_image image = {0};
    if (!ctx || !path || !grey || !rows || !columns)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_image_read: every argument is needed");
    rlar__begin(ctx);
    const rlar_status status = rlar__image_read(ctx, path, &image);
    if (status >= 0) {
        *grey = image.grey;
        *rows = image.height;
        *columns = image.width;
        image.grey = NULL;
    }
    rlar__image_free(&image);
    return status;
}
