/* checkpoint.c - where a long fit is, in a file that appears whole or not at all (checkpoint.h).
 *
 * The file: a head, the arrays one after another, the checksum of all that. Its length follows from
 * the arrays, so that it is known before anything is read into them. */
#include "dist/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dist/team.h"

/* Bytes of a message, and of a write. So few that they lie on the stack: a checkpoint that needs no
 * memory of the context cannot lack it, on one rank and not on another. */
enum { PIECE = 1 << 15 };

typedef struct head {
    char name[16];
    uint64_t order; /* of the bytes in a number */
    uint64_t key[2];
    int64_t t;
    int64_t bytes; /* of the arrays */
} head;

static head head_of(const rlar_checkpoint *cp, int64_t t, int64_t bytes) {
    return (head){.name = "rlar checkpt 1",
                  .order = UINT64_C(0x0102030405060708),
                  .key = {cp->key[0], cp->key[1]},
                  .t = t,
                  .bytes = bytes};
}

static int64_t all_bytes(const rlar_checkpoint *cp, const rlar_kept *kept, int count) {
    int64_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += kept[i].samples ? kept[i].count * cp->all : kept[i].count;
    return bytes;
}

/* ---- What it is of ---- */

void rlar__checkpoint_add(rlar_checkpoint *cp, const void *bytes, size_t size) {
    cp->key[0] = rlar__crc64(cp->key[0], bytes, size);
    cp->key[1] = (cp->key[1] ^ cp->key[0]) * UINT64_C(0x9e3779b97f4a7c15);
}

/* A sum over samples, each with its place, so that it does not matter which rank has which. */
rlar_status rlar__checkpoint_add_samples(rlar_ctx *ctx, rlar_checkpoint *cp, int64_t d,
                                         const double *x, const int32_t *label) {
    uint64_t sum = 0, *all = NULL;
    const int ranks = rlar__team_ranks(ctx);
    for (int64_t i = 0; i < cp->n; i++) {
        const uint64_t place[] = {(uint64_t)(cp->from + i), (uint64_t)label[i]};
        const uint64_t crc = rlar__crc64(0, place, sizeof place);
        sum += rlar__crc64(crc, x + i * d, (size_t)d * sizeof *x);
    }
    RLAR_TRY(rlar__alloc(ctx, ranks, sizeof *all, "the ranks", &all));
    const rlar_status status = rlar__team_collect(ctx, &sum, sizeof sum, all);
    sum = 0;
    for (int r = 0; r < ranks && status >= 0; r++)
        sum += all[r];
    rlar__free(all);
    rlar__checkpoint_add(cp, &sum, sizeof sum);
    return status;
}

/* ---- Save ---- */

/* The file of rank 0. What cannot be written is a pity, not the end of the fit: `status` keeps it,
 * and the other ranks are heard to the end. */
typedef struct writer {
    rlar_file *file;
    uint64_t crc;
    rlar_status status;
    char piece[PIECE];
} writer;

static void put(writer *w, const void *bytes, size_t size) {
    if (w->status >= 0)
        w->status = rlar_file_write(w->file, bytes, size);
    w->crc = rlar__crc64(w->crc, bytes, size);
}

static size_t piece_of(int64_t left) {
    return left < PIECE ? (size_t)left : PIECE;
}

/* The samples' elements of another rank, as they come. */
static rlar_status put_from(rlar_ctx *ctx, writer *w, int from) {
    int64_t left = 0;
    RLAR_TRY(rlar__team_receive(ctx, from, &left, sizeof left));
    for (; left > 0; left -= PIECE) {
        RLAR_TRY(rlar__team_receive(ctx, from, w->piece, piece_of(left)));
        put(w, w->piece, piece_of(left));
    }
    return RLAR_OK;
}

static rlar_status put_array(rlar_ctx *ctx, const rlar_checkpoint *cp, const rlar_kept *kept,
                             writer *w) {
    const int64_t bytes = kept->samples ? kept->count * cp->n : kept->count;
    for (int64_t done = 0; done < bytes; done += PIECE)
        put(w, (const char *)kept->at + done, piece_of(bytes - done));
    for (int r = 1; r < rlar__team_ranks(ctx) && kept->samples; r++)
        RLAR_TRY(put_from(ctx, w, r));
    return RLAR_OK;
}

