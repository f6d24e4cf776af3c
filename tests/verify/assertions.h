/* assertions.h - the few assertions of cmocka that the helpers of tests/unit use, for programs that
 * are no suites of cmocka: they say what is wrong and end the program. cmocka's own, outside of a
 * suite, end it without a word. */
#ifndef RLAR_VERIFY_ASSERTIONS_H
#define RLAR_VERIFY_ASSERTIONS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define fail_msg(...)                                                                              \
    do {                                                                                           \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                            \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fprintf(stderr, "\n");                                                                     \
        exit(2);                                                                                   \
    } while (0)

#define print_error(...) fprintf(stderr, __VA_ARGS__)

#define assert_true(what)                                                                          \
    do {                                                                                           \
        if (!(what))                                                                               \
            fail_msg("%s does not hold", #what);                                                   \
    } while (0)

#define assert_in_range(what, least, most) assert_true((what) >= (least) && (what) <= (most))
#define assert_memory_equal(a, b, size) assert_true(memcmp(a, b, size) == 0)
#define assert_string_equal(a, b) assert_true(strcmp(a, b) == 0)
#define assert_non_null(what) assert_true((what) != NULL)
#define assert_null(what) assert_true((what) == NULL)

#define assert_int_equal(a, b)                                                                     \
    do {                                                                                           \
        const long long equal_a_ = (long long)(a), equal_b_ = (long long)(b);                      \
        if (equal_a_ != equal_b_)                                                                  \
            fail_msg("%s is %lld, not %lld", #a, equal_a_, equal_b_);                              \
    } while (0)

#endif
