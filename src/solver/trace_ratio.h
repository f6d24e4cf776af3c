/* trace_ratio.h - orthonormal directions that maximise a quotient of traces. */
#ifndef RLAR_TRACE_RATIO_H
#define RLAR_TRACE_RATIO_H

#include "linalg/linalg.h"

/* maximise tr(W^T S_b W) / tr(W^T S_w W) subject to W^T W = I, W r x q, for positive semidefinite
 * S_b and S_w. Fill r, q and, between carving and starting, the lower triangles of sb and sw. */
typedef struct rlar_trace_ratio {
    int64_t r, q;
    double *sb, *sw; /* r x r; both triangles after the start */
    double *w;       /* r x (q + 1) of room, the answer r x q */
    double lambda;   /* the quotient; infinite where W lies in the null space of S_w */
    double excess;   /* g at the last lambda but one: the sum of the q largest eigenvalues of S_b -
                        lambda S_w; 0 at the optimum */
    double gap;     /* between eigenvalues q and q + 1 of that matrix (of S_b in the null space), as
                       a share of the largest; 0: W is not unique. 1 where there are only q */
    int64_t null;   /* eigenvalues of S_w up to 1e-10 of the largest */
    double *m, *t;  /* r x r buffers */
    double *values; /* r */
    rlar_eig_room eigen;
} rlar_trace_ratio;

void rlar__trace_ratio_carve(rlar_workspace *ws, rlar_trace_ratio *tr);
/* Decide the branch. q <= null: W is found, of all within the null space of S_w the one with the
 * largest tr(W^T S_b W), and lambda is infinite. Else lambda = tr(S_b) / tr(S_w), and steps follow.
 */
rlar_status rlar__trace_ratio_start(rlar_ctx *ctx, rlar_trace_ratio *tr);
/* One Newton step; lambda never falls. *done: it changed by no more than 1e-10 of itself. */
rlar_status rlar__trace_ratio_step(rlar_ctx *ctx, rlar_trace_ratio *tr, bool *done);

#endif
