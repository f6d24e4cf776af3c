/* workspace.c - one buffer per fit, carved into aligned pieces.
 *
 * The list of pieces is walked twice: once to measure, once to carve. So the memory forecast and
 * the real need cannot drift apart. Under AddressSanitizer a poisoned gap follows every piece. */
#include "core/core.h"
#include "core/sanitize.h"

#include <sys/mman.h>

enum {
    PIECE = 64,
    GAP = 64,
    LARGE_PAGE = 2 << 20,
    FEWEST = 2, /* large pages that are worth asking for, and the most: the first touch of very */
    MOST = 128  /* much memory costs more with them (docs/decisions.md 25) */
};

void *rlar__carve(rlar_workspace *ws, int64_t count, size_t size) {
    size_t bytes = 0, end = 0;
    if (count < 0 || !rlar__size_mul((size_t)count, size, &bytes) ||
        !rlar__size_add(bytes, PIECE - 1 + GAP, &end) ||
        !rlar__size_add(ws->used, end / PIECE * PIECE, &end)) {
        ws->overflow = true;
        return NULL;
    }
    char *piece = ws->base ? ws->base + ws->used : NULL;
    if (piece)
        RLAR_OFF_LIMITS(piece + bytes, end - ws->used - bytes);
    ws->used = end;
    return piece;
}

/* Ask for large pages: products read columns that lie a page or more apart, and an iteration
 * touches more small pages than the processor keeps translations for. It is a hint; what it answers
 * does not matter. */
static void ask_for_large_pages(const rlar_workspace *ws) {
#ifdef MADV_HUGEPAGE
    const size_t skip = (LARGE_PAGE - (uintptr_t)ws->base % LARGE_PAGE) % LARGE_PAGE;
    if (ws->size / LARGE_PAGE >= FEWEST && ws->size / LARGE_PAGE <= MOST)
        (void)madvise(ws->base + skip, (ws->size - skip) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
#else
    (void)ws;
#endif
}

rlar_status rlar__workspace_take(rlar_ctx *ctx, rlar_workspace *ws, const char *what) {
    if (ws->overflow)
        return rlar__fail(ctx, RLAR_E_TOO_LARGE,
                          "%s: the workspace does not fit the address space; use less data", what);
    ws->size = ws->used;
    ws->used = 0;
    RLAR_TRY(rlar__alloc(ctx, (int64_t)ws->size, 1, what, &ws->base));
    ask_for_large_pages(ws);
    return RLAR_OK;
}

void rlar__workspace_again(rlar_workspace *ws) {
    if (ws->base)
        RLAR_IN_REACH(ws->base, ws->size);
    ws->used = 0;
}

void rlar__workspace_free(rlar_workspace *ws) {
    rlar__workspace_again(ws);
    rlar__free(ws->base);
    *ws = (rlar_workspace){0};
}
