#!/usr/bin/env python3
"""A locale with a decimal comma changes nothing: in the library, whose host has set it, and in the program.

    tests/verify/comma_locale.py     from the root of the checkout

Makes the locale with localedef in a folder of its own; nothing is installed.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("RLAR_PROGRAM") or ROOT / "build" / "rlar")
NAME = "de_DE.UTF-8"
REFUSED = ["fit", "wine.csv", "--alpha", "0,25"]
USAGE = 2  # the exit code
RUNS = (["fit", "wine.csv", "--alpha", "0.25", "-o", "OUT"], ["predict", "MODEL", "wine.csv", "--scores"],
        ["transform", "MODEL", "wine.csv"], ["rank", "MODEL", "--json"], ["convert", "wine.csv", "OUT.csv"],
        ["evaluate", "wine.csv", "--methods", "lda,rr", "--folds", "2", "--trials", "1", "--csv"],
        REFUSED, ["methods", "rlar"])


def make_locale(folder):
    done = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / NAME], capture_output=True, text=True)
    if not (folder / NAME).exists():
        sys.exit("localedef cannot make %s (apt-get install locales): %s" % (NAME, done.stderr))


def outputs(folder, environment):
    """What the program writes, without timings."""
    found = []
    for number, run in enumerate(RUNS):
        out = folder / ("out%d" % number)
        words = [str(ROOT / "data" / w) if w == "wine.csv" else w.replace("OUT", str(out)) for w in run]
        words = [str(folder / "out0") if w == "MODEL" else w for w in words]
        done = subprocess.run([PROGRAM, *words], env={**os.environ, **environment}, capture_output=True, text=True)
        text = "\n".join(line for line in (done.stdout + done.stderr).splitlines()
                         if not line.startswith("time ") and "seconds" not in line)
        if run[0] == "evaluate":  # the last two columns are seconds
            text = "\n".join(",".join(line.split(",")[:-2]) for line in text.splitlines())
        files = [p.read_bytes() for p in (out, Path(str(out) + ".csv")) if p.exists()]
        found.append((run, done.returncode, text, files))
    return found


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_locale(folder)
        comma = {"LOCPATH": name, "LC_ALL": NAME, "LANG": NAME}
        plain, changed = outputs(folder, {"LC_ALL": "C"}), outputs(folder, comma)
        wrong = [run for (run, *a), (_, *b) in zip(plain, changed) if a != b]
        failed = [run for run, code, *_ in plain if code != (USAGE if run is REFUSED else 0)]
        for what, runs in (("differs", wrong), ("another exit code than expected", failed)):
            for run in runs:
                print("%s: rlar %s" % (what, " ".join(run)), file=sys.stderr)
        library = subprocess.run([PROGRAM.parent / "tests" / "locale_change", NAME],
                                 env={**os.environ, **comma, "RLAR_SOURCE_ROOT": str(ROOT)}, stdout=subprocess.PIPE,
                                 text=True)
    print(library.stdout.strip())
    print("with a decimal comma: %d of %d commands write something else, the library %s%s"
          % (len(wrong), len(RUNS), "does" if library.returncode else "does not",
             "; %d end with another exit code than expected" % len(failed) if failed else ""))
    return 1 if wrong or failed or library.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
