/* test_factored.c - what Cholesky factors do in the place of eigenvectors: halves of a solve, the
 * factored forms of the reduction, least squares and LSDA by both ways, from well conditioned over
 * the border to rank deficient samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>

#include "close.h"
#include "fitting.h"
#include "solver/least.h"
#include "solver/white.h"

static rlar_ctx *blas_context(void) {
    rlar_ctx *ctx = context(2);
    assert_int_equal(rlar__blas_open(ctx, 0), RLAR_OK);
    return ctx;
}

/* ---- Halves of a solve ---- */

/* A lower triangle far from singular, and above it what must not be read. */
static double *lower(rlar_rng *rng, int64_t n) {
    double *l = random_numbers(rng, n * n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            l[j * n + i] = i < j ? NAN : i == j ? 2.0 + l[j * n + i] : l[j * n + i] / (double)n;
    return l;
}

static void test_halves_of_a_solve(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context();
    rlar_rng rng = seeded(1);
    const int64_t sizes[][2] = {{1, 1}, {31, 3}, {32, 256}, {33, 257}, {150, 5}};
    for (int t = 0; t < 5; t++) {
        const int64_t n = sizes[t][0], p = sizes[t][1];
        double *l = lower(&rng, n), *b = random_numbers(&rng, n * p);
        double *forward = zeros(n * p), *backward = zeros(n * p);
        memcpy(forward, b, (size_t)(n * p) * sizeof *b);
        memcpy(backward, b, (size_t)(n * p) * sizeof *b);
        assert_int_equal(rlar__chol_forward(ctx, n, p, l, forward), RLAR_OK);
        assert_int_equal(rlar__chol_backward(ctx, n, p, l, backward), RLAR_OK);
        for (int64_t j = 0; j < p; j++)
            for (int64_t i = 0; i < n; i++) {
                double down = 0.0, up = 0.0;
                for (int64_t k = 0; k < n; k++) {
                    down += k <= i ? l[k * n + i] * forward[j * n + k] : 0.0;
                    up += k >= i ? l[i * n + k] * backward[j * n + k] : 0.0;
                }
                assert_close(down, b[j * n + i], 1e-13);
                assert_close(up, b[j * n + i], 1e-13);
            }
        free(l);
        free(b);
        free(forward);
        free(backward);
    }
    rlar_ctx_free(ctx);
}

/* ---- The forms ---- */

/* Samples of which feature r is feature 0 plus eps times its own: for small eps nearly collinear,
 * for 0 of rank 1. For n < d the same with the samples, in the first half of them. */
static double *nearly(rlar_rng *rng, int64_t d, int64_t n, double eps) {
    double *x = random_numbers(rng, d * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < d; r++)
            if (n > d + 1 && r > 0)
                x[i * d + r] = x[i * d] + eps * x[i * d + r];
            else if (n <= d + 1 && i > 0 && i < n / 2)
                x[i * d + r] = x[r] + eps * x[i * d + r];
    return x;
}

/* L L^T = diag(scale) G diag(scale), where G is the smaller Gram matrix of the centred samples, in
 * the n x n form up to a multiple of 1 1^T. */
static void check_factor(const rlar_reduced *red) {
    const int64_t r = red->r, n = red->n;
    const bool dual = !red->z;
    double lift = 0.0;
    assert_true(dual ? r == n && red->basis : r == red->f);
    assert_true(!red->s && !red->total && !red->v && !red->u && !red->xc);
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = j; i < r; i++) {
            double sum = 0.0, product = 0.0;
            for (int64_t k = 0; k < (dual ? red->f : n); k++)
                sum += dual ? red->basis[i * red->f + k] * red->basis[j * red->f + k]
                            : red->z[k * r + i] * red->z[k * r + j];
            for (int64_t k = 0; k <= j; k++)
                product += red->factor[k * r + i] * red->factor[k * r + j];
            product /= red->scale[i] * red->scale[j];
            if (i == 0)
                lift = product - sum;
            assert_close(product, sum + lift, 1e-12 * (double)(red->f + n));
        }
    assert_true(dual ? lift > 0.01 : fabs(lift) < 1e-12 * (double)n);
}

static void test_forms(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context();
    rlar_rng rng = seeded(2);
    const int64_t sizes[][2] = {{7, 60}, {60, 20}, {20, 21}, {20, 22}, {1, 9}, {5, 2}};
    for (int t = 0; t < 6; t++) {
        const int64_t d = sizes[t][0], n = sizes[t][1];
        double *x = random_numbers(&rng, d * n);
        rlar_reduced red;
        for (int64_t i = 0; i < n && d == 7; i++)
            x[i * d + 3] = 0.25; /* a constant feature */
        assert_int_equal(rlar__normal_factored(ctx, NULL, x, d, n, &red), RLAR_OK);
        assert_non_null(red.factor);
        assert_true((red.z == NULL) == (n <= red.f + 1));
        assert_true(red.r <= rlar__least_rows(d, n));
        check_factor(&red);
        rlar__reduce_free(&red);
        assert_int_equal(rlar__span_factored(ctx, NULL, x, d, n, &red), RLAR_OK);
        assert_true((red.factor == NULL) == (n <= red.f + 1));
        assert_true(red.z && (red.factor != NULL) != (red.s != NULL));
        if (red.factor)
            check_factor(&red);
        rlar__reduce_free(&red);
        free(x);
    }
    rlar_ctx_free(ctx);
}

