/* images.c - a folder of images: one subfolder per class, one sample per image.
 *
 *   faces/anna/1.pgm, faces/anna/2.png.gz, faces/otto/1.pgm
 *
 * Classes and files in the order of their names, byte by byte. Features are the pixels row by row,
 * 0..255; all images have the same size. Files are told apart by content, chosen by ending (.pgm,
 * .png, each also .gz); others, hidden ones and files beside the subfolders are skipped. Only one
 * level is read, so links cannot make a loop. */
#include "data/image.h"
#include "data/reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

struct rlar_folder {
    rlar_ctx *ctx;
    rlar_sink *sink;
    char *path;
    rlar_texts files; /* "class/file", in order */
    int64_t next;
    rlar_image image;
    rlar_shape shape; /* of the first image */
};

/* ---- Listing ---- */

/* "folder/name"; free it with rlar__free. */
static rlar_status join(rlar_ctx *ctx, const char *folder, const char *name, char **out) {
    const size_t a = strlen(folder), b = strlen(name);
    RLAR_TRY(rlar__alloc(ctx, (int64_t)(a + b + 2), 1, "a path", out));
    memcpy(*out, folder, a);
    (*out)[a] = '/';
    memcpy(*out + a + 1, name, b + 1);
    return RLAR_OK;
}

static bool ends_with(const char *name, size_t length, const char *ending) {
    const size_t size = strlen(ending);
    return length > size && strncasecmp(name + length - size, ending, size) == 0;
}

/* The ending only says which files are meant; what they are is told by their bytes. */
static bool is_image_name(const char *name) {
    size_t length = strlen(name);
    if (ends_with(name, length, ".gz"))
        length -= 3;
    return ends_with(name, length, ".pgm") || ends_with(name, length, ".png");
}

/* Bytes, not the locale: the order must be the same everywhere. */
static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Add the texts of `from` to `to` in order. */
static rlar_status add_sorted(rlar_ctx *ctx, const rlar_texts *from, rlar_texts *to) {
    const char **names;
    RLAR_TRY(rlar__alloc(ctx, from->count, sizeof *names, "file names", &names));
    for (int64_t i = 0; i < from->count; i++)
        names[i] = rlar__texts_at(from, i);
    if (from->count > 1)
        qsort(names, (size_t)from->count, sizeof *names, by_name);
    rlar_status status = RLAR_OK;
    for (int64_t i = 0; i < from->count && status >= 0; i++)
        status = rlar__texts_add(ctx, to, names[i], strlen(names[i]));
    rlar__free(names);
    return status;
}

/* Whether this entry is a subfolder, or an image file; -1 with errno: it cannot be told. A link to
 * nothing is neither. */
static int wanted(DIR *dir, const char *name, bool subfolders) {
    struct stat st;
    if (name[0] == '.' || (!subfolders && !is_image_name(name)))
        return 0;
    if (TEMP_FAILURE_RETRY(fstatat(dirfd(dir), name, &st, 0)) != 0)
        return errno == ENOENT ? 0 : -1;
    return subfolders ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode);
}

static rlar_status folder_error(rlar_ctx *ctx, const char *path, const char *what) {
    return rlar__fail(ctx, RLAR_E_IO, "%s: cannot %s the folder: %s", path, what, strerror(errno));
}

/* The wanted entries of a folder, in the order of the disk. */
static rlar_status list_entries(rlar_ctx *ctx, const char *path, bool subfolders, rlar_texts *out) {
    DIR *dir;
    while ((dir = opendir(path)) == NULL && errno == EINTR)
        RLAR_TRY(rlar__interrupted(ctx));
    if (!dir)
        return folder_error(ctx, path, "open");
    rlar_status status = RLAR_OK;
    const struct dirent *entry;
    while (status >= 0 && ((errno = 0, entry = readdir(dir)) != NULL || errno == EINTR)) {
        const int take = entry ? wanted(dir, entry->d_name, subfolders) : 0;
        if (take < 0)
            status = rlar__fail(ctx, RLAR_E_IO, "%s/%s: cannot look at the file: %s", path,
                                entry->d_name, strerror(errno));
        if (take > 0)
            status = rlar__texts_add(ctx, out, entry->d_name, strlen(entry->d_name));
        if (status >= 0)
            status = rlar__poll(ctx);
    }
    if (status >= 0 && errno != 0)
        status = folder_error(ctx, path, "list");
    closedir(dir);
    return status;
}

