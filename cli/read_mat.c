/* read_mat.c - MATLAB files (.mat level 4, 5, 7.3; also gzipped) through matio, in the command line
 * only.
 *
 * Samples are in fea and labels in gnd, or X with Y or y, or whatever --mat-vars names. A row of
 * the samples is a sample; when there are as many labels as columns instead, the matrix is
 * transposed, with a note. Samples may be of any real numeric class, dense or sparse; labels
 * numbers, a cell of texts, or a matrix of characters. matio wants a file name, so what is
 * compressed or comes through a pipe is first unpacked into a memory file. A variable called
 * `scale` is not applied. */
#include <errno.h>
#include <fcntl.h>
#include <matio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "cli.h"
#include "mat.h"

/* In any case: other systems write DATA.MAT. */
static bool ends_with(const char *text, const char *ending) {
    const size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcasecmp(text + length - tail, ending) == 0;
}

/* By name; else by the first bytes of a regular file, since a pipe cannot be read twice. */
bool cli_mat_wanted(const cli *c, const char *path) {
    struct stat about;
    char magic[8] = "";
    if (c->args.format != NULL)
        return strcmp(c->args.format, "mat") == 0;
    if (strcmp(path, "-") == 0)
        return false;
    const bool seen = TEMP_FAILURE_RETRY(stat(path, &about)) == 0;
    if (seen ? S_ISDIR(about.st_mode) : errno == ENOENT)
        return false;
    if (ends_with(path, ".mat") || ends_with(path, ".mat.gz"))
        return true;
    if (!seen || !S_ISREG(about.st_mode))
        return false;
    gzFile file = gzopen(path, "rb");
    const int got = file != NULL ? gzread(file, magic, 7) : 0;
    if (file != NULL)
        gzclose(file);
    return got == 7 && memcmp(magic, "MATLAB ", 7) == 0;
}

/* A memory file that grows, and counts against the memory limit. */
typedef struct memory_file {
    int fd;
    int64_t held;
} memory_file;

static int new_memory_file(cli *c, const char *path, memory_file *out) {
    *out = (memory_file){.fd = memfd_create("rlar-mat", MFD_CLOEXEC)};
    return out->fd >= 0 ? 0 : cli_error(c, CODE_IO, "%s: cannot unpack: %s", path, strerror(errno));
}

static int append_bytes(cli *c, const char *path, memory_file *to, const char *bytes, size_t size) {
    const int code = cli_mat_hold(c, &to->held, (double)size, path, NULL);
    if (code != 0)
        return code;
    if (!cli_mat_write(to->fd, bytes, size))
        return cli_error(c, CODE_IO, "%s: cannot unpack: %s", path, strerror(errno));
    return 0;
}

/* All bytes of `from` as they are. zlib loses what it has read when a later read is interrupted, so
 * it gets a memory file, which nothing interrupts. */
static int fetch(cli *c, int from, const char *path, memory_file *to) {
    char chunk[1 << 15];
    ssize_t got = 1;
    int code = 0;
    while (code == 0 && got != 0) {
        got = read(from, chunk, sizeof chunk);
        if (cli_interrupted())
            code = cli_error(c, CODE_INTERRUPTED, "interrupted");
        else if (got < 0 && errno != EINTR)
            code = cli_error(c, CODE_IO, "%s: cannot read: %s", path, strerror(errno));
        else if (got > 0)
            code = append_bytes(c, path, to, chunk, (size_t)got);
    }
    if (code == 0 && lseek(to->fd, 0, SEEK_SET) < 0)
        code = cli_error(c, CODE_IO, "%s: cannot read: %s", path, strerror(errno));
    return code;
}

/* The system's failure is not the data's. */
static int gz_failure(cli *c, const char *path, gzFile file) {
    const int error = errno;
    int number = 0;
    const char *text = gzerror(file, &number);
    if (number == Z_ERRNO)
        return cli_error(c, CODE_IO, "%s: cannot read: %s", path, strerror(error));
    return cli_error(c, CODE_DATA, "%s: damaged or cut short: %s", path, text);
}

