/* zlib_memory.c - zlib with the memory of a context, so that its limit and fault injection reach
 * it. */
#include "data/zlib_memory.h"

static voidpf take(voidpf opaque, uInt items, uInt size) {
    void *memory;
    return rlar__alloc(opaque, items, size, "zlib's state", &memory) < 0 ? Z_NULL : memory;
}

static void give_back(voidpf opaque, voidpf memory) {
    (void)opaque;
    rlar__free(memory);
}

z_stream rlar__zlib_stream(rlar_ctx *ctx) {
    return (z_stream){.zalloc = take, .zfree = give_back, .opaque = ctx};
}
