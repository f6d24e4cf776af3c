/* rslda_steps.c - the steps of RSLDA.
 *
 *   Sw = sum_k (1/n_k) sum_{i in k} (x_i - m_k)(x_i - m_k)^T,   Sb = sum_k n_k (m_k - m)(m_k - m)^T
 * 2 (Sw - kappa Sb) + beta X X^T = X K X^T, where K acts by class: beta + 2/n_k on what differs
 * within class k, beta - 2 kappa on what differs between the class means, beta on the mean. So
 *   primal  V (S + beta G) V + lambda1 I with V = diag(weight)^(1/2), Q = V (..)     d^3/3
 *   dual    Q = diag(weight) X (lambda1 K^-1 + X^T diag(weight) X)^-1 K^-1 M^T P     n^2 d + n^3/3
 * Neither divides by the norm of a row: rows that vanish do no harm. Both need beta > 2 kappa. */
#include "solver/rslda_steps.h"

#include <math.h>
#include <string.h>

#include "solver/scatter.h"

static const double ROW_EPS = 2.2e-16; /* under the root of a row norm */
static const double PUSH =
    1e300; /* E that is not zero puts beta T beyond lambda2, rounded or not */

enum { SAMPLES_PER_TASK = 32, FEATURES_PER_TASK = 128 };

static size_t column(rlar_workspace *ws, int64_t rows) {
    size_t bytes = 0;
    if (!rlar__size_mul((size_t)rows, sizeof(double), &bytes))
        ws->overflow = true;
    return bytes;
}

void rlar__rslda_carve(rlar_workspace *ws, rlar_rslda *s) {
    const int64_t side = s->dual ? s->n : s->d, square = s->dual ? 0 : s->d;
    const size_t sample = column(ws, s->d), output = column(ws, s->r);
    s->p = rlar__carve(ws, s->r, sample);
    s->e = rlar__carve(ws, s->n, sample);
    s->y = rlar__carve(ws, s->n, sample);
    s->xw = rlar__carve(ws, s->n, sample);
    s->weight = rlar__carve(ws, s->d, sizeof(double));
    s->row = rlar__carve(ws, s->d, sizeof(double));
    s->size = rlar__carve(ws, s->d, sizeof(double));
    s->z = rlar__carve(ws, s->n, output);
    s->pm = rlar__carve(ws, s->n, output);
    s->means = rlar__carve(ws, s->groups.c + 1, output);
    s->centres = rlar__carve(ws, s->dual ? 0 : s->groups.c + 1, sample);
    s->scatter = rlar__carve(ws, square, sample);
    s->gram = rlar__carve(ws, square, sample);
    s->system = rlar__carve(ws, side, column(ws, side));
    s->diag = rlar__carve(ws, side, sizeof(double));
    s->a = rlar__carve(ws, s->dual ? s->n : 0, output);
    s->u = rlar__carve(ws, s->r, sample);
    s->values = rlar__carve(ws, s->r, sizeof(double));
    s->vt = rlar__carve(ws, s->r, output);
    rlar__svd_carve(ws, s->d, s->r, &s->svd);
    rlar__partials_carve(ws, s->n, s->d, s->dual || s->r > s->d ? s->r : s->d, &s->partials);
}

double rlar__rslda_flops(int64_t n, int64_t d, int64_t r, bool dual) {
    const double m = (double)n, f = (double)d, p = (double)r;
    const double solve = dual ? m * m * (f + m / 3.0 + 2.0 * p) : f * f * (f / 3.0 + 2.0 * p);
    return solve + 12.0 * m * f * p + 14.0 * f * p * p;
}

static rlar_status over_samples(rlar_ctx *ctx, rlar_rslda *s, rlar_range_task task) {
    return rlar__parallel_ranges(ctx, s->n, SAMPLES_PER_TASK, task, s);
}

/* ---- Class means ---- */

/* Of v (rows x n): class means, then the mean of all, rows x (c + 1). */
static void means_of(const rlar_groups *groups, int64_t rows, const double *v, double *means) {
    double *all = means + groups->c * rows;
    rlar__class_means(rows, groups->c, groups->first, v, means);
    memset(all, 0, (size_t)rows * sizeof *all);
    for (int64_t k = 0; k < groups->c; k++) {
        const double share = (double)(groups->first[k + 1] - groups->first[k]) / (double)groups->n;
        for (int64_t j = 0; j < rows; j++)
            all[j] += share * means[k * rows + j];
    }
}

