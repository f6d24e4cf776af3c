/* fuzz_gzip.c - the layer of gzip under every reader. The first character chooses:
 *   0   the bytes are a gzip file: the source unpacks what zlib unpacks, in any pieces, or refuses
 *   1   the bytes are a table (of any format, guessed): packed in a few members, they are read as
 *       they are read unpacked, whole and in blocks
 * A second one: how the bytes are cut. */
#include "data/window.h"
#include "feeding.h"
#include "fuzz.h"

enum { ROOM = 1 << 18, MOST = 1 << 14 };

/* ---- Unpacking ---- */

/* zlib alone, member after member, zeros between them skipped; -1: damaged, -2: too much. */
static long unpack(const uint8_t *bytes, size_t size, uint8_t *out) {
    z_stream z = {0};
    FUZZ_CHECK(inflateInit2(&z, MAX_WBITS + 16) == Z_OK, "zlib does not start");
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)size;
    z.next_out = out;
    z.avail_out = ROOM;
    int code = Z_OK;
    while (code == Z_OK && z.avail_out > 0) {
        code = inflate(&z, Z_NO_FLUSH);
        while (code == Z_STREAM_END && z.avail_in > 0 && *z.next_in == 0) {
            z.next_in++;
            z.avail_in--;
        }
        if (code == Z_STREAM_END && z.avail_in > 0)
            code = inflateReset(&z);
    }
    const long unpacked = z.avail_out == 0       ? -2
                          : code == Z_STREAM_END ? ROOM - (long)z.avail_out
                                                 : -1;
    inflateEnd(&z);
    return unpacked;
}

/* What the source unpacks, up to ROOM bytes: in its own chunks (step 0) or `step` at a time. */
static rlar_status collect(const uint8_t *bytes, size_t size, size_t step, uint8_t *out,
                           size_t *total) {
    rlar_ctx *ctx = fuzz_ctx();
    rlar_source *source = NULL;
    const char *chunk;
    size_t got = 1;
    *total = 0;
    rlar__begin(ctx);
    RLAR_TRY(rlar__source_memory(ctx, bytes, size, "f", &source));
    rlar_status status = RLAR_OK;
    while (status >= 0 && got > 0 && *total < ROOM) {
        const size_t room = ROOM - *total;
        if (step > 0) {
            status = rlar__source_fill(source, (char *)out + *total, step < room ? step : room, 64,
                                       &got);
        } else {
            status = rlar__source_next(source, &chunk, &got);
            got = status < 0 ? 0 : got < room ? got : room;
            if (got > 0)
                memcpy(out + *total, chunk, got);
        }
        *total += got;
    }
    rlar__source_close(source);
    return status;
}

static void check_packed(const uint8_t *bytes, size_t size, size_t step) {
    static uint8_t want[ROOM], first[ROOM], second[ROOM];
    size_t total[2];
    const bool gzip = size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
    const rlar_status status = collect(bytes, size, 0, first, &total[0]);
    if (status < 0)
        fuzz_check_refusal(fuzz_ctx(), status);
    const rlar_status again = collect(bytes, size, step, second, &total[1]);
    const size_t both = total[0] < total[1] ? total[0] : total[1];
    FUZZ_CHECK(status == again && memcmp(first, second, both) == 0 &&
                   (status < 0 || total[0] == total[1]),
               "in pieces of %zu: status %d and %zu bytes instead of %d and %zu", step, (int)again,
               total[1], (int)status, total[0]);
    if (!gzip) {
        FUZZ_CHECK(status == RLAR_OK && total[0] == size && memcmp(first, bytes, size) == 0,
                   "plain bytes are changed");
        return;
    }
    const long length = unpack(bytes, size, want);
    if (length == -2)
        return;
    FUZZ_CHECK((length >= 0) == (status >= 0), "zlib unpacks %ld bytes, the source has status %d",
               length, (int)status);
    FUZZ_CHECK(status < 0 || (total[0] == (size_t)length && memcmp(first, want, total[0]) == 0),
               "the source unpacks other bytes than zlib");
}

/* ---- Reading through it ---- */

/* In members of `cut` bytes, at most eight of them. */
static size_t pack(const uint8_t *bytes, size_t size, size_t cut, uint8_t *out, size_t room) {
    size_t used = 0, at = 0;
    z_stream z = {0};
    FUZZ_CHECK(deflateInit2(&z, 1, Z_DEFLATED, 9 + 16, 1, Z_FIXED) == Z_OK, "deflate");
    for (int member = 0; member < 8 && (at < size || member == 0); member++) {
        const size_t count = size - at < cut || member == 7 ? size - at : cut;
        z.next_in = (Bytef *)(uintptr_t)(bytes + at);
        z.avail_in = (uInt)count;
        z.next_out = out + used;
        z.avail_out = (uInt)(room - used);
        FUZZ_CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END, "no room for a member");
        used = room - z.avail_out;
        at += count;
        FUZZ_CHECK(deflateReset(&z) == Z_OK, "deflate");
    }
    deflateEnd(&z);
    return used;
}

