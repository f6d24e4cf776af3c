/* samples.h - what the tests of the solver steps share: random numbers with a fixed seed, a
 * context, samples grouped by class, a graph with its Laplacian. Include after cmocka.h. */
#ifndef RLAR_TEST_SAMPLES_H
#define RLAR_TEST_SAMPLES_H

#include <math.h>
#include <stdlib.h>

#include "core/core.h"
#include "graph/laplacian.h"
#include "linalg/linalg.h"

/* Uniform on [-1, 1). */
static inline double uniform(rlar_rng *rng) {
    return (double)(rlar__rng_next(rng) >> 11) * 0x1p-52 - 1.0;
}

/* A weight between 10^-decades and 10^decades. */
static inline double spread(rlar_rng *rng, double decades) {
    return pow(10.0, decades * uniform(rng));
}

/* How much less an oracle in long double knows where long double is double: under valgrind, on some
 * machines. */
static inline double oracle_slack(void) {
    volatile long double one = 1.0L;
    one += 0x1p-60L;
    return one == 1.0L ? 1e4 : 1.0;
}

static inline rlar_rng seeded(uint64_t seed) {
    return rlar__rng_seed(&seed, 1);
}

static inline rlar_ctx *context(int threads) {
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    options.threads = threads;
    rlar_ctx *ctx = NULL;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    return ctx;
}

/* count doubles, uniform on [-1, 1); never NULL. */
static inline double *random_numbers(rlar_rng *rng, int64_t count) {
    double *x = malloc((size_t)(count + 1) * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++)
        x[i] = uniform(rng);
    return x;
}

static inline double *zeros(int64_t count) {
    double *x = calloc((size_t)(count + 1), sizeof *x);
    assert_non_null(x);
    return x;
}

/* Groups, graph and Laplacian over one workspace. S is the directed weights, stride x n. */
typedef struct fixture {
    rlar_ctx *ctx;
    rlar_groups groups;
    int64_t k;
    int64_t *first;
    int32_t *label;
    rlar_workspace ws;
    rlar_graph graph;
    rlar_laplacian l;
    double *s;
} fixture;

static inline void fixture_carve(fixture *f) {
    rlar__graph_carve(&f->ws, &f->groups, f->k, &f->graph);
    rlar__laplacian_carve(&f->ws, &f->graph, &f->l);
    f->s = rlar__carve(&f->ws, f->graph.stride * f->graph.n, sizeof *f->s);
}

/* c classes of the given sizes; nothing is computed yet. */
static inline void fixture_open(fixture *f, int threads, int64_t c, const int64_t *sizes,
                                int64_t k) {
    *f = (fixture){.ctx = context(threads), .k = k};
    assert_int_equal(rlar__blas_open(f->ctx, 0), RLAR_OK);
    f->first = calloc((size_t)c + 1, sizeof *f->first);
    assert_non_null(f->first);
    for (int64_t i = 0; i < c; i++)
        f->first[i + 1] = f->first[i] + sizes[i];
    const int64_t n = f->first[c];
    f->label = calloc((size_t)n, sizeof *f->label);
    assert_non_null(f->label);
    for (int64_t i = 0; i < c; i++)
        for (int64_t j = f->first[i]; j < f->first[i + 1]; j++)
            f->label[j] = (int32_t)i;
    f->groups = (rlar_groups){.n = n, .c = c, .first = f->first, .label = f->label};
    fixture_carve(f);
    assert_int_equal(rlar__workspace_take(f->ctx, &f->ws, "test"), RLAR_OK);
    fixture_carve(f);
}

/* Neighbours of the samples x (d x n), random weights on their edges, the Laplacian. */
static inline void fixture_weigh(fixture *f, rlar_rng *rng, int64_t d, const double *x,
                                 double decades) {
    assert_int_equal(rlar__graph_nearest(f->ctx, &f->groups, f->k, d, x, &f->graph), RLAR_OK);
    for (int64_t e = 0; e < f->graph.stride * f->graph.n; e++)
        f->s[e] = spread(rng, decades);
    rlar__laplacian_build(&f->groups, f->k, &f->graph, f->s, &f->l);
}

/* The directed weights as a full matrix, S[j * n + m]; the caller frees it. */
static inline double *fixture_dense_s(const fixture *f) {
    const int64_t n = f->groups.n;
    double *dense = zeros(n * n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t e = 0; e < rlar__graph_count(&f->groups, f->k, j); e++)
            dense[j * n + f->graph.neighbour[j * f->graph.stride + e]] +=
                f->s[j * f->graph.stride + e];
    return dense;
}

static inline void fixture_close(fixture *f) {
    rlar__workspace_free(&f->ws);
    free(f->first);
    free(f->label);
    rlar_ctx_free(f->ctx);
}

#endif
