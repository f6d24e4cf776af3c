"""RFS, L21SDA, ALPR, SDA and RSLDA: the program against the oracles, and what holds for every fit.

Weights of vanishing rows and residuals reach 1/eps and multiply rounding, so the smoothing is
larger here than by default where the method lets it be chosen.
"""
import unittest

import methods_harness as harness  # before NumPy
import numpy as np

import alpr_reference
import l21sda_reference
import oracle_tools as tools
import rfs_reference
import rslda_reference
import sda_reference
from methods_harness import MethodTest, fit, largest_angle, relative, relative_up_to_signs

ITERATIONS = (1, 3, 30)
EPS = 1e-6


def with_samples(problem, X, labels=None):
    """The problem with other samples, not scaled."""
    labels = problem.labels if labels is None else labels
    return harness.Problem(problem.name, X, labels, "none")


def fit_sda(problem, gamma, tau, iters=30, **more):
    """The program's `ridge` is n gamma."""
    return fit(problem, "sda", ridge=repr(problem.n * gamma), tau=tau, iters=iters, **more)


# ---- The oracles, checked by what they do not use ------------------------------------------------


class Oracles(unittest.TestCase):

    def check_accuracy(self, reference, iris=None, wine=None):
        """Percentages of the specifications, over other splits: hence the room."""
        for problem, per_class, percent in ((harness.iris(), 10, iris), (harness.wine(), 11, wine)):
            if percent is not None:
                found = harness.nearest_neighbour_accuracy(problem, reference, per_class)
                self.assertLess(abs(found - percent), 4, problem.name)

    def test_rfs(self):
        problem = harness.random_problem("n >> d", 31, "unit")
        W, b, smoothed, _ = rfs_reference.rfs(problem.Z, problem.index, 0.1, 200, 1e-2)
        self.assertLess(harness.largest_rise(smoothed), 1e-14)
        self.assertLess(rfs_reference.gradient(problem.Z, problem.index, 0.1, W, b, 1e-2), 1e-5)
        self.check_accuracy(lambda Z, i: rfs_reference.rfs(Z, i, 0.005)[0], wine=88.9)

    def test_rfs_resists_an_outlier(self):
        """A target a thousand times too large moves W no further than one ten times too large."""
        problem = harness.random_problem("n >> d", 32, "unit")
        fits = []
        for size in (0, 10, 1000):
            Y = problem.one_hot()
            Y[3] -= size * Y[4]
            fits.append(rfs_reference.rfs_targets(problem.Z, Y, 0.1)[0])
        self.assertLess(np.linalg.norm(fits[2] - fits[0]), 2 * np.linalg.norm(fits[1] - fits[0]))

    def test_l21sda(self):
        problem = harness.wine("minmax")
        p = problem.one_hot().mean(axis=0)
        B, scores, objectives = l21sda_reference.l21sda(problem.Z, problem.index, 0.1)
        self.assertLess(harness.largest_rise(objectives), 1e-14)
        self.assertLess(np.abs(scores.T @ np.diag(p) @ scores - np.eye(2)).max(), 1e-13)
        self.assertLess(np.abs(p @ scores).max(), 1e-13)
        Zc = problem.Z - problem.Z.mean(axis=0)
        for angle in np.linspace(0.1, 6.2, 20):  # no rotation of the scores fits better
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            self.assertLess(np.linalg.norm(problem.one_hot() @ scores - Zc @ B),
                            np.linalg.norm(problem.one_hot() @ scores @ turn - Zc @ B))
        self.check_accuracy(lambda Z, i: l21sda_reference.l21sda(Z, i, 1)[0], 91.3, 60.1)
        self.check_accuracy(lambda Z, i: l21sda_reference.l21sda(Z, i, 0.01)[0], wine=91.45)

    def test_alpr(self):
        problem = harness.wine()
        W, T, S, objectives = alpr_reference.alpr(problem.Z, problem.index, 0.1, 0.1)
        self.assertLess(harness.largest_rise(objectives), 1e-14)
        self.assertLess(np.abs(S.sum(axis=1) - 1).max(), 1e-13)
        self.assertEqual(np.abs(S * (1 - alpr_reference.same_class(problem.index))).max(), 0)
        squares = alpr_reference.squared_distances(problem.Z @ W)
        mates = alpr_reference.same_class(problem.index) > 0
        for j in range(problem.n):
            products = (S * squares)[j][mates[j]]
            self.assertLess(np.ptp(products), 1e-9 * products.max())
        self.check_accuracy(lambda Z, i: alpr_reference.alpr(Z, i, 0.1, 0.1)[0], 93.33, 64.07)

    def test_sda(self):
        problem = harness.wine()
        G, C, D = sda_reference.moments(problem.Z, problem.index)
        lam = 0.01 * sda_reference.lambda_max(C, D)
        found = sda_reference.sda(problem.Z, problem.index, 1e-3, 0.01)
        for s in found:
            self.assertLess(sda_reference.kkt(G, C @ s.used, 1e-3, lam, s.b), 1e-9)
            self.assertLess(harness.largest_rise(s.objectives), 1e-14)
        full = np.column_stack([np.ones(3)] + [s.scores for s in found])
        self.assertLess(np.abs(full.T @ np.diag(D) @ full - np.eye(3)).max(), 1e-13)
        self.check_accuracy(lambda Z, i: sda_reference.projection(Z, i, 1e-3, 1e-2), 93.46, 62.97)

    def test_sda_without_l1(self):
        """A vanishing lambda gives the closed form."""
        problem = harness.wine()
        W = sda_reference.projection(problem.Z, problem.index, 1e-3, 1e-9, 200, 1e-20)
        closed = sda_reference.ridge_only(problem.Z, problem.index, 1e-3)
        self.assertLess(relative_up_to_signs(W, closed), 1e-6)

    def test_rslda(self):
        problem = harness.wine()
        s = rslda_reference.rslda(problem.Z, problem.index, 1e-4, 1e-3)
        self.assertLess(np.abs(s.P.T @ s.P - np.eye(3)).max(), 1e-13)
        self.assertLess(np.abs(s.Y).max(), 1e-3 * (1 + 1e-12))
        moved = s.E != 0
        self.assertLess(np.abs(s.Y - 1e-3 * np.sign(s.E))[moved].max(), 1e-15)
        product = s.P.T @ s.F
        self.assertLess(np.abs(product - product.T).max(), 1e-13 * np.abs(product).max())
        self.assertAlmostEqual(np.trace(product) / np.linalg.norm(s.F, "nuc"), 1, delta=1e-13)
        self.check_accuracy(lambda Z, i: rslda_reference.rslda(Z, i, 1e-4, 1e-4).W, 93.79, 61.62)

    def test_rslda_at_the_end(self):
        """The constraint holds and Q is nearly stationary."""
        problem = harness.wine()
        X = problem.Z.T
        s = rslda_reference.rslda(problem.Z, problem.index, 1e-4, 1e-3, 1000)
        self.assertLess(s.residuals[-1], 1e-6)
        Sw, Sb = rslda_reference.scatters(X, problem.index)
        weights = 1 / np.sqrt((s.W ** 2).sum(axis=1, keepdims=True) + rslda_reference.TINY)
        scatter, pull = 2 * (Sw - rslda_reference.KAPPA * Sb) @ s.W, (X @ s.Y.T @ s.P).astype(float)
        self.assertLess(relative(scatter + 1e-4 * weights * s.W, pull), 0.05)

    def test_rslda_without_penalties(self):
        """E stays zero, and P Q'X comes close to X, which has nearly rank r."""
        problem = harness.wine()
        s = rslda_reference.rslda(problem.Z, problem.index, 1e-9, 1e9, 30)
        self.assertEqual(np.abs(s.E).max(), 0)
        self.assertLess(relative(s.P @ s.W.T @ problem.Z.T, problem.Z.T), 0.02)

    def test_rslda_without_large_matrices(self):
        """The n x n form of the specification gives the same Q."""
        problem = harness.random_problem("n << d", 33, "unit")
        for iters in (1, 4):
            s = rslda_reference.rslda(problem.Z, problem.index, 1e-3, 1e-3, iters)
            beta = 0.1 * 1.01 ** (iters - 1)
            X, n = problem.Z.T, problem.n
            sizes = np.bincount(problem.index)[problem.index].astype(float)
            Jk = (problem.index[:, None] == problem.index) / sizes[:, None]
            J = np.full((n, n), 1 / n)
            K = (np.eye(n) - Jk) / (beta + 2 / sizes)[:, None]
            K += (Jk - J) / (beta - 2e-5) + J / beta
            w = (1 / s.D).astype(float)
            right = K @ (beta * s.M.T @ s.P).astype(float)
            small = np.linalg.solve(1e-3 * K + X.T @ np.diag(w) @ X, right)
            self.assertLess(relative(np.diag(w) @ X @ small, s.W), 1e-10)


