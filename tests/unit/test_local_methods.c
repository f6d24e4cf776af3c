/* test_local_methods.c - LSDA, LFDA and NMMP: what their definitions promise whatever the numbers
 * are (invariances, residuals, limits in which they become LDA), bits, memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "close.h"
#include "linalg/linalg.h"
#include "methods/method.h"
#include "samples.h"
#include "solver/local_scatter.h"

enum { PARAMS = 3 };

/* A method with some parameters, as name and text. */
typedef struct variant {
    const char *method;
    const char *params[PARAMS][2];
} variant;

/* LFDA's ridge is in the units of the data: without it scaling changes nothing either. */
static const variant variants[] = {
    {"lsda", {{0}}},
    {"lsda", {{"k", "5"}, {"alpha", "0.3"}}},
    {"lsda", {{"ties", "drop"}}},
    {"lfda", {{"rho", "0"}}},
    {"lfda", {{"k", "3"}, {"rho", "0"}, {"metric", "orth"}}},
    {"nmmp", {{0}}},
    {"nmmp", {{"k", "10"}, {"mutual", "and"}}},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

/* Samples and what was fitted to them. */
typedef struct problem {
    fixture f;
    rlar_train train;
    double *x;
    rlar_map map;
    rlar_info info;
} problem;

static const int64_t even[] = {14, 14, 14}, uneven[] = {12, 20, 15};

/* Classes around random centres. */
static void problem_open(problem *p, int threads, int64_t c, const int64_t *sizes, int64_t d,
                         uint64_t seed) {
    rlar_rng rng = seeded(seed);
    *p = (problem){.info = {.size = sizeof p->info}};
    fixture_open(&p->f, threads, c, sizes, 1);
    assert_int_equal(rlar__blas_open(p->f.ctx, 0), RLAR_OK);
    const int64_t n = p->f.groups.n;
    double *centre = random_numbers(&rng, c * d);
    p->x = random_numbers(&rng, d * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = 0; e < d; e++)
            p->x[i * d + e] += 1.2 * centre[p->f.label[i] * d + e];
    free(centre);
    p->train =
        (rlar_train){.n = n, .d = d, .c = c, .x = p->x, .label = p->f.label, .first = p->f.first};
}

static void problem_close(problem *p) {
    rlar__map_free(&p->map);
    free(p->x);
    fixture_close(&p->f);
}

static rlar_params *params_of(rlar_ctx *ctx, const variant *v) {
    rlar_params *params = NULL;
    assert_int_equal(rlar_params_new(ctx, v->method, &params), RLAR_OK);
    assert_int_equal(rlar_params_preset(ctx, params, "paper"), RLAR_OK);
    for (int i = 0; i < PARAMS && v->params[i][0]; i++)
        assert_int_equal(rlar_params_set(ctx, params, v->params[i][0], v->params[i][1]), RLAR_OK);
    return params;
}

static void fit(problem *p, const variant *v) {
    rlar_params *params = params_of(p->f.ctx, v);
    rlar__map_free(&p->map);
    p->info = (rlar_info){.size = sizeof p->info, .objective = NAN};
    const rlar_status status = params->method->fit(p->f.ctx, &p->train, params, &p->map, &p->info);
    if (status < 0)
        fail_msg("%s: %s", v->method, rlar_ctx_error(p->f.ctx));
    assert_true(p->info.converged);
    for (int64_t e = 0; e < p->map.d * p->map.p; e++)
        assert_true(isfinite(p->map.w[e]));
    rlar_params_free(params);
}

/* Largest sine, in degrees, between the spans of the first q columns of a and all of b. */
static double angle(int64_t d, int64_t q, const double *a, int64_t p, const double *b) {
    double *u = zeros(d * q), *v = zeros(d * p), worst = 0.0;
    memcpy(u, a, (size_t)(d * q) * sizeof *u);
    memcpy(v, b, (size_t)(d * p) * sizeof *v);
    assert_int_equal(rlar__orthonormalise(d, q, 0.0, u), q);
    assert_int_equal(rlar__orthonormalise(d, p, 0.0, v), p);
    for (int64_t k = 0; k < q; k++) {
        for (int64_t j = 0; j < p; j++) {
            const double share = rlar__dot(d, u + k * d, v + j * d);
            for (int64_t e = 0; e < d; e++)
                u[k * d + e] -= share * v[j * d + e];
        }
        worst = fmax(worst, rlar__norm(d, u + k * d));
    }
    free(u);
    free(v);
    return worst * 180.0 / 3.14159265358979;
}

/* ---- Invariances of the span ---- */

enum { PERMUTE, ROTATE, TRANSLATE, SCALE, CHANGES };

/* R = I - 2 v v^T / v^T v, applied to the columns of a (d x count). */
static void reflect(int64_t d, int64_t count, double *a) {
    rlar_rng rng = seeded(99);
    double *v = random_numbers(&rng, d);
    const double square = rlar__dot(d, v, v);
    for (int64_t j = 0; j < count; j++) {
        const double share = 2.0 * rlar__dot(d, v, a + j * d) / square;
        for (int64_t e = 0; e < d; e++)
            a[j * d + e] -= share * v[e];
    }
    free(v);
}

static void swap_samples(problem *p, int64_t i, int64_t j) {
    for (int64_t e = 0; e < p->train.d; e++) {
        const double kept = p->x[i * p->train.d + e];
        p->x[i * p->train.d + e] = p->x[j * p->train.d + e];
        p->x[j * p->train.d + e] = kept;
    }
}

static void change(problem *p, int kind) {
    const int64_t d = p->train.d, n = p->train.n;
    if (kind == PERMUTE)
        for (int64_t c = 0; c < p->train.c; c++)
            for (int64_t i = p->f.first[c], j = p->f.first[c + 1] - 1; i < j; i += 2, j -= 1)
                swap_samples(p, i, j);
    if (kind == ROTATE)
        reflect(d, n, p->x);
    for (int64_t e = 0; e < d * n && kind == TRANSLATE; e++)
        p->x[e] += (double)(e % d) - 3.0;
    for (int64_t e = 0; e < d * n && kind == SCALE; e++)
        p->x[e] *= 12.5;
}

static void check_invariance(const variant *v, int kind, int64_t d) {
    problem p;
    problem_open(&p, 2, 3, uneven, d, 11);
    fit(&p, v);
    const int64_t q = p.map.p;
    double *before = zeros(d * q);
    memcpy(before, p.map.w, (size_t)(d * q) * sizeof *before);
    if (kind == ROTATE)
        reflect(d, q, before);
    change(&p, kind);
    fit(&p, v);
    assert_int_equal(p.map.p, q);
    const double found = angle(d, q, before, q, p.map.w);
    /* LFDA's ridge for n < d is 1e-8: eigenvalues up to 1e8 */
    const double allowed = strcmp(v->method, "lfda") == 0 && d > 40 ? 0.05 : 1e-7;
    if (!(found <= allowed))
        fail_msg("%s, change %d, d = %d: %g degrees", v->method, kind, (int)d, found);
    free(before);
    problem_close(&p);
}

static void test_invariances(void **state) {
    (void)state;
    for (int v = 0; v < VARIANTS; v++)
        for (int kind = 0; kind < CHANGES; kind++) {
            check_invariance(&variants[v], kind, 6);
            check_invariance(&variants[v], kind, 70);
        }
}

/* ---- Residuals ---- */

/* y = S x for the lower triangle of S. */
static void symmetric_times(int64_t d, const double *s, const double *x, double *y) {
    for (int64_t i = 0; i < d; i++) {
        y[i] = 0.0;
        for (int64_t j = 0; j < d; j++)
            y[i] += (i >= j ? s[j * d + i] : s[i * d + j]) * x[j];
    }
}

static double form(int64_t d, const double *s, const double *x, const double *y) {
    double *image = zeros(d);
    symmetric_times(d, s, y, image);
    const double value = rlar__dot(d, x, image);
    free(image);
    return value;
}

/* S_b t = lambda (S_w + rho I) t and T^T (S_w + rho I) T = I, lambda descending. */
static void test_lfda_residual(void **state) {
    (void)state;
    enum { D = 7 };
    problem p;
    problem_open(&p, 1, 3, uneven, D, 5);
    fit(&p, &(variant){"lfda", {{"metric", "plain"}, {"rho", "0.5"}}});
    double sw[D * D], sb[D * D], last = INFINITY;
    assert_int_equal(rlar__local_scatter(p.f.ctx, &p.f.groups, 7, D, p.x, sw, sb), RLAR_OK);
    for (int e = 0; e < D; e++)
        sw[e * D + e] += 0.5;
    for (int64_t j = 0; j < p.map.p; j++) {
        const double *t = p.map.w + j * D, lambda = form(D, sb, t, t);
        double left[D], right[D];
        assert_true(lambda <= last);
        last = lambda;
        symmetric_times(D, sb, t, left);
        symmetric_times(D, sw, t, right);
        for (int e = 0; e < D; e++)
            assert_close(left[e], lambda * right[e], 1e-10);
        for (int64_t k = 0; k < p.map.p; k++)
            assert_close(form(D, sw, t, p.map.w + k * D), j == k ? 1.0 : 0.0, 1e-11);
    }
    problem_close(&p);
}

/* The weighted metric: the same directions times sqrt(lambda). */
static void test_lfda_metrics(void **state) {
    (void)state;
    enum { D = 7 };
    problem p, q;
    problem_open(&p, 1, 3, uneven, D, 5);
    problem_open(&q, 1, 3, uneven, D, 5);
    fit(&p, &(variant){"lfda", {{"metric", "plain"}}});
    fit(&q, &(variant){"lfda", {{"metric", "weighted"}}});
    double sw[D * D], sb[D * D];
    assert_int_equal(rlar__local_scatter(p.f.ctx, &p.f.groups, 7, D, p.x, sw, sb), RLAR_OK);
    for (int64_t j = 0; j < p.map.p; j++) {
        const double lambda = form(D, sb, p.map.w + j * D, p.map.w + j * D);
        for (int64_t e = j * D; e < (j + 1) * D; e++)
            assert_close(q.map.w[e], sqrt(lambda) * p.map.w[e], 1e-11);
    }
    fit(&q, &(variant){"lfda", {{"metric", "orth"}}});
    for (int64_t j = 0; j < q.map.p; j++) {
        assert_true(angle(D, j + 1, q.map.w, j + 1, p.map.w) <= 1e-9);
        for (int64_t k = 0; k < q.map.p; k++)
            assert_close(rlar__dot(D, q.map.w + j * D, q.map.w + k * D), j == k ? 1.0 : 0.0, 1e-13);
    }
    problem_close(&p);
    problem_close(&q);
}

/* A and B of LSDA from the n x n matrices, complete graph, on centred samples. */
static void lsda_matrices(const problem *p, double alpha, double *a, double *b) {
    const int64_t n = p->train.n, d = p->train.d;
    double *xc = zeros(d * n);
    for (int64_t e = 0; e < d; e++) {
        double mean = 0.0;
        for (int64_t i = 0; i < n; i++)
            mean += p->x[i * d + e] / (double)n;
        for (int64_t i = 0; i < n; i++)
            xc[i * d + e] = p->x[i * d + e] - mean;
    }
    memset(a, 0, (size_t)(d * d) * sizeof *a);
    memset(b, 0, (size_t)(d * d) * sizeof *b);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const bool mates = p->f.label[i] == p->f.label[j];
            const double *u = xc + i * d, *v = xc + j * d;
            for (int64_t r = 0; r < d; r++)
                for (int64_t s = 0; s < d; s++) {
                    a[s * d + r] += mates ? (1.0 - alpha) * u[r] * v[s]
                                          : alpha * 0.5 * (u[r] - v[r]) * (u[s] - v[s]);
                    b[s * d + r] += mates ? u[r] * u[s] : 0.0;
                }
        }
    free(xc);
}

