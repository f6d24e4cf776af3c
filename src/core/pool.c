/* pool.c - a small pool of threads on pthreads.
 *
 * The calling thread works too and is the only one that calls back. Tasks are handed out by an
 * atomic counter; since each writes its own outputs, the order does not matter to the result. After
 * a fork the child's pool has no threads: it is recognised by the process number and made anew. */
#include "core/core.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef struct job {
    rlar_task task;
    void *arg;
    int64_t count;
    _Atomic int64_t next;
    atomic_int stop;
    atomic_int *cancel;
    pthread_mutex_t lock; /* guards the two below */
    int64_t failed_index;
    rlar_status failed;
} job;

struct rlar_pool {
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    job *current;                /* NULL: nothing to do */
    _Atomic uint64_t generation; /* counts jobs, so that a worker takes each once */
    atomic_int busy;             /* workers inside the current job */
    bool quit;
    pid_t owner;
    int threads; /* workers that run, the caller not counted */
    pthread_t thread[];
};

static void note_failure(job *j, int64_t index, rlar_status status) {
    pthread_mutex_lock(&j->lock);
    if (j->failed == RLAR_OK || index < j->failed_index) {
        j->failed = status;
        j->failed_index = index;
    }
    pthread_mutex_unlock(&j->lock);
    atomic_store(&j->stop, 1);
}

/* Take tasks until there are none. ctx is the caller's, or NULL on a worker. */
static void work(job *j, rlar_ctx *ctx) {
    while (!atomic_load_explicit(&j->stop, memory_order_relaxed)) {
        const int64_t index = atomic_fetch_add(&j->next, 1);
        if (index >= j->count)
            return;
        const rlar_status status = j->task(j->arg, index);
        if (status < 0)
            note_failure(j, index, status);
        if (ctx ? rlar__poll(ctx) < 0 : atomic_load(j->cancel) != 0)
            atomic_store(&j->stop, 1);
    }
}

/* A step of a fit is often over before a sleeping thread has woken up: wait a little, some tens of
 * microseconds, before going to sleep. */
enum { PATIENCE = 1000 };

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void await_job(rlar_pool *pool, uint64_t seen) {
    for (int i = 0; i < PATIENCE && atomic_load(&pool->generation) == seen; i++)
        pause_briefly();
}

static void await_workers(rlar_pool *pool) {
    for (int i = 0; i < PATIENCE && atomic_load(&pool->busy) > 0; i++)
        pause_briefly();
}

static void *worker(void *arg) {
    rlar_pool *pool = arg;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        if (!pool->quit && pool->generation == seen) {
            pthread_mutex_unlock(&pool->lock);
            await_job(pool, seen);
            pthread_mutex_lock(&pool->lock);
        }
        while (!pool->quit && (!pool->current || pool->generation == seen))
            pthread_cond_wait(&pool->wake, &pool->lock);
        if (pool->quit)
            break;
        seen = pool->generation;
        job *j = pool->current;
        pool->busy++;
        pthread_mutex_unlock(&pool->lock);
        work(j, NULL);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Signals belong to the host's threads, never to ours. Fewer threads than asked for are no error.
 */
static void start_workers(rlar_pool *pool, int count) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (pool->threads < count &&
           pthread_create(&pool->thread[pool->threads], NULL, worker, pool) == 0)
        pool->threads++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static rlar_status pool_new(rlar_ctx *ctx, int count) {
    size_t bytes = sizeof(rlar_pool) + (size_t)count * sizeof(pthread_t);
    rlar_pool *pool;
    RLAR_TRY(rlar__calloc(ctx, (int64_t)bytes, 1, "the thread pool", &pool));
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->idle, NULL);
    pool->owner = getpid();
    start_workers(pool, count);
    ctx->pool = pool;
    return RLAR_OK;
}

void rlar__pool_free(rlar_pool *pool) {
    if (!pool)
        return;
    if (pool->owner == getpid()) {
        pthread_mutex_lock(&pool->lock);
        pool->quit = true;
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->lock);
        for (int i = 0; i < pool->threads; i++)
            pthread_join(pool->thread[i], NULL);
        pthread_mutex_destroy(&pool->lock);
        pthread_cond_destroy(&pool->wake);
        pthread_cond_destroy(&pool->idle);
    }
    rlar__free(pool);
}

