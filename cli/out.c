/* out.c - results: to standard output, or to the file of -o, which appears whole or not at all.
 *
 * Every write is checked: a full disk ends with code 6. A reader that closed the pipe early (head)
 * is no error: the verb stops and the program ends with 0. Both are remembered here, so that the
 * verbs need not look at every line they write. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* A pipe is left alone: its reader would see the end of it. */
static int try_to_make(cli *c, const char *path) {
    rlar_file *file = NULL;
    struct stat there;
    if (stat(path, &there) == 0 && (S_ISFIFO(there.st_mode) || S_ISCHR(there.st_mode)))
        return 0;
    const int code = cli_check(c, rlar_file_create(c->ctx, path, &file));
    if (code == 0)
        rlar_file_abort(file);
    return code;
}

/* However it is named: /dev/stdout, or the file that the shell has put there. */
static bool leads_to(int fd, const char *path, struct stat *there) {
    struct stat own;
    return stat(path, there) == 0 && fstat(fd, &own) == 0 && there->st_dev == own.st_dev &&
           there->st_ino == own.st_ino;
}

/* Also as /dev/stdout; but where that is a file, it is written as a whole like any other, and
 * standard output is not asked. */
static bool is_stdout(const char *path) {
    struct stat there;
    return path == NULL || strcmp(path, "-") == 0 ||
           (leads_to(STDOUT_FILENO, path, &there) && !S_ISREG(there.st_mode));
}

/* /dev/null mixes nothing. */
static bool mixes(int fd, const char *path) {
    struct stat there;
    return leads_to(fd, path, &there) && (!S_ISCHR(there.st_mode) || isatty(fd));
}

int cli_out_alone(cli *c, const char *option, const char *what, const char *path) {
    const bool out = path != NULL && (strcmp(path, "-") == 0 || mixes(STDOUT_FILENO, path));
    if (path == NULL || (!out && !mixes(STDERR_FILENO, path)))
        return 0;
    return cli_usage(c, "%s: %s cannot go to standard %s, name a file", option, what,
                     out ? "output" : "error");
}

/* Nothing is written there: the path names standard output, or another rank writes. */
static bool nowhere(const cli *c, const char *path) {
    return is_stdout(path) || cli_rank(c) > 0;
}

int cli_out_probe(cli *c, const char *path) {
    if (nowhere(c, path))
        return 0;
    const int code = cli_spare_inputs(c, path);
    return code == 0 ? try_to_make(c, path) : code;
}

int cli_out_open(cli *c, const char *path) {
    if (nowhere(c, path))
        return 0;
    const int code = cli_spare_inputs(c, path);
    if (code != 0)
        return code;
    c->out.path = path;
    return cli_check(c, rlar_file_create(c->ctx, path, &c->out.file));
}

bool cli_out_broken(const cli *c) {
    return c->out.error != 0 || c->out.status < 0;
}

/* All the bytes, or out.error. A signal that asks us to stop ends the wait for a slow reader. */
static void write_stdout(cli *c, const char *bytes, size_t size) {
    if (cli_rank(c) > 0)
        return;
    while (size > 0 && c->out.error == 0) {
        const ssize_t done = write(STDOUT_FILENO, bytes, size);
        if (done > 0) {
            bytes += done;
            size -= (size_t)done;
        } else if (done < 0 && (errno != EINTR || cli_interrupted())) {
            c->out.error = errno;
        }
    }
}

void cli_flush(cli *c) {
    cli_out *out = &c->out;
    cli_progress_clear(c);
    if (out->used > 0 && !cli_out_broken(c)) {
        if (out->file != NULL)
            out->status = rlar_file_write(out->file, out->buffer, out->used);
        else
            write_stdout(c, out->buffer, out->used);
    }
    out->used = 0;
}

/* Buffered: the verbs write cell by cell. */
void cli_write(cli *c, const char *bytes, size_t size) {
    cli_out *out = &c->out;
    while (size > 0) {
        const size_t room = sizeof out->buffer - out->used;
        const size_t part = size < room ? size : room;
        memcpy(out->buffer + out->used, bytes, part);
        out->used += part;
        bytes += part;
        size -= part;
        if (out->used == sizeof out->buffer)
            cli_flush(c);
    }
}

void cli_printf(cli *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = cli_vtext(format, args);
    va_end(args);
    cli_write(c, text, strlen(text));
    free(text);
}

/* In quotes, those inside doubled. */
static void write_quoted(cli *c, const char *text) {
    cli_write(c, "\"", 1);
    for (; *text != '\0'; text++) {
        cli_write(c, text, 1);
        if (*text == '"')
            cli_write(c, text, 1);
    }
    cli_write(c, "\"", 1);
}

void cli_csv(cli *c, const char *text) {
    if (strpbrk(text, ",\"\r\n") == NULL && !rlar_name_needs_quotes(text))
        cli_write(c, text, strlen(text));
    else
        write_quoted(c, text);
}

/* Quotes around what is in quotes already: a reader takes off one pair. */
void cli_line(cli *c, const char *name) {
    const size_t length = strlen(name);
    const bool pair = length >= 2 && name[0] == '"' && name[length - 1] == '"';
    if (pair || rlar_name_needs_quotes(name))
        write_quoted(c, name);
    else
        cli_write(c, name, length);
    cli_write(c, "\n", 1);
}

/* EPIPE alone is no failure. */
static int close_stdout(cli *c, int code) {
    if (c->out.error == 0)
        return code;
    if (c->out.error == EPIPE)
        return code;
    if (cli_interrupted())
        return CODE_INTERRUPTED;
    return cli_error(c, CODE_IO, "standard output: %s", strerror(c->out.error));
}

int cli_out_close(cli *c, int code) {
    cli_out *out = &c->out;
    if (code != 0) /* a failed run prints no half of a result */
        out->used = 0;
    cli_flush(c);
    if (code == 0 && cli_interrupted() && out->file != NULL)
        code = cli_error(c, CODE_INTERRUPTED, "interrupted");
    if (out->file == NULL)
        return close_stdout(c, code);
    if (code == 0 && out->status < 0)
        code = cli_check(c, out->status);
    if (code != 0) {
        rlar_file_abort(out->file);
        return code;
    }
    code = cli_check(c, rlar_file_commit(out->file));
    if (code == 0)
        cli_note(c, "wrote %s", out->path);
    return code;
}
