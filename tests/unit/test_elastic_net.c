/* test_elastic_net.c - the elastic net: its optimality conditions by explicit products, the closed
 * form for lambda = 0, covariance against residual mode, warm against cold starts, series of
 * similar problems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <string.h>

#include "close.h"
#include "samples.h"
#include "solver/elastic_net.h"

typedef struct shape {
    int64_t n, d;
    double gamma;
    double alike; /* share of a common part in all features: the correlation */
} shape;

/* n >> d, n about d, n << d, one feature, one sample, correlated features with a small ridge, more
 * than one tile of 128. The last feature is constant where there are more than four. */
static const shape shapes[] = {
    {60, 5, 1e-3, 0.0},   {30, 30, 1e-2, 0.5},   {20, 90, 1e-3, 0.5},
    {25, 1, 1e-1, 0.0},   {1, 8, 1e-2, 0.0},     {40, 70, 1e-6, 0.95},
    {80, 60, 1e-6, 0.95}, {150, 170, 1e-4, 0.8}, {170, 150, 1e-4, 0.8},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };
static const double taus[] = {0.0, 1e-3, 0.03, 0.3, 0.9, 1.0};
enum { TAUS = sizeof taus / sizeof taus[0] };

typedef struct problem {
    rlar_ctx *ctx;
    rlar_workspace ws;
    rlar_enet en;
    double *x, *gram, *g;
    double largest;         /* max |g| */
    double highest, lowest; /* eigenvalues of H = G + gamma I */
} problem;

static void make_samples(problem *q, const shape *s, uint64_t seed) {
    rlar_rng rng = seeded(seed);
    q->x = random_numbers(&rng, s->n * s->d);
    double *common = random_numbers(&rng, s->n), *y = random_numbers(&rng, s->n);
    for (int64_t j = 0; j < s->d; j++)
        for (int64_t i = 0; i < s->n; i++) {
            double *at = q->x + j * s->n + i;
            *at = s->d > 4 && j == s->d - 1 ? 0.0 : s->alike * common[i] + (1.0 - s->alike) * *at;
        }
    q->gram = zeros(s->d * s->d);
    q->g = zeros(s->d);
    for (int64_t j = 0; j < s->d; j++) {
        q->g[j] = rlar__dot(s->n, q->x + j * s->n, y) / (double)s->n;
        q->largest = fmax(q->largest, fabs(q->g[j]));
        for (int64_t i = 0; i < s->d; i++)
            q->gram[j * s->d + i] =
                rlar__dot(s->n, q->x + j * s->n, q->x + i * s->n) / (double)s->n;
    }
    free(common);
    free(y);
}

/* The ends of the spectrum of H; those of every H_AA lie between. */
static void find_spectrum(problem *q) {
    const int64_t d = q->en.d;
    double *a = zeros(d * d), *values = zeros(d), *vectors = zeros(d * d);
    memcpy(a, q->gram, (size_t)(d * d) * sizeof *a);
    assert_int_equal(rlar__eig_top(q->ctx, d, a, d, values, vectors), RLAR_OK);
    q->highest = values[0] + q->en.gamma;
    q->lowest = fmax(values[d - 1], 0.0) + q->en.gamma;
    free(a);
    free(values);
    free(vectors);
}

static void problem_open(problem *q, const shape *s, bool covariance, int threads) {
    *q = (problem){.ctx = context(threads)};
    assert_int_equal(rlar__blas_open(q->ctx, 0), RLAR_OK);
    make_samples(q, s, 5);
    q->en = (rlar_enet){.n = s->n, .d = s->d, .gamma = s->gamma, .covariance = covariance};
    if (covariance)
        q->en.gram = q->gram;
    else
        q->en.x = q->x;
    rlar__enet_carve(&q->ws, &q->en);
    assert_int_equal(rlar__workspace_take(q->ctx, &q->ws, "test"), RLAR_OK);
    rlar__enet_carve(&q->ws, &q->en);
    assert_int_equal(rlar__enet_prepare(q->ctx, &q->en), RLAR_OK);
    find_spectrum(q);
}

static void problem_close(problem *q) {
    rlar__workspace_free(&q->ws);
    free(q->x);
    free(q->gram);
    free(q->g);
    rlar_ctx_free(q->ctx);
}

/* lambda as a share of the value from which on b = 0 is the solution. */
static void set_tau(problem *q, double tau) {
    q->en.lambda = 2.0 * tau * q->largest;
}

static rlar_enet_result solve(problem *q, double *b) {
    rlar_enet_result result;
    assert_int_equal(rlar__enet_solve(q->ctx, &q->en, q->g, b, &result), RLAR_OK);
    assert_true(result.solved);
    assert_int_equal(q->en.ridged, 0);
    return result;
}

