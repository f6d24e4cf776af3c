/* centre.c - the mean of the samples, and what of them varies (centre.h).
 *
 * Means are taken of the differences from the first sample, so that they are exact for a constant
 * feature. Over ranks that is the first sample of all: it becomes known as a sum, to which the
 * other blocks add nothing. */
#include "solver/centre.h"

#include <string.h>

/* Onto sum (d): the samples without `first`. */
RLAR_SIMD
static void add_differences(const double *x, int64_t d, int64_t n, const double *first,
                            double *sum) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < d; r++)
            sum[r] += x[i * d + r] - first[r];
}

static void subtract(const double *x, int64_t d, int64_t n, const double *mean, double *xc) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < d; r++)
            xc[i * d + r] = x[i * d + r] - mean[r];
}

void rlar__mean(const double *x, int64_t d, int64_t n, double *mean) {
    memset(mean, 0, (size_t)d * sizeof *mean);
    add_differences(x, d, n, x, mean);
    for (int64_t r = 0; r < d; r++)
        mean[r] = x[r] + mean[r] / (double)n;
}

void rlar__centre(const double *x, int64_t d, int64_t n, double *mean, double *xc) {
    rlar__mean(x, d, n, mean);
    subtract(x, d, n, mean, xc);
}

/* ---- Over all ranks ---- */

static int64_t samples_of(const rlar_partials *partials, int64_t n) {
    return partials->blocks ? rlar__blocks_samples(partials->blocks) : n;
}

static rlar_status first_sample(rlar_ctx *ctx, const rlar_partials *partials, const double *x,
                                int64_t d, int64_t n, double *first) {
    const int64_t begin = partials->blocks ? partials->blocks->start : 0;
    rlar_tree tree = rlar__tree_begin(partials, d, 1, 0, first);
    for (int64_t start = 0; start < n; start = rlar__partials_end(partials, n, start)) {
        double *leaf = rlar__tree_leaf(&tree);
        if (begin + start == 0)
            memcpy(leaf, x, (size_t)d * sizeof *leaf);
        else
            memset(leaf, 0, (size_t)d * sizeof *leaf);
        RLAR_TRY(rlar__tree_merge(ctx, &tree));
    }
    return rlar__tree_end(ctx, &tree);
}

rlar_status rlar__mean_samples(rlar_ctx *ctx, const rlar_partials *partials, const double *x,
                               int64_t d, int64_t n, double *first, double *mean) {
    RLAR_TRY(first_sample(ctx, partials, x, d, n, first));
    rlar_tree tree = rlar__tree_begin(partials, d, 1, 0, mean);
    for (int64_t start = 0, end; start < n; start = end) {
        double *leaf = rlar__tree_leaf(&tree);
        end = rlar__partials_end(partials, n, start);
        memset(leaf, 0, (size_t)d * sizeof *leaf);
        add_differences(x + start * d, d, end - start, first, leaf);
        RLAR_TRY(rlar__tree_merge(ctx, &tree));
    }
    RLAR_TRY(rlar__tree_end(ctx, &tree));
    for (int64_t r = 0; r < d; r++)
        mean[r] = first[r] + mean[r] / (double)samples_of(partials, n);
    return RLAR_OK;
}

rlar_status rlar__centre_samples(rlar_ctx *ctx, const rlar_partials *partials, const double *x,
                                 int64_t d, int64_t n, double *first, double *mean, double *xc) {
    RLAR_TRY(rlar__mean_samples(ctx, partials, x, d, n, first, mean));
    subtract(x, d, n, mean, xc);
    return RLAR_OK;
}

/* ---- What varies ---- */

/* 1 for every feature that varies, else 0. Sample by sample, as they lie in memory: `still` lists
 * those that have not varied so far. */
static void mark_varying(const double *x, int64_t d, int64_t n, const double *first, int64_t *still,
                         double *varies) {
    int64_t left = d;
    for (int64_t r = 0; r < d; r++) {
        still[r] = r;
        varies[r] = 1.0;
    }
    for (int64_t i = 0; i < n && left > 0; i++) {
        int64_t kept = 0;
        for (int64_t k = 0; k < left; k++)
            if (x[i * d + still[k]] == first[still[k]])
                still[kept++] = still[k];
        left = kept;
    }
    for (int64_t k = 0; k < left; k++)
        varies[still[k]] = 0.0;
}

static rlar_status count_varying(rlar_ctx *ctx, const rlar_partials *partials, const double *x,
                                 int64_t d, int64_t n, const double *first, int64_t *still,
                                 double *varies) {
    rlar_tree tree = rlar__tree_begin(partials, d, 1, 0, varies);
    for (int64_t start = 0, end; start < n; start = end) {
        end = rlar__partials_end(partials, n, start);
        mark_varying(x + start * d, d, end - start, first, still, rlar__tree_leaf(&tree));
        RLAR_TRY(rlar__tree_merge(ctx, &tree));
    }
    return rlar__tree_end(ctx, &tree);
}

rlar_status rlar__varying(rlar_ctx *ctx, const rlar_partials *partials, const double *x, int64_t d,
                          int64_t n, double *first, int64_t *feature, int64_t *count) {
    double *varies = NULL;
    RLAR_TRY(first_sample(ctx, partials, x, d, n, first));
    RLAR_TRY(rlar__alloc(ctx, d, sizeof *varies, "the features", &varies));
    const rlar_status status = count_varying(ctx, partials, x, d, n, first, feature, varies);
    *count = 0;
    for (int64_t r = 0; r < d && status >= 0; r++)
        if (varies[r] > 0.0)
            feature[(*count)++] = r;
    rlar__free(varies);
    return status;
}

/* The first sample, and what the others are beside it. */
void rlar__centre_talk(int64_t d, rlar_exchange *out) {
    rlar__exchange_sum(out, (double)d);
    rlar__exchange_sum(out, (double)d);
}

/* From the last entry back: none moves to before its own place, so none is overwritten unread. */
void rlar__spread_rows(int64_t d, int64_t f, const int64_t *feature, int64_t q, const double *a,
                       double *w) {
    for (int64_t j = q - 1; j >= 0; j--)
        for (int64_t r = d - 1, i = f - 1; r >= 0; r--) {
            const bool kept = i >= 0 && feature[i] == r;
            w[j * d + r] = kept ? a[j * f + i] : 0.0;
            i -= kept;
        }
}
