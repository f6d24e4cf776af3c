#!/usr/bin/env python3
"""Write the golden models, one for each kind of model file, and what is to be read from them.

    tests/golden/make.py PROGRAM     PROGRAM is the path of the rlar command

Run once, by the first version; the files are committed and stay as they are: every later rlar reads format 1
(docs/model-format.md). tests/unit/test_golden.c compares. What is expected is not what the library says, but what
tests/reference/read_model.py and the formulas of that page make of the files. Data: data/iris.arff and data/wine.csv,
four samples of each class.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "reference"))
from read_model import read_model  # noqa: E402

# Name: data, whether its columns have names, and how it is fitted.
KINDS = {
    "rlar-default": ("iris", True, ["--method", "rlar"]),
    "rr-no-scaling": ("iris", True, ["--method", "rr", "--scale", "none"]),
    "lda-unit": ("wine", True, ["--method", "lda", "--scale", "unit"]),  # fewer outputs than classes
    "mmc-no-names": ("iris", False, ["--method", "mmc", "--scale", "minmax"]),
    "l21sda-rms": ("wine", True, ["--method", "l21sda", "--scale", "rms"]),
    "lfda-four-steps": ("iris", True, ["--method", "lfda", "--scale", "minmax,unit,zscore,rms"]),
}
SCORES = {"rlar", "rr"}  # methods whose outputs are scores of the classes
EACH, TESTED = 4, 6


def iris():
    """Class names with a quote, a comma and letters beyond ASCII, which the header must carry."""
    with open(os.path.join(ROOT, "data", "iris.arff"), encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and line[0] != "%"]
    names = [line.split()[1].strip("'\"") for line in lines if line.lower().startswith("@attribute")][:4]
    rows = [line.split(",") for line in lines if line[0] != "@"]
    other = dict(zip(sorted({row[4] for row in rows}), ('"se", tosa', "versi\u00e7olor", "virginica")))
    return names, [([float(cell) for cell in row[:4]], other[row[4]]) for row in rows]


def wine():
    with open(os.path.join(ROOT, "data", "wine.csv"), encoding="utf-8") as file:
        lines = [line.strip().split(",") for line in file]
    label = lines[0].index("class")
    columns = [j for j in range(len(lines[0])) if j != label]
    return ([lines[0][j] for j in columns], [([float(row[j]) for j in columns], row[label]) for row in lines[1:]])


def table(names, samples):
    """As CSV; without names the label is the last column."""
    quoted = ['"%s"' % label.replace('"', '""') for _, label in samples]
    rows = [",".join([repr(value) for value in x] + [label]) for (x, _), label in zip(samples, quoted)]
    return "\n".join(([",".join(names + ["class"])] if names else []) + rows) + "\n"


def pick(samples):
    """Four of each class to learn from, and as many others, a few, to be predicted."""
    chosen, rest = [], []
    for name in sorted({label for _, label in samples}):
        own = [sample for sample in samples if sample[1] == name]
        chosen += own[::7][:EACH]
        rest += own[3::11][:TESTED // 3]
    return chosen, rest


def scaled(model, x):
    steps = [] if model["scale"] == "none" else model["scale"].split(",")
    for i, step in enumerate(steps):
        if step == "unit":
            x = x / (np.linalg.norm(x) or 1.0)
        else:
            x = (x - model["scale.%d.shift" % i]) * model["scale.%d.factor" % i]
    return x


def expected(name, model, samples):
    """One line for each number or sample: hexadecimal, so that no digit is lost."""
    (p, d), n = model["W"].shape, len(model["reference_class"])
    lines = ["model %s %d %d %d %d" % (name, d, p, len(model["classes"]), n)]
    lines += ["w " + " ".join(value.hex() for value in row.tolist()) for row in model["W"]]
    lines.append("b " + " ".join(value.hex() for value in model["b"].tolist()))
    for x, _ in samples:
        z = model["W"] @ scaled(model, np.array(x)) + model["b"]
        nearest = model["reference_class"][np.argmin(((model["references"] - z) ** 2).sum(axis=1))] if n else -1
        largest = np.argmax(z) if model["method"] in SCORES else -1
        lines.append("x " + " ".join(value.hex() for value in x))
        lines.append("z " + " ".join(value.hex() for value in z.tolist()))
        lines.append("class %d %d" % (nearest, largest))
    return lines


def crc64(content):
    """CRC-64/XZ."""
    crc = 2**64 - 1
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xC96C5795D7870F42 if crc & 1 else 0)
    return crc ^ (2**64 - 1)


def without_references(raw):
    """The same map with no training samples, which no fit leaves, but the page allows: written from that page."""
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + length])
    end = header["references"]["data_offsets"][0]
    for key, shape in (("references", [0, header["W"]["shape"][0]]), ("reference_class", [0])):
        header[key].update(shape=shape, data_offsets=[end, end])
    header["__metadata__"]["checksum"] = "crc64-xz:" + "0" * 16
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-(8 + len(text)) % 64)
    whole = struct.pack("<Q", len(text)) + text + raw[8 + length:8 + length + end]
    return whole.replace(b"crc64-xz:" + b"0" * 16, b"crc64-xz:%016x" % crc64(whole))


def main():
    program = os.path.abspath(sys.argv[1])
    sets = {"iris": iris(), "wine": wine()}
    lines = []
    for name, (data, named, options) in KINDS.items():
        names, samples = sets[data]
        chosen, rest = pick(samples)
        path = os.path.join(HERE, name + ".rlar")
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "data.csv")
            with open(source, "w", encoding="utf-8") as file:
                file.write(table(names if named else None, chosen))
            subprocess.run([program, "fit", source, "-q", "-o", path, *options], check=True)
        lines += expected(name, read_model(path), rest)
        if name == "rr-no-scaling":
            with open(path, "rb") as file:
                bare = without_references(file.read())
            path = os.path.join(HERE, "no-references.rlar")
            with open(path, "wb") as file:
                file.write(bare)
            lines += expected("no-references", read_model(path), rest)
    with open(os.path.join(HERE, "expected.txt"), "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
