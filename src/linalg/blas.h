/* blas.h - the BLAS and LAPACK calls in use, for src/linalg only. All are single-threaded. */
#ifndef RLAR_BLAS_H
#define RLAR_BLAS_H

#include "linalg/linalg.h"

typedef enum rlar_op { RLAR_PLAIN, RLAR_TRANSPOSED } rlar_op;

/* C (m x n) = alpha op(A) op(B) + beta C, inner dimension k. Sizes of a tile or a block: below
 * 2^31. */
void rlar__gemm(rlar_op op_a, rlar_op op_b, int64_t m, int64_t n, int64_t k, double alpha,
                const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
                int64_t ldc);
/* B (m x n) <- op(L)^-1 B, L lower triangular (m x m). */
void rlar__trsm_left(rlar_op op, int64_t m, int64_t n, const double *l, int64_t ldl, double *b,
                     int64_t ldb);
/* B (m x n) <- B L^-T, L lower triangular (n x n). */
void rlar__trsm_right(int64_t m, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb);
/* Cholesky of the lower triangle; 0 = done, i > 0: pivot i failed. */
int rlar__potrf(int64_t n, double *a, int64_t lda);
/* Inverse (lower triangle) from the factor. */
void rlar__potri(int64_t n, double *l, int64_t lda);

#endif
