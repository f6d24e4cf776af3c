/* test_classify.c - the classifiers against a naive double loop, with ties and near ties, whatever
 * the threads and the cut of the queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/classify.h"
#include "linalg/linalg.h"

enum { MOST_K = 9 };

typedef struct problem {
    int64_t p, n, c, m;
    double *z, *q;
    int32_t *z_class;
} problem;

static rlar_ctx *new_ctx(int threads) {
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    rlar_ctx *ctx = NULL;
    o.threads = threads;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    assert_int_equal(rlar__blas_open(ctx, 0), RLAR_OK);
    return ctx;
}

static double uniform(rlar_rng *rng) {
    return (double)(rlar__rng_next(rng) >> 11) / 9007199254740992.0 - 0.5;
}

/* Values on a coarse lattice make exact ties frequent; `jitter` turns some into near ties; `far`
 * moves all away from the origin, where the estimate by products loses digits. */
static problem make_problem(uint64_t seed, int64_t p, int64_t n, int64_t c, int64_t m, bool lattice,
                            double jitter, double far) {
    rlar_rng rng = rlar__rng_seed(&seed, 1);
    problem x = {.p = p, .n = n, .c = c, .m = m};
    x.z = malloc((size_t)(p * n) * sizeof *x.z);
    x.q = malloc((size_t)(p * m) * sizeof *x.q);
    x.z_class = malloc((size_t)n * sizeof *x.z_class);
    assert_true(x.z && x.q && x.z_class);
    for (int64_t i = 0; i < p * n; i++) {
        const double u = uniform(&rng);
        x.z[i] = (lattice ? floor(4 * u) : u) + jitter * uniform(&rng) + far;
    }
    for (int64_t i = 0; i < p * m; i++) {
        const double u = uniform(&rng);
        x.q[i] = (lattice ? floor(4 * u) : u) + far;
    }
    for (int64_t i = 0; i < n; i++)
        x.z_class[i] = (int32_t)rlar__rng_below(&rng, (uint64_t)c);
    return x;
}

static void free_problem(problem *x) {
    free(x->z);
    free(x->q);
    free(x->z_class);
}

static rlar_references refs_of(const problem *x) {
    return (rlar_references){.p = x->p, .n = x->n, .c = x->c, .z = x->z, .z_class = x->z_class};
}

/* Plan, classify, close. */
static rlar_status classify(rlar_ctx *ctx, rlar_classifier kind, int64_t k,
                            const rlar_references *refs, const double *q, int64_t m,
                            int64_t *classes, double *scores) {
    rlar_classify_plan plan = {0};
    rlar_status status = rlar__classify_open(ctx, kind, k, refs, m, &plan);
    if (status >= 0)
        status = rlar__classify(ctx, &plan, q, m, classes, scores);
    rlar__classify_close(&plan);
    return status;
}

/* ---- The naive answers ---- */

/* Literally: a sample divided by its length. */
static void scale_to_1(int64_t p, int64_t n, double *z) {
    for (int64_t i = 0; i < n; i++) {
        const double length = rlar__norm(p, z + i * p);
        for (int64_t j = 0; j < p; j++)
            z[i * p + j] = length == 0 ? 0 : z[i * p + j] / length;
    }
}

static int64_t naive_1nn(const problem *x, const double *q, double *scores) {
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t i = 0; i < x->c; i++)
        scores[i] = -INFINITY;
    for (int64_t i = 0; i < x->n; i++) {
        const double d = rlar__distance2(x->p, x->z + i * x->p, q);
        if (d < least) {
            least = d;
            best = i;
        }
        if (-d > scores[x->z_class[i]])
            scores[x->z_class[i]] = -d;
    }
    return x->z_class[best];
}