# ---- RFS ----------------------------------------------------------------------------------------


class RFS(MethodTest):
    method = "rfs"

    def test_literal_lagrangian_form(self):
        for problem in harness.problems():
            for gamma in (0.01, 1.0):
                for iters in ITERATIONS:
                    found = fit(problem, "rfs", gamma=gamma, iters=iters, eps=EPS)
                    for part, map_ in ((0, found.W), (1, found.b)):
                        self.check(map_, lambda Z: rfs_reference.rfs(Z, problem.index, gamma, iters,
                                                                     EPS)[part],
                                   problem, 1e-8, note=(gamma, iters, "Wb"[part]))

    def test_trace_never_rises(self):
        for problem in harness.problems():
            for gamma in (0.01, 0.1, 1, 10):
                found = fit(problem, "rfs", gamma=gamma, iters=40, eps=EPS).trace
                self.assertEqual(len(found["smoothed"]), 40)
                rise = harness.largest_rise(found["smoothed"])
                self.assertLess(rise, 1e-9, (problem.name, gamma))

    def test_first_iteration_is_ridge_regression(self):
        """With weight gamma^2, the offset penalised as well."""
        for problem in harness.problems():
            Zt = rfs_reference.with_ones(problem.Z)
            V = np.linalg.solve(Zt.T @ Zt + 0.09 * np.eye(problem.d + 1), Zt.T @ problem.one_hot())
            found = fit(problem, "rfs", gamma=0.3, iters=1)
            self.assertLess(relative(np.vstack([found.b, found.W]), V), 1e-10, problem.name)

    def test_optimal_at_convergence(self):
        for regime in harness.REGIMES:
            problem = harness.random_problem(regime, 34, "unit")
            found = fit(problem, "rfs", gamma=0.5, iters=2000, eps=1e-2)
            off = rfs_reference.gradient(problem.Z, problem.index, 0.5, found.W, found.b, 1e-2)
            self.assertLess(off, 1e-6, regime)

    def test_large_gamma(self):
        for problem in harness.random_problems():
            norms = [np.linalg.norm(fit(problem, "rfs", gamma=gamma, eps=1e-3).W)
                     for gamma in (0.1, 1e3, 1e6)]
            self.assertLess(norms[2], 1e-3 * norms[0], problem.name)

    def test_both_forms(self):
        """Features that are always zero bring the program to the n x n form."""
        for regime in ("n >> d", "c > d"):
            problem = harness.random_problem(regime, 35)
            wider = with_samples(problem, np.hstack([problem.X, np.zeros((problem.n, 99))]))
            narrow, wide = (fit(p, "rfs", gamma=0.5, eps=1e-4) for p in (problem, wider))
            self.assertEqual((narrow.json["path"], wide.json["path"]), ("primal", "dual"))
            self.assertLess(relative(wide.W[:problem.d], narrow.W), 1e-8, regime)


