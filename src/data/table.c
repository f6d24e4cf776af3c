/* table.c - the sink: rows in.
 *
 * A parser pushes rows, as cells of text, as numbers or as sparse numbers; this file finds the
 * label, reads the numbers, and decides about missing values (place.c says what is missing):
 *   error   rows go on being read, without being kept, so that the message can count all of them
 *   drop    the row is not kept
 *   keep    NaN is kept
 *   mean    NaN is kept and filled in at the end (table_end.c)
 * Faults of a row are reported when it ends: that a cell is no number matters less than that the
 * row has a cell too few.
 */
#include "data/table.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* ---- Life ---- */

/* The names are copied: a stream hands them out with its blocks. */
static rlar_status index_model_classes(rlar_sink *s) {
    const rlar_model *model = s->rule.model;
    const int64_t c = rlar_model_classes(model);
    for (int64_t r = 0; r < c; r++) {
        const char *name = rlar_model_class(model, r);
        RLAR_TRY(rlar__texts_add(s->ctx, &s->model_classes, name, strlen(name)));
    }
    return rlar__class_index_build(s->ctx, &s->model_classes, &s->model_index);
}

rlar_status rlar__sink_new(rlar_ctx *ctx, const rlar_sink_setup *setup, rlar_sink **out) {
    const rlar_read_options *o = setup->options;
    rlar_sink *s = NULL;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *s, "a table", &s));
    s->ctx = ctx;
    s->rule = (rlar_column_rule){.file = setup->file,
                                 .label = o->label,
                                 .label_elsewhere = setup->labels != NULL,
                                 .label_only = setup->label_only,
                                 .features = o->model ? rlar_model_dims(o->model) : o->features,
                                 .model = o->model};
    s->whole = setup->whole;
    s->quiet = o->part > 0;
    s->raw_classes = o->parts > 0;
    s->labels = setup->labels;
    s->no_labels = o->label && strcmp(o->label, "none") == 0;
    /* With a model, the mean that counts is that of the training data: prediction fills it in. */
    s->missing_rule = o->model && o->missing == RLAR_MISSING_MEAN ? RLAR_MISSING_KEEP : o->missing;
    const rlar_status status = o->model ? index_model_classes(s) : RLAR_OK;
    if (status < 0)
        rlar__sink_free(s);
    else
        *out = s;
    return status;
}

void rlar__sink_free(rlar_sink *s) {
    if (!s)
        return;
    rlar__columns_free(&s->columns);
    rlar__free(s->x);
    rlar__free(s->label);
    rlar__sparse_free(&s->rows_now);
    for (int64_t b = 0; b < s->blocks; b++)
        rlar__sparse_free(&s->rows_before[b]);
    rlar__free(s->rows_before);
    rlar__intern_free(&s->raw);
    rlar__free(s->raw_class);
    rlar__class_index_free(&s->model_index);
    rlar__intern_free(&s->canonical);
    rlar__texts_free(&s->model_classes);
    rlar__free(s->class_size);
    rlar__free(s->label_text);
    rlar__free(s);
}

/* ---- Labels ---- */

rlar_status rlar__sink_class(rlar_sink *s, const rlar_place *at, const char *text, size_t length,
                             int64_t *out) {
    const int64_t known = s->raw.texts.count;
    int64_t raw, class_index;
    RLAR_TRY(rlar__intern(s->ctx, &s->raw, text, length, &raw));
    if (raw < known) {
        *out = s->raw_class[raw];
        return RLAR_OK;
    }
    rlar_place where = *at;
    where.column = s->columns.label + 1;
    RLAR_TRY(rlar__sink_check_name(s, &where, "class name", text, length));
    RLAR_TRY(rlar__grow(s->ctx, &s->raw_class, &s->raw_capacity, raw + 1, sizeof *s->raw_class,
                        "the classes"));
    if (s->part || (s->whole && !s->rule.model)) {
        class_index = raw;
    } else if (s->rule.model) {
        class_index = rlar__class_index_find(&s->model_index, text, length);
    } else {
        char buf[RLAR_NUMBER_SIZE];
        const int canonical = rlar__label_canonical(text, length, buf);
        RLAR_TRY(rlar__intern(s->ctx, &s->canonical, canonical < 0 ? text : buf,
                              canonical < 0 ? length : (size_t)canonical, &class_index));
    }
    *out = s->raw_class[raw] = class_index;
    return RLAR_OK;
}