/* k rounds of "nearest not yet taken", then the best class by votes, nearness, number. */
static int64_t naive_knn(const problem *x, const double *q, int64_t k, double *scores) {
    int64_t taken[MOST_K];
    double nearest[64];
    assert_true(x->c <= 64);
    for (int64_t i = 0; i < x->c; i++) {
        scores[i] = 0;
        nearest[i] = INFINITY;
    }
    for (int64_t r = 0; r < k; r++) {
        double least = INFINITY;
        taken[r] = -1;
        for (int64_t i = 0; i < x->n; i++) {
            bool used = false;
            for (int64_t s = 0; s < r; s++)
                used = used || taken[s] == i;
            const double d = rlar__distance2(x->p, x->z + i * x->p, q);
            if (!used && d < least) {
                least = d;
                taken[r] = i;
            }
        }
        const int32_t class = x->z_class[taken[r]];
        scores[class] += 1;
        nearest[class] = fmin(nearest[class], least);
    }
    int64_t best = 0;
    for (int64_t i = 1; i < x->c; i++)
        if (scores[i] > scores[best] || (scores[i] == scores[best] && nearest[i] < nearest[best]))
            best = i;
    for (int64_t i = 0; i < x->c; i++)
        scores[i] /= (double)k;
    return best;
}

static int64_t naive_centroid(const problem *x, const double *q, double *scores) {
    int64_t best = -1;
    double mean[64];
    assert_true(x->p <= 64);
    for (int64_t i = 0; i < x->c; i++) {
        int64_t size = 0;
        memset(mean, 0, sizeof mean);
        for (int64_t s = 0; s < x->n; s++)
            if (x->z_class[s] == i) {
                size++;
                for (int64_t j = 0; j < x->p; j++)
                    mean[j] += x->z[s * x->p + j];
            }
        for (int64_t j = 0; j < x->p; j++)
            mean[j] /= (double)size;
        scores[i] = size > 0 ? -rlar__distance2(x->p, mean, q) : -INFINITY;
        if (size > 0 && (best < 0 || scores[i] > scores[best]))
            best = i;
    }
    return best;
}

static int64_t naive(const problem *x, rlar_classifier kind, int64_t k, const double *q,
                     double *scores) {
    int64_t best = 0;
    switch (kind) {
    case RLAR_CLASSIFY_1NN:
    case RLAR_CLASSIFY_1NN_COSINE:
        return naive_1nn(x, q, scores);
    case RLAR_CLASSIFY_KNN:
    case RLAR_CLASSIFY_KNN_COSINE:
        return naive_knn(x, q, k, scores);
    case RLAR_CLASSIFY_CENTROID:
    case RLAR_CLASSIFY_CENTROID_COSINE:
        return naive_centroid(x, q, scores);
    case RLAR_CLASSIFY_ARGMAX:
        for (int64_t i = 0; i < x->c; i++) {
            scores[i] = q[i];
            best = q[i] > q[best] ? i : best;
        }
    }
    return best;
}

/* ---- Comparison ---- */

/* `as_is` goes to the classifier, `x` to the naive answer: for the cosine kinds scaled before. */
static void check_scaled(const problem *as_is, const problem *x, rlar_classifier kind, int64_t k) {
    const rlar_references refs = refs_of(as_is);
    int64_t *want = malloc((size_t)x->m * sizeof *want), *got = malloc((size_t)x->m * sizeof *got);
    const size_t score_bytes = (size_t)(x->c * x->m) * sizeof(double);
    double *scores = malloc(score_bytes), *wanted = malloc(score_bytes);
    assert_true(want && got && scores && wanted);
    for (int64_t i = 0; i < x->m; i++)
        want[i] = naive(x, kind, k, x->q + i * x->p, wanted + i * x->c);
    for (int threads = 1; threads <= 3; threads++) {
        rlar_ctx *ctx = new_ctx(threads);
        memset(got, 0xff, (size_t)x->m * sizeof *got);
        assert_int_equal(classify(ctx, kind, k, &refs, as_is->q, x->m, got, NULL), RLAR_OK);
        assert_memory_equal(got, want, (size_t)x->m * sizeof *got);
        memset(got, 0xff, (size_t)x->m * sizeof *got);
        assert_int_equal(classify(ctx, kind, k, &refs, as_is->q, x->m, got, scores), RLAR_OK);
        assert_memory_equal(got, want, (size_t)x->m * sizeof *got);
        for (int64_t i = 0; i < x->c * x->m;
             i++) /* equal, not close: 0 and -0 are the same score */
            assert_true(scores[i] == wanted[i]);
        /* The same samples in another cut. */
        const int64_t cut = x->m / 3;
        assert_int_equal(classify(ctx, kind, k, &refs, as_is->q, cut, got, scores), RLAR_OK);
        assert_int_equal(classify(ctx, kind, k, &refs, as_is->q + cut * x->p, x->m - cut, got + cut,
                                  scores + cut * x->c),
                         RLAR_OK);
        assert_memory_equal(got, want, (size_t)x->m * sizeof *got);
        for (int64_t i = 0; i < x->c * x->m; i++)
            assert_true(scores[i] == wanted[i]);
        assert_true(rlar_ctx_memory(ctx) < 100000); /* the pool only: no scratch is left */
        rlar_ctx_free(ctx);
    }
    free(want);
    free(got);
    free(scores);
    free(wanted);
}

