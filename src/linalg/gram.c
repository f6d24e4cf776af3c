/* gram.c - products of tall and wide matrices, cut into panels and tiles of the output.
 *
 * A task makes one piece of the output with single-threaded BLAS calls. Sums over samples are cut
 * into blocks: every block is summed by itself and the sums are added in the tree of tree.c, so
 * that the bits depend on the blocks alone: not on threads, nor on which rank holds which of them.
 * Debian's OpenBLAS has no dgemmt: panels over one triangle cost n d^2 instead of 2 n d^2. Wide
 * panels, because DGEMM packs its operands anew in every call: with tiles of 128 x 128 that took as
 * long as a third of the product. */
#include "linalg/blas.h"

enum {
    PANEL = 128,  /* columns of a triangle per task: what is wasted above the diagonal grows with
                     it, what is packed twice shrinks; 128 to 256 are within 5 % on one thread, and
                     128 shares out best */
    SQUARE = 256, /* the same where both factors are one: DSYRK wastes nothing */
    KERNEL = 24,  /* columns that the widest kernel makes at once */
    TALL = 256    /* rows of a general product per task */
};

static int64_t blocks_of(int64_t count, int64_t size) {
    return count / size + (count % size != 0);
}

/* ---- Triangles ---- */

/* Panels of one width, a multiple of what the kernels work on. */
static int64_t panel_width(const rlar_triangle *t) {
    const int64_t most = t->a == t->b ? SQUARE : PANEL, count = blocks_of(t->side, most);
    return count > 1 ? blocks_of(blocks_of(t->side, count), KERNEL) * KERNEL : most;
}

/* Where row or column i of op(A) begins. */
static const double *row(const rlar_triangle *t, const double *a, int64_t i) {
    return t->op == RLAR_PLAIN ? a + i : a + i * t->ld;
}

/* Columns j .. j + width - 1, from row `from` down. */
static void below(const rlar_triangle *t, int64_t from, int64_t j, int64_t width) {
    const rlar_op other = t->op == RLAR_PLAIN ? RLAR_TRANSPOSED : RLAR_PLAIN;
    if (from < t->side)
        rlar__gemm(t->op, other, t->side - from, width, t->inner, t->alpha, row(t, t->a, from),
                   t->ld, row(t, t->b, j), t->ld, t->beta, t->c + j * t->ldc + from, t->ldc);
}

void rlar__triangle_panel(const rlar_triangle *t, int64_t index) {
    const int64_t j = index * panel_width(t), width = rlar__min64(panel_width(t), t->side - j);
    if (t->a != t->b) {
        below(t, j, j, width);
        return;
    }
    rlar__syrk(t->op, width, t->inner, t->alpha, row(t, t->a, j), t->ld, t->beta,
               t->c + j * t->ldc + j, t->ldc);
    below(t, j + width, j, width);
}

int64_t rlar__triangle_panels(const rlar_triangle *t) {
    return blocks_of(t->side, panel_width(t));
}

static rlar_status panel_task(void *arg, int64_t index) {
    rlar__triangle_panel(arg, index);
    return RLAR_OK;
}

rlar_status rlar__triangle(rlar_ctx *ctx, const rlar_triangle *triangle) {
    rlar_triangle t = *triangle;
    return rlar__parallel(ctx, rlar__triangle_panels(&t), panel_task, &t);
}

rlar_status rlar__gram_add(rlar_ctx *ctx, int64_t d, int64_t n, const double *a, const double *b,
                           bool first, double *c) {
    const rlar_triangle t = {.op = RLAR_PLAIN,
                             .side = d,
                             .inner = n,
                             .alpha = 1.0,
                             .beta = first ? 0.0 : 1.0,
                             .a = a,
                             .b = b,
                             .ld = d,
                             .c = c,
                             .ldc = d};
    return rlar__triangle(ctx, &t);
}

rlar_status rlar__gram_blocks(rlar_ctx *ctx, rlar_tree *tree, int64_t d, int64_t n, const double *a,
                              const double *b) {
    for (int64_t start = 0, end; start < n; start = end) {
        end = rlar__partials_end(tree->partials, n, start);
        RLAR_TRY(rlar__gram_add(ctx, d, end - start, a + start * d, b + start * d, true,
                                rlar__tree_leaf(tree)));
        RLAR_TRY(rlar__tree_merge(ctx, tree));
    }
    return RLAR_OK;
}

rlar_status rlar__gram_outer(rlar_ctx *ctx, const rlar_partials *partials, int64_t d, int64_t n,
                             const double *a, const double *b, double *c) {
    rlar_tree tree = rlar__tree_begin(partials, d, d, d, c);
    RLAR_TRY(rlar__gram_blocks(ctx, &tree, d, n, a, b));
    return rlar__tree_end(ctx, &tree);
}

