/* memory_faults.c - memory that runs out at every allocation of every public call.
 *
 *     memory_faults [--every N]     every N-th allocation only (default 1)
 *                   [--threads N]   on so many threads only (default: on one, then on three)
 *
 * Each allocation in turn fails, once or from then on, on one thread and on three: the call answers
 * RLAR_E_NOMEM with a text, returns nothing, holds no more memory than before and leaves the files
 * alone; then it works on the same context and gives the same bits. A call may also do without what
 * it did not get, if the bits are the same. zlib and libpng take their
 * memory from the context, jansson does not. Threads that cannot be started change nothing but the
 * speed. */
#include "calls.h"

#include <errno.h>
#include <pthread.h>

/* Counts and fails; the hook of the linker has no argument to find it by. */
static struct faults {
    _Atomic int64_t seen;
    _Atomic int64_t live;    /* blocks */
    _Atomic int64_t fail_at; /* 0: never */
    _Atomic int for_ever;
    _Atomic int64_t threads_left; /* that may be started; negative: any number */
} faults = {.threads_left = -1};

static void *take(void *user, size_t bytes) {
    (void)user;
    const int64_t number = ++faults.seen;
    if (faults.fail_at > 0 &&
        (faults.for_ever ? number >= faults.fail_at : number == faults.fail_at))
        return NULL;
    void *memory = malloc(bytes);
    faults.live += memory != NULL;
    return memory;
}

static void give(void *user, void *memory) {
    (void)user;
    faults.live -= memory != NULL;
    free(memory);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg) {
    if (faults.threads_left == 0)
        return EAGAIN;
    faults.threads_left -= faults.threads_left > 0;
    return __real_pthread_create(thread, attributes, start, arg);
}

typedef struct tally {
    int64_t calls, points, without; /* calls, failed allocations, of these done without */
    int64_t threads;                /* runs with threads that did not start */
} tally;

static void complain(const world *w, const call *c, const char *what, int64_t at) {
    char name[128];
    fail_msg("%s: %s when allocation %lld fails%s on %d threads (%s)", call_name(c, name), what,
             (long long)at, faults.for_ever ? " and all after it" : "", w->options.threads,
             rlar_ctx_error(w->ctx));
}

static bool is_about_memory(const char *text) {
    return (strstr(text, " needed, the system has no more; use less data") ||
            strstr(text, "no memory for ")) &&
           !strchr(text, '\n');
}

/* What a call that ran out of memory must have left. */
static void check_failure(world *w, const call *c, rlar_status status, int64_t at) {
    if (status != RLAR_E_NOMEM)
        complain(w, c, "another error", at);
    if (c->function != calls()->function && !is_about_memory(rlar_ctx_error(w->ctx)))
        complain(w, c, "a wrong text", at);
    if (!world_is_empty(w))
        complain(w, c, "something is returned", at);
}

/* The allocation number `at` fails; false: there is none. */
static bool fail_at(world *w, const call *c, int64_t at, uint64_t expected, tally *t) {
    rlar_ctx_rest(w->ctx);
    const int64_t held = rlar_ctx_memory(w->ctx), live = faults.live;
    const uint64_t files = world_files(w);
    faults.seen = 0;
    faults.fail_at = at;
    const rlar_status status = c->run(w, c->variant);
    const bool struck = faults.seen >= at;
    faults.fail_at = 0;
    if (status < 0) {
        check_failure(w, c, status, at);
        if (world_files(w) != files && !call_keeps(c))
            complain(w, c, "files changed", at);
        (void)world_forget(w);
    } else if (world_forget(w) != expected) {
        complain(w, c, "other bits", at);
    }
    rlar_ctx_rest(w->ctx);
    if (rlar_ctx_memory(w->ctx) != held || faults.live != live)
        complain(w, c, "memory is lost", at);
    t->points += struck;
    t->without += struck && status >= 0;
    return struck;
}

static void again(world *w, const call *c, int64_t at, uint64_t expected) {
    world_restore(w);
    if (c->run(w, c->variant) < 0)
        complain(w, c, "the next try fails", at);
    if (world_forget(w) != expected)
        complain(w, c, "the next try gives other bits", at);
    world_restore(w);
}

static void fail_everywhere(world *w, const call *c, int64_t every, tally *t) {
    world_restore(w);
    if (c->run(w, c->variant) < 0)
        complain(w, c, "an error", 0);
    const uint64_t expected = world_forget(w);
    world_restore(w);
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        faults.for_ever = for_ever;
        for (int64_t at = 1; fail_at(w, c, at, expected, t); at += every)
            again(w, c, at, expected);
    }
    faults.for_ever = 0;
    for (int some = 0; some < 2 && w->options.threads > 1; some++, t->threads++) {
        rlar_ctx_rest(w->ctx);
        faults.threads_left = some;
        again(w, c, 0, expected);
        faults.threads_left = -1;
    }
    t->calls++;
}

int main(int argc, char **argv) {
    int64_t every = 1, only = 0;
    for (int i = 1; i + 1 < argc; i += 2)
        *(strcmp(argv[i], "--every") == 0 ? &every : &only) = atoll(argv[i + 1]);
    const char *root = getenv("RLAR_SOURCE_ROOT");
    char header[512];
    char on[32] = "1 and 3";
    tally t = {0};
    int64_t rounds = 0;
    if (only > 0)
        snprintf(on, sizeof on, "%lld", (long long)only);
    snprintf(header, sizeof header, "%s/include/rlar.h", root ? root : ".");
    calls_check(header);
    for (int threads = 1; threads <= 3; threads += 2) {
        if (only > 0 && threads != only)
            continue;
        rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
        world w;
        options.threads = threads;
        options.alloc = take;
        options.release = give;
        world_open(&w, &options, "2");
        for (const call *c = calls(); c->function; c++)
            fail_everywhere(&w, c, every, &t);
        world_close(&w);
        assert_int_equal(faults.live, 0);
        rounds++;
    }
    assert_true(rounds > 0 && t.points > 0);
    printf("%lld failed allocations in %lld public calls and variants on %s threads: "
           "RLAR_E_NOMEM, or the same bits without the memory (%lld), nothing lost, the next try "
           "right; %lld runs with threads that did not start: the same bits\n",
           (long long)t.points, (long long)(t.calls / rounds), on, (long long)t.without,
           (long long)t.threads);
    return 0;
}
