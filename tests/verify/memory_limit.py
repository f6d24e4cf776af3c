#!/usr/bin/env python3
"""--max-memory holds: what needs more is refused with the figures in the message, and the process stays below.

    tests/verify/memory_limit.py [--count N]     N thousand numbers in the data (default 2000)

Every verb that takes memory in proportion to its input is run under limits from far too little to plenty; the
memory of the process (its high-water mark) must stay below the limit and what the program needs for a small fit.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from array import array
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("RLAR_PROGRAM") or str(ROOT / "build" / "rlar")
MEMORY = 7  # the exit code
# Beside what a fit of iris needs: the buffers of the BLAS of two threads, and what the heap does not give back.
SLACK = 24 << 20
SHARES = (0.02, 0.3, 0.6, 0.9, 1.3, 8)  # of what the process takes without a limit; the last is plenty


def npy(path, n, d, classes):
    """Samples and, in the last column, labels; a few lines, so that no package is needed."""
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (n, d + 1)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
        for i in range(n):
            row = array("d", ((i * 7919 + j * 104729 + i * j % 977) % 1009 / 1009 + (i % classes == j % classes)
                              for j in range(d)))
            row.append(i % classes)
            file.write(row.tobytes())


def run(*words):
    """Exit code, standard error and the most memory of the process in bytes."""
    process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, error, 1024 * usage.ru_maxrss


def jobs(folder):
    data, model = folder / "data.npy", folder / "model.rlar"
    methods = subprocess.run([PROGRAM, "methods"], capture_output=True, text=True, check=True).stdout.splitlines()
    for line in methods:
        yield ["fit", data, "--method", line.split()[0], "-q"]
    yield ["predict", model, data]
    yield ["transform", model, data]
    yield ["evaluate", data, "--methods", "lda", "--folds", "2", "--trials", "1"]
    yield ["tune", data, "--method", "rr", "--folds", "2"]
    yield ["convert", data, folder / "out.csv"]
    yield ["info", data]
    yield ["info", model]
    yield ["rank", model]


def check(job, base, data):
    """Faults of one verb under all limits, how many of the runs were refused, and the most bytes above a limit.

    `base` is the memory of a small fit, `data` that of the samples. Without a limit the verb works."""
    code, error, most = run(*job)
    if code:
        return ["exit %d without a limit: %s" % (code, error)], 0, 0
    faults, refused, above = [], 0, 0
    need = max(most - base, data)
    for share in SHARES:
        limit = int(share * need)
        code, error, most = run(*job, "--max-memory", limit)
        over = most - base - limit
        above = max(above, over)
        if code not in ((0,) if share == SHARES[-1] else (0, MEMORY)):
            faults.append("limit %d: exit %d: %s" % (limit, code, error))
        if code == MEMORY and not re.search(r"needed|needs.*(MiB|KiB|bytes)", error):
            faults.append("limit %d: the message has no figures: %s" % (limit, error))
        if over > SLACK:
            faults.append("limit %d: %d bytes above it" % (limit, over))
        refused += code == MEMORY
    return faults, refused, above


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=2000)
    numbers = 1000 * parser.parse_args().count
    wrong = runs = refusals = 0
    worst = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        npy(folder / "data.npy", numbers // 400, 400, 5)
        base = run("fit", ROOT / "data" / "iris.arff", "-q")[2]
        assert run("fit", folder / "data.npy", "--method", "lda", "-q", "-o", folder / "model.rlar")[0] == 0
        for job in jobs(folder):
            faults, refused, above = check(job, base, 8 * numbers)
            runs += len(SHARES)
            refusals += refused
            worst = max(worst, above)
            wrong += len(faults)
            for fault in faults:
                print("rlar %s: %s" % (" ".join(map(str, job)), fault), file=sys.stderr)
    print("%d runs of fit (17 methods), predict, transform, evaluate, tune, convert, info and rank under --max-memory: "
          "%d refused with the figures, at most %.1f MiB above limit and program, %d wrong"
          % (runs, refusals, worst / 2**20, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
