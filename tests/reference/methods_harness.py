"""What the tests of the comparison methods share: problems, the program, and measures of agreement.

Problems have fixed seeds and come in the four regimes n >> d, n ~ d, n << d and c > d; iris and
wine are read from the files that ship in data/. Samples are rows here (n x d). A method that
`rlar methods --json` does not list is skipped, with a message. Import it before NumPy: the
matrices are small, and NumPy's threads would only stand in each other's way.
"""
import functools
import json
import os
import subprocess
import unittest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402

import rlar_problems  # noqa: E402
import rlar_program  # noqa: E402
from rlar_reference import scaled  # noqa: E402

DATA = rlar_program.ROOT / "data"
# Each regime: features, class sizes. No class has a single sample: some methods refuse that.
REGIMES = {
    "n >> d": (6, (25, 18, 22)),
    "n ~ d": (24, (9, 8, 7)),
    "n << d": (60, (7, 6, 8)),
    "c > d": (4, (7, 6, 8, 6, 7, 9)),
}
STRETCH, LIMIT = 50, 1e-3  # what ill-conditioned problems may ask for, see MethodTest.check


# ---- Problems -----------------------------------------------------------------------------------


class Problem:
    """A name for messages, the raw samples X with their labels, how the program is to scale them,
    and the same for an oracle: scaled samples Z, class index of each (0..c-1, classes in order)."""

    def __init__(self, name, X, labels, scale):
        self.name, self.X, self.labels, self.scale = f"{name}, {scale}", X, labels, scale
        self.Z = scaled(X, scale)
        self.index = np.unique(labels, return_inverse=True)[1]
        self.n, self.d, self.c = *X.shape, int(self.index.max()) + 1

    def one_hot(self):
        return (self.index[:, None] == np.arange(self.c)).astype(float)


def random_problem(regime, seed, scale="none", features=None):
    """Gaussian classes with features of different magnitude and a few outliers, in random order."""
    d, sizes = REGIMES[regime]
    X, labels = rlar_problems.samples(np.random.default_rng(seed), features or d, sizes)
    return Problem(f"{regime}, seed {seed}", X, labels, scale)


def iris(scale="unit"):
    """data/iris.arff: four numbers and the name of the class in every line below @data."""
    text = (DATA / "iris.arff").read_text()
    lines = text[text.lower().index("@data"):].splitlines()[1:]
    rows = [line.split(",") for line in lines if line.strip() and not line.startswith("%")]
    names = sorted({row[-1] for row in rows})
    X = np.array([[float(cell) for cell in row[:-1]] for row in rows])
    return Problem("iris", X, np.array([1 + names.index(row[-1]) for row in rows]), scale)


def wine(scale="unit"):
    """data/wine.csv: a header, thirteen numbers, the class 1 to 3."""
    table = np.loadtxt(DATA / "wine.csv", delimiter=",", skiprows=1)
    return Problem("wine", table[:, :-1], table[:, -1].astype(int), scale)


def random_problems(per_regime=2):
    """`per_regime` problems of each regime, in turn unscaled and with samples of length 1."""
    return [random_problem(regime, 100 * number + trial, ("none", "unit")[trial % 2])
            for number, regime in enumerate(REGIMES) for trial in range(per_regime)]


def problems(per_regime=2):
    """The random problems, iris and wine."""
    return random_problems(per_regime) + [iris(), wine()]


def split(problem, per_class, seed):
    """Indices of a training part with `per_class` samples of each class, and of the rest."""
    rng = np.random.default_rng(seed)
    train = np.concatenate([rng.permutation(np.flatnonzero(problem.index == k))[:per_class]
                            for k in range(problem.c)])
    return train, np.setdiff1d(np.arange(problem.n), train)


def nearest_neighbour_accuracy(problem, fit, per_class, trials=10):
    """Mean accuracy in percent of 1-NN on W'x over random splits; fit(Z, index) returns W."""
    accuracies = []
    for seed in range(trials):
        train, test = split(problem, per_class, seed)
        W = fit(problem.Z[train], problem.index[train])
        A, B = problem.Z[train] @ W, problem.Z[test] @ W
        squares = ((B[:, None, :] - A[None, :, :]) ** 2).sum(axis=2)
        nearest = problem.index[train][squares.argmin(axis=1)]
        accuracies.append(100 * np.mean(nearest == problem.index[test]))
    return float(np.mean(accuracies))


