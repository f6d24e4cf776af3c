/* guess.c - which format a file has: by name, by ending (behind .gz too), by content.
 *
 * Content: NumPy, zip and MATLAB files have magic bytes; ARFF begins with @relation behind
 * comments; LIBSVM has "index:value" as its first or second word; tabs without a comma mean TSV;
 * everything else is CSV. */
#include "data/guess.h"

#include <string.h>
#include <strings.h>

enum { FORMATS = 6 };

static const rlar_format *format_at(int i) {
    const rlar_format *const formats[FORMATS] = {&rlar__format_csv,    &rlar__format_tsv,
                                                 &rlar__format_libsvm, &rlar__format_npy,
                                                 &rlar__format_npz,    &rlar__format_arff};
    return formats[i];
}

/* MATLAB files need a library that only the program links. */
static rlar_status matlab(rlar_ctx *ctx, const char *path) {
    return rlar__fail(
        ctx, RLAR_E_UNSUPPORTED,
        "%s: a MATLAB file; the rlar command reads it (from a pipe with --format mat), the library "
        "does not: use rlar convert",
        path);
}

/* ---- By name and ending ---- */

/* Is the ending (".csv", of `length`) in the list ".svm .libsvm"? */
static bool listed(const char *list, const char *ending, size_t length) {
    while (*list != '\0') {
        const size_t entry = strcspn(list, " ");
        if (entry == length && strncasecmp(list, ending, length) == 0)
            return true;
        list += entry;
        list += strspn(list, " ");
    }
    return false;
}

/* The last component of the path, and its length without ".gz". */
static const char *last_component(const char *path, size_t *length) {
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    if (end - start > 3 && strncasecmp(path + end - 3, ".gz", 3) == 0)
        end -= 3;
    *length = end - start;
    return path + start;
}

/* Where the ending (with its dot) starts in name[0..length); length: it has none. */
static size_t ending_of(const char *name, size_t length) {
    for (size_t i = length; i > 1; i--)
        if (name[i - 1] == '.')
            return i - 1;
    return length;
}

static const rlar_format *by_ending(const char *path) {
    size_t length;
    const char *name = last_component(path, &length);
    const size_t dot = ending_of(name, length);
    for (int i = 0; i < FORMATS; i++)
        if (listed(format_at(i)->extensions, name + dot, length - dot))
            return format_at(i);
    return NULL;
}

static bool ends_in_mat(const char *path) {
    size_t length;
    const char *name = last_component(path, &length);
    const size_t dot = ending_of(name, length);
    return listed(".mat", name + dot, length - dot);
}

bool rlar__format_known(const char *name) {
    bool known = strcmp(name, "images") == 0;
    for (int i = 0; i < FORMATS; i++)
        known |= strcmp(name, format_at(i)->name) == 0;
    return known;
}

/* The name is known (rlar__format_known), and images do not come here. */
static const rlar_format *by_name(const char *name) {
    int i = FORMATS - 1;
    while (i > 0 && strcmp(name, format_at(i)->name) != 0)
        i--;
    return format_at(i);
}

/* ---- By content ---- */

typedef struct text_line {
    const char *start, *end;
} text_line;

/* The first line that is neither blank nor a comment. */
static text_line first_line(const char *bytes, size_t size, char comment) {
    const char *end = bytes + size;
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        bytes += 3;
    while (bytes < end) {
        while (bytes < end && memchr(" \t\r\n", *bytes, 4))
            bytes++;
        const char *stop = bytes < end ? memchr(bytes, '\n', (size_t)(end - bytes)) : NULL;
        if (!stop)
            stop = end;
        if (bytes < stop && *bytes != comment)
            return (text_line){bytes, stop};
        bytes = stop;
    }
    return (text_line){end, end};
}

static bool looks_like_arff(const char *bytes, size_t size) {
    const text_line line = first_line(bytes, size, '%');
    return line.end - line.start >= 9 && strncasecmp(line.start, "@relation", 9) == 0;
}

/* digits ':' something that is not a blank */
static bool is_pair(const char *word, const char *end) {
    const char *p = word;
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p > word && end - p >= 2 && *p == ':' && !memchr(" \t\r", p[1], 3);
}

/* A label may be anything but a quoted or separated cell; what counts is the index:value behind it.
 */
static bool looks_like_libsvm(const char *bytes, size_t size) {
    const text_line line = first_line(bytes, size, '#');
    const char *p = line.start;
    if (is_pair(p, line.end))
        return true;
    while (p < line.end && !memchr(" \t\r,;\"", *p, 6))
        p++;
    while (p < line.end && memchr(" \t", *p, 2))
        p++;
    return is_pair(p, line.end) || (line.end - p > 4 && memcmp(p, "qid:", 4) == 0);
}

/* Eight bytes of length, small enough, then JSON: a model given where data are expected. */
static bool looks_like_model(const char *bytes, size_t size) {
    return size > 16 && bytes[8] == '{' && memcmp(bytes + 4, "\0\0\0\0", 4) == 0;
}

static bool has_byte(text_line line, char c) {
    return line.start < line.end && memchr(line.start, c, (size_t)(line.end - line.start)) != NULL;
}

static rlar_status by_content(rlar_ctx *ctx, const char *path, const char *bytes, size_t size,
                              const rlar_format **out) {
    if (size >= 10 && (!memcmp(bytes, "MATLAB 5.0", 10) || !memcmp(bytes, "MATLAB 7.3", 10)))
        return matlab(ctx, path);
    if (looks_like_model(bytes, size))
        return rlar__fail(ctx, RLAR_E_DATA, "%s: a model, where data are expected; %s", path,
                          strcmp(path, "-") == 0 ? "rlar info shows it from a file, not from a pipe"
                                                 : "rlar info FILE shows it");
    if (size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0)
        *out = &rlar__format_npy;
    else if (size >= 4 && memcmp(bytes, "PK\x03\x04", 4) == 0)
        *out = &rlar__format_npz;
    else if (looks_like_arff(bytes, size))
        *out = &rlar__format_arff;
    else if (looks_like_libsvm(bytes, size))
        *out = &rlar__format_libsvm;
    else if (has_byte(first_line(bytes, size, '\0'), '\t') &&
             !has_byte(first_line(bytes, size, '\0'), ','))
        *out = &rlar__format_tsv;
    else
        *out = &rlar__format_csv;
    return RLAR_OK;
}

rlar_status rlar__format_choose(rlar_ctx *ctx, const char *path, const char *named,
                                rlar_source *source, const rlar_format **out) {
    const char *bytes;
    size_t size;
    if (!named && ends_in_mat(path))
        return matlab(ctx, path);
    const rlar_format *format = named ? by_name(named) : by_ending(path);
    if (format) {
        *out = format;
        return RLAR_OK;
    }
    RLAR_TRY(rlar__source_peek(source, &bytes, &size));
    return by_content(ctx, path, bytes ? bytes : "", size, out);
}

rlar_status rlar__base_name(rlar_ctx *ctx, const char *path, char **out) {
    size_t length;
    if (strcmp(path, "-") == 0)
        return rlar__strdup(ctx, "stdin", out);
    const char *name = last_component(path, &length);
    const size_t dot = ending_of(name, length);
    char *copy = NULL;
    RLAR_TRY(rlar__alloc(ctx, (int64_t)dot + 1, 1, "a name", &copy));
    memcpy(copy, name, dot);
    copy[dot] = '\0';
    *out = copy;
    return RLAR_OK;
}
