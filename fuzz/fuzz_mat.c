/* fuzz_mat.c - MATLAB files, of level 4, 5 and 7.3, through matio. What is read has as many numbers
 * as its sizes say, and is the same gzipped. matio itself is not instrumented: what goes wrong in
 * it shows as a crash or as a wrong address in a function that the sanitizer watches, or as memory
 * that nobody wrote: AddressSanitizer fills it with 0xbe (scripts/fuzz says how much of it). The
 * first character chooses what to do with missing values. */
#include "command.h"

static int read_file(const fuzz_file *file, rlar_missing missing, cli_data *out) {
    cli *c = command_begin("info");
    c->ctx->memory->limit = FUZZ_MEMORY; /* as by --max-memory */
    *out = (cli_data){.file = (char *)(uintptr_t) "f.mat"};
    const int code = cli_mat_read(c, file->path, missing, out);
    /* What is packed or sparse may become larger than that, and is then refused. */
    FUZZ_CHECK(command_code(code) || code == CODE_MEMORY, "code %d", code);
    FUZZ_CHECK(code != 0 || out->data != NULL, "nothing was read");
    return code;
}

static void end(cli_data *data) {
    data->file = NULL;
    cli_data_free(data);
}

/* Is it a number of four or eight bytes of memory as it was allocated? Those of one or two may be
 * there by themselves. */
static bool is_fresh(double value) {
    unsigned char fresh[sizeof(double)];
    double eight;
    float four;
    memset(fresh, 0xbe, sizeof fresh);
    memcpy(&eight, fresh, sizeof eight);
    memcpy(&four, fresh, sizeof four);
    return value == eight || value == (double)four || value == (double)0xbebebebe ||
           value == (double)(int32_t)0xbebebebe || value == (double)0xbebebebebebebebe ||
           value == (double)(int64_t)0xbebebebebebebebe;
}

/* No number is memory as it was allocated, unless the file has such bytes. */
static void check_written(const fuzz_bytes *b, const cli_data *data, int64_t count) {
    if (memmem(b->at, b->left, "\xbe\xbe", 2))
        return;
    for (int64_t i = 0; i < count; i++)
        FUZZ_CHECK(!is_fresh(data->x[i]), "number %lld of the table was never read", (long long)i);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static fuzz_file plain, packed;
    static uint8_t room[1 << 17];
    fuzz_bytes b = {bytes, size};
    const rlar_missing missing = (rlar_missing)fuzz_choice(&b, 4);
    cli_data first, second = {0};
    if (b.left > sizeof room / 2)
        return 0;
    fuzz_file_set(&plain, b.at, b.left);
    const int code = read_file(&plain, missing, &first);
    if (code == 0 && b.at[0] != 0x1f) {
        const int64_t n = rlar_data_samples(first.data), d = rlar_data_dims(first.data);
        const bool large = rlar_ctx_memory_peak(fuzz_ctx()) > FUZZ_MEMORY / 4;
        check_written(&b, &first, n * d);
        fuzz_file_set(&packed, room, fuzz_pack(&b, room, sizeof room));
        const int again = read_file(&packed, missing, &second); /* beside the first, in memory */
        FUZZ_CHECK(again == 0 || (again == CODE_MEMORY && large), "gzipped, it is refused");
        FUZZ_CHECK(again != 0 ||
                       (n == rlar_data_samples(second.data) && d == rlar_data_dims(second.data) &&
                        memcmp(first.x, second.x, (size_t)(n * d) * sizeof *first.x) == 0),
                   "gzipped, it is another table");
    }
    end(&first);
    end(&second);
    fuzz_check_memory(fuzz_ctx());
    return 0;
}
