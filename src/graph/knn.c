/* knn.c - exact neighbour search, within the classes or across them.
 *
 * Distances come from explicit differences: with the Gram expansion the small ones, which become
 * the large weights 1/distance, would have no correct digits. Samples of few numbers are compared
 * eight at a time (lists.h). Where there are many candidates of many numbers the expansion
 * |a|^2 + |b|^2 - 2 a^T b, by matrix products, sorts out most of those that are too far even if its
 * rounding error is taken off. Where the lists of an earlier z are at hand, the farthest of them
 * under the new z bounds the search from the start. The lists are the same in all these ways.
 * Parallel over samples. */
#include "graph/lists.h"

#include "linalg/linalg.h"

enum {
    SAMPLES_PER_TASK = 32,
    BLOCK = 64 /* candidates at a time */
};

/* How many a sample of class i can choose from. */
static int64_t within_reach(const rlar_groups *groups, int64_t i) {
    const int64_t size = groups->first[i + 1] - groups->first[i];
    switch (groups->reach) {
    case RLAR_REACH_ALIENS:
        return groups->n - size;
    case RLAR_REACH_ALL:
        return groups->n - 1;
    default: /* also of a class that is elsewhere: all ranks have the same stride */
        return rlar__class_size(groups, i) - 1;
    }
}

static int64_t class_count(const rlar_groups *groups, int64_t k, int64_t i) {
    const int64_t others = within_reach(groups, i);
    return k < others ? k : others;
}

int64_t rlar__graph_count(const rlar_groups *groups, int64_t k, int64_t j) {
    return class_count(groups, k, groups->label[j]);
}

int64_t rlar__graph_stride(const rlar_groups *groups, int64_t k) {
    int64_t stride = 0;
    for (int64_t i = 0; i < groups->c; i++) {
        const int64_t count = class_count(groups, k, i);
        stride = count > stride ? count : stride;
    }
    return stride;
}

int64_t rlar__class_size(const rlar_groups *groups, int64_t i) {
    const int64_t *first = groups->blocks ? groups->blocks->first : groups->first;
    return first[i + 1] - first[i];
}

void rlar__class_range(const rlar_groups *groups, int64_t i, int64_t *from, int64_t *to) {
    const rlar_blocks *blocks = groups->blocks;
    *from = blocks ? blocks->first[i] - blocks->start : groups->first[i];
    *to = blocks ? blocks->first[i + 1] - blocks->start : groups->first[i + 1];
}

int64_t rlar__graph_rule(const rlar_groups *groups) {
    return rlar__graph_clamped(groups, 10) > 0 ? 3 : 7;
}

int64_t rlar__graph_changes(const rlar_groups *groups, int64_t k, const int32_t *before,
                            const rlar_graph *now) {
    int64_t changes = 0;
    for (int64_t j = 0; j < now->n; j++) {
        const int64_t count = rlar__graph_count(groups, k, j);
        const int32_t *old = before + j * now->stride, *chosen = now->neighbour + j * now->stride;
        for (int64_t e = 0; e < count; e++) {
            int64_t at = 0;
            while (at < count && old[at] != chosen[e])
                at++;
            changes += at == count;
        }
    }
    return changes;
}

int64_t rlar__graph_clamped(const rlar_groups *groups, int64_t k) {
    int64_t count = 0;
    for (int64_t i = 0; i < groups->c; i++)
        count += rlar__class_size(groups, i) <= k;
    return count;
}

void rlar__graph_carve(rlar_workspace *ws, const rlar_groups *groups, int64_t k, rlar_graph *out) {
    const int64_t stride = rlar__graph_stride(groups, k);
    size_t per_sample = 0;
    if (!rlar__size_mul((size_t)stride, sizeof(double), &per_sample))
        ws->overflow = true;
    out->n = groups->n;
    out->stride = stride;
    out->distance = rlar__carve(ws, groups->n, per_sample);
    out->neighbour = rlar__carve(ws, groups->n, per_sample / 2); /* int32_t */
    out->norm2 = rlar__carve_around(ws, groups->blocks, groups->n, sizeof *out->norm2);
    out->blocks = groups->blocks;
    out->block = rlar__carve(ws, groups->c + 1, sizeof *out->block);
}

/* ---- One block of candidates ---- */

typedef struct search {
    const rlar_groups *groups;
    int64_t k, p;
    const double *z;
    bool warm; /* the graph holds lists of the same groups and k */
    rlar_graph *graph;
    double *room;     /* for visitors */
    rlar_visit visit; /* who looks among whom */
    double *norm2;    /* of the latter */
} search;

/* A sample that looks for neighbours among reach[0] .. reach[1]-1 and reach[2] .. reach[3]-1. */
typedef struct query {
    int64_t j;
    int64_t reach[4];
    rlar_list list;
} query;

