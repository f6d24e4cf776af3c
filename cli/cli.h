/* cli.h - what the verbs share.
 *
 * Convention: a function that returns int returns an exit code, and whoever returns a non-zero one
 * has printed the reason. Results go through cli_write and cli_printf (standard output, or the file
 * of -o); everything else goes to standard error through cli_note, cli_warn and cli_error. */
#ifndef RLAR_CLI_H
#define RLAR_CLI_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "args.h"
#include "ranks.h"
#include "rlar.h"

#define CLI_PRINTF(text, args) __attribute__((format(printf, text, args)))
#define CLI_NEVER_NULL __attribute__((returns_nonnull))

enum {
    CODE_DONE = 0,
    CODE_FAILED = 1,
    CODE_USAGE = 2,
    CODE_DATA = 3,
    CODE_MODEL = 4,
    CODE_NUMERIC = 5,
    CODE_IO = 6,
    CODE_MEMORY = 7,
    CODE_INTERRUPTED = 130
};

enum { CLI_NUMBER_SIZE = 32, CLI_BUFFER_SIZE = 1 << 16 };

/* Where results go: file when -o was given, else descriptor 1. */
typedef struct cli_out {
    rlar_file *file;
    const char *path;   /* of file, for messages */
    int error;          /* errno of the first failed write to standard output, 0: none */
    rlar_status status; /* of the first failed write to the file */
    size_t used;
    char buffer[CLI_BUFFER_SIZE];
} cli_out;

typedef struct cli {
    cli_args args;
    const cli_verb *verb;
    rlar_ctx *ctx;
    const rlar_team *team; /* the ranks of one command, or NULL: alone (ranks.h) */
    int64_t trees;         /* bytes of memory that the JSON read so far may take */
    cli_out out;
    bool terminal;                      /* standard error is one: show progress */
    bool line_shown;                    /* a progress line is on it */
    double started, next;               /* of the running work; when the line may be drawn again */
    double work, work_done, work_total; /* of the running evaluation, before it, of all: operations;
                                           0: there is one only */
    double known, work_known;           /* of the running one, the share that a journal had; the
                                           operations of those before it that journals had */
    int64_t warnings;                   /* printed so far */
    void (*on_iteration)(struct cli *c, const rlar_info *info, void *user); /* or NULL */
    void *on_iteration_user;
} cli;

/* ---- main.c ---- */
bool cli_interrupted(void); /* SIGINT or SIGTERM came */

/* ---- common.c: messages, exit codes, small things ---- */
int cli_exit_code(rlar_status status);
/* Print "rlar: text" and return the code; over ranks, one of them prints. */
int cli_error(cli *c, int code, const char *format, ...) CLI_PRINTF(3, 4);
/* A usage error: the text names the verb and says where help is. */
int cli_usage(cli *c, const char *format, ...) CLI_PRINTF(2, 3);
/* 0 for a status that is no error, else print the context's text and return its exit code. */
int cli_check(cli *c, rlar_status status);
void cli_note(cli *c, const char *format, ...) CLI_PRINTF(2, 3);
void cli_warn(cli *c, const char *format, ...) CLI_PRINTF(2, 3);
double cli_now(void);
/* Open a file for reading; 0 or the code of the error that was told. */
int cli_open(cli *c, const char *path, int *fd);
/* Small memory for names and lists. Ends the program with code 7 when there is none. */
CLI_NEVER_NULL void *cli_alloc(size_t size);
CLI_NEVER_NULL char *cli_strdup(const char *text, size_t length);
/* A formatted text; and one that grows as it is written, whole when it is closed. */
CLI_NEVER_NULL char *cli_text(const char *format, ...) CLI_PRINTF(1, 2);
CLI_NEVER_NULL char *cli_vtext(const char *format, va_list args) CLI_PRINTF(1, 0);
CLI_NEVER_NULL FILE *cli_text_open(char **text, size_t *size);
void cli_text_close(FILE *out, char *const *text);
/* The shortest text that reads back as the same number; "nan" where it is not one. */
const char *cli_number(double value, char buf[CLI_NUMBER_SIZE]);
/* "1.4 GiB" */
const char *cli_bytes(double bytes, char buf[CLI_NUMBER_SIZE]);

/* The path of a program as the shell would find it, allocated, or NULL. */
char *cli_find_program(const char *name);

/* ---- context.c ---- */
int cli_ctx_open(cli *c);
void cli_progress_clear(cli *c); /* take the progress line off the terminal */
/* Several evaluations with one time that is left: of how much work all are, and each. */
void cli_work_total(cli *c, double work);
void cli_work_begin(cli *c, double work);
void cli_work_end(cli *c, double work);

