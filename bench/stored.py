"""Results of long studies: JSON files under docs/results/, a line for each key, that several runs may add to at once; and the places of
documents that are written from them."""
import fcntl
import json
import os
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"


def load(name):
    path = RESULTS / name
    return json.loads(path.read_text()) if path.exists() else {}


def store(name, content):
    """Written whole or not at all."""
    lines = [f"{json.dumps(key)}: {json.dumps(content[key], sort_keys=True)}" for key in sorted(content)]
    part = RESULTS / (name + ".part")
    part.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    part.replace(RESULTS / name)


def add(name, key, value):
    """One more key, beside what another run may have added meanwhile."""
    folder = os.open(RESULTS, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        store(name, {**load(name), key: value})
    finally:
        os.close(folder)


def replace_between(path, begin, end, text):
    """The document with `text` between the two marks, which stay."""
    page = Path(path)
    before, rest = page.read_text(encoding="utf-8").split(begin, 1)
    after = rest.split(end, 1)[1]
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
