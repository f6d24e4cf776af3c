/* gram.c - products of tall and wide matrices, cut into tiles.
 *
 * A task makes one tile of the output with single-threaded DGEMM calls. Sums over samples are cut
 * into blocks of RLAR_SUM_BLOCK; the tile of each block is computed by itself and the tiles are
 * added in the binary tree of block numbers (a carry chain, as in counting in binary), so that the
 * bits depend on n alone: not on threads, nor on which rank holds which blocks. Debian's OpenBLAS
 * has no dgemmt: tiles over one triangle cost n d^2 instead of 2 n d^2. */
#include "linalg/blas.h"

#include <string.h>

enum { TILE2 = RLAR_TILE * RLAR_TILE };

static int64_t blocks_of(int64_t count, int64_t size) {
    return count / size + (count % size != 0);
}

static int64_t min64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* ---- Partial sums ---- */

/* Height of the tree over b blocks: tiles that can be pending at once, plus the one being made. */
static int tree_depth(int64_t blocks) {
    int depth = 0;
    while (blocks > 1) {
        blocks = (blocks + 1) / 2;
        depth++;
    }
    return depth == 0 ? 0 : depth + 1;
}

void rlar__partials_carve(rlar_workspace *ws, const rlar_ctx *ctx, int64_t n, rlar_partials *out) {
    out->slots = ctx->threads;
    out->depth = tree_depth(blocks_of(n, RLAR_SUM_BLOCK));
    out->tiles = rlar__carve(ws, (int64_t)out->slots * out->depth, TILE2 * sizeof *out->tiles);
    out->busy = rlar__carve(ws, out->slots, sizeof *out->busy);
    for (int i = 0; out->busy && i < out->slots; i++)
        atomic_init(&out->busy[i], 0);
}

/* A slot nobody uses: there are as many as threads, so one is free. */
static int slot_take(const rlar_partials *partials) {
    for (int i = 0;; i = (i + 1) % partials->slots) {
        int free_slot = 0;
        if (atomic_compare_exchange_strong(&partials->busy[i], &free_slot, 1))
            return i;
    }
}

static void tile_add(int64_t rows, int64_t cols, double *to, const double *from) {
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++)
            to[j * RLAR_TILE + i] += from[j * RLAR_TILE + i];
}

/* A tile of A B^T, where a and b point to the first row of the tile. */
typedef struct outer_tile {
    int64_t rows, cols, n;
    const double *a, *b;
    int64_t lda, ldb;
} outer_tile;

static void block_product(const outer_tile *t, int64_t block, double *c, int64_t ldc) {
    const int64_t start = block * RLAR_SUM_BLOCK, count = min64(RLAR_SUM_BLOCK, t->n - start);
    rlar__gemm(RLAR_PLAIN, RLAR_TRANSPOSED, t->rows, t->cols, count, 1.0, t->a + start * t->lda,
               t->lda, t->b + start * t->ldb, t->ldb, 0.0, c, ldc);
}

/* The tree: after block k, merge as many pending tiles as k has trailing one bits. What is pending
 * at the end are the subtrees of the bits of the block count, merged from the smallest up. */
static void tree_sum(const rlar_partials *partials, const outer_tile *t, int64_t blocks, double *c,
                     int64_t ldc) {
    const int slot = slot_take(partials);
    double *stack = partials->tiles + (int64_t)slot * partials->depth * TILE2;
    int top = 0;
    for (int64_t k = 0; k < blocks; k++) {
        block_product(t, k, stack + (int64_t)top++ * TILE2, RLAR_TILE);
        for (int64_t bits = k; bits & 1; bits >>= 1, top--)
            tile_add(t->rows, t->cols, stack + (int64_t)(top - 2) * TILE2,
                     stack + (int64_t)(top - 1) * TILE2);
    }
    for (; top > 1; top--)
        tile_add(t->rows, t->cols, stack + (int64_t)(top - 2) * TILE2,
                 stack + (int64_t)(top - 1) * TILE2);
    for (int64_t j = 0; j < t->cols; j++)
        memcpy(c + j * ldc, stack + j * RLAR_TILE, (size_t)t->rows * sizeof *c);
    atomic_store(&partials->busy[slot], 0);
}

static void outer_sum(const rlar_partials *partials, const outer_tile *t, double *c, int64_t ldc) {
    const int64_t blocks = blocks_of(t->n, RLAR_SUM_BLOCK);
    if (blocks <= 1)
        block_product(t, 0, c, ldc);
    else
        tree_sum(partials, t, blocks, c, ldc);
}

/* ---- The products ---- */

typedef struct product {
    const rlar_partials *partials;
    int64_t rows, cols, inner; /* of the output, and the length of the sums */
    const double *a, *b;
    double *c;
} product;

/* Tile number t of a lower triangle, counted row by row: t = i (i + 1) / 2 + j, j <= i. */
static void triangle_tile(int64_t t, int64_t *i, int64_t *j) {
    int64_t row = 0;
    while ((row + 1) * (row + 2) / 2 <= t)
        row++;
    *i = row;
    *j = t - row * (row + 1) / 2;
}

