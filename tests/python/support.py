"""What the tests of the Python package share.

They run in a virtual environment that has the package (scripts/python), and compare with the program:

    RLAR_PROGRAM       default: build/rlar below the repository
    RLAR_SOURCE_ROOT   the repository (default: two folders above this file)
"""
import os
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path

import rlar

ROOT = Path(os.environ.get("RLAR_SOURCE_ROOT") or Path(__file__).resolve().parents[2])
PROGRAM = str(Path(os.environ.get("RLAR_PROGRAM") or ROOT / "build" / "rlar").resolve())
DATA = ROOT / "data"

IRIS = rlar.datasets.load_iris(return_X_y=True)
WINE = rlar.datasets.load_wine(return_X_y=True)
ESTIMATORS = list(rlar.ESTIMATORS.values())


def program(*args):
    """The program's standard output."""
    return subprocess.run([PROGRAM, *map(str, args)], check=True, capture_output=True, text=True).stdout


def model_bytes(estimator):
    return estimator._model.to_bytes()


class TestCase(unittest.TestCase):
    """With a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def quiet(self):
        """Warnings are not what this test is about."""
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("ignore")
