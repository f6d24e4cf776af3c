/* tangent.c - tangent bases, the quadratic form of tangent.h class by class, its Schur complement.
 *
 * The sum over edges is never made edge by edge in (r + q)^2 numbers. With y = T_p(j) (z_i - z_j),
 * S_bt of a patch is -sum y (z_i - z_j)^T: the y are collected as coefficients of the samples that
 * the patch touches, and one product with these samples gives all of it. The consistency term
 * depends on patches only: N edges between patches p and q with A = T_p T_q^T add, both directions
 * together, gamma N (I + A A^T) to block pp, gamma N (I + A^T A) to qq, -2 gamma N A to pq.
 *
 * The Schur complement has no product of its own: with S_bt = -A H^T, A the coefficients and H the
 * samples from their class means, it is H P^T for P^T = 2 L H^T + A^T (S_bb + alpha I)^-1 S_bt.
 *
 * Classes run in parallel and write columns of P of their own; the product comes afterwards. */
#include "solver/tangent.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "graph/neighbours.h"
#include "linalg/linalg.h"
#include "solver/scatter.h"

/* ---- Tangent bases ---- */

typedef struct bases {
    const rlar_patches *patches;
    int64_t r;
    const double *z;
    double energy, zero;
    double *basis;  /* r x n: patch p starts at column patches->start[p] */
    int64_t *count; /* q_p */
} bases;

RLAR_SIMD
static void patch_mean(int64_t r, const double *z, int64_t size, const int32_t *member,
                       double *mean) {
    memset(mean, 0, (size_t)r * sizeof *mean);
    for (int64_t i = 0; i < size; i++)
        for (int64_t e = 0; e < r; e++)
            mean[e] += z[member[i] * r + e] / (double)size;
}

/* Fewest leading values whose squares reach the share; values that are rounding noise do not
 * count. */
static int64_t dimension(const bases *b, int64_t k, const double *s) {
    double total = 0.0, sum = 0.0;
    for (int64_t e = 0; e < k; e++)
        total += s[e] * s[e];
    int64_t q = 0;
    while (q < k && s[q] > b->zero && s[q] > (double)(b->r + k) * DBL_EPSILON * s[0] &&
           (q == 0 || sum < b->energy * total)) {
        sum += s[q] * s[q];
        q++;
    }
    return q;
}

static rlar_status basis_task(rlar_ctx *ctx, void *arg, int64_t p) {
    const bases *b = arg;
    const int64_t r = b->r, size = b->patches->start[p + 1] - b->patches->start[p];
    const int64_t k = size < r ? size : r;
    const int32_t *member = b->patches->member + b->patches->start[p];
    double *a = NULL, *u = NULL, *s = NULL, *vt = NULL, *mean = NULL;
    rlar_workspace ws = {0};
    for (int pass = 0; pass < 2; pass++) {
        a = rlar__carve(&ws, r * size, sizeof *a);
        u = rlar__carve(&ws, r * k, sizeof *u);
        s = rlar__carve(&ws, k, sizeof *s);
        vt = rlar__carve(&ws, k * size, sizeof *vt);
        mean = rlar__carve(&ws, r, sizeof *mean);
        if (pass == 0)
            RLAR_TRY(rlar__workspace_take(ctx, &ws, "a patch"));
    }
    patch_mean(r, b->z, size, member, mean);
    for (int64_t i = 0; i < size; i++)
        for (int64_t e = 0; e < r; e++)
            a[i * r + e] = b->z[member[i] * r + e] - mean[e];
    const rlar_status status = rlar__svd_thin(ctx, r, size, a, u, s, vt);
    if (status >= 0) {
        b->count[p] = dimension(b, k, s);
        memcpy(b->basis + b->patches->start[p] * r, u, (size_t)(b->count[p] * r) * sizeof *u);
    }
    rlar__workspace_free(&ws);
    return status;
}

void rlar__tangents_free(rlar_tangents *tangents) {
    rlar__free(tangents->first);
    rlar__free(tangents->basis);
    *tangents = (rlar_tangents){0};
}

/* first[p] holds q_p: make it the start of patch p, and close the gaps between the bases. */
static void pack(const rlar_patches *patches, rlar_tangents *out) {
    for (int64_t p = 0; p < patches->count; p++) {
        const int64_t q = out->first[p];
        memmove(out->basis + out->size * out->r, out->basis + patches->start[p] * out->r,
                (size_t)(q * out->r) * sizeof *out->basis);
        out->first[p] = out->size;
        out->size += q;
    }
    out->first[patches->count] = out->size;
}

