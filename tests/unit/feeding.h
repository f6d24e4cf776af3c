/* feeding.h - bytes fed to a parser in pieces, and the comparison of what comes out. Needs no test
 * framework: the unit tests (reading.h) and the fuzz targets share it. */
#ifndef RLAR_TEST_FEEDING_H
#define RLAR_TEST_FEEDING_H

#include <stdlib.h>
#include <string.h>

#include "core/sanitize.h"
#include "data/reader.h"
#include "data/table.h"

/* Every piece has a place of its own, off limits but for its turn: a sanitizer sees a read beyond
 * it, and one of a piece that is past. A block for each would do the same, but much slower. */
RLAR_UNSTEERED static inline rlar_status push_pieces(const rlar_format *format, void *state,
                                                     rlar_sink *sink, const char *bytes,
                                                     size_t size, size_t step) {
    const size_t place = (step < size ? step : size) / 8 * 8 + 16, places = size / step + 1;
    char *block = malloc(places * place), *piece = block;
    rlar_status status = RLAR_OK;
    RLAR_OFF_LIMITS(block, places * place);
    for (size_t at = 0; at < size && status >= 0; at += step, piece += place) {
        const size_t count = size - at < step ? size - at : step;
        RLAR_IN_REACH(piece, count);
        memcpy(piece, bytes + at, count);
        sink->bytes += (int64_t)count;
        status = format->feed(state, piece, count);
        RLAR_NO_VALUE(piece, count);
        RLAR_OFF_LIMITS(piece, count);
    }
    RLAR_IN_REACH(block, places * place);
    free(block);
    return status < 0 ? status : format->finish(state);
}

/* Read the bytes, `step` at a time, as a file named "f". */
static inline rlar_status feed(rlar_ctx *ctx, const rlar_format *format, const char *bytes,
                               size_t size, size_t step, const rlar_read_options *options,
                               rlar_data **out) {
    const rlar_read_options none = RLAR_INIT(rlar_read_options);
    const rlar_sink_setup setup = {
        .file = "f", .options = options ? options : &none, .whole = true};
    rlar_sink *sink = NULL;
    void *state = NULL;
    *out = NULL;
    rlar_status status = rlar__sink_new(ctx, &setup, &sink);
    if (status >= 0)
        status = rlar__calloc(ctx, 1, format->state_size, "a parser", &state);
    if (status < 0) {
        rlar__sink_free(sink);
        return status;
    }
    status = format->open(ctx, state, sink, setup.options, "f");
    if (status >= 0)
        status = push_pieces(format, state, sink, bytes, size, step);
    if (status >= 0)
        status = rlar__sink_finish(sink);
    if (status >= 0)
        status = rlar__data_new(ctx, "f", format->name, "f", out);
    if (status >= 0)
        status = rlar__sink_take(sink, *out);
    if (status < 0) {
        rlar_data_free(*out);
        *out = NULL;
    }
    format->close(state);
    rlar__free(state);
    rlar__sink_free(sink);
    return status;
}

/* ---- Comparing ---- */

static inline const char *texts_difference(const rlar_texts *a, const rlar_texts *b,
                                           const char *what) {
    bool same = a->count == b->count;
    for (int64_t i = 0; i < a->count && same; i++)
        same = strcmp(rlar__texts_at(a, i), rlar__texts_at(b, i)) == 0;
    return same ? NULL : what;
}

/* What differs between the samples and labels of two data sets, or NULL. A NaN is a NaN. */
static inline const char *samples_difference(const rlar_data *a, const rlar_data *b) {
    const int64_t n = a->view.n, d = a->view.d;
    const double *x = a->view.x, *y = b->view.x;
    if (n != b->view.n || d != b->view.d)
        return "the sizes";
    for (int64_t i = 0; i < n * d; i++)
        if (memcmp(&x[i], &y[i], sizeof *x) != 0 && !(x[i] != x[i] && y[i] != y[i]))
            return "the samples";
    if ((a->label == NULL) != (b->label == NULL))
        return "whether there are labels";
    if (a->label && memcmp(a->label, b->label, (size_t)n * sizeof *a->label) != 0)
        return "the labels";
    return texts_difference(&a->classes, &b->classes, "the class names");
}

/* The same with the names of the features and the count of what was missing. */
static inline const char *data_difference(const rlar_data *a, const rlar_data *b) {
    const char *what = samples_difference(a, b);
    if (!what && a->missing != b->missing)
        what = "the missing cells";
    return what ? what : texts_difference(&a->features, &b->features, "the feature names");
}

#endif
