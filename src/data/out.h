/* out.h - buffered output to a file that appears whole or not at all, gzipped on request. */
#ifndef RLAR_OUT_H
#define RLAR_OUT_H

#include "core/sanitize.h"
#include "data/zlib_memory.h"

enum { RLAR_OUT_BUFFER = RLAR_BUFFER(65536) };

/* The first failure is kept in `status` and later writes do nothing, so that a writer asks once per
 * row. */
typedef struct rlar_out {
    rlar_ctx *ctx;
    rlar_file *file;
    rlar_status status;
    bool gzip;
    z_stream z;
    gz_header header;
    char *buffer, *packed; /* RLAR_OUT_BUFFER each; packed only with gzip */
    size_t used;
} rlar_out;

/* The struct must stay where it is until commit or abort: zlib points into it. */
rlar_status rlar__out_open(rlar_ctx *ctx, const char *path, bool gzip, rlar_out *out);
void rlar__out_put(rlar_out *out, const void *bytes, size_t size);
void rlar__out_text(rlar_out *out, const char *text);
/* End the file. Both free everything; commit returns the first failure, if any, and leaves no file
 * then. */
rlar_status rlar__out_commit(rlar_out *out);
void rlar__out_abort(rlar_out *out);

#endif
