/* limits.h - the bare BLAS and LAPACK calls that a fit cannot do without, and the bare reading of a
 * file: what the fits and the readers are measured against. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include "words.h"

/* calls=NAME:SIZExSIZE..,.. one after the other, each timed on its own. `library` is the BLAS that
 * rlar has opened, with rlar's kernel. Answers. */
void bench_limit(const bench_words *words, const char *library);
/* path=FILE: map it and count its lines. Answers. */
void bench_lines(const bench_words *words);

#endif
