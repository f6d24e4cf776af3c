"""LDA, MMC, ALDE and SULDA against their literal NumPy oracles, and their stated invariants."""
import unittest

import numpy as np

import lda_reference
import methods_harness as harness
import mmc_reference
import sulda_reference
from scatter_reference import class_scatters, largest, range_basis
from spectral_checks import (SpectralTest, balanced, degrees, invariance_problems, rotation,
                             transformed)


class Oracles(unittest.TestCase):
    """The references themselves, checked by what they do not use."""

    def test_lda_residual_and_range_of_mu(self):
        for problem in harness.problems():
            fitted = lda_reference.fit(problem.Z, problem.labels, length="st")
            _, S_b, S_t = class_scatters(problem.Z, problem.index)
            W, mu = fitted["W"], fitted["values"]
            rest = np.linalg.norm(S_b @ W - S_t @ W * mu, axis=0) / np.linalg.norm(W, axis=0)
            self.assertLess(rest.max(), 1e-8 * np.linalg.norm(S_t, 2), problem.name)
            self.assertTrue(np.all((mu > 0) & (mu < 1 + 1e-9)), problem.name)
            self.assertLess(np.abs(W.T @ S_t @ W - np.eye(len(mu))).max(), 1e-8, problem.name)

    def test_alde_scatters_have_trace_one(self):
        for problem in harness.problems():
            for S in mmc_reference.alde_scatters(problem.Z, problem.labels):
                self.assertAlmostEqual(np.trace(S), 1.0, places=12)

    def test_alde_equals_mmc_on_equal_lengths(self):
        """All deviations of one length, all class means at one distance: MMC with some theta."""
        rng = np.random.default_rng(1)
        corners = np.array([[3.0, 0, 0, 0], [0, 3.0, 0, 0], [0, 0, 3.0, 0], [0, 0, 0, 3.0]])
        X, labels = [], []
        for name, corner in enumerate(corners):
            steps = rng.normal(size=(5, 4))
            steps /= np.linalg.norm(steps, axis=1)[:, None]
            X += list(corner + steps) + list(corner - steps)
            labels += [name] * 10
        X, labels = np.array(X), np.array(labels)
        distance = np.linalg.norm(corners[0] - X.mean(axis=0))
        alde = mmc_reference.alde(X, labels)["M"] * distance ** 2 * len(X)
        mmc = mmc_reference.mmc(X, labels, theta=distance ** 2)["M"]
        self.assertLess(harness.relative(alde, mmc), 1e-12)

    def test_sulda_bound_meets_the_norm(self):
        """Run long, primal and dual agree: the oracle's norm is the optimum."""
        problem = harness.random_problem("n << d", 3, "unit")
        fitted = sulda_reference.fit(problem.Z, problem.labels, iters=20000, tol=1e-10)
        norm = np.abs(fitted["Zs"]).sum()
        self.assertLess(norm - fitted["bound"], 1e-6 * norm)
        self.assertGreater(norm - fitted["bound"], -1e-8 * norm)
        nonzero = (fitted["Zs"] != 0).sum(axis=0)
        self.assertLessEqual(nonzero.max(), fitted["U1"].shape[1])

    def test_sulda_factors(self):
        """U1 is orthonormal and holds the centred data; C and sb diagonalise the scatters."""
        for problem in harness.problems():
            U1, C, sb = sulda_reference.factors(problem.Z, problem.labels)
            H = (problem.Z - problem.Z.mean(axis=0)).T
            self.assertLess(np.abs(U1.T @ U1 - np.eye(U1.shape[1])).max(), 1e-10, problem.name)
            self.assertLess(harness.relative(U1 @ (U1.T @ H), H), 1e-8, problem.name)
            S_w, S_b, _ = (U1.T @ S @ U1 for S in class_scatters(problem.Z, problem.index))
            self.assertLess(np.abs(C.T @ S_b @ C - np.diag(sb ** 2)).max(), 1e-8, problem.name)
            self.assertLess(np.abs(C.T @ S_w @ C - np.diag(1 - sb ** 2)).max(), 1e-8, problem.name)


