/* team.h - the ranks that share one fit, or the fits of an evaluation.
 *
 * In a fit each rank holds some of the samples, all hold the map, and all make the same calls in
 * the same order; eval/crew.h says what they do in an evaluation. How bytes get from one to another
 * is the host's business (rlar_team in rlar.h), such as MPI; threads in the tests. A context
 * without a team is alone, and every call here returns at once. A rank that fails cannot tell the
 * others: its host has to end them. */
#ifndef RLAR_TEAM_H
#define RLAR_TEAM_H

#include "core/core.h"

int rlar__team_rank(const rlar_ctx *ctx);
int rlar__team_ranks(const rlar_ctx *ctx);
rlar_status rlar__team_send(rlar_ctx *ctx, int to, const void *bytes, size_t count);
rlar_status rlar__team_receive(rlar_ctx *ctx, int from, void *bytes, size_t count);
/* Has that rank sent something? Does not wait. */
rlar_status rlar__team_ready(rlar_ctx *ctx, int from, bool *ready);
/* From rank `from` to all others. */
rlar_status rlar__team_broadcast(rlar_ctx *ctx, int from, void *bytes, size_t count);
/* all: `count` bytes of each rank, in their order. */
rlar_status rlar__team_collect(rlar_ctx *ctx, const void *bytes, size_t count, void *all);
/* Whom a rank meets in a turn of a tournament, in which all meet all in ranks - 1 turns (in `ranks`
 * of them where that is odd): so nobody waits for a rank that waits for a third. `ranks` or more:
 * nobody. */
int rlar__team_opponent(int rank, int ranks, int turn);
int rlar__team_turns(int ranks);

#endif
