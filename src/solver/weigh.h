/* weigh.h - the samples as the primal form of wsolve.h needs them, some at a time. */
#ifndef RLAR_WEIGH_H
#define RLAR_WEIGH_H

#include "solver/wsolve.h"

/* Samples first .. last-1: xc = X - mu and bx = Xc (D + beta L), both d x (last - first). errands:
 * where neighbours may lie on other ranks, which make the same number of calls or more. */
rlar_status rlar__weigh(rlar_ctx *ctx, const rlar_wproblem *problem, const double *mu,
                        int64_t first, int64_t last, rlar_errands *errands, double *xc, double *bx);

/* Are all classes small enough for the form by roots, or is there no graph? */
bool rlar__weigh_roots(const rlar_wproblem *problem);
/* Where portions may be cut in that form: between classes, at or before sample `at`, or (up) at or
 * after it. */
int64_t rlar__weigh_cut(const rlar_wproblem *problem, int64_t at, bool up);
/* Samples first .. last-1, whole classes: y = Xc C, d x (last - first), and tw (c x n, D Tc; may be
 * NULL) of these samples is multiplied by C^-1. blocks: room for d numbers per sample. */
rlar_status rlar__weigh_root(rlar_ctx *ctx, const rlar_wproblem *problem, const double *mu,
                             int64_t first, int64_t last, double *y, double *blocks, double *tw);

/* The lower triangle of N = D + beta L for the class start .. end-1, added to block (ld). */
void rlar__class_weights(const rlar_wproblem *problem, int64_t start, int64_t end, double *block,
                         int64_t ld);
/* RLAR_E_NUMERIC, with the text for an N that cannot be factorised. */
rlar_status rlar__weights_fail(rlar_ctx *ctx);

#endif
