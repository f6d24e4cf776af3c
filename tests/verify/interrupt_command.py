#!/usr/bin/env python3
"""Ctrl-C and kill -9 at random moments of the command.

    tests/verify/interrupt_command.py [--count N] [--build DIR]

Half of the runs get SIGINT: exit code 130 (or 0, when all was done), a line that says
so, and the output is the old file or the new one, with nothing beside it; few may die of it, before
they have their handler, and not all may be done. The other half get SIGKILL: every output is the old file
or the new one; a model and its trace are put in place one after the other, the trace first. Evaluations go on from
their journal, a fit from its checkpoint: after every ten interruptions the result is that of a run that nobody
disturbed. A short fit with a trace and a checkpoint is killed before each of its calls on files in turn
(tests/verify/refuse.c), and goes on with the same bytes. The last line tells how many.
"""
import itertools
import random
import re
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
CHECKPOINT = ("fit", "long.csv", "-p", "solver=paper", "-o", "out/model", "--every", "1", "--checkpoint",
              "out/fit.checkpoint")
KEPT = (CHECKPOINT, EVALUATE, REPRODUCE)  # the last argument is the file that they go on from
SAVES = [
    ("fit", "long.csv", "-p", "solver=paper", "-o", "out/file"),
    ("fit", "long.csv", "-p", "solver=paper", "-o", "out/file", "--trace", "out/file.csv"),
    ("predict", "m.rlar", "long.csv", "-o", "out/file"),
    ("transform", "m.rlar", "long.csv", "-o", "out/file"),
    ("convert", "long.csv", "out/file.arff"),
]
REFUSE = str(Path(OPTIONS.build, "tests", "refuse.so").resolve())
OLD = b"the old file"
SHORT = ("fit", "t.csv", "-p", "solver=paper", "--iters", "3", "-o", "out/short", "--trace", "out/short.csv", "--every",
         "1", "--checkpoint", "out/short.checkpoint")
# What the exit codes after a signal say: a run is young before main() has set its handler.
ENDS = {signal.SIGINT: {support.INTERRUPTED: "stopped", 0: "finished", -signal.SIGINT: "young"},
        signal.SIGKILL: {-signal.SIGKILL: "killed", 0: "killed"}}
YOUNG = 0.15  # of the runs: a busy machine takes its time to start one


