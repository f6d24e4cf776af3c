/* calls.h - every public call that can allocate, open a file or be cancelled, as one table, for the
 * programs that make something fail at every point of every call: memory_faults.c, file_faults.c
 * and cancel_faults.c.
 *
 * A call runs in a world: samples, a model and files that were made while nothing failed. What it
 * returns is kept in the world; world_forget() gives it back and tells by a checksum what it was.
 */
#ifndef RLAR_VERIFY_CALLS_H
#define RLAR_VERIFY_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assertions.h"

#include "../unit/fitting.h"
#include "../unit/reading.h"

enum { NUMBERS = 4096 };

/* What every target holds before a call. */
#define OLD_FILE "the old file"

/* What a call has returned; NULL or 0: it does not return such a thing. */
typedef struct result {
    rlar_ctx *ctx;
    rlar_data *data;
    rlar_params *params;
    rlar_model *model;
    rlar_stream *stream;
    rlar_eval *eval;
    rlar_rows *rows;
    int64_t n_rows;
    void *bytes;
    size_t size;
    double *grey;
    rlar_file *file;
    double number[NUMBERS];
    int64_t numbers;
    uint64_t check; /* of what was seen block by block */
    char path[512]; /* a file that the call writes, or "" */
    unsigned given; /* what the steps before the last have returned: world_step() */
} result;

typedef struct world {
    rlar_ctx_options options; /* of the context; the program's own hooks */
    const char *iterations;   /* of a fit */
    rlar_ctx *ctx;
    temp_folder folder;
    labelled narrow, wide, holes;         /* the last: the first, a value of each class missing */
    rlar_data *data, *wide_data, *shaded; /* the last: as many features, to stand in for others */
    rlar_data *holed;
    rlar_params *params;
    rlar_model *model;
    void *model_bytes;
    size_t model_size;
    uint64_t untouched; /* world_files() before any call */
    result out;
} world;

typedef struct call {
    const char *function; /* of rlar.h */
    const char *variant;  /* "" or what kind: a file, a method, a setting */
    rlar_status (*run)(world *w, const char *variant);
} call;

/* The table, then NULL functions. */
const call *calls(void);

/* Fails unless every public function of the header is in the table, or among those that can neither
 * allocate nor open a file nor call back, and every method is fitted with each of its choices. */
void calls_check(const char *header);

void world_open(world *w, const rlar_ctx_options *options, const char *iterations);
void world_close(world *w);

/* Give back what the last call returned; the checksum of it. Nothing may be failing now. */
uint64_t world_forget(world *w);
/* The steps so far have succeeded: what they returned is not of the one that may fail next. */
void world_step(world *w);
/* Nothing was returned by the step that failed: what a failed call must leave. */
bool world_is_empty(const world *w);
/* Every file below the folder of the world with its bytes, as a checksum. */
uint64_t world_files(const world *w);
/* Remove the temporaries of the library there; how many of them hold OLD_FILE. */
int64_t world_sweep(const world *w);
/* Put the files that calls write back to what they were. */
void world_restore(world *w);

uint64_t mix_data(uint64_t check, const rlar_data *data);
uint64_t mix_eval(uint64_t check, const rlar_eval *eval, int64_t classes);

/* What was finished before a failure stays, in a journal or a checkpoint. */
bool call_keeps(const call *c);
/* "rlar_fit lda" */
const char *call_name(const call *c, char buf[128]);

#endif
