/* model.h - what is inside an rlar_model. */
#ifndef RLAR_MODEL_H
#define RLAR_MODEL_H

#include "core/core.h"
#include "data/scale.h"

enum { RLAR_SCALE_TEXT = 64 }; /* what rlar__scaling_text() needs */

struct rlar_model {
    int64_t d, p, c, n; /* features, outputs, classes, references */
    double *w;          /* d x p */
    double *b;          /* p */
    double *z;          /* p x n: W'x + b of the training samples, grouped by class */
    int32_t *z_class;   /* n class indices */
    double *score;      /* d row norms of W; derived, not stored */
    rlar_scaling scaling;
    char scale_text[RLAR_SCALE_TEXT];     /* the scaling as text; derived */
    rlar_texts classes;                   /* c */
    rlar_texts features;                  /* d, or none */
    rlar_texts param_names, param_values; /* of the method */
    char *method, *version;
};

/* An empty model to be filled: arrays w, b, z, z_class, score are allocated for the sizes. */
rlar_status rlar__model_new(rlar_ctx *ctx, int64_t d, int64_t p, int64_t c, int64_t n,
                            rlar_model **out);
/* Fill what is derived, once all else is in place: score from w, scale_text from scaling. */
void rlar__model_scores(rlar_model *model);

#endif
