/* test_checkpoint.c - fits that go on from a file: the bits of one that was never stopped, on any
 * number of ranks; files that do not fit are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fitting.h"
#include "team.h"

typedef struct job {
    const labelled *s;
    const char *settings;
    char path[64];
    int64_t every;          /* 0: no checkpoint */
    int64_t stop, first, t; /* the iteration to stop in; the first that was told, the last */
    char told[256];         /* the last note */
    rlar_status status;     /* of rank 0, and */
    void *bytes;            /* its model */
    size_t size;
} job;

static int watch(void *user, const rlar_event *event) {
    job *j = user;
    if (event->kind != RLAR_EVENT_ITERATION)
        return 0;
    j->first = j->first > 0 ? j->first : event->done;
    j->t = event->done;
    return event->done == j->stop;
}

static void note(void *user, rlar_status status, const char *text) {
    job *j = user;
    (void)status;
    snprintf(j->told, sizeof j->told, "%s", text);
}

/* Rank 0 has read all samples. */
static void fit_rank(rlar_ctx *ctx, int rank, void *arg) {
    job *j = arg;
    rlar_data *part = NULL, *data = NULL;
    rlar_params *params = NULL;
    rlar_model *model = NULL;
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    o.checkpoint = j->every > 0 ? j->path : NULL;
    o.checkpoint_every = j->every;
    if (rank == 0)
        assert_int_equal(view_labelled(ctx, j->s, &part), RLAR_OK);
    assert_int_equal(rlar_data_share(ctx, &part, rank == 0, &data), RLAR_OK);
    assert_int_equal(rlar_params_new(ctx, "rlar", &params), RLAR_OK);
    set_params(ctx, params, j->settings);
    const rlar_status status = rlar_fit_own(ctx, &data, params, &o, &model, NULL);
    assert_null(data);
    if (rank == 0)
        j->status = status;
    if (rank == 0 && status >= 0) {
        void *bytes = NULL;
        assert_int_equal(rlar_model_save_bytes(ctx, model, &bytes, &j->size), RLAR_OK);
        j->bytes = realloc(j->bytes, j->size);
        memcpy(j->bytes, bytes, j->size);
        rlar_bytes_free(ctx, bytes);
    }
    rlar_model_free(model);
    rlar_params_free(params);
}

static void fit_alone(job *j, char *error) {
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    rlar_ctx *ctx = NULL;
    o.progress = watch;
    o.log = note;
    o.user = j;
    j->first = j->t = 0;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    fit_rank(ctx, 0, j);
    if (error)
        snprintf(error, 256, "%s", rlar_ctx_error(ctx));
    rlar_ctx_free(ctx);
}

static job job_of(const labelled *s, const char *settings) {
    job j = {.s = s, .settings = settings};
    snprintf(j.path, sizeof j.path, "/tmp/rlar-checkpoint-%ld", (long)getpid());
    unlink(j.path);
    return j;
}

static void job_end(job *j, job *whole) {
    unlink(j->path);
    free(j->bytes);
    free(whole->bytes);
}

static void assert_same_model(const job *a, const job *b) {
    assert_true(a->status >= 0 && a->status == b->status);
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->bytes, b->bytes, a->size);
}

/* Stopped in iteration `stop`, gone on; a checkpoint after every second one. */
static void stop_and_go_on(const labelled *s, const char *settings, int64_t stop) {
    job whole = job_of(s, settings), j = job_of(s, settings);
    fit_alone(&whole, NULL);
    assert_int_equal(access(whole.path, F_OK), -1);
    j.every = 2;
    j.stop = stop;
    fit_alone(&j, NULL);
    assert_int_equal(j.status, RLAR_E_CANCELLED);
    j.stop = 0;
    fit_alone(&j, NULL);
    assert_int_equal(j.first, (stop - 1) / 2 * 2 + 1);
    assert_int_equal(j.t, whole.t);
    assert_same_model(&j, &whole);
    job_end(&j, &whole);
}

static const int64_t SIZES[] = {150, 60, 190};