/* A w = lambda B w, W^T B W diagonal, lambda descending, columns of length 1; lambda <= 1 for alpha
 * = 0. With a ridge B has that share of the mean size of a sample's class on its diagonal. */
static void check_lsda_residual(const char *text, double alpha, const char *ridge, double share,
                                int64_t outputs) {
    enum { D = 7 };
    problem p;
    problem_open(&p, 1, 3, uneven, D, 5);
    fit(&p, &(variant){"lsda", {{"alpha", text}, {"ridge", ridge}}});
    assert_int_equal(p.map.p, outputs);
    double a[D * D], b[D * D], last = alpha == 0.0 ? 1.0 + 1e-12 : INFINITY;
    lsda_matrices(&p, alpha, a, b);
    for (int e = 0; e < D; e++) /* uneven: (12^2 + 20^2 + 15^2) / 47 */
        b[e * D + e] += share * 769.0 / 47.0;
    for (int64_t j = 0; j < p.map.p; j++) {
        const double *w = p.map.w + j * D, size = form(D, b, w, w);
        const double lambda = form(D, a, w, w) / size;
        double left[D], right[D];
        assert_true(lambda <= last);
        last = lambda;
        symmetric_times(D, a, w, left);
        symmetric_times(D, b, w, right);
        for (int e = 0; e < D; e++)
            assert_close(left[e], lambda * right[e], 1e-9 * size);
        for (int64_t k = 0; k < j; k++)
            assert_close(form(D, b, w, p.map.w + k * D), 0.0, 1e-10 * size);
        assert_close(rlar__norm(D, w), 1.0, 1e-13);
    }
    problem_close(&p);
}

