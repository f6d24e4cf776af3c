/* reduce.h - the lossless reduction that the spectral methods start with. */
#ifndef RLAR_REDUCE_H
#define RLAR_REDUCE_H

#include "core/core.h"
#include "linalg/cost.h"

/* Thin SVD of the centred samples, Xc = V diag(s) U^T, with the numerical null space left out.
 * Everything a method does with scatters of Xc can be done with Z = V^T Xc, r x n, and taken back
 * by W = V Q: no d x d matrix for n < d. */
typedef struct rlar_reduced {
    int64_t d, n, r;           /* n: samples here */
    const rlar_blocks *blocks; /* for sums over those of all ranks; NULL: all are here */
    double *mean;              /* d */
    double *s;     /* r singular values, descending, > 0; NULL in a plain span or with a factor */
    double *z;     /* r x n; column i is V^T (x_i - mean), and z_i / s is row i of U */
    double *v;     /* d x r, orthonormal columns; NULL unless made by rlar__reduce */
    double *total; /* plain span: lower triangle of S_t = Z Z^T, r x r; else NULL */
    /* Instead of the singular values, where asked for and trusted: see rlar__span_factored. */
    double *factor, *scale;
    /* How V is held otherwise, for rlar__reduce_apply: on the f features that vary it is `basis`
     * (f x r), or Xc U diag(1/s) with xc (f x n) and u (n x r), or, in a plain span, I. */
    int64_t f, *feature;
    double *basis, *xc, *u;
} rlar_reduced;

/* All of it, with V. RLAR_E_DATA when all samples are equal (r = 0). */
rlar_status rlar__reduce(rlar_ctx *ctx, const double *x, int64_t d, int64_t n, rlar_reduced *out);
/* The same, but only the `most` largest singular values and their directions. */
rlar_status rlar__reduce_leading(rlar_ctx *ctx, const double *x, int64_t d, int64_t n, int64_t most,
                                 rlar_reduced *out);
/* The same as the first without V (v is NULL), which few methods need: rlar__reduce_apply stands
 * for it. This and the next three go over the samples of all ranks, if there are any: always by the
 * f x f matrix then; RLAR_E_NUMERIC where that does not do, because the SVD of samples that lie on
 * several ranks is not taken. blocks NULL: all samples are here. */
rlar_status rlar__reduce_lean(rlar_ctx *ctx, const rlar_blocks *blocks, const double *x, int64_t d,
                              int64_t n, rlar_reduced *out);
/* For methods that need some orthonormal basis of the range, not the singular directions. Where S_t
 * is far from singular (condition.h) that is the basis of the features: a plain span, Z = Xc, s and
 * v NULL, total set. Otherwise as rlar__reduce_lean. */
rlar_status rlar__span(rlar_ctx *ctx, const rlar_blocks *blocks, const double *x, int64_t d,
                       int64_t n, rlar_reduced *out);
/* The same with the Cholesky factor in the place of S_t: the lower triangle of `factor` (r x r) is
 * L with L L^T = diag(scale) S_t diag(scale), total is NULL. */
rlar_status rlar__span_factored(rlar_ctx *ctx, const rlar_blocks *blocks, const double *x,
                                int64_t d, int64_t n, rlar_reduced *out);
/* For least squares: the same for n > f + 1. Otherwise the factor (n x n) is that of Xc^T Xc lifted
 * by a multiple of 1 1^T, which has full rank where the samples are independent and does the same
 * to what sums to zero over the samples; then z is NULL, and V and r stand for Xc and n. */
rlar_status rlar__normal_factored(rlar_ctx *ctx, const rlar_blocks *blocks, const double *x,
                                  int64_t d, int64_t n, rlar_reduced *out);
void rlar__reduce_free(rlar_reduced *reduced);

/* W <- W (3 I - W^T W) / 2 for W (d x q) that is orthonormal up to a small error: squares it. */
rlar_status rlar__orthonormal_polish(rlar_ctx *ctx, int64_t d, int64_t q, double *w);

/* W (d x q) = V Q for Q (r x q). The outputs of the samples are Z^T Q to rounding; W^T W = Q^T Q up
 * to 2^-52 (s_1/s_r)^2 in the small directions. */
rlar_status rlar__reduce_apply(rlar_ctx *ctx, const rlar_reduced *reduced, int64_t q,
                               const double *coefficients, double *w);
/* The same, signs fixed by rlar__fix_signs, and b = -W^T mean, so that outputs are centred. */
rlar_status rlar__reduce_back(rlar_ctx *ctx, const rlar_reduced *reduced, int64_t q,
                              const double *coefficients, double *w, double *b);
/* The same for Q^T Q = I: W^T W = I to rounding. */
rlar_status rlar__reduce_orthonormal(rlar_ctx *ctx, const rlar_reduced *reduced, int64_t q,
                                     const double *coefficients, double *w, double *b);
/* b (q) = -W^T mean. */
void rlar__reduce_offset(const rlar_reduced *reduced, int64_t q, const double *w, double *b);
/* The sum of the eigenvalues of S_t; and s[0], for which the largest standard deviation (times
 * sqrt(n)) stands in a plain span: between s[0] / sqrt(r) and s[0]. */
double rlar__reduce_trace(const rlar_reduced *reduced);
double rlar__reduce_largest(const rlar_reduced *reduced);

/* Bytes at the peak of a reduction, of one to the `most` largest, of one without V or a span (the
 * SVD counts: it cannot be excluded); bytes that stay of the latter, with those for taking q
 * columns back; operations by way of the Gram matrix. */
int64_t rlar__reduce_bytes(int64_t d, int64_t n);
int64_t rlar__reduce_leading_bytes(int64_t d, int64_t n, int64_t most);
int64_t rlar__reduce_lean_bytes(int64_t d, int64_t n);
int64_t rlar__reduce_held(int64_t d, int64_t n, int64_t q);
double rlar__reduce_flops(int64_t d, int64_t n);
/* The most directions that n samples of all ranks have. */
static inline int64_t rlar__reduce_rank(int64_t d, int64_t n) {
    return rlar__min64(n - 1, d);
}
/* What ranks say in a reduction where all features vary and Cholesky, if it is tried, is trusted:
 * which features vary, the mean, the lower triangle of Xc Xc^T; added. */
void rlar__reduce_talk(int64_t d, rlar_exchange *out);

#endif
