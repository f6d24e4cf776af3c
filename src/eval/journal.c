/* journal.c - finished fits in a file: a head, then records that are only ever added.
 *
 * A record is written by one call, so a process that is killed leaves a whole record or a broken
 * end; the checksum tells. The broken end is cut off. Damage before whole records (a bad disk, an
 * editor) is left where it is and passed over: finished fits are never cut off. Numbers are as this
 * machine has them: a journal is for going on, not for passing on, and the head tells when it comes
 * from a machine of another kind. */
#include "eval/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sanitize.h"

typedef struct head {
    char name[16];
    uint64_t order; /* of the bytes in a number */
} head;

static const head HEAD = {"rlar journal 1", UINT64_C(0x0102030405060708)};

typedef struct record {
    uint64_t check; /* of all that follows */
    rlar_key key;
    double seconds[2], accuracy;
    int64_t failed;  /* 1: the text of the failure follows, 0: the mistakes */
    int64_t entries; /* bytes of the text, or mistakes */
} record;

/* Where a record stands. */
typedef struct place {
    rlar_key key;
    int64_t offset; /* 0: an empty place of the table */
    int64_t size;
} place;

struct rlar_journal {
    pthread_mutex_t lock; /* guards all below */
    char *path;
    int fd;
    int64_t end;  /* of the file */
    place *table; /* open addressing; room is a power of 2 */
    int64_t room, count;
};

/* ---- Keys ---- */

/* Two lanes of multiply and shift over words of eight bytes. */
static uint64_t mix(uint64_t hash, uint64_t word, uint64_t factor) {
    hash = (hash ^ word) * factor;
    return hash ^ (hash >> 29);
}

rlar_key rlar__key_add(rlar_key key, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    const uint64_t length = size;
    for (size_t i = 0; i <= size; i += 8) { /* the last word holds the length */
        uint64_t word = length;
        if (i + 8 <= size)
            memcpy(&word, at + i, 8);
        else
            for (size_t k = i; k < size; k++)
                word = (word << 8) ^ at[k];
        key.word[0] = mix(key.word[0], word, UINT64_C(0x9e3779b97f4a7c15));
        key.word[1] = mix(key.word[1] + 1, word, UINT64_C(0xd6e8feb86659fd93));
    }
    return key;
}

rlar_key rlar__key_add_text(rlar_key key, const char *text) {
    return rlar__key_add(key, text, strlen(text));
}

rlar_status rlar__key_of_data(rlar_ctx *ctx, const rlar_data *data, const rlar_labels *labels,
                              rlar_key *out) {
    rlar_key key = rlar__key_add_text((rlar_key){{0}}, rlar_version());
    double *row = NULL;
    RLAR_TRY(rlar__alloc(ctx, labels->d, sizeof *row, "a sample", &row));
    key = rlar__key_add(key, labels->label, (size_t)labels->n * sizeof *labels->label);
    rlar_status status = RLAR_OK;
    for (int64_t i = 0; i < labels->n && status >= 0; i++) {
        rlar_data_row(data, i, row);
        key = rlar__key_add(key, row, (size_t)labels->d * sizeof *row);
        status = rlar__poll(ctx);
    }
    rlar__free(row);
    *out = key;
    return status;
}

rlar_key rlar__key_add_part(rlar_key key, const rlar_part *part) {
    key = rlar__key_add(key, part->train, (size_t)part->n_train * sizeof *part->train);
    return rlar__key_add(key, part->test, (size_t)part->n_test * sizeof *part->test);
}

rlar_status rlar__key_add_params(rlar_ctx *ctx, const rlar_params *params, rlar_key *key) {
    const rlar_method_def *def = rlar_params_method(params);
    char text[RLAR_NUMBER_SIZE * 2];
    *key = rlar__key_add_text(*key, def->name);
    for (const rlar_param_def *p = def->params; p->name; p++) {
        if (rlar_params_text(params, p->name, text, sizeof text) < 0)
            return rlar__fail(ctx, RLAR_E_INTERNAL, "%s: no text for %s", def->name, p->name);
        *key = rlar__key_add_text(rlar__key_add_text(*key, p->name), text);
    }
    return RLAR_OK;
}

