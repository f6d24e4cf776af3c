/* pipeline.h - the steps behind rlar_fit and rlar_predict, for callers that fit many models to the
 * same samples: the training part and the test part are prepared once and then read-only, so that
 * any number of threads may share them. Stands above all folders; of these only eval, which sees
 * methods through it, includes it. */
#ifndef RLAR_PIPELINE_H
#define RLAR_PIPELINE_H

#include "core/core.h"
#include "data/scale.h"

/* Larger values overflow when squared, summed and multiplied by the weights 1/eps. */
#define RLAR_LARGEST 1e100

/* ---- The training part (training.c): one choice of samples and of scaling ---- */

typedef struct rlar_training rlar_training;

/* Group the samples by class, scale and check them. Refuses before anything large is taken when a
 * fit with these parameters would not fit into the memory limit. at_once: how many fits may be
 * under way, here and elsewhere, when one decides whether there is room to share something. */
rlar_status rlar__training_new(rlar_ctx *ctx, const rlar_data *data,
                               const rlar_fit_options *options, const rlar_params *params,
                               int at_once, rlar_training **out);
/* The same, and missing values become the means of these samples. */
rlar_status rlar__training_filled(rlar_ctx *ctx, const rlar_data *data,
                                  const rlar_fit_options *options, const rlar_params *params,
                                  int at_once, rlar_training **out);
/* The same for one fit that may overwrite the samples: where they lie in the order of a fit they
 * are scaled in place. */
rlar_status rlar__training_take(rlar_ctx *ctx, rlar_data *data, const rlar_fit_options *options,
                                const rlar_params *params, rlar_training **out);
void rlar__training_free(rlar_training *training);
/* Is there room for a fit with these parameters? Asked before anything large is taken. */
rlar_status rlar__training_room(rlar_ctx *ctx, const rlar_training *training,
                                const rlar_params *params);
/* Let the method prepare what `fits` fits of it have in common (rlar_method.prepare). Fits do not
 * depend on it: where it fails, or the memory limit leaves no room, they do without. Only
 * RLAR_E_CANCELLED is an error. */
rlar_status rlar__training_share(rlar_ctx *ctx, rlar_training *training, const rlar_params *params,
                                 int64_t fits);
/* The class of the data behind class i of the models. */
int64_t rlar__training_class(const rlar_training *training, int64_t i);

/* ---- The fit (fit.c) ---- */

/* A model without names and scaling: the same numbers as rlar_fit's. start: a model of the same
 * training part to start from, or NULL. */
rlar_status rlar__fit_training(rlar_ctx *ctx, const rlar_training *training,
                               const rlar_params *params, const rlar_model *start, rlar_model **out,
                               rlar_info *info);
/* The parameter along which fits of a grid should follow each other, or NULL: in any order. */
const char *rlar__fit_path(const rlar_params *params);

/* ---- The test part (predict.c) ---- */

typedef struct rlar_tests {
    const rlar_data *data;
    const rlar_training *training; /* whose scaling is applied */
    const int64_t *rows;           /* n samples */
    int64_t n;
    double *x; /* d x n scaled, padded with zero columns; NULL: scaled block by block at each use */
} rlar_tests;

/* Scale the samples once, unless they are many or the memory limit leaves no room. Errors are left
 * for the prediction to find, but RLAR_E_CANCELLED. */
rlar_status rlar__tests_scale(rlar_ctx *ctx, rlar_tests *tests);
void rlar__tests_free(rlar_tests *tests);
/* Classes (of the model) of the n samples, as by rlar_predict. */
rlar_status rlar__tests_predict(rlar_ctx *ctx, const rlar_tests *tests, const rlar_model *model,
                                const rlar_method_def *method, const char *classifier,
                                int64_t neighbours, int64_t *classes);

/* rlar_params_copy and rlar_params_set within a call: an old error or cancellation stays. */
rlar_status rlar__fit_params_copy(rlar_ctx *ctx, const rlar_params *params, rlar_params **out);
rlar_status rlar__fit_params_set(rlar_ctx *ctx, rlar_params *params, const char *name,
                                 const char *value);

/* ---- Shared by the three files ---- */

/* The scaling that the training part has learned. */
const rlar_scaling *rlar__training_scaling(const rlar_training *training);
/* May `bytes` be taken for sharing, so that the fits under way can still end? */
bool rlar__training_spares(const rlar_ctx *ctx, const rlar_training *training, double bytes);
/* "feature 3" or "feature 3 (ash)". */
const char *rlar__feature_text(const rlar_data *data, int64_t j, char *buf, size_t size);
/* Refuse a sample that is not finite, naming it. */
rlar_status rlar__check_row(rlar_ctx *ctx, const rlar_data *data, int64_t row, const double *x);
/* z (p x n) += b to every column. */
void rlar__add_offset(int64_t p, int64_t n, const double *b, double *z);

#endif
