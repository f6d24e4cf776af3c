/* test_data.c - data in the caller's memory: views of all types, labels, names, and what is
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "reading.h"

/* Three samples of two features, in each of the three types, with room between the samples. */
static const double wide[] = {1, 2, 99, 3, 0, 99, 0, 6, 99};
static const float narrow[] = {1, 2, 3, 0, 0, 6};
static const double stored[] = {1, 2, 3, 6};
static const int64_t indptr[] = {0, 2, 3, 4}, indices[] = {0, 1, 0, 1};

static rlar_view view_of(rlar_dtype type) {
    rlar_view v = RLAR_INIT(rlar_view);
    v.type = type;
    v.n = 3;
    v.d = 2;
    v.x = type == RLAR_F64   ? (const void *)wide
          : type == RLAR_F32 ? (const void *)narrow
                             : (const void *)stored;
    v.stride = type == RLAR_F64 ? 3 : 2;
    v.indptr = type == RLAR_CSR ? indptr : NULL;
    v.indices = type == RLAR_CSR ? indices : NULL;
    return v;
}

static rlar_data *make(rlar_ctx *ctx, const rlar_view *view) {
    rlar_data *data = NULL;
    const rlar_status status = rlar_data_view(ctx, view, &data);
    if (status < 0)
        print_error("%s\n", rlar_ctx_error(ctx));
    assert_int_equal(status, RLAR_OK);
    return data;
}

static void refuse(const rlar_view *view, rlar_status code, const char *expected) {
    rlar_ctx *ctx = new_ctx();
    rlar_data *data = NULL;
    const rlar_status status = rlar_data_view(ctx, view, &data);
    if (status != code || strcmp(rlar_ctx_error(ctx), expected) != 0)
        fail_msg("status %d, text\n  %s\ninstead of\n  %s", (int)status, rlar_ctx_error(ctx),
                 expected);
    assert_null(data);
    end_ctx(ctx);
}

static void test_types(void **state) {
    (void)state;
    static const double want[] = {1, 2, 3, 0, 0, 6};
    rlar_ctx *ctx = new_ctx();
    for (int type = RLAR_F64; type <= RLAR_CSR; type++) {
        const rlar_view v = view_of((rlar_dtype)type);
        rlar_data *data = make(ctx, &v);
        assert_int_equal(rlar_data_samples(data), 3);
        assert_int_equal(rlar_data_dims(data), 2);
        assert_int_equal(rlar_data_classes(data), 0);
        assert_int_equal(rlar_data_label(data, 0), -1);
        assert_int_equal(rlar_data_missing(data), 0);
        assert_null(rlar_data_feature(data, 0));
        assert_null(rlar_data_class(data, 0));
        assert_string_equal(rlar_data_name(data), "memory");
        assert_string_equal(rlar_data_format(data), "memory");
        for (int i = 0; i < 6; i++)
            assert_true(value_at(data, i / 2, i % 2) == want[i]);
        rlar_data_free(data);
    }
    rlar_data_free(NULL);
    end_ctx(ctx);
}

static void test_sizes_refused(void **state) {
    (void)state;
    rlar_view v = view_of(RLAR_F64);
    v.size = 8;
    char text[128];
    snprintf(text, sizeof text, "view: size is 8; set it to sizeof(rlar_view), %zu", sizeof v);
    refuse(&v, RLAR_E_ARG, text);
    v = view_of(RLAR_F64);
    v.type = (rlar_dtype)7;
    refuse(&v, RLAR_E_ARG, "view: type 7 is unknown; use RLAR_F64, RLAR_F32 or RLAR_CSR");
    v = view_of(RLAR_F64);
    v.n = 0;
    refuse(&v, RLAR_E_ARG, "view: 0 samples of 2 features; at least one of each is needed");
    v = view_of(RLAR_F32);
    v.d = -1;
    refuse(&v, RLAR_E_ARG, "view: 3 samples of -1 features; at least one of each is needed");
    v = view_of(RLAR_F64);
    v.stride = 1;
    refuse(&v, RLAR_E_ARG,
           "view: stride 1 is smaller than the 2 features of a sample; set it to the elements from "
           "one sample to "
           "the next");
    v = view_of(RLAR_F64);
    v.n = v.stride = INT64_C(1) << 40;
    refuse(
        &v, RLAR_E_TOO_LARGE,
        "view: 1099511627776 samples, 1099511627776 elements apart, do not fit the address space");
    v = view_of(RLAR_F64);
    v.x = NULL;
    refuse(&v, RLAR_E_ARG, "view: x is NULL; it must point to the values");
    rlar_ctx *ctx = new_ctx();
    rlar_data *data = NULL;
    assert_int_equal(rlar_data_view(ctx, NULL, &data), RLAR_E_ARG);
    assert_int_equal(rlar_data_view(NULL, &v, &data), RLAR_E_ARG);
    end_ctx(ctx);
}

