/* test_neighbours.c - neighbours among mates, aliens and all against a full sort; the 0/1 graphs
 * and their scatters against n x n matrices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "close.h"
#include "graph/neighbours.h"
#include "samples.h"

/* More than two blocks of candidates. */
static const int64_t sizes[] = {9, 1, 50, 2, 70, 6};
enum { CLASSES = sizeof sizes / sizeof sizes[0], DIMS = 20, N = 138 };
static const int64_t ks[] = {1, 3, 7, N - 1, 1000};
enum { KS = sizeof ks / sizeof ks[0] };
static const rlar_reach reaches[] = {RLAR_REACH_MATES, RLAR_REACH_ALIENS, RLAR_REACH_ALL};

typedef struct problem {
    fixture f;
    int64_t k;
    double *x;    /* DIMS x N */
    bool *chosen; /* N x N: does j choose m, by definition */
    rlar_workspace ws;
    rlar_neighbours near;
    rlar_partials partials;
} problem;

static void carve(problem *p) {
    rlar__neighbours_carve(&p->ws, &p->f.groups, p->k, &p->near);
    rlar__partials_carve(&p->ws, N, DIMS, DIMS, &p->partials);
}

static double distance2(const problem *p, int64_t i, int64_t j) {
    return rlar__distance2(DIMS, p->x + i * DIMS, p->x + j * DIMS);
}

static bool reachable(const problem *p, rlar_reach reach, int64_t j, int64_t m) {
    const bool mates = p->f.label[j] == p->f.label[m];
    return j != m && (reach == RLAR_REACH_ALL || mates == (reach == RLAR_REACH_MATES));
}

/* j chooses m when those ahead of m, by distance and then by index, are fewer than k. */
static void choose(problem *p, rlar_reach reach) {
    for (int64_t j = 0; j < N; j++) {
        double to[N];
        for (int64_t m = 0; m < N; m++)
            to[m] = reachable(p, reach, j, m) ? distance2(p, j, m) : INFINITY;
        for (int64_t m = 0; m < N; m++) {
            int64_t ahead = 0;
            for (int64_t o = 0; o < N; o++)
                ahead += to[o] < to[m] || (to[o] == to[m] && o < m);
            p->chosen[j * N + m] = reachable(p, reach, j, m) && ahead < p->k;
        }
    }
}

/* Samples with many equal distances (a coarse grid) or with none. */
static void problem_open(problem *p, int threads, rlar_reach reach, int64_t k, bool grid) {
    rlar_rng rng = seeded(17);
    *p = (problem){.k = k};
    fixture_open(&p->f, threads, CLASSES, sizes, k);
    assert_int_equal(rlar__blas_open(p->f.ctx, 0), RLAR_OK);
    assert_int_equal(p->f.groups.n, N);
    p->f.groups.reach = reach;
    p->x = random_numbers(&rng, DIMS * N);
    for (int64_t e = 0; grid && e < DIMS * N; e++)
        p->x[e] = floor(2.0 * p->x[e]);
    p->chosen = calloc(N * N, sizeof *p->chosen);
    assert_non_null(p->chosen);
    choose(p, reach);
    carve(p);
    assert_int_equal(rlar__workspace_take(p->f.ctx, &p->ws, "test"), RLAR_OK);
    carve(p);
    assert_int_equal(rlar__graph_nearest(p->f.ctx, &p->f.groups, k, DIMS, p->x, &p->near.graph),
                     RLAR_OK);
}

static void problem_close(problem *p) {
    free(p->x);
    free(p->chosen);
    rlar__workspace_free(&p->ws);
    fixture_close(&p->f);
}

static void check_lists(const problem *p) {
    const rlar_graph *graph = &p->near.graph;
    for (int64_t j = 0; j < N; j++) {
        const int64_t count = rlar__graph_count(&p->f.groups, p->k, j);
        int64_t wanted = 0;
        for (int64_t m = 0; m < N; m++)
            wanted += p->chosen[j * N + m];
        assert_int_equal(count, wanted);
        for (int64_t e = j * graph->stride; e < j * graph->stride + count; e++) {
            assert_true(p->chosen[j * N + graph->neighbour[e]]);
            assert_true(graph->distance[e] == sqrt(distance2(p, j, graph->neighbour[e])));
            assert_true(e == j * graph->stride || graph->distance[e - 1] <= graph->distance[e]);
        }
    }
}

static void test_lists_like_full_sort(void **state) {
    (void)state;
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < KS; k++)
            for (int grid = 0; grid < 2; grid++) {
                problem p;
                problem_open(&p, 2, reaches[r], ks[k], grid);
                check_lists(&p);
                problem_close(&p);
            }
}

/* The 0/1 matrix by definition. */
static bool joined(const problem *p, rlar_edge_rule rule, rlar_reach pairs, int64_t i, int64_t j) {
    const bool one = p->chosen[i * N + j], other = p->chosen[j * N + i];
    return reachable(p, pairs, i, j) && (rule == RLAR_EDGE_OR ? one || other : one && other);
}

