/* team.c - the host's functions, in pieces that a 32-bit count can hold, with errors that name the
 * other rank. */
#include "dist/team.h"

#include <string.h>

/* Of one message; the interfaces below a host may count in ints. */
static const size_t MOST_BYTES = (size_t)1 << 30;

int rlar__team_rank(const rlar_ctx *ctx) {
    return ctx->team ? ctx->team->rank : 0;
}

int rlar__team_ranks(const rlar_ctx *ctx) {
    return ctx->team ? ctx->team->ranks : 1;
}

static rlar_status lost(rlar_ctx *ctx, const char *what, int rank) {
    return rlar__fail(ctx, RLAR_E_IO,
                      "rank %d: %s rank %d failed; it has ended, or the network has",
                      ctx->team->rank, what, rank);
}

static size_t piece(size_t left) {
    return left < MOST_BYTES ? left : MOST_BYTES;
}

rlar_status rlar__team_send(rlar_ctx *ctx, int to, const void *bytes, size_t count) {
    const char *at = bytes;
    for (size_t size; count > 0; count -= size, at += size) {
        size = piece(count);
        if (ctx->team->send(ctx->team->user, to, at, size) != 0)
            return lost(ctx, "sending to", to);
    }
    return RLAR_OK;
}

rlar_status rlar__team_receive(rlar_ctx *ctx, int from, void *bytes, size_t count) {
    char *at = bytes;
    for (size_t size; count > 0; count -= size, at += size) {
        size = piece(count);
        if (ctx->team->receive(ctx->team->user, from, at, size) != 0)
            return lost(ctx, "receiving from", from);
    }
    return RLAR_OK;
}

rlar_status rlar__team_broadcast(rlar_ctx *ctx, int from, void *bytes, size_t count) {
    char *at = bytes;
    if (rlar__team_ranks(ctx) == 1)
        return RLAR_OK;
    for (size_t size; count > 0; count -= size, at += size) {
        size = piece(count);
        if (ctx->team->broadcast(ctx->team->user, from, at, size) != 0)
            return lost(ctx, "a broadcast from", from);
    }
    return RLAR_OK;
}

rlar_status rlar__team_collect(rlar_ctx *ctx, const void *bytes, size_t count, void *all) {
    const int rank = rlar__team_rank(ctx), ranks = rlar__team_ranks(ctx);
    char *place = all;
    memcpy(place + (size_t)rank * count, bytes, count);
    for (int i = 1; i < ranks && rank == 0; i++)
        RLAR_TRY(rlar__team_receive(ctx, i, place + (size_t)i * count, count));
    if (rank > 0)
        RLAR_TRY(rlar__team_send(ctx, 0, bytes, count));
    return rlar__team_broadcast(ctx, 0, all, (size_t)ranks * count);
}

rlar_status rlar_ctx_join(rlar_ctx *ctx, const rlar_team *team) {
    if (!ctx)
        return RLAR_E_ARG;
    rlar__begin(ctx);
    if (team && (team->size < sizeof *team || team->ranks < 1 || team->rank < 0 ||
                 team->rank >= team->ranks || !team->send || !team->receive || !team->broadcast))
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_ctx_join: a sized team with its functions and a rank below the "
                          "number of ranks is needed");
    ctx->team = team && team->ranks > 1 ? team : NULL;
    return RLAR_OK;
}
