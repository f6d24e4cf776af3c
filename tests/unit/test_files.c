/* test_files.c - whole files: format by ending and content, gzip, pipes, progress, labels in a file
 * of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "desk.h"

/* ---- Files ---- */

static void test_names_and_endings(void **state) {
    (void)state;
    static const struct {
        const char *file, *text, *name, *format;
    } cases[] = {
        {"wine.csv", "1,2,a\n", "wine", "csv"},
        {"my.wine.TSV", "1\t2\ta\n", "my.wine", "tsv"},
        {"w.svm", "a 1:2\n", "w", "libsvm"},
        {"w.libsvm", "a 1:2\n", "w", "libsvm"},
        {"w.arff", "@relation r\n@attribute a real\n@attribute c {x,y}\n@data\n1,x\n", "w", "arff"},
        {"plain", "1,2,a\n", "plain", "csv"},
        {"t.txt", "1\t2\ta\n", "t", "tsv"},
        {"blank.dat", "1 2 a\n", "blank", "csv"},
        {"u.txt", "# c\n+1 1:2 3:4\n", "u", "libsvm"},
        {"q.txt", "2 qid:1 1:2\n", "q", "libsvm"},
        {"nolabel.txt", "1:2 2:3\n", "nolabel", "libsvm"},
        {"r.txt", "% c\n\n@RELATION r\n@attribute a real\n@attribute c {x,y}\n@data\n1,x\n", "r",
         "arff"},
        {"bom.txt", "\xef\xbb\xbf\n \n1\t2\ta", "bom", "tsv"},
        {"both.txt", "1,2\t,a\n", "both", "csv"},
        {"short.txt", "1:2", "short", "libsvm"},
        {".hidden", "1,2,a\n", ".hidden", "csv"}};
    desk d = new_desk();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(&d, cases[i].file, cases[i].text);
        rlar_data *data = read_file(&d, cases[i].file);
        assert_string_equal(rlar_data_name(data), cases[i].name);
        assert_string_equal(rlar_data_format(data), cases[i].format);
        rlar_data_free(data);
    }
    end_desk(&d);
}

static void test_formats_refused(void **state) {
    (void)state;
    desk d = new_desk();
    const char *const matlab =
        ": a MATLAB file; the rlar command reads it (from a pipe with --format mat), the library "
        "does not: use rlar convert";
    put(&d, "x.mat", "MATLAB 5.0 MAT-file");
    refuse(&d, "x.mat", RLAR_E_UNSUPPORTED, matlab);
    put(&d, "x.bin", "MATLAB 5.0 MAT-file, Platform: GLNXA64");
    refuse(&d, "x.bin", RLAR_E_UNSUPPORTED, matlab);
    put(&d, "x.bin", "MATLAB 7.3 MAT-file, Platform: GLNXA64");
    refuse(&d, "x.bin", RLAR_E_UNSUPPORTED, matlab);
    write_bytes(&d.folder, "x.txt", "\x40\0\0\0\0\0\0\0{\"W\":{}}       ", 24);
    refuse(&d, "x.txt", RLAR_E_DATA, ": a model, where data are expected; rlar info FILE shows it");
    write_bytes(&d.folder, "x.txt", "\x93NUMPY\1\0", 8);
    refuse(&d, "x.txt", RLAR_E_DATA, ": ends within the NPY header; the file is truncated");
    write_bytes(&d.folder, "x.txt", "PK\3\4", 4);
    refuse(&d, "x.txt", RLAR_E_DATA,
           ": not a sound ZIP container: there is no end record; the file is truncated or damaged, "
           "save it again");
    put(&d, "x.txt", "1 1:2\n");
    d.options.format = "libsvm"; /* not the first of the list */
    rlar_data_free(read_file(&d, "x.txt"));
    d.options.format = "images";
    refuse(&d, "x.txt", RLAR_E_IO, ": cannot open the folder: Not a directory");
    d.options.format = "mat";
    refuse(&d, "x.mat", RLAR_E_UNSUPPORTED,
           "format mat: the rlar command reads MATLAB files, the library does not");
    d.options.format = "xls";
    refuse(&d, "x.mat", RLAR_E_ARG,
           "format 'xls' is unknown; use csv, tsv, libsvm, npy, npz, arff or images");
    d.options.format = "csv";
    make_folder(&d.folder, "folder");
    refuse(&d, "folder", RLAR_E_IO,
           ": cannot read: Is a directory; a folder can only be read as images");
    refuse(&d, "absent.csv", RLAR_E_IO, ": cannot open: No such file or directory");
    d.options.format = NULL;
    refuse(&d, "absent.csv", RLAR_E_IO, ": cannot open: No such file or directory");
    put(&d, "locked.csv", small);
    char path[512];
    assert_int_equal(chmod(path_in(&d.folder, "locked.csv", path), 0), 0);
    if (geteuid() != 0) /* root may read everything */
        refuse(&d, "locked.csv", RLAR_E_IO, ": cannot open: Permission denied");
    put(&d, "empty", "");
    refuse(&d, "empty", RLAR_E_DATA, ": empty file, no samples");
    put(&d, "header.csv", "a,b,class\n");
    refuse(&d, "header.csv", RLAR_E_DATA, ": header only, no samples");
    end_desk(&d);
}