/* What a block has been made ready as: panels, or products with the samples of the task. */
typedef struct block {
    int64_t from, to;
    double numbers[SAMPLES_PER_TASK * BLOCK];
} block;

_Static_assert((int)RLAR_PANEL_P <= (int)SAMPLES_PER_TASK,
               "panels of a block fit where the products go");

static query query_open(const search *s, int64_t j) {
    const int64_t *first = s->groups->first + s->groups->label[j], n = s->groups->n;
    int64_t from, to;
    query q = {.j = j, .list = rlar__list_of(s->groups, s->k, s->graph, j)};
    switch (s->groups->reach) {
    case RLAR_REACH_ALIENS:
        q.reach[1] = first[0], q.reach[2] = first[1], q.reach[3] = n;
        break;
    case RLAR_REACH_ALL:
        q.reach[1] = j, q.reach[2] = j + 1, q.reach[3] = n;
        break;
    default:
        rlar__class_range(s->groups, s->groups->label[j], &from, &to);
        q.reach[0] = from, q.reach[1] = j, q.reach[2] = j + 1, q.reach[3] = to;
    }
    return q;
}

static const double *candidate(const search *s, int64_t m) {
    return s->visit.z + (m - s->visit.from) * s->p;
}

static const double *norm2_of(const search *s, int64_t m) {
    return s->norm2 + (m - s->visit.from);
}

/* Offer the candidates from .. to-1 of the block, whose row of distances is given. */
static void offer(const query *q, const block *b, int64_t from, int64_t to, const double *row) {
    double limit = rlar__list_limit(&q->list);
    for (int64_t m = from; m < to; m++)
        if (!(row[m - b->from] > limit)) {
            rlar__list_offer(&q->list, row[m - b->from], (int32_t)m);
            limit = rlar__list_limit(&q->list);
        }
}

/* The same where the row has lower bounds of the distances only. */
static void offer_bounded(const search *s, const query *q, const block *b, int64_t from, int64_t to,
                          const double *row) {
    double limit = rlar__list_limit(&q->list);
    for (int64_t m = from; m < to; m++)
        if (!(row[m - b->from] > limit)) {
            const double d2 = rlar__distance2(s->p, s->z + q->j * s->p, candidate(s, m));
            rlar__list_offer(&q->list, d2, (int32_t)m);
            limit = rlar__list_limit(&q->list);
        }
}

/* Offer the block to sample number i of the task. */
static void offer_block(const search *s, const query *q, int64_t i, const block *b) {
    const int64_t from = rlar__max64(b->from, q->reach[0]), to = rlar__min64(b->to, q->reach[3]);
    const int64_t end = rlar__min64(to, q->reach[1]), begin = rlar__max64(from, q->reach[2]);
    double row[BLOCK];
    if (from >= to || q->list.count == 0)
        return;
    if (s->p < RLAR_PANEL_P) {
        rlar__panels_distances2(s->p, s->z + q->j * s->p, b->numbers,
                                (from - b->from) / RLAR_PANEL_LANES,
                                (to - b->from + RLAR_PANEL_LANES - 1) / RLAR_PANEL_LANES, row);
        offer(q, b, from, end, row);
        offer(q, b, begin, to, row);
        return;
    }
    rlar__lower_bounds2(s->p, b->to - b->from, s->graph->norm2[q->j], norm2_of(s, b->from),
                        b->numbers + i * BLOCK, row);
    offer_bounded(s, q, b, from, end, row);
    offer_bounded(s, q, b, begin, to, row);
}

/* ---- The samples of one task ---- */

static void prepare(const search *s, int64_t start, int64_t end, block *b) {
    const double *z = candidate(s, b->from);
    if (s->p < RLAR_PANEL_P)
        rlar__panels_pack(s->p, b->to - b->from, z, b->numbers);
    else
        rlar__tile_inner(b->to - b->from, end - start, s->p, z, s->p, s->z + start * s->p, s->p,
                         b->numbers, BLOCK);
}

/* Candidates in ascending order, block by block, each offered to all samples of the task. */
static rlar_status search_task(void *arg, int64_t first, int64_t last) {
    const search *s = arg;
    const int64_t start = s->visit.begin + first, end = s->visit.begin + last;
    query queries[SAMPLES_PER_TASK] = {0};
    for (int64_t j = start; j < end; j++)
        queries[j - start] = query_open(s, j);
    const int64_t stop = rlar__min64(queries[end - start - 1].reach[3], s->visit.to);
    block b = {.from = rlar__max64(queries[0].reach[0], s->visit.from)};
    for (; b.from < stop; b.from = b.to) {
        b.to = rlar__min64(b.from + BLOCK, stop);
        prepare(s, start, end, &b);
        for (int64_t j = start; j < end; j++)
            offer_block(s, &queries[j - start], j - start, &b);
    }
    return RLAR_OK;
}