static void test_lsda_residual(void **state) {
    (void)state;
    check_lsda_residual("0.1", 0.1, "0", 0.0, 3);
    check_lsda_residual("0.7", 0.7, "0", 0.0, 3);
    check_lsda_residual("1", 1.0, "0", 0.0, 3);
    check_lsda_residual("0", 0.0, "0", 0.0, 2); /* A has rank c - 1 */
    check_lsda_residual("0.1", 0.1, "0.1", 0.1, 3);
    check_lsda_residual("0.7", 0.7, "25", 25.0, 3);
    check_lsda_residual("0", 0.0, "1e-6", 1e-6, 2);
}

/* ---- Limits ---- */

static const variant lda = {"lda", {{0}}};

/* Complete graph, classes of one size: LDA's span, then the direction of largest variance among
 * those without correlation to it. */
static void check_lsda_is_lda(int64_t d) {
    problem p, q;
    problem_open(&p, 1, 3, even, d, 21);
    problem_open(&q, 1, 3, even, d, 21);
    fit(&q, &lda);
    assert_int_equal(q.map.p, 2);
    fit(&p, &(variant){"lsda", {{"ties", "drop"}}});
    assert_int_equal(p.map.p, 2);
    assert_true(angle(d, 2, p.map.w, 2, q.map.w) <= 1e-9);
    fit(&p, &(variant){"lsda", {{"k", "1000"}, {"ties", "variance"}}});
    assert_int_equal(p.map.p, 3);
    assert_true(angle(d, 2, p.map.w, 2, q.map.w) <= 1e-9);
    double *st = zeros(d * d), *unused = zeros(d * d);
    lsda_matrices(&p, 0.5, unused, st); /* B = 14 S_t */
    const double *third = p.map.w + 2 * d;
    rlar_rng rng = seeded(3);
    for (int64_t j = 0; j < 2; j++)
        assert_close(form(d, st, third, p.map.w + j * d), 0.0, 1e-9 * form(d, st, third, third));
    for (int trial = 0; trial < 20; trial++) { /* a random direction, made uncorrelated */
        double *w = random_numbers(&rng, d);
        for (int round = 0; round < 20; round++)
            for (int64_t j = 0; j < 2; j++) {
                const double *u = q.map.w + j * d;
                const double share = form(d, st, u, w) / form(d, st, u, u);
                for (int64_t e = 0; e < d; e++)
                    w[e] -= share * u[e];
            }
        assert_true(form(d, st, w, w) <= form(d, st, third, third) * rlar__dot(d, w, w) * 1.0001);
        free(w);
    }
    free(st);
    free(unused);
    problem_close(&p);
    problem_close(&q);
}