static rlar_status send_arrays(rlar_ctx *ctx, const rlar_checkpoint *cp, const rlar_kept *kept,
                               int count) {
    for (int i = 0; i < count; i++) {
        const int64_t bytes = kept[i].count * cp->n;
        if (!kept[i].samples)
            continue;
        RLAR_TRY(rlar__team_send(ctx, 0, &bytes, sizeof bytes));
        for (int64_t done = 0; done < bytes; done += PIECE)
            RLAR_TRY(
                rlar__team_send(ctx, 0, (const char *)kept[i].at + done, piece_of(bytes - done)));
    }
    return RLAR_OK;
}

static rlar_status write_file(rlar_ctx *ctx, const rlar_checkpoint *cp, int64_t t,
                              const rlar_kept *kept, int count, writer *w) {
    const head h = head_of(cp, t, all_bytes(cp, kept, count));
    w->status = rlar__file_create(ctx, cp->path, &w->file);
    put(w, &h, sizeof h);
    for (int i = 0; i < count; i++)
        RLAR_TRY(put_array(ctx, cp, &kept[i], w));
    const uint64_t crc = w->crc;
    put(w, &crc, sizeof crc);
    if (w->status >= 0) {
        w->status = rlar_file_commit(w->file);
        w->file = NULL;
    }
    return RLAR_OK;
}

rlar_status rlar__checkpoint_save(rlar_ctx *ctx, const rlar_checkpoint *cp, int64_t t,
                                  const rlar_kept *kept, int count) {
    writer w;
    if (!cp || t % cp->every != 0)
        return RLAR_OK;
    if (rlar__team_rank(ctx) > 0)
        return send_arrays(ctx, cp, kept, count);
    w.file = NULL;
    w.crc = 0;
    const rlar_status status = write_file(ctx, cp, t, kept, count, &w);
    if (w.file)
        rlar_file_abort(w.file);
    if (status < 0 || w.status >= 0 || w.status == RLAR_E_CANCELLED)
        return status < 0 ? status : w.status;
    rlar__log(ctx, RLAR_OK, "no checkpoint after iteration %lld: %s", (long long)t,
              rlar_ctx_error(ctx));
    return rlar__forgive(ctx);
}

/* ---- Load ---- */

static rlar_status cannot(rlar_ctx *ctx, const rlar_checkpoint *cp, const char *what) {
    return rlar__fail(ctx, RLAR_E_IO, "%s: cannot %s the checkpoint: %s", cp->path, what,
                      strerror(errno));
}

static rlar_status read_piece(rlar_ctx *ctx, const rlar_checkpoint *cp, int fd, void *bytes,
                              size_t size) {
    for (size_t done = 0; done < size;) {
        errno = ENODATA; /* of a file that is shorter than it was */
        const ssize_t got = read(fd, (char *)bytes + done, size - done);
        if (got == 0 || (got < 0 && errno != EINTR))
            return cannot(ctx, cp, "read");
        done += got > 0 ? (size_t)got : 0;
    }
    return rlar__poll(ctx);
}

static rlar_status refuse(rlar_ctx *ctx, const rlar_checkpoint *cp, const char *why) {
    return rlar__fail(ctx, RLAR_E_DATA, "%s: %s; name another file, or remove it to begin anew",
                      cp->path, why);
}

rlar_status rlar__checkpoint_refuse(rlar_ctx *ctx, const rlar_checkpoint *cp) {
    return refuse(ctx, cp, "the checkpoint is damaged");
}

/* The checksum, and back to the beginning of the arrays. */
static rlar_status check_file(rlar_ctx *ctx, const rlar_checkpoint *cp, int fd, const head *h,
                              char *piece) {
    uint64_t crc = rlar__crc64(0, h, sizeof *h), stored = 0;
    for (int64_t left = h->bytes; left > 0; left -= PIECE) {
        RLAR_TRY(read_piece(ctx, cp, fd, piece, piece_of(left)));
        crc = rlar__crc64(crc, piece, piece_of(left));
    }
    RLAR_TRY(read_piece(ctx, cp, fd, &stored, sizeof stored));
    if (stored != crc)
        return rlar__checkpoint_refuse(ctx, cp);
    if (lseek(fd, (off_t)sizeof *h, SEEK_SET) < 0)
        return cannot(ctx, cp, "read");
    return RLAR_OK;
}

