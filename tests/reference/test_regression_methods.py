"""RR, LSR and ReLSR: the program against the oracles, and what holds for every correct fit."""
import unittest

import methods_harness as harness  # before NumPy
import numpy as np

import regression_reference as reference
from methods_harness import MethodTest, fit, largest_angle, relative
from rlar_reference import retarget

GRID = (0.001, 0.05, 1.0, 1000.0)
ITERATIONS = (1, 3, 30)


def fit_ridge(problem, method, lam, **more):
    return fit(problem, method, **{"lambda": lam}, **more)


def with_samples(problem, X):
    """The problem with other samples, not scaled."""
    return harness.Problem(problem.name, X, problem.labels, "none")


def centred(problem):
    Y = problem.one_hot()
    return problem.Z - problem.Z.mean(axis=0), Y - Y.mean(axis=0)


class RegressionTest(MethodTest):
    """What all three share."""

    def check_sums(self, problem, found, tolerance=1e-9):
        """W 1_c = 0 and sum(b) = 1, because every row of targets sums to one."""
        size = np.abs(found.W).max()
        rows, total = np.abs(found.W.sum(axis=1)).max(), found.b.sum()
        self.assertLess(rows, tolerance * max(size, 1e-300), problem.name)
        self.assertLess(abs(total - 1), tolerance * (1 + np.abs(found.b).max()), problem.name)


class Oracles(unittest.TestCase):
    """The reference itself, checked by what it does not use."""

    def test_retargeting(self):
        """Margins hold, rows keep their sum, and no target has moved without need."""
        rng = np.random.default_rng(5)
        fitted, index = rng.normal(size=(200, 6)), rng.integers(6, size=200)
        T = retarget(fitted, index)
        own = T[np.arange(200), index][:, None]
        others = np.arange(6) != index[:, None]
        self.assertGreater((own - T)[others].min(), 1 - 1e-12)
        self.assertLess(np.abs((T - fitted).sum(axis=1)).max(), 1e-12)
        self.assertLess(np.abs(((T - fitted) * (own - T - 1))[others]).max(), 1e-12)

    def test_relsr(self):
        """The objective falls, T - Y has mean zero after the ridge step, rows of T sum to one."""
        problem = harness.random_problem("n >> d", 11)
        W, b, T, objectives = reference.relsr(problem.Z, problem.index, 0.01, 20)
        self.assertLess(harness.largest_rise(objectives), 1e-14)
        self.assertLess(np.abs(T.sum(axis=1) - 1).max(), 1e-12)
        W, b = reference.ridge(problem.Z, T, 0.01)
        self.assertLess(np.abs((problem.Z @ W + b - T).mean(axis=0)).max(), 1e-12)

    def test_accuracies(self):
        """Of the specification, over other splits: hence the room."""
        wine, iris = harness.wine(), harness.iris()
        for problem, lam, per_class, percent in ((wine, 0.05, 11, 62.1), (wine, 0.01, 11, 71.7),
                                                 (iris, 100.0, 10, 96.2)):
            found = harness.nearest_neighbour_accuracy(
                problem, lambda Z, index: reference.rr(Z, index, lam)[0], per_class, 20)
            self.assertLess(abs(found - percent), 3, (problem.name, lam))


