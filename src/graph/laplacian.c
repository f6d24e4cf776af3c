/* laplacian.c - from directed weights to the symmetric Laplacian, never n x n. O(n k).
 *
 * Within classes no edge leaves its class, so the rows of a class are one task. Of a class that
 * lies on several ranks each has the rows of its samples; it gets the edges that lead to them from
 * the others, which come in the order of their samples, so that every row is that of one process.
 */
#include "graph/laplacian.h"

#include <string.h>

#include "linalg/cost.h"

/* An edge from a sample of another rank, its weight halved. */
typedef struct edge {
    int32_t from, to;
    double weight;
} edge;

_Static_assert(sizeof(edge) == RLAR_EDGE_BYTES, "what the forecast counts");

enum { PACKED = 4096 }; /* edges of a message */

struct rlar_incoming {
    int64_t *first; /* ranks + 1: where those of each begin */
    edge *edge;
    edge *pack; /* what another rank gets, piece by piece */
};

/* Edges that may come from other ranks: a sample there has `stride` of them, and at most one to
 * each of those here. */
static int64_t most_incoming(const rlar_graph *graph) {
    rlar_divided split[2];
    const int count = rlar__divided(graph->blocks, split);
    int64_t most = 0;
    for (int i = 0; i < count; i++) {
        const int64_t here = split[i].end - split[i].begin;
        const int64_t elsewhere = split[i].to - split[i].from - here;
        most += elsewhere * (graph->stride < here ? graph->stride : here);
    }
    return most;
}

void rlar__laplacian_carve(rlar_workspace *ws, const rlar_graph *graph, rlar_laplacian *out) {
    const int64_t incoming = most_incoming(graph);
    size_t edges = 0;
    if (!rlar__size_mul((size_t)graph->stride, (size_t)(2 * graph->n), &edges) ||
        !rlar__size_add(edges, (size_t)incoming, &edges) || edges > INT64_MAX)
        ws->overflow = true;
    out->n = graph->n;
    out->start = rlar__carve(ws, graph->n + 2, sizeof *out->start);
    out->weight = rlar__carve(ws, (int64_t)edges, sizeof *out->weight);
    out->other = rlar__carve(ws, (int64_t)edges, sizeof *out->other);
    out->incoming = NULL;
    if (incoming == 0)
        return;
    struct rlar_incoming *in = rlar__carve(ws, 1, sizeof *in), unused = {0};
    out->incoming = in;
    in = in ? in : &unused; /* measured only */
    in->first = rlar__carve(ws, graph->blocks->holders + 1, sizeof *in->first);
    in->edge = rlar__carve(ws, incoming, sizeof *in->edge);
    in->pack = rlar__carve(ws, PACKED, sizeof *in->pack);
}

typedef struct build {
    const rlar_groups *groups;
    int64_t k;
    const rlar_graph *graph;
    const double *s; /* NULL: all 1 */
    rlar_laplacian *l;
    int64_t from, to; /* the rows that are made */
} build;

static double weight_of(const build *b, int64_t e) {
    return b->s ? b->s[e] : 1.0;
}

static bool has_row(const build *b, int64_t m) {
    return m >= b->from && m < b->to;
}

/* Count first, then fill: start[j + 1] runs ahead as the write position of row j. */
static void count_row(const build *b, int64_t j, int64_t count) {
    int64_t *start = b->l->start;
    for (int64_t e = j * b->graph->stride, end = e + count; e < end; e++)
        if (weight_of(b, e) != 0.0) {
            start[j + 2]++;
            if (has_row(b, b->graph->neighbour[e]))
                start[b->graph->neighbour[e] + 2]++;
        }
}

/* Samples of one class, which have `count` neighbours each. */
static void count_edges(const build *b, int64_t from, int64_t to, int64_t count) {
    memset(b->l->start + from + 2, 0, (size_t)(to - from) * sizeof *b->l->start);
    for (int64_t j = from; j < to; j++)
        count_row(b, j, count);
}

static void sum_counts(const build *b) {
    int64_t *start = b->l->start + b->from;
    start[0] = start[1] = 0;
    for (int64_t j = 2; j < b->to - b->from + 2; j++)
        start[j] += start[j - 1];
}

static void add_edge(rlar_laplacian *l, int64_t j, int64_t m, double weight) {
    const int64_t at = l->start[j + 1]++;
    l->other[at] = (int32_t)m;
    if (l->weight)
        l->weight[at] = weight;
}