/* Gunzip what is gzipped; anything else is copied. Owns `from`. */
static int gunzip(cli *c, int from, const char *path, memory_file *to) {
    char chunk[1 << 15];
    int code = 0, got = 0;
    gzFile file = gzdopen(from, "rb");
    if (file == NULL) {
        close(from);
        return cli_error(c, CODE_IO, "%s: cannot unpack: %s", path, strerror(errno));
    }
    while (code == 0 && (got = gzread(file, chunk, sizeof chunk)) != 0) {
        if (cli_interrupted())
            code = cli_error(c, CODE_INTERRUPTED, "interrupted");
        else
            code =
                got < 0 ? gz_failure(c, path, file) : append_bytes(c, path, to, chunk, (size_t)got);
    }
    if (gzclose(file) == Z_BUF_ERROR && code == 0)
        code = cli_error(c, CODE_DATA, "%s: the compressed data end early", path);
    return code;
}

/* Copy a pipe or a compressed file into memory, gunzipping where needed. Owns `from`. */
static int unpack(cli *c, int from, const char *path, memory_file *out) {
    memory_file raw = {.fd = -1}, plain = {.fd = -1};
    int code = new_memory_file(c, path, &raw);
    if (code == 0)
        code = fetch(c, from, path, &raw);
    close(from);
    if (code == 0)
        code = new_memory_file(c, path, &plain);
    if (code == 0)
        code = gunzip(c, raw.fd, path, &plain);
    else if (raw.fd >= 0)
        close(raw.fd);
    cli_mat_let_go(c, &raw.held);
    *out = plain;
    return code;
}

/* Does it begin like a gzip file? -1: it cannot be read. */
static int is_gzip(int fd) {
    unsigned char magic[2] = {0, 0};
    for (size_t i = 0; i < sizeof magic; i++) /* two bytes may come one by one */
        if (TEMP_FAILURE_RETRY(pread(fd, magic + i, 1, (off_t)i)) < 0)
            return -1;
    return magic[0] == 0x1f && magic[1] == 0x8b;
}

/* The plain MAT bytes: the file itself, or a memory file, to be closed. */
static int open_plain(cli *c, const char *path, memory_file *out) {
    struct stat about;
    const bool is_stdin = strcmp(path, "-") == 0;
    int fd = -1, code = 0;
    if (is_stdin && (fd = dup(STDIN_FILENO)) < 0)
        code = cli_error(c, CODE_IO, "%s: %s", path, strerror(errno));
    else if (!is_stdin)
        code = cli_open(c, path, &fd);
    if (code != 0)
        return code;
    const bool seen = TEMP_FAILURE_RETRY(fstat(fd, &about)) == 0;
    const bool regular = seen && !is_stdin && S_ISREG(about.st_mode);
    const int packed = regular ? is_gzip(fd) : 0;
    if (!seen || packed < 0) {
        code = cli_error(c, CODE_IO, "%s: %s", path, strerror(errno));
        close(fd);
        return code;
    }
    if (regular && packed == 0) {
        out->fd = fd;
        return 0;
    }
    return unpack(c, fd, path, out);
}

/* ---- which variables ---- */

/* An open file. */
typedef struct source {
    cli_matio matio;
    mat_t *mat;
    const char *path; /* for messages */
    int64_t size;     /* bytes */
    int64_t held;     /* of the memory limit, for its variables */
    cli_mat_kept kept;
} source;

/* Also among the variables that were left out: labels that cannot be read are not to be lost. */
static bool is_there(const source *from, const char *name) {
    size_t count = 0;
    char *const *names = from->matio.get_dir(from->mat, &count);
    bool found = cli_mat_is_left_out(&from->kept, name);
    for (size_t i = 0; i < count && names != NULL && !found; i++)
        found = names[i] != NULL && strcmp(names[i], name) == 0;
    return found;
}

static void name_pair(const cli *c, const source *from, char x[64], char y[64]) {
    static const char *const known[][2] = {{"fea", "gnd"}, {"X", "Y"}, {"X", "y"}};
    if (c->args.mat_vars != NULL) {
        const char *comma = strchr(c->args.mat_vars, ',');
        const size_t length = strcspn(c->args.mat_vars, ",");
        snprintf(x, 64, "%.*s", (int)(length < 64 ? length : 63), c->args.mat_vars);
        snprintf(y, 64, "%s", comma != NULL ? comma + 1 : "");
        return;
    }
    x[0] = y[0] = '\0';
    for (size_t k = 0; k < sizeof known / sizeof known[0] && y[0] == '\0'; k++) {
        if (is_there(from, known[k][0]))
            snprintf(x, 64, "%s", known[k][0]);
        if (is_there(from, known[k][1]))
            snprintf(y, 64, "%s", known[k][1]);
    }
}

