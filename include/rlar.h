/* rlar.h - learn a small linear map that keeps labelled, high-dimensional samples apart.
 *
 * The whole public interface of librlar. It has three sections:
 *
 *   1. Simple     read a file, fit, save, load, predict: everything by default
 *   2. Context    threads, memory, progress, parameters by name, data from memory, streams
 *   3. Advanced   evaluation, statistics, robustness, BLAS, memory forecast, output files
 *
 * The rules that hold everywhere:
 *   - Fallible calls return an rlar_status: negative = error (nothing was written to the outputs: a
 *     pointer that was NULL still is), 0 = done, positive = done with a warning. rlar_ctx_error()
 *     has the text: where, what, value, limit, what to do. The one exception: rlar_predict and
 *     rlar_transform go by blocks, and some of their rows may be written.
 *   - The library never prints, exits, aborts, calls setlocale or rand. It keeps no global state
 * but the table of BLAS functions, which is loaded once.
 *   - A context, and what was made with it, is used by one thread at a time. Models and data are
 *     read-only once made: any number of threads may use one, each with its own context.
 *   - Whoever _new()s, _read()s or _load()s a thing _free()s it, before the context it came from.
 *     _free(NULL) is legal.
 *   - A sample is contiguous: X is d x n column by column, which is NumPy's C-order n x d.
 *   - Open structs start with `size`: set it to sizeof(the struct), zero the rest, fill what you
 * need. RLAR_INIT does the first two:  rlar_read_options o = RLAR_INIT(rlar_read_options);
 */
#ifndef RLAR_H
#define RLAR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RLAR_VERSION_MAJOR 0
#define RLAR_VERSION_MINOR 1
#define RLAR_VERSION_PATCH 0
#define RLAR_VERSION "0.1.0"

#if defined(__GNUC__)
#define RLAR_API __attribute__((visibility("default")))
#else
#define RLAR_API
#endif

#ifdef __cplusplus
#define RLAR_INIT(type)                                                                            \
    type {                                                                                         \
        sizeof(type)                                                                               \
    }
#else
#define RLAR_INIT(type) ((type){.size = sizeof(type)})
#endif

typedef struct rlar_ctx rlar_ctx;       /* threads, memory, callbacks, the last error */
typedef struct rlar_data rlar_data;     /* samples, labels, names */
typedef struct rlar_params rlar_params; /* one method and its parameters */
typedef struct rlar_model rlar_model;   /* the linear map, its scaling and its references */
typedef struct rlar_stream rlar_stream; /* a data file, block by block */
typedef struct rlar_eval rlar_eval;     /* the outcome of an evaluation */
typedef struct rlar_file rlar_file;     /* an output file that appears whole or not at all */

/* Negative: error. Positive: a usable result with a warning. The values are pinned. */
typedef enum rlar_status {
    RLAR_OK = 0,
    RLAR_E_NOMEM = -1,        /* the allocator failed, or the context's memory limit was met */
    RLAR_E_ARG = -2,          /* a wrong argument, option or parameter */
    RLAR_E_DATA = -3,         /* the data cannot be read or used */
    RLAR_E_MODEL = -4,        /* the model file is damaged, or does not fit the data */
    RLAR_E_NUMERIC = -5,      /* the computation failed: not finite, not factorisable */
    RLAR_E_IO = -6,           /* the operating system refused a file operation */
    RLAR_E_TOO_LARGE = -7,    /* a size does not fit 64 bits or the machine */
    RLAR_E_CANCELLED = -8,    /* a callback asked to stop */
    RLAR_E_UNSUPPORTED = -9,  /* a legal request that this build or method does not serve */
    RLAR_E_BLAS = -10,        /* no usable BLAS library was found */
    RLAR_E_INTERNAL = -11,    /* a defect in the library */
    RLAR_W_NOT_CONVERGED = 1, /* stopped by `iters` before `tol` was reached */
    RLAR_W_RIDGED = 2,        /* a factorisation needed extra regularisation */
    RLAR_W_NEIGHBOURS = 3,    /* a class has no more than k samples: fewer neighbours were used */
    RLAR_W_ZERO = 4,          /* the best map is zero: it tells no classes apart */
    RLAR_W_GUESS = 5          /* log only: a file may have been meant otherwise than it was read */
} rlar_status;

/* ====================================== 1. Simple ========================================= */

/* Options of a context; NULL means all defaults. See section 2. */
typedef struct rlar_ctx_options rlar_ctx_options;
typedef struct rlar_read_options rlar_read_options;
typedef struct rlar_fit_options rlar_fit_options;
typedef struct rlar_predict_options rlar_predict_options;
typedef struct rlar_info rlar_info;

RLAR_API rlar_status rlar_ctx_new(const rlar_ctx_options *options, rlar_ctx **out);
RLAR_API void rlar_ctx_free(rlar_ctx *ctx);

/* The text of the last error of this context ("" if none). Lives until the next call. */
RLAR_API const char *rlar_ctx_error(const rlar_ctx *ctx);
/* A short fixed text for a status, e.g. "bad data". */
RLAR_API const char *rlar_status_text(rlar_status status);

