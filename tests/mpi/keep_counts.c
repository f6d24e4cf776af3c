/* keep_counts.c - in rlar-mpi of a coverage build: MPI_Abort leaves by _exit, which writes no
 * counts. Here it writes them first. */
#include <sys/syscall.h>
#include <unistd.h>

void __gcov_dump(void);

void _exit(int code) {
    __gcov_dump();
    for (;;)
        syscall(SYS_exit_group, code);
}
