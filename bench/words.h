/* words.h - the driver's side of the conversation: a line "verb key=value ..." comes in, a line of
 * JSON goes out. */
#ifndef BENCH_WORDS_H
#define BENCH_WORDS_H

#include <stdbool.h>
#include <stdint.h>

enum { BENCH_LINE = 16384, BENCH_WORDS = 32 };

typedef struct bench_words {
    char line[BENCH_LINE];
    const char *verb;
    const char *key[BENCH_WORDS], *value[BENCH_WORDS];
    int count;
} bench_words;

/* The next line of standard input; false at its end or when it is too long. */
bool bench_words_next(bench_words *words);
/* The value of a key, or what is given for a key that is not there. */
const char *bench_text(const bench_words *words, const char *key, const char *otherwise);
int64_t bench_number(const bench_words *words, const char *key, int64_t otherwise);

/* Wall clock, and CPU time of the whole process with all its threads; seconds. */
typedef struct bench_clock {
    double wall, cpu;
} bench_clock;
bench_clock bench_now(void);
bench_clock bench_since(bench_clock start);

/* A member of the answer, with the comma that follows it; NaN becomes null. */
void bench_put_real(const char *key, double value);
void bench_put_int(const char *key, int64_t value);
void bench_put_text(const char *key, const char *value);
void bench_put_clock(bench_clock spent);
/* The beginning and the end of an answer. The end also flushes it. */
void bench_begin(void);
void bench_end(void);
/* The whole answer of a command that failed. */
void bench_fail(const char *text);

#endif