static void test_go_on(void **state) {
    (void)state;
    labelled s = clouds(3, 12, 3, SIZES);
    for (int64_t stop = 2; stop <= 5; stop++) {
        stop_and_go_on(&s, "solver=paper iters=6", stop);
        stop_and_go_on(&s, "solver=paper iters=6 search=local", stop);
        stop_and_go_on(&s, "solver=anneal iters=6 alpha=0.5", stop);
    }
    labelled_free(&s);
}

/* So many numbers that minimise is not at leisure. */
static void test_minimise(void **state) {
    (void)state;
    const int64_t sizes[] = {400, 300, 350};
    labelled s = clouds(5, 20, 3, sizes);
    for (int64_t stop = 2; stop <= 5; stop++) {
        stop_and_go_on(&s, "solver=minimise eps=1e-8", stop);
        stop_and_go_on(&s, "solver=minimise eps=1e-6 search=local beta=10", stop);
    }
    labelled_free(&s);
}

/* What five ranks have left, one, two and three go on from, and the other way round. */
static void on_other_ranks(const labelled *s, const char *settings, int from, int to) {
    job whole = job_of(s, settings), j = job_of(s, settings);
    ranks_world world;
    fit_alone(&whole, NULL);
    j.every = 4; /* of 7 iterations: the file that stays is of the fourth */
    on_ranks(from, fit_rank, &j, &world);
    assert_same_model(&j, &whole);
    struct stat before, after;
    assert_int_equal(stat(j.path, &before), 0);
    j.every = 100;
    on_ranks(to, fit_rank, &j, &world);
    assert_same_model(&j, &whole);
    fit_alone(&j, NULL);
    assert_int_equal(j.first, 5);
    assert_same_model(&j, &whole);
    assert_int_equal(stat(j.path, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    job_end(&j, &whole);
}

static void test_ranks(void **state) {
    (void)state;
    const int64_t sizes[] = {2100, 500, 700, 800, 600};
    labelled s = clouds(7, 6, 5, sizes);
    on_other_ranks(&s, "solver=paper iters=7", 5, 2);
    on_other_ranks(&s, "solver=paper iters=7 search=local", 2, 3);
    on_other_ranks(&s, "solver=minimise eps=1e-8 iters=7", 3, 2);
    labelled_free(&s);
}

/* Classes that lie on several ranks, on some other ranks, or on one. */
static void test_large_classes(void **state) {
    (void)state;
    const int64_t sizes[] = {4500, 100, 3300};
    labelled s = clouds(9, 5, 3, sizes);
    on_other_ranks(&s, "solver=paper iters=7", 4, 3);
    on_other_ranks(&s, "solver=anneal iters=7 search=exact k=4", 3, 5);
    on_other_ranks(&s, "solver=minimise eps=1e-8 iters=7", 5, 2);
    labelled_free(&s);
}

/* ---- Files that are not of this fit ---- */

static void refused(job *j, const char *why) {
    char error[256];
    fit_alone(j, error);
    assert_int_equal(j->status, RLAR_E_DATA);
    if (!strstr(error, why) || !strstr(error, j->path))
        fail_msg("'%s' does not say '%s'", error, why);
}

static void overwrite(const char *path, int64_t at, unsigned char with) {
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, (long)at, SEEK_SET);
    const int old = fgetc(f);
    fseek(f, (long)at, SEEK_SET);
    fputc(old ^ with, f);
    fclose(f);
}

static void test_other_fits(void **state) {
    (void)state;
    labelled s = clouds(3, 12, 3, SIZES);
    job whole = job_of(&s, "solver=paper iters=5"), j = job_of(&s, "solver=paper iters=5");
    fit_alone(&whole, NULL);
    j.every = 3;
    fit_alone(&j, NULL);
    j.settings = "solver=paper iters=5 alpha=0.2";
    refused(&j, "another fit");
    j.settings = whole.settings;
    s.x[7] += 1e-9;
    refused(&j, "another fit");
    s.x[7] -= 1e-9;
    fit_alone(&j, NULL);
    assert_same_model(&j, &whole);
    job_end(&j, &whole);
    labelled_free(&s);
}

static void test_damaged(void **state) {
    (void)state;
    labelled s = clouds(3, 12, 3, SIZES);
    job whole = job_of(&s, "solver=paper iters=5"), j = job_of(&s, "solver=paper iters=5");
    struct stat info;
    fit_alone(&whole, NULL);
    j.every = 3;
    fit_alone(&j, NULL);
    assert_int_equal(stat(j.path, &info), 0);
    for (int64_t at = 0; at < info.st_size; at += at < 80 ? 1 : 997) {
        overwrite(j.path, at, 16);
        refused(&j, "begin anew");
        overwrite(j.path, at, 16);
    }
    for (int64_t size = info.st_size - 1; size >= 0; size -= size > 100 ? 2003 : 7) {
        assert_int_equal(truncate(j.path, size), 0);
        refused(&j, "begin anew");
    }
    job_end(&j, &whole);
    labelled_free(&s);
}

/* With a number in place of another, and the checksum of that. */
static void falsify(const char *path, long at, const void *number, size_t size) {
    static unsigned char bytes[1 << 16];
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    const size_t length = fread(bytes, 1, sizeof bytes, f);
    assert_in_range(length, (size_t)at + size + 8, sizeof bytes - 1);
    memcpy(bytes + at, number, size);
    const uint64_t sum = rlar__crc64(0, bytes, length - 8);
    memcpy(bytes + length - 8, &sum, sizeof sum);
    rewind(f);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    fclose(f);
}

/* What no fit can have left is refused, whatever the checksum says. Neighbours begin behind W, b,
 * the objective and three counts. */
static void test_false_checksum(void **state) {
    (void)state;
    const int64_t sizes[] = {20, 12, 14}, rounds = 6, most = INT64_MAX;
    const double nan_number = NAN;
    const int32_t class_size = 20, negative = -1;
    const unsigned char two = 2;
    enum { W = 56, NEIGHBOURS = W + (12 + 1) * 3 * 8 + 8 + 4 + 8 + 8 };
    const struct {
        long at;
        const void *number;
        size_t size;
    } wrong[] = {{40, &rounds, 8},
                 {40, &most, 8},
                 {W, &nan_number, 8},
                 {W + 12 * 3 * 8, &nan_number, 8},
                 {NEIGHBOURS - 8, &most, 8},
                 {NEIGHBOURS, &class_size, 4},
                 {NEIGHBOURS, &negative, 4},
                 {NEIGHBOURS + 46 * 3 * 4, &nan_number, 8},
                 {NEIGHBOURS + 46 * 3 * 12, &two, 1}};
    labelled s = clouds(3, 12, 3, sizes);
    job whole = job_of(&s, "solver=paper iters=5 k=3"), j = job_of(&s, "solver=paper iters=5 k=3");
    fit_alone(&whole, NULL);
    j.every = 3;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        unlink(j.path);
        fit_alone(&j, NULL);
        assert_same_model(&j, &whole);
        falsify(j.path, wrong[i].at, wrong[i].number, wrong[i].size);
        refused(&j, "damaged");
    }
    job_end(&j, &whole);
    labelled_free(&s);
}

