/* test_ridge.c - the ridge system: by its gradient, primal against dual, many targets with one
 * factorisation, the outputs and the penalty that the dual gets without W, a singular system. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "close.h"
#include "samples.h"
#include "solver/ridge.h"

typedef struct shape {
    int64_t n, d, p;
    double lambda;
} shape;

/* n >> d, n about d, n << d, p > d, one feature, one output, more than one tile of 128. */
static const shape shapes[] = {
    {60, 5, 3, 0.1}, {20, 21, 4, 0.01}, {12, 90, 3, 1.0},   {30, 3, 7, 100.0},
    {15, 1, 2, 0.1}, {2, 40, 1, 0.001}, {180, 150, 3, 0.5}, {150, 180, 3, 1000.0},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

typedef struct bench {
    rlar_ctx *ctx;
    rlar_workspace ws;
    rlar_ridge ridge;
    double *w, *b, *y;
} bench;

static void bench_open(bench *q, const shape *s, bool dual, int threads) {
    *q = (bench){.ctx = context(threads),
                 .w = zeros(s->d * s->p),
                 .b = zeros(s->p),
                 .y = zeros(s->n * s->p)};
    assert_int_equal(rlar__blas_open(q->ctx, 0), RLAR_OK);
    rlar__ridge_carve(&q->ws, NULL, s->n, s->d, s->p, dual, NULL, &q->ridge);
    assert_int_equal(rlar__workspace_take(q->ctx, &q->ws, "test"), RLAR_OK);
    rlar__ridge_carve(&q->ws, NULL, s->n, s->d, s->p, dual, NULL, &q->ridge);
}

static void bench_close(bench *q) {
    rlar__workspace_free(&q->ws);
    rlar_ctx_free(q->ctx);
    free(q->w);
    free(q->b);
    free(q->y);
}

static void bench_solve(bench *q, const double *t) {
    assert_int_equal(rlar__ridge_solve(q->ctx, &q->ridge, t, q->y), RLAR_OK);
    assert_int_equal(rlar__ridge_map(q->ctx, &q->ridge, q->w, q->b), RLAR_OK);
}

/* The residual W^T x_i + b - t_i of output k. */
static long double residual(const bench *q, const shape *s, const double *x, const double *t,
                            int64_t i, int64_t k) {
    long double sum = q->b[k] - (long double)t[i * s->p + k];
    for (int64_t r = 0; r < s->d; r++)
        sum += (long double)q->w[k * s->d + r] * x[i * s->d + r];
    return sum;
}

/* X E^T + lambda W = 0 and E 1 = 0; y and the penalty are what W and b give. */
static void check_solution(const bench *q, const shape *s, const double *x, const double *t,
                           double lambda) {
    const double tolerance = 1e-9 * (1.0 + lambda);
    double penalty = 0.0;
    for (int64_t k = 0; k < s->p; k++) {
        long double sum = 0.0L;
        for (int64_t i = 0; i < s->n; i++) {
            const long double e = residual(q, s, x, t, i, k);
            assert_close(q->y[i * s->p + k], (double)(e + t[i * s->p + k]), 1e-10);
            sum += e;
        }
        assert_close((double)sum, 0.0, tolerance);
        for (int64_t r = 0; r < s->d; r++) {
            long double g = (long double)lambda * q->w[k * s->d + r];
            for (int64_t i = 0; i < s->n; i++)
                g += x[i * s->d + r] * residual(q, s, x, t, i, k);
            assert_close((double)g, 0.0, tolerance);
            penalty += q->w[k * s->d + r] * q->w[k * s->d + r];
        }
    }
    assert_close(rlar__ridge_penalty(&q->ridge, q->y), penalty, 1e-10 * (1.0 + penalty));
}

/* Three targets, one factorisation, both forms. */
static void test_many_targets(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES; i++) {
        const shape *s = &shapes[i];
        rlar_rng rng = seeded(40 + (uint64_t)i);
        double *x = random_numbers(&rng, s->n * s->d);
        bench primal, dual;
        bench_open(&primal, s, false, 2);
        bench_open(&dual, s, true, 2);
        int ridged = 0;
        assert_int_equal(rlar__ridge_factor(primal.ctx, &primal.ridge, x, s->lambda, &ridged),
                         RLAR_OK);
        assert_int_equal(rlar__ridge_factor(dual.ctx, &dual.ridge, x, s->lambda, &ridged), RLAR_OK);
        assert_int_equal(ridged, 0);
        for (int repeat = 0; repeat < 3; repeat++) {
            double *t = random_numbers(&rng, s->n * s->p);
            bench_solve(&primal, t);
            check_solution(&primal, s, x, t, s->lambda);
            bench_solve(&dual, t);
            check_solution(&dual, s, x, t, s->lambda);
            for (int64_t j = 0; j < s->d * s->p; j++)
                assert_close(primal.w[j], dual.w[j], 1e-10);
            free(t);
        }
        bench_close(&primal);
        bench_close(&dual);
        free(x);
    }
}

