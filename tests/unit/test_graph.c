/* test_graph.c - the neighbour lists against a full sort of every row, and the Laplacian against
 * the n x n matrices of the paper. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "samples.h"

/* Singletons, a pair, classes of at most k samples, larger ones; more than one task of samples. */
static const int64_t sizes[] = {1, 12, 2, 40, 1, 7, 25};
enum { CLASSES = sizeof sizes / sizeof sizes[0] };
static const int64_t ks[] = {1, 2, 3, 7, 24, 1000};
enum { KS = sizeof ks / sizeof ks[0] };

static double distance(int64_t p, const double *a, const double *b) {
    double sum = 0.0;
    for (int64_t r = 0; r < p; r++)
        sum += (a[r] - b[r]) * (a[r] - b[r]);
    return sqrt(sum);
}

typedef struct candidate {
    double distance;
    int64_t index;
} candidate;

static int nearer(const void *a, const void *b) {
    const candidate *u = a, *v = b;
    if (u->distance != v->distance)
        return u->distance < v->distance ? -1 : 1;
    return u->index < v->index ? -1 : 1;
}

/* All mates of j by distance, then by index. Returns how many. */
static int64_t sorted_mates(const fixture *f, int64_t p, const double *z, int64_t j,
                            candidate *out) {
    int64_t count = 0;
    for (int64_t m = 0; m < f->groups.n; m++)
        if (m != j && f->label[m] == f->label[j])
            out[count++] = (candidate){distance(p, z + j * p, z + m * p), m};
    qsort(out, (size_t)count, sizeof *out, nearer);
    return count;
}

/* Structure: the right number, no self loop, no other class, nobody twice, nearest first. */
static void check_structure(const fixture *f, int64_t j) {
    const int64_t stride = f->graph.stride, count = rlar__graph_count(&f->groups, f->k, j);
    const int64_t mates = sizes[f->label[j]] - 1;
    assert_int_equal(count, f->k < mates ? f->k : mates);
    for (int64_t e = 0; e < count; e++) {
        const int64_t m = f->graph.neighbour[j * stride + e];
        assert_in_range(m, 0, f->groups.n - 1);
        assert_int_not_equal(m, j);
        assert_int_equal(f->label[m], f->label[j]);
        for (int64_t earlier = 0; earlier < e; earlier++)
            assert_int_not_equal(m, f->graph.neighbour[j * stride + earlier]);
        if (e > 0)
            assert_true(f->graph.distance[j * stride + e - 1] <= f->graph.distance[j * stride + e]);
    }
}

/* The same samples as a full sort takes, hence the least sum; exact: equal distances by index. */
static void check_like_sort(const fixture *f, int64_t p, const double *z, bool exact) {
    candidate *mates = malloc((size_t)f->groups.n * sizeof *mates);
    assert_non_null(mates);
    for (int64_t j = 0; j < f->groups.n; j++) {
        check_structure(f, j);
        sorted_mates(f, p, z, j, mates);
        double sum = 0.0, least = 0.0;
        for (int64_t e = 0; e < rlar__graph_count(&f->groups, f->k, j); e++) {
            const int64_t at = j * f->graph.stride + e, m = f->graph.neighbour[at];
            if (exact)
                assert_int_equal(m, mates[e].index);
            const double want = distance(p, z + j * p, z + m * p);
            assert_true(fabs(f->graph.distance[at] - want) <= 1e-14 * want);
            sum += f->graph.distance[at];
            least += mates[e].distance;
        }
        assert_true(fabs(sum - least) <= 1e-13 * least);
    }
    free(mates);
}

static void run_nearest(int64_t k, int threads, int64_t p, const double *z, bool exact) {
    fixture f;
    fixture_open(&f, threads, CLASSES, sizes, k);
    assert_int_equal(f.graph.stride, rlar__graph_stride(&f.groups, k));
    assert_int_equal(f.graph.stride, k < 39 ? k : 39); /* the largest class has 40 */
    assert_int_equal(rlar__graph_nearest(f.ctx, &f.groups, k, p, z, &f.graph), RLAR_OK);
    check_like_sort(&f, p, z, exact);
    fixture_close(&f);
}

static int64_t total(void) {
    int64_t n = 0;
    for (int i = 0; i < CLASSES; i++)
        n += sizes[i];
    return n;
}

static void test_nearest_random(void **unused) {
    (void)unused;
    static const int64_t ps[] = {1, 2, 5, 33};
    rlar_rng rng = seeded(11);
    for (int i = 0; i < 4; i++) {
        double *z = random_numbers(&rng, ps[i] * total());
        for (int k = 0; k < KS; k++)
            for (int threads = 1; threads <= 3; threads++)
                run_nearest(ks[k], threads, ps[i], z, true);
        free(z);
    }
}

