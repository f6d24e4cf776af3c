/* lda.c - Fisher's linear discriminant analysis.
 *
 *   maximise tr((W^T S_w W)^-1 W^T S_b W)
 *
 * by S_b w = mu S_t w on the range of S_t (fisher.c), which has the same solutions and is well
 * posed for few samples: mu = 1 means that w collapses every class to a point. At most c - 1
 * columns, in the order of falling mu. Distances between outputs depend on the length of the
 * columns:
 *
 *   unit   every column of length 1; columns with equal mu (to 1e-8) are defined up to a rotation
 *          only, so they stay S_t-orthonormal and share one factor, sqrt(b) over the Frobenius norm
 *          of the block of b columns: no rotation changes the distances then
 *   st     W^T S_t W = I
 *   sw     W^T S_w W = I; impossible where mu = 1
 *   orth   orthonormal columns of the same span
 *
 * ridge: S_t + ridge I for S_t (and S_w + ridge I in `sw`). fisherface: the n - c leading principal
 * directions only. n close to d is a bad case for LDA itself, which is not repaired here. Costs
 * n d^2 + d^3 / 3, or the reduction. */
#include "methods/method.h"

#include "linalg/linalg.h"
#include "solver/fisher.h"

#include <math.h>
#include <string.h>

static const rlar_param_def params_table[] = {
    {"length", RLAR_PARAM_CHOICE, 0, 0, 3, "unit|st|sw|orth", NULL, "unit",
     "length of the columns of W: 1; such that the total or the within-class scatter of the "
     "outputs is I; or orthonormal columns"},
    {"ridge", RLAR_PARAM_REAL, 1.0, 0.0, 1e12, NULL, "0,0.001,0.01,0.1,1,10", "0",
     "added to the diagonal of the total scatter"},
    {"fisherface", RLAR_PARAM_INT, 0, 0, 1, NULL, NULL, "0",
     "1: work in the n - c leading principal directions (Fisherfaces)"},
    {NULL, RLAR_PARAM_REAL, 0, 0, 0, NULL, NULL, NULL, NULL},
};

enum { SCALE_UNIT, SCALE_ST, SCALE_SW, SCALE_ORTH };

static const double TIED = 1e-8, NO_WITHIN = 1e-10;

static rlar_fisher_problem problem_of(const rlar_train *train, const rlar_params *params) {
    const int64_t all = rlar__train_samples(train), faces = all > train->c ? all - train->c : 1;
    return (rlar_fisher_problem){.n = train->n,
                                 .d = train->d,
                                 .c = train->c,
                                 .x = train->x,
                                 .first = train->first,
                                 .blocks = train->blocks,
                                 .ridge = rlar__param(params, "ridge"),
                                 .keep = rlar__param_int(params, "fisherface") ? faces : 0,
                                 .reduced = train->shared};
}

static rlar_status scale_sw(rlar_ctx *ctx, int64_t d, int64_t q, const double *mu, double *w) {
    for (int64_t k = 0; k < q; k++) {
        if (1.0 - mu[k] < NO_WITHIN)
            return rlar__fail(ctx, RLAR_E_NUMERIC,
                              "direction %lld has no scatter within the classes, so length=sw "
                              "is impossible; take length=unit, or ridge > 0",
                              (long long)k + 1);
        for (int64_t i = 0; i < d; i++)
            w[k * d + i] /= sqrt(1.0 - mu[k]);
    }
    return RLAR_OK;
}

static rlar_status scale_columns(rlar_ctx *ctx, int scale, int64_t d, int64_t q, const double *mu,
                                 double *w) {
    if (scale == SCALE_SW)
        return scale_sw(ctx, d, q, mu, w);
    if (scale == SCALE_UNIT)
        rlar__unit_blocks(d, q, mu, TIED, w);
    if (scale == SCALE_ORTH)
        rlar__orthonormalise(d, q, 0.0, w);
    return RLAR_OK;
}

static rlar_status fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info) {
    const rlar_fisher_problem problem = problem_of(train, params);
    const int64_t d = train->d;
    rlar_fisher fisher;
    RLAR_TRY(rlar__fisher(ctx, &problem, &fisher));
    const int64_t q = fisher.q;
    rlar_status status = rlar__map_new(ctx, d, q, out);
    if (status >= 0) {
        memcpy(out->w, fisher.w, (size_t)(d * q) * sizeof *out->w);
        status =
            scale_columns(ctx, (int)rlar__param_int(params, "length"), d, q, fisher.mu, out->w);
    }
    if (status >= 0) {
        rlar__fix_signs(d, q, out->w);
        for (int64_t k = 0; k < q; k++)
            out->b[k] = -rlar__dot(d, out->w + k * d, fisher.mean);
        info->converged = 1;
        info->dual = d > rlar__train_samples(train);
        info->objective = rlar__sum(q, fisher.mu);
    }
    rlar__fisher_free(&fisher);
    return status;
}

/* Every ridge starts with the same reduction, unless Cholesky can do without one. */
static rlar_status prepare(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                           int64_t fits, void **shared) {
    const rlar_fisher_problem problem = problem_of(train, params);
    if (!rlar__fisher_reduces(&problem))
        return RLAR_OK;
    return rlar__reduction_prepare(ctx, train, params, fits, shared);
}

static rlar_status forecast(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out) {
    (void)ctx;
    rlar_fisher_problem problem = problem_of(sizes, params);
    problem.n = rlar__reduction_samples(sizes);
    out->bytes = rlar__fisher_bytes(&problem) + rlar__whole_bytes(rlar__reduction_partials(sizes));
    out->flops = rlar__fisher_flops(&problem);
    out->dual = sizes->d > rlar__train_samples(sizes);
    return RLAR_OK;
}

/* All of it once. */
static void talk(const rlar_train *sizes, const rlar_params *params, rlar_talk *out) {
    const rlar_fisher_problem problem = problem_of(sizes, params);
    rlar__fisher_talk(&problem, &out->once);
}

static int64_t outputs(const rlar_train *train, const rlar_params *params) {
    (void)params;
    return train->c - 1 < train->d ? train->c - 1 : train->d;
}

const rlar_method rlar__method_lda = {
    .def = {.name = "lda",
            .title = "Linear Discriminant Analysis",
            .cite = "R. A. Fisher, The Use of Multiple Measurements in Taxonomic Problems, Annals "
                    "of Eugenics 7(2), 1936",
            .about = "The directions along which classes are apart most, measured by the scatter "
                     "between classes against that within them; at most one less than classes. "
                     "With fewer samples than features every class collapses to a point "
                     "(null-space LDA); worst when there are about as many samples as features.",
            .scores = "Euclidean norm of the feature's row of W; comparable only between features "
                      "of the same unit",
            .params = params_table,
            .source = "confirmed: the criterion by the RLAR paper; no ridge, no truncation and "
                      "columns of length 1 because only these reproduce its numbers",
            .regression = 0},
    .ranks = true,
    .outputs = outputs,
    .fit = fit,
    .forecast = forecast,
    .talk = talk,
    .prepare = prepare,
    .release = rlar__reduction_release,
};
