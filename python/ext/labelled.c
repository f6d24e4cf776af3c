/* labelled.c - samples with their classes, and the parameters of a method. */
#include "ext.h"

#include <stdlib.h>

int labelled_take(PyObject *x, PyObject *classes, PyObject *labels, PyObject *features,
                  labelled *out) {
    *out = (labelled){0};
    if (samples_take(x, &out->x) < 0)
        return -1;
    const Py_ssize_t n = (Py_ssize_t)out->x.view.n;
    if (numbers_take(labels, "labels", 'q', n, false, &out->labels) < 0 ||
        texts_take(classes, "classes", &out->classes) < 0 ||
        texts_take(features, "features", &out->features) < 0)
        return -1;
    if (!out->features.item || out->features.count == out->x.view.d)
        return 0;
    PyErr_SetString(PyExc_ValueError, "features: one name for each column is needed");
    return -1;
}

void labelled_close(labelled *l) {
    rlar_data_free(l->data);
    l->data = NULL;
}

void labelled_release(labelled *l) {
    labelled_close(l);
    samples_release(&l->x);
    PyBuffer_Release(&l->labels);
    texts_release(&l->classes);
    texts_release(&l->features);
}

/* One pointer per sample, as the library takes them; NULL with an exception. */
static const char **label_texts(const labelled *l) {
    const int64_t *label = l->labels.buf;
    const Py_ssize_t n = (Py_ssize_t)l->x.view.n;
    const char **text = malloc((size_t)n * sizeof *text + 1);
    if (!text)
        return (const char **)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++) {
        if (label[i] < 0 || label[i] >= l->classes.count) {
            free(text);
            PyErr_SetString(PyExc_ValueError, "labels: the number of a class is out of range");
            return NULL;
        }
        text[i] = l->classes.item[label[i]];
    }
    return text;
}

int labelled_open(call *c, labelled *l) {
    rlar_status status;
    if (samples_open(c, &l->x, &l->data) < 0)
        return -1;
    const char **text = label_texts(l);
    if (!text)
        return -1;
    CALL(c, status, rlar_data_set_labels(c->ctx, l->data, text));
    free(text);
    if (status >= 0 && l->features.item)
        status = rlar_data_set_features(c->ctx, l->data, l->features.item);
    if (status < 0)
        call_raise(c, status);
    return status < 0 ? -1 : 0;
}

int params_make(call *c, const char *method, const texts *values, rlar_params **out) {
    rlar_status status = rlar_params_new(c->ctx, method, out);
    for (Py_ssize_t i = 0; status >= 0 && i + 1 < values->count; i += 2)
        status = rlar_params_set(c->ctx, *out, values->item[i], values->item[i + 1]);
    if (status < 0)
        call_raise(c, status);
    return status < 0 ? -1 : 0;
}
