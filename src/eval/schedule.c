/* schedule.c - hands out units and their items to threads.
 *
 * One board under one lock: the units of which items were handed out (groups), and for each thread
 * here a place for a unit that is open (slots). A slot is free again when the last thread that runs
 * its items has gone on to another unit. The lock is held for a few instructions at a time; calls
 * of the schedule run without it. Other ranks are served by the thread that called, between its
 * items and whenever a fit polls (crew.c). */
#include "eval/board.h"
#include "eval/crew.h"

#include <string.h>
#include <time.h>

enum {
    WAIT_NANOSECONDS = 20000000, /* between two polls of a thread that waits for another */
    NAP_NANOSECONDS = 1000000    /* and of one that waits for another rank */
};

/* ---- Under the lock ---- */

static rlar_group *group_of(rlar_board *b, int64_t unit) {
    for (rlar_group *g = b->group; g < b->group + b->groups; g++)
        if (g->unit == unit && g->next < g->count)
            return g;
    return NULL;
}

/* A free place for the next unit that has items, or NULL. Who has taken an item of a unit keeps to
 * it while it has any, so that of as many places as there are threads one is free for who looks. */
static rlar_group *next_group(rlar_board *b) {
    const rlar_schedule *schedule = b->schedule;
    rlar_group *g = b->group;
    while (b->next_unit < schedule->units && schedule->items(schedule->arg, b->next_unit) < 1)
        b->next_unit++;
    if (b->next_unit == schedule->units)
        return NULL;
    while (g->next < g->count)
        g++;
    *g = (rlar_group){.unit = b->next_unit, .count = schedule->items(schedule->arg, b->next_unit)};
    b->next_unit++;
    return g;
}

/* Whom to help: the unit with the most items left. */
static rlar_group *fullest(rlar_board *b) {
    rlar_group *best = NULL;
    for (rlar_group *g = b->group; g < b->group + b->groups; g++)
        if (g->next < g->count && (!best || g->count - g->next > best->count - best->next))
            best = g;
    return best;
}

bool rlar__board_take(rlar_board *board, int64_t *unit, int64_t *item) {
    rlar_group *g = group_of(board, *unit);
    if (!g)
        g = next_group(board);
    if (!g)
        g = fullest(board);
    if (!g)
        return false;
    *unit = g->unit;
    *item = g->next++;
    board->left--;
    return true;
}

/* What a thread is at. */
typedef struct seat {
    rlar_slot *slot; /* NULL: none */
    const rlar_schedule *schedule;
    int64_t unit, item;
    rlar_sent *sent; /* on another rank */
} seat;

static rlar_slot *slot_of(rlar_board *b, const rlar_schedule *schedule, int64_t unit) {
    for (rlar_slot *s = b->slot; s < b->slot + b->slots; s++)
        if (s->state != SLOT_FREE && s->schedule == schedule && s->unit == unit)
            return s;
    return NULL;
}

/* How gladly a thread takes an item that was sent: of its own unit, of one that nobody here has
 * open, of any. */
static int preference(rlar_board *b, const seat *me, const rlar_sent *s) {
    const rlar_slot *open = slot_of(b, s->schedule, s->unit);
    return open && open == me->slot ? 2 : !open ? 1 : 0;
}

static bool take_sent(rlar_board *b, seat *me) {
    rlar_sent *best = NULL;
    for (rlar_sent *s = b->sent; s < b->sent + b->n_sent; s++) {
        if (s->state != SENT_WAITING)
            continue;
        const int gain = best ? preference(b, me, s) - preference(b, me, best) : 1;
        if (gain > 0 || (gain == 0 && s->order < best->order))
            best = s;
    }
    if (!best)
        return false;
    best->state = SENT_RUNNING;
    me->sent = best;
    me->schedule = best->schedule;
    me->unit = best->unit;
    me->item = best->item;
    return true;
}

static bool take(rlar_board *b, seat *me) {
    if (atomic_load(&b->stop))
        return false;
    if (b->sent)
        return take_sent(b, me);
    me->schedule = b->schedule;
    return rlar__board_take(b, &me->unit, &me->item);
}

/* From the slot of its unit. Answers what was there, with `shared` if nobody else is at it: that is
 * to be closed, which takes its time, without the lock. */
static rlar_slot leave(seat *me) {
    rlar_slot *s = me->slot, last = {.state = SLOT_FREE};
    me->slot = NULL;
    if (s && --s->holders == 0) {
        last = *s;
        *s = (rlar_slot){.state = SLOT_FREE};
    }
    return last;
}