class Interruptions:
    def __init__(self, folder):
        self.folder = folder
        self.random = random.Random(time.time())
        self.tally = dict.fromkeys(("stopped", "finished", "young", "killed", "calls", "old", "new", "half", "strays",
                                    "resumed", "left", "short"), 0)

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
        targets = self.targets(args)
        seconds, _ = self.time_of(args)
        fresh = [contents(target) for target in targets]
        for i in range(count):
            number = signal.SIGINT if i % 2 == 0 else signal.SIGKILL
            for target in targets:
                target.write_bytes(OLD)
            code, err = self.disturb(args, seconds, number)
            self.check_end(args, number, code, err)
            self.check_files(args, number, code, [contents(target) for target in targets], fresh)
            if self.remove_strays() and number == signal.SIGINT:
                sys.exit(f"rlar {args[0]}: a temporary file is left after Ctrl-C")

    def targets(self, args):
        return [self.folder / word for word in args if word.startswith("out/") and not word.endswith("checkpoint")]

    def remove_strays(self):
        """How many there were."""
        strays = [p for p in (self.folder / "out").iterdir() if p.name.startswith(".rlar-")]
        self.tally["strays"] += len(strays)
        for path in strays:
            path.unlink()
        return len(strays)

    def check_files(self, args, number, code, found, fresh):
        """Each is old or new. A model is new only with its trace, and both are where nothing was killed."""
        for one, new in zip(found, fresh):
            if one not in (OLD, new):
                sys.exit(f"rlar {args[0]}: a torn file of {len(one)} bytes after signal {number}")
        news = [one != OLD for one in found]
        if code == 0 and not all(news):
            sys.exit(f"rlar {args[0]}: exit 0, but a file is the old one")
        if any(news) and not all(news) and (number == signal.SIGINT or news[0]):
            sys.exit(f"rlar {args[0]}: one file of two is new after signal {number}: {news}")
        self.tally["new" if all(news) else "half" if any(news) else "old"] += 1

    def resumes(self, args, count):
        kept = self.folder / args[-1]
        kept.unlink(missing_ok=True)
        seconds, whole = self.time_of(args)
        expected = self.result_of(args, whole)
        for i in range(count):
            if i % 10 == 0:
                kept.unlink(missing_ok=True)
            number = signal.SIGINT if i % 2 == 0 else signal.SIGKILL
            self.check_end(args, number, *self.disturb(args, seconds, number))
            if i % 10 == 9 or i + 1 == count:
                self.tally["left"] += kept.exists()
                _, again = self.time_of(args)
                if self.result_of(args, again) != expected:
                    sys.exit(f"rlar {args[0]}: another result after interruptions")
                self.tally["resumed"] += 1

    def everywhere(self, args):
        """Killed before each call on files: one after the other, until there is none."""
        self.time_of(args)
        targets, kept = self.targets(args), self.folder / args[-1]
        fresh = [contents(target) for target in targets]
        for call in itertools.count(1):
            for target in targets:
                target.write_bytes(OLD)
            code = self.run_killed(args, call)
            self.check_files(args, signal.SIGKILL, code, [contents(target) for target in targets], fresh)
            self.remove_strays()
            if code == 0:
                break
            self.tally["calls"] += 1
            if kept.exists():
                self.go_on(args, targets[0], fresh[0])
        if self.tally["calls"] == 0:
            sys.exit(f"rlar {args[0]}: it was never killed; is {REFUSE} built?")

    def go_on(self, args, model, expected):
        self.time_of(args)
        if contents(model) != expected:
            sys.exit(f"rlar {args[0]}: another model after a kill at call {self.tally['calls']}")
        self.tally["short"] += 1

    def run_killed(self, args, call):
        env = {"LD_PRELOAD": REFUSE, "RLAR_REFUSE": f"{call}:{-signal.SIGKILL}"}
        result = support.run(*args, cwd=self.folder, env=env)
        if result.code not in ENDS[signal.SIGKILL]:
            sys.exit(f"rlar {args[0]}: exit {result.code} where it is killed at call {call}: {result.err}")
        return result.code

    def result_of(self, args, run):
        return (self.folder / "out/model").read_bytes() if args is CHECKPOINT else support.without_seconds(run.json)


def contents(path):
    """A trace without its seventh column, which is of seconds."""
    found = path.read_bytes()
    return re.sub(rb"(?m)^((?:[^,\n]*,){6})[^,\n]*", rb"\1", found) if path.suffix == ".csv" else found


def main():
    folder = Path(tempfile.mkdtemp(prefix="rlar-interrupt-"))
    try:
        (folder / "out").mkdir()
        x, y = support.blobs(60, 40, 4, seed=1, spread=40)
        (folder / "long.csv").write_text(support.table_text(x, y))
        interruptions = Interruptions(folder)
        interruptions.time_of(("fit", "long.csv", "-o", "m.rlar"))
        (folder / "t.csv").write_text(support.table_text(*support.blobs()))
        part = -(-OPTIONS.count // (len(SAVES) + len(KEPT)))
        for args in SAVES:
            print(f"rlar {' '.join(args)}", file=sys.stderr)
            interruptions.saves(args, part)
        for args in KEPT:
            print(f"rlar {args[0]} with {args[-1]}", file=sys.stderr)
            interruptions.resumes(args, part)
        print(f"rlar {' '.join(SHORT)}", file=sys.stderr)
        interruptions.everywhere(SHORT)
        interruptions.check_handler()
        tally = interruptions.tally
        print(f"{interruptions.interrupted()} times Ctrl-C ({tally['stopped']} ended with exit code "
              f"{support.INTERRUPTED}, {tally['finished']} were done, {tally['young']} came before the handler), "
              f"{tally['killed']} kills, at random moments of {len(SAVES) + len(KEPT)} commands, {tally['calls']} more "
              f"before each call on files of a fit with trace and checkpoint: output {tally['old']} times the old file, {tally['new']} times the new "
              f"one, {tally['half']} times the new trace beside the old model, 0 torn; {tally['strays']} temporary files "
              f"left by kills, 0 by Ctrl-C; {tally['resumed'] + tally['short']} fits and evaluations that went on, "
              f"{tally['left'] + tally['short']} of them from a checkpoint or journal, had the same result")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