/* ---- The table of places ---- */

static bool same(rlar_key a, rlar_key b) {
    return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

/* The place of the key, or the empty one where it would stand. */
static place *place_of(const rlar_journal *j, rlar_key key) {
    uint64_t at = key.word[0] & (uint64_t)(j->room - 1);
    while (j->table[at].offset != 0 && !same(j->table[at].key, key))
        at = (at + 1) & (uint64_t)(j->room - 1);
    return &j->table[at];
}

static rlar_status table_grow(rlar_ctx *ctx, rlar_journal *j) {
    enum { FIRST_ROOM = 1024 };
    if (j->room > 0 && j->count < j->room / 2)
        return RLAR_OK;
    rlar_journal larger = *j;
    larger.room = j->room > 0 ? 2 * j->room : FIRST_ROOM;
    RLAR_TRY(rlar__calloc(ctx, larger.room, sizeof *larger.table, "the journal", &larger.table));
    for (int64_t i = 0; i < j->room; i++)
        if (j->table[i].offset != 0)
            *place_of(&larger, j->table[i].key) = j->table[i];
    rlar__free(j->table);
    j->table = larger.table;
    j->room = larger.room;
    return RLAR_OK;
}

static rlar_status table_add(rlar_ctx *ctx, rlar_journal *j, place where) {
    RLAR_TRY(table_grow(ctx, j));
    place *at = place_of(j, where.key);
    j->count += at->offset == 0;
    *at = where;
    return RLAR_OK;
}

/* ---- Records ---- */

static rlar_status io_error(rlar_ctx *ctx, const rlar_journal *j, const char *what) {
    return rlar__fail(ctx, RLAR_E_IO, "%s: cannot %s the journal: %s", j->path, what,
                      strerror(errno));
}

static size_t entry_size(const record *r) {
    return r->failed ? 1 : sizeof(rlar_mistake);
}

static uint64_t check_of(const unsigned char *bytes, size_t size) {
    return rlar__crc64(0, bytes + sizeof(uint64_t), size - sizeof(uint64_t));
}

/* How long the record is that begins so; 0: it is none, or longer than what is left. */
static size_t record_size(const record *r, int64_t left) {
    if ((r->failed != 0 && r->failed != 1) || r->entries < 0 || left < (int64_t)sizeof *r ||
        r->entries > (left - (int64_t)sizeof *r) / (int64_t)entry_size(r))
        return 0;
    return sizeof *r + (size_t)r->entries * entry_size(r);
}

/* pread that goes on after an interruption. A file that is shorter than it was is an error, too. */
static rlar_status read_at(rlar_ctx *ctx, const rlar_journal *j, void *bytes, size_t size,
                           int64_t offset) {
    for (size_t done = 0; done < size;) {
        errno = ENODATA;
        const ssize_t got =
            pread(j->fd, (char *)bytes + done, size - done, (off_t)(offset + (int64_t)done));
        if (got == 0 || (got < 0 && errno != EINTR))
            return io_error(ctx, j, "read");
        done += got > 0 ? (size_t)got : 0;
    }
    return RLAR_OK;
}

static rlar_status write_at(rlar_ctx *ctx, const rlar_journal *j, const void *bytes, size_t size,
                            int64_t offset) {
    for (size_t done = 0; done < size;) {
        const ssize_t put =
            pwrite(j->fd, (const char *)bytes + done, size - done, (off_t)(offset + (int64_t)done));
        if (put == 0 || (put < 0 && errno != EINTR))
            return io_error(ctx, j, "write");
        done += put > 0 ? (size_t)put : 0;
    }
    return RLAR_OK;
}

static rlar_status cut_at(rlar_ctx *ctx, const rlar_journal *j, int64_t end) {
    return TEMP_FAILURE_RETRY(ftruncate(j->fd, (off_t)end)) == 0 ? RLAR_OK
                                                                 : io_error(ctx, j, "shorten");
}

/* ---- Open and close ---- */

/* The length of the whole record at `at`, which begins with *r; 0: there is none. */
static rlar_status whole_at(rlar_ctx *ctx, const rlar_journal *j, int64_t at, int64_t file_size,
                            record *r, size_t *size) {
    unsigned char *bytes = NULL;
    *size = 0;
    if (file_size - at < (int64_t)sizeof *r)
        return RLAR_OK;
    RLAR_TRY(read_at(ctx, j, r, sizeof *r, at));
    const size_t length = record_size(r, file_size - at);
    if (length == 0)
        return RLAR_OK;
    RLAR_TRY(rlar__alloc(ctx, (int64_t)length, 1, "a record of the journal", &bytes));
    const rlar_status status = read_at(ctx, j, bytes, length, at);
    if (status >= 0 && check_of(bytes, length) == r->check)
        *size = length;
    rlar__free(bytes);
    return status;
}

/* The record at the end of what is known, into the table; *size 0: there is no whole one. */
static rlar_status load_record(rlar_ctx *ctx, rlar_journal *j, int64_t file_size, size_t *size) {
    record r;
    RLAR_TRY(whole_at(ctx, j, j->end, file_size, &r, size));
    if (*size == 0)
        return RLAR_OK;
    return table_add(ctx, j, (place){.key = r.key, .offset = j->end, .size = (int64_t)*size});
}

/* A search for whole records among bytes that are none. */
typedef struct search {
    unsigned char piece[RLAR_BUFFER(1 << 15)];
    int64_t at; /* of the piece in the file */
    size_t size;
    int64_t work; /* bytes whose checksum was taken */
} search;

/* Is there a whole record at piece[i]? Most are within the piece. Bytes that look like the
 * beginning of long records at every place would take for ever. */
static rlar_status look_at(rlar_ctx *ctx, const rlar_journal *j, int64_t file_size, search *s,
                           size_t i, bool *found) {
    const int64_t most_work = INT64_C(1) << 28, at = s->at + (int64_t)i;
    record r;
    memcpy(&r, s->piece + i, sizeof r);
    size_t length = record_size(&r, file_size - at);
    *found = false;
    if (length == 0)
        return RLAR_OK;
    s->work += (int64_t)length;
    if (s->work > most_work)
        return rlar__fail(ctx, RLAR_E_DATA,
                          "%s: the journal is damaged at byte %lld or before, and what follows "
                          "cannot be told; name another file, or remove it to begin anew",
                          j->path, (long long)at);
    if (length > s->size - i)
        RLAR_TRY(whole_at(ctx, j, at, file_size, &r, &length));
    else if (check_of(s->piece + i, length) != r.check)
        length = 0;
    *found = length > 0;
    return RLAR_OK;
}

/* Where the next whole record begins, from `at` on; the end of the file: nowhere. */
static rlar_status next_record(rlar_ctx *ctx, const rlar_journal *j, int64_t at, int64_t file_size,
                               int64_t *next) {
    search s = {.at = at};
    bool found = false;
    *next = file_size;
    for (size_t i = 0; file_size - s.at >= (int64_t)sizeof(record); s.at += (int64_t)i) {
        s.size = (size_t)rlar__min64((int64_t)sizeof s.piece, file_size - s.at);
        RLAR_TRY(read_at(ctx, j, s.piece, s.size, s.at));
        for (i = 0; i + sizeof(record) <= s.size; i++) {
            RLAR_TRY(look_at(ctx, j, file_size, &s, i, &found));
            if (found) {
                *next = s.at + (int64_t)i;
                return RLAR_OK;
            }
        }
        RLAR_TRY(rlar__poll(ctx));
    }
    return RLAR_OK;
}

/* Behind what is known there is no whole record: go on with the next one, or the file ends here. */
static rlar_status pass_damage(rlar_ctx *ctx, rlar_journal *j, int64_t *file_size) {
    int64_t next;
    RLAR_TRY(next_record(ctx, j, j->end + 1, *file_size, &next));
    if (next < *file_size) {
        rlar__log(ctx, RLAR_OK,
                  "%s: %lld bytes from byte %lld on are damaged; their fits are made again, those "
                  "behind them are kept",
                  j->path, (long long)(next - j->end), (long long)j->end);
        j->end = next;
        return RLAR_OK;
    }
    rlar__log(ctx, RLAR_OK, "%s: %lld bytes at the end, which are no whole record, are cut off",
              j->path, (long long)(*file_size - j->end));
    *file_size = j->end;
    return cut_at(ctx, j, j->end);
}

/* An empty file, or one whose head was cut off while it was written, begins anew. */
static rlar_status write_head(rlar_ctx *ctx, rlar_journal *j) {
    const rlar_status status = write_at(ctx, j, &HEAD, sizeof HEAD, 0);
    j->end = (int64_t)sizeof HEAD;
    return status;
}

static rlar_status load(rlar_ctx *ctx, rlar_journal *j, int64_t file_size) {
    head found;
    size_t size = 0;
    const size_t there = file_size < (int64_t)sizeof found ? (size_t)file_size : sizeof found;
    RLAR_TRY(read_at(ctx, j, &found, there, 0));
    if (memcmp(&found, &HEAD, there) == 0 && there < sizeof found)
        return write_head(ctx, j);
    if (memcmp(&found, &HEAD, there) != 0)
        return rlar__fail(ctx, RLAR_E_DATA,
                          "%s: not a journal of this version and kind of machine; name another "
                          "file, or remove it to begin anew",
                          j->path);
    j->end = (int64_t)sizeof found;
    while (j->end < file_size) {
        RLAR_TRY(load_record(ctx, j, file_size, &size));
        if (size == 0)
            RLAR_TRY(pass_damage(ctx, j, &file_size));
        j->end += (int64_t)size;
        RLAR_TRY(rlar__poll(ctx));
    }
    return RLAR_OK;
}

static rlar_status open_file(rlar_ctx *ctx, rlar_journal *j) {
    struct stat info;
    RLAR_TRY(rlar__open(ctx, j->path, O_RDWR | O_CREAT, &j->fd));
    if (j->fd < 0)
        return io_error(ctx, j, "open");
    const bool locked = TEMP_FAILURE_RETRY(flock(j->fd, LOCK_EX | LOCK_NB)) == 0;
    if (!locked && errno != EWOULDBLOCK)
        return io_error(ctx, j, "lock");
    if (!locked)
        return rlar__fail(ctx, RLAR_E_IO,
                          "%s: another process is using the journal; wait for it or name another "
                          "file",
                          j->path);
    if (TEMP_FAILURE_RETRY(fstat(j->fd, &info)) != 0)
        return io_error(ctx, j, "look at");
    if (!S_ISREG(info.st_mode))
        return rlar__fail(ctx, RLAR_E_IO, "%s: a journal must be a file", j->path);
    return load(ctx, j, info.st_size);
}

rlar_status rlar__journal_open(rlar_ctx *ctx, const char *path, rlar_journal **out) {
    rlar_journal *j = NULL;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *j, "the journal", &j));
    j->fd = -1;
    pthread_mutex_init(&j->lock, NULL);
    rlar_status status = rlar__strdup(ctx, path, &j->path);
    if (status >= 0)
        status = table_grow(ctx, j);
    if (status >= 0)
        status = open_file(ctx, j);
    if (status < 0)
        rlar__journal_close(j);
    else
        *out = j;
    return status;
}

