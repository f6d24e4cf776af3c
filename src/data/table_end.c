/* table_end.c - the sink: data out.
 *
 * At the end of a file the counts are compared, missing values are reported or filled with the mean
 * of their column, sparse rows become dense, and the classes are sorted; the arrays then move into
 * an rlar_data. A stream instead hands out the rows collected so far, in place, as a data set that
 * borrows them. */
#include "data/table.h"

#include <math.h>
#include <string.h>

/* A dense table may take this many times the bytes that were read, and so much in any case. Real
 * sparse text data (one value in a thousand) stay below it; "1 1000000000:1" does not, and neither
 * do many empty rows of many attributes. */
static const double DENSE_PER_BYTE = 1000, DENSE_FREE = 64.0 * 1024 * 1024;

static double dense_bytes(int64_t n, int64_t d) {
    return (double)n * (double)d * (double)sizeof(double);
}

rlar_status rlar__sink_dense_allowed(const rlar_sink *s, const rlar_place *at, int64_t n,
                                     int64_t d) {
    if (dense_bytes(n, d) <= DENSE_PER_BYTE * (double)s->bytes + DENSE_FREE)
        return RLAR_OK;
    return rlar__fail_at(
        s->ctx, RLAR_E_DATA, at,
        "%lld features make a dense table of %.1f MB for %lld samples, from %lld bytes of text; "
        "the limit "
        "is 1000 times the text plus 64 MiB: %s",
        (long long)d, dense_bytes(n, d) / 1e6, (long long)n, (long long)s->bytes,
        s->sparse ? "check the largest index, or renumber the features"
                  : "leave out the features that no sample has");
}

rlar_status rlar__sink_partly(rlar_sink *s, const rlar_place *at, int64_t count) {
    return rlar__sink_dense_allowed(s, at, s->n + 1, count);
}

/* ---- The end of the file ---- */

static rlar_status check_rows(const rlar_sink *s) {
    if (s->rows == 0 && s->whole && !s->range)
        return rlar__fail(s->ctx, RLAR_E_DATA, "%s: %s", s->rule.file,
                          s->columns.names.count > 0 ? "header only, no samples"
                                                     : "empty file, no samples");
    if (s->missing > 0 && s->missing_rule == RLAR_MISSING_ERROR)
        return rlar__fail_at(s->ctx, RLAR_E_DATA, &s->missing_at,
                             "the value is missing, the first of %lld in the %s; fill in column "
                             "means (--missing mean) "
                             "or leave such samples out (--missing drop)",
                             (long long)s->missing, s->range ? "part" : "file");
    if (s->n == 0 && s->whole && !s->range)
        return rlar__fail(s->ctx, RLAR_E_DATA,
                          "%s: each of the %lld samples has a missing value, so none is left",
                          s->rule.file, (long long)s->rows);
    return RLAR_OK;
}

static rlar_status check_labels(const rlar_sink *s, int64_t rows) {
    if (!s->labels || s->labels->count == rows)
        return RLAR_OK;
    return rlar__fail(
        s->ctx, RLAR_E_DATA,
        "%s: %lld labels for the %lld samples of %s; one label per line and sample is needed",
        s->labels->file, (long long)s->labels->count, (long long)rows, s->rule.file);
}

rlar_status rlar__sink_finish(rlar_sink *s) {
    RLAR_TRY(check_rows(s));
    return s->range ? RLAR_OK : check_labels(s, s->rows);
}

/* ---- A part of the file ---- */

/* The columns are settled now: a part without rows has them, too. Rows are counted from the
 * beginning of the file, where labels in a file of their own go by that. */
rlar_status rlar__sink_range(rlar_sink *s, int64_t columns, int64_t before, int64_t rows) {
    s->range = true;
    s->share = 1;
    s->rows = before;
    if (!s->typed)
        RLAR_TRY(rlar__sink_settle(s, columns, false, false));
    return check_labels(s, rows);
}

/* Only rows that are kept as they come: blocks of sparse rows are made later. */
void rlar__sink_forget(rlar_sink *s) {
    s->n = s->rows = s->dropped = s->missing = s->sparse_d = 0;
    rlar__intern_free(&s->raw);
}

/* ---- Blocks of a stream ---- */

int64_t rlar__sink_ready(const rlar_sink *s) {
    return s->missing > 0 && s->missing_rule == RLAR_MISSING_ERROR ? 0 : s->n - s->first;
}

