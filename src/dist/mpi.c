/* mpi.c - rlar_team on MPI (rlar_mpi.h).
 *
 * MPI's own waiting keeps a core busy, and where there are more ranks than cores it keeps others
 * from the work that it waits for. So every message is one that does not block, with a look at it
 * now and then: without a pause at first, since most answers come soon, then with naps. A nap is
 * short, because a message that is larger than the buffers below MPI only moves when MPI is called.
 *
 * The library hands over pieces of 1 GiB at most (team.c), which MPI's 32-bit counts can hold. */
#include "dist/scalapack.h"

#include <limits.h>
#include <sched.h>
#include <time.h>

enum { TAG = 1 };

static const double AT_ONCE = 1e-3; /* seconds without naps */
static const long NAP = 100000;     /* nanoseconds */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int rlar_mpi_wait(const rlar_mpi *host, MPI_Request *request) {
    const struct timespec nap = {.tv_nsec = NAP};
    const double started = now();
    for (int done = 0;;) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return 1;
        if (done)
            return 0;
        if (now() - started < AT_ONCE) {
            sched_yield();
            continue;
        }
        if (host->waiting && host->waiting(host->user) != 0)
            return 1;
        nanosleep(&nap, NULL);
    }
}

/* The request of a call that MPI has taken. */
static int finish(const rlar_mpi *host, int taken, MPI_Request *request) {
    return taken == MPI_SUCCESS ? rlar_mpi_wait(host, request) : 1;
}

static int send_bytes(void *user, int to, const void *bytes, size_t count) {
    const rlar_mpi *host = user;
    MPI_Request request = MPI_REQUEST_NULL;
    if (count > INT_MAX)
        return 1;
    const int taken = MPI_Isend(bytes, (int)count, MPI_BYTE, to, TAG, host->comm, &request);
    return finish(host, taken, &request);
}

static int receive_bytes(void *user, int from, void *bytes, size_t count) {
    const rlar_mpi *host = user;
    MPI_Request request = MPI_REQUEST_NULL;
    if (count > INT_MAX)
        return 1;
    const int taken = MPI_Irecv(bytes, (int)count, MPI_BYTE, from, TAG, host->comm, &request);
    return finish(host, taken, &request);
}

static int broadcast_bytes(void *user, int from, void *bytes, size_t count) {
    const rlar_mpi *host = user;
    MPI_Request request = MPI_REQUEST_NULL;
    if (count > INT_MAX)
        return 1;
    const int taken = MPI_Ibcast(bytes, (int)count, MPI_BYTE, from, host->comm, &request);
    return finish(host, taken, &request);
}

static int is_ready(void *user, int from) {
    const rlar_mpi *host = user;
    int there = 0;
    if (MPI_Iprobe(from, TAG, host->comm, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return -1;
    return there;
}

rlar_status rlar_mpi_open(MPI_Comm comm, rlar_mpi *host) {
    if (!host || host->size < sizeof *host)
        return RLAR_E_ARG;
    host->team = (rlar_team){.size = sizeof host->team,
                             .user = host,
                             .send = send_bytes,
                             .receive = receive_bytes,
                             .broadcast = broadcast_bytes,
                             .ready = is_ready};
#ifdef RLAR_SCALAPACK
    host->team.factor = rlar__scalapack_factor;
    host->team.solve = rlar__scalapack_solve;
#endif
    host->scalapack = NULL;
    host->grid = (rlar_mpi_grid){0};
    host->comm = MPI_COMM_NULL;
    if (MPI_Comm_dup(comm, &host->comm) != MPI_SUCCESS ||
        MPI_Comm_set_errhandler(host->comm, MPI_ERRORS_RETURN) != MPI_SUCCESS ||
        MPI_Comm_rank(host->comm, &host->team.rank) != MPI_SUCCESS ||
        MPI_Comm_size(host->comm, &host->team.ranks) != MPI_SUCCESS)
        return RLAR_E_IO;
    return RLAR_OK;
}

void rlar_mpi_close(rlar_mpi *host) {
    if (!host || !host->team.user || host->comm == MPI_COMM_NULL)
        return;
#ifdef RLAR_SCALAPACK
    rlar__scalapack_leave(host);
#endif
    MPI_Comm_free(&host->comm);
    host->team = (rlar_team){0};
}
