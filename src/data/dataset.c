/* dataset.c - the life of an rlar_data, what one may ask it, and data in the caller's memory.
 *
 * Samples that were read are owned and dense; samples of a view are borrowed: float64 or float32
 * with a stride, or CSR. A view is checked once, here, from its sizes down to every column index
 * and value, so that nothing behind it needs to check again. NaN is a missing value and is counted;
 * an infinity is refused. */
#include "data/dataset.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* Samples between two questions whether to go on. */
enum { POLL_ROWS = 1024 };

rlar_status rlar__data_new(rlar_ctx *ctx, const char *name, const char *format, const char *file,
                           rlar_data **out) {
    rlar_data *data = NULL;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *data, "a data set", &data));
    data->view.size = sizeof data->view;
    rlar_status status = rlar__strdup(ctx, name, &data->name);
    if (status >= 0)
        status = rlar__strdup(ctx, format, &data->format);
    if (status >= 0)
        status = rlar__strdup(ctx, file, &data->file);
    if (status < 0)
        rlar_data_free(data);
    else
        *out = data;
    return status;
}

void rlar_data_free(rlar_data *data) {
    if (!data)
        return;
    rlar__free(data->own_x);
    rlar__free(data->label);
    rlar__texts_free(&data->classes);
    rlar__free(data->class_size);
    rlar__texts_free(&data->features);
    rlar__free(data->name);
    rlar__free(data->format);
    rlar__free(data->file);
    rlar__free(data);
}

/* ---- Views ---- */

/* The elements that the arrays of the view span must be countable in bytes. */
static rlar_status check_sizes(rlar_ctx *ctx, const rlar_view *view) {
    const bool sparse = view->type == RLAR_CSR;
    size_t elements = 0, bytes = 0;
    if (view->type != RLAR_F64 && view->type != RLAR_F32 && !sparse)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "view: type %d is unknown; use RLAR_F64, RLAR_F32 or RLAR_CSR",
                          (int)view->type);
    if (view->n < 1 || view->d < 1)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "view: %lld samples of %lld features; at least one of each is needed",
                          (long long)view->n, (long long)view->d);
    if (!sparse && view->stride < view->d)
        return rlar__fail(
            ctx, RLAR_E_ARG,
            "view: stride %lld is smaller than the %lld features of a sample; set it to "
            "the elements from one sample to the next",
            (long long)view->stride, (long long)view->d);
    const size_t step = sparse ? 1 : (size_t)view->stride;
    if (!rlar__size_mul((size_t)view->n, step, &elements) ||
        !rlar__size_mul(elements, sizeof(double), &bytes) || bytes > INT64_MAX / 2)
        return rlar__fail(ctx, RLAR_E_TOO_LARGE,
                          "view: %lld samples, %zu elements apart, do not fit the address space",
                          (long long)view->n, step);
    if (!sparse && !view->x)
        return rlar__fail(ctx, RLAR_E_ARG, "view: x is NULL; it must point to the values");
    return RLAR_OK;
}

/* One row of a CSR view: the columns increase and stay below d. */
static rlar_status check_csr_row(rlar_ctx *ctx, const rlar_view *view, int64_t i) {
    int64_t last = -1;
    for (int64_t e = view->indptr[i]; e < view->indptr[i + 1]; e++) {
        const int64_t j = view->indices[e];
        if (j < 0 || j >= view->d)
            return rlar__fail(
                ctx, RLAR_E_ARG,
                "view: column %lld in sample %lld is out of range; it has %lld features, "
                "counted from 0",
                (long long)j, (long long)i, (long long)view->d);
        if (j <= last)
            return rlar__fail(
                ctx, RLAR_E_ARG,
                "view: column %lld follows column %lld in sample %lld; the columns of a "
                "row must increase (sort them and add up duplicates)",
                (long long)j, (long long)last, (long long)i);
        last = j;
    }
    return RLAR_OK;
}

