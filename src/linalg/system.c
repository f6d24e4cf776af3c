/* system.c - the d x d system of a fit over ranks (linalg.h).
 *
 * Where it is small, every rank gets the sum and factors it: d^3/3 operations each, and no further
 * word between them. Where it is large, rank 0 sends each rank its tiles of the lower triangle, in
 * place of the whole to all of them, and the host factors it (rlar_team.factor). The tiles lie in
 * the matrix that the sum was made in, so this takes no memory but for a message and for a rank's
 * part of the right-hand sides. When a pivot fails the sum is made again, as without tiles. */
#include <math.h>
#include <string.h>

#include "dist/team.h"
#include "linalg/linalg.h"

enum {
    LARGEST_TILE = 64, /* rows: docs/decisions.md 84 */
    TILES_EACH = 4,    /* to a rank and side, at the least: so that all have work to the end */
    PIECE = 1 << 16    /* numbers of a message */
};

/* ---- Who has what ---- */

/* Of n rows or columns in blocks that are dealt out to `of` places, those at place `at`. */
static int64_t extent(int64_t n, int64_t block, int at, int of) {
    const int64_t whole = n / block, rest = whole % of;
    return whole / of * block + (at < rest ? block : at == rest ? n % block : 0);
}

static void locate(rlar_tiles *t, int rank) {
    const bool in = rank < t->rows * t->cols;
    t->height = in ? extent(t->n, t->block, rank / t->cols, t->rows) : 0;
    t->width = in ? extent(t->n, t->block, rank % t->cols, t->cols) : 0;
}

/* As square a grid as there can be; one or the other rank may be left over. */
rlar_tiles rlar__tiles_of(const rlar_spread *spread, int rank, int64_t n, int64_t p) {
    rlar_tiles t = {.size = sizeof t, .n = n, .p = p};
    if (spread->least < 1 || n < spread->least)
        return t;
    t.rows = (int)sqrt((double)spread->ranks + 0.5);
    t.cols = spread->ranks / t.rows;
    const int64_t block = rlar__min64(LARGEST_TILE, n / (TILES_EACH * t.cols));
    t.block = block > 1 ? block : 1;
    t.sides = (p + t.cols - 1) / t.cols;
    locate(&t, rank);
    return t;
}

/* The columns of the right-hand sides that a rank has: from *first on. */
static int64_t sides_of(const rlar_tiles *t, int rank, int64_t *first) {
    *first = rlar__min64(rank % t->cols * t->sides, t->p);
    return rlar__min64(t->sides, t->p - *first);
}

/* ---- The lower triangle of a rank's tiles ---- */

/* A run of one column: its first entry in the matrix, the same among the tiles, and its length. */
typedef struct run {
    int64_t i, j, il, jl, count;
} run;

/* From il, jl on, where it also leaves off; false: there is no more. */
static bool next_run(const rlar_tiles *t, int rank, int64_t *il, int64_t *jl, run *out) {
    const int row = rank / t->cols, col = rank % t->cols;
    for (; *jl < t->width; ++*jl, *il = 0) {
        const int64_t j = (*jl / t->block * t->cols + col) * t->block + *jl % t->block;
        while (*il < t->height) {
            const int64_t in = *il % t->block;
            const int64_t i = (*il / t->block * t->rows + row) * t->block + in;
            const int64_t left = rlar__min64(t->block - in, t->height - *il);
            const int64_t above = i < j ? rlar__min64(j - i, left) : 0;
            *il += above;
            if (above == left)
                continue;
            *out = (run){.i = i + above, .j = j, .il = *il, .jl = *jl, .count = left - above};
            *il += out->count;
            return true;
        }
    }
    return false;
}

int64_t rlar__tiles_lower(const rlar_tiles *tiles, int rank) {
    rlar_tiles t = *tiles;
    int64_t il = 0, jl = 0, sum = 0;
    run r;
    locate(&t, rank);
    while (next_run(&t, rank, &il, &jl, &r))
        sum += r.count;
    return sum;
}

/* The next message of a rank's tiles, between the piece and the whole matrix (out) or the tiles.
 * Runs that do not fit end a message. */
