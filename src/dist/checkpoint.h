/* checkpoint.h - a file from which a fit that was stopped goes on, on any number of ranks.
 *
 * A method says what it goes on from: arrays that all ranks have alike, such as W, and arrays with
 * some elements for every sample, such as the neighbours. Rank 0 writes them, those of the samples
 * in the order of all ranks, which does not depend on how many there are. All ranks call the same
 * functions in the same order. */
#ifndef RLAR_CHECKPOINT_H
#define RLAR_CHECKPOINT_H

#include "core/core.h"

typedef struct rlar_checkpoint {
    const char *path;
    int64_t every;   /* iterations from one to the next */
    uint64_t key[2]; /* of the samples, the method and all its settings */
    int64_t n, all;  /* samples here, and of all ranks */
    int64_t from;    /* where the samples here begin among them */
} rlar_checkpoint;

/* One array. */
typedef struct rlar_kept {
    void *at;
    int64_t count; /* bytes; of one sample, where each has some */
    bool samples;
} rlar_kept;

/* What the checkpoint is of: added piece by piece, of what all ranks have alike. */
void rlar__checkpoint_add(rlar_checkpoint *cp, const void *bytes, size_t size);
/* And of the samples, d numbers each. */
rlar_status rlar__checkpoint_add_samples(rlar_ctx *ctx, rlar_checkpoint *cp, int64_t d,
                                         const double *x, const int32_t *label);

/* After iteration t; cp NULL, or another iteration than one of `every`: nothing. */
rlar_status rlar__checkpoint_save(rlar_ctx *ctx, const rlar_checkpoint *cp, int64_t t,
                                  const rlar_kept *kept, int count);
/* The iteration after which the fit goes on, with the arrays as they were; 0, and nothing touched:
 * there is no file. An error where it is of another fit, or damaged. */
rlar_status rlar__checkpoint_load(rlar_ctx *ctx, const rlar_checkpoint *cp, rlar_kept *kept,
                                  int count, int64_t *t);
/* The checksum is right, but no fit can have left these arrays: the method knows what they mean. */
rlar_status rlar__checkpoint_refuse(rlar_ctx *ctx, const rlar_checkpoint *cp);

#endif
