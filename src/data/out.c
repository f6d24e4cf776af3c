/* out.c - buffered output, gzipped on request.
 *
 * The gzip header has no time stamp, no name and "unknown" as its system, so equal data give equal
 * bytes. */
#include "data/out.h"

#include <string.h>

enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8, UNKNOWN_SYSTEM = 255 };

/* `gzip` is set once there is a stream to end. */
static rlar_status begin_gzip(rlar_out *out) {
    out->z = rlar__zlib_stream(out->ctx);
    out->header = (gz_header){.os = UNKNOWN_SYSTEM};
    RLAR_TRY(rlar__alloc(out->ctx, RLAR_OUT_BUFFER, 1, "an output buffer", &out->packed));
    if (deflateInit2(&out->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return RLAR_E_NOMEM; /* the options are right; the allocator has left the text */
    out->gzip = true;
    (void)deflateSetHeader(&out->z, &out->header); /* cannot fail on a fresh gzip stream */
    return RLAR_OK;
}

rlar_status rlar__out_open(rlar_ctx *ctx, const char *path, bool gzip, rlar_out *out) {
    *out = (rlar_out){.ctx = ctx};
    rlar_status status = rlar__alloc(ctx, RLAR_OUT_BUFFER, 1, "an output buffer", &out->buffer);
    if (status >= 0 && gzip)
        status = begin_gzip(out);
    if (status >= 0)
        status = rlar__file_create(ctx, path, &out->file);
    if (status < 0)
        rlar__out_abort(out);
    return status;
}

/* Compress what is buffered; with Z_FINISH to the end of the stream. */
static rlar_status deflate_buffer(rlar_out *out, int flush) {
    out->z.next_in = (Bytef *)out->buffer;
    out->z.avail_in = (uInt)out->used;
    do {
        out->z.next_out = (Bytef *)out->packed;
        out->z.avail_out = RLAR_OUT_BUFFER;
        (void)deflate(&out->z, flush); /* its only answer to a sound stream is progress */
        RLAR_TRY(rlar_file_write(out->file, out->packed, RLAR_OUT_BUFFER - out->z.avail_out));
    } while (out->z.avail_out == 0);
    return RLAR_OK;
}

/* After a failure the bytes are dropped: the file will not appear anyway. */
static void flush_buffer(rlar_out *out, int flush) {
    if (out->status >= 0)
        out->status = out->gzip ? deflate_buffer(out, flush)
                                : rlar_file_write(out->file, out->buffer, out->used);
    out->used = 0;
}

void rlar__out_put(rlar_out *out, const void *bytes, size_t size) {
    const char *from = bytes;
    while (size > 0) {
        const size_t room = RLAR_OUT_BUFFER - out->used;
        const size_t count = size < room ? size : room;
        memcpy(out->buffer + out->used, from, count);
        out->used += count;
        from += count;
        size -= count;
        if (out->used == RLAR_OUT_BUFFER)
            flush_buffer(out, Z_NO_FLUSH);
    }
}

void rlar__out_text(rlar_out *out, const char *text) {
    rlar__out_put(out, text, strlen(text));
}

/* The file is taken out first, so that freeing the rest does not abort it. */
rlar_status rlar__out_commit(rlar_out *out) {
    flush_buffer(out, Z_FINISH);
    const rlar_status status = out->status;
    if (status < 0) {
        rlar__out_abort(out);
        return status;
    }
    rlar_file *file = out->file;
    out->file = NULL;
    rlar__out_abort(out); /* frees the rest */
    return rlar_file_commit(file);
}

void rlar__out_abort(rlar_out *out) {
    if (out->file)
        rlar_file_abort(out->file);
    if (out->gzip)
        deflateEnd(&out->z);
    rlar__free(out->buffer);
    rlar__free(out->packed);
    *out = (rlar_out){0};
}
