/* test_team_large.c - classes larger than a fair share lie on several ranks: the largest share is
 * small, and models have the bits of one process all the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/ranks.h"
#include "linalg/errands.h"
#include "team_fit.h"

/* ---- Shares ---- */

static int64_t largest_share(rlar_ctx *ctx, int64_t c, const int64_t *sizes, int ranks,
                             int64_t *cut) {
    int64_t first[65] = {0}, largest = 0;
    for (int64_t k = 0; k < c; k++)
        first[k + 1] = first[k] + sizes[k];
    assert_int_equal(rlar__ranks_cut(ctx, c, first, ranks, cut), RLAR_OK);
    for (int r = 0; r < ranks; r++)
        largest = cut[r + 1] - cut[r] > largest ? cut[r + 1] - cut[r] : largest;
    return largest;
}

/* Two classes on four ranks: half a class each, to a block. One class with most samples: all ranks
 * have some of it. Classes that share out well stay whole. */
static void test_shares(void **state) {
    (void)state;
    rlar_ctx *ctx = NULL;
    int64_t cut[MOST_RANKS + 1];
    assert_int_equal(rlar_ctx_new(NULL, &ctx), RLAR_OK);
    const int64_t two[2] = {40000, 40000};
    assert_true(largest_share(ctx, 2, two, 4, cut) <= 20000 + RLAR_SUM_BLOCK);
    const int64_t most[3] = {3000, 80000, 17000};
    assert_true(largest_share(ctx, 3, most, 5, cut) <= 20000 + RLAR_SUM_BLOCK);
    const int64_t ten[10] = {6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000};
    assert_true(largest_share(ctx, 10, ten, 4, cut) <= 18000);
    for (int r = 0; r <= 4; r++)
        assert_int_equal(cut[r] % 6000, 0);
    rlar_ctx_free(ctx);
}

/* No way to cut the blocks has a smaller largest share, but for a quarter where classes stay
 * whole. */
static void test_shares_are_least(void **state) {
    (void)state;
    rlar_rng rng = seeded(31);
    rlar_ctx *ctx = NULL;
    assert_int_equal(rlar_ctx_new(NULL, &ctx), RLAR_OK);
    for (int round = 0; round < 200; round++) {
        int64_t sizes[6], first[7] = {0}, cut[MOST_RANKS + 1], at[64] = {0}, count = 0;
        const int ranks = 1 + (int)rlar__rng_below(&rng, 5);
        for (int k = 0; k < 6; k++) {
            sizes[k] = 1 + (int64_t)rlar__rng_below(&rng, k % 2 ? 9000 : 900);
            first[k + 1] = first[k] + sizes[k];
        }
        rlar_blocks b;
        rlar__blocks_init(6, first, &b);
        while (at[count] < b.n) {
            at[count + 1] = rlar__block_end(&b, at[count]);
            count++;
        }
        /* least[i]: the largest share of the first i blocks, with r ranks. */
        double least[64] = {0};
        for (int64_t i = 0; i <= count; i++)
            least[i] = (double)at[i];
        for (int r = 1; r < ranks; r++)
            for (int64_t i = count; i >= 0; i--)
                for (int64_t k = 0; k <= i; k++)
                    least[i] = fmin(least[i], fmax(least[k], (double)(at[i] - at[k])));
        const int64_t largest = largest_share(ctx, 6, sizes, ranks, cut);
        bool whole = true;
        for (int r = 1; r < ranks; r++) {
            bool between = false;
            for (int k = 0; k <= 6; k++)
                between = between || first[k] == cut[r];
            whole = whole && between;
        }
        assert_true((double)largest >= least[count]);
        assert_true((double)largest <= (whole ? 1.25 : 1.0) * least[count]);
    }
    rlar_ctx_free(ctx);
}

/* ---- Fits ---- */

static const int64_t CUT[3] = {4200, 300, 2500};          /* the first and the last are cut */
static const int64_t MOSTLY[3] = {60, 4700, 40};          /* one class has nearly all */
static const int64_t TWO[2] = {4200, 2300};               /* two classes on up to five ranks */
static const int64_t CHAIN[4] = {2500, 2600, 4200, 2300}; /* a rank shares two classes */

static void compare_large(uint64_t seed, int64_t d, int64_t c, const int64_t *sizes,
                          const char *method, const char *settings, const char *scale) {
    labelled s = shuffled(seed, d, c, sizes);
    for (int64_t i = 0; i < 40; i++) { /* equal samples, mostly on different ranks */
        memcpy(s.x + i * d, s.x + (s.n - 1 - i) * d, (size_t)d * sizeof *s.x);
        s.label[i] = s.label[s.n - 1 - i];
    }
    compare(&s, method, settings, scale);
    labelled_free(&s);
}

static void test_paper(void **state) {
    (void)state;
    compare_large(1, 5, 3, CUT, "rlar", "solver=paper iters=2 search=exact", "zscore,rms");
    compare_large(2, 41, 3, MOSTLY, "rlar", "solver=paper iters=2", "unit");
    compare_large(3, 20, 4, CHAIN, "rlar", "solver=anneal iters=2", "none");
}

