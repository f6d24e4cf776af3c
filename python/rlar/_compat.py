"""What differs between scikit-learn 1.2 (Debian 12) and the newest."""
from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_X_y

from ._sparse import refuse_damaged

try:
    from sklearn.utils.validation import validate_data

    FINITE = "ensure_all_finite"
except ImportError:  # before 1.6 it was a method of the estimator, and the option had another name
    FINITE = "force_all_finite"

    def validate_data(estimator: Any, *args: Any, **options: Any) -> Any:
        return estimator._validate_data(*args, **options)


# The library reads all values anyway, and counts what is missing: once is enough.
OPTIONS: dict[str, Any] = {"dtype": ["float64", "float32"], "accept_sparse": "csr", FINITE: False}


def _refuse_masked(name: str, values: Any) -> None:
    """What is masked is missing; the checks of scikit-learn would use the value behind the mask."""
    count = np.ma.count_masked(values) if np.ma.isMaskedArray(values) else 0
    if count:
        raise ValueError(f"{name} has {count} masked values; fill them in ({name}.filled) or drop the samples")


def _check_before_others(X: Any) -> None:
    """What neither scikit-learn nor SciPy looks at."""
    _refuse_masked("X", X)
    if sparse.issparse(X):
        refuse_damaged(X)


def check_samples(estimator: Any, X: Any) -> Any:
    """X as an array or CSR matrix of float64 or float32, with the features that fit has seen."""
    _check_before_others(X)
    return validate_data(estimator, X, reset=False, **OPTIONS)


def check_training(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """The same for the first time, with one class per sample; estimator None: nobody remembers it."""
    _check_before_others(X)
    _refuse_masked("y", y)
    return check_X_y(X, y, **OPTIONS) if estimator is None else validate_data(estimator, X, y, **OPTIONS)
