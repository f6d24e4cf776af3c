/* test_local_scatter.c - LFDA's scatters against the sum over all pairs, against LDA's scatters,
 * and on duplicates and singletons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "close.h"
#include "linalg/linalg.h"
#include "samples.h"
#include "solver/local_scatter.h"

typedef struct shape {
    int64_t r, c;
    int64_t sizes[5];
    int64_t k;
} shape;

/* Classes larger than k, of at most k, singletons, more features than samples, more than a tile. */
static const shape shapes[] = {
    {4, 3, {20, 15, 17}, 7}, {6, 4, {3, 9, 1, 2}, 7},      {30, 3, {5, 6, 4}, 3},
    {1, 2, {6, 7}, 1},       {150, 3, {60, 40, 50}, 7},    {3, 5, {1, 1, 1, 1, 1}, 7},
    {5, 2, {12, 10}, 1000},  {7, 5, {11, 2, 30, 1, 8}, 5},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

typedef struct problem {
    fixture f;
    int64_t r;
    double *z, *sw, *sb;
} problem;

static void problem_open(problem *q, const shape *s, int threads, uint64_t seed) {
    rlar_rng rng = seeded(seed);
    fixture_open(&q->f, threads, s->c, s->sizes, s->k);
    assert_int_equal(rlar__blas_open(q->f.ctx, 0), RLAR_OK);
    q->r = s->r;
    q->z = random_numbers(&rng, s->r * q->f.groups.n);
    q->sw = zeros(s->r * s->r);
    q->sb = zeros(s->r * s->r);
}

static void problem_close(problem *q) {
    free(q->z);
    free(q->sw);
    free(q->sb);
    fixture_close(&q->f);
}

static void compute(problem *q, int64_t k) {
    assert_int_equal(rlar__local_scatter(q->f.ctx, &q->f.groups, k, q->r, q->z, q->sw, q->sb),
                     RLAR_OK);
}

static double distance2(const problem *q, int64_t i, int64_t j) {
    double sum = 0.0;
    for (int64_t e = 0; e < q->r; e++) {
        const double difference = q->z[i * q->r + e] - q->z[j * q->r + e];
        sum += difference * difference;
    }
    return sum;
}

static int rising(const void *a, const void *b) {
    const double u = *(const double *)a, v = *(const double *)b;
    return u < v ? -1 : u > v;
}

/* Position k of the sorted distances to the class, the sample itself standing at position 0. */
static double sigma(const problem *q, int64_t i, int64_t k) {
    const int32_t c = q->f.label[i];
    const int64_t start = q->f.first[c], count = q->f.first[c + 1] - start;
    double *all = zeros(count);
    for (int64_t j = 0; j < count; j++)
        all[j] = sqrt(distance2(q, i, start + j));
    qsort(all, (size_t)count, sizeof *all, rising);
    const double found = all[k < count - 1 ? k : count - 1];
    free(all);
    return found;
}

/* Ww and Wb of a pair. */
static void pair_weights(const problem *q, int64_t i, int64_t j, double scale, double *ww,
                         double *wb) {
    const int32_t c = q->f.label[i];
    const double n = (double)q->f.groups.n, nc = (double)(q->f.first[c + 1] - q->f.first[c]);
    const double a = i == j ? 1.0 : scale == 0.0 ? 0.0 : exp(-distance2(q, i, j) / scale);
    *ww = c == q->f.label[j] ? a / nc : 0.0;
    *wb = c == q->f.label[j] ? a * (1.0 / n - 1.0 / nc) : 1.0 / n;
}

/* 1/2 sum_ij W_ij (z_i - z_j)(z_i - z_j)^T, both triangles. */
static void pairwise(const problem *q, int64_t k, double *sw, double *sb) {
    const int64_t n = q->f.groups.n, r = q->r;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double ww, wb;
            pair_weights(q, i, j, sigma(q, i, k) * sigma(q, j, k), &ww, &wb);
            for (int64_t a = 0; a < r; a++)
                for (int64_t b = 0; b < r; b++) {
                    const double product =
                        (q->z[i * r + a] - q->z[j * r + a]) * (q->z[i * r + b] - q->z[j * r + b]);
                    sw[b * r + a] += 0.5 * ww * product;
                    sb[b * r + a] += 0.5 * wb * product;
                }
        }
}

static void check_lower(int64_t r, const double *found, const double *want, double tolerance) {
    double trace = 0.0;
    for (int64_t e = 0; e < r; e++)
        trace += fabs(want[e * r + e]);
    for (int64_t b = 0; b < r; b++)
        for (int64_t a = b; a < r; a++)
            assert_close(found[b * r + a], want[b * r + a], tolerance * (trace + 1e-3));
}

static void test_equals_pairwise(void **state) {
    (void)state;
    for (int s = 0; s < SHAPES; s++) {
        problem q;
        problem_open(&q, &shapes[s], 2, 40 + (uint64_t)s);
        double *sw = zeros(q.r * q.r), *sb = zeros(q.r * q.r);
        compute(&q, shapes[s].k);
        pairwise(&q, shapes[s].k, sw, sb);
        check_lower(q.r, q.sw, sw, 1e-12);
        check_lower(q.r, q.sb, sb, 1e-12);
        free(sw);
        free(sb);
        problem_close(&q);
    }
}

