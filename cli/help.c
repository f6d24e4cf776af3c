/* help.c - --help, written from the tables of options.c. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum { HELP_WIDTH = 96, HELP_INDENT = 26 };

void cli_wrap(cli *c, const char *text, int indent) {
    int column = indent;
    while (*text != '\0') {
        const int word = (int)strcspn(text, " ");
        if (column > indent && column + 1 + word > HELP_WIDTH) {
            cli_printf(c, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            cli_write(c, " ", 1);
            column++;
        }
        cli_write(c, text, (size_t)word);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    cli_write(c, "\n", 1);
}

/* "  -o, --output FILE   text"; a long left side gets a line of its own. */
static void print_option(cli *c, const cli_option *option) {
    char left[128], letter[8] = "    ";
    if (option->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    const int length =
        snprintf(left, sizeof left, "  %s--%s%s%s", letter, option->name,
                 option->value != NULL ? " " : "", option->value != NULL ? option->value : "");
    if (length >= HELP_INDENT)
        cli_printf(c, "%s\n%*s", left, HELP_INDENT, "");
    else
        cli_printf(c, "%-*s", HELP_INDENT, left);
    cli_wrap(c, option->help, HELP_INDENT);
}

/* The options of one verb and group; no title for an empty group. */
static void print_group(cli *c, unsigned verb, cli_group group, const char *title) {
    bool first = true;
    for (const cli_option *o = cli_options; o->name != NULL; o++) {
        if (o->group != group || (o->verbs & verb) == 0 || o->help == NULL)
            continue;
        if (first)
            cli_printf(c, "\n%s\n", title);
        first = false;
        print_option(c, o);
    }
}

void cli_help_verb(cli *c, const cli_verb *verb) {
    const unsigned bit = cli_verb_bit(verb);
    cli_printf(c, "Usage: rlar %s %s%s[options]\n\n%s\n", verb->name, verb->words,
               verb->words[0] != '\0' ? " " : "", verb->about);
    print_group(c, bit, GROUP_VERB, "Options:");
    print_group(c, bit, GROUP_DATA, "Data:");
    print_group(c, bit, GROUP_COMMON, "Everywhere:");
    cli_printf(c, "\nExample:\n  %s\n", verb->example);
}

void cli_help(cli *c) {
    cli_printf(c,
               "Usage: rlar VERB [arguments] [options]\n\n"
               "Learn a small linear map that keeps labelled, high-dimensional samples apart.\n\n"
               "Verbs:\n");
    for (const cli_verb *verb = cli_verbs; verb->name != NULL; verb++)
        cli_printf(c, "  %-10s %-16s %s\n", verb->name, verb->words, verb->summary);
    cli_printf(
        c, "\n`rlar VERB --help` explains one; `rlar --version` prints the version.\n\n"
           "Data: .csv .tsv .svm .libsvm .npy .npz .arff .mat (each also .gz), a folder of images "
           "with\n"
           "one subfolder per class, or - for standard input (with --format).\n\n"
           "Exit codes: 0 done, 1 failed, 2 usage, 3 bad data, 4 bad model, 5 numerical failure,\n"
           "6 input/output, 7 out of memory, 130 interrupted.\n\n"
           "Example:\n"
           "  rlar fit wine.csv -o wine.rlar\n"
           "  rlar predict wine.rlar new.csv\n");
}

void cli_usage_brief(void) {
    fputs("Usage: rlar VERB [arguments] [options]\nVerbs:", stderr);
    for (const cli_verb *verb = cli_verbs; verb->name != NULL; verb++)
        fprintf(stderr, " %s", verb->name);
    fputs("\n'rlar --help' tells more, e.g. 'rlar fit wine.csv -o wine.rlar'.\n", stderr);
}
