/* mat_walk.c - is a MATLAB file whole?
 *
 * matio fills in what it cannot read and never reaches the checksum at the end of a compressed
 * element, so a file that was cut or damaged would be read as other numbers. Before it is asked,
 * walk over the top-level elements of a level-5 file: a tag of type and size, then that many bytes,
 * padded to eight unless compressed. The last must end where the file ends, every compressed one
 * must inflate to its checksum, and the parts of each must fit together (mat_parts.c), unless it is
 * one that nobody can use and matio does not get (mat_copy.c). A level-4 file is a list of
 * matrices, each with its sizes before it, for which matio would take memory unseen: they must fit
 * into the file. Level 7.3, which is HDF5, is left to matio. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cli.h"
#include "mat.h"

enum { HEADER = 128, TAG = 8, COMPRESSED = 15, CHUNK = 1 << 16 };

/* A file of level 5. */
typedef struct file_5 {
    int fd;
    const char *path;
    int64_t size;
    bool big;              /* the high bytes come first */
    unsigned char *buffer; /* two chunks */
} file_5;

static int64_t padded_to_eight(int64_t size) {
    return (size + 7) / 8 * 8;
}

static int unreadable(cli *c, const char *path) {
    return cli_error(c, CODE_IO, "%s: cannot read: %s", path, strerror(errno));
}

/* Files of level 5 and 7.3 end their header with a version and "IM", or "MI" where the bytes are
 * swapped; what has no such header matio takes for level 4. -1: it cannot be read (errno). */
static int level_of(int fd, bool *big) {
    unsigned char header[HEADER];
    const ssize_t got = cli_mat_pread(fd, header, HEADER, 0);
    if (got < HEADER)
        return got < 0 ? -1 : 4;
    *big = header[126] == 'M' && header[127] == 'I';
    if (!*big && !(header[126] == 'I' && header[127] == 'M'))
        return 4;
    const int version = *big ? header[124] : header[125];
    return version == 1 ? 5 : version == 2 ? 7 : 4;
}

/* Inflate the element from its start to its checksum, and look at the parts of what comes out. 1:
 * it is whole; 0: it is not; -1: it cannot be read (errno). */
static int inflates(int fd, int64_t at, int64_t size, unsigned char *in, unsigned char *out,
                    cli_mat_parts *parts) {
    z_stream z = {0};
    int state = Z_OK;
    ssize_t got = 0;
    if (inflateInit(&z) != Z_OK)
        return 0;
    while (state == Z_OK && !parts->bad && !cli_interrupted()) {
        if (z.avail_in == 0 && size > 0) {
            got = cli_mat_pread(fd, in, size < CHUNK ? (size_t)size : CHUNK, at);
            if (got <= 0)
                break;
            z.next_in = in;
            z.avail_in = (uInt)got;
            at += got;
            size -= got;
        }
        z.next_out = out;
        z.avail_out = CHUNK;
        state = inflate(&z, Z_NO_FLUSH);
        cli_mat_parts_feed(parts, out, CHUNK - z.avail_out);
    }
    inflateEnd(&z);
    return got < 0 ? -1 : state == Z_STREAM_END;
}

/* The same of one that is not packed, with its tag. */
static int passes(int fd, int64_t at, int64_t size, unsigned char *buffer, cli_mat_parts *parts) {
    while (size > 0 && !parts->bad && !cli_interrupted()) {
        const ssize_t got = cli_mat_pread(fd, buffer, size < CHUNK ? (size_t)size : CHUNK, at);
        if (got <= 0)
            return got < 0 ? -1 : 0;
        cli_mat_parts_feed(parts, buffer, (size_t)got);
        at += got;
        size -= got;
    }
    return 1;
}

/* The variable at `at`: a tag of `type`, then `stored` bytes. */
static int check(cli *c, const file_5 *file, int64_t at, uint32_t type, int64_t stored,
                 cli_mat_parts *parts) {
    const int whole = type == COMPRESSED ? inflates(file->fd, at + TAG, stored, file->buffer,
                                                    file->buffer + CHUNK, parts)
                                         : passes(file->fd, at, TAG + stored, file->buffer, parts);
    if (cli_interrupted())
        return cli_error(c, CODE_INTERRUPTED, "interrupted");
    if (whole < 0)
        return unreadable(c, file->path);
    if (whole == 0 && !parts->bad)
        return cli_error(c, CODE_DATA,
                         "%s: damaged: a compressed variable at byte %lld does not "
                         "unpack; copy the file again",
                         file->path, (long long)at);
    if (!cli_mat_parts_whole(parts))
        return cli_error(c, CODE_DATA,
                         "%s: damaged: a part of the variable at byte %lld does not fit into "
                         "it, or has fewer numbers than its sizes ask for; copy the file again",
                         file->path, (long long)at);
    return 0;
}

