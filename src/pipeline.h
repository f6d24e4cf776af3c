/* pipeline.h - what fit.c and predict.c share; both stand above all folders, and nothing below
 * includes this. */
#ifndef RLAR_PIPELINE_H
#define RLAR_PIPELINE_H

#include "core/core.h"

/* Larger values overflow when squared, summed and multiplied by the weights 1/eps. */
#define RLAR_LARGEST 1e100

/* n rounded up to whole tasks of rlar__project. */
int64_t rlar__padded(int64_t n);
/* "feature 3" or "feature 3 (ash)". */
const char *rlar__feature_text(const rlar_data *data, int64_t j, char *buf, size_t size);
/* Refuse a sample that is not finite, naming it. */
rlar_status rlar__check_row(rlar_ctx *ctx, const rlar_data *data, int64_t row, const double *x);
/* z (p x n) += b to every column. */
void rlar__add_offset(int64_t p, int64_t n, const double *b, double *z);

#endif
