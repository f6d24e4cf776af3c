/* Memory, texts, workspace, threads, random numbers, output files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/core.h"

static rlar_ctx *new_ctx(int threads, int64_t limit) {
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.threads = threads;
    o.max_memory = limit;
    rlar_ctx *ctx = NULL;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    return ctx;
}

static void test_memory_is_accounted(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 1000);
    char *a = NULL, *b = NULL;
    assert_int_equal(rlar__alloc(ctx, 600, 1, "a", &a), RLAR_OK);
    assert_int_equal((uintptr_t)a % 64, 0);
    assert_int_equal(rlar_ctx_memory(ctx), 600);
    assert_int_equal(rlar__alloc(ctx, 401, 1, "the second piece", &b), RLAR_E_NOMEM);
    assert_null(b);
    assert_non_null(strstr(rlar_ctx_error(ctx), "the second piece"));
    assert_int_equal(rlar__alloc(ctx, 400, 1, "b", &b), RLAR_OK);
    rlar__free(a);
    rlar__free(b);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    assert_int_equal(rlar_ctx_memory_peak(ctx), 1000);
    rlar_ctx_free(ctx);
}

/* Memory of the caller's, for which nothing is allocated. */
static void test_memory_of_the_caller(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 1000);
    char *a = NULL;
    assert_int_equal(rlar_ctx_reserve(NULL, 1, "x"), RLAR_E_ARG);
    assert_int_equal(rlar_ctx_reserve(ctx, -1, "x"), RLAR_E_ARG);
    assert_string_equal(rlar_ctx_error(ctx), "rlar_ctx_reserve: a size from 0 on is needed");
    assert_int_equal(rlar_ctx_reserve(ctx, 1, NULL), RLAR_E_ARG);
    assert_string_equal(rlar_ctx_error(ctx), "rlar_ctx_reserve: what is it for?");
    assert_int_equal(rlar_ctx_reserve(ctx, 700, "the samples"), RLAR_OK);
    assert_int_equal(rlar_ctx_memory(ctx), 700);
    assert_int_equal(rlar__alloc(ctx, 301, 1, "a", &a), RLAR_E_NOMEM);
    assert_int_equal(rlar_ctx_reserve(ctx, 301, "the labels"), RLAR_E_NOMEM);
    assert_non_null(
        strstr(rlar_ctx_error(ctx), "the labels: 301 bytes needed with 700 bytes held"));
    assert_int_equal(rlar_ctx_reserve(ctx, INT64_MAX, "all"), RLAR_E_TOO_LARGE);
    assert_int_equal(rlar__alloc(ctx, 300, 1, "a", &a), RLAR_OK);
    rlar_ctx_give_back(ctx, -5);
    rlar_ctx_give_back(ctx, 200);
    assert_int_equal(rlar_ctx_memory(ctx), 800);
    rlar_ctx_give_back(ctx, INT64_MAX); /* no more than was reserved */
    assert_int_equal(rlar_ctx_memory(ctx), 300);
    rlar__free(a);
    rlar_ctx_free(ctx);
}

static void test_sizes_are_checked(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 0);
    void *p = &ctx;
    assert_int_equal(rlar__alloc(ctx, INT64_MAX, 16, "p", &p), RLAR_E_TOO_LARGE);
    assert_null(p);
    assert_int_equal(rlar__alloc(ctx, -1, 1, "p", &p), RLAR_E_TOO_LARGE);
    assert_int_equal(rlar__alloc(ctx, 0, 8, "p", &p), RLAR_OK);
    assert_null(p);
    size_t out;
    assert_false(rlar__size_mul(SIZE_MAX / 2, 3, &out));
    assert_false(rlar__size_add(SIZE_MAX, 1, &out));
    assert_int_equal(rlar__alloc(ctx, INT64_MAX / 2 + 2, 1, "p", &p), RLAR_E_TOO_LARGE);
    rlar_texts texts = {0};
    assert_int_equal(rlar__texts_add(ctx, &texts, "", SIZE_MAX), RLAR_E_TOO_LARGE);
    assert_non_null(strstr(rlar_ctx_error(ctx), "18446744073709551615 bytes is too long"));
    assert_int_equal(texts.count, 0);
    rlar_ctx_free(ctx);
}

