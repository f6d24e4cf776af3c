/* crc64.c - the checksum of files.
 *
 * CRC-64/XZ (reflected polynomial 0xC96C5795D7870F42, all ones before and after): unlike a hash it
 * promises that every burst of up to 64 damaged bits is found. */
#include "core/core.h"
#include "core/sanitize.h"

enum { SLICES = 8, FEW = 256 };

/* The effect of four bits: of n, four times (n >> 1) ^ (the polynomial where the lowest bit is
 * set). */
static const uint64_t four_bits[16] = {
    UINT64_C(0x0000000000000000), UINT64_C(0x7D9BA13851336649), UINT64_C(0xFB374270A266CC92),
    UINT64_C(0x86ACE348F355AADB), UINT64_C(0x64B62BCAEBC387A1), UINT64_C(0x192D8AF2BAF0E1E8),
    UINT64_C(0x9F8169BA49A54B33), UINT64_C(0xE21AC88218962D7A), UINT64_C(0xC96C5795D7870F42),
    UINT64_C(0xB4F7F6AD86B4690B), UINT64_C(0x325B15E575E1C3D0), UINT64_C(0x4FC0B4DD24D2A599),
    UINT64_C(0xADDA7C5F3C4488E3), UINT64_C(0xD041DD676D77EEAA), UINT64_C(0x56ED3E2F9E224471),
    UINT64_C(0x2B769F17CF112238),
};

/* The effect of one byte. */
RLAR_UNSTEERED static uint64_t take_byte(uint64_t crc) {
    crc = (crc >> 4) ^ four_bits[crc & 15];
    return (crc >> 4) ^ four_bits[crc & 15];
}

/* table[0] is the usual byte table; table[k][b] is the effect of byte b followed by k zero bytes.
 * Made at each call: 4000 steps are nothing against a file, and the library keeps no globals. */
RLAR_UNSTEERED static void make_tables(uint64_t table[SLICES][256]) {
    for (unsigned b = 0; b < 256; b++)
        table[0][b] = take_byte(b);
    for (int k = 1; k < SLICES; k++)
        for (unsigned b = 0; b < 256; b++)
            table[k][b] = (table[k - 1][b] >> 8) ^ table[0][table[k - 1][b] & 255];
}

/* Eight bytes, lowest first, wherever they lie. */
RLAR_UNSTEERED static uint64_t load_u64(const unsigned char *p) {
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--)
        v = (v << 8) | p[i];
    return v;
}

/* Eight bytes a step: one table per byte makes the look-ups independent of each other. */
RLAR_UNSTEERED static uint64_t take_many(uint64_t crc, const unsigned char *p, size_t size) {
    uint64_t table[SLICES][256];
    make_tables(table);
    for (; size >= SLICES; size -= SLICES, p += SLICES) {
        const uint64_t x = crc ^ load_u64(p);
        crc = 0;
        for (int k = 0; k < SLICES; k++)
            crc ^= table[SLICES - 1 - k][(x >> (8 * k)) & 255];
    }
    for (; size > 0; size--, p++)
        crc = (crc >> 8) ^ table[0][(crc ^ *p) & 255];
    return crc;
}

/* A journal has many records of few bytes, for which tables would be too much. */
RLAR_UNSTEERED uint64_t rlar__crc64(uint64_t crc, const void *bytes, size_t size) {
    const unsigned char *p = bytes;
    crc = ~crc;
    if (size > FEW)
        return ~take_many(crc, p, size);
    for (size_t i = 0; i < size; i++)
        crc = take_byte(crc ^ p[i]);
    return ~crc;
}
