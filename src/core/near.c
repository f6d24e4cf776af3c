/* near.c - which name was meant: edits between a mistyped name and one that exists. */
#include <string.h>

#include "core/core.h"

enum { LONGEST = 32 }; /* no name of ours is longer */

/* ASCII only, whatever the locale. */
static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same(char a, char b) {
    return lower(a) == lower(b);
}

/* Edits (insert, delete, replace, swap two neighbours) that turn a into b: row i of the table holds
 * those from the first i letters of a to the first j of b. */
static int edits(const char *a, int na, const char *b, int nb) {
    int table[LONGEST + 1][LONGEST + 1];
    for (int i = 0; i <= na; i++)
        for (int j = 0; j <= nb; j++) {
            int least = i == 0 ? j : table[i - 1][j] + 1;
            if (i > 0 && j > 0) {
                const int insert = table[i][j - 1] + 1;
                const int replace = table[i - 1][j - 1] + !same(a[i - 1], b[j - 1]);
                least = insert < least ? insert : least;
                least = replace < least ? replace : least;
            }
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]) &&
                table[i - 2][j - 2] + 1 < least)
                least = table[i - 2][j - 2] + 1;
            table[i][j] = least;
        }
    return table[na][nb];
}

int rlar_name_distance(const char *typed, const char *name) {
    const size_t na = typed ? strlen(typed) : 0, nb = name ? strlen(name) : 0;
    if (na > LONGEST || nb > LONGEST || na == 0 || nb == 0)
        return -1;
    if (na >= 2 && na < nb && strncmp(typed, name, na) == 0)
        return 1;
    const int most = na < 8 ? 1 + (int)na / 4 : 3, longer = (int)nb - (int)na;
    if (longer > most || -longer > most) /* each edit changes the length by one at most */
        return -1;
    const int found = edits(typed, (int)na, name, (int)nb);
    return found <= most ? found : -1;
}
