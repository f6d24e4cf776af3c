/* fuzz_arff.c - ARFF files: see readers.h. Besides, a plain splitter finds the same cells where
 * there are no quotes, escapes and comments; sparse rows are written out for that. */
#include "cells.h"

#include <strings.h>

#define BLANKS " \t\r\f\v"

enum { MOST_CELLS = 3 * LARGEST_WRITTEN };

typedef struct attribute {
    const char *absent; /* what a sparse row has where it says nothing */
    bool nominal;
} attribute;

typedef struct splitter {
    attribute attributes[MOST_CELLS];
    cell cells[MOST_CELLS];
    int64_t columns, count;
    bool in_data;
} splitter;

/* The next word, ended by a NUL; *line moves behind the blanks and the comma that follow it. */
static char *take(char **line) {
    char *word = *line + strspn(*line, BLANKS);
    char *end = word + strcspn(word, BLANKS ",");
    char *next = end + strspn(end, BLANKS);
    *line = next + (*next == ',');
    *end = '\0';
    return word;
}

/* What stands in braces, which the line ends with. */
static char *within(char *brace) {
    brace[strcspn(brace, "}")] = '\0';
    return brace + 1;
}

/* @attribute name type; a nominal one begins with the value that is absent. */
static void declare(splitter *s, char *line) {
    char *brace = strchr(line, '{');
    attribute a = {.absent = "0", .nominal = brace != NULL};
    if (brace) {
        char *list = within(brace) + strspn(brace + 1, BLANKS ",");
        a.absent = take(&list);
    } else {
        (void)take(&line);
        if (strcasecmp(take(&line), "string") == 0)
            a.absent = "";
    }
    s->attributes[s->columns++] = a;
}

static void put(splitter *s, int64_t column, const char *text) {
    const bool name = s->attributes[column].nominal && strcmp(text, "?") != 0;
    s->cells[s->count + column] =
        (cell){.text = text, .name = name, .last = column == s->columns - 1};
}

static void take_row(splitter *s, char *line) {
    const bool sparse = *line == '{';
    FUZZ_CHECK(s->count + s->columns <= MOST_CELLS, "more cells than were read");
    if (sparse)
        line = within(line);
    for (int64_t j = 0; j < s->columns; j++)
        put(s, j, sparse ? s->attributes[j].absent : take(&line));
    while (sparse && line[strspn(line, BLANKS)] != '\0') {
        const long column = strtol(take(&line), NULL, 10);
        FUZZ_CHECK(column >= 0 && column < s->columns, "a value of column %ld", column);
        put(s, column, take(&line));
    }
    s->count += s->columns;
}

static void take_line(splitter *s, char *line) {
    line += strspn(line, BLANKS);
    if (*line == '\0')
        return;
    if (s->in_data) {
        take_row(s, line);
        return;
    }
    const char *word = take(&line);
    if (strcasecmp(word, "@attribute") == 0)
        declare(s, line);
    s->in_data = strcasecmp(word, "@data") == 0;
}

static void check_cells(const reader_choices *c, const fuzz_bytes *b, const rlar_data *data) {
    static splitter s;
    if (!cells_comparable(c, data) || data->view.n * data->view.d > LARGEST_WRITTEN)
        return;
    char *text = fuzz_alloc(b->left + 1), *line = text;
    memcpy(text, b->at, b->left);
    text[b->left] = '\0'; /* what was accepted has no other */
    s.columns = s.count = s.in_data = 0;
    if (!strpbrk(text, "'\"\\%")) {
        if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
            line += 3;
        for (char *next = line; next; line = next) {
            next = strchr(line, '\n');
            if (next)
                *next++ = '\0';
            take_line(&s, line);
        }
        cells_check(data, s.cells, s.count);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    return reader_run(&rlar__format_arff, bytes, size, check_cells);
}
