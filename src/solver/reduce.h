/* reduce.h - the lossless reduction that the spectral methods start with. */
#ifndef RLAR_REDUCE_H
#define RLAR_REDUCE_H

#include "core/core.h"

/* Thin SVD of the centred samples, Xc = V diag(s) U^T, with the numerical null space left out.
 * Everything a method does with scatters of Xc can be done with Z = V^T Xc, r x n, and taken back
 * by W = V Q: no d x d matrix for n < d. */
typedef struct rlar_reduced {
    int64_t d, n, r;
    double *mean; /* d */
    double *v;    /* d x r, orthonormal columns */
    double *s;    /* r singular values, descending, > 0 */
    double *z;    /* r x n; column i is V^T (x_i - mean), and z_i / s is row i of U */
} rlar_reduced;

/* The mean (d), and Xc = X - mean 1^T (d x n). */
void rlar__centre(const double *x, int64_t d, int64_t n, double *mean, double *xc);
/* RLAR_E_DATA when all samples are equal (r = 0). */
rlar_status rlar__reduce(rlar_ctx *ctx, const double *x, int64_t d, int64_t n, rlar_reduced *out);
void rlar__reduce_free(rlar_reduced *reduced);
/* W (d x q) = V Q for Q (r x q), signs fixed by rlar__fix_signs, and b = -W^T mean, so that outputs
 * are centred. */
rlar_status rlar__reduce_back(rlar_ctx *ctx, const rlar_reduced *reduced, int64_t q,
                              const double *coefficients, double *w, double *b);
/* b (q) = -W^T mean. */
void rlar__reduce_offset(const rlar_reduced *reduced, int64_t q, const double *w, double *b);
/* Bytes that a reduction holds at its peak, and operations by way of the Gram matrix. */
int64_t rlar__reduce_bytes(int64_t d, int64_t n);
double rlar__reduce_flops(int64_t d, int64_t n);

#endif