/* All of indptr before any index: only then is it known where the indices may be read. */
static rlar_status check_csr(rlar_ctx *ctx, const rlar_view *view) {
    if (!view->indptr)
        return rlar__fail(ctx, RLAR_E_ARG, "view: indptr is NULL; CSR needs its n + 1 row starts");
    for (int64_t i = 0; i <= view->n; i++) {
        const int64_t before = i == 0 ? 0 : view->indptr[i - 1];
        if (i == 0 ? view->indptr[0] != 0 : view->indptr[i] < before)
            return rlar__fail(
                ctx, RLAR_E_ARG,
                "view: indptr[%lld] is %lld; row starts begin at 0 and never decrease",
                (long long)i, (long long)view->indptr[i]);
    }
    const int64_t stored = view->indptr[view->n];
    if (stored > 0 && (!view->x || !view->indices))
        return rlar__fail(ctx, RLAR_E_ARG,
                          "view: x or indices is NULL, but indptr tells of %lld values",
                          (long long)stored);
    if (stored > INT64_MAX / 2 / (int64_t)sizeof(double))
        return rlar__fail(ctx, RLAR_E_TOO_LARGE, "view: %lld values do not fit the address space",
                          (long long)stored);
    for (int64_t i = 0; i < view->n; i++) {
        RLAR_TRY(check_csr_row(ctx, view, i));
        if (i % POLL_ROWS == 0)
            RLAR_TRY(rlar__poll(ctx));
    }
    return RLAR_OK;
}

/* Written so that NaN fails, too. */
static rlar_status check_weights(rlar_ctx *ctx, const rlar_view *view) {
    for (int64_t i = 0; view->weights && i < view->n; i++)
        if (!(view->weights[i] >= 0) || isinf(view->weights[i]))
            return rlar__fail(
                ctx, RLAR_E_ARG,
                "view: the weight of sample %lld is %g; weights are finite and not negative",
                (long long)i, view->weights[i]);
    return RLAR_OK;
}

/* Where the stored values of sample i start, and how many there are. */
static int64_t row_span(const rlar_view *view, int64_t i, int64_t *count) {
    if (view->type != RLAR_CSR) {
        *count = view->d;
        return i * view->stride;
    }
    *count = view->indptr[i + 1] - view->indptr[i];
    return view->indptr[i];
}

static double value_at(const rlar_view *view, int64_t element) {
    return view->type == RLAR_F32 ? (double)((const float *)view->x)[element]
                                  : ((const double *)view->x)[element];
}

/* One pass over what is stored: count NaN, refuse infinities. */
static rlar_status scan_values(rlar_ctx *ctx, const rlar_view *view, int64_t *missing) {
    int64_t nan_count = 0;
    for (int64_t i = 0; i < view->n; i++) {
        int64_t count;
        const int64_t start = row_span(view, i, &count);
        for (int64_t e = 0; e < count; e++) {
            const double v = value_at(view, start + e);
            if (isinf(v))
                return rlar__fail(
                    ctx, RLAR_E_DATA,
                    "view: feature %lld of sample %lld is %g; values must be finite, or NaN "
                    "for missing",
                    (long long)(view->type == RLAR_CSR ? view->indices[start + e] : e),
                    (long long)i, v);
            nan_count += isnan(v) != 0;
        }
        if (i % POLL_ROWS == 0)
            RLAR_TRY(rlar__poll(ctx));
    }
    *missing = nan_count;
    return RLAR_OK;
}

rlar_status rlar_data_view(rlar_ctx *ctx, const rlar_view *view, rlar_data **out) {
    rlar_data *data = NULL;
    int64_t missing = 0;
    if (!ctx || !view || !out)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_data_view: ctx, view and out must not be NULL");
    rlar__begin(ctx);
    if (view->size < sizeof *view)
        return rlar__fail(ctx, RLAR_E_ARG, "view: size is %zu; set it to sizeof(rlar_view), %zu",
                          view->size, sizeof *view);
    RLAR_TRY(check_sizes(ctx, view));
    if (view->type == RLAR_CSR)
        RLAR_TRY(check_csr(ctx, view));
    RLAR_TRY(check_weights(ctx, view));
    RLAR_TRY(scan_values(ctx, view, &missing));
    RLAR_TRY(rlar__data_new(ctx, "memory", "memory", "memory", &data));
    memcpy(&data->view, view, sizeof data->view);
    data->view.size = sizeof data->view;
    data->missing = missing;
    *out = data;
    return RLAR_OK;
}

/* ---- Labels and names from memory ---- */

/* What a data frame makes of a missing label. */
static bool is_blank_or_nan(const char *text) {
    text += strspn(text, " \t\r\n");
    const size_t length = strcspn(text, " \t\r\n");
    return length == 0 || (length == 3 && strncasecmp(text, "nan", 3) == 0 && text[3] == '\0');
}

