"""RLAR: the program against the NumPy oracle, and the properties that need no oracle.

Differences are measured so that they mean something at any conditioning: values of the trace
relative to the objective of that iteration, W relative to its Frobenius norm. Weights reach
1/eps, which multiplies rounding: condition numbers reach 1e12 at eps = 1e-8, and two correct
programs differ more in W than in the objective. The limits are four to twelve times what was seen over
all problems with three kernels of OpenBLAS (SkylakeX, Haswell, Prescott), at the most

    eps      trace      W and b
    1e-8     1.5e-8     8.4e-8
    1e-4     1.7e-10    3.4e-9
    1e-2     2.5e-11    1.9e-11

A bound from the condition numbers alone is not to be had: W itself goes to 0 where alpha is large.
"""
import os
import unittest
from pathlib import Path

import numpy as np

import rlar_problems as problems
import rlar_program as program
import rlar_reference as reference

PROBLEMS = 240
TRACE_TOLERANCE = {1e-8: 1.5e-7, 1e-4: 1.7e-9, 1e-2: 1e-10}
W_TOLERANCE = {1e-8: 1e-6, 1e-4: 4e-8, 1e-2: 2e-10}
WELL = {"eps": 1e-3, "alpha": 0.1, "beta": 0.5, "k": 3, "iters": 6}  # a well-conditioned fit


def relative(a, b):
    """||a - b|| / ||b||; an all-zero b wants an all-zero a."""
    scale = np.linalg.norm(b)
    return np.linalg.norm(np.asarray(a) - b) / (scale if scale > 0 else 1e-300)


def largest_rise(values):
    """The largest relative step upwards in a sequence; negative when it always falls."""
    return max(((b - a) / abs(a) for a, b in zip(values, values[1:])), default=-1.0)


def columns(fitted):
    """The oracle's trace by column."""
    return {name: np.array([row[name] for row in fitted["trace"]]) for name in program.COLUMNS}


def distances(trace, W, b, wanted):
    """The largest relative differences from the oracle: of the trace, of W and b."""
    right = columns(wanted)
    off = max(np.abs((trace[name] - right[name]) / right["objective"]).max() for name in right)
    return off, max(relative(W, wanted["W"]), relative(b, wanted["b"]))


def sample_problem(seed, d=9, sizes=(12, 10, 11)):
    return problems.samples(np.random.default_rng(seed), d, sizes)


class Oracle(unittest.TestCase):
    """The reference itself, checked by what it does not use."""

    def test_phi_equals_enumeration(self):
        rng = np.random.default_rng(1)
        for c in range(2, 9):
            for trial in range(25):
                y = rng.normal(size=c) * rng.choice([0.1, 1.0, 10.0])
                if trial % 3 == 0:
                    y = np.round(2 * y) / 2  # ties, and margins that hold with equality
                l = int(rng.integers(c))
                literal = reference.retarget_row(y, l)
                listed = reference.retarget_row_enumerated(y, l)
                self.assertLess(np.abs(literal - listed).max(), 1e-11, (y, l))

    def test_smoothed_objective_never_rises(self):
        for solver in ("paper", "anneal"):
            X, labels = sample_problem(2)
            rows = reference.fit(X, labels, 0.1, 0.1, iters=12, solver=solver)["trace"]
            self.assertLess(largest_rise([row["smoothed"] for row in rows]), 1e-10)

    def test_annealing_ends_where_it_should(self):
        self.assertAlmostEqual(reference.schedule("anneal", 1e-8, 30)[-1][0], 1e-4, delta=1e-15)
        self.assertEqual(reference.schedule("anneal", 1e-2, 5)[0][1], 1e-3)


