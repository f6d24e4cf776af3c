/* write_text.c - CSV, TSV, LIBSVM and ARFF.
 *
 *   CSV, TSV   a header (f1, f2, ... where the features have no names), the class in the last
 *              column, quotes as in RFC 4180 where a field needs them, also around a name that
 *              would be read as missing; a missing value is NA
 *   LIBSVM     zeros are left out, but the first sample always has its last feature, which tells
 *              the reader how many there are; a missing value cannot be written
 *   ARFF       numeric attributes, the class nominal; a missing value is ?
 *
 * No format has a place for an infinity: the readers refuse it, so the writers do. */
#include "data/reader.h"
#include "data/write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Numbers and names ---- */

/* A number, or what stands for a missing one. An infinity has no place in a text format: readers
 * refuse it. */
static rlar_status put_number(rlar_writer *w, int64_t i, int64_t j, const char *missing) {
    char buf[RLAR_NUMBER_SIZE];
    const double x = w->row[j];
    if (isinf(x) || (isnan(x) && !missing))
        return rlar__fail(
            w->ctx, RLAR_E_DATA,
            "sample %lld, feature %lld is %s and cannot be written in this format; use npy "
            "or npz",
            (long long)i + 1, (long long)j + 1, isinf(x) ? "infinite" : "missing");
    if (isnan(x))
        rlar__out_text(&w->out, missing);
    else
        rlar__out_put(&w->out, buf, (size_t)rlar__format_double(x, buf));
    return RLAR_OK;
}

/* The feature's name, or f1, f2, ... in buf. */
static const char *feature_name(const rlar_writer *w, int64_t j, char buf[RLAR_NUMBER_SIZE]) {
    const char *name = rlar_data_feature(w->data, j);
    if (name)
        return name;
    (void)snprintf(buf, RLAR_NUMBER_SIZE, "f%lld", (long long)j + 1);
    return buf;
}

/* Failures of the output are looked at once per row. */
static rlar_status end_row(rlar_writer *w) {
    rlar__out_put(&w->out, "\n", 1);
    RLAR_TRY(w->out.status);
    return rlar__poll(w->ctx);
}

/* A byte order mark at the start of a file is no part of it to readers. */
static bool is_marked(const char *text) {
    return strncmp(text, "\xef\xbb\xbf", 3) == 0;
}

/* ---- CSV and TSV ---- */

/* Blanks at the ends would be trimmed by readers, "na" would be missing, and in a table of one
 * column a semicolon, a tab or a blank would be taken for the separator: quote them. */
