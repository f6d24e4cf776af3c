/* test_local_search.c - the local neighbour search: what it promises (no list worse than kept, the
 * same lists for any number of threads) and how much it finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fitting.h"
#include "graph/local.h"
#include "searching.h"

/* ---- Leaves ---- */

static void check_leaves(const rlar_groups *groups, const rlar_leaves *leaves) {
    bool *met = calloc((size_t)groups->n, sizeof *met);
    assert_non_null(met);
    int64_t end = 0;
    for (int64_t t = 0; t < leaves->start[groups->c]; t++) {
        int64_t from, to;
        rlar__leaf_range(groups, leaves, t, &from, &to);
        assert_int_equal(from, end);
        assert_in_range(to - from, 0, RLAR_LEAF);
        for (int64_t e = from; e < to; e++) {
            assert_int_equal(groups->label[leaves->order[e]], groups->label[from]);
            assert_false(met[leaves->order[e]]);
            met[leaves->order[e]] = true;
        }
        end = to;
    }
    assert_int_equal(end, groups->n);
    free(met);
}

/* Everybody in one leaf, of the own class; the same leaves on three threads; duplicates do no harm.
 */
static void test_leaves_part_the_classes(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 64, 65, 700, 1, 1000};
    rlar_rng rng = seeded(6);
    for (int kind = 0; kind < KINDS; kind++) {
        fixture f[2];
        rlar_leaves leaves[2];
        rlar_workspace ws[2] = {{0}, {0}};
        fixture_open(&f[0], 1, 6, sizes, 7);
        double *z = samples(&rng, kind, 4 * f[0].groups.n);
        fixture_open(&f[1], 3, 6, sizes, 7);
        for (int t = 0; t < 2; t++) {
            rlar__leaves_carve(&ws[t], &f[t].groups, &leaves[t]);
            assert_int_equal(rlar__workspace_take(f[t].ctx, &ws[t], "test"), RLAR_OK);
            rlar__leaves_carve(&ws[t], &f[t].groups, &leaves[t]);
            assert_int_equal(rlar__leaves_cut(f[t].ctx, &f[t].groups, 4, z, 9, NULL, &leaves[t]),
                             RLAR_OK);
            check_leaves(&f[t].groups, &leaves[t]);
        }
        assert_memory_equal(leaves[0].order, leaves[1].order,
                            (size_t)f[0].groups.n * sizeof *leaves[0].order);
        for (int t = 0; t < 2; t++) {
            rlar__workspace_free(&ws[t]);
            fixture_close(&f[t]);
        }
        free(z);
    }
}

/* ---- The local search ---- */

typedef struct around {
    fixture f;
    rlar_workspace ws;
    rlar_local local;
} around;

static void around_open(around *a, int threads, int64_t c, const int64_t *sizes, int64_t k) {
    *a = (around){0};
    fixture_open(&a->f, threads, c, sizes, k);
    rlar__local_carve(&a->ws, &a->f.groups, &a->f.graph, &a->f.l, &a->local);
    assert_int_equal(rlar__workspace_take(a->f.ctx, &a->ws, "test"), RLAR_OK);
    rlar__local_carve(&a->ws, &a->f.groups, &a->f.graph, &a->f.l, &a->local);
}

static void around_close(around *a) {
    rlar__workspace_free(&a->ws);
    fixture_close(&a->f);
}

static void look(around *a, bool renew, int64_t p, const double *z) {
    fixture *f = &a->f;
    assert_int_equal(
        renew ? rlar__local_renew(f->ctx, &f->groups, f->k, p, z, &a->local, &f->graph)
              : rlar__local_nearest(f->ctx, &f->groups, f->k, p, z, NULL, &a->local, &f->graph),
        RLAR_OK);
}

/* Points of a curved sheet of 3 dimensions among p, which moves a little with `time`. */
static double *sheet(int64_t p, int64_t n, double time) {
    rlar_rng rng = seeded(7);
    double *z = zeros(p * n);
    for (int64_t j = 0; j < n; j++) {
        const double u = uniform(&rng), v = uniform(&rng), w = uniform(&rng);
        for (int64_t r = 0; r < p; r++) {
            const double s = (double)r + time;
            z[j * p + r] = sin(s * 0.7 + u) + cos(s * 1.3 + 2.0 * v) + 0.5 * sin(2.1 * s + 3.0 * w);
        }
    }
    return z;
}

