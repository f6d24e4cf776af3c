/* test_spectral.c - invariants of LDA, MMC, ALDE and SULDA, checked on the fitted map with the
 * scatter matrices written out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "close.h"
#include "fitting.h"
#include "linalg/linalg.h"
#include "scatters.h"

static const int64_t tall_sizes[] = {30, 25, 1, 28}, wide_sizes[] = {6, 5, 8, 4};

static labelled tall(void) {
    return clouds(21, 9, 4, tall_sizes);
}

static labelled wide(void) {
    return clouds(22, 60, 4, wide_sizes);
}

/* W^T S W = factor I. */
static void check_identity(const fitted *f, int64_t d, const double *s, double factor,
                           double tolerance) {
    for (int64_t j = 0; j < f->p; j++)
        for (int64_t i = 0; i <= j; i++)
            assert_close(form(d, s, f->w + i * d, f->w + j * d), i == j ? factor : 0.0,
                         tolerance * factor);
}

static void check_orthonormal(const fitted *f, int64_t d) {
    for (int64_t j = 0; j < f->p; j++)
        for (int64_t i = 0; i <= j; i++)
            assert_close(rlar__dot(d, f->w + i * d, f->w + j * d), i == j ? 1.0 : 0.0, 1e-12);
}

/* The largest sine between the span of W and the columns of u. */
static double span_distance(const fitted *f, int64_t d, int64_t q, const double *u) {
    double *basis = zeros(d * f->p), worst = 0.0, *v = zeros(d);
    for (int64_t i = 0; i < d * f->p; i++)
        basis[i] = f->w[i];
    assert_int_equal(rlar__orthonormalise(d, f->p, 0.0, basis), f->p);
    for (int64_t j = 0; j < q; j++) {
        const double length = norm_of(d, u + j * d);
        for (int64_t r = 0; r < d; r++)
            v[r] = u[j * d + r] / length;
        for (int64_t i = 0; i < f->p; i++) {
            const double along = rlar__dot(d, basis + i * d, v);
            for (int64_t r = 0; r < d; r++)
                v[r] -= along * basis[i * d + r];
        }
        worst = fmax(worst, norm_of(d, v));
    }
    free(basis);
    free(v);
    return worst;
}

/* ---- LDA ---- */

/* S_b w = mu (S_t + ridge I) w column by column, 0 <= mu <= 1, falling. */
static void check_fisher(const labelled *s, const char *settings, double ridge) {
    scatters all = scatters_of(s, false);
    fitted *f = fit(s, "lda", settings);
    const int64_t d = s->d;
    double before = 1.0 + 1e-9;
    for (int64_t i = 0; i < d; i++)
        all.t[i * d + i] += ridge;
    for (int64_t j = 0; j < f->p; j++) {
        const double *w = f->w + j * d;
        const double mu = form(d, all.b, w, w) / form(d, all.t, w, w);
        assert_true(mu >= 0.0 && mu <= before + 1e-9);
        before = mu;
        for (int64_t i = 0; i < d; i++)
            assert_close(rlar__dot(d, all.b + i * d, w), mu * rlar__dot(d, all.t + i * d, w),
                         1e-8 * norm_of(d * d, all.t) * norm_of(d, w));
        for (int64_t i = 0; i < j; i++)
            assert_close(form(d, all.t, f->w + i * d, w), 0.0, 1e-9 * trace(d, all.t));
    }
    assert_int_equal(f->p, s->c - 1);
    fitted_free(f);
    scatters_free(&all);
}

static void test_lda_solves_its_problem(void **state) {
    (void)state;
    labelled a = tall(), b = wide();
    check_fisher(&a, "", 0.0);
    check_fisher(&b, "", 0.0);
    check_fisher(&a, "ridge=0.5", 0.5);
    check_fisher(&b, "ridge=0.5", 0.5);
    labelled_free(&a);
    labelled_free(&b);
}

