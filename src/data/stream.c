/* stream.c - read a file whole or block by block, and walk through data that are in memory.
 *
 * A stream joins a source of bytes, the parser of a format and a sink. Reading whole is pumping
 * until the end and then taking everything out of the sink; reading in blocks is pumping until
 * enough rows are there. A folder of images takes the place of source and parser. */
#include "data/guess.h"
#include "data/range.h"
#include "data/window.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct rlar_stream {
    rlar_ctx *ctx;
    rlar_status failed; /* the error that ended the stream, or 0 */
    rlar_data block;    /* what is handed out; borrows all its parts */

    /* A file. */
    rlar_read_options options;
    char *path, *label; /* copies: the caller's texts may be gone when the first row comes */
    rlar_source *source;
    const rlar_format *format;
    void *state;
    bool state_open;
    rlar_folder *folder;
    rlar_sink *sink;
    rlar_label_list labels;
    bool ended;
    rlar_range range; /* where only a part is read */

    /* Data in memory. */
    const rlar_data *data;
    int64_t at;
    int64_t *remap; /* class of the data -> class of the model; NULL: the data's own */
    rlar_texts model_classes;
    int64_t *block_label, block_label_capacity;
    int64_t *class_size;
};

/* ---- Open and close ---- */

void rlar_stream_free(rlar_stream *s) {
    if (!s)
        return;
    if (s->state_open)
        s->format->close(s->state);
    rlar__free(s->state);
    rlar__folder_close(s->folder);
    rlar__sink_free(s->sink);
    rlar__source_close(s->source);
    rlar__label_list_free(&s->labels);
    rlar__free(s->path);
    rlar__free(s->label);
    rlar__free(s->remap);
    rlar__texts_free(&s->model_classes);
    rlar__free(s->block_label);
    rlar__free(s->class_size);
    rlar__free(s->block.name);
    rlar__free(s->block.format);
    rlar__free(s->block.file);
    rlar__free(s);
}

/* Name and format of the data. */
static rlar_status describe(rlar_stream *s, const char *format) {
    RLAR_TRY(
        rlar__strdup(s->ctx, s->source ? rlar__source_name(s->source) : s->path, &s->block.file));
    RLAR_TRY(rlar__base_name(s->ctx, s->path, &s->block.name));
    return rlar__strdup(s->ctx, format, &s->block.format);
}

static rlar_status open_folder(rlar_stream *s) {
    RLAR_TRY(describe(s, "images"));
    return rlar__folder_open(s->ctx, s->path, s->sink, &s->folder);
}

static rlar_status open_bytes(rlar_stream *s) {
    RLAR_TRY(rlar__format_choose(s->ctx, s->path, s->options.format, s->source, &s->format));
    RLAR_TRY(describe(s, s->format->name));
    RLAR_TRY(rlar__calloc(s->ctx, 1, s->format->state_size, "a reader", &s->state));
    s->state_open = true;
    return s->format->open(s->ctx, s->state, s->sink, &s->options, rlar__source_name(s->source));
}

/* The format that is named, or a folder. What cannot be looked at could not be opened either. */
static rlar_status is_images(rlar_stream *s, bool *images) {
    struct stat info;
    const char *format = s->options.format;
    *images = format && strcmp(format, "images") == 0;
    if (format || strcmp(s->path, "-") == 0)
        return RLAR_OK;
    if (TEMP_FAILURE_RETRY(stat(s->path, &info)) != 0)
        return rlar__fail(s->ctx, RLAR_E_IO, "%s: cannot open: %s", s->path, strerror(errno));
    *images = S_ISDIR(info.st_mode);
    return RLAR_OK;
}

/* The data file first: when both files are wrong, it is the one to hear about. Labels come before
 * the sink, since rows are given theirs as they arrive, and dropped rows take theirs with them. */
static rlar_status open_parts(rlar_stream *s, const char *path, bool whole) {
    rlar_read_options *o = &s->options;
    RLAR_TRY(rlar__strdup(s->ctx, path, &s->path));
    if (o->label) {
        RLAR_TRY(rlar__strdup(s->ctx, o->label, &s->label));
        o->label = s->label;
    }
    bool images;
    RLAR_TRY(is_images(s, &images));
    if (images && o->parts > 1)
        return rlar__range_refused(s->ctx, s->path, "it is a folder of images");
    if (!images)
        RLAR_TRY(rlar__source_file(s->ctx, path, &s->source));
    if (o->labels_file)
        RLAR_TRY(rlar__label_list_read(s->ctx, o->labels_file, &s->labels));
    const rlar_sink_setup setup = {.file = images ? s->path : rlar__source_name(s->source),
                                   .options = o,
                                   .whole = whole,
                                   .labels = o->labels_file ? &s->labels : NULL};
    RLAR_TRY(rlar__sink_new(s->ctx, &setup, &s->sink));
    RLAR_TRY(images ? open_folder(s) : open_bytes(s));
    o->format = o->labels_file = NULL; /* the caller's texts are not needed any more */
    return RLAR_OK;
}

