/* test_team_methods.c - every method that fits over several ranks has the bits of one process, and
 * the others say that they do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "team_fit.h"

/* Beyond three blocks each: a class that is cut, one block of small classes. Five ranks have more
 * than there are blocks, so one is without samples. */
static const int64_t LARGE[5] = {1300, 900, 2700, 1200, 800};
static const int64_t MIXED[5] = {30, 2600, 2500, 10, 1040};

static void compare_all(const char *method, const char *const *settings, int count) {
    for (int i = 0; i < 4; i++) {
        labelled s = shuffled(90 + (uint64_t)i, i < 2 ? 12 : 41, 5, i % 2 ? MIXED : LARGE);
        compare(&s, method, settings[i % count], SCALES[i]);
        labelled_free(&s);
    }
}

static void test_rr(void **state) {
    (void)state;
    static const char *const settings[] = {"", "lambda=1e-6", "lambda=100"};
    compare_all("rr", settings, 3);
}

static void test_relsr(void **state) {
    (void)state;
    static const char *const settings[] = {"iters=4", "iters=3 lambda=10"};
    compare_all("relsr", settings, 2);
}

/* The last: steps that are held back, because the weights are beyond what the solve survives. */
static void test_rfs(void **state) {
    (void)state;
    static const char *const settings[] = {"iters=4", "iters=3 gamma=10", "iters=12 eps=1e-15",
                                           "iters=12 gamma=1e-12 eps=1e-15"};
    compare_all("rfs", settings, 4);
}

/* Its graphs hold all pairs of a class. */
static void test_alpr(void **state) {
    (void)state;
    int64_t sizes[24];
    for (int k = 0; k < 24; k++)
        sizes[k] = 250 + 3 * (k % 9);
    for (int i = 0; i < 4; i++) {
        labelled s = shuffled(100 + (uint64_t)i, i < 2 ? 12 : 40, 24, sizes);
        compare(&s, "alpr", i % 2 ? "iters=3 lambda1=0.1" : "iters=2", SCALES[i]);
        labelled_free(&s);
    }
}

static void test_lsr(void **state) {
    (void)state;
    static const char *const settings[] = {""};
    compare_all("lsr", settings, 1);
}

static void test_lda(void **state) {
    (void)state;
    static const char *const settings[] = {"", "ridge=0 length=st", "ridge=0.1 length=orth",
                                           "fisherface=1 ridge=0"};
    compare_all("lda", settings, 4);
}

static void test_mmc(void **state) {
    (void)state;
    static const char *const settings[] = {"", "theta=0.1", "theta=10"};
    compare_all("mmc", settings, 3);
}

/* ---- Shapes ---- */

/* So many features for the samples that the scatters of lda go by panels. */
static void test_wide(void **state) {
    (void)state;
    static const char *const methods[] = {"rr", "rfs", "lsr", "lda", "mmc"};
    const int64_t sizes[4] = {900, 800, 700, 500};
    labelled s = shuffled(110, 370, 4, sizes);
    for (int i = 0; i < 5; i++)
        compare(&s, methods[i], strcmp(methods[i], "rfs") == 0 ? "iters=2" : "", "none");
    labelled_free(&s);
}

/* Features that are the same in all samples, or in those of one rank. */
static void test_constant_features(void **state) {
    (void)state;
    static const char *const methods[] = {"rr", "relsr", "rfs", "lsr", "lda", "mmc"};
    for (int i = 0; i < 6; i++) {
        labelled s = shuffled(120, 14, 5, i % 2 ? MIXED : LARGE);
        for (int64_t j = 0; j < s.n; j++) {
            s.x[j * 14] = 0.1;
            s.x[j * 14 + 5] = -3.7;
            s.x[j * 14 + 9] = s.label[j] == 4.0 ? 2.5 : 1.3;
        }
        compare(&s, methods[i], i == 4 ? "ridge=0" : "", "none");
        labelled_free(&s);
    }
}

/* ---- Few samples ---- */

/* W, or (not `whole`) what no rotation of the outputs changes, W W^T. */
static double map_gap(const rlar_model *a, const rlar_model *b, bool whole) {
    const int64_t d = rlar_model_dims(a), p = rlar_model_outputs(a);
    const double *w = rlar_model_map(a), *v = rlar_model_map(b);
    double gap = 0.0, size = 0.0;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < (whole ? p : d); j++) {
            double one = whole ? w[j * d + i] : 0.0, other = whole ? v[j * d + i] : 0.0;
            for (int64_t k = 0; k < p && !whole; k++) {
                one += w[k * d + i] * w[k * d + j];
                other += v[k * d + i] * v[k * d + j];
            }
            gap = fmax(gap, fabs(one - other));
            size = fmax(size, fabs(one));
        }
    return gap / size;
}

