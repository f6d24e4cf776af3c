/* divided.h - classes that are larger than a fair share and lie on several ranks.
 *
 * Samples are numbered from the first one here: those of a class that lie on the ranks before have
 * negative numbers, those on the ranks behind follow the last one here. So what a rank needs of all
 * samples of its classes, such as their outputs, stands in one array with the samples here in its
 * middle, and a neighbour is found by its number wherever it lies.
 *
 * At most two classes of a rank are cut: its first and its last. Where that is so the ranks of both
 * make the same calls; in what order the two classes are served does not depend on the rank, and
 * every second class comes first, so that no chain of ranks waits for its beginning. */
#ifndef RLAR_DIVIDED_H
#define RLAR_DIVIDED_H

#include "linalg/linalg.h"

enum { RLAR_VISITORS = 512 }; /* samples that pass through a rank at a time */

typedef struct rlar_divided {
    int64_t from, to;   /* the class */
    int64_t begin, end; /* what of it is here */
    int64_t number;     /* of the class */
    int low, high;      /* the ranks that it lies on, and perhaps some without samples */
} rlar_divided;

/* The classes here that are cut, in the order in which they are served; returns how many. blocks
 * NULL, for all that follows: none is. */
int rlar__divided(const rlar_blocks *blocks, rlar_divided out[2]);
/* Samples of the classes here that lie on ranks before, and behind. */
int64_t rlar__divided_before(const rlar_blocks *blocks);
int64_t rlar__divided_behind(const rlar_blocks *blocks);
/* Room for the n samples here and these; points to that of the first one here. */
void *rlar__carve_around(rlar_workspace *ws, const rlar_blocks *blocks, int64_t n, size_t size);
/* Zeros in all of it. */
void rlar__zero_around(const rlar_blocks *blocks, int64_t n, size_t size, void *at);

/* `size` bytes at `bytes` of rank `owner` to all that the class lies on. */
rlar_status rlar__divided_spread(rlar_ctx *ctx, const rlar_blocks *blocks,
                                 const rlar_divided *split, int owner, void *bytes, size_t size);
/* Whose is sample m of the class? */
int rlar__divided_owner(const rlar_blocks *blocks, int64_t m);
/* The elements of `size` bytes of all samples of one class that is cut, or of both, from those
 * here; the array has room around. */
rlar_status rlar__divided_gather_one(rlar_ctx *ctx, const rlar_blocks *blocks,
                                     const rlar_divided *split, size_t size, void *first);
rlar_status rlar__divided_gather(rlar_ctx *ctx, const rlar_blocks *blocks, size_t size,
                                 void *first);

/* Some samples, z of the first of them, in turn before the eyes of others of the same classes, the
 * samples begin .. end-1 here. */
typedef struct rlar_visit {
    int64_t begin, end;
    int64_t from, to;
    const double *z;
} rlar_visit;
typedef rlar_status (*rlar_visit_fn)(rlar_ctx *ctx, void *arg, const rlar_visit *visit);
/* The samples z (p x n) of the classes that are cut pass through all ranks that these lie on, then
 * those of the other classes here come by, all at once. room: p x RLAR_VISITORS. */
rlar_status rlar__divided_pass(rlar_ctx *ctx, const rlar_blocks *blocks, int64_t n, int64_t p,
                               const double *z, double *room, rlar_visit_fn visit, void *arg);

/* Between two ranks, for those who know nothing of teams. */
rlar_status rlar__divided_send(rlar_ctx *ctx, int to, const void *bytes, size_t size);
rlar_status rlar__divided_receive(rlar_ctx *ctx, int from, void *bytes, size_t size);
/* Does a rank share a class with this one? */
bool rlar__divided_mate(const rlar_blocks *blocks, int other);
/* One after another with every rank that does; `first`: this one speaks first. */
typedef rlar_status (*rlar_trade_fn)(rlar_ctx *ctx, void *arg, int other, bool first);
rlar_status rlar__divided_trade(rlar_ctx *ctx, const rlar_blocks *blocks, rlar_trade_fn trade,
                                void *arg);

#endif
