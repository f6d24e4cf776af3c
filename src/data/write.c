/* write.c - writing data: the choice of the format, and one atomic file around it.
 *
 * Numbers are written so that they read back exactly. The bytes depend on the data alone: no dates,
 * no names of machines. Data without labels are written without a label column. */
#include "data/reader.h"
#include "data/write.h"

#include <math.h>
#include <string.h>
#include <strings.h>

typedef struct writer_format {
    const char *name, *ending;
    rlar_status (*write)(rlar_writer *w);
} writer_format;

static const writer_format formats[] = {
    {"csv", ".csv", rlar__write_csv},          {"tsv", ".tsv", rlar__write_tsv},
    {"libsvm", ".libsvm", rlar__write_libsvm}, {"svm", ".svm", rlar__write_libsvm},
    {"npy", ".npy", rlar__write_npy},          {"npz", ".npz", rlar__write_npz},
    {"arff", ".arff", rlar__write_arff},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static const char choices[] = "csv, tsv, libsvm (.svm), npy, npz or arff, each also .gz";

/* In any case; a name that is nothing but the ending does not count. */
static bool ends_with(const char *path, size_t length, const char *ending) {
    const size_t size = strlen(ending);
    return length > size && strncasecmp(path + length - size, ending, size) == 0;
}

/* The format by name, else by the ending; NULL, with the text in the context, when there is none.
 */
static const writer_format *choose(rlar_ctx *ctx, const char *path, const char *format,
                                   bool *gzip) {
    size_t length = strlen(path);
    *gzip = ends_with(path, length, ".gz");
    if (*gzip)
        length -= 3;
    for (int i = 0; i < FORMATS && strcmp(path, "-") != 0; i++)
        if (format ? strcmp(format, formats[i].name) == 0
                   : ends_with(path, length, formats[i].ending))
            return &formats[i];
    if (strcmp(path, "-") == 0)
        (void)rlar__fail(ctx, RLAR_E_ARG,
                         "data cannot be written to standard output; name a file ending in %s",
                         choices);
    else
        (void)rlar__fail(ctx, RLAR_E_ARG, "%s: cannot write %s%.40s; choose %s", path,
                         format ? "the format " : "by this ending", format ? format : "", choices);
    return NULL;
}

const char *rlar__writer_label(const rlar_writer *w, int64_t sample) {
    return rlar__texts_at(&w->data->classes, w->data->label[sample]);
}

bool rlar__writer_numeric(const rlar_writer *w, double *value, bool *whole, const char **text) {
    char buf[RLAR_NUMBER_SIZE];
    *whole = true;
    for (int64_t i = 0; i < w->c; i++) {
        const char *name = rlar__texts_at(&w->data->classes, i);
        const int length = rlar__label_canonical(name, strlen(name), buf);
        if (length < 0 || !rlar__parse_double(buf, (size_t)length, &value[i])) {
            *text = name;
            return false;
        }
        *whole = *whole && floor(value[i]) == value[i];
    }
    return true;
}

/* A reader takes the first column named label, then class, for the label; a feature of that name
 * must not win. */
const char *rlar__writer_label_column(const rlar_writer *w) {
    bool label = false, class_taken = false;
    for (int64_t j = 0; j < w->data->features.count; j++) {
        const char *name = rlar__texts_at(&w->data->features, j);
        label = label || strcasecmp(name, "label") == 0;
        class_taken = class_taken || strcasecmp(name, "class") == 0;
    }
    if (label)
        rlar__log(
            w->ctx, RLAR_OK,
            "a feature is named label: name the column \"class\" when the file is read again");
    return class_taken && !label ? "label" : "class";
}

int rlar_name_needs_quotes(const char *text) {
    const size_t length = strlen(text);
    return rlar__cell_missing(text, length) || strchr(" \t", text[0]) ||
           strchr(" \t", text[length - 1]);
}

rlar_status rlar__writer_without_quotes(const rlar_writer *w, const char *format) {
    char token[RLAR_TOKEN_SIZE];
    for (int64_t i = 0; i < w->c; i++) {
        const char *name = rlar__texts_at(&w->data->classes, i);
        if (rlar_name_needs_quotes(name))
            return rlar__fail(
                w->ctx, RLAR_E_ARG,
                "class '%s' cannot be written as %s, which has no quotes: it would be read as %s; "
                "rename it or use csv or arff",
                rlar__token(name, strlen(name), token), format,
                rlar__cell_missing(name, strlen(name)) ? "a missing label" : "one without blanks");
    }
    return RLAR_OK;
}

/* Data read with a model may hold labels that the model does not know, and their text is gone; or
 * samples without any. */
static rlar_status check_labels(const rlar_writer *w) {
    for (int64_t i = 0; i < w->n && w->c > 0; i++)
        if (w->data->label[i] < 0)
            return rlar__fail(w->ctx, RLAR_E_DATA,
                              "sample %lld has %s; read the data without the model",
                              (long long)i + 1,
                              w->data->label[i] == RLAR_CLASS_MISSING
                                  ? "no label"
                                  : "a class that is unknown to the model it was read with");
    return RLAR_OK;
}

rlar_status rlar_write_check(rlar_ctx *ctx, const char *path, const char *format) {
    bool gzip;
    if (!ctx || !path)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_write_check: ctx and path are needed");
    rlar__begin(ctx);
    return choose(ctx, path, format, &gzip) ? RLAR_OK : RLAR_E_ARG;
}

/* The temporary file is made before the format is asked, and removed again when it refuses. */
rlar_status rlar_data_write(rlar_ctx *ctx, const rlar_data *data, const char *path,
                            const char *format) {
    if (!ctx)
        return RLAR_E_ARG;
    if (!data || !path)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_data_write: data or path is NULL; give both");
    rlar__begin(ctx);
    bool gzip;
    const writer_format *chosen = choose(ctx, path, format, &gzip);
    if (!chosen)
        return RLAR_E_ARG;
    rlar_writer w = {.ctx = ctx,
                     .data = data,
                     .n = rlar_data_samples(data),
                     .d = rlar_data_dims(data),
                     .c = data->label ? data->classes.count : 0};
    RLAR_TRY(check_labels(&w));
    RLAR_TRY(rlar__alloc(ctx, w.d, sizeof *w.row, "a sample", &w.row));
    rlar_status status = rlar__out_open(ctx, path, gzip, &w.out);
    if (status >= 0) {
        status = chosen->write(&w);
        if (status >= 0)
            status = rlar__out_commit(&w.out);
        else
            rlar__out_abort(&w.out);
    }
    rlar__free(w.row);
    return status;
}
