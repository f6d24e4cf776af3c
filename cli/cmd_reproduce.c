/* cmd_reproduce.c - rlar reproduce: the paper's tables, measured again.
 *
 * A place is one column of the paper's tables: a data set, a training size, perhaps an occlusion.
 * For each place all methods are evaluated on the same splits, once for every column that we print
 * beside the paper's:
 *   preset   the parameters that the paper's tables used
 *   default  the program's own
 *   oracle   the best cell of the method's grid, judged on the test samples: an upper bound, and
 *            what the paper most likely did
 *   cv       cells chosen inside each training set: the honest one, and five times the work
 * Every finished fit goes into a journal, so that what was stopped goes on where it was. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reproduce.h"

static const char DEFAULT_JOURNAL[] = "rlar-reproduce.journal";
/* Far larger than the rest together: only on request. */
static const char LARGE[] = "caltech101";

enum { DEFAULT_TRIALS = 10, QUICK_TRIALS = 2 };

/* ---- what is asked for ---- */

static bool named(const cli *c, const char *table) {
    for (int i = 0; i < c->args.words; i++)
        if (strcmp(c->args.word[i], table) == 0)
            return true;
    return c->args.words == 0 && strcmp(table, LARGE) != 0;
}

static int check_tables(cli *c, const reproduction *r) {
    for (int i = 0; i < c->args.words; i++) {
        bool known = figure_known(c->args.word[i]);
        for (int k = 0; k < r->paper.count; k++)
            known = known || strcmp(r->paper.entry[k].table, c->args.word[i]) == 0;
        if (!known)
            return cli_usage(c,
                             "there is no table or figure '%s'; 'rlar reproduce --list' shows them",
                             c->args.word[i]);
    }
    return 0;
}

/* The first entry of each place of the tables asked for; for a quick look of the first place of
 * each series only, which has the least work. */
static void choose_places(const cli *c, reproduction *r) {
    bool (*const same)(const paper_entry *, const paper_entry *) =
        c->args.quick > 0 ? paper_same_series : paper_same_place;
    r->place = cli_alloc((size_t)r->paper.count * sizeof(paper_entry *));
    for (int i = 0; i < r->paper.count; i++) {
        const paper_entry *entry = &r->paper.entry[i];
        bool seen = !named(c, entry->table);
        for (int k = 0; k < r->places && !seen; k++)
            seen = same(r->place[k], entry);
        if (!seen)
            r->place[r->places++] = entry;
    }
}

/* The methods of the paper in its order, or those of --methods. */
static int choose_methods(cli *c, reproduction *r) {
    cli_words *list = &r->method;
    if (c->args.methods != NULL)
        return cli_words_split(c->args.methods, list)
                   ? cli_distinct(c, "--methods", c->args.methods, list)
                   : cli_usage(c, "--methods '%s': an empty name; NAME,NAME,... expected",
                               c->args.methods);
    list->item = cli_alloc((size_t)r->paper.count * sizeof *list->item);
    for (int i = 0; i < r->paper.count; i++)
        if (paper_same_place(&r->paper.entry[i], &r->paper.entry[0]))
            list->item[list->count++] = r->paper.entry[i].method;
    return 0;
}

static int choose_columns(cli *c, reproduction *r) {
    cli_words list = {0};
    const char *text = c->args.columns != NULL ? c->args.columns : "preset,default,oracle";
    bool good = cli_words_split(text, &list);
    for (int i = 0; i < list.count && good; i++) {
        int which = 0;
        while (which < COLUMNS && strcmp(list.item[i], column_name((column)which)) != 0)
            which++;
        good = which < COLUMNS;
        if (good)
            r->wanted[which] = true;
    }
    cli_words_free(&list);
    return good ? 0
                : cli_usage(c, "--columns '%s': preset, default, oracle and cv may be named", text);
}

/* Parameters of every method: preset, and default. */
static int make_params(cli *c, reproduction *r) {
    const size_t size = (size_t)r->method.count * sizeof(rlar_params *);
    int code = 0;
    for (int kind = 0; kind < 2; kind++) {
        r->params[kind] = cli_alloc(size);
        memset(r->params[kind], 0, size);
        for (int m = 0; m < r->method.count && code == 0; m++) {
            rlar_params **made = &r->params[kind][m];
            code = cli_check(c, rlar_params_new(c->ctx, r->method.item[m], made));
            if (code == 0 && kind == 0)
                code = cli_check(c, rlar_params_preset(c->ctx, *made, "paper"));
        }
    }
    return code;
}

