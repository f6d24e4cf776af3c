/* rlar_mpi.h - the ranks of an MPI communicator as an rlar_team, for one fit over several processes
 * (librlar-mpi; rlar.h has the rest and knows no MPI).
 *
 *     rlar_mpi host = RLAR_INIT(rlar_mpi);
 *     rlar_mpi_open(MPI_COMM_WORLD, &host);      on every rank
 *     rlar_ctx_join(ctx, &host.team);
 *     ...                                        rlar_data_share, rlar_fit
 *     rlar_mpi_close(&host);                     before MPI_Finalize, and after the context's last
 * use
 */
#ifndef RLAR_MPI_H
#define RLAR_MPI_H

#include <mpi.h>

#include "rlar.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ranks that solve systems together. */
typedef struct rlar_mpi_grid {
    int context, rows, cols; /* rows 0: there is none yet */
} rlar_mpi_grid;

/* The caller sets `waiting` and `user`, rlar_mpi_open the rest. The struct must stay where it is
 * until rlar_mpi_close. */
typedef struct rlar_mpi {
    size_t size;
    /* Called about every tenth of a millisecond while this rank waits for another, from the thread
     * that waits; a non-zero answer gives up: the call of the library fails. What was under way may
     * still be written to, so the process should end (MPI_Abort). NULL: wait for ever. */
    int (*waiting)(void *user);
    void *user;
    MPI_Comm comm; /* a copy of the caller's, whose errors are returned */
    rlar_team team;
    /* Large systems; opened when the first one comes. */
    void *scalapack;
    int blacs_handle;
    rlar_mpi_grid grid;
} rlar_mpi;

/* On all ranks of the communicator. MPI must allow calls from the thread that fits
 * (MPI_THREAD_FUNNELED and the main thread are enough). RLAR_E_ARG: a host without its size;
 * RLAR_E_IO: MPI refuses. */
rlar_status rlar_mpi_open(MPI_Comm comm, rlar_mpi *host);
/* On all ranks; NULL and a host that was never opened are legal. */
void rlar_mpi_close(rlar_mpi *host);

/* Until the request is done, without taking a core from others for long. 0, or another number: it
 * failed, or `waiting` gave up. For messages of the caller's own. */
int rlar_mpi_wait(const rlar_mpi *host, MPI_Request *request);

#ifdef __cplusplus
}
#endif

#endif
