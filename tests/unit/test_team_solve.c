/* test_team_solve.c - systems that ranks solve together, with a host that gathers the tiles on rank
 * 0 and solves there: the map of ranks that solve alike, and the traffic that was forecast. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "team_fit.h"

/* ---- A host that solves ---- */

/* Of rank `rank`: its row and column of the grid, and where an entry of its tiles belongs. */
static int64_t global_of(const rlar_tiles *t, int64_t local, int at, int of) {
    return (local / t->block * of + at) * t->block + local % t->block;
}

static void extent_of(const rlar_tiles *t, int rank, int64_t *height, int64_t *width) {
    *height = *width = 0;
    for (int64_t i = 0; rank < t->rows * t->cols && i < t->n; i++) {
        *height += i / t->block % t->rows == rank / t->cols;
        *width += i / t->block % t->cols == rank % t->cols;
    }
}

/* Between the tiles of a rank and the whole matrix, with its own formula for who has what. */
static void copy_tiles(const rlar_tiles *t, int rank, double *tiles, double *whole, bool out) {
    int64_t height, width;
    extent_of(t, rank, &height, &width);
    for (int64_t jl = 0; jl < width; jl++)
        for (int64_t il = 0; il < height; il++) {
            double *at = whole + global_of(t, jl, rank % t->cols, t->cols) * t->n +
                         global_of(t, il, rank / t->cols, t->rows);
            if (out)
                tiles[jl * height + il] = *at;
            else
                *at = tiles[jl * height + il];
        }
}

static int64_t sides_from(const rlar_tiles *t, int rank) {
    const int64_t from = rank % t->cols * t->sides;
    return from < t->p ? from : t->p;
}

static int64_t sides_here(const rlar_tiles *t, int rank) {
    const int64_t left = t->p - sides_from(t, rank);
    return left < t->sides ? left : t->sides;
}

static void copy_sides(const rlar_tiles *t, int rank, double *part, double *whole, bool out) {
    int64_t height, width;
    extent_of(t, rank, &height, &width);
    for (int64_t k = 0; k < sides_here(t, rank); k++)
        for (int64_t il = 0; il < height; il++) {
            double *at = whole + (sides_from(t, rank) + k) * t->n +
                         global_of(t, il, rank / t->cols, t->rows);
            if (out)
                part[k * height + il] = *at;
            else
                *at = part[k * height + il];
        }
}

/* A = L L^T, in place, from the lower triangle alone. */
static bool cholesky(int64_t n, double *a) {
    for (int64_t j = 0; j < n; j++) {
        for (int64_t k = 0; k < j; k++)
            for (int64_t i = j; i < n; i++)
                a[j * n + i] -= a[k * n + i] * a[k * n + j];
        if (!(a[j * n + j] > 0.0))
            return false;
        const double root = sqrt(a[j * n + j]);
        for (int64_t i = j; i < n; i++)
            a[j * n + i] /= root;
    }
    return true;
}

static void substitute(int64_t n, const double *l, double *x) {
    for (int64_t i = 0; i < n; i++) {
        x[i] /= l[i * n + i];
        for (int64_t k = i + 1; k < n; k++)
            x[k] -= l[i * n + k] * x[i];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < n; k++)
            x[i] -= l[i * n + k] * x[k];
        x[i] /= l[i * n + i];
    }
}

typedef void (*copier)(const rlar_tiles *, int, double *, double *, bool);

/* All parts to the whole of rank 0, or back. */
static void exchange(ranks_one *me, const rlar_tiles *t, copier copy, double *part, int64_t size,
                     double *whole, bool back) {
    const size_t bytes = (size_t)(size + 1) * sizeof *part;
    double *room = malloc(bytes);
    for (int r = 0; r < me->team.ranks; r++) {
        if (me->team.rank == 0 && r == 0) {
            copy(t, 0, part, whole, back);
        } else if (me->team.rank == 0) {
            if (back)
                copy(t, r, room, whole, true);
            if ((back ? team_send(me, r, room, bytes) : team_receive(me, r, room, bytes)) != 0)
                abort();
            if (!back)
                copy(t, r, room, whole, false);
        } else if (me->team.rank == r) {
            memcpy(room, part, (size_t)size * sizeof *part);
            if ((back ? team_receive(me, 0, room, bytes) : team_send(me, 0, room, bytes)) != 0)
                abort();
            if (back)
                memcpy(part, room, (size_t)size * sizeof *part);
        }
    }
    free(room);
}