/* Valid, sorted lists with the right distances; returns the share of the exact lists in them. */
static double recall(around *a, int64_t p, const double *z) {
    fixture exact;
    const fixture *f = &a->f;
    int64_t sizes[8], hits = 0, all = 0;
    for (int64_t i = 0; i < f->groups.c; i++)
        sizes[i] = f->first[i + 1] - f->first[i];
    fixture_open(&exact, 2, f->groups.c, sizes, f->k);
    assert_int_equal(rlar__graph_nearest(f->ctx, &f->groups, f->k, p, z, &exact.graph), RLAR_OK);
    check_ties(f, p, z);
    for (int64_t j = 0; j < f->groups.n; j++) {
        const int64_t row = j * f->graph.stride, count = rlar__graph_count(&f->groups, f->k, j);
        for (int64_t e = row; e < row + count; e++) {
            const int32_t m = f->graph.neighbour[e];
            assert_int_not_equal(m, j);
            assert_int_equal(f->label[m], f->label[j]);
            assert_true(f->graph.distance[e] == sqrt(rlar__distance2(p, z + j * p, z + m * p)));
            for (int64_t g = row; g < row + count; g++)
                hits += exact.graph.neighbour[g] == m;
        }
        all += count;
    }
    fixture_close(&exact);
    return all > 0 ? (double)hits / (double)all : 1.0;
}

/* Four steps of samples that move; at least `least` of the exact lists must be found in each. */
static void run_moving(bool cloud, double least) {
    static const int64_t sizes[] = {2500, 3, 1200};
    rlar_rng rng = seeded(12);
    around a;
    around_open(&a, 2, 3, sizes, 7);
    double *z = random_numbers(&rng, 10 * a.f.groups.n);
    for (int step = 0; step < 4; step++) {
        double *moved = sheet(10, a.f.groups.n, 0.02 * step);
        for (int64_t e = 0; cloud && e < 10 * a.f.groups.n; e++)
            moved[e] = z[e] += 0.03 * uniform(&rng);
        look(&a, step > 0, 10, moved);
        const double found = recall(&a, 10, moved);
        if (!(found >= least))
            fail_msg("step %d: %.4f", step, found);
        free(moved);
    }
    free(z);
    around_close(&a);
}

/* Seen: 0.9998 and more on the sheet; in a cloud that fills all ten dimensions 0.980 to 0.995. */
static void test_local_finds_most(void **state) {
    (void)state;
    run_moving(false, 0.998);
    run_moving(true, 0.96);
}

/* Whatever the new z, every list is at least as good as the old one under it, neighbour by
 * neighbour: hence so is every sum of a growing function of the distances. */
static void test_local_never_worsens_a_list(void **state) {
    (void)state;
    static const int64_t sizes[] = {900, 30, 500};
    rlar_rng rng = seeded(8);
    around a;
    around_open(&a, 2, 3, sizes, 6);
    const fixture *f = &a.f;
    const int64_t n = f->groups.n, stride = f->graph.stride;
    double *z = sheet(4, n, 0.0), *kept = zeros(stride * n);
    look(&a, false, 4, z);
    for (int step = 0; step < 6; step++) {
        for (int64_t e = 0; e < 4 * n; e++)
            z[e] += (step == 3 ? 5.0 : 0.05) * uniform(&rng);
        for (int64_t j = 0; j < n; j++) {
            const rlar_list list = {kept + j * stride, f->graph.neighbour + j * stride,
                                    rlar__graph_count(&f->groups, f->k, j)};
            rlar__list_refresh(&list, 4, z, j);
            rlar__list_close(&list);
        }
        look(&a, true, 4, z);
        for (int64_t j = 0; j < n; j++)
            for (int64_t e = 0; e < rlar__graph_count(&f->groups, f->k, j); e++)
                assert_true(f->graph.distance[j * stride + e] <= kept[j * stride + e]);
    }
    free(z);
    free(kept);
    around_close(&a);
}

/* A class of one leaf is searched exactly, whatever k; equal samples are no trouble. */
static void test_local_in_small_classes_is_exact(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 2, RLAR_LEAF, 9, 30}, ks[] = {1, 7, 29, 1000};
    rlar_rng rng = seeded(9);
    for (int kind = 0; kind < KINDS; kind++)
        for (int k = 0; k < 4; k++) {
            around a;
            around_open(&a, 2, 5, sizes, ks[k]);
            for (int step = 0; step < 2; step++) {
                double *z = samples(&rng, kind, 3 * a.f.groups.n);
                look(&a, step > 0, 3, z);
                check_literal(&a.f, 3, z);
                check_ties(&a.f, 3, z);
                free(z);
            }
            around_close(&a);
        }
}

/* k of a class or more: complete lists; half a class: valid ones. */
static void test_local_with_many_neighbours(void **state) {
    (void)state;
    static const int64_t sizes[] = {150, 200}, ks[] = {75, 199, 5000};
    for (int k = 0; k < 3; k++) {
        around a;
        around_open(&a, 2, 2, sizes, ks[k]);
        double *z = sheet(3, 350, 0.0);
        look(&a, false, 3, z);
        assert_true(recall(&a, 3, z) >= (k == 0 ? 0.9 : 1.0));
        free(z);
        around_close(&a);
    }
}

