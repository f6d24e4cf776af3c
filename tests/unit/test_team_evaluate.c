/* test_team_evaluate.c - the fits of one evaluation over several ranks, which are threads here: the
 * results of one process, whoever makes the fits; one journal; one end for all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "eval/crew.h"
#include "fitting.h"
#include "team.h"

enum { C = 3, TRIALS = 3, MOST_METHODS = 4 };

static const char *const ALPHAS[] = {"0.001", "0.01", "0.1", "1", "1000000"};
static const char *const BETAS[] = {"0.01", "0.1", "1", "10", "100"};
static const char *const CLASSIFIERS[] = {"1nn", "centroid"};
static const char *const SCALINGS[] = {"zscore,rms", "none"};

/* One evaluation; every rank makes its data and parameters of it. */
typedef struct job {
    labelled s;
    const char *method[MOST_METHODS], *settings[MOST_METHODS];
    rlar_eval_spec spec; /* without methods and axes */
    int64_t axes;        /* of the four below */
    int threads;         /* of each rank */
    char journal[64];

    int stops;          /* the rank that cancels, */
    int64_t stop_after; /* rank 0 at so many fits, another at so many polls; 0: never */
    int poor;           /* the rank that has so little memory beside its data; -1: none */
    int64_t limit;
    int other; /* the rank that has other data; -1: none */
    rlar_status status[MOST_RANKS];
    char error[MOST_RANKS][1024];
    rlar_eval *eval[MOST_RANKS];
    rlar_ctx *ctx[MOST_RANKS]; /* that keep the results */
    int64_t done, known, total, polls[MOST_RANKS];
} job;

typedef struct listener {
    job *j;
    int rank;
    bool evaluates; /* no longer makes its data */
} listener;

static int listen_to(void *user, const rlar_event *event) {
    const listener *l = user;
    job *j = l->j;
    j->polls[l->rank] += l->evaluates;
    if (event->kind == RLAR_EVENT_FIT && l->rank == 0) {
        assert_true(event->done <= event->total && event->known <= event->done);
        j->done = event->done;
        j->known = event->known;
        j->total = event->total;
    }
    if (l->rank > 0)
        assert_int_equal(event->kind, RLAR_EVENT_POLL);
    return l->rank == j->stops && j->stop_after > 0 &&
           (l->rank == 0 ? j->done : j->polls[l->rank]) >= j->stop_after;
}

static rlar_status evaluate(rlar_ctx *ctx, job *j, const rlar_data *data, rlar_eval **out) {
    const rlar_axis axes[] = {{"rlar", "alpha", ALPHAS, 5},
                              {"rlar", "beta", BETAS, 5},
                              {NULL, "scale", SCALINGS, 2},
                              {NULL, "classifier", CLASSIFIERS, 2}};
    rlar_params *params[MOST_METHODS] = {NULL};
    rlar_eval_spec spec = j->spec;
    spec.size = sizeof spec;
    spec.methods = (const rlar_params *const *)params;
    spec.axes = axes;
    spec.n_axes = j->axes;
    spec.journal = j->journal[0] ? j->journal : NULL;
    for (; spec.n_methods < MOST_METHODS && j->method[spec.n_methods]; spec.n_methods++) {
        rlar_params **p = &params[spec.n_methods];
        assert_int_equal(rlar_params_new(ctx, j->method[spec.n_methods], p), RLAR_OK);
        set_params(ctx, *p, j->settings[spec.n_methods]);
    }
    const rlar_status status = rlar_evaluate(ctx, data, &spec, out);
    for (int64_t i = 0; i < spec.n_methods; i++)
        rlar_params_free(params[i]);
    return status;
}

/* team NULL: alone. */
static void run_one(job *j, int rank, const rlar_team *team) {
    listener l = {.j = j, .rank = rank};
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    rlar_data *data = NULL;
    o.threads = j->threads;
    o.progress = listen_to;
    o.user = &l;
    labelled s = j->s;
    assert_int_equal(rlar_ctx_new(&o, &j->ctx[rank]), RLAR_OK);
    rlar_ctx *ctx = j->ctx[rank];
    if (team)
        assert_int_equal(rlar_ctx_join(ctx, team), RLAR_OK);
    s.n -= team && rank == j->other;
    assert_int_equal(view_labelled(ctx, &s, &data), RLAR_OK);
    if (team && rank == j->poor)
        ctx->own_memory.limit = rlar_ctx_memory(ctx) + j->limit;
    l.evaluates = true;
    j->status[rank] = evaluate(ctx, j, data, &j->eval[rank]);
    snprintf(j->error[rank], sizeof j->error[rank], "%s", rlar_ctx_error(ctx));
    rlar_data_free(data);
}