static int walk(cli *c, const file_5 *file, cli_mat_kept *kept) {
    const char *path = file->path;
    int64_t at = HEADER;
    int code = 0;
    while (at < file->size && code == 0) {
        unsigned char tag[TAG];
        const ssize_t got = cli_mat_pread(file->fd, tag, TAG, at);
        if (got < 0)
            return unreadable(c, path);
        if (got < TAG)
            return cli_error(c, CODE_DATA,
                             "%s: cut short: %lld bytes are left where a variable should "
                             "start; copy the file again",
                             path, (long long)(file->size - at));
        const uint32_t type = cli_mat_word(tag, file->big);
        const int64_t stored = (int64_t)cli_mat_word(tag + 4, file->big);
        const int64_t left = file->size - at - TAG;
        if (stored > left)
            return cli_error(
                c, CODE_DATA,
                "%s: cut short: a variable promises %lld bytes, %lld are there; copy the "
                "file again",
                path, (long long)stored, (long long)left);
        const int64_t padded = type == COMPRESSED ? stored : padded_to_eight(stored);
        cli_mat_parts parts = {.big = file->big};
        code = check(c, file, at, type, stored, &parts);
        if (code == 0)
            cli_mat_note(kept, parts.name, parts.total, parts.left_out);
        if (code == 0 && parts.left_out)
            code = cli_mat_leave_out(c, kept, file->fd, path, at);
        else if (code == 0)
            code = cli_mat_keep(c, kept, file->fd, path, at, TAG + (padded < left ? padded : left));
        at += TAG + padded;
    }
    return code;
}

/* ---- level 4 ---- */

enum { HEAD_4 = 20 };

/* The five numbers before a matrix: type, rows, columns, imaginary part, length of the name. The
 * type is four decimal digits: byte order, 0, kind of the numbers, kind of the matrix. */
typedef struct head_4 {
    uint32_t type, rows, columns, imaginary, name;
} head_4;

/* 1: here it is; 0: there is none; -1: it cannot be read (errno). */
static int read_head_4(int fd, int64_t at, bool big, head_4 *out) {
    unsigned char bytes[HEAD_4];
    const ssize_t got = cli_mat_pread(fd, bytes, HEAD_4, at);
    if (got < HEAD_4)
        return got < 0 ? -1 : 0;
    *out = (head_4){cli_mat_word(bytes, big), cli_mat_word(bytes + 4, big),
                    cli_mat_word(bytes + 8, big), cli_mat_word(bytes + 12, big),
                    cli_mat_word(bytes + 16, big)};
    return out->type / 1000 == (uint32_t)big && out->type / 100 % 10 == 0 &&
           out->type / 10 % 10 <= 5 && out->type % 10 <= 2;
}

/* Bytes of the name and the numbers; a double, so that no product is too large. */
static double size_4(const head_4 *head) {
    static const int element[] = {8, 4, 4, 2, 2, 1};
    return head->name + (double)head->rows * head->columns * element[head->type / 10 % 10] *
                            (head->imaginary != 0 ? 2 : 1);
}

static int walk_4(cli *c, int fd, const char *path, int64_t size) {
    head_4 head;
    int64_t at = 0;
    int found = read_head_4(fd, 0, false, &head);
    const bool big = found == 0;
    if (big)
        found = read_head_4(fd, 0, true, &head);
    if (found == 0)
        return cli_error(c, CODE_DATA, "%s: not a MATLAB file that can be read (level 4, 5 or 7.3)",
                         path);
    while (found > 0 && at < size) {
        found = read_head_4(fd, at, big, &head);
        if (found < 0)
            break;
        if (found == 0 || size_4(&head) > (double)(size - at - HEAD_4))
            return cli_error(c, CODE_DATA,
                             "%s: damaged or cut short: the variable at byte %lld of a level-4 "
                             "file does not fit into it; copy the file again",
                             path, (long long)at);
        at += HEAD_4 + (int64_t)size_4(&head);
    }
    return found < 0 ? unreadable(c, path) : 0;
}

/* ---- any level ---- */

int cli_mat_whole(cli *c, int fd, const char *path, cli_mat_kept *kept) {
    bool big = false;
    const off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0 || lseek(fd, 0, SEEK_SET) < 0)
        return unreadable(c, path);
    const int level = level_of(fd, &big);
    if (level < 0)
        return unreadable(c, path);
    if (level > 5)
        return 0;
    if (level == 4)
        return walk_4(c, fd, path, (int64_t)size);
    const file_5 file = {fd, path, (int64_t)size, big, cli_alloc(2 * CHUNK)};
    const int code = walk(c, &file, kept);
    free(file.buffer);
    return code;
}
