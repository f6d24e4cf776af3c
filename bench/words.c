/* words.c - lines in, JSON out, and the two clocks. */
#include "words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool bench_words_next(bench_words *words) {
    if (!fgets(words->line, sizeof words->line, stdin) || !strchr(words->line, '\n'))
        return false;
    char *rest = NULL, *word = strtok_r(words->line, " \n", &rest);
    words->verb = word ? word : "";
    words->count = 0;
    while ((word = strtok_r(NULL, " \n", &rest)) && words->count < BENCH_WORDS) {
        char *equals = strchr(word, '=');
        if (!equals)
            continue;
        *equals = '\0';
        words->key[words->count] = word;
        words->value[words->count++] = equals + 1;
    }
    return true;
}

const char *bench_text(const bench_words *words, const char *key, const char *otherwise) {
    for (int i = 0; i < words->count; i++)
        if (strcmp(words->key[i], key) == 0)
            return words->value[i];
    return otherwise;
}

int64_t bench_number(const bench_words *words, const char *key, int64_t otherwise) {
    const char *text = bench_text(words, key, NULL);
    return text ? strtoll(text, NULL, 10) : otherwise;
}

static double seconds_of(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bench_clock bench_now(void) {
    return (bench_clock){.wall = seconds_of(CLOCK_MONOTONIC),
                         .cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID)};
}

bench_clock bench_since(bench_clock start) {
    const bench_clock now = bench_now();
    return (bench_clock){.wall = now.wall - start.wall, .cpu = now.cpu - start.cpu};
}

void bench_put_real(const char *key, double value) {
    if (isfinite(value))
        printf("\"%s\": %.17g, ", key, value);
    else
        printf("\"%s\": null, ", key);
}

void bench_put_int(const char *key, int64_t value) {
    printf("\"%s\": %lld, ", key, (long long)value);
}

/* The texts are paths, kernel names and messages of the library: no control characters but by
 * accident, which become blanks. */
void bench_put_text(const char *key, const char *value) {
    printf("\"%s\": \"", key);
    for (const char *p = value; *p; p++) {
        if (*p == '"' || *p == '\\')
            putchar('\\');
        putchar((unsigned char)*p < ' ' ? ' ' : *p);
    }
    printf("\", ");
}

void bench_put_clock(bench_clock spent) {
    bench_put_real("wall", spent.wall);
    bench_put_real("cpu", spent.cpu);
}

void bench_begin(void) {
    putchar('{');
}

void bench_end(void) {
    printf("\"end\": true}\n");
    fflush(stdout);
}

void bench_fail(const char *text) {
    bench_begin();
    bench_put_text("error", text);
    bench_end();
}
