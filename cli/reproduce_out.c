/* reproduce_out.c - our numbers beside the paper's, for people and as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce.h"

const char *column_name(column which) {
    static const char *const name[COLUMNS] = {"preset", "default", "oracle", "cv"};
    return name[which];
}

bool within_noise(const paper_entry *printed, const rlar_eval_result *r) {
    const double ours = isnan(r->accuracy_std) ? 0.0 : 100 * r->accuracy_std;
    const double theirs = isnan(printed->std) ? ours : printed->std;
    const double noise = 2.5 * sqrt(ours * ours + theirs * theirs) / sqrt((double)r->trials) + 0.5;
    return fabs(100 * r->accuracy_mean - printed->mean) <= noise;
}

rlar_tune column_tune(column which) {
    return which == COLUMN_ORACLE ? RLAR_TUNE_ORACLE
           : which == COLUMN_CV   ? RLAR_TUNE_CV
                                  : RLAR_TUNE_NONE;
}

static rlar_eval_result result_of(const measured *m, int method) {
    rlar_eval_result r = RLAR_INIT(rlar_eval_result);
    (void)rlar_eval_get(m->eval, method, &r);
    return r;
}

static const measured *find(const reproduction *r, const paper_entry *place, column which) {
    for (int i = 0; i < r->n_done; i++)
        if (r->done[i].place == place && r->done[i].which == which)
            return &r->done[i];
    return NULL;
}

/* ---- text ---- */

/* "95.51 +- 1.14", and how it stands to the paper's: = within the noise, + above, - below. */
static void cell_text(const paper_entry *printed, const rlar_eval_result *r, char *buf,
                      size_t size) {
    if (isnan(r->accuracy_mean)) {
        snprintf(buf, size, "failed  ");
        return;
    }
    const char mark = printed == NULL                          ? ' '
                      : within_noise(printed, r)               ? '='
                      : 100 * r->accuracy_mean > printed->mean ? '+'
                                                               : '-';
    if (isnan(r->accuracy_std))
        snprintf(buf, size, "%.2f %c", 100 * r->accuracy_mean, mark);
    else
        snprintf(buf, size, "%.2f \xc2\xb1 %.2f %c", 100 * r->accuracy_mean, 100 * r->accuracy_std,
                 mark);
}

static void printed_text(const paper_entry *printed, char *buf, size_t size) {
    if (printed == NULL)
        snprintf(buf, size, "-");
    else if (isnan(printed->std))
        snprintf(buf, size, "%.2f", printed->mean);
    else
        snprintf(buf, size, "%.2f \xc2\xb1 %.2f", printed->mean, printed->std);
}

/* A row of the columns that were asked for. */
static void add_row(cli_table *table, const reproduction *r, const char *method,
                    const char *printed, const char *const *cell) {
    char line[512];
    size_t used = (size_t)snprintf(line, sizeof line, "%s\t%s", method, printed);
    for (int k = 0; k < COLUMNS && used < sizeof line; k++)
        if (r->wanted[k])
            used += (size_t)snprintf(line + used, sizeof line - used, "\t%s", cell[k]);
    cli_table_add(table, "%s", line);
}

static void place_text(cli *c, const reproduction *r, const paper_entry *place) {
    enum { CELL = 48 };
    static const char *const heading[COLUMNS] = {"preset  ", "default  ", "oracle  ", "cv  "};
    cli_table table = {.columns = 2, .right = ~1U};
    char title[160], text[1 + COLUMNS][CELL];
    const char *cell[COLUMNS];
    for (int k = 0; k < COLUMNS; k++)
        table.columns += r->wanted[k];
    place_title(place, title, sizeof title);
    cli_printf(c, "%s\n", title);
    add_row(&table, r, "method", "paper", heading);
    for (int m = 0; m < r->method.count; m++) {
        const paper_entry *printed = paper_find(&r->paper, place, r->method.item[m]);
        printed_text(printed, text[COLUMNS], CELL);
        for (int k = 0; k < COLUMNS; k++) {
            const measured *found = find(r, place, (column)k);
            text[k][0] = '\0';
            if (found != NULL) {
                const rlar_eval_result result = result_of(found, m);
                cell_text(printed, &result, text[k], CELL);
            }
        }
        for (int k = 0; k < COLUMNS; k++)
            cell[k] = text[k];
        add_row(&table, r, r->method.item[m], text[COLUMNS], cell);
    }
    cli_table_print(c, &table);
    cli_printf(c, "\n");
}

