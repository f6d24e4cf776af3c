/* threads.c - sixteen threads that use one model, each with a context of its own, and that train
 * with sixty-four contexts of two threads each: every answer is that of one thread alone. Made to
 * be run under ThreadSanitizer, too (races.py).
 *
 *   threads [--count N]
 *
 * N fits in all (default 200), and as many predictions by the shared models. */
#include <pthread.h>

#include "trial.h"

enum { THREADS = 16, CONTEXTS = 64, METHODS = 17 };

/* What one thread alone had to say of one method. */
typedef struct expected {
    rlar_model *model; /* shared by all threads */
    void *bytes;
    size_t size;
    double *z;
    int64_t *class;
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

static rlar_model *fit_one(rlar_ctx *ctx, const work *w, int64_t m) {
    rlar_params *params = NULL;
    rlar_model *model = NULL;
    if (rlar_params_new(ctx, rlar_method_at(m)->name, &params) < 0)
        return NULL;
    rlar_fit(ctx, w->data, params, NULL, &model, NULL);
    rlar_params_free(params);
    return model;
}

static void expect(work *w, int64_t m) {
    expected *e = &w->by[m];
    e->model = fit_one(w->home, w, m);
    assert_non_null(e->model);
    assert_int_equal(rlar_model_save_bytes(w->home, e->model, &e->bytes, &e->size), RLAR_OK);
    e->z = zeros(w->s.n * rlar_model_outputs(e->model));
    e->class = calloc((size_t)w->s.n, sizeof *e->class);
    assert_int_equal(rlar_transform(w->home, e->model, w->data, e->z), RLAR_OK);
    assert_int_equal(rlar_predict(w->home, e->model, w->data, NULL, e->class, NULL), RLAR_OK);
}

/* ---- What a thread does ---- */

static bool same_fit(rlar_ctx *ctx, const work *w, int64_t m) {
    void *bytes = NULL;
    size_t size = 0;
    rlar_model *model = fit_one(ctx, w, m);
    const bool same = model && rlar_model_save_bytes(ctx, model, &bytes, &size) >= 0 &&
                      size == w->by[m].size && memcmp(bytes, w->by[m].bytes, size) == 0;
    rlar_bytes_free(ctx, bytes);
    rlar_model_free(model);
    return same;
}

static bool same_answers(rlar_ctx *ctx, const work *w, int64_t m) {
    const expected *e = &w->by[m];
    const int64_t count = w->s.n * rlar_model_outputs(e->model);
    double *z = malloc((size_t)count * sizeof *z);
    int64_t *class = malloc((size_t)w->s.n * sizeof *class);
    const bool same = z && class && rlar_transform(ctx, e->model, w->data, z) >= 0 &&
                      rlar_predict(ctx, e->model, w->data, NULL, class, NULL) >= 0 &&
                      memcmp(z, e->z, (size_t)count * sizeof *z) == 0 &&
                      memcmp(class, e->class, (size_t)w->s.n * sizeof *class) == 0;
    free(z);
    free(class);
    return same;
}

/* Fits with the contexts in turn, predictions with one of its own. */
static void *run_thread(void *arg) {
    work *w = arg;
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    rlar_ctx *own = NULL;
    o.threads = 1;
    if (rlar_ctx_new(&o, &own) < 0)
        atomic_fetch_add(&w->wrong, 1);
    for (int64_t i; own && (i = atomic_fetch_add(&w->next, 1)) < w->count;) {
        pthread_mutex_lock(&w->busy[i % CONTEXTS]);
        const bool equal = same_fit(w->ctx[i % CONTEXTS], w, i % METHODS);
        pthread_mutex_unlock(&w->busy[i % CONTEXTS]);
        if (!equal || !same_answers(own, w, i * 5 % METHODS))
            atomic_fetch_add(&w->wrong, 1);
    }
    rlar_ctx_free(own);
    return NULL;
}

static void run(work *w) {
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_thread, w), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

int main(int argc, char **argv) {
    const int64_t sizes[] = {14, 12, 15};
    work w = {.home = context(1), .count = count_option(argc, argv, 200)};
    assert_int_equal(rlar_method_count(), METHODS);
    w.s = clouds(5, 9, 3, sizes);
    assert_int_equal(view_labelled(w.home, &w.s, &w.data), RLAR_OK);
    for (int64_t m = 0; m < METHODS; m++)
        expect(&w, m);
    for (int i = 0; i < CONTEXTS; i++) {
        w.ctx[i] = context(2);
        pthread_mutex_init(&w.busy[i], NULL);
    }
    run(&w);
    for (int i = 0; i < CONTEXTS; i++) {
        rlar_ctx_free(w.ctx[i]);
        pthread_mutex_destroy(&w.busy[i]);
    }
    for (int64_t m = 0; m < METHODS; m++) {
        rlar_bytes_free(w.home, w.by[m].bytes);
        rlar_model_free(w.by[m].model);
        free(w.by[m].z);
        free(w.by[m].class);
    }
    rlar_data_free(w.data);
    rlar_ctx_free(w.home);
    labelled_free(&w.s);
    printf("%lld fits with %d contexts and as many predictions by %d shared models in %d threads: "
           "%lld other than alone\n",
           (long long)w.count, CONTEXTS, METHODS, THREADS, (long long)w.wrong);
    return w.wrong > 0;
}