# ---- L21SDA -------------------------------------------------------------------------------------


class L21SDA(MethodTest):
    method = "l21sda"

    def test_oracle(self):
        for problem in harness.problems():
            for lam in (0.01, 1.0):
                for iters in ITERATIONS:
                    found = fit(problem, "l21sda", **{"lambda": lam}, iters=iters, eps=EPS)
                    self.check(found.W, lambda Z: l21sda_reference.l21sda(Z, problem.index, lam,
                                                                          iters, EPS)[0],
                               problem, 1e-8, relative_up_to_signs, (lam, iters))

    def test_trace(self):
        for problem in harness.problems():
            found = fit(problem, "l21sda", **{"lambda": 0.1}, iters=30, eps=1e-4).trace["smoothed"]
            wanted = l21sda_reference.l21sda(problem.Z, problem.index, 0.1, 30, 1e-4)[2]
            self.assertLess(harness.largest_rise(found), 1e-10, problem.name)
            self.assertLess(relative(found, wanted), 1e-8, problem.name)

    def test_small_lambda_is_lda(self):
        for problem in (harness.random_problem("n >> d", 36), harness.iris(),
                        harness.wine("minmax")):
            W = fit(problem, "l21sda", **{"lambda": 1e-9}).W
            angle = largest_angle(W, harness.lda_subspace(problem.Z, problem.index))
            self.assertLess(angle, 1e-5, problem.name)

    def test_two_classes(self):
        """The first step is a ridge regression on the one score there is."""
        problem = harness.random_problem("n >> d", 37)
        keep = problem.index < 2
        two = with_samples(problem, problem.X[keep], problem.labels[keep])
        Zc = two.Z - two.Z.mean(axis=0)
        W = np.linalg.solve(Zc.T @ Zc + 0.05 * np.eye(two.d), Zc.T @ two.one_hot()[:, :1])
        found = fit(two, "l21sda", **{"lambda": 0.1}, iters=1).W
        self.assertLess(largest_angle(found, W), 1e-10)


