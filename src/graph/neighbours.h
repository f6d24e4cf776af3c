/* neighbours.h - 0/1 graphs: two samples are joined or not, whatever their distance. */
#ifndef RLAR_NEIGHBOURS_H
#define RLAR_NEIGHBOURS_H

#include "graph/laplacian.h"
#include "linalg/linalg.h"

/* Which choices make an edge: that of either sample, or only those of both. */
typedef enum rlar_edge_rule { RLAR_EDGE_OR = 0, RLAR_EDGE_AND = 1 } rlar_edge_rule;

/* Buffers of a search and the graph made of it. */
typedef struct rlar_neighbours {
    rlar_graph graph;
    double *s; /* stride x n: directed weights, so that (S + S^T)/2 is the 0/1 matrix */
    rlar_laplacian l;
} rlar_neighbours;

void rlar__neighbours_carve(rlar_workspace *ws, const rlar_groups *groups, int64_t k,
                            rlar_neighbours *out);
/* Join the pairs that out->graph (made with these groups and k) has by the rule and that `pairs`
 * allows: mates, aliens or all. out->l becomes the Laplacian; it holds no zero weights. */
void rlar__neighbours_join(const rlar_groups *groups, int64_t k, rlar_edge_rule rule,
                           rlar_reach pairs, rlar_neighbours *out);
/* Samples joined with sample j. */
double rlar__neighbours_degree(const rlar_laplacian *l, int64_t j);

/* Lower triangle of S (r x r) = Z L Z^T = sum over edges of (z_i - z_j)(z_i - z_j)^T; z and the
 * buffer lz are r x n. */
rlar_status rlar__graph_scatter(rlar_ctx *ctx, const rlar_partials *partials,
                                const rlar_laplacian *l, int64_t r, const double *z, double *lz,
                                double *s);

#endif