static rlar_status open_file(rlar_ctx *ctx, const char *path, const rlar_read_options *options,
                             bool whole, rlar_stream **out) {
    rlar_read_options checked = RLAR_INIT(rlar_read_options);
    rlar_stream *s = NULL;
    rlar__begin(ctx);
    RLAR_TRY(rlar__read_options(ctx, options, whole, &checked));
    if (checked.parts > 1 || checked.part != 0)
        RLAR_TRY(rlar__range_allowed(ctx, path, &checked));
    if (checked.parts > 1 && !whole)
        return rlar__fail(ctx, RLAR_E_UNSUPPORTED,
                          "%s: a stream has all samples of a file, it cannot be read in parts",
                          path);
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *s, "a stream", &s));
    s->ctx = ctx;
    s->options = checked;
    const rlar_status status = open_parts(s, path, whole);
    if (status < 0)
        rlar_stream_free(s);
    else
        *out = s;
    return status;
}

/* ---- Pumping ---- */

/* One chunk of bytes, or one image, into the sink. */
static rlar_status pump(rlar_stream *s) {
    const char *bytes;
    size_t size = 0;
    bool more = true;
    if (s->folder) {
        RLAR_TRY(rlar__folder_next(s->folder, &more));
    } else {
        RLAR_TRY(rlar__source_next(s->source, &bytes, &size));
        s->sink->bytes += (int64_t)size;
        more = size > 0;
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no folder, so a format */
        RLAR_TRY(more ? s->format->feed(s->state, bytes, size) : s->format->finish(s->state));
    }
    if (more)
        return rlar__poll(s->ctx);
    s->ended = true;
    return rlar__sink_finish(s->sink);
}

static rlar_status read_to_end(rlar_stream *s, const rlar_window_size *size) {
    if (size && s->format && s->format->fork)
        return rlar__read_windows(s->ctx, s->source, s->format, s->state, s->sink, size);
    while (!s->ended)
        RLAR_TRY(pump(s));
    return RLAR_OK;
}

static rlar_status begin_part(rlar_stream *s, int64_t lines) {
    if (s->options.parts <= 1)
        return RLAR_OK;
    return rlar__range_begin(s->ctx, s->source, s->format, s->state, s->sink, &s->options, lines,
                             &s->range);
}

/* How many samples are not there, since nobody sees them go. A part of a file cannot tell: the
 * ranks that share a file count together (share.c). */
static void tell_dropped(const rlar_stream *s) {
    if (s->sink->dropped > 0 && s->options.parts <= 1)
        rlar__log(s->ctx, RLAR_OK, "%s: %lld of %lld samples have missing values and are left out",
                  s->block.file, (long long)s->sink->dropped, (long long)s->sink->rows);
}

/* Whole or nothing: the data exist only after the last row, the counts and the classes are right.
 * lines: before the part, if only one is read. */
static rlar_status read_once(rlar_ctx *ctx, const char *path, const rlar_read_options *options,
                             const rlar_window_size *size, int64_t lines, rlar_range *range,
                             rlar_data **out) {
    rlar_stream *s = NULL;
    rlar_data *data = NULL;
    RLAR_TRY(open_file(ctx, path, options, true, &s));
    rlar_status status = begin_part(s, lines);
    if (status >= 0)
        status = read_to_end(s, size);
    *range = s->range;
    range->begun = range->begun && s->format->go_on;
    if (status >= 0)
        status = rlar__data_new(ctx, s->block.name, s->block.format, s->block.file, &data);
    if (status >= 0)
        status = rlar__sink_take(s->sink, data);
    if (status >= 0 && s->folder)
        data->image = rlar__folder_shape(s->folder);
    if (status >= 0) {
        tell_dropped(s);
        *out = data;
    } else {
        rlar_data_free(data);
    }
    rlar_stream_free(s);
    return status;
}

/* The error once more, with its line in the file, and with what quotes may have to do with it. */
static rlar_status read_again(rlar_ctx *ctx, const char *path, const rlar_read_options *options,
                              const rlar_window_size *size, rlar_range *range, rlar_data **out) {
    int64_t lines;
    bool quoted;
    RLAR_TRY(rlar__range_before(ctx, path, range, &lines, &quoted));
    const rlar_log_fn log = ctx->log;
    ctx->log = NULL; /* all but the error was told the first time */
    const rlar_status status = read_once(ctx, path, options, size, lines, range, out);
    ctx->log = log;
    if (status != RLAR_E_DATA || !quoted)
        return status;
    char *text = NULL;
    RLAR_TRY(rlar__strdup(ctx, rlar_ctx_error(ctx), &text));
    (void)rlar__fail(
        ctx, status,
        "%s; the part begins or ends behind an odd number of quotes: a table with line "
        "ends in quoted cells has to be read whole",
        text);
    rlar__free(text);
    return status;
}

