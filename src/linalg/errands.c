/* errands.c - the steps in which ranks fetch samples from each other (errands.h). */
#include "linalg/errands.h"

#include <stdlib.h>
#include <string.h>

#include "dist/team.h"
#include "linalg/cost.h"

enum { PACKED = 64 }; /* samples of a message */

void rlar__errands_carve(rlar_workspace *ws, const rlar_blocks *blocks, int64_t d,
                         rlar_errands *out) {
    rlar_divided split[2];
    size_t sample = 0;
    if (!rlar__size_mul((size_t)d, sizeof(double), &sample))
        ws->overflow = true;
    *out = (rlar_errands){.blocks = blocks, .d = d};
    if (rlar__divided(blocks, split) == 0)
        return;
    out->slot = rlar__carve_around(ws, blocks, blocks->n, sizeof *out->slot);
    out->wanted = rlar__carve(ws, RLAR_FETCHED, sizeof *out->wanted);
    out->room = rlar__carve(ws, RLAR_FETCHED, sample);
    out->pack = rlar__carve(ws, PACKED, sample);
    out->closed = rlar__carve(ws, blocks->holders, sizeof *out->closed);
    out->open = true;
}

void rlar__errands_begin(rlar_errands *e, const double *x) {
    if (!e->open)
        return;
    const int64_t before = rlar__divided_before(e->blocks);
    const int64_t all = before + e->blocks->n + rlar__divided_behind(e->blocks);
    e->x = x;
    memset(e->slot - before, 0xff, (size_t)all * sizeof *e->slot);
    memset(e->closed, 0, (size_t)e->blocks->holders * sizeof *e->closed);
}

static bool is_here(const rlar_errands *e, int64_t m) {
    return m >= 0 && m < e->blocks->n;
}

void rlar__errands_want(rlar_errands *e, int64_t m) {
    if (is_here(e, m) || e->slot[m] >= 0)
        return;
    e->slot[m] = (int32_t)e->count;
    e->wanted[e->count++] = (int32_t)m;
}

const double *rlar__errands_at(const rlar_errands *e, int64_t m) {
    return is_here(e, m) ? e->x + m * e->d : e->room + e->slot[m] * e->d;
}

void rlar__errands_forget(rlar_errands *e) {
    for (int64_t i = 0; i < e->count; i++)
        e->slot[e->wanted[i]] = -1;
    e->count = 0;
}

/* ---- One step ---- */

typedef struct order {
    int64_t count, more;
    int32_t row[RLAR_FETCHED]; /* counted from the first sample of the rank that is asked */
} order;

_Static_assert(offsetof(order, row) == RLAR_ORDER_BYTES, "what the forecast counts");

/* One step of all ranks. */
typedef struct turn {
    rlar_errands *e;
    bool more;
    order asked, own;
} turn;

/* Who is wanted from that rank, ascending in its samples as in ours: `first` of all wanted. */
static int64_t write_order(const rlar_errands *e, int other, bool more, order *own) {
    const int64_t from = e->blocks->cut[other] - e->blocks->start;
    const int64_t to = e->blocks->cut[other + 1] - e->blocks->start;
    int64_t first = 0;
    while (first < e->count && e->wanted[first] < from)
        first++;
    own->count = 0;
    own->more = more;
    for (int64_t i = first; i < e->count && e->wanted[i] < to; i++)
        own->row[own->count++] = (int32_t)(e->wanted[i] - from);
    return first;
}

static rlar_status send_order(rlar_ctx *ctx, int other, const order *o) {
    RLAR_TRY(rlar__team_send(ctx, other, o, offsetof(order, row)));
    return rlar__team_send(ctx, other, o->row, (size_t)o->count * sizeof *o->row);
}