static int plan(cli *c, reproduction *r) {
    const cli_args *a = &c->args;
    r->spec = RLAR_INIT(rlar_eval_spec);
    r->spec.trials = a->trials > 0 ? a->trials : a->quick > 0 ? QUICK_TRIALS : DEFAULT_TRIALS;
    r->spec.seed = a->seed >= 0 ? (uint64_t)a->seed : 1;
    r->spec.coarse = r->spec.race = a->full_grid == 0;
    r->spec.classifier = "1nn"; /* the paper's, and the default */
    r->spec.journal = a->resume;
    int code = cli_out_alone(c, "--resume", "a journal", a->resume);
    if (code == 0)
        code = check_tables(c, r);
    if (code == 0 && a->json == 0 && a->list == 0 && a->dry_run == 0)
        for (int i = 0; i < a->words && code == 0; i++)
            if (figure_known(a->word[i]))
                code = cli_usage(c, "%s is numbers for rlar plot and rlar report: give --json",
                                 a->word[i]);
    if (code == 0) {
        choose_places(c, r);
        code = choose_methods(c, r);
    }
    if (code == 0)
        code = choose_columns(c, r);
    return code == 0 ? make_params(c, r) : code;
}

/* ---- the runs ---- */

static int measure(cli *c, reproduction *r, const paper_entry *place, const place_data *data,
                   column which) {
    measured *m = &r->done[r->n_done];
    rlar_eval_spec spec = r->spec;
    rlar_params **params = r->params[which == COLUMN_DEFAULT];
    spec.methods = (const rlar_params *const *)params;
    spec.n_methods = r->method.count;
    spec.tune = column_tune(which);
    spec.split = data->splits != NULL ? RLAR_SPLIT_GIVEN : RLAR_SPLIT_PER_CLASS;
    spec.scale = place_scale(place, which);
    spec.per_class = place->per_class;
    spec.given = data->splits;
    *m = (measured){.place = place,
                    .which = which,
                    .params = params,
                    .n = rlar_data_samples(data->held.data),
                    .d = rlar_data_dims(data->held.data),
                    .classes = rlar_data_classes(data->held.data)};
    const int code = cli_evaluate(c, data->data, &spec, &m->eval);
    r->n_done += code == 0;
    return code;
}

static int run_place(cli *c, reproduction *r, const paper_entry *place) {
    char title[160];
    place_data data;
    int code = place_load(c, r->found, place, r->spec.trials, r->spec.seed, &data);
    if (code != 0)
        return code;
    place_title(place, title, sizeof title);
    for (int k = 0; k < COLUMNS && code == 0; k++) {
        if (!r->wanted[k])
            continue;
        const double work = place_work(c, r, data.data, place, (column)k).flops, begun = cli_now();
        cli_work_begin(c, work);
        code = measure(c, r, place, &data, (column)k);
        cli_work_end(c, work);
        if (code == 0)
            cli_note(c, "%s: %s in %.1f s", title, column_name((column)k), cli_now() - begun);
    }
    place_free(&data);
    return code;
}

/* Many places need the same file: one line for it is enough. */
static bool told_before(const reproduction *r, const char *file) {
    for (size_t i = 0; i < json_array_size(r->skipped); i++) {
        const json_t *missing = json_object_get(json_array_get(r->skipped, i), "missing");
        if (json_is_string(missing) && strcmp(json_string_value(missing), file) == 0)
            return true;
    }
    return false;
}

bool place_ready(cli *c, reproduction *r, const paper_entry *place) {
    const char *how, *file = place_missing(r->found, place, &how);
    if (file == NULL)
        return true;
    char title[160];
    json_t *entry = json_object();
    place_title(place, title, sizeof title);
    if (!told_before(r, file))
        cli_warn(c, "%s: skipped, %s is not in the data folder; it is %s", file_title(file), file,
                 how);
    cli_json_set(entry, "table", cli_json_text(place->table));
    cli_json_set(entry, "place", cli_json_text(title));
    cli_json_set(entry, "missing", cli_json_text(file));
    cli_json_set(entry, "how", cli_json_text(how));
    json_array_append_new(r->skipped, entry);
    return false;
}

int no_data(cli *c) {
    return cli_error(c, CODE_IO, "%s has none of the data; --list shows what is looked for",
                     cli_data_dir(c));
}

/* Only what is surely no folder; other trouble is told by who reads from it. */
static bool is_no_folder(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR;
    return !S_ISDIR(info.st_mode);
}

static int need_data_dir(cli *c) {
    const char *dir = cli_data_dir(c);
    if (dir != NULL && !is_no_folder(dir))
        return 0;
    if (dir != NULL)
        return cli_error(c, CODE_IO, "%s: no such folder; --data-dir DIR or RLAR_DATA_DIR names it",
                         dir);
    return cli_usage(c, "where are the data? --data-dir DIR or RLAR_DATA_DIR names the folder");
}

static int run_places(cli *c, reproduction *r) {
    int code = c->terminal ? forecast_total(c, r) : 0;
    r->done = cli_alloc((size_t)r->places * COLUMNS * sizeof *r->done);
    for (int i = 0; i < r->places && code == 0; i++)
        if (place_ready(c, r, r->place[i]))
            code = run_place(c, r, r->place[i]);
    if (code == 0)
        code = run_figures(c, r);
    if (code == CODE_INTERRUPTED)
        cli_note(c, "what is finished is in %s: the same command goes on from there",
                 r->spec.journal);
    return code;
}

/* ---- the verb ---- */

