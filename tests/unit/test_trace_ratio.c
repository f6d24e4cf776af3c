/* test_trace_ratio.c - Newton's method against bisection on the same function, against random
 * orthonormal directions, and the null-space branch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "close.h"
#include "linalg/linalg.h"
#include "samples.h"
#include "solver/trace_ratio.h"

typedef struct shape {
    int64_t r, q;
    int64_t rank; /* of S_w */
} shape;

/* Both branches: full rank, q > null, q = null + 1 (a huge ratio), q <= null, q = r, r = 1. */
static const shape shapes[] = {{12, 3, 12}, {12, 5, 9}, {20, 4, 17}, {20, 4, 16},
                               {15, 2, 0},  {6, 6, 6},  {1, 1, 1},   {140, 8, 140}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

typedef struct problem {
    rlar_ctx *ctx;
    rlar_workspace ws;
    rlar_trace_ratio tr;
    double *sb, *sw; /* copies, both triangles */
} problem;

/* S = F F^T with F r x k, columns of falling size. */
static void random_scatter(rlar_rng *rng, int64_t r, int64_t k, double *s) {
    double *f = random_numbers(rng, r * k);
    memset(s, 0, (size_t)(r * r) * sizeof *s);
    for (int64_t c = 0; c < k; c++)
        for (int64_t j = 0; j < r; j++)
            for (int64_t i = 0; i < r; i++)
                s[j * r + i] += f[c * r + i] * f[c * r + j] / (double)(c + 1);
    free(f);
}

static void problem_open(problem *p, const shape *s, int threads, uint64_t seed) {
    rlar_rng rng = seeded(seed);
    const size_t bytes = (size_t)(s->r * s->r) * sizeof(double);
    *p = (problem){.ctx = context(threads), .tr = {.r = s->r, .q = s->q}};
    assert_int_equal(rlar__blas_open(p->ctx, 0), RLAR_OK);
    rlar__trace_ratio_carve(&p->ws, &p->tr);
    assert_int_equal(rlar__workspace_take(p->ctx, &p->ws, "test"), RLAR_OK);
    rlar__trace_ratio_carve(&p->ws, &p->tr);
    p->sb = zeros(s->r * s->r);
    p->sw = zeros(s->r * s->r);
    random_scatter(&rng, s->r, s->r, p->sb);
    random_scatter(&rng, s->r, s->rank, p->sw);
    memcpy(p->tr.sb, p->sb, bytes);
    memcpy(p->tr.sw, p->sw, bytes);
    for (int64_t j = 0; j < s->r; j++) /* only the lower triangles may be read */
        for (int64_t i = 0; i < j; i++)
            p->tr.sb[j * s->r + i] = p->tr.sw[j * s->r + i] = NAN;
    assert_int_equal(rlar__trace_ratio_start(p->ctx, &p->tr), RLAR_OK);
}

static void problem_close(problem *p) {
    free(p->sb);
    free(p->sw);
    rlar__workspace_free(&p->ws);
    rlar_ctx_free(p->ctx);
}

static double trace_of(int64_t r, const double *s) {
    double sum = 0.0;
    for (int64_t i = 0; i < r; i++)
        sum += s[i * r + i];
    return sum;
}

/* tr(W^T S W). */
static double quadratic(int64_t r, int64_t q, const double *s, const double *w) {
    double sum = 0.0;
    for (int64_t k = 0; k < q; k++)
        for (int64_t j = 0; j < r; j++)
            for (int64_t i = 0; i < r; i++)
                sum += w[k * r + i] * s[j * r + i] * w[k * r + j];
    return sum;
}

/* g(lambda); w may be NULL. */
static double excess_at(const problem *p, double lambda, double *w) {
    const int64_t r = p->tr.r, q = p->tr.q;
    double *m = zeros(r * r), *values = zeros(q), *vectors = zeros(r * q), sum = 0.0;
    for (int64_t e = 0; e < r * r; e++)
        m[e] = p->sb[e] - lambda * p->sw[e];
    assert_int_equal(rlar__eig_top(p->ctx, r, m, q, values, vectors), RLAR_OK);
    for (int64_t k = 0; k < q; k++)
        sum += values[k];
    if (w)
        memcpy(w, vectors, (size_t)(r * q) * sizeof *w);
    free(m);
    free(values);
    free(vectors);
    return sum;
}

/* The solver of 2007. */
static double bisection(const problem *p, double low) {
    double high = 2.0 * low;
    while (excess_at(p, high, NULL) > 0.0)
        high *= 2.0;
    while (high - low > 1e-13 * high) {
        const double middle = 0.5 * (low + high);
        if (!(middle > low && middle < high))
            break;
        if (excess_at(p, middle, NULL) >= 0.0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Largest sine between the spans of two orthonormal bases: of a - b b^T a, by Frobenius norm. */
static double span_distance(int64_t r, int64_t q, const double *a, const double *b) {
    double sum = 0.0;
    for (int64_t k = 0; k < q; k++) {
        double *rest = zeros(r);
        memcpy(rest, a + k * r, (size_t)r * sizeof *rest);
        for (int64_t j = 0; j < q; j++) {
            const double share = rlar__dot(r, a + k * r, b + j * r);
            for (int64_t i = 0; i < r; i++)
                rest[i] -= share * b[j * r + i];
        }
        sum += rlar__dot(r, rest, rest);
        free(rest);
    }
    return sqrt(sum);
}

static void check_orthonormal(int64_t r, int64_t q, const double *w) {
    for (int64_t j = 0; j < q; j++)
        for (int64_t k = 0; k <= j; k++)
            assert_close(rlar__dot(r, w + j * r, w + k * r), j == k ? 1.0 : 0.0, 1e-12);
}

/* lambda never falls; returns the number of steps. */
static int run(problem *p) {
    bool done = isinf(p->tr.lambda);
    int steps = 0;
    while (!done) {
        const double before = p->tr.lambda;
        assert_int_equal(rlar__trace_ratio_step(p->ctx, &p->tr, &done), RLAR_OK);
        assert_true(p->tr.lambda >= before * (1.0 - 1e-12));
        assert_true(++steps <= 30);
    }
    check_orthonormal(p->tr.r, p->tr.q, p->tr.w);
    return steps;
}

static bool null_branch(const shape *s) {
    return s->q <= s->r - s->rank;
}

static void test_newton_is_bisection(void **state) {
    (void)state;
    for (int s = 0; s < SHAPES; s++) {
        problem p;
        problem_open(&p, &shapes[s], 2, 100 + (uint64_t)s);
        assert_int_equal(p.tr.null, shapes[s].r - shapes[s].rank);
        const double start = p.tr.lambda;
        run(&p);
        assert_true(null_branch(&shapes[s]) == (bool)isinf(p.tr.lambda));
        if (!null_branch(&shapes[s])) {
            double *w = zeros(p.tr.r * p.tr.q);
            const double root = shapes[s].q == shapes[s].r ? start : bisection(&p, start);
            assert_close(p.tr.lambda, root, 1e-8 * root);
            excess_at(&p, root, w);
            assert_true(span_distance(p.tr.r, p.tr.q, p.tr.w, w) <= 1e-8);
            free(w);
        }
        problem_close(&p);
    }
}

/* g at the answer is zero, and the answer has the ratio it claims. */
static void test_excess_vanishes(void **state) {
    (void)state;
    for (int s = 0; s < SHAPES; s++) {
        problem p;
        problem_open(&p, &shapes[s], 1, 200 + (uint64_t)s);
        run(&p);
        const int64_t r = p.tr.r, q = p.tr.q;
        const double scale = trace_of(r, p.sb);
        if (!null_branch(&shapes[s])) {
            assert_close(excess_at(&p, p.tr.lambda, NULL), 0.0, 1e-10 * scale);
            assert_close(p.tr.excess, 0.0, 1e-8 * scale);
            const double ratio = quadratic(r, q, p.sb, p.tr.w) / quadratic(r, q, p.sw, p.tr.w);
            assert_close(p.tr.lambda, ratio, 1e-8 * ratio);
        }
        problem_close(&p);
    }
}

static void random_orthonormal(rlar_rng *rng, int64_t r, int64_t q, double *w) {
    for (int64_t e = 0; e < r * q; e++)
        w[e] = uniform(rng);
    assert_int_equal(rlar__orthonormalise(r, q, 0.0, w), q);
}

static void test_beats_random_directions(void **state) {
    (void)state;
    rlar_rng rng = seeded(5);
    for (int s = 0; s < SHAPES; s++) {
        problem p;
        problem_open(&p, &shapes[s], 1, 300 + (uint64_t)s);
        run(&p);
        const int64_t r = p.tr.r, q = p.tr.q;
        double *w = zeros(r * q);
        for (int trial = 0; trial < 50 && !null_branch(&shapes[s]); trial++) {
            random_orthonormal(&rng, r, q, w);
            const double other = quadratic(r, q, p.sb, w) / quadratic(r, q, p.sw, w);
            assert_true(other <= p.tr.lambda * (1.0 + 1e-10));
        }
        free(w);
        problem_close(&p);
    }
}

/* In the null space nothing of S_w is left, and no other directions there have more of S_b. */
static void test_null_space(void **state) {
    (void)state;
    rlar_rng rng = seeded(6);
    problem p;
    problem_open(&p, &(shape){18, 3, 10}, 1, 42);
    run(&p);
    assert_true(isinf(p.tr.lambda));
    assert_true(quadratic(18, 3, p.sw, p.tr.w) <= 3.0 * 1e-10 * trace_of(18, p.sw));
    double *values = zeros(18), *vectors = zeros(18 * 18), *m = zeros(18 * 18), w[18 * 3],
           in[8 * 3];
    memcpy(m, p.sw, 18 * 18 * sizeof *m);
    assert_int_equal(rlar__eig_top(p.ctx, 18, m, 18, values, vectors), RLAR_OK);
    for (int trial = 0; trial < 50; trial++) {
        random_orthonormal(&rng, 8, 3, in);
        assert_int_equal(rlar__multiply(p.ctx, 18, 3, 8, vectors + 10 * 18, in, w), RLAR_OK);
        assert_true(quadratic(18, 3, p.sb, w) <= quadratic(18, 3, p.sb, p.tr.w) * (1.0 + 1e-12));
    }
    free(values);
    free(vectors);
    free(m);
    problem_close(&p);
}

/* Equal eigenvalues at the cut are reported. */
static void test_gap(void **state) {
    (void)state;
    problem p;
    problem_open(&p, &(shape){4, 2, 4}, 1, 1);
    for (int64_t e = 0; e < 16; e++)
        p.tr.sb[e] = p.tr.sw[e] = e % 5 == 0 ? 1.0 : 0.0;
    p.tr.sb[0] = 3.0;
    assert_int_equal(rlar__trace_ratio_start(p.ctx, &p.tr), RLAR_OK);
    run(&p);
    assert_close(p.tr.lambda, 2.0, 1e-12);
    assert_close(p.tr.gap, 0.0, 1e-12);
    problem_close(&p);
    problem_open(&p, &shapes[0], 1, 1);
    run(&p);
    assert_true(p.tr.gap > 1e-6);
    problem_close(&p);
}

/* Same bits for any number of threads. */
static void test_threads(void **state) {
    (void)state;
    problem p, q;
    problem_open(&p, &shapes[7], 1, 77);
    problem_open(&q, &shapes[7], 4, 77);
    run(&p);
    run(&q);
    assert_memory_equal(p.tr.w, q.tr.w, (size_t)(p.tr.r * p.tr.q) * sizeof(double));
    problem_close(&p);
    problem_close(&q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newton_is_bisection),
        cmocka_unit_test(test_excess_vanishes),
        cmocka_unit_test(test_beats_random_directions),
        cmocka_unit_test(test_null_space),
        cmocka_unit_test(test_gap),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
