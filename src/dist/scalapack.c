/* scalapack.c - systems that the ranks of MPI solve together: rlar_team.factor and solve by
 * ScaLAPACK (rlar_mpi.h).
 *
 * ScaLAPACK is opened when the first system needs it, not linked: it brings in a BLAS of its own
 * choice, which would be loaded before anybody could tell it which kernel to run
 * (src/linalg/blas.c), and which most commands never need. So the settings of the library's own
 * BLAS hold while it is opened: the kernel that the processor deserves, and one thread. Where the
 * two are the same file, which is the rule on Debian, they share one copy.
 *
 * Inside, ranks wait for each other as MPI does, which keeps a core busy. */
#include "dist/scalapack.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What is called, by its name in the library: BLACS from C, the rest from Fortran. */
typedef struct calls {
    int (*handle_of)(MPI_Comm);
    void (*free_handle)(int);
    void (*begin)(int *, const char *, int, int);
    void (*leave)(int);
    void (*set)(int, int, int *);
    void (*factor)(const char *, const int *, double *, const int *, const int *, const int *,
                   int *);
    void (*solve)(const char *, const int *, const int *, const double *, const int *, const int *,
                  const int *, double *, const int *, const int *, const int *, int *);
} calls;

/* ISO C has no cast from the address that dlsym gives to a function. */
static bool find(void *library, const char *name, void *function) {
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static bool find_all(void *library, calls *c) {
    return library && find(library, "Csys2blacs_handle", &c->handle_of) &&
           find(library, "Cfree_blacs_system_handle", &c->free_handle) &&
           find(library, "Cblacs_gridinit", &c->begin) &&
           find(library, "Cblacs_gridexit", &c->leave) && find(library, "Cblacs_set", &c->set) &&
           find(library, "pdpotrf_", &c->factor) && find(library, "pdpotrs_", &c->solve);
}

/* ---- Opening ---- */

/* The kernel that the library has chosen; "": the BLAS knows. */
static void wanted_kernel(char *kernel, size_t size) {
    rlar_ctx *ctx = NULL;
    rlar_blas_info info = RLAR_INIT(rlar_blas_info);
    kernel[0] = '\0';
    if (rlar_ctx_new(NULL, &ctx) < 0)
        return;
    if (rlar_blas_describe(ctx, &info) >= 0 && strlen(info.wanted) < size)
        memcpy(kernel, info.wanted, strlen(info.wanted) + 1);
    rlar_ctx_free(ctx);
}

/* A variable that the user has not set is for the time of the opening. */
static bool set_for_now(const char *name, const char *value) {
    return *value && !getenv(name) && setenv(name, value, 0) == 0;
}

static void *open_library(void) {
    char kernel[32];
    wanted_kernel(kernel, sizeof kernel);
    const bool set_kernel = set_for_now("OPENBLAS_CORETYPE", kernel);
    const bool set_threads = set_for_now("OPENBLAS_NUM_THREADS", "1");
    void *library = dlopen(RLAR_SCALAPACK, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (set_kernel)
        unsetenv("OPENBLAS_CORETYPE");
    if (set_threads)
        unsetenv("OPENBLAS_NUM_THREADS");
    return library;
}

/* ---- The grid ---- */

/* Ranks row by row; one that is left over has no part in it (context -1). Sums are repeatable. */
static void make_grid(rlar_mpi *host, const calls *c, const rlar_tiles *t) {
    enum { REPEATABLE_SUMS = 15 };
    int yes = 1;
    host->blacs_handle = c->handle_of(host->comm);
    host->grid = (rlar_mpi_grid){.context = host->blacs_handle, .rows = t->rows, .cols = t->cols};
    c->begin(&host->grid.context, "Row-major", t->rows, t->cols);
    if (host->grid.context >= 0)
        c->set(host->grid.context, REPEATABLE_SUMS, &yes);
}

static void leave_grid(rlar_mpi *host, const calls *c) {
    if (host->grid.rows == 0)
        return;
    if (host->grid.context >= 0)
        c->leave(host->grid.context);
    c->free_handle(host->blacs_handle);
    host->grid = (rlar_mpi_grid){0};
}

/* The library is open and the grid is that of the tiles: most calls find it so. */
static int prepare(rlar_mpi *host, const rlar_tiles *t, calls *c) {
    if (!host->scalapack)
        host->scalapack = open_library();
    if (!find_all(host->scalapack, c))
        return RLAR_E_UNSUPPORTED;
    if (t->n > INT_MAX || t->p > INT_MAX || t->height * t->width > INT_MAX ||
        t->height * t->sides > INT_MAX)
        return RLAR_E_TOO_LARGE;
    if (host->grid.rows == t->rows && host->grid.cols == t->cols)
        return 0;
    leave_grid(host, c);
    make_grid(host, c, t);
    return 0;
}

/* ---- Factor and solve ---- */

enum { DESCRIPTION = 9, DENSE = 1 };

/* ScaLAPACK's description of a matrix of n x cols in tiles of block x sides. */
static void describe(const rlar_mpi *host, const rlar_tiles *t, int64_t cols, int64_t sides,
                     int out[DESCRIPTION]) {
    const int64_t lead = t->height > 1 ? t->height : 1;
    const int all[DESCRIPTION] = {DENSE,         host->grid.context, (int)t->n, (int)cols,
                                  (int)t->block, (int)sides,         0,         0,
                                  (int)lead};
    memcpy(out, all, sizeof all);
}

/* All ranks of the grid have the same answer; those beyond it hear it from rank 0. */
static int agree(const rlar_mpi *host, int answer) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Ibcast(&answer, 1, MPI_INT, 0, host->comm, &request) != MPI_SUCCESS ||
        rlar_mpi_wait(host, &request) != 0)
        return RLAR_E_IO;
    return answer < 0 ? RLAR_E_INTERNAL : answer > 0;
}

int rlar__scalapack_factor(void *user, const rlar_tiles *tiles, double *a) {
    rlar_mpi *host = user;
    const int n = (int)tiles->n, one = 1;
    int about[DESCRIPTION], info = 0;
    calls c;
    const int ready = prepare(host, tiles, &c);
    if (ready < 0)
        return ready;
    describe(host, tiles, tiles->n, tiles->block, about);
    if (host->grid.context >= 0)
        c.factor("L", &n, a, &one, &one, about, &info);
    return agree(host, info);
}

int rlar__scalapack_solve(void *user, const rlar_tiles *tiles, const double *a, double *b) {
    rlar_mpi *host = user;
    const int n = (int)tiles->n, p = (int)tiles->p, one = 1;
    int about[DESCRIPTION], about_b[DESCRIPTION], info = 0;
    calls c;
    const int ready = prepare(host, tiles, &c);
    if (ready < 0)
        return ready;
    describe(host, tiles, tiles->n, tiles->block, about);
    describe(host, tiles, tiles->p, tiles->sides, about_b);
    if (host->grid.context >= 0)
        c.solve("L", &n, &p, a, &one, &one, about, b, &one, &one, about_b, &info);
    return agree(host, info);
}

void rlar__scalapack_leave(rlar_mpi *host) {
    calls c;
    if (find_all(host->scalapack, &c))
        leave_grid(host, &c);
}
