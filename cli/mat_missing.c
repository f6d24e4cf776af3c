/* mat_missing.c - missing and infinite values of a MATLAB file.
 *
 * The library cannot treat them in samples that it borrows. The rules are those of the other
 * formats (src/data/table.c): NaN is missing, a sample without a label cannot be learned from, and
 * nothing is infinite. Samples and features count from 1, whichever way round the matrix is. */
#include <math.h>
#include <string.h>

#include "cli.h"
#include "mat.h"

static bool has_no_label(const cli_mat_labels *labels, int64_t i) {
    if (labels->number != NULL)
        return isnan(labels->number[i]);
    return labels->text != NULL && labels->text[i][0] == '\0';
}

static int check_labels(cli *c, const char *path, const cli_mat_labels *labels, bool dropped,
                        int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        if (!dropped && has_no_label(labels, i))
            return cli_error(c, CODE_DATA,
                             "%s: sample %lld: the label is missing; every sample needs one "
                             "(--missing drop leaves such samples out, --label none all labels)",
                             path, (long long)i + 1);
        if (labels->number != NULL && isinf(labels->number[i]))
            return cli_error(c, CODE_DATA,
                             "%s: sample %lld: the label '%s' is not finite; labels must be "
                             "finite, or NaN for missing",
                             path, (long long)i + 1, labels->number[i] < 0 ? "-inf" : "inf");
    }
    return 0;
}

/* Count what is missing, and refuse what is infinite. */
static int check_values(cli *c, cli_data *data, int64_t n, int64_t d) {
    for (int64_t i = 0; i < n * d; i++) {
        if (isinf(data->x[i]))
            return cli_error(c, CODE_DATA,
                             "%s: sample %lld, feature %lld: '%s' is not finite; values must be "
                             "finite, or NaN for missing",
                             data->file, (long long)(i / d + 1), (long long)(i % d + 1),
                             data->x[i] < 0 ? "-inf" : "inf");
        data->missing += isnan(data->x[i]);
    }
    return 0;
}

/* Name the first, of all that were counted. */
static int missing_error(cli *c, const cli_data *data, int64_t d) {
    int64_t i = 0;
    while (!isnan(data->x[i]))
        i++;
    return cli_error(c, CODE_DATA,
                     "%s: sample %lld, feature %lld: the value is missing, the first of %lld in "
                     "the file; fill in column means (--missing mean) or leave such samples out "
                     "(--missing drop)",
                     data->file, (long long)(i / d + 1), (long long)(i % d + 1),
                     (long long)data->missing);
}

/* Fill in feature j; the sum runs in the order of the samples, as for the other formats. */
static int fill_mean(cli *c, const cli_data *data, int64_t n, int64_t d, int64_t j) {
    double sum = 0;
    int64_t known = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(data->x[i * d + j])) {
            sum += data->x[i * d + j];
            known++;
        }
    if (known == n)
        return 0;
    if (known == 0 || !isfinite(sum))
        return cli_error(c, CODE_DATA,
                         "%s: feature %lld has no mean to fill in: %s; remove the column",
                         data->file, (long long)j + 1,
                         known == 0 ? "all its values are missing" : "their sum overflows");
    for (int64_t i = 0; i < n; i++)
        if (isnan(data->x[i * d + j]))
            data->x[i * d + j] = sum / (double)known;
    return 0;
}

/* Keep the samples that lack nothing, with their labels. */
static int drop_samples(cli *c, cli_mat_labels *labels, const cli_data *data, int64_t *n,
                        int64_t d) {
    int64_t kept = 0;
    for (int64_t i = 0; i < *n; i++) {
        bool whole = !has_no_label(labels, i);
        for (int64_t j = 0; j < d && whole; j++)
            whole = !isnan(data->x[i * d + j]);
        if (!whole)
            continue;
        memmove(data->x + kept * d, data->x + i * d, (size_t)d * sizeof *data->x);
        cli_mat_labels_move(labels, kept, i);
        kept++;
    }
    if (kept == 0)
        return cli_error(c, CODE_DATA,
                         "%s: each of the %lld samples has a missing value, so none is left",
                         data->file, (long long)*n);
    *n = kept;
    return 0;
}

int cli_mat_missing(cli *c, cli_data *data, cli_mat_labels *labels, rlar_missing missing,
                    int64_t *n, int64_t d) {
    int code = check_labels(c, data->file, labels, missing == RLAR_MISSING_DROP, *n);
    if (code == 0)
        code = check_values(c, data, *n, d);
    if (code != 0)
        return code;
    if (missing == RLAR_MISSING_DROP)
        return drop_samples(c, labels, data, n, d);
    if (missing == RLAR_MISSING_ERROR && data->missing > 0)
        return missing_error(c, data, d);
    if (missing == RLAR_MISSING_MEAN && data->missing > 0)
        for (int64_t j = 0; j < d && code == 0; j++)
            code = fill_mean(c, data, *n, d, j);
    return code;
}
