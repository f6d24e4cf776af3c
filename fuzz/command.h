/* command.h - what the targets of the command line share: a command without main(), whose messages
 * and results go nowhere. */
#ifndef RLAR_FUZZ_COMMAND_H
#define RLAR_FUZZ_COMMAND_H

#include <stdio.h>

#include "cli.h"
#include "fuzz.h"

/* main.c has the signals; here nobody interrupts. */
bool cli_interrupted(void) {
    return false;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    fuzz_quiet();
    return 0;
}

/* One command, as if it had just been started with this verb. */
static inline cli *command_begin(const char *verb) {
    static cli *c;
    if (!c)
        c = fuzz_alloc(sizeof *c);
    memset(&c->args, 0, sizeof c->args);
    memset(c, 0, offsetof(cli, out));
    c->out.file = NULL;
    c->out.error = 0;
    c->out.status = RLAR_OK;
    c->out.used = 0;
    c->terminal = c->line_shown = false;
    c->warnings = 0;
    c->on_iteration = NULL;
    c->verb = cli_verb_find(verb);
    c->ctx = fuzz_ctx();
    c->args.seed = -1;
    return c;
}

/* Of one that has the memory it asks for: all that these targets do needs little. */
static inline bool command_code(int code) {
    return code >= CODE_DONE && code < CODE_MEMORY;
}

#endif
