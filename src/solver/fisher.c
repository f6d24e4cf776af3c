/* fisher.c - Fisher's directions, two ways.
 *
 *   reduced    Xc = V diag(s) U^T, S_t = V diag(s^2) V^T. In whitened coordinates S_t is the
 *              identity and S_b = H H^T, H = diag(1/s) V^T H_b (r x c). Its thin SVD H = Q diag(g)
 *              A^T gives mu = g^2 and W = V diag(1/s) Q.
 *   cholesky   with Y = S_t^-1 H_b (d x c), the c x c matrix H_b^T Y = A diag(mu) A^T has the same
 *              mu, and W = Y A diag(1/sqrt(mu)). Only for n > d and S_t far from singular.
 *
 * A ridge is added to s^2, and to the diagonal of S_t. */
#include "solver/fisher.h"

#include "linalg/linalg.h"
#include "solver/centre.h"
#include "solver/condition.h"
#include "solver/reduce.h"
#include "solver/scatter.h"

#include <math.h>
#include <string.h>

/* Below, a direction is noise: the class means do not differ along it. */
static const double LEAST_ROOT = 1e-3;

void rlar__fisher_free(rlar_fisher *fisher) {
    rlar__free(fisher->mu);
    rlar__free(fisher->w);
    rlar__free(fisher->mean);
    *fisher = (rlar_fisher){0};
}

/* Of all ranks. */
static int64_t samples(const rlar_fisher_problem *p) {
    return p->blocks ? rlar__blocks_samples(p->blocks) : p->n;
}

static bool over_ranks(const rlar_fisher_problem *p) {
    return p->blocks && p->blocks->ranks;
}

/* mu from its roots, and the room for W. */
static rlar_status take(rlar_ctx *ctx, const rlar_fisher_problem *p, int64_t found,
                        const double *roots, rlar_fisher *out) {
    const int64_t most = rlar__min64(found, p->c - 1);
    while (out->q < most && roots[out->q] > LEAST_ROOT)
        out->q++;
    if (out->q == 0)
        return rlar__fail(ctx, RLAR_E_DATA,
                          "the means of the %lld classes do not differ: nothing to discriminate "
                          "by; check the labels and the scaling, or lower ridge = %g",
                          (long long)p->c, p->ridge);
    RLAR_TRY(rlar__alloc(ctx, out->q, sizeof *out->mu, "the directions", &out->mu));
    RLAR_TRY(rlar__alloc(ctx, out->q, (size_t)p->d * sizeof *out->w, "the directions", &out->w));
    for (int64_t k = 0; k < out->q; k++)
        out->mu[k] = fmin(roots[k] * roots[k], 1.0);
    return RLAR_OK;
}

/* ---- By reduction ---- */

/* From H = Q diag(g) A^T to W; q is Q (rank x k), and zero in the directions behind `rank`. */
static rlar_status take_back(rlar_ctx *ctx, const rlar_fisher_problem *p,
                             const rlar_reduced *reduced, int64_t rank, int64_t k, const double *g,
                             const double *q, rlar_fisher *out) {
    const int64_t r = reduced->r;
    double *whole = NULL;
    RLAR_TRY(take(ctx, p, k, g, out));
    RLAR_TRY(rlar__alloc(ctx, p->d, sizeof *out->mean, "the mean", &out->mean));
    memcpy(out->mean, reduced->mean, (size_t)p->d * sizeof *out->mean);
    RLAR_TRY(rlar__calloc(ctx, out->q, (size_t)r * sizeof *whole, "the directions", &whole));
    for (int64_t j = 0; j < out->q; j++)
        for (int64_t i = 0; i < rank; i++)
            whole[j * r + i] = q[j * rank + i] / sqrt(reduced->s[i] * reduced->s[i] + p->ridge);
    const rlar_status status = rlar__reduce_apply(ctx, reduced, out->q, whole, out->w);
    rlar__free(whole);
    return status;
}

