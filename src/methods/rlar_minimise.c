/* rlar_minimise.c - RLAR's objective (12) taken to its minimum: solver = minimise.
 *
 * Algorithm 1 freezes where every sample that keeps its margin has the weight 1/eps [N18]. Here T
 * and V are eliminated (the nearest targets, the nearest neighbours), the norms are smoothed by an
 * eps that shrinks, rho(s) = sqrt(s^2 + eps^2), and the rows of W get a variable each:
 *
 *   Phi(W, b, P) = sum_i rho(dist(y_i, C_i)) + beta/(2K) sum_jm V_jm rho(||y_j - y_m||)
 *                + alpha/2 sum_r ((||w_r||^2 + eps_w^2) / P_r + P_r),     y = W^T x + b,
 *
 * whose least value over P is the smoothed objective. C_i are the targets that keep the margin;
 * while V stays Phi is convex. A round shrinks eps, moves P past its best value to the point
 * where Phi is the same (never above), factorises the reweighted system of Algorithm 1 as a metric,
 * and descends in W and b by limited-memory BFGS. Outputs are linear in W, so a ray is searched for
 * O(n c) per trial; with n < d a step does not touch the samples at all (coords.h). docs/solver.md
 * has the reasons, the proof of descent and what was tried instead. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "methods/rlar.h"
#include "solver/coords.h"
#include "solver/lbfgs.h"
#include "solver/linesearch.h"
#include "solver/retarget.h"
#include "solver/targets.h"

enum { STEPS = 60, STEPS_DUAL = 30, SMALL = 20000 };

/* eps of the first round (beyond every residual: the losses are squares), and the share of it that
 * the rows of W have. */
static const double FIRST_EPS = 10.0, ROW_SHARE = 0.1;
/* In the dual steps are cheap and P is fixed within a round, so there are many rounds. */
static const double SHRINK = 0.1, SHRINK_DUAL = 0.4;
/* How far P goes between rounds, 1 to its best value, 2 to where Phi is the same again; and by what
 * factor at most beyond the best. */
static const double OVER = 2.0, FARTHEST = 20.0;
/* tol = 0: TOL, or where it costs nothing, with up to SMALL numbers in X, TOL_SMALL. A round ends
 * when neither the last step gained nor the slope promises more than tol times the objective, in
 * the dual, where steps are cheap, STEP_DUAL of that. The last round is where smoothing adds less
 * than LAST_BIAS times tol; in the dual the rounds go on, at that eps, while one gains more than
 * ROUND_GAIN times tol. */
static const double TOL = 5e-4, TOL_SMALL = 5e-6, STEP_DUAL = 0.2, LAST_BIAS = 10.0,
                    ROUND_GAIN = 4.0;
static const double LEAST_ROUND = 1e-4; /* whatever tol is: rounds cost more than steps */
/* All are relative to the objective, or near W = 0 to how far below J(0) it is, but not to less
 * than this share of J(0). */
static const double LEAST_SCALE = 0.01;
/* By what share of it W = 0 may miss the best objective when the search for a better W is given up.
 */
static const double HOPELESS = 1e-4;
/* The slope that is left by a search along a ray, of that at its start. */
static const double SLOPE_LEFT = 0.3;
/* The least curvature of a sample in the metric, where its targets move along with its outputs. */
static const double LEAST_CURVATURE = 0.1;
/* Where the objective is wanted without smoothing: far below what sums of n terms can resolve. */
static const double PLAIN_EPS = 1e-14;

/* A ray from the present point: what its trials need. */
typedef struct ray {
    double *v, *image; /* the step and its image (coords.h) */
    double *room;      /* c x n: outputs of the step, where the image is something else */
    const double *out; /* c x n: its outputs */
    double *edge;      /* 3 x stride x n: y'y, y'v, v'v of each edge's difference */
    double *trial;     /* c x n */
    double t;
} ray;