static void test_lda_scalings(void **state) {
    (void)state;
    labelled s = tall();
    scatters all = scatters_of(&s, false);
    fitted *f = fit(&s, "lda", "length=st");
    check_identity(f, s.d, all.t, 1.0, 1e-10);
    fitted_free(f);
    f = fit(&s, "lda", "length=sw");
    check_identity(f, s.d, all.w, 1.0, 1e-10);
    fitted_free(f);
    f = fit(&s, "lda", "length=orth");
    check_orthonormal(f, s.d);
    fitted_free(f);
    f = fit(&s, "lda", "");
    for (int64_t j = 0; j < f->p; j++)
        assert_close(norm_of(s.d, f->w + j * s.d), 1.0, 1e-13);
    fitted_free(f);
    scatters_free(&all);
    labelled_free(&s);
}

/* All mu are 1: one factor for the whole block, every class a point. */
static void test_lda_of_few_samples(void **state) {
    (void)state;
    labelled s = wide();
    scatters all = scatters_of(&s, false);
    fitted *f = fit(&s, "lda", "");
    assert_close(norm_of(s.d * f->p, f->w), sqrt((double)f->p), 1e-12);
    const double factor = form(s.d, all.t, f->w, f->w);
    check_identity(f, s.d, all.t, factor, 1e-9);
    for (int64_t j = 0; j < f->p; j++)
        assert_close(form(s.d, all.w, f->w + j * s.d, f->w + j * s.d), 0.0, 1e-12 * factor);
    fitted_free(f);
    scatters_free(&all);
    labelled_free(&s);
}

/* sw cannot be had where classes collapse: a named error. */
static void test_lda_refuses_sw(void **state) {
    (void)state;
    labelled s = wide();
    rlar_ctx *ctx = context(1);
    rlar_data *data = NULL;
    rlar_params *params = NULL;
    rlar_model *model = NULL;
    assert_int_equal(view_labelled(ctx, &s, &data), RLAR_OK);
    assert_int_equal(rlar_params_new(ctx, "lda", &params), RLAR_OK);
    assert_int_equal(rlar_params_preset(ctx, params, "paper"), RLAR_OK);
    set_params(ctx, params, "length=sw");
    assert_int_equal(rlar_fit(ctx, data, params, NULL, &model, NULL), RLAR_E_NUMERIC);
    assert_non_null(strstr(rlar_ctx_error(ctx), "length=unit"));
    rlar_params_free(params);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
    labelled_free(&s);
}

/* S_w w is parallel to m_1 - m_2. */
static void test_lda_of_two_classes(void **state) {
    (void)state;
    const int64_t sizes[] = {20, 33};
    labelled s = clouds(23, 7, 2, sizes);
    scatters all = scatters_of(&s, false);
    double *a = mean_between(&s, 0, 20), *b = mean_between(&s, 20, 53), sw[7];
    fitted *f = fit(&s, "lda", "");
    assert_int_equal(f->p, 1);
    for (int64_t i = 0; i < 7; i++) {
        sw[i] = rlar__dot(7, all.w + i * 7, f->w);
        a[i] -= b[i];
    }
    assert_close(fabs(rlar__dot(7, sw, a)), norm_of(7, sw) * norm_of(7, a),
                 1e-13 * norm_of(7, sw) * norm_of(7, a));
    free(a);
    free(b);
    fitted_free(f);
    scatters_free(&all);
    labelled_free(&s);
}

/* Fisherface: within the n - c leading principal directions, so S_w is regular there. */
static void test_fisherface(void **state) {
    (void)state;
    labelled s = wide();
    scatters all = scatters_of(&s, false);
    fitted *f = fit(&s, "lda", "fisherface=1 length=sw");
    check_identity(f, s.d, all.w, 1.0, 1e-8);
    fitted_free(f);
    scatters_free(&all);
    labelled_free(&s);
}

/* ---- MMC and ALDE ---- */

/* tr(U^T M U) of random orthonormal U (d x p) within the span of the samples. */
static double random_objective(rlar_rng *rng, const labelled *s, int64_t p, const double *m) {
    double *u = zeros(s->d * p), sum = 0.0;
    for (int64_t j = 0; j < p; j++)
        for (int64_t i = 0; i < s->n; i++) {
            const double weight = uniform(rng);
            for (int64_t r = 0; r < s->d; r++)
                u[j * s->d + r] += weight * s->x[i * s->d + r];
        }
    assert_int_equal(rlar__orthonormalise(s->d, p, 1e-9, u), p);
    for (int64_t j = 0; j < p; j++)
        sum += form(s->d, m, u + j * s->d, u + j * s->d);
    free(u);
    return sum;
}

