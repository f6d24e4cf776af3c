/* ranks.c - the classes of a fit, shared out among ranks (ranks.h). */
#include "data/ranks.h"

#include <string.h>

#include "dist/team.h"

rlar_status rlar__ranks_sizes(rlar_ctx *ctx, int64_t classes, const int64_t *here, int64_t *all) {
    const int ranks = rlar__team_ranks(ctx);
    int64_t *table = NULL;
    if (ranks == 1) {
        memcpy(all, here, (size_t)classes * sizeof *all);
        return RLAR_OK;
    }
    RLAR_TRY(rlar__alloc(ctx, classes * ranks, sizeof *table, "the sizes of the classes", &table));
    const rlar_status status = rlar__team_collect(ctx, here, (size_t)classes * sizeof *here, table);
    memset(all, 0, (size_t)classes * sizeof *all);
    for (int64_t i = 0; status >= 0 && i < classes * ranks; i++)
        all[i % classes] += table[i];
    rlar__free(table);
    return status;
}

/* Is every class that is here wholly here? */
static bool whole_classes(int64_t c, const int64_t *first, const int64_t *whole) {
    for (int64_t i = 0; i < c; i++)
        if (first[i + 1] > first[i] && first[i + 1] - first[i] != whole[i + 1] - whole[i])
            return false;
    return true;
}

rlar_status rlar__ranks_blocks(rlar_ctx *ctx, int64_t c, const int64_t *first, const int64_t *whole,
                               rlar_blocks *out) {
    rlar__blocks_init(c, whole, out);
    if (rlar__team_ranks(ctx) == 1)
        return RLAR_OK;
    int64_t k = 0; /* the first class that is here */
    while (k < c && first[k + 1] == 0)
        k++;
    const int64_t from = k < c ? whole[k] : whole[c], to = from + first[c];
    if (whole_classes(c, first, whole) && rlar__blocks_share(out, from, to))
        return RLAR_OK;
    return rlar__fail(ctx, RLAR_E_ARG,
                      "rlar_fit: rank %d does not hold whole classes that follow each other, from "
                      "the beginning of a block of the sums to the end of one",
                      rlar__team_rank(ctx));
}

/* The first class of the block that holds, or follows, sample `at`: of two ends the nearer one. */
static int64_t nearest_cut(const rlar_blocks *blocks, int64_t at) {
    int64_t best = 0;
    for (int64_t start = 0; start < blocks->n;) {
        const int64_t end = rlar__block_end(blocks, start);
        const int64_t k = rlar__class_of(blocks->first, blocks->c, start);
        const int64_t off = start > at ? start - at : at - start;
        const int64_t known = best > at ? best - at : at - best;
        if (blocks->first[k] == start && off < known)
            best = start;
        start = end;
    }
    const int64_t off = blocks->n - at, known = best > at ? best - at : at - best;
    return off < known ? blocks->n : best;
}

void rlar__ranks_cut(int64_t c, const int64_t *whole, int ranks, int64_t *cut) {
    rlar_blocks blocks;
    rlar__blocks_init(c, whole, &blocks);
    cut[0] = 0;
    for (int r = 1; r < ranks; r++) {
        const double share = (double)whole[c] / (double)ranks;
        const int64_t at = nearest_cut(&blocks, (int64_t)(share * (double)r));
        cut[r] = at == whole[c] ? c : rlar__class_of(whole, c, at);
        cut[r] = cut[r] < cut[r - 1] ? cut[r - 1] : cut[r];
    }
    cut[ranks] = c;
}