typedef struct descent {
    rlar_state st;               /* first: the steps take it */
    double *gradient, *previous; /* coords.length */
    double *pull;                /* c x n: the gradient by the outputs */
    double *h;                   /* n: the samples' weights in the metric */
    double *p;                   /* d: P, of the rows of W */
    double *kept;                /* d x c */
    rlar_coords coords;
    rlar_lbfgs memory;
    ray ray;
    double zero, *zero_b; /* the objective at W = 0, and its b */
    double tol, start;
    bool still; /* the last round ended because there was next to nothing to gain */
    bool
        near; /* smoothing is small against the objective, if not against its distance from W = 0 */
} descent;

static void carve(rlar_workspace *ws, void *arg) {
    descent *m = arg;
    rlar_state *st = &m->st;
    size_t targets = 0, edges = 0;
    rlar__state_carve(ws, st);
    m->coords.problem = rlar__weighted_problem(st);
    m->coords.problem.t = NULL;
    m->coords.solver = &st->wsolver;
    rlar__coords_carve(ws, &m->coords);
    if (!rlar__size_mul((size_t)st->c, sizeof(double), &targets) ||
        !rlar__size_mul((size_t)st->graph.v.stride, 3 * sizeof(double), &edges))
        ws->overflow = true;
    m->gradient = rlar__carve(ws, m->coords.length, sizeof(double));
    m->previous = rlar__carve(ws, m->coords.length, sizeof(double));
    m->ray.v = rlar__carve(ws, m->coords.length, sizeof(double));
    m->ray.image = rlar__carve(ws, m->coords.image_length, sizeof(double));
    m->ray.room = rlar__carve(ws, m->coords.dual ? st->n : 0, targets);
    m->ray.trial = rlar__carve(ws, st->n, targets);
    m->ray.edge = rlar__carve(ws, st->n, edges);
    m->pull = rlar__carve(ws, st->n, targets);
    m->h = rlar__carve(ws, st->n, sizeof(double));
    m->p = rlar__carve(ws, st->d, sizeof(double));
    m->kept = rlar__carve(ws, st->d, targets);
    m->zero_b = rlar__carve(ws, st->c, sizeof(double));
    rlar__lbfgs_carve(ws, m->coords.length, m->coords.image_length, m->coords.dual, &m->memory);
    m->coords.w = st->w;
    m->coords.b = st->b;
    m->coords.problem.dhat = m->h;
}

/* Of residuals, of edges, of the rows of W. */
static void set_smoothing(descent *m, double eps, double edges, double rows) {
    m->st.kernel = (rlar_kernel){RLAR_KERNEL_SQRT, eps};
    m->st.edge_kernel = (rlar_kernel){RLAR_KERNEL_SQRT, edges};
    m->st.row_kernel = (rlar_kernel){RLAR_KERNEL_SQRT, rows};
    m->coords.eps = rows;
}

/* ---- Phi and its gradient by W and b ---- */

/* By the outputs of sample i: om e_i, and beta (L Y)_i. */
static void pull_of(rlar_state *st, int64_t i) {
    descent *m = (descent *)st;
    const int64_t c = st->c;
    double *pull = m->pull + i * c;
    for (int64_t r = 0; r < c; r++)
        pull[r] = st->dhat[i] * (st->y[i * c + r] - st->t[i * c + r]);
    rlar__laplacian_row(&st->graph.l, i, st->beta, c, st->y, pull);
}

/* The terms of the present outputs, with the V that is there: T, the weights, the gradient by the
 * outputs; info: these terms of (12), plain and smoothed. */
static rlar_status evaluate(rlar_ctx *ctx, descent *m, rlar_info *info) {
    rlar_state *st = &m->st;
    RLAR_TRY(rlar__retarget(ctx, st->c, st->n, st->y, st->groups.label, st->t));
    RLAR_TRY(rlar__update_dhat(ctx, st, info));
    RLAR_TRY(rlar__measure_locality(ctx, st, info));
    RLAR_TRY(rlar__update_s(ctx, st));
    return rlar__each_sample(ctx, st, pull_of);
}

/* The gradient at the point of the round; its sparsity, which may be a bound, completes Phi. */
static rlar_status slope_of(rlar_ctx *ctx, descent *m, rlar_info *info) {
    RLAR_TRY(rlar__coords_gradient(ctx, &m->coords, m->pull, m->gradient));
    info->sparsity = m->coords.sparsity;
    info->smoothed += info->sparsity;
    info->objective = info->regression + info->sparsity + info->locality;
    return RLAR_OK;
}