/* W orthonormal, (S_b - theta S_w) w = lambda w, lambda falling and negative from column c on, the
 * objective their sum, and no random W better. */
static void check_margin(const labelled *s, const char *method, const char *settings,
                         double theta) {
    const int64_t d = s->d;
    scatters all = scatters_of(s, strcmp(method, "alde") == 0);
    fitted *f = fit(s, method, settings);
    rlar_rng rng = seeded(31);
    double sum = 0.0, before = INFINITY;
    for (int64_t i = 0; i < d * d; i++)
        all.b[i] -= theta * all.w[i];
    check_orthonormal(f, d);
    assert_int_equal(f->p, s->c);
    const double size = norm_of(d * d, all.b);
    for (int64_t j = 0; j < f->p; j++) {
        const double *w = f->w + j * d, lambda = form(d, all.b, w, w);
        for (int64_t i = 0; i < d; i++)
            assert_close(rlar__dot(d, all.b + i * d, w), lambda * w[i], 1e-10 * size);
        assert_true(lambda <= before + 1e-12 * size);
        assert_true(j < s->c - 1 || lambda <= 1e-12 * size);
        before = lambda;
        sum += lambda;
    }
    assert_close(f->info.objective, sum, 1e-10 * size);
    for (int t = 0; t < 50; t++)
        assert_true(random_objective(&rng, s, f->p, all.b) <= sum);
    fitted_free(f);
    scatters_free(&all);
}

static void test_margins(void **state) {
    (void)state;
    const int64_t sizes[] = {30, 25, 20, 28};
    labelled a = clouds(24, 9, 4, sizes), b = wide();
    const char *methods[] = {"mmc", "alde"};
    for (int k = 0; k < 2; k++) {
        check_margin(&a, methods[k], "", 1.0);
        check_margin(&b, methods[k], "", 1.0);
        check_margin(&a, methods[k], "theta=0.1", 0.1);
        check_margin(&b, methods[k], "theta=10", 10.0);
    }
    labelled_free(&a);
    labelled_free(&b);
}

/* theta = 0: the leading c - 1 columns span the differences of the class means. */
static void test_margin_of_means(void **state) {
    (void)state;
    labelled s = tall();
    const char *methods[] = {"mmc", "alde"};
    double *m = mean_between(&s, 0, s.n), *u = zeros(s.d * s.c);
    for (int64_t k = 0; k < s.c; k++) {
        double *mk = mean_between(&s, s.first[k], s.first[k + 1]);
        for (int64_t r = 0; r < s.d; r++)
            u[k * s.d + r] = mk[r] - m[r];
        free(mk);
    }
    for (int k = 0; k < 2; k++) {
        fitted *f = fit(&s, methods[k], "theta=0");
        f->p = s.c - 1;
        assert_true(span_distance(f, s.d, s.c, u) < 1e-10);
        fitted_free(f);
    }
    free(m);
    free(u);
    labelled_free(&s);
}

/* Class k moved by `by` times its mean's difference from the total mean; the total mean stays put
 * only when the others make up for it, so two opposite classes are moved alike. */
static void move_class(labelled *s, int64_t k, const double *direction, double by) {
    for (int64_t i = s->first[k]; i < s->first[k + 1]; i++)
        for (int64_t r = 0; r < s->d; r++)
            s->x[i * s->d + r] += by * direction[r];
}