/* Messages have one size for all ranks: that of rank 0, which has the most. */
static double *padded_part(const double *part, int64_t held, int64_t most) {
    double *out = calloc((size_t)most + 1, sizeof *out);
    memcpy(out, part, (size_t)held * sizeof *out);
    return out;
}

static int gather_and(ranks_one *me, const rlar_tiles *t, const double *a, double *b) {
    const bool first = me->team.rank == 0;
    int64_t height, width;
    extent_of(t, 0, &height, &width);
    const int64_t most = height * width, most_b = height * t->sides;
    double *whole = first ? zeros(t->n * t->n) : NULL, *sides = first ? zeros(t->n * t->p) : NULL;
    double *part = padded_part(a, t->height * t->width, most);
    int answer = 0;
    exchange(me, t, copy_tiles, part, most, whole, false);
    if (b) {
        double *part_b = padded_part(b, t->height * sides_here(t, me->team.rank), most_b);
        exchange(me, t, copy_sides, part_b, most_b, sides, false);
        for (int64_t k = 0; first && k < t->p; k++)
            substitute(t->n, whole, sides + k * t->n);
        exchange(me, t, copy_sides, part_b, most_b, sides, true);
        memcpy(b, part_b, (size_t)(t->height * sides_here(t, me->team.rank)) * sizeof *b);
        free(part_b);
    } else {
        answer = first && !cholesky(t->n, whole);
        exchange(me, t, copy_tiles, part, most, whole, true);
        memcpy((double *)a, part, (size_t)(t->height * t->width) * sizeof *a);
        if (team_broadcast(me, 0, &answer, sizeof answer) != 0)
            abort();
    }
    free(part);
    free(whole);
    free(sides);
    return answer;
}

static int host_factor(void *user, const rlar_tiles *tiles, double *a) {
    ranks_one *me = user;
    int64_t height, width;
    extent_of(tiles, me->team.rank, &height, &width);
    assert_true(tiles->height == height && tiles->width == width);
    return gather_and(me, tiles, a, NULL);
}

static int host_solve(void *user, const rlar_tiles *tiles, const double *a, double *b) {
    return gather_and(user, tiles, a, b);
}

/* ---- Who has what ---- */

/* Every entry of the lower triangle is on one rank, and a rank has as many as it should. */
static void test_tiles(void **state) {
    (void)state;
    rlar_rng rng = seeded(31);
    for (int round = 0; round < 200; round++) {
        const int64_t n = 1 + (int64_t)rlar__rng_below(&rng, 400);
        const int ranks = 1 + (int)rlar__rng_below(&rng, 12);
        const rlar_spread spread = {.ranks = ranks, .least = 1};
        int64_t lower = 0, sides = 0;
        for (int r = 0; r < ranks; r++) {
            const rlar_tiles t = rlar__tiles_of(&spread, r, n, 7);
            assert_true(t.block >= 1 && t.rows >= 1 && t.rows <= t.cols);
            assert_true(t.rows * t.cols <= ranks && 3 * t.rows * t.cols >= 2 * ranks);
            lower += rlar__tiles_lower(&t, r);
            sides += r < t.cols ? sides_here(&t, r) : 0;
        }
        assert_int_equal(lower, n * (n + 1) / 2);
        assert_int_equal(sides, 7);
    }
    const rlar_spread none = {.ranks = 4, .least = 0}, large = {.ranks = 4, .least = 50};
    assert_int_equal(rlar__tiles_of(&none, 0, 100, 1).block, 0);
    assert_int_equal(rlar__tiles_of(&large, 0, 49, 1).block, 0);
    assert_true(rlar__tiles_of(&large, 0, 50, 1).block > 0);
}

/* ---- Fits ---- */

static rlar_model *model_of(rlar_ctx *ctx, const job *j) {
    rlar_model *model = NULL;
    assert_int_equal(rlar_model_load_bytes(ctx, j->bytes, j->size, &model), RLAR_OK);
    return model;
}

