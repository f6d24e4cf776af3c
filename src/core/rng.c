/* rng.c - splitmix64: a counter with a strong mixing function.
 *
 * The k-th draw is a function of seed + k * GAMMA alone, so a stream can be re-run from any trial
 * and does not depend on threads. Good enough for shuffles, not for secrets. */
#include "core/core.h"

static const uint64_t GAMMA = 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio, odd: full period */

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

rlar_rng rlar__rng_seed(const uint64_t *words, int count) {
    rlar_rng rng = {0};
    for (int i = 0; i < count; i++)
        rng.state = mix(rng.state + GAMMA + words[i]);
    return rng;
}

uint64_t rlar__rng_next(rlar_rng *rng) {
    rng->state += GAMMA;
    return mix(rng->state);
}

uint64_t rlar__rng_below(rlar_rng *rng, uint64_t bound) {
    /* 2^64 mod bound: the draws below it would favour small results. */
    const uint64_t reject = (0 - bound) % bound;
    for (;;) {
        const uint64_t draw = rlar__rng_next(rng);
        if (draw >= reject)
            return draw % bound;
    }
}

/* Fisher-Yates from the end; the order of draws is part of the promise that splits can be repeated.
 */
void rlar__rng_shuffle(rlar_rng *rng, int64_t *items, int64_t count) {
    for (int64_t i = count - 1; i > 0; i--) {
        const int64_t j = (int64_t)rlar__rng_below(rng, (uint64_t)i + 1);
        const int64_t kept = items[i];
        items[i] = items[j];
        items[j] = kept;
    }
}
