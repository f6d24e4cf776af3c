/* cmd_predict.c - rlar predict: the class of every sample, block by block, so DATA may be larger
 * than memory. A class that the model does not know counts as wrong, a sample without a label not
 * at all. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct prediction {
    const rlar_model *model;
    rlar_predict_options options;
    json_t *names;    /* with --json: all predictions so far */
    int64_t *classes; /* of a block */
    double *scores;   /* of a block, n x c, or NULL */
    int64_t capacity; /* samples that classes and scores hold */
    int64_t n, labelled, right, unknown;
} prediction;

/* Blocks are of one size but for the last, so this allocates once. */
static bool reserve(cli *c, prediction *p, int64_t n) {
    const size_t c_count = (size_t)rlar_model_classes(p->model);
    if (n <= p->capacity)
        return true;
    free(p->classes);
    free(p->scores);
    p->capacity = n;
    p->classes = malloc((size_t)n * sizeof *p->classes);
    p->scores = c->args.scores > 0 ? calloc((size_t)n * c_count, sizeof *p->scores) : NULL;
    return p->classes != NULL && (p->scores != NULL || c->args.scores == 0);
}

/* Only where the block has labels. */
static void count_right(prediction *p, const rlar_data *block) {
    if (rlar_data_classes(block) == 0)
        return;
    const int64_t n = rlar_data_samples(block);
    for (int64_t i = 0; i < n; i++) {
        const int64_t label = rlar_data_label(block, i);
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): n > 0 had room made for it */
        p->right += label == p->classes[i];
        p->unknown += label == RLAR_CLASS_UNKNOWN;
        p->labelled += label != RLAR_CLASS_MISSING;
    }
}

static void write_scores(cli *c, const prediction *p, int64_t i) {
    char buf[CLI_NUMBER_SIZE];
    const int64_t count = rlar_model_classes(p->model);
    cli_csv(c, rlar_model_class(p->model, p->classes[i]));
    for (int64_t k = 0; k < count; k++) {
        const char *text = cli_number(p->scores[i * count + k], buf);
        cli_write(c, ",", 1);
        cli_write(c, text, strlen(text));
    }
    cli_write(c, "\n", 1);
}

/* As lines, as CSV, or kept for the JSON document. */
static void write_block(cli *c, prediction *p, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const char *name = rlar_model_class(p->model, p->classes[i]);
        if (p->names != NULL) {
            json_array_append_new(p->names, cli_json_text(name));
        } else if (p->scores != NULL) {
            write_scores(c, p, i);
        } else {
            cli_line(c, name);
        }
    }
    cli_flush(c);
}

static int predict_block(cli *c, prediction *p, const rlar_data *block) {
    const int64_t n = rlar_data_samples(block);
    if (!reserve(c, p, n))
        return cli_error(c, CODE_MEMORY, "no memory for the predictions of %lld samples",
                         (long long)n);
    const rlar_status status =
        rlar_predict(c->ctx, p->model, block, &p->options, p->classes, p->scores);
    const int code = cli_check(c, status);
    if (code != 0)
        return code;
    count_right(p, block);
    write_block(c, p, n);
    p->n += n;
    return 0;
}

static void write_header(cli *c, const rlar_model *model) {
    cli_printf(c, "prediction");
    for (int64_t k = 0; k < rlar_model_classes(model); k++) {
        cli_write(c, ",", 1);
        cli_csv(c, rlar_model_class(model, k));
    }
    cli_write(c, "\n", 1);
}

/* Accuracy for people; the document for programs, which needs the totals and so comes last. */
static void report(cli *c, const prediction *p, const cli_stream *stream) {
    const double accuracy = p->labelled > 0 ? (double)p->right / (double)p->labelled : 0;
    if (p->labelled > 0)
        cli_note(c, "accuracy %.1f %% (%lld of %lld)", 100 * accuracy, (long long)p->right,
                 (long long)p->labelled);
    else if (p->n > 0)
        cli_note(c, "%lld samples, no labels to compare with", (long long)p->n);
    else
        cli_warn(c, "%s: no samples", stream->held.file);
    if (p->unknown > 0)
        cli_warn(c, "%lld samples have a class that the model does not know; they count as wrong",
                 (long long)p->unknown);
    if (p->names == NULL)
        return;
    json_t *root = json_object();
    cli_json_set(root, "model", cli_json_text(c->args.word[0]));
    cli_json_set(root, "data", cli_json_text(stream->held.file));
    cli_json_set(root, "n", json_integer(p->n));
    cli_json_set(root, "classifier", cli_json_text(cli_classifier(c)));
    cli_json_set(root, "accuracy", p->labelled > 0 ? cli_json_number(accuracy) : json_null());
    cli_json_set(root, "predictions", json_incref(p->names));
    cli_json_print(c, root);
}

/* The output is opened before the first block: a folder that cannot be written is found early. */
static int predict(cli *c, prediction *p) {
    cli_stream stream = {0};
    const rlar_data *block = NULL;
    int code = cli_stream_open(c, c->args.word[1], p->model, &stream);
    if (code == 0)
        code = cli_out_open(c, c->args.output);
    if (code == 0 && c->args.scores > 0)
        write_header(c, p->model);
    while (code == 0 && !cli_out_broken(c)) {
        code = cli_stream_next(c, &stream, &block);
        if (code != 0 || block == NULL)
            break;
        code = predict_block(c, p, block);
    }
    if (code == 0 && !cli_out_broken(c))
        report(c, p, &stream);
    cli_stream_close(&stream);
    return code;
}

int cli_cmd_predict(cli *c) {
    rlar_model *model = NULL;
    prediction p = {.options = RLAR_INIT(rlar_predict_options)};
    if (c->args.json > 0 && c->args.scores > 0)
        return cli_usage(c, "--json and --scores exclude each other");
    int code = cli_check(c, rlar_classifier_check(c->ctx, c->args.classifier, NULL));
    if (code == 0)
        code = cli_model_load(c, c->args.word[0], &model);
    if (code != 0)
        return code;
    p.model = model;
    p.options.classifier = c->args.classifier;
    p.options.neighbours = c->args.neighbours;
    p.names = c->args.json > 0 ? json_array() : NULL;
    code =
        cli_check(c, rlar_classifier_check(c->ctx, c->args.classifier, rlar_model_method(model)));
    if (code == 0)
        code = predict(c, &p);
    json_decref(p.names);
    free(p.classes);
    free(p.scores);
    rlar_model_free(model);
    return code;
}
