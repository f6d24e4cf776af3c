"""The data sets that ship with rlar, and data files in any format that the command line reads."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from . import _arrays, _core

__all__ = ["load_diabetes", "load_ionosphere", "load_iris", "load_wine", "read"]

_FOLDER = Path(__file__).parent / "data"
_HEADER = {None: 0, True: 1, False: -1}
_MISSING = {"error": 0, "mean": 1, "drop": 2, "keep": 3}  # rlar_missing


def read(path: str | os.PathLike[str], *, label: str | int | None = None, format: str | None = None,
         labels_file: str | os.PathLike[str] | None = None, header: bool | None = None,
         missing: str = "error", return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Read CSV, TSV, LIBSVM, NPY, NPZ, ARFF or a folder of images, each also gzipped.

    Parameters
    ----------
    path : path of the file or folder
    label : name or 1-based number of the column with the classes (negative: from the end), or "none".
        Default: the column named label, class, target or y, else the last.
    format : "csv", "tsv", "libsvm", "npy", "npz", "arff" or "images"; default: by content and ending
    labels_file : the classes in a file of their own, one per sample
    header : does the table start with the names of the columns? Default: guess.
    missing : "error", "mean" (of the column), "drop" (the sample) or "keep" (as NaN)
    return_X_y : (data, target) instead of a Bunch
    as_frame : data as a pandas DataFrame and target as a Series

    Returns
    -------
    data : Bunch with data (n_samples, n_features), target (n_samples,) or None, target_names,
        feature_names (a list; empty where the file has none) and name
    """
    treated = _arrays.choice("missing", missing, _MISSING, f"one of {', '.join(_MISSING)}")
    headed = _arrays.choice("header", header, _HEADER, "True, False or None (guess)")
    os.stat(os.fspath(path))  # Python's own exception for a file that is not there
    name, d, values, labels, classes, features = _core.read(
        path=path, format=format, label=None if label is None else str(label),
        labels_file=labels_file or "", header=headed, missing=treated)
    data = np.frombuffer(values).reshape(-1, d)
    target = _arrays.class_values(classes)[np.frombuffer(labels, dtype=np.int64)] if classes else None
    if as_frame:
        data, target = _as_frame(data, target, features)
    if return_X_y:
        return data, target
    return Bunch(data=data, target=target, target_names=classes, feature_names=features, name=name)


def _as_frame(data: np.ndarray, target: np.ndarray | None, features: list[str]) -> tuple[Any, Any]:
    import pandas

    return (pandas.DataFrame(data, columns=features or None),
            None if target is None else pandas.Series(target, name="class"))


def load_iris(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Iris: 150 samples, 4 features, 3 classes. Parameters and answer as those of read."""
    return read(_FOLDER / "iris.arff", return_X_y=return_X_y, as_frame=as_frame)


def load_wine(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Wine: 178 samples, 13 features, 3 classes. Parameters and answer as those of read."""
    return read(_FOLDER / "wine.csv", return_X_y=return_X_y, as_frame=as_frame)


def load_ionosphere(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Ionosphere: 351 samples, 34 features, 2 classes. Parameters and answer as those of read."""
    return read(_FOLDER / "ionosphere.arff", return_X_y=return_X_y, as_frame=as_frame)


def load_diabetes(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Diabetes (Pima): 768 samples, 8 features, 2 classes. Parameters and answer as those of read."""
    return read(_FOLDER / "diabetes.arff", return_X_y=return_X_y, as_frame=as_frame)
