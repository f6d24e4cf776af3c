/* zip.h - a ZIP container in memory: its members, checked. */
#ifndef RLAR_ZIP_H
#define RLAR_ZIP_H

#include "core/core.h"

typedef struct rlar_zip_member {
    const char *name; /* in the container, not NUL-terminated */
    size_t name_length;
    unsigned method, flags; /* 0 stored, 8 deflated */
    uint32_t crc;
    uint64_t packed, size; /* bytes in the container, bytes unpacked */
    uint64_t local;        /* offset of its local header */
} rlar_zip_member;

typedef struct rlar_zip {
    rlar_ctx *ctx;
    const char *file; /* for error texts */
    const char *bytes;
    size_t size;
    rlar_zip_member *member;
    int64_t count;
    size_t directory; /* offset of the central directory: where the members end */
} rlar_zip;

/* Read the directory. The bytes are borrowed. Free with rlar__zip_close, also after an error. */
rlar_status rlar__zip_open(rlar_ctx *ctx, const char *file, const char *bytes, size_t size,
                           rlar_zip *out);
/* A member's bytes, checksum compared. *owned is what the caller frees with rlar__free: NULL for a
 * stored member, whose bytes stay in the container. */
rlar_status rlar__zip_extract(const rlar_zip *zip, const rlar_zip_member *member,
                              const char **bytes, void **owned);
void rlar__zip_close(rlar_zip *zip);

#endif
