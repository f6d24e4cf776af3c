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

typedef enum way { SEND, RECEIVE, BROADCAST } way;

static const char *const way_text[] = {"sending to", "receiving from", "a broadcast from"};

/* One piece; `out` is what is sent, `in` what is written to. */
static int carry(const rlar_team *team, way how, int other, const char *out, char *in,
                 size_t count) {
    if (how == SEND)
        return team->send(team->user, other, out, count);
    return how == RECEIVE ? team->receive(team->user, other, in, count)
                          : team->broadcast(team->user, other, in, count);
}

/* A broadcast is handed over once, however the host passes it on. */
static void count_bytes(rlar_ctx *ctx, way how, int other, size_t count) {
    if (how == SEND || (how == BROADCAST && other == ctx->team->rank))
        ctx->traffic->sent += (int64_t)count;
    else
        ctx->traffic->received += (int64_t)count;
}

static rlar_status in_pieces(rlar_ctx *ctx, way how, int other, const void *out, void *in,
                             size_t count) {
    for (size_t done = 0, size; done < count; done += size) {
        size = count - done < MOST_BYTES ? count - done : MOST_BYTES;
        const char *from = out ? (const char *)out + done : NULL;
        char *to = in ? (char *)in + done : NULL;
        if (carry(ctx->team, how, other, from, to, size) != 0)
            return rlar__fail(ctx, RLAR_E_IO,
                              "rank %d: %s rank %d failed; it has ended, or the network has",
                              ctx->team->rank, way_text[how], other);
    }
    count_bytes(ctx, how, other, count);
    return RLAR_OK;
}

rlar_status rlar__team_send(rlar_ctx *ctx, int to, const void *bytes, size_t count) {
    return in_pieces(ctx, SEND, to, bytes, NULL, count);
}

rlar_status rlar__team_receive(rlar_ctx *ctx, int from, void *bytes, size_t count) {
    return in_pieces(ctx, RECEIVE, from, NULL, bytes, count);
}

rlar_status rlar__team_ready(rlar_ctx *ctx, int from, bool *ready) {
    const int answer = ctx->team->ready(ctx->team->user, from);
    *ready = answer > 0;
    return answer >= 0
               ? RLAR_OK
               : rlar__fail(ctx, RLAR_E_IO, "rank %d: %s rank %d failed; %s", ctx->team->rank,
                            "waiting for", from, "it has ended, or the network has");
}

rlar_status rlar__team_broadcast(rlar_ctx *ctx, int from, void *bytes, size_t count) {
    return rlar__team_ranks(ctx) == 1 ? RLAR_OK
                                      : in_pieces(ctx, BROADCAST, from, NULL, bytes, count);
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

int rlar__team_opponent(int rank, int ranks, int turn) {
    const int even = ranks + ranks % 2, wheel = even - 1;
    if (rank == wheel)
        return turn;
    const int other = ((2 * turn - rank) % wheel + wheel) % wheel;
    return other == rank ? wheel : other;
}

int rlar__team_turns(int ranks) {
    return ranks + ranks % 2 - 1;
}

rlar_status rlar_ctx_join(rlar_ctx *ctx, const rlar_team *team) {
    if (!ctx)
        return RLAR_E_ARG;
    rlar__begin(ctx);
    if (team && (team->size < sizeof *team || team->ranks < 1 || team->rank < 0 ||
                 team->rank >= team->ranks || !team->send || !team->receive || !team->broadcast ||
                 !team->factor != !team->solve))
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_ctx_join: a sized team with its functions and a rank below the "
                          "number of ranks is needed");
    ctx->team = team && team->ranks > 1 ? team : NULL;
    return RLAR_OK;
}

void rlar_ctx_traffic(const rlar_ctx *ctx, int64_t *sent, int64_t *received) {
    *sent = ctx->traffic->sent;
    *received = ctx->traffic->received;
}
