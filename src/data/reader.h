/* reader.h - how bytes become rows.
 *
 * A byte source (source.c: file, pipe, gzip, memory) is pushed in chunks into a parser (one file
 * per format), which hands finished rows to a sink (table.c), which finds labels, missing values
 * and names. So files, pipes, gzip and memory are one path, and a stream (stream.c) can stop after
 * any number of rows.
 *
 * Any bytes give a status: never a crash, a hang, or an allocation larger than the bytes present
 * justify. */
#ifndef RLAR_READER_H
#define RLAR_READER_H

#include "core/core.h"
#include "data/dataset.h"

/* Where a parser is, for error messages: "wine.csv:17:3". */
typedef struct rlar_place {
    const char *file;
    int64_t line, column; /* 1-based; column counts fields in tables; 0: do not print it */
} rlar_place;

/* rlar__fail() with the place before the text: "wine.csv:17:3: ...". */
rlar_status rlar__fail_at(rlar_ctx *ctx, rlar_status code, const rlar_place *at, const char *format,
                          ...) RLAR_PRINTF(4, 5);
/* A token of a file for a message, NUL-terminated: at most 40 bytes of it, control characters
 * escaped. Returns buf. */
enum { RLAR_TOKEN_SIZE = 176 };
const char *rlar__token(const char *text, size_t length, char buf[RLAR_TOKEN_SIZE]);
/* Is the cell a missing value: empty, ?, NA or nan, in any case, blanks around it allowed? */
bool rlar__cell_missing(const char *text, size_t length);

/* What a parser hands over. All calls of one parser come from one thread, in order. A text is valid
 * during the call. */
typedef struct rlar_sink rlar_sink;

/* The table has these columns (names NULL: none). Called at most once, before any row, and always
 * before a row of cells: names of all columns including the label's. nominal[j]: column j holds
 * names rather than numbers (ARFF); may be NULL. */
rlar_status rlar__sink_columns(rlar_sink *sink, int64_t count, const char *const *names,
                               const bool *nominal);
/* Tell what was guessed where the opposite is well possible; of the parts of a file the first does.
 */
void rlar__sink_guess(rlar_sink *sink, const rlar_place *at, const char *text);
/* Begin a row; then one call per cell, left to right; then end. A cell is text as it stands in the
 * file without quotes. The sink decides what is a label, a number, missing (empty, ?, NA, nan) or
 * an error. */
rlar_status rlar__sink_row(rlar_sink *sink, const rlar_place *at);
rlar_status rlar__sink_cell(rlar_sink *sink, const rlar_place *at, const char *text, size_t length);
/* The same for a cell in quotes. As a label it is a name as it stands: "na" and " a" are classes,
 * and only the empty text is missing, since many tools put every cell in quotes. */
rlar_status rlar__sink_quoted(rlar_sink *sink, const rlar_place *at, const char *text,
                              size_t length);
rlar_status rlar__sink_row_end(rlar_sink *sink, const rlar_place *at);
/* The row has so many cells, of which the file mentions some: do its bytes justify them all? */
rlar_status rlar__sink_partly(rlar_sink *sink, const rlar_place *at, int64_t count);
/* The short way for cells that a parser reads as numbers itself: how many from the next one on are
 * features, and where they belong. It writes some of them and says how many it wrote. */
int64_t rlar__sink_slots(rlar_sink *sink, double **x);
void rlar__sink_filled(rlar_sink *sink, int64_t count);
/* Binary formats and LIBSVM: a whole row of numbers (NaN = missing) with its label (NULL: none).
 * The label rule of tables does not apply to it when label is given; d may grow from row to row
 * only for LIBSVM (the sink pads with 0). */
rlar_status rlar__sink_numbers(rlar_sink *sink, const rlar_place *at, int64_t d, const double *x,
                               const char *label, size_t label_length);
/* Which of the columns of a row of numbers is the label, -1: none. Its text may be given with the
 * row, where a double would not hold it. */
rlar_status rlar__sink_label_column(rlar_sink *sink, int64_t columns, int64_t *out);
/* From now on the labels given with rows of numbers are names as they stand, such as those of
 * folders, not cells of a file: "na" is a name like any other. */
void rlar__sink_given_names(rlar_sink *sink);
/* LIBSVM: a sparse row, 0-based increasing indices. */
rlar_status rlar__sink_sparse(rlar_sink *sink, const rlar_place *at, int64_t count,
                              const int64_t *index, const double *value, const char *label,
                              size_t label_length);

