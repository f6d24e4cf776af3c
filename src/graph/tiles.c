/* tiles.c - exact neighbours within classes for samples of many numbers: every pair once.
 *
 * A class is cut into blocks; a pair of blocks is compared by one matrix product (lists.h has the
 * bound that it gives) and offered to the lists of both. Parallel without a lock: in turn r block i
 * meets block (r - i) mod B of its class, so that no block meets two others at once and after B
 * turns all have met. Lists take the nearest whatever the order of the offers. */
#include "graph/lists.h"

#include "linalg/linalg.h"

enum {
    SIDE = 128,  /* samples of a block */
    SMALL = 1024 /* pairs: for fewer the product costs more than it saves */
};

typedef struct tiling {
    const rlar_groups *groups;
    int64_t k, p;
    const double *z;
    bool warm;
    rlar_graph *graph;
    int64_t turn;
} tiling;

typedef struct block {
    int64_t from, to;
    rlar_list list[SIDE];
} block;

static void block_open(const tiling *t, int64_t i, int64_t number, block *out) {
    const int64_t end = t->groups->first[i + 1];
    out->from = t->groups->first[i] + number * SIDE;
    out->to = out->from + SIDE < end ? out->from + SIDE : end;
    for (int64_t j = out->from; j < out->to; j++)
        out->list[j - out->from] = rlar__list_of(t->groups, t->k, t->graph, j);
}

/* Compare sample j of block a with the first `count` of block b, given lower bounds of the
 * distances (NULL: none). */
static void compare(const tiling *t, const block *a, int64_t j, const block *b, int64_t count,
                    const double *row, double *limit) {
    const rlar_list *own = &a->list[j - a->from];
    for (int64_t e = 0; e < count; e++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): as many as count */
        if (row && row[e] > rlar__list_limit(own) && row[e] > limit[e])
            continue;
        const int64_t m = b->from + e;
        const double d2 = rlar__distance2(t->p, t->z + j * t->p, t->z + m * t->p);
        rlar__list_offer(own, d2, (int32_t)m);
        rlar__list_offer(&b->list[e], d2, (int32_t)j);
        limit[e] = rlar__list_limit(&b->list[e]);
    }
}

/* All pairs of two blocks, or of one with itself. */
static void meet(const tiling *t, const block *a, const block *b) {
    const int64_t p = t->p, rows = b->to - b->from;
    const bool small = rows * (a->to - a->from) < SMALL;
    double products[SIDE * SIDE], row[SIDE], limit[SIDE];
    if (!small)
        rlar__tile_inner(rows, a->to - a->from, p, t->z + b->from * p, p, t->z + a->from * p, p,
                         products, SIDE);
    for (int64_t e = 0; e < rows; e++)
        limit[e] = rlar__list_limit(&b->list[e]);
    for (int64_t j = a->from; j < a->to; j++) {
        const int64_t count = a->from == b->from ? j - a->from : rows;
        if (!small)
            rlar__lower_bounds2(p, count, t->graph->norm2[j], t->graph->norm2 + b->from,
                                products + (j - a->from) * SIDE, row);
        compare(t, a, j, b, count, small ? NULL : row, limit);
    }
}

/* Block number `index` of all meets its partner; the lower one of the two does the work. */
static rlar_status meet_task(void *arg, int64_t index) {
    const tiling *t = arg;
    const int64_t i = rlar__class_of(t->graph->block, t->groups->c, index);
    const int64_t number = index - t->graph->block[i];
    const int64_t blocks = t->graph->block[i + 1] - t->graph->block[i];
    const int64_t partner = (t->turn - number + blocks) % blocks;
    if (t->turn >= blocks || partner < number)
        return RLAR_OK;
    block a, b;
    block_open(t, i, number, &a);
    block_open(t, i, partner, &b);
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): a block has a sample */
    if (a.list[0].count > 0)
        meet(t, &a, &b);
    return RLAR_OK;
}

static rlar_status start_task(void *arg, int64_t task) {
    const tiling *t = arg;
    for (int64_t j = task * SIDE; j < (task + 1) * SIDE && j < t->groups->n; j++) {
        const rlar_list list = rlar__list_of(t->groups, t->k, t->graph, j);
        const int64_t *first = t->groups->first + t->groups->label[j];
        rlar__list_start(&list, t->warm, first[1] - first[0], t->p, t->z, j);
    }
    return RLAR_OK;
}

static rlar_status close_task(void *arg, int64_t task) {
    const tiling *t = arg;
    for (int64_t j = task * SIDE; j < (task + 1) * SIDE && j < t->groups->n; j++) {
        const rlar_list list = rlar__list_of(t->groups, t->k, t->graph, j);
        rlar__list_close(&list);
    }
    return RLAR_OK;
}

rlar_status rlar__tiles_nearest(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                                const double *z, bool warm, rlar_graph *graph) {
    tiling t = {.groups = groups, .k = k, .p = p, .z = z, .warm = warm, .graph = graph};
    const int64_t tasks = (groups->n + SIDE - 1) / SIDE;
    int64_t *start = graph->block, turns = 0;
    start[0] = 0;
    for (int64_t i = 0; i < groups->c; i++) {
        const int64_t blocks = (groups->first[i + 1] - groups->first[i] + SIDE - 1) / SIDE;
        start[i + 1] = start[i] + blocks;
        turns = blocks > turns ? blocks : turns;
    }
    RLAR_TRY(rlar__parallel(ctx, tasks, start_task, &t));
    for (t.turn = 0; t.turn < turns; t.turn++)
        RLAR_TRY(rlar__parallel(ctx, start[groups->c], meet_task, &t));
    return rlar__parallel(ctx, tasks, close_task, &t);
}
