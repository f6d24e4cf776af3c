/* file_faults.c - the operating system refuses, at every system call on files of every public call.
 *
 *     file_faults [--every N]     every N-th system call only (default 1)
 *
 * Each system call in turn is interrupted (EINTR) or does less than asked for: the result has the
 * same bits. Each in turn fails with EIO, ENOSPC and EDQUOT, on one thread and on three: an error
 * with a text that has the system's reason and names a file, nothing lost, no descriptor left open,
 * the old file intact and nothing beside it; the next try gives the same bits. Likewise where, from
 * each in turn on, every call of its kind fails or every call: a disk that is full or gone. Then a
 * temporary may stay that cannot be removed, and of two files that belong together the first may be
 * new where it cannot be taken back either. And a save makes its calls in the order that a power
 * failure asks for. The linker's --wrap puts this file between the library and the system: the list
 * of names is in tests/meson.build. */
#include "calls.h"
#include "hang.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHORT = -1, TRACE_SIZE = 4096 };

/* What fails: a call, from it on all of its kind, or all. */
typedef enum reach { ONCE, KIND, ALL } reach;

static const char *const reach_text[] = {"", " for ever", ", and all after it,"};

/* Which call is the first is settled once, by the count; what later ones write is atomic. */
static struct faults {
    _Atomic int64_t seen; /* system calls */
    int64_t strike_at;    /* 0: never */
    int fault;            /* an errno, or SHORT */
    reach reach;
    _Atomic int64_t open; /* descriptors */
    bool struck;
    _Atomic bool may_ignore;               /* all that were struck */
    _Atomic int64_t kept, renames_refused; /* unlink() and rename() that were struck */
    _Atomic int64_t renames;               /* so far */
    int64_t last_rename;                   /* how many in a run that is not struck */
    bool after_rename;                     /* struck after the last */
    bool no_nameless;                      /* a file system that has no nameless files */
    _Atomic(const char *) call;            /* the first that was struck */
    bool tracing;                          /* on one thread */
    char trace[TRACE_SIZE];                /* the names of the calls of a save */
    size_t traced;
} faults;

static _Thread_local bool cut; /* this call does less than it is asked for */

static void trace(const char *name) {
    if (faults.tracing && faults.traced + 1 < TRACE_SIZE)
        faults.traced +=
            (size_t)snprintf(faults.trace + faults.traced, TRACE_SIZE - faults.traced, "%s ", name);
}

static void strike_first(const char *name, bool lenient) {
    faults.struck = true;
    faults.may_ignore = lenient;
    faults.after_rename = faults.last_rename > 0 && faults.renames >= faults.last_rename;
    faults.call = name;
}

/* Does a fault that has struck already reach this call, too? */
static bool reaches(const char *name) {
    const char *first = faults.call;
    return faults.reach == ALL || (faults.reach == KIND && first && strcmp(name, first) == 0);
}

/* Is this call to fail? `lenient`: the library may do without it. */
static bool strikes(const char *name, bool lenient) {
    trace(name);
    cut = false;
    if (faults.strike_at == 0)
        return false;
    const int64_t number = ++faults.seen;
    if (number == faults.strike_at)
        strike_first(name, lenient);
    else if (number < faults.strike_at || !reaches(name))
        return false;
    if (!lenient)
        faults.may_ignore = false;
    cut = faults.fault == SHORT;
    if (faults.fault > 0)
        errno = faults.fault;
    return !cut;
}

/* How much of it is asked for: a single byte at most when this call is the one. */
static size_t portion(size_t size) {
    return cut && size > 1 ? 1 : size;
}

#define REAL(type, name, arguments)                                                                \
    type __real_##name arguments;                                                                  \
    type __wrap_##name arguments;                                                                  \
    type __wrap_##name arguments

REAL(int, open64, (const char *path, int flags, mode_t mode)) {
    const bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
    if (strikes(flags & O_DIRECTORY && !nameless ? "openfolder" : "open", nameless))
        return -1;
    if (nameless && faults.no_nameless) {
        errno = EOPNOTSUPP;
        return -1;
    }
    const int fd = __real_open64(path, flags, mode);
    faults.open += fd >= 0;
    return fd;
}

/* A descriptor is gone whatever close() answers. A journal, which is read and written, is closed
 * when the results are there: they count more. */
