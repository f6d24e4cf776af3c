/* table_columns.c - the sink before its first row: names of columns, the label among them, and what
 * may have been meant otherwise. */
#include "data/table.h"

#include <stdio.h>
#include <string.h>

void rlar__sink_guess(rlar_sink *s, const rlar_place *at, const char *text) {
    if (!s->quiet)
        rlar__log(s->ctx, RLAR_W_GUESS, "%s:%lld: %s", at->file, (long long)at->line, text);
}

/* Said where the name stands, not after the fit, when the model cannot be written. */
rlar_status rlar__sink_check_name(rlar_sink *s, const rlar_place *at, const char *what,
                                  const char *text, size_t length) {
    const char *fault = rlar__name_fault(text, length);
    char token[RLAR_TOKEN_SIZE];
    return !fault ? RLAR_OK
                  : rlar__fail_at(s->ctx, RLAR_E_DATA, at, "the %s '%s' %s", what,
                                  rlar__token(text, length, token), fault);
}

static bool is_blank(const char *name) {
    return !name || name[strspn(name, " \t")] == '\0';
}

/* Data frames write the numbers of their rows so. */
static bool has_index(int64_t count, const char *const *names) {
    for (int64_t j = 1; j < count; j++)
        if (is_blank(names[j]))
            return false;
    return count > 1 && is_blank(names[0]);
}

rlar_status rlar__sink_columns(rlar_sink *s, int64_t count, const char *const *names,
                               const bool *nominal) {
    rlar_columns *c = &s->columns;
    c->count = count;
    c->index = names && has_index(count, names);
    for (int64_t j = 0; names && j < count; j++) {
        const char *name = names[j] ? names[j] + strspn(names[j], " \t") : "";
        size_t length = strlen(name);
        while (length > 0 && (name[length - 1] == ' ' || name[length - 1] == '\t'))
            length--;
        char stand_in[RLAR_NUMBER_SIZE + 8] = "column";
        if (length ==
            0) { /* the index column that spreadsheets and data frames write has no name */
            length = 6 + (size_t)rlar__format_double((double)(j + 1), stand_in + 6);
            name = stand_in;
        }
        const rlar_place at = {.file = s->rule.file, .line = 1, .column = j + 1};
        RLAR_TRY(rlar__sink_check_name(s, &at, "column name", name, length));
        RLAR_TRY(rlar__texts_add(s->ctx, &c->names, name, length));
    }
    if (nominal) {
        RLAR_TRY(rlar__alloc(s->ctx, count, sizeof *c->nominal, "the column types", &c->nominal));
        memcpy(c->nominal, nominal, (size_t)count * sizeof *nominal);
    }
    return RLAR_OK;
}

/* A column that is asked for, of a format that has the labels beside its columns, or none. */
static rlar_status no_label_columns(const rlar_sink *s) {
    char token[RLAR_TOKEN_SIZE];
    return rlar__fail(s->ctx, RLAR_E_ARG,
                      "%s: there is no label column '%s': samples of this format have their labels "
                      "with them; leave --label out, or use --label none or --labels FILE",
                      s->rule.file, rlar__token(s->rule.label, strlen(s->rule.label), token));
}

/* With labels from a file of their own every column is a feature: one that holds the labels, too,
 * would make a model that has seen the answers. */
static void warn_of_label(rlar_sink *s) {
    const int64_t column =
        s->labels && !s->rule.model ? rlar__columns_usual(&s->columns, NULL) : -1;
    char text[RLAR_TOKEN_SIZE + 128], token[RLAR_TOKEN_SIZE];
    if (column < 0)
        return;
    const char *name = rlar__texts_at(&s->columns.names, column);
    const rlar_place at = {.file = s->rule.file, .line = 1};
    snprintf(text, sizeof text,
             "column '%s' is taken for a feature, since the labels are in a file of their own; if "
             "it holds labels, take it out",
             rlar__token(name, strlen(name), token));
    rlar__sink_guess(s, &at, text);
}

rlar_status rlar__sink_settle(rlar_sink *s, int64_t count, bool own_label, bool sparse) {
    if ((own_label || sparse) && s->rule.label && !s->no_labels)
        return no_label_columns(s);
    s->typed = true;
    s->sparse = sparse;
    if (own_label)
        s->rule.label_elsewhere = true;
    if (sparse) {
        if (s->rule.features == 0 && !s->whole)
            return rlar__fail(
                s->ctx, RLAR_E_ARG,
                "%s: a sparse file tells its number of features only at its end; read it "
                "whole, or set the number of features",
                s->rule.file);
        s->columns.label = -1;
        s->columns.d = s->whole ? 0 : s->rule.features;
    } else {
        s->columns.count = count;
        RLAR_TRY(rlar__columns_settle(s->ctx, &s->rule, &s->columns));
    }
    /* In a file that is sorted by class it would give the class away. */
    const rlar_place at = {.file = s->rule.file, .line = 1};
    if (s->columns.index && s->columns.label != 0 && !s->rule.model)
        rlar__sink_guess(s, &at,
                         "column 1 has no name and is taken for a feature, column1; if it counts "
                         "the samples, take it out of the file");
    warn_of_label(s);
    s->labelled = !s->no_labels && (s->labels || own_label || s->columns.label >= 0);
    return RLAR_OK;
}
