/* results.c - JSON that evaluate and tune wrote, read back for figures and reports.
 *
 * A document is taken apart with care: any JSON gives a figure or one line that says where it
 * differs from what is expected. Keys that are not known are passed over. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "figure.h"

/* ---- documents ---- */

typedef struct source {
    cli *c;
    int fd;
    int error;
    int64_t bytes; /* read so far */
    bool refused;  /* the memory limit was met */
} source;

/* What jansson may take for a piece of text, parser and lists that grow included. Measured, with
 * jansson 2.14 on 64 bits: up to 78 times the text for empty objects, 28 for lists of digits, 3 for
 * long texts, 5 for our own results. So it goes by the characters that begin or part values; those
 * within texts are counted too, which makes it about twice the truth for our own results. */
static int64_t tree_bytes(const unsigned char *text, size_t size) {
    static const unsigned char more[256] = {
        ['{'] = 232, ['['] = 136, [':'] = 60, [','] = 52, ['"'] = 16};
    int64_t bytes = 4 * (int64_t)size;
    for (size_t i = 0; i < size; i++)
        bytes += more[text[i]];
    return bytes;
}

/* jansson asks for a piece at a time and stops at the first wrong byte, so that a device that never
 * ends is no danger. */
static size_t read_piece(void *buffer, size_t size, void *user) {
    source *from = user;
    ssize_t got;
    do {
        got = read(from->fd, buffer, size);
    } while (got < 0 && errno == EINTR && !cli_interrupted());
    if (got < 0) {
        from->error = errno;
        return (size_t)-1;
    }
    from->bytes += got;
    from->c->trees += tree_bytes(buffer, (size_t)got);
    from->refused = from->c->args.max_memory > 0 && from->c->trees > from->c->args.max_memory;
    return from->refused ? (size_t)-1 : (size_t)got;
}

static int too_large(cli *c, const char *path, const source *from) {
    char needed[CLI_NUMBER_SIZE], limit[CLI_NUMBER_SIZE];
    return cli_error(c, CODE_MEMORY,
                     "%s: JSON up to its byte %lld may need %s, the memory limit is %s; raise it "
                     "(--max-memory) or give fewer results",
                     path, (long long)from->bytes, cli_bytes((double)c->trees, needed),
                     cli_bytes((double)c->args.max_memory, limit));
}

int cli_json_load(cli *c, const char *path, json_t **out) {
    const bool standard = strcmp(path, "-") == 0;
    source from = {.c = c, .fd = STDIN_FILENO};
    json_error_t error;
    *out = NULL;
    const int code = standard ? 0 : cli_open(c, path, &from.fd);
    if (code != 0)
        return code;
    *out = json_load_callback(read_piece, &from, 0, &error);
    if (!standard)
        close(from.fd);
    if (cli_interrupted())
        return cli_error(c, CODE_INTERRUPTED, "interrupted");
    if (from.error != 0)
        return cli_error(c, CODE_IO, "%s: %s", path, strerror(from.error));
    if (from.refused)
        return too_large(c, path, &from);
    if (*out == NULL)
        return cli_error(c, CODE_DATA,
                         "%s:%d:%d: not JSON: %s; a file of 'rlar evaluate --json' is expected",
                         path, error.line, error.column, error.text);
    if (!json_is_object(*out))
        return cli_error(c, CODE_DATA,
                         "%s: a list, not an object; a file of 'rlar evaluate --json' is expected",
                         path);
    return 0;
}

/* ---- results ---- */

/* A text, the name of an object, or of the only object in a list; "" where there is none. */
static const char *name_of(const json_t *value) {
    if (json_is_array(value) && json_array_size(value) == 1)
        value = json_array_get(value, 0);
    if (json_is_object(value))
        value = json_object_get(value, "name");
    return json_is_string(value) ? json_string_value(value) : "";
}