static void test_options_refused(void **state) {
    (void)state;
    desk d = new_desk();
    put(&d, "x.csv", small);
    d.options.size = 4;
    refuse(&d, "x.csv", RLAR_E_ARG,
           "rlar_read_options: size is 4; set it to sizeof(rlar_read_options)");
    d.options.size = sizeof d.options;
    d.options.header = 2;
    refuse(&d, "x.csv", RLAR_E_ARG, "read options: header is 2; use 1 (yes), -1 (no) or 0 (guess)");
    d.options.header = 0;
    d.options.missing = (rlar_missing)9;
    refuse(&d, "x.csv", RLAR_E_ARG, "read options: missing is 9; use an rlar_missing, 0 to 3");
    d.options.missing = RLAR_MISSING_ERROR;
    d.options.features = -1;
    refuse(&d, "x.csv", RLAR_E_ARG,
           "read options: features is -1; leave it 0, or set the number expected");
    d.options.features = 0;
    d.options.label = "kind";
    d.options.labels_file = "y.txt";
    refuse(&d, "x.csv", RLAR_E_ARG,
           "read options: the label column 'kind' and the labels file y.txt exclude each other");
    rlar_data *data = NULL;
    assert_int_equal(rlar_data_read(d.ctx, NULL, NULL, &data), RLAR_E_ARG);
    rlar_stream *stream = NULL;
    char path[512];
    d.options = RLAR_INIT(rlar_read_options);
    d.options.missing = RLAR_MISSING_MEAN;
    assert_int_equal(
        rlar_stream_open(d.ctx, path_in(&d.folder, "x.csv", path), &d.options, &stream),
        RLAR_E_ARG);
    assert_string_equal(rlar_ctx_error(d.ctx),
                        "read options: a stream does not know the means of its columns; "
                        "use drop or keep, or read the file whole");
    end_desk(&d);
}

/* ---- Gzip, pipes, events ---- */

