/* texture.h - what a covered part of an image shows. */
#ifndef RLAR_TEXTURE_H
#define RLAR_TEXTURE_H

#include "core/core.h"

/* Sides of the texture of rlar_texture(), and of any other at most. */
enum { RLAR_TEXTURE_SIDE = 64, RLAR_TEXTURE_MOST = INT32_MAX };

/* The whole texture (rows x columns, row by row, sides of 1 to RLAR_TEXTURE_MOST) as a square of
 * side x side numbers by area averaging: each is the mean over its share of the texture. */
rlar_status rlar__texture_resize(rlar_ctx *ctx, const double *texture, int64_t rows,
                                 int64_t columns, int64_t side, double *square);

#endif
