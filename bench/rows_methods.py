"""The other methods: LDA, ridge, 1-NN, NCA and LIBLINEAR against their peers, all against limits."""
import os
import resource
import subprocess
import time

import numpy as np

import limits
import samples
from compare import against_limit, alternate, faster, limit_contestant
from partners import peer_environment
from stats import holds, median


def lda(bench):
    """Against every solver of scikit-learn; the demand is on the fastest."""
    shapes = [(2414, 1024, 38, 5), (60000, 784, 10, 3), (400, 20000, 40, 3)]
    if bench.quick:
        shapes = [(2414, 1024, 38, 2), (6000, 784, 10, 1), (400, 4000, 40, 1)]
    rows = []
    for n, d, c, repeats in shapes:
        # The classes overlap, so that the accuracy says something; few samples need more distance.
        x, y = samples.synthetic(n + 20 * c, d, c, apart=(5.0 if n >= d else 20.0) / d ** 0.5)
        bench.load("lda", x[:n], y[:n])
        bench.load("lda-test", x[n:], y[n:])
        rows += lda_shape(bench, n, d, c, repeats)
        bench.drop("lda", "lda-test")
    return rows


def lda_solvers(bench, n, d, model):
    """The d x d solvers are for n >= d: at d = 20000 they need 3.2 GB a matrix and d^3 steps. Where
    n < d the subspaces differ by intent: scikit-learn drops the directions without scatter within
    the classes, which are the best ones."""
    compare = {"model": model} if n >= d else {}
    return [("scikit-learn " + solver, lambda solver=solver: bench.peers(
        "lda", name="lda", test="lda-test", solver=solver, **(compare if solver != "lsqr" else {})))
        for solver in (("svd", "eigen", "lsqr") if n >= d else ("svd",))]


def lda_shape(bench, n, d, c, repeats):
    model = bench.store.path("lda.rlar")

    def fit():
        return bench.driver("fit", data="lda", method="lda", threads=bench.threads)

    # With outputs whitened by the scatter within classes the nearest centroid is scikit-learn's rule.
    bench.driver("fit", data="lda", method="lda", set="length:sw" if n >= d else "length:unit")
    bench.driver("save", path=model)
    accuracy = bench.driver("predict", data="lda-test", classifier="centroid")["accuracy"]
    ours, *others, limit = alternate(repeats, [
        ("rlar", fit), *lda_solvers(bench, n, d, model),
        limit_contestant(bench.driver, limits.fisher(n, d, c))], warm=False)
    what = "LDA, %d x %d, %d classes" % (n, d, c)
    to_limit = against_limit("lda", what, ours, limit, note="limit: " + (
        "DSYRK, DPOTRF, solves of c columns" if n >= d else "DSYRK and all eigenvectors, n x n"))
    fastest = min(others, key=lambda other: median(other.wall))
    close = holds(("at most", 1.3), to_limit.measured)
    rows = []
    for other in others:
        sine, best = other.last.get("sine"), other is fastest
        note = ["accuracy %.4f and %.4f" % (accuracy, other.last["accuracy"]),
                "sine of the largest angle %.0e" % sine if sine is not None else
                "other subspace (see lda_solvers), eigen and lsqr left out: d x d" if n < d else "",
                "the fastest: at least 3x, or at most 1.3x the limit" if best else ""]
        rows.append(faster("lda", what, ours, other, 3 if best else None,
                           "; ".join(filter(None, note)), also=[close] if best else ()))
    return rows + [to_limit]


def ridge(bench):
    """RidgeClassifier, whose targets are -1/1: the same system, the same work, W twice as large."""
    n, d, c = 2414, 1024, 38
    bench.load_synthetic("ridge", n, d, c)
    ours, theirs, limit = alternate(bench.repeats(5), [
        ("rlar rr", lambda: bench.driver("fit", data="ridge", method="rr", set="lambda:1",
                                         threads=bench.threads)),
        ("RidgeClassifier, cholesky", lambda: bench.peers("ridge", name="ridge", penalty=1.0,
                                                          solver="cholesky")),
        limit_contestant(bench.driver, limits.ridge(n, d, c)),
    ])
    bench.drop("ridge")
    what = "ridge regression, %d x %d, %d classes" % (n, d, c)
    return [faster("ridge", what, ours, theirs), against_limit("ridge", what, ours, limit)]