/* The largest unit is the last one. */
static void test_sizes_are_told_in_units(void **state) {
    (void)state;
    static const struct {
        int64_t bytes;
        const char *text;
    } cases[] = {{1023, "1023 bytes needed"},
                 {1024, "1.0 KiB needed"},
                 {INT64_C(5) << 39, "2.5 TiB needed"},
                 {INT64_C(3) << 60, "3072.0 PiB needed"}};
    rlar_ctx *ctx = new_ctx(1, 10);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        void *p = NULL;
        assert_int_equal(rlar__alloc(ctx, cases[i].bytes, 1, "p", &p), RLAR_E_NOMEM);
        assert_non_null(strstr(rlar_ctx_error(ctx), cases[i].text));
        assert_non_null(strstr(rlar_ctx_error(ctx), "the memory limit is 10 bytes"));
    }
    rlar_ctx_free(ctx);
}

/* Overlong forms, surrogates, what lies beyond U+10FFFF and what is cut off are no characters. */
static void test_utf8(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {{"a", 1},
                 {"\xc2\x80", 2},
                 {"\xc1\xbf", 0},
                 {"\xc2\x40", 0},
                 {"\xc2", 0},
                 {"\xe0\xa0\x80", 3},
                 {"\xe0\x9f\xbf", 0},
                 {"\xed\x9f\xbf", 3},
                 {"\xed\xa0\x80", 0},
                 {"\xef\xbf\xbf", 3},
                 {"\xf0\x90\x80\x80", 4},
                 {"\xf0\x8f\xbf\xbf", 0},
                 {"\xf4\x8f\xbf\xbf", 4},
                 {"\xf4\x90\x80\x80", 0},
                 {"\xf5\x80\x80\x80", 0},
                 {"\x80", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(rlar__utf8_length(cases[i].text, strlen(cases[i].text)), cases[i].length);
}

static void *no_memory(void *user, size_t bytes) {
    (void)user;
    (void)bytes;
    return NULL;
}

static void test_options_are_checked(void **state) {
    (void)state;
    rlar_ctx *ctx = NULL;
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.threads = -1;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_E_ARG);
    o.threads = 100000;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_E_ARG);
    o = RLAR_INIT(rlar_ctx_options);
    o.max_memory = -1;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_E_ARG);
    o = RLAR_INIT(rlar_ctx_options);
    o.alloc = no_memory; /* without its release */
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_E_ARG);
    o.size = 0;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_E_ARG);
    assert_int_equal(rlar_ctx_new(NULL, NULL), RLAR_E_ARG);
    assert_null(ctx);
    rlar_ctx_free(NULL);
}

static void test_grow_keeps_what_is_there(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 0);
    int *a = NULL;
    int64_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(rlar__grow(ctx, &a, &capacity, i + 1, sizeof *a, "a"), RLAR_OK);
        a[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(a[i], i);
    rlar__free(a);
    rlar_ctx_free(ctx);
}

/* What comes bit by bit doubles; a size that is known costs no more than itself. */
static void test_grow_takes_what_is_needed(void **state) {
    static const int64_t need[] = {1, 8, 9, 1000, 1001, 2001, 5000},
                         room[] = {8, 8, 16, 1000, 2000, 4000, 8000};
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 0);
    double *a = NULL;
    int64_t capacity = 0;
    for (int i = 0; i < 7; i++) {
        assert_int_equal(rlar__grow(ctx, &a, &capacity, need[i], sizeof *a, "a"), RLAR_OK);
        assert_int_equal(capacity, room[i]);
        assert_int_equal(rlar_ctx_memory(ctx), room[i] * (int64_t)sizeof *a);
    }
    rlar__free(a);
    rlar_ctx_free(ctx);
}

static void test_texts(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 0);
    rlar_texts t = {0}, copy = {0};
    assert_int_equal(rlar__texts_add(ctx, &t, "one", 3), RLAR_OK);
    assert_int_equal(rlar__texts_add(ctx, &t, "", 0), RLAR_OK);
    assert_int_equal(rlar__texts_add(ctx, &t, "threexx", 5), RLAR_OK);
    assert_int_equal(rlar__texts_copy(ctx, &t, &copy), RLAR_OK);
    rlar__texts_free(&t);
    assert_string_equal(rlar__texts_at(&copy, 0), "one");
    assert_string_equal(rlar__texts_at(&copy, 1), "");
    assert_string_equal(rlar__texts_at(&copy, 2), "three");
    assert_null(rlar__texts_at(&copy, 3));
    assert_null(rlar__texts_at(&copy, -1));
    rlar__texts_free(&copy);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

