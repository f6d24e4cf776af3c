/* outcome.h - what became of one fit: its mistakes on the test samples, or why it failed.
 *
 * The mistakes are all that the metrics and the confusion counts need, and they are few. */
#ifndef RLAR_OUTCOME_H
#define RLAR_OUTCOME_H

#include "dist/message.h"
#include "eval/split.h"

/* What a fit is made of, added piece by piece (journal.h); 128 bits, so that two fits will not
 * meet. */
typedef struct rlar_key {
    uint64_t word[2];
} rlar_key;

typedef struct rlar_mistake {
    int32_t truth, predicted; /* classes as in the data */
} rlar_mistake;

typedef struct rlar_outcome {
    bool wanted;         /* the search has a use for it */
    bool due;            /* and is to make it in this pass */
    bool done;           /* the rest is there */
    bool kept;           /* so are the mistakes */
    bool zero;           /* the map is zero; not set for what a journal had */
    double accuracy;     /* NaN: failed */
    char *failure;       /* the text of a fit that failed, or NULL */
    double seconds[2];   /* that the fit and the prediction took, with preparation */
    rlar_mistake *wrong; /* in the order of the test samples; NULL: none */
    int64_t n_wrong;
    rlar_key key; /* of the fit, where there is a journal */
} rlar_outcome;

/* From the predicted classes of the test samples of a part; with `keep` the mistakes too. */
rlar_status rlar__outcome_set(rlar_ctx *ctx, const rlar_labels *labels, const rlar_part *part,
                              const int64_t *classes, bool keep, rlar_outcome *out);
/* The counts, c x c and all 0 before, of an outcome that was kept. */
void rlar__outcome_counts(const rlar_labels *labels, const rlar_part *part,
                          const rlar_outcome *outcome, int64_t *counts);
/* From one rank to another, without `wanted` and `due`. */
rlar_status rlar__outcome_carry(rlar_ctx *ctx, rlar_message *message, rlar_outcome *outcome);
/* Leaves `wanted` and `due` as they are. */
void rlar__outcome_clear(rlar_outcome *outcome);

#endif
