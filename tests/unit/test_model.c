/* test_model.c - the model file: what is saved comes back, and nothing else is accepted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <jansson.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/model_file.h"
#include "mutate.h"

enum { D = 3, P = 2, C = 3, N = 5 };

static rlar_ctx *new_ctx(void) {
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    rlar_ctx *ctx = NULL;
    o.threads = 1;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    return ctx;
}

static void add(rlar_ctx *ctx, rlar_texts *texts, const char *text) {
    assert_int_equal(rlar__texts_add(ctx, texts, text, strlen(text)), RLAR_OK);
}

static void fill(double *x, int64_t n, double start) {
    for (int64_t i = 0; i < n; i++)
        x[i] = start + 0.1 * (double)i;
}

static void add_scaling(rlar_ctx *ctx, rlar_model *m, const char *chain) {
    rlar_scaling *s = &m->scaling;
    assert_int_equal(rlar__scaling_parse(ctx, chain, s), RLAR_OK);
    s->d = m->d;
    assert_int_equal(rlar__alloc(ctx, m->d, sizeof(double), "fill", &s->fill), RLAR_OK);
    fill(s->fill, m->d, -7);
    for (int i = 0; i < s->count; i++) {
        if (s->step[i].kind == RLAR_SCALE_UNIT)
            continue;
        assert_int_equal(rlar__alloc(ctx, m->d, 8, "shift", &s->step[i].shift), RLAR_OK);
        assert_int_equal(rlar__alloc(ctx, m->d, 8, "factor", &s->step[i].factor), RLAR_OK);
        fill(s->step[i].shift, m->d, 10 * i);
        fill(s->step[i].factor, m->d, 10 * i + 5);
    }
}

/* Awkward names on purpose: quotes, a backslash, a control character, the checksum key itself,
 * UTF-8. */
static rlar_model *make_model(rlar_ctx *ctx, const char *chain, bool names) {
    rlar_model *m = NULL;
    assert_int_equal(rlar__model_new(ctx, D, P, C, N, &m), RLAR_OK);
    fill(m->w, D * P, 1);
    m->w[0] = 5e-324;
    m->w[1] = -0.0;
    m->w[2] = 1.7976931348623157e308;
    fill(m->b, P, 2);
    fill(m->z, P * N, 3);
    for (int i = 0; i < N; i++)
        m->z_class[i] = i % C;
    add(ctx, &m->classes, "a\"b\\c");
    add(ctx, &m->classes, "told here \"checksum\":\"crc64-xz:0000");
    add(ctx, &m->classes,
        "Stra\xc3\x9f"
        "e \xf0\x9f\x98\x80");
    for (int i = 0; names && i < D; i++)
        add(ctx, &m->features, i == 0 ? "" : "same name");
    add(ctx, &m->param_names, "alpha");
    add(ctx, &m->param_values, "0.1");
    add(ctx, &m->param_names, "solver");
    add(ctx, &m->param_values, "paper");
    assert_int_equal(rlar__strdup(ctx, "a method of tomorrow", &m->method), RLAR_OK);
    assert_int_equal(rlar__strdup(ctx, "9.9.9", &m->version), RLAR_OK);
    add_scaling(ctx, m, chain);
    rlar__model_scores(m);
    return m;
}

static unsigned char *save(rlar_ctx *ctx, const rlar_model *m, size_t *size) {
    void *bytes = NULL;
    assert_int_equal(rlar_model_save_bytes(ctx, m, &bytes, size), RLAR_OK);
    return bytes;
}

static void assert_same(const double *a, const double *b, int64_t n) {
    assert_memory_equal(a, b, (size_t)n * sizeof *a);
}

static void assert_models_equal(const rlar_model *a, const rlar_model *b) {
    assert_int_equal(a->d, rlar_model_dims(b));
    assert_int_equal(a->p, rlar_model_outputs(b));
    assert_int_equal(a->c, rlar_model_classes(b));
    assert_int_equal(a->n, rlar_model_references(b));
    assert_same(a->w, rlar_model_map(b), a->d * a->p);
    assert_same(a->b, rlar_model_offset(b), a->p);
    assert_same(a->score, rlar_model_scores(b), a->d);
    assert_same(a->z, b->z, a->p * a->n);
    assert_memory_equal(a->z_class, b->z_class, (size_t)a->n * sizeof *a->z_class);
    assert_same(a->scaling.fill, b->scaling.fill, a->d);
    for (int i = 0; i < a->scaling.count; i++)
        if (a->scaling.step[i].shift) {
            assert_same(a->scaling.step[i].shift, b->scaling.step[i].shift, a->d);
            assert_same(a->scaling.step[i].factor, b->scaling.step[i].factor, a->d);
        }
    assert_string_equal(a->scale_text, rlar_model_scale(b));
    for (int64_t i = 0; i < a->c; i++)
        assert_string_equal(rlar_model_class(a, i), rlar_model_class(b, i));
    assert_null(rlar_model_class(b, a->c));
    assert_int_equal(a->features.count, b->features.count);
    for (int64_t i = 0; i < a->features.count; i++)
        assert_string_equal(rlar_model_feature(a, i), rlar_model_feature(b, i));
    for (int64_t i = 0; i < a->param_names.count; i++) {
        assert_string_equal(rlar_model_param_name(a, i), rlar_model_param_name(b, i));
        assert_string_equal(rlar_model_param_value(a, i), rlar_model_param_value(b, i));
    }
    assert_null(rlar_model_param_name(b, a->param_names.count));
    assert_string_equal(rlar_model_method(a), rlar_model_method(b));
    assert_string_equal(rlar_model_version(a), rlar_model_version(b));
}

