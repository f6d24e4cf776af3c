/* load.c - data for the verbs, from any format.
 *
 * MATLAB files are read here by matio (read_mat.c), all others by the library. A DATA that does not
 * exist as given is looked up in --data-dir or RLAR_DATA_DIR, as it stands and with the known
 * endings, so `rlar fit wine` finds wine.csv.gz there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Doubles per block of a stream: 16 MiB. */
enum { BLOCK_DOUBLES = 1 << 21 };

static const char *const endings[] = {"",     ".csv", ".tsv",  ".svm", ".libsvm",
                                      ".npy", ".npz", ".arff", ".mat"};

/* In *out the word with the first ending for which there is such a file, or NULL; `first` 1: not as
 * it stands. Returns 0, or the system's reason why it could not be looked for. */
static int probe(const char *word, size_t first, char **out) {
    static const char *const packed[] = {"", ".gz"};
    *out = NULL;
    for (size_t i = first; i < 2 * sizeof endings / sizeof endings[0]; i++) {
        char *path = cli_text("%s%s%s", word, endings[i / 2], packed[i % 2]);
        const int reason = TEMP_FAILURE_RETRY(access(path, F_OK)) == 0 ? 0 : errno;
        if (reason == 0) {
            *out = path;
            return 0;
        }
        free(path);
        if (reason != ENOENT && reason != ENOTDIR && reason != ENAMETOOLONG)
            return reason;
    }
    return 0;
}

const char *cli_data_dir(const cli *c) {
    const char *dir = c->args.data_dir != NULL ? c->args.data_dir : getenv("RLAR_DATA_DIR");
    return dir != NULL && dir[0] != '\0' ? dir : NULL; /* an empty name is none */
}

/* The ending is easily forgotten. */
static int not_found(cli *c, const char *word) {
    char *meant;
    probe(word, 1, &meant);
    const int code =
        meant != NULL
            ? cli_error(c, CODE_IO, "%s: no such file or folder; did you mean %s?", word, meant)
            : cli_error(c, CODE_IO, "%s: no such file or folder", word);
    free(meant);
    return code;
}

int cli_data_find(cli *c, const char *word, char **out) {
    const char *dir = cli_data_dir(c);
    *out = NULL;
    if (dir == NULL)
        return 0;
    char *there = cli_text("%s/%s", dir, word);
    const int reason = probe(there, 0, out);
    const int code = reason == 0 ? 0 : cli_error(c, CODE_IO, "'%s': %s", there, strerror(reason));
    free(there);
    return code;
}

int cli_data_look(cli *c, const char *word, char **out) {
    *out = NULL;
    if (strcmp(word, "-") == 0 || TEMP_FAILURE_RETRY(access(word, F_OK)) == 0) {
        *out = cli_strdup(word, strlen(word));
        return 0;
    }
    if (word[0] == '\0' || errno != ENOENT)
        return cli_error(c, CODE_IO, "'%s': %s", word, strerror(errno));
    return word[0] == '/' ? 0 : cli_data_find(c, word, out);
}

/* Missing files are told here, since only here it is known where else they were looked for. */
static int find_file(cli *c, const char *word, char **out) {
    const char *dir = cli_data_dir(c);
    const int code = cli_data_look(c, word, out);
    if (code != 0 || *out != NULL)
        return code;
    if (dir == NULL || word[0] == '/')
        return not_found(c, word);
    return cli_error(c, CODE_IO, "%s: no such file or folder, nor in the data folder %s", word,
                     dir);
}

char *cli_short_name(const char *path) {
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): a word of the command */
    if (strcmp(path, "-") == 0)
        return cli_strdup("stdin", 5);
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    if (end - start > 3 && memcmp(path + end - 3, ".gz", 3) == 0)
        end -= 3;
    for (size_t i = 1; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t length = strlen(endings[i]);
        if (end - start > length && memcmp(path + end - length, endings[i], length) == 0)
            return cli_strdup(path + start, end - start - length);
    }
    return cli_strdup(path + start, end - start);
}

/* The data options as the library wants them. */
static rlar_read_options read_options(const cli *c, rlar_missing missing, const rlar_model *model) {
    static const int header[] = {0, 1, -1};
    rlar_read_options options = RLAR_INIT(rlar_read_options);
    options.format = c->args.format;
    options.label = c->args.label;
    options.labels_file = c->args.labels;
    options.header = header[c->args.header];
    options.missing = missing;
    options.model = model;
    return options;
}

/* Find the file and name it; the clock of the progress line starts here. */
static int begin(cli *c, const char *word, cli_data *out) {
    *out = (cli_data){0};
    const int code = find_file(c, word, &out->file);
    if (code == 0)
        out->name = cli_short_name(out->file);
    c->started = cli_now();
    return code;
}