/* Two classes of equal size, moved apart along the line of their means: ALDE sees angles only. */
static void test_alde_ignores_distance(void **state) {
    (void)state;
    const int64_t sizes[] = {20, 20};
    labelled s = clouds(25, 6, 2, sizes), far = clouds(25, 6, 2, sizes);
    double *a = mean_between(&s, 0, 20), *b = mean_between(&s, 20, 40);
    for (int64_t r = 0; r < 6; r++)
        a[r] -= b[r];
    move_class(&far, 0, a, 3.0);
    move_class(&far, 1, a, -3.0);
    fitted *f = fit(&s, "alde", ""), *g = fit(&far, "alde", "");
    assert_true(apart(6 * f->p, f->w, g->w) < 1e-10);
    fitted_free(f);
    fitted_free(g);
    f = fit(&s, "mmc", "");
    g = fit(&far, "mmc", "");
    assert_true(apart(6 * f->p, f->w, g->w) > 1e-3);
    fitted_free(f);
    fitted_free(g);
    free(a);
    free(b);
    labelled_free(&s);
    labelled_free(&far);
}

/* ---- SULDA ---- */

/* More samples than features: nothing to choose, the map is LDA with W^T S_t W = I. */
static void test_sulda_without_room(void **state) {
    (void)state;
    labelled s = tall();
    fitted *f = fit(&s, "sulda", ""), *g = fit(&s, "lda", "length=st");
    assert_int_equal(f->info.iterations, 0);
    assert_int_equal(f->info.converged, 1);
    assert_int_equal(f->p, g->p);
    assert_true(apart(s.d * f->p, f->w, g->w) < 1e-10);
    assert_true(apart(f->p, f->b, g->b) < 1e-10);
    fitted_free(f);
    fitted_free(g);
    labelled_free(&s);
}

static double l1(int64_t count, const double *x);

/* The free rotation: still G^T S_t G = I, still in the span that U1^T G = C Z allows, and sparser.
 */
static void test_sulda_rotates(void **state) {
    (void)state;
    labelled s = wide();
    scatters all = scatters_of(&s, false);
    fitted *fixed = fit(&s, "sulda", "iters=3000"),
           *free_z = fit(&s, "sulda", "iters=3000 variant=s1");
    const int64_t d = s.d, count = d * fixed->p;
    assert_int_equal(free_z->p, fixed->p);
    check_identity(free_z, d, all.t, 1.0, 1e-9);
    for (int64_t j = 0; j < free_z->p; j++)
        assert_close(form(d, all.w, free_z->w + j * d, free_z->w + j * d), 0.0, 1e-11);
    assert_true(l1(count, free_z->w) < 0.999 * l1(count, fixed->w));
    assert_close(free_z->info.objective, l1(count, free_z->w), 1e-10);
    fitted_free(fixed);
    fitted_free(free_z);
    scatters_free(&all);
    labelled_free(&s);
}

static double l1(int64_t count, const double *x) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += fabs(x[i]);
    return sum;
}

/* G^T S_t G = I and G^T S_w G = 0 after any number of iterations; iteration 1 gives G0, which lies
 * in the span of the samples; later ones differ from it across that span only (U1^T G = C) and have
 * a smaller norm. */
static void test_sulda_with_room(void **state) {
    (void)state;
    labelled s = wide();
    scatters all = scatters_of(&s, false);
    fitted *start = fit(&s, "sulda", "iters=1 tol=0");
    const int64_t d = s.d, count = d * start->p;
    double *m = mean_between(&s, 0, s.n), *difference = zeros(count), before = l1(count, start->w);
    const char *settings[] = {"iters=5 tol=0", "iters=40 tol=0", "", "iters=200000 tol=1e-7"};
    for (int k = 0; k < 4; k++) {
        fitted *f = fit(&s, "sulda", settings[k]);
        check_identity(f, d, all.t, 1.0, 1e-10);
        for (int64_t j = 0; j < f->p; j++) {
            assert_close(form(d, all.w, f->w + j * d, f->w + j * d), 0.0, 1e-12);
            /* The sign of a column is a matter of convention. */
            const double sign = form(d, all.t, start->w + j * d, f->w + j * d) > 0 ? 1.0 : -1.0;
            for (int64_t i = 0; i < d; i++)
                difference[j * d + i] = sign * f->w[j * d + i] - start->w[j * d + i];
            for (int64_t i = 0; i < s.n; i++)
                assert_close(rlar__dot(d, difference + j * d, s.x + i * d),
                             rlar__dot(d, difference + j * d, m), 1e-11);
        }
        assert_true(l1(count, f->w) <= before * (1.0 + 1e-12));
        assert_close(f->info.objective, l1(count, f->w), 1e-10);
        assert_true(k < 3 || f->info.converged == 1);
        if (k == 3) { /* sparse: no more than rank = n - 1 entries per column matter */
            int64_t used = 0;
            for (int64_t i = 0; i < count; i++)
                used += fabs(f->w[i]) > 1e-6 * before;
            assert_true(used <= f->p * (s.n - 1));
            assert_true(l1(count, f->w) < 0.95 * l1(count, start->w));
        }
        fitted_free(f);
    }
    free(m);
    free(difference);
    fitted_free(start);
    scatters_free(&all);
    labelled_free(&s);
}