static double class_size(const rlar_rslda *s, int64_t k) {
    return (double)(s->groups.first[k + 1] - s->groups.first[k]);
}

/* ---- Start ---- */

/* Orthonormal columns from `have` on: each is the unit vector that the columns before it explain
 * least, made orthogonal to them twice. have < s->r <= d, so something is left to explain. */
static void complete_p(rlar_rslda *s, int64_t have) {
    for (int64_t k = have; k < s->r; k++) {
        int64_t least = 0;
        double *fresh = s->p + k * s->d;
        for (int64_t i = 0; i < s->d; i++) {
            s->row[i] = rlar__row_norm(k, s->p + i, s->d);
            if (s->row[i] < s->row[least])
                least = i;
        }
        memset(fresh, 0, (size_t)s->d * sizeof *fresh);
        fresh[least] = 1.0;
        for (int64_t twice_k = 0; twice_k < 2 * k; twice_k++) {
            const double *other = s->p + twice_k % k * s->d;
            const double part = rlar__dot(s->d, fresh, other);
            for (int64_t i = 0; i < s->d; i++)
                fresh[i] -= part * other[i];
        }
        rlar__unit_columns(s->d, 1, fresh);
    }
}

/* Column i of xw: K' x_i with K' as in the head for beta = 0, so that xw X^T = 2 (Sw - kappa Sb).
 */
static rlar_status scatter_task(void *arg, int64_t start, int64_t end) {
    rlar_rslda *s = arg;
    const double *all = s->centres + s->groups.c * s->d;
    for (int64_t i = start; i < end; i++) {
        const double *mean = s->centres + s->groups.label[i] * s->d, *x = s->x + i * s->d;
        const double within = 2.0 / class_size(s, s->groups.label[i]);
        for (int64_t j = 0; j < s->d; j++)
            s->xw[i * s->d + j] = within * (x[j] - mean[j]) - 2.0 * s->kappa * (mean[j] - all[j]);
    }
    return RLAR_OK;
}

/* What the primal needs once: 2 (Sw - kappa Sb) and X X^T. */
static rlar_status start_primal(rlar_ctx *ctx, rlar_rslda *s) {
    means_of(&s->groups, s->d, s->x, s->centres);
    RLAR_TRY(over_samples(ctx, s, scatter_task));
    RLAR_TRY(rlar__gram_outer(ctx, &s->partials, s->d, s->n, s->xw, s->x, s->scatter));
    return rlar__gram_outer(ctx, &s->partials, s->d, s->n, s->x, s->x, s->gram);
}

rlar_status rlar__rslda_start(rlar_ctx *ctx, rlar_rslda *s) {
    rlar_reduced own = {0};
    if (!s->reduced)
        RLAR_TRY(rlar__reduce_leading(ctx, s->x, s->d, s->n, s->r, &own));
    const rlar_reduced *reduced = s->reduced ? s->reduced : &own;
    const int64_t have = reduced->r;
    memcpy(s->p, reduced->v, (size_t)(s->d * have) * sizeof *s->p);
    rlar__reduce_free(&own);
    complete_p(s, have);
    memset(s->e, 0, (size_t)(s->d * s->n) * sizeof *s->e);
    memset(s->y, 0, (size_t)(s->d * s->n) * sizeof *s->y);
    for (int64_t i = 0; i < s->d; i++)
        s->weight[i] = 2.0 * sqrt((double)s->r); /* a row of ones, and a factor of the authors' */
    return s->dual ? RLAR_OK : start_primal(ctx, s);
}

/* ---- M and the P step ---- */

static rlar_status form_m_task(void *arg, int64_t start, int64_t end) {
    rlar_rslda *s = arg;
    const double *restrict x = s->x, *restrict y = s->y, beta = s->beta;
    double *restrict e = s->e;
    for (int64_t at = start * s->d; at < end * s->d; at++)
        e[at] = x[at] - e[at] + y[at] / beta;
    return RLAR_OK;
}

