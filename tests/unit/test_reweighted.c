/* test_reweighted.c - rfs, l21sda and alpr through the public interface. Weights, targets and
 * scores of an iterate follow from its W, so every step can be checked from two fits that differ by
 * one iteration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>

#include "close.h"
#include "fitting.h"
#include "linalg/linalg.h"

static const char *settings_of(char *text, size_t size, const char *common, int iters) {
    snprintf(text, size, "%s iters=%d", common, iters);
    return text;
}

static void check_falls_everywhere(const char *method, const char *const *settings, int count) {
    for (int i = 0; i < REGIMES; i++)
        for (int k = 0; k < count; k++) {
            labelled s = regime_samples(200, i);
            fitted *f = fit(&s, method, settings[k]);
            check_falls(f, 30);
            fitted_free(f);
            labelled_free(&s);
        }
}

/* Iterate by iterate: the form that the samples ask for, and the n x n form. */
static void check_forms(const char *method, const char *common, double tolerance) {
    static const int iterations[] = {1, 2, 3, 6, 12};
    char text[96];
    for (int i = 0; i < REGIMES; i++)
        for (int k = 0; k < 5; k++) {
            labelled s = regime_samples(200, i), wide = padded(&s, s.n + 1);
            settings_of(text, sizeof text, common, iterations[k]);
            fitted *f = fit(&wide, method, text), *g = fit(&s, method, text);
            assert_int_equal(f->info.dual, 1);
            check_padded(f, &wide, g, &s, tolerance, text);
            fitted_free(f);
            fitted_free(g);
            labelled_free(&s);
            labelled_free(&wide);
        }
}

/* ---- rfs ---- */

static const double RFS_EPS = 1e-6;

/* The normal equations of `next` with the weights that `f` gives (NULL: P = 1), the offset as a
 * feature of ones included. They can be seen to hold up to the last digit of the outputs, which the
 * weights magnify: each sample adds its length times that to the tolerance. */
static void check_rfs_step(const labelled *s, const fitted *f, const fitted *next, double gamma,
                           double tolerance) {
    double *t = one_hot(s), *e = outputs_of(next, s), *y = f ? outputs_of(f, s) : NULL;
    double *rows = zeros(s->d), offset = 1.0;
    for (int64_t r = 0; r < s->d; r++)
        rows[r] = f ? 1.0 / hypot(row_norm_of(f, s->d, r), RFS_EPS) : 1.0;
    if (f)
        offset = 1.0 / hypot(norm_of(s->c, f->b), RFS_EPS);
    for (int64_t i = 0; i < s->n; i++) {
        double norm2 = 0.0;
        for (int64_t k = 0; f && k < s->c; k++)
            norm2 += pow((y[i * s->c + k] - t[i * s->c + k]) / gamma, 2.0);
        const double p = f ? sqrt(norm2 + RFS_EPS * RFS_EPS) : 1.0;
        tolerance += 4.0 * DBL_EPSILON * (1.0 + norm_of(s->d, s->x + i * s->d)) *
                     (1.0 + norm_of(s->c, e + i * s->c)) / (gamma * p);
        for (int64_t k = 0; k < s->c; k++)
            e[i * s->c + k] = (e[i * s->c + k] - t[i * s->c + k]) / (gamma * p);
    }
    double *g = gradient_of(next, s, e, gamma, rows);
    assert_close(norm_of(s->d * s->c, g), 0.0, tolerance);
    for (int64_t k = 0; k < s->c; k++) {
        double sum = gamma * offset * next->b[k];
        for (int64_t i = 0; i < s->n; i++)
            sum += e[i * s->c + k];
        assert_close(sum, 0.0, tolerance);
    }
    free(t);
    free(e);
    free(y);
    free(rows);
    free(g);
}

