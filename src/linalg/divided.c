/* divided.c - what ranks tell each other of the classes that they share (divided.h).
 *
 * What one rank has for all others of a class goes along a chain, from each to the next, in pieces:
 * every rank sends it once, and pieces follow each other. Between two ranks the lower one speaks
 * first. So nobody needs a buffer below. */
#include "linalg/divided.h"

#include <string.h>

#include "dist/team.h"

enum { PIECE = 1 << 20 }; /* bytes of a message along the chain */

/* ---- Which classes ---- */

static bool known(const rlar_blocks *blocks) {
    return blocks && blocks->cut && blocks->n > 0;
}

int rlar__divided_owner(const rlar_blocks *blocks, int64_t m) {
    return (int)rlar__class_of(blocks->cut, blocks->holders, blocks->start + m);
}

/* Is class k on more than one rank? */
static bool is_cut(const rlar_blocks *blocks, int64_t k) {
    return rlar__divided_owner(blocks, blocks->first[k] - blocks->start) <
           rlar__divided_owner(blocks, blocks->first[k + 1] - 1 - blocks->start);
}

/* The class of sample m, empty ones left out. */
static int64_t class_at(const rlar_blocks *blocks, int64_t m) {
    return rlar__class_of(blocks->first, blocks->c, blocks->start + m);
}

static rlar_divided split_of(const rlar_blocks *blocks, int64_t k) {
    rlar_divided s = {.from = blocks->first[k] - blocks->start,
                      .to = blocks->first[k + 1] - blocks->start,
                      .number = k};
    s.begin = rlar__max64(s.from, 0);
    s.end = rlar__min64(s.to, blocks->n);
    s.low = rlar__divided_owner(blocks, s.from);
    s.high = rlar__divided_owner(blocks, s.to - 1);
    return s;
}

/* How many classes before class k are cut? A rank begins within each. */
static int64_t cut_before(const rlar_blocks *blocks, int64_t k) {
    int64_t count = 0, last = -1;
    for (int r = 1; r < blocks->holders; r++) {
        if (blocks->cut[r] >= blocks->first[k])
            break;
        const int64_t i = rlar__class_of(blocks->first, blocks->c, blocks->cut[r]);
        count += i != last && blocks->first[i] < blocks->cut[r];
        last = blocks->first[i] < blocks->cut[r] ? i : last;
    }
    return count;
}

int rlar__divided(const rlar_blocks *blocks, rlar_divided out[2]) {
    int count = 0;
    if (!known(blocks))
        return 0;
    const int64_t one = class_at(blocks, 0), two = class_at(blocks, blocks->n - 1);
    if (is_cut(blocks, one))
        out[count++] = split_of(blocks, one);
    if (two != one && is_cut(blocks, two))
        out[count++] = split_of(blocks, two);
    if (count == 2 && cut_before(blocks, one) % 2 == 1) {
        const rlar_divided swap = out[0];
        out[0] = out[1];
        out[1] = swap;
    }
    return count;
}

int64_t rlar__divided_before(const rlar_blocks *blocks) {
    return known(blocks) ? blocks->start - blocks->first[class_at(blocks, 0)] : 0;
}

int64_t rlar__divided_behind(const rlar_blocks *blocks) {
    if (!known(blocks))
        return 0;
    return blocks->first[class_at(blocks, blocks->n - 1) + 1] - blocks->start - blocks->n;
}

void *rlar__carve_around(rlar_workspace *ws, const rlar_blocks *blocks, int64_t n, size_t size) {
    const int64_t before = rlar__divided_before(blocks);
    char *room = rlar__carve(ws, before + n + rlar__divided_behind(blocks), size);
    return room ? room + (size_t)before * size : NULL;
}

void rlar__zero_around(const rlar_blocks *blocks, int64_t n, size_t size, void *at) {
    const int64_t before = rlar__divided_before(blocks);
    memset((char *)at - (size_t)before * size, 0,
           (size_t)(before + n + rlar__divided_behind(blocks)) * size);
}

/* ---- Along the chain ---- */

/* What of the class lies on rank r. */
static void part_of(const rlar_blocks *blocks, const rlar_divided *s, int r, int64_t *from,
                    int64_t *to) {
    *from = rlar__max64(blocks->cut[r] - blocks->start, s->from);
    *to = rlar__min64(blocks->cut[r + 1] - blocks->start, s->to);
}

/* The next rank behind r that holds some of the class (step 1), or before it (-1); in a ring. */
static int next_holder(const rlar_blocks *blocks, const rlar_divided *s, int r, int step) {
    int64_t from, to;
    do {
        r = r + step > s->high ? s->low : r + step < s->low ? s->high : r + step;
        part_of(blocks, s, r, &from, &to);
    } while (from >= to);
    return r;
}

