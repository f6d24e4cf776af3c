/* test_zip.c - NPZ containers put together here: zip64 records, extra fields, members that are not
 * what the container promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <zlib.h>

#include "reading.h"

static const rlar_format *const npz = &rlar__format_npz;

/* Members first, then one entry for each in the directory. */
typedef struct archive {
    char bytes[8192], directory[1024];
    size_t size, directory_size;
    int count;
} archive;

static void put_bytes(char *to, size_t *at, const void *bytes, size_t size) {
    memcpy(to + *at, bytes, size);
    *at += size;
}

static void put_number(char *to, size_t *at, uint64_t value, int size) {
    for (int i = 0; i < size; i++)
        to[(*at)++] = (char)(value >> 8 * i);
}

typedef struct extra {
    const void *bytes;
    size_t size;
} extra;

/* The fields that the local header and the entry have in common. */
static void put_common(char *to, size_t *at, uint64_t crc, uint64_t size, size_t name,
                       size_t more) {
    put_number(to, at, 0, 2 + 2 + 2 + 2); /* flags, method: stored, time, date */
    put_number(to, at, crc, 4);
    put_number(to, at, size, 4);
    put_number(to, at, size, 4);
    put_number(to, at, name, 2);
    put_number(to, at, more, 2);
}

/* A stored member; `told` is the size in the directory's entry, with the extra field behind it. */
static void add_as(archive *a, const char *name, const void *bytes, size_t size, uint64_t told,
                   extra more) {
    const uint64_t crc = crc32(crc32(0, NULL, 0), bytes, (uInt)size), local = a->size;
    const size_t length = strlen(name);
    put_bytes(a->bytes, &a->size, "PK\3\4\24\0", 6);
    put_common(a->bytes, &a->size, crc, size, length, 0);
    put_bytes(a->bytes, &a->size, name, length);
    put_bytes(a->bytes, &a->size, bytes, size);
    put_bytes(a->directory, &a->directory_size, "PK\1\2\24\0\24\0", 8);
    put_common(a->directory, &a->directory_size, crc, told, length, more.size);
    put_number(a->directory, &a->directory_size, 0, 2 + 2 + 2);
    put_number(a->directory, &a->directory_size, 0, 4);
    put_number(a->directory, &a->directory_size, told == UINT32_MAX ? told : local, 4);
    put_bytes(a->directory, &a->directory_size, name, length);
    put_bytes(a->directory, &a->directory_size, more.bytes, more.size);
    a->count++;
}

static void add(archive *a, const char *name, const void *bytes, size_t size) {
    add_as(a, name, bytes, size, size, (extra){"", 0});
}

/* The directory and the end record. With a locator, the zip64 record stands before it and is said
 * to stand at `record64`. */
static void finish(archive *a, bool locator, const char *signature, uint64_t record64) {
    const size_t start = a->size, size = a->directory_size;
    put_bytes(a->bytes, &a->size, a->directory, size);
    const size_t record = a->size;
    if (locator) {
        put_bytes(a->bytes, &a->size, signature, 4);
        put_number(a->bytes, &a->size, 44, 8);
        put_number(a->bytes, &a->size, 0, 2 + 2);
        put_number(a->bytes, &a->size, 0, 4 + 4);
        put_number(a->bytes, &a->size, (uint64_t)a->count, 8);
        put_number(a->bytes, &a->size, (uint64_t)a->count, 8);
        put_number(a->bytes, &a->size, size, 8);
        put_number(a->bytes, &a->size, start, 8);
        put_bytes(a->bytes, &a->size, "PK\6\7\0\0\0\0", 8);
        put_number(a->bytes, &a->size, record64 ? record64 : record, 8);
        put_number(a->bytes, &a->size, 1, 4);
    }
    put_bytes(a->bytes, &a->size, "PK\5\6\0\0\0\0", 8);
    put_number(a->bytes, &a->size, locator ? UINT16_MAX : (uint64_t)a->count, 2);
    put_number(a->bytes, &a->size, locator ? UINT16_MAX : (uint64_t)a->count, 2);
    put_number(a->bytes, &a->size, locator ? UINT32_MAX : size, 4);
    put_number(a->bytes, &a->size, locator ? UINT32_MAX : start, 4);
    put_number(a->bytes, &a->size, 0, 2);
}