static int64_t walk(const rlar_system *s, const rlar_tiles *t, int rank, int64_t *il, int64_t *jl,
                    bool out) {
    int64_t used = 0, at_i = *il, at_j = *jl;
    run r;
    while (next_run(t, rank, &at_i, &at_j, &r) && used + r.count <= PIECE) {
        if (out)
            memcpy(s->piece + used, s->m + r.j * s->n + r.i, (size_t)r.count * sizeof *s->m);
        else
            memcpy(s->m + r.jl * t->height + r.il, s->piece + used, (size_t)r.count * sizeof *s->m);
        used += r.count;
        *il = at_i;
        *jl = at_j;
    }
    return used;
}

/* How many numbers the next message has. */
static int64_t measure(const rlar_tiles *t, int rank, int64_t il, int64_t jl) {
    int64_t used = 0;
    run r;
    while (next_run(t, rank, &il, &jl, &r) && used + r.count <= PIECE)
        used += r.count;
    return used;
}

static rlar_status send_tiles(rlar_ctx *ctx, const rlar_system *s, int to) {
    rlar_tiles t = s->tiles;
    int64_t il = 0, jl = 0, count;
    locate(&t, to);
    while ((count = walk(s, &t, to, &il, &jl, true)) > 0)
        RLAR_TRY(rlar__team_send(ctx, to, s->piece, (size_t)count * sizeof *s->piece));
    return RLAR_OK;
}

static rlar_status receive_tiles(rlar_ctx *ctx, const rlar_system *s) {
    const int rank = rlar__team_rank(ctx);
    int64_t il = 0, jl = 0, count;
    while ((count = measure(&s->tiles, rank, il, jl)) > 0) {
        RLAR_TRY(rlar__team_receive(ctx, 0, s->piece, (size_t)count * sizeof *s->piece));
        walk(s, &s->tiles, rank, &il, &jl, false);
    }
    return RLAR_OK;
}

/* From the matrix to its own tiles in the same place: none goes farther than where it came from, so
 * none is overwritten before it has gone. */
static void keep_tiles(const rlar_system *s) {
    int64_t il = 0, jl = 0;
    run r;
    while (next_run(&s->tiles, 0, &il, &jl, &r))
        memmove(s->m + r.jl * s->tiles.height + r.il, s->m + r.j * s->n + r.i,
                (size_t)r.count * sizeof *s->m);
}

static rlar_status deal(rlar_ctx *ctx, const rlar_system *s) {
    if (rlar__team_rank(ctx) > 0)
        return receive_tiles(ctx, s);
    for (int r = 1; r < s->tiles.rows * s->tiles.cols; r++)
        RLAR_TRY(send_tiles(ctx, s, r));
    keep_tiles(s);
    return RLAR_OK;
}

/* ---- Factor and solve ---- */

static rlar_status host_failed(rlar_ctx *ctx, const rlar_system *s, int answer) {
    if (answer == RLAR_E_UNSUPPORTED)
        return rlar__fail(ctx, RLAR_E_UNSUPPORTED,
                          "rank %d: ScaLAPACK, which the ranks need to solve together, cannot be "
                          "opened; install it or use --solve replicated",
                          rlar__team_rank(ctx));
    if (answer == RLAR_E_TOO_LARGE)
        return rlar__fail(ctx, RLAR_E_TOO_LARGE,
                          "the %lld x %lld system is too large for a grid of %d x %d ranks, whose "
                          "tiles are counted in 32 bits; use more ranks or --solve replicated",
                          (long long)s->n, (long long)s->n, s->tiles.rows, s->tiles.cols);
    return rlar__fail(ctx, RLAR_E_IO,
                      "rank %d: the solve of all ranks together failed; one has ended, or the "
                      "network has",
                      rlar__team_rank(ctx));
}

static rlar_status attempt(rlar_ctx *ctx, void *arg, bool *failed) {
    const rlar_system *s = arg;
    RLAR_TRY(deal(ctx, s));
    const int answer = ctx->team->factor(ctx->team->user, &s->tiles, s->m);
    *failed = answer > 0;
    return answer < 0 ? host_failed(ctx, s, answer) : RLAR_OK;
}

