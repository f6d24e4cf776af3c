#!/usr/bin/env python3
"""The operating system refuses, at every call on a file that a verb of the command makes.

    tests/verify/command_faults.py [--every N] [--build DIR]

Each call in turn (tests/verify/refuse.c lies between the command and the C library) is interrupted or
does one byte only: exit code 0 and the same files. Each in turn fails with EIO and ENOSPC, every fourth
with EDQUOT: exit code 6, one line with the system's reason, nothing on standard output, and every file as
it was. So where that call and all after it fail, but for temporaries that cannot be removed. Once no memory, and no memory from some point on, at every place of the program that calls for it
and at growing distances: exit code 7, likewise, or the same result. The last line tells how many.
"""
import errno
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from on_command import options


LASTING = ("EIO for ever", "ENOSPC for ever")  # that call and all after it
# What is done to a call, its errno, and at every which call: EDQUOT goes the way of ENOSPC.
FAULTS = [("interrupted", errno.EINTR, 1), ("short", 0, 1), ("EIO", errno.EIO, 1), ("ENOSPC", errno.ENOSPC, 1),
          ("EDQUOT", errno.EDQUOT, 4), (LASTING[0], errno.EIO, 1), (LASTING[1], errno.ENOSPC, 4)]
ONCE, ALWAYS = "without memory once", "without memory from then on"
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
    ("fit", "x.npy", "--labels", "y.txt", "--json"),
    ("fit", "t.csv", "--iters", "3", "--checkpoint", "out/c.checkpoint", "--every", "1", "-o", "out/m.rlar",
     "--json"),
    ("fit", "-", "--format", "csv", "--json"),
    ("predict", "m.rlar", "-", "--format", "csv"),
    ("convert", "t.mat.gz", "out/t.svm"),
    ("convert", "-", "out/t.csv", "--format", "mat"),
    ("convert", "images", "out/i.csv"),
    ("evaluate", *EVALUATE[1:], "--csv", "-o", "out/e.csv"),
    ("predict", "m.rlar", "t.csv", "--scores", "-o", "out/s.csv"),
    ("methods",),
    ("methods", "rlar", "--json"),
    ("doctor", "--json"),
    ("reproduce", "uci", "--methods", "rr", "--columns", "preset", "--trials", "1", "--data-dir", "data",
     "--resume", "out/uci.journal", "--json"),
]


# Files that keep what is finished, also when the rest fails.
GROWING = ("journal", "checkpoint")
# Lines beside the one that tells why a command failed.
ASIDE = ("rlar: warning: ", "rlar: no checkpoint after iteration ")
# What `-` reads.
INPUT = {"csv": "t.csv", "mat": "t.mat"}

OPTIONS = options(__doc__, "--every", 1, "every N-th call only")

import support  # noqa: E402  (it reads the environment)
from test_formats import column, mat, mat_opaque  # noqa: E402


def make_inputs(folder):
    x, y = support.blobs()
    (folder / "t.csv").write_text(support.table_text(x, y, names=[f"f{i}" for i in range(x.shape[1])]))
    (folder / "t.mat").write_bytes(mat(False, fea=x, gnd=column(y)))
    (folder / "object.mat").write_bytes(mat(False, fea=x, t=mat_opaque("t"), gnd=column(y)))
    (folder / "t.mat.gz").write_bytes(support.gz((folder / "t.mat").read_bytes()))
    np.save(folder / "x.npy", x)
    (folder / "y.txt").write_text("".join(f"{name}\n" for name in y))
    for i, name in enumerate(("a/1.pgm", "a/2.pgm", "b/1.pgm", "b/2.pgm.gz")):
        image = b"P5 3 2 255\n" + bytes(range(10 * i, 10 * i + 6))
        (folder / "images" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "images" / name).write_bytes(support.gz(image) if name.endswith("gz") else image)
    shutil.copytree(support.ROOT / "data", folder / "data")
    for args in (("convert", "t.csv", "t.npz"), ("convert", "t.csv", "t.arff"), ("fit", "t.csv", "-o", "m.rlar")):
        result = support.run(*args, cwd=folder)
        assert result.code == 0, result.err
    (folder / "results.json").write_bytes(support.run(*EVALUATE, "--json", cwd=folder).out)