/* A folder that is not there: told, and the fit goes on. */
static void test_cannot_write(void **state) {
    (void)state;
    labelled s = clouds(3, 12, 3, SIZES);
    job whole = job_of(&s, "solver=paper iters=5"), j = job_of(&s, "solver=paper iters=5");
    fit_alone(&whole, NULL);
    snprintf(j.path, sizeof j.path, "/tmp/rlar-no-such-folder-%ld/file", (long)getpid());
    j.every = 5;
    fit_alone(&j, NULL);
    assert_same_model(&j, &whole);
    assert_non_null(strstr(j.told, "no checkpoint after iteration 5: "));
    assert_non_null(strstr(j.told, j.path));
    job_end(&j, &whole);
    labelled_free(&s);
}

/* ---- No memory ---- */

/* A fit of rank 0, or of one process, whose memory ends with iteration 2 and is back with 3. */
typedef struct poor {
    job *j;
    bool ended;
    int refused; /* allocations */
} poor;

static void *poor_take(void *user, size_t bytes) {
    poor *p = user;
    p->refused += p->ended;
    return p->ended ? NULL : malloc(bytes);
}

static void poor_give(void *user, void *memory) {
    (void)user;
    free(memory);
}

static int poor_watch(void *user, const rlar_event *event) {
    poor *p = user;
    if (event->kind == RLAR_EVENT_ITERATION)
        p->ended = event->done == 2;
    return 0;
}

