/* test_resume.c - evaluations that go on from a journal, searches from coarse to fine and as a
 * race, and splits that the caller has made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eval/journal.h"
#include "fitting.h"

enum { C = 3, TRIALS = 3, AXIS = 7 };

static const char *const ALPHAS[] = {"0.001", "0.01", "0.05", "0.1", "0.5", "1", "5"};
static const char *const BETAS[] = {"0.001", "0.01", "0.1", "1", "10", "100", "1000"};
static const char *const CLASSIFIERS[] = {"1nn", "centroid"};

typedef struct world {
    labelled s;
    rlar_ctx *ctx;
    rlar_data *data;
    rlar_params *params;
    const rlar_params *method;
    rlar_axis axes[3];
    rlar_eval_spec spec;
    char journal[64];
    int64_t fits, stop_after; /* counted by the callback, which cancels at the second */
    int64_t known;            /* of these, without fitting */
} world;

static int count_fits(void *user, const rlar_event *event) {
    world *w = user;
    if (event->kind == RLAR_EVENT_FIT) {
        assert_true(event->known >= 0 && event->known <= event->done);
        assert_true(event->done <= event->total);
        w->fits = event->done;
        w->known = event->known;
    }
    return w->stop_after > 0 && w->fits >= w->stop_after;
}

static void world_open(world *w, const char *settings, rlar_tune tune) {
    const int64_t sizes[C] = {11, 12, 13};
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    *w = (world){.s = clouds(77, 6, C, sizes)};
    o.threads = 2;
    o.progress = count_fits;
    o.user = w;
    assert_int_equal(rlar_ctx_new(&o, &w->ctx), RLAR_OK);
    assert_int_equal(view_labelled(w->ctx, &w->s, &w->data), RLAR_OK);
    assert_int_equal(rlar_params_new(w->ctx, "rlar", &w->params), RLAR_OK);
    set_params(w->ctx, w->params, settings);
    w->method = w->params;
    w->axes[0] = (rlar_axis){NULL, "alpha", ALPHAS, AXIS};
    w->axes[1] = (rlar_axis){NULL, "beta", BETAS, AXIS};
    w->axes[2] = (rlar_axis){NULL, "classifier", CLASSIFIERS, 2};
    w->spec = RLAR_INIT(rlar_eval_spec);
    w->spec.methods = &w->method;
    w->spec.n_methods = 1;
    w->spec.per_class = 6;
    w->spec.trials = TRIALS;
    w->spec.seed = 5;
    w->spec.tune = tune;
    w->spec.tune_folds = 2;
    w->spec.axes = w->axes;
    w->spec.n_axes = 3;
    snprintf(w->journal, sizeof w->journal, "/tmp/rlar-resume-%ld-XXXXXX", (long)getpid());
    close(mkstemp(w->journal));
}

static void world_close(world *w) {
    unlink(w->journal);
    rlar_params_free(w->params);
    rlar_data_free(w->data);
    rlar_ctx_free(w->ctx);
    labelled_free(&w->s);
}

static rlar_eval *evaluate(world *w, rlar_eval_result *r) {
    rlar_eval *eval = NULL;
    if (rlar_evaluate(w->ctx, w->data, &w->spec, &eval) < 0)
        fail_msg("%s", rlar_ctx_error(w->ctx));
    *r = RLAR_INIT(rlar_eval_result);
    assert_int_equal(rlar_eval_get(eval, 0, r), RLAR_OK);
    return eval;
}

