/* cancel_faults.c - someone asks to stop, at every callback of every public call.
 *
 *     cancel_faults [--every N]     every N-th callback only (default 1)
 *
 * The clock of the library is made to jump, so that every place where it would look for a wish to
 * stop is a callback. Each in turn answers so, on one thread and on two: RLAR_E_CANCELLED, nothing
 * returned, no memory and no file left, the old file intact; then the call works on the same
 * context and gives the same bits. */
#include "calls.h"

#include <time.h>

typedef struct stop {
    int64_t seen, stop_at; /* callbacks; 0: never */
    int64_t iterations;    /* of those that stopped it, how many told of an iteration, */
    int64_t fits;          /* a finished fit of an evaluation, */
    int64_t reads;         /* or bytes that were read */
} stop;

typedef struct tally {
    int64_t calls, points;
} tally;

static int ask(void *user, const rlar_event *event) {
    stop *s = user;
    if (s->stop_at == 0 || ++s->seen != s->stop_at)
        return 0;
    s->iterations += event->kind == RLAR_EVENT_ITERATION;
    s->fits += event->kind == RLAR_EVENT_FIT;
    s->reads += event->kind == RLAR_EVENT_READ;
    return 1;
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

/* Every look at the clock is a second later than the one before. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now) {
    static _Atomic int64_t looks;
    const int answer = __real_clock_gettime(clock, now);
    now->tv_sec += ++looks;
    return answer;
}

static void complain(const world *w, const call *c, const char *what, int64_t at) {
    char name[128];
    fail_msg("%s: %s when callback %lld asks to stop, on %d threads (%s)", call_name(c, name), what,
             (long long)at, w->options.threads, rlar_ctx_error(w->ctx));
}

/* The callback number `at` asks to stop; false: there is none. */
static bool stop_at(world *w, const call *c, int64_t at, uint64_t expected) {
    stop *s = w->options.user;
    rlar_ctx_rest(w->ctx);
    const int64_t held = rlar_ctx_memory(w->ctx);
    const uint64_t files = world_files(w);
    s->seen = 0;
    s->stop_at = at;
    const rlar_status status = c->run(w, c->variant);
    s->stop_at = 0;
    const bool asked = s->seen >= at;
    if (asked && (status != RLAR_E_CANCELLED || !strstr(rlar_ctx_error(w->ctx), "cancelled")))
        complain(w, c, "no cancellation", at);
    if (asked && !world_is_empty(w))
        complain(w, c, "something is returned", at);
    if (asked && world_files(w) != files && !call_keeps(c))
        complain(w, c, "files changed", at);
    if (world_forget(w) != expected && !asked)
        complain(w, c, "other bits", at);
    rlar_ctx_rest(w->ctx);
    if (rlar_ctx_memory(w->ctx) != held)
        complain(w, c, "memory is lost", at);
    return asked;
}

static void again(world *w, const call *c, int64_t at, uint64_t expected) {
    if (c->run(w, c->variant) < 0 || world_forget(w) != expected)
        complain(w, c, "the next try is not right", at);
    world_restore(w);
}

static void stop_everywhere(world *w, const call *c, int64_t every, tally *t) {
    if (c->run(w, c->variant) < 0)
        complain(w, c, "an error", 0);
    const uint64_t expected = world_forget(w);
    world_restore(w);
    for (int64_t at = 1; stop_at(w, c, at, expected); at += every, t->points++)
        again(w, c, at, expected);
    world_restore(w);
    t->calls++;
}

int main(int argc, char **argv) {
    const int64_t every = argc == 3 && strcmp(argv[1], "--every") == 0 ? atoll(argv[2]) : 1;
    stop s = {0};
    tally t = {0};
    for (int threads = 1; threads <= 2; threads++) {
        rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
        world w;
        options.threads = threads;
        options.progress = ask;
        options.user = &s;
        world_open(&w, &options, "6");
        for (const call *c = calls(); c->function; c++)
            stop_everywhere(&w, c, every, &t);
        world_close(&w);
    }
    assert_true(s.iterations > 0 && s.fits > 0 && s.reads > 0);
    printf(
        "%lld cancellations in %lld public calls and variants on 1 and 2 threads (%lld at an "
        "iteration, %lld at a fit of an evaluation, %lld while reading): RLAR_E_CANCELLED, nothing "
        "left, the next try right\n",
        (long long)t.points, (long long)t.calls / 2, (long long)s.iterations, (long long)s.fits,
        (long long)s.reads);
    return 0;
}
