/* tree.c - sums over samples in a fixed order, on one rank or several.
 *
 * Samples are cut into blocks. The caller sums each block into a leaf, and the leaves are added in
 * the binary tree of block numbers: two neighbours of one level whose numbers begin at a multiple
 * of their common size become one of the next level. What is pending in the end is added from the
 * last up. So the bits of the result depend on the blocks alone: not on threads, nor on which rank
 * holds which of them. The first leaf of all is the result itself; a sum of b blocks needs log2 b
 * buffers beside it.
 *
 * Over ranks: each has some neighbouring blocks and adds up what is complete among them. Then the
 * pending nodes of rank r + s go to rank r, for s = 1, 2, 4, ..., which goes on adding; rank 0 ends
 * the sum and broadcasts it. Triangles travel without what is above the diagonal, in pieces. */
#include <string.h>

#include "dist/team.h"
#include "linalg/linalg.h"

enum {
    COLUMNS_PER_TASK = 32,
    PIECE = 1 << 16 /* numbers of a message */
};

/* ---- Blocks ---- */

int64_t rlar__class_of(const int64_t *start, int64_t c, int64_t t) {
    int64_t low = 0, high = c;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (start[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Of the samples of all ranks: where the block that begins at `start` ends. */
static int64_t end_of_block(int64_t c, const int64_t *first, int64_t start) {
    int64_t k = rlar__class_of(first, c, start);
    while (k + 1 < c && first[k + 1] == start) /* empty classes */
        k++;
    if (first[k + 1] - first[k] > RLAR_SUM_BLOCK)
        return first[k + 1] - start > RLAR_SUM_BLOCK ? start + RLAR_SUM_BLOCK : first[k + 1];
    while (k < c && first[k + 1] - start <= RLAR_SUM_BLOCK)
        k++;
    return first[k];
}

int64_t rlar__block_end(const rlar_blocks *blocks, int64_t start) {
    return end_of_block(blocks->c, blocks->first, blocks->start + start) - blocks->start;
}

void rlar__blocks_init(int64_t c, const int64_t *first, rlar_blocks *out) {
    *out = (rlar_blocks){.n = first[c], .c = c, .first = first};
    for (int64_t start = 0; start < first[c]; start = end_of_block(c, first, start))
        out->total++;
}

bool rlar__blocks_share(rlar_blocks *blocks, int64_t from, int64_t to) {
    const int64_t all = rlar__blocks_samples(blocks);
    bool begins = from == all, ends = to == all;
    int64_t k = 0;
    blocks->before = blocks->total;
    for (int64_t at = 0; at < all; at = end_of_block(blocks->c, blocks->first, at), k++) {
        begins = begins || at == from;
        ends = ends || at == to;
        blocks->before = at == from ? k : blocks->before;
    }
    blocks->start = from;
    blocks->n = to - from;
    blocks->ranks = true;
    return begins && ends && from <= to;
}

enum { BLOCKS_AT_ONCE = 64 };

/* Some blocks, and a task for every `width` samples that one of them may have. */
typedef struct block_ranges {
    int64_t start[BLOCKS_AT_ONCE + 1];
    int64_t width, tasks; /* of a block */
    rlar_range_task task;
    void *arg;
} block_ranges;

static rlar_status block_range(void *arg, int64_t index) {
    const block_ranges *b = arg;
    const int64_t k = index / b->tasks, from = b->start[k] + index % b->tasks * b->width;
    const int64_t end = b->start[k + 1];
    if (from >= end)
        return RLAR_OK;
    return b->task(b->arg, from, end - from < b->width ? end : from + b->width);
}

rlar_status rlar__parallel_blocks(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t n,
                                  int64_t width, rlar_range_task task, void *arg) {
    if (!blocks)
        return rlar__parallel_ranges(ctx, n, width, task, arg);
    block_ranges b = {.width = width, .task = task, .arg = arg};
    b.tasks = (RLAR_SUM_BLOCK + width - 1) / width;
    for (int64_t start = 0; start < n;) {
        int64_t count = 0;
        for (b.start[0] = start; count < BLOCKS_AT_ONCE && start < n; count++)
            b.start[count + 1] = start = rlar__block_end(blocks, start);
        RLAR_TRY(rlar__parallel(ctx, count * b.tasks, block_range, &b));
    }
    return RLAR_OK;
}

/* ---- Buffers ---- */

static int levels_of(int64_t blocks) {
    int levels = 0;
    for (; blocks > 1; blocks = (blocks + 1) / 2)
        levels++;
    return levels;
}

static void carve(rlar_workspace *ws, int levels, int64_t rows, int64_t cols, rlar_partials *out) {
    size_t column = 0, buffer = 0;
    if (!rlar__size_mul((size_t)rows, sizeof *out->stack, &column) ||
        !rlar__size_mul((size_t)cols, column, &buffer))
        ws->overflow = true;
    out->size = rows * cols;
    out->levels = levels;
    out->stack = rlar__carve(ws, levels, buffer);
}

void rlar__partials_carve(rlar_workspace *ws, int64_t n, int64_t rows, int64_t cols,
                          rlar_partials *out) {
    out->blocks = NULL;
    out->piece = NULL;
    carve(ws, levels_of((n + RLAR_SUM_BLOCK - 1) / RLAR_SUM_BLOCK), rows, cols, out);
}

void rlar__partials_carve_samples(rlar_workspace *ws, const rlar_blocks *blocks, int64_t n,
                                  int64_t rows, int64_t cols, rlar_partials *out) {
    if (!blocks) {
        rlar__partials_carve(ws, n, rows, cols, out);
        return;
    }
    const bool alone = !blocks->ranks;
    /* A rank in the middle has pending nodes that wait for those of others on both sides. */
    carve(ws, alone ? levels_of(blocks->total) : 2 * levels_of(blocks->total) + 1, rows, cols, out);
    out->blocks = blocks;
    out->piece = alone ? NULL : rlar__carve(ws, PIECE, sizeof *out->piece);
}

int64_t rlar__partials_end(const rlar_partials *partials, int64_t n, int64_t start) {
    if (partials->blocks)
        return rlar__block_end(partials->blocks, start);
    return n - start < RLAR_SUM_BLOCK ? n : start + RLAR_SUM_BLOCK;
}

/* ---- The tree ---- */

rlar_tree rlar__tree_begin(const rlar_partials *partials, int64_t rows, int64_t cols,
                           int64_t triangle, double *result) {
    return (rlar_tree){.partials = partials,
                       .rows = rows,
                       .cols = cols,
                       .triangle = triangle,
                       .result = result,
                       .block = partials->blocks ? partials->blocks->before : 0};
}

static double *pending(const rlar_tree *tree, int i) {
    return i == 0 ? tree->result : tree->partials->stack + (i - 1) * tree->partials->size;
}

double *rlar__tree_leaf(rlar_tree *tree) {
    tree->node[tree->top] = (rlar_node){.first = tree->block++};
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
    tree->node[tree->top - 1].level++;
    addition s = {
        .tree = tree, .to = pending(tree, tree->top - 1), .from = pending(tree, tree->top)};
    return rlar__parallel(ctx, (tree->cols + COLUMNS_PER_TASK - 1) / COLUMNS_PER_TASK, add_task,
                          &s);
}

/* Are the last two the halves of one node? */
static bool siblings(const rlar_tree *tree) {
    if (tree->top < 2)
        return false;
    const rlar_node *left = &tree->node[tree->top - 2], *right = left + 1;
    const int64_t size = (int64_t)1 << left->level;
    return left->level == right->level && right->first == left->first + size &&
           left->first % (2 * size) == 0;
}

rlar_status rlar__tree_merge(rlar_ctx *ctx, rlar_tree *tree) {
    while (siblings(tree))
        RLAR_TRY(merge_one(ctx, tree));
    return RLAR_OK;
}

/* ---- Over ranks ---- */

typedef rlar_status (*move)(rlar_ctx *ctx, int other, double *numbers, size_t bytes);

static rlar_status send(rlar_ctx *ctx, int to, double *numbers, size_t bytes) {
    return rlar__team_send(ctx, to, numbers, bytes);
}

static rlar_status receive(rlar_ctx *ctx, int from, double *numbers, size_t bytes) {
    return rlar__team_receive(ctx, from, numbers, bytes);
}

static rlar_status spread(rlar_ctx *ctx, int from, double *numbers, size_t bytes) {
    return rlar__team_broadcast(ctx, from, numbers, bytes);
}

/* Between a buffer and the piece of a message; how many numbers of the column there were. */
static int64_t copy(const rlar_tree *tree, double *buffer, int64_t column, int64_t row,
                    int64_t room, bool out, double *piece) {
    double *at = buffer + column * tree->rows + row;
    const int64_t count = tree->rows - row < room ? tree->rows - row : room;
    for (int64_t i = 0; i < count; i++) {
        if (out)
            piece[i] = at[i];
        else
            at[i] = piece[i];
    }
    return count;
}

/* The next piece of a matrix, from *column and *row on, which go on. */
static int64_t walk(const rlar_tree *tree, double *buffer, int64_t *column, int64_t *row,
                    bool out) {
    double *piece = tree->partials->piece;
    int64_t used = 0;
    while (*column < tree->cols && used < PIECE) {
        const int64_t top = *column < tree->triangle ? *column : 0;
        *row = *row < top ? top : *row;
        const int64_t count = copy(tree, buffer, *column, *row, PIECE - used, out, piece + used);
        used += count;
        *row += count;
        if (*row == tree->rows) {
            *row = 0;
            ++*column;
        }
    }
    return used;
}

/* How many numbers the next piece has, without looking at them. */
static int64_t measure(const rlar_tree *tree, int64_t column, int64_t row) {
    int64_t used = 0;
    for (; column < tree->cols && used < PIECE; column++, row = 0) {
        const int64_t top = column < tree->triangle ? column : 0;
        const int64_t left = tree->rows - (row < top ? top : row);
        used = left < PIECE - used ? used + left : PIECE;
    }
    return used;
}

/* A matrix, piece by piece; into: it comes, otherwise it goes. */
static rlar_status transfer(rlar_ctx *ctx, const rlar_tree *tree, double *buffer, move how,
                            int other, bool into) {
    int64_t column = 0, row = 0;
    while (column < tree->cols) {
        const int64_t count =
            into ? measure(tree, column, row) : walk(tree, buffer, &column, &row, true);
        RLAR_TRY(how(ctx, other, tree->partials->piece, (size_t)count * sizeof(double)));
        if (into)
            walk(tree, buffer, &column, &row, false);
    }
    return RLAR_OK;
}

static rlar_status send_nodes(rlar_ctx *ctx, rlar_tree *tree, int to) {
    const int64_t count = tree->top;
    RLAR_TRY(rlar__team_send(ctx, to, &count, sizeof count));
    RLAR_TRY(rlar__team_send(ctx, to, tree->node, (size_t)count * sizeof *tree->node));
    for (int i = 0; i < tree->top; i++)
        RLAR_TRY(transfer(ctx, tree, pending(tree, i), send, to, false));
    return RLAR_OK;
}

static rlar_status receive_nodes(rlar_ctx *ctx, rlar_tree *tree, int from) {
    rlar_node node[RLAR_TREE_NODES];
    int64_t count = 0;
    RLAR_TRY(rlar__team_receive(ctx, from, &count, sizeof count));
    if (count < 0 || count > RLAR_TREE_NODES)
        return rlar__fail(ctx, RLAR_E_INTERNAL, "rank %d sends %lld partial sums, at most %d fit",
                          from, (long long)count, RLAR_TREE_NODES);
    RLAR_TRY(rlar__team_receive(ctx, from, node, (size_t)count * sizeof *node));
    for (int64_t i = 0; i < count; i++) {
        if (tree->top > tree->partials->levels)
            return rlar__fail(ctx, RLAR_E_INTERNAL, "more than %d partial sums are pending",
                              tree->partials->levels);
        tree->node[tree->top] = node[i];
        RLAR_TRY(transfer(ctx, tree, pending(tree, tree->top++), receive, from, true));
        RLAR_TRY(rlar__tree_merge(ctx, tree));
    }
    return RLAR_OK;
}

/* Pending nodes to rank 0, by halves. */
static rlar_status gather(rlar_ctx *ctx, rlar_tree *tree) {
    const int rank = rlar__team_rank(ctx), ranks = rlar__team_ranks(ctx);
    for (int step = 1; step < ranks; step *= 2) {
        if (rank % (2 * step) == step)
            return send_nodes(ctx, tree, rank - step);
        if (rank % (2 * step) == 0 && rank + step < ranks)
            RLAR_TRY(receive_nodes(ctx, tree, rank + step));
    }
    return RLAR_OK;
}

/* What is pending are the subtrees of the bits of the block count: from the smallest up. */
static rlar_status end_here(rlar_ctx *ctx, rlar_tree *tree) {
    while (tree->top > 1)
        RLAR_TRY(merge_one(ctx, tree));
    return RLAR_OK;
}

rlar_status rlar__tree_end_first(rlar_ctx *ctx, rlar_tree *tree) {
    if (tree->partials->piece)
        RLAR_TRY(gather(ctx, tree));
    return rlar__team_rank(ctx) == 0 || !tree->partials->piece ? end_here(ctx, tree) : RLAR_OK;
}

rlar_status rlar__tree_end(rlar_ctx *ctx, rlar_tree *tree) {
    RLAR_TRY(rlar__tree_end_first(ctx, tree));
    if (!tree->partials->piece)
        return RLAR_OK;
    return transfer(ctx, tree, tree->result, spread, 0, rlar__team_rank(ctx) > 0);
}

/* ---- Numbers ---- */

rlar_status rlar__sum_blocks(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t n, int64_t count,
                             rlar_block_sums sums, void *arg, double *out) {
    double stack[RLAR_TREE_NODES * RLAR_MOST_SUMS], piece[RLAR_MOST_SUMS];
    const rlar_partials partials = {.levels = RLAR_TREE_NODES,
                                    .size = count,
                                    .stack = stack,
                                    .blocks = blocks,
                                    .piece = blocks && blocks->ranks ? piece : NULL};
    memset(out, 0, (size_t)count * sizeof *out);
    rlar_tree tree = rlar__tree_begin(&partials, count, 1, 0, out);
    for (int64_t start = 0, end; start < n; start = end) {
        end = rlar__partials_end(&partials, n, start);
        sums(arg, start, end, rlar__tree_leaf(&tree));
        RLAR_TRY(rlar__tree_merge(ctx, &tree));
    }
    return rlar__tree_end(ctx, &tree);
}

static void sum_of(void *arg, int64_t start, int64_t end, double *sum) {
    const double *const *x = arg;
    *sum = rlar__block_sum(end - start, *x + start);
}

rlar_status rlar__sum_samples(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t n, const double *x,
                              double *out) {
    return rlar__sum_blocks(ctx, blocks, n, 1, sum_of, &x, out);
}
