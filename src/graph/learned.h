/* learned.h - a graph within the classes that is learned together with a map: made from the samples
 * first, renewed from their outputs in every iteration. */
#ifndef RLAR_LEARNED_H
#define RLAR_LEARNED_H

#include "graph/knn.h"
#include "graph/laplacian.h"
#include "graph/local.h"

typedef enum rlar_search { RLAR_SEARCH_AUTO, RLAR_SEARCH_EXACT, RLAR_SEARCH_LOCAL } rlar_search;

/* The exact graph of the samples themselves, shared by the fits of a grid. */
typedef struct rlar_first_graph {
    int64_t k;
    rlar_graph graph;
    rlar_workspace ws;
} rlar_first_graph;

typedef struct rlar_learned {
    int64_t k;
    bool local_first, local; /* how the first graph and the others are searched */
    const rlar_first_graph *first;
    rlar_graph v;     /* V and G */
    bool *twin;       /* n: may equal another sample of its class */
    rlar_laplacian l; /* built by the owner, who has the weights */
    rlar_local near;
    double *room; /* for samples of other ranks; NULL: no class is cut */
} rlar_learned;

/* How many samples the largest class has. */
int64_t rlar__largest_class(const rlar_groups *groups);
/* k neighbours; first: NULL, or used where it fits. */
void rlar__learned_init(const rlar_groups *groups, int64_t k, rlar_search search,
                        const rlar_first_graph *first, rlar_learned *out);
/* For samples of d numbers. */
void rlar__learned_carve(rlar_workspace *ws, const rlar_groups *groups, int64_t d,
                         rlar_learned *graph);
/* From the samples (d x n). */
rlar_status rlar__learned_start(rlar_ctx *ctx, const rlar_groups *groups, int64_t d,
                                const double *x, rlar_learned *graph);
/* From the outputs (p x n, and around them those of the same classes on other ranks). The local
 * search takes no neighbour that is farther. */
rlar_status rlar__learned_renew(rlar_ctx *ctx, const rlar_groups *groups, int64_t p,
                                const double *z, rlar_learned *graph);

/* What ranks that share a class say for the first graph, and for another; what the first of these
 * takes more than a later one counts with the beginning. Added. */
void rlar__learned_talk(const rlar_groups *groups, const rlar_learned *graph, int64_t d,
                        rlar_exchange *start, rlar_exchange *renew);

/* *out stays NULL where a fit would not use it. */
rlar_status rlar__first_graph_new(rlar_ctx *ctx, const rlar_groups *groups,
                                  const rlar_learned *graph, int64_t d, const double *x,
                                  void **out);
void rlar__first_graph_free(void *first);

#endif