/* Iteration 1 is ridge regression with gamma^2 and penalised offset; then step by step. */
static void test_rfs_steps(void **unused) {
    (void)unused;
    static const char *const settings[] = {"eps=1e-6 gamma=0.1", "eps=1e-6 gamma=10"};
    static const double gammas[] = {0.1, 10.0};
    char text[96];
    for (int i = 0; i < REGIMES; i++)
        for (int k = 0; k < 2; k++) {
            labelled s = regime_samples(200, i);
            fitted *f = NULL;
            for (int iters = 1; iters <= 4; iters++) {
                fitted *next = fit(&s, "rfs", settings_of(text, sizeof text, settings[k], iters));
                check_rfs_step(&s, f, next, gammas[k], 0.0);
                if (f)
                    fitted_free(f);
                f = next;
            }
            fitted_free(f);
            labelled_free(&s);
        }
}

static void test_rfs_falls(void **unused) {
    (void)unused;
    static const char *const settings[] = {"gamma=0.01", "gamma=0.1", "gamma=1", "gamma=10"};
    check_falls_everywhere("rfs", settings, 4);
}

/* Weights that span more orders of magnitude than a number has digits: a step may be spoilt by
 * rounding, but it must not do harm. */
static void test_rfs_falls_at_the_bounds(void **unused) {
    (void)unused;
    static const char *const settings[] = {"gamma=1e-12",       "gamma=1e-12 eps=1e-15",
                                           "gamma=1e-12 eps=1", "gamma=1e-9",
                                           "gamma=1e-6",        "gamma=0.1 eps=1e-15"};
    check_falls_everywhere("rfs", settings, 6);
}

static void test_rfs_forms(void **unused) {
    (void)unused;
    check_forms("rfs", "eps=1e-6 gamma=0.1", 1e-7);
    check_forms("rfs", "eps=1e-6 gamma=10", 1e-10);
}

/* A step from the converged iterate leads nowhere; huge gamma drives W to 0. */
static void test_rfs_converges(void **unused) {
    (void)unused;
    labelled s = regime_samples(200, 0);
    fitted *f = fit(&s, "rfs", "eps=1e-6 gamma=1 iters=3000");
    check_rfs_step(&s, f, f, 1.0, 1e-5);
    fitted *none = fit(&s, "rfs", "gamma=1e4 iters=30");
    assert_true(norm_of(s.d * s.c, none->w) < 1e-6);
    fitted_free(f);
    fitted_free(none);
    labelled_free(&s);
}

/* Five of forty samples of a class with the wrong label: rr follows them, rfs hardly. */
static void test_rfs_outliers(void **unused) {
    (void)unused;
    const int64_t sizes[] = {40, 40};
    static const char *const methods[] = {"rr", "rfs"};
    labelled s = clouds(9, 4, 2, sizes);
    for (int64_t i = 0; i < s.n * s.d; i++)
        s.x[i] = 0.2 * s.x[i] + s.label[i / s.d];
    double moved[2];
    for (int m = 0; m < 2; m++) {
        labelled wrong = padded(&s, 0);
        for (int64_t i = 0; i < 5; i++)
            wrong.label[i] = 1.0;
        fitted *f = fit(&s, methods[m], ""), *g = fit(&wrong, methods[m], "");
        double *y = outputs_of(f, &s), *y2 = outputs_of(g, &s);
        moved[m] = apart(s.n * s.c, y2, y);
        fitted_free(f);
        fitted_free(g);
        free(y);
        free(y2);
        labelled_free(&wrong);
    }
    assert_true(moved[1] < 0.2 * moved[0]);
    labelled_free(&s);
}

/* ---- l21sda ---- */

static void test_l21sda_falls(void **unused) {
    (void)unused;
    static const char *const settings[] = {"lambda=0.001",
                                           "lambda=0.1",
                                           "lambda=1",
                                           "lambda=100",
                                           "loss=l21 eps=1e-4 lambda=0.1",
                                           "loss=l21 lambda=1",
                                           "loss=l21 lambda=100"};
    check_falls_everywhere("l21sda", settings, 7);
}