static void carve_two(rlar_workspace *ws, char **a, double **b) {
    *a = rlar__carve(ws, 3, 1);
    *b = rlar__carve(ws, 5, sizeof **b);
}

static void test_workspace_measures_what_it_carves(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 0);
    rlar_workspace ws = {0};
    char *a;
    double *b;
    carve_two(&ws, &a, &b);
    assert_null(a);
    assert_int_equal(rlar__workspace_take(ctx, &ws, "ws"), RLAR_OK);
    carve_two(&ws, &a, &b);
    assert_int_equal(ws.used, ws.size);
    assert_int_equal((uintptr_t)b % 64, 0);
    memset(a, 1, 3);
    memset(b, 1, 5 * sizeof *b);
    rlar__workspace_again(&ws); /* other pieces in the same room; no gap of the first is left */
    char *whole = rlar__carve(&ws, (int64_t)ws.size - 64, 1);
    assert_true((void *)whole == (void *)a && ws.used <= ws.size);
    memset(whole, 1, ws.size - 64);
    rlar__workspace_free(&ws);
    rlar__carve(&ws, INT64_MAX, 16);
    assert_true(ws.overflow);
    assert_int_equal(rlar__workspace_take(ctx, &ws, "ws"), RLAR_E_TOO_LARGE);
    rlar_ctx_free(ctx);
}

/* ---- Threads ---- */

static rlar_status square(void *arg, int64_t i) {
    ((int64_t *)arg)[i] = i * i;
    return RLAR_OK;
}

