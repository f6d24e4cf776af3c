/* tree.c - sums over samples in a fixed order.
 *
 * Samples are cut into blocks of RLAR_SUM_BLOCK. The caller sums each block into a leaf, and the
 * leaves are added in the binary tree of block numbers, as a carry runs through a binary counter:
 * after block k as many merges as k has trailing one bits. So the bits of the result depend on the
 * number of samples alone. The first leaf of all is the result itself; a sum of b blocks needs
 * log2 b buffers beside it. */
#include "linalg/linalg.h"

enum { COLUMNS_PER_TASK = 32 };

/* Merges that follow block number k. */
int rlar__tree_merges(int64_t k) {
    int merges = 0;
    for (; k & 1; k >>= 1)
        merges++;
    return merges;
}

void rlar__partials_carve(rlar_workspace *ws, int64_t n, int64_t rows, int64_t cols,
                          rlar_partials *out) {
    size_t column = 0, buffer = 0;
    if (!rlar__size_mul((size_t)rows, sizeof *out->stack, &column) ||
        !rlar__size_mul((size_t)cols, column, &buffer))
        ws->overflow = true;
    out->size = rows * cols;
    out->levels = 0;
    for (int64_t blocks = (n + RLAR_SUM_BLOCK - 1) / RLAR_SUM_BLOCK; blocks > 1;
         blocks = (blocks + 1) / 2)
        out->levels++;
    out->stack = rlar__carve(ws, out->levels, buffer);
}

rlar_tree rlar__tree_begin(const rlar_partials *partials, int64_t rows, int64_t cols,
                           int64_t triangle, double *result) {
    return (rlar_tree){
        .partials = partials, .rows = rows, .cols = cols, .triangle = triangle, .result = result};
}

static double *pending(const rlar_tree *tree, int i) {
    return i == 0 ? tree->result : tree->partials->stack + (i - 1) * tree->partials->size;
}

double *rlar__tree_leaf(rlar_tree *tree) {
    return pending(tree, tree->top++);
}

typedef struct addition {
    const rlar_tree *tree;
    double *to;
    const double *from;
} addition;

/* Some columns; of the first ones only the lower triangle holds anything. */
static rlar_status add_task(void *arg, int64_t task) {
    const addition *s = arg;
    const int64_t rows = s->tree->rows, first = task * COLUMNS_PER_TASK;
    for (int64_t j = first; j < first + COLUMNS_PER_TASK && j < s->tree->cols; j++)
        for (int64_t i = j < s->tree->triangle ? j : 0; i < rows; i++)
            s->to[j * rows + i] += s->from[j * rows + i];
    return RLAR_OK;
}

/* The last pending sum into the one before it. */
static rlar_status merge_one(rlar_ctx *ctx, rlar_tree *tree) {
    tree->top--;
    addition s = {
        .tree = tree, .to = pending(tree, tree->top - 1), .from = pending(tree, tree->top)};
    return rlar__parallel(ctx, (tree->cols + COLUMNS_PER_TASK - 1) / COLUMNS_PER_TASK, add_task,
                          &s);
}

rlar_status rlar__tree_merge(rlar_ctx *ctx, rlar_tree *tree) {
    for (int merges = rlar__tree_merges(tree->block++); merges > 0; merges--)
        RLAR_TRY(merge_one(ctx, tree));
    return RLAR_OK;
}

/* What is pending are the subtrees of the bits of the block count: from the smallest up. */
rlar_status rlar__tree_end(rlar_ctx *ctx, rlar_tree *tree) {
    while (tree->top > 1)
        RLAR_TRY(merge_one(ctx, tree));
    return RLAR_OK;
}