/* Only a part of the file is read, which may be empty. For rows of numbers: the columns, the rows
 * before the part, and all rows of the file. */
rlar_status rlar__sink_range(rlar_sink *sink, int64_t columns, int64_t before, int64_t rows);

/* One format. State is allocated by open and freed by close (also after an error). feed takes any
 * cut of the bytes. */
typedef struct rlar_format {
    const char *name;       /* "csv" */
    const char *extensions; /* ".csv" or ".svm .libsvm" */
    size_t state_size;      /* allocated zeroed by the caller, freed by it after close */
    rlar_status (*open)(rlar_ctx *ctx, void *state, rlar_sink *sink,
                        const rlar_read_options *options, const char *file);
    rlar_status (*feed)(void *state, const char *bytes, size_t size);
    rlar_status (*finish)(void *state);
    void (*close)(void *state);

    /* between: the parser stands between two rows and knows all that it learns from the first ones;
     * NULL where a file cannot be read in parts. */
    bool (*between)(const void *state);
    /* Where every row ends with a line, pieces of a file can be parsed at the same time; else NULL.
     * fork: make a zeroed state go on from there, into another sink, on another thread.
     * join: the copy has read on; returns the lines before its first, as it counts them.
     * go_on: the next byte is the first of this line. */
    void (*fork)(const void *state, rlar_ctx *ctx, rlar_sink *sink, void *copy);
    int64_t (*join)(void *state, const void *copy);
    void (*go_on)(void *state, int64_t line);
    /* Where the place of every row follows from the head, of `head` bytes, and the size of the
     * file; else NULL. Which bytes hold the part: the next to be fed, and the last. */
    rlar_status (*rows)(void *state, const rlar_read_options *options, int64_t head, int64_t size,
                        int64_t *from, int64_t *to);
} rlar_format;

extern const rlar_format rlar__format_csv, rlar__format_tsv, rlar__format_libsvm, rlar__format_npy,
    rlar__format_npz, rlar__format_arff;

/* Folder of images: not a byte stream; pushes its rows into the sink itself. `next` image at a
 * time. */
typedef struct rlar_folder rlar_folder;
rlar_status rlar__folder_open(rlar_ctx *ctx, const char *path, rlar_sink *sink, rlar_folder **out);
/* One image; *more is false when there is none left. */
rlar_status rlar__folder_next(rlar_folder *folder, bool *more);
rlar_shape rlar__folder_shape(const rlar_folder *folder); /* of the images that were read */
void rlar__folder_close(rlar_folder *folder);

/* Byte source: a file, "-", or memory, gunzipped on the fly when the bytes start with gzip's magic.
 */
typedef struct rlar_source rlar_source;
rlar_status rlar__source_file(rlar_ctx *ctx, const char *path, rlar_source **out);
rlar_status rlar__source_memory(rlar_ctx *ctx, const void *bytes, size_t size, const char *name,
                                rlar_source **out);
/* The next chunk; *size 0 at the end. The bytes are valid until the next call. */
rlar_status rlar__source_next(rlar_source *source, const char **bytes, size_t *size);
/* The next bytes, as many as there are up to `size`, into buf; *got < size at the end. A plain file
 * is read in pieces at the same time. After an error the bytes before it are there. */
rlar_status rlar__source_fill(rlar_source *source, char *buf, size_t size, size_t piece,
                              size_t *got);
/* The share of the stored bytes that has been read, 0 where their number is unknown, and that
 * number if the bytes are not packed, else 0. */
double rlar__source_share(const rlar_source *source);
int64_t rlar__source_plain_size(const rlar_source *source);
/* Our own file, not packed: it can be read at any place. */
bool rlar__source_seekable(const rlar_source *source);
/* From now on the bytes from..to of a seekable source are all there is. */
void rlar__source_range(rlar_source *source, int64_t from, int64_t to);
/* Where the first line begins that does so at byte `at` > 0 or behind it; the size of the file if
 * there is none. */
rlar_status rlar__source_line(rlar_source *source, int64_t at, int64_t *start);
/* The first bytes without consuming them (up to 64 KiB), to guess the format. */
rlar_status rlar__source_peek(rlar_source *source, const char **bytes, size_t *size);
const char *rlar__source_name(const rlar_source *source); /* "wine.csv.gz", "<stdin>" */
void rlar__source_close(rlar_source *source);

#endif
