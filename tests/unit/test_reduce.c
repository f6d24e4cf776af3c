/* Eigenvalues, singular values and the lossless reduction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "close.h"
#include "linalg/linalg.h"
#include "samples.h"
#include "solver/reduce.h"

static rlar_ctx *blas_context(void) {
    rlar_ctx *ctx = context(2);
    assert_int_equal(rlar__blas_open(ctx, 0), RLAR_OK);
    return ctx;
}

static void end_context(rlar_ctx *ctx) {
    rlar__pool_free(ctx->pool);
    ctx->pool = NULL;
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

/* A symmetric matrix with entries in [-1, 1], plus `ridge` on the diagonal. */
static double *symmetric(rlar_rng *rng, int64_t n, double ridge) {
    double *a = random_numbers(rng, n * n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            a[i * n + j] = a[j * n + i] += i == j ? ridge : 0.0;
    return a;
}

static double *copy_of(const double *a, int64_t count) {
    double *b = malloc((size_t)count * sizeof *b);
    assert_non_null(b);
    memcpy(b, a, (size_t)count * sizeof *b);
    return b;
}

/* (A x)_i for symmetric A. */
static double row_times(const double *a, int64_t n, int64_t i, const double *x) {
    return rlar__dot(n, a + i * n, x);
}

static void test_top_eigenvectors(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context();
    rlar_rng rng = seeded(1);
    const int64_t sizes[][2] = {{1, 1}, {5, 5}, {30, 4}, {60, 60}};
    for (int k = 0; k < 4; k++) {
        const int64_t n = sizes[k][0], q = sizes[k][1];
        double *a = symmetric(&rng, n, 0.0), *destroyed = copy_of(a, n * n);
        double *values = random_numbers(&rng, q), *x = random_numbers(&rng, n * q);
        assert_int_equal(rlar__eig_top(ctx, n, destroyed, q, values, x), RLAR_OK);
        for (int64_t j = 0; j < q; j++) {
            assert_true(j == 0 || values[j] <= values[j - 1]);
            for (int64_t i = 0; i < n; i++)
                assert_close(row_times(a, n, i, x + j * n), values[j] * x[j * n + i],
                             1e-12 * (double)n);
            for (int64_t i = 0; i <= j; i++)
                assert_close(rlar__dot(n, x + i * n, x + j * n), i == j ? 1.0 : 0.0,
                             1e-13 * (double)n);
        }
        free(a);
        free(destroyed);
        free(values);
        free(x);
    }
    end_context(ctx);
}

static void test_general_eigenvectors(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context();
    rlar_rng rng = seeded(2);
    const int64_t n = 40, q = 7;
    double *a = symmetric(&rng, n, 0.0), *b = symmetric(&rng, n, 20.0);
    double *a2 = copy_of(a, n * n), *b2 = copy_of(b, n * n);
    double *values = random_numbers(&rng, q), *x = random_numbers(&rng, n * q);
    int ridged = 0;
    assert_int_equal(rlar__eig_general(ctx, n, a2, b2, q, values, x, &ridged), RLAR_OK);
    assert_int_equal(ridged, 0);
    for (int64_t j = 0; j < q; j++) {
        double norm = 0.0;
        for (int64_t i = 0; i < n; i++) {
            const double bx = row_times(b, n, i, x + j * n);
            assert_close(row_times(a, n, i, x + j * n), values[j] * bx, 1e-11);
            norm += x[j * n + i] * bx;
        }
        assert_close(norm, 1.0, 1e-12);
        assert_true(j == 0 || values[j] <= values[j - 1]);
    }
    free(a);
    free(b);
    free(a2);
    free(b2);
    free(values);
    free(x);
    end_context(ctx);
}

static void test_thin_svd(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context();
    rlar_rng rng = seeded(3);
    const int64_t sizes[][2] = {{7, 3}, {3, 7}, {20, 20}, {1, 5}};
    for (int t = 0; t < 4; t++) {
        const int64_t m = sizes[t][0], n = sizes[t][1], k = m < n ? m : n;
        double *a = random_numbers(&rng, m * n), *destroyed = copy_of(a, m * n);
        double *u = random_numbers(&rng, m * k), *s = random_numbers(&rng, k),
               *vt = random_numbers(&rng, k * n);
        assert_int_equal(rlar__svd_thin(ctx, m, n, destroyed, u, s, vt), RLAR_OK);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = 0.0;
                for (int64_t r = 0; r < k; r++)
                    sum += u[r * m + i] * s[r] * vt[j * k + r];
                assert_close(sum, a[j * m + i], 1e-13);
            }
        free(a);
        free(destroyed);
        free(u);
        free(s);
        free(vt);
    }
    double bad[4] = {1, NAN, 0, 1}, s[2];
    assert_int_equal(rlar__svd_thin(ctx, 2, 2, bad, NULL, s, NULL), RLAR_E_NUMERIC);
    double infinite[4] = {1, INFINITY, 0, 1}, x[4];
    assert_int_equal(rlar__eig_top(ctx, 2, infinite, 2, s, x), RLAR_E_NUMERIC);
    end_context(ctx);
}

