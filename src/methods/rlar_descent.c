/* rlar_descent.c - one round of RLAR's descent: W and b at one smoothing (rlar_descent.h).
 *
 * The reweighted system of Algorithm 1 is factorised once, as a metric, and limited-memory BFGS
 * descends in it. Outputs are linear in W, so a ray is searched for O(n c) per trial; with n < d a
 * step does not touch the samples at all (coords.h). docs/solver.md has the reasons. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "methods/rlar_descent.h"
#include "solver/linesearch.h"
#include "solver/retarget.h"
#include "solver/targets.h"

enum { STEPS = 60, STEPS_DUAL = 30 };

/* The share of eps that the rows of W have. */
static const double ROW_SHARE = 0.1;
/* How far P goes between rounds, 1 to its best value, 2 to where Phi is the same again; and by what
 * factor at most beyond the best. */
static const double OVER = 2.0, FARTHEST = 20.0;
/* A round ends when neither the last step gained nor the slope promises more than tol times the
 * objective; in the dual, where a step costs about 2 c/d of a round, twice this share of that, but
 * no less than LEAST_SHARE of it. */
static const double LEAST_SHARE = 0.2;
/* The first round also goes on while a step changes more than this share of the neighbours (of
 * beta < 1 a larger one): where locality is strong V hardly moves later, because neighbours have
 * one output by then. */
static const double MOVING = 1e-3;
/* Near W = 0 small is measured against the distance from J(0), but not against less than this share
 * of J(0), in the primal and in the dual. */
static const double LEAST_SCALE = 3e-3, LEAST_SCALE_DUAL = 0.01;
/* The slope that is left by a search along a ray, of that at its start. */
static const double SLOPE_LEFT = 0.3;
/* The least curvature of a sample in the metric, where its targets move along with its outputs. */
static const double LEAST_CURVATURE = 0.1;

void rlar__descent_carve(rlar_workspace *ws, rlar_descent *m) {
    rlar_state *st = &m->st;
    size_t targets = 0, edges = 0, lists = 0;
    rlar__state_carve(ws, st);
    m->coords.problem = rlar__weighted_problem(st);
    m->coords.problem.t = NULL;
    m->coords.solver = &st->wsolver;
    rlar__coords_carve(ws, &m->coords);
    if (!rlar__size_mul((size_t)st->c, sizeof(double), &targets) ||
        !rlar__size_mul((size_t)st->graph.v.stride, 3 * sizeof(double), &edges) ||
        !rlar__size_mul((size_t)st->graph.v.stride, sizeof(int32_t), &lists))
        ws->overflow = true;
    m->gradient = rlar__carve(ws, m->coords.length, sizeof(double));
    m->previous = rlar__carve(ws, m->coords.length, sizeof(double));
    m->ray.v = rlar__carve(ws, m->coords.length, sizeof(double));
    m->ray.image = m->coords.dual ? rlar__carve(ws, m->coords.image_length, sizeof(double))
                                  : rlar__carve_around(ws, st->groups.blocks, st->n, targets);
    m->ray.room = rlar__carve(ws, m->coords.dual ? st->n : 0, targets);
    m->ray.trial = rlar__carve(ws, st->n, targets);
    m->ray.edge = rlar__carve(ws, st->n, edges);
    m->ray.delta = rlar__carve(ws, st->n, sizeof(double));
    m->pull = rlar__carve(ws, st->n, targets);
    m->h = rlar__carve(ws, st->n, sizeof(double));
    m->p = rlar__carve(ws, st->d, sizeof(double));
    m->tend = rlar__carve(ws, st->d, sizeof(double));
    m->rows = rlar__carve(ws, st->d, targets);
    m->before = rlar__carve(ws, st->n, lists);
    m->zero_b = rlar__carve(ws, st->c, sizeof(double));
    m->room = rlar__carve(ws, 2, targets);
    rlar__lbfgs_carve(ws, m->coords.length, m->coords.image_length, m->coords.dual, &m->memory);
    m->coords.w = st->w;
    m->coords.b = st->b;
    m->coords.problem.dhat = m->h;
}

void rlar__descent_smooth(rlar_descent *m, double eps, double edges, double rows) {
    m->st.kernel = (rlar_kernel){RLAR_KERNEL_SQRT, eps};
    m->st.edge_kernel = (rlar_kernel){RLAR_KERNEL_SQRT, edges};
    m->st.row_kernel = (rlar_kernel){RLAR_KERNEL_SQRT, rows};
    m->coords.eps = rows;
}

/* ---- Phi and its gradient by W and b ---- */

/* By the outputs of sample i: om e_i, and beta (L Y)_i. */
static void pull_of(rlar_state *st, int64_t i) {
    rlar_descent *m = (rlar_descent *)st;
    const int64_t c = st->c;
    double *pull = m->pull + i * c;
    for (int64_t r = 0; r < c; r++)
        pull[r] = st->dhat[i] * (st->y[i * c + r] - st->t[i * c + r]);
    rlar__laplacian_row(&st->graph.l, i, st->beta, c, st->y, pull);
}

