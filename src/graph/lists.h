/* lists.h - one sample's neighbours while they are being looked for, and the distances from one
 * sample to many. For src/graph only. */
#ifndef RLAR_LISTS_H
#define RLAR_LISTS_H

#include "graph/knn.h"

/* The nearest so far, by squared distance and then by index. */
typedef struct rlar_list {
    double *distance;
    int32_t *index;
    int64_t filled, count; /* how many there are, how many there shall be */
    /* Whoever is not nearer is of no use: the last distance of a full list. NaN while everybody is
     * welcome, so the test is !(d2 >= limit). */
    double limit;
} rlar_list;

/* The empty list of sample j over its row of the graph. */
rlar_list rlar__list_open(const rlar_groups *groups, int64_t k, const rlar_graph *graph, int64_t j);
/* The same row, taken as full: it holds count neighbours in order, with squared distances. */
rlar_list rlar__list_reopen(const rlar_groups *groups, int64_t k, const rlar_graph *graph,
                            int64_t j);
/* Put m, which is not in the list and not beyond its limit, in its place; count > 0. */
void rlar__list_insert(rlar_list *list, double d2, int32_t m);
/* Make it the neighbour list of sample j of a new z (p x n): squared distances, in order. */
void rlar__list_refresh(rlar_list *list, int64_t p, const double *z, int64_t j);
/* Squared distances to distances. */
void rlar__list_close(const rlar_list *list);

/* Samples of fewer than RLAR_PANEL_P numbers are compared in panels: number r of eight candidates
 * stands together, so that a vector unit makes eight distances at once. Bit by bit those of
 * rlar__distance2. */
enum { RLAR_PANEL_P = 16, RLAR_PANEL_LANES = 8 };
/* Panels of `count` samples z (p x count); what is missing in the last one repeats its last
 * sample. */
void rlar__panels_pack(int64_t p, int64_t count, const double *z, double *panels);
/* out[e] = ||q - z_e||^2 for the candidates of the panels from .. to-1. */
void rlar__panels_distances2(int64_t p, const double *q, const double *panels, int64_t from,
                             int64_t to, double *out);

#endif
