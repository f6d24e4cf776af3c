/* The matrix operations against plain loops; the same bits for any number of threads. */
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

static rlar_ctx *new_ctx(int threads) {
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.threads = threads;
    rlar_ctx *ctx = NULL;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    assert_int_equal(rlar__blas_open(ctx, 0), RLAR_OK);
    return ctx;
}

static double *random_matrix(int64_t count, uint64_t seed) {
    rlar_rng rng = rlar__rng_seed(&seed, 1);
    double *a = malloc((size_t)count * sizeof *a);
    for (int64_t i = 0; i < count; i++)
        a[i] = (double)(rlar__rng_next(&rng) >> 11) / 9007199254740992.0 - 0.5;
    return a;
}

/* Entry (i, j) of A B^T for A with `rows` and B with `cols` rows. */
static double outer_entry(int64_t i, int64_t j, int64_t n, const double *a, int64_t rows,
                          const double *b, int64_t cols) {
    double sum = 0.0;
    for (int64_t k = 0; k < n; k++)
        sum += a[k * rows + i] * b[k * cols + j];
    return sum;
}

static rlar_partials take_partials(rlar_ctx *ctx, int64_t n, int64_t rows, int64_t cols,
                                   rlar_workspace *ws) {
    rlar_partials partials;
    *ws = (rlar_workspace){0};
    rlar__partials_carve(ws, n, rows, cols, &partials);
    assert_int_equal(rlar__workspace_take(ctx, ws, "partials"), RLAR_OK);
    rlar__partials_carve(ws, n, rows, cols, &partials);
    return partials;
}

/* Sizes below, at and above the panels (192, 256), the tall tiles (256) and the block (2048). */
static const int64_t sizes[][3] = {{1, 1, 1},      {5, 3, 7},       {128, 64, 129}, {130, 2, 2047},
                                   {600, 9, 50},   {257, 1, 4097},  {193, 192, 10}, {200, 40, 300},
                                   {37, 5, 2048},  {37, 130, 2049}, {60, 11, 6145}, {20, 3, 10241},
                                   {300, 150, 100}};

enum { SIZES = sizeof sizes / sizeof *sizes };

static void test_outer_products(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(2);
    for (int s = 0; s < SIZES; s++) {
        const int64_t d = sizes[s][0], p = sizes[s][1], n = sizes[s][2];
        double *a = random_matrix(d * n, 1), *b = random_matrix(p * n, 2);
        double *gram = calloc((size_t)(d * d), sizeof *gram),
               *m = calloc((size_t)(d * p), sizeof *m);
        rlar_workspace ws;
        const rlar_partials partials = take_partials(ctx, n, d, d > p ? d : p, &ws);
        assert_int_equal(rlar__gram_outer(ctx, &partials, d, n, a, a, gram), RLAR_OK);
        assert_int_equal(rlar__moments(ctx, &partials, d, p, n, a, b, m), RLAR_OK);
        const double tolerance = 1e-14 * (double)n;
        for (int64_t j = 0; j < d; j++)
            for (int64_t i = j; i < d; i += 1 + d / 7)
                assert_close(gram[j * d + i], outer_entry(i, j, n, a, d, a, d), tolerance);
        for (int64_t j = 0; j < p; j++)
            for (int64_t i = 0; i < d; i += 1 + d / 7)
                assert_close(m[j * d + i], outer_entry(i, j, n, a, d, b, p), tolerance);
        rlar__workspace_free(&ws);
        free(a);
        free(b);
        free(gram);
        free(m);
    }
    rlar_ctx_free(ctx);
}

static void test_inner_products(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(2);
    for (int s = 0; s < SIZES; s++) {
        const int64_t n = sizes[s][0], p = sizes[s][1], d = sizes[s][2];
        double *x = random_matrix(d * n, 3), *w = random_matrix(d * p, 4);
        double *gram = calloc((size_t)(n * n), sizeof *gram),
               *z = calloc((size_t)(p * n), sizeof *z);
        gram[0] = 5.0; /* gram_inner adds to what is there */
        assert_int_equal(rlar__gram_inner(ctx, n, d, x, x, gram), RLAR_OK);
        assert_int_equal(rlar__project(ctx, p, n, d, w, x, z), RLAR_OK);
        const double tolerance = 1e-14 * (double)d;
        gram[0] -= 5.0;
        for (int64_t j = 0; j < n; j++) {
            for (int64_t i = j; i < n; i += 1 + n / 7)
                assert_close(gram[j * n + i], rlar__dot(d, x + i * d, x + j * d), tolerance);
            for (int64_t i = 0; i < p; i++)
                assert_close(z[j * p + i], rlar__dot(d, w + i * d, x + j * d), tolerance);
        }
        free(x);
        free(w);
        free(gram);
        free(z);
    }
    rlar_ctx_free(ctx);
}

