/* source.c - where bytes come from: a file, standard input or memory, unpacked on the way when they
 * are gzipped.
 *
 * Gzip is known by its first two bytes, not by the name. Members may follow one another, as `cat
 * a.gz b.gz` makes them, and zeros may pad the end, as tapes do; anything else after a member, and
 * an end inside one, is bad data. zlib takes its memory from the context. */
#include "core/sanitize.h"
#include "data/reader.h"
#include "data/zlib_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many bytes that system calls and progress reports cost nothing; and the first ones: who reads
 * a part looks at the head of the file, too. */
enum { CHUNK = RLAR_BUFFER(1 << 18), FIRST = CHUNK / 64, PEEK = CHUNK / 4 };

struct rlar_source {
    rlar_ctx *ctx;
    char *name;
    int fd;             /* -1: memory */
    bool own_fd;        /* standard input is not ours to close */
    bool regular;       /* our own file, which can be read at any place */
    const char *memory; /* what is left of it */
    size_t memory_left;
    int64_t done, total; /* bytes as stored; total 0: unknown */
    int64_t from, to;    /* a range of them only; to 0: all */
    size_t chunk;        /* so many are read next */
    char *raw;           /* CHUNK bytes, when there is a file */
    const char *stored;  /* stored bytes not yet handed on */
    size_t stored_left;
    bool ended; /* no more stored bytes */
    bool gzip, in_member;
    z_stream z;
    int64_t unpacked;
    char *plain;               /* CHUNK unpacked bytes */
    char *head;                /* the bytes that were peeked at, */
    size_t head_at, head_size; /* and those of them that are left */
    bool peeked;
};

/* ---- Stored bytes ---- */

static rlar_status report(rlar_source *s) {
    const int64_t total = s->to > 0 ? s->to - s->from : s->total;
    return rlar__report(s->ctx, RLAR_EVENT_READ, s->done - s->from, total, NULL);
}

static rlar_status io_error(rlar_ctx *ctx, const char *name, const char *what) {
    return rlar__fail(ctx, RLAR_E_IO, "%s: cannot %s: %s", name, what, strerror(errno));
}

/* The end of a range is known before: a file that ends within was cut off meanwhile. */
static rlar_status cut_off(rlar_source *s) {
    return rlar__fail(s->ctx, RLAR_E_IO, "%s: ends at byte %lld, but had %lld when it was opened",
                      s->name, (long long)s->done, (long long)s->total);
}

/* No more bytes than are left of a range. */
static size_t in_range(const rlar_source *s, size_t size) {
    const int64_t left = s->to - s->done;
    return s->to > 0 && (int64_t)size > left ? (size_t)left : size;
}

/* Read up to `size` bytes into buf; 0 at the end. A signal is a chance to cancel. */
static rlar_status read_some(rlar_source *s, char *buf, size_t size, size_t *got) {
    for (;;) {
        const ssize_t n =
            s->to > 0 ? pread(s->fd, buf, size, (off_t)s->done) : read(s->fd, buf, size);
        if (n >= 0) {
            *got = (size_t)n;
            return RLAR_OK;
        }
        if (errno != EINTR)
            return io_error(s->ctx, s->name, "read");
        RLAR_TRY(rlar__interrupted(s->ctx));
    }
}

/* Make stored_left > 0, or ended. */
static rlar_status refill(rlar_source *s) {
    if (s->stored_left > 0 || s->ended)
        return RLAR_OK;
    if (s->fd < 0) {
        s->stored = s->memory;
        s->stored_left = s->memory_left < CHUNK ? s->memory_left : CHUNK;
        s->memory += s->stored_left;
        s->memory_left -= s->stored_left;
    } else {
        s->stored = s->raw;
        const size_t size = in_range(s, s->chunk);
        RLAR_TRY(read_some(s, s->raw, size, &s->stored_left));
        if (s->to > 0 && size > 0 && s->stored_left == 0)
            return cut_off(s);
        s->chunk = s->chunk < CHUNK ? 2 * s->chunk : CHUNK;
    }
    s->ended = s->stored_left == 0;
    s->done += (int64_t)s->stored_left;
    return report(s);
}

/* ---- Gzip ---- */