static void test_gzip(void **state) {
    (void)state;
    desk d = new_desk();
    unsigned char packed[1024];
    const size_t half = 20, size = pack(small, half, packed, sizeof packed),
                 all = size + pack(small + half, sizeof small - 1 - half, packed + size,
                                   sizeof packed - size);
    write_bytes(&d.folder, "two.csv.gz", packed, all); /* two members */
    rlar_data *data = read_file(&d, "two.csv.gz");
    check_small(data);
    assert_string_equal(rlar_data_name(data), "two");
    assert_string_equal(rlar_data_format(data), "csv");
    rlar_data_free(data);
    write_bytes(&d.folder, "unnamed", packed, all); /* by magic, not by name */
    data = read_file(&d, "unnamed");
    check_small(data);
    rlar_data_free(data);
    memset(packed + all, 0, 50);
    write_bytes(&d.folder, "padded.gz", packed, all + 50);
    data = read_file(&d, "padded.gz");
    check_small(data);
    rlar_data_free(data);

    write_bytes(&d.folder, "cut.csv.gz", packed, all - 5);
    refuse(&d, "cut.csv.gz", RLAR_E_DATA,
           ": the gzip data end too early, after 40 unpacked bytes: the file is truncated; make or "
           "fetch it again");
    for (size_t cut = 2; cut < size; cut++) {
        char path[512];
        write_bytes(&d.folder, "cut.csv.gz", packed, cut);
        assert_int_equal(rlar_data_read(d.ctx, path_in(&d.folder, "cut.csv.gz", path), NULL, &data),
                         RLAR_E_DATA);
        assert_non_null(strstr(rlar_ctx_error(d.ctx), "the file is truncated"));
    }
    packed[all] = 'x';
    write_bytes(&d.folder, "tail.csv.gz", packed, all + 9);
    refuse(&d, "tail.csv.gz", RLAR_E_DATA,
           ": the gzip data are damaged after 40 unpacked bytes (incorrect header check); make or "
           "fetch the file "
           "again");
    packed[all - 5] ^= 1; /* a bit of the checksum */
    write_bytes(&d.folder, "sum.csv.gz", packed, all);
    refuse(&d, "sum.csv.gz", RLAR_E_DATA,
           ": the gzip data are damaged after 40 unpacked bytes (incorrect data check); make or "
           "fetch the file "
           "again");
    end_desk(&d);
}

/* Standard input becomes a pipe that delivers one byte at a time at first. */
static void test_stdin(void **state) {
    (void)state;
    unsigned char packed[1024];
    const size_t size = pack(small, sizeof small - 1, packed, sizeof packed);
    const int saved = dup(STDIN_FILENO);
    for (int gz = 0; gz < 2; gz++) {
        int ends[2];
        rlar_ctx *ctx = new_ctx();
        rlar_data *data = NULL;
        rlar_read_options o = RLAR_INIT(rlar_read_options);
        o.format = gz ? NULL : "csv";
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        close(ends[0]);
        const char *bytes = gz ? (const char *)packed : small;
        const ssize_t count = (ssize_t)(gz ? size : sizeof small - 1);
        assert_int_equal(write(ends[1], bytes, (size_t)count), count);
        close(ends[1]);
        assert_int_equal(rlar_data_read(ctx, "-", &o, &data), RLAR_OK);
        check_small(data);
        assert_string_equal(rlar_data_name(data), "stdin");
        rlar_data_free(data);
        /* The end of the pipe again: empty, under the name of standard input. Not closed by us. */
        assert_int_equal(rlar_data_read(ctx, "-", &o, &data), RLAR_E_DATA);
        assert_string_equal(rlar_ctx_error(ctx), "<stdin>: empty file, no samples");
        end_ctx(ctx);
    }
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    close(saved);
}

typedef struct slow_writer {
    int fd;
    const unsigned char *bytes;
    size_t size;
} slow_writer;

/* Write the rest when what is in the pipe has been read. */
static void *write_slowly(void *arg) {
    const slow_writer *w = arg;
    int left = 1;
    const struct timespec wait = {.tv_nsec = 1000000};
    while (left > 0) {
        assert_int_equal(ioctl(w->fd, FIONREAD, &left), 0);
        nanosleep(&wait, NULL);
    }
    assert_int_equal(write(w->fd, w->bytes, w->size), w->size);
    close(w->fd);
    return NULL;
}

/* The first read of a pipe brings one byte, which does not tell whether it is gzip; there may be no
 * more of them. */
static void test_one_byte_first(void **state) {
    (void)state;
    unsigned char packed[1024];
    const size_t size = pack(small, sizeof small - 1, packed, sizeof packed);
    for (int more = 0; more < 2; more++) {
        int ends[2];
        char path[32];
        pthread_t writer = 0;
        rlar_ctx *ctx = new_ctx();
        rlar_data *data = NULL;
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], more ? packed : (const unsigned char *)"a", 1), 1);
        slow_writer w = {ends[1], packed + 1, size - 1};
        if (more)
            assert_int_equal(pthread_create(&writer, NULL, write_slowly, &w), 0);
        else
            close(ends[1]);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        const rlar_status status = rlar_data_read(ctx, path, NULL, &data);
        if (more) {
            assert_int_equal(pthread_join(writer, NULL), 0);
            assert_int_equal(status, RLAR_OK);
            check_small(data);
            rlar_data_free(data);
        } else {
            assert_int_equal(status, RLAR_E_DATA); /* a single column named a */
        }
        close(ends[0]);
        end_ctx(ctx);
    }
}