/* Keep the label of the row until the row is known to be kept: a dropped row makes no class. */
static rlar_status hold_name(rlar_sink *s, const char *text, size_t length) {
    RLAR_TRY(rlar__grow(s->ctx, &s->label_text, &s->label_text_capacity, (int64_t)length + 1, 1,
                        "a label"));
    memcpy(s->label_text, text, length);
    s->label_length = length;
    return RLAR_OK;
}

/* The same for a cell: without blanks around it, and it may be missing. */
static rlar_status hold_label(rlar_sink *s, const char *text, size_t length) {
    while (length > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        length--;
    }
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    s->label_missing = rlar__cell_missing(text, length);
    return hold_name(s, text, length);
}

/* As text, so that 1 in an array and "1" in a table are one class. */
static rlar_status hold_number_label(rlar_sink *s, double value) {
    char buf[RLAR_NUMBER_SIZE];
    const int length = rlar__format_double(value, buf);
    return hold_label(s, buf, (size_t)length);
}

/* The label of this row from the file of labels. Past its end a whole read goes on, to compare the
 * counts. */
static rlar_status hold_listed_label(rlar_sink *s) {
    const rlar_label_list *list = s->labels;
    if (s->rows > list->count && !s->whole)
        return rlar__fail(
            s->ctx, RLAR_E_DATA,
            "%s: only %lld labels, but %s has more samples; one label per sample is needed",
            list->file, (long long)list->count, s->rule.file);
    const int64_t index = s->rows > list->count ? RLAR_CLASS_MISSING : list->index[s->rows - 1];
    s->label_missing = index == RLAR_CLASS_MISSING;
    if (s->label_missing)
        return RLAR_OK;
    const char *text = rlar__texts_at(&list->texts.texts, index);
    return hold_name(s, text, strlen(text));
}

/* ---- The end of a row ---- */

/* The place is kept, not the text: the message has to wait for the count. */
static void count_missing(rlar_sink *s, const rlar_place *at) {
    if (s->missing == 0) {
        s->missing_at = *at;
        s->missing_at.column = s->row_missing_column;
    }
    s->missing += s->row_missing;
}

/* A row without a label can be predicted, or dropped, but not learned from; in a list of labels it
 * waits for the table to decide. */
static rlar_status unlabelled(rlar_sink *s, const rlar_place *at, bool *keep) {
    rlar_place where = *at;
    where.column = s->columns.label + 1;
    if (s->labels) /* one per line */
        where = (rlar_place){.file = s->labels->file, .line = s->rows, .column = 1};
    *keep = s->rule.model != NULL || s->rule.label_only;
    if (*keep || s->missing_rule == RLAR_MISSING_DROP || (s->labels && s->rows > s->labels->count))
        return RLAR_OK;
    return rlar__fail_at(
        s->ctx, RLAR_E_DATA, &where,
        "the label is missing; every sample needs one (--missing drop leaves such samples out)");
}

/* Is the finished row kept? */
static rlar_status judge_row(rlar_sink *s, const rlar_place *at, bool *keep) {
    *keep = true;
    if (s->row_missing > 0) {
        count_missing(s, at);
        *keep = s->missing_rule == RLAR_MISSING_MEAN || s->missing_rule == RLAR_MISSING_KEEP;
    }
    if (s->missing > 0 && s->missing_rule == RLAR_MISSING_ERROR)
        *keep = false; /* only counting from here on */
    if (*keep && s->labelled && s->label_missing)
        RLAR_TRY(unlabelled(s, at, keep));
    if (!*keep)
        s->dropped++;
    return RLAR_OK;
}

rlar_status rlar__sink_end(rlar_sink *s, const rlar_place *at) {
    bool keep;
    s->rows++;
    if (s->labels)
        RLAR_TRY(hold_listed_label(s));
    RLAR_TRY(judge_row(s, at, &keep));
    if (!keep)
        return RLAR_OK;
    if (s->labelled) {
        RLAR_TRY(rlar__grow(s->ctx, &s->label, &s->label_capacity, s->n + 1, sizeof *s->label,
                            "the labels"));
        s->label[s->n] = RLAR_CLASS_MISSING;
        if (!s->label_missing)
            RLAR_TRY(rlar__sink_class(s, at, s->label_text, s->label_length, &s->label[s->n]));
    }
    s->n++;
    return RLAR_OK;
}