/* Append a name to a list, as far as there is room. */
static size_t append(char *text, size_t size, size_t used, const char *before, const char *name) {
    const int more = used < size ? snprintf(text + used, size - used, "%s%s", before, name) : 0;
    return used + (more > 0 ? (size_t)more : 0);
}

/* The variables of the file, for the message. */
static void list_variables(const source *from, char *text, size_t size) {
    size_t count = 0, used = 0;
    char *const *names = from->matio.get_dir(from->mat, &count);
    text[0] = '\0';
    for (size_t i = 0; i < count && names != NULL; i++)
        if (names[i] != NULL)
            used = append(text, size, used, used > 0 ? ", " : "", names[i]);
    const char *before = used > 0 ? "; not read: " : "not read: ";
    for (int64_t i = 0; i < from->kept.count; i++)
        if (from->kept.variable[i].left_out) {
            used = append(text, size, used, before, from->kept.variable[i].name);
            before = ", ";
        }
}

/* matio allocates what the sizes in the file say. Deflate packs at most 1032 to 1 and a double may
 * be stored as one byte, so a variable of more than that many times the file cannot be there. What
 * can must have room. */
static int make_room(cli *c, source *from, const char *name) {
    matvar_t *info = from->matio.read_info(from->mat, name);
    const int64_t unpacked = cli_mat_unpacked(&from->kept, name);
    double count = 1;
    int code = 0;
    for (int i = 0; info != NULL && i < info->rank && info->class_type != MAT_C_SPARSE; i++)
        count *= (double)info->dims[i];
    if (count > 1032.0 * 8 * (double)from->size)
        code =
            cli_error(c, CODE_DATA, "%s: variable '%s' is said to be larger than the file can hold",
                      from->path, name);
    else if (info != NULL)
        code =
            cli_mat_hold(c, &from->held, cli_mat_need(info, unpacked >= 0 ? unpacked : from->size),
                         from->path, name);
    from->matio.release(info);
    return code;
}

static int read_variable(cli *c, source *from, const char *name, matvar_t **out) {
    char found[256];
    const char *path = from->path;
    if (cli_mat_is_left_out(&from->kept, name))
        return cli_error(c, CODE_DATA,
                         "%s: variable '%s' holds a struct, a function handle or an object (such "
                         "as a table), which are not read; save matrices, as in save('data.mat', "
                         "'X', 'y', '-v7')",
                         path, name);
    const int code = name[0] != '\0' ? make_room(c, from, name) : 0;
    if (code != 0)
        return code;
    *out = name[0] != '\0' ? from->matio.read(from->mat, name) : NULL;
    if (*out != NULL && (*out)->data != NULL)
        return 0;
    list_variables(from, found, sizeof found);
    if (*out == NULL && name[0] == '\0')
        return cli_error(c, CODE_DATA,
                         "%s: no variables fea, gnd or X, Y found (there are: %s); name them with "
                         "--mat-vars X,y",
                         path, found);
    return cli_error(c, CODE_DATA, "%s: variable '%s' is absent or cannot be read (there are: %s)",
                     path, name, found);
}

/* ---- the whole ---- */

/* The view, with labels; out->x holds the samples. */
static int make_data(cli *c, cli_data *out, const cli_mat_labels *labels, int64_t n, int64_t d) {
    rlar_view view = RLAR_INIT(rlar_view);
    view.type = RLAR_F64;
    view.n = n;
    view.d = d;
    view.x = out->x;
    view.stride = d;
    rlar_status status = rlar_data_view(c->ctx, &view, &out->data);
    if (status >= 0)
        status = rlar_data_set_name(c->ctx, out->data, out->file);
    if (status >= 0 && labels->number != NULL)
        status = rlar_data_set_label_numbers(c->ctx, out->data, labels->number);
    else if (status >= 0 && labels->text != NULL)
        status = rlar_data_set_labels(c->ctx, out->data, (const char *const *)labels->text);
    out->format = "mat";
    return cli_check(c, status);
}

