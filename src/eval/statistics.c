/* statistics.c - do methods differ, or is it chance? The tests that comparisons of classifiers
 * use:
 *
 *   two methods     Wilcoxon's signed-rank test, Holm's correction for several pairs
 *   k methods       Friedman's test of the average ranks, Iman and Davenport's F of it
 *   every pair      Nemenyi's test, and the difference of average ranks that it asks for
 *
 * Ties share the mean of their ranks. Wilcoxon's test does what scipy.stats.wilcoxon of SciPy 1.10
 * does by default, and Friedman's what friedmanchisquare does, so that published figures can be
 * compared (docs/decisions.md 51). */
#include "eval/distributions.h"

#include <math.h>
#include <stdlib.h>

/* ---- Ranks ---- */

typedef struct ranked {
    double value;
    int64_t index;
} ranked;

static int by_value(const void *a, const void *b) {
    const double x = ((const ranked *)a)->value, y = ((const ranked *)b)->value;
    return (x > y) - (x < y);
}

/* Add to rank[item.index] the place of each item in increasing order, from 1; equal ones share the
 * mean of their places. Returns the sum of t^3 - t over groups of t equal ones. */
static double add_ranks(int64_t n, ranked *item, double *rank) {
    double ties = 0;
    qsort(item, (size_t)n, sizeof *item, by_value);
    for (int64_t start = 0, end; start < n; start = end) {
        for (end = start + 1; end < n && !(item[end].value > item[start].value);)
            end++;
        const double t = (double)(end - start);
        for (int64_t i = start; i < end; i++)
            rank[item[i].index] += 0.5 * (double)(start + 1 + end);
        ties += t * (t * t - 1);
    }
    return ties;
}

/* ---- Wilcoxon ---- */

/* Differences that are not 0 by size; index is 1 for a positive, 0 for a negative one. */
static rlar_status gather_differences(rlar_ctx *ctx, int64_t n, const double *x, const double *y,
                                      ranked *item, int64_t *count) {
    *count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i]))
            return rlar__fail(ctx, RLAR_E_ARG,
                              "rlar_wilcoxon: pair %lld is %g and %g; finite numbers are needed",
                              (long long)i + 1, x[i], y[i]);
        const double difference = x[i] - y[i];
        if (difference != 0)
            item[(*count)++] = (ranked){fabs(difference), difference > 0};
    }
    return RLAR_OK;
}

/* Exact for at most 50 pairs that all differ, otherwise by the normal distribution. The exact count
 * is for whole ranks; where ties give halves, the sum of the positive ranks is rounded down. */
static double signed_rank_p(int64_t n, int64_t count, double negative, double positive,
                            double ties) {
    const double all = (double)count;
    if (count == 0)
        return 1;
    if (count == n && n <= RLAR_MOST_EXACT_PAIRS) {
        const int64_t sum = (int64_t)positive, other = n * (n + 1) / 2 - sum;
        return fmin(1, 2 * rlar__signed_rank_tail(n, sum < other ? sum : other));
    }
    const double mean = all * (all + 1) / 4;
    const double variance = (all * (all + 1) * (2 * all + 1) - ties / 2) / 24;
    return erfc(fabs(fmin(negative, positive) - mean) / sqrt(2 * variance));
}

rlar_status rlar_wilcoxon(rlar_ctx *ctx, int64_t n, const double *x, const double *y,
                          double *statistic, double *p) {
    if (ctx == NULL || x == NULL || y == NULL || statistic == NULL || p == NULL || n < 2)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_wilcoxon: every argument is needed, and at least 2 pairs");
    rlar__begin(ctx);
    ranked *item = NULL;
    int64_t count = 0;
    RLAR_TRY(rlar__alloc(ctx, n, sizeof *item, "the ranks", &item));
    const rlar_status status = gather_differences(ctx, n, x, y, item, &count);
    if (status >= 0) {
        double sum[2] = {0, 0}; /* of the ranks of negative and of positive differences */
        const double ties = add_ranks(count, item, sum);
        *statistic = fmin(sum[0], sum[1]);
        *p = signed_rank_p(n, count, sum[0], sum[1], ties);
    }
    rlar__free(item);
    return status;
}