rlar_status rlar__sink_reserve(rlar_sink *s, int64_t rows) {
    const int64_t d = s->columns.d, n = s->n + rows;
    int64_t need;
    if (__builtin_mul_overflow(n, d, &need))
        return rlar__fail(s->ctx, RLAR_E_TOO_LARGE,
                          "%s: %lld samples of %lld features do not fit 64 bits", s->rule.file,
                          (long long)n, (long long)d);
    if (need <= s->x_capacity)
        return RLAR_OK;
    if (s->part)
        return rlar__fail(s->ctx, RLAR_E_INTERNAL, "%s: more rows than lines; report this",
                          s->rule.file);
    if (s->share <= 0)
        return rlar__grow(s->ctx, &s->x, &s->x_capacity, need, sizeof *s->x, "the samples");
    /* A little more than the rows so far promise, so that one copy is the last; a quarter more than
     * now, so that a promise that fails often costs no more than time. */
    const double promised = 1.02 * (double)n / s->share * (double)d;
    int64_t larger = s->x_capacity + s->x_capacity / 4;
    if (promised < 9e18 && (int64_t)promised > larger)
        larger = (int64_t)promised;
    return rlar__resize(s->ctx, &s->x, &s->x_capacity, larger > need ? larger : need, sizeof *s->x,
                        "the samples");
}

rlar_status rlar__sink_begin(rlar_sink *s) {
    s->cell = s->row_missing = s->row_missing_column = 0;
    s->bad = NULL;
    s->label_missing = false;
    s->label_length = 0;
    return rlar__sink_reserve(s, 1);
}

void rlar__sink_missing(rlar_sink *s, int64_t column) {
    if (s->row_missing++ == 0)
        s->row_missing_column = column;
}

static rlar_status ragged(rlar_sink *s, const rlar_place *at, int64_t found) {
    rlar_place where = *at;
    where.column = 0;
    return rlar__fail_at(
        s->ctx, RLAR_E_DATA, &where,
        "the row has %lld cells, but the table has %lld columns; check the separator and "
        "the quotes",
        (long long)found, (long long)s->columns.count);
}

/* ---- Rows of cells ---- */

rlar_status rlar__sink_row(rlar_sink *s, const rlar_place *at) {
    if (s->columns.count == 0)
        return rlar__fail_at(s->ctx, RLAR_E_INTERNAL, at, "a row before its columns; report this");
    if (!s->typed)
        RLAR_TRY(rlar__sink_settle(s, s->columns.count, false, false));
    return rlar__sink_begin(s);
}

static bool is_infinity(const char *text, size_t length) {
    const size_t sign = length > 0 && (*text == '+' || *text == '-');
    return (length - sign == 3 && strncasecmp(text + sign, "inf", 3) == 0) ||
           (length - sign == 8 && strncasecmp(text + sign, "infinity", 8) == 0);
}

/* Remember the first bad cell and say what is most likely wrong with it. */
static void note_bad(rlar_sink *s, const rlar_place *at, const char *text, size_t length) {
    if (s->bad)
        return;
    const int64_t column = s->cell - 1;
    if (is_infinity(text, length))
        s->bad = "is not finite; values must be finite, or missing";
    else if (rlar__is_number(text, length))
        s->bad = "is larger than the largest double, 1.8e308; rescale the column";
    else if (s->columns.nominal && s->columns.nominal[column])
        s->bad = "is a name, but features must be numeric; encode the column as numbers, or choose "
                 "it as the label";
    else if (memchr(text, ',', length))
        s->bad = "is not a number; write the decimal point as '.'";
    else if (at->line == 1 && s->columns.names.count == 0)
        s->bad = "is not a number; if the first line holds the names of the columns, use --header "
                 "yes";
    else
        s->bad = "is not a number; expected a number or a missing value (empty, ?, NA, nan)";
    s->bad_at = *at;
    rlar__token(text, length, s->bad_token);
}

