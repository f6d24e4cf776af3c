/* figure_model.c - what a model does: samples in the learned space, and the scores of features. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"

enum { MOST_NAMES = 20, MOST_BARS = 30, NAME_LIMIT = 28 };

/* ---- embedding ---- */

/* All samples of the file in the learned space. */
static int embed(cli *c, const char *path, cli_embedding *e) {
    cli_stream stream = {0};
    const rlar_data *block = NULL;
    int code = cli_stream_open(c, path, e->model, &stream);
    while (code == 0) {
        code = cli_stream_next(c, &stream, &block);
        if (code != 0 || block == NULL)
            break;
        code = cli_embed_block(c, e, block);
    }
    cli_stream_close(&stream);
    if (code == 0 && e->n == 0)
        code = cli_error(c, CODE_DATA, "%s: there are no samples to draw", path);
    return code;
}

/* Two coordinates for each sample. A single output has no second direction: there the class is the
 * height. */
static double *place(const cli_figure *figure, const cli_embedding *e) {
    const int64_t p = rlar_model_outputs(e->model);
    double *xy = cli_alloc((size_t)(2 * e->n) * sizeof *xy), share[2] = {0, 0};
    double *direction = cli_alloc((size_t)(2 * p) * sizeof *direction);
    if (p > 1)
        cli_principal(e->z, e->n, p, direction, share);
    for (int64_t i = 0; i < e->n; i++)
        for (int k = 0; k < 2; k++) {
            double sum = 0;
            for (int64_t j = 0; j < p && p > 1; j++)
                sum += direction[k * p + j] * e->z[i * p + j];
            xy[2 * i + k] = p > 1 ? sum : k == 0 ? e->z[i] : (double)e->label[i];
        }
    if (p > 1)
        fprintf(figure->script,
                "set xlabel 'first direction (%.1f %% of the variance)'\n"
                "set ylabel 'second direction (%.1f %%)'\n",
                100 * share[0], 100 * share[1]);
    else
        fputs("set xlabel 'the only output'\nset ylabel 'class'\nset format y ''\n"
              "set offsets graph 0.02, graph 0.02, 0.5, 0.5\n",
              figure->script);
    free(direction);
    return xy;
}

/* A block of the points of one class; how many there are, and their mean. */
static int64_t write_points(const cli_figure *figure, const cli_embedding *e, const double *xy,
                            int64_t class, double mean[2]) {
    int64_t count = 0;
    mean[0] = mean[1] = 0;
    fprintf(figure->script, "$class%lld << END\n", (long long)class + 1);
    for (int64_t i = 0; i < e->n; i++) {
        if (e->label[i] != class)
            continue;
        fprintf(figure->script, "%.7g %.7g\n", xy[2 * i], xy[2 * i + 1]);
        mean[0] += xy[2 * i];
        mean[1] += xy[2 * i + 1];
        count++;
    }
    fputs("END\n", figure->script);
    mean[0] /= (double)(count > 0 ? count : 1);
    mean[1] /= (double)(count > 0 ? count : 1);
    return count;
}

static const char *class_name(const cli_embedding *e, int64_t class) {
    if (class >= 0)
        return rlar_model_class(e->model, class);
    return e->labelled ? "not in the model" : "samples";
}

/* Class -1 are the samples that have none. Names are in the legend or, where there are too many for
 * it, at the means of the classes. */
static void draw_classes(const cli_figure *figure, const cli_embedding *e, const double *xy) {
    const int64_t classes = rlar_model_classes(e->model);
    const bool legend = classes <= MOST_NAMES;
    FILE *out = figure->script;
    int64_t *count = cli_alloc((size_t)(classes + 1) * sizeof *count);
    for (int64_t k = -1; k < classes; k++) {
        double mean[2];
        count[k + 1] = write_points(figure, e, xy, k, mean);
        if (legend || k < 0 || count[k + 1] == 0)
            continue;
        fputs("set label ", out);
        cli_quote(figure, class_name(e, k), 12);
        fprintf(out, " at %.7g,%.7g center front boxed font ',12'\n", mean[0], mean[1]);
    }
    /* no point on the frame, where half of it would be lost */
    fputs("set offsets graph 0.02, graph 0.02, graph 0.02, graph 0.02\n", out);
    fputs(legend ? "set key outside right top\nplot "
                 : "set style textbox opaque noborder margins 0.5,0.5 fillcolor rgb '#ffffff'\n"
                   "unset key\nplot ",
          out);
    bool first = true;
    for (int64_t k = 0; k <= classes; k++) {
        const int64_t class = k < classes ? k : -1; /* those without a class come last */
        if (count[class + 1] == 0)
            continue;
        fprintf(out, "%s$class%lld with points ps %s", first ? "" : ", ", (long long)class + 1,
                legend && e->n <= 2000 ? "0.8" : "0.4");
        if (class >= 0)
            cli_point_style(figure, (int)(class % 40));
        else
            fputs(" pt 2 lc rgb '#999999'", out);
        fputs(" title ", out);
        cli_quote(figure, class_name(e, class), NAME_LIMIT);
        first = false;
    }
    fputc('\n', out);
    free(count);
}