/* Equal samples and lambda = 0: the factorisation adds to the diagonal, says so, and the solution
 * is that of the larger lambda it reports. */
static void test_singular(void **unused) {
    (void)unused;
    const shape s = {20, 30, 2, 0.0};
    rlar_rng rng = seeded(7);
    double *x = random_numbers(&rng, s.n * s.d), *t = random_numbers(&rng, s.n * s.p);
    for (int64_t i = 0; i < s.n * s.d; i++)
        x[i] = x[i % (2 * s.d)];
    for (int form = 0; form < 2; form++) {
        bench q;
        bench_open(&q, &s, form == 1, 1);
        int ridged = 0;
        assert_int_equal(rlar__ridge_factor(q.ctx, &q.ridge, x, s.lambda, &ridged), RLAR_OK);
        assert_true(ridged > 0);
        assert_true(q.ridge.lambda > 0.0 && q.ridge.lambda < 1e-6);
        bench_solve(&q, t);
        for (int64_t i = 0; i < s.n; i++)
            for (int64_t k = 0; k < s.p; k++)
                assert_close(q.y[i * s.p + k],
                             (double)residual(&q, &s, x, t, i, k) + t[i * s.p + k], 1e-2);
        bench_close(&q);
    }
    free(x);
    free(t);
}

/* A feature that does not vary gets a row of zeros; a shift of the samples moves b alone. */
static void test_constant_feature_and_shift(void **unused) {
    (void)unused;
    for (int form = 0; form < 2; form++) {
        const shape s = {25, form == 1 ? 40 : 6, 3, 0.1};
        rlar_rng rng = seeded(11);
        double *x = random_numbers(&rng, s.n * s.d), *t = random_numbers(&rng, s.n * s.p);
        for (int64_t i = 0; i < s.n; i++)
            x[i * s.d + 2] = 1.0;
        bench q, moved;
        bench_open(&q, &s, form == 1, 1);
        bench_open(&moved, &s, form == 1, 1);
        int ridged = 0;
        assert_int_equal(rlar__ridge_factor(q.ctx, &q.ridge, x, s.lambda, &ridged), RLAR_OK);
        bench_solve(&q, t);
        for (int64_t i = 0; i < s.n * s.d; i++)
            x[i] += 3.0;
        assert_int_equal(rlar__ridge_factor(moved.ctx, &moved.ridge, x, s.lambda, &ridged),
                         RLAR_OK);
        bench_solve(&moved, t);
        for (int64_t k = 0; k < s.p; k++)
            assert_true(q.w[k * s.d + 2] == 0.0);
        for (int64_t j = 0; j < s.d * s.p; j++)
            assert_close(q.w[j], moved.w[j], 1e-11);
        bench_close(&q);
        bench_close(&moved);
        free(x);
        free(t);
    }
}

static void test_same_bits_on_any_threads(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES; i++) {
        const shape *s = &shapes[i];
        rlar_rng rng = seeded(70 + (uint64_t)i);
        double *x = random_numbers(&rng, s->n * s->d), *t = random_numbers(&rng, s->n * s->p);
        bench one, three;
        int ridged = 0;
        bench_open(&one, s, s->n < s->d, 1);
        bench_open(&three, s, s->n < s->d, 3);
        assert_int_equal(rlar__ridge_factor(one.ctx, &one.ridge, x, s->lambda, &ridged), RLAR_OK);
        assert_int_equal(rlar__ridge_factor(three.ctx, &three.ridge, x, s->lambda, &ridged),
                         RLAR_OK);
        bench_solve(&one, t);
        bench_solve(&three, t);
        assert_memory_equal(one.w, three.w, (size_t)(s->d * s->p) * sizeof *one.w);
        assert_memory_equal(one.y, three.y, (size_t)(s->n * s->p) * sizeof *one.y);
        bench_close(&one);
        bench_close(&three);
        free(x);
        free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_targets),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_constant_feature_and_shift),
        cmocka_unit_test(test_same_bits_on_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