/* ---- What does not matter ---- */

/* Samples of a class in reverse order; moved; twice as large. */
static labelled changed(const labelled *s, int kind) {
    labelled t = padded(s, 0);
    for (int64_t k = 0; k < s->c; k++)
        for (int64_t i = s->first[k]; i < s->first[k + 1]; i++) {
            const int64_t from = kind == 0 ? s->first[k] + s->first[k + 1] - 1 - i : i;
            for (int64_t r = 0; r < s->d; r++)
                t.x[i * s->d + r] = kind == 1   ? s->x[from * s->d + r] + 3.0 - (double)r
                                    : kind == 2 ? 2.0 * s->x[from * s->d + r]
                                                : s->x[from * s->d + r];
        }
    return t;
}

/* Reflection x - 2 u u^T x: an orthogonal map. */
static void reflect(int64_t d, int64_t count, double *x) {
    double *u = zeros(d);
    for (int64_t r = 0; r < d; r++)
        u[r] = sin((double)r + 1.0);
    rlar__unit_columns(d, 1, u);
    for (int64_t i = 0; i < count; i++) {
        const double along = 2.0 * rlar__dot(d, u, x + i * d);
        for (int64_t r = 0; r < d; r++)
            x[i * d + r] -= along * u[r];
    }
    free(u);
}

static void check_span(const labelled *s, const labelled *t, const char *method, bool reflected) {
    fitted *f = fit(s, method, ""), *g = fit(t, method, "");
    double *w = zeros(s->d * g->p);
    memcpy(w, g->w, (size_t)(s->d * g->p) * sizeof *w);
    if (reflected)
        reflect(s->d, g->p, w);
    assert_int_equal(f->p, g->p);
    const double sine = span_distance(f, s->d, g->p, w);
    if (!(sine < 1e-9))
        fail_msg("%s: the span moves by %g", method, sine);
    free(w);
    fitted_free(f);
    fitted_free(g);
}

static void test_invariances(void **state) {
    (void)state;
    const char *methods[] = {"lda", "mmc", "alde", "sulda"};
    for (int shape = 0; shape < 2; shape++) {
        labelled s = shape == 0 ? tall() : wide();
        for (int k = 0; k < 4; k++) {
            /* The sparse G of few samples is not bound to their span: it may move with the axes. */
            const bool moves = shape == 1 && k == 3;
            for (int kind = 0; kind < 4 - moves; kind++) {
                labelled t = changed(&s, kind);
                if (kind == 3)
                    reflect(t.d, t.n, t.x);
                check_span(&s, &t, methods[k], kind == 3);
                labelled_free(&t);
            }
        }
        labelled_free(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lda_solves_its_problem),
        cmocka_unit_test(test_lda_scalings),
        cmocka_unit_test(test_lda_of_few_samples),
        cmocka_unit_test(test_lda_refuses_sw),
        cmocka_unit_test(test_lda_of_two_classes),
        cmocka_unit_test(test_fisherface),
        cmocka_unit_test(test_margins),
        cmocka_unit_test(test_margin_of_means),
        cmocka_unit_test(test_alde_ignores_distance),
        cmocka_unit_test(test_sulda_without_room),
        cmocka_unit_test(test_sulda_with_room),
        cmocka_unit_test(test_sulda_rotates),
        cmocka_unit_test(test_invariances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