/* Pieces that do not fit the address space, one by one and together. */
static void test_workspace_overflows(void **state) {
    (void)state;
    static const struct {
        int64_t count;
        size_t size, used;
    } cases[] = {
        {-1, 8, 0}, {INT64_MAX, 4, 0}, {INT64_MAX, 2, 0}, {INT64_MAX, 1, SIZE_MAX / 2 + 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rlar_ctx *ctx = new_ctx(1, 0);
        rlar_workspace ws = {.used = cases[i].used};
        assert_null(rlar__carve(&ws, cases[i].count, cases[i].size));
        assert_true(ws.overflow);
        assert_int_equal(rlar__workspace_take(ctx, &ws, "the fit"), RLAR_E_TOO_LARGE);
        assert_string_equal(rlar_ctx_error(ctx),
                            "the fit: the workspace does not fit the address space; use less data");
        rlar_ctx_free(ctx);
    }
}

static void test_every_task_runs_once(void **state) {
    (void)state;
    static int64_t out[5000];
    for (int threads = 1; threads <= 8; threads++) {
        rlar_ctx *ctx = new_ctx(threads, 0);
        for (int round = 0; round < 20; round++) {
            memset(out, 0, sizeof out);
            assert_int_equal(rlar__parallel(ctx, 5000, square, out), RLAR_OK);
            for (int64_t i = 0; i < 5000; i++)
                assert_int_equal(out[i], i * i);
        }
        rlar_ctx_free(ctx);
    }
}

/* Every number once, by ranges of the width that was asked for. */
static rlar_status mark_range(void *arg, int64_t start, int64_t end) {
    int64_t *out = arg;
    for (int64_t i = start; i < end; i++)
        out[i] += 1000 * start + (end - start);
    return RLAR_OK;
}

static void test_ranges_cover_everything_once(void **state) {
    (void)state;
    rlar_ctx *ctx = NULL;
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    options.threads = 3;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    const int64_t counts[] = {0, 1, 63, 64, 65, 200};
    for (int k = 0; k < 6; k++) {
        int64_t out[200] = {0};
        assert_int_equal(rlar__parallel_ranges(ctx, counts[k], 64, mark_range, out), RLAR_OK);
        for (int64_t i = 0; i < 200; i++) {
            const int64_t start = i / 64 * 64;
            const int64_t width = counts[k] - start < 64 ? counts[k] - start : 64;
            assert_int_equal(out[i], i < counts[k] ? 1000 * start + width : 0);
        }
    }
    rlar_ctx_free(ctx);
}

static rlar_status fail_on_some(rlar_ctx *child, void *arg, int64_t i) {
    (void)arg;
    if (i == 7 || i == 900)
        return rlar__fail(child, RLAR_E_DATA, "task %d is bad", (int)i);
    return RLAR_OK;
}

static void test_errors_come_back(void **state) {
    (void)state;
    rlar_ctx *one = new_ctx(1, 0), *four = new_ctx(4, 0);
    assert_int_equal(rlar__parallel_ctx(one, 1000, fail_on_some, NULL), RLAR_E_DATA);
    assert_string_equal(rlar_ctx_error(one), "task 7 is bad");
    assert_int_equal(rlar__parallel_ctx(four, 1000, fail_on_some, NULL), RLAR_E_DATA);
    assert_non_null(strstr(rlar_ctx_error(four), "is bad"));
    rlar_ctx_free(one);
    rlar_ctx_free(four);
}

static int always_stop(void *user, const rlar_event *event) {
    (void)event;
    ++*(int *)user;
    return 1;
}

static void test_a_callback_cancels(void **state) {
    (void)state;
    static int64_t out[100];
    int calls = 0;
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.threads = 3;
    o.progress = always_stop;
    o.user = &calls;
    rlar_ctx *ctx = NULL;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    assert_int_equal(rlar__parallel(ctx, 100, square, out), RLAR_E_CANCELLED);
    assert_int_equal(calls, 1);
    assert_int_equal(rlar__poll(ctx), RLAR_E_CANCELLED);
    rlar__begin(ctx); /* the next public call starts afresh */
    assert_int_equal(*ctx->cancel, 0);
    rlar_ctx_free(ctx);
}

/* Ends only when as many tasks run at the same time as the barrier waits for. */
static rlar_status meet(void *arg, int64_t index) {
    (void)index;
    pthread_barrier_wait(arg);
    return RLAR_OK;
}

static void test_a_fork_makes_its_own_threads(void **state) {
    (void)state;
    static int64_t out[1000];
    rlar_ctx *ctx = new_ctx(3, 0);
    assert_int_equal(rlar__parallel(ctx, 1000, square, out), RLAR_OK);
    fflush(NULL); /* nothing may be printed twice */
    const pid_t pid = fork();
    if (pid == 0) {
        memset(out, 0, sizeof out);
        pthread_barrier_t all;
        pthread_barrier_init(&all, NULL, 3);
        alarm(60); /* without threads of its own it waits for ever */
        const bool ok = rlar__parallel(ctx, 1000, square, out) == RLAR_OK &&
                        out[999] == 999 * 999 && rlar__parallel(ctx, 3, meet, &all) == RLAR_OK;
        rlar_ctx_free(ctx);
        exit(ok ? 0 : 1); /* not _exit: what was counted of the coverage is written at the end */
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    rlar_ctx_free(ctx);
}

static void test_a_rest_ends_the_threads(void **state) {
    (void)state;
    static int64_t out[1000];
    rlar_ctx *ctx = new_ctx(3, 0);
    rlar_ctx_rest(ctx); /* there are none yet */
    for (int round = 0; round < 2; round++) {
        memset(out, 0, sizeof out);
        assert_int_equal(rlar__parallel(ctx, 1000, square, out), RLAR_OK);
        assert_int_equal(out[999], 999 * 999);
        assert_true(rlar_ctx_memory(ctx) > 0); /* the pool's own */
        rlar_ctx_rest(ctx);
        assert_null(ctx->pool);
        assert_int_equal(rlar_ctx_memory(ctx), 0);
    }
    rlar_ctx_free(ctx);
}

/* What a task begins leaves the cancellation and the text of its parent alone. */
static void test_a_child_does_not_begin_afresh(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 0), child;
    rlar__ctx_child(ctx, false, &child);
    rlar__fail(&child, RLAR_E_DATA, "old");
    atomic_store(ctx->cancel, 1);
    rlar__begin(&child);
    assert_int_equal(rlar__poll(&child), RLAR_E_CANCELLED);
    rlar__ctx_child_end(&child);
    rlar__begin(ctx);
    assert_int_equal(rlar__poll(ctx), RLAR_OK);
    rlar_ctx_free(ctx);
}

/* ---- Random numbers ---- */

static void test_rng_known_values(void **state) {
    (void)state;
    /* methods/protocol.md section 7 gives the first outputs for this seed. */
    rlar_rng rng = {.state = 20200608};
    assert_true(rlar__rng_next(&rng) == 0x7b13811301a1602au);
    assert_true(rlar__rng_next(&rng) == 0xa01331e526ab125cu);
    assert_true(rlar__rng_next(&rng) == 0x8b4bfc12d3d2346du);
}

static void test_rng_below_is_uniform(void **state) {
    (void)state;
    const uint64_t words[] = {1, 2, 3};
    rlar_rng rng = rlar__rng_seed(words, 3);
    int64_t counts[7] = {0};
    for (int i = 0; i < 70000; i++)
        counts[rlar__rng_below(&rng, 7)]++;
    for (int i = 0; i < 7; i++)
        assert_in_range(counts[i], 9600, 10400); /* four standard deviations are 370 */
    assert_int_equal(rlar__rng_below(&rng, 1), 0);
}

/* Half of the draws lie below 2^64 mod bound; each of them is drawn again, none is folded. */
static void test_rng_below_rejects(void **state) {
    (void)state;
    const uint64_t bound = (UINT64_C(1) << 63) + 1, reject = (UINT64_C(1) << 63) - 1;
    rlar_rng rng = {.state = 20200608}, same = rng;
    int rejected = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t draw;
        while ((draw = rlar__rng_next(&same)) < reject)
            rejected++;
        assert_true(rlar__rng_below(&rng, bound) == draw % bound);
    }
    assert_in_range(rejected, 820, 1180); /* four standard deviations are 180 */
}