/* Read a data file (CSV, TSV, LIBSVM, NPY, NPZ, ARFF, a folder of PGM/PNG images; each also
 * gzipped; "-" is standard input). */
RLAR_API rlar_status rlar_data_read(rlar_ctx *ctx, const char *path,
                                    const rlar_read_options *options, rlar_data **out);
RLAR_API void rlar_data_free(rlar_data *data);

/* Learn a model. params NULL: method rlar with its defaults. options and info may be NULL. */
RLAR_API rlar_status rlar_fit(rlar_ctx *ctx, const rlar_data *data, const rlar_params *params,
                              const rlar_fit_options *options, rlar_model **out, rlar_info *info);
RLAR_API void rlar_model_free(rlar_model *model);

RLAR_API rlar_status rlar_model_save(rlar_ctx *ctx, const rlar_model *model, const char *path);
/* "-" is standard input, from where it stands to its end; rlar_model_save refuses it. */
RLAR_API rlar_status rlar_model_load(rlar_ctx *ctx, const char *path, rlar_model **out);

/* Class index of every sample into classes[n]; names by rlar_model_class(). scores may be NULL,
 * else n x c, one row per sample: the larger, the more likely (see docs/api.md for what each is).
 * After an error some of the rows may be written, here and in rlar_transform. */
RLAR_API rlar_status rlar_predict(rlar_ctx *ctx, const rlar_model *model, const rlar_data *data,
                                  const rlar_predict_options *options, int64_t *classes,
                                  double *scores);
/* The share of the training samples that the model takes for what they are, by the outputs that it
 * keeps of them; options->rows is ignored. */
RLAR_API rlar_status rlar_training_accuracy(rlar_ctx *ctx, const rlar_model *model,
                                            const rlar_predict_options *options, double *out);
/* z = W'x + b of every sample, n x p, one row per sample. */
RLAR_API rlar_status rlar_transform(rlar_ctx *ctx, const rlar_model *model, const rlar_data *data,
                                    double *z);

/* ====================================== 2. Context ======================================== */

typedef enum rlar_event_kind {
    RLAR_EVENT_POLL = 0,      /* nothing happened; a chance to cancel */
    RLAR_EVENT_READ = 1,      /* done = bytes read, total = bytes in all or 0 if unknown */
    RLAR_EVENT_ITERATION = 2, /* done, total = iterations; info is filled */
    RLAR_EVENT_FIT = 3        /* evaluation: done, total = fits */
} rlar_event_kind;

/* What a fit found out. */
struct rlar_info {
    size_t size;
    int64_t iterations; /* RLAR_EVENT_ITERATION events; 0: solved in closed form */
    double objective;   /* of (12), the plain one; NaN where a method has none */
    double smoothed;    /* with eps in the norms: what provably never rises */
    double regression;  /* the three terms of the plain objective */
    double sparsity;    /* includes the factor alpha */
    double locality;    /* includes the factor beta */
    double eps;         /* smoothing of this iteration */
    double seconds;     /* since the start of the fit */
    int converged;      /* 1: the relative decrease fell below tol, or the method is closed-form */
    int dual;           /* 1: solved in the n x n form, 0: in the d x d form */
    int ridged;         /* factorisations that needed extra regularisation */
    int64_t clamped;    /* classes with no more than k samples */
    int64_t neighbours; /* the k in use (after the rule for k = 0) */
    int64_t steps;      /* steps of the descents within the iterations (RLAR, solver=minimise) */
    double gradient; /* likewise: g'Hg / 2, g the smoothed gradient in the metric H of the descent,
                        as a share of the objective: what a step could still gain; else NaN */
};

typedef struct rlar_event {
    size_t size;
    rlar_event_kind kind;
    int64_t done, total;
    const rlar_info *info; /* RLAR_EVENT_ITERATION only */
    int64_t known; /* RLAR_EVENT_FIT: of those done, how many were not fitted, but in a journal */
} rlar_event;

/* Called on the thread that called the library. A non-zero answer cancels: RLAR_E_CANCELLED. */
typedef int (*rlar_progress_fn)(void *user, const rlar_event *event);
/* Warnings and notes, one line without a newline. */
typedef void (*rlar_log_fn)(void *user, rlar_status status, const char *text);

/* The most threads of a context. */
enum { RLAR_THREADS_MAX = 256 };

struct rlar_ctx_options {
    size_t size;
    int threads;        /* 0: one per processor. The results do not depend on it. */
    int64_t max_memory; /* bytes that the context may hold at once; 0: no limit */
    rlar_progress_fn progress;
    rlar_log_fn log;
    void *user; /* handed to progress and log */
    /* NULL: malloc and free. Both are called by several threads at once; a block may be released by
     * another thread than the one that asked for it. */
    void *(*alloc)(void *alloc_user, size_t bytes);
    void (*release)(void *alloc_user, void *memory);
    void *alloc_user;
};

RLAR_API int rlar_ctx_threads(const rlar_ctx *ctx);
/* Ends the threads that wait for work; a call that needs them starts them anew. For contexts that
 * are kept only because a model came from them. */