void rlar__journal_close(rlar_journal *journal) {
    if (!journal)
        return;
    if (journal->fd >= 0)
        close(journal->fd);
    pthread_mutex_destroy(&journal->lock);
    rlar__free(journal->table);
    rlar__free(journal->path);
    rlar__free(journal);
}

/* ---- Find and add ---- */

static place look_up(rlar_journal *j, rlar_key key) {
    pthread_mutex_lock(&j->lock);
    const place found = *place_of(j, key);
    pthread_mutex_unlock(&j->lock);
    return found;
}

/* The parts of a record into an outcome. Classes out of range cannot be, but would be read beyond
 * the counts. */
static rlar_status outcome_of(rlar_ctx *ctx, const rlar_journal *j, const record *r,
                              int64_t classes, const unsigned char *entries, rlar_outcome *out) {
    if (r->failed) {
        RLAR_TRY(rlar__alloc(ctx, r->entries + 1, 1, "the text", &out->failure));
        memcpy(out->failure, entries, (size_t)r->entries);
        out->failure[r->entries] = '\0';
    } else {
        RLAR_TRY(rlar__alloc(ctx, r->entries, sizeof *out->wrong, "the mistakes", &out->wrong));
        if (r->entries > 0)
            memcpy(out->wrong, entries, (size_t)r->entries * sizeof *out->wrong);
        out->n_wrong = r->entries;
    }
    for (int64_t i = 0; i < out->n_wrong; i++)
        if (out->wrong[i].truth < 0 || out->wrong[i].truth >= classes ||
            out->wrong[i].predicted < 0 || out->wrong[i].predicted >= classes)
            return rlar__fail(ctx, RLAR_E_DATA,
                              "%s: a record of the journal has class %d of %lld; remove the file",
                              j->path, (int)out->wrong[i].predicted, (long long)classes);
    out->accuracy = r->accuracy;
    memcpy(out->seconds, r->seconds, sizeof out->seconds);
    out->done = out->kept = true;
    return RLAR_OK;
}