static void test_multiply(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(2);
    const int64_t d = 150, n = 33, p = 4;
    double *a = random_matrix(d * n, 5), *b = random_matrix(n * p, 6), *c = random_matrix(d * p, 7);
    assert_int_equal(rlar__multiply(ctx, d, p, n, a, b, c), RLAR_OK);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < p; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k < n; k++)
                sum += a[k * d + i] * b[j * n + k];
            assert_close(c[j * d + i], sum, 1e-13);
        }
    free(a);
    free(b);
    free(c);
    rlar_ctx_free(ctx);
}

/* A = G G^T + I, full. */
static double *spd(int64_t n, uint64_t seed) {
    double *g = random_matrix(n * n, seed), *a = malloc((size_t)(n * n) * sizeof *a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[j * n + i] = outer_entry(i, j, n, g, n, g, n) + (i == j ? 1.0 : 0.0);
    free(g);
    return a;
}

static void test_cholesky_solves(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(3);
    const int64_t orders[] = {1,   2,   127, 128,
                              129, 300, 400}; /* 400: several panels behind a block */
    for (int s = 0; s < 7; s++) {
        const int64_t n = orders[s], p = 70;
        double *a = spd(n, 8), *l = malloc((size_t)(n * n) * sizeof *l),
               *b = random_matrix(n * p, 9);
        double *x = malloc((size_t)(n * p) * sizeof *x), *diag = malloc((size_t)n * sizeof *diag);
        memcpy(l, a, (size_t)(n * n) * sizeof *l);
        memcpy(x, b, (size_t)(n * p) * sizeof *x);
        int ridged = 0;
        assert_int_equal(rlar__chol_factor(ctx, n, l, diag, &ridged), RLAR_OK);
        assert_int_equal(ridged, 0);
        assert_int_equal(rlar__chol_solve(ctx, n, p, l, x), RLAR_OK);
        for (int64_t j = 0; j < p; j += 9)
            for (int64_t i = 0; i < n; i++) {
                double sum = 0.0;
                for (int64_t k = 0; k < n; k++)
                    sum += a[k * n + i] * x[j * n + k];
                assert_close(sum, b[j * n + i], 1e-10);
            }
        free(a);
        free(l);
        free(b);
        free(x);
        free(diag);
    }
    rlar_ctx_free(ctx);
}

/* A singular matrix gets a ridge and then solves the ridged system; a hopeless one is a named
 * error. */
static void test_cholesky_retries(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(2);
    const int64_t n = 200;
    double *a = calloc((size_t)(n * n), sizeof *a), *diag = malloc((size_t)n * sizeof *diag);
    for (int64_t i = 0; i < n * n; i++)
        a[i] = 1.0; /* rank one */
    int ridged = 0;
    assert_int_equal(rlar__chol_factor(ctx, n, a, diag, &ridged), RLAR_OK);
    assert_true(ridged >= 1);
    for (int64_t j = 0; j < n; j += 13) /* L L^T is the matrix again, up to the ridge */
        for (int64_t i = j; i < n; i += 17) {
            double sum = 0.0;
            for (int64_t k = 0; k <= j; k++)
                sum += a[k * n + i] * a[k * n + j];
            assert_close(sum, 1.0, 1e-6);
        }
    for (int64_t i = 0; i < n * n; i++)
        a[i] = 0.0;
    for (int64_t i = 0; i < n; i++)
        a[i * n + i] = -1.0;
    assert_int_equal(rlar__chol_factor(ctx, n, a, diag, &ridged), RLAR_E_NUMERIC);
    assert_non_null(strstr(rlar_ctx_error(ctx), "200 x 200"));
    free(a);
    free(diag);
    rlar_ctx_free(ctx);
}

static void test_small_cholesky(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1);
    const int64_t n = 40;
    double *a = spd(n, 10), *inverse = malloc((size_t)(n * n) * sizeof *inverse);
    memcpy(inverse, a, (size_t)(n * n) * sizeof *inverse);
    assert_true(rlar__chol_small(n, inverse, n));
    rlar__chol_small_inverse(n, inverse, n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k < n; k++)
                sum += a[k * n + i] * (k >= j ? inverse[j * n + k] : inverse[k * n + j]);
            assert_close(sum, i == j ? 1.0 : 0.0, 1e-11);
        }
    a[0] = -1.0;
    assert_false(rlar__chol_small(n, a, n));
    free(a);
    free(inverse);
    rlar_ctx_free(ctx);
}