def old_outputs(folder, args):
    """Every output is there already with other bytes, but journals and checkpoints, which begin empty."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "out").mkdir()
    for name in args:
        if name.startswith("out/") and not name.endswith(GROWING):
            (folder / name).write_bytes(b"the old file")


def written(folder):
    """The files of a run, without journals, checkpoints and the seconds of a trace, its seventh column."""
    files = {name: content for name, content in support.snapshot(folder / "out").items()
             if not name.endswith(GROWING)}
    if "trace.csv" in files:
        files["trace.csv"] = re.sub(rb"(?m)^((?:[^,\n]*,){6})[^,\n]*", rb"\1", files["trace.csv"])
    if "e.csv" in files:
        files["e.csv"] = without_timings(files["e.csv"])
    return files


def without_timings(table):
    """A CSV file without its columns of seconds; one that is no such file as it is."""
    lines = [line.split(b",") for line in table.splitlines()]
    kept = [i for i, name in enumerate(lines[0] if lines else []) if not name.endswith(b"_seconds")]
    return [[line[i] for i in kept if i < len(line)] for line in lines] if len(kept) > 1 else table


def without_measured(answer):
    """What doctor measures changes from run to run."""
    return {name: value for name, value in answer.items() if name not in ("gflops", "free_bytes")}


def outputs(folder, result):
    """What a run has made, without timings."""
    files = written(folder)
    answer = result.out
    if answer.startswith(b"{"):
        answer = without_measured(support.without_seconds(result.json))
    return files, answer


def said(result):
    """The lines of standard error with # for numbers, which may be timings."""
    return [re.sub(r"[0-9]+(\.[0-9]+)?", "#", line) for line in result.err.splitlines()]


class Usual(NamedTuple):
    """What a command makes and says when nothing fails."""
    outputs: tuple  # files, standard output
    notes: list


