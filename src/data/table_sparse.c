/* table_sparse.c - the sink: sparse rows.
 *
 * A sparse file tells its width only at its end, so its rows are kept as they stand, in blocks, and
 * become dense rows then, block by block at the same time. Where the width is known before (a
 * model, or the caller) it is no other way: whether so small a text may become so large a table can
 * be told only when all of it was read, however it was cut. Rows of a stream, which hands them out
 * a few at a time, become dense at once. */
#include "data/table.h"

#include <math.h>
#include <string.h>

void rlar__sparse_free(rlar_sparse_rows *rows) {
    rlar__free(rows->end);
    rlar__free(rows->index);
    rlar__free(rows->value);
    *rows = (rlar_sparse_rows){0};
}

/* ---- Rows in ---- */

/* Indices increase, so the last one is the width of the row. */
static rlar_status check_sparse(rlar_sink *s, const rlar_place *at, int64_t count,
                                const int64_t *index, const double *value) {
    const int64_t width = count > 0 ? index[count - 1] + 1 : 0;
    if (s->rule.features > 0 && width > s->rule.features)
        return rlar__fail_at(s->ctx, s->rule.model ? RLAR_E_MODEL : RLAR_E_DATA, at,
                             "index %lld is beyond the %lld features %s", (long long)width,
                             (long long)s->rule.features,
                             s->rule.model ? "of the model" : "expected");
    for (int64_t e = 0; e < count; e++) {
        if (isinf(value[e]))
            return rlar__fail_at(s->ctx, RLAR_E_DATA, at, "the value of index %lld is not finite",
                                 (long long)index[e] + 1);
        if (isnan(value[e]))
            rlar__sink_missing(s, 0);
    }
    if (width > s->sparse_d) {
        s->sparse_d = width;
        s->sparse_at = *at;
    }
    return RLAR_OK;
}

/* The width is known only at the end of the file: keep what stands there, not what it may become.
 * A row that is not kept in the end is overwritten by the next. */
static rlar_status keep_sparse(rlar_sink *s, int64_t count, const int64_t *index,
                               const double *value) {
    rlar_sparse_rows *r = &s->rows_now;
    const int64_t row = s->n - r->first, start = row == 0 ? 0 : r->end[row - 1];
    RLAR_TRY(
        rlar__grow(s->ctx, &r->end, &r->end_capacity, row + 1, sizeof *r->end, "the sparse rows"));
    RLAR_TRY(rlar__grow(s->ctx, &r->index, &r->index_capacity, start + count, sizeof *r->index,
                        "the sparse rows"));
    RLAR_TRY(rlar__grow(s->ctx, &r->value, &r->value_capacity, start + count, sizeof *r->value,
                        "the sparse rows"));
    if (count > 0) {
        memcpy(r->index + start, index, (size_t)count * sizeof *index);
        memcpy(r->value + start, value, (size_t)count * sizeof *value);
    }
    r->end[row] = start + count;
    return RLAR_OK;
}

rlar_status rlar__sink_sparse(rlar_sink *s, const rlar_place *at, int64_t count,
                              const int64_t *index, const double *value, const char *label,
                              size_t label_length) {
    if (!s->typed)
        RLAR_TRY(rlar__sink_settle(s, 0, label != NULL, true));
    const int64_t d = s->columns.d;
    RLAR_TRY(rlar__sink_begin(s));
    RLAR_TRY(rlar__sink_label(s, at, label, label_length));
    RLAR_TRY(check_sparse(s, at, count, index, value));
    if (d == 0) {
        RLAR_TRY(keep_sparse(s, count, index, value));
    } else {
        double *row = s->x + s->n * d;
        memset(row, 0, (size_t)d * sizeof *row);
        for (int64_t e = 0; e < count; e++)
            row[index[e]] = value[e];
    }
    return rlar__sink_end(s, at);
}

rlar_status rlar__sink_next_block(rlar_sink *s) {
    rlar_sparse_rows *r = &s->rows_now;
    r->n = s->n - r->first;
    if (r->n > 0) {
        RLAR_TRY(rlar__grow(s->ctx, &s->rows_before, &s->blocks_capacity, s->blocks + 1,
                            sizeof *s->rows_before, "the sparse rows"));
        s->rows_before[s->blocks++] = *r;
        *r = (rlar_sparse_rows){0};
    }
    r->first = s->n;
    return RLAR_OK;
}

/* ---- Data out ---- */

/* One block; its memory is given back at once. */
static rlar_status fill_block(void *arg, int64_t index) {
    rlar_sink *s = arg;
    rlar_sparse_rows *r = &s->rows_before[index];
    const int64_t d = s->columns.d;
    for (int64_t i = 0, e = 0; i < r->n; i++) {
        double *row = s->x + (r->first + i) * d;
        memset(row, 0, (size_t)d * sizeof *row);
        for (; e < r->end[i]; e++)
            row[r->index[e]] = r->value[e];
    }
    rlar__sparse_free(r);
    return RLAR_OK;
}

rlar_status rlar__sink_densify(rlar_sink *s) {
    const int64_t n = s->n, d = s->rule.features > 0 ? s->rule.features : s->sparse_d;
    const rlar_place none = {.file = s->rule.file};
    if (d == 0 && s->range)
        return RLAR_OK; /* another part may have a feature */
    if (d == 0)
        return rlar__fail(s->ctx, RLAR_E_DATA,
                          "%s: no row has a feature; expected 'label index:value ...'",
                          s->rule.file);
    RLAR_TRY(rlar__sink_dense_allowed(s, s->sparse_d > 0 ? &s->sparse_at : &none, n,
                                      d)); /* so the product fits */
    const int64_t cells = n * d;
    RLAR_TRY(rlar__sink_next_block(s));
    rlar__free(s->x);
    s->x_capacity = 0;
    RLAR_TRY(rlar__alloc(s->ctx, cells, sizeof *s->x, "the samples", &s->x));
    s->x_capacity = cells;
    s->columns.d = d;
    return rlar__parallel(s->ctx, s->blocks, fill_block, s);
}
