"""Read an rlar model file with nothing but struct, json and NumPy (docs/model-format.md)."""
import json
import struct

import numpy as np

DTYPES = {"F64": "<f8", "I64": "<i8"}


def read_model(path):
    """The tensors by name, and the metadata with its lists and parameters parsed."""
    with open(path, "rb") as file:
        raw = file.read()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + length])
    model = header.pop("__metadata__")
    for key in {"params", "classes", "features"} & model.keys():
        model[key] = json.loads(model[key])
    for name, entry in header.items():
        start, end = (8 + length + offset for offset in entry["data_offsets"])
        model[name] = np.frombuffer(raw[start:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return model