/* Gram, Cholesky and solve on 1, 2, 3, 4 and 8 threads: equal to the last bit. */
static void test_same_bits(void **state) {
    (void)state;
    const int64_t d = 300, n = 6000, p = 70;
    double *a = random_matrix(d * n, 11), *b = random_matrix(d * p, 12);
    double *first = NULL;
    const int threads[] = {1, 2, 3, 4, 8};
    for (int s = 0; s < 5; s++) {
        rlar_ctx *ctx = new_ctx(threads[s]);
        rlar_workspace ws;
        const rlar_partials partials = take_partials(ctx, n, d, d > p ? d : p, &ws);
        double *gram = calloc((size_t)(d * d), sizeof *gram),
               *diag = malloc((size_t)d * sizeof *diag);
        double *x = malloc((size_t)(d * p) * sizeof *x);
        memcpy(x, b, (size_t)(d * p) * sizeof *x);
        int ridged = 0;
        assert_int_equal(rlar__gram_outer(ctx, &partials, d, n, a, a, gram), RLAR_OK);
        assert_int_equal(rlar__chol_factor(ctx, d, gram, diag, &ridged), RLAR_OK);
        assert_int_equal(rlar__chol_solve(ctx, d, p, gram, x), RLAR_OK);
        if (first)
            assert_memory_equal(x, first, (size_t)(d * p) * sizeof *x);
        else
            first = x;
        if (first != x)
            free(x);
        rlar__workspace_free(&ws);
        free(gram);
        free(diag);
        rlar_ctx_free(ctx);
    }
    free(first);
    free(a);
    free(b);
}

/* A projected sample has the same bits wherever it stands in a padded block. */
static void test_projection_does_not_depend_on_company(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1);
    const int64_t d = 37, n = 4 * RLAR_COLUMNS, p = 5;
    double *x = random_matrix(d * n, 13), *w = random_matrix(d * p, 14);
    double *z = malloc((size_t)(p * n) * sizeof *z),
           *alone = calloc((size_t)(d * RLAR_COLUMNS), sizeof *alone);
    double za[5 * RLAR_COLUMNS];
    assert_int_equal(rlar__project(ctx, p, n, d, w, x, z), RLAR_OK);
    for (int64_t i = 0; i < n; i += 3) {
        memcpy(alone, x + i * d, (size_t)d * sizeof *alone);
        assert_int_equal(rlar__project(ctx, p, RLAR_COLUMNS, d, w, alone, za), RLAR_OK);
        assert_memory_equal(za, z + i * p, (size_t)p * sizeof *z);
    }
    free(x);
    free(w);
    free(z);
    free(alone);
    rlar_ctx_free(ctx);
}

/* Up to the limit the same bits, beyond it beyond it; and the slack of the expansion is enough. */
static void test_limited_distance(void **state) {
    (void)state;
    double *x = random_matrix(200, 21), *y = random_matrix(200, 22);
    for (int64_t n = 0; n <= 200; n++) {
        const double whole = rlar__distance2(n, x, y);
        const double limits[] = {INFINITY, whole, whole * 0.999, whole * 0.5, 0.0};
        for (int i = 0; i < 5; i++) {
            const double got = rlar__distance2_up_to(n, x, y, limits[i]);
            assert_true(whole <= limits[i] ? got == whole : got > limits[i]);
        }
        const double xx = rlar__dot(n, x, x), yy = rlar__dot(n, y, y);
        const double slack = rlar__expansion_slack(n, xx) + rlar__expansion_slack(n, yy);
        assert_true(fabs(xx - 2 * rlar__dot(n, x, y) + yy - whole) <= slack);
        assert_true(slack <= 1e-10);
    }
    free(x);
    free(y);
}

static void test_vectors(void **state) {
    (void)state;
    const double big[] = {3e200, 4e200}, small[] = {3e-200, 4e-200}, zero[] = {0, 0};
    assert_close(rlar__norm(2, big) / 5e200, 1.0, 1e-15);
    assert_close(rlar__norm(2, small) / 5e-200, 1.0, 1e-15);
    assert_true(rlar__norm(2, zero) == 0.0);
    const double rows[] = {3e200, 3e-200, 0, NAN, 4e200, 4e-200, 0, 0};
    assert_close(rlar__row_norm(2, rows, 4) / 5e200, 1.0, 1e-15);
    assert_close(rlar__row_norm(2, rows + 1, 4) / 5e-200, 1.0, 1e-15);
    assert_true(rlar__row_norm(2, rows + 2, 4) == 0.0);
    assert_true(isnan(rlar__row_norm(2, rows + 3, 4)) && isnan(rlar__norm(2, rows + 3)));
    const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, y[11] = {0};
    assert_true(rlar__distance2(11, x, y) == 506.0);
    assert_true(rlar__dot(11, x, x) == 506.0);
    int64_t above = -1;
    assert_true(rlar__sum_above(11, x, 7.0, &above) == 38.0 && above == 4);
    assert_true(rlar__sum_above(7, x, 7.0, &above) == 0.0 && above == 0);
    assert_close(rlar__row_norm(3, x, 4), sqrt(1 + 25 + 81), 1e-15);
    double *ones = malloc(10000 * sizeof *ones);
    for (int i = 0; i < 10000; i++)
        ones[i] = 1.0;
    assert_true(rlar__sum(10000, ones) == 10000.0);
    assert_true(rlar__sum(0, ones) == 0.0);
    assert_true(rlar__sum(1, ones) == 1.0);
    free(ones);
}

