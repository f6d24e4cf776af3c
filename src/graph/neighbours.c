/* neighbours.c - from directed neighbour lists to symmetric 0/1 graphs and their scatters.
 *
 * The Laplacian of laplacian.h is D - (S + S^T)/2. A pair that chose each other has S = 1 both
 * ways; a pair of which only one chose the other has S = 2 one way (rule OR) or 0 (rule AND). So
 * every edge counts 1 and no n x n matrix is made. O(n k log k). */
#include "graph/neighbours.h"

#include <string.h>

enum { SAMPLES_PER_TASK = 32 };

void rlar__neighbours_carve(rlar_workspace *ws, const rlar_groups *groups, int64_t k,
                            rlar_neighbours *out) {
    size_t per_sample = 0;
    rlar__graph_carve(ws, groups, k, &out->graph);
    if (!rlar__size_mul((size_t)out->graph.stride, sizeof *out->s, &per_sample))
        ws->overflow = true;
    out->s = rlar__carve(ws, groups->n, per_sample);
    rlar__laplacian_carve(ws, &out->graph, &out->l);
}

/* Did sample m, with `count` neighbours, choose sample j at this distance? The lists are sorted,
 * and a distance has the same bits seen from both ends. */
static bool chose(const rlar_graph *graph, int64_t m, int64_t count, int64_t j, double distance) {
    const double *sorted = graph->distance + m * graph->stride;
    const int32_t *index = graph->neighbour + m * graph->stride;
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (sorted[middle] < distance)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < count && sorted[low] == distance && index[low] != j)
        low++;
    return low < count && sorted[low] == distance;
}

static bool allowed(const rlar_groups *groups, rlar_reach pairs, int64_t j, int64_t m) {
    const bool mates = groups->label[j] == groups->label[m];
    return pairs == RLAR_REACH_ALL || mates == (pairs == RLAR_REACH_MATES);
}

void rlar__neighbours_join(const rlar_groups *groups, int64_t k, rlar_edge_rule rule,
                           rlar_reach pairs, rlar_neighbours *out) {
    const rlar_graph *graph = &out->graph;
    const double one_way = rule == RLAR_EDGE_OR ? 2.0 : 0.0;
    for (int64_t j = 0; j < graph->n; j++)
        for (int64_t e = j * graph->stride, end = e + rlar__graph_count(groups, k, j); e < end;
             e++) {
            const int64_t m = graph->neighbour[e], count = rlar__graph_count(groups, k, m);
            const bool both = chose(graph, m, count, j, graph->distance[e]);
            out->s[e] = !allowed(groups, pairs, j, m) ? 0.0 : both ? 1.0 : one_way;
        }
    rlar__laplacian_build(groups, k, graph, out->s, &out->l);
}

double rlar__neighbours_degree(const rlar_laplacian *l, int64_t j) {
    double sum = 0.0;
    for (int64_t e = l->start[j]; e < l->start[j + 1]; e++)
        sum += l->weight[e];
    return sum;
}

typedef struct rows {
    const rlar_laplacian *l;
    int64_t r;
    const double *z;
    double *lz;
} rows;

static rlar_status rows_task(void *arg, int64_t start, int64_t end) {
    const rows *p = arg;
    for (int64_t j = start; j < end; j++) {
        memset(p->lz + j * p->r, 0, (size_t)p->r * sizeof *p->lz);
        rlar__laplacian_row(p->l, j, 1.0, p->r, p->z, p->lz + j * p->r);
    }
    return RLAR_OK;
}

rlar_status rlar__graph_scatter(rlar_ctx *ctx, const rlar_partials *partials,
                                const rlar_laplacian *l, int64_t r, const double *z, double *lz,
                                double *s) {
    rows p = {.l = l, .r = r, .z = z, .lz = lz};
    RLAR_TRY(rlar__parallel_ranges(ctx, l->n, SAMPLES_PER_TASK, rows_task, &p));
    return rlar__gram_outer(ctx, partials, r, l->n, z, lz, s);
}