typedef struct array {
    char bytes[512];
    size_t size;
} array;

/* An NPY file of these values. */
static array array_of(const char *descr, const char *shape, const void *values, size_t size) {
    array a = {.size = 10};
    memcpy(a.bytes, "\x93NUMPY\1\0", 8);
    const int length =
        snprintf(a.bytes + 10, sizeof a.bytes - 10,
                 "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape);
    a.bytes[8] = (char)length;
    a.bytes[9] = '\0';
    a.size += (size_t)length;
    put_bytes(a.bytes, &a.size, values, size);
    return a;
}

static array samples(void) {
    const double x[] = {1, 2, 3, 4};
    return array_of("<f8", "(2, 2)", x, sizeof x);
}

static void expect_samples(rlar_ctx *ctx, const archive *a) {
    rlar_data *data = NULL;
    const rlar_status status = feed(ctx, npz, a->bytes, a->size, 100, NULL, &data);
    if (status < 0)
        fail_msg("%s", rlar_ctx_error(ctx));
    assert_int_equal(rlar_data_samples(data), 2);
    assert_true(value_at(data, 1, 0) == 3);
    rlar_data_free(data);
}

static void test_zip64(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    const array x = samples();
    archive a = {0};
    add(&a, "X.npy", x.bytes, x.size);
    finish(&a, true, "PK\6\6", 0);
    expect_samples(ctx, &a);
    expect_truncation_refused(ctx, npz, a.bytes, a.size);
    survive_flips(ctx, npz, a.bytes, a.size);
    a = (archive){0};
    add(&a, "X.npy", x.bytes, x.size);
    finish(&a, true, "PK\6\5", 0);
    expect_refused(ctx, npz, a.bytes, a.size, "the zip64 end record is missing");
    static const uint64_t outside[] = {UINT64_MAX, 1 << 20};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        a = (archive){0};
        add(&a, "X.npy", x.bytes, x.size);
        finish(&a, true, "PK\6\6", outside[i]);
        expect_refused(ctx, npz, a.bytes, a.size, "the zip64 end record lies outside the file");
    }
    a = (archive){0};
    add(&a, "X.npy", x.bytes, x.size);
    const size_t near = a.size + a.directory_size + 1; /* one byte of the record is missing */
    finish(&a, true, "PK\6\6", near);
    expect_refused(ctx, npz, a.bytes, a.size, "the zip64 end record lies outside the file");
    end_ctx(ctx);
}

/* Sizes and place are in the extra field with id 1, behind one that means nothing to us; a field
 * that is not all ones in the entry is not there. */
static void test_extra_fields(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    const array x = samples();
    char bytes[64];
    size_t size = 0;
    put_bytes(bytes, &size, "\x0a\0\3\0abc", 7);
    put_bytes(bytes, &size, "\1\0\30\0", 4);
    put_number(bytes, &size, x.size, 8);
    put_number(bytes, &size, x.size, 8);
    put_number(bytes, &size, 0, 8);
    archive a = {0};
    add_as(&a, "X.npy", x.bytes, x.size, UINT32_MAX, (extra){bytes, size});
    finish(&a, false, "", 0);
    expect_samples(ctx, &a);
    a = (archive){0};
    add_as(&a, "X.npy", x.bytes, x.size, x.size, (extra){bytes, size}); /* not needed, not read */
    finish(&a, false, "", 0);
    expect_samples(ctx, &a);
    static const size_t told[] = {0, 8, 16}; /* bytes of the field: the third value does not fit */
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        bytes[9] = (char)told[i];
        a = (archive){0};
        add_as(&a, "X.npy", x.bytes, x.size, UINT32_MAX, (extra){bytes, 11 + told[i]});
        finish(&a, false, "", 0);
        expect_refused(ctx, npz, a.bytes, a.size, "an extra field is too short");
    }
    end_ctx(ctx);
}

