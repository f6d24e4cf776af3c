/* local.c - neighbour lists by random leaves and neighbours of neighbours.
 *
 * Two steps, each of which only replaces neighbours by nearer ones:
 *   leaves   cut each class at random into leaves (leaves.h), compare all pairs of a leaf
 *   round    compare every sample with those it is joined with, in either direction, and with those
 *            that these are joined with
 * Many leaves and rounds are made for the first z and for the one after it (samples, then outputs:
 * two different spaces), later few, from the lists of the z before: it has moved a little. A round
 * reads who is joined with whom from a copy (the Laplacian's rows) and writes the lists; leaves are
 * disjoint. So the lists do not depend on the number of threads. The idea of both steps is
 * published as NN-descent (Dong, Moses and Li, WWW 2011) and random projection trees (Dasgupta and
 * Freund, STOC 2008). */
#include "graph/local.h"

#include <string.h>

#include "graph/lists.h"
#include "linalg/linalg.h"

enum {
    SAMPLES_PER_TASK = 32,
    FIRST_LEAVES = 8, /* how often each class is cut, and rounds: for the first z, ... */
    FIRST_ROUNDS = 3,
    NEXT_LEAVES = 1, /* ... and for the next */
    NEXT_ROUNDS = 1,
    JOINED = 24, /* of those that a sample is joined with, as many are followed */
    SEEN = 1024  /* slots for those met in a round: well above JOINED (JOINED + 1) */
};

void rlar__local_carve(rlar_workspace *ws, const rlar_groups *groups, rlar_laplacian *l,
                       rlar_local *out) {
    out->l = l;
    out->cuts = 0;
    out->renewals = 0;
    rlar__leaves_carve(ws, groups, &out->leaves);
}

typedef struct job {
    const rlar_groups *groups;
    int64_t k, p;
    const double *z;
    rlar_local *local;
    rlar_graph *graph;
} job;

static rlar_list list_of(const job *b, int64_t j) {
    return rlar__list_of(b->groups, b->k, b->graph, j);
}

static double distance2(const job *b, int64_t j, int64_t m) {
    return rlar__distance2(b->p, b->z + j * b->p, b->z + m * b->p);
}

/* Offer m, unless it is too far or there already. */
static void offer(const rlar_list *list, double d2, int32_t m) {
    if (d2 > rlar__list_limit(list))
        return;
    for (int64_t e = 0; e < list->count; e++)
        if (list->index[e] == m)
            return;
    rlar__list_offer(list, d2, m);
}

/* ---- Leaves ---- */

static rlar_status leaf_task(void *arg, int64_t t) {
    const job *b = arg;
    int64_t from, to;
    rlar__leaf_range(b->groups, &b->local->leaves, t, &from, &to);
    const int32_t *member = b->local->leaves.order + from;
    rlar_list list[RLAR_LEAF];
    for (int64_t e = 0; e < to - from; e++) {
        list[e] = list_of(b, member[e]);
        for (int64_t f = 0; f < e && list[e].count > 0; f++) {
            const double d2 = distance2(b, member[e], member[f]);
            offer(&list[e], d2, member[f]);
            offer(&list[f], d2, member[e]);
        }
    }
    return RLAR_OK;
}

static rlar_status compare_leaves(rlar_ctx *ctx, job *b) {
    RLAR_TRY(rlar__leaves_cut(ctx, b->groups, b->p, b->z, b->local->cuts++, &b->local->leaves));
    return rlar__parallel(ctx, b->local->leaves.start[b->groups->c], leaf_task, b);
}

/* ---- Neighbours of neighbours ---- */

/* Samples met before: a hash table with open addressing, slots hold sample + 1. */
typedef struct seen {
    int32_t slot[SEEN];
} seen;

/* Was m met before? If not, it is now. */
static bool meet(seen *s, int32_t m) {
    uint32_t at = (uint32_t)m * 2654435769u >> 22; /* the upper 10 bits: SEEN slots */
    for (; s->slot[at] != 0; at = (at + 1) % SEEN)
        if (s->slot[at] == m + 1)
            return true;
    s->slot[at] = m + 1;
    return false;
}

static void offer_joined(const job *b, int64_t j, int64_t via, seen *s, const rlar_list *list) {
    const rlar_laplacian *l = b->local->l;
    const int64_t from = l->start[via], to = l->start[via + 1];
    for (int64_t e = from; e < to && e < from + JOINED; e++)
        if (l->other[e] != j && !meet(s, l->other[e]))
            offer(list, distance2(b, j, l->other[e]), l->other[e]);
}

