/* core.h - what every other folder stands on: status texts, the context, memory, threads, random
 * numbers, output files. Depends on nothing but rlar.h and the C library. */
#ifndef RLAR_CORE_H
#define RLAR_CORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rlar.h"

#if defined(__GNUC__)
#define RLAR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define RLAR_PRINTF(fmt, args)
#endif

/* ---- Errors (status.c) ---- */

/* Store the text in the context and return the code: `return rlar__fail(ctx, RLAR_E_DATA, "...");`
 * The text says where, what, value, limit and what to do, in one line. ctx may be NULL. */
rlar_status rlar__fail(rlar_ctx *ctx, rlar_status code, const char *format, ...) RLAR_PRINTF(3, 4);
/* Put "prefix: " before the text of the last error and return `code` unchanged. */
rlar_status rlar__fail_in(rlar_ctx *ctx, rlar_status code, const char *prefix);
/* For a caller to whom a failure below is only a finding: no text is left behind of an error that
 * nobody was told of. Returns RLAR_OK: `if (status == RLAR_E_DATA) status = rlar__forgive(ctx);` */
rlar_status rlar__forgive(rlar_ctx *ctx);
/* A warning or note, through the log callback. */
void rlar__log(rlar_ctx *ctx, rlar_status code, const char *format, ...) RLAR_PRINTF(3, 4);

/* Leave the function on an error; warnings go on. For functions that own nothing. */
#define RLAR_TRY(expr)                                                                             \
    do {                                                                                           \
        const rlar_status try_status_ = (expr);                                                    \
        if (try_status_ < 0)                                                                       \
            return try_status_;                                                                    \
    } while (0)

/* ---- The context (ctx.c) ---- */

/* Memory is accounted for a context and all its children together. */
typedef struct rlar_memory {
    void *(*alloc)(void *, size_t);
    void (*release)(void *, void *);
    void *user;
    int64_t limit; /* 0: none */
    _Atomic int64_t used, peak;
} rlar_memory;

/* Bytes of messages between ranks, of a context and its children together: a team is used by one
 * thread. */
typedef struct rlar_traffic {
    int64_t sent, received;
} rlar_traffic;

typedef struct rlar_pool rlar_pool;

enum { RLAR_ERROR_SIZE = 1024 };

struct rlar_ctx {
    char error[RLAR_ERROR_SIZE]; /* fixed, so that it works when memory is gone */
    int threads;
    rlar_progress_fn progress; /* NULL in a child that does not run on the calling thread */
    rlar_log_fn log;
    void *user;
    rlar_memory *memory;   /* own_memory, or the parent's */
    atomic_int *cancel;    /* own_cancel, or the parent's: set once, seen by all */
    bool child;            /* made by rlar__ctx_child */
    bool blas_room;        /* there was room for the buffers of the BLAS */
    bool blas_warned;      /* a slow BLAS is mentioned once */
    int64_t reserved;      /* by the caller, for memory of its own */
    double next_poll;      /* rlar__now() before which rlar__poll() does not call back */
    rlar_pool *pool;       /* made when first needed */
    const rlar_team *team; /* the ranks that share its fits; NULL: alone */
    rlar_traffic *traffic; /* own_traffic, or the parent's */
    rlar_memory own_memory;
    rlar_traffic own_traffic;
    atomic_int own_cancel;
};

/* A context for a task on another thread (or, with on_caller, on this one): one thread, the
 * parent's memory and cancellation. It does not report iterations. Ended by rlar__ctx_child_end().
 */
void rlar__ctx_child(rlar_ctx *parent, bool on_caller, rlar_ctx *child);
void rlar__ctx_child_end(rlar_ctx *child);

/* Every public call that takes a context starts with it: no old error, no old cancellation. */
void rlar__begin(rlar_ctx *ctx);
/* The options of a caller, who may know fewer of them or more, over the defaults in `own`, a struct
 * of the type `name`. They begin with their size; given may be NULL. */
rlar_status rlar__options_take(rlar_ctx *ctx, const char *name, const void *given, void *own,
                               size_t own_size);

/* Callbacks that only ask "go on?" come at most this often: a tenth of what a person notices. */
#define RLAR_POLL_SECONDS 0.05

/* RLAR_E_CANCELLED when someone asked to stop, else RLAR_OK. Cheap: call it in every long loop. */
rlar_status rlar__poll(rlar_ctx *ctx);
/* The same after a system call that a signal has interrupted, which may be the wish to stop: asks
 * at once, however short ago the last callback was. */
