/* cmd_plot.c - rlar plot: one figure, from its input to a file.
 *
 * What can be wrong with the command is found before any file is read; the figures are made in the
 * files figure_*.c, the image by gnuplot.c. */
#include <stdlib.h>
#include <string.h>

#include "figure.h"

typedef int draw_results(cli *c, const cli_results *results, cli_figure *figure);
typedef int draw_object(cli *c, const char *file, const json_t *object, cli_figure *figure);
typedef int draw_files(cli *c, const char *const *path, int count, cli_figure *figure);

/* One of the three draws: from chosen results, from one key of one document, or from files. */
typedef struct kind {
    const char *name, *input;
    int min, max;    /* inputs */
    const char *key; /* that each result, or the document, must have */
    const char *how; /* to get results with the key */
    draw_results *results;
    draw_object *object;
    draw_files *files;
} kind;

static const char tuned[] = "it comes with 'rlar evaluate --tune cv --json'";
static const char evaluated[] = "it comes with 'rlar evaluate --json'";

static const kind kinds[] = {
    {"convergence", "TRACE.csv...", 1, 1 << 20, NULL, NULL, NULL, NULL, cli_figure_convergence},
    {"heatmap", "RESULT.json...", 1, 1 << 20, "grid", tuned, cli_figure_heatmap, NULL, NULL},
    {"ksweep", "RESULT.json...", 1, 1 << 20, "grid", tuned, cli_figure_sweep, NULL, NULL},
    {"sizes", "RESULT.json...", 1, 1 << 20, "accuracy", evaluated, cli_figure_sizes, NULL, NULL},
    {"confusion", "RESULT.json...", 1, 1 << 20, "confusion", evaluated, cli_figure_confusion, NULL,
     NULL},
    {"ranks", "RESULT.json", 1, 1, "comparison", NULL, NULL, cli_figure_ranks, NULL},
    {"matrices", "RESULT.json", 1, 1, "matrices", NULL, NULL, cli_figure_matrices, NULL},
    {"embedding", "MODEL DATA", 2, 2, NULL, NULL, NULL, NULL, cli_figure_embedding},
    {"features", "MODEL", 1, 1, NULL, NULL, NULL, NULL, cli_figure_features}};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int unknown_kind(cli *c, const char *name) {
    char names[256] = "";
    size_t used = 0;
    for (int i = 0; i < KINDS && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 kinds[i].name);
    return cli_usage(c, "unknown figure '%s'; there are %s", name, names);
}

static int find_kind(cli *c, const kind **out) {
    const int inputs = c->args.words - 1;
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, c->args.word[0]) == 0)
            *out = &kinds[i];
    if (*out == NULL)
        return unknown_kind(c, c->args.word[0]);
    if (inputs < (*out)->min || inputs > (*out)->max)
        return cli_usage(c, "%s is drawn from %s; %d input%s given", (*out)->name, (*out)->input,
                         inputs, inputs == 1 ? " was" : "s were");
    return 0;
}

/* Options that another figure has would be ignored: better to say so. */
static int check_options(cli *c, const kind *k) {
    int64_t height, width;
    const bool features = strcmp(k->name, "features") == 0;
    if (c->args.output == NULL)
        return cli_usage(c, "where to? give -o FIG.svg, FIG.pdf or FIG.png");
    if (cli_image_of(c->args.output) == IMAGE_NONE)
        return cli_usage(c, "-o %s: the ending must be .svg, .pdf or .png", c->args.output);
    if ((c->args.method != NULL || c->args.data != NULL) && k->results == NULL)
        return cli_usage(c, "--method and --data choose among results; %s has none", k->name);
    if (c->args.against != 0 && strcmp(k->name, "convergence") != 0)
        return cli_usage(c, "--against is for convergence, not for %s", k->name);
    if ((c->args.image != NULL || c->args.order != 0) && !features)
        return cli_usage(c, "--image and --order are for features, not for %s", k->name);
    if (c->args.order != 0 && c->args.image == NULL)
        return cli_usage(c, "--order needs --image HxW");
    if (c->args.image != NULL && !cli_image_size(c->args.image, &height, &width))
        return cli_usage(c, "--image '%s': HEIGHTxWIDTH expected, e.g. 32x32", c->args.image);
    return cli_out_probe(c, c->args.output);
}

static int draw_from_results(cli *c, const kind *k, cli_figure *figure) {
    cli_results results;
    int code = cli_results_load(c, c->args.word + 1, c->args.words - 1, &results);
    if (code != 0)
        return code;
    code = cli_results_choose(c, &results, k->key, k->how);
    if (code == 0)
        code = k->results(c, &results, figure);
    cli_results_free(&results);
    return code;
}

static int draw_from_object(cli *c, const kind *k, cli_figure *figure) {
    json_t *root = NULL;
    const char *file = c->args.word[1];
    int code = cli_json_load(c, file, &root);
    if (code == 0)
        code = k->object(c, file, json_object_get(root, k->key), figure);
    json_decref(root);
    return code;
}

static int write_image(cli *c, cli_figure *figure) {
    char *bytes = NULL;
    size_t size = 0;
    int code = cli_figure_draw(c, figure, cli_image_of(c->args.output), &bytes, &size);
    if (code == 0)
        code = cli_out_open(c, c->args.output);
    if (code == 0)
        cli_write(c, bytes, size);
    free(bytes);
    return code;
}

int cli_cmd_plot(cli *c) {
    const kind *k = NULL;
    cli_figure figure;
    int code = find_kind(c, &k);
    if (code == 0)
        code = check_options(c, k);
    if (code != 0)
        return code;
    cli_figure_begin(&figure);
    if (k->results != NULL)
        code = draw_from_results(c, k, &figure);
    else if (k->object != NULL)
        code = draw_from_object(c, k, &figure);
    else
        code = k->files(c, c->args.word + 1, c->args.words - 1, &figure);
    if (code == 0)
        code = write_image(c, &figure);
    cli_figure_free(&figure);
    return code;
}