static void test_blas_is_described(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1);
    rlar_blas_info info = RLAR_INIT(rlar_blas_info);
    assert_int_equal(rlar_blas_describe(ctx, &info), RLAR_OK);
    assert_true(info.library[0] != '\0');
    /* Unless the user has chosen the kernel, a generic one is never taken where the processor has
     * better. */
    if (!getenv("OPENBLAS_CORETYPE"))
        assert_int_equal(info.generic, 0);
    double gflops = 0.0;
    assert_int_equal(rlar_blas_speed(ctx, 0.01, &gflops), RLAR_OK);
    assert_true(gflops > 0.0);
    assert_int_equal(rlar_blas_speed(ctx, -1.0, &gflops), RLAR_E_ARG);
    rlar_ctx_free(ctx);
}

/* Columns 1, 2 and 3 are tied, neighbour by neighbour: one factor; 0 and 4 stand alone; 5 and 6
 * are a zero block. */
static void test_unit_blocks(void **state) {
    (void)state;
    const double values[] = {9, 5, 5 - 8e-9, 5 - 16e-9, 2, 1, 1};
    double w[14] = {3, 4, 1, 1, 2, 0, 0, 3, 0, -5};
    assert_int_equal(rlar__tied_end(7, values, 1e-8, 0), 1);
    assert_int_equal(rlar__tied_end(7, values, 1e-8, 1), 4);
    assert_int_equal(rlar__tied_end(3, values, 1e-8, 1), 3);
    rlar__unit_blocks(2, 7, values, 1e-8, w);
    const double factor = sqrt(3.0 / 15.0);
    const double want[14] = {0.6, 0.8, factor, factor, 2 * factor, 0, 0, 3 * factor, 0, -1};
    for (int e = 0; e < 14; e++)
        assert_close(w[e], want[e], 1e-15);
}

/* The q largest of n eigenvalues of which all from the (q - 1)-th on are equal, so that the range
 * cuts through their block, with rounding of various sizes: LAPACK's way to a few eigenvectors
 * gives up on some of these. */
static void test_eig_cuts_a_tied_block(void **state) {
    (void)state;
    enum { N = 34, Q = 7 };
    rlar_ctx *ctx = new_ctx(1);
    for (uint64_t seed = 0; seed < 300; seed++) {
        double *u = random_matrix(N * N, 500 + seed), a[N * N] = {0}, kept[N * N];
        double values[N], vectors[N * Q];
        assert_int_equal(rlar__orthonormalise(N, N, 1e-8, u), N);
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                for (int i = j; i < N; i++)
                    a[j * N + i] +=
                        (k < Q - 1 ? 1.0 + 0.1 * k : 0.125) * u[k * N + i] * u[k * N + j];
        memcpy(kept, a, sizeof a);
        assert_int_equal(rlar__eig_top(ctx, N, a, Q, values, vectors), RLAR_OK);
        for (int k = 0; k < Q; k++)
            for (int i = 0; i < N; i++) {
                double sum = -values[k] * vectors[k * N + i];
                for (int j = 0; j < N; j++)
                    sum += kept[(i < j ? i : j) * N + (i < j ? j : i)] * vectors[k * N + j];
                assert_close(sum, 0.0, 1e-13);
            }
        free(u);
    }
    rlar_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outer_products),
        cmocka_unit_test(test_inner_products),
        cmocka_unit_test(test_multiply),
        cmocka_unit_test(test_cholesky_solves),
        cmocka_unit_test(test_cholesky_retries),
        cmocka_unit_test(test_small_cholesky),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_projection_does_not_depend_on_company),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_limited_distance),
        cmocka_unit_test(test_blas_is_described),
        cmocka_unit_test(test_unit_blocks),
        cmocka_unit_test(test_eig_cuts_a_tied_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
