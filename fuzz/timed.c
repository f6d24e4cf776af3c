/* timed.c - stands between a target and its caller (the linker's --wrap), and ends the process
 * where one input takes more than FUZZ_SECONDS (meson.build) of CPU time.
 *
 * Asking for CPU time takes a system call, twice for each input a quarter of what `number` does.
 * The clock on the wall is cheap, and of one thread never behind; on a busy machine it may be far
 * ahead. So it only tells which inputs are run once more, against the CPU's clock. */
#include <time.h>

#include "fuzz.h"

/* The linker's names: the target, and what its callers get instead. */
int __real_LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Of this thread: no target has another. */
static double cpu_seconds(void) {
    struct timespec t;
    FUZZ_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0, "no clock");
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check_time(const uint8_t *bytes, size_t size) {
    const double began = cpu_seconds();
    (void)__real_LLVMFuzzerTestOneInput(bytes, size);
    const double used = cpu_seconds() - began;
    FUZZ_CHECK(used <= FUZZ_SECONDS, "%.1f CPU seconds for one input, the limit is %d", used,
               FUZZ_SECONDS);
}

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const double began = rlar__now();
    const int code = __real_LLVMFuzzerTestOneInput(bytes, size);
    if (rlar__now() - began > FUZZ_SECONDS)
        check_time(bytes, size);
    return code;
}
