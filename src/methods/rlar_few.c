/* rlar_few.c - the rounds of solver = minimise on few features.
 *
 * A large alpha leaves few rows of W. So the rounds start with the features of the largest strain
 * alone, in a small system, in the primal, where the steps move the rows themselves (in the dual
 * they change from round to round only, by P). After each round the strain of all features is
 * looked at, and some of those above 1 join, at w_r = 0. */
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "methods/rlar_minimise.h"

/* Where so few features could be left out, time does not matter. */
enum { SMALL = 100 };

/* Worth a try where alpha is not below the least alpha that makes W = 0 by more than SPARSE. */
static const double SPARSE = 5.0;
/* The most features, as a share of min(n, d): beyond, the system of all features is as cheap. At
 * first and with each round so many of these may come in. */
static const double FEW = 0.6, FIRST = 0.3, NEXT = 0.2;
/* The strain from which on a feature comes in, and how many may want to, those that are in counted
 * too, as a share of the most: some will not once others are in. */
static const double JOIN = 1.01, WANTED = 1.25;

typedef struct few {
    rlar_minimum q; /* the search on few features */
    rlar_minimum *all;
    double *x; /* d x n: the few features of the samples */
} few;

static int64_t most(const rlar_state *st) {
    return (int64_t)(FEW * (double)(st->n < st->d ? st->n : st->d));
}

/* With n >= d the rows are moved by the steps anyway; the local search of neighbours has a memory
 * that would have to move too. */
static bool possible(const rlar_state *st) {
    return rlar__wsolve_prefers_dual(&st->groups, st->d) && !st->graph.local && most(st) >= SMALL;
}

/* Descending by strain, lower features first. */
static int by_strain(const void *a, const void *b) {
    const rlar_ranked *p = a, *q = b;
    return p->strain != q->strain ? (p->strain < q->strain ? 1 : -1)
                                  : (p->feature > q->feature) - (p->feature < q->feature);
}

/* Up to `room` features of those left out, of the largest strain above `least`, come in; *wanting:
 * how many are above it. */
static int64_t join(rlar_minimum *q, double least, int64_t room, int64_t *wanting) {
    int64_t count = 0;
    for (int64_t r = 0; r < q->m.st.d; r++)
        if (!q->in[r] && q->strain[r] > least)
            q->ranked[count++] = (rlar_ranked){.strain = q->strain[r], .feature = r};
    qsort(q->ranked, (size_t)count, sizeof *q->ranked, by_strain);
    const int64_t joined = count < room ? count : room;
    *wanting = count;
    for (int64_t i = 0; i < joined; i++)
        q->in[q->ranked[i].feature] = true;
    return joined;
}

static int64_t first_few(rlar_minimum *q, int64_t limit) {
    int64_t wanting;
    memset(q->in, 0, (size_t)q->m.st.d * sizeof *q->in);
    return join(q, 0.0, (int64_t)(FIRST * (double)limit), &wanting);
}

/* From another map: its features. */
static int64_t those_in_use(rlar_minimum *q) {
    const rlar_state *st = &q->m.st;
    int64_t count = 0;
    for (int64_t r = 0; r < st->d; r++) {
        q->in[r] = rlar__row_norm(st->c, st->w + r, st->d) > 0.0;
        count += q->in[r];
    }
    return count;
}

/* ---- Between all features and few ---- */

static void carve(rlar_workspace *ws, void *arg) {
    few *f = arg;
    rlar_state *st = &f->q.m.st;
    size_t sample = 0, targets = 0;
    if (!rlar__size_mul((size_t)st->d, sizeof(double), &sample) ||
        !rlar__size_mul((size_t)st->c, sizeof(double), &targets))
        ws->overflow = true;
    f->x = rlar__carve(ws, st->n, sample);
    st->x = f->x;
    st->w = rlar__carve(ws, st->d, targets);
    st->b = rlar__carve(ws, st->c, sizeof(double));
    rlar__descent_carve(ws, &f->q.m);
    f->q.strain = rlar__carve(ws, st->d, sizeof(double));
}

static void copy_graph(const rlar_state *from, rlar_state *to) {
    const size_t edges = (size_t)(from->n * from->graph.v.stride);
    memcpy(to->graph.v.neighbour, from->graph.v.neighbour, edges * sizeof(int32_t));
    memcpy(to->graph.v.distance, from->graph.v.distance, edges * sizeof(double));
    memcpy(to->graph.twin, from->graph.twin, (size_t)from->n * sizeof(bool));
}