static double gap(const rlar_model *a, const rlar_model *b) {
    const int64_t size = rlar_model_dims(a) * rlar_model_outputs(a);
    const double *w = rlar_model_map(a), *v = rlar_model_map(b);
    double most = 0.0, off = 0.0;
    for (int64_t i = 0; i < size; i++) {
        most = fmax(most, fabs(w[i]));
        off = fmax(off, fabs(w[i] - v[i]));
    }
    return off / most;
}

static void run_job(job *j, team_factor factor, team_solve solve) {
    ranks_world world;
    on_solving_ranks(j->ranks, fit_rank, j, factor, solve, &world);
    for (int r = 1; r < j->ranks; r++) {
        assert_int_equal(j->status[r], j->status[0]);
        if (j->status[0] >= 0)
            assert_true(j->objective[r] == j->objective[0]);
    }
}

static void compare_solves(const labelled *s, const char *method, const char *settings) {
    static const int counts[] = {2, 3, 4, 5, 7};
    rlar_ctx *ctx = NULL;
    assert_int_equal(rlar_ctx_new(NULL, &ctx), RLAR_OK);
    for (int i = 0; i < 5; i++) {
        job alike = {.s = s, .ranks = counts[i], .method = method, .settings = settings};
        job together = alike;
        alike.solve = RLAR_SOLVE_REPLICATED;
        together.solve = RLAR_SOLVE_DISTRIBUTED;
        run_job(&alike, host_factor, host_solve);
        run_job(&together, host_factor, host_solve);
        if (together.status[0] < 0)
            fail_msg("%s %s: %s", method, settings, together.error[0]);
        rlar_model *one = model_of(ctx, &alike), *other = model_of(ctx, &together);
        assert_true(gap(one, other) < 1e-8);
        rlar_model_free(one);
        rlar_model_free(other);
        free(alike.bytes);
        free(together.bytes);
    }
    rlar_ctx_free(ctx);
}

static void test_fits(void **state) {
    (void)state;
    static const char *const all[][2] = {{"rlar", "solver=paper eps=1e-3 iters=3"},
                                         {"rlar", "solver=anneal iters=3"},
                                         {"rlar", "iters=2"},
                                         {"rr", ""},
                                         {"rr", "lambda=1e-6"},
                                         {"relsr", "iters=4"},
                                         {"rfs", "iters=3"},
                                         {"alpr", "iters=2"}};
    const int64_t sizes[5] = {130, 90, 270, 120, 80};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        labelled s = shuffled(130 + i, i % 2 ? 41 : 30, 5, sizes);
        compare_solves(&s, all[i][0], all[i][1]);
        labelled_free(&s);
    }
}

/* Algorithm 1 with its own eps: samples that are met weigh 1e8 times what others do. */
static void test_own_eps(void **state) {
    (void)state;
    const int64_t few[2] = {30, 41}, many[2] = {170, 130};
    for (int i = 0; i < 2; i++) {
        labelled s = shuffled(150 + (uint64_t)i, 165, 2, i ? many : few);
        compare_solves(&s, "rlar", "solver=paper iters=5");
        labelled_free(&s);
    }
}

/* Several blocks on each rank, and more features than a tile has. */
static void test_blocks(void **state) {
    (void)state;
    const int64_t sizes[4] = {2600, 1500, 2300, 1900};
    labelled s = shuffled(140, 150, 4, sizes);
    compare_solves(&s, "rr", "");
    labelled_free(&s);
}

/* ---- Hosts that cannot ---- */

static int never_definite(void *user, const rlar_tiles *tiles, double *a) {
    (void)user, (void)tiles, (void)a;
    return 1;
}

/* The first try, whatever the matrix is; the trace has gone by then. */
static int refuses_once(void *user, const rlar_tiles *tiles, double *a) {
    ranks_one *me = user;
    if (me->world->refused[me->team.rank]++ == 0)
        return 1;
    return host_factor(user, tiles, a);
}

static int not_there(void *user, const rlar_tiles *tiles, double *a) {
    (void)user, (void)tiles, (void)a;
    return RLAR_E_UNSUPPORTED;
}

