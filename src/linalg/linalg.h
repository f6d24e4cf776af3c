/* linalg.h - the matrix operations that methods are written in. The only folder that names BLAS or
 * LAPACK; everything above calls these.
 *
 * Matrices are column by column with a leading dimension. Samples are columns: X is d x n; T, Y, Z
 * are c x n (the transposes of the paper's), so that a sample's values are contiguous. W is d x p.
 *
 * Same bits for any number of threads: work is split over tiles of the output, every tile is made
 * by one single-threaded BLAS call per block, and a sum over samples is cut into blocks of
 * RLAR_SUM_BLOCK whose partial sums are added in a fixed binary tree (see tree.c). */
#ifndef RLAR_LINALG_H
#define RLAR_LINALG_H

#include <float.h>

#include "core/core.h"

enum {
    RLAR_SUM_BLOCK = 2048, /* samples per block of a split sum; never depends on threads or ranks */
    RLAR_COLUMNS = 64      /* samples, or right-hand sides, per task; see rlar__project */
};

/* Loops that are worth the widest vectors of the machine: compiled for each, chosen when the
 * program is loaded. The lanes are written out in the loops and products are not fused with sums
 * (-ffp-contract=off), so the bits are the same in every version. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__OPTIMIZE__) &&                      \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define RLAR_SIMD __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RLAR_SIMD
#endif

/* Eight numbers side by side, anywhere in memory; one register or several, as the machine has. */
typedef double rlar_lanes __attribute__((vector_size(64), aligned(8), may_alias));

/* ---- BLAS (blas.c) ---- */

/* Load the library on first use, and see that the system has room for its buffers and for the bytes
 * that the caller is going to take beside them. Every public call that computes starts with it, but
 * for prediction, whose parts call it when they need it: loading takes longer than a small
 * prediction. */
rlar_status rlar__blas_open(rlar_ctx *ctx, int64_t beside);

/* ---- Sums over samples in a fixed order, over all ranks (tree.c) ---- */

/* Which systems ranks solve together (system.c): those of order `least` or more. */
typedef struct rlar_spread {
    int rank, ranks;
    int64_t least; /* 0: none */
} rlar_spread;

/* How the samples of a fit, grouped by class, are cut for sums: into blocks of whole classes, as
 * many as RLAR_SUM_BLOCK samples hold; a class that is larger is cut by itself. A rank holds some
 * neighbouring blocks. */
typedef struct rlar_blocks {
    int64_t n;             /* samples here */
    int64_t c;             /* classes */
    const int64_t *first;  /* c + 1: where they begin among the samples of all ranks */
    int64_t start;         /* where the samples here do */
    int64_t before, total; /* blocks before those here, and in all */
    bool ranks;            /* others are elsewhere, perhaps all of them */
    const int64_t *cut;    /* holders + 1: where the samples of each rank begin; NULL: not known */
    int holders;           /* ranks */
    rlar_spread spread;
} rlar_blocks;

/* All samples are here. */
void rlar__blocks_init(int64_t c, const int64_t *first, rlar_blocks *out);
/* Only those from .. to-1 are, the others on other ranks. False: these are no ends of blocks. */
bool rlar__blocks_share(rlar_blocks *blocks, int64_t from, int64_t to);
/* Of all ranks. */
static inline int64_t rlar__blocks_samples(const rlar_blocks *blocks) {
    return blocks->first[blocks->c];
}
/* The end of the block that begins with sample `start`; both counted from the first one here. */
int64_t rlar__block_end(const rlar_blocks *blocks, int64_t start);
/* Ranges of at most `width` samples on all threads, as rlar__parallel_ranges, but they end with the
 * blocks: a product by the BLAS has other bits for a sample that stands elsewhere in its operand.
 * blocks NULL: there are no other ranks, and no ends but the last. */
rlar_status rlar__parallel_blocks(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t n,
                                  int64_t width, rlar_range_task task, void *arg);
/* The class i with start[i] <= t < start[i+1], of c. */
int64_t rlar__class_of(const int64_t *start, int64_t c, int64_t t);

/* As many parts as halving takes until none has more than `most`: a power of two. */
static inline int64_t rlar__halved(int64_t size, int64_t most) {
    int64_t parts = 1;
    while (size > parts * most)
        parts *= 2;
    return parts;
}

