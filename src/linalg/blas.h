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
/* Lower triangle of C (n x n) = alpha op(A) op(A)^T + beta C, op(A) n x k. */
void rlar__syrk(rlar_op op, int64_t n, int64_t k, double alpha, const double *a, int64_t lda,
                double beta, double *c, int64_t ldc);
/* y (m) = A x + beta y, A m x n. */
void rlar__gemv(int64_t m, int64_t n, const double *a, int64_t lda, const double *x, double beta,
                double *y);
/* B (m x n) <- op(L)^-1 B, L lower triangular (m x m). */
void rlar__trsm_left(rlar_op op, int64_t m, int64_t n, const double *l, int64_t ldl, double *b,
                     int64_t ldb);
/* B (m x n) <- B L^-T, L lower triangular (n x n). */
void rlar__trsm_right(int64_t m, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb);
/* B (m x n) <- B L, L lower triangular (n x n). */
void rlar__trmm_right(int64_t m, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb);
/* Cholesky of the lower triangle; 0 = done, i > 0: pivot i failed. */
int rlar__potrf(int64_t n, double *a, int64_t lda);
/* Inverse (lower triangle) from the factor. */
void rlar__potri(int64_t n, double *l, int64_t lda);

/* Lower triangle of C (side x side) = alpha op(A) op(B)^T + beta C, known to be symmetric, over
 * `inner`; A and B may be the same. Parallel over panels of columns (gram.c). */
typedef struct rlar_triangle {
    rlar_op op;
    int64_t side, inner;
    double alpha, beta;
    const double *a, *b;
    int64_t ld;
    double *c;
    int64_t ldc;
} rlar_triangle;
rlar_status rlar__triangle(rlar_ctx *ctx, const rlar_triangle *triangle);
/* One of its panels, the first ones on the left and the longest; and how many there are. A panel is
 * at least 128 columns wide where there are two. */
void rlar__triangle_panel(const rlar_triangle *t, int64_t index);
int64_t rlar__triangle_panels(const rlar_triangle *t);

/* Keep the lower triangle of a (n x n) in its strict upper one and in diag (n), for another try;
 * and bring it back, with ridge added to the diagonal (chol.c). */
rlar_status rlar__lower_keep(rlar_ctx *ctx, int64_t n, double *a, double *diag);
void rlar__lower_restore(int64_t n, double *a, const double *diag, double ridge);

/* The orthogonal factor (m x m, from its first n columns) of the QR decomposition by Householder of
 * those columns, in place; tau has m numbers, work `lwork`, m at least. */
void rlar__orthogonal_factor(int64_t m, int64_t n, double *a, double *tau, double *work,
                             int64_t lwork);

/* The eigenvalues from number `first` (1 = smallest) up, ascending, and their vectors; 0 = done.
 * NULL work: only the sizes wanted go to *lwork, *liwork. */
typedef struct rlar_syevr {
    int64_t n, first;
    double *a, *values, *vectors; /* n x n lower, n, n x (n - first + 1) */
    double *work;
    int *isuppz, *iwork;
    int lwork, liwork;
} rlar_syevr;
int rlar__syevr(rlar_syevr *e);

/* Thin SVD; 0 = done. NULL work: the size wanted goes to lwork. */
typedef struct rlar_gesdd {
    int64_t m, n;
    double *a, *u, *s, *vt; /* u, vt NULL: values only */
    double *work;
    int *iwork; /* 8 min(m, n) */
    int lwork;
} rlar_gesdd;
int rlar__gesdd(rlar_gesdd *g);

#endif
