"""evaluate(): what the command `rlar evaluate` does, for arrays and as a table of pandas."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _arrays, _core
from ._base import LinearMapEstimator, warn_notes
from ._compat import check_training

_PER_CLASS, _FRACTION, _FOLDS = 0, 1, 2  # rlar_split
_TUNE = {None: 0, "cv": 1, "oracle": 2}  # rlar_tune
_MEASURES = ("accuracy", "balanced_accuracy", "macro_f1")


def evaluate(X: Any, y: Any, methods: str | Iterable[str] | Mapping[str, Mapping[str, Any]] = "rlar", *,
             train_per_class: int | Sequence[int] | None = None,
             train_fraction: float | Sequence[float] | None = None, folds: int | Sequence[int] | None = None,
             trials: int = 10, seed: int = 1, tune: str | None = None,
             grid: Mapping[str, Iterable[Any]] | None = None, tune_folds: int = 5, coarse: bool = False,
             scale: str | None = None, classifier: str | None = None, n_neighbors: int = 5,
             journal: str | os.PathLike[str] | None = None, per_trial: bool = False, n_jobs: int | None = None,
             max_memory: int | None = None, verbose: int = 0) -> Any:
    """Compare methods on the same random splits, with the numbers of the command `rlar evaluate`.

    Parameters
    ----------
    X, y : samples and classes, as for fit
    methods : names as in ESTIMATORS, or {name: {parameter: value}}
    train_per_class, train_fraction, folds : how to split; exactly one of them. Training samples of each
        class, the share of each class, or the folds of a cross-validation: a number or several.
    trials : random splits, or repetitions of the folds
    seed : of the splits
    tune : None, "cv" (parameters are chosen inside each training set) or "oracle" (by the test samples:
        an upper bound)
    grid : what to try, {"alpha": [0.1, 1], "rfs.gamma": [1, 10]}; also "scale" and "classifier".
        Default: each method's own grid.
    tune_folds : folds of tune="cv"
    coarse : every second number of an axis first, then the neighbours of the best; cells that cannot be
        chosen any more are given up. Much faster, but the map of the grid has holes, and the accuracy of
        a cell is that of the trials (folds) that it had.
    scale, classifier, n_neighbors : as for the estimators, the same for all methods; None: their default
    journal : a file that keeps every finished fit; what is in it already is not fitted again
    per_trial : a row for each trial instead of means and standard deviations
    n_jobs, max_memory, verbose : as for the estimators

    Returns
    -------
    results : pandas.DataFrame, a row for each size and method (and trial). With tune,
        results.attrs["grids"] has for each size and method the accuracy of every cell that was tried,
        as rlar.plot.heatmap takes it: {"method", the size, "tune", "axes": [parameter, ...],
        "cells": [{parameter: value, ..., "accuracy": mean over its trials, "trials": in how many
        it was tried to the end; with coarse perhaps not in all}, ...]}.
    """
    import pandas  # before the work: whoever has none should not learn it an hour later

    X, y = check_training(None, X, y)
    _, classes, labels = _arrays.labels(y)
    split, sizes, column = _split(train_per_class, train_fraction, folds)
    tuning = _arrays.choice("tune", tune, _TUNE, "None, 'cv' or 'oracle'")
    axes = _axes({} if grid is None else grid)
    if (axes or coarse) and not tune:
        raise ValueError(f"{'a grid' if axes else 'coarse'} needs tune='cv' (honest) or tune='oracle' (an upper bound)")
    fixed = dict(
        samples=_arrays.samples(X), classes=classes, labels=labels, features=None, methods=_methods(methods),
        split=split, trials=_arrays.whole("trials", trials, 1), seed=_arrays.whole("seed", seed, 0, 2**64 - 1),
        tune=tuning, tune_folds=_arrays.whole("tune_folds", tune_folds, 2), grid=axes,
        scale=None if scale is None else _arrays.scaling(scale),
        classifier=None if classifier is None else _arrays.classifier(classifier),
        neighbours=_arrays.whole("n_neighbors", n_neighbors, 1), coarse=bool(coarse), journal=journal,
        threads=_arrays.threads(n_jobs), max_memory=_arrays.memory_limit(max_memory, X),
        progress=_show_progress if verbose else None)
    rows: list[dict[str, Any]] = []
    grids: list[dict[str, Any]] = []
    for size in sizes:
        results, notes = _core.evaluate(size=size, **fixed)
        warn_notes(notes + [(0, _failure(result)) for result in results if result["failed"]])
        for result in results:
            rows += _trial_rows(result, column, size) if per_trial else [_mean_row(result, column, size)]
            grids += [{**_grid(result, column, size), "tune": tune}] if tune else []
    table = pandas.DataFrame(rows)
    if grids:
        table.attrs["grids"] = grids
    return table


def _split(per_class: Any, fraction: Any, folds: Any) -> tuple[int, list[float], str]:
    """(kind, sizes, name of their column)"""
    ways = [(_PER_CLASS, per_class, "train_per_class"), (_FRACTION, fraction, "train_fraction"), (_FOLDS, folds, "folds")]
    given = [way for way in ways if way[1] is not None]
    if len(given) != 1:
        raise ValueError("how to split? give one of train_per_class, train_fraction and folds")
    kind, size, column = given[0]
    sizes = [_size(column, one) for one in np.atleast_1d(size).tolist()]
    if not sizes:
        raise ValueError(f"{column}={size!r}: a number or several are needed")
    _arrays.refuse_twice(column, sizes)
    return kind, sizes, column


def _size(column: str, value: Any) -> float:
    if column != "train_fraction":
        return _arrays.whole(column, value, 1, 2**53)  # it goes to the library as a float64
    if not isinstance(value, (int, float)) or not 0 < value < 1:
        raise ValueError(f"{column}={value!r}: a number between 0 and 1 is needed")
    return value


def _name(parameter: str) -> str:
    return LinearMapEstimator._names.get(parameter, parameter)


def _methods(methods: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    names = _arrays.listed(methods)
    if names is None:
        names = [methods]
    strange = [name for name in names if not isinstance(name, str)]
    if strange:
        raise ValueError(f"methods: names such as 'rlar' (see rlar.ESTIMATORS) are needed, not {strange[0]!r}; "
                         "parameters go into {name: {parameter: value}}")
    _arrays.refuse_twice("methods", names)
    return tuple((name, _fixed(name, methods[name] if isinstance(methods, Mapping) else {})) for name in names)


def _fixed(method: str, params: Any) -> tuple[str, ...]:
    """Name, value, name, value, ..."""
    if not isinstance(params, Mapping) or not all(isinstance(name, str) for name in params):
        raise ValueError(f"methods: {method}={params!r}: {{parameter: value}} is needed, {{}} for the defaults")
    _arrays.refuse_twice(f"methods: {method}", [_name(name) for name in params])
    return tuple(part for name, value in params.items() for part in (_name(name), _arrays.text(value)))


def _axes(grid: Any) -> tuple[tuple[str | None, str, tuple[str, ...]], ...]:
    if not isinstance(grid, Mapping) or not all(isinstance(key, str) for key in grid):
        raise ValueError(f"grid={grid!r}: {{parameter: values}} is needed, such as {{'alpha': [0.1, 1]}}")
    axes = []
    for key, given in grid.items():
        method, _, name = key.rpartition(".")
        values = _arrays.listed(given)
        if values is None:
            raise ValueError(f"grid: {key}={given!r}: a list of values is needed")
        texts = tuple(map(_arrays.text, values))
        _arrays.refuse_twice(f"grid: {key}", [_arrays.values([text])[0] for text in texts])
        axes.append((method or None, _name(name), texts))
    return tuple(axes)


def _show_progress(done: int, total: int, _: float) -> None:
    print(f"[evaluate] fit {done} of {total}", flush=True)


def _failure(result: dict[str, Any]) -> str:
    return "{method}: {failed} of {trials} fits failed: {failure}".format(**result)


def _mean_row(result: dict[str, Any], column: str, size: float) -> dict[str, Any]:
    """The columns of the command's --csv."""
    row = {"method": result["method"], column: size, "trials": result["trials"], "failed": result["failed"]}
    for measure in _MEASURES:
        row[measure + "_mean"] = result[measure + "_mean"]
        row[measure + "_std"] = result[measure + "_std"]
    return {**row, "fit_seconds": result["fit_seconds"], "predict_seconds": result["predict_seconds"]}


def _trial_rows(result: dict[str, Any], column: str, size: float) -> list[dict[str, Any]]:
    """With what was chosen for each trial (by the oracle: for all)."""
    chosen = result["selected"]
    rows = []
    for trial in range(result["trials"]):
        row = {"method": result["method"], column: size, "trial": trial}
        row.update((measure, result[measure][trial]) for measure in _MEASURES)
        if chosen:
            row["chosen"] = _cell(chosen[trial if len(chosen) > 1 else 0])
        rows.append(row)
    return rows


def _grid(result: dict[str, Any], column: str, size: float) -> dict[str, Any]:
    """Lists and numbers only: pandas copies attrs, compares them, and writes them as JSON."""
    cells = [{**_cell(values), "accuracy": accuracy, "trials": trials} for values, accuracy, trials in result["cells"]]
    axes = [name for name in cells[0] if name not in ("accuracy", "trials")]
    return {"method": result["method"], column: size, "axes": axes, "cells": cells}


def _cell(values: dict[str, str]) -> dict[str, Any]:
    """With the names of the estimators' parameters."""
    names = {theirs: ours for ours, theirs in LinearMapEstimator._names.items()}
    return {names.get(name, name): _arrays.values([value])[0] for name, value in values.items()}
