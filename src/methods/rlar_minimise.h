/* rlar_minimise.h - the rounds of solver = minimise, on all features or on few. */
#ifndef RLAR_MINIMISE_H
#define RLAR_MINIMISE_H

#include "methods/rlar_descent.h"

typedef struct rlar_ranked {
    double strain;
    int64_t feature;
} rlar_ranked;

/* A search for the minimum and where it is. */
typedef struct rlar_minimum {
    rlar_descent m;
    bool plain;       /* the plain objective is wanted, not the one smoothed by st->eps */
    bool leisure;     /* likewise, and the samples hold so few numbers that time does not matter */
    double eps;       /* of the next round */
    double before;    /* the objective after the last one */
    double *strain;   /* d: of the rows of W, after the last round */
    int64_t left_out; /* features that are not among the d */
    /* rlar__minimise_few: */
    bool *in;            /* d: the features that take part */
    rlar_ranked *ranked; /* d: room */
} rlar_minimum;

/* The length of each row of the gradient of all other terms, in units of alpha: at a minimum 1
 * where w_r is not 0, and not above 1 elsewhere. */
rlar_status rlar__minimise_strain(rlar_ctx *ctx, rlar_minimum *q, double *worst);
/* One round: W and b at q->eps; then eps for the next, and whether this was the last. */
rlar_status rlar__minimise_round(rlar_ctx *ctx, rlar_minimum *q, rlar_info *info);
/* The rounds on few features, where few may do; `strain` is the worst at W = 0. W and b are there
 * if info->converged or `iters` are over; otherwise few do not do, and the search has to start
 * again: P would need many rounds for its way up, and V has been chosen by few features. */
rlar_status rlar__minimise_few(rlar_ctx *ctx, rlar_minimum *q, double strain, rlar_info *info);
/* The room that it may take. */
rlar_status rlar__minimise_few_forecast(rlar_ctx *ctx, const rlar_state *st, rlar_forecast *out);

#endif