static int too_large(void *user, const rlar_tiles *tiles, double *a) {
    (void)user, (void)tiles, (void)a;
    return RLAR_E_TOO_LARGE;
}

static int lost(void *user, const rlar_tiles *tiles, double *a) {
    (void)user, (void)tiles, (void)a;
    return RLAR_E_IO;
}

/* A matrix that is not positive definite: the sum is made again, with more on its diagonal, and all
 * ranks say so. */
static void test_ridged(void **state) {
    (void)state;
    static const char *const methods[][2] = {{"rr", ""}, {"rlar", "solver=anneal iters=2"}};
    const int64_t sizes[3] = {60, 50, 70};
    labelled s = shuffled(150, 24, 3, sizes);
    rlar_ctx *ctx = NULL;
    assert_int_equal(rlar_ctx_new(NULL, &ctx), RLAR_OK);
    for (int i = 0; i < 2; i++) {
        job plain = {.s = &s, .ranks = 3, .method = methods[i][0], .settings = methods[i][1]};
        plain.solve = RLAR_SOLVE_DISTRIBUTED;
        job ridged = plain, never = plain;
        run_job(&plain, host_factor, host_solve);
        run_job(&ridged, refuses_once, host_solve);
        run_job(&never, never_definite, host_solve);
        assert_int_equal(ridged.status[0], RLAR_W_RIDGED);
        rlar_model *one = model_of(ctx, &plain), *other = model_of(ctx, &ridged);
        assert_true(gap(one, other) < 1e-6);
        assert_int_equal(never.status[0], RLAR_E_NUMERIC);
        assert_non_null(strstr(never.error[2], "the 24 x 24 system cannot be factorised"));
        rlar_model_free(one);
        rlar_model_free(other);
        free(plain.bytes);
        free(ridged.bytes);
    }
    rlar_ctx_free(ctx);
    labelled_free(&s);
}

static void test_hosts_that_fail(void **state) {
    (void)state;
    static const struct {
        const char *method;
        team_factor factor;
        rlar_status status;
        const char *text;
    } cases[] = {
        {"rr", not_there, RLAR_E_UNSUPPORTED, "rank 1: ScaLAPACK"},
        {"rr", too_large, RLAR_E_TOO_LARGE, "the 24 x 24 system is too large for a grid of 1 x 2"},
        {"rr", lost, RLAR_E_IO, "rank 1: the solve of all ranks together failed"},
        {"rr", NULL, RLAR_E_UNSUPPORTED, "built without ScaLAPACK"},
        {"lda", host_factor, RLAR_E_UNSUPPORTED, "method lda solves no system"},
    };
    const int64_t sizes[3] = {60, 50, 70};
    labelled s = shuffled(160, 24, 3, sizes);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        job j = {.s = &s, .ranks = 2, .method = cases[i].method, .settings = ""};
        j.solve = RLAR_SOLVE_DISTRIBUTED;
        run_job(&j, cases[i].factor, cases[i].factor ? host_solve : NULL);
        assert_int_equal(j.status[0], cases[i].status);
        if (!strstr(j.error[1], cases[i].text))
            fail_msg("\"%s\" is not in \"%s\"", cases[i].text, j.error[1]);
    }
    labelled_free(&s);
}

/* ---- Traffic ---- */

typedef struct traffic {
    const labelled *s;
    int ranks;
    const char *method, *fewer, *more; /* two iterations more */
    rlar_solve solve;
    rlar_forecast forecast[MOST_RANKS];
    int64_t sent[MOST_RANKS], received[MOST_RANKS]; /* by which the longer fit has more */
} traffic;