/* The pool of this process, or NULL when the caller works alone. */
static rlar_status pool_get(rlar_ctx *ctx, int64_t tasks, rlar_pool **out) {
    *out = NULL;
    if (ctx->threads < 2 || tasks < 2)
        return RLAR_OK;
    if (ctx->pool && ctx->pool->owner != getpid()) {
        rlar__pool_free(ctx->pool);
        ctx->pool = NULL;
    }
    if (!ctx->pool)
        RLAR_TRY(pool_new(ctx, ctx->threads - 1));
    *out = ctx->pool;
    return RLAR_OK;
}

static void pool_start(rlar_pool *pool, job *j) {
    pthread_mutex_lock(&pool->lock);
    pool->current = j;
    pool->generation++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

static void pool_finish(rlar_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->current = NULL;
    pthread_mutex_unlock(&pool->lock);
    await_workers(pool);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->idle, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

rlar_status rlar__parallel(rlar_ctx *ctx, int64_t count, rlar_task task, void *arg) {
    rlar_pool *pool;
    RLAR_TRY(pool_get(ctx, count, &pool));
    job j = {.task = task, .arg = arg, .count = count, .cancel = ctx->cancel};
    pthread_mutex_init(&j.lock, NULL);
    if (pool)
        pool_start(pool, &j);
    work(&j, ctx);
    if (pool)
        pool_finish(pool);
    pthread_mutex_destroy(&j.lock);
    return j.failed < 0 ? j.failed : rlar__poll(ctx);
}

typedef struct range_job {
    int64_t count, width;
    rlar_range_task task;
    void *arg;
} range_job;

static rlar_status run_range(void *arg, int64_t index) {
    const range_job *r = arg;
    const int64_t start = index * r->width;
    return r->task(r->arg, start, r->count - start < r->width ? r->count : start + r->width);
}

rlar_status rlar__parallel_ranges(rlar_ctx *ctx, int64_t count, int64_t width, rlar_range_task task,
                                  void *arg) {
    range_job r = {.count = count, .width = width, .task = task, .arg = arg};
    return rlar__parallel(ctx, count / width + (count % width > 0), run_range, &r);
}

typedef struct ctx_job {
    rlar_ctx *parent;
    rlar_ctx_task task;
    void *arg;
    pthread_t caller;
    pthread_mutex_t lock; /* guards the text and the index of the failure */
    int64_t failed_index;
    char error[RLAR_ERROR_SIZE];
} ctx_job;

static void keep_error(ctx_job *cj, const rlar_ctx *child, int64_t index) {
    pthread_mutex_lock(&cj->lock);
    if (cj->failed_index < 0 || index < cj->failed_index) {
        cj->failed_index = index;
        memcpy(cj->error, child->error, sizeof cj->error);
    }
    pthread_mutex_unlock(&cj->lock);
}

static rlar_status run_with_child(void *arg, int64_t index) {
    ctx_job *cj = arg;
    rlar_ctx child;
    rlar__ctx_child(cj->parent, pthread_equal(pthread_self(), cj->caller) != 0, &child);
    const rlar_status status = cj->task(&child, cj->arg, index);
    if (status < 0)
        keep_error(cj, &child, index);
    rlar__ctx_child_end(&child);
    return status;
}

rlar_status rlar__parallel_ctx(rlar_ctx *ctx, int64_t count, rlar_ctx_task task, void *arg) {
    ctx_job cj = {
        .parent = ctx, .task = task, .arg = arg, .caller = pthread_self(), .failed_index = -1};
    pthread_mutex_init(&cj.lock, NULL);
    const rlar_status status = rlar__parallel(ctx, count, run_with_child, &cj);
    pthread_mutex_destroy(&cj.lock);
    if (status < 0 && cj.failed_index >= 0)
        return rlar__fail(ctx, status, "%s", cj.error);
    return status;
}
