/* evaluate.c - evaluate(): methods on the same splits, tuned or not, as dictionaries. */
#include "ext.h"

#include <math.h>
#include <stdlib.h>

typedef struct eval_job {
    call c;
    labelled l;
    rlar_eval_spec spec;
    Py_ssize_t n_methods, n_axes;
    rlar_params **params; /* n_methods */
    rlar_axis *axes;      /* n_axes */
    texts *values;        /* n_axes */
    PyObject *methods, *grid, *journal;
} eval_job;

static void job_release(eval_job *j) {
    for (Py_ssize_t i = 0; i < j->n_methods; i++)
        rlar_params_free(j->params[i]);
    labelled_close(&j->l);
    call_end(&j->c);
    labelled_release(&j->l);
    for (Py_ssize_t i = 0; i < j->n_axes; i++)
        texts_release(&j->values[i]);
    free(j->params);
    free(j->axes);
    free(j->values);
    Py_XDECREF(j->journal);
}

/* ---- Arguments ---- */

/* Zeroed room for so many, and at least one. */
static void *room(Py_ssize_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    if (!memory)
        PyErr_NoMemory();
    return memory;
}

/* methods: a tuple of (name, (parameter, value, parameter, value, ...)). */
static int take_methods(eval_job *j) {
    const Py_ssize_t count = PyTuple_Size(j->methods);
    j->params = room(count, sizeof *j->params);
    if (!j->params)
        return -1;
    for (j->n_methods = 0; j->n_methods < count;) {
        const char *name;
        PyObject *given;
        texts values;
        if (!PyArg_ParseTuple(PyTuple_GetItem(j->methods, j->n_methods), "sO", &name, &given) ||
            texts_take(given, "params", &values) < 0)
            return -1;
        const int made = params_make(&j->c, name, &values, &j->params[j->n_methods++]);
        texts_release(&values);
        if (made < 0)
            return -1;
    }
    j->spec.methods = (const rlar_params *const *)j->params;
    j->spec.n_methods = count;
    return 0;
}

/* grid: a tuple of (method or None, name, (value, value, ...)). */
static int take_grid(eval_job *j) {
    const Py_ssize_t count = PyTuple_Size(j->grid);
    j->axes = room(count, sizeof *j->axes);
    j->values = room(count, sizeof *j->values);
    if (!j->axes || !j->values)
        return -1;
    for (; j->n_axes < count; j->n_axes++) {
        rlar_axis *axis = &j->axes[j->n_axes];
        texts *values = &j->values[j->n_axes];
        PyObject *given;
        if (!PyArg_ParseTuple(PyTuple_GetItem(j->grid, j->n_axes), "zsO", &axis->method,
                              &axis->name, &given) ||
            texts_take(given, "grid", values) < 0)
            return -1;
        axis->values = values->item;
        axis->n_values = values->count;
    }
    j->spec.axes = count > 0 ? j->axes : NULL;
    j->spec.n_axes = count;
    return 0;
}

/* A count that came as a float, as shares do; what no count can be is more than there are samples.
 */
static int64_t whole(double size) {
    return fabs(size) < 9e18 ? (int64_t)size : INT64_MAX;
}

static int take_arguments(PyObject *args, PyObject *keywords, eval_job *j) {
    static char *names[] = {
        "samples",    "classes", "labels",  "features",   "methods",    "split",    "size",
        "trials",     "seed",    "tune",    "tune_folds", "grid",       "scale",    "classifier",
        "neighbours", "coarse",  "journal", "threads",    "max_memory", "progress", NULL};
    PyObject *x, *classes, *labels, *features, *progress, *journal;
    int split, tune, threads;
    double size;
    long long trials, tune_folds, neighbours, max_memory;
    unsigned long long seed;
    rlar_eval_spec *s = &j->spec;
    *s = RLAR_INIT(rlar_eval_spec);
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOO!idLKiLO!zzLpOiLO", names, &x, &classes,
                                     &labels, &features, &PyTuple_Type, &j->methods, &split, &size,
                                     &trials, &seed, &tune, &tune_folds, &PyTuple_Type, &j->grid,
                                     &s->scale, &s->classifier, &neighbours, &s->coarse, &journal,
                                     &threads, &max_memory, &progress) ||
        (journal != Py_None && !PyUnicode_FSConverter(journal, &j->journal)) ||
        labelled_take(x, classes, labels, features, &j->l) < 0)
        return -1;
    s->split = (rlar_split)split;
    s->per_class = split == RLAR_SPLIT_PER_CLASS ? whole(size) : 0;
    s->fraction = split == RLAR_SPLIT_FRACTION ? size : 0.0;
    s->folds = split == RLAR_SPLIT_FOLDS ? whole(size) : 0;
    s->trials = trials;
    s->seed = seed;
    s->tune = (rlar_tune)tune;
    s->tune_folds = tune_folds;
    s->race = s->coarse; /* as in the command: the choice counts, not the map */
    s->neighbours = neighbours;
    s->journal = j->journal ? PyBytes_AsString(j->journal) : NULL;
    return call_begin(&j->c, threads, max_memory, progress);
}

