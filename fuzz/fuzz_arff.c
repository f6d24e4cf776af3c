/* fuzz_arff.c - ARFF files: see readers.h. */
#include "readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    return reader_run(&rlar__format_arff, bytes, size);
}
