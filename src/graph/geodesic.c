/* geodesic.c - all shortest paths of one class, by Dijkstra's algorithm with a heap.
 *
 * An edge joins two samples when either is among the k nearest of the other; its length is the
 * Euclidean distance. Equal samples are joined by an edge of length 0, which is an edge like any
 * other. A path summed from its two ends may differ in the last bit: the smaller sum is taken for
 * both directions, so that who is farthest from whom does not depend on rounding. */
#include "graph/geodesic.h"

#include <math.h>
#include <string.h>

#include "graph/neighbours.h"
#include "linalg/linalg.h"

/* Ratios this close to 1 are 1: on a straight line they would be rounding noise. */
static const double FLAT = 1e-12;

typedef struct entry {
    double distance;
    int32_t sample;
} entry;

/* One class as a graph, and the heap of its searches. */
typedef struct network {
    int64_t n;
    int64_t first[2];
    int32_t *label;
    rlar_groups groups;
    rlar_workspace ws;
    rlar_neighbours edges;
    entry *heap;
    int64_t filled;
} network;

void rlar__geodesic_free(rlar_geodesic *geodesic) {
    rlar__free(geodesic->neighbour);
    rlar__free(geodesic->distance);
    rlar__free(geodesic->ratio);
    *geodesic = (rlar_geodesic){0};
}

int64_t rlar__geodesic_bytes(int64_t n, int64_t k) {
    const double count = (double)n, edges = count * (double)(k < n ? k : n);
    return rlar__whole_bytes(16.0 * count * count + edges * (12 + 4 + 8 + 24 + 32) + 48.0 * count);
}

/* ---- The graph ---- */

static void network_carve(network *net, int64_t k) {
    rlar__neighbours_carve(&net->ws, &net->groups, k, &net->edges);
    /* Each directed edge is pushed at most once, beside the start. */
    net->heap = rlar__carve(&net->ws, 2 * net->edges.graph.stride * net->n + 1, sizeof *net->heap);
    net->label = rlar__carve(&net->ws, net->n, sizeof *net->label);
}

static rlar_status network_build(rlar_ctx *ctx, network *net, int64_t n, int64_t d, const double *x,
                                 int64_t k) {
    *net = (network){.n = n, .first = {0, n}};
    net->groups = (rlar_groups){.n = n, .c = 1, .first = net->first};
    network_carve(net, k);
    RLAR_TRY(rlar__workspace_take(ctx, &net->ws, "the graph of a class"));
    network_carve(net, k);
    memset(net->label, 0, (size_t)n * sizeof *net->label);
    net->groups.label = net->label;
    RLAR_TRY(rlar__graph_nearest(ctx, &net->groups, k, d, x, &net->edges.graph));
    rlar__neighbours_join(&net->groups, k, RLAR_EDGE_OR, RLAR_REACH_MATES, &net->edges);
    return RLAR_OK;
}

/* ---- Shortest paths ---- */

static void push(network *net, double distance, int32_t sample) {
    int64_t at = net->filled++;
    while (at > 0 && net->heap[(at - 1) / 2].distance > distance) {
        net->heap[at] = net->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    net->heap[at] = (entry){distance, sample};
}

static entry pop(network *net) {
    const entry top = net->heap[0], last = net->heap[--net->filled];
    int64_t at = 0;
    for (int64_t child = 1; child < net->filled; child = 2 * at + 1) {
        if (child + 1 < net->filled && net->heap[child + 1].distance < net->heap[child].distance)
            child++;
        if (net->heap[child].distance >= last.distance)
            break;
        net->heap[at] = net->heap[child];
        at = child;
    }
    net->heap[at] = last;
    return top;
}

/* Distances from one sample; infinite where no path leads. straight is n x n. */
static void paths_from(network *net, int64_t source, const double *straight, double *distance) {
    for (int64_t i = 0; i < net->n; i++)
        distance[i] = INFINITY;
    distance[source] = 0.0;
    net->filled = 0;
    push(net, 0.0, (int32_t)source);
    const rlar_laplacian *links = &net->edges.l;
    while (net->filled > 0) {
        const entry here = pop(net);
        if (here.distance > distance[here.sample])
            continue; /* a shorter way was found after this one had been pushed */
        for (int64_t e = links->start[here.sample]; e < links->start[here.sample + 1]; e++) {
            const int32_t next = links->other[e];
            const double sum = here.distance + straight[here.sample * net->n + next];
            if (sum < distance[next]) {
                distance[next] = sum;
                push(net, sum, next);
            }
        }
    }
}

static bool connected(int64_t n, const double *distance) {
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(distance[i]))
            return false;
    return true;
}

