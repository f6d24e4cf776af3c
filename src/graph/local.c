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

void rlar__local_carve(rlar_workspace *ws, const rlar_groups *groups, const rlar_graph *graph,
                       rlar_laplacian *l, rlar_local *out) {
    rlar_divided split[2];
    size_t list = 0;
    out->l = l;
    out->lists = NULL;
    out->cuts = 0;
    out->renewals = 0;
    rlar__leaves_carve(ws, groups, &out->leaves);
    if (rlar__divided(groups->blocks, split) == 0)
        return;
    if (!rlar__size_mul((size_t)graph->stride, sizeof *out->lists, &list))
        ws->overflow = true;
    out->l = &out->around;
    out->lists = rlar__carve_around(ws, groups->blocks, groups->n, list);
    rlar__laplacian_carve_around(ws, graph, &out->around);
}

typedef struct job {
    const rlar_groups *groups;
    int64_t k, p;
    const double *z;
    double *room; /* z has only the samples here, and the others pass by; or NULL */
    rlar_local *local;
    rlar_graph *graph;
    rlar_visit visit; /* who looks among whom */
} job;

static rlar_list list_of(const job *b, int64_t j) {
    return rlar__list_of(b->groups, b->k, b->graph, j);
}

static bool looks(const job *b, int64_t j) {
    return j >= b->visit.begin && j < b->visit.end;
}

static bool is_seen(const job *b, int64_t m) {
    return m >= b->visit.from && m < b->visit.to;
}

/* From sample j, who looks, to m, who is seen. */
static double distance2(const job *b, int64_t j, int64_t m) {
    return rlar__distance2(b->p, b->z + j * b->p, b->visit.z + (m - b->visit.from) * b->p);
}

/* One step of the search: everybody looks among all samples of the classes here, or among those
 * that are passing by. */
typedef rlar_status (*step_fn)(rlar_ctx *ctx, job *b);

typedef struct walk {
    job *b;
    step_fn step;
} walk;

static rlar_status take_step(rlar_ctx *ctx, void *arg, const rlar_visit *visit) {
    const walk *w = arg;
    w->b->visit = *visit;
    return w->step(ctx, w->b);
}

static rlar_status look(rlar_ctx *ctx, job *b, step_fn step) {
    const rlar_blocks *blocks = b->groups->blocks;
    const int64_t n = b->groups->n, before = rlar__divided_before(blocks);
    walk w = {.b = b, .step = step};
    if (b->room)
        return rlar__divided_pass(ctx, blocks, n, b->p, b->z, b->room, take_step, &w);
    const rlar_visit all = {.end = n,
                            .from = -before,
                            .to = n + rlar__divided_behind(blocks),
                            .z = b->z - before * b->p};
    return take_step(ctx, &w, &all);
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
        list[e] = looks(b, member[e]) ? list_of(b, member[e]) : (rlar_list){0};
        for (int64_t f = 0; f < e; f++) {
            const bool there = list[e].count > 0 && is_seen(b, member[f]);
            const bool back = list[f].count > 0 && is_seen(b, member[e]);
            if (!there && !back)
                continue;
            const double d2 =
                there ? distance2(b, member[e], member[f]) : distance2(b, member[f], member[e]);
            if (there)
                offer(&list[e], d2, member[f]);
            if (back)
                offer(&list[f], d2, member[e]);
        }
    }
    return RLAR_OK;
}

static rlar_status leaves_step(rlar_ctx *ctx, job *b) {
    return rlar__parallel(ctx, b->local->leaves.start[b->groups->c], leaf_task, b);
}

static rlar_status compare_leaves(rlar_ctx *ctx, job *b) {
    RLAR_TRY(
        rlar__leaves_cut(ctx, b->groups, b->p, b->z, b->local->cuts++, b->room, &b->local->leaves));
    return look(ctx, b, leaves_step);
}

/* ---- Neighbours of neighbours ---- */

/* Samples of the class met before: a hash table with open addressing, slots hold their number in
 * it, from 1 on. */
typedef struct seen {
    int64_t first;
    int32_t slot[SEEN];
} seen;

/* Was sample m of the class met before? If not, it is now. */
static bool meet(seen *s, int32_t sample) {
    const int32_t m = (int32_t)(sample - s->first);
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
        if (l->other[e] != j && is_seen(b, l->other[e]) && !meet(s, l->other[e]))
            offer(list, distance2(b, j, l->other[e]), l->other[e]);
}

static void look_around(const job *b, int64_t j) {
    const rlar_laplacian *l = b->local->l;
    const int64_t from = l->start[j], to = l->start[j + 1];
    const rlar_list list = list_of(b, j);
    int64_t first, last;
    rlar__class_range(b->groups, b->groups->label[j], &first, &last);
    if (list.count == last - first - 1)
        return; /* there is nobody else */
    seen s = {.first = first};
    offer_joined(b, j, j, &s, &list);
    for (int64_t e = from; e < to && e < from + JOINED; e++)
        offer_joined(b, j, l->other[e], &s, &list);
}

static rlar_status round_task(void *arg, int64_t start, int64_t end) {
    const job *b = arg;
    for (int64_t j = b->visit.begin + start; j < b->visit.begin + end; j++)
        look_around(b, j);
    return RLAR_OK;
}

