/* range.h - reading a part of a file. */
#ifndef RLAR_RANGE_H
#define RLAR_RANGE_H

#include "data/table.h"

/* The bytes of a part; begun: they are known. */
typedef struct rlar_range {
    int64_t from, to;
    bool begun;
} rlar_range;

/* What can be read in parts, and why this cannot. */
rlar_status rlar__range_refused(rlar_ctx *ctx, const char *file, const char *why);
/* What does not need the file: may it be read in parts with these options? */
rlar_status rlar__range_allowed(rlar_ctx *ctx, const char *path, const rlar_read_options *options);
/* Where part number `part` of n things begins. */
int64_t rlar__range_cut(int64_t n, int64_t part, int64_t parts);

/* Read the head of the file, and let the source have the bytes of the part only. A part but
 * the first begins behind `lines` lines, or, as long as nobody has counted them, behind 1: it has
 * no byte order mark. */
rlar_status rlar__range_begin(rlar_ctx *ctx, rlar_source *source, const rlar_format *format,
                              void *state, rlar_sink *sink, const rlar_read_options *options,
                              int64_t lines, rlar_range *out);

/* What stands before a part of a text: its lines, and whether a cell in quotes may be open where
 * the part begins or ends. For the message after an error: the bytes have to be read. */
rlar_status rlar__range_before(rlar_ctx *ctx, const char *path, const rlar_range *range,
                               int64_t *lines, bool *quoted);

#endif
