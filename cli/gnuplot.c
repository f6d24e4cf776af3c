/* gnuplot.c - scripts for gnuplot, safe quoting, and the process.
 *
 * gnuplot reads the script from its standard input and writes the image to its standard output;
 * both are files in memory, so that neither side can wait for the other and no disk can be full. No
 * shell takes part and no start file of the user's is read. Equal scripts give equal bytes: numbers
 * are written in the C locale, and the date in a PDF is set to a fixed one. */
#include "figure.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- scripts ---- */

/* Light to dark without turning back, so that it reads in grey too. */
static const char preamble[] = "set encoding utf8\n"
                               "set palette defined (0 '#f4f7fb', 0.5 '#6d9cc6', 1 '#14325c')\n"
                               "set border lw 1 lc rgb '#333333'\n"
                               "set tics nomirror\n"
                               "set grid lc rgb '#dddddd' lw 1 dt 1\n"
                               "set xlabel offset 0,0.4\n"
                               "set key height 1 samplen 3\n"
                               "set samples 2\n";

/* A figure is 480 pixels wide unless told otherwise: letters of 14 pixels are then still 7 points
 * high in a column of 8.5 cm. */
void cli_figure_begin(cli_figure *figure) {
    *figure = (cli_figure){.width = 480, .height = 340};
    figure->script = cli_text_open(&figure->text, &figure->size);
    fputs(preamble, figure->script);
}

void cli_figure_free(cli_figure *figure) {
    if (figure->script != NULL)
        fclose(figure->script);
    free(figure->text);
    *figure = (cli_figure){0};
}

/* Bytes of the character at `at`, which is UTF-8. */
static size_t step(const char *at) {
    size_t length = 1;
    while (((unsigned char)at[length] & 0xc0) == 0x80)
        length++;
    return length;
}

/* In double quotes, and all but letters as octal numbers. gnuplot 5.4 does not always understand ''
 * in single quotes, in double quotes it knows \ " ` and @, and an octal number takes in the digits
 * behind it. What XML does not allow becomes a blank: the control characters and U+FFFE, U+FFFF. */
static void put_character(FILE *out, const char *at, size_t length, bool tic) {
    const unsigned char first = (unsigned char)*at;
    const bool none =
        length == 3 && (memcmp(at, "\xef\xbf\xbe", 3) == 0 || memcmp(at, "\xef\xbf\xbf", 3) == 0);
    if (first <= 0x20 || first == 0x7f || none)
        fputc(' ', out);
    else if (first > 0x7f || isalpha(first))
        fwrite(at, 1, length, out);
    else
        fprintf(out, tic && first == '%' ? "\\%03o\\%03o" : "\\%03o", first, first);
}

/* Names that are no UTF-8 are made such by cli_json_text. */
static void quote(FILE *out, const char *text, int limit, bool tic) {
    json_t *clean = cli_json_text(text);
    const char *at = json_string_value(clean);
    int left = 0;
    for (const char *end = at; *end != '\0'; end += step(end))
        left++;
    const bool cut = left > limit;
    fputc('"', out);
    for (int i = 0; *at != '\0' && (!cut || i + 1 < limit); i++) {
        const size_t length = step(at);
        put_character(out, at, length, tic);
        at += length;
    }
    fputs(cut ? "\xe2\x80\xa6\"" : "\"", out);
    json_decref(clean);
}

void cli_quote(const cli_figure *figure, const char *text, int limit) {
    quote(figure->script, text, limit, false);
}

void cli_quote_tic(const cli_figure *figure, const char *text, int limit) {
    quote(figure->script, text, limit, true);
}

/* Eight colours that differ in lightness and for colour-blind eyes, ten shapes. */
void cli_point_style(const cli_figure *figure, int i) {
    static const char *const colour[] = {"#000000", "#0072b2", "#d55e00", "#009e73",
                                         "#b0528d", "#e69f00", "#4aa3d8", "#7a7a7a"};
    static const int shape[] = {7, 4, 9, 12, 5, 6, 11, 8, 13, 10};
    fprintf(figure->script, " lc rgb '%s' pt %d", colour[i % 8], shape[(i + i / 8) % 10]);
}

void cli_line_style(const cli_figure *figure, int i) {
    static const char *const dashes[] = {"1",     "(8,4)", "(2,3)",        "(12,4,2,4)",
                                         "(5,2)", "(1,2)", "(8,3,2,3,2,3)"};
    cli_point_style(figure, i);
    fprintf(figure->script, " dt %s", dashes[i % 7]);
}

/* ---- terminals ---- */

cli_image cli_image_of(const char *path) {
    static const char *const ending[] = {".svg", ".pdf", ".png"};
    const size_t length = strlen(path);
    for (int i = 0; i < 3; i++)
        if (length > 4 && strcasecmp(path + length - 4, ending[i]) == 0)
            return (cli_image)i;
    return IMAGE_NONE;
}

/* Some builds of gnuplot lack the terminals that use cairo; the script itself asks. A PNG has two
 * pixels for each of the figure's. */