rlar_status rlar__data_read(rlar_ctx *ctx, const char *path, const rlar_read_options *options,
                            const rlar_window_size *size, rlar_data **out) {
    rlar_range range = {0};
    const rlar_status status = read_once(ctx, path, options, size, 1, &range, out);
    return status == RLAR_E_DATA && range.begun ? read_again(ctx, path, options, size, &range, out)
                                                : status;
}

rlar_status rlar_data_read(rlar_ctx *ctx, const char *path, const rlar_read_options *options,
                           rlar_data **out) {
    /* Pieces that fit the second cache, in a window that fits the third; enough pieces that no
     * thread waits long for the last. */
    static const rlar_window_size usual = {.piece = 1 << 17, .pieces = 32};
    if (!ctx || !path || !out)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_data_read: ctx, path and out must not be NULL");
    return rlar__data_read(ctx, path, options, &usual, out);
}

/* Part 0 of 2 is begun, but not read; and a file of labels is not even looked at. */
rlar_status rlar_data_splits(rlar_ctx *ctx, const char *path, const rlar_read_options *options,
                             int *can) {
    rlar_stream *s = NULL;
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    if (!ctx || !path || !can)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_data_splits: ctx, path and can must not be NULL");
    rlar__begin(ctx);
    RLAR_TRY(rlar__read_options(ctx, options, true, &o));
    const bool listed = o.labels_file != NULL;
    if (listed) {
        o.labels_file = NULL;
        o.label = "none";
    }
    o.part = 0;
    o.parts = 2;
    const rlar_log_fn log = ctx->log;
    ctx->log = NULL; /* whoever reads the file is told what is guessed of it */
    rlar_status status = open_file(ctx, path, &o, true, &s);
    if (status >= 0 && listed && !s->format->rows)
        status = RLAR_E_UNSUPPORTED;
    if (status >= 0)
        status = begin_part(s, 1);
    ctx->log = log;
    rlar_stream_free(s);
    if (status < 0 && status != RLAR_E_UNSUPPORTED)
        return status;
    *can = status >= 0;
    return rlar__forgive(ctx);
}

rlar_status rlar_stream_open(rlar_ctx *ctx, const char *path, const rlar_read_options *options,
                             rlar_stream **out) {
    if (!ctx || !path || !out)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_stream_open: ctx, path and out must not be NULL");
    return open_file(ctx, path, options, false, out);
}

/* Rows beyond max stay in the sink for the next call; none are ready while missing values are only
 * counted. */
static rlar_status next_of_file(rlar_stream *s, int64_t max, bool *any) {
    rlar__sink_recycle(s->sink);
    const bool ended = s->ended;
    while (!s->ended && rlar__sink_ready(s->sink) < max)
        RLAR_TRY(pump(s));
    if (s->ended && !ended)
        tell_dropped(s);
    *any = rlar__sink_ready(s->sink) > 0;
    return *any ? rlar__sink_block(s->sink, max, &s->block) : RLAR_OK;
}

/* ---- Data in memory ---- */

/* A view cannot be reordered without a copy, so names must match place by place. */
static rlar_status same_features(rlar_ctx *ctx, const rlar_data *data, const rlar_model *model) {
    const int64_t d = rlar_model_dims(model);
    if (data->view.d != d)
        return rlar__fail(
            ctx, RLAR_E_MODEL,
            "%s: %lld features, but the model has %lld; give the features that the model "
            "was trained with",
            data->file, (long long)data->view.d, (long long)d);
    if (data->features.count == 0 || !rlar_model_feature(model, 0))
        return RLAR_OK;
    for (int64_t j = 0; j < d; j++) {
        const char *have = rlar__texts_at(&data->features, j), *want = rlar_model_feature(model, j);
        char a[RLAR_TOKEN_SIZE], b[RLAR_TOKEN_SIZE];
        if (strcmp(have, want) != 0)
            return rlar__fail(
                ctx, RLAR_E_MODEL,
                "%s: feature %lld is '%s', but the model has '%s' there; read the data with "
                "the model to find columns by name",
                data->file, (long long)j + 1, rlar__token(have, strlen(have), a),
                rlar__token(want, strlen(want), b));
    }
    return RLAR_OK;
}

