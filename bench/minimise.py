#!/usr/bin/env python3
"""RLAR's solvers compared: solver=minimise against Algorithm 1 (solver=paper).

    bench/minimise.py best       long runs of all solvers: the best known objective of every cell
    bench/minimise.py cells      all 100 cells of the grid on the first split: objective and time
    bench/minimise.py path       the grid along the path of warm starts, against fits by themselves
    bench/minimise.py accuracy   oracle and cross-validated accuracy, 10 trials; goes on where it was
    bench/minimise.py ends       accuracy where the descent stops early: larger last eps, fewer rounds
    bench/minimise.py curves     objective against time on four data sets, as a figure (gnuplot)
    bench/minimise.py summary    the demands, from what was measured
    bench/minimise.py defaults   which one rule for alpha and beta serves all sets, by size
    bench/minimise.py table      the accuracies as the table of docs/solver.md

Options: --build DIR (default build), --sets a,b, for `best` --long a:b (which of the long runs), and for `accuracy` --tune oracle,cv, --solvers a:b, --threads N,
--journal FILE (finished fits, as of `rlar reproduce`, which has many of them too). Data from the folder RLAR_DATA_DIR; what is missing is
named and left out. Results: docs/results/solver-*.json and solver-curves.svg. One thread, the solvers in turn,
so times can be compared; `accuracy` uses all threads.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from stored import RESULTS, add, load, store

ROOT = Path(__file__).resolve().parents[1]
# name: file, samples per class, is an image set
CELLS = {"coil20-30": ("COIL20.mat", 30, True), "binalpha-19": ("binalpha.mat", 19, True),
         "ar-8": ("AR_32x32.mat", 8, True), "yaleb-15": ("YaleB_32x32.mat", 15, True),
         "wine-11": ("wine.csv.gz", 11, False), "iris-10": ("iris.csv.gz", 10, False)}
SIZES = {"binalpha": ("binalpha.mat", (10, 13, 16, 19)), "coil20": ("COIL20.mat", (15, 20, 25, 30)),
         "ar": ("AR_32x32.mat", (5, 6, 7, 8)), "yaleb": ("YaleB_32x32.mat", (15, 20, 25, 30))}
# The paper's table entries for RLAR.
PAPER = {"binalpha": (64.80, 66.92, 68.33, 69.40), "coil20": (96.92, 98.58, 99.10, 99.38),
         "ar": (97.33, 98.25, 98.71, 98.95), "yaleb": (95.07, 97.04, 97.84, 98.65), "dermatology": (95.99,),
         "diabetes": (57.00,), "ionosphere": (86.76,), "iris": (96.58,), "wine": (90.34,)}
# The UCI sets: a fifth of the samples, the same number of each class.
SMALL = {"dermatology": ("dermatology.csv.gz", (12,)), "diabetes": ("diabetes.csv.gz", (76,)),
         "ionosphere": ("ionosphere.csv.gz", (35,)), "iris": ("iris.csv.gz", (10,)),
         "wine": ("wine.csv.gz", (11,))}
SMOOTH = "minimise,eps=1"  # the loss stays smooth: the better classifier
LONG = ("paper,iters=100", "anneal,iters=100", "minimise,tol=1e-6,iters=60")
PATH = ("COIL20.mat", 15)


class Study:
    def __init__(self, options, scratch):
        self.build, self.sets, self.scratch = Path(options.build).resolve(), options.sets, Path(scratch)
        self.tunes, self.solvers, self.threads = options.tune, options.solvers, options.threads
        self.journal, self.long = options.journal, options.long
        self.folder = Path(os.environ.get("RLAR_DATA_DIR", ""))

    def data(self, file):
        """The file in a format that the library reads itself, or None."""
        source = self.folder / file
        if not source.exists():
            print(f"{file} is not in RLAR_DATA_DIR: left out", file=sys.stderr)
            return None
        if source.suffix != ".mat":
            return source
        copy = self.scratch / (source.stem + ".npz")
        if not copy.exists():
            subprocess.run([self.build / "rlar", "convert", "-q", source, copy], check=True)
        return copy

    def wanted(self, known):
        return [name for name in known if not self.sets or name in self.sets]

    def cells_of(self, file, per_class, *more):
        data = self.data(file)
        if data is None:
            return None
        command = [self.build / "bench" / "solver_cells", data, str(per_class), *more]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        return [json.loads(line) for line in run.stdout.splitlines()]


def cell(row):
    return f"{row['alpha']:g},{row['beta']:g}"


def best(study):
    """The lowest objective of every cell that any run found."""
    for name in study.wanted(CELLS):
        rows = study.cells_of(*CELLS[name][:2], *study.long)
        if rows is None:
            continue
        keep = load("solver-best.json").get(name, {})
        for row in rows:
            at = keep.get(cell(row))
            if at is None or row["objective"] < at["objective"]:
                keep[cell(row)] = {"objective": row["objective"], "by": row["solver"]}
        add("solver-best.json", name, keep)
        print(name, "done", flush=True)


def cells(study):
    done = load("solver-cells.json")
    for name in study.wanted(CELLS):
        rows = study.cells_of(*CELLS[name][:2], "paper", "minimise")
        if rows is None:
            continue
        done[name] = {}
        for row in rows:
            done[name].setdefault(cell(row), {})[row["solver"]] = {
                key: row[key] for key in ("objective", "wall", "cpu", "iterations", "steps",
                                          "converged", "accuracy")}
        store("solver-cells.json", done)
        summary_of_cells(done, load("solver-best.json"), name)


def summary_of_cells(done, known, name):
    near, above, ratios = 0, [], []
    for at, both in done[name].items():
        ours, paper = both["minimise"], both["paper"]
        least = min(known.get(name, {}).get(at, ours)["objective"], ours["objective"], paper["objective"])
        near += ours["objective"] <= 1.02 * least
        if ours["objective"] > paper["objective"] * (1 + 1e-9):
            above.append(at)
        ratios.append(ours["cpu"] / paper["cpu"])
    right = [max(both[s]["accuracy"] for both in done[name].values()) for s in ("paper", "minimise")]
    print(f"{name}: {near} of {len(ratios)} cells within 2 % of the best known; above Algorithm 1 in "
          f"{len(above)} {above}; CPU time over Algorithm 1's: median {statistics.median(ratios):.2f}, most "
          f"{max(ratios):.2f}; best cell {100 * right[0]:.2f} % (paper), {100 * right[1]:.2f} % (minimise)")


def path(study):
    """All cells by themselves, along the path, and both again: the lesser time of each cell."""
    runs = [study.cells_of(*PATH, *more, "minimise") for more in ((), ("--path",)) * 2]
    if runs[0] is None:
        return
    done = {}
    for alone, along, *again in zip(*runs):
        done[cell(alone)] = {"alone": alone["objective"], "along": along["objective"],
                             "alone_cpu": min(alone["cpu"], again[0]["cpu"]),
                             "along_cpu": min(along["cpu"], again[1]["cpu"]),
                             "alone_steps": alone["steps"], "along_steps": along["steps"],
                             "alone_rounds": alone["iterations"], "along_rounds": along["iterations"]}
    store("solver-path.json", done)
    summary_of_path(done)


def summary_of_path(done):
    sums = {key: sum(row[key] for row in done.values()) for key in next(iter(done.values()))}
    above = max(100 * (row["along"] / row["alone"] - 1) for row in done.values())
    below = min(100 * (row["along"] / row["alone"] - 1) for row in done.values())
    print(f"path, {PATH[0]} {PATH[1]} per class: {sums['along_cpu'] / sums['alone_cpu']:.2f} of the time of "
          f"{len(done)} fits by themselves ({sums['along_cpu']:.2f} and {sums['alone_cpu']:.2f} s, "
          f"{sums['along_rounds']} and {sums['alone_rounds']} rounds, {sums['along_steps']} and "
          f"{sums['alone_steps']} steps); objectives {below:.2f} to {above:.2f} % above")


def evaluate(study, data, size, solver, tune, trials=10, more="iters=30"):
    command = [study.build / "rlar", "evaluate", data, "--methods", "rlar", "--train-per-class", str(size),
               "--trials", str(trials), "--tune", tune, "--preset", "paper", "-p", more, "--missing", "mean",
               "--json", "-q"]
    for setting in ("solver=" + solver).split(","):
        command += ["-p", setting]
    if study.threads:
        command += ["--threads", str(study.threads)]
    if study.journal:
        command += ["--resume", study.journal]
    if tune == "cv":  # five folds: from coarse to fine, about a third of the grid
        command.append("--coarse")
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(run.stdout)["results"][0]


def accuracy(study):
    for name, (file, sizes) in {**SMALL, **SIZES}.items():
        data = study.data(file) if name in study.wanted({**SMALL, **SIZES}) else None
        for size in sizes if data else ():
            for tune in study.tunes:
                for solver in study.solvers:
                    key = f"{name} {size} {tune} {solver}"
                    if key in load("solver-accuracy.json"):
                        continue
                    result = evaluate(study, data, size, solver, tune)
                    right = result["accuracy"]
                    cells = {cell(row): row["accuracy"] for row in result["grid"]["cells"]}
                    add("solver-accuracy.json", key, dict(right, selected=result["selected"], cells=cells))
                    print(f"{key}: {100 * right['mean']:.2f} +- {100 * right['std']:.2f}", flush=True)


# Where the descent ends: the least eps, or the most rounds.
ENDS = ("eps=1e-8", "eps=0.001", "eps=0.01", "eps=0.1", "eps=1", "iters=2", "iters=4", "iters=6")


def ends(study):
    """The oracle's grid, 3 trials, the smallest size of each image set, for every end."""
    for name in study.wanted(SIZES):
        file, sizes = SIZES[name]
        data = study.data(file)
        for end in ENDS if data else ():
            key = f"{name} {sizes[0]} {end}"
            if key in load("solver-ends.json"):
                continue
            result = evaluate(study, data, sizes[0], "minimise", "oracle", 3, end)
            found = {cell(row): row["accuracy"] for row in result["grid"]["cells"]}
            add("solver-ends.json", key, found)
            best_cell = max(value for value in found.values() if value is not None)
            print(f"{key}: best cell {100 * best_cell:.2f}", flush=True)