/* Two graphs of the same groups: as many changes as a literal comparison of sets finds. */
static void test_changes_are_counted(void **unused) {
    (void)unused;
    enum { P = 3 };
    rlar_rng rng = seeded(31);
    fixture f;
    fixture_open(&f, 1, CLASSES, sizes, 7);
    const int64_t stride = f.graph.stride, all = f.groups.n * stride;
    double *z = random_numbers(&rng, P * f.groups.n);
    int32_t *before = calloc((size_t)all, sizeof *before);
    assert_int_equal(rlar__graph_nearest(f.ctx, &f.groups, f.k, P, z, &f.graph), RLAR_OK);
    memcpy(before, f.graph.neighbour, (size_t)all * sizeof *before);
    assert_int_equal(rlar__graph_changes(&f.groups, f.k, before, &f.graph), 0);
    for (int64_t i = 0; i < P * f.groups.n; i += 5)
        z[i] += 0.5;
    assert_int_equal(rlar__graph_nearest(f.ctx, &f.groups, f.k, P, z, &f.graph), RLAR_OK);
    int64_t changes = 0;
    for (int64_t j = 0; j < f.groups.n; j++)
        for (int64_t e = 0; e < rlar__graph_count(&f.groups, f.k, j); e++) {
            int64_t seen = 0;
            for (int64_t g = 0; g < rlar__graph_count(&f.groups, f.k, j); g++)
                seen += before[j * stride + g] == f.graph.neighbour[j * stride + e];
            changes += seen == 0;
        }
    assert_true(changes > 0 && changes < all);
    assert_int_equal(rlar__graph_changes(&f.groups, f.k, before, &f.graph), changes);
    free(before);
    free(z);
    fixture_close(&f);
}

/* Small whole numbers: distances are exact and many are equal or zero; the lower index wins. */
static void test_nearest_ties(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(12);
    for (int64_t levels = 1; levels <= 3; levels++) {
        double *z = random_numbers(&rng, 3 * total());
        for (int64_t i = 0; i < 3 * total(); i++)
            z[i] =
                (double)rlar__rng_below(&rng, (uint64_t)levels); /* one level: all samples equal */
        for (int k = 0; k < KS; k++)
            run_nearest(ks[k], 2, 3, z, true);
        free(z);
    }
}

/* Samples far from the origin and close together: the Gram expansion would lose every digit. */
static void test_nearest_keeps_small_distances(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(13);
    double *z = random_numbers(&rng, 4 * total());
    for (int64_t i = 0; i < 4 * total(); i++)
        z[i] = 1000.0 + 1e-9 * z[i];
    run_nearest(3, 2, 4, z, false);
    free(z);
}

/* ---- Laplacian ---- */

/* L = D - (S + S^T)/2, n x n, as printed. */
static double *dense_laplacian(const fixture *f) {
    const int64_t n = f->groups.n;
    double *s = fixture_dense_s(f), *l = zeros(n * n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t m = 0; m < n; m++) {
            const double half = (s[j * n + m] + s[m * n + j]) / 2.0;
            l[j * n + j] += half;
            l[j * n + m] -= half;
        }
    free(s);
    return l;
}

/* Column j of the L in use, by applying it to the unit vectors: x = I has n rows. */
static double *listed_laplacian(const fixture *f, double beta) {
    const int64_t n = f->groups.n;
    double *identity = zeros(n * n), *l = zeros(n * n);
    for (int64_t j = 0; j < n; j++)
        identity[j * n + j] = 1.0;
    for (int64_t j = 0; j < n; j++)
        rlar__laplacian_row(&f->l, j, beta, n, identity, l + j * n);
    free(identity);
    return l;
}

static void open_weighed(fixture *f, rlar_rng *rng, int64_t k, double decades) {
    fixture_open(f, 2, CLASSES, sizes, k);
    double *z = random_numbers(rng, 3 * f->groups.n);
    fixture_weigh(f, rng, 3, z, decades);
    free(z);
}

static void test_laplacian_is_the_papers(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(14);
    for (int i = 0; i < KS; i++) {
        fixture f;
        open_weighed(&f, &rng, ks[i], 2.0);
        const int64_t n = f.groups.n;
        double *want = dense_laplacian(&f), *got = listed_laplacian(&f, 0.7);
        for (int64_t j = 0; j < n; j++)
            for (int64_t m = 0; m < n; m++) {
                assert_true(fabs(got[j * n + m] - 0.7 * want[j * n + m]) <=
                            1e-13 * want[j * n + j]);
                assert_true(fabs(got[j * n + m] - got[m * n + j]) <= 1e-13 * want[j * n + j]);
            }
        free(want);
        free(got);
        fixture_close(&f);
    }
}

/* u'Lu = 1/2 sum S_jm (u_j - u_m)^2 >= 0, and L 1 = 0 exactly: equal values have difference zero.
 */
