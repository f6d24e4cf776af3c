/* test_matrices.c - T, V and S of a model against their formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "fitting.h"

enum { C = 3, N = 21, K = 3 };

typedef struct world {
    labelled s;
    rlar_ctx *ctx;
    rlar_data *data;
    rlar_model *model;
    double z[N * C];
} world;

static void world_open(world *w, const char *method, const char *settings) {
    const int64_t sizes[C] = {8, 6, 7};
    rlar_params *params = NULL;
    *w = (world){.s = clouds(5, 9, C, sizes)};
    assert_int_equal(rlar_ctx_new(NULL, &w->ctx), RLAR_OK);
    assert_int_equal(view_labelled(w->ctx, &w->s, &w->data), RLAR_OK);
    assert_int_equal(rlar_params_new(w->ctx, method, &params), RLAR_OK);
    set_params(w->ctx, params, settings);
    assert_true(rlar_fit(w->ctx, w->data, params, NULL, &w->model, NULL) >= 0);
    rlar_params_free(params);
    if (rlar_model_outputs(w->model) == C)
        assert_int_equal(rlar_transform(w->ctx, w->model, w->data, w->z), RLAR_OK);
}

static void world_close(world *w) {
    rlar_model_free(w->model);
    rlar_data_free(w->data);
    rlar_ctx_free(w->ctx);
    labelled_free(&w->s);
}

static double distance(const double *a, const double *b) {
    double sum = 0.0;
    for (int k = 0; k < C; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum);
}

/* T keeps the margin and is no farther from the outputs than other points that do. */
static void check_targets(const world *w, const double *t) {
    rlar_rng rng = seeded(3);
    for (int i = 0; i < N; i++) {
        const int l = (int)w->s.label[i];
        const double *z = w->z + i * C;
        for (int k = 0; k < C; k++)
            assert_true(k == l || t[i * C + l] - t[i * C + k] >= 1.0 - 1e-12);
        for (int trial = 0; trial < 50; trial++) {
            double *other = random_numbers(&rng, C);
            for (int k = 0; k < C; k++)
                other[k] = t[i * C + k] + 0.1 * other[k];
            for (int k = 0; k < C; k++)
                other[l] = fmax(other[l], k == l ? other[l] : other[k] + 1.0);
            assert_true(distance(z, t + i * C) <= distance(z, other) + 1e-9);
            free(other);
        }
    }
}

/* A sample's neighbours are the K nearest of its class. */
static void check_edges(const world *w, const double *v, const double *s) {
    for (int i = 0; i < N; i++) {
        double farthest = 0.0;
        int count = 0;
        for (int j = 0; j < N; j++) {
            const double far = distance(w->z + i * C, w->z + j * C);
            assert_true(v[i * N + j] == 0.0 || v[i * N + j] == 1.0);
            if (v[i * N + j] == 0.0) {
                assert_true(s[i * N + j] == 0.0);
                continue;
            }
            assert_true(i != j && w->s.label[i] == w->s.label[j]);
            assert_true(fabs(s[i * N + j] * K * far - 1.0) < 1e-9);
            farthest = fmax(farthest, far);
            count++;
        }
        assert_int_equal(count, K);
        for (int j = 0; j < N; j++)
            if (i != j && w->s.label[i] == w->s.label[j] && v[i * N + j] == 0.0)
                assert_true(distance(w->z + i * C, w->z + j * C) >= farthest - 1e-12);
    }
}

static void test_formulas(void **state) {
    (void)state;
    for (int solver = 0; solver < 2; solver++) {
        world w;
        double t[N * C], v[N * N], s[N * N], part_t[9 * C], part_v[81], part_s[81];
        world_open(&w, "rlar", solver ? "solver=minimise" : "iters=5"); /* k = 0: the rule, 3 */
        assert_int_equal(rlar_model_matrices(w.ctx, w.model, 0, N, t, v, s), RLAR_OK);
        check_targets(&w, t);
        check_edges(&w, v, s);
        assert_int_equal(rlar_model_matrices(w.ctx, w.model, 5, 9, part_t, part_v, part_s),
                         RLAR_OK);
        assert_memory_equal(part_t, t + 5 * C, sizeof part_t);
        for (int i = 0; i < 9; i++) {
            assert_memory_equal(part_v + i * 9, v + (i + 5) * N + 5, 9 * sizeof(double));
            assert_memory_equal(part_s + i * 9, s + (i + 5) * N + 5, 9 * sizeof(double));
        }
        world_close(&w);
    }
}

static void refuse(world *w, int64_t first, int64_t count, rlar_status wanted, const char *text) {
    double t[N * C], v[N * N], s[N * N];
    assert_int_equal(rlar_model_matrices(w->ctx, w->model, first, count, t, v, s), wanted);
    if (!strstr(rlar_ctx_error(w->ctx), text))
        fail_msg("\"%s\" does not say \"%s\"", rlar_ctx_error(w->ctx), text);
}

static void test_refused(void **state) {
    (void)state;
    world w;
    world_open(&w, "lda", "");
    refuse(&w, 0, N, RLAR_E_UNSUPPORTED, "lda");
    world_close(&w);
    world_open(&w, "rlar", "iters=2 k=2");
    refuse(&w, 0, N + 1, RLAR_E_ARG, "22 samples from number 0");
    refuse(&w, -1, 2, RLAR_E_ARG, "number -1");
    refuse(&w, N, 1, RLAR_E_ARG, "trained on 21");
    refuse(&w, 3, 0, RLAR_E_ARG, "0 samples");
    assert_int_equal(rlar_model_matrices(w.ctx, w.model, 0, N, NULL, NULL, NULL), RLAR_E_ARG);
    world_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
