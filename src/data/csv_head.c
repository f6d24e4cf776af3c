/* csv_head.c - what the first lines of a table tell: its separator, and whether it has a header.
 *
 * The separator is a comma if the first line has one outside quotes, else a semicolon, else a tab,
 * else runs of blanks.
 *
 * Is the first row a header? A sample has at most one cell of text, its label, so the first row
 * holds names when
 *   - it has no number and at least two cells of text (an empty cell may stand over an index
 *     column), or
 *   - it has no number, one cell of text, and the second row has a number below that, or
 *   - a cell says label, class or target, or is the label that the caller named; or says y above a
 *     number, or
 *   - its numbers climb, as those of an axis do and those of the second row do not, and its only
 *     text is what label columns are often called, or
 *   - it reads 0, 1, 2, ..., the names of a data frame that has none, perhaps behind the empty name
 *     of an index column, and the second row has a text or fractions.
 * Otherwise it is data: a mixed row is more likely a typing error, and taking it for names would
 * silently lose a sample. Where the opposite is well possible, the caller is told, and may decide
 * instead: an axis with any other text or none, a row of numbers that ends with "target", and
 * 0, 1, 2 above whole numbers. */
#include "data/csv_head.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- The header ---- */

typedef enum cell_kind { CELL_MISSING, CELL_NUMBER, CELL_TEXT } cell_kind;

static cell_kind kind_of(const char *text) {
    const size_t length = strlen(text);
    if (rlar__cell_missing(text, length))
        return CELL_MISSING;
    return rlar__is_number(text, length) ? CELL_NUMBER : CELL_TEXT;
}

static bool says(const char *text, const char *word) {
    text += strspn(text, " \t");
    const size_t length = strlen(word);
    return strncasecmp(text, word, length) == 0 &&
           text[length + strspn(text + length, " \t")] == '\0';
}

/* Is the cell the label column that the caller named? */
static bool is_asked_for(const rlar_read_options *options, const char *text) {
    const char *wanted = options->label;
    return wanted && !rlar__is_number(wanted, strlen(wanted)) && strcmp(text, wanted) == 0;
}

/* Can the cell hardly be anything but the name of a label column? `below` is NULL where there is no
 * second row. */
static bool names_label(const char *text, const char *below) {
    return says(text, "label") || says(text, "class") || says(text, "target") ||
           (says(text, "y") && below && kind_of(below) == CELL_NUMBER);
}

/* What label columns are called, too, though a class may have that name. */
static bool may_name_label(const char *text) {
    static const char *const usual[] = {"species", "variety", "type",      "category", "group",
                                        "outcome", "labels",  "diagnosis", "classes",  "y"};
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
        if (says(text, usual[k]))
            return true;
    return false;
}

/* The numbers of the row, if each is larger than the one before it; else 0. */
static int64_t climb(const rlar_texts *row) {
    int64_t count = 0;
    double last = -INFINITY, value;
    for (int64_t j = 0; j < row->count; j++) {
        const char *cell = rlar__texts_at(row, j);
        if (kind_of(cell) != CELL_NUMBER)
            continue;
        if (!rlar__parse_double(cell, strlen(cell), &value) || value <= last)
            return 0;
        last = value;
        count++;
    }
    return count;
}

/* Five numbers climb by chance in one sample of 120, three in one of 6. */
enum { CLIMB = 5, CLIMB_WITH_NAME = 3 };

/* Samples may all climb, as sums do; an axis is not like the row below it. */
static bool is_axis(const rlar_texts *first, const rlar_texts *second, int64_t least) {
    return second->count > 0 && climb(first) >= least && climb(second) == 0;
}

/* 0, 1, 2, ..., perhaps behind the empty name of an index column. */
static bool counts(const rlar_texts *row, bool *index) {
    char number[RLAR_NUMBER_SIZE];
    *index = row->count > 0 && *rlar__texts_at(row, 0) == '\0';
    for (int64_t j = *index; j < row->count; j++) {
        snprintf(number, sizeof number, "%lld", (long long)(j - *index));
        if (strcmp(rlar__texts_at(row, j), number) != 0)
            return false;
    }
    return row->count - *index >= CLIMB_WITH_NAME;
}

/* Below names that are numbers: a text, or fractions in all columns but that of the label. */
static bool below_frame(const rlar_texts *second) {
    int64_t fractions = 0;
    for (int64_t j = 0; j < second->count; j++) {
        const char *cell = rlar__texts_at(second, j);
        if (kind_of(cell) == CELL_TEXT)
            return true;
        fractions += strpbrk(cell, ".eE") != NULL;
    }
    return second->count > 0 && fractions >= second->count - 1;
}

bool rlar__csv_header(const rlar_read_options *options, const rlar_texts *first,
                      const rlar_texts *second, bool *doubt) {
    int64_t numbers = 0, texts = 0, over_number = 0;
    bool named = false, may = false, index;
    *doubt = false;
    if (options->header != 0)
        return options->header > 0;
    for (int64_t j = 0; j < first->count; j++) {
        const char *cell = rlar__texts_at(first, j), *below = rlar__texts_at(second, j);
        const cell_kind kind = kind_of(cell);
        if (kind == CELL_TEXT && is_asked_for(options, cell))
            return true;
        named |= kind == CELL_TEXT && names_label(cell, below);
        may |= kind == CELL_TEXT && may_name_label(cell);
        numbers += kind == CELL_NUMBER;
        texts += kind == CELL_TEXT;
        over_number += kind == CELL_TEXT && below && kind_of(below) == CELL_NUMBER;
    }
    if (counts(first, &index)) {
        const bool frame = index || below_frame(second);
        *doubt = !frame;
        return frame;
    }
    const bool axis = texts <= 1 && is_axis(first, second, CLIMB);
    *doubt = named ? numbers > 0 && !axis : axis;
    if (!named && may && texts == 1 && is_axis(first, second, CLIMB_WITH_NAME)) {
        *doubt = false;
        named = true;
    }
    return named || (numbers == 0 && (texts >= 2 || over_number == 1));
}

/* ---- The separator ---- */

static const char MARK[] = "\xef\xbb\xbf";

int64_t rlar__csv_mark(const char *bytes, int64_t size) {
    return size >= 3 && memcmp(bytes, MARK, 3) == 0 ? 3 : 0;
}

bool rlar__csv_is_text(char c, int64_t at) {
    return !(at < 3 && c == MARK[at]) && c != ' ' && c != '\t' && c != '\n' && c != '\r';
}

char rlar__csv_separator(const char *line, int64_t size) {
    bool quoted = false, comma = false, semicolon = false, tab = false, blank = false, text = false;
    for (int64_t i = 0; i < size; i++) {
        const char c = line[i];
        quoted ^= c == '"';
        if (quoted)
            continue;
        comma |= c == ',';
        semicolon |= c == ';';
        tab |= c == '\t';
        blank |= c == ' ' && text; /* between words, not before the first */
        text |= c != ' ' && c != '\r' && c != '\n';
        if (text && (c == '\r' || c == '\n'))
            break;
    }
    return comma ? ',' : semicolon ? ';' : tab ? '\t' : blank ? ' ' : ',';
}
