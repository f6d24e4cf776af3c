/* read_options.c - the options of a reader: what makes no sense is refused before any file is
 * touched. */
#include "data/guess.h"

#include <string.h>

static rlar_status check_format_name(rlar_ctx *ctx, const char *format) {
    if (!format || rlar__format_known(format))
        return RLAR_OK;
    if (strcmp(format, "mat") == 0)
        return rlar__fail(ctx, RLAR_E_UNSUPPORTED,
                          "format mat: the rlar command reads MATLAB files, the library does not");
    return rlar__fail(ctx, RLAR_E_ARG,
                      "format '%.40s' is unknown; use csv, tsv, libsvm, npy, npz, arff or images",
                      format);
}

rlar_status rlar__read_options(rlar_ctx *ctx, const rlar_read_options *given, bool whole,
                               rlar_read_options *out) {
    rlar_read_options o = RLAR_INIT(rlar_read_options);
    RLAR_TRY(rlar__options_take(ctx, "rlar_read_options", given, &o, sizeof o));
    RLAR_TRY(check_format_name(ctx, o.format));
    if (o.header < -1 || o.header > 1)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "read options: header is %d; use 1 (yes), -1 (no) or 0 (guess)",
                          o.header);
    if ((int)o.missing < RLAR_MISSING_ERROR || o.missing > RLAR_MISSING_KEEP)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "read options: missing is %d; use an rlar_missing, 0 to 3",
                          (int)o.missing);
    if (o.features < 0 || (o.model && o.features > 0 && o.features != rlar_model_dims(o.model)))
        return rlar__fail(
            ctx, RLAR_E_ARG,
            "read options: features is %lld; leave it 0, or set the number expected%s",
            (long long)o.features, o.model ? ", which is the model's" : "");
    if (o.labels_file && o.label && strcmp(o.label, "none") != 0)
        return rlar__fail(
            ctx, RLAR_E_ARG,
            "read options: the label column '%.40s' and the labels file %s exclude each other",
            o.label, o.labels_file);
    if (!whole && o.missing == RLAR_MISSING_MEAN && !o.model)
        return rlar__fail(
            ctx, RLAR_E_ARG,
            "read options: a stream does not know the means of its columns; use drop or keep, "
            "or read the file whole");
    if (o.parts < 0)
        return rlar__fail(ctx, RLAR_E_ARG, "read options: parts is %lld; use 0 for the whole file",
                          (long long)o.parts);
    if (o.labels_file)
        o.label = NULL;
    *out = o;
    return RLAR_OK;
}
