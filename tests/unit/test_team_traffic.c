/* test_team_traffic.c - what ranks say to each other, counted within the method, against the
 * forecast: of methods that do all at once, and of classes that lie on several ranks.
 * test_team_solve.c has the iterations, and systems that are solved together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "methods/method.h"
#include "team_fit.h"
#include "training.h"

typedef struct counting {
    const labelled *s;
    int ranks;
    const char *method, *settings;
    rlar_forecast forecast[MOST_RANKS];
    double sent[MOST_RANKS], received[MOST_RANKS];
    double iterations, steps;
    double all, busiest; /* of these */
} counting;

/* The method alone, without what makes its samples ready and collects the references. */
static void fit_method(rlar_ctx *ctx, const rlar_data *data, const rlar_params *params, int rank,
                       counting *q) {
    rlar_training *t = NULL;
    rlar_map map = {0};
    rlar_info info = RLAR_INIT(rlar_info);
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    int64_t before[2], after[2];
    o.scale = "none";
    assert_int_equal(rlar__training_new(ctx, data, &o, params, 1, &t), RLAR_OK);
    rlar_ctx_traffic(ctx, &before[0], &before[1]);
    assert_true(params->method->fit(ctx, &t->train, params, &map, &info) >= 0);
    rlar_ctx_traffic(ctx, &after[0], &after[1]);
    q->sent[rank] = (double)(after[0] - before[0]);
    q->received[rank] = (double)(after[1] - before[1]);
    if (rank == 0) {
        q->iterations = (double)info.iterations;
        q->steps = (double)info.steps;
    }
    rlar__map_free(&map);
    rlar__training_free(t);
}

static void count_rank(rlar_ctx *ctx, int rank, void *arg) {
    counting *q = arg;
    const int64_t n = q->s->n;
    rlar_data *part = view_rows(ctx, q->s, n * rank / q->ranks, n * (rank + 1) / q->ranks);
    rlar_data *data = NULL;
    rlar_params *params = NULL;
    q->forecast[rank] = RLAR_INIT(rlar_forecast);
    assert_int_equal(rlar_data_share(ctx, &part, 1, &data), RLAR_OK);
    assert_int_equal(rlar_params_new(ctx, q->method, &params), RLAR_OK);
    set_params(ctx, params, q->settings);
    assert_int_equal(rlar_fit_forecast(ctx, data, params, NULL, &q->forecast[rank]), RLAR_OK);
    fit_method(ctx, data, params, rank, q);
    rlar_params_free(params);
    rlar_data_free(data);
}

static counting count(const labelled *s, int ranks, const char *method, const char *settings) {
    counting q = {.s = s, .ranks = ranks, .method = method, .settings = settings};
    ranks_world world;
    on_ranks(ranks, count_rank, &q, &world);
    for (int r = 0; r < ranks; r++) {
        q.all += q.received[r];
        q.busiest = fmax(q.busiest, q.sent[r] + q.received[r]);
    }
    return q;
}

/* ---- Methods that do all at once ---- */

static void check_once(const labelled *s, const char *method, const char *settings) {
    for (int ranks = FEWEST_RANKS; ranks <= 5; ranks++) {
        const counting q = count(s, ranks, method, settings);
        for (int r = 0; r < ranks; r++) {
            const rlar_forecast *f = &q.forecast[r];
            if (q.all != f->once || q.busiest != f->once_busiest || !(q.all > 0.0))
                fail_msg("%s %s on %d ranks: %g and %g bytes, forecast %g and %g", method, settings,
                         ranks, q.all, q.busiest, f->once, f->once_busiest);
            assert_true(f->iteration == 0.0 && f->step == 0.0);
        }
    }
}

/* By Cholesky, and where there are few samples, or the directions are asked for, by the reduction;
 * without samples on the last ranks, too. */
static void test_once(void **state) {
    (void)state;
    const int64_t many[6] = {900, 1300, 1270, 620, 2900, 1680}, few[3] = {12, 9, 14};
    labelled s = shuffled(180, 30, 6, many), t = shuffled(181, 50, 3, few);
    static const char *const methods[][2] = {
        {"rr", ""}, {"lsr", ""}, {"mmc", ""}, {"lda", ""}, {"lda", "ridge=0"},
    };
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        check_once(&s, methods[i][0], methods[i][1]);
        check_once(&t, methods[i][0], methods[i][1]);
    }
    check_once(&s, "lda", "fisherface=1");
    labelled_free(&s);
    labelled_free(&t);
}

/* Whatever fits over ranks has a forecast. */
static void test_all_modelled(void **state) {
    (void)state;
    int count = 0;
    for (int i = 0; rlar_method_at(i); i++) {
        const rlar_method *method = rlar__method_find(rlar_method_at(i)->name);
        assert_true(!method->ranks || method->talk);
        count += method->ranks;
    }
    assert_true(count >= 8);
}

/* ---- Classes that lie on several ranks ---- */

static const int64_t CUT[3] = {4200, 300, 2500};          /* the first and the last are cut */
static const int64_t MOSTLY[3] = {60, 4700, 40};          /* one class has nearly all */
static const int64_t CHAIN[4] = {2500, 2600, 4200, 2300}; /* a rank shares two classes */

