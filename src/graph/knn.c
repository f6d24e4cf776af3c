/* knn.c - exact neighbour search, within the classes or across them.
 *
 * Distances come from explicit differences: with the Gram expansion the small ones, which become
 * the large weights 1/distance, would have no correct digits. Where there are many candidates of
 * many numbers the expansion |a|^2 + |b|^2 - 2 a^T b, by matrix products, sorts out most of those
 * that are too far even if its rounding error is taken off; the lists are the same with and
 * without. Parallel over samples. */
#include "graph/knn.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

enum {
    SAMPLES_PER_TASK = 32,
    BLOCK = 64,      /* candidates at a time */
    FILTER_FROM = 16 /* numbers per sample: below, the differences cost no more */
};

/* How many a sample of class i can choose from. */
static int64_t within_reach(const rlar_groups *groups, int64_t i) {
    const int64_t size = groups->first[i + 1] - groups->first[i];
    switch (groups->reach) {
    case RLAR_REACH_ALIENS:
        return groups->n - size;
    case RLAR_REACH_ALL:
        return groups->n - 1;
    default:
        return size - 1;
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

int64_t rlar__graph_rule(const rlar_groups *groups) {
    return rlar__graph_clamped(groups, 10) > 0 ? 3 : 7;
}

int64_t rlar__graph_clamped(const rlar_groups *groups, int64_t k) {
    int64_t count = 0;
    for (int64_t i = 0; i < groups->c; i++)
        count += groups->first[i + 1] - groups->first[i] <= k;
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
}

typedef struct search {
    const rlar_groups *groups;
    int64_t k, p;
    const double *z;
    const double *norm2; /* ||z_j||^2, or NULL: no sorting out */
    rlar_graph *graph;
} search;

/* Keep the list sorted; an equal distance stays behind those that came first (lower index). */
static void insert(double *distance, int32_t *index, int64_t filled, double d2, int32_t m) {
    int64_t low = 0, high = filled;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (distance[middle] <= d2)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(distance + low + 1, distance + low, (size_t)(filled - low) * sizeof *distance);
    memmove(index + low + 1, index + low, (size_t)(filled - low) * sizeof *index);
    distance[low] = d2;
    index[low] = m;
}

/* Surely farther than `worst`, whatever rounding did to the expansion and to the distance? */
static bool too_far(const search *s, int64_t j, int64_t m, double product, double worst) {
    const double squares = s->norm2[j] + s->norm2[m];
    return squares - 2.0 * product - rlar__expansion_slack(s->p, squares) > worst;
}

static bool within(const search *s, int64_t j, int64_t m) {
    const bool mates = s->groups->label[j] == s->groups->label[m];
    return m != j &&
           (s->groups->reach == RLAR_REACH_ALL || mates == (s->groups->reach == RLAR_REACH_MATES));
}

/* Offer the samples from .. to-1 to sample j, which holds `filled`; returns how many it holds then.
 * products: their inner products with j, or NULL. */
static int64_t offer(const search *s, int64_t j, int64_t from, int64_t to, const double *products,
                     int64_t filled) {
    const int64_t count = rlar__graph_count(s->groups, s->k, j);
    double *distance = s->graph->distance + j * s->graph->stride;
    int32_t *index = s->graph->neighbour + j * s->graph->stride;
    for (int64_t m = from; m < to && count > 0; m++) {
        const bool full = filled == count;
        if (!within(s, j, m) ||
            (full && products && too_far(s, j, m, products[m - from], distance[count - 1])))
            continue;
        const double d2 = rlar__distance2(s->p, s->z + j * s->p, s->z + m * s->p);
        if (!full)
            insert(distance, index, filled++, d2, (int32_t)m);
        else if (d2 < distance[count - 1])
            insert(distance, index, count - 1, d2, (int32_t)m);
    }
    return filled;
}

/* Candidates in ascending order, block by block, each offered to all samples of the task. */
static void nearest_of(const search *s, int64_t start, int64_t end) {
    const rlar_groups *groups = s->groups;
    const bool mates = groups->reach == RLAR_REACH_MATES;
    const int64_t first = mates ? groups->first[groups->label[start]] : 0;
    const int64_t last = mates ? groups->first[groups->label[end - 1] + 1] : groups->n;
    int64_t filled[SAMPLES_PER_TASK] = {0};
    double tile[SAMPLES_PER_TASK * BLOCK];
    for (int64_t m = first; m < last; m += BLOCK) {
        const int64_t to = m + BLOCK < last ? m + BLOCK : last;
        if (s->norm2)
            rlar__tile_inner(to - m, end - start, s->p, s->z + m * s->p, s->p, s->z + start * s->p,
                             s->p, tile, BLOCK);
        for (int64_t j = start; j < end; j++)
            filled[j - start] =
                offer(s, j, m, to, s->norm2 ? tile + (j - start) * BLOCK : NULL, filled[j - start]);
    }
    for (int64_t j = start; j < end; j++)
        for (int64_t e = 0; e < filled[j - start]; e++)
            s->graph->distance[j * s->graph->stride + e] =
                sqrt(s->graph->distance[j * s->graph->stride + e]);
}

static rlar_status search_task(void *arg, int64_t task) {
    const search *s = arg;
    const int64_t start = task * SAMPLES_PER_TASK, n = s->groups->n;
    nearest_of(s, start, start + SAMPLES_PER_TASK < n ? start + SAMPLES_PER_TASK : n);
    return RLAR_OK;
}

rlar_status rlar__graph_nearest(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                                const double *z, rlar_graph *graph) {
    const int64_t n = groups->n;
    search s = {.groups = groups, .k = k, .p = p, .z = z, .graph = graph};
    double *norm2 = NULL;
    if (groups->reach != RLAR_REACH_MATES && p >= FILTER_FROM) {
        RLAR_TRY(rlar__alloc(ctx, n, sizeof *norm2, "the norms of the samples", &norm2));
        for (int64_t j = 0; j < n; j++)
            norm2[j] = rlar__dot(p, z + j * p, z + j * p);
        s.norm2 = norm2;
    }
    const rlar_status status =
        rlar__parallel(ctx, (n + SAMPLES_PER_TASK - 1) / SAMPLES_PER_TASK, search_task, &s);
    rlar__free(norm2);
    return status;
}
