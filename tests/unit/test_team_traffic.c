/* test_team_traffic.c - what ranks say to each other, counted within the method, against the
 * forecast: of methods that do all at once to the byte. test_team_solve.c has the iterations, and
 * systems that are solved together. */
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
    double all, busiest; /* of these */
} counting;

/* The method alone, without what makes its samples ready and collects the references. */
static void fit_method(rlar_ctx *ctx, const rlar_data *data, const rlar_params *params,
                       double *sent, double *received) {
    rlar_training *t = NULL;
    rlar_map map = {0};
    rlar_info info = RLAR_INIT(rlar_info);
    int64_t before[2], after[2];
    assert_int_equal(rlar__training_new(ctx, data, NULL, params, 1, &t), RLAR_OK);
    rlar_ctx_traffic(ctx, &before[0], &before[1]);
    assert_true(params->method->fit(ctx, &t->train, params, &map, &info) >= 0);
    rlar_ctx_traffic(ctx, &after[0], &after[1]);
    *sent = (double)(after[0] - before[0]);
    *received = (double)(after[1] - before[1]);
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
    fit_method(ctx, data, params, &q->sent[rank], &q->received[rank]);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_all_modelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
