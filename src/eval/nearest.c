/* nearest.c - the nearest references of embedded samples.
 *
 * A distance is the sum of squared differences, rlar__distance2, and nothing else is compared or
 * reported. For many queries most references are first ruled out by the expansion
 * ||a||^2 - 2 a'b + ||b||^2, by one matrix product per block of queries and chunk of references:
 * whatever could be as near as the k-th nearest so far, rounding errors granted, is measured. So
 * the answer is a function of the two samples alone, whatever the threads, the blocks or the BLAS.
 * References are met in the order of their index and replace another only when strictly nearer,
 * which gives ties to the lower index.
 *
 * Cost: 2 n p operations of the BLAS and one subtraction and one minimum per query and reference;
 * measured are about k ln(n / k) references per query. Memory: n numbers, a tile for each block in
 * flight. For a query or two everything is measured instead: no memory, and no BLAS. */
#include "eval/nearest.h"

#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    QUERIES = RLAR_NEAREST_BLOCK,
    REFERENCES = 256, /* per chunk: with the queries a tile of 512 KiB, which stays in the cache */
    GROUP = 64,       /* references that are ruled out together */
    FEW = 2           /* queries for which preparing would cost more than it saves */
};

/* Largest squared length that leaves room for the sums of a distance. */
static const double LARGEST_SQUARE = DBL_MAX / 8;
/* Squared lengths from here to its inverse have lost nothing to underflow or overflow. */
static const double SMALLEST_SQUARE = 1e-280;

bool rlar__nearest_few(int64_t m) {
    return m <= FEW;
}

/* ---- Preparation ---- */

rlar_status rlar__nearest_check(rlar_ctx *ctx, int64_t p, int64_t m, const double *q) {
    for (int64_t i = 0; i < m; i++) {
        const double square = rlar__dot(p, q + i * p, q + i * p);
        if (!(square <= LARGEST_SQUARE))
            return rlar__fail(ctx, RLAR_E_NUMERIC,
                              "sample %lld: its outputs are not finite or too large (squared "
                              "length %g); check the data and the scaling",
                              (long long)i + 1, square);
    }
    return RLAR_OK;
}

/* Half, because the comparison is with a'b and not with 2 a'b. *rules: with squares that overflow,
 * or nearly so, the expansion rules nothing out. */
static rlar_status half_lengths(rlar_ctx *ctx, const rlar_references *r, double *half,
                                bool *rules) {
    *rules = true;
    for (int64_t i = 0; i < r->n; i++) {
        const double square = rlar__dot(r->p, r->z + i * r->p, r->z + i * r->p);
        *rules = *rules && square <= LARGEST_SQUARE;
        half[i] = 0.5 * (square - rlar__expansion_slack(r->p, square));
        if (i % 4096 == 0)
            RLAR_TRY(rlar__poll(ctx));
    }
    return RLAR_OK;
}

rlar_status rlar__nearest_open(rlar_ctx *ctx, const rlar_references *refs, int64_t k, bool unit,
                               int64_t m, rlar_nearest *out) {
    rlar_nearest s = {.refs = *refs, .k = k, .unit = unit};
    rlar_status status = RLAR_OK;
    bool rules = false;
    if (!rlar__nearest_few(m)) {
        RLAR_TRY(rlar__blas_open(ctx, 0));
        RLAR_TRY(
            rlar__alloc(ctx, refs->n, sizeof *s.half, "the lengths of the references", &s.half));
        status = half_lengths(ctx, refs, s.half, &rules);
    }
    if (status < 0 || !rules) {
        rlar__free(s.half);
        s.half = NULL;
    }
    if (status >= 0)
        *out = s;
    return status;
}

void rlar__nearest_close(rlar_nearest *s) {
    rlar__free(s->half);
    *s = (rlar_nearest){0};
}

void rlar__nearest_carve(rlar_workspace *ws, const rlar_nearest *s, int64_t queries,
                         rlar_nearest_scratch *out) {
    const int64_t rows = s->half ? rlar__min64(s->refs.n, REFERENCES) : 0;
    out->tile = rlar__carve(ws, rows * queries, sizeof *out->tile);
    out->own = rlar__carve(ws, queries, sizeof *out->own);
    out->scaled = rlar__carve(ws, s->unit ? s->refs.p : 0, sizeof *out->scaled);
    out->list = rlar__carve(ws, s->k, (size_t)queries * sizeof *out->list);
}

/* ---- The search ---- */

/* One query against the references. */
typedef struct query {
    const rlar_nearest *s;
    const double *q;
    double own; /* squared length; less the slack where s->half is in use */
    double *scaled;
    rlar_near *list;
    double *by_class; /* c, or NULL */
} query;

/* Put a reference into the sorted list of k if it is strictly nearer than the last. */
static void insert(rlar_near *list, int64_t k, double distance, int64_t index) {
    int64_t i = k - 1;
    if (!(distance < list[i].distance))
        return;
    for (; i > 0 && distance < list[i - 1].distance; i--)
        list[i] = list[i - 1];
    list[i] = (rlar_near){distance, index};
}

static const double *reference(const query *x, int64_t index) {
    const rlar_references *r = &x->s->refs;
    const double *z = r->z + index * r->p;
    if (!x->s->unit)
        return z;
    memcpy(x->scaled, z, (size_t)r->p * sizeof *z);
    rlar__unit_columns(r->p, 1, x->scaled);
    return x->scaled;
}

/* Measure one reference and keep it where it is among the nearest. How far the others are is of no
 * interest, so a sum that is beyond all limits is not finished. */