# ---- ALPR ---------------------------------------------------------------------------------------


class ALPR(MethodTest):
    method = "alpr"

    def test_oracle(self):
        for problem in harness.problems():
            for lambdas in ((0.1, 0.1), (1.0, 0.01)):
                for iters in ITERATIONS:
                    found = fit(problem, "alpr", lambda1=lambdas[0], lambda2=lambdas[1],
                                iters=iters)
                    self.check(found.W, lambda Z: alpr_reference.alpr(Z, problem.index, *lambdas,
                                                                      iters)[0],
                               problem, 1e-8, note=(lambdas, iters))
                    self.assertFalse(found.b.any(), "ALPR has no offset")

    def test_trace_never_rises(self):
        for problem in harness.problems():
            for weight in (0.01, 0.1, 10):
                trace = fit(problem, "alpr", lambda1=weight, lambda2=weight, iters=40).trace
                rise = harness.largest_rise(trace["smoothed"])
                self.assertLess(rise, 1e-9, (problem.name, weight))

    def test_trace(self):
        for problem in harness.problems():
            found = fit(problem, "alpr", lambda1=0.1, lambda2=0.1, iters=10).trace["objective"]
            wanted = alpr_reference.alpr(problem.Z, problem.index, 0.1, 0.1, 10)[3]
            self.assertLess(relative(found, wanted), 1e-7, problem.name)

    def test_value_of_the_locality_term(self):
        """After the S-step it is lambda1 sum_j n_i / sum_k (1/d_jk)."""
        problem = harness.random_problem("n >> d", 38, "unit")
        found = fit(problem, "alpr", lambda1=0.2, lambda2=0.1, iters=7)
        squares = alpr_reference.squared_distances(problem.Z @ found.W) + alpr_reference.TINY
        sums = (alpr_reference.same_class(problem.index) / squares).sum(axis=1)
        wanted = 0.2 * (np.bincount(problem.index)[problem.index] / sums).sum()
        self.assertAlmostEqual(found.trace["locality"][-1] / wanted, 1, delta=1e-9)

    def test_first_iteration_without_locality(self):
        """Ridge regression without offset, with weight lambda2 / 2."""
        for problem in harness.problems():
            W = np.linalg.solve(problem.Z.T @ problem.Z + 0.05 * np.eye(problem.d),
                                problem.Z.T @ problem.one_hot())
            found = fit(problem, "alpr", lambda1=0, lambda2=0.1, iters=1)
            self.assertLess(relative(found.W, W), 1e-10, problem.name)

    def test_copies_and_singletons(self):
        problem = harness.random_problem("n >> d", 39)
        labels = problem.labels.copy()
        labels[5] = 999  # a class of its own
        X = problem.X.copy()
        mates = np.flatnonzero(labels == labels[0])
        X[mates[1:4]] = X[mates[0]]
        odd = with_samples(problem, X, labels)
        found = fit(odd, "alpr", lambda1=0.1, lambda2=0.1, iters=10)
        self.check(found.W, lambda Z: alpr_reference.alpr(Z, odd.index, 0.1, 0.1, 10)[0], odd, 1e-7)


# ---- SDA ----------------------------------------------------------------------------------------


def score_of(G, C, D, gamma, lam, b):
    """The scores for which b solves the elastic net, from its stationarity on the support, and the
    largest breach of the optimality conditions there, in units of lambda."""
    A = np.flatnonzero(b)
    right = (G @ b + gamma * b + lam / 2 * np.sign(b))[A]
    theta = np.linalg.lstsq(np.vstack([C[A], D]), np.append(right, 0), rcond=None)[0]
    return theta, sda_reference.kkt(G, C @ theta, gamma, lam, b)