rlar_status rlar__sink_block(rlar_sink *s, int64_t max, rlar_data *block) {
    const int64_t ready = rlar__sink_ready(s), n = ready < max ? ready : max, d = s->columns.d;
    const rlar_texts *classes = s->rule.model ? &s->model_classes : &s->canonical.texts;
    int64_t *size = NULL;
    if (s->labelled)
        RLAR_TRY(rlar__class_sizes(s->ctx, s->label + s->first, n, classes->count, &size));
    rlar__free(s->class_size);
    s->class_size = size;
    block->view = (rlar_view){.size = sizeof block->view,
                              .type = RLAR_F64,
                              .n = n,
                              .d = d,
                              .x = s->x + s->first * d,
                              .stride = d};
    block->label = s->labelled ? s->label + s->first : NULL;
    block->class_size = size;
    block->classes = s->labelled ? *classes : (rlar_texts){0};
    block->features = s->columns.features;
    block->missing = s->missing;
    block->first = s->handed;
    s->first += n;
    s->handed += n;
    return RLAR_OK;
}

void rlar__sink_recycle(rlar_sink *s) {
    const int64_t left = s->n - s->first, d = s->columns.d;
    if (s->first == 0)
        return;
    /* One row more than are complete: the parser may be in the middle of it. */
    int64_t cells = (left + 1) * d;
    if (cells > s->x_capacity - s->first * d)
        cells = left * d;
    memmove(s->x, s->x + s->first * d, (size_t)cells * sizeof *s->x);
    if (s->labelled)
        memmove(s->label, s->label + s->first, (size_t)left * sizeof *s->label);
    s->n = left;
    s->first = 0;
}

/* ---- The whole table ---- */

/* Replace sum[j], of the count[j] values that are there, by their mean. */
static rlar_status means_of(const rlar_sink *s, double *sum, const int64_t *count) {
    for (int64_t j = 0; j < s->columns.d; j++) {
        if (count[j] == 0 || !isfinite(sum[j]))
            return rlar__fail(s->ctx, RLAR_E_DATA,
                              "%s: feature %lld has no mean to fill in: %s; remove the column",
                              s->rule.file, (long long)j + 1,
                              count[j] == 0 ? "all its values are missing" : "their sum overflows");
        sum[j] /= (double)count[j];
    }
    return RLAR_OK;
}

/* Sums run in the order of the samples, so the means depend on nothing but the file. */
static rlar_status fill_means(rlar_sink *s) {
    const int64_t n = s->n, d = s->columns.d;
    double *sum = NULL;
    int64_t *count = NULL;
    rlar_status status = rlar__calloc(s->ctx, d, sizeof *sum, "the means", &sum);
    if (status >= 0)
        status = rlar__calloc(s->ctx, d, sizeof *count, "the means", &count);
    for (int64_t i = 0; i < n && status >= 0; i++)
        for (int64_t j = 0; j < d; j++)
            if (!isnan(s->x[i * d + j])) {
                sum[j] += s->x[i * d + j];
                count[j]++;
            }
    if (status >= 0)
        status = means_of(s, sum, count);
    for (int64_t i = 0; i < n && status >= 0; i++)
        for (int64_t j = 0; j < d; j++)
            if (isnan(s->x[i * d + j]))
                s->x[i * d + j] = sum[j];
    rlar__free(sum);
    rlar__free(count);
    return status;
}

/* Class names and indices in their final order. Whether 1 and 1.0 are one class, as they are where
 * all labels are numbers, a part of a set cannot tell: its classes are the texts as they stand. */
static rlar_status sort_labels(rlar_sink *s, rlar_texts *classes) {
    int64_t *remap = NULL;
    if (s->rule.model)
        return rlar__texts_copy(s->ctx, &s->model_classes, classes);
    if (s->raw_classes)
        return rlar__texts_copy(s->ctx, &s->raw.texts, classes);
    rlar_status status =
        rlar__alloc(s->ctx, s->raw.texts.count, sizeof *remap, "the classes", &remap);
    if (status >= 0)
        status = rlar__classes_sort(s->ctx, &s->raw, classes, remap);
    for (int64_t i = 0; i < s->n && status >= 0; i++)
        s->label[i] = remap[s->label[i]];
    rlar__free(remap);
    return status;
}

rlar_status rlar__sink_take(rlar_sink *s, rlar_data *data) {
    if (s->sparse && s->columns.d == 0)
        RLAR_TRY(rlar__sink_densify(s));
    if (s->missing > 0 && s->missing_rule == RLAR_MISSING_MEAN)
        RLAR_TRY(fill_means(s));
    if (s->labelled) {
        RLAR_TRY(sort_labels(s, &data->classes));
        RLAR_TRY(rlar__class_sizes(s->ctx, s->label, s->n, data->classes.count, &data->class_size));
        data->label = s->label;
        s->label = NULL;
    }
    data->own_x = s->x;
    s->x = NULL;
    data->view.type = RLAR_F64;
    data->view.n = s->n;
    data->view.d = data->view.stride = s->columns.d;
    data->view.x = data->own_x;
    data->features = s->columns.features;
    s->columns.features = (rlar_texts){0};
    data->missing = s->missing;
    data->dropped = s->range ? s->dropped : 0;
    return RLAR_OK;
}