static void look_around(const job *b, int64_t j) {
    const rlar_laplacian *l = b->local->l;
    const int64_t from = l->start[j], to = l->start[j + 1];
    const int64_t *first = b->groups->first + b->groups->label[j];
    const rlar_list list = list_of(b, j);
    if (list.count == first[1] - first[0] - 1)
        return; /* there is nobody else */
    seen s = {{0}};
    offer_joined(b, j, j, &s, &list);
    for (int64_t e = from; e < to && e < from + JOINED; e++)
        offer_joined(b, j, l->other[e], &s, &list);
}

static rlar_status round_task(void *arg, int64_t start, int64_t end) {
    const job *b = arg;
    for (int64_t j = start; j < end; j++)
        look_around(b, j);
    return RLAR_OK;
}

static rlar_status over_samples(rlar_ctx *ctx, job *b, rlar_range_task task) {
    return rlar__parallel_ranges(ctx, b->groups->n, SAMPLES_PER_TASK, task, b);
}

static rlar_status go_round(rlar_ctx *ctx, job *b) {
    RLAR_TRY(rlar__laplacian_build_classes(ctx, b->groups, b->k, b->graph, NULL, b->local->l));
    return over_samples(ctx, b, round_task);
}

/* ---- The search ---- */

/* Any lists will do at first: the samples that follow in the class, the first after the last. */
static rlar_status begin_task(void *arg, int64_t start, int64_t end) {
    const job *b = arg;
    for (int64_t j = start; j < end; j++) {
        const int64_t *first = b->groups->first + b->groups->label[j], size = first[1] - first[0];
        const rlar_list list = list_of(b, j);
        for (int64_t e = 0; e < list.count; e++)
            list.index[e] = (int32_t)(first[0] + (j - first[0] + 1 + e) % size);
    }
    return RLAR_OK;
}

static rlar_status refresh_task(void *arg, int64_t start, int64_t end) {
    const job *b = arg;
    for (int64_t j = start; j < end; j++) {
        const rlar_list list = list_of(b, j);
        rlar__list_refresh(&list, b->p, b->z, j);
    }
    return RLAR_OK;
}

static rlar_status close_task(void *arg, int64_t start, int64_t end) {
    const job *b = arg;
    for (int64_t j = start; j < end; j++) {
        const rlar_list list = list_of(b, j);
        rlar__list_close(&list);
    }
    return RLAR_OK;
}

static rlar_status improve(rlar_ctx *ctx, job *b, int leaves, int rounds) {
    RLAR_TRY(over_samples(ctx, b, refresh_task));
    for (int i = 0; i < leaves; i++)
        RLAR_TRY(compare_leaves(ctx, b));
    for (int i = 0; i < rounds; i++)
        RLAR_TRY(go_round(ctx, b));
    return over_samples(ctx, b, close_task);
}

rlar_status rlar__local_nearest(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                                const double *z, rlar_local *local, rlar_graph *graph) {
    job b = {.groups = groups, .k = k, .p = p, .z = z, .local = local, .graph = graph};
    RLAR_TRY(over_samples(ctx, &b, begin_task));
    return improve(ctx, &b, FIRST_LEAVES, FIRST_ROUNDS);
}

rlar_status rlar__local_renew(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                              const double *z, rlar_local *local, rlar_graph *graph) {
    job b = {.groups = groups, .k = k, .p = p, .z = z, .local = local, .graph = graph};
    const bool first = local->renewals++ == 0;
    return improve(ctx, &b, first ? FIRST_LEAVES : NEXT_LEAVES, first ? FIRST_ROUNDS : NEXT_ROUNDS);
}

/* Pairs compared in a leaf, and those met in a round when about half are met again. */
double rlar__local_flops(const rlar_groups *groups, int64_t k, int64_t p, bool renew) {
    const double n = (double)groups->n, number = (double)p;
    const double joined = k < JOINED / 2 ? 2.0 * (double)k : JOINED;
    double cuts = 0.0;
    for (int64_t size = RLAR_LEAF; size < groups->n; size *= 2)
        cuts += 2.0;
    const double leaves = n * 3.0 * number * (cuts + RLAR_LEAF / 2.0);
    const double round = n * 3.0 * number * joined * (joined + 1.0) / 2.0;
    return renew ? NEXT_LEAVES * leaves + NEXT_ROUNDS * round
                 : FIRST_LEAVES * leaves + FIRST_ROUNDS * round;
}