/* Squares of such weights leave the range of double; a score does not, and 0 means unused. */
static void test_extreme_scores(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_model *m = make_model(ctx, "none", false);
    static const double sizes[] = {1e200, 1e-200, 0}, limits[] = {DBL_MAX, 5e-324, -0.0};
    const double *score = rlar_model_scores(m);
    for (int i = 0; i < D * P; i++)
        m->w[i] = sizes[i % D];
    rlar__model_scores(m);
    assert_true(fabs(score[0] / (sqrt(P) * 1e200) - 1) < 1e-15);
    assert_true(fabs(score[1] / (sqrt(P) * 1e-200) - 1) < 1e-15);
    assert_true(score[2] == 0);
    for (int i = 0; i < D * P; i++)
        m->w[i] = limits[i % D];
    rlar__model_scores(m);
    assert_true(score[0] == DBL_MAX && score[1] > 0 && score[2] == 0);
    rlar_model_free(m);
    rlar_ctx_free(ctx);
}

static void test_round_trip(void **state) {
    (void)state;
    const char *const chains[] = {"none", "unit", "minmax", "unit,minmax",
                                  "minmax,unit,zscore,unit"};
    rlar_ctx *ctx = new_ctx();
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; i++) {
        rlar_model *m = make_model(ctx, chains[i], i % 2 == 0), *again = NULL;
        size_t size, size_again;
        unsigned char *bytes = save(ctx, m, &size);
        assert_int_equal(rlar_model_load_bytes(ctx, bytes, size, &again), RLAR_OK);
        assert_string_equal(rlar_model_scale(again), chains[i]);
        assert_models_equal(m, again);
        unsigned char *bytes_again = save(ctx, again, &size_again);
        assert_int_equal(size, size_again);
        assert_memory_equal(bytes, bytes_again, size);
        rlar_bytes_free(ctx, bytes);
        rlar_bytes_free(ctx, bytes_again);
        rlar_model_free(m);
        rlar_model_free(again);
    }
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

static void test_layout(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_model *m = make_model(ctx, "minmax,unit", true);
    size_t size;
    unsigned char *bytes = save(ctx, m, &size);
    uint64_t header = 0;
    for (int i = 7; i >= 0; i--)
        header = header << 8 | bytes[i];
    assert_int_equal((8 + header) % 64, 0);
    assert_int_equal(bytes[8], '{');
    assert_int_equal(size, 8 + header + 8 * (P * D + P + 3 * D + N * P + N));
    /* 0.1 * 3 + 1 as little-endian bytes, the fourth number of W. */
    double value = 1 + 0.1 * 3;
    uint64_t bits, stored = 0;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 7; i >= 0; i--)
        stored = stored << 8 | bytes[8 + header + 24 + (size_t)i];
    assert_true(bits == stored);
    rlar_bytes_free(ctx, bytes);
    rlar_bytes_free(ctx, NULL);
    rlar_model_free(m);
    rlar_model_free(NULL);
    rlar_ctx_free(ctx);
}

static void test_crc(void **state) {
    (void)state;
    /* The check value of CRC-64/XZ. */
    assert_true(rlar__crc64(0, "123456789", 9) == UINT64_C(0x995dc9bbdf1939fa));
    assert_true(rlar__crc64(0, "", 0) == 0);
    /* The same in two parts, of which none, one or both are long enough for tables. */
    unsigned char bytes[601];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * i + i / 7);
    for (size_t cut = 0; cut <= sizeof bytes; cut++) {
        const uint64_t first = rlar__crc64(0, bytes, cut);
        assert_true(rlar__crc64(first, bytes + cut, sizeof bytes - cut) ==
                    rlar__crc64(0, bytes, sizeof bytes));
    }
}

/* Load a private copy, so that the sanitizer sees a read beyond its end. */
static rlar_status load_copy(rlar_ctx *ctx, const unsigned char *bytes, size_t size, bool check) {
    rlar_model *m = NULL;
    unsigned char *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    const rlar_status status = rlar__model_load_bytes(ctx, copy, size, check, &m);
    free(copy);
    assert_true((status >= 0) == (m != NULL));
    rlar_model_free(m);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    return status;
}

static void test_every_truncation(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_model *m = make_model(ctx, "zscore,unit", true);
    size_t size;
    unsigned char *bytes = save(ctx, m, &size), *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    copy[size] = 0;
    rlar_bytes_free(ctx, bytes);
    rlar_model_free(m);
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_equal(load_copy(ctx, copy, cut, true), RLAR_E_MODEL);
        assert_int_equal(load_copy(ctx, copy, cut, false), RLAR_E_MODEL);
    }
    assert_int_equal(load_copy(ctx, copy, size, true), RLAR_OK);
    assert_int_equal(load_copy(ctx, copy, size + 1, true), RLAR_E_MODEL);
    assert_non_null(strstr(rlar_ctx_error(ctx), "1 bytes too many"));
    free(copy);
    rlar_ctx_free(ctx);
}

