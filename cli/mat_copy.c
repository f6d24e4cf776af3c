/* mat_copy.c - a file for matio without the variables that it is not to see.
 *
 * matio looks at every variable on its way to the one that is asked for. So those that nobody can
 * use (structs, function handles, objects) are left out of what it gets: from the first of them on,
 * the others are copied into a memory file. Where there is none, matio gets the file itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"
#include "mat.h"

enum { CHUNK = 1 << 15, SUBSYSTEM = 116, AFTER_SUBSYSTEM = 124 };

int cli_mat_hold(cli *c, int64_t *held, double bytes, const char *path, const char *name) {
    char what[512];
    const int64_t more = bytes < (double)INT64_MAX ? (int64_t)bytes : INT64_MAX;
    if (name != NULL)
        snprintf(what, sizeof what, "%s: variable '%s'", path, name);
    else
        snprintf(what, sizeof what, "%s", path);
    const int code = cli_check(c, rlar_ctx_reserve(c->ctx, more, what));
    if (code == 0)
        *held += more;
    return code;
}

void cli_mat_let_go(cli *c, int64_t *held) {
    rlar_ctx_give_back(c->ctx, *held);
    *held = 0;
}

bool cli_mat_write(int fd, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size > 0) {
        const ssize_t put = write(fd, at, size);
        if (put == 0 || (put < 0 && errno != EINTR))
            return false;
        at += put > 0 ? put : 0;
        size -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

ssize_t cli_mat_pread(int fd, unsigned char *bytes, size_t size, int64_t at) {
    size_t done = 0;
    while (done < size) {
        const ssize_t got = pread(fd, bytes + done, size - done, at + (int64_t)done);
        if (got == 0 || (got < 0 && (errno != EINTR || cli_interrupted())))
            return got < 0 ? -1 : (ssize_t)done;
        done += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)done;
}

static int cannot_copy(cli *c, const char *path) {
    return cli_error(c, CODE_IO, "%s: cannot copy its variables: %s", path, strerror(errno));
}

int cli_mat_keep(cli *c, cli_mat_kept *kept, int fd, const char *path, int64_t at, int64_t size) {
    unsigned char chunk[CHUNK];
    if (kept->fd < 0)
        return 0;
    const int code = cli_mat_hold(c, &kept->held, (double)size, path, NULL);
    if (code != 0)
        return code;
    while (size > 0) {
        const ssize_t got = cli_mat_pread(fd, chunk, size < CHUNK ? (size_t)size : CHUNK, at);
        if (cli_interrupted())
            return cli_error(c, CODE_INTERRUPTED, "interrupted");
        if (got == 0)
            return cli_error(c, CODE_IO, "%s: became shorter while it was read", path);
        if (got < 0 || !cli_mat_write(kept->fd, chunk, (size_t)got))
            return cannot_copy(c, path);
        at += got;
        size -= got;
    }
    return 0;
}

/* What lies before; but eight bytes of the header say where the data of objects are, and those are
 * left out. */
static int begin_copy(cli *c, cli_mat_kept *kept, int fd, const char *path, int64_t end) {
    kept->fd = memfd_create("rlar-mat", MFD_CLOEXEC);
    if (kept->fd < 0)
        return cannot_copy(c, path);
    const int code = cli_mat_keep(c, kept, fd, path, 0, SUBSYSTEM);
    if (code != 0)
        return code;
    if (!cli_mat_write(kept->fd, "\0\0\0\0\0\0\0\0", AFTER_SUBSYSTEM - SUBSYSTEM))
        return cannot_copy(c, path);
    return cli_mat_keep(c, kept, fd, path, AFTER_SUBSYSTEM, end - AFTER_SUBSYSTEM);
}

int cli_mat_leave_out(cli *c, cli_mat_kept *kept, int fd, const char *path, int64_t at) {
    return kept->fd < 0 ? begin_copy(c, kept, fd, path, at) : 0;
}

void cli_mat_note(cli_mat_kept *kept, const char *name, int64_t size, bool left_out) {
    const size_t count = (size_t)kept->count;
    if (name[0] == '\0') /* the data of objects have no name */
        return;
    if ((count & (count - 1)) == 0) { /* no room left: twice as much */
        cli_mat_variable *grown = cli_alloc((count > 0 ? 2 * count : 1) * sizeof *grown);
        if (count > 0)
            memcpy(grown, kept->variable, count * sizeof *grown);
        free(kept->variable);
        kept->variable = grown;
    }
    kept->variable[count] = (cli_mat_variable){.size = size, .left_out = left_out};
    memcpy(kept->variable[count].name, name, CLI_MAT_NAME);
    kept->count++;
}

bool cli_mat_is_left_out(const cli_mat_kept *kept, const char *name) {
    bool found = false;
    for (int64_t i = 0; i < kept->count && !found; i++)
        found = kept->variable[i].left_out && strcmp(kept->variable[i].name, name) == 0;
    return found;
}

/* Of several with one name, which matio might take, the largest. */
int64_t cli_mat_unpacked(const cli_mat_kept *kept, const char *name) {
    int64_t most = -1;
    for (int64_t i = 0; i < kept->count; i++)
        if (kept->variable[i].size > most && strcmp(kept->variable[i].name, name) == 0)
            most = kept->variable[i].size;
    return most;
}

void cli_mat_kept_free(cli *c, cli_mat_kept *kept) {
    if (kept->fd >= 0)
        close(kept->fd);
    free(kept->variable);
    cli_mat_let_go(c, &kept->held);
    *kept = (cli_mat_kept){.fd = -1};
}
