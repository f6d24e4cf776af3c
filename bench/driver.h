/* driver.h - what the commands of the driver share. */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include "rlar.h"
#include "words.h"

enum { BENCH_MOST_THREADS = 64, BENCH_MOST_DATA = 16 };

typedef struct bench_slot {
    char name[64];
    rlar_data *data;
} bench_slot;

/* When the first and the last iteration of a fit ended. */
typedef struct bench_iterations {
    bench_clock first, last;
    int64_t count;
} bench_iterations;

typedef struct bench_driver {
    rlar_ctx *ctx[BENCH_MOST_THREADS + 1]; /* by threads, made when first asked for */
    bench_slot slot[BENCH_MOST_DATA];
    rlar_model *model;
    bench_iterations iterations;
} bench_driver;

/* Each NULL, with the answer given, when there is no such thing: the context of threads=, the data
 * of data=, the parameters of method= and set=. */
rlar_ctx *bench_context(bench_driver *d, const bench_words *words);
rlar_data *bench_data(bench_driver *d, const bench_words *words);
rlar_params *bench_params(rlar_ctx *ctx, const bench_words *words);
/* The answer of a call that failed is its text. */
bool bench_worked(rlar_ctx *ctx, rlar_status status);

/* grid, cells (driver_grid.c). */
void bench_cells(bench_driver *d, const bench_words *words);

#endif