static char *size_text(const json_t *entry) {
    static const char *const key[] = {"train_per_class", "train_fraction", "folds"};
    static const char *const before[] = {"", "share ", ""};
    static const char *const after[] = {" per class", "", " folds"};
    for (int i = 0; i < 3; i++) {
        const json_t *value = json_object_get(entry, key[i]);
        if (json_is_number(value))
            return cli_text("%s%g%s", before[i], json_number_value(value), after[i]);
    }
    return cli_strdup("", 0);
}

/* The parts of the mask that are not empty, with commas between. */
static char *join(char *const *part, unsigned mask) {
    size_t length = 0;
    for (int i = 0; i < CLI_RESULT_PARTS; i++)
        length += strlen(part[i]) + 2;
    char *text = cli_alloc(length + 1), *end = text;
    *end = '\0';
    for (int i = 0; i < CLI_RESULT_PARTS; i++)
        if ((mask >> i & 1U) != 0 && part[i][0] != '\0')
            end += sprintf(end, "%s%s", end > text ? ", " : "", part[i]);
    return text;
}

static void add(cli_results *out, const char *file, json_t *root, json_t *entry) {
    const char *data = name_of(json_object_get(entry, "data"));
    const char *method = name_of(json_object_get(entry, "method"));
    cli_result *result = &out->item[out->count++];
    *result = (cli_result){.root = root, .entry = entry, .file = file};
    const char *variant = name_of(json_object_get(entry, "variant")); /* of reproduce */
    result->part[0] = cli_text("%s%s%s", data, variant[0] == '\0' ? "" : " ", variant);
    result->part[1] = size_text(entry);
    result->part[2] = cli_strdup(method, strlen(method));
    result->title = join(result->part, ~0U);
}

/* Of 'rlar reproduce convergence' or 'matrices', which measure no accuracy. */
static bool has_figures(const json_t *root) {
    return json_object_get(root, "convergence") != NULL ||
           json_object_get(root, "matrices") != NULL;
}

/* Everybody's page of results, seventeen methods on forty data sets at seven sizes, has room. They
 * are compared with each other, so that a hundred thousand would take hours. */
enum { MOST_RESULTS = 5000 };

/* The entries of "results"; a document without that key is one result itself (tune). */
static int take_apart(cli *c, const char *file, json_t *root, cli_results *out) {
    json_t *list = json_object_get(root, "results");
    if (list == NULL && json_object_get(root, "grid") == NULL)
        return cli_error(c, CODE_DATA,
                         "%s: there is no key \"results\"; a file of 'rlar evaluate --json' is "
                         "expected",
                         file);
    if (list != NULL && !json_is_array(list))
        return cli_error(c, CODE_DATA, "%s: \"results\" is not a list", file);
    if (list != NULL && json_array_size(list) == 0 && !has_figures(root))
        return cli_error(c, CODE_DATA, "%s: \"results\" is empty: nothing was evaluated", file);
    const size_t more = list != NULL ? json_array_size(list) : 1;
    if ((size_t)out->count + more > MOST_RESULTS)
        return cli_error(c, CODE_DATA,
                         "%s: %zu results; a page or figure has room for %d: give fewer", file,
                         (size_t)out->count + more, MOST_RESULTS);
    cli_result *grown = cli_alloc(((size_t)out->count + more) * sizeof *grown);
    if (out->count > 0)
        memcpy(grown, out->item, (size_t)out->count * sizeof *grown);
    free(out->item);
    out->item = grown;
    if (list == NULL)
        add(out, file, root, root);
    for (size_t i = 0; list != NULL && i < more; i++) {
        json_t *entry = json_array_get(list, i);
        if (!json_is_object(entry))
            return cli_error(c, CODE_DATA, "%s: results[%zu] is not an object", file, i);
        add(out, file, root, entry);
    }
    return 0;
}

int cli_results_load(cli *c, const char *const *path, int count, cli_results *out) {
    *out = (cli_results){0};
    out->root = cli_alloc((size_t)count * sizeof *out->root);
    int code = 0;
    for (int i = 0; i < count && code == 0; i++) {
        code = cli_json_load(c, path[i], &out->root[i]);
        out->n_roots = i + 1;
        if (code == 0)
            code = take_apart(c, path[i], out->root[i], out);
    }
    if (code != 0)
        cli_results_free(out);
    return code;
}