static void fill_edges(const build *b, int64_t from, int64_t to, int64_t count) {
    for (int64_t j = from; j < to; j++) {
        const int64_t row = j * b->graph->stride;
        for (int64_t e = row; e < row + count; e++)
            if (weight_of(b, e) != 0.0) {
                add_edge(b->l, j, b->graph->neighbour[e], 0.5 * weight_of(b, e));
                if (has_row(b, b->graph->neighbour[e]))
                    add_edge(b->l, b->graph->neighbour[e], j, 0.5 * weight_of(b, e));
            }
    }
}

/* The rows of class i that are made, and how many neighbours each has; false: none. */
static bool rows_of(const build *b, int64_t i, int64_t *from, int64_t *to, int64_t *count) {
    const int64_t *first = b->groups->first + i;
    if (first[0] == first[1])
        return false;
    rlar__class_range(b->groups, i, from, to);
    *from = *from > b->from ? *from : b->from;
    *to = *to < b->to ? *to : b->to;
    *count = rlar__graph_count(b->groups, b->k, first[0]);
    return true;
}

static rlar_status count_task(void *arg, int64_t i) {
    const build *b = arg;
    int64_t from, to, count;
    if (rows_of(b, i, &from, &to, &count))
        count_edges(b, from, to, count);
    return RLAR_OK;
}

static rlar_status fill_task(void *arg, int64_t i) {
    const build *b = arg;
    int64_t from, to, count;
    if (rows_of(b, i, &from, &to, &count))
        fill_edges(b, from, to, count);
    return RLAR_OK;
}

/* Edges may lead to other classes: all rows are cleared before any is counted. */
void rlar__laplacian_build(const rlar_groups *groups, int64_t k, const rlar_graph *graph,
                           const double *s, rlar_laplacian *out) {
    const build b = {.groups = groups, .k = k, .graph = graph, .s = s, .l = out, .to = graph->n};
    memset(out->start, 0, (size_t)(graph->n + 2) * sizeof *out->start);
    for (int64_t j = 0; j < graph->n; j++)
        count_row(&b, j, rlar__graph_count(groups, k, j));
    sum_counts(&b);
    for (int64_t j = 0; j < graph->n; j++)
        fill_edges(&b, j, j + 1, rlar__graph_count(groups, k, j));
}

/* ---- Edges from other ranks ---- */

/* The edges from here to samples of rank `other`, in their order: how many, and (unless only that
 * is asked) piece by piece to it. */
static rlar_status send_edges(rlar_ctx *ctx, const build *b, int other, bool counts,
                              int64_t *count) {
    const rlar_blocks *blocks = b->groups->blocks;
    const int64_t first = blocks->cut[other] - blocks->start;
    const int64_t last = blocks->cut[other + 1] - blocks->start;
    edge *pack = b->l->incoming->pack;
    int64_t used = 0;
    *count = 0;
    for (int64_t j = 0; j < b->l->n; j++) {
        const int64_t row = j * b->graph->stride, end = row + rlar__graph_count(b->groups, b->k, j);
        for (int64_t e = row; e < end; e++) {
            const int64_t m = b->graph->neighbour[e];
            if (weight_of(b, e) == 0.0 || m < first || m >= last)
                continue;
            ++*count;
            if (counts)
                continue;
            /* Counted from the first sample there, from which this rank begins at -first. */
            pack[used++] =
                (edge){(int32_t)(j - first), (int32_t)(m - first), 0.5 * weight_of(b, e)};
            if (used == PACKED)
                RLAR_TRY(rlar__divided_send(ctx, other, pack, (size_t)used * sizeof *pack));
            used = used == PACKED ? 0 : used;
        }
    }
    return counts ? RLAR_OK : rlar__divided_send(ctx, other, pack, (size_t)used * sizeof *pack);
}

static rlar_status receive_edges(rlar_ctx *ctx, const build *b, int other) {
    const int64_t first = b->l->incoming->first[other];
    const int64_t count = b->l->incoming->first[other + 1] - first;
    for (int64_t done = 0; done < count; done += PACKED) {
        const int64_t size = count - done < PACKED ? count - done : PACKED;
        RLAR_TRY(rlar__divided_receive(ctx, other, b->l->incoming->edge + first + done,
                                       (size_t)size * sizeof(edge)));
    }
    return RLAR_OK;
}

