/* cost.c - the traffic of a fit over ranks (cost.h).
 *
 * A sum over samples goes up a tree of ranks and comes back as a broadcast (tree.c). How many
 * partial sums a rank hands on depends on the blocks alone; with it everything is linear in the
 * count of sums and in the numbers that they have. Systems are dealt out as system.c does it. */
#include "linalg/cost.h"

#include <math.h>
#include <string.h>

#include "dist/team.h"
#include "linalg/errands.h"

static const double NUMBER = sizeof(double), HEAD = sizeof(int64_t), NODE = sizeof(rlar_node);

/* Where solving together was measured to be faster (docs/decisions.md 84): from this order on, with
 * so many ranks for every thread that a rank has for a solve of its own; ScaLAPACK has one. */
enum { LEAST_ORDER = 2000, RANKS_PER_THREAD = 2 };

int64_t rlar__spread_least(int ranks, int threads) {
    return ranks >= RANKS_PER_THREAD * threads ? LEAST_ORDER : 0;
}

/* ---- Partial sums ---- */

/* Of the blocks from .. to-1, added up as far as they make whole nodes of the tree. */
static double nodes_of(int64_t from, int64_t to) {
    double count = 0.0;
    while (from < to) {
        int64_t size = 1;
        while (from % (2 * size) == 0 && 2 * size <= to - from)
            size *= 2;
        from += size;
        count++;
    }
    return count;
}

/* Rank r > 0 hands on what it has to rank r - step, when it has heard those up to r + step - 1. */
static int step_of(int r) {
    int step = 1;
    while (r % (2 * step) == 0)
        step *= 2;
    return step;
}

static rlar_status count_pending(rlar_ctx *ctx, const rlar_blocks *blocks, double *pending) {
    const int ranks = rlar__team_ranks(ctx);
    int64_t *first = NULL, here = blocks->n > 0 ? blocks->before : -1;
    RLAR_TRY(rlar__alloc(ctx, ranks + 1, sizeof *first, "the blocks of the ranks", &first));
    const rlar_status status = rlar__team_collect(ctx, &here, sizeof here, first);
    first[ranks] = blocks->total;
    for (int r = ranks - 1; r >= 0 && status >= 0; r--) /* a rank without any is anywhere */
        first[r] = first[r] < 0 ? first[r + 1] : first[r];
    for (int r = 0; r < ranks && status >= 0; r++) {
        const int end = r > 0 && step_of(r) < ranks - r ? r + step_of(r) : ranks;
        pending[r] = r > 0 ? nodes_of(first[r], first[end]) : 0.0;
    }
    rlar__free(first);
    return status;
}

/* As solver/wsolve.c goes through them: portions end with blocks. */
static void count_portions(const rlar_blocks *blocks, double *portions) {
    rlar_blocks all = *blocks;
    all.start = 0;
    for (int r = 0; blocks->cut && r < blocks->holders; r++)
        for (int64_t at = blocks->cut[r], end; at < blocks->cut[r + 1]; at = end) {
            end = rlar__block_end(&all, at);
            const int64_t count = (end - at + RLAR_PORTION - 1) / RLAR_PORTION;
            portions[r] += (double)count;
        }
}

rlar_status rlar__cost_new(rlar_ctx *ctx, const rlar_blocks *blocks, rlar_cost *out) {
    const int64_t ranks = rlar__team_ranks(ctx);
    *out = (rlar_cost){.spread = blocks->spread, .blocks = blocks};
    RLAR_TRY(rlar__calloc(ctx, 4 * ranks, sizeof *out->pending, "the cost model", &out->pending));
    out->portions = out->pending + ranks;
    out->sent = out->portions + ranks;
    out->received = out->sent + ranks;
    count_portions(blocks, out->portions);
    return count_pending(ctx, blocks, out->pending);
}

void rlar__cost_free(rlar_cost *cost) {
    rlar__free(cost->pending);
    *cost = (rlar_cost){0};
}

/* ---- Messages ---- */

static void move(const rlar_cost *c, int from, int to, double bytes) {
    c->sent[from] += bytes;
    c->received[to] += bytes;
}

/* From rank 0; handed over once. */
static void tell_all(const rlar_cost *c, double bytes) {
    c->sent[0] += bytes;
    for (int r = 1; r < c->spread.ranks; r++)
        c->received[r] += bytes;
}

/* So many sums with so many numbers in all, up to rank 0. */
static void gather(const rlar_cost *c, double sums, double numbers) {
    for (int r = 1; r < c->spread.ranks; r++)
        move(c, r, r - step_of(r), sums * HEAD + c->pending[r] * (sums * NODE + numbers * NUMBER));
}

/* To each rank its tiles, and the trace to all. */
static void deal(const rlar_cost *c, const rlar_tiles *t, double factors) {
    for (int r = 1; r < t->rows * t->cols; r++)
        move(c, 0, r, factors * NUMBER * (double)rlar__tiles_lower(t, r));
    tell_all(c, factors * NUMBER);
}

/* The parts of the solution to rank 0, and all of it to all. */
static void solve(const rlar_cost *c, const rlar_tiles *t, double solves) {
    for (int r = 1; r < t->rows * t->cols; r++) {
        const rlar_tiles part = rlar__tiles_of(&c->spread, r, t->n, t->p);
        const double left = (double)(t->p - r % t->cols * t->sides);
        const double sides = fmax(fmin(left, (double)t->sides), 0.0);
        move(c, r, 0, solves * NUMBER * (double)part.height * sides);
    }
    tell_all(c, solves * NUMBER * (double)t->n * (double)t->p);
}

/* What the users' guide of ScaLAPACK has for a factorisation; a solve moves the right-hand sides
 * there and back. */
static double inside(const rlar_tiles *t, const rlar_exchange *what) {
    const double n = (double)t->n, ranks = (double)(t->rows * t->cols);
    return NUMBER * (what->factors * (2.0 + 0.5 * log2(ranks)) * n * n / sqrt(ranks) +
                     what->solves * 2.0 * n * (double)t->p);
}

rlar_load rlar__cost_of(const rlar_cost *cost, const rlar_talk *talk, const rlar_exchange *what) {
    const int ranks = cost->spread.ranks;
    const double n = (double)talk->order, triangle = what->factors * n * (n + 1.0) / 2.0;
    const rlar_tiles t = rlar__tiles_of(&cost->spread, 0, talk->order, talk->sides);
    rlar_load load = {0};
    memset(cost->sent, 0, 2 * (size_t)ranks * sizeof *cost->sent);
    gather(cost, what->sums + what->factors, what->numbers + triangle);
    tell_all(cost, NUMBER * (what->numbers + (t.block > 0 ? 0.0 : triangle)));
    if (t.block > 0) {
        deal(cost, &t, what->factors);
        solve(cost, &t, what->solves);
        load.inside = inside(&t, what);
    }
    load.fetched = rlar__cost_divided(cost, talk, what);
    for (int r = 0; r < ranks; r++) {
        load.received += cost->received[r];
        load.busiest = fmax(load.busiest, cost->sent[r] + cost->received[r]);
    }
    return load;
}

double rlar__cost_spared(const rlar_cost *cost, const rlar_talk *talk) {
    const rlar_tiles t = rlar__tiles_of(&cost->spread, 0, talk->order, talk->sides);
    const double n = (double)talk->order, each = n * n * n / 3.0;
    if (t.block == 0)
        return 0.0;
    return (talk->once.factors + talk->iterations * talk->iteration.factors) * each *
           (1.0 - 1.0 / (double)(t.rows * t.cols));
}
