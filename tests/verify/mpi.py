#!/usr/bin/env python3
"""The tests of rlar-mpi on this machine, in a build of their own (build-mpi): the programs in build are not touched.

The last line is the figure; the exit code is 0 only when no test failed and none was skipped. Needs what
`scripts/setup verify` installs.
"""
import os
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build-mpi"


def quietly(*command):
    done = subprocess.run(command, cwd=ROOT, text=True, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{sys.argv[0]}: failed: {' '.join(command)}; scripts/setup verify installs what it needs")


def build():
    if not (BUILD / "build.ninja").exists():
        quietly("meson", "setup", BUILD.name, "-Dmpi=enabled")
    quietly("ninja", "-C", BUILD.name, "rlar", "rlar-mpi", "tests/mpi_host")


def main():
    build()
    os.environ.update(RLAR_PROGRAM=str(BUILD / "rlar"), RLAR_MPI_HOST=str(BUILD / "tests" / "mpi_host"),
                      RLAR_SOURCE_ROOT=str(ROOT))
    tests = unittest.defaultTestLoader.discover(str(ROOT / "tests" / "mpi"))  # they ask the environment for the program
    done = unittest.TextTestRunner().run(tests)
    bad = len(done.failures) + len(done.errors)
    print("%d tests of rlar-mpi on 1 to 4 processes, a rank that is killed among them: %d failed%s"
          % (done.testsRun - len(done.skipped), bad, ", %d skipped" % len(done.skipped) if done.skipped else ""))
    return 1 if bad or done.skipped or not done.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