/* Buffers for sums of matrices of up to rows x cols. */
typedef struct rlar_partials {
    int levels; /* buffers: log2 of the number of blocks, 0 when one block holds all samples */
    int64_t size;
    double *stack;
    const rlar_blocks *blocks; /* NULL: blocks of RLAR_SUM_BLOCK, all of them here */
    double *piece;             /* of a message to another rank; NULL: there is none */
} rlar_partials;

/* For sums over n things that all ranks have, or a fit has alone. */
void rlar__partials_carve(rlar_workspace *ws, int64_t n, int64_t rows, int64_t cols,
                          rlar_partials *out);
/* For sums over the samples of all ranks; blocks NULL: the same as above. */
void rlar__partials_carve_samples(rlar_workspace *ws, const rlar_blocks *blocks, int64_t n,
                                  int64_t rows, int64_t cols, rlar_partials *out);
/* The end of the block that begins at `start`, of n samples here. */
int64_t rlar__partials_end(const rlar_partials *partials, int64_t n, int64_t start);

/* Some neighbouring blocks that are summed: 2^level from `first` on. */
typedef struct rlar_node {
    int64_t first, level;
} rlar_node;

enum { RLAR_TREE_NODES = 128 }; /* pending at once: two for each level at most */

/* One sum on its way: for each block take a leaf, fill it (it holds anything), merge; then end,
 * after which all ranks have the result. Of the first `triangle` columns only the lower triangle is
 * added. */
typedef struct rlar_tree {
    const rlar_partials *partials;
    int64_t rows, cols, triangle;
    double *result;
    int64_t block; /* the number of the next */
    int top;
    rlar_node node[RLAR_TREE_NODES]; /* pending */
} rlar_tree;

rlar_tree rlar__tree_begin(const rlar_partials *partials, int64_t rows, int64_t cols,
                           int64_t triangle, double *result);
double *rlar__tree_leaf(rlar_tree *tree);
rlar_status rlar__tree_merge(rlar_ctx *ctx, rlar_tree *tree);
rlar_status rlar__tree_end(rlar_ctx *ctx, rlar_tree *tree);
/* The same, but rank 0 alone has the result; on the others it holds anything. */
rlar_status rlar__tree_end_first(rlar_ctx *ctx, rlar_tree *tree);
/* The sum of a number for each of the n samples here, over all ranks. blocks NULL: as above. */
rlar_status rlar__sum_samples(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t n, const double *x,
                              double *out);
/* The sums of `count` numbers at once: sums(arg, start, end, out) makes those of the samples
 * start .. end-1 here, which are one block. */
enum { RLAR_MOST_SUMS = 4 };
typedef void (*rlar_block_sums)(void *arg, int64_t start, int64_t end, double *out);
rlar_status rlar__sum_blocks(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t n, int64_t count,
                             rlar_block_sums sums, void *arg, double *out);

/* ---- Products (gram.c) ---- */

/* Lower triangle of C (d x d, ldc) = A B^T, where A, B are d x n and the product is known to be
 * symmetric. Costs n d^2. */
rlar_status rlar__gram_outer(rlar_ctx *ctx, const rlar_partials *partials, int64_t d, int64_t n,
                             const double *a, const double *b, double *c);
/* The same as a sum that has begun and that the caller ends. */
rlar_status rlar__gram_blocks(rlar_ctx *ctx, rlar_tree *tree, int64_t d, int64_t n, const double *a,
                              const double *b);
/* The same for the samples of one block, into or (not `first`) onto C. */
rlar_status rlar__gram_add(rlar_ctx *ctx, int64_t d, int64_t n, const double *a, const double *b,
                           bool first, double *c);
/* C (d x p) = A B^T, where A is d x n and B is p x n (moments: X T). */
rlar_status rlar__moments(rlar_ctx *ctx, const rlar_partials *partials, int64_t d, int64_t p,
                          int64_t n, const double *a, const double *b, double *c);
rlar_status rlar__moments_add(rlar_ctx *ctx, int64_t d, int64_t p, int64_t n, const double *a,
                              const double *b, bool first, double *c);
/* Lower triangle of C (n x n) += A^T B, where A, B are d x n; symmetric likewise. */
rlar_status rlar__gram_inner(rlar_ctx *ctx, int64_t n, int64_t d, const double *a, const double *b,
                             double *c);
/* C (p x n) = A^T B, where A is d x p and B is d x n (project samples: Z = W^T X). A column of C
 * has the same bits wherever it stands, as long as n is a multiple of RLAR_COLUMNS. */