class Lda(SpectralTest):
    method = "lda"

    def test_random_problems_iris_and_wine(self):
        for problem in harness.problems(4) + [harness.wine("none"), harness.iris("none")]:
            self.against(problem, lda_reference.fit)

    def test_other_scalings(self):
        if "length" not in params_of("lda"):
            self.skipTest("the program has no option length")
        for problem in harness.problems():
            for length in ("st", "orth"):
                self.against(problem, lda_reference.fit, length=length)
            wide = problem.n - 1 <= problem.d
            if not wide:  # S_w vanishes on the columns of wide data
                self.against(problem, lda_reference.fit, length="sw")

    def test_options(self):
        for params in ({"fisherface": 1}, {"ridge": 0.1}, {"ridge": 1.0, "fisherface": 1}):
            if not params.keys() <= params_of("lda"):
                self.skipTest(f"the program has no option {', '.join(params)}")
            for problem in harness.problems():
                self.against(problem, lda_reference.fit, **params)

    def test_blocks_of_wide_data(self):
        """All mu are one: S_t-orthonormal up to one factor, b columns with squares summing to b."""
        problem = harness.random_problem("n << d", 17)
        W = harness.fit(problem, "lda").W
        self.assertEqual(W.shape[1], problem.c - 1)
        S_w, _, S_t = class_scatters(problem.Z, problem.index)
        gram = W.T @ S_t @ W
        self.assertLess(np.abs(gram / gram[0, 0] - np.eye(len(gram))).max(), 1e-8)
        self.assertAlmostEqual((W ** 2).sum(), problem.c - 1, places=10)
        self.assertLess(np.abs(W.T @ S_w @ W).max(), 1e-8 * np.trace(gram), "classes collapse")

    def test_conjugate_columns(self):
        for problem in harness.problems():
            W = harness.fit(problem, "lda").W
            for S in class_scatters(problem.Z, problem.index):
                product = W.T @ S @ W
                rest = product - np.diag(np.diag(product))
                size = np.trace(W.T @ class_scatters(problem.Z, problem.index)[2] @ W)
                self.assertLess(np.abs(rest).max(), 1e-8 * size, problem.name)

    def test_invariance(self):
        for problem in invariance_problems():
            self.check_order(problem)
            self.check_shift(problem)
            self.check_size(problem)
            self.check_rotation(problem)

    def test_any_invertible_map(self):
        """X -> A X gives the span of A^-T W as long as no direction is lost."""
        problem = harness.random_problem("n >> d", 21)
        A = rotation(problem.d) @ np.diag(np.linspace(0.5, 4, problem.d)) @ rotation(problem.d, 6)
        self.same_span(problem, transformed(problem, "mapped", problem.Z @ A.T),
                       lambda W: np.linalg.solve(A.T, W))

    def test_two_classes(self):
        """W is parallel to S_w^-1 (m_1 - m_2)."""
        X, labels = harness.rlar_problems.samples(np.random.default_rng(31), 7, (20, 15))
        problem = harness.Problem("two classes", X, labels, "none")
        S_w = class_scatters(X, problem.index)[0]
        means = [X[problem.index == i].mean(axis=0) for i in (0, 1)]
        direction = np.linalg.solve(S_w, means[0] - means[1])
        self.assertLess(degrees(harness.fit(problem, "lda").W, direction[:, None]), 1e-6)

    def test_singleton_class_and_constant_feature(self):
        X, labels = harness.rlar_problems.samples(np.random.default_rng(32), 6, (9, 1, 8, 12))
        problem = harness.Problem("singleton", X, labels, "none")
        self.against(problem, lda_reference.fit)
        X = np.hstack([X, np.full((len(X), 1), 3.0)])
        wide = harness.Problem("constant", X, labels, "none")
        W = self.against(wide, lda_reference.fit)[0].W
        self.assertLess(np.abs(W[-1]).max(), 1e-12)


class Mmc(SpectralTest):
    method = "mmc"
    oracle = staticmethod(mmc_reference.mmc)

    def test_random_problems_iris_and_wine(self):
        for problem in harness.problems(4) + [harness.wine("none"), harness.iris("zscore")]:
            self.against(problem, self.oracle)

    def test_theta(self):
        for theta in (0.1, 0.5, 2.0, 10.0):
            for problem in harness.random_problems(1):
                self.against(problem, self.oracle, theta=theta)

    def test_orthonormal_and_best(self):
        for problem in harness.problems():
            W = harness.fit(problem, self.method).W
            M = self.oracle(problem.Z, problem.labels)["M"]
            self.assertLess(np.abs(W.T @ W - np.eye(W.shape[1])).max(), 1e-12, problem.name)
            rest = M @ W - W @ np.diag(np.diag(W.T @ M @ W))
            self.assertLess(np.abs(rest).max(), 1e-10 * np.linalg.norm(M, 2), problem.name)
            rng = np.random.default_rng(2)
            basis = np.linalg.svd(problem.Z - problem.Z.mean(axis=0), full_matrices=False)[2]
            for _ in range(20):
                other = basis[:problem.n - 1].T @ np.linalg.qr(
                    rng.normal(size=(min(problem.n - 1, len(basis)), W.shape[1])))[0]
                self.assertLessEqual(np.trace(other.T @ M @ other), np.trace(W.T @ M @ W) + 1e-12)

    def test_eigenvalue_of_column_c_is_not_positive(self):
        for problem in harness.problems():
            W = harness.fit(problem, self.method).W
            M = self.oracle(problem.Z, problem.labels)["M"]
            values = np.diag(W.T @ M @ W)
            self.assertTrue(np.all(np.diff(values) <= 1e-10 * np.linalg.norm(M, 2)), problem.name)
            if len(values) >= problem.c:
                self.assertLessEqual(values[problem.c - 1], 1e-10 * np.linalg.norm(M, 2))

    def test_invariance(self):
        for problem in invariance_problems():
            self.check_order(problem)
            self.check_shift(problem)
            self.check_size(problem)
            self.check_rotation(problem)


