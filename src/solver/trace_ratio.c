/* trace_ratio.c - the trace-ratio problem by Newton's method.
 *
 * g(lambda) = sum of the q largest eigenvalues of S_b - lambda S_w is convex and falls; its root is
 * the largest quotient, and the eigenvectors there are the answer. A Newton step from lambda is
 *   W = the q leading eigenvectors of S_b - lambda S_w,
 *   lambda <- tr(W^T S_b W) / tr(W^T S_w W),
 * from below and quadratic: 5 to 10 steps, where bisection on g takes 20 to 60. Each costs one
 * symmetric eigenproblem of size r. Where S_w vanishes on q directions or more the quotient has no
 * bound, and its numerator is maximised inside that null space instead. */
#include "solver/trace_ratio.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "solver/condition.h"

/* Eigenvalues of S_w up to this share of the largest are zero: relative, so that the branch does
 * not depend on the units of the data. */
static const double NULL_SHARE = 1e-10;
static const double REGULAR = 0.1; /* what is clearly above that share */
static const double CONVERGED = 1e-10;

void rlar__trace_ratio_carve(rlar_workspace *ws, rlar_trace_ratio *tr) {
    size_t column = 0;
    if (!rlar__size_mul((size_t)tr->r, sizeof(double), &column))
        ws->overflow = true;
    tr->sb = rlar__carve(ws, tr->r, column);
    tr->sw = rlar__carve(ws, tr->r, column);
    tr->m = rlar__carve(ws, tr->r, column);
    tr->t = rlar__carve(ws, tr->r, column);
    tr->w = rlar__carve(ws, tr->q + 1, column);
    tr->values = rlar__carve(ws, tr->r, sizeof *tr->values);
    rlar__eig_carve(ws, tr->r, &tr->eigen);
}

/* The upper triangle from the lower. */
static void mirror(int64_t r, double *a) {
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = j + 1; i < r; i++)
            a[i * r + j] = a[j * r + i];
}

static double trace(int64_t r, const double *a) {
    double sum = 0.0;
    for (int64_t i = 0; i < r; i++)
        sum += a[i * r + i];
    return sum;
}

/* tr(W^T S W). */
static rlar_status quadratic(rlar_ctx *ctx, const rlar_trace_ratio *tr, const double *s,
                             double *out) {
    RLAR_TRY(rlar__multiply(ctx, tr->r, tr->q, tr->r, s, tr->w, tr->t));
    *out = rlar__dot(tr->r * tr->q, tr->w, tr->t);
    return RLAR_OK;
}

/* How far apart eigenvalues q and q + 1 of a matrix of `size` are. */
static double relative_gap(const rlar_trace_ratio *tr, int64_t size) {
    if (tr->q == size)
        return 1.0;
    const double last = tr->values[tr->q - 1], next = tr->values[tr->q];
    const double scale = fmax(fabs(tr->values[0]), fabs(next));
    return scale > 0.0 ? (last - next) / scale : 0.0;
}

/* W = N times the q leading eigenvectors of N^T S_b N; N is the last `null` columns of t. */
static rlar_status inside_null_space(rlar_ctx *ctx, rlar_trace_ratio *tr) {
    const int64_t r = tr->r, z = tr->null;
    const double *basis = tr->t + (r - z) * r;
    const int64_t wanted = tr->q < z ? tr->q + 1 : z;
    double *image = NULL;
    RLAR_TRY(rlar__alloc(ctx, z, (size_t)r * sizeof *image, "the null space", &image));
    rlar_status status = rlar__multiply(ctx, r, z, r, tr->sb, basis, image);
    memset(tr->m, 0, (size_t)(z * z) * sizeof *tr->m);
    if (status >= 0)
        status = rlar__gram_inner(ctx, z, r, basis, image, tr->m);
    if (status >= 0)
        status = rlar__eig_top_in(ctx, &tr->eigen, z, tr->m, wanted, tr->values, image);
    if (status >= 0)
        status = rlar__multiply(ctx, r, tr->q, z, basis, image, tr->w);
    rlar__free(image);
    tr->gap = status >= 0 ? relative_gap(tr, z) : 0.0;
    tr->lambda = INFINITY;
    return status;
}

/* Whether S_w has no null space beyond doubt, by Cholesky instead of all its eigenvalues: they are
 * within its condition after scaling, times the spread of its diagonal, of each other. */
static rlar_status regular(rlar_ctx *ctx, rlar_trace_ratio *tr, bool *out) {
    const int64_t r = tr->r;
    double least = INFINITY, largest = 0.0, condition;
    memcpy(tr->m, tr->sw, (size_t)(r * r) * sizeof *tr->m);
    RLAR_TRY(rlar__condition_factor(ctx, r, tr->m, tr->values, &condition));
    for (int64_t i = 0; i < r; i++) {
        least = fmin(least, tr->sw[i * r + i]);
        largest = fmax(largest, tr->sw[i * r + i]);
    }
    *out = condition * largest < least * REGULAR / NULL_SHARE;
    return RLAR_OK;
}

/* The null space of S_w: the last `null` columns of t. */
static rlar_status find_null_space(rlar_ctx *ctx, rlar_trace_ratio *tr) {
    const int64_t r = tr->r;
    memcpy(tr->m, tr->sw, (size_t)(r * r) * sizeof *tr->m);
    RLAR_TRY(rlar__eig_top_in(ctx, &tr->eigen, r, tr->m, r, tr->values, tr->t));
    while (tr->null < r && tr->values[r - 1 - tr->null] <= NULL_SHARE * fmax(tr->values[0], 0.0))
        tr->null++;
    return RLAR_OK;
}

rlar_status rlar__trace_ratio_start(rlar_ctx *ctx, rlar_trace_ratio *tr) {
    const int64_t r = tr->r;
    bool none = false;
    mirror(r, tr->sb);
    mirror(r, tr->sw);
    tr->null = 0;
    RLAR_TRY(regular(ctx, tr, &none));
    if (!none)
        RLAR_TRY(find_null_space(ctx, tr));
    tr->gap = 1.0;
    tr->excess = 0.0;
    if (tr->q <= tr->null)
        return inside_null_space(ctx, tr);
    tr->lambda = trace(r, tr->sb) / trace(r, tr->sw);
    return RLAR_OK;
}

rlar_status rlar__trace_ratio_step(rlar_ctx *ctx, rlar_trace_ratio *tr, bool *done) {
    const int64_t r = tr->r, wanted = tr->q < r ? tr->q + 1 : r;
    double between = 0.0, within = 0.0;
    rlar_eig_room eigen = tr->eigen;
    eigen.all = tr->t; /* which is not in use until W is known */
    for (int64_t e = 0; e < r * r; e++)
        tr->m[e] = tr->sb[e] - tr->lambda * tr->sw[e];
    RLAR_TRY(rlar__eig_top_in(ctx, &eigen, r, tr->m, wanted, tr->values, tr->w));
    tr->gap = relative_gap(tr, r);
    RLAR_TRY(quadratic(ctx, tr, tr->sb, &between));
    RLAR_TRY(quadratic(ctx, tr, tr->sw, &within));
    const double next = between / within;
    if (!(within > 0.0) || !isfinite(next))
        return rlar__fail(ctx, RLAR_E_NUMERIC,
                          "the trace ratio is %g / %g, it must be finite and its divisor positive; "
                          "scale the data",
                          between, within);
    tr->excess = between - tr->lambda * within;
    *done = fabs(next - tr->lambda) <= CONVERGED * next;
    tr->lambda = next;
    return RLAR_OK;
}