REAL(int, close, (int fd)) {
    const bool output = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY;
    const bool failed = strikes("close", !output);
    faults.open--;
    const int kept = errno, answer = __real_close(fd);
    if (!failed)
        return answer;
    errno = kept;
    return -1;
}

REAL(ssize_t, read, (int fd, void *bytes, size_t size)) {
    return strikes("read", false) ? -1 : __real_read(fd, bytes, portion(size));
}

REAL(ssize_t, pread64, (int fd, void *bytes, size_t size, off_t at)) {
    return strikes("pread", false) ? -1 : __real_pread64(fd, bytes, portion(size), at);
}

REAL(ssize_t, write, (int fd, const void *bytes, size_t size)) {
    return strikes("write", false) ? -1 : __real_write(fd, bytes, portion(size));
}

REAL(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off_t at)) {
    return strikes("pwrite", false) ? -1 : __real_pwrite64(fd, bytes, portion(size), at);
}

/* Interrupted is all that a call without a size can be, apart from failing. */
REAL(int, fsync, (int fd)) {
    return strikes("fsync", false) ? -1 : __real_fsync(fd);
}

REAL(int, rename, (const char *from, const char *to)) {
    if (strikes("rename", false)) {
        faults.renames_refused++;
        return -1;
    }
    const int answer = __real_rename(from, to);
    faults.renames += answer == 0;
    return answer;
}

REAL(int, linkat, (int from, const char *old, int to, const char *path, int flags)) {
    return strikes("linkat", false) ? -1 : __real_linkat(from, old, to, path, flags);
}

REAL(int, unlink, (const char *path)) {
    if (!strikes("unlink", false))
        return __real_unlink(path);
    faults.kept++;
    return -1;
}

REAL(int, access, (const char *path, int mode)) {
    return strikes("access", true) ? -1 : __real_access(path, mode);
}

REAL(ssize_t, readlink, (const char *path, char *to, size_t size)) {
    return strikes("readlink", false) ? -1 : __real_readlink(path, to, size);
}

REAL(int, stat64, (const char *path, struct stat *info)) {
    return strikes("stat", false) ? -1 : __real_stat64(path, info);
}

REAL(int, fstat64, (int fd, struct stat *info)) {
    return strikes("fstat", false) ? -1 : __real_fstat64(fd, info);
}

REAL(int, fstatat64, (int fd, const char *path, struct stat *info, int flags)) {
    return strikes("fstatat", false) ? -1 : __real_fstatat64(fd, path, info, flags);
}

REAL(int, fchmod, (int fd, mode_t mode)) {
    return strikes("fchmod", false) ? -1 : __real_fchmod(fd, mode);
}

REAL(int, fchown, (int fd, uid_t user, gid_t group)) {
    return strikes("fchown", false) ? -1 : __real_fchown(fd, user, group);
}

REAL(int, ftruncate64, (int fd, off_t size)) {
    return strikes("ftruncate", false) ? -1 : __real_ftruncate64(fd, size);
}

REAL(int, flock, (int fd, int how)) {
    return strikes("flock", false) ? -1 : __real_flock(fd, how);
}

/* It has nothing to wait for and is never interrupted. */
REAL(off_t, lseek64, (int fd, off_t offset, int from)) {
    return strikes("lseek", false) && errno != EINTR ? -1 : __real_lseek64(fd, offset, from);
}

REAL(DIR *, opendir, (const char *path)) {
    DIR *folder = strikes("opendir", false) ? NULL : __real_opendir(path);
    faults.open += folder != NULL;
    return folder;
}

REAL(struct dirent *, readdir64, (DIR * folder)) {
    return strikes("readdir", false) ? NULL : __real_readdir64(folder);
}

REAL(int, closedir, (DIR * folder)) {
    const bool failed = strikes("closedir", true);
    faults.open--;
    const int answer = __real_closedir(folder);
    return failed ? -1 : answer;
}

typedef struct tally {
    int64_t calls, points, lasting, ignored, halves;
} tally;

/* What a call leaves when nothing fails, and when of two files only the first is there. */
typedef struct outcome {
    uint64_t bits, half;
} outcome;