/* At the present outputs: V, T, Phi and its gradient. */
static rlar_status evaluate_step(rlar_ctx *ctx, descent *m, rlar_info *info) {
    RLAR_TRY(rlar__update_g_v(ctx, &m->st));
    RLAR_TRY(evaluate(ctx, m, info));
    return slope_of(ctx, m, info);
}

/* ---- The search along a ray ---- */

static void edge_terms(rlar_state *st, int64_t j) {
    const descent *m = (const descent *)st;
    const int64_t c = st->c, stride = st->graph.v.stride;
    const int64_t count = rlar__graph_count(&st->groups, st->k, j);
    double *out = m->ray.edge + 3 * j * stride;
    for (int64_t e = 0; e < count; e++, out += 3) {
        const int64_t other = st->graph.v.neighbour[j * stride + e];
        rlar__difference_terms(c, st->y + j * c, st->y + other * c, m->ray.out + j * c,
                               m->ray.out + other * c, out);
    }
}

/* rho of the norm whose square is q0 + 2 t q1 + t^2 q2; its derivative by t is added to *slope. */
static double along(double eps, const double q[3], double t, double *slope) {
    const double square = fmax(q[0] + t * (2.0 * q[1] + t * q[2]), 0.0);
    const double rho = sqrt(square + eps * eps);
    *slope += (q[1] + t * q[2]) / rho;
    return rho;
}

/* The terms of sample j at t: value to st->smooth, slope to st->value. */
static void trial_of(rlar_state *st, int64_t j) {
    const descent *m = (const descent *)st;
    const int64_t c = st->c, l = st->groups.label[j];
    const double eps = st->kernel.eps, t = m->ray.t, *v = m->ray.out + j * c;
    double *z = m->ray.trial + j * c; /* the v_j of (25) */
    double square, slope;
    rlar__margin_along(c, st->y + j * c, v, t, l, z, &square, &slope);
    const double rho = sqrt(square + eps * eps);
    const int64_t count = rlar__graph_count(&st->groups, st->k, j);
    const double *edge = m->ray.edge + 3 * j * st->graph.v.stride;
    double local = 0.0, local_slope = 0.0;
    for (int64_t e = 0; e < count; e++)
        local += along(st->edge_kernel.eps, edge + 3 * e, t, &local_slope);
    const double factor = st->beta / (2.0 * (double)st->k);
    st->smooth[j] = rho + factor * local;
    st->value[j] = slope / rho + factor * local_slope;
}

static rlar_status ray_at(rlar_ctx *ctx, void *arg, double t, double *value, double *slope) {
    descent *m = arg;
    rlar_state *st = &m->st;
    m->ray.t = t;
    RLAR_TRY(rlar__each_sample(ctx, st, trial_of));
    *slope = rlar__sum(st->n, st->value);
    *value = rlar__sum(st->n, st->smooth) + rlar__coords_sparsity(&m->coords, t, slope);
    return RLAR_OK;
}

/* ---- One step ---- */

/* v = -H gradient and its image; *slope: Phi's along v. */
static rlar_status direct(rlar_ctx *ctx, descent *m, double *slope) {
    double *v = m->ray.v, *image = m->ray.image;
    for (int64_t i = 0; i < m->coords.length; i++)
        v[i] = -m->gradient[i];
    RLAR_TRY(rlar__lbfgs_to_metric(ctx, &m->memory, v));
    RLAR_TRY(rlar__coords_metric(ctx, &m->coords, v, image));
    RLAR_TRY(rlar__lbfgs_from_metric(ctx, &m->memory, v, image));
    return rlar__lbfgs_product(ctx, &m->memory, m->gradient, v, image, slope);
}

/* The least Phi on the ray, *t = 0 where there is none below the present one. */
static rlar_status search(rlar_ctx *ctx, descent *m, double slope, double value, double *t) {
    ray *r = &m->ray;
    r->out = rlar__coords_outputs(&m->coords, r->image, r->room);
    rlar__coords_aim(&m->coords, r->v, r->image);
    RLAR_TRY(rlar__each_sample(ctx, &m->st, edge_terms));
    return rlar__linesearch(ctx, ray_at, m, value, slope, SLOPE_LEFT, t);
}

