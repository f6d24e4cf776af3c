#!/usr/bin/env python3
"""What should the defaults be? Held-out accuracy of candidates over the paper's data sets.

    bench/defaults.py measure [--build DIR] [--sets a,b] [--methods a,b] [--scales a:b,c] [--threads N]
    bench/defaults.py choose

A candidate is a scaling, a classifier and values of a method's parameters; it is the same for all data sets,
so nothing is tuned on what it is judged by. `measure` takes the mean accuracy on the test parts of 10 random
splits (the paper's, smallest size) for every candidate, and goes on where it was: docs/results/defaults.json.
`choose` prints, for every method, the candidate with the best mean over the data sets beside the preset of the
paper, and Wilcoxon's signed-rank test over the data sets. Data from the folder RLAR_DATA_DIR; what is missing
is named and left out. Needs python3-scipy for `choose`.
"""
import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "docs" / "results" / "defaults.json"
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
    "rfs": ("rfs", (), {"gamma": DECADES}, ("0.1",)),
    "alpr": ("alpr", (), {"lambda1": "0.01,0.1,1,10", "lambda2": "0.01,0.1,1,10"}, ("0.1", "0.1")),
    "l21sda": ("l21sda", (), {"lambda": "0.1,1,10,100"}, ("1",)),
    "sda": ("sda", (), {"ridge": "0.01,0.05,1", "tau": "0.001,0.01,0.1"}, ("0.05", "0.001")),
    "lda": ("lda", (), {"ridge": "0,0.001,0.01,0.1,1"}, ("0",)),
    "mmc": ("mmc", (), {"theta": "0.1,0.5,1,2,10"}, ("1",)),
    "alde": ("alde", (), {"theta": "0.1,0.5,1,2,10"}, ("1",)),
    "lsda": ("lsda", (), {"alpha": "0.1,0.5,0.9", "ridge": "0,0.01,0.1"}, ("0.1", "0")),
    "lfda": ("lfda", (), {"rho": "0,0.001,0.01,0.1,1"}, ("0.1",)),
    "nmmp": ("nmmp", (), {"k": "0,3,5,10"}, ("0",)),
    "mpda": ("mpda", (), {"gamma": "0.1,1,10", "alpha": "0.00001,0.001,0.1,1,10"}, ("1", "0.00001")),
    "sulda": ("sulda", (), {}, ()),
    "rslda": ("rslda", (), {"lambda1": "0.0001,0.01,0.1", "lambda2": "0.0001,0.01,0.1"}, ("0.0001", "0.0001")),
}
REGRESSION = {"rlar", "rr", "lsr", "relsr", "rfs", "alpr"}


def load():
    return json.loads(STORE.read_text()) if STORE.exists() else {}


def store(content):
    part = STORE.with_suffix(".part")
    part.write_text(json.dumps(content, sort_keys=True, separators=(",", ":")).replace('},"', '},\n"') + "\n")
    part.replace(STORE)


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
        elif key not in load():
            found = evaluate(options, folder / file, per_class, name, scale)
            store({**load(), key: found})
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


def p_value(a, b):
    from scipy.stats import wilcoxon
    return 1.0 if all(x == y for x, y in zip(a, b)) else wilcoxon(a, b).pvalue


def show(label, at, values, than=None):
    mean = 100 * statistics.fmean(values)
    test = "" if than is None else (f" {mean - 100 * statistics.fmean(than):+6.2f}, p = {p_value(values, than):.3f}")
    print(f"    {label:28s} {at[0]:12s} {at[1]:32s} {mean:6.2f}{test}")


def best(found, wanted=lambda at: True):
    return max((at for at in found if wanted(at)), key=lambda at: statistics.fmean(found[at]), default=None)


def choose(_):
    known = load()
    totals = {}
    for name, (_, _, _, preset) in CANDIDATES.items():
        sets = [data for data in SETS if f"{data}/{name}/{SCALES[-1]}" in known]
        found = candidates(known, name, sets)
        paper = ("unit", " ".join(f"{float(value):g}" for value in preset) + " 1nn")
        print(f"{name}, {len(sets)} data sets")
        show("paper", paper, found[paper])
        kept = best(found, lambda at: at[0] == "unit" and at[1].endswith(" 1nn"))
        show("best with unit, 1nn", kept, found[kept], found[paper])
        for scale in SCALES:
            at = best(found, lambda at: at[0] == scale)
            if at:
                show("best of scale", at, found[at], found[paper])
                totals.setdefault(scale, []).append(statistics.fmean(found[at]))
        for classifier in CLASSIFIERS + ("argmax",):
            at = best(found, lambda at: at[1].split()[-1] == classifier)
            if at:
                show("best of classifier", at, found[at], found[paper])
                totals.setdefault(classifier, []).append(statistics.fmean(found[at]))
    print("mean over the methods of the best with each scale or classifier")
    for key, values in totals.items():
        print(f"    {key:16s} {100 * statistics.fmean(values):.2f} ({len(values)} methods)")


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