static void complain(const world *w, const call *c, const char *what) {
    char name[128];
    fail_msg("%s: %s when system call %lld (%s)%s fails with %s on %d threads (%s)",
             call_name(c, name), what, (long long)faults.strike_at, faults.call,
             reach_text[faults.reach],
             faults.fault == SHORT ? "one byte only" : strerror(faults.fault), w->options.threads,
             rlar_ctx_error(w->ctx));
}

static bool is_journal(const call *c) {
    return strstr(c->variant, "journal") != NULL;
}

/* A checkpoint that cannot be written is told, and the fit goes on; one that is there and cannot be
 * read ends it. The first call opens it. */
static bool may_ignore(const call *c) {
    const bool saves = strstr(c->variant, "checkpoint") && faults.strike_at > 1 &&
                       strcmp(faults.call, "read") != 0 && strcmp(faults.call, "fstat") != 0 &&
                       strcmp(faults.call, "lseek") != 0;
    return faults.may_ignore || saves;
}

static bool writes_both(const call *c) {
    return strcmp(c->function, "rlar_file_commit_both") == 0;
}

/* The second of two files could not be put in place, nor the first be taken back: the exception
 * that rlar.h names. */
static bool stays_half(const call *c) {
    const bool taken_back =
        strcmp(c->variant, "fresh") == 0 ? faults.kept > 0 : faults.renames_refused > 1;
    return writes_both(c) && faults.renames == 1 && taken_back;
}

/* A lasting fault leaves temporaries that cannot be removed, and what was to be taken back. In this
 * pass they go before the files are compared; false: the file that was replaced is lost. */
static bool sweep(const world *w, const call *c) {
    if (faults.reach == ONCE || (faults.kept == 0 && faults.renames_refused < 2))
        return true;
    const int64_t old = world_sweep(w);
    return !stays_half(c) || strcmp(c->variant, "fresh") == 0 || old == 1;
}

/* What a call that was refused a file must have left. A journal keeps what was finished. */
static void check_failure(world *w, const call *c, rlar_status status, uint64_t files, bool empty) {
    const char *text = rlar_ctx_error(w->ctx);
    if (faults.fault == EINTR || faults.fault == SHORT)
        complain(w, c, "an error");
    if (status != RLAR_E_IO)
        complain(w, c, "another error");
    if (!strstr(text, strerror(faults.fault)) || !strstr(text, w->folder.path) ||
        strchr(text, '\n'))
        complain(w, c, "a wrong text");
    if (!empty)
        complain(w, c, "something is returned");
    if (!is_journal(c) && world_files(w) != files && !faults.after_rename)
        complain(w, c, "files changed");
    if (faults.after_rename && !strstr(text, "the file is written, but"))
        complain(w, c, "a wrong text");
}

/* The system call number strike_at is struck; false: there is none. */
static bool strike(world *w, const call *c, const outcome *usual, tally *t) {
    rlar_ctx_rest(w->ctx);
    const int64_t held = rlar_ctx_memory(w->ctx), open = faults.open;
    const uint64_t files = world_files(w);
    faults.seen = faults.renames = faults.renames_refused = faults.kept = 0;
    faults.struck = faults.after_rename = false;
    faults.call = NULL;
    must_end();
    const rlar_status status = c->run(w, c->variant);
    const int64_t at = faults.strike_at;
    faults.strike_at = 0;
    const bool empty = world_is_empty(w);
    const uint64_t found = world_forget(w); /* before the check: a file that was begun goes here */
    const bool kept = sweep(w, c);
    faults.strike_at = at;
    if (!kept)
        complain(w, c, "the old file is lost");
    if (status < 0)
        check_failure(w, c, status, stays_half(c) ? usual->half : files, empty);
    else if (found != usual->bits)
        complain(w, c, "other bits");
    else if (faults.struck && faults.fault > 0 && faults.fault != EINTR && !may_ignore(c))
        complain(w, c, "no error");
    if (status < 0 && faults.after_rename && found != usual->bits)
        complain(w, c, "a torn file");
    rlar_ctx_rest(w->ctx);
    if (rlar_ctx_memory(w->ctx) != held || faults.open != open)
        complain(w, c, "something is lost");
    t->ignored += faults.struck && faults.fault > 0 && faults.fault != EINTR && status >= 0;
    t->halves += stays_half(c);
    return faults.struck;
}

