/* mat.h - between read_mat.c (files, variables), mat_values.c (what a variable holds), mat_walk.c
 * (is the file whole?), mat_copy.c (what of it matio gets), mat_missing.c (missing values)
 * and mat_library.c (matio itself). */
#ifndef RLAR_CLI_MAT_H
#define RLAR_CLI_MAT_H

#include <matio.h>

#include "cli.h"

/* Labels as numbers or as texts. count -1: there are none. */
typedef struct cli_mat_labels {
    int64_t count;
    double *number;
    char **text;
    int64_t texts; /* allocated, also after some were dropped */
} cli_mat_labels;

/* The functions of matio that are in use. */
typedef struct cli_matio {
    __typeof__(&Mat_Open) open;
    __typeof__(&Mat_Close) close;
    __typeof__(&Mat_GetDir) get_dir;
    __typeof__(&Mat_VarReadInfo) read_info;
    __typeof__(&Mat_VarRead) read;
    __typeof__(&Mat_VarFree) release;
} cli_matio;

/* Open matio, for the sake of `path`. */
int cli_matio_open(cli *c, const char *path, cli_matio *out);

/* ---- mat_copy.c ---- */

enum { CLI_MAT_NAME = 64 }; /* MATLAB's names have 63 letters at most */

/* A variable of a level-5 file. */
typedef struct cli_mat_variable {
    char name[CLI_MAT_NAME];
    int64_t size; /* unpacked */
    bool left_out;
} cli_mat_variable;

/* What matio gets. */
typedef struct cli_mat_kept {
    int fd;       /* a memory file without the variables left out; -1: there are none */
    int64_t held; /* of the memory limit, for that file */
    cli_mat_variable *variable;
    int64_t count;
} cli_mat_kept;

/* Memory that is about to be taken for a variable, or, without a name, for the file, counts against
 * --max-memory: added to `held`, or refused. */
int cli_mat_hold(cli *c, int64_t *held, double bytes, const char *path, const char *name);
void cli_mat_let_go(cli *c, int64_t *held); /* all of it */
bool cli_mat_write(int fd, const void *bytes, size_t size);
/* pread() of all that is there; -1 with errno. */
ssize_t cli_mat_pread(int fd, unsigned char *bytes, size_t size, int64_t at);
/* The variable of `size` bytes at `at`, with its tag, is for matio. */
int cli_mat_keep(cli *c, cli_mat_kept *kept, int fd, const char *path, int64_t at, int64_t size);
/* The one at `at` is not. */
int cli_mat_leave_out(cli *c, cli_mat_kept *kept, int fd, const char *path, int64_t at);
/* Note it; it may have no name, and then nobody can ask for it. */
void cli_mat_note(cli_mat_kept *kept, const char *name, int64_t size, bool left_out);
bool cli_mat_is_left_out(const cli_mat_kept *kept, const char *name);
int64_t cli_mat_unpacked(const cli_mat_kept *kept, const char *name); /* bytes; -1: not known */
void cli_mat_kept_free(cli *c, cli_mat_kept *kept);

/* ---- mat_walk.c ---- */

/* Refuse a file of level 4 or 5 that was cut or damaged, which matio would read as other numbers or
 * take any memory for; and leave out what is not read. `kept` has no file yet. */
int cli_mat_whole(cli *c, int fd, const char *path, cli_mat_kept *kept);

/* ---- mat_parts.c: one variable of a level-5 file, byte by byte ---- */

enum { CLI_MAT_DEPTH = 32 };

/* A matrix that is not complete. */
typedef struct cli_mat_frame {
    int64_t left; /* bytes */
    int part;     /* how many are complete */
    int kind;     /* its class */
    double count; /* of numbers, by its sizes */
} cli_mat_frame;

/* Zero it, but for `big`. */
typedef struct cli_mat_parts {
    bool big; /* the high bytes come first */
    bool bad, done;
    bool left_out; /* it holds what is not read, and only its name matters */
    bool named;
    char name[CLI_MAT_NAME];
    int64_t total; /* bytes that came along */
    cli_mat_frame frame[CLI_MAT_DEPTH];
    int depth;
    unsigned char tag[8];
    int tag_bytes;
    uint32_t type; /* of the part that comes along */
    int64_t size, skip;
    unsigned char bytes[64]; /* its first ones */
    size_t kept;
} cli_mat_parts;

/* Four bytes as a number. */
uint32_t cli_mat_word(const unsigned char *at, bool big);
void cli_mat_parts_feed(cli_mat_parts *parts, const unsigned char *bytes, size_t size);
bool cli_mat_parts_whole(const cli_mat_parts *parts); /* after the last byte */

/* ---- mat_values.c ---- */

/* What reading it takes, of the variable's own memory: by its sizes, or by its `unpacked` bytes. */
double cli_mat_need(const matvar_t *info, int64_t unpacked);
/* Is it a real matrix with as many bytes as its sizes ask for? */
int cli_mat_check(cli *c, const matvar_t *x, const char *path);
/* A checked matrix as doubles, sample by sample: its rows or, with `turned`, its columns. */
int cli_mat_samples(cli *c, const matvar_t *x, const char *path, bool turned, int64_t *held,
                    double **out);
int cli_mat_labels_read(cli *c, const matvar_t *y, const char *path, int64_t *held,
                        cli_mat_labels *out);
void cli_mat_labels_move(cli_mat_labels *labels, int64_t to, int64_t from);
void cli_mat_labels_free(cli_mat_labels *labels);

/* ---- mat_missing.c ---- */

/* The samples data->x of n x d doubles and their labels by the rule; n becomes what is left. */
int cli_mat_missing(cli *c, cli_data *data, cli_mat_labels *labels, rlar_missing missing,
                    int64_t *n, int64_t d);

#endif
