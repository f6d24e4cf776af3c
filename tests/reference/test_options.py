"""Options that are off in the preset of the paper: LSDA's ridge, L21SDA's L2,1 loss, ALPR's threshold. Against the
oracles in the regimes of the other tests, and what must hold whatever the oracles say."""
import unittest

import methods_harness as harness  # before NumPy
import numpy as np

import alpr_reference
import l21sda_reference
import lsda_reference
from methods_harness import MethodTest, fit, largest_angle, relative, relative_up_to_signs
from scatter_reference import centred
from spectral_checks import SpectralTest, balanced, degrees, invariance_problems, transformed

EPS = 1e-6  # larger than the default: weights reach 1/eps and multiply rounding


# ---- LSDA ---------------------------------------------------------------------------------------


class LsdaRidge(SpectralTest):
    method = "lsda"

    def test_random_problems_iris_and_wine(self):
        for problem in harness.problems(3):
            for params in ({"ridge": 0.1}, {"k": 5, "ridge": 0.1},
                           {"k": 3, "alpha": 0.5, "ridge": 10.0}, {"k": 5, "ridge": 1e-6}):
                self.against(problem, lsda_reference.fit, **params)

    def test_ties(self):
        """Balanced classes on the complete graph tie no longer; without the graph between the
        classes, wide data still do, and the rule for cut blocks meets B with the ridge in it."""
        for ties in ("variance", "drop"):
            for d in (9, 60):
                self.against(balanced(5, d=d), lsda_reference.fit, ridge=0.1, ties=ties)
                self.against(balanced(6, d=d), lsda_reference.fit, k=5, alpha=0.0, ridge=1e-9,
                             ties=ties)

    def test_residual_in_the_space_of_the_features(self):
        """A w = lambda (B + rho I) w with d x d matrices, n < d as well; W' (B + rho I) W diagonal.
        Eigenvalues are those that fit --json adds up."""
        for problem in harness.random_problems(2):
            for k, ridge in ((0, 0.1), (5, 0.1), (5, 10.0)):
                found = fit(problem, "lsda", k=k, ridge=ridge)
                W, Xc = found.W, centred(problem.Z)
                W_w, W_b = lsda_reference.graphs(problem.Z, problem.index, k)
                degree = W_w.sum(axis=1)
                L_b = np.diag(W_b.sum(axis=1)) - W_b
                A = Xc.T @ (0.1 * L_b + 0.9 * W_w) @ Xc
                B = Xc.T @ np.diag(degree) @ Xc + ridge * degree.mean() * np.eye(problem.d)
                product = W.T @ B @ W
                values = np.diag(W.T @ A @ W) / np.diag(product)
                note = f"{problem.name} k {k} ridge {ridge}"
                self.assertLess(np.abs(A @ W - B @ W * values).max(),
                                1e-10 * np.linalg.norm(A, 2), note)
                self.assertLess(np.abs(product - np.diag(np.diag(product))).max(),
                                1e-10 * np.trace(product), note)
                self.assertAlmostEqual(found.json["objective"] / values.sum(), 1, delta=1e-9,
                                       msg=note)

    def test_large_ridge(self):
        """B fades: the eigenvectors of A. The difference falls as 1/ridge."""
        for problem in invariance_problems():
            V, A, _ = lsda_reference.eigenproblem(problem.Z, problem.labels, 5, 0.1)
            values, vectors = np.linalg.eigh(A)
            wanted = V @ vectors[:, ::-1]
            off = []
            for ridge in (1e4, 1e7):
                W = fit(problem, "lsda", k=5, ridge=ridge).W
                off.append(degrees(W, wanted[:, :W.shape[1]]))
            self.assertLess(off[1], 0.01, problem.name)
            self.assertLess(off[1], 2e-3 * off[0] + 1e-6, problem.name)

    def test_small_ridge(self):
        """No ridge is the limit; where n < d directions with B = 0 and A = 0 never come in."""
        for problem in invariance_problems():
            plain, small = (fit(problem, "lsda", k=5, ridge=ridge).W for ridge in (0, 1e-12))
            self.assertEqual(plain.shape, small.shape)
            self.assertLess(degrees(small, plain), 1e-3, problem.name)

    def test_more_features_that_do_not_vary(self):
        """d x d grows, the span does not."""
        for problem in invariance_problems():
            wide = np.hstack([problem.Z, np.full((problem.n, 80), 2.5)])
            narrow = fit(transformed(problem, "as is"), "lsda", k=5, ridge=0.1).W
            W = fit(transformed(problem, "wide", wide), "lsda", k=5, ridge=0.1).W
            self.assertLess(relative_up_to_signs(W[:problem.d], narrow), 1e-8, problem.name)
            self.assertLess(np.abs(W[problem.d:]).max(), 1e-12, problem.name)

    def test_invariance(self):
        """The ridge has the unit of the squared features; a rotation leaves rho I."""
        for problem in invariance_problems():
            self.check_order(problem, k=5, ridge=0.1)
            self.check_shift(problem, k=5, ridge=0.1)
            self.check_rotation(problem, k=5, ridge=0.1)
            large = transformed(problem, "times 8.5", 8.5 * problem.Z)
            first = fit(transformed(problem, "as is"), "lsda", k=5, ridge=0.1).W
            second = fit(large, "lsda", k=5, ridge=repr(0.1 * 8.5 ** 2)).W
            self.assertLess(relative_up_to_signs(second, first), 1e-8, problem.name)
            self.assertGreater(relative(fit(large, "lsda", k=5, ridge=0.1).W, first), 1e-3)


