"""Run `rlar fit` on NumPy arrays and read back all it wrote. Shared by the tests of this folder.

Environment: RLAR_PROGRAM is the program under test (default build/rlar below the repository),
RLAR_SOURCE_ROOT the repository (default two folders above this file).
"""
import csv
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from read_model import read_model

ROOT = Path(os.environ.get("RLAR_SOURCE_ROOT") or Path(__file__).resolve().parents[2])
PROGRAM = str(Path(os.environ.get("RLAR_PROGRAM") or ROOT / "build" / "rlar").resolve())
TIMEOUT = 120
COLUMNS = ("objective", "smoothed", "regression", "sparsity", "locality")


class Fit:
    """What one run left behind: W (d x c), b, the trace by column, the JSON answer, the model."""

    def __init__(self, folder, answer):
        self.bytes = (folder / "model").read_bytes()
        model = read_model(folder / "model")
        self.W = np.array(model["W"], dtype=float).T
        self.b = np.array(model["b"], dtype=float)
        self.json = json.loads(answer)
        with open(folder / "trace.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.iterations = [int(row["iteration"]) for row in rows]
        self.trace = {name: np.array([float(row[name] or "nan") for row in rows])
                      for name in COLUMNS}


def fit(X, labels, scale="none", threads=None, method=None, **params):
    """Fit a model with the program; params are those of the method, which is RLAR unless named. What is not
    given is as in the paper."""
    with tempfile.TemporaryDirectory(prefix="rlar-reference-") as name:
        folder = Path(name)
        np.save(folder / "x.npy", np.ascontiguousarray(X, dtype=float))
        (folder / "y.txt").write_text("".join(f"{label}\n" for label in labels))
        command = [PROGRAM, "fit", "x.npy", "--labels", "y.txt", "-o", "model", "--json",
                   "--trace", "trace.csv", "--preset", "paper", "--scale", scale]
        if method is not None:
            command += ["--method", method]
        if threads is not None:
            command += ["--threads", str(threads)]
        for key, value in params.items():
            command += ["-p", f"{key}={value}"]
        run = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                             timeout=TIMEOUT)
        if run.returncode != 0:
            raise AssertionError(f"{' '.join(command)}\nexit {run.returncode}: "
                                 f"{run.stderr.decode('utf-8', 'replace')}")
        return Fit(folder, run.stdout)