int cli_figure_embedding(cli *c, const char *const *path, int count, cli_figure *figure) {
    rlar_model *model = NULL;
    (void)count;
    int code = cli_model_load(c, path[0], &model);
    if (code != 0)
        return code;
    cli_embedding e = {.model = model};
    code = embed(c, path[1], &e);
    if (code == 0) {
        figure->width = rlar_model_classes(model) > 10 ? 640 : 560;
        figure->height = 400;
        double *xy = place(figure, &e);
        draw_classes(figure, &e, xy);
        free(xy);
    }
    cli_embedding_free(&e);
    rlar_model_free(model);
    return code;
}

/* ---- features ---- */

bool cli_image_size(const char *text, int64_t *height, int64_t *width) {
    const size_t length = strcspn(text, "x");
    if (text[length] == '\0')
        return false;
    char *first = cli_strdup(text, length);
    const bool good = cli_parse_int(first, 1, height) && cli_parse_int(text + length + 1, 1, width);
    free(first);
    return good;
}

static void draw_bars(cli_figure *figure, const rlar_model *model) {
    const int64_t d = rlar_model_dims(model), count = d < MOST_BARS ? d : MOST_BARS;
    FILE *out = figure->script;
    cli_score *list = cli_sorted_scores(model);
    char buf[CLI_NUMBER_SIZE];
    size_t longest = 0;
    fputs("$score << END\n", out);
    for (int64_t i = 0; i < count; i++)
        fprintf(out, "%lld %.10g\n", (long long)i, list[i].score);
    fputs("END\nset ytics scale 0 (", out);
    for (int64_t i = 0; i < count; i++) {
        fputs(i > 0 ? ", " : "", out);
        const char *name = cli_feature_name(model, list[i].index, buf);
        cli_quote_tic(figure, name, NAME_LIMIT);
        fprintf(out, " %lld", (long long)i);
        longest = strlen(name) > longest ? strlen(name) : longest;
    }
    fprintf(out,
            ")\nset yrange [%lld.5:-0.5]\nset xrange [0:*]\nset xlabel 'score'\n"
            "set ylabel '%s'\nunset grid\nset grid x lc rgb '#dddddd'\nunset key\n"
            "set style fill solid 1 noborder\n"
            "plot $score using (0.5*$2):1:(0):2:($1-0.38):($1+0.38) with boxxyerror fc rgb "
            "'#3b6ea5'\n",
            (long long)count - 1,
            rlar_model_feature(model, 0) != NULL ? "feature" : "feature (number)");
    figure->width = 360 + 8 * (int)(longest > NAME_LIMIT ? NAME_LIMIT : longest);
    figure->height = 110 + 21 * (int)count;
    free(list);
}

/* Pixels row by row or column by column, as the features are stored. They are square unless the
 * image would then be a thin line. */
static void draw_image(const cli *c, cli_figure *figure, const rlar_model *model, int64_t height,
                       int64_t width) {
    const double *score = rlar_model_scores(model);
    FILE *out = figure->script;
    fputs("$score << END\n", out);
    for (int64_t i = 0; i < height; i++)
        for (int64_t j = 0; j < width; j++)
            fprintf(out, "%.7g%c", score[c->args.order != 0 ? j * height + i : i * width + j],
                    j + 1 < width ? ' ' : '\n');
    fprintf(out,
            "END\nset xrange [-0.5:%lld.5]\nset yrange [%lld.5:-0.5]\nset size %s\n"
            "set xlabel 'column (pixels)'\nset ylabel 'row (pixels)'\nset cblabel 'score' offset "
            "1,0\nset rmargin 9\n"
            "unset grid\nunset key\nset tics out\nset cbrange [0:*]\n"
            "plot $score matrix with image%s\n",
            (long long)width - 1, (long long)height - 1,
            height <= 8 * width && width <= 8 * height ? "ratio -1" : "noratio",
            height * width <= 4096 ? " pixels" : "");
    figure->height = 400;
}

int cli_figure_features(cli *c, const char *const *path, int count, cli_figure *figure) {
    rlar_model *model = NULL;
    int64_t height = 0, width = 0;
    (void)count;
    int code = cli_model_load(c, path[0], &model);
    if (code != 0)
        return code;
    const int64_t d = rlar_model_dims(model);
    if (c->args.image == NULL)
        draw_bars(figure, model);
    else if (cli_image_size(c->args.image, &height, &width) && d / width == height &&
             d % width == 0)
        draw_image(c, figure, model, height, width);
    else
        code = cli_usage(c, "--image %s: %s has %lld features, which is another number of pixels",
                         c->args.image, path[0], (long long)d);
    rlar_model_free(model);
    return code;
}