static void test_csr_refused(void **state) {
    (void)state;
    static const int64_t late[] = {1, 2, 3, 4}, falling[] = {0, 2, 1, 4}, beyond[] = {0, 2, 0, 1},
                         negative[] = {0, -1, 0, 1}, twice[] = {1, 1, 0, 1},
                         huge[] = {0, 2, 3, INT64_C(1) << 61};
    rlar_view v = view_of(RLAR_CSR);
    v.indptr = NULL;
    refuse(&v, RLAR_E_ARG, "view: indptr is NULL; CSR needs its n + 1 row starts");
    v = view_of(RLAR_CSR);
    v.indptr = late;
    refuse(&v, RLAR_E_ARG, "view: indptr[0] is 1; row starts begin at 0 and never decrease");
    v.indptr = falling;
    refuse(&v, RLAR_E_ARG, "view: indptr[2] is 1; row starts begin at 0 and never decrease");
    v.indptr = huge;
    refuse(&v, RLAR_E_TOO_LARGE, "view: 2305843009213693952 values do not fit the address space");
    v = view_of(RLAR_CSR);
    v.indices = NULL;
    refuse(&v, RLAR_E_ARG, "view: x or indices is NULL, but indptr tells of 4 values");
    v.indices = beyond;
    refuse(&v, RLAR_E_ARG,
           "view: column 2 in sample 0 is out of range; it has 2 features, counted from 0");
    v.indices = negative;
    refuse(&v, RLAR_E_ARG,
           "view: column -1 in sample 0 is out of range; it has 2 features, counted from 0");
    v.indices = twice;
    refuse(&v, RLAR_E_ARG,
           "view: column 1 follows column 1 in sample 0; the columns of a row must increase (sort "
           "them and add up "
           "duplicates)");
}

static void test_empty_csr(void **state) {
    (void)state;
    static const int64_t none[] = {0, 0, 0, 0};
    rlar_ctx *ctx = new_ctx();
    rlar_view v = view_of(RLAR_CSR);
    v.indptr = none;
    v.indices = NULL;
    v.x = NULL;
    rlar_data *data = make(ctx, &v);
    assert_true(value_at(data, 2, 1) == 0);
    rlar_data_free(data);
    end_ctx(ctx);
}

static void test_values(void **state) {
    (void)state;
    double x[] = {1, NAN, 3, 4, NAN, 6};
    float y[] = {1, 2, 3, 4, 5, -INFINITY};
    rlar_ctx *ctx = new_ctx();
    rlar_view v = view_of(RLAR_F64);
    v.x = x;
    v.stride = 2;
    rlar_data *data = make(ctx, &v);
    assert_int_equal(rlar_data_missing(data), 2);
    assert_true(isnan(value_at(data, 0, 1)));
    rlar_data_free(data);
    end_ctx(ctx);
    x[3] = INFINITY;
    refuse(&v, RLAR_E_DATA,
           "view: feature 1 of sample 1 is inf; values must be finite, or NaN for missing");
    v = view_of(RLAR_F32);
    v.x = y;
    refuse(&v, RLAR_E_DATA,
           "view: feature 1 of sample 2 is -inf; values must be finite, or NaN for missing");
    double weights[] = {1, 0, -1};
    v = view_of(RLAR_F64);
    v.weights = weights;
    refuse(&v, RLAR_E_ARG,
           "view: the weight of sample 2 is -1; weights are finite and not negative");
    weights[2] = NAN;
    refuse(&v, RLAR_E_ARG,
           "view: the weight of sample 2 is nan; weights are finite and not negative");
}