rlar_status rlar__gram_inner(rlar_ctx *ctx, int64_t n, int64_t d, const double *a, const double *b,
                             double *c) {
    const rlar_triangle t = {.op = RLAR_TRANSPOSED,
                             .side = n,
                             .inner = d,
                             .alpha = 1.0,
                             .beta = 1.0,
                             .a = a,
                             .b = b,
                             .ld = d,
                             .c = c,
                             .ldc = n};
    return rlar__triangle(ctx, &t);
}

/* ---- General products ---- */

typedef struct product {
    int64_t rows, cols, inner; /* of the output, and the length of the sums */
    const double *a, *b;
    double *c;
    double beta;
} product;

static rlar_status moments_task(void *arg, int64_t index) {
    const product *p = arg;
    const int64_t i = index * TALL, rows = rlar__min64(TALL, p->rows - i);
    if (p->cols == 1) /* DGEMM would pack all of A for one column */
        rlar__gemv(rows, p->inner, p->a + i, p->rows, p->b, p->beta, p->c + i);
    else
        rlar__gemm(RLAR_PLAIN, RLAR_TRANSPOSED, rows, p->cols, p->inner, 1.0, p->a + i, p->rows,
                   p->b, p->cols, p->beta, p->c + i, p->rows);
    return RLAR_OK;
}

rlar_status rlar__moments_add(rlar_ctx *ctx, int64_t d, int64_t p, int64_t n, const double *a,
                              const double *b, bool first, double *c) {
    product m = {.rows = d, .cols = p, .inner = n, .a = a, .b = b, .c = c};
    m.beta = first ? 0.0 : 1.0;
    return rlar__parallel(ctx, blocks_of(d, TALL), moments_task, &m);
}

rlar_status rlar__moments(rlar_ctx *ctx, const rlar_partials *partials, int64_t d, int64_t p,
                          int64_t n, const double *a, const double *b, double *c) {
    rlar_tree tree = rlar__tree_begin(partials, d, p, 0, c);
    for (int64_t start = 0, end; start < n; start = end) {
        end = rlar__partials_end(partials, n, start);
        RLAR_TRY(rlar__moments_add(ctx, d, p, end - start, a + start * d, b + start * p, true,
                                   rlar__tree_leaf(&tree)));
        RLAR_TRY(rlar__tree_merge(ctx, &tree));
    }
    return rlar__tree_end(ctx, &tree);
}

void rlar__tile_inner(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                      const double *b, int64_t ldb, double *c, int64_t ldc) {
    rlar__gemm(RLAR_TRANSPOSED, RLAR_PLAIN, m, n, k, 1.0, a, lda, b, ldb, 0.0, c, ldc);
}

void rlar__tile_square(int64_t d, int64_t n, const double *a, bool first, double *c) {
    rlar__syrk(RLAR_PLAIN, d, n, 1.0, a, d, first ? 0.0 : 1.0, c, d);
}

void rlar__tile_product(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                        const double *b, int64_t ldb, double *c, int64_t ldc) {
    rlar__gemm(RLAR_PLAIN, RLAR_PLAIN, m, n, k, 1.0, a, lda, b, ldb, 0.0, c, ldc);
}

static rlar_status project_task(void *arg, int64_t start, int64_t end) {
    const product *p = arg;
    rlar__tile_inner(p->rows, end - start, p->inner, p->a, p->inner, p->b + start * p->inner,
                     p->inner, p->c + start * p->rows, p->rows);
    return RLAR_OK;
}

rlar_status rlar__project(rlar_ctx *ctx, int64_t p, int64_t n, int64_t d, const double *a,
                          const double *b, double *c) {
    return rlar__project_samples(ctx, NULL, p, n, d, a, b, c);
}

rlar_status rlar__project_samples(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t p, int64_t n,
                                  int64_t d, const double *a, const double *b, double *c) {
    product m = {.rows = p, .cols = n, .inner = d, .a = a, .b = b, .c = c};
    return rlar__parallel_blocks(ctx, blocks, n, RLAR_COLUMNS, project_task, &m);
}

static rlar_status multiply_task(void *arg, int64_t index) {
    const product *p = arg;
    const int64_t i = index * TALL;
    rlar__gemm(RLAR_PLAIN, RLAR_PLAIN, rlar__min64(TALL, p->rows - i), p->cols, p->inner, 1.0,
               p->a + i, p->rows, p->b, p->inner, 0.0, p->c + i, p->rows);
    return RLAR_OK;
}

rlar_status rlar__multiply(rlar_ctx *ctx, int64_t d, int64_t p, int64_t n, const double *a,
                           const double *b, double *c) {
    product m = {.rows = d, .cols = p, .inner = n, .a = a, .b = b, .c = c};
    return rlar__parallel(ctx, blocks_of(d, TALL), multiply_task, &m);
}
