/* reduce.c - thin SVD of the centred samples, or another basis of their range.
 *
 * The cheap way is the eigenvalue decomposition of the smaller Gram matrix: n d^2 + 9 d^3, or n^2 d
 * + 9 n^3. It squares the condition number: eigenvalues below about 1e-10 of the largest have few
 * correct digits, and zero cannot be told from small. So it is used only when the small ones are
 * exactly those that must be zero (constant features; the direction lost to centring);
 * otherwise LAPACK takes the SVD of the samples themselves.
 *
 * For n <= f + 1 (f features vary) the Gram matrix is Xc^T Xc: its eigenvectors are U, orthonormal
 * to rounding, and classes that collapse to points do so to rounding, too. V = Xc U diag(1/s) is
 * not made: that would cost as much as the Gram matrix, twice with what makes it orthonormal, and
 * methods want a few columns V Q only.
 *
 * For n > f + 1 any orthonormal basis will do for most methods; where S_t has full rank beyond
 * doubt (condition.h) the features are one: n d^2 + d^3/3. Some can use the factor that told so. */
#include "solver/reduce.h"

#include "linalg/linalg.h"
#include "solver/centre.h"
#include "solver/condition.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* What is asked for where the Gram matrix is far from singular: nothing but the singular
 * directions, the features with S_t, with its factor, or the factor of the smaller Gram matrix. */
typedef enum form { DIRECTIONS, FEATURES, FACTORED, NORMAL } form;

static const double GRAM_TRUSTED = 1e-10; /* of the largest eigenvalue */
static const double NOT_ORTHONORMAL = 1e-13;

void rlar__reduce_free(rlar_reduced *reduced) {
    rlar__free(reduced->mean);
    rlar__free(reduced->s);
    rlar__free(reduced->z);
    rlar__free(reduced->v);
    rlar__free(reduced->total);
    rlar__free(reduced->factor);
    rlar__free(reduced->scale);
    rlar__free(reduced->feature);
    rlar__free(reduced->basis);
    rlar__free(reduced->xc);
    rlar__free(reduced->u);
    *reduced = (rlar_reduced){0};
}

/* V beside the samples, and again where it is made orthonormal (make_v). */
int64_t rlar__reduce_leading_bytes(int64_t d, int64_t n, int64_t most) {
    const double all = (double)d * (double)n, q = (double)most;
    const double v = n <= d + 1 ? 8.0 * (all + 2.0 * q * (double)(n + d) + q * q) : 0.0;
    return rlar__whole_bytes(fmax(v, (double)rlar__reduce_lean_bytes(d, n)));
}

int64_t rlar__reduce_bytes(int64_t d, int64_t n) {
    return rlar__reduce_leading_bytes(d, n, rlar__min64(d, n));
}

int64_t rlar__reduce_lean_bytes(int64_t d, int64_t n) {
    const double small = (double)rlar__min64(d, n), all = (double)d * (double)n;
    const double held = 8.0 * (2.0 * all + small * small + small + 2.0 * (double)d);
    return rlar__whole_bytes(held + rlar__svd_bytes(d, n));
}

int64_t rlar__reduce_held(int64_t d, int64_t n, int64_t q) {
    const double f = (double)d, side = (double)(n <= d + 1 ? n : d); /* inner() */
    const double held = f * (double)n + (n <= d + 1 ? 2.0 : 1.0) * side * side;
    return rlar__whole_bytes(8.0 * (held + (double)q * (f + 3.0 * side) + 2.0 * f + side));
}

double rlar__reduce_flops(int64_t d, int64_t n) {
    const double small = (double)(d < n ? d : n), all = (double)d * (double)n;
    return all * small + 9.0 * small * small * small + (n > d ? 2.0 * all * small : 0.0);
}

void rlar__reduce_talk(int64_t d, rlar_exchange *out) {
    rlar__centre_talk(d, out);
    rlar__centre_talk(d, out);
    rlar__exchange_sum(out, (double)d * (double)(d + 1) / 2.0);
}

/* ---- Centring ---- */