static void move(descent *m, double t) {
    const int64_t size = m->st.n * m->st.c;
    rlar__coords_move(&m->coords, m->ray.v, t);
    for (int64_t i = 0; i < size; i++)
        m->st.y[i] += t * m->ray.out[i];
}

/* One step of the descent; *gain is what Phi fell by, and 0 where it did not: then nothing moved.
 */
static rlar_status step(rlar_ctx *ctx, descent *m, rlar_info *info, double *gain, double *slope) {
    const double before = info->smoothed;
    double t = 0.0;
    *gain = 0.0;
    RLAR_TRY(direct(ctx, m, slope));
    if (*slope < 0.0)
        RLAR_TRY(search(ctx, m, *slope, before, &t));
    if (t == 0.0)
        return RLAR_OK;
    move(m, t);
    memcpy(m->previous, m->gradient, (size_t)m->coords.length * sizeof *m->previous);
    RLAR_TRY(evaluate_step(ctx, m, info));
    if (info->smoothed > before) { /* rounding: there is nothing left to gain */
        move(m, -t);
        return evaluate_step(ctx, m, info);
    }
    *gain = before - info->smoothed;
    return rlar__lbfgs_learn(ctx, &m->memory, t, m->ray.v, m->ray.image, m->previous, m->gradient);
}

/* ---- A round ---- */

/* What small is small against: the objective, and near W = 0 how far below it the objective is. */
static double scale_of(const descent *m, const rlar_info *info) {
    const double below = fabs(m->zero - info->objective);
    return fmin(info->objective, fmax(below, LEAST_SCALE * m->zero));
}

/* P past its best value u = sqrt(||w_r||^2 + eps^2): u^2/P + P is symmetric in log P about log u,
 * so that up to OVER = 2 it does not rise. In the primal only the metric depends on P. */
static void move_p(descent *m, bool first) {
    const rlar_state *st = &m->st;
    const double over = m->coords.dual && !first ? OVER - 1.0 : 0.0;
    for (int64_t r = 0; r < st->d; r++) {
        const double u = hypot(rlar__row_norm(st->c, st->w + r, st->d), m->coords.eps);
        const double beyond = first ? 1.0 : fmin(fmax(u / m->p[r], 1.0 / FARTHEST), FARTHEST);
        m->p[r] = u * pow(beyond, over);
        st->dtil[r] = 1.0 / m->p[r];
    }
}

/* The curvature of rho(dist) acts on the outputs that the sample's targets hold back, m of c; on
 * the others it is 0. One weight has to serve for all of them. */
static void curvature(rlar_state *st, int64_t i) {
    descent *m = (descent *)st;
    int64_t held = 0;
    for (int64_t r = i * st->c; r < (i + 1) * st->c; r++)
        held += st->y[r] != st->t[r];
    m->h[i] = st->dhat[i] * fmax(sqrt((double)held / (double)st->c), LEAST_CURVATURE);
}

/* W, b and their outputs at the smoothing eps: P, the metric, and a descent. */
static rlar_status descend(rlar_ctx *ctx, descent *m, double eps, rlar_info *info) {
    rlar_state *st = &m->st;
    set_smoothing(m, eps, eps / fmax(1.0, st->beta), ROW_SHARE * eps);
    move_p(m, info->iterations == 0);
    RLAR_TRY(evaluate(ctx, m, info));
    RLAR_TRY(rlar__each_sample(ctx, st, curvature));
    RLAR_TRY(rlar__coords_begin(ctx, &m->coords, st->y, &info->ridged));
    rlar__lbfgs_forget(&m->memory);
    RLAR_TRY(slope_of(ctx, m, info));
    const double enough = m->coords.dual ? STEP_DUAL * m->tol : m->tol;
    m->still = false;
    const int most = m->coords.dual ? STEPS_DUAL : STEPS;
    for (int k = 0; k < most && !m->still; k++) {
        double gain, slope;
        RLAR_TRY(step(ctx, m, info, &gain, &slope));
        info->steps++;
        const double scale = m->near ? scale_of(m, info) : info->objective;
        info->gradient = -0.5 * slope / scale;
        m->still = gain < enough * scale && info->gradient < enough;
        if (gain == 0.0) /* nothing moved, and nothing would */
            break;
    }
    return rlar__coords_end(ctx, &m->coords);
}

