#!/usr/bin/env python3
"""Contexts and shared models in many threads, and the readers that have several, under ThreadSanitizer.

    tests/verify/races.py [--count N]     N fits (default 200), from the root of the checkout

Makes the build that it needs in build-tsan. OpenBLAS is not instrumented and does not need to be: it is
called with one thread, and what it is given and gives back belongs to the caller. There is nothing to
suppress.
"""
import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build-tsan"
PROGRAMS = ("threads", "same_answer")
READERS = ("test_window", "test_parts")  # unit tests
FITS_PER_CONFIGURATION = 50  # same_answer is the slower of the two


def build():
    options = ["-Doptimization=1", "-Db_sanitize=thread", "-Db_lundef=false"]
    if not (FOLDER / "build.ninja").exists():
        subprocess.run(["meson", "setup", FOLDER, *options], cwd=ROOT, check=True, stdout=sys.stderr)
    targets = ["tests/" + name for name in PROGRAMS + READERS]
    subprocess.run(["ninja", "-C", FOLDER, *targets], check=True, stdout=sys.stderr)


def run(name, *words):
    """The exit code and the figure of the program, and the reports of the sanitizer.

    io_sync=0: to the sanitizer, a write to any file comes before every later read of any file, in all threads. That
    would order the threads of `threads` by files that have nothing to do with each other."""
    env = {**os.environ, "TSAN_OPTIONS": "halt_on_error=0 exitcode=66 second_deadlock_stack=1 io_sync=0"}
    done = subprocess.run([FOLDER / "tests" / name, *words], env=env, capture_output=True, text=True)
    sys.stderr.write(done.stderr)
    return done.returncode, done.stdout.strip().split("\n")[-1], done.stderr.count("WARNING: ThreadSanitizer")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    count = parser.parse_args().count
    build()
    results = [run("threads", "--count", str(count)),
               run("same_answer", "--count", str(max(1, count // FITS_PER_CONFIGURATION))),
               *[run(name) for name in READERS]]
    for _, figure, _ in results:
        print(figure)
    reports = sum(found for _, _, found in results)
    failed = sum(code != 0 for code, _, _ in results[2:])
    print("%s; with 1 to 16 threads in a context: %s; %d unit tests of the readers with threads, %d failed; ThreadSanitizer: "
          "%d reports" % (results[0][1], results[1][1].split(": ")[-1], len(READERS), failed, reports))
    return 1 if reports or any(code for code, _, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
