#!/usr/bin/env python3
"""Time reading CSV and LIBSVM against pandas' C engine and scikit-learn's loader.

    bench/read.py LIBRARY [MEGABYTES]        LIBRARY is librlar.so

Everything runs in this process, in turns, with the file in the page cache: each turn times every
reader once, wall clock and CPU seconds, and the smallest of each is shown. The peers read with one
thread. "limit" reads the bytes and counts the line ends, which any reader has to do. scikit-learn
leaves LIBSVM sparse; ours makes a dense table, so it also writes the zeros.
"""
import ctypes
import os
import sys
import tempfile
import time

import numpy as np

TURNS = 3
PIECE = 1 << 20


class Options(ctypes.Structure):
    """The beginning of rlar_ctx_options; `size` says how much of it is here."""
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_int), ("rest", ctypes.c_int)]


class Rlar:
    def __init__(self, path, threads):
        self.library = ctypes.CDLL(path)
        self.library.rlar_ctx_error.restype = ctypes.c_char_p
        self.threads = threads

    def __call__(self, path):
        context, data = ctypes.c_void_p(), ctypes.c_void_p()
        options = Options(ctypes.sizeof(Options), self.threads, 0)
        self.library.rlar_ctx_new(ctypes.byref(options), ctypes.byref(context))
        if self.library.rlar_data_read(context, path.encode(), None, ctypes.byref(data)) < 0:
            sys.exit(self.library.rlar_ctx_error(context).decode())
        self.library.rlar_data_free(data)
        self.library.rlar_ctx_free(context)


def read_pandas(path):
    import pandas
    pandas.read_csv(path, engine="c")


def read_sklearn(path):
    from sklearn.datasets import load_svmlight_file
    load_svmlight_file(path)


def count_lines(path):
    """Bytes in pieces into one buffer, as a reader does it."""
    buffer, lines = bytearray(PIECE), 0
    with open(path, "rb", buffering=0) as file:
        while size := file.readinto(buffer):
            lines += buffer.count(b"\n", 0, size)
    return lines


def make_table(path, size, d, cell):
    """A header, d numbers a row, the class behind them."""
    rng = np.random.default_rng(1)
    with open(path, "w") as file:
        file.write(",".join("f%d" % j for j in range(d)) + ",class\n")
        while file.tell() < size:
            for i, row in enumerate(cell(rng, (200, d))):
                file.write(",".join(row) + ",%d\n" % (i % 10))


def make_sparse(path, size, d, share, cell):
    rng = np.random.default_rng(2)
    with open(path, "w") as file:
        while file.tell() < size:
            for i, row in enumerate(cell(rng, (200, d))):
                kept = np.flatnonzero(rng.random(d) < share) if share < 1 else range(d)
                file.write("%d %s\n" % (i % 10, " ".join("%d:%s" % (j + 1, row[j]) for j in kept)))


def doubles(rng, shape):
    return [[repr(x) for x in row] for row in rng.uniform(-1, 1, shape).tolist()]


def decimals(rng, shape):
    return [["%.3f" % x for x in row] for row in rng.random(shape).tolist()]


def pixels(rng, shape):
    return [[str(x) for x in row] for row in rng.integers(0, 256, shape).tolist()]


FILES = [
    ("CSV, 600 doubles a row", ".csv", lambda p, s: make_table(p, s, 600, doubles)),
    ("CSV, 600 short decimals", ".csv", lambda p, s: make_table(p, s, 600, decimals)),
    ("CSV, 784 pixels", ".csv", lambda p, s: make_table(p, s, 784, pixels)),
    ("CSV, 4 short decimals", ".csv", lambda p, s: make_table(p, s, 4, decimals)),
    ("LIBSVM, 1000 doubles, 10 %", ".svm", lambda p, s: make_sparse(p, s, 1000, 0.1, doubles)),
    ("LIBSVM, 1000 decimals, 10 %", ".svm", lambda p, s: make_sparse(p, s, 1000, 0.1, decimals)),
    ("LIBSVM, 600 decimals, all", ".svm", lambda p, s: make_sparse(p, s, 600, 1, decimals)),
]


def timed(reader, path):
    wall, cpu = time.perf_counter(), time.process_time()
    reader(path)
    return time.perf_counter() - wall, time.process_time() - cpu


def main():
    library = os.path.abspath(sys.argv[1])
    size = float(sys.argv[2] if len(sys.argv) > 2 else 60) * 1e6
    print("load %.1f; MB/s by the wall clock (CPU seconds)" % os.getloadavg()[0])
    for name, ending, make in FILES:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x" + ending)
            make(path, size)
            peer = ("pandas", read_pandas) if ending == ".csv" else ("sklearn", read_sklearn)
            readers = [("rlar 1", Rlar(library, 1)), ("rlar 2", Rlar(library, 2)), peer,
                       ("limit", count_lines)]
            runs = [[timed(reader, path) for _, reader in readers] for _ in range(TURNS)]
            bytes_in_file = os.path.getsize(path)
        best = [tuple(min(turn[k][i] for turn in runs) for i in (0, 1))
                for k in range(len(readers))]
        print("%-28s %4.0f MB  " % (name, bytes_in_file / 1e6) + "  ".join(
            "%s %5.0f (%.2f)" % (reader[0], bytes_in_file / 1e6 / b[0], b[1])
            for reader, b in zip(readers, best)) + "  faster: %.1fx, %.1fx; CPU %.1fx" % (
                best[2][0] / best[0][0], best[2][0] / best[1][0], best[2][1] / best[0][1]),
              flush=True)


if __name__ == "__main__":
    main()
