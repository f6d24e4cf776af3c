#!/usr/bin/env python3
"""The operating system refuses, at every call on a file that a verb of the command makes.

    tests/verify/command_faults.py [--every N] [--build DIR]

Each call in turn (tests/verify/refuse.c lies between the command and the C library) is interrupted or
does one byte only: exit code 0 and the same files. Each in turn fails with EIO, ENOSPC and EDQUOT: exit
code 6, one line with the system's reason, and every file as it was. Without memory from some point on, at growing distances: exit code 7, likewise. The last
line tells how many.
"""
import errno
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from on_command import options


FAULTS = [("interrupted", errno.EINTR), ("short", 0), ("EIO", errno.EIO), ("ENOSPC", errno.ENOSPC),
          ("EDQUOT", errno.EDQUOT)]
MEMORY = ("without memory from then on", errno.ENOMEM)
EVALUATE = ("evaluate", "t.csv", "--methods", "rr,lda", "--train-per-class", "4", "--trials", "2", "--seed", "1")

# A verb and its arguments; the files that it reads are made by make_inputs().
RUNS = [
    ("fit", "t.csv", "-o", "out/m.rlar", "--trace", "out/trace.csv", "--json"),
    ("fit", "t.npz", "--json"),
    ("predict", "m.rlar", "t.csv", "-o", "out/p.txt"),
    ("predict", "m.rlar", "t.csv", "--scores"),
    ("transform", "m.rlar", "t.csv", "-o", "out/z.csv"),
    ("convert", "t.csv", "out/t.npz"),
    ("convert", "t.csv", "out/t.csv.gz"),
    ("convert", "t.mat", "out/t.svm"),
    ("convert", "object.mat", "out/t.svm"),
    ("info", "t.arff"),
    ("info", "m.rlar"),
    ("rank", "m.rlar"),
    (*EVALUATE, "--resume", "out/fits.journal", "--json"),
    ("tune", "t.csv", "--method", "rr", "--grid", "lambda=0.1,1", "--folds", "2", "-o", "out/tune.txt"),
    ("plot", "features", "m.rlar", "-o", "out/f.svg"),
    ("plot", "confusion", "results.json", "-o", "out/c.svg"),
    ("report", "results.json", "-o", "out/r.html"),
    ("reproduce", "uci", "--methods", "rr", "--columns", "preset", "--trials", "1", "--data-dir", "data",
     "--resume", "out/uci.journal", "--json"),
]


OPTIONS = options(__doc__, "--every", 1, "every N-th call only")

import support  # noqa: E402  (it reads the environment)
from test_formats import column, mat, mat_opaque  # noqa: E402


def make_inputs(folder):
    x, y = support.blobs()
    (folder / "t.csv").write_text(support.table_text(x, y, names=[f"f{i}" for i in range(x.shape[1])]))
    (folder / "t.mat").write_bytes(mat(False, fea=x, gnd=column(y)))
    (folder / "object.mat").write_bytes(mat(False, fea=x, t=mat_opaque("t"), gnd=column(y)))
    shutil.copytree(support.ROOT / "data", folder / "data")
    for args in (("convert", "t.csv", "t.npz"), ("convert", "t.csv", "t.arff"), ("fit", "t.csv", "-o", "m.rlar")):
        result = support.run(*args, cwd=folder)
        assert result.code == 0, result.err
    (folder / "results.json").write_bytes(support.run(*EVALUATE, "--json", cwd=folder).out)