RLAR_API void rlar_ctx_rest(rlar_ctx *ctx);
RLAR_API int64_t rlar_ctx_memory(const rlar_ctx *ctx);      /* bytes held now */
RLAR_API int64_t rlar_ctx_memory_peak(const rlar_ctx *ctx); /* the most it held */
/* Memory of the caller's own, such as the samples of a view, counts as held from here on, too:
 * RLAR_E_NOMEM where it and what is held are more than max_memory. `what` names it in messages. */
RLAR_API rlar_status rlar_ctx_reserve(rlar_ctx *ctx, int64_t bytes, const char *what);
/* It no longer does. */
RLAR_API void rlar_ctx_give_back(rlar_ctx *ctx, int64_t bytes);

/* ---- Methods and their parameters: one table, introspectable ---- */

typedef enum rlar_param_type { RLAR_PARAM_REAL, RLAR_PARAM_INT, RLAR_PARAM_CHOICE } rlar_param_type;

typedef struct rlar_param_def {
    const char *name;
    rlar_param_type type;
    double value;        /* the default; for a choice its index */
    double min, max;     /* inclusive */
    const char *choices; /* "paper|anneal" for a choice, else NULL */
    const char *grid;    /* "0.001,0.01,..." searched by --tune, or NULL */
    const char *preset;  /* what the preset `paper` sets, as text, or NULL: the default */
    const char *help;
} rlar_param_def;

typedef struct rlar_method_def {
    const char *name;  /* "rlar" */
    const char *title; /* "Robust Locality-Aware Regression" */
    const char *cite;
    const char *about;            /* two or three sentences */
    const char *scores;           /* what its feature scores mean */
    const rlar_param_def *params; /* ends with name == NULL */
    const char *source;           /* what is confirmed by a source and what is a reconstruction */
    int regression; /* 1: outputs are regressed class scores, so argmax is a classifier */
} rlar_method_def;

RLAR_API int64_t rlar_method_count(void);
RLAR_API const rlar_method_def *rlar_method_at(int64_t index);      /* NULL beyond the last */
RLAR_API const rlar_method_def *rlar_method_find(const char *name); /* NULL if unknown */

RLAR_API rlar_status rlar_params_new(rlar_ctx *ctx, const char *method, rlar_params **out);
RLAR_API rlar_status rlar_params_copy(rlar_ctx *ctx, const rlar_params *params, rlar_params **out);
RLAR_API void rlar_params_free(rlar_params *params);
RLAR_API const rlar_method_def *rlar_params_method(const rlar_params *params);
/* Set by name and text ("alpha", "0.1"); the error lists what is allowed. */
RLAR_API rlar_status rlar_params_set(rlar_ctx *ctx, rlar_params *params, const char *name,
                                     const char *value);
RLAR_API rlar_status rlar_params_preset(rlar_ctx *ctx, rlar_params *params, const char *preset);
/* The number (a choice: its index), NaN if there is no such parameter. */
RLAR_API double rlar_params_get(const rlar_params *params, const char *name);
/* The same as shortest text that reads back exactly. Returns its length, -1 if unknown or too long.
 */
RLAR_API int rlar_params_text(const rlar_params *params, const char *name, char *buf, size_t size);

/* ---- Data ---- */

typedef enum rlar_dtype { RLAR_F64 = 0, RLAR_F32 = 1, RLAR_CSR = 2 } rlar_dtype;

/* Samples in the caller's memory. */
typedef struct rlar_view {
    size_t size;
    rlar_dtype type;
    int64_t n, d;          /* samples, features */
    const void *x;         /* F64, F32: sample i starts at element i * stride. CSR: double values */
    int64_t stride;        /* elements from one sample to the next, >= d */
    const int64_t *indptr; /* CSR: n + 1 */
    const int64_t *indices; /* CSR: 0-based columns, increasing within a row */
    const double *weights;  /* n sample weights, or NULL; a method may answer RLAR_E_UNSUPPORTED */
} rlar_view;

/* Borrows the arrays of the view, which must outlive the data. NaN is a missing value. */
RLAR_API rlar_status rlar_data_view(rlar_ctx *ctx, const rlar_view *view, rlar_data **out);
/* Labels as text or as integers, copied. Classes are in numeric order when all are numbers. */
RLAR_API rlar_status rlar_data_set_labels(rlar_ctx *ctx, rlar_data *data,
                                          const char *const *labels);
RLAR_API rlar_status rlar_data_set_label_numbers(rlar_ctx *ctx, rlar_data *data,
                                                 const double *labels);
/* What the data are called in messages; "memory" until then. */
RLAR_API rlar_status rlar_data_set_name(rlar_ctx *ctx, rlar_data *data, const char *name);
RLAR_API rlar_status rlar_data_set_features(rlar_ctx *ctx, rlar_data *data,
                                            const char *const *names);
/* What reading does with missing values. */
typedef enum rlar_missing {
    RLAR_MISSING_ERROR = 0, /* an error that names the first and counts them */
    RLAR_MISSING_MEAN = 1,  /* the mean of the column; of the training data, with a model */
    RLAR_MISSING_DROP = 2,  /* leave such samples out */
    RLAR_MISSING_KEEP = 3   /* leave NaN; prediction fills in the training means */
} rlar_missing;

/* What stands in place of a class. */
typedef enum rlar_no_class {
    RLAR_CLASS_UNKNOWN = -1, /* not one of the model that the data were read with; or no labels */
    RLAR_CLASS_MISSING = -2  /* the sample has no label, though others may have */
} rlar_no_class;

