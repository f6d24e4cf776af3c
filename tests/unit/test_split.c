/* test_split.c - splits: sizes, balance, repeatability, and every refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/split.h"

enum { N = 62, C = 3 };

typedef struct fixture {
    rlar_ctx *ctx;
    rlar_labels labels;
    int64_t label[N], class_size[C];
    rlar_texts classes;
    const char *note; /* what a line of the log must say */
    int64_t logged;
} fixture;

static void count_log(void *user, rlar_status status, const char *text) {
    fixture *f = user;
    (void)status;
    assert_non_null(strstr(text, f->note));
    f->logged++;
}

/* 10, 21 and 31 samples of three classes, interleaved. */
static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    assert_non_null(f);
    f->note = "fewer samples than";
    o.threads = 1;
    o.log = count_log;
    o.user = f;
    assert_int_equal(rlar_ctx_new(&o, &f->ctx), RLAR_OK);
    for (int64_t i = 0; i < N; i++) {
        f->label[i] = i % 6 == 0 && f->class_size[0] < 10 ? 0 : i % 2 == 0 ? 1 : 2;
        f->class_size[f->label[i]]++;
    }
    assert_int_equal(f->class_size[0], 10);
    assert_int_equal(f->class_size[1], 21);
    for (int i = 0; i < C; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        assert_int_equal(rlar__texts_add(f->ctx, &f->classes, name, 1), RLAR_OK);
    }
    f->labels = (rlar_labels){.n = N,
                              .d = 4,
                              .c = C,
                              .label = f->label,
                              .class_size = f->class_size,
                              .classes = &f->classes};
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    rlar__texts_free(&f->classes);
    assert_int_equal(rlar_ctx_memory(f->ctx), 0);
    rlar_ctx_free(f->ctx);
    free(f);
    return 0;
}

static rlar_part make(fixture *f, const rlar_split_rule *rule, int64_t trial) {
    rlar_part part = {0};
    assert_int_equal(
        rlar__split_make(f->ctx, &f->labels, rlar__data_id(&f->labels), rule, trial, &part),
        RLAR_OK);
    return part;
}

/* Every one of `count` samples in exactly one part; each part grouped by class. */
static void check_partition(const fixture *f, const rlar_part *part, int64_t count) {
    bool seen[N] = {false};
    assert_int_equal(part->n_train + part->n_test, count);
    for (int64_t i = 0; i < part->n_train; i++) {
        assert_false(seen[part->train[i]]);
        seen[part->train[i]] = true;
        assert_true(i == 0 || f->label[part->train[i - 1]] <= f->label[part->train[i]]);
    }
    for (int64_t i = 0; i < part->n_test; i++) {
        assert_false(seen[part->test[i]]);
        seen[part->test[i]] = true;
        assert_true(i == 0 || f->label[part->test[i - 1]] <= f->label[part->test[i]]);
    }
}

static int64_t of_class(const fixture *f, const int64_t *rows, int64_t n, int64_t class) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += f->label[rows[i]] == class;
    return count;
}

static bool same_rows(const rlar_part *a, const rlar_part *b) {
    return a->n_train == b->n_train &&
           memcmp(a->train, b->train, (size_t)a->n_train * sizeof *a->train) == 0;
}

static void test_per_class(void **state) {
    fixture *f = *state;
    const rlar_split_rule rule = {.kind = RLAR_SPLIT_PER_CLASS, .per_class = 7, .seed = 1};
    assert_int_equal(rlar__split_check(f->ctx, &f->labels, &rule), RLAR_OK);
    rlar_part first = make(f, &rule, 0);
    for (int64_t t = 0; t < 10; t++) {
        rlar_part part = make(f, &rule, t), again = make(f, &rule, t);
        check_partition(f, &part, N);
        assert_int_equal(part.n_train, C * 7);
        for (int64_t k = 0; k < C; k++)
            assert_int_equal(of_class(f, part.train, part.n_train, k), 7);
        assert_true(same_rows(&part, &again));
        assert_true(same_rows(&part, &first) == (t == 0));
        rlar__part_free(&part);
        rlar__part_free(&again);
    }
    rlar__part_free(&first);
}

