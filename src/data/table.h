/* table.h - inside the sink: which column is what, the rows collected so far, and how they leave.
 */
#ifndef RLAR_TABLE_H
#define RLAR_TABLE_H

#include "data/reader.h"

/* ---- Columns (columns.c) ---- */

/* What the caller wants of the columns. */
typedef struct rlar_column_rule {
    const char *file;
    const char *label;       /* rlar_read_options.label */
    bool label_elsewhere;    /* the labels come with the rows or from a file of their own */
    bool label_only;         /* the table is a list of labels: one column, no features */
    int64_t features;        /* so many are expected; 0: any number */
    const rlar_model *model; /* or NULL */
} rlar_column_rule;

typedef struct rlar_columns {
    int64_t count;       /* in the file; 0: not known yet */
    rlar_texts names;    /* of all columns, or none */
    bool *nominal;       /* per column, or NULL */
    bool index;          /* the first column alone has no name: it probably counts the rows */
    bool settled;        /* the following are filled */
    int64_t label;       /* this column is the label; -1: none is */
    int64_t d;           /* features */
    int64_t *target;     /* per column: its feature, or -1: the label, or ignored */
    int64_t *run;        /* per column: how many columns from it on are features in a row */
    rlar_texts features; /* names of the d features, or none */
} rlar_columns;

/* The first column that is named as labels usually are, but for features of the model (or NULL);
 * -1: there is none. */
int64_t rlar__columns_usual(const rlar_columns *columns, const rlar_model *model);
/* Find the label and the features among the columns. */
rlar_status rlar__columns_settle(rlar_ctx *ctx, const rlar_column_rule *rule,
                                 rlar_columns *columns);
void rlar__columns_free(rlar_columns *columns);

/* ---- Labels in a file of their own (labels_file.c) ---- */

typedef struct rlar_label_list {
    rlar_intern texts;
    int64_t *index; /* into texts, or RLAR_CLASS_MISSING; one per sample */
    int64_t count;
    char *file;
} rlar_label_list;
rlar_status rlar__label_list_read(rlar_ctx *ctx, const char *path, rlar_label_list *out);
void rlar__label_list_free(rlar_label_list *list);

/* ---- Sparse rows (table_sparse.c), kept as such until their width is known ---- */

typedef struct rlar_sparse_rows {
    int64_t first, n;           /* rows first..first+n-1 of the table */
    int64_t *end, end_capacity; /* n: one past the row's last value */
    int64_t *index, index_capacity;
    double *value;
    int64_t value_capacity;
} rlar_sparse_rows;

/* ---- The sink (table.c: rows in; table_part.c: several at once; table_end.c: data out) ---- */

struct rlar_sink {
    rlar_ctx *ctx;
    rlar_column_rule rule;
    rlar_missing missing_rule;
    bool whole;       /* all rows are kept until the end; else blocks leave on the way */
    bool quiet;       /* another part of the file tells what was guessed */
    bool no_labels;   /* label "none" */
    bool given_names; /* see rlar__sink_given_names */
    const rlar_label_list *labels; /* or NULL; borrowed */
    rlar_columns columns;
    int64_t bytes;    /* of the file, unpacked, so far: what memory they justify */
    double share;     /* of the file that they are; 0: not known */
    bool range;       /* only a part of a file is read (range.c) */
    bool raw_classes; /* the classes stay the labels as they stand: share.c sorts them */
    bool part;        /* of another sink: columns and x are borrowed from it (table_part.c) */

    /* Rows that are complete. */
    int64_t n, first; /* rows first..n-1 have not been handed out */
    double *x;        /* n x d */
    int64_t x_capacity;
    int64_t *label; /* n */
    int64_t label_capacity;
    bool labelled, sparse, typed;            /* typed: the first row told the two others */
    rlar_sparse_rows rows_now, *rows_before; /* the block that grows, and those that are full */
    int64_t blocks, blocks_capacity;
    int64_t sparse_d;     /* largest index + 1, */
    rlar_place sparse_at; /* and where it stands */
    int64_t handed;       /* rows that left in earlier blocks */

    /* Classes: texts as they stand in the file, and the class of each. */
    rlar_intern raw;
    int64_t *raw_class;
    int64_t raw_capacity;
    rlar_class_index model_index;
    rlar_intern canonical; /* streams without a model: by appearance */
    rlar_texts model_classes;
    int64_t *class_size; /* of the block that was handed out last */