/* The objective, plain and smoothed, of W and b as they are. */
static rlar_status measure(rlar_ctx *ctx, descent *m, rlar_info *info) {
    rlar_state *st = &m->st;
    RLAR_TRY(rlar__targets_outputs(ctx, st->c, st->n, st->d, st->w, st->b, st->x, st->y));
    RLAR_TRY(rlar__update_g_v(ctx, st));
    RLAR_TRY(evaluate(ctx, m, info));
    rlar__update_dtil(st, info);
    info->objective = info->regression + info->sparsity + info->locality;
    return RLAR_OK;
}

/* ---- The ends of the path: W = 0, and rows of W that want to be ---- */

static rlar_status measure_plain(rlar_ctx *ctx, descent *m, rlar_info *info) {
    set_smoothing(m, PLAIN_EPS, PLAIN_EPS, PLAIN_EPS);
    return measure(ctx, m, info);
}

/* W = 0 and its objective; V is that of the samples, at length 0. *least: no W is better, because
 * no row of the gradient of the other terms is longer than alpha, what the row-sparsity loses by
 * leaving 0. V does not matter there. */
static rlar_status start_at_zero(rlar_ctx *ctx, descent *m, rlar_info *info, bool *least) {
    rlar_state *st = &m->st;
    rlar_graph *v = &st->graph.v;
    memset(st->w, 0, (size_t)(st->d * st->c) * sizeof *st->w);
    rlar__zero_offset(st);
    memcpy(m->zero_b, st->b, (size_t)st->c * sizeof *st->b);
    for (int64_t i = 0; i < st->n; i++)
        memcpy(st->y + i * st->c, st->b, (size_t)st->c * sizeof *st->b);
    memset(v->distance, 0, (size_t)(st->n * v->stride) * sizeof *v->distance);
    set_smoothing(m, PLAIN_EPS, PLAIN_EPS, PLAIN_EPS);
    RLAR_TRY(evaluate(ctx, m, info));
    info->objective = m->zero = info->regression;
    RLAR_TRY(rlar__moments(ctx, &m->coords.partials, st->d, st->c, st->n, st->x, m->pull, m->kept));
    *least = true;
    for (int64_t r = 0; r < st->d && *least; r++)
        *least = rlar__row_norm(st->c, m->kept + r, st->d) <= st->alpha;
    return RLAR_OK;
}

/* Rows shorter than the smoothing of the last round become 0 if that does not cost. */
static rlar_status drop_rows(rlar_ctx *ctx, descent *m, double least, rlar_info *info) {
    rlar_state *st = &m->st;
    const int64_t d = st->d;
    const size_t bytes = (size_t)(d * st->c) * sizeof *st->w;
    const double before = info->objective;
    memcpy(m->kept, st->w, bytes);
    for (int64_t r = 0; r < d; r++)
        if (rlar__row_norm(st->c, st->w + r, d) < least)
            for (int64_t k = 0; k < st->c; k++)
                st->w[k * d + r] = 0.0;
    RLAR_TRY(measure_plain(ctx, m, info));
    if (info->objective <= before)
        return RLAR_OK;
    memcpy(st->w, m->kept, bytes);
    return measure_plain(ctx, m, info);
}