def nearest(bench):
    """1-NN prediction of projected samples, the projection included on both sides."""
    shapes = [(20000, 10000, 64, 38), (1207, 1207, 1024, 38)]
    if bench.quick:
        shapes = [(5000, 2500, 64, 38), (1207, 1207, 1024, 38)]
    rows = []
    for references, queries, d, c in shapes:
        x, y = samples.synthetic(references + queries, d, c)
        bench.load("references", x[:references], y[:references])
        bench.load("queries", x[references:], y[references:])
        model = bench.store.path("nearest.rlar")
        bench.driver("fit", data="references", method="rr", threads=bench.threads)
        bench.driver("save", path=model)
        ours, theirs = alternate(bench.repeats(5), [
            ("rlar", lambda: bench.driver("predict", data="queries", threads=bench.threads)),
            ("KNeighborsClassifier, brute", lambda: bench.peers(
                "nearest", name="queries", references="references", model=model)),
        ])
        bench.drop("references", "queries")
        same = ours.last["accuracy"] == theirs.last["accuracy"]
        row = faster("1nn", "1-NN, %d queries, %d references, d = %d, p = %d" % (
            queries, references, d, c), ours, theirs, 1.5, "accuracy %.4f and %.4f%s" % (
                ours.last["accuracy"], theirs.last["accuracy"], "" if same else ", DIFFERENT"))
        row.mark = row.mark if abs(ours.last["accuracy"] - theirs.last["accuracy"]) < 1e-3 else "miss"
        rows.append(row)
    return rows


def halves(x, y):
    """Every second sample of each class for training, the others for testing."""
    train = np.zeros(len(y), dtype=bool)
    for name in np.unique(y):
        train[np.flatnonzero(y == name)[::2]] = True
    return x[train], y[train], x[~train], y[~train]


def nca(bench):
    """For orientation: time and accuracy, no claim."""
    x, y = samples.synthetic(800 if bench.quick else 1600, 64, 10, apart=0.5)
    x, y, xt, yt = halves(samples.unit_length(x), y)
    bench.load("train", x, y)
    bench.load("test", xt, yt)
    rows = []
    theirs, = alternate(1, [("NCA, 20 iterations", lambda: bench.peers(
        "nca", name="train", test="test", iters=20))], warm=False)
    for method in ("rlar", "lfda"):
        ours, = alternate(1, [(method, lambda: bench.driver(
            "fit", data="train", method=method, threads=bench.threads))])
        accuracy = bench.driver("predict", data="test", threads=bench.threads)["accuracy"]
        rows.append(faster("nca", "%s and NCA, %d x 64, 10 classes" % (method, len(y)), ours, theirs,
                           note="1-NN accuracy %.4f and %.4f; different objectives: no claim" % (
                               accuracy, theirs.last["accuracy"])))
    bench.drop("train", "test")
    return rows


def run_timed(bench, command):
    """A program as a peer: the seconds of its whole life."""
    environment = {**os.environ, **peer_environment(bench.ours["kernel"], bench.threads)}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"wall": time.perf_counter() - start, "output": done.stdout,
            "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def liblinear(bench):
    """A linear SVM on the same files: read and train; accuracy beside it, no claim."""
    x, y, note = samples.real("binalpha" if bench.quick else "yaleb")
    x, y, xt, yt = halves(x, y)
    train, test = bench.store.libsvm("svm", x, y), bench.store.libsvm("svm-test", xt, yt)
    model, out = bench.store.path("svm.model"), bench.store.path("svm.out")
    theirs, = alternate(1, [("LIBLINEAR -s 2", lambda: run_timed(
        bench, ["liblinear-train", "-s", "2", "-q", train, model]))], warm=False)
    predicted = run_timed(bench, ["liblinear-predict", test, model, out])
    accuracy = float(predicted["output"].split("=")[1].split("%")[0]) / 100
    bench.load("svm-test", xt, yt, peers=False)
    rows = []
    for method in ("rlar", "rr"):
        def read_and_fit(method=method):
            reading = bench.driver("load", name="svm", path=train, format="libsvm")
            fitted = bench.driver("fit", data="svm", method=method, threads=1)
            bench.driver("drop", name="svm")
            return {key: reading[key] + fitted[key] for key in ("wall", "cpu")}
        ours, = alternate(1, [(method, read_and_fit)])
        right = bench.driver("predict", data="svm-test", threads=1)["accuracy"]
        rows.append(faster("liblinear", "%s and LIBLINEAR, read and train %d x %d" % (
            method, *x.shape), ours, theirs, note="; ".join(filter(None, [
                "accuracy %.4f and %.4f; different objectives: no claim" % (right, accuracy), note]))))
    bench.drop("svm-test")
    for path in (train, test):
        os.unlink(path)
    return rows


def methods(bench):
    """Every method at its defaults against its own limit; above 2x is flagged."""
    n, d, c = (720, 512, 20) if bench.quick else (1440, 1024, 20)
    x, y = samples.synthetic(n, d, c)
    bench.load("methods", samples.unit_length(x), y, peers=False)
    rows = []
    for method in limits.WHAT:
        def fit(method=method):
            return bench.driver("fit", data="methods", method=method, threads=1)
        first = fit()
        terms = limits.of_method(method, n, d, c, first["iterations"])
        ours, limit = alternate(1 if first["wall"] > 5 else bench.repeats(3), [
            (method, fit), limit_contestant(bench.driver, terms)], warm=False)
        row = against_limit("methods", "%s, %d x %d, %d classes, %d iterations" % (
            method, n, d, c, first["iterations"]), ours, limit, note=limits.WHAT[method])
        row.note += "; MORE THAN 2x" if row.measured > 2 else ""
        rows.append(row)
    bench.drop("methods")
    return rows