static void test_signs_and_lengths(void **state) {
    (void)state;
    double w[] = {1, -3, 2, 0, 0, 0, -2, 2, 1};
    rlar__fix_signs(3, 3, w);
    const double wanted[] = {-1, 3, -2, 0, 0, 0, 2, -2, -1};
    for (int i = 0; i < 9; i++)
        assert_true(w[i] == wanted[i]);
    rlar__unit_columns(3, 3, w);
    assert_close(rlar__norm(3, w), 1.0, 1e-15);
    assert_true(w[3] == 0.0 && w[4] == 0.0);
}

/* V orthonormal, V Z = Xc, Z Z^T = diag(s^2), the right rank. */
static void check_reduction(rlar_ctx *ctx, const double *x, int64_t d, int64_t n, int64_t rank,
                            double tolerance) {
    rlar_reduced r;
    assert_int_equal(rlar__reduce(ctx, x, d, n, &r), RLAR_OK);
    assert_int_equal(r.r, rank);
    for (int64_t j = 0; j < rank; j++) {
        assert_true(r.s[j] > 0.0 && (j == 0 || r.s[j] <= r.s[j - 1]));
        for (int64_t i = 0; i <= j; i++) {
            double zz = 0.0;
            for (int64_t k = 0; k < n; k++)
                zz += r.z[k * rank + i] * r.z[k * rank + j];
            assert_close(zz, i == j ? r.s[j] * r.s[j] : 0.0, tolerance * r.s[0] * r.s[0]);
            assert_close(rlar__dot(d, r.v + i * d, r.v + j * d), i == j ? 1.0 : 0.0, tolerance);
        }
    }
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < d; i++) {
            double sum = r.mean[i];
            for (int64_t j = 0; j < rank; j++)
                sum += r.v[j * d + i] * r.z[k * rank + j];
            assert_close(sum, x[k * d + i], tolerance * (1.0 + r.s[0]));
        }
    rlar__reduce_free(&r);
}

static void test_reduction_is_lossless(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context();
    rlar_rng rng = seeded(4);
    const int64_t sizes[][2] = {{6, 50},  {30, 30}, {30, 31}, {30, 32},
                                {60, 20}, {200, 5}, {1, 9},   {5, 2}};
    for (int t = 0; t < 8; t++) {
        const int64_t d = sizes[t][0], n = sizes[t][1], most = n - 1 < d ? n - 1 : d;
        double *x = random_numbers(&rng, d * n);
        check_reduction(ctx, x, d, n, most, 1e-9);
        free(x);
    }
    end_context(ctx);
}