/* The tables and how many of their places the data are there for. */
static void list_text(cli *c, const reproduction *r) {
    cli_table table = {.columns = 3};
    cli_table_add(&table, "table\tplace\tdata");
    for (int i = 0; i < r->places; i++) {
        char title[160];
        const char *how, *file = place_missing(r->found, r->place[i], &how);
        place_title(r->place[i], title, sizeof title);
        cli_table_add(&table, "%s\t%s\t%s%s", r->place[i]->table, title,
                      file != NULL ? "missing: " : "there", file != NULL ? file : "");
    }
    if (c->args.words == 0) {
        cli_table_add(&table, "%s\tits four sizes\tby name only: it takes many hours", LARGE);
        cli_table_add(&table, "%s",
                      "figures\tsensitivity, ksweep, convergence, matrices\tof the "
                      "above; by name only, with --json");
    }
    cli_table_print(c, &table);
}

/* A place, or with NULL a figure; those by name only are measured where they are asked for. */
static json_t *list_entry(const reproduction *r, const char *table, const paper_entry *place) {
    char title[160];
    const char *how = NULL, *file = place != NULL ? place_missing(r->found, place, &how) : NULL;
    json_t *entry = json_object();
    if (place != NULL)
        place_title(place, title, sizeof title);
    cli_json_set(entry, "table", cli_json_text(table));
    cli_json_set(entry, "place", cli_json_text(place != NULL ? title : NULL));
    cli_json_set(entry, "data", cli_json_text(place != NULL ? place->data : NULL));
    cli_json_set(entry, "missing", cli_json_text(file));
    cli_json_set(entry, "how", cli_json_text(file != NULL ? how : NULL));
    cli_json_set(entry, "by_name_only", json_boolean(place == NULL || strcmp(table, LARGE) == 0));
    return entry;
}

/* The first entry of a place of the table that only its name asks for. */
static bool large_place(const reproduction *r, int index) {
    bool first = strcmp(r->paper.entry[index].table, LARGE) == 0;
    for (int i = 0; i < index && first; i++)
        first = !paper_same_place(&r->paper.entry[i], &r->paper.entry[index]);
    return first;
}

/* The same as JSON, with every place of its own. */
static json_t *list_json(const cli *c, const reproduction *r) {
    static const char *const figure[] = {"sensitivity", "ksweep", "convergence", "matrices"};
    json_t *list = json_array();
    for (int i = 0; i < r->places; i++)
        json_array_append_new(list, list_entry(r, r->place[i]->table, r->place[i]));
    for (int i = 0; i < r->paper.count && c->args.words == 0; i++)
        if (large_place(r, i))
            json_array_append_new(list, list_entry(r, LARGE, &r->paper.entry[i]));
    for (size_t i = 0; i < sizeof figure / sizeof figure[0]; i++)
        if (named(c, figure[i]))
            json_array_append_new(list, list_entry(r, figure[i], NULL));
    return list;
}

static void list_tables(cli *c, const reproduction *r) {
    if (c->args.json > 0)
        cli_json_print(c, list_json(c, r));
    else
        list_text(c, r);
}

static int report(cli *c, const reproduction *r) {
    const bool figures = json_array_size(r->figures) + json_array_size(r->convergence) > 0;
    if (r->n_done == 0 && !figures && r->matrices == NULL)
        return no_data(c);
    if (c->args.json == 0) {
        reproduction_text(c, r);
        return 0;
    }
    json_t *root = NULL;
    const int code = reproduction_json(c, r, &root);
    cli_json_print(c, root);
    return code;
}

static void reproduction_free(reproduction *r) {
    for (int i = 0; i < r->n_done; i++)
        rlar_eval_free(r->done[i].eval);
    for (int kind = 0; kind < 2; kind++) {
        for (int m = 0; m < r->method.count && r->params[kind] != NULL; m++)
            rlar_params_free(r->params[kind][m]);
        free(r->params[kind]);
    }
    cli_words_free(&r->method);
    sources_free(r->found);
    json_decref(r->skipped);
    json_decref(r->figures);
    json_decref(r->convergence);
    json_decref(r->matrices);
    free(r->place);
    free(r->done);
    paper_close(&r->paper);
}

int cli_cmd_reproduce(cli *c) {
    reproduction r = {
        .skipped = json_array(), .figures = json_array(), .convergence = json_array()};
    paper_open(&r.paper);
    if (c->args.resume == NULL)
        c->args.resume = DEFAULT_JOURNAL;
    int code = plan(c, &r);
    if (code == 0 && c->args.list == 0)
        code = need_data_dir(c);
    if (code == 0)
        code = sources_find(c, &r.found);
    if (code == 0)
        code = cli_out_open(c, c->args.output);
    if (code == 0 && c->args.list > 0) {
        list_tables(c, &r);
    } else if (code == 0 && c->args.dry_run > 0) {
        code = forecast_print(c, &r);
    } else if (code == 0) {
        code = run_places(c, &r);
        if (code == 0)
            code = report(c, &r);
    }
    reproduction_free(&r);
    return code;
}
