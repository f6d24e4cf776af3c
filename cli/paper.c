/* paper.c - the numbers that the paper printed, from the table that is built into the program. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce.h"

extern const char *const cli_paper_csv[]; /* the lines of data/paper.csv, by scripts/embed */

/* The next field of the line, cut off at its comma. */
static const char *next_field(char **at) {
    char *field = *at;
    const size_t length = strcspn(field, ",");
    *at = field + length + (field[length] != '\0');
    field[length] = '\0';
    return field;
}

static double number_or_nan(const char *text) {
    double value;
    return cli_parse_real(text, &value) ? value : NAN;
}

static paper_entry read_entry(const char *line) {
    paper_entry e = {.text = cli_strdup(line, strlen(line))};
    char *at = e.text;
    e.table = next_field(&at);
    e.data = next_field(&at);
    e.method = next_field(&at);
    e.per_class = (int64_t)number_or_nan(next_field(&at));
    e.variant = next_field(&at);
    e.mean = number_or_nan(next_field(&at));
    e.std = number_or_nan(next_field(&at));
    return e;
}

void paper_open(paper *out) {
    size_t lines = 0;
    while (cli_paper_csv[lines] != NULL)
        lines++;
    *out = (paper){.entry = cli_alloc(lines * sizeof *out->entry)};
    for (size_t i = 1; i < lines; i++) /* the first has the names of the columns */
        out->entry[out->count++] = read_entry(cli_paper_csv[i]);
}

void paper_close(paper *p) {
    for (int i = 0; i < p->count; i++)
        free(p->entry[i].text);
    free(p->entry);
}

bool paper_same_place(const paper_entry *a, const paper_entry *b) {
    return strcmp(a->table, b->table) == 0 && strcmp(a->data, b->data) == 0 &&
           a->per_class == b->per_class && strcmp(a->variant, b->variant) == 0;
}

bool paper_same_series(const paper_entry *a, const paper_entry *b) {
    static const char digits[] = "0123456789";
    const size_t kind = strcspn(a->variant, digits);
    return strcmp(a->table, b->table) == 0 && strcmp(a->data, b->data) == 0 &&
           kind == strcspn(b->variant, digits) && strncmp(a->variant, b->variant, kind) == 0;
}

const paper_entry *paper_find(const paper *p, const paper_entry *place, const char *method) {
    for (int i = 0; i < p->count; i++)
        if (paper_same_place(&p->entry[i], place) && strcmp(p->entry[i].method, method) == 0)
            return &p->entry[i];
    return NULL;
}
