/* comparison.c - do the methods of an outcome differ, or is it chance?
 *
 * A block is what all methods were measured on. With at least FEWEST_SETS data sets (times training
 * sizes) on which no fit failed these are the blocks, each with the mean accuracy of a method.
 * Otherwise the blocks are the trials in which no fit failed, of all data sets together: more of
 * them, but trials share samples, so that p is too small. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { FEWEST_SETS = 5, FEWEST_BLOCKS = 2, FEWEST_RANKED = 3 };

static const double level = 0.05;

/* Accuracies are shares of whole numbers, and ties are common: two means, or two differences, that
 * are equal but for rounding must count as equal. Shares of fewer than a million samples that
 * differ at all differ by more. */
static double settled(double value) {
    return round(1e12 * value) / 1e12;
}

/* ---- the blocks ---- */

/* Did every fit of every method succeed? `run` is the first row of a data set and size. */
static bool run_complete(const cli_row *run, int methods) {
    for (int m = 0; m < methods; m++)
        if (run[m].result.failed > 0)
            return false;
    return true;
}

static bool trial_complete(const cli_row *run, int methods, int64_t trial) {
    for (int m = 0; m < methods; m++)
        if (isnan(run[m].result.accuracy[trial]))
            return false;
    return true;
}

static int64_t add_run(const cli_row *run, int methods, double *block) {
    if (!run_complete(run, methods))
        return 0;
    for (int m = 0; m < methods && block != NULL; m++)
        block[m] = settled(run[m].result.accuracy_mean);
    return 1;
}

static int64_t add_trials(const cli_row *run, int methods, double *block) {
    int64_t count = 0;
    for (int64_t t = 0; t < run->result.trials; t++) {
        if (!trial_complete(run, methods, t))
            continue;
        for (int m = 0; m < methods && block != NULL; m++)
            block[count * methods + m] = settled(run[m].result.accuracy[t]);
        count++;
    }
    return count;
}

/* Write the blocks one after another, or with `value` NULL only count them. */
static int64_t fill_blocks(const cli_outcome *out, bool trials, double *value) {
    int64_t count = 0;
    for (int i = 0; i < out->n_rows; i += out->n_methods) {
        double *block = value != NULL ? value + count * out->n_methods : NULL;
        count += trials ? add_trials(&out->row[i], out->n_methods, block)
                        : add_run(&out->row[i], out->n_methods, block);
    }
    return count;
}

/* ---- the tests ---- */

/* One method less another in every block; returns the mean. */
static double subtract(const cli_comparison *cmp, const cli_pair *pair, double *difference) {
    double sum = 0;
    for (int64_t i = 0; i < cmp->blocks; i++) {
        const double *block = cmp->value + i * cmp->methods;
        difference[i] = settled(block[pair->a] - block[pair->b]);
        sum += difference[i];
    }
    return sum / (double)cmp->blocks;
}

/* Wilcoxon's test of every pair, those with the first method first. */
static int test_pairs(cli *c, cli_comparison *cmp) {
    const size_t bytes = (size_t)cmp->blocks * sizeof(double);
    double *difference = cli_alloc(bytes), *zero = cli_alloc(bytes);
    memset(zero, 0, bytes);
    int code = 0, i = 0;
    for (int a = 0; a < cmp->methods; a++)
        for (int b = a + 1; b < cmp->methods && code == 0; b++, i++) {
            cli_pair *pair = &cmp->pair[i];
            *pair = (cli_pair){.a = a, .b = b};
            pair->difference = subtract(cmp, pair, difference);
            code = cli_check(c, rlar_wilcoxon(c->ctx, cmp->blocks, difference, zero,
                                              &pair->statistic, &cmp->p[i]));
        }
    free(difference);
    free(zero);
    return code;
}

/* p corrected for all pairs, and for those with the first method alone. */
static int correct(cli *c, cli_comparison *cmp) {
    const int64_t k = cmp->methods;
    const int code = cli_check(c, rlar_holm(c->ctx, k * (k - 1) / 2, cmp->p, cmp->p_holm));
    return code != 0 ? code : cli_check(c, rlar_holm(c->ctx, k - 1, cmp->p, cmp->p_holm_first));
}

