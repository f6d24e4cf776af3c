/* host.c - a host of rlar_mpi.h on two ranks, called wrongly and at its limits: an error, and
 * nobody waits. test_host.py starts it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rlar_mpi.h"

static rlar_mpi opened(MPI_Comm comm) {
    rlar_mpi host = RLAR_INIT(rlar_mpi);
    assert_int_equal(rlar_mpi_open(comm, &host), RLAR_OK);
    return host;
}

/* ---- Opening and closing ---- */

static void test_no_host(void **state) {
    (void)state;
    rlar_mpi host = {0};
    assert_int_equal(rlar_mpi_open(MPI_COMM_SELF, NULL), RLAR_E_ARG);
    assert_int_equal(rlar_mpi_open(MPI_COMM_SELF, &host), RLAR_E_ARG);
    rlar_mpi_close(NULL);
    rlar_mpi_close(&host);
}

static void test_no_communicator(void **state) {
    (void)state;
    rlar_mpi host = RLAR_INIT(rlar_mpi);
    assert_int_equal(rlar_mpi_open(MPI_COMM_NULL, &host), RLAR_E_IO);
    rlar_mpi_close(&host);
}

static void test_closed_twice(void **state) {
    (void)state;
    rlar_mpi host = opened(MPI_COMM_WORLD);
    assert_int_equal(host.team.ranks, 2);
    rlar_mpi_close(&host);
    assert_null(host.team.send);
    rlar_mpi_close(&host);
}

/* ---- Messages ---- */

static void test_no_such_rank(void **state) {
    (void)state;
    rlar_mpi host = opened(MPI_COMM_WORLD);
    char byte = 0;
    assert_int_not_equal(host.team.send(&host, 2, &byte, 1), 0);
    assert_int_not_equal(host.team.receive(&host, 2, &byte, 1), 0);
    assert_int_not_equal(host.team.broadcast(&host, 2, &byte, 1), 0);
    assert_true(host.team.ready(&host, 2) < 0);
    rlar_mpi_close(&host);
}

/* More than MPI counts: not a part of it. */
static void test_too_many_bytes(void **state) {
    (void)state;
    rlar_mpi host = opened(MPI_COMM_SELF);
    const size_t many = (size_t)UINT_MAX + 2; /* an int would take it for one byte */
    char byte = 0;
    assert_int_not_equal(host.team.send(&host, 0, &byte, many), 0);
    assert_int_equal(host.team.ready(&host, 0), 0);
    assert_int_not_equal(host.team.receive(&host, 0, &byte, many), 0);
    assert_int_not_equal(host.team.broadcast(&host, 0, &byte, many), 0);
    rlar_mpi_close(&host);
}

/* The error comes while the rank waits. */
static void test_longer_than_expected(void **state) {
    (void)state;
    rlar_mpi host = opened(MPI_COMM_WORLD);
    const int other = 1 - host.team.rank;
    char bytes[8] = {0};
    assert_int_equal(host.team.send(&host, other, bytes, sizeof bytes), 0);
    assert_int_not_equal(host.team.receive(&host, other, bytes, 4), 0);
    rlar_mpi_close(&host);
}

static int give_up(void *user) {
    int *calls = user;
    return ++*calls == 3;
}

static void test_gives_up(void **state) {
    (void)state;
    rlar_mpi host = opened(MPI_COMM_SELF);
    MPI_Request request = MPI_REQUEST_NULL;
    int calls = 0;
    char byte = 0;
    host.waiting = give_up;
    host.user = &calls;
    assert_int_equal(MPI_Irecv(&byte, 1, MPI_BYTE, 0, 9, host.comm, &request), MPI_SUCCESS);
    assert_int_not_equal(rlar_mpi_wait(&host, &request), 0);
    assert_int_equal(calls, 3);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    rlar_mpi_close(&host);
}

/* ---- Systems ---- */