/* ---- words.c: "a,b,c" ---- */
typedef struct cli_words {
    char *copy; /* cut in pieces */
    const char **item;
    int count;
} cli_words;
bool cli_words_split(const char *text, cli_words *out); /* false: an empty list or item */
void cli_words_free(cli_words *list);

/* ---- out.c ---- */
int cli_out_open(cli *c, const char *path); /* NULL or "-": standard output */
/* Can the file be made, and is it none of those that are read? Better to know at once. */
int cli_out_probe(cli *c, const char *path);
/* What an option names is not to stand among the results or the messages. NULL is legal. */
int cli_out_alone(cli *c, const char *option, const char *what, const char *path);
void cli_write(cli *c, const char *bytes, size_t size);
void cli_printf(cli *c, const char *format, ...) CLI_PRINTF(2, 3);
void cli_csv(cli *c, const char *text);  /* one field, quoted where it must be */
void cli_line(cli *c, const char *name); /* a line of a list of labels, as --labels reads it */
void cli_flush(cli *c);
bool cli_out_broken(const cli *c); /* nobody reads any more: stop working */
int cli_out_close(cli *c, int code);

/* ---- inputs.c: what a run reads ---- */
/* One file, however it is spelled; also where it is yet to be made. */
bool cli_same_path(const char *a, const char *b);
/* A usage error where standard input would have to be read more than once. */
int cli_stdin_check(cli *c);
/* The path of a DATA, to be freed, and what it is; NULL where it has no identity that could be
 * asked for: a pipe, or nothing at all, which the reader will tell. */
int cli_input_find(cli *c, const char *word, char **path, struct stat *about);
/* A usage error where writing the path would change something that this run reads. */
int cli_spare_inputs(cli *c, const char *path);

/* ---- help.c ---- */
void cli_help(cli *c);
void cli_help_verb(cli *c, const cli_verb *verb);
/* A paragraph with lines broken at spaces; all but the first are indented. */
void cli_wrap(cli *c, const char *text, int indent);
void cli_usage_brief(void); /* to standard error, for `rlar` alone */

/* ---- json.c ---- */
json_t *cli_json_number(double value);    /* null when not finite */
json_t *cli_json_text(const char *text);  /* null for NULL; bytes that are no UTF-8 become U+FFFD */
json_t *cli_json_value(const char *text); /* a number when the text is one, else the text */
json_t *cli_json_params(const rlar_params *params);
void cli_json_set(json_t *object, const char *key, json_t *value);
void cli_json_print(cli *c, json_t *root); /* and release it */

/* ---- table.c: aligned columns of text ---- */
typedef struct cli_table {
    int columns;
    unsigned right; /* bit j: column j is aligned right */
    int count, capacity;
    char **cell;
} cli_table;
void cli_table_add(cli_table *table, const char *format, ...) CLI_PRINTF(2, 3);
void cli_table_print(cli *c, cli_table *table); /* and release it */

/* ---- load.c: data from any format ---- */
typedef struct cli_data {
    rlar_data *data;
    double *x;    /* the samples that data borrows, for .mat */
    int64_t held; /* bytes of the memory limit, for them, in `ctx` */
    rlar_ctx *ctx;
    char *file, *name;              /* path as opened; file name without folder and endings */
    const char *format;             /* "csv", "mat", ... */
    int64_t missing;                /* cells that were missing when read */
    int64_t samples, dims, classes; /* of the whole set, wherever it is; `data` may be gone */
} cli_data;
/* A model; -: from standard input. */
int cli_model_load(cli *c, const char *word, rlar_model **out);
int cli_data_load(cli *c, const char *word, rlar_missing missing, cli_data *out);
/* Part number `part` of `parts` of a file that can be read so; 0 of 1: a file of several. */
int cli_data_load_part(cli *c, const char *word, rlar_missing missing, int64_t part, int64_t parts,
                       cli_data *out);
int cli_data_splits(cli *c, const char *word, rlar_missing missing, bool *can);
/* rlar_evaluate, with the fits shared among the ranks if there are several. */
int cli_evaluate(cli *c, const rlar_data *data, const rlar_eval_spec *spec, rlar_eval **out);
const char *cli_data_dir(const cli *c); /* --data-dir or RLAR_DATA_DIR; NULL: neither */
/* The word as it stands, or its path in the data folder, to be freed; NULL: it is in neither. */
int cli_data_look(cli *c, const char *word, char **out);
/* Its path in the data folder, to be freed; NULL: it is not there. An error where that cannot be
 * told. */
