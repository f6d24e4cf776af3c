/* file.c - output that appears whole or not at all.
 *
 * Bytes go to a temporary beside the target; commit flushes it to the disk (fsync), renames it over
 * the target and flushes the folder. Until the rename the old file is untouched; after a failure
 * nothing is left. */
#include "core/core.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 16, NAME_EXTRA = 64 };

struct rlar_file {
    rlar_ctx *ctx;
    char *path, *temporary; /* temporary NULL: a device or a pipe, written to directly */
    int fd;
    size_t filled;
    char buffer[BUFFER];
};

static rlar_status io_error(rlar_ctx *ctx, const char *path, const char *what) {
    return rlar__fail(ctx, RLAR_E_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* "folder/.rlar-PID-N.tmp" for "folder/name": hidden, ours alone, and short whatever the name. */
static void temporary_name(const rlar_file *file, int attempt, char *out, size_t size) {
    const char *slash = strrchr(file->path, '/');
    const int folder = slash ? (int)(slash + 1 - file->path) : 0;
    snprintf(out, size, "%.*s.rlar-%ld-%d.tmp", folder, file->path, (long)getpid(), attempt);
}

static void file_free(rlar_file *file) {
    rlar__free(file->path);
    rlar__free(file->temporary);
    rlar__free(file);
}

/* A device or a pipe cannot be replaced by a rename: write to it directly. */
static rlar_status open_special(rlar_file *file) {
    file->fd = open(file->path, O_WRONLY | O_CLOEXEC);
    return file->fd < 0 ? io_error(file->ctx, file->path, "open for writing") : RLAR_OK;
}

/* The first free name. The mode follows the umask, as for any new file. */
static int create_unique(rlar_file *file, size_t size) {
    int fd = -1;
    for (int attempt = 0; attempt < 1000 && fd < 0; attempt++) {
        temporary_name(file, attempt, file->temporary, size);
        fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

static rlar_status open_temporary(rlar_file *file) {
    struct stat target;
    const bool exists = stat(file->path, &target) == 0;
    if (exists && S_ISDIR(target.st_mode))
        return rlar__fail(file->ctx, RLAR_E_IO, "%s: is a folder; name a file", file->path);
    if (exists && !S_ISREG(target.st_mode))
        return open_special(file);
    const size_t size = strlen(file->path) + NAME_EXTRA;
    RLAR_TRY(rlar__alloc(file->ctx, (int64_t)size, 1, "a file name", &file->temporary));
    file->temporary[0] = '\0';
    file->fd = create_unique(file, size);
    if (file->fd < 0) {
        file->temporary[0] = '\0'; /* not ours: nothing to remove */
        return io_error(file->ctx, file->path, "create the file");
    }
    if (exists && fchmod(file->fd, target.st_mode & 07777) != 0 && errno != EPERM)
        return io_error(file->ctx, file->path, "set the mode");
    return RLAR_OK;
}

/* The file behind a symbolic link is replaced, not the link. */
static rlar_status target_path(rlar_ctx *ctx, const char *path, char **out) {
    char real[PATH_MAX];
    struct stat link;
    const bool linked = lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && realpath(path, real);
    return rlar__strdup(ctx, linked ? real : path, out);
}

rlar_status rlar_file_create(rlar_ctx *ctx, const char *path, rlar_file **out) {
    if (!ctx || !path || !out || !*path)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_file_create: ctx, path and out are needed");
    *out = NULL;
    rlar_file *file;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *file, "an output file", &file));
    file->ctx = ctx;
    file->fd = -1;
    rlar_status status = target_path(ctx, path, &file->path);
    if (status >= 0)
        status = open_temporary(file);
    if (status < 0) {
        rlar_file_abort(file);
        return status;
    }
    *out = file;
    return RLAR_OK;
}

/* write() until all is out; interrupted calls go on unless someone asked to stop. */
static rlar_status write_all(rlar_file *file, const char *bytes, size_t size) {
    while (size > 0) {
        const ssize_t done = write(file->fd, bytes, size);
        if (done < 0 && errno == EINTR) {
            RLAR_TRY(rlar__poll(file->ctx));
            continue;
        }
        if (done <= 0)
            return io_error(file->ctx, file->path, "write");
        bytes += done;
        size -= (size_t)done;
    }
    return RLAR_OK;
}

static rlar_status flush(rlar_file *file) {
    const size_t size = file->filled;
    file->filled = 0;
    return write_all(file, file->buffer, size);
}

rlar_status rlar_file_write(rlar_file *file, const void *bytes, size_t size) {
    if (size > BUFFER - file->filled)
        RLAR_TRY(flush(file));
    if (size > BUFFER)
        return write_all(file, bytes, size);
    if (size > 0)
        memcpy(file->buffer + file->filled, bytes, size);
    file->filled += size;
    return RLAR_OK;
}

/* The rename is safe on the disk only when the folder is. Some file systems refuse to fsync a
 * folder. */
static rlar_status sync_folder(rlar_file *file) {
    char *slash = strrchr(file->path, '/');
    if (slash)
        slash[slash == file->path ? 1 : 0] = '\0';
    const int fd = open(slash ? file->path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return RLAR_OK; /* a folder we may write but not read: nothing more can be done */
    const int failed = fsync(fd) != 0 && errno != EINVAL && errno != EROFS;
    close(fd);
    return failed ? io_error(file->ctx, file->path, "flush the folder") : RLAR_OK;
}

static rlar_status close_temporary(rlar_file *file) {
    RLAR_TRY(flush(file));
    if (file->temporary && fsync(file->fd) != 0 && errno != EINVAL)
        return io_error(file->ctx, file->path, "flush to the disk");
    const int fd = file->fd;
    file->fd = -1;
    return close(fd) == 0 ? RLAR_OK : io_error(file->ctx, file->path, "close");
}

rlar_status rlar_file_commit(rlar_file *file) {
    rlar_status status = close_temporary(file);
    if (status >= 0 && file->temporary && rename(file->temporary, file->path) != 0)
        status = io_error(file->ctx, file->path, "put the file in place");
    if (status < 0) {
        rlar_file_abort(file);
        return status;
    }
    if (file->temporary)
        status = sync_folder(file);
    file_free(file);
    return status;
}

void rlar_file_abort(rlar_file *file) {
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    if (file->temporary && file->temporary[0])
        unlink(file->temporary);
    file_free(file);
}
