#!/usr/bin/env python3
"""Run the benchmark; `make bench` calls it.

    bench/run.py DRIVER [--quick] [--rows lda,csv] [--threads 1] [--repeats N] [--out FOLDER]

Everything is measured side by side in one run: the contestants of a row take turns, medians are
compared. Exit code 0: valid; 1: something failed; 3: not valid, because kernels or threads differ.
docs/performance.md says how to read the table.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import machine  # noqa: E402
import report  # noqa: E402
import rows_files  # noqa: E402
import rows_methods  # noqa: E402
import rows_rlar  # noqa: E402
import samples  # noqa: E402
from partners import BenchError, Driver, Peers  # noqa: E402
from stats import invalid, noise  # noqa: E402

# In the order of the demands; those without a demand last.
GROUPS = {
    "rlar": rows_rlar.against_numpy,
    "iteration": rows_rlar.iteration,
    "grid": rows_rlar.grid,
    "lda": rows_methods.lda,
    "1nn": rows_methods.nearest,
    "csv": rows_files.csv,
    "libsvm": rows_files.libsvm,
    "growth": rows_rlar.growth,
    "ridge": rows_methods.ridge,
    "nca": rows_methods.nca,
    "liblinear": rows_methods.liblinear,
    "methods": rows_methods.methods,
    "shapes": rows_rlar.shapes,
}


class Bench:
    """What the row groups work with."""

    def __init__(self, folder, options):
        self.program = os.path.abspath(options.driver)
        self.threads, self.quick, self.most_repeats = options.threads, options.quick, options.repeats
        self.store = samples.Store(folder)
        self.shape = {}
        self.start()

    def start(self):
        self.driver = Driver(self.program)
        self.ours = self.driver("info")
        self.peers = Peers(self.ours["kernel"], self.threads)
        self.theirs = self.peers("info")

    def repeats(self, wanted):
        return min(wanted, self.most_repeats, 2 if self.quick else wanted)

    def load(self, name, x, label, peers=True):
        """Give the same samples to both partners; the path of the file."""
        path = self.store.table(name, x, label)
        self.shape[name] = (*x.shape, len(set(label)))
        self.driver("load", name=name, path=path)
        if peers:
            self.peers("load", name=name, path=path)
        return path

    def load_real(self, name):
        x, label, note = samples.real(name)
        self.load(name, x, label)
        return note

    def load_synthetic(self, name, n, d, c, peers=True):
        return self.load(name, *samples.synthetic(n, d, c), peers=peers)

    def drop(self, *names):
        for name in names:
            self.driver("drop", name=name)
            self.peers("drop", name=name)
            self.store.forget(name)

    def close(self):
        self.driver.close()
        self.peers.close()


class Meter:
    """How many cores others kept busy since it was made."""

    def __init__(self, bench):
        self.bench = bench
        self.start = self.read()

    def read(self):
        busy = machine.busy_seconds()
        own = machine.own_seconds([self.bench.driver, self.bench.peers])
        return time.monotonic(), None if busy is None else busy - own

    def cores(self):
        (start, before), (now, after) = self.start, self.read()
        return None if before is None else max(0.0, (after - before) / max(now - start, 1e-9))


def run_groups(bench, names):
    """All rows; seconds and others' cores by group; what failed by group."""
    rows, groups, failures = [], {}, {}
    for name in names:
        print("... %s" % name, file=sys.stderr, flush=True)
        meter, start = Meter(bench), time.monotonic()
        try:
            found = GROUPS[name](bench)
        except (BenchError, OSError, subprocess.CalledProcessError) as error:
            failures[name] = str(error)
            print("== %s FAILED: %s\n" % (name, error), flush=True)
            bench.close()  # nobody knows what the partners still hold
            bench.start()
            continue
        rows += found
        groups[name] = {"seconds": time.monotonic() - start, "others_cores": meter.cores()}
        print(report.group_text(name, GROUPS[name].__doc__, found, groups[name]) + "\n", flush=True)
    return rows, groups, failures


def facts_of(bench, load_before):
    versions = {**bench.theirs["versions"], "LIBLINEAR": machine.liblinear_version(),
                "rlar": bench.ours["version"]}
    return {"processor": machine.processor(), "cores": os.cpu_count(), "threads": bench.threads,
            "kernel": bench.ours["kernel"], "blas": bench.ours, "peers": bench.theirs["pools"],
            "versions": versions, "quick": bench.quick, "load_before": load_before}


def print_head(facts):
    print("processor %s, %d cores; threads of the comparisons with peers: %d" % (
        facts["processor"], facts["cores"], facts["threads"]))
    print("kernel    ours %s (%s)" % (facts["kernel"], facts["blas"]["library"]))
    for pool in facts["peers"]:
        print("          peers %s %s, %d threads (%s)" % (
            pool["user_api"], pool["architecture"], pool["num_threads"], pool["library"]))
    print("versions  " + ", ".join("%s %s" % pair for pair in facts["versions"].items()))
    print("load      %.2f %.2f %.2f\n" % tuple(facts["load_before"]), flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("driver")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", default="", help="row groups: " + ", ".join(GROUPS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1000, help="at the most; for a first look")
    parser.add_argument("--out", default=os.path.dirname(os.path.abspath(__file__)))
    options = parser.parse_args()
    options.rows = [name for name in options.rows.split(",") if name] or list(GROUPS)
    unknown = [name for name in options.rows if name not in GROUPS]
    if unknown:
        parser.error("no row group %s; there are %s" % (", ".join(unknown), ", ".join(GROUPS)))
    return options


def main():
    options = parse()
    load_before, start = os.getloadavg(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, options)
        try:
            facts = facts_of(bench, load_before)
            print_head(facts)
            meter = Meter(bench)
            rows, groups, failures = run_groups(bench, options.rows)
            busy = meter.cores()
        finally:
            bench.close()
    reasons = invalid(facts["kernel"], facts["peers"], options.threads)
    warnings = noise(load_before[0], busy)
    facts.update(load_after=os.getloadavg(), others_cores=busy, valid=not reasons, reasons=reasons,
                 warnings=warnings, groups=groups, failures=failures, seconds=time.monotonic() - start)
    report.write_json(os.path.join(options.out, "results.json"), facts, rows)
    trouble = report.write_figure(options.out, rows, "%s, kernel %s, %s%s" % (
        facts["processor"], facts["kernel"], report.standing(reasons, warnings),
        ", QUICK" if options.quick else ""))
    print(report.summary_text(rows, failures, reasons, warnings, options.quick))
    print("load      %.2f %.2f %.2f after %.0f s" % (*facts["load_after"], facts["seconds"]))
    print("figure    " + (trouble or os.path.relpath(os.path.join(options.out, "results.svg"))))
    return 3 if reasons else 1 if failures or trouble else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
