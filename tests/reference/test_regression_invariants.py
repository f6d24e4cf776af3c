"""What the specifications of the regression methods promise and a comparison with an oracle does
not show: that every sub-step lowers the objective, limits, and other ways to the same minimum.

The program gives W and b only. What an iterate leads to (targets, scores, weights) follows from
them, so a sub-step is checked from two fits that differ by one iteration.
"""
import unittest

import methods_harness as harness  # before NumPy
import numpy as np

import alpr_reference
import l21sda_reference
import regression_reference
import rfs_reference
import sda_reference
from methods_harness import MethodTest, fit, largest_angle, relative, relative_up_to_signs
from rlar_reference import retarget

STEPS = (1, 2, 5, 12)  # iterations after which the next one is looked at
ROOM = 1e-12  # by which rounding may lift an objective


def one_per_regime(seed):
    return [harness.random_problem(regime, seed, "unit") for regime in harness.REGIMES]


def two_classes(problem):
    """The first two classes of a problem, as they are."""
    keep = problem.index < 2
    return harness.Problem("two classes", problem.Z[keep], problem.labels[keep], "none")


def centred(A):
    return A - A.mean(axis=0)


def two_class_scores(problem):
    """The only scores (up to sign) with mean 0 and variance 1, of every sample."""
    p = problem.one_hot().mean(axis=0)
    return problem.one_hot() @ np.array([[np.sqrt(p[1] / p[0])], [-np.sqrt(p[0] / p[1])]])


class StepTest(MethodTest):

    def steps(self, seed, **params):
        """Each regime: a problem, an iterate and the next one."""
        for problem in one_per_regime(seed):
            for m in STEPS:
                yield (problem, fit(problem, self.method, iters=m, **params),
                       fit(problem, self.method, iters=m + 1, **params))

    def check_falls(self, values, note):
        self.assertLess(harness.largest_rise(values), ROOM, (note, values))


# ---- LSR and ReLSR ------------------------------------------------------------------------------


class LeastSquares(MethodTest):
    method = "lsr"

    def test_interpolates_up_to_d_plus_one_samples(self):
        """n = d + 1 is the last n at which every target is met."""
        rng = np.random.default_rng(51)
        for n in (8, 9, 10):
            X, labels = rng.normal(size=(n, 8)), 1 + np.arange(n) % 3
            problem = harness.Problem(f"n = {n}", X, labels, "none")
            found = fit(problem, "lsr")
            off = relative(problem.Z @ found.W + found.b, problem.one_hot())
            self.assertEqual(off < 1e-9, n <= 9, (n, off))


def margin_distance(fitted, index):
    """Half the squared distances of the rows to the rows that keep the margins, and its gradient.
    The shift of the own class is the largest of sum_{j <= m} v_j / (m + 1), v in falling order."""
    rows = np.arange(len(index))
    v = fitted + 1 - fitted[rows, index][:, None]
    v[rows, index] = -np.inf
    ordered = -np.sort(-v, axis=1)[:, :-1]
    means = np.cumsum(ordered, axis=1) / np.arange(2, v.shape[1] + 1)
    shift = np.maximum(means.max(axis=1), 0)
    residual = np.maximum(v - shift[:, None], 0)
    residual[rows, index] = -shift
    return (residual ** 2).sum() / 2, residual


def accelerated_minimum(Z, index, lam, steps):
    """The least 2 margin_distance(Z W + b) + lam ||W||^2 by Nesterov's gradient method."""
    A = np.hstack([Z, np.ones((len(Z), 1))])
    penalty = np.append(np.full(Z.shape[1], lam), 0.0)[:, None]
    rate = 1 / (np.linalg.norm(A, 2) ** 2 + lam)
    V = ahead = np.zeros((A.shape[1], index.max() + 1))
    for t in range(steps):
        new = ahead - rate * (A.T @ margin_distance(A @ ahead, index)[1] + penalty * ahead)
        ahead, V = new + t / (t + 3) * (new - V), new
    return 2 * margin_distance(A @ V, index)[0] + (penalty * V * V).sum()


class Retargeted(StepTest):
    method = "relsr"

    def test_sub_steps(self):
        """Ridge step and projection both lower the objective; after the former the residual has
        mean 0; rows of the targets sum to 1, and W has at most rank c - 1."""
        lam = 0.05
        for problem, f, g in self.steps(52, **{"lambda": lam}):
            fitted, later = problem.Z @ f.W + f.b, problem.Z @ g.W + g.b
            T, U = retarget(fitted, problem.index), retarget(later, problem.index)
            self.check_falls([((y - t) ** 2).sum() + lam * (W ** 2).sum()
                              for y, t, W in ((fitted, T, f.W), (later, T, g.W), (later, U, g.W))],
                             problem.name)
            self.assertLess(np.abs((later - T).mean(axis=0)).max(), 1e-10, problem.name)
            self.assertLess(np.abs(U.sum(axis=1) - 1).max(), 1e-9, problem.name)
            self.assertLess(np.linalg.svd(g.W, compute_uv=False)[problem.c - 1:].sum(),
                            1e-10 * np.linalg.norm(g.W), problem.name)

    def test_another_way_to_the_minimum(self):
        for problem in one_per_regime(53):
            trace = fit(problem, "relsr", **{"lambda": 1.0}, iters=3000).trace["objective"]
            least = accelerated_minimum(problem.Z, problem.index, 1.0, 3000)
            self.assertAlmostEqual(trace[-1] / least, 1, delta=1e-8, msg=problem.name)


