/* cells.h - what the plain splitters of text tables share: cells, one after another, and their
 * comparison with a table that was read. */
#ifndef RLAR_FUZZ_CELLS_H
#define RLAR_FUZZ_CELLS_H

#include "readers.h"

typedef struct cell {
    const char *text;
    bool name; /* it stands for itself, even where it reads like a missing value */
    bool last; /* of its row */
} cell;

/* Where samples were left out or filled in, there is nothing to compare. */
static inline bool cells_comparable(const reader_choices *c, const rlar_data *data) {
    return data->missing == 0 && c->options.missing != RLAR_MISSING_DROP;
}

/* As numbers they are equal with blanks around them, too, which a quoted cell may have. */
static inline bool cell_is_label(const cell *c, const char *name) {
    char *end;
    const bool same = strtod(c->text, &end) == strtod(name, NULL) && end > c->text;
    const bool number = same && end[strspn(end, " \t\r\n")] == '\0';
    return (c->name || !rlar__cell_missing(c->text, strlen(c->text))) &&
           (number || strcmp(c->text, name) == 0);
}

/* Is the label of all samples in this column, and are the features around it? */
static inline bool cells_fit(const rlar_data *data, const cell *cells, int64_t columns,
                             int64_t label) {
    const double *x = data->view.x;
    for (int64_t i = 0; i < data->view.n; i++)
        for (int64_t j = 0; j < columns; j++, cells++) {
            const double value = strtod(cells->text, NULL);
            if (cells->last != (j == columns - 1))
                return false;
            if (j == label ? !cell_is_label(cells, rlar__texts_at(&data->classes, data->label[i]))
                           : memcmp(x++, &value, sizeof value) != 0)
                return false;
        }
    return true;
}

/* The cells are those of the table, perhaps behind a row of names. Which column the label was is
 * not asked for: one of them must do. */
static inline void cells_check(const rlar_data *data, const cell *cells, int64_t count) {
    const int64_t columns = data->view.d + (data->label != NULL);
    const int64_t names = count - data->view.n * columns;
    FUZZ_CHECK(names == 0 || names == columns, "%lld cells, but %lld samples of %lld",
               (long long)count, (long long)data->view.n, (long long)columns);
    bool found = !data->label && cells_fit(data, cells + names, columns, columns);
    for (int64_t label = columns; data->label && label-- > 0 && !found;)
        found = cells_fit(data, cells + names, columns, label);
    FUZZ_CHECK(found, "other cells than those of a plain splitter");
}

#endif
