/* test_images.c - folders of PGM and PNG images: every kind of pixel, order of classes and files,
 * what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <png.h>
#include <zlib.h>

#include "data/image.h"
#include "reading.h"

/* 3 x 2 grey pixels 0 127 255 / 1 2 3, and 16384 x 16384 RGB pixels in a file of no size, both
 * packed by hand. */
static const char png_grey[] =
    "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x03\x00\x00"
    "\x00\x02\x08\x00\x00\x00\x00\xb8\x1f\x39\xc6\x00\x00\x00\x10\x49\x44\x41\x54\x78\xda\x63"
    "\x60\xa8\xff\xcf\xc0\xc8\xc4\x0c\x00\x08\x07\x01\x85\x08\x49\x47\xca\x00\x00\x00\x00\x49"
    "\x45\x4e\x44\xae\x42\x60\x82";
static const char png_huge[] =
    "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x40\x00\x00\x00"
    "\x40\x00\x08\x02\x00\x00\x00\x26\xaa\x87\xd3\x00\x00\x00\x0c\x49\x44\x41\x54\x78\xda\x63"
    "\x60\xa0\x3d\x00\x00\x00\x64\x00\x01\xb8\x99\xef\x99\x00\x00\x00\x00\x49\x45\x4e\x44\xae"
    "\x42\x60\x82";

/* ---- One image ---- */

typedef rlar_status (*decoder)(rlar_ctx *, const char *, const char *, size_t, rlar_image *);

/* Decode from a block of exactly this size, so that a sanitizer sees a read beyond it. */
static rlar_status decode(rlar_ctx *ctx, decoder d, const void *bytes, size_t size,
                          rlar_image *image) {
    char *copy = malloc(size);
    memcpy(copy, bytes, size);
    const rlar_status status = d(ctx, "f", copy, size, image);
    free(copy);
    return status;
}

static void expect_pixels(decoder d, const void *bytes, size_t size, int64_t width, int64_t height,
                          const double *expected) {
    rlar_ctx *ctx = new_ctx();
    rlar_image image = {0};
    const rlar_status status = decode(ctx, d, bytes, size, &image);
    if (status < 0)
        print_error("%s\n", rlar_ctx_error(ctx));
    assert_int_equal(status, RLAR_OK);
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    for (int64_t i = 0; i < width * height; i++)
        assert_true(fabs(image.grey[i] - expected[i]) < 1e-12);
    rlar__free(image.grey);
    end_ctx(ctx);
}

static void expect_bad(decoder d, const void *bytes, size_t size, const char *expected) {
    rlar_ctx *ctx = new_ctx();
    rlar_image image = {0};
    assert_int_equal(decode(ctx, d, bytes, size, &image), RLAR_E_DATA);
    if (!strstr(rlar_ctx_error(ctx), expected))
        print_error("expected \"%s\", got \"%s\"\n", expected, rlar_ctx_error(ctx));
    assert_non_null(strstr(rlar_ctx_error(ctx), expected));
    rlar__free(image.grey);
    end_ctx(ctx);
}

/* Every proper beginning is refused; every turned bit is survived. */
static void damage(decoder d, const char *bytes, size_t size, size_t first) {
    rlar_ctx *ctx = new_ctx();
    rlar_image image = {0};
    char *copy = malloc(size);
    for (size_t cut = first; cut < size; cut++)
        assert_int_equal(decode(ctx, d, bytes, cut, &image), RLAR_E_DATA);
    for (size_t bit = 8 * first; bit < 8 * size; bit++) {
        memcpy(copy, bytes, size);
        copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
        (void)decode(ctx, d, copy, size, &image);
    }
    free(copy);
    rlar__free(image.grey);
    end_ctx(ctx);
}

