/* leaves.h - every class cut at random into leaves of samples that lie together. For src/graph
 * only. */
#ifndef RLAR_LEAVES_H
#define RLAR_LEAVES_H

#include "graph/knn.h"

enum { RLAR_LEAF = 64 }; /* samples in a leaf at the most */

typedef struct rlar_leaves {
    int64_t *start; /* c + 1: class i has the leaves start[i] .. start[i+1]-1, a power of two */
    int32_t *order; /* n: the samples, leaf by leaf; with those of the same classes elsewhere */
    double *key;    /* n, likewise: where they lie along the direction of a cut */
    double *told;   /* the same by sample, where ranks tell each other; or NULL */
} rlar_leaves;

void rlar__leaves_carve(rlar_workspace *ws, const rlar_groups *groups, rlar_leaves *out);
/* Cut the samples z (p x n); the seed names the directions. Of a class that lies on several ranks z
 * has all samples, around those here; or, with room (p x RLAR_VISITORS, else NULL), only those
 * here. */
rlar_status rlar__leaves_cut(rlar_ctx *ctx, const rlar_groups *groups, int64_t p, const double *z,
                             uint64_t seed, double *room, rlar_leaves *out);
/* Leaf number t, of all: order[*from .. *to-1]. */
void rlar__leaf_range(const rlar_groups *groups, const rlar_leaves *leaves, int64_t t,
                      int64_t *from, int64_t *to);

#endif
