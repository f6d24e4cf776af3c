#!/usr/bin/env python3
"""Ctrl-C and kill -9 at random moments of the command.

    tests/verify/interrupt_command.py [--count N] [--build DIR]

Half of the runs get SIGINT: exit code 130 (or 0, when all was done), a line that says
so, and the output is the old file or the new one, with nothing beside it; few may die of it, before
they have their handler, and not all may be done. The other half get SIGKILL: the output is the old file
or the new one. Evaluations go on from their journal: after every ten interruptions the result is that of a
run that nobody disturbed. The last line tells how many.
"""
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from on_command import options

OPTIONS = options(__doc__, "--count", 100, "interruptions")

import support  # noqa: E402  (it reads the environment)

EVALUATE = ("evaluate", "long.csv", "--methods", "rr,lda,rlar", "--train-per-class", "10", "--trials", "2",
            "--tune", "oracle", "--grid", "rlar.alpha=0.05,0.1,1", "--grid", "rr.lambda=0.1,1", "--json",
            "--resume", "out/fits.journal")
REPRODUCE = ("reproduce", "uci", "--methods", "rr,lda", "--columns", "preset,oracle", "--trials", "2",
             "--data-dir", support.ROOT / "data", "--json", "--resume", "out/uci.journal")
SAVES = [
    ("fit", "long.csv", "-p", "solver=paper", "-o", "out/file"),
    ("predict", "m.rlar", "long.csv", "-o", "out/file"),
    ("transform", "m.rlar", "long.csv", "-o", "out/file"),
    ("convert", "long.csv", "out/file.arff"),
]
# What the exit codes after a signal say: a run is young before main() has set its handler.
ENDS = {signal.SIGINT: {support.INTERRUPTED: "stopped", 0: "finished", -signal.SIGINT: "young"},
        signal.SIGKILL: {-signal.SIGKILL: "killed", 0: "killed"}}
YOUNG = 0.1  # of the runs


class Interruptions:
    def __init__(self, folder):
        self.folder = folder
        self.random = random.Random(time.time())
        self.tally = dict.fromkeys(("stopped", "finished", "young", "killed", "old", "new", "strays", "resumed"), 0)

    def disturb(self, args, seconds, number):
        """Start the command and send it a signal at some moment; its exit code and errors."""
        process = support.start(*args, cwd=self.folder)
        time.sleep(self.random.uniform(0, 1.2 * seconds))
        process.send_signal(number)
        _, err = process.communicate(timeout=support.TIMEOUT)
        return process.returncode, err.decode()

    def check_end(self, args, number, code, err):
        if code not in ENDS[number]:
            sys.exit(f"rlar {args[0]}: exit {code} after signal {number}: {err}")
        if code == support.INTERRUPTED and "rlar: interrupted\n" not in err:
            sys.exit(f"rlar {args[0]}: it does not say that it was interrupted: {err}")
        self.tally[ENDS[number][code]] += 1

    def check_handler(self):
        """Each of these ends is right at some moment; together they show whether Ctrl-C does what it should."""
        stopped, young = self.tally["stopped"], self.tally["young"]
        if stopped == 0 or young > YOUNG * self.interrupted():
            sys.exit(f"of {self.interrupted()} runs that got Ctrl-C {stopped} ended with exit code {support.INTERRUPTED}, "
                     f"{young} without a word, of which at most {YOUNG:.0%} can have been before main() had its handler")

    def interrupted(self):
        return sum(self.tally[end] for end in ENDS[signal.SIGINT].values())

    def time_of(self, args):
        start = time.monotonic()
        result = support.run(*args, cwd=self.folder)
        if result.code != 0:
            sys.exit(f"rlar {args[0]}: {result.err}")
        return time.monotonic() - start, result

    def saves(self, args, count):
        target = self.folder / args[-1]
        seconds, _ = self.time_of(args)
        fresh = target.read_bytes()
        for i in range(count):
            number = signal.SIGINT if i % 2 == 0 else signal.SIGKILL
            target.write_bytes(b"the old file")
            code, err = self.disturb(args, seconds, number)
            self.check_end(args, number, code, err)
            found = target.read_bytes()
            if found not in (b"the old file", fresh):
                sys.exit(f"rlar {args[0]}: a torn file of {len(found)} bytes after signal {number}")
            if code == 0 and found != fresh:
                sys.exit(f"rlar {args[0]}: exit 0, but the file is the old one")
            self.tally["new" if found == fresh else "old"] += 1
            beside = [p for p in target.parent.iterdir() if p.name.startswith(".rlar-")]
            if beside and number == signal.SIGINT:
                sys.exit(f"rlar {args[0]}: {beside} left after Ctrl-C")
            self.tally["strays"] += len(beside)
            for path in beside:
                path.unlink()

    def resumes(self, args, count):
        journal = self.folder / args[-1]
        seconds, whole = self.time_of(args)
        for i in range(count):
            if i % 10 == 0:
                journal.unlink()
            number = signal.SIGINT if i % 2 == 0 else signal.SIGKILL
            self.check_end(args, number, *self.disturb(args, seconds, number))
            if i % 10 == 9 or i + 1 == count:
                _, again = self.time_of(args)
                if support.without_seconds(again.json) != support.without_seconds(whole.json):
                    sys.exit(f"rlar {args[0]}: another result after interruptions")
                self.tally["resumed"] += 1


def main():
    folder = Path(tempfile.mkdtemp(prefix="rlar-interrupt-"))
    try:
        (folder / "out").mkdir()
        x, y = support.blobs(60, 40, 4, seed=1, spread=40)
        (folder / "long.csv").write_text(support.table_text(x, y))
        interruptions = Interruptions(folder)
        interruptions.time_of(("fit", "long.csv", "-o", "m.rlar"))
        part = -(-OPTIONS.count // (len(SAVES) + 2))
        for args in SAVES:
            print(f"rlar {' '.join(args)}", file=sys.stderr)
            interruptions.saves(args, part)
        for args in (EVALUATE, REPRODUCE):
            print(f"rlar {args[0]} with a journal", file=sys.stderr)
            interruptions.resumes(args, part)
        interruptions.check_handler()
        tally = interruptions.tally
        print(f"{interruptions.interrupted()} times Ctrl-C ({tally['stopped']} ended with exit code "
              f"{support.INTERRUPTED}, {tally['finished']} were done, {tally['young']} came before the handler), "
              f"{tally['killed']} kills at random moments of {len(SAVES) + 2} commands: output {tally['old']} times the "
              f"old file, {tally['new']} times the new one, 0 torn; {tally['strays']} temporary files left by kills, "
              f"0 by Ctrl-C; {tally['resumed']} evaluations that went on had the same result")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
