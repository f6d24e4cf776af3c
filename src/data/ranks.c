/* ranks.c - the samples of a fit, shared out among ranks (ranks.h). */
#include "data/ranks.h"

#include <math.h>
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

/* Do the classes here have the samples from .. to-1 of all? */
static bool in_order(int64_t c, const int64_t *first, const int64_t *whole, int64_t from,
                     int64_t to) {
    for (int64_t i = 0; i < c; i++) {
        const int64_t common = rlar__min64(whole[i + 1], to) - rlar__max64(whole[i], from);
        if (first[i + 1] - first[i] != rlar__max64(common, 0))
            return false;
    }
    return true;
}

rlar_status rlar__ranks_blocks(rlar_ctx *ctx, int64_t c, const int64_t *first, const int64_t *whole,
                               int64_t *cut, rlar_blocks *out) {
    const int rank = rlar__team_rank(ctx), ranks = rlar__team_ranks(ctx);
    rlar__blocks_init(c, whole, out);
    if (ranks == 1)
        return RLAR_OK;
    RLAR_TRY(rlar__team_collect(ctx, &first[c], sizeof first[c], cut + 1));
    cut[0] = 0;
    for (int r = 0; r < ranks; r++)
        cut[r + 1] += cut[r];
    out->cut = cut;
    out->holders = ranks;
    if (in_order(c, first, whole, cut[rank], cut[rank + 1]) &&
        rlar__blocks_share(out, cut[rank], cut[rank + 1]))
        return RLAR_OK;
    return rlar__fail(
        ctx, RLAR_E_ARG,
        "rlar_fit: rank %d does not hold samples that follow those of the rank before "
        "in the order of the classes, from the beginning of a block of the sums to "
        "the end of one; rlar_data_share puts them there",
        rank);
}

/* ---- Shares ---- */

/* By how much the largest share may exceed the least possible one for the sake of whole classes:
 * what is cut has to be exchanged in every iteration. */
static const double WHOLE = 1.25;

/* Where ranks may begin: ends of blocks, perhaps only those that are ends of classes. */
typedef struct ends {
    int64_t *at; /* ascending, from 0 to the last sample */
    bool *whole; /* is it between two classes? */
    int64_t count;
    bool between; /* only these count */
} ends;

static rlar_status find_ends(rlar_ctx *ctx, int64_t c, const int64_t *whole, ends *out) {
    rlar_blocks blocks;
    rlar__blocks_init(c, whole, &blocks);
    RLAR_TRY(rlar__alloc(ctx, blocks.total + 1, sizeof *out->at, "the blocks", &out->at));
    RLAR_TRY(rlar__alloc(ctx, blocks.total + 1, sizeof *out->whole, "the blocks", &out->whole));
    out->at[0] = 0;
    out->whole[0] = true;
    for (out->count = 1; out->at[out->count - 1] < blocks.n; out->count++) {
        const int64_t end = rlar__block_end(&blocks, out->at[out->count - 1]);
        out->at[out->count] = end;
        out->whole[out->count] = whole[rlar__class_of(whole, c, end - 1) + 1] == end;
    }
    return RLAR_OK;
}

static bool allowed(const ends *e, int64_t i) {
    return !e->between || e->whole[i];
}

/* From the end number i back: how far does one rank reach with so many samples at most? */
static int64_t back_from(const ends *e, int64_t i, int64_t size) {
    int64_t reached = i;
    for (int64_t k = i - 1; k >= 0 && e->at[i] - e->at[k] <= size; k--)
        if (allowed(e, k))
            reached = k;
    return reached;
}

static bool enough(const ends *e, int ranks, int64_t size) {
    int64_t i = e->count - 1;
    for (int r = 0; r < ranks && i > 0; r++)
        i = back_from(e, i, size);
    return i == 0;
}

/* The least size that is enough. */
static int64_t least_size(const ends *e, int ranks) {
    int64_t low = 0, high = e->at[e->count - 1];
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (enough(e, ranks, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Where the rank that begins with end number `from` should stop, not before number `stop`: within
 * a class only where it must, else as near as possible to its share of what is left. */
static int64_t choose(const ends *e, int64_t from, int64_t stop, int64_t size, int ranks) {
    const double all = (double)(e->at[e->count - 1] - e->at[from]);
    const double share = (double)e->at[from] + all / (double)ranks;
    int64_t best = -1;
    for (int64_t i = rlar__max64(from + 1, stop); i < e->count && e->at[i] - e->at[from] <= size;
         i++) {
        const bool better = best < 0 || (e->whole[i] && !e->whole[best]);
        const bool worse = best >= 0 && e->whole[best] && !e->whole[i];
        const double off = fabs((double)e->at[i] - share);
        if (allowed(e, i) && !worse && (better || off < fabs((double)e->at[best] - share)))
            best = i;
    }
    return best < 0 ? e->count - 1 : best;
}

static rlar_status choose_all(rlar_ctx *ctx, const ends *e, int ranks, int64_t size, int64_t *cut) {
    int64_t *stop = NULL, at = 0; /* stop[r]: where rank r has to begin at the earliest */
    RLAR_TRY(rlar__alloc(ctx, ranks + 1, sizeof *stop, "the ranks", &stop));
    stop[ranks] = e->count - 1;
    for (int r = ranks - 1; r >= 0; r--)
        stop[r] = back_from(e, stop[r + 1], size);
    cut[0] = 0;
    for (int r = 0; r < ranks; r++) {
        at = choose(e, at, stop[r + 1], size, ranks - r);
        cut[r + 1] = e->at[at];
    }
    rlar__free(stop);
    return RLAR_OK;
}

rlar_status rlar__ranks_cut(rlar_ctx *ctx, int64_t c, const int64_t *whole, int ranks,
                            int64_t *cut) {
    ends e = {0};
    rlar_status status = find_ends(ctx, c, whole, &e);
    if (status >= 0) {
        int64_t size = least_size(&e, ranks);
        e.between = true;
        const int64_t undivided = least_size(&e, ranks);
        e.between = (double)undivided <= WHOLE * (double)size;
        size = e.between ? undivided : size;
        status = choose_all(ctx, &e, ranks, size, cut);
    }
    rlar__free(e.at);
    rlar__free(e.whole);
    return status;
}
