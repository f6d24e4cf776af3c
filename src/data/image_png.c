/* image_png.c - PNG through libpng.
 *
 * Grey stays grey, colour becomes luminance 0.299 R + 0.587 G + 0.114 B, palettes are looked up,
 * alpha is ignored, 16-bit values are divided by 257, so every image is 0..255. libpng reports
 * errors by longjmp; everything that lives across the jump is in one struct, outside the function
 * that calls setjmp. Its memory comes from the context and is bounded by the bytes present: an
 * image cannot be larger than deflate could pack into the file. */
#include "data/image.h"

#include <png.h>
#include <setjmp.h>
#include <string.h>

enum { DEFLATE_RATIO = 1032, DEFLATE_SLACK = 64 }; /* see zip.c */

typedef struct reader {
    rlar_ctx *ctx;
    const char *file;
    const char *bytes;
    size_t size, at;
    rlar_image *out;
    jmp_buf escape;
    rlar_status status; /* what to return after a jump */
    char text[120];     /* libpng's last words */
    png_structp png;
    png_infop info;
    unsigned char *pixels; /* the whole image, as interlaced files need */
    png_bytep *rows;
} reader;

/* ---- What libpng calls ---- */

/* libpng must not return from here. */
static void on_error(png_structp png, png_const_charp text) {
    reader *r = png_get_error_ptr(png);
    const size_t length = strlen(text);
    const size_t count = length < sizeof r->text - 1 ? length : sizeof r->text - 1;
    memcpy(r->text, text, count);
    r->text[count] = '\0';
    longjmp(r->escape, 1);
}

/* Warnings concern what does not change the pixels. */
static void on_warning(png_structp png, png_const_charp text) {
    (void)png;
    (void)text;
}

/* A failure leaves its code in `status`; a later success clears it, because libpng goes on without
 * memory for what it does not need. */
static png_voidp on_malloc(png_structp png, png_alloc_size_t size) {
    reader *r = png_get_mem_ptr(png);
    void *memory = NULL;
    if (size <= INT64_MAX)
        r->status = rlar__alloc(r->ctx, (int64_t)size, 1, "libpng's state", &memory);
    return memory;
}

static void on_free(png_structp png, png_voidp memory) {
    (void)png;
    rlar__free(memory);
}

static void on_read(png_structp png, png_bytep out, size_t count) {
    reader *r = png_get_io_ptr(png);
    if (count > r->size - r->at)
        png_error(png, "the file is truncated");
    memcpy(out, r->bytes + r->at, count);
    r->at += count;
}

/* Leave libpng with an error of our own. */
static void escape(reader *r, rlar_status status) {
    if (status >= 0)
        return;
    r->status = status;
    longjmp(r->escape, 1);
}

/* ---- Steps; each may jump ---- */

/* Ask for 8- or 16-bit grey or RGB whatever the file has. */
static void set_transforms(reader *r) {
    const int type = png_get_color_type(r->png, r->info);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(r->png);
    if (type == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(r->png, r->info) < 8)
        png_set_expand_gray_1_2_4_to_8(r->png);
    png_set_strip_alpha(r->png);
    (void)png_set_interlace_handling(r->png);
}

/* Before any memory for pixels is taken. */
static rlar_status check_size(reader *r) {
    const uint64_t width = png_get_image_width(r->png, r->info);
    const uint64_t height = png_get_image_height(r->png, r->info);
    const uint64_t bits =
        (uint64_t)png_get_bit_depth(r->png, r->info) * png_get_channels(r->png, r->info);
    if (width * height / 8 * bits > (uint64_t)DEFLATE_RATIO * r->size + DEFLATE_SLACK)
        return rlar__fail(
            r->ctx, RLAR_E_DATA,
            "%s: PNG of %llu x %llu pixels in %zu bytes: more than they can hold; the file is "
            "truncated or damaged",
            r->file, (unsigned long long)width, (unsigned long long)height, r->size);
    r->out->width = (int64_t)width;
    r->out->height = (int64_t)height;
    return RLAR_OK;
}

/* Three blocks: the grey values, the bytes as libpng writes them, and its list of rows. */
static rlar_status take_memory(reader *r, size_t stride) {
    const int64_t height = r->out->height;
    RLAR_TRY(rlar__grow(r->ctx, &r->out->grey, &r->out->capacity, r->out->width * height,
                        sizeof *r->out->grey, "an image"));
    RLAR_TRY(rlar__alloc(r->ctx, height, stride, "an image", &r->pixels));
    RLAR_TRY(rlar__alloc(r->ctx, height, sizeof *r->rows, "an image", &r->rows));
    for (int64_t i = 0; i < height; i++)
        r->rows[i] = r->pixels + (size_t)i * stride;
    return RLAR_OK;
}

static double sample(const unsigned char *p, bool wide) {
    return wide ? (p[0] << 8 | p[1]) / 257.0 : p[0];
}

static void to_grey(reader *r) {
    const bool wide = png_get_bit_depth(r->png, r->info) == 16;
    const size_t step = wide ? 2 : 1, channels = png_get_channels(r->png, r->info);
    double *grey = r->out->grey;
    for (int64_t i = 0; i < r->out->height; i++) {
        const unsigned char *p = r->rows[i];
        for (int64_t j = 0; j < r->out->width; j++, p += channels * step)
            *grey++ = channels < 3 ? sample(p, wide)
                                   : 0.299 * sample(p, wide) + 0.587 * sample(p + step, wide) +
                                         0.114 * sample(p + 2 * step, wide);
    }
}

/* The end is read, too: it holds the last checksum, and a cut file must not pass. */
static void decode(reader *r) {
    png_set_user_limits(r->png, RLAR_IMAGE_SIDE, RLAR_IMAGE_SIDE);
    /* Texts, profiles and their kind: libpng would take the memory that they ask for. */
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_read_fn(r->png, r, on_read);
    png_read_info(r->png, r->info);
    escape(r, check_size(r));
    set_transforms(r);
    png_read_update_info(r->png, r->info);
    escape(r, take_memory(r, png_get_rowbytes(r->png, r->info)));
    png_read_image(r->png, r->rows);
    png_read_end(r->png, NULL);
    to_grey(r);
}

/* Nothing but the pointer lives across the jump. False: libpng or a step gave up. */
static bool run(reader *r) {
    if (setjmp(r->escape))
        return false;
    r->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, r, on_error, on_warning, r, on_malloc,
                                      on_free);
    if (!r->png)
        return false;
    r->info = png_create_info_struct(r->png);
    if (!r->info)
        return false;
    decode(r);
    return true;
}

rlar_status rlar__image_png(rlar_ctx *ctx, const char *file, const char *bytes, size_t size,
                            rlar_image *out) {
    reader r = {.ctx = ctx, .file = file, .bytes = bytes, .size = size, .out = out};
    const bool done = run(&r);
    png_destroy_read_struct(&r.png, &r.info, NULL);
    rlar__free(r.pixels);
    rlar__free(r.rows);
    if (done)
        return RLAR_OK;
    if (r.status < 0)
        return r.status; /* the text is in place */
    return rlar__fail(ctx, RLAR_E_DATA, "%s: libpng cannot read it: %s", file,
                      r.text[0] ? r.text : "no more is known");
}
