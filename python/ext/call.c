/* call.c - a visit to the library: context, GIL, Ctrl-C, notes, errors. */
#include "ext.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Looking for Ctrl-C takes the GIL, which another Python thread may hold for 5 ms. */
static const double CHECK_INTERVAL = 0.05;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Callbacks: on the thread that called, without the GIL ---- */

static int keep_trace(call *c, const rlar_info *info) {
    if (c->n_trace == c->trace_room) {
        const Py_ssize_t room = c->trace_room ? 2 * c->trace_room : 64;
        trace_row *more = realloc(c->trace, (size_t)room * sizeof *more);
        if (!more)
            return -1;
        c->trace = more;
        c->trace_room = room;
    }
    c->trace[c->n_trace++] =
        (trace_row){info->objective, info->smoothed, info->regression, info->sparsity,
                    info->locality,  info->eps,      info->seconds};
    return 0;
}

static int tell_progress(PyObject *progress, const rlar_event *event) {
    PyObject *answer =
        PyObject_CallFunction(progress, "LLd", (long long)event->done, (long long)event->total,
                              event->info ? event->info->objective : Py_NAN);
    Py_XDECREF(answer);
    return answer ? 0 : -1;
}

/* A non-zero answer cancels the work; the exception that asked for it waits in the thread. */
static int on_progress(void *user, const rlar_event *event) {
    call *c = user;
    if (event->kind == RLAR_EVENT_ITERATION && keep_trace(c, event->info) < 0)
        return 1;
    const bool step = event->kind == RLAR_EVENT_ITERATION || event->kind == RLAR_EVENT_FIT;
    const bool tell = c->progress && step;
    const double time = now();
    if (!tell && time < c->next_check)
        return 0;
    c->next_check = time + CHECK_INTERVAL;
    PyEval_RestoreThread(c->thread);
    int stop = PyErr_CheckSignals();
    if (stop == 0 && tell)
        stop = tell_progress(c->progress, event);
    c->thread = PyEval_SaveThread();
    return stop;
}

/* There is nobody to tell when a note cannot be kept; the status still says that there was one. */
static void keep_note(PyObject *notes, rlar_status status, const char *text) {
    PyObject *note = Py_BuildValue("(is)", (int)status, text);
    if (!note || PyList_Append(notes, note) < 0)
        PyErr_Clear();
    Py_XDECREF(note);
}

static void on_log(void *user, rlar_status status, const char *text) {
    call *c = user;
    PyEval_RestoreThread(c->thread);
    if (!PyErr_Occurred()) /* else the work is being cancelled, and the exception says why */
        keep_note(c->notes, status, text);
    c->thread = PyEval_SaveThread();
}

/* ---- Begin, end ---- */

int call_begin(call *c, int threads, long long max_memory, PyObject *progress) {
    memset(c, 0, sizeof *c);
    c->progress = progress == Py_None ? NULL : progress;
    c->next_check = now() + CHECK_INTERVAL;
    c->notes = PyList_New(0);
    if (!c->notes)
        return -1;
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    options.threads = threads;
    options.max_memory = max_memory;
    options.progress = on_progress;
    options.log = on_log;
    options.user = c;
    const rlar_status status = rlar_ctx_new(&options, &c->ctx);
    if (status < 0) {
        Py_CLEAR(c->notes);
        PyErr_Format(status == RLAR_E_NOMEM ? PyExc_MemoryError : PyExc_ValueError,
                     "no context with %d threads and %lld bytes: %s", threads, max_memory,
                     rlar_status_text(status));
        return -1;
    }
    return 0;
}

rlar_ctx *call_release(call *c) {
    rlar_ctx *ctx = c->ctx;
    c->ctx = NULL;
    return ctx;
}

void call_end(call *c) {
    rlar_ctx_free(c->ctx);
    Py_XDECREF(c->notes);
    free(c->trace);
}

/* ---- Errors ---- */

static PyObject *exception_of(rlar_status status) {
    switch (status) {
    case RLAR_E_NOMEM:
    case RLAR_E_TOO_LARGE:
        return PyExc_MemoryError;
    case RLAR_E_ARG:
    case RLAR_E_DATA:
    case RLAR_E_MODEL:
        return PyExc_ValueError;
    case RLAR_E_NUMERIC:
        return PyExc_ArithmeticError;
    case RLAR_E_IO:
        return PyExc_OSError;
    case RLAR_E_UNSUPPORTED:
        return PyExc_NotImplementedError;
    default:
        return PyExc_RuntimeError;
    }
}

/* The library's advice names options of the command ("--max-memory"); here they are parameters
 * ("max_memory"). */
static void name_parameters(char *text) {
    char *to = text;
    for (const char *from = text; *from;) {
        if (strncmp(from, "--", 2) != 0) {
            *to++ = *from++;
            continue;
        }
        for (from += 2; (*from >= 'a' && *from <= 'z') || *from == '-'; from++)
            *to++ = *from == '-' ? '_' : *from;
    }
    *to = '\0';
}

void *call_raise(const call *c, rlar_status status) {
    if (PyErr_Occurred())
        return NULL; /* what cancelled the work */
    if (status == RLAR_E_CANCELLED)
        return PyErr_NoMemory(); /* the trace could not grow: nothing else cancels silently */
    const char *said = rlar_ctx_error(c->ctx);
    char *text = strdup(*said ? said : rlar_status_text(status));
    if (!text)
        return PyErr_NoMemory();
    name_parameters(text);
    PyErr_SetString(exception_of(status), text);
    free(text);
    return NULL;
}
