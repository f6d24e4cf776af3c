/* knn.h - nearest neighbours as lists; those within the classes are V and G of the paper. */
#ifndef RLAR_KNN_H
#define RLAR_KNN_H

#include "linalg/linalg.h"
#include "linalg/divided.h"

/* Among whom a sample looks for neighbours. */
typedef enum rlar_reach {
    RLAR_REACH_MATES = 0, /* the others of its class */
    RLAR_REACH_ALIENS,    /* all other classes */
    RLAR_REACH_ALL        /* all others */
} rlar_reach;

/* Samples grouped by class: class i is first[i] .. first[i+1]-1. */
typedef struct rlar_groups {
    int64_t n, c;
    const int64_t *first;
    const int32_t *label;
    rlar_reach reach;          /* zero: the class, as in the paper */
    const rlar_blocks *blocks; /* for sums over the samples of all ranks; NULL: all are here. Of a
                                  class that lies on several of them, first has what is here. */
} rlar_groups;

/* Of all ranks. */
int64_t rlar__class_size(const rlar_groups *groups, int64_t i);
/* The samples of class i, one of those here, wherever they lie: counted from the first one here
 * (divided.h). */
void rlar__class_range(const rlar_groups *groups, int64_t i, int64_t *from, int64_t *to);

/* Directed: sample j chooses count(j) others, nearest first: k, or all within reach where they are
 * fewer. */
typedef struct rlar_graph {
    int64_t n;
    int64_t stride;     /* room per sample: the largest count */
    int32_t *neighbour; /* stride x n */
    double *distance;   /* stride x n: G at the chosen pairs */
    double *norm2;      /* n, and others of the same classes around them, and */
    int64_t *block;     /* c + 1: room for the search */
    const rlar_blocks *blocks;
} rlar_graph;

/* The most neighbours any sample has. */
int64_t rlar__graph_stride(const rlar_groups *groups, int64_t k);
/* Neighbours of sample j when k are asked for. */
int64_t rlar__graph_count(const rlar_groups *groups, int64_t k, int64_t j);
/* The paper's rule for k: 7 when every class has more than 10 samples, else 3 [N13]. */
int64_t rlar__graph_rule(const rlar_groups *groups);
/* Classes with no more than k samples. */
int64_t rlar__graph_clamped(const rlar_groups *groups, int64_t k);
void rlar__graph_carve(rlar_workspace *ws, const rlar_groups *groups, int64_t k, rlar_graph *out);

/* Equations (18), (19): V takes, for every sample, the k smallest distances ||z_j - z_m|| within
 * its class, or among those that groups->reach names. The pair (j, j) is left out by structure, not
 * by a test for zero [N3]; ties go to the lower index. z is p x n. Costs 3 p per pair. */
rlar_status rlar__graph_nearest(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                                const double *z, rlar_graph *graph);
/* The same where a class may lie on several ranks: its samples pass through all of them. room:
 * p + 1 numbers for each of RLAR_VISITORS. */
rlar_status rlar__graph_nearest_apart(rlar_ctx *ctx, const rlar_groups *groups, int64_t k,
                                      int64_t p, const double *z, double *room, rlar_graph *graph);
/* The same lists, sooner: the graph holds those of an earlier z, same groups and k. Of a class that
 * lies on several ranks z has all samples, around those here. */
rlar_status rlar__graph_renew(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t p,
                              const double *z, rlar_graph *graph);
/* How many of the neighbours were not in `before`, lists of the same groups and k. */
int64_t rlar__graph_changes(const rlar_groups *groups, int64_t k, const int32_t *before,
                            const rlar_graph *now);

#endif
