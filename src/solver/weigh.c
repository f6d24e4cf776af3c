/* weigh.c - the samples times a factor of N = D + beta L, for some samples at a time.
 *
 * Two forms. By differences, for any graph:
 *   xc_i = x_i - mu,   bx_i = dhat_i xc_i + beta sum over edges of weight (x_i - x_m)
 * L has row sums of zero, so large weights cancel. The neighbours of a sample lie in its class. Of
 * a small class a strip of features is gathered first: every edge then reads from the fastest
 * cache, where the samples themselves lie so far apart that they push each other out of it. O(n k
 * d). Of a class that lies on several ranks the neighbours elsewhere are fetched (errands.h) for as
 * many edges of every sample at a time as there is room for; edges are added in their order, so
 * that the bits are those of one rank.
 *
 * By roots, where all classes are small, or there is no graph:
 *   Y = Xc C,   N = C C^T class by class (C = D^1/2 without a graph)
 * Then Xc N Xc^T = Y Y^T is symmetric by construction and DSYRK makes it, a fifth faster than
 * products of two factors; and Xc D Tc^T = Y (C^-1 D Tc^T). O(sum n_i^2 d). N is diagonally
 * dominant, so its factor is as accurate as its entries. */
#include "solver/weigh.h"

#include <math.h>
#include <string.h>

enum {
    SAMPLES_PER_TASK = 64,
    GATHERED = 128, /* samples of a class whose strip is gathered: 32 KiB */
    CHUNK = 256     /* features at a time otherwise */
};

typedef struct weigh {
    const rlar_wproblem *p;
    const double *mu;
    int64_t first;
    double *xc, *bx;
    double *blocks, *tw; /* roots: the factors of the classes at hand, D Tc */
    const rlar_errands *errands;
    int64_t edge[2]; /* of every sample, those from .. to-1 */
} weigh;

/* Features of sample i, of which x, xc and bx point to the first: all but the edges. */
RLAR_SIMD
static void centre(const weigh *j, int64_t i, int64_t from, int64_t count) {
    const int64_t d = j->p->d, at = (i - j->first) * d;
    const double *x = j->p->x + i * d, weight = j->p->dhat[i];
    for (int64_t r = from; r < from + count; r++) {
        j->xc[at + r] = x[r] - j->mu[r];
        j->bx[at + r] = weight * j->xc[at + r];
    }
}

/* One strip of features of the samples start .. end-1, all of the class begin .. stop-1. */
RLAR_SIMD
static void strip(const weigh *j, int64_t start, int64_t end, int64_t begin, int64_t stop,
                  int64_t from) {
    const rlar_wproblem *p = j->p;
    double x[GATHERED * RLAR_STRIP];
    for (int64_t m = begin; m < stop; m++)
        memcpy(x + (m - begin) * RLAR_STRIP, p->x + m * p->d + from, RLAR_STRIP * sizeof *x);
    for (int64_t i = start; i < end; i++) {
        const int64_t at = (i - j->first) * p->d + from;
        const rlar_lanes *xi = (rlar_lanes *)(x + (i - begin) * RLAR_STRIP);
        const rlar_lanes *mu = (const rlar_lanes *)(j->mu + from);
        rlar_lanes *xc = (rlar_lanes *)(j->xc + at), *bx = (rlar_lanes *)(j->bx + at), sum[4];
        for (int r = 0; r < 4; r++) {
            xc[r] = xi[r] - mu[r];
            sum[r] = p->dhat[i] * xc[r];
        }
        rlar__laplacian_strip(p->l, i, p->beta, RLAR_STRIP, begin, x, sum);
        for (int r = 0; r < 4; r++)
            bx[r] = sum[r];
    }
}

/* Features from `from` on, without gathering. */
static void plain(const weigh *j, int64_t start, int64_t end, int64_t from) {
    const rlar_wproblem *p = j->p;
    for (; from < p->d; from += CHUNK) {
        const int64_t count = p->d - from < CHUNK ? p->d - from : CHUNK;
        for (int64_t i = start; i < end; i++) {
            centre(j, i, from, count);
            if (p->l)
                rlar__laplacian_part(p->l, i, p->beta, p->d, count, p->x + from,
                                     j->bx + (i - j->first) * p->d + from);
        }
    }
}