/* ---- Holm ---- */

/* The i-th smallest of m (from 0) times m - i, never less than the one before, never above 1. */
rlar_status rlar_holm(rlar_ctx *ctx, int64_t count, const double *p, double *adjusted) {
    if (ctx == NULL || p == NULL || adjusted == NULL || count < 1)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_holm: every argument is needed, and at least 1 p value");
    rlar__begin(ctx);
    ranked *item = NULL;
    RLAR_TRY(rlar__alloc(ctx, count, sizeof *item, "the p values", &item));
    for (int64_t i = 0; i < count; i++) {
        item[i] = (ranked){p[i], i};
        if (p[i] >= 0 && p[i] <= 1)
            continue;
        rlar__free(item);
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_holm: p value %lld is %g; it must be 0 to 1",
                          (long long)i + 1, p[i]);
    }
    qsort(item, (size_t)count, sizeof *item, by_value);
    double least = 0;
    for (int64_t i = 0; i < count; i++) {
        least = fmax(least, fmin(1, (double)(count - i) * item[i].value));
        adjusted[item[i].index] = least;
    }
    rlar__free(item);
    return RLAR_OK;
}

/* ---- Friedman ---- */

/* Up to here the distributions are known to be right, and no product of the two overflows. */
enum { MOST_BLOCKS = 1000000000, MOST_METHODS = 1000000 };

/* `who` is the public function, for the message. */
static rlar_status check_sizes(rlar_ctx *ctx, const char *who, int64_t blocks, int64_t methods) {
    if (blocks > MOST_BLOCKS || methods > MOST_METHODS)
        return rlar__fail(ctx, RLAR_E_TOO_LARGE,
                          "%s: %lld blocks of %lld methods; at most %d blocks of %d", who,
                          (long long)blocks, (long long)methods, MOST_BLOCKS, MOST_METHODS);
    if (blocks >= 2 && methods >= 2)
        return RLAR_OK;
    return rlar__fail(ctx, RLAR_E_ARG, "%s: %lld blocks of %lld methods; at least 2 of each", who,
                      (long long)blocks, (long long)methods);
}

static rlar_status check_values(rlar_ctx *ctx, int64_t blocks, int64_t methods,
                                const double *values) {
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t m = 0; m < methods; m++)
            if (!isfinite(values[b * methods + m]))
                return rlar__fail(ctx, RLAR_E_ARG,
                                  "rlar_friedman: block %lld, method %lld: %g; finite numbers are "
                                  "needed, leave such blocks out",
                                  (long long)b + 1, (long long)m + 1, values[b * methods + m]);
    return RLAR_OK;
}

/* The ranks of all blocks added up in sum[methods]. Returns what ties take off (see add_ranks). */
static double sum_ranks(int64_t blocks, int64_t methods, const double *values, ranked *item,
                        double *sum) {
    double ties = 0;
    for (int64_t b = 0; b < blocks; b++) {
        for (int64_t m = 0; m < methods; m++)
            item[m] = (ranked){-values[b * methods + m], m}; /* the largest gets rank 1 */
        ties += add_ranks(methods, item, sum);
    }
    return ties;
}

/* 12 sum_j (R_j - N (k + 1) / 2)^2 (k - 1) / (N (k^3 - k) - ties), R_j the sums of ranks. Both
 * numbers are whole, so that perfect agreement gives exactly N (k - 1). */
static double friedman_statistic(int64_t blocks, int64_t methods, const double *sum, double ties) {
    const double n = (double)blocks, k = (double)methods;
    const double possible = n * k * (k * k - 1) - ties;
    double squares = 0;
    for (int64_t m = 0; m < methods; m++) {
        const double off = sum[m] - n * (k + 1) / 2;
        squares += 12 * off * off;
    }
    return possible > 0 ? squares / possible * (k - 1) : 0;
}

