/* cmd_report.c - rlar report: results as one page of HTML that needs nothing beside it. */
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* Is the name that of a result before this one, in this file or an earlier one? */
static bool named_before(const cli_results *results, int file, int index) {
    const char *name = results[file].item[index].part[0];
    for (int f = 0; f <= file; f++)
        for (int i = 0; i < (f < file ? results[f].count : index); i++)
            if (strcmp(results[f].item[i].part[0], name) == 0)
                return true;
    return false;
}

/* The names of the data sets, each once, six at most. */
static char *default_title(const cli_results *results, int files) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = cli_text_open(&text, &size);
    int shown = 0;
    fputs("rlar", out);
    for (int f = 0; f < files; f++)
        for (int i = 0; i < results[f].count; i++)
            if (!named_before(results, f, i) && ++shown <= 6)
                fprintf(out, "%s%s", shown > 1 ? ", " : ": ", results[f].item[i].part[0]);
    fputs(shown > 6 ? ", \xe2\x80\xa6" : "", out);
    cli_text_close(out, &text);
    return text;
}

static void write_command(cli *c, const json_t *root, const cli_results *results) {
    const json_t *given = json_object_get(root, "command");
    char *command = json_is_string(given) ? cli_plain(given) : cli_report_command(root, results);
    cli_html_heading(c, 3, "How to repeat it");
    if (command == NULL) {
        cli_printf(c, "<p>The file does not say how it was made.</p>\n");
        return;
    }
    cli_printf(c, "<pre><code>");
    cli_html(c, command);
    cli_printf(c, "</code></pre>\n");
    if (!json_is_string(given))
        cli_printf(c, "<p class=\"soft\">Put together from the file, which does not record how the "
                      "data were read (--label, --missing and the like).</p>\n");
    free(command);
}

/* What a reader must know before comparing the figures with others'. */
static void write_caution(cli *c, const json_t *root) {
    const json_t *tune = json_object_get(json_object_get(root, "protocol"), "tune");
    if (json_is_string(tune) && strcmp(json_string_value(tune), "oracle") == 0)
        cli_printf(c, "<p>The parameters were chosen by the test accuracy itself (--tune oracle): "
                      "these accuracies are upper bounds, not estimates.</p>\n");
}

/* What follows the results themselves. */
static int write_rest(cli *c, const char *file, const json_t *root, const cli_results *results,
                      int *number) {
    cli_report_comparison(c, json_object_get(root, "comparison"), results);
    cli_html_heading(c, 3, "Figures");
    const int code = cli_report_figures(c, file, root, results, number);
    if (code != 0)
        return code;
    cli_html_heading(c, 3, "Settings");
    cli_report_settings(c, root, results);
    write_command(c, root, results);
    return 0;
}

/* That of the run; older files do not tell. */
static void write_blas(cli *c, const json_t *blas) {
    const char *library = json_string_value(json_object_get(blas, "library"));
    const char *kernel = json_string_value(json_object_get(blas, "kernel"));
    if (library == NULL)
        return;
    cli_printf(c, " with the BLAS library ");
    cli_html(c, library);
    if (kernel != NULL && kernel[0] != '\0') {
        cli_printf(c, ", kernel ");
        cli_html(c, kernel);
    }
}

/* One file: what was run, what came out, with which settings. */
static int write_document(cli *c, const char *file, const cli_results *results, int *number) {
    const json_t *root = results->root[0], *version = json_object_get(root, "rlar");
    cli_html_heading(c, 2, file);
    cli_printf(c, "<p class=\"soft\">");
    if (results->count > 0)
        cli_printf(c, "%d result%s", results->count, results->count == 1 ? "" : "s");
    else
        cli_printf(c, "Figures");
    if (json_is_string(version)) {
        cli_printf(c, ", made by rlar ");
        cli_html(c, json_string_value(version));
    }
    write_blas(c, json_object_get(root, "blas"));
    cli_printf(c, ".</p>\n");
    cli_report_data(c, root);
    if (results->count > 0)
        cli_html_heading(c, 3, "Results");
    write_caution(c, root);
    if (cli_is_reproduction(root)) {
        cli_results chosen = cli_reproduction_chosen(results);
        if (results->count > 0)
            cli_report_reproduction(c, results);
        const int code = write_rest(c, file, root, &chosen, number);
        free(chosen.item);
        return code;
    }
    if (cli_is_tuning(results)) {
        cli_report_tuning(c, results);
    } else {
        cli_report_accuracy(c, results);
        cli_report_details(c, results);
    }
    return write_rest(c, file, root, results, number);
}

/* Of the machine that made the page, which need not be the one that computed. */
static void write_machine(cli *c) {
    rlar_blas_info blas = RLAR_INIT(rlar_blas_info);
    cli_html_heading(c, 2, "This page");
    cli_printf(c, "<p>Written by rlar %s", rlar_version());
    if (rlar_blas_describe(c->ctx, &blas) >= 0) {
        cli_printf(c, " on a machine with the BLAS library ");
        cli_html(c, blas.library);
        if (blas.kernel[0] != '\0') {
            cli_printf(c, ", kernel ");
            cli_html(c, blas.kernel);
        }
    }
    cli_printf(c, ".</p>\n");
}

/* Ends early where it cannot be written: the context still has the text of that error. */
static int write_page(cli *c, const cli_results *results) {
    char *title = c->args.title != NULL ? cli_strdup(c->args.title, strlen(c->args.title))
                                        : default_title(results, c->args.words);
    int code = cli_out_open(c, c->args.output), number = 0;
    if (code == 0)
        cli_page_begin(c, title);
    for (int i = 0; i < c->args.words && code == 0 && !cli_out_broken(c); i++)
        code = write_document(c, c->args.word[i], &results[i], &number);
    if (code == 0 && !cli_out_broken(c)) {
        write_machine(c);
        cli_page_end(c);
    }
    free(title);
    return code;
}

/* All files are read before the page is begun: one that is wrong leaves nothing behind. */
int cli_cmd_report(cli *c) {
    const int files = c->args.words;
    if (c->args.output == NULL)
        return cli_usage(c, "where to? give -o report.html");
    cli_results *results = cli_alloc((size_t)files * sizeof *results);
    int loaded = 0, code = cli_out_probe(c, c->args.output);
    for (int i = 0; i < files && code == 0; i++) {
        code = cli_results_load(c, &c->args.word[i], 1, &results[i]);
        loaded += code == 0;
    }
    if (code == 0)
        code = write_page(c, results);
    for (int i = 0; i < loaded; i++)
        cli_results_free(&results[i]);
    free(results);
    return code;
}