/* Samples from .. to-1 of the portion. */
static rlar_status weigh_task(void *arg, int64_t from_sample, int64_t to_sample) {
    const weigh *j = arg;
    const rlar_groups *groups = j->p->groups;
    const int64_t last = j->first + to_sample;
    for (int64_t start = j->first + from_sample, end; start < last; start = end) {
        const int64_t k = groups->label[start];
        const int64_t begin = groups->first[k], stop = groups->first[k + 1];
        int64_t from = 0;
        end = stop < last ? stop : last;
        if (j->p->l && stop - begin <= GATHERED)
            for (; from + RLAR_STRIP <= j->p->d; from += RLAR_STRIP)
                strip(j, start, end, begin, stop, from);
        plain(j, start, end, from);
    }
    return RLAR_OK;
}

/* ---- Neighbours on other ranks ---- */

static rlar_status centre_task(void *arg, int64_t from, int64_t to) {
    const weigh *j = arg;
    for (int64_t i = j->first + from; i < j->first + to; i++)
        centre(j, i, 0, j->p->d);
    return RLAR_OK;
}

/* out += weight (x - other) */
RLAR_SIMD
static void add_edge(int64_t d, double weight, const double *x, const double *other, double *out) {
    for (int64_t r = 0; r < d; r++)
        out[r] += weight * (x[r] - other[r]);
}

static rlar_status edges_task(void *arg, int64_t from, int64_t to) {
    const weigh *j = arg;
    const rlar_laplacian *l = j->p->l;
    const int64_t d = j->p->d;
    for (int64_t i = j->first + from; i < j->first + to; i++) {
        const int64_t end = l->start[i + 1];
        for (int64_t e = l->start[i] + j->edge[0]; e < end && e < l->start[i] + j->edge[1]; e++)
            add_edge(d, j->p->beta * l->weight[e], j->p->x + i * d,
                     rlar__errands_at(j->errands, l->other[e]), j->bx + (i - j->first) * d);
    }
    return RLAR_OK;
}

/* Edge number e of all samples of the portion: are there any, and who is wanted for them? */
static bool want_edge(const weigh *j, int64_t last, int64_t e, rlar_errands *errands) {
    const rlar_laplacian *l = j->p->l;
    bool any = false;
    for (int64_t i = j->first; i < last; i++)
        if (l->start[i] + e < l->start[i + 1]) {
            rlar__errands_want(errands, l->other[l->start[i] + e]);
            any = true;
        }
    return any;
}

static rlar_status weigh_apart(rlar_ctx *ctx, weigh *j, int64_t last, rlar_errands *errands) {
    const int64_t count = last - j->first;
    bool any = true;
    j->errands = errands;
    RLAR_TRY(rlar__parallel_ranges(ctx, count, SAMPLES_PER_TASK, centre_task, j));
    while (any) {
        for (j->edge[0] = j->edge[1]; any && errands->count + count <= RLAR_FETCHED; j->edge[1]++)
            any = want_edge(j, last, j->edge[1], errands);
        RLAR_TRY(rlar__errands_fetch(ctx, errands));
        RLAR_TRY(rlar__parallel_ranges(ctx, count, SAMPLES_PER_TASK, edges_task, j));
        rlar__errands_forget(errands);
    }
    return RLAR_OK;
}

/* Do the edges of these samples lead to other ranks? A portion is of one class if it is a large
 * one. */
static bool is_apart(const rlar_wproblem *p, int64_t first) {
    const int64_t k = p->groups->label[first];
    return p->l && rlar__class_size(p->groups, k) > p->groups->first[k + 1] - p->groups->first[k];
}

rlar_status rlar__weigh(rlar_ctx *ctx, const rlar_wproblem *problem, const double *mu,
                        int64_t first, int64_t last, rlar_errands *errands, double *xc,
                        double *bx) {
    weigh j = {.p = problem, .mu = mu, .first = first, .xc = xc, .bx = bx};
    if (is_apart(problem, first))
        return weigh_apart(ctx, &j, last, errands);
    if (problem->l)
        RLAR_TRY(rlar__errands_fetch(ctx, errands));
    return rlar__parallel_ranges(ctx, last - first, SAMPLES_PER_TASK, weigh_task, &j);
}

