/* learned.c - how the learned graph is searched: all pairs of a class, or locally where a class is
 * large. The first graph is made once and of the samples themselves, so all pairs pay longer there
 * (docs/decisions.md has the figures). */
#include "graph/learned.h"

#include <string.h>

/* RLAR_SEARCH_AUTO: the largest class that is searched exactly. */
static const int64_t EXACT_CLASS = 3000, EXACT_FIRST = 10000;

int64_t rlar__largest_class(const rlar_groups *groups) {
    int64_t largest = 0;
    for (int64_t i = 0; i < groups->c; i++) {
        const int64_t size = rlar__class_size(groups, i);
        largest = size > largest ? size : largest;
    }
    return largest;
}

void rlar__learned_init(const rlar_groups *groups, int64_t k, rlar_search search,
                        const rlar_first_graph *first, rlar_learned *out) {
    const int64_t largest = search == RLAR_SEARCH_AUTO ? rlar__largest_class(groups) : 0;
    const bool local = search == RLAR_SEARCH_LOCAL;
    *out = (rlar_learned){.k = k,
                          .local = local || largest > EXACT_CLASS,
                          .local_first = local || largest > EXACT_FIRST};
    if (first && first->k == k && !out->local_first)
        out->first = first;
}

void rlar__learned_carve(rlar_workspace *ws, const rlar_groups *groups, int64_t d,
                         rlar_learned *graph) {
    rlar_divided split[2];
    size_t sample = 0;
    if (!rlar__size_mul((size_t)(d + 1), sizeof(double), &sample))
        ws->overflow = true;
    rlar__graph_carve(ws, groups, graph->k, &graph->v);
    graph->twin = rlar__carve(ws, groups->n, sizeof *graph->twin);
    rlar__laplacian_carve(ws, &graph->v, &graph->l);
    if (graph->local)
        rlar__local_carve(ws, groups, &graph->v, &graph->l, &graph->near);
    graph->room = NULL;
    if (rlar__divided(groups->blocks, split) > 0)
        graph->room = rlar__carve(ws, RLAR_VISITORS, sample);
}

static rlar_status first_lists(rlar_ctx *ctx, const rlar_groups *groups, int64_t d, const double *x,
                               rlar_learned *graph) {
    const size_t places = (size_t)(groups->n * graph->v.stride);
    if (graph->local_first)
        return rlar__local_nearest(ctx, groups, graph->k, d, x, graph->room, &graph->near,
                                   &graph->v);
    if (!graph->first)
        return rlar__graph_nearest_apart(ctx, groups, graph->k, d, x, graph->room, &graph->v);
    memcpy(graph->v.neighbour, graph->first->graph.neighbour, places * sizeof *graph->v.neighbour);
    memcpy(graph->v.distance, graph->first->graph.distance, places * sizeof *graph->v.distance);
    return RLAR_OK;
}

/* The nearest neighbours tell which samples have equals; a local search may have missed some. */
rlar_status rlar__learned_start(rlar_ctx *ctx, const rlar_groups *groups, int64_t d,
                                const double *x, rlar_learned *graph) {
    RLAR_TRY(first_lists(ctx, groups, d, x, graph));
    for (int64_t j = 0; j < groups->n; j++)
        graph->twin[j] = graph->local_first || (rlar__graph_count(groups, graph->k, j) > 0 &&
                                                graph->v.distance[j * graph->v.stride] == 0.0);
    return RLAR_OK;
}

rlar_status rlar__learned_renew(rlar_ctx *ctx, const rlar_groups *groups, int64_t p,
                                const double *z, rlar_learned *graph) {
    if (graph->local)
        return rlar__local_renew(ctx, groups, graph->k, p, z, &graph->near, &graph->v);
    return rlar__graph_renew(ctx, groups, graph->k, p, z, &graph->v);
}

void rlar__learned_talk(const rlar_groups *groups, const rlar_learned *graph, int64_t d,
                        rlar_exchange *start, rlar_exchange *renew) {
    rlar_exchange first = {0}, later = {0};
    if (graph->local_first)
        rlar__local_talk(groups, graph->k, d, start);
    else
        start->told += (double)d * sizeof(double);
    if (!graph->local)
        return;
    rlar__local_renew_talk(groups, graph->k, true, &first);
    rlar__local_renew_talk(groups, graph->k, false, &later);
    start->told += first.told - later.told;
    renew->told += later.told;
}

/* ---- The first graph of many fits ---- */

void rlar__first_graph_free(void *shared) {
    rlar_first_graph *first = shared;
    rlar__workspace_free(&first->ws);
    rlar__free(first);
}

rlar_status rlar__first_graph_new(rlar_ctx *ctx, const rlar_groups *groups,
                                  const rlar_learned *graph, int64_t d, const double *x,
                                  void **out) {
    rlar_first_graph *first = NULL;
    if (graph->local_first)
        return RLAR_OK;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *first, "the first graph", &first));
    first->k = graph->k;
    rlar__graph_carve(&first->ws, groups, first->k, &first->graph);
    rlar_status status = rlar__workspace_take(ctx, &first->ws, "the first graph");
    if (status >= 0) {
        rlar__graph_carve(&first->ws, groups, first->k, &first->graph);
        status = rlar__graph_nearest(ctx, groups, first->k, d, x, &first->graph);
    }
    if (status < 0)
        rlar__first_graph_free(first);
    else
        *out = first;
    return status;
}
