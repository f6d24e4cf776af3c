/* split.h - training and test parts, the same for every method. */
#ifndef RLAR_SPLIT_H
#define RLAR_SPLIT_H

#include "core/core.h"

enum { RLAR_MOST_TRIALS = 1000000 };

/* Labelled samples as a split sees them. */
typedef struct rlar_labels {
    int64_t n, d, c;
    const int64_t *label;      /* n class indices */
    const int64_t *class_size; /* c */
    const rlar_texts *classes; /* names, for error texts */
} rlar_labels;

typedef struct rlar_split_rule {
    rlar_split kind;
    int64_t per_class; /* of the kind PER_CLASS */
    double fraction;   /* FRACTION */
    int64_t folds;     /* FOLDS */
    uint64_t seed;
    const rlar_rows *given; /* GIVEN: one for each of so many trials */
    int64_t trials;
} rlar_split_rule;

/* One split: sample numbers, grouped by class in class order. */
typedef struct rlar_part {
    int64_t *train, *test;
    int64_t n_train, n_test;
} rlar_part;

/* The labels of data; an error when it has none, or a sample of no known class. */
rlar_status rlar__labels_of(rlar_ctx *ctx, const rlar_data *data, rlar_labels *out);
/* A number for the data that does not depend on where they came from: FNV-1a of n, d, c, labels. */
uint64_t rlar__data_id(const rlar_labels *labels);
/* The samples of `rows` (NULL: all n) by class, in the order given; class i is first[i] ..
 * first[i+1]-1. `first` has c + 2 places: the extra one turns counts into starts without a second
 * array. */
void rlar__group_by_class(const rlar_labels *labels, const int64_t *rows, int64_t n,
                          int64_t *grouped, int64_t *first);

/* What is wrong with the rule whatever the data; of given splits only whether there are any. */
rlar_status rlar__split_rule_check(rlar_ctx *ctx, const rlar_split_rule *rule);
/* Can every trial be made? Names the first class that is too small; warns of classes smaller than
 * the number of folds. */
rlar_status rlar__split_check(rlar_ctx *ctx, const rlar_labels *labels,
                              const rlar_split_rule *rule);
/* Split number `trial`; with folds, fold trial % folds of repetition trial / folds. */
rlar_status rlar__split_make(rlar_ctx *ctx, const rlar_labels *labels, uint64_t data_id,
                             const rlar_split_rule *rule, int64_t trial, rlar_part *out);
void rlar__part_free(rlar_part *part);
/* The splits of so many trials in one block, which rlar_rows_free frees. */
rlar_status rlar__splits_new(rlar_ctx *ctx, const rlar_labels *labels, const rlar_split_rule *rule,
                             int64_t trials, rlar_rows **out);

/* Folds inside a training part, for tuning. How many: at most `wanted` and the smallest class that
 * occurs; an error when that has one sample. */
rlar_status rlar__inner_folds(rlar_ctx *ctx, const rlar_labels *labels, const rlar_part *outer,
                              int64_t wanted, int64_t *folds);
/* Inner fold number `fold` of the outer split `trial`. */
rlar_status rlar__inner_make(rlar_ctx *ctx, const rlar_labels *labels, uint64_t data_id,
                             const rlar_split_rule *rule, int64_t trial, const rlar_part *outer,
                             int64_t folds, int64_t fold, rlar_part *out);

#endif