rlar_status rlar__project(rlar_ctx *ctx, int64_t p, int64_t n, int64_t d, const double *a,
                          const double *b, double *c);
/* The same where B is the samples here of all ranks; blocks NULL: all are here. */
rlar_status rlar__project_samples(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t p, int64_t n,
                                  int64_t d, const double *a, const double *b, double *c);
/* C (d x p) = A B, where A is d x n and B is n x p (back to features: W = X A). */
rlar_status rlar__multiply(rlar_ctx *ctx, int64_t d, int64_t p, int64_t n, const double *a,
                           const double *b, double *c);
/* One single-threaded C (m x n) = A^T B with A (k x m), B (k x n): for use inside a task. */
void rlar__tile_inner(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                      const double *b, int64_t ldb, double *c, int64_t ldc);

/* Likewise the lower triangle of C (d x d) = A A^T or, not `first`, C + A A^T, A d x n. */
void rlar__tile_square(int64_t d, int64_t n, const double *a, bool first, double *c);

/* The same of A (m x k) and B (k x n): C = A B. */
void rlar__tile_product(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                        const double *b, int64_t ldb, double *c, int64_t ldc);

/* ---- The outputs of a model (embed.c) ---- */

/* Z (p x n) = W^T X, where W is d x p and X is d x n. A column of Z has the same bits wherever it
 * stands and whatever stands beside it. n is a multiple of rlar__embed_width(p, d), a divisor of
 * RLAR_COLUMNS: pad with zeros. Opens the BLAS where it needs it. */
rlar_status rlar__embed(rlar_ctx *ctx, int64_t p, int64_t n, int64_t d, const double *w,
                        const double *x, double *z);
int64_t rlar__embed_width(int64_t p, int64_t d);
/* n rounded up to whole tasks, whatever the width. */
static inline int64_t rlar__padded(int64_t n) {
    return (n + RLAR_COLUMNS - 1) / RLAR_COLUMNS * RLAR_COLUMNS;
}

/* ---- Symmetric positive definite systems (chol.c) ---- */

/* Factor the SPD matrix (n x n) given by its lower triangle, in place: lower triangle = L; the
 * strict upper triangle and diag (n doubles) keep a copy. When a pivot fails, 1e-12 trace/n is
 * added to the diagonal and ten times more at each retry; *ridged counts the retries.
 * RLAR_E_NUMERIC after 12 of them. */
rlar_status rlar__chol_factor(rlar_ctx *ctx, int64_t n, double *a, double *diag, int *ridged);
/* The same without the copy: `rebuild` makes the lower triangle of a again when a pivot failed. */
typedef rlar_status (*rlar_rebuild)(rlar_ctx *ctx, void *arg);
rlar_status rlar__chol_factor_by(rlar_ctx *ctx, int64_t n, double *a, rlar_rebuild rebuild,
                                 void *arg, int *ridged);
/* What both are made of, for a factorisation of any kind: attempt, and where the matrix is not
 * positive definite (*failed) rebuild a, add to its diagonal a share of the trace, *added in the
 * end, and attempt again. */
typedef rlar_status (*rlar_attempt)(rlar_ctx *ctx, void *arg, bool *failed);
typedef struct rlar_guard {
    int64_t n;
    double *a; /* n x n */
    double trace;
    rlar_attempt attempt;
    void *attempted;
    rlar_rebuild rebuild;
    void *rebuilt;
} rlar_guard;
rlar_status rlar__guarded(rlar_ctx *ctx, const rlar_guard *guard, double *added, int *ridged);
double rlar__trace(int64_t n, const double *a);
/* B (n x p) <- (L L^T)^-1 B. */
rlar_status rlar__chol_solve(rlar_ctx *ctx, int64_t n, int64_t p, const double *l, double *b);
/* Half of it, for many columns: B <- L^-1 B, B <- L^-T B. */
rlar_status rlar__chol_forward(rlar_ctx *ctx, int64_t n, int64_t p, const double *l, double *b);
rlar_status rlar__chol_backward(rlar_ctx *ctx, int64_t n, int64_t p, const double *l, double *b);
/* Inside a task, single-threaded: factor (false: not positive definite), solve, and the inverse
 * (lower triangle) from the factor. */
