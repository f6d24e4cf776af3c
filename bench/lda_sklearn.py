#!/usr/bin/env python3
"""LDA of rlar against scikit-learn's, on samples of the size of a face data set.

    OPENBLAS_CORETYPE=SkylakeX bench/lda_sklearn.py PROGRAM

Needs python3-sklearn of Debian; no part of `make check`. Compares the subspaces (the largest principal
angle, in the coordinates of the samples) and the time of one fit on one thread, the best of a few runs.
rlar chooses the kernel of its BLAS by the processor; NumPy's must be named as above, or the comparison
is one of kernels. The time of rlar is that of its fit, without reading the file or starting the program, the
time of scikit-learn that of fit() on an array in memory.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy opens the BLAS
import numpy as np  # noqa: E402

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "reference"))
sys.dont_write_bytecode = True
from read_model import read_model  # noqa: E402

SHAPES = ((2414, 1024, 38), (2000, 200, 20))  # samples, features, classes
RUNS = 5


def synthetic(n, d, c):
    """Correlated Gaussian classes of nearly equal size, fixed seed."""
    rng = np.random.default_rng(1)
    label = np.arange(n) % c
    mix = rng.normal(size=(d, d)) / np.sqrt(d) + np.eye(d)
    return (rng.normal(size=(c, d))[label] + rng.normal(size=(n, d))) @ mix, label + 1


def largest_angle(a, b):
    """Of the spans of two matrices, in radians; by the sine, which is exact for small angles."""
    qa, qb = np.linalg.qr(a)[0], np.linalg.qr(b)[0]
    return float(np.linalg.norm(qb - qa @ (qa.T @ qb), 2))


def time_program(program, samples, label):
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "x.npy"), np.column_stack([samples, label]))
        command = [program, "fit", "x.npy", "--method", "lda", "--json", "-q", "--scale", "none",
                   "--threads", "1", "-o", "m.rlar"]
        seconds = []
        for _ in range(RUNS):
            done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=False)
            if done.returncode != 0:
                sys.exit("bench: rlar failed with exit code %d" % done.returncode)
            seconds.append(json.loads(done.stdout)["seconds"])
        return min(seconds), read_model(os.path.join(folder, "m.rlar"))["W"].T


def time_sklearn(solver, samples, label, discriminant):
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        model = discriminant(solver=solver).fit(samples, label)
        seconds.append(time.perf_counter() - start)
    return min(seconds), model.scalings_[:, :len(model.classes_) - 1]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: bench/lda_sklearn.py PROGRAM")
    try:
        import sklearn
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    except ImportError:
        sys.exit("bench: scikit-learn is not installed: apt-get install python3-sklearn")
    print("scikit-learn %s, NumPy %s, OPENBLAS_CORETYPE=%s, load %.2f" % (
        sklearn.__version__, np.__version__, os.environ.get("OPENBLAS_CORETYPE", "(not set)"),
        os.getloadavg()[0]))
    print("%-22s %6s %6s %4s %10s %14s" % ("what", "n", "d", "c", "seconds", "angle to rlar"))
    for shape in SHAPES:
        samples, label = synthetic(*shape)
        seconds, ours = time_program(os.path.abspath(sys.argv[1]), samples, label)
        print("%-22s %6d %6d %4d %10.4f" % ("rlar lda", *shape, seconds))
        for solver in ("svd", "eigen"):
            seconds, theirs = time_sklearn(solver, samples, label, LinearDiscriminantAnalysis)
            print("%-22s %6d %6d %4d %10.4f %14.2e" % (
                "scikit-learn " + solver, *shape, seconds, largest_angle(ours, theirs)))


if __name__ == "__main__":
    main()
