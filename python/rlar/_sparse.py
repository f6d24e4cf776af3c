"""Sparse matrices of SciPy: what is damaged is refused, the rest goes to the library as CSR."""
from __future__ import annotations

from typing import Any

import numpy as np


def csr_parts(X: Any) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """(columns, values, their columns, starts of the rows), the arrays without the room behind the last entry."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    stored = X.indptr[-1]
    return (X.shape[1], np.ascontiguousarray(X.data[:stored], dtype=np.float64),
            np.ascontiguousarray(X.indices[:stored], dtype=np.int64),
            np.ascontiguousarray(X.indptr, dtype=np.int64))


def refuse_damaged(X: Any) -> None:
    """SciPy's conversions follow the arrays of a matrix wherever they point, out of the memory too.

    Its own check_format would change the caller's matrix. The columns of CSR are the library's to check,
    and so are those of COO and LIL, which SciPy copies only; the keys of DOK it checks itself.
    """
    if X.ndim != 2:
        raise ValueError(f"X has the shape {X.shape}; a matrix with a row for each sample is needed")
    check = {"csr": _check_compressed, "csc": _check_compressed, "bsr": _check_compressed, "coo": _check_coo,
             "dia": _check_dia, "lil": _check_lil}.get(X.format)
    if check:
        check(X)


def _need(X: Any, right: Any, wrong: str) -> None:
    if not right:
        raise ValueError(f"X: the arrays of the {X.format} matrix do not agree: {wrong}; build the matrix again")


def _need_array(X: Any, name: str, dimensions: int = 1, kind: str = "") -> None:
    array = getattr(X, name)
    right = isinstance(array, np.ndarray) and array.ndim == dimensions and array.dtype.kind in (kind or array.dtype.kind)
    _need(X, right, f"{name} is no array of {dimensions} dimension(s)" + " with whole numbers" * (kind == "i"))


def _need_within(X: Any, name: str, numbers: np.ndarray, limit: int) -> None:
    if len(numbers):
        low, high = numbers.min(), numbers.max()
        _need(X, low >= 0 and high < limit, f"{name} has {low if low < 0 else high}, outside of 0 to {limit - 1}")


def _check_compressed(X: Any) -> None:
    _need_array(X, "indptr", kind="i")
    _need_array(X, "indices", kind="i")
    _need_array(X, "data", 3 if X.format == "bsr" else 1)
    lines, width = _grid(X)
    starts, stored = X.indptr, len(X.indices)
    _need(X, len(starts) == lines + 1, f"indptr has {len(starts)} values instead of {lines + 1}")
    _need(X, starts[0] == 0, f"indptr[0] is {starts[0]} instead of 0")
    for i in np.flatnonzero(starts[1:] < starts[:-1])[:1]:
        _need(X, False, f"indptr[{i}] is {starts[i]}, but indptr[{i + 1}] is {starts[i + 1]}: starts never decrease")
    _need(X, len(X.data) == stored, f"indices has {stored} values, data {len(X.data)}")
    _need(X, starts[-1] <= stored, f"indptr ends with {starts[-1]}, but indices and data have {stored} values")
    if X.format != "csr":
        _need_within(X, "indices", X.indices[:starts[-1]], width)


def _grid(X: Any) -> tuple[int, int]:
    """(how many lines there are to start, how many places each has), both in blocks for BSR."""
    rows, columns = X.shape
    if X.format != "bsr":
        return (columns, rows) if X.format == "csc" else (rows, columns)
    height, width = X.data.shape[1:]
    fits = height > 0 and width > 0 and rows % height == 0 and columns % width == 0
    _need(X, fits, f"blocks of {height} x {width} do not fill {rows} x {columns}")
    return rows // height, columns // width


def _check_coo(X: Any) -> None:
    _need_array(X, "row", kind="i")
    _need_array(X, "col", kind="i")
    _need_array(X, "data")
    lengths = len(X.row), len(X.col), len(X.data)
    _need(X, len(set(lengths)) == 1, "row, col and data have {}, {} and {} values".format(*lengths))
    _need_within(X, "row", X.row, X.shape[0])


def _check_dia(X: Any) -> None:
    _need_array(X, "offsets", kind="i")
    _need_array(X, "data", 2)
    _need(X, len(X.offsets) == len(X.data), f"offsets has {len(X.offsets)} values, data {len(X.data)} rows")


def _check_lil(X: Any) -> None:
    count = X.shape[0]
    for name in ("rows", "data"):
        _need_array(X, name, kind="O")
        lists = getattr(X, name)
        right = len(lists) == count and all(isinstance(one, list) for one in lists)
        _need(X, right, f"{name} does not have a list for each of the {count} samples")
    for i, (columns, values) in enumerate(zip(X.rows, X.data)):
        _need(X, len(columns) == len(values), f"sample {i} has {len(columns)} columns and {len(values)} values")
