/* inputs.c - what a run reads: nothing of it may be written to, and standard input comes once.
 *
 * These are the words of most verbs, the files of some options and, of reproduce, the data folder's
 * files. A file is known by its device and number, so that it does not matter how it is spelled or
 * where it was found. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reproduce.h"

static bool is_standard(const char *word) {
    return strcmp(word, "-") == 0;
}

static bool see(const char *path, struct stat *out) {
    return (is_standard(path) ? fstat(STDIN_FILENO, out) : stat(path, out)) == 0;
}

static bool same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The folder that holds the file, and the file's own name. */
static const char *split_path(const char *path, struct stat *folder, bool *known) {
    const char *slash = strrchr(path, '/');
    char *before =
        slash != NULL ? cli_strdup(path, (size_t)(slash - path) + 1) : cli_strdup(".", 1);
    *known = stat(before, folder) == 0;
    free(before);
    return slash != NULL ? slash + 1 : path;
}

bool cli_same_path(const char *a, const char *b) {
    struct stat there, other_there, folder[2];
    bool known[2];
    if (stat(a, &there) == 0)
        return S_ISREG(there.st_mode) && stat(b, &other_there) == 0 && same(&there, &other_there);
    const char *name = split_path(a, &folder[0], &known[0]);
    const char *other = split_path(b, &folder[1], &known[1]);
    const bool together = known[0] && known[1] && same(&folder[0], &folder[1]);
    return strcmp(a, b) == 0 || (together && strcmp(name, other) == 0);
}

/* ---- Which words ---- */

/* From the first on, so many of the words name what is read; others are names of figures, tables or
 * methods, or what is written. */
static int count_inputs(const cli *c, int *first) {
    const unsigned verb = cli_verb_bit(c->verb);
    *first = (verb & V_PLOT) != 0 ? 1 : 0;
    if ((verb & (V_REPRODUCE | V_METHODS)) != 0)
        return 0;
    return (verb & V_CONVERT) != 0 ? 1 : c->args.words - *first;
}

int cli_stdin_check(cli *c) {
    const char *labels = c->args.labels;
    const unsigned verb = cli_verb_bit(c->verb);
    const bool listed = labels != NULL && is_standard(labels);
    int first, times = 0;
    const int count = count_inputs(c, &first);
    for (int i = 0; i < count; i++)
        times += is_standard(c->args.word[first + i]);
    if (times > 0 && count > 1 && verb == V_FIT)
        return cli_usage(c, "-: standard input cannot be one of several files");
    if (listed && count > 1 && verb == V_EVALUATE)
        return cli_usage(c, "--labels -: standard input can be read once only, not for %d DATA",
                         count);
    if (c->args.occluder != NULL && is_standard(c->args.occluder))
        return cli_usage(c, "--occluder -: the picture is read for every table, name a file");
    return times + listed < 2
               ? 0
               : cli_usage(c, "- is given twice; standard input can be read once only");
}

int cli_input_find(cli *c, const char *word, char **path, struct stat *about) {
    const int code = cli_data_look(c, word, path);
    if (*path != NULL && see(*path, about) && (S_ISREG(about->st_mode) || S_ISDIR(about->st_mode)))
        return code;
    free(*path);
    *path = NULL;
    return code;
}

/* ---- What must not be written ---- */

/* Where results are to go; a device such as /dev/null may be read as well. */
typedef struct target {
    const char *path;
    struct stat file, folder;
    bool there, folder_there;
} target;

static target target_of(const char *path) {
    target t = {.path = path};
    t.there = stat(path, &t.file) == 0 && S_ISREG(t.file.st_mode);
    split_path(path, &t.folder, &t.folder_there);
    return t;
}

/* Does it lie in one of the subfolders, as the images of a class do? */
static bool is_in_class(const target *t, const char *images) {
    DIR *dir = t->folder_there ? opendir(images) : NULL;
    const struct dirent *entry;
    struct stat about;
    bool found = false;
    while (dir != NULL && !found && (entry = readdir(dir)) != NULL)
        found = entry->d_name[0] != '.' && fstatat(dirfd(dir), entry->d_name, &about, 0) == 0 &&
                same(&about, &t->folder);
    if (dir != NULL)
        closedir(dir);
    return found;
}

static int overwritten(cli *c, const target *t) {
    return cli_usage(c, "%s is read and would be overwritten; name another file", t->path);
}

static int spare(cli *c, const target *t, const char *input, const struct stat *about) {
    if (t->there && same(&t->file, about))
        return overwritten(c, t);
    if (S_ISDIR(about->st_mode) && is_in_class(t, input))
        return cli_usage(c, "%s is among the images of %s, which are read; name a file elsewhere",
                         t->path, input);
    return 0;
}

/* What convert reads may be written in place: it is the same data. */
static int spare_words(cli *c, const target *t) {
    int first = 0, code = 0;
    const int count = cli_verb_bit(c->verb) == V_CONVERT ? 0 : count_inputs(c, &first);
    for (int i = 0; i < count && code == 0; i++) {
        char *path = NULL;
        struct stat about;
        code = cli_input_find(c, c->args.word[first + i], &path, &about);
        if (path != NULL)
            code = spare(c, t, path, &about);
        free(path);
    }
    return code;
}

/* From the data folder only, whatever is beside us. */
static int spare_tables(cli *c, const target *t) {
    const char *file = NULL;
    int code = 0;
    for (int i = 0; code == 0 && (file = source_file(i)) != NULL; i++) {
        char *path = NULL;
        struct stat about;
        code = cli_data_find(c, file, &path);
        if (path != NULL && see(path, &about))
            code = spare(c, t, path, &about);
        free(path);
    }
    return code;
}

int cli_spare_inputs(cli *c, const char *path) {
    const char *option[] = {c->args.labels, c->args.occluder};
    const target t = target_of(path);
    struct stat about;
    /* The journal may not be there yet. */
    if (c->args.resume != NULL && cli_same_path(path, c->args.resume))
        return overwritten(c, &t);
    for (size_t i = 0; i < sizeof option / sizeof option[0]; i++)
        if (t.there && option[i] != NULL && see(option[i], &about) && same(&t.file, &about))
            return overwritten(c, &t);
    const int code = spare_words(c, &t);
    return code == 0 && cli_verb_bit(c->verb) == V_REPRODUCE ? spare_tables(c, &t) : code;
}