rlar_status rlar__tangents(rlar_ctx *ctx, const rlar_patches *patches, int64_t r, const double *z,
                           double energy, double zero, rlar_tangents *out) {
    *out = (rlar_tangents){.r = r};
    rlar_status status =
        rlar__calloc(ctx, patches->count + 1, sizeof *out->first, "the tangent bases", &out->first);
    if (status >= 0)
        status = rlar__alloc(ctx, patches->n, (size_t)r * sizeof *out->basis, "the tangent bases",
                             &out->basis);
    bases b = {.patches = patches,
               .r = r,
               .z = z,
               .energy = energy,
               .zero = zero,
               .basis = out->basis,
               .count = out->first};
    if (status >= 0)
        status = rlar__parallel_ctx(ctx, patches->count, basis_task, &b);
    if (status >= 0)
        pack(patches, out);
    else
        rlar__tangents_free(out);
    return status;
}

/* ---- The form, class by class ---- */

typedef struct block {
    const rlar_tangent_form *f;
    int64_t r, samples, patches; /* of the class */
    int64_t sample, patch;       /* its first ones */
    int64_t column, size;        /* first column of its bases, and their number */
    double *bt, *bb;             /* the outcome: size x r, size x size */
    int64_t ld;                  /* of bt */
    double *mixed;               /* size x samples: S_bt = -mixed H^T; or NULL */
    rlar_workspace ws;
    double *links;       /* patches x patches: edges between two patches, N */
    int32_t *slot;       /* samples: where a sample stands in `touched`, or -1 */
    int32_t *touched;    /* samples of the patch and their neighbours */
    double *near;        /* r x touched, from the mean of the patch */
    double *projected;   /* q x touched */
    double *coefficient; /* touched x q */
    double *product;     /* r x q */
    double *mean, *y;
} block;

static void block_carve(block *b, int64_t q) {
    b->links = rlar__carve(&b->ws, b->patches * b->patches, sizeof *b->links);
    b->slot = rlar__carve(&b->ws, b->samples, sizeof *b->slot);
    b->touched = rlar__carve(&b->ws, b->samples, sizeof *b->touched);
    b->near = rlar__carve(&b->ws, b->r * b->samples, sizeof *b->near);
    b->projected = rlar__carve(&b->ws, q * b->samples, sizeof *b->projected);
    b->coefficient = rlar__carve(&b->ws, q * b->samples, sizeof *b->coefficient);
    b->product = rlar__carve(&b->ws, q * (b->r > q ? b->r : q), sizeof *b->product);
    b->mean = rlar__carve(&b->ws, b->r, sizeof *b->mean);
    b->y = rlar__carve(&b->ws, q, sizeof *b->y);
}

static int64_t directions(const rlar_tangent_form *f, int64_t p) {
    return f->tangents->first[p + 1] - f->tangents->first[p];
}

static rlar_status block_open(rlar_ctx *ctx, block *b) {
    int64_t q = 0;
    for (int64_t p = b->patch; p < b->patch + b->patches; p++)
        q = directions(b->f, p) > q ? directions(b->f, p) : q;
    block_carve(b, q);
    RLAR_TRY(rlar__workspace_take(ctx, &b->ws, "the tangents of a class"));
    block_carve(b, q);
    memset(b->links, 0, (size_t)(b->patches * b->patches) * sizeof *b->links);
    memset(b->bb, 0, (size_t)(b->size * b->size) * sizeof *b->bb);
    for (int64_t i = 0; i < b->samples; i++)
        b->slot[i] = -1;
    return RLAR_OK;
}

static int64_t touch(block *b, int64_t count, int32_t sample) {
    int32_t *slot = b->slot + (sample - b->sample);
    if (*slot >= 0)
        return count;
    *slot = (int32_t)count;
    b->touched[count] = sample;
    return count + 1;
}

/* out = z - mean */
RLAR_SIMD
static void shift(int64_t r, const double *restrict z, const double *restrict mean,
                  double *restrict out) {
    for (int64_t e = 0; e < r; e++)
        out[e] = z[e] - mean[e];
}

/* The samples that have an edge to the patch, relative to its mean: coefficients sum to 0, so the
 * shift changes nothing but rounding. */