static void pgm(void **state) {
    (void)state;
    const double small[] = {0, 127, 255, 1, 2, 3}, wide[] = {0, 255, 1, 128};
    static const char p5[] = "P5\n# made by hand\n3 2 # size\n255\n\x00\x7f\xff\x01\x02\x03";
    static const char p2[] = "P2 3 2 255 0 127 255\n1 2 3\n";
    static const char p5_wide[] = "P5 2 2 65535\n\x00\x00\xff\xff\x01\x01\x80\x80";
    static const char p2_wide[] = "P2 2 2 65535\n0 65535 257 32896";
    expect_pixels(rlar__image_pgm, p5, sizeof p5 - 1, 3, 2, small);
    expect_pixels(rlar__image_pgm, p2, sizeof p2 - 1, 3, 2, small);
    expect_pixels(rlar__image_pgm, p5_wide, sizeof p5_wide - 1, 2, 2, wide);
    expect_pixels(rlar__image_pgm, p2_wide, sizeof p2_wide - 1, 2, 2, wide);
    damage(rlar__image_pgm, p5, sizeof p5 - 1, 2);
    damage(rlar__image_pgm, p5_wide, sizeof p5_wide - 1, 2);
    damage(rlar__image_pgm, "P2 2 1 255 7 \n8", 15, 2);
}

static void bad_pgm(void **state) {
    (void)state;
#define BAD(text, expected) expect_bad(rlar__image_pgm, text, sizeof text - 1, expected)
    BAD("P5 ", "the width");
    BAD("P5 x", "the width");
    BAD("P5 2 -1 255 ab", "the height");
    BAD("P5 16385 1 255 ", "more than 16384");
    BAD("P5 99999999999999999999999 1 255 ", "more than 16384");
    BAD("P5 0 1 255 ", "is 0");
    BAD("P5 1 1 65536 ", "more than 65535");
    BAD("P5 1 1 255", "a blank after");
    BAD("P5 16384 16384 255 ab", "268435456 are needed");
    BAD("P2 16384 16384 255 1 2", "536870911 are needed");
    BAD("P5 1 1 9 \x0a", "more than the declared 9");
    BAD("P2 1 1 9 10", "more than 9");
    BAD("P5 1 1 255 ab", "after the last pixel");
#undef BAD
}

/* ---- PNG files made by libpng ---- */

typedef struct png_file {
    char bytes[4096];
    size_t size;
} png_file;

static void png_append(png_structp png, png_bytep bytes, size_t size) {
    png_file *file = png_get_io_ptr(png);
    assert_true(file->size + size <= sizeof file->bytes);
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
}

static void png_flush_nothing(png_structp png) {
    (void)png;
}

/* 2 x 2 pixels (one row of bytes after another) of the given type. */
static png_file make_png(int type, int depth, bool interlaced, unsigned char *row0,
                         unsigned char *row1) {
    static const png_color palette[] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {9, 9, 9}};
    png_file file = {.size = 0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_bytep rows[] = {row0, row1};
    png_set_write_fn(png, &file, png_append, png_flush_nothing);
    png_set_IHDR(png, info, 2, 2, depth, type,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (type == PNG_COLOR_TYPE_PALETTE) {
        png_set_PLTE(png, info, palette, 4);
        png_set_tRNS(png, info, (png_const_bytep) "\0\1", 2, NULL);
    }
    png_write_info(png, info);
    (void)png_set_interlace_handling(png);
    png_write_image(png, rows);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return file;
}

#define BYTES(...) ((unsigned char[]){__VA_ARGS__})

static void png_kinds(void **state) {
    (void)state;
    const double ramp[] = {0, 100, 200, 255}, ends[] = {0, 255, 255, 0},
                 pure[] = {76.245, 149.685, 29.07, 9};
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        png_file f = make_png(PNG_COLOR_TYPE_GRAY, 8, interlaced, BYTES(0, 100), BYTES(200, 255));
        expect_pixels(rlar__image_png, f.bytes, f.size, 2, 2, ramp);
        f = make_png(PNG_COLOR_TYPE_GRAY_ALPHA, 8, interlaced, BYTES(0, 0, 100, 7),
                     BYTES(200, 9, 255, 255));
        expect_pixels(rlar__image_png, f.bytes, f.size, 2, 2, ramp);
        f = make_png(PNG_COLOR_TYPE_GRAY, 16, interlaced, BYTES(0, 0, 100, 100),
                     BYTES(200, 200, 255, 255));
        expect_pixels(rlar__image_png, f.bytes, f.size, 2, 2, ramp);
        f = make_png(PNG_COLOR_TYPE_GRAY, 1, interlaced, BYTES(0x40), BYTES(0x80));
        expect_pixels(rlar__image_png, f.bytes, f.size, 2, 2, ends);
        f = make_png(PNG_COLOR_TYPE_PALETTE, 2, interlaced, BYTES(0x10), BYTES(0xb0));
        expect_pixels(rlar__image_png, f.bytes, f.size, 2, 2, pure);
        f = make_png(PNG_COLOR_TYPE_RGB, 8, interlaced, BYTES(255, 0, 0, 0, 255, 0),
                     BYTES(0, 0, 255, 9, 9, 9));
        expect_pixels(rlar__image_png, f.bytes, f.size, 2, 2, pure);
        f = make_png(PNG_COLOR_TYPE_RGB_ALPHA, 8, interlaced, BYTES(255, 0, 0, 1, 0, 255, 0, 2),
                     BYTES(0, 0, 255, 3, 9, 9, 9, 4));
        expect_pixels(rlar__image_png, f.bytes, f.size, 2, 2, pure);
        damage(rlar__image_png, f.bytes, f.size, 0);
    }
}

