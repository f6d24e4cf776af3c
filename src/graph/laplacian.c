/* laplacian.c - from directed weights to the symmetric Laplacian, never n x n. O(n k). */
#include "graph/laplacian.h"

#include <string.h>

void rlar__laplacian_carve(rlar_workspace *ws, const rlar_graph *graph, rlar_laplacian *out) {
    size_t per_sample = 0;
    if (!rlar__size_mul((size_t)graph->stride, 2 * sizeof(double), &per_sample))
        ws->overflow = true;
    out->n = graph->n;
    out->start = rlar__carve(ws, graph->n + 2, sizeof *out->start);
    out->weight = rlar__carve(ws, graph->n, per_sample);
    out->other = rlar__carve(ws, graph->n, per_sample / 2);
}

/* Count first, then fill: start[j + 1] runs ahead as the write position of row j. */
static void count_edges(const rlar_groups *groups, int64_t k, const rlar_graph *graph,
                        const double *s, int64_t *start) {
    memset(start, 0, (size_t)(graph->n + 2) * sizeof *start);
    for (int64_t j = 0; j < graph->n; j++)
        for (int64_t e = j * graph->stride, end = e + rlar__graph_count(groups, k, j); e < end; e++)
            if (s[e] != 0.0) {
                start[j + 2]++;
                start[graph->neighbour[e] + 2]++;
            }
    for (int64_t j = 2; j < graph->n + 2; j++)
        start[j] += start[j - 1];
}

static void add_edge(rlar_laplacian *l, int64_t j, int64_t m, double weight) {
    const int64_t at = l->start[j + 1]++;
    l->other[at] = (int32_t)m;
    l->weight[at] = weight;
}

void rlar__laplacian_build(const rlar_groups *groups, int64_t k, const rlar_graph *graph,
                           const double *s, rlar_laplacian *out) {
    count_edges(groups, k, graph, s, out->start);
    for (int64_t j = 0; j < graph->n; j++)
        for (int64_t e = j * graph->stride, end = e + rlar__graph_count(groups, k, j); e < end; e++)
            if (s[e] != 0.0) {
                add_edge(out, j, graph->neighbour[e], 0.5 * s[e]);
                add_edge(out, graph->neighbour[e], j, 0.5 * s[e]);
            }
}

RLAR_SIMD
void rlar__laplacian_part(const rlar_laplacian *l, int64_t j, double beta, int64_t ld,
                          int64_t count, const double *x, double *out) {
    int64_t first = 0;
    for (; first + RLAR_STRIP <= count; first += RLAR_STRIP)
        rlar__laplacian_strip(l, j, beta, ld, 0, x + first, (rlar_lanes *)(out + first));
    for (int64_t e = l->start[j]; first < count && e < l->start[j + 1]; e++) {
        const double *xj = x + j * ld, *xm = x + l->other[e] * ld;
        const double weight = beta * l->weight[e];
        for (int64_t r = first; r < count; r++)
            out[r] += weight * (xj[r] - xm[r]);
    }
}

void rlar__laplacian_row(const rlar_laplacian *l, int64_t j, double beta, int64_t d,
                         const double *x, double *out) {
    rlar__laplacian_part(l, j, beta, d, d, x, out);
}
