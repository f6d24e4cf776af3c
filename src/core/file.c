/* file.c - output that appears whole or not at all.
 *
 * Bytes go to a nameless file in the folder of the target, which vanishes by itself when the
 * process is killed; commit flushes it to the disk (fsync), gives it a temporary name, renames it
 * over the target and flushes the folder. Where the file system has no nameless files it has the
 * temporary name from the beginning. Until the rename the old file is untouched; after a failure
 * nothing is left.
 *
 * Of two files that belong together both are ready under their temporary names before the first is
 * renamed. The file that it replaces is kept under a second name until the other is in place too.
 */
#include "core/core.h"
#include "core/sanitize.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = RLAR_BUFFER(1 << 16), NAME_EXTRA = 64, MAX_LINKS = 40, MAX_NAMES = 1000 };

struct rlar_file {
    rlar_ctx *ctx;
    char *path;      /* of the target, links followed */
    char *temporary; /* NULL: a device or a pipe, written to directly; "": has no name (yet) */
    char *old;       /* a second name of the file to be replaced; "": has none */
    size_t name_room;
    bool fresh;     /* commit of two: nothing is replaced */
    bool failed;    /* bytes are lost: it is not committed any more */
    int fd, folder; /* folder: of the target, to be flushed after the rename */
    size_t filled;
    char buffer[BUFFER];
};

static rlar_status io_error(rlar_ctx *ctx, const char *path, const char *what) {
    return rlar__fail(ctx, RLAR_E_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

rlar_status rlar__open(rlar_ctx *ctx, const char *path, int flags, int *fd) {
    while ((*fd = open(path, flags | O_CLOEXEC, 0666)) < 0 && errno == EINTR)
        RLAR_TRY(rlar__interrupted(ctx));
    return RLAR_OK;
}

/* Bytes of the path up to and with the last slash. */
static int folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash + 1 - path) : 0;
}

/* "folder/.rlar-PID-N.tmp" for "folder/name": hidden, ours alone, and short whatever the name. N
 * goes with the clock, so that what killed processes of this number have left is never in the way.
 */
static void temporary_name(const rlar_file *file, int attempt, char *out) {
    const int64_t moment = (int64_t)(rlar__now() * 1e9) + attempt;
    snprintf(out, file->name_room, "%.*s.rlar-%ld-%llx.tmp", folder_length(file->path), file->path,
             (long)getpid(), (unsigned long long)moment);
}

static void file_free(rlar_file *file) {
    rlar__free(file->path);
    rlar__free(file->temporary);
    rlar__free(file->old);
    rlar__free(file);
}

/* The descriptor of this process that the path names (/dev/stdout leads to /proc/self/fd/1), or -1.
 */
static int own_descriptor(const char *path) {
    static const char *const folder[] = {"/proc/self/fd/", "/dev/fd/"};
    for (size_t i = 0; i < sizeof folder / sizeof folder[0]; i++) {
        const size_t length = strlen(folder[i]);
        if (strncmp(path, folder[i], length) != 0)
            continue;
        const size_t digits = strlen(path + length);
        int64_t number;
        if (strspn(path + length, "0123456789") == digits &&
            rlar__parse_int64(path + length, digits, &number) && number <= INT_MAX)
            return (int)number;
    }
    return -1;
}

/* A device or a pipe cannot be replaced by a rename: write to it directly. So is a descriptor:
 * whoever opened the file behind it goes on writing there. */
static rlar_status open_special(rlar_file *file) {
    const int own = own_descriptor(file->path);
    if (own >= 0)
        file->fd = fcntl(own, F_DUPFD_CLOEXEC, 0);
    else
        RLAR_TRY(rlar__open(file->ctx, file->path, O_WRONLY, &file->fd));
    return file->fd < 0 ? io_error(file->ctx, file->path, "open for writing") : RLAR_OK;
}

static void own_link(int fd, char out[NAME_EXTRA]) {
    snprintf(out, NAME_EXTRA, "/proc/self/fd/%d", fd);
}

/* fd stays -1 where there are no nameless files, or no way to name one later: whatever the reason,
 * open_named() tells it if it matters. The mode follows the umask, as for any new file. */
