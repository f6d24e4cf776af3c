/* schedule.c - hands out units and their items to threads.
 *
 * One board under one lock: a slot per thread, each with the unit that is open there. A slot is
 * free again when the last item of its unit has ended, whoever ran it. The lock is held for a few
 * instructions at a time; calls of the schedule run without it. */
#include "eval/schedule.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { WAIT_NANOSECONDS = 20000000 }; /* between two polls of a thread that waits for another */

typedef enum slot_state { SLOT_FREE, SLOT_OPENING, SLOT_READY } slot_state;

typedef struct slot {
    slot_state state;
    int64_t unit;
    int64_t next, count; /* items handed out, items in all */
    int64_t ended;
    void *shared;
} slot;

typedef struct board {
    const rlar_schedule *schedule;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t opened;
    int64_t next_unit;
    int slots;
    slot *slot;
    bool stop;
    rlar_status failed; /* of the lowest unit and item */
    int64_t failed_unit, failed_item;
    char error[RLAR_ERROR_SIZE];
} board;

/* ---- Under the lock ---- */

static bool has_items(const slot *s) {
    return s->state == SLOT_READY && s->next < s->count;
}

/* A free slot for the next unit that has items, or NULL. Every thread that is not looking for work
 * has one slot at the most, so that while there are units there is a free slot. */
static slot *next_unit(board *b) {
    const rlar_schedule *schedule = b->schedule;
    slot *s = b->slot;
    while (b->next_unit < schedule->units && schedule->items(schedule->arg, b->next_unit) < 1)
        b->next_unit++;
    if (b->next_unit == schedule->units)
        return NULL;
    while (s->state != SLOT_FREE)
        s++;
    *s = (slot){.state = SLOT_OPENING,
                .unit = b->next_unit,
                .count = schedule->items(schedule->arg, b->next_unit)};
    b->next_unit++;
    return s;
}

/* Whom to help: the slot with the most items left. */
static slot *fullest(board *b) {
    slot *best = NULL;
    for (slot *s = b->slot; s < b->slot + b->slots; s++)
        if (has_items(s) && (!best || s->count - s->next > best->count - best->next))
            best = s;
    return best;
}

static bool any_opening(const board *b) {
    for (int i = 0; i < b->slots; i++)
        if (b->slot[i].state == SLOT_OPENING)
            return true;
    return false;
}

static void note_failure(board *b, const rlar_ctx *ctx, rlar_status status, int64_t unit,
                         int64_t item) {
    b->stop = true;
    if (b->failed < 0 &&
        (b->failed_unit < unit || (b->failed_unit == unit && b->failed_item < item)))
        return;
    b->failed = status;
    b->failed_unit = unit;
    b->failed_item = item;
    memcpy(b->error, ctx->error, sizeof b->error);
}

/* Somebody is opening a unit: wait until it is open, but not longer than a poll may wait. */
static void wait_for_opening(board *b) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NANOSECONDS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&b->opened, &b->lock, &until);
}

/* ---- One thread ---- */

static rlar_status open_unit(rlar_ctx *ctx, board *b, slot *s) {
    void *shared = NULL;
    const rlar_status status = b->schedule->open(ctx, b->schedule->arg, s->unit, &shared);
    pthread_mutex_lock(&b->lock);
    s->shared = shared;
    s->state = status < 0 ? SLOT_FREE : SLOT_READY;
    if (status < 0)
        note_failure(b, ctx, status, s->unit, -1);
    pthread_cond_broadcast(&b->opened);
    pthread_mutex_unlock(&b->lock);
    return status;
}

static rlar_status run_item(rlar_ctx *ctx, board *b, slot *s, int64_t item) {
    const rlar_status status = b->schedule->run(ctx, b->schedule->arg, s->shared, item);
    void *last = NULL;
    pthread_mutex_lock(&b->lock);
    if (status < 0)
        note_failure(b, ctx, status, s->unit, item);
    if (++s->ended == s->count) {
        last = s->shared;
        s->shared = NULL;
        s->state = SLOT_FREE;
    }
    pthread_mutex_unlock(&b->lock);
    if (last)
        b->schedule->close(last);
    return status;
}

/* What to do next: an item of *mine (*item >= 0), or to open it (-1). False: nothing is left. */
static bool next_task(board *b, slot **mine, int64_t *item, bool *wait) {
    *wait = false;
    if (b->stop)
        return false;
    if (!*mine || !has_items(*mine)) {
        *item = -1;
        *mine = next_unit(b);
        if (*mine)
            return true;
        *mine = fullest(b);
    }
    if (!*mine) {
        *wait = any_opening(b);
        return *wait;
    }
    *item = (*mine)->next++;
    return true;
}

/* Task of the pool: one thread, until there is nothing left to do. */
static rlar_status work(rlar_ctx *ctx, void *arg, int64_t index) {
    board *b = arg;
    slot *mine = NULL;
    int64_t item = -1;
    bool wait = false;
    (void)index;
    for (;;) {
        RLAR_TRY(rlar__poll(ctx));
        pthread_mutex_lock(&b->lock);
        const bool more = next_task(b, &mine, &item, &wait);
        if (wait)
            wait_for_opening(b);
        pthread_mutex_unlock(&b->lock);
        if (!more)
            return RLAR_OK;
        if (wait)
            continue;
        RLAR_TRY(item < 0 ? open_unit(ctx, b, mine) : run_item(ctx, b, mine, item));
    }
}

rlar_status rlar__schedule_run(rlar_ctx *ctx, const rlar_schedule *schedule) {
    board b = {.schedule = schedule, .slots = rlar_ctx_threads(ctx)};
    RLAR_TRY(rlar__calloc(ctx, b.slots, sizeof *b.slot, "the schedule", &b.slot));
    pthread_mutex_init(&b.lock, NULL);
    pthread_cond_init(&b.opened, NULL);
    const rlar_status status = rlar__parallel_ctx(ctx, b.slots, work, &b);
    for (int i = 0; i < b.slots; i++) /* what an early end has left open */
        if (b.slot[i].shared)
            schedule->close(b.slot[i].shared);
    pthread_cond_destroy(&b.opened);
    pthread_mutex_destroy(&b.lock);
    rlar__free(b.slot);
    return b.failed < 0 ? rlar__fail(ctx, b.failed, "%s", b.error) : status;
}
