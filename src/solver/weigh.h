/* weigh.h - the samples as the primal form of wsolve.h needs them, some at a time. */
#ifndef RLAR_WEIGH_H
#define RLAR_WEIGH_H

#include "solver/wsolve.h"

/* Samples first .. last-1: xc = X - mu and bx = Xc (D + beta L), both d x (last - first). */
rlar_status rlar__weigh(rlar_ctx *ctx, const rlar_wproblem *problem, const double *mu,
                        int64_t first, int64_t last, double *xc, double *bx);

#endif