rlar_status rlar__class_sizes(rlar_ctx *ctx, const int64_t *label, int64_t n, int64_t classes,
                              int64_t **out) {
    int64_t *size = NULL;
    RLAR_TRY(rlar__calloc(ctx, classes, sizeof *size, "the class sizes", &size));
    for (int64_t i = 0; i < n; i++)
        if (label[i] >= 0)
            size[label[i]]++;
    *out = size;
    return RLAR_OK;
}

/* Names that the caller gave; said now, not when a model cannot be saved. */
static rlar_status check_names(rlar_ctx *ctx, const char *what, const rlar_texts *names) {
    for (int64_t i = 0; i < names->count; i++) {
        const char *text = rlar__texts_at(names, i), *fault = rlar__name_fault(text, strlen(text));
        if (fault)
            return rlar__fail(ctx, RLAR_E_DATA, "%s %lld %s", what, (long long)i, fault);
    }
    return RLAR_OK;
}

/* Order the classes that label[] numbers by appearance and hand everything to the data. */
static rlar_status adopt_labels(rlar_ctx *ctx, rlar_data *data, const rlar_intern *seen,
                                int64_t *label) {
    rlar_texts names = {0};
    int64_t *remap = NULL, *size = NULL;
    const int64_t n = data->view.n;
    rlar_status status = check_names(ctx, "labels: the name of class", &seen->texts);
    if (status >= 0)
        status = rlar__alloc(ctx, seen->texts.count, sizeof *remap, "the classes", &remap);
    if (status >= 0)
        status = rlar__classes_sort(ctx, seen, &names, remap);
    if (status < 0)
        goto done;
    for (int64_t i = 0; i < n; i++)
        label[i] = remap[label[i]];
    status = rlar__class_sizes(ctx, label, n, names.count, &size);
    if (status < 0) {
        rlar__texts_free(&names);
        goto done;
    }
    rlar__free(data->label);
    rlar__free(data->class_size);
    rlar__texts_free(&data->classes);
    data->label = label;
    data->class_size = size;
    data->classes = names;
done:
    rlar__free(remap);
    return status;
}

/* Number the labels by appearance; texts or numbers, whichever is given. */
static rlar_status number_labels(rlar_ctx *ctx, int64_t n, const char *const *texts,
                                 const double *numbers, rlar_intern *seen, int64_t *label) {
    for (int64_t i = 0; i < n; i++) {
        char buf[RLAR_NUMBER_SIZE];
        const char *text = texts ? texts[i] : buf;
        if (!texts && isfinite(numbers[i]))
            rlar__format_double(numbers[i], buf);
        if (texts ? !text || is_blank_or_nan(text) : !isfinite(numbers[i]))
            return rlar__fail(
                ctx, RLAR_E_DATA, "labels: sample %lld has %s label; every sample needs one",
                (long long)i,
                texts ? (text && *text ? "a blank or nan" : "an empty") : "a nan or infinite");
        RLAR_TRY(rlar__intern(ctx, seen, text, strlen(text), &label[i]));
        if (i % POLL_ROWS == 0)
            RLAR_TRY(rlar__poll(ctx));
    }
    return RLAR_OK;
}

static rlar_status set_labels(rlar_ctx *ctx, rlar_data *data, const char *const *texts,
                              const double *numbers) {
    rlar_intern seen = {0};
    int64_t *label = NULL;
    if (!ctx || !data || (!texts && !numbers))
        return rlar__fail(ctx, RLAR_E_ARG, "labels: ctx, data and labels must not be NULL");
    rlar__begin(ctx);
    rlar_status status = rlar__alloc(ctx, data->view.n, sizeof *label, "the labels", &label);
    if (status >= 0)
        status = number_labels(ctx, data->view.n, texts, numbers, &seen, label);
    if (status >= 0)
        status = adopt_labels(ctx, data, &seen, label);
    if (status < 0)
        rlar__free(label);
    rlar__intern_free(&seen);
    return status;
}

rlar_status rlar_data_set_labels(rlar_ctx *ctx, rlar_data *data, const char *const *labels) {
    return set_labels(ctx, data, labels, NULL);
}

rlar_status rlar_data_set_label_numbers(rlar_ctx *ctx, rlar_data *data, const double *labels) {
    return set_labels(ctx, data, NULL, labels);
}

