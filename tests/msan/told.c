/* told.c - for the build with MemorySanitizer: zlib and jansson are not compiled by it, and it does
 * not know the stat() of a newer C library. What they write is told here, exactly as much as they
 * say they have written; what jansson does with memory of its own is not looked at. The linker puts
 * these functions in their place (--wrap, tests/meson.build). */
#include <jansson.h>
#include <sanitizer/msan_interface.h>
#include <sys/stat.h>
#include <zlib.h>

int __real_inflate(z_streamp z, int flush);
int __real_deflate(z_streamp z, int flush);
int __real_gzread(gzFile file, voidp buf, unsigned length);
json_t *__real_json_loadb(const char *bytes, size_t size, size_t flags, json_error_t *error);
json_t *__real_json_object_get(const json_t *object, const char *key);
int __real_stat64(const char *path, struct stat *out);
int __real_lstat64(const char *path, struct stat *out);
int __real_fstat64(int fd, struct stat *out);
int __real_fstatat64(int folder, const char *path, struct stat *out, int flags);
int __wrap_inflate(z_streamp z, int flush);
int __wrap_deflate(z_streamp z, int flush);
int __wrap_gzread(gzFile file, voidp buf, unsigned length);
json_t *__wrap_json_loadb(const char *bytes, size_t size, size_t flags, json_error_t *error);
json_t *__wrap_json_object_get(const json_t *object, const char *key);
int __wrap_stat64(const char *path, struct stat *out);
int __wrap_lstat64(const char *path, struct stat *out);
int __wrap_fstat64(int fd, struct stat *out);
int __wrap_fstatat64(int folder, const char *path, struct stat *out, int flags);

static void told_stream(const z_stream *z, const Bytef *out) {
    __msan_unpoison(z, sizeof *z);
    __msan_unpoison(out, (size_t)(z->next_out - out));
}

int __wrap_inflate(z_streamp z, int flush) {
    const Bytef *out = z->next_out;
    const int answer = __real_inflate(z, flush);
    told_stream(z, out);
    return answer;
}

int __wrap_deflate(z_streamp z, int flush) {
    const Bytef *out = z->next_out;
    const int answer = __real_deflate(z, flush);
    told_stream(z, out);
    return answer;
}

int __wrap_gzread(gzFile file, voidp buf, unsigned length) {
    const int got = __real_gzread(file, buf, length);
    if (got > 0)
        __msan_unpoison(buf, (size_t)got);
    return got;
}

/* The stack below the caller, where the marks of earlier calls are left: a library that is called
 * next writes there unseen. */
__attribute__((noinline)) static void told_stack(void) {
    char below[1 << 16];
    __msan_unpoison(below, sizeof below);
    __asm__ volatile("" : : "r"(below) : "memory"); /* it must not be left out */
}

/* It compares and copies what stands on its own stack. */
json_t *__wrap_json_loadb(const char *bytes, size_t size, size_t flags, json_error_t *error) {
    __msan_check_mem_is_initialized(bytes, size);
    told_stack();
    __msan_scoped_disable_interceptor_checks();
    json_t *json = __real_json_loadb(bytes, size, flags, error);
    __msan_scoped_enable_interceptor_checks();
    __msan_unpoison(error, sizeof *error);
    return json;
}

json_t *__wrap_json_object_get(const json_t *object, const char *key) {
    __msan_scoped_disable_interceptor_checks();
    json_t *value = __real_json_object_get(object, key);
    __msan_scoped_enable_interceptor_checks();
    return value;
}

static int told_stat(int answer, const struct stat *out) {
    if (answer == 0)
        __msan_unpoison(out, sizeof *out);
    return answer;
}

int __wrap_stat64(const char *path, struct stat *out) {
    return told_stat(__real_stat64(path, out), out);
}

int __wrap_lstat64(const char *path, struct stat *out) {
    return told_stat(__real_lstat64(path, out), out);
}

int __wrap_fstat64(int fd, struct stat *out) {
    return told_stat(__real_fstat64(fd, out), out);
}

int __wrap_fstatat64(int folder, const char *path, struct stat *out, int flags) {
    return told_stat(__real_fstatat64(folder, path, out, flags), out);
}
