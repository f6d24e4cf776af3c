/* mutate.h - random edits of a model file, for the unit test and tests/verify/mutated_models.c. */
#ifndef RLAR_TEST_MUTATE_H
#define RLAR_TEST_MUTATE_H

#include <string.h>

#include "core/core.h"

/* One to four edits: a random byte, a digit in the header, a copied stretch. */
static inline void mutate(rlar_rng *rng, unsigned char *bytes, size_t size) {
    const size_t edits = 1 + rlar__rng_below(rng, 4);
    for (size_t e = 0; e < edits; e++) {
        const size_t at = rlar__rng_below(rng, size);
        const uint64_t kind = rlar__rng_below(rng, 3);
        if (kind == 0)
            bytes[at] = (unsigned char)rlar__rng_next(rng);
        else if (kind == 1)
            bytes[8 + rlar__rng_below(rng, size - 8)] =
                (unsigned char)"0123456789,[]{}\":-"[rlar__rng_below(rng, 18)];
        else {
            const size_t from = rlar__rng_below(rng, size);
            const size_t room = size - (at > from ? at : from);
            memmove(bytes + at, bytes + from, rlar__rng_below(rng, room < 40 ? room : 40));
        }
    }
}

#endif
