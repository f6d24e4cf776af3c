/* fuzz_libsvm.c - LIBSVM files: see readers.h. Besides, a plain walk through the words finds every
 * label and value where the reader has put it, and nothing but zeros between them. */
#include "cells.h"

/* One row: a word of it, and what was read. */
typedef struct walk {
    char *word;
    const rlar_data *data;
    const double *x;
    int64_t sample, first, next; /* `first`: the index that the file counts from */
} walk;

/* The next word of the line, ended by a NUL; false where there is none, or a comment begins. */
static bool next_word(walk *w, char **line) {
    w->word = *line + strspn(*line, " \t\r");
    char *end = w->word + strcspn(w->word, " \t\r");
    *line = *end ? end + 1 : end;
    *end = '\0';
    return w->word[0] != '\0' && w->word[0] != '#';
}

static bool is_pair(const char *word) {
    char *end;
    (void)strtoll(word, &end, 10);
    return *end == ':' && end > word;
}

static void check_label(const walk *w) {
    if (!w->data->label)
        return;
    const char *name = rlar__texts_at(&w->data->classes, w->data->label[w->sample]);
    FUZZ_CHECK(cell_is_label(&(cell){.text = w->word}, name),
               "sample %lld has label %s instead of %s", (long long)w->sample, name, w->word);
}

static void check_zeros(walk *w, int64_t end) {
    static const double zero;
    for (; w->next < end; w->next++)
        FUZZ_CHECK(memcmp(&w->x[w->next], &zero, sizeof zero) == 0,
                   "value %lld of sample %lld is not 0", (long long)w->next, (long long)w->sample);
}

static void check_pair(walk *w) {
    char *colon;
    const int64_t index = strtoll(w->word, &colon, 10);
    if (index == 0 && w->sample == 0)
        w->first = 0;
    const int64_t column = index - w->first;
    const double want = strtod(colon + 1, NULL);
    FUZZ_CHECK(column >= w->next && column < w->data->view.d, "index %lld after %lld",
               (long long)index, (long long)w->next);
    check_zeros(w, column);
    FUZZ_CHECK(memcmp(&w->x[column], &want, sizeof want) == 0, "sample %lld has %.17g for %s",
               (long long)w->sample, w->x[column], w->word);
    w->next = column + 1;
}

/* A line that has a word is a sample. */
static void check_line(walk *w, char *line) {
    bool begun = false;
    w->next = 0;
    for (; next_word(w, &line); begun = true) {
        FUZZ_CHECK(w->sample < w->data->view.n, "fewer samples than lines");
        w->x = (const double *)w->data->view.x + w->sample * w->data->view.d;
        if (is_pair(w->word))
            check_pair(w);
        else if (strncmp(w->word, "qid:", 4) != 0)
            check_label(w);
    }
    if (begun)
        check_zeros(w, w->data->view.d);
    w->sample += begun;
}

static void check_words(const reader_choices *c, const fuzz_bytes *b, const rlar_data *data) {
    if (!cells_comparable(c, data) || data->view.n * data->view.d > LARGEST_WRITTEN)
        return;
    walk w = {.data = data, .first = 1};
    char *text = fuzz_alloc(b->left + 1), *line = text;
    memcpy(text, b->at, b->left);
    text[b->left] = '\0'; /* what was accepted has no other */
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
        line += 3;
    while (line) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        check_line(&w, line);
        line = end ? end + 1 : NULL;
    }
    FUZZ_CHECK(w.sample == data->view.n, "%lld samples of %lld lines", (long long)data->view.n,
               (long long)w.sample);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    return reader_run(&rlar__format_libsvm, bytes, size, check_words);
}