static rlar_status read_path(const char *path, rlar_data **out) {
    static const rlar_window_size small = {.piece = 64, .pieces = 4};
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    o.missing = RLAR_MISSING_KEEP;
    return rlar__data_read(fuzz_ctx(), path, &o, &small, out);
}

/* Rows of a stream, against the same data read whole; its classes stand in another order. */
static void check_stream(const char *path, int64_t most, const rlar_data *whole) {
    rlar_ctx *ctx = fuzz_ctx();
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    rlar_stream *stream = NULL;
    const rlar_data *block = NULL;
    int64_t at = 0;
    o.missing = RLAR_MISSING_KEEP;
    if (strcmp(whole->format, "libsvm") == 0)
        o.features = whole->view.d; /* which a sparse stream must be told */
    rlar_status status = rlar_stream_open(ctx, path, &o, &stream);
    while (status >= 0 && (status = rlar_stream_next(stream, most, &block)) >= 0 && block) {
        FUZZ_CHECK(block->view.n <= most && block->view.d == whole->view.d &&
                       at + block->view.n <= whole->view.n,
                   "a block of %lld x %lld at row %lld", (long long)block->view.n,
                   (long long)block->view.d, (long long)at);
        for (int64_t i = 0; i < block->view.n; i++, at++) {
            const double *x = (const double *)block->view.x + i * block->view.stride;
            const double *y = (const double *)whole->view.x + at * whole->view.d;
            for (int64_t j = 0; j < whole->view.d; j++)
                FUZZ_CHECK(memcmp(&x[j], &y[j], sizeof *x) == 0 || (x[j] != x[j] && y[j] != y[j]),
                           "row %lld of a block differs", (long long)at);
        }
    }
    FUZZ_CHECK(status == RLAR_E_NOMEM || status == RLAR_E_DATA || at == whole->view.n,
               "a stream of %lld rows instead of %lld: %s", (long long)at, (long long)whole->view.n,
               rlar_ctx_error(ctx));
    rlar_stream_free(stream);
}

/* The packed file against the data or the refusal of the plain one. */
static void check_whole(const char *path, rlar_status first, const rlar_data *plain) {
    rlar_data *data = NULL;
    const rlar_status status = read_path(path, &data);
    FUZZ_CHECK(first == status || first == RLAR_E_NOMEM || status == RLAR_E_NOMEM,
               "status %d, but packed %d (%s)", (int)first, (int)status,
               rlar_ctx_error(fuzz_ctx()));
    const char *what = first >= 0 && status >= 0 ? data_difference(plain, data) : NULL;
    FUZZ_CHECK(!what, "packed, %s differ", what);
    rlar_data_free(data);
}

/* Whole and as a stream take turns; what is refused is read whole. */
static void check_table(const uint8_t *bytes, size_t size, size_t cut) {
    static fuzz_file plain, packed;
    static uint8_t out[2 * MOST];
    const fuzz_bytes b = {bytes, size};
    rlar_data *data = NULL;
    if (size > MOST)
        return;
    fuzz_file_set(&plain, bytes, size);
    fuzz_file_set(&packed, out, pack(bytes, size, cut, out, sizeof out));
    const rlar_status status = read_path(plain.path, &data);
    if (status < 0 || fuzz_turn(&b, 2, 0))
        check_whole(packed.path, status, data);
    if (status >= 0 && fuzz_turn(&b, 2, 1))
        check_stream(packed.path, (int64_t)cut, data);
    rlar_data_free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const size_t cuts[] = {1, 5, 64, 1000};
    fuzz_bytes b = {bytes, size};
    const bool table = fuzz_choice(&b, 2) == 1;
    const size_t cut = cuts[fuzz_choice(&b, 4)];
    const bool gzip = b.left >= 2 && b.at[0] == 0x1f && b.at[1] == 0x8b;
    if (table && !gzip)
        check_table(b.at, b.left, cut);
    else
        check_packed(b.at, b.left, cut);
    /* A packed file is not kept; a table may be of any format. */
    fuzz_check_request(fuzz_ctx(), table ? fuzz_dense(size) : 0);
    return 0;
}
