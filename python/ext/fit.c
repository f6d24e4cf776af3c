/* fit.c - fit(): from Python's arguments to a model, and what was found on the way. */
#include "ext.h"

typedef struct fit_job {
    call c;
    labelled l;
    texts values;
    rlar_params *params;
    rlar_fit_options options;
    const char *method, *classifier;
} fit_job;

/* What belongs to the context, before it ends or goes to the model. */
static void job_close(fit_job *j) {
    rlar_params_free(j->params);
    j->params = NULL;
    labelled_close(&j->l);
}

static void job_release(fit_job *j) {
    job_close(j);
    call_end(&j->c);
    labelled_release(&j->l);
    texts_release(&j->values);
}

static int take_arguments(PyObject *args, PyObject *keywords, fit_job *j) {
    static char *names[] = {"samples",    "classes",  "labels",  "method",     "params",   "scale",
                            "classifier", "features", "threads", "max_memory", "progress", NULL};
    PyObject *x, *classes, *labels, *params, *features, *progress;
    long long max_memory;
    int threads;
    j->options = RLAR_INIT(rlar_fit_options);
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOsOssOiLO", names, &x, &classes, &labels,
                                     &j->method, &params, &j->options.scale, &j->classifier,
                                     &features, &threads, &max_memory, &progress) ||
        labelled_take(x, classes, labels, features, &j->l) < 0 ||
        texts_take(params, "params", &j->values) < 0)
        return -1;
    return call_begin(&j->c, threads, max_memory, progress);
}

/* The classifier is used by predictions only, but a wrong one is said now. */
static int check_classifier(fit_job *j) {
    const rlar_status status = rlar_classifier_check(j->c.ctx, j->classifier, j->method);
    if (status < 0)
        call_raise(&j->c, status);
    return status < 0 ? -1 : 0;
}

/* The library orders the classes by its own rule: the number it has given to each of ours. */
static PyObject *class_order(const labelled *l) {
    const int64_t *label = l->labels.buf;
    PyObject *order =
        PyByteArray_FromStringAndSize(NULL, l->classes.count * (Py_ssize_t)sizeof(int64_t));
    int64_t *number = order ? (int64_t *)(void *)PyByteArray_AsString(order) : NULL;
    for (Py_ssize_t i = 0; number && i < l->classes.count; i++)
        number[i] = -1;
    for (int64_t i = 0; number && i < l->x.view.n; i++)
        number[label[i]] = rlar_data_label(l->data, i);
    return order;
}

/* (model, status, iterations, objective, trace, order of the classes, notes) */
static PyObject *answer(PyObject *module, fit_job *j, rlar_status status, rlar_model *model,
                        const rlar_info *info) {
    PyObject *order = class_order(&j->l);
    PyObject *trace = PyByteArray_FromStringAndSize((const char *)j->c.trace,
                                                    j->c.n_trace * (Py_ssize_t)sizeof(trace_row));
    job_close(j);
    PyObject *wrapped = model_wrap(module, call_release(&j->c), model);
    PyObject *all =
        order && trace && wrapped
            ? Py_BuildValue("(OiLdOOO)", wrapped, (int)status, (long long)info->iterations,
                            info->objective, trace, order, j->c.notes)
            : NULL;
    Py_XDECREF(order);
    Py_XDECREF(trace);
    Py_XDECREF(wrapped);
    return all;
}

PyObject *core_fit(PyObject *module, PyObject *args, PyObject *keywords) {
    fit_job j = {0};
    rlar_model *model = NULL;
    rlar_info info = RLAR_INIT(rlar_info);
    PyObject *found = NULL;
    if (take_arguments(args, keywords, &j) == 0 && check_classifier(&j) == 0 &&
        params_make(&j.c, j.method, &j.values, &j.params) == 0 && labelled_open(&j.c, &j.l) == 0) {
        rlar_status status;
        CALL(&j.c, status, rlar_fit(j.c.ctx, j.l.data, j.params, &j.options, &model, &info));
        found = status < 0 ? call_raise(&j.c, status) : answer(module, &j, status, model, &info);
    }
    job_release(&j);
    return found;
}
