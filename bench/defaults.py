#!/usr/bin/env python3
"""What should the defaults be? Held-out accuracy of candidates over the paper's data sets.

    bench/defaults.py measure [--build DIR] [--sets a,b] [--methods a,b] [--scales a:b,c] [--threads N]
    bench/defaults.py choose

A candidate is a scaling, a classifier and values of a method's parameters; it is the same for all data sets,
so nothing is tuned to one of them. `measure` takes the mean accuracy on the test parts of 10 random
splits (the paper's, smallest size) for every candidate, and goes on where it was: docs/results/defaults.json.
`choose` prints, for every method, the mean over the data sets of the program's default beside that of the preset
of the paper, with Wilcoxon's signed-rank test over the data sets, and the best of all candidates. Data from the
folder RLAR_DATA_DIR; what is missing is named and left out. Needs python3-scipy for `choose`.
"""
import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from stored import add, load

ROOT = Path(__file__).resolve().parents[1]
STORE = "defaults.json"
SETS = {"dermatology": ("dermatology.csv.gz", 12), "diabetes": ("diabetes.csv.gz", 76),
        "ionosphere": ("ionosphere.csv.gz", 35), "iris": ("iris.csv.gz", 10), "wine": ("wine.csv.gz", 11),
        "binalpha": ("binalpha.mat", 10), "coil20": ("COIL20.mat", 15), "ar": ("AR_32x32.mat", 5),
        "yaleb": ("YaleB_32x32.mat", 15)}
SCALES = ("unit", "minmax", "zscore", "zscore,unit", "minmax,rms", "zscore,rms")
CLASSIFIERS = ("1nn", "knn", "centroid", "1nn-cosine", "centroid-cosine")
DECADES = "0.001,0.01,0.1,1,10"
# name: method, what is fixed, the values of its parameters that are tried, the paper's preset among them
CANDIDATES = {
    "rlar": ("rlar", ("solver=paper",), {"alpha": DECADES, "beta": DECADES}, ("0.1", "0.1")),
    "rlar minimise": ("rlar", ("solver=minimise", "eps=1"), {"alpha": DECADES, "beta": DECADES}, ("0.1", "0.1")),
    "rr": ("rr", (), {"lambda": DECADES}, ("0.1",)),
    "lsr": ("lsr", (), {}, ()),
    "relsr": ("relsr", (), {"lambda": DECADES}, ("0.01",)),
    "rfs": ("rfs", (), {"gamma": "0.001,0.01,0.1,0.3,1,10"}, ("0.1",)),
    "alpr": ("alpr", (), {"lambda1": "0.01,0.1,1,10", "lambda2": "0.01,0.1,1,10"}, ("0.1", "0.1")),
    "l21sda": ("l21sda", (), {"lambda": "0.1,1,3,10,100"}, ("1",)),
    "sda": ("sda", (), {"ridge": "0.01,0.05,1", "tau": "0.001,0.01,0.1"}, ("0.05", "0.001")),
    "lda": ("lda", (), {"ridge": "0,0.001,0.01,0.1,1"}, ("0",)),
    "mmc": ("mmc", (), {"theta": "0.1,0.5,1,2,10"}, ("1",)),
    "alde": ("alde", (), {"theta": "0.1,0.5,1,2,10"}, ("1",)),
    "lsda": ("lsda", (), {"alpha": "0.1,0.5,0.9", "ridge": "0,0.01,0.1"}, ("0.1", "0")),
    "lfda": ("lfda", (), {"rho": "0,0.001,0.01,0.1,1"}, ("0.1",)),
    "nmmp": ("nmmp", (), {"k": "0,3,5,10"}, ("0",)),
    "mpda": ("mpda", (), {"gamma": "0.1,1,10", "alpha": "0.00001,0.001,0.1,1,10"}, ("1", "0.00001")),
    "sulda": ("sulda", (), {}, ()),
    "rslda": ("rslda", (), {"lambda1": "0.0001,0.001,0.01,0.1", "lambda2": "0.0001,0.001,0.01,0.1"}, ("0.0001", "0.0001")),
}
REGRESSION = {"rlar", "rr", "lsr", "relsr", "rfs", "alpr"}


