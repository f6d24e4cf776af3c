/* lists.c - short sorted lists, and distances of one sample to eight at once.
 *
 * Lists are short (7 neighbours as a rule), so a new one is sunk in from the end; long ones (k up
 * to the size of a class) find the place by halving. The sums of a panel run in the order of
 * rlar__distance2: fewer than 8 numbers one after another, the first 8 of more by its tree. Eight
 * candidates, not eight numbers, stand side by side, so nothing is reordered and every distance has
 * the bits it has alone. */
#include "graph/lists.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

enum { LANES = RLAR_PANEL_LANES, SHORT_LIST = 32, WARM_FROM = 4 };

rlar_list rlar__list_of(const rlar_groups *groups, int64_t k, const rlar_graph *graph, int64_t j) {
    return (rlar_list){.distance = graph->distance + j * graph->stride,
                       .index = graph->neighbour + j * graph->stride,
                       .count = rlar__graph_count(groups, k, j)};
}

/* The k-th distance cannot exceed the largest among k samples, whichever they are. */
static double bound(const rlar_list *list, int64_t p, const double *z, int64_t j) {
    double largest = 0.0;
    for (int64_t e = 0; e < list->count; e++) {
        const double d2 = rlar__distance2(p, z + j * p, z + list->index[e] * p);
        if (!(d2 <= largest))
            largest = d2;
    }
    return largest <= INFINITY ? largest : INFINITY;
}

void rlar__list_start(const rlar_list *list, bool warm, int64_t candidates, int64_t p,
                      const double *z, int64_t j) {
    const bool bounded = warm && candidates > WARM_FROM * list->count;
    const double limit = bounded ? bound(list, p, z, j) : INFINITY;
    for (int64_t e = 0; e < list->count; e++) {
        list->distance[e] = limit;
        list->index[e] = INT32_MAX;
    }
}

static bool behind(const rlar_list *list, int64_t e, double d2, int32_t m) {
    return list->distance[e] > d2 || (list->distance[e] == d2 && list->index[e] > m);
}

/* The place among the first `end`. */
static int64_t place_of(const rlar_list *list, int64_t end, double d2, int32_t m) {
    int64_t low = 0;
    while (low < end) {
        const int64_t middle = (low + end) / 2;
        if (behind(list, middle, d2, m))
            end = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Put m in its place; number `at` and those behind it are free. */
static void sink_in(const rlar_list *list, int64_t at, double d2, int32_t m) {
    if (at > SHORT_LIST) {
        const int64_t place = place_of(list, at, d2, m);
        const size_t moved = (size_t)(at - place);
        memmove(list->distance + place + 1, list->distance + place, moved * sizeof(double));
        memmove(list->index + place + 1, list->index + place, moved * sizeof(int32_t));
        at = place;
    }
    for (; at > 0 && behind(list, at - 1, d2, m); at--) {
        list->distance[at] = list->distance[at - 1];
        list->index[at] = list->index[at - 1];
    }
    list->distance[at] = d2;
    list->index[at] = m;
}

void rlar__list_offer(const rlar_list *list, double d2, int32_t m) {
    const double distance = d2 <= INFINITY ? d2 : INFINITY;
    if (behind(list, list->count - 1, distance, m))
        sink_in(list, list->count - 1, distance, m);
}

void rlar__list_refresh(const rlar_list *list, int64_t p, const double *z, int64_t j) {
    for (int64_t e = 0; e < list->count; e++) {
        const int32_t m = list->index[e]; /* read before its place is written */
        const double d2 = rlar__distance2(p, z + j * p, z + m * p);
        sink_in(list, e, d2 <= INFINITY ? d2 : INFINITY, m);
    }
}

void rlar__list_close(const rlar_list *list) {
    for (int64_t e = 0; e < list->count; e++)
        list->distance[e] = sqrt(list->distance[e]);
}

/* ---- Panels ---- */

void rlar__panels_pack(int64_t p, int64_t count, const double *z, double *panels) {
    for (int64_t start = 0; start < count; start += LANES, panels += LANES * p)
        for (int64_t lane = 0; lane < LANES; lane++) {
            const int64_t e = start + lane < count ? start + lane : count - 1;
            for (int64_t r = 0; r < p; r++)
                panels[r * LANES + lane] = z[e * p + r];
        }
}

/* Eight numbers, whatever the width of the vector unit. */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* t = (q_r - z_r)^2 for the eight candidates; a macro, because passing such a vector to a function
 * would depend on the processor. */
#define SQUARE(t, r)                                                                               \
    do {                                                                                           \
        memcpy(&(t), panel + (r)*LANES, sizeof(t));                                                \
        (t) = q[r] - (t);                                                                          \
        (t) *= (t);                                                                                \
    } while (0)

/* Fewer than 8 numbers: one after another. */
static void short_distances2(int64_t p, const double *q, const double *panel, double *out) {
    lanes sum = {0}, t;
    for (int64_t r = 0; r < p; r++) {
        SQUARE(t, r);
        sum += t;
    }
    memcpy(out, &sum, sizeof sum);
}

/* The first eight as ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)), then the sum of the others. */
static void long_distances2(int64_t p, const double *q, const double *panel, double *out) {
    lanes even, odd, t, u, rest = {0};
    SQUARE(even, 0);
    SQUARE(t, 4);
    even += t;
    SQUARE(t, 2);
    SQUARE(u, 6);
    even += t + u;
    SQUARE(odd, 1);
    SQUARE(t, 5);
    odd += t;
    SQUARE(t, 3);
    SQUARE(u, 7);
    odd += t + u;
    even += odd;
    for (int64_t r = 8; r < p; r++) {
        SQUARE(t, r);
        rest += t;
    }
    even += rest;
    memcpy(out, &even, sizeof even);
}

void rlar__panels_distances2(int64_t p, const double *q, const double *panels, int64_t from,
                             int64_t to, double *out) {
    if (p < 8)
        for (int64_t i = from; i < to; i++)
            short_distances2(p, q, panels + i * LANES * p, out + i * LANES);
    else
        for (int64_t i = from; i < to; i++)
            long_distances2(p, q, panels + i * LANES * p, out + i * LANES);
}

void rlar__lower_bounds2(int64_t p, int64_t count, double own, const double *norm2,
                         const double *products, double *row) {
    for (int64_t e = 0; e < count; e++) {
        const double squares = own + norm2[e];
        row[e] = squares - 2.0 * products[e] - rlar__expansion_slack(p, squares);
    }
}