static void put_field(rlar_writer *w, const char *text, char separator) {
    const bool alone = w->d + (w->c > 0) == 1;
    const char special[] = {
        separator, '"', '\r', '\n', alone ? ';' : '"', alone ? '\t' : '"', alone ? ' ' : '"', '\0'};
    const size_t length = strlen(text);
    rlar_out *out = &w->out;
    if (!rlar_name_needs_quotes(text) && !is_marked(text) && strcspn(text, special) == length) {
        rlar__out_put(out, text, length);
        return;
    }
    rlar__out_put(out, "\"", 1);
    for (const char *s = text; *s; s++)
        rlar__out_put(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
    rlar__out_put(out, "\"", 1);
}

static rlar_status table_header(rlar_writer *w, char separator) {
    char buf[RLAR_NUMBER_SIZE];
    for (int64_t j = 0; j < w->d; j++) {
        if (j > 0)
            rlar__out_put(&w->out, &separator, 1);
        put_field(w, feature_name(w, j, buf), separator);
    }
    if (w->c > 0) {
        rlar__out_put(&w->out, &separator, 1);
        rlar__out_text(&w->out, rlar__writer_label_column(w));
    }
    return end_row(w);
}

static rlar_status write_table(rlar_writer *w, char separator) {
    RLAR_TRY(table_header(w, separator));
    for (int64_t i = 0; i < w->n; i++) {
        rlar_data_row(w->data, i, w->row);
        for (int64_t j = 0; j < w->d; j++) {
            if (j > 0)
                rlar__out_put(&w->out, &separator, 1);
            RLAR_TRY(put_number(w, i, j, "NA"));
        }
        if (w->c > 0) {
            rlar__out_put(&w->out, &separator, 1);
            put_field(w, rlar__writer_label(w, i), separator);
        }
        RLAR_TRY(end_row(w));
    }
    return RLAR_OK;
}

rlar_status rlar__write_csv(rlar_writer *w) {
    return write_table(w, ',');
}

rlar_status rlar__write_tsv(rlar_writer *w) {
    return write_table(w, '\t');
}

/* ---- LIBSVM ---- */

/* The format has no quotes: a label must be one word that is no feature, list or comment. */
static rlar_status check_words(const rlar_writer *w) {
    RLAR_TRY(rlar__writer_without_quotes(w, "LIBSVM"));
    char token[RLAR_TOKEN_SIZE];
    for (int64_t i = 0; i < w->c; i++) {
        const char *name = rlar__texts_at(&w->data->classes, i);
        if (name[strcspn(name, " \t\r\n\v\f,:#")] != '\0' || is_marked(name))
            return rlar__fail(w->ctx, RLAR_E_ARG,
                              "class '%s' cannot be written as LIBSVM: a label there has no blank, "
                              "comma, colon, # or byte order mark; rename it or use csv, npz or "
                              "arff",
                              rlar__token(name, strlen(name), token));
    }
    return RLAR_OK;
}

/* A line without a label and without values would be skipped by readers as empty. */
static rlar_status libsvm_row(rlar_writer *w, int64_t i) {
    char buf[RLAR_NUMBER_SIZE];
    bool begun = w->c > 0;
    if (begun)
        rlar__out_text(&w->out, rlar__writer_label(w, i));
    for (int64_t j = 0; j < w->d; j++) {
        const bool last =
            j == w->d - 1; /* kept in the first row, and where the line would be empty */
        if (w->row[j] == 0 && !signbit(w->row[j]) && !(last && (i == 0 || !begun)))
            continue;
        (void)snprintf(buf, sizeof buf, "%s%lld:", begun ? " " : "", (long long)j + 1);
        rlar__out_text(&w->out, buf);
        RLAR_TRY(put_number(w, i, j, NULL));
        begun = true;
    }
    return end_row(w);
}

rlar_status rlar__write_libsvm(rlar_writer *w) {
    RLAR_TRY(check_words(w));
    for (int64_t i = 0; i < w->n; i++) {
        rlar_data_row(w->data, i, w->row);
        RLAR_TRY(libsvm_row(w, i));
    }
    return RLAR_OK;
}

/* ---- ARFF ---- */

/* The characters that no reader of ARFF takes for anything else. */
static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("_.+-", c));
}

/* Plain, or in single quotes with backslash escapes. */
static void put_name(rlar_out *out, const char *text) {
    bool plain = !rlar_name_needs_quotes(text);
    for (const char *s = text; *s; s++)
        plain = plain && is_plain(*s);
    if (plain) {
        rlar__out_text(out, text);
        return;
    }
    rlar__out_put(out, "'", 1);
    for (const char *s = text; *s; s++) {
        const char escaped = *s == '\n' ? 'n' : *s == '\r' ? 'r' : *s == '\t' ? 't' : *s;
        if (escaped != *s || strchr("'\\", *s))
            rlar__out_put(out, "\\", 1);
        rlar__out_put(out, &escaped, 1);
    }
    rlar__out_put(out, "'", 1);
}

static rlar_status arff_header(rlar_writer *w) {
    char buf[RLAR_NUMBER_SIZE];
    rlar__out_text(&w->out, "@relation ");
    put_name(&w->out, rlar_data_name(w->data));
    rlar__out_text(&w->out, "\n\n");
    for (int64_t j = 0; j < w->d; j++) {
        rlar__out_text(&w->out, "@attribute ");
        put_name(&w->out, feature_name(w, j, buf));
        rlar__out_text(&w->out, " numeric\n");
    }
    if (w->c > 0) {
        rlar__out_text(&w->out, "@attribute ");
        rlar__out_text(&w->out, rlar__writer_label_column(w));
    }
    for (int64_t i = 0; i < w->c; i++) {
        rlar__out_text(&w->out, i == 0 ? " {" : ",");
        put_name(&w->out, rlar__texts_at(&w->data->classes, i));
    }
    rlar__out_text(&w->out, w->c > 0 ? "}\n\n@data" : "\n@data");
    return end_row(w);
}

rlar_status rlar__write_arff(rlar_writer *w) {
    RLAR_TRY(arff_header(w));
    for (int64_t i = 0; i < w->n; i++) {
        rlar_data_row(w->data, i, w->row);
        for (int64_t j = 0; j < w->d; j++) {
            if (j > 0)
                rlar__out_put(&w->out, ",", 1);
            RLAR_TRY(put_number(w, i, j, "?"));
        }
        if (w->c > 0) {
            rlar__out_put(&w->out, ",", 1);
            put_name(&w->out, rlar__writer_label(w, i));
        }
        RLAR_TRY(end_row(w));
    }
    return RLAR_OK;
}