rlar_status rlar__interrupted(rlar_ctx *ctx);
/* Report an event through the progress callback. */
rlar_status rlar__report(rlar_ctx *ctx, rlar_event_kind kind, int64_t done, int64_t total,
                         const rlar_info *info);
rlar_status rlar__tell(rlar_ctx *ctx, const rlar_event *event);
/* Seconds on a monotonic clock. */
double rlar__now(void);

/* ---- Memory (alloc.c): the only callers of malloc ---- */

/* a * b or a + b; false when the result does not fit. */
bool rlar__size_mul(size_t a, size_t b, size_t *out);
bool rlar__size_add(size_t a, size_t b, size_t *out);

static inline int64_t rlar__min64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t rlar__max64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* A forecast as a whole number. What no address space holds becomes so many bytes, of which several
 * can be added up: a number that does not fit the integer it becomes is undefined. */
#define RLAR_BYTES_BEYOND ((int64_t)1 << 60)

static inline int64_t rlar__whole_bytes(double bytes) {
    return bytes < (double)RLAR_BYTES_BEYOND ? (int64_t)bytes : RLAR_BYTES_BEYOND;
}

/* count * size bytes, 64-byte aligned, not zeroed; *out is NULL when count is 0. On failure *out is
 * NULL and the text names `what` and the bytes asked for. */
rlar_status rlar__alloc(rlar_ctx *ctx, int64_t count, size_t size, const char *what, void *out);
/* The same, zeroed. */
rlar_status rlar__calloc(rlar_ctx *ctx, int64_t count, size_t size, const char *what, void *out);
/* Some bytes of a block that has never been written are going to be: ask the system for their pages
 * at once, which is cheaper than one by one as they are touched. */
void rlar__first_touch(void *memory, size_t bytes);
/* rlar__free(), and the pages of a large block go back to the system at once: an allocator may keep
 * those of a block that is not its last. */
void rlar__free_pages(void *memory);
/* Grow *array (of *capacity elements) so that it holds at least `need`: to twice what it holds, or
 * to `need` where that is more, so that a first size that is known costs no more than itself. */
rlar_status rlar__grow(rlar_ctx *ctx, void *array, int64_t *capacity, int64_t need, size_t size,
                       const char *what);
/* Give *array (of *capacity elements) `larger` elements, no more: for a size that is known. */
rlar_status rlar__resize(rlar_ctx *ctx, void *array, int64_t *capacity, int64_t larger, size_t size,
                         const char *what);
/* Every block knows its rlar_memory, so releasing needs no context. NULL is legal. */
void rlar__free(void *memory);
rlar_status rlar__strdup(rlar_ctx *ctx, const char *text, char **out);
/* Bytes that a library below is going to take from the system by itself count against the limit,
 * too, until they are given back. */
rlar_status rlar__reserve(rlar_ctx *ctx, size_t bytes, const char *what);
void rlar__give_back(rlar_memory *memory, size_t bytes);

/* A list of texts in one growing buffer. Zero-initialise; free with rlar__texts_free. */
typedef struct rlar_texts {
    char *bytes;    /* NUL-terminated texts one after another */
    int64_t *start; /* offset of each */
    int64_t count;
    int64_t used, bytes_capacity, start_capacity;
} rlar_texts;

rlar_status rlar__texts_add(rlar_ctx *ctx, rlar_texts *texts, const char *text, size_t length);
rlar_status rlar__texts_copy(rlar_ctx *ctx, const rlar_texts *from, rlar_texts *to);
const char *rlar__texts_at(const rlar_texts *texts, int64_t index); /* NULL when out of range */
void rlar__texts_free(rlar_texts *texts);

/* Bytes of the UTF-8 character that starts text[0..left), left > 0; 0 when it is none (overlong, a
 * surrogate, beyond U+10FFFF, cut off). */
size_t rlar__utf8_length(const char *text, size_t left);
/* A name that can be shown on a line and stored in a model is UTF-8 without control characters.
 * What is wrong with this one ("is not UTF-8 ..."), or NULL. */
const char *rlar__name_fault(const char *text, size_t length);

/* ---- One workspace per fit (workspace.c) ---- */

/* Two passes over the same list of pieces: the first (base NULL) measures, the second carves. Each
 * piece is 64-byte aligned and, under AddressSanitizer, followed by a poisoned gap. */
