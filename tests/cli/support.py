"""What the tests of the command line share: running the program, a folder per test, small data.

The tests know the program from its contract only: verbs, files, exit codes, JSON keys. They need
Python's standard library and NumPy. Environment:

    RLAR_PROGRAM       the program under test (default: build/rlar below the repository)
    RLAR_SOURCE_ROOT   the repository (default: two folders above this file)
    RLAR_DATA_DIR      larger data; tests that want it are skipped without it
"""

import gzip
import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(os.environ.get("RLAR_SOURCE_ROOT") or Path(__file__).resolve().parents[2])
PROGRAM = str(Path(os.environ.get("RLAR_PROGRAM") or ROOT / "build" / "rlar").resolve())
DATA_DIR = os.environ.get("RLAR_DATA_DIR")

TIMEOUT = 120  # generous: sanitizer builds on a busy machine
SIGNAL_LIMIT = 5  # seconds within which an interrupted program must have ended

OK, FAILED, USAGE, DATA, MODEL, NUMERIC, IO, MEMORY, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 7, 130


class Result(NamedTuple):
    """The outcome of one run; out is bytes because it may be a binary file."""

    code: int
    out: bytes
    err: str

    @property
    def text(self):
        return self.out.decode("utf-8")

    @property
    def lines(self):
        return self.text.splitlines()

    @property
    def json(self):
        return json.loads(self.text)


def clean_environment(extra=None):
    """The caller's environment without what would steer the program."""
    steering = ("RLAR_", "LC_", "LANG", "OPENBLAS_", "OMP_", "MKL_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(steering)}
    env.update({"LC_ALL": "C", "COLUMNS": "80"})
    env.update(extra or {})
    return env


def default_signals():
    """A shell that runs tests in the background hands down an ignored SIGINT: undo that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def start(*args, cwd=None, env=None, **pipes):
    """The program, running; standard error is a pipe unless told otherwise."""
    pipes.setdefault("stdin", subprocess.DEVNULL)
    pipes.setdefault("stdout", subprocess.PIPE)
    pipes.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([PROGRAM, *map(str, args)], cwd=cwd, env=clean_environment(env),
                            preexec_fn=default_signals, **pipes)


def run(*args, stdin=b"", cwd=None, env=None, timeout=TIMEOUT):
    """Run the program to its end."""
    process = start(*args, cwd=cwd, env=env, stdin=subprocess.PIPE)
    try:
        out, err = process.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return Result(process.returncode, out, err.decode("utf-8", "replace"))


def snapshot(folder):
    """Every path below a folder with its bytes, to see whether a run left or changed anything."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        readable = path.is_file() and os.access(path, os.R_OK)
        found[name] = path.read_bytes() if readable else None
    return found


def one_line_error(err):
    """Why this is not a proper error text, or None: one line, the program's name, no trace."""
    if not err.startswith("rlar: "):
        return "does not begin with 'rlar: '"
    if not err.endswith("\n") or err.count("\n") != 1:
        return "is not exactly one line"
    for trace in ("Traceback", "AddressSanitizer", "runtime error", "Assertion"):
        if trace in err:
            return f"shows {trace}"
    if any(ord(c) < 32 and c != "\n" for c in err):
        return "has control characters"
    return None


class Case(unittest.TestCase):
    """A test with a folder of its own in which the program runs."""

    maxDiff = 4000

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="rlar-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return self.folder / name

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    def run_rlar(self, *args, **options):
        options.setdefault("cwd", self.folder)
        return run(*args, **options)

    def ok(self, *args, **options):
        result = self.run_rlar(*args, **options)
        self.assertEqual(result.code, OK, f"rlar {' '.join(map(str, args))}\n{result.err}")
        return result

    def json_of(self, *args, **options):
        return self.ok(*args, "--json", **options).json

    def fails(self, code, *args, says=(), **options):
        """The run fails with this code and one proper line, and leaves the folder as it was."""
        before = snapshot(self.folder)
        result = self.run_rlar(*args, **options)
        shown = f"rlar {' '.join(map(str, args))}\nexit {result.code}: {result.err}"
        self.assertEqual(result.code, code, shown)
        self.assertIsNone(one_line_error(result.err), shown)
        self.assertEqual(result.out, b"", shown)
        for pattern in [says] if isinstance(says, str) else says:
            self.assertRegex(result.err, pattern, shown)
        self.assertEqual(snapshot(self.folder), before, "files changed: " + shown)
        return result


# ---- Small data: whole numbers 0..255, so every format holds them exactly ----


def blobs(n_per_class=10, d=6, classes=3, seed=0, spread=12):
    """Overlapping classes around well-spread centres: (n x d numbers, labels 1..classes)."""
    rng = np.random.RandomState(seed)
    centres = rng.randint(40, 216, size=(classes, d))
    x = np.vstack([c + np.rint(rng.randn(n_per_class, d) * spread) for c in centres])
    y = np.repeat(np.arange(1, classes + 1), n_per_class)
    return np.clip(x, 0, 255), y


def number(value):
    return repr(int(value)) if float(value).is_integer() else repr(float(value))


def table_text(x, y, separator=",", names=None, label="label"):
    """A table with the label in the last column; y None: no labels."""
    rows = [[number(v) for v in row] for row in x]
    if y is not None:
        rows = [row + [str(c)] for row, c in zip(rows, y)]
    if names is not None:
        rows.insert(0, list(names) + ([label] if y is not None else []))
    return "".join(separator.join(row) + "\n" for row in rows)


def gz(content):
    """Gzip without a time stamp, so tests see the same bytes each time."""
    return gzip.compress(content.encode() if isinstance(content, str) else content, mtime=0)


def read_safetensors(path):
    """(tensors, metadata) of a model file, in the few lines that make the format worth having."""
    raw = Path(path).read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:8 + size])
    metadata = header.pop("__metadata__", {})
    kinds = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "u1"}
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        flat = np.frombuffer(raw[8 + size + begin:8 + size + end], kinds[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors, metadata


def without_seconds(value):
    """The same JSON without its timings, which alone may differ from run to run."""
    if isinstance(value, dict):
        return {k: without_seconds(v) for k, v in value.items() if not k.endswith("seconds")}
    if isinstance(value, list):
        return [without_seconds(v) for v in value]
    return value


main = unittest.main