rlar_status rlar_friedman(rlar_ctx *ctx, int64_t blocks, int64_t methods, const double *values,
                          double *ranks, double *statistic, double *p) {
    if (ctx == NULL || values == NULL || ranks == NULL || statistic == NULL || p == NULL)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_friedman: every argument is needed");
    rlar__begin(ctx);
    RLAR_TRY(check_sizes(ctx, "rlar_friedman", blocks, methods));
    RLAR_TRY(check_values(ctx, blocks, methods, values));
    ranked *item = NULL;
    double *sum = NULL;
    rlar_status status = rlar__alloc(ctx, methods, sizeof *item, "the ranks", &item);
    if (status >= 0)
        status = rlar__calloc(ctx, methods, sizeof *sum, "the ranks", &sum);
    if (status >= 0) {
        const double ties = sum_ranks(blocks, methods, values, item, sum);
        *statistic = friedman_statistic(blocks, methods, sum, ties);
        *p = rlar__chi_square_tail(*statistic, methods - 1);
        for (int64_t m = 0; m < methods; m++)
            ranks[m] = sum[m] / (double)blocks;
    }
    rlar__free(item);
    rlar__free(sum);
    return status;
}

rlar_status rlar_iman_davenport(rlar_ctx *ctx, int64_t blocks, int64_t methods, double friedman,
                                double *f, double *p) {
    if (ctx == NULL || f == NULL || p == NULL)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_iman_davenport: every argument is needed");
    rlar__begin(ctx);
    RLAR_TRY(check_sizes(ctx, "rlar_iman_davenport", blocks, methods));
    const double n = (double)blocks, most = n * (double)(methods - 1);
    if (!(friedman >= 0 && friedman <= most))
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_iman_davenport: Friedman's statistic is %g; with %lld blocks of "
                          "%lld methods it is 0 to %g",
                          friedman, (long long)blocks, (long long)methods, most);
    *f = friedman < most ? (n - 1) * friedman / (most - friedman) : INFINITY;
    *p = friedman < most ? rlar__f_tail(*f, methods - 1, (methods - 1) * (blocks - 1)) : 0;
    return RLAR_OK;
}

/* ---- Nemenyi ---- */

/* What one unit of the range is worth in average ranks: sqrt(k (k + 1) / (6 N)) / sqrt(2). */
static double rank_unit(int64_t blocks, int64_t methods) {
    const double k = (double)methods;
    return sqrt(k * (k + 1) / (12 * (double)blocks));
}

rlar_status rlar_nemenyi(rlar_ctx *ctx, int64_t blocks, int64_t methods, const double *ranks,
                         double *p) {
    if (ctx == NULL || ranks == NULL || p == NULL)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_nemenyi: every argument is needed");
    rlar__begin(ctx);
    RLAR_TRY(check_sizes(ctx, "rlar_nemenyi", blocks, methods));
    for (int64_t i = 0; i < methods; i++)
        if (!(ranks[i] >= 1 && ranks[i] <= (double)methods))
            return rlar__fail(ctx, RLAR_E_ARG,
                              "rlar_nemenyi: average rank %lld is %g; it must be 1 to %lld",
                              (long long)i + 1, ranks[i], (long long)methods);
    for (int64_t i = 0; i < methods; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double range = fabs(ranks[i] - ranks[j]) / rank_unit(blocks, methods);
            const double tail = i == j ? 1 : rlar__range_tail(range, methods);
            p[i * methods + j] = tail;
            p[j * methods + i] = tail;
        }
    return RLAR_OK;
}

rlar_status rlar_nemenyi_difference(rlar_ctx *ctx, int64_t blocks, int64_t methods, double level,
                                    double *difference) {
    if (ctx == NULL || difference == NULL)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_nemenyi_difference: every argument is needed");
    rlar__begin(ctx);
    RLAR_TRY(check_sizes(ctx, "rlar_nemenyi_difference", blocks, methods));
    if (!(level > 0 && level < 1))
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_nemenyi_difference: level is %g; choose between 0 and 1, e.g. 0.05",
                          level);
    *difference = rlar__range_quantile(level, methods) * rank_unit(blocks, methods);
    return RLAR_OK;
}