static void assert_same_results(const rlar_eval_result *a, const rlar_eval_result *b) {
    assert_int_equal(a->cells, b->cells);
    assert_memory_equal(a->accuracy, b->accuracy, TRIALS * sizeof(double));
    assert_memory_equal(a->balanced, b->balanced, TRIALS * sizeof(double));
    assert_memory_equal(a->macro_f1, b->macro_f1, TRIALS * sizeof(double));
    assert_memory_equal(a->confusion, b->confusion, C * C * sizeof(int64_t));
    assert_memory_equal(a->cell_trials, b->cell_trials, (size_t)a->cells * sizeof(int64_t));
    assert_memory_equal(a->cell_whole, b->cell_whole, (size_t)a->cells * sizeof(int64_t));
    for (int64_t i = 0; i < a->cells; i++)
        assert_true(a->cell_accuracy[i] == b->cell_accuracy[i] ||
                    (isnan(a->cell_accuracy[i]) && isnan(b->cell_accuracy[i])));
    assert_memory_equal(a->selected, b->selected, (size_t)a->n_selected * sizeof(int64_t));
}

static int64_t file_size(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

/* ---- The journal ---- */

/* Without a journal, with one, stopped after so many fits and gone on, and once more when all is
 * there: the same results; the last adds nothing. */
static void go_on(const char *settings, rlar_tune tune, int coarse, int race) {
    world w;
    world_open(&w, settings, tune);
    rlar_eval_result plain, again;
    w.spec.coarse = coarse;
    w.spec.race = race;
    rlar_eval *first = evaluate(&w, &plain), *eval = NULL;
    assert_true(w.known < w.fits);
    w.spec.journal = w.journal;
    for (int64_t stop = 1; stop < 400; stop += 37) {
        w.stop_after = stop;
        w.fits = 0;
        const rlar_status status = rlar_evaluate(w.ctx, w.data, &w.spec, &eval);
        assert_true(status == RLAR_E_CANCELLED || status == RLAR_OK);
        rlar_eval_free(status == RLAR_OK ? eval : NULL);
    }
    w.stop_after = 0;
    eval = evaluate(&w, &again);
    assert_same_results(&plain, &again);
    rlar_eval_free(eval);
    const int64_t size = file_size(w.journal);
    eval = evaluate(&w, &again);
    assert_same_results(&plain, &again);
    assert_true(again.fit_seconds > 0.0); /* those of the fits that were made */
    assert_int_equal(file_size(w.journal), size);
    assert_int_equal(w.known, w.fits);
    rlar_eval_free(eval);
    rlar_eval_free(first);
    world_close(&w);
}

static void test_go_on(void **state) {
    (void)state;
    for (int coarse = 0; coarse < 2; coarse++)
        for (int tune = RLAR_TUNE_CV; tune <= RLAR_TUNE_ORACLE; tune++) {
            go_on("solver=paper iters=3", (rlar_tune)tune, coarse, 0);
            go_on("solver=paper iters=3", (rlar_tune)tune, coarse, 1);
            go_on("solver=minimise iters=3", (rlar_tune)tune, coarse, coarse); /* along a path */
        }
}

/* Another seed, another parameter, other data: nothing of it is taken from the journal. */
static void test_other_fits_are_not_taken(void **state) {
    (void)state;
    world w;
    rlar_eval_result r;
    world_open(&w, "iters=3", RLAR_TUNE_NONE);
    w.spec.n_axes = 0;
    w.spec.journal = w.journal;
    rlar_eval_free(evaluate(&w, &r));
    const int64_t once = file_size(w.journal);
    w.spec.classifier = "centroid";
    rlar_eval_free(evaluate(&w, &r));
    const int64_t twice = file_size(w.journal);
    assert_true(twice > once);
    w.spec.scale = "zscore";
    rlar_eval_free(evaluate(&w, &r));
    const int64_t thrice = file_size(w.journal);
    assert_true(thrice > twice);
    w.spec.seed = 6;
    rlar_eval_free(evaluate(&w, &r));
    assert_true(file_size(w.journal) > thrice);
    const int64_t more = file_size(w.journal);
    ((double *)w.s.x)[0] += 1e-9;
    rlar_eval_free(evaluate(&w, &r));
    assert_true(file_size(w.journal) > more);
    const int64_t last = file_size(w.journal);
    w.spec.fill = 1; /* where something is missing that is another fit */
    rlar_eval_free(evaluate(&w, &r));
    assert_true(file_size(w.journal) > last);
    world_close(&w);
}

/* A fit is what it was made of, not what for: the cell of a preset is not fitted again in a search.
 */
static void test_preset_in_the_grid(void **state) {
    (void)state;
    world w;
    rlar_eval_result preset, plain, r;
    world_open(&w, "solver=paper iters=3 alpha=0.1 beta=1", RLAR_TUNE_ORACLE);
    w.spec.n_axes = 2;
    rlar_eval *alone = evaluate(&w, &plain);
    w.spec.journal = w.journal;
    w.spec.tune = RLAR_TUNE_NONE;
    rlar_eval *first = evaluate(&w, &preset);
    const int64_t size = file_size(w.journal);
    w.spec.tune = RLAR_TUNE_ORACLE;
    rlar_eval *search = evaluate(&w, &r);
    assert_int_equal(w.known, 2 * TRIALS); /* the preset, and what the search kept for the end */
    assert_same_results(&plain, &r);
    rlar_eval_free(search);
    unlink(w.journal); /* and the other way round */
    search = evaluate(&w, &r);
    assert_true(file_size(w.journal) > size);
    w.spec.tune = RLAR_TUNE_NONE;
    rlar_eval_free(evaluate(&w, &r));
    assert_int_equal(w.known, TRIALS);
    assert_memory_equal(preset.confusion, r.confusion, C * C * sizeof(int64_t));
    rlar_eval_free(search);
    rlar_eval_free(first);
    rlar_eval_free(alone);
    world_close(&w);
}

/* A zero map counts where nothing is chosen and is refused where something is: in either order the
 * journal does not take one for the other. */
static void test_zero_maps_are_told_apart(void **state) {
    (void)state;
    for (int order = 0; order < 2; order++) {
        world w;
        rlar_eval_result r;
        world_open(&w, "solver=minimise iters=3 eps=1e-8 alpha=1e6", RLAR_TUNE_NONE);
        static const char *const huge[] = {"1000000", "0.1"};
        w.axes[0] = (rlar_axis){NULL, "alpha", huge, 2};
        w.spec.n_axes = 1;
        w.spec.journal = w.journal;
        for (int turn = 0; turn < 4; turn++) {
            const bool chosen = (turn + order) % 2;
            w.spec.tune = chosen ? RLAR_TUNE_ORACLE : RLAR_TUNE_NONE;
            rlar_eval *eval = evaluate(&w, &r);
            if (chosen) {
                assert_true(isnan(r.cell_accuracy[0]) && r.cell_failures[0] == TRIALS);
                assert_int_equal(r.cell_failures[1], 0);
                assert_int_equal(r.selected[0], 1);
            } else {
                assert_int_equal(r.failed, 0);
                assert_true(r.accuracy[0] < 0.9);
            }
            assert_int_equal(w.known == w.fits, turn > 1);
            rlar_eval_free(eval);
        }
        world_close(&w);
    }
}

static void append(const char *path, const void *bytes, size_t size) {
    FILE *f = fopen(path, "ab");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

/* Cut off anywhere, or with a damaged byte: what is whole before it is used, the rest is made. */
static void test_broken_end(void **state) {
    (void)state;
    world w;
    rlar_eval_result plain, r;
    world_open(&w, "iters=3", RLAR_TUNE_NONE);
    w.spec.n_axes = 0;
    rlar_eval *first = evaluate(&w, &plain);
    w.spec.journal = w.journal;
    rlar_eval_free(evaluate(&w, &r));
    const int64_t size = file_size(w.journal);
    for (int64_t cut = size - 1; cut >= 0; cut -= 5) /* at last into the head */ {
        assert_int_equal(truncate(w.journal, (off_t)cut), 0);
        rlar_eval *eval = evaluate(&w, &r);
        assert_same_results(&plain, &r);
        rlar_eval_free(eval);
        assert_int_equal(file_size(w.journal), size);
    }
    const char noise[200] = {1, 2, 3};
    append(w.journal, noise, sizeof noise);
    rlar_eval *eval = evaluate(&w, &r);
    assert_same_results(&plain, &r);
    rlar_eval_free(eval);
    assert_int_equal(file_size(w.journal), size);
    FILE *f = fopen(w.journal, "r+b");
    fseek(f, 24 + 40, SEEK_SET);
    fputc(77, f);
    fclose(f);
    eval = evaluate(&w, &r);
    assert_same_results(&plain, &r);
    rlar_eval_free(eval);
    rlar_eval_free(first);
    world_close(&w);
}

static void flip(const char *path, int64_t at) {
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    const int byte = fgetc(f);
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 255, f), byte ^ 255);
    assert_int_equal(fclose(f), 0);
}