static void write_terminal(FILE *out, cli_image image, int width, int height) {
    if (image == IMAGE_SVG)
        fprintf(out,
                "set terminal svg size %d,%d noenhanced font 'sans-serif,14' linewidth 1.2 "
                "background '#ffffff'\n",
                width, height);
    if (image == IMAGE_PDF)
        fprintf(out,
                "if (strstrt(GPVAL_TERMINALS, ' pdfcairo ')) {\n"
                "  set terminal pdfcairo size %.4fin,%.4fin noenhanced font 'sans-serif,14' "
                "fontscale 0.5625 linewidth 1.2 background '#ffffff'\n} else {\n"
                "  set terminal pdf size %.4fin,%.4fin noenhanced font 'Helvetica,10'\n}\n",
                width / 96.0, height / 96.0, width / 96.0, height / 96.0);
    if (image == IMAGE_PNG)
        fprintf(out,
                "if (strstrt(GPVAL_TERMINALS, ' pngcairo ')) {\n"
                "  set terminal pngcairo size %d,%d noenhanced font 'sans-serif,14' fontscale 1.5 "
                "linewidth 2.4 pointscale 2 background '#ffffff'\n} else {\n"
                "  set terminal png truecolor size %d,%d noenhanced medium linewidth 2 "
                "background '#ffffff'\n}\n",
                2 * width, 2 * height, 2 * width, 2 * height);
}

/* ---- the process ---- */

