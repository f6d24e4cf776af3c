/* errands.h - samples of a class that lie on other ranks, fetched some at a time.
 *
 * All ranks that share a class go through their samples in steps. With every step each asks the
 * others for what it needs next, and gives what they need; one that needs nothing, because it is at
 * a class that is not cut, or done, serves the others all the same. */
#ifndef RLAR_ERRANDS_H
#define RLAR_ERRANDS_H

#include "linalg/divided.h"

enum {
    RLAR_FETCHED = 2048, /* samples of other ranks that are here at once */
    RLAR_PORTION = 512   /* samples that they are fetched for at a time; divides RLAR_SUM_BLOCK */
};

typedef struct rlar_errands {
    const rlar_blocks *blocks;
    int64_t d;
    const double *x; /* d x n */
    int32_t *slot;   /* of the samples elsewhere: their place in room, or -1 */
    int32_t *wanted;
    int64_t count;
    double *room; /* d x RLAR_FETCHED */
    double *pack; /* what another rank gets, piece by piece */
    bool *closed; /* ranks: neither needs anything any more */
    bool open;
} rlar_errands;

/* Nothing where no class is cut. */
void rlar__errands_carve(rlar_workspace *ws, const rlar_blocks *blocks, int64_t d,
                         rlar_errands *out);
void rlar__errands_begin(rlar_errands *e, const double *x);
/* Sample m will be needed. There has to be room (count). */
void rlar__errands_want(rlar_errands *e, int64_t m);
/* One step: what was wanted is here, until they are forgotten. */
rlar_status rlar__errands_fetch(rlar_ctx *ctx, rlar_errands *e);
const double *rlar__errands_at(const rlar_errands *e, int64_t m);
void rlar__errands_forget(rlar_errands *e);
/* Until no rank needs anything. */
rlar_status rlar__errands_end(rlar_ctx *ctx, rlar_errands *e);

#endif
