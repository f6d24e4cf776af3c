/* arguments.c - samples, texts and numbers as Python hands them over. */
#include "ext.h"

#include <stdlib.h>
#include <string.h>

static int refuse(const char *what, const char *wanted) {
    PyErr_Format(PyExc_ValueError, "%s: %s is needed", what, wanted);
    return -1;
}

/* ---- Numbers ---- */

static bool has_format(const Py_buffer *buffer, char format) {
    const char *have = buffer->format;
    if (!have || !have[0] || have[1])
        return false;
    /* int64 is q or l, depending on the platform. */
    return have[0] == format || (format == 'q' && have[0] == 'l' && buffer->itemsize == 8);
}

int numbers_take(PyObject *object, const char *what, char format, Py_ssize_t count, bool writable,
                 Py_buffer *out) {
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, out, flags) < 0)
        return -1;
    if (has_format(out, format) && (count < 0 || out->len == count * out->itemsize))
        return 0;
    PyBuffer_Release(out);
    return refuse(what, format == 'd' ? "a contiguous float64 array of the right size"
                                      : "a contiguous int64 array of the right size");
}

/* ---- Samples ---- */

void samples_release(samples *s) {
    while (s->n_held > 0)
        PyBuffer_Release(&s->held[--s->n_held]);
}

static int take_dense(PyObject *object, samples *s) {
    Py_buffer *b = &s->held[0];
    if (PyObject_GetBuffer(object, b, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0)
        return -1;
    s->n_held = 1;
    const bool wide = has_format(b, 'd');
    if ((!wide && !has_format(b, 'f')) || b->ndim != 2)
        return refuse("X", "a 2-D array of float64 or float32");
    const Py_ssize_t item = b->itemsize, n = b->shape[0], d = b->shape[1];
    const Py_ssize_t stride = n > 1 ? b->strides[0] / item : d;
    if ((d > 1 && b->strides[1] != item) || stride < d || (n > 1 && b->strides[0] % item != 0))
        return refuse("X", "an array whose rows are contiguous");
    s->view.type = wide ? RLAR_F64 : RLAR_F32;
    s->view.n = n;
    s->view.d = d;
    s->view.stride = stride;
    s->view.x = b->buf;
    return 0;
}

/* The library trusts the row starts as far as the arrays reach: so they are compared here. */
static int check_csr(const samples *s) {
    const Py_ssize_t rows = s->held[2].len / 8 - 1, stored = s->held[0].len / 8;
    if (rows < 0 || s->view.indptr[rows] != stored || s->held[1].len != s->held[0].len)
        return refuse("X", "a CSR matrix whose arrays agree");
    return 0;
}

static int take_csr(PyObject *tuple, samples *s) {
    static const char formats[3] = {'d', 'q', 'q'};
    PyObject *part[3];
    long long d;
    if (!PyArg_ParseTuple(tuple, "LOOO", &d, &part[0], &part[1], &part[2]))
        return -1;
    for (int i = 0; i < 3; i++, s->n_held++)
        if (numbers_take(part[i], "X", formats[i], -1, false, &s->held[i]) < 0)
            return -1;
    s->view.type = RLAR_CSR;
    s->view.n = s->held[2].len / 8 - 1;
    s->view.d = d;
    s->view.x = s->held[0].buf;
    s->view.indices = s->held[1].buf;
    s->view.indptr = s->held[2].buf;
    return check_csr(s);
}

int samples_take(PyObject *object, samples *out) {
    *out = (samples){.view = RLAR_INIT(rlar_view)};
    const int taken = PyTuple_Check(object) ? take_csr(object, out) : take_dense(object, out);
    if (taken < 0)
        samples_release(out);
    return taken;
}

/* The library speaks of a view, which nobody here knows: X is what was given. */
static int raise_of_view(const call *c, rlar_status status) {
    static const char prefix[] = "view: ";
    const char *text = rlar_ctx_error(c->ctx);
    if (status == RLAR_E_DATA && strncmp(text, prefix, sizeof prefix - 1) == 0)
        PyErr_Format(PyExc_ValueError, "X: %s", text + sizeof prefix - 1);
    else
        call_raise(c, status);
    return -1;
}

int samples_open(call *c, const samples *s, rlar_data **out) {
    rlar_status status;
    CALL(c, status, rlar_data_view(c->ctx, &s->view, out));
    if (status >= 0)
        status = rlar_data_set_name(c->ctx, *out, "X");
    if (status < 0)
        return raise_of_view(c, status);
    const long long missing = rlar_data_missing(*out);
    if (missing > 0)
        PyErr_Format(PyExc_ValueError,
                     "X contains NaN in %lld of its values; fill them in (sklearn.impute) or drop "
                     "the samples",
                     missing);
    return missing > 0 ? -1 : 0;
}

/* ---- Texts ---- */

void texts_release(texts *t) {
    free(t->item);
    Py_XDECREF(t->owner);
}

static int take_text(PyObject *object, const char *what, const char **out) {
    Py_ssize_t size;
    *out = PyUnicode_AsUTF8AndSize(object, &size);
    if (*out && (Py_ssize_t)strlen(*out) != size) {
        PyErr_Format(PyExc_ValueError, "%s: %R has a null character", what, object);
        return -1;
    }
    return *out ? 0 : -1;
}

int texts_take(PyObject *sequence, const char *what, texts *out) {
    *out = (texts){0};
    if (sequence == Py_None)
        return 0;
    out->owner = PySequence_Tuple(sequence);
    if (!out->owner)
        return -1;
    out->count = PyTuple_Size(out->owner);
    out->item = calloc((size_t)out->count + 1, sizeof *out->item);
    int taken = out->item ? 0 : (PyErr_NoMemory(), -1);
    for (Py_ssize_t i = 0; taken == 0 && i < out->count; i++)
        taken = take_text(PyTuple_GetItem(out->owner, i), what, &out->item[i]);
    if (taken < 0) {
        texts_release(out);
        *out = (texts){0};
    }
    return taken;
}
