/* knn.h - the within-class nearest neighbours: V and G of the paper as lists. */
#ifndef RLAR_KNN_H
#define RLAR_KNN_H

#include "core/core.h"

/* Samples grouped by class: class i is first[i] .. first[i+1]-1. */
typedef struct rlar_groups {
    int64_t n, c;
    const int64_t *first;
    const int32_t *label;
} rlar_groups;

/* Directed: sample j chooses count(j) = min(k, n_i - 1) others of its class, nearest first. */
typedef struct rlar_graph {
    int64_t n;
    int64_t stride;     /* room per sample: the largest count */
    int32_t *neighbour; /* stride x n */
    double *distance;   /* stride x n: G at the chosen pairs */
} rlar_graph;

/* The most neighbours any sample has. */
int64_t rlar__graph_stride(const rlar_groups *groups, int64_t k);
/* Neighbours of sample j when k are asked for. */
int64_t rlar__graph_count(const rlar_groups *groups, int64_t k, int64_t j);
void rlar__graph_carve(rlar_workspace *ws, const rlar_groups *groups, int64_t k, rlar_graph *out);

/* Equations (18), (19): V takes, for every sample, the k smallest distances ||z_j - z_m|| within
 * its class. The pair (j, j) is left out by structure, not by a test for zero [N3]; ties go to the
 * lower index. z is p x n. Costs 1.5 p sum n_i^2. */
rlar_status rlar__graph_nearest(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                                const double *z, rlar_graph *graph);

#endif