/* Eight records of which every third has the text of a failure, and every other mistakes. */
enum { RECORDS = 8, HEAD_BYTES = 24, RECORD_BYTES = 64 };

static rlar_key key_of(int64_t i) {
    return rlar__key_add((rlar_key){{0}}, &i, sizeof i);
}

/* Returns where each begins and where the last ends. */
static void write_records(rlar_ctx *ctx, const char *path, int64_t start[RECORDS + 1]) {
    rlar_journal *j = NULL;
    rlar_mistake wrong[RECORDS] = {{0, 1}, {1, 0}, {2, 1}, {0, 2}, {0, 1}, {1, 2}, {2, 0}, {1, 0}};
    unlink(path);
    assert_int_equal(rlar__journal_open(ctx, path, &j), RLAR_OK);
    for (int i = 0; i < RECORDS; i++) {
        start[i] = file_size(path);
        const rlar_outcome outcome = {.accuracy = 0.125 * i,
                                      .failure = i % 3 == 2 ? (char *)"no inverse" : NULL,
                                      .wrong = wrong,
                                      .n_wrong = i % 3 == 2 ? 0 : i};
        assert_int_equal(rlar__journal_add(ctx, j, key_of(i), &outcome), RLAR_OK);
    }
    start[RECORDS] = file_size(path);
    rlar__journal_close(j);
}