/* Only the rows `feature` of xc (d x n), in place. */
static void gather_rows(int64_t d, int64_t f, const int64_t *feature, int64_t n, double *xc) {
    for (int64_t i = 0; i < n && f < d; i++)
        for (int64_t r = 0; r < f; r++)
            xc[i * f + r] = xc[i * d + feature[r]];
}

/* Of all ranks. */
static int64_t samples(const rlar_reduced *out) {
    return out->blocks ? rlar__blocks_samples(out->blocks) : out->n;
}

/* A rank without samples has a Z, too: whether there is one tells what the others are. */
static int64_t room_for(int64_t n) {
    return n > 0 ? n : 1;
}

static bool over_ranks(const rlar_reduced *out) {
    return out->blocks && out->blocks->ranks;
}

/* f and feature, then xc and the mean. first: d numbers, used. */
static rlar_status centre_varying(rlar_ctx *ctx, const rlar_partials *partials, const double *x,
                                  double *first, rlar_reduced *out) {
    const int64_t d = out->d, n = out->n;
    RLAR_TRY(rlar__varying(ctx, partials, x, d, n, first, out->feature, &out->f));
    if (out->f == 0)
        return rlar__fail(ctx, RLAR_E_DATA, "all %lld samples are equal: nothing to learn from",
                          (long long)samples(out));
    return rlar__centre_samples(ctx, partials, x, d, n, first, out->mean, out->xc);
}

/* mean, feature and xc (f x n). */
static rlar_status centre_features(rlar_ctx *ctx, const double *x, rlar_reduced *out) {
    const int64_t d = out->d, n = out->n;
    rlar_workspace ws = {0};
    rlar_partials partials;
    (void)rlar__carve(&ws, d, sizeof *x); /* measured only */
    rlar__partials_carve_samples(&ws, out->blocks, n, d, 1, &partials);
    RLAR_TRY(rlar__alloc(ctx, d, sizeof *out->mean, "the mean", &out->mean));
    RLAR_TRY(rlar__alloc(ctx, d, sizeof *out->feature, "the features", &out->feature));
    RLAR_TRY(rlar__alloc(ctx, room_for(n), (size_t)d * sizeof *out->xc, "the centred samples",
                         &out->xc));
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "partial sums"));
    double *first = rlar__carve(&ws, d, sizeof *first);
    rlar__partials_carve_samples(&ws, out->blocks, n, d, 1, &partials);
    const rlar_status status = centre_varying(ctx, &partials, x, first, out);
    rlar__workspace_free(&ws);
    if (status >= 0)
        gather_rows(d, out->f, out->feature, n, out->xc);
    return status;
}

/* ---- By the Gram matrix ---- */

/* Are there too few samples for Xc Xc^T (f x f) to have full rank? */
static bool few_samples(const rlar_reduced *out) {
    return samples(out) <= out->f + 1;
}

/* Whether Xc^T Xc (n x n) is decomposed, not Xc Xc^T. Over ranks only the latter is a sum. */
static bool inner(const rlar_reduced *out) {
    return few_samples(out) && !over_ranks(out);
}

static rlar_status make_gram(rlar_ctx *ctx, const rlar_reduced *out, double *gram) {
    const int64_t f = out->f, n = out->n;
    if (inner(out)) {
        memset(gram, 0, (size_t)(n * n) * sizeof *gram);
        return rlar__gram_inner(ctx, n, f, out->xc, out->xc, gram);
    }
    rlar_workspace ws = {0};
    rlar_partials partials;
    rlar__partials_carve_samples(&ws, out->blocks, n, f, f, &partials);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "partial sums"));
    rlar__partials_carve_samples(&ws, out->blocks, n, f, f, &partials);
    const rlar_status status = rlar__gram_outer(ctx, &partials, f, n, out->xc, out->xc, gram);
    rlar__workspace_free(&ws);
    return status;
}