static void poor_note(void *user, rlar_status status, const char *text) {
    note(((poor *)user)->j, status, text);
}

static void fit_poor(rlar_ctx *given, int rank, void *arg) {
    poor *p = arg;
    rlar_ctx *ctx = NULL;
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.alloc = poor_take;
    o.release = poor_give;
    o.progress = poor_watch;
    o.log = poor_note;
    o.alloc_user = o.user = p;
    if (rank > 0) {
        fit_rank(given, rank, p->j);
        return;
    }
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    if (given)
        assert_int_equal(rlar_ctx_join(ctx, given->team), RLAR_OK);
    fit_rank(ctx, rank, p->j);
    rlar_ctx_free(ctx);
}

/* No memory for the file after iteration 2: told, and the fit goes on, on all ranks; after
 * iteration 4 there is a checkpoint again. */
static void test_no_memory(void **state) {
    (void)state;
    const int64_t sizes[] = {2100, 500, 700, 800, 600};
    labelled s = clouds(7, 6, 5, sizes);
    for (int ranks = 1; ranks <= 3; ranks++) {
        job whole = job_of(&s, "solver=paper iters=4"), j = job_of(&s, "solver=paper iters=4");
        poor p = {.j = &j};
        ranks_world world;
        fit_alone(&whole, NULL);
        j.every = 2;
        if (ranks == 1)
            fit_poor(NULL, 0, &p);
        else
            on_ranks(ranks, fit_poor, &p, &world);
        assert_true(p.refused > 0);
        assert_same_model(&j, &whole);
        assert_non_null(strstr(j.told, "no checkpoint after iteration 2: "));
        assert_int_equal(access(j.path, F_OK), 0);
        job_end(&j, &whole);
    }
    labelled_free(&s);
}

/* A link to itself, a folder: told by the system or by us, and nothing is begun. */
static void test_cannot_read(void **state) {
    (void)state;
    labelled s = clouds(3, 12, 3, SIZES);
    job j = job_of(&s, "solver=paper iters=5");
    char error[256];
    j.every = 1;
    assert_int_equal(symlink(j.path, j.path), 0);
    fit_alone(&j, error);
    assert_int_equal(j.status, RLAR_E_IO);
    assert_non_null(strstr(error, ": cannot open the checkpoint: "));
    assert_int_equal(unlink(j.path), 0);
    assert_int_equal(mkdir(j.path, 0700), 0);
    refused(&j, "not a checkpoint");
    assert_int_equal(j.first, 0);
    assert_int_equal(rmdir(j.path), 0);
    labelled_free(&s);
}

static void test_unsupported(void **state) {
    (void)state;
    labelled s = clouds(3, 12, 3, SIZES);
    rlar_ctx *ctx = NULL;
    rlar_data *data = NULL;
    rlar_params *params = NULL;
    rlar_model *model = NULL;
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    o.checkpoint = "/tmp/rlar-checkpoint-none";
    assert_int_equal(rlar_ctx_new(NULL, &ctx), RLAR_OK);
    assert_int_equal(view_labelled(ctx, &s, &data), RLAR_OK);
    assert_int_equal(rlar_params_new(ctx, "lda", &params), RLAR_OK);
    assert_int_equal(rlar_fit(ctx, data, params, &o, &model, NULL), RLAR_E_ARG);
    o.checkpoint_every = -1;
    assert_int_equal(rlar_fit(ctx, data, NULL, &o, &model, NULL), RLAR_E_ARG);
    assert_int_equal(access(o.checkpoint, F_OK), -1);
    rlar_params_free(params);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
    labelled_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_go_on),          cmocka_unit_test(test_minimise),
        cmocka_unit_test(test_ranks),          cmocka_unit_test(test_large_classes),
        cmocka_unit_test(test_other_fits),     cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_false_checksum), cmocka_unit_test(test_cannot_write),
        cmocka_unit_test(test_cannot_read),    cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