int cli_data_find(cli *c, const char *word, char **out);
/* "x/COIL20.mat.gz" -> "COIL20", to be freed; a folder keeps its name. */
char *cli_short_name(const char *path);
void cli_data_measure(cli_data *data); /* sizes, of what this process holds */
void cli_data_free(cli_data *data);

/* ---- parts.c ---- */
int cli_rank(const cli *c); /* 0 for a process alone */

/* ---- traffic.c: what the ranks of a fit say to each other; nothing for a process alone ---- */
typedef struct cli_traffic_at {
    int64_t iterations, steps, sent, received; /* so far, on this rank */
} cli_traffic_at;

typedef struct cli_traffic {
    cli_traffic_at first, last; /* after the first and the last iteration */
    double received, busiest;   /* bytes between them: of all ranks, and of the busiest one */
} cli_traffic;

void cli_traffic_note(cli *c, const rlar_info *info, cli_traffic *t); /* after every iteration */
int cli_traffic_collect(cli *c, cli_traffic *t);                      /* on all ranks, for rank 0 */
void cli_traffic_json(const cli *c, const rlar_forecast *f, const cli_traffic *t, json_t *root);
void cli_traffic_forecast_json(const cli *c, const rlar_forecast *f, json_t *root);
void cli_traffic_forecast_text(cli *c, const rlar_forecast *f);
/* All DATA as one set; over ranks, the samples that this one should hold. Free it also after a
 * failure. */
int cli_parts_load(cli *c, cli_data *out);

/* Samples block by block, for a model: classes are numbered as the model's. */
typedef struct cli_stream {
    cli_data held; /* .mat files are read whole */
    rlar_stream *stream;
    int64_t block; /* samples at a time */
} cli_stream;
int cli_stream_open(cli *c, const char *word, const rlar_model *model, cli_stream *out);
/* The next block, or NULL at the end. */
int cli_stream_next(cli *c, cli_stream *stream, const rlar_data **out);
void cli_stream_close(cli_stream *stream);
/* Warn when nearly every sample has a class of its own; the first also refuses data without labels.
 */
int cli_need_labels(cli *c, const cli_data *data);
void cli_warn_labels(cli *c, const cli_data *data);

/* ---- embed.c ---- */
/* Samples in the learned space. */
typedef struct cli_embedding {
    const rlar_model *model;
    double *z;           /* n x p */
    int64_t *label;      /* n classes of the model; -1: none, or not known to it */
    int64_t n, capacity; /* rows that are held, and the room */
    int64_t samples;     /* embedded so far */
    int64_t unknown;     /* among them, labels that the model does not know */
    bool labelled;       /* the first block has labels */
} cli_embedding;
int cli_embed_block(cli *c, cli_embedding *e, const rlar_data *block); /* append its samples */
void cli_embedding_free(cli_embedding *e);

/* ---- cmd_rank.c ---- */
typedef struct cli_score {
    double score;
    int64_t index;
} cli_score;
cli_score *cli_sorted_scores(const rlar_model *model); /* of all features, best first; allocated */
/* Its name, or its 1-based index where the training data had no names. */
const char *cli_feature_name(const rlar_model *model, int64_t index, char buf[CLI_NUMBER_SIZE]);

/* ---- read_mat.c ---- */
bool cli_mat_wanted(const cli *c, const char *path);
int cli_mat_vars_check(cli *c); /* the option alone, before any file is read */
int cli_mat_read(cli *c, const char *path, rlar_missing missing, cli_data *out);
bool cli_matio_present(void); /* can .mat files be read? */

/* ---- settings.c: -p, short forms and presets onto parameters ---- */
/* NAME=VALUE or METHOD.NAME=VALUE cut in pieces (allocated in one block: free the result's `copy`).
 */
typedef struct cli_assignment {
    char *copy;
    const char *method, *name, *value; /* method may be NULL */
} cli_assignment;
int cli_assignment_parse(cli *c, const char *option, const cli_setting *setting,
                         cli_assignment *out);
/* --scale, or the scaling of the preset, or the default. */
const char *cli_scale(const cli *c);
const char *cli_classifier(const cli *c); /* likewise */
/* New parameters for each of `count` methods, with the preset and every -p applied. */
int cli_params_make(cli *c, const char *const *methods, int count, rlar_params **out);
/* "alpha=0.1 beta=0.1 ..." as an allocated text. */
char *cli_params_line(const rlar_params *params);