void rlar__system_carve(rlar_workspace *ws, const rlar_blocks *blocks, int64_t n, int64_t p,
                        rlar_system *out) {
    size_t row = 0;
    if (!rlar__size_mul((size_t)n, sizeof(double), &row))
        ws->overflow = true;
    *out = (rlar_system){.n = n};
    out->m = rlar__carve(ws, n, row);
    out->tiles.p = p;
    if (blocks)
        out->tiles = rlar__tiles_of(&blocks->spread, blocks->spread.rank, n, p);
    if (!rlar__system_spread(out))
        return;
    out->b = rlar__carve(ws, out->tiles.height, (size_t)out->tiles.sides * sizeof *out->b);
    out->piece = rlar__carve(ws, PIECE, sizeof *out->piece);
}

rlar_status rlar__system_end(rlar_ctx *ctx, const rlar_system *system, rlar_tree *tree) {
    return rlar__system_spread(system) ? rlar__tree_end_first(ctx, tree)
                                       : rlar__tree_end(ctx, tree);
}

rlar_status rlar__system_factor(rlar_ctx *ctx, rlar_system *system, rlar_rebuild rebuild, void *arg,
                                int *ridged) {
    if (!rlar__system_spread(system))
        return rlar__chol_factor_by(ctx, system->n, system->m, rebuild, arg, ridged);
    rlar_guard g = {.n = system->n,
                    .a = system->m,
                    .attempt = attempt,
                    .attempted = system,
                    .rebuild = rebuild,
                    .rebuilt = arg};
    g.trace = rlar__team_rank(ctx) == 0 ? rlar__trace(g.n, g.a) : 0.0;
    RLAR_TRY(rlar__team_broadcast(ctx, 0, &g.trace, sizeof g.trace));
    return rlar__guarded(ctx, &g, &system->added, ridged);
}

/* Between the right-hand sides of all and the part of a rank, which is t's. */
static void copy_sides(const rlar_system *s, const rlar_tiles *t, int rank, bool out, double *b) {
    int64_t first, count = sides_of(t, rank, &first);
    const int row = rank / t->cols;
    for (int64_t k = 0; k < count; k++)
        for (int64_t il = 0, size; il < t->height; il += size) {
            double *whole = b + (first + k) * s->n + (il / t->block * t->rows + row) * t->block;
            double *part = s->b + k * t->height + il;
            size = rlar__min64(t->block, t->height - il);
            memcpy(out ? part : whole, out ? whole : part, (size_t)size * sizeof *b);
        }
}

static size_t bytes_of_sides(const rlar_tiles *t, int rank) {
    int64_t first;
    return (size_t)(t->height * sides_of(t, rank, &first)) * sizeof(double);
}

/* The parts of all ranks to rank 0, which has room for each: none is larger than its own. */
static rlar_status collect(rlar_ctx *ctx, const rlar_system *s, double *b) {
    const int rank = rlar__team_rank(ctx), count = s->tiles.rows * s->tiles.cols;
    if (rank > 0)
        return rank < count ? rlar__team_send(ctx, 0, s->b, bytes_of_sides(&s->tiles, rank))
                            : RLAR_OK;
    copy_sides(s, &s->tiles, 0, false, b);
    for (int r = 1; r < count; r++) {
        rlar_tiles t = s->tiles;
        locate(&t, r);
        RLAR_TRY(rlar__team_receive(ctx, r, s->b, bytes_of_sides(&t, r)));
        copy_sides(s, &t, r, false, b);
    }
    return RLAR_OK;
}

rlar_status rlar__system_solve(rlar_ctx *ctx, const rlar_system *system, double *b) {
    const rlar_system *s = system;
    const int64_t p = s->tiles.p;
    if (!rlar__system_spread(s))
        return rlar__chol_solve(ctx, s->n, p, s->m, b);
    copy_sides(s, &s->tiles, rlar__team_rank(ctx), true, b);
    const int answer = ctx->team->solve(ctx->team->user, &s->tiles, s->m, s->b);
    if (answer < 0)
        return host_failed(ctx, s, answer);
    RLAR_TRY(collect(ctx, s, b));
    return rlar__team_broadcast(ctx, 0, b, (size_t)(s->n * p) * sizeof *b);
}
