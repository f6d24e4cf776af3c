/* cmd_rank.c - rlar rank: the features of a model by score, best first; equal scores by lower
 * index. */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

/* qsort is not stable; the index makes the order total. */
static int compare(const void *a, const void *b) {
    const cli_score *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

cli_score *cli_sorted_scores(const rlar_model *model) {
    const int64_t d = rlar_model_dims(model);
    const double *score = rlar_model_scores(model);
    cli_score *list = cli_alloc((size_t)d * sizeof *list);
    for (int64_t j = 0; j < d; j++)
        list[j] = (cli_score){score[j], j};
    qsort(list, (size_t)d, sizeof *list, compare);
    return list;
}

const char *cli_feature_name(const rlar_model *model, int64_t index, char buf[CLI_NUMBER_SIZE]) {
    const char *name = rlar_model_feature(model, index);
    if (name != NULL)
        return name;
    snprintf(buf, CLI_NUMBER_SIZE, "%lld", (long long)index + 1);
    return buf;
}

static void print_json(cli *c, const rlar_model *model, const cli_score *list, int64_t count) {
    char buf[CLI_NUMBER_SIZE];
    json_t *root = json_object(), *features = json_array();
    for (int64_t i = 0; i < count; i++) {
        json_t *entry = json_object();
        cli_json_set(entry, "rank", json_integer(i + 1));
        cli_json_set(entry, "feature", cli_json_text(cli_feature_name(model, list[i].index, buf)));
        cli_json_set(entry, "index", json_integer(list[i].index + 1));
        cli_json_set(entry, "score", cli_json_number(list[i].score));
        json_array_append_new(features, entry);
    }
    cli_json_set(root, "method", cli_json_text(rlar_model_method(model)));
    cli_json_set(root, "features", features);
    cli_json_print(c, root);
}

static void print_text(cli *c, const rlar_model *model, const cli_score *list, int64_t count) {
    char buf[CLI_NUMBER_SIZE];
    cli_table table = {.columns = 3, .right = 1};
    cli_table_add(&table, "rank\tfeature\tscore");
    for (int64_t i = 0; i < count; i++)
        cli_table_add(&table, "%lld\t%s\t%.6g", (long long)i + 1,
                      cli_feature_name(model, list[i].index, buf), list[i].score);
    cli_table_print(c, &table);
}

int cli_cmd_rank(cli *c) {
    rlar_model *model = NULL;
    int code = cli_model_load(c, c->args.word[0], &model);
    if (code == 0)
        code = cli_out_open(c, c->args.output);
    if (code != 0) {
        rlar_model_free(model);
        return code;
    }
    const int64_t d = rlar_model_dims(model);
    const int64_t count = c->args.top > 0 && c->args.top < d ? c->args.top : d;
    cli_score *list = cli_sorted_scores(model);
    if (c->args.json > 0)
        print_json(c, model, list, count);
    else
        print_text(c, model, list, count);
    if (rlar_model_feature(model, 0) == NULL)
        cli_note(c, "the model has no feature names: features are numbered from 1");
    free(list);
    rlar_model_free(model);
    return 0;
}