/* ---- All samples ---- */

static rlar_status start_task(void *arg, int64_t start, int64_t end) {
    const search *s = arg;
    for (int64_t j = start; j < end; j++) {
        const rlar_list list = rlar__list_of(s->groups, s->k, s->graph, j);
        rlar__list_start(&list, s->warm, within_reach(s->groups, s->groups->label[j]), s->p, s->z,
                         j);
    }
    return RLAR_OK;
}

static rlar_status close_task(void *arg, int64_t start, int64_t end) {
    const search *s = arg;
    for (int64_t j = start; j < end; j++) {
        const rlar_list list = rlar__list_of(s->groups, s->k, s->graph, j);
        rlar__list_close(&list);
    }
    return RLAR_OK;
}

static rlar_status over_samples(rlar_ctx *ctx, search *s, rlar_range_task task) {
    return rlar__parallel_ranges(ctx, s->groups->n, SAMPLES_PER_TASK, task, s);
}

static rlar_status norms_task(void *arg, int64_t start, int64_t end) {
    const search *s = arg;
    for (int64_t i = start; i < end; i++) {
        const double *z = s->visit.z + i * s->p;
        s->norm2[i] = rlar__dot(s->p, z, z);
    }
    return RLAR_OK;
}

/* Squares of those who are seen, for the bounds. */
static rlar_status make_norms(rlar_ctx *ctx, search *s) {
    if (s->p < RLAR_PANEL_P)
        return RLAR_OK;
    return rlar__parallel_ranges(ctx, s->visit.to - s->visit.from, SAMPLES_PER_TASK, norms_task, s);
}

/* All samples that z has. */
static void see_all(search *s) {
    const int64_t before = rlar__divided_before(s->groups->blocks), n = s->groups->n;
    s->visit = (rlar_visit){.end = n,
                            .from = -before,
                            .to = n + rlar__divided_behind(s->groups->blocks),
                            .z = s->z - before * s->p};
    s->norm2 = s->graph->norm2 - before;
}

static rlar_status run(rlar_ctx *ctx, search *s) {
    rlar_divided split[2];
    see_all(s);
    RLAR_TRY(make_norms(ctx, s));
    if (s->p >= RLAR_PANEL_P && s->groups->reach == RLAR_REACH_MATES &&
        rlar__divided(s->groups->blocks, split) == 0)
        return rlar__tiles_nearest(ctx, s->groups, s->k, s->p, s->z, s->warm, s->graph);
    RLAR_TRY(over_samples(ctx, s, start_task));
    RLAR_TRY(over_samples(ctx, s, search_task));
    return over_samples(ctx, s, close_task);
}

rlar_status rlar__graph_nearest(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                                const double *z, rlar_graph *graph) {
    search s = {.groups = groups, .k = k, .p = p, .z = z, .graph = graph};
    return run(ctx, &s);
}

rlar_status rlar__graph_renew(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                              const double *z, rlar_graph *graph) {
    search s = {.groups = groups, .k = k, .p = p, .z = z, .warm = true, .graph = graph};
    return run(ctx, &s);
}

/* ---- Samples that pass by ---- */

static rlar_status look_at(rlar_ctx *ctx, void *arg, const rlar_visit *visit) {
    search *s = arg;
    s->visit = *visit;
    s->norm2 = visit->to - visit->from > RLAR_VISITORS ? s->graph->norm2 + visit->from
                                                       : s->room + s->p * RLAR_VISITORS;
    RLAR_TRY(make_norms(ctx, s));
    return rlar__parallel_ranges(ctx, visit->end - visit->begin, SAMPLES_PER_TASK, search_task, s);
}

rlar_status rlar__graph_nearest_apart(rlar_ctx *ctx, const rlar_groups *groups, int64_t k,
                                      int64_t p, const double *z, double *room, rlar_graph *graph) {
    search s = {.groups = groups, .k = k, .p = p, .z = z, .graph = graph, .room = room};
    rlar_divided split[2];
    if (rlar__divided(groups->blocks, split) == 0)
        return run(ctx, &s);
    s.visit = (rlar_visit){.to = groups->n, .z = z}; /* squares of those here */
    s.norm2 = graph->norm2;
    RLAR_TRY(make_norms(ctx, &s));
    RLAR_TRY(over_samples(ctx, &s, start_task));
    RLAR_TRY(rlar__divided_pass(ctx, groups->blocks, groups->n, p, z, room, look_at, &s));
    return over_samples(ctx, &s, close_task);
}
