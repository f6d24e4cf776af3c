/* leaves.c - a random projection tree of every class, of which only the leaves are kept.
 *
 * A part of a class is halved at the median of the differences of the squared distances to two of
 * its samples, drawn at random: a cut by a plane between them, across directions in which the
 * samples do spread. Parts of one level are cut in parallel. Which samples they hold follows from
 * the size of the class, the draws from the seed, class, level and part alone: the same leaves for
 * any number of threads. Costs 4 p per sample and level. */
#include "graph/leaves.h"

#include "linalg/linalg.h"

void rlar__leaves_carve(rlar_workspace *ws, const rlar_groups *groups, rlar_leaves *out) {
    out->start = rlar__carve(ws, groups->c + 1, sizeof *out->start);
    out->order = rlar__carve(ws, groups->n, sizeof *out->order);
    out->key = rlar__carve(ws, groups->n, sizeof *out->key);
}

/* Where part number `part` of `parts` equal ones of class i begins. */
static int64_t part_begin(const rlar_groups *groups, int64_t i, int64_t part, int64_t parts) {
    const int64_t size = groups->first[i + 1] - groups->first[i];
    return groups->first[i] + size / parts * part + size % parts * part / parts;
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
        const double key = l->key[(low + high) / 2];
        const int32_t sample = l->order[(low + high) / 2];
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
    int64_t parts; /* of every class that is to have more, before this level's cuts */
    rlar_leaves *leaves;
} cutting;

static void cut(const cutting *c, int64_t i, int64_t part) {
    const int64_t from = part_begin(c->groups, i, part, c->parts), p = c->p;
    const int64_t to = part_begin(c->groups, i, part + 1, c->parts), count = to - from;
    const uint64_t words[] = {c->seed, (uint64_t)i, (uint64_t)c->parts, (uint64_t)part};
    rlar_rng rng = rlar__rng_seed(words, 4);
    const int64_t one = (int64_t)rlar__rng_below(&rng, (uint64_t)count);
    const int64_t two = (one + 1 + (int64_t)rlar__rng_below(&rng, (uint64_t)count - 1)) % count;
    const double *a = c->z + c->leaves->order[from + one] * p;
    const double *b = c->z + c->leaves->order[from + two] * p;
    for (int64_t e = from; e < to; e++) {
        const double *z = c->z + c->leaves->order[e] * p;
        c->leaves->key[e] = rlar__distance2(p, z, a) - rlar__distance2(p, z, b);
    }
    select_first(c->leaves, from, to, part_begin(c->groups, i, 2 * part + 1, 2 * c->parts));
}

/* The task of the first leaf of a part cuts it. */
static rlar_status cut_task(void *arg, int64_t t) {
    const cutting *c = arg;
    const int64_t i = rlar__class_of(c->leaves->start, c->groups->c, t),
                  leaf = t - c->leaves->start[i];
    const int64_t leaves = c->leaves->start[i + 1] - c->leaves->start[i];
    if (leaves > c->parts && leaf % (leaves / c->parts) == 0)
        cut(c, i, leaf / (leaves / c->parts));
    return RLAR_OK;
}

static int64_t leaves_of(int64_t size) {
    int64_t leaves = 1;
    while (size > leaves * RLAR_LEAF)
        leaves *= 2;
    return leaves;
}

rlar_status rlar__leaves_cut(rlar_ctx *ctx, const rlar_groups *groups, int64_t p, const double *z,
                             uint64_t seed, rlar_leaves *out) {
    cutting c = {.groups = groups, .p = p, .z = z, .seed = seed, .leaves = out};
    int64_t most = 1;
    out->start[0] = 0;
    for (int64_t i = 0; i < groups->c; i++) {
        const int64_t leaves = leaves_of(groups->first[i + 1] - groups->first[i]);
        out->start[i + 1] = out->start[i] + leaves;
        most = leaves > most ? leaves : most;
    }
    for (int64_t j = 0; j < groups->n; j++)
        out->order[j] = (int32_t)j;
    for (c.parts = 1; c.parts < most; c.parts *= 2)
        RLAR_TRY(rlar__parallel(ctx, out->start[groups->c], cut_task, &c));
    return RLAR_OK;
}