static rlar_status open_nameless(rlar_file *file) {
    char link[NAME_EXTRA];
    snprintf(file->temporary, file->name_room, "%.*s.", folder_length(file->path), file->path);
    const rlar_status status =
        rlar__open(file->ctx, file->temporary, O_WRONLY | O_TMPFILE, &file->fd);
    file->temporary[0] = '\0';
    own_link(file->fd, link);
    if (file->fd >= 0 && access(link, F_OK) != 0) {
        close(file->fd);
        file->fd = -1;
    }
    return status;
}

/* The first free name. */
static rlar_status open_named(rlar_file *file) {
    rlar_status status = RLAR_OK;
    for (int attempt = 0; attempt < MAX_NAMES; attempt++) {
        temporary_name(file, attempt, file->temporary);
        status = rlar__open(file->ctx, file->temporary, O_WRONLY | O_CREAT | O_EXCL, &file->fd);
        if (status < 0 || file->fd >= 0 || errno != EEXIST)
            break;
    }
    if (status >= 0 && file->fd >= 0)
        return RLAR_OK;
    file->temporary[0] = '\0'; /* not ours: nothing to remove */
    return status < 0 ? status : io_error(file->ctx, file->path, "create the file");
}

/* Not allowed, or this file system has no owners: nothing that a user could mend. */
static bool has_no_owners(void) {
    return errno == EPERM || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
}

/* The new file has the owner and the group of the old one, or, where we may not give it these, no
 * rights for a group that was not meant. */
static rlar_status keep_owner(const rlar_file *file, const struct stat *old) {
    mode_t mode = old->st_mode & 07777;
    int failed = (int)TEMP_FAILURE_RETRY(fchown(file->fd, old->st_uid, old->st_gid));
    if (failed != 0 && has_no_owners()) {
        mode &= ~(mode_t)S_ISUID;
        failed = (int)TEMP_FAILURE_RETRY(fchown(file->fd, (uid_t)-1, old->st_gid));
    }
    if (failed != 0 && !has_no_owners())
        return io_error(file->ctx, file->path, "set the owner");
    if (failed != 0)
        mode &= ~(mode_t)(S_ISGID | S_IRWXG);
    if (TEMP_FAILURE_RETRY(fchmod(file->fd, mode)) != 0 && errno != EPERM)
        return io_error(file->ctx, file->path, "set the mode");
    return RLAR_OK;
}

static rlar_status open_temporary(rlar_file *file) {
    struct stat target;
    const bool exists = TEMP_FAILURE_RETRY(stat(file->path, &target)) == 0;
    if (!exists && errno != ENOENT)
        return io_error(file->ctx, file->path, "create the file");
    if (exists && S_ISDIR(target.st_mode))
        return rlar__fail(file->ctx, RLAR_E_IO, "%s: is a folder; name a file", file->path);
    if ((exists && !S_ISREG(target.st_mode)) || own_descriptor(file->path) >= 0)
        return open_special(file);
    file->name_room = strlen(file->path) + NAME_EXTRA;
    RLAR_TRY(rlar__calloc(file->ctx, (int64_t)file->name_room, 1, "a file name", &file->temporary));
    RLAR_TRY(rlar__calloc(file->ctx, (int64_t)file->name_room, 1, "a file name", &file->old));
    RLAR_TRY(open_nameless(file));
    if (file->fd < 0)
        RLAR_TRY(open_named(file));
    return exists ? keep_owner(file, &target) : RLAR_OK;
}

/* What the link at `path` points to, into path; false: it is none, or has an error (errno). */
static bool follow_link(char path[PATH_MAX]) {
    char to[PATH_MAX];
    const ssize_t length = TEMP_FAILURE_RETRY(readlink(path, to, sizeof to));
    if (length < 0)
        return false;
    const int folder = to[0] == '/' ? 0 : folder_length(path);
    if (folder + length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path + folder, to, (size_t)length);
    path[folder + length] = '\0';
    return true;
}

/* The file behind a symbolic link is replaced, not the link, also where that file is not there yet.
 */