class MmcLimits(SpectralTest):
    method = "mmc"

    def test_small_theta_gives_the_means(self):
        problem = harness.random_problem("n >> d", 41)
        W = harness.fit(problem, "mmc", theta=1e-7).W[:, :problem.c - 1]
        centre = problem.Z.mean(axis=0)
        means = np.array([problem.Z[problem.index == i].mean(axis=0) - centre
                          for i in range(problem.c)]).T
        self.assertLess(degrees(W, np.linalg.svd(means)[0][:, :problem.c - 1]), 1e-3)

    def test_same_in_all_dimensions(self):
        """The eigenvectors of the d x d matrix itself, directions without samples pushed below."""
        for problem in invariance_problems():
            fitted = mmc_reference.mmc(problem.Z, problem.labels)
            V, M = range_basis(problem.Z)[0], fitted["M"]
            outside = np.eye(problem.d) - V @ V.T
            wanted = largest(M - 10 * np.linalg.norm(M, 2) * outside, fitted["W"].shape[1])[1]
            W = harness.fit(problem, "mmc").W
            self.assertLess(harness.relative_up_to_signs(W, wanted), 1e-8, problem.name)

    def test_units_of_features_matter(self):
        problem = harness.random_problem("n >> d", 42)
        units = np.linspace(0.5, 4, problem.d)
        mapped = transformed(problem, "other units", problem.Z * units)
        first, second = (harness.fit(p, "mmc").W for p in (problem, mapped))
        self.assertGreater(degrees(first / units[:, None], second), 1.0)
        self.assertGreater(degrees(first, second), 1.0)