static rlar_status receive_order(rlar_ctx *ctx, const rlar_errands *e, int other, order *o) {
    RLAR_TRY(rlar__team_receive(ctx, other, o, offsetof(order, row)));
    if (o->count < 0 || o->count > RLAR_FETCHED)
        return rlar__fail(ctx, RLAR_E_INTERNAL, "rank %d asks for %lld samples, at most %d fit",
                          other, (long long)o->count, RLAR_FETCHED);
    RLAR_TRY(rlar__team_receive(ctx, other, o->row, (size_t)o->count * sizeof *o->row));
    for (int64_t i = 0; i < o->count; i++)
        if (o->row[i] < 0 || o->row[i] >= e->blocks->n)
            return rlar__fail(ctx, RLAR_E_INTERNAL, "rank %d asks for sample %d of %lld", other,
                              (int)o->row[i], (long long)e->blocks->n);
    return RLAR_OK;
}

static size_t packed(const rlar_errands *e, int64_t left) {
    return (size_t)((left < PACKED ? left : PACKED) * e->d) * sizeof(double);
}

static rlar_status send_samples(rlar_ctx *ctx, const rlar_errands *e, int other, const order *o) {
    for (int64_t i = 0; i < o->count; i += PACKED) {
        for (int64_t k = i; k < o->count && k < i + PACKED; k++)
            memcpy(e->pack + (k - i) * e->d, e->x + o->row[k] * e->d,
                   (size_t)e->d * sizeof *e->pack);
        RLAR_TRY(rlar__team_send(ctx, other, e->pack, packed(e, o->count - i)));
    }
    return RLAR_OK;
}

static rlar_status receive_samples(rlar_ctx *ctx, const rlar_errands *e, int other, int64_t first,
                                   int64_t count) {
    for (int64_t i = 0; i < count; i += PACKED)
        RLAR_TRY(
            rlar__team_receive(ctx, other, e->room + (first + i) * e->d, packed(e, count - i)));
    return RLAR_OK;
}

static rlar_status serve(rlar_ctx *ctx, void *arg, int other, bool speak) {
    turn *r = arg;
    rlar_errands *e = r->e;
    if (e->closed[other])
        return RLAR_OK;
    const int64_t first = write_order(e, other, r->more, &r->own);
    if (speak)
        RLAR_TRY(send_order(ctx, other, &r->own));
    RLAR_TRY(receive_order(ctx, e, other, &r->asked));
    if (!speak)
        RLAR_TRY(send_order(ctx, other, &r->own));
    if (speak)
        RLAR_TRY(send_samples(ctx, e, other, &r->asked));
    RLAR_TRY(receive_samples(ctx, e, other, first, r->own.count));
    if (!speak)
        RLAR_TRY(send_samples(ctx, e, other, &r->asked));
    e->closed[other] = !r->own.more && !r->asked.more;
    return RLAR_OK;
}

static int ascending(const void *a, const void *b) {
    const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

static rlar_status step(rlar_ctx *ctx, rlar_errands *e, bool more) {
    turn r = {.e = e, .more = more};
    qsort(e->wanted, (size_t)e->count, sizeof *e->wanted, ascending);
    for (int64_t i = 0; i < e->count; i++)
        e->slot[e->wanted[i]] = (int32_t)i;
    return rlar__divided_trade(ctx, e->blocks, serve, &r);
}

rlar_status rlar__errands_fetch(rlar_ctx *ctx, rlar_errands *e) {
    return e->open ? step(ctx, e, true) : RLAR_OK;
}

/* Is there a rank that may still ask? */
static bool waited_for(const rlar_ctx *ctx, const rlar_errands *e) {
    for (int r = 0; r < e->blocks->holders; r++)
        if (r != rlar__team_rank(ctx) && !e->closed[r] && rlar__divided_mate(e->blocks, r))
            return true;
    return false;
}

rlar_status rlar__errands_end(rlar_ctx *ctx, rlar_errands *e) {
    while (e->open && waited_for(ctx, e))
        RLAR_TRY(step(ctx, e, false));
    return RLAR_OK;
}