/* The magic may come in two reads from a pipe, so the first bytes are gathered. */
static rlar_status detect_gzip(rlar_source *s) {
    RLAR_TRY(refill(s));
    while (s->fd >= 0 && s->stored_left == 1) {
        size_t got = 0;
        RLAR_TRY(read_some(s, s->raw + 1, CHUNK - 1, &got));
        if (got == 0)
            break;
        s->stored_left += got;
        s->done += (int64_t)got;
    }
    if (s->stored_left < 2 || memcmp(s->stored, "\x1f\x8b", 2) != 0)
        return RLAR_OK;
    s->z = rlar__zlib_stream(s->ctx);
    RLAR_TRY(rlar__alloc(s->ctx, CHUNK, 1, "unpacking", &s->plain));
    if (inflateInit2(&s->z, MAX_WBITS + 16) != Z_OK) /* + 16: with a gzip header */
        return rlar__fail(s->ctx, RLAR_E_NOMEM, "%s: no memory for unpacking gzip", s->name);
    s->gzip = s->in_member = true;
    return RLAR_OK;
}

/* A failed allocation comes through zlib as an error of its own. */
static rlar_status bad_gzip(rlar_source *s, int code) {
    if (code == Z_MEM_ERROR)
        return rlar__fail(s->ctx, RLAR_E_NOMEM, "%s: no memory for unpacking gzip", s->name);
    return rlar__fail(s->ctx, RLAR_E_DATA,
                      "%s: the gzip data are damaged after %lld unpacked bytes (%s); make or fetch "
                      "the file again",
                      s->name, (long long)s->unpacked, s->z.msg ? s->z.msg : "unknown fault");
}

/* Between members: skip padding, and start the next one if there is one. */
static rlar_status next_member(rlar_source *s) {
    while (!s->in_member && !s->ended) {
        RLAR_TRY(refill(s));
        while (s->stored_left > 0 && *s->stored == '\0') {
            s->stored++;
            s->stored_left--;
        }
        if (s->stored_left > 0) {
            (void)inflateReset(&s->z); /* cannot fail on a stream that was begun */
            s->in_member = true;
        }
    }
    return RLAR_OK;
}

/* One step of unpacking into out[0..room). */
static rlar_status inflate_some(rlar_source *s, char *out, size_t room, size_t *got) {
    RLAR_TRY(refill(s));
    if (s->ended)
        return rlar__fail(
            s->ctx, RLAR_E_DATA,
            "%s: the gzip data end too early, after %lld unpacked bytes: the file is truncated; "
            "make or fetch it again",
            s->name, (long long)s->unpacked);
    s->z.next_in = (Bytef *)(uintptr_t)s->stored;
    s->z.avail_in = (uInt)s->stored_left;
    s->z.next_out = (Bytef *)out;
    s->z.avail_out = (uInt)room;
    const int code = inflate(&s->z, Z_NO_FLUSH);
    s->stored += s->stored_left - s->z.avail_in;
    s->stored_left = s->z.avail_in;
    *got = room - s->z.avail_out;
    s->unpacked += (int64_t)*got;
    if (code == Z_STREAM_END)
        s->in_member = false;
    else if (code != Z_OK && code != Z_BUF_ERROR)
        return bad_gzip(s, code);
    return RLAR_OK;
}

/* The next unpacked bytes into out[0..room); *size 0 only at the end. */
static rlar_status unpack(rlar_source *s, char *out, size_t room, size_t *size) {
    size_t got = 0;
    while (got == 0) {
        RLAR_TRY(next_member(s));
        if (!s->in_member)
            break;
        RLAR_TRY(inflate_some(s, out, room, &got));
    }
    *size = got;
    return RLAR_OK;
}

/* ---- The interface ---- */

static rlar_status source_new(rlar_ctx *ctx, const char *name, rlar_source **out) {
    rlar_source *s = NULL;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *s, "a source of bytes", &s));
    s->ctx = ctx;
    s->fd = -1;
    s->chunk = FIRST;
    const rlar_status status = rlar__strdup(ctx, name, &s->name);
    if (status < 0)
        rlar__source_close(s);
    else
        *out = s;
    return status;
}