/* Constant features, repeated features and repeated samples lower the rank, on both routes. */
static void test_reduction_finds_the_rank(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context();
    rlar_rng rng = seeded(5);
    const int64_t d = 8, n = 40;
    double *x = random_numbers(&rng, d * n);
    for (int64_t k = 0; k < n; k++)
        x[k * d + 3] = 0.25; /* exact: the Gram route */
    check_reduction(ctx, x, d, n, 7, 1e-9);
    for (int64_t k = 0; k < n; k++)
        x[k * d + 5] = x[k * d + 1] - 2.0 * x[k * d]; /* only the SVD can tell */
    check_reduction(ctx, x, d, n, 6, 1e-9);
    double *wide = random_numbers(&rng, 30 * 6);
    memcpy(wide + 30, wide, 30 * sizeof *wide); /* two equal samples */
    check_reduction(ctx, wide, 30, 6, 4, 1e-9);
    free(x);
    free(wide);
    end_context(ctx);
}

/* Singular values over four decades, squared in the Gram matrix: with few samples V and U are
 * orthonormal to rounding all the same. */
static void test_reduction_stays_orthonormal(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context();
    rlar_rng rng = seeded(7);
    const int64_t n = 40, dims[] = {90, 40, 39};
    for (int t = 0; t < 3; t++) {
        const int64_t d = dims[t];
        double *x = random_numbers(&rng, d * n);
        for (int64_t k = 0; k < n; k++)
            for (int64_t i = 0; i < d; i++)
                x[k * d + i] *= pow(10.0, -4.0 * (double)k / (double)n);
        rlar_reduced r;
        assert_int_equal(rlar__reduce(ctx, x, d, n, &r), RLAR_OK);
        assert_int_equal(r.r, n - 1);
        assert_true(r.s[0] > 1e3 * r.s[n - 2]);
        for (int64_t j = 0; j < r.r; j++)
            for (int64_t i = 0; i <= j; i++) {
                double uu = 0.0;
                for (int64_t k = 0; k < n; k++)
                    uu += r.z[k * r.r + i] / r.s[i] * r.z[k * r.r + j] / r.s[j];
                assert_close(uu, i == j ? 1.0 : 0.0, 1e-13);
                assert_close(rlar__dot(d, r.v + i * d, r.v + j * d), i == j ? 1.0 : 0.0, 1e-13);
            }
        rlar__reduce_free(&r);
        free(x);
    }
    end_context(ctx);
}

/* A direction a million times smaller than the largest is kept, and accurate. */
static void test_reduction_keeps_small_directions(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context();
    rlar_rng rng = seeded(6);
    const int64_t d = 4, n = 30;
    double *x = random_numbers(&rng, d * n);
    for (int64_t k = 0; k < n; k++)
        x[k * d + 2] *= 1e-9;
    rlar_reduced r;
    assert_int_equal(rlar__reduce(ctx, x, d, n, &r), RLAR_OK);
    assert_int_equal(r.r, 4);
    double sum = 0.0, square = 0.0;
    for (int64_t k = 0; k < n; k++) {
        sum += x[k * d + 2] / (double)n;
        square += x[k * d + 2] * x[k * d + 2];
    }
    assert_true(r.s[3] <= sqrt(square - (double)n * sum * sum) * 1.0001);
    assert_true(r.s[3] > 1e-11);
    rlar__reduce_free(&r);
    for (int64_t k = 0; k < d * n; k++)
        x[k] = 3.0;
    assert_int_equal(rlar__reduce(ctx, x, d, n, &r), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(ctx), "equal"));
    free(x);
    end_context(ctx);
}