/* The eigenvectors (destroyed or handed on) are V, or (inner) U. */
static rlar_status from_gram(rlar_ctx *ctx, const double *values, double **vectors,
                             rlar_reduced *out) {
    const int64_t f = out->f, n = out->n, r = out->r;
    double *u = *vectors;
    RLAR_TRY(rlar__alloc(ctx, room_for(n), (size_t)r * sizeof *out->z, "the reduction", &out->z));
    RLAR_TRY(rlar__alloc(ctx, r, sizeof *out->s, "the reduction", &out->s));
    for (int64_t k = 0; k < r; k++)
        out->s[k] = sqrt(values[k]);
    *vectors = NULL;
    if (!inner(out)) {
        out->basis = u;
        return rlar__project_samples(ctx, out->blocks, r, n, f, out->basis, out->xc, out->z);
    }
    out->u = u;
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = 0; i < n; i++) {
            out->z[i * r + k] = u[k * n + i] * out->s[k];
            u[k * n + i] /= out->s[k];
        }
    return RLAR_OK;
}

/* *done: all of the eigenvalues but those that must be zero (of the largest `most`) can be trusted,
 * and have been used. */
static rlar_status by_gram(rlar_ctx *ctx, int64_t most, double *gram, rlar_reduced *out,
                           bool *done) {
    const int64_t k = inner(out) ? out->n : out->f,
                  rank = rlar__min64(most, rlar__reduce_rank(out->f, samples(out)));
    const int64_t wanted = most < k ? rank : k;
    double *values = NULL, *vectors = NULL;
    rlar_status status = rlar__alloc(ctx, k, sizeof *values, "the reduction", &values);
    if (status >= 0)
        status = rlar__alloc(ctx, wanted, (size_t)k * sizeof *vectors, "the reduction", &vectors);
    if (status >= 0 && wanted > 0)
        status = rlar__eig_top(ctx, k, gram, wanted, values, vectors);
    *done = status >= 0 && rank > 0 && values[rank - 1] > GRAM_TRUSTED * values[0];
    out->r = rank;
    if (*done)
        status = from_gram(ctx, values, &vectors, out);
    rlar__free(values);
    rlar__free(vectors);
    return status;
}

/* ---- By the SVD ---- */

static rlar_status refuse_svd(rlar_ctx *ctx, const rlar_reduced *out) {
    return rlar__fail(ctx, RLAR_E_NUMERIC,
                      "the scatter of %lld samples in %lld features is too close to singular for a "
                      "fit over ranks, which takes no singular values of the samples; add a ridge, "
                      "leave out features that follow from others, or fit in one process",
                      (long long)samples(out), (long long)out->f);
}

/* xc is destroyed. */
static rlar_status by_svd(rlar_ctx *ctx, int64_t most, rlar_reduced *out) {
    const int64_t d = out->d, f = out->f, n = out->n, k = rlar__min64(f, n);
    double *s = NULL, *vt = NULL;
    rlar_status status = rlar__alloc(ctx, k, (size_t)f * sizeof *s, "the reduction", &out->basis);
    if (status >= 0)
        status = rlar__alloc(ctx, k, sizeof *s, "the reduction", &s);
    if (status >= 0)
        status = rlar__alloc(ctx, n, (size_t)k * sizeof *vt, "the reduction", &vt);
    if (status >= 0)
        status = rlar__svd_thin(ctx, f, n, out->xc, out->basis, s, vt);
    int64_t r = 0;
    const double tolerance = status >= 0 ? (double)(d > n ? d : n) * DBL_EPSILON * s[0] : 0.0;
    while (status >= 0 && r < rlar__min64(k, most) && s[r] > tolerance)
        r++;
    for (int64_t i = 0; i < n; i++) /* in place: r <= k */
        for (int64_t j = 0; j < r; j++)
            vt[i * r + j] = vt[i * k + j] * s[j];
    out->r = r;
    out->s = s;
    out->z = vt;
    return status;
}

/* ---- By Cholesky ---- */

/* K + sigma 1 1^T / n, where K 1 = 0 by centring and sigma is the mean of the other eigenvalues. */
static void lift_ones(int64_t n, double *k) {
    double trace = 0.0;
    for (int64_t i = 0; i < n; i++)
        trace += k[i * n + i];
    const double each = trace / ((double)n * (double)(n - 1));
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            k[j * n + i] += each;
}

