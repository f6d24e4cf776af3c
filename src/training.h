/* training.h - what is inside an rlar_training (pipeline.h); for training.c and fit.c only. */
#ifndef RLAR_TRAINING_H
#define RLAR_TRAINING_H

#include "core/core.h"
#include "data/scale.h"
#include "methods/method.h"
#include "pipeline.h"

struct rlar_training {
    const rlar_data *data;
    rlar_train train; /* what the method sees; its arrays are those below */
    rlar_scaling scaling;
    double *x;      /* d x n, padded with zero columns to a multiple of RLAR_COLUMNS; or NULL */
    bool taken;     /* x is the data's own */
    double *means;  /* d: of what the samples have of each feature; NULL: not needed so far */
    bool fills;     /* missing values become these means */
    bool large;     /* some numbers of the data may be beyond RLAR_LARGEST */
    int64_t *order; /* n: the sample of the data behind each column */
    int32_t *label; /* n */
    int64_t *first; /* c + 1 */
    int64_t *whole; /* c + 1: the same of all ranks */
    int64_t *cut;   /* ranks + 1: where the samples of each rank begin; NULL: there is one */
    rlar_blocks blocks;
    int64_t *class_of;         /* c: the class of the data behind each class of the training */
    const rlar_method *sharer; /* whose shared object train.shared is, or NULL */
    void *shared;
    int at_once;      /* fits that may be under way, here and elsewhere */
    double fit_bytes; /* that one of them holds */
};

/* Is the method made for the ranks of the context, and for the solve that is asked for? */
rlar_status rlar__training_suits(rlar_ctx *ctx, const rlar_fit_options *options,
                                 const rlar_params *params);
/* Who is in which class, and the scaling as parsed; no values yet. `out` is zeroed by the caller
 * and cleared by it also after an error. */
rlar_status rlar__training_group(rlar_ctx *ctx, const rlar_data *data,
                                 const rlar_fit_options *options, rlar_training *out);
/* What is inside, not the struct itself. */
void rlar__training_clear(rlar_training *t);
/* What a fit of these samples will hold, them included, and cost. */
rlar_status rlar__training_forecast(rlar_ctx *ctx, const rlar_training *t,
                                    const rlar_params *params, rlar_forecast *out);
/* Of that the bytes that rlar__training_take does without, because the samples lie well. */
int64_t rlar__training_spared(const rlar_training *t);

#endif