static void test_every_bit(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_model *m = make_model(ctx, "minmax", false);
    size_t size;
    unsigned char *bytes = save(ctx, m, &size), *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    rlar_bytes_free(ctx, bytes);
    rlar_model_free(m);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_equal(load_copy(ctx, copy, size, true), RLAR_E_MODEL);
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    free(copy);
    rlar_ctx_free(ctx);
}

static void test_mutations(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_model *m = make_model(ctx, "minmax,unit", true);
    const uint64_t seed = 20260101;
    rlar_rng rng = rlar__rng_seed(&seed, 1);
    size_t size, accepted = 0;
    unsigned char *bytes = save(ctx, m, &size), *master = malloc(size), *copy = malloc(size);
    assert_true(master && copy);
    memcpy(master, bytes, size);
    rlar_bytes_free(ctx, bytes);
    rlar_model_free(m);
    for (int i = 0; i < 5000; i++) {
        memcpy(copy, master, size);
        mutate(&rng, copy, size);
        const rlar_status status = load_copy(ctx, copy, size, false);
        assert_true(status == RLAR_OK || status == RLAR_E_MODEL);
        accepted += status == RLAR_OK; /* the numbers of a map may be any */
        if (memcmp(copy, master, size) != 0)
            assert_int_equal(load_copy(ctx, copy, size, true), RLAR_E_MODEL);
    }
    assert_true(accepted > 0 && accepted < 5000);
    free(master);
    free(copy);
    rlar_ctx_free(ctx);
}

/* Replace a text of the header by one of the same length and say what the loader must answer. */
static void expect_refusal(rlar_ctx *ctx, const unsigned char *bytes, size_t size, const char *from,
                           const char *to, const char *answer) {
    unsigned char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    assert_int_equal(strlen(from), strlen(to));
    unsigned char *at = memmem(copy, size, from, strlen(from));
    assert_non_null(at);
    memcpy(at, to, strlen(to));
    assert_int_equal(load_copy(ctx, copy, size, false), RLAR_E_MODEL);
    if (strstr(rlar_ctx_error(ctx), answer) == NULL)
        fail_msg("%s -> %s: \"%s\" lacks \"%s\"", from, to, rlar_ctx_error(ctx), answer);
    free(copy);
}

static void test_refusals(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"\"format\":\"rlar\"", "\"format\":\"RLAR\"", "not an rlar model"},
        {"\"format_version\":\"1\"", "\"format_version\":\"2\"",
         "made by a newer rlar (format 2); this one reads format 1"},
        {"\"format_version\":\"1\"", "\"format_version\":\"x\"", "format_version is \"x\""},
        {"\"scale\":\"minmax\"", "\"scale\":\"minmay\"", "scale \"minmay\" is unknown"},
        {"\"scale\":\"minmax\"", "\"scale\":\"none\"  ",
         "tensor \"scale.0.shift\" does not belong"},
        {"scale.0.shift", "scale.1.shift", "tensor \"scale.1.shift\" does not belong"},
        {"\"version\":\"9.9.9\"", "\"versiom\":\"9.9.9\"", "metadata \"versiom\" is unknown"},
        {"\"method\":\"a method of tomorrow\"", "\"method\":[\"method of tomorrow\"]",
         "metadata \"method\" is not a text"},
        {"\"W\":{\"dtype\":\"F64\"", "\"W\":{\"dtype\":\"F32\"",
         "tensor W: dtype \"F32\", not F64"},
        {"\"W\":{\"dtype\":\"F64\",\"shape\":[2,3]", "\"W\":{\"dtype\":\"F64\",\"shape\":[3,2]",
         "its shape does not agree"},
        {"\"W\":{\"dtype\":\"F64\",\"shape\":[2,3]", "\"W\":{\"dtype\":\"F64\",\"shape\":[0,3]",
         "out of range"},
        {"\"b\":{\"dtype\":\"F64\",\"shape\":[2]", "\"b\":{\"dtype\":\"F64\",\"shape\":[1]",
         "tensor b: its shape does not agree"},
        {"\"data_offsets\":[0,48]", "\"data_offsets\":[8,48]",
         "tensor W: data_offsets are not [0, 48]"},
        {"\"reference_class\":{\"dtype\":\"I64\"", "\"reference_class\":{\"dtype\":\"F64\"",
         "not I64"},
        {"\\\"solver\\\":\\\"paper\\\"", "\\\"solver\\\":12345    ",
         "parameter \"solver\" is not a text"},
        {"\"references\":{\"dtype\":\"F64\",\"shape\":[5,2]",
         "\"references\":{\"dtype\":\"F64\",\"shape\":[9,2]", "asks for more than the 256 bytes"},
        {"\"params\":\"{", "\"params\":\"[", "params is not valid JSON"},
        {"\"params\":\"{\\\"alpha\\\":\\\"0.1\\\",\\\"solver\\\":\\\"paper\\\"}\"",
         "\"params\":\"[\\\"alpha\\\",\\\"0.1\\\",\\\"solver\\\",\\\"paper\\\"]\"",
         "metadata \"params\" is not a JSON object"},
        {"\"format_version\":\"1\"", "\"format_version\":\"0\"", "format_version is \"0\""},
        {"\"references\":{\"dtype\":\"F64\",\"shape\":[5,2]",
         "\"references\":{\"dtype\":\"F64\",\"shape\":[-,2]", "the header is not valid JSON"},
        {"\"b\":{\"dtype\"", "\"c\":{\"dtype\"", "tensor \"c\" does not belong"},
        {"\"version\":\"9.9.9\"", "\"version\":\"9\\n.9\"", "a control character"},
        {"\"method\":\"a method of tomorrow\"", "\"method\":\"a method\\tof t\\tmoro\"",
         "a control character"},
        {"\\\"paper\\\"", "\\\"p\\\\nr\\\"", "a control character"},
    };
    rlar_ctx *ctx = new_ctx();
    rlar_model *m = make_model(ctx, "minmax", false);
    size_t size;
    unsigned char *bytes = save(ctx, m, &size), *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    rlar_bytes_free(ctx, bytes);
    rlar_model_free(m);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_refusal(ctx, copy, size, cases[i][0], cases[i][1], cases[i][2]);
    free(copy);
    rlar_ctx_free(ctx);
}

