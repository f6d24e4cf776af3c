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

typedef struct embedding {
    const rlar_model *model;
    bool stream;         /* CSV, row by row */
    bool labelled;       /* the first block has labels */
    double *z;           /* of this block, or of all blocks */
    const char **label;  /* of the rows in z; names of the model, NULL: not known to it */
    int64_t n, capacity; /* rows in z; room in z and label */
    int64_t unknown;     /* samples with labels that the model does not know */
} embedding;

/* Room for `more` rows after the n that are kept. */
static bool reserve(embedding *e, int64_t more) {
    const size_t p = (size_t)rlar_model_outputs(e->model);
    if (e->n + more <= e->capacity)
        return true;
    const int64_t capacity = e->n + more > 2 * e->capacity ? e->n + more : 2 * e->capacity;
    double *z = realloc(e->z, (size_t)capacity * p * sizeof *z);
    if (z != NULL)
        e->z = z;
    const char **label = realloc(e->label, (size_t)capacity * sizeof *label);
    if (label != NULL)
        e->label = label;
    if (z == NULL || label == NULL)
        return false;
    e->capacity = capacity;
    return true;
}

static void write_header(cli *c, const embedding *e) {
    for (int64_t j = 0; j < rlar_model_outputs(e->model); j++)
        cli_printf(c, "%sz%lld", j > 0 ? "," : "", (long long)j + 1);
    cli_printf(c, "%s\n", e->labelled ? ",class" : "");
}

/* Rows of the current block. */
static void write_rows(cli *c, const embedding *e, int64_t rows) {
    char buf[CLI_NUMBER_SIZE];
    const int64_t p = rlar_model_outputs(e->model);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < p; j++) {
            const char *text = cli_number(e->z[i * p + j], buf);
            cli_write(c, ",", j > 0);
            cli_write(c, text, strlen(text));
        }
        if (e->labelled) {
            cli_write(c, ",", 1);
            if (e->label[i] != NULL)
                cli_csv(c, e->label[i]);
            else
                cli_write(c, "?", 1);
        }
        cli_write(c, "\n", 1);
    }
    cli_flush(c);
}

static int embed_block(cli *c, embedding *e, const rlar_data *block, bool first) {
    const int64_t rows = rlar_data_samples(block);
    if (!reserve(e, rows))
        return cli_error(c, CODE_MEMORY, "no memory for %lld embedded samples", (long long)rows);
    double *z = e->z + e->n * rlar_model_outputs(e->model);
    const int code = cli_check(c, rlar_transform(c->ctx, e->model, block, z));
    if (code != 0)
        return code;
    if (first)
        e->labelled = rlar_data_classes(block) > 0;
    for (int64_t i = 0; i < rows && e->labelled; i++) {
        const int64_t label = rlar_data_label(block, i);
        e->label[e->n + i] = label >= 0 ? rlar_model_class(e->model, label) : NULL;
        e->unknown += label < 0;
    }
    if (!e->stream) {
        e->n += rows;
        return 0;
    }
    if (first)
        write_header(c, e);
    write_rows(c, e, rows);
    return 0;
}

/* Hand all of z to the library's writer. */
static int write_table(cli *c, const embedding *e) {
    const int64_t p = rlar_model_outputs(e->model);
    char(*name)[CLI_NUMBER_SIZE] = cli_alloc((size_t)p * sizeof *name);
    const char **names = cli_alloc((size_t)p * sizeof *names);
    rlar_data *table = NULL;
    rlar_view view = RLAR_INIT(rlar_view);
    view.n = e->n;
    view.d = view.stride = p;
    view.x = e->z;
    for (int64_t j = 0; j < p; j++) {
        snprintf(name[j], sizeof name[j], "z%lld", (long long)j + 1);
        names[j] = name[j];
    }
    if (e->unknown > 0)
        cli_warn(c,
                 "%lld samples have no class that the model knows; %s is written without classes "
                 "(.csv has ? there)",
                 (long long)e->unknown, c->args.output);
    int code = cli_check(c, rlar_data_view(c->ctx, &view, &table));
    if (code == 0)
        code = cli_check(c, rlar_data_set_features(c->ctx, table, names));
    if (code == 0 && e->labelled && e->unknown == 0)
        code = cli_check(c, rlar_data_set_labels(c->ctx, table, e->label));
    if (code == 0)
        code = cli_check(c, rlar_data_write(c->ctx, table, c->args.output, NULL));
    if (code == 0)
        cli_note(c, "wrote %s", c->args.output);
    rlar_data_free(table);
    free(names);
    free(name);
    return code;
}

/* Over all blocks. */
static int transform(cli *c, embedding *e) {
    cli_stream stream = {0};
    const rlar_data *block = NULL;
    int64_t samples = 0;
    int code = cli_stream_open(c, c->args.word[1], e->model, &stream);
    if (code == 0)
        code = e->stream ? cli_out_open(c, c->args.output) : cli_out_probe(c, c->args.output);
    while (code == 0 && !cli_out_broken(c)) {
        code = cli_stream_next(c, &stream, &block);
        if (code != 0 || block == NULL)
            break;
        code = embed_block(c, e, block, samples == 0);
        samples += rlar_data_samples(block);
    }
    if (code == 0 && samples == 0)
        cli_warn(c, "%s: no samples", stream.held.file);
    cli_stream_close(&stream);
    if (code == 0 && !e->stream)
        code = write_table(c, e);
    if (code == 0 && !cli_out_broken(c))
        cli_note(c, "%lld samples in %lld dimensions", (long long)samples,
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
    embedding e = {0};
    int code = cli_check(c, rlar_model_load(c->ctx, c->args.word[0], &model));
    if (code != 0)
        return code;
    e.model = model;
    e.stream = c->args.output == NULL || !is_table(c->args.output);
    code = transform(c, &e);
    free(e.z);
    free(e.label);
    rlar_model_free(model);
    return code;
}
