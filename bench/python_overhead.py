#!/usr/bin/env python3
"""What the Python package costs over the C library: time, memory, and fits in two threads at once.

    make && make python && build-python/venv/bin/python bench/python_overhead.py [--build build] [--repeats 30]

The C side is the same sequence of calls (view, labels, parameters, fit) on the shared library, through
ctypes; both sides take turns, on one thread, and CPU seconds of that thread are compared. Memory is the peak
of a fresh process above what it held before the fit. 2414 x 1024 float64 in 38 classes, like a set of faces.
"""
import argparse
import ctypes
import json
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

import rlar

ROOT = Path(__file__).resolve().parents[1]
N, D, CLASSES = 2414, 1024, 38


def faces():
    random = np.random.default_rng(0)
    y = np.arange(N) % CLASSES
    X = random.random((N, D)) + random.random((CLASSES, D))[y]
    return X, y


# ---- The C side ----

class View(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("type", ctypes.c_int), ("n", ctypes.c_int64), ("d", ctypes.c_int64),
                ("x", ctypes.c_void_p), ("stride", ctypes.c_int64), ("indptr", ctypes.c_void_p),
                ("indices", ctypes.c_void_p), ("weights", ctypes.c_void_p)]


class CtxOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_int), ("max_memory", ctypes.c_int64),
                ("rest", ctypes.c_void_p * 6)]


class Library:
    """Fits as a C program would, with one thread and the default scaling."""

    def __init__(self, build):
        self.lib = ctypes.CDLL(str(build / "src" / "librlar.so"))

    def check(self, status):
        if status < 0:
            raise RuntimeError("the library answered %d" % status)

    def fit(self, X, texts, method):
        lib, new = self.lib, lambda: ctypes.c_void_p()
        ctx, data, params, model = new(), new(), new(), new()
        options = CtxOptions(size=ctypes.sizeof(CtxOptions), threads=1)
        view = View(size=ctypes.sizeof(View), n=X.shape[0], d=X.shape[1], stride=X.shape[1], x=X.ctypes.data)
        self.check(lib.rlar_ctx_new(ctypes.byref(options), ctypes.byref(ctx)))
        self.check(lib.rlar_data_view(ctx, ctypes.byref(view), ctypes.byref(data)))
        self.check(lib.rlar_data_set_labels(ctx, data, texts))
        self.check(lib.rlar_params_new(ctx, method, ctypes.byref(params)))
        self.check(lib.rlar_fit(ctx, data, params, None, ctypes.byref(model), None))
        lib.rlar_model_free(model)
        lib.rlar_params_free(params)
        lib.rlar_data_free(data)
        lib.rlar_ctx_free(ctx)


def label_texts(y):
    return (ctypes.c_char_p * len(y))(*(str(label).encode() for label in y))


# ---- Measuring ----

def cpu_seconds(action):
    begin = time.thread_time()
    action()
    return time.thread_time() - begin


def compare(name, python, c, repeats):
    """Both in turn, the first round not counted. On a busy machine the fastest tell more than the medians."""
    rounds = [(cpu_seconds(python), cpu_seconds(c)) for _ in range(repeats + 1)][1:]
    sides = [sorted(1e3 * seconds for seconds in side) for side in zip(*rounds)]
    fastest = [side[0] for side in sides]
    medians = [statistics.median(side) for side in sides]
    print("%-28s Python %.2f ms, C %.2f ms, overhead %.2f ms (fastest); %.2f, %.2f, %.2f ms (medians)" % (
        name, *fastest, fastest[0] - fastest[1], *medians, medians[0] - medians[1]))


def layer(name, estimator, X, y, repeats):
    """What lies between the estimator's fit and the C module's: checks, labels, names."""
    inside = []
    learn = estimator._learn

    def timed(*args):
        begin = time.thread_time()
        found = learn(*args)
        inside.append(time.thread_time() - begin)
        return found

    estimator._learn = timed
    total = [cpu_seconds(lambda: estimator.fit(X, y)) for _ in range(repeats)]
    over = statistics.median(t - i for t, i in zip(total, inside))
    print("%-28s %.3f ms in Python around the call into the module" % (name, 1e3 * over))


def peak_of(side, build):
    """MiB above what the process held before a fit, in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--build", build, "--peak", side], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def memory(key):
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(key))


def measure_peak(side, build):
    """The BLAS is opened and warm before; writing 5 to clear_refs sets the peak to what is held now."""
    X, y = faces()
    texts, library = label_texts(y), Library(build)
    fit = {"python": lambda X, y: rlar.RR().fit(X, y), "c": lambda X, y: library.fit(X, texts, b"rr")}[side]
    small = slice(0, 200)
    rlar.RR().fit(X[small], y[small])
    library.fit(X[small], texts, b"rr")
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    fit(X, y)
    print(json.dumps(memory("VmHWM") - before))


def wall(actions):
    threads = [threading.Thread(target=action) for action in actions]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - begin


def measure_threads(X, y, repeats):
    fit = lambda: rlar.RLAR(iters=5).fit(X, y)  # noqa: E731
    alone = statistics.median(wall([fit]) for _ in range(repeats))
    both = statistics.median(wall([fit, fit]) for _ in range(repeats))
    print("%-28s alone %.3f s, two in two threads %.3f s: %.2f times as fast as one after the other" % (
        "fits in parallel, RLAR", alone, both, 2 * alone / both))


def measure_predict(X, y, repeats):
    fitted = rlar.RR().fit(X, y)
    for count in (1, len(X)):
        rows = X[:count]
        seconds = statistics.median(cpu_seconds(lambda: fitted.predict(rows)) for _ in range(repeats))
        inner = statistics.median(cpu_seconds(lambda: fitted._model.predict(
            rows, np.empty(count, dtype=np.int64), None, "1nn", 5, 1)) for _ in range(repeats))
        print("%-28s %8.3f ms, of which Python %.3f ms" % ("predict %d samples, RR" % count, 1e3 * seconds,
                                                           1e3 * (seconds - inner)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--peak", choices=["python", "c"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        return measure_peak(options.peak, options.build)
    X, y = faces()
    texts, library = label_texts(y), Library(options.build)
    print("%d x %d float64, %d classes; BLAS %s, kernel %s" % (
        N, D, CLASSES, rlar.blas()["library"], rlar.blas()["kernel"]))
    for method in ("rr", "lda"):
        estimator = rlar.ESTIMATORS[method]()
        compare("fit, %s" % method, lambda: estimator.fit(X, y),
                lambda: library.fit(X, texts, method.encode()), options.repeats)
    # Small, so that what does not depend on the size of X stands out of the noise.
    few, lda = X[:150, :4].copy(), rlar.LDA()
    compare("fit, lda, 150 x 4", lambda: lda.fit(few, y[:150]), lambda: library.fit(few, texts, b"lda"),
            10 * options.repeats)
    layer("fit, rr", rlar.RR(), X, y, options.repeats)
    python, c = peak_of("python", options.build), peak_of("c", options.build)
    print("%-28s Python %.1f MiB, C %.1f MiB above the %.1f MiB of X" % ("peak memory of a fit", python, c,
                                                                         X.nbytes / 1048576))
    measure_predict(X, y, options.repeats)
    measure_threads(X, y, max(3, options.repeats // 6))


if __name__ == "__main__":
    main()
