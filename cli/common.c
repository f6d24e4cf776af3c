/* common.c - messages, exit codes, small memory, numbers as text.
 *
 * A message is one line on standard error that starts with the name of the program; control
 * characters in it (from file names or file contents) are shown as '?', so that no file can drive
 * the terminal. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

/* The codes are part of the contract. */
int cli_exit_code(rlar_status status) {
    switch (status) {
    case RLAR_E_ARG:
        return CODE_USAGE;
    case RLAR_E_DATA:
        return CODE_DATA;
    case RLAR_E_MODEL:
        return CODE_MODEL;
    case RLAR_E_NUMERIC:
        return CODE_NUMERIC;
    case RLAR_E_IO:
        return CODE_IO;
    case RLAR_E_NOMEM:
    case RLAR_E_TOO_LARGE:
        return CODE_MEMORY;
    case RLAR_E_CANCELLED:
        return CODE_INTERRUPTED;
    default:
        return status < 0 ? CODE_FAILED : CODE_DONE;
    }
}

/* Two paths, as long as the system takes them, and what is said of them. */
enum { MESSAGE_SIZE = 1 << 14 };

/* One line; longer texts are cut. */
CLI_PRINTF(2, 0)
static void write_line(char text[MESSAGE_SIZE], const char *format, va_list args) {
    vsnprintf(text, MESSAGE_SIZE, format, args);
    for (char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = '?';
}

/* Of several ranks the first alone has something to say beside errors. */
CLI_PRINTF(3, 0)
static void say(cli *c, const char *prefix, const char *format, va_list args) {
    char text[MESSAGE_SIZE];
    if (c->args.quiet > 0 || cli_rank(c) > 0)
        return;
    write_line(text, format, args);
    cli_progress_clear(c);
    fprintf(stderr, "%s: %s%s\n", cli_program, prefix, text);
}

int cli_error(cli *c, int code, const char *format, ...) {
    char text[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    write_line(text, format, args);
    va_end(args);
    cli_ranks_tell(c, code, text);
    return code;
}

int cli_usage(cli *c, const char *format, ...) {
    char text[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return cli_error(c, CODE_USAGE, "%s: %s ('rlar %s --help' shows the options)", c->verb->name,
                     text, c->verb->name);
}

int cli_check(cli *c, rlar_status status) {
    if (status >= 0)
        return 0;
    if (status == RLAR_E_CANCELLED || (c->team != NULL && cli_interrupted()))
        return cli_error(c, CODE_INTERRUPTED, "interrupted");
    const char *text = rlar_ctx_error(c->ctx);
    return cli_error(c, cli_exit_code(status), "%s",
                     text[0] != '\0' ? text : rlar_status_text(status));
}

void cli_note(cli *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(c, "", format, args);
    va_end(args);
}

void cli_warn(cli *c, const char *format, ...) {
    c->warnings++;
    va_list args;
    va_start(args, format);
    say(c, "warning: ", format, args);
    va_end(args);
}

double cli_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The wait for the writer of a pipe ends when someone asks us to stop. */
int cli_open(cli *c, const char *path, int *fd) {
    do {
        *fd = open(path, O_RDONLY | O_CLOEXEC);
    } while (*fd < 0 && errno == EINTR && !cli_interrupted());
    if (*fd < 0 && cli_interrupted())
        return cli_error(c, CODE_INTERRUPTED, "interrupted");
    return *fd < 0 ? cli_error(c, CODE_IO, "%s: %s", path, strerror(errno)) : 0;
}

/* Checked once, here: names and short lists are not worth an error path in every caller. */
void *cli_alloc(size_t size) {
    void *memory = malloc(size > 0 ? size : 1);
    if (memory == NULL)
        cli_ranks_no_memory();
    return memory;
}

char *cli_strdup(const char *text, size_t length) {
    char *copy = cli_alloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *cli_vtext(const char *format, va_list args) {
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        cli_ranks_no_memory();
    return text;
}

char *cli_text(const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = cli_vtext(format, args);
    va_end(args);
    return text;
}

FILE *cli_text_open(char **text, size_t *size) {
    FILE *out = open_memstream(text, size);
    if (out == NULL)
        cli_ranks_no_memory();
    return out;
}

/* A text that could not grow has lost what came after; one that could not shrink is not there. */
void cli_text_close(FILE *out, char *const *text) {
    const bool lost = ferror(out) != 0;
    if (fclose(out) != 0 || lost || *text == NULL)
        cli_ranks_no_memory();
}

/* 15 digits are always exact enough to be short, 17 always enough to be exact. */
const char *cli_number(double value, char buf[CLI_NUMBER_SIZE]) {
    if (isnan(value))
        return "nan";
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, CLI_NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(buf, NULL) == value)
            break;
    }
    return buf;
}

const char *cli_bytes(double bytes, char buf[CLI_NUMBER_SIZE]) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int step = 0;
    for (; bytes >= 1024 && step < 4; step++)
        bytes /= 1024;
    snprintf(buf, CLI_NUMBER_SIZE, "%.*f %s", step == 0 ? 0 : 1, bytes, unit[step]);
    return buf;
}

char *cli_find_program(const char *name) {
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        const size_t span = strcspn(path, ":");
        char *full = cli_text("%.*s/%s", (int)span, path, name);
        if (access(full, X_OK) == 0)
            return full;
        free(full);
        path += span + (path[span] == ':');
    }
    return NULL;
}
