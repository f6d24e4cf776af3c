/* cmd_evaluate.c - rlar evaluate: how to split, and the runs.
 *
 * For every DATA and every training size one evaluation, in which all methods see the same splits.
 * plan.c reads the options that tune has too, evaluate_out.c prints. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

/* Training samples per class; one entry, 0, for a share or folds. */
typedef struct sizes {
    int64_t *per_class;
    int count;
} sizes;

/* ---- options into the plan ---- */

/* The sizes of --train-per-class. */
static int plan_sizes(cli *c, sizes *out) {
    cli_words list = {0};
    const char *text = c->args.train_per_class;
    bool good = cli_words_split(text, &list);
    out->per_class = cli_alloc((size_t)list.count * sizeof *out->per_class);
    for (int i = 0; i < list.count && good; i++)
        good = cli_parse_int(list.item[i], 1, &out->per_class[out->count++]);
    const int code = good ? cli_distinct(c, "--train-per-class", text, &list)
                          : cli_usage(c,
                                      "--train-per-class '%s': whole numbers of at least 1 "
                                      "expected, e.g. 5 or 5,10,20",
                                      text);
    cli_words_free(&list);
    return code;
}

/* Exactly one of the three ways to split; no default, since each means another question. */
static int plan_split(cli *c, cli_plan *p, sizes *out) {
    const cli_args *a = &c->args;
    const int given = (a->train_per_class != NULL) + (a->train_fraction > 0) + (a->folds > 0);
    if (given == 0)
        return cli_usage(c,
                         "how to split? give --train-per-class U, --train-fraction F or --folds N, "
                         "e.g. rlar evaluate wine.csv --train-fraction 0.2");
    if (given > 1)
        return cli_usage(c, "--train-per-class, --train-fraction and --folds exclude each other");
    if (a->train_per_class != NULL) {
        p->spec.split = RLAR_SPLIT_PER_CLASS;
        return plan_sizes(c, out);
    }
    p->spec.split = a->folds > 0 ? RLAR_SPLIT_FOLDS : RLAR_SPLIT_FRACTION;
    p->spec.folds = a->folds;
    p->spec.fraction = a->train_fraction;
    out->per_class = cli_alloc(sizeof *out->per_class);
    out->per_class[0] = 0;
    out->count = 1;
    return 0;
}

/* Everything but the training size of --train-per-class, which changes from run to run. */
static int plan_make(cli *c, cli_plan *p, sizes *out) {
    const cli_args *a = &c->args;
    p->spec.trials = a->trials > 0 ? a->trials : 10;
    p->spec.tune = (rlar_tune)a->tune;
    p->spec.tune_folds = a->tune_folds;
    p->spec.race = a->coarse; /* the choice counts, not the map */
    if (a->coarse > 0 && a->tune == RLAR_TUNE_NONE)
        return cli_usage(c, "--coarse needs --tune cv or --tune oracle");
    if (a->grid.count > 0 && a->tune == RLAR_TUNE_NONE)
        return cli_usage(c, "--grid needs --tune cv (honest) or --tune oracle (an upper bound)");
    if (a->json + a->csv + a->latex > 1)
        return cli_usage(c, "--json, --csv and --latex exclude each other");
    const int code = plan_split(c, p, out);
    return code == 0 ? cli_plan_make(c, a->methods != NULL ? a->methods : "rlar", p) : code;
}

/* ---- the data ---- */

/* The same data twice would count as two data sets that agree. */
static int check_data(cli *c) {
    const int count = c->args.words;
    struct stat *info = cli_alloc((size_t)count * sizeof *info);
    bool *known = cli_alloc((size_t)count * sizeof *known);
    int code = 0;
    for (int i = 0; i < count && code == 0; i++) {
        const char *word = c->args.word[i];
        char *path = NULL;
        code = cli_input_find(c, word, &path, &info[i]);
        known[i] = path != NULL;
        free(path);
        for (int j = 0; j < i && code == 0; j++)
            if (strcmp(c->args.word[j], word) == 0)
                code = cli_usage(c, "%s is given twice; each DATA counts once", word);
            else if (known[i] && known[j] && info[i].st_dev == info[j].st_dev &&
                     info[i].st_ino == info[j].st_ino)
                code = cli_usage(c, "%s and %s are the same file; each DATA counts once",
                                 c->args.word[j], word);
    }
    free(info);
    free(known);
    return code;
}

/* The last parts of a path: "x.csv", "a/x.csv"; all of it where it has no more. */
static char *tail_of(const char *path, int parts) {
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && (path[start - 1] != '/' || --parts > 0))
        start--;
    return cli_strdup(path + start, end - start);
}

static bool shares_name(const cli_data *data, int count, int index) {
    for (int i = 0; i < count; i++)
        if (i != index && strcmp(data[i].name, data[index].name) == 0)
            return true;
    return false;
}

/* How many parts the longest path can have. */
static int most_parts(const cli_data *data, int count) {
    int most = 1;
    for (int i = 0; i < count; i++) {
        int parts = 1;
        for (const char *at = data[i].file; *at != '\0'; at++)
            parts += *at == '/';
        most = parts > most ? parts : most;
    }
    return most;
}

/* Results are told apart by the names of their data, so that no two may be alike. Those that are
 * take on one part of their path after the other, from its end: x, x.csv, a/x.csv. */
