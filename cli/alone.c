/* alone.c - one process: what ranks.h asks for, in `rlar`. */
#include <stdio.h>
#include <unistd.h>

#include "cli.h"

const char cli_program[] = "rlar";
const bool cli_has_ranks = false;

void cli_ranks_open(cli *c, int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    c->team = NULL;
}

int cli_ranks_close(cli *c, int code) {
    (void)c;
    return code;
}

void cli_ranks_tell(cli *c, int code, const char *text) {
    (void)code;
    cli_progress_clear(c);
    fprintf(stderr, "%s: %s\n", cli_program, text);
}

void cli_ranks_look(cli *c) {
    (void)c;
}

int cli_ranks_threads(const cli *c) {
    (void)c;
    return 0;
}

void cli_ranks_no_memory(void) {
    fprintf(stderr, "%s: out of memory\n", cli_program);
    _exit(CODE_MEMORY);
}
