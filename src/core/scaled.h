/* scaled.h - between the reader and the writer of numbers: whole numbers times powers of ten. */
#ifndef RLAR_SCALED_H
#define RLAR_SCALED_H

#include "core/core.h"

__extension__ typedef unsigned __int128 rlar_u128;

typedef struct rlar_extended {
    rlar_u128 f; /* top bit set */
    int x;       /* the value is f 2^x, truncated */
} rlar_extended;

/* The true value lies in [f, f + 2^RLAR_SCALED_ERROR_BITS) 2^x: the power of ten has an error below
 * 8 units in the last place, the product one below 2 (8 + 2). */
enum { RLAR_SCALED_ERROR_BITS = 5 };

/* word 10^e for word > 0, |e| < 350. */
rlar_extended rlar__scaled(uint64_t word, int e);

#endif
