/* cmd_transform.c - rlar transform: z = W'x + b of every sample.
 *
 * CSV, also for an ending that says nothing, is written block by block. The other formats are
 * written by the library from all of z, which is small beside the data: p columns instead of d.
 * A class that the model does not know is a missing label, ?, in CSV; the other formats are then
 * written without classes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static void write_header(cli *c, const cli_embedding *e) {
    for (int64_t j = 0; j < rlar_model_outputs(e->model); j++)
        cli_printf(c, "%sz%lld", j > 0 ? "," : "", (long long)j + 1);
    cli_printf(c, "%s\n", e->labelled ? ",class" : "");
}

/* The rows that are held; then they are let go. */
static void write_rows(cli *c, cli_embedding *e) {
    char buf[CLI_NUMBER_SIZE];
    const int64_t p = rlar_model_outputs(e->model);
    if (e->samples == e->n)
        write_header(c, e);
    for (int64_t i = 0; i < e->n; i++) {
        for (int64_t j = 0; j < p; j++) {
            const char *text = cli_number(e->z[i * p + j], buf);
            cli_write(c, ",", j > 0);
            cli_write(c, text, strlen(text));
        }
        if (e->labelled) {
            cli_write(c, ",", 1);
            if (e->label[i] >= 0)
                cli_csv(c, rlar_model_class(e->model, e->label[i]));
            else
                cli_write(c, "?", 1);
        }
        cli_write(c, "\n", 1);
    }
    e->n = 0;
    cli_flush(c);
}

/* Hand all of z to the library's writer. */
static int write_table(cli *c, const cli_embedding *e) {
    const int64_t p = rlar_model_outputs(e->model);
    char(*name)[CLI_NUMBER_SIZE] = cli_alloc((size_t)p * sizeof *name);
    const char **names = cli_alloc((size_t)p * sizeof *names);
    const char **label = cli_alloc((size_t)e->n * sizeof *label);
    rlar_data *table = NULL;
    rlar_view view = RLAR_INIT(rlar_view);
    view.n = e->n;
    view.d = view.stride = p;
    view.x = e->z;
    for (int64_t j = 0; j < p; j++) {
        snprintf(name[j], sizeof name[j], "z%lld", (long long)j + 1);
        names[j] = name[j];
    }
    for (int64_t i = 0; i < e->n && e->unknown == 0 && e->labelled; i++)
        label[i] = rlar_model_class(e->model, e->label[i]);
    int code = cli_check(c, rlar_data_view(c->ctx, &view, &table));
    if (code == 0)
        code = cli_check(c, rlar_data_set_features(c->ctx, table, names));
    if (code == 0 && e->labelled && e->unknown == 0)
        code = cli_check(c, rlar_data_set_labels(c->ctx, table, label));
    if (code == 0)
        code = cli_check(c, rlar_data_write(c->ctx, table, c->args.output, NULL));
    if (code == 0)
        cli_note(c, "wrote %s", c->args.output);
    rlar_data_free(table);
    free(label);
    free(names);
    free(name);
    return code;
}

/* What became of the labels that the model does not know. */
static void tell_unknown(cli *c, const cli_embedding *e, bool by_row) {
    if (e->unknown > 0 && by_row)
        cli_warn(c, "%lld samples have no class that the model knows; their class is written as ?",
                 (long long)e->unknown);
    else if (e->unknown > 0)
        cli_warn(c,
                 "%lld samples have no class that the model knows; %s is written without classes "
                 "(.csv has ? there)",
                 (long long)e->unknown, c->args.output);
}

/* A table of CSV may have a head alone; the other formats have no table without a row. */
static int write_none(cli *c, const cli_embedding *e, const char *file, bool by_row) {
    if (!by_row)
        return cli_error(c, CODE_DATA, "%s: no samples, so there is nothing to write", file);
    cli_warn(c, "%s: no samples", file);
    write_header(c, e);
    return 0;
}

/* Over all blocks. CSV is written row by row, other formats when all is there. */
static int transform(cli *c, cli_embedding *e, bool by_row) {
    cli_stream stream = {0};
    const rlar_data *block = NULL;
    int code = cli_stream_open(c, c->args.word[1], e->model, &stream);
    if (code == 0)
        code = by_row ? cli_out_open(c, c->args.output) : cli_out_probe(c, c->args.output);
    while (code == 0 && !cli_out_broken(c)) {
        code = cli_stream_next(c, &stream, &block);
        if (code != 0 || block == NULL)
            break;
        code = cli_embed_block(c, e, block);
        if (code == 0 && by_row)
            write_rows(c, e);
    }
    if (code == 0 && e->samples == 0 && !cli_out_broken(c))
        code = write_none(c, e, stream.held.file, by_row);
    cli_stream_close(&stream);
    if (code == 0)
        tell_unknown(c, e, by_row);
    if (code == 0 && !by_row)
        code = write_table(c, e);
    if (code == 0 && !cli_out_broken(c))
        cli_note(c, "%lld samples in %lld dimensions", (long long)e->samples,
                 (long long)rlar_model_outputs(e->model));
    return code;
}

/* Does the ending ask for a format that the library writes as a whole? All else is CSV. */
static bool is_table(const char *path) {
    static const char *const ending[] = {".csv.gz", ".tsv", ".svm", ".libsvm",
                                         ".npy",    ".npz", ".arff"};
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        const size_t tail = strlen(ending[i]);
        if (length > tail && strcmp(path + length - tail, ending[i]) == 0)
            return true;
        if (length > tail + 3 && strcmp(path + length - 3, ".gz") == 0 &&
            memcmp(path + length - tail - 3, ending[i], tail) == 0)
            return true;
    }
    return false;
}

int cli_cmd_transform(cli *c) {
    rlar_model *model = NULL;
    int code = cli_model_load(c, c->args.word[0], &model);
    if (code != 0)
        return code;
    cli_embedding e = {.model = model};
    code = transform(c, &e, c->args.output == NULL || !is_table(c->args.output));
    cli_embedding_free(&e);
    rlar_model_free(model);
    return code;
}