/* T Z has Z Z^T = I, and (T^T y)^T z = y^T (T z). */
static void test_white(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context();
    rlar_rng rng = seeded(3);
    const int64_t d = 40, n = 90;
    double *x = nearly(&rng, d, n, 0.1), *y = random_numbers(&rng, d), *before = zeros(n);
    for (int plain = 0; plain < 2; plain++) {
        rlar_reduced red;
        assert_int_equal(
            (plain ? rlar__span_factored : rlar__reduce_lean)(ctx, NULL, x, d, n, &red), RLAR_OK);
        double *back = zeros(d);
        memcpy(back, y, (size_t)d * sizeof *y);
        assert_int_equal(rlar__white_back(ctx, &red, 1, back), RLAR_OK);
        for (int64_t i = 0; i < n; i++)
            before[i] = rlar__dot(d, back, red.z + i * d);
        assert_int_equal(rlar__white(ctx, &red, n, red.z), RLAR_OK);
        for (int64_t j = 0; j < d; j++)
            for (int64_t i = 0; i <= j; i++) {
                double sum = 0.0;
                for (int64_t k = 0; k < n; k++)
                    sum += red.z[k * d + i] * red.z[k * d + j];
                assert_close(sum, i == j ? 1.0 : 0.0, 1e-10);
            }
        for (int64_t i = 0; i < n; i++)
            assert_close(before[i], rlar__dot(d, y, red.z + i * d), 1e-11);
        free(back);
        rlar__reduce_free(&red);
    }
    free(x);
    free(y);
    free(before);
    rlar_ctx_free(ctx);
}

/* ---- Least squares ---- */

/* E = T - W^T Xc (p x n). */
static void residuals(const rlar_reduced *red, int64_t p, const double *x, const double *t,
                      const double *w, double *e) {
    for (int64_t i = 0; i < red->n; i++)
        for (int64_t k = 0; k < p; k++) {
            long double sum = t[i * p + k];
            for (int64_t r = 0; r < red->d; r++)
                sum -= (long double)w[k * red->d + r] * (x[i * red->d + r] - red->mean[r]);
            e[i * p + k] = (double)sum;
        }
}

/* W (d x p) by two steps, as lsr takes them; the residuals stay in e. */
static double *two_steps(rlar_ctx *ctx, const rlar_reduced *red, int64_t p, const double *x,
                         const double *t, double *e) {
    const int64_t d = red->d, rows = rlar__least_rows(d, red->n);
    double *w = zeros(d * p), *more = zeros(d * p), *step = zeros(rows * p);
    rlar_partials partials;
    rlar_workspace ws = {0};
    rlar__partials_carve(&ws, red->n, rows, p, &partials);
    assert_int_equal(partials.levels, 0); /* one block: no buffers */
    for (int k = 0; k < 2; k++) {
        residuals(red, p, x, t, w, e);
        assert_int_equal(rlar__least_step(ctx, red, &partials, p, e, step, more), RLAR_OK);
        for (int64_t i = 0; i < d * p; i++)
            w[i] += more[i];
    }
    residuals(red, p, x, t, w, e);
    free(more);
    free(step);
    return w;
}

/* Both ways against each other. Least squares turns a relative error u of the samples into u kappa
 * ||W|| + u kappa^2 ||E|| / s_1 of W; 2^-52 d n stands for u and what sums add to it. Returns
 * whether the first way was the factor's. */
static bool check_both(rlar_ctx *ctx, rlar_rng *rng, const double *x, int64_t d, int64_t n) {
    enum { P = 3 };
    double *t = random_numbers(rng, P * n), *e = zeros(P * n), sum[P] = {0};
    for (int64_t i = 0; i < P * n; i++)
        sum[i % P] += t[i] / (double)n;
    for (int64_t i = 0; i < P * n; i++)
        t[i] -= sum[i % P];
    rlar_reduced one, other;
    assert_int_equal(rlar__normal_factored(ctx, NULL, x, d, n, &one), RLAR_OK);
    assert_int_equal(rlar__reduce_lean(ctx, NULL, x, d, n, &other), RLAR_OK);
    double *w = two_steps(ctx, &one, P, x, t, e), *v = two_steps(ctx, &other, P, x, t, e);
    const double kappa = other.s[0] / other.s[other.r - 1], size = norm_of(d * P, v);
    const double bound =
        DBL_EPSILON * (double)(d * n) * kappa * (size + kappa * norm_of(P * n, e) / other.s[0]);
    double difference = 0.0;
    for (int64_t i = 0; i < d * P; i++)
        difference = fmax(difference, fabs(w[i] - v[i]));
    if (!(difference <= bound))
        fail_msg("%lld x %lld, condition %g: %g apart, %g allowed", (long long)d, (long long)n,
                 kappa, difference, bound);
    const bool factored = one.factor != NULL;
    rlar__reduce_free(&one);
    rlar__reduce_free(&other);
    free(w);
    free(v);
    free(t);
    free(e);
    return factored;
}

