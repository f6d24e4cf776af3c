/* rlar_minimise.c - RLAR's objective (12) taken to its minimum: solver = minimise.
 *
 * Algorithm 1 freezes where every sample that keeps its margin has the weight 1/eps [N18]. Here T
 * and V are eliminated (the nearest targets, the nearest neighbours), the norms are smoothed by an
 * eps that shrinks from round to round, and each round (rlar_descent.h) descends in W and b, with
 * the reweighted system of Algorithm 1 as a metric. Where alpha is so large that
 * few features can hold on to W, the rounds have these alone (rlar_few.c). docs/solver.md has the
 * reasons, the proof of descent and what was tried instead. */
#include "methods/rlar_minimise.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "solver/retarget.h"
#include "solver/targets.h"

/* So few numbers in X that time does not matter; and so few features that a d x d system of them
 * does not. */
enum { SMALL = 20000, SMALL_D = 500 };

/* eps of the first round: beyond every residual, the losses are squares. */
static const double FIRST_EPS = 10.0;
/* Where the start is the map of a neighbour in a grid: this times the share of locality, which is
 * WARM_MOST at most. Where it is known to be better: so little that smoothing adds less than this
 * share of the objective. */
static const double WARM_EPS = 4.0, WARM_LEAST = 0.01, WARM_MOST = 0.3, NEAR = 0.01;
/* Up to this eps, the parameter, smoothing is a means; beyond, the smoothed objective is what the
 * user wants, whose minimum is not W = 0 and has no rows that are 0. */
static const double PLAIN = 1e-3;
/* What is left of eps from round to round. In the dual steps are cheap and P is fixed within a
 * round, so there are many rounds, until one changes the objective by less than QUIET. */
static const double SHRINK = 0.1, SHRINK_DUAL = 0.4, QUIET = 0.01;
/* Where time does not matter and the plain objective is wanted: what is left of eps, and the share
 * of tol at which a round ends. */
static const double SHRINK_SMALL = 0.3, SHARE_SMALL = 0.1;
/* tol = 0: TOL, or where it costs nothing, with up to SMALL numbers in X, TOL_SMALL. The last round
 * is where smoothing adds less than LAST_BIAS times tol; in the dual the rounds go on, at that eps,
 * while one gains more than ROUND_GAIN times tol. */
static const double TOL = 5e-4, TOL_SMALL = 5e-6, LAST_BIAS = 10.0, ROUND_GAIN = 4.0;
static const double LEAST_ROUND = 1e-4; /* whatever tol is: rounds cost more than steps */
/* By what share of it W = 0 may miss the best objective when the search for a better W is given up;
 * and the strain that may be taken for 1 there. */
static const double HOPELESS = 1e-4, STRAINED = 1.01;
/* A residual that is 0 but for what the search for b has left; outputs are of size 1. */
static const double KEPT = 1e-6;
/* Where the objective is wanted without smoothing: far below what sums of n terms can resolve. */
static const double PLAIN_EPS = 1e-14;

/* ---- How near the minimum is ---- */

rlar_status rlar__minimise_strain(rlar_ctx *ctx, rlar_minimum *q, double *worst) {
    rlar_descent *m = &q->m;
    const rlar_state *st = &m->st;
    RLAR_TRY(rlar__moments(ctx, &m->coords.partials, st->d, st->c, st->n, st->x, m->pull, m->rows));
    *worst = 0.0;
    for (int64_t r = 0; r < st->d; r++) {
        q->strain[r] = rlar__row_norm(st->c, m->rows + r, st->d) / st->alpha;
        *worst = fmax(*worst, q->strain[r]);
    }
    return RLAR_OK;
}

/* -<R_i, t_i>, R_i the gradient by the outputs of sample i without the edges. */
static void bound_of(rlar_state *st, int64_t i) {
    const double *y = st->y + i * st->c, *t = st->t + i * st->c;
    double sum = 0.0;
    for (int64_t r = 0; r < st->c; r++)
        sum += (t[r] - y[r]) * t[r];
    st->value[i] = st->dhat[i] * sum;
}

