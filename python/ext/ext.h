/* ext.h - what the parts of rlar._core share.
 *
 * A call is one visit to the library: its context, the GIL that is released meanwhile, and what the
 * library says on the way. Samples, texts and outputs are the arguments of such visits, borrowed
 * from Python objects through the buffer protocol: nothing here knows NumPy. Functions that answer
 * int give 0, or -1 with a Python exception set. */
#ifndef RLAR_PYTHON_EXT_H
#define RLAR_PYTHON_EXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#include "rlar.h"

/* ---- call.c: a visit to the library ---- */

/* The objective and its terms after an iteration; rlar/_base.py has the same fields as TRACE. */
typedef struct trace_row {
    double objective, smoothed, regression, sparsity, locality, eps, seconds;
} trace_row;

typedef struct call {
    rlar_ctx *ctx;
    PyThreadState *thread; /* while the GIL is released */
    PyObject *progress;    /* borrowed: called with (done, total, objective); NULL: nobody asks */
    PyObject *notes;       /* list of (status, text): what the library logged */
    double next_check;     /* when to look for Ctrl-C again */
    trace_row *trace;
    Py_ssize_t n_trace, trace_room;
} call;

/* progress may be None. */
int call_begin(call *c, int threads, long long max_memory, PyObject *progress);
void call_end(call *c);
/* The context, which is then not the call's any more. */
rlar_ctx *call_release(call *c);
/* Sets the exception for a negative status and answers NULL. */
void *call_raise(const call *c, rlar_status status);

/* Runs an expression of the library without the GIL. */
#define CALL(c, status, expression)                                                                \
    do {                                                                                           \
        (c)->thread = PyEval_SaveThread();                                                         \
        (status) = (expression);                                                                   \
        PyEval_RestoreThread((c)->thread);                                                         \
    } while (0)

/* ---- arguments.c: what Python hands over ---- */

typedef struct samples {
    rlar_view view;
    Py_buffer held[3]; /* values; CSR: indices and row starts */
    int n_held;
} samples;

/* A 2-D buffer of float64 or float32 whose rows are contiguous, or for CSR a tuple
 * (features, float64 values, int64 indices, int64 row starts). */
int samples_take(PyObject *object, samples *out);
void samples_release(samples *s);
/* The samples as data of the library; missing values are refused. */
int samples_open(call *c, const samples *s, rlar_data **out);

typedef struct texts {
    PyObject *owner;   /* a tuple that keeps the characters alive */
    const char **item; /* NULL: there are none (None was given) */
    Py_ssize_t count;
} texts;

int texts_take(PyObject *sequence, const char *what, texts *out);
void texts_release(texts *t);

/* A contiguous buffer of 8-byte numbers, `format` d or q, of exactly `count` (-1: any). */
int numbers_take(PyObject *object, const char *what, char format, Py_ssize_t count, bool writable,
                 Py_buffer *out);

/* ---- labelled.c: samples with their classes, and parameters ---- */

typedef struct labelled {
    samples x;
    texts classes, features;
    Py_buffer labels; /* of each sample: the number of its class in `classes` */
    rlar_data *data;  /* after labelled_open */
} labelled;

/* features may be None. Also after a failure labelled_release is due. */
int labelled_take(PyObject *x, PyObject *classes, PyObject *labels, PyObject *features,
                  labelled *out);
int labelled_open(call *c, labelled *l);
/* Frees what belongs to the call's context, which may then end. */
void labelled_close(labelled *l);
void labelled_release(labelled *l);

/* texts: name, value, name, value, ... */
int params_make(call *c, const char *method, const texts *values, rlar_params **out);

/* ---- model.c: the type Model ---- */

extern PyType_Spec model_spec;
/* Takes over context and model. */
PyObject *model_wrap(PyObject *module, rlar_ctx *ctx, rlar_model *model);
PyObject *core_load(PyObject *module, PyObject *path);
PyObject *core_load_bytes(PyObject *module, PyObject *bytes);

/* ---- fit.c, evaluate.c, read.c ---- */

PyObject *core_fit(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_evaluate(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_read(PyObject *module, PyObject *args, PyObject *keywords);

typedef struct module_state {
    PyObject *model_type;
} module_state;

#endif
