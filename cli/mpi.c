/* mpi.c - the ranks that mpirun has started: what ranks.h asks for, in `rlar-mpi`.
 *
 * How all end together. A rank that fails unwinds and then sends rank 0 a note with its exit code
 * and its text. Rank 0 looks for notes whenever it waits for a rank and whenever the library calls
 * back, tells the first one, and ends the job with that code (MPI_Abort). So an error that all
 * ranks find, such as a wrong option, is told once. Where rank 0 does not answer within seconds,
 * the rank does both itself. What a killed rank cannot send, the launcher notices.
 *
 * Those that succeed wait for rank 0's last word, with naps: MPI_Finalize would keep a core busy.
 */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "rlar_mpi.h"

const char cli_program[] = "rlar-mpi";
const bool cli_has_ranks = true;

enum { NOTE_TAG = 2, LAST_TAG = 3, NOTE_SIZE = 1 << 14, RESERVE = 1 << 20 };

static const double PATIENCE = 12; /* seconds in which rank 0 should have answered a note */

typedef struct note {
    int code;
    char text[NOTE_SIZE];
} note;

/* What an MPI program has one of. */
typedef struct world {
    rlar_mpi mpi;
    note own;
    int threads;
    void *reserve; /* for MPI_Abort, which wants memory for its report; without it ends with 2 */
} world;

static world here;

static void nap(double seconds) {
    const struct timespec t = {.tv_sec = (time_t)seconds,
                               .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&t, NULL);
}

static int waiting(void *user) {
    cli_ranks_look(user);
    return cli_interrupted();
}

/* ---- Threads ---- */

/* The processors that this rank may use, or its part of those that the ranks of this machine may
 * use together: mpirun may have bound each rank to some, or all to all. */
static int processors(MPI_Comm comm) {
    cpu_set_t own, all;
    MPI_Comm machine = MPI_COMM_NULL;
    int ranks = 1;
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof own, &own) != 0 ||
        MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine) != MPI_SUCCESS)
        return 1;
    MPI_Comm_size(machine, &ranks);
    MPI_Allreduce(&own, &all, (int)sizeof all, MPI_BYTE, MPI_BOR, machine);
    MPI_Comm_free(&machine);
    const int share = CPU_COUNT(&all) / ranks;
    const int most = share < CPU_COUNT(&own) ? share : CPU_COUNT(&own);
    return most > 1 ? most : 1;
}

int cli_ranks_threads(const cli *c) {
    return c->team != NULL ? here.threads : 0;
}

/* ---- The end ---- */

/* "rlar-mpi: rank 2: text". A wrong option is nobody's in particular; nor is a signal to rank 0,
 * which comes from the launcher. */
static void print(cli *c, int rank, int code, const char *text) {
    char who[CLI_NUMBER_SIZE] = "";
    if (c->team != NULL && code != CODE_USAGE)
        snprintf(who, sizeof who, "rank %d: ", rank);
    if (strncmp(text, who, strlen(who)) == 0) /* the library's, of a message that was lost */
        who[0] = '\0';
    cli_progress_clear(c);
    if (c->team != NULL && rank == 0 && code == CODE_INTERRUPTED)
        fprintf(stderr,
                "%s: interrupted; a launcher ends all ranks when it is told to, or when "
                "one of them has died\n",
                cli_program);
    else
        fprintf(stderr, "%s: %s%s\n", cli_program, who, text);
}

/* With several ranks there may be none left to read the code but the launcher. */
_Noreturn static void end_all(int code) {
    MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}

void cli_ranks_tell(cli *c, int code, const char *text) {
    if (c->team == NULL || c->team->rank == 0) {
        print(c, 0, code, text);
        return;
    }
    here.own.code = code;
    snprintf(here.own.text, sizeof here.own.text, "%s", text);
}

/* A launcher that ends the job sends its signal to one rank after the other: an interrupted rank
 * is news only where this one is not. */
