/* refine.h - a solution of the d x d system (wsolve.h), corrected by what the samples say of it. */
#ifndef RLAR_REFINE_H
#define RLAR_REFINE_H

#include "solver/wsolve.h"

typedef struct rlar_refiner {
    double *step; /* d x c and c: the correction of W and b */
    double *ones; /* n; NULL: there is no offset */
} rlar_refiner;

void rlar__refine_carve(rlar_workspace *ws, int64_t n, int64_t d, int64_t c, bool offset,
                        rlar_refiner *out);
/* One correction of w and b, which the primal gave, with the factor that it left behind. y: room
 * for outputs, c x n, with a graph also of the samples of the same classes on other ranks. *change:
 * the share of W that was corrected. */
rlar_status rlar__refine(rlar_ctx *ctx, const rlar_wproblem *problem, rlar_wsolver *solver,
                         const rlar_refiner *refiner, double *y, double *w, double *b,
                         double *change);

/* Its operations where n samples are here, and what ranks say in it, added. */
double rlar__refine_flops(int64_t n, int64_t d, int64_t c);
void rlar__refine_talk(int64_t d, int64_t c, bool offset, bool graph, rlar_exchange *out);

#endif