/* How many there will be. */
static rlar_status trade_counts(rlar_ctx *ctx, void *arg, int other, bool speak) {
    const build *b = arg;
    int64_t count, *theirs = &b->l->incoming->first[other + 1];
    RLAR_TRY(send_edges(ctx, b, other, true, &count));
    if (speak)
        RLAR_TRY(rlar__divided_send(ctx, other, &count, sizeof count));
    RLAR_TRY(rlar__divided_receive(ctx, other, theirs, sizeof *theirs));
    return speak ? RLAR_OK : rlar__divided_send(ctx, other, &count, sizeof count);
}

static rlar_status trade_edges(rlar_ctx *ctx, void *arg, int other, bool speak) {
    const build *b = arg;
    int64_t count;
    if (speak)
        RLAR_TRY(send_edges(ctx, b, other, false, &count));
    RLAR_TRY(receive_edges(ctx, b, other));
    return speak ? RLAR_OK : send_edges(ctx, b, other, false, &count);
}

static rlar_status fetch_edges(rlar_ctx *ctx, build *b) {
    const rlar_blocks *blocks = b->groups->blocks;
    int64_t *first = b->l->incoming->first;
    memset(first, 0, (size_t)(blocks->holders + 1) * sizeof *first);
    RLAR_TRY(rlar__divided_trade(ctx, blocks, trade_counts, b));
    for (int r = 0; r < blocks->holders; r++)
        first[r + 1] += first[r];
    if (first[blocks->holders] > most_incoming(b->graph))
        return rlar__fail(ctx, RLAR_E_INTERNAL, "other ranks have %lld edges to samples here",
                          (long long)first[blocks->holders]);
    return rlar__divided_trade(ctx, blocks, trade_edges, b);
}

/* Those from the ranks before this one, which come first in every row, or from those behind it. */
static void fill_incoming(const build *b, bool before) {
    const rlar_blocks *blocks = b->groups->blocks;
    const struct rlar_incoming *in = b->l->incoming;
    for (int r = 0; r < blocks->holders; r++)
        for (int64_t e = in->first[r];
             (blocks->cut[r] < blocks->start) == before && e < in->first[r + 1]; e++)
            add_edge(b->l, in->edge[e].to, in->edge[e].from, in->edge[e].weight);
}

static void count_incoming(const build *b) {
    const struct rlar_incoming *in = b->l->incoming;
    for (int64_t e = 0; e < in->first[b->groups->blocks->holders]; e++)
        b->l->start[in->edge[e].to + 2]++;
}

rlar_status rlar__laplacian_build_classes(rlar_ctx *ctx, const rlar_groups *groups, int64_t k,
                                          const rlar_graph *graph, const double *s,
                                          rlar_laplacian *out) {
    build b = {.groups = groups, .k = k, .graph = graph, .s = s, .l = out, .to = graph->n};
    if (out->incoming)
        RLAR_TRY(fetch_edges(ctx, &b));
    RLAR_TRY(rlar__parallel(ctx, groups->c, count_task, &b));
    if (out->incoming)
        count_incoming(&b);
    sum_counts(&b);
    if (out->incoming)
        fill_incoming(&b, true);
    RLAR_TRY(rlar__parallel(ctx, groups->c, fill_task, &b));
    if (out->incoming)
        fill_incoming(&b, false);
    return RLAR_OK;
}

/* ---- All samples of the classes here ---- */

void rlar__laplacian_carve_around(rlar_workspace *ws, const rlar_graph *graph,
                                  rlar_laplacian *out) {
    const int64_t around =
        rlar__divided_before(graph->blocks) + rlar__divided_behind(graph->blocks);
    size_t edges = 0;
    if (!rlar__size_mul((size_t)graph->stride, 2 * sizeof *out->other, &edges))
        ws->overflow = true;
    *out = (rlar_laplacian){.n = graph->n};
    out->start = rlar__carve_around(ws, graph->blocks, graph->n + 2, sizeof *out->start);
    out->other = rlar__carve(ws, graph->n + around, edges);
}

rlar_status rlar__laplacian_build_around(rlar_ctx *ctx, const rlar_groups *groups, int64_t k,
                                         const rlar_graph *graph, rlar_laplacian *out) {
    build b = {.groups = groups,
               .k = k,
               .graph = graph,
               .l = out,
               .from = -rlar__divided_before(groups->blocks),
               .to = graph->n + rlar__divided_behind(groups->blocks)};
    RLAR_TRY(rlar__parallel(ctx, groups->c, count_task, &b));
    sum_counts(&b);
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