/* ---- By roots ---- */

int64_t rlar__weigh_cut(const rlar_wproblem *p, int64_t at, bool up) {
    if (!p->l || at >= p->n)
        return at < p->n ? at : p->n;
    const int64_t *first = p->groups->first + p->groups->label[at];
    return up && first[0] < at ? first[1] : first[0];
}

/* The largest class for which this form pays: its factor costs little beside n d^2, and fits into
 * the room of the samples that it belongs to. */
static int64_t largest_root(const rlar_wproblem *p) {
    return p->d / 6 < GATHERED ? p->d / 6 : GATHERED;
}

bool rlar__weigh_roots(const rlar_wproblem *p) {
    for (int64_t i = 0; p->l && i < p->groups->c; i++)
        if (rlar__class_size(p->groups, i) > largest_root(p))
            return false;
    return true;
}

void rlar__class_weights(const rlar_wproblem *p, int64_t start, int64_t end, double *block,
                         int64_t ld) {
    for (int64_t i = start; i < end; i++) {
        double *column = block + (i - start) * ld;
        column[i - start] += p->dhat[i];
        for (int64_t e = p->l ? p->l->start[i] : 0; p->l && e < p->l->start[i + 1]; e++) {
            const double weight = p->beta * p->l->weight[e];
            column[i - start] += weight;
            if (p->l->other[e] > i)
                column[p->l->other[e] - start] -= weight;
        }
    }
}

/* Y and C^-1 D Tc for the class that begins at `start`. */
static rlar_status root_of_class(const weigh *j, int64_t start) {
    const rlar_wproblem *p = j->p;
    const int64_t end = p->groups->first[p->groups->label[start] + 1], count = end - start;
    const int64_t d = p->d, c = p->c;
    double *block = j->blocks + (start - j->first) * largest_root(p),
           *y = j->xc + (start - j->first) * d;
    memset(block, 0, (size_t)(count * count) * sizeof *block);
    rlar__class_weights(p, start, end, block, count);
    if (!rlar__chol_small(count, block, count))
        return RLAR_E_NUMERIC;
    for (int64_t i = 0; i < count; i++)
        for (int64_t r = 0; r < d; r++)
            y[i * d + r] = p->x[(start + i) * d + r] - j->mu[r];
    rlar__chol_small_times(count, block, count, d, y, d);
    if (j->tw)
        rlar__chol_small_over(count, block, count, c, j->tw + start * c, c);
    return RLAR_OK;
}

static rlar_status class_root_task(void *arg, int64_t task) {
    const weigh *j = arg;
    const int64_t k = j->p->groups->label[j->first] + task;
    return root_of_class(j, j->p->groups->first[k]);
}

static rlar_status sample_root_task(void *arg, int64_t from, int64_t to) {
    const weigh *j = arg;
    const int64_t d = j->p->d, c = j->p->c;
    for (int64_t i = j->first + from; i < j->first + to; i++) {
        const double root = sqrt(j->p->dhat[i]), *x = j->p->x + i * d;
        double *y = j->xc + (i - j->first) * d;
        for (int64_t r = 0; r < d; r++)
            y[r] = root * (x[r] - j->mu[r]);
        for (int64_t r = 0; j->tw && r < c; r++)
            j->tw[i * c + r] /= root;
    }
    return RLAR_OK;
}

rlar_status rlar__weigh_root(rlar_ctx *ctx, const rlar_wproblem *problem, const double *mu,
                             int64_t first, int64_t last, double *y, double *blocks, double *tw) {
    weigh j = {.p = problem, .mu = mu, .first = first, .xc = y};
    const int32_t *label = problem->groups->label;
    j.blocks = blocks;
    j.tw = tw;
    if (!problem->l)
        return rlar__parallel_ranges(ctx, last - first, SAMPLES_PER_TASK, sample_root_task, &j);
    const rlar_status status =
        rlar__parallel(ctx, label[last - 1] - label[first] + 1, class_root_task, &j);
    return status == RLAR_E_NUMERIC ? rlar__weights_fail(ctx) : status;
}

rlar_status rlar__weights_fail(rlar_ctx *ctx) {
    return rlar__fail(ctx, RLAR_E_NUMERIC,
                      "the weights of a class cannot be factorised; raise eps or lower beta");
}