/* (g - G b)_j */
static double left(const problem *q, const double *b, int64_t j) {
    return q->g[j] - rlar__dot(q->en.d, q->gram + j * q->en.d, b);
}

static double objective(const problem *q, const double *b) {
    double sum = 0.0;
    for (int64_t j = 0; j < q->en.d; j++)
        sum += b[j] * (q->en.gamma * b[j] - q->g[j] - left(q, b, j)) + q->en.lambda * fabs(b[j]);
    return sum;
}

/* h_j = 2 (g - G b)_j - 2 gamma b_j is lambda sign(b_j), or at most lambda where b_j = 0: to twice
 * the solver's 1e-12 max |g|, and the rounding of the sums here. */
static void check_conditions(const problem *q, const double *b) {
    double size = 0.0;
    for (int64_t j = 0; j < q->en.d; j++)
        size = fmax(size, fabs(b[j]));
    const double lambda = q->en.lambda,
                 slack = 2e-12 * q->largest + 8.0 * DBL_EPSILON * q->highest * size;
    for (int64_t j = 0; j < q->en.d; j++) {
        const double h = 2.0 * left(q, b, j) - 2.0 * q->en.gamma * b[j];
        if (b[j] != 0.0)
            assert_close(h, copysign(lambda, b[j]), slack);
        else
            assert_true(fabs(h) <= lambda + slack);
    }
}

static void optimality_conditions(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES; i++)
        for (int covariance = 0; covariance < 2; covariance++) {
            problem q;
            problem_open(&q, &shapes[i], covariance, 2);
            double *b = zeros(q.en.d);
            for (int k = 0; k < TAUS; k++) {
                set_tau(&q, taus[k]);
                memset(b, 0, (size_t)q.en.d * sizeof *b);
                const rlar_enet_result result = solve(&q, b);
                check_conditions(&q, b);
                assert_close(result.value, objective(&q, b), 1e-12 * (1.0 + fabs(result.value)));
                assert_true(result.value <= 0.0);
                if (q.en.d > 4)
                    assert_true(b[q.en.d - 1] == 0.0);
            }
            free(b);
            problem_close(&q);
        }
}

/* Exactly zero at tau = 1, not zero just below. */
static void vanishes_at_lambda_max(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES; i++) {
        problem q;
        problem_open(&q, &shapes[i], false, 1);
        double *b = zeros(q.en.d);
        set_tau(&q, 1.0);
        solve(&q, b);
        assert_true(rlar__norm(q.en.d, b) == 0.0);
        set_tau(&q, 0.999);
        solve(&q, b);
        assert_true(rlar__norm(q.en.d, b) > 0.0);
        free(b);
        problem_close(&q);
    }
}

/* Two solutions b of the same problem. On the support H_AA b_A = g_A - s_A lambda/2: a backward
 * stable solve leaves an error of kappa eps max |b|, kappa = highest / lowest, and the right side,
 * a difference of numbers of size max |g|, is known to eps max |g|, which 1/lowest multiplies. The
 * largest that was seen is 0.6 of the sum, over kappa from 1 to 2e7 (so b to 2e-9 at worst). */
static void check_same(const problem *q, const double *a, const double *b) {
    double largest = 0.0;
    for (int64_t j = 0; j < q->en.d; j++)
        largest = fmax(largest, fabs(a[j]));
    const double limit = 2.0 * DBL_EPSILON * (q->highest * largest + q->largest) / q->lowest;
    for (int64_t j = 0; j < q->en.d; j++)
        assert_close(a[j], b[j], limit);
}

static void modes_agree(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES; i++)
        for (int k = 0; k < TAUS; k++) {
            problem q[2];
            double *b[2];
            for (int covariance = 0; covariance < 2; covariance++) {
                problem_open(&q[covariance], &shapes[i], covariance, 1);
                set_tau(&q[covariance], taus[k]);
                b[covariance] = zeros(shapes[i].d);
                solve(&q[covariance], b[covariance]);
            }
            check_same(&q[0], b[0], b[1]);
            for (int covariance = 0; covariance < 2; covariance++) {
                free(b[covariance]);
                problem_close(&q[covariance]);
            }
        }
}

/* H b = g, and the way without covariance H b = g - X^T y, (X X^T + n gamma I) y = X g. The inverse
 * leaves kappa eps max |g| (0.7 of it was seen); the other way may leave sqrt(kappa)/2 times as
 * much, 2000 times for the worst shape, and leaves 22 times. */