/* The n x n form in one process, the d x d form over ranks, most of which have no samples here. */
static void compare_few(const labelled *s, const char *method, const char *settings, bool whole) {
    rlar_ctx *ctx = NULL;
    rlar_model *model = NULL, *other = NULL;
    rlar_info info;
    ranks_world world;
    job j = {.s = s, .ranks = 3, .method = method, .settings = settings, .scale = "zscore,rms"};
    job alone = j;
    assert_int_equal(rlar_ctx_new(NULL, &ctx), RLAR_OK);
    rlar_data *data = view_rows(ctx, s, 0, s->n);
    fit_data(ctx, &alone, data, &model, &info, &alone.status[0]);
    assert_true(alone.status[0] >= 0 && info.dual);
    on_ranks(3, fit_rank, &j, &world);
    for (int r = 0; r < 3; r++) {
        if (j.status[r] < 0)
            fail_msg("%s %s: %s", method, settings, j.error[r]);
        /* lsr meets every target: what is left is rounding */
        assert_true(fabs(j.objective[r] - info.objective) <= 1e-8 * fmax(info.objective, 1e-6));
    }
    assert_int_equal(rlar_model_load_bytes(ctx, j.bytes, j.size, &other), RLAR_OK);
    assert_int_equal(rlar_model_outputs(model), rlar_model_outputs(other));
    const double gap = map_gap(model, other, whole);
    if (!(gap <= 1e-8))
        fail_msg("%s %s: %g apart", method, settings, gap);
    free(j.bytes);
    rlar_model_free(model);
    rlar_model_free(other);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
}

static void test_few_samples(void **state) {
    (void)state;
    const int64_t sizes[3] = {20, 14, 17};
    labelled s = shuffled(130, 90, 3, sizes);
    compare_few(&s, "rlar", "solver=paper iters=3", true);
    compare_few(&s, "rlar", "solver=paper iters=30", true);
    compare_few(&s, "rlar", "solver=anneal iters=3", true);
    compare_few(&s, "rr", "", true);
    compare_few(&s, "relsr", "iters=4", true);
    compare_few(&s, "rfs", "iters=3", true);
    compare_few(&s, "alpr", "iters=3", true);
    compare_few(&s, "lsr", "", true);
    compare_few(&s, "lda", "", false);
    compare_few(&s, "lda", "ridge=0", false);
    compare_few(&s, "lda", "ridge=0.1 fisherface=1", false);
    compare_few(&s, "mmc", "", false);
    labelled_free(&s);
}

/* ---- What only one process can do ---- */

static void expect_refusal(const labelled *s, const char *method, const char *settings) {
    job j = {.s = s, .ranks = 3, .method = method, .settings = settings, .scale = "none"};
    ranks_world world;
    on_ranks(3, fit_rank, &j, &world);
    for (int r = 0; r < 3; r++) {
        assert_int_equal(j.status[r], RLAR_E_NUMERIC);
        assert_non_null(strstr(j.error[r], "too close to singular"));
        assert_non_null(strstr(j.error[r], "fit in one process"));
    }
}

/* Features that follow from others: the scatter is singular, and nothing tells its zeros from small
 * numbers. A ridge helps. */
static void test_singular(void **state) {
    (void)state;
    labelled s = shuffled(140, 12, 5, LARGE);
    for (int64_t j = 0; j < s.n; j++)
        s.x[j * 12 + 7] = s.x[j * 12 + 2] - 2.0 * s.x[j * 12 + 3];
    expect_refusal(&s, "lsr", "");
    expect_refusal(&s, "lda", "ridge=0");
    expect_refusal(&s, "mmc", "");
    compare(&s, "lda", "ridge=1", "none");
    compare(&s, "rr", "", "none");
    labelled_free(&s);
}

/* ---- Who is not ---- */

static void test_not_distributed(void **state) {
    (void)state;
    static const char *const are[] = {"rlar", "rr", "relsr", "rfs", "alpr", "lsr", "lda", "mmc"};
    const int64_t sizes[3] = {1500, 1800, 1700};
    labelled s = shuffled(81, 5, 3, sizes);
    for (int64_t m = 0; m < rlar_method_count(); m++) {
        job j = {.s = &s, .ranks = 2, .method = rlar_method_at(m)->name, .scale = "unit"};
        ranks_world world;
        char text[64];
        bool is = false;
        for (size_t i = 0; i < sizeof are / sizeof *are; i++)
            is = is || strcmp(are[i], j.method) == 0;
        if (is)
            continue;
        j.settings = "";
        on_ranks(2, fit_rank, &j, &world);
        snprintf(text, sizeof text, "%s is not distributed", j.method);
        for (int r = 0; r < 2; r++) {
            assert_int_equal(j.status[r], RLAR_E_UNSUPPORTED);
            assert_non_null(strstr(j.error[r], text));
        }
    }
    labelled_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rr),
        cmocka_unit_test(test_relsr),
        cmocka_unit_test(test_rfs),
        cmocka_unit_test(test_alpr),
        cmocka_unit_test(test_lsr),
        cmocka_unit_test(test_lda),
        cmocka_unit_test(test_mmc),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_constant_features),
        cmocka_unit_test(test_few_samples),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_not_distributed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