static void run_rank(rlar_ctx *ctx, int rank, void *arg) {
    run_one(arg, rank, ctx->team);
}

static void run(job *j, int ranks) {
    ranks_world world;
    j->done = j->known = j->total = 0;
    memset(j->polls, 0, sizeof j->polls);
    if (ranks == 0)
        run_one(j, 0, NULL);
    else
        on_ranks(ranks, run_rank, j, &world);
}

static void release(job *j) {
    for (int r = 0; r < MOST_RANKS; r++) {
        rlar_eval_free(j->eval[r]);
        rlar_ctx_free(j->ctx[r]);
        j->eval[r] = NULL;
        j->ctx[r] = NULL;
    }
}

static job job_open(rlar_tune tune) {
    const int64_t sizes[C] = {11, 12, 13};
    job j = {.s = clouds(77, 6, C, sizes), .axes = 4, .threads = 1, .poor = -1, .other = -1};
    j.method[0] = "rlar";
    j.settings[0] = "solver=paper iters=3";
    j.spec.per_class = 6;
    j.spec.trials = TRIALS;
    j.spec.seed = 5;
    j.spec.tune = tune;
    j.spec.tune_folds = 2;
    return j;
}

static void job_close(job *j) {
    if (j->journal[0])
        unlink(j->journal);
    release(j);
    labelled_free(&j->s);
}

static void same_numbers(const double *a, const double *b, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        assert_true(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])));
}

/* All but the times. */
static void same_method(const rlar_eval_result *a, const rlar_eval_result *b) {
    const size_t cells = (size_t)a->cells * sizeof(int64_t);
    assert_string_equal(a->method, b->method);
    assert_true(a->trials == b->trials && a->cells == b->cells && a->failed == b->failed);
    assert_true(a->n_selected == b->n_selected && a->train_min == b->train_min);
    same_numbers(a->accuracy, b->accuracy, a->trials);
    same_numbers(a->balanced, b->balanced, a->trials);
    same_numbers(a->macro_f1, b->macro_f1, a->trials);
    same_numbers(&a->accuracy_mean, &b->accuracy_mean, 1);
    same_numbers(a->cell_accuracy, b->cell_accuracy, a->cells);
    assert_memory_equal(a->confusion, b->confusion, C * C * sizeof(int64_t));
    assert_memory_equal(a->cell_trials, b->cell_trials, cells);
    assert_memory_equal(a->cell_failures, b->cell_failures, cells);
    assert_memory_equal(a->cell_whole, b->cell_whole, cells);
    assert_memory_equal(a->selected, b->selected, (size_t)a->n_selected * sizeof(int64_t));
    assert_int_equal(a->failure != NULL, b->failure != NULL);
    if (a->failure)
        assert_string_equal(a->failure, b->failure);
}

static void same_results(const rlar_eval *a, const rlar_eval *b) {
    assert_int_equal(rlar_eval_count(a), rlar_eval_count(b));
    for (int64_t i = 0; i < rlar_eval_count(a); i++) {
        rlar_eval_result one = RLAR_INIT(rlar_eval_result), two = one;
        assert_int_equal(rlar_eval_get(a, i, &one), RLAR_OK);
        assert_int_equal(rlar_eval_get(b, i, &two), RLAR_OK);
        same_method(&one, &two);
    }
}

static void all_as(const job *j, int ranks, const job *alone) {
    for (int r = 0; r < ranks; r++) {
        if (j->status[r] < 0)
            fail_msg("rank %d of %d: %s", r, ranks, j->error[r]);
        same_results(j->eval[r], alone->eval[0]);
    }
    assert_true(j->done == alone->done && j->total == alone->total && j->done == j->total);
}

/* One process, then 1 to 5 ranks with 1 and 2 threads. */
static void compare(job *j) {
    job alone = *j;
    run(&alone, 0);
    if (alone.status[0] < 0)
        fail_msg("%s", alone.error[0]);
    for (int ranks = 1; ranks <= 5; ranks++) {
        j->threads = 1 + ranks % 2;
        run(j, ranks);
        all_as(j, ranks, &alone);
        release(j);
    }
    release(&alone);
}

