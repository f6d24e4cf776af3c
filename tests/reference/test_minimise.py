"""RLAR with solver=minimise against SciPy's L-BFGS on the literal objective."""
import unittest

import numpy as np

import minimise_reference as literal
import rlar_problems as problems
from amount import some
from minimise_problems import minimise, small_problems


class Oracle(unittest.TestCase):
    def test_the_literal_gradient_is_that_of_the_literal_objective(self):
        rng = np.random.default_rng(5)
        X, labels = problems.samples(rng, 6, (5, 6, 4))
        objective = literal.Objective(X, labels, 0.3, 0.7, 2)
        W, b = rng.normal(size=(6, 3)), rng.normal(size=3)
        V = objective.neighbours(W, b)
        gW, gb = objective.gradient(W, b, 0.2, 0.1, V)
        for _ in range(10):
            dW, db = rng.normal(size=W.shape), rng.normal(size=3)
            step = 1e-6
            ahead = objective.value(W + step * dW, b + step * db, 0.2, 0.1, V)
            behind = objective.value(W - step * dW, b - step * db, 0.2, 0.1, V)
            slope = (gW * dW).sum() + gb @ db
            self.assertAlmostEqual((ahead - behind) / (2 * step), slope, delta=1e-6 * abs(slope) + 1e-7)

    def test_reported_objective_is_the_literal_one(self):
        for name, X, labels, alpha, beta in small_problems():
            with self.subTest(name):
                fit = minimise(X, labels, alpha, beta)
                value = literal.Objective(X, labels, alpha, beta, 0).value(fit.W, fit.b)
                self.assertAlmostEqual(fit.json["objective"], value, delta=1e-9 * value)

    def test_as_low_as_scipy(self):
        """For the neighbours at the end the problem is convex: its minimum, from W = 0."""
        for name, X, labels, alpha, beta in some(small_problems()):
            with self.subTest(name):
                objective = literal.Objective(X, labels, alpha, beta, 0)
                fit = minimise(X, labels, alpha, beta)
                start = np.zeros((X.shape[1], objective.c)), np.full(objective.c, 1.0 / objective.c)
                peer = objective.minimum(*start, objective.neighbours(fit.W, fit.b))
                self.assertLessEqual(fit.json["objective"], 1.005 * peer)

    def test_smoothed_as_low_as_scipy(self):
        """A large eps: the smoothed objective is the aim, and no W is cut to 0."""
        for name, X, labels, alpha, beta in some(small_problems()):
            for eps in (0.1, 1.0, 30.0):
                with self.subTest(name, eps=eps):
                    objective = literal.Objective(X, labels, alpha, beta, 0)
                    fit = minimise(X, labels, alpha, beta, eps=eps)
                    V = objective.neighbours(fit.W, fit.b)
                    start = np.zeros((X.shape[1], objective.c)), np.full(objective.c, 1.0 / objective.c)
                    peer = objective.value(*objective.descend(*start, eps, eps / 10, V), eps, eps / 10, V)
                    self.assertLessEqual(objective.value(fit.W, fit.b, eps, eps / 10, V), 1.002 * peer)
                    self.assertTrue((np.linalg.norm(fit.W, axis=1) > 0).all())
                    self.assertAlmostEqual(fit.json["objective"], objective.value(fit.W, fit.b),
                                           delta=1e-9 * fit.json["objective"])


if __name__ == "__main__":
    unittest.main()