static rlar_status over_samples(rlar_ctx *ctx, job *b, rlar_range_task task) {
    return rlar__parallel_ranges(ctx, b->groups->n, SAMPLES_PER_TASK, task, b);
}

/* The lists of all samples of the classes that are cut; on their way numbers count from the first
 * sample of the class. */
static rlar_status gather_lists(rlar_ctx *ctx, const job *b) {
    const int64_t stride = b->graph->stride;
    int32_t *lists = b->local->lists;
    rlar_divided split[2];
    const int count = rlar__divided(b->groups->blocks, split);
    memcpy(lists, b->graph->neighbour, (size_t)(b->groups->n * stride) * sizeof *lists);
    for (int i = 0; i < count; i++) {
        const int32_t from = (int32_t)split[i].from;
        for (int64_t e = split[i].begin * stride; e < split[i].end * stride; e++)
            lists[e] -= from;
        RLAR_TRY(rlar__divided_gather_one(ctx, b->groups->blocks, &split[i],
                                          (size_t)stride * sizeof *lists, lists));
        for (int64_t e = split[i].from * stride; e < split[i].to * stride; e++)
            lists[e] += from;
    }
    return RLAR_OK;
}

static rlar_status join(rlar_ctx *ctx, const job *b) {
    if (!b->local->lists)
        return rlar__laplacian_build_classes(ctx, b->groups, b->k, b->graph, NULL, b->local->l);
    rlar_graph graph = *b->graph;
    graph.neighbour = b->local->lists;
    RLAR_TRY(gather_lists(ctx, b));
    return rlar__laplacian_build_around(ctx, b->groups, b->k, &graph, b->local->l);
}

static rlar_status round_step(rlar_ctx *ctx, job *b) {
    return rlar__parallel_ranges(ctx, b->visit.end - b->visit.begin, SAMPLES_PER_TASK, round_task,
                                 b);
}

static rlar_status go_round(rlar_ctx *ctx, job *b) {
    RLAR_TRY(join(ctx, b));
    return look(ctx, b, round_step);
}

/* ---- The search ---- */

static rlar_status empty_task(void *arg, int64_t start, int64_t end) {
    const job *b = arg;
    for (int64_t j = start; j < end; j++) {
        const rlar_list list = list_of(b, j);
        rlar__list_start(&list, false, 0, b->p, b->z, j);
    }
    return RLAR_OK;
}

/* Any lists will do at first: the samples that follow in the class, the first after the last. */
static rlar_status begin_task(void *arg, int64_t start, int64_t end) {
    const job *b = arg;
    for (int64_t j = b->visit.begin + start; j < b->visit.begin + end; j++) {
        const rlar_list list = list_of(b, j);
        int64_t first, last;
        rlar__class_range(b->groups, b->groups->label[j], &first, &last);
        for (int64_t e = 0; e < list.count; e++) {
            const int64_t m = first + (j - first + 1 + e) % (last - first);
            if (is_seen(b, m))
                rlar__list_offer(&list, distance2(b, j, m), (int32_t)m);
        }
    }
    return RLAR_OK;
}

static rlar_status begin_step(rlar_ctx *ctx, job *b) {
    return rlar__parallel_ranges(ctx, b->visit.end - b->visit.begin, SAMPLES_PER_TASK, begin_task,
                                 b);
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
    for (int i = 0; i < leaves; i++)
        RLAR_TRY(compare_leaves(ctx, b));
    for (int i = 0; i < rounds; i++)
        RLAR_TRY(go_round(ctx, b));
    return over_samples(ctx, b, close_task);
}

rlar_status rlar__local_nearest(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                                const double *z, double *room, rlar_local *local,
                                rlar_graph *graph) {
    rlar_divided split[2];
    job b = {.groups = groups, .k = k, .p = p, .z = z, .local = local, .graph = graph};
    b.room = rlar__divided(groups->blocks, split) > 0 ? room : NULL;
    RLAR_TRY(over_samples(ctx, &b, empty_task));
    RLAR_TRY(look(ctx, &b, begin_step));
    return improve(ctx, &b, FIRST_LEAVES, FIRST_ROUNDS);
}

rlar_status rlar__local_renew(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                              const double *z, rlar_local *local, rlar_graph *graph) {
    job b = {.groups = groups, .k = k, .p = p, .z = z, .local = local, .graph = graph};
    const bool first = local->renewals++ == 0;
    RLAR_TRY(over_samples(ctx, &b, refresh_task));
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

/* Lists go to all in every round. */
static void talk_lists(const rlar_groups *groups, int64_t k, int rounds, rlar_exchange *out) {
    const int64_t list = rlar__graph_stride(groups, k) * (int64_t)sizeof(int32_t);
    out->told += (double)rounds * (double)list;
}

/* All samples pass by for the first lists, for every cut and in every round. */
void rlar__local_talk(const rlar_groups *groups, int64_t k, int64_t p, rlar_exchange *out) {
    const double sample = (double)p * sizeof(double);
    out->told += (1 + FIRST_LEAVES + FIRST_ROUNDS) * sample;
    out->trees += FIRST_LEAVES;
    out->drawn = sample;
    talk_lists(groups, k, FIRST_ROUNDS, out);
}

void rlar__local_renew_talk(const rlar_groups *groups, int64_t k, bool first, rlar_exchange *out) {
    talk_lists(groups, k, first ? FIRST_ROUNDS : NEXT_ROUNDS, out);
}