/* S_w and S_b of LDA from the class means. */
static void lda_scatters(const problem *q, double *sw, double *sb) {
    const int64_t n = q->f.groups.n, c = q->f.groups.c, r = q->r;
    double *mean = zeros((c + 1) * r);
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = 0; e < r; e++) {
            const int32_t l = q->f.label[i];
            mean[l * r + e] += q->z[i * r + e] / (double)(q->f.first[l + 1] - q->f.first[l]);
            mean[c * r + e] += q->z[i * r + e] / (double)n;
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = 0; a < r; a++)
            for (int64_t b = 0; b < r; b++) {
                const double *own = mean + q->f.label[i] * r, *all = mean + c * r;
                sw[b * r + a] += (q->z[i * r + a] - own[a]) * (q->z[i * r + b] - own[b]);
                sb[b * r + a] += (own[a] - all[a]) * (own[b] - all[b]);
            }
    free(mean);
}

static void test_affinity_one_is_lda(void **state) {
    (void)state;
    for (int s = 0; s < SHAPES; s++) {
        problem q;
        problem_open(&q, &shapes[s], 2, 60 + (uint64_t)s);
        double *sw = zeros(q.r * q.r), *sb = zeros(q.r * q.r);
        compute(&q, 0);
        lda_scatters(&q, sw, sb);
        check_lower(q.r, q.sw, sw, 1e-12);
        check_lower(q.r, q.sb, sb, 1e-12);
        free(sw);
        free(sb);
        problem_close(&q);
    }
}

/* The local mixture scatter S_w + S_b has no negative weight: no negative eigenvalue. */
static void test_mixture_is_semidefinite(void **state) {
    (void)state;
    for (int s = 0; s < SHAPES; s++) {
        problem q;
        problem_open(&q, &shapes[s], 1, 80 + (uint64_t)s);
        compute(&q, shapes[s].k);
        const int64_t r = q.r;
        double *values = zeros(r), *vectors = zeros(r * r);
        for (int64_t e = 0; e < r * r; e++)
            q.sw[e] += q.sb[e];
        assert_int_equal(rlar__eig_top(q.f.ctx, r, q.sw, r, values, vectors), RLAR_OK);
        assert_true(values[r - 1] >= -1e-12 * values[0]);
        free(values);
        free(vectors);
        problem_close(&q);
    }
}

/* Equal samples: sigma = 0 makes A = 0; a class of them adds nothing to S_w, and nothing is NaN. */
static void test_duplicates(void **state) {
    (void)state;
    problem q;
    problem_open(&q, &(shape){3, 2, {9, 10}, 3}, 1, 7);
    for (int64_t i = 1; i < 9; i++)
        memcpy(q.z + i * q.r, q.z, (size_t)q.r * sizeof *q.z);
    for (int64_t i = 10; i < 14; i++)
        memcpy(q.z + i * q.r, q.z + 9 * q.r, (size_t)q.r * sizeof *q.z);
    double *sw = zeros(q.r * q.r), *sb = zeros(q.r * q.r);
    compute(&q, 3);
    pairwise(&q, 3, sw, sb);
    check_lower(q.r, q.sw, sw, 1e-12);
    check_lower(q.r, q.sb, sb, 1e-12);
    free(sw);
    free(sb);
    problem_close(&q);
}

/* Same bits for any number of threads, with and without S_w. */
static void test_threads(void **state) {
    (void)state;
    problem q, p;
    problem_open(&q, &shapes[4], 1, 9);
    problem_open(&p, &shapes[4], 4, 9);
    compute(&q, 7);
    compute(&p, 7);
    const size_t bytes = (size_t)(q.r * q.r) * sizeof(double);
    assert_memory_equal(q.sw, p.sw, bytes);
    assert_memory_equal(q.sb, p.sb, bytes);
    memset(p.sb, 0, bytes);
    assert_int_equal(rlar__local_scatter(p.f.ctx, &p.f.groups, 7, p.r, p.z, NULL, p.sb), RLAR_OK);
    for (int64_t b = 0; b < q.r; b++)
        for (int64_t a = b; a < q.r; a++)
            assert_true(q.sb[b * q.r + a] == p.sb[b * q.r + a]);
    problem_close(&q);
    problem_close(&p);
}

/* What it says it takes is what it takes. */
static void test_bytes(void **state) {
    (void)state;
    problem q;
    problem_open(&q, &shapes[4], 2, 9);
    const int64_t held = rlar_ctx_memory(q.f.ctx);
    const int64_t told = rlar__local_scatter_bytes(&q.f.groups, 7, q.r);
    compute(&q, 7);
    const int64_t taken = rlar_ctx_memory_peak(q.f.ctx) - held;
    assert_true(told <= taken + 64 && taken <= told + told / 4 + 4096);
    problem_close(&q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_pairwise),
        cmocka_unit_test(test_affinity_one_is_lda),
        cmocka_unit_test(test_mixture_is_semidefinite),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
