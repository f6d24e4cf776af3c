/* zlib_memory.h - zlib with the memory of a context. */
#ifndef RLAR_ZLIB_MEMORY_H
#define RLAR_ZLIB_MEMORY_H

#include "core/core.h"

#include <zlib.h>

/* A zeroed stream whose state is accounted to the context; a failed allocation leaves its text
 * there. */
z_stream rlar__zlib_stream(rlar_ctx *ctx);

#endif
