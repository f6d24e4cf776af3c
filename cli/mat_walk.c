/* mat_walk.c - is a MATLAB level-5 file whole?
 *
 * matio fills in what it cannot read and never reaches the checksum at the end of a compressed
 * element, so a file that was cut or damaged would be read as other numbers. Before it is asked,
 * walk over the top-level elements: a tag of type and size, then that many bytes, padded to eight
 * unless compressed. The last must end where the file ends, and every compressed one must inflate
 * to its checksum. Other levels (4, and 7.3, which is HDF5) are left to matio. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cli.h"
#include "mat.h"

enum { HEADER = 128, TAG = 8, COMPRESSED = 15, CHUNK = 1 << 16 };

static int64_t padded_to_eight(int64_t size) {
    return (size + 7) / 8 * 8;
}

static uint32_t word(const unsigned char *p, bool big) {
    return big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
               : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* pread() of all that is there; -1 with errno. */
static ssize_t read_at(int fd, unsigned char *bytes, size_t size, int64_t at) {
    size_t done = 0;
    while (done < size) {
        const ssize_t got = pread(fd, bytes + done, size - done, at + (int64_t)done);
        if (got == 0 || (got < 0 && (errno != EINTR || cli_interrupted())))
            return got < 0 ? -1 : (ssize_t)done;
        done += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)done;
}

static int unreadable(cli *c, const char *path) {
    return cli_error(c, CODE_IO, "%s: cannot read: %s", path, strerror(errno));
}

/* Level 5 files end their header with a version and "IM", or "MI" where the bytes are swapped. */
static int is_level_5(cli *c, int fd, const char *path, bool *yes, bool *big) {
    unsigned char header[HEADER];
    const ssize_t got = read_at(fd, header, HEADER, 0);
    if (got < 0)
        return unreadable(c, path);
    if (got == HEADER && memcmp(header, "MATLAB 5.0", 10) == 0) {
        *big = header[126] == 'M' && header[127] == 'I';
        *yes = *big || (header[126] == 'I' && header[127] == 'M');
    }
    return 0;
}

/* Inflate the element from its start to its checksum, throwing the bytes away. 1: it is whole; 0:
 * it is not; -1: it cannot be read (errno). */
static int inflates(int fd, int64_t at, int64_t size, unsigned char *in, unsigned char *out) {
    z_stream z = {0};
    int state = Z_OK;
    ssize_t got = 0;
    if (inflateInit(&z) != Z_OK)
        return 0;
    while (state == Z_OK && !cli_interrupted()) {
        if (z.avail_in == 0 && size > 0) {
            got = read_at(fd, in, size < CHUNK ? (size_t)size : CHUNK, at);
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
    }
    inflateEnd(&z);
    return got < 0 ? -1 : state == Z_STREAM_END;
}

static int walk(cli *c, int fd, const char *path, int64_t size, bool big, unsigned char *buffer) {
    int64_t at = HEADER;
    while (at < size) {
        unsigned char tag[TAG];
        const ssize_t got = read_at(fd, tag, TAG, at);
        if (got < 0)
            return unreadable(c, path);
        if (got < TAG)
            return cli_error(c, CODE_DATA,
                             "%s: cut short: %lld bytes are left where a variable should "
                             "start; copy the file again",
                             path, (long long)(size - at));
        const uint32_t type = word(tag, big);
        const int64_t stored = (int64_t)word(tag + 4, big), left = size - at - TAG;
        if (stored > left)
            return cli_error(
                c, CODE_DATA,
                "%s: cut short: a variable promises %lld bytes, %lld are there; copy the "
                "file again",
                path, (long long)stored, (long long)left);
        const int whole =
            type != COMPRESSED ? 1 : inflates(fd, at + TAG, stored, buffer, buffer + CHUNK);
        if (cli_interrupted())
            return cli_error(c, CODE_INTERRUPTED, "interrupted");
        if (whole < 0)
            return unreadable(c, path);
        if (whole == 0)
            return cli_error(c, CODE_DATA,
                             "%s: damaged: a compressed variable at byte %lld does not "
                             "unpack; copy the file again",
                             path, (long long)at);
        at += TAG + (type == COMPRESSED ? stored : padded_to_eight(stored));
    }
    return 0;
}

int cli_mat_whole(cli *c, int fd, const char *path) {
    bool level_5 = false, big = false;
    const off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0 || lseek(fd, 0, SEEK_SET) < 0)
        return unreadable(c, path);
    int code = is_level_5(c, fd, path, &level_5, &big);
    if (code != 0 || !level_5)
        return code;
    unsigned char *buffer = cli_alloc(2 * CHUNK);
    code = walk(c, fd, path, (int64_t)size, big, buffer);
    free(buffer);
    return code;
}