static int64_t gather(block *b, int64_t p) {
    const rlar_patches *patches = b->f->patches;
    const int64_t start = patches->start[p], end = patches->start[p + 1];
    int64_t count = 0;
    for (int64_t m = start; m < end; m++) {
        const int32_t j = patches->member[m];
        count = touch(b, count, j);
        for (int64_t e = b->f->l->start[j]; e < b->f->l->start[j + 1]; e++)
            count = touch(b, count, b->f->l->other[e]);
    }
    patch_mean(b->r, b->f->z, end - start, patches->member + start, b->mean);
    for (int64_t i = 0; i < count; i++)
        shift(b->r, b->f->z + b->touched[i] * b->r, b->mean, b->near + i * b->r);
    return count;
}

/* The edge from i to j of patch p: y enters S_bb, and S_bt as coefficients of both samples. */
static void add_edge(block *b, int64_t p, int64_t count, int64_t i, int64_t j, double weight) {
    const int64_t q = directions(b->f, p), at = b->f->tangents->first[p] - b->column;
    const int64_t to = b->slot[i - b->sample], from = b->slot[j - b->sample];
    for (int64_t e = 0; e < q; e++) {
        b->y[e] = b->projected[to * q + e] - b->projected[from * q + e];
        b->coefficient[e * count + to] += weight * b->y[e];
        b->coefficient[e * count + from] -= weight * b->y[e];
    }
    for (int64_t e = 0; e < q; e++)
        for (int64_t g = e; g < q; g++)
            b->bb[(at + e) * b->size + at + g] += weight * b->y[e] * b->y[g];
}

/* The Taylor term of the edges that end in patch p. */
static rlar_status add_patch(rlar_ctx *ctx, block *b, int64_t p) {
    const rlar_tangent_form *f = b->f;
    const int64_t r = b->r, q = directions(f, p), column = f->tangents->first[p];
    const int64_t count = gather(b, p);
    if (q > 0)
        RLAR_TRY(rlar__project(ctx, q, count, r, f->tangents->basis + column * r, b->near,
                               b->projected));
    memset(b->coefficient, 0, (size_t)(count * q) * sizeof *b->coefficient);
    for (int64_t m = f->patches->start[p]; m < f->patches->start[p + 1]; m++) {
        const int64_t j = f->patches->member[m];
        for (int64_t e = f->l->start[j]; e < f->l->start[j + 1]; e++) {
            const int64_t i = f->l->other[e], other = f->patches->patch_of[i];
            add_edge(b, p, count, i, j, f->l->weight[e]);
            b->links[(p - b->patch) * b->patches + other - b->patch] += f->l->weight[e];
        }
    }
    const int64_t at = column - b->column;
    for (int64_t i = 0; i < count; i++) {
        const int64_t sample = b->touched[i] - b->sample;
        b->slot[sample] = -1;
        for (int64_t e = 0; e < q && b->mixed; e++)
            b->mixed[sample * b->size + at + e] = b->coefficient[e * count + i];
    }
    if (q == 0)
        return RLAR_OK;
    RLAR_TRY(rlar__multiply(ctx, r, q, count, b->near, b->coefficient, b->product));
    for (int64_t k = 0; k < r; k++)
        for (int64_t e = 0; e < q; e++)
            b->bt[k * b->ld + at + e] = -b->product[e * r + k];
    return RLAR_OK;
}

/* block += weight (I + F F^T) for F (q x m), lower triangle; step is the distance of the entries of
 * a row of F, down that of a column. */
static void add_gram(block *b, int64_t at, int64_t q, int64_t m, const double *f, int64_t down,
                     int64_t step, double weight) {
    for (int64_t e = 0; e < q; e++)
        for (int64_t g = e; g < q; g++) {
            double sum = e == g ? 1.0 : 0.0;
            for (int64_t k = 0; k < m; k++)
                sum += f[e * down + k * step] * f[g * down + k * step];
            b->bb[(at + e) * b->size + at + g] += weight * sum;
        }
}

/* The consistency of patches p > o of one class. */
static void add_pair(block *b, int64_t p, int64_t o) {
    const rlar_tangents *t = b->f->tangents;
    const double edges = b->links[(p - b->patch) * b->patches + o - b->patch];
    const double weight = b->f->gamma * edges;
    const int64_t qp = directions(b->f, p), qo = directions(b->f, o);
    const int64_t at_p = t->first[p] - b->column, at_o = t->first[o] - b->column;
    if (edges == 0.0)
        return;
    if (qp > 0 && qo > 0)
        rlar__tile_inner(qp, qo, b->r, t->basis + t->first[p] * b->r, b->r,
                         t->basis + t->first[o] * b->r, b->r, b->product, qp);
    add_gram(b, at_p, qp, qo, b->product, 1, qp, weight);
    add_gram(b, at_o, qo, qp, b->product, qp, 1, weight);
    for (int64_t e = 0; e < qo; e++)
        for (int64_t g = 0; g < qp; g++)
            b->bb[(at_o + e) * b->size + at_p + g] -= 2.0 * weight * b->product[e * qp + g];
}