static void fit_counted(rlar_ctx *ctx, const traffic *t, const rlar_data *data,
                        const char *settings, rlar_forecast *f, int64_t *sent, int64_t *received) {
    job j = {.method = t->method, .settings = settings, .solve = t->solve};
    rlar_model *model = NULL;
    rlar_params *params = NULL;
    rlar_info info;
    rlar_status status;
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    int64_t before[2], after[2];
    *f = RLAR_INIT(rlar_forecast);
    o.solve = t->solve;
    assert_int_equal(rlar_params_new(ctx, t->method, &params), RLAR_OK);
    set_params(ctx, params, settings);
    assert_int_equal(rlar_fit_forecast(ctx, data, params, &o, f), RLAR_OK);
    rlar_ctx_traffic(ctx, &before[0], &before[1]);
    fit_data(ctx, &j, data, &model, &info, &status);
    rlar_ctx_traffic(ctx, &after[0], &after[1]);
    assert_true(status >= 0);
    *sent = after[0] - before[0];
    *received = after[1] - before[1];
    rlar_params_free(params);
    rlar_model_free(model);
}

static void count_rank(rlar_ctx *ctx, int rank, void *arg) {
    traffic *t = arg;
    const int64_t n = t->s->n;
    rlar_data *part = view_rows(ctx, t->s, n * rank / t->ranks, n * (rank + 1) / t->ranks);
    rlar_data *data = NULL;
    int64_t sent[2], received[2];
    assert_int_equal(rlar_data_share(ctx, &part, 1, &data), RLAR_OK);
    fit_counted(ctx, t, data, t->fewer, &t->forecast[rank], &sent[0], &received[0]);
    fit_counted(ctx, t, data, t->more, &t->forecast[rank], &sent[1], &received[1]);
    t->sent[rank] = sent[1] - sent[0];
    t->received[rank] = received[1] - received[0];
    rlar_data_free(data);
}

static void check_traffic(traffic *t) {
    ranks_world world;
    double all = 0.0, busiest = 0.0;
    on_solving_ranks(t->ranks, count_rank, t, host_factor, host_solve, &world);
    for (int r = 0; r < t->ranks; r++) {
        all += (double)t->received[r] / 2.0;
        busiest = fmax(busiest, (double)(t->sent[r] + t->received[r]) / 2.0);
    }
    for (int r = 0; r < t->ranks; r++) {
        const rlar_forecast *f = &t->forecast[r];
        if (fabs(all - f->iteration) > 0.01 * all ||
            fabs(busiest - f->iteration_busiest) > 0.01 * busiest)
            fail_msg("%s on %d ranks: %g and %g bytes, forecast %g and %g", t->method, t->ranks,
                     all, busiest, f->iteration, f->iteration_busiest);
        assert_true(f->distributed == (t->solve == RLAR_SOLVE_DISTRIBUTED));
        assert_true(f->moved > 0.0 && f->moved_busiest <= 2.0 * f->moved);
    }
}

/* What an iteration moves, counted, is what the forecast says, on every rank the same. */
static void test_traffic(void **state) {
    (void)state;
    static const char *const all[][3] = {
        {"rlar", "solver=paper iters=2 eps=1e-3", "solver=paper iters=4 eps=1e-3"},
        {"relsr", "iters=2", "iters=4"},
        {"alpr", "iters=1", "iters=3"},
        {"rlar", "solver=paper iters=2", "solver=paper iters=4"}, /* W is corrected */
    };
    const int which[] = {0, 0, 1, 2};
    const int64_t sizes[8] = {700, 90, 1270, 620, 680, 1300, 900, 400};
    int64_t small[40]; /* for the graph that has all pairs of a class */
    for (int k = 0; k < 40; k++)
        small[k] = 110 + k % 7;
    labelled s[3] = {shuffled(170, 60, 8, sizes), shuffled(171, 60, 40, small),
                     shuffled(172, 170, 2, sizes)};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (int ranks = 2; ranks <= 7; ranks += ranks < 4 ? 1 : 3) {
            traffic t = {.s = &s[which[i]], .ranks = ranks, .method = all[i][0]};
            t.fewer = all[i][1];
            t.more = all[i][2];
            t.solve = ranks % 2 ? RLAR_SOLVE_DISTRIBUTED : RLAR_SOLVE_REPLICATED;
            check_traffic(&t);
        }
    for (int i = 0; i < 3; i++)
        labelled_free(&s[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles),   cmocka_unit_test(test_fits),
        cmocka_unit_test(test_own_eps), cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_ridged),  cmocka_unit_test(test_hosts_that_fail),
        cmocka_unit_test(test_traffic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
