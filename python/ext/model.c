/* model.c - the type Model: a fitted or loaded model, read-only.
 *
 * It keeps the context that it was made with only because the memory belongs to it. Every visit has
 * a context of its own, so any number of threads may use one model at once. */
#include "ext.h"

#include <string.h>

typedef struct model_object {
    PyObject_HEAD rlar_ctx *ctx; /* its callbacks point to a visit that is over: only for freeing */
    rlar_model *model;
} model_object;

static const rlar_model *model_of(PyObject *self) {
    return ((model_object *)self)->model;
}

PyObject *model_wrap(PyObject *module, rlar_ctx *ctx, rlar_model *model) {
    const module_state *state = PyModule_GetState(module);
    model_object *self = PyObject_New(model_object, (PyTypeObject *)state->model_type);
    if (!self) {
        rlar_model_free(model);
        rlar_ctx_free(ctx);
        return NULL;
    }
    rlar_ctx_rest(ctx);
    self->ctx = ctx;
    self->model = model;
    return (PyObject *)self;
}

static void model_dealloc(PyObject *self) {
    model_object *m = (model_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    rlar_model_free(m->model);
    rlar_ctx_free(m->ctx);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- Visits ---- */

typedef struct visit {
    call c;
    samples x;
    rlar_data *data;
} visit;

static void visit_end(visit *v) {
    rlar_data_free(v->data);
    samples_release(&v->x);
    call_end(&v->c);
}

static int visit_begin(visit *v, PyObject *x, int threads) {
    v->data = NULL;
    if (samples_take(x, &v->x) < 0)
        return -1;
    if (call_begin(&v->c, threads, 0, Py_None) < 0) {
        samples_release(&v->x);
        return -1;
    }
    if (samples_open(&v->c, &v->x, &v->data) == 0)
        return 0;
    visit_end(v);
    return -1;
}

static PyObject *visit_answer(visit *v, rlar_status status) {
    PyObject *answer = status < 0 ? call_raise(&v->c, status) : Py_NewRef(Py_None);
    visit_end(v);
    return answer;
}

static PyObject *model_transform(PyObject *self, PyObject *args) {
    const rlar_model *model = model_of(self);
    PyObject *x, *out;
    Py_buffer z;
    visit v;
    int threads;
    if (!PyArg_ParseTuple(args, "OOi", &x, &out, &threads) || visit_begin(&v, x, threads) < 0)
        return NULL;
    const Py_ssize_t count = (Py_ssize_t)(v.x.view.n * rlar_model_outputs(model));
    if (numbers_take(out, "out", 'd', count, true, &z) < 0) {
        visit_end(&v);
        return NULL;
    }
    rlar_status status;
    CALL(&v.c, status, rlar_transform(v.c.ctx, model, v.data, z.buf));
    PyBuffer_Release(&z);
    return visit_answer(&v, status);
}

static PyObject *model_predict(PyObject *self, PyObject *args) {
    const rlar_model *model = model_of(self);
    rlar_predict_options options = RLAR_INIT(rlar_predict_options);
    PyObject *x, *class_out, *score_out;
    Py_buffer classes, scores = {0};
    visit v;
    int threads;
    long long neighbours;
    if (!PyArg_ParseTuple(args, "OOOsLi", &x, &class_out, &score_out, &options.classifier,
                          &neighbours, &threads) ||
        visit_begin(&v, x, threads) < 0)
        return NULL;
    options.neighbours = neighbours;
    const Py_ssize_t n = (Py_ssize_t)v.x.view.n, c = (Py_ssize_t)rlar_model_classes(model);
    if (numbers_take(class_out, "classes", 'q', n, true, &classes) < 0) {
        visit_end(&v);
        return NULL;
    }
    if (score_out != Py_None && numbers_take(score_out, "scores", 'd', n * c, true, &scores) < 0) {
        PyBuffer_Release(&classes);
        visit_end(&v);
        return NULL;
    }
    rlar_status status;
    CALL(&v.c, status, rlar_predict(v.c.ctx, model, v.data, &options, classes.buf, scores.buf));
    PyBuffer_Release(&classes);
    PyBuffer_Release(&scores);
    return visit_answer(&v, status);
}

/* ---- Files and bytes ---- */

static PyObject *model_save(PyObject *self, PyObject *path) {
    PyObject *name;
    call c;
    rlar_status status;
    if (!PyUnicode_FSConverter(path, &name))
        return NULL;
    PyObject *answer = NULL;
    if (call_begin(&c, 1, 0, Py_None) == 0) {
        CALL(&c, status, rlar_model_save(c.ctx, model_of(self), PyBytes_AsString(name)));
        answer = status < 0 ? call_raise(&c, status) : Py_NewRef(Py_None);
        call_end(&c);
    }
    Py_DECREF(name);
    return answer;
}

static PyObject *model_to_bytes(PyObject *self, PyObject *Py_UNUSED(unused)) {
    void *bytes = NULL;
    size_t size = 0;
    call c;
    rlar_status status;
    if (call_begin(&c, 1, 0, Py_None) < 0)
        return NULL;
    CALL(&c, status, rlar_model_save_bytes(c.ctx, model_of(self), &bytes, &size));
    PyObject *answer =
        status < 0 ? call_raise(&c, status) : PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
    rlar_bytes_free(c.ctx, bytes);
    call_end(&c);
    return answer;
}

/* A pickle holds the bytes of the model file. */
static PyObject *model_reduce(PyObject *self, PyObject *Py_UNUSED(unused)) {
    PyObject *module = PyType_GetModule(Py_TYPE(self));
    PyObject *load = module ? PyObject_GetAttrString(module, "load_bytes") : NULL;
    PyObject *bytes = load ? model_to_bytes(self, NULL) : NULL;
    PyObject *answer = bytes ? Py_BuildValue("(O(O))", load, bytes) : NULL;
    Py_XDECREF(load);
    Py_XDECREF(bytes);
    return answer;
}

/* The context goes to the model; on failure it ends here. */
static PyObject *wrap_loaded(PyObject *module, call *c, rlar_status status, rlar_model *model) {
    if (status < 0) {
        call_raise(c, status);
        call_end(c);
        return NULL;
    }
    rlar_ctx *ctx = call_release(c);
    call_end(c);
    return model_wrap(module, ctx, model);
}

PyObject *core_load(PyObject *module, PyObject *path) {
    rlar_model *model = NULL;
    PyObject *name, *answer = NULL;
    call c;
    rlar_status status;
    if (!PyUnicode_FSConverter(path, &name))
        return NULL;
    if (call_begin(&c, 1, 0, Py_None) == 0) {
        CALL(&c, status, rlar_model_load(c.ctx, PyBytes_AsString(name), &model));
        answer = wrap_loaded(module, &c, status, model);
    }
    Py_DECREF(name);
    return answer;
}

PyObject *core_load_bytes(PyObject *module, PyObject *bytes) {
    rlar_model *model = NULL;
    PyObject *answer = NULL;
    Py_buffer held;
    call c;
    rlar_status status;
    if (PyObject_GetBuffer(bytes, &held, PyBUF_SIMPLE) < 0)
        return NULL;
    if (call_begin(&c, 1, 0, Py_None) == 0) {
        CALL(&c, status, rlar_model_load_bytes(c.ctx, held.buf, (size_t)held.len, &model));
        answer = wrap_loaded(module, &c, status, model);
    }
    PyBuffer_Release(&held);
    return answer;
}

/* ---- What it holds ---- */

static PyObject *doubles(const double *x, int64_t count) {
    const void *bytes = x;
    return PyByteArray_FromStringAndSize(bytes, (Py_ssize_t)count * 8);
}

static PyObject *get_map(PyObject *self, void *Py_UNUSED(closure)) {
    const rlar_model *m = model_of(self);
    return doubles(rlar_model_map(m), rlar_model_dims(m) * rlar_model_outputs(m));
}

static PyObject *get_offset(PyObject *self, void *Py_UNUSED(closure)) {
    return doubles(rlar_model_offset(model_of(self)), rlar_model_outputs(model_of(self)));
}

static PyObject *get_scores(PyObject *self, void *Py_UNUSED(closure)) {
    return doubles(rlar_model_scores(model_of(self)), rlar_model_dims(model_of(self)));
}

static PyObject *get_method(PyObject *self, void *Py_UNUSED(closure)) {
    return PyUnicode_FromString(rlar_model_method(model_of(self)));
}

static PyObject *get_scale(PyObject *self, void *Py_UNUSED(closure)) {
    return PyUnicode_FromString(rlar_model_scale(model_of(self)));
}

static PyObject *get_shape(PyObject *self, void *Py_UNUSED(closure)) {
    const rlar_model *m = model_of(self);
    return Py_BuildValue("(LLL)", (long long)rlar_model_dims(m), (long long)rlar_model_outputs(m),
                         (long long)rlar_model_classes(m));
}

static PyObject *list_of(const rlar_model *m, int64_t count,
                         const char *(*text)(const rlar_model *, int64_t)) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (int64_t i = 0; list && i < count; i++) {
        PyObject *item = PyUnicode_FromString(text(m, i));
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *get_classes(PyObject *self, void *Py_UNUSED(closure)) {
    return list_of(model_of(self), rlar_model_classes(model_of(self)), rlar_model_class);
}

static PyObject *get_features(PyObject *self, void *Py_UNUSED(closure)) {
    const rlar_model *m = model_of(self);
    if (!rlar_model_feature(m, 0))
        Py_RETURN_NONE;
    return list_of(m, rlar_model_dims(m), rlar_model_feature);
}

static PyObject *get_params(PyObject *self, void *Py_UNUSED(closure)) {
    const rlar_model *m = model_of(self);
    PyObject *params = PyDict_New();
    const char *name;
    for (int64_t i = 0; params && (name = rlar_model_param_name(m, i)); i++) {
        PyObject *value = PyUnicode_FromString(rlar_model_param_value(m, i));
        if (!value || PyDict_SetItemString(params, name, value) < 0)
            Py_CLEAR(params);
        Py_XDECREF(value);
    }
    return params;
}

static PyMethodDef model_methods[] = {
    {"transform", model_transform, METH_VARARGS,
     "transform(samples, out, threads)\n--\n\nThe outputs, n x p, into out."},
    {"predict", model_predict, METH_VARARGS,
     "predict(samples, classes, scores, classifier, neighbours, threads)\n--\n\n"
     "Class numbers, and n x c scores unless None is given for them."},
    {"save", model_save, METH_O, "save(path)\n--\n\nWrite the model file."},
    {"to_bytes", model_to_bytes, METH_NOARGS, "to_bytes()\n--\n\nThe model file as bytes."},
    {"__reduce__", model_reduce, METH_NOARGS, "For pickle."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef model_members[] = {
    {"map", get_map, NULL, "W, p x d float64", NULL},
    {"offset", get_offset, NULL, "b, p float64", NULL},
    {"scores", get_scores, NULL, "feature scores, d float64", NULL},
    {"method", get_method, NULL, "name of the method", NULL},
    {"scale", get_scale, NULL, "scaling", NULL},
    {"shape", get_shape, NULL, "(d, p, c)", NULL},
    {"classes", get_classes, NULL, "names of the classes", NULL},
    {"features", get_features, NULL, "names of the features, or None", NULL},
    {"params", get_params, NULL, "parameters as texts", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot model_slots[] = {
    {Py_tp_dealloc, model_dealloc},
    {Py_tp_methods, model_methods},
    {Py_tp_getset, model_members},
    {Py_tp_doc, "A model of the library, read-only."},
    {0, NULL},
};

PyType_Spec model_spec = {
    .name = "rlar._core.Model",
    .basicsize = sizeof(model_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = model_slots,
};