/* zlib takes its window when not all bytes come out at once: no memory then is no damage of the
 * file. */
static void test_gzip_without_memory(void **state) {
    (void)state;
    desk d = new_desk();
    enum { LONG = 300000 }; /* more than comes out in one step */
    static unsigned char packed[LONG];
    char path[512];
    faulty f;
    char *text = malloc(LONG + 1);
    for (int i = 0; i < LONG; i += 4)
        memcpy(text + i, i % 8 ? "2,b\n" : "1,a\n", 5);
    write_bytes(&d.folder, "x.csv.gz", packed, pack(text, LONG, packed, sizeof packed));
    free(text);
    path_in(&d.folder, "x.csv.gz", path);
    rlar_ctx *ctx = new_faulty_ctx(&f);
    rlar_status status = RLAR_E_NOMEM;
    int fault = 0;
    for (; status == RLAR_E_NOMEM; fault++) {
        rlar_stream *stream = NULL;
        const rlar_data *block = NULL;
        f.left = fault;
        status = rlar_stream_open(ctx, path, NULL, &stream);
        if (status >= 0)
            status = rlar_stream_next(stream, 1, &block);
        f.left = INT32_MAX;
        rlar_stream_free(stream);
    }
    assert_int_equal(status, RLAR_OK);
    assert_true(fault > 10);
    rlar_source *source = NULL;
    const size_t size = pack(small, sizeof small - 1, packed, sizeof packed);
    for (f.left = 0; f.left < 4; f.left += 2) { /* each call takes what was left, and fails */
        const int left = f.left;
        assert_int_equal(rlar__source_memory(ctx, packed, size, "m", &source), RLAR_E_NOMEM);
        f.left = left;
    }
    f.left = INT32_MAX;
    assert_null(source);
    end_ctx(ctx);
    end_desk(&d);
}

/* A file that opens, and cannot be read at its beginning: the memory of this process. */
static void test_read_error(void **state) {
    (void)state;
    desk d = new_desk();
    rlar_data *data = NULL;
    rlar_model *model = NULL;
    assert_int_equal(rlar_data_read(d.ctx, "/proc/self/mem", NULL, &data), RLAR_E_IO);
    assert_string_equal(rlar_ctx_error(d.ctx), "/proc/self/mem: cannot read: Input/output error");
    assert_int_equal(rlar_model_load(d.ctx, "/proc/self/mem", &model), RLAR_E_IO);
    assert_string_equal(rlar_ctx_error(d.ctx), "/proc/self/mem: cannot read: Input/output error");
    assert_null(data);
    assert_null(model);
    end_desk(&d);
}

/* Long names are cut where a character ends, and a long list of them after ten. */
static void test_long_names(void **state) {
    (void)state;
    desk d = new_desk();
    char text[16 * 64 + 8] = "", list[16 * 64] = "", expected[2 * RLAR_ERROR_SIZE];
    for (int i = 0; i < 12; i++) { /* 13 letters, 14 characters of 2 bytes: byte 40 is within one */
        strcat(text, "abcdefghijklm");
        for (int k = 0; k < 14; k++)
            strcat(text, "\xc3\xa9");
        strcat(text, i < 11 ? "," : "\n1,2\n");
        if (i < 10)
            strcat(list, "abcdefghijklm"
                         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9..., ");
    }
    put(&d, "x.csv", text);
    d.options.label = "kind";
    d.options.header = 1;
    snprintf(expected, sizeof expected,
             ": there is no column 'kind' for the label; the 12 columns are %s...", list);
    refuse(&d, "x.csv", RLAR_E_ARG, expected);
    end_desk(&d);
}

static void test_memory_source(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_source *source = NULL;
    const char *bytes;
    size_t size;
    assert_int_equal(rlar__source_memory(ctx, small, sizeof small - 1, "m", &source), RLAR_OK);
    assert_string_equal(rlar__source_name(source), "m");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rlar__source_peek(source, &bytes, &size), RLAR_OK);
        assert_int_equal(size, sizeof small - 1);
    }
    assert_int_equal(rlar__source_next(source, &bytes, &size), RLAR_OK);
    assert_int_equal(size, sizeof small - 1);
    assert_memory_equal(bytes, small, size);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rlar__source_next(source, &bytes, &size), RLAR_OK);
        assert_int_equal(size, 0);
    }
    rlar__source_close(source);
    rlar__source_close(NULL);
    end_ctx(ctx);
}