/* ---- The results ---- */

static void test_results(void **state) {
    (void)state;
    for (int tune = RLAR_TUNE_NONE; tune <= RLAR_TUNE_ORACLE; tune++)
        for (int kind = 0; kind < 4; kind++) {
            job j = job_open((rlar_tune)tune);
            j.spec.coarse = kind % 2;
            j.spec.race = kind / 2;
            compare(&j);
            job_close(&j);
        }
}

static void test_paths(void **state) {
    (void)state;
    for (int race = 0; race < 2; race++)
        for (int tune = RLAR_TUNE_CV; tune <= RLAR_TUNE_ORACLE; tune++) {
            job j = job_open((rlar_tune)tune);
            j.settings[0] = "solver=minimise iters=3";
            j.spec.race = race;
            compare(&j);
            job_close(&j);
        }
}

/* Also those that are not distributed: a fit is on one rank. */
static void test_methods(void **state) {
    (void)state;
    for (int tune = RLAR_TUNE_NONE; tune <= RLAR_TUNE_ORACLE; tune++) {
        job j = job_open((rlar_tune)tune);
        j.method[1] = "lda", j.settings[1] = "";
        j.method[2] = "lfda", j.settings[2] = "";
        j.method[3] = "rslda", j.settings[3] = "";
        compare(&j);
        job_close(&j);
    }
}

/* Maps that are zero are refused where something is chosen: some cells fail, or all. */
static void test_failures(void **state) {
    (void)state;
    for (int tune = RLAR_TUNE_CV; tune <= RLAR_TUNE_ORACLE; tune++)
        for (int all = 0; all < 2; all++) {
            job j = job_open((rlar_tune)tune);
            j.settings[0] = all ? "solver=minimise iters=3 eps=1e-8 alpha=1e6"
                                : "solver=minimise iters=3 eps=1e-8";
            j.method[1] = "lda", j.settings[1] = ""; /* which has no trouble */
            j.axes = all ? 0 : 1;
            compare(&j);
            run(&j, 2);
            rlar_eval_result r = RLAR_INIT(rlar_eval_result);
            assert_int_equal(rlar_eval_get(j.eval[1], 0, &r), RLAR_OK);
            assert_int_equal(r.failed, 0);
            assert_int_equal(r.cell_failures[r.cells - 1], TRIALS);
            job_close(&j);
        }
}

/* ---- One journal ---- */

/* Records of the file: a head of 24 bytes, then 64 each, whose last two words say how many bytes or
 * mistakes follow. */
static int64_t records(const char *path) {
    int64_t count = 0, word[8];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 24, SEEK_SET), 0);
    for (; fread(word, sizeof word, 1, f) == 1; count++)
        assert_int_equal(fseek(f, word[7] * (word[6] ? 1 : 8), SEEK_CUR), 0);
    fclose(f);
    return count;
}

/* Stopped again and again and resumed with other numbers of ranks: the results of one process; what
 * is in the journal is not fitted again, what is fitted is in it. */
static void resume(const char *settings, rlar_tune tune, int race) {
    job j = job_open(tune);
    j.settings[0] = settings;
    j.spec.race = race;
    j.axes = 3; /* without classifiers, which are fitted together or not at all */
    job alone = j;
    run(&alone, 0);
    snprintf(j.journal, sizeof j.journal, "/tmp/rlar-team-%ld-XXXXXX", (long)getpid());
    close(mkstemp(j.journal));
    unlink(j.journal);
    for (int turn = 0; turn < 6; turn++) {
        const int ranks = 1 + turn * 2 % 5;
        j.threads = 1 + turn % 2;
        j.stop_after = 1 + 10 * turn;
        run(&j, ranks);
        for (int r = 0; r < ranks; r++)
            assert_int_equal(j.status[r], RLAR_E_CANCELLED);
        release(&j);
    }
    const int64_t before = records(j.journal);
    assert_true(before >= 50);
    j.stop_after = 0;
    run(&j, 3);
    all_as(&j, 3, &alone);
    const int64_t after = records(j.journal);
    if (strstr(settings, "paper") && tune == RLAR_TUNE_ORACLE) /* no fit needs another */
        assert_int_equal(j.done - j.known, after - before);
    for (int ranks = 0; ranks <= 4; ranks++) { /* 0: without a team */
        release(&j);
        run(&j, ranks);
        all_as(&j, ranks ? ranks : 1, &alone);
        assert_int_equal(j.known, j.done);
        assert_int_equal(records(j.journal), after);
    }
    release(&alone);
    job_close(&j);
}