rlar_status rlar__journal_find(rlar_ctx *ctx, rlar_journal *journal, rlar_key key, int64_t classes,
                               rlar_outcome *out) {
    const place at = look_up(journal, key);
    unsigned char *bytes = NULL;
    record r;
    if (at.offset == 0)
        return RLAR_OK;
    RLAR_TRY(rlar__alloc(ctx, at.size, 1, "a record of the journal", &bytes));
    rlar_status status = read_at(ctx, journal, bytes, (size_t)at.size, at.offset);
    if (status >= 0) {
        memcpy(&r, bytes, sizeof r);
        if (record_size(&r, at.size) != (size_t)at.size)
            status = rlar__fail(ctx, RLAR_E_DATA, "%s: the journal was changed while in use",
                                journal->path);
    }
    if (status >= 0)
        status = outcome_of(ctx, journal, &r, classes, bytes + sizeof r, out);
    if (status < 0)
        rlar__outcome_clear(out);
    rlar__free(bytes);
    return status;
}

static rlar_status append(rlar_ctx *ctx, rlar_journal *j, const void *bytes, size_t size,
                          rlar_key key) {
    if (place_of(j, key)->offset != 0)
        return RLAR_OK;
    RLAR_TRY(write_at(ctx, j, bytes, size, j->end));
    const place where = {.key = key, .offset = j->end, .size = (int64_t)size};
    j->end += (int64_t)size;
    return table_add(ctx, j, where);
}

rlar_status rlar__journal_add(rlar_ctx *ctx, rlar_journal *journal, rlar_key key,
                              const rlar_outcome *outcome) {
    const bool failed = outcome->failure != NULL;
    record r = {.key = key,
                .seconds = {outcome->seconds[0], outcome->seconds[1]},
                .accuracy = outcome->accuracy,
                .failed = failed,
                .entries = failed ? (int64_t)strlen(outcome->failure) : outcome->n_wrong};
    const size_t entries = (size_t)r.entries * entry_size(&r), size = sizeof r + entries;
    unsigned char *bytes = NULL;
    RLAR_TRY(rlar__alloc(ctx, (int64_t)size, 1, "a record of the journal", &bytes));
    memcpy(bytes, &r, sizeof r);
    if (entries > 0)
        memcpy(bytes + sizeof r, failed ? (const void *)outcome->failure : outcome->wrong, entries);
    r.check = check_of(bytes, size);
    memcpy(bytes, &r.check, sizeof r.check);
    pthread_mutex_lock(&journal->lock);
    const rlar_status status = append(ctx, journal, bytes, size, key);
    pthread_mutex_unlock(&journal->lock);
    rlar__free(bytes);
    return status;
}