/* ---- Output files ---- */

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/rlar-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder); /* fails when a test has left a file behind */
}

static void path_in(char *path, size_t size, const char *name) {
    snprintf(path, size, "%s/%s", folder, name);
}

static void assert_content(const char *path, const char *content) {
    char text[64] = "";
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(text, content);
}

static void write_file(rlar_ctx *ctx, const char *path, const char *content, bool commit) {
    rlar_file *file = NULL;
    assert_int_equal(rlar_file_create(ctx, path, &file), RLAR_OK);
    assert_int_equal(rlar_file_write(file, content, strlen(content)), RLAR_OK);
    if (commit)
        assert_int_equal(rlar_file_commit(file), RLAR_OK);
    else
        rlar_file_abort(file);
}

static void test_file_appears_whole_or_not(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 0);
    char path[128], link[128];
    path_in(path, sizeof path, "out.txt");
    path_in(link, sizeof link, "link.txt");
    write_file(ctx, path, "old", true);
    assert_content(path, "old");
    write_file(ctx, path, "aborted", false);
    assert_content(path, "old");
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink(path, link), 0);
    write_file(ctx, link, "new", true); /* through the link, keeping the mode */
    assert_content(path, "new");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    unlink(path);
    unlink(link);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

/* A path without a folder, a link beside its target, and a path that no system takes. */
static void test_file_paths(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 0);
    rlar_file *file = NULL;
    char before[PATH_MAX], *longer = malloc(2 * PATH_MAX);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    write_file(ctx, "plain", "one", true);
    assert_content("plain", "one");
    assert_int_equal(symlink("plain", "link"), 0);
    write_file(ctx, "link", "two", true);
    assert_content("plain", "two");
    assert_int_equal(unlink("link"), 0);
    assert_int_equal(unlink("plain"), 0);
    assert_int_equal(chdir(before), 0);
    memset(longer, 'x', 2 * PATH_MAX);
    longer[2 * PATH_MAX - 1] = '\0';
    rlar_status status = rlar_file_create(ctx, longer, &file);
    if (status >= 0) /* refused at once, or when the name is needed */
        status = rlar_file_commit(file);
    assert_int_equal(status, RLAR_E_IO);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    /* A link whose target is too long only together with its folder. */
    char path[128];
    path_in(path, sizeof path, "link");
    longer[PATH_MAX - 5] = '\0';
    for (int i = 100; i < PATH_MAX - 5; i += 100)
        longer[i] = '/';
    assert_int_equal(symlink(longer, path), 0);
    assert_int_equal(rlar_file_create(ctx, path, &file), RLAR_E_IO);
    assert_non_null(strstr(rlar_ctx_error(ctx), "File name too long"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    free(longer);
    rlar_ctx_free(ctx);
}

static void test_large_writes(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 0);
    char path[128];
    path_in(path, sizeof path, "large");
    rlar_file *file = NULL;
    char *bytes = calloc(1, 200000);
    assert_int_equal(rlar_file_create(ctx, path, &file), RLAR_OK);
    for (int i = 0; i < 100; i++)
        assert_int_equal(rlar_file_write(file, bytes, (size_t)i * 2000), RLAR_OK);
    assert_int_equal(rlar_file_commit(file), RLAR_OK);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 4950 * 2000);
    unlink(path);
    free(bytes);
    rlar_ctx_free(ctx);
}