static void test_lsda_is_lda(void **state) {
    (void)state;
    check_lsda_is_lda(6);
    check_lsda_is_lda(60);
}

/* tr(W^T S_b W) / tr(W^T S_w W) with LDA's scatters, W made orthonormal. */
static double lda_ratio(problem *p, int64_t q, const double *w) {
    const int64_t d = p->train.d;
    double *sw = zeros(d * d), *sb = zeros(d * d), *u = zeros(d * q), between = 0.0, within = 0.0;
    assert_int_equal(rlar__local_scatter(p->f.ctx, &p->f.groups, 0, d, p->x, sw, sb), RLAR_OK);
    memcpy(u, w, (size_t)(d * q) * sizeof *u);
    assert_int_equal(rlar__orthonormalise(d, q, 0.0, u), q);
    for (int64_t k = 0; k < q; k++) {
        between += form(d, sb, u + k * d, u + k * d);
        within += form(d, sw, u + k * d, u + k * d);
    }
    free(sw);
    free(sb);
    free(u);
    return between / within;
}

/* All neighbours, classes of one size: NMMP's graphs give LDA's scatters up to factors, S_w by
 * n_i and S_b + S_w-terms by n_i: the trace ratio of LDA, better than random directions and than
 * any other method's. */
static void test_nmmp_is_trace_ratio_lda(void **state) {
    (void)state;
    enum { D = 6 };
    problem p, q;
    rlar_rng rng = seeded(8);
    problem_open(&p, 1, 3, even, D, 31);
    problem_open(&q, 1, 3, even, D, 31);
    fit(&p, &(variant){"nmmp", {{"k", "1000"}}});
    const double best = lda_ratio(&p, 3, p.map.w);
    fit(&q, &(variant){"lsda", {{"ties", "variance"}}}); /* three directions, whatever ties */
    assert_int_equal(q.map.p, 3);
    assert_true(lda_ratio(&q, 3, q.map.w) <= best);
    fit(&q, &(variant){"lfda", {{0}}});
    assert_int_equal(q.map.p, 3);
    assert_true(lda_ratio(&q, 3, q.map.w) <= best);
    for (int trial = 0; trial < 200; trial++) {
        /* random directions, and steps away from the answer */
        double *w = random_numbers(&rng, D * 3);
        for (int e = 0; e < D * 3 && trial % 2; e++)
            w[e] = p.map.w[e] + 1e-3 * w[e];
        assert_true(lda_ratio(&p, 3, w) <= best * (1.0 + 1e-9));
        free(w);
    }
    problem_close(&p);
    problem_close(&q);
}