/* Of the norms s, residuals and edges, the vectors s/rho are feasible for the dual problem of the
 * plain objective with the same V where no strain is above 1; its value there is a lower bound. Is
 * it so high that W = 0 cannot be far from the best? In the primal strains are above 1 only by what
 * the last step has left, in the dual also where P lags behind the rows of W. */
static rlar_status hopeless(rlar_ctx *ctx, rlar_minimum *q, bool *out) {
    rlar_state *st = &q->m.st;
    double worst = 0.0;
    *out = false;
    if (!q->plain || !q->m.still)
        return RLAR_OK;
    RLAR_TRY(rlar__each_sample(ctx, st, bound_of));
    double bound;
    RLAR_TRY(rlar__state_sum(ctx, st, st->value, &bound));
    if (bound <= (1.0 - HOPELESS) * q->m.zero)
        return RLAR_OK;
    if (q->m.coords.dual) /* a product with the samples, so it is asked last */
        RLAR_TRY(rlar__minimise_strain(ctx, q, &worst));
    *out = worst < STRAINED;
    return RLAR_OK;
}

static bool sharp(const rlar_descent *m, const rlar_info *info) {
    return info->smoothed - info->objective < LAST_BIAS * m->tol * rlar__descent_scale(m, info);
}

/* ---- Rounds ---- */

static bool small(const rlar_state *st) {
    return (double)st->all * (double)st->d <= SMALL;
}

static double shrink_of(const rlar_minimum *q, bool changing) {
    if (q->leisure)
        return SHRINK_SMALL;
    return q->m.coords.dual && changing ? SHRINK_DUAL : SHRINK;
}

rlar_status rlar__minimise_round(rlar_ctx *ctx, rlar_minimum *q, rlar_info *info) {
    rlar_descent *m = &q->m;
    const rlar_state *st = &m->st;
    info->eps = fmax(q->eps, st->eps);
    RLAR_TRY(rlar__descend(ctx, m, info->eps, info));
    const double phi = info->smoothed;
    RLAR_TRY(rlar__descent_measure(ctx, m, info));
    bool zero;
    RLAR_TRY(hopeless(ctx, q, &zero));
    const double scale = rlar__descent_scale(m, info), gain = q->before - info->objective;
    /* Near W = 0 a round with the finer measure has to follow. */
    const bool fine = m->near || scale >= info->objective;
    const bool end = zero || q->eps <= st->eps || (fine && sharp(m, info));
    m->near = info->smoothed - info->objective < LAST_BIAS * m->tol * info->objective;
    const bool settled = gain < fmax(ROUND_GAIN * m->tol, LEAST_ROUND) * scale;
    /* What never rises: features that are left out have a row of length 0. */
    info->smoothed = phi + (double)q->left_out * st->alpha * st->row_kernel.eps;
    RLAR_TRY(rlar__iteration_end(ctx, info->iterations + 1, st->iters, st->began, info));
    info->converged = end && m->still && (zero || settled || !m->coords.dual);
    if (!end)
        q->eps *= shrink_of(q, fabs(gain) > QUIET * info->objective);
    q->before = info->objective;
    return RLAR_OK;
}

/* What a fit goes on from beside the state of all solvers: P, and where the search is. */
static int kept_of(rlar_minimum *q, rlar_info *info, rlar_kept kept[RLAR_MOST_KEPT]) {
    rlar_descent *m = &q->m;
    const int64_t number = (int64_t)sizeof(double), rows = m->st.d * number;
    const rlar_kept more[] = {{m->p, rows, false},
                              {m->tend, rows, false},
                              {&q->eps, number, false},
                              {&q->before, number, false},
                              {&m->near, sizeof m->near, false},
                              {&info->steps, sizeof info->steps, false}};
    const int count = rlar__state_kept(&m->st, info, kept);
    memcpy(kept + count, more, sizeof more);
    return count + (int)(sizeof more / sizeof more[0]);
}