static rlar_status open_file(rlar_ctx *ctx, const rlar_checkpoint *cp, int64_t bytes, int fd,
                             char *piece, int64_t *t) {
    struct stat info;
    const head wanted = head_of(cp, 0, bytes);
    head h;
    if (TEMP_FAILURE_RETRY(fstat(fd, &info)) != 0)
        return cannot(ctx, cp, "look at");
    if (!S_ISREG(info.st_mode) || info.st_size < (off_t)sizeof h)
        return refuse(ctx, cp, "not a checkpoint");
    RLAR_TRY(read_piece(ctx, cp, fd, &h, sizeof h));
    if (memcmp(h.name, wanted.name, sizeof h.name) != 0 || h.order != wanted.order)
        return refuse(ctx, cp, "not a checkpoint of this version and kind of machine");
    if (memcmp(h.key, wanted.key, sizeof h.key) != 0 || h.bytes != bytes || h.t < 1)
        return refuse(ctx, cp, "a checkpoint of another fit: other samples or settings");
    if (info.st_size != (off_t)(sizeof h + (size_t)bytes + sizeof(uint64_t)))
        return rlar__checkpoint_refuse(ctx, cp);
    *t = h.t;
    return check_file(ctx, cp, fd, &h, piece);
}

/* From the file to the ranks in their order; `from` and `n` of each are known to it alone. */
static rlar_status give_array(rlar_ctx *ctx, const rlar_checkpoint *cp, int fd, char *piece,
                              const rlar_kept *kept) {
    if (!kept->samples) {
        RLAR_TRY(read_piece(ctx, cp, fd, kept->at, (size_t)kept->count));
        return rlar__team_broadcast(ctx, 0, kept->at, (size_t)kept->count);
    }
    RLAR_TRY(read_piece(ctx, cp, fd, kept->at, (size_t)(kept->count * cp->n)));
    for (int r = 1; r < rlar__team_ranks(ctx); r++) {
        int64_t left = 0;
        RLAR_TRY(rlar__team_receive(ctx, r, &left, sizeof left));
        for (; left > 0; left -= PIECE) {
            RLAR_TRY(read_piece(ctx, cp, fd, piece, piece_of(left)));
            RLAR_TRY(rlar__team_send(ctx, r, piece, piece_of(left)));
        }
    }
    return RLAR_OK;
}

static rlar_status take_array(rlar_ctx *ctx, const rlar_checkpoint *cp, const rlar_kept *kept) {
    if (!kept->samples)
        return rlar__team_broadcast(ctx, 0, kept->at, (size_t)kept->count);
    const int64_t bytes = kept->count * cp->n;
    RLAR_TRY(rlar__team_send(ctx, 0, &bytes, sizeof bytes));
    for (int64_t done = 0; done < bytes; done += PIECE)
        RLAR_TRY(rlar__team_receive(ctx, 0, (char *)kept->at + done, piece_of(bytes - done)));
    return RLAR_OK;
}

/* On rank 0; fd -1: there is no file. */
static rlar_status load_here(rlar_ctx *ctx, const rlar_checkpoint *cp, int fd, rlar_kept *kept,
                             int count, int64_t *t) {
    char piece[PIECE];
    rlar_status status = RLAR_OK;
    if (fd >= 0)
        status = open_file(ctx, cp, all_bytes(cp, kept, count), fd, piece, t);
    if (status >= 0)
        status = rlar__team_broadcast(ctx, 0, t, sizeof *t);
    for (int i = 0; i<count && * t> 0 && status >= 0; i++)
        status = give_array(ctx, cp, fd, piece, &kept[i]);
    return status;
}

rlar_status rlar__checkpoint_load(rlar_ctx *ctx, const rlar_checkpoint *cp, rlar_kept *kept,
                                  int count, int64_t *t) {
    int fd = -1;
    *t = 0;
    if (!cp)
        return RLAR_OK;
    if (rlar__team_rank(ctx) > 0) {
        RLAR_TRY(rlar__team_broadcast(ctx, 0, t, sizeof *t));
        for (int i = 0; i<count && * t> 0; i++)
            RLAR_TRY(take_array(ctx, cp, &kept[i]));
        return RLAR_OK;
    }
    RLAR_TRY(rlar__open(ctx, cp->path, O_RDONLY, &fd));
    if (fd < 0 && errno != ENOENT)
        return cannot(ctx, cp, "open");
    const rlar_status status = load_here(ctx, cp, fd, kept, count, t);
    if (fd >= 0)
        close(fd);
    return status;
}
