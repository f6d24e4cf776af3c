/* readers.h - the promises of every reader of tables: the same table or the same refusal however
 * the bytes are cut, and what was read can be written and read again.
 *
 * An input begins with four characters that choose the options, 0000 being the defaults: header and
 * missing, the label column, the size of the pieces, the format to write. The rest is the file. */
#ifndef RLAR_FUZZ_READERS_H
#define RLAR_FUZZ_READERS_H

#include "data/window.h"
#include "feeding.h"
#include "fuzz.h"

/* A sparse row of a few bytes may be as wide as memory allows; writing it out takes long. */
enum { LARGEST_WRITTEN = 4096 };

typedef struct reader_choices {
    rlar_read_options options;
    size_t piece;
    const char *output; /* a format */
} reader_choices;

static inline reader_choices reader_choose(fuzz_bytes *b) {
    static const char *const labels[] = {NULL, "none", "1", "-1", "class", "2"};
    static const size_t pieces[] = {1, 7, 16, 61, 2};
    static const char *const formats[] = {"csv", "arff", "npz", "libsvm", "npy", "tsv"};
    reader_choices c = {.options = RLAR_INIT(rlar_read_options)};
    const unsigned rules = fuzz_choice(b, 12);
    c.options.header = (int)(rules % 3) == 2 ? -1 : (int)(rules % 3);
    c.options.missing = (rlar_missing)(rules / 3);
    c.options.label = labels[fuzz_choice(b, 6)];
    c.piece = pieces[fuzz_choice(b, 5)];
    c.output = formats[fuzz_choice(b, 6)];
    return c;
}

/* Two ways to read the same bytes: both refuse them with the same words, or both have the same
 * data. What one way has no memory for the other may have. */
static inline void reader_compare(rlar_status a, const char *text_a, const rlar_data *data_a,
                                  rlar_status b, const char *text_b, const rlar_data *data_b,
                                  const char *how) {
    if (a == RLAR_E_NOMEM || b == RLAR_E_NOMEM)
        return;
    FUZZ_CHECK(a == b && (a >= 0 || strcmp(text_a, text_b) == 0),
               "%s: status %d '%s' instead of %d '%s'", how, (int)b, text_b, (int)a, text_a);
    const char *what = a >= 0 ? data_difference(data_a, data_b) : NULL;
    FUZZ_CHECK(!what, "%s: %s differ", how, what);
}

/* Piece by piece. `text` is the refusal of the whole, here and below. */
static inline void reader_check_pieces(const rlar_format *format, const reader_choices *c,
                                       const fuzz_bytes *b, rlar_status status, const char *text,
                                       const rlar_data *data) {
    rlar_ctx *ctx = fuzz_ctx();
    rlar_data *other = NULL;
    rlar__begin(ctx);
    const rlar_status cut =
        feed(ctx, format, (const char *)b->at, b->left, c->piece, &c->options, &other);
    reader_compare(status, text, data, cut, rlar_ctx_error(ctx), other, "in pieces");
    rlar_data_free(other);
}

/* As a file in windows of a few pieces. */
static inline void reader_check_windows(const rlar_format *format, const reader_choices *c,
                                        const fuzz_bytes *b, rlar_status status, const char *text,
                                        const rlar_data *data) {
    static fuzz_file file;
    rlar_ctx *ctx = fuzz_ctx();
    rlar_data *other = NULL;
    rlar_read_options o = c->options;
    o.format = format->name;
    const rlar_window_size size = {.piece = (int64_t)c->piece + 6, .pieces = 3};
    fuzz_file_set(&file, b->at, b->left);
    const rlar_status windows = rlar__data_read(ctx, file.path, &o, &size, &other);
    const char *found = rlar_ctx_error(ctx);
    const size_t length = strlen(file.path);
    const bool named = windows < 0 && strncmp(found, file.path, length) == 0 && text[0] == 'f';
    reader_compare(status, named ? text + 1 : text, data, windows, named ? found + length : found,
                   other, "in windows");
    rlar_data_free(other);
}