static void close_unit(const rlar_slot *last) {
    if (last->shared)
        last->schedule->close(last->shared);
}

/* To the slot of its unit; true: to open it. The lock is held all the while, so that nobody closes
 * the unit of which an item was taken. Each of the other threads is at one slot at the most, so
 * that one is free. */
static bool enter(rlar_board *b, seat *me, rlar_slot *last) {
    rlar_slot *s = slot_of(b, me->schedule, me->unit);
    const bool fresh = !s;
    if (s && s == me->slot)
        return false;
    *last = leave(me);
    if (fresh) {
        for (s = b->slot; s->state != SLOT_FREE;)
            s++;
        *s = (rlar_slot){.state = SLOT_OPENING, .schedule = me->schedule, .unit = me->unit};
    }
    s->holders++;
    me->slot = s;
    return fresh;
}

/* A change on the board, or the time for another poll. */
static void wait_for_change(rlar_board *b) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NANOSECONDS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&b->changed, &b->lock, &until);
}

/* ---- One thread ---- */

/* A failure counts more than being cancelled, which may be its consequence. */
static bool counts_more(const rlar_board *b, rlar_status status, int64_t unit, int64_t item) {
    const bool cancelled = status == RLAR_E_CANCELLED, before = b->failed == RLAR_E_CANCELLED;
    if (b->failed >= 0 || cancelled != before)
        return b->failed >= 0 || before;
    return unit < b->failed_unit || (unit == b->failed_unit && item <= b->failed_item);
}

void rlar__board_fail(rlar_board *board, const rlar_ctx *ctx, rlar_status status, int64_t unit,
                      int64_t item) {
    pthread_mutex_lock(&board->lock);
    if (counts_more(board, status, unit, item)) {
        board->failed = status;
        board->failed_unit = unit;
        board->failed_item = item;
        memcpy(board->error, ctx->error, sizeof board->error);
    }
    atomic_store(&board->stop, true);
    pthread_cond_broadcast(&board->changed);
    pthread_mutex_unlock(&board->lock);
}

static rlar_status open_unit(rlar_ctx *ctx, rlar_board *b, const seat *me) {
    void *shared = NULL;
    const rlar_status status = me->schedule->open(ctx, me->schedule->arg, me->unit, &shared);
    if (status < 0) {
        rlar__board_fail(b, ctx, status, me->unit, -1);
        return status;
    }
    pthread_mutex_lock(&b->lock);
    me->slot->shared = shared;
    me->slot->state = SLOT_READY;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return RLAR_OK;
}

