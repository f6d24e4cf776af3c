/* rlar_steps.c - the steps that Algorithm 1 consists of, as every solver of RLAR uses them.
 *
 * Each makes one of V, S, (W, b), T and the weights from the others; the equation numbers are the
 * paper's, [Nx] are entries of docs/paper-notes.md. Sums over samples are taken in a fixed order,
 * so the bits do not depend on threads. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "methods/rlar.h"
#include "solver/retarget.h"
#include "solver/targets.h"

enum {
    SAMPLES_PER_TASK = 64,
    OFFSET_PASSES = 300,
    FEATURES_EACH = 80 /* to a class: a correction of W costs a twentieth of its system */
};

/* The smoothing of distances in the search for the best b shrinks from pass to pass. */
static const double OFFSET_SHRINK = 0.9;

/* eps where the parameter says 0, and the least that rounding leaves something of. */
static const double EPS_MINIMISE = 1.0, EPS_OTHERS = 1e-8, EPS_LEAST = 1e-15;

/* ---- Set-up ---- */

static double eps_of(const rlar_params *params) {
    const double eps = rlar__param(params, "eps");
    if (eps > 0.0)
        return fmax(eps, EPS_LEAST);
    return rlar__param_int(params, "solver") == RLAR_SOLVER_MINIMISE ? EPS_MINIMISE : EPS_OTHERS;
}

void rlar__state_init(rlar_state *st, const rlar_train *train, const rlar_params *params) {
    const int64_t k = rlar__param_int(params, "k");
    *st = (rlar_state){.n = train->n,
                       .d = train->d,
                       .c = train->c,
                       .all = rlar__train_samples(train),
                       .x = train->x,
                       .groups = rlar__train_groups(train),
                       .alpha = rlar__param(params, "alpha"),
                       .beta = rlar__param(params, "beta"),
                       .eps = eps_of(params),
                       .tol = rlar__param(params, "tol"),
                       .k = k,
                       .iters = rlar__param_int(params, "iters"),
                       .solver = (rlar_solver)rlar__param_int(params, "solver"),
                       .start_w = train->start_w,
                       .start_b = train->start_b,
                       .checkpoint = train->checkpoint};
    if (k == 0)
        st->k = rlar__graph_rule(&st->groups);
    st->dual = rlar__wsolve_prefers_dual(&st->groups, st->d) && !rlar__minimise_in_primal(st);
    rlar__learned_init(&st->groups, st->k, (rlar_search)rlar__param_int(params, "search"),
                       train->shared, &st->graph);
}

void rlar__state_carve(rlar_workspace *ws, rlar_state *st) {
    size_t targets = 0, edges = 0;
    if (!rlar__size_mul((size_t)st->c, sizeof(double), &targets))
        ws->overflow = true;
    const int64_t outputs = st->n > 0 ? st->n : 1; /* a rank without samples has an offset, too */
    const rlar_blocks *blocks = st->groups.blocks;
    rlar_divided split[2];
    st->t = rlar__carve(ws, outputs, targets);
    st->y = rlar__carve_around(ws, blocks, outputs, targets);
    st->print = NULL;
    if (rlar__divided(blocks, split) > 0)
        st->print = rlar__carve_around(ws, blocks, st->n, 2 * sizeof *st->print);
    st->dhat = rlar__carve(ws, st->n, sizeof(double));
    st->dtil = rlar__carve(ws, st->d, sizeof(double));
    st->value = rlar__carve(ws, st->n, sizeof(double));
    st->smooth = rlar__carve(ws, st->n, sizeof(double));
    rlar__learned_carve(ws, &st->groups, st->d, &st->graph);
    if (!rlar__size_mul((size_t)st->graph.v.stride, sizeof(double), &edges))
        ws->overflow = true;
    st->s = rlar__carve(ws, st->n, edges);
    rlar__wsolve_carve(ws, &st->groups, st->d, st->c, st->dual, &st->wsolver);
    if (rlar__state_refines(st))
        rlar__refine_carve(ws, st->n, st->d, st->c, true, &st->refiner);
    if (st->solver != RLAR_SOLVER_MINIMISE)
        rlar__held_carve(ws, blocks, outputs, st->d, st->c, &st->held);
}

bool rlar__state_refines(const rlar_state *st) {
    const bool cheap = st->c <= st->d / FEATURES_EACH;
    return !st->dual && st->solver != RLAR_SOLVER_MINIMISE && (st->all < st->d || cheap);
}

/* ---- Samples on other ranks ---- */

