/* laplacian.c - from directed weights to the symmetric Laplacian, never n x n. O(n k).
 *
 * Within classes no edge leaves its class, so the rows of a class are one task. */
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

typedef struct build {
    const rlar_groups *groups;
    int64_t k;
    const rlar_graph *graph;
    const double *s; /* NULL: all 1 */
    rlar_laplacian *l;
} build;

static double weight_of(const build *b, int64_t e) {
    return b->s ? b->s[e] : 1.0;
}

/* Count first, then fill: start[j + 1] runs ahead as the write position of row j. */
static void count_edges(const build *b, int64_t from, int64_t to) {
    int64_t *start = b->l->start;
    memset(start + from + 2, 0, (size_t)(to - from) * sizeof *start);
    for (int64_t j = from; j < to; j++) {
        const int64_t row = j * b->graph->stride, count = rlar__graph_count(b->groups, b->k, j);
        for (int64_t e = row; e < row + count; e++)
            if (weight_of(b, e) != 0.0) {
                start[j + 2]++;
                start[b->graph->neighbour[e] + 2]++;
            }
    }
}

static void sum_counts(rlar_laplacian *l) {
    l->start[0] = l->start[1] = 0;
    for (int64_t j = 2; j < l->n + 2; j++)
        l->start[j] += l->start[j - 1];
}

static void add_edge(rlar_laplacian *l, int64_t j, int64_t m, double weight) {
    const int64_t at = l->start[j + 1]++;
    l->other[at] = (int32_t)m;
    l->weight[at] = weight;
}

static void fill_edges(const build *b, int64_t from, int64_t to) {
    for (int64_t j = from; j < to; j++) {
        const int64_t row = j * b->graph->stride, count = rlar__graph_count(b->groups, b->k, j);
        for (int64_t e = row; e < row + count; e++)
            if (weight_of(b, e) != 0.0) {
                add_edge(b->l, j, b->graph->neighbour[e], 0.5 * weight_of(b, e));
                add_edge(b->l, b->graph->neighbour[e], j, 0.5 * weight_of(b, e));
            }
    }
}

void rlar__laplacian_build(const rlar_groups *groups, int64_t k, const rlar_graph *graph,
                           const double *s, rlar_laplacian *out) {
    const build b = {.groups = groups, .k = k, .graph = graph, .s = s, .l = out};
    count_edges(&b, 0, graph->n);
    sum_counts(out);
    fill_edges(&b, 0, graph->n);
}

static rlar_status count_task(void *arg, int64_t i) {
    const build *b = arg;
    count_edges(b, b->groups->first[i], b->groups->first[i + 1]);
    return RLAR_OK;
}

static rlar_status fill_task(void *arg, int64_t i) {
    const build *b = arg;
    fill_edges(b, b->groups->first[i], b->groups->first[i + 1]);
    return RLAR_OK;
}

rlar_status rlar__laplacian_build_classes(rlar_ctx *ctx, const rlar_groups *groups, int64_t k,
                                          const rlar_graph *graph, const double *s,
                                          rlar_laplacian *out) {
    build b = {.groups = groups, .k = k, .graph = graph, .s = s, .l = out};
    RLAR_TRY(rlar__parallel(ctx, groups->c, count_task, &b));
    sum_counts(out);
    return rlar__parallel(ctx, groups->c, fill_task, &b);
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
