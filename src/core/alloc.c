/* alloc.c - the only callers of malloc and free.
 *
 * A block carries a header with its size and its account, so that releasing it needs no context and
 * the memory limit holds for a context and its children together. Blocks are 64-byte aligned: the
 * width of a cache line and of an AVX-512 register. */
#include "core/core.h"
#include "core/sanitize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 64, WORTH_A_CALL = 1 << 16 };

typedef struct block_header {
    void *raw; /* what the allocator returned */
    size_t size;
    rlar_memory *memory;
} block_header;

bool rlar__size_mul(size_t a, size_t b, size_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

bool rlar__size_add(size_t a, size_t b, size_t *out) {
    return !__builtin_add_overflow(a, b, out);
}

static block_header *header_of(void *memory) {
    return (block_header *)(void *)((char *)memory - ALIGNMENT);
}

/* Add to the account; false when the limit would be passed. */
static bool account_add(rlar_memory *memory, size_t bytes) {
    const int64_t add = (int64_t)bytes;
    const int64_t now = atomic_fetch_add(&memory->used, add) + add;
    if (memory->limit > 0 && now > memory->limit) {
        atomic_fetch_sub(&memory->used, add);
        return false;
    }
    int64_t peak = atomic_load(&memory->peak);
    while (now > peak && !atomic_compare_exchange_weak(&memory->peak, &peak, now)) {
    }
    return true;
}

/* The bytes behind the user's that only the alignment needs. */
static size_t tail_of(void *memory) {
    const block_header *header = header_of(memory);
    return 2 * ALIGNMENT - (size_t)((char *)memory - (char *)header->raw);
}

/* The user's bytes behind an aligned header. */
static void *block_new(rlar_memory *memory, size_t bytes) {
    void *raw = memory->alloc ? memory->alloc(memory->user, bytes + 2 * ALIGNMENT)
                              : malloc(bytes + 2 * ALIGNMENT);
    if (!raw)
        return NULL;
    const uintptr_t start = ((uintptr_t)raw + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *user = (char *)raw + (start - (uintptr_t)raw);
    *header_of(user) = (block_header){.raw = raw, .size = bytes, .memory = memory};
    RLAR_NO_VALUE(user, bytes);
    RLAR_OFF_LIMITS((char *)user + bytes, tail_of(user));
    return user;
}

/* "320.0 KiB", for a person. */
static const char *human(double bytes, char buf[RLAR_NUMBER_SIZE]) {
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int step = 0;
    for (; bytes >= 1024.0 && step < 5; step++)
        bytes /= 1024.0;
    snprintf(buf, RLAR_NUMBER_SIZE, "%.*f %s", step ? 1 : 0, bytes, unit[step]);
    return buf;
}

static rlar_status over_limit(rlar_ctx *ctx, const char *what, size_t bytes) {
    char need[RLAR_NUMBER_SIZE], held[RLAR_NUMBER_SIZE], limit[RLAR_NUMBER_SIZE];
    return rlar__fail(
        ctx, RLAR_E_NOMEM,
        "%s: %s needed with %s held, the memory limit is %s; raise it (--max-memory) or "
        "use less data",
        what, human((double)bytes, need), human((double)atomic_load(&ctx->memory->used), held),
        human((double)ctx->memory->limit, limit));
}

rlar_status rlar__alloc(rlar_ctx *ctx, int64_t count, size_t size, const char *what, void *out) {
    void *null = NULL;
    memcpy(out, &null, sizeof null);
    size_t bytes = 0;
    if (count < 0 || !rlar__size_mul((size_t)count, size, &bytes) || bytes > INT64_MAX / 2)
        return rlar__fail(
            ctx, RLAR_E_TOO_LARGE,
            "%s: %lld elements of %zu bytes do not fit the address space; use less data", what,
            (long long)count, size);
    if (bytes == 0)
        return RLAR_OK;
    rlar_memory *memory = ctx->memory;
    if (!account_add(memory, bytes))
        return over_limit(ctx, what, bytes);
    void *block = block_new(memory, bytes);
    if (!block) {
        atomic_fetch_sub(&memory->used, (int64_t)bytes);
        char need[RLAR_NUMBER_SIZE];
        return rlar__fail(ctx, RLAR_E_NOMEM, "%s: %s needed, the system has no more; use less data",
                          what, human((double)bytes, need));
    }
    memcpy(out, &block, sizeof block);
    return RLAR_OK;
}

rlar_status rlar__reserve(rlar_ctx *ctx, size_t bytes, const char *what) {
    return account_add(ctx->memory, bytes) ? RLAR_OK : over_limit(ctx, what, bytes);
}

void rlar__give_back(rlar_memory *memory, size_t bytes) {
    atomic_fetch_sub(&memory->used, (int64_t)bytes);
}

rlar_status rlar__calloc(rlar_ctx *ctx, int64_t count, size_t size, const char *what, void *out) {
    RLAR_TRY(rlar__alloc(ctx, count, size, what, out));
    void *block;
    memcpy(&block, out, sizeof block);
    if (block)
        memset(block, 0, header_of(block)->size);
    return RLAR_OK;
}

void rlar__first_touch(void *memory, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    const long page = sysconf(_SC_PAGESIZE);
    if (bytes < WORTH_A_CALL || page <= 0)
        return;
    const size_t size = (size_t)page, skip = (size - (uintptr_t)memory % size) % size;
    if (bytes > skip + size) /* a system without it is none the worse */
        (void)madvise((char *)memory + skip, (bytes - skip) / size * size, MADV_POPULATE_WRITE);
#else
    (void)memory;
    (void)bytes;
#endif
}

void rlar__free(void *memory) {
    if (!memory)
        return;
    const block_header head = *header_of(memory);
    RLAR_IN_REACH((char *)memory + head.size, tail_of(memory)); /* the allocator's again */
    atomic_fetch_sub(&head.memory->used, (int64_t)head.size);
    if (head.memory->release)
        head.memory->release(head.memory->user, head.raw);
    else
        free(head.raw);
}

void rlar__free_pages(void *memory) {
#ifdef MADV_DONTNEED
    const long page = sysconf(_SC_PAGESIZE);
    const size_t bytes = memory ? header_of(memory)->size : 0;
    if (bytes >= WORTH_A_CALL && page > 0) {
        const size_t size = (size_t)page, skip = (size - (uintptr_t)memory % size) % size;
        (void)madvise((char *)memory + skip, (bytes - skip) / size * size, MADV_DONTNEED);
    }
#endif
    rlar__free(memory);
}

rlar_status rlar__resize(rlar_ctx *ctx, void *array, int64_t *capacity, int64_t larger, size_t size,
                         const char *what) {
    void *old, *fresh;
    memcpy(&old, array, sizeof old);
    RLAR_TRY(rlar__alloc(ctx, larger, size, what, &fresh));
    if (old)
        memcpy(fresh, old, (size_t)*capacity * size);
    rlar__free(old);
    memcpy(array, &fresh, sizeof fresh);
    *capacity = larger;
    return RLAR_OK;
}

rlar_status rlar__grow(rlar_ctx *ctx, void *array, int64_t *capacity, int64_t need, size_t size,
                       const char *what) {
    enum { FIRST_ROOM = 8 };
    if (need <= *capacity)
        return RLAR_OK;
    int64_t larger = 2 * *capacity; /* of a block that is there: see the limit of rlar__alloc() */
    if (larger < FIRST_ROOM)
        larger = FIRST_ROOM;
    return rlar__resize(ctx, array, capacity, need > larger ? need : larger, size, what);
}

rlar_status rlar__strdup(rlar_ctx *ctx, const char *text, char **out) {
    const size_t bytes = strlen(text) + 1;
    RLAR_TRY(rlar__alloc(ctx, (int64_t)bytes, 1, "a text", out));
    memcpy(*out, text, bytes);
    return RLAR_OK;
}