class Alde(Mmc):
    method = "alde"
    oracle = staticmethod(mmc_reference.alde)

    def test_far_class_has_no_more_weight(self):
        """A class pushed out along its own direction: ALDE stays, MMC moves."""
        self.need("mmc")
        arms = np.array([[1.0, 0, 0, 0, 0], [-1.0, 0, 0, 0, 0], [0, 1.0, 0, 0, 0],
                         [0, -1.0, 0, 0, 0]])
        steps = np.random.default_rng(43).normal(size=(6, 5)) * 0.3
        steps = np.vstack([steps, -steps])
        spans = {"alde": [], "mmc": []}
        for reach in (1.0, 5.0):
            far = arms * np.array([[reach], [reach], [1.0], [1.0]])
            X = np.vstack([arm + steps for arm in far])
            problem = harness.Problem("arms", X, np.repeat([1, 2, 3, 4], 12), "none")
            for name, found in spans.items():
                found.append(harness.fit(problem, name).W[:, :3])
        self.assertLess(degrees(*spans["alde"]), 1e-6)
        self.assertGreater(degrees(*spans["mmc"]), 1e-3)

    def test_traces_and_range_of_eigenvalues(self):
        """tr Sb_a = 1 is all there is with theta = 0; in d dimensions c > d columns see tr Sw_a."""
        for problem in harness.problems():
            fitted = harness.fit(problem, "alde", theta=0.0)
            self.assertAlmostEqual(fitted.json["objective"], 1.0, 10, problem.name)
            found = harness.fit(problem, "alde")
            values = np.diag(found.W.T @ self.oracle(problem.Z, problem.labels)["M"] @ found.W)
            self.assertTrue(np.all(np.abs(values) <= 1 + 1e-12), problem.name)
            self.assertTrue(np.all(np.diff(values) <= 1e-12), problem.name)
        full = harness.random_problem("c > d", 45)
        for theta in (0.3, 1.0, 4.0):
            objective = harness.fit(full, "alde", theta=theta).json["objective"]
            self.assertAlmostEqual(objective, 1 - theta, 10)

    def test_long_deviation_has_no_more_weight(self):
        """Two opposite deviations stretched, the class mean in its place: ALDE stays."""
        self.need("mmc")
        rng = np.random.default_rng(46)
        means, steps = 2 * rng.normal(size=(3, 5)), rng.normal(size=(6, 5))
        maps = {"alde": [], "mmc": []}
        for stretch in (1.0, 6.0):
            steps[0] *= stretch
            X = np.vstack([mean + sign * steps for mean in means for sign in (1, -1)])
            problem = harness.Problem("stretched", X, np.repeat([1, 2, 3], 12), "none")
            for name, found in maps.items():
                found.append(harness.fit(problem, name).W)
        self.assertLess(harness.relative(*maps["alde"]), 1e-10)
        self.assertGreater(harness.relative(*maps["mmc"]), 1e-3)

    def test_equal_lengths_are_mmc(self):
        """All deviations of length one, all class means at one distance from the mean."""
        self.need("mmc")
        steps = np.random.default_rng(47).normal(size=(4, 5, 4))
        steps /= np.linalg.norm(steps, axis=2)[:, :, None]
        X = np.vstack([corner + sign * own for corner, own in zip(3 * np.eye(4), steps)
                       for sign in (1, -1)])
        problem = harness.Problem("equal lengths", X, np.repeat([1, 2, 3, 4], 10), "none")
        theta = ((3 * np.eye(4)[0] - 0.75) ** 2).sum()  # the squared distance of a class mean
        W, other = harness.fit(problem, "alde").W, harness.fit(problem, "mmc", theta=theta).W
        self.assertLess(harness.relative_up_to_signs(W, other), 1e-8)

    def test_two_isotropic_classes(self):
        """Deviations along every axis alike: the first column joins the two means."""
        steps = np.vstack([np.eye(5), -np.eye(5)]) * np.tile([1.0, 4.0, 0.5, 2.0, 3.0], 2)[:, None]
        apart = np.array([1.0, -2.0, 0.5, 3.0, -1.0])
        problem = harness.Problem("two crosses", np.vstack([steps, steps + apart]),
                                  np.repeat([1, 2], 10), "none")
        first = harness.fit(problem, "alde").W[:, :1]
        self.assertLess(degrees(first, apart[:, None]), 1e-6)

    def test_sample_at_its_class_mean_has_no_vote(self):
        X, labels = harness.rlar_problems.samples(np.random.default_rng(44), 5, (10, 1, 9))
        self.against(harness.Problem("singleton", X, labels, "none"), self.oracle)


