/* fuzz.h - what the fuzz targets share: the entry points, a check that ends the process, choices
 * drawn from the bytes, a context with little memory, files that are in memory only.
 *
 * A target is one function from bytes to nothing. libFuzzer calls it (scripts/fuzz), and replay.c
 * does with the files of a corpus (make check). It must not depend on anything but its bytes. */
#ifndef RLAR_FUZZ_H
#define RLAR_FUZZ_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "core/core.h"

/* libFuzzer's names. The second is optional: what a target does once before its first input. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* ---- Checks ---- */

/* To the descriptor: some targets put a quiet stream in the place of stderr. */
static inline void fuzz_fail(const char *file, int line, const char *format, ...) RLAR_PRINTF(3, 4);
static inline void fuzz_fail(const char *file, int line, const char *format, ...) {
    va_list args;
    dprintf(STDERR_FILENO, "%s:%d: ", file, line);
    va_start(args, format);
    vdprintf(STDERR_FILENO, format, args);
    va_end(args);
    dprintf(STDERR_FILENO, "\n");
    abort();
}

/* The promise, and what to say where it is broken. */
#define FUZZ_CHECK(promise, ...)                                                                   \
    do {                                                                                           \
        if (!(promise))                                                                            \
            fuzz_fail(__FILE__, __LINE__, __VA_ARGS__);                                            \
    } while (0)

static inline void *fuzz_alloc(size_t size) {
    void *memory = malloc(size > 0 ? size : 1);
    FUZZ_CHECK(memory != NULL, "no memory for %zu bytes", size);
    return memory;
}

/* ---- Choices out of the bytes ---- */

typedef struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
} fuzz_bytes;

/* 0 where none is left. */
static inline uint8_t fuzz_byte(fuzz_bytes *b) {
    if (b->left == 0)
        return 0;
    b->left--;
    return *b->at++;
}

/* One of 0 .. count - 1; the character 0 stands for the first, so that seeds can be typed. */
static inline unsigned fuzz_choice(fuzz_bytes *b, unsigned count) {
    return b->left == 0 ? 0 : (uint8_t)(fuzz_byte(b) - '0') % count;
}

static inline uint64_t fuzz_word(fuzz_bytes *b) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++)
        word = word << 8 | fuzz_byte(b);
    return word;
}

/* Promises that take long are checked in turn: all bytes together choose one of `count`, so that
 * every one gets its share and a finding is repeated by its file. A replay checks them all. */
static inline bool fuzz_turn(const fuzz_bytes *b, unsigned count, unsigned index) {
#ifdef RLAR_FUZZING
    return crc32(0, b->at, (uInt)b->left) % count == index;
#else
    (void)b;
    return index < count;
#endif
}

/* ---- The context ---- */

/* What a context may hold: more than a small input should need, unless it can be unpacked. */
enum { FUZZ_MEMORY = 2 << 20 };

/* Beyond that there is none. The account has the request already, and its peak keeps it. `user`
 * points to the context, which is not there yet when it is made itself. */
static inline void *fuzz_take(void *user, size_t size) {
    rlar_ctx *const *ctx = user;
    return *ctx && rlar_ctx_memory(*ctx) > FUZZ_MEMORY ? NULL : malloc(size);
}

static inline void fuzz_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

/* One for all inputs, on one thread. */
static inline rlar_ctx *fuzz_ctx(void) {
    static rlar_ctx *ctx;
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    options.threads = 1;
    options.alloc = fuzz_take;
    options.release = fuzz_release;
    options.alloc_user = &ctx;
    if (!ctx)
        FUZZ_CHECK(rlar_ctx_new(&options, &ctx) == RLAR_OK, "no context");
    return ctx;
}

/* Every refusal has one line of text, and is never a defect that the library itself found. */
static inline void fuzz_check_refusal(const rlar_ctx *ctx, rlar_status status) {
    const char *text = rlar_ctx_error(ctx);
    FUZZ_CHECK(status != RLAR_E_INTERNAL, "a defect: %s", text);
    FUZZ_CHECK(text[0] != '\0', "status %d without a text", (int)status);
    FUZZ_CHECK(!strchr(text, '\n'), "a text of two lines: %s", text);
}

/* What may be made of `size` bytes: by deflate at the best (src/data/zip.c), and as the dense table
 * of sparse rows (src/data/table_end.c). */
static inline int64_t fuzz_unpacked(size_t size) {
    return 1032 * (int64_t)size + 64;
}

static inline int64_t fuzz_dense(size_t size) {
    return 1000 * (int64_t)size + (64 << 20);
}

/* At the end of every input: all memory was given back, and nothing was asked for, whether it was
 * there or not, but what FUZZ_MEMORY and one request of `justified` bytes have room for. */
static inline void fuzz_check_request(rlar_ctx *ctx, int64_t justified) {
    const int64_t peak = rlar_ctx_memory_peak(ctx);
    FUZZ_CHECK(rlar_ctx_memory(ctx) == 0, "%lld bytes were not given back",
               (long long)rlar_ctx_memory(ctx));
    FUZZ_CHECK(peak <= FUZZ_MEMORY + justified,
               "%lld bytes were asked for, the input justifies %lld beside %d", (long long)peak,
               (long long)justified, FUZZ_MEMORY);
    atomic_store(&ctx->memory->peak, 0);
}

/* The same of inputs of which no more is made. */
static inline void fuzz_check_memory(rlar_ctx *ctx) {
    fuzz_check_request(ctx, 0);
}

/* ---- Files ---- */

typedef struct fuzz_file {
    int fd;
    char path[32];
} fuzz_file;

/* The bytes as a file in memory, one after another in the same. */
static inline void fuzz_file_set(fuzz_file *file, const void *bytes, size_t size) {
    if (file->path[0] == '\0') {
        file->fd = memfd_create("fuzz", MFD_CLOEXEC);
        FUZZ_CHECK(file->fd >= 0, "no file in memory");
        snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
    }
    /* In this order the file keeps its page. */
    FUZZ_CHECK(pwrite(file->fd, bytes, size, 0) == (ssize_t)size &&
                   ftruncate(file->fd, (off_t)size) == 0,
               "cannot write the file");
}

/* The bytes as a gzip file, by the least work; returns its size. */
static inline size_t fuzz_pack(const fuzz_bytes *b, uint8_t *out, size_t room) {
    z_stream z = {.next_in = (Bytef *)(uintptr_t)b->at,
                  .avail_in = (uInt)b->left,
                  .next_out = out,
                  .avail_out = (uInt)room};
    FUZZ_CHECK(deflateInit2(&z, 1, Z_DEFLATED, 9 + 16, 1, Z_FIXED) == Z_OK &&
                   deflate(&z, Z_FINISH) == Z_STREAM_END,
               "deflate");
    deflateEnd(&z);
    return z.total_out;
}

/* A name for an output file, the same each time, in the folder TMPDIR or /tmp. */
static inline const char *fuzz_output(void) {
    static char path[512];
    const char *folder = getenv("TMPDIR");
    if (path[0] == '\0')
        snprintf(path, sizeof path, "%s/rlar-fuzz-%ld", folder ? folder : "/tmp", (long)getpid());
    return path;
}

/* ---- The command line ---- */

/* Messages and results of the command go nowhere. Not by descriptor: libFuzzer has its own. */
static inline void fuzz_quiet(void) {
    stderr = fopen("/dev/null", "w");
    FUZZ_CHECK(stderr != NULL, "cannot open /dev/null");
    setvbuf(stderr, NULL, _IOFBF, 1 << 16);
}

#endif