static void check(const problem *x, rlar_classifier kind, int64_t k) {
    check_scaled(x, x, kind, k);
}

static void check_cosine(const problem *x) {
    problem unit = *x;
    const size_t z_bytes = (size_t)(x->p * x->n) * sizeof(double);
    const size_t q_bytes = (size_t)(x->p * x->m) * sizeof(double);
    unit.z = malloc(z_bytes);
    unit.q = malloc(q_bytes);
    assert_true(unit.z && unit.q);
    memcpy(unit.z, x->z, z_bytes);
    memcpy(unit.q, x->q, q_bytes);
    scale_to_1(x->p, x->n, unit.z);
    scale_to_1(x->p, x->m, unit.q);
    check_scaled(x, &unit, RLAR_CLASSIFY_1NN_COSINE, 0);
    check_scaled(x, &unit, RLAR_CLASSIFY_KNN_COSINE, 4);
    check_scaled(x, &unit, RLAR_CLASSIFY_CENTROID_COSINE, 0);
    free(unit.z);
    free(unit.q);
}

static void check_all(problem x) {
    check(&x, RLAR_CLASSIFY_1NN, 0);
    check(&x, RLAR_CLASSIFY_KNN, 1);
    check(&x, RLAR_CLASSIFY_KNN, 4);
    check(&x, RLAR_CLASSIFY_KNN, MOST_K);
    check(&x, RLAR_CLASSIFY_CENTROID, 0);
    check_cosine(&x);
    if (x.p == x.c)
        check(&x, RLAR_CLASSIFY_ARGMAX, 0);
    free_problem(&x);
}

static void test_general(void **state) {
    (void)state;
    check_all(make_problem(1, 5, 300, 5, 700, false, 0, 0));
    check_all(make_problem(2, 13, 513, 4, 257, false, 0, 0));
    check_all(make_problem(3, 1, 40, 3, 256, false, 0, 0));
    check_all(make_problem(4, 3, 9, 3, 1, false, 0, 0));
}

static void test_ties(void **state) {
    (void)state;
    check_all(make_problem(5, 2, 400, 6, 600, true, 0, 0));
    check_all(make_problem(6, 4, 300, 4, 300, true, 0, 0));
    /* Every reference the same. */
    problem x = make_problem(7, 3, 50, 3, 20, true, 0, 0);
    for (int64_t i = 3; i < 150; i++)
        x.z[i] = x.z[i % 3];
    check_all(x);
}

static void test_near_ties(void **state) {
    (void)state;
    check_all(make_problem(8, 3, 400, 5, 300, true, 1e-15, 0));
    check_all(make_problem(9, 3, 400, 3, 300, true, 1e-9, 0));
    /* Far from the origin the products cancel nearly all digits of a distance. */
    check_all(make_problem(10, 3, 300, 3, 300, true, 1e-7, 1e6));
    check_all(make_problem(11, 6, 300, 6, 300, false, 0, 1e8));
}

