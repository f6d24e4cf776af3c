/* classify.h - classifiers on the embedded samples. */
#ifndef RLAR_CLASSIFY_H
#define RLAR_CLASSIFY_H

#include "core/core.h"
#include "eval/nearest.h"

typedef enum rlar_classifier {
    RLAR_CLASSIFY_1NN,
    RLAR_CLASSIFY_KNN,
    RLAR_CLASSIFY_CENTROID,
    RLAR_CLASSIFY_ARGMAX,
    RLAR_CLASSIFY_1NN_COSINE, /* from here on: after scaling to length 1 */
    RLAR_CLASSIFY_KNN_COSINE,
    RLAR_CLASSIFY_CENTROID_COSINE
} rlar_classifier;

/* "1nn", "knn", "centroid", "argmax", "1nn-cosine", "knn-cosine", "centroid-cosine"; NULL: 1nn.
 * Errors list the choices. */
rlar_status rlar__classifier_parse(rlar_ctx *ctx, const char *text, rlar_classifier *out);

/* What is prepared once for many samples. */
typedef struct rlar_classify_plan {
    rlar_classifier kind;
    rlar_references refs; /* compared with: the caller's, a scaled copy, or the class means */
    rlar_nearest nearest;
    double *z; /* owned: the copy or the means, or NULL */
    int32_t *z_class;
} rlar_classify_plan;

/* Prepare for m samples in all. The references stay the caller's and must outlive the plan.
 * neighbours: for the knn kinds; 0: 5. For one sample nothing is taken that grows with the
 * references. */
rlar_status rlar__classify_open(rlar_ctx *ctx, rlar_classifier kind, int64_t neighbours,
                                const rlar_references *refs, int64_t m, rlar_classify_plan *out);
void rlar__classify_close(rlar_classify_plan *plan);

/* Classify m samples q (p x m, one column each). classes[m]; scores (c x m) or NULL. Ties go to the
 * lower reference index (1nn), the lower class index (centroid, argmax), and equal votes (knn) to
 * the class whose nearest member is nearer, then to the lower class. The -cosine kinds are the same
 * on samples and references that were first scaled to length 1, where the squared distance is 2 - 2
 * cos; one of length 0 stays as it is. Same bits for any number of threads and any blocking. */
rlar_status rlar__classify(rlar_ctx *ctx, const rlar_classify_plan *plan, const double *q,
                           int64_t m, int64_t *classes, double *scores);

#endif
