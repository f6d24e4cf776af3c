#!/usr/bin/env python3
"""Time RLAR's fit on synthetic data; run by `make bench`. Writes nothing but its table.

    bench/bench.py PROGRAM

Seconds per iteration are those of the whole fit (scaling and neighbours included) divided by its
iterations, the best of a few runs. The NumPy row is the reference of the tests, which builds every
matrix of the paper explicitly and is written to be read, not to be fast: it says what a literal
transcription costs, not what NumPy could do.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "reference"))
sys.dont_write_bytecode = True
import rlar_reference  # noqa: E402  (needs the path above)

LARGE = (2414, 1024, 38)  # samples, features, classes: the size of a face data set
SMALL = (300, 120, 6)
ITERATIONS = 10
RUNS = 3


def synthetic(n, d, c):
    """Gaussian classes of nearly equal size, samples of unit length, fixed seed."""
    rng = np.random.default_rng(1)
    label = np.arange(n) % c
    samples = rng.normal(size=(c, d))[label] + rng.normal(size=(n, d))
    return rlar_reference.unit_length(samples), label + 1


def answer(command, folder=None):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit("bench: %s failed with exit code %d" % (" ".join(command), done.returncode))
    return json.loads(done.stdout)


def time_program(program, samples, label, threads):
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "x.npy"), np.column_stack([samples, label]))
        command = [program, "fit", "x.npy", "--json", "-q", "--scale", "none",
                   "--iters", str(ITERATIONS), "--threads", str(threads)]
        fits = [answer(command, folder) for _ in range(RUNS)]
    best = min(fits, key=lambda fit: fit["seconds"])
    return best["seconds"] / best["iterations"], best["path"], best["objective"]


def time_reference(samples, label):
    """One untimed objective, so that both rows can be seen to have done the same work."""
    start = time.perf_counter()
    rlar_reference.fit(samples, label, 0.1, 0.1, iters=ITERATIONS, trace=False, precise=False)
    seconds = (time.perf_counter() - start) / ITERATIONS
    trace = rlar_reference.fit(samples, label, 0.1, 0.1, iters=ITERATIONS, precise=False)["trace"]
    return seconds, "primal", trace[-1]["objective"]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: bench/bench.py PROGRAM")
    program = os.path.abspath(sys.argv[1])
    machine = answer([program, "doctor", "--json"])
    print("BLAS      %s, kernel %s, %.1f GF/s on %d threads" % (
        machine["blas"]["library"], machine["blas"]["kernel"], machine["gflops"], machine["threads"]))
    print("load      %.2f %.2f %.2f at the start\n" % os.getloadavg())
    print("%-24s %6s %6s %4s  %-6s %14s %14s" % (
        "what", "n", "d", "c", "path", "s / iteration", "objective"))

    def show(what, shape, outcome):
        print("%-24s %6d %6d %4d  %-6s %14.6f %14.6f" % (what, *shape, outcome[1], outcome[0], outcome[2]))

    for shape in (LARGE, SMALL):
        samples, label = synthetic(*shape)
        for threads in sorted({1, os.cpu_count() or 1}):
            show("rlar, %d thread%s" % (threads, "s"[:threads > 1]), shape,
                 time_program(program, samples, label, threads))
        if shape == SMALL:
            show("NumPy reference", shape, time_reference(samples, label))
    print("\nload      %.2f %.2f %.2f at the end" % os.getloadavg())


if __name__ == "__main__":
    main()