RLAR_API int64_t rlar_data_samples(const rlar_data *data);
RLAR_API int64_t rlar_data_dims(const rlar_data *data);
RLAR_API int64_t rlar_data_classes(const rlar_data *data); /* 0: no labels */
RLAR_API const char *
rlar_data_name(const rlar_data *data); /* file name without folder and endings */
RLAR_API const char *rlar_data_format(const rlar_data *data); /* "csv", ...; "memory" for a view */
RLAR_API const char *rlar_data_class(const rlar_data *data, int64_t class_index);
RLAR_API int64_t rlar_data_class_size(const rlar_data *data, int64_t class_index);
RLAR_API int64_t rlar_data_label(const rlar_data *data, int64_t sample); /* or an rlar_no_class */
RLAR_API const char *rlar_data_feature(const rlar_data *data, int64_t feature); /* NULL: no names */
RLAR_API int64_t rlar_data_missing(const rlar_data *data); /* cells that were missing when read */
/* The sample as d doubles. */
RLAR_API void rlar_data_row(const rlar_data *data, int64_t sample, double *row);

struct rlar_read_options {
    size_t size;
    const char *format; /* "csv", "tsv", "libsvm", "npy", "npz", "arff", "images"; NULL: guess */
    const char
        *label; /* column name or 1-based index (negative: from the end); "none"; NULL: rule */
    const char *labels_file; /* labels in a file of their own, one per sample, or NULL */
    int header;              /* 1 yes, -1 no, 0 guess */
    rlar_missing missing;
    int64_t features;        /* > 0: the samples must have so many; the last column is a label only
                                where there is one more */
    const rlar_model *model; /* or NULL. Sets `features`, finds columns by the model's names where
                                the file has a header, and maps labels to the model's classes. */
    int64_t part, parts;     /* parts > 0: only part number `part`, 0 to parts - 1; it may be empty.
                                One after another the parts have the samples of the whole file.
                                Their classes are the labels as they stand: rlar_data_share() makes
                                those of the whole file, or of several, of them. */
};

/* Can the file be read in parts with these options? That is for CSV, TSV, LIBSVM and NPY files (in
 * C order) that are not packed. Reads no more than the head of the file; standard input is left
 * alone. */
RLAR_API rlar_status rlar_data_splits(rlar_ctx *ctx, const char *path,
                                      const rlar_read_options *options, int *can);

/* Read block by block, for data larger than memory. The data of a block are valid until the next
 * call; *out is NULL at the end. Classes are numbered as in options->model, else in order of
 * appearance. */
RLAR_API rlar_status rlar_stream_open(rlar_ctx *ctx, const char *path,
                                      const rlar_read_options *options, rlar_stream **out);
RLAR_API rlar_status rlar_stream_data(rlar_ctx *ctx, const rlar_data *data, const rlar_model *model,
                                      rlar_stream **out);
RLAR_API rlar_status rlar_stream_next(rlar_stream *stream, int64_t max_samples,
                                      const rlar_data **out);
RLAR_API void rlar_stream_free(rlar_stream *stream);

/* The grey values, 0 to 255 and row by row, of a PGM or PNG file; free with rlar_bytes_free. */
RLAR_API rlar_status rlar_image_read(rlar_ctx *ctx, const char *path, double **grey, int64_t *rows,
                                     int64_t *columns);
/* Must the name of a class stand in quotes in a table or a list of labels to be read as it is? Not
 * 0 for what would be missing (NA, nan, ?, in any case) or lose blanks at its ends. */
RLAR_API int rlar_name_needs_quotes(const char *name);
/* Write a table; the format by the ending (.csv .tsv .svm .libsvm .npy .npz .arff, each also .gz),
 * or by name. Atomic. */
RLAR_API rlar_status rlar_data_write(rlar_ctx *ctx, const rlar_data *data, const char *path,
                                     const char *format);
/* Is there such a format? The error is that of writing, before there is anything to write. */
RLAR_API rlar_status rlar_write_check(rlar_ctx *ctx, const char *path, const char *format);

/* ---- One fit, or the fits of one evaluation, over several processes ---- */

/* A symmetric matrix in square tiles that are dealt out to a grid of ranks: tile (i, j), of i, j =
 * 0, 1, ..., lies on rank (i % rows) * cols + j % cols; ranks from rows * cols on have none. A rank
 * holds its tiles side by side as one matrix of height x width, column by column with `height` as
 * leading dimension. Of a matrix of right-hand sides it holds the same rows of some columns:
 * `sides` of them in the first column of the grid, and in each that follows, while there are any.
 */
typedef struct rlar_tiles {
    size_t size;
    int64_t n, block;      /* the order of the matrix; of a tile, the last ones may have less */
    int rows, cols;        /* the grid */
    int64_t height, width; /* what this rank holds */
    int64_t p, sides;      /* right-hand sides: in all, and at most in a column of the grid */
} rlar_tiles;

/* Ranks 0 .. ranks-1 make the same calls in the same order: for a fit they hold different samples
 * of the same data, for an evaluation (rlar_evaluate) the same ones. The functions move bytes
 * between them, block until that is done, and answer 0, or another number when the other cannot be
 * reached any more. They are called by the thread that called the library, and by no other. */