/* ---- plan.c: options of the verbs that evaluate ---- */
typedef struct cli_plan {
    cli_words methods;
    rlar_params **params; /* one per method */
    cli_assignment *axis; /* one per --grid */
    cli_words *values;
    rlar_axis *axes;
    rlar_eval_spec spec; /* points into the above */
} cli_plan;
/* The caller has set trials, tune and the split of p->spec; this sets the rest and checks it. Free
 * the plan also after a failure. */
int cli_plan_make(cli *c, const char *methods, cli_plan *p);
/* How samples to be evaluated are read. */
rlar_missing cli_missing_evaluated(const cli *c);
void cli_plan_free(cli_plan *p);
/* A usage error where a word, or a number however it is written, stands twice in the list, which is
 * the `text` of the option. */
int cli_distinct(cli *c, const char *option, const char *text, const cli_words *list);

/* ---- comparison.c and evaluate_out.c ---- */
typedef struct cli_comparison cli_comparison;
/* One line of the outcome: a method on a data set at one training size. */
typedef struct cli_row {
    const cli_data *data;
    const rlar_params *params;
    rlar_eval_result result;
    double size; /* training samples per class, share, or folds */
} cli_row;
typedef struct cli_outcome {
    const cli_data *data;
    int n_data;
    const cli_row *row;
    int n_rows, n_methods; /* rows come in runs of n_methods: the same data and size */
    const rlar_eval_spec *spec;
    const cli_comparison *comparison; /* NULL: nothing to compare */
} cli_outcome;
/* "95.03 ± 2.66", in per cent. */
const char *cli_spread(double mean, double std, char *buf, size_t size);
/* The mean as it is shown: those that print alike are equally good, so all of them are bold. -1 for
 * NaN. */
long cli_shown(double mean);
void cli_outcome_text(cli *c, const cli_outcome *out);
void cli_outcome_csv(cli *c, const cli_outcome *out);
void cli_outcome_latex(cli *c, const cli_outcome *out);
json_t *cli_outcome_json(cli *c, const cli_outcome *out);
/* {"library", "config", "kernel"} of what computes here: the last digits depend on it. */
json_t *cli_json_blas(cli *c);
/* Its parts that tune has too. */
json_t *cli_json_data(const cli_data *data);
json_t *cli_json_measure(double mean, double std, const double *trials, int64_t count);
void cli_json_cell(json_t *object, const rlar_eval_result *r, int64_t cell); /* names and values */
json_t *cli_json_tried(const rlar_eval_result *r, int64_t cell); /* these and the accuracy */
json_t *cli_json_grid(const rlar_eval_result *r);
/* What a method has reached: parameters, accuracies, times, the grid. */
json_t *cli_result_json(const rlar_eval_result *r, const rlar_params *used, rlar_tune tune);

typedef struct cli_pair {
    int a, b;
    double difference, statistic; /* mean of a minus b; of Wilcoxon's test */
} cli_pair;
struct cli_comparison {
    bool over_trials;   /* blocks are trials, not data sets */
    bool several_sizes; /* data sets stand there once for each training size */
    int methods;
    int64_t blocks;     /* 0: there is nothing to compare */
    const cli_row *row; /* one per method: the first of the outcome */
    double *value;      /* blocks x methods accuracies */
    double *rank;       /* average ranks */
    double friedman, friedman_p, davenport, davenport_p;
    double *nemenyi_p, critical; /* methods x methods; the critical difference */
    cli_pair *pair;              /* methods (methods - 1) / 2, those with the first method first */
    double *p, *p_holm;          /* of the pairs; p_holm_first: of those with the first method */
    double *p_holm_first;
};
int cli_comparison_make(cli *c, const cli_outcome *out, cli_comparison *cmp);
void cli_comparison_free(cli_comparison *cmp); /* also after a failure */
void cli_comparison_text(cli *c, const cli_comparison *cmp);
json_t *cli_comparison_json(const cli_comparison *cmp);

/* ---- the verbs ---- */
int cli_cmd_fit(cli *c);
int cli_cmd_predict(cli *c);
int cli_cmd_transform(cli *c);
int cli_cmd_rank(cli *c);
int cli_cmd_evaluate(cli *c);
int cli_cmd_tune(cli *c);
int cli_cmd_plot(cli *c);
int cli_cmd_report(cli *c);
int cli_cmd_info(cli *c);
int cli_cmd_convert(cli *c);
int cli_cmd_methods(cli *c);
int cli_cmd_doctor(cli *c);
int cli_cmd_reproduce(cli *c);

#endif
