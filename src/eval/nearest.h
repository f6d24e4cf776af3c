/* nearest.h - the nearest references of embedded samples, exactly. */
#ifndef RLAR_NEAREST_H
#define RLAR_NEAREST_H

#include "core/core.h"

/* The references: p x n embedded training samples and their classes. */
typedef struct rlar_references {
    int64_t p, n, c;
    const double *z;
    const int32_t *z_class;
} rlar_references;

/* A reference that is among the nearest. */
typedef struct rlar_near {
    double distance; /* squared */
    int64_t index;
} rlar_near;

/* One block of queries at a time; so many share a tile of products. */
enum { RLAR_NEAREST_BLOCK = 256 };

/* What is prepared once for all queries. */
typedef struct rlar_nearest {
    rlar_references refs;
    int64_t k;    /* neighbours wanted, at most refs.n */
    bool unit;    /* references are scaled to length 1 before each comparison */
    double *half; /* n: half the squared lengths, less the slack; NULL: every reference is measured,
                     for a query or two, or where the lengths are too large */
} rlar_nearest;

/* What one block in flight needs; see rlar__nearest_carve. */
typedef struct rlar_nearest_scratch {
    double *tile;    /* products of a chunk of references and the block; empty without half */
    double *own;     /* squared length of each query, less the slack where half is in use */
    double *scaled;  /* p: a reference of length 1; empty without unit */
    rlar_near *list; /* k for each query, nearest first; the result */
} rlar_nearest_scratch;

/* Prepare for m queries. `unit` is for few of them: for many the caller scales a copy. */
rlar_status rlar__nearest_open(rlar_ctx *ctx, const rlar_references *refs, int64_t k, bool unit,
                               int64_t m, rlar_nearest *out);
void rlar__nearest_close(rlar_nearest *s);
/* Are m queries so few that preparing anything would cost more than it saves? */
bool rlar__nearest_few(int64_t m);

/* Carve the scratch for blocks of at most `queries`. */
void rlar__nearest_carve(rlar_workspace *ws, const rlar_nearest *s, int64_t queries,
                         rlar_nearest_scratch *out);
/* The k nearest of each of `count` queries q (p x count, at most a block) into scratch->list,
 * single-threaded, for use inside a task. by_class (c x count) or NULL: the squared distance to the
 * nearest of each class, infinite where it has none. Queries must have passed
 * rlar__nearest_check; one that is too far from all references to be measured has an index of -1 at
 * the end of its list. */
void rlar__nearest_find(const rlar_nearest *s, const double *q, int64_t count,
                        const rlar_nearest_scratch *scratch, double *by_class);

/* Refuse queries that are not finite or whose distances could overflow, naming the first. */
rlar_status rlar__nearest_check(rlar_ctx *ctx, int64_t p, int64_t m, const double *q);

#endif
