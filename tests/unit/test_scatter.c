/* test_scatter.c - scatter matrices against their definitions, directions, Gram-Schmidt, and
 * Fisher's directions by both of their ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "close.h"
#include "fitting.h"
#include "linalg/linalg.h"
#include "solver/centre.h"
#include "solver/fisher.h"
#include "solver/scatter.h"

static rlar_ctx *blas_context(int threads) {
    rlar_ctx *ctx = context(threads);
    assert_int_equal(rlar__blas_open(ctx, 0), RLAR_OK);
    return ctx;
}

/* n >> d with a singleton, n << d, one feature, more than one tile of the products. */
static const struct {
    int64_t d, c, sizes[6];
} shapes[] = {
    {5, 4, {20, 1, 17, 9}},     {40, 3, {5, 6, 4}},     {1, 2, {7, 8}},
    {2, 6, {5, 5, 5, 5, 5, 5}}, {150, 3, {60, 70, 50}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static labelled shape(int k) {
    return clouds((uint64_t)k + 1, shapes[k].d, shapes[k].c, shapes[k].sizes);
}

/* Mean of feature r over the samples from .. to-1. */
static long double mean_of(const labelled *s, int64_t from, int64_t to, int64_t r) {
    long double sum = 0.0L;
    for (int64_t i = from; i < to; i++)
        sum += s->x[i * s->d + r];
    return sum / (long double)(to - from);
}

/* Entry (i, j) of S_b (kind 'b') or S_w, as defined. */
static double entry(const labelled *s, char kind, int64_t i, int64_t j) {
    long double sum = 0.0L;
    for (int64_t k = 0; k < s->c; k++) {
        const int64_t from = s->first[k], to = s->first[k + 1];
        const long double mi = mean_of(s, from, to, i), mj = mean_of(s, from, to, j);
        if (kind == 'b')
            sum += (long double)(to - from) * (mi - mean_of(s, 0, s->n, i)) *
                   (mj - mean_of(s, 0, s->n, j));
        for (int64_t m = from; m < to && kind == 'w'; m++)
            sum += (s->x[m * s->d + i] - mi) * (s->x[m * s->d + j] - mj);
    }
    return (double)sum;
}

static void test_scatters(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context(2);
    for (int k = 0; k < SHAPES; k++) {
        labelled s = shape(k);
        const int64_t d = s.d;
        double *h = zeros(d * s.n), *sb = zeros(d * d), *sw = zeros(d * d);
        assert_int_equal(rlar__between_factor(ctx, NULL, d, s.c, s.first, s.x, h), RLAR_OK);
        assert_int_equal(rlar__scatter(ctx, d, s.c, h, sb), RLAR_OK);
        memcpy(h, s.x, (size_t)(d * s.n) * sizeof *h);
        assert_int_equal(rlar__within_factor(ctx, d, s.c, s.first, h, h), RLAR_OK); /* in place */
        assert_int_equal(rlar__scatter(ctx, d, s.n, h, sw), RLAR_OK);
        for (int64_t j = 0; j < d; j += 1 + d / 7)
            for (int64_t i = j; i < d; i += 1 + d / 7) {
                assert_close(sb[j * d + i], entry(&s, 'b', i, j), 1e-11);
                assert_close(sw[j * d + i], entry(&s, 'w', i, j), 1e-11);
            }
        free(h);
        free(sb);
        free(sw);
        labelled_free(&s);
    }
    rlar_ctx_free(ctx);
}

/* S_t and H_b together: one group of samples, and several, with classes that end at the end of a
 * group, within one, and some groups later; the same bits on one thread and on three. */
static void test_total_and_between(void **state) {
    (void)state;
    const int64_t many[] = {512, 1, 300, 2500, 199, 256};
    rlar_ctx *one = blas_context(1), *three = blas_context(3);
    for (int k = 0; k <= SHAPES; k++) {
        labelled s = k < SHAPES ? shape(k) : clouds(6, 4, 6, many);
        const int64_t d = s.d;
        double *mean = zeros(d), *total = zeros(d * (d + s.c)), *again = zeros(d * (d + s.c));
        double *h = total + d * d, *hb = zeros(d * s.c);
        rlar__mean(s.x, d, s.n, mean);
        assert_int_equal(rlar__between_factor(one, NULL, d, s.c, s.first, s.x, hb), RLAR_OK);
        assert_int_equal(rlar__total_between(one, NULL, d, s.c, s.first, s.x, mean, total),
                         RLAR_OK);
        assert_true(apart(d * s.c, h, hb) < 1e-11);
        for (int64_t j = 0; j < d; j += 1 + d / 7)
            for (int64_t i = j; i < d; i += 1 + d / 7)
                assert_close(total[j * d + i], entry(&s, 'b', i, j) + entry(&s, 'w', i, j), 1e-11);
        assert_int_equal(rlar__total_between(three, NULL, d, s.c, s.first, s.x, mean, again),
                         RLAR_OK);
        assert_memory_equal(total, again, (size_t)(d * (d + s.c)) * sizeof *total);
        free(mean);
        free(total);
        free(hb);
        free(again);
        labelled_free(&s);
    }
    rlar_ctx_free(one);
    rlar_ctx_free(three);
}

/* ---- Directions ---- */

static double squares(int64_t count, const double *f) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += f[i] * f[i];
    return sum;
}

/* Columns are the differences, of squared length 1/n and n_i/n: trace 1. */
static void test_directions(void **state) {
    (void)state;
    rlar_ctx *ctx = context(1);
    const int64_t sizes[] = {9, 6, 10};
    labelled s = clouds(3, 7, 3, sizes);
    double *u = zeros(s.d * s.n), *v = zeros(s.d * s.c), *within = zeros(s.d * s.n);
    assert_int_equal(rlar__direction_factors(ctx, s.d, s.c, s.first, s.x, u, v), RLAR_OK);
    assert_int_equal(rlar__within_factor(ctx, s.d, s.c, s.first, s.x, within), RLAR_OK);
    assert_close(squares(s.d * s.n, u), 1.0, 1e-13);
    assert_close(squares(s.d * s.c, v), 1.0, 1e-13);
    for (int64_t i = 0; i < s.n; i++) {
        const double *a = u + i * s.d, *b = within + i * s.d;
        assert_close(squares(s.d, a), 1.0 / (double)s.n, 1e-14);
        assert_close(rlar__dot(s.d, a, b), rlar__norm(s.d, a) * rlar__norm(s.d, b), 1e-13);
    }
    for (int64_t i = 0; i < s.c; i++)
        assert_close(squares(s.d, v + i * s.d), (double)sizes[i] / (double)s.n, 1e-13);
    free(u);
    free(v);
    free(within);
    labelled_free(&s);
    rlar_ctx_free(ctx);
}

/* A singleton, a class of equal samples and a class whose mean is the total mean have no direction
 * and do not count. */
static void test_no_directions(void **state) {
    (void)state;
    rlar_ctx *ctx = context(1);
    const int64_t first[] = {0, 1, 4, 6, 8};
    const double x[] = {3, 0, 0, 1, 0, 1, 0, 1, 0.5, 0.5, 1.5, 0.5, -3, 0, -3, -2};
    double z[16], v[8];
    memcpy(z, x, sizeof z);
    /* Shift class 2 so that its mean is that of all. */
    double mean[2] = {0, 0};
    for (int i = 0; i < 8; i++)
        for (int r = 0; r < 2; r++)
            mean[r] += i == 4 || i == 5 ? 0.0 : z[2 * i + r] / 6.0;
    for (int r = 0; r < 2; r++) {
        z[8 + r] = mean[r] + 0.5;
        z[10 + r] = mean[r] - 0.5;
    }
    assert_int_equal(rlar__direction_factors(ctx, 2, 4, first, z, z, v), RLAR_OK);
    for (int i = 0; i < 8; i++)
        assert_close(squares(2, z + 2 * i), i < 4 ? 0.0 : 1.0 / 4.0, 1e-14);
    const double wanted[] = {1.0 / 6.0, 3.0 / 6.0, 0.0, 2.0 / 6.0};
    for (int i = 0; i < 4; i++)
        assert_close(squares(2, v + 2 * i), wanted[i], 1e-14);
    rlar_ctx_free(ctx);
}

/* ---- In the reduced space ---- */

/* H = diag(1 / sqrt(s^2 + ridge)) V^T H_b, with H_b of the samples themselves. */
static void test_whitened_means(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context(2);
    for (int k = 0; k < SHAPES; k++) {
        labelled s = shape(k);
        rlar_reduced reduced;
        assert_int_equal(rlar__reduce(ctx, s.x, s.d, s.n, &reduced), RLAR_OK);
        const int64_t rank = reduced.r > 3 ? reduced.r - 2 : reduced.r;
        double *h = zeros(rank * s.c), *hb = zeros(s.d * s.c);
        assert_int_equal(rlar__between_white(ctx, &reduced, rank, 0.5, s.c, s.first, h), RLAR_OK);
        assert_int_equal(rlar__between_factor(ctx, NULL, s.d, s.c, s.first, s.x, hb), RLAR_OK);
        for (int64_t j = 0; j < s.c; j++)
            for (int64_t i = 0; i < rank; i++)
                assert_close(h[j * rank + i],
                             rlar__dot(s.d, reduced.v + i * s.d, hb + j * s.d) /
                                 sqrt(reduced.s[i] * reduced.s[i] + 0.5),
                             1e-12);
        free(h);
        free(hb);
        rlar__reduce_free(&reduced);
        labelled_free(&s);
    }
    rlar_ctx_free(ctx);
}

/* W of the leading eigenvectors of a random symmetric matrix M: orthonormal, V^T W has them. */
static void test_top_directions(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context(2);
    labelled s = shape(1);
    rlar_rng rng = seeded(9);
    rlar_reduced reduced;
    assert_int_equal(rlar__reduce(ctx, s.x, s.d, s.n, &reduced), RLAR_OK);
    const int64_t r = reduced.r, d = s.d, q = 4;
    double *m = random_numbers(&rng, r * r), *lower = zeros(r * r);
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = j; i < r; i++)
            m[i * r + j] = lower[j * r + i] = m[j * r + i];
    double values[4], b[4], *w = zeros(d * q), *back = zeros(r * q);
    assert_int_equal(rlar__scatter_top(ctx, &reduced, lower, q, values, w, b), RLAR_OK);
    assert_int_equal(rlar__project(ctx, r, q, d, reduced.v, w, back), RLAR_OK);
    for (int64_t j = 0; j < q; j++) {
        for (int64_t i = 0; i < q; i++)
            assert_close(rlar__dot(d, w + i * d, w + j * d), i == j ? 1.0 : 0.0, 1e-12);
        for (int64_t i = 0; i < r; i++)
            assert_close(rlar__dot(r, m + i * r, back + j * r), values[j] * back[j * r + i], 1e-11);
        assert_close(b[j], -rlar__dot(d, w + j * d, reduced.mean), 1e-13);
        assert_true(j == 0 || values[j] <= values[j - 1]);
    }
    free(m);
    free(lower);
    free(w);
    free(back);
    rlar__reduce_free(&reduced);
    labelled_free(&s);
    rlar_ctx_free(ctx);
}

