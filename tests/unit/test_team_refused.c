/* test_team_refused.c - ranks that have read different things, teams that are none, hosts that
 * fail: an error, and nobody waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "data/dataset.h"
#include "fitting.h"
#include "team.h"

/* ---- Ranks that do not go together ---- */

typedef struct unlike {
    const labelled *s[3];
    rlar_shape image[3];
    bool shares; /* what was read; else a fit of it as it is */
    char error[3][256];
    rlar_status status[3];
} unlike;

static void unlike_rank(rlar_ctx *ctx, int rank, void *arg) {
    unlike *u = arg;
    const labelled *s = u->s[rank];
    rlar_data *part = NULL, *data = NULL;
    rlar_model *model = NULL;
    if (s)
        assert_int_equal(view_labelled(ctx, s, &part), RLAR_OK);
    if (s)
        part->image = u->image[rank];
    u->status[rank] = u->shares ? rlar_data_share(ctx, &part, s != NULL, &data)
                                : rlar_fit(ctx, part, NULL, NULL, &model, NULL);
    snprintf(u->error[rank], sizeof u->error[rank], "%s", rlar_ctx_error(ctx));
    assert_true(!data && !model);
    rlar_data_free(part);
}

static void all_refuse(unlike *u, rlar_status status, const char *text) {
    ranks_world world;
    on_ranks(3, unlike_rank, u, &world);
    for (int r = 0; r < 3; r++) {
        assert_int_equal(u->status[r], status);
        if (!strstr(u->error[r], text))
            fail_msg("rank %d: '%s' does not say '%s'", r, u->error[r], text);
    }
}

/* Every rank finds it out by itself, so that none waits for another. */
static void test_unlike(void **state) {
    (void)state;
    const int64_t sizes[2] = {6, 5};
    labelled three = clouds(5, 3, 2, sizes), two = clouds(6, 2, 2, sizes);
    unlike u = {.s = {&three, &three, &two}, .shares = true};
    all_refuse(&u, RLAR_E_DATA, "rank 2 has read 2 features, others 3");
    u.s[0] = NULL; /* which has read nothing */
    all_refuse(&u, RLAR_E_DATA, "rank 2 has read 2 features, others 3");
    u = (unlike){.s = {&three, &three, &three}, .image = {{1, 3}, {0, 0}, {3, 1}}, .shares = true};
    all_refuse(&u, RLAR_E_DATA, "rank 2: images of 1 x 3 pixels where others have 3 x 1");
    u = (unlike){.s = {&three, &three, &three}};
    all_refuse(&u, RLAR_E_ARG, "does not hold samples that follow those of the rank before");
    labelled_free(&three);
    labelled_free(&two);
}

/* ---- Hosts that fail ---- */

static int refuse_send(void *user, int to, const void *bytes, size_t count) {
    (void)to, (void)bytes, (void)count;
    return --*(int *)user < 0;
}

static int refuse_move(void *user, int from, void *bytes, size_t count) {
    (void)from, (void)bytes, (void)count;
    return --*(int *)user < 0;
}

/* An error that names both ranks, at whatever message it happens; a team that is none is refused.
 */
static void test_lost_ranks(void **state) {
    (void)state;
    rlar_ctx *ctx = NULL;
    int left = 0;
    rlar_team team = {.size = sizeof team, .rank = 1, .ranks = 3, .user = &left};
    assert_int_equal(rlar_ctx_new(NULL, &ctx), RLAR_OK);
    assert_int_equal(rlar_ctx_join(ctx, &team), RLAR_E_ARG);
    team.send = refuse_send;
    team.receive = team.broadcast = refuse_move;
    assert_int_equal(rlar_ctx_join(ctx, &team), RLAR_OK);
    const int64_t sizes[2] = {6, 5};
    labelled s = clouds(5, 3, 2, sizes);
    for (int messages = 0; messages < 2; messages++) { /* one is sent, one is awaited */
        rlar_data *part = NULL, *data = NULL;
        assert_int_equal(view_labelled(ctx, &s, &part), RLAR_OK);
        left = messages;
        assert_int_equal(rlar_data_share(ctx, &part, 1, &data), RLAR_E_IO);
        assert_non_null(strstr(rlar_ctx_error(ctx), "rank 1: "));
        assert_non_null(strstr(rlar_ctx_error(ctx), "rank 0 failed"));
        rlar_data_free(part);
    }
    team.ranks = 1;
    assert_int_equal(rlar_ctx_join(ctx, &team), RLAR_E_ARG);
    assert_int_equal(rlar_ctx_join(ctx, NULL), RLAR_OK);
    rlar_ctx_free(ctx);
    labelled_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unlike),
        cmocka_unit_test(test_lost_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