static void test_exact(void **state) {
    (void)state;
    compare_large(4, 17, 2, TWO, "rlar", "solver=anneal iters=2 search=exact", "minmax");
    compare_large(5, 41, 3, CUT, "rlar", "solver=minimise iters=2 search=exact", "zscore,rms");
}

/* The first graph, of the samples themselves, by local search, too. */
static void test_local(void **state) {
    (void)state;
    compare_large(6, 6, 2, TWO, "rlar", "solver=paper iters=1 search=local", "zscore,rms");
    compare_large(7, 6, 4, CHAIN, "rlar", "solver=paper iters=1 search=local k=3", "unit");
    compare_large(8, 7, 3, MOSTLY, "rlar", "solver=minimise iters=2 search=local beta=10", "none");
}

static void test_minimise(void **state) {
    (void)state;
    compare_large(9, 12, 2, TWO, "rlar", "solver=minimise iters=2", "zscore,rms");
    compare_large(10, 7, 3, CUT, "rlar", "solver=minimise eps=1e-8 iters=3 beta=10", "minmax");
}

/* Many classes beside: more outputs than the panels of the search hold. */
static void test_many_outputs(void **state) {
    (void)state;
    int64_t sizes[20];
    for (int k = 0; k < 20; k++)
        sizes[k] = k == 7 ? 5000 : 30 + k;
    compare_large(11, 12, 20, sizes, "rlar", "solver=paper iters=2 search=exact", "zscore,rms");
}

/* All pairs of a class are joined. */
static void test_alpr(void **state) {
    (void)state;
    const int64_t sizes[2] = {2200, 60};
    compare_large(12, 5, 2, sizes, "alpr", "iters=2", "zscore,rms");
}

/* Of methods without a graph only the sums cross the cut. */
static void test_others(void **state) {
    (void)state;
    static const char *const methods[] = {"rr", "lsr", "lda", "mmc", "relsr", "rfs"};
    for (int i = 0; i < 6; i++)
        compare_large(13, 12, 4, CHAIN, methods[i], i >= 4 ? "iters=3" : "", "zscore,rms");
}

/* ---- Memory ---- */

typedef struct holding {
    const labelled *s;
    int64_t n[MOST_RANKS], peak[MOST_RANKS];
} holding;

/* Rank 0 has read all. */
static void hold_rank(rlar_ctx *ctx, int rank, void *arg) {
    holding *h = arg;
    rlar_data *part = NULL, *data = NULL;
    rlar_params *params = NULL;
    rlar_model *model = NULL;
    if (rank == 0)
        part = view_rows(ctx, h->s, 0, h->s->n);
    assert_int_equal(rlar_data_share(ctx, &part, rank == 0, &data), RLAR_OK);
    assert_int_equal(rlar_params_new(ctx, "rlar", &params), RLAR_OK);
    set_params(ctx, params, "solver=paper iters=1 k=3 search=local");
    h->n[rank] = rlar_data_samples(data);
    rlar_forecast f = RLAR_INIT(rlar_forecast);
    assert_int_equal(rlar_fit_forecast(ctx, data, params, NULL, &f), RLAR_OK);
    const int64_t before = rlar_ctx_memory(ctx), earlier = rlar_ctx_memory_peak(ctx);
    assert_true(rlar_fit_own(ctx, &data, params, NULL, &model, NULL) >= 0);
    h->peak[rank] = rlar_ctx_memory_peak(ctx) - (rank == 0 ? before : 0);
    /* in place: no copy of the samples here, at least, is forecast */
    assert_true(f.bytes_own <= f.bytes - 8 * h->s->d * h->n[rank]);
    if (rlar_ctx_memory_peak(ctx) > earlier)
        assert_true(rlar_ctx_memory_peak(ctx) - before <= f.bytes_own);
    rlar_model_free(model);
    rlar_params_free(params);
}

/* A rank holds its share of the samples once, a block or so of others, and of all samples of its
 * class only outputs and edges. */
static void test_memory(void **state) {
    (void)state;
    enum { WIDE = 300 };
    const int64_t sizes[2] = {16000, 384};
    labelled s = shuffled(21, WIDE, 2, sizes);
    holding h = {.s = &s};
    ranks_world world;
    on_ranks(4, hold_rank, &h, &world);
    for (int r = 0; r < 4; r++) {
        const double share = 8.0 * WIDE * (double)h.n[r];
        const double block = 8.0 * WIDE * (RLAR_FETCHED + 3 * RLAR_VISITORS + RLAR_SUM_BLOCK);
        const double squares = 8.0 * WIDE * WIDE * 16, edges = 8.0 * 60 * (double)s.n;
        assert_true(h.n[r] <= s.n / 4 + RLAR_SUM_BLOCK);
        if (r > 0)
            assert_true((double)h.peak[r] <= share + block + squares + edges);
    }
    labelled_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),       cmocka_unit_test(test_shares_are_least),
        cmocka_unit_test(test_paper),        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_local),        cmocka_unit_test(test_minimise),
        cmocka_unit_test(test_many_outputs), cmocka_unit_test(test_alpr),
        cmocka_unit_test(test_others),       cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
