/* cost_divided.c - the traffic of classes that lie on several ranks (cost.h).
 *
 * What all ranks of a class get to know of its samples goes along a chain (divided.c): known to the
 * byte, but that it is not known whose samples are drawn for a cut. Which edges lead to other ranks
 * is not known before the fit. About: neighbours lie anywhere in the class, whichever rank has
 * them. At most all edges lead elsewhere, and a sample comes once for each end of an edge; in one
 * step it comes once only, though, which limits two cases. Few elsewhere: they all have room at
 * once, so that a portion takes one step. A complete graph: the row of sample i has those elsewhere
 * twice, once at the same places as every other row, and once shifted by i. So of what one step
 * brings at most 2 x 511 samples (before and behind this rank) were brought by the step before,
 * too: 2.5 times those elsewhere as a rule, at most 3 (2 x those elsewhere + 1022). */
#include "linalg/cost.h"

#include <math.h>

#include "linalg/errands.h"

/* A step ends when there is no room for another edge of all samples of a portion: so many samples
 * it has brought by then at least. */
static const double LEAST_FULL = RLAR_FETCHED - RLAR_PORTION + 1;

/* One class, on the ranks low .. high; on some between them there may be nothing of it. */
typedef struct divided {
    const rlar_blocks *blocks;
    int64_t from, to;
    int low, high, holders;
} divided;

static double part_of(const divided *v, int r) {
    const int64_t *cut = v->blocks->cut + r;
    const int64_t count = rlar__min64(cut[1], v->to) - rlar__max64(cut[0], v->from);
    return count > 0 ? (double)count : 0.0;
}

static double size_of(const divided *v) {
    return (double)(v->to - v->from);
}

/* Class k, where it is cut. */
static bool find(const rlar_blocks *blocks, int64_t k, divided *out) {
    *out = (divided){.blocks = blocks, .from = blocks->first[k], .to = blocks->first[k + 1]};
    if (out->from == out->to)
        return false;
    out->low = (int)rlar__class_of(blocks->cut, blocks->holders, out->from);
    out->high = (int)rlar__class_of(blocks->cut, blocks->holders, out->to - 1);
    for (int r = out->low; r <= out->high; r++)
        out->holders += part_of(out, r) > 0.0;
    return out->holders > 1;
}

/* ---- Along the chain ---- */

static int behind(const divided *v, int r) {
    do
        r = r < v->high ? r + 1 : v->low;
    while (part_of(v, r) == 0.0);
    return r;
}

/* So many bytes of each sample, to all: a rank hands on all but what the next one has begun. */
static void tell(const rlar_cost *c, const divided *v, double bytes) {
    for (int r = v->low; r <= v->high; r++) {
        if (part_of(v, r) == 0.0)
            continue;
        c->received[r] += bytes * (size_of(v) - part_of(v, r));
        c->sent[r] += bytes * (size_of(v) - part_of(v, behind(v, r)));
    }
}

/* Bytes of a sample in one tree: two samples are drawn for every cut, and all tell where they lie
 * with every level. */
static double of_tree(const divided *v, int64_t leaf, double drawn) {
    const double leaves = (double)rlar__halved(v->to - v->from, leaf);
    return 2.0 * (leaves - 1.0) * drawn / size_of(v) + log2(leaves) * (double)sizeof(double);
}

/* ---- Between two ranks ---- */

/* How many edges there are; the orders of every step, and that there is none any more. */
static void trade(const rlar_cost *c, const divided *v, const rlar_exchange *what) {
    for (int a = v->low; a < v->high; a++)
        for (int b = a + 1; b <= v->high; b++) {
            const double steps = fmax(c->portions[a], c->portions[b]) + 1.0;
            const double bytes = what->graphs * (double)sizeof(int64_t) +
                                 what->fetches * steps * (double)RLAR_ORDER_BYTES;
            if (part_of(v, a) == 0.0 || part_of(v, b) == 0.0)
                continue;
            c->sent[a] += bytes;
            c->received[a] += bytes;
            c->sent[b] += bytes;
            c->received[b] += bytes;
        }
}

/* ---- What depends on the graph ---- */

static double edges_of(const divided *v, const rlar_talk *talk) {
    return fmin((double)talk->edges, size_of(v) - 1.0);
}

