/* replay.c - runs a fuzz target once for every file given, or of every folder given: with any
 * compiler, for `make check` and for looking at a finding. */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

/* Targets need not have one. */
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    return 0;
}

/* In a block of its own size, so that a sanitizer sees a read beyond it. */
static void run_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = fuzz_alloc(size);
    FUZZ_CHECK(file && fread(bytes, 1, size, file) == size, "cannot read %s", path);
    fclose(file);
    fuzz_bytes b = {bytes, size};
    (void)LLVMFuzzerTestOneInput(b.at, b.left);
    free(bytes);
}

static int run(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) {
        printf("%s: there is no such file\n", path);
        return 1;
    }
    if (!S_ISDIR(info.st_mode)) {
        printf("%s\n", path);
        fflush(stdout); /* so that the last line names the file that ends the process */
        run_file(path, (size_t)info.st_size);
        return 0;
    }
    struct dirent **entry;
    const int count = scandir(path, &entry, NULL, alphasort);
    int failed = count < 0;
    for (int i = 0; i < count; i++) {
        char name[1024];
        snprintf(name, sizeof name, "%s/%s", path, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.')
            failed |= run(name);
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
    return failed;
}

int main(int argc, char **argv) {
    int failed = argc < 2;
    (void)LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++)
        failed |= run(argv[i]);
    return failed;
}
