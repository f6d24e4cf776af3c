/* local.h - neighbours within large classes, found by looking around instead of everywhere. */
#ifndef RLAR_LOCAL_H
#define RLAR_LOCAL_H

#include "graph/laplacian.h"
#include "graph/leaves.h"
#include "linalg/cost.h"

/* Buffers of the search; l, the caller's, is used as the list of who is joined with whom, but where
 * a class lies on several ranks: then there are lists of all its samples. */
typedef struct rlar_local {
    rlar_leaves leaves;
    rlar_laplacian *l;
    rlar_laplacian around;
    int32_t *lists;   /* stride x n and others around; or NULL */
    uint64_t cuts;    /* so far: the seed of the next */
    int64_t renewals; /* so far */
} rlar_local;

void rlar__local_carve(rlar_workspace *ws, const rlar_groups *groups, const rlar_graph *graph,
                       rlar_laplacian *l, rlar_local *out);

/* Nearly the lists of rlar__graph_nearest, within classes, in about n log n instead of n^2 steps.
 * Distances and order are exact; some neighbours are not the very nearest. z is p x n. room: for
 * p x RLAR_VISITORS numbers where a class lies on several ranks. */
rlar_status rlar__local_nearest(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                                const double *z, double *room, rlar_local *local,
                                rlar_graph *graph);
/* The lists of an earlier z, improved for this one. A neighbour leaves its list only for one that
 * is nearer (or as near, with a lower index), so no list becomes worse than if it were kept. Of a
 * class that lies on several ranks z has all samples, around those here. */
rlar_status rlar__local_renew(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                              const double *z, rlar_local *local, rlar_graph *graph);
/* Operations of the two, about. */
double rlar__local_flops(const rlar_groups *groups, int64_t k, int64_t p, bool renew);
/* What ranks that share a class say in the first, of p numbers, or in the second, that of the first
 * z or of a later one; added. */
void rlar__local_talk(const rlar_groups *groups, int64_t k, int64_t p, rlar_exchange *out);
void rlar__local_renew_talk(const rlar_groups *groups, int64_t k, bool first, rlar_exchange *out);

#endif