/* The share of the others of a sample's class that lies elsewhere. */
static double share_elsewhere(const divided *v, int r) {
    return (size_of(v) - part_of(v, r)) / (size_of(v) - 1.0);
}

/* Edges from one rank to another. */
static rlar_fetched edges_apart(const divided *v, double edges) {
    rlar_fetched sum = {0};
    for (int r = v->low; r <= v->high; r++) {
        sum.about += part_of(v, r) * edges * share_elsewhere(v, r);
        sum.most += part_of(v, r) * fmin(edges, size_of(v) - part_of(v, r));
    }
    return sum;
}

/* How many samples so many draws of those elsewhere bring, if the next step, which begins when
 * there is no more room, knows nothing of the one before. */
static double drawn(double elsewhere, double draws) {
    const double full = 0.5 * (LEAST_FULL + RLAR_FETCHED);
    const double lasts = elsewhere > full ? -elsewhere * log1p(-full / elsewhere) : INFINITY;
    const double steps = floor(draws / lasts);
    const double rest = steps > 0.0 ? draws - steps * lasts : draws;
    return steps * full - elsewhere * expm1(-rest / elsewhere);
}

/* Samples that rank r fetches. */
static rlar_fetched fetched_by(const divided *v, int r, double edges) {
    const double here = part_of(v, r), elsewhere = size_of(v) - here;
    const double most = here * fmin(edges, elsewhere) + elsewhere * fmin(edges, here);
    const double portions = ceil(here / RLAR_PORTION);
    const double ends = 2.0 * edges * here * share_elsewhere(v, r);
    rlar_fetched out = {.most = most};
    if (here == 0.0)
        return out;
    if (elsewhere < LEAST_FULL)
        out.most = fmin(most, portions * elsewhere);
    else if (edges >= size_of(v) - 1.0)
        out.most = fmin(most, portions * 3.0 * (2.0 * elsewhere + 2.0 * (RLAR_PORTION - 1)));
    out.about = portions * drawn(elsewhere, ends / portions);
    if (edges >= size_of(v) - 1.0)
        out.about = portions * elsewhere * (elsewhere < LEAST_FULL ? 1.0 : 2.5);
    return out;
}

static rlar_fetched fetched_of(const divided *v, double edges) {
    rlar_fetched sum = {0};
    for (int r = v->low; r <= v->high; r++) {
        const rlar_fetched one = fetched_by(v, r, edges);
        sum.about += one.about;
        sum.most += one.most;
    }
    sum.most = fmin(sum.most, 2.0 * size_of(v) * edges);
    return sum;
}

/* Bytes of a sample and its number. A portion takes another step when there is no room for the next
 * edge of all its samples; that costs an order to and from each of the ranks that share a class
 * with this one, of which there may be two. */
static double of_fetched(const rlar_talk *talk, int holders) {
    const double orders = 2.0 * 2.0 * (double)(holders - 1) * (double)RLAR_ORDER_BYTES;
    return (double)talk->order * (double)sizeof(double) + (double)sizeof(int32_t) +
           orders / LEAST_FULL;
}

/* ---- All classes ---- */

static int most_holders(const rlar_blocks *blocks) {
    divided v;
    int most = 1;
    for (int64_t k = 0; k < blocks->c; k++)
        if (find(blocks, k, &v))
            most = v.holders > most ? v.holders : most;
    return most;
}

rlar_fetched rlar__cost_divided(const rlar_cost *cost, const rlar_talk *talk,
                                const rlar_exchange *what) {
    const rlar_blocks *blocks = cost->blocks;
    rlar_fetched sum = {0};
    divided v;
    if (!blocks->cut)
        return sum;
    const double sample = what->fetches * of_fetched(talk, most_holders(blocks));
    const double edge = what->graphs * (double)RLAR_EDGE_BYTES;
    for (int64_t k = 0; k < blocks->c; k++) {
        if (!find(blocks, k, &v))
            continue;
        const double trees = what->trees > 0.0 ? of_tree(&v, talk->leaf, what->drawn) : 0.0;
        const rlar_fetched edges = edges_apart(&v, edges_of(&v, talk));
        const rlar_fetched fetched = fetched_of(&v, edges_of(&v, talk));
        tell(cost, &v, what->told + what->trees * trees);
        trade(cost, &v, what);
        sum.about += edge * edges.about + sample * fetched.about;
        sum.most += edge * edges.most + sample * fetched.most;
    }
    return sum;
}