typedef struct rlar_team {
    size_t size;
    int rank, ranks;
    void *user;
    int (*send)(void *user, int to, const void *bytes, size_t count);
    int (*receive)(void *user, int from, void *bytes, size_t count);
    int (*broadcast)(void *user, int from, void *bytes, size_t count); /* from one to all */
    int (*ready)(void *user, int from); /* is there something to receive? 1 yes, 0 not yet, negative
                                           as above. Does not wait; evaluations need it */
    /* Both or neither: how a system that is large is solved by all ranks together; NULL: each
     * solves it by itself. All ranks call. factor: the lower triangle of a positive definite
     * matrix, whose tiles are `a`, becomes its Cholesky factor; what is above the diagonal is not
     * looked at. 0: done; 1, on all ranks: not positive definite; a negative rlar_status: it failed
     * (RLAR_E_UNSUPPORTED: what it needs is not there). solve: the right-hand sides `b` become the
     * solutions; 0, or a negative rlar_status. */
    int (*factor)(void *user, const rlar_tiles *tiles, double *a);
    int (*solve)(void *user, const rlar_tiles *tiles, const double *a, double *b);
} rlar_team;

/* The context fits together with others from now on; team NULL: alone again. The team is not
 * copied. When a call of one rank fails its host has to end the others, which wait for it. */
RLAR_API rlar_status rlar_ctx_join(rlar_ctx *ctx, const rlar_team *team);
/* The bytes that this rank has handed to its team for others and got from it, by all calls with the
 * context so far. What is broadcast is handed over once. What goes on inside factor and solve is
 * the host's, and is not counted. */
RLAR_API void rlar_ctx_traffic(const rlar_ctx *ctx, int64_t *sent, int64_t *received);
/* From what each rank has read, in any number of parts with labels, to what it should hold for a
 * fit: classes are numbered alike on all ranks, and samples move so that a class lies on one rank,
 * or if it is larger than a fair share on several that follow each other, and sums are those of one
 * process. Within a class the order is that of the ranks and of the parts. The parts are freed as
 * they go, and their places set to NULL; after an error the rest is the caller's. A rank may have
 * no parts, and may get no samples. With many small parts a rank holds little more than its share
 * at any time. Parts of LIBSVM files may differ in their number of features: the largest counts. */
RLAR_API rlar_status rlar_data_share(rlar_ctx *ctx, rlar_data **parts, int64_t count,
                                     rlar_data **out);

/* ---- Fit, predict, the model ---- */

/* What NULL stands for in options, chosen by accuracy over many data sets (docs/decisions.md), and
 * the scaling of the paper, which belongs to its preset. */
#define RLAR_SCALE_DEFAULT "zscore,rms"
#define RLAR_SCALE_PAPER "unit"
#define RLAR_CLASSIFIER_DEFAULT "1nn"

/* Over ranks: who solves the d x d systems of a fit. */
typedef enum rlar_solve {
    RLAR_SOLVE_AUTO = 0,       /* all together where they are so large that this is faster */
    RLAR_SOLVE_REPLICATED = 1, /* every rank by itself: the bits of one process */
    RLAR_SOLVE_DISTRIBUTED = 2 /* all together, whatever their size (rlar_team.factor) */
} rlar_solve;

struct rlar_fit_options {
    size_t size;
    const char
        *scale; /* "none", "unit", "minmax", "zscore", "rms" or a chain "zscore,rms"; NULL: that */
    const int64_t *rows; /* train on these samples only, or NULL: all */
    int64_t n_rows;
    const rlar_model *start;  /* a model of the same method, features, classes and scaling, with
                                 another beta, to start from; NULL: none. It saves time where the
                                 method can (rlar with solver=minimise) and is ignored elsewhere */
    const char *checkpoint;   /* a file that keeps where the fit is, or NULL (rlar only). If it is
                                 there the fit goes on from it, with the bits of one that was never
                                 stopped and on any number of ranks; it stays when the fit has ended.
                                 A file of other samples or settings is refused */
    int64_t checkpoint_every; /* iterations; 0: 5 */
    rlar_solve solve;         /* one process ignores it */
};

struct rlar_predict_options {
    size_t size;
    const char *classifier; /* "1nn", "knn", "centroid", "argmax", and "1nn-cosine", "knn-cosine",
                               "centroid-cosine": on outputs scaled to length 1; NULL: the
                               default */
    int64_t neighbours;     /* for knn; 0: 5 */
    const int64_t *rows;    /* predict these samples only, or NULL: all */
    int64_t n_rows;
};

/* The same as rlar_fit, and the data end with it, also after an error; *data becomes NULL. Samples
 * that lie as a fit wants them, as those of rlar_data_share do, are scaled in place: the fit holds
 * them once, not twice. */
RLAR_API rlar_status rlar_fit_own(rlar_ctx *ctx, rlar_data **data, const rlar_params *params,
                                  const rlar_fit_options *options, rlar_model **out,
                                  rlar_info *info);

/* Are these texts that options may hold? The error is that of the fit or the prediction. A method,
 * or NULL: argmax is for those whose outputs are class scores. */