/* Of order 2 with one right-hand side, in tiles of order 1 on a grid of rows x 1. */
static rlar_tiles tiles_of(int rows) {
    rlar_tiles t = RLAR_INIT(rlar_tiles);
    t.n = t.width = 2;
    t.block = t.p = t.sides = 1;
    t.rows = rows;
    t.cols = 1;
    t.height = 2 / rows;
    return t;
}

/* 2 x + y = 4, x + 2 y = 5. */
static void solve_alone(rlar_mpi *host) {
    const rlar_tiles t = tiles_of(1);
    double a[] = {2, 1, 1, 2}, b[] = {4, 5};
    assert_int_equal(host->team.factor(host, &t, a), 0);
    assert_int_equal(host->team.solve(host, &t, a, b), 0);
    assert_true(b[0] > 1 - 1e-12 && b[0] < 1 + 1e-12);
    assert_true(b[1] > 2 - 1e-12 && b[1] < 2 + 1e-12);
}

/* From now on nothing can be opened; `before`: the limit that it was. */
static void end_descriptors(struct rlimit *before) {
    const int first_free = dup(STDERR_FILENO);
    assert_int_equal(close(first_free), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, before), 0);
    const struct rlimit none = {.rlim_cur = (rlim_t)first_free, .rlim_max = before->rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
}

/* A rank that may open no file has no ScaLAPACK, until it may again. Before any other system. */
static void test_no_descriptors(void **state) {
    (void)state;
    rlar_mpi host = opened(MPI_COMM_SELF);
    if (!host.team.factor)
        skip();
    const rlar_tiles t = tiles_of(1);
    double a[] = {2, 1, 1, 2}, b[] = {4, 5};
    struct rlimit before;
    end_descriptors(&before);
    const int factor = host.team.factor(&host, &t, a), solve = host.team.solve(&host, &t, a, b);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(factor, RLAR_E_UNSUPPORTED);
    assert_int_equal(solve, RLAR_E_UNSUPPORTED);
    solve_alone(&host);
    rlar_mpi_close(&host);
}

static void test_too_large(void **state) {
    (void)state;
    rlar_mpi host = opened(MPI_COMM_SELF);
    if (!host.team.factor)
        skip();
    rlar_tiles t = tiles_of(1);
    double none = 0;
    t.n = (int64_t)INT_MAX + 1;
    assert_int_equal(host.team.factor(&host, &t, &none), RLAR_E_TOO_LARGE);
    assert_int_equal(host.team.solve(&host, &t, &none, &none), RLAR_E_TOO_LARGE);
    rlar_mpi_close(&host);
}

/* Both ranks on one grid, then one of them on another, where the other one only hears the answer.
 */
static void test_not_positive_definite(void **state) {
    (void)state;
    rlar_mpi host = opened(MPI_COMM_WORLD);
    if (!host.team.factor)
        skip();
    const rlar_tiles both = tiles_of(2), one = tiles_of(1);
    double rows[] = {host.team.rank == 0 ? 1 : 2, host.team.rank == 0 ? 2 : 1}; /* 1 2; 2 1 */
    double whole[] = {1, 2, 2, 1};
    assert_int_equal(host.team.factor(&host, &both, rows), 1);
    assert_int_equal(host.team.factor(&host, &one, whole), 1);
    rlar_mpi_close(&host);
}

/* A rank whose test has failed may have left the other one waiting. */
int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_host),        cmocka_unit_test(test_no_communicator),
        cmocka_unit_test(test_closed_twice),   cmocka_unit_test(test_no_such_rank),
        cmocka_unit_test(test_too_many_bytes), cmocka_unit_test(test_longer_than_expected),
        cmocka_unit_test(test_gives_up),       cmocka_unit_test(test_no_descriptors),
        cmocka_unit_test(test_too_large),      cmocka_unit_test(test_not_positive_definite),
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                            MPI_ERRORS_RETURN); /* those of no communicator are its */
    const int failed = cmocka_run_group_tests_name("mpi host", tests, NULL, NULL);
    if (failed != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