static void name_apart(cli_data *data, int count) {
    bool *alike = cli_alloc((size_t)count * sizeof *alike);
    const int most = most_parts(data, count);
    for (int parts = 1; parts <= most; parts++) {
        for (int i = 0; i < count; i++)
            alike[i] = shares_name(data, count, i);
        for (int i = 0; i < count; i++)
            if (alike[i]) {
                free(data[i].name);
                data[i].name = tail_of(data[i].file, parts);
            }
    }
    free(alike);
}

/* ---- the runs ---- */

typedef struct runs {
    cli_data *data;
    rlar_eval **eval; /* one per data and size */
    cli_row *row;
    int n_data, n_evals, n_rows;
} runs;

/* One evaluation; its results become rows. */
static int run_one(cli *c, cli_plan *p, runs *r, const cli_data *data, int64_t per_class) {
    rlar_eval *eval = NULL;
    const double size = per_class > 0       ? (double)per_class
                        : p->spec.folds > 0 ? (double)p->spec.folds
                                            : p->spec.fraction;
    p->spec.per_class = per_class;
    c->started = cli_now();
    int code = cli_evaluate(c, data->data, &p->spec, &eval);
    if (code != 0)
        return code;
    r->eval[r->n_evals++] = eval;
    for (int m = 0; m < p->methods.count && code == 0; m++) {
        cli_row *row = &r->row[r->n_rows++];
        *row = (cli_row){.data = data, .params = p->params[m], .size = size};
        row->result.size = sizeof row->result;
        code = cli_check(c, rlar_eval_get(eval, m, &row->result));
        if (code == 0 && row->result.failed > 0)
            cli_warn(c, "%s, %s: %lld of %lld fits failed: %s", data->name, row->result.method,
                     (long long)row->result.failed, (long long)row->result.trials,
                     row->result.failure != NULL ? row->result.failure : "no reason given");
    }
    return code;
}

/* All data, before the first fit: a file that cannot be read is known at once, and so are the names
 * of all. They are kept until the end: rows point into them. */
static int load_all(cli *c, runs *r) {
    int code = 0;
    for (int i = 0; i < c->args.words && code == 0; i++) {
        code = cli_data_load(c, c->args.word[i], cli_missing_evaluated(c), &r->data[i]);
        r->n_data += code == 0;
    }
    if (code == 0)
        name_apart(r->data, r->n_data);
    for (int i = 0; i < r->n_data && code == 0; i++)
        code = cli_need_labels(c, &r->data[i]);
    return code;
}

static int run_all(cli *c, cli_plan *p, const sizes *size, runs *r) {
    int code = load_all(c, r);
    for (int i = 0; i < r->n_data && code == 0; i++)
        for (int s = 0; s < size->count && code == 0; s++)
            code = run_one(c, p, r, &r->data[i], size->per_class[s]);
    return code;
}

static void print(cli *c, const cli_outcome *out) {
    if (c->args.json > 0)
        cli_json_print(c, cli_outcome_json(c, out));
    else if (c->args.csv > 0)
        cli_outcome_csv(c, out);
    else if (c->args.latex > 0)
        cli_outcome_latex(c, out);
    else
        cli_outcome_text(c, out);
}

/* Code 5 only when no fit of any method succeeded: then there is no result. */
static int conclude(cli *c, const cli_plan *p, const runs *r) {
    cli_outcome out = {.data = r->data,
                       .n_data = r->n_data,
                       .row = r->row,
                       .n_rows = r->n_rows,
                       .n_methods = p->methods.count,
                       .spec = &p->spec};
    bool any = false;
    for (int i = 0; i < r->n_rows; i++)
        any = any || r->row[i].result.failed < r->row[i].result.trials;
    if (!any)
        return cli_error(c, CODE_NUMERIC, "no fit succeeded");
    cli_comparison comparison;
    const int code = cli_comparison_make(c, &out, &comparison);
    if (code == 0) {
        out.comparison = comparison.blocks > 0 ? &comparison : NULL;
        print(c, &out);
    }
    cli_comparison_free(&comparison);
    return code;
}

int cli_cmd_evaluate(cli *c) {
    cli_plan p = {0};
    sizes size = {0};
    runs r = {0};
    const double begun = cli_now();
    int code = plan_make(c, &p, &size);
    if (code == 0)
        code = check_data(c);
    if (code == 0)
        code = cli_out_open(c, c->args.output);
    if (code == 0) {
        const size_t evals = (size_t)c->args.words * (size_t)size.count;
        r.data = cli_alloc((size_t)c->args.words * sizeof *r.data);
        memset(r.data, 0, (size_t)c->args.words * sizeof *r.data);
        r.eval = cli_alloc(evals * sizeof(rlar_eval *));
        r.row = cli_alloc(evals * (size_t)p.methods.count * sizeof *r.row);
        code = run_all(c, &p, &size, &r);
    }
    if (code == 0)
        code = conclude(c, &p, &r);
    if (code == 0) {
        cli_flush(c); /* the table first, then how long it took */
        cli_note(c, "%d result%s in %.1f s", r.n_rows, r.n_rows == 1 ? "" : "s", cli_now() - begun);
    }
    for (int i = 0; i < r.n_evals; i++)
        rlar_eval_free(r.eval[i]);
    for (int i = 0; i < r.n_data; i++)
        cli_data_free(&r.data[i]);
    free(r.data);
    free(r.eval);
    free(r.row);
    free(size.per_class);
    cli_plan_free(&p);
    return code;
}