/* Written and read again, nothing has changed, unless the format has no way to say it. */
static inline void reader_check_written(const reader_choices *c, const rlar_data *data) {
    rlar_ctx *ctx = fuzz_ctx();
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    rlar_data *again = NULL;
    const char *path = fuzz_output();
    const bool own = strcmp(c->output, "libsvm") == 0 || strcmp(c->output, "npz") == 0;
    rlar__begin(ctx);
    const rlar_status written = rlar_data_write(ctx, data, path, c->output);
    if (written < 0) {
        fuzz_check_refusal(ctx, written);
        FUZZ_CHECK(written == RLAR_E_ARG || written == RLAR_E_DATA || written == RLAR_E_NOMEM,
                   "%s cannot be written: %s", c->output, rlar_ctx_error(ctx));
        return;
    }
    o.format = c->output;
    o.missing = RLAR_MISSING_KEEP;
    o.header = 1; /* always written, and not to be guessed where names are numbers */
    o.label = !data->label ? "none" : own ? NULL : "-1";
    if (!data->label && strcmp(c->output, "libsvm") == 0)
        o.label = NULL;
    const rlar_status read = rlar_data_read(ctx, path, &o, &again);
    unlink(path);
    if (read == RLAR_E_NOMEM)
        return;
    FUZZ_CHECK(read >= 0, "written as %s, it cannot be read: %s", c->output, rlar_ctx_error(ctx));
    const char *what = samples_difference(data, again);
    FUZZ_CHECK(!what, "written as %s and read again, %s differ", c->output, what);
    const bool names = strcmp(c->output, "libsvm") != 0 && strcmp(c->output, "npy") != 0;
    what = texts_difference(&data->features, &again->features, "the feature names");
    FUZZ_CHECK(!what || !names || data->features.count == 0,
               "written as %s and read again, %s differ", c->output, what);
    rlar_data_free(again);
}

/* What a data set promises by itself. */
static inline void reader_check_data(const rlar_data *data) {
    FUZZ_CHECK(data->view.n > 0 && data->view.d > 0, "an empty table was accepted");
    for (int64_t i = 0; i < data->view.n && data->label; i++)
        FUZZ_CHECK(data->label[i] >= 0 && data->label[i] < data->classes.count,
                   "sample %lld has class %lld of %lld", (long long)i, (long long)data->label[i],
                   (long long)data->classes.count);
}

/* What a target says of the table that was read whole, by a plain reading of its own. */
typedef void reader_literal(const reader_choices *c, const fuzz_bytes *b, const rlar_data *data);

/* One request that is no finding beyond FUZZ_MEMORY: of LIBSVM the dense table (table_end.c), of
 * NPZ eight bytes for each that a member is unpacked to (zip.c). */
static inline int64_t reader_justified(const rlar_format *format, size_t size) {
    if (format == &rlar__format_libsvm)
        return fuzz_dense(size);
    return format == &rlar__format_npz ? 8 * fuzz_unpacked(size) : 0;
}

/* All of it for one format; `literal` may be NULL. Further ways to read take turns with writing;
 * where there is one way only, or nothing to write, the pieces have that turn too. */
static inline rlar_status reader_check(const rlar_format *format, const reader_choices *c,
                                       const fuzz_bytes *b, reader_literal *literal) {
    rlar_ctx *ctx = fuzz_ctx();
    rlar_data *data = NULL;
    char text[RLAR_ERROR_SIZE] = "";
    rlar__begin(ctx);
    const rlar_status status =
        feed(ctx, format, (const char *)b->at, b->left, b->left + 1, &c->options, &data);
    if (status < 0) {
        fuzz_check_refusal(ctx, status);
        snprintf(text, sizeof text, "%s", rlar_ctx_error(ctx));
    } else {
        reader_check_data(data);
        if (literal)
            literal(c, b, data);
    }
    /* From a file, gzip would be unpacked on the way. */
    const bool windows = format->fork && !(b->left >= 2 && b->at[0] == 0x1f && b->at[1] == 0x8b);
    const bool written = status >= 0 && data->view.n * data->view.d <= LARGEST_WRITTEN;
    if (fuzz_turn(b, 3, 0) || (!windows && fuzz_turn(b, 3, 1)) || (!written && fuzz_turn(b, 3, 2)))
        reader_check_pieces(format, c, b, status, text, data);
    if (windows && fuzz_turn(b, 3, 1))
        reader_check_windows(format, c, b, status, text, data);
    if (written && fuzz_turn(b, 3, 2))
        reader_check_written(c, data);
    rlar_data_free(data);
    fuzz_check_request(ctx, reader_justified(format, b->left));
    return status;
}

/* The whole of a target. */
static inline int reader_run(const rlar_format *format, const uint8_t *bytes, size_t size,
                             reader_literal *literal) {
    fuzz_bytes b = {bytes, size};
    reader_choices c = reader_choose(&b);
    /* There a label column is refused, which one of the choices is enough to see. */
    if (format == &rlar__format_libsvm && c.options.label && strpbrk(c.options.label, "12"))
        c.options.label = NULL;
    (void)reader_check(format, &c, &b, literal);
    return 0;
}

#endif