static void png_by_hand(void **state) {
    (void)state;
    const double expected[] = {0, 127, 255, 1, 2, 3};
    expect_pixels(rlar__image_png, png_grey, sizeof png_grey - 1, 3, 2, expected);
    damage(rlar__image_png, png_grey, sizeof png_grey - 1, 0);
    expect_bad(rlar__image_png, png_huge, sizeof png_huge - 1, "more than they can hold");
}

/* ---- Folders ---- */

static rlar_status read_folder(rlar_ctx *ctx, const temp_folder *t, rlar_data **out) {
    const rlar_read_options none = RLAR_INIT(rlar_read_options);
    const rlar_sink_setup setup = {.file = t->path, .options = &none, .whole = true};
    rlar_sink *sink = NULL;
    rlar_folder *folder = NULL;
    bool more = true;
    *out = NULL;
    rlar_status status = rlar__sink_new(ctx, &setup, &sink);
    if (status >= 0)
        status = rlar__folder_open(ctx, t->path, sink, &folder);
    while (status >= 0 && more)
        status = rlar__folder_next(folder, &more);
    if (status >= 0)
        status = rlar__sink_finish(sink);
    if (status >= 0)
        status = rlar__data_new(ctx, "f", "images", "f", out);
    if (status >= 0)
        status = rlar__sink_take(sink, *out);
    if (status < 0) {
        rlar_data_free(*out);
        *out = NULL;
    }
    rlar__folder_close(folder);
    rlar__sink_free(sink);
    return status;
}

static void write_gzip(const temp_folder *t, const char *name, const char *bytes, unsigned size) {
    char buf[512];
    gzFile file = gzopen(path_in(t, name, buf), "wb");
    assert_int_equal(gzwrite(file, bytes, size), (int)size);
    assert_int_equal(gzclose(file), Z_OK);
}

static void folder_order(void **state) {
    (void)state;
    const char *const labels[] = {"anna", "anna", "anna", "otto"};
    const double first[] = {5, 0, 7, 9};
    rlar_ctx *ctx = new_ctx();
    const temp_folder t = new_folder();
    rlar_data *data;
    make_folder(&t, "otto");
    make_folder(&t, "anna");
    make_folder(&t, "empty");
    make_folder(&t, ".hidden");
    make_folder(&t, "anna/deeper.png");
    write_bytes(&t, "otto/1.PGM", "P2 3 2 255 9 0 0 0 0 0", 22);
    write_bytes(&t, "anna/2.png", png_grey, sizeof png_grey - 1);
    write_bytes(&t, "anna/1.pgm", "P5 3 2 255\n\5\0\0\0\0\0", 17);
    write_gzip(&t, "anna/3.pgm.gz", "P5 3 2 255\n\7\0\0\0\0\0", 17);
    write_bytes(&t, "anna/.4.pgm", "hidden", 6);
    write_bytes(&t, "anna/readme.txt", "text", 4);
    write_bytes(&t, "beside.pgm", "P5", 2);
    write_bytes(&t, ".hidden/1.pgm", "P5", 2);
    const rlar_status status = read_folder(ctx, &t, &data);
    if (status < 0)
        print_error("%s\n", rlar_ctx_error(ctx));
    assert_int_equal(status, RLAR_OK);
    assert_int_equal(rlar_data_samples(data), 4);
    assert_int_equal(rlar_data_dims(data), 6);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(label_at(data, i), labels[i]);
        assert_true(value_at(data, i, 0) == first[i]);
    }
    assert_null(rlar_data_feature(data, 0));
    rlar_data_free(data);
    remove_folder(&t);
    end_ctx(ctx);
}