/* Opening twice: the second finds the file as the first left it. Which records are there. */
static unsigned records_in(rlar_ctx *ctx, const char *path) {
    unsigned found[2] = {0};
    int64_t size[2];
    for (int turn = 0; turn < 2; turn++) {
        rlar_journal *j = NULL;
        assert_int_equal(rlar__journal_open(ctx, path, &j), RLAR_OK);
        for (int i = 0; i < RECORDS; i++) {
            rlar_outcome out = {0};
            assert_int_equal(rlar__journal_find(ctx, j, key_of(i), C, &out), RLAR_OK);
            assert_true(!out.done || out.accuracy == 0.125 * i);
            found[turn] |= (unsigned)out.done << i;
            rlar__outcome_clear(&out);
        }
        rlar__journal_close(j);
        size[turn] = file_size(path);
    }
    assert_int_equal(found[0], found[1]);
    assert_int_equal(size[0], size[1]);
    return found[0];
}

/* One damaged byte, wherever it is (the length too), costs its own record and no other. */
static void test_damaged_byte(void **state) {
    (void)state;
    world w;
    int64_t start[RECORDS + 1];
    const unsigned all = (1u << RECORDS) - 1;
    world_open(&w, "iters=3", RLAR_TUNE_NONE);
    for (int i = 0; i < RECORDS; i++) {
        write_records(w.ctx, w.journal, start);
        for (int64_t at = start[i]; at < start[i + 1]; at += 3) {
            flip(w.journal, at);
            assert_int_equal(records_in(w.ctx, w.journal), all & ~(1u << i));
            /* only the last is cut off */
            assert_int_equal(file_size(w.journal), start[i == RECORDS - 1 ? i : RECORDS]);
            if (i == RECORDS - 1)
                write_records(w.ctx, w.journal, start);
            else
                flip(w.journal, at);
            assert_int_equal(records_in(w.ctx, w.journal), all);
        }
    }
    world_close(&w);
}

