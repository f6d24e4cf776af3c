/* fuzz_results.c - the JSON of evaluate, tune and reproduce, as `plot` and `report` read it. Any
 * document gives a page that is well-formed HTML and scripts in which every quote is closed, or one
 * line that says what is wrong. Without gnuplot: what it would be given is looked at. The figures
 * and the page take turns. */
#include <ctype.h>

#include "command.h"
#include "report.h"

/* ---- The page ---- */

typedef struct page {
    const char *at, *end;
    char open[64][16]; /* elements */
    int depth;
} page;

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == ':';
}

/* The name of a tag or an attribute. */
static void take_name(page *p, char name[16]) {
    size_t length = 0;
    while (p->at < p->end && is_letter(*p->at) && length < 15)
        name[length++] = *p->at++;
    name[length] = '\0';
    FUZZ_CHECK(length > 0, "a tag without a name: %.30s", p->at - 1);
}

/* No character of the file's text has a meaning: what begins with & is one of the five. */
static void check_text(const char *at, const char *end) {
    static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    while ((at = memchr(at, '&', (size_t)(end - at)))) {
        bool known = false;
        for (size_t i = 0; i < sizeof entity / sizeof *entity; i++)
            known = known || (strlen(entity[i]) <= (size_t)(end - at) &&
                              memcmp(at, entity[i], strlen(entity[i])) == 0);
        FUZZ_CHECK(known, "a text with %.10s", at);
        at++;
    }
}

/* name="value" and flags, up to the end of the tag. */
static void take_attributes(page *p) {
    char name[16];
    while (p->at < p->end && *p->at != '>') {
        while (p->at < p->end && (*p->at == ' ' || *p->at == '\n'))
            p->at++;
        if (p->at < p->end && *p->at == '>')
            break;
        take_name(p, name);
        FUZZ_CHECK(strncmp(name, "on", 2) != 0, "an attribute %s", name);
        if (p->at + 1 < p->end && p->at[0] == '=' && p->at[1] == '"') {
            const char *close = memchr(p->at + 2, '"', (size_t)(p->end - p->at - 2));
            FUZZ_CHECK(close && !memchr(p->at + 2, '<', (size_t)(close - p->at - 2)),
                       "an attribute that does not end");
            check_text(p->at + 2, close);
            p->at = close + 1;
        }
    }
    FUZZ_CHECK(p->at < p->end, "a tag that does not end");
    p->at++;
}

/* Style and script hold text of ours; they end where they say. */
static void take_tag(page *p) {
    static const char *const empty[] = {"meta", "link", "br", NULL};
    char name[16];
    const bool closes = p->at < p->end && *p->at == '/';
    p->at += closes;
    take_name(p, name);
    take_attributes(p);
    if (closes) {
        FUZZ_CHECK(p->depth > 0 && strcmp(p->open[p->depth - 1], name) == 0, "</%s> closes <%s>",
                   name, p->depth > 0 ? p->open[p->depth - 1] : "");
        p->depth--;
        return;
    }
    for (int i = 0; empty[i]; i++)
        if (strcmp(name, empty[i]) == 0)
            return;
    FUZZ_CHECK(p->depth < 64, "elements within elements");
    strcpy(p->open[p->depth++], name);
    if (strcmp(name, "script") == 0 || strcmp(name, "style") == 0) {
        const char *close = memmem(p->at, (size_t)(p->end - p->at), "</", 2);
        FUZZ_CHECK(close, "<%s> does not end", name);
        p->at = close;
    }
}

static void check_page(const char *text, size_t size) {
    static const char first[] = "<!DOCTYPE html>";
    page p = {.at = text, .end = text + size};
    FUZZ_CHECK(size > sizeof first && memcmp(text, first, sizeof first - 1) == 0, "no page");
    p.at += sizeof first - 1;
    for (const char *tag; (tag = memchr(p.at, '<', (size_t)(p.end - p.at)));) {
        check_text(p.at, tag);
        p.at = tag + 1;
        take_tag(&p);
    }
    FUZZ_CHECK(p.depth == 0, "<%s> is left open", p.open[p.depth > 0 ? p.depth - 1 : 0]);
}

/* ---- Scripts ---- */

/* A text in quotes and what is behind it. Ours are in single quotes. In double quotes, where a name
 * of the file may be, are letters, blanks, UTF-8 and octal numbers of the other printable
 * characters: gnuplot takes any other for a command, or a digit for a part of the number before. */
static const char *take_quoted(const char *at, const char *end) {
    const char quote = *at, *from = at++;
    for (; at < end && *at != quote; at++) {
        FUZZ_CHECK((unsigned char)*at >= 0x20, "a character %d in quotes", *at);
        if (quote == '\'' || *at == ' ' || (unsigned char)*at > 0x7f || isalpha((unsigned char)*at))
            continue;
        const bool octal = *at == '\\' && end - at > 3 && strspn(at + 1, "01234567") == 3;
        const long value = octal ? strtol(at + 1, NULL, 8) : 0;
        FUZZ_CHECK(value > 0x20 && value < 0x7f, "in double quotes: %.*s", (int)(end - at), at);
        at += 3;
    }
    FUZZ_CHECK(at < end, "a quote that does not close: %.*s", (int)(end - from), from);
    FUZZ_CHECK(at + 1 == end || !strchr("'\"", at[1]), "a quote behind a quote: %.*s",
               (int)(end - from), from);
    return at + 1;
}