rlar_status rlar__descent_evaluate(rlar_ctx *ctx, rlar_descent *m, rlar_info *info) {
    rlar_state *st = &m->st;
    RLAR_TRY(rlar__retarget(ctx, st->c, st->n, st->y, st->groups.label, st->t));
    RLAR_TRY(rlar__update_dhat(ctx, st, info));
    RLAR_TRY(rlar__measure_locality(ctx, st, info));
    RLAR_TRY(rlar__update_s(ctx, st));
    return rlar__each_sample(ctx, st, pull_of);
}

/* The gradient at the point of the round; its sparsity, which may be a bound, completes Phi. */
static rlar_status slope_of(rlar_ctx *ctx, rlar_descent *m, rlar_info *info) {
    RLAR_TRY(rlar__coords_gradient(ctx, &m->coords, m->pull, m->gradient));
    info->sparsity = m->coords.sparsity;
    info->smoothed += info->sparsity;
    info->objective = info->regression + info->sparsity + info->locality;
    return RLAR_OK;
}

/* At the present outputs: V, T, Phi and its gradient. */
static rlar_status evaluate_step(rlar_ctx *ctx, rlar_descent *m, rlar_info *info) {
    const rlar_graph *v = &m->st.graph.v;
    if (m->cold && m->coords.dual)
        memcpy(m->before, v->neighbour, (size_t)(v->n * v->stride) * sizeof *m->before);
    RLAR_TRY(rlar__update_g_v(ctx, &m->st));
    RLAR_TRY(rlar__descent_evaluate(ctx, m, info));
    return slope_of(ctx, m, info);
}

/* ---- The search along a ray ---- */

static void ray_terms(rlar_state *st, int64_t j) {
    const rlar_descent *m = (const rlar_descent *)st;
    const int64_t c = st->c, stride = st->graph.v.stride;
    const int64_t count = rlar__graph_count(&st->groups, st->k, j);
    const int64_t own = j * c + st->groups.label[j];
    double *out = m->ray.edge + 3 * j * stride;
    m->ray.delta[j] = st->t[own] - st->y[own];
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
    const rlar_descent *m = (const rlar_descent *)st;
    const int64_t c = st->c, l = st->groups.label[j];
    const double eps = st->kernel.eps, t = m->ray.t, *v = m->ray.out + j * c;
    double *z = m->ray.trial + j * c; /* the v_j of (25) */
    double square, slope;
    rlar__margin_along(c, st->y + j * c, v, t, l, z, m->ray.delta + j, &square, &slope);
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
    rlar_descent *m = arg;
    rlar_state *st = &m->st;
    m->ray.t = t;
    RLAR_TRY(rlar__each_sample(ctx, st, trial_of));
    RLAR_TRY(rlar__state_sum(ctx, st, st->value, slope));
    RLAR_TRY(rlar__state_sum(ctx, st, st->smooth, value));
    *value += rlar__coords_sparsity(&m->coords, t, slope);
    return RLAR_OK;
}

/* ---- One step ---- */

/* v = -H gradient and its image; *slope: Phi's along v. */
static rlar_status direct(rlar_ctx *ctx, rlar_descent *m, double *slope) {
    double *v = m->ray.v, *image = m->ray.image;
    for (int64_t i = 0; i < m->coords.length; i++)
        v[i] = -m->gradient[i];
    RLAR_TRY(rlar__lbfgs_to_metric(ctx, &m->memory, v));
    RLAR_TRY(rlar__coords_metric(ctx, &m->coords, v, image));
    RLAR_TRY(rlar__lbfgs_from_metric(ctx, &m->memory, v, image));
    return rlar__lbfgs_product(ctx, &m->memory, m->gradient, v, image, slope);
}

/* The least Phi on the ray, *t = 0 where there is none below the present one. */
static rlar_status search(rlar_ctx *ctx, rlar_descent *m, double slope, double value, double *t) {
    rlar_ray *r = &m->ray;
    r->out = rlar__coords_outputs(&m->coords, r->image, r->room);
    if (!m->coords.dual)
        RLAR_TRY(rlar__divided_gather(ctx, m->st.groups.blocks, (size_t)m->st.c * sizeof *r->image,
                                      r->image));
    rlar__coords_aim(&m->coords, r->v, r->image);
    RLAR_TRY(rlar__each_sample(ctx, &m->st, ray_terms));
    return rlar__linesearch(ctx, ray_at, m, value, slope, SLOPE_LEFT, t);
}

static void move(rlar_descent *m, double t) {
    const rlar_blocks *blocks = m->st.groups.blocks;
    const int64_t first = -rlar__divided_before(blocks) * m->st.c;
    const int64_t end = (m->st.n + rlar__divided_behind(blocks)) * m->st.c;
    rlar__coords_move(&m->coords, m->ray.v, t);
    for (int64_t i = first; i < end; i++)
        m->st.y[i] += t * m->ray.out[i];
}