static rlar_status target_path(rlar_ctx *ctx, const char *path, char **out) {
    char real[PATH_MAX];
    int links = 0;
    errno = EINVAL; /* where no link is asked for */
    if ((size_t)snprintf(real, sizeof real, "%s", path) >= sizeof real) {
        errno = ENAMETOOLONG;
        return io_error(ctx, path, "create the file");
    }
    while (links < MAX_LINKS && own_descriptor(real) < 0 && follow_link(real))
        links++;
    if (links < MAX_LINKS && errno != EINVAL && errno != ENOENT) /* EINVAL: not a link */
        return io_error(ctx, path, "create the file");
    return rlar__strdup(ctx, real, out);
}

rlar_status rlar__file_create(rlar_ctx *ctx, const char *path, rlar_file **out) {
    rlar_file *file;
    if (!*path)
        return rlar__fail(ctx, RLAR_E_ARG, "the name of the output file is empty; give one");
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *file, "an output file", &file));
    file->ctx = ctx;
    file->fd = file->folder = -1;
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

rlar_status rlar_file_create(rlar_ctx *ctx, const char *path, rlar_file **out) {
    if (!ctx || !path || !out)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_file_create: ctx, path and out are needed");
    rlar__begin(ctx);
    return rlar__file_create(ctx, path, out);
}

/* write() until all is out; interrupted calls go on unless someone asked to stop. */
static rlar_status write_all(rlar_file *file, const char *bytes, size_t size) {
    while (size > 0) {
        const ssize_t done = write(file->fd, bytes, size);
        if (done < 0 && errno == EINTR) {
            RLAR_TRY(rlar__interrupted(file->ctx));
            continue;
        }
        if (done <= 0)
            return io_error(file->ctx, file->path, "write");
        bytes += done;
        size -= (size_t)done;
    }
    return RLAR_OK;
}

/* After a failure nobody knows what is in the file: every later call fails, too. */
static rlar_status put(rlar_file *file, const char *bytes, size_t size) {
    if (file->failed)
        return rlar__fail(file->ctx, RLAR_E_IO, "%s: cannot write: an earlier write failed",
                          file->path);
    const rlar_status status = write_all(file, bytes, size);
    file->failed = status < 0;
    return status;
}

static rlar_status flush(rlar_file *file) {
    const size_t size = file->filled;
    file->filled = 0;
    return put(file, file->buffer, size);
}

rlar_status rlar_file_write(rlar_file *file, const void *bytes, size_t size) {
    if (file->failed || size > BUFFER - file->filled)
        RLAR_TRY(flush(file));
    if (size > BUFFER)
        return put(file, bytes, size);
    if (size > 0)
        memcpy(file->buffer + file->filled, bytes, size);
    file->filled += size;
    return RLAR_OK;
}

/* A free temporary name, to `name`, for what is at `from`; false: the system refuses (errno). */
static bool link_temporary(const rlar_file *file, const char *from, int flags, char *name) {
    int failed = 0;
    for (int attempt = 0; attempt < MAX_NAMES; attempt++) {
        temporary_name(file, attempt, name);
        failed = (int)TEMP_FAILURE_RETRY(linkat(AT_FDCWD, from, AT_FDCWD, name, flags));
        if (failed == 0 || errno != EEXIST)
            break;
    }
    if (failed != 0)
        name[0] = '\0';
    return failed == 0;
}

/* A nameless file is given a name. */
static rlar_status name_temporary(rlar_file *file) {
    char link[NAME_EXTRA];
    own_link(file->fd, link);
    if (!link_temporary(file, link, AT_SYMLINK_FOLLOW, file->temporary))
        return io_error(file->ctx, file->path, "create the file");
    return RLAR_OK;
}

/* All is on the disk under the temporary name. A close that was interrupted has closed. */
static rlar_status close_temporary(rlar_file *file) {
    RLAR_TRY(flush(file));
    if (file->temporary && TEMP_FAILURE_RETRY(fsync(file->fd)) != 0 && errno != EINVAL)
        return io_error(file->ctx, file->path, "flush to the disk");
    if (file->temporary && file->temporary[0] == '\0')
        RLAR_TRY(name_temporary(file));
    const int fd = file->fd;
    file->fd = -1;
    return close(fd) == 0 || errno == EINTR ? RLAR_OK : io_error(file->ctx, file->path, "close");
}

