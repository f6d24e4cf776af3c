/* team.h - ranks as threads of one process, for the tests of what MPI ranks do: every rank runs the
 * same function with a context of its own; messages go through a mailbox for each pair. */
#ifndef RLAR_TEST_TEAM_H
#define RLAR_TEST_TEAM_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

enum { MOST_RANKS = 8 };

/* One message at a time; the sender waits until it is taken. */
typedef struct mailbox {
    const void *bytes;
    size_t count;
    bool full;
} mailbox;

typedef struct ranks_world {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    mailbox box[MOST_RANKS][MOST_RANKS];
    int ranks;
    bool broken;   /* a rank is gone: whoever waits for another hears that it cannot be reached */
    int64_t moved; /* bytes from one rank to another, and */
    int64_t messages;
    int refused[MOST_RANKS]; /* systems, by a host of test_team_solve.c */
    void (*run)(rlar_ctx *ctx, int rank, void *arg);
    void *arg;
} ranks_world;

typedef struct ranks_one {
    ranks_world *world;
    rlar_team team;
} ranks_one;

static int team_send(void *user, int to, const void *bytes, size_t count) {
    ranks_one *me = user;
    ranks_world *w = me->world;
    mailbox *box = &w->box[me->team.rank][to];
    pthread_mutex_lock(&w->lock);
    *box = (mailbox){.bytes = bytes, .count = count, .full = true};
    w->moved += (int64_t)count;
    w->messages++;
    pthread_cond_broadcast(&w->changed);
    while (box->full && !w->broken)
        pthread_cond_wait(&w->changed, &w->lock);
    const bool taken = !box->full;
    box->full = false; /* the bytes are gone with this call */
    pthread_mutex_unlock(&w->lock);
    return taken ? 0 : 1;
}

static int team_receive(void *user, int from, void *bytes, size_t count) {
    ranks_one *me = user;
    ranks_world *w = me->world;
    mailbox *box = &w->box[from][me->team.rank];
    pthread_mutex_lock(&w->lock);
    while (!box->full && !w->broken)
        pthread_cond_wait(&w->changed, &w->lock);
    const bool fits = box->full && box->count == count;
    if (fits)
        memcpy(bytes, box->bytes, count);
    box->full = false;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return fits ? 0 : 1;
}

static int team_ready(void *user, int from) {
    ranks_one *me = user;
    ranks_world *w = me->world;
    pthread_mutex_lock(&w->lock);
    const bool full = w->box[from][me->team.rank].full, broken = w->broken;
    pthread_mutex_unlock(&w->lock);
    return full ? 1 : broken ? -1 : 0;
}

static int team_broadcast(void *user, int from, void *bytes, size_t count) {
    const ranks_one *me = user;
    for (int r = 0; r < me->team.ranks; r++)
        if (me->team.rank == from && r != from && team_send(user, r, bytes, count) != 0)
            return 1;
    return me->team.rank == from ? 0 : team_receive(user, from, bytes, count);
}

static void *team_rank(void *arg) {
    ranks_one *me = arg;
    rlar_ctx *ctx = NULL;
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.threads = 1 + me->team.rank % 2; /* the bits do not depend on it */
    if (rlar_ctx_new(&o, &ctx) < 0 || rlar_ctx_join(ctx, &me->team) < 0)
        abort();
    me->world->run(ctx, me->team.rank, me->world->arg);
    rlar_ctx_free(ctx);
    return NULL;
}

/* How a host solves systems of all ranks; NULL: it does not. */
typedef int (*team_factor)(void *user, const rlar_tiles *tiles, double *a);
typedef int (*team_solve)(void *user, const rlar_tiles *tiles, const double *a, double *b);

/* run(ctx, rank, arg) on so many ranks at once. */
static void on_solving_ranks(int ranks, void (*run)(rlar_ctx *, int, void *), void *arg,
                             team_factor factor, team_solve solve, ranks_world *w) {
    pthread_t thread[MOST_RANKS];
    ranks_one one[MOST_RANKS];
    *w = (ranks_world){.ranks = ranks, .run = run, .arg = arg};
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    for (int r = 0; r < ranks; r++) {
        one[r] = (ranks_one){.world = w,
                             .team = {.size = sizeof(rlar_team),
                                      .rank = r,
                                      .ranks = ranks,
                                      .user = &one[r],
                                      .send = team_send,
                                      .receive = team_receive,
                                      .broadcast = team_broadcast,
                                      .ready = team_ready,
                                      .factor = factor,
                                      .solve = solve}};
        if (pthread_create(&thread[r], NULL, team_rank, &one[r]) != 0)
            abort();
    }
    for (int r = 0; r < ranks; r++)
        pthread_join(thread[r], NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

static inline void on_ranks(int ranks, void (*run)(rlar_ctx *, int, void *), void *arg,
                            ranks_world *w) {
    on_solving_ranks(ranks, run, arg, NULL, NULL, w);
}

#endif