static void again(world *w, const call *c, uint64_t expected) {
    const int64_t at = faults.strike_at;
    faults.strike_at = 0;
    if (c->run(w, c->variant) < 0 || world_forget(w) != expected)
        complain(w, c, "the next try is not right");
    world_restore(w);
    faults.strike_at = at;
}

/* When nothing fails. */
static outcome usual_outcome(world *w, const call *c) {
    outcome o = {0, 0};
    faults.strike_at = 0;
    faults.renames = 0;
    if (c->run(w, c->variant) < 0)
        complain(w, c, "an error");
    faults.last_rename = faults.renames;
    o.bits = world_forget(w);
    if (writes_both(c)) {
        write_bytes(&w->folder, "out/m.rlar", OLD_FILE, strlen(OLD_FILE));
        o.half = world_files(w);
    }
    world_restore(w);
    return o;
}

static void strike_everywhere(world *w, const call *c, int64_t every, tally *t) {
    static const struct {
        int fault;
        reach reach;
    } kinds[] = {{EINTR, ONCE}, {SHORT, ONCE},  {EIO, ONCE}, {ENOSPC, ONCE}, {EDQUOT, ONCE},
                 {EIO, KIND},   {ENOSPC, KIND}, {EIO, ALL},  {ENOSPC, ALL}};
    const outcome usual = usual_outcome(w, c);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        faults.fault = kinds[k].fault;
        faults.reach = kinds[k].reach;
        for (faults.strike_at = 1; strike(w, c, &usual, t); faults.strike_at += every) {
            t->points++;
            t->lasting += faults.reach != ONCE;
            again(w, c, usual.bits);
        }
        world_restore(w); /* the last ran undisturbed */
    }
    faults.strike_at = 0;
    t->calls++;
}

/* Everything is on the disk before the name changes, and the change is, before the call ends. */
static void check_order(world *w) {
    static const char *const order[] = {
        "readlink stat open access fchown fchmod write write write fsync linkat close openfolder "
        "rename fsync close ",
        "readlink stat open open fchown fchmod write write write fsync close openfolder rename "
        "fsync close "};
    const call *c = calls();
    while (strcmp(c->function, "rlar_file_commit") != 0)
        c++;
    faults.traced = 0;
    faults.tracing = true;
    assert_true(c->run(w, c->variant) >= 0);
    faults.tracing = false;
    if (strcmp(faults.trace, order[faults.no_nameless]) != 0)
        fail_msg("a save calls the system in this order: %s", faults.trace);
    (void)world_forget(w);
    world_restore(w);
}

static bool writes_a_file(const call *c) {
    return strcmp(c->function, "rlar_data_write") == 0 ||
           strcmp(c->function, "rlar_model_save") == 0 || strncmp(c->function, "rlar_file", 9) == 0;
}

static tally strike_all(const rlar_ctx_options *options, bool no_nameless, int64_t every) {
    world w;
    tally t = {0};
    faults.no_nameless = no_nameless;
    world_open(&w, options, "2");
    if (options->threads == 1)
        check_order(&w);
    for (const call *c = calls(); c->function; c++)
        if (!no_nameless || writes_a_file(c))
            strike_everywhere(&w, c, every, &t);
    world_close(&w);
    return t;
}

int main(int argc, char **argv) {
    const int64_t every = argc == 3 && strcmp(argv[1], "--every") == 0 ? atoll(argv[2]) : 1;
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    options.threads = 1;
    const tally t = strike_all(&options, false, every), more = strike_all(&options, true, every);
    options.threads = 3;
    const tally three = strike_all(&options, false, every);
    assert_true(t.points > 0 && more.points > 0 && three.points > 0);
    assert_true(every > 1 || t.halves > 0); /* else the exception was not tried */
    printf(
        "%lld system calls of %lld public calls and variants interrupted, cut short or refused "
        "(EIO, ENOSPC, EDQUOT; %lld of them and from then on for ever) on 1 and 3 threads: the "
        "same bits (%lld could be done without) or an error that says why, the old file intact, "
        "nothing left that can be removed; a save writes, flushes, closes, renames and flushes the "
        "folder, in this order\n",
        (long long)(t.points + more.points + three.points), (long long)t.calls,
        (long long)(t.lasting + more.lasting + three.lasting),
        (long long)(t.ignored + more.ignored + three.ignored));
    return 0;
}