/* Dependent columns go, the order stays, R = Q^T A has a positive diagonal. */
static void test_gram_schmidt(void **state) {
    (void)state;
    rlar_rng rng = seeded(11);
    const int64_t d = 12, p = 5;
    double *a = random_numbers(&rng, d * p), *q = zeros(d * p);
    for (int64_t r = 0; r < d; r++) {
        a[2 * d + r] = 3.0 * a[r] - a[d + r]; /* depends on columns 0 and 1 */
        a[4 * d + r] =
            a[3 * d + r] + 1e-6 * a[4 * d + r]; /* nearly on 3: one round is not enough */
    }
    memcpy(q, a, (size_t)(d * p) * sizeof *q);
    assert_int_equal(rlar__orthonormalise(d, p, 1e-8, q), 4);
    const int64_t source[] = {0, 1, 3, 4};
    for (int64_t j = 0; j < 4; j++) {
        for (int64_t i = 0; i < 4; i++)
            assert_close(rlar__dot(d, q + i * d, q + j * d), i == j ? 1.0 : 0.0, 1e-14);
        for (int64_t i = j + 1; i < 4; i++) /* column j of A lies in the first j + 1 of Q */
            assert_close(rlar__dot(d, q + i * d, a + source[j] * d), 0.0, 1e-13);
        assert_true(rlar__dot(d, q + j * d, a + source[j] * d) > 1e-8);
    }
    free(a);
    free(q);
}