/* Quotes close on their line, and nothing outside them runs a program. */
static void check_line(const char *at, const char *end) {
    static const char *const words[] = {"system", "load", "eval", "popen", NULL};
    FUZZ_CHECK(at == end || *at != '!', "a line that runs a program");
    while (at < end) {
        if (*at == '\'' || *at == '"') {
            at = take_quoted(at, end);
            continue;
        }
        FUZZ_CHECK(!strchr("`\\@", *at) && (unsigned char)*at >= 0x20, "a character %d", *at);
        for (int i = 0; words[i]; i++)
            FUZZ_CHECK(strncmp(at, words[i], strlen(words[i])) != 0, "a script with %s", words[i]);
        at++;
    }
}

static void check_script(cli_figure *figure) {
    fflush(figure->script);
    const char *at = figure->text, *end = at + figure->size;
    bool data = false;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((stop ? stop : end) - at);
        if (data)
            data = !(length == 3 && memcmp(at, "END", 3) == 0);
        else if (length > 0 && *at == '$')
            data = memmem(at, length, "<<", 2) != NULL;
        else
            check_line(at, at + length);
        at += length + 1;
    }
    FUZZ_CHECK(!data, "data that do not end");
}

/* ---- All that is made of a document ---- */

enum { TURNS = 8 };

typedef int draw_results(cli *c, const cli_results *results, cli_figure *figure);
typedef int draw_object(cli *c, const char *file, const json_t *object, cli_figure *figure);

static void end_figure(cli_figure *figure, int code) {
    FUZZ_CHECK(command_code(code), "code %d", code);
    if (code == 0)
        check_script(figure);
    cli_figure_free(figure);
}

static void draw_chosen(const char *path, const char *key, draw_results *draw) {
    cli *c = command_begin("plot");
    cli_results results;
    cli_figure figure;
    if (cli_results_load(c, &path, 1, &results) != 0)
        return;
    cli_figure_begin(&figure);
    int code = cli_results_choose(c, &results, key, "how");
    if (code == 0)
        code = draw(c, &results, &figure);
    end_figure(&figure, code);
    cli_results_free(&results);
}

static void draw_one(const char *path, const char *key, draw_object *draw) {
    cli *c = command_begin("plot");
    json_t *root = NULL;
    cli_figure figure;
    if (cli_json_load(c, path, &root) == 0) {
        cli_figure_begin(&figure);
        end_figure(&figure, draw(c, path, json_object_get(root, key), &figure));
    }
    json_decref(root);
}

/* The page goes to standard output, which is a file in memory. */
static void write_report(const char *path) {
    static char text[1 << 20];
    cli *c = command_begin("report");
    c->args.word = &path;
    c->args.words = 1;
    c->args.output = "-";
    FUZZ_CHECK(ftruncate(STDOUT_FILENO, 0) == 0 && lseek(STDOUT_FILENO, 0, SEEK_SET) == 0,
               "standard output is no file");
    const int code = cli_out_close(c, cli_cmd_report(c));
    FUZZ_CHECK(command_code(code), "code %d", code);
    const ssize_t size = pread(STDOUT_FILENO, text, sizeof text, 0);
    FUZZ_CHECK(code != 0 || size > 0, "an empty page");
    if (code == 0 && size < (ssize_t)sizeof text)
        check_page(text, (size_t)size);
    c->args = (cli_args){0};
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static fuzz_file file, page_file;
    const fuzz_bytes b = {bytes, size};
    if (page_file.path[0] == '\0') {
        fuzz_file_set(&page_file, "", 0);
        FUZZ_CHECK(dup2(page_file.fd, STDOUT_FILENO) >= 0, "no standard output");
        FUZZ_CHECK(setenv("PATH", "", 1) == 0, "no environment");
    }
    fuzz_file_set(&file, bytes, size);
    if (fuzz_turn(&b, TURNS, 0))
        draw_chosen(file.path, "grid", cli_figure_heatmap);
    if (fuzz_turn(&b, TURNS, 1))
        draw_chosen(file.path, "grid", cli_figure_sweep);
    if (fuzz_turn(&b, TURNS, 2))
        draw_chosen(file.path, "accuracy", cli_figure_sizes);
    if (fuzz_turn(&b, TURNS, 3))
        draw_chosen(file.path, "confusion", cli_figure_confusion);
    if (fuzz_turn(&b, TURNS, 4))
        draw_one(file.path, "comparison", cli_figure_ranks);
    if (fuzz_turn(&b, TURNS, 5))
        draw_one(file.path, "matrices", cli_figure_matrices);
    if (fuzz_turn(&b, TURNS, 6))
        draw_one(file.path, "convergence", cli_figure_curves);
    if (fuzz_turn(&b, TURNS, 7))
        write_report(file.path);
    fuzz_check_memory(fuzz_ctx());
    return 0;
}
