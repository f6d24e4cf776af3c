"""What all estimators of rlar have in common: everything but their parameters (_estimators.py)."""
from __future__ import annotations

import os
import warnings
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _arrays, _core
from ._compat import check_samples, check_training

NOT_CONVERGED = 1  # rlar_status RLAR_W_NOT_CONVERGED
NEAR_ZERO = 1e-6  # rows of W shorter than this share of the longest are not used

# The objective and its terms after an iteration: trace_row in ext/ext.h.
TRACE = np.dtype([(name, np.float64) for name in (
    "objective", "smoothed", "regression", "sparsity", "locality", "eps", "seconds")])


class LinearMapEstimator(ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, BaseEstimator):
    """A linear map that keeps classes apart, and the classifier on its outputs.

    The model is an object of the C library; all that is asked of it passes through here.
    """

    _method: ClassVar[str]  # its name in the library
    _names: ClassVar[dict[str, str]] = {"lam": "lambda"}  # parameters that Python cannot call so
    _method_params: ClassVar[tuple[str, ...]]  # those of the method alone

    # The parameters that every estimator has.
    scale: str
    classifier: str
    n_neighbors: int
    n_jobs: int | None
    max_memory: int | None
    verbose: int

    # What fit learns; the rest are properties.
    classes_: np.ndarray
    n_iter_: int
    objective_: float
    trace_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray

    # ---- Learning ----

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the map from samples and their classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            float64 and float32 arrays with contiguous rows are used as they are, without a copy.
        y : array-like of shape (n_samples,)
            The classes: numbers or strings.

        Returns
        -------
        self : the estimator
        """
        before = self.__dict__.copy()
        try:
            notes = self._fit(X, y)
        except BaseException:  # the checks of X have set the number of its features already
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        warn_notes(notes)
        return self

    def _fit(self, X: Any, y: Any) -> list[tuple[int, str]]:
        """What the library remarked. An exception may leave parts of the new X behind."""
        X, y = check_training(self, X, y)
        classes, texts, labels = _arrays.labels(y)
        self._neighbours()
        model, _, iterations, objective, trace, order, notes = self._learn(X, texts, labels)
        self._adopt(model, classes, np.frombuffer(order, dtype=np.int64))
        self.n_iter_ = iterations
        self.objective_ = objective
        self.trace_ = np.frombuffer(trace, dtype=TRACE)
        return notes

    def _learn(self, X: Any, classes: list[str], labels: np.ndarray) -> tuple[Any, ...]:
        names = getattr(self, "feature_names_in_", None)
        try:
            return _core.fit(
                samples=_arrays.samples(X), classes=classes, labels=labels, method=self._method,
                params=self._param_texts(), scale=_arrays.scaling(self.scale),
                classifier=_arrays.classifier(self.classifier), features=None if names is None else list(names),
                threads=self._threads(), max_memory=_arrays.memory_limit(self.max_memory, X),
                progress=self._show_progress if self.verbose else None)
        except ValueError as error:
            if X.shape[1] > 1:
                raise
            # Brought to length 1, positive samples of one feature are all 1.
            raise ValueError(f"{error} (X has 1 feature(s); scale={self.scale!r})") from None

    def _param_texts(self) -> list[str]:
        """Name, value, name, value, ... of the method's parameters."""
        pairs = ((self._names.get(p, p), _arrays.text(getattr(self, p))) for p in self._method_params)
        return [part for pair in pairs for part in pair]

    def _threads(self) -> int:
        return _arrays.threads(self.n_jobs)

    def _neighbours(self) -> int:
        return _arrays.whole("n_neighbors", self.n_neighbors, 1)

    def _show_progress(self, done: int, total: int, objective: float) -> None:
        print(f"[{type(self).__name__}] iteration {done} of {total}: objective {objective:.8g}", flush=True)

    def _adopt(self, model: _core.Model, classes: np.ndarray, order: np.ndarray) -> None:
        """order: the number that the library has given to each of the classes."""
        numbers = np.empty_like(order)
        numbers[order] = np.arange(len(order))
        if len(set(order)) != len(order):
            raise ValueError(f"y: some of the classes {list(classes)} are the same number; rename them")
        self._model = model
        self._order = order
        self._numbers = numbers
        self.classes_ = classes

    # ---- Using the map ----

    def transform(self, X: Any) -> Any:
        """The outputs of the map, W'x + b of the scaled samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        Z : ndarray of shape (n_samples, n_outputs), float32 where X is
        """
        narrow = _arrays.is_float32_frame(X)
        X = self._check_samples(X)
        out = np.empty((X.shape[0], self._n_features_out))
        self._model.transform(_arrays.samples(X), out, self._threads())
        return out.astype(np.float32 if narrow else X.dtype, copy=False)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each sample.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        numbers, _ = self._classify(X, scored=False)
        return self.classes_[self._numbers[numbers]]

    def decision_function(self, X: Any) -> np.ndarray:
        """How likely each class is: the larger, the more.

        For the classifier "1nn" that is minus the squared distance to the nearest sample of the class,
        for "knn" its share of the votes, for "centroid" minus the squared distance to its mean, for
        "argmax" the output itself. Where classes tie, the predicted one is ahead by the last digit.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes); with two classes of shape (n_samples,), the
            score of the second minus that of the first
        """
        numbers, scores = self._classify(X, scored=True)
        scores = scores[:, self._order]
        _settle_ties(scores, self._numbers[numbers])
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _check_samples(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_samples(self, X)

    def _classify(self, X: Any, scored: bool) -> tuple[np.ndarray, Any]:
        X = self._check_samples(X)
        numbers = np.empty(X.shape[0], dtype=np.int64)
        scores = np.empty((X.shape[0], len(self.classes_))) if scored else None
        self._model.predict(_arrays.samples(X), numbers, scores, _arrays.classifier(self.classifier),
                            self._neighbours(), self._threads())
        return numbers, scores

    # ---- What was learned ----

    @property
    def components_(self) -> np.ndarray:
        """The map W, of shape (n_outputs, n_features), for scaled samples."""
        return np.frombuffer(self._fitted().map).reshape(-1, self.n_features_in_)

    @property
    def intercept_(self) -> np.ndarray:
        """The offset b, of shape (n_outputs,)."""
        return np.frombuffer(self._fitted().offset)

    @property
    def feature_scores_(self) -> np.ndarray:
        """How much the map uses each feature: the length of its row of W."""
        return np.frombuffer(self._fitted().scores)

    @property
    def feature_importances_(self) -> np.ndarray:
        """feature_scores_ under the name that SelectFromModel looks for."""
        return self.feature_scores_

    @property
    def _n_features_out(self) -> int:
        return self._fitted().shape[1]

    def _fitted(self) -> _core.Model:
        check_is_fitted(self)
        return self._model

    def get_support(self, indices: bool = False, *, n_features: int | None = None,
                    threshold: float | None = None) -> np.ndarray:
        """The features that the map uses, by feature_scores_.

        Parameters
        ----------
        indices : bool, default=False
            Column numbers instead of a mask.
        n_features : int, optional
            So many with the largest scores; of equal ones the first.
        threshold : float, optional
            Those with a score above it. Default: 1e-6 of the largest.

        Returns
        -------
        support : bool mask of shape (n_features_in_,), or increasing column numbers
        """
        scores = self.feature_scores_
        if n_features is not None:
            if threshold is not None:
                raise ValueError("get_support: give n_features or threshold, not both")
            mask = np.zeros(len(scores), dtype=bool)
            count = _arrays.whole("n_features", n_features, 0)
            mask[np.argsort(-scores, kind="stable")[:count]] = True
        else:
            if threshold is not None and not isinstance(threshold, Real):
                raise ValueError(f"threshold={threshold!r}: a number is needed, the least score of a feature")
            mask = scores > (NEAR_ZERO * scores.max() if threshold is None else threshold)
        return np.flatnonzero(mask) if indices else mask

    # ---- Model files ----

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, the same as that of the command `rlar fit -o`: whole or not at all."""
        self._fitted().save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The estimator of a model file, made by save() or by the command; see rlar.load."""
        return cls._of_model(load_model(path))

    @classmethod
    def _of_model(cls, model: _core.Model) -> Self:
        if model.method != cls._method:
            raise ValueError(f"the file holds a model of {model.method}, not of {cls._method}; "
                             "rlar.load finds the estimator itself")
        estimator = cls(scale=model.scale)
        for name in cls._method_params:
            default = getattr(estimator, name)
            text = model.params.get(cls._names.get(name, name), default)
            setattr(estimator, name, type(default)(text))
        estimator.n_features_in_ = model.shape[0]
        if model.features is not None:
            estimator.feature_names_in_ = np.array(model.features, dtype=object)
        estimator._adopt(model, *_arrays.sorted_classes(model.classes))
        return estimator

    # ---- Tags ----

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"preserves_dtype": [np.float64, np.float32], "X_types": ["2darray", "sparse"]}


def load_model(path: str | os.PathLike[str]) -> _core.Model:
    os.stat(os.fspath(path))  # Python's own exception for a file that is not there
    return _core.load(path)


def _settle_ties(scores: np.ndarray, predicted: np.ndarray) -> None:
    """Raise the score of the predicted class above one that it ties with."""
    best = scores.argmax(axis=1)
    tied = np.flatnonzero(best != predicted)
    scores[tied, predicted[tied]] = np.nextafter(scores[tied, best[tied]], np.inf)


def warn_notes(notes: list[tuple[int, str]]) -> None:
    """What the library remarked, as warnings at the line that called fit or evaluate."""
    for status, text in notes:
        kind = ConvergenceWarning if status == NOT_CONVERGED else UserWarning
        warnings.warn(text, kind, stacklevel=3)
