/* fuzz_npz.c - NPZ files: see readers.h, and arrays.h for the values. Behind the four characters of
 * the options a fifth, 1, asks for right checksums of the stored members, so that changed arrays
 * are looked at at all; what is accepted with them must be refused with wrong ones. */
#include "arrays.h"
#include "data/zip.h"

enum { END = 22, CENTRAL = 46, LOCAL = 30, LOCATOR = 20 };

static size_t get(const uint8_t *at, int size) {
    size_t value = 0;
    for (int i = size; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

/* The member that the directory has at `entry`, if it is stored and lies within the bytes. */
static void fix_member(uint8_t *bytes, size_t size, uint8_t *entry) {
    const size_t local = get(entry + 42, 4), length = get(entry + 20, 4);
    if (get(entry + 10, 2) != 0 || local > size || size - local < LOCAL)
        return;
    const size_t head = LOCAL + get(bytes + local + 26, 2) + get(bytes + local + 28, 2);
    if (head > size - local || length > size - local - head)
        return;
    uint32_t crc = (uint32_t)crc32(0, bytes + local + head, (uInt)length);
    for (int i = 0; i < 4; i++, crc >>= 8)
        entry[16 + i] = (uint8_t)crc;
}

/* Its checksum becomes wrong. */
static void spoil_member(uint8_t *bytes, size_t size, uint8_t *entry) {
    (void)bytes;
    (void)size;
    entry[16] ^= 1;
}

/* Walk through the directory of a container without a comment. */
static void each_member(uint8_t *bytes, size_t size,
                        void (*change)(uint8_t *bytes, size_t size, uint8_t *entry)) {
    if (size < END)
        return;
    size_t at = get(bytes + size - END + 16, 4);
    while (at < size && size - at >= CENTRAL && memcmp(bytes + at, "PK\1\2", 4) == 0) {
        change(bytes, size, bytes + at);
        at += CENTRAL + get(bytes + at + 28, 2) + get(bytes + at + 30, 2) + get(bytes + at + 32, 2);
    }
}

/* An end record without a comment and without zip64: the reader's directory is the one above. */
static bool ends_plainly(const uint8_t *bytes, size_t size) {
    const uint8_t *end = bytes + size - END;
    return memcmp(end, "PK\5\6", 4) == 0 && get(end + 20, 2) == 0 &&
           memcmp(end - LOCATOR, "PK\6\7", 4) != 0;
}

/* A container that was accepted is refused with wrong checksums. */
static void check_spoilt(const reader_choices *c, uint8_t *bytes, size_t size) {
    rlar_ctx *ctx = fuzz_ctx();
    rlar_data *data = NULL;
    if (!ends_plainly(bytes, size))
        return;
    each_member(bytes, size, spoil_member);
    rlar__begin(ctx);
    const rlar_status status =
        feed(ctx, &rlar__format_npz, (const char *)bytes, size, size + 1, &c->options, &data);
    FUZZ_CHECK(status < 0, "accepted with wrong checksums");
    fuzz_check_memory(ctx);
}

/* The member that the samples are. */
static const rlar_zip_member *find_samples(const rlar_zip *zip) {
    static const char *const names[] = {"X.npy", "x.npy", "data.npy", "fea.npy", "arr_0.npy"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int64_t i = 0; i < zip->count; i++)
            if (zip->member[i].name_length == strlen(names[k]) &&
                memcmp(zip->member[i].name, names[k], strlen(names[k])) == 0)
                return &zip->member[i];
    return NULL;
}

static void check_values(const reader_choices *c, const fuzz_bytes *b, const rlar_data *data) {
    rlar_zip zip = {0};
    rlar_npy npy;
    const char *bytes = NULL, *values = NULL;
    void *owned = NULL;
    rlar_status status = rlar__zip_open(fuzz_ctx(), "f", (const char *)b->at, b->left, &zip);
    const rlar_zip_member *samples = status >= 0 ? find_samples(&zip) : NULL;
    FUZZ_CHECK(samples, "no samples");
    status = rlar__zip_extract(&zip, samples, &bytes, &owned);
    if (status >= 0)
        status = rlar__npy_open(fuzz_ctx(), "f", bytes, (size_t)samples->size, &npy, &values);
    FUZZ_CHECK(status >= 0 || status == RLAR_E_NOMEM, "by themselves: %s",
               rlar_ctx_error(fuzz_ctx()));
    if (status >= 0)
        array_check(c, &npy, values, data);
    rlar__free(owned);
    rlar__zip_close(&zip);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_bytes b = {bytes, size};
    const reader_choices c = reader_choose(&b);
    const bool fix = fuzz_choice(&b, 2) == 1;
    uint8_t *copy = fuzz_alloc(b.left);
    memcpy(copy, b.at, b.left);
    if (fix)
        each_member(copy, b.left, fix_member);
    const fuzz_bytes fixed = {copy, b.left};
    const rlar_status status = reader_check(&rlar__format_npz, &c, &fixed, check_values);
    if (fix && status >= 0 && fuzz_turn(&fixed, 3, 0))
        check_spoilt(&c, copy, b.left);
    free(copy);
    return 0;
}