/* Two neighbours, the first and others; more bytes than a piece of the search holds; a record that
 * is longer than a piece behind damage. What is made again is added at the end. */
static void test_damage_between(void **state) {
    (void)state;
    enum { MANY = 70000 };
    world w;
    int64_t start[RECORDS + 1];
    rlar_journal *j = NULL;
    world_open(&w, "iters=3", RLAR_TUNE_NONE);
    write_records(w.ctx, w.journal, start);
    flip(w.journal, start[0] + 56);
    flip(w.journal, start[3] + 1);
    flip(w.journal, start[4] + 63);
    assert_int_equal(records_in(w.ctx, w.journal), 0xe6);
    const rlar_outcome outcome = {.accuracy = 0.375};
    assert_int_equal(rlar__journal_open(w.ctx, w.journal, &j), RLAR_OK);
    assert_int_equal(rlar__journal_add(w.ctx, j, key_of(3), &outcome), RLAR_OK);
    rlar__journal_close(j);
    assert_int_equal(records_in(w.ctx, w.journal), 0xee);
    char *noise = calloc(1, MANY + 1);
    assert_non_null(noise);
    memset(noise, 'n', MANY);
    append(w.journal, noise, MANY);
    const int64_t size = file_size(w.journal);
    assert_int_equal(records_in(w.ctx, w.journal), 0xee);
    assert_int_equal(file_size(w.journal), size - MANY);
    const rlar_outcome text = {.accuracy = 0.5, .failure = noise};
    append(w.journal, noise, MANY);
    /* The end of a journal of one long record, behind the noise. */
    char other[80];
    snprintf(other, sizeof other, "%s-long", w.journal);
    assert_int_equal(rlar__journal_open(w.ctx, other, &j), RLAR_OK);
    assert_int_equal(rlar__journal_add(w.ctx, j, key_of(4), &text), RLAR_OK);
    rlar__journal_close(j);
    FILE *f = fopen(other, "rb");
    assert_non_null(f);
    char *bytes = malloc(MANY + RECORD_BYTES);
    assert_non_null(bytes);
    assert_int_equal(fseek(f, HEAD_BYTES, SEEK_SET), 0);
    assert_int_equal(fread(bytes, 1, MANY + RECORD_BYTES, f), MANY + RECORD_BYTES);
    fclose(f);
    append(w.journal, bytes, MANY + RECORD_BYTES);
    assert_int_equal(records_in(w.ctx, w.journal), 0xfe);
    unlink(other);
    free(bytes);
    free(noise);
    world_close(&w);
}

/* Bytes that look like long records at every place: refused, and left as they are. */
static void test_endless_damage(void **state) {
    (void)state;
    enum { WORDS = 60000 };
    world w;
    rlar_journal *j = NULL;
    int64_t start[RECORDS + 1], *words = calloc(WORDS, sizeof *words);
    assert_non_null(words);
    world_open(&w, "iters=3", RLAR_TUNE_NONE);
    write_records(w.ctx, w.journal, start);
    for (int i = 0; i < WORDS; i += 2) /* failed, and the length of its text */
        words[i + 1] = 1, words[i] = (WORDS - i) * 4;
    append(w.journal, words, WORDS * sizeof *words);
    const int64_t size = file_size(w.journal);
    assert_int_equal(rlar__journal_open(w.ctx, w.journal, &j), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(w.ctx), "cannot be told; name another file"));
    assert_null(j);
    assert_int_equal(file_size(w.journal), size);
    free(words);
    world_close(&w);
}

static void refuse(world *w, rlar_status wanted, const char *text) {
    rlar_eval *eval = NULL;
    assert_int_equal(rlar_evaluate(w->ctx, w->data, &w->spec, &eval), wanted);
    if (!strstr(rlar_ctx_error(w->ctx), text))
        fail_msg("\"%s\" does not say \"%s\"", rlar_ctx_error(w->ctx), text);
}