RLAR_API rlar_status rlar_scale_check(rlar_ctx *ctx, const char *scale);
RLAR_API rlar_status rlar_classifier_check(rlar_ctx *ctx, const char *classifier,
                                           const char *method);

RLAR_API const char *rlar_model_method(const rlar_model *model);
RLAR_API int64_t rlar_model_dims(const rlar_model *model);    /* d */
RLAR_API int64_t rlar_model_outputs(const rlar_model *model); /* p */
RLAR_API int64_t rlar_model_classes(const rlar_model *model); /* c */
RLAR_API int64_t
rlar_model_references(const rlar_model *model); /* training samples kept for 1-NN */
RLAR_API const char *rlar_model_class(const rlar_model *model, int64_t class_index);
RLAR_API const char *rlar_model_feature(const rlar_model *model, int64_t feature); /* NULL: none */
RLAR_API const char *rlar_model_scale(const rlar_model *model);
/* Parameters as the texts they were set with: "alpha", "0.1". NULL beyond the last. */
RLAR_API const char *rlar_model_param_name(const rlar_model *model, int64_t index);
RLAR_API const char *rlar_model_param_value(const rlar_model *model, int64_t index);
RLAR_API const char *rlar_model_version(const rlar_model *model);  /* of the library that made it */
RLAR_API const double *rlar_model_map(const rlar_model *model);    /* W, d x p, column by column */
RLAR_API const double *rlar_model_offset(const rlar_model *model); /* b, p */
RLAR_API const double *
rlar_model_scores(const rlar_model *model); /* a score per feature: row norms of W */
/* What RLAR has learned beside the map, of the training samples number first .. first + count - 1
 * (they are grouped by class, in the order of classes): the targets T, count x c, and V and S,
 * count x count, row by row. V is 1 where a sample has chosen another as its neighbour, S is V over
 * k times their distance. */
RLAR_API rlar_status rlar_model_matrices(rlar_ctx *ctx, const rlar_model *model, int64_t first,
                                         int64_t count, double *t, double *v, double *s);
/* The model file in memory; free the bytes with rlar_bytes_free. */
RLAR_API rlar_status rlar_model_save_bytes(rlar_ctx *ctx, const rlar_model *model, void **bytes,
                                           size_t *size);
RLAR_API rlar_status rlar_model_load_bytes(rlar_ctx *ctx, const void *bytes, size_t size,
                                           rlar_model **out);
RLAR_API void rlar_bytes_free(rlar_ctx *ctx, void *bytes);

/* ====================================== 3. Advanced ======================================= */

/* ---- Evaluation: repeated splits, tuning, the same splits for every method ---- */

typedef enum rlar_split {
    RLAR_SPLIT_PER_CLASS,
    RLAR_SPLIT_FRACTION,
    RLAR_SPLIT_FOLDS,
    RLAR_SPLIT_GIVEN
} rlar_split;
typedef enum rlar_tune { RLAR_TUNE_NONE, RLAR_TUNE_CV, RLAR_TUNE_ORACLE } rlar_tune;

/* One axis of a grid: a parameter, "scale" or "classifier", and the values to try. */
typedef struct rlar_axis {
    const char *method; /* NULL: every method that has the parameter */
    const char *name;
    const char *const *values;
    int64_t n_values;
} rlar_axis;

/* A split that the caller has made: sample numbers. No sample may be in both, or twice in one.
 * Those of a class that only the test part has are answered wrong, whatever the method. */
typedef struct rlar_rows {
    const int64_t *train, *test;
    int64_t n_train, n_test;
} rlar_rows;

typedef struct rlar_eval_spec {
    size_t size;
    const rlar_params *const *methods; /* what stays fixed comes from here */
    int64_t n_methods;
    rlar_split split;
    int64_t per_class; /* training samples of each class */
    double fraction;   /* training share of each class */
    int64_t folds;
    int64_t trials; /* 0: 10 */
    uint64_t seed;
    rlar_tune tune;
    int64_t tune_folds;    /* 0: 5 */
    const rlar_axis *axes; /* none: the method's own grid */
    int64_t n_axes;
    const char *scale;      /* NULL: RLAR_SCALE_DEFAULT */
    const char *classifier; /* NULL: RLAR_CLASSIFIER_DEFAULT */
    int64_t neighbours;
    const rlar_rows *given; /* of the kind GIVEN: one for each trial */
    int coarse; /* 1: of an axis with five numbers or more every second one is tried at first, and
                   then the neighbours of the best cell */
    const char *journal; /* a file that keeps every finished fit, or NULL: what is there already, of
                            this or another evaluation, is not fitted again */
    int race; /* 1: cells that cannot be chosen any more are given up; the choice is the same, but
                 the accuracy of such a cell is that of the trials, or folds, that it had */
    int fill; /* 1: missing values (NaN) become the means of the training part, in it and in the
                 test part; 0: a trial that trains on one fails. Data that were read with
                 RLAR_MISSING_MEAN have none any more: these means are of all samples, the test
                 samples among them */
} rlar_eval_spec;

