"""NumPy, pandas and SciPy objects as the C library takes them, without a copy where that can be."""
from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from ._sparse import csr_parts

MAX_THREADS = 256  # of a context of the library

# What the library takes for a number; Python would also take 1_000 and nan. Of more digits than 640
# int() may refuse to make a number (sys.set_int_max_str_digits): no computer counts so far.
NUMBERS = {int: re.compile(r"[+-]?[0-9]{1,640}"),
           float: re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")}


def samples(X: Any) -> Any:
    """What _core takes for X: an array with contiguous rows, or the parts of a CSR matrix."""
    if sparse.issparse(X):
        return csr_parts(X)
    item = X.itemsize
    contiguous = X.shape[1] < 2 or X.strides[1] == item
    apart = X.shape[0] < 2 or (X.strides[0] >= X.shape[1] * item and X.strides[0] % item == 0)
    if not (contiguous and apart and X.flags.aligned):
        X = np.require(X, requirements=["C", "A"])
    return X


def is_float32_frame(X: Any) -> bool:
    """A frame of polars whose columns are all float32: scikit-learn's checks make float64 of it."""
    types = getattr(X, "dtypes", None)
    return isinstance(types, list) and {str(t) for t in types} == {"Float32"}


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
    if y.dtype.kind == "m":  # NumPy counts them among the whole numbers, int() does not take them
        raise ValueError(f"y has labels of the type {y.dtype}; make all of them strings, or all numbers (y.astype)")
    if y.dtype.kind not in "biuU":  # whole numbers and strings are classes: no need to look
        _refuse_mixed(y)
        check_classification_targets(y)
    classes, numbers = np.unique(y, return_inverse=True)
    texts = [text(c) for c in classes]
    if len(texts) < 2:
        raise ValueError(f"y has one class only, {texts[0]!r}; two or more are needed")
    if len(set(_kept_apart(texts))) < len(texts):
        raise ValueError(f"y: some of the classes {', '.join(texts[:20])} are the same number; rename them")
    return classes, texts, np.ascontiguousarray(numbers, dtype=np.int64)


def _kept_apart(texts: list[str]) -> list[Any]:
    """By what the library tells classes apart: numbers where all are below 2^53 (exact there), else texts."""
    found = values([text.strip(" \t") for text in texts])
    exact = not isinstance(found[0], str) and all(abs(number) < 2**53 for number in found)
    return found if exact else texts


def _refuse_mixed(y: np.ndarray) -> None:
    """Numbers beside strings have no order; scikit-learn would speak of '<' only."""
    if y.dtype.kind == "O" and len({isinstance(label, str) for label in y}) > 1:
        kinds = sorted({type(label).__name__ for label in y})
        raise ValueError(f"y has labels of the types {', '.join(kinds)}; make all of them strings, or all numbers")


def values(texts: list[str]) -> list[Any]:
    """What texts of the library mean: int where all of them are, float where all are numbers, else str."""
    for number, pattern in NUMBERS.items():
        if all(map(pattern.fullmatch, texts)):
            return [number(text) for text in texts]
    return texts


def class_values(texts: list[str]) -> np.ndarray:
    """The classes of a file, one for each text: numbers only where no two become one and none is infinite."""
    found = values(texts)
    kind = _number_type(found)
    array = np.array(texts if kind is None else found, dtype=kind)
    return array if len(np.unique(array)) == len(texts) else np.array(texts)


def _number_type(found: list[Any]) -> Any:
    """What holds all of them; None: nothing. NumPy itself would round whole numbers beyond int64 to float64."""
    if all(isinstance(value, int) for value in found):
        least, most = min(found), max(found)
        if -2**63 <= least and most < 2**63:
            return np.int64
        return np.uint64 if least >= 0 and most < 2**64 else None
    return np.float64 if isinstance(found[0], float) and np.isfinite(found).all() else None


def sorted_classes(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """(classes in Python's order, the number that the library has given to each).

    The library puts numbers from 2^53 on in the order of texts, where 10 comes before 5.
    """
    classes = class_values(texts)
    order = np.argsort(classes, kind="stable")
    return classes[order], order


def whole(name: str, value: Any, least: int, most: float = 2**63 - 1) -> int:
    """A parameter that counts something; also 3.0 and NumPy's numbers. The library counts in int64."""
    try:
        count = int(value) if isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) else None
    except (OverflowError, TypeError, ValueError):  # infinite, a time span of NumPy, NaN
        count = None
    if count is None or count != value or not least <= count <= most:
        allowed = f"of {least} or more" if count is None or count <= most else f"of at most {most}"
        raise ValueError(f"{name}={value!r}: a whole number {allowed} is needed")
    return count


def choice(name: str, value: Any, choices: Mapping[Any, int], needed: str) -> int:
    """What stands for the value in the library."""
    try:
        return choices[value]
    except (KeyError, TypeError):  # a list has no hash
        raise ValueError(f"{name}={value!r}: {needed} is needed") from None


def listed(values: Any) -> list[Any] | None:
    """None: it is one value, not several."""
    try:
        return None if isinstance(values, str) else list(values)
    except TypeError:  # also an array without dimensions
        return None


def refuse_twice(name: str, given: list[Any]) -> None:
    """What stands twice is a misprint, and would be two rows of one."""
    twice = next((one for i, one in enumerate(given) if one in given[:i]), None)
    if twice is not None:
        raise ValueError(f"{name}: {twice!r} is given twice")


def scaling(value: Any) -> str:
    """None and lists would be read as words."""
    if not isinstance(value, str):
        raise ValueError(f"scale={value!r}: a scaling such as 'zscore,rms' or 'none' is needed")
    return value


def classifier(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"classifier={value!r}: a name such as '1nn' or 'centroid' is needed")
    return value


def memory_limit(max_memory: int | None, X: Any) -> int:
    """Bytes that a fit may hold; 0: any. Sparse samples become dense: never more than the machine has."""
    if max_memory is not None:
        return min(whole("max_memory", max_memory, 1, math.inf), 2**63 - 1)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if sparse.issparse(X) else 0


def threads(n_jobs: int | None) -> int:
    """By scikit-learn's rule: None is 1 unless a joblib context says otherwise, -1 all processors.

    They are threads of the library, so joblib's limits for processes within processes do not apply.
    """
    if n_jobs is None:
        n_jobs = effective_n_jobs(None)
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r}: a number of threads, -1 for one per processor, or None is needed")
    n_jobs = int(n_jobs)
    return min(n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs), MAX_THREADS)
