/* test_search.c - the exact neighbour searches against the literal definition, bit by bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph/laplacian.h"
#include "linalg/linalg.h"
#include "searching.h"

/* ---- Distances ---- */

static void test_panels_have_the_bits_of_pairs(void **state) {
    (void)state;
    rlar_rng rng = seeded(1);
    for (int64_t p = 1; p < RLAR_PANEL_P; p++)
        for (int64_t count = 1; count <= 20; count++) {
            double *z = random_numbers(&rng, p * count), *q = random_numbers(&rng, p);
            double panels[3 * RLAR_PANEL_LANES * RLAR_PANEL_P], out[3 * RLAR_PANEL_LANES];
            const int64_t used = (count + RLAR_PANEL_LANES - 1) / RLAR_PANEL_LANES;
            rlar__panels_pack(p, count, z, panels);
            rlar__panels_distances2(p, q, panels, 0, used, out);
            for (int64_t e = 0; e < count; e++) {
                assert_true(out[e] == rlar__distance2(p, q, z + e * p));
                assert_true(out[e] == rlar__distance2(p, z + e * p, q));
            }
            free(z);
            free(q);
        }
}

/* Nearly equal samples far from the origin are the worst case of the expansion. */
static void test_bounds_stay_below(void **state) {
    (void)state;
    rlar_rng rng = seeded(2);
    for (int trial = 0; trial < 2000; trial++) {
        const int64_t p = 16 + trial % 50;
        double *a = random_numbers(&rng, p), *b = random_numbers(&rng, p), row;
        const double shift = pow(10.0, trial % 5), near = pow(10.0, -(trial % 12));
        for (int64_t r = 0; r < p; r++) {
            a[r] += shift;
            b[r] = a[r] + near * b[r];
        }
        const double norm2 = rlar__dot(p, b, b), product = rlar__dot(p, a, b);
        rlar__lower_bounds2(p, 1, rlar__dot(p, a, a), &norm2, &product, &row);
        assert_true(row < rlar__distance2(p, a, b));
        free(a);
        free(b);
    }
}

/* ---- Exact lists ---- */

static void run_exact(rlar_rng *rng, int kind, int64_t c, const int64_t *sizes, int64_t k,
                      int64_t p) {
    fixture f;
    fixture_open(&f, 1 + (int)(p % 3), c, sizes, k);
    double *before = samples(rng, RANDOM, p * f.groups.n);
    double *z = samples(rng, kind, p * f.groups.n);
    assert_int_equal(rlar__graph_nearest(f.ctx, &f.groups, k, p, z, &f.graph), RLAR_OK);
    check_literal(&f, p, z);
    check_ties(&f, p, z);
    assert_int_equal(rlar__graph_nearest(f.ctx, &f.groups, k, p, before, &f.graph), RLAR_OK);
    assert_int_equal(rlar__graph_renew(f.ctx, &f.groups, k, p, z, &f.graph), RLAR_OK);
    check_literal(&f, p, z);
    check_ties(&f, p, z);
    free(before);
    free(z);
    fixture_close(&f);
}

static void test_exact_is_literal(void **state) {
    (void)state;
    static const int64_t sizes[][4] = {{1, 2, 3, 40}, {31, 1, 70, 8}};
    static const int64_t ps[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 64}, ks[] = {1, 3, 7, 45, 500};
    rlar_rng rng = seeded(3);
    for (int i = 0; i < 2; i++)
        for (int p = 0; p < 11; p++)
            for (int k = 0; k < 5; k++)
                for (int kind = 0; kind < KINDS; kind++)
                    run_exact(&rng, kind, 4, sizes[i], ks[k], ps[p]);
}

/* Several blocks that meet in turns, the last one short. */
static void test_exact_over_blocks(void **state) {
    (void)state;
    static const int64_t sizes[] = {300, 257, 128};
    rlar_rng rng = seeded(4);
    for (int kind = 0; kind < KINDS; kind++) {
        run_exact(&rng, kind, 3, sizes, 7, 20);
        run_exact(&rng, kind, 3, sizes, 7, 5);
    }
}

/* ---- The Laplacian by classes ---- */

static void test_laplacian_by_classes_is_the_same(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 40, 2, 17, 70};
    rlar_rng rng = seeded(5);
    fixture f, g;
    fixture_open(&f, 3, 5, sizes, 6);
    fixture_open(&g, 1, 5, sizes, 6);
    double *z = random_numbers(&rng, 3 * f.groups.n);
    fixture_weigh(&f, &rng, 3, z, 2.0);
    for (int64_t e = 0; e < f.graph.stride * f.graph.n; e += 5)
        f.s[e] = 0.0;
    for (int ones = 0; ones < 2; ones++) {
        for (int64_t e = 0; ones && e < f.graph.stride * f.graph.n; e++)
            f.s[e] = 1.0;
        rlar__laplacian_build(&f.groups, 6, &f.graph, f.s, &g.l);
        assert_int_equal(
            rlar__laplacian_build_classes(f.ctx, &f.groups, 6, &f.graph, ones ? NULL : f.s, &f.l),
            RLAR_OK);
        const size_t edges = (size_t)f.l.start[f.groups.n];
        assert_memory_equal(f.l.start, g.l.start, (size_t)(f.groups.n + 1) * sizeof *f.l.start);
        assert_memory_equal(f.l.other, g.l.other, edges * sizeof *f.l.other);
        assert_memory_equal(f.l.weight, g.l.weight, edges * sizeof *f.l.weight);
    }
    free(z);
    fixture_close(&f);
    fixture_close(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_panels_have_the_bits_of_pairs),
        cmocka_unit_test(test_bounds_stay_below),
        cmocka_unit_test(test_exact_is_literal),
        cmocka_unit_test(test_exact_over_blocks),
        cmocka_unit_test(test_laplacian_by_classes_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