class SDA(MethodTest):
    method = "sda"
    SETTINGS = ((1e-3, 1e-2), (1e-2, 1e-1))
    WIDE = 160  # features for 21 samples: too many for the program to make X'X

    def problems(self):
        return harness.problems() + [harness.random_problem("n << d", 45, "none", self.WIDE),
                                     harness.random_problem("n << d", 46, "unit", self.WIDE)]

    def test_both_forms(self):
        """X'X is made where it pays, also for more features than samples."""
        for features, path in ((60, "primal"), (self.WIDE, "dual")):
            problem = harness.random_problem("n << d", 47, "unit", features)
            self.assertEqual(fit_sda(problem, 1e-3, 1e-2).json["path"], path)

    def test_oracle(self):
        for problem in self.problems():
            for gamma, tau in self.SETTINGS:
                for iters in ITERATIONS:
                    found = fit_sda(problem, gamma, tau, iters)
                    self.check(found.W, lambda Z: sda_reference.projection(Z, problem.index, gamma,
                                                                           tau, iters),
                               problem, 1e-6, relative_up_to_signs, (gamma, tau, iters))

    def test_optimality(self):
        """Scores of length one exist for which each column solves its elastic net."""
        for problem in self.problems():
            G, C, D = sda_reference.moments(problem.Z, problem.index)
            for gamma, tau in self.SETTINGS:
                lam = tau * sda_reference.lambda_max(C, D)
                for b in fit_sda(problem, gamma, tau).W.T:
                    if np.count_nonzero(b) >= problem.c:
                        theta, breach = score_of(G, C, D, gamma, lam, b)
                        self.assertLess(breach, 1e-5, (problem.name, gamma, tau))
                        self.assertAlmostEqual(theta @ (D * theta), 1, delta=1e-4)

    def test_trace(self):
        """The objective falls within a direction; finished directions stay in the sum."""
        for problem in self.problems():
            trace = fit_sda(problem, 1e-3, 1e-2).trace["objective"]
            done, wanted = 0.0, []
            for s in sda_reference.sda(problem.Z, problem.index, 1e-3, 1e-2):
                own = trace[len(wanted):len(wanted) + len(s.objectives)] - done
                self.assertLess(harness.largest_rise(own), 1e-7, problem.name)
                wanted += [done + value for value in s.objectives]
                done = wanted[-1]
            self.assertEqual(len(trace), len(wanted), problem.name)
            self.assertLess(relative(trace, np.array(wanted)), 1e-7, problem.name)

    def test_sparser_with_tau(self):
        for problem in (harness.wine(), harness.random_problem("n << d", 41, "unit")):
            counts = [np.count_nonzero(fit_sda(problem, 1e-3, tau).W[:, 0])
                      for tau in (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 0.5, 0.9)]
            self.assertTrue(all(np.diff(counts) <= 1), counts)
            self.assertEqual(counts[-1], 1, "near lambda_max a single feature is left")

    def test_nothing_is_left_at_lambda_max(self):
        with self.assertRaises(AssertionError) as failure:
            fit_sda(harness.wine(), 1e-3, 1.0)
        self.assertIn("exit 5", str(failure.exception))

    def test_without_l1(self):
        """All directions together span what the closed form does; each equals it in the end."""
        for problem in self.problems():
            closed = sda_reference.ridge_only(problem.Z, problem.index, 1e-3)
            W = fit_sda(problem, 1e-3, 0).W
            self.check(W, lambda Z: sda_reference.projection(Z, problem.index, 1e-3, 0), problem,
                       1e-7, relative_up_to_signs)
            self.assertLess(largest_angle(W, closed), 1e-7, problem.name)
        for problem in (harness.iris(), harness.wine()):
            closed = sda_reference.ridge_only(problem.Z, problem.index, 1e-3)
            W = fit_sda(problem, 1e-3, 0, 500, tol=1e-20).W
            self.assertLess(relative_up_to_signs(W, closed), 1e-7, problem.name)

    def test_small_penalties_are_lda(self):
        for problem in (harness.random_problem("n >> d", 42), harness.iris(),
                        harness.wine("minmax")):
            W = fit_sda(problem, 1e-9, 1e-8, 100).W
            angle = largest_angle(W, harness.lda_subspace(problem.Z, problem.index))
            self.assertLess(angle, np.radians(0.01), problem.name)

    def test_order_and_translation(self):
        """Of samples and classes; |W| stays."""
        for regime in harness.REGIMES:
            problem = harness.random_problem(regime, 43)
            rng = np.random.default_rng(9)
            order = rng.permutation(problem.n)
            still = fit_sda(problem, 1e-3, 1e-2).W
            for other in (with_samples(problem, problem.X[order], problem.labels[order]),
                          with_samples(problem, problem.X, -problem.labels),
                          with_samples(problem, problem.X + rng.normal(size=problem.d))):
                moved = fit_sda(other, 1e-3, 1e-2).W
                self.assertLess(relative(np.abs(moved), np.abs(still)), 1e-5, regime)