/* How many of a column's cells are within the noise. */
static void count_within(const reproduction *r, column which, int *within, int *all) {
    for (int i = 0; i < r->n_done; i++)
        for (int m = 0; m < r->method.count && r->done[i].which == which; m++) {
            const paper_entry *printed = paper_find(&r->paper, r->done[i].place, r->method.item[m]);
            const rlar_eval_result result = result_of(&r->done[i], m);
            *all += printed != NULL;
            *within += printed != NULL && within_noise(printed, &result);
        }
}

void reproduction_text(cli *c, const reproduction *r) {
    for (int i = 0; i < r->places; i++)
        for (int k = 0; k < COLUMNS; k++)
            if (find(r, r->place[i], (column)k) != NULL) {
                place_text(c, r, r->place[i]);
                break;
            }
    cli_printf(c,
               "Test accuracy in percent over %lld splits, seed %lld. = within the noise of the "
               "paper's number, + above it, - below it:\n",
               (long long)r->spec.trials, (long long)r->spec.seed);
    for (int k = 0; k < COLUMNS; k++) {
        int within = 0, all = 0;
        count_within(r, (column)k, &within, &all);
        if (all > 0)
            cli_printf(c, "  %-8s %d of %d within\n", column_name((column)k), within, all);
    }
}

/* ---- JSON ---- */

static json_t *paper_json(const paper_entry *printed) {
    json_t *object = json_object();
    cli_json_set(object, "mean", cli_json_number(printed->mean / 100));
    cli_json_set(object, "std", cli_json_number(printed->std / 100));
    return object;
}

json_t *place_json(const paper_entry *place, const char *table, column which,
                   const rlar_params *params, const rlar_eval_result *result) {
    json_t *entry = cli_result_json(result, params, column_tune(which));
    cli_json_set(entry, "table", cli_json_text(table));
    cli_json_set(entry, "data", cli_json_text(place->data));
    cli_json_set(entry, "train_per_class", json_integer(place->per_class));
    cli_json_set(entry, "variant", cli_json_text(place->variant));
    cli_json_set(entry, "scale", cli_json_text(place_scale(place, which)));
    cli_json_set(entry, "column", cli_json_text(column_name(which)));
    return entry;
}

static json_t *cell_json(const reproduction *r, const measured *m, int method) {
    const rlar_eval_result result = result_of(m, method);
    const paper_entry *printed = paper_find(&r->paper, m->place, r->method.item[method]);
    json_t *entry = place_json(m->place, m->place->table, m->which, m->params[method], &result);
    cli_json_set(entry, "paper", printed != NULL ? paper_json(printed) : json_null());
    cli_json_set(entry, "within",
                 printed != NULL ? json_boolean(within_noise(printed, &result)) : json_null());
    return entry;
}

/* Each data set once. */
static json_t *data_json(const reproduction *r) {
    json_t *list = json_array();
    for (int i = 0; i < r->n_done; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++)
            seen = seen || strcmp(r->done[k].place->data, r->done[i].place->data) == 0;
        if (seen)
            continue;
        json_t *entry = json_object();
        cli_json_set(entry, "name", cli_json_text(r->done[i].place->data));
        cli_json_set(entry, "file", cli_json_text(place_file(r->done[i].place)));
        cli_json_set(entry, "n", json_integer(r->done[i].n));
        cli_json_set(entry, "d", json_integer(r->done[i].d));
        cli_json_set(entry, "classes", json_integer(r->done[i].classes));
        json_array_append_new(list, entry);
    }
    return list;
}