typedef struct rlar_workspace {
    char *base;
    size_t used, size;
    bool overflow;
} rlar_workspace;

/* NULL while measuring. */
void *rlar__carve(rlar_workspace *ws, int64_t count, size_t size);
/* Take the measured bytes and start the second pass. */
rlar_status rlar__workspace_take(rlar_ctx *ctx, rlar_workspace *ws, const char *what);
/* Start another pass over what was taken, for a problem that is no larger. */
void rlar__workspace_again(rlar_workspace *ws);
void rlar__workspace_free(rlar_workspace *ws);

/* ---- Threads (pool.c) ---- */

/* Run task(arg, 0..count-1), each once, in any order, on the context's threads. Tasks write
 * disjoint outputs, so the result does not depend on the number of threads. Stops early when
 * cancelled (RLAR_E_CANCELLED; some tasks did not run) or when a task answers an error: the error
 * of the lowest index that ran is returned. */
typedef rlar_status (*rlar_task)(void *arg, int64_t index);
rlar_status rlar__parallel(rlar_ctx *ctx, int64_t count, rlar_task task, void *arg);
/* The same for task(arg, start, end) over 0..count-1 cut into ranges of `width` (the last may be
 * shorter): for work that is too little to be a task of its own. */
typedef rlar_status (*rlar_range_task)(void *arg, int64_t start, int64_t end);
rlar_status rlar__parallel_ranges(rlar_ctx *ctx, int64_t count, int64_t width, rlar_range_task task,
                                  void *arg);
/* The same as rlar__parallel for tasks that want a context of their own (memory, errors): see
 * rlar__ctx_child. */
typedef rlar_status (*rlar_ctx_task)(rlar_ctx *child, void *arg, int64_t index);
rlar_status rlar__parallel_ctx(rlar_ctx *ctx, int64_t count, rlar_ctx_task task, void *arg);
void rlar__pool_free(rlar_pool *pool);

/* ---- Random numbers (rng.c): counter-based, so any draw can be had alone ---- */

typedef struct rlar_rng {
    uint64_t state;
} rlar_rng;
/* Mix the words into a seed (splitmix64 over the concatenation). */
rlar_rng rlar__rng_seed(const uint64_t *words, int count);
uint64_t rlar__rng_next(rlar_rng *rng);
/* Uniform on 0..bound-1 by rejection, no modulo bias; bound > 0. */
uint64_t rlar__rng_below(rlar_rng *rng, uint64_t bound);
/* Every order is as likely as any other. */
void rlar__rng_shuffle(rlar_rng *rng, int64_t *items, int64_t count);

/* ---- Numbers as text (number.c, format.c): the only reader and writer; no locale ---- */

/* Read one decimal number that fills text[0..length) (blanks around it allowed; inf and nan are not
 * numbers here). Correctly rounded. False: not a number, or larger than the largest double. */
bool rlar__parse_double(const char *text, size_t length, double *out);
/* The number that text[0..end) begins with, without blanks before it; returns where it ends. NULL:
 * there is none, or it is larger than the largest double. */
const char *rlar__read_double(const char *text, const char *end, double *out);
/* The same, sooner, of a number of at most seven digits and point, perhaps with a minus before it
 * and without an exponent; NULL where it is not such a one, or stands within the last eight bytes
 * of the text. */
const char *rlar__read_short(const char *text, const char *end, double *out);
/* The same grammar, whatever the size: true for "1e999", which rlar__parse_double refuses. */
bool rlar__is_number(const char *text, size_t length);
bool rlar__parse_int64(const char *text, size_t length, int64_t *out);
/* Shortest text that reads back exactly ("0.1", "1e-08", "3"); returns its length. */
enum { RLAR_NUMBER_SIZE = 32 };
int rlar__format_double(double value, char buf[RLAR_NUMBER_SIZE]);

/* ---- Files (file.c): see also rlar_file_* in rlar.h ---- */

/* open() with O_CLOEXEC that goes on after an interruption. *fd is -1, with errno, where the system
 * refuses; the status is an error only when someone asked to stop. */
rlar_status rlar__open(rlar_ctx *ctx, const char *path, int flags, int *fd);
/* rlar_file_create() within another call, which may have been cancelled before. */
rlar_status rlar__file_create(rlar_ctx *ctx, const char *path, rlar_file **out);
/* CRC-64/XZ (crc64.c), to be continued: start with crc 0. */
uint64_t rlar__crc64(uint64_t crc, const void *bytes, size_t size);

#endif