rlar_status rlar_data_set_name(rlar_ctx *ctx, rlar_data *data, const char *name) {
    char *for_people = NULL, *for_messages = NULL;
    if (!ctx || !data || !name)
        return rlar__fail(ctx, RLAR_E_ARG, "name: ctx, data and name must not be NULL");
    rlar__begin(ctx);
    RLAR_TRY(rlar__strdup(ctx, name, &for_people));
    const rlar_status status = rlar__strdup(ctx, name, &for_messages);
    if (status < 0) {
        rlar__free(for_people);
        return status;
    }
    rlar__free(data->name);
    rlar__free(data->file);
    data->name = for_people;
    data->file = for_messages;
    return RLAR_OK;
}

/* All names are copied before the old ones go, so a failure changes nothing. */
rlar_status rlar_data_set_features(rlar_ctx *ctx, rlar_data *data, const char *const *names) {
    rlar_texts copy = {0};
    rlar_status status = RLAR_OK;
    if (!ctx || !data || !names)
        return rlar__fail(ctx, RLAR_E_ARG, "features: ctx, data and names must not be NULL");
    rlar__begin(ctx);
    for (int64_t j = 0; j < data->view.d && status >= 0; j++) {
        if (!names[j] || !*names[j])
            status = rlar__fail(ctx, RLAR_E_ARG,
                                "features: feature %lld has no name; name all %lld or none",
                                (long long)j, (long long)data->view.d);
        else
            status = rlar__texts_add(ctx, &copy, names[j], strlen(names[j]));
    }
    if (status >= 0)
        status = check_names(ctx, "features: the name of feature", &copy);
    if (status < 0) {
        rlar__texts_free(&copy);
        return status;
    }
    rlar__texts_free(&data->features);
    data->features = copy;
    return RLAR_OK;
}

/* ---- Questions ---- */

int64_t rlar_data_samples(const rlar_data *data) {
    return data->view.n;
}

int64_t rlar_data_dims(const rlar_data *data) {
    return data->view.d;
}

int64_t rlar_data_classes(const rlar_data *data) {
    return data->label ? data->classes.count : 0;
}

const char *rlar_data_name(const rlar_data *data) {
    return data->name;
}

const char *rlar_data_format(const rlar_data *data) {
    return data->format;
}

const char *rlar_data_class(const rlar_data *data, int64_t class_index) {
    return rlar__texts_at(&data->classes, class_index);
}

int64_t rlar_data_class_size(const rlar_data *data, int64_t class_index) {
    return class_index < 0 || class_index >= rlar_data_classes(data)
               ? 0
               : data->class_size[class_index];
}

int64_t rlar_data_label(const rlar_data *data, int64_t sample) {
    return !data->label || sample < 0 || sample >= data->view.n ? -1 : data->label[sample];
}

const char *rlar_data_feature(const rlar_data *data, int64_t feature) {
    return rlar__texts_at(&data->features, feature);
}

int64_t rlar_data_missing(const rlar_data *data) {
    return data->missing;
}

/* The sample must exist: this is called per sample, and the views were checked when they were made.
 */
void rlar_data_row(const rlar_data *data, int64_t sample, double *row) {
    const rlar_view *view = &data->view;
    int64_t count;
    const int64_t start = row_span(view, sample, &count);
    if (view->type == RLAR_F64) {
        memcpy(row, (const double *)view->x + start, (size_t)count * sizeof *row);
        return;
    }
    if (view->type == RLAR_CSR)
        memset(row, 0, (size_t)view->d * sizeof *row);
    for (int64_t e = 0; e < count; e++)
        row[view->type == RLAR_CSR ? view->indices[start + e] : e] = value_at(view, start + e);
}

rlar_status rlar__shape_agree(rlar_ctx *ctx, const char *file, rlar_shape image, rlar_shape *all) {
    if (all->width == 0)
        *all = image;
    if (image.width == 0 || (image.width == all->width && image.height == all->height))
        return RLAR_OK;
    return rlar__fail(ctx, RLAR_E_DATA,
                      "%s: images of %lld x %lld pixels where others have %lld x %lld; all images "
                      "must have the same size, resize them",
                      file, (long long)image.width, (long long)image.height, (long long)all->width,
                      (long long)all->height);
}
