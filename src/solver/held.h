/* held.h - a step of the weighted solve (wsolve.h), taken as far as it helps. */
#ifndef RLAR_HELD_H
#define RLAR_HELD_H

#include "solver/wsolve.h"

/* Where a step begins. */
typedef struct rlar_held {
    double *w, *b; /* d x c, c */
    double *y;     /* c x n outputs, with a graph also of the same classes on other ranks */
} rlar_held;

void rlar__held_carve(rlar_workspace *ws, const rlar_blocks *blocks, int64_t n, int64_t d,
                      int64_t c, rlar_held *out);
/* Before the solve: W, b and the outputs *y, which change places with the room for them. */
void rlar__held_keep(rlar_held *held, int64_t d, int64_t c, const double *w, const double *b,
                     double **y);
/* After it, with the outputs y of the new W and b: *cut where the step would raise the quadratic
 * objective of the problem. Then W and b are the best point between the two, or the old one, and y
 * is to be made again. room: c x n. */
rlar_status rlar__held_back(rlar_ctx *ctx, const rlar_wproblem *problem, const rlar_held *held,
                            const double *y, double *room, double *w, double *b, bool *cut);
/* What ranks say in it, added. */
void rlar__held_talk(rlar_exchange *out);

/* c x n: D (T - Y) - beta Y L, minus half of the gradient by the outputs y. */
rlar_status rlar__pull(rlar_ctx *ctx, const rlar_wproblem *problem, const double *y, double *pull);

#endif