def sign_flips(differences):
    """Exact paired test: how often do random signs give a mean as far from 0?"""
    count, far = len(differences), 0
    observed = abs(sum(differences)) * (1 - 1e-12)
    for signs in range(1 << count):
        total = sum(value if signs >> i & 1 else -value for i, value in enumerate(differences))
        far += abs(total) >= observed
    return far / (1 << count)


def compare(known, name, size, printed):
    """One line of the summary; whether the demands on the oracle of SMOOTH hold."""
    rows = {key.split(" ", 2)[2]: value for key, value in known.items()
            if key.split()[:2] == [name, str(size)]}
    line, met = [], {}
    for key, row in sorted(rows.items()):
        tune, solver = key.split()
        paper = rows.get(f"{tune} paper")
        text = f"{key} {100 * row['mean']:.2f}"
        if paper and solver != "paper":
            text += f" (p = {sign_flips([b - a for a, b in zip(paper['trials'], row['trials'])]):.3f})"
        line.append(text)
        if key == f"oracle {SMOOTH}":
            met["printed"] = 100 * row["mean"] >= printed
            if paper:
                met["as_good"] = row["mean"] >= paper["mean"] - paper["std"] / len(paper["trials"]) ** 0.5
    if line:
        print(f"{name} {size}: table {printed:.2f}; " + ", ".join(line))
    return met


