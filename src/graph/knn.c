/* knn.c - exact within-class neighbour search.
 *
 * Distances come from explicit differences: with the Gram expansion the small ones, which become
 * the large weights 1/distance, would have no correct digits. Parallel over samples. */
#include "graph/knn.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

enum { SAMPLES_PER_TASK = 32 };

int64_t rlar__graph_count(const rlar_groups *groups, int64_t k, int64_t j) {
    const int32_t i = groups->label[j];
    const int64_t others = groups->first[i + 1] - groups->first[i] - 1;
    return k < others ? k : others;
}

int64_t rlar__graph_stride(const rlar_groups *groups, int64_t k) {
    int64_t stride = 0;
    for (int64_t i = 0; i < groups->c; i++) {
        const int64_t others = groups->first[i + 1] - groups->first[i] - 1;
        const int64_t count = k < others ? k : others;
        stride = count > stride ? count : stride;
    }
    return stride;
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

static void nearest_of(const search *s, int64_t j) {
    const int32_t i = s->groups->label[j];
    const int64_t count = rlar__graph_count(s->groups, s->k, j);
    double *distance = s->graph->distance + j * s->graph->stride;
    int32_t *index = s->graph->neighbour + j * s->graph->stride;
    int64_t filled = 0;
    for (int64_t m = s->groups->first[i]; m < s->groups->first[i + 1] && count > 0; m++) {
        if (m == j)
            continue;
        const double d2 = rlar__distance2(s->p, s->z + j * s->p, s->z + m * s->p);
        if (filled < count)
            insert(distance, index, filled++, d2, (int32_t)m);
        else if (d2 < distance[count - 1])
            insert(distance, index, count - 1, d2, (int32_t)m);
    }
    for (int64_t e = 0; e < count; e++)
        distance[e] = sqrt(distance[e]);
}

static rlar_status search_task(void *arg, int64_t task) {
    const search *s = arg;
    const int64_t start = task * SAMPLES_PER_TASK;
    for (int64_t j = start; j < start + SAMPLES_PER_TASK && j < s->groups->n; j++)
        nearest_of(s, j);
    return RLAR_OK;
}

rlar_status rlar__graph_nearest(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                                const double *z, rlar_graph *graph) {
    search s = {.groups = groups, .k = k, .p = p, .z = z, .graph = graph};
    return rlar__parallel(ctx, (groups->n + SAMPLES_PER_TASK - 1) / SAMPLES_PER_TASK, search_task,
                          &s);
}