class Refusals:
    def __init__(self, folder, library):
        self.folder, self.library = folder, library
        self.log, self.sites = folder.parent / "struck", folder.parent / "sites"
        self.points = self.lasting = self.lenient = self.once = self.always = 0
        self.wrong = 0
        self.places, self.told = set(), set()

    def run(self, args, number, code, how=""):
        old_outputs(self.folder, args)
        self.log.unlink(missing_ok=True)
        preload = " ".join(filter(None, [os.environ.get("RLAR_PRELOAD_FIRST"), self.library]))
        env = {"LD_PRELOAD": preload, "RLAR_REFUSE": f"{number}:{code}{how}", "RLAR_REFUSE_LOG": str(self.log),
               "RLAR_REFUSE_SITES": str(self.sites), "OPENBLAS_NUM_THREADS": "1"}  # that is put back: strdup
        stdin = (self.folder / INPUT[args[args.index("--format") + 1]]).read_bytes() if "-" in args else b""
        result = support.run(*args, "--threads", "1", cwd=self.folder, env=env, stdin=stdin)
        struck = self.log.read_text().rsplit(" ", 1) if self.log.exists() else None
        return result, struck

    def complain(self, args, number, fault, struck, result, what):
        """Told once for every kind of fault in a kind of call of the command; the rest go on."""
        call = struck[0] if struck else "-"
        self.wrong += 1
        if (args, what, call, fault) not in self.told:
            self.told.add((args, what, call, fault))
            print(f"rlar {' '.join(args)}: {what} when call {number} ({call}) is {fault}\n"
                  f"exit {result.code}: {result.err}", file=sys.stderr)

    def check_refused(self, args, number, fault, code, struck, result, usual, kept):
        def complain(what):
            self.complain(args, number, fault, struck, result, what)
        if fault in ("interrupted", "short"):
            complain("an error")
        if result.code != (support.MEMORY if code == errno.ENOMEM else support.IO):
            complain("another exit code")
        last = (result.err.splitlines() or [""])[-1]
        reason = "memory|the system (has no more|refuses)" if code == errno.ENOMEM else re.escape(os.strerror(code))
        if not last.startswith("rlar: ") or not re.search(reason, last):
            complain("a wrong text")
        if unusual(result, usual) != said(result)[-1:]:
            complain("more than one line")
        if result.out and not last.startswith("rlar: standard output: "):
            complain("something on standard output")
        expected = usual.outputs[0]
        torn = [name for name, content in written(self.folder).items()
                if content != b"the old file" and content != expected.get(name)]
        fresh = [name for name, content in written(self.folder).items() if content != b"the old file"]
        late = ("the file is written, but" in last or last.startswith("rlar: standard output: ")
                or code == errno.ENOMEM)
        # Of two files the second cannot be put in place, nor the first be taken back: rlar_file_commit_both in rlar.h.
        half = kept and struck[0] == "rename" and fresh == ["trace.csv"] and "m.rlar: cannot put" in last
        if torn or (fresh and not late and not half):
            complain(f"{torn or fresh} changed")
        if set(written(self.folder)) != set(expected):
            complain("other files")

    def sweep(self):
        """Where files cannot be removed, temporaries of the library stay: with a lasting fault they are not compared.
        Is one of them a file that was replaced?"""
        strays = list((self.folder / "out").glob(".rlar-*"))
        kept = any(stray.read_bytes() == b"the old file" for stray in strays)
        for stray in strays:
            stray.unlink()
        return kept

    def check(self, args, number, fault, code, usual):
        """False: there is no such call."""
        result, struck = self.run(args, number, code, ":once" if fault == ONCE else ":ever" if fault in LASTING else "")
        kept = fault in LASTING and self.sweep()
        if result.code == 0:
            if outputs(self.folder, result) != usual.outputs:
                self.complain(args, number, fault, struck, result, "another result")
            if struck and code not in (0, errno.EINTR, errno.ENOMEM) and not may_ignore(args, struck, result):
                self.complain(args, number, fault, struck, result, "no error")
            if unusual(result, usual):
                self.complain(args, number, fault, struck, result, "an error that is none")
            self.lenient += bool(struck) and code not in (0, errno.EINTR)
        else:
            self.check_refused(args, number, fault, code, struck, result, usual, kept)
        return struck is not None

    def without_files(self, args, every, usual):
        for fault, code, step in FAULTS:
            number = 1
            while self.check(args, number, fault, code, usual):
                self.points += 1
                self.lasting += fault in LASTING
                number += every * step

    def without_memory(self, args, every, usual):
        """Of every place its first call alone, and all from its last one on; many calls come through a few of the
        places, so more of them at growing distances."""
        self.run(args, 0, errno.ENOMEM)
        places = [line.rsplit(" ", 3) for line in self.sites.read_text().splitlines()]
        self.places |= {(name, place) for name, place, _, _ in places}
        once, always = {int(first) for _, _, first, _ in places}, {int(last) for _, _, _, last in places}
        number, end = 1, max(always, default=0)
        while number <= end:
            once.add(number)
            always.add(number)
            number += every * (1 + number // 10)
        for fault, numbers in ((ONCE, once), (ALWAYS, always)):
            for number in sorted(numbers):
                if not self.check(args, number, fault, errno.ENOMEM, usual):
                    sys.exit(f"rlar {' '.join(args)}: call {number} for memory was not reached")
        self.once += len(once)
        self.always += len(always)

    def everywhere(self, args, every):
        result, _ = self.run(args, 0, 0)
        if result.code != 0:
            sys.exit(f"rlar {' '.join(args)}: {result.err}")
        usual = Usual(outputs(self.folder, result), said(result))
        self.without_files(args, every, usual)
        self.without_memory(args, every, usual)


def unusual(result, usual):
    """What is said beyond what the command says when nothing fails; a warning may be, and that a checkpoint is
    missing."""
    return [line for line in said(result) if line not in usual.notes and not line.startswith(ASIDE)]


def may_ignore(args, struck, result):
    """A fit goes on without a checkpoint that cannot be written or taken away, and says so."""
    name, lenient = struck
    unkept = ASIDE[1] in result.err or (name == "unlink" and "cannot be removed" in result.err)
    return lenient.strip() == "1" or ("--checkpoint" in args and unkept)


def main():
    top = Path(tempfile.mkdtemp(prefix="rlar-refuse-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    try:
        folder = top / "work"
        folder.mkdir()
        make_inputs(folder)
        refusals = Refusals(folder, str(Path(OPTIONS.build, "tests", "refuse.so").resolve()))
        runs = [r for r in RUNS if r[0] != "plot" or shutil.which("gnuplot")]
        verbs = set(re.findall(r"(?m)^  (\w+) +\S.*", support.run("--help").text.split("Verbs:")[1].split("\n\n")[0]))
        if verbs != {run[0] for run in RUNS}:
            sys.exit(f"not every verb is here: {verbs ^ {run[0] for run in RUNS}}")
        for number, args in enumerate(runs):
            print(f"{number + 1} of {len(runs)}: rlar {' '.join(args)}", file=sys.stderr)
            refusals.everywhere(args, OPTIONS.every)
        kinds = sorted({name for name, _ in refusals.places})
        tried = "every verb" if len(runs) == len(RUNS) else "every verb but plot: there is no gnuplot"
        print(f"{refusals.points} calls on files of {len(runs)} commands ({tried}) interrupted, cut short or refused (EIO, "
              f"ENOSPC, EDQUOT; {refusals.lasting} of them and all after them for ever): the same result ({refusals.lenient} could be done without), or exit code 6 with the reason "
              f"and every file as it was; {refusals.once} times no memory once, {refusals.always} times from some point on, "
              f"at each of {len(refusals.places)} places that call for it ({', '.join(kinds)}): exit code 7 or the same "
              f"result; {refusals.wrong} wrong")
        return 1 if refusals.wrong else 0
    finally:
        shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