def summary_of_accuracy(accuracies):
    met = [compare(accuracies, name, size, printed) for name, (_, sizes) in SIZES.items()
           for size, printed in zip(sizes, PAPER[name])]
    for name, (_, sizes) in SMALL.items():
        compare(accuracies, name, sizes[0], PAPER[name][0])
    for demand, text in (("as_good", "at least that of Algorithm 1 less one standard error"),
                         ("printed", "at least the paper's printed value")):
        judged = [row[demand] for row in met if demand in row]
        print(f"oracle of {SMOOTH}: {text} on {sum(judged)} of {len(judged)} sizes of image sets")
    for tune in ("oracle", "cv"):
        for solver in ("minimise", SMOOTH):
            by_set = {}  # sizes of one data set are not independent: one difference for each set
            for key in accuracies:
                other = key.replace(solver, "paper")
                if key.endswith(f"{tune} {solver}") and other in accuracies:
                    by_set.setdefault(key.split()[0], []).append(accuracies[key]["mean"] - accuracies[other]["mean"])
            differences = [statistics.mean(values) for values in by_set.values()]
            if differences:
                print(f"{tune}, {len(differences)} data sets: {solver} better by "
                      f"{100 * sum(differences) / len(differences):.2f} points on average, "
                      f"p = {sign_flips(differences):.4f}")


CURVES = {"COIL20, 30 per class": "coil20-30", "Binalpha, 19 per class": "binalpha-19",
          "AR, 8 per class": "ar-8", "Yale B, 15 per class": "yaleb-15"}
CURVE_SOLVERS = {"Algorithm 1 (paper)": "paper,iters=30", "anneal": "anneal,iters=30",
                 "minimise": "minimise"}


def curve_of(study, name, solver):
    """(seconds, objective) after every iteration, at alpha = beta = 0.1."""
    file, per_class, _ = CELLS[name]
    command = [study.build / "bench" / "solver_cells", study.data(file), str(per_class), "--cell", "0.1",
               "0.1", solver]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    return [(row["seconds"], row["objective"]) for row in rows if "iteration" in row]


