/* test_regression.c - rr, lsr and relsr through the public interface: optimality by gradients, the
 * identities between them, primal against dual, what a change of the features does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "close.h"
#include "fitting.h"

static double *residuals(const fitted *f, const labelled *s, const double *t) {
    double *e = outputs_of(f, s);
    for (int64_t i = 0; i < f->p * s->n; i++)
        e[i] -= t[i];
    return e;
}

/* Targets whose rows sum to 1: W 1 = 0, sum b = 1. */
static void check_sums(const fitted *f, int64_t d) {
    double total = 0.0;
    for (int64_t r = 0; r < d; r++) {
        double sum = 0.0;
        for (int64_t k = 0; k < f->p; k++)
            sum += f->w[k * d + r];
        assert_close(sum, 0.0, 1e-9 * (1.0 + norm_of(d * f->p, f->w)));
    }
    for (int64_t k = 0; k < f->p; k++)
        total += f->b[k];
    assert_close(total, 1.0, 1e-9 * (1.0 + norm_of(d * f->p, f->w)));
}

/* X E^T + lambda W = 0, E 1 = 0 for the targets t; the objective in the info is the formula's. */
static void check_ridge(const fitted *f, const labelled *s, const double *t, double lambda) {
    double *e = residuals(f, s, t), *g = gradient_of(f, s, e, lambda, NULL);
    const double size = norm_of(s->d * s->n, s->x), w = norm_of(s->d * f->p, f->w);
    assert_close(norm_of(s->d * f->p, g), 0.0, 1e-10 * size * (1.0 + size * w));
    for (int64_t k = 0; k < f->p; k++) {
        double sum = 0.0;
        for (int64_t i = 0; i < s->n; i++)
            sum += e[i * f->p + k];
        assert_close(sum, 0.0, 1e-10 * size * (1.0 + size * w));
    }
    const double e2 = norm_of(f->p * s->n, e) * norm_of(f->p * s->n, e);
    assert_close(f->info.objective, e2 + lambda * w * w, 1e-9 * (1.0 + e2));
    free(e);
    free(g);
}

static void test_rr_is_the_minimiser(void **unused) {
    (void)unused;
    for (int i = 0; i < REGIMES; i++) {
        labelled s = regime_samples(100, i);
        double *t = one_hot(&s);
        fitted *f = fit(&s, "rr", "lambda=0.1");
        assert_int_equal(f->info.dual, s.n < s.d);
        assert_int_equal(f->info.converged, 1);
        check_ridge(f, &s, t, 0.1);
        check_sums(f, s.d);
        fitted_free(f);
        free(t);
        labelled_free(&s);
    }
}

/* rr = iteration 1 of relsr = iteration 1 of rlar without locality. */
static void test_rr_is_the_first_iteration_of_others(void **unused) {
    (void)unused;
    for (int i = 0; i < REGIMES; i++) {
        labelled s = regime_samples(100, i);
        fitted *rr = fit(&s, "rr", "lambda=0.3"), *relsr = fit(&s, "relsr", "lambda=0.3 iters=1"),
               *rlar = fit(&s, "rlar", "solver=paper alpha=0.3 beta=0 iters=1");
        assert_true(apart(s.d * s.c, relsr->w, rr->w) == 0.0);
        assert_true(apart(s.c, relsr->b, rr->b) == 0.0);
        assert_close(apart(s.d * s.c, rlar->w, rr->w), 0.0, 1e-12);
        assert_close(apart(s.c, rlar->b, rr->b), 0.0, 1e-12);
        fitted_free(rr);
        fitted_free(relsr);
        fitted_free(rlar);
        labelled_free(&s);
    }
}

static void test_primal_is_dual(void **unused) {
    (void)unused;
    static const char *const runs[][2] = {{"rr", "lambda=0.01"},
                                          {"lsr", ""},
                                          {"relsr", "lambda=0.01 iters=1"},
                                          {"relsr", "lambda=0.01 iters=7"},
                                          {"relsr", "lambda=10 iters=30"}};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
        for (int i = 0; i < REGIMES; i++) {
            labelled s = regime_samples(100, i), wide = padded(&s, s.n + 1);
            fitted *f = fit(&wide, runs[k][0], runs[k][1]), *g = fit(&s, runs[k][0], runs[k][1]);
            assert_int_equal(f->info.dual, 1);
            check_padded(f, &wide, g, &s, 1e-9, runs[k][1]);
            fitted_free(f);
            fitted_free(g);
            labelled_free(&s);
            labelled_free(&wide);
        }
}