/* No edge leads from one block of a class to another: then all is known before. */
static labelled islands(uint64_t seed, int64_t d, int64_t c, const int64_t *sizes) {
    labelled s = clouds(seed, d, c, sizes);
    for (int64_t k = 0; k < c; k++)
        for (int64_t i = s.first[k]; i < s.first[k + 1]; i++)
            s.x[i * d] += 100.0 * (double)((i - s.first[k]) / RLAR_SUM_BLOCK);
    return s;
}

/* The beginning and one iteration, with the graph of the samples; fewer ranks than `from` cut none
 * of the classes. */
static void check_known(int64_t d, int64_t c, const int64_t *sizes, int from, const char *settings,
                        double tolerance) {
    labelled s = islands(190, d, c, sizes);
    for (int ranks = from; ranks <= 5; ranks++) {
        const counting q = count(&s, ranks, "rlar", settings);
        const rlar_forecast *f = &q.forecast[ranks - 1];
        const double all = f->once + f->iteration;
        const double busiest = f->once_busiest + f->iteration_busiest;
        if (q.all != all || fabs(q.busiest - busiest) > tolerance * busiest)
            fail_msg("%s on %d ranks: %.0f and %.0f bytes, forecast %.0f and %.0f", settings, ranks,
                     q.all, q.busiest, all, busiest);
        assert_true(f->fetched.most > 0.0);
    }
    labelled_free(&s);
}

/* To the byte, but that it is not known whose samples the local search draws. */
static void test_large_known(void **state) {
    (void)state;
    check_known(12, 3, CUT, 3, "solver=paper iters=1 search=exact", 0.0);
    /* W is corrected; on 5 ranks one is the busiest before the iteration, another in it */
    check_known(240, 3, CUT, 3, "solver=paper iters=1 search=exact", 0.02);
    check_known(12, 3, MOSTLY, 2, "solver=paper iters=1 search=exact k=3", 0.0);
    check_known(12, 4, CHAIN, 5, "solver=anneal iters=1 search=exact", 0.1);
    check_known(12, 3, CUT, 3, "solver=paper iters=1 search=local", 0.1);
    check_known(12, 4, CHAIN, 5, "solver=paper iters=1 search=local k=3", 0.1);
}

/* The nearest of every sample lies on the other rank: all edges cross, more than on average, and no
 * more than at most. */
static void test_large_worst(void **state) {
    (void)state;
    const int64_t sizes[2] = {2 * RLAR_SUM_BLOCK, 9}, d = 12;
    labelled s = clouds(194, d, 2, sizes);
    for (int64_t i = 0; i < RLAR_SUM_BLOCK * d; i++)
        s.x[RLAR_SUM_BLOCK * d + i] = s.x[i] + 1e-6;
    const counting q = count(&s, 2, "rlar", "solver=paper iters=1 search=exact k=1");
    const rlar_forecast *f = &q.forecast[0];
    const double fetched = q.all - f->once - f->iteration;
    if (fetched <= 1.2 * f->fetched.about || fetched > f->fetched.most)
        fail_msg("%.0f bytes were fetched, forecast about %.0f, at most %.0f", fetched,
                 f->fetched.about, f->fetched.most);
    labelled_free(&s);
}

/* Iterations of a fit that has more of them: what is known before, to 2 %, and what is fetched
 * beside it, about so much and no more than at most. */
static void check_fetched(const labelled *s, int from, int to, const char *method,
                          const char *fewer, const char *more) {
    for (int ranks = from; ranks <= to; ranks++) {
        const counting a = count(s, ranks, method, fewer), b = count(s, ranks, method, more);
        const rlar_forecast *f = &b.forecast[0];
        const double rounds = b.iterations - a.iterations, steps = b.steps - a.steps;
        const double known = rounds * f->iteration + steps * f->step;
        const double about = rounds * f->fetched.about + steps * f->fetched_step.about;
        const double most = rounds * f->fetched.most + steps * f->fetched_step.most;
        const double fetched = b.all - a.all - known;
        assert_true(most > about && about > 0.0);
        if (fabs(fetched - about) > 0.02 * known + 0.4 * about || fetched > 0.02 * known + most)
            fail_msg("%s %s on %d ranks: %.0f bytes, forecast %.0f, about %.0f, at most %.0f",
                     method, more, ranks, fetched, known, about, most);
    }
}

/* Fewer ranks cut none of these classes. */
static void test_large_fetched(void **state) {
    (void)state;
    labelled s = shuffled(191, 41, 3, CUT), t = shuffled(192, 41, 4, CHAIN);
    check_fetched(&s, 3, 5, "rlar", "solver=paper iters=1", "solver=paper iters=3");
    check_fetched(&t, 5, 6, "rlar", "solver=paper iters=1 search=exact k=3",
                  "solver=paper iters=3 search=exact k=3");
    check_fetched(&s, 3, 4, "rlar", "iters=1", "iters=3");
    labelled_free(&s);
    labelled_free(&t);
}

/* All pairs of a class are joined. */
static void test_large_complete(void **state) {
    (void)state;
    const int64_t sizes[2] = {3700, 60};
    labelled s = shuffled(193, 60, 2, sizes);
    check_fetched(&s, 2, 2, "alpr", "iters=1", "iters=2");
    labelled_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),          cmocka_unit_test(test_all_modelled),
        cmocka_unit_test(test_large_known),   cmocka_unit_test(test_large_worst),
        cmocka_unit_test(test_large_fetched), cmocka_unit_test(test_large_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