/* Where the systems are n x n the steps do not move W itself, and fits are short: no checkpoints.
 */
static rlar_status rounds(rlar_ctx *ctx, rlar_minimum *q, rlar_info *info) {
    rlar_kept kept[RLAR_MOST_KEPT];
    const int count = kept_of(q, info, kept);
    while (info->iterations < q->m.st.iters && !info->converged) {
        RLAR_TRY(rlar__minimise_round(ctx, q, info));
        if (!q->m.coords.dual && !info->converged)
            RLAR_TRY(rlar__state_save(ctx, &q->m.st, info->iterations, kept, count));
    }
    return RLAR_OK;
}

/* As rlar__state_load does it for the rest. */
static bool sound(const rlar_minimum *q, const rlar_info *info) {
    const rlar_descent *m = &q->m;
    return rlar__kept_numbers(m->st.d, m->p) && rlar__kept_numbers(m->st.d, m->tend) &&
           isfinite(q->eps) && q->eps > 0.0 && isfinite(q->before) &&
           rlar__kept_flags(1, &m->near) && info->steps >= 0 && info->steps < INT64_MAX / 2;
}

/* After the last round that was written down, if there is one. */
static rlar_status resume(rlar_ctx *ctx, rlar_minimum *q, rlar_info *info, bool *resumed) {
    rlar_state *st = &q->m.st;
    rlar_kept kept[RLAR_MOST_KEPT];
    int64_t t = 0;
    if (!q->m.coords.dual)
        RLAR_TRY(rlar__state_load(ctx, st, info, kept, kept_of(q, info, kept), &t));
    *resumed = t > 0;
    if (!*resumed)
        return RLAR_OK;
    if (!sound(q, info))
        return rlar__checkpoint_refuse(ctx, st->checkpoint);
    info->iterations = t;
    q->m.first = q->m.cold = false;
    return rlar__state_outputs(ctx, st);
}

/* ---- The ends of the path: W = 0, and rows of W that want to be ---- */

static rlar_status measure_plain(rlar_ctx *ctx, rlar_descent *m, rlar_info *info) {
    rlar__descent_smooth(m, PLAIN_EPS, PLAIN_EPS, PLAIN_EPS);
    return rlar__descent_measure(ctx, m, info);
}

/* At most one class keeps its margin at W = 0, one that outweighs the others: its pull is 0/0. At
 * the best b all pulls add up to 0, which tells what it is. */
static rlar_status balance(rlar_ctx *ctx, rlar_descent *m) {
    const rlar_state *st = &m->st;
    const int64_t c = st->c, *first = st->groups.first;
    double *target = m->room, *others = m->room + c;
    for (int64_t l = 0; l < c; l++) {
        const double size = (double)rlar__class_size(&st->groups, l);
        rlar__retarget_row(c, st->b, l, target);
        if (rlar__distance2(c, st->b, target) > KEPT * KEPT)
            continue;
        for (int64_t i = 0; i < st->n; i++)
            st->value[i] = i < first[l] || i >= first[l + 1] ? 1.0 : 0.0;
        RLAR_TRY(rlar__moments(ctx, &m->coords.partials, c, 1, st->n, m->pull, st->value, others));
        for (int64_t i = first[l] * c; i < first[l + 1] * c; i++)
            m->pull[i] = -others[i % c] / size;
    }
    return RLAR_OK;
}

/* W = 0 and its objective; V is that of the samples, at length 0. If no strain is above 1, no W is
 * better: no row of the gradient of the other terms is longer than alpha, what the row-sparsity
 * loses by leaving 0. V does not matter there. */