def old_outputs(folder, args):
    """Every output is there already with other bytes, but journals, which begin empty."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "out").mkdir()
    for name in args:
        if name.startswith("out/") and not name.endswith(".journal"):
            (folder / name).write_bytes(b"the old file")


def written(folder):
    """The files of a run, without journals and the seconds of a trace, its seventh column."""
    files = {name: content for name, content in support.snapshot(folder / "out").items()
             if not name.endswith("journal")}
    if "trace.csv" in files:
        files["trace.csv"] = re.sub(rb"(?m)^((?:[^,\n]*,){6})[^,\n]*", rb"\1", files["trace.csv"])
    return files


def outputs(folder, result):
    """What a run has made, without timings."""
    files = written(folder)
    answer = support.without_seconds(result.json) if result.out.startswith(b"{") else result.out
    return files, answer


class Refusals:
    def __init__(self, folder, library):
        self.folder, self.library = folder, library
        self.log = folder.parent / "struck"
        self.points = self.lenient = self.memory = 0

    def run(self, args, number, code):
        old_outputs(self.folder, args)
        self.log.unlink(missing_ok=True)
        preload = " ".join(filter(None, [os.environ.get("RLAR_PRELOAD_FIRST"), self.library]))
        env = {"LD_PRELOAD": preload, "RLAR_REFUSE": f"{number}:{code}", "RLAR_REFUSE_LOG": str(self.log)}
        result = support.run(*args, "--threads", "1", cwd=self.folder, env=env)
        struck = self.log.read_text().split() if self.log.exists() else None
        return result, struck

    def complain(self, args, number, fault, struck, result, what):
        sys.exit(f"rlar {' '.join(args)}: {what} when call {number} ({struck[0] if struck else '-'}) is {fault}\n"
                 f"exit {result.code}: {result.err}")

    def check_refused(self, args, number, fault, code, struck, result, expected):
        def complain(what):
            self.complain(args, number, fault, struck, result, what)
        if fault in ("interrupted", "short"):
            complain("an error")
        if result.code != (support.MEMORY if code == errno.ENOMEM else support.IO):
            complain("another exit code")
        last = result.err.splitlines()[-1]
        reason = "memory|the system has no more" if code == errno.ENOMEM else re.escape(os.strerror(code))
        if not last.startswith("rlar: ") or not re.search(reason, last):
            complain("a wrong text")
        torn = [name for name, content in written(self.folder).items()
                if content != b"the old file" and content != expected.get(name)]
        fresh = [name for name, content in written(self.folder).items() if content != b"the old file"]
        late = ("the file is written, but" in last or last.startswith("rlar: standard output: ")
                or code == errno.ENOMEM)
        if torn or (fresh and not late):
            complain(f"{torn or fresh} changed")
        if set(written(self.folder)) != set(expected):
            complain("other files")

    def check(self, args, number, fault, code, expected):
        """False: there is no such call."""
        result, struck = self.run(args, number, code)
        if result.code == 0:
            if outputs(self.folder, result) != expected:
                self.complain(args, number, fault, struck, result, "another result")
            if struck and code not in (0, errno.EINTR) and struck[1] == "0":
                self.complain(args, number, fault, struck, result, "no error")
            self.lenient += bool(struck) and code not in (0, errno.EINTR)
        else:
            self.check_refused(args, number, fault, code, struck, result, expected[0])
        return struck is not None

    def everywhere(self, args, every):
        result, _ = self.run(args, 0, 0)
        if result.code != 0:
            sys.exit(f"rlar {' '.join(args)}: {result.err}")
        expected = outputs(self.folder, result)
        for fault, code in FAULTS:
            number = 1
            while self.check(args, number, fault, code, expected):
                self.points += 1
                number += every
        number = 1
        while self.check(args, number, *MEMORY, expected):
            self.memory += 1
            number += every * (1 + number // 20)


def main():
    top = Path(tempfile.mkdtemp(prefix="rlar-refuse-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    try:
        folder = top / "work"
        folder.mkdir()
        make_inputs(folder)
        refusals = Refusals(folder, str(Path(OPTIONS.build, "tests", "refuse.so").resolve()))
        runs = [r for r in RUNS if r[0] != "plot" or shutil.which("gnuplot")]
        for number, args in enumerate(runs):
            print(f"{number + 1} of {len(runs)}: rlar {' '.join(args)}", file=sys.stderr)
            refusals.everywhere(args, OPTIONS.every)
        print(f"{refusals.points} calls on files of {len(runs)} commands interrupted, cut short or refused (EIO, ENOSPC, "
              f"EDQUOT): the same result ({refusals.lenient} could be done without), or exit code 6 with the reason and "
              f"every file as it was; {refusals.memory} times no memory from some point on: exit code 7")
    finally:
        shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    main()
