/* least.h - least squares of least norm on centred samples, one step. */
#ifndef RLAR_LEAST_H
#define RLAR_LEAST_H

#include "linalg/linalg.h"
#include "solver/reduce.h"

/* W (d x p) of least norm among the minimisers of ||W^T Xc - E||_F, for E (p x n) whose rows sum to
 * zero and the samples in any form of reduce.h. step (r x p) is scratch; the partial sums are for n
 * samples and r x p. */
rlar_status rlar__least_step(rlar_ctx *ctx, const rlar_reduced *reduced,
                             const rlar_partials *partials, int64_t p, const double *e,
                             double *step, double *w);
/* The most rows of step. */
int64_t rlar__least_rows(int64_t d, int64_t n);

#endif
