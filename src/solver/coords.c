/* coords.c - the two ways to write a step of W and b (coords.h).
 *
 * In the dual, with N = D + beta L, Kp = Xc^T P Xc and A_sys = alpha N^-1 + Kp, the step of the
 * metric from a gradient Xc U^T + alpha tau P^-1 W0 is, because M W0 = Xc N Xc^T W0 + alpha P^-1
 * W0,
 *
 *     M^-1 (...) = tau W0 + P Xc a,   A_sys a = N^-1 z,   z = U - tau N Xc^T W0,
 *
 * and its outputs follow from A_sys a alone: Kp a = N^-1 z - alpha N^-1 a. So a step costs one
 * Cholesky solve, 2 n^2 c, and nothing of the size of the samples. */
#include "solver/coords.h"

#include <math.h>
#include <string.h>

#include "solver/targets.h"

enum { SAMPLES_PER_TASK = 64 };

static int64_t outputs_of(const rlar_coords *q) {
    return q->problem.n * q->problem.c;
}

static int64_t weights_of(const rlar_coords *q) {
    return q->problem.d * q->problem.c;
}

void rlar__coords_carve(rlar_workspace *ws, rlar_coords *coords) {
    const rlar_wproblem *p = &coords->problem;
    size_t targets = 0;
    if (!rlar__size_mul((size_t)p->c, sizeof(double), &targets))
        ws->overflow = true;
    coords->dual = coords->solver->dual;
    coords->length = (coords->dual ? outputs_of(coords) + 1 : weights_of(coords)) + p->c;
    coords->image_length = coords->dual ? coords->length : outputs_of(coords);
    coords->point = rlar__carve(ws, coords->length, sizeof(double));
    coords->rows = rlar__carve(ws, coords->dual ? 0 : p->d, 3 * sizeof(double));
    coords->y0 = rlar__carve(ws, coords->dual ? p->n : 0, targets);
    coords->ny0 = rlar__carve(ws, coords->dual ? p->n : 0, targets);
    coords->room = rlar__carve(ws, coords->dual ? p->n : 0, targets);
    coords->span = rlar__carve(ws, coords->dual ? weights_of(coords) : 0, sizeof(double));
    coords->ones = rlar__carve(ws, p->n, sizeof(double));
    rlar__partials_carve_samples(ws, p->groups->blocks, p->n, p->d > p->c ? p->d : p->c, p->c,
                                 &coords->partials);
    rlar__wsolve_carve_metric(ws, p->groups, coords->solver);
}

/* ---- Begin ---- */

/* tr(W0^T P^-1 W0), and R with it. */
static void begin_sparsity(rlar_coords *q) {
    const rlar_wproblem *p = &q->problem;
    double spread = 0.0;
    q->w00 = 0.0;
    for (int64_t k = 0; k < p->c; k++)
        for (int64_t r = 0; r < p->d; r++)
            q->w00 += p->dtil[r] * q->w[k * p->d + r] * q->w[k * p->d + r];
    for (int64_t r = 0; r < p->d; r++)
        spread += q->eps * p->dtil[r] * q->eps + 1.0 / p->dtil[r];
    q->sparsity = 0.5 * p->alpha * (q->w00 + spread);
}

/* N Xc^T W0 for some samples. */
static rlar_status weigh_task(void *arg, int64_t start, int64_t end) {
    const rlar_coords *q = arg;
    const rlar_wproblem *p = &q->problem;
    for (int64_t i = start; i < end; i++) {
        double *out = q->ny0 + i * p->c;
        for (int64_t k = 0; k < p->c; k++)
            out[k] = p->dhat[i] * q->y0[i * p->c + k];
        if (p->l)
            rlar__laplacian_row(p->l, i, p->beta, p->c, q->y0, out);
    }
    return RLAR_OK;
}

static rlar_status begin_dual(rlar_ctx *ctx, rlar_coords *q, const double *y) {
    const rlar_wproblem *p = &q->problem;
    const int64_t size = outputs_of(q);
    double *b = q->point + size;
    memset(q->point, 0, (size_t)size * sizeof *q->point);
    for (int64_t k = 0; k < p->c; k++)
        b[k] = q->b[k] + rlar__dot(p->d, q->w + k * p->d, q->solver->mu);
    b[p->c] = 1.0; /* tau */
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t k = 0; k < p->c; k++)
            q->y0[i * p->c + k] = y[i * p->c + k] - b[k];
    begin_sparsity(q);
    return rlar__parallel_ranges(ctx, p->n, SAMPLES_PER_TASK, weigh_task, q);
}

