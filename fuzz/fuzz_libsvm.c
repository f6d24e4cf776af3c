/* fuzz_libsvm.c - LIBSVM files: see readers.h. */
#include "readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    return reader_run(&rlar__format_libsvm, bytes, size);
}