/* The outcome for one method. Arrays live as long as the rlar_eval. */
typedef struct rlar_eval_result {
    size_t size;
    const char *method;
    int64_t trials;         /* with folds: trials x folds */
    const double *accuracy; /* per trial; NaN where the fit failed */
    const double *balanced; /* mean of the recalls */
    const double *macro_f1;
    double accuracy_mean, accuracy_std; /* over the trials that did not fail; n - 1 */
    double balanced_mean, balanced_std;
    double macro_f1_mean, macro_f1_std;
    const int64_t *confusion; /* c x c counts over all trials: row = true, column = predicted */
    double fit_seconds, predict_seconds; /* mean of a fit, of a prediction, with preparation */
    int64_t failed;                      /* trials whose fit failed */
    const char *failure;                 /* text of the first failure, or NULL */
    int64_t cells;                       /* size of the grid; 1 without tuning */
    int64_t n_axes;                      /* of the grid */
    const char *const *axis_names;
    const char *const *cell_values; /* cells x n_axes texts */
    const double *cell_accuracy; /* oracle: mean test accuracy of each cell; cv: mean validation */
    int64_t n_selected;          /* cv: one per trial; oracle: 1; none: 0 */
    const int64_t *selected;     /* cells */
    int64_t train_min, train_max, test_min, test_max; /* sizes over the trials */
    const int64_t *cell_trials;                       /* in how many trials the cell was tried */
    const int64_t *cell_failures;                     /* in how many of these its fit failed */
    const int64_t *cell_whole; /* in how many it was tried on all that a trial has, with cv all
                                  folds: only cells that have all trials can be compared */
} rlar_eval_result;

/* All that can be said of the specification without data (of given splits only whether there are
 * any); rlar_evaluate starts with it. */
RLAR_API rlar_status rlar_eval_check(rlar_ctx *ctx, const rlar_eval_spec *spec);
/* The splits that rlar_evaluate would make: one for each trial, with folds for each trial and fold.
 */
RLAR_API rlar_status rlar_eval_splits(rlar_ctx *ctx, const rlar_data *data,
                                      const rlar_eval_spec *spec, rlar_rows **out);
RLAR_API void rlar_rows_free(rlar_rows *splits); /* NULL is legal */
/* With a team, the ranks share the fits: each has all the data and the same specification, and all
 * get the same results, those of one process, or the same error. Rank 0 decides, tells the
 * progress, and is the only one that opens the journal. Cancelling on one rank ends all. */
RLAR_API rlar_status rlar_evaluate(rlar_ctx *ctx, const rlar_data *data, const rlar_eval_spec *spec,
                                   rlar_eval **out);
RLAR_API int64_t rlar_eval_count(const rlar_eval *eval);
RLAR_API rlar_status rlar_eval_get(const rlar_eval *eval, int64_t index, rlar_eval_result *out);
RLAR_API void rlar_eval_free(rlar_eval *eval);

/* ---- Do methods differ, or is it chance? The tests are described in docs/api.md ---- */

/* Wilcoxon's signed-rank test, two-sided: the smaller sum of ranks, and p. Equal pairs are dropped;
 * p = 1 where all are equal. */
RLAR_API rlar_status rlar_wilcoxon(rlar_ctx *ctx, int64_t n, const double *x, const double *y,
                                   double *statistic, double *p);
/* Holm's correction of several p values; adjusted may be p itself. */
RLAR_API rlar_status rlar_holm(rlar_ctx *ctx, int64_t count, const double *p, double *adjusted);
/* values: a row of methods per block (data set, trial), larger is better. The average ranks, 1 is
 * best; Friedman's chi-square, corrected for ties; Iman and Davenport's F of that statistic. */
RLAR_API rlar_status rlar_friedman(rlar_ctx *ctx, int64_t blocks, int64_t methods,
                                   const double *values, double *ranks, double *statistic,
                                   double *p);
RLAR_API rlar_status rlar_iman_davenport(rlar_ctx *ctx, int64_t blocks, int64_t methods,
                                         double friedman, double *f, double *p);
/* Nemenyi's test: p of every pair, methods x methods, from average ranks; and the difference of
 * average ranks that is just significant at a level. */
RLAR_API rlar_status rlar_nemenyi(rlar_ctx *ctx, int64_t blocks, int64_t methods,
                                  const double *ranks, double *p);
RLAR_API rlar_status rlar_nemenyi_difference(rlar_ctx *ctx, int64_t blocks, int64_t methods,
                                             double level, double *difference);
/* ---- Robustness: training samples of which some are corrupted, tested on clean ones ---- */

typedef struct rlar_occlusion {
    size_t size;
    int64_t per_class; /* training samples of each class: with the same trials and seed the splits
                          are those of rlar_evaluate with RLAR_SPLIT_PER_CLASS */
    int64_t trials;
    uint64_t seed;
    int64_t corrupted; /* of these per_class, in each class; those for 1 are among those for 2 */
    int64_t block; /* side of the square that is covered; 0: samples give way to `occluded` ones */
    int64_t height, width; /* with a block: of an image; a sample is an image */
    int by_columns;        /* 1: the pixels of a column follow each other (MATLAB), 0: of a row */
    const double *texture; /* row by row, in the units of the pixels; all of it is in the square.
                              NULL: rlar_texture(), times 255 where a value of data is above 1.5 */
    int64_t texture_rows, texture_columns;
    const rlar_data *occluded; /* the same features, at least the classes of data (found by their
                                  names); none is used twice in a trial. NULL with a block */
} rlar_occlusion;