static void test_journal(void **state) {
    (void)state;
    for (int tune = RLAR_TUNE_CV; tune <= RLAR_TUNE_ORACLE; tune++) {
        resume("solver=paper iters=3", (rlar_tune)tune, 0);
        resume("solver=paper iters=3", (rlar_tune)tune, 1);
        resume("solver=minimise iters=3", (rlar_tune)tune, 0);
    }
}

/* ---- One end ---- */

static void all_fail(job *j, int ranks, rlar_status status, const char *text) {
    for (int r = 0; r < ranks; r++) {
        assert_int_equal(j->status[r], status);
        if (!strstr(j->error[r], text))
            fail_msg("rank %d of %d: \"%s\" does not say \"%s\"", r, ranks, j->error[r], text);
    }
    release(j);
}

/* Wherever the memory of one rank ends, all end; with enough of it, all is as ever. A rank that
 * came too late to get a fit needs little, hence more than one success. Less than the first limit
 * ends a rank before it meets the others, whose host would have to end them (docs/decisions.md 77).
 */
static void test_memory(void **state) {
    (void)state;
    for (int poor = 0; poor < 3; poor++) {
        job j = job_open(RLAR_TUNE_ORACLE), alone = j;
        int failed = 0, went_well = 0;
        j.axes = 2;
        alone.axes = 2;
        j.poor = poor;
        run(&alone, 0);
        for (double limit = 20000; went_well < 3; limit *= 1.1) {
            char text[16] = "";
            j.limit = (int64_t)limit;
            run(&j, 3);
            if (poor > 0)
                snprintf(text, sizeof text, "rank %d: ", poor);
            if (j.status[poor] < 0) {
                all_fail(&j, 3, RLAR_E_NOMEM, text);
                failed++;
            } else {
                all_as(&j, 3, &alone);
                release(&j);
                went_well++;
            }
        }
        assert_true(failed > 3);
        release(&alone);
        job_close(&j);
    }
}

static void test_cancel(void **state) {
    (void)state;
    for (int ranks = 2; ranks <= 4; ranks++) {
        job j = job_open(RLAR_TUNE_ORACLE);
        j.stops = ranks - 1;
        j.stop_after = 1;
        char text[16];
        snprintf(text, sizeof text, "rank %d: ", ranks - 1);
        run(&j, ranks);
        all_fail(&j, ranks, RLAR_E_CANCELLED, text);
        job_close(&j);
    }
}

/* What one rank cannot begin with, and what ranks must have in common. */
static void test_beginning(void **state) {
    (void)state;
    job j = job_open(RLAR_TUNE_NONE);
    j.spec.trials = -1;
    run(&j, 3);
    all_fail(&j, 3, RLAR_E_ARG, "trials is -1");
    j.spec.trials = TRIALS;
    j.other = 2;
    run(&j, 4);
    all_fail(&j, 4, RLAR_E_ARG, "rank 2 has other samples");
    j.other = -1;
    snprintf(j.journal, sizeof j.journal, "/nowhere/at/all");
    run(&j, 3);
    all_fail(&j, 3, RLAR_E_IO, "cannot open");
    j.journal[0] = '\0';
    job_close(&j);
}

static int refuse(void *user, int to, const void *bytes, size_t count) {
    (void)user, (void)to, (void)bytes, (void)count;
    return 1;
}

static int refuse_move(void *user, int from, void *bytes, size_t count) {
    (void)user, (void)from, (void)bytes, (void)count;
    return 1;
}

static int refuse_ready(void *user, int from) {
    (void)user, (void)from;
    return -1;
}

