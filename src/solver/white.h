/* white.h - coordinates in which the total scatter is 1. */
#ifndef RLAR_WHITE_H
#define RLAR_WHITE_H

#include "solver/reduce.h"

/* Columns in the coordinates of the reduction (r x q) <- T times them, with T such that T Z has Z
 * Z^T = I: diag(1/s), or L^-1 diag(scale) where there is a factor of S_t. */
rlar_status rlar__white(rlar_ctx *ctx, const rlar_reduced *reduced, int64_t q, double *z);
/* Directions back: Y (r x q) <- T^T Y. */
rlar_status rlar__white_back(rlar_ctx *ctx, const rlar_reduced *reduced, int64_t q, double *y);

#endif