/* Two numbers that differ where samples do, but for chances of 1 in 2^128; 0 and -0 are equal. */
static void print_of(rlar_state *st, int64_t j) {
    const uint64_t factor[2] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd6e8feb86659fd93)};
    uint64_t *print = st->print + 2 * j;
    for (int k = 0; k < 2; k++) {
        print[k] = factor[k];
        for (int64_t r = 0; r < st->d; r++) {
            const double x = st->x[j * st->d + r] + 0.0;
            uint64_t bits;
            memcpy(&bits, &x, sizeof bits);
            print[k] = (print[k] ^ bits) * factor[1 - k];
            print[k] ^= print[k] >> 29;
        }
    }
}

rlar_status rlar__state_open(rlar_ctx *ctx, rlar_state *st) {
    if (!st->print)
        return RLAR_OK;
    RLAR_TRY(rlar__each_sample(ctx, st, print_of));
    return rlar__divided_gather(ctx, st->groups.blocks, 2 * sizeof *st->print, st->print);
}

rlar_status rlar__state_outputs(rlar_ctx *ctx, rlar_state *st) {
    RLAR_TRY(rlar__targets_outputs(ctx, st->groups.blocks, st->c, st->n, st->d, st->w, st->b, st->x,
                                   st->y));
    return rlar__divided_gather(ctx, st->groups.blocks, (size_t)st->c * sizeof *st->y, st->y);
}

/* ---- The steps of Algorithm 1 ---- */

rlar_status rlar__initialise(rlar_ctx *ctx, rlar_state *st) {
    for (int64_t i = 0; i < st->n; i++)
        st->dhat[i] = 1.0;
    for (int64_t r = 0; r < st->d; r++)
        st->dtil[r] = 1.0;
    rlar__targets_one_hot(st->c, st->n, st->groups.label, st->t);
    rlar__zero_around(st->groups.blocks, st->n, (size_t)st->c * sizeof *st->y, st->y);
    return rlar__learned_start(ctx, &st->groups, st->d, st->x, &st->graph);
}

/* One task per SAMPLES_PER_TASK samples; for_each does the work of one of them. */
typedef struct sweep {
    rlar_state *st;
    rlar_sample_fn for_each;
} sweep;

static rlar_status sweep_task(void *arg, int64_t start, int64_t end) {
    const sweep *s = arg;
    for (int64_t j = start; j < end; j++)
        s->for_each(s->st, j);
    return RLAR_OK;
}

rlar_status rlar__each_sample(rlar_ctx *ctx, rlar_state *st, rlar_sample_fn for_each) {
    sweep s = {.st = st, .for_each = for_each};
    return rlar__parallel_ranges(ctx, st->n, SAMPLES_PER_TASK, sweep_task, &s);
}

rlar_status rlar__state_sum(rlar_ctx *ctx, const rlar_state *st, const double *terms, double *out) {
    return rlar__sum_samples(ctx, st->groups.blocks, st->n, terms, out);
}

/* Equal samples: their edge is the cheapest, hence chosen, but adds nothing to X L X^T [N4]. */
static bool same_sample(const rlar_state *st, int64_t j, int64_t m) {
    const double *x = st->x + j * st->d;
    if (m < 0 || m >= st->n) /* on another rank */
        return memcmp(st->print + 2 * j, st->print + 2 * m, 2 * sizeof *st->print) == 0;
    for (int64_t r = 0; r < st->d; r++)
        if (x[r] != st->x[m * st->d + r])
            return false;
    return true;
}

/* S = V / G with K inside [N1], as weights of (13). */
static void edge_weights(rlar_state *st, int64_t j) {
    const int64_t count = rlar__graph_count(&st->groups, st->k, j);
    for (int64_t e = j * st->graph.v.stride, end = e + count; e < end; e++) {
        const double g = st->graph.v.distance[e];
        /* Equal samples differ by rounding at most once projected; the outputs are of size 1. */
        const bool same =
            st->graph.twin[j] && g < 1e-6 && same_sample(st, j, st->graph.v.neighbour[e]);
        st->s[e] = same ? 0.0 : rlar__kernel_weight(st->edge_kernel, g) / (double)st->k;
    }
}

rlar_status rlar__update_s(rlar_ctx *ctx, rlar_state *st) {
    RLAR_TRY(rlar__each_sample(ctx, st, edge_weights));
    return rlar__laplacian_build_classes(ctx, &st->groups, st->k, &st->graph.v, st->s,
                                         &st->graph.l);
}

rlar_wproblem rlar__weighted_problem(const rlar_state *st) {
    return (rlar_wproblem){.n = st->n,
                           .d = st->d,
                           .c = st->c,
                           .x = st->x,
                           .t = st->t,
                           .dhat = st->dhat,
                           .dtil = st->dtil,
                           .l = &st->graph.l,
                           .groups = &st->groups,
                           .alpha = st->alpha,
                           .beta = st->beta};
}

