#!/usr/bin/env python3
"""Rows streamed through `rlar predict`: every answer is right, and memory stays flat.

    tests/verify/stream_rows.py [--count N]     N rows (default 2,000,000), from the root of the checkout

The rows are iris with noise, 4 features as CSV, made once and sent again and again through a pipe; the answers
to them come back through another and are compared with those to the first time.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("RLAR_PROGRAM") or str(ROOT / "build" / "rlar")
CHUNK = 100_000  # rows that are made
GROWTH = 1 << 20  # bytes that count as flat: what the heap does with the blocks of a stream


def rows(model_folder):
    """Some rows as text, and the answers to them, each row alone being one of a small file."""
    lines = (ROOT / "data" / "iris.arff").read_text().split("@DATA")[1].split()
    iris = [[float(value) for value in line.split(",")[:4]] for line in lines]
    rng = random.Random(1)
    text = "".join("%.2f,%.2f,%.2f,%.2f\n" % tuple(rng.gauss(value, 0.1) for value in rng.choice(iris))
                   for _ in range(CHUNK)).encode()
    (model_folder / "rows.csv").write_bytes(text)
    model = model_folder / "iris.rlar"
    subprocess.run([PROGRAM, "fit", ROOT / "data" / "iris.arff", "-q", "-o", model], check=True,
                   stdout=subprocess.DEVNULL)
    answers = subprocess.run([PROGRAM, "predict", model, model_folder / "rows.csv", "--header", "no", "-q"],
                             check=True, capture_output=True).stdout
    assert answers.count(b"\n") == CHUNK
    return model, text, answers


def feed(pipe, text, times):
    with pipe:
        for _ in range(times):
            pipe.write(text)


def resident(pid):
    for line in Path("/proc/%d/status" % pid).read_text().splitlines():
        if line.startswith("VmRSS:"):
            return 1024 * int(line.split()[1])
    return 0  # it has ended


def read_answers(process, answers, times):
    """Compares; returns how many chunks were wrong, and the memory after the first tenth and at most after it."""
    wrong, early, late = 0, 0, 0
    for i in range(times):
        wrong += process.stdout.read(len(answers)) != answers
        held = resident(process.pid)
        if i <= times // 10:
            early = max(early, held)
        else:
            late = max(late, held)
    wrong += process.stdout.read(1) != b""
    return wrong, early, late


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=2_000_000)
    times = max(2, parser.parse_args().count // CHUNK)
    with tempfile.TemporaryDirectory() as folder:
        model, text, answers = rows(Path(folder))
        start = time.monotonic()
        process = subprocess.Popen([PROGRAM, "predict", model, "-", "--format", "csv", "--header", "no", "-q"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        writer = threading.Thread(target=feed, args=(process.stdin, text, times))
        writer.start()
        wrong, early, late = read_answers(process, answers, times)
        writer.join()
        code, seconds = process.wait(), time.monotonic() - start
    growth = max(0, late - early)
    print("%d rows predicted from a stream in %.0f s (%.1f million per second): %d blocks of %d answers wrong, memory "
          "grew by %d KiB after the first tenth (%.1f MiB in all)"
          % (times * CHUNK, seconds, times * CHUNK / seconds / 1e6, wrong, CHUNK, growth // 1024, max(early, late) / 2**20))
    return 1 if wrong or code or growth > GROWTH else 0


if __name__ == "__main__":
    sys.exit(main())
