/* leaves.c - a random projection tree of every class, of which only the leaves are kept.
 *
 * A part of a class is halved at the median of the differences of the squared distances to two of
 * its samples, drawn at random: a cut by a plane between them, across directions in which the
 * samples do spread. Parts of one level are cut in parallel. Which samples they hold follows from
 * the size of the class, the draws from the seed, class, level and part alone: the same leaves for
 * any number of threads, and ranks. Costs 4 p per sample and level.
 *
 * Ranks that share a class all cut the whole of it. Where they have outputs of all its samples that
 * needs no word; where each has its own samples only, those drawn go to all ranks, some parts of a
 * level at a time, and everybody tells where its samples lie. */
#include "graph/leaves.h"

#include <string.h>

#include "linalg/linalg.h"

void rlar__leaves_carve(rlar_workspace *ws, const rlar_groups *groups, rlar_leaves *out) {
    out->start = rlar__carve(ws, groups->c + 1, sizeof *out->start);
    out->order = rlar__carve_around(ws, groups->blocks, groups->n, sizeof *out->order);
    out->key = rlar__carve_around(ws, groups->blocks, groups->n, sizeof *out->key);
    out->told = NULL;
    if (rlar__divided_before(groups->blocks) + rlar__divided_behind(groups->blocks) > 0)
        out->told = rlar__carve_around(ws, groups->blocks, groups->n, sizeof *out->told);
}

/* Where part number `part` of `parts` equal ones of class i begins. */
static int64_t part_begin(const rlar_groups *groups, int64_t i, int64_t part, int64_t parts) {
    int64_t from, to;
    rlar__class_range(groups, i, &from, &to);
    const int64_t size = to - from;
    return from + size / parts * part + size % parts * part / parts;
}

void rlar__leaf_range(const rlar_groups *groups, const rlar_leaves *leaves, int64_t t,
                      int64_t *from, int64_t *to) {
    const int64_t i = rlar__class_of(leaves->start, groups->c, t);
    const int64_t part = t - leaves->start[i], parts = leaves->start[i + 1] - leaves->start[i];
    *from = part_begin(groups, i, part, parts);
    *to = part_begin(groups, i, part + 1, parts);
}

/* ---- The median ---- */

static bool before(const rlar_leaves *l, int64_t a, double key, int32_t sample) {
    return l->key[a] < key || (l->key[a] == key && l->order[a] < sample);
}

static void swap(const rlar_leaves *l, int64_t a, int64_t b) {
    const double key = l->key[a];
    const int32_t sample = l->order[a];
    l->key[a] = l->key[b];
    l->order[a] = l->order[b];
    l->key[b] = key;
    l->order[b] = sample;
}

/* Move the samples of from .. to-1 whose keys come first, by index where equal, before `at`.
 * Hoare's selection; the pivot is the middle one. */
static void select_first(const rlar_leaves *l, int64_t from, int64_t to, int64_t at) {
    for (int64_t low = from, high = to - 1; low < high;) {
        const int64_t middle = low + (high - low) / 2; /* places may be negative */
        const double key = l->key[middle];
        const int32_t sample = l->order[middle];
        int64_t a = low, b = high;
        while (a <= b) {
            while (before(l, a, key, sample))
                a++;
            while (l->key[b] > key || (l->key[b] == key && l->order[b] > sample))
                b--;
            if (a <= b)
                swap(l, a++, b--);
        }
        if (at <= b)
            high = b;
        else if (at >= a)
            low = a;
        else
            return;
    }
}

/* ---- The cuts ---- */

typedef struct cutting {
    const rlar_groups *groups;
    int64_t p;
    const double *z;
    uint64_t seed;
    double *room;  /* for the samples drawn, where z has only those here */
    int64_t parts; /* of every class that is to have more, before this level's cuts */
    rlar_leaves *leaves;
} cutting;

/* The places of the two samples drawn for a part. */
static void draw(const cutting *c, int64_t i, int64_t part, int64_t place[2]) {
    const int64_t from = part_begin(c->groups, i, part, c->parts);
    const int64_t count = part_begin(c->groups, i, part + 1, c->parts) - from;
    const uint64_t words[] = {c->seed, (uint64_t)i, (uint64_t)c->parts, (uint64_t)part};
    rlar_rng rng = rlar__rng_seed(words, 4);
    const int64_t one = (int64_t)rlar__rng_below(&rng, (uint64_t)count);
    const int64_t two = (one + 1 + (int64_t)rlar__rng_below(&rng, (uint64_t)count - 1)) % count;
    place[0] = from + one;
    place[1] = from + two;
}

static double key_of(const cutting *c, int64_t sample, const double *a, const double *b) {
    const double *z = c->z + sample * c->p;
    return rlar__distance2(c->p, z, a) - rlar__distance2(c->p, z, b);
}

static void halve(const cutting *c, int64_t i, int64_t part) {
    select_first(c->leaves, part_begin(c->groups, i, part, c->parts),
                 part_begin(c->groups, i, part + 1, c->parts),
                 part_begin(c->groups, i, 2 * part + 1, 2 * c->parts));
}

static void cut(const cutting *c, int64_t i, int64_t part) {
    const int64_t to = part_begin(c->groups, i, part + 1, c->parts);
    int64_t drawn[2];
    draw(c, i, part, drawn);
    const double *a = c->z + c->leaves->order[drawn[0]] * c->p;
    const double *b = c->z + c->leaves->order[drawn[1]] * c->p;
    for (int64_t e = part_begin(c->groups, i, part, c->parts); e < to; e++)
        c->leaves->key[e] = key_of(c, c->leaves->order[e], a, b);
    halve(c, i, part);
}

