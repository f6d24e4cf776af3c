#!/usr/bin/env python3
"""Unit tests under a checker that needs a build or a run of its own; under valgrind commands, too.

    tests/verify/sanitize.py memory      MemorySanitizer, the parts without BLAS (build-msan)
    tests/verify/sanitize.py valgrind    memcheck, the unit tests that are quick (build), and the commands of
                                         checked_commands.py: every method with n > d and n < d, and the verbs
    ... --only NAME                      this test alone, or `commands`; may be given several times

The last line is the figure; the exit code is 0 only when every program ran tests, none failed and nothing was reported.

MemorySanitizer sees what clang has compiled. zlib, libpng, jansson and cmocka are not: jansson's
memory counts as written (poison_in_malloc=0, poison_in_free=0, while every block of ours is without a value until we
write it), and tests/msan/told.c tells what zlib and jansson have written. Left out: everything that
calls BLAS, PNG images, and the command line, whose readers are those of the library but for .mat.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A minute or more each under valgrind; they run under AddressSanitizer in `make check`.
SLOW = {"all_methods", "checkpoint", "classify", "descent", "elastic_net", "embed", "evaluate", "factored", "fit", "forecast",
        "grid_search", "linalg", "local_methods", "local_scatter", "local_search", "mpda", "neighbours", "number",
        "occlude", "path", "resume", "reweighted", "rslda", "search", "spectral", "team", "team_evaluate", "team_large", "team_methods",
        "team_refused", "team_solve", "team_traffic", "training", "window", "wsolve"}
VALGRIND = ["valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite",
            "--child-silent-after-fork=yes", "--num-callers=30"]
MSAN = "halt_on_error=1:exit_code=99:poison_in_malloc=0:poison_in_free=0"


def quiet(*command, **environment):
    done = subprocess.run(command, cwd=ROOT, text=True, check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{sys.argv[0]}: failed: {' '.join(map(str, command))}")
    return done.stdout


def unit_tests(build):
    listed = quiet("meson", "test", "-C", str(build), "--no-rebuild", "--list", "--suite", "unit")
    names = [line.split(" / ")[-1].strip() for line in listed.splitlines() if " / " in line]
    return [name for name in names if " " not in name]  # the others are no programs of cmocka


def memory_build():
    build = ROOT / "build-msan"
    if not (build / "build.ninja").exists():
        quiet("meson", "setup", str(build), "-Doptimization=1", "-Db_sanitize=memory", "-Db_lundef=false",
              "-Ddefault_library=static",
              "-Dc_args=-fsanitize-memory-track-origins=2 -fno-omit-frame-pointer "
              "-Wno-unused-command-line-argument", CC="clang-14")
    quiet("ninja", "-C", str(build), "build.ninja")
    names = unit_tests(build)
    quiet("ninja", "-C", str(build), *[f"tests/test_{name}" for name in names])
    return build, names


def run(build, name, before, environment):
    """The number of its tests that passed, and what was said when something is wrong."""
    command = [*before, str(build / "tests" / f"test_{name}")]
    done = subprocess.run(command, cwd=ROOT, text=True, check=False, errors="replace", stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **environment})
    passed = re.search(r"PASSED\s+\] (\d+) test", done.stdout)
    count = int(passed.group(1)) if passed else 0
    print(f"{name}: {count} passed, exit code {done.returncode}", file=sys.stderr, flush=True)
    right = done.returncode == 0 and count > 0
    return count, "" if right else f"test_{name}: {count} passed, exit code {done.returncode}\n{done.stdout}"


def run_tests(workers, build, names, before, environment):
    """What is said of each fault, and the figure."""
    results = list(workers.map(lambda name: run(build, name, before, environment), names))
    faults = [text for _, text in results if text]
    return faults, f"{sum(count for count, _ in results)} unit tests in {len(names)} programs"


def run_commands(workers, build):
    """Likewise, of the command line under valgrind."""
    import checked_commands  # needs NumPy, which MemorySanitizer's tests do not
    with tempfile.TemporaryDirectory(prefix="rlar-valgrind-") as folder:
        outcomes, known = checked_commands.run_all(workers, VALGRIND, str(build / "rlar"), pathlib.Path(folder))
    dual, fits = sum(o.dual for o in outcomes), sum(o.fit for o in outcomes)
    plots = "" if checked_commands.GNUPLOT else " (no figures: gnuplot is missing)"
    faults = [o.fault for o in outcomes if o.fault]
    return faults, (f"{fits} fits of {known} methods ({dual} of n < d by the dual system) and {len(outcomes) - fits} "
                    f"other commands{plots}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checker", choices=("memory", "valgrind"))
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    if options.checker == "memory":
        build, names = memory_build()
        title, before, environment = "MemorySanitizer", [], {"MSAN_OPTIONS": MSAN}
    else:
        build = ROOT / "build"
        names = [name for name in unit_tests(build) if name not in SLOW]
        title, before, environment = "valgrind", VALGRIND, {"RLAR_SOURCE_ROOT": str(ROOT)}
    names = [name for name in names if not options.only or name in options.only]
    commands = options.checker == "valgrind" and (not options.only or "commands" in options.only)
    if not names and not commands:
        sys.exit(f"{sys.argv[0]}: there are no such tests")
    with ThreadPoolExecutor(os.cpu_count() or 1) as workers:
        faults, figure = run_tests(workers, build, names, before, environment)
        if commands:
            more, ran = run_commands(workers, build)
            faults, figure = faults + more, f"{figure}, {ran}"
    for text in faults:
        sys.stderr.write(text)
    print(f"{figure} under {title}: {len(faults)} with a report or a failure, or without a test")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