rlar_status rlar__fisher_reduced(rlar_ctx *ctx, const rlar_fisher_problem *p, rlar_fisher *out) {
    rlar_reduced own = {0};
    double *h = NULL, *q = NULL, *g = NULL, *at = NULL;
    *out = (rlar_fisher){0};
    if (!p->reduced)
        RLAR_TRY(rlar__reduce_lean(ctx, p->blocks, p->x, p->d, p->n, &own));
    const rlar_reduced *reduced = p->reduced ? p->reduced : &own;
    const int64_t rank = p->keep > 0 ? rlar__min64(p->keep, reduced->r) : reduced->r;
    const int64_t k = rlar__min64(rank, p->c);
    rlar_status status = rlar__alloc(ctx, p->c, (size_t)rank * sizeof *h, "the class means", &h);
    if (status >= 0)
        status = rlar__alloc(ctx, k, (size_t)rank * sizeof *q, "the directions", &q);
    if (status >= 0)
        status = rlar__alloc(ctx, k, sizeof *g, "the directions", &g);
    if (status >= 0)
        status = rlar__alloc(ctx, p->c, (size_t)k * sizeof *at, "the directions", &at);
    if (status >= 0)
        status = rlar__between_white(ctx, reduced, rank, p->ridge, p->c, p->first, h);
    if (status >= 0)
        status = rlar__svd_thin(ctx, rank, p->c, h, q, g, at);
    if (status >= 0)
        status = take_back(ctx, p, reduced, rank, k, g, q, out);
    rlar__free(h);
    rlar__free(q);
    rlar__free(g);
    rlar__free(at);
    rlar__reduce_free(&own);
    if (status < 0)
        rlar__fisher_free(out);
    return status;
}

/* ---- By Cholesky ---- */

typedef struct spd {
    double *s, *scale; /* d x d: S_t + ridge I, then its factor; d: see condition.h */
    double *h, *y;     /* d x c: H_b, scaled, behind s; S_t^-1 H_b, then the directions */
    double *k, *a;     /* c x c: H_b^T Y and its eigenvectors */
    double *root;      /* c: its eigenvalues, then their roots */
} spd;

static void spd_free(spd *t) {
    rlar__free(t->s);
    rlar__free(t->scale);
    rlar__free(t->y);
    rlar__free(t->k);
    rlar__free(t->a);
    rlar__free(t->root);
}

static rlar_status spd_take(rlar_ctx *ctx, const rlar_fisher_problem *p, spd *t) {
    const size_t column = (size_t)p->d * sizeof(double), small = (size_t)p->c * sizeof(double);
    RLAR_TRY(rlar__alloc(ctx, p->d + p->c, column, "the total scatter", &t->s));
    t->h = t->s + p->d * p->d;
    RLAR_TRY(rlar__alloc(ctx, p->d, sizeof(double), "the total scatter", &t->scale));
    RLAR_TRY(rlar__alloc(ctx, p->c, column, "the class means", &t->y));
    RLAR_TRY(rlar__alloc(ctx, p->c, small, "the directions", &t->k));
    RLAR_TRY(rlar__alloc(ctx, p->c, small, "the directions", &t->a));
    return rlar__alloc(ctx, p->c, sizeof(double), "the directions", &t->root);
}

static rlar_status factor(rlar_ctx *ctx, const rlar_fisher_problem *p, const double *mean, spd *t,
                          bool *trusted) {
    RLAR_TRY(rlar__total_between(ctx, p->blocks, p->d, p->c, p->first, p->x, mean, t->s));
    for (int64_t i = 0; i < p->d; i++)
        t->s[i * p->d + i] += p->ridge;
    double condition = INFINITY;
    RLAR_TRY(rlar__condition_factor(ctx, p->d, t->s, t->scale, &condition));
    *trusted = condition < RLAR_WELL_CONDITIONED;
    return RLAR_OK;
}

static void scale_rows(int64_t d, int64_t columns, const double *scale, double *a) {
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < d; i++)
            a[j * d + i] *= scale[i];
}

