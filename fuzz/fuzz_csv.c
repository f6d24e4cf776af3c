/* fuzz_csv.c - CSV and TSV files: see readers.h. A further character chooses, 1 being TSV. */
#include "readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_bytes b = {bytes, size};
    const bool tabs = fuzz_choice(&b, 2) == 1;
    return reader_run(tabs ? &rlar__format_tsv : &rlar__format_csv, b.at, b.left);
}
