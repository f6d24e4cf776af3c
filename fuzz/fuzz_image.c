/* fuzz_image.c - PGM and PNG. The first character chooses:
 *   0   the bytes are the file
 *   1   the checksums of the chunks of a PNG are put right first
 *   2   a PNG is made: width, height, depth, colour and interlacing, then the rows before packing
 * What is read has grey values of 0 to 255, as many as its sides say, no more memory than the bytes
 * can be unpacked to, is the same through a path, and is the same again when written as PGM. */
#include <math.h>

#include "data/image.h"
#include "fuzz.h"

enum { MOST = 1 << 13 };

/* ---- Making a PNG ---- */

static void put_word(uint8_t *at, uint32_t value) {
    for (int i = 3; i >= 0; i--, value >>= 8)
        at[i] = (uint8_t)value;
}

static uint32_t get_word(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Length, name, bytes, checksum of name and bytes. */
static void fix_checksums(uint8_t *bytes, size_t size) {
    size_t at = 8;
    while (size >= 12 && at <= size - 12) {
        const size_t length = get_word(bytes + at);
        if (length > size - 12 - at)
            return;
        put_word(bytes + at + 8 + length, (uint32_t)crc32(0, bytes + at + 4, (uInt)(length + 4)));
        at += 12 + length;
    }
}

static size_t put_chunk(uint8_t *out, const char *name, size_t length) {
    put_word(out, (uint32_t)length);
    memcpy(out + 4, name, 4);
    return 12 + length;
}

/* out has room for 2 MOST + 1000 bytes. A palette of sixteen greys stands in every file. */
static size_t make_png(fuzz_bytes *b, uint8_t *out) {
    static const uint8_t depth[] = {8, 1, 2, 4, 16}, colour[] = {0, 2, 3, 4, 6};
    uLongf packed = 2 * MOST;
    memcpy(out, "\x89PNG\r\n\x1a\n", 8);
    size_t at = 8;
    put_word(out + at + 8, 1 + fuzz_choice(b, 64));
    put_word(out + at + 12, 1 + fuzz_choice(b, 64));
    out[at + 16] = depth[fuzz_choice(b, 5)];
    out[at + 17] = colour[fuzz_choice(b, 5)];
    out[at + 18] = out[at + 19] = 0;
    out[at + 20] = (uint8_t)fuzz_choice(b, 2);
    at += put_chunk(out + at, "IHDR", 13);
    for (int i = 0; i < 48; i++)
        out[at + 8 + (size_t)i] = (uint8_t)(i * 5);
    at += put_chunk(out + at, "PLTE", 48);
    FUZZ_CHECK(compress2(out + at + 8, &packed, b->at, (uLong)b->left, 1) == Z_OK, "deflate");
    at += put_chunk(out + at, "IDAT", packed);
    at += put_chunk(out + at, "IEND", 0);
    fix_checksums(out, at);
    return at;
}

/* ---- The promises ---- */

static void check_again(const rlar_image *image) {
    rlar_ctx *ctx = fuzz_ctx();
    rlar_image again = {0};
    const size_t pixels = (size_t)(image->width * image->height);
    uint8_t *file = fuzz_alloc(pixels + 64);
    const size_t head =
        (size_t)snprintf((char *)file, 64, "P5 %d %d 255\n", (int)image->width, (int)image->height);
    for (size_t i = 0; i < pixels; i++) {
        if (image->grey[i] != floor(image->grey[i])) {
            free(file);
            return;
        }
        file[head + i] = (uint8_t)image->grey[i];
    }
    const rlar_status status = rlar__image_pgm(ctx, "f", (const char *)file, head + pixels, &again);
    FUZZ_CHECK(status == RLAR_OK, "written as PGM: %s", rlar_ctx_error(ctx));
    FUZZ_CHECK(memcmp(image->grey, again.grey, pixels * sizeof *image->grey) == 0,
               "written as PGM, it is another image");
    rlar__image_free(&again);
    free(file);
}

static void check_image(const rlar_image *image, size_t size) {
    FUZZ_CHECK(image->width >= 1 && image->height >= 1 && image->width <= RLAR_IMAGE_SIDE &&
                   image->height <= RLAR_IMAGE_SIDE,
               "an image of %lld x %lld", (long long)image->width, (long long)image->height);
    FUZZ_CHECK((double)(image->width * image->height) <= 8 * (1032.0 * (double)size + 64),
               "%lld x %lld pixels of %zu bytes", (long long)image->width, (long long)image->height,
               size);
    for (int64_t i = 0; i < image->width * image->height; i++)
        FUZZ_CHECK(image->grey[i] >= 0 && image->grey[i] <= 255, "pixel %lld is %g", (long long)i,
                   image->grey[i]);
}

/* As rlar_image_read does, which unpacks gzip and chooses by the first bytes. */
static void check_path(const uint8_t *bytes, size_t size, rlar_status status,
                       const rlar_image *image) {
    static fuzz_file file;
    double *grey = NULL;
    int64_t rows = 0, columns = 0;
    rlar_ctx *ctx = fuzz_ctx();
    fuzz_file_set(&file, bytes, size);
    const rlar_status read = rlar_image_read(ctx, file.path, &grey, &rows, &columns);
    if (read < 0)
        fuzz_check_refusal(ctx, read);
    FUZZ_CHECK((read < 0) == (status < 0), "status %d through a path, else %d", (int)read,
               (int)status);
    FUZZ_CHECK(read < 0 ||
                   (rows == image->height && columns == image->width &&
                    memcmp(grey, image->grey, (size_t)(rows * columns) * sizeof *grey) == 0),
               "another image through a path");
    rlar_bytes_free(ctx, grey);
}

static void check_file(const uint8_t *bytes, size_t size) {
    rlar_ctx *ctx = fuzz_ctx();
    rlar_image image = {0};
    const bool pgm = size >= 3 && bytes[0] == 'P' && (bytes[1] == '2' || bytes[1] == '5');
    const bool png = size >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
    if (!pgm && !png)
        return;
    rlar__begin(ctx);
    const rlar_status status = pgm ? rlar__image_pgm(ctx, "f", (const char *)bytes, size, &image)
                                   : rlar__image_png(ctx, "f", (const char *)bytes, size, &image);
    if (status < 0)
        fuzz_check_refusal(ctx, status);
    else
        check_image(&image, size);
    if (status != RLAR_E_NOMEM)
        check_path(bytes, size, status, &image);
    if (status >= 0)
        check_again(&image);
    rlar__image_free(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_bytes b = {bytes, size};
    const unsigned mode = fuzz_choice(&b, 3);
    if (b.left > MOST)
        return 0;
    uint8_t *copy = fuzz_alloc(mode == 2 ? 2 * MOST + 1000 : b.left);
    size_t length = b.left;
    if (mode == 2)
        length = make_png(&b, copy);
    else
        memcpy(copy, b.at, b.left);
    if (mode == 1)
        fix_checksums(copy, length);
    check_file(copy, length);
    free(copy);
    /* Eight pixels of a byte that was packed, each a double. */
    fuzz_check_request(fuzz_ctx(), 8 * 8 * fuzz_unpacked(length));
    return 0;
}