/* Class i, of which f, bt, ld, bb and mixed are set. */
static rlar_status make_class(rlar_ctx *ctx, int64_t i, block *b) {
    const rlar_tangent_form *form = b->f;
    const int64_t *class_first = form->patches->class_first, *first = form->groups->first;
    b->r = form->tangents->r;
    b->samples = first[i + 1] - first[i];
    b->patches = class_first[i + 1] - class_first[i];
    b->sample = first[i];
    b->patch = class_first[i];
    b->column = form->tangents->first[class_first[i]];
    b->size = form->tangents->first[class_first[i + 1]] - b->column;
    rlar_status status = block_open(ctx, b);
    for (int64_t p = b->patch; p < b->patch + b->patches && status >= 0; p++)
        status = add_patch(ctx, b, p);
    for (int64_t p = b->patch; p < b->patch + b->patches && status >= 0; p++) {
        for (int64_t o = b->patch; o < p; o++)
            add_pair(b, p, o);
        status = rlar__poll(ctx);
    }
    rlar__workspace_free(&b->ws);
    return status;
}

rlar_status rlar__tangent_class(rlar_ctx *ctx, const rlar_tangent_form *form, int64_t i, double *bt,
                                double *bb) {
    const rlar_tangents *t = form->tangents;
    block b = {
        .f = form, .bt = bt + t->first[form->patches->class_first[i]], .bb = bb, .ld = t->size};
    return make_class(ctx, i, &b);
}

/* ---- S_tt and the Schur complement ---- */

/* Both are H P^T, H the samples from their class means: L and S_bt have no edge between classes,
 * and fewer digits cancel. */
typedef struct schur {
    const rlar_tangent_form *f;
    bool eliminate; /* the b: else S_tt */
    double alpha;
    double *h, *p; /* r x n */
    int *ridged;   /* per class */
} schur;

/* Columns of P for class i: 2 L H. */
static void laplacian_rows(const schur *s, int64_t i) {
    const int64_t r = s->f->tangents->r, *first = s->f->groups->first;
    memset(s->p + first[i] * r, 0, (size_t)((first[i + 1] - first[i]) * r) * sizeof *s->p);
    for (int64_t j = first[i]; j < first[i + 1]; j++)
        rlar__laplacian_row(s->f->l, j, 2.0, r, s->h, s->p + j * r);
}

/* P += mixed^T (S_bb + alpha I)^-1 S_bt, with S_bb and S_bt of the class; product is r x samples.
 */
static rlar_status add_schur(rlar_ctx *ctx, const schur *s, int64_t i, const block *b, double *diag,
                             double *product) {
    double *p = s->p + b->sample * b->r;
    for (int64_t e = 0; e < b->size; e++)
        b->bb[e * b->size + e] += s->alpha;
    RLAR_TRY(rlar__chol_factor(ctx, b->size, b->bb, diag, &s->ridged[i]));
    rlar__chol_small_solve(b->size, b->r, b->bb, b->size, b->bt, b->size);
    rlar__tile_inner(b->r, b->samples, b->size, b->bt, b->size, b->mixed, b->size, product, b->r);
    for (int64_t e = 0; e < b->r * b->samples; e++)
        p[e] += product[e];
    return RLAR_OK;
}

