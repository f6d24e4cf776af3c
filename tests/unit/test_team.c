/* test_team.c - one fit over several ranks, which are threads here: sums, the exchange of samples,
 * and whole fits have the bits of one process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/dataset.h"
#include "data/ranks.h"
#include "dist/team.h"
#include "fitting.h"
#include "team_fit.h"

enum { D = 7, C = 9 };

/* Classes of all sizes: empty, tiny, beyond a block, beyond several. */
static void make_sizes(rlar_rng *rng, int64_t *first) {
    static const int64_t most[] = {1, 40, 700, 3000, 9000};
    first[0] = 0;
    for (int k = 0; k < C; k++) {
        const uint64_t bound = (uint64_t)most[rlar__rng_below(rng, 5)] + 1;
        first[k + 1] = first[k] + (int64_t)rlar__rng_below(rng, bound) + (k == 0);
    }
}

/* ---- Blocks ---- */

/* Blocks cover the samples, hold at most RLAR_SUM_BLOCK, and only a larger class is cut. */
static void test_blocks(void **state) {
    (void)state;
    rlar_rng rng = seeded(11);
    for (int round = 0; round < 200; round++) {
        int64_t first[C + 1], blocks = 0;
        rlar_blocks b;
        make_sizes(&rng, first);
        rlar__blocks_init(C, first, &b);
        for (int64_t start = 0, end; start < b.n; start = end, blocks++) {
            end = rlar__block_end(&b, start);
            assert_true(end > start && end <= b.n && end - start <= RLAR_SUM_BLOCK);
            const int64_t k = rlar__class_of(first, C, end - 1);
            if (end < first[k + 1])
                assert_true(first[k + 1] - first[k] > RLAR_SUM_BLOCK &&
                            (start - first[k]) % RLAR_SUM_BLOCK == 0);
        }
        assert_int_equal(blocks, b.total);
    }
}

/* Ranks begin with blocks and have all samples between them. */
static void test_cuts(void **state) {
    (void)state;
    rlar_rng rng = seeded(12);
    rlar_ctx *ctx = NULL;
    assert_int_equal(rlar_ctx_new(NULL, &ctx), RLAR_OK);
    for (int round = 0; round < 200; round++) {
        int64_t first[C + 1], cut[MOST_RANKS + 1];
        const int ranks = 1 + (int)rlar__rng_below(&rng, MOST_RANKS);
        make_sizes(&rng, first);
        assert_int_equal(rlar__ranks_cut(ctx, C, first, ranks, cut), RLAR_OK);
        assert_true(cut[0] == 0 && cut[ranks] == first[C]);
        for (int r = 0; r < ranks; r++) {
            rlar_blocks b;
            rlar__blocks_init(C, first, &b);
            assert_true(cut[r] <= cut[r + 1]);
            assert_true(rlar__blocks_share(&b, cut[r], cut[r + 1]));
        }
    }
    rlar_ctx_free(ctx);
}

/* ---- Sums ---- */

typedef struct sums {
    int64_t first[C + 1];
    double *x;
    int ranks;
    double total[MOST_RANKS], gram[MOST_RANKS][D * D], moments[MOST_RANKS][D * 2];
} sums;

static void sum_on(rlar_ctx *ctx, const rlar_blocks *b, const double *x, double *total,
                   double *gram, double *moments) {
    rlar_workspace ws = {0};
    rlar_partials partials;
    rlar__partials_carve_samples(&ws, b, b->n, D, D, &partials);
    assert_int_equal(rlar__workspace_take(ctx, &ws, "sums"), RLAR_OK);
    rlar__partials_carve_samples(&ws, b, b->n, D, D, &partials);
    double *column = zeros(b->n + 1);
    for (int64_t i = 0; i < b->n; i++)
        column[i] = x[i * D];
    memset(gram, 0, D * D * sizeof *gram);
    assert_int_equal(rlar__sum_samples(ctx, b, b->n, column, total), RLAR_OK);
    assert_int_equal(rlar__gram_outer(ctx, &partials, D, b->n, x, x, gram), RLAR_OK);
    assert_int_equal(rlar__moments(ctx, &partials, D, 1, b->n, x, column, moments), RLAR_OK);
    free(column);
    rlar__workspace_free(&ws);
}

static void sum_rank(rlar_ctx *ctx, int rank, void *arg) {
    sums *s = arg;
    int64_t cut[MOST_RANKS + 1];
    rlar_blocks b;
    assert_int_equal(rlar__ranks_cut(ctx, C, s->first, s->ranks, cut), RLAR_OK);
    rlar__blocks_init(C, s->first, &b);
    assert_int_equal(rlar__blas_open(ctx, 0), RLAR_OK);
    assert_true(rlar__blocks_share(&b, cut[rank], cut[rank + 1]));
    sum_on(ctx, &b, s->x + b.start * D, &s->total[rank], s->gram[rank], s->moments[rank]);
}

static void test_sums(void **state) {
    (void)state;
    rlar_rng rng = seeded(13);
    rlar_ctx *ctx = NULL;
    assert_int_equal(rlar_ctx_new(NULL, &ctx), RLAR_OK);
    assert_int_equal(rlar__blas_open(ctx, 0), RLAR_OK);
    for (int round = 0; round < 30; round++) {
        sums s = {.ranks = 2 + round % (MOST_RANKS - 1)};
        double total, gram[D * D], moments[D * 2];
        ranks_world world;
        rlar_blocks b;
        make_sizes(&rng, s.first);
        s.x = random_numbers(&rng, s.first[C] * D);
        rlar__blocks_init(C, s.first, &b);
        sum_on(ctx, &b, s.x, &total, gram, moments);
        on_ranks(s.ranks, sum_rank, &s, &world);
        for (int r = 0; r < s.ranks; r++) {
            assert_true(s.total[r] == total);
            assert_memory_equal(s.gram[r], gram, sizeof gram);
            assert_memory_equal(s.moments[r], moments, D * sizeof(double));
        }
        free(s.x);
    }
    rlar_ctx_free(ctx);
}

/* ---- Fits ---- */

static void test_rlar(void **state) {
    (void)state;
    static const char *const settings[] = {"solver=paper iters=3", "solver=anneal iters=3",
                                           "solver=minimise iters=2",
                                           "solver=minimise eps=1e-8 iters=2"};
    const int64_t large[5] = {1300, 900, 1700, 1200, 800}, small[5] = {30, 20, 2500, 10, 40};
    for (int i = 0; i < 4; i++) {
        labelled s = shuffled(70 + (uint64_t)i, i < 2 ? 12 : 41, 5, i % 2 ? small : large);
        compare(&s, "rlar", settings[i], SCALES[i]);
        labelled_free(&s);
    }
}

/* Small classes take the form by roots; fewer samples than features would take the n x n form
 * alone, so there bits are not asked for. */
static void test_roots(void **state) {
    (void)state;
    int64_t sizes[60];
    for (int k = 0; k < 60; k++)
        sizes[k] = 40 + k % 7;
    labelled s = shuffled(80, 280, 60, sizes);
    compare(&s, "rlar", "solver=paper iters=2", "zscore,rms");
    labelled_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks), cmocka_unit_test(test_cuts),  cmocka_unit_test(test_sums),
        cmocka_unit_test(test_rlar),   cmocka_unit_test(test_roots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
