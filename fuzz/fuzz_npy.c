/* fuzz_npy.c - NPY files: see readers.h, and arrays.h for the values. */
#include "arrays.h"

static void check_values(const reader_choices *c, const fuzz_bytes *b, const rlar_data *data) {
    rlar_npy npy;
    const char *values = NULL;
    const rlar_status status =
        rlar__npy_open(fuzz_ctx(), "f", (const char *)b->at, b->left, &npy, &values);
    FUZZ_CHECK(status >= 0, "in one go: %s", rlar_ctx_error(fuzz_ctx()));
    array_check(c, &npy, values, data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    return reader_run(&rlar__format_npy, bytes, size, check_values);
}
