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
 *     number.
 * Otherwise it is data: a mixed row is more likely a typing error, and taking it for names would
 * silently lose a sample. The caller may decide instead. */
#include "data/csv_head.h"

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

/* Can the cell only be the name of a label column? `below` is NULL where there is no second row. */
static bool names_label(const rlar_read_options *options, const char *text, const char *below) {
    if (says(text, "label") || says(text, "class") || says(text, "target"))
        return true;
    const char *wanted = options->label;
    if (wanted && !rlar__is_number(wanted, strlen(wanted)) && strcmp(text, wanted) == 0)
        return true;
    return says(text, "y") && below && kind_of(below) == CELL_NUMBER;
}

bool rlar__csv_header(const rlar_read_options *options, const rlar_texts *first,
                      const rlar_texts *second) {
    int64_t numbers = 0, texts = 0, over_number = 0;
    if (options->header != 0)
        return options->header > 0;
    for (int64_t j = 0; j < first->count; j++) {
        const char *cell = rlar__texts_at(first, j), *below = rlar__texts_at(second, j);
        const cell_kind kind = kind_of(cell);
        if (kind == CELL_TEXT && names_label(options, cell, below))
            return true;
        numbers += kind == CELL_NUMBER;
        texts += kind == CELL_TEXT;
        over_number += kind == CELL_TEXT && below && kind_of(below) == CELL_NUMBER;
    }
    return numbers == 0 && (texts >= 2 || over_number == 1);
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