static rlar_status start_at_zero(rlar_ctx *ctx, rlar_minimum *q, double *strain, rlar_info *info) {
    rlar_descent *m = &q->m;
    rlar_state *st = &m->st;
    rlar_graph *v = &st->graph.v;
    memset(st->w, 0, (size_t)(st->d * st->c) * sizeof *st->w);
    rlar__zero_offset(st);
    memcpy(m->zero_b, st->b, (size_t)st->c * sizeof *st->b);
    const int64_t behind = st->n + rlar__divided_behind(st->groups.blocks);
    for (int64_t i = -rlar__divided_before(st->groups.blocks); i < behind; i++)
        memcpy(st->y + i * st->c, st->b, (size_t)st->c * sizeof *st->b);
    memset(v->distance, 0, (size_t)(st->n * v->stride) * sizeof *v->distance);
    rlar__descent_smooth(m, PLAIN_EPS, PLAIN_EPS, PLAIN_EPS);
    RLAR_TRY(rlar__descent_evaluate(ctx, m, info));
    info->objective = m->zero = info->regression;
    RLAR_TRY(balance(ctx, m));
    return rlar__minimise_strain(ctx, q, strain);
}

/* From the map of a neighbour in a grid. What beta can have changed is at most the share of
 * locality in the objective: small where beta hardly matters and where all neighbours have one
 * output. So eps starts there; beyond WARM_MOST another V may be better, and *warm says no. */
static rlar_status warm_start(rlar_ctx *ctx, rlar_minimum *q, bool *warm) {
    rlar_state *st = &q->m.st;
    const size_t size = (size_t)(st->d * st->c);
    rlar_info at = {0};
    memcpy(st->w, st->start_w, size * sizeof *st->w);
    memcpy(st->b, st->start_b, (size_t)st->c * sizeof *st->b);
    RLAR_TRY(measure_plain(ctx, &q->m, &at));
    const double share = at.locality / at.objective;
    const double near = fmin(WARM_LEAST, NEAR * at.objective / (double)st->all);
    *warm = st->start_is_better || (share <= WARM_MOST && at.objective <= q->m.zero);
    if (*warm)
        q->eps = st->start_is_better ? near : fmax(WARM_EPS * share, WARM_LEAST);
    q->m.cold = !*warm;
    return RLAR_OK;
}

/* Rows shorter than the smoothing of the last round become 0 if that does not cost. */
static rlar_status drop_rows(rlar_ctx *ctx, rlar_descent *m, double least, rlar_info *info) {
    rlar_state *st = &m->st;
    const int64_t d = st->d;
    const size_t bytes = (size_t)(d * st->c) * sizeof *st->w;
    const double before = info->objective;
    memcpy(m->rows, st->w, bytes);
    for (int64_t r = 0; r < d; r++)
        if (rlar__row_norm(st->c, st->w + r, d) < least)
            for (int64_t k = 0; k < st->c; k++)
                st->w[k * d + r] = 0.0;
    RLAR_TRY(measure_plain(ctx, m, info));
    if (info->objective <= before)
        return RLAR_OK;
    memcpy(st->w, m->rows, bytes);
    return measure_plain(ctx, m, info);
}

/* What smoothing has left undone. */
static rlar_status finish(rlar_ctx *ctx, rlar_descent *m, rlar_info *info) {
    rlar_state *st = &m->st;
    const double rows = st->row_kernel.eps;
    RLAR_TRY(measure_plain(ctx, m, info));
    RLAR_TRY(drop_rows(ctx, m, rows, info));
    if (info->objective <= m->zero)
        return RLAR_OK;
    memset(st->w, 0, (size_t)(st->d * st->c) * sizeof *st->w);
    memcpy(st->b, m->zero_b, (size_t)st->c * sizeof *st->b);
    return measure_plain(ctx, m, info);
}

/* ---- The solver ---- */

static void carve(rlar_workspace *ws, void *arg) {
    rlar_minimum *q = arg;
    rlar__descent_carve(ws, &q->m);
    q->strain = rlar__carve(ws, q->m.st.d, sizeof *q->strain);
    q->in = rlar__carve(ws, q->m.st.d, sizeof *q->in);
    q->ranked = rlar__carve(ws, q->m.st.d, sizeof *q->ranked);
}

