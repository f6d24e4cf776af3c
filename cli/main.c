/* main.c - `rlar VERB ...`: signals, dispatch, the exit code.
 *
 * SIGINT and SIGTERM only set a flag. The library's progress callback sees it and cancels, the verb
 * unwinds, an unfinished output file is discarded and the program ends with 130. A second signal
 * ends it at once. SIGPIPE is ignored: a reader that has seen enough is no error (out.c). So is
 * SIGXFSZ: a limit on the size of files is an error of the write that meets it. SIGCHLD gets its
 * usual meaning back: where our caller ignores it, the end of gnuplot could not be waited for. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* The one variable of this kind: a signal handler can reach nothing else. */
static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
    (void)number;
    interrupted = 1;
}

bool cli_interrupted(void) {
    return interrupted != 0;
}

/* No SA_RESTART, so that a read that waits for a pipe comes back. */
static void catch_signals(void) {
    struct sigaction action = {0};
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
}

/* A descriptor 0, 1 or 2 that the caller closed would be handed to the next file we open, and
 * results would land in it. Fill the gap with something whose use fails as a closed one does. */
static void fill_descriptors(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            const int opened = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
            if (opened >= 0 && opened != fd)
                close(opened);
        }
}

static int unknown_verb(cli *c, const char *name) {
    const char *what = name[0] == '-' ? "option" : "verb";
    const char *near = name[0] == '-' ? NULL : cli_verb_near(name);
    if (near != NULL)
        return cli_error(c, CODE_USAGE, "unknown verb '%s': did you mean '%s'?", name, near);
    return cli_error(c, CODE_USAGE, "unknown %s '%s' ('rlar --help' lists the verbs)", what, name);
}

static int help(cli *c, const char *name) {
    const bool whole = name == NULL || strcmp(name, "help") == 0;
    const cli_verb *verb = whole ? NULL : cli_verb_find(name);
    if (!whole && verb == NULL)
        return unknown_verb(c, name);
    if (verb != NULL)
        cli_help_verb(c, verb);
    else
        cli_help(c);
    return 0;
}

/* Too few words get an example: the shortest way to a correct call. */
static int check_words(cli *c) {
    const cli_verb *verb = c->verb;
    if (c->args.words < verb->min_words)
        return cli_usage(c, "%s expected, e.g. %s", verb->words, verb->example);
    if (c->args.words > verb->max_words)
        return cli_usage(c, "unexpected argument '%s'", c->args.word[verb->max_words]);
    return 0;
}

static int run_verb(cli *c, int argc, char **argv) {
    int code = cli_args_parse(c, argc, argv);
    if (code != 0)
        return code;
    if (c->args.help > 0)
        return help(c, c->verb->name);
    if ((code = check_words(c)) != 0 || (code = cli_stdin_check(c)) != 0 ||
        (code = cli_mat_vars_check(c)) != 0 || (code = cli_ctx_open(c)) != 0)
        return code;
    return c->verb->run(c);
}

/* Of several ranks all fit; anything else is rank 0's. */
static bool takes_part(const cli *c, const char *verb) {
    static const char *const shared[] = {"fit", "evaluate", "tune", "reproduce"};
    bool shares = false;
    for (size_t i = 0; i < sizeof shared / sizeof shared[0] && verb != NULL; i++)
        shares = shares || strcmp(verb, shared[i]) == 0;
    return cli_rank(c) == 0 || shares;
}

/* What stands before the verb: version and help only. */
static int dispatch(cli *c, int argc, char **argv) {
    const char *first = argv[1];
    if (!takes_part(c, first))
        return 0;
    if (argc < 2) {
        cli_usage_brief();
        return CODE_USAGE;
    }
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0 ||
        strcmp(first, "version") == 0) {
        cli_printf(c, "%s %s\n", cli_program, rlar_version());
        return 0;
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
        return help(c, NULL);
    if (strcmp(first, "help") == 0)
        return help(c, argc > 2 ? argv[2] : NULL);
    c->verb = cli_verb_find(first);
    if (c->verb != NULL)
        return run_verb(c, argc - 2, argv + 2);
    return unknown_verb(c, first);
}

int main(int argc, char **argv) {
    fill_descriptors();
    cli *c = cli_alloc(sizeof *c);
    memset(c, 0, sizeof *c);
    json_set_alloc_funcs(cli_alloc, free);
    cli_ranks_open(c, &argc, &argv);
    catch_signals();
    c->terminal = isatty(STDERR_FILENO) == 1;
    int code = cli_out_close(c, dispatch(c, argc, argv));
    rlar_ctx_free(c->ctx);
    c->ctx = NULL;
    code = cli_ranks_close(c, code);
    cli_args_free(&c->args);
    free(c);
    return code;
}
