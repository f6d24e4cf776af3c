/* ranks.h - the processes that work together on one command: one alone (alone.c, in `rlar`), or the
 * ranks that mpirun has started (mpi.c, in `rlar-mpi`).
 *
 * Every rank parses the arguments and runs the verb, where the verb is made for it; rank 0 alone
 * writes files, standard output, notes and progress. An error of one rank ends all, with one
 * message. c->team is NULL for a process alone. */
#ifndef RLAR_CLI_RANKS_H
#define RLAR_CLI_RANKS_H

#include <stdbool.h>

struct cli;

extern const char cli_program[]; /* its name, for messages */
extern const bool cli_has_ranks; /* is it made for several? */

/* Before anything else: sets c->team, and what the launcher has added to the arguments goes. */
void cli_ranks_open(struct cli *c, int *argc, char ***argv);
/* After everything else: the exit code. After a failure of any rank it does not come back. */
int cli_ranks_close(struct cli *c, int code);
/* Print the text of an error, or leave it for rank 0, which prints the first that comes. */
void cli_ranks_tell(struct cli *c, int code, const char *text);
/* To be called now and then: where another rank has failed, rank 0 ends all. */
void cli_ranks_look(struct cli *c);
/* As many as there are processors for this process; 0: the library knows. */
int cli_ranks_threads(const struct cli *c);
/* Out of memory where nothing can be unwound: tell and end. */
_Noreturn void cli_ranks_no_memory(void);

#endif
