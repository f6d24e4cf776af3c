/* scalapack.h - rlar_team.factor and solve for the ranks of MPI; in librlar-mpi, where it was built
 * with ScaLAPACK. */
#ifndef RLAR_SCALAPACK_H
#define RLAR_SCALAPACK_H

#include "rlar_mpi.h"

/* user: the rlar_mpi. */
int rlar__scalapack_factor(void *user, const rlar_tiles *tiles, double *a);
int rlar__scalapack_solve(void *user, const rlar_tiles *tiles, const double *a, double *b);
/* On all ranks, before the communicator goes. */
void rlar__scalapack_leave(rlar_mpi *host);

#endif