static _Noreturn void end_for(cli *c, int rank, const note *n) {
    if (n->code == CODE_INTERRUPTED)
        nap(0.1);
    if (cli_interrupted())
        print(c, 0, CODE_INTERRUPTED, "");
    else
        print(c, rank, n->code, n->text);
    end_all(n->code);
}

void cli_ranks_look(cli *c) {
    int found = 0;
    MPI_Status status;
    note n = {0};
    if (c->team == NULL || c->team->rank > 0)
        return;
    if (MPI_Iprobe(MPI_ANY_SOURCE, NOTE_TAG, here.mpi.comm, &found, &status) != MPI_SUCCESS ||
        !found)
        return;
    if (MPI_Recv(&n, (int)sizeof n, MPI_BYTE, status.MPI_SOURCE, NOTE_TAG, here.mpi.comm,
                 MPI_STATUS_IGNORE) == MPI_SUCCESS)
        end_for(c, status.MPI_SOURCE, &n);
}

/* The lower ranks lose patience first, so that one of several tells. */
static _Noreturn void fail(cli *c, int code) {
    const int rank = c->team->rank;
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0;
    if (rank == 0)
        end_all(code);
    here.own.code = code;
    const size_t size = offsetof(note, text) + strlen(here.own.text) + 1;
    MPI_Isend(&here.own, (int)size, MPI_BYTE, 0, NOTE_TAG, here.mpi.comm, &request);
    const double until = cli_now() + PATIENCE + 0.2 * rank;
    while (cli_now() < until) {
        if (!cli_interrupted()) /* it may have left a message half way, whose memory is gone */
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        nap(0.01);
    }
    print(c, rank, code, here.own.text);
    end_all(code);
}

/* One process alone needs no MPI to end; nor is there any when the first memory is asked for. */
void cli_ranks_no_memory(void) {
    cli *c = here.mpi.user;
    free(here.reserve);
    if (here.mpi.team.ranks < 2) {
        fprintf(stderr, "%s: out of memory\n", cli_program);
        _exit(CODE_MEMORY);
    }
    cli_ranks_tell(c, CODE_MEMORY, "out of memory");
    fail(c, CODE_MEMORY);
}

/* All have done their part; rank 0 was the last to do so. */
static bool say_last_word(void) {
    const rlar_team *team = &here.mpi.team;
    char word = 0;
    for (int r = 1; r < team->ranks && team->rank == 0; r++)
        MPI_Send(&word, 1, MPI_BYTE, r, LAST_TAG, here.mpi.comm);
    if (team->rank == 0)
        return true;
    MPI_Request request = MPI_REQUEST_NULL;
    return MPI_Irecv(&word, 1, MPI_BYTE, 0, LAST_TAG, here.mpi.comm, &request) == MPI_SUCCESS &&
           rlar_mpi_wait(&here.mpi, &request) == 0;
}

/* ---- Begin and end ---- */

void cli_ranks_open(cli *c, int *argc, char ***argv) {
    int level = 0;
    here.mpi = RLAR_INIT(rlar_mpi);
    here.mpi.waiting = waiting;
    here.mpi.user = c;
    here.reserve = cli_alloc(RESERVE);
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS ||
        rlar_mpi_open(MPI_COMM_WORLD, &here.mpi) < 0) {
        fprintf(stderr, "%s: MPI cannot start\n", cli_program);
        end_all(CODE_FAILED);
    }
    here.threads = processors(here.mpi.comm);
    c->team = here.mpi.team.ranks > 1 ? &here.mpi.team : NULL;
}

int cli_ranks_close(cli *c, int code) {
    if (c->team != NULL && code == 0 && !say_last_word())
        code = cli_interrupted() ? cli_error(c, CODE_INTERRUPTED, "interrupted")
                                 : cli_error(c, CODE_IO, "rank 0 has ended");
    if (c->team != NULL && code != 0)
        fail(c, code);
    rlar_mpi_close(&here.mpi);
    MPI_Finalize();
    free(here.reserve);
    return code;
}