/* Somebody else opens the unit. */
static rlar_status await_unit(rlar_ctx *ctx, rlar_board *b, const seat *me) {
    rlar_status status = RLAR_OK;
    pthread_mutex_lock(&b->lock);
    while (status >= 0 && me->slot->state == SLOT_OPENING && !atomic_load(&b->stop)) {
        wait_for_change(b);
        pthread_mutex_unlock(&b->lock);
        status = rlar__poll(ctx);
        pthread_mutex_lock(&b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    return status;
}

static rlar_status run_item(rlar_ctx *ctx, rlar_board *b, const seat *me) {
    const rlar_status status =
        me->schedule->run(ctx, me->schedule->arg, me->slot->shared, me->item);
    if (status < 0)
        rlar__board_fail(b, ctx, status, me->unit, me->item);
    if (me->sent) {
        pthread_mutex_lock(&b->lock);
        me->sent->state = SENT_DONE;
        pthread_mutex_unlock(&b->lock);
    }
    return status;
}

/* One item. *more: there was one. */
static rlar_status step(rlar_ctx *ctx, rlar_board *b, seat *me, bool *more) {
    rlar_slot last = {.state = SLOT_FREE};
    bool fresh = false;
    pthread_mutex_lock(&b->lock);
    *more = take(b, me);
    if (*more)
        fresh = enter(b, me, &last);
    pthread_mutex_unlock(&b->lock);
    close_unit(&last);
    if (!*more)
        return RLAR_OK;
    RLAR_TRY(fresh ? open_unit(ctx, b, me) : await_unit(ctx, b, me));
    return atomic_load(&b->stop) ? RLAR_OK : run_item(ctx, b, me);
}

static void nap(void) {
    const struct timespec time = {.tv_nsec = NAP_NANOSECONDS};
    nanosleep(&time, NULL);
}

/* Nothing is there to be run: on another rank there may be something later. */
static bool wait_for_more(rlar_board *b, bool calls) {
    if (!b->sent || atomic_load(&b->stop))
        return false;
    if (calls) {
        nap();
        return true;
    }
    pthread_mutex_lock(&b->lock);
    wait_for_change(b);
    pthread_mutex_unlock(&b->lock);
    return true;
}

/* The callback of the calling thread, by which other ranks are served while it fits: more often
 * than the user is called. */
typedef struct hook {
    rlar_board *board;
    rlar_ctx *ctx;
    rlar_progress_fn progress;
    void *user;
    double next_poll; /* of the user */
} hook;

static const double SERVE_SECONDS = 0.002;

static int serve_and_tell(void *user, const rlar_event *event) {
    hook *h = user;
    const double now = rlar__now();
    rlar__crew_serve(h->board->crew, h->board);
    h->ctx->next_poll = now + SERVE_SECONDS;
    if (atomic_load(&h->board->stop))
        return 1;
    if (!h->progress || (event->kind == RLAR_EVENT_POLL && now < h->next_poll))
        return 0;
    h->next_poll = now + RLAR_POLL_SECONDS;
    return h->progress(h->user, event);
}

/* Task of the pool: one thread, until there is nothing left to do. */
static rlar_status work(rlar_ctx *ctx, void *arg, int64_t index) {
    rlar_board *b = arg;
    seat me = {.unit = -1};
    hook h = {.board = b, .ctx = ctx, .progress = ctx->progress, .user = ctx->user};
    const bool calls = b->crew && pthread_equal(pthread_self(), b->caller);
    rlar_status status = RLAR_OK;
    (void)index;
    if (calls) {
        ctx->progress = serve_and_tell;
        ctx->user = &h;
    }
    for (bool more = true; more && status >= 0;) {
        status = rlar__poll(ctx);
        if (calls && status >= 0)
            rlar__crew_serve(b->crew, b);
        if (status >= 0)
            status = step(ctx, b, &me, &more);
        more = more || wait_for_more(b, calls);
    }
    pthread_mutex_lock(&b->lock);
    const rlar_slot last = leave(&me);
    pthread_mutex_unlock(&b->lock);
    close_unit(&last);
    return status;
}

/* ---- All threads ---- */

static rlar_status board_open(rlar_ctx *ctx, rlar_board *b) {
    b->slots = rlar_ctx_threads(ctx);
    b->caller = pthread_self();
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    return rlar__calloc(ctx, b->slots, sizeof *b->slot, "the schedule", &b->slot);
}

static void board_close(rlar_board *b) {
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    rlar__free(b->slot);
    rlar__free(b->group);
    rlar__free(b->sent);
}

/* The threads here, then what other ranks still have. */
static rlar_status run_board(rlar_ctx *ctx, rlar_board *b) {
    rlar_status status = rlar__parallel_ctx(ctx, b->slots, work, b);
    while (status >= 0 && b->crew && !b->sent && !atomic_load(&b->stop) &&
           rlar__crew_is_busy(b->crew)) {
        rlar__crew_serve(b->crew, b);
        nap();
        status = rlar__poll(ctx);
    }
    return b->failed < 0 ? rlar__fail(ctx, b->failed, "%s", b->error) : status;
}

rlar_status rlar__schedule_run(rlar_ctx *ctx, const rlar_schedule *schedule) {
    rlar_board b = {.schedule = schedule, .crew = schedule->crew};
    rlar_status status = board_open(ctx, &b);
    b.groups = b.crew ? rlar__crew_threads(b.crew) : b.slots;
    if (b.crew)
        rlar__crew_begin(b.crew);
    for (int64_t i = 0; i < schedule->units && status >= 0; i++)
        b.left += schedule->items(schedule->arg, i);
    if (status >= 0)
        status = rlar__calloc(ctx, b.groups, sizeof *b.group, "the schedule", &b.group);
    if (status >= 0)
        status = run_board(ctx, &b);
    board_close(&b);
    return status;
}

rlar_status rlar__schedule_help(rlar_ctx *ctx, const rlar_schedule *stages, int64_t count) {
    rlar_board b = {.stages = stages, .n_stages = count, .crew = stages[0].crew};
    rlar_status status = board_open(ctx, &b);
    b.n_sent = rlar__crew_ahead(b.slots);
    if (status >= 0)
        status = rlar__calloc(ctx, b.n_sent, sizeof *b.sent, "the schedule", &b.sent);
    if (status >= 0)
        status = run_board(ctx, &b);
    status = rlar__crew_leave(ctx, b.crew, status);
    board_close(&b);
    return status;
}
