/* lists.h - one sample's neighbours while they are being looked for, and the distances from one
 * sample to many. For src/graph only. */
#ifndef RLAR_LISTS_H
#define RLAR_LISTS_H

#include "graph/knn.h"

/* The nearest so far, by squared distance and then by index: always full, at first with nobody
 * (index INT32_MAX) at the distance that the search starts from. */
typedef struct rlar_list {
    double *distance;
    int32_t *index;
    int64_t count;
} rlar_list;

/* The row of sample j. */
rlar_list rlar__list_of(const rlar_groups *groups, int64_t k, const rlar_graph *graph, int64_t j);
/* Start the search for the neighbours of sample j of z (p x n). warm: the list holds neighbours of
 * an earlier z, and the farthest of them bounds what is looked for, if the candidates are many. */
void rlar__list_start(const rlar_list *list, bool warm, int64_t candidates, int64_t p,
                      const double *z, int64_t j);
/* Whoever is farther than this is of no use. */
static inline double rlar__list_limit(const rlar_list *list) {
    return list->distance[list->count - 1];
}
/* Take m, which is not in the list, in place of the last if it is nearer, or as near with a lower
 * index. A distance that is not a number counts as infinite. */
void rlar__list_offer(const rlar_list *list, double d2, int32_t m);
/* Distances to a new z, and the order that they give. */
void rlar__list_refresh(const rlar_list *list, int64_t p, const double *z, int64_t j);
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

/* row[e] < ||z_j - z_e||^2 for `count` candidates, surely, from |z_j|^2, their |z_e|^2 and the
 * inner products with z_j. */
void rlar__lower_bounds2(int64_t p, int64_t count, double own, const double *norm2,
                         const double *products, double *row);

/* rlar__graph_nearest or, warm, rlar__graph_renew within classes for samples of many numbers;
 * graph->norm2 has been made (tiles.c). */
rlar_status rlar__tiles_nearest(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                                const double *z, bool warm, rlar_graph *graph);

#endif