/* The seed, the rule and the data all change the split; nothing else does. */
static void test_what_decides(void **state) {
    fixture *f = *state;
    rlar_split_rule rule = {.kind = RLAR_SPLIT_PER_CLASS, .per_class = 7, .seed = 1};
    rlar_part base = make(f, &rule, 3), other;
    rule.seed = 2;
    other = make(f, &rule, 3);
    assert_false(same_rows(&base, &other));
    rlar__part_free(&other);
    rule.seed = 1;
    const uint64_t id = rlar__data_id(&f->labels);
    f->labels.d = 5;
    assert_true(rlar__data_id(&f->labels) != id);
    other = make(f, &rule, 3);
    assert_false(same_rows(&base, &other));
    rlar__part_free(&other);
    f->labels.d = 4;
    f->label[0] = 1;
    assert_true(rlar__data_id(&f->labels) != id);
    f->label[0] = 0;
    assert_true(rlar__data_id(&f->labels) == id);
    rlar__part_free(&base);
}

/* Written down once: these sample numbers are a promise to everyone who repeats an experiment. */
static void test_pinned(void **state) {
    fixture *f = *state;
    const rlar_split_rule rule = {.kind = RLAR_SPLIT_PER_CLASS, .per_class = 2, .seed = 1};
    rlar_part part = make(f, &rule, 0);
    char text[64] = "";
    for (int64_t i = 0; i < part.n_train; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%lld ",
                 (long long)part.train[i]);
    assert_string_equal(text, "30 54 58 50 1 47 ");
    rlar__part_free(&part);
}

/* Over many trials every sample of a class trains about equally often. */
static void test_uniform(void **state) {
    fixture *f = *state;
    const rlar_split_rule rule = {.kind = RLAR_SPLIT_PER_CLASS, .per_class = 5, .seed = 9};
    int64_t times[N] = {0};
    enum { TRIALS = 4000 };
    for (int64_t t = 0; t < TRIALS; t++) {
        rlar_part part = make(f, &rule, t);
        for (int64_t i = 0; i < part.n_train; i++)
            times[part.train[i]]++;
        rlar__part_free(&part);
    }
    for (int64_t i = 0; i < N; i++) {
        const double share = 5.0 / (double)f->class_size[f->label[i]];
        const double mean = TRIALS * share, variance = mean * (1 - share);
        const double off = (double)times[i] - mean;
        assert_true(off * off < 25 * variance); /* five standard deviations */
    }
}

static void test_fraction(void **state) {
    fixture *f = *state;
    rlar_split_rule rule = {.kind = RLAR_SPLIT_FRACTION, .fraction = 0.3, .seed = 1};
    const int64_t third[C] = {3, 6, 9}, few[C] = {1, 1, 1}, most[C] = {9, 20, 30};
    const double fractions[] = {0.3, 0.001, 0.999};
    const int64_t *const wanted[] = {third, few, most};
    f->note = "in 3 of 3 classes a training share of 0.001 is less than one sample";
    for (int i = 0; i < 3; i++) {
        rule.fraction = fractions[i];
        assert_int_equal(rlar__split_check(f->ctx, &f->labels, &rule), RLAR_OK);
        rlar_part part = make(f, &rule, 0);
        check_partition(f, &part, N);
        for (int64_t k = 0; k < C; k++)
            assert_int_equal(of_class(f, part.train, part.n_train, k), wanted[i][k]);
        rlar__part_free(&part);
        assert_int_equal(f->logged, i == 0 ? 0 : 1); /* once, for the 0.001 */
    }
}

static void test_folds(void **state) {
    fixture *f = *state;
    const rlar_split_rule rule = {.kind = RLAR_SPLIT_FOLDS, .folds = 5, .seed = 1};
    assert_int_equal(rlar__split_check(f->ctx, &f->labels, &rule), RLAR_OK);
    assert_int_equal(f->logged, 0);
    for (int64_t repetition = 0; repetition < 3; repetition++) {
        int64_t tested[N] = {0};
        for (int64_t fold = 0; fold < 5; fold++) {
            rlar_part part = make(f, &rule, repetition * 5 + fold);
            check_partition(f, &part, N);
            assert_true(part.n_test == 12 || part.n_test == 13);
            for (int64_t k = 0; k < C; k++) {
                const int64_t count = of_class(f, part.test, part.n_test, k);
                const int64_t size = f->class_size[k];
                assert_true(count == size / 5 || count == (size + 4) / 5);
            }
            for (int64_t i = 0; i < part.n_test; i++)
                tested[part.test[i]]++;
            rlar__part_free(&part);
        }
        for (int64_t i = 0; i < N; i++)
            assert_int_equal(tested[i], 1);
    }
}

