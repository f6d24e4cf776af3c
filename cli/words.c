/* words.c - a comma-separated list. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

bool cli_words_split(const char *text, cli_words *out) {
    const size_t length = strlen(text);
    out->copy = cli_strdup(text, length);
    out->item = cli_alloc((length + 1) * sizeof *out->item);
    out->count = 0;
    bool good = true;
    for (char *at = out->copy;;) {
        const size_t span = strcspn(at, ",");
        const bool last = at[span] == '\0';
        at[span] = '\0';
        good = good && span > 0;
        out->item[out->count++] = at;
        if (last)
            return good;
        at += span + 1;
    }
}

void cli_words_free(cli_words *list) {
    free(list->copy);
    free(list->item);
    *list = (cli_words){0};
}