/* From 1 over the border to rank deficient, features (n > d) or samples (n < d). */
static void test_least_squares_both_ways(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context();
    rlar_rng rng = seeded(4);
    const int64_t sizes[][2] = {{12, 50}, {30, 33}, {50, 20}, {19, 20}, {18, 20}};
    const double eps[] = {1.0, 0.1, 1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-8, 1e-9, 0.0};
    for (int t = 0; t < 5; t++)
        for (int k = 0; k < 12; k++) {
            double *x = nearly(&rng, sizes[t][0], sizes[t][1], eps[k]);
            const bool factored = check_both(ctx, &rng, x, sizes[t][0], sizes[t][1]);
            assert_true(factored || eps[k] <= (t == 0 || t == 2 ? 3e-4 : 0.1));
            assert_true(!factored || eps[k] >= 3e-5);
            free(x);
        }
    rlar_ctx_free(ctx);
}

/* ---- LSDA ---- */

/* W W^T (d x d): the same for every basis of a tied block. */
static double *square_of(const fitted *f, int64_t d) {
    double *a = zeros(d * d);
    for (int64_t i = 0; i < d * d; i++)
        for (int64_t k = 0; k < f->p; k++)
            a[i] += f->w[k * d + i / d] * f->w[k * d + i % d];
    return a;
}

/* A ridge that is too small to count takes the way by eigenvectors. */
static void check_lsda(const labelled *s, const char *settings, double tolerance) {
    char ridged[80];
    snprintf(ridged, sizeof ridged, "%s ridge=1e-300", settings);
    fitted *f = fit(s, "lsda", settings), *g = fit(s, "lsda", ridged);
    assert_int_equal(f->p, g->p);
    assert_close(f->info.objective, g->info.objective, tolerance * (1.0 + g->info.objective));
    double *a = square_of(f, s->d), *b = square_of(g, s->d);
    if (!(apart(s->d * s->d, a, b) <= tolerance))
        fail_msg("%s, n = %lld, d = %lld: %g apart", settings, (long long)s->n, (long long)s->d,
                 apart(s->d * s->d, a, b));
    free(a);
    free(b);
    fitted_free(f);
    fitted_free(g);
}

static void test_lsda_both_ways(void **state) {
    (void)state;
    const int64_t sizes[][4] = {{20, 20, 20, 20}, {24, 15, 21, 20}};
    const int64_t dims[] = {6, 40, 100};
    for (int t = 0; t < 2; t++)
        for (int k = 0; k < 3; k++) {
            labelled s = clouds(70, dims[k], 4, sizes[t]);
            check_lsda(&s, "alpha=0.1", 1e-10);
            check_lsda(&s, "alpha=0", 1e-10);
            check_lsda(&s, "alpha=0.7 k=5", 1e-10);
            for (int64_t i = 0; i < s.n; i++) /* ill conditioned, then rank deficient */
                s.x[i * s.d + 1] = s.x[i * s.d] + 1e-3 * s.x[i * s.d + 1];
            check_lsda(&s, "alpha=0.1", 1e-8);
            check_lsda(&s, "alpha=0.1 k=5", 1e-8);
            for (int64_t i = 0; i < s.n; i++)
                s.x[i * s.d + 1] = s.x[i * s.d];
            check_lsda(&s, "alpha=0.1", 1e-10);
            labelled_free(&s);
        }
}

/* Fewer features than classes, and as many: nothing to leave out, or to tie. */
static void test_lsda_few_features(void **state) {
    (void)state;
    const int64_t sizes[] = {9, 9, 9, 9, 9};
    for (int64_t d = 1; d <= 7; d++) {
        labelled s = clouds(71, d, 5, sizes);
        check_lsda(&s, "alpha=0.1", 1e-10);
        labelled_free(&s);
    }
}

/* Classes with the same mean: all eigenvalues tie, and the block is cut by variance. */
static void test_lsda_without_means(void **state) {
    (void)state;
    const int64_t sizes[] = {16, 16, 16};
    labelled s = clouds(72, 8, 3, sizes);
    for (int64_t i = 0; i < s.n; i++)
        for (int64_t r = 0; r < s.d; r++)
            s.x[i * s.d + r] = i % 2 ? -s.x[(i - 1) * s.d + r] : (double)(r + 1) * s.x[i * s.d + r];
    check_lsda(&s, "alpha=0.3", 1e-9);
    fitted *f = fit(&s, "lsda", "alpha=0.3");
    assert_int_equal(f->p, 3);
    fitted_free(f);
    labelled_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves_of_a_solve),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_white),
        cmocka_unit_test(test_lsda_both_ways),
        cmocka_unit_test(test_least_squares_both_ways),
        cmocka_unit_test(test_lsda_few_features),
        cmocka_unit_test(test_lsda_without_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