/* The samples, W, b and V, of the few. */
static void gather(few *f) {
    const rlar_state *from = &f->all->m.st;
    rlar_state *to = &f->q.m.st;
    int64_t at = 0;
    for (int64_t r = 0; r < from->d; r++) {
        if (!f->all->in[r])
            continue;
        for (int64_t i = 0; i < from->n; i++)
            f->x[i * to->d + at] = from->x[i * from->d + r];
        for (int64_t k = 0; k < from->c; k++)
            to->w[k * to->d + at] = from->w[k * from->d + r];
        at++;
    }
    memcpy(to->b, from->b, (size_t)from->c * sizeof *to->b);
    memcpy(f->q.m.zero_b, f->all->m.zero_b, (size_t)from->c * sizeof *to->b);
    copy_graph(from, to);
}

/* W, b and V back, and the pull, from which the strain of all features follows. */
static void scatter(const few *f) {
    const rlar_state *from = &f->q.m.st;
    rlar_state *to = &f->all->m.st;
    int64_t at = 0;
    for (int64_t r = 0; r < to->d; r++) {
        const bool in = f->all->in[r];
        for (int64_t k = 0; k < to->c; k++)
            to->w[k * to->d + r] = in ? from->w[k * from->d + at] : 0.0;
        at += in;
    }
    memcpy(to->b, from->b, (size_t)to->c * sizeof *to->b);
    memcpy(f->all->m.pull, f->q.m.pull, (size_t)(to->n * to->c) * sizeof *f->q.m.pull);
    copy_graph(from, to);
}

/* ---- The rounds ---- */

/* One round with the features that are in; the room was made for the most of them. */
static rlar_status round_of_few(rlar_ctx *ctx, few *f, rlar_workspace *ws, int64_t count,
                                rlar_info *info) {
    rlar_minimum *all = f->all;
    f->q = *all;
    f->q.m.st.d = count;
    f->q.m.st.dual = false;
    f->q.left_out = all->m.st.d - count;
    rlar__workspace_again(ws);
    carve(ws, f);
    if (ws->used > ws->size)
        return rlar__fail(ctx, RLAR_E_INTERNAL, "%lld features need more room than %lld",
                          (long long)count, (long long)most(&all->m.st));
    gather(f);
    RLAR_TRY(rlar__descent_outputs(ctx, &f->q.m));
    RLAR_TRY(rlar__minimise_round(ctx, &f->q, info));
    scatter(f);
    all->eps = f->q.eps;
    all->before = f->q.before;
    all->m.still = f->q.m.still;
    all->m.near = f->q.m.near;
    all->m.st.kernel = f->q.m.st.kernel;
    all->m.st.edge_kernel = f->q.m.st.edge_kernel;
    all->m.st.row_kernel = f->q.m.st.row_kernel;
    return RLAR_OK;
}

/* Until no feature wants to come in, or too many do. */
static rlar_status rounds_of_few(rlar_ctx *ctx, few *f, rlar_workspace *ws, int64_t limit,
                                 rlar_info *info) {
    rlar_minimum *q = f->all;
    int64_t count = q->m.cold ? first_few(q, limit) : those_in_use(q);
    while (info->iterations < q->m.st.iters && count > 0 && count <= limit) {
        double worst;
        RLAR_TRY(round_of_few(ctx, f, ws, count, info));
        RLAR_TRY(rlar__minimise_strain(ctx, q, &worst));
        int64_t wanting;
        const int64_t joined = join(q, JOIN, (int64_t)(NEXT * (double)limit) + 1, &wanting);
        if (info->converged && joined == 0)
            return RLAR_OK;
        info->converged = 0;
        if ((double)(count + wanting) > WANTED * (double)limit)
            return RLAR_OK;
        count += joined;
    }
    return RLAR_OK;
}

rlar_status rlar__minimise_few(rlar_ctx *ctx, rlar_minimum *q, double strain, rlar_info *info) {
    if (!possible(&q->m.st) || strain > SPARSE)
        return RLAR_OK;
    few f = {.q = *q, .all = q};
    rlar_workspace ws = {0};
    const int64_t limit = most(&q->m.st);
    f.q.m.st.d = limit;
    carve(&ws, &f);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "the workspace for few features"));
    const rlar_status status = rounds_of_few(ctx, &f, &ws, limit, info);
    rlar__workspace_free(&ws);
    return status;
}

rlar_status rlar__minimise_few_forecast(rlar_ctx *ctx, const rlar_state *st, rlar_forecast *out) {
    few f = {.q = {.m = {.st = *st}}};
    f.q.m.st.d = most(st);
    out->bytes = 0;
    if (!possible(st))
        return RLAR_OK;
    return rlar__forecast_workspace(ctx, carve, &f, out);
}
