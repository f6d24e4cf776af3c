/* test_golden.c - models of format 1 that are committed, one for each kind (tests/golden). Every
 * later rlar reads them, so a change of writer and reader together does not pass unseen.
 *
 *     tests/golden/make.py build/rlar     made them and expected.txt, with version 0.1.0
 *
 * Each has the bits of the map that another reader found in it, predicts what the formulas of
 * docs/model-format.md say, is saved again with the same bytes, and refused when it is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rlar.h"

enum { MOST_NUMBERS = 16, MOST_BYTES = 1 << 14 };

/* ---- expected.txt ---- */

/* One line: a word, and numbers behind it. */
typedef struct line {
    char word[16], name[64];
    double number[MOST_NUMBERS];
    int count;
} line;

static bool next_line(FILE *file, line *out) {
    char text[1024];
    int used = 0;
    if (!fgets(text, sizeof text, file))
        return false;
    assert_int_equal(sscanf(text, "%15s%n", out->word, &used), 1);
    char *at = text + used;
    if (strcmp(out->word, "model") == 0) {
        assert_int_equal(sscanf(at, "%63s%n", out->name, &used), 1);
        at += used;
    }
    for (out->count = 0; out->count < MOST_NUMBERS; out->count++) {
        char *end;
        out->number[out->count] = strtod(at, &end);
        if (end == at)
            break;
        at = end;
    }
    return true;
}

static void take_line(FILE *file, const char *word, int64_t count, line *out) {
    assert_true(next_line(file, out));
    assert_string_equal(out->word, word);
    assert_int_equal(out->count, count);
}

static FILE *open_in_folder(const char *name, const char *ending) {
    char path[1024];
    const char *root = getenv("RLAR_SOURCE_ROOT");
    snprintf(path, sizeof path, "%s/tests/golden/%s%s", root ? root : ".", name, ending);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    return file;
}

/* ---- One model ---- */

static rlar_ctx *ctx;

static void check_class(const rlar_model *m, const rlar_data *data, const char *classifier,
                        int64_t want) {
    rlar_predict_options o = RLAR_INIT(rlar_predict_options);
    int64_t class = -1;
    o.classifier = classifier;
    const rlar_status status = rlar_predict(ctx, m, data, &o, &class, NULL);
    assert_int_equal(status >= 0, want >= 0); /* no references, or no output for each class */
    if (status >= 0)
        assert_int_equal(class, want);
}

/* A sample, its outputs and its classes. Outputs are sums, taken in another order elsewhere. */
static void check_sample(FILE *file, const rlar_model *m, const line *x) {
    rlar_view view = RLAR_INIT(rlar_view);
    rlar_data *data = NULL;
    double z[MOST_NUMBERS];
    line want;
    assert_int_equal(x->count, rlar_model_dims(m));
    view.n = 1;
    view.d = view.stride = rlar_model_dims(m);
    view.x = x->number;
    assert_int_equal(rlar_data_view(ctx, &view, &data), RLAR_OK);
    assert_int_equal(rlar_transform(ctx, m, data, z), RLAR_OK);
    take_line(file, "z", rlar_model_outputs(m), &want);
    for (int k = 0; k < want.count; k++)
        assert_true(fabs(z[k] - want.number[k]) <= 1e-12 * (1.0 + fabs(want.number[k])));
    take_line(file, "class", 2, &want);
    check_class(m, data, "1nn", (int64_t)want.number[0]);
    check_class(m, data, "argmax", (int64_t)want.number[1]);
    rlar_data_free(data);
}

/* W and b, to the last bit. */
static void check_map(FILE *file, const rlar_model *m) {
    const int64_t d = rlar_model_dims(m), p = rlar_model_outputs(m);
    line want;
    for (int64_t k = 0; k < p; k++) {
        take_line(file, "w", d, &want);
        assert_memory_equal(rlar_model_map(m) + k * d, want.number, (size_t)d * sizeof(double));
    }
    take_line(file, "b", p, &want);
    assert_memory_equal(rlar_model_offset(m), want.number, (size_t)p * sizeof(double));
}

static void check_saved(const rlar_model *m, const unsigned char *bytes, size_t size) {
    void *again = NULL;
    size_t length = 0;
    assert_int_equal(rlar_model_save_bytes(ctx, m, &again, &length), RLAR_OK);
    assert_int_equal(length, size);
    assert_memory_equal(again, bytes, size);
    rlar_bytes_free(ctx, again);
}

static void check_cuts(const unsigned char *bytes, size_t size) {
    for (size_t cut = 0; cut < size; cut++) {
        rlar_model *m = NULL;
        unsigned char *copy = malloc(cut + 1); /* of its own size: a sanitizer sees the end */
        assert_non_null(copy);
        memcpy(copy, bytes, cut);
        assert_int_equal(rlar_model_load_bytes(ctx, copy, cut, &m), RLAR_E_MODEL);
        assert_null(m);
        free(copy);
    }
}

/* From the line that names it to the next one that does; false: there is none. */
static bool check_model(FILE *file, line *at) {
    static unsigned char bytes[MOST_BYTES];
    rlar_model *m = NULL;
    FILE *model = open_in_folder(at->name, ".rlar");
    const size_t size = fread(bytes, 1, sizeof bytes, model);
    fclose(model);
    assert_in_range(size, 1, sizeof bytes - 1);
    if (rlar_model_load_bytes(ctx, bytes, size, &m) < 0)
        fail_msg("%s: %s", at->name, rlar_ctx_error(ctx));
    assert_int_equal(at->count, 4);
    const int64_t sizes[] = {rlar_model_dims(m), rlar_model_outputs(m), rlar_model_classes(m),
                             rlar_model_references(m)};
    for (int i = 0; i < 4; i++)
        assert_int_equal(sizes[i], (int64_t)at->number[i]);
    check_map(file, m);
    bool more;
    while ((more = next_line(file, at)) && strcmp(at->word, "x") == 0)
        check_sample(file, m, at);
    check_saved(m, bytes, size);
    check_cuts(bytes, size);
    rlar_model_free(m);
    return more;
}

static void test_models(void **state) {
    (void)state;
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    line at;
    int count = 1;
    o.threads = 1;
    assert_int_equal(rlar_ctx_new(&o, &ctx), RLAR_OK);
    FILE *file = open_in_folder("expected", ".txt");
    assert_true(next_line(file, &at));
    while (check_model(file, &at))
        count++;
    assert_int_equal(count, 7);
    fclose(file);
    rlar_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
