/* schedule.h - many tasks that share something in groups, on the context's threads. */
#ifndef RLAR_SCHEDULE_H
#define RLAR_SCHEDULE_H

#include "core/core.h"

/* A unit is opened (what its items share is made), its items run, each once and in any order, and
 * it is closed. A thread keeps to its unit and then opens the next, so that nobody waits for what
 * others open; only when no unit is left unopened do threads help each other out. So at most as
 * many units are open as there are threads. Every call gets a context of its own thread. */
typedef struct rlar_schedule {
    int64_t units;
    /* Items of a unit; 0: it is not opened. */
    int64_t (*items)(const void *arg, int64_t unit);
    rlar_status (*open)(rlar_ctx *ctx, void *arg, int64_t unit, void **shared);
    rlar_status (*run)(rlar_ctx *ctx, void *arg, void *shared, int64_t item);
    void (*close)(void *shared);
    void *arg;
} rlar_schedule;

/* Stops early when cancelled, or when a call answers an error: that of the lowest unit and item
 * that failed is returned, with its text. */
rlar_status rlar__schedule_run(rlar_ctx *ctx, const rlar_schedule *schedule);

#endif