/* The whole file, for the verbs that need all samples at once. */
int cli_data_load(cli *c, const char *word, rlar_missing missing, cli_data *out) {
    return cli_data_load_part(c, word, missing, 0, 0, out);
}

int cli_model_load(cli *c, const char *word, rlar_model **out) {
    return cli_check(c, rlar_model_load(c->ctx, word, out));
}

int cli_data_splits(cli *c, const char *word, rlar_missing missing, bool *can) {
    const rlar_read_options options = read_options(c, missing, NULL);
    cli_data named;
    int code = begin(c, word, &named), splits = 0;
    if (code == 0 && !cli_mat_wanted(c, named.file))
        code = cli_check(c, rlar_data_splits(c->ctx, named.file, &options, &splits));
    cli_data_free(&named);
    *can = splits != 0;
    return code;
}

int cli_data_load_part(cli *c, const char *word, rlar_missing missing, int64_t part, int64_t parts,
                       cli_data *out) {
    int code = begin(c, word, out);
    if (code == 0 && cli_mat_wanted(c, out->file)) {
        code = cli_mat_read(c, out->file, missing, out);
    } else if (code == 0) {
        rlar_read_options options = read_options(c, missing, NULL);
        options.part = part;
        options.parts = parts;
        code = cli_check(c, rlar_data_read(c->ctx, out->file, &options, &out->data));
        if (code == 0) {
            out->format = rlar_data_format(out->data);
            out->missing = rlar_data_missing(out->data);
        }
    }
    if (code != 0) {
        cli_data_free(out);
        return code;
    }
    cli_data_measure(out);
    if (c->args.verbose > 0)
        cli_note(c, "read %s: %lld samples, %lld features, %lld classes (%s)", out->file,
                 (long long)out->samples, (long long)out->dims, (long long)out->classes,
                 out->format);
    return 0;
}

void cli_data_measure(cli_data *data) {
    data->samples = rlar_data_samples(data->data);
    data->dims = rlar_data_dims(data->data);
    data->classes = rlar_data_classes(data->data);
}

void cli_data_free(cli_data *data) {
    rlar_data_free(data->data);
    free(data->x);
    if (data->held > 0)
        rlar_ctx_give_back(data->ctx, data->held);
    free(data->file);
    free(data->name);
    *data = (cli_data){0};
}

int cli_need_labels(cli *c, const cli_data *data) {
    if (rlar_data_classes(data->data) == 0)
        return cli_error(c, CODE_DATA, "%s: there are no labels to learn from; name them with %s",
                         data->file,
                         strcmp(data->format, "mat") == 0 ? "--mat-vars X,y"
                                                          : "--label COLUMN or --labels FILE");
    if (data->samples == 1)
        return cli_error(c, CODE_DATA,
                         "%s: there is one sample only; samples of two classes are needed",
                         data->file);
    if (rlar_data_classes(data->data) == 1)
        return cli_error(
            c, CODE_DATA,
            "%s: all %lld samples are of one class, '%s'; two classes are needed: is the "
            "label column the right one?",
            data->file, (long long)data->samples, rlar_data_class(data->data, 0));
    cli_warn_labels(c, data);
    return 0;
}

void cli_warn_labels(cli *c, const cli_data *data) {
    const int64_t n = data->samples, classes = rlar_data_classes(data->data);
    if (classes > 2 && classes > n / 2)
        cli_warn(
            c,
            "%s: the label column looks continuous: %lld classes in %lld samples; choose another "
            "with --label",
            data->name, (long long)classes, (long long)n);
}

/* Block by block, for the verbs that look at each sample once. */
int cli_stream_open(cli *c, const char *word, const rlar_model *model, cli_stream *out) {
    /* A stream cannot know the mean of a column; the model knows that of training. */
    const rlar_missing missing =
        c->args.missing == RLAR_MISSING_MEAN ? RLAR_MISSING_KEEP : (rlar_missing)c->args.missing;
    *out = (cli_stream){.block = 1 + BLOCK_DOUBLES / (1 + rlar_model_dims(model))};
    int code = begin(c, word, &out->held);
    if (code == 0 && cli_mat_wanted(c, out->held.file)) {
        code = cli_mat_read(c, out->held.file, missing, &out->held);
        if (code == 0)
            code = cli_check(c, rlar_stream_data(c->ctx, out->held.data, model, &out->stream));
    } else if (code == 0) {
        const rlar_read_options options = read_options(c, missing, model);
        code = cli_check(c, rlar_stream_open(c->ctx, out->held.file, &options, &out->stream));
    }
    if (code != 0)
        cli_stream_close(out);
    return code;
}

int cli_stream_next(cli *c, cli_stream *stream, const rlar_data **out) {
    return cli_check(c, rlar_stream_next(stream->stream, stream->block, out));
}

void cli_stream_close(cli_stream *stream) {
    rlar_stream_free(stream->stream);
    cli_data_free(&stream->held);
    stream->stream = NULL;
}
