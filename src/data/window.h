/* window.h - reading a file whole, pieces of it at the same time. */
#ifndef RLAR_WINDOW_H
#define RLAR_WINDOW_H

#include "data/table.h"

/* A window is `pieces` pieces of `piece` bytes. */
typedef struct rlar_window_size {
    int64_t piece, pieces;
} rlar_window_size;

/* Push all bytes of the source through the parser, which must be able to fork, into the sink, and
 * finish both. The table and the errors are those of feeding the bytes one after another. */
rlar_status rlar__read_windows(rlar_ctx *ctx, rlar_source *source, const rlar_format *format,
                               void *state, rlar_sink *sink, const rlar_window_size *size);

/* rlar_data_read() with windows of another size, or (NULL) without, for tests. */
rlar_status rlar__data_read(rlar_ctx *ctx, const char *path, const rlar_read_options *options,
                            const rlar_window_size *size, rlar_data **out);

#endif