/* Folders are refused here: opening one succeeds, and only reading it would fail. */
static rlar_status open_file(rlar_source *s, const char *path) {
    struct stat info;
    if (strcmp(path, "-") == 0) {
        s->fd = STDIN_FILENO;
    } else {
        RLAR_TRY(rlar__open(s->ctx, path, O_RDONLY, &s->fd));
        if (s->fd < 0)
            return io_error(s->ctx, s->name, "open");
        s->own_fd = true;
    }
    if (TEMP_FAILURE_RETRY(fstat(s->fd, &info)) != 0)
        return io_error(s->ctx, s->name, "look at the file");
    if (S_ISDIR(info.st_mode))
        return rlar__fail(s->ctx, RLAR_E_IO,
                          "%s: cannot read: %s; a folder can only be read as images", s->name,
                          strerror(EISDIR));
    s->total = S_ISREG(info.st_mode) ? (int64_t)info.st_size : 0;
    s->regular = S_ISREG(info.st_mode) && s->own_fd;
    RLAR_TRY(rlar__alloc(s->ctx, CHUNK, 1, "reading", &s->raw));
    return detect_gzip(s);
}

rlar_status rlar__source_file(rlar_ctx *ctx, const char *path, rlar_source **out) {
    rlar_source *s = NULL;
    RLAR_TRY(source_new(ctx, strcmp(path, "-") == 0 ? "<stdin>" : path, &s));
    const rlar_status status = open_file(s, path);
    if (status < 0)
        rlar__source_close(s);
    else
        *out = s;
    return status;
}

rlar_status rlar__source_memory(rlar_ctx *ctx, const void *bytes, size_t size, const char *name,
                                rlar_source **out) {
    rlar_source *s = NULL;
    RLAR_TRY(source_new(ctx, name, &s));
    s->memory = bytes;
    s->memory_left = size;
    s->total = (int64_t)size;
    const rlar_status status = detect_gzip(s);
    if (status < 0)
        rlar__source_close(s);
    else
        *out = s;
    return status;
}

/* Plain bytes are handed on where they were read to; nothing is copied. */
static rlar_status next_chunk(rlar_source *s, const char **bytes, size_t *size) {
    if (s->gzip) {
        *bytes = s->plain;
        return unpack(s, s->plain, CHUNK, size);
    }
    RLAR_TRY(refill(s));
    *bytes = s->stored;
    *size = s->stored_left;
    s->stored_left = 0;
    return RLAR_OK;
}

rlar_status rlar__source_next(rlar_source *s, const char **bytes, size_t *size) {
    if (s->peeked && s->head_at < s->head_size) {
        *bytes = s->head + s->head_at;
        *size = s->head_size - s->head_at;
        s->head_at = s->head_size;
        return RLAR_OK;
    }
    return next_chunk(s, bytes, size);
}

/* ---- Many bytes at once ---- */

typedef struct file_part {
    const rlar_source *source;
    char *buf;
    size_t size, piece;
    _Atomic size_t end; /* the file ends there; size: not before */
} file_part;

static void end_at(file_part *f, size_t at) {
    size_t end = atomic_load(&f->end);
    while (at < end && !atomic_compare_exchange_weak(&f->end, &end, at)) {
    }
}

