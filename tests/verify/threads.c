/* threads.c - sixteen threads that use one model, each with a context of its own, and that train
 * with sixty-four contexts of two threads each: every answer is that of one thread alone. Made to
 * be run under ThreadSanitizer, too (races.py).
 *
 *   threads [--count N]
 *
 * N fits in all (default 200), and as many predictions by the shared models. Before these, for
 * every method and in several rounds, data and a model that nothing was asked of yet are asked
 * everything by all threads at once. */
#include <pthread.h>

#include "questions.h"

#include "../unit/reading.h"

enum { THREADS = 16, CONTEXTS = 64, METHODS = 17, TYPES = 3, FITS_PER_ROUND = 100 };

static void together(void *(*run)(void *), void *arg, size_t size) {
    pthread_t thread[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run, (char *)arg + i * size), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* ---- The first questions, by all at once ---- */

/* The same samples as each type of rlar_dtype. */
typedef struct samples {
    labelled s;
    float *single;
    int64_t *start, *column;
} samples;

typedef struct tally {
    int64_t models, data, answers, wrong;
} tally;

typedef struct source {
    rlar_ctx *home; /* of what is shared, used by no thread while they run */
    samples full, holed;
    char path[512];
} source;

typedef struct pass {
    shared on;
    const question *list;
    int count, first; /* questions; the one that thread 0 begins with */
    pthread_barrier_t gate;
} pass;

typedef struct seat {
    pass *in;
    int number;
    record *answers;
} seat;

static samples samples_of(labelled s) {
    samples t = {.s = s,
                 .single = calloc((size_t)(s.n * s.d), sizeof *t.single),
                 .start = calloc((size_t)s.n + 1, sizeof *t.start),
                 .column = calloc((size_t)(s.n * s.d), sizeof *t.column)};
    assert_true(t.single && t.start && t.column);
    for (int64_t i = 0; i < s.n * s.d; i++) {
        t.single[i] = (float)s.x[i];
        t.column[i] = i % s.d;
    }
    for (int64_t i = 0; i <= s.n; i++)
        t.start[i] = i * s.d;
    return t;
}

static void samples_free(samples *t) {
    free(t->single);
    free(t->start);
    free(t->column);
    labelled_free(&t->s);
}

static rlar_data *data_of(rlar_ctx *ctx, const samples *t, rlar_dtype type) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    rlar_view v = RLAR_INIT(rlar_view);
    rlar_data *data = NULL;
    v.type = type;
    v.n = t->s.n;
    v.d = v.stride = t->s.d;
    v.x = type == RLAR_F32 ? (const void *)t->single : t->s.x;
    v.indptr = t->start;
    v.indices = t->column;
    assert_int_equal(v.d, sizeof names / sizeof *names);
    expect_done(ctx, rlar_data_view(ctx, &v, &data));
    expect_done(ctx, rlar_data_set_label_numbers(ctx, data, t->s.label));
    expect_done(ctx, rlar_data_set_features(ctx, data, names));
    return data;
}

/* Nothing has been asked of what this makes. bytes NULL: without a model. */
static shared made_anew(const source *from, int64_t m, rlar_dtype type, const record *bytes) {
    shared on = {.method = rlar_method_at(m)->name,
                 .data = data_of(from->home, &from->full, type),
                 .holed = data_of(from->home, &from->holed, type),
                 .path = from->path};
    if (bytes)
        expect_done(from->home,
                    rlar_model_load_bytes(from->home, bytes->bytes, bytes->size, &on.model));
    return on;
}

static void shared_free(shared *on) {
    rlar_data_free(on->data);
    rlar_data_free(on->holed);
    rlar_model_free(on->model);
}

/* Each thread begins with another question. Between them the threads share no lock and no counter:
 * that would order what they do, and ThreadSanitizer would see no race. */