/* The Laplacian lists as a row of the adjacency matrix. */
static void check_graph(const problem *p, rlar_edge_rule rule, rlar_reach pairs) {
    for (int64_t i = 0; i < N; i++) {
        double row[N] = {0}, degree = 0.0;
        for (int64_t e = p->near.l.start[i]; e < p->near.l.start[i + 1]; e++)
            row[p->near.l.other[e]] += p->near.l.weight[e];
        for (int64_t j = 0; j < N; j++) {
            assert_true(row[j] == (joined(p, rule, pairs, i, j) ? 1.0 : 0.0));
            degree += row[j];
        }
        assert_true(rlar__neighbours_degree(&p->near.l, i) == degree);
    }
}

static void check_scatter(problem *p) {
    double *lz = zeros(DIMS * N), s[DIMS * DIMS], want[DIMS * DIMS] = {0};
    assert_int_equal(rlar__graph_scatter(p->f.ctx, &p->partials, &p->near.l, DIMS, p->x, lz, s),
                     RLAR_OK);
    for (int64_t i = 0; i < N; i++)
        for (int64_t e = p->near.l.start[i]; e < p->near.l.start[i + 1]; e++)
            for (int64_t a = 0; a < DIMS; a++)
                for (int64_t b = 0; b < DIMS; b++) {
                    const double *u = p->x + i * DIMS, *v = p->x + p->near.l.other[e] * DIMS;
                    want[b * DIMS + a] += 0.5 * p->near.l.weight[e] * (u[a] - v[a]) * (u[b] - v[b]);
                }
    for (int64_t b = 0; b < DIMS; b++)
        for (int64_t a = b; a < DIMS; a++)
            assert_close(s[b * DIMS + a], want[b * DIMS + a], 1e-12 * (want[0] + 1.0));
    free(lz);
}

static void test_graphs_like_definition(void **state) {
    (void)state;
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < KS; k++)
            for (int variant = 0; variant < 4; variant++) {
                problem p;
                const rlar_edge_rule rule = variant / 2 ? RLAR_EDGE_AND : RLAR_EDGE_OR;
                problem_open(&p, 1, reaches[r], ks[k], variant % 2);
                for (int pairs = 0; pairs < 3; pairs++) {
                    rlar__neighbours_join(&p.f.groups, ks[k], rule, reaches[pairs], &p.near);
                    check_graph(&p, rule, reaches[pairs]);
                    check_scatter(&p);
                }
                problem_close(&p);
            }
}

/* k >= n - 1 over all samples is the complete graph: L_b has the closed form that LSDA uses. */
static void test_complete_graph(void **state) {
    (void)state;
    problem p;
    problem_open(&p, 1, RLAR_REACH_ALL, N - 1, false);
    rlar__neighbours_join(&p.f.groups, p.k, RLAR_EDGE_OR, RLAR_REACH_ALIENS, &p.near);
    for (int64_t j = 0; j < N; j++) {
        const int32_t i = p.f.label[j];
        double row[DIMS] = {0};
        rlar__laplacian_row(&p.near.l, j, 1.0, DIMS, p.x, row);
        assert_true(rlar__neighbours_degree(&p.near.l, j) == (double)(N - sizes[i]));
        for (int64_t e = 0; e < DIMS; e++) {
            double want = (double)(N - sizes[i]) * p.x[j * DIMS + e];
            for (int64_t m = 0; m < N; m++)
                want -= p.f.label[m] == i ? 0.0 : p.x[m * DIMS + e];
            assert_close(row[e], want, 1e-12);
        }
    }
    problem_close(&p);
}

/* Same bits for any number of threads. */
static void test_threads(void **state) {
    (void)state;
    double *lz = zeros(DIMS * N), first[DIMS * DIMS] = {0}, second[DIMS * DIMS] = {0};
    for (int t = 0; t < 2; t++) {
        problem p;
        problem_open(&p, t == 0 ? 1 : 4, RLAR_REACH_ALIENS, 7, false);
        rlar__neighbours_join(&p.f.groups, 7, RLAR_EDGE_OR, RLAR_REACH_ALL, &p.near);
        assert_int_equal(rlar__graph_scatter(p.f.ctx, &p.partials, &p.near.l, DIMS, p.x, lz,
                                             t == 0 ? first : second),
                         RLAR_OK);
        problem_close(&p);
    }
    assert_memory_equal(first, second, sizeof first);
    free(lz);
}

static void test_rule(void **state) {
    (void)state;
    problem p;
    problem_open(&p, 1, RLAR_REACH_MATES, 3, false);
    assert_int_equal(rlar__graph_rule(&p.f.groups), 3);
    assert_int_equal(rlar__graph_clamped(&p.f.groups, 2), 2);
    assert_int_equal(rlar__graph_clamped(&p.f.groups, 9), 4);
    problem_close(&p);
    fixture f;
    fixture_open(&f, 1, 2, (const int64_t[]){11, 12}, 3);
    assert_int_equal(rlar__graph_rule(&f.groups), 7);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_like_full_sort),
        cmocka_unit_test(test_graphs_like_definition),
        cmocka_unit_test(test_complete_graph),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