/* What smoothing has left undone. */
static rlar_status finish(rlar_ctx *ctx, descent *m, rlar_info *info) {
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

static bool sharp(const descent *m, const rlar_info *info) {
    return info->smoothed - info->objective < LAST_BIAS * m->tol * scale_of(m, info);
}

/* s^2 om(s) of the residual and the edges of one sample. */
static void bound_of(rlar_state *st, int64_t j) {
    const int64_t count = rlar__graph_count(&st->groups, st->k, j);
    const double *g = st->graph.v.distance + j * st->graph.v.stride;
    double sum = 0.0;
    for (int64_t e = 0; e < count; e++)
        sum += g[e] * rlar__kernel_weight(st->edge_kernel, g[e]) * g[e];
    st->value[j] = st->dhat[j] * rlar__distance2(st->c, st->y + j * st->c, st->t + j * st->c) +
                   st->beta / (2.0 * (double)st->k) * sum;
}

/* At a minimum of the smoothed objective the sum of s^2 om(s) over all norms is a lower bound of
 * the plain one for the same V (the vectors s om(s) are feasible for its dual problem). Is it so
 * high that W = 0 cannot be far from the best? In the dual P lags behind the rows of W, and the
 * vectors of the rows may be too long: nothing is known there. */
static rlar_status hopeless(rlar_ctx *ctx, descent *m, bool *out) {
    rlar_state *st = &m->st;
    *out = false;
    if (m->coords.dual || !m->still)
        return RLAR_OK;
    RLAR_TRY(rlar__each_sample(ctx, st, bound_of));
    double bound = rlar__sum(st->n, st->value);
    for (int64_t r = 0; r < st->d; r++) {
        const double w = rlar__row_norm(st->c, st->w + r, st->d);
        bound += st->alpha * w * st->dtil[r] * w;
    }
    *out = bound > (1.0 - HOPELESS) * m->zero;
    return RLAR_OK;
}

static rlar_status rounds(rlar_ctx *ctx, descent *m, rlar_info *info) {
    rlar_state *st = &m->st;
    const double shrink = st->wsolver.dual ? SHRINK_DUAL : SHRINK;
    double eps = FIRST_EPS, before = INFINITY;
    for (int64_t k = 1; k <= st->iters && !info->converged; k++) {
        info->eps = fmax(eps, st->eps);
        RLAR_TRY(descend(ctx, m, info->eps, info));
        const double phi = info->smoothed;
        RLAR_TRY(measure(ctx, m, info));
        bool zero;
        RLAR_TRY(hopeless(ctx, m, &zero));
        /* Near W = 0 a round with the finer measure has to follow. */
        const bool fine = m->near || scale_of(m, info) >= info->objective;
        const bool end = zero || eps <= st->eps || (fine && sharp(m, info));
        m->near = info->smoothed - info->objective < LAST_BIAS * m->tol * info->objective;
        const bool settled =
            before - info->objective < fmax(ROUND_GAIN * m->tol, LEAST_ROUND) * scale_of(m, info);
        info->smoothed = phi; /* what never rises */
        RLAR_TRY(rlar__iteration_end(ctx, k, st->iters, m->start, info));
        info->converged = end && m->still && (zero || settled || !m->coords.dual);
        before = info->objective;
        if (!end)
            eps *= shrink;
    }
    return finish(ctx, m, info);
}

static rlar_status minimise(rlar_ctx *ctx, void *arg, rlar_info *info) {
    descent *m = arg;
    rlar_state *st = &m->st;
    bool least;
    m->start = rlar__now();
    info->dual = st->wsolver.dual;
    RLAR_TRY(rlar__initialise(ctx, st));
    RLAR_TRY(start_at_zero(ctx, m, info, &least));
    if (!least)
        return rounds(ctx, m, info);
    info->converged = 1;
    info->gradient = 0.0;
    return rlar__iteration_end(ctx, 1, 1, m->start, info);
}

rlar_status rlar__minimise(rlar_ctx *ctx, rlar_state *st, rlar_info *info) {
    const double tol = (double)st->n * (double)st->d > SMALL ? TOL : TOL_SMALL;
    descent m = {.st = *st, .tol = st->tol > 0.0 ? st->tol : tol};
    RLAR_TRY(rlar__run_in_workspace(ctx, carve, minimise, &m, info));
    st->tol = m.tol; /* for the verdict */
    return RLAR_OK;
}

rlar_status rlar__minimise_forecast(rlar_ctx *ctx, rlar_state *st, rlar_forecast *out) {
    descent m = {.st = *st};
    return rlar__forecast_workspace(ctx, carve, &m, out);
}

void rlar__minimise_typical(bool dual, double *rounds, double *steps) {
    *rounds = dual ? 14.0 : 5.0;
    *steps = dual ? 110.0 : 40.0;
}