    /* The row under construction. */
    int64_t cell, row_missing, row_missing_column;
    char *label_text;
    int64_t label_text_capacity;
    size_t label_length;
    bool label_missing;
    const char *bad; /* what is wrong with its first bad cell, or NULL */
    rlar_place bad_at;
    char bad_token[RLAR_TOKEN_SIZE];

    /* Over all rows. */
    int64_t rows, dropped, missing;
    rlar_place missing_at;
};

typedef struct rlar_sink_setup {
    const char *file;                 /* for messages; borrowed */
    const rlar_read_options *options; /* borrowed while the sink lives: its texts */
    bool whole, label_only;
    const rlar_label_list *labels;
} rlar_sink_setup;

rlar_status rlar__sink_new(rlar_ctx *ctx, const rlar_sink_setup *setup, rlar_sink **out);
void rlar__sink_free(rlar_sink *sink);
/* The last row was pushed: missing values, counts that differ, no rows at all. */
rlar_status rlar__sink_finish(rlar_sink *sink);
/* Rows that can be handed out; none while missing values are only counted. */
int64_t rlar__sink_ready(const rlar_sink *sink);
/* Hand out up to max rows as a data set that borrows the sink's arrays until the next row is
 * pushed. */
rlar_status rlar__sink_block(rlar_sink *sink, int64_t max, rlar_data *block);
/* Forget the rows that were handed out. */
void rlar__sink_recycle(rlar_sink *sink);
/* Hand over all rows: the data owns them. */
rlar_status rlar__sink_take(rlar_sink *sink, rlar_data *data);
/* Do the bytes of the file justify a dense table of this size? `at` is where its width comes from.
 */
rlar_status rlar__sink_dense_allowed(const rlar_sink *sink, const rlar_place *at, int64_t n,
                                     int64_t d);

/* ---- Between the files of the sink ---- */

/* The first row decides: dense or sparse, its labels from a column or from the parser. */
rlar_status rlar__sink_settle(rlar_sink *sink, int64_t count, bool own_label, bool sparse);
/* Room for `rows` more dense rows, and at once for all that the file will have, where its share
 * that was read tells. */
rlar_status rlar__sink_reserve(rlar_sink *sink, int64_t rows);
/* Begin a row whose numbers the caller writes to x + n d, and end it. */
rlar_status rlar__sink_begin(rlar_sink *sink);
rlar_status rlar__sink_end(rlar_sink *sink, const rlar_place *at);
void rlar__sink_missing(rlar_sink *sink, int64_t column);
/* The label that a parser gave, or its absence: the same in every row. */
rlar_status rlar__sink_label(rlar_sink *sink, const rlar_place *at, const char *label,
                             size_t length);
/* No name that a model cannot keep. */
rlar_status rlar__sink_check_name(rlar_sink *sink, const rlar_place *at, const char *what,
                                  const char *text, size_t length);
/* The class of a label text: of the model; by appearance in a stream; else sorted out at the end.
 */
rlar_status rlar__sink_class(rlar_sink *sink, const rlar_place *at, const char *text, size_t length,
                             int64_t *out);
/* The block of sparse rows that grows is full: begin another. */
rlar_status rlar__sink_next_block(rlar_sink *sink);
/* All sparse rows become x. */
rlar_status rlar__sink_densify(rlar_sink *sink);
void rlar__sparse_free(rlar_sparse_rows *rows);

/* Forget the rows so far, not what they told of the columns. */
void rlar__sink_forget(rlar_sink *sink);

/* ---- Pieces of a file at the same time (table_part.c) ---- */

/* May the next rows be parsed in parts? */
bool rlar__sink_divisible(const rlar_sink *sink);
/* The most rows that a piece of so many lines and bytes makes. */
int64_t rlar__sink_most_rows(const rlar_sink *sink, int64_t lines, int64_t bytes);
/* A sink for at most `rows` rows of a piece, which come to stand at row n + offset of the whole
 * table. It lives on the thread of ctx, and ends with rlar__sink_part_end. */
void rlar__sink_part(const rlar_sink *whole, rlar_ctx *ctx, int64_t offset, int64_t rows,
                     rlar_sink *part);
/* Would the whole sink have taken the rows in the same way, as far as it has read? */
bool rlar__sink_part_good(const rlar_sink *part);
/* Take over the rows of the part, which began after so many lines of the file. */
rlar_status rlar__sink_join(rlar_sink *whole, rlar_sink *part, int64_t lines);
void rlar__sink_part_end(rlar_sink *part);

#endif