/* ---- Results ---- */

static PyObject *numbers(const double *x, int64_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (int64_t i = 0; list && i < count; i++)
        if (PyList_SetItem(list, (Py_ssize_t)i, PyFloat_FromDouble(x[i])) < 0)
            Py_CLEAR(list);
    return list;
}

/* {axis: value} of a cell of the grid. */
static PyObject *cell(const rlar_eval_result *r, int64_t index) {
    PyObject *values = PyDict_New();
    for (int64_t a = 0; values && a < r->n_axes; a++) {
        PyObject *text = PyUnicode_FromString(r->cell_values[index * r->n_axes + a]);
        if (!text || PyDict_SetItemString(values, r->axis_names[a], text) < 0)
            Py_CLEAR(values);
        Py_XDECREF(text);
    }
    return values;
}

static PyObject *selected(const rlar_eval_result *r) {
    PyObject *list = PyList_New((Py_ssize_t)r->n_selected);
    for (int64_t i = 0; list && i < r->n_selected; i++) {
        PyObject *values = cell(r, r->selected[i]);
        if (!values || PyList_SetItem(list, (Py_ssize_t)i, values) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* [({axis: value}, accuracy, trials)] of the cells that were tried; trials: to the end. */
static PyObject *tried(const rlar_eval_result *r) {
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < r->cells; i++) {
        if (r->cell_trials[i] == 0)
            continue;
        PyObject *one =
            Py_BuildValue("(NdL)", cell(r, i), r->cell_accuracy[i], (long long)r->cell_whole[i]);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *result(const rlar_eval_result *r) {
    return Py_BuildValue(
        "{s:s,s:L,s:L,s:z,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:N,s:N,s:N,s:N,s:N}", "method",
        r->method, "trials", (long long)r->trials, "failed", (long long)r->failed, "failure",
        r->failure, "accuracy_mean", r->accuracy_mean, "accuracy_std", r->accuracy_std,
        "balanced_accuracy_mean", r->balanced_mean, "balanced_accuracy_std", r->balanced_std,
        "macro_f1_mean", r->macro_f1_mean, "macro_f1_std", r->macro_f1_std, "fit_seconds",
        r->fit_seconds, "predict_seconds", r->predict_seconds, "accuracy",
        numbers(r->accuracy, r->trials), "balanced_accuracy", numbers(r->balanced, r->trials),
        "macro_f1", numbers(r->macro_f1, r->trials), "selected", selected(r), "cells", tried(r));
}

/* (dictionaries, notes) */
static PyObject *answer(const eval_job *j, const rlar_eval *eval) {
    const int64_t count = rlar_eval_count(eval);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (int64_t i = 0; list && i < count; i++) {
        rlar_eval_result r = RLAR_INIT(rlar_eval_result);
        const rlar_status status = rlar_eval_get(eval, i, &r);
        PyObject *one = status < 0 ? call_raise(&j->c, status) : result(&r);
        if (!one || PyList_SetItem(list, (Py_ssize_t)i, one) < 0)
            Py_CLEAR(list);
    }
    return list ? Py_BuildValue("(NO)", list, j->c.notes) : NULL;
}

PyObject *core_evaluate(PyObject *module, PyObject *args, PyObject *keywords) {
    eval_job j = {0};
    PyObject *found = NULL;
    (void)module;
    if (take_arguments(args, keywords, &j) == 0 && take_methods(&j) == 0 && take_grid(&j) == 0 &&
        labelled_open(&j.c, &j.l) == 0) {
        rlar_eval *eval = NULL;
        rlar_status status;
        CALL(&j.c, status, rlar_evaluate(j.c.ctx, j.l.data, &j.spec, &eval));
        found = status < 0 ? call_raise(&j.c, status) : answer(&j, eval);
        rlar_eval_free(eval);
    }
    job_release(&j);
    return found;
}