/* Average ranks are for any number of methods, the tests of them for three or more. */
static int test_ranks(cli *c, cli_comparison *cmp) {
    const int64_t n = cmp->blocks, k = cmp->methods;
    int code = cli_check(
        c, rlar_friedman(c->ctx, n, k, cmp->value, cmp->rank, &cmp->friedman, &cmp->friedman_p));
    if (code != 0 || k < FEWEST_RANKED)
        return code;
    code = cli_check(
        c, rlar_iman_davenport(c->ctx, n, k, cmp->friedman, &cmp->davenport, &cmp->davenport_p));
    if (code == 0)
        code = cli_check(c, rlar_nemenyi(c->ctx, n, k, cmp->rank, cmp->nemenyi_p));
    return code != 0 ? code
                     : cli_check(c, rlar_nemenyi_difference(c->ctx, n, k, level, &cmp->critical));
}

int cli_comparison_make(cli *c, const cli_outcome *out, cli_comparison *cmp) {
    *cmp = (cli_comparison){.methods = out->n_methods, .row = out->row};
    if (out->n_methods < 2)
        return 0;
    cmp->over_trials = fill_blocks(out, false, NULL) < FEWEST_SETS;
    cmp->several_sizes = out->n_rows > out->n_data * out->n_methods;
    const int64_t blocks = fill_blocks(out, cmp->over_trials, NULL);
    if (blocks < FEWEST_BLOCKS)
        return 0;
    const size_t k = (size_t)out->n_methods, pairs = k * (k - 1) / 2;
    cmp->blocks = blocks;
    cmp->value = cli_alloc((size_t)blocks * k * sizeof(double));
    cmp->rank = cli_alloc(k * sizeof(double));
    cmp->nemenyi_p = cli_alloc(k * k * sizeof(double));
    cmp->pair = cli_alloc(pairs * sizeof *cmp->pair);
    cmp->p = cli_alloc(pairs * sizeof(double));
    cmp->p_holm = cli_alloc(pairs * sizeof(double));
    cmp->p_holm_first = cli_alloc((k - 1) * sizeof(double));
    fill_blocks(out, cmp->over_trials, cmp->value);
    int code = test_ranks(c, cmp);
    if (code == 0)
        code = test_pairs(c, cmp);
    return code != 0 ? code : correct(c, cmp);
}

void cli_comparison_free(cli_comparison *cmp) {
    void *const arrays[] = {cmp->value, cmp->rank,   cmp->nemenyi_p,   cmp->pair,
                            cmp->p,     cmp->p_holm, cmp->p_holm_first};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
}

/* ---- text ---- */

static const char *method_name(const cli_comparison *cmp, int method) {
    return cmp->row[method].result.method;
}

/* In how many blocks the method is better than, equal to and worse than the first. */
static void count_wins(const cli_comparison *cmp, int method, int64_t wins[3]) {
    memset(wins, 0, 3 * sizeof wins[0]);
    for (int64_t i = 0; i < cmp->blocks; i++) {
        const double *block = cmp->value + i * cmp->methods;
        wins[block[method] > block[0] ? 0 : block[method] < block[0] ? 2 : 1]++;
    }
}

/* What the table is about, and what to keep in mind. */
static void text_notes(cli *c, const cli_comparison *cmp) {
    const bool trials = cmp->over_trials, sizes = cmp->several_sizes;
    cli_printf(c,
               "Against %s over %lld %s; p: Wilcoxon's signed-rank test with Holm's correction for "
               "%d comparison%s.\n",
               method_name(cmp, 0), (long long)cmp->blocks,
               trials  ? "trials"
               : sizes ? "data sets and sizes"
                       : "data sets",
               cmp->methods - 1, cmp->methods == 2 ? "" : "s");
    if (trials || sizes)
        cli_printf(c, "%s share samples, so p is optimistic.\n",
                   trials ? "Trials" : "Sizes of one data set");
}