static void test_local_on_any_number_of_threads(void **state) {
    (void)state;
    static const int64_t sizes[] = {700, 1, 400, 90};
    around a[3];
    for (int t = 0; t < 3; t++) {
        around_open(&a[t], 1 + t, 4, sizes, 7);
        for (int step = 0; step < 3; step++) {
            double *z = sheet(5, a[t].f.groups.n, 0.1 * step);
            look(&a[t], step > 0, 5, z);
            free(z);
        }
    }
    const size_t edges = (size_t)(a[0].f.graph.stride * a[0].f.groups.n);
    for (int64_t j = 0; j < (int64_t)edges; j++) /* what no list uses is not compared */
        if (j % 7 >= rlar__graph_count(&a[0].f.groups, 7, j / 7))
            for (int t = 0; t < 3; t++) {
                a[t].f.graph.neighbour[j] = 0;
                a[t].f.graph.distance[j] = 0.0;
            }
    for (int t = 1; t < 3; t++) {
        assert_memory_equal(a[0].f.graph.neighbour, a[t].f.graph.neighbour, edges * 4);
        assert_memory_equal(a[0].f.graph.distance, a[t].f.graph.distance, edges * 8);
    }
    for (int t = 0; t < 3; t++)
        around_close(&a[t]);
}

/* ---- In the fit ---- */

/* Monotone, within a percent of the exact search, the same bits on any number of threads. */
static void test_fit_by_local_search(void **state) {
    (void)state;
    static const int64_t sizes[] = {400, 250, 300};
    labelled s = clouds(10, 12, 3, sizes);
    for (int anneal = 0; anneal < 2; anneal++) {
        char settings[96];
        fitted *f[3];
        for (int t = 0; t < 3; t++) {
            snprintf(settings, sizeof settings, "beta=1 iters=20 search=%s solver=%s",
                     t == 0 ? "exact" : "local", anneal ? "anneal" : "paper");
            f[t] = fit_on(1 + t, &s, "rlar", settings);
            check_falls(f[t], 20);
        }
        const double exact = f[0]->info.objective, local = f[1]->info.objective;
        assert_true(exact != local && fabs(local - exact) <= 0.01 * exact);
        assert_memory_equal(f[1]->w, f[2]->w, (size_t)(s.d * f[1]->p) * sizeof(double));
        for (int t = 0; t < 3; t++)
            fitted_free(f[t]);
    }
    labelled_free(&s);
}

/* auto: exact in small classes, local in large ones, the log says so. */
static void count_log(void *user, rlar_status status, const char *text) {
    *(int *)user += status == RLAR_OK && strstr(text, "local search") != NULL;
}

static int notes_of(const int64_t *sizes, const char *search) {
    int notes = 0;
    labelled s = clouds(11, 2, 2, sizes);
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.log = count_log;
    o.user = &notes;
    rlar_ctx *ctx = NULL;
    rlar_data *data = NULL;
    rlar_params *params = NULL;
    rlar_model *model = NULL;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    assert_int_equal(view_labelled(ctx, &s, &data), RLAR_OK);
    assert_int_equal(rlar_params_new(ctx, "rlar", &params), RLAR_OK);
    assert_int_equal(rlar_params_set(ctx, params, "iters", "1"), RLAR_OK);
    assert_int_equal(rlar_params_set(ctx, params, "search", search), RLAR_OK);
    assert_true(rlar_fit(ctx, data, params, NULL, &model, NULL) >= 0);
    rlar_model_free(model);
    rlar_params_free(params);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
    labelled_free(&s);
    return notes;
}

static void test_auto_goes_by_the_largest_class(void **state) {
    (void)state;
    static const int64_t small[] = {3000, 20}, large[] = {20, 3001};
    assert_int_equal(notes_of(small, "auto"), 0);
    assert_int_equal(notes_of(large, "auto"), 1);
    assert_int_equal(notes_of(large, "exact"), 0);
    assert_int_equal(notes_of(small, "local"), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaves_part_the_classes),
        cmocka_unit_test(test_local_finds_most),
        cmocka_unit_test(test_local_never_worsens_a_list),
        cmocka_unit_test(test_local_in_small_classes_is_exact),
        cmocka_unit_test(test_local_with_many_neighbours),
        cmocka_unit_test(test_local_on_any_number_of_threads),
        cmocka_unit_test(test_fit_by_local_search),
        cmocka_unit_test(test_auto_goes_by_the_largest_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