static rlar_file *begin_file(rlar_ctx *ctx, const char *path, const char *content) {
    rlar_file *file = NULL;
    assert_int_equal(rlar_file_create(ctx, path, &file), RLAR_OK);
    assert_int_equal(rlar_file_write(file, content, strlen(content)), RLAR_OK);
    return file;
}

/* Both or neither, whichever of them fails: /dev/full takes nothing, and a folder that stands where
 * the file should go refuses its rename, which is the last that can happen. */
static void test_two_files_appear_together(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 0);
    char one[128], two[128];
    path_in(one, sizeof one, "one");
    path_in(two, sizeof two, "two");
    assert_int_equal(rlar_file_commit_both(begin_file(ctx, one, "1"), begin_file(ctx, two, "2")),
                     RLAR_OK);
    assert_content(one, "1");
    assert_content(two, "2");
    assert_int_equal(
        rlar_file_commit_both(begin_file(ctx, one, "new"), begin_file(ctx, "/dev/full", "x")),
        RLAR_E_IO);
    assert_int_equal(
        rlar_file_commit_both(begin_file(ctx, "/dev/full", "x"), begin_file(ctx, two, "new")),
        RLAR_E_IO);
    assert_content(one, "1");
    assert_content(two, "2");
    for (int fresh = 0; fresh < 2; fresh++) {
        if (fresh)
            assert_int_equal(unlink(one), 0);
        rlar_file *first = begin_file(ctx, one, "new"), *second = begin_file(ctx, two, "new");
        assert_int_equal(unlink(two), 0);
        assert_int_equal(mkdir(two, 0777), 0);
        assert_int_equal(rlar_file_commit_both(first, second), RLAR_E_IO);
        assert_non_null(strstr(rlar_ctx_error(ctx), "two: cannot put the file in place"));
        assert_int_equal(rmdir(two), 0);
        write_file(ctx, two, "2", true);
        if (fresh)
            assert_int_equal(access(one, F_OK), -1);
        else
            assert_content(one, "1");
    }
    assert_int_equal(unlink(two), 0);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

static void test_file_errors(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 0);
    rlar_file *file = NULL;
    char path[128];
    path_in(path, sizeof path, "no/such/folder");
    assert_int_equal(rlar_file_create(ctx, path, &file), RLAR_E_IO);
    assert_non_null(strstr(rlar_ctx_error(ctx), "No such file"));
    assert_int_equal(rlar_file_create(ctx, folder, &file), RLAR_E_IO);
    assert_non_null(strstr(rlar_ctx_error(ctx), "is a folder"));
    assert_null(file);
    assert_int_equal(rlar_file_create(ctx, "/dev/full", &file), RLAR_OK);
    assert_int_equal(rlar_file_write(file, "x", 1), RLAR_OK);
    assert_int_equal(rlar_file_commit(file), RLAR_E_IO);
    assert_int_equal(rlar_file_create(ctx, "/dev/null", &file), RLAR_OK);
    assert_int_equal(rlar_file_commit(file), RLAR_OK);
    rlar_file_abort(NULL);
    assert_int_equal(rlar_file_create(ctx, "", &file), RLAR_E_ARG);
    assert_string_equal(rlar_ctx_error(ctx), "the name of the output file is empty; give one");
    assert_int_equal(rlar_file_create(ctx, NULL, &file), RLAR_E_ARG);
    assert_int_equal(rlar_file_create(ctx, "x", NULL), RLAR_E_ARG);
    assert_int_equal(rlar_file_create(NULL, "x", &file), RLAR_E_ARG);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