static void *take_seat(void *arg) {
    const seat *own = arg;
    pass *in = own->in;
    rlar_ctx *ctx = context(1 + own->number % 2);
    pthread_barrier_wait(&in->gate);
    for (int i = 0; i < in->count; i++) {
        const int q = (in->first + own->number + i) % in->count;
        own->answers[q] = answer(ctx, &in->on, &in->list[q]);
    }
    rlar_ctx_free(ctx);
    return NULL;
}

/* What a copy that is not shared answers to the question is what all have got. */
static record compare(const source *from, const shared *copy, const question *q, const seat *seats,
                      int64_t at, tally *t) {
    record want = answer(from->home, copy, q);
    for (int i = 0; i < THREADS; i++) {
        if (!same_record(&seats[i].answers[at], &want)) {
            t->wrong++;
            fprintf(stderr, "%s, %s %s: thread %d was told otherwise\n", copy->method, q->name,
                    q->with ? q->with : "", i);
        }
        t->answers += want.size > 0; /* not all is asked of every method */
        free(seats[i].answers[at].bytes);
    }
    return want;
}

/* The threads ask first, so that they are also the first to ask this of the library. The answer to
 * the first question is the caller's. */
static record ask_at_once(const source *from, int64_t m, int64_t number, const record *bytes,
                          tally *t) {
    const rlar_dtype type = (rlar_dtype)((m + number) % TYPES);
    pass in = {.on = made_anew(from, m, type, bytes),
               .list = bytes ? of_model : of_data,
               .count = bytes ? OF_MODEL : OF_DATA};
    shared copy = made_anew(from, m, type, bytes);
    record answers[THREADS][OF_DATA + OF_MODEL], first = {0};
    seat seats[THREADS];
    in.first = (int)((m + number * THREADS) % in.count);
    pthread_barrier_init(&in.gate, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        seats[i] = (seat){.in = &in, .number = i, .answers = answers[i]};
    together(take_seat, seats, sizeof *seats);
    for (int q = 0; q < in.count; q++) {
        const record want = compare(from, &copy, &in.list[q], seats, q, t);
        if (q == 0)
            first = want;
        else
            free(want.bytes);
    }
    pthread_barrier_destroy(&in.gate);
    shared_free(&in.on);
    shared_free(&copy);
    t->models += bytes != NULL;
    t->data++;
    return first;
}

/* A method's model comes from the round in which there was none. */
static tally ask_first(int64_t rounds) {
    const int64_t sizes[] = {8, 6, 9};
    char buf[512];
    temp_folder folder = new_folder();
    tally t = {0};
    source from = {.home = context(1),
                   .full = samples_of(clouds(7, 6, 3, sizes)),
                   .holed = samples_of(clouds(7, 6, 3, sizes))};
    from.holed.s.x[1] = NAN;
    from.holed.single[1] = NAN;
    snprintf(from.path, sizeof from.path, "%s", path_in(&folder, "samples.csv", buf));
    rlar_data *data = data_of(from.home, &from.full, RLAR_F64);
    expect_done(from.home, rlar_data_write(from.home, data, from.path, NULL));
    for (int64_t m = 0; m < METHODS; m++) {
        record bytes = ask_at_once(&from, m, 0, NULL, &t);
        for (int64_t r = 1; r <= rounds; r++)
            free(ask_at_once(&from, m, r, &bytes, &t).bytes);
        free(bytes.bytes);
    }
    rlar_data_free(data);
    remove_folder(&folder);
    samples_free(&from.full);
    samples_free(&from.holed);
    rlar_ctx_free(from.home);
    return t;
}

/* ---- Many fits and predictions ---- */

/* What one thread alone had to say of one method. */
typedef struct expected {
    shared on; /* by all threads */
    record fit, outputs, classes;
} expected;

typedef struct work {
    rlar_ctx *home; /* of the data and the models, used by no thread while they run */
    labelled s;
    rlar_data *data; /* shared by all threads */
    expected by[METHODS];
    rlar_ctx *ctx[CONTEXTS];
    pthread_mutex_t busy[CONTEXTS]; /* a context is used by one thread at a time */
    int64_t count;
    _Atomic int64_t next, wrong;
} work;

static const question fitting = {ask_fit, "fit", ""};
static const question outputs = {ask_outputs, "transform", NULL};
static const question classes = {ask_predict, "predict", RLAR_CLASSIFIER_DEFAULT};

static void expect(work *w, int64_t m) {
    expected *e = &w->by[m];
    e->on = (shared){.method = rlar_method_at(m)->name, .data = w->data, .holed = w->data};
    e->fit = answer(w->home, &e->on, &fitting);
    e->on.model = fit_one(w->home, &e->on, "");
    e->outputs = answer(w->home, &e->on, &outputs);
    e->classes = answer(w->home, &e->on, &classes);
}

static bool same_answer(rlar_ctx *ctx, const shared *on, const question *q, const record *want) {
    record r = answer(ctx, on, q);
    const bool same = same_record(&r, want);
    free(r.bytes);
    return same;
}

static bool same_fit(rlar_ctx *ctx, const expected *e) {
    shared unfitted = e->on;
    unfitted.model = NULL;
    return same_answer(ctx, &unfitted, &fitting, &e->fit);
}

static bool same_answers(rlar_ctx *ctx, const expected *e) {
    return same_answer(ctx, &e->on, &outputs, &e->outputs) &&
           same_answer(ctx, &e->on, &classes, &e->classes);
}

/* Fits with the contexts in turn, predictions with one of its own. */
static void *run_thread(void *arg) {
    work *w = arg;
    rlar_ctx *own = context(1);
    for (int64_t i; (i = atomic_fetch_add(&w->next, 1)) < w->count;) {
        pthread_mutex_lock(&w->busy[i % CONTEXTS]);
        const bool equal = same_fit(w->ctx[i % CONTEXTS], &w->by[i % METHODS]);
        pthread_mutex_unlock(&w->busy[i % CONTEXTS]);
        if (!equal || !same_answers(own, &w->by[i * 5 % METHODS]))
            atomic_fetch_add(&w->wrong, 1);
    }
    rlar_ctx_free(own);
    return NULL;
}

/* How many were other than alone. */
static int64_t fit_and_predict(int64_t count) {
    const int64_t sizes[] = {14, 12, 15};
    work w = {.home = context(1), .count = count};
    w.s = clouds(5, 9, 3, sizes);
    assert_int_equal(view_labelled(w.home, &w.s, &w.data), RLAR_OK);
    for (int64_t m = 0; m < METHODS; m++)
        expect(&w, m);
    for (int i = 0; i < CONTEXTS; i++) {
        w.ctx[i] = context(2);
        pthread_mutex_init(&w.busy[i], NULL);
    }
    together(run_thread, &w, 0);
    for (int i = 0; i < CONTEXTS; i++) {
        rlar_ctx_free(w.ctx[i]);
        pthread_mutex_destroy(&w.busy[i]);
    }
    for (int64_t m = 0; m < METHODS; m++) {
        rlar_model_free(w.by[m].on.model);
        free(w.by[m].fit.bytes);
        free(w.by[m].outputs.bytes);
        free(w.by[m].classes.bytes);
    }
    rlar_data_free(w.data);
    rlar_ctx_free(w.home);
    labelled_free(&w.s);
    return w.wrong;
}

int main(int argc, char **argv) {
    const int64_t count = count_option(argc, argv, 200);
    assert_int_equal(rlar_method_count(), METHODS);
    const tally t = ask_first(2 + count / FITS_PER_ROUND);
    const int64_t wrong = t.wrong + fit_and_predict(count);
    printf("%lld fits with %d contexts and as many predictions by %d shared models in %d threads, "
           "%lld answers of %lld new models and %lld new sets of data to all of these at once: "
           "%lld other than alone\n",
           (long long)count, CONTEXTS, METHODS, THREADS, (long long)t.answers, (long long)t.models,
           (long long)t.data, (long long)wrong);
    return wrong > 0;
}