/* ---- Fisher's directions ---- */

static rlar_fisher_problem problem_of(const labelled *s, double ridge) {
    return (rlar_fisher_problem){
        .n = s->n, .d = s->d, .c = s->c, .x = s->x, .first = s->first, .ridge = ridge};
}

/* Both ways give the same W, up to signs, and the same mu. */
static void check_ways(rlar_ctx *ctx, const labelled *s, double ridge) {
    rlar_fisher_problem p = problem_of(s, ridge);
    rlar_fisher a, b;
    bool trusted;
    assert_int_equal(rlar__fisher_cholesky(ctx, &p, &trusted, &a), RLAR_OK);
    assert_true(trusted);
    assert_int_equal(rlar__fisher_reduced(ctx, &p, &b), RLAR_OK);
    assert_int_equal(a.q, b.q);
    rlar__fix_signs(s->d, a.q, a.w);
    rlar__fix_signs(s->d, b.q, b.w);
    assert_true(apart(s->d * a.q, a.w, b.w) < 1e-9);
    assert_true(apart(a.q, a.mu, b.mu) < 1e-12);
    assert_true(apart(s->d, a.mean, b.mean) == 0.0);
    rlar__fisher_free(&a);
    rlar__fisher_free(&b);
}

static void test_both_ways_agree(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context(2);
    const int64_t sizes[] = {40, 30, 1, 50};
    for (int64_t d = 1; d < 100; d = 3 * d + 1) { /* 1, 4, 13, 40 */
        labelled s = clouds((uint64_t)d, d, 4, sizes);
        check_ways(ctx, &s, 0.3);
        for (int64_t i = 0; i < s.n; i++)
            s.x[i * d] *= 1e-4; /* units do not matter without a ridge */
        check_ways(ctx, &s, 0.0);
        labelled_free(&s);
    }
    rlar_ctx_free(ctx);
}

