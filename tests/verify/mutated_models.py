#!/usr/bin/env python3
"""Model files altered in every way, under AddressSanitizer and UndefinedBehaviorSanitizer.

    tests/verify/mutated_models.py [--count N] [--stride S]

N random mutations (default 2000), every truncation and every turned bit (every S-th of both) of
the models in tests/golden, one of each kind: see mutated_models.c. Builds what it needs in build-asan, as `make check`.
"""
import glob
import os
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PROGRAM = "tests/mutated_models"


def run(command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit("%s\n%s failed" % (done.stdout, " ".join(command)))


def main():
    run(["scripts/asan", PROGRAM])
    environment = dict(os.environ, ASAN_OPTIONS="abort_on_error=1:detect_leaks=1:quarantine_size_mb=16",
                       UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1")
    models = sorted(glob.glob(os.path.join(ROOT, "tests", "golden", "*.rlar")))
    done = subprocess.run([os.path.join("build-asan", PROGRAM)] + sys.argv[1:] + models, cwd=ROOT, env=environment,
                          stdout=subprocess.PIPE, text=True, check=False)
    figure = done.stdout.strip()
    if done.returncode == 0:
        print("%s, 0 memory errors" % figure)
    elif figure:
        print(figure)
    else:
        print("a memory error or a broken promise: exit code %d" % done.returncode)
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
