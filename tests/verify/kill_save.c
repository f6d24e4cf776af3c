/* kill_save.c - a process is killed (SIGKILL) at a random moment while it saves.
 *
 *     kill_save [--count N]     kills during a save (default 1000)
 *
 * A child saves two versions over the same path, in turn, without end: a model, or a data file,
 * with a nameless temporary, or with a named one as on file systems that know no other. Wherever
 * the kill hits, the file is the old version or the new one, byte for byte. What killed children
 * leave beside it is counted and is in nobody's way. Every tenth kill hits an evaluation with a
 * journal instead, several times over: the evaluation that goes on from it gives the same bits. */
#include "calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Parent and children see the same. */
typedef struct shared {
    _Atomic int64_t started, finished; /* saves; version number % 2 is what they wrote */
    _Atomic int named;                 /* no nameless files */
} shared;

static shared *board;

int __real_open64(const char *path, int flags, mode_t mode);
int __wrap_open64(const char *path, int flags, mode_t mode);

int __wrap_open64(const char *path, int flags, mode_t mode) {
    if (board && board->named && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return __real_open64(path, flags, mode);
}

typedef struct version {
    rlar_model *model;
    rlar_data *data;
    char *bytes; /* what the saved file holds */
    size_t size;
} version;

typedef struct desk {
    rlar_ctx *ctx;
    temp_folder folder;
    char path[512], journal[512];
    labelled samples[2];
    version model[2], table[2];
    rlar_params *params;
    uint64_t evaluated;
    rlar_rng rng;
} desk;

typedef struct tally {
    int64_t kills, old, fresh, between, journal_kills, resumed;
    int64_t strays[2]; /* of nameless and of named temporaries */
} tally;

/* ---- Making ---- */

static void must(const desk *d, rlar_status status) {
    if (status < 0)
        fail_msg("%s", rlar_ctx_error(d->ctx));
}

static rlar_status save(const desk *d, const version *v) {
    return v->model ? rlar_model_save(d->ctx, v->model, d->path)
                    : rlar_data_write(d->ctx, v->data, d->path, "csv");
}

static char *file_bytes(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void make_versions(desk *d) {
    const int64_t sizes[] = {8, 7};
    for (int i = 0; i < 2; i++) {
        d->samples[i] = clouds((uint64_t)(31 + i), 1500, 2, sizes);
        version *model = &d->model[i], *table = &d->table[i];
        must(d, view_labelled(d->ctx, &d->samples[i], &table->data));
        must(d, rlar_fit(d->ctx, table->data, d->params, NULL, &model->model, NULL));
        must(d, save(d, model));
        model->bytes = file_bytes(d->path, &model->size);
        must(d, save(d, table));
        table->bytes = file_bytes(d->path, &table->size);
    }
}

static const char *const LAMBDAS[] = {"0.01", "0.1", "1", "10"};

static rlar_status evaluate(const desk *d, uint64_t *check) {
    const rlar_axis axis = {NULL, "lambda", LAMBDAS, 4};
    const rlar_params *methods[] = {d->params};
    rlar_eval_spec spec = RLAR_INIT(rlar_eval_spec);
    rlar_eval *eval = NULL;
    spec.methods = methods;
    spec.n_methods = 1;
    spec.per_class = 4;
    spec.trials = 3;
    spec.tune = RLAR_TUNE_ORACLE;
    spec.axes = &axis;
    spec.n_axes = 1;
    spec.journal = d->journal;
    const rlar_status status = rlar_evaluate(d->ctx, d->table[0].data, &spec, &eval);
    if (status >= 0)
        *check = mix_eval(0, eval, 2);
    rlar_eval_free(eval);
    return status;
}

static void desk_open(desk *d) {
    *d = (desk){.ctx = context(1), .folder = new_folder(), .rng = seeded((uint64_t)time(NULL))};
    (void)path_in(&d->folder, "target", d->path);
    (void)path_in(&d->folder, "fits.journal", d->journal);
    must(d, rlar_params_new(d->ctx, "rr", &d->params));
    make_versions(d);
    must(d, evaluate(d, &d->evaluated));
}

static void desk_close(desk *d) {
    for (int i = 0; i < 2; i++) {
        rlar_model_free(d->model[i].model);
        rlar_data_free(d->table[i].data);
        free(d->model[i].bytes);
        free(d->table[i].bytes);
        labelled_free(&d->samples[i]);
    }
    rlar_params_free(d->params);
    rlar_ctx_free(d->ctx);
    remove_folder(&d->folder);
}

/* ---- Killing ---- */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Some moment within `span` seconds from now. */
static void wait_a_moment(desk *d, double span) {
    const double end = seconds() + span * (0.5 + 0.5 * uniform(&d->rng));
    while (seconds() < end)
        usleep(20);
}

static void end_child(pid_t child) {
    int status = 0;
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("the child ended by itself, with %d: a save has failed", WEXITSTATUS(status));
}

static void save_for_ever(const desk *d, const version *pair) {
    for (;;) {
        const int64_t number = ++board->started;
        if (save(d, &pair[number % 2]) < 0)
            _exit(1);
        board->finished = number;
    }
}

static bool holds(const char *bytes, size_t size, const version *v) {
    return size == v->size && memcmp(bytes, v->bytes, size) == 0;
}

/* The file is that of the last finished save, or of the one that was under way. */
static void check_file(const desk *d, const version *pair, tally *t) {
    const int64_t started = board->started, finished = board->finished;
    size_t size = 0;
    char *bytes = file_bytes(d->path, &size);
    const bool old = holds(bytes, size, &pair[finished % 2]);
    const bool fresh = started > finished && holds(bytes, size, &pair[started % 2]);
    free(bytes);
    if (!old && !fresh)
        fail_msg("torn: %zu bytes that are neither the old file nor the new one, after kill %lld",
                 size, (long long)t->kills);
    t->kills += started > finished;
    t->between += started == finished;
    t->old += started > finished && old;
    t->fresh += started > finished && fresh;
    board->started = board->finished = fresh ? started : finished;
    if (t->kills % 100 == 0 && pair[0].model) {
        rlar_model *model = NULL;
        must(d, rlar_model_load(d->ctx, d->path, &model));
        rlar_model_free(model);
    }
}

static int64_t count_strays(const desk *d) {
    int64_t strays = 0;
    DIR *folder = opendir(d->folder.path);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        strays += strncmp(entry->d_name, ".rlar-", 6) == 0;
    closedir(folder);
    return strays;
}

/* Children of one kind, one after another, until there were enough kills. */
static void kill_saves(desk *d, const version *pair, int named, int64_t count, tally *t) {
    const int64_t before = t->kills, strays = count_strays(d);
    double start = seconds();
    board->named = named;
    board->started = board->finished = 2;
    for (int i = 0; i < 4; i++)
        must(d, save(d, &pair[i % 2]));
    const double span = (seconds() - start) / 4;
    must(d, save(d, &pair[0]));
    while (t->kills - before < count) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            save_for_ever(d, pair);
        wait_a_moment(d, 3 * span);
        end_child(child);
        check_file(d, pair, t);
    }
    must(d, save(d, &pair[1])); /* whatever lies about */
    t->strays[named] += count_strays(d) - strays;
}

/* Killed some times, the evaluation is then ended in peace. */
static void kill_evaluations(desk *d, int64_t count, tally *t) {
    double start = seconds();
    uint64_t check = 0;
    assert_int_equal(unlink(d->journal), 0);
    must(d, evaluate(d, &check));
    const double span = seconds() - start;
    while (t->journal_kills < count) {
        assert_int_equal(unlink(d->journal), 0);
        for (int i = 0; i < 3; i++, t->journal_kills++) {
            const pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                if (evaluate(d, &check) < 0)
                    _exit(1);
                pause(); /* done before the kill came */
            }
            wait_a_moment(d, span);
            end_child(child);
        }
        must(d, evaluate(d, &check));
        if (check != d->evaluated)
            fail_msg("other results after %lld kills during an evaluation",
                     (long long)t->journal_kills);
        t->resumed++;
    }
}

int main(int argc, char **argv) {
    const int64_t count = argc == 3 && strcmp(argv[1], "--count") == 0 ? atoll(argv[2]) : 1000;
    desk d;
    tally t = {0};
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(board != MAP_FAILED);
    desk_open(&d);
    const int64_t part = (count + 3) / 4;
    for (int named = 0; named < 2; named++) {
        kill_saves(&d, d.model, named, part, &t);
        kill_saves(&d, d.table, named, part, &t);
    }
    board->named = 0;
    kill_evaluations(&d, count / 10, &t);
    desk_close(&d);
    printf(
        "%lld kills during a save: 0 torn, %lld old, %lld new; %lld more between saves; %lld files "
        "left behind by nameless and %lld by named temporaries, half of the kills each, in "
        "nobody's way; %lld kills during evaluations with a journal: all %lld that went on gave "
        "the same bits\n",
        (long long)t.kills, (long long)t.old, (long long)t.fresh, (long long)t.between,
        (long long)t.strays[0], (long long)t.strays[1], (long long)t.journal_kills,
        (long long)t.resumed);
    return 0;
}