typedef struct watch {
    int64_t reads, done, total;
    bool stop, stop_at_poll;
} watch;

static int on_event(void *user, const rlar_event *event) {
    watch *w = user;
    if (event->kind == RLAR_EVENT_READ) {
        w->reads++;
        w->done = event->done;
        w->total = event->total;
    }
    return w->stop || (w->stop_at_poll && event->kind == RLAR_EVENT_POLL);
}

static void test_progress_and_cancel(void **state) {
    (void)state;
    desk d = new_desk();
    watch w = {0};
    rlar_ctx_options co = RLAR_INIT(rlar_ctx_options);
    rlar_ctx *ctx = NULL;
    rlar_data *data = NULL;
    char path[512];
    co.progress = on_event;
    co.user = &w;
    put(&d, "x.csv", small);
    assert_int_equal(rlar_ctx_new(&co, &ctx), RLAR_OK);
    assert_int_equal(rlar_data_read(ctx, path_in(&d.folder, "x.csv", path), NULL, &data), RLAR_OK);
    rlar_data_free(data);
    assert_true(w.reads >= 1);
    assert_int_equal(w.done, sizeof small - 1);
    assert_int_equal(w.total, sizeof small - 1);
    w.stop = true;
    assert_int_equal(rlar_data_read(ctx, path, NULL, &data), RLAR_E_CANCELLED);
    end_ctx(ctx);
    end_desk(&d);
}

/* A child that writes the first rows into the pipe, waits, and then writes the rest, or never does.
 */
static pid_t start_writer(const char *path, bool finish) {
    const pid_t child = fork();
    if (child != 0)
        return child;
    const struct timespec wait = {.tv_nsec = 100000000};
    nanosleep(&wait, NULL); /* meanwhile the reader waits in open() */
    const int fd = open(path, O_WRONLY);
    const size_t half = 20;
    if (fd < 0 || write(fd, small, half) != (ssize_t)half)
        _exit(1);
    while (!finish)
        pause();
    nanosleep(&wait, NULL);
    _exit(write(fd, small + half, sizeof small - 1 - half) < 0);
}

static void on_alarm(int number) {
    (void)number;
}

/* Signals during a read are no errors, and a chance to cancel it. */
static void test_interrupted(void **state) {
    (void)state;
    const struct sigaction action = {.sa_handler =
                                         on_alarm}; /* without SA_RESTART: read() says EINTR */
    const struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
    struct sigaction before;
    desk d = new_desk();
    char path[512];
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(mkfifo(path_in(&d.folder, "pipe.csv", path), 0600), 0);
    for (int stop = 0; stop < 2; stop++) {
        watch w = {.stop_at_poll = stop};
        rlar_ctx_options co = RLAR_INIT(rlar_ctx_options);
        rlar_ctx *ctx = NULL;
        rlar_data *data = NULL;
        co.progress = on_event;
        co.user = &w;
        assert_int_equal(rlar_ctx_new(&co, &ctx), RLAR_OK);
        const pid_t child = start_writer(path, !stop);
        assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
        const rlar_status status = rlar_data_read(ctx, path, NULL, &data);
        assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_int_equal(status, stop ? RLAR_E_CANCELLED : RLAR_OK);
        if (!stop)
            check_small(data);
        rlar_data_free(data);
        end_ctx(ctx);
    }
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    end_desk(&d);
}

/* ---- Labels in a file of their own ---- */