/* The eigenproblem of size c, and back. */
static rlar_status directions(rlar_ctx *ctx, const rlar_fisher_problem *p, spd *t,
                              rlar_fisher *out) {
    const int64_t d = p->d, c = p->c;
    scale_rows(d, c, t->scale, t->h);
    memcpy(t->y, t->h, (size_t)(d * c) * sizeof *t->y);
    RLAR_TRY(rlar__chol_solve(ctx, d, c, t->s, t->y));
    RLAR_TRY(rlar__project(ctx, c, c, d, t->h, t->y, t->k));
    RLAR_TRY(rlar__eig_top(ctx, c, t->k, c, t->root, t->a));
    for (int64_t j = 0; j < c; j++)
        t->root[j] = sqrt(fmax(t->root[j], 0.0));
    RLAR_TRY(take(ctx, p, rlar__min64(c, d), t->root, out));
    for (int64_t j = 0; j < out->q; j++)
        for (int64_t i = 0; i < c; i++)
            t->a[j * c + i] /= t->root[j];
    RLAR_TRY(rlar__multiply(ctx, d, out->q, c, t->y, t->a, out->w));
    scale_rows(d, out->q, t->scale, out->w);
    return RLAR_OK;
}

/* S_t is singular, or the principal directions are asked for. Over ranks, where the reduction has
 * the d x d matrix, too, a ridge is enough. */
bool rlar__fisher_reduces(const rlar_fisher_problem *p) {
    const bool few = samples(p) < p->d + 2 && !(over_ranks(p) && p->ridge > 0.0);
    return few || p->keep > 0;
}

/* The mean (unless NULL) and the features that vary (unless NULL), how many; first (d): the first
 * sample of all. */
static rlar_status look_at(rlar_ctx *ctx, const rlar_fisher_problem *p, double *first, double *mean,
                           int64_t *feature, int64_t *count) {
    rlar_workspace ws = {0};
    rlar_partials partials;
    rlar_status status = RLAR_OK;
    rlar__partials_carve_samples(&ws, p->blocks, p->n, p->d, 1, &partials);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "partial sums"));
    rlar__partials_carve_samples(&ws, p->blocks, p->n, p->d, 1, &partials);
    if (mean)
        status = rlar__mean_samples(ctx, &partials, p->x, p->d, p->n, first, mean);
    if (status >= 0 && feature)
        status = rlar__varying(ctx, &partials, p->x, p->d, p->n, first, feature, count);
    rlar__workspace_free(&ws);
    return status;
}

rlar_status rlar__fisher_cholesky(rlar_ctx *ctx, const rlar_fisher_problem *p, bool *trusted,
                                  rlar_fisher *out) {
    spd t = {0};
    *out = (rlar_fisher){0};
    *trusted = false;
    if (rlar__fisher_reduces(p))
        return RLAR_OK;
    rlar_status status = rlar__alloc(ctx, p->d, sizeof *out->mean, "the mean", &out->mean);
    if (status >= 0)
        status = spd_take(ctx, p, &t);
    if (status >= 0) /* scale is not needed yet */
        status = look_at(ctx, p, t.scale, out->mean, NULL, NULL);
    if (status >= 0)
        status = factor(ctx, p, out->mean, &t, trusted);
    if (status >= 0 && *trusted)
        status = directions(ctx, p, &t, out);
    if (status < 0 || !*trusted)
        rlar__fisher_free(out);
    spd_free(&t);
    return status;
}

/* ---- Either ---- */

/* From the f features `feature` to all of them: W is zero in the others, which all samples
 * have in common with this one. */
static rlar_status widen(rlar_ctx *ctx, const rlar_fisher_problem *p, const double *sample,
                         int64_t f, const int64_t *feature, rlar_fisher *out) {
    double *w = NULL, *mean = NULL;
    rlar_status status = rlar__alloc(ctx, out->q, (size_t)p->d * sizeof *w, "the directions", &w);
    if (status >= 0)
        status = rlar__alloc(ctx, p->d, sizeof *mean, "the mean", &mean);
    if (status < 0) {
        rlar__free(w);
        rlar__fisher_free(out);
        return status;
    }
    rlar__spread_rows(p->d, f, feature, out->q, out->w, w);
    memcpy(mean, sample, (size_t)p->d * sizeof *mean);
    for (int64_t i = 0; i < f; i++)
        mean[feature[i]] = out->mean[i];
    rlar__free(out->w);
    rlar__free(out->mean);
    out->w = w;
    out->mean = mean;
    return RLAR_OK;
}

/* Constant features make S_t singular, but only by themselves: without them it may not be. The
 * reduction leaves them out by itself. */
