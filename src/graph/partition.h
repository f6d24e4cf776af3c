/* partition.h - every class cut into patches that lie nearly flat. */
#ifndef RLAR_PARTITION_H
#define RLAR_PARTITION_H

#include "graph/knn.h"

/* Disjoint patches that cover all samples; none crosses a class. */
typedef struct rlar_patches {
    int64_t n, c;
    int64_t count;
    int64_t *class_first; /* c + 1: class i has the patches class_first[i] .. class_first[i+1]-1 */
    int64_t *start;       /* count + 1 */
    int32_t *member;      /* n: patch p is member[start[p] .. start[p+1]-1], ascending */
    int32_t *patch_of;    /* n: the patch of each sample */
} rlar_patches;

/* Divisive partition by geodesic distances over k neighbours: the largest patch is split until all
 * have fewer than `limit` samples (at least 4), so a class of fewer stays whole. x is d x n. Ties
 * go by index, so the result depends on the order of the samples within a class. */
rlar_status rlar__partition(rlar_ctx *ctx, const rlar_groups *groups, int64_t d, const double *x,
                            int64_t k, int64_t limit, rlar_patches *out);
void rlar__patches_free(rlar_patches *patches);
/* Bytes held at the peak. */
int64_t rlar__partition_bytes(const rlar_ctx *ctx, const rlar_groups *groups, int64_t k);

#endif
