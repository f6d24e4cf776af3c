/* parts.c - the DATA of a fit: one file or several, which are parts of one set, for one process or
 * for the ranks of one fit (ranks.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int cli_rank(const cli *c) {
    return c->team != NULL ? c->team->rank : 0;
}

/* Pieces in which a rank reads its range of a single file: the finer they are, the less it holds
 * beside its share while samples move. */
enum { PIECES = 64 };

static int64_t ranks_of(const cli *c) {
    return c->team != NULL ? c->team->ranks : 1;
}

/* Is the file this rank's to read? Each is read once, by ranks in the order of the files: so
 * samples of a class keep the order that they have in one process. */
static bool is_mine(const cli *c, int file) {
    return file * ranks_of(c) / c->args.words == cli_rank(c);
}

int cli_evaluate(cli *c, const rlar_data *data, const rlar_eval_spec *spec, rlar_eval **out) {
    rlar_status status = rlar_ctx_join(c->ctx, c->team);
    if (status >= 0)
        status = rlar_evaluate(c->ctx, data, spec, out);
    const int code = cli_check(c, status);
    rlar_ctx_join(c->ctx, NULL); /* a fit by itself is each rank's own */
    return code;
}

/* What belongs to all files and stands in one place only. */
static int check_words(cli *c) {
    if (c->args.labels != NULL)
        return cli_usage(c, "--labels %s: with several files each must hold its own labels",
                         c->args.labels);
    if (c->args.missing == RLAR_MISSING_MEAN)
        return cli_usage(c, "--missing mean: with several files only error and drop; each file "
                            "would have means of its own");
    return 0;
}

/* "a and 3 more", for reports and messages. */
static char *with_more(const char *first, int more) {
    const size_t size = strlen(first) + CLI_NUMBER_SIZE;
    char *text = cli_alloc(size);
    if (more > 0)
        snprintf(text, size, "%s and %d more", first, more);
    else
        snprintf(text, size, "%s", first);
    return text;
}

/* By the words alone: the files of other ranks may be on other machines. */
static void name_all(const cli *c, cli_data *out) {
    const int more = c->args.words - 1;
    char *name = cli_short_name(c->args.word[0]);
    out->name = with_more(name, more);
    out->file = with_more(c->args.word[0], more);
    free(name);
}

/* The samples of all ranks together, on all of them. */
static int count_samples(cli *c, cli_data *data) {
    const rlar_team *team = c->team;
    int64_t n = data->samples, other = 0;
    int lost = 0;
    if (team != NULL && team->rank > 0)
        lost = team->send(team->user, 0, &n, sizeof n);
    for (int r = 1; team != NULL && team->rank == 0 && r < team->ranks && lost == 0; r++) {
        lost = team->receive(team->user, r, &other, sizeof other);
        n += other;
    }
    if (team != NULL && lost == 0)
        lost = team->broadcast(team->user, 0, &n, sizeof n);
    data->samples = n;
    if (lost == 0)
        return 0;
    return cli_interrupted() ? cli_error(c, CODE_INTERRUPTED, "interrupted")
                             : cli_error(c, CODE_IO, "counting the samples: a rank has ended");
}

/* One file, or piece of one, of this rank's. */
static int load_one(cli *c, const char *word, int64_t number, int64_t of, cli_data *part,
                    int *count) {
    const int code = cli_data_load_part(c, word, (rlar_missing)c->args.missing, number, of, part);
    *count += code == 0;
    return code;
}

/* Those of this rank: its range of a single file that can be cut, or whole files. `part` has room
 * for all. */
static int load_own(cli *c, bool cut, cli_data *part, rlar_data **data, int *count) {
    const int64_t first = cut ? (int64_t)cli_rank(c) * PIECES : 0;
    int code = 0;
    for (int64_t i = first; cut && i < first + PIECES && code == 0; i++)
        code = load_one(c, c->args.word[0], i, ranks_of(c) * PIECES, &part[*count], count);
    for (int i = 0; i < c->args.words && !cut && code == 0; i++)
        if (is_mine(c, i))
            code = load_one(c, c->args.word[i], 0, 1, &part[*count], count);
    for (int i = 0; i < *count; i++)
        data[i] = part[i].data;
    return code;
}

static int load_and_share(cli *c, cli_data *out) {
    bool cut = false;
    int count = 0, code = 0;
    if (c->args.words == 1)
        code = cli_data_splits(c, c->args.word[0], (rlar_missing)c->args.missing, &cut);
    const size_t words = cut ? PIECES : (size_t)c->args.words;
    cli_data *part = cli_alloc(words * sizeof *part);
    rlar_data **data = cli_alloc(words * sizeof *data);
    if (code == 0)
        code = load_own(c, cut, part, data, &count);
    if (code == 0)
        code = cli_check(c, rlar_data_share(c->ctx, data, count, &out->data));
    for (int i = 0; i < count; i++) {
        part[i].data = data[i]; /* NULL where it was taken */
        cli_data_free(&part[i]);
    }
    free(data);
    free(part);
    return code;
}

int cli_parts_load(cli *c, cli_data *out) {
    int code = c->args.words > 1 ? check_words(c) : 0;
    if (code != 0)
        return code;
    if (c->team == NULL && c->args.words == 1)
        return cli_data_load(c, c->args.word[0], (rlar_missing)c->args.missing, out);
    name_all(c, out);
    if ((code = load_and_share(c, out)) != 0)
        return code;
    out->format = rlar_data_format(out->data);
    cli_data_measure(out);
    return count_samples(c, out);
}