rlar_status rlar__coords_begin(rlar_ctx *ctx, rlar_coords *coords, const double *y, int *ridged) {
    const rlar_wproblem *p = &coords->problem;
    for (int64_t i = 0; i < p->n; i++)
        coords->ones[i] = 1.0;
    RLAR_TRY(rlar__wsolve_factor(ctx, p, coords->solver, ridged));
    if (coords->dual)
        return begin_dual(ctx, coords, y);
    memcpy(coords->point, coords->w, (size_t)weights_of(coords) * sizeof *coords->point);
    memcpy(coords->point + weights_of(coords), coords->b, (size_t)p->c * sizeof *coords->point);
    return RLAR_OK;
}

/* ---- Gradients and steps ---- */

/* Primal: alpha W / rho to the gradient, and R. */
static void gradient_of_rows(rlar_coords *coords, double *gradient) {
    const rlar_wproblem *p = &coords->problem;
    double *ww = coords->rows;
    memset(ww, 0, (size_t)p->d * sizeof *ww);
    for (int64_t k = 0; k < p->c; k++)
        for (int64_t r = 0; r < p->d; r++)
            ww[r] += coords->point[k * p->d + r] * coords->point[k * p->d + r];
    coords->sparsity = 0.0;
    for (int64_t r = 0; r < p->d; r++) {
        const double rho = sqrt(ww[r] + coords->eps * coords->eps);
        coords->sparsity += p->alpha * rho;
        ww[r] = p->alpha / rho;
    }
    for (int64_t k = 0; k < p->c; k++)
        for (int64_t r = 0; r < p->d; r++)
            gradient[k * p->d + r] += ww[r] * coords->point[k * p->d + r];
}

rlar_status rlar__coords_gradient(rlar_ctx *ctx, rlar_coords *coords, const double *pull,
                                  double *gradient) {
    const rlar_wproblem *p = &coords->problem;
    const int64_t first = coords->dual ? outputs_of(coords) : weights_of(coords);
    RLAR_TRY(
        rlar__moments(ctx, &coords->partials, p->c, 1, p->n, pull, coords->ones, gradient + first));
    if (coords->dual) {
        for (int64_t i = 0; i < first; i++)
            gradient[i] = pull[i] + p->alpha * coords->point[i];
        gradient[first + p->c] = coords->point[first + p->c];
        return RLAR_OK;
    }
    RLAR_TRY(rlar__moments(ctx, &coords->partials, p->d, p->c, p->n, p->x, pull, gradient));
    gradient_of_rows(coords, gradient);
    return RLAR_OK;
}

static rlar_status metric_dual(rlar_ctx *ctx, rlar_coords *coords, double *q, double *image) {
    const rlar_wproblem *p = &coords->problem;
    const int64_t size = outputs_of(coords);
    const double tau = q[size + p->c];
    double total;
    RLAR_TRY(rlar__sum_samples(ctx, p->groups->blocks, p->n, p->dhat, &total));
    for (int64_t i = 0; i < size; i++)
        q[i] -= tau * coords->ny0[i];
    RLAR_TRY(rlar__wsolve_by_class(ctx, p, coords->solver, q, image));
    memcpy(q, image, (size_t)size * sizeof *q);
    RLAR_TRY(rlar__wsolve_dual(ctx, p, coords->solver, q));
    RLAR_TRY(rlar__wsolve_by_class(ctx, p, coords->solver, q, coords->room));
    for (int64_t i = 0; i < size; i++)
        image[i] += tau * coords->y0[i] - p->alpha * coords->room[i];
    for (int64_t k = 0; k < p->c; k++)
        image[size + k] = q[size + k] /= total;
    image[size + p->c] = p->alpha * (tau * coords->w00 + rlar__dot(size, coords->y0, q));
    return RLAR_OK;
}