def evaluate(options, data, per_class, name, scale):
    """The mean accuracy of every candidate, by its values in the order of the grid."""
    method, fixed, grid, _ = CANDIDATES[name]
    classifiers = ",".join(CLASSIFIERS + (("argmax",) if method in REGRESSION else ()))
    command = [Path(options.build) / "rlar", "evaluate", data, "--methods", method, "--train-per-class",
               str(per_class), "--trials", "10", "--seed", "1", "--tune", "oracle", "--scale", scale,
               "--missing", "mean", "--grid", "classifier=" + classifiers, "--json", "-q"]
    command += itertools.chain.from_iterable(("-p", setting) for setting in fixed)
    command += itertools.chain.from_iterable(("--grid", f"{p}={values}") for p, values in grid.items())
    if options.threads:
        command += ["--threads", str(options.threads)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in (0, 5):  # 5: a method that cannot solve a data set
        sys.exit(run.stderr)
    if run.returncode == 5:
        print(f"{name} {scale}: {run.stderr.strip()}", file=sys.stderr)
        return {}
    rows = json.loads(run.stdout)["results"][0]["grid"]["cells"]
    return {" ".join(f"{row[p]:g}" for p in grid) + " " + row["classifier"]:
            None if row["accuracy"] is None else round(row["accuracy"], 6) for row in rows}


def measure(options):
    folder = Path(os.environ.get("RLAR_DATA_DIR", ""))
    for (data, (file, per_class)), name, scale in itertools.product(SETS.items(), CANDIDATES,
                                                                options.scales):
        key = f"{data}/{name}/{scale}"
        if (options.sets and data not in options.sets) or (options.methods and name not in options.methods):
            continue
        if not (folder / file).exists():
            print(f"{file} is not in RLAR_DATA_DIR: left out", file=sys.stderr)
        elif key not in load(STORE):
            found = evaluate(options, folder / file, per_class, name, scale)
            add(STORE, key, found)
            print(key, max((value for value in found.values() if value is not None), default=None), flush=True)


# ---- The choice ----


def candidates(known, name, sets):
    """(scale, values and classifier) -> its accuracy on each data set; those that failed nowhere."""
    found = {}
    for scale in SCALES:
        for at in known.get(f"{sets[0]}/{name}/{scale}", ()):
            values = [known.get(f"{data}/{name}/{scale}", {}).get(at) for data in sets]
            if None not in values:
                found[scale, at] = values
    return found


def mean(values):
    return 100 * statistics.fmean(values)


def p_value(a, b):
    from scipy.stats import wilcoxon
    return 1.0 if all(x == y for x, y in zip(a, b)) else wilcoxon(a, b).pvalue


def defaults_of(options):
    """method -> (scale, values and classifier) of the program, by the names of CANDIDATES."""
    run = subprocess.run([Path(options.build) / "rlar", "methods", "--json"], check=True, capture_output=True)
    found = {}
    for method in json.loads(run.stdout)["methods"]:
        values = {param["name"]: param["default"] for param in method["params"]}
        for name, (of, _, grid, _) in CANDIDATES.items():
            if of == method["name"]:
                found[name] = method["scale"], words([values[p] for p in grid], method["classifier"])
    return found


def words(values, classifier):
    return " ".join(f"{float(value):g}" for value in values) + " " + classifier


def best(found, wanted):
    return max((at for at in found if wanted(at)), key=lambda at: mean(found[at]), default=None)


def row(name, found, sets, paper, ours):
    top = best(found, lambda at: True)
    print(f"| {name} | {sets} | {paper[1]} {mean(found[paper]):.2f} | {ours[1]} {mean(found[ours]):.2f} "
          f"| {mean(found[ours]) - mean(found[paper]):+.2f} | {p_value(found[ours], found[paper]):.3f} "
          f"| {top[0]}: {top[1]} {mean(found[top]):.2f} |")


def choose(options):
    known, totals, defaults = load(STORE), {}, defaults_of(options)
    print("| method | data sets | paper, unit length | default | gain | p | best of all candidates |\n|" + "---|" * 7)
    for name, (_, _, _, preset) in CANDIDATES.items():
        sets = [data for data in SETS if all(f"{data}/{name}/{scale}" in known for scale in ("unit", "zscore,rms"))]
        found = candidates(known, name, sets)
        row(name, found, len(sets), ("unit", words(preset, "1nn")), defaults[name])
        for kind, choices, place in (("scale", SCALES, 0), ("classifier", CLASSIFIERS, 1)):
            for choice in choices:
                at = best(found, lambda at: at[place].split()[-1] == choice)
                if at:
                    totals.setdefault((kind, choice), {})[name] = mean(found[at])
    print()
    for kind in ("scale", "classifier"):  # the methods that were measured with every choice
        common = set.intersection(*(set(values) for (of, _), values in totals.items() if of == kind))
        for (of, choice), values in totals.items():
            if of == kind:
                print(f"best candidate with {kind} {choice}: "
                      f"{statistics.fmean(values[name] for name in common):.2f} over {len(common)} methods")


def main():
    parser = argparse.ArgumentParser(description="Held-out accuracy of candidates for the defaults.")
    parser.add_argument("verb", choices=("measure", "choose"))
    parser.add_argument("--build", default=ROOT / "build")
    parser.add_argument("--sets", type=lambda text: text.split(","))
    parser.add_argument("--methods", type=lambda text: text.split(","))
    parser.add_argument("--scales", type=lambda text: text.split(":"), default=SCALES)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    {"measure": measure, "choose": choose}[options.verb](options)


if __name__ == "__main__":
    main()