class AgainstOracle(unittest.TestCase):
    """Every iteration of many small problems."""

    def check_fit(self, name, found, X, labels, params):
        """Compare with the oracle."""
        wanted = reference.fit(X, labels, **params)
        self.assertEqual(found.iterations, list(range(1, params["iters"] + 1)), name)
        self.assertEqual(found.W.shape, wanted["W"].shape, name)
        trace, map_ = distances(found.trace, found.W, found.b, wanted)
        self.assertLessEqual(trace, TRACE_TOLERANCE[params["eps"]], f"trace: {name}")
        self.assertLessEqual(map_, W_TOLERANCE[params["eps"]], f"W, b: {name}")

    def check_json(self, name, found):
        answer, last = found.json, {key: found.trace[key][-1] for key in program.COLUMNS}
        self.assertEqual(answer["iterations"], len(found.iterations), name)
        self.assertAlmostEqual(answer["objective"] / last["objective"], 1.0, delta=1e-12, msg=name)
        for term in ("regression", "sparsity", "locality"):
            self.assertAlmostEqual(answer["terms"][term], last[term], msg=name,
                                   delta=1e-12 * last["objective"])

    def test_random_problems(self):
        paths = set()
        for number in range(PROBLEMS):
            name, X, labels, scale, params = problems.problem(number)
            found = program.fit(X, labels, scale, **params)
            self.check_fit(name, found, reference.scaled(X, scale), labels, params)
            self.check_json(name, found)
            paths.add(found.json["path"])
        self.assertEqual(paths, {"primal", "dual"}, "both forms of the solve were meant to be seen")

    def test_chain_of_scalings(self):
        X, labels = sample_problem(3)
        params = {"alpha": 0.1, "beta": 0.1, "eps": 1e-4, "iters": 4}
        found = program.fit(X, labels, "minmax,unit", **params)
        scaled = reference.scaled(X, "minmax,unit")
        self.check_fit("minmax,unit", found, scaled, labels, params)

    def test_rule_for_k(self):
        """Eleven samples in the smallest class: 7 neighbours; ten: 3. The other k differs."""
        for smallest, K in ((11, 7), (10, 3)):
            X, labels = sample_problem(4, sizes=(15, smallest, 13))
            automatic = program.fit(X, labels, **{**WELL, "k": 0})
            stated = program.fit(X, labels, **{**WELL, "k": K})
            self.assertEqual(automatic.W.tolist(), stated.W.tolist())
            other = program.fit(X, labels, **{**WELL, "k": 10 - K})
            self.assertGreater(relative(other.W, automatic.W), 1e-4)

    def test_wine(self):
        """Known objective: unit length, alpha = beta = 0.1, k = 7, ten iterations, all samples."""
        path = Path(os.environ.get("RLAR_DATA_DIR", "")) / "wine.csv.gz"
        if not path.is_file():
            self.skipTest("no wine.csv.gz in RLAR_DATA_DIR")
        table = np.loadtxt(path, delimiter=",")
        found = program.fit(table[:, :-1], table[:, -1].astype(int), "unit", alpha=0.1, beta=0.1,
                            k=7, iters=10)
        self.assertAlmostEqual(found.json["objective"] / 98.279616, 1.0, delta=1e-6)


