/* scale.h - the scalings: none, unit, minmax, zscore, rms and chains of them. */
#ifndef RLAR_SCALE_H
#define RLAR_SCALE_H

#include "core/core.h"

enum { RLAR_SCALE_STEPS = 4 }; /* the longest chain */

typedef enum rlar_scale_kind {
    RLAR_SCALE_UNIT,
    RLAR_SCALE_MINMAX,
    RLAR_SCALE_ZSCORE,
    RLAR_SCALE_RMS
} rlar_scale_kind;

/* One step. Per-feature steps map x_j to (x_j - shift_j) * factor_j; factor 0 for a constant
 * feature; one factor for all in rms. */
typedef struct rlar_scale_step {
    rlar_scale_kind kind;
    double *shift, *factor; /* d each; NULL for unit */
} rlar_scale_step;

typedef struct rlar_scaling {
    int64_t d;
    int count; /* 0: none */
    rlar_scale_step step[RLAR_SCALE_STEPS];
    double *fill; /* d means of the raw training features: what a missing value becomes */
} rlar_scaling;

/* Parse "minmax,unit" (NULL: the default) into kinds; nothing is learned or allocated yet. Errors
 * list the choices. */
rlar_status rlar__scaling_parse(rlar_ctx *ctx, const char *text, rlar_scaling *out);
/* The chain as text ("none", "minmax,unit"); buf of at least 64. */
void rlar__scaling_text(const rlar_scaling *scaling, char *buf, size_t size);
/* The samples to learn from: x (d x n, ld = d) holds them, or `feed` writes the samples from ..
 * to-1 to their place in x, called once for each block in order. */
typedef struct rlar_samples {
    double *x;
    int64_t n;
    rlar_status (*feed)(rlar_ctx *ctx, void *user, int64_t from, int64_t to); /* or NULL */
    void *user;
} rlar_samples;
/* Learn the per-feature steps from the samples and scale x in place. */
rlar_status rlar__scaling_learn(rlar_ctx *ctx, rlar_scaling *scaling, const rlar_samples *samples,
                                int64_t d);
/* Scale n samples in place with what was learned; NaN becomes fill. */
rlar_status rlar__scaling_apply(rlar_ctx *ctx, const rlar_scaling *scaling, double *x, int64_t n);
/* The steps first .. last-1 of the chain only. */
rlar_status rlar__scaling_steps(rlar_ctx *ctx, const rlar_scaling *scaling, int first, int last,
                                double *x, int64_t n);
/* Zeroed shifts and factors of d features. */
rlar_status rlar__scaling_alloc(rlar_ctx *ctx, rlar_scaling *scaling, int64_t d);
/* A power of two that brings numbers of size up to `largest` near 1. */
double rlar__power_for(double largest);
/* The missing numbers of one sample, in the units of the data. */
void rlar__scaling_fill(const rlar_scaling *scaling, double *x);
rlar_status rlar__scaling_copy(rlar_ctx *ctx, const rlar_scaling *from, rlar_scaling *to);
void rlar__scaling_free(rlar_scaling *scaling);

#endif