static void test_inner_folds(void **state) {
    fixture *f = *state;
    const rlar_split_rule rule = {.kind = RLAR_SPLIT_PER_CLASS, .per_class = 3, .seed = 1};
    const uint64_t id = rlar__data_id(&f->labels);
    rlar_part outer = make(f, &rule, 2);
    int64_t folds = 0, tested[N] = {0};
    assert_int_equal(rlar__inner_folds(f->ctx, &f->labels, &outer, 5, &folds), RLAR_OK);
    assert_int_equal(folds, 3);
    assert_int_equal(rlar__inner_folds(f->ctx, &f->labels, &outer, 2, &folds), RLAR_OK);
    assert_int_equal(folds, 2);
    for (int64_t fold = 0; fold < 3; fold++) {
        rlar_part inner = {0};
        assert_int_equal(
            rlar__inner_make(f->ctx, &f->labels, id, &rule, 2, &outer, 3, fold, &inner), RLAR_OK);
        check_partition(f, &inner, outer.n_train);
        for (int64_t k = 0; k < C; k++)
            assert_int_equal(of_class(f, inner.test, inner.n_test, k), 1);
        for (int64_t i = 0; i < inner.n_test; i++)
            tested[inner.test[i]]++;
        rlar__part_free(&inner);
    }
    for (int64_t i = 0; i < outer.n_train; i++)
        assert_int_equal(tested[outer.train[i]], 1);
    rlar__part_free(&outer);
}

static void expect(fixture *f, rlar_split_rule rule, rlar_status status, const char *text) {
    assert_int_equal(rlar__split_check(f->ctx, &f->labels, &rule), status);
    if (strstr(rlar_ctx_error(f->ctx), text) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", rlar_ctx_error(f->ctx), text);
}

static void test_refusals(void **state) {
    fixture *f = *state;
    expect(f, (rlar_split_rule){.kind = RLAR_SPLIT_PER_CLASS, .per_class = 10}, RLAR_E_DATA,
           "class \"a\" has 10 samples, but 10 for training");
    expect(f, (rlar_split_rule){.kind = RLAR_SPLIT_PER_CLASS, .per_class = INT64_MAX}, RLAR_E_DATA,
           "class \"a\"");
    expect(f, (rlar_split_rule){.kind = RLAR_SPLIT_PER_CLASS}, RLAR_E_ARG, "per_class is 0");
    expect(f, (rlar_split_rule){.kind = RLAR_SPLIT_FRACTION, .fraction = 1}, RLAR_E_ARG,
           "fraction is 1");
    expect(f, (rlar_split_rule){.kind = RLAR_SPLIT_FRACTION, .fraction = 0.0 / 1}, RLAR_E_ARG,
           "fraction is 0");
    expect(f, (rlar_split_rule){.kind = RLAR_SPLIT_FOLDS, .folds = 1}, RLAR_E_ARG, "folds is 1");
    expect(f, (rlar_split_rule){.kind = RLAR_SPLIT_FOLDS, .folds = N + 1}, RLAR_E_ARG,
           "choose 2 to 62");
    const rlar_split_rule many = {.kind = RLAR_SPLIT_FOLDS, .folds = 11};
    assert_int_equal(rlar__split_check(f->ctx, &f->labels, &many), RLAR_OK);
    assert_int_equal(f->logged, 1);
    f->class_size[1] = 1;
    expect(f, (rlar_split_rule){.kind = RLAR_SPLIT_FRACTION, .fraction = 0.5}, RLAR_E_DATA,
           "class \"b\" has 1 samples");
    f->class_size[1] = 21;
    rlar_part outer = make(f, &(rlar_split_rule){.kind = RLAR_SPLIT_PER_CLASS, .per_class = 1}, 0);
    int64_t folds = 77;
    assert_int_equal(rlar__inner_folds(f->ctx, &f->labels, &outer, 5, &folds), RLAR_E_DATA);
    assert_int_equal(folds, 77);
    assert_non_null(strstr(rlar_ctx_error(f->ctx), "needs 2 training samples per class"));
    rlar__part_free(&outer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_per_class, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_decides, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pinned, setup, teardown),
        cmocka_unit_test_setup_teardown(test_uniform, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fraction, setup, teardown),
        cmocka_unit_test_setup_teardown(test_folds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_inner_folds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