/* The data's classes are few, their samples many: look up once per class. */
static rlar_status map_classes(rlar_stream *s, const rlar_model *model) {
    rlar_class_index index = {0};
    rlar_status status = RLAR_OK;
    const int64_t known = rlar_model_classes(model), own = s->data->classes.count;
    for (int64_t r = 0; r < known && status >= 0; r++) {
        const char *name = rlar_model_class(model, r);
        status = rlar__texts_add(s->ctx, &s->model_classes, name, strlen(name));
    }
    if (status >= 0)
        status = rlar__class_index_build(s->ctx, &s->model_classes, &index);
    if (status >= 0)
        status = rlar__alloc(s->ctx, own, sizeof *s->remap, "the classes", &s->remap);
    if (status >= 0)
        status = rlar__class_index_match(s->ctx, &index, &s->data->classes, s->remap);
    rlar__class_index_free(&index);
    return status;
}

rlar_status rlar_stream_data(rlar_ctx *ctx, const rlar_data *data, const rlar_model *model,
                             rlar_stream **out) {
    rlar_stream *s = NULL;
    if (!ctx || !data || !out)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_stream_data: ctx, data and out must not be NULL");
    rlar__begin(ctx);
    if (model)
        RLAR_TRY(same_features(ctx, data, model));
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *s, "a stream", &s));
    s->ctx = ctx;
    s->data = data;
    rlar_status status = rlar__strdup(ctx, data->name, &s->block.name);
    if (status >= 0)
        status = rlar__strdup(ctx, data->format, &s->block.format);
    if (status >= 0)
        status = rlar__strdup(ctx, data->file, &s->block.file);
    if (status >= 0 && model && data->label)
        status = map_classes(s, model);
    if (status < 0)
        rlar_stream_free(s);
    else
        *out = s;
    return status;
}

/* The view of rows at..at+n of the data. CSR keeps its absolute row starts: only indptr moves. */
static rlar_view part_of(const rlar_view *whole, int64_t at, int64_t n) {
    rlar_view view = *whole;
    view.n = n;
    if (view.type == RLAR_F64)
        view.x = (const double *)view.x + at * view.stride;
    else if (view.type == RLAR_F32)
        view.x = (const float *)view.x + at * view.stride;
    else
        view.indptr += at;
    if (view.weights)
        view.weights += at;
    return view;
}

/* Labels are copied even without a model, so that a block never depends on how it was mapped. */
static rlar_status block_labels(rlar_stream *s, int64_t n) {
    const rlar_texts *classes = s->remap ? &s->model_classes : &s->data->classes;
    RLAR_TRY(rlar__grow(s->ctx, &s->block_label, &s->block_label_capacity, n,
                        sizeof *s->block_label, "the labels"));
    for (int64_t i = 0; i < n; i++) {
        const int64_t own = s->data->label[s->at + i];
        s->block_label[i] = s->remap && own >= 0 ? s->remap[own] : own;
    }
    rlar__free(s->class_size);
    s->class_size = NULL;
    RLAR_TRY(rlar__class_sizes(s->ctx, s->block_label, n, classes->count, &s->class_size));
    s->block.label = s->block_label;
    s->block.class_size = s->class_size;
    s->block.classes = *classes;
    return RLAR_OK;
}

static rlar_status next_of_data(rlar_stream *s, int64_t max, bool *any) {
    const int64_t left = s->data->view.n - s->at, n = left < max ? left : max;
    *any = n > 0;
    if (n == 0)
        return RLAR_OK;
    s->block.view = part_of(&s->data->view, s->at, n);
    s->block.features = s->data->features;
    s->block.missing = s->data->missing;
    s->block.first = s->data->first + s->at;
    if (s->data->label)
        RLAR_TRY(block_labels(s, n));
    s->at += n;
    return rlar__poll(s->ctx);
}

/* ---- The next block ---- */

rlar_status rlar_stream_next(rlar_stream *s, int64_t max_samples, const rlar_data **out) {
    bool any = false;
    if (!s || !out)
        return RLAR_E_ARG;
    rlar__begin(s->ctx);
    if (max_samples < 1)
        return rlar__fail(s->ctx, RLAR_E_ARG,
                          "rlar_stream_next: max_samples is %lld; at least 1 is needed",
                          (long long)max_samples);
    if (s->failed < 0)
        return rlar__fail(s->ctx, s->failed, "the stream of '%s' has ended with an error before",
                          s->block.name);
    const rlar_status status =
        s->data ? next_of_data(s, max_samples, &any) : next_of_file(s, max_samples, &any);
    if (status < 0) {
        s->failed = status;
        return status;
    }
    *out = any ? &s->block : NULL;
    return RLAR_OK;
}