# ---- L21SDA -------------------------------------------------------------------------------------


class L21sdaLoss(MethodTest):
    method = "l21sda"

    def run_program(self, problem, lam, iters, eps=EPS):
        return fit(problem, "l21sda", **{"lambda": lam}, iters=iters, eps=eps, loss="l21")

    def test_oracle(self):
        for problem in harness.problems():
            for lam in (0.01, 1.0):
                for iters in (1, 3, 30):
                    def oracle(Z):
                        return l21sda_reference.l21sda_l21_loss(Z, problem.index, lam, iters, EPS)
                    found = self.run_program(problem, lam, iters)
                    self.check(found.W, lambda Z: oracle(Z)[0], problem, 1e-8, relative_up_to_signs,
                               (lam, iters))
                    self.assertLess(relative(found.trace["smoothed"], oracle(problem.Z)[3][1::2]),
                                    1e-9, (problem.name, lam, iters))

    def test_never_rises(self):
        """Program and, half step by half step, oracle: both steps minimise the same majoriser."""
        for problem in harness.problems():
            for lam in (0.01, 0.1, 1, 10):
                note = (problem.name, lam)
                trace = self.run_program(problem, lam, 40, 1e-4).trace["smoothed"]
                self.assertEqual(len(trace), 40)
                self.assertLess(harness.largest_rise(trace), 1e-12, note)
                halves = l21sda_reference.l21sda_l21_loss(problem.Z, problem.index, lam, 40, 1e-4)
                self.assertLess(harness.largest_rise(halves[3]), 1e-12, note)

    def test_constraints_of_the_scores(self):
        """Th' diag(p) Th = I and p'Th = 0 stay, and with them the weighted lengths of the scores do
        not depend on Th, whatever the weights: why the step of the scores is exact."""
        rng = np.random.default_rng(61)
        for problem in harness.problems():
            p = problem.one_hot().mean(axis=0)
            scores = l21sda_reference.l21sda_l21_loss(problem.Z, problem.index, 0.1, 20, EPS)[2]
            self.assertLess(np.abs(scores.T @ (p[:, None] * scores) - np.eye(problem.c - 1)).max(),
                            1e-12, problem.name)
            self.assertLess(np.abs(p @ scores).max(), 1e-12, problem.name)
            weights = rng.uniform(size=problem.c)
            start = l21sda_reference.start_scores(p)
            self.assertAlmostEqual(weights @ (scores ** 2).sum(axis=1)
                                   / (weights @ (start ** 2).sum(axis=1)), 1, delta=1e-12)

    def test_scores_beat_others(self):
        """No feasible scores have a smaller weighted loss than those of the step."""
        rng = np.random.default_rng(62)
        for problem in harness.random_problems(1):
            Y, q = problem.one_hot(), problem.c - 1
            p, v = Y.mean(axis=0), rng.uniform(0.01, 10, size=problem.n) ** 2
            outputs = rng.normal(size=(problem.n, q)) + Y @ rng.normal(size=(problem.c, q))
            best = l21sda_reference.next_scores_l21(p, Y, outputs, v, None)

            def loss(scores):
                return (v[:, None] * (Y @ scores - outputs) ** 2).sum()
            for _ in range(50):
                turn = np.linalg.qr(np.eye(q) + 0.1 * rng.normal(size=(q, q)))[0]
                self.assertLessEqual(loss(best), loss(best @ turn) * (1 + 1e-12), problem.name)
                turn = np.linalg.qr(rng.normal(size=(q, q)))[0]
                self.assertLessEqual(loss(best), loss(best @ turn) * (1 + 1e-12), problem.name)

    def test_first_iteration(self):
        """Weights of 1: the squared loss with twice the lambda."""
        for problem in harness.problems():
            W = self.run_program(problem, 0.3, 1).W
            squared = fit(problem, "l21sda", **{"lambda": 0.6}, iters=1).W
            self.assertLess(relative_up_to_signs(W, squared), 1e-10, problem.name)

    def test_stationary_at_the_end(self):
        """The gradient of the smoothed objective in B and in the offset vanishes, with the
        offset and the scores of the oracle, which the program does not show (3.6e-13 was seen)."""
        lam, eps = 0.5, 1e-2
        for problem in harness.random_problems(1):
            if problem.c - 1 > problem.d:  # the scores have a memory there
                continue
            W = self.run_program(problem, lam, 300, eps).W
            B, b, scores, _ = l21sda_reference.l21sda_l21_loss(problem.Z, problem.index, lam, 300,
                                                               eps)
            self.assertLess(relative_up_to_signs(W, B), 1e-10, problem.name)
            B = harness.with_signs_of(W, B)
            residual = problem.Z @ B + b - problem.one_hot() @ scores
            pull = residual / np.sqrt((residual ** 2).sum(axis=1, keepdims=True) + eps ** 2)
            rows = B / np.sqrt((B ** 2).sum(axis=1, keepdims=True) + eps ** 2)
            size = np.abs(problem.Z).sum()
            self.assertLess(np.abs(problem.Z.T @ pull + lam * rows).max(), 1e-10 * size,
                            problem.name)
            self.assertLess(np.abs(pull.sum(axis=0)).max(), 1e-9 * problem.n, problem.name)

    def test_offset(self):
        """A shift of all samples changes nothing but b; outputs of the training samples are
        centred by weights, so their plain mean is near 0 but not 0."""
        for regime in harness.REGIMES:
            problem = harness.random_problem(regime, 63)
            moved = harness.Problem("moved", problem.X + 0.7, problem.labels, "none")
            first, second = (self.run_program(p, 0.1, 10, 1e-3) for p in (problem, moved))
            self.assertLess(relative(second.W, first.W), 1e-7, regime)
            self.assertLess(relative(moved.Z @ second.W + second.b,
                                     problem.Z @ first.W + first.b), 1e-7, regime)

    def test_a_wrong_label_counts_less(self):
        """A sample of one class far inside another: the squared loss turns further."""
        turned = {"squared": 0.0, "l21": 0.0}
        for seed in range(5):
            rng = np.random.default_rng(seed)
            labels = np.repeat([1, 2, 3], 30)
            X = 0.3 * rng.normal(size=(90, 4)) + np.eye(4)[labels]
            wrong = labels.copy()
            wrong[:4] = 2
            for loss in turned:
                W, V = (fit(harness.Problem("labels", X, y, "none"), "l21sda", loss=loss,
                            **{"lambda": 0.1}).W for y in (labels, wrong))
                turned[loss] += largest_angle(W, V)
        self.assertLess(turned["l21"], 0.7 * turned["squared"], turned)


