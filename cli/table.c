/* table.c - aligned columns of text for people. Cells of a row are added as one text with tabs
 * between them; widths count characters, not bytes (the plus-minus sign has two). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

void cli_table_add(cli_table *table, const char *format, ...) {
    if (table->count == table->capacity) {
        const int capacity = table->capacity > 0 ? 2 * table->capacity : 16;
        char **grown = cli_alloc((size_t)capacity * sizeof *grown);
        if (table->count > 0)
            memcpy(grown, table->cell, (size_t)table->count * sizeof *grown);
        free(table->cell);
        table->cell = grown;
        table->capacity = capacity;
    }
    va_list args;
    va_start(args, format);
    table->cell[table->count++] = cli_vtext(format, args);
    va_end(args);
}

/* Characters of UTF-8: the bytes that do not continue one. */
static int width(const char *text, size_t length) {
    int count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

/* The widest cell of each column. */
static void measure(const cli_table *table, int *widths) {
    for (int row = 0; row < table->count; row++) {
        const char *at = table->cell[row];
        for (int j = 0; j < table->columns; j++) {
            const size_t length = strcspn(at, "\t");
            const int cell = width(at, length);
            if (cell > widths[j])
                widths[j] = cell;
            at += length + (at[length] == '\t');
        }
    }
}

/* No blanks after the last column. */
static void print_row(cli *c, const cli_table *table, const char *at, const int *widths) {
    for (int j = 0; j < table->columns; j++) {
        const size_t length = strcspn(at, "\t");
        const int pad = widths[j] - width(at, length);
        const bool right = (table->right >> j & 1U) != 0, last = j + 1 == table->columns;
        if (right)
            cli_printf(c, "%*s", pad, "");
        size_t shown = length;
        while (last && shown > 0 && at[shown - 1] == ' ')
            shown--;
        cli_write(c, at, shown);
        if (!right && !last)
            cli_printf(c, "%*s", pad, "");
        cli_write(c, last ? "\n" : "  ", last ? 1 : 2);
        at += length + (at[length] == '\t');
    }
}

void cli_table_print(cli *c, cli_table *table) {
    int widths[32] = {0};
    measure(table, widths);
    for (int row = 0; row < table->count; row++) {
        print_row(c, table, table->cell[row], widths);
        free(table->cell[row]);
    }
    free(table->cell);
    table->cell = NULL;
    table->count = table->capacity = 0;
}