/* Longer than the longest comment, so that the search for the end record ends before the file. */
static void test_no_end_record(void **state) {
    (void)state;
    enum { SIZE = 70000 };
    rlar_ctx *ctx = new_ctx();
    char *bytes = calloc(1, SIZE);
    memcpy(bytes, "PK\3\4", 4);
    expect_refused(ctx, npz, bytes, SIZE, "there is no end record");
    free(bytes);
    end_ctx(ctx);
}

static void expect_members_refused(rlar_ctx *ctx, const char *name, const array *other,
                                   const char *expected) {
    const array x = samples();
    archive a = {0};
    if (strcmp(name, "X.npy") != 0)
        add(&a, "X.npy", x.bytes, x.size);
    add(&a, name, other->bytes, other->size);
    finish(&a, false, "", 0);
    expect_refused(ctx, npz, a.bytes, a.size, expected);
}

static void test_members(void **state) {
    (void)state;
    const int64_t numbers[] = {1, 2, 3, 4};
    rlar_ctx *ctx = new_ctx();
    array other = array_of("<U1", "(2,)", "a\0\0\0b\0\0\0", 8);
    expect_members_refused(ctx, "X.npy", &other,
                           "f:X.npy: the samples are text; numbers are needed, convert with "
                           "X.astype('float64')");
    other = array_of("<i8", "(4,)", numbers, sizeof numbers);
    expect_members_refused(ctx, "indptr.npy", &other, "f: a SciPy sparse matrix (member indptr)");
    expect_members_refused(ctx, "feature_names.npy", &other,
                           "f:feature_names.npy: 4 names for the 2 columns of f:X.npy; one name "
                           "per column is needed");
    other = array_of("<i8", "(2, 2)", numbers, sizeof numbers);
    expect_members_refused(ctx, "y.npy", &other, "f:y.npy: 2 x 2 labels for the 2 samples");
    expect_members_refused(ctx, "feature_names.npy", &other,
                           "f:feature_names.npy: 2 names for the 2 columns");
    other.size -= 1;
    expect_members_refused(ctx, "y.npy", &other,
                           "f:y.npy: 31 bytes of values where the header declares 32; the file is "
                           "truncated or damaged");
    other.size = 40;
    expect_members_refused(ctx, "y.npy", &other,
                           "f:y.npy: ends within the NPY header after 40 bytes");
    other.size = 9;
    expect_members_refused(ctx, "y.npy", &other,
                           "f:y.npy: ends within the NPY header after 9 bytes");
    end_ctx(ctx);
}

/* A float label that is not a number is missing, like an empty cell. */
static void test_label_nan(void **state) {
    (void)state;
    const uint64_t labels[] = {UINT64_C(0x7ff8000000000000), UINT64_C(0x4000000000000000)};
    rlar_ctx *ctx = new_ctx();
    const array y = array_of("<f8", "(2,)", labels, sizeof labels), x = samples();
    archive a = {0};
    add(&a, "X.npy", x.bytes, x.size);
    add(&a, "y.npy", y.bytes, y.size);
    finish(&a, false, "", 0);
    expect_refused(ctx, npz, a.bytes, a.size, "the label is missing");
    end_ctx(ctx);
}

/* No samples: nothing to take names for. */
static void test_no_rows(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    const array x = array_of("<f8", "(0, 3)", "", 0);
    archive a = {0};
    add(&a, "X.npy", x.bytes, x.size);
    finish(&a, false, "", 0);
    expect_refused(ctx, npz, a.bytes, a.size, "no samples");
    end_ctx(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zip64),         cmocka_unit_test(test_extra_fields),
        cmocka_unit_test(test_no_end_record), cmocka_unit_test(test_members),
        cmocka_unit_test(test_label_nan),     cmocka_unit_test(test_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
