#!/usr/bin/env python3
"""RLAR's own solver against SciPy, all problems of tests/reference. Ends with the figure; with exit
code 1 where a test failed or was skipped."""
import os
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main():
    os.environ.update(RLAR_TESTS="all", RLAR_PROGRAM=str(ROOT / "build" / "rlar"), RLAR_SOURCE_ROOT=str(ROOT))
    sys.path.insert(0, str(ROOT / "tests" / "reference"))
    import minimise_problems  # which asks the environment for the program
    tests = unittest.defaultTestLoader.loadTestsFromNames(["test_minimise", "test_minimise_promises"])
    done = unittest.TextTestRunner().run(tests)
    print("%d tests of solver=minimise, on %d problems against SciPy among others: %d failed%s"
          % (done.testsRun - len(done.skipped), len(list(minimise_problems.small_problems())),
             len(done.failures) + len(done.errors), ", %d skipped" % len(done.skipped) if done.skipped else ""))
    return 0 if done.wasSuccessful() and done.testsRun and not done.skipped else 1


if __name__ == "__main__":
    sys.exit(main())