/* The command without what does not change the answer. */
static json_t *command_json(const cli *c, const reproduction *r) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = cli_text_open(&text, &size);
    fputs("rlar reproduce", out);
    for (int i = 0; i < c->args.words; i++)
        fprintf(out, " %s", c->args.word[i]);
    if (c->args.methods != NULL)
        fprintf(out, " --methods %s", c->args.methods);
    fprintf(out, " --columns ");
    for (int k = 0, written = 0; k < COLUMNS; k++)
        if (r->wanted[k])
            fprintf(out, "%s%s", written++ > 0 ? "," : "", column_name((column)k));
    fprintf(out, " --trials %lld --seed %llu%s --data-dir DIR --json", (long long)r->spec.trials,
            (unsigned long long)r->spec.seed, r->spec.coarse ? "" : " --full-grid");
    cli_text_close(out, &text);
    json_t *command = cli_json_text(text);
    free(text);
    return command;
}

/* Has a data set been counted before, in this column? */
static bool data_before(const reproduction *r, int index) {
    for (int k = 0; k < index; k++)
        if (r->done[k].which == r->done[index].which &&
            strcmp(r->done[k].place->data, r->done[index].place->data) == 0)
            return true;
    return false;
}

/* Do the methods differ over the places? Of the column that is nearest to what the paper did. */
static int comparison_json(cli *c, const reproduction *r, json_t **out) {
    const column which = r->wanted[COLUMN_ORACLE]   ? COLUMN_ORACLE
                         : r->wanted[COLUMN_CV]     ? COLUMN_CV
                         : r->wanted[COLUMN_PRESET] ? COLUMN_PRESET
                                                    : COLUMN_DEFAULT;
    cli_row *row = cli_alloc((size_t)r->n_done * (size_t)r->method.count * sizeof *row);
    cli_outcome outcome = {.row = row, .n_methods = r->method.count, .spec = &r->spec};
    for (int i = 0; i < r->n_done; i++) {
        /* several sizes of one data set are not independent */
        outcome.n_data += r->done[i].which == which && !data_before(r, i);
        for (int m = 0; m < r->method.count && r->done[i].which == which; m++)
            row[outcome.n_rows++] = (cli_row){.result = result_of(&r->done[i], m)};
    }
    cli_comparison comparison;
    const int code = cli_comparison_make(c, &outcome, &comparison);
    *out = NULL;
    if (code == 0 && comparison.blocks > 0) {
        *out = cli_comparison_json(&comparison);
        cli_json_set(*out, "column", cli_json_text(column_name(which)));
    }
    cli_comparison_free(&comparison);
    free(row);
    return code;
}

int reproduction_json(cli *c, const reproduction *r, json_t **out) {
    json_t *root = json_object(), *protocol = json_object(), *results = json_array();
    json_t *comparison = NULL;
    const int code = comparison_json(c, r, &comparison);
    cli_json_set(protocol, "trials", json_integer(r->spec.trials));
    cli_json_set(protocol, "seed", json_integer((json_int_t)r->spec.seed));
    cli_json_set(protocol, "classifier", cli_json_text(r->spec.classifier));
    cli_json_set(protocol, "coarse", json_boolean(r->spec.coarse));
    for (int i = 0; i < r->n_done; i++)
        for (int m = 0; m < r->method.count; m++)
            json_array_append_new(results, cell_json(r, &r->done[i], m));
    cli_json_set(root, "rlar", cli_json_text(rlar_version()));
    cli_json_set(root, "blas", cli_json_blas(c));
    cli_json_set(root, "kind", cli_json_text("reproduce"));
    cli_json_set(root, "command", command_json(c, r));
    cli_json_set(root, "data", data_json(r));
    cli_json_set(root, "protocol", protocol);
    for (size_t i = 0; i < json_array_size(r->figures); i++)
        json_array_append(results, json_array_get(r->figures, i));
    cli_json_set(root, "results", results);
    if (json_array_size(r->convergence) > 0)
        cli_json_set(root, "convergence", json_incref(r->convergence));
    if (r->matrices != NULL)
        cli_json_set(root, "matrices", json_incref(r->matrices));
    if (comparison != NULL)
        cli_json_set(root, "comparison", comparison);
    cli_json_set(root, "skipped", json_incref(r->skipped));
    *out = root;
    return code;
}