# ---- RFS ----------------------------------------------------------------------------------------


class RFS(MethodTest):
    method = "rfs"

    def test_constraint(self):
        """A U = Y: what the program has for residuals is what W and b leave, in both forms."""
        for problem in one_per_regime(54):
            found = fit(problem, "rfs", gamma=0.3, iters=7, eps=1e-6)
            residual = problem.Z @ found.W + found.b - problem.one_hot()
            rows = np.vstack([found.b, found.W])
            for column, wanted in (("regression", np.linalg.norm(residual, axis=1).sum()),
                                   ("sparsity", 0.3 * np.linalg.norm(rows, axis=1).sum())):
                self.assertAlmostEqual(found.trace[column][-1] / wanted, 1, delta=1e-10,
                                       msg=(problem.name, column, found.json["path"]))

    def test_outlier_that_moves_ridge_regression(self):
        """A wrong target a hundred times larger: ridge regression follows it, the oracle of RFS
        does not. The program makes its targets from labels, so this is about the oracle."""
        problem = harness.random_problem("n >> d", 32, "unit")
        moves = {"rr": [], "rfs": []}
        for size in (10, 1000):
            Y = problem.one_hot()
            Y[3] -= size * Y[4]
            for name, solve in (("rr", regression_reference.ridge),
                                ("rfs", rfs_reference.rfs_targets)):
                still = solve(problem.Z, problem.one_hot(), 0.1)[0]
                moves[name].append(np.linalg.norm(solve(problem.Z, Y, 0.1)[0] - still))
        self.assertGreater(moves["rr"][1], 50 * moves["rr"][0])
        self.assertLess(moves["rfs"][1], 2 * moves["rfs"][0])


# ---- L21SDA -------------------------------------------------------------------------------------


class L21SDA(StepTest):
    method = "l21sda"

    def test_sub_steps(self):
        """The B step is a weighted ridge regression on the scores of the last iterate (gradient
        zero), and both steps lower the objective. Signs of columns are free: B fits its scores."""
        lam, eps = 0.3, 1e-4
        for problem, f, g in self.steps(55, **{"lambda": lam}, eps=eps):
            if problem.c - 1 > problem.d:  # F loses rank, the scores then have a memory
                continue
            Y, Zc = problem.one_hot(), centred(problem.Z)
            p = Y.mean(axis=0)
            scores = l21sda_reference.next_scores(p, Y, Zc, f.W, None)
            B = g.W * np.sign(((Y @ scores) * (Zc @ g.W)).sum(axis=0))
            weights = 1 / np.sqrt((f.W ** 2).sum(axis=1, keepdims=True) + eps ** 2)
            gradient = Zc.T @ (Zc @ B - Y @ scores) + lam / 2 * weights * B
            self.assertLess(np.linalg.norm(gradient), 1e-9 * np.linalg.norm(Zc.T @ Y),
                            problem.name)
            later = l21sda_reference.next_scores(p, Y, Zc, B, None)
            self.check_falls([l21sda_reference.smoothed(Y, Zc, W, th, lam, eps)
                              for W, th in ((f.W, scores), (B, scores), (B, later))], problem.name)

    def test_angle_to_lda(self):
        problem = harness.wine("minmax")
        wanted = harness.lda_subspace(problem.Z, problem.index)
        for lam, angle in ((0.01, np.arccos(0.9998)), (1e-10, 1e-7)):
            W = fit(problem, "l21sda", **{"lambda": lam}).W
            self.assertLess(largest_angle(W, wanted), angle, lam)

    def test_two_classes(self):
        """The scores never change: reweighted ridge regression on the one there is."""
        lam, eps = 0.1, 1e-4
        for problem in map(two_classes, one_per_regime(56)):
            Zc, target = centred(problem.Z), two_class_scores(problem)
            weights = np.ones(problem.d)
            for iteration in range(1, 13):
                B = np.linalg.solve(Zc.T @ Zc + lam / 2 * np.diag(weights), Zc.T @ target)
                weights = 1 / np.sqrt((B ** 2).sum(axis=1) + eps ** 2)
                if iteration in STEPS:
                    W = fit(problem, "l21sda", **{"lambda": lam}, eps=eps, iters=iteration).W
                    self.assertLess(relative_up_to_signs(W, B), 1e-8, (problem.d, iteration))


# ---- ALPR ---------------------------------------------------------------------------------------


