/* test_schedule.c - every item once, units opened and closed once, never more open than threads,
 * help at the end, errors of the lowest place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "eval/schedule.h"

enum { MOST = 64 };

typedef struct world {
    rlar_ctx *ctx;
    int64_t items[MOST]; /* per unit */
    atomic_int ran[MOST][MOST];
    atomic_int opened[MOST], closed[MOST];
    atomic_int open_now, open_most;
    int64_t fail_open, fail_unit, fail_item; /* -1: never */
    int64_t cancel_unit;                     /* -1: never */
    bool meet; /* the two items of a unit wait for each other: both threads must be there */
    atomic_int met;
} world;

typedef struct unit {
    world *w;
    int64_t index;
} unit;

static unit units[MOST]; /* what is shared: the address tells the unit */

static int64_t items(const void *arg, int64_t index) {
    return ((const world *)arg)->items[index];
}

static rlar_status open_one(rlar_ctx *ctx, void *arg, int64_t index, void **shared) {
    world *w = arg;
    if (index == w->fail_open)
        return rlar__fail(ctx, RLAR_E_DATA, "unit %d cannot be opened", (int)index);
    const int now = atomic_fetch_add(&w->open_now, 1) + 1;
    int most = atomic_load(&w->open_most);
    while (now > most && !atomic_compare_exchange_weak(&w->open_most, &most, now))
        ;
    atomic_fetch_add(&w->opened[index], 1);
    units[index] = (unit){w, index};
    *shared = &units[index];
    return RLAR_OK;
}

/* Takes a while, in which others go on. */
static void close_one(void *shared) {
    const struct timespec nap = {.tv_nsec = 100000};
    unit *u = shared;
    nanosleep(&nap, NULL);
    atomic_fetch_add(&u->w->closed[u->index], 1);
    atomic_fetch_sub(&u->w->open_now, 1);
}

/* Ten seconds are long enough for any machine. */
static void wait_for_two(world *w) {
    const struct timespec nap = {.tv_nsec = 1000000};
    atomic_fetch_add(&w->met, 1);
    for (int i = 0; i < 10000 && atomic_load(&w->met) < 2; i++)
        nanosleep(&nap, NULL);
}

static rlar_status run_one(rlar_ctx *ctx, void *arg, void *shared, int64_t item) {
    world *w = arg;
    const unit *u = shared;
    assert_int_equal(atomic_load(&w->opened[u->index]), 1);
    assert_int_equal(atomic_load(&w->closed[u->index]), 0);
    atomic_fetch_add(&w->ran[u->index][item], 1);
    if (w->meet)
        wait_for_two(w);
    if (u->index == w->cancel_unit)
        atomic_store(ctx->cancel, 1);
    if (u->index >= w->fail_unit && w->fail_unit >= 0 && item >= w->fail_item)
        return rlar__fail(ctx, RLAR_E_NUMERIC, "unit %d, item %d failed", (int)u->index, (int)item);
    return RLAR_OK;
}

static void world_open(world *w, int threads) {
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    memset(w, 0, sizeof *w);
    w->fail_open = w->fail_unit = w->fail_item = w->cancel_unit = -1;
    o.threads = threads;
    assert_int_equal(rlar_ctx_new(&o, &w->ctx), RLAR_OK);
}

static rlar_status run(world *w, int64_t count) {
    const rlar_schedule schedule = {.units = count,
                                    .items = items,
                                    .open = open_one,
                                    .run = run_one,
                                    .close = close_one,
                                    .arg = w};
    const int64_t held = rlar_ctx_memory(w->ctx);
    const rlar_status status = rlar__schedule_run(w->ctx, &schedule);
    assert_true(w->ctx->pool || rlar_ctx_memory(w->ctx) == held);
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(atomic_load(&w->opened[i]), atomic_load(&w->closed[i]));
    return status;
}

static void test_every_item_once(void **state) {
    (void)state;
    for (int threads = 1; threads <= 4; threads++)
        for (int64_t count = 0; count <= 20; count += 5) {
            world w;
            world_open(&w, threads);
            for (int64_t i = 0; i < count; i++)
                w.items[i] = i * 7 % 5; /* some have none */
            assert_int_equal(run(&w, count), RLAR_OK);
            for (int64_t i = 0; i < count; i++) {
                assert_int_equal(atomic_load(&w.opened[i]), w.items[i] > 0);
                for (int64_t k = 0; k < MOST; k++)
                    assert_int_equal(atomic_load(&w.ran[i][k]), k < w.items[i]);
            }
            assert_true(atomic_load(&w.open_most) <= threads);
            rlar_ctx_free(w.ctx);
        }
}

/* One unit, two threads: each item waits for the other. */
static void test_threads_help(void **state) {
    (void)state;
    world w;
    world_open(&w, 2);
    w.items[0] = 2;
    w.meet = true;
    assert_int_equal(run(&w, 1), RLAR_OK);
    assert_int_equal(atomic_load(&w.met), 2);
    rlar_ctx_free(w.ctx);
}

/* Two units, two threads: nobody helps while there is a unit to open, so both are open at once. */
static void test_own_unit_first(void **state) {
    (void)state;
    world w;
    world_open(&w, 2);
    w.items[0] = w.items[1] = 1;
    w.meet = true;
    assert_int_equal(run(&w, 2), RLAR_OK);
    assert_int_equal(atomic_load(&w.open_most), 2);
    rlar_ctx_free(w.ctx);
}

static void test_errors(void **state) {
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        world w;
        world_open(&w, threads);
        for (int64_t i = 0; i < 10; i++)
            w.items[i] = 3;
        w.fail_unit = 4;
        w.fail_item = 1;
        assert_int_equal(run(&w, 10), RLAR_E_NUMERIC);
        assert_non_null(strstr(rlar_ctx_error(w.ctx), "failed"));
        if (threads == 1)
            assert_string_equal(rlar_ctx_error(w.ctx), "unit 4, item 1 failed");
        w.fail_unit = -1;
        w.fail_open = 2;
        memset(w.opened, 0, sizeof w.opened);
        memset(w.closed, 0, sizeof w.closed);
        assert_int_equal(run(&w, 10), RLAR_E_DATA);
        assert_string_equal(rlar_ctx_error(w.ctx), "unit 2 cannot be opened");
        rlar_ctx_free(w.ctx);
    }
}

static void test_cancel(void **state) {
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        world w;
        world_open(&w, threads);
        for (int64_t i = 0; i < 10; i++)
            w.items[i] = 3;
        w.cancel_unit = 3;
        assert_int_equal(run(&w, 10), RLAR_E_CANCELLED);
        rlar_ctx_free(w.ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_item_once), cmocka_unit_test(test_threads_help),
        cmocka_unit_test(test_own_unit_first),  cmocka_unit_test(test_errors),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