rlar_status rlar__coords_metric(rlar_ctx *ctx, rlar_coords *coords, double *q, double *image) {
    const rlar_wproblem *p = &coords->problem;
    if (coords->dual)
        return metric_dual(ctx, coords, q, image);
    double *b = q + weights_of(coords);
    RLAR_TRY(rlar__wsolve_primal(ctx, p, coords->solver, q, b));
    return rlar__targets_outputs(ctx, p->groups->blocks, p->c, p->n, p->d, q, b, p->x, image);
}

/* ---- Along a step ---- */

/* With W = tau W0 + P Xc A: tr(W^T P^-1 V) = tau kappa_v / alpha + tr(A Xc^T V). */
static double product_dual(const rlar_coords *q, const double *w, const double *image) {
    const int64_t size = outputs_of(q), tau = size + q->problem.c;
    return w[tau] * image[tau] + q->problem.alpha * rlar__dot(size, w, image);
}

static void aim_rows(const rlar_coords *coords, const double *v) {
    const rlar_wproblem *p = &coords->problem;
    const int64_t d = p->d;
    double *ww = coords->rows, *wv = ww + d, *vv = wv + d;
    memset(ww, 0, (size_t)(3 * d) * sizeof *ww);
    for (int64_t k = 0; k < p->c; k++) {
        const double *w = coords->point + k * d, *vk = v + k * d;
        for (int64_t r = 0; r < d; r++) {
            ww[r] += w[r] * w[r];
            wv[r] += w[r] * vk[r];
            vv[r] += vk[r] * vk[r];
        }
    }
}

void rlar__coords_aim(rlar_coords *coords, const double *v, const double *image) {
    if (!coords->dual) {
        aim_rows(coords, v);
        return;
    }
    coords->slope = product_dual(coords, coords->point, image);
    coords->curvature = product_dual(coords, v, image);
}

double rlar__coords_sparsity(const rlar_coords *coords, double t, double *slope) {
    const int64_t d = coords->problem.d;
    const double *ww = coords->rows, *wv = ww + d, *vv = wv + d;
    double sum = 0.0, rise = 0.0;
    if (coords->dual) {
        *slope += coords->slope + t * coords->curvature;
        return coords->sparsity + t * (coords->slope + 0.5 * t * coords->curvature);
    }
    for (int64_t r = 0; r < d; r++) {
        const double square = ww[r] + t * (2.0 * wv[r] + t * vv[r]);
        const double rho = sqrt(fmax(square, 0.0) + coords->eps * coords->eps);
        sum += rho;
        rise += (wv[r] + t * vv[r]) / rho;
    }
    *slope += coords->problem.alpha * rise;
    return coords->problem.alpha * sum;
}

void rlar__coords_move(rlar_coords *coords, const double *v, double t) {
    for (int64_t i = 0; i < coords->length; i++)
        coords->point[i] += t * v[i];
    if (!coords->dual)
        return;
    coords->sparsity += t * (coords->slope + 0.5 * t * coords->curvature);
    coords->slope += t * coords->curvature; /* the step may be taken back */
}

const double *rlar__coords_outputs(const rlar_coords *coords, const double *image, double *room) {
    const int64_t size = outputs_of(coords), c = coords->problem.c;
    if (!coords->dual)
        return image;
    for (int64_t i = 0; i < coords->problem.n; i++)
        for (int64_t k = 0; k < c; k++)
            room[i * c + k] = image[i * c + k] + image[size + k];
    return room;
}

/* ---- End ---- */

rlar_status rlar__coords_end(rlar_ctx *ctx, rlar_coords *coords) {
    const rlar_wproblem *p = &coords->problem;
    const int64_t size = weights_of(coords);
    if (!coords->dual) {
        memcpy(coords->w, coords->point, (size_t)size * sizeof *coords->w);
        memcpy(coords->b, coords->point + size, (size_t)p->c * sizeof *coords->b);
        return RLAR_OK;
    }
    const double *b = coords->point + outputs_of(coords), tau = b[p->c];
    RLAR_TRY(rlar__wsolve_features(ctx, p, coords->solver, coords->point, coords->span));
    for (int64_t i = 0; i < size; i++)
        coords->w[i] = tau * coords->w[i] + coords->span[i];
    for (int64_t k = 0; k < p->c; k++)
        coords->b[k] = b[k] - rlar__dot(p->d, coords->w + k * p->d, coords->solver->mu);
    return RLAR_OK;
}