static rlar_status gram_outer_task(void *arg, int64_t index) {
    const product *p = arg;
    int64_t i, j;
    triangle_tile(index, &i, &j);
    const outer_tile t = {.rows = min64(RLAR_TILE, p->rows - i * RLAR_TILE),
                          .cols = min64(RLAR_TILE, p->rows - j * RLAR_TILE),
                          .n = p->inner,
                          .a = p->a + i * RLAR_TILE,
                          .b = p->b + j * RLAR_TILE,
                          .lda = p->rows,
                          .ldb = p->rows};
    outer_sum(p->partials, &t, p->c + j * RLAR_TILE * p->rows + i * RLAR_TILE, p->rows);
    return RLAR_OK;
}

rlar_status rlar__gram_outer(rlar_ctx *ctx, const rlar_partials *partials, int64_t d, int64_t n,
                             const double *a, const double *b, double *c) {
    product p = {.partials = partials, .rows = d, .cols = d, .inner = n, .a = a, .b = b, .c = c};
    const int64_t tiles = blocks_of(d, RLAR_TILE);
    return rlar__parallel(ctx, tiles * (tiles + 1) / 2, gram_outer_task, &p);
}

static rlar_status moments_task(void *arg, int64_t index) {
    const product *p = arg;
    const int64_t tall = blocks_of(p->rows, RLAR_TILE);
    const int64_t i = index % tall * RLAR_TILE, j = index / tall * RLAR_TILE;
    const outer_tile t = {.rows = min64(RLAR_TILE, p->rows - i),
                          .cols = min64(RLAR_TILE, p->cols - j),
                          .n = p->inner,
                          .a = p->a + i,
                          .b = p->b + j,
                          .lda = p->rows,
                          .ldb = p->cols};
    outer_sum(p->partials, &t, p->c + j * p->rows + i, p->rows);
    return RLAR_OK;
}

rlar_status rlar__moments(rlar_ctx *ctx, const rlar_partials *partials, int64_t d, int64_t p,
                          int64_t n, const double *a, const double *b, double *c) {
    product m = {.partials = partials, .rows = d, .cols = p, .inner = n, .a = a, .b = b, .c = c};
    return rlar__parallel(ctx, blocks_of(d, RLAR_TILE) * blocks_of(p, RLAR_TILE), moments_task, &m);
}

static rlar_status gram_inner_task(void *arg, int64_t index) {
    const product *p = arg;
    int64_t i, j;
    triangle_tile(index, &i, &j);
    i *= RLAR_TILE;
    j *= RLAR_TILE;
    rlar__gemm(RLAR_TRANSPOSED, RLAR_PLAIN, min64(RLAR_TILE, p->rows - i),
               min64(RLAR_TILE, p->rows - j), p->inner, 1.0, p->a + i * p->inner, p->inner,
               p->b + j * p->inner, p->inner, 1.0, p->c + j * p->rows + i, p->rows);
    return RLAR_OK;
}

rlar_status rlar__gram_inner(rlar_ctx *ctx, int64_t n, int64_t d, const double *a, const double *b,
                             double *c) {
    product p = {.rows = n, .cols = n, .inner = d, .a = a, .b = b, .c = c};
    const int64_t tiles = blocks_of(n, RLAR_TILE);
    return rlar__parallel(ctx, tiles * (tiles + 1) / 2, gram_inner_task, &p);
}

void rlar__tile_inner(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                      const double *b, int64_t ldb, double *c, int64_t ldc) {
    rlar__gemm(RLAR_TRANSPOSED, RLAR_PLAIN, m, n, k, 1.0, a, lda, b, ldb, 0.0, c, ldc);
}

static rlar_status project_task(void *arg, int64_t index) {
    const product *p = arg;
    const int64_t j = index * RLAR_COLUMNS;
    rlar__tile_inner(p->rows, min64(RLAR_COLUMNS, p->cols - j), p->inner, p->a, p->inner,
                     p->b + j * p->inner, p->inner, p->c + j * p->rows, p->rows);
    return RLAR_OK;
}

rlar_status rlar__project(rlar_ctx *ctx, int64_t p, int64_t n, int64_t d, const double *a,
                          const double *b, double *c) {
    product m = {.rows = p, .cols = n, .inner = d, .a = a, .b = b, .c = c};
    return rlar__parallel(ctx, blocks_of(n, RLAR_COLUMNS), project_task, &m);
}

static rlar_status multiply_task(void *arg, int64_t index) {
    const product *p = arg;
    const int64_t i = index * RLAR_TILE;
    rlar__gemm(RLAR_PLAIN, RLAR_PLAIN, min64(RLAR_TILE, p->rows - i), p->cols, p->inner, 1.0,
               p->a + i, p->rows, p->b, p->inner, 0.0, p->c + i, p->rows);
    return RLAR_OK;
}

rlar_status rlar__multiply(rlar_ctx *ctx, int64_t d, int64_t p, int64_t n, const double *a,
                           const double *b, double *c) {
    product m = {.rows = d, .cols = p, .inner = n, .a = a, .b = b, .c = c};
    return rlar__parallel(ctx, blocks_of(d, RLAR_TILE), multiply_task, &m);
}
