/* ctx.c - the context: who may use how much memory and how many threads, and whom to tell. */
#include "core/core.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double rlar__now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int default_threads(void) {
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > RLAR_THREADS_MAX ? RLAR_THREADS_MAX : (int)n;
}

/* Copy an open struct that the caller's version of rlar.h may have made shorter or longer. */
static rlar_ctx_options options_of(const rlar_ctx_options *given) {
    rlar_ctx_options o = {0};
    if (given)
        memcpy(&o, given, given->size < sizeof o ? given->size : sizeof o);
    return o;
}

rlar_status rlar_ctx_new(const rlar_ctx_options *options, rlar_ctx **out) {
    if (!out || (options && options->size < sizeof options->size))
        return RLAR_E_ARG;
    const rlar_ctx_options o = options_of(options);
    if (o.threads < 0 || o.threads > RLAR_THREADS_MAX || o.max_memory < 0 || !o.alloc != !o.release)
        return RLAR_E_ARG;
    rlar_memory first = {.alloc = o.alloc, .release = o.release, .user = o.alloc_user};
    /* The context itself comes from the caller's allocator too, but is not part of its own account.
     */
    rlar_ctx *ctx = first.alloc ? first.alloc(first.user, sizeof *ctx) : malloc(sizeof *ctx);
    if (!ctx)
        return RLAR_E_NOMEM;
    memset(ctx, 0, sizeof *ctx);
    ctx->threads = o.threads ? o.threads : default_threads();
    ctx->progress = o.progress;
    ctx->log = o.log;
    ctx->user = o.user;
    ctx->own_memory.alloc = o.alloc;
    ctx->own_memory.release = o.release;
    ctx->own_memory.user = o.alloc_user;
    ctx->own_memory.limit = o.max_memory;
    ctx->memory = &ctx->own_memory;
    ctx->cancel = &ctx->own_cancel;
    ctx->traffic = &ctx->own_traffic;
    *out = ctx;
    return RLAR_OK;
}

void rlar_ctx_rest(rlar_ctx *ctx) {
    rlar__pool_free(ctx->pool);
    ctx->pool = NULL;
}

void rlar_ctx_free(rlar_ctx *ctx) {
    if (!ctx)
        return;
    rlar_ctx_rest(ctx);
    if (ctx->own_memory.release)
        ctx->own_memory.release(ctx->own_memory.user, ctx);
    else
        free(ctx);
}

const char *rlar_ctx_error(const rlar_ctx *ctx) {
    return ctx ? ctx->error : "no context";
}

int rlar_ctx_threads(const rlar_ctx *ctx) {
    return ctx->threads;
}

int64_t rlar_ctx_memory(const rlar_ctx *ctx) {
    return atomic_load(&ctx->memory->used);
}

int64_t rlar_ctx_memory_peak(const rlar_ctx *ctx) {
    return atomic_load(&ctx->memory->peak);
}

rlar_status rlar_ctx_reserve(rlar_ctx *ctx, int64_t bytes, const char *what) {
    if (!ctx)
        return RLAR_E_ARG;
    rlar__begin(ctx);
    if (bytes < 0 || !what)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_ctx_reserve: %s",
                          what ? "a size from 0 on is needed" : "what is it for?");
    if (bytes > INT64_MAX / 2 - ctx->reserved)
        return rlar__fail(ctx, RLAR_E_TOO_LARGE, "%s: %lld bytes do not fit the address space",
                          what, (long long)bytes);
    RLAR_TRY(rlar__reserve(ctx, (size_t)bytes, what));
    ctx->reserved += bytes;
    return RLAR_OK;
}

void rlar_ctx_give_back(rlar_ctx *ctx, int64_t bytes) {
    const int64_t back = bytes < ctx->reserved ? bytes : ctx->reserved;
    if (back <= 0)
        return;
    rlar__give_back(ctx->memory, (size_t)back);
    ctx->reserved -= back;
}

void rlar__ctx_child(rlar_ctx *parent, bool on_caller, rlar_ctx *child) {
    memset(child, 0, sizeof *child);
    child->threads = 1;
    child->child = true;
    child->blas_room = parent->blas_room;
    child->progress = on_caller ? parent->progress : NULL;
    child->user = parent->user;
    child->memory = parent->memory;
    child->cancel = parent->cancel;
    child->team = on_caller ? parent->team : NULL;
    child->traffic = parent->traffic;
}

void rlar__ctx_child_end(rlar_ctx *child) {
    rlar__pool_free(child->pool);
    child->pool = NULL;
}

static rlar_status cancelled(rlar_ctx *ctx) {
    return rlar__fail(ctx, RLAR_E_CANCELLED, "cancelled on request");
}

/* Call back, and remember an answer that asks to stop. */
static rlar_status call_back(rlar_ctx *ctx, const rlar_event *event) {
    ctx->next_poll = rlar__now() + RLAR_POLL_SECONDS;
    if (ctx->progress(ctx->user, event) != 0) {
        atomic_store(ctx->cancel, 1);
        return cancelled(ctx);
    }
    return RLAR_OK;
}

rlar_status rlar__poll(rlar_ctx *ctx) {
    if (atomic_load_explicit(ctx->cancel, memory_order_relaxed))
        return cancelled(ctx);
    if (!ctx->progress || rlar__now() < ctx->next_poll)
        return RLAR_OK;
    const rlar_event event = {.size = sizeof event, .kind = RLAR_EVENT_POLL};
    return call_back(ctx, &event);
}

rlar_status rlar__interrupted(rlar_ctx *ctx) {
    ctx->next_poll = 0;
    return rlar__poll(ctx);
}

rlar_status rlar__tell(rlar_ctx *ctx, const rlar_event *event) {
    return ctx->progress ? call_back(ctx, event) : rlar__poll(ctx);
}

rlar_status rlar__report(rlar_ctx *ctx, rlar_event_kind kind, int64_t done, int64_t total,
                         const rlar_info *info) {
    if (!ctx->progress || (ctx->child && kind == RLAR_EVENT_ITERATION))
        return rlar__poll(ctx);
    const rlar_event event = {
        .size = sizeof event, .kind = kind, .done = done, .total = total, .info = info};
    return call_back(ctx, &event);
}

rlar_status rlar__options_take(rlar_ctx *ctx, const char *name, const void *given, void *own,
                               size_t own_size) {
    size_t size = own_size;
    if (given)
        memcpy(&size, given, sizeof size);
    if (size < sizeof size)
        return rlar__fail(ctx, RLAR_E_ARG, "%s: size is %zu; set it to sizeof(%s)", name, size,
                          name);
    if (given)
        memcpy(own, given, size < own_size ? size : own_size);
    return RLAR_OK;
}

void rlar__begin(rlar_ctx *ctx) {
    if (ctx->child)
        return; /* a cancelled parent stays cancelled */
    atomic_store(ctx->cancel, 0);
    ctx->error[0] = '\0';
}
