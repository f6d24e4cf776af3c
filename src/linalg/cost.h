/* cost.h - what ranks say to each other in a fit, before it is run: the one place where the traffic
 * of sums over samples and of systems is modelled (docs/distributed.md has the formulas). */
#ifndef RLAR_COST_H
#define RLAR_COST_H

#include "linalg/linalg.h"

/* Something that all ranks do together. */
typedef struct rlar_exchange {
    double sums, numbers; /* sums over samples, but for systems: how many, and numbers in them */
    double factors;       /* systems that are summed up and factored, and */
    double solves;        /* that are solved, all right-hand sides at once */
    /* Of classes that lie on several ranks (divided.h): */
    double told;         /* bytes of each of their samples that all ranks of the class get */
    double trees, drawn; /* cuts into leaves of samples that only pass by; bytes of one of these */
    double graphs;       /* Laplacians: edges that lead to samples of other ranks */
    double fetches;      /* systems with a graph: samples at the other end of edges (errands.h) */
} rlar_exchange;

/* One more sum over samples, of so many numbers. */
static inline void rlar__exchange_sum(rlar_exchange *to, double numbers) {
    to->sums++;
    to->numbers += numbers;
}

/* A fit in these terms; a method fills it in (rlar_method.talk). */
typedef struct rlar_talk {
    int64_t order, sides;                /* of its systems; 0: it has none */
    rlar_exchange once, iteration, step; /* before the first iteration; steps are part of one */
    double iterations, steps;            /* how many as a rule: in all, and in an iteration */
    int64_t edges, leaf;                 /* of its graph: that begin at each sample; of a tree */
} rlar_talk;

/* Bytes. */
typedef struct rlar_load {
    double received;      /* by all ranks together */
    double busiest;       /* sent and received, of the rank that has the most */
    double inside;        /* about: sent by a rank inside rlar_team.factor and solve */
    rlar_fetched fetched; /* received by all beside that, which depends on the graph */
} rlar_load;

enum {
    RLAR_EDGE_BYTES = 16, /* of an edge that leads to another rank, and */
    RLAR_ORDER_BYTES = 16 /* of an order of samples, beside their numbers */
};

/* The least order of a system that so many ranks of so many threads each solve faster together than
 * each by itself; 0: none. */
int64_t rlar__spread_least(int ranks, int threads);

typedef struct rlar_cost {
    rlar_spread spread;
    const rlar_blocks *blocks;
    double *pending;         /* of each rank: partial sums that it hands on in every sum */
    double *portions;        /* of each rank: steps in which it goes through its samples */
    double *sent, *received; /* of each rank: room for a load */
} rlar_cost;

/* On all ranks, each with its blocks. Free it also after an error. */
rlar_status rlar__cost_new(rlar_ctx *ctx, const rlar_blocks *blocks, rlar_cost *out);
void rlar__cost_free(rlar_cost *cost);
rlar_load rlar__cost_of(const rlar_cost *cost, const rlar_talk *talk, const rlar_exchange *what);
/* Of that what ranks say of classes that several of them share, onto sent and received (added);
 * what depends on the graph is the answer. */
rlar_fetched rlar__cost_divided(const rlar_cost *cost, const rlar_talk *talk,
                                const rlar_exchange *what);
/* The operations of its factorisations that this rank does not do, since they are shared. */
double rlar__cost_spared(const rlar_cost *cost, const rlar_talk *talk);

#endif
