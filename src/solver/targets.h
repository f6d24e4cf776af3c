/* targets.h - targets and outputs of the regression methods. Samples are columns: T and Y are c x
 * n.
 */
#ifndef RLAR_TARGETS_H
#define RLAR_TARGETS_H

#include "core/core.h"
#include "linalg/linalg.h"

/* T: 1 in the row of the sample's class, else 0. */
void rlar__targets_one_hot(int64_t c, int64_t n, const int32_t *label, double *t);
/* Y (p x n) = W^T X + b 1^T; b NULL: without it. blocks of the samples, or NULL: all are here. */
rlar_status rlar__targets_outputs(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t p, int64_t n,
                                  int64_t d, const double *w, const double *b, const double *x,
                                  double *y);
/* value (n): ||y_i - t_i||^2. */
void rlar__targets_squares(int64_t p, int64_t n, const double *y, const double *t, double *value);
/* Their sum over the samples of all ranks; blocks NULL: all are here. */
rlar_status rlar__targets_loss(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t p, int64_t n,
                               const double *y, const double *t, double *value, double *out);

#endif