static rlar_status on_features(rlar_ctx *ctx, const rlar_fisher_problem *p, const double *sample,
                               int64_t f, const int64_t *feature, bool *trusted, rlar_fisher *out) {
    rlar_fisher_problem narrow = *p;
    double *x = NULL;
    RLAR_TRY(rlar__alloc(ctx, p->n, (size_t)f * sizeof *x, "the samples", &x));
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t r = 0; r < f; r++)
            x[i * f + r] = p->x[i * p->d + feature[r]];
    narrow.d = f;
    narrow.x = x;
    const rlar_status status = rlar__fisher_cholesky(ctx, &narrow, trusted, out);
    rlar__free(x);
    return status < 0 || !*trusted ? status : widen(ctx, p, sample, f, feature, out);
}

/* By Cholesky where that is trusted; room: d numbers and d indices, used. */
static rlar_status try_cholesky(rlar_ctx *ctx, const rlar_fisher_problem *p, double *sample,
                                int64_t *feature, bool *trusted, rlar_fisher *out) {
    int64_t f = 0;
    RLAR_TRY(look_at(ctx, p, sample, NULL, feature, &f));
    const bool narrow = f > 0 && f < p->d && samples(p) >= f + 2 && p->keep == 0;
    return narrow ? on_features(ctx, p, sample, f, feature, trusted, out)
                  : rlar__fisher_cholesky(ctx, p, trusted, out);
}

rlar_status rlar__fisher(rlar_ctx *ctx, const rlar_fisher_problem *p, rlar_fisher *out) {
    int64_t *feature = NULL;
    double *sample = NULL;
    bool trusted = false;
    *out = (rlar_fisher){0};
    RLAR_TRY(rlar__alloc(ctx, p->d, sizeof *feature, "the features", &feature));
    rlar_status status = rlar__alloc(ctx, p->d, sizeof *sample, "the features", &sample);
    if (status >= 0)
        status = try_cholesky(ctx, p, sample, feature, &trusted, out);
    rlar__free(feature);
    rlar__free(sample);
    if (status >= 0 && !trusted)
        status = rlar__fisher_reduced(ctx, p, out);
    return status;
}

double rlar__fisher_cholesky_bytes(const rlar_fisher_problem *p) {
    const double d = (double)p->d, c = (double)p->c;
    if (rlar__fisher_reduces(p))
        return 0.0;
    const double total = rlar__total_between_bytes(p->blocks, p->d, p->c, p->n);
    return 8.0 * (d * d + 2.0 * d * c + 2.0 * c * c + 7.0 * d + 2.0 * c) +
           fmax(total, 8.0 * d * c + rlar__eig_bytes(p->c));
}

int64_t rlar__fisher_bytes(const rlar_fisher_problem *p) {
    const double d = (double)p->d, c = (double)p->c, r = fmin(d, (double)p->n);
    const double reduced = (double)rlar__reduce_held(p->d, p->n, p->c) +
                           8.0 * (4.0 * r * c + c * c + d * c) + rlar__svd_bytes((int64_t)r, p->c);
    /* A copy without the constant features may stand beside the way by Cholesky. */
    const double copy = p->n > p->d && p->keep == 0 ? 8.0 * d * (double)p->n : 0.0;
    /* The way by reduction cannot be excluded. */
    return rlar__whole_bytes(fmax(copy + rlar__fisher_cholesky_bytes(p),
                                  fmax((double)rlar__reduce_lean_bytes(p->d, p->n), reduced)));
}

double rlar__fisher_flops(const rlar_fisher_problem *p) {
    const double n = (double)p->n, d = (double)p->d, c = (double)p->c;
    if (rlar__fisher_reduces(p))
        return rlar__reduce_flops(p->d, p->n) + 8.0 * fmin(d, n) * c * c + 2.0 * d * fmin(d, n) * c;
    return n * d * d + d * d * d / 3.0 + 2.0 * d * d * c + 4.0 * d * c * c;
}

void rlar__fisher_talk(const rlar_fisher_problem *p, rlar_exchange *out) {
    const int64_t r = rlar__reduce_rank(p->d, samples(p));
    rlar__centre_talk(p->d, out); /* which features vary */
    if (rlar__fisher_reduces(p)) {
        rlar__reduce_talk(p->d, out);
        rlar__between_talk(p->keep > 0 ? rlar__min64(p->keep, r) : r, p->c, out);
        return;
    }
    rlar__centre_talk(p->d, out);
    rlar__total_between_talk(p->d, p->c, out);
}
