/* schedule.h - many tasks that share something in groups, on the context's threads and on other
 * ranks. */
#ifndef RLAR_SCHEDULE_H
#define RLAR_SCHEDULE_H

#include "dist/message.h"

typedef struct rlar_crew rlar_crew; /* crew.h */

/* What one rank tells another of an item, by the same calls on both (see rlar_message). */
typedef rlar_status (*rlar_item_message)(rlar_ctx *ctx, void *arg, int64_t unit, int64_t item,
                                         rlar_message *message);

/* A unit is opened (what its items share is made), its items run, each once and in any order, and
 * it is closed. A thread keeps to its unit and then opens the next, so that nobody waits for what
 * others open; only when no unit is left unopened do threads help each other out. So at most as
 * many units are open as there are threads. Every call gets a context of its own thread.
 *
 * A thread of another rank is one more thread, for which its rank opens the units. */
typedef struct rlar_schedule {
    int64_t units;
    /* Items of a unit; 0: it is not opened. */
    int64_t (*items)(const void *arg, int64_t unit);
    rlar_status (*open)(rlar_ctx *ctx, void *arg, int64_t unit, void **shared);
    rlar_status (*run)(rlar_ctx *ctx, void *arg, void *shared, int64_t item);
    void (*close)(void *shared);
    void *arg;
    /* With other ranks; all 0 without. */
    rlar_crew *crew;
    int64_t stage;             /* its number among those that rlar__schedule_help knows */
    rlar_item_message task;    /* what is to be done, before the unit is opened there */
    rlar_item_message outcome; /* what became of it; rank 0 stores it */
} rlar_schedule;

/* Stops early when cancelled, or when a call answers an error: that of the lowest unit and item
 * that failed is returned, with its text. */
rlar_status rlar__schedule_run(rlar_ctx *ctx, const rlar_schedule *schedule);
/* On a rank above 0: run the items that rank 0 sends, of any of these schedules, until it says how
 * the whole has ended: with that status and text. */
rlar_status rlar__schedule_help(rlar_ctx *ctx, const rlar_schedule *stages, int64_t count);

#endif