static void test_nmmp_orthonormal(void **state) {
    (void)state;
    for (int64_t d = 6; d <= 70; d += 64) { /* Newton, then the null space */
        problem p;
        problem_open(&p, 1, 3, even, d, 41);
        fit(&p, &(variant){"nmmp", {{"k", "1"}, {"mutual", "and"}}});
        for (int64_t j = 0; j < p.map.p; j++)
            for (int64_t k = 0; k < p.map.p; k++)
                assert_close(rlar__dot(d, p.map.w + j * d, p.map.w + k * d), j == k ? 1.0 : 0.0,
                             1e-12);
        assert_true((p.info.iterations > 0) == (d == 6));
        problem_close(&p);
    }
}

/* ---- Bits and bytes ---- */

static void test_threads(void **state) {
    (void)state;
    for (int v = 0; v < VARIANTS; v++)
        for (int64_t d = 6; d <= 150; d += 144) {
            problem p, q;
            problem_open(&p, 1, 3, even, d, 51);
            problem_open(&q, 4, 3, even, d, 51);
            fit(&p, &variants[v]);
            fit(&q, &variants[v]);
            assert_int_equal(p.map.p, q.map.p);
            assert_memory_equal(p.map.w, q.map.w, (size_t)(d * p.map.p) * sizeof(double));
            assert_memory_equal(p.map.b, q.map.b, (size_t)p.map.p * sizeof(double));
            problem_close(&p);
            problem_close(&q);
        }
}

/* No d x d matrix for d > n, and the forecast is an upper bound, within a quarter for n >= d. */
static void check_bytes(const variant *v, int64_t d, const int64_t *sizes) {
    problem p;
    problem_open(&p, 2, 3, sizes, d, 61);
    rlar_params *params = params_of(p.f.ctx, v);
    rlar_forecast forecast = {.size = sizeof forecast};
    assert_int_equal(params->method->forecast(p.f.ctx, &p.train, params, &forecast), RLAR_OK);
    rlar_params_free(params);
    const int64_t held = rlar_ctx_memory(p.f.ctx);
    fit(&p, v);
    const int64_t taken = rlar_ctx_memory_peak(p.f.ctx) - held;
    const int64_t map = p.map.p * (d + 1) * (int64_t)sizeof(double);
    /* For d > n the forecast counts the SVD that a reduction may fall back on. */
    const double most = (d > p.train.n ? 2.1 : 1.25) * (double)taken;
    if (taken > forecast.bytes + map + 65536 || (double)forecast.bytes > most + 65536)
        fail_msg("%s, d = %d: %lld bytes forecast, %lld taken", v->method, (int)d,
                 (long long)forecast.bytes, (long long)taken);
    assert_true(forecast.flops > 0.0);
    problem_close(&p);
}

static void test_bytes(void **state) {
    (void)state;
    static const int64_t many[] = {200, 150, 190};
    for (int v = 0; v < VARIANTS; v++) {
        check_bytes(&variants[v], 120, many);
        check_bytes(&variants[v], 3000, even);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_invariances),
        cmocka_unit_test(test_lfda_residual),
        cmocka_unit_test(test_lfda_metrics),
        cmocka_unit_test(test_lsda_residual),
        cmocka_unit_test(test_lsda_is_lda),
        cmocka_unit_test(test_nmmp_is_trace_ratio_lda),
        cmocka_unit_test(test_nmmp_orthonormal),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