/* A larger lambda: larger residual, smaller W. */
static void test_rr_path(void **unused) {
    (void)unused;
    labelled s = regime_samples(100, 1);
    double loss = -1.0, size = INFINITY;
    static const char *const path[] = {"lambda=1e-6", "lambda=0.001", "lambda=0.1",
                                       "lambda=1",    "lambda=100",   "lambda=1e6"};
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        fitted *f = fit(&s, "rr", path[i]);
        const double now = norm_of(s.d * f->p, f->w);
        assert_true(f->info.regression > loss && now < size);
        loss = f->info.regression;
        size = now;
        fitted_free(f);
    }
    labelled_free(&s);
}

/* x -> H x + 2 with H = I - 2 u u^T / u^T u: W -> H W. */
static void test_rr_turns_with_the_features(void **unused) {
    (void)unused;
    for (int i = 0; i < REGIMES; i++) {
        labelled s = regime_samples(100, i);
        fitted *f = fit(&s, "rr", "lambda=0.1");
        rlar_rng rng = seeded(5);
        double *u = random_numbers(&rng, s.d), *turned = zeros(s.d * s.c);
        const double u2 = norm_of(s.d, u) * norm_of(s.d, u);
        memcpy(turned, f->w, (size_t)(s.d * s.c) * sizeof *turned);
        for (int64_t j = 0; j < s.n + s.c; j++) {
            double *v = j < s.n ? s.x + j * s.d : turned + (j - s.n) * s.d, along = 0.0;
            for (int64_t r = 0; r < s.d; r++)
                along += 2.0 / u2 * u[r] * v[r];
            for (int64_t r = 0; r < s.d; r++)
                v[r] += (j < s.n ? 2.0 : 0.0) - along * u[r];
        }
        fitted *g = fit(&s, "rr", "lambda=0.1");
        assert_close(apart(s.d * s.c, g->w, turned), 0.0, 1e-11);
        fitted_free(f);
        fitted_free(g);
        free(u);
        free(turned);
        labelled_free(&s);
    }
}

static void test_lsr_is_the_minimiser(void **unused) {
    (void)unused;
    for (int i = 0; i < REGIMES; i++) {
        labelled s = regime_samples(100, i);
        double *t = one_hot(&s);
        fitted *f = fit(&s, "lsr", ""), *rr = fit(&s, "rr", "lambda=1e-9");
        check_ridge(f, &s, t, 0.0);
        check_sums(f, s.d);
        /* The limit of ridge regression is the solution of least norm. */
        assert_close(apart(s.d * s.c, rr->w, f->w), 0.0, 1e-4);
        if (s.n <= s.d)
            assert_close(f->info.objective, 0.0, 1e-20);
        fitted_free(f);
        fitted_free(rr);
        free(t);
        labelled_free(&s);
    }
}

/* Twice the same feature: each copy gets half of its weight. */
static void test_lsr_collinear(void **unused) {
    (void)unused;
    labelled s = regime_samples(100, 0), twice = padded(&s, 1);
    for (int64_t i = 0; i < s.n; i++)
        twice.x[i * twice.d + s.d] = twice.x[i * twice.d];
    fitted *f = fit(&s, "lsr", ""), *g = fit(&twice, "lsr", "");
    double *y = outputs_of(f, &s), *y2 = outputs_of(g, &twice);
    assert_close(apart(s.n * s.c, y, y2), 0.0, 1e-12);
    for (int64_t k = 0; k < s.c; k++) {
        assert_close(g->w[k * twice.d], g->w[k * twice.d + s.d], 1e-12);
        assert_close(2.0 * g->w[k * twice.d], f->w[k * s.d], 1e-12);
    }
    fitted_free(f);
    fitted_free(g);
    free(y);
    free(y2);
    labelled_free(&s);
    labelled_free(&twice);
}

/* Features that are nearly the same, x_r -> x_0 + 1e-4 x_r: the outputs stay. The step for the
 * residual gets back what the Gram matrix behind the reduction loses. */
