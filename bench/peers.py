#!/usr/bin/env python3
"""The peers, in one process that stays: reads a JSON object per line, {"do": ..}, answers one per line.

`wall` and `cpu` (all threads) are seconds of the peer's own call, without imports and reading.
Started by partners.Peers with the kernel and the number of threads in the environment, before NumPy
opens its BLAS.
"""
import json
import os
import sys
import time
import warnings

import numpy as np
import pandas
import scipy
import sklearn
import threadpoolctl
from sklearn.datasets import load_svmlight_file
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "tests", "reference"))
sys.dont_write_bytecode = True
import numpy_rlar  # noqa: E402  (needs the path above)
from read_model import read_model  # noqa: E402

data = {}


def timed(call):
    """The call's result and its seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return result, {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def largest_sine(a, b):
    """Of the angles between the spans of two matrices."""
    qa, qb = np.linalg.qr(a)[0], np.linalg.qr(b)[0]
    return float(np.linalg.norm(qb - qa @ (qa.T @ qb), 2))


def info():
    pools = [{"user_api": pool["user_api"], "num_threads": pool["num_threads"],
              "architecture": pool.get("architecture", ""), "library": pool["filepath"],
              "version": pool.get("version")} for pool in threadpoolctl.threadpool_info()]
    return {"pools": pools,
            "versions": {"Python": sys.version.split()[0], "NumPy": np.__version__,
                         "SciPy": scipy.__version__, "scikit-learn": sklearn.__version__,
                         "pandas": pandas.__version__}}


def load(name, path):
    table = np.load(path)
    data[name] = np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(np.int64)
    return {"n": len(table)}


def drop(name):
    data.pop(name, None)
    return {}


def rlar(name, sparse=False, shuffle=None, **parameters):
    """shuffle: seed of an order of the features. The problem stays the same, roundings and hence the
    choice between equally distant neighbours change."""
    X, y = data[name]
    if shuffle is not None:
        X = np.ascontiguousarray(X[:, np.random.default_rng(shuffle).permutation(X.shape[1])])
    (_, _, objective), spent = timed(lambda: numpy_rlar.fit(X, y, sparse=sparse, **parameters))
    return {**spent, "objective": objective}


def lda(name, test, solver, model=None):
    """model: a file of ours, whose subspace is compared."""
    X, y = data[name]
    Xt, yt = data[test]
    fitted, spent = timed(lambda: LinearDiscriminantAnalysis(solver=solver).fit(X, y))
    spent["accuracy"] = float((fitted.predict(Xt) == yt).mean())
    if model:
        ours = read_model(model)["W"].T
        spent["sine"] = largest_sine(ours, fitted.scalings_[:, :ours.shape[1]])
    return spent


def ridge(name, penalty, solver):
    X, y = data[name]
    fitted, spent = timed(lambda: RidgeClassifier(alpha=penalty, solver=solver).fit(X, y))
    return {**spent, "norm": float(np.linalg.norm(fitted.coef_))}


def nearest(name, references, model):
    """1-NN of projected samples; the projection of the queries is in the measurement, as in ours."""
    tensors = read_model(model)
    W, b = tensors["W"].T, tensors["b"]
    X, y = data[name]
    R, classes = data[references]
    classifier = KNeighborsClassifier(n_neighbors=1, algorithm="brute").fit(R @ W + b, classes)
    predicted, spent = timed(lambda: classifier.predict(X @ W + b))
    return {**spent, "accuracy": float((predicted == y).mean())}


def nca(name, test, iters):
    X, y = data[name]
    Xt, yt = data[test]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged
        fitted, spent = timed(lambda: NeighborhoodComponentsAnalysis(
            max_iter=iters, random_state=1, n_components=min(X.shape[1], len(set(y)))).fit(X, y))
    nearest_one = KNeighborsClassifier(n_neighbors=1).fit(fitted.transform(X), y)
    return {**spent, "accuracy": float((nearest_one.predict(fitted.transform(Xt)) == yt).mean())}


def csv(path):
    table, spent = timed(lambda: pandas.read_csv(path, header=None, engine="c"))
    return {**spent, "n": len(table), "sum": float(table.iloc[:, :-1].to_numpy(dtype=float).sum())}


def libsvm(path):
    (X, _), spent = timed(lambda: load_svmlight_file(path))
    return {**spent, "n": X.shape[0], "sum": float(X.sum())}


COMMANDS = {command.__name__: command
            for command in (info, load, drop, rlar, lda, ridge, nearest, nca, csv, libsvm)}


def main():
    for line in sys.stdin:
        words = json.loads(line)
        try:
            answer = COMMANDS[words.pop("do")](**words)
        except Exception as error:  # whatever it is, the runner shall read it
            answer = {"error": "%s: %s" % (type(error).__name__, error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass  # the runner says so
