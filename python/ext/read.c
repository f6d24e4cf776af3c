/* read.c - read(): a data file in any format of the library, as arrays. */
#include "ext.h"

static PyObject *text_or_none(const char *text) {
    return text ? PyUnicode_FromString(text) : Py_NewRef(Py_None);
}

static PyObject *names(const rlar_data *data, int64_t count,
                       const char *(*name)(const rlar_data *, int64_t)) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (int64_t i = 0; list && i < count; i++) {
        PyObject *item = text_or_none(name(data, i));
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *values(const rlar_data *data) {
    const int64_t n = rlar_data_samples(data), d = rlar_data_dims(data);
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(n * d) * 8);
    double *x = bytes ? (double *)(void *)PyByteArray_AsString(bytes) : NULL;
    for (int64_t i = 0; x && i < n; i++)
        rlar_data_row(data, i, x + i * d);
    return bytes;
}

static PyObject *labels(const rlar_data *data) {
    const int64_t n = rlar_data_classes(data) > 0 ? rlar_data_samples(data) : 0;
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)n * 8);
    int64_t *label = bytes ? (int64_t *)(void *)PyByteArray_AsString(bytes) : NULL;
    for (int64_t i = 0; label && i < n; i++)
        label[i] = rlar_data_label(data, i);
    return bytes;
}

/* (name, features, values, labels, class names, feature names) */
static PyObject *answer(const rlar_data *data) {
    const int64_t d = rlar_data_dims(data);
    const bool named = rlar_data_feature(data, 0) != NULL;
    return Py_BuildValue("(sLNNNN)", rlar_data_name(data), (long long)d, values(data), labels(data),
                         names(data, rlar_data_classes(data), rlar_data_class),
                         names(data, named ? d : 0, rlar_data_feature));
}

PyObject *core_read(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *keys[] = {"path", "format", "label", "labels_file", "header", "missing", NULL};
    rlar_read_options options = RLAR_INIT(rlar_read_options);
    PyObject *path = NULL, *labels_file = NULL, *found = NULL;
    int missing;
    call c;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&zzO&ii", keys, PyUnicode_FSConverter, &path,
                                     &options.format, &options.label, PyUnicode_FSConverter,
                                     &labels_file, &options.header, &missing))
        return NULL;
    options.missing = (rlar_missing)missing;
    if (PyBytes_Size(labels_file) > 0)
        options.labels_file = PyBytes_AsString(labels_file);
    if (call_begin(&c, 1, 0, Py_None) == 0) {
        rlar_data *data = NULL;
        rlar_status status;
        CALL(&c, status, rlar_data_read(c.ctx, PyBytes_AsString(path), &options, &data));
        found = status < 0 ? call_raise(&c, status) : answer(data);
        rlar_data_free(data);
        call_end(&c);
    }
    Py_DECREF(path);
    Py_DECREF(labels_file);
    return found;
}
