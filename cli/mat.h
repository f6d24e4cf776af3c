/* mat.h - between read_mat.c (files, variables) and mat_values.c (what a variable holds). */
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

/* Refuse a level-5 file that was cut or damaged, which matio would read as other numbers. */
int cli_mat_whole(cli *c, int fd, const char *path);
/* Is it a real matrix with as many bytes as its sizes ask for? */
int cli_mat_check(cli *c, const matvar_t *x, const char *path);
/* A checked matrix as doubles, sample by sample: its rows or, with `turned`, its columns. */
int cli_mat_samples(cli *c, const matvar_t *x, const char *path, bool turned, double **out);
int cli_mat_labels_read(cli *c, const matvar_t *y, const char *path, cli_mat_labels *out);
void cli_mat_labels_move(cli_mat_labels *labels, int64_t to, int64_t from);
void cli_mat_labels_free(cli_mat_labels *labels);

#endif
