/* centre.h - the mean of the samples, and what of them varies. Sums go over the samples of all
 * ranks; with partial sums that have no blocks all are here. */
#ifndef RLAR_CENTRE_H
#define RLAR_CENTRE_H

#include "core/core.h"
#include "linalg/cost.h"

void rlar__mean(const double *x, int64_t d, int64_t n, double *mean);
/* The mean (d), and Xc = X - mean 1^T (d x n). */
void rlar__centre(const double *x, int64_t d, int64_t n, double *mean, double *xc);

/* The same over all ranks. first (d): the first sample of all, on the way. Partial sums of d x 1 at
 * least. */
rlar_status rlar__mean_samples(rlar_ctx *ctx, const rlar_partials *partials, const double *x,
                               int64_t d, int64_t n, double *first, double *mean);
rlar_status rlar__centre_samples(rlar_ctx *ctx, const rlar_partials *partials, const double *x,
                                 int64_t d, int64_t n, double *first, double *mean, double *xc);
/* The features of which not all samples have the same value, into feature (d); *count: how many.
 * first (d): as above. */
rlar_status rlar__varying(rlar_ctx *ctx, const rlar_partials *partials, const double *x, int64_t d,
                          int64_t n, double *first, int64_t *feature, int64_t *count);
/* What ranks say in any of these three; added. */
void rlar__centre_talk(int64_t d, rlar_exchange *out);
/* Rows 0 .. f-1 of a (f x q) become the rows `feature` of w (d x q), the others zero; w may be a.
 */
void rlar__spread_rows(int64_t d, int64_t f, const int64_t *feature, int64_t q, const double *a,
                       double *w);

#endif