static rlar_status list_sorted(rlar_ctx *ctx, const char *path, bool subfolders, rlar_texts *out) {
    rlar_texts found = {0};
    rlar_status status = list_entries(ctx, path, subfolders, &found);
    if (status >= 0)
        status = add_sorted(ctx, &found, out);
    rlar__texts_free(&found);
    return status;
}

/* Add "class/file" for every image of one subfolder. */
static rlar_status list_class(rlar_folder *f, const char *name) {
    char *path = NULL, *file = NULL;
    rlar_texts names = {0};
    rlar_status status = join(f->ctx, f->path, name, &path);
    if (status >= 0)
        status = list_sorted(f->ctx, path, false, &names);
    for (int64_t i = 0; i < names.count && status >= 0; i++) {
        status = join(f->ctx, name, rlar__texts_at(&names, i), &file);
        if (status >= 0)
            status = rlar__texts_add(f->ctx, &f->files, file, strlen(file));
        rlar__free(file);
    }
    rlar__texts_free(&names);
    rlar__free(path);
    return status;
}

/* All names are listed before the first image is read, so the order does not depend on the disk. */
static rlar_status list_images(rlar_folder *f) {
    rlar_texts classes = {0};
    rlar_status status = list_sorted(f->ctx, f->path, true, &classes);
    for (int64_t i = 0; i < classes.count && status >= 0; i++)
        status = list_class(f, rlar__texts_at(&classes, i));
    if (status >= 0 && f->files.count == 0)
        status =
            rlar__fail(f->ctx, RLAR_E_DATA,
                       "%s: no images: expected one subfolder per class (found %lld) with .pgm or "
                       ".png files in it, each also .gz",
                       f->path, (long long)classes.count);
    rlar__texts_free(&classes);
    return status;
}

rlar_status rlar__folder_open(rlar_ctx *ctx, const char *path, rlar_sink *sink, rlar_folder **out) {
    rlar_folder *f;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *f, "a folder of images", &f));
    f->ctx = ctx;
    f->sink = sink;
    rlar__sink_given_names(sink); /* a folder is there, whatever it is called */
    rlar_status status = rlar__strdup(ctx, path, &f->path);
    if (status >= 0)
        status = list_images(f);
    if (status < 0) {
        rlar__folder_close(f);
        return status;
    }
    *out = f;
    return RLAR_OK;
}

rlar_shape rlar__folder_shape(const rlar_folder *folder) {
    return folder->shape;
}

void rlar__folder_close(rlar_folder *folder) {
    if (!folder)
        return;
    rlar__texts_free(&folder->files);
    rlar__image_free(&folder->image);
    rlar__free(folder->path);
    rlar__free(folder);
}

/* ---- Reading ---- */

/* The first image sets the size. The sink does not keep the path: an image has no missing pixels.
 */
static rlar_status push_image(rlar_folder *f, const char *path, const char *name) {
    const int64_t d = f->image.width * f->image.height;
    const rlar_place at = {.file = path};
    if (f->next == 1) {
        f->shape = (rlar_shape){f->image.height, f->image.width};
        RLAR_TRY(rlar__sink_columns(f->sink, d, NULL, NULL));
    }
    if (f->image.width != f->shape.width || f->image.height != f->shape.height)
        return rlar__fail(
            f->ctx, RLAR_E_DATA,
            "%s is %lld x %lld pixels but %s/%s is %lld x %lld; all images must have the "
            "same size, resize them",
            path, (long long)f->image.width, (long long)f->image.height, f->path,
            rlar__texts_at(&f->files, 0), (long long)f->shape.width, (long long)f->shape.height);
    return rlar__sink_numbers(f->sink, &at, d, f->image.grey, name, strcspn(name, "/"));
}

rlar_status rlar__folder_next(rlar_folder *folder, bool *more) {
    const char *name = rlar__texts_at(&folder->files, folder->next); /* a folder has one at least */
    char *path;
    RLAR_TRY(join(folder->ctx, folder->path, name, &path));
    rlar_status status = rlar__image_read(folder->ctx, path, &folder->image);
    folder->next++;
    if (status >= 0)
        status = push_image(folder, path, name);
    rlar__free(path);
    *more = folder->next < folder->files.count;
    return status;
}