static void test_lost_ranks(void **state) {
    (void)state;
    for (int rank = 0; rank < 2; rank++) {
        job j = job_open(RLAR_TUNE_NONE);
        rlar_team team = {.size = sizeof team,
                          .rank = rank,
                          .ranks = 2,
                          .send = refuse,
                          .receive = refuse_move,
                          .broadcast = refuse_move};
        run_one(&j, rank, &team);
        assert_int_equal(j.status[rank], RLAR_E_UNSUPPORTED);
        assert_non_null(strstr(j.error[rank], "`ready`"));
        release(&j);
        team.ready = refuse_ready;
        run_one(&j, rank, &team);
        assert_int_equal(j.status[rank], RLAR_E_IO);
        assert_non_null(strstr(j.error[rank], rank ? "rank 1: sending to rank 0 failed"
                                                   : "rank 0: receiving from rank 1 failed"));
        job_close(&j);
    }
}

/* ---- Who does what: schedules whose items know where they are ---- */

enum { UNITS = 30, ITEMS = 4 };

typedef struct play {
    int ranks, threads;
    int slow;     /* the rank whose first item waits until all others have ended; -1: none */
    int fails;    /* the rank whose item fails once the slow one is there; -1: none */
    bool cancels; /* it is cancelled */
    int skips;    /* units without items, every so many; 0: none */
    atomic_int ran[UNITS][ITEMS], stored[UNITS][ITEMS], by[MOST_RANKS], ended, waits;
    atomic_int opened[MOST_RANKS], closed[MOST_RANKS];
    rlar_status status[MOST_RANKS];
    char error[MOST_RANKS][256];
} play;

/* One rank in it. */
typedef struct player {
    play *p;
    int rank;
    bool helps;
} player;

typedef struct open_unit {
    player *me;
    int64_t unit;
} open_unit;

static int64_t play_items(const void *arg, int64_t unit) {
    const player *me = arg;
    return me->p->skips && unit % me->p->skips == 0 ? 0 : ITEMS;
}

static rlar_status play_open(rlar_ctx *ctx, void *arg, int64_t unit, void **shared) {
    player *me = arg;
    open_unit *u = NULL;
    RLAR_TRY(rlar__alloc(ctx, 1, sizeof *u, "a unit", &u));
    *u = (open_unit){me, unit};
    atomic_fetch_add(&me->p->opened[me->rank], 1);
    *shared = u;
    return RLAR_OK;
}

static void play_close(void *shared) {
    open_unit *u = shared;
    atomic_fetch_add(&u->me->p->closed[u->me->rank], 1);
    rlar__free(u);
}

static void pause_a_little(void) {
    const struct timespec time = {.tv_nsec = 1000000};
    nanosleep(&time, NULL);
}

static int all_items(const play *p) {
    return (UNITS - (p->skips ? (UNITS + p->skips - 1) / p->skips : 0)) * ITEMS;
}

/* As a long fit does, it polls; 20 seconds are long enough for any machine. */
static rlar_status wait_for_the_others(rlar_ctx *ctx, play *p) {
    const int most = all_items(p) - (int)rlar__crew_ahead(p->threads); /* others may wait here */
    atomic_store(&p->waits, 1);
    for (int i = 0; i < 20000 && atomic_load(&p->ended) < most; i++) {
        pause_a_little();
        RLAR_TRY(rlar__poll(ctx));
    }
    return atomic_load(&p->ended) >= most ? RLAR_OK
                                          : rlar__fail(ctx, RLAR_E_INTERNAL, "waited in vain");
}

static rlar_status play_run(rlar_ctx *ctx, void *arg, void *shared, int64_t item) {
    player *me = arg;
    play *p = me->p;
    const open_unit *u = shared;
    rlar_status status = RLAR_OK;
    assert_ptr_equal(u->me, me);
    const int before = atomic_fetch_add(&p->by[me->rank], 1);
    atomic_fetch_add(&p->ran[u->unit][item], 1);
    if (p->fails == me->rank && atomic_load(&p->waits))
        return p->cancels ? (atomic_store(ctx->cancel, 1), RLAR_OK)
                          : rlar__fail(ctx, RLAR_E_NUMERIC, "no more");
    if (p->slow == me->rank && before == 0)
        status = wait_for_the_others(ctx, p);
    else
        pause_a_little();
    atomic_fetch_add(&p->ended, 1);
    if (!me->helps && status >= 0)
        atomic_fetch_add(&p->stored[u->unit][item], 1);
    return status;
}