/* What would be a missing label in a table is the name of a folder; blanks belong to it, too. */
static void folder_names(void **state) {
    (void)state;
    const char *const names[] = {" ", " a", "?", "NA", "NaN", "a", "na", "nan"};
    enum { NAMES = sizeof names / sizeof names[0] };
    rlar_ctx *ctx = new_ctx();
    const temp_folder t = new_folder();
    rlar_data *data;
    for (int i = 0; i < NAMES; i++) {
        char file[16];
        make_folder(&t, names[i]);
        snprintf(file, sizeof file, "%s/1.pgm", names[i]);
        write_bytes(&t, file, "P5 2 1 255 ab", 13);
    }
    assert_int_equal(read_folder(ctx, &t, &data), RLAR_OK);
    assert_int_equal(rlar_data_samples(data), NAMES);
    assert_int_equal(rlar_data_classes(data), NAMES);
    for (int i = 0; i < NAMES; i++)
        assert_string_equal(label_at(data, i), names[i]);
    rlar_data_free(data);
    remove_folder(&t);
    end_ctx(ctx);
}

static void expect_folder_refused(rlar_ctx *ctx, const temp_folder *t, rlar_status expected,
                                  const char *a, const char *b) {
    rlar_data *data;
    assert_int_equal(read_folder(ctx, t, &data), expected);
    if (!strstr(rlar_ctx_error(ctx), a) || !strstr(rlar_ctx_error(ctx), b))
        print_error("%s\n", rlar_ctx_error(ctx));
    assert_non_null(strstr(rlar_ctx_error(ctx), a));
    assert_non_null(strstr(rlar_ctx_error(ctx), b));
}

/* This one is called by the library instead of the C library's. */
static bool readdir_fails;

struct dirent *readdir(DIR *dir) {
    if (readdir_fails) {
        errno = EIO;
        return NULL;
    }
    struct dirent *(*next)(DIR *) = NULL;
    void *symbol = dlsym(RTLD_NEXT, "readdir64");
    memcpy(&next, &symbol, sizeof next); /* ISO C does not turn one into the other */
    return next(dir);
}

static void folder_faults(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    const temp_folder t = new_folder();
    expect_folder_refused(ctx, &t, RLAR_E_DATA, "one subfolder per class", "found 0");
    make_folder(&t, "a");
    write_bytes(&t, "a/notes.txt", "x", 1);
    expect_folder_refused(ctx, &t, RLAR_E_DATA, "one subfolder per class", "found 1");
    write_bytes(&t, "a/1.pgm", "P5 1 2 255 ab", 13);
    write_bytes(&t, "a/2.pgm", "P5 2 1 255 ab", 13);
    expect_folder_refused(ctx, &t, RLAR_E_DATA, "a/2.pgm is 2 x 1 pixels", "a/1.pgm is 1 x 2");
    write_bytes(&t, "a/2.pgm", "GIF89a", 6);
    expect_folder_refused(ctx, &t, RLAR_E_DATA, "a/2.pgm", "neither PGM");
    write_bytes(&t, "a/2.pgm", "", 0);
    expect_folder_refused(ctx, &t, RLAR_E_DATA, "a/2.pgm", "neither PGM");
    readdir_fails = true;
    expect_folder_refused(ctx, &t, RLAR_E_IO, t.path, "cannot list the folder: Input/output error");
    readdir_fails = false;
    remove_folder(&t);
    expect_folder_refused(ctx, &t, RLAR_E_IO, t.path, "cannot open");
    end_ctx(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pgm),          cmocka_unit_test(bad_pgm),
        cmocka_unit_test(png_kinds),    cmocka_unit_test(png_by_hand),
        cmocka_unit_test(folder_order), cmocka_unit_test(folder_faults),
        cmocka_unit_test(folder_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
