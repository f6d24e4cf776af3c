/* limits.c - the floor of a computation: its largest BLAS calls alone, without anything between.
 *
 *   syrk:NxD     lower triangle of X X^T, X d x n                       n d^2
 *   panels:NxD   the same as DGEMMs of column panels of the triangle    n d^2 (1 + 256/d)
 *   gemm:MxNxK   A^T B with A k x m, B k x n                            2 m n k
 *   outer:MxNxK  A B^T with A m x k, B n x k                            2 m n k
 *   potrf:D      Cholesky                                               d^3/3
 *   solve:DxC    two triangular solves of c right-hand sides            2 d^2 c
 *   syevr:DxQ    the q largest eigenvalues and their vectors            about 4 d^3/3
 *
 * The operands are made before the clock starts, so no page of theirs is touched for the first time
 * within the measurement. Calls shorter than SHORTEST are repeated and averaged. The calls go to
 * the library that rlar itself has opened. All are single-threaded. */
#include "limits.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const double SHORTEST = 0.02; /* seconds */
enum { PANEL = 256, MOST_SIZES = 3 };
enum { COLUMN_MAJOR = 102, NO_TRANS = 111, TRANS = 112, LOWER = 122, NON_UNIT = 131, LEFT = 141 };

typedef struct blas {
    void (*gemm)(int, int, int, int, int, int, double, const double *, int, const double *, int,
                 double, double *, int);
    void (*syrk)(int, int, int, int, int, double, const double *, int, double, double *, int);
    void (*trsm)(int, int, int, int, int, int, int, double, const double *, int, double *, int);
    void (*potrf)(const char *, const int *, double *, const int *, int *);
    void (*syevr)(const char *, const char *, const char *, const int *, double *, const int *,
                  const double *, const double *, const int *, const int *, const double *, int *,
                  double *, double *, const int *, int *, double *, const int *, int *, const int *,
                  int *);
} blas;

/* One call with its operands; a and b are inputs, c is input and output, kept is c before it. */
typedef struct call {
    const blas *blas;
    char name[16];
    int size[MOST_SIZES];
    size_t a_count, b_count, c_count;
    double *a, *b, *c, *kept;
    double *work;
    int *iwork;
    int lwork, liwork, info;
} call;

/* ---- The calls ---- */

static void run_syrk(call *q) {
    const int n = q->size[0], d = q->size[1];
    q->blas->syrk(COLUMN_MAJOR, LOWER, NO_TRANS, d, n, 1.0, q->a, d, 0.0, q->c, d);
}

static void run_panels(call *q) {
    const int n = q->size[0], d = q->size[1];
    for (int j = 0; j < d; j += PANEL) {
        const int width = d - j < PANEL ? d - j : PANEL;
        q->blas->gemm(COLUMN_MAJOR, NO_TRANS, TRANS, d - j, width, n, 1.0, q->a + j, d, q->a + j, d,
                      0.0, q->c + (size_t)j * (size_t)d + j, d);
    }
}

static void run_gemm(call *q) {
    const int m = q->size[0], n = q->size[1], k = q->size[2];
    q->blas->gemm(COLUMN_MAJOR, TRANS, NO_TRANS, m, n, k, 1.0, q->a, k, q->b, k, 0.0, q->c, m);
}

static void run_outer(call *q) {
    const int m = q->size[0], n = q->size[1], k = q->size[2];
    q->blas->gemm(COLUMN_MAJOR, NO_TRANS, TRANS, m, n, k, 1.0, q->a, m, q->b, n, 0.0, q->c, m);
}

static void run_potrf(call *q) {
    q->blas->potrf("L", &q->size[0], q->c, &q->size[0], &q->info);
}

static void run_solve(call *q) {
    const int d = q->size[0], c = q->size[1];
    q->blas->trsm(COLUMN_MAJOR, LEFT, LOWER, NO_TRANS, NON_UNIT, d, c, 1.0, q->a, d, q->c, d);
    q->blas->trsm(COLUMN_MAJOR, LEFT, LOWER, TRANS, NON_UNIT, d, c, 1.0, q->a, d, q->c, d);
}

/* a: values and vectors, c: the matrix. */
static void run_syevr(call *q) {
    const int n = q->size[0], first = n - q->size[1] + 1;
    const double zero = 0.0;
    int found = 0;
    q->blas->syevr("V", "I", "L", &n, q->c, &n, &zero, &zero, &first, &n, &zero, &found, q->a,
                   q->a + n, &n, q->iwork, q->work, &q->lwork, q->iwork + 2 * n, &q->liwork,
                   &q->info);
}

/* ---- Their operands ---- */

static size_t product(int a, int b) {
    return (size_t)a * (size_t)b;
}

static void size_syrk(call *q) {
    q->a_count = product(q->size[0], q->size[1]);
    q->c_count = product(q->size[1], q->size[1]);
}

static void size_gemm(call *q) {
    q->a_count = product(q->size[0], q->size[2]);
    q->b_count = product(q->size[1], q->size[2]);
    q->c_count = product(q->size[0], q->size[1]);
}

static void size_potrf(call *q) {
    q->c_count = product(q->size[0], q->size[0]);
}

static void size_solve(call *q) {
    q->a_count = product(q->size[0], q->size[0]);
    q->c_count = product(q->size[0], q->size[1]);
}

static void size_syevr(call *q) {
    const int n = q->size[0];
    q->a_count = product(n, q->size[1] + 1);
    q->c_count = product(n, n);
    q->lwork = 33 * n;
    q->liwork = 10 * n;
}

