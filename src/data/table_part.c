/* table_part.c - the sink: several pieces of a file at the same time.
 *
 * A part is a sink for the rows of one piece. It reads numbers into the place where they will stay,
 * or, if rows of pieces before it were left out, not far behind it, and numbers its label texts on
 * its own; joining the parts in order gives the table that one sink would have made. A part knows
 * neither its line in the file nor what the pieces before it hold, so whatever depends on them (an
 * error, a missing value that is one, a file of labels) is left to the whole sink: the piece is
 * then parsed again. */
#include "data/table.h"

#include <string.h>

/* Labels of a file of their own go by the number of the row. */
bool rlar__sink_divisible(const rlar_sink *s) {
    return s->typed && s->whole && !s->labels &&
           (s->missing == 0 || s->missing_rule != RLAR_MISSING_ERROR);
}

/* A row of c cells has at least c - 1 separators and an end; only the last one, which is refused
 * for it, has fewer. */
int64_t rlar__sink_most_rows(const rlar_sink *s, int64_t lines, int64_t bytes) {
    const int64_t most = s->sparse ? lines : bytes / s->columns.count + 1;
    return lines < most ? lines : most;
}

void rlar__sink_part(const rlar_sink *whole, rlar_ctx *ctx, int64_t offset, int64_t rows,
                     rlar_sink *part) {
    const int64_t d = whole->columns.d;
    *part = (rlar_sink){.ctx = ctx,
                        .rule = whole->rule,
                        .missing_rule = whole->missing_rule,
                        .whole = true,
                        .part = true,
                        .no_labels = whole->no_labels,
                        .columns = whole->columns,
                        .bytes = whole->bytes,
                        .x = d > 0 ? whole->x + (whole->n + offset) * d : NULL,
                        .x_capacity = rows * d,
                        .labelled = whole->labelled,
                        .sparse = whole->sparse,
                        .typed = true};
}

bool rlar__sink_part_good(const rlar_sink *part) {
    return part->missing == 0 || part->missing_rule != RLAR_MISSING_ERROR;
}

/* Distinct labels are looked up in the order in which they appeared. */
static rlar_status join_labels(rlar_sink *s, rlar_sink *part) {
    const rlar_place at = {.file = s->rule.file};
    RLAR_TRY(rlar__grow(s->ctx, &s->label, &s->label_capacity, s->n + part->n, sizeof *s->label,
                        "the labels"));
    for (int64_t r = 0; r < part->raw.texts.count; r++) {
        const char *text = rlar__texts_at(&part->raw.texts, r);
        RLAR_TRY(rlar__sink_class(s, &at, text, strlen(text), &part->raw_class[r]));
    }
    for (int64_t i = 0; i < part->n; i++) {
        const int64_t raw = part->label[i];
        s->label[s->n + i] = raw < 0 ? raw : part->raw_class[raw];
    }
    return RLAR_OK;
}

static rlar_status join_sparse(rlar_sink *s, rlar_sink *part) {
    RLAR_TRY(rlar__sink_next_block(s));
    rlar__sparse_free(&s->rows_now); /* it may have room, though no rows */
    part->rows_now.first = s->n;
    s->rows_now = part->rows_now;
    part->rows_now = (rlar_sparse_rows){0};
    return RLAR_OK;
}

rlar_status rlar__sink_join(rlar_sink *s, rlar_sink *part, int64_t lines) {
    const int64_t d = s->columns.d;
    if (s->labelled)
        RLAR_TRY(join_labels(s, part));
    if (d == 0)
        RLAR_TRY(join_sparse(s, part));
    else if (part->x != s->x + s->n * d)
        memmove(s->x + s->n * d, part->x, (size_t)(part->n * d) * sizeof *s->x);
    s->n += part->n;
    if (d == 0)
        RLAR_TRY(rlar__sink_next_block(s));
    if (part->sparse_d > s->sparse_d) {
        s->sparse_d = part->sparse_d;
        s->sparse_at = part->sparse_at;
        s->sparse_at.line += lines;
    }
    if (s->missing == 0 && part->missing > 0) {
        s->missing_at = part->missing_at;
        s->missing_at.line += lines;
    }
    s->rows += part->rows;
    s->dropped += part->dropped;
    s->missing += part->missing;
    return RLAR_OK;
}

void rlar__sink_part_end(rlar_sink *part) {
    rlar__free(part->label);
    rlar__sparse_free(&part->rows_now);
    rlar__intern_free(&part->raw);
    rlar__free(part->raw_class);
    rlar__free(part->label_text);
}