static rlar_status schur_task(rlar_ctx *ctx, void *arg, int64_t i) {
    const schur *s = arg;
    const int64_t *first = s->f->tangents->first, *class_first = s->f->patches->class_first;
    const int64_t r = s->f->tangents->r, size = first[class_first[i + 1]] - first[class_first[i]];
    const int64_t samples = s->f->groups->first[i + 1] - s->f->groups->first[i];
    block b = {.f = s->f, .ld = size};
    double *diag = NULL, *product = NULL;
    laplacian_rows(s, i);
    if (size == 0 || !s->eliminate)
        return RLAR_OK;
    rlar_workspace ws = {0};
    for (int pass = 0; pass < 2; pass++) {
        b.bb = rlar__carve(&ws, size * size, sizeof *b.bb);
        b.bt = rlar__carve(&ws, size * r, sizeof *b.bt);
        b.mixed = rlar__carve(&ws, size * samples, sizeof *b.mixed);
        diag = rlar__carve(&ws, size, sizeof *diag);
        product = rlar__carve(&ws, r * samples, sizeof *product);
        if (pass == 0)
            RLAR_TRY(rlar__workspace_take(ctx, &ws, "the tangents of a class"));
    }
    memset(b.mixed, 0, (size_t)(size * samples) * sizeof *b.mixed);
    rlar_status status = make_class(ctx, i, &b);
    if (status >= 0)
        status = add_schur(ctx, s, i, &b, diag, product);
    rlar__workspace_free(&ws);
    return status;
}

static void schur_carve(rlar_workspace *ws, const rlar_groups *groups, int64_t r, schur *s,
                        rlar_partials *partials) {
    s->h = rlar__carve(ws, r * groups->n, sizeof *s->h);
    s->p = rlar__carve(ws, r * groups->n, sizeof *s->p);
    s->ridged = rlar__carve(ws, groups->c, sizeof *s->ridged);
    rlar__partials_carve(ws, groups->n, r, r, partials);
}

/* The lower triangle of H P^T. */
static rlar_status make_form(rlar_ctx *ctx, schur *s, double *c, int *ridged) {
    const int64_t r = s->f->tangents->r, n = s->f->groups->n, classes = s->f->groups->c;
    rlar_partials partials;
    rlar_workspace ws = {0};
    schur_carve(&ws, s->f->groups, r, s, &partials);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "the tangents"));
    schur_carve(&ws, s->f->groups, r, s, &partials);
    memset(s->ridged, 0, (size_t)classes * sizeof *s->ridged);
    rlar_status status = rlar__within_factor(ctx, r, classes, s->f->groups->first, s->f->z, s->h);
    if (status >= 0)
        status = rlar__parallel_ctx(ctx, classes, schur_task, s);
    if (status >= 0)
        status = rlar__gram_outer(ctx, &partials, r, n, s->h, s->p, c);
    for (int64_t i = 0; i < classes; i++)
        *ridged += s->ridged[i];
    rlar__workspace_free(&ws);
    return status;
}

rlar_status rlar__tangent_tt(rlar_ctx *ctx, const rlar_tangent_form *form, double *tt) {
    schur s = {.f = form};
    int ridged = 0;
    return make_form(ctx, &s, tt, &ridged);
}

rlar_status rlar__tangent_schur(rlar_ctx *ctx, const rlar_tangent_form *form, double alpha,
                                double *c, int *ridged) {
    const int64_t r = form->tangents->r;
    schur s = {.f = form, .eliminate = true, .alpha = alpha};
    RLAR_TRY(make_form(ctx, &s, c, ridged));
    for (int64_t e = 0; e < r; e++)
        c[e * r + e] += alpha;
    return RLAR_OK;
}

/* ---- Forecast ---- */

/* A patch of k samples has at most k - 1 directions: in a class of m samples patches and directions
 * together are no more than m, so S_bb and the links take at most m^2. One patch may have them all.
 */
static double class_bytes(double m, double r) {
    const double pieces = 14.0 * 128.0, q = fmin(m, r);
    return pieces + 8.0 * (2.0 * m * m + 3.0 * m * r + q * (r + 2.0 * m) + 3.0 * m + r);
}

int64_t rlar__tangent_bytes(const rlar_ctx *ctx, const rlar_groups *groups, int64_t r) {
    const double threads = (double)(ctx->threads < groups->c ? ctx->threads : groups->c);
    double largest = 0.0;
    schur s;
    rlar_partials partials;
    rlar_workspace ws = {0};
    schur_carve(&ws, groups, r, &s, &partials);
    for (int64_t i = 0; i < groups->c; i++)
        largest = fmax(largest, (double)(groups->first[i + 1] - groups->first[i]));
    return rlar__whole_bytes((double)ws.used + threads * class_bytes(largest, (double)r));
}

double rlar__tangent_flops(const rlar_groups *groups, int64_t r) {
    const double n = (double)groups->n, d = (double)r;
    double sum = n * d * d;
    for (int64_t i = 0; i < groups->c; i++) {
        const double m = (double)(groups->first[i + 1] - groups->first[i]);
        sum += m * m * m / 3.0 + 4.0 * m * m * d;
    }
    return sum;
}