static rlar_status play_task(rlar_ctx *ctx, void *arg, int64_t unit, int64_t item,
                             rlar_message *message) {
    int64_t sum = unit * 100 + item;
    (void)arg;
    RLAR_TRY(rlar__message_carry(ctx, message, &sum, sizeof sum));
    assert_int_equal(sum, unit * 100 + item);
    return RLAR_OK;
}

static rlar_status play_outcome(rlar_ctx *ctx, void *arg, int64_t unit, int64_t item,
                                rlar_message *message) {
    player *me = arg;
    RLAR_TRY(play_task(ctx, arg, unit, item, message));
    if (message->reading)
        atomic_fetch_add(&me->p->stored[unit][item], 1);
    return RLAR_OK;
}

static void play_rank(rlar_ctx *given, int rank, void *arg) {
    play *p = arg;
    player me = {p, rank, rank > 0};
    rlar_crew *crew = NULL;
    rlar_ctx *ctx = NULL;
    rlar_message results = {0};
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.threads = p->threads;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    assert_int_equal(rlar__crew_new(ctx, given->team, &crew), RLAR_OK);
    assert_int_equal(rlar__crew_meet(ctx, crew, RLAR_OK, (rlar_key){{0}}), RLAR_OK);
    const rlar_schedule schedule = {.units = UNITS,
                                    .items = play_items,
                                    .open = play_open,
                                    .run = play_run,
                                    .close = play_close,
                                    .arg = &me,
                                    .crew = crew,
                                    .task = play_task,
                                    .outcome = play_outcome};
    if (me.helps)
        p->status[rank] = rlar__schedule_help(ctx, &schedule, 1);
    else
        p->status[rank] =
            rlar__crew_dismiss(ctx, crew, rlar__schedule_run(ctx, &schedule), &results);
    snprintf(p->error[rank], sizeof p->error[rank], "%s", rlar_ctx_error(ctx));
    rlar__crew_free(crew);
    rlar_ctx_rest(ctx);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

static void run_play(play *p) {
    ranks_world world;
    on_ranks(p->ranks, play_rank, p, &world);
    for (int r = 0; r < p->ranks; r++)
        assert_int_equal(atomic_load(&p->opened[r]), atomic_load(&p->closed[r]));
}

/* Every item once, and every rank has some, also while one of them is busy all the time. */
static void test_sharing(void **state) {
    (void)state;
    for (int ranks = 2; ranks <= 5; ranks++)
        for (int slow = -1; slow < 2; slow++) {
            play p = {.ranks = ranks, .threads = 1 + ranks % 2, .slow = slow, .fails = -1};
            p.skips = ranks == 4 ? 3 : 0;
            run_play(&p);
            for (int r = 0; r < ranks; r++) {
                if (p.status[r] < 0)
                    fail_msg("rank %d of %d: %s", r, ranks, p.error[r]);
                assert_true(atomic_load(&p.by[r]) > 0);
            }
            for (int u = 0; u < UNITS; u++)
                for (int i = 0; i < ITEMS; i++) {
                    const int want = !(p.skips && u % p.skips == 0);
                    assert_int_equal(atomic_load(&p.ran[u][i]), want);
                    assert_int_equal(atomic_load(&p.stored[u][i]), want);
                }
        }
}

/* An item that fails, or is cancelled, ends all, also those that are in the middle of a long one.
 */
static void test_failing_items(void **state) {
    (void)state;
    for (int round = 0; round < 6; round++) {
        const int fails = round % 3;
        play p = {.ranks = 3, .threads = 1, .slow = (fails + 1) % 3, .fails = fails};
        p.cancels = round >= 3;
        run_play(&p);
        for (int r = 0; r < 3; r++) {
            const char *what = p.cancels ? "cancelled on request" : "no more";
            char text[64];
            snprintf(text, sizeof text, "rank %d: %s", fails, what);
            assert_int_equal(p.status[r], p.cancels ? RLAR_E_CANCELLED : RLAR_E_NUMERIC);
            assert_string_equal(p.error[r], fails ? text : what);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sharing),    cmocka_unit_test(test_failing_items),
        cmocka_unit_test(test_results),    cmocka_unit_test(test_paths),
        cmocka_unit_test(test_methods),    cmocka_unit_test(test_failures),
        cmocka_unit_test(test_journal),    cmocka_unit_test(test_memory),
        cmocka_unit_test(test_cancel),     cmocka_unit_test(test_beginning),
        cmocka_unit_test(test_lost_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
