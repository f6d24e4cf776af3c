/* board.h - who does what in a schedule: what schedule.c and crew.c share. */
#ifndef RLAR_BOARD_H
#define RLAR_BOARD_H

#include <pthread.h>

#include "eval/schedule.h"

typedef enum rlar_slot_state { SLOT_FREE, SLOT_OPENING, SLOT_READY } rlar_slot_state;

/* A unit that is open here. */
typedef struct rlar_slot {
    rlar_slot_state state;
    const rlar_schedule *schedule;
    int64_t unit;
    int holders; /* threads that run its items; the last that leaves closes it */
    void *shared;
} rlar_slot;

/* A unit of which items were handed out, here or to another rank. */
typedef struct rlar_group {
    int64_t unit;
    int64_t next, count; /* items handed out, items in all; equal: the place is free */
} rlar_group;

typedef enum rlar_sent_state { SENT_NONE, SENT_WAITING, SENT_RUNNING, SENT_DONE } rlar_sent_state;

/* An item that rank 0 has sent. */
typedef struct rlar_sent {
    rlar_sent_state state;
    const rlar_schedule *schedule;
    int64_t unit, item;
    int64_t order; /* of arrival */
} rlar_sent;

typedef struct rlar_board {
    rlar_crew *crew; /* NULL: no other ranks */
    pthread_t caller;
    atomic_bool stop;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t changed;
    rlar_slot *slot;
    int slots;
    rlar_status failed; /* of the lowest unit and item */
    int64_t failed_unit, failed_item;
    char error[RLAR_ERROR_SIZE];

    /* Alone, or on rank 0: the units in their order. */
    const rlar_schedule *schedule;
    int64_t next_unit;
    int64_t left; /* items that were not handed out */
    rlar_group *group;
    int64_t groups; /* one for each thread, here and elsewhere */

    /* On another rank: what it was sent; NULL elsewhere. */
    const rlar_schedule *stages;
    int64_t n_stages;
    rlar_sent *sent;
    int64_t n_sent, arrived;
} rlar_board;

/* The next item for somebody who has run items of *unit, or of none (-1). Under the lock. */
bool rlar__board_take(rlar_board *board, int64_t *unit, int64_t *item);
/* Everybody stops; the text is that of the context. */
void rlar__board_fail(rlar_board *board, const rlar_ctx *ctx, rlar_status status, int64_t unit,
                      int64_t item);

#endif