# ---- The program --------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def listed_methods():
    """The methods of the program under test, by name, as `rlar methods --json` describes them."""
    run = subprocess.run([rlar_program.PROGRAM, "methods", "--json"], capture_output=True,
                         check=True, timeout=rlar_program.TIMEOUT)
    return {method["name"]: method for method in json.loads(run.stdout)["methods"]}


def preset(method, param):
    """What the preset of the paper sets a parameter of a method to."""
    return next(p["preset"] for p in listed_methods()[method]["params"] if p["name"] == param)


def fit(problem, method, **params):
    """Fit with the program: a rlar_program.Fit with W (d x p), b, trace, json."""
    return rlar_program.fit(problem.X, problem.labels, problem.scale, method=method, **params)


class MethodTest(unittest.TestCase):
    """A test of one method, or of several that `need` names."""

    method = None  # skip every test of the class unless the program has this one

    def setUp(self):
        if self.method is not None:
            self.need(self.method)

    def need(self, *names):
        missing = [name for name in names if name not in listed_methods()]
        if missing:
            self.skipTest(f"the program has no method {', '.join(missing)}")

    def check(self, found, oracle, problem, tolerance, measure=None, note=""):
        """The matrix that the program found against oracle(Z). Where they differ by more than the
        tolerance, the oracle says what the problem allows: samples that differ by a rounding or two
        move its answer; the program may be off by STRETCH times that, but by no more than LIMIT."""
        measure = measure or relative
        wanted = oracle(problem.Z)
        self.assertEqual(np.shape(found), np.shape(wanted), f"{problem.name} {note}")
        off, limit = measure(found, wanted), tolerance
        if off > limit:
            noise = np.random.default_rng(1).choice([-1, 1], size=problem.Z.shape) * 2.2e-16
            moved = measure(oracle(problem.Z * (1 + noise)), wanted)
            limit = max(limit, min(STRETCH * moved, LIMIT))
        self.assertLessEqual(off, limit, f"{problem.name} {note}")


# ---- Measures -----------------------------------------------------------------------------------


def relative(a, b):
    """||a - b|| / ||b||; an all-zero b wants an all-zero a."""
    scale = np.linalg.norm(b)
    return np.linalg.norm(np.asarray(a) - b) / (scale if scale > 0 else 1e-300)


def with_signs_of(A, B):
    """A with its columns negated where that brings them closer to the columns of B."""
    return A * np.where((A * B).sum(axis=0) < 0, -1.0, 1.0)


def relative_up_to_signs(A, B):
    """As relative, the signs of the columns being free."""
    return relative(with_signs_of(A, B), B)


def span(A, tolerance=1e-10):
    """An orthonormal basis of the columns of A, those below the tolerance left out."""
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return U[:, s > tolerance * s.max(initial=0.0)]


def largest_angle(A, B, tolerance=1e-10):
    """The largest principal angle between the spans, in radians; pi/2 if their ranks differ. From
    the sine, which is exact where the angle is small."""
    P, Q = span(A, tolerance), span(B, tolerance)
    if P.shape[1] != Q.shape[1]:
        return np.pi / 2
    if P.shape[1] == 0:
        return 0.0
    sine = np.linalg.norm(Q - P @ (P.T @ Q), 2)
    return float(np.arcsin(min(sine, 1.0)))


def lda_subspace(Z, index):
    """The span of Sw^-1 Sb as Sw^-1 (m_k - m); for regular Sw."""
    Z, index = np.asarray(Z), np.asarray(index)
    means = np.array([Z[index == k].mean(axis=0) for k in range(index.max() + 1)])
    within = Z - means[index]
    return np.linalg.solve(within.T @ within, (means - Z.mean(axis=0)).T)


def largest_rise(values):
    """The largest relative step upwards in a sequence; negative when it always falls."""
    return max(((b - a) / abs(a) for a, b in zip(values, values[1:])), default=-1.0)
