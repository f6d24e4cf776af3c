/* laplacian.h - L = D - (S + S^T)/2 as lists of edges. */
#ifndef RLAR_LAPLACIAN_H
#define RLAR_LAPLACIAN_H

#include "graph/knn.h"
#include "linalg/linalg.h"

enum { RLAR_STRIP = 32 }; /* features at once: four vectors of eight */

/* Row j holds the edges that touch sample j, in either direction, each with half its weight S:
 * (L x)_j = sum over e of weight[e] (x_j - x_other[e]). Two samples that chose each other have two
 * edges. */
typedef struct rlar_laplacian {
    int64_t n;
    int64_t *start; /* n + 1 */
    int32_t *other; /* of a class that lies on several ranks perhaps elsewhere (divided.h) */
    double *weight;
    struct rlar_incoming *incoming; /* edges from other ranks, while it is built; or NULL */
} rlar_laplacian;

void rlar__laplacian_carve(rlar_workspace *ws, const rlar_graph *graph, rlar_laplacian *out);

/* From the directed weights S_jm, s[j * graph->stride + e] for the e-th neighbour of j. Edges of
 * weight 0 are left out. */
void rlar__laplacian_build(const rlar_groups *groups, int64_t k, const rlar_graph *graph,
                           const double *s, rlar_laplacian *out);
/* The same on all threads, for edges within classes, also where these lie on several ranks. s NULL:
 * all weights are 1. */
rlar_status rlar__laplacian_build_classes(rlar_ctx *ctx, const rlar_groups *groups, int64_t k,
                                          const rlar_graph *graph, const double *s,
                                          rlar_laplacian *out);

/* Who is joined with whom, without weights, of all samples of the classes here: the lists of the
 * graph are there for those on other ranks, too, around those here. */
void rlar__laplacian_carve_around(rlar_workspace *ws, const rlar_graph *graph, rlar_laplacian *out);
rlar_status rlar__laplacian_build_around(rlar_ctx *ctx, const rlar_groups *groups, int64_t k,
                                         const rlar_graph *graph, rlar_laplacian *out);

/* out += beta (L x)_j for one sample, x of d rows: sum of weight (x_j - x_m), from the differences.
 */
void rlar__laplacian_row(const rlar_laplacian *l, int64_t j, double beta, int64_t d,
                         const double *x, double *out);
/* The same for `count` of the features: x and out point to the first of them, ld is d. */
void rlar__laplacian_part(const rlar_laplacian *l, int64_t j, double beta, int64_t ld,
                          int64_t count, const double *x, double *out);
/* The same for RLAR_STRIP of them, in registers while the edges pass; x points to those of sample
 * number `origin`. In the header to be compiled into loops for each kind of vector (RLAR_SIMD). */
static inline __attribute__((always_inline)) void
rlar__laplacian_strip(const rlar_laplacian *l, int64_t j, double beta, int64_t ld, int64_t origin,
                      const double *x, rlar_lanes sum[4]) {
    const rlar_lanes *xj = (const rlar_lanes *)(x + (j - origin) * ld);
    const rlar_lanes x0 = xj[0], x1 = xj[1], x2 = xj[2], x3 = xj[3];
    rlar_lanes s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];
    for (int64_t e = l->start[j]; e < l->start[j + 1]; e++) {
        const rlar_lanes *xm = (const rlar_lanes *)(x + (l->other[e] - origin) * ld);
        const double weight = beta * l->weight[e];
        s0 += weight * (x0 - xm[0]);
        s1 += weight * (x1 - xm[1]);
        s2 += weight * (x2 - xm[2]);
        s3 += weight * (x3 - xm[3]);
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

#endif