class RidgeRegression(RegressionTest):
    method = "rr"

    def test_oracle(self):
        for problem in harness.problems(4):
            for lam in GRID:
                found = fit_ridge(problem, "rr", lam)
                for part, map_ in enumerate((found.W, found.b)):
                    self.check(map_, lambda Z: reference.rr(Z, problem.index, lam)[part], problem,
                               1e-11, note=lam)
                self.check_sums(problem, found)

    def test_gradient(self):
        for problem in harness.problems():
            Zc, Yc = centred(problem)
            W = fit_ridge(problem, "rr", 0.1).W
            gradient = Zc.T @ (Zc @ W - Yc) + 0.1 * W
            size = np.linalg.norm(Zc.T @ Yc)
            self.assertLess(np.linalg.norm(gradient), 1e-11 * size, problem.name)

    def test_small_lambda_is_least_squares(self):
        for problem in harness.random_problems():
            wanted = reference.lsr(problem.Z, problem.index)[0]
            off = [relative(fit_ridge(problem, "rr", lam).W, wanted) for lam in (1e-4, 1e-6)]
            self.assertLess(off[1], max(0.02 * off[0], 1e-9), problem.name)  # O(lambda)

    def test_monotone_in_lambda(self):
        """The residual of the training set grows and the norm of W falls."""
        for problem in harness.problems():
            fits = [fit_ridge(problem, "rr", lam) for lam in (0.001, 0.01, 0.1, 1, 10, 100, 1000)]
            norms = [np.linalg.norm(found.W) for found in fits]
            residuals = [np.linalg.norm(problem.Z @ found.W + found.b - problem.one_hot())
                         for found in fits]
            self.assertTrue(all(np.diff(norms) < 0), problem.name)
            self.assertTrue(all(np.diff(residuals) > 0), problem.name)

    def test_translation_and_rotation(self):
        rng = np.random.default_rng(6)
        for regime in harness.REGIMES:
            problem = harness.random_problem(regime, 12)
            R = np.linalg.qr(rng.normal(size=(problem.d, problem.d)))[0]
            still = fit_ridge(problem, "rr", 0.1).W
            moved = with_samples(problem, problem.X + rng.normal(size=problem.d))
            turned = with_samples(problem, problem.X @ R.T)
            self.assertLess(relative(fit_ridge(moved, "rr", 0.1).W, still), 1e-10, regime)
            self.assertLess(relative(fit_ridge(turned, "rr", 0.1).W, R @ still), 1e-10, regime)

    def test_constant_features(self):
        """They have no weight, and enough of them make the program change to the n x n form."""
        for regime in harness.REGIMES:
            problem = harness.random_problem(regime, 13)
            wider = with_samples(problem, np.hstack([problem.X, np.full((problem.n, 99), 3.0)]))
            narrow, wide = fit_ridge(problem, "rr", 0.1), fit_ridge(wider, "rr", 0.1)
            self.assertEqual(wide.json["path"], "dual")
            self.assertLess(relative(wide.W[:problem.d], narrow.W), 1e-10, regime)
            self.assertLess(np.abs(wide.W[problem.d:]).max(), 1e-14, regime)

    def test_first_iteration_of_rlar(self):
        for problem in harness.problems():
            W = fit_ridge(problem, "rr", 0.1).W
            other = fit(problem, "rlar", alpha=0.1, beta=0, iters=1)
            self.assertLess(relative(other.W, W), 1e-10, problem.name)


class LeastSquares(RegressionTest):
    method = "lsr"

    def test_oracle(self):
        for problem in harness.problems(4):
            found = fit(problem, "lsr")
            self.check(found.W, lambda Z: reference.lsr(Z, problem.index)[0], problem, 1e-9)
            self.check(found.b, lambda Z: reference.lsr(Z, problem.index)[1], problem, 1e-9)
            self.check_sums(problem, found)

    def test_normal_equations_and_least_norm(self):
        for problem in harness.problems():
            Zc, Yc = centred(problem)
            W = fit(problem, "lsr").W
            gradient = Zc.T @ (Zc @ W - Yc)
            size = np.linalg.norm(Zc.T @ Yc)
            self.assertLess(np.linalg.norm(gradient), 1e-9 * size, problem.name)
            basis = harness.span(Zc.T, 1e-12)
            self.assertLess(relative(basis @ (basis.T @ W), W), 1e-9, problem.name)

    def test_interpolates_when_there_are_few_samples(self):
        for seed in range(3):
            problem = harness.random_problem("n << d", 20 + seed)
            found = fit(problem, "lsr")
            self.assertLess(relative(problem.Z @ found.W + found.b, problem.one_hot()), 1e-9)

    def test_affine_maps_of_the_features(self):
        """Fitted values do not change when Zc has full rank."""
        rng = np.random.default_rng(7)
        for regime in ("n >> d", "c > d"):
            problem = harness.random_problem(regime, 14)
            A = rng.normal(size=(problem.d, problem.d)) + 2 * np.eye(problem.d)
            other = with_samples(problem, problem.X @ A + rng.normal(size=problem.d))
            first, second = fit(problem, "lsr"), fit(other, "lsr")
            self.assertLess(relative(other.Z @ second.W + second.b, problem.Z @ first.W + first.b),
                            1e-9, regime)

    def test_span_is_that_of_lda(self):
        for problem in (harness.random_problem("n >> d", 15), harness.iris(), harness.wine()):
            wanted = harness.lda_subspace(problem.Z, problem.index)
            self.assertLess(largest_angle(fit(problem, "lsr").W, wanted), 1e-7, problem.name)

    def test_collinear_features(self):
        """A copy of every feature: the least norm shares the weight between the two."""
        problem = harness.random_problem("n >> d", 16)
        W = fit(problem, "lsr").W
        twice = fit(with_samples(problem, np.hstack([problem.X, problem.X])), "lsr").W
        self.assertLess(relative(twice, np.vstack([W, W]) / 2), 1e-9)


