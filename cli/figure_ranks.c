/* figure_ranks.c - the critical-difference diagram of Demsar (2006): methods on an axis of average
 * ranks, and bars that join those whose ranks differ by less than Nemenyi's critical difference.
 *
 * Units: ranks across; down, one unit per line of text. Everything is drawn with arrows and labels,
 * since gnuplot has no such diagram. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"

enum { LINE = 26, NAME_LIMIT = 24 }; /* pixels of a line of text; characters of a method */

typedef struct ranked {
    const char *name;
    double rank;
} ranked;

typedef struct diagram {
    ranked *method; /* best first */
    int count;
    double difference, level;
} diagram;

/* qsort is not stable; equal ranks by name. */
static int compare(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank > y->rank ? 1 : -1;
    return strcmp(x->name, y->name);
}

static bool read_methods(const json_t *comparison, diagram *d) {
    const json_t *names = json_object_get(comparison, "methods");
    const json_t *ranks = json_object_get(comparison, "average_rank");
    const size_t count = json_array_size(names);
    if (count < 1 || json_array_size(ranks) != count)
        return false;
    d->method = cli_alloc(count * sizeof *d->method);
    for (size_t i = 0; i < count; i++) {
        const json_t *name = json_array_get(names, i), *rank = json_array_get(ranks, i);
        if (!json_is_string(name) || !json_is_number(rank) || json_number_value(rank) < 1 ||
            json_number_value(rank) > (double)count)
            return false;
        d->method[d->count++] = (ranked){json_string_value(name), json_number_value(rank)};
    }
    qsort(d->method, count, sizeof *d->method, compare);
    return true;
}

static int read_diagram(cli *c, const char *file, const json_t *comparison, diagram *d) {
    const json_t *nemenyi = json_object_get(comparison, "nemenyi");
    const json_t *difference = json_object_get(nemenyi, "critical_difference");
    const json_t *level = json_object_get(nemenyi, "level");
    if (!json_is_object(comparison))
        return cli_error(c, CODE_DATA,
                         "%s: there is no key \"comparison\"; it comes with 'rlar evaluate "
                         "--methods A,B,C --json', at least three methods",
                         file);
    if (!read_methods(comparison, d))
        return cli_error(c, CODE_DATA,
                         "%s: \"comparison\" has no lists \"methods\" and \"average_rank\" of one "
                         "length, with ranks from 1 to their number",
                         file);
    if (d->count < 3 || !json_is_number(difference) || json_number_value(difference) <= 0)
        return cli_error(c, CODE_DATA,
                         "%s: \"comparison\" has no critical difference for its %d methods; "
                         "evaluate at least three",
                         file, d->count);
    d->difference = json_number_value(difference);
    d->level = json_is_number(level) ? json_number_value(level) : 0.05;
    return 0;
}

/* The last method that does not differ from method i, both best first. */
static int reach(const diagram *d, int i) {
    int last = i;
    while (last + 1 < d->count && d->method[last + 1].rank - d->method[i].rank < d->difference)
        last++;
    return last;
}

/* Bars under the axis, one for each group that no other holds. Returns the depth they take. */
static double draw_groups(FILE *out, const diagram *d) {
    int covered = 0, bars = 0;
    for (int i = 0; i < d->count; i++) {
        const int last = reach(d, i);
        if (last <= i || last <= covered)
            continue;
        const double y = 0.45 + 0.4 * bars++;
        fprintf(out, "set arrow from %.6g,%.6g to %.6g,%.6g nohead lw 5 lc rgb '#333333' front\n",
                d->method[i].rank - 0.02 * d->count, y, d->method[last].rank + 0.02 * d->count, y);
        covered = last;
    }
    return 0.45 + 0.4 * bars;
}

/* The better half is named at the left, from the axis outwards, the others at the right. */
static void draw_methods(const cli_figure *figure, const diagram *d, double top) {
    FILE *out = figure->script;
    const int left = (d->count + 1) / 2;
    const double edge = 0.06 * (d->count - 1);
    for (int i = 0; i < d->count; i++) {
        const bool is_left = i < left;
        const double y = top + 0.4 + (is_left ? i : d->count - 1 - i);
        const double x = is_left ? 1 - edge : d->count + edge, rank = d->method[i].rank;
        fprintf(out,
                "set arrow from %.6g,0 to %.6g,%.6g nohead lw 1 lc rgb '#000000'\n"
                "set arrow from %.6g,%.6g to %.6g,%.6g nohead lw 1 lc rgb '#000000'\nset label ",
                rank, rank, y, rank, y, x, y);
        cli_quote(figure, d->method[i].name, NAME_LIMIT);
        fprintf(out, " at %.6g,%.6g %s offset character %d,0\n", x, y, is_left ? "right" : "left",
                is_left ? -1 : 1);
        fprintf(out, "set label '%.2f' at %.6g,%.6g %s offset character %.1f,0.45 font ',11'\n",
                rank, x, y, is_left ? "left" : "right", 0.0);
    }
}

/* Across, the names take what they need beside the axis. */
static void set_margins(cli_figure *figure, const diagram *d, double depth) {
    size_t longest = 0;
    for (int i = 0; i < d->count; i++)
        longest = strlen(d->method[i].name) > longest ? strlen(d->method[i].name) : longest;
    const int side = 30 + 9 * (int)(longest > NAME_LIMIT ? NAME_LIMIT : longest);
    const double inner = 420, edge = 0.06 * (d->count - 1);
    figure->width = (int)inner + 2 * side;
    figure->height = (int)(LINE * (depth + 3.4));
    fprintf(figure->script,
            "set lmargin at screen %.4f\nset rmargin at screen %.4f\n"
            "set tmargin at screen 0.99\nset bmargin at screen 0.01\n"
            "set xrange [%.6g:%.6g]\nset yrange [%.6g:-3.2]\n",
            side / (double)figure->width, 1 - side / (double)figure->width, 1 - edge,
            d->count + edge, depth);
}

static void draw_axis(const cli_figure *figure, const diagram *d) {
    FILE *out = figure->script;
    fprintf(out, "set arrow from 1,0 to %d,0 nohead lw 1.5 lc rgb '#000000'\n", d->count);
    for (int i = 1; i <= d->count; i++)
        fprintf(out,
                "set arrow from %d,0 to %d,-0.25 nohead lw 1.5 lc rgb '#000000'\n"
                "set label '%d' at %d,-0.62 center\n",
                i, i, i, i);
    fprintf(out, "set label 'average rank (1 = best)' at %.6g,-1.35 center\n",
            0.5 * (1 + d->count));
    const double end = 1 + d->difference;
    fprintf(out,
            "set arrow from 1,-2.2 to %.6g,-2.2 heads size graph 0.008,90 lw 1.5 lc rgb "
            "'#000000'\n"
            "set label 'critical difference %.3g (level %g)' at 1,-2.8 left\n",
            end, d->difference, d->level);
}

int cli_figure_ranks(cli *c, const char *file, const json_t *comparison, cli_figure *figure) {
    diagram d = {0};
    const int code = read_diagram(c, file, comparison, &d);
    if (code == 0) {
        const double top = draw_groups(figure->script, &d);
        draw_methods(figure, &d, top);
        draw_axis(figure, &d);
        const int rows = (d.count + 1) / 2; /* on either side */
        set_margins(figure, &d, top + 0.4 + rows);
        fputs("unset border\nunset tics\nunset grid\nunset key\nplot NaN\n", figure->script);
    }
    free(d.method);
    return code;
}