static rlar_status solve_w_b(rlar_ctx *ctx, rlar_state *st, const rlar_wproblem *problem,
                             int *ridged) {
    double change;
    RLAR_TRY(rlar__wsolve(ctx, problem, &st->wsolver, st->w, st->b, ridged));
    if (!rlar__state_refines(st))
        return RLAR_OK;
    return rlar__refine(ctx, problem, &st->wsolver, &st->refiner, st->y, st->w, st->b, &change);
}

rlar_status rlar__update_w_b(rlar_ctx *ctx, rlar_state *st, int *ridged) {
    const rlar_wproblem problem = rlar__weighted_problem(st);
    bool cut;
    rlar__held_keep(&st->held, st->d, st->c, st->w, st->b, &st->y);
    RLAR_TRY(solve_w_b(ctx, st, &problem, ridged));
    RLAR_TRY(rlar__state_outputs(ctx, st));
    RLAR_TRY(rlar__held_back(ctx, &problem, &st->held, st->y, st->wsolver.tw, st->w, st->b, &cut));
    return cut ? rlar__state_outputs(ctx, st) : RLAR_OK;
}

rlar_status rlar__update_t(rlar_ctx *ctx, rlar_state *st) {
    return rlar__retarget(ctx, st->c, st->n, st->y, st->groups.label, st->t);
}

rlar_status rlar__update_g_v(rlar_ctx *ctx, rlar_state *st) {
    return rlar__learned_renew(ctx, &st->groups, st->c, st->y, &st->graph);
}

static void residual_weight(rlar_state *st, int64_t i) {
    const double norm = sqrt(rlar__distance2(st->c, st->y + i * st->c, st->t + i * st->c));
    st->dhat[i] = rlar__kernel_weight(st->kernel, norm);
    st->value[i] = norm;
    st->smooth[i] = rlar__kernel_value(st->kernel, norm);
}

rlar_status rlar__update_dhat(rlar_ctx *ctx, rlar_state *st, rlar_info *info) {
    RLAR_TRY(rlar__each_sample(ctx, st, residual_weight));
    RLAR_TRY(rlar__state_sum(ctx, st, st->value, &info->regression));
    return rlar__state_sum(ctx, st, st->smooth, &info->smoothed);
}

void rlar__update_dtil(rlar_state *st, rlar_info *info) {
    double norms, smoothed;
    rlar__kernel_rows(st->row_kernel, st->d, st->c, st->w, st->dtil, &norms, &smoothed);
    info->sparsity = st->alpha * norms;
    info->smoothed += st->alpha * smoothed;
}

/* ---- Measuring (12) ---- */

/* Sums over the edges of one sample. */
static void edge_lengths(rlar_state *st, int64_t j) {
    const int64_t count = rlar__graph_count(&st->groups, st->k, j);
    const double *g = st->graph.v.distance + j * st->graph.v.stride;
    st->value[j] = st->smooth[j] = 0.0;
    for (int64_t e = 0; e < count; e++) {
        st->value[j] += g[e];
        st->smooth[j] += rlar__kernel_value(st->edge_kernel, g[e]);
    }
}

rlar_status rlar__measure_locality(rlar_ctx *ctx, rlar_state *st, rlar_info *info) {
    const double factor = st->beta / (2.0 * (double)st->k);
    RLAR_TRY(rlar__each_sample(ctx, st, edge_lengths));
    double plain, smooth;
    RLAR_TRY(rlar__state_sum(ctx, st, st->value, &plain));
    RLAR_TRY(rlar__state_sum(ctx, st, st->smooth, &smooth));
    info->locality = factor * plain;
    info->smoothed += factor * smooth;
    return RLAR_OK;
}

/* ---- W = 0 ---- */

bool rlar__all_zero(int64_t count, const double *x) {
    int64_t i = 0;
    while (i < count && x[i] == 0.0)
        i++;
    return i == count;
}

/* The targets of a class are those of the output b, and b is their weighted mean. Classes of one
 * size are done at once. */
void rlar__zero_offset(rlar_state *st) {
    const int64_t c = st->c;
    double *b = st->b, *t = st->t, *sum = st->y; /* c numbers of each: there are samples */
    for (int64_t k = 0; k < c; k++)
        b[k] = 1.0 / (double)c;
    double eps = 1.0;
    for (int pass = 0; pass < OFFSET_PASSES; pass++, eps *= OFFSET_SHRINK) {
        double total = 0.0, moved = 0.0;
        memset(sum, 0, (size_t)c * sizeof *sum);
        for (int64_t l = 0; l < c; l++) {
            rlar__retarget_row(c, b, l, t);
            /* A class that outweighs the others keeps its margin at the best b. */
            const double weight = (double)rlar__class_size(&st->groups, l) /
                                  hypot(sqrt(rlar__distance2(c, b, t)), eps);
            total += weight;
            for (int64_t k = 0; k < c; k++)
                sum[k] += weight * t[k];
        }
        for (int64_t k = 0; k < c; k++) {
            moved = fmax(moved, fabs(sum[k] / total - b[k]));
            b[k] = sum[k] / total;
        }
        if (moved < 1e-12)
            return;
    }
}