static void test_no_journal(void **state) {
    (void)state;
    world w;
    world_open(&w, "iters=3", RLAR_TUNE_NONE);
    w.spec.n_axes = 0;
    w.spec.journal = w.journal;
    append(w.journal, "something else, which is longer", 31);
    refuse(&w, RLAR_E_DATA, "not a journal");
    assert_int_equal(file_size(w.journal), 31); /* untouched */
    assert_int_equal(truncate(w.journal, 0), 0);
    const int fd = open(w.journal, O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    refuse(&w, RLAR_E_IO, "another process");
    close(fd);
    w.spec.journal = "/nowhere/at/all";
    refuse(&w, RLAR_E_IO, "cannot open");
    w.spec.journal = "/tmp";
    refuse(&w, RLAR_E_IO, "cannot open");
    w.spec.journal = "/dev/full";
    refuse(&w, RLAR_E_IO, "must be a file");
    world_close(&w);
}

/* Keys tell apart what differs in one bit, in length, or in where one piece ends. */
static void test_keys(void **state) {
    (void)state;
    enum { BYTES = 60, FLIPS = 8 * BYTES, LENGTHS = 200, MANY = FLIPS + LENGTHS };
    rlar_key key[MANY];
    char bytes[LENGTHS] = {0};
    for (int i = 0; i < LENGTHS; i++)
        key[i] = rlar__key_add((rlar_key){{0}}, bytes, (size_t)i);
    for (int i = 0; i < FLIPS; i++) {
        bytes[i / 8] ^= (char)(1 << (i % 8));
        key[LENGTHS + i] = rlar__key_add((rlar_key){{0}}, bytes, BYTES);
        bytes[i / 8] ^= (char)(1 << (i % 8));
    }
    for (int i = 0; i < MANY; i++)
        for (int j = 0; j < i; j++)
            assert_true(key[i].word[0] != key[j].word[0] && key[i].word[1] != key[j].word[1]);
    const rlar_key ab = rlar__key_add_text(rlar__key_add_text((rlar_key){{0}}, "ab"), "c");
    const rlar_key bc = rlar__key_add_text(rlar__key_add_text((rlar_key){{0}}, "a"), "bc");
    assert_true(ab.word[0] != bc.word[0] && ab.word[1] != bc.word[1]);
}

/* ---- From coarse to fine ---- */

/* Tried are every second value at first, then the neighbours of the best of these; each with the
 * accuracy of the full search. */
static void test_coarse(void **state) {
    (void)state;
    world w;
    rlar_eval_result full, r;
    world_open(&w, "iters=3", RLAR_TUNE_ORACLE);
    rlar_eval *all = evaluate(&w, &full);
    w.spec.coarse = 1;
    rlar_eval *eval = evaluate(&w, &r);
    int64_t tried = 0, coarse_best = -1;
    for (int64_t i = 0; i < r.cells; i++) {
        const int64_t a = i / (2 * AXIS), b = i / 2 % AXIS;
        if (a % 2 == 0 && b % 2 == 0) {
            assert_int_equal(r.cell_trials[i], TRIALS);
            if (coarse_best < 0 || full.cell_accuracy[i] > full.cell_accuracy[coarse_best])
                coarse_best = i;
        }
        if (r.cell_trials[i] == 0)
            assert_true(isnan(r.cell_accuracy[i]));
        else
            assert_true(r.cell_accuracy[i] == full.cell_accuracy[i]);
        tried += r.cell_trials[i] > 0;
    }
    assert_true(tried > 2 * 16 && tried <= 2 * (16 + 8));
    assert_true(r.cell_accuracy[r.selected[0]] >= full.cell_accuracy[coarse_best]);
    for (int64_t i = 0; i < r.cells; i++) /* whatever was tried, nothing is better */
        assert_true(r.cell_trials[i] == 0 ||
                    r.cell_accuracy[i] <= r.cell_accuracy[r.selected[0]] + 1e-12);
    rlar_eval_free(eval);
    rlar_eval_free(all);
    world_close(&w);
}

/* ---- The race ---- */

static const char *const SCALES[] = {"unit", "zscore"};

/* One feature is nothing but noise, and much of it, so that the cells differ. */
static void race_open(world *w, rlar_tune tune, uint64_t seed) {
    world_open(w, "solver=paper iters=3", tune);
    rlar_rng rng = seeded(seed);
    for (int64_t i = 0; i < w->s.n * w->s.d; i++)
        w->s.x[i] += (i % w->s.d ? 0.6 : 30.0) * uniform(&rng);
    w->spec.seed = seed;
    w->spec.trials = TRIALS;
    w->spec.tune_folds = 3;
}

static void assert_same_choice(const rlar_eval_result *a, const rlar_eval_result *b) {
    assert_memory_equal(a->selected, b->selected, (size_t)a->n_selected * sizeof(int64_t));
    assert_memory_equal(a->accuracy, b->accuracy, TRIALS * sizeof(double));
    assert_memory_equal(a->confusion, b->confusion, C * C * sizeof(int64_t));
    assert_int_equal(a->failed, b->failed);
}

/* The choice of the whole search, whatever the threads; no more fits; with the oracle a cell that
 * was not given up has its accuracy, and one that was had lost more than the best loses in all. How
 * many fits it saves. */
static int64_t check_race(world *w) {
    rlar_eval_result whole, r, other;
    rlar_eval *all = evaluate(w, &whole);
    const int64_t fits = w->fits;
    w->spec.race = 1;
    rlar_eval *eval = evaluate(w, &r);
    assert_same_choice(&whole, &r);
    assert_true(w->fits <= fits);
    const int64_t saved = fits - w->fits;
    for (int64_t i = 0; i < r.cells; i++)
        assert_true(r.cell_whole[i] <= r.cell_trials[i] &&
                    whole.cell_whole[i] == whole.cell_trials[i]);
    for (int64_t t = 0; t < r.n_selected; t++) /* what is chosen was tried to the end */
        assert_true(r.cell_whole[r.selected[t]] >= (w->spec.tune == RLAR_TUNE_ORACLE ? TRIALS : 1));
    for (int64_t i = 0; i < r.cells && w->spec.tune == RLAR_TUNE_ORACLE; i++) {
        const double best = r.cell_accuracy[r.selected[0]];
        const double lost = (1.0 - r.cell_accuracy[i]) * (double)r.cell_trials[i];
        if (r.cell_trials[i] == TRIALS)
            assert_true(r.cell_accuracy[i] == whole.cell_accuracy[i]);
        else if (whole.cell_trials[i] > 0 && r.cell_failures[i] == 0)
            assert_true(lost > (1.0 - best) * TRIALS);
    }
    rlar_ctx *two = w->ctx;
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.threads = 1;
    assert_int_equal(rlar_ctx_new(&o, &w->ctx), RLAR_OK);
    rlar_eval *alone = evaluate(w, &other);
    assert_same_results(&r, &other);
    rlar_eval_free(alone);
    rlar_ctx_free(w->ctx);
    w->ctx = two;
    rlar_eval_free(eval);
    rlar_eval_free(all);
    return saved;
}

static void test_race(void **state) {
    (void)state;
    int64_t saved[2] = {0};
    for (int round = 0; round < 24; round++) {
        world w;
        race_open(&w, round % 2 ? RLAR_TUNE_CV : RLAR_TUNE_ORACLE, 900 + (uint64_t)round);
        w.spec.coarse = round / 2 % 2;
        if (round / 4 % 2) /* another scaling instead of beta */
            w.axes[1] = (rlar_axis){NULL, "scale", SCALES, 2};
        w.spec.n_axes = 2 + round / 8 % 2; /* without classifiers, and with them */
        saved[round % 2] += check_race(&w);
        world_close(&w);
    }
    assert_true(saved[0] > 0 && saved[1] > 0);
}

/* Cells that fail are behind those that do not; where all fail, all is failed as without a race. */
static void test_race_failures(void **state) {
    (void)state;
    for (int all = 0; all < 2; all++)
        for (int tune = RLAR_TUNE_CV; tune <= RLAR_TUNE_ORACLE; tune++) {
            static const char *const alphas[] = {"1000", "0.01", "100", "0.1", "10000"};
            static const char *const large[] = {"1000", "10000"};
            world w;
            rlar_eval_result whole, r;
            race_open(&w, (rlar_tune)tune, 3);
            set_params(w.ctx, w.params, "solver=minimise eps=1e-8");
            w.axes[0] =
                all ? (rlar_axis){NULL, "alpha", large, 2} : (rlar_axis){NULL, "alpha", alphas, 5};
            w.spec.n_axes = 1;
            rlar_eval *plain = evaluate(&w, &whole);
            w.spec.race = 1;
            rlar_eval *eval = evaluate(&w, &r);
            assert_int_equal(r.failed, all ? TRIALS : 0);
            assert_int_equal(whole.failed, r.failed);
            if (all)
                assert_string_equal(whole.failure, r.failure);
            else
                assert_same_choice(&whole, &r);
            rlar_eval_free(eval);
            rlar_eval_free(plain);
            world_close(&w);
        }
}

/* ---- Given splits ---- */

/* The splits of the evaluation itself, with the tests in another order: the same results. */
static void test_given(void **state) {
    (void)state;
    world w;
    rlar_eval_result plain, r;
    rlar_rows *splits = NULL;
    world_open(&w, "iters=3", RLAR_TUNE_ORACLE);
    rlar_eval *first = evaluate(&w, &plain);
    assert_int_equal(rlar_eval_splits(w.ctx, w.data, &w.spec, &splits), RLAR_OK);
    int64_t *row = (int64_t *)splits[1].train;
    for (int t = 0; t < TRIALS; t++) {
        int64_t *test = (int64_t *)splits[t].test;
        assert_int_equal(splits[t].n_train, C * 6);
        assert_int_equal(splits[t].n_test, 36 - C * 6);
        for (int64_t i = 0; i < splits[t].n_test / 2; i++) {
            const int64_t other = splits[t].n_test - 1 - i, kept = test[i];
            test[i] = test[other];
            test[other] = kept;
        }
    }
    w.spec.split = RLAR_SPLIT_GIVEN;
    w.spec.given = splits;
    rlar_eval *eval = evaluate(&w, &r);
    assert_same_results(&plain, &r);
    rlar_eval_free(eval);
    row[0] = splits[1].test[3];
    refuse(&w, RLAR_E_ARG, "twice");
    row[0] = 36;
    refuse(&w, RLAR_E_ARG, "trial 2 has sample 36; there are 0 to 35");
    row[0] = -1;
    splits[2].n_test = 0;
    refuse(&w, RLAR_E_ARG, "sample -1");
    splits[1] = splits[0];
    refuse(&w, RLAR_E_ARG, "trial 3 has no samples");
    w.spec.given = NULL;
    refuse(&w, RLAR_E_ARG, "none is there");
    rlar_rows_free(splits);
    rlar_eval_free(first);
    world_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_go_on),
        cmocka_unit_test(test_other_fits_are_not_taken),
        cmocka_unit_test(test_preset_in_the_grid),
        cmocka_unit_test(test_zero_maps_are_told_apart),
        cmocka_unit_test(test_broken_end),
        cmocka_unit_test(test_damaged_byte),
        cmocka_unit_test(test_damage_between),
        cmocka_unit_test(test_endless_damage),
        cmocka_unit_test(test_no_journal),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_coarse),
        cmocka_unit_test(test_race),
        cmocka_unit_test(test_race_failures),
        cmocka_unit_test(test_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