/* The centred samples become Z or, in the place of V, the basis of the samples. */
static void take_samples(rlar_reduced *out) {
    const bool dual = inner(out);
    out->r = dual ? out->n : out->f;
    *(dual ? &out->basis : &out->z) = out->xc;
    out->xc = NULL;
}

/* *done: the Gram matrix is far from singular, and became S_t of a plain span (keep) or the factor.
 * Otherwise that is made anew: little beside what comes then, where a copy would cost the usual
 * case. */
static rlar_status by_cholesky(rlar_ctx *ctx, bool keep, double **gram, rlar_reduced *out,
                               bool *done) {
    const int64_t k = inner(out) ? out->n : out->f;
    double *room = NULL, condition = INFINITY;
    RLAR_TRY(rlar__alloc(ctx, keep ? k + 1 : 1, (size_t)k * sizeof *room, "the factor", &room));
    double *l = keep ? room : *gram, *scale = room + (keep ? k * k : 0);
    if (keep)
        memcpy(l, *gram, (size_t)(k * k) * sizeof *l);
    if (inner(out))
        lift_ones(k, *gram);
    const rlar_status status = rlar__condition_factor(ctx, k, l, scale, &condition);
    *done = status >= 0 && condition < RLAR_WELL_CONDITIONED;
    if (keep || !*done)
        rlar__free(room);
    if (!*done)
        return status < 0 || keep ? status : make_gram(ctx, out, *gram);
    out->scale = keep ? NULL : scale;
    *(keep ? &out->total : &out->factor) = *gram;
    *gram = NULL;
    take_samples(out);
    return RLAR_OK;
}

/* ---- All together ---- */

/* V = Xc U diag(1/s) is orthonormal up to eps (s_1/s_r)^2; V (3 I - V^T V) / 2 squares that. */
static bool needs_polish(const rlar_reduced *red) {
    const double ratio = red->s[0] / red->s[red->r - 1];
    return DBL_EPSILON * ratio * ratio > NOT_ORTHONORMAL;
}

/* The largest `most` directions, or what is wanted instead. */
static rlar_status decompose(rlar_ctx *ctx, int64_t most, form wanted, rlar_reduced *out) {
    const int64_t k = inner(out) ? out->n : out->f;
    double *gram = NULL;
    bool done = false;
    RLAR_TRY(rlar__alloc(ctx, k, (size_t)k * sizeof *gram, "the Gram matrix", &gram));
    rlar_status status = make_gram(ctx, out, gram);
    if (status >= 0 && wanted != DIRECTIONS &&
        (!few_samples(out) || (inner(out) && wanted == NORMAL)))
        status = by_cholesky(ctx, wanted == FEATURES, &gram, out, &done);
    if (status >= 0 && !done)
        status = by_gram(ctx, most, gram, out, &done);
    rlar__free(gram);
    if (status >= 0 && !done)
        status = over_ranks(out) ? refuse_svd(ctx, out) : by_svd(ctx, most, out);
    if (!out->u) { /* then nothing refers to the samples any more */
        rlar__free(out->xc);
        out->xc = NULL;
    }
    return status;
}

static rlar_status reduce(rlar_ctx *ctx, const rlar_blocks *blocks, const double *x, int64_t d,
                          int64_t n, int64_t most, form wanted, rlar_reduced *out) {
    *out = (rlar_reduced){.d = d, .n = n, .blocks = blocks};
    rlar_status status = centre_features(ctx, x, out);
    if (status >= 0)
        status = decompose(ctx, most, wanted, out);
    if (status < 0)
        rlar__reduce_free(out);
    return status;
}

rlar_status rlar__reduce_lean(rlar_ctx *ctx, const rlar_blocks *blocks, const double *x, int64_t d,
                              int64_t n, rlar_reduced *out) {
    return reduce(ctx, blocks, x, d, n, d, DIRECTIONS, out);
}

rlar_status rlar__span(rlar_ctx *ctx, const rlar_blocks *blocks, const double *x, int64_t d,
                       int64_t n, rlar_reduced *out) {
    return reduce(ctx, blocks, x, d, n, d, FEATURES, out);
}

