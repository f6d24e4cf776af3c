/* local_scatter.h - the local within-class and between-class scatter of LFDA; MPDA uses the latter.
 */
#ifndef RLAR_LOCAL_SCATTER_H
#define RLAR_LOCAL_SCATTER_H

#include "core/core.h"
#include "graph/knn.h"

/* Affinity of two samples of one class: A_ij = exp(-||z_i - z_j||^2 / (sigma_i sigma_j)), where
 * sigma_i is the distance from z_i to its k-th nearest mate (the farthest one in a class of at most
 * k samples); A_ij = 0 where sigma_i sigma_j = 0. With the pair weights
 *   one class of n_c   Ww = A_ij / n_c   Wb = A_ij (1/n - 1/n_c)
 *   two classes        Ww = 0            Wb = 1/n
 * the scatters are S = 1/2 sum_ij W_ij (z_i - z_j)(z_i - z_j)^T, r x r, lower triangles. z is r x n
 * and need not be centred. sw may be NULL. k = 0 sets A = 1: the scatters of LDA. */
rlar_status rlar__local_scatter(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t r,
                                const double *z, double *sw, double *sb);
/* The same where the k nearest mates and their distances are known. */
rlar_status rlar__local_scatter_by(rlar_ctx *ctx, const rlar_groups *groups, int64_t k,
                                   const rlar_graph *graph, int64_t r, const double *z, double *sw,
                                   double *sb);
/* Bytes it takes beside its results, and operations. */
int64_t rlar__local_scatter_bytes(const rlar_groups *groups, int64_t k, int64_t r);
double rlar__local_scatter_flops(const rlar_groups *groups, int64_t r);

#endif