class Retargeted(RegressionTest):
    method = "relsr"

    def test_oracle(self):
        for problem in harness.problems():
            for lam in (0.01, 1.0):
                for iters in ITERATIONS:
                    found = fit_ridge(problem, "relsr", lam, iters=iters)
                    self.check(found.W, lambda Z: reference.relsr(Z, problem.index, lam, iters)[0],
                               problem, 1e-9, note=(lam, iters))
                    self.check(found.b, lambda Z: reference.relsr(Z, problem.index, lam, iters)[1],
                               problem, 1e-9, note=(lam, iters))
                    self.check_sums(problem, found)

    def test_trace(self):
        """The objective is the oracle's, and never rises."""
        for problem in harness.problems():
            found = fit_ridge(problem, "relsr", 0.05, iters=30).trace["objective"]
            wanted = reference.relsr(problem.Z, problem.index, 0.05, 30)[3]
            self.assertEqual(len(found), 30, problem.name)
            self.assertLess(harness.largest_rise(found), 1e-12, problem.name)
            self.assertLess(relative(found, wanted), 1e-10, problem.name)

    def test_first_iteration_is_ridge_regression(self):
        self.need("rr")
        for problem in harness.problems():
            ridge, first = (fit_ridge(problem, "rr", 0.3),
                            fit_ridge(problem, "relsr", 0.3, iters=1))
            self.assertLess(relative(first.W, ridge.W), 1e-11, problem.name)
            self.assertLess(relative(first.b, ridge.b), 1e-11, problem.name)

    def test_converges_to_the_minimum(self):
        """With T eliminated the objective is convex and smooth: its gradient must vanish."""
        for regime in harness.REGIMES:
            problem = harness.random_problem(regime, 17, "unit")
            found = fit_ridge(problem, "relsr", 1.0, iters=3000)
            fitted = problem.Z @ found.W + found.b
            residual = fitted - retarget(fitted, problem.index)
            gradient = problem.Z.T @ residual + found.W
            self.assertLess(np.linalg.norm(gradient), 1e-7 * np.linalg.norm(found.W), regime)
            self.assertLess(np.abs(residual.mean(axis=0)).max(), 1e-8, regime)

    def test_two_classes_and_one_feature(self):
        X = np.random.default_rng(8).normal(size=(15, 1)) + np.repeat([0.0, 2.0], (7, 8))[:, None]
        problem = harness.Problem("one feature", X, np.repeat([4, -4], (7, 8)), "none")
        found = fit_ridge(problem, "relsr", 0.1, iters=10)
        self.check(found.W, lambda Z: reference.relsr(Z, problem.index, 0.1, 10)[0], problem, 1e-11)


class Presets(MethodTest):
    """Of these methods and of those in test_sparse_methods.py, as the specifications want them."""

    WANTED = {
        "rr": {"lambda": 0.1},
        "relsr": {"lambda": 0.01, "iters": 30},
        "rfs": {"iters": 30, "eps": 1e-8},
        "l21sda": {"lambda": 1, "iters": 30, "eps": 1e-8},
        "alpr": {"lambda1": 0.1, "lambda2": 0.1, "iters": 30},
        "sda": {"ridge": 0.05, "tau": 1e-3, "iters": 30, "tol": 1e-6},
        "rslda": {"lambda1": 1e-4, "lambda2": 1e-4, "iters": 30, "kappa": 1e-5, "beta0": 0.1,
                  "rho": 1.01},
    }

    def test_presets(self):
        for method, wanted in self.WANTED.items():
            with self.subTest(method=method):
                self.need(method)
                found = {name: harness.preset(method, name) for name in wanted}
                self.assertEqual(found, wanted)


if __name__ == "__main__":
    unittest.main()