# ---- ALPR ---------------------------------------------------------------------------------------


class AlprThreshold(MethodTest):
    method = "alpr"

    def test_oracle(self):
        """The authors' value, and one between the rows of each fit."""
        for problem in harness.problems():
            whole = fit(problem, "alpr").W
            squares = np.sort((whole ** 2).sum(axis=1))
            half = len(squares) // 2
            between = np.sqrt(squares[half - 1] * squares[half])
            for threshold in (1e-4, between):
                found = fit(problem, "alpr", threshold=repr(threshold))
                self.check(found.W, lambda Z: alpr_reference.alpr(
                    Z, problem.index, 0.1, 0.1, threshold=threshold)[0], problem, 1e-8,
                    note=threshold)

    def test_only_short_rows_change(self):
        """Rows of at least the threshold keep their bits, the others are exactly 0; the trace is
        that of the iteration, which does not see it."""
        for problem in harness.problems():
            whole = fit(problem, "alpr")
            squares = (whole.W ** 2).sum(axis=1)
            threshold = float(np.median(squares))
            cut = fit(problem, "alpr", threshold=repr(threshold))
            short = squares < threshold * (1 - 1e-12)
            self.assertTrue(0 < short.sum() < problem.d, problem.name)
            self.assertFalse(cut.W[short].any(), problem.name)
            kept = squares > threshold * (1 + 1e-12)
            self.assertEqual(cut.W[kept].tobytes(), whole.W[kept].tobytes(), problem.name)
            for column in ("objective", "smoothed"):
                self.assertEqual(list(cut.trace[column]), list(whole.trace[column]))

    def test_nothing_left(self):
        with self.assertRaises(AssertionError) as failure:
            fit(harness.iris(), "alpr", threshold=1e9)
        self.assertIn("exit 5", str(failure.exception))
        self.assertIn("no feature is left with threshold = 1e+09", str(failure.exception))


class OffInThePaper(MethodTest):

    def test_preset(self):
        for method, name, value in (("lsda", "ridge", 0), ("l21sda", "loss", "squared"),
                                    ("alpr", "threshold", 0)):
            self.assertEqual(harness.preset(method, name), value)
            for problem in harness.random_problems(1):
                plain, said = fit(problem, method), fit(problem, method, **{name: value})
                self.assertEqual(plain.W.tobytes(), said.W.tobytes(), (method, problem.name))


if __name__ == "__main__":
    unittest.main()