/* The network with the fewest neighbours, k, k + 2, ..., that hangs together. */
static rlar_status connect(rlar_ctx *ctx, int64_t d, const double *x, int64_t k, network *net,
                           rlar_geodesic *out) {
    for (out->k = k < out->n - 1 ? k : out->n - 1;; out->k += 2) {
        if (out->k > out->n - 1)
            out->k = out->n - 1;
        rlar__workspace_free(&net->ws);
        RLAR_TRY(network_build(ctx, net, out->n, d, x, out->k));
        paths_from(net, 0, out->ratio, out->distance);
        if (out->k == out->n - 1 || connected(out->n, out->distance))
            return RLAR_OK;
    }
}

static void straight_lines(int64_t n, int64_t d, const double *x, double *out) {
    for (int64_t j = 0; j < n; j++) {
        out[j * n + j] = 0.0;
        for (int64_t i = 0; i < j; i++)
            out[j * n + i] = out[i * n + j] = sqrt(rlar__distance2(d, x + i * d, x + j * d));
    }
}

/* Both directions of a path get one length; the straight lines become ratios. */
static void finish(rlar_geodesic *out) {
    const int64_t n = out->n;
    for (int64_t j = 0; j < n; j++) {
        out->ratio[j * n + j] = 1.0;
        for (int64_t i = 0; i < j; i++) {
            const double path = fmin(out->distance[j * n + i], out->distance[i * n + j]);
            const double ratio = path / out->ratio[j * n + i];
            const bool flat = !isfinite(ratio) || ratio < 1.0 + FLAT;
            out->distance[j * n + i] = out->distance[i * n + j] = path;
            out->ratio[j * n + i] = out->ratio[i * n + j] = flat ? 1.0 : ratio;
        }
    }
}

rlar_status rlar__geodesic(rlar_ctx *ctx, int64_t n, int64_t d, const double *x, int64_t k,
                           rlar_geodesic *out) {
    network net = {0};
    *out = (rlar_geodesic){.n = n};
    const size_t column = (size_t)n * sizeof(double);
    rlar_status status =
        rlar__alloc(ctx, n, column, "the geodesic distances of a class", &out->distance);
    if (status >= 0)
        status = rlar__alloc(ctx, n, column, "the distances of a class", &out->ratio);
    if (status >= 0) {
        straight_lines(n, d, x, out->ratio);
        status = connect(ctx, d, x, k, &net, out);
    }
    for (int64_t i = 0; i < n && status >= 0; i++) {
        paths_from(&net, i, out->ratio, out->distance + i * n);
        status = rlar__poll(ctx);
    }
    if (status >= 0)
        status = rlar__alloc(ctx, n * out->k, sizeof *out->neighbour, "the neighbours of a class",
                             &out->neighbour);
    if (status >= 0) {
        if (out->k > 0)
            memcpy(out->neighbour, net.edges.graph.neighbour,
                   (size_t)(n * out->k) * sizeof *out->neighbour);
        finish(out);
    }
    rlar__workspace_free(&net.ws);
    if (status < 0)
        rlar__geodesic_free(out);
    return status;
}
