/* zip.c - a ZIP container in memory: stored and deflated members, zip64, data descriptors.
 *
 * The central directory at the end is the truth: it has the sizes also where a member was written
 * as a stream (data descriptor). Every offset and size from the file is compared with the bytes
 * present before it is used. Not read: encryption, several disks, other compressions. A member may
 * not unpack to more than it declares, nor declare more than deflate can make of its bytes, so a
 * small file cannot ask for much memory. */
#include "data/zip.h"
#include "data/reader.h"
#include "data/zlib_memory.h"

#include <string.h>

enum {
    END_SIZE = 22,     /* end of central directory, without its comment */
    END64_SIZE = 56,   /* zip64 end of central directory */
    LOCATOR_SIZE = 20, /* zip64 locator, right before the end */
    CENTRAL_SIZE = 46,
    LOCAL_SIZE = 30,
    LONGEST_COMMENT = 65535,
    DEFLATE_RATIO = 1032, /* deflate's best: 258 bytes for 2 bits */
    DEFLATE_SLACK = 64
};

/* Every number of a ZIP is little-endian and unaligned. */
static uint64_t get(const char *bytes, int size) {
    uint64_t value = 0;
    for (int i = size; i-- > 0;)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

static rlar_status damaged(const rlar_zip *zip, const char *what) {
    return rlar__fail(
        zip->ctx, RLAR_E_DATA,
        "%s: not a sound ZIP container: %s; the file is truncated or damaged, save it "
        "again",
        zip->file, what);
}

/* ---- The end of the container ---- */

/* The end record is found by its comment, which must reach exactly to the last byte. */
static bool find_end(const rlar_zip *zip, size_t *out) {
    for (size_t comment = 0; comment <= LONGEST_COMMENT; comment++) {
        if (zip->size < END_SIZE + comment)
            return false;
        const char *end = zip->bytes + zip->size - END_SIZE - comment;
        if (memcmp(end, "PK\5\6", 4) == 0 && get(end + 20, 2) == comment) {
            *out = zip->size - END_SIZE - comment;
            return true;
        }
    }
    return false;
}

typedef struct directory {
    uint64_t count, size, offset;
    size_t limit; /* the directory ends before this record */
} directory;

/* The zip64 record holds what does not fit the old one. */
static rlar_status read_end64(const rlar_zip *zip, size_t end, directory *out) {
    const char *locator = zip->bytes + end - LOCATOR_SIZE;
    const uint64_t at = get(locator + 8, 8);
    if (at > end - LOCATOR_SIZE || end - LOCATOR_SIZE - at < END64_SIZE)
        return damaged(zip, "the zip64 end record lies outside the file");
    const char *record = zip->bytes + at;
    if (memcmp(record, "PK\6\6", 4) != 0)
        return damaged(zip, "the zip64 end record is missing");
    *out = (directory){.count = get(record + 32, 8),
                       .size = get(record + 40, 8),
                       .offset = get(record + 48, 8),
                       .limit = (size_t)at};
    return RLAR_OK;
}

/* The zip64 record is used wherever its locator stands, needed or not. Members, directory and end
 * record must follow each other without gaps: prefixed archives are not arrays. */
static rlar_status read_end(const rlar_zip *zip, directory *out) {
    size_t at;
    if (!find_end(zip, &at))
        return damaged(zip, "there is no end record");
    const char *end = zip->bytes + at;
    *out = (directory){.count = get(end + 10, 2),
                       .size = get(end + 12, 4),
                       .offset = get(end + 16, 4),
                       .limit = at};
    if (at >= LOCATOR_SIZE && memcmp(end - LOCATOR_SIZE, "PK\6\7", 4) == 0)
        RLAR_TRY(read_end64(zip, at, out));
    if (out->offset > out->limit || out->size != out->limit - out->offset)
        return damaged(zip, "the directory does not lie right before the end record");
    if (out->count > out->size / CENTRAL_SIZE)
        return damaged(zip, "the directory is too short for its members");
    return RLAR_OK;
}

/* ---- The directory ---- */

/* Replace a field that is all ones by the next 8 bytes of the zip64 extra field. */
static bool widen(uint64_t *field, const char **extra, size_t *size) {
    if (*field != UINT32_MAX)
        return true;
    if (*size < 8)
        return false;
    *field = get(*extra, 8);
    *extra += 8;
    *size -= 8;
    return true;
}

/* Extra fields are (id, size, bytes) triples; only zip64's, id 1, matters. */
static bool read_extra(rlar_zip_member *m, const char *extra, size_t size) {
    while (size >= 4) {
        const uint64_t id = get(extra, 2);
        size_t length = (size_t)get(extra + 2, 2);
        extra += 4;
        size -= 4;
        if (length > size)
            return false;
        if (id == 1) {
            const char *field = extra;
            return widen(&m->size, &field, &length) && widen(&m->packed, &field, &length) &&
                   widen(&m->local, &field, &length);
        }
        extra += length;
        size -= length;
    }
    return true;
}

/* The entry at *at; *at moves behind it. */
static rlar_status read_entry(const rlar_zip *zip, size_t *at, size_t end, rlar_zip_member *m) {
    const char *entry = zip->bytes + *at;
    if (end - *at < CENTRAL_SIZE || memcmp(entry, "PK\1\2", 4) != 0)
        return damaged(zip, "a directory entry is missing");
    const size_t name = (size_t)get(entry + 28, 2), extra = (size_t)get(entry + 30, 2);
    const size_t comment = (size_t)get(entry + 32, 2);
    if (end - *at - CENTRAL_SIZE < name + extra + comment)
        return damaged(zip, "a directory entry reaches beyond the directory");
    *m = (rlar_zip_member){.name = entry + CENTRAL_SIZE,
                           .name_length = name,
                           .flags = (unsigned)get(entry + 8, 2),
                           .method = (unsigned)get(entry + 10, 2),
                           .crc = (uint32_t)get(entry + 16, 4),
                           .packed = get(entry + 20, 4),
                           .size = get(entry + 24, 4),
                           .local = get(entry + 42, 4)};
    if (!read_extra(m, entry + CENTRAL_SIZE + name, extra))
        return damaged(zip, "an extra field is too short");
    *at += CENTRAL_SIZE + name + extra + comment;
    return RLAR_OK;
}

/* count was compared with the bytes of the directory, so the list is no larger than they justify.
 */
rlar_status rlar__zip_open(rlar_ctx *ctx, const char *file, const char *bytes, size_t size,
                           rlar_zip *out) {
    directory dir = {0};
    *out = (rlar_zip){.ctx = ctx, .file = file, .bytes = bytes, .size = size};
    RLAR_TRY(read_end(out, &dir));
    out->directory = (size_t)dir.offset;
    RLAR_TRY(rlar__alloc(ctx, (int64_t)dir.count, sizeof *out->member, "the directory of a ZIP",
                         &out->member));
    size_t at = (size_t)dir.offset;
    for (; out->count < (int64_t)dir.count; out->count++)
        RLAR_TRY(read_entry(out, &at, dir.limit, &out->member[out->count]));
    return at == dir.limit ? RLAR_OK : damaged(out, "the directory has bytes after its last entry");
}

void rlar__zip_close(rlar_zip *zip) {
    rlar__free(zip->member);
    *zip = (rlar_zip){0};
}

/* ---- One member ---- */

/* Where its bytes are, behind a local header that must name the same member. */
static rlar_status locate(const rlar_zip *zip, const rlar_zip_member *m, const char **out) {
    const uint64_t limit = zip->directory;
    if (m->local > limit || limit - m->local < LOCAL_SIZE)
        return damaged(zip, "a member lies outside the file");
    const char *local = zip->bytes + m->local;
    const uint64_t rest = limit - m->local - LOCAL_SIZE;
    const uint64_t name = get(local + 26, 2), extra = get(local + 28, 2);
    if (memcmp(local, "PK\3\4", 4) != 0 || name != m->name_length || name + extra > rest ||
        memcmp(local + LOCAL_SIZE, m->name, m->name_length) != 0)
        return damaged(zip, "a member's header does not match the directory");
    if (m->packed > rest - name - extra)
        return damaged(zip, "a member reaches beyond the place for members");
    *out = local + LOCAL_SIZE + name + extra;
    return RLAR_OK;
}

/* zlib counts in 32 bits, so both sides are fed in pieces. */
static int inflate_all(z_stream *z, const char *in, size_t in_size, char *out, size_t out_size) {
    const size_t piece = 1u << 30;
    int answer = Z_OK;
    z->next_in = (z_const Bytef *)(uintptr_t)in;
    z->next_out = (Bytef *)out;
    while (answer == Z_OK) {
        const size_t more_in = in_size < piece ? in_size : piece;
        const size_t more_out = out_size < piece ? out_size : piece;
        z->avail_in = (uInt)more_in;
        z->avail_out = (uInt)more_out;
        answer = inflate(z, Z_NO_FLUSH);
        in_size -= more_in - z->avail_in;
        out_size -= more_out - z->avail_out;
    }
    if (answer == Z_MEM_ERROR)
        return answer;
    return answer == Z_STREAM_END && in_size == 0 && out_size == 0 ? Z_OK : Z_DATA_ERROR;
}

/* The result must have exactly the declared size, and all packed bytes must be used up. */
static rlar_status unpack(const rlar_zip *zip, const rlar_zip_member *m, const char *packed,
                          char *out) {
    z_stream z = rlar__zlib_stream(zip->ctx);
    int answer = inflateInit2(&z, -MAX_WBITS); /* raw deflate, no zlib header */
    if (answer == Z_OK) {
        answer = inflate_all(&z, packed, (size_t)m->packed, out, (size_t)m->size);
        inflateEnd(&z);
    }
    if (answer == Z_MEM_ERROR)
        return RLAR_E_NOMEM; /* the allocator has left the text */
    if (answer != Z_OK)
        return damaged(zip, "a deflated member does not unpack to its declared size");
    return RLAR_OK;
}

/* What must hold before memory is taken for the member. */
static rlar_status check_member(const rlar_zip *zip, const rlar_zip_member *m) {
    char name[RLAR_TOKEN_SIZE];
    rlar__token(m->name, m->name_length, name);
    if (m->flags & 1)
        return rlar__fail(zip->ctx, RLAR_E_UNSUPPORTED,
                          "%s: member %s is encrypted; save it without a password", zip->file,
                          name);
    if (m->method != 0 && m->method != 8)
        return rlar__fail(
            zip->ctx, RLAR_E_UNSUPPORTED,
            "%s: member %s has compression method %u; stored (0) and deflated (8) are "
            "read; save it with numpy.savez",
            zip->file, name, m->method);
    if (m->method == 0 ? m->size != m->packed : m->size > DEFLATE_RATIO * m->packed + DEFLATE_SLACK)
        return damaged(zip, "a member declares more bytes than its packed ones can hold");
    return RLAR_OK;
}

rlar_status rlar__zip_extract(const rlar_zip *zip, const rlar_zip_member *member,
                              const char **bytes, void **owned) {
    const char *packed = NULL;
    char *unpacked = NULL;
    *owned = NULL;
    RLAR_TRY(
        locate(zip, member, &packed)); /* first: it bounds `packed`, so check_member cannot wrap */
    RLAR_TRY(check_member(zip, member));
    rlar_status status = RLAR_OK;
    if (member->method == 8) {
        RLAR_TRY(
            rlar__alloc(zip->ctx, (int64_t)member->size + 1, 1, "a member of a ZIP", &unpacked));
        status = unpack(zip, member, packed, unpacked);
        packed = unpacked;
    }
    if (status >= 0 &&
        crc32_z(crc32_z(0, NULL, 0), (const Bytef *)packed, (size_t)member->size) != member->crc)
        status = damaged(zip, "the checksum of a member is wrong");
    if (status < 0) {
        rlar__free(unpacked);
        return status;
    }
    *bytes = packed;
    *owned = unpacked;
    return RLAR_OK;
}