# ---- RSLDA --------------------------------------------------------------------------------------


class RSLDA(MethodTest):
    method = "rslda"

    def test_oracle(self):
        """The oracle is always in the d x d form."""
        for problem in harness.problems():
            for lambdas in ((1e-4, 1e-4), (1e-2, 1e-3)):
                for iters in ITERATIONS:
                    found = fit(problem, "rslda", lambda1=lambdas[0], lambda2=lambdas[1],
                                iters=iters)
                    self.check(found.W, lambda Z: rslda_reference.rslda(Z, problem.index, *lambdas,
                                                                        iters).W,
                               problem, 1e-8, relative_up_to_signs, (lambdas, iters))

    def test_trace(self):
        for problem in harness.problems():
            found = fit(problem, "rslda", lambda1=1e-4, lambda2=1e-3, iters=20).trace["objective"]
            wanted = rslda_reference.rslda(problem.Z, problem.index, 1e-4, 1e-3, 20).objectives
            self.assertLess(relative(found, wanted), 1e-8, problem.name)

    def test_both_forms(self):
        """Features that are always zero bring the program to the n x n form."""
        for regime in ("n >> d", "n ~ d"):
            problem = harness.random_problem(regime, 44, "unit")
            wider = with_samples(problem, np.hstack([problem.Z, np.zeros((problem.n, 99))]))
            narrow, wide = (fit(p, "rslda", lambda1=1e-3, lambda2=1e-3, iters=10)
                            for p in (problem, wider))
            self.assertEqual(wide.json["path"], "dual")
            off = relative_up_to_signs(wide.W[:problem.d], narrow.W)
            self.assertLess(off, 1e-9, regime)
            self.assertLess(np.abs(wide.W[problem.d:]).max(), 1e-12, regime)

    def test_sparser_with_lambda1(self):
        problem, counts = harness.wine(), []
        for lambda1 in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1):
            W = fit(problem, "rslda", lambda1=lambda1, lambda2=1e-3, iters=200).W
            norms = np.linalg.norm(W, axis=1)
            counts.append(int((norms > 1e-3 * norms.max()).sum()))
        self.assertTrue(all(np.diff(counts) <= 0), counts)
        self.assertGreater(counts[0], counts[-1] + 8, counts)


# ---- What holds for all ------------------------------------------------------------------------


class Order(MethodTest):
    """Neither the order of the samples nor that of the classes matters."""

    METHODS = ("rr", "lsr", "relsr", "rfs", "l21sda", "alpr", "sda", "rslda")

    def pairs(self, change):
        """Fits of every method to random problems and to what change(problem) makes of them."""
        for method in self.METHODS:
            with self.subTest(method=method):
                self.need(method)
                more = {} if method in ("rr", "lsr") else {"iters": 5}
                for regime in harness.REGIMES:
                    problem = harness.random_problem(regime, 45, "unit")
                    yield (f"{method}, {regime}", fit(problem, method, **more).W,
                           fit(change(problem), method, **more).W)

    def test_samples(self):
        def shuffled(problem):
            order = np.random.default_rng(10).permutation(problem.n)
            return harness.Problem("shuffled", problem.X[order], problem.labels[order], "unit")

        for name, first, second in self.pairs(shuffled):
            self.assertLess(relative_up_to_signs(second, first), 1e-6, name)

    def test_classes(self):
        """Other names permute or rotate the columns of W; the norms of its rows stay."""
        def reversed_names(problem):
            return harness.Problem("renamed", problem.X, -problem.labels, "unit")

        for name, first, second in self.pairs(reversed_names):
            self.assertLess(relative(tools.row_norms(second), tools.row_norms(first)), 1e-6, name)


if __name__ == "__main__":
    unittest.main()
