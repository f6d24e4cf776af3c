/* scatter.h - class means, scatter matrices and the eigenproblem on them, for samples grouped by
 * class: class i is the columns first[i] .. first[i+1]-1 of z (r x n). Usually z comes from
 * rlar__reduce, where S_t = diag(s^2). Matrices are lower triangles; a factor F stands for F F^T.
 */
#ifndef RLAR_SCATTER_H
#define RLAR_SCATTER_H

#include "core/core.h"
#include "solver/reduce.h"

/* means (r x c): column i is the mean m_i of class i. */
void rlar__class_means(int64_t r, int64_t c, const int64_t *first, const double *z, double *means);

/* h (r x c): column i is sqrt(n_i) (m_i - m), so that S_b = H H^T; over the samples of all ranks,
 * as all that takes blocks (NULL: all are here). */
rlar_status rlar__between_factor(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t r, int64_t c,
                                 const int64_t *first, const double *z, double *h);
/* h (r x n): column j is z_j - m_i for sample j of class i, so that S_w = H H^T. h may be z. */
rlar_status rlar__within_factor(rlar_ctx *ctx, int64_t r, int64_t c, const int64_t *first,
                                const double *z, double *h);
/* Both for directions instead of differences (ALDE): column j of `within` is
 * (z_j - m_i) / ||z_j - m_i|| / sqrt(n), column i of `between` is sqrt(n_i / n) (m_i - m) / ||m_i -
 * m||, so that both scatters have trace 1. A difference of at most 1e-12 max_j ||z_j - m|| has no
 * direction: it gives a zero column and is not counted in its n. `within` may be z. */
rlar_status rlar__direction_factors(rlar_ctx *ctx, int64_t r, int64_t c, const int64_t *first,
                                    const double *z, double *within, double *between);
/* H_b in the whitened coordinates of the first `rank` directions of a reduction (rank x c): column
 * i is sqrt(n_i) diag(1 / sqrt(s^2 + ridge)) m_i. There S_t + ridge I is the identity. */
rlar_status rlar__between_white(rlar_ctx *ctx, const rlar_reduced *reduced, int64_t rank,
                                double ridge, int64_t c, const int64_t *first, double *h);

/* Both in one pass over X (r x n) with the given mean, without a copy of it: `both` (r x (r + c))
 * is S_t (lower triangle) and, from column r on, H_b. n r^2 operations. */
rlar_status rlar__total_between(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t r, int64_t c,
                                const int64_t *first, const double *x, const double *mean,
                                double *both);
/* Bytes that it takes at the most. */
double rlar__total_between_bytes(const rlar_blocks *blocks, int64_t r, int64_t c, int64_t n);

/* What ranks say in one of rlar__between_factor and rlar__between_white, of r numbers for each
 * class, and in rlar__total_between; added. */
void rlar__between_talk(int64_t r, int64_t c, rlar_exchange *out);
void rlar__total_between_talk(int64_t r, int64_t c, rlar_exchange *out);

/* S = F F^T (lower triangle, r x r) of a factor F with k columns. Costs k r^2. */
rlar_status rlar__scatter(rlar_ctx *ctx, int64_t r, int64_t k, const double *f, double *s);

/* W (d x q) = V times the leading q eigenvectors of the symmetric matrix m (r x r, destroyed), and
 * b = -W^T mean. W^T W = I. values: q eigenvalues, descending, or NULL. */
rlar_status rlar__scatter_top(rlar_ctx *ctx, const rlar_reduced *reduced, double *m, int64_t q,
                              double *values, double *w, double *b);

#endif
