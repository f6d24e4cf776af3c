/* checksum.c - the checksum of a model file.
 *
 * It covers the whole file with its own sixteen digits read as '0', so nothing in the file is
 * unprotected. It guards against accidents, not against people: whoever changes a file can also
 * change its checksum. */
#include "model/model_file.h"

#include <string.h>

uint64_t rlar__model_checksum(const unsigned char *bytes, size_t size, size_t digits) {
    char zeros[RLAR_CHECKSUM_DIGITS];
    memset(zeros, '0', sizeof zeros);
    uint64_t crc = rlar__crc64(0, bytes, digits);
    crc = rlar__crc64(crc, zeros, sizeof zeros);
    return rlar__crc64(crc, bytes + digits + sizeof zeros, size - digits - sizeof zeros);
}

/* A model may have a class of any name, so the search must not be fooled by text: inside a JSON
 * string a quote is always escaped, and the key has two bare ones in a row around the colon. */
size_t rlar__checksum_find(const unsigned char *text, size_t size) {
    const char *const lead = RLAR_CHECKSUM_KEY RLAR_CHECKSUM_NAME;
    const size_t length = strlen(lead);
    const unsigned char *at = memmem(text, size, lead, length);
    if (at == NULL)
        return 0;
    const size_t digits = (size_t)(at - text) + length;
    return size - digits >= RLAR_CHECKSUM_DIGITS ? digits : 0;
}

void rlar__checksum_print(uint64_t crc, char digits[RLAR_CHECKSUM_DIGITS]) {
    for (int i = RLAR_CHECKSUM_DIGITS - 1; i >= 0; i--, crc >>= 4)
        digits[i] = "0123456789abcdef"[crc & 15];
}