class Properties(unittest.TestCase):
    """What holds for every correct fit."""

    def test_smoothed_objective_never_rises(self):
        for number in range(1000, 1040):
            name, X, labels, scale, params = problems.problem(number)
            params["iters"] = 20
            smoothed = program.fit(X, labels, scale, **params).trace["smoothed"]
            self.assertLess(largest_rise(smoothed), 1e-10, name)

    def test_smoothed_bounds_plain(self):
        """The kernel of `paper` lies below the norm, that of `anneal` above it."""
        X, labels = sample_problem(5)
        for solver, sign in (("paper", -1), ("anneal", 1)):
            trace = program.fit(X, labels, solver=solver, eps=1e-3, iters=8).trace
            self.assertTrue(np.all(sign * (trace["smoothed"] - trace["objective"]) > 0), solver)

    def test_primal_equals_dual_around_n_equal_d(self):
        """The oracle is always primal; the program changes sides somewhere in this range."""
        paths = set()
        for d in (18, 20, 22, 23, 24, 26, 30, 36):
            X, labels = sample_problem(d, d=d, sizes=(8, 7, 7))
            found = program.fit(X, labels, **WELL)
            wanted = reference.fit(X, labels, **WELL)
            self.assertLess(relative(found.W, wanted["W"]), 1e-7, (d, found.json["path"]))
            self.assertLess(relative(found.b, wanted["b"]), 1e-7, (d, found.json["path"]))
            paths.add(found.json["path"])
        self.assertEqual(paths, {"primal", "dual"})

    def test_zero_features_force_the_dual(self):
        X, labels = sample_problem(6)
        n, d = X.shape
        for solver in ("paper", "anneal"):
            narrow = program.fit(X, labels, solver=solver, **WELL)
            wide = program.fit(np.hstack([X, np.zeros((n, 3 * n))]), labels, solver=solver, **WELL)
            self.assertEqual((narrow.json["path"], wide.json["path"]), ("primal", "dual"))
            self.assertLess(relative(wide.W[:d], narrow.W), 1e-8, solver)
            self.assertFalse(wide.W[d:].any(), "a feature that is always zero has no weight")
            self.assertLess(relative(wide.b, narrow.b), 1e-8, solver)
            self.assertLess(relative(wide.trace["objective"], narrow.trace["objective"]), 1e-9)

    def test_outputs_sum_to_one(self):
        """Every row of T sums to one, hence W 1 = 0 and 1'b = 1, but for the error of the last
        solve: eps times its condition number (1 to 2.5e11 here; 4.3 times that was seen, where it
        is 1), and never more than 1e-5 (seen: 2.2e-6)."""
        for number in range(2000, 2030):
            name, X, labels, scale, params = problems.problem(number)
            found = program.fit(X, labels, scale, **params)
            kappa = reference.fit(reference.scaled(X, scale), labels, **params)["condition"]
            tolerance = min(16 * np.finfo(float).eps * kappa, 1e-5)
            rows = np.abs(found.W.sum(axis=1)).max() / max(np.abs(found.W).max(), 1e-300)
            self.assertLess(rows, tolerance, name)
            self.assertLess(abs(found.b.sum() - 1), tolerance * (1 + np.abs(found.b).max()), name)

    def test_translation(self):
        for d in (9, 60):
            X, labels = sample_problem(7, d=d)
            shift = np.random.default_rng(8).normal(size=d)
            still, moved = program.fit(X, labels, **WELL), program.fit(X + shift, labels, **WELL)
            self.assertLess(relative(moved.W, still.W), 1e-7, d)
            self.assertLess(relative(moved.b, still.b - still.W.T @ shift), 1e-7, d)

    def test_order_of_samples(self):
        for d in (9, 60):
            X, labels = sample_problem(9, d=d)
            order = np.random.default_rng(10).permutation(len(labels))
            first = program.fit(X, labels, **WELL)
            again = program.fit(X[order], labels[order], **WELL)
            self.assertLess(relative(again.W, first.W), 1e-8, d)
            self.assertLess(relative(again.b, first.b), 1e-8, d)

    def test_order_of_features(self):
        for d in (9, 60):
            X, labels = sample_problem(11, d=d)
            order = np.random.default_rng(12).permutation(d)
            first, again = program.fit(X, labels, **WELL), program.fit(X[:, order], labels, **WELL)
            self.assertLess(relative(again.W, first.W[order]), 1e-8, d)

    def test_names_of_classes(self):
        """New names permute the columns of W: classes stand in numeric, not in text order."""
        X, labels = sample_problem(13)
        old = np.unique(labels)
        new = np.array([10, 9, -100])  # numeric order is 2, 1, 0; as text "-100" < "10" < "9"
        first = program.fit(X, labels, **WELL)
        again = program.fit(X, new[np.searchsorted(old, labels)], **WELL)
        self.assertLess(relative(again.W[:, ::-1], first.W), 1e-8)
        self.assertLess(relative(again.b[::-1], first.b), 1e-8)

    def test_one_iteration_without_locality_is_ridge_regression(self):
        for d, alpha in ((9, 0.01), (9, 10.0), (60, 0.1)):
            X, labels = sample_problem(14, d=d)
            T = (labels[:, None] == np.unique(labels)).astype(float)
            Xc, Tc = X - X.mean(axis=0), T - T.mean(axis=0)
            W = np.linalg.solve(Xc.T @ Xc + alpha * np.eye(d), Xc.T @ Tc)
            found = program.fit(X, labels, alpha=alpha, beta=0, iters=1)
            self.assertLess(relative(found.W, W), 1e-11, (d, alpha))
            self.assertLess(relative(found.b, T.mean(axis=0) - W.T @ X.mean(axis=0)), 1e-11)
            self.assertEqual(found.trace["locality"][-1], 0.0)

    def test_same_bytes_for_any_number_of_threads(self):
        """Large enough for several tiles of work in both forms of the solve."""
        for d, sizes in ((150, (120, 100, 130)), (400, (60, 70, 50))):
            X, labels = sample_problem(15, d=d, sizes=sizes)
            runs = [program.fit(X, labels, "unit", threads=t, iters=4) for t in (1, 2, 3, 1)]
            for other in runs[1:]:
                self.assertEqual(other.bytes, runs[0].bytes, d)
                for name in program.COLUMNS:
                    self.assertEqual(other.trace[name].tolist(), runs[0].trace[name].tolist())