/* W = V Q without V: as with it, and the outputs are Z^T Q, also when the caller has used z up. */
static void check_lean(rlar_ctx *ctx, rlar_rng *rng, const double *x, int64_t d, int64_t n) {
    rlar_reduced whole, lean;
    const int64_t q = 3;
    assert_int_equal(rlar__reduce(ctx, x, d, n, &whole), RLAR_OK);
    assert_int_equal(rlar__reduce_lean(ctx, NULL, x, d, n, &lean), RLAR_OK);
    assert_null(lean.v);
    assert_int_equal(lean.r, whole.r);
    double *c = random_numbers(rng, lean.r * q), *w = random_numbers(rng, d * q);
    memset(lean.z, 0, (size_t)(lean.r * n) * sizeof *lean.z);
    assert_int_equal(rlar__reduce_apply(ctx, &lean, q, c, w), RLAR_OK);
    for (int64_t j = 0; j < q; j++) {
        for (int64_t i = 0; i < d; i++) {
            double sum = 0.0;
            for (int64_t k = 0; k < whole.r; k++)
                sum += whole.v[k * d + i] * c[j * whole.r + k];
            assert_close(w[j * d + i], sum, 1e-9);
        }
        for (int64_t k = 0; k < n; k++) {
            double sum = 0.0;
            for (int64_t i = 0; i < d; i++)
                sum += (x[k * d + i] - whole.mean[i]) * w[j * d + i];
            assert_close(sum, rlar__dot(whole.r, whole.z + k * whole.r, c + j * whole.r),
                         1e-11 * whole.s[0]);
        }
    }
    free(c);
    free(w);
    rlar__reduce_free(&whole);
    rlar__reduce_free(&lean);
}

static void test_lean_reduction(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context();
    rlar_rng rng = seeded(8);
    const int64_t sizes[][2] = {{90, 40}, {40, 40}, {9, 40}, {70, 3}};
    for (int t = 0; t < 4; t++) {
        const int64_t d = sizes[t][0], n = sizes[t][1];
        double *x = random_numbers(&rng, d * n);
        for (int64_t k = 0; k < n; k++)
            for (int64_t i = 0; i < d; i++)
                x[k * d + i] =
                    i == 2 ? 0.5 : x[k * d + i] * pow(10.0, -4.0 * (double)k / (double)n);
        check_lean(ctx, &rng, x, d, n);
        free(x);
    }
    end_context(ctx);
}

/* The features that vary are the basis where the total scatter is far from singular, else not. */
static void test_plain_span(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context();
    rlar_rng rng = seeded(9);
    const int64_t d = 6, n = 50, r = 5;
    double *x = random_numbers(&rng, d * n), w[6], c[5] = {1, 2, 3, 4, 5};
    for (int64_t k = 0; k < n; k++)
        x[k * d + 1] = 0.1;
    rlar_reduced s;
    assert_int_equal(rlar__span(ctx, NULL, x, d, n, &s), RLAR_OK);
    assert_int_equal(s.r, r);
    assert_null(s.s);
    double trace = 0.0;
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = j; i < r; i++) {
            double sum = 0.0;
            for (int64_t k = 0; k < n; k++)
                sum += s.z[k * r + i] * s.z[k * r + j];
            assert_close(s.total[j * r + i], sum, 1e-12);
            trace += i == j ? sum : 0.0;
        }
    assert_close(rlar__reduce_trace(&s), trace, 1e-12);
    assert_int_equal(rlar__reduce_apply(ctx, &s, 1, c, w), RLAR_OK);
    const double wanted[] = {1, 0, 2, 3, 4, 5};
    for (int i = 0; i < 6; i++)
        assert_true(w[i] == wanted[i]);
    rlar__reduce_free(&s);
    for (int64_t k = 0; k < n; k++)
        x[k * d + 3] = x[k * d] + 1e-7 * x[k * d + 3];
    assert_int_equal(rlar__span(ctx, NULL, x, d, n, &s), RLAR_OK);
    assert_int_equal(s.r, r);
    assert_non_null(s.s);
    assert_null(s.total);
    rlar__reduce_free(&s);
    free(x);
    end_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_top_eigenvectors),
        cmocka_unit_test(test_general_eigenvectors),
        cmocka_unit_test(test_thin_svd),
        cmocka_unit_test(test_signs_and_lengths),
        cmocka_unit_test(test_reduction_is_lossless),
        cmocka_unit_test(test_reduction_finds_the_rank),
        cmocka_unit_test(test_reduction_stays_orthonormal),
        cmocka_unit_test(test_reduction_keeps_small_directions),
        cmocka_unit_test(test_lean_reduction),
        cmocka_unit_test(test_plain_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
