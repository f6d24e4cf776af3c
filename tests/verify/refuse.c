/* refuse.c - put between a program and the C library (LD_PRELOAD), it lets one call on a file fail.
 *
 *     RLAR_REFUSE=N:FAULT     the N-th call; FAULT is an errno, or 0: do one byte only; minus the
 *                             number of a signal: the program gets it before the call; ENOMEM: the
 *                             N-th call for memory by the program itself and all after it instead,
 *                             N:ENOMEM:once that call only; N = 0: none; N:FAULT:ever with
 *                             another fault: the N-th call on a file and all after it
 *     RLAR_REFUSE_LOG=FILE    "name lenient" of the first call that was struck; lenient 1: a
 *                             program may do without it, and all after it
 *     RLAR_REFUSE_SITES=FILE  with ENOMEM: "name place first last" of every place of the program
 *                             that calls for memory, with the numbers of its first and last call
 *
 * Counted are calls on files below the working folder, on memory files, on nameless temporary files
 * and on standard input and output: not what libraries read of the machine. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic int64_t seen;
static _Atomic bool in_log; /* the log itself is not counted */

/* The function of that name in the C library. */
static void *next(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

#define REAL(name) ((__typeof__(&name))(uintptr_t)next(#name))

static bool is_below(const char *path, const char *folder) {
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool concerns_path(const char *path) {
    char folder[4096];
    return path[0] != '/' || (getcwd(folder, sizeof folder) && is_below(path, folder));
}

static bool concerns(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = REAL(readlink)(link, path, sizeof path - 1);
    if (fd == STDIN_FILENO || fd == STDOUT_FILENO)
        return true;
    if (length <= 0)
        return false;
    path[length] = '\0';
    return concerns_path(path) || strstr(path, "memfd:") || strstr(path, "(deleted)");
}

static void tell(const char *name, bool lenient) {
    const char *log = getenv("RLAR_REFUSE_LOG");
    in_log = true;
    FILE *file = log ? fopen(log, "w") : NULL;
    if (file) {
        fprintf(file, "%s %d\n", name, lenient);
        fclose(file);
    }
    in_log = false;
}

/* Again when one follows that cannot be done without. */
static void tell_first(const char *name, bool lenient) {
    static const char *first;
    static bool all_lenient;
    if (first && (lenient || !all_lenient))
        return;
    first = first ? first : name;
    all_lenient = lenient;
    tell(first, lenient);
}

/* What is asked for, or NULL. gnuplot inherits the environment, but is not meant. */
static const char *order_for_us(void) {
    return strcmp(program_invocation_short_name, "rlar") == 0 ? getenv("RLAR_REFUSE") : NULL;
}

static int wanted_fault(const char *order) {
    return atoi(strchr(order, ':') + 1);
}

/* Is this the call? Its fault: an errno, 0 for one byte only, -1: it is not. */
static int fault(const char *name, bool lenient) {
    const char *order = order_for_us();
    if (!order || in_log || wanted_fault(order) == ENOMEM)
        return -1;
    const int64_t number = ++seen, first = atoll(order);
    if (number != first && (first == 0 || number < first || !strstr(order, ":ever")))
        return -1;
    tell_first(name, lenient);
    const int wanted = wanted_fault(order);
    if (wanted < 0)
        raise(-wanted);
    errno = wanted;
    return wanted;
}

static bool refused(const char *name, bool concerned, bool lenient) {
    return concerned && fault(name, lenient) > 0;
}

/* ---- Calls with a size ---- */

static bool in_library(const void *caller, const char *name) {
    Dl_info info;
    return dladdr(caller, &info) != 0 && strstr(info.dli_fname, name) != NULL;
}

static bool is_memory_file(int fd) {
    char link[64], path[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = REAL(readlink)(link, path, sizeof path - 1);
    return length > 0 && memmem(path, (size_t)length, "memfd:", 6);
}

/* What is left of the size; -1: the call fails. Memory has nothing to wait for: no signal
 * interrupts it. */
static ssize_t portion(const char *name, int fd, size_t size, bool lenient) {
    int wanted = concerns(fd) ? fault(name, lenient) : -1;
    if (wanted == EINTR && is_memory_file(fd))
        wanted = -1;
    return wanted > 0 ? -1 : wanted == 0 && size > 0 ? 1 : (ssize_t)size;
}

/* zlib reads when the command looks whether a file might be a MATLAB one; reading it tells more.
 * Such a file is unpacked from memory. */
ssize_t read(int fd, void *bytes, size_t size) {
    const bool look = in_library(__builtin_return_address(0), "libz.so") && !is_memory_file(fd);
    const ssize_t part = portion("read", fd, size, look);
    return part < 0 ? -1 : REAL(read)(fd, bytes, (size_t)part);
}

ssize_t write(int fd, const void *bytes, size_t size) {
    const ssize_t part = portion("write", fd, size, false);
    return part < 0 ? -1 : REAL(write)(fd, bytes, (size_t)part);
}

/* Like open(): the first bytes tell of what kind a file is. */
ssize_t pread64(int fd, void *bytes, size_t size, off64_t at) {
    const ssize_t part = portion("pread", fd, size, true);
    return part < 0 ? -1 : REAL(pread64)(fd, bytes, (size_t)part, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
    const ssize_t part = portion("pwrite", fd, size, false);
    return part < 0 ? -1 : REAL(pwrite64)(fd, bytes, (size_t)part, at);
}

/* ---- Calls on descriptors ---- */

/* Is it a file that was written, which must be known to be kept? One that is empty was a trial. */
static bool is_output(int fd) {
    struct stat64 info;
    return (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY && REAL(fstat64)(fd, &info) == 0 &&
           (!S_ISREG(info.st_mode) || info.st_size > 0);
}

int close(int fd) {
    const bool failed = refused("close", concerns(fd), !is_output(fd));
    const int kept = errno, answer = REAL(close)(fd);
    if (failed)
        errno = kept;
    return failed ? -1 : answer;
}

int fsync(int fd) {
    return refused("fsync", concerns(fd), false) ? -1 : REAL(fsync)(fd);
}

/* Whether results or messages go to the file that is to be written is asked before; writing tells
 * more. */
int fstat64(int fd, struct stat64 *info) {
    return refused("fstat", concerns(fd), fd == STDOUT_FILENO || fd == STDERR_FILENO)
               ? -1
               : REAL(fstat64)(fd, info);
}

int fchmod(int fd, mode_t mode) {
    return refused("fchmod", concerns(fd), false) ? -1 : REAL(fchmod)(fd, mode);
}

int ftruncate64(int fd, off64_t size) {
    return refused("ftruncate", concerns(fd), false) ? -1 : REAL(ftruncate64)(fd, size);
}

int flock(int fd, int how) {
    return refused("flock", concerns(fd), false) ? -1 : REAL(flock)(fd, how);
}

/* It has nothing to wait for and is never interrupted. */
off64_t lseek64(int fd, off64_t offset, int from) {
    const bool look = in_library(__builtin_return_address(0), "libz.so");
    const bool failed = refused("lseek", concerns(fd), look) && errno != EINTR;
    return failed ? -1 : REAL(lseek64)(fd, offset, from);
}

/* ---- Calls on paths ---- */

/* Before a file is read it is opened to see of what kind it is; opening it again tells more. */
int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    const bool nameless = (flags & O_TMPFILE) == O_TMPFILE, look = (flags & O_ACCMODE) == O_RDONLY;
    return refused("open", concerns_path(path), nameless || look) ? -1
                                                                  : REAL(open64)(path, flags, mode);
}

int rename(const char *from, const char *to) {
    return refused("rename", concerns_path(to), false) ? -1 : REAL(rename)(from, to);
}

int linkat(int from, const char *old, int to, const char *path, int flags) {
    return refused("linkat", concerns_path(path), false) ? -1
                                                         : REAL(linkat)(from, old, to, path, flags);
}

int unlink(const char *path) {
    return refused("unlink", concerns_path(path), false) ? -1 : REAL(unlink)(path);
}

/* Looks before a file is opened: opening tells more. */
int stat64(const char *path, struct stat64 *info) {
    return refused("stat", concerns_path(path), true) ? -1 : REAL(stat64)(path, info);
}

ssize_t readlink(const char *path, char *to, size_t size) {
    return refused("readlink", concerns_path(path), false) ? -1 : REAL(readlink)(path, to, size);
}

/* Like stat(), and whether files without a name can get one. */
int access(const char *path, int mode) {
    const bool ours = concerns_path(path) || is_below(path, "/proc/self/fd");
    return refused("access", ours, true) ? -1 : REAL(access)(path, mode);
}

DIR *opendir(const char *path) {
    return refused("opendir", concerns_path(path), false) ? NULL : REAL(opendir)(path);
}

struct dirent64 *readdir64(DIR *folder) {
    return refused("readdir", concerns(dirfd(folder)), false) ? NULL : REAL(readdir64)(folder);
}

int closedir(DIR *folder) {
    const bool failed = refused("closedir", concerns(dirfd(folder)), true);
    const int kept = errno, answer = REAL(closedir)(folder);
    if (failed)
        errno = kept;
    return failed ? -1 : answer;
}

int fstatat64(int folder, const char *path, struct stat64 *info, int flags) {
    return refused("fstatat", concerns(folder), false) ? -1
                                                       : REAL(fstatat64)(folder, path, info, flags);
}

/* ---- New descriptors, which no signal interrupts ---- */

int dup(int fd) {
    return refused("dup", concerns(fd), false) && errno != EINTR ? -1 : REAL(dup)(fd);
}

int memfd_create(const char *name, unsigned flags) {
    return refused("memfd_create", true, false) && errno != EINTR ? -1
                                                                  : REAL(memfd_create)(name, flags);
}

/* ---- Streams: the figures of gnuplot come through files in memory, which no signal interrupts
 * ---- */

FILE *fdopen(int fd, const char *mode) {
    return refused("fdopen", concerns(fd), false) && errno != EINTR ? NULL : REAL(fdopen)(fd, mode);
}

/* What matio does with a MATLAB file is its own. */
size_t fread(void *bytes, size_t size, size_t count, FILE *stream) {
    const bool ours = !in_library(__builtin_return_address(0), "libmatio");
    const bool failed = refused("fread", ours && concerns(fileno(stream)), false);
    return failed && errno != EINTR ? 0 : REAL(fread)(bytes, size, count, stream);
}

int fflush(FILE *stream) {
    const bool ours = stream && stream != stderr && concerns(fileno(stream));
    return refused("fflush", ours, false) && errno != EINTR ? EOF : REAL(fflush)(stream);
}

/* Below: a text that grew in memory is one no more. */
static bool change_stream(const FILE *before, FILE *now);

/* What is closed last was read or written before; a failure of that was told then. */
int fclose(FILE *stream) {
    const bool ours = stream != stderr && concerns(fileno(stream));
    const bool failed = refused("fclose", ours, true) && errno != EINTR;
    const int kept = errno, answer = REAL(fclose)(stream);
    change_stream(stream, NULL);
    if (failed)
        errno = kept;
    return failed ? EOF : answer;
}

int fseek(FILE *stream, long offset, int from) {
    const bool ours = !in_library(__builtin_return_address(0), "libmatio");
    const bool failed = refused("fseek", ours && concerns(fileno(stream)), false);
    return failed && errno != EINTR ? -1 : REAL(fseek)(stream, offset, from);
}

/* ---- Memory ---- */

typedef struct span {
    uintptr_t start, end;
} span;

static span program, c_library;

static bool is_in(const span *text, const void *caller) {
    return (uintptr_t)caller >= text->start && (uintptr_t)caller < text->end;
}

/* The first object is the program. */
static int find_texts(struct dl_phdr_info *info, size_t size, void *arg) {
    (void)size;
    (void)arg;
    span *found = program.end == 0                      ? &program
                  : strstr(info->dlpi_name, "/libc.so") ? &c_library
                                                        : NULL;
    for (int i = 0; i < info->dlpi_phnum && found; i++) {
        const uintptr_t start = (uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X))
            *found = (span){start, start + info->dlpi_phdr[i].p_memsz};
    }
    return 0;
}

__attribute__((constructor)) static void begin(void) {
    dl_iterate_phdr(find_texts, NULL);
}

enum { SITES = 512, STREAMS = 8 };

/* The places that call for memory; most calls come through few of them. */
static struct site {
    const char *name;
    uintptr_t place;
    int64_t first, last;
} sites[SITES];

static void count_site(const char *name, uintptr_t place, int64_t number) {
    int i = 0;
    while (i < SITES - 1 && sites[i].name && (sites[i].place != place || sites[i].name != name))
        i++;
    if (!sites[i].name)
        sites[i] = (struct site){name, place, number, number};
    sites[i].last = number;
}

__attribute__((destructor)) static void tell_sites(void) {
    const char *path = order_for_us() ? getenv("RLAR_REFUSE_SITES") : NULL;
    in_log = true;
    FILE *file = path ? fopen(path, "w") : NULL;
    for (int i = 0; i < SITES && file && sites[i].name; i++)
        fprintf(file, "%s %lx %lld %lld\n", sites[i].name,
                (unsigned long)(sites[i].place - program.start), (long long)sites[i].first,
                (long long)sites[i].last);
    if (file)
        fclose(file);
    in_log = false;
}

/* Is there no memory for this call? */
static bool starved(const char *name, const void *caller) {
    const char *order = in_log ? NULL : order_for_us();
    if (!order || wanted_fault(order) != ENOMEM)
        return false;
    const int64_t number = ++seen, first = atoll(order);
    count_site(name, is_in(&program, caller) ? (uintptr_t)caller : program.start, number);
    if (first == 0 || number < first || (number > first && strstr(order, ":once")))
        return false;
    if (number == first)
        tell(name, false);
    errno = ENOMEM;
    return true;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

/* A text that grows in memory does so inside the C library. */
static FILE *memory_streams[STREAMS];

static bool is_growing(void) {
    bool found = false;
    for (int i = 0; i < STREAMS; i++)
        found = found || memory_streams[i];
    return found;
}

/* Put `now` where `before` was. */
static bool change_stream(const FILE *before, FILE *now) {
    for (int i = 0; i < STREAMS; i++)
        if (memory_streams[i] == before) {
            memory_streams[i] = now;
            return true;
        }
    return false;
}

/* Libraries keep their memory: it is the program's answer that is asked for. */
static bool is_starved(const char *name, const void *caller) {
    if (is_in(&program, caller))
        return starved(name, caller);
    return is_in(&c_library, caller) && is_growing() && starved("memory stream", caller);
}

void *malloc(size_t size) {
    return is_starved("malloc", __builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return is_starved("calloc", __builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    return is_starved("realloc", __builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

char *strdup(const char *text) {
    const bool none = is_in(&program, __builtin_return_address(0)) &&
                      starved("strdup", __builtin_return_address(0));
    char *copy = none ? NULL : __libc_malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

int vasprintf(char **to, const char *format, va_list list) {
    const void *caller = __builtin_return_address(0);
    if (is_in(&program, caller) && starved("vasprintf", caller))
        return -1;
    return REAL(vasprintf)(to, format, list);
}

int asprintf(char **to, const char *format, ...) {
    const void *caller = __builtin_return_address(0);
    if (is_in(&program, caller) && starved("asprintf", caller))
        return -1;
    va_list list;
    va_start(list, format);
    const int length = REAL(vasprintf)(to, format, list);
    va_end(list);
    return length;
}

FILE *open_memstream(char **to, size_t *size) {
    const void *caller = __builtin_return_address(0);
    if (!is_in(&program, caller))
        return REAL(open_memstream)(to, size);
    FILE *stream = starved("open_memstream", caller) ? NULL : REAL(open_memstream)(to, size);
    if (stream)
        change_stream(NULL, stream);
    return stream;
}
