/* module.c - the module rlar._core: what the Python package needs of the C library.
 *
 * On the limited API of Python 3.11, so that one file serves that version and all later ones. */
#include "ext.h"

/* What `rlar doctor` tells of the BLAS. */
static PyObject *core_blas(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
    rlar_blas_info info = RLAR_INIT(rlar_blas_info);
    call c;
    rlar_status status;
    if (call_begin(&c, 1, 0, Py_None) < 0)
        return NULL;
    CALL(&c, status, rlar_blas_describe(c.ctx, &info));
    PyObject *answer = status < 0 ? call_raise(&c, status)
                                  : Py_BuildValue("{s:s,s:s,s:s,s:s,s:s}", "library", info.library,
                                                  "config", info.config, "kernel", info.kernel,
                                                  "wanted", info.wanted, "chosen", info.chosen);
    call_end(&c);
    return answer;
}

static PyObject *core_version(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
    return PyUnicode_FromString(rlar_version());
}

/* Through void *, since the table has one type for functions with and without keywords. */
#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef functions[] = {
    {"fit", WITH_KEYWORDS(core_fit), METH_VARARGS | METH_KEYWORDS,
     "Learn a model: (model, status, iterations, objective, trace, order, notes)."},
    {"evaluate", WITH_KEYWORDS(core_evaluate), METH_VARARGS | METH_KEYWORDS,
     "Compare methods on the same splits: (list of dictionaries, notes)."},
    {"load", core_load, METH_O, "load(path)\n--\n\nThe model of a file."},
    {"load_bytes", core_load_bytes, METH_O, "load_bytes(bytes)\n--\n\nThe model of such bytes."},
    {"read", WITH_KEYWORDS(core_read), METH_VARARGS | METH_KEYWORDS,
     "Read data: (name, features, values, labels, class names, feature names)."},
    {"blas", core_blas, METH_NOARGS, "blas()\n--\n\nWhich BLAS is in use, with which kernel."},
    {"version", core_version, METH_NOARGS, "version()\n--\n\nThe version of the library."},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module) {
    module_state *state = PyModule_GetState(module);
    state->model_type = PyType_FromModuleAndSpec(module, &model_spec, NULL);
    if (!state->model_type)
        return -1;
    return PyModule_AddObjectRef(module, "Model", state->model_type);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    const module_state *state = PyModule_GetState(module);
    Py_VISIT(state->model_type);
    return 0;
}

static int module_clear(PyObject *module) {
    module_state *state = PyModule_GetState(module);
    Py_CLEAR(state->model_type);
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_core",
    .m_doc = "The C library, for the package rlar alone: use the estimators instead.",
    .m_size = sizeof(module_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void) {
    return PyModuleDef_Init(&definition);
}