/* Is the class cut by cut_apart? */
static bool left_out(const cutting *c, int64_t i) {
    const int64_t *first = c->groups->first + i;
    return c->room && rlar__class_size(c->groups, i) > first[1] - first[0];
}

/* The task of the first leaf of a part cuts it. */
static rlar_status cut_task(void *arg, int64_t t) {
    const cutting *c = arg;
    const int64_t i = rlar__class_of(c->leaves->start, c->groups->c, t),
                  leaf = t - c->leaves->start[i];
    const int64_t leaves = c->leaves->start[i + 1] - c->leaves->start[i];
    if (leaves > c->parts && leaf % (leaves / c->parts) == 0 && !left_out(c, i))
        cut(c, i, leaf / (leaves / c->parts));
    return RLAR_OK;
}

/* ---- Samples that lie on several ranks ---- */

typedef struct apart {
    const cutting *c;
    const rlar_divided *split;
    int64_t first; /* the part that the first two samples in the room belong to */
} apart;

/* Where the samples here of one part lie. */
static rlar_status tell_task(void *arg, int64_t index) {
    const apart *q = arg;
    const cutting *c = q->c;
    const int64_t i = q->split->number, part = q->first + index;
    const int64_t to = part_begin(c->groups, i, part + 1, c->parts);
    const double *a = c->room + 2 * index * c->p, *b = a + c->p;
    for (int64_t e = part_begin(c->groups, i, part, c->parts); e < to; e++) {
        const int64_t sample = c->leaves->order[e];
        if (sample >= q->split->begin && sample < q->split->end)
            c->leaves->told[sample] = key_of(c, sample, a, b);
    }
    return RLAR_OK;
}

/* The sample drawn, from its rank to all. */
static rlar_status fetch(rlar_ctx *ctx, const apart *q, int64_t sample, double *to) {
    const cutting *c = q->c;
    const rlar_blocks *blocks = c->groups->blocks;
    const size_t bytes = (size_t)c->p * sizeof *to;
    if (sample >= q->split->begin && sample < q->split->end)
        memcpy(to, c->z + sample * c->p, bytes);
    return rlar__divided_spread(ctx, blocks, q->split, rlar__divided_owner(blocks, sample), to,
                                bytes);
}

static rlar_status halve_task(void *arg, int64_t part) {
    const apart *q = arg;
    const cutting *c = q->c;
    const int64_t i = q->split->number, to = part_begin(c->groups, i, part + 1, c->parts);
    for (int64_t e = part_begin(c->groups, i, part, c->parts); e < to; e++)
        c->leaves->key[e] = c->leaves->told[c->leaves->order[e]];
    halve(c, i, part);
    return RLAR_OK;
}

static rlar_status cut_apart(rlar_ctx *ctx, const cutting *c, const rlar_divided *split) {
    enum { AT_ONCE = RLAR_VISITORS / 2 };
    apart q = {.c = c, .split = split};
    for (q.first = 0; q.first < c->parts; q.first += AT_ONCE) {
        const int64_t count = c->parts - q.first < AT_ONCE ? c->parts - q.first : AT_ONCE;
        for (int64_t part = 0; part < count; part++) {
            int64_t drawn[2];
            draw(c, split->number, q.first + part, drawn);
            for (int k = 0; k < 2; k++)
                RLAR_TRY(
                    fetch(ctx, &q, c->leaves->order[drawn[k]], c->room + (2 * part + k) * c->p));
        }
        RLAR_TRY(rlar__parallel(ctx, count, tell_task, &q));
    }
    RLAR_TRY(rlar__divided_gather_one(ctx, c->groups->blocks, split, sizeof *c->leaves->told,
                                      c->leaves->told));
    return rlar__parallel(ctx, c->parts, halve_task, &q);
}

static rlar_status cut_all_apart(rlar_ctx *ctx, cutting *c) {
    rlar_divided split[2];
    const int count = rlar__divided(c->groups->blocks, split);
    for (int k = 0; k < count; k++) {
        const int64_t *start = c->leaves->start + split[k].number;
        for (c->parts = 1; c->parts < start[1] - start[0]; c->parts *= 2)
            RLAR_TRY(cut_apart(ctx, c, &split[k]));
    }
    return RLAR_OK;
}

/* ---- All classes ---- */

rlar_status rlar__leaves_cut(rlar_ctx *ctx, const rlar_groups *groups, int64_t p, const double *z,
                             uint64_t seed, double *room, rlar_leaves *out) {
    cutting c = {.groups = groups, .p = p, .z = z, .seed = seed, .room = room, .leaves = out};
    const int64_t behind = groups->n + rlar__divided_behind(groups->blocks);
    int64_t most = 1;
    out->start[0] = 0;
    for (int64_t i = 0; i < groups->c; i++) {
        const bool here = groups->first[i] < groups->first[i + 1];
        const int64_t leaves = here ? rlar__halved(rlar__class_size(groups, i), RLAR_LEAF) : 0;
        out->start[i + 1] = out->start[i] + leaves;
        most = leaves > most ? leaves : most;
    }
    for (int64_t j = -rlar__divided_before(groups->blocks); j < behind; j++)
        out->order[j] = (int32_t)j;
    for (c.parts = 1; c.parts < most; c.parts *= 2)
        RLAR_TRY(rlar__parallel(ctx, out->start[groups->c], cut_task, &c));
    return room ? cut_all_apart(ctx, &c) : RLAR_OK;
}