rlar_status rlar__divided_spread(rlar_ctx *ctx, const rlar_blocks *blocks,
                                 const rlar_divided *split, int owner, void *bytes, size_t size) {
    const int rank = rlar__team_rank(ctx), next = next_holder(blocks, split, rank, 1);
    const int previous = next_holder(blocks, split, rank, -1);
    for (size_t done = 0, count; done < size; done += count) {
        char *piece = (char *)bytes + done;
        count = size - done < PIECE ? size - done : PIECE;
        if (rank != owner)
            RLAR_TRY(rlar__team_receive(ctx, previous, piece, count));
        if (next != owner)
            RLAR_TRY(rlar__team_send(ctx, next, piece, count));
    }
    return RLAR_OK;
}

rlar_status rlar__divided_gather_one(rlar_ctx *ctx, const rlar_blocks *blocks,
                                     const rlar_divided *split, size_t size, void *first) {
    for (int r = split->low; r <= split->high; r++) {
        int64_t from, to;
        part_of(blocks, split, r, &from, &to);
        if (from < to)
            RLAR_TRY(rlar__divided_spread(ctx, blocks, split, r,
                                          (char *)first + from * (int64_t)size,
                                          (size_t)(to - from) * size));
    }
    return RLAR_OK;
}

rlar_status rlar__divided_gather(rlar_ctx *ctx, const rlar_blocks *blocks, size_t size,
                                 void *first) {
    rlar_divided split[2];
    const int count = rlar__divided(blocks, split);
    for (int i = 0; i < count; i++)
        RLAR_TRY(rlar__divided_gather_one(ctx, blocks, &split[i], size, first));
    return RLAR_OK;
}

/* ---- Visits ---- */

typedef struct passing {
    int64_t p;
    const double *z;
    double *room;
    rlar_visit_fn visit;
    void *arg;
} passing;

/* The samples from .. to-1 of rank r, some at a time. */
static rlar_status pass_part(rlar_ctx *ctx, const rlar_blocks *blocks, const rlar_divided *split,
                             int r, const passing *q) {
    int64_t from, end;
    part_of(blocks, split, r, &from, &end);
    for (int64_t to; from < end; from = to) {
        to = rlar__min64(from + RLAR_VISITORS, end);
        const size_t bytes = (size_t)((to - from) * q->p) * sizeof *q->z;
        if (r == rlar__team_rank(ctx))
            memcpy(q->room, q->z + from * q->p, bytes);
        RLAR_TRY(rlar__divided_spread(ctx, blocks, split, r, q->room, bytes));
        const rlar_visit visit = {split->begin, split->end, from, to, q->room};
        RLAR_TRY(q->visit(ctx, q->arg, &visit));
    }
    return RLAR_OK;
}

rlar_status rlar__divided_pass(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t n, int64_t p,
                               const double *z, double *room, rlar_visit_fn visit, void *arg) {
    const passing q = {.p = p, .z = z, .room = room, .visit = visit, .arg = arg};
    rlar_divided split[2];
    const int count = rlar__divided(blocks, split);
    int64_t from = 0, to = n;
    for (int i = 0; i < count; i++) {
        for (int r = split[i].low; r <= split[i].high; r++)
            RLAR_TRY(pass_part(ctx, blocks, &split[i], r, &q));
        if (split[i].begin == 0)
            from = split[i].end;
        else
            to = split[i].begin;
    }
    const rlar_visit rest = {from, to, from, to, z + from * p};
    return from < to ? visit(ctx, arg, &rest) : RLAR_OK;
}

/* ---- Between two ranks ---- */

rlar_status rlar__divided_send(rlar_ctx *ctx, int to, const void *bytes, size_t size) {
    return rlar__team_send(ctx, to, bytes, size);
}

rlar_status rlar__divided_receive(rlar_ctx *ctx, int from, void *bytes, size_t size) {
    return rlar__team_receive(ctx, from, bytes, size);
}

bool rlar__divided_mate(const rlar_blocks *blocks, int other) {
    rlar_divided split[2];
    const int count = rlar__divided(blocks, split);
    for (int i = 0; i < count; i++) {
        int64_t from, to;
        part_of(blocks, &split[i], other, &from, &to);
        if (from < to)
            return true;
    }
    return false;
}

rlar_status rlar__divided_trade(rlar_ctx *ctx, const rlar_blocks *blocks, rlar_trade_fn trade,
                                void *arg) {
    rlar_divided split[2];
    if (rlar__divided(blocks, split) == 0)
        return RLAR_OK;
    const int rank = rlar__team_rank(ctx), ranks = blocks->holders;
    for (int turn = 0; turn < rlar__team_turns(ranks); turn++) {
        const int other = rlar__team_opponent(rank, ranks, turn);
        if (other < ranks && rlar__divided_mate(blocks, other))
            RLAR_TRY(trade(ctx, arg, other, rank < other));
    }
    return RLAR_OK;
}