static void test_l21sda_forms(void **unused) {
    (void)unused;
    check_forms("l21sda", "eps=1e-6 lambda=0.1", 1e-7);
    check_forms("l21sda", "eps=1e-6 lambda=1", 1e-7);
    check_forms("l21sda", "loss=l21 eps=1e-4 lambda=0.1", 1e-7);
}

/* F = diag(p)^-1/2 Y Xc^T B: the sum of its singular values. */
static double score_fit(const fitted *f, const labelled *s, const double *y) {
    double *m = zeros(s->c * f->p), *sv = zeros(s->c), sum = 0.0;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < f->p; j++) {
            const int64_t k = (int64_t)s->label[i];
            const double share = (double)(s->first[k + 1] - s->first[k]) / (double)s->n;
            m[j * s->c + k] += y[i * f->p + j] / sqrt(share);
        }
    assert_int_equal(rlar__svd_thin(f->ctx, s->c, f->p, m, NULL, sv, NULL), RLAR_OK);
    for (int64_t j = 0; j < f->p; j++)
        sum += sv[j];
    free(m);
    free(sv);
    return sum;
}

/* Feasible scores have ||Th^T Y||^2 = n q, and the best of them reach tr(Th^T Y Xc^T B) = the sum
 * of the singular values of F: the loss is then known without Th. */
static void test_l21sda_scores_are_best(void **unused) {
    (void)unused;
    static const int full[] = {0, 1, 2, 4, 5}; /* c - 1 <= d */
    for (int i = 0; i < 5; i++)
        for (int iters = 1; iters <= 9; iters += 4) {
            char text[96];
            labelled s = regime_samples(200, full[i]);
            fitted *f =
                fit(&s, "l21sda", settings_of(text, sizeof text, "eps=1e-6 lambda=0.3", iters));
            double *y = outputs_of(f, &s);
            const double size = norm_of(f->p * s.n, y), n = (double)s.n;
            const double loss = size * size - 2.0 * score_fit(f, &s, y) + n * (double)f->p;
            assert_int_equal(f->p, s.c - 1);
            assert_close(f->info.regression, loss, 1e-9 * n);
            fitted_free(f);
            free(y);
            labelled_free(&s);
        }
}

/* Numbering the classes the other way round turns the scores and B: the distances between outputs
 * stay. That holds only if the first scores span all that is orthogonal to the constant. */
static void test_l21sda_class_order(void **unused) {
    (void)unused;
    for (int i = 0; i < REGIMES; i++) {
        labelled s = regime_samples(200, i);
        fitted *f = fit(&s, "l21sda", "eps=1e-6 lambda=0.1 iters=8");
        for (int64_t j = 0; j < s.n; j++)
            s.label[j] = (double)(s.c - 1) - s.label[j];
        fitted *g = fit(&s, "l21sda", "eps=1e-6 lambda=0.1 iters=8");
        for (int64_t r = 0; r < s.d; r++)
            for (int64_t q = 0; q <= r; q++) {
                double a = 0.0, b = 0.0;
                for (int64_t k = 0; k < f->p; k++) {
                    a += f->w[k * s.d + r] * f->w[k * s.d + q];
                    b += g->w[k * s.d + r] * g->w[k * s.d + q];
                }
                assert_close(a, b, 1e-8 * (1.0 + fabs(a)));
            }
        fitted_free(f);
        fitted_free(g);
        labelled_free(&s);
    }
}