/* Save a model that the writer does not mind and the reader must. */
static void expect_bad_model(rlar_ctx *ctx, rlar_model *m, const char *answer) {
    rlar_model *loaded = NULL;
    size_t size;
    unsigned char *bytes = save(ctx, m, &size);
    assert_int_equal(rlar_model_load_bytes(ctx, bytes, size, &loaded), RLAR_E_MODEL);
    assert_null(loaded);
    if (strstr(rlar_ctx_error(ctx), answer) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", rlar_ctx_error(ctx), answer);
    rlar_bytes_free(ctx, bytes);
    rlar_model_free(m);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
}

static void test_bad_contents(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_model *m = make_model(ctx, "unit", false);
    m->w[4] = NAN;
    expect_bad_model(ctx, m, "tensor W: element 4 is not finite");
    m = make_model(ctx, "zscore", false);
    m->scaling.step[0].factor[1] = INFINITY;
    expect_bad_model(ctx, m, "tensor scale.0.factor: element 1 is not finite");
    m = make_model(ctx, "unit", false);
    m->z_class[3] = C;
    expect_bad_model(ctx, m,
                     "tensor reference_class: element 3 is class 3, the classes are 0 to 2");
    m = make_model(ctx, "unit", false);
    m->z_class[0] = -1;
    expect_bad_model(ctx, m, "element 0 is class -1");
    m = make_model(ctx, "unit", false);
    rlar__texts_free(&m->classes);
    add(ctx, &m->classes, "x");
    add(ctx, &m->classes, "y");
    add(ctx, &m->classes, "x");
    expect_bad_model(ctx, m, "classes 0 and 2 are both named \"x\"");
    m = make_model(ctx, "unit", false);
    rlar__texts_free(&m->classes);
    add(ctx, &m->classes, "x");
    add(ctx, &m->classes, "");
    expect_bad_model(ctx, m, "class 1 has no name");
    m = make_model(ctx, "unit", false);
    add(ctx, &m->features, "only one");
    expect_bad_model(ctx, m, "1 feature names for 3 features");
    m = make_model(ctx, "unit", false);
    rlar__texts_free(&m->classes);
    expect_bad_model(ctx, m, "0 classes: at least one is needed");
    m = make_model(ctx, "unit", false);
    add(ctx, &m->param_names, "alpha");
    add(ctx, &m->param_values, "twice");
    expect_bad_model(ctx, m, "params is not valid JSON");
    rlar_ctx_free(ctx);
}

/* A model around this header, without a checksum that is right. */
static void expect_header(rlar_ctx *ctx, const char *header, int64_t data, const char *answer) {
    const size_t length = strlen(header), size = 8 + length + (size_t)data;
    unsigned char *bytes = calloc(1, size);
    assert_non_null(bytes);
    bytes[0] = (unsigned char)length;
    bytes[1] = (unsigned char)(length >> 8);
    memcpy(bytes + 8, header, length);
    assert_int_equal(load_copy(ctx, bytes, size, false), RLAR_E_MODEL);
    if (strstr(rlar_ctx_error(ctx), answer) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", rlar_ctx_error(ctx), answer);
    free(bytes);
}

#define META(more)                                                                                 \
    "{\"__metadata__\":{\"format\":\"rlar\",\"format_version\":\"1\",\"method\":\"m\","            \
    "\"params\":\"{}\",\"classes\":\"[\\\"a\\\"]\",\"scale\":\"unit\",\"version\":\"1\","          \
    "\"checksum\":\"crc64-xz:0000000000000000\"" more "},"
#define TENSOR(name, type, shape, offsets)                                                         \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define W_AND_B                                                                                    \
    TENSOR("W", "F64", "[1,1]", "[0,8]")                                                           \
    "," TENSOR("b", "F64", "[1]", "[8,16]") "," TENSOR("fill", "F64", "[1]", "[16,24]")
#define REFERENCES                                                                                 \
    "," TENSOR("references", "F64", "[0,1]", "[24,24]") "," TENSOR("reference_class", "I64",       \
                                                                   "[0]", "[24,24]") "}"

/* Headers that no writer of ours makes. */
static void test_headers(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    expect_header(ctx, META("") W_AND_B "," TENSOR("references", "F64", "[0,1]", "[24,24]") "}", 24,
                  "tensor reference_class is missing");
    expect_header(ctx, META("") W_AND_B REFERENCES, 32,
                  "8 bytes too many: the header promises 504, the file has 512; copy it again");
    expect_header(ctx, META(",\"features\":\"[7]\"") W_AND_B REFERENCES, 24,
                  "feature name 1 is not a text");
    expect_header(ctx, META(",\"features\":\"{}\"") W_AND_B REFERENCES, 24,
                  "metadata \"features\" is not a JSON list; make the model again");
    expect_header(ctx, META("") TENSOR("W", "F64", "[4611686018427387904,4]", "[0,8]") REFERENCES,
                  24, "its shape asks for more than the 24 bytes");
    expect_header(ctx, META("") TENSOR("W", "F64", "[1,1]", "[0,8]") "}", 8,
                  "references [-1, ...]: a shape is missing");
    rlar_ctx_free(ctx);
}

/* Sizes that only a defect of ours could bring, and those that do not fit. */
static void test_sizes(void **state) {
    (void)state;
    static const int64_t bad[][4] = {
        {0, 1, 1, 0}, {1, 0, 1, 0}, {1, 1, 0, 0}, {1, 1, 1, -1}, {1, 1, INT64_C(1) << 31, 0}};
    static const int64_t large[][4] = {{INT64_C(1) << 62, 4, 1, 0},
                                       {INT64_C(1) << 62, 2, 1, 0},
                                       {1, INT64_C(1) << 62, 1, 4},
                                       {1, INT64_C(1) << 62, 1, 2}};
    rlar_ctx *ctx = new_ctx();
    rlar_model *m = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const int64_t *s = bad[i];
        assert_int_equal(rlar__model_new(ctx, s[0], s[1], s[2], s[3], &m), RLAR_E_INTERNAL);
        assert_non_null(strstr(rlar_ctx_error(ctx), "are out of range; report this"));
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        const int64_t *s = large[i];
        assert_int_equal(rlar__model_new(ctx, s[0], s[1], s[2], s[3], &m), RLAR_E_TOO_LARGE);
        assert_non_null(strstr(rlar_ctx_error(ctx), "do not fit 64 bits"));
    }
    assert_null(m);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

/* What the loader would refuse is not written. */
static void test_not_written(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    void *bytes = NULL;
    size_t size = 0;
    rlar_model *m = make_model(ctx, "unit", false);
    rlar__free(m->method);
    m->method = NULL;
    assert_int_equal(rlar_model_save_bytes(ctx, m, &bytes, &size), RLAR_E_INTERNAL);
    assert_string_equal(rlar_ctx_error(ctx),
                        "model: method, version or scaling is not filled in; report this");
    assert_int_equal(rlar__strdup(ctx, "m\xff", &m->method), RLAR_OK);
    assert_true(rlar_model_save_bytes(ctx, m, &bytes, &size) < 0);
    assert_non_null(strstr(rlar_ctx_error(ctx), "method name"));
    rlar_model_free(m);
    static const char *const wrong[] = {"version", "parameter name", "parameter value"};
    for (int i = 0; i < 3; i++) {
        m = make_model(ctx, "unit", false);
        m->version[0] = (char)(i == 0 ? '\xff' : '9');
        add(ctx, &m->param_names, i == 1 ? "\xff" : "p");
        add(ctx, &m->param_values, i == 2 ? "\xff" : "v");
        assert_true(rlar_model_save_bytes(ctx, m, &bytes, &size) < 0);
        assert_non_null(strstr(rlar_ctx_error(ctx), wrong[i]));
        rlar_model_free(m);
    }
    for (int i = 0; i < 2; i++) {
        m = make_model(ctx, "unit", false);
        void **part = i ? (void **)&m->scaling.fill : (void **)&m->version;
        rlar__free(*part);
        *part = NULL;
        assert_int_equal(rlar_model_save_bytes(ctx, m, &bytes, &size), RLAR_E_INTERNAL);
        rlar_model_free(m);
    }
    m = make_model(ctx, "unit", false);
    const size_t length = (size_t)RLAR_MODEL_MAX_HEADER / D;
    char *name = malloc(length);
    assert_non_null(name);
    memset(name, 'n', length);
    for (int i = 0; i < D; i++)
        assert_int_equal(rlar__texts_add(ctx, &m->features, name, length), RLAR_OK);
    free(name);
    assert_int_equal(rlar_model_save_bytes(ctx, m, &bytes, &size), RLAR_E_TOO_LARGE);
    assert_non_null(strstr(rlar_ctx_error(ctx), "use shorter class or feature names"));
    assert_null(bytes);
    rlar_model_free(m);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

/* The JSON library has an allocator of its own; each of its allocations fails once. It takes some
 * of these failures for faults of the text, which cannot be told apart. */
static int json_left;

static void *json_alloc(size_t bytes) {
    return json_left-- > 0 ? malloc(bytes) : NULL;
}

static void test_no_memory_for_json(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_model *m = make_model(ctx, "minmax", true), *loaded = NULL;
    size_t size;
    unsigned char *bytes = save(ctx, m, &size);
    rlar_status status = RLAR_E_NOMEM;
    bool good = true, told = false;
    int fault = 0;
    json_set_alloc_funcs(json_alloc, free);
    for (; fault < 10000 && status < 0; fault++) {
        json_left = fault;
        status = rlar_model_load_bytes(ctx, bytes, size, &loaded);
        told = told || (status == RLAR_E_NOMEM && strstr(rlar_ctx_error(ctx), "bytes of JSON"));
        good = good && (status >= 0 ||
                        ((status == RLAR_E_NOMEM || status == RLAR_E_MODEL) && loaded == NULL));
    }
    json_set_alloc_funcs(malloc, free); /* before anything can fail: other tests go on */
    assert_true(good && told);
    assert_int_equal(status, RLAR_OK);
    assert_true(fault > 20);
    assert_models_equal(m, loaded);
    rlar_model_free(loaded);
    rlar_bytes_free(ctx, bytes);
    rlar_model_free(m);
    rlar_ctx_free(ctx);
}

/* What the JSON library holds, with the rounding and the header of the system's blocks. */
static size_t json_held, json_peak;

static void *json_count(size_t bytes) {
    void *block = malloc(bytes);
    json_held += block ? malloc_usable_size(block) + sizeof(size_t) : 0;
    json_peak = json_held > json_peak ? json_held : json_peak;
    return block;
}

static void json_uncount(void *block) {
    json_held -= block ? malloc_usable_size(block) + sizeof(size_t) : 0;
    free(block);
}

/* A growing text for headers that are long on purpose. */
typedef struct long_text {
    char *bytes;
    size_t used;
} long_text;

static void put(long_text *t, const char *text, int times) {
    const size_t length = strlen(text);
    t->bytes = realloc(t->bytes, t->used + length * (size_t)times + 1);
    assert_non_null(t->bytes);
    for (int i = 0; i < times; i++, t->used += length)
        memcpy(t->bytes + t->used, text, length + 1);
}

/* Load a model of this header, which ends here, and `data` bytes of zeros under a limit. */
static rlar_status load_limited(long_text header, size_t data, int64_t limit, char *error,
                                size_t error_size) {
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    rlar_ctx *ctx = NULL;
    rlar_model *m = NULL;
    o.threads = 1, o.max_memory = limit;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    unsigned char *bytes = calloc(1, 8 + header.used + data);
    assert_non_null(bytes);
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(header.used >> 8 * i);
    memcpy(bytes + 8, header.bytes, header.used);
    json_held = json_peak = 0;
    json_set_alloc_funcs(json_count, json_uncount);
    const rlar_status status =
        rlar__model_load_bytes(ctx, bytes, 8 + header.used + data, false, &m);
    json_set_alloc_funcs(malloc, free); /* before anything can fail: other tests go on */
    snprintf(error, error_size, "%s", rlar_ctx_error(ctx));
    rlar_model_free(m);
    free(bytes);
    free(header.bytes);
    assert_int_equal(json_held, 0);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    assert_true(json_peak <= (size_t)rlar_ctx_memory_peak(ctx));
    assert_true(rlar_ctx_memory_peak(ctx) <= limit);
    rlar_ctx_free(ctx);
    return status;
}

#define LIST_START                                                                                 \
    "{\"__metadata__\":{\"format\":\"rlar\",\"format_version\":\"1\",\"method\":\"m\","            \
    "\"params\":\"{}\",\"scale\":\"unit\",\"version\":\"1\","                                      \
    "\"checksum\":\"crc64-xz:0000000000000000\","

/* One feature and no references, so these are 24 bytes of numbers. */
static long_text with_list(const char *key, const char *entry, int times, const char *last) {
    long_text t = {0};
    put(&t, LIST_START, 1);
    put(&t, strcmp(key, "classes") == 0 ? "" : "\"classes\":\"[\\\"a\\\"]\",", 1);
    put(&t, "\"", 1);
    put(&t, key, 1);
    put(&t, "\":\"[", 1);
    put(&t, entry, times);
    put(&t, last, 1);
    put(&t, "]\"}," W_AND_B REFERENCES, 1);
    return t;
}

/* What the parser would make of many small values is refused before, or held against the limit. */
static void test_json_memory(void **state) {
    (void)state;
    enum { LIMIT = 10 << 20, TIMES = 300000 };
    char error[RLAR_ERROR_SIZE];
    long_text t = {0};
    put(&t, "{\"a\":[{}", 1);
    put(&t, ",{}", TIMES);
    put(&t, "]}", 1);
    assert_int_equal(load_limited(t, 0, LIMIT, error, sizeof error), RLAR_E_MODEL);
    assert_non_null(strstr(error, "not an rlar model: a JSON header of more than 1024 values"));
    assert_int_equal(json_peak, 0);
    /* One text of many bytes is no value more, but the parser holds it several times. */
    t = (long_text){0};
    put(&t, "{\"a\":\"", 1);
    put(&t, "\\\",{", TIMES * 10);
    put(&t, "\"}", 1);
    assert_int_equal(load_limited(t, 0, LIMIT, error, sizeof error), RLAR_E_NOMEM);
    assert_non_null(strstr(error, "the header: "));
    assert_int_equal(json_peak, 0);
    /* The lists. */
    t = with_list("classes", "\\\"a\\\",", TIMES, "\\\"a\\\"");
    assert_int_equal(load_limited(t, 24, LIMIT, error, sizeof error), RLAR_E_NOMEM);
    assert_non_null(strstr(error, "classes: 3"));
    t = with_list("classes", "{},", TIMES, "{}");
    assert_int_equal(load_limited(t, 24, LIMIT, error, sizeof error), RLAR_E_MODEL);
    assert_non_null(strstr(error, "metadata \"classes\" holds 300001 lists or objects in another"));
    t = with_list("features", "\\\"a\\\",", TIMES, "\\\"a\\\"");
    assert_int_equal(load_limited(t, 24, LIMIT, error, sizeof error), RLAR_E_MODEL);
    assert_non_null(strstr(error, "metadata \"features\" holds 300001 texts, at most 1 belong"));
    t = with_list("features", "", 0, "\\\"a, [b]\\\"");
    assert_int_equal(load_limited(t, 24, LIMIT, error, sizeof error), RLAR_OK);
}

/* The account is no less than what the parser takes: short and long texts, and objects. */
static void test_json_account(void **state) {
    (void)state;
    char error[RLAR_ERROR_SIZE];
    for (int times = 1; times < 70000; times = 2 * times + 1) {
        long_text t = with_list("classes", "\\\"a\\\",", times, "\\\"a\\\"");
        assert_int_equal(load_limited(t, 24, 1 << 30, error, sizeof error), RLAR_E_MODEL);
        assert_non_null(strstr(error, "are both named"));
        t = with_list("features", "", 0, "\\\"");
        t.used -= strlen("]\"}," W_AND_B REFERENCES);
        put(&t, "name ", times);
        put(&t, "\\\"]\"}," W_AND_B REFERENCES, 1);
        assert_int_equal(load_limited(t, 24, 1 << 30, error, sizeof error), RLAR_OK);
        t = (long_text){0};
        put(&t, "{\"a\":[{}", 1);
        put(&t, ",{}", times % 1000);
        put(&t, "]}", 1);
        assert_int_equal(load_limited(t, 0, 1 << 30, error, sizeof error), RLAR_E_MODEL);
        t = (long_text){0};
        put(&t, "{\"a\":{}", 1);
        for (int i = 0; i < times % 1000; i++) {
            char pair[32];
            snprintf(pair, sizeof pair, ",\"%d\":{}", i);
            put(&t, pair, 1);
        }
        put(&t, "}", 1);
        assert_int_equal(load_limited(t, 0, 1 << 30, error, sizeof error), RLAR_E_MODEL);
    }
}

static void test_not_a_model(void **state) {
    (void)state;
    static const char *const starts[] = {"", "a", "sepal_length,sepal_width\n5.1,3.5\n",
                                         "\x89PNG\r\n\x1a\n....IHDR", "{\"json\": true, \"a\": 1}"};
    rlar_ctx *ctx = new_ctx();
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        const unsigned char *bytes = (const unsigned char *)starts[i];
        assert_int_equal(load_copy(ctx, bytes, strlen(starts[i]), true), RLAR_E_MODEL);
        assert_non_null(strstr(rlar_ctx_error(ctx), "not an rlar model"));
    }
    /* Another program's safetensors file, and a header that promises more than a file can hold. */
    const unsigned char other[] = "\x42\0\0\0\0\0\0\0"
                                  "{\"x\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]}}"
                                  "            "
                                  "12345678";
    assert_int_equal(load_copy(ctx, other, sizeof other - 1, true), RLAR_E_MODEL);
    assert_non_null(strstr(rlar_ctx_error(ctx), "not an rlar model: a JSON header without"));
    const unsigned char huge[] = "\xff\xff\xff\xff\xff\xff\xff\x7f{\"x\":1}";
    assert_int_equal(load_copy(ctx, huge, sizeof huge - 1, true), RLAR_E_MODEL);
    assert_non_null(strstr(rlar_ctx_error(ctx), "not an rlar model"));
    const unsigned char nested[] = "\x09\0\0\0\0\0\0\0[[[[[[[[[";
    assert_int_equal(load_copy(ctx, nested, sizeof nested - 1, false), RLAR_E_MODEL);
    rlar_ctx_free(ctx);
}

static void test_names_must_be_utf8(void **state) {
    (void)state;
    static const char *const bad[] = {"\xff",         "caf\xe9",          "\xc0\x80",
                                      "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"};
    rlar_ctx *ctx = new_ctx();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        rlar_model *m = make_model(ctx, "unit", false);
        void *bytes = NULL;
        size_t size;
        rlar__texts_free(&m->classes);
        add(ctx, &m->classes, "good");
        add(ctx, &m->classes, bad[i]);
        assert_int_equal(rlar_model_save_bytes(ctx, m, &bytes, &size), RLAR_E_DATA);
        assert_null(bytes);
        assert_non_null(strstr(rlar_ctx_error(ctx), "class name 2 is not UTF-8"));
        rlar_model_free(m);
    }
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

/* One answer on two lines. */
static void test_names_stay_on_a_line(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_model *m = make_model(ctx, "unit", false);
    rlar__texts_free(&m->classes);
    add(ctx, &m->classes, "good");
    add(ctx, &m->classes, "bad\nnews");
    expect_bad_model(ctx, m, "a control character, such as a line break");
    rlar_ctx_free(ctx);
}

static bool starts_with(const char *path, const char *bytes, size_t size) {
    char found[64];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t got = fread(found, 1, sizeof found, f);
    fclose(f);
    return got >= size && memcmp(found, bytes, size) == 0;
}

/* A regular file of no bytes that has some: the command line of this process, whose beginning is
 * that of a model for a moment. */
static void test_file_without_a_size(void **state) {
    (void)state;
    static const char start[] = "AB\0\0\0\0\0\0{\"}";
    char kept[sizeof start];
    rlar_ctx *ctx = new_ctx();
    rlar_model *loaded = NULL;
    char *own = program_invocation_name; /* argv[0], where the system reads it */
    assert_true(strlen(own) > sizeof start);
    memcpy(kept, own, sizeof start);
    memcpy(own, start, sizeof start);
    const bool shown = starts_with("/proc/self/cmdline", start, sizeof start);
    const rlar_status status = rlar_model_load(ctx, "/proc/self/cmdline", &loaded);
    memcpy(own, kept, sizeof start);
    if (!shown) { /* valgrind shows a copy of its own */
        rlar_ctx_free(ctx);
        skip();
    }
    assert_int_equal(status, RLAR_E_MODEL);
    assert_non_null(strstr(rlar_ctx_error(ctx), "/proc/self/cmdline: at least"));
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
}

static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void test_files(void **state) {
    (void)state;
    char folder[] = "/tmp/rlar_test_model_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m.rlar", folder);
    rlar_ctx *ctx = new_ctx();
    rlar_model *m = make_model(ctx, "minmax,unit", true), *loaded = NULL;
    size_t size;
    unsigned char *bytes = save(ctx, m, &size);

    assert_int_equal(rlar_model_load(ctx, path, &loaded), RLAR_E_IO);
    assert_non_null(strstr(rlar_ctx_error(ctx), "m.rlar: cannot open the model"));
    assert_int_equal(rlar_model_save(ctx, m, path), RLAR_OK);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, size);
    assert_int_equal(rlar_model_load(ctx, path, &loaded), RLAR_OK);
    assert_models_equal(m, loaded);
    rlar_model_free(loaded);
    loaded = NULL;

    write_file(path, bytes, size - 117);
    assert_int_equal(rlar_model_load(ctx, path, &loaded), RLAR_E_MODEL);
    char wanted[160];
    snprintf(wanted, sizeof wanted,
             "%s: 117 bytes are missing: the header promises %zu, the file has %zu; copy it again",
             path, size, size - 117);
    assert_string_equal(rlar_ctx_error(ctx), wanted);
    write_file(path, bytes, 100);
    assert_int_equal(rlar_model_load(ctx, path, &loaded), RLAR_E_MODEL);
    assert_non_null(strstr(rlar_ctx_error(ctx), "bytes are missing"));
    bytes[size - 3] ^= 16;
    write_file(path, bytes, size);
    assert_int_equal(rlar_model_load(ctx, path, &loaded), RLAR_E_MODEL);
    assert_non_null(strstr(rlar_ctx_error(ctx), "damaged: the bytes have the checksum"));
    write_file(path, "x,y\n", 4);
    assert_int_equal(rlar_model_load(ctx, path, &loaded), RLAR_E_MODEL);
    assert_non_null(strstr(rlar_ctx_error(ctx), "not an rlar model: it begins with \"x,y.\""));
    assert_int_equal(rlar_model_load(ctx, folder, &loaded), RLAR_E_MODEL);
    assert_non_null(strstr(rlar_ctx_error(ctx), "it is a folder"));
    assert_int_equal(rlar_model_load(ctx, "/dev/zero", &loaded), RLAR_E_MODEL);
    assert_null(loaded);

    /* A pipe has no size; it is read to its end. */
    int ends[2];
    bytes[size - 3] ^= 16;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, size), size);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(rlar_model_load(ctx, path, &loaded), RLAR_OK);
    close(ends[0]);
    assert_models_equal(m, loaded);
    rlar_model_free(loaded);
    loaded = NULL;
    snprintf(path, sizeof path, "%s/m.rlar", folder);

    assert_int_equal(rlar_model_save(ctx, m, folder), RLAR_E_IO);
    assert_int_equal(rlar_model_save(ctx, NULL, path), RLAR_E_ARG);
    assert_int_equal(rlar_model_load(ctx, path, NULL), RLAR_E_ARG);
    assert_int_equal(rlar_model_load_bytes(ctx, NULL, 5, &loaded), RLAR_E_ARG);
    rlar_bytes_free(ctx, bytes);
    rlar_model_free(m);
    assert_int_equal(rlar_ctx_memory(ctx), 0);
    rlar_ctx_free(ctx);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

