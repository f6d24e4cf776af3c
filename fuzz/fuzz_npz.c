/* fuzz_npz.c - NPZ files: see readers.h. Behind the four characters of the options a fifth, 1, asks
 * for right checksums of the stored members, so that changed arrays are looked at at all. */
#include "readers.h"

enum { END = 22, CENTRAL = 46, LOCAL = 30 };

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

/* Walk through the directory of a container without a comment. */
static void fix_checksums(uint8_t *bytes, size_t size) {
    if (size < END)
        return;
    size_t at = get(bytes + size - END + 16, 4);
    while (at < size && size - at >= CENTRAL && memcmp(bytes + at, "PK\1\2", 4) == 0) {
        fix_member(bytes, size, bytes + at);
        at += CENTRAL + get(bytes + at + 28, 2) + get(bytes + at + 30, 2) + get(bytes + at + 32, 2);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_bytes b = {bytes, size};
    const reader_choices c = reader_choose(&b);
    const bool fix = fuzz_choice(&b, 2) == 1;
    uint8_t *copy = fuzz_alloc(b.left);
    memcpy(copy, b.at, b.left);
    if (fix)
        fix_checksums(copy, b.left);
    reader_check(&rlar__format_npz, &c, &(fuzz_bytes){copy, b.left});
    free(copy);
    return 0;
}