/* People compare with a method of their own, which they name first: each of the others against it,
 * and Holm's correction for these comparisons only. */
void cli_comparison_text(cli *c, const cli_comparison *cmp) {
    cli_table table = {.columns = 5, .right = 0x1e};
    cli_table_add(&table, "method\taverage rank\twins/ties/losses\tpoints\tp (Holm)");
    cli_table_add(&table, "%s\t%.2f\t-\t-\t-", method_name(cmp, 0), cmp->rank[0]);
    for (int m = 1; m < cmp->methods; m++) {
        int64_t wins[3];
        count_wins(cmp, m, wins);
        const double points = round(1e4 * cmp->pair[m - 1].difference) / 100;
        cli_table_add(&table, "%s\t%.2f\t%lld/%lld/%lld\t%+.2f\t%.3g", method_name(cmp, m),
                      cmp->rank[m], (long long)wins[0], (long long)wins[1], (long long)wins[2],
                      0 - points, cmp->p_holm_first[m - 1]); /* never -0.00 */
    }
    cli_printf(c, "\n");
    cli_table_print(c, &table);
    text_notes(c, cmp);
}

/* ---- JSON ---- */

static json_t *json_numbers(const double *value, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, cli_json_number(value[i]));
    return list;
}

static json_t *json_test(double statistic, double p) {
    json_t *test = json_object();
    cli_json_set(test, "statistic", cli_json_number(statistic));
    cli_json_set(test, "p", cli_json_number(p));
    return test;
}

static json_t *json_nemenyi(const cli_comparison *cmp) {
    json_t *test = json_object(), *matrix = json_array();
    for (int m = 0; m < cmp->methods; m++)
        json_array_append_new(
            matrix, json_numbers(cmp->nemenyi_p + (ptrdiff_t)m * cmp->methods, cmp->methods));
    cli_json_set(test, "critical_difference", cli_json_number(cmp->critical));
    cli_json_set(test, "level", cli_json_number(level));
    cli_json_set(test, "p", matrix);
    return test;
}

static json_t *json_wilcoxon(const cli_comparison *cmp) {
    json_t *list = json_array();
    for (int i = 0; i < cmp->methods * (cmp->methods - 1) / 2; i++) {
        const cli_pair *pair = &cmp->pair[i];
        json_t *entry = json_object();
        cli_json_set(entry, "a", cli_json_text(method_name(cmp, pair->a)));
        cli_json_set(entry, "b", cli_json_text(method_name(cmp, pair->b)));
        cli_json_set(entry, "difference", cli_json_number(pair->difference));
        cli_json_set(entry, "statistic", cli_json_number(pair->statistic));
        cli_json_set(entry, "p", cli_json_number(cmp->p[i]));
        cli_json_set(entry, "p_holm", cli_json_number(cmp->p_holm[i]));
        json_array_append_new(list, entry);
    }
    return list;
}

json_t *cli_comparison_json(const cli_comparison *cmp) {
    const bool ranked = cmp->methods >= FEWEST_RANKED;
    json_t *object = json_object(), *names = json_array();
    for (int m = 0; m < cmp->methods; m++)
        json_array_append_new(names, cli_json_text(method_name(cmp, m)));
    cli_json_set(object, "over", cli_json_text(cmp->over_trials ? "trials" : "data sets"));
    cli_json_set(object, "blocks", json_integer(cmp->blocks));
    cli_json_set(object, "methods", names);
    cli_json_set(object, "average_rank", json_numbers(cmp->rank, cmp->methods));
    cli_json_set(object, "friedman",
                 ranked ? json_test(cmp->friedman, cmp->friedman_p) : json_null());
    cli_json_set(object, "iman_davenport",
                 ranked ? json_test(cmp->davenport, cmp->davenport_p) : json_null());
    cli_json_set(object, "nemenyi", ranked ? json_nemenyi(cmp) : json_null());
    cli_json_set(object, "wilcoxon", json_wilcoxon(cmp));
    return object;
}