/* Directions and lengths that disagree: what is nearest has the wrong direction. A zero sample is
 * as far from everything of length 1, so the first reference wins; lengths whose squares overflow
 * or vanish are no obstacle. */
static void test_cosine(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1);
    const double z[] = {1, 0, 0, 9, 0, 0, 1e200, 1e200, -1e-200, -1e-200};
    const double q[] = {0, 1, 0, 0, 2e-200, 2.1e-200, -7, -8};
    const int32_t z_class[] = {0, 1, 2, 3, 4};
    const rlar_references refs = {.p = 2, .n = 5, .c = 5, .z = z, .z_class = z_class};
    int64_t classes[4];
    double scores[4 * 5];
    assert_int_equal(classify(ctx, RLAR_CLASSIFY_1NN_COSINE, 0, &refs, q, 4, classes, scores),
                     RLAR_OK);
    assert_int_equal(classes[0], 1);
    assert_int_equal(classes[1], 2); /* the zero reference */
    assert_int_equal(classes[2], 3);
    assert_int_equal(classes[3], 4);
    assert_true(scores[0] == -2 && scores[1] == 0 && scores[2] == -1);
    assert_true(scores[5] == -1 && scores[6] == -1 && scores[7] == 0);
    rlar_ctx_free(ctx);
}

/* A reference too far to be measured is never the nearest, for few samples and for many; where
 * there is no other, the sample is refused. */
static void test_too_far(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1);
    const double z[] = {1e200, 1e200, 1, 0, -1e300, 1e300, 0, 2};
    const double q[] = {0, 1, 1, 1, 2, 0, 0, 5};
    const int32_t z_class[] = {0, 1, 2, 3};
    rlar_references refs = {.p = 2, .n = 4, .c = 4, .z = z, .z_class = z_class};
    int64_t classes[4];
    double scores[4 * 4];
    for (int64_t m = 1; m <= 4; m++) {
        assert_int_equal(classify(ctx, RLAR_CLASSIFY_1NN, 0, &refs, q, m, classes, scores),
                         RLAR_OK);
        assert_int_equal(classes[0], 3); /* 1 from (0, 2), 2 from (1, 0) */
        assert_true(scores[0] == -INFINITY && scores[1] == -2 && scores[3] == -1);
        assert_int_equal(classify(ctx, RLAR_CLASSIFY_KNN, 3, &refs, q, m, classes, scores),
                         RLAR_E_NUMERIC);
        assert_non_null(strstr(rlar_ctx_error(ctx), "sample 1: its distances"));
    }
    refs.n = 1;
    assert_int_equal(classify(ctx, RLAR_CLASSIFY_1NN, 0, &refs, q, 4, classes, NULL),
                     RLAR_E_NUMERIC);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

/* Squares and products that underflow, in part or all of them: the estimate is worth nothing. */
static void test_tiny(void **state) {
    (void)state;
    const double sizes[] = {1e-150, 1e-160, 3e-162, 1e-170};
    for (int s = 0; s < 4; s++) {
        problem x = make_problem(14 + (uint64_t)s, 4, 300, 4, 260, s % 2 == 0, 1e-3, 0);
        for (int64_t i = 0; i < x.p * x.n; i++)
            x.z[i] *= sizes[s];
        for (int64_t i = 0; i < x.p * x.m; i++)
            x.q[i] *= sizes[s];
        check_all(x);
    }
}

/* A sample or two take another path, which must not be seen: ties, duplicates, far away. */
static void test_few(void **state) {
    (void)state;
    for (int64_t m = 1; m <= 3; m++) {
        check_all(make_problem(20, 2, 400, 6, m, true, 0, 0));
        check_all(make_problem(21, 17, 700, 17, m, false, 0, 1e8));
        check_all(make_problem(22, 3, 300, 3, m, true, 1e-7, 1e6));
    }
}

/* More outputs and references than a chunk, a group or a run of lanes holds, and none of them a
 * round number; duplicates of a sample far apart. */