/* A host that looks at the answer of commit alone must not get a torn file. */
static void test_failed_writes_are_remembered(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 0);
    rlar_file *file = NULL;
    char *bytes = calloc(1, 200000);
    assert_int_equal(rlar_file_create(ctx, "/dev/full", &file), RLAR_OK);
    assert_int_equal(rlar_file_write(file, bytes, 200000), RLAR_E_IO);
    assert_non_null(strstr(rlar_ctx_error(ctx), "No space left"));
    assert_int_equal(rlar_file_write(file, bytes, 1), RLAR_E_IO);
    assert_string_equal(rlar_ctx_error(ctx), "/dev/full: cannot write: an earlier write failed");
    assert_int_equal(rlar_file_commit(file), RLAR_E_IO);
    free(bytes);
    rlar_ctx_free(ctx);
}

/* What somebody else has opened is written to where they are, and not replaced. */
static void test_descriptors_are_written_to(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx(1, 0);
    rlar_file *file = NULL;
    char path[128], name[64];
    path_in(path, sizeof path, "diary");
    write_file(ctx, path, "old,", true);
    const int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_true(fd >= 0);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    write_file(ctx, name, "new,", true);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    write_file(ctx, name, "newer", true);
    assert_content(path, "old,new,newer");
    close(fd);
    assert_int_equal(rlar_file_create(ctx, name, &file), RLAR_E_IO);
    assert_non_null(strstr(rlar_ctx_error(ctx), "cannot open for writing: Bad file descriptor"));
    assert_int_equal(rlar_file_create(ctx, "/dev/fd/1x", &file), RLAR_E_IO);
    unlink(path);
    rlar_ctx_free(ctx);
}

/* The mode speaks of a group: it is kept together with it. Only root can try. */
static void test_owners_are_kept(void **state) {
    (void)state;
    char path[128];
    struct stat st;
    if (geteuid() != 0)
        skip();
    rlar_ctx *ctx = new_ctx(1, 0);
    path_in(path, sizeof path, "theirs");
    write_file(ctx, path, "old", true);
    assert_int_equal(chown(path, 1234, 4321), 0);
    assert_int_equal(chmod(path, 0640), 0);
    write_file(ctx, path, "new", true);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_uid, 1234);
    assert_int_equal(st.st_gid, 4321);
    assert_int_equal(st.st_mode & 07777, 0640);
    /* Someone else may not give it away: without the group its rights are gone. */
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(setegid(4000), 0);
    assert_int_equal(seteuid(4000), 0);
    assert_int_equal(prctl(PR_SET_DUMPABLE, 1), 0); /* /proc/self is ours again */
    write_file(ctx, path, "newer", true);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(setegid(0), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_uid, 4000);
    assert_int_equal(st.st_gid, 4000);
    assert_int_equal(st.st_mode & 07777, 0600);
    unlink(path);
    rlar_ctx_free(ctx);
}

static void test_status_texts(void **state) {
    (void)state;
    for (int s = RLAR_E_INTERNAL; s <= RLAR_W_GUESS; s++)
        assert_string_not_equal(rlar_status_text((rlar_status)s), "unknown status");
    rlar_ctx *ctx = new_ctx(1, 0);
    rlar__fail(ctx, RLAR_E_DATA, "inner");
    assert_int_equal(rlar__fail_in(ctx, RLAR_E_DATA, "outer"), RLAR_E_DATA);
    assert_string_equal(rlar_ctx_error(ctx), "outer: inner");
    assert_int_equal(rlar__forgive(ctx), RLAR_OK);
    assert_string_equal(rlar_ctx_error(ctx), "");
    assert_int_equal(rlar__forgive(NULL), RLAR_OK);
    assert_int_equal(rlar__fail_in(NULL, RLAR_E_DATA, "outer"), RLAR_E_DATA);
    assert_string_equal(rlar_ctx_error(NULL), "no context");
    rlar__log(NULL, RLAR_OK, "to nobody");
    /* Every status has a text of its own; what is none has one, too. */
    for (int a = RLAR_E_INTERNAL; a <= RLAR_W_GUESS; a++) {
        assert_string_not_equal(rlar_status_text((rlar_status)a), "unknown status");
        for (int b = RLAR_E_INTERNAL; b < a; b++)
            assert_string_not_equal(rlar_status_text((rlar_status)a),
                                    rlar_status_text((rlar_status)b));
    }
    assert_string_equal(rlar_status_text((rlar_status)99), "unknown status");
    rlar_ctx_free(ctx);
}

