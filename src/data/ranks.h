/* ranks.h - which rank holds which samples of a fit.
 *
 * The samples of all ranks stand in the order of their classes: those of rank 0 first, then those
 * of rank 1. A rank begins where a block of the sums does (linalg.h), so that any number of ranks
 * makes the same sums. A class lies on one rank where it can, so that its graph is local; one that
 * is larger than a fair share lies on several that follow each other (linalg/divided.h). */
#ifndef RLAR_RANKS_H
#define RLAR_RANKS_H

#include "linalg/linalg.h"

/* all: the sizes of the classes on all ranks together, from those here. */
rlar_status rlar__ranks_sizes(rlar_ctx *ctx, int64_t classes, const int64_t *here, int64_t *all);
/* The blocks of this rank; an error where the samples lie in another way. first, whole: c + 1,
 * where the classes begin among the samples here, and among all. cut: ranks + 1 numbers, kept by
 * the blocks; not used by one process. */
rlar_status rlar__ranks_blocks(rlar_ctx *ctx, int64_t c, const int64_t *first, const int64_t *whole,
                               int64_t *cut, rlar_blocks *out);
/* Who should hold which samples: those from cut[r] to cut[r + 1] - 1 belong to rank r. The largest
 * share is as small as the blocks allow, or as classes that stay whole allow where that is not much
 * more; a rank may be left without. cut has ranks + 1 numbers. */
rlar_status rlar__ranks_cut(rlar_ctx *ctx, int64_t c, const int64_t *whole, int ranks,
                            int64_t *cut);

#endif