typedef struct kind {
    const char *name;
    int sizes;
    void (*count)(call *);
    void (*run)(call *);
} kind;

static const kind kinds[] = {
    {"syrk", 2, size_syrk, run_syrk},    {"panels", 2, size_syrk, run_panels},
    {"gemm", 3, size_gemm, run_gemm},    {"outer", 3, size_gemm, run_outer},
    {"potrf", 1, size_potrf, run_potrf}, {"solve", 2, size_solve, run_solve},
    {"syevr", 2, size_syevr, run_syevr},
};

static const kind *find_kind(const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static double *make(size_t count) {
    double *x = malloc((count ? count : 1) * sizeof *x);
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; x && i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        x[i] = (double)(state >> 11) * 0x1p-53 - 0.5;
    }
    return x;
}

/* Symmetric to LAPACK, which reads one triangle, and well conditioned. */
static void make_definite(int n, double *a) {
    for (int i = 0; i < n; i++)
        a[product(i, n) + (size_t)i] = 2.0 * n;
}

static bool call_make(call *q, const kind *k) {
    k->count(q);
    q->a = make(q->a_count);
    q->b = make(q->b_count);
    q->c = make(q->c_count);
    q->kept = make(q->c_count);
    q->work = make((size_t)q->lwork);
    q->iwork = calloc((size_t)(q->liwork + 2 * q->size[0]), sizeof *q->iwork);
    if (!q->a || !q->b || !q->c || !q->kept || !q->work || !q->iwork)
        return false;
    if (k->run == run_potrf || k->run == run_syevr)
        make_definite(q->size[0], q->kept);
    if (k->run == run_solve)
        make_definite(q->size[0], q->a);
    return true;
}

static void call_free(call *q) {
    free(q->a);
    free(q->b);
    free(q->c);
    free(q->kept);
    free(q->work);
    free(q->iwork);
}

/* One run after another, each on fresh operands, until the clock can be trusted; their mean. */
static bench_clock call_time(call *q, const kind *k) {
    bench_clock sum = {0, 0};
    int runs = 0;
    while (sum.wall < SHORTEST && q->info == 0) {
        memcpy(q->c, q->kept, q->c_count * sizeof *q->c);
        const bench_clock start = bench_now();
        k->run(q);
        const bench_clock spent = bench_since(start);
        sum.wall += spent.wall;
        sum.cpu += spent.cpu;
        runs++;
    }
    return (bench_clock){.wall = sum.wall / runs, .cpu = sum.cpu / runs};
}

/* ---- The commands ---- */

static bool find(void *handle, const char *name, void *function) {
    void *address = dlsym(handle, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static bool open_blas(const char *library, blas *b) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    return handle && find(handle, "cblas_dgemm", &b->gemm) &&
           find(handle, "cblas_dsyrk", &b->syrk) && find(handle, "cblas_dtrsm", &b->trsm) &&
           find(handle, "dpotrf_", &b->potrf) && find(handle, "dsyevr_", &b->syevr);
}

/* "NAME:SIZExSIZE" into the call; NULL when it makes no sense. */
static const kind *parse_call(const char *text, size_t length, call *q) {
    char word[64];
    if (length >= sizeof word)
        return NULL;
    memcpy(word, text, length);
    word[length] = '\0';
    char *rest = NULL, *name = strtok_r(word, ":", &rest);
    const kind *k = name ? find_kind(name) : NULL;
    for (int i = 0; k && i < k->sizes; i++) {
        const char *size = strtok_r(NULL, "x", &rest);
        q->size[i] = size ? (int)strtol(size, NULL, 10) : 0;
        if (q->size[i] < 1)
            return NULL;
    }
    return k;
}

/* Time one call; its part of the answer goes to standard output. */
static bool time_call(const blas *b, const char *text, size_t length) {
    call q = {.blas = b};
    const kind *k = parse_call(text, length, &q);
    const bool made = k && call_make(&q, k);
    if (made) {
        const bench_clock spent = call_time(&q, k);
        if (q.info == 0)
            printf("\"%.*s\": {\"wall\": %.9g, \"cpu\": %.9g}, ", (int)length, text, spent.wall,
                   spent.cpu);
    }
    call_free(&q);
    return made && q.info == 0;
}

void bench_limit(const bench_words *words, const char *library) {
    blas b;
    if (!open_blas(library, &b)) {
        bench_fail("the BLAS that rlar has opened lacks a call that the limits need");
        return;
    }
    bench_begin();
    for (const char *at = bench_text(words, "calls", ""); *at;) {
        const size_t length = strcspn(at, ",");
        if (!time_call(&b, at, length)) {
            bench_put_text("error", at);
            break;
        }
        at += length + (at[length] == ',');
    }
    bench_end();
}

static int64_t count_lines(const char *text, size_t size) {
    int64_t lines = 0;
    const char *end = text + size;
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    return lines;
}

void bench_lines(const bench_words *words) {
    const bench_clock start = bench_now();
    const int file = open(bench_text(words, "path", ""), O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (file < 0 || fstat(file, &st) != 0 || st.st_size == 0) {
        bench_fail("lines: the file cannot be opened");
        return;
    }
    const size_t size = (size_t)st.st_size;
    char *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    const int64_t lines = text == MAP_FAILED ? -1 : count_lines(text, size);
    if (text != MAP_FAILED)
        munmap(text, size);
    close(file);
    const bench_clock spent = bench_since(start);
    bench_begin();
    bench_put_clock(spent);
    bench_put_int("lines", lines);
    bench_put_int("bytes", (int64_t)size);
    bench_end();
}