/* Which way round, and the samples as n rows of d doubles. */
static int take_samples(cli *c, const matvar_t *x, const cli_mat_labels *labels, cli_data *out,
                        int64_t *n, int64_t *d) {
    const int64_t rows = (int64_t)x->dims[0], columns = (int64_t)x->dims[1];
    const bool turned = labels->count >= 0 && labels->count != rows && labels->count == columns;
    if (labels->count >= 0 && labels->count != rows && !turned)
        return cli_error(c, CODE_DATA, "%s: %lld labels for %lld x %lld samples", out->file,
                         (long long)labels->count, (long long)rows, (long long)columns);
    if (turned)
        cli_note(c, "%s: %lld labels for %lld x %lld values: taking each column as a sample",
                 out->file, (long long)labels->count, (long long)rows, (long long)columns);
    *n = turned ? columns : rows;
    *d = turned ? rows : columns;
    out->ctx = c->ctx;
    return cli_mat_samples(c, x, out->file, turned, &out->held, &out->x);
}

static int read_all(cli *c, source *from, rlar_missing missing, cli_data *out) {
    char x_name[64], y_name[64];
    matvar_t *x = NULL, *y = NULL;
    cli_mat_labels labels = {.count = -1};
    int64_t n = 0, d = 0;
    name_pair(c, from, x_name, y_name);
    if (c->args.label != NULL) /* a column elsewhere, a variable here */
        snprintf(y_name, sizeof y_name, "%s",
                 strcmp(c->args.label, "none") != 0 ? c->args.label : "");
    int code = read_variable(c, from, x_name, &x);
    if (code == 0 && y_name[0] != '\0')
        code = read_variable(c, from, y_name, &y);
    if (code == 0)
        code = cli_mat_check(c, x, out->file);
    if (code == 0 && y != NULL)
        code = cli_mat_labels_read(c, y, out->file, &from->held, &labels);
    if (code == 0 && x != NULL) /* it is there, which analysers do not see */
        code = take_samples(c, x, &labels, out, &n, &d);
    from->matio.release(x);
    from->matio.release(y);
    if (code == 0)
        code = cli_mat_missing(c, out, &labels, missing, &n, d);
    if (code == 0)
        code = make_data(c, out, &labels, n, d);
    cli_mat_labels_free(&labels);
    cli_mat_let_go(c, &from->held);
    return code;
}

int cli_mat_vars_check(cli *c) {
    const char *comma = c->args.mat_vars != NULL ? strchr(c->args.mat_vars, ',') : NULL;
    if (comma == NULL || (comma != c->args.mat_vars && comma[1] != '\0' && !strchr(comma + 1, ',')))
        return 0;
    return cli_usage(c, "--mat-vars '%s': one or two names expected, e.g. X,y", c->args.mat_vars);
}

static int open_mat(cli *c, int fd, source *from) {
    char name[64];
    from->size = lseek(fd, 0, SEEK_END);
    if (from->size < 0)
        return cli_error(c, CODE_IO, "%s: cannot read: %s", from->path, strerror(errno));
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    from->mat = from->matio.open(name, MAT_ACC_RDONLY);
    if (from->mat != NULL)
        return 0;
    return cli_error(c, CODE_DATA, "%s: not a MATLAB file that can be read (level 4, 5 or 7.3)",
                     from->path);
}

int cli_mat_read(cli *c, const char *path, rlar_missing missing, cli_data *out) {
    memory_file plain = {.fd = -1};
    if (c->args.labels != NULL)
        return cli_usage(
            c, "--labels: a .mat file holds its own labels; name them with --mat-vars X,y");
    source from = {.path = path, .kept = {.fd = -1}};
    int code = open_plain(c, path, &plain);
    if (code == 0)
        code = cli_mat_whole(c, plain.fd, path, &from.kept);
    if (code == 0)
        code = cli_matio_open(c, path, &from.matio);
    if (code == 0)
        code = open_mat(c, from.kept.fd >= 0 ? from.kept.fd : plain.fd, &from);
    if (code == 0)
        code = read_all(c, &from, missing, out);
    if (from.mat != NULL)
        from.matio.close(from.mat);
    cli_mat_kept_free(c, &from.kept);
    if (plain.fd >= 0)
        close(plain.fd);
    cli_mat_let_go(c, &plain.held);
    return code;
}