/* lambda -> 0: B spans what least squares spans, which is the LDA subspace. */
static void test_l21sda_without_penalty(void **unused) {
    (void)unused;
    labelled s = regime_samples(200, 0);
    fitted *f = fit(&s, "l21sda", "lambda=1e-9"), *lsr = fit(&s, "lsr", "");
    double *basis = zeros(s.d * s.c), *u = zeros(s.d * s.c), *sv = zeros(s.c),
           *vt = zeros(s.c * s.c);
    memcpy(basis, lsr->w, (size_t)(s.d * s.c) * sizeof *basis);
    assert_int_equal(rlar__svd_thin(lsr->ctx, s.d, s.c, basis, u, sv, vt), RLAR_OK);
    for (int64_t k = 0; k < f->p; k++) {
        double *b = basis, before = 0.0;
        memcpy(b, f->w + k * s.d, (size_t)s.d * sizeof *b);
        before = norm_of(s.d, b);
        for (int64_t j = 0; j < s.c - 1; j++) {
            const double along = rlar__dot(s.d, b, u + j * s.d);
            for (int64_t r = 0; r < s.d; r++)
                b[r] -= along * u[j * s.d + r];
        }
        assert_true(before > 0.0 && norm_of(s.d, b) < 1e-7 * before);
    }
    free(basis);
    free(u);
    free(sv);
    free(vt);
    fitted_free(f);
    fitted_free(lsr);
    labelled_free(&s);
}

/* ---- alpr ---- */

static void test_alpr_falls(void **unused) {
    (void)unused;
    static const char *const settings[] = {"lambda1=0.01 lambda2=0.01", "lambda1=10 lambda2=0.1",
                                           "lambda1=0.1 lambda2=10", "lambda1=0 lambda2=1"};
    check_falls_everywhere("alpr", settings, 4);
}

static void test_alpr_forms(void **unused) {
    (void)unused;
    check_forms("alpr", "lambda1=0.1 lambda2=0.1", 1e-7);
    check_forms("alpr", "lambda1=0 lambda2=1", 1e-7);
}

/* S (n x n) that outputs y ask for; y NULL: 1/(n_i - 1). */
static double *alpr_s(const labelled *s, const double *y) {
    double *m = zeros(s->n * s->n);
    for (int64_t j = 0; j < s->n; j++) {
        double total = 0.0;
        for (int64_t k = 0; k < s->n; k++) {
            if (k == j || s->label[k] != s->label[j])
                continue;
            double d2 = 0.0;
            for (int64_t r = 0; y && r < s->c; r++)
                d2 += pow(y[j * s->c + r] - y[k * s->c + r], 2.0);
            total += m[j * s->n + k] = y ? 1.0 / (d2 + DBL_EPSILON) : 1.0;
        }
        for (int64_t k = 0; k < s->n && total > 0.0; k++)
            m[j * s->n + k] /= total;
    }
    return m;
}

static double class_size(const labelled *s, int64_t j) {
    const int64_t k = (int64_t)s->label[j];
    return (double)(s->first[k + 1] - s->first[k]);
}

/* X (X^T W - T) + lambda1 Sw W + lambda2/2 D W = 0 for `next`, with the T, S, D of f (NULL: those
 * of the start). */
static void check_alpr_step(const labelled *s, const fitted *f, const fitted *next, double lambda1,
                            double lambda2, double tolerance) {
    double *before = f ? outputs_of(f, s) : NULL, *y = outputs_of(next, s), *e = zeros(s->c * s->n);
    double *t = f ? margin_targets(s, before) : one_hot(s), *m = alpr_s(s, before);
    double *rows = zeros(s->d);
    for (int64_t r = 0; r < s->d; r++)
        rows[r] = f ? 1.0 / fmax(row_norm_of(f, s->d, r), 1e-10) : 1.0;
    for (int64_t j = 0; j < s->n; j++)
        for (int64_t r = 0; r < s->c; r++) {
            double sum = y[j * s->c + r] - t[j * s->c + r];
            for (int64_t k = 0; k < s->n; k++) {
                const double a = m[j * s->n + k], b = m[k * s->n + j];
                sum += lambda1 * class_size(s, j) * (a * a + b * b) *
                       (y[j * s->c + r] - y[k * s->c + r]);
            }
            e[j * s->c + r] = sum;
        }
    double *g = gradient_of(next, s, e, 0.5 * lambda2, rows);
    assert_close(norm_of(s->d * s->c, g), 0.0, tolerance);
    free(before);
    free(y);
    free(e);
    free(t);
    free(m);
    free(rows);
    free(g);
}