/* The samples of data in their order, then the corrupted ones, whose originals are in no part of
 * their trial. *splits has one rlar_rows per trial, for RLAR_SPLIT_GIVEN. */
RLAR_API rlar_status rlar_occlude(rlar_ctx *ctx, const rlar_data *data, const rlar_occlusion *spec,
                                  rlar_data **out, rlar_rows **splits);
/* The synthetic 64 x 64 texture, values in [0, 1], row by row. */
RLAR_API void rlar_texture(double texture[64 * 64]);

/* ---- What a fit needs before it is run ---- */

/* Bytes that depend on who is whose neighbour: if neighbours lie anywhere in their class, and if
 * all of them lie on other ranks. */
typedef struct rlar_fetched {
    double about, most;
} rlar_fetched;

typedef struct rlar_forecast {
    size_t size;
    int64_t bytes; /* that the fit holds at its peak, beside the data */
    double flops;  /* of all iterations */
    int dual;
    /* Over ranks all of them call; bytes and flops are those of the rank that has the most. Then:
     * are the d x d systems solved by all together? */
    int distributed;
    /* The bytes that ranks have said to each other, or will, without what goes on inside
     * rlar_team.factor and solve: those that all together receive, and those that one of them sends
     * and receives, of the rank that has the most. */
    double moved, moved_busiest;         /* so far: samples on their way to their ranks */
    double once, once_busiest;           /* before the first iteration */
    double iteration, iteration_busiest; /* in each, without its steps */
    double step, step_busiest;           /* in each, where there are any (solver=minimise) */
    double steps;                        /* of an iteration, as a rule */
    double inside; /* about: sent by a rank inside factor and solve in an iteration and its steps */
    /* Received by all ranks beside that where a class lies on several of them: edges between these
     * and the samples at their ends. Likewise before the first iteration, in each, in each step. */
    rlar_fetched fetched_once, fetched, fetched_step;
    int64_t bytes_own; /* as bytes, of rlar_fit_own: without a copy of samples that need none */
} rlar_forecast;

RLAR_API rlar_status rlar_fit_forecast(rlar_ctx *ctx, const rlar_data *data,
                                       const rlar_params *params, const rlar_fit_options *options,
                                       rlar_forecast *out);

/* ---- The machine ---- */

typedef struct rlar_blas_info {
    size_t size;
    const char *library; /* path or name that was opened */
    const char *config;  /* what the library says of itself, or "" */
    const char *kernel;  /* "SkylakeX", ..., or "" where the library does not tell */
    const char *wanted;  /* the kernel that the processor deserves, or "" */
    const char *chosen;  /* who chose the kernel: "rlar", "OPENBLAS_CORETYPE", "library", or
                            "host", which had loaded it before */
    int generic;         /* 1: a generic kernel on a processor that has better */
} rlar_blas_info;

RLAR_API rlar_status rlar_blas_describe(rlar_ctx *ctx, rlar_blas_info *out);
/* Run matrix products for about `seconds` on `threads` threads; 1e9 operations per second. */
RLAR_API rlar_status rlar_blas_speed(rlar_ctx *ctx, double seconds, double *gflops);

RLAR_API const char *rlar_version(void);

/* For "did you mean": the edits between what was typed and a name that exists, whatever the case; 1
 * where it is the beginning of the name; -1: more than 1 + letters/4 or more than 3, not meant. */
RLAR_API int rlar_name_distance(const char *typed, const char *name);

typedef enum rlar_capability { RLAR_CAN_GZIP = 1, RLAR_CAN_PNG = 2 } rlar_capability;
RLAR_API unsigned rlar_capabilities(void);

/* ---- Output that appears whole or not at all: a temporary beside the target, fsync, rename ----
 * After an error the old file is as it was, but for one: where only the flush of the folder failed,
 * the new one is there, whole, and the text says so. The new file has the mode, owner and group of
 * the old one; where its group cannot be kept, the group's rights go. A device, a pipe and a
 * descriptor of the process (/dev/stdout) are written to directly. After a write that failed all
 * that follow fail, and so does commit. */

RLAR_API rlar_status rlar_file_create(rlar_ctx *ctx, const char *path, rlar_file **out);
RLAR_API rlar_status rlar_file_write(rlar_file *file, const void *bytes, size_t size);
RLAR_API rlar_status
rlar_file_commit(rlar_file *file); /* ends and frees the file, also on failure */
/* Two files that belong together: after an error both old ones are as they were, with the same
 * exception. Not so where one of them is a device or a pipe, or where the second could not be
 * renamed and the file system has no hard links, or refuses to take the first back, too (the old
 * one then lies beside it as .rlar-*.tmp). A process that is killed leaves each of them old or new,
 * the second new only with the first. Ends and frees both, also on failure. */
RLAR_API rlar_status rlar_file_commit_both(rlar_file *first, rlar_file *second);
RLAR_API void rlar_file_abort(rlar_file *file); /* leaves nothing behind */

#ifdef __cplusplus
}
#endif
#endif