static void test_names_that_are_near(void **state) {
    (void)state;
    static const struct {
        const char *typed, *name;
        int distance;
    } cases[] = {
        {"rlar", "rlar", 0},
        {"RLAR", "rlar", 0},
        {"rlr", "rlar", 1},
        {"rlr", "rr", 1},
        {"rlr", "lda", -1},
        {"ldaa", "lda", 1},
        {"lad", "lda", 1},
        {"re", "relsr", 1},
        {"r", "rlar", -1},
        {"relsrx", "rlar", -1},
        {"x", "rr", -1},
        {"svm", "sda", -1},
        {"mdap", "mpda", 2},
        {"da", "lda", 1},
        {"xr", "rr", 1},
        {"", "rr", -1},
        {"rr", "", -1},
        {NULL, "rr", -1},
        {"rr", NULL, -1},
        {"0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcde", 1},
        {"0123456789abcdef0123456789abcdefg", "0123456789abcdef0123456789abcdef", -1},
        {"confusoin", "confusion", 1},
        {"abcdefghijkl", "wxyzefghijkl", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (rlar_name_distance(cases[i].typed, cases[i].name) != cases[i].distance)
            fail_msg("%s and %s: %d, not %d", cases[i].typed, cases[i].name,
                     rlar_name_distance(cases[i].typed, cases[i].name), cases[i].distance);
}

/* A path of any length leaves the place and the cause to be read, and no half character. */
static void test_long_texts_are_cut_in_the_middle(void **state) {
    (void)state;
    enum { LONGEST = 5000 };
    rlar_ctx *ctx = new_ctx(1, 0);
    char *path = malloc(LONGEST + 1);
    for (size_t length = 900; length <= LONGEST; length += length < 1100 ? 1 : 37) {
        for (size_t i = 0; i < length; i++) /* e acute, two bytes each, from an odd place on */
            path[i] = i % 2 == 1 ? '\xc3' : '\xa9';
        path[0] = '/';
        path[length] = '\0';
        if (length % 2 == 0)
            path[length - 1] = 'x';
        rlar__fail(ctx, RLAR_E_IO, "%s: cannot open: %s; name another", path, "the cause");
        const char *text = rlar_ctx_error(ctx);
        const size_t shown = strlen(text),
                     full = length + strlen(": cannot open: the cause; name another");
        assert_true(shown < RLAR_ERROR_SIZE);
        assert_true(shown == full || (shown >= RLAR_ERROR_SIZE - 3 && strstr(text, "...")));
        assert_int_equal(text[0], '/');
        assert_string_equal(text + shown - 38, ": cannot open: the cause; name another");
        for (size_t i = 0, step; i < shown; i += step)
            assert_true((step = rlar__utf8_length(text + i, shown - i)) > 0);
    }
    free(path);
    rlar_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_accounted),
        cmocka_unit_test(test_memory_of_the_caller),
        cmocka_unit_test(test_sizes_are_checked),
        cmocka_unit_test(test_sizes_are_told_in_units),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_options_are_checked),
        cmocka_unit_test(test_grow_keeps_what_is_there),
        cmocka_unit_test(test_grow_takes_what_is_needed),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_workspace_measures_what_it_carves),
        cmocka_unit_test(test_workspace_overflows),
        cmocka_unit_test(test_every_task_runs_once),
        cmocka_unit_test(test_errors_come_back),
        cmocka_unit_test(test_a_callback_cancels),
        cmocka_unit_test(test_ranges_cover_everything_once),
        cmocka_unit_test(test_a_fork_makes_its_own_threads),
        cmocka_unit_test(test_a_rest_ends_the_threads),
        cmocka_unit_test(test_a_child_does_not_begin_afresh),
        cmocka_unit_test(test_rng_known_values),
        cmocka_unit_test(test_rng_below_is_uniform),
        cmocka_unit_test(test_rng_below_rejects),
        cmocka_unit_test_setup_teardown(test_file_appears_whole_or_not, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_file_paths, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_large_writes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_two_files_appear_together, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_file_errors, make_folder, remove_folder),
        cmocka_unit_test(test_failed_writes_are_remembered),
        cmocka_unit_test_setup_teardown(test_descriptors_are_written_to, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_owners_are_kept, make_folder, remove_folder),
        cmocka_unit_test(test_status_texts),
        cmocka_unit_test(test_names_that_are_near),
        cmocka_unit_test(test_long_texts_are_cut_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