rlar_status rlar__rslda_form_m(rlar_ctx *ctx, rlar_rslda *s) {
    return over_samples(ctx, s, form_m_task);
}

/* The SVD of a rank-deficient matrix still has orthonormal U and V, so P^T P = I holds. */
rlar_status rlar__rslda_update_p(rlar_ctx *ctx, rlar_rslda *s) {
    RLAR_TRY(rlar__moments(ctx, &s->partials, s->d, s->r, s->n, s->e, s->z, s->p));
    RLAR_TRY(rlar__svd_thin_in(ctx, &s->svd, s->d, s->r, s->p, s->u, s->values, s->vt));
    return rlar__multiply(ctx, s->d, s->r, s->r, s->u, s->vt, s->p);
}

/* ---- The Q step ---- */

/* B = beta X M^T P goes to q; the system in the variable V^-1 Q. */
static rlar_status solve_primal(rlar_ctx *ctx, rlar_rslda *s, int *ridged) {
    const int64_t d = s->d;
    RLAR_TRY(rlar__moments(ctx, &s->partials, d, s->r, s->n, s->x, s->pm, s->q));
    for (int64_t i = 0; i < d; i++)
        s->row[i] = sqrt(s->weight[i]);
    for (int64_t j = 0; j < d; j++) {
        for (int64_t i = j; i < d; i++) {
            const double entry = s->scatter[j * d + i] + s->beta * s->gram[j * d + i];
            s->system[j * d + i] = s->row[i] * s->row[j] * entry;
        }
        s->system[j * d + j] += s->lambda1;
    }
    for (int64_t k = 0; k < s->r; k++)
        for (int64_t i = 0; i < d; i++)
            s->q[k * d + i] *= s->beta * s->row[i];
    RLAR_TRY(rlar__chol_factor(ctx, d, s->system, s->diag, ridged));
    RLAR_TRY(rlar__chol_solve(ctx, d, s->r, s->system, s->q));
    for (int64_t k = 0; k < s->r; k++)
        for (int64_t i = 0; i < d; i++)
            s->q[k * d + i] *= s->row[i];
    return RLAR_OK;
}

/* a = K^-1 (beta M^T P), n x r, from pm = P^T M. */
static void apply_inverse_k(rlar_rslda *s) {
    const double between = s->beta - 2.0 * s->kappa, *all = s->means + s->groups.c * s->r;
    means_of(&s->groups, s->r, s->pm, s->means);
    for (int64_t i = 0; i < s->n; i++) {
        const double *mean = s->means + s->groups.label[i] * s->r;
        const double within = s->beta + 2.0 / class_size(s, s->groups.label[i]);
        for (int64_t k = 0; k < s->r; k++)
            s->a[k * s->n + i] = s->beta * ((s->pm[i * s->r + k] - mean[k]) / within +
                                            (mean[k] - all[k]) / between) +
                                 all[k];
    }
}

/* Lower triangle of lambda1 K^-1 for some samples, and their columns of diag(weight) X. */
static rlar_status dual_task(void *arg, int64_t start, int64_t end) {
    rlar_rslda *s = arg;
    const int64_t n = s->n, d = s->d;
    const double between = s->beta - 2.0 * s->kappa;
    const double apart = s->lambda1 * (1.0 / s->beta - 1.0 / between) / (double)n;
    for (int64_t i = start; i < end; i++) {
        const int64_t k = s->groups.label[i], last = s->groups.first[k + 1];
        const double size = class_size(s, k), within = s->beta + 2.0 / size;
        const double together = apart + s->lambda1 * (1.0 / between - 1.0 / within) / size;
        for (int64_t j = i; j < n; j++)
            s->system[i * n + j] = j < last ? together : apart;
        s->system[i * n + i] += s->lambda1 / within;
        for (int64_t j = 0; j < d; j++)
            s->xw[i * d + j] = s->weight[j] * s->x[i * d + j];
    }
    return RLAR_OK;
}