class Sulda(SpectralTest):
    method = "sulda"

    def test_narrow_data_is_plain_ulda(self):
        for problem in harness.problems(4) + [harness.wine("none")]:
            if problem.n > problem.d:
                fitted = sulda_reference.factors(problem.Z, problem.labels)
                if fitted[0].shape[1] == problem.d:
                    self.against(problem, sulda_reference.fit)

    def test_wide_data_follows_the_oracle(self):
        """The same iteration from the same start: the same G, stopping rule included."""
        for problem in harness.problems(4):
            if problem.n <= problem.d:
                self.against(problem, sulda_reference.fit, angle_floor=1e-4, columns=False)

    def test_wide_data_is_feasible_and_sparse(self):
        for problem in harness.problems(4):
            if problem.n > problem.d:
                continue
            G = harness.fit(problem, "sulda").W
            wanted = sulda_reference.fit(problem.Z, problem.labels, iters=20000, tol=1e-9)
            U1, C = wanted["U1"], wanted["C"]
            part = U1.T @ G
            part *= np.where((part * C).sum(axis=0) < 0, -1.0, 1.0)
            self.assertLess(harness.relative(part, C), 1e-5, problem.name)
            norm = np.abs(G).sum()
            self.assertLessEqual(norm, np.abs(wanted["G0"]).sum() * (1 + 1e-12), problem.name)
            self.assertGreaterEqual(norm, wanted["bound"] * (1 - 1e-6), problem.name)
            self.assertLess(norm, wanted["bound"] * 1.01, f"far from the optimum: {problem.name}")

    def test_uncorrelated(self):
        """G^T S_t G = I, G^T S_b G diagonal with entries in (0, 1]; wide classes collapse."""
        for problem in harness.problems(4):
            G = harness.fit(problem, "sulda").W
            S_w, S_b, S_t = class_scatters(problem.Z, problem.index)
            q = G.shape[1]
            self.assertEqual(q, min(problem.c - 1, problem.d), problem.name)
            self.assertLess(np.abs(G.T @ S_t @ G - np.eye(q)).max(), 1e-8, problem.name)
            between = G.T @ S_b @ G
            self.assertLess(np.abs(between - np.diag(np.diag(between))).max(), 1e-8, problem.name)
            self.assertTrue(np.all((np.diag(between) > 0) & (np.diag(between) < 1 + 1e-8)))
            if problem.n - 1 <= problem.d:
                self.assertLess(np.abs(G.T @ S_w @ G).max(), 1e-8, problem.name)

    def test_scatters_are_the_singular_values(self):
        """G^T S_b G = sb^2 and G^T S_w G = 1 - sb^2, both diagonal."""
        for problem in harness.problems():
            G = harness.fit(problem, "sulda").W
            S_w, S_b, _ = class_scatters(problem.Z, problem.index)
            squares = sulda_reference.factors(problem.Z, problem.labels)[2] ** 2
            self.assertLess(np.abs(G.T @ S_b @ G - np.diag(squares)).max(), 1e-8, problem.name)
            self.assertLess(np.abs(G.T @ S_w @ G - np.diag(1 - squares)).max(), 1e-8, problem.name)

    def test_certificate(self):
        """A dual L with |U1 L| <= 1 that has the sign of G wherever G is not zero: no column of
        the program, run long, has a larger norm than it must."""
        for problem in (harness.random_problem("n << d", seed, "unit") for seed in (3, 200)):
            G = harness.fit(problem, "sulda", iters=20000, tol=1e-9).W
            U1, C, _ = sulda_reference.factors(problem.Z, problem.labels)
            G = G * np.where(((U1.T @ G) * C).sum(axis=0) < 0, -1.0, 1.0)
            dual = sulda_reference.sparse(U1, C, 20000, 1e-9)[2]
            self.assertLess(np.abs(dual).max(), 1 + 1e-6, problem.name)
            self.assertLess(harness.relative(U1 @ (U1.T @ dual), dual), 1e-6, problem.name)
            support = np.abs(G) > 1e-5 * np.abs(G).max()
            self.assertLess(np.abs(dual - np.sign(G))[support].max(), 1e-6, problem.name)
            self.assertLessEqual(support.sum(axis=0).max(), U1.shape[1], problem.name)
            norms, bounds = np.abs(G).sum(axis=0), ((U1.T @ dual) * C).sum(axis=0)
            self.assertLess(np.abs(norms / bounds - 1).max(), 1e-5, problem.name)

    def test_same_span_as_lda(self):
        self.need("lda")
        for problem in harness.problems(2):
            if problem.n > problem.d + 1:
                G, W = (harness.fit(problem, name).W for name in ("sulda", "lda"))
                if G.shape == W.shape:
                    self.assertLess(degrees(G, W), 1e-6, problem.name)

    def test_invariance(self):
        for problem in invariance_problems():
            limit = 1e-5 if problem.n > problem.d else 1e-2  # the iteration may stop one step apart
            self.check_order(problem, limit=limit)
            self.check_shift(problem, limit=limit)
            self.check_size(problem, limit=limit)
            if problem.n > problem.d:
                self.check_rotation(problem)


class Accuracy(SpectralTest):
    """1-NN on many splits, near the figures measured when the methods were specified."""

    def test_wine_and_iris(self):
        known = {("lda", "wine"): 88, ("mmc", "wine"): 78, ("alde", "wine"): 71,
                 ("sulda", "wine"): 88, ("lda", "iris"): 95, ("mmc", "iris"): 94,
                 ("alde", "iris"): 94, ("sulda", "iris"): 94}
        oracles = {"lda": lda_reference.fit, "mmc": mmc_reference.mmc,
                   "alde": mmc_reference.alde, "sulda": sulda_reference.fit}
        for (method, data), accuracy in known.items():
            problem, per_class = {"wine": (harness.wine(), 11), "iris": (harness.iris(), 10)}[data]
            found = harness.nearest_neighbour_accuracy(
                problem, lambda Z, y, fit=oracles[method]: fit(Z, y)["W"], per_class)
            self.assertLess(abs(found - accuracy), 4, (method, data))


class BalancedClasses(SpectralTest):
    method = "lda"

    def test_against_oracle(self):
        for d in (9, 60):
            self.against(balanced(51, d=d), lda_reference.fit)


def params_of(method):
    """The names of a method's parameters; nothing for a method that the program does not have."""
    listed = harness.listed_methods().get(method, {"params": []})
    return {param["name"] for param in listed["params"]}


if __name__ == "__main__":
    unittest.main()