static void check_same_as_reduced(rlar_ctx *ctx, const rlar_fisher_problem *p, rlar_fisher *f) {
    rlar_fisher wanted;
    assert_int_equal(rlar__fisher_reduced(ctx, p, &wanted), RLAR_OK);
    rlar__fix_signs(p->d, f->q, f->w);
    rlar__fix_signs(p->d, wanted.q, wanted.w);
    assert_int_equal(f->q, wanted.q);
    assert_true(apart(p->d * f->q, f->w, wanted.w) < 1e-9);
    assert_true(apart(p->d, f->mean, wanted.mean) == 0.0);
    rlar__fisher_free(&wanted);
}

/* Collinear or constant features, and too few samples: not by Cholesky, at least not with all of
 * the features. */
static void test_cholesky_declines(void **state) {
    (void)state;
    rlar_ctx *ctx = blas_context(1);
    const int64_t sizes[] = {20, 20};
    rlar_fisher f;
    for (int kind = 0; kind < 4; kind++) {
        labelled s = clouds(5, kind == 3 ? 60 : 6, 2, sizes);
        for (int64_t i = 0; i < s.n; i++) {
            double *x = s.x + i * s.d;
            x[3] = kind == 0 ? x[1] + x[2] : kind == 1 ? 7.0 : x[3];
            x[4] = kind == 2 ? x[0] + 1e-6 * x[4] : x[4];
        }
        bool trusted = true;
        rlar_fisher_problem p = problem_of(&s, 0.0);
        assert_int_equal(rlar__fisher_cholesky(ctx, &p, &trusted, &f), RLAR_OK);
        assert_false(trusted);
        assert_null(f.w);
        assert_null(f.mean);
        assert_int_equal(rlar__fisher(ctx, &p, &f), RLAR_OK);
        assert_int_equal(f.q, 1);
        check_same_as_reduced(ctx, &p, &f);
        rlar__fisher_free(&f);
        labelled_free(&s);
    }
    rlar_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scatters),          cmocka_unit_test(test_total_and_between),
        cmocka_unit_test(test_directions),        cmocka_unit_test(test_no_directions),
        cmocka_unit_test(test_whitened_means),    cmocka_unit_test(test_top_directions),
        cmocka_unit_test(test_gram_schmidt),      cmocka_unit_test(test_both_ways_agree),
        cmocka_unit_test(test_cholesky_declines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