/* W = 0, or the map to start from; the strain is that of W = 0. */
static rlar_status begin(rlar_ctx *ctx, rlar_minimum *q, double *strain, rlar_info *info) {
    rlar_state *st = &q->m.st;
    bool warm = false;
    q->m.first = q->m.cold = true;
    q->m.near = false;
    q->plain = st->eps <= PLAIN;
    q->leisure = q->plain && small(st);
    q->m.share = q->leisure ? SHARE_SMALL : 1.0;
    q->eps = fmax(FIRST_EPS, st->eps);
    q->before = INFINITY;
    RLAR_TRY(rlar__initialise(ctx, st));
    RLAR_TRY(start_at_zero(ctx, q, strain, info));
    if (q->plain && *strain <= 1.0)
        return RLAR_OK;
    if (!st->start_w || rlar__all_zero(st->d * st->c, st->start_w))
        return RLAR_OK;
    RLAR_TRY(warm_start(ctx, q, &warm));
    if (warm)
        return RLAR_OK;
    RLAR_TRY(rlar__initialise(ctx, st)); /* V as if there had been nothing */
    return start_at_zero(ctx, q, strain, info);
}

static rlar_status minimise(rlar_ctx *ctx, void *arg, rlar_info *info) {
    rlar_minimum *q = arg;
    double strain;
    bool resumed;
    info->dual = q->m.st.wsolver.dual;
    RLAR_TRY(rlar__state_open(ctx, &q->m.st));
    RLAR_TRY(begin(ctx, q, &strain, info));
    RLAR_TRY(resume(ctx, q, info, &resumed));
    if (!q->plain) {
        RLAR_TRY(rounds(ctx, q, info));
        return measure_plain(ctx, &q->m, info);
    }
    if (strain > 1.0) {
        if (!resumed)
            RLAR_TRY(rlar__minimise_few(ctx, q, strain, info));
        if (!resumed && !info->converged && info->iterations > 0 &&
            info->iterations < q->m.st.iters)
            RLAR_TRY(begin(ctx, q, &strain, info));
        RLAR_TRY(rounds(ctx, q, info));
        return finish(ctx, &q->m, info);
    }
    info->converged = 1;
    info->gradient = 0.0;
    return rlar__iteration_end(ctx, 1, 1, q->m.st.began, info);
}

bool rlar__minimise_in_primal(const rlar_state *st) {
    return st->solver == RLAR_SOLVER_MINIMISE && small(st) && st->d <= SMALL_D;
}

bool rlar__minimise_at_leisure(const rlar_state *st) {
    return st->solver == RLAR_SOLVER_MINIMISE && small(st) && st->eps <= PLAIN;
}

rlar_status rlar__minimise(rlar_ctx *ctx, rlar_state *st, rlar_info *info) {
    const double tol = small(st) ? TOL_SMALL : TOL;
    rlar_minimum q = {.m = {.st = *st, .tol = st->tol > 0.0 ? st->tol : tol}};
    RLAR_TRY(rlar__run_in_workspace(ctx, carve, minimise, &q, info));
    st->tol = q.m.tol; /* for the verdict */
    return RLAR_OK;
}

rlar_status rlar__minimise_forecast(rlar_ctx *ctx, rlar_state *st, rlar_forecast *out) {
    rlar_minimum q = {.m = {.st = *st}};
    rlar_forecast few = {0};
    RLAR_TRY(rlar__minimise_few_forecast(ctx, st, &few));
    RLAR_TRY(rlar__forecast_workspace(ctx, carve, &q, out));
    out->bytes += few.bytes;
    return RLAR_OK;
}

void rlar__minimise_typical(bool dual, double *rounds, double *steps) {
    *rounds = dual ? 11.0 : 5.0;
    *steps = dual ? 110.0 : 40.0;
}
