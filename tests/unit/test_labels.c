/* test_labels.c - class names: interning, canonical numbers, order, and labels of new data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "data/labels.h"
#include "reading.h"

static int64_t put(rlar_ctx *ctx, rlar_intern *in, const char *text) {
    int64_t id = -7;
    assert_int_equal(rlar__intern(ctx, in, text, strlen(text), &id), RLAR_OK);
    return id;
}

/* Enough texts for several rounds of growth. */
static void test_intern(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    rlar_intern in = {0};
    assert_int_equal(rlar__intern_find(&in, "a", 1), -1);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            char text[32];
            snprintf(text, sizeof text, "name %d", i * 7);
            assert_int_equal(put(ctx, &in, text), i);
            assert_int_equal(rlar__intern_find(&in, text, strlen(text)), i);
        }
    assert_int_equal(in.texts.count, 5000);
    assert_int_equal(rlar__intern_find(&in, "name 7x", 6), 1); /* the length counts, not the NUL */
    assert_int_equal(rlar__intern_find(&in, "name", 4), -1);
    assert_int_equal(put(ctx, &in, ""), 5000);
    rlar__intern_free(&in);
    end_ctx(ctx);
}

static void check_canonical(const char *text, const char *want) {
    char buf[RLAR_NUMBER_SIZE];
    const int length = rlar__label_canonical(text, strlen(text), buf);
    if (!want) {
        assert_int_equal(length, -1);
        return;
    }
    assert_int_equal(length, strlen(want));
    assert_string_equal(buf, want);
}

static void test_canonical(void **state) {
    (void)state;
    check_canonical("1", "1");
    check_canonical("1.0", "1");
    check_canonical(" 01", "1");
    check_canonical("+1e0", "1");
    check_canonical("-0", "0");
    check_canonical("2.50", "2.5");
    check_canonical("cat", NULL);
    check_canonical("", NULL);
    check_canonical("nan", NULL);
    check_canonical("1407374883553280", "1407374883553280"); /* %.15g has an exponent here */
    check_canonical("-1e15", "-1000000000000000");
    check_canonical("9007199254740991", "9007199254740991");
    check_canonical("9007199254740993", NULL); /* from 2^53 on, numbers would melt together */
}

/* Sort the texts and compare names and remap, given as "old>new" digits. */
static void check_sort(const char *const *texts, int count, const char *const *names, int classes,
                       const int64_t *want) {
    rlar_ctx *ctx = new_ctx();
    rlar_intern in = {0};
    rlar_texts sorted = {0};
    int64_t remap[16];
    for (int i = 0; i < count; i++)
        assert_int_equal(put(ctx, &in, texts[i]), i);
    assert_int_equal(rlar__classes_sort(ctx, &in, &sorted, remap), RLAR_OK);
    assert_int_equal(sorted.count, classes);
    for (int i = 0; i < classes; i++)
        assert_string_equal(rlar__texts_at(&sorted, i), names[i]);
    for (int i = 0; i < count; i++)
        assert_int_equal(remap[i], want[i]);
    rlar__texts_free(&sorted);
    rlar__intern_free(&in);
    end_ctx(ctx);
}

static void test_sort(void **state) {
    (void)state;
    const char *const numbers[] = {"10", "2", "1.0", "-3", "1", "02"};
    const char *const numbers_sorted[] = {"-3", "1", "2", "10"};
    const int64_t numbers_map[] = {3, 2, 1, 0, 1, 2};
    check_sort(numbers, 6, numbers_sorted, 4, numbers_map);

    const char *const texts[] = {"b", "10", "2", "B", "\xc3\xa9", "1.0", "1"};
    const char *const texts_sorted[] = {"1", "1.0", "10", "2", "B", "b", "\xc3\xa9"};
    const int64_t texts_map[] = {5, 2, 3, 4, 6, 1, 0};
    check_sort(texts, 7, texts_sorted, 7, texts_map);

    const char *const ids[] = {"90071992547409931", "90071992547409932"};
    const int64_t ids_map[] = {0, 1};
    check_sort(ids, 2, ids, 2, ids_map);
    check_sort(NULL, 0, NULL, 0, NULL);
}

static void make_names(rlar_ctx *ctx, rlar_texts *names, const char *const *texts, int count) {
    for (int i = 0; i < count; i++)
        assert_int_equal(rlar__texts_add(ctx, names, texts[i], strlen(texts[i])), RLAR_OK);
}

static void test_class_index(void **state) {
    (void)state;
    const char *const numbers[] = {"1", "2", "10"}, *const texts[] = {"1", "1.0", "a"},
                      *const twice[] = {"1", "1.0"};
    rlar_ctx *ctx = new_ctx();
    rlar_texts names = {0};
    rlar_class_index index = {0};
    make_names(ctx, &names, numbers, 3);
    assert_int_equal(rlar__class_index_build(ctx, &names, &index), RLAR_OK);
    assert_int_equal(rlar__class_index_find(&index, "1e1", 3), 2);
    assert_int_equal(rlar__class_index_find(&index, " 2.0", 4), 1);
    assert_int_equal(rlar__class_index_find(&index, "3", 1), -1);
    assert_int_equal(rlar__class_index_find(&index, "a", 1), -1);
    rlar__class_index_free(&index);
    rlar__texts_free(&names);

    make_names(ctx, &names, texts, 3);
    assert_int_equal(rlar__class_index_build(ctx, &names, &index), RLAR_OK);
    assert_int_equal(rlar__class_index_find(&index, "1.0", 3), 1);
    assert_int_equal(rlar__class_index_find(&index, "1.00", 4), -1);
    assert_int_equal(rlar__class_index_find(&index, "a", 1), 2);
    rlar__class_index_free(&index);
    rlar__texts_free(&names);

    make_names(ctx, &names, twice, 2);
    assert_int_equal(rlar__class_index_build(ctx, &names, &index), RLAR_E_MODEL);
    assert_non_null(strstr(rlar_ctx_error(ctx), "classes 1 and 2 are both named '1.0'"));
    rlar__texts_free(&names);
    end_ctx(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intern), cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_sort), cmocka_unit_test(test_class_index)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