def curves(study):
    done, panels = {}, []
    for title, name in CURVES.items():
        if study.data(CELLS[name][0]) is None:
            continue
        done[name] = {label: curve_of(study, name, solver) for label, solver in CURVE_SOLVERS.items()}
        lines = []
        for number, (label, points) in enumerate(done[name].items(), 1):
            path = study.scratch / f"{name}-{number}.txt"
            path.write_text("".join(f"{seconds} {objective}\n" for seconds, objective in points))
            lines.append(f"'{path}' with linespoints dashtype {number} pointtype {2 * number + 2} "
                         f"linecolor rgb '{('#000000', '#777777', '#1b6ca8')[number - 1]}' title '{label}'")
        panels.append(f"set title '{title}'\nplot " + ", ".join(lines))
    store("solver-curves.json", done)
    program = ("set terminal svg size 1000,760 font 'sans,14' background '#ffffff'\n"
               f"set output '{RESULTS / 'solver-curves.svg'}'\nset multiplot layout 2,2\nset logscale x\n"
               "set xlabel 'seconds, one thread'\nset ylabel 'objective (12)'\nset yrange [0:*]\n"
               "set grid\nset key bottom left\n" + "\n".join(panels) + "\nunset multiplot\n")
    subprocess.run(["gnuplot"], input=program, text=True, check=True)


def summary(study):
    done, known = load("solver-cells.json"), load("solver-best.json")
    for name in study.wanted(done):
        summary_of_cells(done, known, name)
    if load("solver-path.json"):
        summary_of_path(load("solver-path.json"))
    summary_of_accuracy(load("solver-accuracy.json"))


def table(study):
    done, solvers = load("solver-accuracy.json"), ("paper", "minimise", SMOOTH)
    columns = [f"{tune} {solver}" for tune in ("oracle", "cv") for solver in solvers]
    print("| data, training samples per class | paper's table | " +
          " | ".join(f"{column}" for column in columns) + " |\n|" + "---|" * (len(columns) + 2))
    for name, (_, sizes) in {**SIZES, **SMALL}.items():
        for size, printed in zip(sizes, PAPER[name]):
            rows = [done.get(f"{name} {size} {column}") for column in columns]
            texts = [f"{100 * row['mean']:.2f} ± {100 * row['std']:.2f}" if row else "" for row in rows]
            print(f"| {name}, {size} | {printed:.2f} | " + " | ".join(texts) + " |")


CLASSES = {"binalpha": 36, "coil20": 20, "ar": 100, "yaleb": 38, "dermatology": 6, "diabetes": 2,
           "ionosphere": 2, "iris": 3, "wine": 3}
GRID = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 10, 100, 1000)


def nearest(value):
    return min(GRID, key=lambda known: abs(math.log(known / value)))


def loss(done, names, alpha_of, beta):
    """Points below the best cell, for the cell nearest to a rule: the mean over the sets, the largest."""
    losses = []
    for keys in names.values():
        sizes = [(key, int(key.split()[1]) * CLASSES[key.split()[0]], CLASSES[key.split()[0]]) for key in keys]
        found = [(done[key]["cells"], f"{nearest(alpha_of(n, c)):g},{beta:g}") for key, n, c in sizes]
        losses.append(statistics.mean(max(v for v in cells.values() if v is not None) - (cells[at] or 0)
                                      for cells, at in found))
    return 100 * statistics.mean(losses), 100 * max(losses)


def defaults(study):
    """alpha = a n^p c^q and one beta: the best a and beta for some p and q."""
    done = load("solver-accuracy.json")
    for solver in study.solvers:
        names = {}
        for key in done:
            if key.endswith(f" oracle {solver}") and "cells" in done[key]:
                names.setdefault(key.split()[0], []).append(key)
        for p, q in ((0, 0), (0.5, 0), (1, 0), (1, 0.5), (1, 1)) if names else ():
            tries = [(loss(done, names, lambda n, c: a * n**p * c**q, beta), a, beta)
                     for a in (10 ** (k / 4) for k in range(-24, 4)) for beta in GRID]
            (mean, most), a, beta = min(tries)
            print(f"{solver}, {len(names)} sets: alpha = {a:.2g} n^{p:g} c^{q:g}, beta = {beta:g}: "
                  f"{mean:.2f} points below the best cell on average, {most:.2f} at most")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = {"best": best, "cells": cells, "accuracy": accuracy, "curves": curves,
             "path": path, "ends": ends, "table": table, "defaults": defaults, "summary": summary}
    parser.add_argument("verb", choices=verbs)
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--sets", type=lambda text: text.split(","), default=[])
    parser.add_argument("--tune", type=lambda text: text.split(","), default=["oracle", "cv"])
    parser.add_argument("--journal")
    parser.add_argument("--long", type=lambda text: text.split(":"), default=LONG)
    parser.add_argument("--solvers", type=lambda text: text.split(":"), default=["paper", "minimise", SMOOTH])
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rlar-solver-") as scratch:
        verbs[options.verb](Study(options, scratch))


if __name__ == "__main__":
    main()
