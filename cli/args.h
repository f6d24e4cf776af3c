/* args.h - what the user typed: the verbs, one table of options for all of them, and the parser.
 *
 * The same table drives the parser, the suggestions for a mistyped option and --help, so they
 * cannot disagree. Every option is a field of cli_args, named by its offset. */
#ifndef RLAR_CLI_ARGS_H
#define RLAR_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli;

/* One bit per verb, in the order of cli_verbs[]. */
enum {
    V_FIT = 1 << 0,
    V_PREDICT = 1 << 1,
    V_TRANSFORM = 1 << 2,
    V_RANK = 1 << 3,
    V_EVALUATE = 1 << 4,
    V_TUNE = 1 << 5,
    V_REPRODUCE = 1 << 6,
    V_PLOT = 1 << 7,
    V_REPORT = 1 << 8,
    V_INFO = 1 << 9,
    V_CONVERT = 1 << 10,
    V_METHODS = 1 << 11,
    V_DOCTOR = 1 << 12,
    V_ALL = (1 << 13) - 1
};

typedef struct cli_verb {
    const char *name;
    const char *words;   /* the positional arguments as help shows them */
    const char *summary; /* one line, for `rlar --help` */
    const char *about;   /* a paragraph, for `rlar VERB --help` */
    const char *example;
    int min_words, max_words;
    int (*run)(struct cli *c); /* the exit code; non-zero: the reason has been printed */
} cli_verb;

typedef enum cli_kind {
    OPT_FLAG,   /* int: counts */
    OPT_TEXT,   /* const char * */
    OPT_WORD,   /* const char *, one of the words in `value` ("a|b|c") */
    OPT_CHOICE, /* int: the index of the word in `value` */
    OPT_INT,    /* int64_t, at least `min` */
    OPT_SHARE,  /* double, above 0 and below 1 */
    OPT_SIZE,   /* int64_t bytes, with a suffix k, M, G or T */
    OPT_LIST,   /* cli_list: may be repeated */
    OPT_PARAM   /* cli_list: short form of `-p NAME=VALUE`, the option's own name is NAME */
} cli_kind;

typedef enum cli_group { GROUP_VERB, GROUP_DATA, GROUP_COMMON } cli_group;

typedef struct cli_option {
    const char *name; /* without the dashes */
    char letter;      /* short form, or 0 */
    cli_kind kind;
    cli_group group;
    unsigned verbs;
    size_t offset; /* of the field in cli_args */
    int64_t min;   /* OPT_INT */
    const char *value;
    const char *help; /* NULL: an alias that help does not show */
} cli_option;

/* A parameter or a grid as given: `text` is "NAME=VALUE" when `name` is NULL, else the value. */
typedef struct cli_setting {
    const char *name, *text;
} cli_setting;

typedef struct cli_list {
    cli_setting *item;
    int count;
} cli_list;

/* Zero or NULL means "not given" throughout, but for seed: -1. */
typedef struct cli_args {
    const char **word; /* positional arguments */
    int words;
    int quiet, verbose, help, deterministic, json, csv, latex, scores, dry_run, coarse;
    int list, quick, full_grid;
    const char *output, *method, *methods, *preset, *scale, *trace, *checkpoint, *classifier,
        *resume, *columns, *occluder;
    const char *format, *label, *labels, *mat_vars, *data_dir, *train_per_class;
    const char *data, *image, *title; /* plot, report */
    int against;                      /* 0 iteration, 1 seconds */
    int order;                        /* 0 rows, 1 columns */
    int header;                       /* 0 auto, 1 yes, 2 no */
    int missing;                      /* in the order of rlar_missing */
    int tune;                         /* in the order of rlar_tune */
    int solve;                        /* in the order of rlar_solve */
    int64_t threads, max_memory, neighbours, top, trials, seed, folds, tune_folds, every;
    double train_fraction;
    cli_list params, grid;
} cli_args;

extern const cli_verb cli_verbs[];     /* ends with name == NULL */
extern const cli_option cli_options[]; /* ends with name == NULL */

const cli_verb *cli_verb_find(const char *name);
unsigned cli_verb_bit(const cli_verb *verb);
/* The verb or option nearest to a mistyped one, or NULL when none is near. */
const char *cli_verb_near(const char *name);
const char *cli_option_near(const char *name, unsigned verbs);

/* Fill c->args from argv[0..argc-1] (what follows the verb). */
int cli_args_parse(struct cli *c, int argc, char **argv);
void cli_args_free(cli_args *args);
/* All of the text as one whole number of at least `min`; false when it is none. */
bool cli_parse_int(const char *text, int64_t min, int64_t *out);
bool cli_parse_real(const char *text, double *out);

#endif