static void test_laplacian_quadratic_form(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(15);
    for (int trial = 0; trial < 60; trial++) {
        fixture f;
        open_weighed(&f, &rng, ks[trial % KS], trial % 2 ? 8.0 : 0.5);
        const int64_t n = f.groups.n;
        double *u = random_numbers(&rng, n), *s = fixture_dense_s(&f), form = 0.0, edges = 0.0;
        for (int64_t j = 0; j < n; j++) {
            double lu = 0.0, constant = 0.0;
            rlar__laplacian_row(&f.l, j, 1.0, 1, u, &lu);
            form += u[j] * lu;
            for (int64_t m = 0; m < n; m++)
                edges += s[j * n + m] * (u[j] - u[m]) * (u[j] - u[m]) / 2.0;
            double *ones = zeros(n);
            for (int64_t m = 0; m < n; m++)
                ones[m] = 0.1;
            rlar__laplacian_row(&f.l, j, 3.0, 1, ones, &constant);
            assert_true(constant == 0.0);
            free(ones);
        }
        assert_true(form >= 0.0);
        assert_true(fabs(form - edges) <= 1e-12 * edges);
        free(u);
        free(s);
        fixture_close(&f);
    }
}

/* Rows add to what is there, for every coordinate of the samples. */
static void test_laplacian_row_adds(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(16);
    fixture f;
    open_weighed(&f, &rng, 3, 1.0);
    const int64_t n = f.groups.n, d = 5;
    double *x = random_numbers(&rng, d * n), *l = dense_laplacian(&f);
    for (int64_t j = 0; j < n; j++) {
        double out[] = {1.0, 2.0, 3.0, 4.0, 5.0};
        rlar__laplacian_row(&f.l, j, 2.0, d, x, out);
        for (int64_t r = 0; r < d; r++) {
            double want = (double)(r + 1), size = 1.0;
            for (int64_t m = 0; m < n; m++) {
                want += 2.0 * l[j * n + m] * x[m * d + r];
                size += fabs(l[j * n + m]);
            }
            assert_true(fabs(out[r] - want) <= 1e-13 * size);
        }
    }
    free(x);
    free(l);
    fixture_close(&f);
}

/* Edges of weight zero (equal samples) leave no trace. */
static void test_laplacian_drops_zero_weights(void **unused) {
    (void)unused;
    rlar_rng rng = seeded(17);
    fixture f;
    open_weighed(&f, &rng, 4, 1.0);
    int64_t kept = 0;
    for (int64_t j = 0; j < f.groups.n; j++)
        for (int64_t e = 0; e < rlar__graph_count(&f.groups, f.k, j); e++) {
            const bool drop = rlar__rng_below(&rng, 3) == 0;
            if (drop)
                f.s[j * f.graph.stride + e] = 0.0;
            kept += !drop;
        }
    rlar__laplacian_build(&f.groups, f.k, &f.graph, f.s, &f.l);
    assert_int_equal(f.l.start[0], 0);
    assert_int_equal(f.l.start[f.groups.n], 2 * kept);
    for (int64_t e = 0; e < f.l.start[f.groups.n]; e++)
        assert_true(f.l.weight[e] > 0.0);
    double *want = dense_laplacian(&f), *got = listed_laplacian(&f, 1.0);
    const int64_t n = f.groups.n;
    for (int64_t i = 0; i < n * n; i++)
        assert_true(fabs(got[i] - want[i]) <= 1e-12);
    free(want);
    free(got);
    fixture_close(&f);
}

/* Only singletons: no room, no edges, nothing to do. */
static void test_no_edges_at_all(void **unused) {
    (void)unused;
    static const int64_t ones[] = {1, 1, 1};
    const double z[] = {1.0, 2.0, 3.0};
    fixture f;
    fixture_open(&f, 1, 3, ones, 7);
    assert_int_equal(f.graph.stride, 0);
    assert_int_equal(rlar__graph_nearest(f.ctx, &f.groups, 7, 1, z, &f.graph), RLAR_OK);
    rlar__laplacian_build(&f.groups, 7, &f.graph, f.s, &f.l);
    double out = 5.0;
    rlar__laplacian_row(&f.l, 1, 1.0, 1, z, &out);
    assert_true(out == 5.0);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_random),
        cmocka_unit_test(test_changes_are_counted),
        cmocka_unit_test(test_nearest_ties),
        cmocka_unit_test(test_nearest_keeps_small_distances),
        cmocka_unit_test(test_laplacian_is_the_papers),
        cmocka_unit_test(test_laplacian_quadratic_form),
        cmocka_unit_test(test_laplacian_row_adds),
        cmocka_unit_test(test_laplacian_drops_zero_weights),
        cmocka_unit_test(test_no_edges_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