/* ---- Checkpoints ---- */

int rlar__state_kept(rlar_state *st, rlar_info *info, rlar_kept kept[RLAR_MOST_KEPT]) {
    const int64_t stride = st->graph.v.stride, number = (int64_t)sizeof(double);
    rlar_local *near = &st->graph.near;
    const rlar_kept all[RLAR_STATE_KEPT] = {
        {st->w, st->d * st->c * number, false},
        {st->b, st->c * number, false},
        {&info->smoothed, number, false},
        {&info->ridged, sizeof info->ridged, false},
        {&near->cuts, sizeof near->cuts, false},
        {&near->renewals, sizeof near->renewals, false},
        {st->graph.v.neighbour, stride * (int64_t)sizeof *st->graph.v.neighbour, true},
        {st->graph.v.distance, stride * number, true},
        {st->graph.twin, sizeof *st->graph.twin, true}};
    memcpy(kept, all, sizeof all);
    return RLAR_STATE_KEPT;
}

/* Neighbours are numbered from the first sample here; in a file from the first of their class,
 * whoever holds which of them. */
static void renumber(rlar_state *st, bool from_class) {
    for (int64_t j = 0; j < st->n; j++) {
        int32_t *list = st->graph.v.neighbour + j * st->graph.v.stride;
        const int64_t count = rlar__graph_count(&st->groups, st->k, j);
        int64_t first, last;
        rlar__class_range(&st->groups, st->groups.label[j], &first, &last);
        for (int64_t e = 0; e < count; e++)
            list[e] = (int32_t)(from_class ? list[e] + first : list[e] - first);
    }
}

rlar_status rlar__state_save(rlar_ctx *ctx, rlar_state *st, int64_t t, const rlar_kept *kept,
                             int count) {
    if (!st->checkpoint)
        return RLAR_OK;
    renumber(st, false);
    const rlar_status status = rlar__checkpoint_save(ctx, st->checkpoint, t, kept, count);
    renumber(st, true);
    return status;
}

bool rlar__kept_numbers(int64_t count, const double *x) {
    int64_t i = 0;
    while (i < count && isfinite(x[i]))
        i++;
    return i == count;
}

bool rlar__kept_flags(int64_t count, const bool *flag) {
    const unsigned char *byte = (const unsigned char *)flag; /* which may have any value now */
    int64_t i = 0;
    while (i < count && byte[i] <= 1)
        i++;
    return i == count;
}

/* Neighbours of its class, at lengths that are lengths. */
static bool sound_edges(const rlar_state *st, int64_t j) {
    const int32_t *list = st->graph.v.neighbour + j * st->graph.v.stride;
    const double *g = st->graph.v.distance + j * st->graph.v.stride;
    const int64_t count = rlar__graph_count(&st->groups, st->k, j);
    int64_t e = 0, first, last;
    rlar__class_range(&st->groups, st->groups.label[j], &first, &last);
    while (e < count && list[e] >= 0 && list[e] < last - first && isfinite(g[e]) && g[e] >= 0.0)
        e++;
    return e == count;
}

/* A checksum finds damage, not intent, and a neighbour that is none would be read outside of
 * memory. Counts are as far from their ends as no fit comes. */
static bool sound_state(const rlar_state *st, const rlar_info *info, int64_t t) {
    const int64_t renewals = st->graph.near.renewals;
    bool sound = t <= st->iters && rlar__kept_numbers(st->d * st->c, st->w) &&
                 rlar__kept_numbers(st->c, st->b) && isfinite(info->smoothed) &&
                 info->ridged >= 0 && info->ridged < INT_MAX / 2 && renewals >= 0 &&
                 renewals < INT64_MAX / 2 && rlar__kept_flags(st->n, st->graph.twin);
    for (int64_t j = 0; j < st->n && sound; j++)
        sound = sound_edges(st, j);
    return sound;
}

rlar_status rlar__state_load(rlar_ctx *ctx, rlar_state *st, const rlar_info *info, rlar_kept *kept,
                             int count, int64_t *t) {
    RLAR_TRY(rlar__checkpoint_load(ctx, st->checkpoint, kept, count, t));
    if (*t == 0)
        return RLAR_OK;
    if (!sound_state(st, info, *t))
        return rlar__checkpoint_refuse(ctx, st->checkpoint);
    renumber(st, true);
    return RLAR_OK;
}