bool rlar__chol_small(int64_t n, double *a, int64_t lda);
void rlar__chol_small_solve(int64_t n, int64_t p, const double *l, int64_t lda, double *b,
                            int64_t ldb);
void rlar__chol_small_inverse(int64_t n, double *l, int64_t lda);
/* With the factor L: B (m x n) <- B L, and T (m x n) <- T L^-T. */
void rlar__chol_small_times(int64_t n, const double *l, int64_t lda, int64_t m, double *b,
                            int64_t ldb);
void rlar__chol_small_over(int64_t n, const double *l, int64_t lda, int64_t m, double *t,
                           int64_t ldt);

/* ---- Systems that are sums over samples (system.c) ---- */

/* A symmetric positive definite system, the sum of what the samples of all ranks add to it. Every
 * rank has it and factors it; or, where it is so large that blocks->spread says so, rank 0 has the
 * sum, gives each rank its tiles, and all factor it together (rlar_tiles). */
typedef struct rlar_system {
    int64_t n;
    double *m;        /* n x n: the lower triangle, then its factor; or the tiles of this rank */
    double added;     /* to the diagonal, when a pivot had failed */
    rlar_tiles tiles; /* block 0: every rank has all of it */
    double *b, *piece;
} rlar_system;

/* blocks NULL: there is one rank. p: right-hand sides of a solve. */
void rlar__system_carve(rlar_workspace *ws, const rlar_blocks *blocks, int64_t n, int64_t p,
                        rlar_system *out);
/* What m is the sum of: a tree with m as its result ends. Then the caller may add to the diagonal,
 * on every rank alike, and factor; rebuild as in rlar__chol_factor_by. */
rlar_status rlar__system_end(rlar_ctx *ctx, const rlar_system *system, rlar_tree *tree);
rlar_status rlar__system_factor(rlar_ctx *ctx, rlar_system *system, rlar_rebuild rebuild, void *arg,
                                int *ridged);
/* B (n x p), the same on all ranks, becomes the solutions. */
rlar_status rlar__system_solve(rlar_ctx *ctx, const rlar_system *system, double *b);
static inline bool rlar__system_spread(const rlar_system *system) {
    return system->tiles.block > 0;
}
/* For forecasts: how the system of order n is dealt out, with block 0 where it is not, and how many
 * numbers of the lower triangle a rank gets. */
rlar_tiles rlar__tiles_of(const rlar_spread *spread, int rank, int64_t n, int64_t p);
int64_t rlar__tiles_lower(const rlar_tiles *tiles, int rank);

/* ---- Eigenvalues and singular values (eig.c). Where no room is given it comes from the context.
 * ---- */

/* The q algebraically largest eigenvalues, descending, and orthonormal eigenvectors (n x q) of the
 * symmetric matrix in the lower triangle of a (n x n, destroyed). Signs by rlar__fix_signs. values
 * may be NULL. */
rlar_status rlar__eig_top(rlar_ctx *ctx, int64_t n, double *a, int64_t q, double *values,
                          double *vectors);
/* The same in room for order n or more, so that a loop takes no memory. `all` is NULL after
 * carving; a caller with room for n x n numbers may set it: the rare second try takes memory
 * without. */
typedef struct rlar_eig_room {
    int64_t n;
    double *found, *diag, *work;
    int *iwork, *isuppz;
    double *all;
} rlar_eig_room;
void rlar__eig_carve(rlar_workspace *ws, int64_t n, rlar_eig_room *room);
rlar_status rlar__eig_top_in(rlar_ctx *ctx, const rlar_eig_room *room, int64_t n, double *a,
                             int64_t q, double *values, double *vectors);
/* A x = lambda B x with B positive definite: the q largest lambda, descending, and x (n x q) with
 * x^T B x = 1. Lower triangles; a is destroyed, b becomes its Cholesky factor. *ridged as in
 * rlar__chol_factor. */
rlar_status rlar__eig_general(rlar_ctx *ctx, int64_t n, double *a, double *b, int64_t q,
                              double *values, double *vectors, int *ridged);
/* Thin singular value decomposition A = U diag(s) V^T of A (m x n, destroyed), k = min(m, n): u is
 * m x k, s has k entries, descending, vt is k x n. u and vt may be NULL together. */
rlar_status rlar__svd_thin(rlar_ctx *ctx, int64_t m, int64_t n, double *a, double *u, double *s,
                           double *vt);
