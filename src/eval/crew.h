/* crew.h - the ranks that share the fits of an evaluation.
 *
 * Rank 0 decides what is fitted, and hands out items (schedule.h) one by one; the others fit, and
 * send back what became of them. They speak in turns: a rank reports, and is given an order; it
 * reports again when it has an answer, when it has nothing to do, or when it has said nothing for
 * a while (so that it hears of a failure in time). So never do two wait for each other to listen.
 * Each thread has an item ahead, so that it need not wait for rank 0, which is busy, too. */
#ifndef RLAR_CREW_H
#define RLAR_CREW_H

#include "eval/board.h"
#include "eval/outcome.h"

/* All memory that telling of an error needs. */
rlar_status rlar__crew_new(rlar_ctx *ctx, const rlar_team *team, rlar_crew **out);
void rlar__crew_free(rlar_crew *crew); /* NULL is legal */
/* `status` says whether this rank can begin; key: of what the ranks must have in common. The first
 * rank that cannot, or is unlike rank 0, makes all fail, with its text. */
rlar_status rlar__crew_meet(rlar_ctx *ctx, rlar_crew *crew, rlar_status status, rlar_key key);
int64_t rlar__crew_threads(const rlar_crew *crew); /* of all ranks */
int64_t rlar__crew_ahead(int64_t threads);         /* items that a rank may have at once */

/* Rank 0, before a schedule. */
void rlar__crew_begin(rlar_crew *crew);
/* Hear and answer who has said something; does not wait. By the calling thread. Failures are
 * written on the board. */
void rlar__crew_serve(rlar_crew *crew, rlar_board *board);
/* Rank 0: is somebody at work? */
bool rlar__crew_is_busy(const rlar_crew *crew);

/* Rank 0: how all has ended; *results, begun and filled, or the text of the context. */
rlar_status rlar__crew_dismiss(rlar_ctx *ctx, rlar_crew *crew, rlar_status status,
                               const rlar_message *results);
/* Another rank: hear of the end, after saying what has failed here, if something has. Returns the
 * status of rank 0, with its text. */
rlar_status rlar__crew_leave(rlar_ctx *ctx, rlar_crew *crew, rlar_status status);
/* And the results. */
rlar_message *rlar__crew_results(rlar_crew *crew);

#endif
