/* geodesic.h - distances along the samples of one class. */
#ifndef RLAR_GEODESIC_H
#define RLAR_GEODESIC_H

#include "core/core.h"

/* Shortest paths over the graph of nearest neighbours, and how much longer they are than the
 * straight lines: 1 where the samples lie flat. */
typedef struct rlar_geodesic {
    int64_t n;
    int64_t k; /* neighbours of each sample, as many as the graph needed to hang together */
    int32_t *neighbour; /* k x n, nearest first; not symmetrised */
    double *distance;   /* n x n, exactly symmetric */
    double *ratio;      /* n x n: distance / straight line, 1 where that is 0/0 */
} rlar_geodesic;

/* x is d x n. Starts with k neighbours and takes two more until the graph is connected, n - 1 at
 * the most. Costs 3 d n^2 + n^2 k log n and 16 n^2 bytes. */
rlar_status rlar__geodesic(rlar_ctx *ctx, int64_t n, int64_t d, const double *x, int64_t k,
                           rlar_geodesic *out);
void rlar__geodesic_free(rlar_geodesic *geodesic);
/* Bytes held at the peak. */
int64_t rlar__geodesic_bytes(int64_t n, int64_t k);

#endif
