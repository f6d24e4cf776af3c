/* blas.c - opens the BLAS at run time, with the kernel that the processor deserves.
 *
 * OpenBLAS chooses its kernel in a constructor, from a table of known processors; Debian 12's takes
 * newer ones for a Prescott and runs at a quarter of their speed. So we ask the CPUID instruction,
 * set OPENBLAS_CORETYPE (unless the user did), open the library, and put the environment back. A
 * library that the host has already loaded, with its own kernel and threads, is left alone: another
 * build of OpenBLAS opened by its path is a separate copy.
 *
 * Every call is single-threaded: parallelism is ours (same bits for any number of threads).
 * Debian's serial build is never opened: called from several threads at once it returns wrong
 * products.
 *
 * The function table is the only process-wide state of the library: written once, under
 * pthread_once. */
#include "linalg/blas.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define RLAR_X86 1
#endif

/* RTLD_DEEPBIND keeps the library's own symbols its own when the host has linked another BLAS;
 * the sanitizers refuse to run with it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL)
#endif
#endif
#ifndef OPEN_FLAGS
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
#endif

/* The values of the CBLAS interface. */
enum {
    COLUMN_MAJOR = 102,
    NO_TRANS = 111,
    TRANS = 112,
    LOWER = 122,
    NON_UNIT = 131,
    LEFT = 141,
    RIGHT = 142
};

typedef struct blas_table {
    void (*dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int,
                  double, double *, int);
    void (*dsyrk)(int, int, int, int, int, double, const double *, int, double, double *, int);
    void (*dgemv)(int, int, int, int, double, const double *, int, const double *, int, double,
                  double *, int);
    void (*dtrsm)(int, int, int, int, int, int, int, double, const double *, int, double *, int);
    void (*dtrmm)(int, int, int, int, int, int, int, double, const double *, int, double *, int);
    void (*dpotrf)(const char *, const int *, double *, const int *, int *);
    void (*dpotri)(const char *, const int *, double *, const int *, int *);
    void (*dgeqrf)(const int *, const int *, double *, const int *, double *, double *, const int *,
                   int *);
    void (*dorgqr)(const int *, const int *, const int *, double *, const int *, const double *,
                   double *, const int *, int *);
    void (*dsyevr)(const char *, const char *, const char *, const int *, double *, const int *,
                   const double *, const double *, const int *, const int *, const double *, int *,
                   double *, double *, const int *, int *, double *, const int *, int *,
                   const int *, int *);
    void (*dgesdd)(const char *, const int *, const int *, double *, const int *, double *,
                   double *, const int *, double *, const int *, double *, const int *, int *,
                   int *);
    int (*omp_get)(void); /* OpenMP builds follow the calling thread's setting */
    void (*omp_set)(int);
    const char *library, *kernel, *config, *wanted, *chosen;
    bool generic;
    int reason; /* without a library: errno, where the process has no descriptor left; else 0 */
} blas_table;

static blas_table blas;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- Which kernel does the processor deserve? ---- */

#ifdef RLAR_X86
static bool system_saves(unsigned mask) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return false;
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & mask) == mask;
}