static void test_large(void **state) {
    (void)state;
    problem x = make_problem(23, 41, 1301, 7, 519, false, 0, 3);
    for (int64_t i = 0; i < x.p * 100; i++)
        x.z[x.p * 1200 + i] = x.z[i];
    memcpy(x.q, x.z + x.p * 1195, (size_t)(x.p * 60) * sizeof *x.q);
    check_all(x);
}

/* More classes than references: classes without one never win. */
static void test_absent_classes(void **state) {
    (void)state;
    check_all(make_problem(12, 2, 12, 40, 100, false, 0, 0));
}

static void test_errors(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1);
    problem x = make_problem(13, 3, 10, 4, 5, false, 0, 0);
    rlar_references refs = refs_of(&x);
    int64_t classes[5];
    rlar_classifier kind = RLAR_CLASSIFY_ARGMAX;
    assert_int_equal(classify(ctx, RLAR_CLASSIFY_KNN, 11, &refs, x.q, 5, classes, NULL),
                     RLAR_E_ARG);
    assert_string_equal(rlar_ctx_error(ctx),
                        "neighbours is 11, the model has 10 references; choose 1 to 10");
    assert_int_equal(classify(ctx, RLAR_CLASSIFY_KNN, -1, &refs, x.q, 5, classes, NULL),
                     RLAR_E_ARG);
    assert_int_equal(classify(ctx, RLAR_CLASSIFY_ARGMAX, 0, &refs, x.q, 5, classes, NULL),
                     RLAR_E_ARG);
    assert_non_null(strstr(rlar_ctx_error(ctx), "3 outputs and 4 classes"));
    x.q[7] = NAN;
    assert_int_equal(classify(ctx, RLAR_CLASSIFY_1NN, 0, &refs, x.q, 5, classes, NULL),
                     RLAR_E_NUMERIC);
    assert_non_null(strstr(rlar_ctx_error(ctx), "sample 3"));
    x.q[7] = 1e200; /* finite, but its square is not */
    assert_int_equal(classify(ctx, RLAR_CLASSIFY_CENTROID, 0, &refs, x.q, 5, classes, NULL),
                     RLAR_E_NUMERIC);
    refs.n = 0;
    assert_int_equal(classify(ctx, RLAR_CLASSIFY_1NN, 0, &refs, x.q, 5, classes, NULL), RLAR_E_ARG);
    refs.n = 10;
    assert_int_equal(classify(ctx, RLAR_CLASSIFY_1NN, 0, &refs, x.q, 0, classes, NULL), RLAR_OK);
    assert_int_equal(rlar__classifier_parse(ctx, NULL, &kind), RLAR_OK);
    assert_int_equal(kind, RLAR_CLASSIFY_1NN);
    assert_int_equal(rlar__classifier_parse(ctx, "argmax", &kind), RLAR_OK);
    assert_int_equal(kind, RLAR_CLASSIFY_ARGMAX);
    assert_int_equal(rlar__classifier_parse(ctx, "svm", &kind), RLAR_E_ARG);
    assert_string_equal(rlar_ctx_error(ctx),
                        "classifier \"svm\" is unknown; choose 1nn, knn, centroid, argmax, "
                        "1nn-cosine, knn-cosine or centroid-cosine");
    assert_int_equal(rlar__classifier_parse(ctx, "centroid-cosine", &kind), RLAR_OK);
    assert_int_equal(kind, RLAR_CLASSIFY_CENTROID_COSINE);
    assert_int_equal(rlar__classifier_parse(ctx, "argmax-cosine", &kind), RLAR_E_ARG);
    free_problem(&x);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_general),   cmocka_unit_test(test_ties),
        cmocka_unit_test(test_near_ties), cmocka_unit_test(test_absent_classes),
        cmocka_unit_test(test_cosine),    cmocka_unit_test(test_too_far),
        cmocka_unit_test(test_tiny),      cmocka_unit_test(test_few),
        cmocka_unit_test(test_large),     cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