static void measure(const query *x, int64_t index) {
    const rlar_references *r = &x->s->refs;
    rlar_near *last = &x->list[x->s->k - 1];
    double *best = x->by_class ? &x->by_class[r->z_class[index]] : &last->distance;
    const double distance = rlar__distance2_up_to(r->p, reference(x, index), x->q, *best);
    if (x->by_class && distance < *best)
        *best = distance;
    insert(x->list, x->s->k, distance, index);
}

/* Is a reference that would have to be scaled first surely farther than all limits? For u = z / |z|
 * and a query of length 1 or 0 the distance is 1 + q'q - 2 z'q / |z|; scaling, the two lengths and
 * the sums are off by less than half of the two slacks together. */
static bool far_by_angle(const query *x, int64_t index) {
    const rlar_references *r = &x->s->refs;
    const double *z = r->z + index * r->p;
    const double limit =
        x->by_class ? x->by_class[r->z_class[index]] : x->list[x->s->k - 1].distance;
    const double square = rlar__dot(r->p, z, z);
    if (!(square > SMALLEST_SQUARE && square < 1 / SMALLEST_SQUARE))
        return false;
    const double product = rlar__dot(r->p, z, x->q) / sqrt(square);
    return 1 + x->own - 2 * product - 2 * rlar__expansion_slack(r->p, 1) > limit;
}

/* What half - a'b may be at most for a reference that is as near as `distance`. */
static double half_limit(const query *x, double distance) {
    return 0.5 * (distance - x->own);
}

static void lower(int count, double *low, const double *other) {
    for (int i = 0; i < count; i++)
        low[i] = other[i] < low[i] ? other[i] : low[i];
}

/* The least of half - a'b in a group. No branch, and halves against halves: a running minimum would
 * not be made vectors of. */
static double least_of(const double *half, const double *product) {
    double low[GROUP / 2];
    for (int i = 0; i < GROUP / 2; i++) {
        const double u = half[i] - product[i], v = half[i + GROUP / 2] - product[i + GROUP / 2];
        low[i] = u < v ? u : v;
    }
    lower(16, low, low + 16);
    lower(8, low, low + 8);
    lower(4, low, low + 4);
    lower(2, low, low + 2);
    return low[0] < low[1] ? low[0] : low[1];
}

/* A chunk, group by group; nearly all groups hold nothing near once a few have been seen. */
static void scan_chunk(const query *x, int64_t first, int64_t count, const double *product) {
    const double *half = x->s->half + first;
    const rlar_near *last = &x->list[x->s->k - 1];
    double limit = half_limit(x, last->distance);
    for (int64_t start = 0; start < count; start += GROUP) {
        const int64_t end = rlar__min64(start + GROUP, count);
        if (end - start == GROUP && least_of(half + start, product + start) > limit)
            continue;
        for (int64_t i = start; i < end; i++) {
            if (half[i] - product[i] > limit)
                continue;
            measure(x, first + i);
            limit = half_limit(x, last->distance);
        }
    }
}

/* The same where the nearest of every class is wanted: each class has its own limit. With k = 1 the
 * nearest of all is the nearest of its class, so the list misses nothing. */
static void scan_classes(const query *x, int64_t first, int64_t count, const double *product) {
    const int32_t *z_class = x->s->refs.z_class + first;
    const double *half = x->s->half + first;
    for (int64_t i = 0; i < count; i++)
        if (!(half[i] - product[i] > half_limit(x, x->by_class[z_class[i]])))
            measure(x, first + i);
}

static query start_query(const rlar_nearest *s, const double *q, int64_t i,
                         const rlar_nearest_scratch *scratch, double *by_class) {
    return (query){.s = s,
                   .q = q + i * s->refs.p,
                   .own = scratch->own[i],
                   .scaled = scratch->scaled,
                   .list = scratch->list + i * s->k,
                   .by_class = by_class ? by_class + i * s->refs.c : NULL};
}

/* Infinitely far, so that the first references are always measured. */
static void clear(const query *x) {
    for (int64_t i = 0; i < x->s->k; i++)
        x->list[i] = (rlar_near){INFINITY, -1};
    for (int64_t i = 0; x->by_class && i < x->s->refs.c; i++)
        x->by_class[i] = INFINITY;
}

/* Chunks outside, so that a chunk of references stays in the cache for all queries. */
static void find_many(const rlar_nearest *s, const double *q, int64_t count,
                      const rlar_nearest_scratch *scratch, double *by_class) {
    const rlar_references *r = &s->refs;
    for (int64_t first = 0; first < r->n; first += REFERENCES) {
        const int64_t chunk = rlar__min64(r->n - first, REFERENCES);
        rlar__tile_inner(chunk, count, r->p, r->z + first * r->p, r->p, q, r->p, scratch->tile,
                         chunk);
        for (int64_t i = 0; i < count; i++) {
            const query x = start_query(s, q, i, scratch, by_class);
            (by_class ? scan_classes : scan_chunk)(&x, first, chunk, scratch->tile + i * chunk);
        }
    }
}

/* Every reference, measured unless its angle tells. */
static void find_few(const query *x) {
    for (int64_t j = 0; j < x->s->refs.n; j++)
        if (!x->s->unit || !far_by_angle(x, j))
            measure(x, j);
}

void rlar__nearest_find(const rlar_nearest *s, const double *q, int64_t count,
                        const rlar_nearest_scratch *scratch, double *by_class) {
    const int64_t p = s->refs.p;
    for (int64_t i = 0; i < count; i++) {
        const double square = rlar__dot(p, q + i * p, q + i * p);
        scratch->own[i] = s->half ? square - rlar__expansion_slack(p, square) : square;
        const query x = start_query(s, q, i, scratch, by_class);
        clear(&x);
        if (!s->half)
            find_few(&x);
    }
    if (s->half)
        find_many(s, q, count, scratch, by_class);
}