/* The same in room for m x n. */
typedef struct rlar_svd_room {
    int64_t lwork;
    double *work;
    int *iwork;
} rlar_svd_room;
void rlar__svd_carve(rlar_workspace *ws, int64_t m, int64_t n, rlar_svd_room *room);
rlar_status rlar__svd_thin_in(rlar_ctx *ctx, const rlar_svd_room *room, int64_t m, int64_t n,
                              double *a, double *u, double *s, double *vt);
/* An orthonormal basis of all that is orthogonal to the r independent columns of U (d x r): the
 * last d - r columns of q (d x d). */
rlar_status rlar__complement(rlar_ctx *ctx, int64_t d, int64_t r, const double *u, double *q);
/* The bytes that it takes beside its arguments. */
double rlar__complement_bytes(int64_t d);
/* The bytes that the first two (of order n), and the SVD, take beside their arguments at most: the
 * arrays of LAPACK with its usual block of 32, and the eigenvectors of the rare second try. */
double rlar__eig_bytes(int64_t n);
double rlar__svd_bytes(int64_t m, int64_t n);
/* Make the entry of largest magnitude (the first of them) of every column positive. */
void rlar__fix_signs(int64_t d, int64_t p, double *w);
/* Scale every column to length 1; a zero column stays. */
void rlar__unit_columns(int64_t d, int64_t p, double *w);
/* Eigenvalues, descending, of which neighbours less than `tied` apart are equal: the end of the
 * block of equal ones that begins at `start`. */
int64_t rlar__tied_end(int64_t p, const double *values, double tied, int64_t start);
/* Scale every column to length 1, but the columns of a tied block, which are defined up to a
 * rotation only, by one factor: to the mean square length 1. A zero block stays. */
void rlar__unit_blocks(int64_t d, int64_t p, const double *values, double tied, double *w);
/* Gram-Schmidt, twice, in the order of the columns: columns of which no more than `least` is left
 * (in norm) are dropped, the others move up. Returns how many remain, orthonormal; of the
 * triangular factor the diagonal is positive. */
int64_t rlar__orthonormalise(int64_t d, int64_t p, double least, double *w);

/* ---- Vectors (vector.c) ---- */

double rlar__dot(int64_t n, const double *x, const double *y);
/* Euclidean norm without overflow or underflow. */
double rlar__norm(int64_t n, const double *x);
/* The sum of the magnitudes. */
double rlar__norm1(int64_t n, const double *x);
/* The minimiser of (y - z)^2 / 2 + t |y| over y. Inline, for loops over many numbers. */
static inline double rlar__shrink(double z, double t) {
    return z > t ? z - t : z < -t ? z + t : 0.0;
}
/* ||x - y||^2, from the differences: near zero the Gram expansion would have no correct digit. */
double rlar__distance2(int64_t n, const double *x, const double *y);
/* With p = x - y and q = u - v: p'p, p'q and q'q. */
void rlar__difference_terms(int64_t n, const double *x, const double *y, const double *u,
                            const double *v, double out[3]);
/* The same bits where the result is at most `limit`, else any number beyond the limit, sooner. */
double rlar__distance2_up_to(int64_t n, const double *x, const double *y, double limit);
/* By how much x'x - 2 x'y + y'y, in rounded arithmetic of any order, may exceed rlar__distance2:
 * the slack of x'x plus that of y'y is more than enough. For ruling out what is surely too far. */
static inline double rlar__expansion_slack(int64_t n, double square) {
    /* The expansion is off by at most 2 (n + 3) units of the sum of the squares (a unit is half of
     * DBL_EPSILON), the distance by n + 2 units of itself, which is at most twice that sum; this is
     * more than three times as much. The second term covers products that underflow. */
    return 8.0 * (double)(n + 8) * (DBL_EPSILON * square + DBL_MIN);
}
/* Is none of the numbers NaN or infinite? */
bool rlar__finite(int64_t n, const double *x);
/* Norm of a row of a matrix with leading dimension ld: of every ld-th number. */
double rlar__row_norm(int64_t p, const double *row, int64_t ld);
/* The sum of the numbers above the limit, and how many they are. */
double rlar__sum_above(int64_t n, const double *x, double limit, int64_t *count);
/* The sum of the numbers of one block. */
double rlar__block_sum(int64_t n, const double *x);
/* Sum in a fixed binary tree over blocks of RLAR_SUM_BLOCK. */
double rlar__sum(int64_t n, const double *x);

#endif
