"""Where public implementations disagree: the evidence of docs/methods.md, measured again.

LFDA in metric-learn 0.7.0 (metric_learn/lfda.py). Two slips, put here in our own words into an
otherwise correct LFDA, give its eigenvalues on wine with k = 7 to every digit:

  neighbour  after ordering every column of the distances, the k-th smallest distances are a row
             of the result; it takes a column, that is all distances of one single sample
             (in the order that the selection of NumPy before 2.0 leaves: a fully sorted column
             gives still other eigenvalues)
  sign       the last step of S_b subtracts S_w; it adds it, so every eigenvalue is too large by 2

The correct eigenvalues, by the pairwise definition of the paper, differ; the program has those.
"""
import unittest

import numpy as np

import lfda_reference
import methods_harness as harness
from scatter_reference import centred, generalised, squared_distances

K = 7
PEER = (53.28988126, 23.86627016, 4.99062265)
RIGHT = (1457.17987533, 91.45248534, 14.43549333)


def sigma_by_row(distance):
    """What is meant: the distance of each sample to its k-th nearest (itself counted as 0th)."""
    return np.sqrt(np.partition(distance, K, axis=0)[K])


def sigma_by_column(distance):
    """The slip: column k of the partitioned matrix."""
    return np.sqrt(np.partition(distance, K, axis=0)[:, K])


def eigenvalues(problem, sigma_of, sign):
    """LFDA class by class, with a choice of sigma and of the sign of S_w in the end."""
    X = centred(problem.Z)
    n, d = X.shape
    S_w, S_b = np.zeros((d, d)), np.zeros((d, d))
    for i in range(problem.c):
        members = X[problem.index == i]
        size, total = len(members), members.sum(axis=0)
        distance = squared_distances(members)
        sigma = sigma_of(distance)
        scale = np.outer(sigma, sigma)
        with np.errstate(divide="ignore", invalid="ignore"):
            A = np.where(scale > 0, np.exp(-distance / scale), 0.0)
        local = members.T @ (np.diag(A.sum(axis=0)) - A) @ members
        S_w += local / size
        S_b += local / n + (1 - size / n) * members.T @ members + np.outer(total, total) / n
    S_b += sign * S_w
    return generalised((S_b + S_b.T) / 2, (S_w + S_w.T) / 2, problem.c)[0]


class MetricLearnLfda(harness.MethodTest):
    def setUp(self):
        super().setUp()
        self.wine = harness.wine("none")

    def close(self, found, wanted):
        self.assertLess(np.abs(np.asarray(found) / wanted - 1).max(), 1e-6, found)

    @unittest.skipIf(int(np.__version__.split(".")[0]) > 1, "NumPy 2 leaves another order")
    def test_both_slips_give_the_eigenvalues_of_the_peer(self):
        self.close(eigenvalues(self.wine, sigma_by_column, +1), PEER)

    def test_neither_slip_gives_the_right_ones(self):
        self.close(eigenvalues(self.wine, sigma_by_row, -1), RIGHT)

    def test_pairwise_definition_gives_the_right_ones(self):
        self.close(lfda_reference.fit(self.wine.Z, self.wine.labels, k=K, rho=0.0)["values"], RIGHT)

    def test_sign_adds_two(self):
        wrong, right = (eigenvalues(self.wine, sigma_by_row, sign) for sign in (+1, -1))
        self.assertLess(np.abs(wrong - right - 2).max(), 1e-8)

    def test_program_has_the_right_ones(self):
        """t^T S_b t / t^T S_w t of its columns, and the length t^T S_w t = lambda of the metric."""
        self.need("lfda")
        W = harness.fit(self.wine, "lfda", k=K, rho=0, metric="weighted").W
        S_w, S_b = lfda_reference.local_scatters(self.wine.Z, self.wine.labels, K)
        within, between = (np.diag(W.T @ S @ W) for S in (S_w, S_b))
        self.close(between / within, RIGHT)
        self.close(within, RIGHT)


if __name__ == "__main__":
    unittest.main()
