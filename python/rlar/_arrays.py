"""NumPy, pandas and SciPy objects as the C library takes them, without a copy where that can be."""
from __future__ import annotations

import os
import re
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

MAX_THREADS = 256  # of a context of the library

# What the library takes for a number; Python would also take 1_000 and nan.
NUMBERS = {int: re.compile(r"[+-]?[0-9]+"),
           float: re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")}


def samples(X: Any) -> Any:
    """What _core takes for X: an array with contiguous rows, or the parts of a CSR matrix."""
    if sparse.issparse(X):
        return _csr(X)
    item = X.itemsize
    contiguous = X.shape[1] < 2 or X.strides[1] == item
    apart = X.shape[0] < 2 or (X.strides[0] >= X.shape[1] * item and X.strides[0] % item == 0)
    if not (contiguous and apart and X.flags.aligned):
        X = np.require(X, requirements=["C", "A"])
    return X


def _csr(X: Any) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return (X.shape[1], np.ascontiguousarray(X.data, dtype=np.float64),
            np.ascontiguousarray(X.indices, dtype=np.int64),
            np.ascontiguousarray(X.indptr, dtype=np.int64))


def text(value: Any) -> str:
    """A parameter or a class as the library reads it: 0.1, 7, unit; a whole number without a point."""
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        value = float(value)
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def labels(y: np.ndarray) -> tuple[np.ndarray, list[str], np.ndarray]:
    """(classes, their texts, the number of each sample's class)"""
    if y.dtype.kind not in "biuU":  # whole numbers and strings are classes: no need to look
        check_classification_targets(y)
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, [text(c) for c in classes], np.ascontiguousarray(numbers, dtype=np.int64)


def values(texts: list[str]) -> list[Any]:
    """What texts of the library mean: int where all of them are, float where all are numbers, else str."""
    for number, pattern in NUMBERS.items():
        if all(map(pattern.fullmatch, texts)):
            return [number(text) for text in texts]
    return texts


def memory_limit(max_memory: int | None, X: Any) -> int:
    """Bytes that a fit may hold; 0: any. Sparse samples become dense: never more than the machine has."""
    if max_memory is not None:
        return int(max_memory)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if sparse.issparse(X) else 0


def threads(n_jobs: int | None) -> int:
    """By scikit-learn's rule: None is 1 unless a joblib context says otherwise, -1 all processors.

    They are threads of the library, so joblib's limits for processes within processes do not apply.
    """
    if n_jobs is None:
        n_jobs = effective_n_jobs(None)
    if n_jobs == 0:
        raise ValueError("n_jobs=0: a number of threads, -1 for one per processor, or None is needed")
    return min(n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs), MAX_THREADS)