/* Longer than the first guess at what a pipe may bring. */
static void test_long_pipe(void **state) {
    (void)state;
    enum { LENGTH = 40000 };
    char name[LENGTH], path[32];
    rlar_ctx *ctx = new_ctx();
    rlar_model *m = make_model(ctx, "unit", false), *loaded = NULL;
    memset(name, 'n', LENGTH);
    for (int i = 0; i < D; i++)
        assert_int_equal(rlar__texts_add(ctx, &m->features, name, LENGTH), RLAR_OK);
    size_t size;
    unsigned char *bytes = save(ctx, m, &size);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 1 << 18) >= 1 << 18);
    assert_int_equal(write(ends[1], bytes, size), size);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(rlar_model_load(ctx, path, &loaded), RLAR_OK);
    close(ends[0]);
    assert_models_equal(m, loaded);
    rlar_model_free(loaded);
    rlar_bytes_free(ctx, bytes);
    rlar_model_free(m);
    rlar_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extreme_scores),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_crc),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bad_contents),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_not_written),
        cmocka_unit_test(test_no_memory_for_json),
        cmocka_unit_test(test_not_a_model),
        cmocka_unit_test(test_names_must_be_utf8),
        cmocka_unit_test(test_long_pipe),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_names_stay_on_a_line),
        cmocka_unit_test(test_file_without_a_size),
        cmocka_unit_test(test_json_memory),
        cmocka_unit_test(test_json_account),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