static rlar_status read_piece(rlar_ctx *ctx, void *arg, int64_t index) {
    file_part *f = arg;
    const rlar_source *s = f->source;
    size_t at = (size_t)index * f->piece;
    const size_t stop = f->size - at < f->piece ? f->size : at + f->piece;
    while (at < stop) {
        const ssize_t n = pread(s->fd, f->buf + at, stop - at, (off_t)s->done + (off_t)at);
        if (n < 0 && errno != EINTR)
            return io_error(ctx, s->name, "read");
        if (n == 0) {
            end_at(f, at);
            return RLAR_OK;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    return RLAR_OK;
}

/* From our own file, pieces at the same time. Mapping the file would save 4 ms per 100 MB, but a
 * file that is cut off meanwhile would then kill the process. */
static rlar_status fill_from_file(rlar_source *s, char *buf, size_t size, size_t piece,
                                  size_t *got) {
    size = in_range(s, size);
    if (s->done >= s->total && size > piece)
        size = piece; /* nothing is left, unless the file has grown */
    file_part f = {.source = s, .buf = buf, .size = size, .piece = piece, .end = size};
    const size_t pieces = size / piece + (size % piece != 0);
    RLAR_TRY(rlar__parallel_ctx(s->ctx, (int64_t)pieces, read_piece, &f));
    *got = f.end;
    s->done += (int64_t)*got;
    return s->to > 0 && *got < size ? cut_off(s) : report(s);
}

/* Some bytes; *got 0 only at the end. */
static rlar_status fill_some(rlar_source *s, char *buf, size_t size, size_t piece, size_t *got) {
    const char *bytes = s->head;
    size_t left = s->peeked ? s->head_size - s->head_at : 0;
    if (left == 0 && s->gzip)
        return unpack(s, buf, size, got);
    if (left == 0 && s->regular && s->stored_left == 0)
        return fill_from_file(s, buf, size, piece, got);
    const bool head = left > 0;
    if (head) {
        bytes += s->head_at;
    } else {
        RLAR_TRY(refill(s));
        bytes = s->stored;
        left = s->stored_left;
    }
    *got = left < size ? left : size;
    if (*got > 0)
        memcpy(buf, bytes, *got);
    if (head) {
        s->head_at += *got;
    } else {
        s->stored += *got;
        s->stored_left -= *got;
    }
    return RLAR_OK;
}

rlar_status rlar__source_fill(rlar_source *s, char *buf, size_t size, size_t piece, size_t *got) {
    *got = 0;
    while (*got < size) {
        size_t more = 0;
        RLAR_TRY(fill_some(s, buf + *got, size - *got, piece, &more));
        if (more == 0)
            break;
        *got += more;
    }
    return RLAR_OK;
}

double rlar__source_share(const rlar_source *s) {
    const int64_t total = s->to > 0 ? s->to - s->from : s->total;
    const double share = total > 0 ? (double)(s->done - s->from) / (double)total : 0;
    return share < 1 ? share : 1;
}

int64_t rlar__source_plain_size(const rlar_source *s) {
    return s->gzip ? 0 : s->to > 0 ? s->to - s->from : s->total;
}

/* ---- Ranges ---- */

bool rlar__source_seekable(const rlar_source *s) {
    return s->regular && !s->gzip;
}

void rlar__source_range(rlar_source *s, int64_t from, int64_t to) {
    s->from = s->done = from;
    s->to = to;
    s->stored_left = s->head_at = s->head_size = 0;
    s->ended = false;
    s->chunk = CHUNK;
}

rlar_status rlar__source_line(rlar_source *s, int64_t at, int64_t *start) {
    char bytes[FIRST];
    at--; /* a line begins behind the end of another */
    while (at < s->total) {
        const ssize_t n = pread(s->fd, bytes, sizeof bytes, (off_t)at);
        if (n < 0 && errno != EINTR)
            return io_error(s->ctx, s->name, "read");
        if (n == 0)
            break;
        const char *end = n > 0 ? memchr(bytes, '\n', (size_t)n) : NULL;
        at += end ? end - bytes + 1 : n > 0 ? n : 0;
        if (end)
            break;
    }
    *start = at < s->total ? at : s->total;
    return RLAR_OK;
}

rlar_status rlar__source_peek(rlar_source *s, const char **bytes, size_t *size) {
    int64_t capacity = 0;
    while (!s->peeked && s->head_size < PEEK) {
        const char *chunk;
        size_t got;
        RLAR_TRY(next_chunk(s, &chunk, &got));
        if (got == 0)
            break;
        RLAR_TRY(rlar__grow(s->ctx, &s->head, &capacity, (int64_t)(s->head_size + got), 1,
                            "the start of the file"));
        memcpy(s->head + s->head_size, chunk, got);
        s->head_size += got;
    }
    s->peeked = true;
    *bytes = s->head;
    *size = s->head_size < PEEK ? s->head_size : PEEK;
    return RLAR_OK;
}

const char *rlar__source_name(const rlar_source *source) {
    return source->name;
}

void rlar__source_close(rlar_source *s) {
    if (!s)
        return;
    if (s->gzip)
        inflateEnd(&s->z);
    if (s->own_fd)
        close(s->fd);
    rlar__free(s->raw);
    rlar__free(s->plain);
    rlar__free(s->head);
    rlar__free(s->name);
    rlar__free(s);
}