/* file->folder stays -1 for one that we may write but not read: nothing more can be done. */
static rlar_status open_folder(rlar_file *file) {
    char *folder = NULL;
    const int length = folder_length(file->path);
    RLAR_TRY(rlar__strdup(file->ctx, length > 0 ? file->path : ".", &folder));
    if (length > 0)
        folder[length] = '\0';
    rlar_status status = rlar__open(file->ctx, folder, O_RDONLY | O_DIRECTORY, &file->folder);
    if (status >= 0 && file->folder < 0 && errno != EACCES)
        status = io_error(file->ctx, file->path, "open the folder");
    rlar__free(folder);
    return status;
}

/* All but the rename. */
static rlar_status make_ready(rlar_file *file) {
    RLAR_TRY(close_temporary(file));
    return file->temporary ? open_folder(file) : RLAR_OK;
}

/* There may be nothing to keep, or no second names on this file system: then there is no way back.
 */
static rlar_status keep_old(rlar_file *file) {
    if (!file->temporary || link_temporary(file, file->path, 0, file->old))
        return RLAR_OK;
    file->fresh = errno == ENOENT;
    if (file->fresh || errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK)
        return RLAR_OK;
    return io_error(file->ctx, file->path, "keep the old file until the new one is in place");
}

static rlar_status put_in_place(rlar_file *file) {
    if (!file->temporary)
        return RLAR_OK;
    if (TEMP_FAILURE_RETRY(rename(file->temporary, file->path)) != 0)
        return io_error(file->ctx, file->path, "put the file in place");
    file->temporary[0] = '\0';
    return RLAR_OK;
}

/* The old file is back, or the new one gone where there was none. */
static void take_back(rlar_file *file) {
    if (file->fresh)
        unlink(file->path);
    if (!file->old || file->old[0] == '\0')
        return;
    (void)TEMP_FAILURE_RETRY(rename(file->old, file->path));
    file->old[0] = '\0'; /* if that failed, it is better to leave it than to remove it */
}

/* The rename is safe on the disk only when the folder is. Some file systems refuse to fsync a
 * folder. */
static rlar_status finish(rlar_file *file) {
    if (file->old && file->old[0] && TEMP_FAILURE_RETRY(unlink(file->old)) != 0)
        return rlar__fail(file->ctx, RLAR_E_IO,
                          "%s: the file is written, but the old one, now %s, cannot be removed: %s",
                          file->path, file->old, strerror(errno));
    if (file->old)
        file->old[0] = '\0';
    if (file->folder >= 0 && TEMP_FAILURE_RETRY(fsync(file->folder)) != 0 && errno != EINVAL &&
        errno != EROFS)
        return rlar__fail(file->ctx, RLAR_E_IO,
                          "%s: the file is written, but its folder cannot be flushed to the disk: "
                          "%s; if the power fails now, the old file may be back",
                          file->path, strerror(errno));
    return RLAR_OK;
}

static rlar_status commit_one(rlar_file *file) {
    RLAR_TRY(make_ready(file));
    RLAR_TRY(put_in_place(file));
    return finish(file);
}

rlar_status rlar_file_commit(rlar_file *file) {
    const rlar_status status = commit_one(file);
    rlar_file_abort(file);
    return status;
}

static rlar_status commit_two(rlar_file *first, rlar_file *second) {
    RLAR_TRY(make_ready(first));
    RLAR_TRY(make_ready(second));
    RLAR_TRY(keep_old(first));
    RLAR_TRY(put_in_place(first));
    const rlar_status status = put_in_place(second);
    if (status < 0) {
        take_back(first);
        return status;
    }
    const rlar_status one = finish(first), other = finish(second);
    return one < 0 ? one : other;
}

rlar_status rlar_file_commit_both(rlar_file *first, rlar_file *second) {
    const rlar_status status = commit_two(first, second);
    rlar_file_abort(first);
    rlar_file_abort(second);
    return status;
}

void rlar_file_abort(rlar_file *file) {
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    if (file->temporary && file->temporary[0])
        unlink(file->temporary);
    if (file->old && file->old[0])
        unlink(file->old);
    if (file->folder >= 0)
        close(file->folder);
    file_free(file);
}
