"""Robust Locality-Aware Regression and the discriminant methods it is compared with.

Every estimator learns a small linear map that keeps labelled, high-dimensional samples apart. It is a
classifier and a transformer of scikit-learn, and runs in the C library:

>>> from rlar import RLAR
>>> RLAR().fit(X, y).score(X_new, y_new)   # doctest: +SKIP
"""
from __future__ import annotations

import os

from . import _core, datasets, plot
from ._base import LinearMapEstimator, load_model
from ._estimators import (
    ALDE, ALPR, ESTIMATORS, L21SDA, LDA, LFDA, LSDA, LSR, MMC, MPDA, NMMP, RFS, RLAR, RR, RSLDA, SDA, SULDA, ReLSR,
)
from ._evaluate import evaluate

__version__ = _core.version()

__all__ = [
    "ALDE", "ALPR", "ESTIMATORS", "L21SDA", "LDA", "LFDA", "LSDA", "LSR", "MMC", "MPDA", "NMMP", "RFS", "RLAR", "RR",
    "RSLDA", "ReLSR", "SDA", "SULDA", "LinearMapEstimator", "blas", "datasets", "evaluate", "load", "plot",
]


def load(path: str | os.PathLike[str]) -> LinearMapEstimator:
    """The fitted estimator of a model file, whether Python, C or the command `rlar fit -o` wrote it.

    Class, parameters, scaling and names come from the file. It knows the classes as texts: where all
    are numbers they become numbers. What a file does not hold is at its default (classifier, n_jobs, ...)
    or absent (objective_, n_iter_, trace_).
    """
    model = load_model(path)
    if model.method not in ESTIMATORS:
        raise ValueError(f"{path}: a model of {model.method}, which this version of rlar does not have")
    return ESTIMATORS[model.method]._of_model(model)


def blas() -> dict[str, str]:
    """Which BLAS the library has opened, and with which kernel; as `rlar doctor` tells."""
    return _core.blas()
