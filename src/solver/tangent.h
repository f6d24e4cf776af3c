/* tangent.h - MPDA's quadratic form: how well a projection follows the tangent spaces of patches.
 *
 *   sum_ij W_ij { [t^T (z_i - z_j) - b_p(j)^T T_p(j) (z_i - z_j)]^2
 *                 + gamma ||b_p(i) - T_p(i) T_p(j)^T b_p(j)||^2 }
 *     = [t; b]^T [S_tt S_tb; S_bt S_bb] [t; b]
 *
 * W is the symmetric 0/1 graph of neighbours within the classes, p(i) the patch of sample i, the
 * q_p rows of T_p its tangent basis. Patches of different classes never meet, so S_bb is made and
 * factorised one class at a time. */
#ifndef RLAR_TANGENT_H
#define RLAR_TANGENT_H

#include "core/core.h"
#include "graph/laplacian.h"
#include "graph/partition.h"

typedef struct rlar_tangents {
    int64_t r, size; /* size: E, the sum of all q_p */
    int64_t *first;  /* patches + 1: patch p has the columns first[p] .. first[p+1]-1 */
    double *basis;   /* r x E, the T_p^T side by side */
} rlar_tangents;

/* The fewest principal directions of each patch that hold the share `energy` of its variance, at
 * least 1; none for a patch whose largest singular value is at most `zero`. z is r x n. */
rlar_status rlar__tangents(rlar_ctx *ctx, const rlar_patches *patches, int64_t r, const double *z,
                           double energy, double zero, rlar_tangents *out);
void rlar__tangents_free(rlar_tangents *tangents);

typedef struct rlar_tangent_form {
    const rlar_groups *groups;
    const rlar_laplacian *l; /* of W; the edges between i and j add up to W_ij */
    const rlar_patches *patches;
    const rlar_tangents *tangents;
    const double *z; /* r x n */
    double gamma;
} rlar_tangent_form;

/* S_tt = 2 Z L Z^T, lower triangle, r x r. */
rlar_status rlar__tangent_tt(rlar_ctx *ctx, const rlar_tangent_form *form, double *tt);
/* The rows of S_bt (E x r) that belong to class i, and its block of S_bb, lower triangle. */
rlar_status rlar__tangent_class(rlar_ctx *ctx, const rlar_tangent_form *form, int64_t i, double *bt,
                                double *bb);
/* C = S_tt + alpha I - S_tb (S_bb + alpha I)^-1 S_bt, lower triangle, r x r: what is left of the
 * form when the b that minimise it are put in. *ridged as in rlar__chol_factor. */
rlar_status rlar__tangent_schur(rlar_ctx *ctx, const rlar_tangent_form *form, double alpha,
                                double *c, int *ridged);
/* Bytes that the Schur complement takes at the most, beside C, and operations. */
int64_t rlar__tangent_bytes(const rlar_ctx *ctx, const rlar_groups *groups, int64_t r);
double rlar__tangent_flops(const rlar_groups *groups, int64_t r);

#endif