/* NULL with errno set. */
static FILE *memory_file(void) {
    const int fd = memfd_create("rlar-figure", MFD_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (file == NULL && fd >= 0)
        close(fd);
    return file;
}

/* Everything of a memory file, with a zero behind it; NULL with errno set. */
static char *read_all(FILE *file, size_t *size) {
    const long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (length < 0 || fseek(file, 0, SEEK_SET) != 0)
        return NULL;
    char *bytes = cli_alloc((size_t)length + 1);
    *size = fread(bytes, 1, (size_t)length, file);
    bytes[*size] = '\0';
    if (*size == (size_t)length)
        return bytes;
    free(bytes); /* a part of a figure is none */
    return NULL;
}

/* Nothing that would change a figure, or choose another terminal before the script does. */
static bool is_handed_down(const char *variable) {
    static const char *const kept_back[] = {"LC_ALL=", "TZ=", "GNUTERM=", "GNUPLOT_"};
    for (size_t i = 0; i < sizeof kept_back / sizeof kept_back[0]; i++)
        if (strncmp(variable, kept_back[i], strlen(kept_back[i])) == 0)
            return false;
    return true;
}

/* Ours, but numbers as C writes them, and a date of one length for all. The list is allocated, its
 * texts are not. */
static char **environment(void) {
    static char locale[] = "LC_ALL=C", zone[] = "TZ=UTC0";
    size_t count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    char **list = cli_alloc((count + 3) * sizeof *list);
    for (size_t i = 0; i < count; i++)
        if (is_handed_down(environ[i]))
            list[kept++] = environ[i];
    list[kept++] = locale;
    list[kept++] = zone;
    list[kept] = NULL;
    return list;
}

/* 0 or an errno. The signals that we ignore get their usual meaning back. */
static int start(const char *program, FILE *const stream[3], pid_t *pid) {
    static char name[] = "gnuplot", defaults[] = "-d";
    char *arguments[] = {name, defaults, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    char **list = environment();
    int error = posix_spawnattr_setsigdefault(&attributes, &signals);
    if (error == 0)
        error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    for (int fd = 0; fd < 3 && error == 0; fd++)
        error = posix_spawn_file_actions_adddup2(&actions, fileno(stream[fd]), fd);
    if (error == 0)
        error = posix_spawn(pid, program, &actions, &attributes, arguments, list);
    free(list);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Until it ends. A signal that asks us to stop ends it too. */
static int wait_for(cli *c, pid_t pid, int *status) {
    while (waitpid(pid, status, 0) < 0) {
        if (errno != EINTR)
            return cli_error(c, CODE_FAILED, "gnuplot: %s", strerror(errno));
        if (cli_interrupted())
            kill(pid, SIGKILL);
    }
    return cli_interrupted() ? cli_error(c, CODE_INTERRUPTED, "interrupted") : 0;
}

/* Files in memory are files: the limit holds for them, too. */
static int file_limit(cli *c) {
    struct rlimit limit = {0};
    char size[CLI_NUMBER_SIZE];
    getrlimit(RLIMIT_FSIZE, &limit);
    return cli_error(c, CODE_IO,
                     "the figure is larger than the limit of %s on the size of files; raise it "
                     "(ulimit -f)",
                     cli_bytes((double)limit.rlim_cur, size));
}

/* gnuplot echoes the line and points at the place; the last line says what is wrong. */
static int refused(cli *c, FILE *messages, int status) {
    size_t size = 0;
    char *text = read_all(messages, &size);
    while (text != NULL && size > 0 && strchr(" \n", text[size - 1]) != NULL)
        text[--size] = '\0';
    const char *line = text != NULL && size > 0 ? strrchr(text, '\n') : NULL;
    line = line != NULL ? line + 1 : text;
    line += line != NULL ? strspn(line, " ") : 0;
    int code;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
        code = file_limit(c);
    else if (WIFSIGNALED(status))
        code = cli_error(c, CODE_FAILED, "gnuplot was ended by signal %d", WTERMSIG(status));
    else
        code = cli_error(c, CODE_FAILED, "gnuplot failed: %s",
                         line != NULL && *line != '\0' ? line : "it made no figure");
    free(text);
    return code;
}

/* cairo writes the time into a PDF; the length stays, since the file has a table of offsets. */
static void fix_date(char *bytes, size_t size) {
    static const char key[] = "/CreationDate (D:", date[] = "20000101000000";
    char *at = memmem(bytes, size, key, sizeof key - 1);
    if (at == NULL || (size_t)(bytes + size - at) < sizeof key + sizeof date)
        return;
    at += sizeof key - 1;
    if (strspn(at, "0123456789") >= sizeof date - 1)
        memcpy(at, date, sizeof date - 1);
}

/* gnuplot names the parts of an SVG after its own commands; a browser would show that as a hint
 * under the mouse. Texts of ours have no angle brackets: they are escaped. */
static void drop_titles(char *bytes, size_t *size) {
    static const char open[] = "<title>", close[] = "</title>";
    char *to = bytes, *at = bytes, *from;
    const char *end;
    while ((from = strstr(at, open)) != NULL && (end = strstr(from, close)) != NULL) {
        memmove(to, at, (size_t)(from - at));
        to += from - at;
        at = from + (end - from) + sizeof close - 1;
    }
    memmove(to, at, *size - (size_t)(at - bytes) + 1);
    *size -= (size_t)(at - to);
}

/* gnuplot does not look whether its writes succeed, and ends with 0 after a part of the figure. */
static bool is_whole(cli_image image, const char *bytes, size_t size) {
    static const char *const ending[] = {"</svg>", "%%EOF", "IEND\xae\x42\x60\x82"};
    const size_t length = strlen(ending[image]);
    while (size > 0 && strchr(" \n", bytes[size - 1]) != NULL)
        size--;
    return size >= length && memcmp(bytes + size - length, ending[image], length) == 0;
}

static int finish(cli *c, cli_image image, char *bytes, size_t *size) {
    if (!is_whole(image, bytes, *size))
        return cli_error(
            c, CODE_IO,
            "gnuplot wrote the first %zu bytes of the figure and not its end; free some "
            "memory and try again",
            *size);
    if (image == IMAGE_PDF)
        fix_date(bytes, *size);
    if (image == IMAGE_SVG)
        drop_titles(bytes, size);
    return 0;
}

static int run(cli *c, const char *program, FILE *const stream[3], cli_image image, char **bytes,
               size_t *size) {
    pid_t pid = 0;
    int status = 0;
    const int error = start(program, stream, &pid);
    if (error != 0)
        return cli_error(c, CODE_FAILED, "%s cannot be started: %s", program, strerror(error));
    const int code = wait_for(c, pid, &status);
    if (code != 0)
        return code;
    *bytes = read_all(stream[1], size);
    if (*bytes == NULL)
        return cli_error(c, CODE_IO, "the figure of gnuplot cannot be read: %s", strerror(errno));
    if (status != 0 || *size == 0)
        return refused(c, stream[2], status);
    return finish(c, image, *bytes, size);
}

static int write_script(cli *c, const cli_figure *figure, cli_image image, FILE *to) {
    if (fflush(figure->script) != 0 || ferror(figure->script))
        cli_ranks_no_memory();
    write_terminal(to, image, figure->width, figure->height);
    fwrite(figure->text, 1, figure->size, to);
    if (fflush(to) == 0 && !ferror(to) && lseek(fileno(to), 0, SEEK_SET) == 0)
        return 0;
    return cli_error(c, CODE_IO, "no room for the script of gnuplot: %s", strerror(errno));
}

int cli_figure_draw(cli *c, cli_figure *figure, cli_image image, char **bytes, size_t *size) {
    char *program = cli_find_program("gnuplot");
    FILE *stream[3] = {NULL, NULL, NULL};
    *bytes = NULL;
    if (program == NULL)
        return cli_error(c, CODE_FAILED,
                         "gnuplot, which draws the figures, is not installed; on Debian: "
                         "apt-get install gnuplot-nox");
    int code = 0;
    for (int i = 0; i < 3 && code == 0; i++)
        if ((stream[i] = memory_file()) == NULL)
            code = cli_error(c, errno == ENOMEM ? CODE_MEMORY : CODE_IO,
                             "no file in memory for gnuplot: %s", strerror(errno));
    if (code == 0)
        code = write_script(c, figure, image, stream[0]);
    if (code == 0)
        code = run(c, program, stream, image, bytes, size);
    if (code != 0) {
        free(*bytes);
        *bytes = NULL;
    }
    for (int i = 0; i < 3; i++)
        if (stream[i] != NULL)
            fclose(stream[i]);
    free(program);
    return code;
}