static void test_lsr_ill_conditioned(void **unused) {
    (void)unused;
    for (int i = 0; i < 3; i++) {
        labelled s = regime_samples(100, i);
        fitted *f = fit(&s, "lsr", "");
        double *y = outputs_of(f, &s);
        for (int64_t j = 0; j < s.n * s.d; j++)
            s.x[j] = j % s.d == 0 ? s.x[j] : s.x[j - j % s.d] + 1e-4 * s.x[j];
        fitted *g = fit(&s, "lsr", "");
        double *y2 = outputs_of(g, &s);
        assert_close(apart(s.n * s.c, y2, y), 0.0, 1e-10);
        fitted_free(f);
        fitted_free(g);
        free(y);
        free(y2);
        labelled_free(&s);
    }
}

static void test_relsr_objective_and_margins(void **unused) {
    (void)unused;
    static const char *const settings[] = {"lambda=0.001", "lambda=0.01", "lambda=1",
                                           "lambda=1000"};
    static const double lambdas[] = {0.001, 0.01, 1.0, 1000.0};
    for (int i = 0; i < REGIMES; i++)
        for (int k = 0; k < 4; k++) {
            labelled s = regime_samples(100, i);
            fitted *f = fit(&s, "relsr", settings[k]);
            check_falls(f, 30);
            check_sums(f, s.d);
            /* T of the last iteration is the projection of the outputs. */
            double *y = outputs_of(f, &s), *t = margin_targets(&s, y);
            double loss = 0.0;
            for (int64_t j = 0; j < s.n * s.c; j++)
                loss += (y[j] - t[j]) * (y[j] - t[j]);
            assert_close(f->info.regression, loss, 1e-9 * (1.0 + loss));
            const double w = norm_of(s.d * s.c, f->w);
            assert_close(f->info.sparsity, lambdas[k] * w * w, 1e-9 * (1.0 + lambdas[k] * w * w));
            fitted_free(f);
            free(y);
            free(t);
            labelled_free(&s);
        }
}

/* Iterate m + 1 is the ridge solution for the targets that iterate m gives. */
static void test_relsr_step(void **unused) {
    (void)unused;
    for (int i = 0; i < REGIMES; i++) {
        labelled s = regime_samples(100, i);
        fitted *f = fit(&s, "relsr", "lambda=0.1 iters=4"),
               *next = fit(&s, "relsr", "lambda=0.1 iters=5");
        double *y = outputs_of(f, &s), *t = margin_targets(&s, y), *e = residuals(next, &s, t);
        double *g = gradient_of(next, &s, e, 0.1, NULL);
        assert_close(norm_of(s.d * s.c, g), 0.0, 1e-9);
        fitted_free(f);
        fitted_free(next);
        free(y);
        free(t);
        free(e);
        free(g);
        labelled_free(&s);
    }
}

/* At convergence the gradient of the problem without T vanishes: 2 X (Y - P(Y)) + 2 lambda W. */
static void test_relsr_converges(void **unused) {
    (void)unused;
    for (int i = 0; i < REGIMES; i++) {
        labelled s = regime_samples(100, i);
        fitted *f = fit(&s, "relsr", "lambda=1 iters=4000");
        double *y = outputs_of(f, &s), *projected = margin_targets(&s, y);
        double *e = residuals(f, &s, projected), *g = gradient_of(f, &s, e, 1.0, NULL);
        assert_close(norm_of(s.d * s.c, g), 0.0, 1e-6);
        for (int64_t k = 0; k < s.c; k++) {
            double sum = 0.0;
            for (int64_t j = 0; j < s.n; j++)
                sum += e[j * s.c + k];
            assert_close(sum, 0.0, 1e-6);
        }
        fitted_free(f);
        free(y);
        free(projected);
        free(e);
        free(g);
        labelled_free(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rr_is_the_minimiser),
        cmocka_unit_test(test_rr_is_the_first_iteration_of_others),
        cmocka_unit_test(test_primal_is_dual),
        cmocka_unit_test(test_rr_path),
        cmocka_unit_test(test_rr_turns_with_the_features),
        cmocka_unit_test(test_lsr_is_the_minimiser),
        cmocka_unit_test(test_lsr_collinear),
        cmocka_unit_test(test_lsr_ill_conditioned),
        cmocka_unit_test(test_relsr_objective_and_margins),
        cmocka_unit_test(test_relsr_step),
        cmocka_unit_test(test_relsr_converges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