class DuplicatesAndTies(unittest.TestCase):
    """Edges of length zero, and distances that are equal."""

    def test_every_sample_twice(self):
        """The nearest neighbour is the copy, whose edge costs nothing: with k = 1 no locality."""
        X, labels = sample_problem(16)
        X, labels = np.vstack([X, X]), np.concatenate([labels, labels])
        for eps in (1e-8, 1e-3):
            found = program.fit(X, labels, eps=eps, k=1, iters=5, beta=100)
            without = program.fit(X, labels, eps=eps, k=1, iters=5, beta=0)
            self.assertLess(found.trace["locality"].max(), 1e-9 * found.trace["objective"].min())
            self.assertLess(relative(found.W, without.W), 1e-6)

    def test_many_copies(self):
        """More copies of a sample than neighbours; the copies in two classes as well."""
        X, labels = sample_problem(17)
        X[::2] = X[0]
        for solver in ("paper", "anneal"):
            params = {**WELL, "solver": solver}
            found, wanted = program.fit(X, labels, **params), reference.fit(X, labels, **params)
            self.assertLess(relative(found.W, wanted["W"]), 1e-7)
            self.assertLess(largest_rise(found.trace["smoothed"]), 1e-10)

    def test_all_samples_equal(self):
        """Nothing to learn from: refused, for every method alike."""
        with self.assertRaisesRegex(AssertionError, "exit 3: .*no feature varies"):
            program.fit(np.ones((12, 3)), np.repeat([1, 2, 3], 4), iters=5)

    def test_ties_go_to_the_lower_index(self):
        """Whole numbers have exact distances, many of them equal. The first solve sees the ties of
        the raw distances, so its W tells which neighbours were taken."""
        rng = np.random.default_rng(18)
        X = rng.integers(0, 3, size=(30, 4)).astype(float)
        labels = np.repeat([1, 2], 15)
        params = {**WELL, "beta": 10.0, "k": 2, "iters": 1}
        found = program.fit(X, labels, **params)
        wanted = reference.fit(X, labels, **params)
        self.assertLess(relative(found.W, wanted["W"]), 1e-9)
        flipped = reference.fit(X[::-1], labels[::-1], **params)
        self.assertGreater(relative(flipped["W"], wanted["W"]), 1e-3, "the ties must matter")

    def test_ties_do_not_break_descent(self):
        rng = np.random.default_rng(19)
        X, labels = rng.integers(0, 2, size=(40, 6)).astype(float), np.repeat([1, 2, 3, 4], 10)
        for solver in ("paper", "anneal"):
            trace = program.fit(X, labels, solver=solver, iters=15).trace
            self.assertLess(largest_rise(trace["smoothed"]), 1e-10)


if __name__ == "__main__":
    unittest.main()