class ALPR(StepTest):
    method = "alpr"

    def test_sub_steps(self):
        """W, T and S steps all lower the objective, and its last value is the program's."""
        for weight in (0.01, 0.1, 10):
            for problem, f, g in self.steps(57, lambda1=weight, lambda2=weight):
                def state(W):
                    fitted = problem.Z @ W
                    squares = alpr_reference.squared_distances(fitted)
                    return (retarget(fitted, problem.index),
                            alpr_reference.next_weights(squares, problem.index))

                (T, S), (T2, S2) = state(f.W), state(g.W)
                values = [alpr_reference.objective(problem.Z, *now, problem.index, weight, weight)
                          for now in ((f.W, T, S), (g.W, T, S), (g.W, T2, S), (g.W, T2, S2))]
                self.check_falls(values, (problem.name, weight))
                self.assertAlmostEqual(g.trace["smoothed"][-1] / values[-1], 1, delta=1e-8,
                                       msg=(problem.name, weight))


# ---- SDA ----------------------------------------------------------------------------------------


def proximal_elastic_net(X, y, alpha, l1_ratio, steps):
    """min 1/(2n) ||y - X b||^2 + alpha l1_ratio ||b||_1 + alpha (1 - l1_ratio)/2 ||b||^2, the usual
    form of an elastic net, by the accelerated proximal gradient."""
    n, ridge, cut = len(X), alpha * (1 - l1_ratio), alpha * l1_ratio
    rate = 1 / (np.linalg.norm(X, 2) ** 2 / n + ridge)
    b = ahead = np.zeros((X.shape[1], 1))
    for t in range(steps):
        new = ahead - rate * (X.T @ (X @ ahead - y) / n + ridge * ahead)
        new = np.sign(new) * np.maximum(np.abs(new) - rate * cut, 0)
        ahead, b = new + t / (t + 3) * (new - b), new
    return b


class SDA(MethodTest):
    method = "sda"

    def test_two_classes_are_one_elastic_net(self):
        """Half of the objective is an elastic net with alpha = lambda/2 + gamma."""
        gamma = 0.05
        for problem in map(two_classes, one_per_regime(58)):
            _, C, D = sda_reference.moments(problem.Z, problem.index)
            for tau in (0.01, 0.2):
                lam = tau * sda_reference.lambda_max(C, D)
                alpha = lam / 2 + gamma
                b = proximal_elastic_net(centred(problem.Z), two_class_scores(problem), alpha,
                                         lam / 2 / alpha, 3000)
                W = fit(problem, "sda", ridge=repr(problem.n * gamma), tau=tau, tol=1e-20).W
                self.assertLess(relative_up_to_signs(W, b), 1e-7, (problem.d, tau))

    def test_scores_are_orthonormal(self):
        """Of the converged fit, from the optimality conditions: each column of W names the scores
        that it solves the elastic net for."""
        gamma, tau = 1e-3, 1e-3
        for problem in (harness.wine(), harness.wine("minmax")):
            G, C, D = sda_reference.moments(problem.Z, problem.index)
            lam = tau * sda_reference.lambda_max(C, D)
            W = fit(problem, "sda", ridge=repr(problem.n * gamma), tau=tau, iters=2000, tol=1e-24).W
            scores = [np.ones(problem.c)]
            for b in W.T:
                A = np.flatnonzero(b)
                self.assertGreaterEqual(len(A), problem.c)
                right = (G @ b + gamma * b + lam / 2 * np.sign(b))[A]
                scores.append(np.linalg.lstsq(C[A], right, rcond=None)[0])
                scores[-1] -= D @ scores[-1]  # C 1 = 0: a constant is free
            full = np.array(scores)
            self.assertLess(np.abs(full * D @ full.T - np.eye(problem.c)).max(), 1e-5,
                            problem.name)


# ---- RSLDA --------------------------------------------------------------------------------------


class RSLDA(MethodTest):
    method = "rslda"

    def test_reconstruction_without_penalties(self):
        """E stays 0 then, and P Q'X comes close to the best of rank r where X has nearly that rank;
        P is the best one for Q."""
        full = harness.random_problem("c > d", 59, "unit")  # r = d: nothing is lost
        for problem, iters, limit in ((harness.iris(), 30, 0.01), (harness.wine(), 30, 0.02),
                                      (full, 300, 1e-6)):
            X = problem.Z.T
            found = fit(problem, "rslda", lambda1=1e-9, lambda2=1e9, iters=iters)
            self.assertLess(found.trace["objective"].max(), 10, problem.name)  # no 1e9 ||E||_1
            W = found.W
            U, _, Vt = np.linalg.svd(X @ (X.T @ W), full_matrices=False)
            best = np.linalg.svd(X, compute_uv=False)[W.shape[1]:]
            off = np.linalg.norm(X - U @ Vt @ W.T @ X) - np.linalg.norm(best)
            self.assertGreater(off, -1e-12 * np.linalg.norm(X), problem.name)
            self.assertLess(off, limit * np.linalg.norm(X), problem.name)


if __name__ == "__main__":
    unittest.main()