static void result_free(cli_result *result) {
    for (int i = 0; i < CLI_RESULT_PARTS; i++)
        free(result->part[i]);
    free(result->title);
}

void cli_results_free(cli_results *results) {
    for (int i = 0; i < results->count; i++)
        result_free(&results->item[i]);
    for (int i = 0; i < results->n_roots; i++)
        json_decref(results->root[i]);
    free(results->item);
    free(results->root);
    *results = (cli_results){0};
}

/* ---- choosing and naming ---- */

static bool wanted(const cli *c, const cli_result *result) {
    return (c->args.data == NULL || strcmp(c->args.data, result->part[0]) == 0) &&
           (c->args.method == NULL || strcmp(c->args.method, result->part[2]) == 0);
}

/* More titles than this nobody reads in a line. */
enum { MOST_TITLES = 12 };

/* "wine, 11 per class, rlar; wine, 11 per class, lda; ..." */
char *cli_results_list(const cli_results *results) {
    char *list = NULL;
    size_t size = 0;
    FILE *out = cli_text_open(&list, &size);
    for (int i = 0; i < results->count && i < MOST_TITLES; i++)
        fprintf(out, "%s%s", i > 0 ? "; " : "", results->item[i].title);
    if (results->count > MOST_TITLES)
        fprintf(out, "; and %d more", results->count - MOST_TITLES);
    cli_text_close(out, &list);
    return list;
}

int cli_results_choose(cli *c, cli_results *results, const char *key, const char *how) {
    int kept = 0, named = 0;
    if (results->count == 0)
        return cli_error(c, CODE_DATA, "no result has the key \"%s\"; %s", key, how);
    for (int i = 0; i < results->count; i++)
        named += wanted(c, &results->item[i]);
    if (named == 0) {
        char *list = cli_results_list(results);
        const int code = cli_usage(
            c, "no result is of%s%s%s%s; there are: %s", c->args.data != NULL ? " --data " : "",
            c->args.data != NULL ? c->args.data : "", c->args.method != NULL ? " --method " : "",
            c->args.method != NULL ? c->args.method : "", list);
        free(list);
        return code;
    }
    const char *file = results->item[0].file;
    for (int i = 0; i < results->count; i++) {
        cli_result *result = &results->item[i];
        if (wanted(c, result) && json_object_get(result->entry, key) != NULL)
            results->item[kept++] = *result;
        else
            result_free(result);
    }
    results->count = kept;
    if (kept == 0)
        return cli_error(c, CODE_DATA, "%s: no result has the key \"%s\"; %s", file, key, how);
    return 0;
}

/* Bit i: not all results have the same part i. */
static unsigned differing(const cli_results *results) {
    unsigned mask = 0;
    for (int i = 1; i < results->count; i++)
        for (int j = 0; j < CLI_RESULT_PARTS; j++)
            if (strcmp(results->item[i].part[j], results->item[0].part[j]) != 0)
                mask |= 1U << j;
    return mask;
}

char *cli_result_label(const cli_results *results, int index) {
    const unsigned mask = differing(results);
    return join(results->item[index].part, mask != 0 ? mask : 4U);
}

char *cli_results_common(const cli_results *results) {
    const unsigned mask = differing(results);
    return join(results->item[0].part, mask != 0 ? ~mask : 3U);
}

double cli_result_measure(const cli_result *result, const char *measure, const char *key) {
    const json_t *value = json_object_get(json_object_get(result->entry, measure), key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

int cli_result_bad(cli *c, const cli_result *result, const char *what) {
    return cli_error(c, CODE_DATA, "%s: %s: %s", result->file, result->title, what);
}

int cli_results_few(cli *c, const cli_results *results) {
    if (results->count <= CLI_PANELS)
        return 0;
    char *list = cli_results_list(results);
    const int code =
        cli_usage(c, "%d results, %d panels at most; choose with --method and --data: %s",
                  results->count, CLI_PANELS, list);
    free(list);
    return code;
}