static rlar_status solve_dual(rlar_ctx *ctx, rlar_rslda *s, int *ridged) {
    apply_inverse_k(s);
    RLAR_TRY(over_samples(ctx, s, dual_task));
    RLAR_TRY(rlar__gram_inner(ctx, s->n, s->d, s->xw, s->x, s->system));
    RLAR_TRY(rlar__chol_factor(ctx, s->n, s->system, s->diag, ridged));
    RLAR_TRY(rlar__chol_solve(ctx, s->n, s->r, s->system, s->a));
    return rlar__multiply(ctx, s->d, s->r, s->n, s->xw, s->a, s->q);
}

rlar_status rlar__rslda_update_q(rlar_ctx *ctx, rlar_rslda *s, int *ridged) {
    RLAR_TRY(rlar__project(ctx, s->r, s->n, s->d, s->p, s->e, s->pm));
    RLAR_TRY(s->dual ? solve_dual(ctx, s, ridged) : solve_primal(ctx, s, ridged));
    for (int64_t i = 0; i < s->d; i++) {
        const double norm = rlar__row_norm(s->r, s->q + i, s->d);
        s->weight[i] = sqrt(norm * norm + ROW_EPS);
    }
    return rlar__project(ctx, s->r, s->n, s->d, s->q, s->x, s->z);
}

/* ---- E, Y ---- */

/* Some features of one sample; e holds P Q^T X. With T = R + Y/beta the new E is what T has beyond
 * lambda2/beta, and Y = beta (T - E) is beta T cut off at lambda2: no rounding can exceed it. */
static void update_errors(int64_t count, double beta, double lambda2, const double *restrict x,
                          double *restrict e, double *restrict y, double *restrict row,
                          double *restrict size) {
    const double threshold = lambda2 / beta;
    for (int64_t j = 0; j < count; j++) { /* without branches, for the vector unit */
        const double left = x[j] - e[j], t = left + y[j] / beta;
        const double low = t > -threshold ? t : -threshold, in = low < threshold ? low : threshold;
        e[j] = t - in;
        const double far = beta * t + PUSH * e[j];
        const double above = far > -lambda2 ? far : -lambda2;
        y[j] = above < lambda2 ? above : lambda2;
        row[j] += fabs(left - e[j]);
        size[j] += fabs(e[j]);
    }
}

/* Some features of all samples, so that a row sum has one order. */
static rlar_status error_task(void *arg, int64_t start, int64_t end) {
    rlar_rslda *s = arg;
    for (int64_t i = 0; i < s->n; i++) {
        const int64_t at = i * s->d + start;
        update_errors(end - start, s->beta, s->lambda2, s->x + at, s->e + at, s->y + at,
                      s->row + start, s->size + start);
    }
    return RLAR_OK;
}

rlar_status rlar__rslda_update_e_y(rlar_ctx *ctx, rlar_rslda *s) {
    RLAR_TRY(rlar__multiply(ctx, s->d, s->n, s->r, s->p, s->z, s->e));
    memset(s->row, 0, (size_t)s->d * sizeof *s->row);
    memset(s->size, 0, (size_t)s->d * sizeof *s->size);
    RLAR_TRY(rlar__parallel_ranges(ctx, s->d, FEATURES_PER_TASK, error_task, s));
    s->residual = 0.0;
    for (int64_t j = 0; j < s->d; j++)
        s->residual = fmax(s->residual, s->row[j]);
    return RLAR_OK;
}

/* ---- The objective ---- */

double rlar__rslda_scatter(rlar_rslda *s) {
    const double *all = s->means + s->groups.c * s->r;
    double sum = 0.0;
    means_of(&s->groups, s->r, s->z, s->means);
    for (int64_t k = 0; k < s->groups.c; k++) {
        const double *mean = s->means + k * s->r, size = class_size(s, k);
        double within = 0.0;
        for (int64_t i = s->groups.first[k]; i < s->groups.first[k + 1]; i++)
            within += rlar__distance2(s->r, s->z + i * s->r, mean);
        sum += within / size - s->kappa * size * rlar__distance2(s->r, mean, all);
    }
    return sum;
}

double rlar__rslda_row_norms(const rlar_rslda *s) {
    double sum = 0.0;
    for (int64_t i = 0; i < s->d; i++)
        sum += rlar__row_norm(s->r, s->q + i, s->d);
    return sum;
}

double rlar__rslda_errors(const rlar_rslda *s) {
    return rlar__sum(s->d, s->size);
}