rlar_status rlar__span_factored(rlar_ctx *ctx, const rlar_blocks *blocks, const double *x,
                                int64_t d, int64_t n, rlar_reduced *out) {
    return reduce(ctx, blocks, x, d, n, d, FACTORED, out);
}

rlar_status rlar__normal_factored(rlar_ctx *ctx, const rlar_blocks *blocks, const double *x,
                                  int64_t d, int64_t n, rlar_reduced *out) {
    return reduce(ctx, blocks, x, d, n, d, NORMAL, out);
}

/* V itself. */
static rlar_status make_v(rlar_ctx *ctx, rlar_reduced *out) {
    const int64_t d = out->d, f = out->f, r = out->r;
    RLAR_TRY(rlar__alloc(ctx, r, (size_t)d * sizeof *out->v, "the reduction", &out->v));
    if (out->u) {
        RLAR_TRY(rlar__multiply(ctx, f, r, out->n, out->xc, out->u, out->v));
        if (needs_polish(out))
            RLAR_TRY(rlar__orthonormal_polish(ctx, f, r, out->v));
    } else {
        memcpy(out->v, out->basis, (size_t)(f * r) * sizeof *out->v);
    }
    if (f < d)
        rlar__spread_rows(d, f, out->feature, r, out->v, out->v);
    return RLAR_OK;
}

rlar_status rlar__reduce(rlar_ctx *ctx, const double *x, int64_t d, int64_t n, rlar_reduced *out) {
    return rlar__reduce_leading(ctx, x, d, n, d, out);
}

rlar_status rlar__reduce_leading(rlar_ctx *ctx, const double *x, int64_t d, int64_t n, int64_t most,
                                 rlar_reduced *out) {
    RLAR_TRY(reduce(ctx, NULL, x, d, n, most, DIRECTIONS, out));
    const rlar_status status = make_v(ctx, out);
    rlar__free(out->basis); /* v says it all */
    rlar__free(out->xc);
    rlar__free(out->u);
    out->basis = out->xc = out->u = NULL;
    if (status < 0)
        rlar__reduce_free(out);
    return status;
}

double rlar__reduce_trace(const rlar_reduced *reduced) {
    const int64_t r = reduced->r;
    double sum = 0.0;
    for (int64_t e = 0; e < r; e++)
        sum += reduced->s ? reduced->s[e] * reduced->s[e] : reduced->total[e * r + e];
    return sum;
}

double rlar__reduce_largest(const rlar_reduced *reduced) {
    const int64_t r = reduced->r;
    double largest = 0.0;
    for (int64_t e = 0; e < r && !reduced->s; e++)
        largest = fmax(largest, reduced->total[e * r + e]);
    return reduced->s ? reduced->s[0] : sqrt(largest);
}

/* ---- Back to the features ---- */

/* W (f x q) = V Q by way of the samples; small is n x q. */
static rlar_status u_times(rlar_ctx *ctx, const rlar_reduced *red, int64_t q, const double *c,
                           double *small, double *w) {
    RLAR_TRY(rlar__multiply(ctx, red->n, q, red->r, red->u, c, small));
    return rlar__multiply(ctx, red->f, q, red->n, red->xc, small, w);
}

/* Outputs shall be Xc^T W = Z^T Q. Rounding in W = Xc (U diag(1/s) Q) and what V lacks in
 * orthogonality leave eps (s_1/s_r)^2 of them; the residual, put in the same way, removes it. more
 * is f x q, left n x q, c r x q. */
static rlar_status refine(rlar_ctx *ctx, const rlar_reduced *red, int64_t q, const double *target,
                          double *small, double *left, double *c, double *more, double *w) {
    const int64_t n = red->n, f = red->f, r = red->r;
    for (int64_t i = 0; i < r * q; i++)
        c[i] = target[i] * red->s[i % r] * red->s[i % r];
    RLAR_TRY(rlar__multiply(ctx, n, q, r, red->u, c, left)); /* Z^T Q; methods may change z */
    RLAR_TRY(rlar__project(ctx, n, q, f, red->xc, w, small));
    for (int64_t i = 0; i < n * q; i++)
        left[i] -= small[i];
    RLAR_TRY(rlar__project(ctx, r, q, n, red->u, left, c));
    RLAR_TRY(u_times(ctx, red, q, c, small, more));
    for (int64_t i = 0; i < f * q; i++)
        w[i] += more[i];
    return RLAR_OK;
}

