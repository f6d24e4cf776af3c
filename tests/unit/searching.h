/* searching.h - what the tests of the neighbour searches share: awkward samples, and the lists of
 * the literal definition. Include after cmocka.h. */
#ifndef RLAR_TEST_SEARCHING_H
#define RLAR_TEST_SEARCHING_H

#include "graph/lists.h"
#include "samples.h"

enum { RANDOM, GRID, EQUAL, FAR, VAST, KINDS };

/* Samples with no two distances equal, with many, all equal, with infinite distances. */
static inline double *samples(rlar_rng *rng, int kind, int64_t count) {
    double *z = random_numbers(rng, count);
    for (int64_t i = 0; i < count; i++) {
        if (kind == GRID)
            z[i] = floor(2.0 * z[i]);
        else if (kind == EQUAL)
            z[i] = 0.3;
        else if (kind == FAR)
            z[i] = 1000.0 + 1e-9 * z[i];
        else if (kind == VAST)
            z[i] = z[i] < 0.0 ? -1e200 : 1e200;
    }
    return z;
}

/* Of the mates that are not taken yet, the nearest, the first of equals. */
static inline int64_t next_nearest(const fixture *f, int64_t p, const double *z, int64_t j,
                                   const bool *taken, double *distance) {
    int64_t best = -1;
    for (int64_t m = 0; m < f->groups.n; m++) {
        if (m == j || f->label[m] != f->label[j] || taken[m])
            continue;
        const double d = sqrt(rlar__distance2(p, z + j * p, z + m * p));
        if (best < 0 || d < *distance) {
            best = m;
            *distance = d;
        }
    }
    return best;
}

/* A sqrt may make two squares equal, so the order is compared by squares. */
static inline void check_literal(const fixture *f, int64_t p, const double *z) {
    for (int64_t j = 0; j < f->groups.n; j++) {
        bool taken[1024] = {false};
        for (int64_t e = 0; e < rlar__graph_count(&f->groups, f->k, j); e++) {
            double d = INFINITY;
            const int64_t m = f->graph.neighbour[j * f->graph.stride + e];
            const int64_t want = next_nearest(f, p, z, j, taken, &d);
            const double *own = z + j * p;
            if (rlar__distance2(p, own, z + m * p) != rlar__distance2(p, own, z + want * p))
                assert_int_equal(m, want);
            assert_true(f->graph.distance[j * f->graph.stride + e] == d);
            taken[m] = true;
        }
    }
}

/* Equal squares come by index. */
static inline void check_ties(const fixture *f, int64_t p, const double *z) {
    for (int64_t j = 0; j < f->groups.n; j++)
        for (int64_t e = 1; e < rlar__graph_count(&f->groups, f->k, j); e++) {
            const int32_t *m = f->graph.neighbour + j * f->graph.stride + e;
            const double one = rlar__distance2(p, z + j * p, z + m[-1] * p);
            const double two = rlar__distance2(p, z + j * p, z + m[0] * p);
            assert_true(one < two || (one == two && m[-1] < m[0]));
        }
}

#endif