static void test_labels_file(void **state) {
    (void)state;
    desk d = new_desk();
    char labels[512];
    put(&d, "x.csv", "1,2\n3,?\n5,6\n");
    put(&d, "y.txt", " b \r\n\"a\"\r\nb\r\n\r\n");
    d.options.missing = RLAR_MISSING_DROP;
    d.options.labels_file = path_in(&d.folder, "y.txt", labels);
    rlar_data *data = read_file(&d, "x.csv");
    assert_int_equal(rlar_data_dims(data), 2);
    assert_int_equal(rlar_data_samples(data), 2);
    assert_int_equal(rlar_data_classes(data), 1); /* the labels follow their samples */
    assert_string_equal(label_at(data, 1), "b");
    rlar_data_free(data);

    unsigned char packed[256];
    write_bytes(&d.folder, "y.txt", packed, pack("1\n2\n3", 5, packed, sizeof packed));
    data = read_file(&d, "x.csv");
    assert_string_equal(label_at(data, 1), "3");
    rlar_data_free(data);

    static const char npy[] =
        "\x93NUMPY\x01\x00\x46\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }";
    char array[80 + 24];
    const double values[] = {4, 5, 4};
    memset(array, ' ', sizeof array);
    memcpy(array, npy, sizeof npy - 1);
    array[79] = '\n';
    memcpy(array + 80, values, sizeof values);
    write_bytes(&d.folder, "y.txt", array, sizeof array);
    d.options.missing = RLAR_MISSING_KEEP;
    data = read_file(&d, "x.csv");
    assert_int_equal(rlar_data_classes(data), 2);
    assert_string_equal(label_at(data, 1), "5");
    rlar_data_free(data);
    end_desk(&d);
}

/* As in a column of labels: dropped where that is asked for. */
static void test_labels_file_missing(void **state) {
    (void)state;
    static const char *const missing[] = {"a\nna\nb\nb\n", "a\n ? \nb\nb", "a\r\nNaN\r\nb\r\nb"};
    desk d = new_desk();
    char labels[512], data[512], text[2 * RLAR_ERROR_SIZE];
    path_in(&d.folder, "x.csv", data);
    put(&d, "x.csv", "1,2\n2,3\n3,5\n4,4\n");
    d.options.labels_file = path_in(&d.folder, "y.txt", labels);
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        put(&d, "y.txt", missing[i]);
        d.options.missing = RLAR_MISSING_DROP;
        rlar_data *read = read_file(&d, "x.csv");
        assert_int_equal(rlar_data_samples(read), 3);
        assert_int_equal(rlar_data_classes(read), 2);
        assert_string_equal(label_at(read, 0), "a");
        assert_string_equal(label_at(read, 1), "b");
        rlar_data_free(read);
        d.options.missing = RLAR_MISSING_MEAN; /* there is none of names */
        snprintf(text, sizeof text,
                 "%s:2:1: the label is missing; every sample needs one (--missing drop leaves such "
                 "samples out)",
                 labels);
        refuse(&d, "x.csv", RLAR_E_DATA, text);
    }
    put(&d, "y.txt", "na\nna\nna\nna\n");
    d.options.missing = RLAR_MISSING_DROP;
    snprintf(text, sizeof text, "%s: each of the 4 samples has a missing value, so none is left",
             data);
    refuse(&d, "x.csv", RLAR_E_DATA, text);
    put(&d, "y.txt", "a\nna\nb\n"); /* missing ones count */
    snprintf(text, sizeof text,
             "%s: 3 labels for the 4 samples of %s; one label per line and sample is needed",
             labels, data);
    refuse(&d, "x.csv", RLAR_E_DATA, text);
    end_desk(&d);
}

/* As other programs write them: with a mark, with line ends of old, with quotes inside quotes. */
static void test_labels_file_spellings(void **state) {
    (void)state;
    static const char *const spelling[] = {
        "\xef\xbb\xbfsetosa\nc \"d\"\nsetosa\n", "setosa\r\"c \"\"d\"\"\"\rsetosa\r",
        "setosa\rc \"d\"\rsetosa", "\xef\xbb\xbf\"setosa\"\r\n\"c \"d\"\"\r\r\nsetosa\r\n\r\n"};
    desk d = new_desk();
    char labels[512], text[2 * RLAR_ERROR_SIZE];
    put(&d, "x.csv", "1,2\n3,4\n5,6\n");
    d.options.labels_file = path_in(&d.folder, "y.txt", labels);
    for (size_t i = 0; i < sizeof spelling / sizeof *spelling; i++) {
        put(&d, "y.txt", spelling[i]);
        rlar_data *data = read_file(&d, "x.csv");
        assert_int_equal(rlar_data_classes(data), 2);
        assert_string_equal(label_at(data, 0), "setosa");
        assert_string_equal(label_at(data, 1), "c \"d\"");
        assert_string_equal(label_at(data, 2), "setosa");
        rlar_data_free(data);
    }
    put(&d, "y.txt", "a\r\rc\r");
    snprintf(text, sizeof text, "%s:2: the line is blank; one label per line is needed", labels);
    refuse(&d, "x.csv", RLAR_E_DATA, text);
    end_desk(&d);
}