/* Not from /proc/cpuinfo: under valgrind only the instruction tells the truth. */
static const char *wanted_kernel(void) {
    const unsigned avx_state = 0x06, avx512_state = 0xe6;
    unsigned a, b, c, d, c1, d1;
    if (!__get_cpuid(1, &a, &b, &c1, &d1) || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return "";
    const unsigned skylake =
        bit_AVX512F | bit_AVX512DQ | bit_AVX512CD | bit_AVX512BW | bit_AVX512VL;
    if ((b & skylake) == skylake && system_saves(avx512_state))
        return "SkylakeX";
    if ((b & bit_AVX2) && (c1 & bit_FMA) && system_saves(avx_state))
        return "Haswell";
    return "";
}
#else
static const char *wanted_kernel(void) {
    return "";
}
#endif

/* Kernels made for AVX2 or better. Any other name, on a processor that has it, is the generic trap.
 */
static bool kernel_is_modern(const char *kernel) {
    static const char *const modern[] = {"Haswell", "Zen", "SkylakeX", "Cooperlake",
                                         "Sapphirerapids"};
    for (size_t i = 0; i < sizeof modern / sizeof *modern; i++)
        if (strcmp(kernel, modern[i]) == 0)
            return true;
    return false;
}

/* ---- Opening ---- */

static const char *const candidates[] = {
#ifdef RLAR_MULTIARCH
    "/usr/lib/" RLAR_MULTIARCH "/openblas-pthread/libopenblas.so.0",
    "/usr/lib/" RLAR_MULTIARCH "/openblas-openmp/libopenblas.so.0",
#endif
    "libopenblas.so.0",
    "libopenblas.so",
    "libmkl_rt.so",
    "liblapack.so.3",
};

/* dlsym answers an object pointer; ISO C has no cast from it to a function pointer. */
static bool find(void *handle, const char *name, void *function) {
    void *address = dlsym(handle, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static const char *ask(void *handle, const char *name) {
    const char *(*get)(void) = NULL;
    const char *answer = find(handle, name, &get) ? get() : NULL;
    return answer ? answer : "";
}

static int threads_of(void *handle) {
    int (*get)(void) = NULL;
    return find(handle, "openblas_get_num_threads", &get) ? get() : 1;
}

static bool is_openmp(void *handle) {
    int (*parallel)(void) = NULL;
    const int openmp = 2; /* openblas_get_parallel: 0 serial, 1 pthreads, 2 OpenMP */
    return find(handle, "openblas_get_parallel", &parallel) && parallel() == openmp;
}

/* Fill the table from an open library; false when a function is missing. */
static bool take(void *handle, const char *name) {
    blas_table t = {.library = name, .wanted = blas.wanted, .chosen = blas.chosen};
    if (!find(handle, "cblas_dgemm", &t.dgemm) || !find(handle, "cblas_dsyrk", &t.dsyrk) ||
        !find(handle, "cblas_dgemv", &t.dgemv) || !find(handle, "cblas_dtrsm", &t.dtrsm) ||
        !find(handle, "cblas_dtrmm", &t.dtrmm) || !find(handle, "dpotrf_", &t.dpotrf) ||
        !find(handle, "dpotri_", &t.dpotri) || !find(handle, "dgeqrf_", &t.dgeqrf) ||
        !find(handle, "dorgqr_", &t.dorgqr) || !find(handle, "dsyevr_", &t.dsyevr) ||
        !find(handle, "dgesdd_", &t.dgesdd))
        return false;
    t.kernel = ask(handle, "openblas_get_corename");
    t.config = ask(handle, "openblas_get_config");
    if (is_openmp(handle) && find(handle, "omp_get_max_threads", &t.omp_get))
        find(handle, "omp_set_num_threads", &t.omp_set);
    t.generic = *t.wanted && *t.kernel && !kernel_is_modern(t.kernel);
    blas = t;
    return true;
}

/* What a copy that the host has loaded must have to serve: one thread, which an OpenMP build has
 * for the time of every call of ours (one_thread), and the right kernel. A wrong kernel is slow;
 * more threads would change the bits, too. */
typedef enum demand { AS_OURS, ONE_THREAD, ANYTHING, DEMANDS } demand;

static bool serves(void *handle, demand asked) {
    const char *kernel = ask(handle, "openblas_get_corename");
    const bool alone = is_openmp(handle) || threads_of(handle) == 1;
    const bool right = !*blas.wanted || kernel_is_modern(kernel);
    return asked == ANYTHING || (alone && (right || asked == ONE_THREAD));
}

static bool open_one(const char *name, demand asked) {
    void *loaded = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded && !serves(loaded, asked)) {
        dlclose(loaded);
        return false;
    }
    void *handle = loaded ? loaded : dlopen(name, OPEN_FLAGS | RTLD_NODELETE);
    if (!handle || !take(handle, name))
        return false;
    blas.chosen = loaded ? "host" : blas.chosen;
    return true;
}

/* The linker tells no errno: can anything be opened? */
static int no_descriptor(void) {
    const int fd = (int)TEMP_FAILURE_RETRY(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (fd >= 0)
        close(fd);
    return fd < 0 && (errno == EMFILE || errno == ENFILE) ? errno : 0;
}

static void open_any(void) {
    const size_t count = sizeof candidates / sizeof *candidates;
    for (int asked = AS_OURS; asked < DEMANDS; asked++)
        for (size_t i = 0; i < count; i++)
            if (open_one(candidates[i], (demand)asked))
                return;
    blas.reason = no_descriptor();
}

/* Set a variable for the time of the opening; the old value, if any, goes to *old. */
static void set_for_now(const char *name, const char *value, char **old) {
    const char *before = getenv(name);
    *old = before ? strdup(before) : NULL;
    setenv(name, value, 1);
}

static void put_back(const char *name, char *old) {
    if (old)
        setenv(name, old, 1);
    else
        unsetenv(name);
    free(old);
}

static void open_once(void) {
    const char *const core = "OPENBLAS_CORETYPE", *const threads = "OPENBLAS_NUM_THREADS";
    const bool user_chose = getenv(core) != NULL;
    char *old_core = NULL, *old_threads = NULL;
    blas.wanted = wanted_kernel();
    blas.chosen = user_chose ? core : *blas.wanted ? "rlar" : "library";
    const bool set_core = !user_chose && *blas.wanted;
    if (set_core)
        set_for_now(core, blas.wanted, &old_core);
    set_for_now(threads, "1", &old_threads);
    open_any();
    put_back(threads, old_threads);
    if (set_core)
        put_back(core, old_core);
}

/* NULL for no bytes, MAP_FAILED where the system refuses. */
static void *map(size_t bytes, int flags) {
    return bytes == 0 ? NULL
                      : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void unmap(void *room, size_t bytes) {
    if (room && room != MAP_FAILED)
        munmap(room, bytes);
}

/* OpenBLAS takes a buffer of 128 MiB of address space for every thread that calls it at once, and
 * tries for ever when it cannot have it (under ulimit -v, say). Ask the system first; the pages are
 * not touched. Those buffers come one by one, and little of each is used: all in one mapping they
 * would be refused for being more than the machine has. */
static rlar_status check_room(rlar_ctx *ctx, int64_t beside) {
    const size_t buffers = ctx->blas_room ? 0 : (size_t)ctx->threads * 129 << 20;
    void *room = map(buffers, MAP_NORESERVE);
    void *more = room == MAP_FAILED ? MAP_FAILED : map((size_t)beside, 0);
    unmap(room, buffers);
    unmap(more, (size_t)beside);
    if (more == MAP_FAILED)
        return rlar__fail(
            ctx, RLAR_E_NOMEM,
            "the computation needs %zu MiB of address space on %d threads and the system "
            "refuses; raise the limit (ulimit -v), use fewer threads or less data",
            (buffers + (size_t)beside) >> 20, ctx->threads);
    ctx->blas_room = true;
    return RLAR_OK;
}

rlar_status rlar__blas_open(rlar_ctx *ctx, int64_t beside) {
    RLAR_TRY(check_room(ctx, beside));
    pthread_once(&once, open_once);
    if (!blas.dgemm && blas.reason != 0)
        return rlar__fail(ctx, RLAR_E_IO,
                          "cannot open a BLAS library: %s; raise the limit (ulimit -n), or close "
                          "files, and start again",
                          strerror(blas.reason));
    if (!blas.dgemm)
        return rlar__fail(
            ctx, RLAR_E_BLAS,
            "no BLAS library was found; install one: apt-get install libopenblas0-pthread");
    if (blas.generic && !ctx->blas_warned) {
        ctx->blas_warned = true;
        rlar__log(
            ctx, RLAR_OK,
            "the BLAS runs its %s kernel on a processor that deserves %s, several times slower; "
            "`rlar doctor` says what to do",
            blas.kernel, blas.wanted);
    }
    return RLAR_OK;
}

rlar_status rlar_blas_describe(rlar_ctx *ctx, rlar_blas_info *out) {
    if (!ctx || !out || out->size < sizeof *out)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_blas_describe: ctx and a sized out are needed");
    rlar__begin(ctx);
    RLAR_TRY(rlar__blas_open(ctx, 0));
    *out = (rlar_blas_info){.size = out->size,
                            .library = blas.library,
                            .config = blas.config,
                            .kernel = blas.kernel,
                            .wanted = blas.wanted,
                            .chosen = blas.chosen,
                            .generic = blas.generic};
    return RLAR_OK;
}

/* ---- The calls ---- */

/* One thread for the time of a call to an OpenMP build; the host's setting comes back after it. */
static int one_thread(void) {
    const int before = blas.omp_get ? blas.omp_get() : 1;
    if (before != 1)
        blas.omp_set(1);
    return before;
}

static void threads_back(int before) {
    if (before != 1)
        blas.omp_set(before);
}

static int trans(rlar_op op) {
    return op == RLAR_PLAIN ? NO_TRANS : TRANS;
}

void rlar__gemm(rlar_op op_a, rlar_op op_b, int64_t m, int64_t n, int64_t k, double alpha,
                const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
                int64_t ldc) {
    const int before = one_thread();
    blas.dgemm(COLUMN_MAJOR, trans(op_a), trans(op_b), (int)m, (int)n, (int)k, alpha, a, (int)lda,
               b, (int)ldb, beta, c, (int)ldc);
    threads_back(before);
}

void rlar__syrk(rlar_op op, int64_t n, int64_t k, double alpha, const double *a, int64_t lda,
                double beta, double *c, int64_t ldc) {
    const int before = one_thread();
    blas.dsyrk(COLUMN_MAJOR, LOWER, trans(op), (int)n, (int)k, alpha, a, (int)lda, beta, c,
               (int)ldc);
    threads_back(before);
}

void rlar__gemv(int64_t m, int64_t n, const double *a, int64_t lda, const double *x, double beta,
                double *y) {
    const int before = one_thread();
    blas.dgemv(COLUMN_MAJOR, NO_TRANS, (int)m, (int)n, 1.0, a, (int)lda, x, 1, beta, y, 1);
    threads_back(before);
}

void rlar__trsm_left(rlar_op op, int64_t m, int64_t n, const double *l, int64_t ldl, double *b,
                     int64_t ldb) {
    const int before = one_thread();
    blas.dtrsm(COLUMN_MAJOR, LEFT, LOWER, trans(op), NON_UNIT, (int)m, (int)n, 1.0, l, (int)ldl, b,
               (int)ldb);
    threads_back(before);
}

void rlar__trsm_right(int64_t m, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb) {
    const int before = one_thread();
    blas.dtrsm(COLUMN_MAJOR, RIGHT, LOWER, TRANS, NON_UNIT, (int)m, (int)n, 1.0, l, (int)ldl, b,
               (int)ldb);
    threads_back(before);
}

void rlar__trmm_right(int64_t m, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb) {
    const int before = one_thread();
    blas.dtrmm(COLUMN_MAJOR, RIGHT, LOWER, NO_TRANS, NON_UNIT, (int)m, (int)n, 1.0, l, (int)ldl, b,
               (int)ldb);
    threads_back(before);
}

int rlar__potrf(int64_t n, double *a, int64_t lda) {
    const int before = one_thread(), in = (int)n, ild = (int)lda;
    int info = 0;
    blas.dpotrf("L", &in, a, &ild, &info);
    threads_back(before);
    return info;
}

void rlar__potri(int64_t n, double *l, int64_t lda) {
    const int before = one_thread(), in = (int)n, ild = (int)lda;
    int info = 0;
    blas.dpotri("L", &in, l, &ild, &info);
    threads_back(before);
}

void rlar__orthogonal_factor(int64_t m, int64_t n, double *a, double *tau, double *work,
                             int64_t lwork) {
    const int before = one_thread(), im = (int)m, in = (int)n, room = (int)lwork;
    int info = 0; /* only arguments can be wrong */
    blas.dgeqrf(&im, &in, a, &im, tau, work, &room, &info);
    blas.dorgqr(&im, &im, &in, a, &im, tau, work, &room, &info);
    threads_back(before);
}

/* The room that LAPACK asks for, which it tells as a double; its own counts have 32 bits. */
static int asked_for(double size) {
    return size < INT_MAX ? (int)size : INT_MAX;
}

int rlar__syevr(rlar_syevr *e) {
    const int before = one_thread(), n = (int)e->n, first = (int)e->first, query = -1;
    const double unused = 0.0, tolerance = 0.0; /* 0: as accurate as it can */
    double size = 0.0;
    int found = 0, isize = 0, info = 0;
    blas.dsyevr("V", "I", "L", &n, e->a, &n, &unused, &unused, &first, &n, &tolerance, &found,
                e->values, e->vectors, &n, e->isuppz, e->work ? e->work : &size,
                e->work ? &e->lwork : &query, e->work ? e->iwork : &isize,
                e->work ? &e->liwork : &query, &info);
    threads_back(before);
    if (!e->work) {
        e->lwork = asked_for(size);
        e->liwork = isize;
    }
    return info != 0 || !e->work || found == n - first + 1 ? info : 1;
}

int rlar__gesdd(rlar_gesdd *g) {
    const int before = one_thread(), m = (int)g->m, n = (int)g->n, k = m < n ? m : n, query = -1;
    double size = 0.0, none = 0.0;
    int info = 0;
    blas.dgesdd(g->u ? "S" : "N", &m, &n, g->a, &m, g->s, g->u ? g->u : &none, &m,
                g->vt ? g->vt : &none, &k, g->work ? g->work : &size, g->work ? &g->lwork : &query,
                g->iwork, &info);
    threads_back(before);
    if (!g->work)
        g->lwork = asked_for(size);
    return info;
}
