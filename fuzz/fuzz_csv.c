/* fuzz_csv.c - CSV and TSV files: see readers.h. A further character chooses, 1 being TSV. Besides,
 * a plain splitter finds the same cells. */
#include "cells.h"
#include "data/csv_head.h"

/* A quote is written twice; returns what stands behind the closing one. */
static char *unquote(char *at) {
    char *to = at++;
    for (; *at && (*at != '"' || at[1] == '"'); at++) {
        at += *at == '"';
        *to++ = *at;
    }
    char *end = *at ? at + 1 : at;
    *to = '\0';
    return end;
}

/* Blanks behind a plain cell are no part of it. */
static void trim(const char *begin, char *end) {
    while (end > begin && strchr(" \t", end[-1]))
        *--end = '\0';
}

/* Cut off the cell at `at`; returns the next one, or NULL at the end. */
static char *take_cell(char *at, char separator, cell *out) {
    const char ends[] = {'\n', '\r', separator, '\0'};
    at += strspn(at, separator == '\t' ? " " : " \t");
    *out = (cell){.text = at, .name = *at == '"'};
    if (out->name)
        at = unquote(at);
    at += strcspn(at, ends);
    const char end = *at;
    out->last = end != separator;
    *at = '\0';
    if (!out->name)
        trim(out->text, at);
    if (end == '\r' && at[1] == '\n')
        at++;
    return end == '\0' ? NULL : at + 1;
}

/* All cells but those of empty lines; returns how many. */
static int64_t split(char *text, char separator, cell *cells) {
    int64_t count = 0;
    bool begins = true;
    while (text) {
        const cell *c = &cells[count];
        text = take_cell(text, separator, &cells[count]);
        const bool empty = begins && c->last && !c->name && c->text[0] == '\0';
        begins = c->last;
        count += !empty;
    }
    return count;
}

/* Runs of blanks that separate are left to the other promises. */
static void check_cells(const reader_choices *c, const fuzz_bytes *b, const rlar_data *data) {
    const size_t mark = b->left >= 3 && memcmp(b->at, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    const char *bytes = (const char *)b->at + mark;
    const size_t size = b->left - mark;
    const char separator =
        strcmp(data->format, "tsv") == 0 ? '\t' : rlar__csv_separator(bytes, (int64_t)size);
    if (!cells_comparable(c, data) || separator == ' ')
        return;
    char *text = fuzz_alloc(size + 1);
    cell *cells = fuzz_alloc((size + 1) * sizeof *cells);
    memcpy(text, bytes, size);
    text[size] = '\0'; /* what was accepted has no other */
    cells_check(data, cells, split(text, separator, cells));
    free(cells);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_bytes b = {bytes, size};
    const bool tabs = fuzz_choice(&b, 2) == 1;
    return reader_run(tabs ? &rlar__format_tsv : &rlar__format_csv, b.at, b.left, check_cells);
}
