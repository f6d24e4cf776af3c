/* outcome.h - what became of one fit: its mistakes on the test samples, or why it failed.
 *
 * The mistakes are all that the metrics and the confusion counts need, and they are few. */
#ifndef RLAR_OUTCOME_H
#define RLAR_OUTCOME_H

#include "eval/split.h"

typedef struct rlar_mistake {
    int32_t truth, predicted; /* classes as in the data */
} rlar_mistake;

typedef struct rlar_outcome {
    bool wanted;         /* the search has a use for it */
    bool due;            /* and is to make it in this pass */
    bool done;           /* the rest is there */
    bool kept;           /* so are the mistakes */
    double accuracy;     /* NaN: failed */
    char *failure;       /* the text of a fit that failed, or NULL */
    double seconds[2];   /* that the fit and the prediction took, with preparation */
    rlar_mistake *wrong; /* in the order of the test samples; NULL: none */
    int64_t n_wrong;
} rlar_outcome;

/* From the predicted classes of the test samples of a part; with `keep` the mistakes too. */
rlar_status rlar__outcome_set(rlar_ctx *ctx, const rlar_labels *labels, const rlar_part *part,
                              const int64_t *classes, bool keep, rlar_outcome *out);
/* The counts, c x c and all 0 before, of an outcome that was kept. */
void rlar__outcome_counts(const rlar_labels *labels, const rlar_part *part,
                          const rlar_outcome *outcome, int64_t *counts);
/* Leaves `wanted` and `due` as they are. */
void rlar__outcome_clear(rlar_outcome *outcome);

#endif