rlar_status rlar__sink_cell(rlar_sink *s, const rlar_place *at, const char *text, size_t length) {
    const int64_t column = s->cell++;
    if (column >= s->columns.count)
        return RLAR_OK; /* counted, and reported at the end of the row */
    if (column == s->columns.label)
        return hold_label(s, text, length);
    const int64_t j = s->columns.target[column];
    if (j < 0)
        return RLAR_OK;
    double *x = &s->x[s->n * s->columns.d + j];
    if (rlar__parse_double(text, length, x))
        return RLAR_OK;
    *x = NAN;
    if (rlar__cell_missing(text, length))
        rlar__sink_missing(s, column + 1);
    else
        note_bad(s, at, text, length);
    return RLAR_OK;
}

rlar_status rlar__sink_quoted(rlar_sink *s, const rlar_place *at, const char *text, size_t length) {
    if (s->cell != s->columns.label || length == 0)
        return rlar__sink_cell(s, at, text, length);
    s->cell++;
    return hold_name(s, text, length);
}

int64_t rlar__sink_slots(rlar_sink *s, double **x) {
    const int64_t column = s->cell;
    if (column >= s->columns.count || s->columns.target[column] < 0)
        return 0;
    *x = &s->x[s->n * s->columns.d + s->columns.target[column]];
    return s->columns.run[column];
}

void rlar__sink_filled(rlar_sink *s, int64_t count) {
    s->cell += count;
}

rlar_status rlar__sink_row_end(rlar_sink *s, const rlar_place *at) {
    if (s->cell != s->columns.count)
        return ragged(s, at, s->cell);
    if (!s->bad)
        return rlar__sink_end(s, at);
    const char *name = rlar__texts_at(&s->columns.names, s->bad_at.column - 1);
    char token[RLAR_TOKEN_SIZE];
    return rlar__fail_at(
        s->ctx, RLAR_E_DATA, &s->bad_at, "'%s'%s%s%s %s", s->bad_token, name ? " in column '" : "",
        name ? rlar__token(name, strlen(name), token) : "", name ? "'" : "", s->bad);
}

/* ---- Rows of numbers ---- */

/* One value of a row of numbers, to where its column belongs. */
static rlar_status put_number(rlar_sink *s, const rlar_place *at, int64_t column, double value) {
    const int64_t j = s->columns.target[column];
    if (j < 0)
        return RLAR_OK;
    if (isinf(value)) {
        rlar_place where = *at;
        where.column = column + 1;
        return rlar__fail_at(s->ctx, RLAR_E_DATA, &where,
                             "'%s' is not finite; values must be finite, or NaN for missing",
                             value < 0 ? "-inf" : "inf");
    }
    if (isnan(value))
        rlar__sink_missing(s, column + 1);
    s->x[s->n * s->columns.d + j] = value;
    return RLAR_OK;
}

rlar_status rlar__sink_label_column(rlar_sink *s, int64_t columns, int64_t *out) {
    if (!s->typed)
        RLAR_TRY(rlar__sink_settle(s, columns, false, false));
    *out = s->columns.label;
    return RLAR_OK;
}

rlar_status rlar__sink_label(rlar_sink *s, const rlar_place *at, const char *label, size_t length) {
    if (label)
        return s->given_names ? hold_name(s, label, length) : hold_label(s, label, length);
    s->label_missing = true;
    if (s->labelled && !s->labels && s->columns.label < 0 && !s->rule.model)
        return rlar__fail_at(s->ctx, RLAR_E_DATA, at,
                             "the row has no label, but rows before it have one");
    return RLAR_OK;
}

void rlar__sink_given_names(rlar_sink *s) {
    s->given_names = true;
}

rlar_status rlar__sink_numbers(rlar_sink *s, const rlar_place *at, int64_t d, const double *x,
                               const char *label, size_t label_length) {
    if (!s->typed)
        RLAR_TRY(rlar__sink_settle(s, d, label != NULL, false));
    if (d != s->columns.count)
        return ragged(s, at, d);
    RLAR_TRY(rlar__sink_begin(s));
    RLAR_TRY(rlar__sink_label(s, at, label, label_length));
    if (!label && s->columns.label >= 0)
        RLAR_TRY(hold_number_label(s, x[s->columns.label]));
    for (int64_t column = 0; column < d; column++)
        RLAR_TRY(put_number(s, at, column, x[column]));
    return rlar__sink_end(s, at);
}