static void ridge_closed_form(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES; i++)
        for (int covariance = 0; covariance < 2; covariance++) {
            problem q;
            problem_open(&q, &shapes[i], covariance, 1);
            double *b = zeros(q.en.d), *cold = zeros(q.en.d);
            const double limit =
                (covariance ? 2.0 : 64.0) * DBL_EPSILON * q.highest / q.lowest * q.largest;
            rlar__enet_ridge(&q.en, q.g, b);
            for (int64_t j = 0; j < q.en.d; j++)
                assert_close(left(&q, b, j), q.en.gamma * b[j], limit);
            solve(&q, cold); /* lambda is 0 */
            check_same(&q, cold, b);
            free(b);
            free(cold);
            problem_close(&q);
        }
}

/* From the solution for another lambda, or for lambda = 0, as from zero; and never uphill. */
static void warm_is_cold(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES; i++)
        for (int k = 1; k < TAUS; k++) {
            problem q;
            problem_open(&q, &shapes[i], shapes[i].d <= shapes[i].n, 1);
            double *cold = zeros(q.en.d), *warm = zeros(q.en.d), *ridge = zeros(q.en.d);
            set_tau(&q, taus[TAUS - k]);
            solve(&q, warm);
            set_tau(&q, taus[k]);
            solve(&q, cold);
            const double before = rlar__enet_value(&q.en, q.g, warm);
            assert_close(before, objective(&q, warm), 1e-12 * (1.0 + fabs(before)));
            assert_true(solve(&q, warm).value <= before + 1e-15);
            rlar__enet_ridge(&q.en, q.g, ridge);
            solve(&q, ridge);
            check_same(&q, cold, warm);
            check_same(&q, cold, ridge);
            free(cold);
            free(warm);
            free(ridge);
            problem_close(&q);
        }
}

/* Problems of which each begins where the last one ended, as SDA has them: the same as alone. The g
 * turn by and by, and once at all; H^-1 g is given every second time. Supports of more and of less
 * than half of the features, of which a few come and go each time. The factor follows them, and is
 * still held at the end: what would mend a wrong one has not been called. */
static void series_is_single_problems(void **unused) {
    (void)unused;
    enum { TURNS = 24 };
    const shape wide = {400, 360, 1e-3, 0.3};
    const double tau[] = {0.01, 0.1, 0.3};
    int followed = 0;
    for (int k = 0; k < 3; k++) {
        problem series, single;
        problem_open(&series, &wide, true, 1);
        problem_open(&single, &wide, true, 1);
        rlar_rng rng = seeded(9);
        double *b = zeros(wide.d), *alone = zeros(wide.d), *turned = random_numbers(&rng, wide.d);
        double *start = zeros(wide.d), *ridge = zeros(wide.d);
        memcpy(start, series.g, (size_t)wide.d * sizeof *start);
        set_tau(&series, tau[k]);
        single.en.lambda = series.en.lambda;
        for (int t = 0; t < TURNS; t++) {
            const double share = 5e-4 * t + (t > TURNS / 2 ? 0.03 : 0.0);
            for (int64_t j = 0; j < wide.d; j++)
                single.g[j] = series.g[j] = start[j] + share * series.largest * turned[j];
            series.g[wide.d - 1] = single.g[wide.d - 1] = 0.0; /* of the constant feature */
            series.en.ridge = t % 2 ? ridge : NULL;
            assert_int_equal(rlar__enet_ridges(series.ctx, &series.en, 1, series.g, ridge),
                             RLAR_OK);
            solve(&series, b);
            check_conditions(&series, b);
            assert_true(series.en.held > 0);
            followed += series.en.changes > 0;
            assert_int_equal(rlar__enet_prepare(single.ctx, &single.en), RLAR_OK);
            memset(alone, 0, (size_t)wide.d * sizeof *alone);
            solve(&single, alone);
            check_same(&series, alone, b);
        }
        free(b), free(alone), free(turned), free(start), free(ridge);
        problem_close(&series);
        problem_close(&single);
    }
    assert_true(followed > TURNS / 2);
}

static void same_bits_for_any_threads(void **unused) {
    (void)unused;
    for (int i = SHAPES - 2; i < SHAPES; i++) {
        double *b[2];
        for (int k = 0; k < 2; k++) {
            problem q;
            problem_open(&q, &shapes[i], i == SHAPES - 1, k == 0 ? 1 : 3);
            set_tau(&q, 1e-3);
            b[k] = zeros(q.en.d);
            solve(&q, b[k]);
            problem_close(&q);
        }
        assert_memory_equal(b[0], b[1], (size_t)shapes[i].d * sizeof *b[0]);
        free(b[0]);
        free(b[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimality_conditions),
        cmocka_unit_test(vanishes_at_lambda_max),
        cmocka_unit_test(modes_agree),
        cmocka_unit_test(ridge_closed_form),
        cmocka_unit_test(warm_is_cold),
        cmocka_unit_test(series_is_single_problems),
        cmocka_unit_test(same_bits_for_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
