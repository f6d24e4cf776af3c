/* rotation.h - a sparse basis of a subspace that may turn as it gets sparser. */
#ifndef RLAR_ROTATION_H
#define RLAR_ROTATION_H

#include "core/core.h"

/* minimise ||G||_1   subject to U^T G = C Z,   Z^T Z = I   over G (d x q) and Z (q x q). */
typedef struct rlar_rotation_problem {
    int64_t d, r, q;
    const double *u; /* d x r, orthonormal columns */
    const double *c; /* r x q */
    int64_t iters;   /* at least 1 */
    double tol;      /* stop when the gap and the change of G are below this share */
} rlar_rotation_problem;

/* g (d x q): U C at first, then what was found, feasible to rounding whatever the iteration came
 * to. The problem is not convex: *norm = ||G||_1 may be above that of the best G with Z = I, so the
 * caller compares. step (d x q) is scratch, which a caller with iterates of its own has to spare.
 */
rlar_status rlar__rotation_solve(rlar_ctx *ctx, const rlar_rotation_problem *problem, double *g,
                                 double *step, double *norm);
/* That it takes beside them. */
double rlar__rotation_bytes(int64_t r, int64_t q);

#endif
