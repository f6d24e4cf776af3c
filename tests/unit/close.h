/* close.h - compare doubles. cmocka's assert_float_equal compares in single precision. */
#ifndef RLAR_TEST_CLOSE_H
#define RLAR_TEST_CLOSE_H

#include <math.h>

#define assert_close(a, b, tolerance)                                                              \
    do {                                                                                           \
        const double close_a_ = (a), close_b_ = (b), close_t_ = (tolerance);                       \
        if (!(fabs(close_a_ - close_b_) <= close_t_))                                              \
            fail_msg("%s = %.17g, %s = %.17g: %g apart, %g allowed", #a, close_a_, #b, close_b_,   \
                     fabs(close_a_ - close_b_), close_t_);                                         \
    } while (0)

#endif
