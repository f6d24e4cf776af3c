#!/usr/bin/env python3
"""--max-memory holds: what needs more is refused with the figures in the message, and the process stays below.

    tests/verify/memory_limit.py [--count N]     N thousand numbers in the data (default 2000)

Every verb is run under limits from far too little to plenty; the memory of the process (its high-water mark) must stay
below the limit and what the program needs for a small fit. fit, evaluate, tune, convert and info hold their input: a
third of what they take without a limit must be refused. predict and transform read it block by block: of a file of
three blocks they must hold one and what they make of it, less than two, and a limit far below that must be refused, as
must one below what a model needs.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import zlib
from array import array
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("RLAR_PROGRAM") or str(ROOT / "build" / "rlar")
MEMORY = 7  # the exit code
HOLDING = ("fit", "evaluate", "tune", "convert", "info long.npy", "info packed.mat")  # their input, all of it
# Beside what a fit of iris needs: what the heap does not give back. What is held must be several times as much, else
# a limit that nobody keeps would not be seen.
SLACK = 4 << 20
SHARES = (0.02, 0.3, 0.6, 0.9, 1.3, 8)  # of what the process takes without a limit; the last is plenty
TOO_LITTLE = {True: (0.02, 0.3), False: (0.02,)}  # of these, for those that hold their input and for the others
BLOCK = 16 << 20  # of samples, that a verb reads at a time
LONG = 3 * BLOCK  # bytes of samples for those that read block by block
# The need in a refusal, as src/core/alloc.c, src/training.c and src/linalg/blas.c tell it, and the limit that they tell.
AMOUNT = r"\d+(\.\d+)? (bytes|KiB|MiB|GiB)"
FIGURES = re.compile(rf"({AMOUNT} needed with|needs {AMOUNT} beside).*memory limit is {AMOUNT}")


def value(i, j, classes):
    return (i * 7919 + j * 104729 + i * j % 977) % 1009 / 1009 + (i % classes == j % classes)


def npy(path, n, d, classes, said=None):
    """Samples and, in the last column, labels; a few lines, so that no package is needed. `said`: a header for so many."""
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (said or n, d + 1)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
        for i in range(n):
            row = array("d", (value(i, j, classes) for j in range(d)))
            row.append(i % classes)
            file.write(row.tobytes())


def matrix(name, rows, columns, numbers):
    """A matrix of a MATLAB file, in pieces: tag, class, sizes, name, then the numbers, column by column."""
    def part(kind, content):
        return kind.to_bytes(4, "little") + len(content).to_bytes(4, "little") + content + bytes(-len(content) % 8)
    double, text, sizes, flags, whole, of_doubles = 9, 1, 5, 6, 14, 6
    head = (part(flags, of_doubles.to_bytes(8, "little")) +
            part(sizes, rows.to_bytes(4, "little") + columns.to_bytes(4, "little")) + part(text, name.encode()))
    held = 8 * rows * columns
    yield whole.to_bytes(4, "little") + (len(head) + 8 + held).to_bytes(4, "little") + head
    yield double.to_bytes(4, "little") + held.to_bytes(4, "little")
    yield from numbers


def pack(path, start):
    """What stands from `start` on, packed as MATLAB does it."""
    deflate, rest = zlib.compressobj(1), path.with_suffix(".rest")
    with open(path, "rb+") as file, open(rest, "wb+") as packed:
        file.seek(start)
        while piece := file.read(1 << 16):
            packed.write(deflate.compress(piece))
        packed.write(deflate.flush())
        file.seek(start)
        file.write((15).to_bytes(4, "little") + packed.tell().to_bytes(4, "little"))
        packed.seek(0)
        while piece := packed.read(1 << 16):
            file.write(piece)
        file.truncate()
    rest.unlink()


def mat(path, n, d, classes, packed):
    """The samples and labels of npy() as a MATLAB file."""
    columns = (array("d", (value(i, j, classes) for i in range(n))).tobytes() for j in range(d))
    labels = (array("d", (i % classes for i in range(n))).tobytes() for _ in range(1))
    with open(path, "wb") as file:
        file.write(b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM")
    for name, width, numbers in (("X", d, columns), ("y", 1, labels)):
        start = path.stat().st_size
        with open(path, "ab") as file:
            for piece in matrix(name, n, width, numbers):
                file.write(piece)
        if packed:
            pack(path, start)


def lengthen(path, to, n, d, times):
    """The same samples several times over."""
    npy(to, 0, d, 1, n * times)
    with open(to, "ab") as file, open(path, "rb") as rows:
        for _ in range(times):
            rows.seek(-8 * n * (d + 1), os.SEEK_END)
            while piece := rows.read(1 << 16):  # not all at once: see run()
                file.write(piece)


def run(*words):
    """Exit code, standard error and the most memory of the process in bytes. The mark begins with the memory of this
    script, from which the process comes: it must stay small."""
    process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, error, 1024 * usage.ru_maxrss


def jobs(folder):
    data, long, model = folder / "data.npy", folder / "long.npy", folder / "model.rlar"
    methods = subprocess.run([PROGRAM, "methods"], capture_output=True, text=True, check=True).stdout.splitlines()
    for line in methods:
        yield ["fit", data, "--method", line.split()[0], "-q"]
    yield ["evaluate", data, "--methods", "lda", "--folds", "2", "--trials", "1"]
    yield ["tune", data, "--method", "rr", "--folds", "2"]
    yield ["predict", model, long]
    yield ["transform", model, long]
    yield ["convert", long, folder / "out.csv"]
    yield ["info", long]
    yield ["fit", folder / "plain.mat", "--method", "lda", "-q"]
    yield ["convert", folder / "plain.mat", folder / "out.csv"]
    yield ["info", folder / "packed.mat"]
    yield ["info", model]
    yield ["rank", model]


def holds(job):
    return job[0] in HOLDING or " ".join((job[0], Path(job[1]).name)) in HOLDING


def shares(job):
    """A few where a run takes long and the memory has one step only."""
    return SHARES if job[0] in ("fit", "evaluate", "tune") else (*TOO_LITTLE[True], SHARES[-1])


def check_run(job, base, limit, share):
    """Faults of one run under a limit, whether it was refused, and the bytes above the limit."""
    faults = []
    code, error, most = run(*job, "--max-memory", limit)
    over = most - base - limit
    too_little = share in TOO_LITTLE[holds(job)]
    allowed = (MEMORY,) if too_little else (0,) if share == SHARES[-1] else (0, MEMORY)
    if code not in allowed:
        faults.append("limit %d, %g of the need: exit %d: %s" % (limit, share, code, error))
    if code == MEMORY and not FIGURES.search(error):
        faults.append("limit %d: the message has no figures: %s" % (limit, error))
    if over > SLACK:
        faults.append("limit %d: %d bytes above it" % (limit, over))
    return faults, code == MEMORY, over


def check(job, base, data):
    """Faults of one verb under all limits, how many of the runs were refused, and the most bytes above a limit.

    `base` is the memory of a small fit, `data` that of the samples. Without a limit the verb works."""
    code, error, most = run(*job)
    if code:
        return ["exit %d without a limit: %s" % (code, error)], 0, 0
    taken, faults, refused, above = most - base, [], 0, 0
    if holds(job) and taken < 4 * SLACK:
        faults.append("takes %d bytes only, too little to tell whether a limit is kept" % taken)
    if not holds(job) and taken > 2 * BLOCK:
        faults.append("takes %d bytes, more than two blocks of samples" % taken)
    for share in shares(job):
        found, was_refused, over = check_run(job, base, int(share * max(taken, data)), share)
        faults += found
        refused += was_refused
        above = max(above, over)
    if not refused:
        faults.append("never refused")
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
        lengthen(folder / "data.npy", folder / "long.npy", numbers // 400, 400, -(-LONG // (8 * numbers)))
        for kind in ("plain", "packed"):
            mat(folder / (kind + ".mat"), numbers // 200, 400, 5, kind == "packed")
        base = run("fit", ROOT / "data" / "iris.arff", "-q")[2]
        assert run("fit", folder / "data.npy", "--method", "lda", "-q", "-o", folder / "model.rlar")[0] == 0
        for job in jobs(folder):
            faults, refused, above = check(job, base, 8 * numbers)
            runs += len(shares(job))
            refusals += refused
            worst = max(worst, above)
            wrong += len(faults)
            for fault in faults:
                print("rlar %s: %s" % (" ".join(map(str, job)), fault), file=sys.stderr)
    print("%d runs of fit (17 methods), evaluate, tune, predict, transform, convert, info and rank, of NPY and MATLAB files, "
          "under --max-memory: %d refused with the figures, among them all with a third of the need of those that hold their "
          "input; predict and transform hold less than two blocks of samples; at most %.1f MiB above limit and program, %d wrong"
          % (runs, refusals, worst / 2**20, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