static void test_labels(void **state) {
    (void)state;
    static const char *const texts[] = {"b", "a", "b"}, *const numbers[] = {"10", "2.0", "1e1"};
    static const double values[] = {3, -1, 0.5};
    rlar_ctx *ctx = new_ctx();
    const rlar_view v = view_of(RLAR_F64);
    rlar_data *data = make(ctx, &v);
    assert_int_equal(rlar_data_set_labels(ctx, data, texts), RLAR_OK);
    assert_int_equal(rlar_data_classes(data), 2);
    assert_string_equal(rlar_data_class(data, 0), "a");
    assert_int_equal(rlar_data_class_size(data, 1), 2);
    assert_int_equal(rlar_data_class_size(data, 2), 0);
    assert_int_equal(rlar_data_label(data, 0), 1);
    assert_int_equal(rlar_data_label(data, 3), -1);
    assert_int_equal(rlar_data_set_labels(ctx, data, numbers), RLAR_OK);
    assert_string_equal(rlar_data_class(data, 0), "2");
    assert_string_equal(label_at(data, 2), "10");
    assert_int_equal(rlar_data_set_label_numbers(ctx, data, values), RLAR_OK);
    assert_int_equal(rlar_data_classes(data), 3);
    assert_string_equal(rlar_data_class(data, 1), "0.5");
    assert_int_equal(rlar_data_label(data, 0), 2);
    rlar_data_free(data);
    end_ctx(ctx);
}

static void refuse_labels(const char *const *texts, const double *numbers, const char *expected) {
    rlar_ctx *ctx = new_ctx();
    const rlar_view v = view_of(RLAR_F64);
    static const char *const before[] = {"x", "y", "z"};
    rlar_data *data = make(ctx, &v);
    assert_int_equal(rlar_data_set_labels(ctx, data, before), RLAR_OK);
    assert_int_equal(texts ? rlar_data_set_labels(ctx, data, texts)
                           : rlar_data_set_label_numbers(ctx, data, numbers),
                     RLAR_E_DATA);
    assert_string_equal(rlar_ctx_error(ctx), expected);
    assert_int_equal(rlar_data_classes(data), 3); /* what was there stays */
    assert_string_equal(label_at(data, 2), "z");
    rlar_data_free(data);
    end_ctx(ctx);
}

static void test_labels_refused(void **state) {
    (void)state;
    static const char *const empty[] = {"a", "", "b"}, *const null[] = {"a", "b", NULL},
                             *const blank[] = {"  ", "a", "b"},
                             *const not_a_number[] = {"a", "NaN", "b"};
    static const double nan_label[] = {1, 2, NAN}, infinite[] = {1, INFINITY, 2};
    refuse_labels(empty, NULL, "labels: sample 1 has an empty label; every sample needs one");
    refuse_labels(null, NULL, "labels: sample 2 has an empty label; every sample needs one");
    refuse_labels(blank, NULL, "labels: sample 0 has a blank or nan label; every sample needs one");
    refuse_labels(not_a_number, NULL,
                  "labels: sample 1 has a blank or nan label; every sample needs one");
    refuse_labels(NULL, nan_label,
                  "labels: sample 2 has a nan or infinite label; every sample needs one");
    refuse_labels(NULL, infinite,
                  "labels: sample 1 has a nan or infinite label; every sample needs one");
    rlar_ctx *ctx = new_ctx();
    assert_int_equal(rlar_data_set_labels(ctx, NULL, empty), RLAR_E_ARG);
    end_ctx(ctx);
}

static void test_features(void **state) {
    (void)state;
    static const char *const names[] = {"one", "two"}, *const empty[] = {"one", ""};
    rlar_ctx *ctx = new_ctx();
    const rlar_view v = view_of(RLAR_CSR);
    rlar_data *data = make(ctx, &v);
    assert_int_equal(rlar_data_set_features(ctx, data, names), RLAR_OK);
    assert_string_equal(rlar_data_feature(data, 1), "two");
    assert_int_equal(rlar_data_set_features(ctx, data, empty), RLAR_E_ARG);
    assert_string_equal(rlar_ctx_error(ctx), "features: feature 1 has no name; name all 2 or none");
    assert_string_equal(rlar_data_feature(data, 1), "two");
    assert_null(rlar_data_feature(data, 2));
    rlar_data_free(data);
    end_ctx(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),          cmocka_unit_test(test_sizes_refused),
        cmocka_unit_test(test_csr_refused),    cmocka_unit_test(test_empty_csr),
        cmocka_unit_test(test_values),         cmocka_unit_test(test_labels),
        cmocka_unit_test(test_labels_refused), cmocka_unit_test(test_features)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