/* One step of the descent; *gain is what Phi fell by, and 0 where it did not: then nothing moved.
 */
static rlar_status step(rlar_ctx *ctx, rlar_descent *m, rlar_info *info, double *gain,
                        double *slope) {
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

double rlar__descent_scale(const rlar_descent *m, const rlar_info *info) {
    const double below = fabs(m->zero - info->objective);
    const double least = m->coords.dual ? LEAST_SCALE_DUAL : LEAST_SCALE;
    return fmin(info->objective, fmax(below, least * m->zero));
}

/* P past its best value u = sqrt(||w_r||^2 + eps^2): u^2/P + P is symmetric in log P about log u,
 * so that up to OVER = 2 it does not rise. Where u lies on the other side of P than in the round
 * before, P would only go to and fro: there it goes to u. In the primal only the metric depends on
 * P. */
static void move_p(rlar_descent *m) {
    const rlar_state *st = &m->st;
    for (int64_t r = 0; r < st->d; r++) {
        const double u = hypot(rlar__row_norm(st->c, st->w + r, st->d), m->coords.eps);
        const double way = m->first ? 0.0 : log(fmin(fmax(u / m->p[r], 1.0 / FARTHEST), FARTHEST));
        const bool turns = m->first || !m->coords.dual || way * m->tend[r] < 0.0;
        m->p[r] = turns ? u : u * exp((OVER - 1.0) * way);
        m->tend[r] = way;
        st->dtil[r] = 1.0 / m->p[r];
    }
}

/* The curvature of rho(dist) acts on the outputs that the sample's targets hold back, m of c; on
 * the others it is 0. One weight has to serve for all of them. */
static void curvature(rlar_state *st, int64_t i) {
    rlar_descent *m = (rlar_descent *)st;
    int64_t held = 0;
    for (int64_t r = i * st->c; r < (i + 1) * st->c; r++)
        held += st->y[r] != st->t[r];
    m->h[i] = st->dhat[i] * fmax(sqrt((double)held / (double)st->c), LEAST_CURVATURE);
}

static double step_share(const rlar_descent *m) {
    const double cost = 2.0 * (double)m->st.c / (double)m->st.d;
    return m->coords.dual ? fmin(fmax(2.0 * cost, LEAST_SHARE), 1.0) : 1.0;
}

/* Do the neighbours still change, by more than it takes? */
static bool moving(const rlar_descent *m) {
    const rlar_state *st = &m->st;
    if (!m->cold || !m->coords.dual)
        return false;
    const int64_t changes = rlar__graph_changes(&st->groups, st->k, m->before, &st->graph.v);
    const double edges = (double)st->n * (double)st->graph.v.stride;
    return (double)changes * fmin(1.0, st->beta) > MOVING * edges;
}

rlar_status rlar__descend(rlar_ctx *ctx, rlar_descent *m, double eps, rlar_info *info) {
    rlar_state *st = &m->st;
    rlar__descent_smooth(m, eps, eps / fmax(1.0, st->beta), ROW_SHARE * eps);
    move_p(m);
    RLAR_TRY(rlar__descent_evaluate(ctx, m, info));
    RLAR_TRY(rlar__each_sample(ctx, st, curvature));
    RLAR_TRY(rlar__coords_begin(ctx, &m->coords, st->y, &info->ridged));
    rlar__lbfgs_forget(&m->memory);
    RLAR_TRY(slope_of(ctx, m, info));
    const double enough = m->tol * m->share * step_share(m);
    const int most = m->coords.dual ? STEPS_DUAL : STEPS;
    m->still = false;
    for (int k = 0; k < most && !m->still; k++) {
        double gain, slope;
        RLAR_TRY(step(ctx, m, info, &gain, &slope));
        info->steps++;
        const double scale = m->near ? rlar__descent_scale(m, info) : info->objective;
        info->gradient = -0.5 * slope / scale;
        m->still = gain < enough * scale && info->gradient < enough && (gain == 0.0 || !moving(m));
        if (gain == 0.0) /* nothing moved, and nothing would */
            break;
    }
    m->first = m->cold = false;
    return rlar__coords_end(ctx, &m->coords);
}

rlar_status rlar__descent_outputs(rlar_ctx *ctx, rlar_descent *m) {
    rlar_state *st = &m->st;
    RLAR_TRY(rlar__state_outputs(ctx, st));
    return rlar__update_g_v(ctx, st);
}

rlar_status rlar__descent_measure(rlar_ctx *ctx, rlar_descent *m, rlar_info *info) {
    RLAR_TRY(rlar__descent_outputs(ctx, m));
    RLAR_TRY(rlar__descent_evaluate(ctx, m, info));
    rlar__update_dtil(&m->st, info);
    info->objective = info->regression + info->sparsity + info->locality;
    return RLAR_OK;
}
