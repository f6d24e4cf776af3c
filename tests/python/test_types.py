"""The type hints, seen by mypy: those of the package, and what a program that uses it gets from them."""
import importlib.util
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

import rlar
from support import TestCase

# scikit-learn, SciPy and joblib have no types, so the classes below them are Any to mypy.
STRICT = ["--strict", "--ignore-missing-imports", "--allow-subclassing-any", "--allow-untyped-calls", "--no-warn-return-any"]

PROGRAM = """\
from pathlib import Path
import rlar

X, y = rlar.datasets.load_wine(return_X_y=True)
model = rlar.RLAR(alpha=0.1, n_jobs=None).fit(X, y)
reveal_type(model)
reveal_type(model.objective_)
reveal_type(model.n_iter_)
reveal_type(model.get_support(n_features=3))
reveal_type(rlar.RLAR.load(Path("model.rlar")))
reveal_type(rlar.load("model.rlar"))
rlar.plot.convergence(model)
rlar.evaluate(X, y, ["rlar"], train_fraction=[0.1, 0.5])
rlar.RLAR(alpha="x")
rlar.RLAR(alfa=1)
rlar.RLAR().get_support(n_features="3")
"""
REVEALED = ["RLAR", "float", "int", "ndarray", "RLAR", "LinearMapEstimator"]
WRONG = ["arg-type", "call-arg", "arg-type"]


class Hints(TestCase):
    def test_marked(self):
        self.assertTrue((Path(rlar.__file__).parent / "py.typed").exists())

    def mypy(self, *arguments):
        command = [sys.executable, "-m", "mypy", "--cache-dir", self.folder / "cache", *STRICT, *arguments]
        environment = {**os.environ, "MYPY_FORCE_COLOR": "0"}
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_package_and_program(self):
        done = self.mypy("-p", "rlar")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (self.folder / "program.py").write_text(PROGRAM)
        done = self.mypy("program.py")
        revealed = re.findall(r'Revealed type is "([^"]*)"', done.stdout)
        self.assertEqual([re.sub(r"\[.*", "", name).split(".")[-1] for name in revealed], REVEALED, done.stdout)
        self.assertEqual(re.findall(r"error: .*\[([\w-]+)\]$", done.stdout, re.M), WRONG, done.stdout)


if __name__ == "__main__":
    unittest.main()
