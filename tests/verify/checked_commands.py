"""The commands that sanitize.py runs under valgrind: fits of every method both ways, and the verbs, on small data.

Two rounds: the second reads what the first has written. doctor is left out, which measures the machine
for half a minute, and reproduce, whose fits are those of evaluate.
"""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from support import blobs, gz, table_text  # noqa: E402
from test_formats import column, mat  # noqa: E402

GNUPLOT = shutil.which("gnuplot")
WINE = str(ROOT / "data" / "wine.csv")
DATA = (WINE, "few.csv")  # more samples than features, and fewer: methods go another way there
WRITTEN = ("csv", "tsv", "svm", "npy", "npz", "arff", "csv.gz", "npz.gz")
CLASSIFIERS = ("1nn", "knn", "centroid", "argmax", "1nn-cosine", "knn-cosine", "centroid-cosine")
EVALUATE = ("evaluate", "t.csv", "--seed", "1", "--trials", "2")
GRID = ("--grid", "alpha=0.1,1", "--grid", "beta=0.1,1")


class Outcome(NamedTuple):
    """What became of a command: nothing is said when all is well."""

    fit: bool
    dual: bool  # a fit of a system of as many equations as samples
    fault: str


def methods(program):
    """What the program tells of its own methods."""
    done = subprocess.run([program, "methods", "--json"], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["methods"]


def make_inputs(folder):
    x, y = blobs(10, 6, 3, seed=0)
    (folder / "t.csv").write_text(table_text(x, y, names=[f"f{i}" for i in range(x.shape[1])]))
    rows = (f"{i},{'' if i % 5 == 0 else i * i % 7},{i % 2}\n" for i in range(20))
    (folder / "holed.csv").write_text("a,b,label\n" + "".join(rows))
    few, classes = blobs(5, 40, 3, seed=1)
    (folder / "few.csv").write_text(table_text(few, classes))
    (folder / "t.mat").write_bytes(mat(False, fea=x, gnd=column(y)))
    (folder / "packed.mat.gz").write_bytes(gz(mat(True, fea=x, gnd=column(y))))
    for i, name in enumerate(("a/1.pgm", "a/2.pgm", "b/1.pgm", "b/2.pgm.gz")):
        image = b"P5 3 2 255\n" + bytes(range(10 * i, 10 * i + 6))
        (folder / "images" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "images" / name).write_bytes(gz(image) if name.endswith("gz") else image)
    (folder / "matrices.json").write_text(json.dumps({"matrices": {"T": [[1, 2]] * 2, "V": [[2, 1]] * 2, "S": [[0, 1]] * 2}}))


def fits(known):
    """Every method with its preset, and with every other choice that it has."""
    for data in DATA:
        short = Path(data).stem
        for method in known:
            name = method["name"]
            yield ("fit", data, "--method", name, "-o", f"{short}-{name}.rlar")
            for p in method["params"]:
                for choice in p["choices"] or ():
                    if choice != p["default"]:
                        yield ("fit", data, "--method", name, "-p", f"{p['name']}={choice}")


def first():
    """Verbs that need no model."""
    yield ("fit", "t.csv", "--trace", "trace.csv", "--json")
    yield ("fit", "t.csv", "--checkpoint", "c.checkpoint", "--every", "1")
    yield ("fit", "holed.csv", "--missing", "mean", "--scale", "minmax,unit", "-o", "holed.rlar")
    for out in WRITTEN:
        yield ("convert", "t.csv", "t." + out)
    for read in ("t.mat", "packed.mat.gz", "images"):
        yield ("convert", read, f"from-{read}.csv")
        yield ("info", read)
    yield ("convert", "holed.csv", "holed.arff", "--missing", "keep")
    yield ("info", WINE, "--json")
    yield (*EVALUATE, "--methods", "rlar,lda,rr", "--train-per-class", "3,5", "--resume", "fits.journal", "--json",
           "-o", "sizes.json")
    yield (*EVALUATE, "--folds", "3", "--tune", "cv", "--tune-folds", "2", *GRID, "--coarse", "--json", "-o", "heat.json")
    yield (*EVALUATE, "--train-fraction", "0.5", "--tune", "oracle", *GRID[:2], "--json", "-o", "axis.json")
    for kind in ("--csv", "--latex"):
        yield (*EVALUATE, "--methods", "lsr,mmc", "--train-per-class", "5", kind)
    yield ("evaluate", "holed.csv", "--missing", "mean", "--train-per-class", "5", "--trials", "2")
    yield ("tune", "t.csv", "--folds", "3", *GRID)
    yield ("tune", "t.csv", "--folds", "2", "--method", "lda", "--json")
    for more in ((), ("--json",), ("rlar",), ("sda", "--json")):
        yield ("methods", *more)


def second(known):
    """Verbs on the models and results."""
    for method in known:
        model = f"few-{method['name']}.rlar"
        yield ("transform", model, "few.csv")
        yield ("rank", model, "--top", "5")
    for classifier in CLASSIFIERS:
        yield ("predict", "wine-rlar.rlar", WINE, "--classifier", classifier, "--scores")
    yield ("predict", "holed.rlar", "holed.csv", "--missing", "mean", "-o", "p.txt")
    yield ("predict", "few-lda.rlar", "few.csv", "--json")
    for out in ("npy", "arff", "csv.gz"):
        yield ("transform", "wine-lfda.rlar", WINE, "-o", "z." + out)
    yield ("rank", "wine-rr.rlar", "--json")
    for written in WRITTEN:
        yield ("info", "t." + written)
        yield ("convert", "t." + written, f"back-{written}.csv")
    yield ("info", "wine-mpda.rlar")
    yield ("info", "wine-rlar.rlar", "--json")
    yield (*EVALUATE, "--methods", "rlar,lda,rr", "--train-per-class", "3,5", "--resume", "fits.journal")
    if GNUPLOT:
        yield from plots()
    yield ("report", "sizes.json", "heat.json", "-o", "r.html")


def plots():
    figures = (("convergence", "trace.csv"), ("heatmap", "heat.json"), ("ksweep", "axis.json"),
               ("sizes", "sizes.json", "--method", "lda"), ("confusion", "heat.json"), ("ranks", "sizes.json"),
               ("matrices", "matrices.json"), ("embedding", "wine-lda.rlar", WINE), ("features", "wine-rlar.rlar"),
               ("features", "few-rlar.rlar", "--image", "5x8"))
    for i, figure in enumerate(figures):
        yield ("plot", *figure, "-o", f"figure{i}." + ("svg", "pdf", "png")[i % 3])


def run(before, program, args, folder):
    """One command; a report has an exit code of its own."""
    done = subprocess.run([*before, program, *args, "--threads", "2"], cwd=folder, text=True, check=False, errors="replace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "LC_ALL": "C"})
    fit = args[0] == "fit"
    fault = "" if done.returncode == 0 else f"rlar {' '.join(args)}: exit code {done.returncode}\n{done.stdout}"
    return Outcome(fit, fit and bool(re.search(r"^time .* dual solve$", done.stdout, re.M)), fault)


def run_all(workers, before, program, folder):
    """The outcomes of all commands, and how many methods there are."""
    known = methods(program)
    make_inputs(folder)
    outcomes = []
    for commands in ([*fits(known), *first()], [*second(known)]):
        outcomes += workers.map(lambda args: run(before, program, args, folder), commands)
    return outcomes, len(known)