static void test_labels_file_refused(void **state) {
    (void)state;
    desk d = new_desk();
    char labels[512], data[512], text[2 * RLAR_ERROR_SIZE];
    path_in(&d.folder, "x.csv", data);
    put(&d, "x.csv", "1,2\n3,4\n5,6\n");
    d.options.labels_file = path_in(&d.folder, "y.txt", labels);
    snprintf(text, sizeof text, "%s: cannot open: No such file or directory", labels);
    refuse(&d, "x.csv", RLAR_E_IO, text);
    put(&d, "y.txt", "a\nb\n");
    snprintf(text, sizeof text,
             "%s: 2 labels for the 3 samples of %s; one label per line and sample is needed",
             labels, data);
    refuse(&d, "x.csv", RLAR_E_DATA, text);
    put(&d, "y.txt", "a\nb\nc\nd");
    snprintf(text, sizeof text,
             "%s: 4 labels for the 3 samples of %s; one label per line and sample is needed",
             labels, data);
    refuse(&d, "x.csv", RLAR_E_DATA, text);
    put(&d, "y.txt", "a\n\nc\n");
    snprintf(text, sizeof text, "%s:2: the line is blank; one label per line is needed", labels);
    refuse(&d, "x.csv", RLAR_E_DATA, text);
    put(&d, "y.txt", "");
    snprintf(text, sizeof text, "%s: empty file, no samples", labels);
    refuse(&d, "x.csv", RLAR_E_DATA, text);
    put(&d, "y.txt", "a\n\"\"\nc\n");
    snprintf(text, sizeof text, "%s:2: the line is blank; one label per line is needed", labels);
    refuse(&d, "x.csv", RLAR_E_DATA, text);
    write_bytes(&d.folder, "y.txt", "a\nb\0b\nc\n", 8);
    snprintf(text, sizeof text, "%s:2: a NUL byte; text in UTF-8 is expected", labels);
    refuse(&d, "x.csv", RLAR_E_DATA, text);
    static const char npy[] = "\x93NUMPY\x01\x00\x3c\x00{'descr': '<f8', 'fortran_order': False, "
                              "'shape': (1, 2), }\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    write_bytes(&d.folder, "y.txt", npy, sizeof npy - 1);
    snprintf(text, sizeof text, "%s: 2 columns; a file of labels has one", labels);
    refuse(&d, "x.csv", RLAR_E_DATA, text);
    put(&d, "y.txt", "a\nnan\nc\n");
    snprintf(text, sizeof text,
             "%s:2:1: the label is missing; every sample needs one (--missing drop leaves such "
             "samples out)",
             labels);
    refuse(&d, "x.csv", RLAR_E_DATA, text);
    end_desk(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names_and_endings),
                                       cmocka_unit_test(test_formats_refused),
                                       cmocka_unit_test(test_options_refused),
                                       cmocka_unit_test(test_gzip),
                                       cmocka_unit_test(test_stdin),
                                       cmocka_unit_test(test_one_byte_first),
                                       cmocka_unit_test(test_gzip_without_memory),
                                       cmocka_unit_test(test_read_error),
                                       cmocka_unit_test(test_long_names),
                                       cmocka_unit_test(test_memory_source),
                                       cmocka_unit_test(test_progress_and_cancel),
                                       cmocka_unit_test(test_interrupted),
                                       cmocka_unit_test(test_labels_file),
                                       cmocka_unit_test(test_labels_file_missing),
                                       cmocka_unit_test(test_labels_file_spellings),
                                       cmocka_unit_test(test_labels_file_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