static void test_alpr_steps(void **unused) {
    (void)unused;
    static const char *const settings[] = {"lambda1=0.1 lambda2=0.1", "lambda1=10 lambda2=1"};
    static const double lambdas[][2] = {{0.1, 0.1}, {10.0, 1.0}};
    char text[96];
    for (int i = 0; i < REGIMES; i++)
        for (int k = 0; k < 2; k++) {
            labelled s = regime_samples(200, i);
            fitted *f = NULL;
            for (int iters = 1; iters <= 4; iters++) {
                fitted *next = fit(&s, "alpr", settings_of(text, sizeof text, settings[k], iters));
                check_alpr_step(&s, f, next, lambdas[k][0], lambdas[k][1], 1e-7);
                if (f)
                    fitted_free(f);
                f = next;
            }
            fitted_free(f);
            labelled_free(&s);
        }
}

/* With the best S the locality is sum n_i / sum 1/d: reached only when S d is constant along a row
 * whose sum is 1. The loss is the distance to the margin targets. */
static void test_alpr_terms(void **unused) {
    (void)unused;
    for (int i = 0; i < REGIMES; i++) {
        labelled s = regime_samples(200, i);
        fitted *f = fit(&s, "alpr", "lambda1=0.5 lambda2=0.1");
        double *y = outputs_of(f, &s), *t = margin_targets(&s, y), loss = 0.0, locality = 0.0;
        for (int64_t j = 0; j < s.n; j++) {
            double total = 0.0;
            for (int64_t k = 0; k < s.n; k++) {
                double d2 = 0.0;
                for (int64_t r = 0; r < s.c; r++)
                    d2 += pow(y[j * s.c + r] - y[k * s.c + r], 2.0);
                if (k != j && s.label[k] == s.label[j])
                    total += 1.0 / d2;
            }
            locality += total > 0.0 ? class_size(&s, j) / total : 0.0;
            for (int64_t r = 0; r < s.c; r++) {
                loss += pow(y[j * s.c + r] - t[j * s.c + r], 2.0);
                assert_true(f->b[r] == 0.0);
            }
        }
        assert_close(f->info.locality, 0.5 * locality, 1e-8 * (1e-6 + locality));
        assert_close(f->info.regression, loss, 1e-9 * (1.0 + loss));
        fitted_free(f);
        free(y);
        free(t);
        labelled_free(&s);
    }
}

/* Short rows become 0, the others keep their bits. */
static void test_alpr_threshold(void **unused) {
    (void)unused;
    for (int i = 0; i < REGIMES; i++) {
        labelled s = regime_samples(200, i);
        fitted *whole = fit(&s, "alpr", ""), *cut = fit(&s, "alpr", "threshold=0.01");
        int64_t zero = 0;
        for (int64_t r = 0; r < s.d; r++) {
            const bool is_short = pow(row_norm_of(whole, s.d, r), 2.0) < 0.01;
            for (int64_t k = 0; k < s.c; k++)
                assert_true(cut->w[k * s.d + r] == (is_short ? 0.0 : whole->w[k * s.d + r]));
            zero += is_short;
        }
        assert_true(zero < s.d);
        fitted_free(whole);
        fitted_free(cut);
        labelled_free(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rfs_steps),
        cmocka_unit_test(test_rfs_falls),
        cmocka_unit_test(test_rfs_falls_at_the_bounds),
        cmocka_unit_test(test_rfs_forms),
        cmocka_unit_test(test_rfs_converges),
        cmocka_unit_test(test_rfs_outliers),
        cmocka_unit_test(test_l21sda_falls),
        cmocka_unit_test(test_l21sda_forms),
        cmocka_unit_test(test_l21sda_scores_are_best),
        cmocka_unit_test(test_l21sda_class_order),
        cmocka_unit_test(test_l21sda_without_penalty),
        cmocka_unit_test(test_alpr_falls),
        cmocka_unit_test(test_alpr_forms),
        cmocka_unit_test(test_alpr_steps),
        cmocka_unit_test(test_alpr_terms),
        cmocka_unit_test(test_alpr_threshold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