static rlar_status by_samples(rlar_ctx *ctx, const rlar_reduced *red, int64_t q,
                              const double *target, double *w) {
    const int64_t n = red->n, f = red->f, r = red->r;
    double *room = NULL;
    RLAR_TRY(rlar__alloc(ctx, q, (size_t)(2 * n + r + f) * sizeof *room, "the directions", &room));
    double *left = room + q * n, *c = left + q * n, *more = c + q * r;
    rlar_status status = u_times(ctx, red, q, target, room, w);
    if (status >= 0 && needs_polish(red))
        status = refine(ctx, red, q, target, room, left, c, more, w);
    rlar__free(room);
    return status;
}

rlar_status rlar__orthonormal_polish(rlar_ctx *ctx, int64_t d, int64_t q, double *w) {
    double *gram = NULL, *v = NULL;
    rlar_status status = rlar__alloc(ctx, q, (size_t)q * sizeof *gram, "the directions", &gram);
    if (status >= 0)
        status = rlar__alloc(ctx, q, (size_t)d * sizeof *v, "the directions", &v);
    if (status >= 0)
        status = rlar__project(ctx, q, q, d, w, w, gram);
    for (int64_t i = 0; i < q * q && status >= 0; i++)
        gram[i] = (i % (q + 1) == 0 ? 1.5 : 0.0) - 0.5 * gram[i];
    if (status >= 0)
        status = rlar__multiply(ctx, d, q, q, w, gram, v);
    if (status >= 0)
        memcpy(w, v, (size_t)(d * q) * sizeof *w);
    rlar__free(gram);
    rlar__free(v);
    return status;
}

rlar_status rlar__reduce_apply(rlar_ctx *ctx, const rlar_reduced *reduced, int64_t q,
                               const double *coefficients, double *w) {
    const int64_t d = reduced->d, f = reduced->f, r = reduced->r;
    if (reduced->z && !reduced->s) { /* the features are the basis */
        rlar__spread_rows(d, f, reduced->feature, q, coefficients, w);
        return RLAR_OK;
    }
    if (!reduced->u && !reduced->basis)
        return rlar__multiply(ctx, d, q, r, reduced->v, coefficients, w);
    RLAR_TRY(reduced->u ? by_samples(ctx, reduced, q, coefficients, w)
                        : rlar__multiply(ctx, f, q, r, reduced->basis, coefficients, w));
    if (f < d)
        rlar__spread_rows(d, f, reduced->feature, q, w, w);
    return RLAR_OK;
}

void rlar__reduce_offset(const rlar_reduced *reduced, int64_t q, const double *w, double *b) {
    for (int64_t j = 0; j < q; j++)
        b[j] = -rlar__dot(reduced->d, w + j * reduced->d, reduced->mean);
}

static void finish(const rlar_reduced *reduced, int64_t q, double *w, double *b) {
    rlar__fix_signs(reduced->d, q, w);
    rlar__reduce_offset(reduced, q, w, b);
}

rlar_status rlar__reduce_back(rlar_ctx *ctx, const rlar_reduced *reduced, int64_t q,
                              const double *coefficients, double *w, double *b) {
    RLAR_TRY(rlar__reduce_apply(ctx, reduced, q, coefficients, w));
    finish(reduced, q, w, b);
    return RLAR_OK;
}

rlar_status rlar__reduce_orthonormal(rlar_ctx *ctx, const rlar_reduced *reduced, int64_t q,
                                     const double *coefficients, double *w, double *b) {
    RLAR_TRY(rlar__reduce_apply(ctx, reduced, q, coefficients, w));
    if (reduced->u)
        RLAR_TRY(rlar__orthonormal_polish(ctx, reduced->d, q, w));
    finish(reduced, q, w, b);
    return RLAR_OK;
}
